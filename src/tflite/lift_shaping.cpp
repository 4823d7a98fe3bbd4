/* Shapes: what moves, joins, cuts, widens and resizes. */
#include <algorithm>
#include <cmath>

#include "tflite/lifting.h"

namespace glcnn
{

using tflite::Operation;

/* ---- Another shape ---- */

/* The result has the shape that its tensor has; a batch in front stays of any size. */
static void lift_reshape(Lifting &l)
{
    const int x = l.input(0);
    Shape shape = l.shape(l.output());
    if (count_of(shape) != count_of(l.shape(x)))
        l.damaged("its result has another number of elements than its source");
    if (shape.size() > 1 && l.rank(x) > 0 && shape[0] == l.shape(x)[0])
        shape[0] = 0;
    l.give_plain(l.add("Reshape", {l.row(x), l.sizes(shape)}));
}

static void lift_transpose(Lifting &l)
{
    const int x = l.input(0);
    const std::vector<int64_t> perm = l.wholes(l.input(1), "its axes");
    std::vector<int64_t> sorted = perm;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < l.rank(x); i++)
        if (sorted.size() != l.rank(x) || sorted[i] != int64_t(i))
            l.damaged("its axes are no permutation");
    l.give_plain(l.add("Transpose", {l.plain(x)}, {{"perm", wholes_attribute(perm)}}));
}

/* ---- Parts ---- */

static void lift_concatenation(Lifting &l)
{
    const auto *o = l.made->builtin_options_as_ConcatenationOptions();
    const size_t rank = l.rank(l.output());
    std::vector<std::string> inputs;
    for (size_t k = 0; k < l.input_count(); k++) {
        if (l.rank(l.input(k)) != rank)
            l.damaged("its inputs have other numbers of axes than its result");
        inputs.push_back(l.usual(l.input(k)));
    }
    if (!o || inputs.empty())
        l.damaged("it has no options, or no inputs");
    const int64_t axis = l.usual_axis(o->axis(), rank);
    l.give_usual(
        l.activated(l.add("Concat", inputs, {{"axis", whole_attribute(axis)}}), o->activation()));
}

/* A part of a tensor, by lists of the file's axes. */
static std::string slice(Lifting &l, int x, const std::vector<int64_t> &starts,
                         const std::vector<int64_t> &ends, const std::vector<int64_t> &steps)
{
    std::vector<int64_t> from, to, by, axes;
    for (size_t i = 0; i < starts.size(); i++) {
        if (starts[i] == 0 && ends[i] >= l.shape(x)[i] && steps[i] == 1)
            continue;
        from.push_back(starts[i]);
        to.push_back(ends[i]);
        by.push_back(steps[i]);
        axes.push_back(l.usual_axis(int64_t(i), l.rank(x)));
    }
    if (axes.empty())
        return l.usual(x);
    return l.add("Slice", {l.usual(x), l.sizes(from), l.sizes(to), l.sizes(axes), l.sizes(by)});
}

static void lift_slice(Lifting &l)
{
    const int x = l.input(0);
    const std::vector<int64_t> begin = l.wholes(l.input(1), "its begin");
    std::vector<int64_t> ends = l.wholes(l.input(2), "its size");
    if (begin.size() != l.rank(x) || ends.size() != l.rank(x))
        l.damaged("its begin and size are not of all axes");
    for (size_t i = 0; i < ends.size(); i++) {
        if (begin[i] < 0 || ends[i] < -1 || begin[i] > INT32_MAX || ends[i] > INT32_MAX)
            l.damaged("it begins before its source, or has a size below -1");
        ends[i] = ends[i] < 0 ? l.shape(x)[i] : begin[i] + ends[i];
    }
    l.give_usual(slice(l, x, begin, ends, std::vector<int64_t>(ends.size(), 1)));
}

