/* Patches in fewer dimensions, in which a coreset is chosen: a random projection (Johnson and
 * Lindenstrauss 1984) by a matrix of +1 and -1 over the root of its rows (Achlioptas 2003), which keeps
 * distances to some tenths of a part. The signs follow from a seed. Patches of few values stay as they
 * are. */
#ifndef GLCNN_TASK_ANOMALY_PROJECTION_H
#define GLCNN_TASK_ANOMALY_PROJECTION_H

#include <glcnn/glcnn.h>

#define PROJECTION_CHANNELS 128 /* most */

struct projection {
    uint32_t channels;      /* of the result */
    glcnn_network *network; /* NULL: nothing is projected */
    glcnn_graph *graph;
    glcnn_image_node *result;
};

/* Of images of `channels`. Release with projection_destroy, after a failure too. False: the device has
 * the message, or there is no memory. */
bool projection_create(glcnn_device *device, uint32_t channels, uint64_t seed,
                       struct projection *projection);
void projection_destroy(struct projection *projection);

/* The result is the projection's until the next run, or the patches themselves. NULL: as above. */
glcnn_image *projection_run(const struct projection *projection, glcnn_image *patches);

#endif
