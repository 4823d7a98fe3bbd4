/* Runs one kernel on arrays: resolves it, runs the kernels that fill what is missing, then hands it
 * to the device or to its reference. */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

/* ---- Images ---- */

const struct named_array *run_image_input(const struct run *run, const struct operation *operation,
                                          size_t index)
{
    const struct glcnn_descriptor *d = operation->descriptor;
    const struct argument *argument = &d->arguments[index];
    int beside = descriptor_place(d, PLACE_FORWARD);
    if (beside < 0 || argument->place != PLACE_SECONDARY ||
        operation_operands(operation).given != PLACE_SECONDARY)
        return argument_map_find(run->map, argument->name);
    const struct named_array *second = argument_map_find(run->map, d->arguments[beside].name);
    return second ? second : argument_map_find(run->map, argument->name);
}

/* ---- Vectors ---- */

/* What all vectors of a call are like: an optimizer's values, else the first one given. */
static const struct named_array *values_of(struct run *run, const struct glcnn_descriptor *d)
{
    const struct named_array *array = argument_map_find(run->map, "values");
    const struct argument *argument;
    for (size_t i = 0; !array && (argument = descriptor_argument_at(d, i)); i++)
        if (argument->place == PLACE_CALL)
            array = argument_map_find(run->map, argument->name);
    return array;
}

static size_t vector_length(struct run *run, const struct operation *o, size_t index)
{
    if (o->descriptor->arguments[index].place == PLACE_CALL) {
        const struct named_array *values = values_of(run, o->descriptor);
        return values ? array_count(values) : 0;
    }
    return o->descriptor->length ? o->descriptor->length(o, index) : 0;
}

static glcnn_status fill_one(struct run *run, const struct argument *argument, const char *filler,
                             size_t length)
{
    struct run inner = *run;
    const uint32_t shape = (uint32_t)length;
    if (run->explain) /* as if it had been filled */
        return argument_map_add(run->map, argument->name, 1, &shape) ? GLCNN_SUCCESS
                                                                     : run_out_of_memory(run);
    inner.settings.partial = true;
    return run_kernel(&inner, descriptor_find(filler));
}

/* Runs the kernels that fill inputs which were not given and are of use. */
static glcnn_status fill_missing(struct run *run, const struct operation *o)
{
    const struct argument *argument;
    for (size_t i = 0; (argument = descriptor_argument_at(o->descriptor, i)); i++) {
        const char *filler = descriptor_filler(o->descriptor, argument);
        if (!filler || !argument->input || argument_map_find(run->map, argument->name) ||
            vector_length(run, o, i) == 0)
            continue;
        glcnn_status status = fill_one(run, argument, filler, vector_length(run, o, i));
        if (status != GLCNN_SUCCESS)
            return status;
    }
    return GLCNN_SUCCESS;
}

static bool check_vectors(struct run *run, struct operation *o)
{
    const struct argument *argument;
    for (size_t i = 0; (argument = descriptor_argument_at(o->descriptor, i)); i++) {
        if (argument_is_image(argument))
            continue;
        const struct named_array *array = argument_map_find(run->map, argument->name);
        size_t length = vector_length(run, o, i);
        o->vectors[i] = (struct vector_view){.count = length};
        if (!array && argument->input && argument->place == PLACE_CALL && !argument->optional)
            return invalid(run->validation, "%s: the input %s is missing", o->descriptor->name,
                           argument->name);
        if (array && !array->computed && array_count(array) != length)
            return invalid(run->validation, "%s: %s has %zu elements; %zu are needed",
                           o->descriptor->name, argument->name, array_count(array), length);
        o->given[i] = length > 0 && (array || argument->output || argument->place == PLACE_KERNEL ||
                                     argument->place == PLACE_STATE_OR_KERNEL);
    }
    return true;
}

uint64_t run_samples(const struct resolved *r)
{
    int index =
        descriptor_place(r->operation.descriptor, r->has_forward ? PLACE_SECONDARY : PLACE_SOURCE);
    if (index < 0 || r->operation.descriptor->flags & STARTS_STATE)
        return 0;
    const struct image_view *view = &r->operation.images[index];
    return (uint64_t)view->width * view->height * view->images;
}

/* Shape of a vector output: of what it is the gradient of, of the values, or flat. */
static struct named_array *add_vector_output(struct run *run, const struct operation *o,
                                             size_t index)
{
    const struct argument *argument = &o->descriptor->arguments[index];
    size_t length = o->vectors[index].count;
    uint32_t flat = (uint32_t)length;
    const struct named_array *like = NULL;
    if (strncmp(argument->name, "gradient_for_", 13) == 0)
        like = argument_map_find(run->map, argument->name + 13);
    else if (argument->place == PLACE_CALL)
        like = values_of(run, o->descriptor);
    if (like && array_count(like) == length)
        return argument_map_add(run->map, argument->name, like->rank, like->shape);
    return argument_map_add(run->map, argument->name, 1, &flat);
}

static struct named_array *add_image_output(struct run *run, const struct argument *argument,
                                            const struct glcnn_image_descriptor *d)
{
    const uint32_t full[4] = {d->number_of_images, d->feature_channels, d->height, d->width};
    bool scalar = d->width * d->height * d->feature_channels == 1;
    if (argument->place == PLACE_LOSS && scalar)
        return argument_map_add(run->map, argument->name, 1, full);
    return argument_map_add(run->map, argument->name, 4, full);
}

/* The array that an output goes to: one that was an input is updated in place. */
struct named_array *run_output(struct run *run, struct resolved *r, size_t index)
{
    const struct argument *argument = &r->operation.descriptor->arguments[index];
    struct named_array *array = argument_map_find(run->map, argument->name);
    if (array && !array->computed && !argument->input) /* A field that is given stays as it is. */
        return argument_map_add(run->map, "(not wanted)", array->rank, array->shape);
    if (!array && argument_is_image(argument))
        array = add_image_output(run, argument, &r->shapes.images[index]);
    else if (!array)
        array = add_vector_output(run, &r->operation, index);
    if (array)
        array->computed = true;
    return array;
}

glcnn_status run_out_of_memory(const struct run *run)
{
    invalid(run->validation, "out of memory");
    return GLCNN_OUT_OF_MEMORY;
}

/* ---- Both ---- */

glcnn_status run_kernel(struct run *run, const struct glcnn_descriptor *descriptor)
{
    struct resolved *r = calloc(1, sizeof *r);
    if (!r)
        return run_out_of_memory(run);
    glcnn_status status =
        resolve(run, descriptor, r) ? fill_missing(run, &r->operation) : GLCNN_INVALID_ARGUMENT;
    if (status == GLCNN_SUCCESS && !check_vectors(run, &r->operation))
        status = GLCNN_INVALID_ARGUMENT;
    if (status == GLCNN_SUCCESS) {
        r->operation.samples = run_samples(r);
        status = run_check(run, &r->operation) ? GLCNN_SUCCESS : GLCNN_INVALID_ARGUMENT;
    }
    if (status == GLCNN_SUCCESS)
        status = run->device ? run_device(run, r) : run_reference(run, r);
    free(r);
    return status;
}
