// soft-max        dX(k) = sum over X of  y(k) * (G(k) - sum_i G(i) * y(i))
// log-soft-max    dX(k) = sum over X of  G(k) - exp(y(k)) * sum_i G(i)       with LOGARITHM
// X are the result's pixels made from source pixel u: one, or several at a clamped border.
// One invocation owns one source pixel. The result is read where the gradient is, or, addressed by
// hand (BY_HAND), at u.
// needs lib/channels.glsl
// needs lib/math.glsl
// needs lib/unrolled.glsl
// needs lib/window.glsl
#ifdef LOGARITHM
vec4 share(vec4 g, vec4 y) { return g; }
vec4 derivative(vec4 g, vec4 y, float sum) { return g - exp_precise(y) * sum; }
#else
vec4 share(vec4 g, vec4 y) { return g * y; }
vec4 derivative(vec4 g, vec4 y, float sum) { return y * (g - sum); }
#endif

// The result and its gradient of one slice.
void read(ivec2 pixel, ivec2 result_pixel, int slice, int image, out vec4 g, out vec4 y) {
    g = gradient(pixel.x, pixel.y, slice, image);
    y = result_edge(result_pixel.x, result_pixel.y, slice, image);
}

float shared_sum(ivec2 pixel, ivec2 result_pixel, int image) {
    long_sum terms = long_sum(0.0, 0.0);
    for (int slice = 0; slice < gradient_slices; slice++) {
        vec4 g, y;
        read(pixel, result_pixel, slice, image, g, y);
        add_slice(terms, slice_sum(share(g, y), slice, gradient_channels), slice);
    }
    return total_of(terms);
}

vec4 term(ivec2 pixel, ivec2 result_pixel, int slice, int image, float sum) {
    vec4 g, y;
    read(pixel, result_pixel, slice, image, g, y);
    return derivative(g, y, sum);
}

#ifdef BY_HAND
ivec2 result_position(ivec2 u, ivec2 pixel) { return u; }
ivec2 columns_of(int u) { return ivec2(max(u - first_x, begin_x), min(u - first_x, end_x - 1)); }
ivec2 rows_of(int u) { return ivec2(max(u - first_y, begin_y), min(u - first_y, end_y - 1)); }
bool is_source(ivec2 u) { return true; }
#else
ivec2 result_position(ivec2 u, ivec2 pixel) { return pixel; }
ivec2 columns_of(int u) { return windows_with_x(u, source_width); }
ivec2 rows_of(int u) { return windows_with_y(u, source_height); }
bool is_source(ivec2 u) {
    return is_within(u.x, u.y, source_width, source_height);
}
#endif

// The usual case, with the sum made once for all slices. Where they are few, SLICES of them, all are
// kept: each is read once.
#ifdef SLICES
#define READ(i) \
    { \
        vec4 g_now, y_now; \
        read(pixel, from, i, at.z, g_now, y_now); \
        AT(g, i, SLICES) = g_now; \
        AT(y, i, SLICES) = y_now; \
    }
#define ADD(i) \
    { \
        vec4 part = share(AT(g, i, SLICES), AT(y, i, SLICES)); \
        add_slice(terms, slice_sum(part, i, gradient_channels), i); \
    }
#define STORE(i) \
    { \
        vec4 value = derivative(AT(g, i, SLICES), AT(y, i, SLICES), sum); \
        store_destination(at.x, at.y, i, at.z, value); \
    }
#define READ_AND_ADD(i) { READ(i) ADD(i) }

void store_one(ivec3 at, ivec2 u, ivec2 pixel) {
    ivec2 from = result_position(u, pixel);
    vec4 g[SLICES], y[SLICES];
    long_sum terms = long_sum(0.0, 0.0);
    UP_TO_SIXTEEN(READ_AND_ADD, SLICES)
    float sum = total_of(terms);
    UP_TO_SIXTEEN(STORE, SLICES)
}
#else
void store_one(ivec3 at, ivec2 u, ivec2 pixel) {
    ivec2 from = result_position(u, pixel);
    float sum = shared_sum(pixel, from, at.z);
    for (int slice = 0; slice < destination_slices; slice++)
        store_destination(at.x, at.y, slice, at.z, term(pixel, from, slice, at.z, sum));
}
#endif

vec4 total(ivec2 u, ivec2 columns, ivec2 rows, int slice, int image) {
    vec4 sum = vec4(0.0);
    for (int Y = rows.x; Y <= rows.y; Y++)
        for (int X = columns.x; X <= columns.y; X++) {
            ivec2 pixel = ivec2(X, Y);
            ivec2 from = result_position(u, pixel);
            sum += term(pixel, from, slice, image, shared_sum(pixel, from, image));
        }
    return sum;
}

void invocation(ivec3 at) {
    ivec2 u = at.xy + ivec2(shift_x, shift_y);
    ivec2 columns = columns_of(u.x);
    ivec2 rows = rows_of(u.y);
    bool inside = is_source(u);
    if (inside && columns.x == columns.y && rows.x == rows.y) {
        store_one(at, u, ivec2(columns.x, rows.x));
        return;
    }
    for (int slice = 0; slice < destination_slices; slice++) {
        vec4 value = inside ? total(u, columns, rows, slice, at.z) : vec4(0.0);
        store_destination(at.x, at.y, slice, at.z, value);
    }
}
