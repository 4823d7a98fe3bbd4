/* One kernel on random arrays, through glcnn_run: the device tells how long its passes take. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"

#define SMALLER     16   /* fewer images in a report of small batches */
#define SEED        2026 /* of all inputs */
#define SETTINGS    12   /* of a kernel at most */
#define ARRAYS      8    /* that a kernel is given at most */
#define SAMPLES     11
#define FEW_SAMPLES 3 /* in a report of small batches */

struct call {
    const char *kernel;
    struct glcnn_array inputs[ARRAYS], *outputs;
    size_t input_count, output_count;
};

struct job {
    glcnn_bench *bench;
    const struct bench_row *row;
    const struct bench_shape *shape;
    struct glcnn_bench_result *result;
    uint64_t seed;
    struct call forward, gradient;
    float *source_gradient; /* of the gradient's inputs the only one that is not the forward's */
};

/* ---- Inputs ---- */

static size_t elements(const struct glcnn_array *array)
{
    size_t count = 1;
    for (uint32_t i = 0; i < array->rank; i++)
        count *= array->shape[i];
    return count;
}

/* Random numbers in low .. low + range; NULL without memory. */
static float *random_numbers(struct job *j, size_t count, float low, float range)
{
    float *data = malloc(count * sizeof *data);
    for (size_t i = 0; data && i < count; i++)
        data[i] = low + range * (float)(random_next(&j->seed) >> 40) / (float)(1 << 24);
    return data;
}

static uint32_t groups_of(const struct bench_shape *shape)
{
    for (const struct glcnn_setting *s = shape->settings; s->name; s++)
        if (strcmp(s->name, "groups") == 0)
            return (uint32_t)s->value;
    return 1;
}

/* An input of the forward kernel, without data. A second source is as large as the first, chroma
 * half as wide and high; an image's number is eight bytes; a region is four numbers, an anchor box
 * two; vectors of an optimizer have a number for each of the source, indices one for each of an image. */
static struct glcnn_array shape_of(const struct job *j, const struct glcnn_argument_info *a)
{
    const uint32_t *n = j->result->size, window = j->shape->window ? j->shape->window : 1;
    const uint32_t inputs = n[1] / groups_of(j->shape);
    if (strcmp(a->name, "chroma_image") == 0)
        return (struct glcnn_array){a->name, 4, {n[0], 2, (n[2] + 1) / 2, (n[3] + 1) / 2}, NULL};
    if (strcmp(a->name, "image_numbers") == 0)
        return (struct glcnn_array){a->name, 4, {n[0], 8, 1, 1}, NULL};
    if (strcmp(a->name, "region_image") == 0)
        return (struct glcnn_array){a->name, 4, {n[0], 4, 1, BENCH_REGIONS}, NULL};
    if (strcmp(a->name, "regions") == 0)
        return (struct glcnn_array){a->name, 1, {4 * BENCH_REGIONS}, NULL};
    if (strcmp(a->name, "anchor_boxes") == 0)
        return (struct glcnn_array){a->name, 1, {2 * BENCH_ANCHORS}, NULL};
    if (strcmp(a->name, "weights") == 0)
        return (struct glcnn_array){a->name, 4, {j->shape->outputs, inputs, window, window}, NULL};
    if (a->is_constant)
        return (struct glcnn_array){a->name, 1, {n[1] * n[2] * n[3]}, NULL};
    if (!a->is_image)
        return (struct glcnn_array){a->name, 1, {n[0] * n[1] * n[2] * n[3]}, NULL};
    return (struct glcnn_array){a->name, 4, {n[0], n[1], n[2], n[3]}, NULL};
}

/* The last number first. */
static float *reversed_indices(struct job *j, size_t count)
{
    float *indices = random_numbers(j, count, 0, 0);
    for (size_t i = 0; indices && i < count; i++)
        indices[i] = (float)(count - 1 - i);
    return indices;
}