static void lift_strided_slice(Lifting &l)
{
    const auto *o = l.made->builtin_options_as_StridedSliceOptions();
    const int x = l.input(0);
    std::vector<int64_t> starts = l.wholes(l.input(1), "its begin"),
                         ends = l.wholes(l.input(2), "its end"),
                         steps = l.wholes(l.input(3), "its strides");
    if (!o || starts.size() != l.rank(x) || ends.size() != l.rank(x) || steps.size() != l.rank(x))
        l.damaged("its begin, end and strides are not of all axes");
    if (o->ellipsis_mask() || o->new_axis_mask() || o->offset())
        l.refuse("it has an ellipsis, new axes or ends that count from its begin");
    for (size_t i = 0; i < starts.size(); i++) {
        const int bit = 1 << i;
        const int64_t size = l.shape(x)[i];
        if (steps[i] == 0)
            l.damaged("it has a stride of 0");
        if (o->shrink_axis_mask() & bit) {
            ends[i] = starts[i] == -1 ? size : starts[i] + 1;
            steps[i] = 1;
            continue;
        }
        if (o->begin_mask() & bit)
            starts[i] = steps[i] > 0 ? 0 : size - 1;
        if (o->end_mask() & bit)
            ends[i] = steps[i] > 0 ? size : INT64_MIN;
    }
    const std::string y = slice(l, x, starts, ends, steps);
    if (!o->shrink_axis_mask()) {
        l.give_usual(y);
        return;
    }
    const std::string last =
        l.rank(x) == 4 ? l.add("Transpose", {y}, {{"perm", wholes_attribute({0, 2, 3, 1})}}) : y;
    l.give_plain(l.add("Reshape", {last, l.sizes(l.shape(l.output()))}));
}

static void lift_split(Lifting &l)
{
    const int x = l.input(1);
    const std::vector<int64_t> axes = l.wholes(l.input(0), "its axis");
    const int64_t count = l.made->outputs() ? l.made->outputs()->size() : 0;
    if (axes.size() != 1)
        l.damaged("it splits along more axes than one");
    const int64_t usual = l.usual_axis(axes[0], l.rank(x));
    const size_t axis = size_t(axes[0] < 0 ? axes[0] + int64_t(l.rank(x)) : axes[0]);
    if (count < 1 || l.shape(x)[axis] % count)
        l.damaged("its parts do not fit to its source");
    const int64_t each = l.shape(x)[axis] / count;
    for (int64_t k = 0; k < count; k++)
        l.give_usual(l.add("Slice", {l.usual(x), l.sizes({k * each}), l.sizes({(k + 1) * each}),
                                     l.sizes({usual})}),
                     size_t(k));
}

/* ---- Margins ---- */

static std::string pad(Lifting &l, const std::string &number, const char *mode)
{
    const int x = l.input(0);
    const size_t rank = l.rank(x);
    const std::vector<int64_t> margins = l.wholes(l.input(1), "its margins");
    if (margins.size() != 2 * rank)
        l.damaged("its margins are not of all axes");
    std::vector<int64_t> pads(2 * rank, 0);
    for (size_t i = 0; i < rank; i++) {
        const size_t to = size_t(l.usual_axis(int64_t(i), rank));
        pads[to] = margins[2 * i];
        pads[rank + to] = margins[2 * i + 1];
        if (margins[2 * i] < 0 || margins[2 * i + 1] < 0)
            l.damaged("it has margins below 0");
    }
    std::vector<std::string> inputs = {l.usual(x), l.sizes(pads)};
    if (!number.empty())
        inputs.push_back(number);
    return l.add("Pad", inputs, {{"mode", text_attribute(mode)}});
}

static void lift_pad(Lifting &l)
{
    l.give_usual(pad(l, "", "constant"));
}

static void lift_pad_with(Lifting &l)
{
    const std::vector<float> value = l.reals(l.input(2));
    if (value.size() != 1)
        l.damaged("it has not one number for its margins");
    l.give_usual(pad(l, l.number(value[0]), "constant"));
}

/* A margin of one pixel that repeats it is its edge. */
static void lift_mirror_pad(Lifting &l)
{
    const auto *o = l.made->builtin_options_as_MirrorPadOptions();
    const bool repeats = o && o->mode() == tflite::Mirror::SYMMETRIC;
    const std::vector<int64_t> margins = l.wholes(l.input(1), "its margins");
    for (int64_t margin : margins)
        if (repeats && margin > 1)
            l.refuse("it mirrors more than one pixel with the edge itself");
    l.give_usual(pad(l, "", repeats ? "edge" : "reflect"));
}

/* ---- Blocks and sizes ---- */

static void lift_depth_to_space(Lifting &l)
{
    const auto *o = l.made->builtin_options_as_DepthToSpaceOptions();
    if (!o || o->block_size() < 1)
        l.damaged("it has no size of blocks");
    l.give_picture(
        l.add("DepthToSpace", {l.picture(l.input(0))},
              {{"blocksize", whole_attribute(o->block_size())}, {"mode", text_attribute("DCR")}}));
}

