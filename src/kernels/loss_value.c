/* The value of a loss, of all kernels that compute one: spec 8. It is summed pixel by pixel, then over
 * squares of BLOCK x BLOCK, so its order is fixed. */
#include "encode/window.h"
#include "kernels/loss.h"

#define BLOCK 8

const char *const loss_reduction_types[] = {[GLCNN_REDUCTION_TYPE_NONE] = "none",
                                            [GLCNN_REDUCTION_TYPE_SUM] = "sum",
                                            [GLCNN_REDUCTION_TYPE_MEAN] = "mean",
                                            [GLCNN_REDUCTION_TYPE_SUM_BY_NON_ZERO_WEIGHTS] =
                                                "sum_by_non_zero_weights",
                                            NULL};

static const struct loss_form *form_of(const struct operation *o)
{
    return o->descriptor->form;
}

static glcnn_reduction_type reduction_of(const struct operation *o)
{
    const char *parameters = o->parameters;
    return *(const glcnn_reduction_type *)(const void *)(parameters + form_of(o)->reduction_type);
}

/* ---- Arguments ---- */

bool loss_is_element_wise(const struct operation *o)
{
    return reduction_of(o) == GLCNN_REDUCTION_TYPE_NONE;
}

uint32_t loss_channels(const struct operation *o)
{
    return form_of(o)->of_pixels ? 1 : o->images[SOURCE].channels;
}

void loss_shape(const struct operation *o, size_t index, struct glcnn_image_descriptor *result)
{
    const struct image_view *gradient = &o->images[DESTINATION];
    (void)index;
    *result = (struct glcnn_image_descriptor){.width = 1,
                                              .height = 1,
                                              .feature_channels = 1,
                                              .number_of_images =
                                                  o->starts[DESTINATION].image + gradient->images,
                                              .channel_format = GLCNN_CHANNEL_FORMAT_FLOAT32};
    if (!loss_is_element_wise(o))
        return;
    result->width = gradient->width;
    result->height = gradient->height;
    result->feature_channels = form_of(o)->of_pixels ? 1 : gradient->channels;
}

static bool same_shape(const struct operation *o, int index, struct validation validation)
{
    const struct image_view *y = &o->images[SOURCE], *t = &o->images[index];
    const bool one = index == WEIGHTS && form_of(o)->of_pixels;
    if (!o->given[index] ||
        (t->width == y->width && t->height == y->height && t->channels == (one ? 1 : y->channels)))
        return true;
    return invalid(
        validation,
        "%s are %ux%u with %u channels; the predictions are %ux%u and %u channels of them are "
        "read%s",
        o->descriptor->arguments[index].name, t->width, t->height, t->channels, y->width, y->height,
        y->channels, one ? ", whose weights have one channel" : "");
}

static bool check_loss_image(const struct operation *o, struct validation validation)
{
    const struct image_view *loss = &o->images[LOSS];
    uint32_t width = 1, height = 1, channels = 1;
    if (loss_is_element_wise(o)) {
        width = o->region_x + o->region_width;
        height = o->region_y + o->region_height;
        channels = loss_channels(o);
    }
    if (!o->given[LOSS] ||
        (loss->width >= width && loss->height >= height && loss->channels == channels &&
         (loss_is_element_wise(o) || loss->width == 1)))
        return true;
    return invalid(validation,
                   "the loss image is %ux%u with %u channels; this reduction needs %ux%u "
                   "with %u channels",
                   loss->width, loss->height, loss->channels, width, height, channels);
}

bool loss_check(const struct operation *o, struct validation validation)
{
    return same_shape(o, LABELS, validation) && same_shape(o, WEIGHTS, validation) &&
           check_loss_image(o, validation);
}

/* ---- Passes ---- */

double loss_constant(const struct operation *o)
{
    return form_of(o)->constant ? form_of(o)->constant(o) : 0;
}

double loss_scale(const struct operation *o)
{
    bool pixels = form_of(o)->over_pixels && form_of(o)->over_pixels(o);
    double elements = (double)o->region_width * o->region_height * (pixels ? 1 : loss_channels(o));
    return reduction_of(o) == GLCNN_REDUCTION_TYPE_SUM ? 1 : 1 / elements;
}

bool loss_by_count(const struct operation *o)
{
    return reduction_of(o) == GLCNN_REDUCTION_TYPE_SUM_BY_NON_ZERO_WEIGHTS && o->given[WEIGHTS];
}

static struct pass *plan_square(struct plan *plan, const struct image_view *from,
                                const struct image_view *to)
{
    struct pass *pass = plan_pass(plan, "loss/loss_reduce.comp");
    pass_texture(pass, "source", from);
    pass_image(pass, "sums", to);
    pass_int(pass, "block", BLOCK); /* no constant: some compilers would unroll both loops */
    pass_grid(pass, groups_of(from->width, BLOCK), groups_of(from->height, BLOCK), from->images);
    pass->work = BLOCK * BLOCK * 4;
    return pass;
}

static void pass_last(struct pass *pass, const struct operation *o)
{
    pass_define(pass, "LAST", 1);
    if (loss_by_count(o))
        pass_define(pass, "BY_COUNT", 1);
    pass_float(pass, "constant", (float)loss_constant(o));
    pass_float(pass, "scale", (float)loss_scale(o));
}

static void plan_reduction(const struct operation *o, struct plan *plan, struct image_view sums)
{
    while (sums.width > BLOCK || sums.height > BLOCK) {
        const struct extent blocks = {groups_of(sums.width, BLOCK), groups_of(sums.height, BLOCK),
                                      4, sums.images};
        struct image_view smaller = plan_scratch_image(plan, blocks);
        plan_square(plan, &sums, &smaller);
        sums = smaller;
    }
    pass_last(plan_square(plan, &sums, &o->images[LOSS]), o);
}

void loss_plan_value(const struct operation *o, struct plan *plan, struct pass *pass)
{
    bool sums = o->given[LOSS] && !loss_is_element_wise(o);
    if (o->given[LOSS] && !sums) {
        pass_define(pass, "ELEMENTS", 1);
        pass_image(pass, "elements", &o->images[LOSS]);
    }
    if (!sums)
        return;
    if (o->region_width * o->region_height == 1) {
        pass_image(pass, "sums", &o->images[LOSS]);
        pass_last(pass, o);
        return;
    }
    struct image_view partial = plan_scratch_image(
        plan, (struct extent){o->region_width, o->region_height, 4, o->images[DESTINATION].images});
    pass_define(pass, "SUMS", 1);
    pass_image(pass, "sums", &partial);
    plan_reduction(o, plan, partial);
}
