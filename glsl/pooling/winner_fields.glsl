// The number that winners of four channels are together: of each the place of its tap in the window,
// column + 8 * row, in a field of six bits.
#define EACH_FIELD 0x041041 // 1 in each
const ivec4 winner_shifts = ivec4(0, 6, 12, 18);
const ivec4 winner_fields = ivec4(63) << winner_shifts;

// The places of the four channels' taps, and that of a tap.
ivec4 places_in(int kept) { return ivec4(kept) >> winner_shifts & ivec4(63); }
int place_of_tap(int p, int q) { return q * 8 + p; }
