/* Regress: real numbers for each picture.
 *
 * The network learns numbers of mean 0 and deviation 1; a scale and a shift behind the layer that
 * makes them, both fixed, bring them to the units of the data, so that a learning rate suits any. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "class_match.h"
#include "model.h"
#include "score.h"

/* ---- The network ---- */

/* A shift that is fixed, behind a scale. */
static bool has_units(glcnn_filter_node *last)
{
    const struct glcnn_neuron_parameters *p =
        last ? glcnn_neuron(glcnn_filter_node_kernel(last)) : NULL;
    return p && p->neuron.type == GLCNN_NEURON_TYPE_SHIFT &&
           glcnn_filter_node_training_style(last) == GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE;
}

static bool fix(glcnn_image_node *result, const char *label)
{
    glcnn_filter_node *filter = glcnn_image_node_filter(result);
    return filter && glcnn_filter_node_set_label(filter, label) == GLCNN_SUCCESS &&
           glcnn_filter_node_set_training_style(filter, GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE) ==
               GLCNN_SUCCESS;
}

static bool add_units(struct model *model)
{
    glcnn_image_node *scaled = glcnn_neuron_scale_node(model->scores, NULL, 0);
    model->probabilities = glcnn_neuron_shift_node(scaled, NULL, 0);
    return fix(scaled, TASK_UNITS "scale") && fix(model->probabilities, TASK_UNITS "shift");
}

static bool finish(struct model *model)
{
    glcnn_filter_node *last = glcnn_image_node_filter(model->scores), *scale;
    if (has_units(last))
        model->probabilities = model->scores;
    else if (!add_units(model))
        return false;
    last = glcnn_image_node_filter(model->probabilities);
    scale = glcnn_image_node_filter(glcnn_filter_node_source(last, 0));
    model->scores = glcnn_filter_node_source(scale, 0);
    model->units[0] = glcnn_filter_node_kernel(scale);
    model->units[1] = glcnn_filter_node_kernel(last);
    return true;
}

/* Numbers in units of the data, and before. */
static uint32_t find_ends(const struct model *model, struct task_end ends[TASK_ENDS],
                          char error[GLCNN_ERROR_LENGTH])
{
    (void)error;
    ends[0] = (struct task_end){.node = model->probabilities};
    ends[1] = (struct task_end){.node = model->scores, .is_inner = true};
    snprintf(ends[0].name, sizeof ends[0].name, "%s", task_of(&model->form)->output);
    snprintf(ends[1].name, sizeof ends[1].name, "scores");
    return 2;
}

static bool fill(glcnn_image_node *unit, const float *values, uint32_t count)
{
    glcnn_kernel *kernel = glcnn_filter_node_kernel(glcnn_image_node_filter(unit));
    return glcnn_kernel_set_vector(kernel, "neuron_data", values, count) == GLCNN_SUCCESS;
}

static glcnn_image_node *join_ends(const struct form *form, glcnn_image_node *const ends[],
                                   uint32_t count, const float *units)
{
    struct model joined = {.scores = count == 1 ? ends[0] : NULL};
    if (!joined.scores || !units || !add_units(&joined))
        return NULL;
    glcnn_image_node *scaled =
        glcnn_filter_node_source(glcnn_image_node_filter(joined.probabilities), 0);
    return fill(scaled, units, form->classes) &&
                   fill(joined.probabilities, units + form->classes, form->classes)
               ? joined.probabilities
               : NULL;
}

/* Of a part that ends with the scores: the same kernels. */
static glcnn_image_node *share_units(const struct model *part)
{
    glcnn_image_node *image = part->scores;
    for (int i = 0; i < 2; i++)
        image = glcnn_filter_node_result(
            glcnn_filter_node_create_with_kernel(part->network, part->units[i], &image, 1));
    return image;
}

/* The mean over numbers and pictures. */
static bool add_mean(struct model *model, uint32_t batch, glcnn_loss_type type)
{
    return model_add_loss(model, model->scores, model_add_labels(model), NULL, type,
                          1.0 / batch / model->form.classes);
}

static bool add_squared(struct model *model, uint32_t batch)
{
    return add_mean(model, batch, GLCNN_LOSS_TYPE_MEAN_SQUARED_ERROR);
}

static bool add_huber(struct model *model, uint32_t batch)
{
    return add_mean(model, batch, GLCNN_LOSS_TYPE_HUBER);
}

static bool add_absolute(struct model *model, uint32_t batch)
{
    return add_mean(model, batch, GLCNN_LOSS_TYPE_MEAN_ABSOLUTE_ERROR);
}

static const struct task_loss losses[] = {
    {"squared", "(y - t)^2 in units of deviations", add_squared},
    {"huber", "the same below an error of 1, half of it, and linear above", add_huber},
    {"absolute", "|y - t|", add_absolute},
    {NULL, NULL, NULL}};

