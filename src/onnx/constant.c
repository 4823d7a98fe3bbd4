/* Numbers that are known while reading: initialisers of each type, and what is computed of them.
 * Little-endian bytes, as ONNX has them. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/external.h"
#include "onnx/onnx.h"

/* Makes that many zeros, which the caller has counted. */
static struct constant *make(struct reader *reader, const struct shape *shape, uint64_t count,
                             bool is_whole)
{
    struct constant *made = calloc(1, sizeof *made);
    void *numbers =
        made ? calloc((size_t)count + 1, is_whole ? sizeof(int64_t) : sizeof(float)) : NULL;
    if (!numbers) {
        free(made);
        onnx_no_memory(reader);
        return NULL;
    }
    *made = (struct constant){.shape = *shape, .count = (size_t)count, .next = reader->constants};
    made->type =
        is_whole ? ONNX__TENSOR_PROTO__DATA_TYPE__INT64 : ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
    made->wholes = is_whole ? numbers : NULL;
    made->floats = is_whole ? NULL : numbers;
    reader->constants = made;
    return made;
}

/* Counts numbers that are computed. */
static bool take_room(struct reader *reader, uint64_t count)
{
    if (count > reader->room)
        return onnx_fail(reader, GLCNN_LIMIT_EXCEEDED,
                         "a constant of %" PRIu64 " numbers would be computed, out of proportion "
                         "to the file",
                         count);
    reader->room -= (size_t)count;
    return true;
}

/* How many numbers are stored of a constant of the shape. */
static bool count_stored(struct reader *reader, const struct shape *shape, uint64_t *count)
{
    const struct shape stored = shape_stored(shape);
    char text[96];
    if (!shape_check(reader, "a constant", shape))
        return false;
    *count = (uint64_t)shape_count(&stored);
    return shape_batch_free(&stored) ||
           onnx_fail(reader, GLCNN_UNSUPPORTED,
                     "a constant of %s would be computed; only its first axis can be the batch",
                     shape_text(shape, text));
}

struct constant *constant_make(struct reader *reader, const struct shape *shape, bool is_whole)
{
    uint64_t count;
    return count_stored(reader, shape, &count) && take_room(reader, count)
               ? make(reader, shape, count, is_whole)
               : NULL;
}

struct constant *constant_make_filled(struct reader *reader, const struct shape *shape,
                                      bool is_whole)
{
    const uint64_t size = is_whole ? sizeof(int64_t) : sizeof(float);
    uint64_t count;
    if (!count_stored(reader, shape, &count))
        return NULL;
    if (count > reader->filled / size) {
        onnx_fail(
            reader, GLCNN_LIMIT_EXCEEDED,
            "a constant of %" PRIu64 " numbers takes %.0f MiB, and constants that a file has "
            "only the shapes of may take %.0f MiB more here, a quarter of the memory that was "
            "free",
            count, (double)count * (double)size / 1048576, (double)reader->filled / 1048576);
        return NULL;
    }
    reader->filled -= count * size;
    return make(reader, shape, count, is_whole);
}

bool constant_batch_free(const struct constant *constant)
{
    return shape_batch_free(&constant->shape);
}

void constants_free(struct reader *reader)
{
    while (reader->constants) {
        struct constant *next = reader->constants->next;
        free(reader->constants->floats);
        free(reader->constants->wholes);
        free(reader->constants);
        reader->constants = next;
    }
}

double constant_number(const struct constant *constant, size_t i)
{
    return constant->floats ? (double)constant->floats[i] : (double)constant->wholes[i];
}

void constant_set(struct constant *constant, size_t i, double value)
{
    if (constant->floats)
        constant->floats[i] = type_round(constant->type, value);
    else
        constant->wholes[i] = type_wrap(constant->type, value >= 0x1p63   ? INT64_MAX
                                                        : value < -0x1p63 ? INT64_MIN
                                                        : isnan(value)    ? 0
                                                                          : (int64_t)value);
}

void constant_copy(struct constant *to, size_t i, const struct constant *from, size_t j)
{
    if (from->floats)
        to->floats[i] = from->floats[j];
    else
        to->wholes[i] = from->wholes[j];
}

/* ---- Types ---- */

static uint64_t load(const uint8_t *bytes, size_t size)
{
    uint64_t bits = 0;
    for (size_t i = size; i > 0; i--)
        bits = bits << 8 | bytes[i - 1];
    return bits;
}

static float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double take_float32(uint64_t bits)
{
    return (double)float_of_bits((uint32_t)bits);
}

