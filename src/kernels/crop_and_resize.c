/* Regions of images, resized, and their gradients: spec 7.26. Where the regions are given by a vector
 * and where by an image differs in how a pass finds them. */
#include "kernels/crop_and_resize.h"

#include "encode/kernel.h"
#include "encode/window.h"

#define MOST_PIXELS  16384 /* a side of a result */
#define MOST_REGIONS 65536 /* of a vector */

/* ---- Regions ---- */

bool crop_has_region_image(const struct operation *o)
{
    return o->descriptor->flags & IS_BINARY;
}

static const struct image_view *region_image(const struct operation *o)
{
    return &o->images[operation_is_gradient(o) ? CROP_GRADIENT_REGION_IMAGE : CROP_REGIONS];
}

static const struct vector_view *region_vector(const struct operation *o)
{
    return &o->vectors[operation_is_gradient(o) ? CROP_GRADIENT_REGIONS : CROP_REGIONS];
}

uint32_t crop_region_count(const struct operation *o)
{
    const struct glcnn_crop_and_resize_parameters *p = o->parameters;
    if (!crop_has_region_image(o))
        return p->number_of_regions;
    return region_image(o)->width * region_image(o)->height;
}

static size_t length(const struct operation *o, size_t index)
{
    const struct glcnn_crop_and_resize_parameters *p = o->parameters;
    (void)index;
    return 4 * (size_t)p->number_of_regions;
}

static struct operands operands(const void *parameters)
{
    (void)parameters;
    return (struct operands){.of = PLACE_SOURCE, .given = PLACE_SECONDARY};
}

/* ---- Shape and check ---- */

static void shape(const struct operation *o, struct glcnn_image_descriptor *result)
{
    const struct glcnn_crop_and_resize_parameters *p = o->parameters;
    result->width = p->resize_width;
    result->height = p->resize_height;
}

static bool check(const struct operation *o, struct validation validation)
{
    const struct image_view *regions = region_image(o);
    if (crop_has_region_image(o) && regions->channels != 4)
        return invalid(
            validation,
            "%u channels of region_image are read; a region has 4: column, row, width and "
            "height",
            regions->channels);
    return elements_check_size(o, validation);
}

/* ---- Passes ---- */

static void pass_axis(struct pass *pass, const char *size, const char *steps, const char *middle,
                      uint32_t results)
{
    pass_int(pass, size, (int32_t)results);
    pass_int(pass, steps, results == 1 ? 1 : (int32_t)results - 1);
    pass_float(pass, middle, results == 1 ? 0.5f : 0);
}

static void plan_crops(const struct operation *o, struct plan *plan)
{
    const struct glcnn_crop_and_resize_parameters *p = o->parameters;
    struct pass *pass =
        plan_elements(o, plan,
                      operation_is_gradient(o) ? "crop_and_resize/crop_and_resize_gradient.comp"
                                               : "crop_and_resize/crop_and_resize.comp");
    pass_int(pass, "region_count", (int32_t)crop_region_count(o));
    pass_axis(pass, "resize_width", "steps_x", "middle_x", p->resize_width);
    pass_axis(pass, "resize_height", "steps_y", "middle_y", p->resize_height);
    if (o->window.edge_mode == GLCNN_EDGE_MODE_CLAMP)
        pass_define(pass, "EDGE_CLAMP", 1);
    if (crop_has_region_image(o))
        pass_texture(pass, "regions", region_image(o));
    else
        pass_vector(pass, "regions", region_vector(o), VECTOR_READ);
    pass_library(pass, crop_has_region_image(o) ? "crop_and_resize/region_of_image.glsl"
                                                : "crop_and_resize/region_of_vector.glsl");
}

/* ---- Descriptors ---- */

#define FIELD(MEMBER) offsetof(struct glcnn_crop_and_resize_parameters, MEMBER)
#define SIZES                                                                                      \
    {"resize_width",                                                                               \
     "columns of the result",                                                                      \
     FIELD_UINT32,                                                                                 \
     FIELD(resize_width),                                                                          \
     1,                                                                                            \
     1,                                                                                            \
     MOST_PIXELS,                                                                                  \
     NULL},                                                                                        \
    {                                                                                              \
        "resize_height", "rows of the result", FIELD_UINT32, FIELD(resize_height), 1, 1,           \
            MOST_PIXELS, NULL                                                                      \
    }

