/* What a data set is made of.
 *
 * Room: Labelled images: readers of files, the split into parts, the order of epochs, and threads
 * that decode ahead. Knows of libglcnn what its public headers for status and .npy say, and nothing
 * of devices. */
#ifndef GLCNN_DATA_SET_H
#define GLCNN_DATA_SET_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <time.h>

#include "boxes.h"
#include "drawing.h"
#include "names.h"
#include "picture.h"
#include "table.h"

#define MAX_NOTES 1000 /* of pictures; each class may have one more */

/* Messages. Where memory is short one is lost. */
struct messages {
    char **texts;
    uint32_t count;
    size_t capacity;
};

/* Fails with "PATH: WHAT since the data was opened": `what` is that a file has changed or vanished. */
glcnn_status data_tell_change(const char *path, const char *what, char *error);

/* Pictures of a folder that are of formats that are not read. */
struct unread {
    struct {
        const char *format;
        uint32_t count;
    } kinds[16]; /* in the order in which they were met; the last counts all others */
    uint32_t count;
    char first[256]; /* the name of one */
};

/* A file as it was when the data was opened. */
struct picture_file {
    char *path;
    off_t bytes;
    struct timespec changed;
    struct picture head;
    uint32_t first_box, box_count; /* of the set's boxes */
    uint64_t digest;               /* of a mask's values */
};

enum picture_state { PICTURE_UNKNOWN, PICTURE_TAKEN, PICTURE_KEPT, PICTURE_BROKEN };

/* An image of a part: a picture, or a row of a table. */
struct item {
    uint32_t label;  /* of names while the set is opened, then the class; 0 with other targets */
    uint32_t target; /* the row of its numbers, or its mask */
    uint32_t table;  /* NO_TABLE: a picture */
    uint32_t index;
};
#define NO_TABLE UINT32_MAX

struct part {
    struct item *items;
    uint32_t count;
    size_t capacity;
};

/* Targets that are numbers. */
struct numbers {
    float *values; /* [rows][count] */
    uint32_t count, rows, capacity;
};

/* Masks as their files have them that a loader has decoded, for whoever wants the same ones whole. Below the set's
 * mutex. */
#define HANDED_MOST ((size_t)64 << 20) /* bytes of all values */
struct handed_masks {
    struct {
        uint32_t index;
        glcnn_data_part part;
        struct picture_values values; /* without values: there is none */
    } items[64];
    uint32_t next; /* the oldest of these, which the next one stands in for */
    size_t bytes;
};

/* Targets that are masks: files, or drawn of the outlines of objects. */
struct masks {
    struct picture_file *files;
    uint32_t count;
    size_t capacity;
    struct drawing *drawings; /* NULL: they are files */
    size_t drawing_capacity;
    struct objects objects;           /* of the drawings */
    bool has_objects;                 /* that have an outline */
    struct colours colours;           /* that masks have in place of values */
    bool is_listed;                   /* what values or colours mean */
    bool seen[GLCNN_DATA_PARTS][256]; /* values */
    uint64_t pixels[256],
        soft[256]; /* of each value in the training part; those that lie between others */
    struct tally odd_colours, soft_edges, turned; /* masks that have such */
    uint8_t class_of[256];                        /* of a value; GLCNN_DATA_NO_CLASS: none */
    uint64_t order; /* of classes that a list has in another order than those given; 0: the same */
    /* Of each mask, as of pictures. */
    _Atomic uint8_t *states;
    uint8_t *kept;
    _Atomic bool are_wanted[GLCNN_DATA_PARTS]; /* whole: some were read so */
    _Atomic bool are_left[GLCNN_DATA_PARTS];   /* one was handed over, and left out unread */
    struct handed_masks handed;
};

/* Keypoints that are numbers. */
struct keypoints {
    struct names names;
    uint32_t *order; /* of x and y of each, which number it is */
};

