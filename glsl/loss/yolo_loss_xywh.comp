// Losses and gradients of position and size of an anchor box p of a cell, with s the sigmoid, l and d of
// the loss type of each part, w the label weights and object from the texture boxes:
//     x y   omega = object xy_scale w   l(s(y), t)   gradient = omega d(s(y), t) s(y) (1 - s(y))
//     w h   omega = object wh_scale w   l(y, u)      gradient = omega d(y, u),   u = log(t / p)
// loss = omega l;  both are 0 where omega = 0.
// needs lib/math.glsl
// needs loss/yolo_loss.glsl
void invocation(ivec2 at, int box, int image) {
    int first = box * BOX_CHANNELS;
    ivec2 cell = at - ivec2(origin_x, origin_y);
    float object = boxes(cell.x, cell.y, box, image).x;
    vec4 omega = object * vec4(xy_scale, xy_scale, wh_scale, wh_scale) *
                 weights_of(at, first, image, 4);
    vec4 loss = vec4(0.0);
    vec4 gradient = vec4(0.0);
    if (object > 0.0) {
        vec4 t = labels_from(at, first, image);
        vec4 u = log_precise(t / vec4(1.0, 1.0, anchor_of(box)));
        t.xy = t.xy * xy_smoothing_scale + xy_smoothing_offset;
        t.zw = u.zw * wh_smoothing_scale + wh_smoothing_offset;
        vec4 y = source_from(at, first, image);
        y.xy = sigmoid_precise(y).xy;
        loss = omega * vec4(xy_loss(y, t).xy, wh_loss(y, t).zw);
        gradient = omega * vec4(xy_gradient(y, t).xy, wh_gradient(y, t).zw);
        gradient.xy *= y.xy * (1.0 - y.xy);
    }
    store_gradients(cell.x, cell.y, box * BOX_SLICES, image, where_weighed(omega, gradient));
#ifdef LOSSES
    store_losses(cell.x, cell.y, box * BOX_SLICES, image, where_weighed(omega, loss));
#endif
}
