/* Mirrored pictures. */
#include "flip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t values_of(const struct runner *runner)
{
    return runner->values * runner->batch;
}

/* Of other tasks the answer would have to be mirrored too. */
bool flip_begin(const struct runner *runner, struct flip *flip, char error[GLCNN_ERROR_LENGTH])
{
    if (!runner->task->is_one_class) {
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "--flip needs a network that classifies; this one is to %s", runner->task->name);
        return false;
    }
    snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
    const struct form *form = &runner->form;
    const size_t pixels = (size_t)form->width * form->height * runner->batch;
    flip->pictures = malloc(pixels * form->channels * sizeof(float));
    flip->results = malloc(values_of(runner) * sizeof *flip->results);
    return flip->pictures && flip->results;
}

void flip_end(struct flip *flip)
{
    free(flip->pictures);
    free(flip->results);
    *flip = (struct flip){.pictures = NULL};
}

/* Rows of interleaved pixels, each of `size` bytes. */
static void mirror(const char *from, const struct form *form, size_t count, size_t size, char *to)
{
    const size_t row = form->width * size;
    for (size_t y = 0; y < count * form->height; y++)
        for (size_t x = 0; x < form->width; x++)
            memcpy(to + y * row + x * size, from + y * row + (form->width - 1 - x) * size, size);
}

static bool run_mirrored(struct flip *flip, struct runner *runner,
                         const struct glcnn_data_batch *batch)
{
    struct glcnn_data_batch mirrored = *batch;
    const struct form *form = &runner->form;
    if (batch->bytes) {
        mirror((const char *)batch->bytes, form, batch->count, form->channels, flip->pictures);
        mirrored.bytes = flip->pictures;
    } else {
        mirror((const char *)batch->floats, form, batch->count, form->channels * sizeof(float),
               flip->pictures);
        mirrored.floats = flip->pictures;
    }
    return runner_run_batch(runner, &mirrored, false, flip->results);
}

bool flip_run(struct flip *flip, struct runner *runner, const struct glcnn_data_batch *batch,
              float *result)
{
    if (!runner_run_batch(runner, batch, false, result))
        return false;
    if (!flip->pictures)
        return true;
    if (!run_mirrored(flip, runner, batch))
        return false;
    for (size_t i = 0; i < values_of(runner); i++)
        result[i] = (result[i] + flip->results[i]) / 2;
    return true;
}
