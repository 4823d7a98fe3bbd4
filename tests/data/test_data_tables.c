/* Tables: .npy, .npz, CSV and IDX become the right images and classes, or the right message. */
#include "tests/data_files.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit.h"

/* Fails with what was found where the set is not `wanted`: "format width x height x channels bytes:
 * counts: classes". */
static void check_set(const char *name, const struct glcnn_data_parameters *p, const char *wanted)
{
    char found[512];
    glcnn_dataset *data = data_open(name, p);
    const struct glcnn_data_info *info = glcnn_dataset_info(data);
    int length =
        snprintf(found, sizeof found, "%s %ux%ux%u %s: %u %u %u:", info->format, info->width,
                 info->height, info->channels, info->bytes ? "bytes" : "numbers", info->counts[0],
                 info->counts[1], info->counts[2]);
    for (uint32_t i = 0; i < info->class_count; i++)
        length +=
            snprintf(found + length, sizeof found - (size_t)length, " %s", info->class_names[i]);
    CU_ASSERT_STRING_EQUAL(found, wanted);
    if (strcmp(found, wanted) != 0)
        printf("\n    %s: expected \"%s\", found \"%s\"", name, wanted, found);
    glcnn_dataset_destroy(&data);
}

/* The values of image `index`, [C][H][W], and its label. */
static uint32_t read_image(const char *name, uint32_t index, float *values)
{
    glcnn_dataset *data = data_open(name, NULL);
    const struct glcnn_data_info *info = glcnn_dataset_info(data);
    glcnn_data_loader *loader =
        data_load(data, &(struct glcnn_data_loader_parameters){.batch = 1, .step = index});
    struct glcnn_data_batch batch = data_next(loader);
    size_t count = (size_t)info->width * info->height * info->channels;
    uint32_t label = batch.labels[0];
    memcpy(values, batch.floats, count * sizeof *values);
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
    return label;
}

/* ---- .npy and .npz ---- */

static const uint8_t bytes[2 * 3 * 256] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
static const uint8_t two_labels[2] = {0, 1};

static void shapes_are_told_apart(void)
{
    static const struct {
        const char *shape, *wanted;
        size_t values;
    } rows[] = {
        {"(2, 3, 8, 8)", "npy 8x8x3 bytes: 2 0 0: 0 1", 192},
        {"(2, 8, 8, 3)", "npy 8x8x3 bytes: 2 0 0: 0 1", 192},
        {"(2, 5, 4, 4)", "npy 4x4x5 bytes: 2 0 0: 0 1", 80},
        {"(2, 4, 4, 5)", "npy 4x4x5 bytes: 2 0 0: 0 1", 80},
        {"(2, 76, 2, 2)", "npy 2x2x76 bytes: 2 0 0: 0 1", 304},
        {"(2, 3, 8, 6)", "npy 6x8x3 bytes: 2 0 0: 0 1", 144},
        {"(2, 8, 6, 3)", "npy 6x8x3 bytes: 2 0 0: 0 1", 144},
        {"(2, 4, 8, 4)", "npy 4x8x4 bytes: 2 0 0: 0 1", 128},
        {"(2, 1, 1, 1)", "npy 1x1x1 bytes: 2 0 0: 0 1", 1},
        {"(2, 6, 4)", "npy 4x6x1 bytes: 2 0 0: 0 1", 24},
        {"(2, 64)", "npy 8x8x1 bytes: 2 0 0: 0 1", 64},
        {"(2, 192)", "npy 8x8x3 bytes: 2 0 0: 0 1", 192},
        {"(2, 13)", "npy 13x1x1 bytes: 2 0 0: 0 1", 13},
    };
    data_write_npy("shapes/labels.npy", "|u1", "(2,)", two_labels, 2);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        data_write_npy("shapes/images.npy", "|u1", rows[i].shape, bytes, 2 * rows[i].values);
        check_set("shapes", NULL, rows[i].wanted);
    }
    const struct glcnn_data_parameters p = {.width = 16, .height = 3, .channels = 4};
    data_write_npy("shapes/images.npy", "|u1", "(2, 192)", bytes, 384);
    check_set("shapes", &p, "npy 16x3x4 bytes: 2 0 0: 0 1");
    data_write_npy("shapes/images.npy", "|u1", "(2, 8, 8, 3)", bytes, 384);
    data_refuses("shapes", &p, GLCNN_UNSUPPORTED, "only pictures are scaled");
    data_write_npy("shapes/images.npy", "|u1", "(2, 2, 2, 2, 2)", bytes, 32);
    data_refuses("shapes", NULL, GLCNN_MALFORMED_DATA, "have 5 dimensions");
}

