/* Files: .npy of the library; IDX, .npz, SVG and progress of the examples. What is hostile is made
 * here, byte by byte. */
#include <glcnn/data.h>
#include <glcnn/glcnn.h>

#include "examples/support/npz.h"
#include "base/option.h"
#include "report/plot.h"
#include "report/progress.h"
#include "tests/folder.h"
#include "tests/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zip.h>

static char folder[] = "/tmp/glcnn-io-XXXXXX";

/* ---------------------------------------------------------------------------------- helpers */

static const char *path_of(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static size_t read_file(const char *path, void *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    size_t got = fread(bytes, 1, size, file);
    fclose(file);
    return got;
}

struct bytes {
    uint8_t at[4096];
    size_t size;
};

static void add(struct bytes *b, const void *bytes, size_t size)
{
    if (size > 0)
        memcpy(b->at + b->size, bytes, size);
    b->size += size;
}

/* A .npy file of version `major`.0 with the header as it is and `size` bytes of data. */
static struct bytes npy_file(int major, const char *header, const void *data, size_t size)
{
    struct bytes b = {.size = 0};
    size_t length = strlen(header);
    const uint8_t prefix[] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', (uint8_t)major, 0, (uint8_t)length, (uint8_t)(length >> 8),
        0,    0};
    add(&b, prefix, major == 1 ? 10 : 12);
    add(&b, header, length);
    add(&b, data, size);
    return b;
}

static struct bytes npy_of(const char *descr, const char *order, const char *shape,
                           const void *data, size_t size)
{
    char header[256];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }  \n",
             descr, order, shape);
    return npy_file(1, header, data, size);
}

/* Parses in a block of exactly `size` bytes, so that a sanitizer sees what goes beyond. */
static glcnn_status parse(const struct bytes *b, struct glcnn_npy *array, char error[512])
{
    void *copy = malloc(b->size ? b->size : 1);
    memcpy(copy, b->at, b->size);
    glcnn_status status = glcnn_npy_parse(copy, b->size, array, error);
    free(copy);
    return status;
}

static void check_values(const struct bytes *b, const float *expected, size_t count)
{
    struct glcnn_npy array;
    char error[512] = "";
    CU_ASSERT_EQUAL(parse(b, &array, error), GLCNN_SUCCESS);
    CU_ASSERT_STRING_EQUAL(error, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(array.data);
    for (size_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(array.data[i], expected[i]);
    glcnn_npy_destroy(&array);
    CU_ASSERT_PTR_NULL(array.data);
}

/* The same elements, two at a time. */
static void check_pairs(const struct bytes *b, char type, uint32_t size, const float *expected,
                        size_t count)
{
    struct glcnn_npy_header header;
    char error[512] = "";
    CU_ASSERT_EQUAL(glcnn_npy_parse_header(b->at, b->size, &header, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(header.type, type);
    CU_ASSERT_EQUAL(header.element_size, size);
    CU_ASSERT_EQUAL_FATAL(header.count, count);
    CU_ASSERT_EQUAL(header.begin + count * size, b->size);
    for (size_t i = 0; i + 2 <= count; i++) {
        float pair[2];
        glcnn_npy_convert(b->at, &header, i, 2, pair);
        CU_ASSERT_EQUAL(pair[0], expected[i]);
        CU_ASSERT_EQUAL(pair[1], expected[i + 1]);
    }
}

static void npy_is_converted_in_parts(void)
{
    const uint8_t bytes[] = {1, 2, 3, 4, 5, 250};
    const float rows[] = {1, 2, 3, 4, 5, 250}, columns[] = {1, 3, 5, 2, 4, 250};
    const float shorts[] = {0x201, 0x403, (float)0xfa05 - 65536.0f};
    struct bytes b = npy_of("|u1", "False", "(2, 3)", bytes, 6);
    check_pairs(&b, 'u', 1, rows, 6);
    b = npy_of("|u1", "True", "(2, 3)", bytes, 6);
    check_pairs(&b, 'u', 1, columns, 6);
    b = npy_of("<i2", "False", "(3,)", bytes, 6);
    check_pairs(&b, 'i', 2, shorts, 3);
    struct glcnn_npy_header header;
    char error[512] = "";
    CU_ASSERT_EQUAL(glcnn_npy_parse_header(b.at, b.size - 1, &header, error), GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "bytes make"));
    CU_ASSERT_EQUAL(header.count, 0);
    CU_ASSERT_EQUAL(glcnn_npy_parse_header(NULL, 0, &header, error), GLCNN_INVALID_ARGUMENT);
}

static void check_malformed(const struct bytes *b, const char *phrase)
{
    struct glcnn_npy array = {.rank = 7};
    char error[512] = "";
    CU_ASSERT_EQUAL(parse(b, &array, error), GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NULL(array.data);
    CU_ASSERT_EQUAL(array.rank, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, phrase));
    if (!strstr(error, phrase))
        printf("\n    expected \"%s\", got \"%s\"", phrase, error);
}

/* ---------------------------------------------------------------------------------- npy, reading
 */

static void npy_reads_every_kind_of_element(void)
{
    static const struct {
        const char *descr;
        uint8_t data[16];
        size_t size;
        float expected[2];
    } kinds[] = {
        {"<f4", {0, 0, 0xc0, 0x3f, 0, 0, 0x80, 0xff}, 8, {1.5f, -INFINITY}},
        {"<f2", {0, 0x3e, 1, 0}, 4, {1.5f, 0x1p-24f}},
        {"<f8", {0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0xc0}, 16, {1.5f, -2}},
        {"|i1", {127, 128}, 2, {127, -128}},
        {"<i2", {0xff, 0xff, 0, 0x80}, 4, {-1, -32768}},
        {"<i4", {0xfe, 0xff, 0xff, 0xff, 0, 0, 0, 0x80}, 8, {-2, -2147483648.0f}},
        {"<i8", {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80}, 16, {1, -0x1p63f}},
        {"|u1", {255, 1}, 2, {255, 1}},
        {"<u2", {0xff, 0xff, 0, 1}, 4, {65535, 256}},
        {"<u4", {0, 0, 0, 0x80, 1, 0, 0, 0}, 8, {0x1p31f, 1}},
        {"<u8", {0, 0, 0, 0, 0, 0, 0, 0x80, 2, 0, 0, 0, 0, 0, 0, 0}, 16, {0x1p63f, 2}},
        {"|b1", {1, 0}, 2, {1, 0}},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct bytes b = npy_of(kinds[i].descr, "False", "(2,)", kinds[i].data, kinds[i].size);
        check_values(&b, kinds[i].expected, 2);
    }
}

static void npy_reads_versions_and_spellings(void)
{
    const uint8_t data[] = {1, 2, 3, 4, 5, 6};
    const float expected[] = {1, 2, 3, 4, 5, 6};
    static const char *const headers[] = {
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n",
        "{\"shape\":(2,3),\"descr\":\"|u1\",\"fortran_order\":False}",
        " { 'fortran_order' : False , 'descr' : '|u1' , 'shape' : ( 2L , 3L , ) , } \n",
    };
    for (int version = 1; version <= 3; version++)
        for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
            struct bytes b = npy_file(version, headers[i], data, sizeof data);
            check_values(&b, expected, 6);
        }
    struct bytes scalar = npy_of("|u1", "False", "()", data, 1);
    check_values(&scalar, expected, 1);
}

static void npy_turns_fortran_order_into_c_order(void)
{
    const uint8_t data[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}; /* i + 2 j + 6 k */
    const float expected[] = {0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11};
    struct bytes b = npy_of("|u1", "True", "(2, 3, 2)", data, sizeof data);
    check_values(&b, expected, 12);
}

static void npy_refuses_bad_headers(void)
{
    static const struct {
        const char *header, *phrase;
    } rows[] = {
        {"", "not a dictionary"},
        {"[1, 2]", "not a dictionary"},
        {"{'descr': '<f4'", "no comma or brace"},
        {"{'descr': '<f4', 'shape': (1,), }", "lacks one of"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "twice"},
        {"{'descr': '<f4', 'colour': 'red', 'fortran_order': False, 'shape': (1,)}", "'colour'"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "neither True nor False"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': [1]}", "not a tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1)}", "not a tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, -1)}", "whole numbers"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}", "whole numbers"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 0)}", "dimension 1"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "continues after"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", "dimensions"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296,)}", "above 4294967295"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967295, 4294967295)}", "memory"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (65536, 65536, 65536, 65536)}",
         "memory"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", "'>f4'"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "'<c8'"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "'|O'"},
        {"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}", "records"},
        {"{'descr': '<f4\\x27', 'fortran_order': False, 'shape': (1,)}", "not a string"},
        {"{'descr': '<f4", "not a string"},
        {"{'descr': 'a name that is much too long for any kind of element'", "not a string"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bytes b = npy_file(1, rows[i].header, "\0\0\0\0", 4);
        check_malformed(&b, rows[i].phrase);
    }
}

static void npy_refuses_every_truncation(void)
{
    struct bytes whole = npy_of("<f4", "False", "(2, 2)", "0123456789abcdef", 16);
    struct glcnn_npy array;
    for (size_t size = 0; size < whole.size; size++) {
        struct bytes part = whole;
        char error[512] = "";
        part.size = size;
        CU_ASSERT_EQUAL(parse(&part, &array, error), GLCNN_MALFORMED_DATA);
        CU_ASSERT(strlen(error) > 20);
    }
    struct bytes longer = whole;
    add(&longer, "x", 1);
    check_malformed(&longer, "at least 89 bytes");
}

static void npy_refuses_other_files(void)
{
    struct bytes b = npy_file(1, "{}", NULL, 0);
    b.at[6] = 4;
    check_malformed(&b, "version 4.0");
    b.at[6] = 1, b.at[7] = 1;
    check_malformed(&b, "version 1.1");
    b.at[0] = 'P';
    check_malformed(&b, "not a .npy file");
    b = npy_file(2, "{}", NULL, 0);
    b.at[11] = 0xff;
    check_malformed(&b, "expected 65535 at most");
    b.size = 0;
    check_malformed(&b, "not a .npy file");
}

/* Changed bytes may make another valid file, but never a crash or a leak. */
static void npy_survives_changed_bytes(void)
{
    struct bytes whole = npy_of("<f4", "False", "(2, 2)", "0123456789abcdef", 16);
    size_t refused = 0;
    for (size_t i = 0; i < whole.size; i++)
        for (int value = 0; value < 256; value += 3) {
            struct bytes changed = whole;
            struct glcnn_npy array;
            changed.at[i] = (uint8_t)value;
            refused += parse(&changed, &array, NULL) != GLCNN_SUCCESS;
            glcnn_npy_destroy(&array);
        }
    CU_ASSERT(refused > 1000);
}

static void npy_read_names_the_file(void)
{
    struct glcnn_npy array;
    char error[512];
    const char *path = path_of("short.npy");
    write_file(path, "\x93NUMPY", 6);
    CU_ASSERT_EQUAL(glcnn_npy_read(path, &array, error), GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, path));
    CU_ASSERT_EQUAL(glcnn_npy_read(path_of("none.npy"), &array, error), GLCNN_IO_ERROR);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "none.npy: cannot be opened"));
    CU_ASSERT_EQUAL(glcnn_npy_read(folder, &array, error), GLCNN_IO_ERROR);
    CU_ASSERT_EQUAL(glcnn_npy_read("/dev/zero", &array, error), GLCNN_IO_ERROR);
    CU_ASSERT_EQUAL(glcnn_npy_read(NULL, &array, error), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_npy_read(path, NULL, NULL), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_npy_parse(NULL, 0, &array, NULL), GLCNN_INVALID_ARGUMENT);
    folder_empty(folder);
}

/* More is promised than any machine could give: asking for it would fail in another way. */
static void npy_takes_no_memory_for_a_promise(void)
{
    struct glcnn_npy array;
    char error[512];
    struct bytes b = npy_of("<f4", "False", "(4294967295, 65536)", "1234", 4);
    write_file(path_of("promise.npy"), b.at, b.size);
    CU_ASSERT_EQUAL(glcnn_npy_read(path_of("promise.npy"), &array, error), GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "281474976645120 elements"));
    folder_empty(folder);
}

