// Which components of `value` win over `best`: greater, or the first NaN. A NaN is told by its
// bits, since drivers may take isnan away.
bvec4 is_nan(vec4 v) {
    return greaterThan(floatBitsToUint(v) & uvec4(0x7fffffffu), uvec4(0x7f800000u));
}

bvec4 wins(vec4 value, vec4 best) {
    bvec4 more = greaterThan(value, best);
    bvec4 now = is_nan(value);
    bvec4 before = is_nan(best);
    return bvec4(more.x || (now.x && !before.x), more.y || (now.y && !before.y),
                 more.z || (now.z && !before.z), more.w || (now.w && !before.w));
}
