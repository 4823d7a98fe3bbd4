/* Augmentation: spec 7.16. A pass of one invocation an image draws what the image gets, in whole
 * numbers as far as they decide where something lies; a second pass does it to the pixels. */
#include "kernels/augment.h"

#include <math.h>

#include "encode/kernel.h"
#include "encode/window.h"

/* ---- Checks ---- */

#define MOST_PIXELS 4096 /* a side: positions are computed in 32 bits */

static bool reaches_too_far(const struct axis *axis, uint32_t size)
{
    return size > MOST_PIXELS || axis->first + axis->begin < -MOST_PIXELS ||
           axis->first + axis->end > 2 * MOST_PIXELS;
}

static bool check(const struct operation *o, struct validation validation)
{
    const struct image_view *source = &o->images[SOURCE], *numbers = &o->images[NUMBERS];
    if (numbers->width != 1 || numbers->height != 1 || numbers->channels != 8)
        return invalid(validation,
                       "image_numbers has %ux%u pixels of %u channels; it must be one pixel of 8 "
                       "for each image, four bytes of the image's number and four of the epoch",
                       numbers->width, numbers->height, numbers->channels);
    if (!reaches_too_far(&o->window.x, source->width) &&
        !reaches_too_far(&o->window.y, source->height))
        return true;
    return invalid(
        validation,
        "pictures have at most %d pixels a side, and results lie within as many of them; "
        "this one has %ux%u with an offset of (%d, %d)",
        MOST_PIXELS, source->width, source->height, o->properties.primary.offset.x,
        o->properties.primary.offset.y);
}

/* Hue and saturation are those of red, green and blue. */
static bool turns_colors(const struct glcnn_augment_color_parameters *p)
{
    return p->hue > 0 || p->saturation > 0;
}

static bool check_color(const struct operation *o, struct validation validation)
{
    if (!turns_colors(o->parameters) || o->images[SOURCE].channels == 3)
        return check(o, validation);
    return invalid(validation,
                   "hue and saturation need pictures of 3 channels; these have %u; leave both at 0",
                   o->images[SOURCE].channels);
}

/* ---- Ranges as the passes have them ---- */

/* Degrees in 2^-18 turns. */
static int32_t in_turns(float degrees)
{
    return (int32_t)lrint((double)degrees / 360 * (1 << 18));
}

int32_t augment_hue_range(const struct glcnn_augment_color_parameters *p)
{
    return in_turns(p->hue);
}

struct geometry_ranges augment_ranges(const struct glcnn_augment_geometry_parameters *p)
{
    return (struct geometry_ranges){(int32_t)p->shift, in_turns(p->rotation),
                                    (int32_t)lrint((double)p->scale * (1 << 14))};
}

double augment_noise_step(const struct glcnn_augment_color_parameters *p)
{
    return (double)p->noise / sqrt(21845);
}

/* ---- Passes ---- */

static void pass_numbers(struct pass *pass, const struct operation *o, uint64_t seed)
{
    pass_texture(pass, "numbers", &o->images[NUMBERS]);
    pass_int(pass, "seed_low", (int32_t)(uint32_t)seed);
    pass_int(pass, "seed_high", (int32_t)(uint32_t)(seed >> 32));
}

static struct pass *plan_draws(const struct operation *o, struct plan *plan, const char *shader,
                               uint64_t seed)
{
    struct pass *pass = plan_pass(plan, shader);
    pass_numbers(pass, o, seed);
    pass_int(pass, "width", (int32_t)o->images[SOURCE].width);
    pass_int(pass, "height", (int32_t)o->images[SOURCE].height);
    pass_grid(pass, o->images[RESULT].images, 1, 1);
    pass->work = 256;
    return pass;
}

static struct pass *plan_result(const struct operation *o, struct plan *plan, const char *shader)
{
    struct pass *pass = plan_pixels(plan, o, shader, &o->images[RESULT]);
    pass_texture(pass, "source", &o->images[SOURCE]);
    pass_image(pass, "destination", &o->images[RESULT]);
    if (o->window.edge_mode == GLCNN_EDGE_MODE_CLAMP)
        pass_define(pass, "EDGE_CLAMP", 1);
    pass_int(pass, "first_x", o->window.x.first);
    pass_int(pass, "first_y", o->window.y.first);
    return pass;
}

static void plan_geometry(const struct operation *o, struct plan *plan)
{
    const struct glcnn_augment_geometry_parameters *p = o->parameters;
    struct geometry_ranges ranges = augment_ranges(p);
    struct vector_view transform = plan_scratch_vector(plan, 7 * (size_t)o->images[RESULT].images);
    struct pass *pass = plan_draws(o, plan, "augment/augment_geometry_draws.comp", p->seed);
    pass_vector_of(pass, "int", "transform", &transform, VECTOR_WRITE);
    pass_int(pass, "flip_horizontal", p->flip_horizontal);
    pass_int(pass, "flip_vertical", p->flip_vertical);
    pass_int(pass, "shift", ranges.shift);
    pass_int(pass, "rotation", ranges.rotation);
    pass_int(pass, "scale", ranges.scale);
    pass = plan_result(o, plan, "augment/augment_geometry.comp");
    if (p->reflect)
        pass_define(pass, "REFLECT", 1);
    pass_vector_of(pass, "int", "transform", &transform, VECTOR_READ);
}

