// rounded(k, i) = scale(k) round(weights(k, i) / scale(k)), ties to even: the largest of a part comes to
// `levels` steps, and none is beyond
void invocation(ivec3 at) {
    float scale = scales[at.x / elements];
    rounded[at.x] = scale * roundEven(weights[at.x] / scale);
}
