/* A resolved operation on the device, through the same encode that programs call. */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

#include "image/image.h"
#include "encode/encode.h"
#include "encode/state.h"

/* Everything that one run makes on the device. */
struct device_run {
    glcnn_command_buffer *command_buffer;
    glcnn_kernel *kernel;
    glcnn_state *state;
    glcnn_image *images[MAX_ARGUMENTS];
    glcnn_buffer *buffers[MAX_ARGUMENTS];
    struct glcnn_encode encode;
};

static float *to_floats(const double *data, size_t count)
{
    float *floats = malloc((count ? count : 1) * sizeof *floats);
    for (size_t i = 0; floats && i < count; i++)
        floats[i] = (float)data[i];
    return floats;
}

static void to_doubles(const float *floats, double *data, size_t count)
{
    for (size_t i = 0; i < count; i++)
        data[i] = floats[i];
}

/* Values in place of themselves become the bytes of a Unorm8 image. */
static void to_bytes(float *floats, size_t count)
{
    unsigned char *bytes = (unsigned char *)floats;
    for (size_t i = 0; i < count; i++)
        bytes[i] = byte_of_unit(floats[i]);
}

/* Between an image and an array [n][c][h][w], as the image's transfers have the elements. */
static glcnn_status move_image(struct run *run, glcnn_image *image, double *data, size_t count,
                               bool write)
{
    const struct glcnn_image_transfer chw = {.layout = GLCNN_LAYOUT_CHANNELS_HEIGHT_WIDTH};
    glcnn_command_buffer *commands = NULL;
    glcnn_buffer *buffer = NULL;
    float *floats = to_floats(data, count);
    glcnn_status status =
        floats ? glcnn_command_buffer_create(run->device, &commands) : run_out_of_memory(run);
    if (floats && image->descriptor.channel_format == GLCNN_CHANNEL_FORMAT_UNORM8)
        to_bytes(floats, count);
    if (status == GLCNN_SUCCESS)
        status = glcnn_buffer_create(run->device, count * 4, &buffer);
    if (status == GLCNN_SUCCESS && write)
        status = glcnn_buffer_write(buffer, 0, count * 4, floats);
    if (status == GLCNN_SUCCESS)
        status = write ? glcnn_image_encode_write(commands, image, &chw, buffer, 0)
                       : glcnn_image_encode_read(commands, image, &chw, buffer, 0);
    if (status == GLCNN_SUCCESS)
        status = glcnn_command_buffer_commit(commands);
    if (status == GLCNN_SUCCESS && !write)
        status = glcnn_buffer_read(buffer, 0, count * 4, floats);
    if (status == GLCNN_SUCCESS && !write)
        to_doubles(floats, data, count);
    free(floats);
    glcnn_buffer_destroy(&buffer);
    glcnn_command_buffer_destroy(&commands);
    return status;
}

static void place_image(struct glcnn_encode *encode, enum argument_place place, glcnn_image *image)
{
    glcnn_image **const places[PLACE_IMAGES] = {[PLACE_SOURCE] = &encode->source,
                                                [PLACE_SECONDARY] = &encode->secondary,
                                                [PLACE_DESTINATION] = &encode->destination,
                                                [PLACE_LABELS] = &encode->labels,
                                                [PLACE_LABEL_WEIGHTS] = &encode->label_weights,
                                                [PLACE_LOSS] = &encode->loss};
    *places[place] = image;
}

static glcnn_status make_image(struct run *run, struct resolved *r, struct device_run *d,
                               size_t index)
{
    const struct argument *argument = &r->operation.descriptor->arguments[index];
    const struct glcnn_image_descriptor *shape = &r->shapes.images[index];
    struct glcnn_image_descriptor made = *shape;
    if (argument->place == PLACE_FORWARD)
        return GLCNN_SUCCESS;
    if (argument_is_float32(argument))
        made.channel_format = GLCNN_CHANNEL_FORMAT_FLOAT32;
    glcnn_status status = glcnn_image_create(run->device, &made, &d->images[index]);
    const struct named_array *array = run_image_input(run, &r->operation, index);
    if (status == GLCNN_SUCCESS && argument->input && array && !run->explain)
        status = move_image(run, d->images[index], array->data, array_count(array), true);
    place_image(&d->encode, argument->place, d->images[index]);
    return status;
}

static glcnn_status write_vector(struct run *run, glcnn_buffer *buffer, const double *data,
                                 size_t count)
{
    if (run->explain)
        return GLCNN_SUCCESS;
    float *floats = to_floats(data, count);
    if (!floats)
        return run_out_of_memory(run);
    glcnn_status status = glcnn_buffer_write(buffer, 0, count * 4, floats);
    free(floats);
    return status;
}

static glcnn_status make_call_vector(struct run *run, struct resolved *r, struct device_run *d,
                                     size_t index, size_t position)
{
    const struct argument *argument = &r->operation.descriptor->arguments[index];
    const struct named_array *array = argument_map_find(run->map, argument->name);
    size_t length = r->operation.vectors[index].count;
    if (!array && !argument->output && argument->optional)
        return GLCNN_SUCCESS;
    glcnn_status status = glcnn_buffer_create(run->device, length * 4, &d->buffers[index]);
    if (status == GLCNN_SUCCESS && array && argument->input)
        status = write_vector(run, d->buffers[index], array->data, length);
    d->encode.vectors[position] = d->buffers[index];
    return status;
}

