/* Messages between ranks, and the time that waiting for them may take. */
#include "ranks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define SHORTEST_SLEEP 20000 /* nanoseconds: ranks may have to share a processor */
#define LONGEST_SLEEP  1000000
#define WAIT_SHARE     16  /* of the time waited so far */
#define FAREWELL       3.0 /* seconds for others to hear of a failure */

/* ---- Failures ---- */

glcnn_status mpi_fail(glcnn_mpi *mpi, char *error, glcnn_status status, const char *format, ...)
{
    char text[GLCNN_ERROR_LENGTH];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (mpi && !mpi->failed)
        memcpy(mpi->failure, text, sizeof text);
    if (mpi)
        mpi->failed = true;
    if (error)
        memcpy(error, text, sizeof text);
    return status;
}

static glcnn_status tell_failure(const glcnn_mpi *mpi, char *error)
{
    if (error)
        snprintf(error, GLCNN_ERROR_LENGTH, "%s",
                 mpi->failure[0] ? mpi->failure : "this rank has failed before");
    return GLCNN_IO_ERROR;
}

glcnn_status mpi_check(glcnn_mpi *mpi, int code, const char *call, char *error)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code == MPI_SUCCESS)
        return GLCNN_SUCCESS;
    MPI_Error_string(code, text, &length);
    return mpi_fail(mpi, error, GLCNN_IO_ERROR, "%s: %.300s", call, text);
}

glcnn_status notice_begin(glcnn_mpi *mpi, char *error)
{
    return mpi_check(mpi,
                     MPI_Irecv(mpi->notice_text, GLCNN_ERROR_LENGTH, MPI_CHAR, MPI_ANY_SOURCE,
                               TAG_FAILURE, mpi->world, &mpi->notice),
                     "MPI_Irecv", error);
}

void notice_end(glcnn_mpi *mpi)
{
    if (mpi->notice == MPI_REQUEST_NULL)
        return;
    MPI_Cancel(&mpi->notice);
    MPI_Wait(&mpi->notice, MPI_STATUS_IGNORE);
}

static glcnn_status hear_notice(glcnn_mpi *mpi, char *error)
{
    int heard = 0;
    MPI_Status from;
    if (mpi->notice == MPI_REQUEST_NULL)
        return GLCNN_SUCCESS;
    glcnn_status status = mpi_check(mpi, MPI_Test(&mpi->notice, &heard, &from), "MPI_Test", error);
    if (status != GLCNN_SUCCESS || !heard)
        return status;
    mpi->notice_text[GLCNN_ERROR_LENGTH - 1] = 0;
    return mpi_fail(mpi, error, GLCNN_IO_ERROR, "rank %d of %u has failed: %.400s", from.MPI_SOURCE,
                    mpi->size, mpi->notice_text);
}

/* ---- Messages ---- */

glcnn_status messages_create(const glcnn_mpi *mpi, struct messages *messages, char *error)
{
    *messages = (struct messages){.requests = malloc(2 * mpi->size * sizeof(MPI_Request))};
    if (!messages->requests)
        return mpi_fail(NULL, error, GLCNN_OUT_OF_MEMORY, "not enough memory for messages");
    for (uint32_t i = 0; i < 2 * mpi->size; i++)
        messages->requests[i] = MPI_REQUEST_NULL;
    return GLCNN_SUCCESS;
}

void messages_free(struct messages *messages)
{
    free(messages->requests);
    messages->requests = NULL;
}

glcnn_status messages_receive(glcnn_mpi *mpi, struct messages *messages, uint32_t from, int tag,
                              void *bytes, size_t size, char *error)
{
    messages->open += size > 0;
    return size == 0 ? GLCNN_SUCCESS
                     : mpi_check(mpi,
                                 MPI_Irecv(bytes, (int)(size / 4), MPI_UINT32_T, (int)from, tag,
                                           mpi->world, &messages->requests[from]),
                                 "MPI_Irecv", error);
}

glcnn_status messages_send(glcnn_mpi *mpi, struct messages *messages, uint32_t to, int tag,
                           const void *bytes, size_t size, char *error)
{
    messages->open += size > 0;
    mpi->statistics.bytes_sent += size;
    return size == 0 ? GLCNN_SUCCESS
                     : mpi_check(mpi,
                                 MPI_Isend(bytes, (int)(size / 4), MPI_UINT32_T, (int)to, tag,
                                           mpi->world, &messages->requests[mpi->size + to]),
                                 "MPI_Isend", error);
}

