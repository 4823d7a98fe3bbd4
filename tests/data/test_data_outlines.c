/* Outlines of objects as masks, and keypoints as numbers: what pycocotools and Ultralytics make of them. */
#include "tests/data_files.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit.h"

#define WIDTH  37
#define HEIGHT 23
#define PIXELS (WIDTH * HEIGHT)
#define SHAPES 200 /* that are drawn at random, a picture of each */

static const struct glcnn_data_parameters masks = {.targets = GLCNN_DATA_TARGETS_MASKS,
                                                   .width = WIDTH,
                                                   .height = HEIGHT},
                                          numbers = {.targets = GLCNN_DATA_TARGETS_NUMBERS};

/* ---- Files ---- */

static uint32_t grey(uint32_t x, uint32_t y, uint32_t c)
{
    return (x * 7 + y * 13 + c) % 256;
}

static void write_picture(const char *name)
{
    data_write_png(name, &(struct data_png){.width = WIDTH, .height = HEIGHT, .value = grey});
}

/* A text that grows. */
struct text {
    char *at;
    size_t length, room;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    if (text->room < text->length + 4096)
        text->at = realloc(text->at, text->room = 2 * text->room + 8192);
    va_start(arguments, format);
    text->length += (size_t)vsnprintf(text->at + text->length, 4096, format, arguments);
    va_end(arguments);
}

static void write_text(const char *name, struct text *text)
{
    data_write_text(name, text->at);
    free(text->at);
    *text = (struct text){.at = NULL};
}

/* The class of each pixel of a picture of the training part. */
static const uint8_t *mask_of(glcnn_dataset *data, glcnn_data_loader *loader)
{
    (void)data;
    const struct glcnn_data_batch batch = data_next(loader);
    return batch.masks;
}

static glcnn_data_loader *load(glcnn_dataset *data)
{
    return data_load(data, &(struct glcnn_data_loader_parameters){.batch = 1});
}

/* ---- The rule ---- */

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* rleFrPoly of pycocotools' common/maskApi.c, step by step: places of a fifth of a pixel along the boundary, where
 * these change their column, runs between them down the columns. Adds the ring to the mask. */
static void draw_plainly(const double *xy, int k, uint8_t *mask)
{
    const double scale = 5;
    int x[64], y[64], *u = malloc(200000 * sizeof *u), *v = malloc(200000 * sizeof *v), m = 0;
    for (int j = 0; j < k; j++) {
        x[j] = (int)(scale * xy[2 * j] + .5);
        y[j] = (int)(scale * xy[2 * j + 1] + .5);
    }
    x[k] = x[0];
    y[k] = y[0];
    for (int j = 0; j < k; j++) {
        int xs = x[j], xe = x[j + 1], ys = y[j], ye = y[j + 1], t;
        const int dx = abs(xe - xs), dy = abs(ys - ye);
        const bool flip = (dx >= dy && xs > xe) || (dx < dy && ys > ye);
        if (dx == 0 && dy == 0)
            continue; /* 0 / 0, which no column depends on */
        if (flip) {
            t = xs, xs = xe, xe = t;
            t = ys, ys = ye, ye = t;
        }
        const double s = dx >= dy ? (double)(ye - ys) / dx : (double)(xe - xs) / dy;
        for (int d = 0; d <= (dx >= dy ? dx : dy); d++, m++) {
            t = flip ? (dx >= dy ? dx : dy) - d : d;
            u[m] = dx >= dy ? t + xs : (int)(xs + s * t + .5);
            v[m] = dx >= dy ? (int)(ys + s * t + .5) : t + ys;
        }
    }
    int *a = malloc((size_t)(m + 1) * sizeof *a), n = 0;
    for (int j = 1; j < m; j++) {
        if (u[j] == u[j - 1])
            continue;
        double xd = u[j] < u[j - 1] ? u[j] : u[j] - 1, yd = v[j] < v[j - 1] ? v[j] : v[j - 1];
        xd = (xd + .5) / scale - .5;
        if (floor(xd) != xd || xd < 0 || xd > WIDTH - 1)
            continue;
        yd = (yd + .5) / scale - .5;
        yd = ceil(yd < 0 ? 0 : yd > HEIGHT ? HEIGHT : yd);
        a[n++] = (int)xd * HEIGHT + (int)yd;
    }
    qsort(a, (size_t)n, sizeof *a, by_number);
    a[n++] = PIXELS;
    for (int j = 0, at = 0; j < n; at = a[j++])
        for (int p = at; p < a[j] && j % 2 == 1; p++)
            mask[p % HEIGHT * WIDTH + p / HEIGHT] = 1;
    free(a);
    free(u);
    free(v);
}

