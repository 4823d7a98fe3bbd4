/* Data sets are opened and closed. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "set.h"

static glcnn_status check_names(const struct glcnn_data_parameters *p, char *error)
{
    if (p->class_count > GLCNN_DATA_MAX_CLASSES || (p->class_count > 0 && !p->class_names))
        return fail_with(error, GLCNN_INVALID_ARGUMENT,
                         "class_names: %u names are given; expected %d at most, and a list of them",
                         p->class_count, GLCNN_DATA_MAX_CLASSES);
    for (uint32_t i = 0; i < p->class_count; i++)
        if (!p->class_names[i] || p->class_names[i][0] == 0)
            return fail_with(error, GLCNN_INVALID_ARGUMENT, "class_names: number %u is empty", i);
    return GLCNN_SUCCESS;
}

static glcnn_status check_parameters(const struct glcnn_data_parameters *p, char *error)
{
    if (p->width > GLCNN_DATA_MAX_SIDE || p->height > GLCNN_DATA_MAX_SIDE)
        return fail_with(error, GLCNN_INVALID_ARGUMENT,
                         "width x height is %u x %u; expected %d x %d at most", p->width, p->height,
                         GLCNN_DATA_MAX_SIDE, GLCNN_DATA_MAX_SIDE);
    const uint32_t longer = p->width > p->height ? p->width : p->height;
    if (p->resize > 0 && (longer == 0 || p->resize < longer || p->resize > GLCNN_DATA_MAX_SIDE))
        return fail_with(error, GLCNN_INVALID_ARGUMENT,
                         "resize is %u, of images of %u x %u; expected width and height, and the "
                         "longer of them to %d",
                         p->resize, p->width, p->height, GLCNN_DATA_MAX_SIDE);
    if ((unsigned)p->fit > GLCNN_DATA_FIT_STRETCH)
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "fit is %u; expected 0 to %d",
                         (unsigned)p->fit, GLCNN_DATA_FIT_STRETCH);
    if (p->resize > 0 && p->fit != GLCNN_DATA_FIT_CUT)
        return fail_with(
            error, GLCNN_INVALID_ARGUMENT,
            "resize is %u, which is for pictures that are cut, and fit is %u; expected "
            "one of them",
            p->resize, (unsigned)p->fit);
    if (p->channels > GLCNN_DATA_MAX_CHANNELS)
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "channels is %u; expected %d at most",
                         p->channels, GLCNN_DATA_MAX_CHANNELS);
    if (!(p->validation >= 0 && p->validation < 1))
        return fail_with(error, GLCNN_INVALID_ARGUMENT,
                         "validation is %g; expected a share from 0 to below 1", p->validation);
    if ((unsigned)p->values > GLCNN_DATA_VALUES_NUMBERS)
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "values is %u; expected 0 to 2",
                         (unsigned)p->values);
    if ((unsigned)p->targets > GLCNN_DATA_TARGETS_BOXES)
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "targets is %u; expected 0 to %d",
                         (unsigned)p->targets, GLCNN_DATA_TARGETS_BOXES);
    if (p->targets == GLCNN_DATA_TARGETS_MASKS && p->class_count > GLCNN_DATA_NO_CLASS)
        return fail_with(error, GLCNN_INVALID_ARGUMENT,
                         "class_names: %u names are given; expected %d at most for masks",
                         p->class_count, GLCNN_DATA_NO_CLASS);
    return check_names(p, error);
}

static glcnn_status copy_names(glcnn_dataset *set, const struct glcnn_data_parameters *p,
                               char *error)
{
    struct names seen = {0};
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t i = 0; i < p->class_count && status == GLCNN_SUCCESS; i++) {
        uint32_t number = i;
        const char *name = p->class_names[i];
        status = names_add(&seen, name, strlen(name), "class_names", &number, error);
        if (status == GLCNN_SUCCESS && number != i)
            status =
                fail_with(error, GLCNN_INVALID_ARGUMENT, "class_names has \"%.100s\" twice", name);
    }
    set->class_names = seen.texts;
    set->info.class_count = seen.count;
    free(seen.buckets);
    return status;
}

glcnn_status set_create(const char *path, const struct glcnn_data_parameters *parameters,
                        glcnn_dataset **data, char *error)
{
    glcnn_status status = check_parameters(parameters, error);
    if (status != GLCNN_SUCCESS)
        return status;
    glcnn_dataset *set = calloc(1, sizeof *set);
    *data = set;
    if (!set || !(set->path = strdup(path)) || pthread_mutex_init(&set->mutex, NULL) != 0)
        return fail_no_memory(error, path);
    set->has_mutex = true;
    set->parameters = *parameters;
    set->parameters.class_names = NULL;
    return copy_names(set, parameters, error);
}

static const struct glcnn_data_parameters none = {0};

static void tell_root(glcnn_dataset *set, const char *path)
{
    char message[GLCNN_ERROR_LENGTH];
    snprintf(message, sizeof message, "%.200s: has nothing but a folder, and %.250s is read", path,
             set->path);
    set_decide(set, message);
}

glcnn_status glcnn_dataset_open(const char *path, const struct glcnn_data_parameters *parameters,
                                glcnn_dataset **data, char error[GLCNN_ERROR_LENGTH])
{
    if (!path || !data)
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "path or data is NULL");
    *data = NULL;
    if (!*path)
        return fail_with(error, GLCNN_INVALID_ARGUMENT,
                         "the path is empty; expected the name of a file or folder");
    char *root = set_find_root(path);
    glcnn_status status = root ? set_create(root, parameters ? parameters : &none, data, error)
                               : fail_no_memory(error, path);
    if (status == GLCNN_SUCCESS && strcmp(root, path) != 0)
        tell_root(*data, path);
    if (status == GLCNN_SUCCESS)
        (*data)->root = strlen(root);
    if (status == GLCNN_SUCCESS)
        status = set_add_path(*data, root, error);
    free(root);
    if (*data)
        (*data)->parameters.mask_colours = NULL; /* the caller's, which is read by now */
    if (status == GLCNN_SUCCESS)
        status = set_finish(*data, error);
    if (status != GLCNN_SUCCESS)
        glcnn_dataset_destroy(data);
    return status;
}