/* ---- Batches ---- */

static bool write_labels(struct runner *runner, const struct glcnn_data_batch *batch)
{
    const uint32_t count = runner->form.classes;
    const size_t all = (size_t)count * runner->batch;
    const float *deviations = runner_units(runner), *means = deviations + count;
    float *made = deviations ? malloc(all * sizeof *made) : NULL;
    for (size_t i = 0; made && i < all; i++)
        made[i] = (batch->numbers[i] - means[i % count]) / deviations[i % count];
    bool good = made && glcnn_image_write_bytes(runner->labels[0], NULL, made,
                                                all * sizeof *made) == GLCNN_SUCCESS;
    free(made);
    return good;
}

/* ---- Scores ---- */

#define WORDS 2

/* Of each number, over pictures. The bits of a number, as two words w of 16, have sums that are
 * exact, in any order, of up to 2^21 pictures. */
struct sums {
    double wanted, wanted_squares; /* less what is the mean of the training pictures */
    double squares, absolute;      /* of what is wrong */
    double words[WORDS], word_squares[WORDS];
};

static struct sums *sums_of(const struct score *score, size_t number)
{
    return (struct sums *)(void *)score->sums + number;
}

static size_t sums(const struct form *form)
{
    return form->classes * (sizeof(struct sums) / sizeof(double));
}

static void add_bits(struct score *score, struct sums *s, float wanted)
{
    uint32_t bits;
    wanted = wanted == 0 ? 0 : wanted; /* not -0 */
    memcpy(&bits, &wanted, sizeof bits);
    for (int i = 0; i < WORDS; i++) {
        const double w = bits >> 16 * i & 0xffff;
        score_count(score, &s->words[i], w);
        score_count(score, &s->word_squares[i], w * w);
    }
}

/* All are the same: only then is n sum w^2 = (sum w)^2, by Cauchy and Schwarz. Both sides are modulo
 * 2^64. */
static bool is_constant(const struct sums *s, uint64_t n)
{
    for (int i = 0; i < WORDS; i++) {
        const uint64_t sum = (uint64_t)s->words[i];
        if (n * (uint64_t)s->word_squares[i] != sum * sum)
            return false;
    }
    return true;
}

static void add(struct score *score, const float *found, const struct glcnn_data_batch *batch,
                uint32_t n)
{
    const uint32_t count = score->form.classes;
    const float *wanted = batch->numbers + (size_t)n * count;
    double loss = 0;
    for (uint32_t k = 0; k < count; k++) {
        struct sums *s = sums_of(score, k);
        const double w = (double)wanted[k], wrong = (double)found[k] - w;
        const double unit = score->units ? (double)score->units[k] : 1;
        const double moved = w - (score->units ? (double)score->units[count + k] : 0);
        add_bits(score, s, wanted[k]);
        score_count(score, &s->wanted, moved);
        score_count(score, &s->wanted_squares, moved * moved);
        score_count(score, &s->squares, wrong * wrong);
        score_count(score, &s->absolute, fabs(wrong));
        loss += wrong / unit * (wrong / unit);
    }
    score->loss += loss / count;
}

/* 1 - what is wrong to the variance; NaN where all pictures have the same number. */
static double r2_of(const struct score *score, size_t number)
{
    const struct sums *s = sums_of(score, number);
    const double n = (double)score->count, variance = s->wanted_squares - s->wanted * s->wanted / n;
    return is_constant(s, score->count) || !(variance > 0) ? NAN : 1 - s->squares / variance;
}

/* The mean over numbers that differ. */
static double measured(const struct score *score)
{
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t k = 0; k < score->form.classes; k++) {
        const double r2 = r2_of(score, k);
        sum += isnan(r2) ? 0 : r2;
        count += isnan(r2) ? 0 : 1;
    }
    return count > 0 ? sum / count : NAN;
}

static bool measure_numbers(const struct score *score, double *measures, double *counts)
{
    for (uint32_t k = 0; k < score->form.classes; k++) {
        measures[k] = r2_of(score, k);
        counts[k] = (double)score->count;
    }
    return true;
}

static const struct task_parts parts = {.name = "number",
                                        .measure = "R2",
                                        .counted = "pictures",
                                        .count = task_count_classes,
                                        .measured = measure_numbers};

static double mean_absolute(const struct score *score, size_t number)
{
    return sums_of(score, number)->absolute / (double)score->count;
}

/* Numbers that are in other units than those that the network learned. */
static bool doubts(const struct score *score, const char *const *names,
                   char text[GLCNN_ERROR_LENGTH])
{
    const uint32_t count = score->form.classes;
    const double n = (double)score->count;
    for (uint32_t k = 0; k < count && score->units && n > 1; k++) {
        const struct sums *s = sums_of(score, k);
        const double moved = s->wanted / n, variance = s->wanted_squares / n - moved * moved;
        const struct unit has = {(double)score->units[k], (double)score->units[count + k]},
                          is = {sqrt(fmax(variance, 0)), has.mean + moved};
        if (!unit_is_other(&has, &is))
            continue;
        snprintf(text, GLCNN_ERROR_LENGTH,
                 "\"%.60s\" of the data has the mean %.4g and the deviation %.4g, and the network "
                 "learned it with %.4g and %.4g: is it in another unit?",
                 names[k], is.mean, is.deviation, has.mean, has.deviation);
        return true;
    }
    return false;
}

