/* Slice, concatenation, reshape and their gradients: spec 7.13. A slice and a concatenation copy
 * pixels, which is what a neuron does that computes nothing; they differ in what their addressing
 * is for. Reshape counts in the order row, column, channel. */
#include "glcnn/kernels/slice.h"

#include "encode/kernel.h"
#include "encode/window.h"
#include "kernels/neuron.h"
#include "kernels/pointwise.h"

struct glcnn_reshape_parameters *glcnn_reshape(glcnn_kernel *kernel)
{
    return kernel_parameters(kernel, "reshape");
}

/* ---- Constructors ---- */

#define DEFINE_CREATE(NAME)                                                                        \
    extern const struct glcnn_descriptor glcnn_kernel_##NAME;                                      \
    glcnn_status glcnn_##NAME##_create(glcnn_device *device, glcnn_kernel **kernel)                \
    {                                                                                              \
        return kernel_create(device, &glcnn_kernel_##NAME, kernel);                                \
    }

DEFINE_CREATE(slice)
DEFINE_CREATE(slice_gradient)
DEFINE_CREATE(concatenation)
DEFINE_CREATE(concatenation_gradient)
DEFINE_CREATE(reshape_gradient)

extern const struct glcnn_descriptor glcnn_kernel_reshape;

glcnn_status glcnn_reshape_create(glcnn_device *device, uint32_t width, uint32_t height,
                                  uint32_t feature_channels, glcnn_kernel **kernel)
{
    glcnn_status status = kernel_create(device, &glcnn_kernel_reshape, kernel);
    if (status != GLCNN_SUCCESS)
        return status;
    *glcnn_reshape(*kernel) =
        (struct glcnn_reshape_parameters){width, height, feature_channels, false};
    return kernel_finish(kernel, GLCNN_SUCCESS);
}

enum { SOURCE, RESULT };               /* arguments of a forward kernel */
enum { GRADIENT, IMAGE, DESTINATION }; /* of a gradient kernel */

/* ---- Copies ---- */

static const struct glcnn_neuron_descriptor unchanged = {.type = GLCNN_NEURON_TYPE_NONE};

static uint32_t end_of_clip(uint32_t origin, uint32_t size, uint32_t source)
{
    return size < UINT32_MAX - origin ? origin + size : source;
}

static void slice_shape(const struct operation *o, struct glcnn_image_descriptor *result)
{
    const struct glcnn_region *clip = &o->properties.clip_rect;
    result->width = end_of_clip(clip->origin.x, clip->size.width, result->width);
    result->height = end_of_clip(clip->origin.y, clip->size.height, result->height);
}

static bool slice_gradient_check(const struct operation *o, struct refusal refusal)
{
    uint32_t read = o->images[GRADIENT].channels, wanted = o->images[IMAGE].channels;
    if (read >= wanted)
        return true;
    return refuse(refusal, "%u channels of the source gradient are read; the source image needs %u",
                  read, wanted);
}

static void plan_copy(const struct operation *o, struct plan *plan)
{
    struct pass *pass = plan_pointwise(plan, o, "neuron/neuron.comp", &o->images[RESULT]);
    pass_texture(pass, "source", &o->images[SOURCE]);
    pass_image(pass, "destination", &o->images[RESULT]);
    pass_window(pass, &o->window);
    pass_neuron(pass, &unchanged);
}

static void plan_copy_gradient(const struct operation *o, struct plan *plan)
{
    struct pass *pass =
        plan_pointwise(plan, o, "neuron/neuron_gradient.comp", &o->images[DESTINATION]);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_texture(pass, "source", &o->images[IMAGE]);
    pass_image(pass, "destination", &o->images[DESTINATION]);
    pass_gather(pass, o, &o->images[GRADIENT], &o->images[IMAGE]);
    pass_neuron(pass, &unchanged);
}

static void copy_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *to = &r->images[RESULT];
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++)
                    *tensor_at(to, n, c, Y, X) =
                        pointwise_source(w, &r->images[SOURCE], n, c, Y, X);
}

