/* One shape as command buffers: what prepares it, and what is timed. Inputs are random; outputs hold
 * NaN before, and must hold finite numbers after. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/random.h"

#define SMALLER 32   /* times fewer images where shapes are small */
#define SEED    2026 /* of all inputs */

/* ---- Sizes ---- */

/* At most a quarter of the machine's memory for some six images of a shape: a GPU may share it. */
static uint32_t images_that_fit(const uint32_t size[4])
{
    double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double one = 16.0 * ((size[1] + 3) / 4) * size[2] * size[3];
    double fits = machine / 4 / 6 / one;
    return fits < 1 ? 1 : fits < size[0] ? (uint32_t)fits : size[0];
}

void bench_scale(const struct bench_report *report, const struct bench_shape *shape,
                 uint32_t size[4])
{
    memcpy(size, shape->source, sizeof shape->source);
    if (report->small)
        size[0] = size[0] > SMALLER ? size[0] / SMALLER : 1;
    size[0] = images_that_fit(size);
}

/* ---- What a measurement needs ---- */

struct work {
    const struct bench_report *report;
    const struct bench_shape *shape;
    enum bench_part part;
    struct bench_row *row;
    glcnn_device *device;
    uint64_t seed;
    glcnn_image *source, *second, *result, *gradient, *labels, *loss, *destination;
    glcnn_state *state;
    glcnn_buffer *vectors[GLCNN_CALL_VECTORS];
    glcnn_command_buffer *prepare, *timed;
    double weights; /* of the kernel encoded last */
};

static void release(struct work *w)
{
    glcnn_image **images[] = {&w->source, &w->second, &w->result,     &w->gradient,
                              &w->labels, &w->loss,   &w->destination};
    glcnn_command_buffer_destroy(&w->prepare);
    glcnn_command_buffer_destroy(&w->timed);
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        glcnn_image_destroy(images[i]);
    for (size_t i = 0; i < GLCNN_CALL_VECTORS; i++)
        glcnn_buffer_destroy(&w->vectors[i]);
    glcnn_state_destroy(&w->state);
}

static bool is_named(const struct glcnn_argument_info *a, const char *name)
{
    return strcmp(a->name, name) == 0;
}

static const struct glcnn_argument_info *find_argument(const struct glcnn_kernel_info *info,
                                                       const char *name)
{
    for (size_t i = 0; i < info->argument_count; i++)
        if (is_named(&info->arguments[i], name))
            return &info->arguments[i];
    return NULL;
}

static bool has_images(const struct glcnn_kernel_info *info, bool outputs)
{
    for (size_t i = 0; i < info->argument_count; i++)
        if (info->arguments[i].is_image &&
            (outputs ? info->arguments[i].is_output : info->arguments[i].is_input))
            return true;
    return false;
}

/* ---- Inputs ---- */

static size_t image_elements(const struct glcnn_image_descriptor *d)
{
    return (size_t)d->width * d->height * d->feature_channels;
}

/* A buffer of random numbers in low .. low + 2. */
static glcnn_status random_buffer(struct work *w, size_t count, float low, glcnn_buffer **buffer)
{
    float *values = malloc(count * sizeof *values);
    if (!values)
        return GLCNN_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++)
        values[i] = low + 2.0f * (float)(random_next(&w->seed) >> 40) / (float)(1 << 24);
    glcnn_status status = glcnn_buffer_create(w->device, count * 4, buffer);
    if (status == GLCNN_SUCCESS)
        status = glcnn_buffer_write(*buffer, 0, count * 4, values);
    free(values);
    return status;
}

