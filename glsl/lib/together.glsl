// The columns of an invocation of a grid of plan_pointwise, all made before the first is stored, so
// that what they read is on its way at once: a store between two reads keeps them apart. The body
// says what column x is, RESULT(x), with `at`, `slice` and `image` as in invocation.
// needs lib/unrolled.glsl
#ifdef TOGETHER
#define COLUMN(i) (left + at.x + i * grid_x)
#define MAKE_COLUMN(i) \
    { AT(made, i, PIXELS) = RESULT(COLUMN(i)); }
#define STORE_COLUMN(i) \
    { \
        if (COLUMN(i) < right) \
            store_destination(COLUMN(i), at.y, slice, image, AT(made, i, PIXELS)); \
    }
#define MAKE_COLUMNS() \
    vec4 made[PIXELS]; \
    UP_TO_FOUR(MAKE_COLUMN, PIXELS) \
    UP_TO_FOUR(STORE_COLUMN, PIXELS)
#else
#define MAKE_COLUMNS() \
    for (int i = 0; i < PIXELS; i++) { \
        int x = left + at.x + i * grid_x; \
        vec4 made = RESULT(x); \
        if (x < right) \
            store_destination(x, at.y, slice, image, made); \
    }
#endif
