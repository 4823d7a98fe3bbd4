// Comparisons that hide no NaN: clamp, min, max and sign may give anything for one. It is told by
// its bits, since drivers may take isnan away and turn comparisons round. Where both results of a
// comparison have the NaN, and in sums and products, it goes through by itself.
bvec4 is_nan(vec4 v) {
    return greaterThan(floatBitsToUint(v) & uvec4(0x7fffffffu), uvec4(0x7f800000u));
}

// May a NaN be among the terms of a sum, or infinities of both signs? No sum loses one.
bool may_have_nan(vec4 sum) { return is_nan(vec4(sum.x + sum.y + sum.z + sum.w)).x; }

// `value`, but the NaN where `cause` is one.
vec4 or_nan(vec4 value, vec4 cause) { return mix(value, cause, is_nan(cause)); }

vec4 at_least(vec4 v, float low) { return or_nan(max(v, low), v); }
vec4 at_most(vec4 v, float high) { return or_nan(min(v, high), v); }
vec4 held(vec4 v, float low, float high) { return or_nan(clamp(v, low, high), v); }
vec4 sign_of(vec4 v) { return or_nan(sign(v), v); }
float held(float v, float low, float high) { return held(vec4(v), low, high).x; }
float sign_of(float v) { return sign_of(vec4(v)).x; }

// factor * v, but 0 where the factor is 0 and v infinite: a branch that is not taken.
vec4 times(vec4 factor, vec4 v) {
    return mix(factor * v, or_nan(vec4(0.0), v), equal(factor, vec4(0.0)));
}

// Which components of `value` win over `best`: greater, or the first NaN.
bvec4 wins(vec4 value, vec4 best) {
    bvec4 more = greaterThan(value, best);
    bvec4 now = is_nan(value);
    bvec4 before = is_nan(best);
    return bvec4(more.x || (now.x && !before.x), more.y || (now.y && !before.y),
                 more.z || (now.z && !before.z), more.w || (now.w && !before.w));
}

// The larger of both; a NaN where one is.
vec4 larger(vec4 best, vec4 value) {
    return or_nan(mix(best, value, greaterThan(value, best)), value);
}
