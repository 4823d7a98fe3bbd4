/* Folders in which pictures with boxes are looked for. */
#ifndef GLCNN_DATA_BOXES_PLACE_H
#define GLCNN_DATA_BOXES_PLACE_H

#include "set.h"

/* A folder that is looked at. */
struct place {
    glcnn_dataset *set;     /* NULL: layouts only find */
    const struct place *up; /* whose part it is; NULL: none */
    const char *folder;
    struct listing listing;
    const char *yaml;     /* the file that the caller named; NULL: none */
    glcnn_data_part part; /* of what is found without a part */
    char *error;
};

/* The listing is to be released, after a failure too. */
glcnn_status place_open(struct place *p, const struct place *up, glcnn_dataset *set,
                        const char *folder, char *error);

/* The ending is in any case of letters. */
bool place_any_has_ending(const struct place *p, const char *ending);

/* True if the listing's entry has the ending and a picture has the same name before its own. */
bool place_is_paired(const struct place *p, uint32_t number, const char *ending);
bool place_any_has_pair(const struct place *p, const char *ending);
/* True if a folder, or those of parts in it, has PNG and no annotations. */
bool place_has_masks(const char *folder);

/* A folder by one of two names, in any case of letters; to be released with free(). NULL: there is
 * none. */
char *place_find_folder(const struct place *p, const char *name, const char *other);
/* An entry of a folder that is looked for: by its name, and then by its path. */
struct place_wanted {
    bool (*has_name)(const char *name, const void *what);
    bool (*is_it)(const char *path);
    const void *what;
};
/* The only entry that is wanted, to be released with free(), after a failure too; *path NULL: there is none.
 * Two are refused. */
glcnn_status place_find_only(const struct place *p, const struct place_wanted *wanted, char **path);
/* The folder of a part, to be released with free(), after a failure too; *path NULL: there is none.
 * Two are refused. */
glcnn_status place_find_part(const struct place *p, glcnn_data_part part, char **path);
/* True if the folder of a part has it. */
bool place_any_part(const struct place *p, bool (*has)(const char *folder, const void *what),
                    const void *what);
glcnn_status place_refuse_two(const struct place *p, const char *one, const char *other);

/* ---- Layouts ---- */

/* Adds what the folder has, where it has this layout: *found. */
typedef glcnn_status place_layout(const struct place *p, bool *found);

/* Parts that a data.yaml or an obj.data lists. */
place_layout yolo_add_lists;
/* images and labels, Annotations and JPEGImages, .json; below a root of parts. */
place_layout yolo_add_folders, voc_add_folders, coco_add_files;
/* Masks of Label Studio's brush, and pictures beside them or in images. */
place_layout brush_add;
/* images, and labels or annotations with a .json for each picture. */
place_layout labelme_add_folders;
/* Annotations beside their pictures, or a CSV of all. */
place_layout yolo_add_beside, voc_add_beside, labelme_add_beside, csv_add_beside;
/* What is left of .json files. */
place_layout coco_add_damaged;

/* The pictures of a folder, or those of it that are wanted, and their labels. */
glcnn_status yolo_add_pair(const struct place *p, glcnn_data_part part, const struct pairs *pairs);
/* The data.yaml of a folder, or else its only YAML, whatever the case of letters; *name NULL: there is
 * none. */
glcnn_status yolo_find_yaml(const struct place *p, const char **name);
/* The classes of YOLO: data.yaml, classes.txt or obj.names of the folder, of that whose part it is, or
 * of the folder of labels. */
glcnn_status yolo_find_classes(const struct place *p, const char *labels);
/* The .json `name` of a folder, whose pictures are in p or below it. */
glcnn_status coco_add_file(const struct place *p, glcnn_data_part part, const char *folder,
                           const char *name);

#endif
