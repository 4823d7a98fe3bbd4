/* Frames of cameras: spec 7.23. The kernels differ in where a pixel's three numbers lie and in what
 * makes them red, green and blue; what they share is one shader. */
#include "kernels/frame.h"

#include "encode/kernel.h"
#include "encode/window.h"

#define MOST_PIXELS 16384 /* a side */
#define MOST_SHRINK 64    /* pixels of an axis in one result: sums stay short, and dispatches too */

/* ---- Shape and check ---- */

static uint32_t part(uint32_t wanted, uint32_t first, uint32_t size)
{
    return wanted ? wanted : first < size ? size - first : 0;
}

struct crop frame_crop(const struct operation *o)
{
    const struct glcnn_frame_parameters *p = o->parameters;
    const struct image_view *frame = &o->images[SOURCE];
    return (struct crop){p->crop_x, p->crop_y, part(p->crop_width, p->crop_x, frame->width),
                         part(p->crop_height, p->crop_y, frame->height)};
}

static void shape(const struct operation *o, struct glcnn_image_descriptor *result)
{
    const struct glcnn_frame_parameters *p = o->parameters;
    struct crop crop = frame_crop(o);
    result->width = p->resized_width ? p->resized_width : crop.width;
    result->height = p->resized_height ? p->resized_height : crop.height;
    result->feature_channels = 3;
}

static size_t length(const struct operation *o, size_t index)
{
    (void)o, (void)index;
    return 3;
}

static bool check_axis(const char *what, uint32_t size, uint32_t first, uint32_t count,
                       uint32_t resized, struct validation validation)
{
    if (first >= size || count > size - first)
        return invalid(validation, "the crop has %u %s from %u on; the frame has %u", count, what,
                       first, size);
    if (size > MOST_PIXELS)
        return invalid(validation, "the frame has %u %s; there may be %d", size, what, MOST_PIXELS);
    if (count <= (uint64_t)MOST_SHRINK * resized)
        return true;
    return invalid(validation, "%u %s become %u; each may be of %d at most", count, what, resized,
                   MOST_SHRINK);
}

static bool check_size(const struct operation *o, struct validation validation)
{
    const struct image_view *frame = &o->images[SOURCE];
    struct crop crop = frame_crop(o);
    struct glcnn_image_descriptor result = {0};
    shape(o, &result);
    if (!check_axis("columns", frame->width, crop.x, crop.width, result.width, validation) ||
        !check_axis("rows", frame->height, crop.y, crop.height, result.height, validation))
        return false;
    return check_result_size(&o->images[RESULT], &result, validation);
}

static bool check_rgb(const struct operation *o, struct validation validation)
{
    uint32_t channels = o->images[SOURCE].channels;
    if (channels == 3 || channels == 4)
        return check_size(o, validation);
    return invalid(validation, "the source has %u channels; 3 or 4 are red, green and blue",
                   channels);
}

static bool check_yuyv(const struct operation *o, struct validation validation)
{
    const struct image_view *frame = &o->images[SOURCE];
    if (frame->channels == 2 && frame->width % 2 == 0)
        return check_size(o, validation);
    return invalid(
        validation,
        "the source has %u channels and %u columns; there must be 2, of luma and chroma, "
        "and an even number of columns",
        frame->channels, frame->width);
}

/* Does the chroma have all of the frame's pixels along an axis, or every second? */
static bool is_chroma(uint32_t chroma, uint32_t frame)
{
    return chroma == frame || chroma == groups_of(frame, 2);
}

static bool check_nv12(const struct operation *o, struct validation validation)
{
    const struct image_view *frame = &o->images[SOURCE], *chroma = &o->images[CHROMA];
    if (frame->channels != 1 || chroma->channels != 2)
        return invalid(validation,
                       "the source has %u channels and chroma_image %u; there must be 1, of luma, "
                       "and 2, of chroma",
                       frame->channels, chroma->channels);
    if (is_chroma(chroma->width, frame->width) && is_chroma(chroma->height, frame->height))
        return check_size(o, validation);
    return invalid(
        validation,
        "chroma_image has %ux%u pixels; along each axis it must have those of the frame, "
        "%ux%u, or half as many, rounded up",
        chroma->width, chroma->height, frame->width, frame->height);
}

