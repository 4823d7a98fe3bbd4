// Over the channels of a pixel, with
//     m = max_i y(i),   S = sum_i exp(y(i) - m),   T = sum_i omega(i) t(i):
//     l(k) = -t(k) (y(k) - m - log S),   0 where t(k) = 0 and y(k) is -infinity
//     omega(k) l(k) has the gradient  exp(y(k) - m) / S * T - omega(k) t(k)
// needs lib/channels.glsl
// needs lib/compare.glsl
// needs lib/math.glsl
// needs loss/loss.glsl
struct NAME_sums {
    float peak, sum, log_sum, labels;
};

NAME_sums NAME_sums_of(ivec2 at, int image) {
    NAME_sums s = NAME_sums(prediction(at, 0, image).x, 0.0, 0.0, 0.0);
    for (int slice = first_slice(); slice < source_slices; slice += SLICE_STEP)
        s.peak = max(s.peak, slice_max(prediction(at, slice, image), slice, source_channels));
    s.peak = max_of_all(s.peak);
    long_sum sum = long_sum(0.0, 0.0);
    for (int slice = first_slice(); slice < source_slices; slice += SLICE_STEP) {
        vec4 e = exp_precise(prediction(at, slice, image) - s.peak);
        add_slice(sum, slice_sum(e, slice, source_channels), slice);
    }
    s.sum = sum_of_all(vec4(total_of(sum))).x;
    sum = long_sum(0.0, 0.0);
    for (int slice = first_slice(); slice < source_slices; slice += SLICE_STEP) {
        vec4 t = omega(at, slice, image) * label(at, slice, image);
        add_slice(sum, slice_sum(t, slice, source_channels), slice);
    }
    s.labels = sum_of_all(vec4(total_of(sum))).x;
    s.log_sum = log_precise(s.sum);
    return s;
}

vec4 NAME_loss(vec4 y, vec4 t, NAME_sums s) { return times(-t, y - s.peak - s.log_sum); }
vec4 NAME_weighted_gradient(vec4 y, vec4 t, vec4 w, NAME_sums s) {
    return exp_precise(y - s.peak) / s.sum * s.labels - w * t;
}
