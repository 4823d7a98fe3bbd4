/* Splits and batches: what they have in them, and that it follows from the seed alone. */
#include "tests/data_files.h"

#include <sys/stat.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit.h"

/* ---- Data ---- */

static uint32_t salt; /* so that each picture has its own pixels */

static uint32_t noise(uint32_t x, uint32_t y, uint32_t c)
{
    return ((x * 7919 + y * 104729 + c * 1299709 + salt * 15485863 + 1) * 2654435761u) >> 24;
}

/* Classes a, b, ... of counts[i] pictures of 6 x 5. */
static void make_pictures(const char *folder, const uint32_t *counts, uint32_t classes)
{
    char name[64];
    for (uint32_t k = 0; k < classes; k++)
        for (uint32_t i = 0; i < counts[k]; i++) {
            salt = 1000 * k + i;
            snprintf(name, sizeof name, "%s/%c/%03u.png", folder, 'a' + (int)k, i);
            data_write_png(name, &(struct data_png){.width = 6, .height = 5, .value = noise});
        }
}

/* Cuts the file of a picture in its middle: its head is whole. */
static void cut(const char *name)
{
    uint8_t bytes[512];
    size_t size = data_read(name, bytes, sizeof bytes);
    data_write(name, bytes, size - 20);
}

/* A table of `count` images of one value, their number, in classes by turns. */
static void make_table(const char *name, uint32_t count, uint32_t classes)
{
    char text[16384], *to = text;
    for (uint32_t i = 0; i < count; i++)
        to += sprintf(to, "%u,%u\n", i % classes, i);
    data_write_text(name, text);
}

/* ---- Splits ---- */

static void a_split_takes_its_share_of_each_class(void)
{
    static const uint32_t counts[] = {40, 10, 3, 2, 1, 8};
    static const uint32_t wanted[] = {8, 2, 1, 1, 0, 2}; /* a fifth, rounded, one at least */
    make_pictures("split", counts, 6);
    const struct glcnn_data_parameters p = {.validation = 0.2, .seed = 7};
    glcnn_dataset *data = data_open("split", &p);
    uint32_t found[6] = {0}, both = 0;
    const struct glcnn_data_info *info = glcnn_dataset_info(data);
    CU_ASSERT_EQUAL(info->counts[0] + info->counts[1], 64);
    CU_ASSERT_EQUAL(info->counts[1], 14);
    for (uint32_t i = 0; i < info->counts[1]; i++) {
        char name[64], other[64];
        found[glcnn_dataset_label(data, GLCNN_DATA_PART_VALIDATION, i)]++;
        glcnn_dataset_name(data, GLCNN_DATA_PART_VALIDATION, i, name, sizeof name);
        for (uint32_t k = 0; k < info->counts[0]; k++) {
            glcnn_dataset_name(data, GLCNN_DATA_PART_TRAINING, k, other, sizeof other);
            both += strcmp(name, other) == 0;
        }
    }
    CU_ASSERT_EQUAL(both, 0);
    CU_ASSERT_EQUAL(memcmp(found, wanted, sizeof wanted), 0);
    glcnn_dataset_destroy(&data);
}

/* Nine tenths of 1, 2 and 5 are 0.9, 1.8 and 4.5, which would be all of them. */
static void a_split_leaves_one_to_train_with(void)
{
    static const uint32_t counts[] = {1, 2, 5};
    uint32_t left[3] = {0};
    make_pictures("few", counts, 3);
    glcnn_dataset *data = data_open("few", &(struct glcnn_data_parameters){.validation = 0.9});
    CU_ASSERT_EQUAL_FATAL(glcnn_dataset_info(data)->counts[0], 3);
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->counts[1], 5);
    for (uint32_t i = 0; i < 3; i++)
        left[glcnn_dataset_label(data, GLCNN_DATA_PART_TRAINING, i)]++;
    CU_ASSERT(left[0] == 1 && left[1] == 1 && left[2] == 1);
    glcnn_dataset_destroy(&data);
}

static void list_validation(uint64_t seed, char names[64][16], uint32_t *count)
{
    const struct glcnn_data_parameters p = {.validation = 0.25, .seed = seed};
    glcnn_dataset *data = data_open("split", &p);
    *count = glcnn_dataset_info(data)->counts[1];
    for (uint32_t i = 0; i < *count; i++)
        glcnn_dataset_name(data, GLCNN_DATA_PART_VALIDATION, i, names[i], sizeof names[i]);
    glcnn_dataset_destroy(&data);
}

