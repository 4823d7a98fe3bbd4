/* glcnn bench --scaling: how time grows with images, channels and pixels. To each series a line is
 * fitted, a + b n, by least squares of the relative error: a is what a pass costs however little it
 * has to do. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define VALUES     8
#define FEWEST     3                   /* points that a line is fitted to */
#define SMALL_SIZE ((uint64_t)1 << 22) /* elements of an image, where shapes are small */
#define SMALL_STEP 64                  /* batch of a step there */

enum axis { AXIS_IMAGES, AXIS_CHANNELS, AXIS_PIXELS, AXES };

/* What grows; of pixels the side is listed. 0 at the end. */
static const struct {
    const char *name, *unit;
    uint32_t values[VALUES + 1];
} axes[AXES] = {{"images", "an image", {1, 4, 16, 64, 256, 1024, 4096, 16384}},
                {"channels", "a channel", {4, 16, 64, 256, 1024, 4096}},
                {"pixels", "a pixel", {8, 16, 32, 64, 128, 256}}};

/* With the extents that do not grow. */
static const struct bench_shape pooling = {
    "max pooling 2x2 s2",
    "pooling_max",
    "pooling_max_gradient",
    "kernel_width=2 kernel_height=2 stride_in_pixels_x=2 stride_in_pixels_y=2",
    {64, 64, 28, 28},
    BENCH_READS_SOURCE | BENCH_AS_IT_IS};
static const struct bench_shape batch_norm = {
    "batch norm",
    "batch_normalization_statistics batch_normalization",
    "batch_normalization_statistics_gradient batch_normalization_gradient",
    "",
    {64, 64, 28, 28},
    BENCH_READS_SOURCE | BENCH_AS_IT_IS};
static const struct bench_shape convolution = {
    "convolution 64-64 3x3",
    "convolution",
    "convolution_gradient",
    "input_feature_channels=64 output_feature_channels=64 kernel_width=3 kernel_height=3",
    {64, 64, 28, 28},
    BENCH_READS_SOURCE | BENCH_AS_IT_IS};

struct series {
    const struct bench_shape *shape; /* NULL: a step of `net` */
    enum bench_part part;
    enum axis axis;
    const char *net;
};
static const struct series all_series[] = {{&pooling, BENCH_FORWARD, AXIS_IMAGES},
                                           {&pooling, BENCH_FORWARD, AXIS_CHANNELS},
                                           {&pooling, BENCH_FORWARD, AXIS_PIXELS},
                                           {&pooling, BENCH_GRADIENT, AXIS_IMAGES},
                                           {&pooling, BENCH_GRADIENT, AXIS_CHANNELS},
                                           {&pooling, BENCH_GRADIENT, AXIS_PIXELS},
                                           {&batch_norm, BENCH_FORWARD, AXIS_IMAGES},
                                           {&batch_norm, BENCH_FORWARD, AXIS_CHANNELS},
                                           {&batch_norm, BENCH_FORWARD, AXIS_PIXELS},
                                           {&batch_norm, BENCH_GRADIENT, AXIS_IMAGES},
                                           {&batch_norm, BENCH_GRADIENT, AXIS_CHANNELS},
                                           {&batch_norm, BENCH_GRADIENT, AXIS_PIXELS},
                                           {&convolution, BENCH_FORWARD, AXIS_IMAGES},
                                           {&convolution, BENCH_FORWARD, AXIS_PIXELS},
                                           {&convolution, BENCH_DATA, AXIS_IMAGES},
                                           {&convolution, BENCH_DATA, AXIS_PIXELS},
                                           {&convolution, BENCH_WEIGHTS, AXIS_IMAGES},
                                           {&convolution, BENCH_WEIGHTS, AXIS_PIXELS},
                                           {.net = "lenet"},
                                           {.net = "small"},
                                           {.net = "resnet8"},
                                           {.net = "mobilenet-tiny"}};

/* ---- Measuring ---- */

struct point {
    double n, seconds;
};

static void name_series(const struct series *s, char name[96])
{
    if (s->net)
        snprintf(name, 96, "step of %s, %s", s->net, axes[s->axis].name);
    else
        snprintf(name, 96, "%s, %s, %s", s->shape->name, bench_part_names[s->part],
                 axes[s->axis].name);
}

