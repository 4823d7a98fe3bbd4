// What an anchor box p of a cell has, with s the sigmoid and B the box (s(y_x), s(y_y), p_w exp(y_w),
// p_h exp(y_h)):
//     boxes    object ? 1 : 0, the weight of its confidence, the label of that, 0
//     object   t_c, t_w, t_h > 0, and IoU(B, t) > presence or the first box with the largest
//              IoU(p, size of t) of those whose t is the same
//     weight   object ? object_scale : IoU(B, t) < absence ? no_object_scale : 0
//     label    object ? t_c, with RESCORE times IoU(B, t) : 0
// needs lib/math.glsl
// needs loss/yolo_loss.glsl
// Intersection over union of two boxes, by the sides of what they share.
float iou_of(vec2 shared_sides, vec2 a, vec2 b) {
    float inside = shared_sides.x * shared_sides.y;
    return inside > 0.0 ? inside / (a.x * a.y + b.x * b.y - inside) : 0.0;
}

// The box that has the object of label t: of those with this label the first that fits it best.
int fitting_box(ivec2 at, int box, int image, vec4 t) {
    int found = box;
    float best = -1.0;
    for (int i = 0; i < box_count; i++) {
        vec4 other = labels_from(at, i * BOX_CHANNELS, image);
        float confidence = labels_from(at, i * BOX_CHANNELS + 4, image).x;
        vec2 anchor = anchor_of(i);
        float fit = iou_of(min(anchor, t.zw), anchor, t.zw);
        if (confidence > 0.0 && other == t && fit > best) {
            best = fit;
            found = i;
        }
    }
    return found;
}

float iou_of_prediction(vec4 y, vec4 t, vec2 anchor) {
    vec2 centre = sigmoid_precise(y).xy;
    vec2 size = exp_precise(y).zw * anchor;
    vec2 low = max(centre - 0.5 * size, t.xy - 0.5 * t.zw);
    vec2 high = min(centre + 0.5 * size, t.xy + 0.5 * t.zw);
    return iou_of(max(high - low, 0.0), size, t.zw);
}

void invocation(ivec2 at, int box, int image) {
    int first = box * BOX_CHANNELS;
    vec4 t = labels_from(at, first, image);
    float label = labels_from(at, first + 4, image).x;
    float iou = iou_of_prediction(source_from(at, first, image), t, anchor_of(box));
    bool object = label > 0.0 && t.z > 0.0 && t.w > 0.0;
    if (object)
        object = iou > presence || fitting_box(at, box, image, t) == box;
#ifdef RESCORE
    label *= iou;
#endif
    vec4 found = vec4(0.0, iou < absence ? no_object_scale : 0.0, 0.0, 0.0);
    if (object)
        found = vec4(1.0, object_scale, label, 0.0);
    store_boxes(at.x - origin_x, at.y - origin_y, box, image, found);
}