static void a_split_follows_from_its_seed(void)
{
    static const uint32_t counts[] = {40, 10};
    char one[64][16] = {{0}}, again[64][16] = {{0}}, other[64][16] = {{0}};
    uint32_t count;
    make_pictures("split", counts, 2);
    list_validation(1, one, &count);
    list_validation(1, again, &count);
    list_validation(2, other, &count);
    CU_ASSERT_EQUAL(memcmp(one, again, sizeof one), 0);
    CU_ASSERT_NOT_EQUAL(memcmp(one, other, sizeof one), 0);
    for (uint32_t i = 1; i < count; i++)
        CU_ASSERT_TRUE(strcmp(one[i - 1], one[i]) < 0);
}

/* ---- Folders ---- */

static void write_size(const char *name, uint32_t width, uint32_t height, int colour_type)
{
    data_write_png(
        name, &(struct data_png){
                  .width = width, .height = height, .colour_type = colour_type, .value = noise});
}

static void check_size(const char *folder, const struct glcnn_data_parameters *p, uint32_t width,
                       uint32_t height, uint32_t channels)
{
    glcnn_dataset *data = data_open(folder, p);
    const struct glcnn_data_info *info = glcnn_dataset_info(data);
    CU_ASSERT_EQUAL(info->width, width);
    CU_ASSERT_EQUAL(info->height, height);
    CU_ASSERT_EQUAL(info->channels, channels);
    CU_ASSERT_TRUE(info->bytes);
    glcnn_dataset_destroy(&data);
}

static void the_size_follows_from_the_data(void)
{
    write_size("sizes/a/1.png", 9, 7, 0);
    write_size("sizes/b/1.png", 9, 7, 0);
    check_size("sizes", NULL, 9, 7, 1);
    write_size("sizes/b/2.png", 9, 7, 2);
    check_size("sizes", NULL, 9, 7, 3);
    check_size("sizes", &(struct glcnn_data_parameters){.width = 12}, 12, 12, 3);
    check_size("sizes", &(struct glcnn_data_parameters){.height = 4, .channels = 1}, 4, 4, 1);
    check_size("sizes", &(struct glcnn_data_parameters){.width = 3, .height = 4}, 3, 4, 3);
    data_refuses("sizes", &(struct glcnn_data_parameters){.channels = 2}, GLCNN_UNSUPPORTED,
                 "pictures have 1, 3 or 4 channels");
    write_size("wide/a/1.png", 1024, 100, 0);
    write_size("wide/b/1.png", 1024, 100, 0);
    check_size("wide", NULL, 256, 25, 1);
}

/* Pictures of these sizes, up to a width of 0, give images of that size; `said` is a phrase of the
 * message, NULL: there is none. */
static void pictures_of_many_sizes_have_the_size_of_their_median(void)
{
    static const struct {
        uint32_t sizes[8][2], wanted[2];
        const char *said;
    } rows[] = {
        {{{28, 28}, {28, 28}, {28, 28}}, {28, 28}, NULL},
        {{{28, 28}, {28, 28}, {4, 3}}, {28, 28}, "2 of 3 pictures are 28x28, so images are 28x28"},
        {{{512, 300}, {512, 300}},
         {256, 150},
         "2 of 2 pictures are 512x300, so images are 256x150, of a longer side of at most 256"},
        {{{16, 9}, {150, 228}, {157, 230}, {140, 226}, {160, 240}},
         {152, 232},
         "pictures are of many sizes, 16x9 to 160x240, so images are 152x232: the median of their "
         "longer sides is 228; sides are multiples of 8, 256 at most"},
        {{{640, 480}, {800, 600}, {1024, 768}, {480, 640}, {16, 16}},
         {256, 240},
         "the median of "
         "their longer sides is 640"},
        {{{640, 480}, {800, 600}, {1024, 768}, {600, 450}}, {256, 192}, "256x192"},
        {{{3, 3}, {5, 2}, {4, 4}}, {8, 8}, "images are 8x8"},
        {{{11, 3}, {13, 3}}, {8, 8}, "longer sides is 11"},
        {{{9, 7}, {5, 4}}, {8, 8}, "images are 8x8"},
        {{{2000, 2}, {2100, 2}, {1900, 2}}, {256, 8}, "images are 256x8"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[64];
        for (uint32_t n = 0; n < 8 && rows[i].sizes[n][0]; n++) {
            snprintf(name, sizeof name, "many%zu/%u/%u.png", i, n % 2, n);
            write_size(name, rows[i].sizes[n][0], rows[i].sizes[n][1], 0);
        }
        snprintf(name, sizeof name, "many%zu", i);
        check_size(name, NULL, rows[i].wanted[0], rows[i].wanted[1], 1);
        glcnn_dataset *data = data_open(name, NULL);
        const char *said = glcnn_dataset_decision(data, 0);
        bool good = rows[i].said ? said && strstr(said, rows[i].said) : !said;
        CU_ASSERT_TRUE(good);
        if (!good)
            printf("\n    %s: expected \"%s\", got \"%s\"", name, rows[i].said, said);
        glcnn_dataset_destroy(&data);
    }
}

static void folders_are_classes_in_the_order_of_their_bytes(void)
{
    static const char *const names[] = {"10", "2", "A", "a", "\xc3\xa4"};
    char path[64];
    for (size_t i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "order/%s/x.png", names[4 - i]);
        write_size(path, 4, 4, 0);
    }
    data_write_text("order/empty/readme.txt", "text");
    glcnn_dataset *data = data_open("order", NULL);
    const struct glcnn_data_info *info = glcnn_dataset_info(data);
    CU_ASSERT_EQUAL_FATAL(info->class_count, 5);
    for (size_t i = 0; i < 5; i++)
        CU_ASSERT_STRING_EQUAL(info->class_names[i], names[i]);
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_dataset_note(data, 0), "empty: a folder without a"));
    CU_ASSERT_EQUAL(glcnn_dataset_skipped(data), 0);
    glcnn_dataset_destroy(&data);
    data_refuses("order", &(struct glcnn_data_parameters){.strict = true}, GLCNN_MALFORMED_DATA,
                 "empty: a folder without a picture");
}

