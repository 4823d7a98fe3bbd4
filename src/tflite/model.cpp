/* ONNX's messages as values of C++, and back. */
#include "tflite/model.h"

#include <cstring>
#include <memory>

#include <exchange.pb-c.h>

#include "tflite/failure.h"

namespace glcnn
{

/* No tensor of a network for small devices has as many numbers. */
static constexpr int64_t MOST_NUMBERS = int64_t(1) << 31;

int64_t count_of(const Shape &shape)
{
    int64_t count = 1;
    for (int64_t size : shape) {
        if (size < 0 || (size > 0 && count > MOST_NUMBERS / size))
            fail_malformed("a tensor has sizes below 0, or more than 2147483648 numbers");
        count *= size;
    }
    return count;
}

/* ---- From bytes ---- */

static std::string text_of(const char *text)
{
    return text ? text : "";
}

template <typename T> static std::vector<T> numbers_in(const ProtobufCBinaryData &raw)
{
    std::vector<T> values(raw.len / sizeof(T));
    if (!values.empty())
        std::memcpy(values.data(), raw.data, values.size() * sizeof(T));
    return values;
}

template <typename T> static std::vector<int64_t> wholes_in(const Exchange__Tensor *tensor)
{
    if (tensor->has_raw_data) {
        const std::vector<T> values = numbers_in<T>(tensor->raw_data);
        return {values.begin(), values.end()};
    }
    if (tensor->n_int64_data)
        return {tensor->int64_data, tensor->int64_data + tensor->n_int64_data};
    return {tensor->int32_data, tensor->int32_data + tensor->n_int32_data};
}

static void read_values(const Exchange__Tensor *tensor, Constant &constant)
{
    switch (constant.type) {
    case Type::FLOAT:
        if (tensor->has_raw_data)
            constant.reals = numbers_in<float>(tensor->raw_data);
        else
            constant.reals.assign(tensor->float_data, tensor->float_data + tensor->n_float_data);
        return;
    case Type::UINT8:
    case Type::BOOL:
        constant.wholes = wholes_in<uint8_t>(tensor);
        return;
    case Type::INT8:
        constant.wholes = wholes_in<int8_t>(tensor);
        return;
    case Type::INT32:
        constant.wholes = wholes_in<int32_t>(tensor);
        return;
    case Type::INT64:
        constant.wholes = wholes_in<int64_t>(tensor);
        return;
    }
    fail_unsupported("tensor \"" + text_of(tensor->name) + "\" has the type " +
                     std::to_string(tensor->data_type) +
                     " of ONNX; a .tflite file is made of float32, 8-bit, int32 and int64");
}

static Constant constant_of(const Exchange__Tensor *tensor)
{
    Constant constant;
    constant.type = Type(tensor->data_type);
    constant.shape.assign(tensor->dims, tensor->dims + tensor->n_dims);
    if (tensor->has_data_location && tensor->data_location)
        fail_unsupported("tensor \"" + text_of(tensor->name) + "\" has its data in another file");
    read_values(tensor, constant);
    const size_t count =
        constant.type == Type::FLOAT ? constant.reals.size() : constant.wholes.size();
    if (count != size_t(count_of(constant.shape)))
        fail_malformed("tensor \"" + text_of(tensor->name) + "\" has " + std::to_string(count) +
                       " numbers; its shape wants " + std::to_string(count_of(constant.shape)));
    return constant;
}

static Attribute attribute_of(const Exchange__Attribute *a)
{
    Attribute attribute;
    attribute.type = a->type;
    attribute.whole = a->i;
    attribute.real = a->f;
    if (a->has_s)
        attribute.text.assign(reinterpret_cast<const char *>(a->s.data), a->s.len);
    attribute.wholes.assign(a->ints, a->ints + a->n_ints);
    attribute.reals.assign(a->floats, a->floats + a->n_floats);
    if (a->t)
        attribute.constant = constant_of(a->t);
    return attribute;
}

static Node node_of(const Exchange__Node *n)
{
    Node node;
    node.name = text_of(n->name);
    node.op = text_of(n->op_type);
    for (size_t i = 0; i < n->n_input; i++)
        node.inputs.push_back(text_of(n->input[i]));
    for (size_t i = 0; i < n->n_output; i++)
        node.outputs.push_back(text_of(n->output[i]));
    for (size_t i = 0; i < n->n_attribute; i++)
        node.attributes[text_of(n->attribute[i]->name)] = attribute_of(n->attribute[i]);
    if (node.name.empty() && !node.outputs.empty())
        node.name = node.outputs[0];
    return node;
}

static Port port_of(const Exchange__Value *v)
{
    Port port;
    port.name = text_of(v->name);
    const Exchange__Type__Tensor *tensor = v->type ? v->type->tensor_type : nullptr;
    if (tensor && tensor->has_elem_type)
        port.type = Type(tensor->elem_type);
    for (size_t i = 0; tensor && tensor->shape && i < tensor->shape->n_dim; i++) {
        const Exchange__Shape__Dimension *d = tensor->shape->dim[i];
        bool is_known = d->value_case == EXCHANGE__SHAPE__DIMENSION__VALUE_DIM_VALUE;
        port.shape.push_back(is_known && d->dim_value > 0 ? d->dim_value : -1);
    }
    return port;
}

OnnxModel parse_onnx(const uint8_t *bytes, size_t size)
{
    struct Free {
        void operator()(Exchange__Model *model) const
        {
            exchange__model__free_unpacked(model, nullptr);
        }
    };
    const std::unique_ptr<Exchange__Model, Free> file(
        exchange__model__unpack(nullptr, size, bytes));
    if (!file || !file->graph)
        fail_malformed("these are no bytes of an ONNX model");
    OnnxModel model;
    const Exchange__Graph *graph = file->graph;
    for (size_t i = 0; i < file->n_opset_import; i++)
        if (text_of(file->opset_import[i]->domain).empty())
            model.opset = file->opset_import[i]->version;
    for (size_t i = 0; i < graph->n_initializer; i++)
        model.initialisers[text_of(graph->initializer[i]->name)] =
            constant_of(graph->initializer[i]);
    for (size_t i = 0; i < graph->n_node; i++)
        model.nodes.push_back(node_of(graph->node[i]));
    for (size_t i = 0; i < graph->n_input; i++)
        if (!model.initialisers.count(text_of(graph->input[i]->name)))
            model.inputs.push_back(port_of(graph->input[i]));
    for (size_t i = 0; i < graph->n_output; i++)
        model.outputs.push_back(port_of(graph->output[i]));
    for (size_t i = 0; i < file->n_metadata_props; i++)
        model.metadata[text_of(file->metadata_props[i]->key)] =
            text_of(file->metadata_props[i]->value);
    return model;
}

/* ---- To bytes ---- */

/* Messages that are put together live as long as this, in lists that move nothing. */
class Messages
{
  public:
    template <typename T> T *make(void (*init)(T *))
    {
        T *message = reinterpret_cast<T *>(take(sizeof(T)));
        init(message);
        return message;
    }
    template <typename T> T *array(size_t count)
    {
        return reinterpret_cast<T *>(take(count * sizeof(T)));
    }
    template <typename T> T *copy(const std::vector<T> &values)
    {
        T *to = array<T>(values.size());
        if (!values.empty())
            std::memcpy(to, values.data(), values.size() * sizeof(T));
        return to;
    }
    char *copy(const std::string &text)
    {
        char *to = array<char>(text.size() + 1);
        std::memcpy(to, text.c_str(), text.size() + 1);
        return to;
    }

