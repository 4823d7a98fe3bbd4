// Losses and gradients of the classes of an anchor box of a cell, with l and d of that part's loss type,
// and w the label weights, where the texture boxes has an object; else 0:
//     omega = classes_scale w,   loss = omega l(y, t),   gradient = omega d(y, t),   0 where omega = 0
// With SOFT_MAX, with m, S and T of the texture sums (yolo_loss_sums.comp):
//     l(k) = -t(k) (y(k) - m - log S),   gradient(k) = exp(y(k) - m) / S T - omega(k) t(k)
// needs lib/compare.glsl
// needs lib/math.glsl
// needs loss/yolo_loss_classes.glsl
void invocation(ivec2 at, int box, int image) {
    ivec2 cell = at - ivec2(origin_x, origin_y);
    bool object = boxes(cell.x, cell.y, box, image).x > 0.0;
#ifdef SOFT_MAX
    vec4 s = sums(cell.x, cell.y, box, image);
#endif
    for (int i = 0; i < class_count; i += 4) {
        int channel = box * BOX_CHANNELS + 5 + i;
        int slice = box * BOX_SLICES + 2 + (i >> 2);
        vec4 loss = vec4(0.0);
        vec4 gradient = vec4(0.0);
        if (object) {
            vec4 omega = omega_of(at, channel, image, class_count - i);
            vec4 y = source_from(at, channel, image);
            vec4 t = label_of(at, channel, image);
#ifdef SOFT_MAX
            y -= s.x;
            loss = where_weighed(omega, omega * times(-t, y - s.z));
            gradient = exp_precise(y) * (s.y * s.w) - omega * t;
#else
            loss = where_weighed(omega, omega * classes_loss(y, t));
            gradient = where_weighed(omega, omega * classes_gradient(y, t));
#endif
        }
        store_gradients(cell.x, cell.y, slice, image, gradient);
#ifdef LOSSES
        store_losses(cell.x, cell.y, slice, image, loss);
#endif
    }
}
