/* Reads .npy files that may be hostile: nothing is allocated for bytes that are not there, and no
 * size is believed before it has been compared with the file's. */
#include "io/npy.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/float16.h"
/* ---- Elements ---- */

static uint64_t little_endian(const uint8_t *at, size_t size)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < size; i++)
        bits |= (uint64_t)at[i] << 8 * i;
    return bits;
}

static float from_f2(uint64_t bits)
{
    return float16_to_float((uint16_t)bits);
}

static float from_f4(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

static float from_f8(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return (float)value;
}

static float from_unsigned(uint64_t bits)
{
    return (float)bits;
}

static float from_bool(uint64_t bits)
{
    return bits != 0;
}

/* Two's complement of 8 to 64 bits: -x is the complement of x - 1. */
#define DEFINE_FROM_SIGNED(NAME, BITS)                                                             \
    static float NAME(uint64_t bits)                                                               \
    {                                                                                              \
        if (bits >> (BITS - 1) == 0)                                                               \
            return (float)bits;                                                                    \
        return -(float)((~bits & (UINT64_MAX >> (64 - BITS))) + 1);                                \
    }

DEFINE_FROM_SIGNED(from_i1, 8)
DEFINE_FROM_SIGNED(from_i2, 16)
DEFINE_FROM_SIGNED(from_i4, 32)
DEFINE_FROM_SIGNED(from_i8, 64)

struct element {
    const char *descr;
    size_t size;
    float (*value)(uint64_t bits);
};

static const struct element elements[] = {
    {"<f4", 4, from_f4},       {"<f2", 2, from_f2},       {"<f8", 8, from_f8},
    {"|i1", 1, from_i1},       {"<i2", 2, from_i2},       {"<i4", 4, from_i4},
    {"<i8", 8, from_i8},       {"|u1", 1, from_unsigned}, {"<u2", 2, from_unsigned},
    {"<u4", 4, from_unsigned}, {"<u8", 8, from_unsigned}, {"|b1", 1, from_bool},
};

/* ---- Header ---- */

struct header {
    const struct element *element;
    bool fortran;
    uint32_t rank;
    uint32_t shape[GLCNN_MAX_RANK];
    size_t count; /* elements */
    size_t data;  /* offset of the first element */
    size_t total; /* bytes that the file must have */
};

/* Where parsing is, whose file it is, and the message if it failed. */
struct parser {
    const char *at, *end;
    const char *file;
    char *error;
};

static bool fail(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct parser *p, const char *format, ...)
{
    if (!p->error)
        return false;
    int length = snprintf(p->error, GLCNN_ERROR_LENGTH, "%.300s: ", p->file);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->error + length, GLCNN_ERROR_LENGTH - (size_t)length, format, arguments);
    va_end(arguments);
    return false;
}

static void skip_space(struct parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t'))
        p->at++;
}

static bool accept(struct parser *p, char wanted)
{
    skip_space(p);
    if (p->at == p->end || *p->at != wanted)
        return false;
    p->at++;
    return true;
}

