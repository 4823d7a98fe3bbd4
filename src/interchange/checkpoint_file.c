/* Reads .safetensors files that may be hostile: no size is believed before it has been compared
 * with the file's, and nothing takes more than n log n steps in what the file says. */
#include "checkpoint_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checkpoint_digest.h"

#define PREFIX      8
#define MAX_INTEGER 9007199254740992.0 /* 2^53: beyond it JSON's numbers are not exact */

/* Whose file it is, and where the message goes. */
struct reader {
    struct checkpoint_file *file;
    const char *path;
    char *error;
};

#define MALFORMED(r, ...) fail_with((r)->error, GLCNN_MALFORMED_DATA, "%.200s: " __VA_ARGS__)

static glcnn_status fail_io(const struct reader *r, const char *what)
{
    return fail_with(r->error, GLCNN_IO_ERROR, "%.300s: %s: %s", r->path, what, strerror(errno));
}

static glcnn_status no_memory(const struct reader *r)
{
    return fail_with(r->error, GLCNN_OUT_OF_MEMORY, "%.300s: out of memory", r->path);
}

/* ---- Text ---- */

/* The length of the sequence that the byte begins, 0 if it begins none, and the least and the
 * greatest second byte: they keep out long forms, surrogates and what is beyond U+10FFFF. */
static size_t sequence(unsigned char first, unsigned char *low, unsigned char *high)
{
    *low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    *high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

bool checkpoint_is_utf8(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        unsigned char low, high;
        size_t length = sequence(*at, &low, &high);
        if (length == 0 || (length > 1 && (at[1] < low || at[1] > high)))
            return false;
        for (size_t i = 2; i < length; i++)
            if (at[i] < 0x80 || at[i] > 0xbf)
                return false;
        at += length;
    }
    return true;
}

/* \u0000 would end a C string before its time. */
static bool has_escaped_nul(const char *json)
{
    for (; (json = strchr(json, '\\')); json += json[1] ? 2 : 1)
        if (strncmp(json, "\\u0000", 6) == 0)
            return true;
    return false;
}

/* ---- Tensors ---- */

static const struct {
    const char *name;
    uint64_t size;
} dtypes[] = {{"F32", 4},     {"F16", 2}, {"BF16", 2}, {"F64", 8}, {"F8_E4M3", 1},
              {"F8_E5M2", 1}, {"I8", 1},  {"U8", 1},   {"I16", 2}, {"U16", 2},
              {"I32", 4},     {"U32", 4}, {"I64", 8},  {"U64", 8}, {"BOOL", 1}};

static uint64_t element_size(const char *dtype)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(dtypes[i].name, dtype) == 0)
            return dtypes[i].size;
    return 0;
}

static bool read_integer(const cJSON *item, uint64_t *value)
{
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0 && item->valuedouble <= MAX_INTEGER))
        return false;
    *value = (uint64_t)item->valuedouble;
    return (double)*value == item->valuedouble;
}

/* The integers of an array; false if it is none, or has more than `capacity`. */
static bool read_integers(const cJSON *array, uint64_t *values, uint32_t capacity, uint32_t *count)
{
    const cJSON *item;
    *count = 0;
    if (!cJSON_IsArray(array))
        return false;
    cJSON_ArrayForEach(item, array)
    {
        if (*count == capacity || !read_integer(item, &values[*count]))
            return false;
        ++*count;
    }
    return true;
}

static bool multiply(uint64_t *product, uint64_t factor)
{
    if (factor != 0 && *product > UINT64_MAX / factor)
        return false;
    *product *= factor;
    return true;
}

/* Of a dtype that is not known here any size will do: it is an error where the tensor is asked for. */
static glcnn_status check_size(const struct reader *r, const struct checkpoint_tensor *t)
{
    const uint64_t one = element_size(t->dtype);
    uint64_t size = one;
    bool fits = true;
    for (uint32_t i = 0; i < t->rank && fits; i++)
        fits = multiply(&size, t->shape[i]);
    if (!fits || t->begin > t->end || t->end > r->file->data_size ||
        (one && t->end - t->begin != size))
        return MALFORMED(r,
                         "tensor \"%.100s\" stands in bytes %llu to %llu of %llu; its shape and "
                         "dtype do not make that",
                         r->path, t->name, (unsigned long long)t->begin, (unsigned long long)t->end,
                         (unsigned long long)r->file->data_size);
    return GLCNN_SUCCESS;
}

