// m = beta1 * m + (1 - beta1) * g;    v = beta2 * v + (1 - beta2) * g^2
// w -= rate * m / (sqrt(v) + epsilon);    rate has the correction of the time step
// needs optimizer/optimizer.glsl
void invocation(ivec3 at) {
    SKIP_NAN(gradient[at.x])
    REAL w = decayed_value(values[at.x], at.x);
    REAL g = prepared(gradient[at.x], w);
    REAL m = beta1 * first_moment[at.x] + one_minus_beta1 * g;
    REAL v = beta2 * second_moment[at.x] + one_minus_beta2 * (g * g);
    first_moment[at.x] = m;
    second_moment[at.x] = v;
    values[at.x] = w - rate * m / (sqrt(v) + epsilon);
}
