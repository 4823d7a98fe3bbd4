// dX(y) = sum over the windows X that read pixel y of what X passes on to it, with
//     AVERAGE      term(X) = G(X) / N(X)
//     L2_NORM      term(X) = G(X) / norm(X), 0 where the norm is 0;  the sum is multiplied by source(y)
//     MAX_INDICES  term(X) = G(X), for the pixel alone that X's largest tap reads
// A group of LANES invocations makes a tile of TILE_X x TILE_Y pixels of one slice. It finds the terms
// of the windows that read these, WINDOWS_X x WINDOWS_Y of them, in shared memory, and gathers: each is
// made once.
// needs lib/divide.glsl
// needs lib/window.glsl
// needs pooling/average.glsl
#define WINDOWS (WINDOWS_X * WINDOWS_Y)

shared vec4 terms[WINDOWS];
#ifdef MAX_INDICES
shared int codes[WINDOWS];
#endif

// Window 0 of the tile, and the pixel that its first tap reads: the origin.
struct tile {
    ivec2 first, origin;
    int slice, image;
};

vec4 term_of(ivec2 X, tile t) {
    vec4 g = gradient(X.x, X.y, t.slice, t.image);
#if defined(AVERAGE)
    float count = average_count(X.x, X.y, source_width, source_height);
    return count > 0.0 ? g / count : vec4(0.0);
#elif defined(L2_NORM)
    vec4 norm = window_norm(X.x, X.y, t.slice, t.image);
    bvec4 none = equal(norm, vec4(0.0));
    return mix(g / mix(norm, vec4(1.0), none), vec4(0.0), none);
#else
    return g;
#endif
}

void make_terms(int lane, tile t) {
    for (int i = lane; i < WINDOWS; i += LANES) {
        int row = SMALL_QUOTIENT(i, WINDOWS_X);
        ivec2 X = t.first + ivec2(i - row * WINDOWS_X, row);
        bool counts = X.x >= begin_x && X.y >= begin_y && X.x < end_x && X.y < end_y;
        vec4 term = vec4(0.0);
        if (counts)
            term = term_of(X, t);
        terms[i] = term;
#ifdef MAX_INDICES // of a term that is 0 none is asked for
        codes[i] = counts ? indices_at(index_rows(t.slice, t.image), X) : 0;
#endif
    }
}

// What the window passes on to the pixel at u of the source, which its tap reads.
vec4 passed_on(ivec2 window, ivec2 tap, ivec2 u, tile t) {
    int i = window.y * WINDOWS_X + window.x;
#if defined(MAX_INDICES)
    return mix(vec4(0.0), terms[i], is_argmax(codes[i], place_of_tap(tap.x, tap.y)));
#elif defined(L2_NORM) && defined(EDGE_CLAMP)
    ivec2 X = t.first + window;
    return float(taps_at_x(u.x, source_width, X.x) * taps_at_y(u.y, source_height, X.y)) * terms[i];
#else
    return terms[i];
#endif
}

// What those that read the pixel at u pass on: along an axis, by taps rest, rest + stride, ... of
// windows last, last - dilation, ...
vec4 gathered(ivec2 u, tile t) {
    const ivec2 stride = ivec2(stride_x, stride_y), step = ivec2(dilation_x, dilation_y);
    ivec2 from = u - t.origin;
    ivec2 last = ivec2(quotient(from.x, stride_x), quotient(from.y, stride_y));
    ivec2 rest = from - last * stride;
    vec4 sum = vec4(0.0);
    for (int j = 0; j < WINDOWS_AT_Y; j++)
        for (int i = 0; i < WINDOWS_AT_X; i++) {
            ivec2 tap = rest + ivec2(i, j) * stride;
            if ((i == 0 || tap.x < KERNEL_WIDTH) && (j == 0 || tap.y < KERNEL_HEIGHT))
                sum += passed_on(last - ivec2(i, j) * step, tap, u, t);
        }
#ifdef L2_NORM
    sum *= source(u.x, u.y, t.slice, t.image);
#endif
    return sum;
}

// Lanes in step store blocks of 8 x 4 pixels: whole sectors of textures. The other pixels of a lane lie
// LANES / TILE_X rows below each other.
void make_pixels(int lane, ivec2 to, ivec2 corner, tile t) {
    int block = lane / 32, in_block = lane % 32, across = TILE_X / 8;
    ivec2 own = ivec2(block % across * 8 + in_block % 8, block / across * 4 + in_block / 8);
    for (int r = own.y; r < TILE_Y; r += LANES / TILE_X) {
        ivec2 p = to + ivec2(own.x, r), u = corner + ivec2(own.x, r);
        bool inside = is_within(u.x, u.y, source_width, source_height);
        if (p.x < region_width && p.y < region_height)
            store_destination(region_x + p.x, region_y + p.y, t.slice, t.image,
                              inside ? gathered(u, t) : vec4(0.0));
    }
}

void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex);
    int image = layer_quotient(at.z, destination_slices);
    int slice = at.z - image * destination_slices;
    ivec2 to = ivec2((at.x - lane) / LANES, at.y) * ivec2(TILE_X, TILE_Y);
    ivec2 corner = to + ivec2(region_x + shift_x, region_y + shift_y);
    ivec2 reach = ivec2(dilation_x * (KERNEL_WIDTH - 1), dilation_y * (KERNEL_HEIGHT - 1));
    ivec2 first = ivec2(ceil_divide(corner.x - first_x - reach.x, stride_x),
                        ceil_divide(corner.y - first_y - reach.y, stride_y));
    ivec2 origin = ivec2(first_x, first_y) + first * ivec2(stride_x, stride_y);
    tile t = tile(first, origin, slice, image);
    make_terms(lane, t);
    barrier();
    make_pixels(lane, to, corner, t);
}
