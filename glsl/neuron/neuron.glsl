// The fifteen neurons of spec 7.3, chosen by define NEURON_TYPE (the numbers of glcnn_neuron_type),
// with uniforms neuron_a, neuron_b, neuron_c. `slope` holds PReLU's slopes of the four channels:
//   vec4 neuron(vec4 x, vec4 slope)              f(x)
//   vec4 neuron_derivative(vec4 x, vec4 slope)   f'(x)
//   vec4 neuron_slope(int slice)                 the slopes where NEURON_DATA is defined, else 0
// At a kink the branch for greater x holds. All are finite wherever the exact value is a float, and
// NaN where x is one, but for a derivative that does not depend on x.
// Needs lib/compare.glsl and lib/math.glsl.
// Mali's older GPUs (T8xx: 16 registers) spill up to 10 values where the derivative of a neuron with an
// exponential or a power, or PReLU's slopes, stand beside what a normalisation keeps: there is no way
// around the four components of all of them.

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

#if NEURON_TYPE == 0 // none
vec4 neuron(vec4 x, vec4 slope) { return x; }
vec4 neuron_derivative(vec4 x, vec4 slope) { return vec4(1.0); }

#elif NEURON_TYPE == 1 // relu: x >= 0 ? x : a x
vec4 neuron(vec4 x, vec4 slope) { return by_sign(x, times(vec4(neuron_a), x), x); }
vec4 neuron_derivative(vec4 x, vec4 slope) { return by_sign(x, vec4(neuron_a), vec4(1.0)); }

#elif NEURON_TYPE == 2 // linear: a x + b
vec4 neuron(vec4 x, vec4 slope) { return neuron_a * x + neuron_b; }
vec4 neuron_derivative(vec4 x, vec4 slope) { return vec4(neuron_a); }

#elif NEURON_TYPE == 3 // sigmoid: 1 / (1 + e^-x);  f' = e^-|x| / (1 + e^-|x|)^2
vec4 neuron(vec4 x, vec4 slope) { return sigmoid_precise(x); }
vec4 neuron_derivative(vec4 x, vec4 slope) {
    vec4 e = exp_precise(-abs(x));
    return e / ((1.0 + e) * (1.0 + e));
}

#elif NEURON_TYPE == 4 // hard sigmoid: a x + b held in 0 .. 1
vec4 neuron(vec4 x, vec4 slope) { return held(neuron_a * x + neuron_b, 0.0, 1.0); }
vec4 neuron_derivative(vec4 x, vec4 slope) {
    vec4 v = neuron_a * x + neuron_b;
    return or_nan(mix(vec4(0.0), vec4(neuron_a), equal(v, clamp(v, 0.0, 1.0))), v);
}

#elif NEURON_TYPE == 5 // tanh: a tanh(b x);  1 - tanh^2 = 4 e / (1 + e)^2, e = e^(-2|b x|)
vec4 neuron(vec4 x, vec4 slope) { return neuron_a * tanh_precise(neuron_b * x); }
vec4 neuron_derivative(vec4 x, vec4 slope) {
    vec4 e = exp_precise(-2.0 * abs(neuron_b * x));
    return neuron_a * neuron_b * 4.0 * e / ((1.0 + e) * (1.0 + e));
}

#elif NEURON_TYPE == 6 // absolute
vec4 neuron(vec4 x, vec4 slope) { return abs(x); }
vec4 neuron_derivative(vec4 x, vec4 slope) { return sign_of(x); }

#elif NEURON_TYPE == 7 // soft plus: a log(1 + e^(b x))
vec4 neuron(vec4 x, vec4 slope) {
    vec4 v = neuron_b * x;
    return neuron_a * (max(v, vec4(0.0)) + log1p(exp_precise(-abs(v))));
}
vec4 neuron_derivative(vec4 x, vec4 slope) { return neuron_a * neuron_b * sigmoid_precise(neuron_b * x); }

#elif NEURON_TYPE == 8 // soft sign: x / (1 + |x|)
vec4 neuron(vec4 x, vec4 slope) { return x / (1.0 + abs(x)); }
vec4 neuron_derivative(vec4 x, vec4 slope) {
    vec4 f = 1.0 / (1.0 + abs(x));
    return f * f;
}

#elif NEURON_TYPE == 9 // elu: x >= 0 ? x : a (e^x - 1)
vec4 neuron(vec4 x, vec4 slope) { return by_sign(x, neuron_a * expm1(x), x); }
vec4 neuron_derivative(vec4 x, vec4 slope) {
    return by_sign(x, neuron_a * exp_precise(x), vec4(1.0));
}

#elif NEURON_TYPE == 10 // prelu: x >= 0 ? x : slope x
vec4 neuron(vec4 x, vec4 slope) { return by_sign(x, times(slope, x), x); }
vec4 neuron_derivative(vec4 x, vec4 slope) { return by_sign(x, slope, vec4(1.0)); }

#elif NEURON_TYPE == 11 // relun: min(x >= 0 ? x : a x, b)
vec4 relun_inner(vec4 x) { return by_sign(x, times(vec4(neuron_a), x), x); }
vec4 neuron(vec4 x, vec4 slope) { return at_most(relun_inner(x), neuron_b); }
vec4 neuron_derivative(vec4 x, vec4 slope) {
    vec4 d = by_sign(x, vec4(neuron_a), vec4(1.0));
    return or_nan(mix(vec4(0.0), d, lessThan(relun_inner(x), vec4(neuron_b))), x);
}

#elif NEURON_TYPE == 12 // power: (a x + b)^c
vec4 neuron(vec4 x, vec4 slope) { return pow_precise(neuron_a * x + neuron_b, vec4(neuron_c)); }
vec4 neuron_derivative(vec4 x, vec4 slope) {
    return neuron_a * neuron_c * pow_precise(neuron_a * x + neuron_b, vec4(neuron_c - 1.0));
}

#elif NEURON_TYPE == 13 // exponential: c^(a x + b), c = -1 stands for e
vec4 neuron(vec4 x, vec4 slope) {
    vec4 v = neuron_a * x + neuron_b;
    return neuron_c == -1.0 ? exp_precise(v) : pow_precise(vec4(neuron_c), v);
}
vec4 neuron_derivative(vec4 x, vec4 slope) {
    float rate = neuron_c == -1.0 ? 1.0 : log_precise(neuron_c);
    return neuron_a * rate * neuron(x, slope);
}

#elif NEURON_TYPE == 14 // logarithm: log_c(a x + b), c = -1 stands for e
float neuron_rate() { return neuron_c == -1.0 ? 1.0 : log_precise(neuron_c); }
vec4 neuron(vec4 x, vec4 slope) { return log_precise(neuron_a * x + neuron_b) / neuron_rate(); }
vec4 neuron_derivative(vec4 x, vec4 slope) { return neuron_a / (neuron_rate() * (neuron_a * x + neuron_b)); }
#endif