static void values_stand_in_their_places(void)
{
    float values[6];
    data_write_npy("places/labels.npy", "|u1", "(2,)", two_labels, 2);
    data_write_npy("places/images.npy", "|u1", "(2, 1, 2, 3)", bytes, 12);
    CU_ASSERT_EQUAL(read_image("places", 1, values), 1);
    for (int i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(values[i], (float)(7 + i) / 255.0f);
    data_write_npy("places/images.npy", "|u1", "(2, 3, 1, 2)", bytes, 12); /* [H][W][C] */
    read_image("places", 0, values);
    for (int i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(values[i], (float)(1 + i % 3 * 2 + i / 3) / 255.0f);
}

static void whole_numbers_are_bytes_and_others_stand_for_themselves(void)
{
    static const int64_t whole[2] = {0, 255}, large[2] = {3, 256}, below[2] = {-1, 7};
    static const float real[2] = {3, 4}, bad[2] = {1, 1.0f / 0.0f};
    float value;
    data_write_npy("kinds/labels.npy", "|u1", "(2,)", two_labels, 2);
    data_write_npy("kinds/images.npy", "<i8", "(2, 1)", whole, sizeof whole);
    check_set("kinds", NULL, "npy 1x1x1 bytes: 2 0 0: 0 1");
    check_set("kinds", &(struct glcnn_data_parameters){.values = GLCNN_DATA_VALUES_NUMBERS},
              "npy 1x1x1 numbers: 2 0 0: 0 1");
    data_write_npy("kinds/images.npy", "<i8", "(2, 1)", large, sizeof large);
    check_set("kinds", NULL, "npy 1x1x1 numbers: 2 0 0: 0 1");
    data_refuses("kinds", &(struct glcnn_data_parameters){.values = GLCNN_DATA_VALUES_BYTES},
                 GLCNN_UNSUPPORTED, "bytes are requested");
    data_write_npy("kinds/images.npy", "<i8", "(2, 1)", below, sizeof below);
    check_set("kinds", NULL, "npy 1x1x1 numbers: 2 0 0: 0 1");
    data_write_npy("kinds/images.npy", "<f4", "(2, 1)", real, sizeof real);
    check_set("kinds", NULL, "npy 1x1x1 numbers: 2 0 0: 0 1");
    read_image("kinds", 1, &value);
    CU_ASSERT_EQUAL(value, 4);
    check_set("kinds", &(struct glcnn_data_parameters){.values = GLCNN_DATA_VALUES_BYTES},
              "npy 1x1x1 bytes: 2 0 0: 0 1");
    data_write_npy("kinds/images.npy", "<f4", "(2, 1)", bad, sizeof bad);
    data_refuses("kinds", NULL, GLCNN_MALFORMED_DATA, "value 0 of image 1 is not finite");
}

/* Two images of 2 x 3 pixels and two channels, in either order, come out of their file as out of
 * memory. */
static void images_that_stay_in_their_file_are_the_same(void)
{
    static const char *const shapes[] = {"(2, 2, 3, 3)", "(2, 3, 3, 2)"}; /* [C][H][W], [H][W][C] */
    const struct glcnn_data_loader_parameters loads[] = {
        {.batch = 2},
        {.batch = 2, .bytes = true},
        {.batch = 2, .bytes = true, .interleaved = true}};
    uint8_t noise[36];
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (uint8_t)(i * 37 + 11);
    data_write_npy("stay/labels.npy", "|u1", "(2,)", two_labels, 2);
    for (size_t i = 0; i < 6; i++) {
        struct glcnn_data_batch batches[2];
        glcnn_dataset *sets[2];
        glcnn_data_loader *loaders[2];
        data_write_npy("stay/images.npy", "|u1", shapes[i % 2], noise, sizeof noise);
        for (uint64_t memory = 0; memory < 2; memory++) {
            sets[memory] = data_open("stay", &(struct glcnn_data_parameters){.memory = memory});
            loaders[memory] = data_load(sets[memory], &loads[i / 2]);
            batches[memory] = data_next(loaders[memory]);
        }
        if (loads[i / 2].bytes)
            CU_ASSERT_EQUAL(memcmp(batches[0].bytes, batches[1].bytes, sizeof noise), 0)
        else
            CU_ASSERT_EQUAL(
                memcmp(batches[0].floats, batches[1].floats, sizeof noise * sizeof(float)), 0)
        for (int k = 0; k < 2; k++) {
            glcnn_data_loader_destroy(&loaders[k]);
            glcnn_dataset_destroy(&sets[k]);
        }
    }
}

static void images_that_stay_become_numbers_where_others_are(void)
{
    const float half[2] = {0.5f, 1};
    float value;
    data_write_npy("mixed/train_labels.npy", "|u1", "(2,)", two_labels, 2);
    data_write_npy("mixed/test_labels.npy", "|u1", "(2,)", two_labels, 2);
    data_write_npy("mixed/train_images.npy", "|u1", "(2, 1)", bytes, 2);
    data_write_npy("mixed/test_images.npy", "<f4", "(2, 1)", half, sizeof half);
    glcnn_dataset *data = data_open("mixed", &(struct glcnn_data_parameters){.memory = 1});
    CU_ASSERT_FALSE(glcnn_dataset_info(data)->bytes);
    glcnn_data_loader *loader =
        data_load(data, &(struct glcnn_data_loader_parameters){.batch = 1, .step = 1});
    value = data_next(loader).floats[0];
    CU_ASSERT_EQUAL(value, 2);
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
}

/* Four GiB of zeros, but for the last byte, of which nothing but a head and an image is read; the
 * file has holes. */
static void images_beyond_memory_are_read_from_their_file(void)
{
    enum { COUNT = 65536, VALUES = 256 * 256 };
    static uint8_t labels[COUNT];
    if (sizeof(size_t) < 8 || sizeof(off_t) < 8)
        return; /* there is no such file there */
    uint8_t head[256], last = 255;
    const off_t begin = (off_t)data_npy(head, "|u1", "(65536, 256, 256)", NULL, 0);
    const off_t size = begin + (off_t)COUNT * VALUES;
    data_write("large/images.npy", head, (size_t)begin);
    int file = open(data_path("large/images.npy"), O_WRONLY);
    CU_ASSERT_EQUAL(ftruncate(file, size), 0);
    CU_ASSERT_EQUAL(pwrite(file, &last, 1, size - 1), 1);
    labels[COUNT - 1] = 1;
    data_write_npy("large/labels.npy", "|u1", "(65536,)", labels, COUNT);
    check_set("large", NULL, "npy 256x256x1 bytes: 65536 0 0: 0 1");
    glcnn_dataset *data = data_open("large", NULL);
    const struct glcnn_data_loader_parameters p = {
        .batch = 1, .bytes = true, .step = COUNT - 1, .threads = 1, .memory = 1};
    glcnn_data_loader *loader = data_load(data, &p);
    struct glcnn_data_batch batch = data_next(loader);
    CU_ASSERT(batch.labels[0] == 1 && batch.bytes[VALUES - 1] == 255 && batch.bytes[0] == 0);
    batch = data_next(loader);
    CU_ASSERT(batch.labels[0] == 0 && batch.bytes[VALUES - 1] == 0);
    CU_ASSERT_EQUAL(ftruncate(file, size - 1), 0);
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_status status = GLCNN_SUCCESS;
    for (int i = 0; i < 4 && status == GLCNN_SUCCESS; i++) /* two may be made already */
        status = glcnn_data_loader_next(loader, &batch, error);
    CU_ASSERT_EQUAL(status, GLCNN_IO_ERROR);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(error, "large/images.npy: has changed since the data was opened"));
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
    close(file);
}

static void labels_must_fit(void)
{
    static const float half[2] = {0, 0.5f};
    static const uint8_t one[2] = {7, 7};
    data_write_npy("fit/images.npy", "|u1", "(2, 4)", bytes, 8);
    data_refuses("fit", NULL, GLCNN_IO_ERROR, "labels.npy: cannot be opened");
    data_write_npy("fit/labels.npy", "|u1", "(3,)", bytes, 3);
    data_refuses("fit", NULL, GLCNN_MALFORMED_DATA, "has 3 labels, and there are 2 images");
    data_write_npy("fit/labels.npy", "|u1", "(1, 2)", bytes, 2);
    data_refuses("fit", NULL, GLCNN_MALFORMED_DATA, "is not a list of labels");
    data_write_npy("fit/labels.npy", "<f4", "(2,)", half, sizeof half);
    data_refuses("fit", NULL, GLCNN_MALFORMED_DATA, "label 1 is 0.5");
    data_write_npy("fit/labels.npy", "|u1", "(2,)", one, 2);
    data_refuses("fit", NULL, GLCNN_MALFORMED_DATA, "only one class, \"7\"");
    check_set("fit",
              &(struct glcnn_data_parameters){.class_count = 1,
                                              .class_names = (const char *const[]){"7"}},
              "npy 2x2x1 bytes: 2 0 0: 7");
    data_write_npy("fit/labels.npy", "|u1", "(2, 1)", two_labels, 2);
    check_set("fit", NULL, "npy 2x2x1 bytes: 2 0 0: 0 1");
    data_write("fit/images.npy", bytes, 12);
    data_refuses("fit", NULL, GLCNN_MALFORMED_DATA, "its name is that of format npy");
}

static void archives_have_parts(void)
{
    static const struct {
        const char *names[6]; /* images, labels of each part */
        const char *wanted;
    } rows[] = {
        {{"images.npy", "labels.npy"}, "npz 2x2x1 bytes: 2 0 0: 0 1"},
        {{"arr_0.npy", "arr_1.npy"}, "npz 2x2x1 bytes: 2 0 0: 0 1"},
        {{"X.npy", "y.npy"}, "npz 2x2x1 bytes: 2 0 0: 0 1"},
        {{"x_train.npy", "y_train.npy", "x_test.npy", "y_test.npy"}, "npz 2x2x1 bytes: 2 0 2: 0 1"},
        {{"train_images.npy", "train_labels.npy", "val_images.npy", "val_labels.npy",
          "test_images.npy", "test_labels.npy"},
         "npz 2x2x1 bytes: 2 2 2: 0 1"},
    };
    uint8_t images[256], labels[256];
    size_t image_size = data_npy(images, "|u1", "(2, 4)", bytes, 8);
    size_t label_size = data_npy(labels, "|u1", "(2,)", two_labels, 2);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct data_entry entries[6];
        size_t count = 0;
        for (; count < 6 && rows[i].names[count]; count++)
            entries[count] = (struct data_entry){rows[i].names[count], count % 2 ? labels : images,
                                                 count % 2 ? label_size : image_size};
        data_write_zip("a.npz", entries, count);
        check_set("a.npz", NULL, rows[i].wanted);
    }
    data_write_zip("a.npz", &(struct data_entry){"images.npy", images, image_size}, 1);
    data_refuses("a.npz", NULL, GLCNN_MALFORMED_DATA, "has images and no labels");
    data_write_zip("a.npz", &(struct data_entry){"weights.txt", images, image_size}, 1);
    data_refuses("a.npz", NULL, GLCNN_MALFORMED_DATA, "none of its arrays is images");
}

