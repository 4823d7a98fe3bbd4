/* Lists the rows and measures them one after the other. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "task/nets.h"

#define BOARD_BATCH 64 /* of steps whose time is reckoned for boards */

/* The form of Fashion-MNIST, of pictures of steps without data. */
static const struct form fashion = {28, 28, 1, 10, 0, 0};

/* ---- Rows ---- */

static bool has_parts(const char *gradient)
{
    const struct glcnn_kernel_info *info = glcnn_kernel_info_by_name(gradient);
    for (size_t i = 0; i < info->parameter_count; i++)
        if (strcmp(info->parameters[i].name, "gradient_option") == 0)
            return true;
    return false;
}

static size_t add_shape(const struct bench_shape *shape, struct bench_row *rows)
{
    static const char *const parts[BENCH_PARTS] = {"forward", "gradient", "data", "weights"};
    const char *gradient =
        shape->gradient ? shape->gradient : glcnn_kernel_info_by_name(shape->kernel)->gradient;
    bool split = gradient && has_parts(gradient);
    size_t count = 0;
    for (int part = 0; part < BENCH_PARTS; part++) {
        bool is_forward = part == BENCH_FORWARD;
        if (!is_forward && (!gradient || split != (part != BENCH_GRADIENT)))
            continue;
        struct bench_row *row = &rows[count++];
        *row = (struct bench_row){.shape = shape, .part = (enum bench_part)part};
        row->shown.kernels[0] = shape->statistics[!is_forward];
        row->shown.kernels[1] = is_forward ? shape->kernel : gradient;
        memcpy(row->shown.source, shape->source, sizeof shape->source);
        snprintf(row->name, sizeof row->name, gradient ? "%s, %s" : "%s", shape->name, parts[part]);
    }
    return count;
}

static size_t list_rows(const struct glcnn_bench_parameters *asked,
                        struct bench_row rows[BENCH_ROWS])
{
    static const uint32_t batches[] = {64, 512, 4096};
    size_t count = 0;
    for (const struct bench_shape *shape = bench_shapes; shape->name; shape++)
        count += add_shape(shape, &rows[count]);
    for (size_t b = 0; asked->data && b < sizeof batches / sizeof *batches; b++) {
        struct bench_row *row = &rows[count++];
        *row = (struct bench_row){.shown.batch = batches[b]};
        snprintf(row->name, sizeof row->name, "loader, batch %u", batches[b]);
    }
    for (size_t n = 0; net_at(n); n++)
        for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
            struct bench_row *row = &rows[count++];
            *row = (struct bench_row){.net = net_at(n)->name, .shown.batch = batches[b]};
            snprintf(row->name, sizeof row->name, "step of %s, batch %u", row->net, batches[b]);
        }
    return count;
}

static bool is_kernel(const char *kernel, const char *name)
{
    return kernel && strcmp(kernel, name) == 0;
}

/* Keeps the rows that are asked for, and returns their number. */
static size_t choose_rows(const struct glcnn_bench_parameters *asked, struct bench_row *rows,
                          size_t count)
{
    size_t chosen = 0;
    for (size_t i = 0; i < count; i++)
        if ((!asked->board || (rows[i].net && rows[i].shown.batch == BOARD_BATCH)) &&
            (!asked->kernel || is_kernel(rows[i].shown.kernels[0], asked->kernel) ||
             is_kernel(rows[i].shown.kernels[1], asked->kernel)) &&
            (!asked->shape || strstr(rows[i].name, asked->shape))) {
            rows[chosen] = rows[i];
            rows[chosen].shown.name = rows[chosen].name;
            chosen++;
        }
    return chosen;
}

