// Of the classes of an anchor box of a cell, with t their labels and omega as in yolo_loss_classes.comp:
//     m = max y(i),   1 / S and log S with S = sum exp(y(i) - m),   T = sum omega(i) t(i)
// needs lib/channels.glsl
// needs lib/math.glsl
// needs loss/yolo_loss_classes.glsl
void invocation(ivec2 at, int box, int image) {
    int first = box * BOX_CHANNELS + 5;
    ivec2 cell = at - ivec2(origin_x, origin_y);
    float peak = source_from(at, first, image).x;
    for (int i = 0; i < class_count; i += 4)
        peak = max(peak, slice_max(source_from(at, first + i, image), i >> 2, class_count));
    long_sum sum = long_sum(0.0, 0.0);
    for (int i = 0; i < class_count; i += 4) {
        vec4 e = exp_precise(source_from(at, first + i, image) - peak);
        add_slice(sum, slice_sum(e, i >> 2, class_count), i >> 2);
    }
    float total = total_of(sum);
    sum = long_sum(0.0, 0.0);
    for (int i = 0; i < class_count; i += 4) {
        vec4 t = omega_of(at, first + i, image, class_count - i) * label_of(at, first + i, image);
        add_slice(sum, slice_sum(t, i >> 2, class_count), i >> 2);
    }
    store_sums(cell.x, cell.y, box, image,
               vec4(peak, 1.0 / total, log_precise(total), total_of(sum)));
}
