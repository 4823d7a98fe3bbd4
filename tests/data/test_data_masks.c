/* Masks as tools for labelling write them: colours, lists of values, soft edges, lists of parts, turned pictures. */
#include "tests/data_files.h"

#include <png.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit.h"

#define WIDTH  20
#define HEIGHT 10
#define PIXELS (WIDTH * HEIGHT)

static const struct glcnn_data_parameters masks = {
    .targets = GLCNN_DATA_TARGETS_MASKS, .width = WIDTH, .height = HEIGHT};

/* ---- Pictures ---- */

static uint32_t grey(uint32_t x, uint32_t y, uint32_t c)
{
    return (x * 7 + y * 13 + c) % 256;
}

static void write_picture(const char *name)
{
    data_write_png(name, &(struct data_png){.width = WIDTH, .height = HEIGHT, .value = grey});
}

static void write_mask(const char *name, int colour_type, data_value value)
{
    data_write_png(
        name, &(struct data_png){
                  .width = WIDTH, .height = HEIGHT, .colour_type = colour_type, .value = value});
}

static uint32_t colour(uint32_t rgb, uint32_t c)
{
    return rgb >> (8 * (2 - c)) & 255;
}

/* Left half black, right half 128, 0, 64, but for a first column of what Pascal VOC has around objects. */
static uint32_t black_and_purple(uint32_t x, uint32_t y, uint32_t c)
{
    (void)y;
    return colour(x == 0 ? 0xe0e0c0 : x < 10 ? 0 : 0x800040, c);
}

/* One pixel in a hundred has another colour. */
static uint32_t but_two(uint32_t x, uint32_t y, uint32_t c)
{
    return x == 9 && y < 2 ? colour(0x400020, c) : black_and_purple(x, y, c);
}

static uint32_t but_three(uint32_t x, uint32_t y, uint32_t c)
{
    return x == 9 && y < 3 ? colour(0x400020, c) : black_and_purple(x, y, c);
}

static uint32_t black_and_white(uint32_t x, uint32_t y, uint32_t c)
{
    (void)c, (void)y;
    return x < 10 ? 0 : 255;
}

static uint32_t zero_and_one(uint32_t x, uint32_t y, uint32_t c)
{
    (void)c, (void)y;
    return x < 10 ? 0 : 1;
}

static uint32_t zero_to_two(uint32_t x, uint32_t y, uint32_t c)
{
    (void)c, (void)y;
    return x < 10 ? 0 : x < 15 ? 1 : 2;
}

/* The column between both has two values of neither, in `count` rows. */
static uint32_t soft(uint32_t x, uint32_t y, uint32_t count)
{
    return x == 10 && y < count ? (y % 2 ? 60 : 200) : x < 10 ? 0 : 255;
}

static uint32_t two_soft(uint32_t x, uint32_t y, uint32_t c)
{
    (void)c;
    return soft(x, y, 2);
}

static uint32_t all_soft(uint32_t x, uint32_t y, uint32_t c)
{
    (void)c;
    return soft(x, y, HEIGHT);
}

/* Strokes of a brush: its pixels are 255, and those of a soft edge less. */
static uint32_t left_stroke(uint32_t x, uint32_t y, uint32_t c)
{
    (void)c;
    return x < 5 && y < 4 ? 255 : 0;
}

static uint32_t right_stroke(uint32_t x, uint32_t y, uint32_t c)
{
    (void)c;
    return y < 5 ? (x >= 15 ? 255 : x == 14 ? 128 : x == 13 ? 127 : 0) : 0;
}

static uint32_t lower_stroke(uint32_t x, uint32_t y, uint32_t c)
{
    (void)c, (void)x;
    return y == 9 ? 255 : 0;
}

static uint32_t no_stroke(uint32_t x, uint32_t y, uint32_t c)
{
    (void)c, (void)y;
    return x % 128;
}

/* ---- What is expected ---- */