/* An archive in which "imagez" and "labelz" are "images" and "labels": libzip adds no name twice. */
static void write_repeated(const char *name, const struct data_entry *entries, size_t count)
{
    uint8_t zip[4096];
    data_write_zip(name, entries, count);
    size_t size = data_read(name, zip, sizeof zip);
    for (size_t i = 0; i + 10 < size; i++)
        if (memcmp(zip + i, "labelz.npy", 10) == 0 || memcmp(zip + i, "imagez.npy", 10) == 0)
            zip[i + 5] = 's';
    data_write(name, zip, size);
}

static void the_last_array_of_a_name_counts(void)
{
    static const uint8_t other[2] = {3, 4}, far[8] = {90, 91, 92, 93, 94, 95, 96, 97};
    uint8_t images[2][256], labels[2][256];
    float values[4];
    const struct data_entry entries[] = {
        {"images.npy", images[0], data_npy(images[0], "|u1", "(2, 4)", bytes, 8)},
        {"labels.npy", labels[0], data_npy(labels[0], "|u1", "(2,)", two_labels, 2)},
        {"imagez.npy", images[1], data_npy(images[1], "|u1", "(2, 4)", far, 8)},
        {"labelz.npy", labels[1], data_npy(labels[1], "|u1", "(2,)", other, 2)}};
    write_repeated("twice.npz", entries, 4);
    check_set("twice.npz", NULL, "npz 2x2x1 bytes: 2 0 0: 3 4");
    read_image("twice.npz", 1, values);
    CU_ASSERT_EQUAL(values[0], 94 / 255.0f);
}

static void arrays_that_could_both_be_meant_are_refused(void)
{
    uint8_t images[256], labels[256];
    size_t image_size = data_npy(images, "|u1", "(2, 4)", bytes, 8);
    size_t label_size = data_npy(labels, "|u1", "(2,)", two_labels, 2);
    struct data_entry entries[] = {{"x.npy", images, image_size},
                                   {"labels.npy", labels, label_size},
                                   {"data.npy", images, image_size}};
    data_write_zip("both.npz", entries, 3);
    data_refuses("both.npz", NULL, GLCNN_MALFORMED_DATA,
                 "both.npz: the arrays x.npy and data.npy could both be the images; expected one");
    entries[2] = (struct data_entry){"y.npy", labels, label_size};
    data_write_zip("both.npz", entries, 3);
    data_refuses("both.npz", NULL, GLCNN_MALFORMED_DATA,
                 "the arrays labels.npy and y.npy could both be the labels");
    const char *path = data_path("both.npz");
    glcnn_dataset *data;
    CU_ASSERT_EQUAL(glcnn_dataset_open_files(&path, 1, NULL, &data, NULL), GLCNN_SUCCESS);
    glcnn_dataset_destroy(&data);
}

/* The place behind a signature of a zip file where sizes stand. */
static void set_size(uint8_t *zip, size_t size, const char *signature, size_t offset,
                     uint32_t value)
{
    for (size_t i = 0; i + 4 < size; i++)
        if (memcmp(zip + i, signature, 4) == 0)
            for (int k = 0; k < 4; k++)
                zip[i + offset + (size_t)k] = (uint8_t)(value >> 8 * k);
}