static void print(const struct score *score, const char *const *names, struct text *text)
{
    uint32_t constant = 0;
    text_show(text, "\n%-24s %10s  %s\n", "number", "R2", "mean absolute error");
    for (uint32_t k = 0; k < score->form.classes; k++) {
        char r2[TASK_MEASURED];
        text_show(text, "%-24.24s %10s  %.6g\n", names[k],
                  task_write(score->task, r2_of(score, k), r2), mean_absolute(score, k));
        constant += isnan(r2_of(score, k)) ? 1 : 0;
    }
    if (constant > 0)
        text_show(
            text,
            "\nno spread: a number that is the same for all pictures has no R2, and counts in no "
            "mean\n");
}

static void describe(const struct score *score, const char *const *names, cJSON *object)
{
    cJSON *numbers = cJSON_AddArrayToObject(object, "numbers");
    for (uint32_t k = 0; k < score->form.classes; k++) {
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddStringToObject(entry, "name", names[k]);
        cJSON_AddNumberToObject(entry, "R2", r2_of(score, k));
        cJSON_AddNumberToObject(entry, "mean_absolute_error", mean_absolute(score, k));
        cJSON_AddNumberToObject(entry, "root_mean_squared_error",
                                sqrt(sums_of(score, k)->squares / (double)score->count));
        cJSON_AddItemToArray(numbers, entry);
    }
    cJSON_AddNumberToObject(object, "count", (double)score->count);
    cJSON_AddNumberToObject(object, "R2", score_measure(score));
    cJSON_AddNumberToObject(object, "loss", score_loss(score));
}

/* ---- Reports ---- */

/* The number that is the most wrong, in units of its deviation: which, what was said, what is true. */
static bool judge(const struct score *score, const float *found,
                  const struct glcnn_data_batch *batch, uint32_t n, double numbers[MISTAKE_NUMBERS])
{
    const uint32_t count = score->form.classes;
    const float *wanted = batch->numbers + (size_t)n * count;
    double most = -1;
    for (uint32_t k = 0; k < count; k++) {
        const double unit = score->units ? (double)score->units[k] : 1;
        const double wrong = fabs((double)found[k] - (double)wanted[k]) / unit;
        if (wrong <= most)
            continue;
        most = wrong;
        numbers[0] = k;
        numbers[1] = (double)found[k];
        numbers[2] = (double)wanted[k];
    }
    return true;
}

static void remark(const double numbers[MISTAKE_NUMBERS], const char *const *names,
                   struct remark *r)
{
    const char *name = names[(uint32_t)numbers[0]];
    snprintf(r->said, sizeof r->said, "said %.150s %.4g", name, numbers[1]);
    snprintf(r->is, sizeof r->is, "is %.150s %.4g", name, numbers[2]);
}

/* ---- Answers ---- */

static void tell(const struct answer *a)
{
    cJSON *numbers = a->object ? cJSON_AddObjectToObject(a->object, "numbers") : NULL;
    for (uint32_t k = 0; k < a->form->classes; k++)
        if (numbers)
            cJSON_AddNumberToObject(numbers, a->names[k], (double)a->values[k]);
        else
            text_show(a->text, "%s %s %.6g\n", a->picture, a->names[k], (double)a->values[k]);
}

const struct task task_regress = {
    .name = "regress",
    .text = "real numbers for each picture",
    .words =
        "  regress    real numbers, of .npy labels, a CSV's column, or a CSV that names pictures: squared, huber or "
        "absolute, in units of the numbers' deviations\n",
    .measure = "R2",
    .nothing = "no spread",
    .classes = "numbers",
    .output = "numbers",
    .gives = "the numbers, in units of the data",
    .targets = GLCNN_DATA_TARGETS_NUMBERS,
    .begins_with = "classify",
    .keeps_count = true,
    .build = net_classify,
    .finish = finish,
    .find_ends = find_ends,
    .join_ends = join_ends,
    .answer = share_units,
    .losses = losses,
    .labels = task_row_labels,
    .write_labels = write_labels,
    .values = task_row_values,
    .sums = sums,
    .add = add,
    .measured = measured,
    .doubts = doubts,
    .print = print,
    .describe = describe,
    .parts = &parts,
    .explains = "1 where all numbers are right, 0 where they are no "
                "better than the mean of all pictures",
    .judge = judge,
    .remark = remark,
    .tell = tell};