static void copy_gradient_reference(const struct reference *r)
{
    pointwise_scatter(r, &r->images[GRADIENT], &r->images[IMAGE], &r->images[DESTINATION], NULL);
}

/* ---- Reshape ---- */

static uint32_t or_else(uint32_t value, uint32_t otherwise)
{
    return value ? value : otherwise;
}

static bool is_channels_first(const struct operation *o)
{
    return ((const struct glcnn_reshape_parameters *)o->parameters)->channels_first;
}

static void reshape_shape(const struct operation *o, struct glcnn_image_descriptor *result)
{
    const struct glcnn_reshape_parameters *p = o->parameters;
    const struct image_view *source = &o->images[SOURCE];
    result->width = or_else(p->reshaped_width, source->width);
    result->height = or_else(p->reshaped_height, source->height);
    result->feature_channels = or_else(p->reshaped_feature_channels, source->channels);
}

/* Numbers are counted in 32 bits. */
static bool check_counts(const struct image_view *from, struct extent to, struct refusal refusal)
{
    uint64_t there = (uint64_t)from->width * from->height * from->channels;
    uint64_t wanted = (uint64_t)to.width * to.height * to.channels;
    if (there == wanted && there <= INT32_MAX)
        return true;
    return refuse(refusal,
                  "%ux%u pixels of %u channels cannot become %ux%u of %u; there must be as many "
                  "numbers, and at most %d",
                  from->width, from->height, from->channels, to.width, to.height, to.channels,
                  INT32_MAX);
}

static bool reshape_check(const struct operation *o, struct refusal refusal)
{
    struct glcnn_image_descriptor result;
    reshape_shape(o, &result);
    struct extent wanted = {result.width, result.height, result.feature_channels, 1};
    if (!check_counts(&o->images[SOURCE], wanted, refusal))
        return false;
    return check_result_size(&o->images[RESULT], &result, refusal);
}

static bool reshape_gradient_check(const struct operation *o, struct refusal refusal)
{
    return check_counts(&o->images[GRADIENT], view_extent(&o->images[IMAGE]), refusal);
}

/* Rows and columns `of` the source that count; destination pixel X stands for pixel X + shift of an
 * image of the size of `like`. */
static struct pass *plan_reshaped(const struct operation *o, struct plan *plan,
                                  const struct image_view *source,
                                  const struct image_view *destination,
                                  const struct image_view *like)
{
    struct pass *pass = plan_pixels(plan, o, "slice/reshape.comp", destination);
    pass_texture(pass, "source", source);
    pass_image(pass, "destination", destination);
    if (is_channels_first(o))
        pass_define(pass, "CHANNELS_FIRST", 1);
    else if (source->channels % 4 == 0 && destination->channels % 4 == 0)
        pass_define(pass, "WHOLE_SLICES", 1);
    pass_int(pass, "to_width", (int32_t)like->width);
    pass_int(pass, "to_height", (int32_t)like->height);
    pass->work = 128;
    return pass;
}

static void pass_part(struct pass *pass, struct axis x, struct axis y)
{
    pass_int(pass, "begin_x", x.begin);
    pass_int(pass, "begin_y", y.begin);
    pass_int(pass, "end_x", x.end);
    pass_int(pass, "end_y", y.end);
    pass_int(pass, "shift_x", x.shift);
    pass_int(pass, "shift_y", y.shift);
}

static void plan_reshape(const struct operation *o, struct plan *plan)
{
    const struct image_view *source = &o->images[SOURCE], *result = &o->images[RESULT];
    pass_part(plan_reshaped(o, plan, source, result, result),
              (struct axis){.end = (int32_t)source->width},
              (struct axis){.end = (int32_t)source->height});
}

static void plan_reshape_gradient(const struct operation *o, struct plan *plan)
{
    pass_part(
        plan_reshaped(o, plan, &o->images[GRADIENT], &o->images[DESTINATION], &o->images[IMAGE]),
        o->window.x, o->window.y);
}

