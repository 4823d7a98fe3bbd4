/* Runs one kernel on arrays: resolves it, runs the kernels that fill what is missing, then either
 * encodes it on the device or calls its reference. */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "state.h"

static bool refuse(const struct run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool refuse(const struct run *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run->error, 512, format, arguments);
    va_end(arguments);
    return false;
}

static const struct argument *argument_of(const struct glcnn_descriptor *d, size_t index)
{
    return index < MAX_ARGUMENTS && d->arguments[index].name ? &d->arguments[index] : NULL;
}

/* ---- Settings ---- */

bool run_settings_read(const struct glcnn_setting *items, size_t count,
                       struct run_settings *settings)
{
    *settings = (struct run_settings){.items = items, .count = count};
    for (size_t i = 0; i < count; i++) {
        uint32_t value = items[i].value > 0 ? (uint32_t)items[i].value : 0;
        if (strcmp(items[i].name, "destination_width") == 0)
            settings->destination_width = value;
        else if (strcmp(items[i].name, "destination_height") == 0)
            settings->destination_height = value;
        else if (strcmp(items[i].name, "align") == 0 || strcmp(items[i].name, "remainder") == 0)
            settings->padding_bits |= value;
        else if (strcmp(items[i].name, "exclude_edges") == 0 && value)
            settings->padding_bits |= GLCNN_PADDING_EXCLUDE_EDGES;
    }
    return !settings->destination_width == !settings->destination_height;
}

