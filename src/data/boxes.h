/* Boxes around objects: pictures with annotations, as YOLO, Pascal VOC and COCO write them. */
#ifndef GLCNN_DATA_BOXES_H
#define GLCNN_DATA_BOXES_H

#include "folder.h"
#include "names.h"
#include "outline.h"

/* What is told once, with the first message and the number of the others. */
struct tally {
    uint32_t count;
    char first[400];
};

/* Of a data set: the boxes of all its pictures, those of one behind each other. */
struct boxes {
    struct glcnn_data_box
        *items; /* their labels are numbers of names until the classes are known */
    uint32_t count;
    size_t capacity;
    char **classes; /* that the data lists, in their order; NULL: it lists none */
    uint32_t class_count;
    uint32_t keypoint_count;  /* of YOLO: after the box of a line so many points stand */
    uint32_t keypoint_fields; /* numbers of each, 2 or 3 */
    struct tally unboxed;     /* pictures without annotation */
    struct tally empty;       /* boxes outside of their picture, or without size */
    struct tally unmatched;   /* annotations without picture, names without file */
    struct tally outlined;    /* boxes around outlines */
    struct tally pointed;     /* boxes of objects with keypoints */
    struct tally bare;        /* boxes without an outline, where these are wanted */
    struct tally several;     /* pictures of several objects with keypoints */
};

/* A box as an annotation has it. */
struct raw_box {
    double left, top, right, bottom;
    uint32_t label; /* of the set's names */
    bool is_crowd, is_difficult;
    size_t place;           /* in the file, for messages */
    struct outline outline; /* where the targets are masks; without points or runs: it has none */
    double *points; /* x, y and what is seen of each keypoint, 0: it is not labelled; NULL: none */
    uint32_t point_count;
    double group; /* above 0: labelme's, of shapes that are one object */
};

/* What is said of one picture. */
struct annotation {
    const char *path;            /* of the file, for messages */
    const char *before, *behind; /* what stands around the place of a box: "line ", "" */
    bool in_pixels;              /* otherwise boxes are in shares of the picture */
    uint32_t width, height;      /* of the picture; 0: it is not said */
    struct raw_box *boxes;
    uint32_t count;
    size_t capacity;
};

/* ---- For readers ---- */

/* Takes the box over, with its outline and points; false: not enough memory, and these are released. */
bool annotation_add(struct annotation *a, struct raw_box *box);
/* Takes its boxes out. */
void annotation_clear(struct annotation *a);
void annotation_free(struct annotation *a);
void raw_box_free(struct raw_box *box);

/* Gives the picture that was added last, to the part, what the annotation says, as the targets are: its
 * boxes, cut at its edges; a mask of its outlines; its keypoints. One of another size than the
 * annotation says is taken back. */
glcnn_status annotation_attach(struct glcnn_dataset *set, glcnn_data_part part,
                               const struct annotation *a, char *error);
/* Counts what is left out; with `strict` it is an error. */
glcnn_status boxes_tally(struct glcnn_dataset *set, struct tally *tally, const char *message,
                         char *error);

/* Pictures in one folder and an annotation for each in another, or in the same. */
struct pairs {
    const char *pictures, *annotations; /* folders */
    const char *ending;                 /* of annotations: ".txt" */
    const struct listing *wanted;       /* names, with or without ending; NULL: all */
    bool passes_folders;                /* folders among the pictures are read by themselves */
    /* Fills in what a->path says; after a failure but GLCNN_OUT_OF_MEMORY the picture is left out. */
    glcnn_status (*read)(struct glcnn_dataset *set, struct annotation *a, char *error);
};
glcnn_status boxes_add_pairs(struct glcnn_dataset *set, glcnn_data_part part,
                             const struct pairs *pairs, char *error);

/* Reads the names or paths of pictures that a file lists, sorted and each once; to be released, after a
 * failure too. `is_bare`: without the folders that stand before a name. */
glcnn_status boxes_read_list(struct glcnn_dataset *set, const char *path, bool is_bare,
                             struct listing *names, char *error);

