/* Digests of images: what is the same is told wherever it lies, and nothing else. */
#include "tests/data_files.h"

#include "tests/unit.h"

#include "task/seen.h"

static uint32_t shade;

static uint32_t shaded(uint32_t x, uint32_t y, uint32_t c)
{
    return (x * 7 + y * 13 + c + shade) % 256;
}

static void write_picture(const char *name, uint32_t value)
{
    shade = value;
    data_write_png(name, &(struct data_png){16, 16, 0, .value = shaded});
}

static glcnn_dataset *open_set(const char *name)
{
    glcnn_dataset *data = NULL;
    char error[GLCNN_ERROR_LENGTH] = "";
    CU_ASSERT_EQUAL_FATAL(glcnn_dataset_open(data_path(name), NULL, &data, error), GLCNN_SUCCESS);
    return data;
}

static uint64_t digest(const glcnn_dataset *data, uint32_t index)
{
    return glcnn_dataset_image_digest(data, GLCNN_DATA_PART_TRAINING, index);
}

static void pictures_are_told_by_their_contents(void)
{
    write_picture("one/a/0.png", 1);
    write_picture("one/b/0.png", 2);
    write_picture("two/c/second.png", 2);
    write_picture("two/d/first.png", 1);
    glcnn_dataset *one = open_set("one"), *two = open_set("two");
    CU_ASSERT_NOT_EQUAL(digest(one, 0), digest(one, 1));
    CU_ASSERT_EQUAL(digest(one, 0), digest(two, 1));
    CU_ASSERT_EQUAL(digest(one, 1), digest(two, 0));
    CU_ASSERT_NOT_EQUAL(digest(one, 0), 0);
    CU_ASSERT_EQUAL(digest(one, 2), 0);
    CU_ASSERT_EQUAL(glcnn_dataset_image_digest(one, GLCNN_DATA_PART_TEST, 0), 0);
    remove(data_path("one/a/0.png"));
    CU_ASSERT_EQUAL(digest(one, 0), 0);
    glcnn_dataset_destroy(&one);
    glcnn_dataset_destroy(&two);
}

/* The start, the middle and the end count. */
static void long_files_are_told_by_pieces(void)
{
    static uint8_t bytes[100000];
    static const size_t places[] = {20000 + 16384 + 1, 100000 / 2, 99999};
    uint64_t found[4];
    for (int i = 0; i < 4; i++) {
        write_picture("long/a/0.png", 1);
        write_picture("long/b/0.png", 2);
        size_t size = data_read("long/a/0.png", bytes, sizeof bytes);
        memset(bytes + size, 0, sizeof bytes - size);
        if (i > 0)
            bytes[places[i - 1]] = 1;
        data_write("long/a/0.png", bytes, sizeof bytes);
        glcnn_dataset *data = open_set("long");
        found[i] = digest(data, 0);
        glcnn_dataset_destroy(&data);
    }
    CU_ASSERT_EQUAL(found[0], found[1]); /* between two pieces */
    CU_ASSERT_NOT_EQUAL(found[0], found[2]);
    CU_ASSERT_NOT_EQUAL(found[0], found[3]);
}

/* Bytes, and the same as shares of 255. */
static void rows_are_told_by_their_values(void)
{
    data_write_text("bytes.csv", "a,0,51,102,255\nb,1,2,3,4\n");
    data_write_text("shares.csv", "a,0.1,0.2,0.3,0.4\nb,0,0.2,0.4,1\n");
    glcnn_dataset *bytes = open_set("bytes.csv"), *shares = open_set("shares.csv");
    CU_ASSERT_EQUAL(digest(bytes, 0), digest(shares, 1));
    CU_ASSERT_NOT_EQUAL(digest(bytes, 1), digest(shares, 0));
    CU_ASSERT_NOT_EQUAL(digest(bytes, 0), digest(bytes, 1));
    CU_ASSERT_EQUAL(digest(bytes, 2), 0);
    glcnn_dataset_destroy(&bytes);
    glcnn_dataset_destroy(&shares);
}

/* ---- What a file remembers of them ---- */

