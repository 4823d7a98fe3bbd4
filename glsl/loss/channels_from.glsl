// Four channels of texture NAME that follow each other, from any on. What lies behind the last slice
// is anything. Both slices are read always: Nouveau of Mesa 22 dies where a pixel is handed on, as it
// was read, from a branch that may not be taken.
vec4 NAME_from(ivec2 at, int channel, int image) {
    int slice = channel >> 2;
    int next = min(slice + 1, NAME_slices - 1);
    vec4 a = NAME_edge(first_x + at.x, first_y + at.y, slice, image);
    vec4 b = NAME_edge(first_x + at.x, first_y + at.y, next, image);
    bool one = (channel & 1) != 0;
    a = one ? vec4(a.yzw, b.x) : a;
    b = one ? vec4(b.yzw, 0.0) : b;
    return (channel & 2) != 0 ? vec4(a.zw, b.xy) : a;
}
