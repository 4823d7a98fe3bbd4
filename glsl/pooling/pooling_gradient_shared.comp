// dX(y) = sum over the windows X that read pixel y of what X passes on to it, with
//     AVERAGE   term(X) = G(X) / N(X)
//     SQUARES   term(X) = G(X) / norm(X), 0 where the norm is 0;  the sum is multiplied by source(y)
//     LARGEST   term(X) = G(X), for the pixel that X's winning tap reads alone
//     WINNERS   the same, and which tap that is the forward pass left
// A group of LANES invocations makes a tile of TILE_X x TILE_Y pixels of one slice. It finds the terms
// of the windows that read these, WINDOWS_X x WINDOWS_Y of them, and gathers: each is made once.
// With KEPT_ROUNDS what the windows read of the source, KEPT_WIDTH x KEPT_HEIGHT pixels, is kept in
// shared memory before, in so many rounds; with RUN instead what norms have in common, the sums of
// squares over their rows of taps.
// needs lib/compare.glsl
// needs lib/divide.glsl
// needs lib/window.glsl
// needs pooling/pooling_average.glsl
// needs pixel_reduction/epilogue.glsl
#ifdef EPILOGUE
collected own_values;
#endif

#define WINDOWS (WINDOWS_X * WINDOWS_Y)

// Windows are numbered row by row; those whose norms are taken column by column: 32 that follow each
// other are then two or three columns of the tile, and read float16 that lies a stride apart in a third
// of the time that they take side by side (H200).
#ifdef SQUARES
#define WINDOW_AT(window) ((window).x * WINDOWS_Y + (window).y)
ivec2 window_of(int i) {
    int column = SMALL_QUOTIENT(i, WINDOWS_Y);
    return ivec2(column, i - column * WINDOWS_Y);
}
#else
#define WINDOW_AT(window) ((window).y * WINDOWS_X + (window).x)
ivec2 window_of(int i) {
    int row = SMALL_QUOTIENT(i, WINDOWS_X);
    return ivec2(i - row * WINDOWS_X, row);
}
#endif

shared vec4 terms[WINDOWS];

// Window 0 of the tile, and the pixel that its first tap reads: the origin.
struct tile {
    ivec2 first, origin;
    int slice, image;
};

// ---- The source ----

#ifdef KEPT_ROUNDS
shared vec4 kept[KEPT_WIDTH * KEPT_HEIGHT];

// All are read before the first is kept.
void keep_source(int lane, tile t) {
    vec4 read[KEPT_ROUNDS];
    for (int r = 0; r < KEPT_ROUNDS; r++) {
        int y = SMALL_QUOTIENT(lane + r * LANES, KEPT_WIDTH);
        int x = lane + r * LANES - y * KEPT_WIDTH;
        read[r] = source_edge(t.origin.x + x, t.origin.y + y, t.slice, t.image);
    }
    for (int r = 0; r < KEPT_ROUNDS; r++)
        if (lane + r * LANES < KEPT_WIDTH * KEPT_HEIGHT)
            kept[lane + r * LANES] = read[r];
}
#endif

#ifdef LARGEST
// The pixel that lies `at` behind the origin.
vec4 source_at(ivec2 at, tile t) {
#ifdef KEPT_ROUNDS
    return kept[at.y * KEPT_WIDTH + at.x];
#else
    return source_edge(t.origin.x + at.x, t.origin.y + at.y, t.slice, t.image);
#endif
}
#endif

// ---- Terms of windows ----

#if defined(LARGEST) || defined(WINNERS)
// Numbers of the winning taps of the four channels, BITS each.
#ifdef WINNERS
#define BITS        6
#define NUMBER(tap) place_of_tap(tap.x, tap.y)
#else
#define BITS        8
#define NUMBER(tap) (tap.y * KERNEL_WIDTH + tap.x)
#endif
#define OF_EACH(number) (uint(number) * (1u + (1u << BITS) + (1u << 2 * BITS) + (1u << 3 * BITS)))
const uvec4 fields = uvec4((1u << BITS) - 1u) << uvec4(0, BITS, 2 * BITS, 3 * BITS);

shared uint winning[WINDOWS];
#endif

#ifdef LARGEST
#define OUTSIDE 255.0 // a zero outside

bool is_inside(ivec2 t) {
    return is_within(t.x, t.y, source_width, source_height);
}

// That of the pixel inside that the tap stands for, where there is one.
float seen_tap(float number, ivec2 first) {
    int tap = int(number);
    ivec2 step = ivec2(dilation_x, dilation_y);
    ivec2 t = first + ivec2(tap % KERNEL_WIDTH, tap / KERNEL_WIDTH) * step;
#ifdef EDGE_CLAMP // no window lies outside, and taps have nothing between them
    ivec2 seen = clamp(t, ivec2(0), ivec2(source_width, source_height) - 1) - first;
    return float(seen.y * KERNEL_WIDTH + seen.x);
#else
    return is_inside(t) ? number : OUTSIDE;
#endif
}

