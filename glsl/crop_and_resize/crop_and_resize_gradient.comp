// dX(n, u) = sum over regions r, rows Y and columns X of G(n R + r, Y, X) times the share of source pixel
// u in that result; R regions an image
// Long sums are made of runs of 32 results, and 32 of those are added up before the next: so the error
// grows with 32 + 32 + results / 1024.
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
    region_axis x = region_axis(resize_width, destination_width, region.x, region.z);
    region_axis y = region_axis(resize_height, destination_height, region.y, region.w);
    ivec2 columns = results_near(at.x, x), rows = results_near(at.y, y);
    columns = ivec2(max(columns.x, begin_x), min(columns.y, end_x - 1));
    rows = ivec2(max(rows.x, begin_y), min(rows.y, end_y - 1));
    for (int Y = rows.x; Y <= rows.y; Y++) {
        float down = share_of(at.y, Y, y);
        for (int X = columns.x; X <= columns.y; X++) {
            float share = down * share_of(at.x, X, x);
            if (share > 0.0) // what has none may be infinite, and a NaN is none
                add_term(sum, (r * resize_height + Y) * resize_width + X,
                         share * gradient(X, Y, slice, image * region_count + r));
        }
    }
}

void invocation(ivec2 at, int slice, int image) {
    long_sum sum = long_sum(vec4(0.0), vec4(0.0), vec4(0.0), 0);
    int count = min(region_count, gradient_images - image * region_count);
    for (int r = 0; r < count; r++)
        add_region(sum, at, slice, image, r);
    store_destination(at.x, at.y, slice, image, sum.all + (sum.runs + sum.run));
}