/* Place of a number in the order row, column, channel, or with the channels first, and back. */
struct place {
    int32_t y, x;
    uint32_t c;
};

static size_t place_number(const struct operation *o, const struct tensor *t, struct place p)
{
    if (is_channels_first(o))
        return ((size_t)p.c * t->height + (size_t)p.y) * t->width + (size_t)p.x;
    return ((size_t)p.y * t->width + (size_t)p.x) * t->channels + p.c;
}

static struct place numbered_place(const struct operation *o, const struct tensor *t, size_t number)
{
    size_t pixel = number / t->channels, row = number / t->width;
    if (is_channels_first(o))
        return (struct place){(int32_t)(row % t->height), (int32_t)(number % t->width),
                              (uint32_t)(row / t->height)};
    return (struct place){(int32_t)(pixel / t->width), (int32_t)(pixel % t->width),
                          (uint32_t)(number % t->channels)};
}

static void reshape_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *from = &r->images[SOURCE], *to = &r->images[RESULT];
    struct place p;
    for (uint32_t n = 0; n < to->images; n++)
        for (p.y = w->y.begin; p.y < w->y.end; p.y++)
            for (p.x = w->x.begin; p.x < w->x.end; p.x++)
                for (p.c = 0; p.c < to->channels; p.c++) {
                    struct place q =
                        numbered_place(r->operation, from, place_number(r->operation, to, p));
                    *tensor_at(to, n, p.c, p.y, p.x) = tensor_get(from, n, q.c, q.y, q.x);
                }
}

/* Each number of the gradient goes to where it came from. */
static void reshape_gradient_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *from = &r->images[GRADIENT], *to = &r->images[DESTINATION];
    struct place p;
    for (uint32_t n = 0; n < to->images; n++)
        for (p.y = w->y.begin; p.y < w->y.end; p.y++)
            for (p.x = w->x.begin; p.x < w->x.end; p.x++)
                for (p.c = 0; p.c < from->channels; p.c++) {
                    struct place q = numbered_place(r->operation, &r->images[IMAGE],
                                                    place_number(r->operation, from, p));
                    int32_t y = q.y - w->y.shift, x = q.x - w->x.shift;
                    if (y < (int32_t)to->height && x < (int32_t)to->width)
                        *tensor_at(to, n, q.c, y, x) = tensor_get(from, n, p.c, p.y, p.x);
                }
}

/* ---- Cases ---- */

#define COPY_CASES                                                                                 \
    {"", {1, 1, 3, 3}}, {"", {2, 2, 4, 3}}, {"", {1, 3, 1, 1}}, {"", {3, 4, 2, 5}},                \
        {"", {1, 5, 7, 6}}, {"", {2, 6, 3, 3}}, {"", {1, 7, 5, 2}}, {"", {9, 8, 1, 1}},            \
        {"", {2, 9, 4, 14}}, {"offset_x=1 offset_y=-2", {2, 3, 6, 5}},                             \
        {"offset_x=-3 offset_y=2 edge_mode=clamp", {1, 6, 6, 7}},                                  \
        {"source_feature_channel_offset=4 source_feature_channel_max_count=3", {2, 9, 3, 4}},      \
        {"offset_x=2 offset_y=1 destination_width=3 destination_height=2 "                         \
         "source_feature_channel_offset=4 source_feature_channel_max_count=2",                     \
         {2, 11, 5, 6}},                                                                           \
        {"clip_rect_origin_z=1 clip_rect_size_depth=2", {4, 5, 3, 4}},                             \
        {"destination_feature_channel_offset=24", {2, 5, 3, 4}},                                   \
        {"destination_feature_channel_offset=4 source_feature_channel_offset=8", {1, 35, 3, 4}},   \
    {                                                                                              \
        "", {4, 37, 14, 14}, {0}, true                                                             \
    }
#define CLIPPED                                                                                    \
    {                                                                                              \
        "clip_rect_origin_x=1 clip_rect_origin_y=2 clip_rect_size_width=3 "                        \
        "clip_rect_size_height=2 offset_x=1 offset_y=3",                                           \
        {                                                                                          \
            2, 5, 5, 6                                                                             \
        }                                                                                          \
    }

