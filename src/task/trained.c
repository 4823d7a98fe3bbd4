/* A trained model from its file, and what runs it. */
#include "base/fail.h"
#include "trained.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

glcnn_status trained_refuse_device(char error[GLCNN_ERROR_LENGTH], const glcnn_device *device)
{
    return fail_with(error, glcnn_device_is_lost(device) ? GLCNN_DEVICE_LOST : GLCNN_OUT_OF_MEMORY,
                     "%s", model_failure(device));
}

const char *trained_text(const struct text *text)
{
    return text->failed ? NULL : text->bytes ? text->bytes : "";
}

const char *trained_notes(const struct text *text)
{
    const char *bytes = trained_text(text);
    return bytes ? bytes : "not enough memory\n";
}

const char *trained_take_remarks(struct text *remarks, struct text *said)
{
    text_free(said);
    *said = *remarks;
    *remarks = (struct text){0};
    return trained_notes(said);
}

/* ---- The model ---- */

glcnn_status trained_open(glcnn_model *m, glcnn_device *device, char error[GLCNN_ERROR_LENGTH])
{
    glcnn_status status = device ? GLCNN_SUCCESS : own_device_open(&m->own, NULL);
    const size_t each = task_of(&m->saved.form)->values(&m->saved.form);
    if (status != GLCNN_SUCCESS)
        return fail_with(error, status, "%s", m->own.error);
    device = device ? device : m->own.device;
    m->values = calloc(TRAINED_BATCH * each, sizeof *m->values);
    if (!m->values)
        return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
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

/* A width of 0 stands for the file's size. */
static glcnn_status take_size(glcnn_model *m, uint32_t width, uint32_t height,
                              char error[GLCNN_ERROR_LENGTH])
{
    char reason[GLCNN_ERROR_LENGTH];
    if (width == 0 || saved_take_size(&m->saved, width, height, reason))
        return GLCNN_SUCCESS;
    return fail_with(error, GLCNN_MALFORMED_DATA, "%.200s: %.300s", m->path, reason);
}

static glcnn_status open_file(glcnn_model *m, glcnn_device *device, const char *path,
                              const uint32_t size[2], char error[GLCNN_ERROR_LENGTH])
{
    char reason[GLCNN_ERROR_LENGTH];
    m->path = strdup(path);
    if (!m->path)
        return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    if (!saved_read(path, &m->saved, error))
        return GLCNN_MALFORMED_DATA;
    glcnn_status status = take_size(m, size[0], size[1], error);
    if (status != GLCNN_SUCCESS)
        return status;
    status = trained_open(m, device, reason);
    if (status == GLCNN_SUCCESS)
        return glcnn_checkpoint_load(m->model.network, path, NULL, error);
    if (status == GLCNN_NO_DEVICE)
        return fail_with(error, status, "%s", reason);
    return fail_with(error, status, "%.200s: %.300s", path, reason);
}

glcnn_status glcnn_model_load_sized(glcnn_device *device, const char *path, uint32_t width,
                                    uint32_t height, glcnn_model **model,
                                    char error[GLCNN_ERROR_LENGTH])
{
    const uint32_t size[2] = {width, height};
    *model = NULL;
    if (width > GLCNN_DATA_MAX_SIDE || height > GLCNN_DATA_MAX_SIDE || !width != !height)
        return fail_with(
            error, GLCNN_INVALID_ARGUMENT,
            "pictures of %ux%u are requested; expected 1 to %u pixels a side, or 0x0 for the "
            "network's own size",
            width, height, (unsigned)GLCNN_DATA_MAX_SIDE);
    glcnn_model *m = *model = calloc(1, sizeof *m);
    if (!m)
        return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
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

static void forget_run(struct run *run)
{
    runner_destroy(&run->runner);
    *run = (struct run){.has_input = false};
}

void glcnn_model_destroy(glcnn_model **model)
{
    glcnn_model *m = *model;
    if (!m)
        return;
    trained_forget_evaluation(m);
    flip_end(&m->flip);
    forget_run(&m->one);
    forget_run(&m->many);
    model_destroy(&m->model);
    own_device_close(&m->own);
    saved_free(&m->saved);
    free(m->path);
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

/* ---- What runs it ---- */

uint32_t trained_batch(uint32_t count)
{
    return count == 1 ? 1 : TRAINED_BATCH;
}

/* A graph reads weights whenever it runs; settings of kernels, and what they are joined to, it has as they were when it
 * was made. */
static bool make_runner(glcnn_model *m, struct run *run, uint32_t batch)
{
    const uint64_t now = glcnn_network_digest(m->model.network);
    if (run->runner.graph && run->digest == now)
        return true;
    forget_run(run);
    run->digest = now;
    return runner_create_inference(&m->model, batch, 0, &run->runner);
}

/* Pictures of bytes and of numbers are normalised by graphs of their own. */
static bool take_pictures(glcnn_model *m, struct run *run, const struct pictures *pictures)
{
    const bool is_kept = run->has_input && run->takes_bytes == pictures->info->bytes;
    if (is_kept)
        return true;
    run->has_input = pictures_take(pictures, &m->saved, NULL, 0, &run->runner);
    run->takes_bytes = pictures->info->bytes;
    return run->has_input;
}

glcnn_status trained_begin(glcnn_model *m, const struct pictures *pictures, uint32_t batch,
                           bool flips, char error[GLCNN_ERROR_LENGTH])
{
    struct run *run = m->run = batch == 1 ? &m->one : &m->many;
    flip_end(&m->flip);
    if (!make_runner(m, run, batch) || !take_pictures(m, run, pictures)) {
        const glcnn_status status = trained_refuse_device(error, m->model.device);
        forget_run(run);
        return status;
    }
    return !flips || flip_begin(&run->runner, &m->flip, error) ? GLCNN_SUCCESS : GLCNN_UNSUPPORTED;
}
