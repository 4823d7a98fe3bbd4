/* Resize and Upsample, which give pictures another size. */
#include <algorithm>
#include <cmath>

#include "tflite/lower.h"

namespace glcnn
{

using tflite::Operation;

static constexpr int64_t MOST_PIXELS = 1 << 20; /* of a row or a column */

/* A node asks for these. Positions of Upsample, and of Resize before opset 11, are not centres. */
struct Resizing {
    std::string mode, position, rounding;
    Shape shape;
    std::vector<float> scales; /* of the axes of the shape */
};

static std::vector<int64_t> axes_of(const Lowering &l, size_t rank)
{
    std::vector<int64_t> axes;
    for (size_t i = 0; i < rank; i++)
        axes.push_back(int64_t(i));
    axes = l.wholes("axes", axes);
    for (int64_t &axis : axes)
        axis = l.axis_of(axis, rank);
    return axes;
}

static void read_sizes(const Lowering &l, const Value &x, Resizing &r, bool is_old)
{
    const std::vector<int64_t> axes = axes_of(l, x.shape.size());
    const size_t at = is_old ? 1 : 2;
    const bool has_sizes = !is_old && l.has_input(3);
    const std::vector<int64_t> sizes =
        has_sizes ? l.wholes_of(3, "its sizes") : std::vector<int64_t>(axes.size());
    const std::vector<float> scales = has_sizes         ? std::vector<float>(axes.size())
                                      : l.has_input(at) ? l.constant(at, "its scales").reals
                                                        : l.reals("scales", {});
    if (sizes.size() != axes.size() || scales.size() != axes.size())
        l.refuse("it has another number of scales or sizes than of axes");
    if (l.text("keep_aspect_ratio_policy", "stretch") != "stretch")
        l.refuse("sizes that keep the ratio of sides are not written; give the sizes themselves");
    r.shape = x.shape;
    r.scales.assign(x.shape.size(), 1);
    for (size_t i = 0; i < axes.size(); i++) {
        const size_t axis = size_t(axes[i]);
        const double before = double(x.shape[axis]);
        const double size = has_sizes ? double(sizes[i]) : std::floor(before * double(scales[i]));
        if (!(size >= 1 && size <= double(MOST_PIXELS)) || before < 1)
            l.refuse("it has no source or result, or one of more than " +
                     std::to_string(MOST_PIXELS) + " pixels along an axis");
        r.shape[axis] = int64_t(size);
        r.scales[axis] = has_sizes ? float(size / before) : scales[i];
    }
}

static Resizing resizing_of(const Lowering &l, const Value &x)
{
    const bool is_old = l.opset() < 11 || l.node->op == "Upsample";
    Resizing r;
    r.mode = l.text("mode", "nearest");
    r.position = l.text("coordinate_transformation_mode", is_old ? "asymmetric" : "half_pixel");
    r.rounding = l.text("nearest_mode", is_old ? "floor" : "round_prefer_floor");
    if (r.mode == "bilinear")
        r.mode = "linear";
    if (x.shape.size() != 4 || (r.mode != "nearest" && r.mode != "linear") ||
        l.whole("antialias", 0))
        l.refuse("it resizes by another mode than nearest and linear, or what is no picture");
    read_sizes(l, x, r, is_old);
    if (r.shape[0] != x.shape[0] || r.shape[1] != x.shape[1])
        l.refuse("it resizes batch or channels");
    if (r.position == "pytorch_half_pixel" && r.shape[2] > 1 && r.shape[3] > 1)
        r.position = "half_pixel";
    return r;
}

template <typename Table>
static void give_resized(Lowering &l, Operation operation, const Value &x, const Resizing &r,
                         bool is_aligned, bool is_half)
{
    const Order order = picture_order(4);
    const Numbers numbers = l.numbers_of(x);
    Table options;
    options.align_corners = is_aligned;
    options.half_pixel_centers = is_half;
    l.give(l.make(operation, options_of(options),
                  {l.laid(x, order, numbers), l.out.add_sizes({r.shape[2], r.shape[3]})}, r.shape,
                  order, numbers));
}

/* ---- Which pixels are the nearest ---- */

/* Finds the place in the source of pixel i of the result. The ratio of sizes stands for a scale that is that but for its
 * rounding, so that what lies between two pixels is found exactly. */
static double place_of(const Lowering &l, const Resizing &r, size_t axis, int64_t i, int64_t from)
{
    const double to = double(r.shape[axis]), scale = double(r.scales[axis]);
    const bool is_ratio = std::fabs(scale * double(from) - to) <= 1e-6 * to;
    auto scaled = [&](double place) {
        return is_ratio ? place * double(from) / to : place / scale;
    };
    if (r.position == "asymmetric")
        return scaled(double(i));
    if (r.position == "align_corners")
        return to > 1 ? double(i * (from - 1)) / (to - 1) : 0;
    if (r.position == "pytorch_half_pixel" && r.shape[axis] == 1)
        return 0;
    if (r.position != "half_pixel" && r.position != "pytorch_half_pixel")
        l.refuse("positions " + r.position + " are not written");
    return scaled(double(2 * i + 1)) / 2 - 0.5;
}

static double rounded(const Lowering &l, const std::string &rounding, double place)
{
    if (rounding == "floor")
        return std::floor(place);
    if (rounding == "ceil")
        return std::ceil(place);
    if (rounding == "round_prefer_floor")
        return std::ceil(place - 0.5);
    if (rounding == "round_prefer_ceil")
        return std::floor(place + 0.5);
    l.refuse("its nearest_mode " + rounding + " is not written");
}

static std::vector<int64_t> nearest_of(const Lowering &l, const Resizing &r, size_t axis,
                                       int64_t from)
{
    std::vector<int64_t> places;
    for (int64_t i = 0; i < r.shape[axis]; i++) {
        const double place = rounded(l, r.rounding, place_of(l, r, axis, i, from));
        places.push_back(int64_t(std::clamp(place, 0.0, double(from - 1))));
    }
    return places;
}

/* Interpreters count positions in one of these ways. */
struct Form {
    bool is_aligned, is_half;
};

static std::vector<int64_t> nearest_of_form(const Form &form, int64_t from, int64_t to)
{
    const float scale =
        form.is_aligned && to > 1 ? float(from - 1) / float(to - 1) : float(from) / float(to);
    std::vector<int64_t> places;
    for (int64_t i = 0; i < to; i++) {
        const float place = (float(i) + (form.is_half ? 0.5f : 0.0f)) * scale;
        places.push_back(std::clamp<int64_t>(
            int64_t(form.is_aligned ? std::round(place) : std::floor(place)), 0, from - 1));
    }
    return places;
}

/* The operator of nearest neighbours takes the same pixels in one of its forms, or GATHER takes them. */
static void lower_nearest(Lowering &l, const Value &x, const Resizing &r)
{
    static const Form forms[] = {{false, true}, {false, false}, {true, false}};
    const std::vector<int64_t> rows = nearest_of(l, r, 2, x.shape[2]),
                               columns = nearest_of(l, r, 3, x.shape[3]);
    for (const Form &form : forms)
        if (rows == nearest_of_form(form, x.shape[2], r.shape[2]) &&
            columns == nearest_of_form(form, x.shape[3], r.shape[3]))
            return give_resized<tflite::ResizeNearestNeighborOptionsT>(
                l, Operation::RESIZE_NEAREST_NEIGHBOR, x, r, form.is_aligned, form.is_half);
    l.give(l.gathered(l.gathered(x, 2, rows), 3, columns));
}

/* ---- Between pixels ---- */

/* Positions are counted by the ratio of sizes: a scale that gives another one is refused. */
static void lower_linear(Lowering &l, const Value &x, const Resizing &r)
{
    const bool is_half = r.position == "half_pixel", is_aligned = r.position == "align_corners";
    if (!is_half && !is_aligned && r.position != "asymmetric")
        l.refuse("positions " + r.position + " are not written");
    for (size_t i = 2; i < 4 && !is_aligned; i++)
        if (std::fabs(r.scales[i] * float(x.shape[i]) - float(r.shape[i])) > 1e-3f)
            l.refuse("its scales give no whole number of pixels");
    give_resized<tflite::ResizeBilinearOptionsT>(l, Operation::RESIZE_BILINEAR, x, r, is_aligned,
                                                 is_half);
}

static void lower_resize(Lowering &l)
{
    const Value &x = l.input(0);
    const Resizing r = resizing_of(l, x);
    r.mode == "linear" ? lower_linear(l, x, r) : lower_nearest(l, x, r);
}

const LoweringRow lower_resizing[] = {
    {"Resize", lower_resize}, {"Upsample", lower_resize}, {nullptr, nullptr}};

} // namespace glcnn
