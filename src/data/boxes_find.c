/* Where pictures and their boxes lie. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "boxes_place.h"
#include "data_yaml.h"
#include "words.h"

/* The first of these that a folder has is what it is. */
static place_layout *const whole[] = {brush_add,
                                      yolo_add_lists,
                                      labelme_add_folders,
                                      yolo_add_folders,
                                      voc_add_folders,
                                      coco_add_files,
                                      NULL},
                           *const beside[] = {voc_add_beside, yolo_add_beside,  labelme_add_beside,
                                              csv_add_beside, coco_add_damaged, NULL};

static glcnn_status add_first(const struct place *p, place_layout *const *layouts, bool *found)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (*found = false; *layouts && !*found && status == GLCNN_SUCCESS; layouts++)
        status = (*layouts)(p, found);
    return status;
}

static glcnn_status refuse(const struct place *p)
{
    return fail_with(p->error, GLCNN_MALFORMED_DATA,
                     "%.200s: has no boxes; expected images and labels (YOLO), Annotations and "
                     "JPEGImages (Pascal VOC), a .json beside the pictures or in annotations "
                     "(COCO), one for each picture (labelme), a CSV (Make Sense), or folders "
                     "train, val and test that have these",
                     p->folder);
}

static glcnn_status add_one(const struct place *p)
{
    bool found;
    glcnn_status status = add_first(p, whole, &found);
    if (status == GLCNN_SUCCESS && !found)
        status = add_first(p, beside, &found);
    return status == GLCNN_SUCCESS && !found ? refuse(p) : status;
}

static glcnn_status add_part(const struct place *p, glcnn_data_part part, bool *any)
{
    struct place below;
    char *folder = NULL;
    glcnn_status status = place_find_part(p, part, &folder);
    if (status == GLCNN_SUCCESS && folder) {
        *any = true;
        status = place_open(&below, p, p->set, folder, p->error);
        below.part = part;
        if (status == GLCNN_SUCCESS)
            status = add_one(&below);
        listing_free(&below.listing);
    }
    free(folder);
    return status;
}

static glcnn_status add_parts(const struct place *p)
{
    bool any = false;
    glcnn_status status = GLCNN_SUCCESS;
    for (int part = 0; part < GLCNN_DATA_PARTS && status == GLCNN_SUCCESS; part++)
        status = add_part(p, (glcnn_data_part)part, &any);
    return status == GLCNN_SUCCESS && !any ? add_one(p) : status;
}

/* `yaml`: the file that names the folder; NULL: none does. */
static glcnn_status add_folder(glcnn_dataset *set, const char *path, const char *yaml, char *error)
{
    struct place p;
    bool found = false;
    glcnn_status status = place_open(&p, NULL, set, path, error);
    p.yaml = yaml;
    if (status == GLCNN_SUCCESS)
        status = add_first(&p, whole, &found);
    if (status == GLCNN_SUCCESS && !found)
        status = add_parts(&p);
    listing_free(&p.listing);
    return status;
}

/* The folder of a file; to be released with free(). */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? strndup(path, slash > path ? (size_t)(slash - path) : 1) : strdup(".");
}

/* What lies in a folder "annotations" has its pictures beside that. */
static glcnn_status add_json_file(glcnn_dataset *set, const char *path, char *error)
{
    struct place p;
    const char *slash = strrchr(path, '/');
    char *folder = folder_of(path), *up = folder ? folder_of(folder) : NULL;
    if (!folder || !up) {
        free(folder);
        return fail_no_memory(error, path);
    }
    const char *last = strrchr(folder, '/');
    bool is_below = strcasecmp(last ? last + 1 : folder, "annotations") == 0;
    glcnn_status status = place_open(&p, NULL, set, is_below ? up : folder, error);
    if (status == GLCNN_SUCCESS)
        status = coco_add_file(&p, GLCNN_DATA_PART_TRAINING, folder, slash ? slash + 1 : path);
    listing_free(&p.listing);
    free(folder);
    free(up);
    return status;
}

/* The data.yaml of a folder, or its obj.data. */
static glcnn_status add_list_file(glcnn_dataset *set, const char *path, char *error)
{
    char *folder = folder_of(path);
    glcnn_status status = folder ? add_folder(set, folder, data_yaml_is(path) ? path : NULL, error)
                                 : fail_no_memory(error, path);
    free(folder);
    return status;
}

static glcnn_status add_path(glcnn_dataset *set, const char *path, char *error)
{
    if (path_is_folder(path))
        return add_folder(set, path, NULL, error);
    if (word_has_ending(path, ".json"))
        return add_json_file(set, path, error);
    if (data_yaml_is(path) || word_has_ending(path, ".data"))
        return add_list_file(set, path, error);
    return fail_with(error, GLCNN_MALFORMED_DATA,
                     "%.300s: is not a folder; expected one with pictures and boxes, the .json of "
                     "COCO, or the data.yaml of YOLO",
                     path);
}

bool boxes_are_in(const char *path)
{
    char error[GLCNN_ERROR_LENGTH];
    return path_is_folder(path) && add_folder(NULL, path, NULL, error) == GLCNN_SUCCESS;
}

/* The decimal point is the C locale's, only for this thread. */
glcnn_status boxes_add_path(glcnn_dataset *set, const char *path, char *error)
{
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (c == (locale_t)0)
        return fail_no_memory(error, path);
    locale_t before = uselocale(c);
    glcnn_status status = add_path(set, path, error);
    uselocale(before);
    freelocale(c);
    return status;
}
