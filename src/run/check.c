/* The self-check: every kernel's cases on the device against its double-precision reference, with
 * images stored as float32 and as float16; tests have them read unorm8 ones too.
 *
 * An element passes within the bound of glcnn/image.h (encode/bound.h): float32's, and for
 * float16 images half a unit of the last place more. Inputs are rounded to the format beforehand,
 * so that device and reference see the same numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/check.h"
#include "encode/bound.h"
#include "encode/random.h"
#include "image/float16.h"
#include "encode/implementation.h"
#include "image/image.h"
#include "record/program.h"

static float round_input(double value, glcnn_channel_format format)
{
    if (format == GLCNN_CHANNEL_FORMAT_UNORM8)
        return (float)byte_of_unit((float)value) / 255;
    return format == GLCNN_CHANNEL_FORMAT_FLOAT16
               ? float16_to_float(float16_from_float((float)value))
               : (float)value;
}

/* `numbers` of an image, for indices. */
static double draw(enum argument_values values, uint64_t numbers, uint64_t *seed)
{
    double u = (double)random_bits24(seed) / (1 << 24);
    switch (values) {
    case VALUES_SYMMETRIC:
        return 2 * u - 1;
    case VALUES_ZERO_ONE:
        return u < 0.5 ? 0 : 1;
    case VALUES_UNIT:
        return 0.05 + 0.9 * u;
    case VALUES_BYTE:
        return floor(256 * u) / 255;
    case VALUES_STEPS:
        return floor(3 * u) / 2;
    case VALUES_INDEX:
        return floor((double)numbers * u);
    case VALUES_POSITIVE:
    case VALUES_PROBABILITY:
        return 0.25 + 2 * u;
    }
    return u;
}

/* Makes the channels of every pixel sum to 1. */
static void normalise(struct named_array *array)
{
    size_t plane = (size_t)array->shape[2] * array->shape[3], channels = array->shape[1];
    for (size_t n = 0; n < array->shape[0]; n++)
        for (size_t i = 0; i < plane; i++) {
            double *at = array->data + n * channels * plane + i, sum = 0;
            for (size_t c = 0; c < channels; c++)
                sum += at[c * plane];
            for (size_t c = 0; c < channels; c++)
                at[c * plane] /= sum;
        }
}

static bool add_input(struct run *run, const struct argument *argument, uint32_t rank,
                      const uint32_t *shape, uint64_t numbers, uint64_t *seed)
{
    struct named_array *array = argument_map_add(run->map, argument->name, rank, shape);
    bool image = argument->place < PLACE_LABELS || argument->place == PLACE_FORWARD;
    if (!array || run->map->shapes_only)
        return array != NULL;
    size_t count = array_count(array);
    for (size_t i = 0; i < count; i++)
        array->data[i] = draw(argument->values, numbers, seed);
    if (argument->values == VALUES_PROBABILITY && rank == 4)
        normalise(array);
    for (size_t i = 0; i < count; i++)
        array->data[i] =
            round_input(array->data[i], image ? run->format : GLCNN_CHANNEL_FORMAT_FLOAT32);
    return true;
}

/* Of an image input. A gradient kernel with both sources of its forward kernel has them by their
 * forward names: the source image is the first of them. */
static const uint32_t *shape_of(const struct glcnn_descriptor *d, const struct argument *argument,
                                const struct check_case *c)
{
    bool both = descriptor_place(d, PLACE_FORWARD) >= 0;
    bool second = argument->place == (both ? PLACE_FORWARD : PLACE_SECONDARY) ||
                  argument->place == PLACE_LABEL_WEIGHTS;
    return second && c->secondary[0] ? c->secondary : c->shape;
}

/* Shape of the forward result that a gradient's source gradient must have. */
static bool gradient_shape(const struct run *run, const struct glcnn_descriptor *d,
                           const struct check_case *c, uint32_t shape[4])
{
    const struct glcnn_descriptor *f = descriptor_find(d->forward);
    struct argument_map map = {.shapes_only = true};
    struct run inner = *run;
    struct resolved *r = calloc(1, sizeof *r);
    bool good = r != NULL;
    inner.map = &map;
    inner.settings.partial = true;
    for (int i = 0; good && i < MAX_ARGUMENTS && f->arguments[i].name; i++)
        if (argument_is_image(&f->arguments[i]) && f->arguments[i].input)
            good = argument_map_add(&map, f->arguments[i].name, 4,
                                    shape_of(f, &f->arguments[i], c)) != NULL;
    good = good && resolve(&inner, f, r);
    if (good) {
        const struct glcnn_image_descriptor *result =
            &r->shapes.images[descriptor_place(f, PLACE_DESTINATION)];
        shape[0] = result->number_of_images;
        shape[1] = result->feature_channels;
        shape[2] = result->height;
        shape[3] = result->width;
    }
    argument_map_free(&map);
    free(r);
    return good;
}

