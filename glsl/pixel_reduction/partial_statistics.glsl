// Partial statistics: count n, mean, and sum M2 of squared distances from the mean. Merging two:
//     mean = mean + d n'/(n + n'),   M2 = M2 + M2' + d^2 n n'/(n + n'),   d = mean' - mean
// which, unlike sums of squares, loses nothing when the mean is large.
struct statistics {
    float n;
    vec4 mean;
    vec4 m2;
};

void merge(inout statistics s, float n, vec4 mean, vec4 m2) {
    vec4 d = mean - s.mean;
    float total = s.n + n;
    s.mean += d * (n / total);
    s.m2 += m2 + d * d * (s.n * (n / total));
    s.n = total;
}
