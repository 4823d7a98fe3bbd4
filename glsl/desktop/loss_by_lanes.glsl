// A work group of LANES invocations owns a pixel: each goes through every LANES-th slice, and what
// they find comes together. A maximum may lose a NaN.
// needs lib/lanes.glsl
const int SLICE_STEP = LANES;

int lane() { return int(gl_LocalInvocationIndex); }
int first_slice() { return lane(); }
ivec2 pixel_of(ivec2 at) {
    return ivec2((at.x - origin_x - lane()) / LANES + origin_x, at.y);
}
vec4 sum_of_all(vec4 value) { return sum_of_lanes(lane(), value); }

float max_of_all(float value) {
    barrier();
    kept_by_lanes[lane()].x = value;
    barrier();
    for (int i = 0; i < LANES; i++)
        value = max(value, kept_by_lanes[i].x);
    return value;
}