static double take_float64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* IEEE 754 binary16. */
static double take_float16(uint64_t bits)
{
    double sign = bits & 0x8000 ? -1 : 1;
    int exponent = (int)(bits >> 10 & 31);
    double fraction = (double)(bits & 1023);
    if (exponent == 31)
        return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    return sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

static double take_bfloat16(uint64_t bits)
{
    return (double)float_of_bits((uint32_t)(bits & 0xffff) << 16);
}

/* Where a tensor of each type has its numbers, unless they are raw. */
enum typed_field { FLOATS, INT32S, INT64S, DOUBLES, UINT64S };

static const struct type {
    int number;
    size_t size;
    enum typed_field field;
    double (*take)(uint64_t bits); /* NULL: a whole number */
    bool is_signed;
} types[] = {
    {ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, 4, FLOATS, take_float32, false},
    {ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE, 8, DOUBLES, take_float64, false},
    {ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16, 2, INT32S, take_float16, false},
    {ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16, 2, INT32S, take_bfloat16, false},
    {ONNX__TENSOR_PROTO__DATA_TYPE__BOOL, 1, INT32S, NULL, false},
    {ONNX__TENSOR_PROTO__DATA_TYPE__UINT8, 1, INT32S, NULL, false},
    {ONNX__TENSOR_PROTO__DATA_TYPE__INT8, 1, INT32S, NULL, true},
    {ONNX__TENSOR_PROTO__DATA_TYPE__UINT16, 2, INT32S, NULL, false},
    {ONNX__TENSOR_PROTO__DATA_TYPE__INT16, 2, INT32S, NULL, true},
    {ONNX__TENSOR_PROTO__DATA_TYPE__INT32, 4, INT32S, NULL, true},
    {ONNX__TENSOR_PROTO__DATA_TYPE__INT64, 8, INT64S, NULL, true},
    {ONNX__TENSOR_PROTO__DATA_TYPE__UINT32, 4, UINT64S, NULL, false},
    {ONNX__TENSOR_PROTO__DATA_TYPE__UINT64, 8, UINT64S, NULL, false},
};
enum { TYPES = sizeof types / sizeof *types };

static const struct type *find_type(int number)
{
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].number == number)
            return &types[i];
    return NULL;
}

bool type_is_read(int type)
{
    return find_type(type);
}

bool type_is_whole(int type)
{
    const struct type *found = find_type(type);
    return found && !found->take;
}

static double round_float16(double value)
{
    int exponent;
    if (!isfinite(value) || value == 0)
        return value;
    frexp(value, &exponent);
    double step = ldexp(1, (exponent < -13 ? -13 : exponent) - 11);
    double rounded = nearbyint(value / step) * step;
    return fabs(rounded) < 65520 ? rounded : copysign((double)INFINITY, value);
}

static float round_bfloat16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return isfinite(value) ? float_of_bits((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000) : value;
}

float type_round(int type, double value)
{
    return type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16    ? (float)round_float16(value)
           : type == ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16 ? round_bfloat16((float)value)
                                                             : (float)value;
}

static size_t typed_count(const Onnx__TensorProto *t, enum typed_field field)
{
    const size_t counts[] = {[FLOATS] = t->n_float_data,
                             [INT32S] = t->n_int32_data,
                             [INT64S] = t->n_int64_data,
                             [DOUBLES] = t->n_double_data,
                             [UINT64S] = t->n_uint64_data};
    return counts[field];
}

/* The bits of a number that its field has. */
static uint64_t typed_bits(const Onnx__TensorProto *t, enum typed_field field, size_t i)
{
    uint64_t bits = 0;
    uint32_t half = 0;
    switch (field) {
    case FLOATS:
        memcpy(&half, &t->float_data[i], sizeof half);
        return half;
    case INT32S:
        return (uint64_t)(int64_t)t->int32_data[i];
    case INT64S:
        return (uint64_t)t->int64_data[i];
    case DOUBLES:
        memcpy(&bits, &t->double_data[i], sizeof bits);
        return bits;
    case UINT64S:
        return t->uint64_data[i];
    }
    return 0;
}

static int64_t whole_of_bits(uint64_t bits, const struct type *type)
{
    unsigned width = 8 * (unsigned)type->size;
    uint64_t mask = width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
    bool is_negative = type->is_signed && (bits >> (width - 1) & 1);
    int64_t value;
    bits = is_negative ? bits | ~mask : bits & mask;
    memcpy(&value, &bits, sizeof value);
    return value;
}

