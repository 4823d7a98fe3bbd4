// loss = omega (1 - CIoU) of a location's box y and label t, and the gradient of it; 0 where omega = 0,
// whatever the boxes. With I the intersection, U the union, d the distance of the centres, c the
// diagonal of the box around both, a the angle between the diagonals of both:
//     1 - CIoU = 1 - I / U + d^2 / c^2 + alpha v,   v = (2 a / pi)^2,   alpha = v / (1 - I / U + v)
// Alpha is a constant of the gradient. Of equal distances each has half a minimum's gradient.
// needs lib/channels.glsl
// needs loss/boxes.glsl
// needs loss/loss_of_sums.glsl
const float SQUARE = 0.405284735; // (2 / pi)^2

// atan(n / d), d >= 0: as Cephes' atanf (S. L. Moshier, netlib.org/cephes), without a quotient above 1.
float angle_of(float n, float d) {
    float low = min(abs(n), d);
    float high = max(abs(n), d);
    bool far = low > 0.414213562 * high;
    float q = (far ? low - high : low) / max(far ? low + high : high, 1e-30);
    float z = q * q;
    float p = 8.05374449538e-2 * z - 1.38776856032e-1;
    p = (p * z + 1.99777106478e-1) * z - 3.33329491539e-1;
    float angle = (far ? 0.785398163 : 0.0) + (p * z * q + q);
    angle = abs(n) > d ? 1.57079633 - angle : angle;
    return n < 0.0 ? -angle : angle;
}

void invocation(ivec3 at) {
    vec4 y = source_edge(first_x + at.x, first_y + at.y, 0, at.z);
    vec4 t = labels_edge(first_x + at.x, first_y + at.y, 0, at.z);
    float count = 1.0;
#ifdef WEIGHTS
    count = weights_edge(first_x + at.x, first_y + at.y, 0, at.z).x;
#endif
    float omega = weight * count;
    vec2 a = extent_of(y);
    vec2 b = extent_of(t);

    vec2 shared_box = extent_of(min(y, t));
    float inside = area_of(shared_box);
    float both = union_of(a, b, inside);
    float iou = inside / both;
    vec4 smaller = 0.5 + 0.5 * (vec4(lessThan(y, t)) - vec4(greaterThan(y, t)));
    vec4 inside_gradient = smaller * shared_box.yxyx;
    vec4 gradient = (iou * (a.yxyx - inside_gradient) - inside_gradient) / both;

    vec2 around = extent_of(max(y, t));
    vec4 apart = y - t;
    vec2 centres = 0.5 * (apart.zw - apart.xy);
    float diagonal = dot(around, around) + LEAST;
    float far_apart = dot(centres, centres) / diagonal;
    gradient += (vec4(-centres, centres) - 2.0 * far_apart * (1.0 - smaller) * around.xyxy) / diagonal;

    float angle = angle_of(a.x * b.y - b.x * a.y, a.y * b.y + a.x * b.x);
    float v = SQUARE * angle * angle;
    float alpha = v / (1.0 - iou + v + LEAST);
    float turn = alpha * SQUARE * 2.0 * angle / (dot(a, a) + LEAST * LEAST);
    gradient += turn * vec4(a.y, -a.x, a.y, -a.x);

    float loss = omega * (1.0 - iou + far_apart + alpha * v);
    gradient *= omega;
#ifdef SCALED
    gradient *= gradient_scale;
#endif
    loss = omega == 0.0 ? 0.0 : loss;
    store_destination(at.x, at.y, 0, at.z, mix(gradient, vec4(0.0), bvec4(omega == 0.0)));
#ifdef ELEMENTS
    store_elements(at.x, at.y, 0, at.z, vec4(loss, 0.0, 0.0, 0.0));
#endif
#if defined(LAST) || defined(SUMS)
    vec4 sums = vec4(loss, count == 0.0 ? 0.0 : 1.0, 0.0, 0.0);
#ifdef LAST
    store_sums(0, 0, 0, at.z, loss_of(sums));
#else
    store_sums(at.x - origin_x, at.y - origin_y, 0, at.z, sums);
#endif
#endif
}
