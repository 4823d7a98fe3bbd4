/* Training on several devices: the processes of an MPI program, its ranks, add up their gradients.
 *
 * Part of libglcnn_mpi, not of libglcnn, and not included by glcnn/glcnn.h. It calls nothing of
 * libglcnn: what it gives is the engine that glcnn_graph_set_exchange takes.
 *
 * Each rank has a device, the same network with the same weights, and its share of every batch; the
 * loss's weight is one over the images of the batch of all, so that sums of gradients are right
 * whatever the shares:
 *
 *   glcnn_mpi_create(NULL, &mpi, error);
 *   exchange = glcnn_mpi_exchange(mpi, 0);
 *   glcnn_graph_set_exchange(graph, &exchange);
 *   for (each batch) {
 *       write the rank's share of the batch into sources;
 *       glcnn_graph_execute(graph, sources, NULL, NULL);
 *   }
 *
 * How numbers are added up: of each bucket a rank has a part of its own, which the others send to
 * it; it adds what came in double precision, in the order of the ranks, and sends the sum to all. So
 * all ranks have the same bits, and so have two runs of as many ranks. A rank sends and receives
 * 2 (n - 1) / n times what a bucket has, in 2 (n - 1) messages.
 *
 * What can go wrong: a rank that ends without a word, by a signal or with its machine, lets others
 * wait for what it owes them; they give up after wait_seconds with a sentence that names it. One
 * that fails says so (glcnn_mpi_fail), and every call of the others that waits fails with its
 * sentence. After any failure the ranks can no longer be used: glcnn_mpi_destroy leaves MPI as it
 * is, and the process is to end with a status other than 0. Launchers then end the others, most of
 * them with SIGTERM first.
 *
 * Errors are a status, and in `error` a sentence: GLCNN_IO_ERROR for ranks that cannot be reached or
 * do not answer, GLCNN_OUT_OF_MEMORY.
 *
 * Thread-safety: all calls on the thread that made the ranks; one object at a time.
 */
#ifndef GLCNN_MPI_H
#define GLCNN_MPI_H

#include <glcnn/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct glcnn_mpi glcnn_mpi;

/* All zero: the defaults. */
struct glcnn_mpi_parameters {
    /* How long a call waits for another rank, in seconds: longer than ranks differ, which compile
     * their programs in the first step. 0: 300. */
    double wait_seconds;
    /* Called now and then while a call waits, with how long it has waited and for which rank; may
     * be NULL. It must not call the library. */
    void (*waits)(void *user, double seconds, uint32_t rank);
    void *user;
};

/* Joins the ranks of MPI_COMM_WORLD, each of which must call it. Initialises MPI where nobody has.
 * *mpi is the caller's, NULL after a failure. */
GLCNN_API glcnn_status glcnn_mpi_create(const struct glcnn_mpi_parameters *parameters,
                                        glcnn_mpi **mpi, char error[GLCNN_ERROR_LENGTH]);
/* Waits for all ranks, unless something failed, and finalises MPI if glcnn_mpi_create initialised
 * it. Graphs that exchange through it must not be executed any more. *mpi becomes NULL. */
GLCNN_API void glcnn_mpi_destroy(glcnn_mpi **mpi);

GLCNN_API uint32_t glcnn_mpi_rank(const glcnn_mpi *mpi); /* from 0 */
GLCNN_API uint32_t glcnn_mpi_size(const glcnn_mpi *mpi);
/* Among the ranks on this machine, from 0: for the choice of a device of its own. */
GLCNN_API uint32_t glcnn_mpi_rank_on_machine(const glcnn_mpi *mpi);

/* What glcnn_graph_set_exchange takes; `mpi` must outlive the graph's executions. images: those of
 * the batches of all ranks, for statistics of batch normalisations over all of them; 0: each rank
 * has its own. */
GLCNN_API struct glcnn_exchange glcnn_mpi_exchange(glcnn_mpi *mpi, uint64_t images);

/* Replaces each value by the sum over all ranks, which must call it with as many. */
GLCNN_API glcnn_status glcnn_mpi_sum(glcnn_mpi *mpi, double *values, size_t count,
                                     char error[GLCNN_ERROR_LENGTH]);
/* The same of many float32, by the way of gradients: for weights that are averaged. */
GLCNN_API glcnn_status glcnn_mpi_sum_floats(glcnn_mpi *mpi, float *values, size_t count,
                                            char error[GLCNN_ERROR_LENGTH]);

/* Tells the other ranks that this one has failed, and why; waits a few seconds until they know. Does
 * nothing where they have failed before. */
GLCNN_API void glcnn_mpi_fail(glcnn_mpi *mpi, const char *sentence);

/* Since creation. */
struct glcnn_mpi_statistics {
    uint64_t bytes_sent; /* by this rank, without what MPI adds */
    double exchanging;   /* seconds from a step's first bucket that began to its last sum */
    double hidden;       /* of these, while the backward pass still ran */
    double waited;       /* seconds in which nothing was done but wait for other ranks */
};
GLCNN_API struct glcnn_mpi_statistics glcnn_mpi_get_statistics(const glcnn_mpi *mpi);

/* A bucket of gradients that was exchanged; times in seconds of CLOCK_MONOTONIC. */
struct glcnn_mpi_event {
    uint32_t bucket, buckets;
    size_t bytes;
    double begun;    /* its gradients were known */
    double done;     /* their sum was */
    double backward; /* the backward pass was over */
};
/* Calls back for each bucket when a step is over; NULL ends it. */
typedef void (*glcnn_mpi_trace)(void *user, const struct glcnn_mpi_event *event);
GLCNN_API void glcnn_mpi_set_trace(glcnn_mpi *mpi, glcnn_mpi_trace trace, void *user);

#ifdef __cplusplus
}
#endif
#endif
