/* Features in a file: a head of 32 bytes, then slots of two digests and the features. */
#include "feature_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"

static const char magic[16] = "glcnn features 1";

struct head {
    char magic[16];
    uint64_t key;
    uint32_t slots, values;
};

/* What stands before the features of a slot. */
struct mark {
    uint64_t picture, whole;
};

struct features {
    int file;
    char path[256];
    struct head head;
    float *values; /* of one slot */
};

static bool fail(const char *path, const char *what, char error[GLCNN_ERROR_LENGTH])
{
    snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: %s", path, what);
    return false;
}

/* ---- Places ---- */

static size_t values_size(const struct features *f)
{
    return (size_t)f->head.values * sizeof(float);
}

static off_t place(const struct features *f, uint32_t slot)
{
    return (off_t)(sizeof(struct head) + (sizeof(struct mark) + values_size(f)) * (uint64_t)slot);
}

uint64_t features_size(const struct features *f)
{
    return (uint64_t)place(f, f->head.slots);
}

static uint64_t whole(const struct features *f, uint64_t picture, const float *values)
{
    uint64_t digest = digest_add(f->head.key, &picture, sizeof picture);
    return digest_add(digest, values, values_size(f));
}

static bool read_all(int file, void *bytes, size_t size, off_t at)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(file, (char *)bytes + done, size - done, at + (off_t)done);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static bool write_all(int file, const void *bytes, size_t size, off_t at)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = pwrite(file, (const char *)bytes + done, size - done, at + (off_t)done);
        if (got < 0 && errno != EINTR)
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* ---- Slots ---- */

static bool read_slot(const struct features *f, uint32_t slot, struct mark *mark, float *values)
{
    return read_all(f->file, mark, sizeof *mark, place(f, slot)) &&
           read_all(f->file, values, values_size(f), place(f, slot) + (off_t)sizeof *mark) &&
           mark->whole == whole(f, mark->picture, values);
}

bool features_have(struct features *f, uint32_t slot, uint64_t picture)
{
    struct mark mark;
    return read_slot(f, slot, &mark, f->values) && mark.picture == picture;
}

bool features_write(struct features *f, uint32_t slot, uint64_t picture, const float *values,
                    char error[GLCNN_ERROR_LENGTH])
{
    const struct mark mark = {picture, whole(f, picture, values)};
    return (write_all(f->file, values, values_size(f), place(f, slot) + (off_t)sizeof mark) &&
            write_all(f->file, &mark, sizeof mark, place(f, slot))) ||
           fail(f->path, strerror(errno), error);
}

bool features_read(struct features *f, uint32_t slot, float *values, char error[GLCNN_ERROR_LENGTH])
{
    struct mark mark;
    if (read_slot(f, slot, &mark, values))
        return true;
    snprintf(error, GLCNN_ERROR_LENGTH,
             "%.300s: the features of picture %" PRIu32
             " are damaged; delete the file, and the next run writes a new one",
             f->path, slot);
    return false;
}

/* ---- Files ---- */

static bool check_size(const struct features_parameters *p, char error[GLCNN_ERROR_LENGTH])
{
    const uint64_t slot = sizeof(struct mark) + (uint64_t)p->values * sizeof(float);
    const double size = (double)sizeof(struct head) + (double)slot * p->slots;
    if (size <= (double)p->limit)
        return true;
    snprintf(error, GLCNN_ERROR_LENGTH, "they take %.1f MiB, more than the %.1f of --feature-limit",
             size / 1048576, (double)p->limit / 1048576);
    return false;
}

/* A file of the temporary folder that has lost its name. */
static int open_nameless(void)
{
    char path[512];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/glcnn-features-XXXXXX", folder && *folder ? folder : "/tmp");
    int file = mkstemp(path);
    if (file >= 0)
        unlink(path);
    return file;
}

/* A head of another key, or none, is written new, and no slot is left. */
static bool take_file(struct features *f, char error[GLCNN_ERROR_LENGTH])
{
    struct stat info;
    struct head found = {{0}, 0, 0, 0};
    if (flock(f->file, LOCK_EX | LOCK_NB) != 0)
        return fail(f->path, "is in use by another run", error);
    if (fstat(f->file, &info) != 0)
        return fail(f->path, strerror(errno), error);
    bool is_read = read_all(f->file, &found, sizeof found, 0);
    if (!S_ISREG(info.st_mode) ||
        (info.st_size > 0 && (!is_read || memcmp(found.magic, magic, sizeof magic) != 0)))
        return fail(f->path, "is not a feature file, and is not overwritten", error);
    if (is_read && memcmp(&found, &f->head, sizeof found) == 0)
        return true;
    return (ftruncate(f->file, 0) == 0 && write_all(f->file, &f->head, sizeof f->head, 0)) ||
           fail(f->path, strerror(errno), error);
}

bool features_open(const struct features_parameters *p, struct features **features,
                   char error[GLCNN_ERROR_LENGTH])
{
    *features = NULL;
    if (!check_size(p, error))
        return false;
    struct features *f = calloc(1, sizeof *f);
    float *values = malloc((size_t)p->values * sizeof *values + 1);
    if (!f || !values) {
        free(f);
        free(values);
        return fail("features", "not enough memory", error);
    }
    memcpy(f->head.magic, magic, sizeof magic);
    f->head.key = p->key;
    f->head.slots = p->slots;
    f->head.values = p->values;
    f->values = values;
    snprintf(f->path, sizeof f->path, "%s", p->path ? p->path : "a temporary file");
    f->file =
        p->path ? open(p->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600) : open_nameless();
    bool good = f->file >= 0 ? take_file(f, error) : fail(f->path, strerror(errno), error);
    *features = f;
    if (!good)
        features_close(features);
    return good;
}

void features_close(struct features **features)
{
    struct features *f = *features;
    if (!f)
        return;
    if (f->file >= 0)
        close(f->file);
    free(f->values);
    free(f);
    *features = NULL;
}
