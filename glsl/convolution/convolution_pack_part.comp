// What convolution_pack.comp makes, of weights first_weight .. first_weight + weight_count - 1, the
// only ones that are bound: those of some outputs of the layer, the first of which divides by 4. The
// weights of a texel all lie in one part, and the other parts' texels stay as they are. The first part
// has those without weights.
// needs convolution/convolution.glsl
void invocation(ivec3 at) {
    int element = at.x + (at.y << PACKED_SHIFT);
    bool owns = first_weight == 0;
    vec4 v = vec4(0.0);
    ivec2 parts = element_parts(at.z, element);
    for (int i = 0; i < 4; i++) {
        int o = 4 * at.z + i;
        int index = -1;
        if (o < output_count && element < element_count)
            index = weight_index_of(o, parts);
        if (index >= 0) {
            index -= first_weight;
            owns = index >= 0 && index < weight_count;
            v[i] = owns ? weights[index] : 0.0;
        }
#ifdef BIASES
        if (o < output_count && element == element_count)
            v[i] = biases[o];
#endif
    }
    if (owns)
        store_matrix(at.x, at.y, 0, at.z, v);
}
