// s = decay * s + (1 - decay) * g^2;    w -= rate * g / (sqrt(s) + epsilon)
// needs optimizer/optimizer.glsl
void invocation(ivec3 at) {
    float w = kept * values[at.x];
    float g = prepared(gradient[at.x], w);
    float s = decay * sum_of_squares[at.x] + one_minus_decay * (g * g);
    sum_of_squares[at.x] = s;
    values[at.x] = w - rate * g / (sqrt(s) + epsilon);
}
