/* A look at data: counts against counts that the test makes while it writes the data, and each thing that is
 * suspicious, found where it is and not where it is not. */
#include "tests/data_files.h"

#include <glcnn/report.h>
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/unit.h"

enum { CLASSES = 3, PARTS = 2, PICTURES = 14 };

static const struct glcnn_data_parameters boxes = {.targets = GLCNN_DATA_TARGETS_BOXES,
                                                   .fit = GLCNN_DATA_FIT_LETTERBOX},
                                          masks = {.targets = GLCNN_DATA_TARGETS_MASKS},
                                          numbers = {.targets = GLCNN_DATA_TARGETS_NUMBERS};

static uint32_t shade; /* of the picture that is written: no two are equal */

static uint32_t paint(uint32_t x, uint32_t y, uint32_t c)
{
    return (shade + x + y + c) % 256;
}

static void write_picture(const char *name, uint32_t width, uint32_t height)
{
    data_write_png(name, &(struct data_png){.width = width, .height = height, .value = paint});
    shade += 7;
}

static struct glcnn_data_look *look_at(glcnn_dataset *data)
{
    struct glcnn_data_look *look;
    char error[GLCNN_ERROR_LENGTH] = "";
    const glcnn_status status = glcnn_dataset_look(data, &look, error);
    CU_ASSERT_EQUAL_FATAL(status, GLCNN_SUCCESS);
    CU_ASSERT_STRING_EQUAL(error, "");
    return look;
}

/* The count of the suspicion that has the phrase; 0: there is none. */
static uint32_t suspects(const struct glcnn_data_look *look, const char *phrase)
{
    for (uint32_t i = 0; i < look->suspicion_count; i++)
        if (strstr(look->suspicions[i].text, phrase))
            return look->suspicions[i].count;
    return 0;
}

/* ---- Boxes ---- */

static struct {
    uint32_t images[CLASSES][PARTS];
    uint64_t objects[CLASSES][PARTS];
    double least, most;
} counted;

/* A picture with boxes that are drawn by the seed, and what they are counted by hand. */
static void write_boxed(const char *part, int p, uint32_t n, uint32_t *seed)
{
    char name[64], text[1024] = "";
    bool has[CLASSES] = {false};
    const uint32_t width = 40 + below(seed, 60), height = 30 + below(seed, 50),
                   count = below(seed, 5);
    snprintf(name, sizeof name, "counted/%s/images/%u.png", part, n);
    write_picture(name, width, height);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t label = below(seed, CLASSES);
        const double w = 4 + below(seed, 20), h = 4 + below(seed, 16), side = sqrt(w * h);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%u 0.5 0.5 %.9f %.9f\n", label,
                 w / width, h / height);
        counted.objects[label][p]++;
        counted.least = fmin(counted.least, side);
        counted.most = fmax(counted.most, side);
        has[label] = true;
    }
    for (int k = 0; k < CLASSES; k++)
        counted.images[k][p] += has[k];
    snprintf(name, sizeof name, "counted/%s/labels/%u.txt", part, n);
    data_write_text(name, text);
}