static const struct check_case copy_cases[] = {COPY_CASES, CLIPPED, {0}};
static const struct check_case copy_gradient_cases[] = {
    COPY_CASES,
    CLIPPED,
    {"primary_offset_x=1 primary_offset_y=1 secondary_offset_x=2", {2, 5, 5, 6}},
    {"primary_offset_y=1 secondary_offset_x=-2 secondary_offset_y=-1", {2, 5, 5, 6}},
    {0}};
static const struct check_case reshape_cases[] = {
    {"", {1, 1, 3, 3}},
    {"reshaped_width=6 reshaped_height=4 reshaped_feature_channels=1", {2, 2, 4, 3}},
    {"reshaped_width=1 reshaped_height=1 reshaped_feature_channels=12", {1, 3, 2, 2}},
    {"reshaped_width=2 reshaped_height=4 reshaped_feature_channels=5", {3, 4, 2, 5}},
    {"reshaped_width=5 reshaped_height=6 reshaped_feature_channels=7", {1, 5, 7, 6}},
    {"reshaped_width=3 reshaped_height=3 reshaped_feature_channels=6", {2, 6, 3, 3}},
    {"reshaped_width=2 reshaped_height=7 reshaped_feature_channels=5", {1, 7, 5, 2}},
    {"reshaped_width=1 reshaped_height=1 reshaped_feature_channels=72", {2, 8, 3, 3}},
    {"reshaped_width=2 reshaped_height=3 reshaped_feature_channels=12", {3, 8, 3, 3}},
    {"reshaped_width=9 reshaped_height=8 reshaped_feature_channels=1", {2, 36, 2, 1}},
    {"reshaped_width=1 reshaped_height=1 reshaped_feature_channels=33", {2, 1, 11, 3}},
    {"reshaped_width=3 reshaped_height=4 reshaped_feature_channels=3 "
     "source_feature_channel_offset=4 source_feature_channel_max_count=3",
     {2, 9, 3, 4}},
    {"reshaped_width=4 reshaped_height=5 reshaped_feature_channels=6 clip_rect_origin_x=1 "
     "clip_rect_size_width=2 clip_rect_size_height=4",
     {2, 5, 4, 6}},
    {"reshaped_width=5 reshaped_height=2 reshaped_feature_channels=4 "
     "destination_feature_channel_offset=8 offset_x=3",
     {2, 10, 2, 2}},
    {"channels_first=true reshaped_width=6 reshaped_height=4 reshaped_feature_channels=1",
     {2, 2, 4, 3}},
    {"channels_first=true reshaped_width=2 reshaped_height=7 reshaped_feature_channels=15",
     {1, 6, 5, 7}},
    {"channels_first=true reshaped_width=1 reshaped_height=1 reshaped_feature_channels=72",
     {2, 8, 3, 3}},
    {"channels_first=true reshaped_width=4 reshaped_height=5 reshaped_feature_channels=6 "
     "clip_rect_origin_x=1 clip_rect_size_width=2 clip_rect_size_height=4",
     {2, 5, 4, 6}},
    {"reshaped_width=1 reshaped_height=1 reshaped_feature_channels=980", {4, 20, 7, 7}, {0}, true},
    {"reshaped_width=14 reshaped_height=21 reshaped_feature_channels=37",
     {2, 42, 37, 7},
     {0},
     true},
    {0}};

/* ---- Descriptors ---- */

#define FIELD(MEMBER) offsetof(struct glcnn_reshape_parameters, MEMBER)

static const struct parameter reshape_rows[] = {
    {"reshaped_width", "columns of the result; 0: of the source", FIELD_UINT32,
     FIELD(reshaped_width), 0, 0, 65536, NULL},
    {"reshaped_height", "rows of the result; 0: of the source", FIELD_UINT32,
     FIELD(reshaped_height), 0, 0, 65536, NULL},
    {"reshaped_feature_channels", "channels of the result; 0: those read of the source",
     FIELD_UINT32, FIELD(reshaped_feature_channels), 0, 0, 65536, NULL},
    {"channels_first", "numbers are in the order channel, row, column", FIELD_BOOL,
     FIELD(channels_first), 0, 0, 1, NULL},
    {0}};

