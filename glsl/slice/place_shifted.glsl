// Beyond `start` elements of another image along AXIS: 0 channels, 1 rows, 2 columns.
ivec3 place(ivec3 at) {
    at[AXIS] += start;
    return at;
}
