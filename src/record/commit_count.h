/* Counting commits on the GPU, since a driver may drop passes and tell of nothing: device/reset.h. */
#ifndef GLCNN_COMMIT_COUNT_H
#define GLCNN_COMMIT_COUNT_H

#include "record/pass.h"

/* For opening and closing. Counts once, and proves that the driver computes (proof.h): GLCNN_NO_DEVICE of
 * a software rasteriser that does not. Of a driver that does not count nothing is counted from then on. */
glcnn_status commit_count_create(struct glcnn_device *device);
void commit_count_destroy(struct glcnn_device *device, bool reachable);

/* Before the passes of a commit are issued: all that may fail of its last one. */
glcnn_status commit_count_prepare(struct glcnn_device *device);
/* The last pass of a commit. */
glcnn_status commit_count_issue(struct glcnn_device *device, const char *where);

/* Lets a pass that is alone in its commit count it, which spares the dispatch: with COUNTS the last
 * invocation of its body adds one to commits[0]. */
void commit_count_join(struct glcnn_device *device, struct pass *pass);
bool commit_count_is_in(const struct glcnn_device *device, const struct pass *pass);
/* Once a pass was dispatched: notes it where it counts. */
glcnn_status commit_count_note(struct glcnn_device *device, const struct pass *pass,
                               const char *where);

#endif