vec4 seen_taps(vec4 tap, ivec2 first) {
    ivec2 last = first + ivec2(dilation_x, dilation_y) * ivec2(KERNEL_WIDTH - 1, KERNEL_HEIGHT - 1);
    if (is_inside(first) && is_inside(last))
        return tap;
    return vec4(seen_tap(tap.x, first), seen_tap(tap.y, first), seen_tap(tap.z, first),
                seen_tap(tap.w, first));
}

bool is_finite(vec4 v) {
    return all(lessThan(floatBitsToUint(v) & uvec4(0x7fffffffu), uvec4(0x7f800000u)));
}

// Of any values.
vec4 strict_winner(ivec2 corner, tile t) {
    vec4 best = source_at(corner, t), winner = vec4(0.0);
    for (int q = 0; q < KERNEL_HEIGHT; q++)
        for (int p = 0; p < KERNEL_WIDTH; p++) {
            vec4 value = source_at(corner + ivec2(dilation_x * p, dilation_y * q), t);
            bvec4 better = wins(value, best);
            best = mix(best, value, better);
            winner = mix(winner, vec4(q * KERNEL_WIDTH + p), better);
        }
    return winner;
}

// Where the sum of all taps is finite, each is: comparisons need not look for a NaN.
vec4 winner_among(ivec2 corner, tile t) {
    vec4 best = source_at(corner, t), winner = vec4(0.0), sum = vec4(0.0);
    for (int q = 0; q < KERNEL_HEIGHT; q++)
        for (int p = 0; p < KERNEL_WIDTH; p++) {
            vec4 value = source_at(corner + ivec2(dilation_x * p, dilation_y * q), t);
            winner += vec4(greaterThan(value, best)) * (float(q * KERNEL_WIDTH + p) - winner);
            best = max(best, value);
            sum += value;
        }
    return seen_taps(is_finite(sum) ? winner : strict_winner(corner, t), t.origin + corner);
}

uint winner_of(ivec2 window, ivec2 X, tile t) {
    vec4 number = winner_among(window * ivec2(stride_x, stride_y), t);
    uvec2 pairs = uvec2(number.xz + number.yw * 256.0);
    return pairs.x | pairs.y << 16;
}
#endif

#ifdef WINNERS
uint winner_of(ivec2 window, ivec2 X, tile t) {
    return uint(winners_at(winner_rows(t.slice, t.image), X));
}
#endif

#ifdef RUN
// Of row y of the source, y below the origin, and window x of a row of them: at y * WINDOWS_X + x.
shared vec4 row_sums[KEPT_HEIGHT * WINDOWS_X];

#define RUNS  ((WINDOWS_X + RUN - 1) / RUN) // of windows side by side, in a row
#define READS ((RUN - 1) * stride_x + TAPS_X)

// A lane reads what RUN windows have of a row once; lanes beside it read the rows below.
void make_row_sums(int lane, tile t) {
    for (int i = lane; i < RUNS * KEPT_HEIGHT; i += LANES) {
        int run = SMALL_QUOTIENT(i, KEPT_HEIGHT);
        int y = i - run * KEPT_HEIGHT, first = run * RUN;
        vec4 squares[READS];
        for (int k = 0; k < READS; k++) {
            int x = t.origin.x + first * stride_x + k;
            vec4 v = source_edge(x, t.origin.y + y, t.slice, t.image);
            squares[k] = v * v;
        }
        for (int j = 0; j < RUN; j++) {
            vec4 sum = squares[j * stride_x];
            for (int p = 1; p < TAPS_X; p++)
                sum += squares[j * stride_x + p];
            if (first + j < WINDOWS_X)
                row_sums[y * WINDOWS_X + first + j] = sum;
        }
    }
}

vec4 norm_of(ivec2 window, tile t) {
    vec4 sum = vec4(0.0);
    for (int q = 0; q < KERNEL_HEIGHT; q++)
        sum += row_sums[(window.y * stride_y + q) * WINDOWS_X + window.x];
    ivec2 first = t.origin + window * ivec2(stride_x, stride_y);
    return norm_of_squares(sum, first.x, first.y, t.slice, t.image);
}
#elif defined(SQUARES)
vec4 norm_of(ivec2 window, tile t) {
    ivec2 first = t.origin + window * ivec2(stride_x, stride_y);
    vec4 sum = vec4(0.0);
    for (int q = 0; q < KERNEL_HEIGHT; q++) {
        vec4 row = vec4(0.0);
        for (int p = 0; p < KERNEL_WIDTH; p++) {
            vec4 v = source_edge(first.x + p, first.y + q, t.slice, t.image);
            row += v * v;
        }
        sum += row;
    }
    return norm_of_squares(sum, first.x, first.y, t.slice, t.image);
}
#endif

