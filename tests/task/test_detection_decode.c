/* From predictions to boxes: where they are, which are suppressed, in which order; and how they are drawn. */
#include "tests/fixture.h"

#include "task/detection_decode.h"
#include "task/detection_draw.h"
#include "task/png_file.h"

#include <math.h>
#include <png.h>
#include <unistd.h>

#define CLASSES 2
#define VALUES  (4 + CLASSES)

/* ---- Boxes ---- */

/* Two grids over 32x24 pixels: 4x3 locations of stride 8, 2x2 of stride 16. */
struct scene {
    struct detection_layout layout;
    float fine[12 * VALUES], coarse[4 * VALUES];
    struct glcnn_detection found[16];
};

static struct scene make_scene(void)
{
    const uint32_t strides[] = {8, 16};
    return (struct scene){.layout = detection_layout(32, 24, CLASSES, strides, 2)};
}

/* A location predicts a class and half of a box's extent to each side, in strides. */
static void predict(float *predictions, uint32_t location, float half, uint32_t label, float score)
{
    float *values = predictions + location * VALUES;
    for (int i = 0; i < 4; i++)
        values[i] = half;
    values[4 + label] = score;
}

static uint32_t decode(struct scene *s, struct glcnn_detection_limits limits)
{
    const float *const predictions[] = {s->fine, s->coarse};
    return detection_decode(&s->layout, predictions, &limits, s->found);
}

static void check_box(const struct glcnn_detection *d, struct glcnn_box expected, uint32_t label,
                      float score)
{
    CU_ASSERT_EQUAL(d->box.left, expected.left);
    CU_ASSERT_EQUAL(d->box.top, expected.top);
    CU_ASSERT_EQUAL(d->box.right, expected.right);
    CU_ASSERT_EQUAL(d->box.bottom, expected.bottom);
    CU_ASSERT_EQUAL(d->label, label);
    CU_ASSERT_EQUAL(d->score, score);
}

static const struct glcnn_detection_limits usual = {0.1f, 0.5f, 16, false};

static void boxes_lie_around_their_locations(void)
{
    struct scene s = make_scene();
    const float distances[] = {0.25f, 0.5f, 0.75f, 1};
    predict(s.fine, 5, 1, 1, 0.5f); /* at (12, 12) */
    memcpy(s.fine + 5 * VALUES, distances, sizeof distances);
    predict(s.coarse, 3, 1, 0, 0.75f); /* at (24, 24): cut at the edges */
    CU_ASSERT_EQUAL_FATAL(decode(&s, usual), 2);
    check_box(&s.found[0], (struct glcnn_box){8, 8, 32, 24}, 0, 0.75f);
    check_box(&s.found[1], (struct glcnn_box){10, 8, 18, 20}, 1, 0.5f);
}

static void the_less_likely_of_a_class_are_suppressed(void)
{
    struct scene s = make_scene();
    predict(s.fine, 5, 1, 1, 0.5f);
    predict(s.fine, 6, 2, 1, 0.7f);      /* holds the first one: an overlap of 192 / 768 */
    predict(s.coarse, 1, 0.9f, 1, 0.6f); /* lies in the second one */
    predict(s.fine, 5, 1, 0, 0.4f);
    CU_ASSERT_EQUAL_FATAL(decode(&s, usual), 3);
    CU_ASSERT_EQUAL(s.found[0].score, 0.7f);
    CU_ASSERT_EQUAL(s.found[1].score, 0.5f);
    CU_ASSERT_EQUAL(s.found[2].label, 0);
    CU_ASSERT_EQUAL(decode(&s, (struct glcnn_detection_limits){0.1f, 0.99f, 16, false}), 4);
    CU_ASSERT_EQUAL(decode(&s, (struct glcnn_detection_limits){0.45f, 0.5f, 16, false}), 2);
    CU_ASSERT_EQUAL(decode(&s, (struct glcnn_detection_limits){0.1f, 0.5f, 1, false}), 1);
    CU_ASSERT_EQUAL(s.found[0].score, 0.7f);
}

/* A box goes where more than the limit is shared, and stays where exactly that is: as torchvision's nms has
 * it. Of 16x16 and 8x8 within a quarter is shared. */
static void what_overlaps_by_just_the_limit_is_kept(void)
{
    struct scene s = make_scene();
    predict(s.fine, 5, 1, 1, 0.7f);       /* 4 .. 20, both ways */
    predict(s.coarse, 0, 0.25f, 1, 0.6f); /* 4 .. 12 */
    CU_ASSERT_EQUAL(decode(&s, (struct glcnn_detection_limits){0.1f, 0.25f, 16, false}), 2);
    CU_ASSERT_EQUAL(decode(&s, (struct glcnn_detection_limits){0.1f, 0.24f, 16, false}), 1);
}

/* The same box of two classes is one object, where that is asked for. */
static void classes_are_suppressed_together_if_asked(void)
{
    struct scene s = make_scene();
    predict(s.fine, 5, 1, 0, 0.6f);
    predict(s.fine, 5, 1, 1, 0.7f);
    CU_ASSERT_EQUAL(decode(&s, (struct glcnn_detection_limits){0.1f, 0.5f, 16, false}), 2);
    CU_ASSERT_EQUAL_FATAL(decode(&s, (struct glcnn_detection_limits){0.1f, 0.5f, 16, true}), 1);
    CU_ASSERT_EQUAL(s.found[0].label, 1);
}

