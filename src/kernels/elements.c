/* Kernels whose results are numbers of the source in other places: what they share. */
#include "kernels/elements.h"

#include "encode/window.h"

static bool is_gradient(const struct operation *o)
{
    return o->descriptor->flags & IS_GRADIENT;
}

const struct image_view *elements_source(const struct operation *o)
{
    return &o->images[is_gradient(o) ? ELEMENT_IMAGE : ELEMENT_SOURCE];
}

const struct image_view *elements_result(const struct operation *o)
{
    return &o->images[is_gradient(o) ? ELEMENT_GRADIENT : ELEMENT_RESULT];
}

/* ---- Checks ---- */

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

void pass_results(struct pass *pass, const struct operation *o)
{
    pass_int(pass, "begin_x", o->window.x.begin);
    pass_int(pass, "begin_y", o->window.y.begin);
    pass_int(pass, "end_x", o->window.x.end);
    pass_int(pass, "end_y", o->window.y.end);
}

struct pass *plan_elements(const struct operation *o, struct plan *plan, const char *shader)
{
    const struct image_view *to = &o->images[is_gradient(o) ? ELEMENT_DESTINATION : ELEMENT_RESULT];
    struct pass *pass = plan_pixels(plan, o, shader, to);
    pass_texture(pass, is_gradient(o) ? "gradient" : "source", &o->images[ELEMENT_SOURCE]);
    pass_image(pass, "destination", to);
    if (is_gradient(o))
        pass_results(pass, o);
    return pass;
}

struct pass *plan_rearranged(const struct operation *o, struct plan *plan, const char *place)
{
    const struct image_view *to = &o->images[is_gradient(o) ? ELEMENT_DESTINATION : ELEMENT_RESULT];
    struct pass *pass = plan_pixels(plan, o, "slice/rearranged.comp", to);
    pass_texture(pass, "source", &o->images[ELEMENT_SOURCE]);
    pass_image(pass, "destination", to);
    pass_library(pass, place);
    pass->work = 64;
    if (!is_gradient(o))
        return pass;
    pass_define(pass, "GRADIENT", 1);
    pass_results(pass, o);
    return pass;
}
