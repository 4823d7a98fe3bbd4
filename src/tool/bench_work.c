/* One shape as command buffers: what prepares it, and what is timed. Inputs are random. */
#include "bench_work.h"

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
    if (report->small && !(shape->flags & BENCH_AS_IT_IS))
        size[0] = size[0] > SMALLER ? size[0] / SMALLER : 1;
    size[0] = images_that_fit(size);
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

size_t bench_image_elements(const struct glcnn_image_descriptor *d)
{
    return (size_t)d->width * d->height * d->feature_channels;
}

/* A buffer of random numbers in low .. low + 2. */
static glcnn_status random_buffer(struct bench_job *w, size_t count, float low,
                                  glcnn_buffer **buffer)
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

glcnn_status bench_finish(glcnn_command_buffer *commands, glcnn_status status)
{
    if (status == GLCNN_SUCCESS)
        status = glcnn_command_buffer_commit(commands);
    if (status == GLCNN_SUCCESS)
        status = glcnn_command_buffer_wait(commands);
    glcnn_command_buffer_destroy(&commands);
    return status;
}

glcnn_status bench_write_images(struct bench_job *w, glcnn_image *image, glcnn_buffer *values,
                                const uint32_t *which, uint32_t count)
{
    glcnn_command_buffer *commands = NULL;
    glcnn_status status = glcnn_command_buffer_create(w->device, &commands);
    for (uint32_t i = 0; i < count && status == GLCNN_SUCCESS; i++) {
        const struct glcnn_image_transfer one = {.first_image = which ? which[i] : i,
                                                 .image_count = 1};
        status = glcnn_image_encode_write(commands, image, &one, values, 0);
    }
    return bench_finish(commands, status);
}