/* Images that the program has, all parts of it as tables without values. The number of an image among those of all
 * parts is the target of its item: its row of numbers, its mask, and where its boxes begin. */
struct own_images {
    struct glcnn_image_source given;
    bool is_given;
    uint32_t first[GLCNN_DATA_PARTS]; /* the number of each part's first image */
    uint32_t *first_box;              /* [images + 1], among the set's boxes; NULL: it has none */
};

struct glcnn_dataset {
    char *path;                              /* of messages: of several files the first */
    size_t root;                             /* bytes of it that names of pictures leave out */
    struct glcnn_data_parameters parameters; /* without the class names */
    struct glcnn_data_info info;
    char **class_names;
    struct names names;
    struct boxes boxes;
    struct part parts[GLCNN_DATA_PARTS];
    struct table tables[GLCNN_DATA_PARTS];
    struct numbers numbers;
    struct masks masks;
    struct keypoints keypoints;
    struct own_images source;
    struct picture_file *files;
    uint32_t file_count;
    size_t file_capacity;
    /* Of each file: TAKEN while one thread writes its pixels into `kept`. */
    _Atomic uint8_t *states;
    uint8_t *kept; /* NULL: not all fit in */
    pthread_mutex_t mutex;
    bool has_mutex;
    struct messages decisions;
    struct unread unread; /* of the folder that is being added */
    uint32_t passed_over; /* of info.ignored those that are not hidden */
    struct {
        char ending[12]; /* ".txt"; "folders", or "" for names without */
        uint32_t count;
    } passed_kinds[6]; /* in the order in which they were met; the last counts all others */
    char passed_first[256];
    /* Below the mutex. */
    struct messages notes;
    uint32_t skipped;
};

/* False: not enough memory. */
bool part_add(struct part *part, const struct item *item);

/* Whether it is called a CSV. */
bool path_is_csv(const char *path);

/* NULL beyond the part's end. */
const struct item *set_item(const glcnn_dataset *data, glcnn_data_part part, uint32_t index);

/* Adds what path names, a file or a folder, as glcnn/data.h says. */
glcnn_status set_add_path(glcnn_dataset *set, const char *path, char *error);
/* Adds the pictures of a folder and of those below it, without labels; refuses one without any. */
glcnn_status set_add_folder(glcnn_dataset *set, const char *path, char *error);
/* Adds one file without labels, or a folder's. */
glcnn_status set_add_file(glcnn_dataset *set, const char *path, bool is_alone, char *error);

/* The path, or that of the only folder in it, or in that, where nothing else is there that is read; to be released
 * with free(). NULL: not enough memory. */
char *set_find_root(const char *path);
/* The targets that a folder has beside its pictures, 1 << GLCNN_DATA_TARGETS_MASKS and _BOXES; several:
 * it is not clear which are meant. */
uint32_t set_targets_in(const char *path);
/* Adds folders of classes to a part. */
glcnn_status set_add_classes(glcnn_dataset *set, glcnn_data_part part, const char *path,
                             char *error);
/* Adds a picture whose label is the number of a name. A broken one is skipped, or with `keep` keeps
 * its place; unless `keep` is set one of a format that is not read is counted in set->unread, and
 * what is no picture at all is ignored. */
glcnn_status set_add_picture(glcnn_dataset *set, glcnn_data_part part, const char *path,
                             uint32_t label, bool keep, char *error);
/* Takes the picture back that was added last, to the part. */
void set_remove_picture(glcnn_dataset *set, glcnn_data_part part);
/* Tells of pictures of a folder that are of formats that are not read: set->unread. */
void set_tell_unread(glcnn_dataset *set, const char *folder);
/* Counts what is no picture, for a message. */
void set_pass_over(glcnn_dataset *set, const char *path);
/* ": " and the first reason for which something was left out, or "". */
void set_first_reason(const glcnn_dataset *set, char *text, size_t size);
/* Takes a table over; *content is all zero then. */
glcnn_status set_add_content(glcnn_dataset *set, glcnn_data_part part, struct content *content,
                             char *error);