/* The same in lines, as JSON and as a page. */
static void is_told(const struct glcnn_data_look *expected)
{
    char error[GLCNN_ERROR_LENGTH] = "", page[512];
    const struct glcnn_look *look = NULL;
    snprintf(page, sizeof page, "%s", data_path("page.html"));
    CU_ASSERT_EQUAL_FATAL(glcnn_look_at(data_path("counted"), NULL, page, &look, error),
                          GLCNN_SUCCESS);
    CU_ASSERT_STRING_EQUAL(look->task->name, "detect");
    CU_ASSERT_EQUAL(look->look->class_count, expected->class_count);
    CU_ASSERT_EQUAL(glcnn_dataset_info(look->data)->class_count, expected->class_count);
    CU_ASSERT_PTR_NOT_NULL(strstr(look->text, "\ncross  "));
    CU_ASSERT_PTR_NOT_NULL(strstr(look->json, "\"cross\""));
    CU_ASSERT_EQUAL(unlink(page), 0);
    glcnn_look_destroy(&look);
    CU_ASSERT_PTR_NULL(look);
    CU_ASSERT_EQUAL(glcnn_look_at(data_path("counted"), "guess", NULL, &look, error),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_PTR_NULL(look);
    CU_ASSERT_NOT_EQUAL(glcnn_look_at(data_path("nowhere"), "detect", page, &look, error),
                        GLCNN_SUCCESS);
    CU_ASSERT_PTR_NULL(look);
    CU_ASSERT_EQUAL(unlink(page), 0); /* it says why */
    glcnn_look_destroy(&look);
}

static void boxes_are_counted(void)
{
    static const char *const parts[PARTS] = {"train", "valid"};
    uint32_t seed = 5;
    counted.least = INFINITY;
    for (int p = 0; p < PARTS; p++)
        for (uint32_t n = 0; n < PICTURES; n++)
            write_boxed(parts[p], p, n, &seed);
    data_write_text("counted/data.yaml", "names: [disc, square, cross]\n");
    glcnn_dataset *data = data_open("counted", &boxes);
    struct glcnn_data_look *look = look_at(data);
    CU_ASSERT_EQUAL_FATAL(look->class_count, CLASSES);
    CU_ASSERT_STRING_EQUAL(look->classes[2].name, "cross");
    for (int k = 0; k < CLASSES; k++)
        for (int p = 0; p < PARTS; p++) {
            CU_ASSERT_EQUAL(look->classes[k].images[p], counted.images[k][p]);
            CU_ASSERT_EQUAL(look->classes[k].objects[p], counted.objects[k][p]);
        }
    CU_ASSERT_DOUBLE_EQUAL(look->sides.least, counted.least, 0.01);
    CU_ASSERT_DOUBLE_EQUAL(look->sides.most, counted.most, 0.01);
    CU_ASSERT_EQUAL(suspects(look, "boxes of"), 0);
    CU_ASSERT_EQUAL(suspects(look, "part too"), 0);
    CU_ASSERT_EQUAL(suspects(look, "nearly the same name"), 0);
    is_told(look);
    glcnn_data_look_destroy(&look);
    CU_ASSERT_PTR_NULL(look);
    glcnn_data_look_destroy(&look);
    glcnn_dataset_destroy(&data);
}

static void odd_boxes_are_suspicious(void)
{
    static const char *const labels[] = {"0 0.5 0.5 0.01 0.5\n0 0.5 0.5 0.3 0.3\n",
                                         "1 0.5 0.5 1 1\n", "", "0 0.5 0.5 0.2 0.2\n"};
    char name[64];
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "odd/train/images/%d.png", i);
        write_picture(name, 50, 40);
        snprintf(name, sizeof name, "odd/train/labels/%d.txt", i);
        data_write_text(name, labels[i]);
    }
    shade -= 7;
    write_picture("odd/valid/images/other.png", 50, 40); /* as 3.png */
    data_write_text("odd/valid/labels/other.txt", labels[0]);
    data_write_text("odd/data.yaml",
                    "names: [Traffic Light, traffic_lights, bicycle, bicicle, cat, rat]\n");
    glcnn_dataset *data = data_open("odd", &boxes);
    struct glcnn_data_look *look = look_at(data);
    CU_ASSERT_EQUAL(suspects(look, "of a pixel's width or height"), 2);
    CU_ASSERT_EQUAL(suspects(look, "of the whole picture"), 1);
    CU_ASSERT_EQUAL(suspects(look, "1 image without any label; train/images/2.png is the first"),
                    1);
    CU_ASSERT_EQUAL(suspects(look,
                             "1 image of the validation part is in the training part too, of which "
                             "valid/images/other.png, there train/images/3.png"),
                    1);
    CU_ASSERT_EQUAL(suspects(look, "\"Traffic Light\" and \"traffic_lights\" have nearly"), 1);
    CU_ASSERT_EQUAL(suspects(look, "\"bicycle\" and \"bicicle\" have nearly"), 1);
    CU_ASSERT_EQUAL(suspects(look, "\"cat\" and \"rat\""), 0);
    CU_ASSERT_EQUAL(suspects(look, "4 classes of which no training image has any; \"bicycle\""), 4);
    CU_ASSERT_EQUAL(suspects(look, "fewer than 10 training images have any; \"Traffic Light\""), 2);
    CU_ASSERT_EQUAL(look->unlabelled[GLCNN_DATA_PART_TRAINING], 1);
    for (uint32_t i = 0; i < look->suspicion_count; i++)
        if (strstr(look->suspicions[i].text, "whole picture")) {
            CU_ASSERT_TRUE(look->suspicions[i].has_image);
            CU_ASSERT_EQUAL(look->suspicions[i].index, 1);
        }
    glcnn_data_look_destroy(&look);
    glcnn_dataset_destroy(&data);
}