/* Copies one image's values into each of several images. */
static glcnn_status write_images(struct work *w, glcnn_image *image, glcnn_buffer *values,
                                 const uint32_t *which, uint32_t count)
{
    glcnn_command_buffer *commands = NULL;
    glcnn_status status = glcnn_command_buffer_create(w->device, &commands);
    for (uint32_t i = 0; i < count && status == GLCNN_SUCCESS; i++) {
        const struct glcnn_image_transfer one = {.first_image = which ? which[i] : i,
                                                 .image_count = 1};
        status = glcnn_image_encode_write(commands, image, &one, values, 0);
    }
    if (status == GLCNN_SUCCESS)
        status = glcnn_command_buffer_commit(commands);
    if (status == GLCNN_SUCCESS)
        status = glcnn_command_buffer_wait(commands);
    glcnn_command_buffer_destroy(&commands);
    return status;
}

/* An image of random numbers in low .. low + 2, as large as `like` or of these sizes. */
static glcnn_status random_image(struct work *w, const uint32_t size[4], float low,
                                 glcnn_image **image)
{
    const struct glcnn_image_descriptor d = {.number_of_images = size[0],
                                             .feature_channels = size[1],
                                             .height = size[2],
                                             .width = size[3],
                                             .channel_format = w->report->request->format};
    glcnn_buffer *values = NULL;
    glcnn_status status = glcnn_image_create(w->device, &d, image);
    if (status == GLCNN_SUCCESS)
        status = random_buffer(w, image_elements(&d), low, &values);
    if (status == GLCNN_SUCCESS)
        status = write_images(w, *image, values, NULL, d.number_of_images);
    glcnn_buffer_destroy(&values);
    return status;
}

static void sizes_of(const glcnn_image *image, uint32_t size[4])
{
    const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(image);
    const uint32_t found[4] = {d->number_of_images, d->feature_channels, d->height, d->width};
    memcpy(size, found, sizeof found);
}

/* ---- Kernels ---- */

static glcnn_status set_weights(struct work *w, glcnn_kernel *kernel,
                                const struct glcnn_kernel_info *info)
{
    w->weights = 0;
    glcnn_buffer *buffer =
        find_argument(info, "weights") ? glcnn_kernel_vector(kernel, "weights") : NULL;
    if (!buffer)
        return GLCNN_SUCCESS;
    double outputs = 1;
    size_t count = glcnn_buffer_size(buffer) / 4;
    float *values = malloc(count * sizeof *values);
    if (!values)
        return GLCNN_OUT_OF_MEMORY;
    glcnn_kernel_get(kernel, "output_feature_channels", &outputs);
    random_weights(&w->seed, values, count, (uint32_t)((double)count / outputs));
    glcnn_status status = glcnn_kernel_set_vector(kernel, "weights", values, count);
    w->weights = (double)count;
    free(values);
    return status;
}

static bool has_parameter(const struct glcnn_kernel_info *info, const char *name)
{
    for (size_t i = 0; i < info->parameter_count; i++)
        if (strcmp(info->parameters[i].name, name) == 0)
            return true;
    return false;
}

/* A gradient kernel walks the forward source as the forward kernel did; what it has not it takes
 * from the state. */
static glcnn_status set_parameter(glcnn_kernel *kernel, const struct glcnn_kernel_info *info,
                                  const struct glcnn_setting *setting, bool gradient)
{
    char secondary[64];
    snprintf(secondary, sizeof secondary, "secondary_%s", setting->name);
    const char *name = gradient && has_parameter(info, secondary) ? secondary : setting->name;
    if (gradient && !has_parameter(info, name))
        return GLCNN_SUCCESS;
    return glcnn_kernel_set(kernel, name, setting->value);
}

static glcnn_status apply_settings(struct work *w, glcnn_kernel *kernel,
                                   const struct glcnn_kernel_info *info, bool gradient)
{
    char text[256], *rest = NULL;
    glcnn_status status = GLCNN_SUCCESS;
    snprintf(text, sizeof text, "%s", w->shape->settings);
    for (char *word = strtok_r(text, " ", &rest); word && status == GLCNN_SUCCESS;
         word = strtok_r(NULL, " ", &rest)) {
        struct glcnn_setting setting;
        status = glcnn_setting_parse(info->name, word, &setting, w->row->error);
        if (status == GLCNN_SUCCESS)
            status = set_parameter(kernel, info, &setting, gradient);
    }
    return status;
}

