/* Results that are not stored: the passes that read them make their pixels as they go. */
#include <stdlib.h>
#include <string.h>

#include "encode/encode.h"
#include "image/image.h"

/* A name that a pass was given. */
struct kept_name {
    struct kept_name *next;
    char text[];
};

/* An operation whose result is made where it is read. Lives as long as the command buffer. */
struct derived {
    struct derivation derivation;
    struct operation operation;
    double parameters[MAX_PARAMETER_BYTES / sizeof(double)];
    uint32_t slices; /* of an image of the result */
    struct kept_name *names;
};

struct derived_name {
    struct derived *derived;
    const char *name;
    const struct image_view *view; /* of the result */
    bool missing;                  /* there was no memory for a name of it */
};

static void release_derived(void *object)
{
    struct derived *derived = object;
    while (derived->names) {
        struct kept_name *next = derived->names->next;
        free(derived->names);
        derived->names = next;
    }
    free(derived);
}

const char *derived_name(struct derived_name *as, const char *suffix)
{
    size_t length = strlen(as->name) + strlen(suffix) + 1;
    struct kept_name *kept = *suffix ? malloc(sizeof *kept + length) : NULL;
    as->missing = as->missing || (*suffix && !kept);
    if (!kept)
        return as->name;
    strcat(strcpy(kept->text, as->name), suffix);
    kept->next = as->derived->names;
    as->derived->names = kept;
    return kept->text;
}

uint32_t derived_channel(const struct derived_name *as)
{
    return as->view->first_layer % as->derived->slices * 4;
}

/* The part of the source that a part of the result is made from: the same channels and images. */
static struct image_view matching_view(const struct derived_name *as,
                                       const struct image_view *source)
{
    struct image_view part = *as->view;
    uint32_t slices = as->derived->slices;
    part.storage = source->storage;
    part.layer_stride = source->layer_stride;
    part.width = source->width;
    part.height = source->height;
    part.first_layer = source->first_layer + part.first_layer / slices * part.layer_stride +
                       part.first_layer % slices;
    part.masked |= source->masked;
    return part;
}

void derived_texture(struct derived_name *as, struct pass *pass, const char *suffix,
                     const struct image_view *source)
{
    struct image_view part = matching_view(as, source);
    pass_texture(pass, derived_name(as, suffix), &part);
}

void derived_size(struct derived_name *as, struct pass *pass)
{
    const struct image_view *view = as->view;
    pass_int(pass, derived_name(as, "_source_width"), (int32_t)view->width);
    pass_int(pass, derived_name(as, "_source_height"), (int32_t)view->height);
    pass_int(pass, derived_name(as, "_source_channels"), (int32_t)view->channels);
    pass_int(pass, derived_name(as, "_source_slices"), (int32_t)slice_count(view->channels));
    pass_int(pass, derived_name(as, "_source_images"), (int32_t)view->images);
}

static void bind_copy(struct derivation *derivation, struct pass *pass, const char *name,
                      const struct image_view *view)
{
    struct derived *derived = (struct derived *)(void *)derivation;
    const struct operation *o = &derived->operation;
    struct derived_name as = {.derived = derived, .name = name, .view = view};
    derived_texture(&as, pass, "", &o->images[descriptor_place(o->descriptor, PLACE_SOURCE)]);
}

static void bind_pixels(struct derivation *derivation, struct pass *pass, const char *name,
                        const struct image_view *view)
{
    struct derived *derived = (struct derived *)(void *)derivation;
    const struct operation *o = &derived->operation;
    struct derived_name as = {.derived = derived, .name = name, .view = view};
    if (is_float16(view)) {
        pass_library(pass, "lib/half.glsl");
        pass_define(pass, derived_name(&as, "_half"), 1);
    }
    pass_template(pass, "record/derived.glsl", name);
    o->descriptor->derive(o, pass, &as);
    pass_template(pass, "record/edges.glsl", name);
    pass->lacks_names = pass->lacks_names || as.missing;
}

/* A copy that stores float16 rounds what it reads of float32: its readers cannot read that instead. */
static bool rounds(const struct operation *o)
{
    return is_float16(&o->images[descriptor_place(o->descriptor, PLACE_DESTINATION)]) &&
           !is_float16(&o->images[descriptor_place(o->descriptor, PLACE_SOURCE)]);
}

/* Of a copy what its source has. */
static bool is_by_name(const struct operation *o, enum derivative derivative)
{
    const struct derivation *source =
        o->images[descriptor_place(o->descriptor, PLACE_SOURCE)].storage->derivation;
    return derivative == DERIVATIVE_PIXELS || (source && source->by_name);
}

static struct derived *derived_make(const struct call *call, enum derivative derivative)
{
    const struct operation *o = &call->operation;
    struct derived *derived = calloc(1, sizeof *derived);
    if (!derived)
        return NULL;
    derived->operation = *o;
    memcpy(derived->parameters, o->parameters, o->descriptor->parameters_size);
    derived->operation.parameters = derived->parameters;
    derived->slices = slice_count(call->arguments.destination->descriptor.feature_channels);
    derived->derivation.bind = derivative == DERIVATIVE_COPY ? bind_copy : bind_pixels;
    derived->derivation.by_name = is_by_name(o, derivative);
    return derived;
}

/* Readers have three sources at most, and things of their own. */
#define SHARES 4

/* Can all readers bind it? */
static bool fits(struct derived *derived, const struct encode_settings *settings)
{
    const struct operation *o = &derived->operation;
    struct pass pass = {.shader = ""};
    derived->derivation.bind(&derived->derivation, &pass, "",
                             &o->images[descriptor_place(o->descriptor, PLACE_DESTINATION)]);
    derived->derivation.textures = pass.texture_count;
    derived->derivation.buffers = pass.buffer_count;
    return (!derived->derivation.by_name || settings->may_derive == DERIVATIVE_PIXELS) &&
           !pass.overflow && pass.texture_count <= settings->most_textures &&
           pass.buffer_count <= settings->most_buffers &&
           pass.library_count <= PASS_LIBRARIES / SHARES &&
           pass.uniform_count <= PASS_UNIFORMS / SHARES;
}

bool derive_result(const struct call *call, struct plan *plan)
{
    const struct operation *o = &call->operation;
    const struct encode_settings *settings = call->settings;
    enum derivative derivative = DERIVATIVE_NONE;
    if (settings->may_derive != DERIVATIVE_NONE && o->descriptor->derivative)
        derivative = o->descriptor->derivative(o, plan);
    if (derivative == DERIVATIVE_NONE || derivative > settings->may_derive ||
        (derivative == DERIVATIVE_COPY && rounds(o)))
        return false;
    struct derived *derived = derived_make(call, derivative);
    if (!derived) {
        plan_fail(plan, GLCNN_OUT_OF_MEMORY, "%s: out of memory encoding", plan->kernel);
        return true;
    }
    size_t first = plan->pass_count;
    if (o->descriptor->prepare_derived)
        derived->operation.prepared = o->descriptor->prepare_derived(o, plan);
    if (!fits(derived, settings)) {
        release_derived(derived);
        plan->pass_count = first;
        plan_drop_amended(plan);
        return false;
    }
    operation_retain(o, plan); /* for the passes of readers */
    plan_retain(plan, derived, release_derived);
    if (plan->status == GLCNN_SUCCESS)
        call->arguments.destination->storage->derivation = &derived->derivation;
    return true;
}
