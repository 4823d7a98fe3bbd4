/* The ranks of `mpirun -n N glcnn train`. libglcnn_mpi is loaded when the command runs as one of
 * several, so that the tool needs no MPI otherwise. */
#ifndef GLCNN_TRAIN_RANKS_H
#define GLCNN_TRAIN_RANKS_H

#include <glcnn/mpi.h>

#include <stdbool.h>
#include <stddef.h>

#include <glcnn/glcnn.h>

#define MPI_FUNCTIONS(X)                                                                           \
    X(create)                                                                                      \
    X(destroy)                                                                                     \
    X(rank)                                                                                        \
    X(size)                                                                                        \
    X(rank_on_machine) X(exchange) X(sum) X(sum_floats) X(fail) X(get_statistics) X(set_trace)

/* The functions of the library, by the ends of their names. */
#define MPI_MEMBER(name) __typeof__(glcnn_mpi_##name) *name;
struct mpi_library {
    void *handle;
    MPI_FUNCTIONS(MPI_MEMBER)
};

/* Is called while rank `rank`, this one, waits for another. */
typedef void ranks_waits(void *user, double seconds, uint32_t rank, uint32_t other);

/* All zero: none, one process; calls do nothing then. */
struct ranks {
    struct mpi_library library;
    glcnn_mpi *mpi; /* NULL: one process */
    uint32_t rank, size;
    uint32_t first, share; /* of each batch: where its images begin here, and how many they are */
    uint32_t batch;        /* of all */
    ranks_waits *waits;    /* NULL: nobody asks */
    void *user;            /* of that */
};

/* Joins the others where a launcher of MPI has started this process as one of several. wait_seconds: see
 * glcnn/mpi.h. False, and a message, if it fails. */
bool ranks_open(struct ranks *ranks, double wait_seconds, ranks_waits *waits, void *user,
                char error[GLCNN_ERROR_LENGTH]);
void ranks_close(struct ranks *ranks);
/* Tells the others that this rank has failed. */
void ranks_fail(struct ranks *ranks, const char *message);

/* Is this the process that prints and writes files? */
bool ranks_leads(const struct ranks *ranks);

/* The number of a device of its own for each rank on this machine, as far as there are GPUs; NULL: the library
 * chooses, or GLCNN_DEVICE does. */
const char *ranks_device(const struct ranks *ranks);

/* Parts of `total` in proportion to `speeds`, each at least 1, the largest remainders first; `total`
 * is `count` at least. */
void ranks_divide(uint32_t total, const double *speeds, uint32_t count, uint32_t *parts);
/* Sets batch, first and share: of all ranks alike, or by the speed of each. False, and a message,
 * if there are fewer images than ranks or the others cannot be reached. */
bool ranks_share_batch(struct ranks *ranks, uint32_t batch, double speed,
                       char error[GLCNN_ERROR_LENGTH]);

/* Replaces values by their sums over all ranks. */
bool ranks_sum(struct ranks *ranks, double *values, size_t count, char error[GLCNN_ERROR_LENGTH]);
/* What each rank has as numbers, `count` of them, which `write` writes; `read` takes those of all, in the order of
 * the ranks. `count` 0 where this rank has no memory for them. Of one process nothing is written. */
bool ranks_gather(struct ranks *ranks, void *of, size_t count,
                  void (*write)(const void *of, double *numbers),
                  bool (*read)(void *of, const double *numbers, size_t count),
                  char error[GLCNN_ERROR_LENGTH]);
/* Have all ranks the same? `what` they must have in common. False, and a message that names the
 * first rank that differs from this one. */
bool ranks_agree(struct ranks *ranks, uint64_t digest, const char *what,
                 char error[GLCNN_ERROR_LENGTH]);

/* Weights of a network that ranks have each trained: their means over all ranks, in proportion to
 * the shares; with what optimizers keep of them. */
bool ranks_average(struct ranks *ranks, glcnn_network *network, char error[GLCNN_ERROR_LENGTH]);
/* The same, only of running statistics of batches. */
bool ranks_average_statistics(struct ranks *ranks, glcnn_network *network,
                              char error[GLCNN_ERROR_LENGTH]);

/* A digest of what ranks_average averages. */
bool ranks_digest(glcnn_network *network, uint64_t *digest, char error[GLCNN_ERROR_LENGTH]);

#endif
