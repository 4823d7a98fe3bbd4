/* Targets other than classes: numbers of tables and of lists of pictures, and masks. */
#include "tests/data_files.h"

#include <math.h>
#include <png.h>

#include "tests/unit.h"

static const struct glcnn_data_parameters numbers = {.targets = GLCNN_DATA_TARGETS_NUMBERS},
                                          masks = {.targets = GLCNN_DATA_TARGETS_MASKS};

/* The first batch of a part, in its order. */
static struct glcnn_data_batch first_batch(glcnn_dataset *data, glcnn_data_part part,
                                           uint32_t batch, glcnn_data_loader **loader)
{
    *loader = data_load(data, &(struct glcnn_data_loader_parameters){.part = part, .batch = batch});
    return data_next(*loader);
}

static void expect_note(glcnn_dataset *data, uint32_t number, const char *phrase)
{
    const char *note = glcnn_dataset_note(data, number);
    CU_ASSERT_PTR_NOT_NULL_FATAL(note);
    CU_ASSERT_PTR_NOT_NULL(strstr(note, phrase));
    if (!strstr(note, phrase))
        printf("\n    \"%s\" has no \"%s\"", note, phrase);
}

static void expect_decision(glcnn_dataset *data, uint32_t number, const char *phrase)
{
    const char *decision = glcnn_dataset_decision(data, number);
    CU_ASSERT_PTR_NOT_NULL_FATAL(decision);
    CU_ASSERT_PTR_NOT_NULL(strstr(decision, phrase));
    if (!strstr(decision, phrase))
        printf("\n    \"%s\" has no \"%s\"", decision, phrase);
}

/* ---- Numbers ---- */

static void rows_of_arrays_are_numbers(void)
{
    static const uint8_t images[3 * 4] = {1};
    static const float rows[6] = {0.5f, -1, 2, 3, 4, -5.25f}, bad[3] = {0, 1, 1.0f / 0.0f};
    glcnn_data_loader *loader;
    data_write_npy("arrays/images.npy", "|u1", "(3, 2, 2)", images, 12);
    data_write_npy("arrays/labels.npy", "<f4", "(3, 2)", rows, sizeof rows);
    glcnn_dataset *data = data_open("arrays", &numbers);
    const struct glcnn_data_info *info = glcnn_dataset_info(data);
    CU_ASSERT_EQUAL(info->class_count, 2);
    CU_ASSERT_STRING_EQUAL(info->class_names[1], "number 1");
    CU_ASSERT_EQUAL(glcnn_dataset_label(data, GLCNN_DATA_PART_TRAINING, 0), GLCNN_DATA_NO_LABEL);
    CU_ASSERT_EQUAL(glcnn_dataset_numbers(data, GLCNN_DATA_PART_TRAINING, 2)[1], -5.25f);
    CU_ASSERT_PTR_NULL(glcnn_dataset_numbers(data, GLCNN_DATA_PART_TRAINING, 3));
    struct glcnn_data_batch batch = first_batch(data, GLCNN_DATA_PART_TRAINING, 4, &loader);
    CU_ASSERT_PTR_NULL(batch.masks);
    for (int i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(batch.numbers[i], rows[i]);
    CU_ASSERT_EQUAL(batch.numbers[6], 0);
    CU_ASSERT_EQUAL(batch.labels[2], 0);
    CU_ASSERT_EQUAL(batch.labels[3], GLCNN_DATA_NO_LABEL);
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
    data_write_npy("arrays/labels.npy", "<f4", "(3,)", bad, sizeof bad);
    data_refuses("arrays", &numbers, GLCNN_MALFORMED_DATA, "number 0 of label 2 is inf");
    data_write_npy("arrays/labels.npy", "<f4", "(2, 3)", rows, sizeof rows);
    data_refuses("arrays", &numbers, GLCNN_MALFORMED_DATA, "expected a row");
}

static void a_split_keeps_numbers_with_their_images(void)
{
    enum { COUNT = 40 };
    uint8_t images[COUNT];
    float rows[COUNT];
    glcnn_data_loader *loader;
    for (int i = 0; i < COUNT; i++) {
        images[i] = (uint8_t)(3 * i);
        rows[i] = (float)i / 2;
    }
    data_write_npy("split/images.npy", "|u1", "(40, 1, 1)", images, sizeof images);
    data_write_npy("split/labels.npy", "<f4", "(40,)", rows, sizeof rows);
    struct glcnn_data_parameters p = numbers;
    p.validation = 0.25;
    glcnn_dataset *data = data_open("split", &p);
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->counts[GLCNN_DATA_PART_TRAINING], 30);
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->counts[GLCNN_DATA_PART_VALIDATION], 10);
    struct glcnn_data_batch batch = first_batch(data, GLCNN_DATA_PART_VALIDATION, 10, &loader);
    for (uint32_t i = 0; i < 10; i++) {
        CU_ASSERT_EQUAL(batch.numbers[i] * 6, (float)(int)(batch.floats[i] * 255 + 0.5f));
        CU_ASSERT_EQUAL(glcnn_dataset_numbers(data, GLCNN_DATA_PART_VALIDATION, i)[0],
                        batch.numbers[i]);
    }
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
}

static void a_column_of_a_table_is_a_number(void)
{
    data_write_text("column.csv", "id,y,a,b\n1,-0.5,1,2\n2,7e2,3,4\n");
    glcnn_dataset *data = data_open("column.csv", &numbers);
    CU_ASSERT_STRING_EQUAL(glcnn_dataset_info(data)->class_names[0], "number");
    CU_ASSERT_EQUAL(glcnn_dataset_numbers(data, GLCNN_DATA_PART_TRAINING, 0)[0], -0.5f);
    CU_ASSERT_EQUAL(glcnn_dataset_numbers(data, GLCNN_DATA_PART_TRAINING, 1)[0], 700);
    glcnn_dataset_destroy(&data);
    data_write_text("column.csv", "y,a,b\nlow,1,2\n");
    data_refuses("column.csv", &numbers, GLCNN_MALFORMED_DATA, "line 2: the label is \"low\"");
    data_write_text("column.csv", "1,2,3\n4,5,6\n");
    data_refuses("column.csv", &numbers, GLCNN_MALFORMED_DATA, "no column is named");
}