static bool accept_word(struct parser *p, const char *word)
{
    size_t length = strlen(word);
    skip_space(p);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

/* A quoted string of printable characters without escapes. */
static bool parse_string(struct parser *p, char text[32])
{
    skip_space(p);
    char quote = p->at < p->end ? *p->at : 0;
    if (quote != '\'' && quote != '"')
        return false;
    size_t length = 0;
    for (p->at++; p->at < p->end && *p->at != quote && length < 31; p->at++) {
        if (!isprint((unsigned char)*p->at) || *p->at == '\\')
            return false;
        text[length++] = *p->at;
    }
    text[length] = 0;
    return accept(p, quote);
}

static bool parse_extent(struct parser *p, uint32_t *extent)
{
    uint64_t value = 0;
    skip_space(p);
    if (p->at == p->end || !isdigit((unsigned char)*p->at))
        return fail(p, "the shape in the header is not a tuple of whole numbers");
    for (; p->at < p->end && isdigit((unsigned char)*p->at); p->at++) {
        value = value * 10 + (uint64_t)(*p->at - '0');
        if (value > UINT32_MAX)
            return fail(p, "the shape has an extent above %u", UINT32_MAX);
    }
    accept(p, 'L'); /* Python 2 wrote long integers so */
    *extent = (uint32_t)value;
    return true;
}

static bool parse_descr(struct parser *p, struct header *h)
{
    char descr[32];
    if (!parse_string(p, descr))
        return fail(p, "descr in the header is not a string: records are not read, only arrays of "
                       "numbers");
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (strcmp(descr, elements[i].descr) == 0)
            h->element = &elements[i];
    if (!h->element)
        return fail(p,
                    "elements are '%s'; expected little-endian '<f4' or '<f2', or '<f8', '|i1', "
                    "'<i2', '<i4', '<i8', '|u1', '<u2', '<u4', '<u8', '|b1'",
                    descr);
    return true;
}

static bool parse_order(struct parser *p, struct header *h)
{
    h->fortran = accept_word(p, "True");
    if (!h->fortran && !accept_word(p, "False"))
        return fail(p, "fortran_order in the header is neither True nor False");
    return true;
}

static bool parse_shape(struct parser *p, struct header *h)
{
    if (!accept(p, '('))
        return fail(p, "the shape in the header is not a tuple");
    while (!accept(p, ')')) {
        if (h->rank == GLCNN_MAX_RANK)
            return fail(p, "the array has more than %d dimensions", GLCNN_MAX_RANK);
        if (!parse_extent(p, &h->shape[h->rank++]))
            return false;
        if (!accept(p, ',') && (h->rank == 1 || p->at == p->end || *p->at != ')'))
            return fail(p, "the shape in the header is not a tuple of whole numbers");
    }
    return true;
}

static const struct {
    const char *key;
    bool (*parse)(struct parser *p, struct header *h);
} entries[] = {{"descr", parse_descr}, {"fortran_order", parse_order}, {"shape", parse_shape}};
enum { ENTRIES = sizeof entries / sizeof *entries };

/* One "key: value". Each key comes once: `seen` has a bit for each. */
static bool parse_entry(struct parser *p, struct header *h, unsigned *seen)
{
    char key[32];
    if (!parse_string(p, key) || !accept(p, ':'))
        return fail(p, "the header is not a dictionary of descr, fortran_order and shape");
    for (unsigned i = 0; i < ENTRIES; i++)
        if (strcmp(key, entries[i].key) == 0 && !(*seen & 1u << i)) {
            *seen |= 1u << i;
            return entries[i].parse(p, h);
        }
    return fail(
        p,
        "the header has '%s' twice, or should not have it; expected descr, fortran_order and shape",
        key);
}

static bool parse_dictionary(struct parser *p, struct header *h)
{
    unsigned seen = 0;
    if (!accept(p, '{'))
        return fail(p, "the header is not a dictionary of descr, fortran_order and shape");
    while (!accept(p, '}')) {
        if (!parse_entry(p, h, &seen))
            return false;
        if (!accept(p, ',') && (p->at == p->end || *p->at != '}'))
            return fail(p, "the header has no comma or brace after a value");
    }
    skip_space(p);
    if (p->at != p->end)
        return fail(p, "the header continues after its dictionary");
    if (seen != (1u << ENTRIES) - 1)
        return fail(p, "the header lacks one of descr, fortran_order and shape");
    return true;
}

/* Sizes of array and file, none of which may overflow: elements become floats in memory. */
static bool measure(struct parser *p, struct header *h)
{
    size_t widest = h->element->size > sizeof(float) ? h->element->size : sizeof(float);
    h->count = 1;
    for (uint32_t i = 0; i < h->rank; i++) {
        if (h->shape[i] == 0)
            return fail(p, "dimension %u of the shape is 0: the array has no elements", i);
        if (h->count > (SIZE_MAX / 2 - h->data) / widest / h->shape[i])
            return fail(p, "the shape has more elements than memory can hold");
        h->count *= h->shape[i];
    }
    h->total = h->data + h->count * h->element->size;
    return true;
}

static bool parse_prefix(struct parser *p, const uint8_t *bytes, size_t size, size_t *length,
                         size_t *begin)
{
    if (size < NPY_MAGIC_SIZE || memcmp(bytes, NPY_MAGIC, NPY_MAGIC_SIZE) != 0)
        return fail(p, "is not a .npy file: it does not begin with \\x93NUMPY");
    if (size < NPY_MAGIC_SIZE + 2)
        return fail(p, "ends after %zu bytes, before its version", size);
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return fail(p, "is of format version %u.%u; expected 1.0, 2.0 or 3.0", bytes[6], bytes[7]);
    *begin = bytes[6] == 1 ? 10 : 12;
    if (size < *begin)
        return fail(p, "ends after %zu bytes, before the length of its header", size);
    *length = (size_t)little_endian(bytes + 8, *begin - 8);
    if (*length > NPY_HEADER_MAX)
        return fail(p, "has a header of %zu bytes; expected %d at most", *length, NPY_HEADER_MAX);
    if (size - *begin < *length)
        return fail(p, "ends after %zu bytes, within its header of %zu", size, *length);
    return true;
}

static bool parse_header(struct parser *p, const uint8_t *bytes, size_t size, struct header *h)
{
    size_t length = 0, begin = 0;
    *h = (struct header){0};
    if (!parse_prefix(p, bytes, size, &length, &begin))
        return false;
    p->at = (const char *)bytes + begin;
    p->end = p->at + length;
    h->data = begin + length;
    return parse_dictionary(p, h) && measure(p, h);
}

/* ---- Arrays ---- */

/* Place in Fortran order, first index fastest, of the element that is number `i` in C order. */
static size_t fortran_place(const struct header *h, size_t i)
{
    size_t place = 0;
    size_t stride = h->count;
    for (uint32_t axis = h->rank; axis-- > 0;) {
        stride /= h->shape[axis];
        place += i % h->shape[axis] * stride;
        i /= h->shape[axis];
    }
    return place;
}

static void convert(const struct header *h, const uint8_t *bytes, size_t first, size_t count,
                    float *data)
{
    size_t size = h->element->size;
    for (size_t i = 0; i < count; i++) {
        size_t place = h->fortran ? fortran_place(h, first + i) : first + i;
        data[i] = h->element->value(little_endian(bytes + place * size, size));
    }
}

static bool check_total(struct parser *p, const struct header *h, size_t size)
{
    return size == h->total ||
           fail(p,
                "has %s%zu bytes; its header of %zu bytes and %zu elements of %zu bytes make %zu",
                size > h->total ? "at least " : "", size, h->data, h->count, h->element->size,
                h->total);
}

static glcnn_status make_array(struct parser *p, const struct header *h, const uint8_t *bytes,
                               size_t size, struct glcnn_npy *array)
{
    if (!check_total(p, h, size))
        return GLCNN_MALFORMED_DATA;
    float *data = malloc(h->count * sizeof *data);
    if (!data) {
        fail(p, "not enough memory for %zu elements", h->count);
        return GLCNN_OUT_OF_MEMORY;
    }
    convert(h, bytes + h->data, 0, h->count, data);
    array->format =
        h->element->value == from_f2 ? GLCNN_CHANNEL_FORMAT_FLOAT16 : GLCNN_CHANNEL_FORMAT_FLOAT32;
    array->rank = h->rank;
    memcpy(array->shape, h->shape, sizeof array->shape);
    array->data = data;
    return GLCNN_SUCCESS;
}

static glcnn_status parse(struct parser *p, const uint8_t *bytes, size_t size,
                          struct glcnn_npy *array)
{
    struct header header;
    if (!parse_header(p, bytes, size, &header))
        return GLCNN_MALFORMED_DATA;
    return make_array(p, &header, bytes, size, array);
}

glcnn_status glcnn_npy_parse(const void *bytes, size_t size, struct glcnn_npy *array,
                             char error[GLCNN_ERROR_LENGTH])
{
    struct parser p = {.file = "the array", .error = error};
    if (!array || !bytes) {
        fail(&p, "bytes or array is NULL");
        return GLCNN_INVALID_ARGUMENT;
    }
    *array = (struct glcnn_npy){0};
    return parse(&p, bytes, size, array);
}

/* ---- Parts of arrays ---- */

glcnn_status glcnn_npy_parse_header(const void *bytes, size_t size, struct glcnn_npy_header *header,
                                    char error[GLCNN_ERROR_LENGTH])
{
    struct parser p = {.file = "the array", .error = error};
    struct header h;
    if (!header || !bytes) {
        fail(&p, "bytes or header is NULL");
        return GLCNN_INVALID_ARGUMENT;
    }
    *header = (struct glcnn_npy_header){0};
    if (!parse_header(&p, bytes, size, &h) || !check_total(&p, &h, size))
        return GLCNN_MALFORMED_DATA;
    *header = (struct glcnn_npy_header){.type = h.element->descr[1],
                                        .fortran = h.fortran,
                                        .element_size = (uint32_t)h.element->size,
                                        .rank = h.rank,
                                        .count = h.count,
                                        .begin = h.data};
    memcpy(header->shape, h.shape, sizeof h.shape);
    return GLCNN_SUCCESS;
}

void glcnn_npy_convert(const void *bytes, const struct glcnn_npy_header *header, size_t first,
                       size_t count, float *values)
{
    struct header h = {.fortran = header->fortran, .rank = header->rank, .count = header->count};
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (elements[i].descr[1] == header->type && elements[i].size == header->element_size)
            h.element = &elements[i];
    memcpy(h.shape, header->shape, sizeof h.shape);
    if (h.element)
        convert(&h, (const uint8_t *)bytes + header->begin, first, count, values);
}

/* ---- Files ---- */

struct content {
    uint8_t *bytes;
    size_t size, capacity;
};

/* Reads on until `wanted` bytes are there or the file ends. Memory grows with what has arrived. */
static glcnn_status read_until(struct parser *p, FILE *file, size_t wanted, struct content *c)
{
    while (c->size < wanted) {
        if (c->size == c->capacity) {
            size_t capacity = c->capacity ? c->capacity * 2 : NPY_PREFIX_MAX + NPY_HEADER_MAX;
            uint8_t *bytes = realloc(c->bytes, capacity);
            if (!bytes) {
                fail(p, "not enough memory for %zu bytes", capacity);
                return GLCNN_OUT_OF_MEMORY;
            }
            c->bytes = bytes;
            c->capacity = capacity;
        }
        size_t room = (wanted < c->capacity ? wanted : c->capacity) - c->size;
        size_t got = fread(c->bytes + c->size, 1, room, file);
        c->size += got;
        if (got < room)
            break;
    }
    if (!ferror(file))
        return GLCNN_SUCCESS;
    fail(p, "cannot be read: %s", strerror(errno));
    return GLCNN_IO_ERROR;
}

/* Reads the header, then what it promises and one byte more, which must not be there. */
static glcnn_status read_array(struct parser *p, FILE *file, struct content *content,
                               struct glcnn_npy *array)
{
    struct header header;
    glcnn_status status = read_until(p, file, NPY_PREFIX_MAX + NPY_HEADER_MAX, content);
    if (status != GLCNN_SUCCESS)
        return status;
    if (!parse_header(p, content->bytes, content->size, &header))
        return GLCNN_MALFORMED_DATA;
    status = read_until(p, file, header.total + 1, content);
    if (status != GLCNN_SUCCESS)
        return status;
    return make_array(p, &header, content->bytes, content->size, array);
}

glcnn_status glcnn_npy_read(const char *path, struct glcnn_npy *array,
                            char error[GLCNN_ERROR_LENGTH])
{
    struct parser p = {.file = path ? path : "npy", .error = error};
    if (!path || !array) {
        fail(&p, "path or array is NULL");
        return GLCNN_INVALID_ARGUMENT;
    }
    *array = (struct glcnn_npy){0};
    int descriptor;
    struct content content = {0};
    glcnn_status status = glcnn_file_open(path, &descriptor, NULL, error);
    if (status != GLCNN_SUCCESS)
        return status;
    FILE *file = fdopen(descriptor, "rb");
    if (!file) {
        close(descriptor);
        fail(&p, "cannot be opened: %s", strerror(errno));
        return GLCNN_OUT_OF_MEMORY;
    }
    status = read_array(&p, file, &content, array);
    free(content.bytes);
    fclose(file);
    return status;
}

void glcnn_npy_destroy(struct glcnn_npy *array)
{
    if (!array)
        return;
    free(array->data);
    *array = (struct glcnn_npy){0};
}
