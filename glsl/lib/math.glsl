// exp, log, pow and their kin within 2 units in the last place, 4 by the driver's exp2, for all
// arguments: those of drivers are polynomials of any quality, and GLSL's pow is undefined where C's
// is not.
//   exp     x = n ln 2 + r,  |r| <= ln 2 / 2,   e^x = 2^n (1 + expm1(r))
//   log     x = 2^e (1 + m), 1 + m in [1/sqrt 2, sqrt 2),   log x = e ln 2 + log1p(m)
// ln 2 is split into a part whose products with n and e are exact, and the rest. The two parts and
// both polynomials, minimax over their ranges, are those of expf and logf of Cephes (S. L. Moshier,
// netlib.org/cephes, single precision: expf.c, logf.c).
// needs lib/compare.glsl
#define LONG_FUNCTIONS // each is fifty instructions and more
const float LN2_HIGH = 0.693359375;
const float LN2_LOW = -2.12194440e-4;

vec4 infinity4() { return uintBitsToFloat(uvec4(0x7f800000u)); }
vec4 nan4() { return uintBitsToFloat(uvec4(0x7fc00000u)); }

bvec4 both(bvec4 a, bvec4 b) { return bvec4(a.x && b.x, a.y && b.y, a.z && b.z, a.w && b.w); }

// e^r - 1 = r + r^2 P(r),  |r| <= 0.35;  P is Cephes' of expf
vec4 expm1_near(vec4 r) {
    vec4 p = 1.9875691500e-4 * r + 1.3981999507e-3;
    p = p * r + 8.3334519073e-3;
    p = p * r + 4.1665795894e-2;
    p = p * r + 1.6666665459e-1;
    p = p * r + 5.0000001201e-1;
    return p * (r * r) + r;
}

// log(1 + m) - m = m^3 P(m) - m^2 / 2,  -0.3 <= m <= 0.42;  P is Cephes' of logf
vec4 log1p_rest(vec4 m) {
    vec4 p = 7.0376836292e-2 * m - 1.1514610310e-1;
    p = p * m + 1.1676998740e-1;
    p = p * m - 1.2420140846e-1;
    p = p * m + 1.4249322787e-1;
    p = p * m - 1.6668057665e-1;
    p = p * m + 2.0000714765e-1;
    p = p * m - 2.4999993993e-1;
    p = p * m + 3.3333331174e-1;
    vec4 square = m * m;
    return p * (m * square) - 0.5 * square;
}

// value * 2^n, |n| <= 252: in two steps, since 2^n alone may not be a float
vec4 scale_by_power(vec4 value, vec4 n) {
    ivec4 whole = ivec4(n);
    ivec4 half_way = whole >> 1;
    vec4 a = intBitsToFloat((half_way + 127) << 23);
    vec4 b = intBitsToFloat((whole - half_way + 127) << 23);
    return value * a * b;
}

#if defined(FINE_EXP2) && defined(STORES_FLOAT16)
// As near as float16 can tell: x / ln 2 is rounded, for which e^x is off by |x| 2^-24 of itself.
vec4 exp_precise(vec4 x) { return or_nan(exp2(x * 1.44269504), x); }
#elif defined(FINE_EXP2)
// By the driver's exp2, within 2^-22. A part of x that has 12 bits, times 1 / ln 2 rounded up to 12
// bits, is exact; t is what both leave of x, and small. Half of it all: 2^127 is a float, 2^128 none.
vec4 exp_precise(vec4 x) {
    vec4 held = clamp(x, -110.0, 90.0);
    vec4 large = uintBitsToFloat(floatBitsToUint(held) & 0xfffff000u);
    vec4 t = large * -1.22030544e-4 + (held - large);
    vec4 twice = ((0.333333333 * t + 1.0) * t + 2.0) * t + 2.0;
    return or_nan(exp2(large * 1.44287109 - 1.0) * twice, x);
}
#else
vec4 exp_precise(vec4 x) {
    vec4 held = clamp(x, -110.0, 90.0);
    vec4 n = floor(held * 1.44269504 + 0.5);
    vec4 r = held - n * LN2_HIGH - n * LN2_LOW;
    return or_nan(scale_by_power(1.0 + expm1_near(r), n), x);
}
#endif

vec4 expm1(vec4 x) {
    vec4 near = expm1_near(clamp(x, -0.35, 0.35));
    return or_nan(mix(exp_precise(x) - 1.0, near, lessThan(abs(x), vec4(0.34))), x);
}

// x = 2^e (1 + m); e is returned
vec4 split_power(vec4 x, out vec4 m) {
    bvec4 tiny = lessThan(x, vec4(1.17549435e-38));
    ivec4 bits = floatBitsToInt(mix(x, x * 16777216.0, tiny));
    ivec4 e = (bits - 0x3f3504f3) >> 23;
    m = intBitsToFloat(bits - (e << 23)) - 1.0;
    return vec4(e) - mix(vec4(0.0), vec4(24.0), tiny);
}