/* ---- Random shapes ---- */

static uint32_t state = 1;

static uint32_t draw_number(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

/* Some points lie outside of the picture, on whole pixels, or twice at one place. */
static int draw_ring(double *xy)
{
    const int count = 3 + (int)draw_number(9);
    const bool is_whole = draw_number(3) == 0;
    for (int i = 0; i < count; i++) {
        double *at = xy + 2 * i;
        at[0] = (double)draw_number((WIDTH + 10) * 64) / 64 - 5;
        at[1] = (double)draw_number((HEIGHT + 10) * 64) / 64 - 5;
        if (is_whole)
            at[0] = floor(at[0]), at[1] = floor(at[1]);
        if (i > 0 && draw_number(8) == 0)
            at[0] = at[-2], at[1] = at[-1];
    }
    return count;
}

/* Column by column, as runs, plain or in pycocotools' letters (rleToString). */
static void add_runs(struct text *text, const uint8_t *mask, bool in_letters)
{
    long runs[PIXELS + 1];
    int count = 0, last = 0;
    runs[0] = 0;
    for (int p = 0; p < PIXELS; p++) {
        const int is_in = mask[p % HEIGHT * WIDTH + p / HEIGHT];
        if (is_in != last)
            runs[++count] = 0;
        runs[count]++;
        last = is_in;
    }
    add(text, "{\"size\": [%d, %d], \"counts\": %s", HEIGHT, WIDTH, in_letters ? "\"" : "[");
    for (int i = 0; i <= count; i++) {
        long x = runs[i] - (i > 2 ? runs[i - 2] : 0);
        bool more = in_letters;
        if (!in_letters)
            add(text, "%s%ld", i ? ", " : "", x + (i > 2 ? runs[i - 2] : 0));
        while (more) {
            long c = x & 0x1f;
            x >>= 5;
            more = c & 0x10 ? x != -1 : x != 0;
            c = (c | (more ? 0x20 : 0)) + 48;
            add(text, c == '\\' ? "\\\\" : "%c", (char)c);
        }
    }
    add(text, "%s}", in_letters ? "\"" : "]");
}

/* One object in three has two rings; of each kind of text there are as many. */
static void add_shape(struct text *text, int number, uint8_t *mask)
{
    struct text rings = {.at = NULL};
    double xy[64];
    memset(mask, 0, PIXELS);
    for (int ring = 0; ring < 1 + (number % 3 == 0); ring++) {
        const int count = draw_ring(xy);
        draw_plainly(xy, count, mask);
        add(&rings, "%s", ring ? ", [" : "[");
        for (int i = 0; i < 2 * count; i++)
            add(&rings, "%s%.17g", i ? ", " : "", xy[i]);
        add(&rings, "]");
    }
    add(text, "%s{\"image_id\": %d, \"category_id\": 1, \"bbox\": [0, 0, 9, 9], \"segmentation\": ",
        number ? ", " : "", number);
    if (number % 4 < 2)
        add(text, "[%s]", rings.at);
    else
        add_runs(text, mask, number % 4 == 3);
    add(text, "}");
    free(rings.at);
}

static void random_shapes_are_pycocotools(void)
{
    static uint8_t expected[SHAPES][PIXELS];
    struct text text = {.at = NULL}, images = {.at = NULL};
    char name[64];
    for (int i = 0; i < SHAPES; i++) {
        snprintf(name, sizeof name, "shapes/images/%03d.png", i);
        write_picture(name);
        add(&images, "%s{\"id\": %d, \"file_name\": \"%03d.png\"}", i ? ", " : "", i, i);
    }
    add(&text, "{\"annotations\": [");
    for (int i = 0; i < SHAPES; i++)
        add_shape(&text, i, expected[i]);
    add(&text, "], \"categories\": [{\"id\": 1, \"name\": \"cat\"}], \"images\": [");
    text.at = realloc(text.at, text.length + images.length + 8192);
    text.room = text.length + images.length + 8192;
    memcpy(text.at + text.length, images.at, images.length + 1);
    text.length += images.length;
    free(images.at);
    add(&text, "]}");
    write_text("shapes/annotations/instances_train.json", &text);
    glcnn_dataset *data = data_open("shapes", &masks);
    glcnn_data_loader *loader = load(data);
    int wrong = 0, pixels = 0;
    for (int i = 0; i < SHAPES; i++) {
        const uint8_t *found = mask_of(data, loader);
        wrong += memcmp(found, expected[i], PIXELS) != 0;
        for (int p = 0; p < PIXELS; p++)
            pixels += found[p];
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(pixels > SHAPES * PIXELS / 8);
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
}

/* ---- Classes ---- */

/* "a.png: background 700 cat 151": of each class the pixels. */
static void expect_pixels(glcnn_dataset *data, const char *expected)
{
    char text[512];
    size_t length = 0;
    glcnn_data_loader *loader = load(data);
    const struct glcnn_data_info *info = glcnn_dataset_info(data);
    for (uint32_t i = 0; i < info->counts[GLCNN_DATA_PART_TRAINING]; i++) {
        uint32_t counts[256] = {0};
        const uint8_t *found = mask_of(data, loader);
        for (int p = 0; p < PIXELS; p++)
            counts[found[p]]++;
        length += (size_t)snprintf(text + length, sizeof text - length, "%s", i ? ";" : "");
        for (uint32_t k = 0; k < 256; k++)
            if (counts[k] > 0)
                length += (size_t)snprintf(
                    text + length, sizeof text - length, "%s%s %u", length ? " " : "",
                    k < info->class_count ? info->class_names[k] : "none", counts[k]);
    }
    CU_ASSERT_STRING_EQUAL(text, expected);
    if (strcmp(text, expected) != 0)
        printf("\n    \"%s\", expected \"%s\"\n", text, expected);
    glcnn_data_loader_destroy(&loader);
}

#define IMAGE "\"images\": [{\"id\": 1, \"file_name\": \"a.png\"}], "
#define CATEGORIES                                                                                 \
    "\"categories\": [{\"id\": 3, \"name\": \"dog\"}, {\"id\": 1, \"name\": \"cat\"}]"
/* 10 x 10 and 5 x 5 pixels, the second in the first. */
#define LARGE "\"category_id\": 1, \"segmentation\": [[0, 0, 10, 0, 10, 10, 0, 10]]"
#define SMALL "\"category_id\": 3, \"segmentation\": [[5, 5, 10, 5, 10, 10, 5, 10]]"
#define BARE  "\"category_id\": 3, \"segmentation\": [], \"bbox\": [20, 10, 4, 4]"

static void write_coco(const char *folder, const char *annotations)
{
    char name[128];
    struct text text = {.at = NULL};
    snprintf(name, sizeof name, "%s/images/a.png", folder);
    write_picture(name);
    add(&text, "{" IMAGE "\"annotations\": [%s], " CATEGORIES "}", annotations);
    snprintf(name, sizeof name, "%s/result.json", folder);
    write_text(name, &text);
}

/* Objects that come later cover those before, and pixels of none are the background. */
static void classes_of_coco(void)
{
    static const char *const given[] = {"dog", "background", "cat"}, *const no_background[] = {
                                                                         "dog", "cat"};
    struct glcnn_data_parameters known = masks;
    write_coco("classes", "{\"image_id\": 1, " LARGE "}, {\"image_id\": 1, " SMALL
                          "}, {\"image_id\": 1, " BARE "}");
    glcnn_dataset *data = data_open("classes", &masks);
    CU_ASSERT_STRING_EQUAL(glcnn_dataset_info(data)->format, "coco");
    CU_ASSERT_STRING_EQUAL(data_describe_classes(data), "background cat dog");
    expect_pixels(data, "background 735 cat 75 dog 25 none 16");
    CU_ASSERT(
        data_says(data, glcnn_dataset_decision, "pixels of none are the class \"background\""));
    CU_ASSERT(
        data_says(data, glcnn_dataset_note,
                  "annotations[2]: is a box without an outline, so its pixels have no class"));
    const uint64_t digest = glcnn_dataset_mask_digest(data, GLCNN_DATA_PART_TRAINING, 0);
    glcnn_dataset_destroy(&data);
    known.class_names = given;
    known.class_count = 3;
    data = data_open("classes", &known);
    expect_pixels(data, "dog 25 background 735 cat 75 none 16");
    CU_ASSERT_NOT_EQUAL(glcnn_dataset_mask_digest(data, GLCNN_DATA_PART_TRAINING, 0), digest);
    glcnn_dataset_destroy(&data);
    known.class_names = no_background;
    known.class_count = 2;
    data = data_open("classes", &known);
    expect_pixels(data, "dog 25 cat 75 none 751");
    CU_ASSERT(data_says(data, glcnn_dataset_decision, "pixels of none have no class"));
    glcnn_dataset_destroy(&data);
    write_coco("all_bare", "{\"image_id\": 1, " BARE "}");
    data_refuses("all_bare", &masks, GLCNN_MALFORMED_DATA,
                 "no picture of the training part has an object with an outline");
    write_coco("far",
               "{\"image_id\": 1, \"category_id\": 1, \"segmentation\": [[0, 0, 1e9, 0, 0, 9]]}");
    data_refuses("far", &masks, GLCNN_MALFORMED_DATA,
                 "annotations[0]: has a point beyond all pictures");
    write_coco("far",
               "{\"image_id\": 1, \"category_id\": 1, \"segmentation\": [[0, 0, 100, 0, 0, 9]]}");
    data_refuses("far", &masks, GLCNN_MALFORMED_DATA, "lies farther outside of its picture");
    write_coco("far", "{\"image_id\": 1, \"category_id\": 1, \"segmentation\": {\"size\": [9, 9], "
                      "\"counts\": [3, 4, 74]}}");
    data_refuses("far", &masks, GLCNN_MALFORMED_DATA,
                 "runs of pixels of a picture of another size");
}

/* https://docs.ultralytics.com/datasets/segment/: shares of the picture. A picture without objects is background. */
static void outlines_of_ultralytics(void)
{
    static const char *const named[] = {"background", "left", "right"};
    struct glcnn_data_parameters known = masks;
    write_picture("segment/images/a.png");
    write_picture("segment/images/b.png");
    data_write_text("segment/labels/a.txt", "1 0 0 0.5 0 0.5 1 0 1\n0 0.25 0 1 0 1 0.5 0.25 0.5\n");
    data_write_text("segment/labels/b.txt", "");
    data_write_text("segment/data.yaml", "names: [cat, dog]\n");
    CU_ASSERT_EQUAL(glcnn_data_guess_targets(data_path("segment")), GLCNN_DATA_TARGETS_BOXES);
    glcnn_dataset *data = data_open("segment", &masks);
    CU_ASSERT_STRING_EQUAL(data_describe_classes(data), "background cat dog");
    uint8_t expected[PIXELS] = {0};
    uint32_t counts[3] = {0};
    uint8_t ring[PIXELS] = {0};
    draw_plainly((const double[]){0, 0, 0.5 * WIDTH, 0, 0.5 * WIDTH, HEIGHT, 0, HEIGHT}, 4, ring);
    for (int p = 0; p < PIXELS; p++)
        expected[p] = ring[p] ? 2 : expected[p];
    memset(ring, 0, sizeof ring);
    draw_plainly((const double[]){0.25 * WIDTH, 0, WIDTH, 0, WIDTH, 0.5 * HEIGHT, 0.25 * WIDTH,
                                  0.5 * HEIGHT},
                 4, ring);
    for (int p = 0; p < PIXELS; p++)
        expected[p] = ring[p] ? 1 : expected[p];
    for (int p = 0; p < PIXELS; p++)
        counts[expected[p]]++;
    CU_ASSERT(counts[0] > 0 && counts[1] > 0 && counts[2] > 0);
    glcnn_data_loader *loader = load(data);
    CU_ASSERT_EQUAL(memcmp(mask_of(data, loader), expected, PIXELS), 0);
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
    data =
        data_open("segment", &(struct glcnn_data_parameters){.targets = GLCNN_DATA_TARGETS_BOXES});
    CU_ASSERT(data_says(data, glcnn_dataset_decision, "(--task segment) learn their pixels"));
    glcnn_dataset_destroy(&data);
    /* Without a list numbers count objects, also where a network names them and the background. */
    data_write_text("segment/data.yaml", "nc: 2\n");
    CU_ASSERT_EQUAL(remove(data_path("segment/data.yaml")), 0);
    data = data_open("segment", &masks);
    CU_ASSERT_STRING_EQUAL(data_describe_classes(data), "background 0 1");
    glcnn_dataset_destroy(&data);
    known.class_names = named;
    known.class_count = 3;
    data = data_open("segment", &known);
    loader = load(data);
    CU_ASSERT_EQUAL(memcmp(mask_of(data, loader), expected, PIXELS), 0);
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
}

static uint32_t corner(uint32_t x, uint32_t y, uint32_t c)
{
    (void)c;
    return x + y < 3 ? 0 : 1;
}

static void write_base64(struct text *text, const uint8_t *bytes, size_t size)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (i + k < size ? bytes[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            add(text, "%c", i + k > size ? '=' : letters[bits >> (18 - 6 * k) & 63]);
    }
}

/* labelme/_label_file.py: shapes of one group are one object; a mask is a PNG of the rectangle of its points. */
static void shapes_of_labelme(void)
{
    uint8_t png[4096];
    struct text text = {.at = NULL};
    write_picture("labelme/a.png");
    data_write_png("corner.png", &(struct data_png){.width = 5, .height = 4, .value = corner});
    const size_t size = data_read("corner.png", png, sizeof png);
    add(&text, "{\"version\": \"5.4.1\", \"flags\": {}, \"shapes\": ["
               "{\"label\": \"cat\", \"points\": [[0, 0], [10, 10]], \"group_id\": null, "
               "\"shape_type\": \"rectangle\", \"flags\": {}}, "
               "{\"label\": \"dog\", \"points\": [[20, 10], [24, 13]], \"group_id\": null, "
               "\"shape_type\": \"mask\", \"mask\": \"");
    write_base64(&text, png, size);
    add(&text, "\"}], \"imagePath\": \"a.png\", \"imageHeight\": %d, \"imageWidth\": %d}", HEIGHT,
        WIDTH);
    write_text("labelme/a.json", &text);
    glcnn_dataset *data = data_open("labelme", &masks);
    CU_ASSERT_STRING_EQUAL(glcnn_dataset_info(data)->format, "labelme");
    expect_pixels(data, "background 737 cat 100 dog 14");
    glcnn_data_loader *loader = load(data);
    const uint8_t *found = mask_of(data, loader);
    for (uint32_t y = 0; y < 4; y++)
        for (uint32_t x = 0; x < 5; x++)
            CU_ASSERT_EQUAL(found[(10 + y) * WIDTH + 20 + x], 2 * corner(x, y, 0));
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
    data_write_text("labelme/a.json",
                    "{\"shapes\": [{\"label\": \"cat\", \"points\": [[1, 1], [2, 2]], "
                    "\"shape_type\": \"mask\", \"mask\": \"AAAA\"}], \"imagePath\": \"a.png\"}");
    data_refuses("labelme", &masks, GLCNN_MALFORMED_DATA,
                 "shapes[0].mask is missing; expected a PNG");
    data_write_text(
        "labelme/a.json",
        "{\"shapes\": [{\"label\": \"cat\", \"points\": [[1, 1], [2]]}], \"imagePath\": 1}");
    data_refuses("labelme", &masks, GLCNN_MALFORMED_DATA, "shapes[0]: has too few points");
    data_write_text("labelme/a.json",
                    "{\"shapes\": [{\"label\": \"cat\", \"shape_type\": \"cube\"}]}");
    data_refuses("labelme", &masks, GLCNN_MALFORMED_DATA, "has a shape_type that is not known");
}

/* ---- Keypoints ---- */

static void expect_numbers(const glcnn_dataset *data, uint32_t index, const float *expected)
{
    const float *found = glcnn_dataset_numbers(data, GLCNN_DATA_PART_TRAINING, index);
    CU_ASSERT(found && memcmp(found, expected, 6 * sizeof *found) == 0);
    for (int i = 0; found && i < 6; i++)
        if (found[i] != expected[i])
            printf("\n    number %d of %u: %g, expected %g\n", i, index, (double)found[i],
                   (double)expected[i]);
}

#define PERSON(image, box, points)                                                                 \
    "{\"image_id\": " image ", \"category_id\": 1, \"bbox\": " box ", \"keypoints\": " points "}"

/* https://cocodataset.org/#format-data: v is 0 of what is not labelled, 1 of what is hidden. */
static void keypoints_of_coco(void)
{
    static const char *const names[] = {"nose_x", "nose_y",  "left_x",
                                        "left_y", "right_x", "right_y"},
                             *const others[] = {"right_x", "right_y", "left_x",
                                                "left_y",  "nose_x",  "nose_y"};
    struct glcnn_data_parameters known = numbers;
    write_picture("person/images/a.png");
    write_picture("person/images/b.png");
    write_picture("person/images/c.png");
    data_write_text(
        "person/annotations/person_keypoints_train.json",
        "{\"images\": [{\"id\": 1, \"file_name\": \"a.png\"}, {\"id\": 2, \"file_name\": "
        "\"b.png\"}, {\"id\": 3, \"file_name\": \"c.png\"}], \"annotations\": [" PERSON("1", "[0,0,9,9]", "[1, 2, 2, 30.5, 20, 1, 0, 0, 0]") ", " PERSON(
            "2", "[0,0,4,4]",
            "[1, 1, 2, 1, 1, 2, 1, 1, 2]") ", " PERSON("2", "[0,0,9,9]",
                                                       "[0, 0, 2, 5, 6, 0, 7, 8, 2]") ", " PERSON("3",
                                                                                                  "[0,0,9,9]",
                                                                                                  "[0, 0, 0, 0, 0, 0, 0, 0, 0]") "], \"categories\": [{\"id\": 1, \"name\": \"person\", \"keypoints\": [\"nose\", "
                                                                                                                                 "\"left\", \"right\"], \"skeleton\": [[1, 2]]}]}");
    CU_ASSERT_EQUAL(glcnn_data_guess_targets(data_path("person")), GLCNN_DATA_TARGETS_BOXES);
    glcnn_dataset *data = data_open("person", &numbers);
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->class_count, 6);
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->counts[GLCNN_DATA_PART_TRAINING], 2);
    for (uint32_t i = 0; i < 6; i++)
        CU_ASSERT_STRING_EQUAL(glcnn_dataset_info(data)->class_names[i], names[i]);
    expect_numbers(data, 0, (const float[]){1, 2, 30.5f, 20, -1, -1});
    expect_numbers(data, 1, (const float[]){0, 0, -1, -1, 7, 8});
    CU_ASSERT(data_says(data, glcnn_dataset_note, "c.png: has no object with labelled keypoints"));
    CU_ASSERT(
        data_says(data, glcnn_dataset_decision,
                  "b.png: has 2 objects with keypoints, and those of the largest box are taken"));
    glcnn_dataset_destroy(&data);
    known.class_names = others;
    known.class_count = 6;
    data = data_open("person", &known);
    expect_numbers(data, 0, (const float[]){-1, -1, 30.5f, 20, 1, 2});
    glcnn_dataset_destroy(&data);
    known.class_count = 4;
    data_refuses("person", &known, GLCNN_MALFORMED_DATA,
                 "has 3 keypoints, and there are 4 numbers");
}

