/* Parts of images, images put together, and numbers in another order. */
#include <stdlib.h>
#include <string.h>

#include <glcnn/kernels/axis_concatenation.h>
#include <glcnn/kernels/pad.h>
#include <glcnn/kernels/rearrange.h>
#include <glcnn/kernels/slice.h>

#include "onnx/write_filter.h"

/* What is read of the source is the result: a part of it, or in inference what was given. */
static const char *write_source(struct filter_call *c)
{
    return c->sources[0].name;
}

/* ---- Parts ---- */

static const char *write_pad(struct filter_call *c)
{
    static const char *const modes[] = {"constant", "reflect", "edge"};
    const struct glcnn_pad_parameters *p = glcnn_pad(c->kernel);
    const struct margins margins = {.before = {0, p->front, p->top, p->left},
                                    .after = {0, p->back, p->bottom, p->right},
                                    .mode = modes[p->mode],
                                    .constant = p->constant};
    return write_margins(c, c->sources[0].name, &margins);
}

/* An end before the first number is beyond the last one from behind. */
static const char *write_strided(struct filter_call *c)
{
    static const int64_t axes[] = {C, H, W};
    const struct glcnn_strided_slice_parameters *p = glcnn_strided_slice(c->kernel);
    const int64_t starts[] = {p->start_channel, p->start_y, p->start_x};
    const int64_t steps[] = {p->step_channel, p->step_y, p->step_x};
    int64_t ends[3];
    for (size_t i = 0; i < 3; i++) {
        ends[i] = starts[i] + steps[i] * c->dims[C + i];
        ends[i] = ends[i] < 0 ? INT64_MIN : ends[i];
    }
    return write_node(c, "Slice",
                      (const char *[]){c->sources[0].name, write_wholes(c, starts, 3),
                                       write_wholes(c, ends, 3), write_wholes(c, axes, 3),
                                       write_wholes(c, steps, 3), NULL});
}

/* ---- Images put together ---- */

static const char *join(const struct filter_call *c, const char *const *inputs, int64_t axis)
{
    const char *y = write_node(c, "Concat", inputs);
    write_int(c, "axis", axis);
    return y;
}

static const char *write_axis_concatenation(struct filter_call *c)
{
    return join(c, (const char *[]){c->sources[0].name, c->sources[1].name, NULL},
                C + (int64_t)glcnn_axis_concatenation(c->kernel)->axis);
}

/* Sources begin at multiples of four channels; what is between them is 0. */
static const char *write_concatenation(struct filter_call *c)
{
    const struct glcnn_source_properties *s = &glcnn_kernel_properties(c->kernel)->primary;
    if (s->feature_channel_offset || s->feature_channel_max_count < c->sources[0].dims[C])
        return write_refuse(c, "it reads some channels of its sources and leaves gaps for all");
    const char **inputs = calloc(c->source_count + 1, sizeof *inputs), *y = NULL;
    c->dims[C] = 0;
    for (size_t i = 0; inputs && i < c->source_count; i++) {
        int64_t channels = c->sources[i].dims[C];
        int64_t gap = i + 1 < c->source_count ? (4 - channels % 4) % 4 : 0;
        const struct margins margins = {.after = {[C] = gap}};
        inputs[i] = write_margins(c, c->sources[i].name, &margins);
        c->dims[C] += channels + gap;
    }
    if (!inputs)
        onnx_no_memory(&c->writer->messages);
    else
        y = c->source_count == 1 ? inputs[0] : join(c, inputs, C);
    free(inputs);
    return y;
}

/* ---- Another order ---- */

/* Numbers follow one another as row, column, channel, where they are not channels_first. */
static const char *write_reshaped(struct filter_call *c)
{
    static const int64_t channels_last[] = {N, H, W, C}, back[] = {N, W, C, H};
    const int64_t shape[] = {0, c->dims[C], c->dims[H], c->dims[W]};
    const int64_t last[] = {0, c->dims[H], c->dims[W], c->dims[C]};
    const char *x = c->sources[0].name;
    if (glcnn_reshape(c->kernel)->channels_first)
        return write_reshape(c, x, shape, AXES);
    const char *y = write_reshape(c, write_transpose(c, x, channels_last, AXES), last, AXES);
    return write_transpose(c, y, back, AXES);
}

static const char *write_transposed(struct filter_call *c)
{
    static const int64_t orders[][AXES] = {
        [GLCNN_AXIS_ORDER_CHW] = {N, C, H, W}, [GLCNN_AXIS_ORDER_CWH] = {N, C, W, H},
        [GLCNN_AXIS_ORDER_HCW] = {N, H, C, W}, [GLCNN_AXIS_ORDER_HWC] = {N, H, W, C},
        [GLCNN_AXIS_ORDER_WCH] = {N, W, C, H}, [GLCNN_AXIS_ORDER_WHC] = {N, W, H, C}};
    return write_transpose(c, c->sources[0].name, orders[glcnn_transpose(c->kernel)->order], AXES);
}

static const char *shuffle(const struct filter_call *c, const char *x, int64_t groups)
{
    static const int64_t exchanged[] = {N, H, C, W};
    const int64_t grouped[] = {0, groups, c->dims[C] / groups, c->dims[H] * c->dims[W]};
    const int64_t back[] = {0, c->dims[C], c->dims[H], c->dims[W]};
    const char *y = write_transpose(c, write_reshape(c, x, grouped, AXES), exchanged, AXES);
    return write_reshape(c, y, back, AXES);
}

static const char *write_shuffle(struct filter_call *c)
{
    return shuffle(c, c->sources[0].name, glcnn_channel_shuffle(c->kernel)->groups);
}

static const char *write_blocks(struct filter_call *c)
{
    const char *y = write_unary(c, c->row->operator, c->sources[0].name);
    write_int(c, "blocksize", glcnn_block(c->kernel)->block_size);
    return y;
}

static const char *write_space(struct filter_call *c)
{
    const char *y = write_blocks(c);
    write_text(c, "mode", glcnn_block(c->kernel)->order == GLCNN_BLOCK_ORDER_CRD ? "CRD" : "DCR");
    return y;
}

/* SpaceToDepth has one order, that of dcr. */
static const char *write_depth(struct filter_call *c)
{
    const int64_t size = glcnn_block(c->kernel)->block_size;
    const char *y = write_blocks(c);
    return glcnn_block(c->kernel)->order == GLCNN_BLOCK_ORDER_CRD ? shuffle(c, y, size * size) : y;
}

const struct kernel_row write_shaping[] = {
    {"axis_concatenation", write_axis_concatenation, WHOLE, NULL, NULL},
    {"channel_shuffle", write_shuffle, WHOLE, NULL, NULL},
    {"concatenation", write_concatenation, BY_OFFSET, NULL, NULL},
    {"depth_to_space", write_space, WHOLE, "DepthToSpace", NULL},
    {"dropout", write_source, BY_OFFSET, NULL, NULL},
    {"pad", write_pad, WHOLE, NULL, NULL},
    {"reshape", write_reshaped, WHOLE, NULL, NULL},
    {"slice", write_source, BY_OFFSET, NULL, NULL},
    {"space_to_depth", write_depth, WHOLE, "SpaceToDepth", NULL},
    {"strided_slice", write_strided, WHOLE, NULL, NULL},
    {"transpose", write_transposed, WHOLE, NULL, NULL},
    {NULL, NULL, WHOLE, NULL, NULL}};
