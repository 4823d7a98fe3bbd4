// f = erf x = sign x (1 - 2 P(-|x| sqrt 2)),  f' = 2 e^(-x^2) / sqrt pi
// Near 0 that is a difference of ones, and f the first terms of its series.
// needs lib/compare.glsl
// needs lib/normal.glsl
vec4 NAME_near(vec4 x) {
    vec4 s = x * x;
    vec4 p = 1.0 / 685440.0 * s - 1.0 / 75600.0;
    p = p * s + 1.0 / 9360.0;
    p = p * s - 1.0 / 1320.0;
    p = p * s + 1.0 / 216.0;
    p = p * s - 1.0 / 42.0;
    p = p * s + 1.0 / 10.0;
    p = p * s - 1.0 / 3.0;
    return 1.12837917 * (x * s * p + x);
}

vec4 NAME(vec4 x, vec4 slope) {
    vec4 y = min(1.41421356 * abs(x), vec4(15.0));
    vec4 size = 1.0 - 2.0 * normal_tail(y, normal_bell(y));
    vec4 far = mix(size, -size, lessThan(x, vec4(0.0)));
    return or_nan(mix(far, NAME_near(clamp(x, -0.9, 0.9)), lessThan(abs(x), vec4(0.9))), x);
}
vec4 NAME_derivative(vec4 x, vec4 slope) {
    return or_nan(1.12837917 * normal_bell(min(1.41421356 * abs(x), vec4(15.0))), x);
}
