// What the types of neurons share. Of each type neuron_TYPE.glsl, behind this file, is a template,
// which has for NAME neuron
//   vec4 neuron(vec4 x, vec4 slope)              f(x)
//   vec4 neuron_derivative(vec4 x, vec4 slope)   f'(x)
// with uniforms neuron_a, neuron_b and neuron_c for a, b and c; `slope` holds those of the four
// channels, for whose gradient types with slopes have
//   vec4 neuron_by_slope(vec4 x, vec4 g)         g df/dslope(x)
// At a kink the branch for greater x holds, at 0 that for smaller x where neuron_left is 1. All are finite wherever the exact value is a
// float, and NaN where x is one, but for a derivative that does not depend on x.
// Mali's older GPUs (T8xx: 16 registers) spill up to 10 values where the derivative of a neuron
// with an exponential or a power, or PReLU's slopes, stand beside what a normalisation keeps: all
// have four components, and there is no way around that.
// needs lib/compare.glsl

// The slopes where NEURON_DATA is defined, else 0; a single one is that of all channels
#ifdef NEURON_DATA
vec4 neuron_slope(int slice) {
    ivec4 c = min(ivec4(slice * 4) + ivec4(0, 1, 2, 3), neuron_channels - 1);
    return vec4(neuron_data[c.x], neuron_data[c.y], neuron_data[c.z], neuron_data[c.w]);
}
#else
vec4 neuron_slope(int slice) { return vec4(0.0); }
#endif

// x >= 0 ? above : below; the NaN where x is one
vec4 by_sign(vec4 x, vec4 below, vec4 above) {
    return or_nan(mix(below, above, greaterThanEqual(x, vec4(0.0))), x);
}

// A derivative with a kink at 0: by_sign, or with `kink`, a constant that is not 0, x > 0 ? above : below
vec4 by_kink(vec4 x, vec4 below, vec4 above, int kink) {
    bvec4 over = greaterThanEqual(x, vec4(0.0));
    if (kink != 0)
        over = greaterThan(x, vec4(0.0));
    return or_nan(mix(below, above, over), x);
}