static uint32_t dark(uint32_t x, uint32_t y, uint32_t c)
{
    return x + y + c;
}

static void write_picture(const char *name, uint32_t width, uint32_t height)
{
    data_write_png(name, &(struct data_png){.width = width,
                                            .height = height,
                                            .colour_type = PNG_COLOR_TYPE_GRAY,
                                            .value = dark});
}

static void a_list_names_pictures(void)
{
    write_picture("list/images/a.png", 8, 8);
    write_picture("list/b.png", 8, 8);
    write_picture("list/images/c.png", 8, 8);
    data_write_text("list/any.csv", "id,Angle,file_name,width\n0,-4.5,b.png,1\n1,90,a.png,2e3\n");
    glcnn_dataset *data = data_open("list", &numbers);
    const struct glcnn_data_info *info = glcnn_dataset_info(data);
    CU_ASSERT_STRING_EQUAL(info->format, "pictures");
    CU_ASSERT_EQUAL(info->counts[0], 2);
    CU_ASSERT_EQUAL_FATAL(info->class_count, 2);
    CU_ASSERT_STRING_EQUAL(info->class_names[0], "Angle");
    CU_ASSERT_STRING_EQUAL(info->class_names[1], "width");
    CU_ASSERT_EQUAL(glcnn_dataset_numbers(data, GLCNN_DATA_PART_TRAINING, 0)[0], -4.5f);
    CU_ASSERT_EQUAL(glcnn_dataset_numbers(data, GLCNN_DATA_PART_TRAINING, 1)[1], 2000);
    expect_note(data, 0, "names 1 picture of the folder in no line, of which c.png is the first");
    glcnn_dataset_destroy(&data);
}

static void pictures_that_are_not_read_are_counted(void)
{
    write_picture("unread/b.png", 8, 8);
    data_write_text("unread/c.gif", "GIF89a, and what follows");
    data_write_text("unread/list.csv", "file,y\nb.png,1\nc.gif,2\n");
    glcnn_dataset *data = data_open("unread", &numbers);
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->counts[0], 1);
    expect_note(data, 0, "list.csv: 1 picture in unsupported formats (1 GIF)");
    glcnn_dataset_destroy(&data);
    write_picture("hidden/images/b.png", 8, 6);
    data_write_png("hidden/masks/b.png",
                   &(struct data_png){
                       .width = 8, .height = 6, .colour_type = PNG_COLOR_TYPE_GRAY, .value = dark});
    data_write_text("hidden/images/c.gif", "GIF89a, and what follows");
    data = data_open("hidden", &masks);
    expect_note(data, 0, "hidden/images: 1 picture in unsupported formats (1 GIF)");
    glcnn_dataset_destroy(&data);
}

static void lists_are_refused_by_line(void)
{
    static const struct {
        const char *text, *phrase;
    } rows[] = {
        {"file,y\nb.png,1\nnone.png,2\n", "line 3: there is no picture \"none.png\""},
        {"file,y\nb.png,1\nb.png,2\n", "line 3: names the picture \"b.png\" a second time"},
        {"file,y\nb.png,x\n", "line 2, field 2: \"x\" is not a finite number"},
        {"file,y\nb.png\n", "line 2: has 1 fields, and the first line has 2"},
        {"file,id\nb.png,1\n", "line 1: has 0 columns of numbers"},
        {"file,y,y\nb.png,1,2\n", "line 1: names the column \"y\" twice"},
    };
    write_picture("lines/b.png", 8, 8);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        data_write_text("lines/train.csv", rows[i].text);
        data_refuses("lines", &numbers, GLCNN_MALFORMED_DATA, rows[i].phrase);
    }
    data_write_text("lines/train.csv", "file,y\nb.png,1\n");
    data_write_text("lines/test.csv", "file,z\nb.png,1\n");
    data_refuses("lines", &numbers, GLCNN_MALFORMED_DATA, "has the column \"z\"; expected \"y\"");
    data_write_text("lines/test.csv", "file,y,z\nb.png,1,2\n");
    data_refuses("lines", &numbers, GLCNN_MALFORMED_DATA, "expected 1, as the names say");
}

/* A part, or a network, has the same columns in another order. */
static void columns_are_matched_by_name(void)
{
    static const char *const names[] = {"w", "y", "x"};
    struct glcnn_data_parameters p = numbers;
    write_picture("columns/b.png", 8, 8);
    write_picture("columns/c.png", 8, 8);
    data_write_text("columns/train.csv", "file,x,y,w\nb.png,1,2,3\n");
    data_write_text("columns/test.csv", "y,file,w,x\n5,c.png,6,4\n");
    p.class_names = names;
    p.class_count = 3;
    for (int is_given = 0; is_given < 2; is_given++) {
        static const float rows[2][2][3] = {{{1, 2, 3}, {4, 5, 6}}, {{3, 2, 1}, {6, 5, 4}}};
        glcnn_dataset *data = data_open("columns", is_given ? &p : &numbers);
        for (int part = 0; part < 2; part++) {
            const float *row = glcnn_dataset_numbers(
                data, part ? GLCNN_DATA_PART_TEST : GLCNN_DATA_PART_TRAINING, 0);
            for (int k = 0; k < 3; k++)
                CU_ASSERT_EQUAL(row[k], rows[is_given][part][k]);
        }
        expect_decision(data, 0, "the other way round; they are matched by name");
        glcnn_dataset_destroy(&data);
    }
}

/* ---- Masks ---- */

static uint32_t by_columns(uint32_t x, uint32_t y, uint32_t c)
{
    (void)c;
    return y == 0 ? 255 : x < 4 ? 0 : x < 6 ? 3 : 9;
}