/* A set of that path with what every set needs, before anything is looked for. After a failure too *data is to be
 * released. */
glcnn_status set_create(const char *path, const struct glcnn_data_parameters *parameters,
                        glcnn_dataset **data, char *error);

/* ---- Images that are no pictures ---- */

/* [H][W][C], one of them. */
struct image_values {
    const uint8_t *bytes;
    const float *floats;
};
/* Bytes of room that image_values_read needs. */
size_t image_values_room(const glcnn_dataset *set);
/* The values of an item of a table, in place or read into `room`. */
glcnn_status image_values_read(const glcnn_dataset *set, const struct item *item, void *room,
                               struct image_values *values, char *error);

/* ---- Sources ---- */

/* Writes an image of the program's own, [H][W][C], into `room`, which has room for two. */
glcnn_status source_read_image(const glcnn_dataset *set, const struct item *item, void *room,
                               char *error);
/* The mask with that number among all images; the values are to be released with free(), after a failure too. */
glcnn_status source_read_mask(const glcnn_dataset *set, uint32_t number,
                              struct picture_values *values, char *error);

/* ---- Numbers ---- */

/* Adds rows of numbers of what `path` is; *first is the number of the first row. All rows of a set
 * have as many numbers. */
glcnn_status set_add_numbers(glcnn_dataset *set, const float *values, uint32_t rows, uint32_t count,
                             const char *path, uint32_t *first, char *error);
/* Names that the numbers have where nobody gives any. */
glcnn_status set_name_numbers(glcnn_dataset *set, char *error);
/* What the first two lines of a CSV say. */
struct list_look {
    bool names_pictures; /* a column has this for its name */
    bool has_pictures;   /* and what it has is there */
    bool has_numbers;    /* and all other columns have numbers */
    bool may_be_classes; /* there is one such, called a label, of whole numbers */
};
glcnn_status list_look_at(const char *path, struct list_look *look, char *error);
/* Adds the pictures that a CSV names, with their numbers. */
glcnn_status set_add_list(glcnn_dataset *set, glcnn_data_part part, const char *path, char *error);

/* True if the folder, or that of a part, has a list of pictures with numbers. */
bool set_has_list(const char *path);

/* ---- Keypoints ---- */

/* Takes the names over, which are those of the points of all objects. */
glcnn_status keypoints_take_names(glcnn_dataset *set, struct names *points, const char *path,
                                  char *error);
/* The same of points without names. */
glcnn_status keypoints_count_names(glcnn_dataset *set, uint32_t count, const char *path,
                                   char *error);
void keypoints_free(struct keypoints *keypoints);
/* Messages on points that lie where points seldom do: all within 0 to 1, or some at 0, 0. */
void keypoints_tell_odd(glcnn_dataset *set);
/* The numbers of the picture that was added last, which is taken back where it has no labelled points. */
glcnn_status keypoints_attach(glcnn_dataset *set, glcnn_data_part part, const struct annotation *a,
                              char *error);

/* ---- Masks ---- */

/* A mask of the outlines of the picture that was added last, which is taken back where one is wrong. */
glcnn_status masks_attach(glcnn_dataset *set, glcnn_data_part part, const struct annotation *a,
                          char *error);
glcnn_status masks_finish_drawn(glcnn_dataset *set, char *error);
/* Draws mask number `index`; the values are to be released with free(), after a failure too. */
glcnn_status masks_draw(const glcnn_dataset *set, uint32_t index, struct picture_values *values,
                        char *error);
uint64_t masks_drawn_digest(const glcnn_dataset *set, uint32_t index);
/* The digest of the values of a mask, for which it is read; 0: it cannot be. */
uint64_t masks_read_digest(const glcnn_dataset *set, uint32_t index);