static void folders_that_cannot_be_trained_on_are_refused(void)
{
    write_size("one/only/x.png", 4, 4, 0);
    data_refuses("one", NULL, GLCNN_MALFORMED_DATA, "has only one class, \"only\"");
    data_refuses("one/only/x.png", NULL, GLCNN_MALFORMED_DATA, "is one picture");
    data_write_text("none/a/readme.txt", "text");
    data_refuses("none", NULL, GLCNN_MALFORMED_DATA, "has no image to train on");
    data_write_text("bad/a/x.png", "text");
    data_refuses("bad", NULL, GLCNN_MALFORMED_DATA, "1 pictures were skipped");
    mkdir(data_path("nothing"), 0777);
    data_refuses("nothing", NULL, GLCNN_MALFORMED_DATA, "has no image to train on");
    write_size("both/train/a/x.png", 4, 4, 0);
    write_size("both/train/b/x.png", 4, 4, 0);
    write_size("both/val/b/x.png", 4, 4, 0);
    glcnn_dataset *data = data_open("both", &(struct glcnn_data_parameters){.validation = 0.5});
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->counts[0], 2);
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->counts[1], 1);
    CU_ASSERT_EQUAL(glcnn_dataset_label(data, GLCNN_DATA_PART_VALIDATION, 0), 1);
    glcnn_dataset_destroy(&data);
    make_table("both/test.csv", 4, 2);
    data_refuses("both", NULL, GLCNN_MALFORMED_DATA, "one part is pictures and another a table");
}

/* ---- Orders ---- */

static void an_epoch_has_each_image_once(void)
{
    make_table("once.csv", 103, 2);
    glcnn_dataset *data = data_open("once.csv", NULL);
    const struct glcnn_data_loader_parameters p = {.batch = 10, .shuffle = true, .seed = 5};
    glcnn_data_loader *loader = data_load(data, &p);
    uint32_t first[103], seen[103] = {0}, moved = 0;
    CU_ASSERT_EQUAL(glcnn_data_loader_steps(loader), 10);
    for (uint64_t step = 0; step < 20; step++) {
        struct glcnn_data_batch batch = data_next(loader);
        CU_ASSERT_EQUAL(batch.step, step);
        CU_ASSERT_EQUAL(batch.epoch, step / 10);
        CU_ASSERT_EQUAL(batch.filled, 10);
        for (uint32_t n = 0; n < 10; n++) {
            uint32_t index = batch.indices[n], place = (uint32_t)(step % 10) * 10 + n;
            CU_ASSERT_TRUE_FATAL(index < 103);
            CU_ASSERT_EQUAL(batch.floats[n], (float)index / 255.0f);
            CU_ASSERT_EQUAL(batch.labels[n], index % 2);
            seen[index] += step < 10 ? 1u : 100u;
            moved += step >= 10 && first[place] != index;
            first[place] = index;
        }
    }
    uint32_t out = 0;
    for (uint32_t i = 0; i < 103; i++) {
        CU_ASSERT_TRUE(seen[i] % 100 <= 1 && seen[i] / 100 <= 1);
        out += (seen[i] % 100 == 0 ? 1u : 0u) + (seen[i] / 100 == 0 ? 1u : 0u);
    }
    CU_ASSERT_EQUAL(out, 6); /* three images of each epoch fill no batch */
    CU_ASSERT_TRUE(moved > 50);
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
}