static void lift_space_to_depth(Lifting &l)
{
    const auto *o = l.made->builtin_options_as_SpaceToDepthOptions();
    if (!o || o->block_size() < 1)
        l.damaged("it has no size of blocks");
    l.give_picture(l.add("SpaceToDepth", {l.picture(l.input(0))},
                         {{"blocksize", whole_attribute(o->block_size())}}));
}

/* The least scale of so many pixels by which the result has so many. */
static float scale_of(int64_t source, int64_t result)
{
    float scale = float(double(result) / double(source));
    while (double(scale) * double(source) < double(result))
        scale = std::nextafterf(scale, INFINITY);
    return scale;
}

static void resize(Lifting &l, const char *mode, bool aligned, bool half)
{
    const int x = l.input(0);
    const std::vector<int64_t> size = l.wholes(l.input(1), "its size");
    if (l.rank(x) != 4 || size.size() != 2 || size[0] < 1 || size[1] < 1 || l.shape(x)[1] < 1 ||
        l.shape(x)[2] < 1 || size[0] > INT32_MAX / 65536 || size[1] > INT32_MAX / 65536)
        l.damaged("it resizes what is no picture, or to no size");
    if (aligned && half)
        l.damaged("it has corners that are aligned and centres of pixels");
    const float scales[] = {scale_of(l.shape(x)[1], size[0]), scale_of(l.shape(x)[2], size[1])};
    const bool is_nearest = std::string(mode) == "nearest";
    const std::string name = l.scales(scales[0], scales[1]);
    l.give_picture(
        l.add("Resize", {l.picture(x), "", name},
              {{"mode", text_attribute(mode)},
               {"coordinate_transformation_mode", text_attribute(aligned ? "align_corners"
                                                                 : half  ? "half_pixel"
                                                                         : "asymmetric")},
               {"nearest_mode",
                text_attribute(is_nearest && (aligned || half) ? "round_prefer_ceil" : "floor")}}));
}

static void lift_bilinear(Lifting &l)
{
    const auto *o = l.made->builtin_options_as_ResizeBilinearOptions();
    resize(l, "linear", o && o->align_corners(), o && o->half_pixel_centers());
}

static void lift_nearest(Lifting &l)
{
    const auto *o = l.made->builtin_options_as_ResizeNearestNeighborOptions();
    resize(l, "nearest", o && o->align_corners(), o && o->half_pixel_centers());
}

/* Indices are constants, as those of a nearest neighbour are. */
static void lift_gather(Lifting &l)
{
    const auto *o = l.made->builtin_options_as_GatherOptions();
    const int x = l.input(0), at = l.input(1);
    const int64_t axis = o ? o->axis() : 0;
    if ((o && o->batch_dims()) || l.rank(at) != 1)
        l.refuse("its indices are no list of the whole batch");
    const std::string places = l.sizes(l.wholes(at, "its indices"));
    l.give_usual(l.add("Gather", {l.usual(x), places},
                       {{"axis", whole_attribute(l.usual_axis(axis, l.rank(x)))}}));
}

const LiftingRow lift_shaping[] = {{Operation::CONCATENATION, lift_concatenation},
                                   {Operation::DEPTH_TO_SPACE, lift_depth_to_space},
                                   {Operation::EXPAND_DIMS, lift_reshape},
                                   {Operation::GATHER, lift_gather},
                                   {Operation::MIRROR_PAD, lift_mirror_pad},
                                   {Operation::PAD, lift_pad},
                                   {Operation::PADV2, lift_pad_with},
                                   {Operation::RESHAPE, lift_reshape},
                                   {Operation::RESIZE_BILINEAR, lift_bilinear},
                                   {Operation::RESIZE_NEAREST_NEIGHBOR, lift_nearest},
                                   {Operation::SLICE, lift_slice},
                                   {Operation::SPACE_TO_DEPTH, lift_space_to_depth},
                                   {Operation::SPLIT, lift_split},
                                   {Operation::SQUEEZE, lift_reshape},
                                   {Operation::STRIDED_SLICE, lift_strided_slice},
                                   {Operation::TRANSPOSE, lift_transpose},
                                   {Operation::ADD, nullptr}};

} // namespace glcnn