/* https://docs.ultralytics.com/datasets/pose/ */
static void keypoints_of_ultralytics(void)
{
    write_picture("pose/images/a.png");
    write_picture("pose/images/b.png");
    data_write_text("pose/labels/a.txt", "0 0.5 0.5 0.5 0.5 0.5 0.5 2 0.25 1 1 0 0 0\n");
    data_write_text("pose/labels/b.txt", "0 0.5 0.5 0.5 0.5 0 0 1 1 1 2 0.5 0.5 0\n");
    data_write_text("pose/data.yaml", "names: [cat]\nkpt_shape: [3, 3]\nflip_idx: [0, 2, 1]\n"
                                      "kpt_names:\n  0: [nose, left, right]\n");
    glcnn_dataset *data = data_open("pose", &numbers);
    CU_ASSERT_STRING_EQUAL(data_describe_classes(data),
                           "nose_x nose_y left_x left_y right_x right_y");
    expect_numbers(data, 0, (const float[]){18.5f, 11.5f, 9.25f, 23, -1, -1});
    expect_numbers(data, 1, (const float[]){0, 0, 37, 23, -1, -1});
    glcnn_dataset_destroy(&data);
    /* Of two numbers a point at 0, 0 is not labelled. */
    data_write_text("pose/labels/a.txt", "0 0.5 0.5 0.5 0.5 0.5 0.5 0.25 1 0 0\n");
    data_write_text("pose/labels/b.txt", "0 0.5 0.5 0.5 0.5 0.5 0.5 0.25 1\n");
    data_write_text("pose/data.yaml", "names: [cat]\nkpt_shape: [3, 2]\n");
    data = data_open("pose", &numbers);
    CU_ASSERT_STRING_EQUAL(data_describe_classes(data), "0_x 0_y 1_x 1_y 2_x 2_y");
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->counts[GLCNN_DATA_PART_TRAINING], 1);
    expect_numbers(data, 0, (const float[]){18.5f, 11.5f, 9.25f, 23, -1, -1});
    CU_ASSERT(data_says(data, glcnn_dataset_note, "b.txt: line 1: has 9 fields; expected 11"));
    glcnn_dataset_destroy(&data);
}