/* ---- Results ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void bench_set_times(struct glcnn_bench_result *result, double *samples, size_t count)
{
    qsort(samples, count, sizeof *samples, ascending);
    double median = samples[count / 2];
    result->seconds = median;
    result->spread =
        median > 0 ? (samples[count - 1 - count / 4] - samples[count / 4]) / median : 0;
}

void bench_fail(struct glcnn_bench_result *result, const glcnn_device *device, glcnn_status status)
{
    result->left_out = status == GLCNN_OUT_OF_MEMORY || status == GLCNN_LIMIT_EXCEEDED;
    if (!result->error[0])
        snprintf(result->error, sizeof result->error, "%.500s", glcnn_device_error(device));
    if (!result->error[0])
        snprintf(result->error, sizeof result->error, "%s", glcnn_status_text(status));
}

/* ---- Running them ---- */

/* The rate of memory is the best of several kernels that do little else: one that is slow by itself
 * would make all others look near the floor. */
static void measure_rate(glcnn_bench *bench)
{
    for (const struct bench_shape *shape = bench_shapes; shape->name; shape++) {
        struct bench_row rows[BENCH_PARTS];
        struct glcnn_bench_result result = {.seconds = 0};
        if (!(shape->flags & BENCH_SETS_RATE))
            continue;
        add_shape(shape, rows);
        bench_run_kernel(bench, &rows[BENCH_FORWARD], &result);
        if (!result.error[0] && result.bytes > bench->rate * result.seconds)
            bench->rate = result.bytes / result.seconds;
    }
}

glcnn_status glcnn_bench_create(const struct glcnn_bench_parameters *parameters,
                                glcnn_bench **bench, char error[GLCNN_ERROR_LENGTH])
{
    glcnn_bench *b = *bench = calloc(1, sizeof *b);
    if (!b)
        return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    b->asked = *parameters;
    b->form = fashion;
    if (b->asked.format == GLCNN_CHANNEL_FORMAT_NONE)
        b->asked.format = GLCNN_CHANNEL_FORMAT_FLOAT32;
    b->row_count = choose_rows(&b->asked, b->rows, list_rows(&b->asked, b->rows));
    if (b->row_count > 0)
        return GLCNN_SUCCESS;
    glcnn_bench_destroy(bench);
    return fail_with(error, GLCNN_INVALID_ARGUMENT,
                     "no row has this kernel and this text in its name");
}

const struct glcnn_bench_row *glcnn_bench_row_at(const glcnn_bench *bench, size_t i)
{
    return i < bench->row_count ? &bench->rows[i].shown : NULL;
}

glcnn_status glcnn_bench_begin(glcnn_bench *bench, glcnn_device *device,
                               char error[GLCNN_ERROR_LENGTH])
{
    bench->device = device;
    bench->small = bench->asked.quick || glcnn_device_info(device)->software;
    if (bench->asked.data && !bench_open_data(bench, error))
        return GLCNN_MALFORMED_DATA;
    measure_rate(bench);
    return GLCNN_SUCCESS;
}

double glcnn_bench_rate(const glcnn_bench *bench)
{
    return bench->rate;
}

bool glcnn_bench_is_small(const glcnn_bench *bench)
{
    return bench->small;
}

const struct glcnn_bench_result *glcnn_bench_next(glcnn_bench *bench)
{
    struct glcnn_bench_result *result = &bench->result;
    const struct bench_row *row = &bench->rows[bench->next];
    while (bench->next < bench->row_count && bench->small && row->shown.batch > 64)
        row = &bench->rows[++bench->next];
    if (bench->next++ >= bench->row_count)
        return NULL;
    *result = (struct glcnn_bench_result){.row = &row->shown};
    if (row->shape)
        bench_run_kernel(bench, row, result);
    else if (row->net)
        bench_run_step(bench, row, result);
    else
        bench_run_loading(bench, row, result);
    if (result->bytes > 0)
        result->times_floor = result->seconds * bench->rate / result->bytes;
    return result;
}

void glcnn_bench_destroy(glcnn_bench **bench)
{
    glcnn_bench *b = *bench;
    *bench = NULL;
    if (!b)
        return;
    pictures_close(&b->pictures);
    bench_passes_free(&b->passes);
    free(b);
}