static void plan_color(const struct operation *o, struct plan *plan)
{
    const struct glcnn_augment_color_parameters *p = o->parameters;
    struct vector_view adjustment =
        plan_scratch_vector(plan, 10 * (size_t)o->images[RESULT].images);
    struct pass *pass = plan_draws(o, plan, "augment/augment_color_draws.comp", p->seed);
    pass_vector(pass, "adjustment", &adjustment, VECTOR_WRITE);
    pass_float(pass, "brightness", p->brightness);
    pass_float(pass, "contrast", p->contrast);
    pass_int(pass, "hue", augment_hue_range(p));
    pass_float(pass, "saturation", p->saturation);
    pass_float(pass, "channel_gain", p->gain);
    pass_int(pass, "cutout", (int32_t)p->cutout);
    pass = plan_result(o, plan, "augment/augment_color.comp");
    pass_vector(pass, "adjustment", &adjustment, VECTOR_READ);
    pass_int(pass, "cutout", (int32_t)p->cutout);
    if (turns_colors(p))
        pass_define(pass, "TURNS_COLORS", 1);
    if (p->noise > 0) {
        pass_define(pass, "NOISE", 1);
        pass_library(pass, "augment/noise.glsl");
        pass_numbers(pass, o, p->seed);
        pass_float(pass, "noise_step", (float)augment_noise_step(p));
        pass->work = 256;
    }
}

/* ---- Descriptors ---- */

#define GEOMETRY(FIELD) offsetof(struct glcnn_augment_geometry_parameters, FIELD)
#define COLOR(FIELD)    offsetof(struct glcnn_augment_color_parameters, FIELD)

static const struct parameter geometry_parameters[] = {
    {"seed", "of what is drawn", FIELD_UINT64, GEOMETRY(seed), 0, 0, 0x1p64, NULL},
    {"flip_horizontal", "columns in reverse, of every second image", FIELD_BOOL,
     GEOMETRY(flip_horizontal), 0, 0, 1, NULL},
    {"flip_vertical", "rows in reverse, of every second image", FIELD_BOOL, GEOMETRY(flip_vertical),
     0, 0, 1, NULL},
    {"shift", "pixels along each axis, at most", FIELD_UINT32, GEOMETRY(shift), 0, 0, 4096, NULL},
    {"rotation", "degrees about the centre, at most", FIELD_FLOAT, GEOMETRY(rotation), 0, 0, 180,
     NULL},
    {"scale", "enlarged by a factor that differs from 1 by this, at most", FIELD_FLOAT,
     GEOMETRY(scale), 0, 0, 0.5, NULL},
    {"reflect", "outside lies the picture reflected at its border, whatever the edge mode",
     FIELD_BOOL, GEOMETRY(reflect), 0, 0, 1, NULL},
    {0}};

static const struct parameter color_parameters[] = {
    {"seed", "of what is drawn", FIELD_UINT64, COLOR(seed), 0, 0, 0x1p64, NULL},
    {"brightness", "is added or taken away, at most", FIELD_FLOAT, COLOR(brightness), 0, 0, 1,
     NULL},
    {"contrast", "values are spread about 0.5 by a factor that differs from 1 by this, at most",
     FIELD_FLOAT, COLOR(contrast), 0, 0, 1, NULL},
    {"noise", "standard deviation of what is added to each value", FIELD_FLOAT, COLOR(noise), 0, 0,
     1, NULL},
    {"cutout", "side of a square of zeros, in pixels", FIELD_UINT32, COLOR(cutout), 0, 0, 4096,
     NULL},
    {"hue", "degrees about the grey axis, at most", FIELD_FLOAT, COLOR(hue), 0, 0, 180, NULL},
    {"saturation",
     "differences from a pixel's mean are spread by a factor that differs from 1 by this, at most",
     FIELD_FLOAT, COLOR(saturation), 0, 0, 1, NULL},
    {"gain", "each channel times a factor that differs from 1 by this, at most", FIELD_FLOAT,
     COLOR(gain), 0, 0, 1, NULL},
    {0}};

static const struct argument arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true},
    {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
    {.name = "image_numbers", .place = PLACE_SECONDARY, .input = true, .values = VALUES_BYTE},
    {0}};

static const char without_gradient[] = "pictures are not trained; let its result stop gradients";

const struct glcnn_descriptor glcnn_kernel_augment_geometry = {
    .name = "augment_geometry",
    .text = "images at random mirrored, shifted, turned and enlarged",
    .family = "augment_geometry",
    .without_gradient = without_gradient,
    .flags = IS_BINARY | STOPS_GRADIENT,
    .unread = UNREAD_SECOND,
    .parameters_size = sizeof(struct glcnn_augment_geometry_parameters),
    .parameters = geometry_parameters,
    .arguments = arguments,
    .check = check,
    .plan = plan_geometry,
};

const struct glcnn_descriptor glcnn_kernel_augment_color = {
    .name = "augment_color",
    .text = "images at random in brightness, contrast and colour, with noise, a square cut out",
    .family = "augment_color",
    .without_gradient = without_gradient,
    .flags = IS_BINARY | STOPS_GRADIENT,
    .unread = UNREAD_SECOND,
    .parameters_size = sizeof(struct glcnn_augment_color_parameters),
    .parameters = color_parameters,
    .arguments = arguments,
    .check = check_color,
    .plan = plan_color,
};
