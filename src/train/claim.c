/* Files are compared by what they are, not by their names: by device and inode, and one that is still to be
 * made by its folder's and its name. */
#include "claim.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

const struct claim_mark claim_checkpoint = {8, "{\"__metadata__\":{"},
                        claim_log = {0, "step,epoch,learning_rate,loss,"},
                        claim_plot = {0,
                                      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 "},
                        claim_page = {0,
                                      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset"},
                        claim_trace = {0, "{\"traceEvents\":["},
                        claim_features = {0, "glcnn features"};

struct identity {
    dev_t device;
    ino_t node;
    const char *name; /* in the folder that device and node are those of; "": they are the file's */
};

struct claim_input {
    struct identity file;
    char *path;
    bool is_folder;
};

struct claim_file {
    struct claim_output output;
    char *path;
    struct identity file;
    bool is_there, is_special;         /* no regular file, so nothing of it is replaced */
    char unopened[GLCNN_ERROR_LENGTH]; /* why its mark could not be read; empty: it could */
    glcnn_file_lock *lock;
};

struct claim_folder {
    char *path, *locked; /* `locked` NULL: no file stands for it */
    const char *option;
    size_t made; /* bytes of the path of the first folder that was made; 0: all were there */
    glcnn_file_lock *lock;
};

static bool fail(char *error, const char *path, const char *what)
{
    snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: %s", path, what);
    return false;
}

/* ---- Lists ---- */

/* The next element of a list, all zero; NULL: not enough memory. */
static void *append(struct claims *claims, void **list, size_t *count, size_t *room, size_t size)
{
    void *grown = array_grow(*list, *count, room, size);
    if (!grown) {
        claims->lacks_memory = true;
        return NULL;
    }
    *list = grown;
    return memset((char *)*list + (*count)++ * size, 0, size);
}

#define APPEND(claims, list)                                                                       \
    append(claims, (void **)&(claims)->list##s, &(claims)->list##_count, &(claims)->list##_room,   \
           sizeof *(claims)->list##s)

static char *copy_text(struct claims *claims, const char *text)
{
    char *copy = strdup(text);
    claims->lacks_memory |= !copy;
    return copy;
}

void claims_read(struct claims *claims, const char *path)
{
    struct stat info;
    if (!path || stat(path, &info) != 0)
        return;
    struct claim_input *input = APPEND(claims, input);
    if (!input)
        return;
    input->file = (struct identity){info.st_dev, info.st_ino, ""};
    input->is_folder = S_ISDIR(info.st_mode);
    input->path = copy_text(claims, path);
}

void claims_write(struct claims *claims, const struct claim_output *output)
{
    struct claim_file *file = output->path ? APPEND(claims, file) : NULL;
    if (!file)
        return;
    file->output = *output;
    file->output.path = file->path = copy_text(claims, output->path);
}

void claims_folder(struct claims *claims, const char *option, const char *path, const char *name)
{
    struct claim_folder *folder = path ? APPEND(claims, folder) : NULL;
    if (!folder)
        return;
    folder->option = option;
    folder->path = copy_text(claims, path);
    const size_t size = strlen(path) + (name ? strlen(name) : 0) + 2;
    folder->locked = name ? malloc(size) : NULL;
    claims->lacks_memory |= name && !folder->locked;
    if (folder->locked)
        snprintf(folder->locked, size, "%s/%s", path, name);
}

/* ---- Folders ---- */

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Another process may make the same meanwhile. */
static bool make_folder(struct claim_folder *folder, size_t length)
{
    const char end = folder->path[length];
    folder->path[length] = 0;
    const bool is_made = mkdir(folder->path, 0777) == 0;
    const int reason = errno;
    const bool is_there = is_made || (reason == EEXIST && is_folder(folder->path));
    folder->path[length] = end;
    if (is_made && folder->made == 0)
        folder->made = length;
    errno = reason == EEXIST ? ENOTDIR : reason;
    return is_there;
}

/* Ends with a message that names all of the path. */
static bool make_folders(struct claim_folder *folder, char *error)
{
    const char *path = folder->path;
    bool good = is_folder(path);
    for (size_t i = 1; !good && i <= strlen(path); i++)
        if ((path[i] == '/' || !path[i]) && path[i - 1] != '/' && !make_folder(folder, i)) {
            snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: cannot be created: %s", path,
                     strerror(errno));
            return false;
        }
    return true;
}

/* Those that are not empty stay. */
static void remove_folders(struct claim_folder *folder)
{
    for (size_t i = strlen(folder->path); folder->made > 0 && i >= folder->made; i--)
        if ((folder->path[i] == '/' || !folder->path[i]) && folder->path[i - 1] != '/') {
            folder->path[i] = 0;
            rmdir(folder->path);
        }
    folder->made = 0;
}

/* ---- What a file is ---- */

/* Names the file of `path` in its folder, which is there. */
static bool identify_new(const char *path, struct identity *file)
{
    struct stat info;
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    const bool good = folder && stat(folder, &info) == 0;
    free(folder);
    if (good)
        *file = (struct identity){info.st_dev, info.st_ino, slash ? slash + 1 : path};
    return good;
}

/* A descriptor of this process, by the path that names it. */
static bool is_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/std", "/dev/fd/", "/proc/self/fd/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strncmp(path, folders[i], strlen(folders[i])) == 0)
            return true;
    return false;
}

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "a folder"
           : S_ISFIFO(mode) ? "a pipe"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