/* ---------------------------------------------------------------------------------- npy, writing
 */

static float some_values[24];

static struct glcnn_npy some_array(uint32_t rank, glcnn_channel_format format)
{
    struct glcnn_npy array = {format, rank, {1, 1, 1}, some_values};
    for (uint32_t i = 0; i < rank; i++)
        array.shape[i] = i + 1;
    for (int i = 0; i < 24; i++)
        some_values[i] = (float)i * 0.37f - 3;
    return array;
}

static void npy_comes_back_as_it_was_written(void)
{
    for (uint32_t rank = 0; rank <= 4; rank++) {
        struct glcnn_npy written = some_array(rank, GLCNN_CHANNEL_FORMAT_NONE), array;
        char error[512] = "";
        size_t count = rank < 2 ? 1 : rank == 2 ? 2 : rank == 3 ? 6 : 24;
        CU_ASSERT_EQUAL(glcnn_npy_write(path_of("a.npy"), &written, error), GLCNN_SUCCESS);
        CU_ASSERT_EQUAL(glcnn_npy_read(path_of("a.npy"), &array, error), GLCNN_SUCCESS);
        CU_ASSERT_STRING_EQUAL(error, "");
        CU_ASSERT_EQUAL(array.rank, rank);
        CU_ASSERT_EQUAL(array.format, GLCNN_CHANNEL_FORMAT_FLOAT32);
        CU_ASSERT_EQUAL(memcmp(array.shape, written.shape, rank * sizeof *array.shape), 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(array.data);
        CU_ASSERT_EQUAL(memcmp(array.data, some_values, count * sizeof(float)), 0);
        glcnn_npy_destroy(&array);
    }
    CU_ASSERT_EQUAL(folder_count_files(folder), 1);
    folder_empty(folder);
}

static void npy_writes_float16(void)
{
    float values[3] = {1.0f / 3, 70000, -2};
    struct glcnn_npy written = {GLCNN_CHANNEL_FORMAT_FLOAT16, 1, {3}, values}, array;
    CU_ASSERT_EQUAL(glcnn_npy_write(path_of("h.npy"), &written, NULL), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_npy_read(path_of("h.npy"), &array, NULL), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(array.format, GLCNN_CHANNEL_FORMAT_FLOAT16);
    CU_ASSERT_PTR_NOT_NULL_FATAL(array.data);
    CU_ASSERT_EQUAL(array.data[0], 0x1.554p-2f);
    CU_ASSERT_EQUAL(array.data[1], INFINITY);
    CU_ASSERT_EQUAL(array.data[2], -2);
    glcnn_npy_destroy(&array);
    folder_empty(folder);
}

/* Byte for byte what numpy.save writes for numpy.arange(6, dtype='<f4').reshape(2, 3). */
static void npy_is_what_numpy_writes(void)
{
    float values[] = {0, 1, 2, 3, 4, 5};
    struct glcnn_npy array = {.rank = 2, .shape = {2, 3}, .data = values};
    const char *header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    void *bytes;
    size_t size;
    CU_ASSERT_EQUAL(glcnn_npy_format(&array, &bytes, &size, NULL), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(size, 128 + 24);
    CU_ASSERT_EQUAL(memcmp(bytes, "\x93NUMPY\1\0\x76\0", 10), 0);
    CU_ASSERT_EQUAL(memcmp((char *)bytes + 10, header, strlen(header)), 0);
    CU_ASSERT_EQUAL(((char *)bytes)[126], ' ');
    CU_ASSERT_EQUAL(((char *)bytes)[127], '\n');
    CU_ASSERT_EQUAL(memcmp((char *)bytes + 128 + 4, "\0\0\x80\x3f", 4), 0);
    free(bytes);
}

static void npy_refuses_arrays_that_are_none(void)
{
    struct glcnn_npy good = some_array(2, GLCNN_CHANNEL_FORMAT_NONE), bad;
    void *bytes;
    size_t size;
    bad = good, bad.data = NULL;
    CU_ASSERT_EQUAL(glcnn_npy_format(&bad, &bytes, &size, NULL), GLCNN_INVALID_ARGUMENT);
    bad = good, bad.rank = GLCNN_MAX_RANK + 1;
    CU_ASSERT_EQUAL(glcnn_npy_format(&bad, &bytes, &size, NULL), GLCNN_INVALID_ARGUMENT);
    bad = good, bad.shape[1] = 0;
    CU_ASSERT_EQUAL(glcnn_npy_format(&bad, &bytes, &size, NULL), GLCNN_INVALID_ARGUMENT);
    bad = some_array(4, GLCNN_CHANNEL_FORMAT_NONE);
    for (int i = 0; i < 4; i++)
        bad.shape[i] = UINT32_MAX;
    CU_ASSERT_EQUAL(glcnn_npy_format(&bad, &bytes, &size, NULL), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_PTR_NULL(bytes);
    CU_ASSERT_EQUAL(glcnn_npy_format(NULL, &bytes, &size, NULL), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_npy_format(&good, NULL, &size, NULL), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_npy_write(NULL, &good, NULL), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_npy_write("/tmp/x", NULL, NULL), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_npy_write_all(NULL, NULL, 1, NULL), GLCNN_INVALID_ARGUMENT);
}

static void npy_writes_all_files_or_none(void)
{
    char first[512], error[512] = "", old[16];
    struct glcnn_npy arrays[2];
    arrays[0] = arrays[1] = some_array(3, GLCNN_CHANNEL_FORMAT_NONE);
    snprintf(first, sizeof first, "%s", path_of("first.npy"));
    write_file(first, "old", 3);
    const char *missing[] = {first, "/nonexistent/second.npy"}, *twice[] = {first, first};
    const char *directory[] = {first, "/tmp"};
    CU_ASSERT_EQUAL(glcnn_npy_write_all(missing, arrays, 2, error), GLCNN_IO_ERROR);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "/nonexistent/second.npy: cannot be created"));
    CU_ASSERT_EQUAL(glcnn_npy_write_all(directory, arrays, 2, error), GLCNN_IO_ERROR);
    CU_ASSERT_EQUAL(glcnn_npy_write_all(twice, arrays, 2, error), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "named twice"));
    arrays[1].shape[0] = 0;
    const char *both[] = {first, path_of("second.npy")};
    CU_ASSERT_EQUAL(glcnn_npy_write_all(both, arrays, 2, error), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(folder_count_files(folder), 1);
    CU_ASSERT_EQUAL(read_file(first, old, sizeof old), 3);
    arrays[1].shape[0] = 1;
    CU_ASSERT_EQUAL(glcnn_npy_write_all(both, arrays, 2, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(folder_count_files(folder), 2);
    folder_empty(folder);
}

/* A full disk: /dev/full takes no byte, a limit on the size of files takes a few. */
static void npy_leaves_nothing_of_a_failed_write(void)
{
    struct rlimit old, low;
    char error[512];
    struct glcnn_npy array = some_array(4, GLCNN_CHANNEL_FORMAT_NONE);
    CU_ASSERT_EQUAL(glcnn_npy_write("/dev/full", &array, error), GLCNN_IO_ERROR);
    getrlimit(RLIMIT_FSIZE, &old);
    low = old;
    low.rlim_cur = 100;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &low);
    glcnn_status status = glcnn_npy_write(path_of("full.npy"), &array, error);
    setrlimit(RLIMIT_FSIZE, &old);
    CU_ASSERT_EQUAL(status, GLCNN_IO_ERROR);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "cannot be written: File too large"));
    CU_ASSERT_EQUAL(folder_count_files(folder), 0);
}

static void npy_follows_links_and_keeps_modes(void)
{
    char link[512];
    struct stat now;
    struct glcnn_npy array = some_array(2, GLCNN_CHANNEL_FORMAT_NONE);
    snprintf(link, sizeof link, "%s", path_of("link.npy"));
    write_file(path_of("file.npy"), "old", 3);
    CU_ASSERT_EQUAL(chmod(path_of("file.npy"), 0600), 0);
    CU_ASSERT_EQUAL(symlink("file.npy", link), 0);
    CU_ASSERT_EQUAL(glcnn_npy_write(link, &array, NULL), GLCNN_SUCCESS);
    CU_ASSERT(lstat(link, &now) == 0 && S_ISLNK(now.st_mode));
    CU_ASSERT(stat(path_of("file.npy"), &now) == 0 && now.st_size == 136);
    CU_ASSERT_EQUAL(now.st_mode & 0777, 0600);
    CU_ASSERT_EQUAL(glcnn_npy_write("/dev/null", &array, NULL), GLCNN_SUCCESS);
    CU_ASSERT(stat("/dev/null", &now) == 0 && S_ISCHR(now.st_mode));
    folder_empty(folder);
}

/* ---------------------------------------------------------------------------------- npz */

static const struct glcnn_array *two_arrays(void)
{
    static const struct glcnn_array arrays[] = {{"convolution1.weights", 2, {2, 3}, some_values},
                                                {"biases", 1, {4}, some_values}};
    some_array(1, GLCNN_CHANNEL_FORMAT_NONE);
    return arrays;
}

static void check_entry(zip_t *archive, const char *name, uint32_t rank, size_t count)
{
    uint8_t bytes[512];
    struct glcnn_npy array;
    zip_file_t *file = zip_fopen(archive, name, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    zip_int64_t size = zip_fread(file, bytes, sizeof bytes);
    zip_fclose(file);
    CU_ASSERT_FATAL(size > 0);
    CU_ASSERT_EQUAL(glcnn_npy_parse(bytes, (size_t)size, &array, NULL), GLCNN_SUCCESS);
    CU_ASSERT_PTR_NOT_NULL_FATAL(array.data);
    CU_ASSERT_EQUAL(array.rank, rank);
    CU_ASSERT_EQUAL(memcmp(array.data, some_values, count * sizeof(float)), 0);
    glcnn_npy_destroy(&array);
}

static void npz_holds_the_arrays(void)
{
    char error[512] = "", first[1024], second[1024];
    CU_ASSERT_TRUE(npz_write(path_of("a.npz"), two_arrays(), 2, error));
    zip_t *archive = zip_open(path_of("a.npz"), ZIP_RDONLY | ZIP_CHECKCONS, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(archive);
    CU_ASSERT_EQUAL(zip_get_num_entries(archive, 0), 2);
    check_entry(archive, "convolution1.weights.npy", 2, 6);
    check_entry(archive, "biases.npy", 1, 4);
    zip_discard(archive);
    size_t size = read_file(path_of("a.npz"), first, sizeof first);
    CU_ASSERT_TRUE(npz_write(path_of("a.npz"), two_arrays(), 2, error)); /* replaces it */
    CU_ASSERT_EQUAL(read_file(path_of("a.npz"), second, sizeof second), size);
    CU_ASSERT_EQUAL(memcmp(first, second, size), 0);
    CU_ASSERT_EQUAL(folder_count_files(folder), 1);
    folder_empty(folder);
}

static void npz_leaves_nothing_of_a_failed_write(void)
{
    char error[512] = "";
    struct glcnn_array arrays[2] = {two_arrays()[0], two_arrays()[1]};
    CU_ASSERT_FALSE(npz_write("/nonexistent/a.npz", arrays, 2, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "/nonexistent/a.npz: cannot be created"));
    arrays[1].shape[0] = 0;
    CU_ASSERT_FALSE(npz_write(path_of("a.npz"), arrays, 2, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "no elements"));
    CU_ASSERT_EQUAL(folder_count_files(folder), 0);
}

/* ---------------------------------------------------------------------------------- plot */

static char *read_text(const char *path)
{
    static char text[1 << 17];
    FILE *file = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

/* The extent of the y of a path's points; how many there are. The first line's has its colour. */
static size_t extent_of_line(const char *svg, double *top, double *bottom)
{
    size_t count = 0;
    const char *at = strstr(svg, "class=\"line\" stroke=\"#1f5fa8\" d=\"");
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    *top = INFINITY, *bottom = -INFINITY;
    for (at = strstr(at, "d=\"") + 3; *at == 'M' || *at == 'L'; count++) {
        double x, y;
        int length = 0;
        CU_ASSERT_EQUAL_FATAL(sscanf(at, "%*c%lf %lf%n", &x, &y, &length), 2);
        *top = fmin(*top, y), *bottom = fmax(*bottom, y);
        at += length;
    }
    return count;
}

static struct plot one_line(const double *x, const double *y, size_t count)
{
    static struct plot_panel panel;
    panel = (struct plot_panel){"loss", {{"training", x, y, count, false}}};
    return (struct plot){"a <title> & more", "step", &panel, 1};
}

static void plot_draws_a_line_where_the_values_are(void)
{
    double x[1000], y[1000], top, bottom;
    char error[512] = "";
    for (int i = 0; i < 1000; i++)
        x[i] = i, y[i] = 1;
    struct plot plot = one_line(x, y, 100);
    y[50] = NAN;
    CU_ASSERT_TRUE(plot_write(path_of("a.svg"), &plot, error));
    CU_ASSERT_EQUAL(extent_of_line(read_text(path_of("a.svg")), &top, &bottom), 99);
    CU_ASSERT(bottom - top < 0.1);
    const char *text = read_text(path_of("a.svg"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ">a &#60;title&#62; &#38; more</text>"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ">training</text>"));
    CU_ASSERT_PTR_NULL(strstr(text, "nan"));
    CU_ASSERT_PTR_NULL(strstr(text, "class=\"reach\""));
    for (int i = 0; i < 1000; i++)
        y[i] = i % 2 ? i : i + 20;
    plot = one_line(x, y, 1000);
    CU_ASSERT_TRUE(plot_write(path_of("a.svg"), &plot, error));
    text = read_text(path_of("a.svg"));
    CU_ASSERT_EQUAL(extent_of_line(text, &top, &bottom), 150);
    CU_ASSERT(bottom - top > 240);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "class=\"reach\"")); /* what a point stands for */
    CU_ASSERT_EQUAL(folder_count_files(folder), 1);
    folder_empty(folder);
}

static void plot_takes_any_values(void)
{
    static const double sets[][3] = {{NAN, NAN, NAN},       {INFINITY, -INFINITY, 1}, {0, 0, 0},
                                     {-5e-7, -4e-7, -3e-7}, {3e38, -3e38, 0},         {1e-45, 0, 0},
                                     {1e6, 1e6 + 1, 1e6}},
                        x[] = {1, 2, 3};
    char error[512] = "";
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        for (size_t count = 0; count <= 3; count++) {
            const struct plot plot = one_line(x, sets[i], count);
            CU_ASSERT_TRUE(plot_write(path_of("any.svg"), &plot, error));
            const char *text = read_text(path_of("any.svg"));
            CU_ASSERT_PTR_NULL(strstr(text, "nan"));
            CU_ASSERT_PTR_NULL(strstr(text, "inf"));
            CU_ASSERT_PTR_NOT_NULL(strstr(text, "</svg>"));
        }
    folder_empty(folder);
}

static void plot_leaves_nothing_of_a_failed_write(void)
{
    const double value = 1;
    char error[512] = "";
    const struct plot plot = one_line(&value, &value, 1);
    CU_ASSERT_FALSE(plot_write("/nonexistent/a.svg", &plot, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "/nonexistent/a.svg: cannot be created"));
    CU_ASSERT_FALSE(plot_write(folder, &plot, error)); /* the name of a directory */
    CU_ASSERT_EQUAL(folder_count_files(folder), 0);
    snprintf(error, sizeof error, "%s.tmp", folder);
    CU_ASSERT_NOT_EQUAL(access(error, F_OK), 0);
}

/* ---------------------------------------------------------------------------------- numbers */

static void numbers_have_suffixes(void)
{
    static const struct {
        const char *text;
        uint64_t whole, bytes; /* 0: refused */
    } rows[] = {{"10", 10, 10},
                {"10k", 10000, 10240},
                {"10K", 10000, 10240},
                {"10M", 10000000, 10485760},
                {"1.5G", 1500000000, 1610612736},
                {"1e3k", 1000000, 1024000},
                {"18446744073709551615", UINT64_MAX, UINT64_MAX},
                {"18446744073709551616", 0, 0},
                {"18446744073709551k", UINT64_C(18446744073709551000), 0},
                {"18446744073709552k", 0, 0},
                {"1.0001k", 0, 0},
                {"k", 0, 0},
                {"10kk", 0, 0},
                {"10T", 0, 0},
                {"10 M", 0, 0},
                {"-1k", 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t value = 0;
        CU_ASSERT_EQUAL(option_whole(rows[i].text, 1, UINT64_MAX, &value), rows[i].whole > 0);
        CU_ASSERT(rows[i].whole == 0 || value == rows[i].whole);
        CU_ASSERT_EQUAL(option_bytes(rows[i].text, 1, UINT64_MAX, &value), rows[i].bytes > 0);
        CU_ASSERT(rows[i].bytes == 0 || value == rows[i].bytes);
    }
    CU_ASSERT_FALSE(option_bytes("2k", 1, 2047, &(uint64_t){0}));
}

/* ---------------------------------------------------------------------------------- writing */

/* Everything that writes a file, each with a few bytes. */
static bool write_npy(const char *path, char error[512])
{
    struct glcnn_npy array = some_array(2, GLCNN_CHANNEL_FORMAT_NONE);
    return glcnn_npy_write(path, &array, error) == GLCNN_SUCCESS;
}

static bool write_npz(const char *path, char error[512])
{
    return npz_write(path, two_arrays(), 2, error);
}

static bool write_plot(const char *path, char error[512])
{
    static const double x[] = {1, 2, 3}, y[] = {3, 1, 2};
    const struct plot plot = one_line(x, y, 3);
    return plot_write(path, &plot, error);
}

static bool write_text(const char *path, char error[512])
{
    return glcnn_file_save(path, "some text\n", 10, error) == GLCNN_SUCCESS;
}

static const struct writer {
    const char *name;
    bool (*write)(const char *path, char error[512]);
} writers[] = {{"npy", write_npy}, {"npz", write_npz}, {"plot", write_plot}, {"text", write_text}};
#define WRITERS (sizeof writers / sizeof *writers)

/* Paths in the folder that are needed at one time. */
static const char *place(const char *name)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* What the writer writes. */
static size_t expected_bytes(const struct writer *writer, uint8_t bytes[4096])
{
    char error[512] = "";
    CU_ASSERT_TRUE(writer->write(place("expected"), error));
    CU_ASSERT_STRING_EQUAL(error, "");
    size_t size = read_file(place("expected"), bytes, 4096);
    CU_ASSERT(size > 0 && size < 4096);
    CU_ASSERT_EQUAL(remove(place("expected")), 0);
    return size;
}

static bool holds(const char *path, const void *bytes, size_t size)
{
    uint8_t found[4096];
    return read_file(path, found, sizeof found) == size && memcmp(found, bytes, size) == 0;
}

/* Whether the path itself, no link followed, is of a kind; S_IFREG and the like. */
static bool is_kind(const char *path, mode_t kind)
{
    struct stat now;
    return lstat(path, &now) == 0 && (now.st_mode & S_IFMT) == kind;
}

static mode_t mode_of(const char *path)
{
    struct stat now;
    return stat(path, &now) == 0 ? now.st_mode & 07777 : 0;
}

static void writers_keep_links_and_modes(void)
{
    for (size_t i = 0; i < WRITERS; i++) {
        char error[512] = "";
        uint8_t bytes[4096];
        size_t size = expected_bytes(&writers[i], bytes);
        write_file(place("file"), "old", 3);
        CU_ASSERT_EQUAL(chmod(place("file"), 0604), 0);
        CU_ASSERT_EQUAL(symlink("file", place("inner")), 0);
        CU_ASSERT_EQUAL(symlink(place("inner"), place("outer")), 0);
        CU_ASSERT_TRUE(writers[i].write(place("outer"), error));
        CU_ASSERT_TRUE(is_kind(place("outer"), S_IFLNK) && is_kind(place("inner"), S_IFLNK));
        CU_ASSERT_TRUE(is_kind(place("file"), S_IFREG) && holds(place("file"), bytes, size));
        CU_ASSERT_EQUAL(mode_of(place("file")), 0604);
        CU_ASSERT_EQUAL(folder_count_files(folder), 3);
        folder_empty(folder);
    }
}

/* A link to nothing yet: what it points to is made. A link to itself leads nowhere. */
static void writers_make_what_a_link_points_to(void)
{
    for (size_t i = 0; i < WRITERS; i++) {
        char error[512] = "";
        uint8_t bytes[4096];
        size_t size = expected_bytes(&writers[i], bytes);
        mode_t mask = umask(027);
        CU_ASSERT_EQUAL(symlink("made", place("link")), 0);
        CU_ASSERT_TRUE(writers[i].write(place("link"), error));
        umask(mask);
        CU_ASSERT_TRUE(is_kind(place("link"), S_IFLNK));
        CU_ASSERT_TRUE(is_kind(place("made"), S_IFREG) && holds(place("made"), bytes, size));
        CU_ASSERT_EQUAL(mode_of(place("made")), 0640);
        CU_ASSERT_EQUAL(symlink("loop", place("loop")), 0);
        CU_ASSERT_FALSE(writers[i].write(place("loop"), error));
        CU_ASSERT_PTR_NOT_NULL(strstr(error, strerror(ELOOP)));
        CU_ASSERT_EQUAL(folder_count_files(folder), 3);
        folder_empty(folder);
    }
}

/* What stands where a writer might put its bytes at first, and leads elsewhere. */
static void writers_follow_no_planted_link(void)
{
    static const char *const names[] = {"file.tmp", "file.glcnn-0.tmp"};
    for (size_t i = 0; i < WRITERS; i++) {
        char error[512] = "";
        uint8_t bytes[4096];
        size_t size = expected_bytes(&writers[i], bytes);
        write_file(place("victim"), "precious", 8);
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            CU_ASSERT_EQUAL(symlink("victim", place(names[n])), 0);
        CU_ASSERT_EQUAL(link(place("victim"), place("file.glcnn-1.tmp")), 0);
        CU_ASSERT_TRUE(writers[i].write(place("file"), error));
        CU_ASSERT_TRUE(is_kind(place("file"), S_IFREG) && holds(place("file"), bytes, size));
        CU_ASSERT_TRUE(holds(place("victim"), "precious", 8));
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            CU_ASSERT_TRUE(is_kind(place(names[n]), S_IFLNK));
        folder_empty(folder);
    }
}

/* ---- Files that are read ---- */

static void files_are_read_whole(void)
{
    char error[GLCNN_ERROR_LENGTH] = "", part[3] = "";
    void *bytes;
    size_t size;
    int descriptor;
    uint64_t length;
    write_file(place("file"), "a\0bcd", 5);
    CU_ASSERT_EQUAL(symlink("file", place("link")), 0);
    CU_ASSERT_EQUAL(glcnn_file_load(place("link"), 5, &bytes, &size, error), GLCNN_SUCCESS);
    CU_ASSERT_TRUE(size == 5 && memcmp(bytes, "a\0bcd", 6) == 0);
    free(bytes);
    CU_ASSERT_EQUAL(glcnn_file_load(place("file"), 4, &bytes, &size, error), GLCNN_LIMIT_EXCEEDED);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "file: has 5 bytes; at most 4 are read"));
    CU_ASSERT_PTR_NULL(bytes);
    CU_ASSERT_EQUAL(glcnn_file_open(place("file"), &descriptor, &length, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(length, 5);
    CU_ASSERT_EQUAL(glcnn_file_read(descriptor, "name", 2, part, 3, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(memcmp(part, "bcd", 3), 0);
    CU_ASSERT_EQUAL(glcnn_file_read(descriptor, "name", 3, part, 3, error), GLCNN_IO_ERROR);
    CU_ASSERT_STRING_EQUAL(error, "name: cannot be read: it became shorter meanwhile");
    close(descriptor);
    CU_ASSERT_EQUAL(glcnn_file_load(NULL, 4, &bytes, &size, NULL), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_file_load(place("file"), 9, NULL, &size, NULL), GLCNN_INVALID_ARGUMENT);
    folder_empty(folder);
}

/* Nobody writes into the pipe: to wait for one would never end. */
static void other_kinds_of_files_are_not_read(void)
{
    static const struct {
        const char *name, *words;
        int reason; /* errno */
    } kinds[] = {{"pipe", "pipe: is not a regular file but a pipe", 0},
                 {".", ".: is not a regular file but a folder", 0},
                 {"/dev/zero", "/dev/zero: is not a regular file but a device", 0},
                 {"none", "none: cannot be opened: No such file", ENOENT},
                 {"", ": cannot be opened: No such file", ENOENT}};
    CU_ASSERT_EQUAL(mkfifo(place("pipe"), 0600), 0);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char error[GLCNN_ERROR_LENGTH] = "";
        struct glcnn_npy array;
        int descriptor;
        bool is_here = kinds[i].name[0] && kinds[i].name[0] != '/';
        const char *path = is_here ? place(kinds[i].name) : kinds[i].name;
        errno = EBADF;
        CU_ASSERT_EQUAL(glcnn_file_open(path, &descriptor, NULL, error), GLCNN_IO_ERROR);
        CU_ASSERT_EQUAL(errno, kinds[i].reason);
        CU_ASSERT_EQUAL(descriptor, -1);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, kinds[i].words));
        error[0] = 0;
        CU_ASSERT_EQUAL(glcnn_npy_read(path, &array, error), GLCNN_IO_ERROR);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, kinds[i].words));
    }
    folder_empty(folder);
}