static void in_order_the_last_batch_has_empty_places(void)
{
    make_table("tail.csv", 25, 2);
    glcnn_dataset *data = data_open("tail.csv", NULL);
    const struct glcnn_data_loader_parameters p = {.batch = 10, .limit = 23};
    glcnn_data_loader *loader = data_load(data, &p);
    CU_ASSERT_EQUAL(glcnn_data_loader_steps(loader), 3);
    for (uint32_t step = 0; step < 6; step++) {
        struct glcnn_data_batch batch = data_next(loader);
        CU_ASSERT_EQUAL(batch.count, 10);
        CU_ASSERT_EQUAL(batch.filled, step % 3 == 2 ? 3 : 10);
        for (uint32_t n = 0; n < 10; n++) {
            uint32_t place = step % 3 * 10 + n, index = place * 25 / 23;
            CU_ASSERT_EQUAL(batch.indices[n], place < 23 ? index : UINT32_MAX);
            CU_ASSERT_EQUAL(batch.labels[n], place < 23 ? index % 2 : GLCNN_DATA_NO_LABEL);
            CU_ASSERT_EQUAL(batch.floats[n], place < 23 ? (float)index / 255.0f : 0);
        }
    }
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
}

/* Folders of classes stand one behind the other: the first images alone would be of one class. */
static void a_limit_takes_of_each_class(void)
{
    static const uint32_t counts[] = {30, 20, 10};
    uint32_t seen[60] = {0}, found[3] = {0};
    make_pictures("limited", counts, 3);
    glcnn_dataset *data = data_open("limited", NULL);
    const struct glcnn_data_loader_parameters p = {.batch = 6, .limit = 12, .shuffle = true};
    glcnn_data_loader *loader = data_load(data, &p);
    CU_ASSERT_EQUAL(glcnn_data_loader_steps(loader), 2);
    for (int step = 0; step < 4; step++) { /* the same images in each epoch */
        struct glcnn_data_batch batch = data_next(loader);
        for (uint32_t n = 0; n < 6; n++) {
            found[batch.labels[n]]++;
            seen[batch.indices[n]]++;
        }
    }
    CU_ASSERT(found[0] == 12 && found[1] == 8 && found[2] == 4);
    for (uint32_t i = 0; i < 60; i++)
        CU_ASSERT_EQUAL(seen[i], i % 5 == 0 ? 2 : 0);
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
}

/* ---- Shares ---- */

#define SHARED 8
static const uint32_t share_firsts[] = {0, 3, 5, 8}; /* and the batch's end */

/* Fisher and Yates' shuffle from the last place on, by splitmix64 from (seed rotated by 20) + epoch: a
 * run that goes on with a later release has the order that it began with. */
static void orders_are_the_same_for_ever(void)
{
    static const struct {
        uint64_t seed, epoch;
        uint32_t order[10];
    } orders[] = {{7, 0, {9, 2, 8, 3, 1, 7, 6, 5, 4, 0}},
                  {7, 1, {8, 1, 4, 6, 0, 2, 9, 5, 3, 7}},
                  {UINT64_C(5) << 44, 3, {5, 7, 0, 3, 6, 4, 8, 1, 9, 2}}};
    make_table("order.csv", 10, 2);
    glcnn_dataset *data = data_open("order.csv", NULL);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        const struct glcnn_data_loader_parameters p = {
            .batch = 10, .shuffle = true, .seed = orders[i].seed, .step = orders[i].epoch};
        glcnn_data_loader *loader = data_load(data, &p);
        struct glcnn_data_batch batch = data_next(loader);
        for (int n = 0; n < 10; n++)
            CU_ASSERT_EQUAL(batch.indices[n], orders[i].order[n]);
        glcnn_data_loader_destroy(&loader);
    }
    glcnn_dataset_destroy(&data);
}

