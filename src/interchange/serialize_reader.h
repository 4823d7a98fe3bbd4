/* Bytes of CBOR being read, item by item, trusting none of them.
 *
 * Functions return whether all is well; the first failure leaves its message and status. No memory
 * is taken but for the copies of reader_text, which are as long as their bytes. Nothing recurses.
 */
#ifndef GLCNN_SERIALIZE_READER_H
#define GLCNN_SERIALIZE_READER_H

#include "serialize_outcome.h"

/* A place in the bytes. A copy is a place of its own. */
struct reader {
    const uint8_t *bytes; /* NULL: there is no such place, for a field that is absent */
    size_t size, at;      /* size of all bytes, from the first on */
    const char *name;     /* of the field that is read, for messages */
    struct outcome *outcome;
};

enum item_kind {
    ITEM_UNSIGNED,
    ITEM_NEGATIVE,
    ITEM_REAL,
    ITEM_BOOLEAN,
    ITEM_TEXT,
    ITEM_BYTES,
    ITEM_ARRAY,
    ITEM_MAP,
    ITEM_OTHER /* null, tags, indefinite lengths: nothing that is written here */
};

struct item {
    enum item_kind kind;
    uint64_t number; /* the value, of ITEM_NEGATIVE -1 - value; of arrays and maps the count */
    double real;
    const uint8_t *bytes; /* of texts and byte strings, within those read */
    size_t size, at;      /* `at`: where the item begins */
};

/* A message with place and field; status malformed data unless there is a failure already. */
bool reader_fail(const struct reader *reader, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A failure of the library: it refuses what was read, or cannot go on. False unless it succeeded.
 */
bool reader_succeeded(const struct reader *reader, glcnn_device *device, glcnn_status status);
bool reader_out_of_memory(const struct reader *reader);

bool reader_next(struct reader *reader, struct item *item);
bool reader_expect(struct reader *reader, enum item_kind kind, struct item *item);
/* Leaves out one item with all that it contains. */
bool reader_skip(struct reader *reader);
/* Is this the end of the bytes? */
bool reader_end(const struct reader *reader);

/* Reads a map whose keys are among `count` names, each at most once, the first `required` of them
 * all there. values[i] is the place of the value of name i. */
bool reader_fields(struct reader *reader, const char *const *names, size_t required, size_t count,
                   struct reader *values);

/* Values. */
bool reader_boolean(struct reader *reader, bool *value);
/* A whole number below `limit`; `what` says what it counts. */
bool reader_number(struct reader *reader, uint64_t limit, const char *what, uint64_t *value);
/* A copy of a text, to be freed. */
bool reader_text(struct reader *reader, char **text);
/* One of the names, of which the last is NULL, by its index. */
bool reader_choice(struct reader *reader, const char *const *names, size_t *index);

bool item_is(const struct item *item, const char *text);
/* The text as messages can have it: shortened, without what cannot be printed. */
#define QUOTE 41
const char *item_quote(const struct item *item, char quote[QUOTE]);

/* Is this UTF-8? */
bool serialize_is_utf8(const uint8_t *bytes, size_t size);

#endif
