/* Archives of named arrays, as numpy.savez writes them: a zip file with one NAME.npy for each. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#include <glcnn/io.h>

#include "base/fail.h"
#include "table.h"
#include "words.h"

#define MAX_ENTRIES 64

enum role { ROLE_OTHER, ROLE_IMAGES, ROLE_LABELS };

struct entry {
    const char *name; /* the archive's */
    zip_uint64_t index;
    enum role role;
    uint32_t part; /* GLCNN_DATA_PARTS: none is said */
};

struct archive {
    const struct reading *reading;
    zip_t *zip;
    struct entry entries[MAX_ENTRIES];
    uint32_t count;
};

/* ---- Entries ---- */

static enum role role_of(const char *word, size_t length)
{
    return word_is_images(word, length)   ? ROLE_IMAGES
           : word_is_labels(word, length) ? ROLE_LABELS
                                          : ROLE_OTHER;
}

/* Two words, of which one is a part and the other a role, in either order. */
static bool name_two(const char *name, size_t length, size_t cut, struct entry *entry)
{
    const char *words[2] = {name, name + cut + 1};
    size_t lengths[2] = {cut, length - cut - 1};
    for (int i = 0; i < 2; i++) {
        glcnn_data_part part;
        entry->role = role_of(words[!i], lengths[!i]);
        if (entry->role != ROLE_OTHER && word_is_part(words[i], lengths[i], &part)) {
            entry->part = part;
            return true;
        }
    }
    entry->role = ROLE_OTHER;
    return false;
}

static void name_entry(const char *name, size_t length, struct entry *entry)
{
    entry->part = GLCNN_DATA_PARTS;
    entry->role = role_of(name, length);
    for (size_t i = 1; i + 1 < length && entry->role == ROLE_OTHER; i++)
        if (strchr("_-.", name[i]) && name_two(name, length, i, entry))
            return;
}

/* Of arrays of one name the last counts, as NumPy has it. */
static struct entry *add_entry(struct archive *a, const char *name)
{
    uint32_t i = 0;
    while (i < a->count && strcmp(a->entries[i].name, name) != 0)
        i++;
    a->count += i == a->count;
    a->entries[i].name = name;
    return &a->entries[i];
}

/* Two arrays could be the images, or the labels, of one part. */
static glcnn_status check_roles(const struct archive *a)
{
    const struct reading *r = a->reading;
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < i; k++) {
            const struct entry *x = &a->entries[k], *y = &a->entries[i];
            bool counts =
                x->role == ROLE_IMAGES || (x->role == ROLE_LABELS && reading_is_labelled(r));
            if (counts && x->role == y->role && x->part == y->part)
                return fail_with(
                    r->error, GLCNN_MALFORMED_DATA,
                    "%.200s: the arrays %.80s and %.80s could both be the %s; expected "
                    "one by such a name",
                    r->path, x->name, y->name, x->role == ROLE_IMAGES ? "images" : "labels");
        }
    return GLCNN_SUCCESS;
}

static glcnn_status list(struct archive *a)
{
    const struct reading *r = a->reading;
    zip_int64_t count = zip_get_num_entries(a->zip, 0);
    if (count < 1 || count > MAX_ENTRIES)
        return fail_with(r->error, GLCNN_MALFORMED_DATA,
                         "%.300s: has %lld arrays; expected 1 to %d", r->path, (long long)count,
                         MAX_ENTRIES);
    for (zip_int64_t i = 0; i < count; i++) {
        const char *name = zip_get_name(a->zip, (zip_uint64_t)i, 0);
        size_t length = name ? strlen(name) : 0;
        if (length < 5 || strcmp(name + length - 4, ".npy") != 0)
            continue;
        struct entry *entry = add_entry(a, name);
        entry->index = (zip_uint64_t)i;
        name_entry(name, length - 4, entry);
    }
    return check_roles(a);
}

/* ---- Reading ---- */

static long read_entry(void *from, void *bytes, size_t size)
{
    errno = 0;
    return (long)zip_fread(from, bytes, size);
}

static const char *entry_reason(void *from)
{
    return zip_file_strerror(from);
}