/* Shares of batches, shuffled or in order with empty places at the end, are these batches. */
static void shares_are_the_parts_of_batches(void)
{
    make_table("shares.csv", 51, 3);
    glcnn_dataset *data = data_open("shares.csv", NULL);
    for (int shuffle = 0; shuffle < 2; shuffle++) {
        struct glcnn_data_loader_parameters p = {.batch = SHARED, .shuffle = shuffle, .step = 2};
        glcnn_data_loader *whole = data_load(data, &p), *parts[3];
        for (int i = 0; i < 3; i++) {
            p.share_first = share_firsts[i];
            p.share = share_firsts[i + 1] - share_firsts[i];
            parts[i] = data_load(data, &p);
            CU_ASSERT_EQUAL(glcnn_data_loader_steps(parts[i]), glcnn_data_loader_steps(whole));
        }
        for (int step = 0; step < 15; step++) {
            struct glcnn_data_batch all = data_next(whole);
            for (int i = 0; i < 3; i++) {
                struct glcnn_data_batch part = data_next(parts[i]);
                size_t bytes = part.count * sizeof(uint32_t);
                CU_ASSERT_EQUAL_FATAL(part.count, share_firsts[i + 1] - share_firsts[i]);
                CU_ASSERT(part.step == all.step && part.epoch == all.epoch);
                CU_ASSERT_EQUAL(memcmp(part.indices, all.indices + share_firsts[i], bytes), 0);
                CU_ASSERT_EQUAL(memcmp(part.labels, all.labels + share_firsts[i], bytes), 0);
                CU_ASSERT_EQUAL(memcmp(part.floats, all.floats + share_firsts[i], bytes), 0);
                all.filled -= part.filled;
            }
            CU_ASSERT_EQUAL(all.filled, 0);
        }
        glcnn_data_loader_destroy(&whole);
        for (int i = 0; i < 3; i++)
            glcnn_data_loader_destroy(&parts[i]);
    }
    glcnn_dataset_destroy(&data);
}

/* ---- The same bits ---- */

#define STEPS 24
#define BATCH 7

struct record {
    float images[STEPS][BATCH * 30];
    uint32_t labels[STEPS][BATCH], indices[STEPS][BATCH];
};

/* Batches first .. STEPS - 1 by a data set of its own; `pause` lets the threads run ahead. */
static void record(const char *folder, uint32_t threads, uint64_t first, uint64_t memory,
                   struct record *r)
{
    glcnn_dataset *data = data_open(folder, &(struct glcnn_data_parameters){.memory = memory});
    const struct glcnn_data_loader_parameters p = {
        .batch = BATCH, .shuffle = true, .seed = 3, .threads = threads, .step = first};
    glcnn_data_loader *loader = data_load(data, &p);
    for (uint64_t step = first; step < STEPS; step++) {
        struct glcnn_data_batch batch = data_next(loader);
        CU_ASSERT_EQUAL(batch.step, step);
        memcpy(r->images[step], batch.floats, sizeof r->images[step]);
        memcpy(r->labels[step], batch.labels, sizeof r->labels[step]);
        memcpy(r->indices[step], batch.indices, sizeof r->indices[step]);
    }
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
}

/* Broken pictures too make no difference: what stands in for them does not depend on who met them
 * first. */
