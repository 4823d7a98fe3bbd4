/* Models that have learned nothing, and files of models. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "class_names.h"
#include "trained.h"

/* The whole form. NULL: the parameters are good. */
static const char *read_form(const struct glcnn_model_parameters *p, struct form *form)
{
    const struct task *task = task_find(p->task ? p->task : "classify");
    *form = (struct form){
        .width = p->width, .height = p->height, .channels = p->channels, .classes = p->class_count};
    if (!task)
        return "there is no such task";
    if (p->width < 1 || p->height < 1 || p->width > GLCNN_DATA_MAX_SIDE ||
        p->height > GLCNN_DATA_MAX_SIDE)
        return "width and height of pictures are not in their range";
    if (p->channels < 1 || p->channels > GLCNN_DATA_MAX_CHANNELS)
        return "channels of pictures are not in their range";
    if (p->class_count < 1 || !p->class_names)
        return "there are no names of classes";
    form->task = task_number(task);
    form->fit = (uint32_t)task->fit;
    return NULL;
}

static const char *read_normalisation(const struct glcnn_model_parameters *p, struct saved *saved)
{
    for (uint32_t c = 0; c < p->channels; c++) {
        saved->mean[c] = p->mean ? p->mean[c] : 0;
        saved->deviation[c] = p->deviation ? p->deviation[c] : 1;
        if (!isfinite(saved->mean[c]) || !(saved->deviation[c] > 0))
            return "a mean is not finite, or a deviation not above 0";
    }
    return NULL;
}

/* What the model's file will say. NULL: the parameters are good. */
static const char *describe_model(const struct glcnn_model_parameters *p, struct saved *saved)
{
    const char *wrong = read_form(p, &saved->form);
    uint32_t count;
    if (wrong || (wrong = read_normalisation(p, saved)))
        return wrong;
    saved->net = net_find(p->net ? p->net : "resnet10");
    if (!saved->net)
        return "there is no such network";
    if (!net_fits(saved->net, &saved->form))
        return "the pictures are too small for the network";
    snprintf(saved->title, sizeof saved->title, "%s", saved->net->name);
    char *text = class_names_text(p->class_names, p->class_count);
    saved->owned = text ? class_names_parse(text, &count) : NULL;
    saved->names = (const char *const *)saved->owned;
    free(text);
    return saved->owned ? NULL : "the names of classes cannot be copied";
}

glcnn_status glcnn_model_create(glcnn_device *device,
                                const struct glcnn_model_parameters *parameters,
                                glcnn_model **model, char error[GLCNN_ERROR_LENGTH])
{
    glcnn_model *m = *model = calloc(1, sizeof *m);
    const char *wrong = m ? describe_model(parameters, &m->saved) : NULL;
    glcnn_status status = GLCNN_SUCCESS;
    if (!m)
        return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    if (wrong)
        status = fail_with(error, GLCNN_INVALID_ARGUMENT, "%s", wrong);
    else
        status = trained_open(m, device, error);
    if (status == GLCNN_SUCCESS &&
        glcnn_network_initialise(m->model.network, parameters->seed) != GLCNN_SUCCESS)
        status = trained_refuse_device(error, m->model.device);
    if (status != GLCNN_SUCCESS)
        glcnn_model_destroy(model);
    return status;
}

/* Regress: answers are in units of 1 until training learns those of the data. */
static bool begin_units(const struct model *model)
{
    const uint32_t count = model->units[0] ? model->form.classes : 0;
    float *values = calloc(2 * (size_t)count + 1, sizeof *values);
    bool good = values != NULL;
    for (uint32_t k = 0; good && k < count; k++)
        values[k] = 1;
    for (uint32_t i = 0; good && count > 0 && i < 2; i++)
        good = glcnn_kernel_set_vector(model->units[i], "neuron_data", values + i * count, count) ==
               GLCNN_SUCCESS;
    free(values);
    return good;
}

glcnn_image_node *glcnn_task_add_head(glcnn_network *network,
                                      const struct glcnn_model_parameters *parameters,
                                      const struct glcnn_feature *features, uint32_t count,
                                      char error[GLCNN_ERROR_LENGTH])
{
    struct model model = {.network = network};
    struct features taken = {.count = count};
    const char *wrong = read_form(parameters, &model.form);
    if (!wrong && (count < 1 || count > FEATURES_MAX))
        wrong = "a head needs 1 to 6 features";
    for (uint32_t i = 0; !wrong && i < count; i++) {
        const struct glcnn_feature *f = &features[i];
        taken.at[i] = (struct feature){f->image, f->width, f->height, f->channels};
        if (!f->image || f->width < 1 || f->height < 1 || f->channels < 1)
            wrong = "a feature has no image, or no size";
    }
    if (wrong) {
        snprintf(error, GLCNN_ERROR_LENGTH, "%s", wrong);
        return NULL;
    }
    model.scores = model_add_head(network, &taken, &model.form);
    if (model.scores && task_of(&model.form)->finish(&model) && begin_units(&model) &&
        glcnn_network_status(network) == GLCNN_SUCCESS)
        return model.probabilities ? model.probabilities : model.scores;
    snprintf(error, GLCNN_ERROR_LENGTH, "the network cannot take the head: %s",
             glcnn_status_text(glcnn_network_status(network)));
    return NULL;
}

glcnn_status glcnn_model_save(const glcnn_model *model, const char *path,
                              char error[GLCNN_ERROR_LENGTH])
{
    if (saved_write(&model->saved, &model->model, path, NULL, NULL, 0, error))
        return GLCNN_SUCCESS;
    return glcnn_device_is_lost(model->model.device) ? GLCNN_DEVICE_LOST : GLCNN_IO_ERROR;
}
