// adjustment[image] = (gain, offset, left, top, p, q, gains of four channels): v = gain source +
// offset, the first column and row of what is cut out, and how the colours of v are turned;
// spec 7.16. Of an image without a number the gain is NaN and nothing is cut out. One invocation
// an image, at.x.
// needs augment/draws.glsl
// needs augment/turn.glsl

// In -1 .. 1, exactly.
float sway(uint word) { return float(int(word >> 8) - 8388608) * exp2(-23.0); }

void invocation(ivec3 at) {
    uvec4 words = drawn(at.x, 1u, 0u);
    bool good = is_numbered(at.x);
    float change = contrast * sway(words.y);
    int a = at.x * 10;
    adjustment[a] = good ? 1.0 + change : nan();
    adjustment[a + 1] = brightness * sway(words.x) - 0.5 * change;
    adjustment[a + 2] = good ? float(below(words.z, width) - cutout / 2) : 1e6;
    adjustment[a + 3] = float(below(words.w, height) - cutout / 2);
    words = drawn(at.x, 3u, 0u);
    float spread = (1.0 + saturation * sway(words.y)) / 32768.0;
    vec2 turned = vec2(cosine_and_sine(around_zero(words.x, hue))) * spread;
    adjustment[a + 4] = turned.x;
    adjustment[a + 5] = turned.y * 0.57735027;
    words = drawn(at.x, 3u, 1u);
    for (int c = 0; c < 4; c++)
        adjustment[a + 6 + c] = 1.0 + channel_gain * sway(words[c]);
}
