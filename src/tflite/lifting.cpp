/* The walk over a .tflite file's operators, its tensors and its constants. */
#include "tflite/lifting.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tflite/failure.h"
#include "tflite/lift.h"

namespace glcnn
{

using tflite::Activation;
using tflite::Operation;
using tflite::TensorType;

enum { MOST_RANK = 8, MOST_TABLES = 1000000, MOST_DEPTH = 64 };

/* Numbers that constants may have for each byte of the file; weights of 8 bits that are sparse need the most. */
static constexpr size_t NUMBERS_PER_BYTE = 16;
static constexpr size_t LEAST_BUDGET = 65536;

/* ---- The file ---- */

Lifting::Lifting(const uint8_t *file_bytes, size_t file_size) : bytes(file_bytes), size(file_size)
{
    if (size < 8 || std::memcmp(bytes + 4, tflite::ModelIdentifier(), 4) != 0)
        fail_malformed("these are no bytes of a .tflite file: \"TFL3\" is missing at its begin");
    flatbuffers::Verifier verifier(bytes, size, MOST_DEPTH, MOST_TABLES);
    if (size >= FLATBUFFERS_MAX_BUFFER_SIZE || !tflite::VerifyModelBuffer(verifier))
        fail_malformed("the .tflite file is damaged or cut off: its tables point beyond it");
    file = tflite::GetModel(bytes);
    if (!file->subgraphs() || file->subgraphs()->size() == 0 || !file->buffers() ||
        !file->operator_codes())
        fail_malformed("the .tflite file has no subgraph, no buffers or no operators");
    graph = file->subgraphs()->Get(0);
    if (!graph->tensors() || !graph->inputs() || !graph->outputs() || !graph->operators())
        fail_malformed(
            "the subgraph of the .tflite file lacks tensors, inputs, outputs or operators");
    budget = std::max(size * NUMBERS_PER_BYTE, LEAST_BUDGET);
    check_tensors();
}

void Lifting::check_tensors()
{
    for (uint32_t i = 0; i < graph->tensors()->size(); i++) {
        const tflite::Tensor *t = graph->tensors()->Get(i);
        Shape sizes;
        for (uint32_t k = 0; t->shape() && k < t->shape()->size(); k++)
            sizes.push_back(t->shape()->Get(k));
        if (sizes.size() > MOST_RANK)
            fail_unsupported("tensor " + std::to_string(i) + " has " +
                             std::to_string(sizes.size()) + " axes");
        count_of(sizes);
        if (t->buffer() >= file->buffers()->size())
            fail_malformed("tensor " + std::to_string(i) + " has buffer " +
                           std::to_string(t->buffer()) + ", of " +
                           std::to_string(file->buffers()->size()));
        shapes.push_back(sizes);
    }
}

std::string Lifting::note() const
{
    std::string said;
    if (drops_roundings)
        said = "the file rounds its activations to 8 bits; the model computes them as reals, "
               "and weights as the reals that they stand for";
    if (drops_metadata)
        said += std::string(said.empty() ? "" : "; ") +
                "the file's metadata that are no text are left out";
    return said;
}

/* ---- The operator ---- */

void Lifting::refuse(const std::string &why) const
{
    fail_unsupported("operator \"" + label + "\": " + why);
}

void Lifting::damaged(const std::string &why) const
{
    fail_malformed("operator \"" + label + "\": " + why);
}

size_t Lifting::input_count() const
{
    return made->inputs() ? made->inputs()->size() : 0;
}

bool Lifting::has_input(size_t k) const
{
    return k < input_count() && made->inputs()->Get(uint32_t(k)) >= 0;
}

int Lifting::input(size_t k) const
{
    if (!has_input(k))
        damaged("it lacks its input " + std::to_string(k));
    const int tensor = made->inputs()->Get(uint32_t(k));
    if (size_t(tensor) >= shapes.size())
        damaged("it reads tensor " + std::to_string(tensor) + ", of " +
                std::to_string(shapes.size()));
    return tensor;
}

int Lifting::output(size_t k) const
{
    const int tensor =
        made->outputs() && k < made->outputs()->size() ? made->outputs()->Get(uint32_t(k)) : -1;
    if (tensor < 0 || size_t(tensor) >= shapes.size())
        damaged("it has no output " + std::to_string(k) + ", or one that is no tensor");
    return tensor;
}

/* ---- Constants ---- */

const Shape &Lifting::shape(int tensor) const
{
    return shapes[size_t(tensor)];
}

int Lifting::constant_source(int tensor) const
{
    for (size_t steps = 0; steps <= aliases.size(); steps++) {
        const auto found = aliases.find(tensor);
        if (found == aliases.end())
            break;
        tensor = found->second;
    }
    return tensor;
}

static const flatbuffers::Vector<uint8_t> *data_of(const tflite::Model *file,
                                                   const tflite::Tensor &t)
{
    const tflite::Buffer *buffer = file->buffers()->Get(t.buffer());
    return buffer->data() && buffer->data()->size() ? buffer->data() : nullptr;
}

bool Lifting::is_constant(int tensor) const
{
    const int source = constant_source(tensor);
    return !is_made.count(source) &&
           data_of(file, *graph->tensors()->Get(uint32_t(source))) != nullptr;
}

void Lifting::alias(int of, int from)
{
    if (of == from || is_made.count(of) || aliases.count(of))
        damaged("its result is made twice");
    aliases[of] = from;
}

/* A file names one buffer as often as it likes. */
void Lifting::spend(size_t numbers)
{
    if (numbers > budget)
        fail_malformed(
            "the constants of the .tflite file have far more numbers than the file has bytes");
    budget -= numbers;
}

static float half_to_float(uint16_t half)
{
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    const float sign = half & 0x8000 ? -1.0f : 1.0f;
    if (exponent == 31)
        return fraction ? NAN : sign * INFINITY;
    return sign * (exponent ? std::ldexp(float(fraction + 1024), exponent - 25)
                            : std::ldexp(float(fraction), -24));
}

template <typename T> static T number_at(const uint8_t *data, size_t i)
{
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    return value;
}

static size_t width_of(TensorType type)
{
    switch (type) {
    case TensorType::FLOAT16:
        return 2;
    case TensorType::FLOAT32:
    case TensorType::INT32:
        return 4;
    case TensorType::INT64:
        return 8;
    case TensorType::INT8:
    case TensorType::UINT8:
    case TensorType::BOOL:
        return 1;
    }
    return 0;
}

static double stored_number(TensorType type, const uint8_t *data, size_t i)
{
    switch (type) {
    case TensorType::FLOAT32:
        return double(number_at<float>(data, i));
    case TensorType::FLOAT16:
        return double(half_to_float(number_at<uint16_t>(data, i)));
    case TensorType::INT32:
        return number_at<int32_t>(data, i);
    case TensorType::INT64:
        return double(number_at<int64_t>(data, i));
    case TensorType::INT8:
        return number_at<int8_t>(data, i);
    default:
        return data[i];
    }
}

/* The numbers of a buffer: all of a tensor, or of a sparse one those that are stored. */
std::vector<float> Lifting::stored_reals(const tflite::Tensor &t)
{
    const auto *data = data_of(file, t);
    const size_t width = width_of(t.type());
    const std::string name = t.name() ? t.name()->str() : "";
    if (!data || !width)
        fail_unsupported("tensor \"" + name + "\" has numbers of type " +
                         std::to_string(int(t.type())) + ", or none");
    const size_t count = data->size() / width;
    spend(count);
    std::vector<float> values(count);
    const auto *q = t.quantization();
    const auto *scales = q ? q->scale() : nullptr;
    const auto *zeros = q ? q->zero_point() : nullptr;
    const size_t scale_count = scales ? scales->size() : 0;
    if (q && q->details_type() != tflite::QuantizationDetails::NONE)
        fail_unsupported("tensor \"" + name + "\" is quantised in a way of its own");
    size_t after = 1;
    if (scale_count > 1) {
        const int axis = q->quantized_dimension();
        if (!t.shape() || axis < 0 || uint32_t(axis) >= t.shape()->size() ||
            size_t(t.shape()->Get(uint32_t(axis))) != scale_count)
            fail_malformed("tensor \"" + name + "\" has scales that do not fit to its shape");
        for (uint32_t k = uint32_t(axis) + 1; k < t.shape()->size(); k++)
            after *= size_t(t.shape()->Get(k));
    }
    for (size_t i = 0; i < count; i++) {
        double value = stored_number(t.type(), data->data(), i);
        if (scale_count) {
            const size_t k = scale_count == 1 ? 0 : i / std::max<size_t>(after, 1) % scale_count;
            const int64_t zero = zeros && zeros->size()
                                     ? zeros->Get(uint32_t(std::min<size_t>(k, zeros->size() - 1)))
                                     : 0;
            value = double(scales->Get(uint32_t(k))) * (value - double(zero));
        }
        values[i] = float(value);
    }
    return values;
}

/* ---- Sparse constants ---- */

/* A list of indices, of 8, 16 or 32 bits. */
static std::vector<int64_t> indices_of(tflite::SparseIndexVector type, const void *vector)
{
    std::vector<int64_t> values;
    auto copy = [&values](const auto *list) {
        if (list)
            values.assign(list->begin(), list->end());
    };
    switch (type) {
    case tflite::SparseIndexVector::Int32Vector:
        copy(static_cast<const tflite::Int32Vector *>(vector)->values());
        break;
    case tflite::SparseIndexVector::Uint16Vector:
        copy(static_cast<const tflite::Uint16Vector *>(vector)->values());
        break;
    case tflite::SparseIndexVector::Uint8Vector:
        copy(static_cast<const tflite::Uint8Vector *>(vector)->values());
        break;
    default:
        break;
    }
    return values;
}

/* A level of the tree in which a sparse tensor is stored: all places of an axis, or those that are listed. */
struct Level {
    bool is_dense = true;
    int64_t size = 0; /* of a dense one */
    std::vector<int64_t> segments, places;
};

/* Walks the tree of levels, and gives each stored number its places. */
class SparseWalk
{
  public:
    std::vector<Level> levels;
    size_t steps = 0, most_steps = 0, next = 0;
    std::vector<int64_t> at;

