// 2^15 (cos, sin) of an angle in 2^-18 turns: Taylor's polynomials of what is left of it beside
// quarter turns, x / 2^15 with |x / 2^15| <= pi / 4.
ivec2 cosine_and_sine(int angle) {
    int quarter = (angle + 32768) >> 16;
    int x = ((angle - (quarter << 16)) * 25736) >> 15;
    int xx = (x * x) >> 15;
    int c = 32768 - ((xx * (16384 - ((xx * (1365 - ((xx * 46) >> 15))) >> 15))) >> 15);
    int s = (x * (32768 - ((xx * (5461 - ((xx * 273) >> 15))) >> 15))) >> 15;
    ivec2 turned = (quarter & 1) == 0 ? ivec2(c, s) : ivec2(-s, c);
    return (quarter & 2) == 0 ? turned : -turned;
}
