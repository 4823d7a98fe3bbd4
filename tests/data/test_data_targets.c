/* Targets other than classes: numbers of tables and of lists of pictures, and masks. */
#include "tests/data_files.h"

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
    data_write_text("nolist/list.csv", "file,kind\na.png,cat\n");
    data_refuses("nolist", NULL, GLCNN_MALFORMED_DATA, "with a label for each: classes are not");
    /* Names of rows, beside values of images. */
    data_write_text("rows.csv", "file,label,v0,v1\nx.png,1,0.5,2\ny.png,0,1,2\n");
    glcnn_dataset *data = data_open("rows.csv", NULL);
    CU_ASSERT_STRING_EQUAL(glcnn_dataset_info(data)->format, "csv");
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
                              UNIT_TEST(files_beside_pictures_tell_masks_from_boxes),
                              UNIT_TEST(a_mask_that_changes_has_another_digest),
                              CU_TEST_INFO_NULL};

int main(int argc, char *argv[])
{
    const int status = unit_run("data_targets", tests, argc, argv);
    data_remove_folder();
    return status;
}
