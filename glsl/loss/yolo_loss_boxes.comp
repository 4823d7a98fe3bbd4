// What an anchor box p of a cell has, with s the sigmoid and B the box (s(y_x), s(y_y), p_w exp(y_w),
// p_h exp(y_h)):
//     boxes    object ? 1 : 0, the weight of its confidence, the label of that, 0
//     object   t_c, t_w, t_h > 0, and IoU(B, t) > presence or the first box with the largest
//              IoU(p, size of t) of those whose t is the same
//     weight   object ? object_scale : IoU(B, t) < absence ? no_object_scale : 0
//     label    object ? t_c, with RESCORE times IoU(B, t) : 0
// IoU(B, t) is NaN where a number of B or t is, and then neither above nor below anything; an IoU(p,
// size of t) that is NaN counts as 0.
// needs lib/compare.glsl
// needs lib/math.glsl
// needs loss/yolo_loss.glsl
// A NaN is not, whatever a driver makes of comparisons.
bool is_positive(float v) { return v > 0.0 && !is_nan(vec4(v)).x; }

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
        fit = is_nan(vec4(fit)).x ? 0.0 : fit;
        if (is_positive(confidence) && other == t && fit > best) {
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
    bool known = !any(is_nan(y)) && !any(is_nan(t)) && !any(is_nan(anchor.xyxy));
    return known ? iou_of(max(high - low, 0.0), size, t.zw) : nan4().x;
}

void invocation(ivec2 at, int box, int image) {
    int first = box * BOX_CHANNELS;
    vec4 t = labels_from(at, first, image);
    float label = labels_from(at, first + 4, image).x;
    float iou = iou_of_prediction(source_from(at, first, image), t, anchor_of(box));
    bool known = !is_nan(vec4(iou)).x;
    bool object = is_positive(label) && is_positive(t.z) && is_positive(t.w);
    if (object)
        object = (known && iou > presence) || fitting_box(at, box, image, t) == box;
#ifdef RESCORE
    label *= iou;
#endif
    vec4 found = vec4(0.0, known && iou < absence ? no_object_scale : 0.0, 0.0, 0.0);
    if (object)
        found = vec4(1.0, object_scale, label, 0.0);
    store_boxes(at.x - origin_x, at.y - origin_y, box, image, found);
}