static void batches_follow_from_their_number_alone(void)
{
    static const uint32_t counts[] = {25, 15};
    static struct record whole, other;
    make_pictures("same", counts, 2);
    cut("same/a/003.png");
    cut("same/a/004.png");
    cut("same/b/014.png"); /* the last: the first one stands in */
    record("same", 1, 0, 0, &whole);
    static const struct {
        uint32_t threads;
        uint64_t first, memory;
    } rows[] = {{1, 0, 1}, {4, 0, 0}, {16, 0, 1}, {1, 3, 0}, {4, 13, 0}, {3, 23, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        other = whole;
        uint64_t first = rows[i].first;
        memset(other.images[first], 0xaa, sizeof other.images[0] * (STEPS - first));
        memset(other.labels[first], 0xaa, sizeof other.labels[0] * (STEPS - first));
        memset(other.indices[first], 0xaa, sizeof other.indices[0] * (STEPS - first));
        record("same", rows[i].threads, first, rows[i].memory, &other);
        CU_ASSERT_EQUAL(memcmp(&whole, &other, sizeof whole), 0);
    }
    uint32_t broken = 0, standing_in = 0;
    for (int step = 0; step < 5; step++)
        for (int n = 0; n < BATCH; n++) {
            broken += whole.indices[step][n] == 3 || whole.indices[step][n] == 39;
            standing_in += whole.indices[step][n] == 5 || whole.indices[step][n] == 0;
        }
    CU_ASSERT_EQUAL(broken, 0);
    CU_ASSERT_TRUE(standing_in >= 2);
}

/* Labels and indices are those of the whole batches once it is known what is broken, of pictures and
 * of tables. */
static void labels_alone_are_those_of_the_batches(void)
{
    static const uint32_t counts[] = {25, 15};
    static struct record whole;
    make_pictures("alone", counts, 2);
    cut("alone/a/003.png");
    record("alone", 1, 0, 0, &whole);
    make_table("alone.csv", 40, 2);
    for (int table = 0; table < 2; table++) {
        glcnn_dataset *data = data_open(table ? "alone.csv" : "alone", NULL);
        struct glcnn_data_loader_parameters p = {
            .batch = BATCH, .shuffle = true, .seed = 3, .bytes = table};
        glcnn_data_loader *loader = data_load(data, &p);
        uint32_t indices[STEPS][BATCH], labels[STEPS][BATCH];
        for (int step = 0; step < STEPS; step++) {
            struct glcnn_data_batch batch = data_next(loader);
            memcpy(indices[step], batch.indices, sizeof indices[step]);
            memcpy(labels[step], batch.labels, sizeof labels[step]);
        }
        glcnn_data_loader_destroy(&loader);
        p.labels_only = true;
        loader = data_load(data, &p);
        for (int step = 0; step < STEPS; step++) {
            struct glcnn_data_batch batch = data_next(loader);
            CU_ASSERT_EQUAL(memcmp(batch.indices, indices[step], sizeof indices[step]), 0);
            CU_ASSERT_EQUAL(memcmp(batch.labels, labels[step], sizeof labels[step]), 0);
            CU_ASSERT_PTR_NULL(batch.floats);
            CU_ASSERT_PTR_NULL(batch.bytes);
            CU_ASSERT_EQUAL(batch.filled, BATCH);
        }
        CU_ASSERT_EQUAL(glcnn_data_loader_get_statistics(loader).decoded, 0);
        glcnn_data_loader_destroy(&loader);
        if (!table)
            CU_ASSERT_EQUAL(memcmp(indices, whole.indices, sizeof indices), 0);
        glcnn_dataset_destroy(&data);
    }
}

static void pictures_are_decoded_once_where_they_fit_in(void)
{
    static const uint32_t counts[] = {12, 9};
    make_pictures("kept", counts, 2);
    for (int kept = 0; kept < 2; kept++) {
        glcnn_dataset *data = data_open(
            "kept", &(struct glcnn_data_parameters){.memory = kept ? 21 * 30 : 21 * 30 - 1});
        glcnn_data_loader *loader =
            data_load(data, &(struct glcnn_data_loader_parameters){
                                .batch = 7, .shuffle = true, .threads = 1, .memory = 1});
        for (int step = 0; step < 9; step++)
            data_next(loader);
        struct glcnn_data_loader_statistics s = glcnn_data_loader_get_statistics(loader);
        CU_ASSERT_EQUAL(s.batches, 9);
        uint64_t most = kept ? 21 : 70; /* one batch ahead */
        CU_ASSERT_TRUE(s.decoded >= (kept ? 21u : 63u) && s.decoded <= most);
        CU_ASSERT_TRUE(s.waited >= 0 && s.waited <= s.elapsed);
        glcnn_data_loader_destroy(&loader);
        glcnn_dataset_destroy(&data);
    }
}

/* ---- What changes meanwhile ---- */

/* Only batch 0 and those that are made while it is held can be ready; later ones fail. */
static void expect_failure(const char *folder, void (*change)(void), const char *phrase)
{
    char error[GLCNN_ERROR_LENGTH] = "", again[GLCNN_ERROR_LENGTH] = "";
    struct glcnn_data_batch batch;
    glcnn_dataset *data = data_open(folder, &(struct glcnn_data_parameters){.memory = 1});
    glcnn_data_loader *loader = data_load(
        data, &(struct glcnn_data_loader_parameters){.batch = 5, .shuffle = true, .memory = 1});
    data_next(loader);
    change();
    glcnn_status status = GLCNN_SUCCESS;
    for (int step = 0; step < 8 && status == GLCNN_SUCCESS; step++)
        status = glcnn_data_loader_next(loader, &batch, error);
    CU_ASSERT_EQUAL(status, GLCNN_IO_ERROR);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, phrase));
    if (!strstr(error, phrase))
        printf("\n    expected \"%s\", got \"%s\"", phrase, error);
    CU_ASSERT_EQUAL(glcnn_data_loader_next(loader, &batch, again), GLCNN_IO_ERROR);
    CU_ASSERT_STRING_EQUAL(error, again);
    CU_ASSERT_EQUAL(glcnn_dataset_skipped(data), 0);
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
}

