/* A resolved operation in its double-precision reference. */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

#include "encode/reference.h"

/* Copies what the view shows between an array [n][c][h][w] and a tensor of the view alone. */
static void copy_view(const struct resolved *r, size_t index, double *array, double *tensor,
                      bool out)
{
    const struct image_view *view = &r->operation.images[index];
    const struct image_start *start = &r->operation.starts[index];
    const struct glcnn_image_descriptor *whole = &r->shapes.images[index];
    size_t plane = (size_t)whole->width * whole->height;
    for (uint32_t n = 0; n < view->images; n++) {
        size_t first = (size_t)(start->image + n) * whole->feature_channels + start->channel;
        double *in_array = array + first * plane;
        double *in_tensor = tensor + (size_t)n * view->channels * plane;
        size_t bytes = view->channels * plane * sizeof(double);
        memcpy(out ? in_array : in_tensor, out ? in_tensor : in_array, bytes);
    }
}

static bool set_tensor(struct run *run, struct resolved *r, size_t index, struct tensor *tensor)
{
    const struct image_view *view = &r->operation.images[index];
    const struct argument *argument = &r->operation.descriptor->arguments[index];
    *tensor = (struct tensor){NULL, view->images, view->channels, view->height, view->width};
    if (!r->operation.given[index])
        return true;
    size_t count = (size_t)view->images * view->channels * view->height * view->width;
    tensor->data = calloc(count ? count : 1, sizeof(double));
    if (!tensor->data)
        return false;
    const struct named_array *array = run_image_input(run, &r->operation, index);
    if (argument->input && array)
        copy_view(r, index, array->data, tensor->data, false);
    return true;
}

static bool set_double_vector(struct run *run, struct resolved *r, size_t index, double **vector)
{
    const struct argument *argument = &r->operation.descriptor->arguments[index];
    size_t length = r->operation.vectors[index].count;
    const struct named_array *array = argument_map_find(run->map, argument->name);
    *vector = NULL;
    if (!r->operation.given[index])
        return true;
    *vector = calloc(length ? length : 1, sizeof(double));
    if (!*vector)
        return false;
    if (array && argument->input)
        memcpy(*vector, array->data, length * sizeof(double));
    for (size_t i = 0; i < length && !array; i++)
        (*vector)[i] = argument->neutral;
    return true;
}

static glcnn_status keep_reference_outputs(struct run *run, struct resolved *r,
                                           struct reference *reference)
{
    const struct argument *argument;
    for (size_t i = 0; (argument = descriptor_argument_at(r->operation.descriptor, i)); i++) {
        if (!argument->output || !r->operation.given[i])
            continue;
        struct named_array *array = run_output(run, r, i);
        if (!array)
            return run_out_of_memory(run);
        if (argument_is_image(argument))
            copy_view(r, i, array->data, reference->images[i].data, true);
        else
            memcpy(array->data, reference->vectors[i],
                   r->operation.vectors[i].count * sizeof(double));
    }
    return GLCNN_SUCCESS;
}

glcnn_status run_reference(struct run *run, struct resolved *r)
{
    struct reference reference = {.operation = &r->operation};
    const struct argument *argument;
    bool good = true;
    for (size_t i = 0; good && (argument = descriptor_argument_at(r->operation.descriptor, i)); i++)
        good = argument_is_image(argument) ? set_tensor(run, r, i, &reference.images[i])
                                           : set_double_vector(run, r, i, &reference.vectors[i]);
    glcnn_status status = good ? GLCNN_SUCCESS : run_out_of_memory(run);
    if (good) {
        reference_of(r->operation.descriptor)->compute(&reference);
        status = keep_reference_outputs(run, r, &reference);
    }
    for (size_t i = 0; i < MAX_ARGUMENTS; i++) {
        free(reference.images[i].data);
        free(reference.vectors[i]);
    }
    return status;
}
