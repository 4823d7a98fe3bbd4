/* The ranks of an MPI program, and the engine that adds up their gradients. */
#include "ranks.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define DEFAULT_WAIT 300 /* seconds */

/* ---- Life ---- */

static glcnn_status initialise(glcnn_mpi *mpi, char *error)
{
    int has_begun = 0, level;
    glcnn_status status = mpi_check(mpi, MPI_Initialized(&has_begun), "MPI_Initialized", error);
    if (status != GLCNN_SUCCESS || has_begun)
        return status;
    status = mpi_check(mpi, MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level),
                       "MPI_Init_thread", error);
    mpi->is_owner = status == GLCNN_SUCCESS;
    return status;
}

/* Messages have a communicator of their own; failures are for us to tell. */
static glcnn_status join_world(glcnn_mpi *mpi, char *error)
{
    int rank = 0, size = 0;
    glcnn_status status =
        mpi_check(mpi, MPI_Comm_dup(MPI_COMM_WORLD, &mpi->world), "MPI_Comm_dup", error);
    if (status != GLCNN_SUCCESS)
        return status;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(mpi->world, MPI_ERRORS_RETURN);
    status = mpi_check(mpi, MPI_Comm_rank(mpi->world, &rank), "MPI_Comm_rank", error);
    if (status == GLCNN_SUCCESS)
        status = mpi_check(mpi, MPI_Comm_size(mpi->world, &size), "MPI_Comm_size", error);
    mpi->rank = (uint32_t)rank;
    mpi->size = (uint32_t)size;
    return status;
}

static glcnn_status find_machine(glcnn_mpi *mpi, char *error)
{
    MPI_Comm machine;
    int rank = 0;
    glcnn_status status = mpi_check(
        mpi, MPI_Comm_split_type(mpi->world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine),
        "MPI_Comm_split_type", error);
    if (status != GLCNN_SUCCESS)
        return status;
    status = mpi_check(mpi, MPI_Comm_rank(machine, &rank), "MPI_Comm_rank", error);
    MPI_Comm_free(&machine);
    mpi->rank_on_machine = (uint32_t)rank;
    return status;
}

glcnn_status glcnn_mpi_create(const struct glcnn_mpi_parameters *parameters, glcnn_mpi **mpi,
                              char error[GLCNN_ERROR_LENGTH])
{
    if (!mpi)
        return mpi_fail(NULL, error, GLCNN_INVALID_ARGUMENT, "mpi is NULL");
    *mpi = NULL;
    glcnn_mpi *made = calloc(1, sizeof *made);
    if (!made)
        return mpi_fail(NULL, error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    if (parameters)
        made->parameters = *parameters;
    if (!(made->parameters.wait_seconds > 0))
        made->parameters.wait_seconds = DEFAULT_WAIT;
    made->world = MPI_COMM_NULL;
    made->notice = MPI_REQUEST_NULL;
    glcnn_status status = initialise(made, error);
    if (status == GLCNN_SUCCESS)
        status = join_world(made, error);
    if (status == GLCNN_SUCCESS)
        status = find_machine(made, error);
    if (status == GLCNN_SUCCESS)
        status = notice_begin(made, error);
    if (status == GLCNN_SUCCESS)
        *mpi = made;
    else
        glcnn_mpi_destroy(&made);
    return status;
}

/* After a failure MPI's own end would wait for ranks that may not be there. */
void glcnn_mpi_destroy(glcnn_mpi **mpi)
{
    if (!mpi || !*mpi)
        return;
    glcnn_mpi *old = *mpi;
    *mpi = NULL;
    double nothing = 0;
    if (!old->failed && glcnn_mpi_sum(old, &nothing, 1, NULL) == GLCNN_SUCCESS) {
        notice_end(old);
        MPI_Comm_free(&old->world);
        if (old->is_owner)
            MPI_Finalize();
    }
    reductions_free(old);
    free(old);
}

uint32_t glcnn_mpi_rank(const glcnn_mpi *mpi)
{
    return mpi->rank;
}

uint32_t glcnn_mpi_size(const glcnn_mpi *mpi)
{
    return mpi->size;
}

uint32_t glcnn_mpi_rank_on_machine(const glcnn_mpi *mpi)
{
    return mpi->rank_on_machine;
}

struct glcnn_mpi_statistics glcnn_mpi_get_statistics(const glcnn_mpi *mpi)
{
    return mpi->statistics;
}

void glcnn_mpi_set_trace(glcnn_mpi *mpi, glcnn_mpi_trace trace, void *user)
{
    mpi->trace = trace;
    mpi->trace_user = user;
}

/* ---- Sums of few numbers ---- */

/* Under way: what all ranks have. */
struct sum {
    double *all; /* [size][count] */
    struct messages messages;
};

static glcnn_status send_to_all(glcnn_mpi *mpi, struct sum *s, const double *values, size_t count,
                                char *error)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t i = 0; i < mpi->size && status == GLCNN_SUCCESS; i++) {
        if (i == mpi->rank)
            continue;
        status = messages_receive(mpi, &s->messages, i, TAG_SUM, s->all + i * count,
                                  count * sizeof *values, error);
        if (status == GLCNN_SUCCESS)
            status =
                messages_send(mpi, &s->messages, i, TAG_SUM, values, count * sizeof *values, error);
    }
    return status;
}