/* "background 100 cat 90 none 10": of each class the pixels of the first mask of a part. */
static void expect_pixels(glcnn_dataset *data, glcnn_data_part part, const char *expected)
{
    char text[256] = "";
    size_t length = 0;
    uint32_t counts[256] = {0};
    glcnn_data_loader *loader =
        data_load(data, &(struct glcnn_data_loader_parameters){.part = part, .batch = 1});
    const struct glcnn_data_batch batch = data_next(loader);
    const struct glcnn_data_info *info = glcnn_dataset_info(data);
    for (int p = 0; p < PIXELS; p++)
        counts[batch.masks[p]]++;
    for (uint32_t k = 0; k < 256; k++)
        if (counts[k] > 0)
            length +=
                (size_t)snprintf(text + length, sizeof text - length, "%s%s %u", length ? " " : "",
                                 k < info->class_count ? info->class_names[k] : "none", counts[k]);
    CU_ASSERT_STRING_EQUAL(text, expected);
    if (strcmp(text, expected) != 0)
        printf("\n    \"%s\", expected \"%s\"\n", text, expected);
    glcnn_data_loader_destroy(&loader);
}

/* Opens what is guessed to be masks; counts of the parts. */
static glcnn_dataset *open_parts(const char *name, uint32_t training, uint32_t validation,
                                 uint32_t test)
{
    CU_ASSERT_EQUAL(glcnn_data_guess_targets(data_path(name)), GLCNN_DATA_TARGETS_MASKS);
    glcnn_dataset *data = data_open(name, &masks);
    const uint32_t *counts = glcnn_dataset_info(data)->counts;
    CU_ASSERT_EQUAL(counts[GLCNN_DATA_PART_TRAINING], training);
    CU_ASSERT_EQUAL(counts[GLCNN_DATA_PART_VALIDATION], validation);
    CU_ASSERT_EQUAL(counts[GLCNN_DATA_PART_TEST], test);
    return data;
}

/* ---- Exports ---- */

/* https://docs.cvat.ai/docs/dataset_management/formats/format-smask/ and VocSegmentationConverter of datumaro. */
static void cvat_segmentation_mask(void)
{
    write_picture("cvat/JPEGImages/a.png");
    write_picture("cvat/JPEGImages/b.png");
    write_mask("cvat/SegmentationClass/a.png", PNG_COLOR_TYPE_RGB, black_and_purple);
    write_mask("cvat/SegmentationClass/b.png", PNG_COLOR_TYPE_RGB, black_and_purple);
    write_mask("cvat/SegmentationObject/a.png", PNG_COLOR_TYPE_RGB, grey);
    data_write_text("cvat/ImageSets/Segmentation/default.txt", "a\n");
    data_write_text("cvat/labelmap.txt", "# label:color_rgb:parts:actions\nbackground:0,0,0::\n"
                                         "a:b:128,0,64::\r\nsky:1,2,3:head,foot:running\n");
    glcnn_dataset *data = open_parts("cvat", 1, 0, 0);
    CU_ASSERT_STRING_EQUAL(data_describe_classes(data), "background a:b sky");
    expect_pixels(data, GLCNN_DATA_PART_TRAINING, "background 90 a:b 100 none 10");
    CU_ASSERT(data_says(data, glcnn_dataset_decision, "has the class \"sky\""));
    glcnn_dataset_destroy(&data);
    data_write_text("cvat/labelmap.txt", "background:0,0,0::\ncat:128,0,64,0::\n");
    data_refuses("cvat", &masks, GLCNN_MALFORMED_DATA,
                 "labelmap.txt: line 2: \"cat:128,0,64,0::\"; expected a class and its colour");
}