static glcnn_status read_bytes(const struct archive *a, const struct entry *entry,
                               struct bytes *bytes)
{
    const struct reading *r = a->reading;
    zip_stat_t stat;
    if (zip_stat_index(a->zip, entry->index, 0, &stat) != 0 || !(stat.valid & ZIP_STAT_SIZE) ||
        stat.size > BYTES_MAX)
        return fail_with(r->error, GLCNN_MALFORMED_DATA,
                         "%.300s: the size of an array is unknown, or above %zu bytes", r->path,
                         BYTES_MAX);
    zip_file_t *file = zip_fopen_index(a->zip, entry->index, 0);
    if (!file)
        return fail_with(r->error, GLCNN_MALFORMED_DATA, "%.300s: an array cannot be read: %.150s",
                         r->path, zip_strerror(a->zip));
    glcnn_status status =
        bytes_read(bytes, &(struct bytes_source){r->path, read_entry, entry_reason, file},
                   (size_t)stat.size, r->error);
    zip_fclose(file);
    return status;
}

static const struct entry *find(const struct archive *a, enum role role, uint32_t part)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (a->entries[i].role == role && a->entries[i].part == part)
            return &a->entries[i];
    return NULL;
}

static glcnn_status take_images(const struct archive *a, const struct entry *entry,
                                struct content *content)
{
    struct bytes bytes = {0};
    glcnn_status status = read_bytes(a, entry, &bytes);
    if (status == GLCNN_SUCCESS)
        status = array_npy.take_images(a->reading, &bytes, &content->table);
    bytes_free(&bytes);
    return status;
}

static glcnn_status take_labels(const struct archive *a, const struct entry *entry,
                                struct content *content)
{
    struct bytes bytes = {0};
    const struct reading *r = a->reading;
    if (!entry)
        return fail_with(r->error, GLCNN_MALFORMED_DATA,
                         "%.300s: has images and no labels; expected an array \"labels\", "
                         "\"train_labels\" or \"y_train\" beside them",
                         r->path);
    glcnn_status status = read_bytes(a, entry, &bytes);
    if (status == GLCNN_SUCCESS)
        status = array_npy.take_labels(r, &bytes, content);
    bytes_free(&bytes);
    return status;
}

/* Arrays by names that say nothing: of two the one with more bytes has the images. */
static void guess(struct archive *a)
{
    zip_stat_t stats[2];
    for (uint32_t i = 0; i < a->count; i++)
        if (a->entries[i].role != ROLE_OTHER)
            return;
    if (a->count == 1)
        a->entries[0].role = ROLE_IMAGES;
    if (a->count != 2 || zip_stat_index(a->zip, a->entries[0].index, 0, &stats[0]) != 0 ||
        zip_stat_index(a->zip, a->entries[1].index, 0, &stats[1]) != 0)
        return;
    uint32_t images = stats[1].size > stats[0].size;
    a->entries[images].role = ROLE_IMAGES;
    a->entries[!images].role = ROLE_LABELS;
}

static glcnn_status read_archive(struct archive *a, uint32_t part, struct content *content,
                                 bool *found)
{
    glcnn_status status = list(a);
    if (status != GLCNN_SUCCESS)
        return status;
    guess(a);
    const struct entry *images = find(a, ROLE_IMAGES, part);
    *found = images != NULL;
    if (!images)
        return GLCNN_SUCCESS;
    status = take_images(a, images, content);
    if (status == GLCNN_SUCCESS && reading_is_labelled(a->reading))
        status = take_labels(a, find(a, ROLE_LABELS, part), content);
    return status;
}

glcnn_status npz_read(const struct reading *r, uint32_t part, struct content *content, bool *found)
{
    int code = 0, descriptor;
    *content = (struct content){0};
    *found = false;
    glcnn_status status = glcnn_file_open(r->path, &descriptor, NULL, r->error);
    if (status != GLCNN_SUCCESS)
        return status;
    struct archive archive = {.reading = r, .zip = zip_fdopen(descriptor, 0, &code)};
    if (!archive.zip) {
        zip_error_t reason;
        close(descriptor); /* the archive would own it */
        zip_error_init_with_code(&reason, code);
        status = fail_with(r->error, code == ZIP_ER_OPEN ? GLCNN_IO_ERROR : GLCNN_MALFORMED_DATA,
                           "%.300s: cannot be read as .npz: %.150s", r->path,
                           zip_error_strerror(&reason));
        zip_error_fini(&reason);
        return status;
    }
    status = read_archive(&archive, part, content, found);
    zip_discard(archive.zip);
    if (status != GLCNN_SUCCESS)
        content_free(content);
    return status;
}