static struct pictures pictures_of(const glcnn_dataset *data)
{
    return (struct pictures){.set = (glcnn_dataset *)(uintptr_t)data,
                             .info = glcnn_dataset_info(data)};
}

/* Rows of one number each from `first` on, and of the classes 0 and 1. */
static glcnn_dataset *open_rows(const char *name, int first, int count)
{
    static char text[1 << 17];
    size_t length = 0;
    for (int i = first; i < first + count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%c,%d,%d,%d,%d\n",
                                   'a' + i % 2, i % 251, i / 251, 0, 255);
    data_write_text(name, text);
    return open_set(name);
}

static uint32_t count_seen(const struct seen *seen, const glcnn_dataset *data, bool *is_exact)
{
    const struct pictures pictures = pictures_of(data);
    return seen_count(seen, &pictures, GLCNN_DATA_PART_TRAINING, is_exact);
}

static void few_pictures_are_all_remembered(void)
{
    uint8_t bytes[SEEN_BYTES];
    bool is_exact = false;
    struct seen seen = {.limit = UINT64_MAX}, read;
    glcnn_dataset *some = open_rows("some.csv", 0, 40), *other = open_rows("other.csv", 30, 40);
    const struct pictures pictures = pictures_of(some);
    CU_ASSERT_TRUE_FATAL(seen_add(&seen, &pictures, 0));
    CU_ASSERT_EQUAL(seen_write(&seen, bytes), 41 * 8);
    CU_ASSERT_TRUE_FATAL(seen_read(&read, bytes, 41 * 8));
    CU_ASSERT_EQUAL(count_seen(&read, some, &is_exact), 40);
    CU_ASSERT_EQUAL(count_seen(&read, other, &is_exact), 10);
    CU_ASSERT_TRUE(is_exact);
    CU_ASSERT_FALSE(seen_read(&read, bytes, 41 * 8 - 1));
    memcpy(bytes + 8, bytes + 16, 8); /* twice the same */
    CU_ASSERT_FALSE(seen_read(&read, bytes, 41 * 8));
    CU_ASSERT_FALSE(seen_read(&read, bytes, 0));
    glcnn_dataset_destroy(&some);
    glcnn_dataset_destroy(&other);
}

/* 1024 of 4000, of which 2000 are in the other set of 3000: a sample finds them to 10 %. */
static void many_pictures_are_sampled(void)
{
    bool is_exact = true;
    struct seen seen = {.limit = UINT64_MAX}, more = {.limit = UINT64_MAX};
    glcnn_dataset *some = open_rows("many.csv", 0, 4000),
                  *other = open_rows("rest.csv", 2000, 3000),
                  *none = open_rows("none.csv", 6000, 500);
    const struct pictures pictures = pictures_of(some), added = pictures_of(other);
    CU_ASSERT_TRUE_FATAL(seen_add(&seen, &pictures, 0));
    CU_ASSERT_EQUAL(seen.count, SEEN_MAX);
    CU_ASSERT_EQUAL(count_seen(&seen, some, &is_exact), 4000);
    const double found = count_seen(&seen, other, &is_exact);
    CU_ASSERT(found > 1800 && found < 2200);
    CU_ASSERT_FALSE(is_exact);
    CU_ASSERT_EQUAL(count_seen(&seen, none, &is_exact), 0);
    CU_ASSERT_TRUE_FATAL(seen_add(&more, &added, 0));
    seen_merge(&more, &seen);
    CU_ASSERT_EQUAL(count_seen(&more, some, &is_exact), 4000);
    CU_ASSERT_EQUAL(count_seen(&more, other, &is_exact), 3000);
    CU_ASSERT_EQUAL(count_seen(&more, none, &is_exact), 0);
    glcnn_dataset_destroy(&some);
    glcnn_dataset_destroy(&other);
    glcnn_dataset_destroy(&none);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(pictures_are_told_by_their_contents), UNIT_TEST(long_files_are_told_by_pieces),
        UNIT_TEST(rows_are_told_by_their_values),       UNIT_TEST(few_pictures_are_all_remembered),
        UNIT_TEST(many_pictures_are_sampled),           CU_TEST_INFO_NULL};
    int result = unit_run("data_digest", tests, argc, argv);
    data_remove_folder();
    return result;
}