static uint32_t black_and_white(uint32_t x, uint32_t y, uint32_t c)
{
    (void)y, (void)c;
    return x < 4 ? 0 : 255;
}

static void write_mask(const char *name, uint32_t width, uint32_t height, int colour_type,
                       data_value value)
{
    data_write_png(
        name, &(struct data_png){
                  .width = width, .height = height, .colour_type = colour_type, .value = value});
}

static void values_of_masks_are_classes(void)
{
    glcnn_data_loader *loader;
    write_picture("values/images/train/a.png", 8, 6);
    write_picture("values/images/train/without.png", 8, 6);
    write_picture("values/images/val/b.png", 8, 6);
    write_mask("values/masks/train/a.png", 8, 6, PNG_COLOR_TYPE_PALETTE, by_columns);
    write_mask("values/masks/val/b.png", 8, 6, PNG_COLOR_TYPE_GRAY, by_columns);
    glcnn_dataset *data = data_open("values", &masks);
    const struct glcnn_data_info *info = glcnn_dataset_info(data);
    CU_ASSERT_EQUAL_FATAL(info->class_count, 3);
    CU_ASSERT_STRING_EQUAL(info->class_names[1], "3");
    CU_ASSERT_STRING_EQUAL(info->class_names[2], "9");
    CU_ASSERT_EQUAL(info->counts[GLCNN_DATA_PART_TRAINING], 1);
    CU_ASSERT_EQUAL(info->counts[GLCNN_DATA_PART_VALIDATION], 1);
    expect_note(data, 0, "without.png: cannot be opened");
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_dataset_decision(data, 0), "255 stands for no class"));
    for (int part = 0; part < 2; part++) {
        struct glcnn_data_batch batch = first_batch(data, (glcnn_data_part)part, 2, &loader);
        for (uint32_t i = 0; i < 48; i++) {
            const uint32_t x = i % 8;
            CU_ASSERT_EQUAL(batch.masks[i], i < 8   ? GLCNN_DATA_NO_CLASS
                                            : x < 4 ? 0
                                            : x < 6 ? 1
                                                    : 2);
            if (part == 1)
                CU_ASSERT_EQUAL(batch.masks[48 + i], GLCNN_DATA_NO_CLASS);
        }
        glcnn_data_loader_destroy(&loader);
    }
    glcnn_dataset_destroy(&data);
}

/* As a model file gives them. */
static void classes_named_by_values_keep_these(void)
{
    static const char *const names[] = {"0", "3", "9"}, *const two[] = {"0", "255"};
    struct glcnn_data_parameters p = masks;
    glcnn_data_loader *loader;
    write_picture("named/images/a.png", 8, 6);
    write_mask("named/masks/a.png", 8, 6, PNG_COLOR_TYPE_GRAY, by_columns);
    p.class_names = names;
    p.class_count = 3;
    glcnn_dataset *data = data_open("named", &p);
    struct glcnn_data_batch batch = first_batch(data, GLCNN_DATA_PART_TRAINING, 1, &loader);
    CU_ASSERT_EQUAL(batch.masks[0], GLCNN_DATA_NO_CLASS);
    CU_ASSERT_EQUAL(batch.masks[8 + 4], 1);
    CU_ASSERT_EQUAL(batch.masks[8 + 7], 2);
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
    write_mask("named/masks/a.png", 8, 6, PNG_COLOR_TYPE_GRAY, black_and_white);
    p.class_names = two;
    p.class_count = 2;
    data = data_open("named", &p);
    batch = first_batch(data, GLCNN_DATA_PART_TRAINING, 1, &loader);
    CU_ASSERT_EQUAL(batch.masks[3], 0);
    CU_ASSERT_EQUAL(batch.masks[4], 1);
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
}

static uint32_t thirds(uint32_t x, uint32_t y, uint32_t c)
{
    (void)y, (void)c;
    return x / 3;
}

/* The classes of a network, and those that a folder lists: by their names, in whatever order. */
static void classes_of_masks_are_matched_by_name(void)
{
    static const char *const names[] = {"land", "sky", "sea"}, *const values[] = {"0", "1", "2"};
    static const struct {
        const char *list, *const *names;
        uint8_t classes[3];
        const char *decision;
    } rows[] = {
        {"sky\nsea\nland\n", names, {1, 2, 0}, "lists \"sea\" before \"land\""},
        {"land\nsky\nsea\n", names, {0, 1, 2}, NULL},
        {"2\n0\n1\n", names, {0, 1, 2}, NULL},
        {NULL,
         names,
         {0, 1, 2},
         "is not there, so values of masks count the classes: 0 is \"land\""},
        {"sky\nsea\nland\n", values, {0, 1, 2}, "classes.txt: is not read, since"},
        {NULL, values, {0, 1, 2}, NULL},
    };
    struct glcnn_data_parameters p = masks;
    glcnn_data_loader *loader;
    write_picture("lists/images/a.png", 9, 6);
    write_mask("lists/masks/a.png", 9, 6, PNG_COLOR_TYPE_GRAY, thirds);
    uint64_t digests[sizeof rows / sizeof *rows];
    p.class_count = 3;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].list)
            data_write_text("lists/classes.txt", rows[i].list);
        else
            remove(data_path("lists/classes.txt"));
        p.class_names = rows[i].names;
        glcnn_dataset *data = data_open("lists", &p);
        struct glcnn_data_batch batch = first_batch(data, GLCNN_DATA_PART_TRAINING, 1, &loader);
        for (uint32_t k = 0; k < 3; k++)
            CU_ASSERT_EQUAL(batch.masks[3 * k], rows[i].classes[k]);
        if (rows[i].decision)
            expect_decision(data, 0, rows[i].decision);
        else
            CU_ASSERT_PTR_NULL(glcnn_dataset_decision(data, 0));
        digests[i] = glcnn_dataset_mask_digest(data, GLCNN_DATA_PART_TRAINING, 0);
        glcnn_data_loader_destroy(&loader);
        glcnn_dataset_destroy(&data);
        CU_ASSERT_EQUAL(i > 0 && digests[i] == digests[1] && digests[i] != digests[0],
                        i > 0); /* what a value means has changed */
    }
    p.class_names = names;
    data_write_text("lists/classes.txt", "sky\nmoon\nland\n");
    data_refuses("lists", &p, GLCNN_MALFORMED_DATA,
                 "the label \"moon\" is not the name of one of the 3 classes");
}