/* With a reader and without: neither is waited for, and nothing is written. */
static void writers_refuse_a_pipe(void)
{
    for (size_t i = 0; i < 2 * WRITERS; i++) {
        char error[512] = "";
        uint8_t found;
        CU_ASSERT_EQUAL(mkfifo(place("pipe"), 0600), 0);
        int pipe = i % 2 ? open(place("pipe"), O_RDWR | O_NONBLOCK) : -1;
        CU_ASSERT_FALSE(writers[i / 2].write(place("pipe"), error));
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "pipe: is a pipe or a socket; files are written"));
        CU_ASSERT_TRUE(is_kind(place("pipe"), S_IFIFO));
        if (pipe >= 0) {
            CU_ASSERT_EQUAL(read(pipe, &found, 1), -1);
            close(pipe);
        }
        CU_ASSERT_EQUAL(folder_count_files(folder), 1);
        folder_empty(folder);
    }
}

/* What has a descriptor is open already, as /dev/stdout of a shell's pipe is. */
static void writers_write_a_pipe_that_is_open(void)
{
    for (size_t i = 0; i < WRITERS; i++) {
        char error[512] = "", path[64];
        uint8_t bytes[4096], found[4096];
        int ends[2];
        size_t size = expected_bytes(&writers[i], bytes);
        CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
        snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
        CU_ASSERT_TRUE(writers[i].write(path, error));
        CU_ASSERT_EQUAL(read(ends[0], found, sizeof found), (ssize_t)size);
        CU_ASSERT_EQUAL(memcmp(found, bytes, size), 0);
        close(ends[0]);
        close(ends[1]);
    }
}