vec4 log_precise(vec4 x) {
    vec4 m;
    vec4 e = split_power(x, m);
    vec4 value = (log1p_rest(m) + e * LN2_LOW + m) + e * LN2_HIGH;
    value = mix(value, x, greaterThanEqual(x, infinity4()));
    value = mix(value, nan4(), lessThan(x, vec4(0.0)));
    value = mix(value, -infinity4(), equal(x, vec4(0.0)));
    return or_nan(value, x);
}

vec4 log1p(vec4 x) {
    vec4 m = clamp(x, -0.29, 0.41);
    return mix(log_precise(1.0 + x), log1p_rest(m) + m, equal(m, x));
}

vec4 tanh_precise(vec4 x) {
    vec4 e = expm1(-2.0 * abs(x));
    return mix(-e / (2.0 + e), e / (2.0 + e), lessThan(x, vec4(0.0)));
}

// log(1 + x) for 0 <= x <= 1, within 2 ulp: twice the area hyperbolic tangent of s = x / (2 + x).
vec4 log1p_of_share(vec4 x) {
    vec4 s = x / (2.0 + x);
    vec4 z = s * s;
    vec4 p = 0.13433775 * z + 0.14116978;
    p = p * z + 0.20003835;
    p = p * z + 0.3333332;
    return 2.0 * s + 2.0 * s * (z * p);
}

vec4 sigmoid_precise(vec4 x) {
    vec4 e = exp_precise(-abs(x));
    return mix(e, vec4(1.0), greaterThanEqual(x, vec4(0.0))) / (1.0 + e);
}

// x^y for 0 < x < infinity. With x = 2^e (1 + m) the integer nearest to y e goes
// into the power of two, so that only a small number passes through exp. y is split so that the
// product of e with the larger part is exact.
vec4 power_of_positive(vec4 x, vec4 y) {
    vec4 m;
    vec4 e = split_power(x, m);
    vec4 held = clamp(y, -1.0e9, 1.0e9);
    vec4 coarse = uintBitsToFloat(floatBitsToUint(held) & uvec4(0xfffff000u));
    vec4 fine = held - coarse;
    vec4 n = floor(coarse * e + 0.5);
    vec4 rest = (coarse * e - n) + fine * e;
    vec4 exponent = rest * 0.693147181 + held * (log1p_rest(m) + m);
    vec4 k = floor(exponent * 1.44269504 + 0.5);
    vec4 r = exponent - k * LN2_HIGH - k * LN2_LOW;
    return scale_by_power(1.0 + expm1_near(clamp(r, -0.35, 0.35)), clamp(n + k, -250.0, 250.0));
}

// Whether all of v are greater than 0 and finite.
bool are_positive(vec4 v) {
    return all(lessThan(floatBitsToUint(v) - 1u, uvec4(0x7f7fffffu)));
}

bool are_finite(vec4 v) {
    return all(lessThan(floatBitsToUint(v) & uvec4(0x7fffffffu), uvec4(0x7f800000u)));
}

// x^y where x is not a positive number or y not a finite one; for |x| `value` is right.
vec4 pow_special(vec4 x, vec4 y, vec4 value) {
    vec4 size = abs(x);
    bvec4 whole = equal(y, floor(y));
    bvec4 odd = both(whole, equal(abs(y - 2.0 * floor(0.5 * y)), vec4(1.0)));
    bvec4 rising = greaterThan(y, vec4(0.0));
    value = mix(value, mix(infinity4(), vec4(0.0), rising), equal(size, vec4(0.0)));
    value = mix(value, mix(vec4(0.0), infinity4(), rising), greaterThanEqual(size, infinity4()));
    bvec4 negative = notEqual(floatBitsToUint(x) & uvec4(0x80000000u), uvec4(0u));
    value = mix(value, -value, both(negative, odd));
    bvec4 below = both(lessThan(x, vec4(0.0)), lessThan(size, infinity4()));
    value = mix(value, nan4(), both(below, not(whole)));
    value = or_nan(or_nan(value, y), x);
    bvec4 unit = bvec4(ivec4(equal(x, vec4(1.0))) | ivec4(equal(y, vec4(0.0))));
    return mix(value, vec4(1.0), unit);
}

// x^y as C's powf, infinite y apart: x^0 is 1, 0^0 too, 1^y is 1; a negative base with an exponent
// that is no integer gives NaN.
vec4 pow_precise(vec4 x, vec4 y) {
    vec4 value = power_of_positive(clamp(abs(x), 1.0e-45, 3.40282347e38), y);
    if (!are_positive(x) || !are_finite(y))
        value = pow_special(x, y, value);
    return value;
}

float exp_precise(float x) { return exp_precise(vec4(x)).x; }
float log_precise(float x) { return log_precise(vec4(x)).x; }
float expm1(float x) { return expm1(vec4(x)).x; }
float log1p(float x) { return log1p(vec4(x)).x; }
float pow_precise(float x, float y) { return pow_precise(vec4(x), vec4(y)).x; }
