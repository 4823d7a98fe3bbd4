/* Examples small enough to be followed by hand, as tables: a kernel, its settings, the arrays that
 * go in and those that must come out. Outputs that a row does not name are not looked at.
 */
#ifndef GLCNN_TESTS_EXAMPLES_H
#define GLCNN_TESTS_EXAMPLES_H

#include <glcnn/glcnn.h>

#include "tests/unit.h"

#define EXAMPLE_VALUES 12
#define EXAMPLE_ARRAYS 4

/* How the values of an array lie. */
enum direction {
    ROW,      /* one row of pixels, or a vector */
    CHANNELS, /* the channels of one pixel */
    WEIGHTS,  /* one row of taps */
    BLOCK     /* [n][c][h][w] as `shape` says */
};

struct vector {
    const char *name;
    enum direction direction;
    uint32_t count;
    float values[EXAMPLE_VALUES];
    uint32_t shape[4];
};

struct example {
    const char *kernel, *settings;
    struct vector inputs[EXAMPLE_ARRAYS], outputs[EXAMPLE_ARRAYS];
};

/* Each example on the device of tests/fixture.h, up to one whose kernel is NULL. Values may differ
 * by 2e-6 relative to max(1, |value|), as tables have six digits; NaN is equal to NaN. */
void examples_check(const struct example *examples);

/* Their parts. `inputs` end with a name of NULL or after EXAMPLE_ARRAYS. What example_run returns
 * is to be released with glcnn_run_destroy; NULL, and the test failed, when it could not run. */
struct glcnn_array *example_run(const char *kernel, const char *settings,
                                const struct vector *inputs, size_t *output_count);
const struct glcnn_array *example_output(const struct glcnn_array *outputs, size_t count,
                                         const char *name);
void example_compare(const char *kernel, const struct vector *wanted,
                     const struct glcnn_array *found);

/* clang-format off */
#define OF(...) sizeof((float[]){__VA_ARGS__}) / sizeof(float), {__VA_ARGS__}
#define VECTOR(NAME, ...) {NAME, ROW, OF(__VA_ARGS__)}
#define PIXEL(NAME, ...) {NAME, CHANNELS, OF(__VA_ARGS__)}
#define IMAGE(...) VECTOR("source_image", __VA_ARGS__)
#define G(...) VECTOR("source_gradient", __VA_ARGS__)
#define RESULT(...) VECTOR("destination_image", __VA_ARGS__)
#define GRADIENT(...) VECTOR("destination_gradient", __VA_ARGS__)
#define TAPS(...) {"weights", WEIGHTS, OF(__VA_ARGS__)}
#define FOR_TAPS(...) {"gradient_for_weights", WEIGHTS, OF(__VA_ARGS__)}
#define FOR_BIAS(X) VECTOR("gradient_for_biases", X)
/* clang-format on */

#endif