/* A device of the test's own, the same as /dev/full: one that is replaced is lost. Without the
 * right to make one, or where none can be opened, there is nothing to test. */
static void writers_keep_a_full_device(void)
{
    if (mknod(place("full"), S_IFCHR | 0600, makedev(1, 7)) != 0 ||
        access(place("full"), W_OK) != 0) {
        printf("no device can be made here ... ");
        folder_empty(folder);
        return;
    }
    for (size_t i = 0; i < WRITERS; i++) {
        char error[512] = "";
        CU_ASSERT_FALSE(writers[i].write(place("full"), error));
        CU_ASSERT_PTR_NOT_NULL(strstr(error, strerror(ENOSPC)));
        CU_ASSERT_PTR_NOT_NULL(strstr(error, place("full")));
        CU_ASSERT_TRUE(is_kind(place("full"), S_IFCHR));
        CU_ASSERT_EQUAL(folder_count_files(folder), 1);
    }
    folder_empty(folder);
}

/* A limit of the size of files stands for a full disk. */
static void writers_leave_the_old_file_on_a_full_disk(void)
{
    struct rlimit old, low;
    getrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < WRITERS; i++) {
        char error[512] = "";
        write_file(place("file"), "old", 3);
        low = old;
        low.rlim_cur = 5;
        setrlimit(RLIMIT_FSIZE, &low);
        bool written = writers[i].write(place("file"), error);
        setrlimit(RLIMIT_FSIZE, &old);
        CU_ASSERT_FALSE(written);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "file: cannot be written: File too large"));
        CU_ASSERT_TRUE(holds(place("file"), "old", 3));
        CU_ASSERT_EQUAL(folder_count_files(folder), 1);
        folder_empty(folder);
    }
    signal(SIGXFSZ, SIG_DFL);
}

