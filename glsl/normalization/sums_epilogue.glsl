// The sums of normalization/normalization_sums.comp over a gradient G that a pass stores
// (pixel_reduction/epilogue.glsl), pixel by pixel the result's: of the normalisation of "normalized",
//     sum g',   sum g' xh,   xh = (x - mean) / sqrt(variance + epsilon),   g' = G act'(gamma xh + beta)
// needs lib/compare.glsl
// needs lib/four.glsl
// needs pixel_reduction/last_block.glsl
// needs pixel_reduction/finish_sums.glsl
#define AT_ONCE 4

struct reduced {
    vec4 sum, sum_xh; // the second without the rate
};

vec4 normalized_neuron_derivative(vec4 v, vec4 slope);

reduced empty_reduced() { return reduced(vec4(0.0), vec4(0.0)); }

ivec4 reduced_channels(int slice) {
    return min(ivec4(slice * 4) + ivec4(0, 1, 2, 3), destination_channels - 1);
}

vec4 reduced_rate(ivec4 c) {
    return 1.0 / sqrt(FOUR(normalized_variance, c) + normalized_epsilon);
}

void reduce_value(inout reduced sums, vec4 value, ivec2 pixel, int slice, int image) {
    ivec4 c = reduced_channels(slice);
    vec4 scale = FOUR(normalized_gamma, c) * reduced_rate(c);
    vec4 d = normalized(pixel.x, pixel.y, slice, image) - FOUR(normalized_mean, c);
    vec4 rate = normalized_neuron_derivative(scale * d + FOUR(normalized_beta, c), vec4(0.0));
    vec4 g = times(rate, value);
    sums.sum += g;
    sums.sum_xh += g * d;
}

shared vec4 sums_of_lanes[LANES / 2], sums_xh_of_lanes[LANES / 2];

// Of lanes that are a multiple of `step` apart, a power of two, in pairs: the first `step` have it.
void merge_reduced(int lane, int step, inout reduced sums) {
    for (int apart = LANES / 2; apart >= step; apart /= 2) {
        if (lane >= apart && lane < 2 * apart) {
            sums_of_lanes[lane - apart] = sums.sum;
            sums_xh_of_lanes[lane - apart] = sums.sum_xh;
        }
        barrier();
        if (lane < apart) {
            sums.sum += sums_of_lanes[lane];
            sums.sum_xh += sums_xh_of_lanes[lane];
        }
        barrier();
    }
}

void write_run(int lane, int step, int run, int slice, reduced sums) {
    merge_reduced(lane, step, sums);
    if (lane >= step || slice >= destination_slices)
        return;
    leave(run, slice, 0, 0, sums.sum);
    leave(run, slice, 0, 1, sums.sum_xh);
}

// Of a slice, the runs from `first` on that are `apart` from each other; as many at a time as
// normalization/statistics_epilogue.glsl reads.
reduced read_runs(int first, int apart, int slice) {
    reduced sums = empty_reduced();
    for (int begin = first; begin < runs; begin += AT_ONCE * apart) {
        reduced of[AT_ONCE];
        for (int i = 0; i < AT_ONCE; i++) {
            int run = min(begin + i * apart, runs - 1);
            of[i] = reduced(left_by(run, slice, 0, 0), left_by(run, slice, 0, 1));
        }
        for (int i = 0; i < AT_ONCE; i++)
            if (begin + i * apart < runs) {
                sums.sum += of[i].sum;
                sums.sum_xh += of[i].sum_xh;
            }
    }
    return sums;
}

void store_reduced(int slice, reduced sums) {
    finish_sums(slice, 0, destination_channels, sums.sum,
                sums.sum_xh * reduced_rate(reduced_channels(slice)));
}
