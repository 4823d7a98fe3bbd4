// f = x / (1 + |x|),  f' = 1 / (1 + |x|)^2
vec4 NAME(vec4 x, vec4 slope) { return x / (1.0 + abs(x)); }
vec4 NAME_derivative(vec4 x, vec4 slope) {
    vec4 f = 1.0 / (1.0 + abs(x));
    return f * f;
}