static bool add_images(struct run *run, const struct glcnn_descriptor *d,
                       const struct check_case *c, bool with_optional, uint64_t *seed)
{
    for (int i = 0; i < MAX_ARGUMENTS && d->arguments[i].name; i++) {
        const struct argument *argument = &d->arguments[i];
        uint32_t shape[4];
        if (!argument_is_image(argument) || !argument->input ||
            (argument->optional && !with_optional && argument->place != PLACE_FORWARD))
            continue;
        memcpy(shape, shape_of(d, argument, c), sizeof shape);
        if (d->flags & IS_GRADIENT && argument->place == PLACE_SOURCE &&
            !gradient_shape(run, d, c, shape))
            return false;
        if (!add_input(run, argument, 4, shape, 0, seed))
            return false;
    }
    return true;
}

/* Of an image of the forward kernel's source; 0 where it has none. */
static uint64_t source_numbers(const struct operation *o)
{
    int index =
        descriptor_place(o->descriptor, operation_is_gradient(o) ? PLACE_SECONDARY : PLACE_SOURCE);
    const struct image_view *view = &o->images[index < 0 ? 0 : index];
    return index < 0 ? 0 : (uint64_t)view->width * view->height * view->channels;
}

/* Vectors that nothing fills; their lengths are known once the images are resolved. */
static bool add_vectors(struct run *run, const struct glcnn_descriptor *d,
                        const struct check_case *c, bool with_optional, uint64_t *seed)
{
    struct resolved *r = calloc(1, sizeof *r);
    bool good = r && resolve(run, d, r);
    for (size_t i = 0; good && i < MAX_ARGUMENTS && d->arguments[i].name; i++) {
        const struct argument *argument = &d->arguments[i];
        bool wanted = !argument_is_image(argument) && argument->input &&
                      !descriptor_filler(d, argument) && (!argument->optional || with_optional);
        uint32_t length = 0;
        if (!wanted)
            continue;
        if (argument->place == PLACE_CALL)
            length = c->shape[0] * c->shape[1] * c->shape[2] * c->shape[3];
        else if (d->length)
            length = (uint32_t)d->length(&r->operation, i);
        good = length == 0 ||
               add_input(run, argument, 1, &length, source_numbers(&r->operation), seed);
    }
    free(r);
    return good;
}

/* ---- Comparison ---- */

static double compare_arrays(const struct named_array *found, const struct named_array *wanted,
                             bool float16)
{
    double worst = 0;
    size_t count = array_count(wanted);
    if (array_count(found) != count)
        return INFINITY;
    double norm = bound_norm(wanted->data, count);
    for (size_t i = 0; i < count; i++)
        worst = fmax(worst, bound_error(found->data[i], wanted->data[i], norm, float16));
    return worst;
}

double check_compare(const struct glcnn_descriptor *d, struct argument_map *found,
                     struct argument_map *wanted, glcnn_channel_format format)
{
    double worst = 0;
    for (int i = 0; i < MAX_ARGUMENTS && d->arguments[i].name; i++) {
        const struct argument *argument = &d->arguments[i];
        bool float16 =
            argument->place <= PLACE_DESTINATION && format == GLCNN_CHANNEL_FORMAT_FLOAT16;
        struct named_array *f = argument_map_find(found, argument->name);
        struct named_array *w = argument_map_find(wanted, argument->name);
        if (argument->output && f && w)
            worst = fmax(worst, compare_arrays(f, w, float16));
        else if (argument->output && (f || w))
            return INFINITY;
    }
    return worst;
}

/* ---- Cases ---- */

bool check_copy(const struct argument_map *from, struct argument_map *to)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct named_array *array = &from->arrays[i];
        struct named_array *made = argument_map_add(to, array->name, array->rank, array->shape);
        if (!made)
            return false;
        memcpy(made->data, array->data, array_count(array) * sizeof(double));
    }
    return true;
}

static bool parse_settings(const struct glcnn_descriptor *d, const char *text,
                           struct glcnn_setting *settings, size_t *count, char *error)
{
    char copy[512], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    *count = 0;
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        if (*count == CHECK_SETTINGS ||
            glcnn_setting_parse(d->name, word, &settings[(*count)++], error) != GLCNN_SUCCESS)
            return false;
    return true;
}

bool check_add_inputs(struct run *run, const struct glcnn_descriptor *d, const struct check_case *c,
                      bool with_optional, uint64_t seed)
{
    return add_images(run, d, c, with_optional, &seed) &&
           add_vectors(run, d, c, with_optional, &seed);
}

bool check_inputs(struct run *run, const struct glcnn_descriptor *d, const struct check_case *c,
                  size_t index, struct glcnn_setting settings[CHECK_SETTINGS])
{
    size_t count;
    if (!parse_settings(d, c->settings, settings, &count, run->validation.message) ||
        !run_settings_read(settings, count, &run->settings))
        return false;
    return check_add_inputs(run, d, c, index % 2 == 0, 0x5eed + index);
}

