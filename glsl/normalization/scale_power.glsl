// L^-beta of what a normalisation divides by. With QUARTERS beta is QUARTERS / 4: a root and a few
// products give it, where L is of a size that they keep. With ROOTS_ALONE that is every L: another
// way that a shader has takes registers, whether any L goes it or not.
// needs lib/math.glsl
#ifdef QUARTERS
vec4 power_of_quarters(vec4 L) {
    vec4 power = vec4(1.0);
    for (int i = 0; i < QUARTERS / 4; i++)
        power *= L;
    power = 1.0 / power;
#if QUARTERS % 4 != 0
    vec4 root = inversesqrt(L);
#if QUARTERS % 4 != 1
    power *= root;
#endif
#if QUARTERS % 2 != 0
    power *= sqrt(root);
#endif
#endif
    return power;
}
#endif

vec4 scale_power(vec4 L) {
#ifdef ROOTS_ALONE
    return power_of_quarters(L);
#elif defined(QUARTERS)
    if (all(greaterThan(L, vec4(1.0e-7))) && all(lessThan(L, vec4(1.0e7))))
        return power_of_quarters(L);
#endif
    return pow_precise(L, vec4(-beta));
}

// value / L, by the root that the power has.
vec4 over_scale(float value, vec4 L) {
#ifdef ROOTS_ALONE
    vec4 root = inversesqrt(L);
    return value * (root * root);
#else
    return value / L;
#endif
}
