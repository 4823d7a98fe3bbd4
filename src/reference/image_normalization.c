/* Normalisation of pictures by given means and deviations: spec 7.15. */
#include "kernels/image_normalization.h"

#include "reference/pointwise.h"

static void reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *to = &r->images[RESULT];
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++) {
                    double x = pointwise_source(w, &r->images[SOURCE], n, c, Y, X);
                    *tensor_at(to, n, c, Y, X) =
                        (x - (r->vectors[MEAN] ? r->vectors[MEAN][c] : 0)) /
                        (r->vectors[DEVIATION] ? r->vectors[DEVIATION][c] : 1);
                }
}

static const struct check_case cases[] = {
    {"", {1, 1, 3, 3}},
    {"", {1, 1, 3, 4}},
    {"", {2, 3, 4, 5}},
    {"", {1, 3, 7, 6}},
    {"", {3, 4, 5, 13}},
    {"", {2, 5, 4, 7}},
    {"", {1, 9, 8, 8}},
    {"offset_x=1 offset_y=-2 destination_width=6 destination_height=7", {2, 3, 5, 6}},
    {"edge_mode=clamp offset_x=-3 offset_y=2 destination_width=9 destination_height=5",
     {2, 5, 4, 5}},
    {"clip_rect_origin_x=1 clip_rect_origin_y=2 clip_rect_size_width=3 clip_rect_size_height=2",
     {2, 6, 6, 7}},
    {"source_feature_channel_offset=4 source_feature_channel_max_count=3", {2, 9, 5, 4}},
    {"", {16, 37, 28, 28}, {0}, true},
    {0}};

const struct glcnn_reference glcnn_reference_image_normalization = {reference, cases};