static bool is_run_setting(const char *name)
{
    static const char *const names[] = {"destination_width", "destination_height", "align",
                                        "remainder", "exclude_edges"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Sets what the descriptor has; *known tells whether it has the name. */
static bool apply_one(const struct run *run, const struct glcnn_descriptor *d,
                      struct operation *operation, const struct glcnn_setting *setting, bool *known)
{
    char sentence[256];
    *known = parameter_set(d, &operation->properties, (void *)(uintptr_t)operation->parameters,
                           setting->name, setting->value, sentence, sizeof sentence);
    if (*known || !sentence[0])
        return true;
    return refuse(run, "%s: %s", d->name, sentence);
}

/* Parameters of a convolution that its weights tell, [Co][Ci/groups][kH][kW]. */
static bool apply_weights(const struct run *run, const struct glcnn_descriptor *d,
                          struct operation *operation)
{
    const struct named_array *weights = bag_find(run->bag, "weights");
    double groups = 1, value;
    bool known;
    if (!weights || weights->rank != 4 ||
        !parameter_get(d, &operation->properties, operation->parameters, "output_feature_channels",
                       &value))
        return true;
    for (size_t i = 0; i < run->settings.count; i++)
        if (strcmp(run->settings.items[i].name, "groups") == 0)
            groups = run->settings.items[i].value;
    bool gradient = d->flags & IS_GRADIENT;
    const struct glcnn_setting told[] = {
        {"output_feature_channels", weights->shape[0]},
        {"input_feature_channels", weights->shape[1] * groups},
        {gradient ? "secondary_kernel_height" : "kernel_height", weights->shape[2]},
        {gradient ? "secondary_kernel_width" : "kernel_width", weights->shape[3]},
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (!apply_one(run, d, operation, &told[i], &known))
            return false;
    return true;
}

static bool begin_operation(const struct run *run, const struct glcnn_descriptor *d,
                            struct operation *operation, double *parameters)
{
    *operation = (struct operation){
        .descriptor = d, .device = run->device, .parameters = parameters};
    properties_set_defaults(d, &operation->properties, parameters);
    operation->properties.padding |= run->settings.padding_bits;
    if (!apply_weights(run, d, operation))
        return false;
    return true;
}

/* Settings go to the forward kernel and, where it has the name too, to the gradient kernel. */
static bool apply_settings(const struct run *run, struct resolved *r, bool forward_only)
{
    for (size_t i = 0; i < run->settings.count; i++) {
        const struct glcnn_setting *setting = &run->settings.items[i];
        bool known = false, known_forward = false;
        if (is_run_setting(setting->name))
            continue;
        if (r->has_forward && !apply_one(run, r->forward.descriptor, &r->forward, setting,
                                         &known_forward))
            return false;
        if (!forward_only &&
            !apply_one(run, r->operation.descriptor, &r->operation, setting, &known))
            return false;
        if (!known && !known_forward && !run->settings.partial && !forward_only)
            return refuse(run, "%s: there is no parameter \"%s\"", r->operation.descriptor->name,
                          setting->name);
    }
    uint32_t bits = run->settings.padding_bits;
    r->operation.properties.padding |= bits;
    r->forward.properties.padding |= bits;
    return true;
}

/* ---- Shapes ---- */

static bool image_shape(const struct run *run, const struct named_array *array,
                        struct glcnn_image_descriptor *shape)
{
    uint32_t full[4] = {1, 1, 1, 1};
    if (array->rank > 4)
        return refuse(run, "%s has rank %u; an image has at most 4", array->name, array->rank);
    for (uint32_t i = 0; i < array->rank; i++)
        full[4 - array->rank + i] = array->shape[i];
    for (int i = 0; i < 4; i++)
        if (full[i] == 0)
            return refuse(run, "%s has an extent of 0", array->name);
    *shape = (struct glcnn_image_descriptor){.width = full[3],
                                             .height = full[2],
                                             .feature_channels = full[1],
                                             .number_of_images = full[0],
                                             .channel_format = run->format};
    return true;
}

static bool input_shapes(const struct run *run, const struct glcnn_descriptor *d,
                         struct shapes *shapes)
{
    const struct argument *argument;
    for (size_t i = 0; (argument = argument_of(d, i)); i++) {
        if (!argument_is_image(argument) || !argument->input)
            continue;
        const struct named_array *array = bag_find(run->bag, argument->name);
        if (!array && !argument->optional)
            return refuse(run, "%s: the input %s is missing", d->name, argument->name);
        if (array && !image_shape(run, array, &shapes->images[i]))
            return false;
    }
    return true;
}

/* The forward result's shape: as padding makes it, or as given with offsets as set. */
static bool result_shape(const struct run *run, struct operation *operation, struct shapes *shapes)
{
    const struct glcnn_descriptor *d = operation->descriptor;
    int index = descriptor_place(d, PLACE_DESTINATION);
    char sentence[400];
    if (index < 0)
        return true;
    struct glcnn_offset set = operation->properties.primary.offset;
    if (!geometry_result(operation, shapes, &shapes->images[index], sentence, sizeof sentence) &&
        !run->settings.destination_width)
        return refuse(run, "%s: %s", d->name, sentence);
    if (run->settings.destination_width && !(d->flags & IS_GRADIENT)) {
        operation->properties.primary.offset = set;
        shapes->images[index].width = run->settings.destination_width;
        shapes->images[index].height = run->settings.destination_height;
    }
    return true;
}

static bool side_shapes(struct operation *operation, struct shapes *shapes)
{
    const struct argument *argument;
    for (size_t i = 0; (argument = argument_of(operation->descriptor, i)); i++)
        if (argument_is_image(argument) && argument->output &&
            argument->place != PLACE_DESTINATION && operation->descriptor->image_shape)
            operation->descriptor->image_shape(operation, i, &shapes->images[i]);
    return true;
}

static void mark_given(struct operation *operation, const struct shapes *shapes)
{
    for (size_t i = 0; i < MAX_ARGUMENTS; i++)
        operation->given[i] = shapes->images[i].width != 0;
}

/* ---- Resolving ---- */

/* The forward encode of a gradient: its source is the gradient's source image, its result has the
 * shape of the source gradient. */
static bool resolve_forward(const struct run *run, struct resolved *r)
{
    char sentence[400];
    const struct glcnn_descriptor *d = r->forward.descriptor;
    const struct named_array *source = bag_find(run->bag, "source_image");
    const struct named_array *gradient = bag_find(run->bag, "source_gradient");
    int from = descriptor_place(d, PLACE_SOURCE), to = descriptor_place(d, PLACE_DESTINATION);
    if (!source || !gradient)
        return refuse(run, "%s: the input %s is missing", r->operation.descriptor->name,
                      source ? "source_gradient" : "source_image");
    if (!image_shape(run, source, &r->forward_shapes.images[from]) ||
        !result_shape(run, &r->forward, &r->forward_shapes) ||
        !image_shape(run, gradient, &r->forward_shapes.images[to]))
        return false;
    mark_given(&r->forward, &r->forward_shapes);
    if (!geometry_resolve(&r->forward, &r->forward_shapes, NULL, sentence, sizeof sentence))
        return refuse(run, "%s: %s", d->name, sentence);
    return true;
}

static bool check_gradient_shape(const struct run *run, const struct resolved *r)
{
    const struct glcnn_descriptor *d = r->operation.descriptor;
    struct resolved natural = *r;
    char sentence[400];
    int to = descriptor_place(r->forward.descriptor, PLACE_DESTINATION);
    const struct glcnn_image_descriptor *given = &r->forward_shapes.images[to];
    struct glcnn_image_descriptor wanted;
    uint32_t width = run->settings.destination_width, height = run->settings.destination_height;
    if (!geometry_result(&natural.forward, &natural.forward_shapes, &wanted, sentence,
                         sizeof sentence))
        return width ? true : refuse(run, "%s: %s", r->forward.descriptor->name, sentence);
    wanted.width = width ? width : wanted.width;
    wanted.height = height ? height : wanted.height;
    if (given->width == wanted.width && given->height == wanted.height &&
        given->feature_channels >= wanted.feature_channels)
        return true;
    const struct axis *x = &r->forward.window.x;
    return refuse(run,
                  "%s: source gradient is %ux%u with %u channels but a %ux%u source with kernel "
                  "%d, stride %d, offset %d needs %ux%u with %u channels",
                  d->name, given->width, given->height, given->feature_channels,
                  r->forward_shapes.images[0].width, r->forward_shapes.images[0].height, x->size,
                  x->stride, r->forward.properties.primary.offset.x, wanted.width, wanted.height,
                  wanted.feature_channels);
}

static bool resolve_gradient(const struct run *run, struct resolved *r)
{
    char sentence[400];
    struct operation *o = &r->operation;
    struct glcnn_kernel_properties adopted;
    if (!resolve_forward(run, r) || !check_gradient_shape(run, r))
        return false;
    geometry_adopt(o->descriptor, &r->forward, &o->properties);
    adopted = o->properties;
    /* Settings with names of the gradient kernel's own addressing win over what it takes over; the
     * forward kernel's stay as resolved. */
    struct glcnn_kernel_properties forward = r->forward.properties;
    if (!apply_settings(run, r, false))
        return false;
    r->forward.properties = forward;
    bool manual = memcmp(&adopted, &o->properties, sizeof adopted) != 0;
    if (!manual && r->forward.descriptor->family)
        parameters_adopt(r->forward.descriptor, r->forward_parameters, r->parameters);
    mark_given(o, &r->shapes);
    if (!geometry_resolve(o, &r->shapes, manual ? NULL : &r->forward, sentence, sizeof sentence))
        return refuse(run, "%s: %s", o->descriptor->name, sentence);
    return true;
}

bool run_resolve(const struct run *run, const struct glcnn_descriptor *descriptor,
                 struct resolved *r)
{
    char sentence[400];
    struct operation *o = &r->operation;
    *r = (struct resolved){.has_forward = descriptor->forward != NULL};
    if (descriptor->parameters_size > sizeof r->parameters)
        return refuse(run, "%s: too many parameters", descriptor->name);
    if (!begin_operation(run, descriptor, o, r->parameters))
        return false;
    if (r->has_forward && !begin_operation(run, descriptor_find(descriptor->forward), &r->forward,
                                           r->forward_parameters))
        return false;
    if (!apply_settings(run, r, false) || !input_shapes(run, descriptor, &r->shapes) ||
        !result_shape(run, o, &r->shapes))
        return false;
    bool good = true;
    if (r->has_forward)
        good = resolve_gradient(run, r);
    else {
        mark_given(o, &r->shapes);
        good = geometry_resolve(o, &r->shapes, NULL, sentence, sizeof sentence) ||
               refuse(run, "%s: %s", descriptor->name, sentence);
    }
    if (!good)
        return false;
    side_shapes(o, &r->shapes);
    mark_given(o, &r->shapes);
    return r->has_forward ? true
                          : geometry_resolve(o, &r->shapes, NULL, sentence, sizeof sentence);
}

/* ---- Vectors ---- */

static const struct named_array *values_of(struct run *run)
{
    return bag_find(run->bag, "values");
}

static size_t vector_length(struct run *run, const struct operation *o, size_t index)
{
    const struct named_array *values = values_of(run);
    if (o->descriptor->arguments[index].place == PLACE_CALL && values)
        return array_count(values);
    return o->descriptor->length ? o->descriptor->length(o, index) : 0;
}

/* Runs the kernels that fill inputs which were not given. */
static glcnn_status fill_missing(struct run *run, const struct glcnn_descriptor *d)
{
    const struct argument *argument;
    for (size_t i = 0; (argument = argument_of(d, i)); i++) {
        if (!argument->filled_by || !argument->input || bag_find(run->bag, argument->name))
            continue;
        struct run inner = *run;
        inner.settings.partial = true;
        glcnn_status status = run_kernel(&inner, descriptor_find(argument->filled_by));
        if (status != GLCNN_SUCCESS)
            return status;
    }
    return GLCNN_SUCCESS;
}

static bool check_vectors(struct run *run, struct operation *o)
{
    const struct argument *argument;
    for (size_t i = 0; (argument = argument_of(o->descriptor, i)); i++) {
        if (argument_is_image(argument))
            continue;
        const struct named_array *array = bag_find(run->bag, argument->name);
        size_t length = vector_length(run, o, i);
        o->vectors[i] = (struct vector_view){.count = length};
        if (!array && argument->input && argument->place == PLACE_CALL && !argument->optional)
            return refuse(run, "%s: the input %s is missing", o->descriptor->name, argument->name);
        if (array && !array->computed && array_count(array) != length)
            return refuse(run, "%s: %s has %zu elements; %zu are needed", o->descriptor->name,
                          argument->name, array_count(array), length);
        o->given[i] = length > 0 && (array || argument->output || argument->place == PLACE_KERNEL ||
                                     argument->place == PLACE_STATE_OR_KERNEL);
    }
    return true;
}

static uint64_t source_samples(const struct resolved *r)
{
    int index = descriptor_place(r->operation.descriptor,
                                 r->has_forward ? PLACE_SECONDARY : PLACE_SOURCE);
    if (index < 0 || r->operation.descriptor->flags & STARTS_STATE)
        return 0;
    const struct image_view *view = &r->operation.images[index];
    return (uint64_t)view->width * view->height * view->images;
}

/* Shape of a vector output: of what it is the gradient of, of the values, or flat. */
static struct named_array *add_vector_output(struct run *run, const struct argument *argument,
                                             size_t length)
{
    uint32_t flat = (uint32_t)length;
    const struct named_array *like = NULL;
    if (strncmp(argument->name, "gradient_for_", 13) == 0)
        like = bag_find(run->bag, argument->name + 13);
    else if (argument->place == PLACE_CALL)
        like = values_of(run);
    if (like && array_count(like) == length)
        return bag_add(run->bag, argument->name, like->rank, like->shape);
    return bag_add(run->bag, argument->name, 1, &flat);
}

static struct named_array *add_image_output(struct run *run, const struct argument *argument,
                                            const struct glcnn_image_descriptor *d)
{
    const uint32_t full[4] = {d->number_of_images, d->feature_channels, d->height, d->width};
    bool scalar = d->width * d->height * d->feature_channels == 1;
    if (argument->place == PLACE_LOSS && scalar)
        return bag_add(run->bag, argument->name, 1, full);
    return bag_add(run->bag, argument->name, 4, full);
}

/* The array that an output goes to: one that was an input is updated in place. */
static struct named_array *output_array(struct run *run, struct resolved *r, size_t index)
{
    const struct argument *argument = &r->operation.descriptor->arguments[index];
    struct named_array *array = bag_find(run->bag, argument->name);
    if (!array && argument_is_image(argument))
        array = add_image_output(run, argument, &r->shapes.images[index]);
    else if (!array)
        array = add_vector_output(run, argument, r->operation.vectors[index].count);
    if (array)
        array->computed = true;
    return array;
}

static glcnn_status out_of_memory(const struct run *run)
{
    refuse(run, "out of memory");
    return GLCNN_OUT_OF_MEMORY;
}

/* ---- The reference ---- */

/* Copies the view's range between an array [n][c][h][w] and a tensor of the view alone. */
static void copy_range(const struct image_view *view, const struct glcnn_image_descriptor *whole,
                       double *array, double *tensor, bool out)
{
    size_t plane = (size_t)whole->width * whole->height;
    for (uint32_t n = 0; n < view->images; n++) {
        double *in_array =
            array + ((size_t)(view->first_layer + n) * whole->feature_channels +
                     view->layer_stride) * plane;
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
    struct named_array *array = bag_find(run->bag, argument->name);
    if (argument->input && array)
        copy_range(view, &r->shapes.images[index], array->data, tensor->data, false);
    return true;
}

static bool set_double_vector(struct run *run, struct resolved *r, size_t index, double **vector)
{
    const struct argument *argument = &r->operation.descriptor->arguments[index];
    size_t length = r->operation.vectors[index].count;
    const struct named_array *array = bag_find(run->bag, argument->name);
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
    for (size_t i = 0; (argument = argument_of(r->operation.descriptor, i)); i++) {
        if (!argument->output || !r->operation.given[i])
            continue;
        struct named_array *array = output_array(run, r, i);
        if (!array)
            return out_of_memory(run);
        if (argument_is_image(argument))
            copy_range(&r->operation.images[i], &r->shapes.images[i], array->data,
                       reference->images[i].data, true);
        else
            memcpy(array->data, reference->vectors[i],
                   r->operation.vectors[i].count * sizeof(double));
    }
    return GLCNN_SUCCESS;
}

static glcnn_status run_reference(struct run *run, struct resolved *r)
{
    struct reference reference = {.operation = &r->operation};
    const struct argument *argument;
    bool good = true;
    for (size_t i = 0; good && (argument = argument_of(r->operation.descriptor, i)); i++)
        good = argument_is_image(argument)
                   ? set_tensor(run, r, i, &reference.images[i])
                   : set_double_vector(run, r, i, &reference.vectors[i]);
    glcnn_status status = good ? GLCNN_SUCCESS : out_of_memory(run);
    if (good) {
        r->operation.descriptor->reference(&reference);
        status = keep_reference_outputs(run, r, &reference);
    }
    for (size_t i = 0; i < MAX_ARGUMENTS; i++) {
        free(reference.images[i].data);
        free(reference.vectors[i]);
    }
    return status;
}

/* ---- The device ---- */

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

/* Between an image and an array [n][c][h][w], as float32 whatever the image's format. */
static glcnn_status move_image(struct run *run, glcnn_image *image, double *data, size_t count,
                               bool write)
{
    const struct glcnn_image_transfer chw = {.layout = GLCNN_LAYOUT_CHANNELS_HEIGHT_WIDTH};
    glcnn_command_buffer *commands = NULL;
    glcnn_buffer *buffer = NULL;
    float *floats = to_floats(data, count);
    glcnn_status status = floats ? glcnn_command_buffer_create(run->device, &commands)
                                 : out_of_memory(run);
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
    glcnn_image **const places[PLACE_IMAGES] = {
        [PLACE_SOURCE] = &encode->source,           [PLACE_SECONDARY] = &encode->secondary,
        [PLACE_DESTINATION] = &encode->destination, [PLACE_LABELS] = &encode->labels,
        [PLACE_LABEL_WEIGHTS] = &encode->label_weights, [PLACE_LOSS] = &encode->loss};
    *places[place] = image;
}

static glcnn_status make_image(struct run *run, struct resolved *r, struct device_run *d,
                               size_t index)
{
    const struct argument *argument = &r->operation.descriptor->arguments[index];
    const struct glcnn_image_descriptor *shape = &r->shapes.images[index];
    struct glcnn_image_descriptor made = *shape;
    if (argument->place >= PLACE_LABELS)
        made.channel_format = GLCNN_CHANNEL_FORMAT_FLOAT32;
    glcnn_status status = glcnn_image_create(run->device, &made, &d->images[index]);
    const struct named_array *array = bag_find(run->bag, argument->name);
    if (status == GLCNN_SUCCESS && argument->input && array)
        status = move_image(run, d->images[index], array->data, array_count(array), true);
    place_image(&d->encode, argument->place, d->images[index]);
    return status;
}

static glcnn_status write_vector(struct run *run, glcnn_buffer *buffer, const double *data,
                                 size_t count)
{
    float *floats = to_floats(data, count);
    if (!floats)
        return out_of_memory(run);
    glcnn_status status = glcnn_buffer_write(buffer, 0, count * 4, floats);
    free(floats);
    return status;
}

static glcnn_status make_call_vector(struct run *run, struct resolved *r, struct device_run *d,
                                     size_t index, size_t position)
{
    const struct argument *argument = &r->operation.descriptor->arguments[index];
    const struct named_array *array = bag_find(run->bag, argument->name);
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
    const struct named_array *array = bag_find(run->bag, argument->name);
    size_t length = r->operation.vectors[index].count;
    struct state_vector *vector;
    glcnn_buffer *buffer;
    if (!array || !argument->input)
        return GLCNN_SUCCESS;
    if (argument->place == PLACE_KERNEL) {
        glcnn_status status = kernel_vector(d->kernel, index, length, &buffer);
        return status == GLCNN_SUCCESS ? write_vector(run, buffer, array->data, length) : status;
    }
    glcnn_status status = state_vector(d->state, argument->name, length, &vector);
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
    for (size_t i = 0; status == GLCNN_SUCCESS && (argument = argument_of(r->operation.descriptor, i));
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
    d->state->samples = source_samples(r);
    return state_capture(d->state, &r->forward,
                         &r->forward_shapes.images[descriptor_place(f, PLACE_SOURCE)], NULL,
                         &r->forward_shapes.images[descriptor_place(f, PLACE_DESTINATION)]);
}

static bool uses_state(const struct glcnn_descriptor *d)
{
    const struct argument *argument;
    for (size_t i = 0; (argument = argument_of(d, i)); i++)
        if (argument->place == PLACE_STATE || argument->place == PLACE_STATE_OR_KERNEL)
            return true;
    return d->flags & (NEEDS_STATE | MAKES_STATE | IS_GRADIENT);
}

static glcnn_status read_vector(struct run *run, glcnn_buffer *buffer, struct named_array *array)
{
    size_t count = array_count(array);
    float *floats = malloc((count ? count : 1) * sizeof *floats);
    if (!floats)
        return out_of_memory(run);
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
    for (size_t i = 0; status == GLCNN_SUCCESS && (argument = argument_of(r->operation.descriptor, i));
         i++) {
        if (!argument->output || !r->operation.given[i])
            continue;
        struct named_array *array = output_array(run, r, i);
        if (!array)
            return out_of_memory(run);
        if (argument_is_image(argument))
            status = move_image(run, d->images[i], array->data, array_count(array), false);
        else if (argument->place == PLACE_CALL)
            status = read_vector(run, d->buffers[i], array);
        else if (glcnn_state_vector(d->state, argument->name))
            status = read_vector(run, glcnn_state_vector(d->state, argument->name), array);
    }
    return status;
}

static glcnn_status run_device(struct run *run, struct resolved *r)
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
        status = glcnn_kernel_encode(d.command_buffer, d.kernel, &d.encode);
    if (status == GLCNN_SUCCESS)
        status = glcnn_command_buffer_commit(d.command_buffer);
    if (status == GLCNN_SUCCESS)
        status = read_outputs(run, r, &d);
    if (status != GLCNN_SUCCESS && run->device->error[0])
        refuse(run, "%s", run->device->error);
    for (size_t i = 0; i < MAX_ARGUMENTS; i++) {
        glcnn_image_destroy(&d.images[i]);
        glcnn_buffer_destroy(&d.buffers[i]);
    }
    glcnn_command_buffer_destroy(&d.command_buffer);
    glcnn_state_destroy(&d.state);
    glcnn_kernel_destroy(&d.kernel);
    return status;
}

/* ---- Both ---- */

glcnn_status run_kernel(struct run *run, const struct glcnn_descriptor *descriptor)
{
    char sentence[400];
    struct resolved *r = calloc(1, sizeof *r);
    if (!r)
        return out_of_memory(run);
    glcnn_status status = fill_missing(run, descriptor);
    if (status == GLCNN_SUCCESS &&
        (!run_resolve(run, descriptor, r) || !check_vectors(run, &r->operation)))
        status = GLCNN_INVALID_ARGUMENT;
    if (status == GLCNN_SUCCESS) {
        r->operation.samples = source_samples(r);
        if (descriptor->check && !descriptor->check(&r->operation, sentence, sizeof sentence)) {
            refuse(run, "%s: %s", descriptor->name, sentence);
            status = GLCNN_INVALID_ARGUMENT;
        }
    }
    if (status == GLCNN_SUCCESS)
        status = run->device ? run_device(run, r) : run_reference(run, r);
    free(r);
    return status;
}
