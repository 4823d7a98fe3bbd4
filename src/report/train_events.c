/* What glcnn train --tensorboard writes: numbers of every step, and pictures of every epoch. */
#include <math.h>
#include <stdio.h>

#include "event_file.h"
#include "report_collect.h"
#include "train_observers.h"

#define MATRIX_MAX  64 /* classes of a matrix that is drawn */
#define MATRIX_SIDE 256

/* A training step measures no more than the loss, where that needs whole answers. */
static void write_numbers(struct event_file *file, const char *measure,
                          const struct train_log_line *line)
{
    char training[64], validation[64];
    const struct event_number numbers[] = {{"loss/training", line->loss},
                                           {"learning_rate", line->learning_rate},
                                           {training, line->accuracy},
                                           {"loss/validation", line->validation_loss},
                                           {validation, line->validation_accuracy}};
    struct event_number known[EVENT_NUMBERS_MAX];
    size_t count = 0;
    snprintf(training, sizeof training, "%s/training", measure);
    snprintf(validation, sizeof validation, "%s/validation", measure);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!isnan(numbers[i].value))
            known[count++] = numbers[i];
    event_file_numbers(file, line->step, known, count);
}

/* White is none of a row, dark is all of it: blue for what is right, orange for mistakes. */
static void paint_cell(const struct score *score, uint32_t of, uint32_t as, uint8_t pixel[3])
{
    static const uint8_t full[2][3] = {{209, 89, 10}, {31, 95, 168}};
    const double *row = score->sums + (size_t)of * score->form.classes;
    double all = 0;
    for (uint32_t k = 0; k < score->form.classes; k++)
        all += row[k];
    double share = all > 0 ? row[as] / all : 0;
    for (int c = 0; c < 3; c++)
        pixel[c] = (uint8_t)(255 - share * (255 - full[of == as][c]) + 0.5);
}

static bool draw_matrix(const struct score *score, struct shown *shown)
{
    const uint32_t cell = MATRIX_SIDE / score->form.classes, side = cell * score->form.classes;
    if (!shown_blank(side, side, 3, shown))
        return false;
    for (uint32_t y = 0; y < side; y++)
        for (uint32_t x = 0; x < side; x++)
            paint_cell(score, y / cell, x / cell, shown->bytes + 3 * ((size_t)y * side + x));
    return true;
}

static bool write_matrix(glcnn_observers *o, uint64_t step)
{
    const glcnn_trainer *s = o->session;
    struct shown matrix;
    if (!s->score.task->counted || s->score.form.classes > MATRIX_MAX)
        return true;
    bool good = draw_matrix(&s->score, &matrix);
    if (good)
        event_file_picture(&o->events, step, "confusion", &matrix);
    shown_free(&matrix);
    return good;
}

/* Those that the epoch began with, on one sheet. */
static bool write_samples(glcnn_observers *o, uint64_t step, char error[GLCNN_ERROR_LENGTH])
{
    const glcnn_trainer *s = o->session;
    struct report_picture samples[REPORT_SAMPLES] = {{.label = 0}};
    struct shown pictures[REPORT_SAMPLES], sheet = {.bytes = NULL};
    uint32_t count;
    bool good = train_observers_read_samples(s, (size_t)step - s->steps, samples, &count, error);
    for (uint32_t i = 0; i < count && good; i++)
        pictures[i] = samples[i].shown;
    if (good && shown_sheet(pictures, count, &sheet))
        event_file_picture(&o->events, step, "samples", &sheet);
    else if (good) {
        snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
        good = false;
    }
    shown_free(&sheet);
    report_free_pictures(samples, REPORT_SAMPLES);
    return good;
}

void train_observers_write_events(glcnn_observers *o, const struct train_log_line *line)
{
    const glcnn_trainer *s = o->session;
    char error[GLCNN_ERROR_LENGTH] = "not enough memory";
    bool good = true;
    if (!s->settings.tensorboard || !ranks_leads(&s->ranks) ||
        train_observers_lack(o, OBSERVER_EVENTS))
        return;
    write_numbers(&o->events, s->settings.task->measure, line);
    if (!isnan(line->validation_loss))
        good = write_matrix(o, line->step) && write_samples(o, line->step, error);
    if (o->events.error)
        good = event_file_close(&o->events, error);
    if (!good)
        train_observers_leave_out(o, OBSERVER_EVENTS, error);
}
