/* Kernels to bytes and back. What a kernel has is asked of the registry, so a new operation needs
 * nothing here. */
#include "serialize_kernel.h"

#include <stdlib.h>
#include <string.h>

#define EXACT_IN_DOUBLE 9007199254740992.0 /* 2^53: whole numbers up to here */

/* ---- Writing ---- */

bool serialize_check_text(const char *text, const char *what, struct outcome *outcome)
{
    return serialize_is_utf8((const uint8_t *)text, strlen(text)) ||
           outcome_fail(outcome, GLCNN_INVALID_ARGUMENT, "the %s \"%.80s\" is not UTF-8", what,
                        text);
}

/* A message of the library's own. */
static bool succeeded(glcnn_kernel *kernel, glcnn_status status, struct outcome *outcome)
{
    return status == GLCNN_SUCCESS ||
           outcome_fail(outcome, status, "%s", glcnn_device_error(glcnn_kernel_device(kernel)));
}

static bool is_of_64_bits(const struct glcnn_parameter_info *row)
{
    return row->type == GLCNN_PARAMETER_INTEGER && row->maximum > EXACT_IN_DOUBLE;
}

static void write_value(struct writer *writer, const struct glcnn_parameter_info *row, double value)
{
    switch (row->type) {
    case GLCNN_PARAMETER_BOOLEAN:
        writer_boolean(writer, value != 0);
        break;
    case GLCNN_PARAMETER_ENUMERATION:
        writer_text(writer, row->value_names[(size_t)value]);
        break;
    case GLCNN_PARAMETER_INTEGER:
        writer_whole(writer, value);
        break;
    default:
        writer_real(writer, value);
    }
}

static bool write_parameter(struct writer *writer, glcnn_kernel *kernel,
                            const struct glcnn_parameter_info *row, struct outcome *outcome)
{
    double value = 0;
    uint64_t whole = 0;
    writer_text(writer, row->name);
    if (is_of_64_bits(row)) {
        if (!succeeded(kernel, glcnn_kernel_get_uint64(kernel, row->name, &whole), outcome))
            return false;
        writer_unsigned(writer, whole);
        return true;
    }
    if (!succeeded(kernel, glcnn_kernel_get(kernel, row->name, &value), outcome))
        return false;
    /* Changes nothing but where the value is out of its range, and then it says so. */
    if (!succeeded(kernel, glcnn_kernel_set(kernel, row->name, value), outcome))
        return false;
    write_value(writer, row, value);
    return true;
}

static bool write_parameters(struct writer *writer, glcnn_kernel *kernel,
                             const struct glcnn_kernel_info *info, struct outcome *outcome)
{
    writer_text(writer, "parameters");
    writer_map(writer, info->parameter_count);
    for (size_t i = 0; i < info->parameter_count; i++)
        if (!write_parameter(writer, kernel, &info->parameters[i], outcome))
            return false;
    return true;
}

static bool write_vector(struct writer *writer, glcnn_kernel *kernel, const char *name,
                         struct outcome *outcome)
{
    glcnn_buffer *buffer = glcnn_kernel_vector(kernel, name);
    size_t size = glcnn_buffer_size(buffer);
    float *values = malloc(size);
    if (!values)
        return outcome_fail(outcome, GLCNN_OUT_OF_MEMORY, "out of memory reading %s of %s", name,
                            glcnn_kernel_name(kernel));
    const char *expected, *label = glcnn_kernel_label(kernel);
    bool good = succeeded(kernel, glcnn_buffer_read(buffer, 0, size, values), outcome);
    const size_t first =
        good ? glcnn_kernel_wrong_value(name, values, size / 4, &expected) : size / 4;
    if (first < size / 4)
        good = outcome_fail(outcome, GLCNN_INVALID_STATE,
                            "%s of %s \"%.80s\" are not written: value %zu is %g, %s; training has "
                            "diverged",
                            name, glcnn_kernel_name(kernel), label ? label : "", first,
                            (double)values[first], expected);
    if (good) {
        writer_text(writer, name);
        writer_floats(writer, values, size / 4);
    }
    free(values);
    return good;
}

/* Constants are no weights: without weights they are written too. */
static bool has_written(const glcnn_kernel *kernel, const struct glcnn_argument_info *argument,
                        bool with_weights)
{
    return (with_weights || argument->is_constant) &&
           glcnn_kernel_has_vector(kernel, argument->name);
}