/* x.jpg and x.png would share x.png's mask: the second is left out, and no other file is. */
static void a_mask_is_of_one_picture(void)
{
    struct glcnn_data_parameters strict = masks;
    strict.strict = true;
    write_picture("stems/images/a.jpg.png", 8, 6);
    write_picture("stems/images/a.png", 8, 6);
    write_picture("stems/images/a.PNG", 8, 6);
    data_write_text("stems/images/b.json", "{}");
    write_picture("stems/images/b.png", 8, 6);
    write_mask("stems/masks/a.jpg.png", 8, 6, PNG_COLOR_TYPE_GRAY, by_columns);
    write_mask("stems/masks/a.png", 8, 6, PNG_COLOR_TYPE_GRAY, by_columns);
    write_mask("stems/masks/b.png", 8, 6, PNG_COLOR_TYPE_GRAY, by_columns);
    glcnn_dataset *data = data_open("stems", &masks);
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->counts[0], 3);
    CU_ASSERT_EQUAL(glcnn_dataset_skipped(data), 1);
    expect_note(data, 0, "a.png: another picture has the same mask");
    glcnn_dataset_destroy(&data);
    data_refuses("stems", &strict, GLCNN_MALFORMED_DATA, "expected one picture");
}

static void black_and_white_masks_have_two_classes(void)
{
    write_picture("two/train/images/a.png", 8, 6);
    write_mask("two/train/labels/a.png", 8, 6, PNG_COLOR_TYPE_GRAY, black_and_white);
    glcnn_dataset *data = data_open("two", &masks);
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->class_count, 2);
    CU_ASSERT_STRING_EQUAL(glcnn_dataset_info(data)->class_names[1], "255");
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_dataset_decision(data, 0), "255 among them"));
    glcnn_dataset_destroy(&data);
}

/* Twice as large and cut at the sides, each pixel is the one it lies in. */
static void masks_follow_the_size_of_pictures(void)
{
    struct glcnn_data_parameters p = masks;
    glcnn_data_loader *loader;
    p.width = p.height = 12;
    write_picture("sizes/images/a.png", 8, 6);
    write_mask("sizes/masks/a.png", 8, 6, PNG_COLOR_TYPE_GRAY, by_columns);
    glcnn_dataset *data = data_open("sizes", &p);
    for (int again = 0; again < 2; again++) { /* decoded, and out of memory */
        struct glcnn_data_batch batch = first_batch(data, GLCNN_DATA_PART_TRAINING, 1, &loader);
        for (uint32_t i = 0; i < 144; i++) {
            const uint32_t x = i % 12 / 2 + 1;
            CU_ASSERT_EQUAL(batch.masks[i], i < 24  ? GLCNN_DATA_NO_CLASS
                                            : x < 4 ? 0
                                            : x < 6 ? 1
                                                    : 2);
        }
        glcnn_data_loader_destroy(&loader);
    }
    glcnn_dataset_destroy(&data);
}

static void masks_are_refused_or_left_out(void)
{
    struct glcnn_data_parameters strict = masks;
    strict.strict = true;
    write_picture("bad/images/a.png", 8, 6);
    write_picture("bad/images/b.png", 8, 6);
    write_mask("bad/masks/a.png", 8, 6, PNG_COLOR_TYPE_GRAY, by_columns);
    write_mask("bad/masks/b.png", 8, 5, PNG_COLOR_TYPE_GRAY, by_columns);
    glcnn_dataset *data = data_open("bad", &masks);
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->counts[0], 1);
    expect_note(data, 0, "b.png: is 8 x 5, and its picture is 8 x 6");
    glcnn_dataset_destroy(&data);
    data_refuses("bad", &strict, GLCNN_MALFORMED_DATA, "is 8 x 5, and its picture is 8 x 6");
    write_mask("bad/masks/b.png", 8, 6, PNG_COLOR_TYPE_RGB, dark);
    data_refuses("bad", &strict, GLCNN_MALFORMED_DATA, "is a PNG of several channels and 8 bits");
    write_mask("bad/masks/b.png", 8, 6, PNG_COLOR_TYPE_GRAY, by_columns);
    data_write_text("bad/classes.txt", "sky\r\nsea\n");
    data_refuses("bad", &strict, GLCNN_MALFORMED_DATA,
                 "has the value 3 at 4,1, and there are 2 classes; expected 0 to 1 or a value");
    data_write_text("bad/classes.txt", "sky\nsky\n");
    data_refuses("bad", &strict, GLCNN_MALFORMED_DATA, "are both \"sky\"");
    data_write_text("bad/classes.txt", "only\n");
    data_refuses("bad", &strict, GLCNN_MALFORMED_DATA, "has 1 names; expected one on each line");
    data_refuses("values/images", &masks, GLCNN_MALFORMED_DATA, "has no folders \"images\"");
}

/* ---- What a path looks like ---- */

static void expect_guess(const char *name, glcnn_data_targets targets)
{
    CU_ASSERT_EQUAL(glcnn_data_guess_targets(data_path(name)), targets);
    if (glcnn_data_guess_targets(data_path(name)) != targets)
        printf("\n    %s: %d", name, (int)glcnn_data_guess_targets(data_path(name)));
}