static bool is_too_large(const struct bench_report *report, const struct series *s,
                         const uint32_t size[4])
{
    uint64_t elements = (uint64_t)size[0] * size[1] * size[2] * size[3];
    return report->small && (s->net ? size[0] > SMALL_STEP : elements > SMALL_SIZE);
}

/* What the device or the machine has no room for is left out. */
static struct bench_row measure(struct bench_report *report, const struct series *s, uint32_t value)
{
    struct bench_row row = {.left_out = true};
    struct bench_shape shape = s->shape ? *s->shape : (struct bench_shape){.source = {1}};
    glcnn_device *device = report->request->tool.device;
    shape.source[s->axis] = value;
    if (s->axis == AXIS_PIXELS)
        shape.source[3] = value;
    if (is_too_large(report, s, shape.source))
        return row;
    row.left_out = false;
    if (s->net)
        bench_run_step(report, device, &(struct bench_step){.net = s->net, .batch = value}, false,
                       &row);
    else
        bench_run_shape(report, device, &shape, s->part, &row);
    if (!row.error[0] && row.shape[s->axis] != value) /* the machine has not the memory */
        row = (struct bench_row){.left_out = true};
    return row;
}

/* ---- Fitting ---- */

struct line {
    double base, slope; /* seconds, and seconds for each n */
};

/* The smallest sum of ((a + b n) / t - 1)^2; a is not below 0. */
static struct line fit(const struct point *points, size_t count)
{
    double one = 0, n = 0, nn = 0, y = 0, ny = 0;
    for (size_t i = 0; i < count; i++) {
        double u = 1 / points[i].seconds, v = points[i].n / points[i].seconds;
        one += u * u;
        n += u * v;
        nn += v * v;
        y += u;
        ny += v;
    }
    double determinant = one * nn - n * n, base = (y * nn - ny * n) / determinant;
    if (!(base > 0))
        return (struct line){0, ny / nn};
    return (struct line){base, (ny * one - y * n) / determinant};
}

static void tell(const struct series *s, const struct point *points, size_t count)
{
    const struct line line = fit(points, count);
    double most = 0, least = INFINITY;
    for (size_t i = 0; i < count; i++) {
        double fitted = line.base + line.slope * points[i].n;
        most = fmax(most, points[i].seconds / fitted);
        least = fmin(least, points[i].seconds / fitted);
        output("%12.0f %12.5f %12.5f %8.2f\n", points[i].n, 1e3 * points[i].seconds, 1e3 * fitted,
               points[i].seconds / fitted);
    }
    output("  fitted: %.5g us and %.5g us %s; %.2f to %.2f times that\n\n", 1e6 * line.base,
           1e6 * line.slope, axes[s->axis].unit, least, most);
}

static size_t run_series(struct bench_report *report, const struct series *s, struct point *points)
{
    size_t count = 0;
    for (const uint32_t *value = axes[s->axis].values; *value; value++) {
        struct bench_row row = measure(report, s, *value);
        double n = s->axis == AXIS_PIXELS ? (double)*value * *value : (double)*value;
        bool failed = row.error[0] && !row.left_out;
        if (failed)
            output("%12.0f FAILED: %s\n", n, row.error);
        report->failed += failed;
        if (!failed && !row.left_out)
            points[count++] = (struct point){n, row.timing.seconds};
    }
    return count;
}

static void run_one(struct bench_report *report, const struct series *s)
{
    struct point points[VALUES];
    output("%12s %12s %12s %8s\n", axes[s->axis].name, "ms", "fitted", "ratio");
    size_t count = run_series(report, s, points);
    if (count >= FEWEST)
        tell(s, points, count);
    else
        output("  too few points to fit a line to\n\n");
    fflush(stdout);
}

size_t bench_scaling(struct bench_report *report, bool runs)
{
    size_t found = 0;
    const char *wanted = report->request->shape;
    for (size_t i = 0; i < sizeof all_series / sizeof *all_series; i++) {
        char name[96];
        name_series(&all_series[i], name);
        if (wanted && !strstr(name, wanted))
            continue;
        found++;
        if (runs || report->request->list)
            output("%s\n", name);
        if (runs)
            run_one(report, &all_series[i]);
    }
    return found;
}
