/* What a measurement computes: NaN before, finite numbers after. */
#include "bench_work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is looked at of an output image: its first, middle and last image. */
static uint32_t looked_at(const glcnn_image *image, uint32_t which[3])
{
    uint32_t count = glcnn_image_get_descriptor(image)->number_of_images;
    const uint32_t all[3] = {0, count / 2, count - 1};
    memcpy(which, all, sizeof all);
    return count < 3 ? count : 3;
}

static glcnn_status poison_buffer(glcnn_buffer *buffer)
{
    size_t size = glcnn_buffer_size(buffer);
    float *values = malloc(size);
    if (!values)
        return GLCNN_OUT_OF_MEMORY;
    for (size_t i = 0; i < size / 4; i++)
        values[i] = NAN;
    glcnn_status status = glcnn_buffer_write(buffer, 0, size, values);
    free(values);
    return status;
}

/* A pass that stores by way of a buffer would leave, where it stores nothing, what was stored there
 * last: the image itself by such a pass, so that this is NaN, too. */
static glcnn_status poison_stores(struct bench_job *w, glcnn_image *image)
{
    glcnn_image *stored = NULL;
    glcnn_kernel *kernel = NULL;
    glcnn_command_buffer *commands = NULL;
    if (!glcnn_device_info(w->device)->traits.stores_via_buffer)
        return GLCNN_SUCCESS;
    glcnn_status status = glcnn_image_create(w->device, glcnn_image_get_descriptor(image), &stored);
    if (status == GLCNN_SUCCESS)
        status = glcnn_kernel_create(w->device, "neuron", &kernel);
    if (status == GLCNN_SUCCESS)
        status = glcnn_command_buffer_create(w->device, &commands);
    if (status == GLCNN_SUCCESS)
        status = glcnn_kernel_encode(
            commands, kernel, &(struct glcnn_encode){.source = image, .destination = stored});
    status = bench_finish(commands, status);
    glcnn_kernel_destroy(&kernel);
    glcnn_image_destroy(&stored);
    return status;
}

static glcnn_status poison_image(struct bench_job *w, glcnn_image *image)
{
    uint32_t which[3];
    glcnn_buffer *values = NULL;
    size_t count = bench_image_elements(glcnn_image_get_descriptor(image));
    glcnn_status status = glcnn_buffer_create(w->device, count * 4, &values);
    if (status == GLCNN_SUCCESS)
        status = poison_buffer(values);
    if (status == GLCNN_SUCCESS)
        status = bench_write_images(w, image, values, which, looked_at(image, which));
    if (status == GLCNN_SUCCESS)
        status = poison_stores(w, image);
    glcnn_buffer_destroy(&values);
    return status;
}

/* The first element that is no finite number is said. `image` is its number, or -1. */
static glcnn_status look_at(struct bench_job *w, const char *what, long image, glcnn_buffer *buffer)
{
    size_t size = glcnn_buffer_size(buffer);
    float *values = malloc(size);
    if (!values)
        return GLCNN_OUT_OF_MEMORY;
    glcnn_status status = glcnn_buffer_read(buffer, 0, size, values);
    for (size_t i = 0; i < size / 4 && status == GLCNN_SUCCESS && !w->row->error[0]; i++) {
        char place[32] = "";
        if (image >= 0)
            snprintf(place, sizeof place, " of image %ld", image);
        if (isnan(values[i]))
            snprintf(w->row->error, sizeof w->row->error,
                     "%s: element %zu%s is NaN, as it was before: it is not written, or it is "
                     "computed wrongly",
                     what, i, place);
        else if (isinf(values[i]))
            snprintf(w->row->error, sizeof w->row->error, "%s: element %zu%s is infinite", what, i,
                     place);
    }
    free(values);
    return status;
}

static glcnn_status look_at_image(struct bench_job *w, glcnn_image *image, const char *what)
{
    uint32_t which[3], count = looked_at(image, which);
    glcnn_buffer *values = NULL;
    size_t elements = bench_image_elements(glcnn_image_get_descriptor(image));
    glcnn_status status = glcnn_buffer_create(w->device, elements * 4, &values);
    for (uint32_t i = 0; i < count && status == GLCNN_SUCCESS; i++) {
        const struct glcnn_image_transfer one = {.first_image = which[i], .image_count = 1};
        glcnn_command_buffer *commands = NULL;
        status = glcnn_command_buffer_create(w->device, &commands);
        if (status == GLCNN_SUCCESS)
            status = glcnn_image_encode_read(commands, image, &one, values, 0);
        status = bench_finish(commands, status);
        if (status == GLCNN_SUCCESS)
            status = look_at(w, what, which[i], values);
    }
    glcnn_buffer_destroy(&values);
    return status;
}

/* Vectors of the state that the timed kernels compute. Masks are bits and no numbers. */
static glcnn_status each_vector(struct bench_job *w, const char *chain, bool poison)
{
    char text[128], *rest = NULL;
    glcnn_status status = GLCNN_SUCCESS;
    snprintf(text, sizeof text, "%s", chain);
    for (char *name = strtok_r(text, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        const struct glcnn_kernel_info *info = glcnn_kernel_info_by_name(name);
        for (size_t i = 0; i < info->argument_count && status == GLCNN_SUCCESS; i++) {
            const struct glcnn_argument_info *a = &info->arguments[i];
            bool output = !a->is_image && a->is_output && !a->is_input && !strstr(a->name, "mask");
            glcnn_buffer *vector =
                output && w->state ? glcnn_state_vector(w->state, a->name) : NULL;
            if (vector)
                status = poison ? poison_buffer(vector) : look_at(w, a->name, -1, vector);
        }
    }
    return status;
}

glcnn_status bench_each_output(struct bench_job *w, bool poison)
{
    bool forward = w->part == BENCH_FORWARD;
    glcnn_image *images[] = {forward ? w->result : w->destination, forward ? w->loss : NULL};
    static const char *const names[] = {"the result", "the loss"};
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < 2 && status == GLCNN_SUCCESS; i++)
        if (images[i])
            status = poison ? poison_image(w, images[i]) : look_at_image(w, images[i], names[i]);
    for (size_t i = 0; i < GLCNN_CALL_VECTORS && status == GLCNN_SUCCESS; i++)
        if (w->vectors[i] && !poison) /* updated in place: poison would stay */
            status = look_at(w, "a vector", -1, w->vectors[i]);
    if (status != GLCNN_SUCCESS)
        return status;
    return each_vector(w, forward ? w->shape->forward : w->shape->gradient, poison);
}