/* What is not there, and what cannot be made, is found out by whoever tries to. */
static bool examine(struct claim_file *f, char *error)
{
    struct stat info;
    f->is_there = stat(f->path, &info) == 0;
    if (!f->is_there) {
        if (!identify_new(f->path, &f->file))
            f->file = (struct identity){0, 0, f->path};
        return true;
    }
    f->file = (struct identity){info.st_dev, info.st_ino, ""};
    f->is_special = !S_ISREG(info.st_mode) || is_descriptor(f->path);
    f->is_there = info.st_size > 0;
    if (!f->is_special || (f->output.in_place && (S_ISCHR(info.st_mode) || is_descriptor(f->path))))
        return true;
    if (is_descriptor(f->path))
        return fail(error, f->path, "is not a regular file, and cannot be replaced");
    snprintf(error, GLCNN_ERROR_LENGTH,
             "%.300s: is not a regular file, and cannot be replaced: it is %s", f->path,
             kind_of(info.st_mode));
    return false;
}

static bool has_mark(struct claim_file *f, const struct claim_mark *mark)
{
    char bytes[CLAIM_MARK_MAX];
    int descriptor;
    const size_t size = mark ? strlen(mark->text) : 0;
    if (!mark || glcnn_file_open(f->path, &descriptor, NULL, f->unopened) != GLCNN_SUCCESS)
        return false;
    const bool found =
        glcnn_file_read(descriptor, f->path, mark->offset, bytes, size, NULL) == GLCNN_SUCCESS &&
        memcmp(bytes, mark->text, size) == 0;
    close(descriptor);
    return found;
}

/* True if the tool wrote it, by whichever option. */
static bool has_any_mark(struct claim_file *f)
{
    static const struct claim_mark *const marks[] = {
        &claim_checkpoint, &claim_log, &claim_plot, &claim_page, &claim_trace, &claim_features};
    bool found = false;
    for (size_t i = 0; i < sizeof marks / sizeof *marks && !found; i++)
        found = has_mark(f, marks[i]);
    return found;
}

/* ---- The rule ---- */

static int compare_identities(const struct identity *a, const struct identity *b)
{
    return a->device != b->device ? (a->device < b->device ? -1 : 1)
           : a->node != b->node   ? (a->node < b->node ? -1 : 1)
                                  : strcmp(a->name, b->name);
}

static int compare_inputs(const void *a, const void *b)
{
    const struct claim_input *one = a, *other = b;
    return compare_identities(&one->file, &other->file);
}

static int compare_files(const void *a, const void *b)
{
    const struct claim_file *one = a, *other = b;
    return compare_identities(&one->file, &other->file);
}

static const struct claim_input *find_input(const struct claims *claims,
                                            const struct identity *file)
{
    const struct claim_input wanted = {.file = *file};
    return claims->input_count > 0 ? bsearch(&wanted, claims->inputs, claims->input_count,
                                             sizeof *claims->inputs, compare_inputs)
                                   : NULL;
}

/* The folder that is read, and that the file of `path` lies in or below; NULL: there is none. */
static const struct claim_input *find_folder(const struct claims *claims, const char *path)
{
    struct stat info;
    const struct claim_input *found = NULL;
    char *at = realpath(path, NULL);
    for (char *slash; !found && at && (slash = strrchr(at, '/')) && at[1];) {
        slash[slash == at] = 0;
        if (stat(at, &info) == 0)
            found = find_input(claims, &(struct identity){info.st_dev, info.st_ino, ""});
    }
    free(at);
    return found;
}

/* A file whose mark cannot be read may be anything: the reason is said in place of the rule's message. */
static bool fail_unopened(const struct claim_file *f, char *error)
{
    snprintf(error, GLCNN_ERROR_LENGTH, "%s", f->unopened);
    return false;
}

/* An earlier output may lie among the data: it has a mark, and data have none. */
static bool check_inputs(const struct claims *claims, struct claim_file *f, char *error)
{
    const struct claim_input *input = find_input(claims, &f->file);
    if (input && !input->is_folder) {
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "%.200s: is read by this run, as %.200s, and would be replaced by %s; give it "
                 "another name",
                 f->path, input->path, f->output.option);
        return false;
    }
    if (!f->is_there || has_any_mark(f) || !(input = find_folder(claims, f->path)))
        return true;
    if (*f->unopened)
        return fail_unopened(f, error);
    snprintf(error, GLCNN_ERROR_LENGTH,
             "%.200s: lies in %.200s, which this run reads, and would be replaced by %s; give it "
             "another name",
             f->path, input->path, f->output.option);
    return false;
}