static void archives_that_lie_are_refused(void)
{
    uint8_t zip[4096], images[4096] = {0}, zeros[2048] = {0};
    size_t image_size = data_npy(images, "|u1", "(2, 1024)", zeros, 2048);
    data_write_zip("bomb.npz", &(struct data_entry){"images.npy", images, image_size}, 1);
    size_t size = data_read("bomb.npz", zip, sizeof zip);
    set_size(zip, size, "PK\1\2", 24, 0xf0000000);
    set_size(zip, size, "PK\3\4", 22, 0xf0000000);
    data_write("bomb.npz", zip, size);
    data_refuses("bomb.npz", NULL, GLCNN_MALFORMED_DATA, "or above 2147483648 bytes");
    set_size(zip, size, "PK\1\2", 24, 100);
    set_size(zip, size, "PK\3\4", 22, 100);
    data_write("bomb.npz", zip, size);
    data_refuses("bomb.npz", NULL, GLCNN_MALFORMED_DATA, "bomb.npz: ");
    for (size_t part = 4; part < size; part += 7) {
        data_write("bomb.npz", zip, part);
        data_refuses("bomb.npz", NULL, GLCNN_MALFORMED_DATA, "bomb.npz");
    }
}

/* ---- CSV ---- */

static void csv_is_read(void)
{
    static const struct {
        const char *text, *wanted;
    } rows[] = {
        {"0,1,2,3,4\n1,5,6,7,8\n", "csv 2x2x1 bytes: 2 0 0: 0 1"},
        {"0,1,2,3,4\r\n1,5,6,7,8\r\n", "csv 2x2x1 bytes: 2 0 0: 0 1"},
        {"0;1;2;3;4\n1;5;6;7;8", "csv 2x2x1 bytes: 2 0 0: 0 1"},
        {"0\t1\t2\t3\t4\n1\t5\t6\t7\t8\n\n", "csv 2x2x1 bytes: 2 0 0: 0 1"},
        {"\xef\xbb\xbfLabel,a,b,c,d\n0,1,2,3,4\n1,5,6,7,8\n", "csv 2x2x1 bytes: 2 0 0: 0 1"},
        {"label,0,1,2,3\n0,1,2,3,4\n1,5,6,7,8\n", "csv 2x2x1 bytes: 2 0 0: 0 1"},
        {"a,b,c,d,target\n1,2,3,4,0\n1,5,6,7,8\n", "csv 2x2x1 bytes: 2 0 0: 0 8"},
        {"dog,1,2,3,4\ncat,5,6,7,8\n", "csv 2x2x1 bytes: 2 0 0: cat dog"},
        {"\"a \"\"b\"\", c\" , \"1\",2, 3 ,4\n\"x\ny\",5,6,7,8\n",
         "csv 2x2x1 bytes: 2 0 0: a \"b\", c x\ny"},
        {"0,1,2,3,256\n1,5,6,7,8\n", "csv 2x2x1 numbers: 2 0 0: 0 1"},
        {"0,1,2,3,4.0\n1,5,6,7,8\n", "csv 2x2x1 numbers: 2 0 0: 0 1"},
        {"0,-1,2e3,.5,+4\n1,5,6,7,8\n", "csv 2x2x1 numbers: 2 0 0: 0 1"},
        {"10,1\n9,2\n-1,3\n10,4\n", "csv 1x1x1 bytes: 4 0 0: -1 9 10"},
        {"10,1\n9,2\na,3\n", "csv 1x1x1 bytes: 3 0 0: 10 9 a"},
        {"10.0,1\n9.00,2\n-0.0,3\n10,4\n1.,5\n", "csv 1x1x1 bytes: 5 0 0: 0 1 9 10"},
        {"10.0,1\n9.5,2\n9,3\n", "csv 1x1x1 bytes: 3 0 0: 10.0 9 9.5"},
        {"7,1\n007,2\n10,3\n", "csv 1x1x1 bytes: 3 0 0: 007 10 7"},
        {"label,a;b\n0,1\n1,2\n", "csv 1x1x1 bytes: 2 0 0: 0 1"}, /* a comma, of as many */
        /* Numbers that rise, and count nothing. */
        {"0,3,5,7,9,11,13,15,17,19\n1,2,3,4,5,6,7,8,9,1\n", "csv 3x3x1 bytes: 2 0 0: 0 1"},
        {"123456789012345678,1\n7,2\n", "csv 1x1x1 bytes: 2 0 0: 7 123456789012345678"},
        {"1234567890123456789,1\n7,2\n", "csv 1x1x1 bytes: 2 0 0: 1234567890123456789 7"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        data_write_text("table.csv", rows[i].text);
        check_set("table.csv", NULL, rows[i].wanted);
    }
    data_write_gz("packed/only.csv.gz", "0,1\n1,2\n", 8);
    check_set("packed", NULL, "csv 1x1x1 bytes: 2 0 0: 0 1");
}

static void csv_has_the_right_values(void)
{
    float values[4];
    data_write_text("values.csv", "x1,y,x2,x3,x4\n1,b,2,3,0.1\n5,a,-6e-2,7,8.25\n");
    CU_ASSERT_EQUAL(read_image("values.csv", 0, values), 1);
    CU_ASSERT_TRUE(values[0] == 1 && values[1] == 2 && values[2] == 3 && values[3] == 0.1f);
    CU_ASSERT_EQUAL(read_image("values.csv", 1, values), 0);
    CU_ASSERT_TRUE(values[0] == 5 && values[1] == -6e-2f && values[2] == 7 && values[3] == 8.25f);
}

static void csv_that_is_damaged_is_refused(void)
{
    static const struct {
        const char *text, *phrase;
    } rows[] = {
        {"", "is empty"},
        {"\n\n", "the file is empty"},
        {"label,a\n", "only names of columns"},
        {"0\n1\n", "line 1: has one field"},
        {"0,1,2\n1,2\n", "line 2: has 2 fields, and the first line has 3"},
        {"0,1,2\n1,2,3,4\n", "line 2: has 4 fields"},
        {"0,1,2\n1,2,x\n", "line 2, field 3: \"x\" is not a number"},
        {"0,1,2\n1,,2\n", "line 2, field 2: \"\" is not a number"},
        {"0,1,2\n1,nan,2\n", "line 2, field 2: \"nan\" is not a number"},
        {"0,1,2\n\n\n1,1e99,2\n", "line 4, field 2: \"1e99\" is not a number"},
        {"0,1,2\n1,0x10,2\n", "is not a number"},
        {"0,1,2\n,1,2\n", "has a label of 0 bytes"},
        {"0,1,2\n1,\"2,3\n", "line 2, field 2: the quotes have no end"},
        {"0,1,2\n1,\"2\"3,4\n", "line 2, field 2: goes on behind its quotes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        data_write_text("bad.csv", rows[i].text);
        data_refuses("bad.csv", NULL, GLCNN_MALFORMED_DATA, rows[i].phrase);
    }
    data_write("bad.csv", "0,1\n1,\0\n", 8);
    data_refuses("bad.csv", NULL, GLCNN_MALFORMED_DATA, "a zero byte");
}

/* Which columns a first line makes label and values, and what is said of them; "!" and a phrase: a
 * refusal. */
static void columns_are_recognised_or_asked_for(void)
{
    static const struct {
        const char *text, *wanted, *decision;
    } rows[] = {
        {",label,p0,p1\n0,a,1,2\n1,b,3,4\n", "csv 2x1x1 bytes: 2 0 0: a b",
         "the label is column 2 \"label\"; 2 columns are values, \"p0\" to \"p1\"; left out: "
         "column "
         "1, which has no name"},
        {"Unnamed: 0,label,p0\n0,a,1\n1,b,3\n", "csv 1x1x1 bytes: 2 0 0: a b",
         "1 column is a value, \"p0\"; left out: column 1 \"Unnamed: 0\""},
        {"id,file_name,p0,class,Image-ID\n7,a.png,1,a,x\n8,,3,b,\n", "csv 1x1x1 bytes: 2 0 0: a b",
         "left out: column 1 \"id\", column 2 \"file_name\", column 5 \"Image-ID\""},
        {"\"\";\"y\";\"V1\"\n\"1\";0;5\n\"2\";1;6\n", "csv 1x1x1 bytes: 2 0 0: 0 1",
         "the label is column 2 \"y\""},
        {"INDEX,0,1,label\n0,5,6,x\n1,7,8,y\n", "csv 2x1x1 bytes: 2 0 0: x y",
         "2 columns are values, \"0\" to \"1\"; left out: column 1 \"INDEX\""},
        {"id,species,p0\n0,a,1\n1,b,3\n", "csv 1x1x1 bytes: 2 0 0: a b",
         "the label is column 2 \"species\"; 1 column is a value, \"p0\"; left out: column "
         "1 \"id\""},
        {"a,1,2\nb,3,4\n", "csv 2x1x1 bytes: 2 0 0: a b",
         "the label is column 1; 2 columns are values"},
        {",0,1,2\n0,5,1,2\n1,6,3,4\n",
         "!no column is named label, class, target or y, and column 2", NULL},
        {"p0,p1,p2\n0,1,2\n1,3,4\n", "!expected the label's column to be named \"label\"", NULL},
        {"label,class,p0\n0,1,2\n1,3,4\n",
         "!the columns \"label\" and \"class\" could both be the label", NULL},
        {"0,1\n1,1\n2,1\n3,1\n4,1\n5,1\n6,1\n7,1\n8,1\n9,1\n",
         "!in column 1 each of 10 lines has a label of its own", NULL},
        {"a.png,1\nb.png,1\nc,1\nd,1\ne,1\nf,1\ng,1\nh,1\ni,1\nj,1\n",
         "!\"label\" for the label, \"id\" for what is left out", NULL},
        {"0,1\n1,1\n2,1\n3,1\n4,1\n5,1\n6,1\n7,1\n8,1\n8,1\n",
         "csv 1x1x1 bytes: 10 0 0: 0 1 2 3 4 5 6 7 8", "the label is column 1"},
        {"0,1,2,3,4,5,6,7,8,9\n1,1,1,1,1,1,1,1,1,1\n", "!line 1: counts its 10 fields", NULL},
        {"1,2,3,4,5,6,7,8,9,10\n1,1,1,1,1,1,1,1,1,1\n", "!line 1: counts its 10 fields", NULL},
        {"label,p0\na,x\n",
         "!line 2, field 2: \"x\" is not a number; expected a value of the image", NULL},
        {"id,label\n1,a\n2,b\n", "!has no column of values", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        data_write_text("columns.csv", rows[i].text);
        if (*rows[i].wanted == '!') {
            data_refuses("columns.csv", NULL, GLCNN_MALFORMED_DATA, rows[i].wanted + 1);
            continue;
        }
        check_set("columns.csv", NULL, rows[i].wanted);
        glcnn_dataset *data = data_open("columns.csv", NULL);
        const char *said = glcnn_dataset_decision(data, 0);
        CU_ASSERT_TRUE(said && strstr(said, "columns.csv: ") && strstr(said, rows[i].decision));
        if (!(said && strstr(said, rows[i].decision)))
            printf("\n    expected \"%s\", got \"%s\"", rows[i].decision, said);
        CU_ASSERT_PTR_NULL(glcnn_dataset_decision(data, 1));
        glcnn_dataset_destroy(&data);
    }
}

static void columns_that_are_left_out_are_no_values(void)
{
    float values[2];
    data_write_text("left.csv", ",p0,file,label,p1\n70,1,a,x,2\n71,4,b,y,5\n");
    CU_ASSERT_EQUAL(read_image("left.csv", 1, values), 1);
    CU_ASSERT(values[0] == 4 / 255.0f && values[1] == 5 / 255.0f);
}

/* ---- IDX ---- */

static const uint8_t idx_images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0,
                                     0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 255};
static const uint8_t idx_labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 5, 3};

static void idx_pairs_are_found(void)
{
    float values[6];
    data_write("idx/train-images-idx3-ubyte", idx_images, sizeof idx_images);
    data_write("idx/train-labels-idx1-ubyte", idx_labels, sizeof idx_labels);
    check_set("idx", NULL, "idx 3x2x1 bytes: 2 0 0: 3 5");
    CU_ASSERT_EQUAL(read_image("idx", 1, values), 0);
    CU_ASSERT_EQUAL(values[5], 1);
    CU_ASSERT_EQUAL(values[0], 7 / 255.0f);
    data_write_gz("idx/t10k-images-idx3-ubyte.gz", idx_images, sizeof idx_images);
    data_write_gz("idx/t10k-labels-idx1-ubyte.gz", idx_labels, sizeof idx_labels);
    check_set("idx", NULL, "idx 3x2x1 bytes: 2 0 2: 3 5");
    data_write("dot/some-images.idx3-ubyte", idx_images, sizeof idx_images);
    data_write("dot/some-labels.idx1-ubyte", idx_labels, sizeof idx_labels);
    check_set("dot", NULL, "idx 3x2x1 bytes: 2 0 0: 3 5");
    check_set("idx/train-images-idx3-ubyte", NULL, "idx 3x2x1 bytes: 2 0 0: 3 5");
}

static void idx_that_is_damaged_is_refused(void)
{
    static const struct {
        size_t at;
        int change;
        const char *phrase;
    } rows[] = {{3, 5, "has 5 dimensions"},
                {3, 0, "has 0 dimensions"},
                {7, 3, "is truncated: it has 12 bytes of data, and its header promises 18"},
                {7, 1, "is too long"},
                {7, 0, "dimension 0 is 0"},
                {4, 255, "at most"},
                {2, 9, "its name is that of format idx"}};
    data_write("bad/labels-idx1-ubyte", idx_labels, sizeof idx_labels);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t file[sizeof idx_images];
        memcpy(file, idx_images, sizeof file);
        file[rows[i].at] = (uint8_t)rows[i].change;
        data_write("bad/images-idx3-ubyte", file, sizeof file);
        data_refuses("bad", NULL, GLCNN_MALFORMED_DATA, rows[i].phrase);
    }
    data_write("bad/images-idx3-ubyte", idx_images, sizeof idx_images);
    data_write("bad/labels-idx1-ubyte", idx_labels, sizeof idx_labels - 1);
    data_refuses("bad", NULL, GLCNN_MALFORMED_DATA, "labels-idx1-ubyte: is truncated");
}