static glcnn_status read_tensor(const struct reader *r, const cJSON *entry,
                                struct checkpoint_tensor *t)
{
    uint64_t offsets[2];
    uint32_t count;
    const cJSON *dtype = cJSON_GetObjectItemCaseSensitive(entry, "dtype");
    t->name = entry->string;
    if (!cJSON_IsObject(entry) || cJSON_GetArraySize(entry) != 3 || !cJSON_IsString(dtype))
        return MALFORMED(r, "\"%.100s\" in the header is no tensor: dtype, shape, data_offsets",
                         r->path, t->name);
    t->dtype = dtype->valuestring;
    if (!read_integers(cJSON_GetObjectItemCaseSensitive(entry, "shape"), t->shape,
                       CHECKPOINT_MAX_RANK, &t->rank))
        return MALFORMED(r, "the shape of \"%.100s\" is not at most %d whole numbers", r->path,
                         t->name, CHECKPOINT_MAX_RANK);
    if (!read_integers(cJSON_GetObjectItemCaseSensitive(entry, "data_offsets"), offsets, 2,
                       &count) ||
        count != 2)
        return MALFORMED(r, "data_offsets of \"%.100s\" are not two whole numbers", r->path,
                         t->name);
    t->begin = offsets[0];
    t->end = offsets[1];
    return check_size(r, t);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(struct checkpoint_tensor *const *)a)->name,
                  (*(struct checkpoint_tensor *const *)b)->name);
}