/* Which of its gradients a kernel with weights computes. */
static glcnn_status choose_gradients(struct work *w, glcnn_kernel *kernel)
{
    const char *text =
        w->part == BENCH_DATA ? "gradient_option=data" : "gradient_option=weights_and_biases";
    struct glcnn_setting option;
    glcnn_status status =
        glcnn_setting_parse(glcnn_kernel_name(kernel), text, &option, w->row->error);
    return status == GLCNN_SUCCESS ? glcnn_kernel_set(kernel, option.name, option.value) : status;
}

static glcnn_status make_kernel(struct work *w, const char *name, bool gradient, bool last,
                                glcnn_kernel **kernel)
{
    const struct glcnn_kernel_info *info = glcnn_kernel_info_by_name(name);
    glcnn_status status = glcnn_kernel_create(w->device, name, kernel);
    if (status == GLCNN_SUCCESS && last)
        status = apply_settings(w, *kernel, info, gradient);
    if (status != GLCNN_SUCCESS)
        return status;
    glcnn_kernel_properties(*kernel)->result_is_ordinary = true;
    if (gradient && w->part != BENCH_GRADIENT)
        status = choose_gradients(w, *kernel);
    return status == GLCNN_SUCCESS ? set_weights(w, *kernel, info) : status;
}

/* ---- Encoding ---- */

static double size_of(const glcnn_image *image)
{
    return image ? (double)glcnn_image_resource_size(image) : 0;
}

static double pixels(const glcnn_image *image)
{
    const struct glcnn_image_descriptor *d = image ? glcnn_image_get_descriptor(image) : NULL;
    return d ? (double)d->width * d->height * d->number_of_images : INFINITY;
}

/* Each weight goes with each pixel of the result of a convolution, and with each of the source of
 * a transposed one: the fewer. */
static void count_work(struct work *w, double bytes)
{
    double fewer = fmin(pixels(w->source), pixels(w->result));
    w->row->bytes += bytes + 4 * w->weights;
    if (w->weights > 0 && isfinite(fewer))
        w->row->operations += 2 * w->weights * fewer;
}

/* Labels and the loss, for kernels that have them. */
static glcnn_status make_labels(struct work *w, const struct glcnn_kernel_info *info)
{
    const struct glcnn_image_descriptor one_value = {
        .number_of_images = glcnn_image_get_descriptor(w->source)->number_of_images};
    uint32_t size[4];
    if (!find_argument(info, "labels"))
        return GLCNN_SUCCESS;
    sizes_of(w->source, size);
    glcnn_status status = random_image(w, size, 0.0f, &w->labels);
    return status == GLCNN_SUCCESS ? glcnn_image_create(w->device, &one_value, &w->loss) : status;
}

static glcnn_status encode_forward(struct work *w, glcnn_command_buffer *commands,
                                   glcnn_kernel *kernel, const struct glcnn_kernel_info *info)
{
    bool second = find_argument(info, "secondary_image") != NULL;
    glcnn_status status = make_labels(w, info);
    const struct glcnn_encode arguments = {.source = w->source,
                                           .secondary = second ? w->second : NULL,
                                           .state = w->state,
                                           .labels = w->labels,
                                           .loss = w->loss};
    if (status == GLCNN_SUCCESS && has_images(info, true))
        status = glcnn_kernel_encode_returning(commands, kernel, &arguments, &w->result, NULL);
    else if (status == GLCNN_SUCCESS)
        status = glcnn_kernel_encode(commands, kernel, &arguments);
    if (status == GLCNN_SUCCESS && commands == w->timed)
        count_work(w, size_of(w->source) + size_of(arguments.secondary) + size_of(w->result) +
                          size_of(w->labels) + size_of(w->loss));
    return status;
}

