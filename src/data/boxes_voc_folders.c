/* Folders as Pascal VOC has them: Annotations, JPEGImages, and lists of the parts. */
#include <stdlib.h>
#include <string.h>

#include "boxes_place.h"
#include "bytes.h"
#include "message.h"

#define MAX_LIST ((size_t)64 << 20) /* bytes of a list of pictures */

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

/* A name on each line, and what may stand behind a blank. */
static bool cut_names(char *text, struct listing *names)
{
    for (char *line; (line = bytes_line(&text)) != NULL;) {
        line += strspn(line, " \t\r");
        line[strcspn(line, " \t\r")] = 0;
        if (*line && !listing_add(names, line))
            return false;
    }
    return true;
}

static void drop_repeats(glcnn_data_set *set, const char *path, struct listing *names)
{
    char message[GLCNN_ERROR_LENGTH];
    struct tally repeats = {0};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < names->count; i++) {
        if (kept == 0 || strcmp(names->names[kept - 1], names->names[i]) != 0) {
            names->names[kept++] = names->names[i];
            continue;
        }
        if (repeats.count++ == 0)
            snprintf(repeats.first, sizeof repeats.first, "%.100s", names->names[i]);
        free(names->names[i]);
    }
    names->count = kept;
    snprintf(message, sizeof message,
             "%.250s: %u names are repeated, and count once: %.100s is the first", path,
             repeats.count, repeats.first);
    if (repeats.count > 0)
        set_decide(set, message);
}

static glcnn_status read_list(glcnn_data_set *set, const char *path, struct listing *names,
                              char *error)
{
    struct bytes bytes;
    char *text;
    *names = (struct listing){0};
    glcnn_status status = bytes_read_text(&bytes, path, MAX_LIST, &text, error);
    if (status == GLCNN_SUCCESS && !cut_names(text, names))
        status = data_no_memory(error, path);
    bytes_free(&bytes);
    listing_sort(names);
    drop_repeats(set, path, names);
    return status;
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
        status = read_list(p->set, path, &names, p->error);
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
    if (status == GLCNN_SUCCESS && *found)
        status = p->up ? add_pair(p, p->part, pictures, annotations, NULL)
                       : add_lists(p, pictures, annotations);
    listing_free(&below.listing);
    free(annotations);
    free(pictures);
    return status;
}

glcnn_status voc_add_beside(const struct place *p, bool *found)
{
    *found = place_any_has_ending(p, ".xml");
    return *found ? add_pair(p, p->part, p->folder, p->folder, NULL) : GLCNN_SUCCESS;
}
