// dX(y) = sum over X of taps(X, y) * G(X) * source(y) / out(X);   0 where out(X) is 0
// taps(X, y) counts the taps of window X that read pixel y; out(X) is recomputed from source.
// A gather: one invocation owns one source pixel.
// needs lib/window.glsl
// needs pooling/window_norm.glsl
void invocation(ivec2 at, int slice, int image) {
    int x = at.x + shift_x;
    int y = at.y + shift_y;
    ivec2 columns = windows_with_x(x, source_width);
    ivec2 rows = windows_with_y(y, source_height);
    vec4 sum = vec4(0.0);
    for (int Y = rows.x; Y <= rows.y; Y++)
        for (int X = columns.x; X <= columns.y; X++) {
            float taps = float(taps_at_x(x, source_width, X) * taps_at_y(y, source_height, Y));
            vec4 length = window_norm(X, Y, slice, image);
            vec4 safe = mix(length, vec4(1.0), equal(length, vec4(0.0)));
            vec4 term = taps * gradient(X, Y, slice, image) / safe;
            sum += mix(term, vec4(0.0), equal(length, vec4(0.0)));
        }
    bool read = columns.x <= columns.y && rows.x <= rows.y;
    bool inside = is_within(x, y, source_width, source_height);
    vec4 value = sum * source_clamp(x, y, slice, image);
    store_destination(at.x, at.y, slice, image, read && inside ? value : vec4(0.0));
}
