/* Views by strides: spec 7.18. */
#include "glcnn/kernels/strided_view.h"

#include "reference/elements.h"

static bool viewed(const struct operation *o, struct element at, struct element *from)
{
    const struct glcnn_strided_view_parameters *p = o->parameters;
    const struct image_view *source = elements_source(o);
    uint32_t j = ((uint32_t)at.c * p->height + (uint32_t)at.y) * p->width + (uint32_t)at.x;
    uint32_t i = 0;
    for (int k = 6; k-- > 0; j /= p->sizes[k])
        i += j % p->sizes[k] * p->strides[k];
    *from = (struct element){.x = (int32_t)(i % source->width),
                             .y = (int32_t)(i / source->width % source->height),
                             .c = (int32_t)(i / source->width / source->height)};
    return true;
}

static void reference(const struct reference *r)
{
    elements_reference(r, viewed, 0);
}

static void gradient_reference(const struct reference *r)
{
    elements_gradient_reference(r, viewed);
}

static const struct check_case cases[] = {
    /* One number, the defaults. */
    {"", {2, 3, 4, 5}},
    /* The same in another shape. */
    {"feature_channels=10 height=2 width=3 "
     "size_0=60 stride_0=1",
     {2, 3, 4, 5}},
    /* Rows and columns, whole slices. */
    {"feature_channels=8 height=5 width=3 "
     "size_0=8 stride_0=15 size_1=5 stride_1=1 size_2=3 stride_2=5",
     {2, 8, 3, 5}},
    {"feature_channels=6 height=3 width=5 "
     "size_0=6 stride_0=15 size_1=3 stride_1=1 size_2=5 stride_2=3",
     {1, 6, 5, 3}},
    /* Each order of three axes. */
    {"feature_channels=3 height=5 width=4 "
     "size_0=3 stride_0=4 size_1=5 stride_1=12 size_2=4 stride_2=1",
     {2, 5, 3, 4}},
    {"feature_channels=3 height=4 width=5 "
     "size_0=3 stride_0=4 size_1=4 stride_1=1 size_2=5 stride_2=12",
     {1, 5, 3, 4}},
    {"feature_channels=4 height=5 width=3 "
     "size_0=4 stride_0=1 size_1=5 stride_1=12 size_2=3 stride_2=4",
     {3, 5, 3, 4}},
    {"feature_channels=4 height=3 width=5 "
     "size_0=4 stride_0=1 size_1=3 stride_1=4 size_2=5 stride_2=12",
     {2, 5, 3, 4}},
    /* Six axes. */
    {"feature_channels=8 height=9 width=2 "
     "size_0=2 stride_0=1 size_1=2 stride_1=4 size_2=3 stride_2=24 size_3=2 stride_3=2 size_4=3 stride_4=8 size_5=2 stride_5=72",
     {2, 6, 6, 4}},
    {"feature_channels=12 height=4 width=6 "
     "size_0=2 stride_0=18 size_1=2 stride_1=144 size_2=3 stride_2=3 size_3=4 stride_3=36 size_4=3 stride_4=1 size_5=2 stride_5=9",
     {1, 8, 4, 9}},
    {"feature_channels=4 height=6 width=6 "
     "size_0=2 stride_0=36 size_1=2 stride_1=72 size_2=3 stride_2=6 size_3=2 stride_3=18 size_4=2 stride_4=1 size_5=3 stride_5=2",
     {1, 4, 6, 6}},
    /* Swin's windows of 2x2 pixels, to and fro. */
    {"feature_channels=6 height=4 width=5 "
     "size_0=2 stride_0=12 size_1=3 stride_1=2 size_2=2 stride_2=6 size_3=2 stride_3=1 size_4=5 stride_4=24",
     {2, 5, 4, 6}},
    {"feature_channels=5 height=4 width=6 "
     "size_0=5 stride_0=1 size_1=2 stride_1=60 size_2=2 stride_2=10 size_3=3 stride_3=20 size_4=2 stride_4=5",
     {2, 6, 4, 5}},
    /* As whole slices: channels, windows, tokens. */
    {"feature_channels=12 height=6 width=4 "
     "size_0=12 stride_0=24 size_1=2 stride_1=12 size_2=3 stride_2=2 size_3=2 stride_3=6 size_4=2 stride_4=1",
     {1, 12, 4, 6}},
    /* Heads of attention: q, k and v of one product. */
    {"feature_channels=6 height=7 width=4 "
     "size_0=3 stride_0=8 size_1=2 stride_1=4 size_2=7 stride_2=24 size_3=4 stride_3=1",
     {2, 7, 1, 24}},
    /* Blocks of four channels. */
    {"feature_channels=12 height=4 width=2 "
     "size_0=3 stride_0=2 size_1=4 stride_1=24 size_2=4 stride_2=6 size_3=2 stride_3=1",
     {2, 16, 3, 2}},
    {"feature_channels=24 height=2 width=3 "
     "size_0=12 stride_0=6 size_1=2 stride_1=72 size_2=2 stride_2=3 size_3=3 stride_3=1",
     {2, 24, 2, 3}},
    {"feature_channels=24 height=2 width=3 "
     "size_0=3 stride_0=24 size_1=2 stride_1=72 size_2=4 stride_2=6 size_3=2 stride_3=3 size_4=3 stride_4=1",
     {1, 24, 2, 3}},
    {"feature_channels=24 height=3 width=2 "
     "size_0=3 stride_0=24 size_1=2 stride_1=72 size_2=4 stride_2=6 size_3=3 stride_3=1 size_4=2 stride_4=3",
     {1, 24, 2, 3}},
    /* Expand: of channels, rows, columns and all. */
    {"feature_channels=7 height=4 width=3 "
     "size_0=7 stride_0=0 size_1=12 stride_1=1",
     {2, 1, 4, 3}},
    {"feature_channels=5 height=4 width=3 "
     "size_0=5 stride_0=3 size_1=4 stride_1=0 size_2=3 stride_2=1",
     {2, 5, 1, 3}},
    {"feature_channels=6 height=4 width=35 "
     "size_0=24 stride_0=1 size_1=35 stride_1=0",
     {1, 6, 4, 1}},
    {"feature_channels=9 height=5 width=8 "
     "size_0=9 stride_0=1 size_1=40 stride_1=0",
     {2, 9, 1, 1}},
    {"feature_channels=6 height=5 width=9 "
     "size_0=270 stride_0=0",
     {2, 1, 1, 1}},
    /* Tile: twice along rows, three times along columns. */
    {"feature_channels=5 height=4 width=9 "
     "size_0=5 stride_0=6 size_1=2 stride_1=0 size_2=2 stride_2=3 size_3=3 stride_3=0 size_4=3 stride_4=1",
     {2, 5, 2, 3}},
    /* Along all three. */
    {"feature_channels=6 height=4 width=6 "
     "size_0=2 stride_0=0 size_1=3 stride_1=4 size_2=2 stride_2=0 size_3=2 stride_3=2 size_4=3 stride_4=0 size_5=2 stride_5=1",
     {1, 3, 2, 2}},
    /* Permuted and repeated. */
    {"feature_channels=2 height=18 width=3 "
     "size_0=2 stride_0=3 size_1=3 stride_1=0 size_2=6 stride_2=6 size_3=3 stride_3=1",
     {1, 6, 2, 3}},
    {"feature_channels=8 height=3 width=4 "
     "size_0=2 stride_0=0 size_1=4 stride_1=6 size_2=3 stride_2=2 size_3=2 stride_3=0 size_4=2 stride_4=1",
     {2, 4, 3, 2}},
    /* Every second number and third row. */
    {"feature_channels=5 height=3 width=4 "
     "size_0=5 stride_0=56 size_1=3 stride_1=24 size_2=4 stride_2=2",
     {2, 5, 7, 8}},
    /* Every fourth channel. */
    {"feature_channels=3 height=2 width=3 "
     "size_0=3 stride_0=24 size_1=6 stride_1=1",
     {1, 9, 2, 3}},
    {"feature_channels=8 height=3 width=2 "
     "size_0=2 stride_0=0 size_1=4 stride_1=6 size_2=6 stride_2=1",
     {1, 9, 3, 2}},
    /* The diagonal, three times. */
    {"feature_channels=3 height=1 width=3 "
     "size_0=3 stride_0=0 size_1=3 stride_1=26",
     {2, 3, 4, 5}},
    /* Parts of the result and of channels. */
    {"feature_channels=4 height=5 width=3 "
     "size_0=4 stride_0=1 size_1=5 stride_1=12 size_2=3 stride_2=4 clip_rect_origin_x=1 clip_rect_origin_y=2 clip_rect_size_width=2 clip_rect_size_height=2",
     {2, 5, 3, 4}},
    {"feature_channels=8 height=3 width=4 "
     "size_0=2 stride_0=0 size_1=4 stride_1=6 size_2=3 stride_2=2 size_3=2 stride_3=0 size_4=2 stride_4=1 clip_rect_origin_x=1 clip_rect_size_width=2 clip_rect_size_height=2",
     {2, 4, 3, 2}},
    {"feature_channels=4 height=3 width=3 "
     "size_0=4 stride_0=1 size_1=3 stride_1=12 size_2=3 stride_2=4 source_feature_channel_offset=4 source_feature_channel_max_count=3",
     {2, 9, 3, 4}},
    {"feature_channels=6 height=2 width=5 "
     "size_0=2 stride_0=0 size_1=30 stride_1=1 destination_feature_channel_offset=4",
     {1, 3, 2, 5}},
    /* Large. */
    {"feature_channels=27 height=28 width=37 "
     "size_0=27 stride_0=1 size_1=28 stride_1=27 size_2=37 stride_2=756",
     {2, 37, 28, 27},
     {0},
     true},
    {"feature_channels=16 height=49 width=96 "
     "size_0=4 stride_0=196 size_1=4 stride_1=7 size_2=7 stride_2=28 size_3=7 stride_3=1 size_4=96 stride_4=784",
     {3, 96, 28, 28},
     {0},
     true},
    {"feature_channels=6 height=64 width=96 "
     "size_0=2 stride_0=0 size_1=3 stride_1=3072 size_2=64 stride_2=48 size_3=2 stride_3=0 size_4=48 stride_4=1",
     {2, 3, 64, 48},
     {0},
     true},
    {"feature_channels=48 height=50 width=40 "
     "size_0=48 stride_0=1 size_1=2000 stride_1=0",
     {2, 48, 1, 1},
     {0},
     true},
    /* Beyond what floats divide. */
    {"feature_channels=256 height=66 width=256 "
     "size_0=256 stride_0=256 size_1=66 stride_1=65536 size_2=256 stride_2=1",
     {1, 66, 256, 256},
     {0},
     true},
    {0}};

const struct glcnn_reference glcnn_reference_strided_view = {reference, cases};
const struct glcnn_reference glcnn_reference_strided_view_gradient = {gradient_reference, cases};