static void lists_of_pictures_look_like_numbers(void)
{
    write_picture("guess/images/a.png", 8, 8);
    data_write_text("guess/list.csv", "id;file;angle\n1;a.png;-4.5\n");
    expect_guess("guess", GLCNN_DATA_TARGETS_NUMBERS);
    expect_guess("guess/list.csv", GLCNN_DATA_TARGETS_NUMBERS);
    expect_guess("guess/images", GLCNN_DATA_TARGETS_CLASSES);
    expect_guess("guess/none", GLCNN_DATA_TARGETS_CLASSES);
    write_picture("parts/train/a.png", 8, 8);
    data_write_text("parts/train/list.csv", "file,angle\na.png,1\n");
    expect_guess("parts", GLCNN_DATA_TARGETS_NUMBERS);
    data_write_text("guess/list.csv", "file,angle\nnone.png,1\n");
    expect_guess("guess", GLCNN_DATA_TARGETS_CLASSES);
    data_write_text("guess/list.csv", "file,angle\na.png,much\n");
    expect_guess("guess", GLCNN_DATA_TARGETS_CLASSES);
    data_write_text("guess/list.csv", "file,class\na.png,0.5\n");
    expect_guess("guess", GLCNN_DATA_TARGETS_NUMBERS);
    data_write_text("guess/list.csv", "file,class\na.png,1\n");
    expect_guess("guess", GLCNN_DATA_TARGETS_CLASSES);
    data_write_text("guess/list.csv", "file,angle\na.png,1\n");
    write_picture("guess/apple/a.png", 8, 8); /* a class, beside which any table may lie */
    expect_guess("guess", GLCNN_DATA_TARGETS_CLASSES);
}

static void lists_of_pictures_are_no_classes(void)
{
    write_picture("nolist/images/a.png", 8, 8);
    data_write_text("nolist/list.csv", "file,angle,size\na.png,1.5,2\n");
    data_refuses("nolist", NULL, GLCNN_MALFORMED_DATA,
                 "names pictures, with numbers for each: such a list is read where targets are");
    data_refuses("nolist/list.csv", NULL, GLCNN_MALFORMED_DATA, "(--task regress)");
    data_write_text("nolist/list.csv", "file,kind,colour\na.png,cat,red\n");
    data_refuses("nolist", NULL, GLCNN_MALFORMED_DATA,
                 "line 1: has 2 columns beside \"file\", and it is not clear which is the class");
    data_write_text("nolist/list.csv", "file,kind\na.png,\n");
    data_refuses("nolist", NULL, GLCNN_MALFORMED_DATA,
                 "line 2, field 2: is empty; expected a class");
    data_write_text("nolist/list.csv", "file,kind\na.png,cat\na.png,cat\n");
    data_refuses("nolist", NULL, GLCNN_MALFORMED_DATA,
                 "line 3: names the picture \"a.png\" a second");
    /* Names of rows, beside values of images. */
    data_write_text("rows.csv", "file,label,v0,v1\nx.png,1,0.5,2\ny.png,0,1,2\n");
    glcnn_dataset *data = data_open("rows.csv", NULL);
    CU_ASSERT_STRING_EQUAL(glcnn_dataset_info(data)->format, "csv");
    glcnn_dataset_destroy(&data);
}

/* A class of each picture; as its numbers they are read where these are asked for. */
static void lists_of_pictures_and_classes(void)
{
    static const char *const pictures[] = {"a", "b", "c", "d"};
    char name[64];
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
        const char *const folders[] = {"kinds/images", "kinds_beside", "kinds_parts/train"};
        for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) {
            snprintf(name, sizeof name, "%s/%s.png", folders[k], pictures[i]);
            write_picture(name, 8, 8);
        }
    }
    write_picture("kinds_parts/test/e.png", 8, 8);
    data_write_text("kinds/labels.csv", "id,image,label,source\n0,b.png,pear,me\n1,a.png,apple,me\n"
                                        "2,d.png,pear,you\n");
    expect_guess("kinds", GLCNN_DATA_TARGETS_CLASSES);
    glcnn_dataset *data = data_open("kinds", NULL);
    CU_ASSERT_STRING_EQUAL(data_describe_classes(data), "apple pear");
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->counts[GLCNN_DATA_PART_TRAINING], 3);
    CU_ASSERT_EQUAL(glcnn_dataset_label(data, GLCNN_DATA_PART_TRAINING, 0), 1);
    CU_ASSERT_EQUAL(glcnn_dataset_label(data, GLCNN_DATA_PART_TRAINING, 1), 0);
    CU_ASSERT(data_says(data, glcnn_dataset_decision,
                        "the class is the column \"label\"; columns that are not read: 1"));
    CU_ASSERT(data_says(data, glcnn_dataset_note,
                        "names 1 picture of the folder in no line, of which c.png is the first"));
    glcnn_dataset_destroy(&data);
    data_write_text("kinds_beside/list.csv", "file,class\na.png,10\nb.png,2\nc.png,2\nd.png,10\n");
    expect_guess("kinds_beside", GLCNN_DATA_TARGETS_CLASSES);
    data = data_open("kinds_beside", NULL);
    CU_ASSERT_STRING_EQUAL(data_describe_classes(data), "2 10");
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->counts[GLCNN_DATA_PART_TRAINING], 4);
    glcnn_dataset_destroy(&data);
    /* Kaggle's data have a list and a folder of each part. */
    data_write_text("kinds_parts/train.csv", "file,kind\na.png,x\nb.png,y\nc.png,x\nd.png,y\n");
    data_write_text("kinds_parts/test.csv", "file,kind\ne.png,y\n");
    expect_guess("kinds_parts", GLCNN_DATA_TARGETS_CLASSES);
    data = data_open("kinds_parts", NULL);
    CU_ASSERT_STRING_EQUAL(data_describe_classes(data), "x y");
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->counts[GLCNN_DATA_PART_TRAINING], 4);
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->counts[GLCNN_DATA_PART_TEST], 1);
    CU_ASSERT_EQUAL(glcnn_dataset_label(data, GLCNN_DATA_PART_TEST, 0), 1);
    glcnn_dataset_destroy(&data);
}

