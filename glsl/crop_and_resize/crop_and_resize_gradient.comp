// dX(n, u) = sum over regions r, rows Y and columns X of G(n R + r, Y, X) times the share of source pixel
// u in that result; R regions an image
// Long sums are made of runs of 32 results, and 32 of those are added up before the next: so the error
// grows with 32 + 32 + results / 1024. Of the three sums and both axes Mali's T820, of 16 registers, spills
// up to 11 values in some of its programs.
// needs crop_and_resize/crop_axis.glsl
struct long_sum {
    vec4 all, runs, run;
    int last; // the result whose term came last
};

void add_term(inout long_sum sum, int result, vec4 term) {
    if (result >> 5 != sum.last >> 5) {
        sum.runs += sum.run;
        sum.run = vec4(0.0);
    }
    if (result >> 10 != sum.last >> 10) {
        sum.all += sum.runs;
        sum.runs = vec4(0.0);
    }
    sum.last = result;
    sum.run += term;
}

void add_region(inout long_sum sum, ivec2 at, int slice, int image, int r) {
    vec4 region = region_of(r, image);
    ivec2 size = ivec2(destination_width, destination_height);
    ivec4 near = results_near(at, region, size);
    near = ivec4(max(near.x, begin_x), min(near.y, end_x - 1), max(near.z, begin_y),
                 min(near.w, end_y - 1));
    for (int Y = near.z; Y <= near.w; Y++)
        for (int X = near.x; X <= near.y; X++) {
            vec2 shares = shares_of(at, ivec2(X, Y), region, size);
            float share = shares.x * shares.y;
            if (share > 0.0) // what has none may be infinite, and a NaN is none
                add_term(sum, (r * resize_height + Y) * resize_width + X,
                         share * gradient(X, Y, slice, image * region_count + r));
        }
}

void invocation(ivec2 at, int slice, int image) {
    long_sum sum = long_sum(vec4(0.0), vec4(0.0), vec4(0.0), 0);
    int count = min(region_count, gradient_images - image * region_count);
    for (int r = 0; r < count; r++)
        add_region(sum, at, slice, image, r);
    store_destination(at.x, at.y, slice, image, sum.all + (sum.runs + sum.run));
}
