// Argmax indices of four channels in one number: of each the tap's place in its window,
// column + 8 * row, in a field of six bits.
#define EACH_FIELD 0x041041 // 1 in each
const ivec4 field_shifts = ivec4(0, 6, 12, 18);
const ivec4 fields = ivec4(63) << field_shifts;

// The places of the four channels' taps, and that of a tap.
ivec4 places_in(int code) { return ivec4(code) >> field_shifts & ivec4(63); }
int place_of_tap(int p, int q) { return q * 8 + p; }
