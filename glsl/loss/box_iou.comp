// out = intersection over union of the boxes of both sources
// needs loss/boxes.glsl
void invocation(ivec2 at, int slice, int image) {
    vec4 a = primary_operand(at.x, at.y, slice, image);
    vec4 b = secondary_operand(at.x, at.y, slice, image);
    float inside = area_of(extent_of(min(a, b)));
    float iou = inside / union_of(extent_of(a), extent_of(b), inside);
    store_destination(at.x, at.y, slice, image, vec4(iou, 0.0, 0.0, 0.0));
}