/* https://docs.roboflow.com, export "Semantic Segmentation Masks": a.jpg, a_mask.png and _classes.csv. */
static void roboflow_masks(void)
{
    static const char *const given[] = {"cat", "background"};
    struct glcnn_data_parameters known = masks;
    write_picture("roboflow/train/a.rf.1.png");
    write_picture("roboflow/valid/b.rf.2.png");
    write_mask("roboflow/train/a.rf.1_mask.png", PNG_COLOR_TYPE_GRAY, zero_and_one);
    write_mask("roboflow/valid/b.rf.2_mask.png", PNG_COLOR_TYPE_GRAY, zero_and_one);
    data_write_text("roboflow/train/_classes.csv", "Pixel Value, Class\n0, background\n1, cat\n");
    data_write_text("roboflow/valid/_classes.csv", "Pixel Value, Class\n0, background\n1, cat\n");
    data_write_text("roboflow/README.roboflow.txt", "one");
    glcnn_dataset *data = open_parts("roboflow", 1, 1, 0);
    CU_ASSERT_STRING_EQUAL(data_describe_classes(data), "background cat");
    expect_pixels(data, GLCNN_DATA_PART_VALIDATION, "background 100 cat 100");
    glcnn_dataset_destroy(&data);
    known.class_names = given;
    known.class_count = 2;
    data = data_open("roboflow", &known);
    expect_pixels(data, GLCNN_DATA_PART_TRAINING, "cat 100 background 100");
    glcnn_dataset_destroy(&data);
}

/* VOC2012's ImageSets/Segmentation; names of files in any case. */
static void voc_lists(void)
{
    for (const char *name = "abc"; *name; name++) {
        char path[64];
        snprintf(path, sizeof path, "voc/JPEGImages/%c.png", *name);
        write_picture(path);
        snprintf(path, sizeof path, "voc/SegmentationClass/%c.PNG", *name);
        write_mask(path, PNG_COLOR_TYPE_PALETTE, zero_to_two);
    }
    data_write_text("voc/ImageSets/Segmentation/TRAIN.txt", "a\nd\n");
    data_write_text("voc/ImageSets/Segmentation/val.txt", "JPEGImages/b.jpg\nb\n");
    data_write_text("voc/ImageSets/Segmentation/trainval.txt", "a\nb\n");
    data_write_text("voc/ImageSets/Segmentation/test.txt", "c.png\n");
    data_write_text("voc/Classes.TXT", "background\ncat\ndog\n");
    glcnn_dataset *data = open_parts("voc", 1, 1, 1);
    CU_ASSERT_STRING_EQUAL(data_describe_classes(data), "background cat dog");
    expect_pixels(data, GLCNN_DATA_PART_TEST, "background 100 cat 50 dog 50");
    CU_ASSERT(data_says(data, glcnn_dataset_note,
                        "JPEGImages: has no picture d, which the part lists; and so 1 more"));
    glcnn_dataset_destroy(&data);
}

/* ---- Colours ---- */

static void colours_are_given(void)
{
    char path[256];
    struct glcnn_data_parameters p = masks;
    write_picture("given/images/a.png");
    write_mask("given/masks/a.png", PNG_COLOR_TYPE_RGB, black_and_purple);
    data_refuses("given", &masks, GLCNN_MALFORMED_DATA,
                 "or --mask-colours FILE, with lines NAME:R,G,B");
    data_write_text("colours.txt", "nothing:0,0,0\ncat: 128, 0, 64\nother:0,0,0\n");
    snprintf(path, sizeof path, "%s", data_path("colours.txt"));
    p.mask_colours = path;
    glcnn_dataset *data = data_open("given", &p);
    expect_pixels(data, GLCNN_DATA_PART_TRAINING, "nothing 90 cat 100 none 10");
    CU_ASSERT(data_says(data, glcnn_dataset_decision,
                        "\"other\" has the colour of \"nothing\", and is no class"));
    glcnn_dataset_destroy(&data);
    /* Of a palette the colours count, (i, 2 i, 255 - i); grey levels that are no colours count lines. */
    data_write_text("colours.txt", "nothing:0,0,255\ncat:1,2,254\n");
    write_mask("given/masks/a.png", PNG_COLOR_TYPE_PALETTE, zero_and_one);
    data = data_open("given", &p);
    expect_pixels(data, GLCNN_DATA_PART_TRAINING, "nothing 100 cat 100");
    glcnn_dataset_destroy(&data);
    write_mask("given/masks/a.png", PNG_COLOR_TYPE_GRAY, zero_and_one);
    data = data_open("given", &p);
    expect_pixels(data, GLCNN_DATA_PART_TRAINING, "nothing 100 cat 100");
    glcnn_dataset_destroy(&data);
    data_write_text("colours.txt", "cat:255,255,255\nnothing:0,0,0\n");
    write_mask("given/masks/a.png", PNG_COLOR_TYPE_GRAY, black_and_white);
    data = data_open("given", &p);
    expect_pixels(data, GLCNN_DATA_PART_TRAINING, "cat 100 nothing 100");
    glcnn_dataset_destroy(&data);
}