static glcnn_status encode_gradient(struct work *w, glcnn_command_buffer *commands,
                                    glcnn_kernel *kernel, const struct glcnn_kernel_info *info)
{
    bool of_result = w->shape->flags & BENCH_TAKES_RESULT;
    glcnn_image *given = of_result ? w->result : w->second ? w->second : w->source;
    const struct glcnn_encode arguments = {
        .source = w->gradient, .secondary = given, .state = w->state};
    glcnn_status status =
        has_images(info, true) && w->part != BENCH_WEIGHTS
            ? glcnn_kernel_encode_returning(commands, kernel, &arguments, &w->destination, NULL)
            : glcnn_kernel_encode(commands, kernel, &arguments);
    bool reads = w->shape->flags & (BENCH_READS_SOURCE | BENCH_TAKES_RESULT);
    if (status == GLCNN_SUCCESS)
        count_work(w, size_of(w->gradient) + size_of(w->destination) +
                          (reads && w->part != BENCH_DATA ? size_of(given) : 0));
    return status;
}

/* Encodes the kernels of a chain one after the other. */
static glcnn_status encode_chain(struct work *w, glcnn_command_buffer *commands, const char *chain,
                                 bool gradient)
{
    char text[128], *rest = NULL;
    glcnn_status status = GLCNN_SUCCESS;
    snprintf(text, sizeof text, "%s", chain);
    for (char *name = strtok_r(text, " ", &rest); name && status == GLCNN_SUCCESS;) {
        char *next = strtok_r(NULL, " ", &rest);
        glcnn_kernel *kernel = NULL;
        status = make_kernel(w, name, gradient, !next, &kernel);
        if (status == GLCNN_SUCCESS)
            status = (gradient ? encode_gradient : encode_forward)(w, commands, kernel,
                                                                   glcnn_kernel_info_by_name(name));
        glcnn_kernel_destroy(&kernel);
        name = next;
    }
    return status;
}

/* The state that the last kernel of a chain leaves for its gradient. */
static glcnn_status make_state(struct work *w)
{
    const char *space = strrchr(w->shape->forward, ' ');
    glcnn_kernel *kernel = NULL;
    glcnn_status status =
        glcnn_kernel_create(w->device, space ? space + 1 : w->shape->forward, &kernel);
    if (status == GLCNN_SUCCESS)
        status = glcnn_kernel_result_state(NULL, kernel, NULL, &w->state);
    glcnn_kernel_destroy(&kernel);
    return status;
}

/* ---- Vectors alone: optimizers and running averages ---- */

static glcnn_status encode_vectors(struct work *w, const struct glcnn_kernel_info *info)
{
    uint32_t n[4];
    struct glcnn_encode arguments = {.source = NULL};
    glcnn_kernel *kernel = NULL;
    size_t position = 0, values = 0;
    bench_scale(w->report, w->shape, n);
    size_t count = (size_t)n[0] * n[1] * n[2] * n[3];
    glcnn_status status = make_kernel(w, info->name, false, true, &kernel);
    for (size_t i = 0; i < info->argument_count && status == GLCNN_SUCCESS; i++) {
        const struct glcnn_argument_info *a = &info->arguments[i];
        size_t at = position++;
        w->row->bytes += 4.0 * (double)count * (a->is_input + a->is_output);
        if (is_named(a, "result")) { /* in place */
            arguments.vectors[at] = w->vectors[values];
            continue;
        }
        values = is_named(a, "values") ? at : values;
        if (a->is_optional && w->shape->flags & BENCH_BARE)
            w->row->bytes -= 8.0 * (double)count;
        else
            status = random_buffer(w, count, 0.0f, &w->vectors[at]);
        arguments.vectors[at] = w->vectors[at];
    }
    if (status == GLCNN_SUCCESS)
        status = glcnn_kernel_encode(w->timed, kernel, &arguments);
    glcnn_kernel_destroy(&kernel);
    return status;
}

/* ---- Preparing ---- */

