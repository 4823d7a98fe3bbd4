/* A trained model from its file, and how well it does. */
#include "trained.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate.h"

glcnn_status trained_refuse(char error[GLCNN_ERROR_LENGTH], glcnn_status status,
                            const char *message)
{
    if (error != message)
        snprintf(error, GLCNN_ERROR_LENGTH, "%s", message);
    return status;
}

glcnn_status trained_refuse_device(char error[GLCNN_ERROR_LENGTH], const glcnn_device *device)
{
    return trained_refuse(error,
                          glcnn_device_is_lost(device) ? GLCNN_DEVICE_LOST : GLCNN_OUT_OF_MEMORY,
                          model_failure(device));
}

const char *trained_text(const struct text *text)
{
    return text->failed ? NULL : text->bytes ? text->bytes : "";
}

/* ---- The model ---- */

glcnn_status trained_open(glcnn_model *m, glcnn_device *device, char error[GLCNN_ERROR_LENGTH])
{
    glcnn_status status = device ? GLCNN_SUCCESS : own_device_open(&m->own, NULL);
    const size_t each = task_of(&m->saved.form)->values(&m->saved.form);
    if (status != GLCNN_SUCCESS)
        return trained_refuse(error, status, m->own.error);
    device = device ? device : m->own.device;
    m->values = calloc(TRAINED_BATCH * each, sizeof *m->values);
    if (!m->values)
        return trained_refuse(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    m->info = (struct glcnn_model_description){.title = m->saved.title,
                                               .task = &task_of(&m->saved.form)->info,
                                               .width = m->saved.form.width,
                                               .height = m->saved.form.height,
                                               .channels = m->saved.form.channels,
                                               .class_count = m->saved.form.classes,
                                               .class_names = m->saved.names,
                                               .mean = m->saved.mean,
                                               .deviation = m->saved.deviation,
                                               .value_count = each};
    if (saved_make(&m->saved, device, NULL, TRAINED_BATCH, &m->model, error))
        return GLCNN_SUCCESS;
    return glcnn_device_is_lost(device) ? GLCNN_DEVICE_LOST : GLCNN_MALFORMED_DATA;
}

/* With its weights. */
static glcnn_status open_file(glcnn_model *m, glcnn_device *device, const char *path,
                              const uint32_t size[2], char error[GLCNN_ERROR_LENGTH])
{
    char reason[GLCNN_ERROR_LENGTH];
    if (!saved_read(path, &m->saved, error))
        return GLCNN_MALFORMED_DATA;
    if (size[0] > 0 && !saved_take_size(&m->saved, size[0], size[1], reason)) {
        snprintf(error, GLCNN_ERROR_LENGTH, "%.200s: %.300s", path, reason);
        return GLCNN_MALFORMED_DATA;
    }
    const glcnn_status status = trained_open(m, device, reason);
    if (status == GLCNN_SUCCESS)
        return glcnn_checkpoint_load(m->model.network, path, NULL, error);
    if (status == GLCNN_NO_DEVICE)
        return trained_refuse(error, status, reason);
    snprintf(error, GLCNN_ERROR_LENGTH, "%.200s: %.300s", path, reason);
    return status;
}

glcnn_status glcnn_model_load_sized(glcnn_device *device, const char *path, uint32_t width,
                                    uint32_t height, glcnn_model **model,
                                    char error[GLCNN_ERROR_LENGTH])
{
    const uint32_t size[2] = {width, height};
    *model = NULL;
    if (width > GLCNN_DATA_MAX_SIDE || height > GLCNN_DATA_MAX_SIDE || !width != !height) {
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "pictures of %ux%u are requested; expected 1 to %u pixels a side, or 0x0 for the "
                 "network's own size",
                 width, height, (unsigned)GLCNN_DATA_MAX_SIDE);
        return GLCNN_INVALID_ARGUMENT;
    }
    glcnn_model *m = *model = calloc(1, sizeof *m);
    if (!m)
        return trained_refuse(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    const glcnn_status status = open_file(m, device, path, size, error);
    if (status != GLCNN_SUCCESS)
        glcnn_model_destroy(model);
    return status;
}

glcnn_status glcnn_model_load(glcnn_device *device, const char *path, glcnn_model **model,
                              char error[GLCNN_ERROR_LENGTH])
{
    return glcnn_model_load_sized(device, path, 0, 0, model, error);
}

static void forget_evaluation(glcnn_model *m)
{
    free(m->parts);
    free(m->json);
    text_free(&m->text);
    text_free(&m->notes);
    m->parts = NULL;
    m->json = NULL;
    m->evaluation = (struct glcnn_evaluation){.count = 0};
}

void glcnn_model_destroy(glcnn_model **model)
{
    glcnn_model *m = *model;
    if (!m)
        return;
    forget_evaluation(m);
    flip_end(&m->flip);
    runner_destroy(&m->runner);
    model_destroy(&m->model);
    own_device_close(&m->own);
    saved_free(&m->saved);
    free(m->values);
    free(m);
    *model = NULL;
}

const struct glcnn_model_description *glcnn_model_info(const glcnn_model *model)
{
    return &model->info;
}

glcnn_network *glcnn_model_network(const glcnn_model *model)
{
    return model->model.network;
}

glcnn_status trained_begin(glcnn_model *m, const struct pictures *pictures, bool flips,
                           char error[GLCNN_ERROR_LENGTH])
{
    flip_end(&m->flip);
    runner_destroy(&m->runner);
    m->flip = (struct flip){NULL};
    if (!runner_create_inference(&m->model, TRAINED_BATCH, 0, &m->runner) ||
        !pictures_take(pictures, &m->saved, NULL, 0, &m->runner))
        return trained_refuse_device(error, m->model.device);
    return !flips || flip_begin(&m->runner, &m->flip, error) ? GLCNN_SUCCESS : GLCNN_UNSUPPORTED;
}

/* ---- Evaluation ---- */

/* All that one evaluation opens. */
struct evaluation {
    struct pictures pictures;
    glcnn_data_loader *loader;
    struct score score;
};

static glcnn_status open_evaluation(glcnn_model *m, const char *data, struct evaluation *e,
                                    char error[GLCNN_ERROR_LENGTH])
{
    const struct pictures_options what = {
        .path = data, .task = task_of(&m->saved.form), .like = &m->saved};
    struct glcnn_data_loader_parameters loader = {.batch = TRAINED_BATCH};
    if (!pictures_open(&what, &e->pictures, error))
        return GLCNN_MALFORMED_DATA;
    pictures_describe_decisions(&e->pictures, &m->notes);
    pictures_describe_middle(&e->pictures, e->pictures.test, &m->notes);
    loader.part = m->evaluation.part = e->pictures.test;
    m->evaluation.trained_on =
        evaluate_count_trained(&m->saved, &e->pictures, &m->evaluation.is_exact);
    if (!pictures_load(&e->pictures, &loader, &e->loader, error))
        return GLCNN_MALFORMED_DATA;
    if (!score_begin(&e->score, &m->model))
        return trained_refuse_device(error, m->model.device);
    score_of(&e->score, e->pictures.set, loader.part);
    return GLCNN_SUCCESS;
}

static bool describe_parts(glcnn_model *m, const struct score *score)
{
    const struct task_parts *parts = score->task->parts;
    const uint32_t count = parts ? parts->count(&score->form) : 0;
    m->parts = calloc(2 * (size_t)count + 1, sizeof *m->parts);
    if (!m->parts || (count > 0 && !parts->measured(score, m->parts, m->parts + count)))
        return false;
    m->evaluation.part_count = count;
    m->evaluation.part_measures = m->parts;
    m->evaluation.part_counts = m->parts + count;
    return true;
}

static char *describe_json(const glcnn_model *m, const struct score *score)
{
    cJSON *json =
        evaluate_json(score, m->saved.names, m->evaluation.part, m->evaluation.trained_on);
    char *text = cJSON_Print(json);
    cJSON_Delete(json);
    return text;
}

static glcnn_status describe_evaluation(glcnn_model *m, struct evaluation *e,
                                        char error[GLCNN_ERROR_LENGTH])
{
    const struct score *score = &e->score;
    pictures_describe_skipped(&e->pictures, &m->notes);
    if (!evaluate_is_finite(score, &e->pictures, e->pictures.test, error))
        return GLCNN_MALFORMED_DATA;
    m->evaluation.measure = score_measure(score);
    m->evaluation.loss = score_loss(score);
    m->evaluation.count = score->count;
    score_print(score, m->saved.names, &m->text);
    m->json = describe_json(m, score);
    m->evaluation.text = trained_text(&m->text);
    m->evaluation.notes = trained_text(&m->notes);
    m->evaluation.json = m->json;
    return describe_parts(m, score) && m->evaluation.text && m->evaluation.notes && m->json
               ? GLCNN_SUCCESS
               : trained_refuse(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
}

static glcnn_status evaluate(glcnn_model *m, const char *data, bool flips, struct evaluation *e,
                             char error[GLCNN_ERROR_LENGTH])
{
    glcnn_status status = open_evaluation(m, data, e, error);
    if (status == GLCNN_SUCCESS)
        status = trained_begin(m, &e->pictures, flips, error);
    if (status != GLCNN_SUCCESS)
        return status;
    if (!evaluate_epoch(&m->runner, &m->flip, e->loader, m->values, &e->score, error))
        return glcnn_device_is_lost(m->model.device) ? GLCNN_DEVICE_LOST : GLCNN_IO_ERROR;
    return describe_evaluation(m, e, error);
}

glcnn_status glcnn_model_evaluate(glcnn_model *m, const char *data,
                                  const struct glcnn_model_options *options,
                                  const struct glcnn_evaluation **evaluation,
                                  char error[GLCNN_ERROR_LENGTH])
{
    struct evaluation e = {.loader = NULL};
    glcnn_status status = GLCNN_INVALID_STATE;
    *evaluation = NULL;
    forget_evaluation(m);
    if (m->predictions)
        trained_refuse(error, status, "the model has predictions under way: destroy them before");
    else
        status = evaluate(m, data, options && options->flip, &e, error);
    glcnn_data_loader_destroy(&e.loader);
    pictures_close(&e.pictures);
    score_free(&e.score);
    if (status == GLCNN_SUCCESS)
        *evaluation = &m->evaluation;
    return status;
}
