/* Kernels whose results are numbers of the source in other places: what they share. */
#include "kernels/elements.h"

#include "encode/window.h"

const struct image_view *elements_source(const struct operation *o)
{
    return &o->images[operation_is_gradient(o) ? ELEMENT_IMAGE : ELEMENT_SOURCE];
}

const struct image_view *elements_result(const struct operation *o)
{
    return &o->images[operation_is_gradient(o) ? ELEMENT_GRADIENT : ELEMENT_RESULT];
}

/* ---- Checks ---- */

uint64_t elements_in(const struct image_view *view)
{
    return (uint64_t)view->width * view->height * view->channels;
}

bool elements_check_size(const struct operation *o, struct validation validation)
{
    struct glcnn_image_descriptor result = {.width = o->images[ELEMENT_SOURCE].width,
                                            .height = o->images[ELEMENT_SOURCE].height,
                                            .feature_channels = o->images[ELEMENT_SOURCE].channels};
    o->descriptor->shape(o, &result);
    return check_result_size(&o->images[ELEMENT_RESULT], &result, validation);
}

bool elements_check_state(const struct operation *o, struct validation validation)
{
    if (o->state_driven)
        return true;
    return invalid(validation, "it follows its state; no addressing can be set by hand");
}

/* ---- Passes ---- */

struct pass *plan_elements(const struct operation *o, struct plan *plan, const char *shader)
{
    const struct image_view *to =
        &o->images[operation_is_gradient(o) ? ELEMENT_DESTINATION : ELEMENT_RESULT];
    struct pass *pass = plan_pixels(plan, o, shader, to);
    pass_texture(pass, operation_is_gradient(o) ? "gradient" : "source",
                 &o->images[ELEMENT_SOURCE]);
    pass_image(pass, "destination", to);
    if (operation_is_gradient(o))
        pass_results(pass, &o->window);
    return pass;
}

struct pass *plan_rearranged(const struct operation *o, struct plan *plan, const char *place)
{
    return plan_rearranged_by(o, plan, "slice/rearranged.comp", place);
}

struct pass *plan_rearranged_by(const struct operation *o, struct plan *plan, const char *shader,
                                const char *place)
{
    const struct image_view *to =
        &o->images[operation_is_gradient(o) ? ELEMENT_DESTINATION : ELEMENT_RESULT];
    struct pass *pass = plan_pixels(plan, o, shader, to);
    pass_texture(pass, "source", &o->images[ELEMENT_SOURCE]);
    pass_image(pass, "destination", to);
    pass_library(pass, place);
    pass->work = 64;
    if (!operation_is_gradient(o))
        return pass;
    pass_define(pass, "GRADIENT", 1);
    pass_results(pass, &o->window);
    return pass;
}

#define FEW_ELEMENTS (1u << 22) /* numbers that floats divide exactly */

void pass_most_elements(struct pass *pass, uint64_t most)
{
    if (most <= FEW_ELEMENTS)
        pass_define(pass, "FEW_ELEMENTS", 1);
}

/* ---- For descriptors ---- */

const struct argument element_pair_arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true},
    {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
    {.name = "secondary_image", .place = PLACE_SECONDARY, .input = true},
    {0}};

const struct argument element_pair_gradient_arguments[] = {
    {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
    {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
    {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},
    {.name = "secondary_image", .place = PLACE_FORWARD, .input = true, .optional = true},
    {0}};
