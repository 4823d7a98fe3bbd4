// dX(y) = sum over the windows X that read pixel y of what X passes on to it, with
//     AVERAGE   term(X) = G(X) / N(X)
//     SQUARES   term(X) = G(X) / norm(X), 0 where the norm is 0;  the sum is multiplied by source(y)
//     LARGEST   term(X) = G(X), for the pixel that X's winning tap reads alone
// A group of LANES invocations makes a tile of TILE_X x TILE_Y pixels of one slice. It keeps in shared
// memory what the windows of the tile read of the source, KEPT_WIDTH x KEPT_HEIGHT pixels, then the
// terms of these windows, WINDOWS_X x WINDOWS_Y of them, and gathers: each is read or made once.
// needs lib/divide.glsl
// needs lib/window.glsl
// needs pooling/pooling_average.glsl
#define WINDOWS (WINDOWS_X * WINDOWS_Y)

shared vec4 terms[WINDOWS];

// ---- The source, kept ----

#ifndef AVERAGE
// Columns that are a stride apart lie side by side: they are what neighbours read at once.
#define APART ((KEPT_WIDTH + stride_x - 1) / stride_x)
int place(int x, int y) {
    int window = int(uint(x) / uint(stride_x));
    return (y * stride_x + x - window * stride_x) * APART + window;
}

#ifdef LARGEST
// Whole numbers in the order of the values: a NaN above all, the zeros equal.
#define KEPT_TYPE ivec4
ivec4 kept_of(vec4 v) {
    ivec4 bits = floatBitsToInt(v);
    ivec4 size = bits & 0x7fffffff;
    ivec4 order = mix(size, -size, lessThan(bits, ivec4(0)));
    return mix(order, ivec4(0x7fffffff), greaterThan(size, ivec4(0x7f800000)));
}
#else
#define KEPT_TYPE vec4
vec4 kept_of(vec4 v) { return v; }
#endif

shared KEPT_TYPE kept[APART * stride_x * KEPT_HEIGHT];

void keep_source(int lane, ivec2 origin, int slice, int image) {
    for (int i = lane; i < KEPT_WIDTH * KEPT_HEIGHT; i += LANES) {
        int y = i / KEPT_WIDTH;
        int x = i - y * KEPT_WIDTH;
        kept[place(x, y)] = kept_of(source_edge(origin.x + x, origin.y + y, slice, image));
    }
}
#endif

// ---- Terms of windows ----

#ifdef LARGEST
// Numbers of the winning taps of the four channels, 255 for an outside zero: 8 bits each.
shared uint winners[WINDOWS];

bool is_inside(ivec2 t) {
    return t.x >= 0 && t.y >= 0 && t.x < source_width && t.y < source_height;
}

// That of the pixel inside that the tap stands for, where there is one.
int seen_tap(int tap, ivec2 first) {
    ivec2 step = ivec2(dilation_x, dilation_y);
    ivec2 t = first + ivec2(tap % KERNEL_WIDTH, tap / KERNEL_WIDTH) * step;
#ifdef EDGE_CLAMP // no window lies outside, and taps have nothing between them
    ivec2 seen = clamp(t, ivec2(0), ivec2(source_width, source_height) - 1) - first;
    return seen.y * KERNEL_WIDTH + seen.x;
#else
    return is_inside(t) ? tap : 255;
#endif
}

uint joined(ivec4 tap, ivec2 first) {
    ivec2 last = first + ivec2(dilation_x, dilation_y) * ivec2(KERNEL_WIDTH - 1, KERNEL_HEIGHT - 1);
    if (!is_inside(first) || !is_inside(last))
        tap = ivec4(seen_tap(tap.x, first), seen_tap(tap.y, first), seen_tap(tap.z, first),
                    seen_tap(tap.w, first));
    return uint(tap.x | tap.y << 8 | tap.z << 16 | tap.w << 24);
}

uint winner_of(ivec2 window, ivec2 origin) {
    ivec2 corner = window * ivec2(stride_x, stride_y);
    ivec4 best = kept[place(corner.x, corner.y)];
    ivec4 winner = ivec4(0);
    for (int q = 0; q < KERNEL_HEIGHT; q++)
        for (int p = 0; p < KERNEL_WIDTH; p++) {
            ivec4 value = kept[place(corner.x + dilation_x * p, corner.y + dilation_y * q)];
            bvec4 better = greaterThan(value, best);
            best = ivec4(better.x ? value.x : best.x, better.y ? value.y : best.y,
                         better.z ? value.z : best.z, better.w ? value.w : best.w);
            int tap = q * KERNEL_WIDTH + p;
            winner = ivec4(better.x ? tap : winner.x, better.y ? tap : winner.y,
                           better.z ? tap : winner.z, better.w ? tap : winner.w);
        }
    return joined(winner, origin + corner);
}
#endif