static void files_beside_pictures_tell_masks_from_boxes(void)
{
    write_picture("pairs/images/a.png", 8, 6);
    write_mask("pairs/labels/a.png", 8, 6, PNG_COLOR_TYPE_GRAY, black_and_white);
    expect_guess("pairs", GLCNN_DATA_TARGETS_MASKS);
    expect_guess("two", GLCNN_DATA_TARGETS_MASKS); /* two/train/labels/a.png */
    expect_guess("values", GLCNN_DATA_TARGETS_MASKS);
    write_picture("split_pairs/images/train/a.png", 8, 6);
    write_mask("split_pairs/labels/train/a.png", 8, 6, PNG_COLOR_TYPE_GRAY, black_and_white);
    expect_guess("split_pairs", GLCNN_DATA_TARGETS_MASKS);
    data_write_text("split_pairs/labels/train/a.txt", "0 0.5 0.5 0.2 0.2\n");
    expect_guess("split_pairs", GLCNN_DATA_TARGETS_BOXES);
    data_write_text("yolo/train/labels/a.txt", "");
    write_picture("yolo/train/images/a.png", 8, 6);
    expect_guess("yolo", GLCNN_DATA_TARGETS_BOXES);
    data_write_text("coco/annotations/any.json", "");
    expect_guess("coco", GLCNN_DATA_TARGETS_BOXES);
    expect_guess("some.yaml", GLCNN_DATA_TARGETS_BOXES);
}

static uint64_t digest_of(const char *name, const struct glcnn_data_parameters *p)
{
    glcnn_dataset *data = data_open(name, p);
    const uint64_t digest = glcnn_dataset_mask_digest(data, GLCNN_DATA_PART_TRAINING, 0);
    CU_ASSERT_EQUAL(glcnn_dataset_mask_digest(data, GLCNN_DATA_PART_TRAINING, 1), 0);
    glcnn_dataset_destroy(&data);
    return digest;
}

static uint32_t but_one(uint32_t x, uint32_t y, uint32_t c)
{
    return x == 7 && y == 5 ? 0 : black_and_white(x, y, c);
}

static void a_mask_that_changes_has_another_digest(void)
{
    write_picture("digest/images/a.png", 8, 6);
    write_mask("digest/masks/a.png", 8, 6, PNG_COLOR_TYPE_GRAY, black_and_white);
    const uint64_t first = digest_of("digest", &masks);
    CU_ASSERT_NOT_EQUAL(first, 0);
    CU_ASSERT_EQUAL(digest_of("digest", &masks), first);
    write_mask("digest/masks/a.png", 8, 6, PNG_COLOR_TYPE_GRAY, but_one);
    CU_ASSERT_NOT_EQUAL(digest_of("digest", &masks), first);
    data_write_text("column.csv", "y,a,b\n1,1,2\n");
    CU_ASSERT_EQUAL(digest_of("column.csv", &numbers), 0);
}

/* ---- A program's own ---- */

#define OWN 5 /* images of 3 x 2 pixels, two channels */

static const float own_images[OWN][2][2][3] = {
    {{{0.25f, 1, 2}, {3, 4, 5}}, {{6, 7, 8}, {9, 10, 11}}}, {{{-1}}}, {{{7}}}, {{{8}}}, {{{9}}}};
static const uint32_t own_labels[OWN] = {0, 2, 1, 2, 0};
static const float own_numbers[OWN][3] = {{1, 2, 3}, {4, 5, 6}};
static const uint8_t own_masks[OWN][6] = {{0, 1, 2, GLCNN_DATA_NO_CLASS, 1, 1}};
static const char *const own_names[] = {"cat", "dog", "eel"};
static const struct glcnn_data_box own_boxes[] = {{0.25f, 0, 0.5f, 1, .label = 2},
                                                  {-0.5f, 0, 2, 1, .label = 1, .is_crowd = true},
                                                  {0, 0, 1, 0.5f, .label = 0}};
static const uint32_t own_counts[OWN] = {2, 0, 1, 0, 0};

static struct glcnn_image_source own_source(glcnn_data_targets targets)
{
    return (struct glcnn_image_source){
        .name = "own",
        .width = 3,
        .height = 2,
        .channels = 2,
        .targets = targets,
        .class_names = own_names,
        .class_count = 3,
        .parts[GLCNN_DATA_PART_TRAINING] = {.count = OWN,
                                            .images = own_images,
                                            .labels = own_labels,
                                            .numbers = own_numbers[0],
                                            .masks = own_masks[0],
                                            .boxes = own_boxes,
                                            .box_counts = own_counts}};
}

static glcnn_dataset *open_own(const struct glcnn_image_source *source,
                               const struct glcnn_data_parameters *parameters)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_dataset *data = NULL;
    CU_ASSERT_EQUAL_FATAL(glcnn_dataset_open_source(source, parameters, &data, error),
                          GLCNN_SUCCESS);
    CU_ASSERT_STRING_EQUAL(error, "");
    return data;
}

/* Writes the images of the arrays interleaved, as a camera does. */
static glcnn_status read_own(void *user, glcnn_data_part part, uint32_t index, void *image,
                             uint8_t *mask, char error[GLCNN_ERROR_LENGTH])
{
    float *values = image;
    if (index == *(const uint32_t *)user) {
        snprintf(error, GLCNN_ERROR_LENGTH, "the lens is covered");
        return GLCNN_IO_ERROR;
    }
    CU_ASSERT_EQUAL(part, GLCNN_DATA_PART_TRAINING);
    for (int i = 0; image && i < 12; i++)
        *values++ = own_images[index][i % 2][i / 6][i / 2 % 3];
    if (mask)
        memcpy(mask, own_masks[index], 6);
    return GLCNN_SUCCESS;
}

