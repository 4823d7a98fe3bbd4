/* A page on data before anything is trained on it: counts, doubts, what was left out, and pictures with their
 * labels. As a report's page it is complete by itself, without a script, and names are text in it. */
#ifndef GLCNN_REPORT_LOOK_PAGE_H
#define GLCNN_REPORT_LOOK_PAGE_H

#include "task/pictures.h"

/* What is shown; all of it is the caller's. */
struct look_page {
    const char *data;    /* its path */
    const char *refused; /* why it cannot be opened; NULL: it is open */
    const struct task *task;
    const struct pictures *pictures; /* NULL where it is refused, as `look` */
    const struct glcnn_data_look *look;
};

/* What objects of glcnn_data_class_look are of a task: "boxes". */
const char *look_page_objects(const struct task *task);

/* Writes the page as glcnn_file_save writes. False, with a message, if it cannot be written. */
bool look_page_write(const struct look_page *page, const char *path,
                     char error[GLCNN_ERROR_LENGTH]);

#endif
