// What convolution_pack.comp makes, of all layers of a table. The matrices lie in four array textures
// by their height. Before the words of its packing a row has the texture that it is stored in and the
// words of its place in that, as record/view.glsl has them; and where its weights and its biases begin,
// -1 for none. JOINED_VECTOR: they lie in one buffer, and a row has where its own begins in place of the
// texture.
// needs convolution/packing_row.glsl
// needs convolution/convolution.glsl
#define ROW_PLACE   2
#define ROW_VECTORS (ROW_PLACE + 12)

#ifndef JOINED_VECTOR
void store(int image, ivec3 place, vec4 v) {
    if (image == 0)
        store_joined_0(place.x, place.y, 0, place.z, v);
    else if (image == 1)
        store_joined_1(place.x, place.y, 0, place.z, v);
    else if (image == 2)
        store_joined_2(place.x, place.y, 0, place.z, v);
    else
        store_joined_3(place.x, place.y, 0, place.z, v);
}

// Of texel (x, y) of a slice: as in record/view.glsl.
ivec3 place_of(int row, int x, int y, int slice) {
    int layer = word(row, ROW_PLACE) + slice;
    x += (layer & word(row, ROW_PLACE + 6)) * word(row, ROW_PLACE + 10);
    y += (layer >> word(row, ROW_PLACE + 7) & word(row, ROW_PLACE + 8)) * word(row, ROW_PLACE + 11);
    return ivec3(x, y, layer >> word(row, ROW_PLACE + 9));
}
#endif

void invocation(ivec3 at) {
    int row = row_of(at.x);
    take_packing(row);
#ifdef JOINED_VECTOR
    int texels = element_count + 1;
#else
    int width = word(row, ROW_PLACE + 2), texels = width * word(row, ROW_PLACE + 3);
#endif
    int texel = at.x - word(row, 0);
    int k = quotient(texel, texels);
    int element = texel - k * texels; // rows of more than one line are 16 wide
    int first_weight = word(row, ROW_VECTORS), first_bias = word(row, ROW_VECTORS + 1);
    vec4 v = vec4(0.0);
    ivec2 parts = element_parts(k, element);
    for (int i = 0; i < 4; i++) {
        int o = 4 * k + i;
        int index = -1;
        if (o < output_count && element < element_count)
            index = weight_index_of(o, parts);
        if (index >= 0)
            v[i] = vectors[first_weight + index];
        if (first_bias >= 0 && o < output_count && element == element_count)
            v[i] = vectors[first_bias + o];
    }
#ifdef JOINED_VECTOR
    joined[word(row, 1) + texel] = v;
#else
    int y = quotient(element, width);
    store(word(row, 1), place_of(row, element - y * width, y, k), v);
#endif
}
