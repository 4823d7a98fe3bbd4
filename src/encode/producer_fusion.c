/* Producer fusion: results that are not stored; the passes that read them compute their pixels. */
#include <stdlib.h>
#include <string.h>

#include "encode/encode.h"
#include "image/image.h"

/* A name that a pass was given. */
struct kept_name {
    struct kept_name *next;
    char text[];
};

/* An operation fused into the readers of its result. Lives as long as the command buffer. */
struct fused_operation {
    struct fused_producer producer;
    struct operation operation;
    double parameters[MAX_PARAMETER_BYTES / sizeof(double)];
    uint32_t slices; /* of an image of the result */
    struct kept_name *names;
};

struct fused_name {
    struct fused_operation *fused;
    const char *name;
    const struct image_view *view; /* of the result */
    bool missing;                  /* there was no memory for a name of it */
};

static void release_fused(void *object)
{
    struct fused_operation *fused = object;
    while (fused->names) {
        struct kept_name *next = fused->names->next;
        free(fused->names);
        fused->names = next;
    }
    free(fused);
}

const char *fused_name(struct fused_name *as, const char *suffix)
{
    size_t length = strlen(as->name) + strlen(suffix) + 1;
    struct kept_name *kept = *suffix ? malloc(sizeof *kept + length) : NULL;
    as->missing = as->missing || (*suffix && !kept);
    if (!kept)
        return as->name;
    strcat(strcpy(kept->text, as->name), suffix);
    kept->next = as->fused->names;
    as->fused->names = kept;
    return kept->text;
}

uint32_t fused_channel(const struct fused_name *as)
{
    return as->view->first_layer % as->fused->slices * 4;
}

/* The part of the source that a part of the result is made from: the same channels and images. */
static struct image_view matching_view(const struct fused_name *as, const struct image_view *source)
{
    struct image_view part = *as->view;
    uint32_t slices = as->fused->slices;
    part.storage = source->storage;
    part.layer_stride = source->layer_stride;
    part.width = source->width;
    part.height = source->height;
    part.first_layer = source->first_layer + part.first_layer / slices * part.layer_stride +
                       part.first_layer % slices;
    part.masked |= source->masked;
    return part;
}

void fused_texture(struct fused_name *as, struct pass *pass, const char *suffix,
                   const struct image_view *source)
{
    struct image_view part = matching_view(as, source);
    pass_texture(pass, fused_name(as, suffix), &part);
}

void fused_size(struct fused_name *as, struct pass *pass)
{
    const struct image_view *view = as->view;
    pass_int(pass, fused_name(as, "_source_width"), (int32_t)view->width);
    pass_int(pass, fused_name(as, "_source_height"), (int32_t)view->height);
    pass_int(pass, fused_name(as, "_source_channels"), (int32_t)view->channels);
    pass_int(pass, fused_name(as, "_source_slices"), (int32_t)slice_count(view->channels));
    pass_int(pass, fused_name(as, "_source_images"), (int32_t)view->images);
}

void fused_layers(struct fused_name *as, struct pass *pass)
{
    pass_int(pass, fused_name(as, "_first_layer"), (int32_t)as->view->first_layer);
    pass_int(pass, fused_name(as, "_layer_stride"), (int32_t)as->view->layer_stride);
}

static void bind_copy(struct fused_producer *producer, struct pass *pass, const char *name,
                      const struct image_view *view)
{
    struct fused_operation *fused = (struct fused_operation *)(void *)producer;
    const struct operation *o = &fused->operation;
    struct fused_name as = {.fused = fused, .name = name, .view = view};
    fused_texture(&as, pass, "", &o->images[descriptor_place(o->descriptor, PLACE_SOURCE)]);
}

static void bind_pixels(struct fused_producer *producer, struct pass *pass, const char *name,
                        const struct image_view *view)
{
    struct fused_operation *fused = (struct fused_operation *)(void *)producer;
    const struct operation *o = &fused->operation;
    struct fused_name as = {.fused = fused, .name = name, .view = view};
    if (is_float16(view)) {
        pass_library(pass, "lib/float16.glsl");
        pass_define(pass, fused_name(&as, "_float16"), 1);
    }
    pass_template(pass, "record/fused.glsl", name);
    o->descriptor->fuse(o, pass, &as);
    pass_template(pass, "record/edges.glsl", name);
    pass->lacks_names = pass->lacks_names || as.missing;
}

const enum fusion fusion_forms[] = {FUSION_NONE, FUSION_COPY, FUSION_PIXELS, FUSION_ONCE};