static void idx_that_is_cut_off_is_refused(void)
{
    uint8_t packed[256];
    data_write("part/labels-idx1-ubyte", idx_labels, sizeof idx_labels);
    for (size_t size = 0; size < sizeof idx_images; size++) {
        data_write("part/images-idx3-ubyte", idx_images, size);
        data_refuses("part", NULL, GLCNN_MALFORMED_DATA, "part/images-idx3-ubyte: ");
    }
    data_write("squeezed/labels-idx1-ubyte", idx_labels, sizeof idx_labels);
    data_write_gz("whole.gz", idx_images, sizeof idx_images);
    const size_t whole = data_read("whole.gz", packed, sizeof packed);
    for (size_t size = 0; size < whole; size++) {
        data_write("squeezed/images-idx3-ubyte.gz", packed, size);
        data_refuses("squeezed", NULL, GLCNN_MALFORMED_DATA, "squeezed/images-idx3-ubyte.gz");
    }
}

/* What is taken holds the same data: only padding bits behind the stream mean nothing. */
static void idx_of_changed_compressed_data_is_refused(void)
{
    uint8_t packed[256];
    float values[6];
    size_t refused = 0;
    data_write("flip/labels-idx1-ubyte", idx_labels, sizeof idx_labels);
    data_write_gz("flip.gz", idx_images, sizeof idx_images);
    const size_t size = data_read("flip.gz", packed, sizeof packed);
    for (size_t i = 10; i < size; i++) { /* behind gzip's own header */
        glcnn_dataset *data;
        packed[i] ^= 0x10;
        data_write("flip/images-idx3-ubyte.gz", packed, size);
        packed[i] ^= 0x10;
        bool is_taken = glcnn_dataset_open(data_path("flip"), NULL, &data, NULL) == GLCNN_SUCCESS;
        glcnn_dataset_destroy(&data);
        refused += !is_taken;
        if (is_taken)
            CU_ASSERT(read_image("flip", 1, values) == 0 && values[0] == 7 / 255.0f)
    }
    CU_ASSERT(refused >= size - 11);
}