/* ---- Colours ---- */

bool frame_is_rgb(const struct operation *o)
{
    return *(const bool *)o->descriptor->form;
}

struct levels frame_levels(const struct operation *o)
{
    const struct glcnn_frame_parameters *p = o->parameters;
    bool is_rgb = frame_is_rgb(o);
    bool full = p->range == GLCNN_COLOR_RANGE_USUAL ? is_rgb : p->range == GLCNN_COLOR_RANGE_FULL;
    return full ? (struct levels){1, 0, 1, -128.0 / 255}
                : (struct levels){255.0 / 219, -16.0 / 219, 255.0 / 224, -128.0 / 224};
}

struct shares frame_shares(const struct operation *o)
{
    const struct glcnn_frame_parameters *p = o->parameters;
    return p->matrix == GLCNN_COLOR_MATRIX_BT709 ? (struct shares){0.2126, 0.0722}
                                                 : (struct shares){0.299, 0.114};
}

/* ---- Passes ---- */

static struct pass *plan_frame(const struct operation *o, struct plan *plan, const char *pixels)
{
    struct pass *pass = plan_pixels(plan, o, "frame/frame.comp", &o->images[RESULT]);
    const struct glcnn_frame_parameters *p = o->parameters;
    struct crop crop = frame_crop(o);
    struct levels levels = frame_levels(o);
    pass_texture(pass, "source", &o->images[SOURCE]);
    pass_image(pass, "destination", &o->images[RESULT]);
    pass_library(pass, pixels);
    pass_vector(pass, "mean", &o->vectors[MEAN], VECTOR_READ);
    pass_vector(pass, "deviation", &o->vectors[DEVIATION], VECTOR_READ);
    pass_int(pass, "crop_x", (int32_t)crop.x);
    pass_int(pass, "crop_y", (int32_t)crop.y);
    pass_int(pass, "crop_width", (int32_t)crop.width);
    pass_int(pass, "crop_height", (int32_t)crop.height);
    pass_int(pass, "swapped", p->swapped);
    pass_float(pass, "luma_scale", (float)levels.luma_scale);
    pass_float(pass, "luma_offset", (float)levels.luma_offset);
    pass->work = 64 * groups_of(crop.width, o->images[RESULT].width) *
                 groups_of(crop.height, o->images[RESULT].height);
    return pass;
}

static void plan_rgb(const struct operation *o, struct plan *plan)
{
    plan_frame(o, plan, "frame/rgb.glsl");
}

static struct pass *plan_ycbcr(const struct operation *o, struct plan *plan, const char *pixels)
{
    struct pass *pass = plan_frame(o, plan, pixels);
    struct levels levels = frame_levels(o);
    struct shares share = frame_shares(o);
    double green = 1 - share.red - share.blue;
    pass_float(pass, "chroma_scale", (float)levels.chroma_scale);
    pass_float(pass, "chroma_offset", (float)levels.chroma_offset);
    pass_float(pass, "red_cr", (float)(2 * (1 - share.red)));
    pass_float(pass, "green_cb", (float)(2 * (1 - share.blue) * share.blue / green));
    pass_float(pass, "green_cr", (float)(2 * (1 - share.red) * share.red / green));
    pass_float(pass, "blue_cb", (float)(2 * (1 - share.blue)));
    return pass;
}

static void plan_yuyv(const struct operation *o, struct plan *plan)
{
    plan_ycbcr(o, plan, "frame/yuyv.glsl");
}

bool frame_is_halved(uint32_t chroma, uint32_t frame)
{
    return chroma != frame;
}

static void plan_nv12(const struct operation *o, struct plan *plan)
{
    const struct image_view *frame = &o->images[SOURCE], *chroma = &o->images[CHROMA];
    struct pass *pass = plan_ycbcr(o, plan, "frame/nv12.glsl");
    pass_texture(pass, "chroma", chroma);
    pass_int(pass, "chroma_x", frame_is_halved(chroma->width, frame->width));
    pass_int(pass, "chroma_y", frame_is_halved(chroma->height, frame->height));
}

/* ---- Descriptors ---- */

