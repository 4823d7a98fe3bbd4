// f = x w,  w = tanh(log(1 + e^x)) = n / (n + 2),  n = e^x (e^x + 2)
// f' = w + x w',  w' = 4 e^x (e^x + 1) / (n + 2)^2;  w is 1 and w' 0 from 20 on
// needs lib/compare.glsl
// needs lib/math.glsl
vec4 NAME(vec4 x, vec4 slope) {
    vec4 e = exp_precise(min(x, vec4(20.0)));
    vec4 n = e * (e + 2.0);
    return times(n / (n + 2.0), x);
}
vec4 NAME_derivative(vec4 x, vec4 slope) {
    vec4 e = exp_precise(min(x, vec4(20.0)));
    vec4 n = e * (e + 2.0);
    vec4 share = 1.0 / (n + 2.0);
    vec4 rate = 4.0 * e * (e + 1.0) * share * share;
    rate = mix(rate, vec4(0.0), greaterThanEqual(x, vec4(20.0)));
    return n * share + times(rate, x);
}