/* A few kB that unpack to far more than the header says. */
static void idx_unpacks_no_more_than_it_should(void)
{
    uint8_t *zeros = calloc(64, 1 << 20);
    memcpy(zeros, idx_images, 16);
    data_write("bomb/labels-idx1-ubyte", idx_labels, sizeof idx_labels);
    data_write_gz("bomb/images-idx3-ubyte.gz", zeros, (size_t)64 << 20);
    data_refuses("bomb", NULL, GLCNN_MALFORMED_DATA, "is too long: it has 67108848 bytes of data");
    free(zeros);
}

/* Files of two gigabytes with little in them: memory for one is not there, and none is asked for. */
static void large_files_without_contents_are_not_read(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const off_t below = INT32_MAX, above = (off_t)1 << 33;
    /* A hole makes a file longer, and takes no room on the disk. */
    const struct {
        const char *name;
        off_t size;
    } longer[] = {{"long/images-idx3-ubyte", below},
                  {"more/labels-idx1-ubyte", below},
                  {"long.npy", below},
                  {"long.csv", below},
                  {"huge.csv", above}};
    const struct rlimit little = {(rlim_t)1 << 30, RLIM_INFINITY};
    struct rlimit old;
    data_write("long/images-idx3-ubyte", idx_images, sizeof idx_images);
    data_write("long/labels-idx1-ubyte", idx_labels, sizeof idx_labels);
    data_write("more/images-idx3-ubyte", idx_images, sizeof idx_images);
    data_write("more/labels-idx1-ubyte", idx_labels, sizeof idx_labels);
    data_write_npy("long.npy", "<f4", "(2, 2, 2)", "", 0);
    data_write_text("long.csv", "a,1\nb,2\n");
    data_write_text("huge.csv", "a,1\nb,2\n");
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
        CU_ASSERT_EQUAL(truncate(data_path(longer[i].name), longer[i].size), 0);
    CU_ASSERT_EQUAL(getrlimit(RLIMIT_AS, &old), 0);
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_AS, &little), 0);
    data_refuses("long", NULL, GLCNN_MALFORMED_DATA, "images-idx3-ubyte: is too long");
    data_refuses("more", NULL, GLCNN_MALFORMED_DATA, "labels-idx1-ubyte: is too long");
    data_refuses("long.npy", NULL, GLCNN_MALFORMED_DATA, "long.npy: ");
    data_refuses("long.csv", NULL, GLCNN_MALFORMED_DATA, "a zero byte");
    data_refuses("huge.csv", NULL, GLCNN_MALFORMED_DATA,
                 "has 8589934592 bytes; expected 2147483648 at most");
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_AS, &old), 0);
#endif
}

/* ---- Parts and classes ---- */

