/* Pictures whose shorter side is scaled before their middle is taken, against Pillow. golden/make_resize.py
 * makes the same pictures and wrote what Pillow makes of them. */
#include "tests/archive.h"
#include "tests/data_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit.h"

#define MEAN  0.25 /* of differences of bytes; the bar is 1 */
#define WORST 1    /* Pillow rounds between its two passes */

static struct zip *archive;

static uint32_t noise(uint32_t x, uint32_t y, uint32_t c)
{
    uint32_t value = (x * 7919 + y * 104729 + 12345) * 2654435761u;
    (void)c;
    return (value >> 25) + (x + y) % 128;
}

/* The only image. */
static void read_first(glcnn_dataset *data, glcnn_data_part part, uint8_t *pixels)
{
    const struct glcnn_data_info *info = glcnn_dataset_info(data);
    glcnn_data_loader *loader = data_load(
        data, &(struct glcnn_data_loader_parameters){
                  .part = part, .batch = 1, .threads = 1, .bytes = true, .interleaved = true});
    struct glcnn_data_batch batch = data_next(loader);
    CU_ASSERT_EQUAL_FATAL(batch.filled, 1);
    memcpy(pixels, batch.bytes, (size_t)info->width * info->height * info->channels);
    glcnn_data_loader_destroy(&loader);
}

static void decode(const char *name, const struct glcnn_data_parameters *p, uint8_t *pixels)
{
    glcnn_dataset *data;
    char error[GLCNN_ERROR_LENGTH] = "";
    const char *path = data_path(name);
    CU_ASSERT_EQUAL_FATAL(glcnn_dataset_open_files(&path, 1, p, &data, error), GLCNN_SUCCESS);
    read_first(data, GLCNN_DATA_PART_TEST, pixels);
    glcnn_dataset_destroy(&data);
}

static const struct {
    uint32_t width, height, side, target_width, target_height;
} cases[] = {{200, 150, 64, 56, 56}, {150, 211, 64, 56, 48}, {96, 64, 64, 64, 64},
             {40, 31, 64, 56, 56},   {333, 500, 37, 32, 32}, {64, 65, 63, 56, 40},
             {500, 20, 30, 28, 28},  {57, 57, 57, 50, 51},   {1200, 900, 48, 48, 40},
             {7, 9, 8, 8, 8}};
enum { CASES = sizeof cases / sizeof *cases };

static struct glcnn_data_parameters parameters_of(size_t i)
{
    return (struct glcnn_data_parameters){.width = cases[i].target_width,
                                          .height = cases[i].target_height,
                                          .resize = cases[i].side,
                                          .channels = 1};
}

static void compare(size_t i, const uint8_t *pixels)
{
    char name[64];
    struct glcnn_npy wanted;
    double sum = 0, worst = 0;
    snprintf(name, sizeof name, "%ux%u.%u", cases[i].width, cases[i].height, cases[i].side);
    CU_ASSERT_FATAL(archive_read(archive, name, &wanted));
    const size_t count = (size_t)cases[i].target_width * cases[i].target_height;
    CU_ASSERT_EQUAL_FATAL((size_t)wanted.shape[0] * wanted.shape[1], count);
    for (size_t k = 0; k < count; k++) {
        const double off = fabs(pixels[k] - (double)wanted.data[k]);
        sum += off;
        worst = fmax(worst, off);
    }
    CU_ASSERT(worst <= WORST && sum <= MEAN * (double)count);
    if (!(worst <= WORST && sum <= MEAN * (double)count))
        printf("\n    %s: off by %g, in the mean by %g", name, worst, sum / (double)count);
    glcnn_npy_destroy(&wanted);
}

static void pictures_are_those_of_pillow(void)
{
    static uint8_t pixels[64 * 64];
    for (size_t i = 0; i < CASES; i++) {
        const struct glcnn_data_parameters p = parameters_of(i);
        data_write_png(
            "case.png",
            &(struct data_png){.width = cases[i].width, .height = cases[i].height, .value = noise});
        decode("case.png", &p, pixels);
        compare(i, pixels);
    }
}

static uint32_t turned(uint32_t x, uint32_t y, uint32_t c)
{
    return noise(y, x, c);
}

/* A picture that EXIF turns is turned before, as Pillow's exif_transpose does. */
static void turned_pictures_are_the_same(void)
{
    static uint8_t pixels[64 * 64];
    const struct glcnn_data_parameters p = parameters_of(1);
    data_write_png("turned.png", &(struct data_png){.width = cases[1].height,
                                                    .height = cases[1].width,
                                                    .value = turned,
                                                    .orientation = 5});
    decode("turned.png", &p, pixels);
    compare(1, pixels);
}

static void what_does_not_fit_is_refused(void)
{
    static const struct glcnn_data_parameters wrong[] = {
        {.width = 56, .height = 64, .resize = 63},
        {.resize = 64},
        {.width = 64, .resize = GLCNN_DATA_MAX_SIDE + 1}};
    const char *path = data_path("case.png");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        glcnn_dataset *data = NULL;
        char error[GLCNN_ERROR_LENGTH] = "";
        CU_ASSERT_EQUAL(glcnn_dataset_open_files(&path, 1, &wrong[i], &data, error),
                        GLCNN_INVALID_ARGUMENT);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "resize is "));
        glcnn_dataset_destroy(&data);
    }
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(pictures_are_those_of_pillow),
                                        UNIT_TEST(turned_pictures_are_the_same),
                                        UNIT_TEST(what_does_not_fit_is_refused), CU_TEST_INFO_NULL};
    archive = archive_open("tests/golden/resize.npz");
    if (!archive)
        return EXIT_FAILURE;
    int result = unit_run("data_resize", tests, argc, argv);
    data_remove_folder();
    archive_close(archive);
    return result;
}