enum fusion fusion_choose(struct plan *plan, const struct implementation_list *list,
                          const void *problem)
{
    return *(const enum fusion *)implementation_choose(plan, list, problem)->form;
}

/* A copy that stores float16 rounds what it reads of float32: its readers cannot read that instead. */
static bool rounds(const struct operation *o)
{
    return is_float16(&o->images[descriptor_place(o->descriptor, PLACE_DESTINATION)]) &&
           !is_float16(&o->images[descriptor_place(o->descriptor, PLACE_SOURCE)]);
}

/* Of a copy what its source has. */
static bool is_by_name(const struct operation *o, enum fusion fusion)
{
    const struct fused_producer *source =
        o->images[descriptor_place(o->descriptor, PLACE_SOURCE)].storage->producer;
    return fusion != FUSION_COPY || (source && source->by_name);
}

static struct fused_operation *fused_make(const struct call *call, enum fusion fusion)
{
    const struct operation *o = &call->operation;
    struct fused_operation *fused = calloc(1, sizeof *fused);
    if (!fused)
        return NULL;
    fused->operation = *o;
    memcpy(fused->parameters, o->parameters, o->descriptor->parameters_size);
    fused->operation.parameters = fused->parameters;
    fused->slices = slice_count(call->arguments.destination->descriptor.feature_channels);
    fused->producer.bind = fusion == FUSION_COPY ? bind_copy : bind_pixels;
    fused->producer.by_name = is_by_name(o, fusion);
    return fused;
}

/* Readers have three sources at most, and things of their own. */
#define SHARES 4

/* Do `readers` passes that make the result by `pass`'s textures move no more bytes than one that
 * stores it and as many that read it? A pass counts as much as an image that is read. */
static bool saves_memory(const struct pass *pass, const struct image_view *result, uint32_t readers)
{
    double read = 0, size = (double)view_bytes(result);
    for (uint32_t i = 0; i < pass->texture_count; i++)
        read += (double)view_bytes(&pass->textures[i].view);
    return readers * read <= read + size + readers * size + size;
}

static uint32_t function_count(const struct pass *pass)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < pass->library_count; i++)
        count += strcmp(pass->libraries[i].file, "record/fused.glsl") == 0;
    return count;
}

/* Can all readers bind it, and is that no loss? */
static bool fits(struct fused_operation *fused, enum fusion fusion,
                 const struct fusion_limits *limits)
{
    const struct operation *o = &fused->operation;
    struct pass pass = {.shader = ""};
    const struct image_view *result =
        &o->images[descriptor_place(o->descriptor, PLACE_DESTINATION)];
    fused->producer.bind(&fused->producer, &pass, "", result);
    fused->producer.textures = pass.texture_count;
    fused->producer.buffers = pass.buffer_count;
    return (!fused->producer.by_name || limits->most >= FUSION_PIXELS) && !pass.overflow &&
           pass.texture_count <= limits->textures && pass.buffer_count <= limits->buffers &&
           function_count(&pass) <= limits->functions &&
           pass.library_count <= PASS_LIBRARIES / SHARES &&
           pass.uniform_count <= PASS_UNIFORMS / SHARES &&
           (fusion != FUSION_ONCE || saves_memory(&pass, result, limits->readers));
}

bool fuse_result(const struct call *call, struct plan *plan)
{
    const struct operation *o = &call->operation;
    const struct fusion_limits *limits = &call->settings->fusion;
    enum fusion fusion = FUSION_NONE;
    if (limits->most != FUSION_NONE && o->descriptor->fusion)
        fusion = o->descriptor->fusion(o, plan);
    if (fusion == FUSION_NONE || fusion > limits->most || (fusion == FUSION_COPY && rounds(o)))
        return false;
    struct fused_operation *fused = fused_make(call, fusion);
    if (!fused) {
        plan_fail(plan, GLCNN_OUT_OF_MEMORY, "%s: out of memory encoding", plan->kernel);
        return true;
    }
    size_t first = plan->pass_count;
    if (o->descriptor->prepare_fusion)
        fused->operation.prepared = o->descriptor->prepare_fusion(o, plan);
    if (!fits(fused, fusion, limits)) {
        release_fused(fused);
        plan->pass_count = first;
        plan_drop_amended(plan);
        return false;
    }
    operation_retain(o, plan); /* for the passes of readers */
    plan_retain(plan, fused, release_fused);
    if (plan->status == GLCNN_SUCCESS)
        call->arguments.destination->storage->producer = &fused->producer;
    return true;
}
