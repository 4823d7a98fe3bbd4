// Loops over constant numbers, written out: compilers that do not unroll a loop keep the array that
// it indexes in memory. DO(i) is a block for number i; AT(array, i, count) is an element of an array
// of `count`, of which there is one for every i that DO is reached with.
#define AT(array, i, count) array[i < count ? i : 0]
#define FOUR_FROM(DO, i, count) \
    if (i < count) DO(i) \
    if (i + 1 < count) DO(i + 1) \
    if (i + 2 < count) DO(i + 2) \
    if (i + 3 < count) DO(i + 3)
#define UP_TO_FOUR(DO, count) FOUR_FROM(DO, 0, count)
#define UP_TO_SIXTEEN(DO, count) \
    FOUR_FROM(DO, 0, count) \
    FOUR_FROM(DO, 4, count) \
    FOUR_FROM(DO, 8, count) \
    FOUR_FROM(DO, 12, count)