vec4 term_of(ivec2 window, ivec2 X, vec4 g, tile t) {
#if defined(AVERAGE)
    float count = average_count(X.x, X.y, source_width, source_height);
    return count > 0.0 ? g / count : vec4(0.0);
#elif defined(SQUARES)
    vec4 norm = norm_of(window, t);
    bvec4 none = equal(norm, vec4(0.0));
    return mix(g / mix(norm, vec4(1.0), none), vec4(0.0), none);
#else
    return g;
#endif
}

void make_terms(int lane, tile t) {
    for (int i = lane; i < WINDOWS; i += LANES) {
        ivec2 window = window_of(i), X = t.first + window;
        bool counts = X.x >= begin_x && X.y >= begin_y && X.x < end_x && X.y < end_y;
        vec4 term = vec4(0.0);
        if (counts)
            term = term_of(window, X, gradient(X.x, X.y, t.slice, t.image), t);
        terms[i] = term;
#ifdef BITS // of a term that is 0 none is asked for
        winning[i] = counts ? winner_of(window, X, t) : 0u;
#endif
    }
}

// ---- Pixels ----

// What the window passes on to the pixel at u of the source, which its tap reads.
vec4 passed_on(ivec2 window, ivec2 tap, ivec2 u, tile t) {
    int i = WINDOW_AT(window);
#if defined(BITS)
    uvec4 others = uvec4(winning[i] ^ OF_EACH(NUMBER(tap))) & fields;
    return mix(vec4(0.0), terms[i], equal(others, uvec4(0u)));
#elif defined(SQUARES) && defined(EDGE_CLAMP)
    ivec2 X = t.first + window;
    return float(taps_at_x(u.x, source_width, X.x) * taps_at_y(u.y, source_height, X.y)) * terms[i];
#else
    return terms[i];
#endif
}

// The last window that reads a pixel which lies `at` behind the origin, along an axis.
int last_window(int at, int stride) { return quotient(at, stride); }

// What those that read it pass on: along an axis, by taps rest, rest + stride, ... of windows last,
// last - dilation, ...
vec4 gathered(ivec2 last, ivec2 rest, ivec2 u, tile t) {
    const ivec2 stride = ivec2(stride_x, stride_y), step = ivec2(dilation_x, dilation_y);
    vec4 sum = vec4(0.0);
    for (int j = 0; j < WINDOWS_AT_Y; j++)
        for (int i = 0; i < WINDOWS_AT_X; i++) {
            ivec2 tap = rest + ivec2(i, j) * stride;
            if ((i == 0 || tap.x < KERNEL_WIDTH) && (j == 0 || tap.y < KERNEL_HEIGHT))
                sum += passed_on(last - ivec2(i, j) * step, tap, u, t);
        }
#ifdef SQUARES
    sum *= source(u.x, u.y, t.slice, t.image);
#endif
    return sum;
}

// Where the first pixel of a lane lies; the others are ROWS below each other, which divides TILE_Y.
// Those in step make a block of 8 x 4: whole sectors of textures.
#define ROWS (LANES / TILE_X)
ivec2 place_of(int lane) {
    uint block = uint(lane) / 32u, in_block = uint(lane) % 32u, across = uint(TILE_X / 8);
    return ivec2(block % across * 8u + in_block % 8u, block / across * 4u + in_block / 8u);
}

// Those of a lane, in rounds: `to` is the tile's first pixel of the region, `corner` of the source.
void make_pixels(int lane, ivec2 to, ivec2 corner, tile t) {
    ivec2 own = place_of(lane), from = corner + own - t.origin;
    ivec2 last = ivec2(last_window(from.x, stride_x), last_window(from.y, stride_y));
    ivec2 rest = from - last * ivec2(stride_x, stride_y);
    bool inside_x = corner.x + own.x >= 0 && corner.x + own.x < source_width;
    int rows = to.x + own.x < region_width ? min(TILE_Y, region_height - to.y - own.y) : 0;
    for (int r = 0; r < rows; r += ROWS) {
        ivec2 below = own + ivec2(0, r), p = to + below, u = corner + below;
        bool inside = inside_x && u.y >= 0 && u.y < source_height;
        vec4 sum = inside ? gathered(last, rest, u, t) : vec4(0.0);
        store_destination(region_x + p.x, region_y + p.y, t.slice, t.image, sum);
        COLLECT(own_values, sum, p, t.slice, t.image);
#if ROWS % stride_y == 0 // the same taps read the next
        last.y += ROWS / stride_y;
#else
        last.y = last_window(from.y + r + ROWS, stride_y);
        rest.y = from.y + r + ROWS - last.y * stride_y;
#endif
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
#ifdef KEPT_ROUNDS
    keep_source(lane, t);
    barrier();
#endif
#ifdef RUN
    make_row_sums(lane, t);
    barrier();
#endif
    make_terms(lane, t);
    barrier();
    BEGIN_COLLECTED(own_values);
    make_pixels(lane, to, corner, t);
    LEAVE_COLLECTED(lane, 1, run_of_tile(to / ivec2(TILE_X, TILE_Y), image), slice, own_values);
    FINISH_COLLECTED(lane, 1, slice);
}
