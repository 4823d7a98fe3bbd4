/* Folders of normal and other pictures. */
#include "anomaly_pictures.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "visa.h"

/* Names of folders of normal pictures; "good" is MVTec AD's. */
static const char *const normal_names[] = {"good", "Good",   "GOOD",   "ok",    "OK",
                                           "Ok",   "normal", "Normal", "NORMAL"};
enum { NORMAL_NAMES = sizeof normal_names / sizeof *normal_names };

#define TEST "test"

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* True if `folder` has that one, whose path is then written. */
static bool find_folder(const char *folder, const char *name, char path[ANOMALY_PATH])
{
    int length = snprintf(path, ANOMALY_PATH, "%s/%s", folder, name);
    return length < ANOMALY_PATH && is_folder(path);
}

/* Its folder of normal pictures. */
static bool find_normal(const char *folder, char path[ANOMALY_PATH])
{
    for (size_t i = 0; i < NORMAL_NAMES; i++)
        if (find_folder(folder, normal_names[i], path))
            return true;
    return false;
}

void anomaly_normal_folder(const char *folder, char path[ANOMALY_PATH])
{
    char train[ANOMALY_PATH];
    if (visa_is_object(folder)) {
        snprintf(path, ANOMALY_PATH, "%s/" VISA_PICTURES "/Normal", folder);
        return;
    }
    const bool has_train = find_folder(folder, "train", train);
    if (has_train && find_normal(train, path))
        return;
    if (!has_train && find_normal(folder, path))
        return;
    snprintf(path, ANOMALY_PATH, "%s", has_train ? train : folder);
}

bool anomaly_add_path(void *user, const char *path)
{
    struct anomaly_paths *paths = user;
    char **items = array_grow(paths->items, paths->count, &paths->room, sizeof *items);
    if (!items)
        return false;
    paths->items = items;
    items[paths->count] = strdup(path);
    return items[paths->count] && ++paths->count;
}

void anomaly_free_paths(struct anomaly_paths *paths)
{
    for (uint32_t i = 0; i < paths->count; i++)
        free(paths->items[i]);
    free(paths->items);
}

#define DEEPEST 3 /* folders between a path that is given and a folder "test" */

/* Takes the pictures that the list names, or all where it names none. */
static bool visit_visa(const char *folder, anomaly_taker *take, void *user)
{
    char path[ANOMALY_PATH];
    bool found;
    if (!visa_list(folder, TEST, take, user, &found))
        return false;
    return found || !find_folder(folder, VISA_PICTURES, path) || take(user, path);
}

/* Calls for each folder "test" below, but not for those within one. False: `take` does. */
static bool visit_tests(const char *folder, int depth, anomaly_taker *take, void *user)
{
    char path[ANOMALY_PATH];
    struct dirent **entries;
    bool good = true;
    if (visa_is_object(folder))
        return visit_visa(folder, take, user);
    if (find_folder(folder, TEST, path))
        return take(user, path);
    const int count = depth < DEEPEST ? scandir(folder, &entries, NULL, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (good && *name != '.' && find_folder(folder, name, path))
            good = visit_tests(path, depth + 1, take, user);
        free(entries[i]);
    }
    if (count > 0)
        free(entries);
    return good;
}

bool anomaly_test_folders(const char *given, anomaly_taker *take, void *user)
{
    return visit_tests(given, 0, take, user);
}

/* Cuts a path behind its folder. False: it names none. */
static bool cut_name(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = 0;
    return slash;
}

static bool is_normal(const char *name)
{
    size_t i = 0;
    while (i < NORMAL_NAMES && strcmp(name, normal_names[i]) != 0)
        i++;
    return i < NORMAL_NAMES;
}

glcnn_anomaly_kind anomaly_label(const char *picture, char label[ANOMALY_PATH])
{
    char folder[ANOMALY_PATH], beside[ANOMALY_PATH];
    snprintf(folder, sizeof folder, "%s", picture);
    *label = 0;
    for (int depth = 0; depth < DEEPEST && cut_name(folder); depth++) {
        const char *slash = strrchr(folder, '/'), *name = slash ? slash + 1 : folder;
        char parent[ANOMALY_PATH];
        if (strcmp(name, TEST) == 0)
            break;
        snprintf(parent, sizeof parent, "%s", folder);
        const bool has_normal = find_normal(cut_name(parent) ? parent : ".", beside);
        if (!is_normal(name) && !has_normal)
            continue;
        snprintf(label, ANOMALY_PATH, "%s", name);
        return is_normal(name) ? GLCNN_ANOMALY_NORMAL : GLCNN_ANOMALY_DEFECT;
    }
    return GLCNN_ANOMALY_UNLABELLED;
}

/* Pictures are opened each by itself, and so have their own size, but that one above 256 pixels a side is
 * shrunk: it is large enough. */
#define SHRUNK 256

static bool check_size(const char *name, const struct form *grid, char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_data_parameters any = {.width = 0};
    glcnn_dataset *set = NULL;
    if (glcnn_dataset_open_files(&name, 1, &any, &set, NULL) != GLCNN_SUCCESS)
        return true;
    const struct glcnn_data_info info = *glcnn_dataset_info(set);
    const bool is_shrunk = info.width >= SHRUNK || info.height >= SHRUNK;
    glcnn_dataset_destroy(&set);
    if (is_shrunk || (info.width >= grid->width && info.height >= grid->height))
        return true;
    snprintf(error, GLCNN_ERROR_LENGTH,
             "%.300s: is %ux%u pixels, smaller than the grid of %ux%u patches; larger pictures, or "
             "a deeper layer with --output, are needed",
             name, info.width, info.height, grid->width, grid->height);
    return false;
}

bool anomaly_check_sizes(const struct pictures *pictures, const struct form *grid,
                         char error[GLCNN_ERROR_LENGTH])
{
    char name[ANOMALY_PATH];
    bool good = true;
    if (strcmp(pictures->info->format, "pictures") != 0)
        return true;
    for (uint32_t i = 0; good && i < pictures->info->counts[GLCNN_DATA_PART_TEST]; i++) {
        glcnn_dataset_name(pictures->set, GLCNN_DATA_PART_TEST, i, name, sizeof name);
        good = check_size(name, grid, error);
    }
    return good;
}
