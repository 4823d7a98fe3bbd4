// adjustment[image] = (gain, offset, left, top): result = gain source + offset, and the first
// column and row of what is cut out; spec 7.16. Of an image without a number the gain is NaN and
// nothing is cut out. One invocation an image, at.x.
// needs augment/draws.glsl

// In -1 .. 1, exactly.
float sway(uint word) { return float(int(word >> 8) - 8388608) * exp2(-23.0); }

void invocation(ivec3 at) {
    uvec4 words = drawn(at.x, 1u, 0u);
    bool good = is_numbered(at.x);
    float change = contrast * sway(words.y);
    adjustment[at.x * 4] = good ? 1.0 + change : nan();
    adjustment[at.x * 4 + 1] = brightness * sway(words.x) - 0.5 * change;
    adjustment[at.x * 4 + 2] = good ? float(below(words.z, width) - cutout / 2) : 1e6;
    adjustment[at.x * 4 + 3] = float(below(words.w, height) - cutout / 2);
}