    template <typename Visit> void walk(size_t level, int64_t position, const Visit &visit)
    {
        if (++steps > most_steps)
            fail_malformed("a sparse tensor has more places than its shape");
        if (level == levels.size()) {
            visit(at, next++);
            return;
        }
        const Level &l = levels[level];
        if (l.is_dense) {
            for (int64_t i = 0; i < l.size; i++) {
                at[level] = i;
                walk(level + 1, position * l.size + i, visit);
            }
            return;
        }
        if (position < 0 || size_t(position) + 1 >= l.segments.size())
            fail_malformed("a sparse tensor has fewer segments than it needs");
        const int64_t end = l.segments[size_t(position) + 1];
        for (int64_t i = l.segments[size_t(position)]; i < end; i++) {
            if (i < 0 || size_t(i) >= l.places.size())
                fail_malformed("a sparse tensor has fewer indices than its segments want");
            at[level] = l.places[size_t(i)];
            walk(level + 1, i, visit);
        }
    }
};

/* The levels are axes of the shape in some order, and behind them blocks within some of these. */
std::vector<float> Lifting::dense(const tflite::Tensor &t, const std::vector<float> &values)
{
    const auto *s = t.sparsity();
    Shape sizes;
    for (uint32_t k = 0; t.shape() && k < t.shape()->size(); k++)
        sizes.push_back(t.shape()->Get(k));
    const size_t rank = sizes.size(), count = size_t(count_of(sizes));
    const size_t blocks = s->block_map() ? s->block_map()->size() : 0;
    const size_t levels = s->dim_metadata() ? s->dim_metadata()->size() : 0;
    if (!s->traversal_order() || s->traversal_order()->size() != levels ||
        levels != rank + blocks || levels > 2 * MOST_RANK)
        fail_malformed("a sparse tensor has levels that do not fit to its shape");
    spend(count);
    SparseWalk w;
    w.most_steps = (count + 1) * (levels + 1);
    w.at.assign(levels, 0);
    std::vector<size_t> axis_of(levels);
    std::vector<int64_t> block(rank, 1);
    for (uint32_t k = 0; k < levels; k++) {
        const int order = s->traversal_order()->Get(k);
        if (order < 0 || size_t(order) >= levels)
            fail_malformed("a sparse tensor has a level of no axis");
        axis_of[k] = size_t(order);
        const auto *m = s->dim_metadata()->Get(k);
        Level level;
        level.is_dense = m->format() == tflite::DimensionType::DENSE;
        level.size = m->dense_size();
        if (level.is_dense && (level.size < 0 || size_t(level.size) > count))
            fail_malformed("a sparse tensor has a level larger than its shape");
        if (!level.is_dense && m->array_segments() && m->array_indices()) {
            level.segments = indices_of(m->array_segments_type(), m->array_segments());
            level.places = indices_of(m->array_indices_type(), m->array_indices());
        }
        w.levels.push_back(std::move(level));
    }
    for (size_t b = 0; b < blocks; b++) {
        const int of = s->block_map()->Get(uint32_t(b));
        if (of < 0 || size_t(of) >= rank)
            fail_malformed("a sparse tensor has blocks of no axis");
        for (size_t k = 0; k < levels; k++)
            if (axis_of[k] == rank + b) {
                if (!w.levels[k].is_dense || w.levels[k].size < 1)
                    fail_malformed("a sparse tensor has blocks that are not dense");
                block[size_t(of)] = w.levels[k].size;
            }
    }
    std::vector<float> whole(count, 0);
    w.walk(0, 0, [&](const std::vector<int64_t> &at, size_t k) {
        std::vector<int64_t> place(rank, 0);
        for (size_t level = 0; level < levels; level++)
            if (axis_of[level] < rank)
                place[axis_of[level]] += at[level] * block[axis_of[level]];
            else
                place[size_t(s->block_map()->Get(uint32_t(axis_of[level] - rank)))] += at[level];
        size_t to = 0;
        for (size_t i = 0; i < rank; i++) {
            if (place[i] < 0 || place[i] >= sizes[i])
                fail_malformed("a sparse tensor has a number outside of its shape");
            to = to * size_t(sizes[i]) + size_t(place[i]);
        }
        if (k >= values.size())
            fail_malformed("a sparse tensor has fewer numbers than places");
        whole[to] = values[k];
    });
    return whole;
}

std::vector<float> Lifting::reals(int tensor)
{
    if (!is_constant(tensor))
        refuse("tensor \"" + tensor_name(tensor) + "\" must be constant");
    const tflite::Tensor &t = *graph->tensors()->Get(uint32_t(constant_source(tensor)));
    std::vector<float> values = stored_reals(t);
    if (t.sparsity())
        values = dense(t, values);
    if (values.size() != size_t(count_of(shape(tensor))))
        fail_malformed("tensor \"" + tensor_name(tensor) + "\" has " +
                       std::to_string(values.size()) + " numbers; its shape wants " +
                       std::to_string(count_of(shape(tensor))));
    return values;
}

std::vector<int64_t> Lifting::wholes(int tensor, const char *what)
{
    if (!is_constant(tensor))
        refuse(std::string(what) + " must be constant");
    const tflite::Tensor &t = *graph->tensors()->Get(uint32_t(constant_source(tensor)));
    if (t.type() != TensorType::INT32 && t.type() != TensorType::INT64)
        damaged(std::string(what) + " must be of int32 or int64");
    const auto *data = data_of(file, t);
    const size_t count = data->size() / width_of(t.type());
    spend(count);
    if (count != size_t(count_of(shape(tensor))))
        damaged(std::string(what) + " have another number of values than their shape");
    std::vector<int64_t> values;
    for (size_t i = 0; i < count; i++)
        values.push_back(t.type() == TensorType::INT32 ? number_at<int32_t>(data->data(), i)
                                                       : number_at<int64_t>(data->data(), i));
    return values;
}

/* ---- Names ---- */

static std::string unique_in(std::map<std::string, int> &taken, const std::string &name)
{
    const int count = taken[name]++;
    return count == 0 ? name : unique_in(taken, name + "_" + std::to_string(count));
}

std::string Lifting::unique(const std::string &name)
{
    return unique_in(names, name);
}

/* Names of nodes and names of values are apart in ONNX. */
std::string Lifting::unique_node(const std::string &name)
{
    return unique_in(node_names, name);
}

std::string Lifting::tensor_name(int tensor) const
{
    const auto *name = graph->tensors()->Get(uint32_t(tensor))->name();
    return name && name->size() ? name->str() : "tensor_" + std::to_string(tensor);
}

std::string Lifting::initialiser(int tensor, const std::string &form, const Shape &sizes_of,
                                 std::vector<float> values)
{
    const int source = constant_source(tensor);
    std::string &name = initialisers[{source, form}];
    if (!name.empty())
        return name;
    name = unique(tensor_name(source));
    Constant c;
    c.shape = sizes_of;
    c.reals = std::move(values);
    out.initialisers[name] = std::move(c);
    return name;
}

std::string Lifting::sizes(const std::vector<int64_t> &values)
{
    const std::string name = unique(label + ".sizes");
    out.initialisers[name] = {Type::INT64, {int64_t(values.size())}, {}, values};
    return name;
}

std::string Lifting::number(float value)
{
    const std::string name = unique(label + ".number");
    out.initialisers[name] = {Type::FLOAT, {}, {value}, {}};
    return name;
}

std::string Lifting::scales(float rows, float columns)
{
    const std::string name = unique(label + ".scales");
    out.initialisers[name] = {Type::FLOAT, {4}, {1, 1, rows, columns}, {}};
    return name;
}

/* ---- Values ---- */

template <typename T>
static std::vector<T> channels_first(const std::vector<T> &values, const Shape &s)
{
    std::vector<T> to(values.size());
    size_t n = 0;
    for (int64_t b = 0; b < s[0]; b++)
        for (int64_t c = 0; c < s[3]; c++)
            for (int64_t y = 0; y < s[1]; y++)
                for (int64_t x = 0; x < s[2]; x++)
                    to[n++] = values[size_t(((b * s[1] + y) * s[2] + x) * s[3] + c)];
    return to;
}

std::string Lifting::plain(int tensor)
{
    if (is_constant(tensor))
        return initialiser(tensor, "plain", shape(tensor), reals(tensor));
    tensor = constant_source(tensor);
    const auto found = plains.find(tensor);
    if (found != plains.end())
        return found->second;
    const auto other = pictures.find(tensor);
    if (other == pictures.end())
        damaged("it reads tensor \"" + tensor_name(tensor) +
                "\", which no operator before it makes");
    return plains[tensor] =
               add("Transpose", {other->second}, {{"perm", wholes_attribute({0, 2, 3, 1})}});
}

std::string Lifting::picture(int tensor)
{
    const Shape &s = shape(tensor);
    if (s.size() != 4)
        refuse("tensor \"" + tensor_name(tensor) + "\" has " + std::to_string(s.size()) +
               " axes; a picture has four");
    if (is_constant(tensor))
        return initialiser(tensor, "picture", {s[0], s[3], s[1], s[2]},
                           channels_first(reals(tensor), s));
    tensor = constant_source(tensor);
    const auto found = pictures.find(tensor);
    if (found != pictures.end())
        return found->second;
    const std::string from = plain(tensor);
    return pictures[tensor] = add("Transpose", {from}, {{"perm", wholes_attribute({0, 3, 1, 2})}});
}

std::string Lifting::row(int tensor)
{
    const int source = constant_source(tensor);
    const Shape &s = shape(tensor);
    const auto found = pictures.find(source);
    const bool is_line = s.size() == 4 && (s[3] == 1 || (s[1] == 1 && s[2] == 1));
    return is_line && !plains.count(source) && found != pictures.end() ? found->second
                                                                       : plain(tensor);
}

int64_t Lifting::usual_axis(int64_t axis, size_t of_rank) const
{
    static const int64_t places[] = {0, 2, 3, 1};
    const int64_t from_front = axis < 0 ? axis + int64_t(of_rank) : axis;
    if (from_front < 0 || from_front >= int64_t(of_rank))
        damaged("axis " + std::to_string(axis) + " of " + std::to_string(of_rank) + " axes");
    return of_rank == 4 ? places[from_front] : from_front;
}

void Lifting::make_known(int tensor, const std::string &value, bool is_picture)
{
    if (!is_made.insert(tensor).second || aliases.count(tensor))
        damaged("its result is made twice");
    (is_picture ? pictures : plains)[tensor] = value;
    results.emplace(value, tensor);
}

void Lifting::give_plain(const std::string &value, size_t k)
{
    make_known(output(k), value, false);
}

void Lifting::give_picture(const std::string &value, size_t k)
{
    const int tensor = output(k);
    if (rank(tensor) != 4)
        damaged("its result has " + std::to_string(rank(tensor)) + " axes; a picture has four");
    make_known(tensor, value, true);
}

/* ---- Nodes ---- */

Attribute whole_attribute(int64_t value)
{
    Attribute a;
    a.type = 2;
    a.whole = value;
    return a;
}

Attribute real_attribute(float value)
{
    Attribute a;
    a.type = 1;
    a.real = value;
    return a;
}

Attribute wholes_attribute(const std::vector<int64_t> &values)
{
    Attribute a;
    a.type = 7;
    a.wholes = values;
    return a;
}

Attribute text_attribute(const std::string &value)
{
    Attribute a;
    a.type = 3;
    a.text = value;
    return a;
}

std::string Lifting::add(const std::string &op, const std::vector<std::string> &inputs,
                         std::map<std::string, Attribute> attributes)
{
    Node n;
    n.op = op;
    n.inputs = inputs;
    n.name = unique_node(label);
    n.outputs = {unique(n.name + ".value")};
    n.attributes = std::move(attributes);
    out.nodes.push_back(n);
    return n.outputs[0];
}

std::string Lifting::activated(const std::string &value, Activation activation)
{
    switch (activation) {
    case Activation::NONE:
        return value;
    case Activation::RELU:
        return add("Relu", {value});
    case Activation::RELU6:
        return add("Clip", {value, number(0), number(6)});
    case Activation::RELU_N1_TO_1:
        return add("Clip", {value, number(-1), number(1)});
    case Activation::TANH:
        return add("Tanh", {value});
    }
    refuse("its activation " + std::to_string(int(activation)) + " is not known");
}

/* ---- The graph ---- */

static const LiftingRow *find_row(Operation operation)
{
    static const LiftingRow *const families[] = {lift_arithmetic, lift_windows, lift_shaping};
    for (const LiftingRow *row : families)
        for (; row->lift; row++)
            if (row->operation == operation)
                return row;
    return nullptr;
}

void Lifting::lift_operator(const tflite::Operator &each)
{
    made = &each;
    label = "operator";
    label = tensor_name(output());
    if (each.opcode_index() >= file->operator_codes()->size())
        damaged("it is of code " + std::to_string(each.opcode_index()) + ", of " +
                std::to_string(file->operator_codes()->size()));
    const auto *code = file->operator_codes()->Get(each.opcode_index());
    const int32_t number =
        std::max(int32_t(code->builtin_code()), int32_t(code->deprecated_builtin_code()));
    const std::string custom = code->custom_code() ? code->custom_code()->str() : "";
    if (Operation(number) == Operation::CUSTOM && custom == "Convolution2DTransposeBias") {
        lift_transposed_bias(*this);
        return;
    }
    const LiftingRow *row = find_row(Operation(number));
    if (!row)
        refuse(Operation(number) == Operation::CUSTOM
                   ? "the custom operator \"" + custom + "\" is not read"
                   : "the operator number " + std::to_string(number) + " is not read");
    row->lift(*this);
}

static Shape open_batch(Shape shape)
{
    if (shape.size() > 1)
        shape[0] = -1;
    return shape;
}

/* A value that an operator gives has the name of its tensor, and its type is stated, so that a model can begin or end
 * there. */
void Lifting::name_results()
{
    std::map<std::string, std::string> others; /* names instead of those of values */
    for (Node &node : out.nodes) {
        const auto result = results.find(node.outputs[0]);
        for (std::string &value : node.inputs) {
            const auto other = others.find(value);
            value = other == others.end() ? value : other->second;
        }
        if (result == results.end() || names.count(tensor_name(result->second)))
            continue;
        const auto picture = pictures.find(result->second);
        const bool is_picture = picture != pictures.end() && picture->second == node.outputs[0];
        const Shape &s = shape(result->second);
        const std::string name = unique(tensor_name(result->second));
        others[node.outputs[0]] = name;
        node.outputs[0] = name;
        out.inner.push_back({name, open_batch(is_picture ? Shape{s[0], s[3], s[1], s[2]} : s)});
    }
}

/* Is it UTF-8 without a 0, as metadata of ONNX are? */
static bool is_text(const std::string &text)
{
    for (size_t i = 0; i < text.size(); i++) {
        const uint8_t head = uint8_t(text[i]);
        const size_t more = head < 0x80                   ? 0
                            : head >= 0xc2 && head < 0xe0 ? 1
                            : head >= 0xe0 && head < 0xf0 ? 2
                            : head >= 0xf0 && head < 0xf5 ? 3
                                                          : text.size();
        if (head == 0 || more >= text.size() - i)
            return false;
        for (size_t k = 0; k < more; k++)
            if ((uint8_t(text[++i]) & 0xc0) != 0x80)
                return false;
    }
    return true;
}

/* Metadata that are text are the model's. TensorFlow fills its own up with zeros. */
void Lifting::take_metadata()
{
    const auto *list = file->metadata();
    for (uint32_t i = 0; list && i < list->size(); i++) {
        const tflite::Metadata *entry = list->Get(i);
        if (entry->buffer() >= file->buffers()->size())
            fail_malformed("metadata " + std::to_string(i) + " have buffer " +
                           std::to_string(entry->buffer()) + ", of " +
                           std::to_string(file->buffers()->size()));
        const auto *data = file->buffers()->Get(entry->buffer())->data();
        const std::string key = entry->name() ? entry->name()->str() : "";
        spend(data ? data->size() : 0);
        std::string text = data ? std::string(data->begin(), data->end()) : "";
        text.erase(text.find_last_not_of('\0') + 1);
        if (!is_text(text) || !is_text(key))
            drops_metadata = true;
        else if (!key.empty() && !text.empty())
            out.metadata[key] = text;
    }
}

OnnxModel Lifting::run()
{
    out.opset = 14;
    for (const int32_t tensor : *graph->inputs()) {
        if (tensor < 0 || size_t(tensor) >= shapes.size() || is_made.count(tensor))
            fail_malformed("the .tflite file has an input that is no tensor, or twice");
        is_made.insert(tensor);
        drops_roundings = drops_roundings ||
                          graph->tensors()->Get(uint32_t(tensor))->type() != TensorType::FLOAT32;
        plains[tensor] = unique(tensor_name(tensor));
        out.inputs.push_back({plains[tensor], open_batch(shape(tensor))});
    }
    for (uint32_t i = 0; i < graph->outputs()->size(); i++) { /* their names are theirs */
        const int32_t tensor = graph->outputs()->Get(i);
        if (tensor < 0 || size_t(tensor) >= shapes.size())
            fail_malformed("the .tflite file has an output that is no tensor");
        out.outputs.push_back({unique(tensor_name(tensor)), open_batch(shape(tensor))});
    }
    for (const tflite::Operator *each : *graph->operators())
        lift_operator(*each);
    made = nullptr;
    for (uint32_t i = 0; i < graph->outputs()->size(); i++) {
        label = out.outputs[i].name;
        Node n;
        n.op = "Identity";
        n.name = unique_node(label + ".output");
        n.inputs = {plain(graph->outputs()->Get(i))};
        n.outputs = {label};
        out.nodes.push_back(n);
    }
    name_results();
    take_metadata();
    return std::move(out);
}

std::vector<uint8_t> lift(const uint8_t *bytes, size_t size, std::string &note)
{
    Lifting lifting(bytes, size);
    const OnnxModel model = lifting.run();
    note = lifting.note();
    return serialise_onnx(model);
}

} // namespace glcnn
