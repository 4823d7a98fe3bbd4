/* Classify: one class for each picture. */
#include <math.h>
#include <stdio.h>

#include "confusion.h"
#include "metrics.h"
#include "model.h"
#include "score.h"
#include "network.h"

/* ---- The network ---- */

static bool add_cross_entropy(struct model *model, uint32_t batch)
{
    return model_add_loss(model, model->scores, model_add_labels(model), NULL,
                          GLCNN_LOSS_TYPE_SOFT_MAX_CROSS_ENTROPY, 1.0 / batch);
}

static const struct task_loss losses[] = {{"cross-entropy", "of the soft max", add_cross_entropy},
                                          {NULL, NULL, NULL}};

/* ---- Batches ---- */

static bool write_targets(struct runner *runner, const struct glcnn_data_batch *batch)
{
    const size_t size = sizeof *runner->rows * runner->batch * runner->targets->classes;
    targets_write(runner->targets, batch->labels, runner->mix ? runner->mix->shares : NULL,
                  runner->batch, runner->rows);
    return glcnn_image_write_bytes(runner->labels[0], NULL, runner->rows, size) == GLCNN_SUCCESS;
}

static bool write_labels(struct runner *runner, const struct glcnn_data_batch *batch)
{
    if (runner->targets)
        return write_targets(runner, batch);
    return glcnn_image_write_classes(runner->labels[0], NULL, batch->labels, runner->batch) ==
           GLCNN_SUCCESS;
}

static uint32_t count_right(const float *scores, const struct form *form, const uint32_t *classes,
                            uint32_t count)
{
    uint32_t right = 0;
    for (size_t n = 0; n < count; n++)
        right += network_best(scores + n * form->classes, form->classes) == classes[n];
    return right;
}

/* ---- Scores ---- */

/* The confusion matrix, and those of metrics.h. */
static size_t sums(const struct form *form)
{
    return (size_t)form->classes * form->classes + METRICS_SUMS;
}

static double *metrics_of(const struct score *score)
{
    return score->sums + (size_t)score->form.classes * score->form.classes;
}

static void add(struct score *score, const float *row, const struct glcnn_data_batch *batch,
                uint32_t n)
{
    const uint32_t classes = score->form.classes, label = batch->labels[n];
    score->loss += score_cross_entropy(row[label]);
    score_count(score, &score->sums[(size_t)label * classes + network_best(row, classes)], 1);
    metrics_add(metrics_of(score), row, classes, label);
}

static double measured(const struct score *score)
{
    double right = 0;
    for (size_t k = 0; k < score->form.classes; k++)
        right += score->sums[k * score->form.classes + k];
    return right / (double)score->count;
}

static struct confusion confusion_of(const struct score *score)
{
    return (struct confusion){score->form.classes, score->sums};
}

static void print(const struct score *score, const char *const *names, struct text *text)
{
    const struct confusion c = confusion_of(score);
    confusion_print(&c, names, text);
    metrics_print(metrics_of(score), &c, names, text);
}

/* The share of the class that has the most pictures. */
static double chance(const struct score *score)
{
    const struct confusion c = confusion_of(score);
    double most = 0;
    for (uint32_t k = 0; k < c.classes; k++)
        most = fmax(most, (double)confusion_count(&c, k));
    return most / (double)score->count;
}

static bool measure_classes(const struct score *score, double *measures, double *counts)
{
    const struct confusion c = confusion_of(score);
    for (uint32_t k = 0; k < c.classes; k++) {
        const struct confusion_tally t = confusion_tally(&c, k);
        measures[k] = t.are > 0 ? t.right / t.are : NAN;
        counts[k] = t.are;
    }
    return true;
}

static const struct task_parts parts = {.name = "class",
                                        .measure = "accuracy",
                                        .counted = "pictures",
                                        .count = task_count_classes,
                                        .measured = measure_classes};

static void describe(const struct score *score, const char *const *names, cJSON *object)
{
    const struct confusion c = confusion_of(score);
    cJSON_AddItemToObject(object, "classes", confusion_json(&c, names));
    cJSON_AddNumberToObject(object, "count", (double)score->count);
    cJSON_AddNumberToObject(object, "accuracy", score_measure(score));
    cJSON_AddNumberToObject(object, "loss", score_loss(score));
    metrics_add_json(metrics_of(score), &c, object);
}

