/* --quantise: in the last tenth of the steps the network trains as it will run in int8. Its values are rounded
 * by the ranges that "glcnn export --int8" would measure at the first of these steps; they stay, and so do the statistics
 * of batch normalisations: PyTorch's recipe, which stops its observers and freezes statistics before the end. */
#include <stdlib.h>

#include "task/int8_model.h"
#include "task/int8_ranges.h"
#include "train_session.h"

#include "base/clock.h"

#define SHARE 10 /* one step of so many is rounded */

static bool has_ranges(const glcnn_trainer *s)
{
    return s->described.bytes[SAVED_RANGES].bytes;
}

/* The number of steps is not known before --time is settled. */
static bool is_due(const glcnn_trainer *s)
{
    return s->settings.quantises && !s->settings.finds_rate && s->settings.time == 0 &&
           !has_ranges(s) && s->step < s->total &&
           s->step >= s->total - (s->total + SHARE - 1) / SHARE;
}

/* ---- Ranges ---- */

/* The first rank's are those of all: devices of several kinds differ in the last bits. */
static bool share_ranges(glcnn_trainer *s, struct glcnn_onnx_quantization *q,
                         char error[GLCNN_ERROR_LENGTH])
{
    const size_t count = 2 * q->range_count;
    double *values = calloc(count + 1, sizeof *values);
    if (!values) {
        snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
        return false;
    }
    for (size_t i = 0; ranks_leads(&s->ranks) && i < q->range_count; i++) {
        values[2 * i] = (double)q->ranges[i].least;
        values[2 * i + 1] = (double)q->ranges[i].most;
    }
    const bool good = ranks_sum(&s->ranks, values, count, error);
    for (size_t i = 0; good && i < q->range_count; i++) {
        q->ranges[i].least = (float)values[2 * i];
        q->ranges[i].most = (float)values[2 * i + 1];
    }
    free(values);
    return good;
}

/* Measures the ranges on pictures that the run trains on. */
static bool measure_ranges(glcnn_trainer *s, struct glcnn_onnx_quantization *q,
                           char error[GLCNN_ERROR_LENGTH])
{
    const uint32_t images = session_images(s, GLCNN_DATA_PART_TRAINING);
    const struct range_pictures from = {.pictures = &s->pictures,
                                        .saved = &s->described,
                                        .count = images < INT8_PICTURES ? images : INT8_PICTURES,
                                        .percentile = 100};
    if ((ranks_leads(&s->ranks) && !ranges_measure(s->device, &from, q, error)) ||
        (s->ranks.mpi && !share_ranges(s, q, error)))
        return false;
    s->ranges = ranges_write(q);
    if (!s->ranges) {
        snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
        return false;
    }
    saved_add_ranges(&s->described, s->ranges);
    events_note(
        s->events,
        "quantise: from step %zu of %zu on weights and %zu values are rounded as in int8, by "
        "their ranges on %u pictures\n",
        s->step + 1, s->total, q->range_count, from.count);
    return true;
}

/* ---- The model ---- */

glcnn_status session_round_model(glcnn_trainer *s)
{
    char error[GLCNN_ERROR_LENGTH];
    struct glcnn_onnx_quantization *q = NULL;
    if (!has_ranges(s) && !is_due(s))
        return GLCNN_SUCCESS;
    const bool good = int8_prepare(&s->model, &q, error) &&
                      (has_ranges(s) ? ranges_read(&s->described.bytes[SAVED_RANGES], q, error)
                                     : measure_ranges(s, q, error)) &&
                      int8_model_create(&s->model, q, session_loss_images(s), &s->rounded, error);
    glcnn_onnx_quantization_destroy(&q);
    return good ? GLCNN_SUCCESS : session_fail(s, error);
}

/* The best epoch of a network that does not round is not comparable: the next one is the best so far. */
glcnn_status session_quantise(glcnn_trainer *s)
{
    const double begun = seconds_now();
    if (!is_due(s))
        return GLCNN_SUCCESS;
    const glcnn_status status = session_reopen_runners(s, NULL);
    s->best = (struct best){.epoch = 0};
    session_leave_out(s, seconds_now() - begun);
    return status;
}

void session_tell_quantised(const glcnn_trainer *s)
{
    struct text text = {0};
    if (!s->settings.quantises || has_ranges(s))
        return;
    text_format(&text,
                "quantise: the training ended before its last tenth, and nothing was rounded; "
                "\"glcnn export --int8\" measures ranges\n");
    events_remark_text(s->events, &text);
}
