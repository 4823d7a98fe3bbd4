/* Shapes: what moves, repeats, joins, cuts and resizes, and what is computed of constants. */
#include <algorithm>
#include <cmath>

#include "tflite/lower.h"

namespace glcnn
{

using tflite::Operation;

/* ---- Another shape ---- */

static void lower_reshape(Lowering &l)
{
    const Value &x = l.input(0);
    const std::vector<int64_t> wanted = l.wholes_of(1, "its shape");
    Shape shape = wanted;
    int64_t known = 1, open = -1;
    for (size_t i = 0; i < shape.size(); i++) {
        if (shape[i] == 0 && !l.whole("allowzero", 0)) {
            if (i >= x.shape.size())
                l.refuse("its shape copies an axis that its source lacks");
            shape[i] = x.shape[i];
        }
        if (shape[i] < 0)
            open = int64_t(i);
        else
            known = count_of({known, shape[i]});
    }
    if (open >= 0)
        shape[size_t(open)] = known ? count_of(x.shape) / known : 0;
    if (count_of(shape) != count_of(x.shape))
        l.refuse("its shape has another number of elements than its source");
    l.give(l.reshaped(x, shape));
}

static void lower_flatten(Lowering &l)
{
    const Value &x = l.input(0);
    const int64_t axis = l.whole("axis", 1), rank = int64_t(x.shape.size());
    const int64_t first = axis < 0 ? axis + rank : axis;
    if (first < 0 || first > rank)
        l.refuse("its axis is none of its source's");
    const Shape front(x.shape.begin(), x.shape.begin() + first);
    l.give(l.reshaped(
        x, {count_of(front), count_of(x.shape) / std::max<int64_t>(count_of(front), 1)}));
}

static void lower_squeeze(Lowering &l)
{
    const Value &x = l.input(0);
    const std::vector<int64_t> axes = l.wholes_of(1, "axes", "its axes");
    std::vector<bool> leaves(x.shape.size(), false);
    for (int64_t axis : axes)
        leaves[size_t(l.axis_of(axis, x.shape.size()))] = true;
    Shape shape;
    for (size_t i = 0; i < x.shape.size(); i++)
        if (!(leaves[i] || (axes.empty() && x.shape[i] == 1)))
            shape.push_back(x.shape[i]);
    l.give(l.reshaped(x, shape));
}

static void lower_unsqueeze(Lowering &l)
{
    const Value &x = l.input(0);
    const std::vector<int64_t> axes = l.wholes_of(1, "axes", "its axes");
    const size_t rank = x.shape.size() + axes.size();
    std::vector<bool> is_new(rank, false);
    for (int64_t axis : axes)
        is_new[size_t(l.axis_of(axis, rank))] = true;
    Shape shape;
    size_t from = 0;
    for (size_t i = 0; i < rank; i++)
        shape.push_back(is_new[i] || from == x.shape.size() ? 1 : x.shape[from++]);
    l.give(l.reshaped(x, shape));
}

/* The tensor stays; its axes are others. */
static void lower_transpose(Lowering &l)
{
    const Value &x = l.input(0);
    const size_t rank = x.shape.size();
    std::vector<int64_t> perm;
    for (size_t i = rank; i-- > 0;)
        perm.push_back(int64_t(i));
    perm = l.wholes("perm", perm);
    std::vector<int> place(rank, -1);
    Value y = x;
    if (perm.size() != rank)
        l.refuse("perm has another number of axes than its source");
    for (size_t i = 0; i < rank; i++) {
        const size_t from = size_t(l.axis_of(perm[i], rank));
        if (place[from] >= 0)
            l.refuse("perm has an axis twice");
        place[from] = int(i);
        y.shape[i] = x.shape[from];
    }
    if (x.is_constant)
        l.refuse("it moves a constant");
    for (int &axis : y.order)
        axis = place[size_t(axis)];
    l.give(y);
}

/* ---- Parts and repetitions ---- */

static void lower_concat(Lowering &l)
{
    const Value &first = l.input(0);
    const size_t rank = first.shape.size();
    const int64_t axis = l.axis_of(l.whole("axis", 0), rank);
    const Value *leads = &first;
    bool have_bytes = true;
    for (size_t k = 0; k < l.node->inputs.size(); k++) {
        const Value &x = l.input(k);
        if (x.shape.size() != rank)
            l.refuse("its inputs have different numbers of axes");
        if (leads->is_constant)
            leads = &x;
        have_bytes = have_bytes && l.has_bytes(x);
    }
    const Numbers wanted = have_bytes ? l.numbers_for({leads}, false) : Numbers{};
    const Numbers numbers = wanted.are_bytes() || !have_bytes ? wanted : l.numbers_of(*leads);
    const Order order = l.order_of(*leads);
    Shape shape = first.shape;
    shape[size_t(axis)] = 0;
    std::vector<int> parts;
    for (size_t k = 0; k < l.node->inputs.size(); k++) {
        const Value &x = l.input(k);
        shape[size_t(axis)] += x.shape[size_t(axis)];
        for (size_t i = 0; i < rank; i++)
            if (int64_t(i) != axis && x.shape[i] != shape[i])
                l.refuse("its inputs have sizes that do not fit together");
        parts.push_back(
            l.laid(numbers.are_bytes() ? l.requantised(x, numbers.result) : x, order, numbers));
    }
    tflite::ConcatenationOptionsT options;
    options.axis = int32_t(std::find(order.begin(), order.end(), int(axis)) - order.begin());
    l.give(l.make(Operation::CONCATENATION, options_of(options), parts, shape, order, numbers));
}

/* One axis of a slice, as ONNX counts: from behind where it is below 0, and never beyond the ends. */
struct Range {
    int64_t start, end, step;
};

static Range range_of(int64_t start, int64_t end, int64_t step, int64_t size)
{
    const int64_t least = step < 0 ? -1 : 0, most = step < 0 ? size - 1 : size;
    auto from_front = [&](int64_t at) { return std::clamp(at < 0 ? at + size : at, least, most); };
    Range r = {from_front(start), from_front(end), step};
    if (step < 0 && end < -size)
        r.end = -1;
    return r;
}

static void lower_slice(Lowering &l)
{
    const Value &x = l.input(0);
    const size_t rank = x.shape.size();
    const bool is_old = !l.has_input(1);
    const std::vector<int64_t> starts = is_old ? l.wholes("starts", {}) : l.wholes_of(1, "starts"),
                               ends = is_old ? l.wholes("ends", {}) : l.wholes_of(2, "ends");
    std::vector<int64_t> axes = is_old ? l.wholes("axes", {}) : std::vector<int64_t>(), steps;
    if (l.has_input(3))
        axes = l.wholes_of(3, "axes");
    if (axes.empty())
        for (size_t i = 0; i < starts.size(); i++)
            axes.push_back(int64_t(i));
    steps = l.has_input(4) ? l.wholes_of(4, "steps") : std::vector<int64_t>(axes.size(), 1);
    if (starts.size() != axes.size() || ends.size() != axes.size() || steps.size() != axes.size())
        l.refuse("starts, ends, axes and steps are of different lengths");
    std::vector<Range> ranges;
    for (int64_t size : x.shape)
        ranges.push_back({0, size, 1});
    for (size_t i = 0; i < axes.size(); i++) {
        const size_t axis = size_t(l.axis_of(axes[i], rank));
        if (steps[i] == 0)
            l.refuse("it has a step of 0");
        ranges[axis] = range_of(starts[i], ends[i], steps[i], x.shape[axis]);
    }
    Shape shape;
    bool has_steps = false;
    std::vector<int64_t> begin;
    for (const Range &r : ranges) {
        const int64_t span = r.step > 0 ? r.end - r.start : r.start - r.end;
        const int64_t step = std::abs(r.step);
        shape.push_back(span > 0 ? (span + step - 1) / step : 0);
        begin.push_back(r.start);
        has_steps = has_steps || r.step != 1;
        if (shape.back() == 0)
            l.refuse("nothing is left of its source");
    }
    if (!has_steps) {
        l.give(l.cut(x, begin, shape));
        return;
    }
    const Order order = l.order_of(x);
    const Numbers numbers = l.numbers_of(x);
    std::vector<int64_t> from, to, by;
    tflite::StridedSliceOptionsT options;
    for (size_t i = 0; i < rank; i++) {
        const Range &r = ranges[size_t(order[i])];
        from.push_back(r.start);
        to.push_back(r.end);
        by.push_back(r.step);
        if (r.end < 0) /* before the first one */
            options.end_mask |= 1 << i;
    }
    l.give(l.make(Operation::STRIDED_SLICE, options_of(options),
                  {l.laid(x, order, numbers), l.out.add_sizes(from), l.out.add_sizes(to),
                   l.out.add_sizes(by)},
                  shape, order, numbers));
}

/* Places along an axis, of a list or one, which then is no axis of the result. */
static void lower_gather(Lowering &l)
{
    const Value &x = l.input(0);
    const size_t axis = size_t(l.axis_of(l.whole("axis", 0), x.shape.size()));
    std::vector<int64_t> places = l.wholes_of(1, "its indices");
    const Shape list = l.input(1).shape;
    if (list.size() > 1 || places.empty())
        l.refuse("its indices are no list");
    for (int64_t &place : places) {
        place += place < 0 ? x.shape[axis] : 0;
        if (place < 0 || place >= x.shape[axis])
            l.refuse("it has an index beyond its source");
    }
    const Value y = l.gathered(x, axis, places);
    Shape shape = y.shape;
    if (list.empty())
        shape.erase(shape.begin() + int64_t(axis));
    l.give(list.empty() ? l.reshaped(y, shape) : y);
}

static void lower_split(Lowering &l)
{
    const Value &x = l.input(0);
    const size_t axis = size_t(l.axis_of(l.whole("axis", 0), x.shape.size()));
    const int64_t count = int64_t(l.node->outputs.size());
    std::vector<int64_t> sizes = l.wholes_of(1, "split", "its sizes");
    if (sizes.empty())
        sizes.assign(size_t(count), x.shape[axis] / std::max<int64_t>(count, 1));
    std::vector<int64_t> begin(x.shape.size(), 0);
    for (size_t k = 0; k < size_t(count) && k < sizes.size(); k++) {
        Shape shape = x.shape;
        shape[axis] = sizes[k];
        if (sizes[k] < 1 || begin[axis] + sizes[k] > x.shape[axis])
            l.refuse("its sizes do not fit to its source");
        l.give(l.cut(x, begin, shape), k);
        begin[axis] += sizes[k];
    }
}

static void lower_pad(Lowering &l)
{
    const Value &x = l.input(0);
    const size_t rank = x.shape.size();
    const std::vector<int64_t> pads = l.wholes_of(1, "pads", "its margins");
    const std::string mode = l.text("mode", "constant");
    const float value = l.has_input(2) ? l.real_of(2, "its number") : l.real("value", 0);
    if (pads.size() != 2 * rank || l.has_input(3))
        l.refuse("its margins are not of all axes");
    const std::vector<int64_t> before(pads.begin(), pads.begin() + int64_t(rank)),
        after(pads.begin() + int64_t(rank), pads.end());
    if (mode == "constant") {
        l.give(l.padded(x, before, after, value));
        return;
    }
    if (mode != "reflect" && mode != "edge")
        l.refuse("mode " + mode + " is not written");
    /* The outermost pixels are mirrored once, of which a margin of one pixel is made; wider ones in steps. */
    const Order order = l.order_of(x);
    Value y = x;
    std::vector<int64_t> left = before, right = after;
    for (;;) {
        Shape shape = y.shape;
        std::vector<int64_t> margins;
        bool is_done = true;
        for (int axis : order) {
            const size_t i = size_t(axis);
            const int64_t most = mode == "reflect" ? INT64_MAX : 1;
            const int64_t a = std::min(left[i], most), b = std::min(right[i], most);
            if (a < 0 || b < 0 || (mode == "reflect" && std::max(a, b) >= x.shape[i]))
                l.refuse("it has margins below 0, or wider than its source");
            margins.push_back(a);
            margins.push_back(b);
            shape[i] += a + b;
            left[i] -= a;
            right[i] -= b;
            is_done = is_done && a == 0 && b == 0;
        }
        if (is_done)
            break;
        tflite::MirrorPadOptionsT options;
        options.mode = mode == "reflect" ? tflite::Mirror::REFLECT : tflite::Mirror::SYMMETRIC;
        const Numbers numbers = l.numbers_of(y);
        const int tensor = l.out.add_wholes(l.node->name + ".margins", {int64_t(rank), 2}, margins,
                                            tflite::TensorType::INT32);
        y = l.make(Operation::MIRROR_PAD, options_of(options), {l.laid(y, order, numbers), tensor},
                   shape, order, numbers);
    }
    l.give(y);
}

static void lower_expand(Lowering &l)
{
    const Value &x = l.input(0);
    Shape shape = l.wholes_of(1, "its shape");
    Shape from = x.shape;
    from.insert(from.begin(), shape.size() > from.size() ? shape.size() - from.size() : 0, 1);
    shape.insert(shape.begin(), from.size() - shape.size(), 1);
    std::vector<int64_t> times;
    const Value wide = from == x.shape ? x : l.reshaped(x, from);
    bool is_same = true;
    for (size_t i = 0; i < shape.size(); i++) {
        shape[i] = std::max(shape[i], from[i]);
        if (from[i] != 1 && from[i] != shape[i])
            l.refuse("its shape does not fit to its source");
        times.push_back(shape[i] / std::max<int64_t>(from[i], 1));
        is_same = is_same && times.back() == 1;
    }
    if (is_same) {
        l.give(wide);
        return;
    }
    const Order order = l.order_of(wide);
    std::vector<int64_t> ordered;
    for (int axis : order)
        ordered.push_back(times[size_t(axis)]);
    const Value reals = l.as_reals(wide);
    l.give(l.make(Operation::TILE, {}, {l.laid(reals, order, {}), l.out.add_sizes(ordered)}, shape,
                  order, {}));
}

/* ---- Blocks ---- */

static Value laid_value(Lowering &l, const Value &x, const Order &order)
{
    Value y = x;
    y.tensor = l.laid(x, order, l.numbers_of(x));
    y.order = order;
    return y;
}

/* Interpreters have the order DCR alone: channels are put into it before. */
static Value in_blocks(Lowering &l, const Value &x, int64_t block, bool is_crd)
{
    if (!is_crd)
        return x;
    const int64_t inner = x.shape[1] / (block * block), pixels = x.shape[2] * x.shape[3];
    const Value last = laid_value(l, x, picture_order(4));
    Value flat = l.make(Operation::RESHAPE, {},
                        {last.tensor, l.out.add_sizes({pixels, inner, block * block, 1})},
                        {pixels, inner, block * block, 1}, plain_order(4), l.numbers_of(x));
    std::swap(flat.shape[1], flat.shape[2]);
    flat.order = {0, 2, 1, 3};
    const Value moved = laid_value(l, flat, plain_order(4));
    const Shape sizes = {x.shape[0], x.shape[2], x.shape[3], x.shape[1]};
    return l.make(Operation::RESHAPE, {}, {moved.tensor, l.out.add_sizes(sizes)}, x.shape,
                  picture_order(4), l.numbers_of(x));
}

static void lower_depth_to_space(Lowering &l)
{
    const Value &x = l.input(0);
    const int64_t block = l.whole("blocksize", 0);
    if (x.shape.size() != 4 || block < 1 || block > 4096 || x.shape[1] % (block * block))
        l.refuse("its blocks do not fit to its source");
    const Value y = in_blocks(l, x, block, l.text("mode", "DCR") == "CRD" && x.shape[0] == 1);
    if (l.text("mode", "DCR") == "CRD" && x.shape[0] != 1)
        l.refuse("of a batch the mode CRD is not written");
    tflite::DepthToSpaceOptionsT options;
    options.block_size = int32_t(block);
    const Numbers numbers = l.numbers_of(y);
    l.give(l.make(
        Operation::DEPTH_TO_SPACE, options_of(options), {l.laid(y, picture_order(4), numbers)},
        {x.shape[0], x.shape[1] / (block * block), x.shape[2] * block, x.shape[3] * block},
        picture_order(4), numbers));
}

static void lower_space_to_depth(Lowering &l)
{
    const Value &x = l.input(0);
    const int64_t block = l.whole("blocksize", 0);
    if (x.shape.size() != 4 || block < 1 || x.shape[2] % block || x.shape[3] % block)
        l.refuse("its blocks do not fit to its source");
    tflite::SpaceToDepthOptionsT options;
    options.block_size = int32_t(block);
    const Numbers numbers = l.numbers_of(x);
    l.give(l.make(Operation::SPACE_TO_DEPTH, options_of(options),
                  {l.laid(x, picture_order(4), numbers)},
                  {x.shape[0], x.shape[1] * block * block, x.shape[2] / block, x.shape[3] / block},
                  picture_order(4), numbers));
}

const LoweringRow lower_shaping[] = {{"Concat", lower_concat},
                                     {"DepthToSpace", lower_depth_to_space},
                                     {"Expand", lower_expand},
                                     {"Flatten", lower_flatten},
                                     {"Gather", lower_gather},
                                     {"Pad", lower_pad},
                                     {"Reshape", lower_reshape},
                                     {"Slice", lower_slice},
                                     {"SpaceToDepth", lower_space_to_depth},
                                     {"Split", lower_split},
                                     {"Squeeze", lower_squeeze},
                                     {"Transpose", lower_transpose},
                                     {"Unsqueeze", lower_unsqueeze},
                                     {nullptr, nullptr}};

/* ---- Constants ---- */

static void give_constant(Lowering &l, Constant constant)
{
    Value v;
    v.is_constant = true;
    v.shape = constant.shape;
    v.constant = std::move(constant);
    l.give(v);
}

static Constant list_of(const std::vector<int64_t> &values)
{
    return {Type::INT64, {int64_t(values.size())}, {}, values};
}

/* Some of the numbers of a list, by their places. */
static void fold_gather(Lowering &l)
{
    const Constant &list = l.constant(0, "its source"), &places = l.constant(1, "its indices");
    std::vector<int64_t> values;
    for (int64_t at : places.wholes)
        values.push_back(list.wholes[size_t(l.axis_of(at, list.wholes.size()))]);
    give_constant(l, {Type::INT64, places.shape, {}, values});
}

static void fold_concat(Lowering &l)
{
    std::vector<int64_t> values;
    for (size_t k = 0; k < l.node->inputs.size(); k++) {
        const Constant &c = l.constant(k, "its input");
        values.insert(values.end(), c.wholes.begin(), c.wholes.end());
    }
    give_constant(l, list_of(values));
}

static bool are_whole_constants(const Lowering &l)
{
    for (size_t k = 0; k < l.node->inputs.size(); k++)
        if (!l.has_input(k) || !l.input(k).is_constant || l.input(k).constant.type == Type::FLOAT ||
            !l.input(k).quantisation.is_none())
            return false;
    return true;
}

bool fold_constants(Lowering &l)
{
    const std::string &op = l.node->op;
    if (op == "Constant") {
        const auto value = l.node->attributes.find("value");
        if (value == l.node->attributes.end())
            l.refuse("it has no tensor");
        give_constant(l, value->second.constant);
        return true;
    }
    if (op == "Shape") {
        give_constant(l, list_of(l.input(0).shape));
        return true;
    }
    if ((op == "Gather" || op == "Concat") && are_whole_constants(l)) {
        op == "Gather" ? fold_gather(l) : fold_concat(l);
        return true;
    }
    return false;
}

} // namespace glcnn
