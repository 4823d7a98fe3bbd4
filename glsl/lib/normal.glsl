// The normal distribution: P(x) = (1 + erf(x / sqrt 2)) / 2 and e^(-x^2 / 2).
// P(-|x|) is e^(-x^2 / 2) times a function that falls as 1 / |x|. That one is taken as t times a
// polynomial in t = 1 / (1 + 0.35 |x|): of those of degree 8 the one with the least relative error
// over |x| <= 15, 3.2e-8, found by Remez's exchange with 30 digits. Beyond 15 P(-|x|) is 0 as a
// float. P keeps its digits there, as 1 + erf would not.
// needs lib/math.glsl

// e^(-y^2 / 2),  0 <= y <= 15: the square of y's upper bits is exact, and the rest is small
vec4 normal_bell(vec4 y) {
    vec4 upper = uintBitsToFloat(floatBitsToUint(y) & uvec4(0xfffff000u));
    vec4 rest = 0.5 * (upper - y) * (upper + y);
    return exp_precise(-0.5 * upper * upper) * (1.0 + expm1_near(rest));
}

// P(-y),  y >= 0,  b = normal_bell(y)
vec4 normal_tail(vec4 y, vec4 b) {
    vec4 t = 1.0 / (1.0 + 0.35 * y);
    vec4 p = -2.91636743e-2 * t + 1.44059768e-1;
    p = p * t - 2.55900086e-1;
    p = p * t + 1.59391244e-1;
    p = p * t - 2.32628932e-2;
    p = p * t + 1.05574470e-1;
    p = p * t + 1.19815570e-1;
    p = p * t + 1.39864327e-1;
    p = p * t + 1.39621259e-1;
    return b * t * p;
}
