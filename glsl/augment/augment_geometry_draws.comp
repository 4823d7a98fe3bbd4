// transform[image] = the six whole numbers a, b, .. f of spec 7.16: where result pixel (X, Y) lies
// in the source, in 2^-15 pixels,
//     (a dx + b dy + c,  d dx + e dy + f),   dx = 2 X - (width - 1),  dy = 2 Y - (height - 1)
// and whether image_numbers are bytes. One invocation an image, at.x. Whole numbers alone: every
// device comes to the same.
// needs augment/draws.glsl
// needs augment/turn.glsl

void invocation(ivec3 at) {
    uvec4 words = drawn(at.x, 0u, 0u);
    ivec2 size = ivec2(width, height);
    ivec2 shifted = ivec2(around_zero(words.y, shift), around_zero(words.z, shift));
    ivec2 turned = cosine_and_sine(around_zero(words.w, rotation));
    int enlarged = 16384 + around_zero(words.x << 8, scale);
    ivec2 m = ((268435456 + enlarged / 2) / enlarged * turned) >> 15;
    ivec2 middle = ((size - 1) << 14) - (shifted << 15);
    ivec3 x = ivec3(m, middle.x);
    ivec3 y = ivec3(-m.y, m.x, middle.y);
    if (flip_horizontal != 0 && words.x >= 0x80000000u)
        x = ivec3(0, 0, (size.x - 1) << 15) - x;
    if (flip_vertical != 0 && (words.x & 0x40000000u) != 0u)
        y = ivec3(0, 0, (size.y - 1) << 15) - y;
    for (int i = 0; i < 3; i++) {
        transform[at.x * 7 + i] = x[i];
        transform[at.x * 7 + 3 + i] = y[i];
    }
    transform[at.x * 7 + 6] = is_numbered(at.x) ? 1 : 0;
}