static void expect_own(const struct glcnn_data_batch *b, glcnn_data_targets targets)
{
    CU_ASSERT_EQUAL(b->filled, OWN);
    CU_ASSERT_EQUAL(memcmp(b->floats, own_images, sizeof own_images), 0);
    switch (targets) {
    case GLCNN_DATA_TARGETS_NUMBERS:
        CU_ASSERT_EQUAL(memcmp(b->numbers, own_numbers, sizeof own_numbers), 0);
        break;
    case GLCNN_DATA_TARGETS_MASKS:
        CU_ASSERT_EQUAL(memcmp(b->masks, own_masks, sizeof own_masks), 0);
        break;
    case GLCNN_DATA_TARGETS_BOXES:
        CU_ASSERT_EQUAL(memcmp(b->box_counts, own_counts, sizeof own_counts), 0);
        CU_ASSERT_EQUAL(memcmp(b->boxes[0], own_boxes, 2 * sizeof *own_boxes), 0);
        CU_ASSERT_EQUAL(b->boxes[2][0].bottom, 0.5f);
        CU_ASSERT_PTR_NULL(b->boxes[1]);
        break;
    default:
        CU_ASSERT_EQUAL(memcmp(b->labels, own_labels, sizeof own_labels), 0);
    }
}

static void arrays_and_functions_stand_for_files(void)
{
    uint32_t covered = UINT32_MAX;
    for (uint32_t targets = 0; targets <= GLCNN_DATA_TARGETS_BOXES; targets++)
        for (int reads = 0; reads < 2; reads++) {
            char name[64];
            uint8_t pixels[6 * 3];
            glcnn_data_loader *loader;
            struct glcnn_image_source source = own_source((glcnn_data_targets)targets);
            struct glcnn_image_source_part *part = &source.parts[GLCNN_DATA_PART_TRAINING];
            if (reads) {
                part->images = part->masks = NULL;
                source.is_interleaved = true;
                source.read = read_own;
                source.user = &covered;
            }
            glcnn_dataset *data = open_own(&source, NULL);
            CU_ASSERT_STRING_EQUAL(glcnn_dataset_info(data)->format, "source");
            CU_ASSERT_FALSE(glcnn_dataset_info(data)->bytes);
            CU_ASSERT_STRING_EQUAL(glcnn_dataset_info(data)->class_names[1], "dog");
            const struct glcnn_data_batch b =
                first_batch(data, GLCNN_DATA_PART_TRAINING, OWN, &loader);
            expect_own(&b, (glcnn_data_targets)targets);
            glcnn_data_loader_destroy(&loader);
            glcnn_dataset_name(data, GLCNN_DATA_PART_TRAINING, 3, name, sizeof name);
            CU_ASSERT_STRING_EQUAL(name, "image 3 of own");
            CU_ASSERT_NOT_EQUAL(glcnn_dataset_image_digest(data, GLCNN_DATA_PART_TRAINING, 0),
                                glcnn_dataset_image_digest(data, GLCNN_DATA_PART_TRAINING, 1));
            CU_ASSERT_EQUAL(glcnn_dataset_mask_digest(data, GLCNN_DATA_PART_TRAINING, 0) != 0,
                            targets == GLCNN_DATA_TARGETS_MASKS);
            CU_ASSERT_EQUAL(
                glcnn_dataset_read_picture(data, GLCNN_DATA_PART_TRAINING, 0, 3, 2, pixels, NULL),
                GLCNN_SUCCESS);
            CU_ASSERT_EQUAL(pixels[0], 64);
            struct glcnn_data_look *look;
            CU_ASSERT_EQUAL(glcnn_dataset_look(data, &look, NULL), GLCNN_SUCCESS);
            CU_ASSERT_EQUAL(look->class_count, 3);
            glcnn_data_look_destroy(&look);
            glcnn_dataset_destroy(&data);
        }
}

/* A network's classes have another order; the arrays follow it, and are split as files are. */
static void sources_follow_the_names_that_are_asked_for(void)
{
    static const char *const names[] = {"eel", "cat", "dog"};
    static const uint32_t class_of[] = {1, 2, 0};
    for (uint32_t targets = 0; targets <= GLCNN_DATA_TARGETS_BOXES; targets++) {
        glcnn_data_loader *loader;
        const struct glcnn_data_parameters p = {
            .class_names = names, .class_count = 3, .targets = (glcnn_data_targets)targets};
        const struct glcnn_image_source source = own_source((glcnn_data_targets)targets);
        glcnn_dataset *data = open_own(&source, &p);
        const struct glcnn_data_batch b = first_batch(data, GLCNN_DATA_PART_TRAINING, OWN, &loader);
        CU_ASSERT_STRING_EQUAL(glcnn_dataset_info(data)->class_names[0], "eel");
        for (uint32_t i = 0; i < 3; i++) {
            if (targets == GLCNN_DATA_TARGETS_CLASSES)
                CU_ASSERT_EQUAL(b.labels[i], class_of[own_labels[i]]);
            if (b.numbers)
                CU_ASSERT_EQUAL(b.numbers[3 + class_of[i]], own_numbers[1][i]);
            if (b.masks)
                CU_ASSERT_EQUAL(b.masks[i], class_of[own_masks[0][i]]);
        }
        if (b.masks)
            CU_ASSERT_EQUAL(b.masks[3], GLCNN_DATA_NO_CLASS);
        if (b.boxes)
            CU_ASSERT_EQUAL(b.boxes[0][0].label, class_of[2]);
        glcnn_data_loader_destroy(&loader);
        glcnn_dataset_destroy(&data);
    }
    const struct glcnn_image_source source = own_source(GLCNN_DATA_TARGETS_NUMBERS);
    glcnn_dataset *data =
        open_own(&source, &(struct glcnn_data_parameters){.targets = GLCNN_DATA_TARGETS_NUMBERS,
                                                          .validation = 0.4});
    const float *held = glcnn_dataset_numbers(data, GLCNN_DATA_PART_VALIDATION, 0);
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->counts[GLCNN_DATA_PART_VALIDATION], 2);
    CU_ASSERT_TRUE(glcnn_dataset_info(data)->is_split);
    CU_ASSERT_PTR_NOT_NULL(held);
    glcnn_dataset_destroy(&data);
}