/* An image of random numbers in low .. low + 2, as large as `like` or of these sizes. */
static glcnn_status random_image(struct bench_job *w, const uint32_t size[4], float low,
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
        status = random_buffer(w, bench_image_elements(&d), low, &values);
    if (status == GLCNN_SUCCESS)
        status = bench_write_images(w, *image, values, NULL, d.number_of_images);
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

static glcnn_status set_weights(struct bench_job *w, glcnn_kernel *kernel,
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

static glcnn_status apply_settings(struct bench_job *w, glcnn_kernel *kernel,
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
static glcnn_status choose_gradients(struct bench_job *w, glcnn_kernel *kernel)
{
    const char *text =
        w->part == BENCH_DATA ? "gradient_option=data" : "gradient_option=weights_and_biases";
    struct glcnn_setting option;
    glcnn_status status =
        glcnn_setting_parse(glcnn_kernel_name(kernel), text, &option, w->row->error);
    return status == GLCNN_SUCCESS ? glcnn_kernel_set(kernel, option.name, option.value) : status;
}

static glcnn_status make_kernel(struct bench_job *w, const char *name, bool gradient, bool last,
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

/* The kernels of a chain; the shape's settings are the last one's. */
static glcnn_status make_chain(struct bench_job *w, const char *chain, bool gradient,
                               glcnn_kernel *kernels[CHAIN_KERNELS])
{
    char text[128], *rest = NULL;
    glcnn_status status = GLCNN_SUCCESS;
    snprintf(text, sizeof text, "%s", chain);
    char *name = strtok_r(text, " ", &rest);
    for (size_t i = 0; name && i < CHAIN_KERNELS && status == GLCNN_SUCCESS; i++) {
        char *next = strtok_r(NULL, " ", &rest);
        status = make_kernel(w, name, gradient, !next, &kernels[i]);
        name = next;
    }
    if (status == GLCNN_SUCCESS && name) {
        snprintf(w->row->error, sizeof w->row->error, "\"%.100s\" has more than %d kernels", chain,
                 CHAIN_KERNELS);
        status = GLCNN_INVALID_ARGUMENT;
    }
    return status;
}

static void destroy_chain(glcnn_kernel *kernels[CHAIN_KERNELS])
{
    for (size_t i = 0; i < CHAIN_KERNELS; i++)
        glcnn_kernel_destroy(&kernels[i]);
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
static void count_work(struct bench_job *w, double bytes)
{
    double fewer = fmin(pixels(w->source), pixels(w->result));
    w->row->bytes += bytes + 4 * w->weights;
    if (w->weights > 0 && isfinite(fewer))
        w->row->operations += 2 * w->weights * fewer;
}

/* Labels and the loss, for kernels that have them. */
static glcnn_status make_labels(struct bench_job *w, const struct glcnn_kernel_info *info)
{
    const struct glcnn_image_descriptor one_value = {
        .number_of_images = glcnn_image_get_descriptor(w->source)->number_of_images};
    uint32_t size[4];
    if (!find_argument(info, "labels") || w->labels)
        return GLCNN_SUCCESS;
    sizes_of(w->source, size);
    glcnn_status status = random_image(w, size, 0.0f, &w->labels);
    return status == GLCNN_SUCCESS ? glcnn_image_create(w->device, &one_value, &w->loss) : status;
}

/* What augmentation draws by: number and epoch 0 of each image, eight bytes. */
static glcnn_status make_numbers(struct bench_job *w, uint32_t images)
{
    const struct glcnn_image_descriptor numbers = {.feature_channels = 8,
                                                   .number_of_images = images};
    return glcnn_image_create(w->device, &numbers, &w->second);
}

/* The second source, where the kernel has one. */
static glcnn_status make_second(struct bench_job *w, const struct glcnn_kernel_info *info,
                                const uint32_t size[4])
{
    const uint32_t chroma[4] = {size[0], 2, (size[2] + 1) / 2, (size[3] + 1) / 2};
    if (find_argument(info, "secondary_image"))
        return random_image(w, size, 0.5f, &w->second); /* divisors are not 0 */
    if (find_argument(info, "chroma_image"))
        return random_image(w, chroma, 0.0f, &w->second);
    return find_argument(info, "image_numbers") ? make_numbers(w, size[0]) : GLCNN_SUCCESS;
}

/* The first call makes the image, and all others write it again. */
static glcnn_status encode_one(glcnn_command_buffer *commands, glcnn_kernel *kernel, bool makes,
                               struct glcnn_encode arguments, glcnn_image **image)
{
    if (makes && !*image)
        return glcnn_kernel_encode_returning(commands, kernel, &arguments, image, NULL);
    arguments.destination = makes ? *image : NULL;
    return glcnn_kernel_encode(commands, kernel, &arguments);
}

static glcnn_status encode_forward(struct bench_job *w, glcnn_command_buffer *commands,
                                   glcnn_kernel *kernel, const struct glcnn_kernel_info *info)
{
    glcnn_status status = make_labels(w, info);
    const struct glcnn_encode arguments = {.source = w->source,
                                           .secondary = w->second,
                                           .state = w->state,
                                           .labels = w->labels,
                                           .loss = w->loss};
    if (status == GLCNN_SUCCESS)
        status = encode_one(commands, kernel, has_images(info, true), arguments, &w->result);
    if (status == GLCNN_SUCCESS && commands == w->once)
        count_work(w, size_of(w->source) + size_of(w->second) + size_of(w->result) +
                          size_of(w->labels) + size_of(w->loss));
    return status;
}

static glcnn_status encode_gradient(struct bench_job *w, glcnn_command_buffer *commands,
                                    glcnn_kernel *kernel, const struct glcnn_kernel_info *info)
{
    bool of_result = w->shape->flags & BENCH_TAKES_RESULT;
    glcnn_image *given = of_result ? w->result : w->second ? w->second : w->source;
    const struct glcnn_encode arguments = {
        .source = w->gradient, .secondary = given, .state = w->state};
    bool makes = has_images(info, true) && w->part != BENCH_WEIGHTS;
    glcnn_status status = encode_one(commands, kernel, makes, arguments, &w->destination);
    bool reads = w->shape->flags & (BENCH_READS_SOURCE | BENCH_TAKES_RESULT);
    if (status == GLCNN_SUCCESS && commands == w->once)
        count_work(w, size_of(w->gradient) + size_of(w->destination) +
                          (reads && w->part != BENCH_DATA ? size_of(given) : 0));
    return status;
}

/* Encodes the kernels of a chain one after the other. */
static glcnn_status encode_chain(struct bench_job *w, glcnn_command_buffer *commands,
                                 glcnn_kernel *const kernels[CHAIN_KERNELS], bool gradient)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < CHAIN_KERNELS && kernels[i] && status == GLCNN_SUCCESS; i++)
        status = (gradient ? encode_gradient : encode_forward)(
            w, commands, kernels[i], glcnn_kernel_info_by_name(glcnn_kernel_name(kernels[i])));
    return status;
}

/* The state that the last kernel of a chain leaves for its gradient. */
static glcnn_status make_state(struct bench_job *w)
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

static glcnn_status make_vectors(struct bench_job *w, const struct glcnn_kernel_info *info)
{
    uint32_t n[4];
    size_t position = 0, values = 0;
    bench_scale(w->report, w->shape, n);
    size_t count = (size_t)n[0] * n[1] * n[2] * n[3];
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < info->argument_count && status == GLCNN_SUCCESS; i++) {
        const struct glcnn_argument_info *a = &info->arguments[i];
        size_t at = position++;
        w->row->bytes += 4.0 * (double)count * (a->is_input + a->is_output);
        if (is_named(a, "result")) { /* in place */
            w->arguments.vectors[at] = w->vectors[values];
            continue;
        }
        values = is_named(a, "values") ? at : values;
        if (a->is_optional && w->shape->flags & BENCH_BARE)
            w->row->bytes -= 8.0 * (double)count;
        else
            status = random_buffer(w, count, 0.0f, &w->vectors[at]);
        w->arguments.vectors[at] = w->vectors[at];
    }
    return status;
}

/* ---- Preparing ---- */

static bool has_sources(const struct bench_job *w)
{
    const struct glcnn_kernel_info *info = glcnn_kernel_info_by_name(w->shape->forward);
    return !info || has_images(info, false);
}

static glcnn_status prepare_gradient(struct bench_job *w)
{
    uint32_t size[4];
    glcnn_kernel *kernels[CHAIN_KERNELS] = {NULL};
    glcnn_status status = make_chain(w, w->shape->forward, false, kernels);
    if (status == GLCNN_SUCCESS)
        status = encode_chain(w, w->prepare, kernels, false);
    destroy_chain(kernels);
    if (status == GLCNN_SUCCESS)
        status = glcnn_command_buffer_commit(w->prepare);
    if (status == GLCNN_SUCCESS)
        status = glcnn_command_buffer_wait(w->prepare);
    if (status != GLCNN_SUCCESS)
        return status;
    sizes_of(w->result ? w->result : w->source, size);
    return random_image(w, size, -1.0f, &w->gradient);
}

static glcnn_status prepare_images(struct bench_job *w)
{
    const struct bench_shape *shape = w->shape;
    const struct glcnn_kernel_info *info = glcnn_kernel_info_by_name(shape->forward);
    uint32_t size[4];
    bench_scale(w->report, shape, size);
    glcnn_status status =
        random_image(w, size, shape->flags & BENCH_POSITIVE ? 0.5f : -1.0f, &w->source);
    if (status == GLCNN_SUCCESS && info)
        status = make_second(w, info, size);
    if (status == GLCNN_SUCCESS)
        status = make_state(w);
    if (status == GLCNN_SUCCESS && w->part != BENCH_FORWARD)
        status = prepare_gradient(w);
    return status;
}

static glcnn_status encode_call(struct bench_job *w, glcnn_command_buffer *commands)
{
    return has_sources(w) ? encode_chain(w, commands, w->kernels, w->part != BENCH_FORWARD)
                          : glcnn_kernel_encode(commands, w->kernels[0], &w->arguments);
}

static glcnn_status prepare(struct bench_job *w)
{
    bool gradient = w->part != BENCH_FORWARD;
    glcnn_status status = glcnn_command_buffer_create(w->device, &w->prepare);
    if (status == GLCNN_SUCCESS)
        status = glcnn_command_buffer_create(w->device, &w->once);
    if (status == GLCNN_SUCCESS)
        status = has_sources(w) ? prepare_images(w)
                                : make_vectors(w, glcnn_kernel_info_by_name(w->shape->forward));
    if (status == GLCNN_SUCCESS)
        status =
            make_chain(w, gradient ? w->shape->gradient : w->shape->forward, gradient, w->kernels);
    return status == GLCNN_SUCCESS ? encode_call(w, w->once) : status;
}

/* ---- Running ---- */

static void release(struct bench_job *w)
{
    glcnn_image **images[] = {&w->source, &w->second, &w->result,     &w->gradient,
                              &w->labels, &w->loss,   &w->destination};
    glcnn_command_buffer_destroy(&w->prepare);
    glcnn_command_buffer_destroy(&w->once);
    glcnn_command_buffer_destroy(&w->many);
    destroy_chain(w->kernels);
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        glcnn_image_destroy(images[i]);
    for (size_t i = 0; i < GLCNN_CALL_VECTORS; i++)
        glcnn_buffer_destroy(&w->vectors[i]);
    glcnn_state_destroy(&w->state);
}

static glcnn_status commit(void *commands)
{
    return glcnn_command_buffer_commit(commands);
}

static glcnn_status wait(void *commands)
{
    return glcnn_command_buffer_wait(commands);
}

static bool is_over(void *commands)
{
    return glcnn_command_buffer_is_complete(commands);
}

static struct bench_work work_of(const struct bench_job *w, glcnn_command_buffer *commands,
                                 uint32_t repeats)
{
    return (struct bench_work){w->device, commit, wait, is_over, commands, repeats, false};
}

/* A state adds up the gradients for weights that are encoded into it: each call has it empty, as the
 * first had. Others read of it what the forward kernel left. */
static glcnn_status repeat(struct bench_job *w, uint32_t repeats)
{
    bool adds_up = w->gradient && !w->destination;
    glcnn_status status = glcnn_command_buffer_create(w->device, &w->many);
    for (uint32_t i = 0; i < repeats && status == GLCNN_SUCCESS; i++) {
        if (adds_up)
            status = glcnn_state_reset(w->state);
        if (status == GLCNN_SUCCESS)
            status = encode_call(w, w->many);
    }
    return status;
}

/* Times the calls, looks at what they wrote, and counts and traces one by itself. */
static glcnn_status measure(struct bench_report *report, struct bench_job *w, uint32_t repeats)
{
    glcnn_status status = repeat(w, repeats);
    const struct bench_work once = work_of(w, w->once, 1), many = work_of(w, w->many, repeats);
    if (status == GLCNN_SUCCESS)
        status = bench_each_output(w, true);
    if (status == GLCNN_SUCCESS)
        status = bench_time(report, &many, w->row);
    if (status == GLCNN_SUCCESS)
        status = bench_each_output(w, false);
    return status == GLCNN_SUCCESS ? bench_trace_work(report, &once, w->row) : status;
}

void bench_run_shape(struct bench_report *report, glcnn_device *device,
                     const struct bench_shape *shape, enum bench_part part, struct bench_row *row)
{
    struct bench_job w = {
        .report = report, .shape = shape, .part = part, .row = row, .device = device, .seed = SEED};
    uint32_t repeats = 1;
    bench_scale(report, shape, row->shape);
    glcnn_status status = prepare(&w);
    const struct bench_work work = work_of(&w, w.once, 1);
    if (status == GLCNN_SUCCESS)
        status = bench_repeats(&work, &repeats);
    if (status == GLCNN_SUCCESS)
        status = measure(report, &w, repeats);
    if (status != GLCNN_SUCCESS)
        bench_fail(row, device, status);
    release(&w);
}