#define FORWARD_ARGUMENTS                                                                          \
    .arguments = {{.name = "source_image", .place = PLACE_SOURCE, .input = true},                  \
                  {.name = "destination_image", .place = PLACE_DESTINATION, .output = true}}
#define GRADIENT_ARGUMENTS                                                                         \
    .arguments = {{.name = "source_gradient", .place = PLACE_SOURCE, .input = true},               \
                  {.name = "source_image", .place = PLACE_SECONDARY, .input = true},               \
                  {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true}}
#define COPY(FLAGS)                                                                                \
    FORWARD_ARGUMENTS, .flags = MAKES_STATE | (FLAGS),                                             \
                       .implementations = pointwise_implementations, .plan = plan_copy,            \
                       .reference = copy_reference, .keeps_zero = descriptor_always,               \
                       .cases = copy_cases
#define COPY_GRADIENT(NAME)                                                                        \
    GRADIENT_ARGUMENTS, .family = NAME, .forward = NAME, .flags = IS_GRADIENT | PIXEL_MANUAL,      \
                        .without_gradient = "it is a gradient itself",                             \
                        .check = slice_gradient_check,                                             \
                        .implementations = pointwise_implementations, .plan = plan_copy_gradient,  \
                        .reference = copy_gradient_reference, .cases = copy_gradient_cases

const struct glcnn_descriptor glcnn_kernel_slice = {
    .name = "slice",
    .mps_class = "MPSNNSlice",
    .text = "some pixels and channels of an image",
    .family = "slice",
    .gradient = "slice_gradient",
    .shape = slice_shape,
    COPY(0),
};

const struct glcnn_descriptor glcnn_kernel_slice_gradient = {
    .name = "slice_gradient",
    .text = "gradient of slice; MPS has none",
    COPY_GRADIENT("slice"),
};

const struct glcnn_descriptor glcnn_kernel_concatenation = {
    .name = "concatenation",
    .mps_class = "MPSNNConcatenationNode",
    .text = "writes one source at a destination feature channel offset, beside others",
    .family = "concatenation",
    .gradient = "concatenation_gradient",
    COPY(GATHERS),
};

const struct glcnn_descriptor glcnn_kernel_concatenation_gradient = {
    .name = "concatenation_gradient",
    .mps_class = "MPSNNConcatenationGradientNode",
    .text = "the slice of the gradient that belongs to one source of a concatenation",
    COPY_GRADIENT("concatenation"),
};

const struct glcnn_descriptor glcnn_kernel_reshape = {
    .name = "reshape",
    .mps_class = "MPSNNReshape",
    .text = "the same numbers, in the same order, in another shape",
    .family = "reshape",
    .gradient = "reshape_gradient",
    .flags = MAKES_STATE,
    .parameters_size = sizeof(struct glcnn_reshape_parameters),
    .parameters = reshape_rows,
    FORWARD_ARGUMENTS,
    .shape = reshape_shape,
    .check = reshape_check,
    .plan = plan_reshape,
    .reference = reshape_reference,
    .cases = reshape_cases,
};

const struct glcnn_descriptor glcnn_kernel_reshape_gradient = {
    .name = "reshape_gradient",
    .text = "gradient of reshape; MPS has none",
    .family = "reshape",
    .without_gradient = "it is a gradient itself",
    .forward = "reshape",
    .flags = IS_GRADIENT,
    .parameters_size = sizeof(struct glcnn_reshape_parameters),
    .parameters = reshape_rows,
    GRADIENT_ARGUMENTS,
    .check = reshape_gradient_check,
    .plan = plan_reshape_gradient,
    .reference = reshape_gradient_reference,
    .cases = reshape_cases,
};