static void remove_folder(void)
{
    rename(data_path("moving"), data_path("moved"));
}

static void touch_one(void)
{
    struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    CU_ASSERT_EQUAL(utimensat(AT_FDCWD, data_path("moved/a/001.png"), times, 0), 0);
}

/* At once, by a link: a loader that reads ahead must not find nothing there. */
static void put_folder_in_place(void)
{
    CU_ASSERT_EQUAL(mkdir(data_path("folder"), 0777), 0);
    CU_ASSERT_EQUAL(symlink("../../folder", data_path("link")), 0);
    CU_ASSERT_EQUAL(rename(data_path("link"), data_path("moved/a/002.png")), 0);
}

static void what_vanishes_or_changes_is_told(void)
{
    static const uint32_t counts[] = {6, 6};
    make_pictures("moving", counts, 2);
    expect_failure("moving", remove_folder, "has vanished since the data was opened");
    expect_failure("moved", touch_one, "001.png: has changed since the data was opened");
    expect_failure("moved", put_folder_in_place, "002.png: has changed since");
}

/* Of pictures 0 to 4 the second and the last are broken: 2 stands in for 1, and 0 for 4. */
static void the_next_whole_picture_stands_in(void)
{
    static const uint32_t counts[] = {3, 2};
    uint32_t found[5] = {0};
    make_pictures("next", counts, 2);
    cut("next/a/001.png");
    cut("next/b/001.png");
    glcnn_dataset *data = data_open("next", NULL);
    glcnn_data_loader *loader =
        data_load(data, &(struct glcnn_data_loader_parameters){.batch = 5, .shuffle = true});
    struct glcnn_data_batch batch = data_next(loader);
    for (int n = 0; n < 5; n++)
        found[batch.indices[n]]++;
    CU_ASSERT(found[0] == 2 && found[1] == 0 && found[2] == 2 && found[3] == 1 && found[4] == 0);
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
}

static void nothing_whole_is_an_error(void)
{
    static const uint32_t counts[] = {2, 1};
    char error[GLCNN_ERROR_LENGTH] = "";
    struct glcnn_data_batch batch;
    make_pictures("cut", counts, 2);
    cut("cut/a/000.png");
    cut("cut/a/001.png");
    cut("cut/b/000.png");
    glcnn_dataset *data = data_open("cut", NULL);
    glcnn_data_loader *loader =
        data_load(data, &(struct glcnn_data_loader_parameters){.batch = 2, .shuffle = true});
    CU_ASSERT_EQUAL(glcnn_data_loader_next(loader, &batch, error), GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "every picture of the part is damaged"));
    glcnn_data_loader_destroy(&loader);
    CU_ASSERT_EQUAL(glcnn_dataset_skipped(data), 3);
    glcnn_dataset_destroy(&data);
}

/* ---- Layouts ---- */

static void images_are_normalised_and_laid_out_as_asked(void)
{
    static const float mean[3] = {0.5f, 0.25f, 0}, deviation[3] = {0.5f, 2, 1};
    salt = 0;
    write_size("layout/a/1.png", 3, 2, 2);
    write_size("layout/b/1.png", 3, 2, 2);
    glcnn_dataset *data = data_open("layout", NULL);
    for (int mode = 0; mode < 8; mode++) {
        const struct glcnn_data_loader_parameters p = {.batch = 1,
                                                       .bytes = mode & 1,
                                                       .interleaved = mode & 2,
                                                       .mean = mode & 4 ? mean : NULL,
                                                       .deviation = mode & 4 ? deviation : NULL};
        glcnn_data_loader *loader = data_load(data, &p);
        struct glcnn_data_batch batch = data_next(loader);
        CU_ASSERT_TRUE(p.bytes ? batch.bytes && !batch.floats : batch.floats && !batch.bytes);
        for (uint32_t i = 0; i < 18; i++) {
            uint32_t c = p.interleaved ? i % 3 : i / 6, pixel = p.interleaved ? i / 3 : i % 6;
            uint32_t wanted = noise(pixel % 3, pixel / 3, c);
            float v = (float)wanted / 255.0f;
            if (p.mean)
                v = (v - mean[c]) / deviation[c];
            if (p.bytes)
                CU_ASSERT_EQUAL(batch.bytes[i], wanted);
            if (!p.bytes)
                CU_ASSERT_EQUAL(batch.floats[i], v);
        }
        glcnn_data_loader_destroy(&loader);
    }
    glcnn_dataset_destroy(&data);
}