static bool check_old(const struct claims *claims, struct claim_file *f, char *error)
{
    const bool resumable = f->output.resumable;
    if (!f->is_there || claims->force || (f->output.continues && has_mark(f, f->output.mark)))
        return true;
    if (*f->unopened)
        return fail_unopened(f, error);
    snprintf(error, GLCNN_ERROR_LENGTH, "%.200s: already exists; --force overwrites it%s%.200s%s",
             f->path, resumable ? ", --resume " : "", resumable ? f->path : "",
             resumable ? " continues it" : "");
    return false;
}

static bool check_file(const struct claims *claims, struct claim_file *f, char *error)
{
    return examine(f, error) &&
           (f->is_special || (check_inputs(claims, f, error) && check_old(claims, f, error)));
}

/* After sorting, which brings those of one file together. */
static bool check_twice(const struct claims *claims, char *error)
{
    for (size_t i = 1; i < claims->file_count; i++) {
        const struct claim_file *a = &claims->files[i - 1], *b = &claims->files[i];
        if (a->is_special || compare_files(a, b) != 0)
            continue;
        if (strcmp(a->output.option, b->output.option) == 0)
            snprintf(error, GLCNN_ERROR_LENGTH,
                     "%.300s: would be written twice by %s; what goes there needs names of its own",
                     b->path, b->output.option);
        else
            snprintf(error, GLCNN_ERROR_LENGTH,
                     "%.200s and %.200s are one file, of %s and %s; each needs a file of its own",
                     a->path, b->path, a->output.option, b->output.option);
        return false;
    }
    return true;
}

/* ---- Taking ---- */

static bool lock_file(struct claim_file *f, char *error)
{
    if (f->output.has_lock || f->is_special)
        return true;
    return glcnn_file_lock_take(f->path, &f->lock, error) == GLCNN_SUCCESS;
}

/* True if a file that will be written hours from now can be made. */
static bool probe(const struct claim_file *f, char *error)
{
    glcnn_file *file = NULL;
    if (!f->lock)
        return true;
    const bool good = glcnn_file_create(f->path, &file, error) == GLCNN_SUCCESS;
    glcnn_file_discard(&file);
    return good;
}

static bool take(struct claims *claims, char *error)
{
    bool good = true;
    for (size_t i = 0; good && i < claims->folder_count; i++)
        good = make_folders(&claims->folders[i], error);
    if (claims->input_count > 0)
        qsort(claims->inputs, claims->input_count, sizeof *claims->inputs, compare_inputs);
    for (size_t i = 0; good && i < claims->file_count; i++)
        good = check_file(claims, &claims->files[i], error);
    if (good && claims->file_count > 0)
        qsort(claims->files, claims->file_count, sizeof *claims->files, compare_files);
    good = good && check_twice(claims, error);
    for (size_t i = 0; good && i < claims->folder_count; i++) {
        struct claim_folder *folder = &claims->folders[i];
        good = !folder->locked ||
               glcnn_file_lock_take(folder->locked, &folder->lock, error) == GLCNN_SUCCESS;
    }
    for (size_t i = 0; good && i < claims->file_count; i++)
        good = lock_file(&claims->files[i], error);
    for (size_t i = 0; good && i < claims->file_count; i++)
        good = probe(&claims->files[i], error);
    return good;
}

static void release_locks(struct claims *claims)
{
    for (size_t i = 0; i < claims->file_count; i++)
        glcnn_file_lock_destroy(&claims->files[i].lock);
    for (size_t i = 0; i < claims->folder_count; i++)
        glcnn_file_lock_destroy(&claims->folders[i].lock);
}

bool claims_take(struct claims *claims, char error[GLCNN_ERROR_LENGTH])
{
    if (claims->lacks_memory)
        return snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory"), false;
    if (take(claims, error))
        return true;
    release_locks(claims);
    for (size_t i = claims->folder_count; i-- > 0;)
        remove_folders(&claims->folders[i]);
    return false;
}

void claims_release(struct claims *claims)
{
    release_locks(claims);
    for (size_t i = 0; i < claims->input_count; i++)
        free(claims->inputs[i].path);
    for (size_t i = 0; i < claims->file_count; i++)
        free(claims->files[i].path);
    for (size_t i = 0; i < claims->folder_count; i++) {
        free(claims->folders[i].path);
        free(claims->folders[i].locked);
    }
    free(claims->inputs);
    free(claims->files);
    free(claims->folders);
    *claims = (struct claims){.force = false};
}