static glcnn_status make_vector(struct run *run, struct resolved *r, struct device_run *d,
                                size_t index)
{
    const struct argument *argument = &r->operation.descriptor->arguments[index];
    const struct named_array *array = argument_map_find(run->map, argument->name);
    size_t length = r->operation.vectors[index].count;
    struct state_vector *vector;
    glcnn_buffer *buffer;
    if (!array || !argument->input || length == 0)
        return GLCNN_SUCCESS;
    if (argument->place == PLACE_KERNEL) {
        glcnn_status status = kernel_vector(d->kernel, index, length, &buffer);
        return status == GLCNN_SUCCESS ? write_vector(run, buffer, array->data, length) : status;
    }
    glcnn_status status = state_vector(d->state, argument->name, length, false, &vector);
    if (status != GLCNN_SUCCESS)
        return status;
    vector->filled = true;
    return write_vector(run, vector->buffer, array->data, length);
}

static glcnn_status make_arguments(struct run *run, struct resolved *r, struct device_run *d)
{
    const struct argument *argument;
    glcnn_status status = GLCNN_SUCCESS;
    size_t position = 0;
    for (size_t i = 0;
         status == GLCNN_SUCCESS && (argument = descriptor_argument_at(r->operation.descriptor, i));
         i++) {
        if (argument->place == PLACE_CALL)
            status = make_call_vector(run, r, d, i, position++);
        else if (!argument_is_image(argument))
            status = make_vector(run, r, d, i);
        else if (r->operation.given[i])
            status = make_image(run, r, d, i);
    }
    return status;
}

/* A state as the forward encode would have left it. */
static glcnn_status make_state(struct run *run, struct resolved *r, struct device_run *d)
{
    glcnn_status status = state_create(run->device, NULL, &d->state);
    if (status != GLCNN_SUCCESS || !r->has_forward)
        return status;
    const struct glcnn_descriptor *f = r->forward.descriptor;
    int second = descriptor_place(f, PLACE_SECONDARY);
    d->state->samples = run_samples(r);
    state_capture(d->state, &r->forward,
                  &r->forward_shapes.images[descriptor_place(f, PLACE_SOURCE)],
                  second < 0 ? NULL : &r->forward_shapes.images[second],
                  &r->forward_shapes.images[descriptor_place(f, PLACE_DESTINATION)]);
    return GLCNN_SUCCESS;
}

static bool uses_state(const struct glcnn_descriptor *d)
{
    const struct argument *argument;
    for (size_t i = 0; (argument = descriptor_argument_at(d, i)); i++)
        if (argument->place == PLACE_STATE || argument->place == PLACE_STATE_OR_KERNEL)
            return true;
    return d->flags & (NEEDS_STATE | MAKES_STATE | IS_GRADIENT);
}

static glcnn_status read_vector(struct run *run, glcnn_buffer *buffer, struct named_array *array)
{
    size_t count = array_count(array);
    float *floats = malloc((count ? count : 1) * sizeof *floats);
    if (!floats)
        return run_out_of_memory(run);
    glcnn_status status = glcnn_buffer_read(buffer, 0, count * 4, floats);
    if (status == GLCNN_SUCCESS)
        to_doubles(floats, array->data, count);
    free(floats);
    return status;
}

static glcnn_status read_outputs(struct run *run, struct resolved *r, struct device_run *d)
{
    const struct argument *argument;
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0;
         status == GLCNN_SUCCESS && (argument = descriptor_argument_at(r->operation.descriptor, i));
         i++) {
        if (!argument->output || !r->operation.given[i])
            continue;
        struct named_array *array = run_output(run, r, i);
        if (!array)
            return run_out_of_memory(run);
        if (argument_is_image(argument))
            status = move_image(run, d->images[i], array->data, array_count(array), false);
        else if (argument->place == PLACE_CALL)
            status = read_vector(run, d->buffers[i], array);
        else if (glcnn_state_vector(d->state, argument->name))
            status = read_vector(run, glcnn_state_vector(d->state, argument->name), array);
    }
    return status;
}

static glcnn_status encode_and_commit(struct run *run, struct device_run *d)
{
    if (run->explain)
        return encode_dry(d->command_buffer, d->kernel, &d->encode, run->explain,
                          run->explain_user);
    glcnn_status status = glcnn_kernel_encode(d->command_buffer, d->kernel, &d->encode);
    for (uint32_t i = 0; i <= run->more_commits && status == GLCNN_SUCCESS; i++)
        status = glcnn_command_buffer_commit(d->command_buffer);
    return status;
}

glcnn_status run_device(struct run *run, struct resolved *r)
{
    struct device_run d = {0};
    const struct glcnn_descriptor *descriptor = r->operation.descriptor;
    glcnn_status status = kernel_create(run->device, descriptor, &d.kernel);
    if (status == GLCNN_SUCCESS)
        status = glcnn_command_buffer_create(run->device, &d.command_buffer);
    if (status == GLCNN_SUCCESS) {
        d.kernel->properties = r->operation.properties;
        memcpy(d.kernel->parameters, r->parameters, descriptor->parameters_size);
    }
    if (status == GLCNN_SUCCESS && uses_state(descriptor))
        status = make_state(run, r, &d);
    if (status == GLCNN_SUCCESS)
        status = make_arguments(run, r, &d);
    d.encode.state = d.state;
    if (status == GLCNN_SUCCESS)
        status = encode_and_commit(run, &d);
    if (status == GLCNN_SUCCESS && !run->explain)
        status = read_outputs(run, r, &d);
    if (status != GLCNN_SUCCESS && run->device->error[0])
        invalid(run->validation, "%s", run->device->error);
    for (size_t i = 0; i < MAX_ARGUMENTS; i++) {
        glcnn_image_destroy(&d.images[i]);
        glcnn_buffer_destroy(&d.buffers[i]);
    }
    glcnn_command_buffer_destroy(&d.command_buffer);
    glcnn_state_destroy(&d.state);
    glcnn_kernel_destroy(&d.kernel);
    return status;
}
