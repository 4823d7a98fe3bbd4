// s = decay * s + (1 - decay) * g^2;    w -= rate * g / (sqrt(s) + epsilon)
// needs optimizer/optimizer.glsl
void invocation(ivec3 at) {
    SKIP_NAN(gradient[at.x])
    REAL w = decayed_value(values[at.x], at.x);
    REAL g = prepared(gradient[at.x], w);
    REAL s = decay * sum_of_squares[at.x] + one_minus_decay * (g * g);
    sum_of_squares[at.x] = s;
    values[at.x] = w - rate * g / (sqrt(s) + epsilon);
}