static void few_pixels_may_have_other_colours(void)
{
    write_picture("odd/images/a.png");
    data_write_text("odd/labelmap.txt", "nothing:0,0,0\ncat:128,0,64\n");
    write_mask("odd/masks/a.png", PNG_COLOR_TYPE_RGB, but_two);
    glcnn_dataset *data = data_open("odd", &masks);
    expect_pixels(data, GLCNN_DATA_PART_TRAINING, "nothing 88 cat 100 none 12");
    CU_ASSERT(data_says(data, glcnn_dataset_decision,
                        "2 of 200 pixels have colours that are no class, as 64,0,32 at 9,0"));
    glcnn_dataset_destroy(&data);
    write_mask("odd/masks/a.png", PNG_COLOR_TYPE_RGB, but_three);
    data_refuses("odd", &masks, GLCNN_MALFORMED_DATA,
                 "3 of 200 pixels have colours that are no class, as 64,0,32 at 9,0; expected one");
}

/* ---- Soft edges ---- */

static void soft_edges_are_no_classes(void)
{
    static const char *const values[] = {"0", "255"};
    struct glcnn_data_parameters known = masks;
    write_picture("soft/images/a.png");
    write_mask("soft/masks/a.png", PNG_COLOR_TYPE_GRAY, two_soft);
    glcnn_dataset *data = data_open("soft", &masks);
    CU_ASSERT_STRING_EQUAL(data_describe_classes(data), "0 255");
    expect_pixels(data, GLCNN_DATA_PART_TRAINING, "0 100 255 98 none 2");
    CU_ASSERT(data_says(data, glcnn_dataset_decision,
                        "1.00 % of the pixels of masks lie on soft edges, of 2 values"));
    glcnn_dataset_destroy(&data);
    /* So it is where a network has these classes. */
    known.class_names = values;
    known.class_count = 2;
    data = data_open("soft", &known);
    expect_pixels(data, GLCNN_DATA_PART_TRAINING, "0 100 255 98 none 2");
    CU_ASSERT(data_says(data, glcnn_dataset_decision, "2 of 200 pixels lie on soft edges"));
    glcnn_dataset_destroy(&data);
    write_mask("soft/masks/a.png", PNG_COLOR_TYPE_GRAY, all_soft);
    data_refuses(
        "soft", &masks, GLCNN_MALFORMED_DATA,
        "5.0 % of the pixels of masks have one of 2 values between those beside them: soft");
    data_refuses("soft", &known, GLCNN_MALFORMED_DATA, "; its edges are soft");
    /* A class of small values between others is one. */
    write_mask("soft/masks/a.png", PNG_COLOR_TYPE_GRAY, zero_to_two);
    data = data_open("soft", &masks);
    CU_ASSERT_STRING_EQUAL(data_describe_classes(data), "0 1 2");
    glcnn_dataset_destroy(&data);
}

