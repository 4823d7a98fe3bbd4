// Two boxes around a location, by its distances to their left, top, right and bottom edges.
//     iou = inside / (w h + W H - inside + LEAST),   inside = (min(l, L) + min(r, R)) (...)
// What is added to divisors keeps boxes of no extent finite.
const float LEAST = 1e-7;

// Width and height.
vec2 extent_of(vec4 box) { return box.xy + box.zw; }

float area_of(vec2 extent) { return extent.x * extent.y; }

float union_of(vec2 a, vec2 b, float inside) { return area_of(a) + area_of(b) - inside + LEAST; }