static void equal_scores_keep_their_order(void)
{
    struct scene s = make_scene();
    for (uint32_t i = 0; i < 12; i++)
        predict(s.fine, i, 0.5f, i % 2, 0.5f);
    predict(s.coarse, 0, 0.25f, 0, 0.5f);
    CU_ASSERT_EQUAL_FATAL(decode(&s, usual), 13);
    for (uint32_t i = 0; i < 12; i++) {
        CU_ASSERT_EQUAL(s.found[i].box.left, (float)(8 * (i % 4)));
        CU_ASSERT_EQUAL(s.found[i].box.top, (float)(8 * (i / 4)));
    }
    CU_ASSERT_EQUAL(s.found[12].box.left, 4);
}

static void what_is_not_finite_is_left_out(void)
{
    struct scene s = make_scene();
    for (uint32_t i = 0; i < 4; i++)
        predict(s.fine, i, 0.5f, 0, 0.5f);
    s.fine[0] = NAN;
    s.fine[VALUES + 3] = INFINITY;
    s.fine[2 * VALUES + 4] = NAN;
    CU_ASSERT_EQUAL_FATAL(decode(&s, usual), 1);
    CU_ASSERT_EQUAL(s.found[0].box.left, 24);
}

/* ---- Pictures ---- */

#define WIDTH  60
#define HEIGHT 40

static uint32_t pixel(const struct canvas *canvas, uint32_t x, uint32_t y)
{
    const uint8_t *p = canvas->pixels + 3 * (y * canvas->width + x);
    return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static void a_frame_and_a_label_are_drawn(void)
{
    static uint8_t pixels[WIDTH * HEIGHT * 3];
    static const char *const names[] = {"I"};
    const struct canvas canvas = {pixels, WIDTH, HEIGHT};
    const struct glcnn_detection d = {{5, 12, 30, 33}, 0, 0.5f};
    memset(pixels, 0, sizeof pixels);
    detection_draw(&canvas, &d, 1, names);
    const uint32_t orange = 0xe69f00;
    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = 0; x < WIDTH; x++) {
            bool across = x >= 5 && x < 30, down = y >= 12 && y < 33;
            bool frame = (across && (y == 12 || y == 32)) || (down && (x == 5 || x == 29));
            bool label = y >= 5 && y < 12 && x >= 5 && x < 5 + 6 * 4 + 1;
            CU_ASSERT(frame ? pixel(&canvas, x, y) == orange : label || pixel(&canvas, x, y) == 0);
        }
    CU_ASSERT_EQUAL(pixel(&canvas, 5, 5), orange);
    CU_ASSERT_EQUAL(pixel(&canvas, 6, 6), 0); /* the bar of the I, in black ink */
    CU_ASSERT_EQUAL(pixel(&canvas, 7, 8), 0);
    CU_ASSERT_EQUAL(pixel(&canvas, 6, 8), orange);
}

static void what_lies_outside_is_not_drawn(void)
{
    static uint8_t pixels[(HEIGHT + 2) * WIDTH * 3];
    static const char *const names[] = {
        "", "a long name \xc3\xa9 with more letters than there is room"};
    const struct canvas canvas = {pixels + WIDTH * 3, WIDTH, HEIGHT};
    const struct glcnn_detection found[] = {
        {{-50, -50, 200, 200}, 1, 1}, {{0, 0, WIDTH, HEIGHT}, 1, 0.25f}, {{58, 38, 60, 40}, 0, 0}};
    memset(pixels, 0, sizeof pixels);
    detection_draw(&canvas, found, 3, names);
    for (uint32_t i = 0; i < WIDTH * 3; i++) {
        CU_ASSERT_EQUAL(pixels[i], 0);
        CU_ASSERT_EQUAL(pixels[(HEIGHT + 1) * WIDTH * 3 + i], 0);
    }
    CU_ASSERT(pixel(&canvas, 0, HEIGHT - 1) > 0);
}

static void a_file_holds_the_picture(void)
{
    char path[64], error[GLCNN_ERROR_LENGTH] = "";
    uint8_t pixels[5 * 3 * 3], again[sizeof pixels];
    const struct canvas canvas = {pixels, 5, 3};
    png_image image = {.version = PNG_IMAGE_VERSION};
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * 5);
    snprintf(path, sizeof path, "/tmp/glcnn-draw-%ld.png", (long)getpid());
    CU_ASSERT_TRUE(png_file_write(path, canvas.pixels, canvas.width, canvas.height, 3, error));
    CU_ASSERT_TRUE_FATAL(png_image_begin_read_from_file(&image, path));
    image.format = PNG_FORMAT_RGB;
    CU_ASSERT_EQUAL(image.width, 5);
    CU_ASSERT_EQUAL_FATAL(PNG_IMAGE_SIZE(image), sizeof again);
    CU_ASSERT_TRUE(png_image_finish_read(&image, NULL, again, 0, NULL));
    CU_ASSERT_EQUAL(memcmp(pixels, again, sizeof pixels), 0);
    remove(path);
    CU_ASSERT_FALSE(png_file_write("/nowhere/at/all.png", canvas.pixels, canvas.width,
                                   canvas.height, 3, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "/nowhere/at/all.png"));
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(boxes_lie_around_their_locations),
        UNIT_TEST(the_less_likely_of_a_class_are_suppressed),
        UNIT_TEST(what_overlaps_by_just_the_limit_is_kept),
        UNIT_TEST(classes_are_suppressed_together_if_asked),
        UNIT_TEST(equal_scores_keep_their_order),
        UNIT_TEST(what_is_not_finite_is_left_out),
        UNIT_TEST(a_frame_and_a_label_are_drawn),
        UNIT_TEST(what_lies_outside_is_not_drawn),
        UNIT_TEST(a_file_holds_the_picture),
        CU_TEST_INFO_NULL,
    };
    return unit_run("detection_decode", tests, argc, argv);
}