static void values_of_one_part_are_told(void)
{
    write_picture("parts/train/images/a.png");
    write_picture("parts/val/images/b.png");
    write_mask("parts/train/masks/a.png", PNG_COLOR_TYPE_GRAY, zero_and_one);
    write_mask("parts/val/masks/b.png", PNG_COLOR_TYPE_GRAY, zero_to_two);
    glcnn_dataset *data = open_parts("parts", 1, 1, 0);
    CU_ASSERT(data_says(data, glcnn_dataset_decision,
                        "masks of the validation part have the value 2, which no mask of the "
                        "training part has: its pixels have no class"));
    expect_pixels(data, GLCNN_DATA_PART_VALIDATION, "0 100 1 50 none 50");
    glcnn_dataset_destroy(&data);
    data_write_text("parts/classes.txt", "sky\nland\nsea\n");
    data = open_parts("parts", 1, 1, 0);
    CU_ASSERT(
        data_says(data, glcnn_dataset_decision,
                  "masks of the validation part have the class \"sea\", which no mask of the"));
    CU_ASSERT(data_says(data, glcnn_dataset_decision,
                        "no pixel of the training part's masks has the class \"sea\""));
    glcnn_dataset_destroy(&data);
}

/* ---- EXIF ---- */

static void write_turned(const char *name, uint32_t orientation)
{
    data_write_jpeg(name, &(struct data_jpeg){.width = WIDTH,
                                              .height = HEIGHT,
                                              .components = 3,
                                              .orientation = orientation,
                                              .value = grey});
}

/* Where the picture is turned and the mask is not, its size says over which of both it was drawn, or nothing does. */
static void turned_pictures(void)
{
    static const struct glcnn_data_parameters tall = {
        .targets = GLCNN_DATA_TARGETS_MASKS, .width = HEIGHT, .height = WIDTH};
    write_turned("turned/images/a.jpg", 6); /* the right of it is at the bottom */
    write_mask("turned/masks/a.png", PNG_COLOR_TYPE_GRAY, black_and_white);
    glcnn_dataset *data = data_open("turned", &tall);
    glcnn_data_loader *loader = data_load(data, &(struct glcnn_data_loader_parameters){.batch = 1});
    const struct glcnn_data_batch batch = data_next(loader);
    for (int i = 0; i < PIXELS; i++)
        CU_ASSERT_EQUAL(batch.masks[i], i < PIXELS / 2 ? 0 : 1);
    CU_ASSERT(data_says(data, glcnn_dataset_decision,
                        "EXIF's orientation turns its picture and not the mask, which has the size "
                        "from before, and is turned alike"));
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
    write_turned("turned/images/a.jpg", 3);
    data = data_open("turned", &masks);
    CU_ASSERT(data_says(data, glcnn_dataset_decision,
                        "turns its picture and not the mask, which is taken to be drawn over the "
                        "turned picture"));
    glcnn_dataset_destroy(&data);
    data_write_png("turned/masks/a.png", &(struct data_png){.width = WIDTH,
                                                            .height = HEIGHT,
                                                            .colour_type = PNG_COLOR_TYPE_GRAY,
                                                            .orientation = 3,
                                                            .value = black_and_white});
    data = data_open("turned", &masks);
    for (uint32_t i = 0; glcnn_dataset_decision(data, i); i++)
        CU_ASSERT_PTR_NULL(strstr(glcnn_dataset_decision(data, i), "EXIF"));
    loader = data_load(data, &(struct glcnn_data_loader_parameters){.batch = 1});
    const struct glcnn_data_batch own = data_next(loader);
    CU_ASSERT_EQUAL(own.masks[0], 1);
    CU_ASSERT_EQUAL(own.masks[WIDTH - 1], 0);
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
}

/* https://labelstud.io/guide/export ("Brush labels to NumPy and PNG") and save_brush_images_from_annotation of
 * label_studio_converter/brush.py: a file for each stroke, and no picture. */
