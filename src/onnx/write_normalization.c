/* Normalisations: of batches, instances, pictures, channels beside one another and windows. */
#include <string.h>

#include <glcnn/kernels/batch_normalization.h>
#include <glcnn/kernels/cross_channel_normalization.h>
#include <glcnn/kernels/instance_normalization.h>
#include <glcnn/kernels/local_contrast_normalization.h>
#include <glcnn/kernels/spatial_normalization.h>

#include "onnx/write_filter.h"

static const char *write_batch(struct filter_call *c)
{
    static const char *const vectors[] = {"gamma", "beta", "mean", "variance"};
    const struct glcnn_batch_normalization_parameters *p = glcnn_batch_normalization(c->kernel);
    if (p->flags == GLCNN_BATCH_NORMALIZATION_CALCULATE_STATISTICS_ALWAYS)
        return write_refuse(c, "its flags take statistics of each batch in inference too");
    const char *inputs[] = {c->sources[0].name, NULL, NULL, NULL, NULL, NULL};
    for (size_t i = 0; i < 4; i++)
        inputs[1 + i] = write_channels(c, vectors[i], vectors[i], c->dims[C], false);
    const char *y = write_node(c, "BatchNormalization", inputs);
    write_float(c, "epsilon", p->epsilon);
    write_float(c, "momentum", 1 - p->running_momentum);
    return write_fused(c, &p->neuron, y, c->dims[C]);
}

static const char *write_instance(struct filter_call *c)
{
    const char *gamma = write_channels(c, "gamma", "gamma", c->dims[C], false);
    const char *beta = write_channels(c, "beta", "beta", c->dims[C], false);
    const char *y = write_node(c, "InstanceNormalization",
                               (const char *[]){c->sources[0].name, gamma, beta, NULL});
    write_float(c, "epsilon", glcnn_instance_normalization(c->kernel)->epsilon);
    return y;
}

static const char *write_picture(struct filter_call *c)
{
    const char *mean = write_channels(c, "mean", "mean", c->dims[C], true);
    const char *deviation = write_channels(c, "deviation", "deviation", c->dims[C], true);
    return write_binary(c, "Div", write_binary(c, "Sub", c->sources[0].name, mean), deviation);
}

/* ---- By powers of sums ---- */

/* scale * x + add, without what does nothing. */
static const char *linear(const struct filter_call *c, const char *x, float scale, float add)
{
    if (scale != 1)
        x = write_binary(c, "Mul", x, write_number(c, scale));
    return add != 0 ? write_binary(c, "Add", x, write_number(c, add)) : x;
}

/* x (delta + alpha mean)^-beta */
static const char *divide(const struct filter_call *c, const char *x, const char *mean,
                          const float numbers[3])
{
    const char *sum = linear(c, mean, numbers[0], numbers[2]);
    return write_binary(c, "Mul", x, write_binary(c, "Pow", sum, write_number(c, -numbers[1])));
}

static const char *mean_of_windows(const struct filter_call *c, const char *x, int64_t rows,
                                   int64_t columns)
{
    const struct walk walk = {.kernel = {rows, columns}, .stride = {1, 1}, .dilation = {1, 1}};
    const char *y = write_unary(c, "AveragePool", x);
    write_walk_attributes(c, &walk, false);
    return y;
}

/* Channels as rows: windows that lean to the other side than those of LRN. */
static const char *mean_of_channels(const struct filter_call *c, const char *x, int64_t size)
{
    const struct written *s = &c->sources[0];
    const int64_t rows[] = {0, 1, s->dims[C], s->dims[H] * s->dims[W]};
    const int64_t back[] = {0, s->dims[C], s->dims[H], s->dims[W]};
    const struct margins margins = {.before = {[H] = size / 2}, .after = {[H] = (size - 1) / 2}};
    const char *wide = write_margins(c, write_reshape(c, x, rows, AXES), &margins);
    return write_reshape(c, mean_of_windows(c, wide, size, 1), back, AXES);
}

static const char *write_cross_channel(struct filter_call *c)
{
    const struct glcnn_cross_channel_normalization_parameters *p =
        glcnn_cross_channel_normalization(c->kernel);
    const char *x = c->sources[0].name;
    if (p->kernel_size % 2 == 0 || !(p->alpha > 0) || !(p->beta > 0)) {
        const char *mean = mean_of_channels(c, write_binary(c, "Mul", x, x), p->kernel_size);
        return divide(c, x, mean, (const float[]){p->alpha, p->beta, p->delta});
    }
    const char *y = write_unary(c, "LRN", x);
    write_int(c, "size", p->kernel_size);
    write_float(c, "alpha", p->alpha);
    write_float(c, "beta", p->beta);
    write_float(c, "bias", p->delta);
    return y;
}

/* The source with all that windows read beyond it, and as their centres read it. */
static const char *surroundings(const struct filter_call *c, const char **centres)
{
    const char *x = c->sources[0].name;
    const char *mode = write_edge(glcnn_kernel_properties(c->kernel)->primary.edge_mode);
    struct walk walk = write_walk(c, &c->dims[H]), centre = walk;
    for (size_t i = 0; i < 2; i++) {
        centre.before[i] -= walk.kernel[i] / 2;
        centre.after[i] -= (walk.kernel[i] - 1) / 2;
    }
    *centres = write_walked(c, x, &centre, true, mode);
    return write_walked(c, x, &walk, true, mode);
}

static const char *write_spatial(struct filter_call *c)
{
    const struct glcnn_spatial_normalization_parameters *p = glcnn_spatial_normalization(c->kernel);
    const struct glcnn_source_properties *s = &glcnn_kernel_properties(c->kernel)->primary;
    const char *x, *wide = surroundings(c, &x);
    const char *mean =
        mean_of_windows(c, write_binary(c, "Mul", wide, wide), s->kernel_height, s->kernel_width);
    return divide(c, x, mean, (const float[]){p->alpha, p->beta, p->delta});
}

/* Each pixel of a window, less the window's mean, needs a place of its own. */
static const char *write_local_contrast(struct filter_call *c)
{
    const struct glcnn_local_contrast_normalization_parameters *p =
        glcnn_local_contrast_normalization(c->kernel);
    const struct glcnn_source_properties *s = &glcnn_kernel_properties(c->kernel)->primary;
    if (p->alpha != 0)
        return write_refuse(c, "no operator has the deviation of windows from their means; with "
                               "alpha 0 it is written");
    const char *x, *wide = surroundings(c, &x);
    const char *mean =
        linear(c, mean_of_windows(c, wide, s->kernel_height, s->kernel_width), p->p0, 0);
    const char *scale =
        write_binary(c, "Pow", write_number(c, p->delta), write_number(c, -p->beta));
    const char *y = write_binary(c, "Mul", write_binary(c, "Sub", x, mean), scale);
    return linear(c, y, p->ps, p->pm);
}

const struct kernel_row write_normalization[] = {
    {"batch_normalization", write_batch, BY_OFFSET, NULL, NULL},
    {"cross_channel_normalization", write_cross_channel, BY_OFFSET, NULL, NULL},
    {"image_normalization", write_picture, BY_OFFSET, NULL, NULL},
    {"instance_normalization", write_instance, UNMOVED, NULL, NULL},
    {"local_contrast_normalization", write_local_contrast, BY_WINDOWS, NULL, NULL},
    {"spatial_normalization", write_spatial, BY_WINDOWS, NULL, NULL},
    {NULL, NULL, WHOLE, NULL, NULL}};