glcnn_status messages_test(glcnn_mpi *mpi, struct messages *messages, char *error)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t i = 0; i < 2 * mpi->size && status == GLCNN_SUCCESS; i++) {
        int done = 0;
        if (messages->requests[i] == MPI_REQUEST_NULL)
            continue;
        status = mpi_check(mpi, MPI_Test(&messages->requests[i], &done, MPI_STATUS_IGNORE),
                           "MPI_Test", error);
        messages->open -= done != 0;
    }
    return status;
}

/* ---- Waiting ---- */

static void back_off(double waited)
{
    double length = 1e9 * waited / WAIT_SHARE;
    nanosleep(&(struct timespec){0, length < SHORTEST_SLEEP  ? SHORTEST_SLEEP
                                    : length < LONGEST_SLEEP ? (long)length
                                                             : LONGEST_SLEEP},
              NULL);
}

/* The first rank whose message has not come, or has not gone. */
static uint32_t missing_rank(const glcnn_mpi *mpi, const struct messages *messages)
{
    uint32_t i = 0;
    while (i < 2 * mpi->size && messages->requests[i] == MPI_REQUEST_NULL)
        i++;
    return i % mpi->size;
}

static glcnn_status give_up(glcnn_mpi *mpi, const struct messages *messages, char *error)
{
    return mpi_fail(mpi, error, GLCNN_IO_ERROR,
                    "nothing was heard of rank %u of %u for %g s: it has died, hangs, or its "
                    "machine cannot be reached",
                    missing_rank(mpi, messages), mpi->size, mpi->parameters.wait_seconds);
}

glcnn_status messages_await(glcnn_mpi *mpi, struct messages *messages, const bool *is_done,
                            char *error)
{
    const struct glcnn_mpi_parameters *p = &mpi->parameters;
    double start = seconds_now(), waited = 0;
    glcnn_status status;
    if (mpi->failed)
        return tell_failure(mpi, error);
    while ((status = reductions_advance(mpi, error)) == GLCNN_SUCCESS &&
           (status = messages_test(mpi, messages, error)) == GLCNN_SUCCESS &&
           (messages->open || (is_done && !*is_done))) {
        status = hear_notice(mpi, error);
        if (status == GLCNN_SUCCESS && waited > p->wait_seconds)
            status = give_up(mpi, messages, error);
        if (status != GLCNN_SUCCESS)
            break;
        if (p->waits)
            p->waits(p->user, waited, missing_rank(mpi, messages));
        back_off(waited);
        waited = seconds_now() - start;
    }
    mpi->statistics.waited += waited;
    return status;
}

/* ---- Telling of a failure ---- */

static bool say_to_all(glcnn_mpi *mpi, const char *text, MPI_Request *requests)
{
    bool good = true;
    for (uint32_t i = 0; i < mpi->size; i++) {
        requests[i] = MPI_REQUEST_NULL;
        if (i != mpi->rank && good)
            good = MPI_Issend(text, GLCNN_ERROR_LENGTH, MPI_CHAR, (int)i, TAG_FAILURE, mpi->world,
                              &requests[i]) == MPI_SUCCESS;
    }
    return good;
}

/* Sends that nobody takes are left as they are: the process ends. */
void glcnn_mpi_fail(glcnn_mpi *mpi, const char *sentence)
{
    if (!mpi || mpi->failed || mpi->size < 2)
        return;
    static char text[GLCNN_ERROR_LENGTH]; /* outlives sends that are not taken */
    MPI_Request *requests = malloc(mpi->size * sizeof(MPI_Request));
    double start = seconds_now();
    int done = 0;
    mpi->failed = true;
    snprintf(text, sizeof text, "%s", sentence ? sentence : "");
    if (!requests)
        return;
    bool good = say_to_all(mpi, text, requests);
    while (good && !done && seconds_now() - start < FAREWELL) {
        good = MPI_Testall((int)mpi->size, requests, &done, MPI_STATUSES_IGNORE) == MPI_SUCCESS;
        back_off(0);
    }
    free(requests);
}
