/* Padding, strided slices and their gradients: spec 7.17. */
#include "kernels/pad.h"

#include "reference/elements.h"

/* Place X of one axis; -1: outside. */
static int32_t placed(const struct walk *walk, glcnn_pad_mode mode, uint32_t extent, int32_t X)
{
    int32_t u = walk->first + walk->step * X, size = (int32_t)extent;
    if (u >= 0 && u < size)
        return u;
    if (mode == GLCNN_PAD_MODE_REPLICATE)
        return u < 0 ? 0 : size - 1;
    if (mode == GLCNN_PAD_MODE_REFLECT)
        return u < 0 ? -u : 2 * (size - 1) - u;
    return -1;
}

static bool source_of(const struct operation *o, struct element at, struct element *from)
{
    const struct image_view *source = elements_source(o);
    struct walks w = pad_walks_of(o);
    *from = (struct element){placed(&w.y, w.mode, source->height, at.y),
                             placed(&w.x, w.mode, source->width, at.x),
                             placed(&w.c, GLCNN_PAD_MODE_CONSTANT, source->channels, at.c)};
    return from->y >= 0 && from->x >= 0 && from->c >= 0;
}

static void reference(const struct reference *r)
{
    elements_reference(r, source_of, (double)pad_walks_of(r->operation).constant);
}

static void gradient_reference(const struct reference *r)
{
    elements_gradient_reference(r, source_of);
}

static const struct check_case pad_cases[] = {
    {"", {1, 1, 3, 3}},
    {"left=1 right=2 top=3 bottom=4", {2, 3, 4, 5}},
    {"left=1 right=2 pad_constant=0.75", {1, 5, 3, 4}},
    {"top=2 bottom=1 pad_constant=-2", {3, 4, 2, 6}},
    {"front=4 back=3", {2, 6, 3, 2}},
    {"front=3 back=2 left=1 pad_constant=0.5", {1, 6, 4, 3}},
    {"front=-4 back=1 top=-1", {2, 9, 5, 4}},
    {"front=-1 back=-2 left=-2 right=3", {1, 8, 3, 5}},
    {"left=2 right=2 top=2 bottom=2 pad_mode=reflect", {2, 5, 3, 4}},
    {"left=3 right=1 top=-1 bottom=2 pad_mode=reflect", {1, 4, 4, 4}},
    {"left=-2 right=4 top=1 pad_mode=reflect", {1, 2, 2, 5}},
    {"left=2 right=3 top=4 bottom=1 pad_mode=replicate", {2, 6, 3, 2}},
    {"left=5 right=5 top=-1 bottom=2 pad_mode=replicate", {1, 3, 3, 1}},
    {"left=-1 right=2 front=-2 back=-1 pad_mode=replicate", {1, 7, 2, 4}},
    {"left=1 right=1 top=1 bottom=1 clip_rect_origin_x=1 clip_rect_origin_y=2 "
     "clip_rect_size_width=4 clip_rect_size_height=3",
     {2, 3, 5, 4}},
    {"left=2 right=2 top=2 bottom=2 pad_mode=reflect clip_rect_origin_x=1 clip_rect_origin_y=1 "
     "clip_rect_size_width=5 clip_rect_size_height=4",
     {2, 3, 4, 4}},
    {"left=3 top=2 pad_mode=replicate clip_rect_origin_x=1 clip_rect_size_width=5", {1, 2, 3, 4}},
    {"right=1 source_feature_channel_offset=4 source_feature_channel_max_count=3", {2, 9, 3, 4}},
    {"bottom=1 front=2 destination_feature_channel_offset=4", {1, 3, 3, 2}},
    {"left=3 right=3 top=3 bottom=3 pad_mode=reflect", {4, 37, 28, 27}, {0}, true},
    {0}};

static const struct check_case slice_cases[] = {
    {"", {1, 1, 3, 3}},
    {"start_x=1 start_y=2", {2, 3, 4, 5}},
    {"start_x=1 size_x=2 start_y=1 size_y=3", {1, 5, 5, 4}},
    {"step_x=2 step_y=3", {2, 4, 7, 6}},
    {"start_x=1 step_x=3 size_x=2 step_y=2", {1, 6, 4, 9}},
    {"start_channel=1", {2, 7, 3, 2}},
    {"start_channel=4 size_channels=3", {1, 9, 2, 3}},
    {"start_channel=3 step_channel=2 size_channels=3", {2, 11, 3, 3}},
    {"start_x=4 step_x=-1 start_y=3 step_y=-2", {1, 3, 4, 5}},
    {"start_channel=8 step_channel=-3", {2, 9, 2, 2}},
    {"start_channel=2 size_channels=5 start_x=3 step_x=-2 step_y=2", {3, 8, 5, 4}},
    {"start_x=1 step_x=2 start_channel=1 clip_rect_origin_x=1 clip_rect_origin_y=1 "
     "clip_rect_size_width=2 clip_rect_size_height=2",
     {2, 5, 4, 8}},
    {"start_y=1 start_channel=1 source_feature_channel_offset=4 "
     "source_feature_channel_max_count=4",
     {2, 9, 3, 4}},
    {"start_x=1 size_channels=3 destination_feature_channel_offset=8", {1, 6, 2, 3}},
    {"start_x=2 step_x=2 start_channel=5 size_channels=23", {4, 37, 28, 27}, {0}, true},
    {0}};

const struct glcnn_reference glcnn_reference_pad = {reference, pad_cases};
const struct glcnn_reference glcnn_reference_pad_gradient = {gradient_reference, pad_cases};
const struct glcnn_reference glcnn_reference_strided_slice = {reference, slice_cases};
const struct glcnn_reference glcnn_reference_strided_slice_gradient = {gradient_reference,
                                                                       slice_cases};
