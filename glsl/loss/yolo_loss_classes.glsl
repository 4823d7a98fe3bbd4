// What the loss of the classes of an object is given from a channel on, of which `count` are classes.
// needs loss/yolo_loss.glsl
vec4 label_of(ivec2 at, int channel, int image) {
    return labels_from(at, channel, image) * classes_smoothing_scale + classes_smoothing_offset;
}

vec4 omega_of(ivec2 at, int channel, int image, int count) {
    return classes_scale * weights_of(at, channel, image, count);
}
