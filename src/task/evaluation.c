/* Measures how well a trained model does. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate.h"
#include "json_text.h"
#include "seen.h"
#include "trained.h"

void trained_forget_evaluation(glcnn_model *m)
{
    struct evaluated *e = &m->evaluated;
    pictures_close(&e->pictures);
    score_free(&e->score);
    findings_free(&e->findings);
    free(e->data);
    free(e->parts);
    free(e->json);
    text_free(&e->text);
    text_free(&e->notes);
    text_free(&e->remarks);
    *e = (struct evaluated){.data = NULL};
}

const char *glcnn_model_notes(const glcnn_model *model)
{
    return trained_notes(&model->evaluated.notes);
}

const char *glcnn_model_remarks(const glcnn_model *model)
{
    return trained_notes(&model->evaluated.remarks);
}

/* ---- The data ---- */

/* Counts those of the pictures that the network was trained on, as far as its file remembers. */
static void count_trained(glcnn_model *m)
{
    struct evaluated *e = &m->evaluated;
    struct seen seen;
    const struct glcnn_checkpoint_bytes *bytes = &m->saved.bytes[SAVED_SEEN];
    e->result.is_exact = true;
    if (bytes->bytes && seen_read(&seen, bytes->bytes, bytes->size))
        e->result.trained_on = seen_count(&seen, &e->pictures, e->result.part, &e->result.is_exact);
}

static glcnn_status open_data(glcnn_model *m, const char *data,
                              const struct glcnn_model_options *options, glcnn_data_loader **loader,
                              char error[GLCNN_ERROR_LENGTH])
{
    struct evaluated *e = &m->evaluated;
    if (!glcnn_data_part_name(options->part)) {
        snprintf(error, GLCNN_ERROR_LENGTH, "part is %u; expected 0 to %d", (unsigned)options->part,
                 GLCNN_DATA_PARTS - 1);
        return GLCNN_INVALID_ARGUMENT;
    }
    data = options->data ? glcnn_dataset_info(options->data)->name : data;
    const struct pictures_options what = {.path = data,
                                          .set = options->data,
                                          .task = task_of(&m->saved.form),
                                          .like = &m->saved,
                                          .mask_colours = options->mask_colours};
    struct glcnn_data_loader_parameters parameters = {.batch = TRAINED_BATCH};
    if (!(e->data = strdup(data)))
        return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    if (!pictures_open(&what, &e->pictures, error))
        return GLCNN_MALFORMED_DATA;
    if (options->data)
        e->pictures.test = options->part;
    pictures_describe_decisions(&e->pictures, &e->notes);
    pictures_describe_middle(&e->pictures, e->pictures.test, &e->remarks);
    parameters.part = e->result.part = e->pictures.test;
    count_trained(m);
    return pictures_load(&e->pictures, &parameters, loader, error) ? GLCNN_SUCCESS
                                                                   : GLCNN_MALFORMED_DATA;
}

/* Has the score keep what a page shows beside it. */
static glcnn_status begin_findings(glcnn_model *m, char error[GLCNN_ERROR_LENGTH])
{
    struct evaluated *e = &m->evaluated;
    const struct task *task = e->score.task;
    if (!findings_begin(&e->findings, task->count_right ? m->saved.form.classes : 0))
        return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    e->score.findings = &e->findings;
    if (task->show)
        findings_keep_values(&e->findings, m->info.value_count);
    return GLCNN_SUCCESS;
}

/* ---- What is said of it ---- */

static bool describe_parts(struct evaluated *e)
{
    const struct score *score = &e->score;
    const struct task_parts *parts = score->task->parts;
    const uint32_t count = parts ? parts->count(&score->form) : 0;
    e->parts = calloc(2 * (size_t)count + 1, sizeof *e->parts);
    if (!e->parts || (count > 0 && !parts->measured(score, e->parts, e->parts + count)))
        return false;
    e->result.part_count = count;
    e->result.part_measures = e->parts;
    e->result.part_counts = e->parts + count;
    return true;
}

/* Data without parts are measured whole. */
static bool has_parts(const struct glcnn_evaluation *result)
{
    return result->part != GLCNN_DATA_PART_TRAINING;
}

static char *describe_json(const glcnn_model *m)
{
    const struct glcnn_evaluation *r = &m->evaluated.result;
    cJSON *json = score_json(&m->evaluated.score, m->saved.names);
    cJSON_AddStringToObject(json, "part", has_parts(r) ? glcnn_data_part_name(r->part) : "all");
    cJSON_AddNumberToObject(json, "trained_on", r->trained_on);
    return json_text(json, true);
}

