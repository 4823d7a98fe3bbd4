/* Ranks and what is under way between them.
 *
 * Room: Sums over the ranks of an MPI program. Includes public headers, base/ and MPI's alone, and
 * calls nothing of libglcnn. */
#ifndef GLCNN_MPI_RANKS_H
#define GLCNN_MPI_RANKS_H

#include <glcnn/mpi.h>

#include <mpi.h>

/* What a message is about. Messages of a bucket have two tags from TAG_BUCKETS on. */
enum { TAG_FAILURE, TAG_SUM, TAG_BUCKETS };
#define MOST_BUCKETS 16000 /* MPI promises tags up to 32767 */

/* Messages with every other rank, each way one. */
struct messages {
    MPI_Request *requests; /* [2][size]: that come, that go; MPI_REQUEST_NULL: done */
    uint32_t open;
};

/* A sum of floats over all ranks. */
struct reduction {
    float *values; /* the caller's */
    size_t count;
    float *shares; /* [size][the rank's part] */
    size_t capacity;
    struct messages messages;
    enum { GATHERING_SHARES, SPREADING_SUMS } phase;
    bool is_summed;
    double begun, done; /* seconds of CLOCK_MONOTONIC */
};

struct glcnn_mpi {
    MPI_Comm world;
    uint32_t rank, size, rank_on_machine;
    bool is_owner; /* of MPI, which was initialised here */
    bool failed;
    char failure[GLCNN_ERROR_LENGTH]; /* the first; "": it was told by the caller */
    struct glcnn_mpi_parameters parameters;
    /* What another rank says of its failure, while nobody has. */
    MPI_Request notice;
    char notice_text[GLCNN_ERROR_LENGTH];
    struct reduction *reductions; /* by bucket */
    size_t reduction_count, first_open;
    double backward_end; /* of this step */
    struct glcnn_mpi_statistics statistics;
    glcnn_mpi_trace trace;
    void *trace_user;
};

/* ---- messages.c ---- */

glcnn_status mpi_fail(glcnn_mpi *mpi, char *error, glcnn_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Of an MPI call: GLCNN_SUCCESS, or a failure that names it. */
glcnn_status mpi_check(glcnn_mpi *mpi, int code, const char *call, char *error);

glcnn_status messages_create(const glcnn_mpi *mpi, struct messages *messages, char *error);
void messages_free(struct messages *messages);
/* A message from that rank, and one to it, of `size` bytes, a multiple of 4; 0: there is none. */
glcnn_status messages_receive(glcnn_mpi *mpi, struct messages *messages, uint32_t from, int tag,
                              void *bytes, size_t size, char *error);
glcnn_status messages_send(glcnn_mpi *mpi, struct messages *messages, uint32_t to, int tag,
                           const void *bytes, size_t size, char *error);
/* Which are done; never waits. */
glcnn_status messages_test(glcnn_mpi *mpi, struct messages *messages, char *error);

/* Waits until none is open, and, where `is_done` is given, that is true; reductions go on meanwhile.
 * Fails where that takes too long or a rank has failed. */
glcnn_status messages_await(glcnn_mpi *mpi, struct messages *messages, const bool *is_done,
                            char *error);

/* Begins to listen for failures of other ranks, and ends that. */
glcnn_status notice_begin(glcnn_mpi *mpi, char *error);
void notice_end(glcnn_mpi *mpi);

/* ---- reduction.c ---- */

glcnn_status reduction_begin(glcnn_mpi *mpi, size_t index, float *values, size_t count,
                             char *error);
glcnn_status reduction_finish(glcnn_mpi *mpi, size_t index, char *error);
/* Goes on with all that have begun; never waits. */
glcnn_status reductions_advance(glcnn_mpi *mpi, char *error);
void reductions_free(glcnn_mpi *mpi);

#endif
