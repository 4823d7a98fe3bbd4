// dV(u) = sum of term(X) over the results X that read source pixel u
// With REDUCED the terms were summed before: over all columns with SUMMED_X, in which case only the
// source column that was read, source_x, gets them, if there is one (source_x >= 0); rows alike.
// With SUMMED_C channel 0 gets the sum over all channels. With COLUMNS PIXELS columns to an
// invocation.
// needs lib/window.glsl
#ifdef REDUCED
vec4 value_at(int X, int Y, int slice, int image) {
    return reduced(X - begin_x, Y - begin_y, slice, image);
}
#else
vec4 value_at(int X, int Y, int slice, int image) { return term(X, Y, slice, image); }
#endif

ivec2 columns_of(int u) {
#ifdef SUMMED_X
    return u == source_x ? ivec2(begin_x) : ivec2(0, -1);
#else
    return windows_with_x(u, destination_width);
#endif
}

ivec2 rows_of(int u) {
#ifdef SUMMED_Y
    return u == source_y ? ivec2(begin_y) : ivec2(0, -1);
#else
    return windows_with_y(u, destination_height);
#endif
}

vec4 sum_at(ivec2 at, int slice, int image) {
#ifdef DIRECT
    return value_at(at.x, at.y, slice, image);
#else
    ivec2 columns = columns_of(at.x + shift_x);
    ivec2 rows = rows_of(at.y + shift_y);
    vec4 sum = vec4(0.0);
#ifdef SUMMED_C
    if (slice > 0)
        rows = ivec2(0, -1);
#endif
    for (int Y = rows.x; Y <= rows.y; Y++)
        for (int X = columns.x; X <= columns.y; X++)
            sum += value_at(X, Y, slice, image);
    return sum;
#endif
}

#ifdef COLUMNS
#define COLUMN(i) (left + at.x + i * grid_x)
#define SUM(i)    sum_at(ivec2(min(COLUMN(i), right - 1), at.y), slice, image)

void store_sum(int x, int y, int slice, int image, vec4 sum) {
    if (x < right)
        store_destination(x, y, slice, image, sum);
}

void invocation(ivec2 at, int slice, int image) {
    for (int i = 0; i < PIXELS; i++)
        store_sum(COLUMN(i), at.y, slice, image, SUM(i));
}
#else
void invocation(ivec2 at, int slice, int image) {
    store_destination(at.x, at.y, slice, image, sum_at(at, slice, image));
}
#endif
