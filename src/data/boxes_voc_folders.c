/* Folders as Pascal VOC has them: Annotations, JPEGImages, and lists of the parts. */
#include <stdlib.h>
#include <string.h>

#include "boxes_place.h"
#include "message.h"

static glcnn_status add_pair(const struct place *p, glcnn_data_part part, const char *pictures,
                             const char *annotations, const struct listing *wanted)
{
    const struct pairs pairs = {.pictures = pictures,
                                .annotations = annotations,
                                .ending = ".xml",
                                .wanted = wanted,
                                .read = voc_read};
    p->set->info.format = "voc";
    return boxes_add_pairs(p->set, part, &pairs, p->error);
}

/* The part that ImageSets/Main/NAME.txt lists, if it is there. */
static glcnn_status add_list(const struct place *p, const char *name, glcnn_data_part part,
                             const char *pictures, const char *annotations, bool *any)
{
    struct listing names;
    char *path = path_join(p->folder, name);
    if (!path)
        return data_no_memory(p->error, p->folder);
    glcnn_status status = GLCNN_SUCCESS;
    if (path_exists(path)) {
        *any = true;
        status = boxes_read_list(p->set, path, true, &names, p->error);
        if (status == GLCNN_SUCCESS)
            status = add_pair(p, part, pictures, annotations, &names);
        listing_free(&names);
    }
    free(path);
    return status;
}

/* Without a list for training all is of one part. */
static glcnn_status add_lists(const struct place *p, const char *pictures, const char *annotations)
{
    static const struct {
        const char *name;
        glcnn_data_part part;
    } lists[] = {{"ImageSets/Main/val.txt", GLCNN_DATA_PART_VALIDATION},
                 {"ImageSets/Main/test.txt", GLCNN_DATA_PART_TEST}};
    bool has_train = false, has_all = false, any = false;
    glcnn_status status = add_list(p, "ImageSets/Main/train.txt", GLCNN_DATA_PART_TRAINING,
                                   pictures, annotations, &has_train);
    if (status == GLCNN_SUCCESS && !has_train)
        status = add_list(p, "ImageSets/Main/trainval.txt", GLCNN_DATA_PART_TRAINING, pictures,
                          annotations, &has_all);
    if (status == GLCNN_SUCCESS && !has_train && !has_all)
        return add_pair(p, p->part, pictures, annotations, NULL);
    for (size_t i = has_train ? 0 : 1; i < 2 && status == GLCNN_SUCCESS; i++)
        status = add_list(p, lists[i].name, lists[i].part, pictures, annotations, &any);
    return status;
}

glcnn_status voc_add_folders(const struct place *p, bool *found)
{
    struct place below = {0};
    char *annotations = place_find_folder(p, "Annotations", "Annotations"),
         *pictures = place_find_folder(p, "JPEGImages", "images");
    glcnn_status status = GLCNN_SUCCESS;
    if (annotations && pictures)
        status = place_open(&below, p, p->set, annotations, p->error);
    *found = place_any_has_ending(&below, ".xml");
    if (status == GLCNN_SUCCESS && *found && p->set)
        status = p->up ? add_pair(p, p->part, pictures, annotations, NULL)
                       : add_lists(p, pictures, annotations);
    listing_free(&below.listing);
    free(annotations);
    free(pictures);
    return status;
}

glcnn_status voc_add_beside(const struct place *p, bool *found)
{
    *found = place_any_has_pair(p, ".xml");
    return *found && p->set ? add_pair(p, p->part, p->folder, p->folder, NULL) : GLCNN_SUCCESS;
}