#ifdef SQUARES
vec4 norm_of(ivec2 window) {
    ivec2 corner = window * ivec2(stride_x, stride_y);
    vec4 sum = vec4(0.0);
    for (int q = 0; q < KERNEL_HEIGHT; q++) {
        vec4 row = vec4(0.0);
        for (int p = 0; p < KERNEL_WIDTH; p++) {
            vec4 v = kept[place(corner.x + dilation_x * p, corner.y + dilation_y * q)];
            row += v * v;
        }
        sum += row;
    }
    return sqrt(sum);
}
#endif

vec4 term_of(ivec2 window, ivec2 X, vec4 g) {
#if defined(AVERAGE)
    float count = average_count(X.x, X.y, source_width, source_height);
    return count > 0.0 ? g / count : vec4(0.0);
#elif defined(SQUARES)
    vec4 norm = norm_of(window);
    bvec4 none = equal(norm, vec4(0.0));
    return mix(g / mix(norm, vec4(1.0), none), vec4(0.0), none);
#else
    return g;
#endif
}

void make_terms(int lane, ivec2 first, ivec2 origin, int slice, int image) {
    for (int i = lane; i < WINDOWS; i += LANES) {
        int row = i / WINDOWS_X;
        ivec2 window = ivec2(i - row * WINDOWS_X, row);
        ivec2 X = first + window;
        bool counts = X.x >= begin_x && X.y >= begin_y && X.x < end_x && X.y < end_y;
        vec4 term = vec4(0.0);
        if (counts)
            term = term_of(window, X, gradient(X.x, X.y, slice, image));
        terms[i] = term;
#ifdef LARGEST
        winners[i] = counts ? winner_of(window, origin) : 0xffffffffu;
#endif
    }
}

// ---- Pixels ----

// What the window passes on to the pixel at u of the source, which its tap reads.
vec4 passed_on(ivec2 window, ivec2 tap, ivec2 u, ivec2 first) {
    int i = window.y * WINDOWS_X + window.x;
#if defined(LARGEST)
    uvec4 winner = uvec4(winners[i]) >> uvec4(0u, 8u, 16u, 24u) & 255u;
    bvec4 mine = equal(winner, uvec4(tap.y * KERNEL_WIDTH + tap.x));
    return mix(vec4(0.0), terms[i], mine);
#elif defined(SQUARES) && defined(EDGE_CLAMP)
    ivec2 X = first + window;
    return float(taps_at_x(u.x, source_width, X.x) * taps_at_y(u.y, source_height, X.y)) * terms[i];
#else
    return terms[i];
#endif
}

// The windows that read a pixel which lies `at` behind the origin: along an axis, those of taps
// rest, rest + stride, ... of windows last, last - dilation, ...
vec4 gathered(ivec2 at, ivec2 u, ivec2 first) {
    const ivec2 stride = ivec2(stride_x, stride_y), step = ivec2(dilation_x, dilation_y);
    ivec2 last = ivec2(uvec2(at) / uvec2(stride)); // of no sign: by shifts where it can be
    ivec2 rest = at - last * stride;
    vec4 sum = vec4(0.0);
    for (int j = 0; j < WINDOWS_AT_Y; j++)
        for (int i = 0; i < WINDOWS_AT_X; i++) {
            ivec2 tap = rest + ivec2(i, j) * stride;
            if ((i == 0 || tap.x < KERNEL_WIDTH) && (j == 0 || tap.y < KERNEL_HEIGHT))
                sum += passed_on(last - ivec2(i, j) * step, tap, u, first);
        }
#ifdef SQUARES
    sum *= kept[place(at.x, at.y)];
#endif
    return sum;
}

void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex);
    int image = at.z / destination_slices;
    int slice = at.z - image * destination_slices;
    ivec2 tile = ivec2((at.x - lane) / LANES, at.y) * ivec2(TILE_X, TILE_Y);
    ivec2 corner = tile + ivec2(region_x + shift_x, region_y + shift_y);
    ivec2 reach = ivec2(dilation_x * (KERNEL_WIDTH - 1), dilation_y * (KERNEL_HEIGHT - 1));
    ivec2 first = ivec2(ceil_divide(corner.x - first_x - reach.x, stride_x),
                        ceil_divide(corner.y - first_y - reach.y, stride_y));
    ivec2 origin = ivec2(first_x, first_y) + first * ivec2(stride_x, stride_y);
#ifndef AVERAGE
    keep_source(lane, origin, slice, image);
    barrier();
#endif
    make_terms(lane, first, origin, slice, image);
    barrier();
    for (int i = lane; i < TILE_X * TILE_Y; i += LANES) {
        ivec2 own = ivec2(i % TILE_X, i / TILE_X);
        ivec2 to = tile + own;
        if (to.x >= region_width || to.y >= region_height)
            continue;
        ivec2 u = corner + own;
        bool inside = u.x >= 0 && u.y >= 0 && u.x < source_width && u.y < source_height;
        vec4 sum = gathered(u - origin, u, first);
        store_destination(region_x + to.x, region_y + to.y, slice, image,
                          inside ? sum : vec4(0.0));
    }
}
