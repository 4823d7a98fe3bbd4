// dX(u) = (sum of G(X) over the X that read pixel u) / keep_probability where mask(u) is 1, else 0
// Outside of the source the mask is 0; addressed by hand with clamping the nearest one.
// PIXELS columns to an invocation.
// needs lib/gather.glsl
// needs dropout/dropout.glsl
#if defined(BY_HAND) && defined(EDGE_CLAMP)
const bool mask_clamped = true;
#else
const bool mask_clamped = false;
#endif

void invocation(ivec2 at, int slice, int image) {
    ivec3 size = ivec3(source_width, source_height, source_channels);
    int y = at.y + shift_y;
    for (int i = 0; i < PIXELS; i++) {
        int column = left + at.x + i * grid_x;
        int x = column + shift_x;
        ivec2 u = clamp(ivec2(x, y), ivec2(0), size.xy - 1);
        vec4 value = dropped(gathered(x, y, slice, image), u.x, u.y, slice, image, size);
        value = mask_clamped || u == ivec2(x, y) ? value : vec4(0.0);
        if (column < right)
            store_destination(column, at.y, slice, image, value);
    }
}
