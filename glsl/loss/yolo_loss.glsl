// Width and height of an anchor box.
vec2 anchor_of(int box) { return vec2(anchor_boxes[2 * box], anchor_boxes[2 * box + 1]); }

// The label weights from a channel on, of which `count` are of the part; 0 for the others.
vec4 weights_of(ivec2 at, int channel, int image, int count) {
    bvec4 counts = lessThan(ivec4(0, 1, 2, 3), ivec4(count));
#ifdef WEIGHTS
    return mix(vec4(0.0), weights_from(at, channel, image), counts);
#else
    return vec4(counts);
#endif
}

// 0 where nothing counts, whatever number the value is.
vec4 where_weighed(vec4 omega, vec4 value) {
    return mix(value, vec4(0.0), equal(omega, vec4(0.0)));
}