glcnn_status check_run(struct glcnn_device *device, const struct glcnn_descriptor *d,
                       struct run *run, double *error)
{
    struct argument_map wanted = {0}, *found = run->map;
    glcnn_status status = check_copy(found, &wanted) ? GLCNN_SUCCESS : GLCNN_INVALID_ARGUMENT;
    run->device = device;
    if (status == GLCNN_SUCCESS)
        status = run_kernel(run, d);
    run->device = NULL;
    run->map = &wanted;
    if (status == GLCNN_SUCCESS)
        status = run_kernel(run, d);
    run->map = found;
    *error = status == GLCNN_SUCCESS ? check_compare(d, found, &wanted, run->format) : INFINITY;
    argument_map_free(&wanted);
    return status;
}

glcnn_status check_case_run(struct glcnn_device *device, const struct glcnn_descriptor *d,
                            size_t index, glcnn_channel_format format, double *error,
                            char message[GLCNN_ERROR_LENGTH])
{
    struct argument_map map = {0};
    struct glcnn_setting settings[CHECK_SETTINGS];
    struct run run = {.format = format, .map = &map, .validation = {message, GLCNN_ERROR_LENGTH}};
    glcnn_status status = GLCNN_INVALID_ARGUMENT;
    message[0] = 0;
    *error = INFINITY;
    if (check_inputs(&run, d, &reference_of(d)->cases[index], index, settings))
        status = check_run(device, d, &run, error);
    argument_map_free(&map);
    return status;
}

/* ---- The whole check ---- */

struct row {
    struct glcnn_check_row row;
    char worst[600], error[GLCNN_ERROR_LENGTH];
};

static void check_one(struct glcnn_device *device, const struct glcnn_descriptor *d, size_t index,
                      glcnn_channel_format format, struct row *row)
{
    char message[GLCNN_ERROR_LENGTH];
    double error;
    const struct check_case *c = &reference_of(d)->cases[index];
    glcnn_status status = check_case_run(device, d, index, format, &error, message);
    row->row.cases++;
    if (format == GLCNN_CHANNEL_FORMAT_FLOAT16) {
        row->row.float16_cases++;
        row->row.largest_float16_error = fmax(row->row.largest_float16_error, error);
    }
    row->row.failed += !(error <= 1);
    if (status != GLCNN_SUCCESS && !row->row.error) {
        snprintf(row->error, sizeof row->error, "%s", message);
        row->row.error = row->error;
    }
    if (row->row.worst && !(error > row->row.largest_error))
        return;
    row->row.largest_error = error;
    snprintf(row->worst, sizeof row->worst, "%s %ux%ux%ux%u %s",
             format == GLCNN_CHANNEL_FORMAT_FLOAT16 ? "float16" : "float32", c->shape[0],
             c->shape[1], c->shape[2], c->shape[3], c->settings);
    row->row.worst = row->worst;
}

static void check_kernel(struct glcnn_device *device, const struct glcnn_descriptor *d, bool quick,
                         struct row *row)
{
    static const glcnn_channel_format formats[] = {GLCNN_CHANNEL_FORMAT_FLOAT32,
                                                   GLCNN_CHANNEL_FORMAT_FLOAT16};
    const struct check_case *cases = reference_of(d)->cases;
    size_t format_count = descriptor_has_images(d) ? 2 : 1;
    *row = (struct row){.row.kernel = d->name};
    for (size_t i = 0; cases[i].settings; i++)
        for (size_t f = 0; f < format_count; f++)
            if (!(quick && cases[i].large))
                check_one(device, d, i, formats[f], row);
}

glcnn_status glcnn_check(glcnn_device *device, const char *name, bool quick,
                         glcnn_check_callback callback, void *user, size_t *failed)
{
    glcnn_status status = device_enter(device);
    if (status != GLCNN_SUCCESS)
        return status;
    if (name && !descriptor_find(name))
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "there is no kernel named \"%s\"", name);
    if (name && !implementations_concern(device, descriptor_find(name)))
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "%s has none of the implementations that GLCNN_IMPLEMENTATIONS names, "
                           "%s: 0 cases would check them; \"glcnn kernels %s\" lists those it has",
                           name, device->forced_implementations, name);
    if (!failed)
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "glcnn_check: failed is NULL");
    *failed = 0;
    for (size_t i = 0; glcnn_registry[i]; i++) {
        struct row row;
        if (name && strcmp(name, glcnn_registry[i]->name) != 0)
            continue;
        uint64_t made = programs_made(device);
        check_kernel(device, glcnn_registry[i], quick, &row);
        /* The next kernel runs others, and on llvmpipe each takes megabytes. */
        if (!name)
            programs_release(device, made);
        *failed += row.row.failed > 0 || row.row.cases == 0;
        if (callback)
            callback(user, &row.row);
    }
    return GLCNN_SUCCESS;
}
