/* How deep messages lie within messages. What unpacks them calls itself for each, and a file may nest
 * graphs and types as deep as its bytes go; so they are walked here first, without a call. */
#include "onnx/onnx.h"

#define MOST_DEPTH 48

enum message { GRAPH, NODE, ATTRIBUTE, TRAINING, FUNCTION, INFO, TYPE, HOLDER, MODEL };

/* Fields that hold a message within which there may be another one of its kind. */
static const struct field {
    enum message of;
    uint32_t number;
    enum message holds;
} fields[] = {
    {MODEL, 7, GRAPH},      {MODEL, 20, TRAINING}, {MODEL, 25, FUNCTION}, {TRAINING, 1, GRAPH},
    {TRAINING, 2, GRAPH},   {FUNCTION, 7, NODE},   {GRAPH, 1, NODE},      {GRAPH, 11, INFO},
    {GRAPH, 12, INFO},      {GRAPH, 13, INFO},     {NODE, 5, ATTRIBUTE},  {ATTRIBUTE, 6, GRAPH},
    {ATTRIBUTE, 11, GRAPH}, {ATTRIBUTE, 14, TYPE}, {ATTRIBUTE, 15, TYPE}, {INFO, 2, TYPE},
    {TYPE, 4, HOLDER},      {TYPE, 5, HOLDER},     {TYPE, 9, HOLDER},     {HOLDER, 1, TYPE},
    {HOLDER, 2, TYPE},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static const struct field *find_field(enum message of, uint64_t number)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (fields[i].of == of && fields[i].number == number)
            return &fields[i];
    return NULL;
}

struct cursor {
    const uint8_t *bytes;
    size_t size, at;
};

static bool read_varint(struct cursor *c, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && c->at < c->size; shift += 7) {
        uint8_t byte = c->bytes[c->at++];
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* One field: *length is that of what has one, behind which the cursor is not yet. */
static bool read_key(struct cursor *c, uint64_t *number, bool *has_length, uint64_t *length)
{
    static const uint8_t fixed[8] = {[1] = 8, [5] = 4};
    uint64_t key, value;
    if (!read_varint(c, &key))
        return false;
    *number = key >> 3;
    *has_length = (key & 7) == 2;
    *length = fixed[key & 7];
    if ((key & 7) == 0)
        return read_varint(c, &value);
    if (*has_length && !read_varint(c, length))
        return false;
    return (*has_length || *length) && *length <= c->size - c->at;
}

static bool refuse_depth(struct reader *reader, size_t at)
{
    return onnx_fail(reader, GLCNN_MALFORMED_DATA,
                     "byte %zu: messages lie more than %d deep within one another; no model needs "
                     "that",
                     at, MOST_DEPTH);
}

bool nesting_check(struct reader *reader, const uint8_t *bytes, size_t size)
{
    struct {
        enum message message;
        size_t end;
    } open[MOST_DEPTH] = {{MODEL, size}};
    struct cursor c = {bytes, size, 0};
    uint64_t number, length;
    bool has_length;
    for (size_t depth = 0;;) {
        while (depth > 0 && c.at >= open[depth].end)
            depth--;
        if (c.at >= size)
            return true;
        size_t at = c.at;
        if (!read_key(&c, &number, &has_length, &length))
            return onnx_fail(
                reader, GLCNN_MALFORMED_DATA,
                "byte %zu: not a field of a protocol buffer, or cut off; is this a complete ONNX file?",
                at);
        const struct field *field = has_length ? find_field(open[depth].message, number) : NULL;
        if (!field) {
            c.at += (size_t)length;
            continue;
        }
        if (depth + 1 == MOST_DEPTH)
            return refuse_depth(reader, at);
        depth++;
        open[depth].message = field->holds;
        open[depth].end = c.at + (size_t)length;
    }
}