static float *numbers_of(struct job *j, const struct glcnn_array *array)
{
    bool is_positive = j->shape->flags & BENCH_POSITIVE;
    if (strcmp(array->name, "indices") == 0)
        return reversed_indices(j, elements(array));
    if (strcmp(array->name, "image_numbers") == 0)
        return random_numbers(j, elements(array), 0, 0);
    if (strncmp(array->name, "region", 6) == 0)
        return random_numbers(j, elements(array), 0, 0.5f);
    if (strcmp(array->name, "weights") == 0)
        return random_numbers(j, elements(array), -0.05f, 0.1f);
    if (strcmp(array->name, "source_image") == 0 && !is_positive)
        return random_numbers(j, elements(array), -1, 2);
    return random_numbers(j, elements(array), 0.5f, 2); /* a divisor must not be 0 */
}

/* Optional inputs are left to the kernels that fill them, but for those of optimizers. */
static bool make_inputs(struct job *j)
{
    struct call *call = &j->forward;
    const struct glcnn_kernel_info *info = glcnn_kernel_info_by_name(call->kernel);
    bool has_source = info->arguments[0].is_image;
    for (size_t i = 0; i < info->argument_count && call->input_count < ARRAYS; i++) {
        const struct glcnn_argument_info *a = &info->arguments[i];
        if (!a->is_input || (a->is_optional && has_source))
            continue;
        struct glcnn_array *array = &call->inputs[call->input_count];
        *array = shape_of(j, a);
        if (!(array->data = numbers_of(j, array)))
            return false;
        call->input_count++;
    }
    return true;
}

/* At most a quarter of the machine's memory, for ten copies of the source in double precision. */
static uint32_t images_that_fit(const uint32_t size[4])
{
    double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double fits = machine / 4 / 10 / (8.0 * size[1] * size[2] * size[3]);
    return fits < 1 ? 1 : fits < size[0] ? (uint32_t)fits : size[0];
}

static void set_size(const struct job *j)
{
    uint32_t *size = j->result->size;
    memcpy(size, j->shape->source, sizeof j->shape->source);
    if (j->bench->small)
        size[0] = size[0] > SMALLER ? size[0] / SMALLER : 1;
    size[0] = images_that_fit(size);
}

/* ---- Running ---- */

static size_t add_settings(struct glcnn_setting *list, size_t count, const char *first,
                           const char *second, double value)
{
    if (value > 0) {
        list[count++] = (struct glcnn_setting){first, value, 0};
        list[count++] = (struct glcnn_setting){second, value, 0};
    }
    return count;
}

/* The parameters of a call; their number. A gradient takes those of the forward kernel. */
static size_t list_settings(const struct job *j, const struct call *call,
                            struct glcnn_setting list[SETTINGS])
{
    const struct bench_shape *s = j->shape;
    size_t count = add_settings(list, 0, "kernel_width", "kernel_height", s->window);
    count = add_settings(list, count, "stride_in_pixels_x", "stride_in_pixels_y", s->stride);
    if (s->outputs > 0) {
        list[count++] = (struct glcnn_setting){"input_feature_channels", s->source[1], 0};
        list[count++] = (struct glcnn_setting){"output_feature_channels", s->outputs, 0};
    }
    for (const struct glcnn_setting *more = s->settings; more->name; more++)
        list[count++] = *more;
    if (call == &j->gradient && j->row->part != BENCH_GRADIENT) {
        bool data = j->row->part == BENCH_DATA;
        list[count++] = (struct glcnn_setting){
            "gradient_option",
            data ? GLCNN_GRADIENT_OPTION_DATA : GLCNN_GRADIENT_OPTION_WEIGHTS_AND_BIASES, 0};
    }
    return count;
}

static bool run(struct job *j, struct call *call, uint32_t commits)
{
    struct glcnn_setting settings[SETTINGS];
    const struct glcnn_run_options options = {.format = j->bench->asked.format, .commits = commits};
    size_t count = list_settings(j, call, settings);
    glcnn_status status =
        glcnn_run(j->bench->device, call->kernel, settings, count, call->inputs, call->input_count,
                  &options, &call->outputs, &call->output_count, j->result->error);
    if (status != GLCNN_SUCCESS)
        bench_fail(j->result, j->bench->device, status);
    return status == GLCNN_SUCCESS;
}