static size_t count_written(const glcnn_kernel *kernel, const struct glcnn_kernel_info *info,
                            bool with_weights)
{
    size_t count = 0;
    for (size_t i = 0; i < info->argument_count; i++)
        count += has_written(kernel, &info->arguments[i], with_weights);
    return count;
}

static bool write_vectors(struct writer *writer, glcnn_kernel *kernel,
                          const struct glcnn_kernel_info *info, bool with_weights,
                          struct outcome *outcome)
{
    writer_text(writer, "vectors");
    writer_map(writer, count_written(kernel, info, with_weights));
    for (size_t i = 0; i < info->argument_count; i++)
        if (has_written(kernel, &info->arguments[i], with_weights) &&
            !write_vector(writer, kernel, info->arguments[i].name, outcome))
            return false;
    return true;
}

static bool write_label(struct writer *writer, const char *label, struct outcome *outcome)
{
    if (!serialize_check_text(label, "label", outcome))
        return false;
    writer_text(writer, "label");
    writer_text(writer, label);
    return true;
}

bool serialize_kernel_write(struct writer *writer, glcnn_kernel *kernel, bool with_weights,
                            bool alone, struct outcome *outcome)
{
    const struct glcnn_kernel_info *info = glcnn_kernel_info_by_name(glcnn_kernel_name(kernel));
    const char *label = glcnn_kernel_label(kernel);
    if (!info)
        return outcome_fail(outcome, GLCNN_OUT_OF_MEMORY, "out of memory listing the kernels");
    const bool with_vectors = with_weights || count_written(kernel, info, false);
    writer_map(writer, 4u + alone + (label != NULL) + with_vectors);
    if (alone) {
        writer_text(writer, "glcnn");
        writer_unsigned(writer, SERIALIZE_VERSION);
    }
    writer_text(writer, "kernel");
    writer_text(writer, info->name);
    if (label && !write_label(writer, label, outcome))
        return false;
    writer_text(writer, "result_is_ordinary");
    writer_boolean(writer, glcnn_kernel_properties(kernel)->result_is_ordinary);
    writer_text(writer, "encode_count");
    writer_unsigned(writer, glcnn_kernel_encode_count(kernel));
    return write_parameters(writer, kernel, info, outcome) &&
           (!with_vectors || write_vectors(writer, kernel, info, with_weights, outcome));
}

glcnn_status serialize_finish(struct writer *writer, struct outcome *outcome, uint8_t **bytes,
                              size_t *size, char *error)
{
    if (writer->failed)
        outcome_fail(outcome, GLCNN_OUT_OF_MEMORY, "out of memory serialising");
    if (outcome->status == GLCNN_SUCCESS) {
        *bytes = writer->bytes;
        *size = writer->size;
    } else {
        free(writer->bytes);
    }
    return outcome_tell(outcome, error);
}

glcnn_status glcnn_kernel_serialize(glcnn_kernel *kernel, bool with_weights, uint8_t **bytes,
                                    size_t *size, char error[GLCNN_ERROR_LENGTH])
{
    struct writer writer = {0};
    struct outcome outcome = {0};
    if (bytes)
        *bytes = NULL;
    if (!kernel || !bytes || !size)
        outcome_fail(&outcome, GLCNN_INVALID_ARGUMENT, "glcnn_kernel_serialize: %s is NULL",
                     !kernel  ? "kernel"
                     : !bytes ? "bytes"
                              : "size");
    else
        serialize_kernel_write(&writer, kernel, with_weights, true, &outcome);
    return serialize_finish(&writer, &outcome, bytes, size, error);
}

void glcnn_serialize_destroy(uint8_t *bytes)
{
    free(bytes);
}

/* ---- Reading ---- */

bool serialize_read_version(const struct reader *reader)
{
    struct reader copy = *reader;
    struct item item;
    if (!reader_expect(&copy, ITEM_MAP, &item))
        return false;
    if (item.number == 0 || !reader_expect(&copy, ITEM_TEXT, &item) || !item_is(&item, "glcnn"))
        return reader_fail(reader, item.at,
                           "the bytes are of another kind: they do not begin with \"glcnn\"");
    if (!reader_expect(&copy, ITEM_UNSIGNED, &item))
        return false;
    return item.number == SERIALIZE_VERSION ||
           reader_fail(reader, item.at, "the format is of version %llu; this library reads %d",
                       (unsigned long long)item.number, SERIALIZE_VERSION);
}