int64_t type_wrap(int type, int64_t value)
{
    const struct type *found = find_type(type);
    if (type == ONNX__TENSOR_PROTO__DATA_TYPE__BOOL)
        return value != 0;
    return found ? whole_of_bits((uint64_t)value, found) : value;
}

static void store(struct constant *c, size_t i, uint64_t bits, const struct type *type)
{
    if (type->take)
        c->floats[i] = (float)type->take(bits);
    else
        c->wholes[i] = whole_of_bits(bits, type);
}

/* ---- Tensors ---- */

static const char *tensor_name(const Onnx__TensorProto *t)
{
    return t->name ? t->name : "";
}

static bool tensor_shape(struct reader *reader, const Onnx__TensorProto *t, struct shape *shape)
{
    *shape = (struct shape){0};
    if (t->n_dims > GLCNN_ONNX_RANK)
        return onnx_fail(reader, GLCNN_UNSUPPORTED,
                         "tensor \"%.80s\" has %zu axes; at most %d are supported", tensor_name(t),
                         t->n_dims, GLCNN_ONNX_RANK);
    shape->rank = (uint32_t)t->n_dims;
    if (t->n_dims)
        memcpy(shape->dims, t->dims, t->n_dims * sizeof *t->dims);
    if (!shape_check(reader, tensor_name(t), shape))
        return false;
    return shape_batch_free(shape) ||
           onnx_fail(reader, GLCNN_UNSUPPORTED,
                     "tensor \"%.80s\" has an axis of a multiple of %d numbers, a size that stands "
                     "for the batch here",
                     tensor_name(t), OPEN_BATCH);
}

static bool refuse_count(struct reader *reader, const Onnx__TensorProto *t, int64_t count,
                         size_t found, const char *what)
{
    return onnx_fail(reader, GLCNN_MALFORMED_DATA,
                     "tensor \"%.80s\" is said to have %" PRId64 " numbers, but the file has %zu "
                     "%s of it",
                     tensor_name(t), count, found, what);
}

/* What the file holds pays for itself, and for what is computed of it. */
#define ROOM_FOR_EACH 16
#define WORK_FOR_EACH 64

static struct constant *make_taken(struct reader *reader, const struct shape *shape, size_t count,
                                   const struct type *type)
{
    const size_t more = count <= SIZE_MAX / 64 ? ROOM_FOR_EACH * count : 0;
    reader->room += more <= SIZE_MAX / 2 - reader->room ? more : 0;
    reader->work += WORK_FOR_EACH * (uint64_t)count;
    struct constant *made =
        take_room(reader, count) ? make(reader, shape, count, !type->take) : NULL;
    if (made)
        made->type = type->number;
    return made;
}

static struct constant *take_bytes(struct reader *reader, const Onnx__TensorProto *t,
                                   const struct shape *shape, const struct type *type,
                                   const uint8_t *bytes, size_t size)
{
    int64_t count = shape_count(shape);
    if (size % type->size || (uint64_t)count != size / type->size) {
        refuse_count(reader, t, count, size, "bytes");
        return NULL;
    }
    struct constant *made = make_taken(reader, shape, (size_t)count, type);
    for (size_t i = 0; made && i < made->count; i++)
        store(made, i, load(bytes + i * type->size, type->size), type);
    return made;
}

static struct constant *take_typed(struct reader *reader, const Onnx__TensorProto *t,
                                   const struct shape *shape, const struct type *type)
{
    int64_t count = shape_count(shape);
    size_t found = typed_count(t, type->field);
    if ((uint64_t)count != found) {
        refuse_count(reader, t, count, found, "values");
        return NULL;
    }
    struct constant *made = make_taken(reader, shape, found, type);
    for (size_t i = 0; made && i < made->count; i++)
        store(made, i, typed_bits(t, type->field, i), type);
    return made;
}

struct constant *constant_of_tensor(struct reader *reader, Onnx__TensorProto *tensor)
{
    struct shape shape;
    const struct type *type = find_type(tensor->data_type);
    if (!tensor_shape(reader, tensor, &shape))
        return NULL;
    if (!type) {
        onnx_fail(reader, GLCNN_UNSUPPORTED,
                  "tensor \"%.80s\" is of type %d; only tensors of numbers are read",
                  tensor_name(tensor), tensor->data_type);
        return NULL;
    }
    if (tensor->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL &&
        !external_take(reader, tensor, shape_count(&shape), type->size))
        return NULL;
    if (tensor->has_raw_data)
        return take_bytes(reader, tensor, &shape, type, tensor->raw_data.data,
                          tensor->raw_data.len);
    return take_typed(reader, tensor, &shape, type);
}
