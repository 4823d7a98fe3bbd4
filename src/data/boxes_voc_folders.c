/* Folders as Pascal VOC has them: Annotations, JPEGImages, and lists of the parts. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "boxes_place.h"

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

/* Where the annotations of a list are. */
struct lists {
    const struct place *place;
    const char *pictures, *annotations;
};

static glcnn_status take_list(glcnn_dataset *set, glcnn_data_part part, const struct listing *names,
                              const void *user, char *error)
{
    const struct lists *l = user;
    (void)set, (void)error;
    return add_pair(l->place, part, l->pictures, l->annotations, names);
}

/* Without a list for training all is of one part. */
static glcnn_status add_lists(const struct place *p, const char *pictures, const char *annotations)
{
    const struct lists lists = {p, pictures, annotations};
    bool found;
    glcnn_status status =
        boxes_take_lists(p->set, p->folder, "ImageSets/Main", take_list, &lists, &found, p->error);
    return status == GLCNN_SUCCESS && !found ? add_pair(p, p->part, pictures, annotations, NULL)
                                             : status;
}

glcnn_status voc_add_folders(const struct place *p, bool *found)
{
    struct place below = {0};
    char *annotations = place_find_folder(p, "Annotations", "Annotations"),
         *pictures = place_find_folder(p, "JPEGImages", "images");
    glcnn_status status = GLCNN_SUCCESS;
    if (pictures && !annotations)
        annotations = strdup(pictures);
    if (annotations && pictures)
        status = place_open(&below, p, p->set, annotations, p->error);
    const bool are_beside = annotations && pictures && strcmp(annotations, pictures) == 0;
    *found = are_beside ? place_any_has_pair(&below, ".xml") : place_any_has_ending(&below, ".xml");
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
