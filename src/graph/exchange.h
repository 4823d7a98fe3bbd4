/* Exchanges with other processes: gradients, and statistics of batches. */
#ifndef GLCNN_GRAPH_EXCHANGE_H
#define GLCNN_GRAPH_EXCHANGE_H

#include "glcnn/status.h"

#include <stddef.h>

struct exchange;
struct recording;

/* Before anything is recorded. Does nothing where the graph exchanges nothing, or the command buffer
 * is the user's. */
glcnn_status exchange_create(struct recording *recording);
/* Behind a collector, all of whose passes are recorded: sums up what it found of the batch. */
glcnn_status exchange_record_statistics(struct recording *recording, size_t filter);
/* Behind all gradients, where they lie as they will be updated from: the buckets. */
glcnn_status exchange_record_gradients(struct recording *recording);
void exchange_destroy(struct exchange **exchange);

#endif