static bool find_kernel(struct reader *name, const struct glcnn_kernel_info **info)
{
    struct item item;
    char quote[QUOTE];
    if (!reader_expect(name, ITEM_TEXT, &item))
        return false;
    for (size_t i = 0; (*info = glcnn_kernel_info_at(i)); i++)
        if (item_is(&item, (*info)->name))
            return true;
    return reader_fail(name, item.at, "there is no kernel \"%s\"; glcnn_kernel_info lists them",
                       item_quote(&item, quote));
}

bool serialize_kernel_read(struct reader *reader, bool alone, struct reader fields[KERNEL_FIELDS],
                           const struct glcnn_kernel_info **info)
{
    static const char *const names[] = {
        [KERNEL_NAME] = "kernel",
        [KERNEL_PARAMETERS] = "parameters",
        [KERNEL_IS_ORDINARY] = "result_is_ordinary",
        [KERNEL_ENCODE_COUNT] = "encode_count",
        [KERNEL_LABEL] = "label",
        [KERNEL_VECTORS] = "vectors",
        [KERNEL_FIELDS] = "glcnn",
    };
    struct reader values[KERNEL_FIELDS + 1];
    if (!reader_fields(reader, names, KERNEL_PARAMETERS + 1, KERNEL_FIELDS + (alone ? 1 : 0),
                       values))
        return false;
    memcpy(fields, values, KERNEL_FIELDS * sizeof *fields);
    return find_kernel(&fields[KERNEL_NAME], info);
}

static bool read_whole(struct reader *value, const struct glcnn_parameter_info *row,
                       glcnn_kernel *kernel)
{
    struct item item;
    if (!reader_next(value, &item))
        return false;
    if (item.kind != ITEM_UNSIGNED && item.kind != ITEM_NEGATIVE)
        return reader_fail(value, item.at, "a whole number is expected");
    bool wide = is_of_64_bits(row) && item.kind == ITEM_UNSIGNED;
    if (!wide && item.number > (uint64_t)EXACT_IN_DOUBLE)
        return reader_fail(value, item.at, "the number is out of range");
    double number = item.kind == ITEM_UNSIGNED ? (double)item.number : -1 - (double)item.number;
    return reader_succeeded(value, glcnn_kernel_device(kernel),
                            wide ? glcnn_kernel_set_uint64(kernel, row->name, item.number)
                                 : glcnn_kernel_set(kernel, row->name, number));
}

static bool read_real(struct reader *value, double *number)
{
    struct item item;
    if (!reader_expect(value, ITEM_REAL, &item))
        return false;
    *number = item.real;
    return true;
}

static bool read_value(struct reader *value, const struct glcnn_parameter_info *row, double *number)
{
    bool truth;
    size_t choice;
    if (row->type == GLCNN_PARAMETER_REAL)
        return read_real(value, number);
    if (row->type == GLCNN_PARAMETER_BOOLEAN) {
        if (!reader_boolean(value, &truth))
            return false;
        *number = truth;
        return true;
    }
    if (!reader_choice(value, row->value_names, &choice))
        return false;
    *number = (double)choice;
    return true;
}

static bool read_parameter(struct reader *value, const struct glcnn_parameter_info *row,
                           glcnn_kernel *kernel)
{
    double number = row->default_value;
    if (value->bytes && row->type == GLCNN_PARAMETER_INTEGER)
        return read_whole(value, row, kernel);
    if (value->bytes && !read_value(value, row, &number))
        return false;
    glcnn_status status = glcnn_kernel_set(kernel, row->name, number);
    return status == GLCNN_SUCCESS || reader_succeeded(value, glcnn_kernel_device(kernel), status);
}

static bool read_parameters(struct reader *reader, const struct glcnn_kernel_info *info,
                            glcnn_kernel *kernel)
{
    size_t count = info->parameter_count;
    const char **names = calloc(count + 1, sizeof(*names));
    struct reader *values = calloc(count + 1, sizeof *values);
    bool good = names && values;
    if (!good)
        reader_out_of_memory(reader);
    for (size_t i = 0; good && i < count; i++)
        names[i] = info->parameters[i].name;
    good = good && reader_fields(reader, names, 0, count, values);
    for (size_t i = 0; good && i < count; i++)
        good = read_parameter(&values[i], &info->parameters[i], kernel);
    free(names);
    free(values);
    return good;
}