  private:
    void *take(size_t size)
    {
        blocks.emplace_back(new max_align_t[size / sizeof(max_align_t) + 1]);
        return blocks.back().get();
    }
    std::vector<std::unique_ptr<max_align_t[]>> blocks;
};

template <typename T> static ProtobufCBinaryData raw_of(Messages &m, const std::vector<T> &values)
{
    return {values.size() * sizeof(T), reinterpret_cast<uint8_t *>(m.copy(values))};
}

template <typename T>
static ProtobufCBinaryData raw_as(Messages &m, const std::vector<int64_t> &values)
{
    std::vector<T> narrow;
    narrow.reserve(values.size());
    for (int64_t value : values)
        narrow.push_back(T(value));
    return raw_of(m, narrow);
}

static Exchange__Tensor *tensor_of(Messages &m, const std::string &name, const Constant &c)
{
    auto *t = m.make(exchange__tensor__init);
    t->name = m.copy(name);
    t->has_data_type = true;
    t->data_type = int32_t(c.type);
    t->n_dims = c.shape.size();
    t->dims = m.copy(c.shape);
    t->has_raw_data = true;
    t->raw_data = c.type == Type::FLOAT   ? raw_of(m, c.reals)
                  : c.type == Type::INT64 ? raw_of(m, c.wholes)
                  : c.type == Type::INT32 ? raw_as<int32_t>(m, c.wholes)
                                          : raw_as<uint8_t>(m, c.wholes);
    return t;
}

static Exchange__Attribute *attribute_message(Messages &m, const std::string &name,
                                              const Attribute &a)
{
    auto *to = m.make(exchange__attribute__init);
    to->name = m.copy(name);
    to->has_type = true;
    to->type = a.type;
    to->has_f = a.type == 1;
    to->f = a.real;
    to->has_i = a.type == 2;
    to->i = a.whole;
    to->has_s = a.type == 3;
    to->s = {a.text.size(), reinterpret_cast<uint8_t *>(m.copy(a.text))};
    to->n_floats = a.reals.size();
    to->floats = m.copy(a.reals);
    to->n_ints = a.wholes.size();
    to->ints = m.copy(a.wholes);
    return to;
}

static char **names_of(Messages &m, const std::vector<std::string> &names)
{
    char **to = m.array<char *>(names.size());
    for (size_t i = 0; i < names.size(); i++)
        to[i] = m.copy(names[i]);
    return to;
}

static Exchange__Node *node_message(Messages &m, const Node &node)
{
    auto *to = m.make(exchange__node__init);
    to->name = m.copy(node.name);
    to->op_type = m.copy(node.op);
    to->n_input = node.inputs.size();
    to->input = names_of(m, node.inputs);
    to->n_output = node.outputs.size();
    to->output = names_of(m, node.outputs);
    to->attribute = m.array<Exchange__Attribute *>(node.attributes.size());
    for (const auto &[name, attribute] : node.attributes)
        to->attribute[to->n_attribute++] = attribute_message(m, name, attribute);
    return to;
}

static Exchange__Value *value_message(Messages &m, const Port &port)
{
    auto *to = m.make(exchange__value__init);
    to->name = m.copy(port.name);
    to->type = m.make(exchange__type__init);
    auto *tensor = to->type->tensor_type = m.make(exchange__type__tensor__init);
    tensor->has_elem_type = true;
    tensor->elem_type = int32_t(port.type);
    tensor->shape = m.make(exchange__shape__init);
    tensor->shape->dim = m.array<Exchange__Shape__Dimension *>(port.shape.size());
    for (int64_t size : port.shape) {
        auto *d = m.make(exchange__shape__dimension__init);
        d->value_case = size < 0 ? EXCHANGE__SHAPE__DIMENSION__VALUE_DIM_PARAM
                                 : EXCHANGE__SHAPE__DIMENSION__VALUE_DIM_VALUE;
        if (size < 0)
            d->dim_param = m.copy(std::string("batch"));
        else
            d->dim_value = size;
        tensor->shape->dim[tensor->shape->n_dim++] = d;
    }
    return to;
}

static void add_values(Messages &m, const std::vector<Port> &ports, Exchange__Value **&list,
                       size_t &count)
{
    list = m.array<Exchange__Value *>(ports.size());
    for (const Port &port : ports)
        list[count++] = value_message(m, port);
}

static Exchange__Graph *graph_message(Messages &m, const OnnxModel &model)
{
    auto *graph = m.make(exchange__graph__init);
    graph->name = m.copy(std::string("glcnn"));
    graph->node = m.array<Exchange__Node *>(model.nodes.size());
    for (const Node &node : model.nodes)
        graph->node[graph->n_node++] = node_message(m, node);
    graph->initializer = m.array<Exchange__Tensor *>(model.initialisers.size());
    for (const auto &[name, constant] : model.initialisers)
        graph->initializer[graph->n_initializer++] = tensor_of(m, name, constant);
    add_values(m, model.inputs, graph->input, graph->n_input);
    add_values(m, model.outputs, graph->output, graph->n_output);
    add_values(m, model.inner, graph->value_info, graph->n_value_info);
    return graph;
}

std::vector<uint8_t> serialise_onnx(const OnnxModel &model)
{
    Messages m;
    auto *file = m.make(exchange__model__init);
    file->has_ir_version = true;
    file->ir_version = 7;
    file->producer_name = m.copy(std::string("glcnn"));
    file->graph = graph_message(m, model);
    auto *opset = m.make(exchange__opset__init);
    opset->domain = m.copy(std::string());
    opset->has_version = true;
    opset->version = model.opset;
    file->n_opset_import = 1;
    file->opset_import = m.copy(std::vector<Exchange__Opset *>{opset});
    file->metadata_props = m.array<Exchange__Entry *>(model.metadata.size());
    for (const auto &[key, value] : model.metadata) {
        auto *entry = m.make(exchange__entry__init);
        entry->key = m.copy(key);
        entry->value = m.copy(value);
        file->metadata_props[file->n_metadata_props++] = entry;
    }
    std::vector<uint8_t> bytes(exchange__model__get_packed_size(file));
    exchange__model__pack(file, bytes.data());
    return bytes;
}

} // namespace glcnn