static const struct parameter vector_rows[] = {SIZES,
                                               {"number_of_regions", "regions of each image",
                                                FIELD_UINT32, FIELD(number_of_regions), 1, 1,
                                                MOST_REGIONS, NULL},
                                               {0}};
static const struct parameter image_rows[] = {SIZES, {0}};

static const struct argument vector_arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true},
    {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
    {.name = "regions", .place = PLACE_KERNEL, .input = true, .constant = true},
    {0}};

static const struct argument vector_gradient_arguments[] = {
    {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
    {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
    {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},
    {.name = "regions", .place = PLACE_STATE, .input = true, .constant = true},
    {0}};

static const struct argument image_arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true},
    {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
    {.name = "region_image", .place = PLACE_SECONDARY, .input = true, .values = VALUES_UNIT},
    {0}};

static const struct argument image_gradient_arguments[] = {
    {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
    {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
    {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},
    {.name = "region_image",
     .place = PLACE_FORWARD,
     .input = true,
     .optional = true,
     .values = VALUES_UNIT},
    {0}};

const struct glcnn_descriptor glcnn_kernel_crop_and_resize_bilinear = {
    .name = "crop_and_resize_bilinear",
    .mps_class = "MPSNNCropAndResizeBilinear",
    .text = "regions of each image, resized to images of their own",
    .family = "crop_and_resize_bilinear",
    .gradient = "crop_and_resize_bilinear_gradient",
    .flags = MAKES_STATE,
    .unread = UNREAD_OFFSET,
    .parameters_size = sizeof(struct glcnn_crop_and_resize_parameters),
    .parameters = vector_rows,
    .arguments = vector_arguments,
    .keeps_zero = descriptor_always,
    .shape = shape,
    .results = crop_region_count,
    .length = length,
    .check = check,
    .plan = plan_crops,
};

const struct glcnn_descriptor glcnn_kernel_crop_and_resize_bilinear_gradient = {
    .name = "crop_and_resize_bilinear_gradient",
    .text = "gradient of crop_and_resize_bilinear; MPS has none",
    .family = "crop_and_resize_bilinear",
    .forward = "crop_and_resize_bilinear",
    .flags = IS_GRADIENT | NEEDS_STATE,
    .parameters_size = sizeof(struct glcnn_crop_and_resize_parameters),
    .parameters = vector_rows,
    .arguments = vector_gradient_arguments,
    .length = length,
    .check = elements_check_state,
    .plan = plan_crops,
};

const struct glcnn_descriptor glcnn_kernel_crop_and_resize_bilinear_regions = {
    .name = "crop_and_resize_bilinear_regions",
    .text = "the same of regions that a secondary source has for each image",
    .family = "crop_and_resize_bilinear_regions",
    .gradient = "crop_and_resize_bilinear_regions_gradient",
    .flags = IS_BINARY | MAKES_STATE | FIRST_SOURCE_ONLY,
    .unread = UNREAD_OFFSET | UNREAD_SECOND,
    .parameters_size = sizeof(struct glcnn_crop_and_resize_parameters),
    .parameters = image_rows,
    .arguments = image_arguments,
    .keeps_zero = descriptor_always,
    .shape = shape,
    .results = crop_region_count,
    .check = check,
    .plan = plan_crops,
};

const struct glcnn_descriptor glcnn_kernel_crop_and_resize_bilinear_regions_gradient = {
    .name = "crop_and_resize_bilinear_regions_gradient",
    .text = "gradient of crop_and_resize_bilinear_regions by its first source",
    .family = "crop_and_resize_bilinear_regions",
    .forward = "crop_and_resize_bilinear_regions",
    .flags = IS_BINARY | IS_GRADIENT | NEEDS_STATE,
    .operands = operands,
    .parameters_size = sizeof(struct glcnn_crop_and_resize_parameters),
    .parameters = image_rows,
    .arguments = image_gradient_arguments,
    .check = elements_check_state,
    .plan = plan_crops,
};

/* ---- Typed access ---- */

struct glcnn_crop_and_resize_parameters *glcnn_crop_and_resize(glcnn_kernel *kernel)
{
    struct glcnn_crop_and_resize_parameters *p =
        kernel_parameters(kernel, "crop_and_resize_bilinear");
    return p ? p : kernel_parameters(kernel, "crop_and_resize_bilinear_regions");
}