static const struct glcnn_array *find(const struct glcnn_array *arrays, size_t count,
                                      const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(arrays[i].name, name) == 0)
            return &arrays[i];
    return NULL;
}

static void give(struct call *call, const char *name, const struct glcnn_array *array)
{
    if (!array)
        return;
    call->inputs[call->input_count] = *array;
    call->inputs[call->input_count++].name = name;
}

/* The constants that the forward kernel had. */
static void give_constants(struct job *j)
{
    const struct call *f = &j->forward;
    const struct glcnn_kernel_info *info = glcnn_kernel_info_by_name(j->gradient.kernel);
    for (size_t i = 0; i < info->argument_count; i++)
        if (info->arguments[i].is_constant)
            give(&j->gradient, info->arguments[i].name,
                 find(f->inputs, f->input_count, info->arguments[i].name));
}

/* Runs the forward kernel, whose result a gradient is as large as. */
static bool make_gradient(struct job *j)
{
    struct call *g = &j->gradient;
    const struct call *f = &j->forward;
    if (!run(j, &j->forward, 1))
        return false;
    const struct glcnn_array *result = find(f->outputs, f->output_count, "destination_image");
    bool takes_result = j->shape->flags & BENCH_TAKES_RESULT;
    give(g, "source_gradient", result);
    g->inputs[0].data = j->source_gradient = random_numbers(j, elements(result), -1, 2);
    give(g, "source_image",
         takes_result ? result : find(f->inputs, f->input_count, "source_image"));
    give(g, "secondary_image", find(f->inputs, f->input_count, "secondary_image"));
    give(g, "region_image", find(f->inputs, f->input_count, "region_image"));
    give(g, "weights", find(f->inputs, f->input_count, "weights"));
    give_constants(j);
    return j->source_gradient != NULL;
}

/* ---- Results ---- */

/* Adds what a kernel's passes took in each commit but the first, and keeps those of the last. */
static bool add_kernel(const struct bench_passes *all, const char *kernel, size_t commits,
                       double *samples, struct bench_passes *last)
{
    size_t count = 0, at = 0;
    for (size_t i = 0; i < all->count; i++)
        count += strcmp(all->items[i].kernel, kernel) == 0;
    size_t passes = count / commits;
    for (size_t i = 0; i < all->count; i++) {
        const struct glcnn_bench_pass *pass = &all->items[i];
        if (strcmp(pass->kernel, kernel) != 0)
            continue;
        size_t commit = at++ / passes;
        if (commit > 0)
            samples[commit - 1] += 1e-9 * (double)(pass->end - pass->begin);
        if (commit == commits - 1)
            last->items[last->count++] = *pass;
    }
    return passes * commits == count && count > 0;
}

static double pixels_of(const struct glcnn_array *image)
{
    return image ? (double)image->shape[0] * image->shape[2] * image->shape[3] : INFINITY;
}

static bool begins(const char *name, const char *text)
{
    return strncmp(name, text, strlen(text)) == 0;
}

/* True if a call must read an input: a gradient reads one of its sources, or none. */
static bool reads(const struct job *j, const struct call *call, const char *input)
{
    bool source = j->shape->flags & (BENCH_READS_SOURCE | BENCH_TAKES_RESULT);
    if (call == &j->forward || strcmp(input, "source_gradient") == 0)
        return true;
    return strcmp(input, "source_image") == 0
               ? source && j->row->part != BENCH_DATA
               : strcmp(input, "weights") == 0 && j->row->part == BENCH_DATA;
}

/* What a forward kernel leaves for its gradient does not count, nor what a gradient had computed
 * before. */
