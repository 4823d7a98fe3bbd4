/* A network of a file at another size of pictures than it was made for. */
#ifndef GLCNN_TASK_NETWORK_SIZE_H
#define GLCNN_TASK_NETWORK_SIZE_H

#include "nets.h"

/* Has the network, which has weights or not yet, take pictures of the size of `form` in place of that of `own`: means and
 * maxima of whole maps become as large as the maps, and maps that are brought to a size come to the one that
 * stands for it. form->longer is the longer side of `own`. The network keeps its filters and their labels. False, and
 * a message: a layer works on one size alone. */
bool network_take_size(glcnn_network *network, const struct form *own, const struct form *form,
                       char error[GLCNN_ERROR_LENGTH]);

#endif
