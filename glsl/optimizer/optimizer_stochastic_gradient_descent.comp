// without momentum    w -= rate * g
// with MOMENTUM       m = mu * m + rate * g;    w -= m
//   and Nesterov's    m = mu * m + g;           w -= rate * (g + mu * m)
// needs optimizer/optimizer.glsl
void invocation(ivec3 at) {
    SKIP_NAN(gradient[at.x])
    REAL w = decayed_value(values[at.x], at.x);
    REAL g = prepared(gradient[at.x], w);
#ifdef MOMENTUM
    REAL m = momentum_scale * momentum[at.x] + (nesterov != 0 ? g : rate * g);
    momentum[at.x] = m;
    values[at.x] = w - (nesterov != 0 ? rate * (g + momentum_scale * m) : m);
#else
    values[at.x] = w - rate * g;
#endif
}