static float *make_floats(const struct item *item)
{
    float *values = malloc(item->size);
    for (size_t i = 0; values && i < item->size / 4; i++) {
        const uint8_t *b = item->bytes + 4 * i;
        uint32_t bits =
            (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
        memcpy(&values[i], &bits, 4);
    }
    return values;
}

static bool read_vector(struct reader *value, glcnn_kernel *kernel)
{
    struct item item;
    if (!reader_expect(value, ITEM_BYTES, &item))
        return false;
    if (item.size == 0 || item.size % 4)
        return reader_fail(value, item.at, "%zu bytes are no values of float32", item.size);
    float *values = make_floats(&item);
    if (!values)
        return reader_out_of_memory(value);
    const char *expected;
    const size_t count = item.size / 4,
                 first = glcnn_kernel_wrong_value(value->name, values, count, &expected);
    const double wrong = first < count ? (double)values[first] : 0;
    glcnn_status status = first < count
                              ? GLCNN_MALFORMED_DATA
                              : glcnn_kernel_set_vector(kernel, value->name, values, count);
    free(values);
    return first < count
               ? reader_fail(value, item.at, "value %zu is %g, %s", first, wrong, expected)
               : reader_succeeded(value, glcnn_kernel_device(kernel), status);
}

static bool read_vectors(struct reader *reader, const struct glcnn_kernel_info *info,
                         glcnn_kernel *kernel)
{
    const char *names[16] = {NULL};
    struct reader values[16];
    size_t count = 0;
    for (; count < info->argument_count && count < 16; count++)
        names[count] = info->arguments[count].name;
    if (!reader_fields(reader, names, 0, count, values))
        return false;
    for (size_t i = 0; i < count; i++)
        if (values[i].bytes && !read_vector(&values[i], kernel))
            return false;
    return true;
}

static bool read_label(struct reader *reader, glcnn_kernel *kernel)
{
    char *label;
    if (!reader_text(reader, &label))
        return false;
    glcnn_status status = glcnn_kernel_set_label(kernel, label);
    free(label);
    return reader_succeeded(reader, glcnn_kernel_device(kernel), status);
}

bool serialize_kernel_read_into(struct reader fields[KERNEL_FIELDS],
                                const struct glcnn_kernel_info *info, glcnn_kernel *kernel)
{
    uint64_t encodes = 0;
    bool *is_ordinary = &glcnn_kernel_properties(kernel)->result_is_ordinary;
    struct reader *count = &fields[KERNEL_ENCODE_COUNT];
    *is_ordinary = false;
    if (!read_parameters(&fields[KERNEL_PARAMETERS], info, kernel))
        return false;
    if (fields[KERNEL_IS_ORDINARY].bytes &&
        !reader_boolean(&fields[KERNEL_IS_ORDINARY], is_ordinary))
        return false;
    if (count->bytes && !reader_number(count, (uint64_t)UINT32_MAX + 1, "encodes", &encodes))
        return false;
    glcnn_kernel_set_encode_count(kernel, (uint32_t)encodes);
    if (fields[KERNEL_LABEL].bytes && !read_label(&fields[KERNEL_LABEL], kernel))
        return false;
    return !fields[KERNEL_VECTORS].bytes || read_vectors(&fields[KERNEL_VECTORS], info, kernel);
}

static bool make_kernel(struct reader *reader, glcnn_device *device, glcnn_kernel **kernel)
{
    struct reader fields[KERNEL_FIELDS];
    const struct glcnn_kernel_info *info;
    if (!serialize_read_version(reader) || !serialize_kernel_read(reader, true, fields, &info) ||
        !reader_end(reader))
        return false;
    glcnn_status status = glcnn_kernel_create(device, info->name, kernel);
    return reader_succeeded(reader, device, status) &&
           serialize_kernel_read_into(fields, info, *kernel);
}

glcnn_status glcnn_kernel_deserialize(glcnn_device *device, const uint8_t *bytes, size_t size,
                                      glcnn_kernel **kernel, char error[GLCNN_ERROR_LENGTH])
{
    struct outcome outcome = {0};
    struct reader reader = {.bytes = bytes, .size = size, .outcome = &outcome};
    if (kernel)
        *kernel = NULL;
    if (!device || !bytes || !kernel)
        outcome_fail(&outcome, GLCNN_INVALID_ARGUMENT, "glcnn_kernel_deserialize: %s is NULL",
                     !device  ? "device"
                     : !bytes ? "bytes"
                              : "kernel");
    else if (!make_kernel(&reader, device, kernel))
        glcnn_kernel_destroy(kernel);
    return outcome_tell(&outcome, error);
}