static void label_studio_brush(void)
{
    write_picture("brush/images/1.png");
    write_picture("brush/images/task-12.png");
    write_mask("brush/task-1-annotation-2-by-1-tag-cat-0.png", PNG_COLOR_TYPE_GRAY, left_stroke);
    write_mask("brush/task-1-annotation-2-by-1-tag-cat-1.png", PNG_COLOR_TYPE_GRAY, right_stroke);
    write_mask("brush/task-1-annotation-2-by-1-tag-wet-dog-0.png", PNG_COLOR_TYPE_GRAY,
               lower_stroke);
    write_mask("brush/task-12-annotation-9-by-me@a.b-tag-cat-0.png", PNG_COLOR_TYPE_GRAY,
               left_stroke);
    write_picture("brush/images/1b.png"); /* of no task: its name only begins with a number */
    data_write_text("brush/images/.hidden", "");
    glcnn_dataset *data = open_parts("brush", 3, 0, 0);
    CU_ASSERT_STRING_EQUAL(glcnn_dataset_info(data)->format, "brush");
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->ignored, 1);
    CU_ASSERT(data_says(data, glcnn_dataset_decision, "1b.png: no mask is of its task"));
    CU_ASSERT_STRING_EQUAL(data_describe_classes(data), "background cat wet-dog");
    expect_pixels(data, GLCNN_DATA_PART_TRAINING, "background 130 cat 50 wet-dog 20");
    CU_ASSERT_PTR_NULL(glcnn_dataset_note(data, 0));
    glcnn_dataset_destroy(&data);
    data = data_open("brush", &(struct glcnn_data_parameters){.targets = GLCNN_DATA_TARGETS_BOXES});
    CU_ASSERT_STRING_EQUAL(data_describe_boxes(data, GLCNN_DATA_PART_TRAINING),
                           "1.png: cat 0 0 0.25 0.4, cat 0.7 0 1 0.5, wet-dog 0 0.9 1 1; "
                           "1b.png; task-12.png: cat 0 0 0.25 0.4");
    CU_ASSERT(data_says(data, glcnn_dataset_decision, "objects have outlines, of which the boxes"));
    glcnn_dataset_destroy(&data);
    data_refuses(
        "brush", NULL, GLCNN_MALFORMED_DATA,
        "has masks of Label Studio's brush, which are no classes; masks are read as targets");
}

/* A stroke of soft edges alone has no pixel, and its object no box. */
static void empty_strokes_are_left_out(void)
{
    write_picture("strokes/images/1.png");
    write_mask("strokes/task-1-annotation-2-by-1-tag-cat-0.png", PNG_COLOR_TYPE_GRAY, left_stroke);
    write_mask("strokes/task-1-annotation-2-by-1-tag-cat-1.png", PNG_COLOR_TYPE_GRAY, no_stroke);
    glcnn_dataset *data =
        data_open("strokes", &(struct glcnn_data_parameters){.targets = GLCNN_DATA_TARGETS_BOXES});
    CU_ASSERT_STRING_EQUAL(data_describe_boxes(data, GLCNN_DATA_PART_TRAINING),
                           "1.png: cat 0 0 0.25 0.4");
    CU_ASSERT(data_says(data, glcnn_dataset_note,
                        "task 1: the box from 0, 0 to 0, 0 has no size, and is left out"));
    glcnn_dataset_destroy(&data);
}

