// out(X) = (rgb - mean) / deviation, rgb of the mean over the part of the frame that result X
// covers, or, where the result is the larger, of what lies between two pixels; the same of Y
// needs lib/compare.glsl
// needs frame/span.glsl
void invocation(ivec2 at, int slice, int image) {
    span rows = span_of(at.y, crop_height, destination_height);
    span columns = span_of(at.x, crop_width, destination_width);
    vec3 sum = vec3(0.0);
    for (int y = rows.begin; y < rows.end; y++) {
        vec3 row = vec3(0.0);
        for (int x = columns.begin; x < columns.end; x++)
            row += share_of(columns, x) * frame_pixel(crop_x + x, crop_y + y, image);
        sum += share_of(rows, y) * row;
    }
    vec3 rgb = held(vec4(frame_rgb(sum), 0.0), 0.0, 1.0).rgb;
    vec3 m = vec3(mean[0], mean[1], mean[2]);
    vec3 d = vec3(deviation[0], deviation[1], deviation[2]);
    store_destination(at.x, at.y, slice, image, vec4((rgb - m) / d, 0.0));
}
