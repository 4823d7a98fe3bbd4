/* Reading CBOR with the decoder of libcbor that hands out one item at a time and allocates nothing:
 * the one that builds trees takes memory for any count that an array's head claims. */
#include "serialize_reader.h"

#include <cbor.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Failures ---- */

bool outcome_fail(struct outcome *outcome, glcnn_status status, const char *format, ...)
{
    va_list arguments;
    if (outcome->status != GLCNN_SUCCESS)
        return false;
    outcome->status = status;
    va_start(arguments, format);
    vsnprintf(outcome->text, sizeof outcome->text, format, arguments);
    va_end(arguments);
    return false;
}

glcnn_status outcome_tell(const struct outcome *outcome, char *error)
{
    if (error && outcome->status != GLCNN_SUCCESS)
        memcpy(error, outcome->text, sizeof outcome->text);
    return outcome->status;
}

bool reader_fail(const struct reader *reader, size_t at, const char *format, ...)
{
    char message[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return outcome_fail(reader->outcome, GLCNN_MALFORMED_DATA, "byte %zu%s%s: %s", at,
                        reader->name ? ", " : "", reader->name ? reader->name : "", message);
}

bool reader_succeeded(const struct reader *reader, glcnn_device *device, glcnn_status status)
{
    if (status == GLCNN_SUCCESS)
        return true;
    if (status == GLCNN_INVALID_ARGUMENT)
        return reader_fail(reader, reader->at, "%s", glcnn_device_error(device));
    return outcome_fail(reader->outcome, status, "%s", glcnn_device_error(device));
}

bool reader_out_of_memory(const struct reader *reader)
{
    return outcome_fail(reader->outcome, GLCNN_OUT_OF_MEMORY, "out of memory reading %s",
                        reader->name ? reader->name : "what was serialised");
}

/* ---- One item ---- */

/* What callbacks are given as size and count has changed in libcbor. */
#if CBOR_MAJOR_VERSION > 0 || CBOR_MINOR_VERSION > 8
typedef uint64_t cbor_size;
#else
typedef size_t cbor_size;
#endif

static void take(void *context, enum item_kind kind, uint64_t number)
{
    struct item *item = context;
    item->kind = kind;
    item->number = number;
}

#define TAKE_NUMBER(name, type, kind)                                                              \
    static void name(void *context, type value)                                                    \
    {                                                                                              \
        take(context, kind, value);                                                                \
    }
TAKE_NUMBER(take_uint8, uint8_t, ITEM_UNSIGNED)
TAKE_NUMBER(take_uint16, uint16_t, ITEM_UNSIGNED)
TAKE_NUMBER(take_uint32, uint32_t, ITEM_UNSIGNED)
TAKE_NUMBER(take_uint64, uint64_t, ITEM_UNSIGNED)
TAKE_NUMBER(take_negative8, uint8_t, ITEM_NEGATIVE)
TAKE_NUMBER(take_negative16, uint16_t, ITEM_NEGATIVE)
TAKE_NUMBER(take_negative32, uint32_t, ITEM_NEGATIVE)
TAKE_NUMBER(take_negative64, uint64_t, ITEM_NEGATIVE)
TAKE_NUMBER(take_array, cbor_size, ITEM_ARRAY)
TAKE_NUMBER(take_map, cbor_size, ITEM_MAP)
TAKE_NUMBER(take_boolean, bool, ITEM_BOOLEAN)
TAKE_NUMBER(take_tag, uint64_t, ITEM_OTHER)

static void take_other(void *context)
{
    take(context, ITEM_OTHER, 0);
}

static void take_double(void *context, double value)
{
    take(context, ITEM_REAL, 0);
    ((struct item *)context)->real = value;
}

static void take_float(void *context, float value)
{
    take_double(context, (double)value);
}

static void take_string(struct item *item, enum item_kind kind, cbor_data bytes, cbor_size size)
{
    take(item, kind, 0);
    item->bytes = bytes;
    item->size = (size_t)size;
}

static void take_text(void *context, cbor_data bytes, cbor_size size)
{
    take_string(context, ITEM_TEXT, bytes, size);
}

static void take_bytes(void *context, cbor_data bytes, cbor_size size)
{
    take_string(context, ITEM_BYTES, bytes, size);
}

static const struct cbor_callbacks callbacks = {
    .uint8 = take_uint8,
    .uint16 = take_uint16,
    .uint32 = take_uint32,
    .uint64 = take_uint64,
    .negint8 = take_negative8,
    .negint16 = take_negative16,
    .negint32 = take_negative32,
    .negint64 = take_negative64,
    .byte_string_start = take_other,
    .byte_string = take_bytes,
    .string = take_text,
    .string_start = take_other,
    .indef_array_start = take_other,
    .array_start = take_array,
    .indef_map_start = take_other,
    .map_start = take_map,
    .tag = take_tag,
    .float2 = take_float,
    .float4 = take_float,
    .float8 = take_double,
    .undefined = take_other,
    .null = take_other,
    .boolean = take_boolean,
    .indef_break = take_other,
};

/* Each entry of a list or map is a byte at least, so a count beyond the bytes that are left is a
 * lie, and no caller need fear it. */
bool reader_next(struct reader *reader, struct item *item)
{
    size_t left = reader->size - reader->at;
    *item = (struct item){.kind = ITEM_OTHER, .at = reader->at};
    struct cbor_decoder_result result =
        cbor_stream_decode(reader->bytes + reader->at, left, &callbacks, item);
    if (result.status == CBOR_DECODER_NEDATA || left == 0)
        return reader_fail(reader, item->at, "the bytes end within an item; they are cut off");
    if (result.status != CBOR_DECODER_FINISHED || result.read > left)
        return reader_fail(reader, item->at, "this is no CBOR; the bytes are damaged or foreign");
    reader->at += result.read;
    left -= result.read;
    bool holds = item->kind == ITEM_ARRAY || item->kind == ITEM_MAP;
    if (holds && item->number > left / (item->kind == ITEM_MAP ? 2 : 1))
        return reader_fail(reader, item->at,
                           "%llu entries are announced and %zu bytes are left; they are cut off",
                           (unsigned long long)item->number, left);
    return true;
}

bool reader_expect(struct reader *reader, enum item_kind kind, struct item *item)
{
    static const char *const kinds[] = {[ITEM_UNSIGNED] = "a whole number",
                                        [ITEM_NEGATIVE] = "a number below 0",
                                        [ITEM_REAL] = "a real number",
                                        [ITEM_BOOLEAN] = "true or false",
                                        [ITEM_TEXT] = "a text",
                                        [ITEM_BYTES] = "a byte string",
                                        [ITEM_ARRAY] = "a list",
                                        [ITEM_MAP] = "a map",
                                        [ITEM_OTHER] = "an item that is never written here"};
    if (!reader_next(reader, item))
        return false;
    if (item->kind == kind)
        return true;
    return reader_fail(reader, item->at, "%s is found, %s is expected", kinds[item->kind],
                       kinds[kind]);
}

/* Counts items that are still to come instead of descending. As many bytes at least are to come. */
bool reader_skip(struct reader *reader)
{
    struct item item;
    for (uint64_t items = 1; items > 0; items--) {
        if (!reader_next(reader, &item))
            return false;
        if (item.kind == ITEM_OTHER)
            return reader_fail(reader, item.at, "an item that is never written here is found");
        if (item.kind == ITEM_ARRAY || item.kind == ITEM_MAP)
            items += item.number * (item.kind == ITEM_MAP ? 2 : 1);
        if (items - 1 > reader->size - reader->at)
            return reader_fail(reader, item.at,
                               "fewer bytes are left than items; they are cut off");
    }
    return true;
}

bool reader_end(const struct reader *reader)
{
    return reader->at == reader->size ||
           reader_fail(reader, reader->at, "%zu bytes follow the end of the item",
                       reader->size - reader->at);
}

/* ---- Texts ---- */

bool item_is(const struct item *item, const char *text)
{
    return strlen(text) == item->size && memcmp(text, item->bytes, item->size) == 0;
}

const char *item_quote(const struct item *item, char quote[QUOTE])
{
    size_t length = item->size < QUOTE - 1 ? item->size : QUOTE - 1;
    for (size_t i = 0; i < length; i++)
        quote[i] = (char)(item->bytes[i] >= ' ' && item->bytes[i] < 127 ? item->bytes[i] : '?');
    quote[length] = '\0';
    return quote;
}

/* Bytes of the sequence that this byte begins, 0 for one that begins none. */
static size_t sequence_length(uint8_t first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* Longer forms than needed, surrogates and what is beyond U+10FFFF show in the second byte. */
static bool is_second(uint8_t first, uint8_t second)
{
    uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    return second >= low && second <= high;
}

bool serialize_is_utf8(const uint8_t *bytes, size_t size)
{
    size_t length;
    for (size_t at = 0; at < size; at += length) {
        length = sequence_length(bytes[at]);
        if (length == 0 || length > size - at)
            return false;
        if (length > 1 && !is_second(bytes[at], bytes[at + 1]))
            return false;
        for (size_t i = 2; i < length; i++)
            if ((bytes[at + i] & 0xc0) != 0x80)
                return false;
    }
    return true;
}

bool reader_text(struct reader *reader, char **text)
{
    struct item item;
    if (!reader_expect(reader, ITEM_TEXT, &item))
        return false;
    if (memchr(item.bytes, 0, item.size) || !serialize_is_utf8(item.bytes, item.size))
        return reader_fail(reader, item.at, "the text is not UTF-8, or has a character 0");
    *text = malloc(item.size + 1);
    if (!*text)
        return reader_out_of_memory(reader);
    memcpy(*text, item.bytes, item.size);
    (*text)[item.size] = '\0';
    return true;
}

bool reader_choice(struct reader *reader, const char *const *names, size_t *index)
{
    struct item item;
    char quote[QUOTE];
    if (!reader_expect(reader, ITEM_TEXT, &item))
        return false;
    for (*index = 0; names[*index]; ++*index)
        if (item_is(&item, names[*index]))
            return true;
    return reader_fail(reader, item.at, "\"%s\" is none of its values", item_quote(&item, quote));
}

/* ---- Other values ---- */

bool reader_boolean(struct reader *reader, bool *value)
{
    struct item item;
    if (!reader_expect(reader, ITEM_BOOLEAN, &item))
        return false;
    *value = item.number != 0;
    return true;
}

bool reader_number(struct reader *reader, uint64_t limit, const char *what, uint64_t *value)
{
    struct item item;
    if (!reader_expect(reader, ITEM_UNSIGNED, &item))
        return false;
    if (item.number >= limit)
        return reader_fail(reader, item.at, "%llu is found; there are %llu %s here, from 0",
                           (unsigned long long)item.number, (unsigned long long)limit, what);
    *value = item.number;
    return true;
}

/* ---- Maps ---- */

static bool take_field(struct reader *reader, const char *const *names, size_t count,
                       struct reader *values)
{
    struct item key;
    char quote[QUOTE];
    size_t i = 0;
    if (!reader_expect(reader, ITEM_TEXT, &key))
        return false;
    while (i < count && !item_is(&key, names[i]))
        i++;
    if (i == count)
        return reader_fail(reader, key.at, "there is no field \"%s\"", item_quote(&key, quote));
    if (values[i].bytes)
        return reader_fail(reader, key.at, "the field \"%s\" is there twice", names[i]);
    values[i] = *reader;
    values[i].name = names[i];
    return reader_skip(reader);
}

bool reader_fields(struct reader *reader, const char *const *names, size_t required, size_t count,
                   struct reader *values)
{
    struct item map;
    for (size_t i = 0; i < count; i++)
        values[i] = (struct reader){.name = names[i], .outcome = reader->outcome};
    if (!reader_expect(reader, ITEM_MAP, &map))
        return false;
    for (uint64_t n = 0; n < map.number; n++)
        if (!take_field(reader, names, count, values))
            return false;
    for (size_t i = 0; i < required; i++)
        if (!values[i].bytes)
            return reader_fail(reader, map.at,
                               "the field \"%s\" is missing; the bytes are damaged or foreign",
                               names[i]);
    return true;
}