/* A tensor without elements comes before the one that begins where it stands. */
static int compare_places(const void *a, const void *b)
{
    const struct checkpoint_tensor *x = *(struct checkpoint_tensor *const *)a;
    const struct checkpoint_tensor *y = *(struct checkpoint_tensor *const *)b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* Two tensors of one name, whose places cannot both be right, are told first. Leaves by_name in the order
 * of places. */
static glcnn_status check_places(const struct reader *r)
{
    const struct checkpoint_file *file = r->file;
    uint64_t end = 0;
    qsort(file->by_name, file->count, sizeof *file->by_name, compare_places);
    for (size_t i = 0; i < file->count; i++) {
        const struct checkpoint_tensor *t = file->by_name[i];
        if (t->begin != end)
            return MALFORMED(r,
                             "tensor \"%.100s\" begins at byte %llu, and the one before it ends at "
                             "%llu; tensors neither overlap nor leave holes",
                             r->path, t->name, (unsigned long long)t->begin,
                             (unsigned long long)end);
        end = t->end;
    }
    if (end != file->data_size)
        return MALFORMED(r, "the tensors have %llu bytes and the file has %llu for them", r->path,
                         (unsigned long long)end, (unsigned long long)file->data_size);
    return GLCNN_SUCCESS;
}

static glcnn_status check_names(const struct reader *r)
{
    const struct checkpoint_file *file = r->file;
    qsort(file->by_name, file->count, sizeof *file->by_name, compare_names);
    for (size_t i = 1; i < file->count; i++)
        if (strcmp(file->by_name[i - 1]->name, file->by_name[i]->name) == 0)
            return MALFORMED(r, "the header has tensor \"%.100s\" twice", r->path,
                             file->by_name[i]->name);
    return GLCNN_SUCCESS;
}

/* ---- Metadata ---- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static glcnn_status check_metadata(const struct reader *r)
{
    const cJSON *metadata = r->file->metadata, *item;
    size_t count = 0, repeated = 0;
    if (!cJSON_IsObject(metadata))
        return MALFORMED(r, CHECKPOINT_METADATA " in the header is no object", r->path);
    const char **names = calloc((size_t)cJSON_GetArraySize(metadata) + 1, sizeof *names);
    if (!names)
        return no_memory(r);
    cJSON_ArrayForEach(item, metadata)
    {
        if (cJSON_IsString(item))
            names[count++] = item->string;
    }
    qsort(names, count, sizeof *names, compare_texts);
    for (size_t i = 1; i < count; i++)
        repeated += strcmp(names[i - 1], names[i]) == 0;
    free(names);
    if (repeated || count != (size_t)cJSON_GetArraySize(metadata))
        return MALFORMED(r, CHECKPOINT_METADATA " in the header %s", r->path,
                         repeated ? "has a name twice" : "has an entry that is no text");
    return GLCNN_SUCCESS;
}

/* ---- Header ---- */

static glcnn_status read_entries(const struct reader *r)
{
    struct checkpoint_file *file = r->file;
    size_t capacity = (size_t)cJSON_GetArraySize(file->header) + 1;
    const cJSON *entry;
    file->tensors = calloc(capacity, sizeof *file->tensors);
    file->by_name = calloc(capacity, sizeof(void *));
    if (!file->tensors || !file->by_name)
        return no_memory(r);
    cJSON_ArrayForEach(entry, file->header)
    {
        glcnn_status status;
        if (strcmp(entry->string, CHECKPOINT_METADATA) == 0) {
            if (file->metadata)
                return MALFORMED(r, "the header has " CHECKPOINT_METADATA " twice", r->path);
            file->metadata = entry;
            status = check_metadata(r);
        } else {
            file->by_name[file->count] = &file->tensors[file->count];
            status = read_tensor(r, entry, &file->tensors[file->count++]);
        }
        if (status != GLCNN_SUCCESS)
            return status;
    }
    return GLCNN_SUCCESS;
}

static glcnn_status read_bytes(const struct reader *r, uint64_t at, void *bytes, uint64_t size)
{
    uint8_t *to = bytes;
    while (size > 0) {
        const size_t wanted = size < 1 << 30 ? (size_t)size : 1 << 30;
        ssize_t got = pread(r->file->descriptor, to, wanted, (off_t)(r->file->offset + at));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_io(r, "cannot be read");
        if (got == 0)
            return MALFORMED(r, "the file was cut short while it was read", r->path);
        to += got;
        at += (uint64_t)got;
        size -= (uint64_t)got;
    }
    return GLCNN_SUCCESS;
}

/* cJSON does not tell a text that is no JSON from memory that ran out. */
static cJSON *parse_json(const char *text, size_t length, bool *no_memory_left)
{
    cJSON *parsed = cJSON_ParseWithOpts(text, NULL, true);
    if (!parsed)
        parsed = cJSON_ParseWithOpts(text, NULL, true);
    void *as_much = parsed ? NULL : malloc(length);
    *no_memory_left = !parsed && !as_much;
    free(as_much);
    return parsed;
}

static glcnn_status parse_header(const struct reader *r, const char *text, size_t length)
{
    struct checkpoint_file *file = r->file;
    if (text[0] != '{' || strlen(text) != length || !checkpoint_is_utf8(text) ||
        has_escaped_nul(text))
        return MALFORMED(r, "the header is no JSON object in UTF-8: not a .safetensors file",
                         r->path);
    bool no_memory_left;
    file->header = parse_json(text, length, &no_memory_left);
    if (no_memory_left)
        return no_memory(r);
    if (!cJSON_IsObject(file->header))
        return MALFORMED(r, "the header is no JSON object in UTF-8: not a .safetensors file",
                         r->path);
    glcnn_status status = read_entries(r);
    if (status == GLCNN_SUCCESS)
        status = check_names(r);
    if (status == GLCNN_SUCCESS)
        status = check_places(r);
    qsort(file->by_name, file->count, sizeof *file->by_name, compare_names);
    return status;
}

/* ---- Digest ---- */

/* Of the file up to where its digest stands. */
static glcnn_status compute_digest(const struct reader *r, uint64_t end, uint64_t *digest)
{
    uint8_t bytes[1 << 14];
    glcnn_status status = GLCNN_SUCCESS;
    *digest = 0;
    for (uint64_t at = 0, size; at < end && status == GLCNN_SUCCESS; at += size) {
        size = end - at < sizeof bytes ? end - at : sizeof bytes;
        status = read_bytes(r, at, bytes, size);
        if (status == GLCNN_SUCCESS)
            *digest = checkpoint_digest_add(*digest, bytes, (size_t)size);
    }
    return status;
}

/* Files of other programs, and older ones, have none. */
static glcnn_status check_digest(const struct reader *r)
{
    const struct checkpoint_file *file = r->file;
    const struct checkpoint_tensor *t = checkpoint_file_find(file, CHECKPOINT_DIGEST);
    uint8_t bytes[CHECKPOINT_DIGEST_SIZE];
    uint64_t found = 0;
    if (!t)
        return GLCNN_SUCCESS;
    if (t->end != file->data_size || t->end - t->begin != sizeof bytes)
        return MALFORMED(r, "\"" CHECKPOINT_DIGEST "\", its digest, is not its last %zu bytes",
                         r->path, sizeof bytes);
    glcnn_status status = compute_digest(r, file->data_at + t->begin, &found);
    if (status == GLCNN_SUCCESS)
        status = read_bytes(r, file->data_at + t->begin, bytes, sizeof bytes);
    if (status != GLCNN_SUCCESS || found == checkpoint_digest_read(bytes))
        return status;
    return MALFORMED(
        r,
        "is damaged: the CRC-64 of its bytes is %016llx, and was %016llx when it was "
        "written; a program that changes such a file leaves \"" CHECKPOINT_DIGEST "\" out of it",
        r->path, (unsigned long long)found, (unsigned long long)checkpoint_digest_read(bytes));
}

static glcnn_status read_header(const struct reader *r, size_t length)
{
    char *text = malloc(length + 1);
    if (!text)
        return no_memory(r);
    glcnn_status status = read_bytes(r, PREFIX, text, length);
    text[length] = 0;
    if (status == GLCNN_SUCCESS)
        status = parse_header(r, text, length);
    free(text);
    return status;
}

static glcnn_status read_file(const struct reader *r, uint64_t size)
{
    uint8_t prefix[PREFIX];
    uint64_t length = 0;
    if (size < PREFIX)
        return MALFORMED(r, "has %llu bytes; a .safetensors file has 8 and more", r->path,
                         (unsigned long long)size);
    glcnn_status status = read_bytes(r, 0, prefix, PREFIX);
    if (status != GLCNN_SUCCESS)
        return status;
    for (size_t i = 0; i < PREFIX; i++)
        length |= (uint64_t)prefix[i] << 8 * i;
    if (length > size - PREFIX || length > CHECKPOINT_MAX_HEADER || length == 0)
        return MALFORMED(r,
                         "says that its header has %llu bytes; %llu follow, and a header has 1 to "
                         "%u: it is truncated or no .safetensors file",
                         r->path, (unsigned long long)length, (unsigned long long)(size - PREFIX),
                         CHECKPOINT_MAX_HEADER);
    r->file->data_at = PREFIX + length;
    r->file->data_size = size - PREFIX - length;
    status = read_header(r, (size_t)length);
    return status == GLCNN_SUCCESS ? check_digest(r) : status;
}

/* ---- Files ---- */

const char *checkpoint_range_name(const struct glcnn_file_range *range,
                                  char name[CHECKPOINT_RANGE_NAME])
{
    snprintf(name, CHECKPOINT_RANGE_NAME, "descriptor %d", range ? range->fd : -1);
    return range ? name : NULL;
}

glcnn_status checkpoint_file_open(const char *path, const struct glcnn_file_range *range,
                                  struct checkpoint_file *file, char *error)
{
    const struct reader r = {.file = file, .path = path, .error = error};
    *file = (struct checkpoint_file){.descriptor = -1, .offset = range ? range->offset : 0};
    uint64_t size = 0;
    glcnn_status status = range ? glcnn_file_open_from_fd(range, &file->descriptor, &size, error)
                                : glcnn_file_open(path, &file->descriptor, &size, error);
    if (status == GLCNN_SUCCESS)
        status = read_file(&r, size);
    if (status != GLCNN_SUCCESS)
        checkpoint_file_close(file);
    return status;
}

void checkpoint_file_close(struct checkpoint_file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    cJSON_Delete(file->header);
    free(file->tensors);
    free(file->by_name);
    *file = (struct checkpoint_file){.descriptor = -1};
}

static int compare_with_name(const void *name, const void *tensor)
{
    return strcmp(name, (*(struct checkpoint_tensor *const *)tensor)->name);
}

struct checkpoint_tensor *checkpoint_file_find(const struct checkpoint_file *file, const char *name)
{
    struct checkpoint_tensor **found =
        bsearch(name, file->by_name, file->count, sizeof *file->by_name, compare_with_name);
    return found ? *found : NULL;
}

bool checkpoint_tensor_is_bytes(const struct checkpoint_tensor *tensor)
{
    return strncmp(tensor->name, CHECKPOINT_BYTES, strlen(CHECKPOINT_BYTES)) == 0 &&
           strcmp(tensor->dtype, CHECKPOINT_BYTES_DTYPE) == 0;
}

static glcnn_status read_range(const struct reader *r, uint64_t at, uint64_t size, uint8_t **data)
{
    *data = size < SIZE_MAX ? malloc((size_t)size + 1) : NULL;
    if (!*data)
        return no_memory(r);
    glcnn_status status = read_bytes(r, r->file->data_at + at, *data, size);
    if (status != GLCNN_SUCCESS) {
        free(*data);
        *data = NULL;
    }
    return status;
}

glcnn_status checkpoint_file_read(const struct checkpoint_file *file, const char *path,
                                  uint8_t **data, char *error)
{
    const struct reader r = {
        .file = (struct checkpoint_file *)(uintptr_t)file, .path = path, .error = error};
    return read_range(&r, 0, file->data_size, data);
}

glcnn_status checkpoint_file_read_tensor(const struct checkpoint_file *file, const char *path,
                                         const struct checkpoint_tensor *tensor, uint8_t **data,
                                         char *error)
{
    const struct reader r = {
        .file = (struct checkpoint_file *)(uintptr_t)file, .path = path, .error = error};
    return read_range(&r, tensor->begin, tensor->end - tensor->begin, data);
}
