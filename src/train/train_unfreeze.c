/* --unfreeze-after: a run whose layers all train from some epoch on. What was frozen until then had no
 * optimizer, so all begin with one that has seen no step; weights and statistics stay. */
#include <stdio.h>
#include <stdlib.h>

#include "train_session.h"

static bool is_unfrozen(const glcnn_trainer *s)
{
    const uint64_t after = s->settings.unfreeze_after;
    return after > 0 && s->steps > 0 && s->step / s->steps >= after;
}

const char *session_layers(const glcnn_trainer *s)
{
    return is_unfrozen(s) ? "all" : s->settings.train;
}

bool session_unfreezes_behind(const glcnn_trainer *s, size_t step)
{
    const uint64_t after = s->settings.unfreeze_after;
    return after > 0 && step / s->steps < after && is_unfrozen(s);
}

/* ---- The same network ---- */

static bool copy_vector(const glcnn_kernel *from, glcnn_kernel *to, const char *name)
{
    if (!glcnn_kernel_has_vector(from, name))
        return true;
    glcnn_buffer *buffer = glcnn_kernel_vector(from, name);
    const size_t size = glcnn_buffer_size(buffer);
    float *values = malloc(size);
    bool copied = values && glcnn_buffer_read(buffer, 0, size, values) == GLCNN_SUCCESS &&
                  glcnn_kernel_set_vector(to, name, values, size / sizeof *values) == GLCNN_SUCCESS;
    free(values);
    return copied;
}

static bool copy_kernel(const glcnn_kernel *from, glcnn_kernel *to)
{
    bool copied = true;
    for (size_t i = 0; i < MODEL_VECTORS && copied; i++)
        copied = copy_vector(from, to, model_vectors[i]);
    glcnn_kernel_set_encode_count(to, glcnn_kernel_encode_count(from));
    return copied;
}

/* Behind the filters of both the old network has those of its gradients. */
static bool copy_network(const struct model *from, const struct model *to)
{
    glcnn_filter_node *filter;
    bool copied = true;
    for (size_t i = 0; copied && (filter = glcnn_network_filter(to->network, i)) != NULL; i++)
        copied = copy_kernel(glcnn_filter_node_kernel(glcnn_network_filter(from->network, i)),
                             glcnn_filter_node_kernel(filter));
    return copied;
}

/* ---- The change ---- */

static bool remake_model(glcnn_trainer *s, char error[GLCNN_ERROR_LENGTH])
{
    struct model model = {.network = NULL};
    struct layers layers;
    bool made = session_make_model(s, false, &model, &layers, error);
    if (made && !copy_network(&s->model, &model)) {
        snprintf(error, GLCNN_ERROR_LENGTH, "%s", model_failure(s->device));
        made = false;
    }
    if (!made) {
        model_destroy(&model);
        return false;
    }
    model_destroy(&s->model);
    s->model = model;
    s->layers = layers;
    ema_begin(&s->ema, s->model.network, 0);
    return true;
}

glcnn_status session_unfreeze(glcnn_trainer *s)
{
    if (s->settings.unfreeze_after * s->steps != s->step)
        return GLCNN_SUCCESS;
    const glcnn_status status = session_reopen_runners(s, remake_model);
    if (status != GLCNN_SUCCESS)
        return status;
    events_note(s->events, "layers: all %u train from now on\n", s->layers.count);
    session_note_backbone_rate(s);
    return GLCNN_SUCCESS;
}