static glcnn_status prepare_gradient(struct work *w)
{
    uint32_t size[4];
    glcnn_status status = encode_chain(w, w->prepare, w->shape->forward, false);
    if (status == GLCNN_SUCCESS)
        status = glcnn_command_buffer_commit(w->prepare);
    if (status == GLCNN_SUCCESS)
        status = glcnn_command_buffer_wait(w->prepare);
    if (status != GLCNN_SUCCESS)
        return status;
    sizes_of(w->result ? w->result : w->source, size);
    status = random_image(w, size, -1.0f, &w->gradient);
    return status == GLCNN_SUCCESS ? encode_chain(w, w->timed, w->shape->gradient, true) : status;
}

static glcnn_status prepare(struct work *w)
{
    const struct bench_shape *shape = w->shape;
    const struct glcnn_kernel_info *info = glcnn_kernel_info_by_name(shape->forward);
    uint32_t size[4];
    glcnn_status status = glcnn_command_buffer_create(w->device, &w->prepare);
    if (status == GLCNN_SUCCESS)
        status = glcnn_command_buffer_create(w->device, &w->timed);
    if (status == GLCNN_SUCCESS && info && !has_images(info, false))
        return encode_vectors(w, info);
    bench_scale(w->report, shape, size);
    if (status == GLCNN_SUCCESS)
        status = random_image(w, size, -1.0f, &w->source);
    if (status == GLCNN_SUCCESS && info && find_argument(info, "secondary_image"))
        status = random_image(w, size, 0.5f, &w->second); /* divisors are not 0 */
    if (status == GLCNN_SUCCESS)
        status = make_state(w);
    if (status != GLCNN_SUCCESS)
        return status;
    return w->part == BENCH_FORWARD ? encode_chain(w, w->timed, shape->forward, false)
                                    : prepare_gradient(w);
}

/* ---- Outputs ---- */

/* What is looked at of an output image: its first, middle and last image. */
static uint32_t looked_at(const glcnn_image *image, uint32_t which[3])
{
    uint32_t count = glcnn_image_get_descriptor(image)->number_of_images;
    const uint32_t all[3] = {0, count / 2, count - 1};
    memcpy(which, all, sizeof all);
    return count < 3 ? count : 3;
}

static glcnn_status poison_buffer(glcnn_buffer *buffer)
{
    size_t size = glcnn_buffer_size(buffer);
    float *values = malloc(size);
    if (!values)
        return GLCNN_OUT_OF_MEMORY;
    for (size_t i = 0; i < size / 4; i++)
        values[i] = NAN;
    glcnn_status status = glcnn_buffer_write(buffer, 0, size, values);
    free(values);
    return status;
}

static glcnn_status poison_image(struct work *w, glcnn_image *image)
{
    uint32_t which[3];
    glcnn_buffer *values = NULL;
    size_t count = image_elements(glcnn_image_get_descriptor(image));
    glcnn_status status = glcnn_buffer_create(w->device, count * 4, &values);
    if (status == GLCNN_SUCCESS)
        status = poison_buffer(values);
    if (status == GLCNN_SUCCESS)
        status = write_images(w, image, values, which, looked_at(image, which));
    glcnn_buffer_destroy(&values);
    return status;
}

/* The first element that is no finite number is said. `image` is its number, or -1. */
static glcnn_status look_at(struct work *w, const char *what, long image, glcnn_buffer *buffer)
{
    size_t size = glcnn_buffer_size(buffer);
    float *values = malloc(size);
    if (!values)
        return GLCNN_OUT_OF_MEMORY;
    glcnn_status status = glcnn_buffer_read(buffer, 0, size, values);
    for (size_t i = 0; i < size / 4 && status == GLCNN_SUCCESS && !w->row->error[0]; i++) {
        char place[32] = "";
        if (image >= 0)
            snprintf(place, sizeof place, " of image %ld", image);
        if (isnan(values[i]))
            snprintf(w->row->error, sizeof w->row->error,
                     "%s: element %zu%s is NaN, as it was before: it is not written, or it is "
                     "computed wrongly",
                     what, i, place);
        else if (isinf(values[i]))
            snprintf(w->row->error, sizeof w->row->error, "%s: element %zu%s is infinite", what, i,
                     place);
    }
    free(values);
    return status;
}