static void parts_are_found_by_their_names(void)
{
    data_write_text("parts/train.csv", "b,1\na,2\n");
    data_write_text("parts/validation.csv", "c,3\n");
    data_write_text("parts/test.csv", "a,4\nb,5\na,6\n");
    data_write_text("parts/notes.txt", "text");
    check_set("parts", NULL, "csv 1x1x1 bytes: 2 1 3: a b c");
    data_refuses("parts", &(struct glcnn_data_parameters){.strict = true}, GLCNN_MALFORMED_DATA,
                 "no image of the class \"c\"");
    data_write_text("parts/test.csv", "a,4.5\n");
    check_set("parts", NULL, "csv 1x1x1 numbers: 2 1 1: a b c");
    data_write_text("parts/test.csv", "a,4,5\n");
    data_refuses("parts", NULL, GLCNN_MALFORMED_DATA, "test.csv: its images are 2 x 1");
    data_write_text("parts/train.npz", "x");
    data_refuses("parts", NULL, GLCNN_MALFORMED_DATA, "has train.csv and train.npz");
    data_write_text("two/a.csv", "b,1\na,2\n");
    data_write_text("two/b.csv", "b,1\na,2\n");
    data_refuses("two", NULL, GLCNN_MALFORMED_DATA, "has a.csv and b.csv");
}

/* Labels of lines, the classes that are given, and which of these the labels are; "!" and a phrase: a
 * refusal. `decision`: a phrase of the message that tells of it. */
static const struct matching {
    const char *labels[6], *classes[5], *wanted, *decision;
} matchings[] = {
    {{"hat", "3", "shoe"}, {"shoe", "3", "hat"}, "2 1 0", NULL},
    {{"2", "0", "1"}, {"shoe", "hat", "cap"}, "2 0 1", NULL},
    {{"2.0", "0", "1.0"}, {"shoe", "hat", "cap"}, "2 0 1", NULL},
    /* positions in the order of texts that older versions gave floats */
    {{"0", "1", "2", "10"}, {"0.0", "1.0", "10.0", "2.0"}, "0 1 3 2", NULL},
    {{"0.0", "1.0", "2.0", "10.0"}, {"0", "1", "2", "10"}, "0 1 2 3", NULL},
    {{"3.0", "-1"}, {"-1", "cat", "3"}, "2 0", NULL},
    /* as names 0 would be lost, so none of them is one */
    {{"0", "1", "2"},
     {"1", "2", "3"},
     "0 1 2",
     "no class is named \"0\", so labels count the "
     "classes: 0 is \"1\", 2 is \"3\""},
    {{"1", "2"}, {"1", "2", "3"}, "0 1", NULL},
    {{"0", "1"}, {"cat", "1"}, "0 1", "no class is named \"0\""},
    {{"hat", "3", "0", "shoe"},
     {"shoe", "3", "hat"},
     "!the label \"0\" is not the name of one of the 3 classes, \"shoe\" to \"hat\", and the label "
     "\"hat\" is not the number of one, 0 to 2; expected all labels to be names, or all to be "
     "numbers",
     NULL},
    {{"1", "0", "3"},
     {"1", "2", "3"},
     "!the label \"0\" is not the name of one of the 3 classes, "
     "\"1\" to \"3\", and the label \"3\" is not the number",
     NULL},
    {{"0", "0.5"}, {"cat", "dog"}, "!the label \"0.5\" is not the number of one, 0 to 1", NULL},
    {{"0", "-1"}, {"cat", "dog"}, "!the label \"-1\" is not the number of one", NULL},
    {{"00", "01"}, {"0", "1"}, "!the label \"00\" is not the name of one", NULL},
    {{"1.0", "cat"}, {"1", "cat"}, "!the label \"1.0\" is not the name of one", NULL},
    {{"1", "2"}, {"1", "1.0", "2"}, "!the classes \"1\" and \"1.0\" are the same", NULL},
};

static void check_labels(const struct matching *m, glcnn_dataset *data)
{
    char found[64] = "";
    const char *decision = glcnn_dataset_decision(data, 1); /* behind that on columns */
    for (uint32_t i = 0; i < 6 && m->labels[i]; i++)
        sprintf(found + strlen(found), "%s%u", i ? " " : "",
                glcnn_dataset_label(data, GLCNN_DATA_PART_TRAINING, i));
    CU_ASSERT_STRING_EQUAL(found, m->wanted);
    CU_ASSERT_EQUAL(decision != NULL, m->decision != NULL);
    CU_ASSERT_TRUE(!m->decision || (decision && strstr(decision, m->decision)));
    if (strcmp(found, m->wanted) != 0 ||
        (m->decision && !(decision && strstr(decision, m->decision))))
        printf("\n    %s, ..: expected %s, found %s: %s", m->labels[0], m->wanted, found,
               decision ? decision : "nothing said");
}

static void labels_are_all_names_or_all_numbers(void)
{
    for (size_t i = 0; i < sizeof matchings / sizeof *matchings; i++) {
        const struct matching *m = &matchings[i];
        struct glcnn_data_parameters p = {.class_names = m->classes};
        char text[128] = "";
        for (; p.class_count < 5 && m->classes[p.class_count]; p.class_count++)
            ;
        for (uint32_t k = 0; k < 6 && m->labels[k]; k++)
            sprintf(text + strlen(text), "%s,%u\n", m->labels[k], k);
        data_write_text("matched.csv", text);
        if (*m->wanted == '!') {
            data_refuses("matched.csv", &p, GLCNN_MALFORMED_DATA, m->wanted + 1);
            continue;
        }
        glcnn_dataset *data = data_open("matched.csv", &p);
        check_labels(m, data);
        glcnn_dataset_destroy(&data);
    }
}

/* Labels of all parts are decided on together, whatever the files have. */
static void labels_of_all_parts_are_decided_together(void)
{
    const struct glcnn_data_parameters p = {.class_count = 3,
                                            .class_names = (const char *const[]){"1", "2", "3"}};
    data_write_text("together/train.csv", "1,1\n2,2\n");
    data_write_text("together/test.csv", "0,3\n");
    glcnn_dataset *data = data_open("together", &p);
    CU_ASSERT_EQUAL(glcnn_dataset_label(data, GLCNN_DATA_PART_TRAINING, 0), 1);
    CU_ASSERT_EQUAL(glcnn_dataset_label(data, GLCNN_DATA_PART_TEST, 0), 0);
    glcnn_dataset_destroy(&data);
    data_write_text("together/train.csv", "1.0,1\n10.0,2\n2.0,2\n");
    data_write_text("together/test.csv", "2,3\n");
    check_set("together", NULL, "csv 1x1x1 bytes: 3 0 1: 1 2 10");
}

