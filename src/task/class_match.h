/* The classes of a network and those of data, matched by their names: one rule for all tasks and commands that
 * train. A row is what answers have for a class, a number, or a keypoint, which has two names.
 *
 * Commands that keep the network as it is open data with its names (pictures.h), and libglcnn_data matches
 * them. Both do it by names_match (base/name_table.h). */
#ifndef GLCNN_TASK_CLASS_MATCH_H
#define GLCNN_TASK_CLASS_MATCH_H

#include "base/name_table.h"
#include "model.h"

struct class_match {
    uint32_t count; /* of the data's rows */
    uint32_t *
        rows; /* [count]: the network's row of each; NAME_UNMATCHED: it has none. NULL: not matched */
    uint32_t earlier_count, kept;
    bool is_same; /* the same names in the same order, or the network only numbers its classes */
    bool is_numbered; /* the latter, and the data name theirs */
};

/* Of names as a form of the task has them. Release with class_match_free. False: not enough memory. */
bool class_match_make(const struct task *task, const char *const *earlier, uint32_t earlier_count,
                      const char *const *names, uint32_t count, struct class_match *match);
void class_match_free(struct class_match *match);

/* The same names in another order? */
bool class_match_is_order(const struct class_match *match);
/* "2 rows stay (b, c), 1 row is new (z), 1 row is gone (a)". */
#define CLASS_MATCH_TEXT 512
void class_match_describe(const struct class_match *match, const struct task *task,
                          const char *const *earlier, const char *const *names,
                          char text[CLASS_MATCH_TEXT]);

/* Where a network for a task has rows of weights. */
struct class_head {
    const glcnn_network *network;
    const struct task *task;
    glcnn_filter_node *last; /* model_head of the network, before it had losses */
};
/* The layers that have a row of weights for each class; how many. */
#define CLASS_LAYERS_MAX 8
size_t class_layers(const struct class_head *head, glcnn_filter_node *layers[CLASS_LAYERS_MAX]);
/* How many rows a form has. */
uint32_t class_rows(const struct form *form);

/* Rows of those layers as they are, to be taken by class_rows_take and freed; NULL: not enough memory, or a
 * vector cannot be read. */
struct class_rows *class_rows_read(const struct class_head *head);
void class_rows_free(struct class_rows *rows);
/* Gives each row of the network's layers the weights of its row in `earlier`, and new ones those of `fresh`, which
 * is of as many rows as the network has. False: layers differ, or one cannot be written. */
bool class_rows_take(const struct class_head *head, const struct class_match *match,
                     const struct class_rows *fresh, const struct class_rows *earlier);

/* ---- Units ---- */

/* The scale of a number: what a network learned it with, or what data have. */
struct unit {
    double deviation, mean;
};
/* Are data in another unit than what was learned, as thousandths are, or so far off that they may be?
 * Deviations, or the way between the means in the larger of them, differ by a factor of 10 or more. Data that
 * only are a narrow part of what was learned are not. */
bool unit_is_other(const struct unit *learned, const struct unit *data);

#endif