static bool counts(const struct job *j, const struct call *call, const char *output)
{
    if (call == &j->gradient)
        return begins(output, "destination_gradient") || begins(output, "gradient_for");
    return !find(call->inputs, call->input_count, "source_image") ||
           begins(output, "destination") || strcmp(output, "loss") == 0;
}

/* Each weight is multiplied with each pixel of the result, or of the source where these are fewer,
 * as of a transposed convolution. */
static void count_work(struct job *j, const struct call *call)
{
    const struct call *f = &j->forward;
    struct glcnn_bench_result *result = j->result;
    double element = j->bench->asked.format == GLCNN_CHANNEL_FORMAT_FLOAT16 ? 2 : 4;
    const struct glcnn_array *weights = find(f->inputs, f->input_count, "weights"),
                             *source = find(f->inputs, f->input_count, "source_image");
    for (size_t i = 0; i < call->input_count; i++)
        if (reads(j, call, call->inputs[i].name))
            result->bytes += element * (double)elements(&call->inputs[i]);
    for (size_t i = 0; i < call->output_count; i++)
        if (counts(j, call, call->outputs[i].name))
            result->bytes += element * (double)elements(&call->outputs[i]);
    if (weights)
        result->operations =
            2 * (double)elements(weights) *
            fmin(pixels_of(source),
                 pixels_of(find(f->outputs, f->output_count, "destination_image")));
}

/* Masks are bits and no numbers. */
static void check_outputs(const struct call *call, struct glcnn_bench_result *result)
{
    for (size_t k = 0; k < call->output_count; k++) {
        const struct glcnn_array *array = &call->outputs[k];
        size_t count = strstr(array->name, "mask") ? 0 : elements(array);
        for (size_t i = 0; i < count && !result->error[0]; i++)
            if (!isfinite(array->data[i]))
                snprintf(result->error, sizeof result->error, "%s: element %zu is not finite",
                         array->name, i);
    }
}

static void measure(struct job *j, struct call *call)
{
    double samples[SAMPLES] = {0};
    size_t count = j->bench->small ? FEW_SAMPLES : SAMPLES;
    struct bench_passes all = {.items = NULL}, last;
    glcnn_device *device = j->bench->device;
    bool good = bench_record(device, &all) == GLCNN_SUCCESS && run(j, call, (uint32_t)count + 1);
    bench_record(device, NULL);
    last = (struct bench_passes){.items = calloc(all.count + 1, sizeof *last.items),
                                 .gpu_clock = all.gpu_clock};
    good = good && !all.failed && last.items;
    for (size_t i = 0; i < 2 && good; i++)
        good = !j->row->shown.kernels[i] ||
               add_kernel(&all, j->row->shown.kernels[i], count + 1, samples, &last);
    if (good) {
        bench_set_times(j->result, samples, count);
        bench_take_passes(j->bench, &last, j->result);
        count_work(j, call);
        check_outputs(call, j->result);
    } else
        bench_fail(j->result, device, GLCNN_INVALID_STATE);
    bench_passes_free(&all);
    bench_passes_free(&last);
}

static void release(struct job *j)
{
    for (size_t i = 0; i < j->forward.input_count; i++)
        free(j->forward.inputs[i].data);
    glcnn_run_destroy(j->forward.outputs);
    glcnn_run_destroy(j->gradient.outputs);
    free(j->source_gradient);
}

void bench_run_kernel(glcnn_bench *bench, const struct bench_row *row,
                      struct glcnn_bench_result *result)
{
    struct job j = {.bench = bench,
                    .row = row,
                    .shape = row->shape,
                    .result = result,
                    .seed = SEED,
                    .forward = {.kernel = row->shape->kernel}};
    bool gradient = row->part != BENCH_FORWARD;
    j.gradient.kernel = row->shown.kernels[1];
    set_size(&j);
    if (!make_inputs(&j))
        bench_fail(result, bench->device, GLCNN_OUT_OF_MEMORY);
    else if (!gradient || make_gradient(&j))
        measure(&j, gradient ? &j.gradient : &j.forward);
    release(&j);
}