/* Those of the files, not of what the loader gives. */
static void batches_have_the_sizes_of_files(void)
{
    static const uint32_t widths[3] = {3, 9, 0}, heights[3] = {2, 5, 0};
    write_size("own_sizes/a/1.png", 3, 2, 2);
    write_size("own_sizes/b/1.png", 9, 5, 2);
    glcnn_dataset *data = data_open("own_sizes", NULL);
    glcnn_data_loader *loader = data_load(data, &(struct glcnn_data_loader_parameters){.batch = 3});
    struct glcnn_data_batch batch = data_next(loader);
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(batch.widths[i], widths[i]);
        CU_ASSERT_EQUAL(batch.heights[i], heights[i]);
    }
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
}

static void bad_loaders_are_refused(void)
{
    static const float zero[1] = {0};
    static const struct {
        struct glcnn_data_loader_parameters p;
        glcnn_status status;
        const char *phrase;
    } rows[] = {
        {{.part = (glcnn_data_part)3}, GLCNN_INVALID_ARGUMENT, "part is 3"},
        {{.part = GLCNN_DATA_PART_TEST}, GLCNN_INVALID_ARGUMENT, "the part has no image"},
        {{.batch = 65537}, GLCNN_INVALID_ARGUMENT, "batch is 65537"},
        {{.batch = 4, .share_first = 4}, GLCNN_INVALID_ARGUMENT, "from number 4 on, of a batch"},
        {{.batch = 4, .share_first = 2, .share = 3}, GLCNN_INVALID_ARGUMENT, "share is 3 images"},
        {{.share = 33}, GLCNN_INVALID_ARGUMENT, "of a batch of 32"},
        {{.threads = 257}, GLCNN_INVALID_ARGUMENT, "threads is 257"},
        {{.batch = 9, .shuffle = true}, GLCNN_INVALID_ARGUMENT, "a batch of 9 images is more"},
        {{.batch = 4, .limit = 3, .shuffle = true}, GLCNN_INVALID_ARGUMENT, "than the 3"},
        {{.deviation = zero}, GLCNN_INVALID_ARGUMENT, "the deviation above 0"},
        {{.bytes = true}, GLCNN_UNSUPPORTED, "bytes are requested"},
    };
    data_write_text("few.csv", "a,1.5\nb,2\na,3\nb,4\na,5\nb,6\na,7\nb,8\n");
    glcnn_dataset *data = data_open("few.csv", NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char error[GLCNN_ERROR_LENGTH] = "";
        glcnn_data_loader *loader = (glcnn_data_loader *)error;
        CU_ASSERT_EQUAL(glcnn_data_loader_create(data, &rows[i].p, &loader, error), rows[i].status);
        CU_ASSERT_PTR_NULL(loader);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, rows[i].phrase));
        if (!strstr(error, rows[i].phrase))
            printf("\n    expected \"%s\", got \"%s\"", rows[i].phrase, error);
    }
    glcnn_data_loader_destroy(NULL);
    glcnn_dataset_destroy(&data);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(a_split_takes_its_share_of_each_class),
        UNIT_TEST(a_split_leaves_one_to_train_with),
        UNIT_TEST(orders_are_the_same_for_ever),
        UNIT_TEST(a_split_follows_from_its_seed),
        UNIT_TEST(the_size_follows_from_the_data),
        UNIT_TEST(pictures_of_many_sizes_have_the_size_of_their_median),
        UNIT_TEST(folders_are_classes_in_the_order_of_their_bytes),
        UNIT_TEST(folders_that_cannot_be_trained_on_are_refused),
        UNIT_TEST(an_epoch_has_each_image_once),
        UNIT_TEST(in_order_the_last_batch_has_empty_places),
        UNIT_TEST(a_limit_takes_of_each_class),
        UNIT_TEST(shares_are_the_parts_of_batches),
        UNIT_TEST(batches_follow_from_their_number_alone),
        UNIT_TEST(labels_alone_are_those_of_the_batches),
        UNIT_TEST(pictures_are_decoded_once_where_they_fit_in),
        UNIT_TEST(what_vanishes_or_changes_is_told),
        UNIT_TEST(the_next_whole_picture_stands_in),
        UNIT_TEST(nothing_whole_is_an_error),
        UNIT_TEST(images_are_normalised_and_laid_out_as_asked),
        UNIT_TEST(batches_have_the_sizes_of_files),
        UNIT_TEST(bad_loaders_are_refused),
        CU_TEST_INFO_NULL};
    int status = unit_run("data_loader", tests, argc, argv);
    data_remove_folder();
    return status;
}
