/* What a trained model answers to pictures, one after the other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    struct glcnn_detection boxes[TASK_BOXES];
    struct glcnn_point *points;
    uint8_t *mask;
    struct text text, notes;
    char *json;
    bool told; /* what opening found */
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
    return !task->points || p->points
               ? GLCNN_SUCCESS
               : trained_refuse(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
}

static glcnn_status open_predictions(glcnn_predictions *p, const char *const *paths, uint32_t count,
                                     bool flips, char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_data_loader_parameters loader = {.part = GLCNN_DATA_PART_TEST,
                                                        .batch = TRAINED_BATCH};
    if (!pictures_open_files(paths, count, &p->model->saved, &p->pictures, error) ||
        !pictures_load(&p->pictures, &loader, &p->loader, error))
        return GLCNN_MALFORMED_DATA;
    p->left = glcnn_data_loader_steps(p->loader);
    const glcnn_status status = trained_begin(p->model, &p->pictures, flips, error);
    return status == GLCNN_SUCCESS ? allocate_answers(p, error) : status;
}

glcnn_status glcnn_model_predict(glcnn_model *model, const char *const *paths, uint32_t count,
                                 const struct glcnn_model_options *options,
                                 glcnn_predictions **predictions, char error[GLCNN_ERROR_LENGTH])
{
    *predictions = NULL;
    if (model->predictions)
        return trained_refuse(error, GLCNN_INVALID_STATE,
                              "the model has predictions under way: destroy them before");
    glcnn_predictions *p = calloc(1, sizeof *p);
    if (!p)
        return trained_refuse(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    p->model = model;
    model->predictions = *predictions = p;
    const glcnn_status status = open_predictions(p, paths, count, options && options->flip, error);
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
    cJSON_free(p->json);
    free(p->points);
    free(p->mask);
    free(p);
    *predictions = NULL;
}

const char *glcnn_predictions_notes(glcnn_predictions *p)
{
    text_free(&p->notes);
    if (!p->told) {
        pictures_describe_decisions(&p->pictures, &p->notes);
        pictures_describe_middle(&p->pictures, GLCNN_DATA_PART_TEST, &p->notes);
    }
    p->told = true;
    pictures_describe_skipped(&p->pictures, &p->notes);
    const char *text = trained_text(&p->notes);
    return text ? text : "not enough memory\n";
}

/* ---- Answers ---- */

/* As the task tells it, for people and for programs. */
static bool tell_answer(glcnn_predictions *p, struct answer *answer)
{
    const struct task *task = task_of(form_of(p));
    answer->text = &p->text;
    task->tell(answer);
    answer->object = cJSON_CreateObject();
    cJSON_AddStringToObject(answer->object, "image", p->name);
    task->tell(answer);
    p->json = cJSON_Print(answer->object);
    cJSON_Delete(answer->object);
    p->prediction.text = trained_text(&p->text);
    p->prediction.json = p->json;
    return p->prediction.text && p->json;
}

/* False: not enough memory. */
static bool find_mask(glcnn_predictions *p, const struct answer *answer)
{
    uint8_t *mask = realloc(p->mask, (size_t)answer->width * answer->height + 1);
    if (!mask)
        return false;
    p->mask = mask;
    task_of(form_of(p))->mask(answer, mask);
    p->prediction.mask = mask;
    return true;
}

static bool find_answer(glcnn_predictions *p, const struct answer *answer)
{
    struct glcnn_prediction *q = &p->prediction;
    const struct task *task = task_of(form_of(p));
    if (task->count_right) {
        q->label = network_best(answer->values, form_of(p)->classes);
        q->probability = answer->values[q->label];
    }
    if (task->boxes) {
        q->box_count = task->boxes(answer, p->boxes);
        q->boxes = p->boxes;
    }
    if (task->points) {
        q->point_count = task->point_count(form_of(p));
        task->points(answer, p->points);
        q->points = p->points;
    }
    return !task->mask || find_mask(p, answer);
}

/* Of place n of the batch. False: not enough memory. */
static bool make_prediction(glcnn_predictions *p, uint32_t n)
{
    struct glcnn_prediction *q = &p->prediction;
    const size_t each = p->model->info.value_count;
    text_free(&p->text);
    cJSON_free(p->json);
    p->json = NULL;
    *q = (struct glcnn_prediction){
        .name = p->name, .index = p->batch.indices[n], .values = p->model->values + n * each};
    pictures_name(&p->pictures, q->index, p->name, sizeof p->name);
    glcnn_dataset_size(p->pictures.set, GLCNN_DATA_PART_TEST, q->index, &q->width, &q->height);
    q->is_finite = scores_are_finite(q->values, each);
    if (!q->is_finite)
        return true;
    struct answer answer = {.picture = p->name,
                            .limits = DETECTION_SHOWN,
                            .width = q->width,
                            .height = q->height,
                            .values = q->values,
                            .names = p->model->saved.names,
                            .form = form_of(p),
                            .top = 1};
    return find_answer(p, &answer) && tell_answer(p, &answer);
}

static glcnn_status run_batch(glcnn_predictions *p, char error[GLCNN_ERROR_LENGTH])
{
    glcnn_model *m = p->model;
    glcnn_status status = glcnn_data_loader_next(p->loader, &p->batch, error);
    p->left--;
    p->next = 0;
    if (status == GLCNN_SUCCESS && !flip_run(&m->flip, &m->runner, &p->batch, m->values)) {
        status = glcnn_device_is_lost(m->model.device) ? GLCNN_DEVICE_LOST : GLCNN_OUT_OF_MEMORY;
        trained_refuse(error, status, runner_error(&m->runner));
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
    for (;;) {
        while (p->next < p->batch.count) {
            const uint32_t n = p->next++;
            if (p->batch.indices[n] == UINT32_MAX)
                continue; /* it could not be read */
            if (!make_prediction(p, n))
                return trained_refuse(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
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