glcnn_status glcnn_dataset_open_files(const char *const *paths, uint32_t count,
                                      const struct glcnn_data_parameters *parameters,
                                      glcnn_dataset **data, char error[GLCNN_ERROR_LENGTH])
{
    if (data)
        *data = NULL;
    if (!paths || !data || count == 0)
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "paths or data is NULL, or there is none");
    for (uint32_t i = 0; i < count; i++)
        if (!paths[i] || !*paths[i])
            return fail_with(error, GLCNN_INVALID_ARGUMENT,
                             "path %u of %u is %s; expected the name of a file", i + 1, count,
                             paths[i] ? "empty" : "NULL");
    glcnn_status status = set_create(paths[0], parameters ? parameters : &none, data, error);
    for (uint32_t i = 0; i < count && status == GLCNN_SUCCESS; i++)
        status = set_add_file(*data, paths[i], count == 1, error);
    if (status == GLCNN_SUCCESS)
        status = set_finish(*data, error);
    if (status != GLCNN_SUCCESS)
        glcnn_dataset_destroy(data);
    return status;
}

static void free_texts(char **texts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}

void glcnn_dataset_destroy(glcnn_dataset **data)
{
    glcnn_dataset *set = data ? *data : NULL;
    if (!set)
        return;
    for (int i = 0; i < GLCNN_DATA_PARTS; i++) {
        free(set->parts[i].items);
        table_free(&set->tables[i]);
    }
    for (uint32_t i = 0; i < set->file_count; i++)
        free(set->files[i].path);
    for (uint32_t i = 0; i < set->masks.count && set->masks.files; i++)
        free(set->masks.files[i].path);
    free(set->masks.files);
    free(set->masks.drawings);
    objects_free(&set->masks.objects);
    keypoints_free(&set->keypoints);
    free((void *)set->masks.states);
    free(set->masks.kept);
    masks_release_handed(&set->masks);
    free(set->numbers.values);
    free(set->source.first_box);
    free_texts(set->class_names, set->info.class_count);
    free_texts(set->notes.texts, set->notes.count);
    free_texts(set->decisions.texts, set->decisions.count);
    names_free(&set->names);
    boxes_free(&set->boxes);
    if (set->has_mutex)
        pthread_mutex_destroy(&set->mutex);
    free(set->files);
    free(set->path);
    free((void *)set->states);
    free(set->kept);
    free(set);
    *data = NULL;
}