/* The pictures of a part that a list names, and which of them were met. */
struct wanted {
    const struct listing *names; /* sorted, with or without ending; NULL: all are wanted */
    uint8_t *met;
};
bool wanted_begin(struct wanted *wanted, const struct listing *names);
/* Marks the picture as met where it is listed. */
bool wanted_has(struct wanted *wanted, const char *name);
/* Counts names that no picture of the folder has. */
glcnn_status wanted_tell(const struct wanted *wanted, struct glcnn_dataset *set, const char *folder,
                         char *error);
void wanted_end(struct wanted *wanted);

/* Calls for the list of each part in the folder `below`, ImageSets/Main for instance; *found false: there is none for
 * training. */
typedef glcnn_status list_taker(struct glcnn_dataset *set, glcnn_data_part part,
                                const struct listing *names, const void *user, char *error);
glcnn_status boxes_take_lists(struct glcnn_dataset *set, const char *folder, const char *below,
                              list_taker *take, const void *user, bool *found, char *error);

/* Says once that boxes are around outlines, which have pixels too. */
void boxes_tell_outline(struct glcnn_dataset *set, const char *path);

/* Says once that boxes are those of objects with keypoints, which can be learned too. */
void boxes_tell_points(struct glcnn_dataset *set, const char *path);

/* The readers of `pairs`. */
glcnn_status yolo_read(struct glcnn_dataset *set, struct annotation *a, char *error);
glcnn_status voc_read(struct glcnn_dataset *set, struct annotation *a, char *error);

glcnn_status labelme_read(struct glcnn_dataset *set, struct annotation *a, char *error);

/* True if the text, which may be cut, is a JSON object with both keys. */
bool json_has_keys(const char *text, size_t size, const char *one, const char *other);
/* True if the file has images and annotations, as COCO's have: others lie beside data. */
bool coco_is(const char *path);
/* Adds the images of a file; each is in the first of the folders that has it. */
glcnn_status coco_add(struct glcnn_dataset *set, glcnn_data_part part, const char *path,
                      const struct listing *folders, char *error);

/* ---- Classes ---- */

/* Takes the names over as the set's classes; where it has some the names are released. */
void boxes_take_classes(struct glcnn_dataset *set, struct names *names);
/* How many classes there may be: those of the set, or else GLCNN_DATA_MAX_CLASSES. */
uint32_t boxes_class_limit(const struct glcnn_dataset *set);
/* The label of a class by its number. */
glcnn_status boxes_label(struct glcnn_dataset *set, uint32_t class, const char *path,
                         uint32_t *label, char *error);

/* Names that a file lists: the `names` of a .yaml, otherwise one on each line. *names is to be
 * released, or given to boxes_take_classes; after a failure it is all zero. */
glcnn_status class_list_read(const char *path, struct names *names, char *error);

/* ---- For sets ---- */

/* True if the name is that of a file that lists boxes, or says where they are. */
bool boxes_is_file(const char *path);
/* True if a folder has boxes: it is looked at as it is read, up to the first picture. */
bool boxes_are_in(const char *path);
/* True if a folder, or that of a part, has masks of Label Studio's brush. */
bool brush_is_in(const char *path);
/* Finds what a path has, and adds it. */
glcnn_status boxes_add_path(struct glcnn_dataset *set, const char *path, char *error);
/* A note on what was left out, or else a decision, where something was counted. */
void tally_tell(struct glcnn_dataset *set, const struct tally *tally, bool is_left_out);
/* Messages on what was left out or stands in for something else. */
void boxes_tell(struct glcnn_dataset *set);
/* Where YOLO's numbers have no names, 0 to the largest become the set's classes. */
glcnn_status boxes_count_classes(struct glcnn_dataset *set, char *error);
/* Labels become classes, once everything is added. */
glcnn_status boxes_finish(struct glcnn_dataset *set, char *error);
/* Boxes follow their pictures to the size of images. */
void boxes_fit(struct glcnn_dataset *set);
void boxes_free(struct boxes *boxes);

#endif
