// With LAST, the loss of an image of its sums: x of losses, y of weights that are not 0.
//     (constant + sum) * scale,   or with BY_COUNT divided by the number of weights that are not 0
#ifdef LAST
vec4 loss_of(vec4 sum) {
    float factor = scale;
#ifdef BY_COUNT
    factor = sum.y > 0.0 ? 1.0 / sum.y : 0.0;
#endif
    return vec4((constant + sum.x) * factor, 0.0, 0.0, 0.0);
}
#endif
