/* The optimizer of a run. */
#include "train_optimizer.h"

static void set_parameters(const glcnn_train_settings *s, struct glcnn_optimizer_parameters *p)
{
    p->momentum_scale = s->optimizer->momentum;
    p->use_nesterov_momentum = s->nesterov;
    p->weight_decay = (float)s->weight_decay;
    p->decays_weights_only = s->weight_decay > 0;
    p->apply_gradient_clipping = s->clip > 0;
    if (p->apply_gradient_clipping) {
        p->gradient_clip_max = (float)s->clip;
        p->gradient_clip_min = -(float)s->clip;
    }
}

void train_optimizer_set_rate(const glcnn_train_settings *settings, const struct model *model,
                              const struct layers *layers, float rate)
{
    const struct learning_rates rates = {.head = rate,
                                         .backbone = rate * (float)settings->backbone_rate};
    model_set_learning_rates(model, layers->head, &rates);
}

bool train_optimizer_set(const glcnn_train_settings *settings, const struct model *model,
                         const struct layers *layers)
{
    struct glcnn_training_descriptor descriptor = {NULL};
    if (settings->optimizer->create(model->device, 0, &descriptor.optimizer) != GLCNN_SUCCESS)
        return false;
    set_parameters(settings, glcnn_optimizer(descriptor.optimizer));
    glcnn_status status = glcnn_network_set_training(model->network, &descriptor);
    glcnn_kernel_destroy(&descriptor.optimizer);
    if (status == GLCNN_SUCCESS)
        train_optimizer_set_rate(settings, model, layers, (float)settings->rate);
    return status == GLCNN_SUCCESS;
}