/* ---- Other targets ---- */

static uint32_t edge; /* columns of class 1 */

static uint32_t paint_class(uint32_t x, uint32_t y, uint32_t c)
{
    (void)y, (void)c;
    return x < edge;
}

static void masks_are_counted(void)
{
    static const uint32_t edges[] = {3, 0, 8};
    char name[64];
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "masked/images/%d.png", i);
        write_picture(name, 8, 5);
        edge = edges[i];
        snprintf(name, sizeof name, "masked/masks/%d.png", i);
        data_write_png(name, &(struct data_png){.width = 8,
                                                .height = 5,
                                                .colour_type = PNG_COLOR_TYPE_GRAY,
                                                .value = paint_class});
    }
    glcnn_dataset *data = data_open("masked", &masks);
    struct glcnn_data_look *look = look_at(data);
    CU_ASSERT_EQUAL(look->classes[0].objects[0], (8 - 3 + 8) * 5);
    CU_ASSERT_EQUAL(look->classes[1].objects[0], (3 + 8) * 5);
    CU_ASSERT_EQUAL(look->classes[1].images[0], 2);
    CU_ASSERT_EQUAL(suspects(look, "2 masks of one class alone; images/1.png is the first"), 2);
    glcnn_data_look_destroy(&look);
    glcnn_dataset_destroy(&data);
}

static void coordinates_are_counted(void)
{
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "points/%d.png", i);
        write_picture(name, 20, 10);
    }
    data_write_text("points/list.csv", "file,eye_x,eye_y,age\n0.png,4,5,-3\n1.png,-1,-1,7\n"
                                       "2.png,4,10,9\n");
    glcnn_dataset *data = data_open("points", &numbers);
    struct glcnn_data_look *look = look_at(data);
    CU_ASSERT_EQUAL(look->classes[0].images[0], 2);
    CU_ASSERT_EQUAL(look->classes[2].images[0], 3);
    CU_ASSERT_EQUAL(suspects(look, "1 coordinate outside of the picture"), 1);
    glcnn_data_look_destroy(&look);
    glcnn_dataset_destroy(&data);
}

static void parts_have_names(void)
{
    CU_ASSERT_STRING_EQUAL(glcnn_data_part_name(GLCNN_DATA_PART_TRAINING), "training");
    CU_ASSERT_STRING_EQUAL(glcnn_data_part_name(GLCNN_DATA_PART_VALIDATION), "validation");
    CU_ASSERT_STRING_EQUAL(glcnn_data_part_name(GLCNN_DATA_PART_TEST), "test");
    CU_ASSERT_PTR_NULL(glcnn_data_part_name((glcnn_data_part)GLCNN_DATA_PARTS));
}

static void classes_are_counted(void)
{
    for (int i = 0; i < 12; i++) {
        char name[32];
        snprintf(name, sizeof name, "classed/%s/%d.png", i < 11 ? "many" : "one", i);
        write_picture(name, 6 + (uint32_t)i, 9);
    }
    glcnn_dataset *data = data_open("classed", NULL);
    struct glcnn_data_look *look = look_at(data);
    CU_ASSERT_EQUAL(look->classes[0].images[0], 11);
    CU_ASSERT_EQUAL(look->classes[1].images[0], 1);
    CU_ASSERT_EQUAL(suspects(look,
                             "1 class of which fewer than 10 training images have any; \"one\" "
                             "is the first, in 1"),
                    1);
    CU_ASSERT_EQUAL(look->widths.least, 6);
    CU_ASSERT_EQUAL(look->widths.median, 11);
    CU_ASSERT_EQUAL(look->widths.most, 17);
    CU_ASSERT_EQUAL(look->sides.most, 0);
    glcnn_data_look_destroy(&look);
    glcnn_dataset_destroy(&data);
}

int main(int argc, char *argv[])
{
    static CU_TestInfo tests[] = {UNIT_TEST(boxes_are_counted),
                                  UNIT_TEST(odd_boxes_are_suspicious),
                                  UNIT_TEST(masks_are_counted),
                                  UNIT_TEST(coordinates_are_counted),
                                  UNIT_TEST(classes_are_counted),
                                  UNIT_TEST(parts_have_names),
                                  CU_TEST_INFO_NULL};
    int result = unit_run("look", tests, argc, argv);
    data_remove_folder();
    return result;
}
