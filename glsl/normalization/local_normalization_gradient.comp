// dX(u) = ps * { sum over X centred on u of G T^-beta
//              - sum over X, taps of X that read u, of G T^-beta [ p0 / N
//                    + (2 alpha beta / N) * (Xc - p0 Mn) * (source(u) - Mn) / T ] }
// as dX(u) = sum of A - sum of taps(X, u) * (C + B * (source(u) - Xc)), with the terms of the pass
// before: nearby values are subtracted, not sums. Without ABOUT_MEAN, where Mn is 0, it is
// sum of A - source(u) * sum of taps(X, u) * B. A gather: one invocation owns one source pixel u.
// needs lib/window.glsl
// needs normalization/local_statistics.glsl
#ifdef EDGE_CLAMP
int column_taps(int x, int X) { return taps_at_x(x, source_width, X); }
int row_taps(int y, int Y) { return taps_at_y(y, source_height, Y); }
ivec2 centre_read(int X, int Y) {
    return clamp(centre_of(X, Y), ivec2(0), ivec2(source_width, source_height) - 1);
}
#else
int column_taps(int x, int X) { return 1; }
int row_taps(int y, int Y) { return 1; }
ivec2 centre_read(int X, int Y) { return centre_of(X, Y); }
#endif

vec4 share(vec4 value, int X, int Y, int slice, int image) {
    vec4 b = terms(X - begin_x, Y - begin_y, slice, image + gradient_images);
#ifdef ABOUT_MEAN
    vec4 c = terms(X - begin_x, Y - begin_y, slice, image + 2 * gradient_images);
    return c + b * (value - centre_value(X, Y, slice, image));
#else
    return b * value;
#endif
}

vec4 total(ivec2 u, int slice, int image) {
    ivec2 columns = windows_with_x(u.x, source_width);
    ivec2 rows = windows_with_y(u.y, source_height);
    vec4 value = source(u.x, u.y, slice, image);
    vec4 sum = vec4(0.0);
    for (int Y = rows.x; Y <= rows.y; Y++) {
        int high = row_taps(u.y, Y);
        for (int X = columns.x; X <= columns.y; X++) {
            if (centre_read(X, Y) == u)
                sum += terms(X - begin_x, Y - begin_y, slice, image);
            sum -= float(high * column_taps(u.x, X)) * share(value, X, Y, slice, image);
        }
    }
    return sum;
}

void invocation(ivec2 at, int slice, int image) {
    ivec2 u = at + ivec2(shift_x, shift_y);
    bool inside = is_within(u.x, u.y, source_width, source_height);
    store_destination(at.x, at.y, slice, image, inside ? total(u, slice, image) : vec4(0.0));
}
