/* Folders as COCO has them: a .json for each part, and folders of pictures. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "boxes_place.h"
#include "words.h"

/* A word of the file's name is one of a part: instances_train2017.json. */
static bool is_of_part(const char *name, glcnn_data_part part)
{
    static const char marks[] = "_-. ";
    glcnn_data_part of;
    for (size_t length; *name; name += length + (name[length] != 0)) {
        length = strcspn(name, marks);
        if (word_is_numbered_part(name, length, &of) && of == part)
            return true;
    }
    return false;
}

/* Adds the folders of a part in a folder, and then that. */
static glcnn_status add_folders(const struct place *p, const char *folder, glcnn_data_part part,
                                struct listing *folders)
{
    struct place below;
    char *found = NULL;
    if (!folder)
        return GLCNN_SUCCESS;
    glcnn_status status = place_open(&below, p, p->set, folder, p->error);
    if (status == GLCNN_SUCCESS)
        status = place_find_part(&below, part, &found);
    bool good = !found || listing_add(folders, found);
    free(found);
    listing_free(&below.listing);
    if (status == GLCNN_SUCCESS && (!good || !listing_add(folders, folder)))
        status = fail_no_memory(p->error, folder);
    return status;
}

/* Adds the folders in that of the pictures, as CVAT has one for each subset. What the file is named for
 * comes first: "default" of instances_default.json. */
static glcnn_status add_subsets(const struct place *p, const char *images, const char *name,
                                struct listing *folders)
{
    struct place below;
    glcnn_status status = images ? place_open(&below, p, p->set, images, p->error) : GLCNN_SUCCESS;
    for (int pass = 0; pass < 2 && images && status == GLCNN_SUCCESS; pass++)
        for (uint32_t i = 0; i < below.listing.count && status == GLCNN_SUCCESS; i++) {
            const char *at = below.listing.names[i];
            char *path = path_join(images, at);
            if (!path || ((strstr(name, at) != NULL) == (pass == 0) && path_is_folder(path) &&
                          !listing_add(folders, path)))
                status = fail_no_memory(p->error, images);
            free(path);
        }
    if (images)
        listing_free(&below.listing);
    return status;
}

/* Pictures are in train, images/train, images, in the folder itself, beside the file, or in a folder
 * below images. */
glcnn_status coco_add_file(const struct place *p, glcnn_data_part part, const char *folder,
                           const char *name)
{
    struct listing folders = {0};
    char *path = path_join(folder, name), *images = place_find_folder(p, "images", "JPEGImages");
    glcnn_status status = add_folders(p, images, part, &folders);
    if (status == GLCNN_SUCCESS)
        status = add_folders(p, p->folder, part, &folders);
    if (status == GLCNN_SUCCESS && (!path || !listing_add(&folders, folder)))
        status = fail_no_memory(p->error, folder);
    if (status == GLCNN_SUCCESS)
        status = add_subsets(p, images, name, &folders);
    p->set->info.format = "coco";
    if (status == GLCNN_SUCCESS)
        status = coco_add(p->set, part, path, &folders, p->error);
    listing_free(&folders);
    free(images);
    free(path);
    return status;
}

/* Of files that tell of the same images those of their objects. */
static bool is_wanted(const struct listing *listing, const char *name)
{
    static const char objects[] = "instances";
    if (!word_has_ending(name, ".json"))
        return false;
    for (uint32_t i = 0; i < listing->count; i++)
        if (strncmp(listing->names[i], objects, sizeof objects - 1) == 0)
            return strncmp(name, objects, sizeof objects - 1) == 0;
    return true;
}

/* Files that lie beside annotations, and are none, are left out of the listing; false: all are. */
static bool keep_annotations(struct place *files)
{
    struct listing *l = &files->listing;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        char *path =
            word_has_ending(l->names[i], ".json") ? path_join(files->folder, l->names[i]) : NULL;
        char *name = l->names[i];
        if (path && coco_is(path)) {
            l->names[i] = l->names[kept];
            l->names[kept++] = name;
        }
        free(path);
    }
    for (uint32_t i = kept; i < l->count && kept > 0; i++)
        free(l->names[i]);
    l->count = kept > 0 ? kept : l->count;
    return kept > 0;
}

/* The file of a part, or with `part` NULL the only one; *name NULL: there is none. */
static glcnn_status find_json(const struct place *files, const glcnn_data_part *part,
                              const char **name)
{
    *name = NULL;
    for (uint32_t i = 0; i < files->listing.count; i++) {
        const char *at = files->listing.names[i];
        if (!is_wanted(&files->listing, at) || (part && !is_of_part(at, *part)))
            continue;
        if (*name)
            return place_refuse_two(files, *name, at);
        *name = at;
    }
    return GLCNN_SUCCESS;
}

/* Files of parts, where one is for training; otherwise there is one file. */
static glcnn_status add_jsons(const struct place *p, const struct place *files)
{
    const char *name;
    glcnn_data_part part = GLCNN_DATA_PART_TRAINING;
    glcnn_status status = p->up ? GLCNN_SUCCESS : find_json(files, &part, &name);
    if (status == GLCNN_SUCCESS && (p->up || !name)) {
        status = find_json(files, NULL, &name);
        return status == GLCNN_SUCCESS ? coco_add_file(p, p->part, files->folder, name) : status;
    }
    for (int i = 0; i < GLCNN_DATA_PARTS && status == GLCNN_SUCCESS; i++) {
        part = (glcnn_data_part)i;
        status = find_json(files, &part, &name);
        if (status == GLCNN_SUCCESS && name)
            status = coco_add_file(p, part, files->folder, name);
    }
    return status;
}

glcnn_status coco_add_files(const struct place *p, bool *found)
{
    struct place below = {0}, beside = {0};
    char *annotations = place_find_folder(p, "annotations", "annotations");
    glcnn_status status = place_open(&beside, p, p->set, p->folder, p->error);
    if (status == GLCNN_SUCCESS && annotations)
        status = place_open(&below, p, p->set, annotations, p->error);
    const bool has_any = keep_annotations(&below);
    const struct place *files = keep_annotations(&beside) && !has_any ? &beside : &below;
    *found = has_any || files == &beside || place_any_has_ending(&below, ".json");
    if (status == GLCNN_SUCCESS && *found && p->set)
        status = add_jsons(p, files);
    listing_free(&below.listing);
    listing_free(&beside.listing);
    free(annotations);
    return status;
}

/* A .json that is nothing else may be a damaged one of COCO, and says why. */
glcnn_status coco_add_damaged(const struct place *p, bool *found)
{
    *found = place_any_has_ending(p, ".json") && p->set;
    return *found ? add_jsons(p, p) : GLCNN_SUCCESS;
}
