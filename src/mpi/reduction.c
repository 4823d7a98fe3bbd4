/* Sums of floats over all ranks: each adds up a part of its own, and gives it to the others. */
#include "ranks.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* Where the part of a rank begins. */
static size_t part_begin(const glcnn_mpi *mpi, const struct reduction *r, uint32_t rank)
{
    return (size_t)((uint64_t)r->count * rank / mpi->size);
}

static size_t part_count(const glcnn_mpi *mpi, const struct reduction *r, uint32_t rank)
{
    return part_begin(mpi, r, rank + 1) - part_begin(mpi, r, rank);
}

static int tag_of(const glcnn_mpi *mpi, const struct reduction *r)
{
    return TAG_BUCKETS + 2 * (int)((r - mpi->reductions) % MOST_BUCKETS) + (int)r->phase;
}

/* Exchanges with one other rank: parts of all for the part that is its own, and back. */
static glcnn_status exchange(glcnn_mpi *mpi, struct reduction *r, uint32_t other, char *error)
{
    size_t own = part_count(mpi, r, mpi->rank), theirs = part_count(mpi, r, other);
    float *own_part = r->values + part_begin(mpi, r, mpi->rank),
          *their_part = r->values + part_begin(mpi, r, other);
    bool gathers = r->phase == GATHERING_SHARES;
    size_t coming = (gathers ? own : theirs) * sizeof(float),
           going = (gathers ? theirs : own) * sizeof(float);
    glcnn_status status =
        messages_receive(mpi, &r->messages, other, tag_of(mpi, r),
                         gathers ? r->shares + other * own : their_part, coming, error);
    return status == GLCNN_SUCCESS ? messages_send(mpi, &r->messages, other, tag_of(mpi, r),
                                                   gathers ? their_part : own_part, going, error)
                                   : status;
}

/* Ranks begin with the one behind them, so that not all talk to the same one. */
static glcnn_status exchange_with_all(glcnn_mpi *mpi, struct reduction *r, char *error)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t i = 1; i < mpi->size && status == GLCNN_SUCCESS; i++)
        status = exchange(mpi, r, (mpi->rank + i) % mpi->size, error);
    return status;
}

/* In the order of the ranks, whenever they came. */
static void add_shares(const glcnn_mpi *mpi, struct reduction *r)
{
    size_t own = part_count(mpi, r, mpi->rank);
    float *part = r->values + part_begin(mpi, r, mpi->rank);
    for (size_t i = 0; i < own; i++) {
        double sum = 0;
        for (uint32_t n = 0; n < mpi->size; n++)
            sum += (double)(n == mpi->rank ? part[i] : r->shares[n * own + i]);
        part[i] = (float)sum;
    }
}

static glcnn_status advance(glcnn_mpi *mpi, struct reduction *r, char *error)
{
    glcnn_status status = GLCNN_SUCCESS;
    while (status == GLCNN_SUCCESS && !r->is_summed) {
        status = messages_test(mpi, &r->messages, error);
        if (status != GLCNN_SUCCESS || r->messages.open)
            break;
        if (r->phase == GATHERING_SHARES) {
            add_shares(mpi, r);
            r->phase = SPREADING_SUMS;
            status = exchange_with_all(mpi, r, error);
        } else {
            r->is_summed = true;
            r->done = seconds_now();
        }
    }
    return status;
}

glcnn_status reductions_advance(glcnn_mpi *mpi, char *error)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = mpi->first_open; i < mpi->reduction_count && status == GLCNN_SUCCESS; i++)
        status = advance(mpi, &mpi->reductions[i], error);
    while (mpi->first_open < mpi->reduction_count && mpi->reductions[mpi->first_open].is_summed)
        mpi->first_open++;
    return status;
}

/* ---- Life ---- */

static glcnn_status add_reduction(glcnn_mpi *mpi, char *error)
{
    struct reduction *more =
        realloc(mpi->reductions, (mpi->reduction_count + 1) * sizeof *mpi->reductions);
    if (!more)
        return mpi_fail(mpi, error, GLCNN_OUT_OF_MEMORY, "not enough memory for a bucket");
    mpi->reductions = more;
    struct reduction *r = &more[mpi->reduction_count];
    *r = (struct reduction){.is_summed = true};
    glcnn_status status = messages_create(mpi, &r->messages, error);
    mpi->reduction_count += status == GLCNN_SUCCESS;
    return status;
}

static glcnn_status make_room(glcnn_mpi *mpi, struct reduction *r, char *error)
{
    size_t wanted = mpi->size * part_count(mpi, r, mpi->rank);
    if (wanted <= r->capacity)
        return GLCNN_SUCCESS;
    free(r->shares);
    r->shares = malloc(wanted * sizeof *r->shares);
    r->capacity = r->shares ? wanted : 0;
    return r->shares ? GLCNN_SUCCESS
                     : mpi_fail(mpi, error, GLCNN_OUT_OF_MEMORY, "not enough memory for a bucket");
}

void reductions_free(glcnn_mpi *mpi)
{
    for (size_t i = 0; i < mpi->reduction_count; i++) {
        free(mpi->reductions[i].shares);
        messages_free(&mpi->reductions[i].messages);
    }
    free(mpi->reductions);
}

/* ---- One of them ---- */

glcnn_status reduction_begin(glcnn_mpi *mpi, size_t index, float *values, size_t count, char *error)
{
    glcnn_status status = GLCNN_SUCCESS;
    while (mpi->reduction_count <= index && status == GLCNN_SUCCESS)
        status = add_reduction(mpi, error);
    if (status != GLCNN_SUCCESS)
        return status;
    struct reduction *r = &mpi->reductions[index];
    r->values = values;
    r->count = count;
    r->begun = seconds_now();
    status = make_room(mpi, r, error);
    if (status != GLCNN_SUCCESS)
        return status;
    r->phase = GATHERING_SHARES;
    r->is_summed = false;
    if (index < mpi->first_open)
        mpi->first_open = index;
    return exchange_with_all(mpi, r, error);
}

glcnn_status reduction_finish(glcnn_mpi *mpi, size_t index, char *error)
{
    struct reduction *r = &mpi->reductions[index];
    return messages_await(mpi, &r->messages, &r->is_summed, error);
}