static void describe_score(const glcnn_model *m, struct text *text)
{
    const struct evaluated *e = &m->evaluated;
    const struct glcnn_evaluation *r = &e->result;
    const bool is_part = has_parts(r);
    char measured[TASK_MEASURED];
    text_show(text, "%s %s, loss %.4f on %" PRIu64 " images%s%s%s\n", e->score.task->measure,
              task_write(e->score.task, r->measure, measured), r->loss, r->count,
              is_part ? " of the " : "", is_part ? glcnn_data_part_name(r->part) : "",
              is_part ? " part" : "");
    if (r->trained_on > 0)
        text_show(text,
                  "%s%u of these %u images were trained on: new ones may have a worse result\n",
                  r->is_exact ? "" : "about ", r->trained_on, e->pictures.info->counts[r->part]);
    score_print(&e->score, m->saved.names, text);
}

static glcnn_status describe(glcnn_model *m, char error[GLCNN_ERROR_LENGTH])
{
    struct evaluated *e = &m->evaluated;
    const struct score *score = &e->score;
    struct glcnn_evaluation *r = &e->result;
    char doubt[GLCNN_ERROR_LENGTH];
    r->measure = score_measure(score);
    r->loss = score_loss(score);
    r->count = score->count;
    if (score->task->doubts && score->task->doubts(score, m->saved.names, doubt))
        text_show(&e->remarks, "%s\n", doubt);
    describe_score(m, &e->text);
    r->text = trained_text(&e->text);
    r->json = e->json = describe_json(m);
    return describe_parts(e) && r->text && r->json && !e->notes.failed && !e->remarks.failed
               ? GLCNN_SUCCESS
               : fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
}

/* ---- The evaluation ---- */

static glcnn_status measure(glcnn_model *m, glcnn_data_loader *loader,
                            char error[GLCNN_ERROR_LENGTH])
{
    struct evaluated *e = &m->evaluated;
    const bool is_run =
        evaluate_epoch(&m->run->runner, &m->flip, loader, m->values, &e->score, error);
    pictures_describe_skipped(&e->pictures, &e->remarks);
    if (!is_run)
        return glcnn_device_is_lost(m->model.device) ? GLCNN_DEVICE_LOST : GLCNN_IO_ERROR;
    if (!evaluate_is_finite(&e->score, &e->pictures, e->pictures.test, error))
        return GLCNN_MALFORMED_DATA;
    return describe(m, error);
}

static glcnn_status evaluate(glcnn_model *m, const char *data,
                             const struct glcnn_model_options *options,
                             char error[GLCNN_ERROR_LENGTH])
{
    glcnn_data_loader *loader = NULL;
    glcnn_status status = open_data(m, data, options, &loader, error);
    if (status == GLCNN_SUCCESS && !score_begin(&m->evaluated.score, &m->model))
        status = trained_refuse_device(error, m->model.device);
    if (status == GLCNN_SUCCESS)
        score_of(&m->evaluated.score, m->evaluated.pictures.set, m->evaluated.result.part);
    if (status == GLCNN_SUCCESS && options->page)
        status = begin_findings(m, error);
    if (status == GLCNN_SUCCESS)
        status = trained_begin(m, &m->evaluated.pictures, TRAINED_BATCH, options->flip, error);
    if (status == GLCNN_SUCCESS)
        status = measure(m, loader, error);
    glcnn_data_loader_destroy(&loader);
    return status;
}

glcnn_status glcnn_model_evaluate(glcnn_model *m, const char *data,
                                  const struct glcnn_model_options *options,
                                  const struct glcnn_evaluation **evaluation,
                                  char error[GLCNN_ERROR_LENGTH])
{
    static const struct glcnn_model_options plain = {.flip = false};
    *evaluation = NULL;
    trained_forget_evaluation(m);
    if (m->predictions)
        return fail_with(error, GLCNN_INVALID_STATE,
                         "the model has predictions under way: destroy them before");
    const glcnn_status status = evaluate(m, data, options ? options : &plain, error);
    m->evaluated.is_measured = status == GLCNN_SUCCESS;
    if (m->evaluated.is_measured)
        *evaluation = &m->evaluated.result;
    return status;
}
