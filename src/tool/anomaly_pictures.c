/* Folders of normal and other pictures. */
#include "anomaly_pictures.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define GOOD "good"

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Whether `folder` has that one, whose path is then written. */
static bool find_folder(const char *folder, const char *name, char path[ANOMALY_PATH])
{
    int length = snprintf(path, ANOMALY_PATH, "%s/%s", folder, name);
    return length < ANOMALY_PATH && is_folder(path);
}

void anomaly_normal_folder(const char *folder, char path[ANOMALY_PATH])
{
    static const char *const names[] = {"train/good", "train", GOOD};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (find_folder(folder, names[i], path))
            return;
    snprintf(path, ANOMALY_PATH, "%s", folder);
}

void anomaly_test_folder(const char *given, char path[ANOMALY_PATH])
{
    if (!find_folder(given, "test", path))
        snprintf(path, ANOMALY_PATH, "%s", given);
}

/* Cuts a path behind its folder. False: it names none. */
static bool cut_name(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = 0;
    return slash;
}

enum anomaly_kind anomaly_label(const char *picture, char label[ANOMALY_PATH])
{
    char folder[ANOMALY_PATH], beside[ANOMALY_PATH];
    snprintf(folder, sizeof folder, "%s", picture);
    if (!cut_name(folder))
        return ANOMALY_UNLABELLED;
    const char *slash = strrchr(folder, '/');
    snprintf(label, ANOMALY_PATH, "%s", slash ? slash + 1 : folder);
    if (strcmp(label, GOOD) == 0)
        return ANOMALY_NORMAL;
    return find_folder(cut_name(folder) ? folder : ".", GOOD, beside) ? ANOMALY_DEFECT
                                                                      : ANOMALY_UNLABELLED;
}

/* Pictures are opened each by itself, and so have their own size, but that one above 256 pixels a side is
 * shrunk: it is large enough. */
#define SHRUNK 256

static bool check_size(const char *name, const struct form *grid, char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_data_parameters any = {.width = 0};
    glcnn_data_set *set = NULL;
    if (glcnn_data_set_open_files(&name, 1, &any, &set, NULL) != GLCNN_SUCCESS)
        return true;
    const struct glcnn_data_info info = *glcnn_data_set_info(set);
    const bool is_shrunk = info.width >= SHRUNK || info.height >= SHRUNK;
    glcnn_data_set_close(&set);
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
        glcnn_data_set_name(pictures->set, GLCNN_DATA_PART_TEST, i, name, sizeof name);
        good = check_size(name, grid, error);
    }
    return good;
}