static void brush_beside_the_list_of_tasks(void)
{
    static const char json[] =
        "[{\"id\": 7, \"data\": {\"image\": \"/data/upload/1/0a1b2c3d-a.png\"}, \"annotations\": []},"
        "{\"id\": 8, \"image\": \"/data/local-files/?d=set/b.png\"}, {\"id\": \"9\"}, 5,"
        "{\"id\": 900, \"text\": \"a picture\", \"image\": \"/data/local-files/?d=c.png\"},"
        "{\"id\": 901, \"image\": \"D:\\\\set\\\\d.png\"},"
        "{\"id\": 902, \"image\": \"/data/upload/1/0a1b2c3d_e.png\"}]";
    data_write_text("tasks/train/export.json", json);
    write_picture("tasks/train/7.png");
    write_picture("tasks/train/a.png");
    write_mask("tasks/train/task-7-annotation-2-by-1-tag-cat-0.png", PNG_COLOR_TYPE_GRAY,
               left_stroke);
    write_mask("tasks/train/task-7-annotation-10-by-2-tag-cat-0.png", PNG_COLOR_TYPE_GRAY,
               lower_stroke);
    data_write_text("tasks/val/export.json", json);
    write_picture("tasks/val/images/b.png");
    write_mask("tasks/val/masks/task-8-annotation-3-by-1-tag-cat-0.png", PNG_COLOR_TYPE_GRAY,
               right_stroke);
    write_mask("tasks/val/masks/task-9-annotation-4-by-1-tag-dog-0.png", PNG_COLOR_TYPE_GRAY,
               right_stroke);
    /* A list's pictures by what a URL has, by Windows' paths and by whole names alone. */
    for (int task = 900; task <= 902; task++) {
        char name[96];
        snprintf(name, sizeof name, "tasks/val/images/%c.png", "cde"[task - 900]);
        write_picture(name);
        snprintf(name, sizeof name, "tasks/val/masks/task-%d-annotation-1-by-1-tag-cat-0.png",
                 task);
        write_mask(name, PNG_COLOR_TYPE_GRAY, left_stroke);
    }
    glcnn_dataset *data = open_parts("tasks", 2, 4, 0);
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->ignored, 0);
    for (uint32_t i = 0; i < 4; i++) {
        uint8_t whole[PIXELS];
        CU_ASSERT_EQUAL(glcnn_dataset_read_mask(data, GLCNN_DATA_PART_VALIDATION, i, WIDTH, HEIGHT,
                                                whole, NULL),
                        GLCNN_SUCCESS);
        CU_ASSERT_EQUAL(whole[0], i == 1 || i == 2); /* of c and d; b has none there, and e none */
    }
    CU_ASSERT_STRING_EQUAL(data_describe_classes(data), "background cat");
    expect_pixels(data, GLCNN_DATA_PART_TRAINING, "background 200");
    expect_pixels(data, GLCNN_DATA_PART_VALIDATION, "background 170 cat 30");
    CU_ASSERT(
        data_says(data, glcnn_dataset_decision,
                  "train: task 7 has masks of several annotations, of which the last, 10, is"));
    CU_ASSERT(data_says(data, glcnn_dataset_decision, "7.png: no mask is of its task"));
    CU_ASSERT(data_says(data, glcnn_dataset_note, "task-9-annotation-4-by-1-tag-dog-0.png: "));
    glcnn_dataset_destroy(&data);
}

static void brush_is_refused(void)
{
    write_mask("unknown/task-1-annotation-2-by-1-tag-cat-0.png", PNG_COLOR_TYPE_GRAY, left_stroke);
    write_picture("unknown/images/a.png");
    data_refuses("unknown", &masks, GLCNN_MALFORMED_DATA, "no picture of ");
    data_refuses(
        "unknown", &masks, GLCNN_MALFORMED_DATA,
        "is known to be of a task; expected pictures called 1, 2 or task-1, task-2 as their");
    write_picture("unknown/images/1.png");
    data_write_png("unknown/task-1-annotation-2-by-1-tag-cat-1.png",
                   &(struct data_png){.width = 10, .height = 10, .value = grey});
    data_refuses("unknown", &masks, GLCNN_MALFORMED_DATA,
                 "cat-1.png: is 10x10, and another mask of its task 20x10; expected one size");
    data_write_text("unknown/task-1-annotation-2-by-1-tag-cat-1.png", "no picture");
    data_refuses("unknown", &masks, GLCNN_MALFORMED_DATA, "cat-1.png: ");
    data_write_text("unknown/task-1-annotation-2-by-1-tag-cat-2.png/1.txt", "a folder");
    unlink(data_path("unknown/task-1-annotation-2-by-1-tag-cat-1.png"));
    data_refuses("unknown", &masks, GLCNN_MALFORMED_DATA, "cat-2.png: is not a regular file");
    data_write_text("unknown/export.json", "[{");
    data_refuses("unknown", &masks, GLCNN_MALFORMED_DATA, "export.json: is not JSON");
}

