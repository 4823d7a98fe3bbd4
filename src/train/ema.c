/* Averages of weights. A step of gradient descent against average - trained makes them, whose vector of
 * gradients is what is trained: gradient_rescale is -1, and l2 regularisation adds the average. */
#include "ema.h"

#include <stdlib.h>
#include <string.h>

#include "task/model.h"

struct ema_vector {
    glcnn_buffer *trained, *average; /* trained: the kernel's */
};

static bool good(glcnn_status status)
{
    return status == GLCNN_SUCCESS;
}

void ema_begin(struct ema *ema, glcnn_network *network, double decay)
{
    *ema = (struct ema){.decay = decay, .network = network};
}

void ema_end(struct ema *ema)
{
    glcnn_command_buffer_destroy(&ema->commands);
    glcnn_kernel_destroy(&ema->optimizer);
    for (size_t i = 0; i < ema->count; i++)
        glcnn_buffer_destroy(&ema->vectors[i].average);
    free(ema->vectors);
    *ema = (struct ema){.decay = 0};
}

/* ---- Vectors ---- */

static bool add_kernel(struct ema *ema, const glcnn_kernel *kernel)
{
    for (int i = 0; i < MODEL_VECTORS; i++) {
        if (!glcnn_kernel_has_vector(kernel, model_vectors[i]))
            continue;
        struct ema_vector *v = &ema->vectors[ema->count];
        v->trained = glcnn_kernel_vector(kernel, model_vectors[i]);
        if (!v->trained || !good(glcnn_buffer_create(glcnn_kernel_device(kernel),
                                                     glcnn_buffer_size(v->trained), &v->average)))
            return false;
        ema->size += glcnn_buffer_size(v->average);
        ema->count++;
    }
    return true;
}

static bool add_all(struct ema *ema)
{
    const size_t filters = model_filter_count(ema->network);
    bool added = true;
    ema->vectors = calloc(filters * MODEL_VECTORS + 1, sizeof *ema->vectors);
    for (size_t i = 0; i < filters && ema->vectors && added; i++) {
        const glcnn_kernel *kernel = model_trained_kernel(ema->network, i);
        added = !kernel || add_kernel(ema, kernel);
    }
    return ema->vectors && added;
}

/* ---- Values ---- */

/* Calls for the values of both, and writes them back. */
static bool change(struct ema_vector *v, void (*with)(float *trained, float *average, size_t size))
{
    const size_t size = glcnn_buffer_size(v->trained);
    float *values = malloc(2 * size), *average = values ? values + size / sizeof *values : NULL;
    bool done = values && good(glcnn_buffer_read(v->trained, 0, size, values)) &&
                good(glcnn_buffer_read(v->average, 0, size, average));
    if (done)
        with(values, average, size);
    done = done && good(glcnn_buffer_write(v->trained, 0, size, values)) &&
           good(glcnn_buffer_write(v->average, 0, size, average));
    free(values);
    return done;
}

static bool change_all(struct ema *ema, void (*with)(float *trained, float *average, size_t size))
{
    bool done = true;
    for (size_t i = 0; i < ema->count && done; i++)
        done = change(&ema->vectors[i], with);
    return done;
}

static void copy(float *trained, float *average, size_t size)
{
    memcpy(average, trained, size);
}

static void exchange(float *trained, float *average, size_t size)
{
    for (size_t i = 0; i < size / sizeof *trained; i++) {
        float value = trained[i];
        trained[i] = average[i];
        average[i] = value;
    }
}

bool ema_exchange(struct ema *ema)
{
    return change_all(ema, exchange);
}

/* ---- Steps ---- */

static bool make_optimizer(struct ema *ema)
{
    if (!good(glcnn_optimizer_stochastic_gradient_descent_create(glcnn_network_device(ema->network),
                                                                 0, &ema->optimizer)))
        return false;
    struct glcnn_optimizer_parameters *p = glcnn_optimizer(ema->optimizer);
    p->gradient_rescale = -1;
    p->regularization_type = GLCNN_REGULARIZATION_TYPE_L2;
    p->regularization_scale = 1;
    return true;
}

static bool encode_all(struct ema *ema)
{
    bool encoded =
        good(glcnn_command_buffer_create(glcnn_network_device(ema->network), &ema->commands));
    for (size_t i = 0; i < ema->count && encoded; i++) {
        const struct ema_vector *v = &ema->vectors[i];
        encoded = good(glcnn_optimizer_encode(ema->commands, ema->optimizer, v->trained, v->average,
                                              NULL, NULL, v->average));
    }
    return encoded;
}

double ema_decay(const struct ema *ema, uint64_t step)
{
    const double ramp = (1 + (double)step) / (10 + (double)step);
    return ramp < ema->decay ? ramp : ema->decay;
}

bool ema_step(struct ema *ema, uint64_t step)
{
    if (ema->decay == 0)
        return true;
    if (!ema->vectors)
        return add_all(ema) && change_all(ema, copy);
    if (!ema->optimizer && !make_optimizer(ema))
        return false;
    glcnn_optimizer(ema->optimizer)->learning_rate = (float)(1 - ema_decay(ema, step));
    return (ema->commands || encode_all(ema)) && good(glcnn_command_buffer_commit(ema->commands));
}

/* ---- Files ---- */

bool ema_save(const struct ema *ema, uint8_t *bytes)
{
    bool done = true;
    for (size_t i = 0; i < ema->count && done; i++) {
        const size_t size = glcnn_buffer_size(ema->vectors[i].average);
        done = good(glcnn_buffer_read(ema->vectors[i].average, 0, size, bytes));
        bytes += size;
    }
    return done;
}

bool ema_load(struct ema *ema, const uint8_t *bytes, size_t size)
{
    bool done = add_all(ema) && ema->size == size;
    for (size_t i = 0; i < ema->count && done; i++) {
        const size_t part = glcnn_buffer_size(ema->vectors[i].average);
        done = good(glcnn_buffer_write(ema->vectors[i].average, 0, part, bytes));
        bytes += part;
    }
    done = done && ema_exchange(ema);
    if (done && ema->decay == 0)
        ema_end(ema);
    return done;
}
