/* What a trained model answers to pictures, one after the other. */
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "json_text.h"
#include "network.h"
#include "trained.h"

struct glcnn_predictions {
    glcnn_model *model;
    struct pictures pictures;
    glcnn_data_loader *loader;
    uint64_t left; /* batches that were not run */
    struct glcnn_data_batch batch;
    uint32_t next; /* place of the batch */
    struct glcnn_prediction prediction;
    char name[4096];
    struct answer answer; /* values NULL: there is none under way, or none that is finite */
    struct glcnn_detection boxes[TASK_BOXES];
    struct glcnn_point *points;
    uint8_t *mask;
    struct text text, notes, remarks, said; /* said: the remarks of the last call */
    char *json;
    uint32_t top;
    struct glcnn_detection_limits limits;
};

static const struct form *form_of(const glcnn_predictions *p)
{
    return &p->model->saved.form;
}

/* ---- Beginning and end ---- */

static glcnn_status allocate_answers(glcnn_predictions *p, char error[GLCNN_ERROR_LENGTH])
{
    const struct task *task = task_of(form_of(p));
    if (task->points)
        p->points = calloc(task->point_count(form_of(p)), sizeof *p->points);
    return !task->points || p->points ? GLCNN_SUCCESS
                                      : fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
}

static bool limits_are_legal(const struct glcnn_detection_limits *l)
{
    return l->score >= 0 && l->score <= 1 && l->overlap >= 0 && l->overlap <= 1 && l->most >= 1 &&
           l->most <= DETECTION_MOST;
}

static glcnn_status take_options(glcnn_predictions *p, const struct glcnn_model_options *options,
                                 char error[GLCNN_ERROR_LENGTH])
{
    const struct task *task = task_of(form_of(p));
    p->top = options->top > 0 ? options->top : 1;
    p->limits = options->limits ? *options->limits : DETECTION_SHOWN;
    if (p->top > 1 && (!task->count_right || p->top > form_of(p)->classes))
        return fail_with(error, GLCNN_INVALID_ARGUMENT,
                         "top is %u; the network's task is %s, and it has %u %s", p->top,
                         task->name, form_of(p)->classes, task->classes);
    if (!limits_are_legal(&p->limits))
        return fail_with(error, GLCNN_INVALID_ARGUMENT,
                         "limits of detections are a score and an overlap in 0 .. 1, and most "
                         "in 1 .. 300");
    if (!options->limits || task->limits != TASK_LIMITS_NONE)
        return GLCNN_SUCCESS;
    return fail_with(error, GLCNN_UNSUPPORTED, "limits are of detect and keypoints; the task is %s",
                     task->name);
}

static glcnn_status open_predictions(glcnn_predictions *p, const char *const *paths, uint32_t count,
                                     const struct glcnn_model_options *options,
                                     char error[GLCNN_ERROR_LENGTH])
{
    struct glcnn_data_loader_parameters loader = {0};
    glcnn_status status = take_options(p, options, error);
    if (status != GLCNN_SUCCESS)
        return status;
    const struct saved *like = &p->model->saved;
    if (!(options->data
              ? pictures_take_part(options->data, options->part, like, &p->pictures, error)
              : pictures_open_files(paths, count, like, &p->pictures, error)))
        return GLCNN_MALFORMED_DATA;
    loader.part = p->pictures.test;
    loader.batch = trained_batch(p->pictures.info->counts[loader.part]);
    if (!pictures_load(&p->pictures, &loader, &p->loader, error))
        return GLCNN_MALFORMED_DATA;
    pictures_describe_decisions(&p->pictures, &p->notes);
    pictures_describe_middle(&p->pictures, p->pictures.test, &p->remarks);
    p->left = glcnn_data_loader_steps(p->loader);
    status = trained_begin(p->model, &p->pictures, loader.batch, options->flip, error);
    return status == GLCNN_SUCCESS ? allocate_answers(p, error) : status;
}

glcnn_status glcnn_model_predict(glcnn_model *model, const char *const *paths, uint32_t count,
                                 const struct glcnn_model_options *options,
                                 glcnn_predictions **predictions, char error[GLCNN_ERROR_LENGTH])
{
    static const struct glcnn_model_options plain = {.flip = false};
    *predictions = NULL;
    if (model->predictions)
        return fail_with(error, GLCNN_INVALID_STATE,
                         "the model has predictions under way: destroy them before");
    glcnn_predictions *p = calloc(1, sizeof *p);
    if (!p)
        return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    p->model = model;
    model->predictions = *predictions = p;
    const glcnn_status status =
        open_predictions(p, paths, count, options ? options : &plain, error);
    if (status != GLCNN_SUCCESS)
        glcnn_predictions_destroy(predictions);
    return status;
}

void glcnn_predictions_destroy(glcnn_predictions **predictions)
{
    glcnn_predictions *p = *predictions;
    if (!p)
        return;
    p->model->predictions = NULL;
    glcnn_data_loader_destroy(&p->loader);
    pictures_close(&p->pictures);
    text_free(&p->text);
    text_free(&p->notes);
    text_free(&p->remarks);
    text_free(&p->said);
    free(p->json);
    free(p->points);
    free(p->mask);
    free(p);
    *predictions = NULL;
}

const glcnn_dataset *glcnn_predictions_data(const glcnn_predictions *p)
{
    return p->pictures.set;
}

const char *glcnn_predictions_notes(glcnn_predictions *p)
{
    return trained_notes(&p->notes);
}

