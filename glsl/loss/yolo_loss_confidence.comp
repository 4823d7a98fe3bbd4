// Loss and gradient of the confidence of an anchor box of a cell, with l and d of that part's loss type,
// w the label weight, and weight and label from the texture boxes:
//     omega = weight w,   loss = omega l(y, label),   gradient = omega d(y, label)
// Both are 0 where omega = 0. Beside the gradient, with COUNTS, stands how many weights of the box are
// not 0.
// needs loss/yolo_loss.glsl
#ifdef COUNTS
float count_of(ivec2 at, int first, int image) {
    float count = 0.0;
    for (int i = 0; i < BOX_CHANNELS; i += 4) {
        vec4 w = weights_of(at, first + i, image, BOX_CHANNELS - i);
        vec4 present = vec4(notEqual(w, vec4(0.0)));
        count += (present.x + present.y) + (present.z + present.w);
    }
    return count;
}
#endif

void invocation(ivec2 at, int box, int image) {
    int channel = box * BOX_CHANNELS + 4;
    ivec2 cell = at - ivec2(origin_x, origin_y);
    vec4 found = boxes(cell.x, cell.y, box, image);
    vec4 y = source_from(at, channel, image);
    vec4 t = vec4(found.z * confidence_smoothing_scale + confidence_smoothing_offset);
    vec4 omega = where_weighed(found.yyyy, found.y * weights_of(at, channel, image, 1));
    vec4 gradient = where_weighed(omega, omega * confidence_gradient(y, t));
#ifdef COUNTS
    gradient.y = count_of(at, channel - 4, image);
#endif
    store_gradients(cell.x, cell.y, box * BOX_SLICES + 1, image, gradient);
#ifdef LOSSES
    store_losses(cell.x, cell.y, box * BOX_SLICES + 1, image,
                 where_weighed(omega, omega * confidence_loss(y, t)));
#endif
}