/* Columns of a CSV, as "glcnn train --task keypoints" reads them. */
static void points_that_are_odd_are_told(void)
{
    write_picture("shares/a.png");
    write_picture("shares/b.png");
    data_write_text("shares/list.csv", "file,nose_x,nose_y\na.png,0.5,0.25\nb.png,1,0.75\n");
    glcnn_dataset *data = data_open("shares", &numbers);
    CU_ASSERT(data_says(data, glcnn_dataset_decision, "all points lie within 0 to 1, as shares"));
    glcnn_dataset_destroy(&data);
    data_write_text("shares/list.csv", "file,nose_x,nose_y\na.png,12,9\nb.png,0,0\n");
    data = data_open("shares", &numbers);
    CU_ASSERT(data_says(data, glcnn_dataset_decision,
                        "1 points lie at 0, 0, the corner of their pictures; of those that are not "
                        "labelled -1, -1 is expected"));
    glcnn_dataset_destroy(&data);
    data_write_text("shares/list.csv", "file,nose_x,nose_y\na.png,12,9\nb.png,-1,-1\n");
    data = data_open("shares", &numbers);
    CU_ASSERT_PTR_NULL(glcnn_dataset_decision(data, 0));
    glcnn_dataset_destroy(&data);
}

int main(int argc, char **argv)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(random_shapes_are_pycocotools),
        UNIT_TEST(classes_of_coco),
        UNIT_TEST(outlines_of_ultralytics),
        UNIT_TEST(shapes_of_labelme),
        UNIT_TEST(keypoints_of_coco),
        UNIT_TEST(keypoints_of_ultralytics),
        UNIT_TEST(points_that_are_odd_are_told),
        CU_TEST_INFO_NULL,
    };
    int status = unit_run("data outlines", tests, argc, argv);
    data_remove_folder();
    return status;
}