/* What nobody has locked was left by a killed process; what is locked is being written. */
static void writers_remove_what_was_left_alone(void)
{
    for (size_t i = 0; i < WRITERS; i++) {
        char error[512] = "";
        write_file(place("file.glcnn-0.tmp"), "in the making", 13);
        write_file(place("file.glcnn-1.tmp"), "left", 4);
        int busy = open(place("file.glcnn-0.tmp"), O_WRONLY);
        CU_ASSERT_FATAL(busy >= 0 && flock(busy, LOCK_EX | LOCK_NB) == 0);
        CU_ASSERT_TRUE(writers[i].write(place("file"), error));
        CU_ASSERT_TRUE(holds(place("file.glcnn-0.tmp"), "in the making", 13));
        CU_ASSERT_EQUAL(folder_count_files(folder), 2);
        close(busy);
        CU_ASSERT_TRUE(writers[i].write(place("file"), error));
        CU_ASSERT_EQUAL(folder_count_files(folder), 1);
        folder_empty(folder);
    }
}

static void writers_refuse_what_is_no_file(void)
{
    for (size_t i = 0; i < WRITERS; i++) {
        char error[512] = "";
        CU_ASSERT_FALSE(writers[i].write(folder, error));
        CU_ASSERT_PTR_NOT_NULL(strstr(error, strerror(EISDIR)));
        CU_ASSERT_FALSE(writers[i].write("", error));
        CU_ASSERT_PTR_NOT_NULL(strstr(error, strerror(ENOENT)));
        CU_ASSERT_FALSE(writers[i].write(place("none/file"), error));
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "none/file: cannot be created: No such file"));
        CU_ASSERT_EQUAL(folder_count_files(folder), 0);
    }
}

