// Where f is 0 the second does not count, whatever it is.
vec4 blend(vec4 a, vec4 b, float f) { return f == 0.0 ? a : (1.0 - f) * a + f * b; }