static glcnn_status look_at_image(struct work *w, glcnn_image *image, const char *what)
{
    uint32_t which[3], count = looked_at(image, which);
    glcnn_buffer *values = NULL;
    size_t elements = image_elements(glcnn_image_get_descriptor(image));
    glcnn_status status = glcnn_buffer_create(w->device, elements * 4, &values);
    for (uint32_t i = 0; i < count && status == GLCNN_SUCCESS; i++) {
        const struct glcnn_image_transfer one = {.first_image = which[i], .image_count = 1};
        glcnn_command_buffer *commands = NULL;
        status = glcnn_command_buffer_create(w->device, &commands);
        if (status == GLCNN_SUCCESS)
            status = glcnn_image_encode_read(commands, image, &one, values, 0);
        if (status == GLCNN_SUCCESS)
            status = glcnn_command_buffer_commit(commands);
        if (status == GLCNN_SUCCESS)
            status = look_at(w, what, which[i], values);
        glcnn_command_buffer_destroy(&commands);
    }
    glcnn_buffer_destroy(&values);
    return status;
}

/* Vectors of the state that the timed kernels compute. Masks are bits and no numbers. */
static glcnn_status each_vector(struct work *w, const char *chain, bool poison)
{
    char text[128], *rest = NULL;
    glcnn_status status = GLCNN_SUCCESS;
    snprintf(text, sizeof text, "%s", chain);
    for (char *name = strtok_r(text, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        const struct glcnn_kernel_info *info = glcnn_kernel_info_by_name(name);
        for (size_t i = 0; i < info->argument_count && status == GLCNN_SUCCESS; i++) {
            const struct glcnn_argument_info *a = &info->arguments[i];
            bool output = !a->is_image && a->is_output && !a->is_input && !strstr(a->name, "mask");
            glcnn_buffer *vector =
                output && w->state ? glcnn_state_vector(w->state, a->name) : NULL;
            if (vector)
                status = poison ? poison_buffer(vector) : look_at(w, a->name, -1, vector);
        }
    }
    return status;
}

/* Writes NaN into all outputs, or looks whether any is left. */
static glcnn_status each_output(struct work *w, bool poison)
{
    bool forward = w->part == BENCH_FORWARD;
    glcnn_image *images[] = {forward ? w->result : w->destination, forward ? w->loss : NULL};
    static const char *const names[] = {"the result", "the loss"};
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < 2 && status == GLCNN_SUCCESS; i++)
        if (images[i])
            status = poison ? poison_image(w, images[i]) : look_at_image(w, images[i], names[i]);
    for (size_t i = 0; i < GLCNN_CALL_VECTORS && status == GLCNN_SUCCESS; i++)
        if (w->vectors[i] && !poison) /* updated in place: poison would stay */
            status = look_at(w, "a vector", -1, w->vectors[i]);
    if (status != GLCNN_SUCCESS)
        return status;
    return each_vector(w, forward ? w->shape->forward : w->shape->gradient, poison);
}

/* ---- Running ---- */

static glcnn_status commit(void *user)
{
    return glcnn_command_buffer_commit(((struct work *)user)->timed);
}

static glcnn_status wait(void *user)
{
    return glcnn_command_buffer_wait(((struct work *)user)->timed);
}

void bench_run_shape(struct bench_report *report, glcnn_device *device,
                     const struct bench_shape *shape, enum bench_part part, struct bench_row *row)
{
    struct work w = {
        .report = report, .shape = shape, .part = part, .row = row, .device = device, .seed = SEED};
    const struct bench_work work = {device, commit, wait, &w};
    bench_scale(report, shape, row->shape);
    glcnn_status status = prepare(&w);
    if (status == GLCNN_SUCCESS)
        status = each_output(&w, true);
    if (status == GLCNN_SUCCESS)
        status = bench_measure(report, &work, row);
    if (status == GLCNN_SUCCESS)
        status = each_output(&w, false);
    if (status != GLCNN_SUCCESS)
        bench_fail(row, device, status);
    release(&w);
}