static void class_names_are_given_once(void)
{
    const char *const twice[] = {"a", "a"};
    data_write_text("given.csv", "hat,1\n4,2\n");
    data_refuses("given.csv",
                 &(struct glcnn_data_parameters){.class_count = 2, .class_names = twice},
                 GLCNN_INVALID_ARGUMENT, "\"a\" twice");
}

static void many_classes_are_told_apart(void)
{
    char *text = malloc(1 << 20), *to = text + sprintf(text, "label,value\n");
    for (int i = 0; i < 5000; i++)
        to += sprintf(to, "%d,1\n", (i * 7919) % 5000);
    data_write_text("many.csv", text);
    glcnn_dataset *data = data_open("many.csv", NULL);
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->class_count, 5000);
    for (uint32_t i = 0; i < 5000; i++)
        CU_ASSERT_EQUAL(glcnn_dataset_label(data, GLCNN_DATA_PART_TRAINING, i), i * 7919 % 5000);
    glcnn_dataset_destroy(&data);
    to = text + sprintf(text, "label,value\n");
    for (int i = 0; i < 65537; i++)
        to += sprintf(to, "%d,1\n", i);
    data_write_text("many.csv", text);
    data_refuses("many.csv", NULL, GLCNN_MALFORMED_DATA, "more than 65536 classes");
    free(text);
}

static void bad_parameters_are_refused(void)
{
    static const struct glcnn_data_parameters rows[] = {
        {.width = 4097},    {.height = 4097},     {.channels = GLCNN_DATA_MAX_CHANNELS + 1},
        {.validation = 1},  {.validation = -0.1}, {.values = (glcnn_data_values)3},
        {.class_count = 2},
    };
    static const char *const phrases[] = {"width",      "height", "channels",   "validation",
                                          "validation", "values", "class_names"};
    data_write_text("good.csv", "a,1\nb,2\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        data_refuses("good.csv", &rows[i], GLCNN_INVALID_ARGUMENT, phrases[i]);
    data_refuses("gone", NULL, GLCNN_IO_ERROR, "gone: cannot be opened");
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_dataset *data;
    CU_ASSERT_EQUAL(glcnn_dataset_open("/dev/zero", NULL, &data, error), GLCNN_IO_ERROR);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "is not a regular file but a device"));
    CU_ASSERT_EQUAL(glcnn_dataset_open(NULL, NULL, &data, NULL), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_dataset_open("", NULL, &data, error), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "the path is empty"));
    const char *const paths[] = {"a.png", ""};
    CU_ASSERT_EQUAL(glcnn_dataset_open_files(paths, 2, NULL, &data, error), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_STRING_EQUAL(error, "path 2 of 2 is empty; expected the name of a file");
    glcnn_dataset_destroy(NULL);
}

/* Labels are passed over where images are to be predicted. */
static void tables_are_read_without_labels(void)
{
    static const char *const texts[] = {"1,2,3,4\n5,6,7,8\n",
                                        "a,label,b,c,d\n1,x,2,3,4\n5,y,6,7,8\n",
                                        ",id,a,label,b,c,d\n0,9,1,x,2,3,4\n1,9,5,y,6,7,8\n"};
    for (size_t i = 0; i < 3; i++) {
        char error[GLCNN_ERROR_LENGTH] = "";
        glcnn_dataset *data;
        data_write_text("plain.csv", texts[i]);
        const char *path = data_path("plain.csv");
        CU_ASSERT_EQUAL_FATAL(glcnn_dataset_open_files(&path, 1, NULL, &data, error),
                              GLCNN_SUCCESS);
        CU_ASSERT_EQUAL(glcnn_dataset_info(data)->counts[GLCNN_DATA_PART_TEST], 2);
        CU_ASSERT_EQUAL(glcnn_dataset_info(data)->width, 2);
        CU_ASSERT_EQUAL(glcnn_dataset_info(data)->class_count, 0);
        CU_ASSERT_EQUAL(glcnn_dataset_label(data, GLCNN_DATA_PART_TEST, 0), GLCNN_DATA_NO_LABEL);
        glcnn_dataset_destroy(&data);
    }
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(shapes_are_told_apart),
        UNIT_TEST(values_stand_in_their_places),
        UNIT_TEST(whole_numbers_are_bytes_and_others_stand_for_themselves),
        UNIT_TEST(images_that_stay_in_their_file_are_the_same),
        UNIT_TEST(images_that_stay_become_numbers_where_others_are),
        UNIT_TEST(images_beyond_memory_are_read_from_their_file),
        UNIT_TEST(labels_must_fit),
        UNIT_TEST(archives_have_parts),
        UNIT_TEST(the_last_array_of_a_name_counts),
        UNIT_TEST(arrays_that_could_both_be_meant_are_refused),
        UNIT_TEST(archives_that_lie_are_refused),
        UNIT_TEST(csv_is_read),
        UNIT_TEST(csv_has_the_right_values),
        UNIT_TEST(csv_that_is_damaged_is_refused),
        UNIT_TEST(columns_are_recognised_or_asked_for),
        UNIT_TEST(columns_that_are_left_out_are_no_values),
        UNIT_TEST(idx_pairs_are_found),
        UNIT_TEST(idx_that_is_damaged_is_refused),
        UNIT_TEST(idx_that_is_cut_off_is_refused),
        UNIT_TEST(idx_of_changed_compressed_data_is_refused),
        UNIT_TEST(idx_unpacks_no_more_than_it_should),
        UNIT_TEST(large_files_without_contents_are_not_read),
        UNIT_TEST(parts_are_found_by_their_names),
        UNIT_TEST(labels_are_all_names_or_all_numbers),
        UNIT_TEST(labels_of_all_parts_are_decided_together),
        UNIT_TEST(class_names_are_given_once),
        UNIT_TEST(many_classes_are_told_apart),
        UNIT_TEST(bad_parameters_are_refused),
        UNIT_TEST(tables_are_read_without_labels),
        CU_TEST_INFO_NULL};
    int status = unit_run("data_tables", tests, argc, argv);
    data_remove_folder();
    return status;
}
