// out(c, y, x) = source(place(c, y, x)), a permutation that a library beside this file has as
//     ivec3 place(ivec3 at)     of channel, row and column
// WHOLE_SLICES: four channels of one texel come from one texel.
// needs slice/texel_of.glsl
void invocation(ivec2 at, int slice, int image) {
#ifdef WHOLE_SLICES
    vec4 v = texel_of(place(ivec3(4 * slice, at.y, at.x)), image);
#else
    vec4 v = vec4(0.0);
    for (int i = 0; i < 4; i++) {
        ivec3 p = place(ivec3(4 * slice + i, at.y, at.x));
        v[i] = texel_of(p, image)[p.x & 3];
    }
#endif
    store_destination(at.x, at.y, slice, image, v);
}