/* ---- Reports ---- */

/* Both classes, and their probabilities. */
static bool judge(const struct score *score, const float *row, const struct glcnn_data_batch *batch,
                  uint32_t n, double numbers[MISTAKE_NUMBERS])
{
    const uint32_t label = batch->labels[n], best = network_best(row, score->form.classes);
    numbers[0] = best;
    numbers[1] = label;
    numbers[2] = (double)row[best];
    numbers[3] = (double)row[label];
    return best != label;
}

static void write_class(char text[192], const char *word, const char *name, double probability)
{
    snprintf(text, 192, "%s %.150s, %.*f %%", word, name, probability < 0.01 ? 2 : 0,
             100 * probability);
}

static void remark(const double numbers[MISTAKE_NUMBERS], const char *const *names,
                   struct remark *r)
{
    write_class(r->said, "said", names[(uint32_t)numbers[0]], numbers[2]);
    write_class(r->is, "is", names[(uint32_t)numbers[1]], numbers[3]);
}

/* ---- Answers ---- */

/* The class of the largest probability behind `before` in the order of falling probabilities, then of
 * classes; `before` UINT32_MAX: of all. */
static uint32_t next_best(const float *row, uint32_t classes, uint32_t before)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t k = 0; k < classes; k++) {
        bool is_behind =
            before == UINT32_MAX || row[k] < row[before] || (row[k] == row[before] && k > before);
        if (is_behind && (best == UINT32_MAX || row[k] > row[best]))
            best = k;
    }
    return best;
}

static void print_lines(const struct answer *a)
{
    for (uint32_t n = 0, k = UINT32_MAX; n < a->top; n++) {
        k = next_best(a->values, a->form->classes, k);
        text_show(a->text, "%s %u %s %.4f\n", a->picture, k, a->names[k], (double)a->values[k]);
    }
}

static void add_top(const struct answer *a)
{
    cJSON *top = cJSON_AddArrayToObject(a->object, "top");
    for (uint32_t n = 0, k = UINT32_MAX; n < a->top; n++) {
        cJSON *one = cJSON_CreateObject();
        k = next_best(a->values, a->form->classes, k);
        cJSON_AddNumberToObject(one, "class", k);
        cJSON_AddStringToObject(one, "name", a->names[k]);
        cJSON_AddNumberToObject(one, "probability", (double)a->values[k]);
        cJSON_AddItemToArray(top, one);
    }
}

static void add_json(const struct answer *a)
{
    uint32_t best = network_best(a->values, a->form->classes);
    cJSON_AddNumberToObject(a->object, "class", best);
    cJSON_AddStringToObject(a->object, "name", a->names[best]);
    if (a->top > 1)
        add_top(a);
    cJSON *all = cJSON_AddObjectToObject(a->object, "probabilities");
    for (uint32_t k = 0; k < a->form->classes; k++)
        cJSON_AddNumberToObject(all, a->names[k], (double)a->values[k]);
}

static void tell(const struct answer *a)
{
    (a->object ? add_json : print_lines)(a);
}

const struct task task_classify = {
    .name = "classify",
    .text = "a class for each picture",
    .words = "  classify   a class for each picture, by folder or label: cross-entropy\n",
    .changes = {true, 0.1, 15, 0.2, 0.25, true},
    .measure = "accuracy",
    .nothing = "no pictures",
    .classes = "classes",
    .output = "scores",
    .gives = "a score for each class; their soft max is the probabilities",
    .targets = GLCNN_DATA_TARGETS_CLASSES,
    .is_one_class = true,
    .build = net_classify,
    .finish = model_take_soft_max,
    .answer = model_soft_max,
    .losses = losses,
    .labels = task_row_labels,
    .write_labels = write_labels,
    .values = task_row_values,
    .count_right = count_right,
    .sums = sums,
    .add = add,
    .measured = measured,
    .chance = chance,
    .print = print,
    .describe = describe,
    .parts = &parts,
    .draws_matrix = true,
    .explains = "the share of pictures whose class is found",
    .counted = "pictures",
    .judge = judge,
    .remark = remark,
    .tell = tell};