static void add_up(const glcnn_mpi *mpi, const struct sum *s, double *values, size_t count)
{
    memcpy(s->all + mpi->rank * count, values, count * sizeof *values);
    for (size_t i = 0; i < count; i++) {
        values[i] = 0;
        for (uint32_t n = 0; n < mpi->size; n++)
            values[i] += s->all[n * count + i];
    }
}

glcnn_status glcnn_mpi_sum(glcnn_mpi *mpi, double *values, size_t count,
                           char error[GLCNN_ERROR_LENGTH])
{
    struct sum s = {.all = malloc((mpi->size * count + 1) * sizeof *values)};
    if (!s.all)
        return mpi_fail(mpi, error, GLCNN_OUT_OF_MEMORY, "not enough memory for a sum");
    glcnn_status status = messages_create(mpi, &s.messages, error);
    if (status == GLCNN_SUCCESS)
        status = send_to_all(mpi, &s, values, count, error);
    if (status == GLCNN_SUCCESS)
        status = messages_await(mpi, &s.messages, NULL, error);
    if (status == GLCNN_SUCCESS)
        add_up(mpi, &s, values, count);
    if (status == GLCNN_SUCCESS) { /* MPI may still write what has not arrived */
        free(s.all);
        messages_free(&s.messages);
    }
    return status;
}

glcnn_status glcnn_mpi_sum_floats(glcnn_mpi *mpi, float *values, size_t count,
                                  char error[GLCNN_ERROR_LENGTH])
{
    glcnn_status status = reduction_begin(mpi, 0, values, count, error);
    return status == GLCNN_SUCCESS ? reduction_finish(mpi, 0, error) : status;
}

/* ---- The engine ---- */

static glcnn_status begin(void *user, const struct glcnn_gradient_bucket *bucket,
                          char error[GLCNN_ERROR_LENGTH])
{
    return reduction_begin(user, bucket->index, bucket->values, bucket->count, error);
}

/* What a failure leaves is found again by whoever waits. */
static void progress(void *user)
{
    reductions_advance(user, NULL);
}

/* Of a step, all of whose buckets are summed. */
static void account(glcnn_mpi *mpi, uint32_t buckets)
{
    double first = mpi->reductions[0].begun, last = first;
    for (uint32_t i = 0; i < buckets; i++) {
        const struct reduction *r = &mpi->reductions[i];
        const struct glcnn_mpi_event event = {.bucket = i,
                                              .buckets = buckets,
                                              .bytes = r->count * sizeof(float),
                                              .begun = r->begun,
                                              .done = r->done,
                                              .backward = mpi->backward_end};
        last = r->done > last ? r->done : last;
        if (mpi->trace)
            mpi->trace(mpi->trace_user, &event);
    }
    double hidden = (last < mpi->backward_end ? last : mpi->backward_end) - first;
    mpi->statistics.exchanging += last - first;
    mpi->statistics.hidden += hidden > 0 ? hidden : 0;
}

static glcnn_status finish(void *user, const struct glcnn_gradient_bucket *bucket,
                           char error[GLCNN_ERROR_LENGTH])
{
    glcnn_mpi *mpi = user;
    if (bucket->index == 0)
        mpi->backward_end = seconds_now();
    glcnn_status status = reduction_finish(mpi, bucket->index, error);
    if (status == GLCNN_SUCCESS && bucket->index + 1 == bucket->buckets)
        account(mpi, bucket->buckets);
    return status;
}

static glcnn_status sum(void *user, double *values, size_t count, char error[GLCNN_ERROR_LENGTH])
{
    return glcnn_mpi_sum(user, values, count, error);
}

struct glcnn_exchange glcnn_mpi_exchange(glcnn_mpi *mpi, uint64_t images)
{
    return (struct glcnn_exchange){.begin = begin,
                                   .finish = finish,
                                   .progress = progress,
                                   .sum = images ? sum : NULL,
                                   .images = images,
                                   .user = mpi};
}
