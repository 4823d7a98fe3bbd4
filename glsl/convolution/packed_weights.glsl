// weights_of(k) is the place of the packed weights of slice k, weight(place, e) the number of element e there. They lie
// in a buffer with PACKED_BUFFER, else in an image.
#ifdef PACKED_BUFFER
#define WEIGHTS_PLACE int
int weights_of(int k) { return k * (element_count + 1); }
vec4 weight(int place, int element) { return packed_weights[place + element]; }
#else
#define WEIGHTS_PLACE ivec3
ivec3 weights_of(int k) { return matrix_place(0, k); }
vec4 weight(ivec3 place, int element) {
    return matrix_at(place, PACKED_X(element), PACKED_Y(element), 0);
}
#endif