const char *glcnn_predictions_remarks(glcnn_predictions *p)
{
    pictures_describe_skipped(&p->pictures, &p->remarks);
    return trained_take_remarks(&p->remarks, &p->said);
}

/* ---- Answers ---- */

const char *glcnn_predictions_text(glcnn_predictions *p)
{
    if (!p->answer.values)
        return NULL;
    if (p->text.bytes)
        return p->text.bytes;
    struct answer answer = p->answer;
    answer.text = &p->text;
    task_of(form_of(p))->tell(&answer);
    return trained_text(&p->text);
}

const char *glcnn_predictions_json(glcnn_predictions *p)
{
    if (!p->answer.values || p->json)
        return p->json;
    struct answer answer = p->answer;
    answer.object = cJSON_CreateObject();
    cJSON_AddStringToObject(answer.object, "image", p->name);
    task_of(form_of(p))->tell(&answer);
    return p->json = json_text(answer.object, true);
}

const uint8_t *glcnn_predictions_mask(glcnn_predictions *p)
{
    const struct task *task = task_of(form_of(p));
    if (!p->answer.values || !task->mask || p->mask)
        return p->mask;
    p->mask = malloc((size_t)p->answer.width * p->answer.height + 1);
    if (p->mask)
        task->mask(&p->answer, p->mask);
    return p->mask;
}

glcnn_status glcnn_predictions_draw(glcnn_predictions *p, uint8_t *pixels,
                                    char error[GLCNN_ERROR_LENGTH])
{
    const struct task *task = task_of(form_of(p));
    const struct answer *a = &p->answer;
    if (!task->show)
        return fail_with(error, GLCNN_UNSUPPORTED, "an answer of the task %s has nothing to draw",
                         task->name);
    if (!a->values)
        return fail_with(error, GLCNN_INVALID_STATE, "there is no finite answer under way");
    const glcnn_status status = glcnn_dataset_read_picture(
        p->pictures.set, p->pictures.test, p->prediction.index, a->width, a->height, pixels, error);
    if (status == GLCNN_SUCCESS)
        task->show(a, pixels);
    return status;
}

static void find_answer(glcnn_predictions *p)
{
    struct glcnn_prediction *q = &p->prediction;
    struct answer *a = &p->answer;
    const struct task *task = task_of(form_of(p));
    if (task->count_right) {
        q->label = network_best(a->values, form_of(p)->classes);
        q->probability = a->values[q->label];
    }
    if (task->boxes) {
        q->box_count = a->box_count = task->boxes(a, p->boxes);
        q->boxes = a->boxes = p->boxes;
    }
    if (task->points) {
        q->point_count = task->point_count(form_of(p));
        task->points(a, p->points);
        q->points = p->points;
    }
}

static void forget_answer(glcnn_predictions *p)
{
    text_free(&p->text);
    free(p->json);
    free(p->mask);
    p->json = NULL;
    p->mask = NULL;
    p->answer = (struct answer){.values = NULL};
}

/* Answers place n of the batch. */
static void make_prediction(glcnn_predictions *p, uint32_t n)
{
    struct glcnn_prediction *q = &p->prediction;
    const size_t each = p->model->info.value_count;
    *q = (struct glcnn_prediction){
        .name = p->name, .index = p->batch.indices[n], .values = p->model->values + n * each};
    pictures_name(p->pictures.set, p->pictures.test, q->index, p->name, sizeof p->name);
    glcnn_dataset_size(p->pictures.set, p->pictures.test, q->index, &q->width, &q->height);
    q->is_finite = scores_are_finite(q->values, each);
    if (!q->is_finite)
        return;
    p->answer = (struct answer){.picture = p->name,
                                .limits = p->limits,
                                .width = q->width,
                                .height = q->height,
                                .values = q->values,
                                .names = p->model->saved.names,
                                .form = form_of(p),
                                .top = p->top};
    find_answer(p);
}

static glcnn_status run_batch(glcnn_predictions *p, char error[GLCNN_ERROR_LENGTH])
{
    glcnn_model *m = p->model;
    glcnn_status status = glcnn_data_loader_next(p->loader, &p->batch, error);
    p->left--;
    p->next = 0;
    if (status == GLCNN_SUCCESS && !flip_run(&m->flip, &m->run->runner, &p->batch, m->values)) {
        status = glcnn_device_is_lost(m->model.device) ? GLCNN_DEVICE_LOST : GLCNN_OUT_OF_MEMORY;
        fail_with(error, status, "%s", runner_error(&m->run->runner));
    }
    if (status != GLCNN_SUCCESS)
        p->left = p->batch.count = 0;
    return status;
}

glcnn_status glcnn_predictions_next(glcnn_predictions *p,
                                    const struct glcnn_prediction **prediction,
                                    char error[GLCNN_ERROR_LENGTH])
{
    *prediction = NULL;
    forget_answer(p);
    for (;;) {
        while (p->next < p->batch.count) {
            const uint32_t n = p->next++;
            if (p->batch.indices[n] == UINT32_MAX)
                continue; /* it could not be read */
            make_prediction(p, n);
            *prediction = &p->prediction;
            return GLCNN_SUCCESS;
        }
        if (p->left == 0)
            return GLCNN_SUCCESS;
        const glcnn_status status = run_batch(p, error);
        if (status != GLCNN_SUCCESS)
            return status;
    }
}
