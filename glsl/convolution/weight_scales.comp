// scale(k) = max over i of |weights(k, i)| / levels;   1 / levels where all are 0
// An invocation goes through the elements of a part, as an output channel is one.
void invocation(ivec3 at) {
    float largest = 0.0;
    int first = at.x * elements;
    for (int i = 0; i < elements; i++)
        largest = max(largest, abs(weights[first + i]));
    scales[at.x] = (largest > 0.0 ? largest : 1.0) / levels;
}