static void expect_own_refused(const struct glcnn_image_source *source,
                               const struct glcnn_data_parameters *p, glcnn_status status,
                               const char *phrase)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_dataset *data = NULL;
    CU_ASSERT_EQUAL(glcnn_dataset_open_source(source, p, &data, error), status);
    CU_ASSERT_PTR_NULL(data);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, phrase));
    if (!strstr(error, phrase))
        printf("\n    \"%s\" has no \"%s\"", error, phrase);
}

static void sources_are_refused_by_their_images(void)
{
    static float images[OWN][2][2][3];
    static uint32_t labels[OWN] = {0, 1, 2, 3, 0};
    static float rows[OWN][3];
    static uint8_t wrong[OWN][6];
    struct glcnn_data_box flat = {0.5f, 0, 0.5f, 1, .label = 0};
    const uint32_t one[OWN] = {0, 1};
    struct glcnn_image_source s = own_source(GLCNN_DATA_TARGETS_CLASSES);
    struct glcnn_image_source_part *part = &s.parts[GLCNN_DATA_PART_TRAINING];
    part->labels = labels;
    expect_own_refused(&s, NULL, GLCNN_INVALID_ARGUMENT,
                       "own: image 3 of the training part has the class 3; expected 0 to 2");
    labels[3] = 2;
    images[4][1][0][2] = NAN;
    part->images = images;
    expect_own_refused(&s, NULL, GLCNN_MALFORMED_DATA,
                       "own: image 4 of the training part has a value that is NaN or infinite");
    images[4][1][0][2] = 0;
    expect_own_refused(&s, &(struct glcnn_data_parameters){.width = 32}, GLCNN_UNSUPPORTED,
                       "are 3 x 2 of 2 channels, and 32 x 0 of 0 are requested");
    expect_own_refused(&s, &masks, GLCNN_INVALID_ARGUMENT,
                       "its targets are classes, and masks are requested");
    part->labels = NULL;
    expect_own_refused(&s, NULL, GLCNN_INVALID_ARGUMENT, "labels of the training part is NULL");
    s.class_count = 0;
    expect_own_refused(&s, NULL, GLCNN_INVALID_ARGUMENT, "its class_count is 0");
    s = own_source(GLCNN_DATA_TARGETS_NUMBERS);
    rows[2][1] = INFINITY;
    part->numbers = rows[0];
    expect_own_refused(&s, NULL, GLCNN_MALFORMED_DATA, "image 2 of the training part has a label");
    s = own_source(GLCNN_DATA_TARGETS_MASKS);
    wrong[1][5] = 3;
    part->masks = wrong[0];
    expect_own_refused(&s, NULL, GLCNN_MALFORMED_DATA,
                       "image 1 of the training part has a mask with the class 3");
    s = own_source(GLCNN_DATA_TARGETS_BOXES);
    part->boxes = &flat;
    part->box_counts = one;
    expect_own_refused(&s, NULL, GLCNN_INVALID_ARGUMENT, "image 1 of the training part has a box");
    s.width = 0;
    expect_own_refused(&s, NULL, GLCNN_INVALID_ARGUMENT, "are 0 x 2 of 2 channels");
    expect_own_refused(NULL, NULL, GLCNN_INVALID_ARGUMENT, "source or data is NULL");
}

/* No other image stands in for one that a program cannot give. */
static void what_a_function_cannot_read_ends_the_batch(void)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    uint32_t covered = 2;
    struct glcnn_data_batch batch;
    struct glcnn_image_source source = own_source(GLCNN_DATA_TARGETS_CLASSES);
    source.parts[GLCNN_DATA_PART_TRAINING].images = NULL;
    source.is_interleaved = true;
    source.read = read_own;
    source.user = &covered;
    glcnn_dataset *data = open_own(&source, NULL);
    glcnn_data_loader *loader =
        data_load(data, &(struct glcnn_data_loader_parameters){.batch = OWN, .shuffle = true});
    CU_ASSERT_EQUAL(glcnn_data_loader_next(loader, &batch, error), GLCNN_IO_ERROR);
    CU_ASSERT_STRING_EQUAL(error,
                           "own: image 2 of the training part cannot be read: the lens is covered");
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
}

static CU_TestInfo tests[] = {UNIT_TEST(rows_of_arrays_are_numbers),
                              UNIT_TEST(a_split_keeps_numbers_with_their_images),
                              UNIT_TEST(a_column_of_a_table_is_a_number),
                              UNIT_TEST(a_list_names_pictures),
                              UNIT_TEST(pictures_that_are_not_read_are_counted),
                              UNIT_TEST(lists_are_refused_by_line),
                              UNIT_TEST(values_of_masks_are_classes),
                              UNIT_TEST(classes_named_by_values_keep_these),
                              UNIT_TEST(columns_are_matched_by_name),
                              UNIT_TEST(classes_of_masks_are_matched_by_name),
                              UNIT_TEST(a_mask_is_of_one_picture),
                              UNIT_TEST(black_and_white_masks_have_two_classes),
                              UNIT_TEST(masks_follow_the_size_of_pictures),
                              UNIT_TEST(masks_are_refused_or_left_out),
                              UNIT_TEST(lists_of_pictures_look_like_numbers),
                              UNIT_TEST(lists_of_pictures_are_no_classes),
                              UNIT_TEST(lists_of_pictures_and_classes),
                              UNIT_TEST(files_beside_pictures_tell_masks_from_boxes),
                              UNIT_TEST(a_mask_that_changes_has_another_digest),
                              UNIT_TEST(arrays_and_functions_stand_for_files),
                              UNIT_TEST(sources_follow_the_names_that_are_asked_for),
                              UNIT_TEST(sources_are_refused_by_their_images),
                              UNIT_TEST(what_a_function_cannot_read_ends_the_batch),
                              CU_TEST_INFO_NULL};

int main(int argc, char *argv[])
{
    const int status = unit_run("data_targets", tests, argc, argv);
    data_remove_folder();
    return status;
}