/* A name may be as long as the file system lets it. */
static void writers_write_long_names(void)
{
    char name[256], error[512] = "";
    memset(name, 'x', 255);
    name[255] = 0;
    for (size_t i = 0; i < WRITERS; i++) {
        CU_ASSERT_TRUE(writers[i].write(place(name), error));
        CU_ASSERT_TRUE(writers[i].write(place(name), error)); /* once it is there */
        CU_ASSERT_EQUAL(folder_count_files(folder), 1);
        CU_ASSERT_EQUAL(remove(place(name)), 0);
    }
}

static void files_come_in_parts_or_not_at_all(void)
{
    char error[512] = "";
    glcnn_file *file = NULL;
    CU_ASSERT_EQUAL(glcnn_file_create(place("file"), &file, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_file_write(file, "one, ", 5, error), GLCNN_SUCCESS);
    CU_ASSERT_FALSE(is_kind(place("file"), S_IFREG));
    CU_ASSERT_EQUAL(glcnn_file_write(file, NULL, 0, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_file_write(file, NULL, 1, NULL), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_file_sync(file, error), GLCNN_SUCCESS);
    CU_ASSERT_FALSE(is_kind(place("file"), S_IFREG));
    CU_ASSERT_EQUAL(glcnn_file_write(file, "two", 3, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_file_commit(&file, error), GLCNN_SUCCESS);
    CU_ASSERT_PTR_NULL(file);
    CU_ASSERT_TRUE(holds(place("file"), "one, two", 8));
    CU_ASSERT_EQUAL(glcnn_file_create(place("file"), &file, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_file_write(file, "three", 5, error), GLCNN_SUCCESS);
    glcnn_file_discard(&file);
    CU_ASSERT_PTR_NULL(file);
    glcnn_file_discard(&file);
    glcnn_file_discard(NULL);
    CU_ASSERT_TRUE(holds(place("file"), "one, two", 8));
    CU_ASSERT_EQUAL(folder_count_files(folder), 1);
    CU_ASSERT_EQUAL(glcnn_file_create(NULL, &file, error), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_file_create("/tmp/x", NULL, error), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_file_write(NULL, "", 0, error), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_file_commit(&file, NULL), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_file_sync(NULL, error), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_file_save(NULL, "", 0, NULL), GLCNN_INVALID_ARGUMENT);
    folder_empty(folder);
}

/* A regular file behind a descriptor: what it has stays, and it is not replaced. */
static void files_of_descriptors_are_written_in_place(void)
{
    char path[64], error[512] = "";
    struct stat before, after;
    write_file(place("file"), "begun, ", 7);
    int descriptor = open(place("file"), O_WRONLY | O_APPEND);
    CU_ASSERT_FATAL(descriptor >= 0 && fstat(descriptor, &before) == 0);
    snprintf(path, sizeof path, "/dev/fd/%d", descriptor);
    CU_ASSERT_TRUE(write_text(path, error));
    CU_ASSERT_EQUAL(symlink(path, place("link")), 0);
    CU_ASSERT_TRUE(write_text(place("link"), error));
    CU_ASSERT_TRUE(stat(place("file"), &after) == 0 && after.st_ino == before.st_ino);
    CU_ASSERT_TRUE(holds(place("file"), "begun, some text\nsome text\n", 27));
    close(descriptor);
    CU_ASSERT_FALSE(write_text(path, error));
    CU_ASSERT_EQUAL(folder_count_files(folder), 2);
    folder_empty(folder);
}

/* ---------------------------------------------------------------------------------- locks */

static glcnn_status lock(const char *name, glcnn_file_lock **taken, char error[512])
{
    return glcnn_file_lock_take(place(name), taken, error);
}

/* Hidden, and so not counted among the folder's files. */
static bool is_locked(void)
{
    return access(place(".file.glcnn-lock"), F_OK) == 0;
}

static void locks_are_for_one(void)
{
    char error[512] = "";
    glcnn_file_lock *first = NULL, *second = NULL;
    CU_ASSERT_EQUAL(symlink("file", place("link")), 0);
    CU_ASSERT_EQUAL(lock("file", &first, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(lock("link", &second, error), GLCNN_INVALID_STATE);
    CU_ASSERT_PTR_NULL(second);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "/link: is being written already, by another process"));
    CU_ASSERT_TRUE(write_text(place("file"), error)); /* replaces what a lock of it would go with */
    CU_ASSERT_EQUAL(lock("./file", &second, error), GLCNN_INVALID_STATE);
    CU_ASSERT_EQUAL(lock("other", &second, error), GLCNN_SUCCESS);
    glcnn_file_lock_destroy(&second);
    CU_ASSERT_TRUE(is_locked());
    glcnn_file_lock_destroy(&first);
    CU_ASSERT_PTR_NULL(first);
    CU_ASSERT_FALSE(is_locked());
    CU_ASSERT_EQUAL(lock("link", &second, error), GLCNN_SUCCESS);
    glcnn_file_lock_destroy(&second);
    glcnn_file_lock_destroy(&second);
    glcnn_file_lock_destroy(NULL);
    CU_ASSERT_FALSE(is_locked());
    CU_ASSERT_EQUAL(folder_count_files(folder), 2);
    folder_empty(folder);
}

/* A child that holds a lock until it is killed; what it leaves is taken, and removed in the end. */
static void locks_end_with_their_process(void)
{
    char error[512] = "", byte;
    int ready[2], status;
    glcnn_file_lock *taken = NULL;
    CU_ASSERT_EQUAL_FATAL(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        if (lock("file", &taken, error) == GLCNN_SUCCESS && write(ready[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    CU_ASSERT_EQUAL(read(ready[0], &byte, 1), 1);
    CU_ASSERT_EQUAL(lock("file", &taken, error), GLCNN_INVALID_STATE);
    CU_ASSERT_EQUAL(kill(child, SIGKILL), 0);
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT_TRUE(is_locked());
    CU_ASSERT_EQUAL(lock("file", &taken, error), GLCNN_SUCCESS);
    glcnn_file_lock_destroy(&taken);
    CU_ASSERT_FALSE(is_locked());
    close(ready[0]);
    close(ready[1]);
}

static void locks_are_of_files_that_can_be_replaced(void)
{
    const char *const others[] = {"/dev/full", "/dev/stdout", "/dev/fd/1", folder, place("pipe")};
    char error[512] = "";
    glcnn_file_lock *taken = NULL;
    CU_ASSERT_EQUAL(mkfifo(place("pipe"), 0600), 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        CU_ASSERT_EQUAL(glcnn_file_lock_take(others[i], &taken, error), GLCNN_INVALID_ARGUMENT);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, ": is not a regular file, and cannot be replaced"));
    }
    CU_ASSERT_EQUAL(lock("none/file", &taken, error), GLCNN_IO_ERROR);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "none/file: cannot be created: No such"));
    CU_ASSERT_EQUAL(glcnn_file_lock_take(NULL, &taken, NULL), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_file_lock_take("/tmp/x", NULL, NULL), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(folder_count_files(folder), 1);
    folder_empty(folder);
}

/* ---------------------------------------------------------------------------------- descriptors */

static bool is_closed(int descriptor)
{
    return fcntl(descriptor, F_GETFD) < 0 && errno == EBADF;
}

/* All that is held open, of a process whose standard streams are closed; the number of the first that
 * was taken, 3: none was. */
static int count_free_streams(const char *pictures)
{
    glcnn_file *file = NULL;
    glcnn_file_lock *taken = NULL;
    glcnn_dataset *set = NULL;
    int number = 0;
    close(0), close(1), close(2);
    bool good = glcnn_file_create(place("file"), &file, NULL) == GLCNN_SUCCESS &&
                glcnn_file_lock_take(place("file"), &taken, NULL) == GLCNN_SUCCESS &&
                glcnn_dataset_open_files(&pictures, 1, NULL, &set, NULL) == GLCNN_SUCCESS;
    while (number < 3 && is_closed(number))
        number++;
    glcnn_dataset_destroy(&set);
    glcnn_file_lock_destroy(&taken);
    glcnn_file_discard(&file);
    return good ? number : -1;
}

static void files_leave_standard_streams_alone(void)
{
    char error[512] = "";
    int status = -1;
    float pixels[2 * 4 * 4] = {0};
    const struct glcnn_npy pictures = {.rank = 3, .shape = {2, 4, 4}, .data = pixels};
    CU_ASSERT_EQUAL(glcnn_npy_write(place("pictures.npy"), &pictures, error), GLCNN_SUCCESS);
    pid_t child = fork();
    if (child == 0)
        _exit(count_free_streams(place("pictures.npy")));
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT_TRUE(WIFEXITED(status));
    CU_ASSERT_EQUAL(WEXITSTATUS(status), 3);
    folder_empty(folder);
}

/* ---------------------------------------------------------------------------------- progress */

static void progress_line_says_loss_speed_and_time(void)
{
    char line[256];
    struct progress p = {.total = 10000};
    progress_format(&p, line, sizeof line, 2500, 10, 0.5, 0);
    CU_ASSERT_STRING_EQUAL(line, " 25%  loss 0.5000  250 images/s  30 s left");
    progress_format(&p, line, sizeof line, 1, 1, 2.5, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(line, "2 h 46 min left"));
    progress_format(&p, line, sizeof line, 10, 1, 2.5, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(line, "16 min 39 s left"));
    p.label = "epoch 3 of 4";
    p.later = 10000;
    progress_format(&p, line, sizeof line, 2500, 10, 0.5, 0);
    CU_ASSERT_STRING_EQUAL(line, "epoch 3 of 4   25%  loss 0.5000  250 images/s  70 s left");
    progress_format(&p, line, sizeof line, 10000, 40, 0.5, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(line, "100%  loss 0.5000  250 images/s  40 s left"));
    p = (struct progress){.total = 0};
    progress_format(&p, line, sizeof line, 0, 0, NAN, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(line, "100%"));
}

static void time_left_does_not_count_compiling(void)
{
    char line[256];
    struct progress p = {
        .total = 1000, .later = 9000, .compiles = true, .compiled = 10, .compile_time = 60};
    progress_format(&p, line, sizeof line, 10, 60, 2.5, 0);
    CU_ASSERT_STRING_EQUAL(line, "  1%  loss 2.5000  0 images/s");
    progress_format(&p, line, sizeof line, 110, 61, 2.5, 0);
    CU_ASSERT_STRING_EQUAL(line, " 11%  loss 2.5000  100 images/s  99 s left");
    p.stream = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(p.stream);
    progress_begin(&p, p.stream, 1000);
    p.compiles = true;
    progress_update(&p, 10, 2.5);
    progress_update(&p, 20, 2.5);
    CU_ASSERT_EQUAL(p.compiled, 10);
    CU_ASSERT(p.compile_time >= 0);
    fclose(p.stream);
}

static void progress_bar_fits_the_terminal(void)
{
    char line[256];
    struct progress p = {.total = 100};
    for (size_t columns = 1; columns < 200; columns++)
        for (size_t done = 0; done <= 100; done += 25) {
            p.label = done % 2 ? "epoch 13 of 50" : NULL;
            CU_ASSERT(progress_format(&p, line, sizeof line, done, 7, 1, columns) < columns);
        }
    p.label = NULL;
    progress_format(&p, line, sizeof line, 50, 7, 1, 200);
    CU_ASSERT_EQUAL(strncmp(line, "[====================>                   ]   50%", 48), 0);
    progress_format(&p, line, sizeof line, 100, 7, 1, 200);
    CU_ASSERT_EQUAL(strncmp(line, "[========================================]  100%", 48), 0);
    p.label = "epoch 3 of 4";
    progress_format(&p, line, sizeof line, 100, 7, 1, 80);
    CU_ASSERT_EQUAL(strncmp(line, "epoch 3 of 4  [=========", 24), 0);
}

static void progress_draws_plain_lines_into_a_file(void)
{
    struct progress progress;
    char text[512] = "";
    FILE *file = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    progress_begin(&progress, file, 100);
    CU_ASSERT_FALSE(progress.bar);
    progress.drawn += 3600; /* however long this test stands still */
    for (size_t i = 0; i < 100; i++)
        progress_update(&progress, i, 1); /* too early for a line */
    CU_ASSERT_EQUAL(ftell(file), 0);
    progress.drawn -= 3660;
    progress_update(&progress, 50, 1);
    progress_end(&progress, 100, 0.25);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    CU_ASSERT_EQUAL(strncmp(text, " 50%  loss 1.0000", 17), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n100%  loss 0.2500"));
    CU_ASSERT_PTR_NULL(strchr(text, '\r'));
    CU_ASSERT_EQUAL(text[strlen(text) - 1], '\n');
    fclose(file);
}

int main(int argc, char *argv[])
{
    const CU_TestInfo tests[] = {
        UNIT_TEST(npy_reads_every_kind_of_element),
        UNIT_TEST(npy_reads_versions_and_spellings),
        UNIT_TEST(npy_turns_fortran_order_into_c_order),
        UNIT_TEST(npy_is_converted_in_parts),
        UNIT_TEST(npy_refuses_bad_headers),
        UNIT_TEST(npy_refuses_every_truncation),
        UNIT_TEST(npy_refuses_other_files),
        UNIT_TEST(npy_survives_changed_bytes),
        UNIT_TEST(npy_read_names_the_file),
        UNIT_TEST(npy_takes_no_memory_for_a_promise),
        UNIT_TEST(npy_comes_back_as_it_was_written),
        UNIT_TEST(npy_writes_float16),
        UNIT_TEST(npy_is_what_numpy_writes),
        UNIT_TEST(npy_refuses_arrays_that_are_none),
        UNIT_TEST(npy_writes_all_files_or_none),
        UNIT_TEST(npy_leaves_nothing_of_a_failed_write),
        UNIT_TEST(npy_follows_links_and_keeps_modes),
        UNIT_TEST(npz_holds_the_arrays),
        UNIT_TEST(npz_leaves_nothing_of_a_failed_write),
        UNIT_TEST(plot_draws_a_line_where_the_values_are),
        UNIT_TEST(plot_takes_any_values),
        UNIT_TEST(plot_leaves_nothing_of_a_failed_write),
        UNIT_TEST(numbers_have_suffixes),
        UNIT_TEST(files_are_read_whole),
        UNIT_TEST(other_kinds_of_files_are_not_read),
        UNIT_TEST(writers_keep_links_and_modes),
        UNIT_TEST(writers_make_what_a_link_points_to),
        UNIT_TEST(writers_follow_no_planted_link),
        UNIT_TEST(writers_refuse_a_pipe),
        UNIT_TEST(writers_write_a_pipe_that_is_open),
        UNIT_TEST(writers_keep_a_full_device),
        UNIT_TEST(writers_leave_the_old_file_on_a_full_disk),
        UNIT_TEST(writers_remove_what_was_left_alone),
        UNIT_TEST(writers_refuse_what_is_no_file),
        UNIT_TEST(writers_write_long_names),
        UNIT_TEST(files_come_in_parts_or_not_at_all),
        UNIT_TEST(files_of_descriptors_are_written_in_place),
        UNIT_TEST(locks_are_for_one),
        UNIT_TEST(locks_end_with_their_process),
        UNIT_TEST(locks_are_of_files_that_can_be_replaced),
        UNIT_TEST(files_leave_standard_streams_alone),
        UNIT_TEST(progress_line_says_loss_speed_and_time),
        UNIT_TEST(time_left_does_not_count_compiling),
        UNIT_TEST(progress_bar_fits_the_terminal),
        UNIT_TEST(progress_draws_plain_lines_into_a_file),
        CU_TEST_INFO_NULL,
    };
    if (!mkdtemp(folder)) {
        fprintf(stderr, "%s cannot be made: %s\n", folder, strerror(errno));
        return EXIT_FAILURE;
    }
    int status = unit_run("io", tests, argc, argv);
    rmdir(folder);
    return status;
}
