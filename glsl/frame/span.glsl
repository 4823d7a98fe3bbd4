// The pixels of an axis that a result reads, begin .. end - 1, in whole numbers: pixel p lies from
// p * unit to (p + 1) * unit, and a result of the mean from low to high. Between pixels there is
// `high` alone, which is where the result lies, seen from the middle of pixel 0.
struct span {
    int begin, end, low, high, unit;
};

span span_of(int X, int size, int count) {
    span s;
    s.unit = count;
    s.low = X * size;
    s.high = s.low + size;
    s.begin = s.low / count;
    s.end = (s.high + count - 1) / count;
    if (size < count) {
        s.unit = 2 * count;
        s.low = -1;
        s.high = clamp((2 * X + 1) * size - count, 0, s.unit * (size - 1));
        s.begin = s.high / s.unit;
        s.end = s.begin + (s.high == s.begin * s.unit ? 1 : 2);
    }
    return s;
}

float share_of(span s, int p) {
    if (s.low < 0)
        return 1.0 - float(abs(s.high - p * s.unit)) / float(s.unit);
    return float(min((p + 1) * s.unit, s.high) - max(p * s.unit, s.low)) / float(s.high - s.low);
}
