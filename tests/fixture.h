/* What the tests of the core share: a device, images filled and read as plain arrays, and checks
 * that a call succeeds, or that it is refused with a message.
 *
 * Arrays of images are float, [image][channel][row][column], whatever the image's format.
 */
#ifndef GLCNN_TESTS_FIXTURE_H
#define GLCNN_TESTS_FIXTURE_H

#include <glcnn/glcnn.h>

#include "tests/unit.h"

extern glcnn_device *device; /* opened by fixture_open, closed by fixture_close */

bool fixture_open(void);
void fixture_close(void);

/* Runs the table on an open device; the program's exit status. */
int fixture_run(const char *suite, const CU_TestInfo *tests, int argc, char *argv[]);

/* Says why the call failed, where it should not have. */
bool fixture_good(glcnn_status status, const char *call, int line);
#define GOOD(call)       CU_ASSERT_TRUE(fixture_good(call, #call, __LINE__))
#define GOOD_FATAL(call) CU_ASSERT_TRUE_FATAL(fixture_good(call, #call, __LINE__))

/* Whether there are all rows that GLCNN_IMPLEMENTATIONS would name so; NULL: none. Those of src/desktop
 * may be left out. */
bool implementations_exist(const char *names);

/* The call must fail with this status and leave a message of its own. */
void fixture_forget_error(glcnn_device *on);
bool fixture_refused(glcnn_device *on, glcnn_status status, glcnn_status expected, const char *call,
                     int line);
#define REFUSED_ON(on, expected, call)                                                             \
    do {                                                                                           \
        fixture_forget_error(on);                                                                  \
        CU_ASSERT_TRUE(fixture_refused(on, call, expected, #call, __LINE__));                      \
    } while (0)
#define REFUSED(expected, call) REFUSED_ON(device, expected, call)

/* Numbers in -1 .. 1 that depend on the seed alone. */
float noise(uint32_t *seed);

size_t count_of(const glcnn_image *image);
glcnn_image *make_image(uint32_t images, uint32_t channels, uint32_t height, uint32_t width);
glcnn_image *make_image_of(glcnn_device *on, glcnn_channel_format format, uint32_t images,
                           uint32_t channels, uint32_t height, uint32_t width);
void fill_image(glcnn_image *image, const float *values);
void fill_noise(glcnn_image *image, uint32_t seed);
void fill_constant(glcnn_image *image, float value);
glcnn_image *image_with(uint32_t images, uint32_t channels, uint32_t height, uint32_t width,
                        const float *values);
/* The caller frees the array. */
float *read_image(glcnn_image *image);
bool image_equals(glcnn_image *image, const float *expected);
bool images_equal(glcnn_image *a, glcnn_image *b);
bool image_is_constant(glcnn_image *image, float value);

/* Whether |found - expected| is within tolerance * max(1, |expected|); says if it is not. */
bool is_near(double found, double expected, double tolerance);
/* Each element of the image is_near what is expected; of floats there are `count`. */
void check_floats(glcnn_image *image, const float *expected, size_t count, double tolerance);
void check_doubles(glcnn_image *image, const double *expected, double tolerance);

/* Sets those words of a text, NULL for none, that the kernel has; a gradient's window is its
 * state's.
 */
void apply_settings(glcnn_kernel *kernel, const char *settings);
glcnn_kernel *kernel_with(const char *name, const char *settings);

glcnn_command_buffer *make_commands(void);
/* Commits, waits and destroys. */
void finish(glcnn_command_buffer **commands);
/* Encodes x to y, and the gradient g back to dx by the state that it leaves; finished. */
void encode_pair(glcnn_kernel *forward, glcnn_kernel *backward, glcnn_image *x, glcnn_image *g,
                 glcnn_image *y, glcnn_image *dx);
/* The result and, where `state` is not NULL, the state of one returning encode, finished. */
glcnn_image *result_of(glcnn_kernel *kernel, const struct glcnn_encode *arguments,
                       glcnn_state **state);

#endif