/* What a loader has decoded is not decoded again for its whole size, which a file that is gone could not be. */
static void decode_once(bool one_is_read_before)
{
    char name[64];
    uint8_t whole[PIXELS];
    struct glcnn_data_parameters small = masks;
    small.width = small.height = 4;
    for (char letter = 'a'; letter <= 'c'; letter++) {
        snprintf(name, sizeof name, "once/images/%c.png", letter);
        write_picture(name);
        snprintf(name, sizeof name, "once/masks/%c.png", letter);
        write_mask(name, PNG_COLOR_TYPE_GRAY, letter == 'b' ? zero_and_one : zero_to_two);
    }
    data_write_text("once/classes.txt", "a\nb\nc\n");
    glcnn_dataset *data = data_open("once", &small);
    if (one_is_read_before)
        CU_ASSERT_EQUAL(
            glcnn_dataset_read_mask(data, GLCNN_DATA_PART_TRAINING, 0, WIDTH, HEIGHT, whole, NULL),
            GLCNN_SUCCESS);
    glcnn_data_loader *loader =
        data_load(data, &(struct glcnn_data_loader_parameters){.batch = 3, .threads = 1});
    CU_ASSERT_EQUAL(data_next(loader).filled, 3);
    for (char letter = 'a'; letter <= 'c'; letter++) {
        snprintf(name, sizeof name, "once/masks/%c.png", letter);
        CU_ASSERT_EQUAL(remove(data_path(name)), 0);
    }
    for (uint32_t i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(
            glcnn_dataset_read_mask(data, GLCNN_DATA_PART_TRAINING, i, WIDTH, HEIGHT, whole, NULL),
            GLCNN_SUCCESS);
        CU_ASSERT_EQUAL(whole[0], 0);
        CU_ASSERT_EQUAL(whole[WIDTH - 1], i == 1 ? 1 : 2);
    }
    /* Taken is taken. */
    CU_ASSERT_EQUAL(
        glcnn_dataset_read_mask(data, GLCNN_DATA_PART_TRAINING, 0, WIDTH, HEIGHT, whole, NULL),
        GLCNN_IO_ERROR);
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
}

static void masks_are_decoded_once(void)
{
    decode_once(true);
    decode_once(false);
}

/* Decoded masks do not stay if nobody reads masks whole. */
static void masks_that_nobody_reads_whole_are_released(void)
{
    enum { MANY = 65 };
    char name[64];
    uint8_t whole[PIXELS];
    struct glcnn_data_parameters small = masks;
    small.width = small.height = 4;
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "unread/images/%02d.png", i);
        write_picture(name);
        snprintf(name, sizeof name, "unread/masks/%02d.png", i);
        write_mask(name, PNG_COLOR_TYPE_GRAY, zero_and_one);
    }
    glcnn_dataset *data = data_open("unread", &small);
    glcnn_data_loader *loader =
        data_load(data, &(struct glcnn_data_loader_parameters){.batch = MANY, .threads = 1});
    CU_ASSERT_EQUAL(data_next(loader).filled, MANY);
    for (uint32_t i = 0; i < MANY - 1; i++) {
        snprintf(name, sizeof name, "unread/masks/%02u.png", i);
        CU_ASSERT_EQUAL(remove(data_path(name)), 0);
        CU_ASSERT_EQUAL(
            glcnn_dataset_read_mask(data, GLCNN_DATA_PART_TRAINING, i, WIDTH, HEIGHT, whole, NULL),
            GLCNN_IO_ERROR);
    }
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
}

int main(int argc, char **argv)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(cvat_segmentation_mask),
        UNIT_TEST(roboflow_masks),
        UNIT_TEST(voc_lists),
        UNIT_TEST(label_studio_brush),
        UNIT_TEST(empty_strokes_are_left_out),
        UNIT_TEST(brush_beside_the_list_of_tasks),
        UNIT_TEST(brush_is_refused),
        UNIT_TEST(colours_are_given),
        UNIT_TEST(few_pixels_may_have_other_colours),
        UNIT_TEST(soft_edges_are_no_classes),
        UNIT_TEST(values_of_one_part_are_told),
        UNIT_TEST(turned_pictures),
        UNIT_TEST(masks_are_decoded_once),
        UNIT_TEST(masks_that_nobody_reads_whole_are_released),
        CU_TEST_INFO_NULL,
    };
    int status = unit_run("data masks", tests, argc, argv);
    data_remove_folder();
    return status;
}