static const char *const matrix_names[] = {"bt601", "bt709", NULL};
static const char *const range_names[] = {"usual", "full", "limited", NULL};

#define FIELD(MEMBER) offsetof(struct glcnn_frame_parameters, MEMBER)
#define PIXELS(NAME, TEXT)                                                                         \
    {                                                                                              \
#NAME, TEXT, FIELD_UINT32, FIELD(NAME), 0, 0, MOST_PIXELS, NULL                            \
    }

static const struct parameter rows[] = {
    PIXELS(crop_x, "first column of the frame that counts"),
    PIXELS(crop_y, "first row of the frame that counts"),
    PIXELS(crop_width, "columns that count; 0: all the rest"),
    PIXELS(crop_height, "rows that count; 0: all the rest"),
    PIXELS(resized_width, "columns of the result; 0: those that count"),
    PIXELS(resized_height, "rows of the result; 0: those that count"),
    {"color_matrix", "what luma and chroma are of red, green and blue", FIELD_ENUM, FIELD(matrix),
     0, 0, 0, matrix_names},
    {"color_range", "which bytes are black and white", FIELD_ENUM, FIELD(range), 0, 0, 0,
     range_names},
    {"swapped", "blue comes before red, or Cr before Cb", FIELD_BOOL, FIELD(swapped), 0, 0, 1,
     NULL},
    {0}};

/* The arguments of formats of one plane. */
static const struct argument arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true, .values = VALUES_BYTE},
    {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
    {.name = "mean", .place = PLACE_KERNEL, .input = true, .optional = true},
    {.name = "deviation",
     .place = PLACE_KERNEL,
     .input = true,
     .optional = true,
     .neutral = 1,
     .values = VALUES_POSITIVE},
    {0}};
static const struct argument nv12_arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true, .values = VALUES_BYTE},
    {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
    {.name = "mean", .place = PLACE_KERNEL, .input = true, .optional = true},
    {.name = "deviation",
     .place = PLACE_KERNEL,
     .input = true,
     .optional = true,
     .neutral = 1,
     .values = VALUES_POSITIVE},
    {.name = "chroma_image", .place = PLACE_SECONDARY, .input = true, .values = VALUES_BYTE},
    {0}};

static const char without_gradient[] = "frames are not trained; let its result stop gradients";

static const bool rgb = true, luma_and_chroma = false;

const struct glcnn_descriptor glcnn_kernel_frame_rgb = {
    .name = "frame_rgb",
    .unread = UNREAD_FIRST,
    .form = &rgb,
    .text = "frames of red, green and blue cropped, scaled and normalised",
    .family = "frame",
    .without_gradient = without_gradient,
    .flags = STOPS_GRADIENT,
    .parameters_size = sizeof(struct glcnn_frame_parameters),
    .parameters = rows,
    .arguments = arguments,
    .shape = shape,
    .length = length,
    .check = check_rgb,
    .plan = plan_rgb,
};

const struct glcnn_descriptor glcnn_kernel_frame_yuyv = {
    .name = "frame_yuyv",
    .unread = UNREAD_FIRST,
    .form = &luma_and_chroma,
    .text = "frames of YUYV as red, green and blue, cropped, scaled and normalised",
    .family = "frame",
    .without_gradient = without_gradient,
    .flags = STOPS_GRADIENT,
    .parameters_size = sizeof(struct glcnn_frame_parameters),
    .parameters = rows,
    .arguments = arguments,
    .shape = shape,
    .length = length,
    .check = check_yuyv,
    .plan = plan_yuyv,
};

const struct glcnn_descriptor glcnn_kernel_frame_nv12 = {
    .name = "frame_nv12",
    .unread = UNREAD_BOTH,
    .form = &luma_and_chroma,
    .text = "frames of NV12 as red, green and blue, cropped, scaled and normalised",
    .family = "frame",
    .without_gradient = without_gradient,
    .flags = IS_BINARY | STOPS_GRADIENT,
    .parameters_size = sizeof(struct glcnn_frame_parameters),
    .parameters = rows,
    .arguments = nv12_arguments,
    .shape = shape,
    .length = length,
    .check = check_nv12,
    .plan = plan_nv12,
};