/* True if a folder has masks: it is looked at as it is read. */
bool masks_are_in(const char *path);
/* Adds pictures with masks from what a folder has. */
glcnn_status set_add_masked(glcnn_dataset *set, const char *path, char *error);
/* Classes of pixels, once all masks are known. */
glcnn_status set_finish_masks(glcnn_dataset *set, char *error);
/* Room for masks of the set's size. */
glcnn_status set_keep_masks(glcnn_dataset *set, char *error);
/* The values of mask number `index`, as its file has them, which are to be released with free(). */
glcnn_status set_mask_values(const glcnn_dataset *set, uint32_t index,
                             struct picture_values *values, char *error);
/* The classes of the pixels of mask number `index`, [H][W]. */
glcnn_status set_mask(glcnn_dataset *set, glcnn_data_part part, uint32_t index, uint8_t *classes,
                      char *error);
/* The same as set_mask_values, of what set_mask has handed over, so that each mask is decoded once. A part is handed
 * over until one of its masks is left out unread, and again from the first one on that is read here. */
glcnn_status set_take_mask(glcnn_dataset *set, glcnn_data_part part, uint32_t index,
                           struct picture_values *values, char *error);
void masks_release_handed(struct masks *masks);

/* (*map)[number of a name]: its class, as names_order has it, and tells what was decided. To be
 * released with free(), after a failure too. */
glcnn_status set_order_names(glcnn_dataset *set, uint32_t **map, char *error);

/* Classes, split, size and memory, once everything is added. */
glcnn_status set_finish(glcnn_dataset *set, char *error);
/* Width, height and channels of images that are pictures. */
glcnn_status set_size_pictures(glcnn_dataset *set, char *error);

/* A message on what follows from the data while it is opened. */
void set_decide(glcnn_dataset *set, const char *message);
/* A message on what is left out: so many pictures, or something else. */
void set_note(glcnn_dataset *set, uint32_t pictures, const char *message);
/* A message where `strict` is not set, otherwise an error. */
glcnn_status set_complain(glcnn_dataset *set, uint32_t pictures, const char *message, char *error);

/* Adds a copy to a list, with a path of its own. False: not enough memory. */
bool picture_files_add(struct picture_file **files, uint32_t *count, size_t *capacity,
                       const struct picture_file *file);
/* The first thread that has decoded number `index` keeps its bytes; `kept` NULL: none does. */
void keep_decoded(_Atomic uint8_t *states, uint8_t *kept, uint32_t index, const uint8_t *bytes,
                  size_t size);

/* Opens a regular file for reading; NULL: errno says why, 0 that it is another kind of file. */
FILE *open_picture(const char *path, struct picture_file *file);
/* Whether the open file is the one that the data was opened with, by size and time. */
bool picture_is_as_opened(const struct picture_file *file, FILE *stream);

/* Decodes a file as the set has it, to a size. The message names it; GLCNN_IO_ERROR: it has changed. */
glcnn_status picture_file_decode(const struct picture_file *file, const struct size *size,
                                 uint8_t *pixels, char *error);
/* The pixels of a picture, [H][W][C]. GLCNN_MALFORMED_DATA: it is broken, and noted.
 * GLCNN_IO_ERROR: it is not what it was. `error` is not NULL. */
glcnn_status set_pixels(glcnn_dataset *set, uint32_t index, uint8_t *pixels, bool *decoded,
                        char *error);
/* Has it been found broken so far? */
bool set_is_broken(glcnn_dataset *set, uint32_t index);

size_t set_values(const glcnn_dataset *set); /* of an image */

/* ---- Orders ---- */

/* Any order of the numbers with the same probability, which follows only from the state. */
void order_shuffle(uint64_t *state, uint32_t *order, uint32_t count);
/* The state with which an epoch, or a class of a split, begins. Seeds of more than 44 bits keep
 * those that are shifted out. */
uint64_t order_state(uint64_t seed, uint64_t number);

#endif
