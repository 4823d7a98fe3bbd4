/* The speed of a device at what it is to train. */
#include <stdio.h>
#include <stdlib.h>

#include "train_session.h"

#include "base/clock.h"

#define STEPS 4 /* that are timed; one before them compiles */

/* A batch of zeros with labels of any kind, and room for its losses. */
struct zeros {
    uint32_t *labels;
    uint8_t *masks;
    float *images, *numbers, *losses;
};

static bool make_zeros(const struct form *form, uint32_t count, struct zeros *zeros)
{
    const size_t pixels = (size_t)form->width * form->height;
    zeros->images = calloc(count * pixels, form->channels * sizeof *zeros->images);
    zeros->labels = calloc(count, sizeof *zeros->labels);
    zeros->masks = calloc(count, pixels);
    zeros->numbers = calloc(count, form->classes * sizeof *zeros->numbers);
    zeros->losses = calloc(count, sizeof *zeros->losses);
    return zeros->images && zeros->labels && zeros->masks && zeros->numbers && zeros->losses;
}

static void free_zeros(struct zeros *zeros)
{
    free(zeros->images);
    free(zeros->labels);
    free(zeros->masks);
    free(zeros->numbers);
    free(zeros->losses);
}

static bool time_steps(struct runner *runner, uint32_t count, double *speed)
{
    struct zeros zeros;
    double start = 0;
    bool good = make_zeros(&runner->form, count, &zeros);
    const struct glcnn_data_batch labels = {
        .count = count, .labels = zeros.labels, .masks = zeros.masks, .numbers = zeros.numbers};
    for (int i = 0; i <= STEPS && good; i++) {
        good = runner_run(runner, zeros.images, &labels, zeros.losses);
        start = i == 0 ? seconds_now() : start;
    }
    *speed = STEPS * count / (seconds_now() - start);
    free_zeros(&zeros);
    return good;
}

bool session_measure(const glcnn_trainer *s, double *speed, char error[GLCNN_ERROR_LENGTH])
{
    struct layers layers;
    struct model model = {.network = NULL};
    struct runner runner = {.graph = NULL};
    bool made = session_make_model(s, false, &model, &layers, error);
    bool good = made && session_make_trainer(s, &model, s->settings.memory, &runner) &&
                time_steps(&runner, s->ranks.share, speed);
    if (made && !good)
        snprintf(error, GLCNN_ERROR_LENGTH, "%s", model_failure(s->device));
    runner_destroy(&runner);
    model_destroy(&model);
    return good;
}
