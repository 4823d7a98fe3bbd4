/* From settings and arrays to a resolved operation: parameters, shapes, geometry, and the forward
 * operation of a gradient. */
#include "run/run.h"

#include <string.h>

/* ---- Settings ---- */

static bool is_run_setting(const char *name)
{
    static const char *const names[] = {"destination_width", "destination_height", "align",
                                        "remainder", "exclude_edges"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

bool run_settings_read(const struct glcnn_setting *items, size_t count,
                       struct run_settings *settings)
{
    *settings = (struct run_settings){.items = items, .count = count};
    for (size_t i = 0; i < count; i++) {
        if (!items[i].name)
            return false;
        bool whole = items[i].value >= 0 && items[i].value <= INT32_MAX &&
                     items[i].value == (int32_t)items[i].value;
        if (is_run_setting(items[i].name) && !whole)
            return false;
        uint32_t value = whole ? (uint32_t)items[i].value : 0;
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

/* Sets what the descriptor has; *known tells whether it has the name. */
static bool apply_one(const struct run *run, const struct glcnn_descriptor *d,
                      struct operation *operation, const struct glcnn_setting *setting, bool *known)
{
    char message[256];
    *known = parameter_set(d, &operation->properties, (void *)(uintptr_t)operation->parameters,
                           setting, (struct validation){message, sizeof message});
    if (*known || !message[0])
        return true;
    return invalid(run->validation, "%s: %s", d->name, message);
}

/* Parameters of a convolution that its weights tell, [Co][Ci/groups][kH][kW]. */
static bool apply_weights(const struct run *run, const struct glcnn_descriptor *d,
                          struct operation *operation)
{
    const struct named_array *weights = argument_map_find(run->map, "weights");
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
    *operation =
        (struct operation){.descriptor = d, .device = run->device, .parameters = parameters};
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
        if (r->has_forward &&
            !apply_one(run, r->forward.descriptor, &r->forward, setting, &known_forward))
            return false;
        /* A binary kernel and its gradient each have a secondary source, not the same one. */
        bool taken = known_forward && r->forward.descriptor->flags & IS_BINARY;
        if (!forward_only && !taken &&
            !apply_one(run, r->operation.descriptor, &r->operation, setting, &known))
            return false;
        if (!known && !known_forward && !run->settings.partial && !forward_only)
            return invalid(run->validation, "%s: there is no parameter \"%s\"",
                           r->operation.descriptor->name, setting->name);
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
        return invalid(run->validation, "%s has rank %u; an image has at most 4", array->name,
                       array->rank);
    for (uint32_t i = 0; i < array->rank; i++)
        full[4 - array->rank + i] = array->shape[i];
    for (int i = 0; i < 4; i++)
        if (full[i] == 0)
            return invalid(run->validation, "%s has an extent of 0", array->name);
    *shape = (struct glcnn_image_descriptor){.width = full[3],
                                             .height = full[2],
                                             .feature_channels = full[1],
                                             .number_of_images = full[0],
                                             .channel_format = run->format};
    return true;
}

static bool input_shapes(const struct run *run, const struct operation *operation,
                         struct shapes *shapes)
{
    const struct argument *argument;
    for (size_t i = 0; (argument = descriptor_argument_at(operation->descriptor, i)); i++) {
        if (!argument_is_image(argument) || !argument->input)
            continue;
        const struct named_array *array = run_image_input(run, operation, i);
        if (!array && !argument->optional)
            return invalid(run->validation, "%s: the input %s is missing",
                           operation->descriptor->name, argument->name);
        if (array && !image_shape(run, array, &shapes->images[i]))
            return false;
    }
    return true;
}

/* True if all images of each source are meant: none is chosen by an offset or the clip rectangle. */
static bool takes_all_images(const struct resolved *r)
{
    const struct glcnn_addressing *each[] = {&r->operation.properties, &r->forward.properties};
    for (size_t i = 0; i < (r->has_forward ? 2 : 1); i++)
        if (each[i]->primary.offset.z != 0 || each[i]->secondary.offset.z != 0 ||
            each[i]->clip_rect.origin.z != 0 || each[i]->clip_rect.size.depth != UINT32_MAX)
            return false;
    return true;
}

/* An image that nothing reads would be dropped without a word. A gradient has those of the forward result, which may
 * be more than the sources have. */
static bool check_numbers_of_images(const struct run *run, const struct resolved *r)
{
    const struct operation *o = &r->operation;
    const struct argument *argument, *first = NULL;
    uint32_t wanted = 0;
    for (size_t i = 0; (argument = descriptor_argument_at(o->descriptor, i)); i++) {
        const uint32_t found = r->shapes.images[i].number_of_images;
        if (!argument_is_image(argument) || !argument->input || found == 0 ||
            (r->has_forward && argument->place == PLACE_SOURCE) || !takes_all_images(r))
            continue;
        if (first && found != wanted)
            return invalid(
                run->validation,
                "%s: %s has %u images and %s %u; they must agree, unless an offset along "
                "z or a clip rectangle chooses some",
                o->descriptor->name, first->name, wanted, argument->name, found);
        first = argument;
        wanted = found;
    }
    return true;
}

/* The forward result's shape: as padding makes it, or as given with offsets as set. */
static bool result_shape(const struct run *run, struct operation *operation, struct shapes *shapes)
{
    const struct glcnn_descriptor *d = operation->descriptor;
    int index = descriptor_place(d, PLACE_DESTINATION);
    char message[400];
    if (index < 0)
        return true;
    const struct glcnn_addressing set = operation->properties;
    if (!geometry_result(operation, shapes, &shapes->images[index],
                         (struct validation){message, sizeof message}) &&
        !run->settings.destination_width)
        return invalid(run->validation, "%s: %s", d->name, message);
    if (run->settings.destination_width && !(d->flags & IS_GRADIENT)) {
        operation->properties.primary.offset = set.primary.offset;
        operation->properties.kernel_offset_x = set.kernel_offset_x;
        operation->properties.kernel_offset_y = set.kernel_offset_y;
        shapes->images[index].width = run->settings.destination_width;
        shapes->images[index].height = run->settings.destination_height;
    }
    return true;
}

static bool side_shapes(struct operation *operation, struct shapes *shapes)
{
    const struct argument *argument;
    for (size_t i = 0; (argument = descriptor_argument_at(operation->descriptor, i)); i++)
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

/* The source that a gradient kernel is not given: as large as the gradient along the axes that it
 * walks along. */
static void broadcast_shape(const struct glcnn_source_properties *p,
                            const struct glcnn_image_descriptor *gradient,
                            struct glcnn_image_descriptor *shape)
{
    *shape = *gradient;
    shape->width = p->stride_in_pixels_x ? gradient->width : 1;
    shape->height = p->stride_in_pixels_y ? gradient->height : 1;
    shape->feature_channels = p->stride_in_feature_channels ? gradient->feature_channels : 1;
}

static bool resolve_geometry(const struct run *run, struct operation *operation,
                             const struct shapes *shapes, const struct operation *forward)
{
    char message[400];
    return geometry_resolve(operation, shapes, forward,
                            (struct validation){message, sizeof message}) ||
           invalid(run->validation, "%s: %s", operation->descriptor->name, message);
}

bool run_check(const struct run *run, const struct operation *operation)
{
    const struct glcnn_descriptor *d = operation->descriptor;
    char message[400];
    return !d->check || d->check(operation, (struct validation){message, sizeof message}) ||
           invalid(run->validation, "%s: %s", d->name, message);
}

/* Sources of the forward encode. Of two that a binary kernel has, a gradient kernel needs one,
 * which is then its source image; given both, they have their forward names. */
static bool forward_sources(const struct run *run, struct resolved *r,
                            const struct named_array *source,
                            const struct glcnn_image_descriptor *gradient)
{
    const struct glcnn_descriptor *f = r->forward.descriptor;
    const struct glcnn_addressing *p = &r->forward.properties;
    int beside = descriptor_place(r->operation.descriptor, PLACE_FORWARD);
    struct glcnn_image_descriptor *first =
        &r->forward_shapes.images[descriptor_place(f, PLACE_SOURCE)];
    if (beside < 0)
        return image_shape(run, source, first);
    const struct named_array *other =
        argument_map_find(run->map, r->operation.descriptor->arguments[beside].name);
    struct glcnn_image_descriptor *second =
        &r->forward_shapes.images[descriptor_place(f, PLACE_SECONDARY)];
    if (other)
        return image_shape(run, source, first) && image_shape(run, other, second);
    bool is_second = operation_operands(&r->operation).given == PLACE_SECONDARY;
    broadcast_shape(is_second ? &p->primary : &p->secondary, gradient, is_second ? first : second);
    return image_shape(run, source, is_second ? second : first);
}

/* The forward encode of a gradient: its source is the gradient's source image, its result has the
 * shape of the source gradient. */
static bool resolve_forward(const struct run *run, struct resolved *r)
{
    const struct glcnn_descriptor *d = r->forward.descriptor;
    const struct named_array *source = argument_map_find(run->map, "source_image");
    const struct named_array *gradient = argument_map_find(run->map, "source_gradient");
    struct glcnn_image_descriptor result;
    int to = descriptor_place(d, PLACE_DESTINATION);
    if (!source || !gradient)
        return invalid(run->validation, "%s: the input %s is missing",
                       r->operation.descriptor->name, source ? "source_gradient" : "source_image");
    if (!image_shape(run, gradient, &result) || !forward_sources(run, r, source, &result) ||
        !result_shape(run, &r->forward, &r->forward_shapes))
        return false;
    const uint32_t wanted = r->forward_shapes.images[to].number_of_images;
    if (takes_all_images(r) && result.number_of_images != wanted)
        return invalid(
            run->validation,
            "%s: source_gradient has %u images and the result of %s %u; they must agree, "
            "unless an offset along z or a clip rectangle chooses some",
            r->operation.descriptor->name, result.number_of_images, d->name, wanted);
    r->forward_shapes.images[to] = result;
    mark_given(&r->forward, &r->forward_shapes);
    return resolve_geometry(run, &r->forward, &r->forward_shapes, NULL) &&
           run_check(run, &r->forward);
}

static bool check_gradient_shape(const struct run *run, const struct resolved *r)
{
    const struct glcnn_descriptor *d = r->operation.descriptor;
    struct resolved natural = *r;
    char message[400];
    int to = descriptor_place(r->forward.descriptor, PLACE_DESTINATION);
    const struct glcnn_image_descriptor *given = &r->forward_shapes.images[to];
    struct glcnn_image_descriptor wanted;
    uint32_t width = run->settings.destination_width, height = run->settings.destination_height;
    if (!geometry_result(&natural.forward, &natural.forward_shapes, &wanted,
                         (struct validation){message, sizeof message}))
        return width ? true
                     : invalid(run->validation, "%s: %s", r->forward.descriptor->name, message);
    wanted.width = width ? width : wanted.width;
    wanted.height = height ? height : wanted.height;
    if (given->width == wanted.width && given->height == wanted.height &&
        given->feature_channels >= wanted.feature_channels)
        return true;
    const struct axis *x = &r->forward.window.x;
    return invalid(run->validation,
                   "%s: source gradient is %ux%u with %u channels but a %ux%u source with kernel "
                   "%d, stride %d, offset %d needs %ux%u with %u channels",
                   d->name, given->width, given->height, given->feature_channels,
                   r->forward_shapes.images[0].width, r->forward_shapes.images[0].height, x->size,
                   x->stride, r->forward.properties.primary.offset.x, wanted.width, wanted.height,
                   wanted.feature_channels);
}

/* A destination's range was the forward kernel's: the gradient's own is all of it. */
static void leave_to_forward(struct glcnn_addressing *properties)
{
    static const struct glcnn_region no_clip = GLCNN_NO_CLIP;
    properties->clip_rect = no_clip;
    properties->destination_feature_channel_offset = 0;
}

static bool resolve_gradient(const struct run *run, struct resolved *r)
{
    struct operation *o = &r->operation;
    struct glcnn_addressing adopted;
    if (!resolve_forward(run, r) || !check_gradient_shape(run, r))
        return false;
    int to = descriptor_place(o->descriptor, PLACE_DESTINATION);
    int of = descriptor_place(r->forward.descriptor, operation_operands(o).of);
    if (to >= 0) {
        glcnn_channel_format format = r->shapes.images[to].channel_format;
        r->shapes.images[to] = r->forward_shapes.images[of];
        r->shapes.images[to].channel_format = format;
    }
    geometry_adopt(o->descriptor, r->parameters, &r->forward, &o->properties);
    adopted = o->properties;
    /* Settings with names of the gradient kernel's own addressing win over what it takes over; the
     * forward kernel's stay as resolved. */
    struct glcnn_addressing forward = r->forward.properties;
    if (!apply_settings(run, r, false))
        return false;
    r->forward.properties = forward;
    bool manual = memcmp(&adopted, &o->properties, sizeof adopted) != 0;
    if (!manual)
        leave_to_forward(&o->properties);
    if (!manual && r->forward.descriptor->family)
        parameters_adopt(r->forward.descriptor, r->forward_parameters, r->parameters);
    mark_given(o, &r->shapes);
    return resolve_geometry(run, o, &r->shapes, manual ? NULL : &r->forward);
}

bool resolve(const struct run *run, const struct glcnn_descriptor *descriptor, struct resolved *r)
{
    struct operation *o = &r->operation;
    *r = (struct resolved){.has_forward = descriptor->forward != NULL};
    if (descriptor->parameters_size > sizeof r->parameters)
        return invalid(run->validation, "%s: too many parameters", descriptor->name);
    if (!begin_operation(run, descriptor, o, r->parameters))
        return false;
    if (r->has_forward && !begin_operation(run, descriptor_find(descriptor->forward), &r->forward,
                                           r->forward_parameters))
        return false;
    if (!apply_settings(run, r, false) || !input_shapes(run, o, &r->shapes) ||
        !check_numbers_of_images(run, r) || !result_shape(run, o, &r->shapes))
        return false;
    bool good = true;
    if (r->has_forward)
        good = resolve_gradient(run, r);
    else {
        mark_given(o, &r->shapes);
        good = resolve_geometry(run, o, &r->shapes, NULL);
    }
    if (!good)
        return false;
    side_shapes(o, &r->shapes);
    mark_given(o, &r->shapes);
    return r->has_forward || resolve_geometry(run, o, &r->shapes, NULL);
}
