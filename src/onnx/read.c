/* A model, from bytes to a network: its values are named, its nodes put in an order in which values
 * are made before they are read, what its outputs need is found, and each node that is needed is
 * read. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glcnn/io.h>
#include <glcnn/kernels/neuron.h>

#include "base/memory.h"
#include "onnx/branch.h"
#include "onnx/cut.h"
#include "onnx/expansion.h"
#include "onnx/function.h"
#include "onnx/head.h"
#include "onnx/order.h"
#include "onnx/record.h"
#include "onnx/values.h"
#include "onnx/operand.h"

#define MODEL_MOST ((size_t)INT32_MAX) /* bytes: what protobuf can count */

/* ---- Operators ---- */

static bool is_standard(const char *domain)
{
    return !domain || !domain[0] || strcmp(domain, "ai.onnx") == 0;
}

/* Are there all operators of nodes from .. to, without the last? */
static bool find_operators(struct reader *r, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        const Onnx__NodeProto *node = r->graph->node[i];
        struct call call = {r, node, NULL};
        if (!values_need(r, node))
            continue;
        if (!name_is_utf8(text_of(node->name)))
            return onnx_fail(r, GLCNN_MALFORMED_DATA, "the name of node %zu is not UTF-8", i);
        if (!is_standard(node->domain))
            return op_unsupported(&call, "operators of domain \"%.40s\" are not supported",
                                  node->domain);
        if (!operator_find(text_of(node->op_type)))
            return op_unsupported(&call, "this operator is not supported");
    }
    return true;
}

/* ---- Inputs ---- */

static const uint8_t pictures[AXES] = {N, H, W, C};

/* An input N,H,W,C, as TensorFlow has pictures. */
static bool has_pictures(const struct reader *r, const struct value *value)
{
    return values_is_turned(value) && value->shape.rank == AXES && !r->options.without_batch;
}

static struct image place_pictures(const struct shape *shape)
{
    struct image image;
    view_arranged(shape, view_leading_batch(shape, shape->dims[0]),
                  (const uint8_t[GLCNN_ONNX_RANK]){C, H, W, C}, &image);
    return image;
}

/* Gives an axis that the file leaves open the size that the options have for it. */
static bool open_size(struct reader *r, struct value *value, uint32_t i)
{
    struct shape *shape = &value->shape;
    const struct glcnn_onnx_options *o = &r->options;
    const struct {
        int64_t size;
        const char *advice;
    } given[] = {[N] = {o->without_batch ? 0 : OPEN_BATCH, "the file must have it"},
                 [C] = {o->feature_channels, "option feature_channels sets it"},
                 [H] = {o->height, "option height sets it"},
                 [W] = {o->width, "option width sets it"},
                 [AXES] = {0, "the file must have it"}};
    enum axis axis = has_pictures(r, value)        ? (enum axis)pictures[i]
                     : i == 0 && !o->without_batch ? N
                                                   : place_axis(r, shape, (int)i);
    shape->dims[i] = given[axis].size;
    return shape->dims[i] > 0 ||
           onnx_fail(r, GLCNN_UNSUPPORTED, "input \"%.80s\" leaves the size of axis %u open; %s",
                     value->name, i, given[axis].advice);
}

static bool input_shape(struct reader *r, const Onnx__ValueInfoProto *info, struct value *value)
{
    struct shape *shape = &value->shape;
    const Onnx__TypeProto__Tensor *tensor = described_tensor(info);
    const char *name = text_of(info->name);
    const Onnx__TensorShapeProto *dims = tensor ? tensor->shape : NULL;
    if (!dims || !type_is_read(tensor->elem_type))
        return onnx_fail(r, GLCNN_UNSUPPORTED,
                         "input \"%.80s\" is not a tensor of numbers with known axes", name);
    if (type_is_whole(tensor->elem_type))
        value->type = tensor->elem_type;
    if (dims->n_dim > GLCNN_ONNX_RANK)
        return onnx_fail(r, GLCNN_UNSUPPORTED,
                         "input \"%.80s\" has %zu axes; at most %d are supported", name,
                         dims->n_dim, GLCNN_ONNX_RANK);
    *shape = (struct shape){.rank = (uint32_t)dims->n_dim};
    for (uint32_t i = 0; i < shape->rank; i++)
        if (dims->dim[i]->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE &&
            dims->dim[i]->dim_value == 0)
            return onnx_fail(r, GLCNN_UNSUPPORTED, "input \"%.80s\" has no numbers", name);
    for (uint32_t i = 0; i < shape->rank; i++)
        shape->dims[i] =
            dims->dim[i]->dim_value > 0 &&
                    dims->dim[i]->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE
                ? dims->dim[i]->dim_value
                : 0;
    for (uint32_t i = 0; i < shape->rank; i++)
        if (!shape->dims[i] && !open_size(r, value, i))
            return false;
    return shape_check(r, name, shape);
}

static bool make_input(struct reader *r, const Onnx__ValueInfoProto *info)
{
    struct value *value = values_find(r, info->name);
    if (value->tensor)
        return true;
    if (value->is_defined)
        return onnx_fail(r, GLCNN_MALFORMED_DATA, "input \"%.80s\" appears twice", value->name);
    if (!value->is_needed)
        return value->is_defined = true;
    if (!input_shape(r, info, value))
        return false;
    value->image = has_pictures(r, value) ? place_pictures(&value->shape)
                                          : place_custom_input(r, &value->shape);
    for (size_t i = C; i < AXES; i++)
        if (value->image.extent[i] < 1 || value->image.extent[i] > INT32_MAX)
            return onnx_fail(r, GLCNN_UNSUPPORTED,
                             "input \"%.80s\" has %" PRId64 " columns, rows or "
                             "channels",
                             value->name, value->image.extent[i]);
    value->image.node = glcnn_image_node_create(r->network, value->name);
    r->images = r->images ? r->images : value->image.extent[N];
    r->input = r->input ? r->input : value->image.node;
    value->is_defined = true;
    if (!value->image.node)
        return onnx_fail(r, glcnn_network_status(r->network), "%s", glcnn_device_error(r->device));
    return record_image(r, false, value);
}

/* ---- Nodes ---- */

/* Is it a name that PyTorch gives to a parameter, "layers.0.scale"? Numbers that only the file's
 * exporter knows are called otherwise there: "onnx::Mul_7", "/act/Constant_output_0". */
static bool is_module_path(const char *name)
{
    return (*name == '_' || isalpha((unsigned char)*name)) &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") ==
               strlen(name);
}

/* Frameworks store constants of one number, an epsilon or a factor, in the same way as what trains,
 * but PyTorch, which makes them nodes. */
static void find_parameter(const struct reader *r, struct value *value)
{
    bool is_torch = strcmp(text_of(r->model->producer_name), "pytorch") == 0;
    if (!value->constant->floats)
        return;
    value->parameter = value->name;
    value->learns = value->shape.rank > 0 || (is_torch && is_module_path(value->name));
}

/* Operators that give the numbers that they are given. */
static bool only_moves(const char *operator)
{
    static const char *const names[] = {"Identity", "Reshape", "Squeeze",   "Unsqueeze",
                                        "Flatten",  "Cast",    "Transpose", NULL};
    size_t i = 0;
    while (names[i] && strcmp(names[i], operator) != 0)
        i++;
    return names[i];
}

/* Does it repeat its numbers for each image of the batch alone, which are stored once? */
static bool repeats_for_batch(const struct call *call, const struct constant *made)
{
    const struct value *from = op_input(call, 0);
    return strcmp(call->row->name, "Expand") == 0 && from && from->constant &&
           from->constant->count == made->count;
}

/* What a constant is computed of: the first parameter among the inputs. PyTorch's exporter stores
 * parameters of equal numbers once; Identity has the name of each other one. */
static void pass_parameter(const struct call *call)
{
    const struct value *from = NULL;
    bool is_copy = strcmp(call->row->name, "Identity") == 0;
    for (size_t i = 0; i < call->node->n_input && !from; i++) {
        const struct value *input = op_input(call, i);
        from = input && input->parameter ? input : NULL;
    }
    for (size_t i = 0; i < call->node->n_output && from; i++) {
        struct value *made = op_output(call, i);
        if (!made || !made->constant || !made->constant->floats)
            continue;
        made->node = call->node;
        made->parameter = is_copy ? made->name : from->parameter;
        made->learns = from->learns &&
                       (only_moves(call->row->name) || repeats_for_batch(call, made->constant));
    }
}

/* Has what each input names been made, and is what is stored at hand? */
static bool ready_inputs(struct call *call, bool *all_constant)
{
    *all_constant = true;
    for (size_t i = 0; i < call->node->n_input; i++) {
        const char *name = text_of(call->node->input[i]);
        struct value *value = op_input(call, i);
        if (!name[0])
            continue;
        if (!value || !value->is_defined)
            return op_fail(call, GLCNN_MALFORMED_DATA, "it reads \"%.80s\", which %s", name,
                           value ? "no node makes" : "nothing makes");
        if (value->tensor && !value->constant) {
            value->constant = constant_of_tensor(call->reader, value->tensor);
            if (!value->constant)
                return false;
            value->shape = value->constant->shape;
            find_parameter(call->reader, value);
        }
        if (!value->constant && !value->image.node)
            return op_unsupported(call, "it reads \"%.80s\", an output that is not given here",
                                  name);
        *all_constant = *all_constant && value->constant;
    }
    return true;
}

/* What only moves numbers, or chooses among them. */
static const char *const keep_types[] = {"Identity",     "Reshape",      "Squeeze", "Unsqueeze",
                                         "Flatten",      "Transpose",    "Slice",   "Split",
                                         "Gather",       "Concat",       "MaxPool", "GlobalMaxPool",
                                         "DepthToSpace", "SpaceToDepth", NULL};

static bool compares(const struct operator_row *wanted)
{
    const struct operator_row *row = onnx_comparison;
    while (row->name && row != wanted)
        row++;
    return row->name;
}

/* An image of whole numbers is one of float32 here: only what keeps its numbers, compares or casts them,
 * makes of it what it would make of whole ones. */
static bool check_types(struct call *call)
{
    static const char *const others[] = {"Cast", "CastLike",         "Shape",
                                         "Size", "DequantizeLinear", NULL};
    const bool is_free = text_is_one_of(call->row->name, keep_types) ||
                         text_is_one_of(call->row->name, others) || compares(call->row);
    for (size_t i = 0; !is_free && i < call->node->n_input; i++) {
        const struct value *value = op_input(call, i);
        if (value && value->image.node && value->type)
            return op_unsupported(call,
                                  "\"%.80s\" is an image of whole numbers or truths; one that Cast "
                                  "made of it, of real numbers, can be read",
                                  value->name);
    }
    return true;
}

static void pass_type(const struct call *call)
{
    const struct value *from = op_input(call, 0);
    if (!from || !from->image.node || !text_is_one_of(call->row->name, keep_types))
        return;
    for (size_t i = 0; i < call->node->n_output; i++)
        if (op_output(call, i))
            op_output(call, i)->type = from->type;
}

/* Numbers by indices of a parameter that trains, as positions relative to one another have them: the
 * gradient of each goes back into the table. */
static bool reads_table(const struct call *call)
{
    const struct value *table = op_input(call, 0), *at = op_input(call, 1);
    return strcmp(call->row->name, "Gather") == 0 && call->reader->input && table && at &&
           table->constant && table->learns && at->constant && at->constant->count > 1;
}

/* Is something computed of numbers that train, which is an image from there on, so that they do? Not where it
 * ends in weights. A function of them, as the scale of attention is an exponential; and a product of
 * other numbers with a matrix that trains, as layers make positions. */
static bool computes_image(const struct call *call)
{
    static const char *const functions[] = {"Exp", "Clip", "Sigmoid", "Softplus", "Tanh", NULL};
    static const char *const products[] = {"MatMul", "Gemm", NULL};
    const bool multiplies = text_is_one_of(call->row->name, products) &&
                            !attribute_int(call, "transA", 0) &&
                            attribute_float(call, "alpha", 1) != 0;
    const struct value *x = op_input(call, 0), *y = op_output(call, 0),
                       *from = multiplies ? op_input(call, 1) : x;
    if (!call->reader->input || !x || !from || !y || y->must_be_known || !x->constant->floats)
        return false;
    return from->learns &&
           (multiplies ? from->shape.rank == 2 : text_is_one_of(call->row->name, functions));
}

/* Numbers that a matrix which trains multiplies are frozen: the file does not say whether they train too. */
static bool freeze_factor(struct call *call)
{
    struct value *x = op_input(call, 0), *matrix = op_input(call, 1);
    if (!matrix || matrix == x || matrix->shape.rank != 2 || !x->learns)
        return true;
    const bool noted = op_note_frozen(call, x, "a matrix that trains multiplies it");
    x->learns = false;
    return noted;
}

static bool read_node(struct reader *r, const Onnx__NodeProto *node)
{
    if (node == r->head_mean && !head_average(r))
        return false;
    struct call call = {r, node, operator_find(text_of(node->op_type))};
    bool all_constant;
    if (node == r->head && !head_fill(&call))
        return false;
    if (!ready_inputs(&call, &all_constant) || !check_types(&call))
        return false;
    const bool is_image = all_constant && computes_image(&call);
    if (is_image && !freeze_factor(&call))
        return false;
    bool folds =
        call.row->fold && !reads_table(&call) && !is_image && (all_constant || !call.row->lower);
    if (!folds && !call.row->lower)
        return op_only_constants(&call);
    if (!(folds ? call.row->fold : call.row->lower)(&call))
        return r->status != GLCNN_SUCCESS ? false : onnx_no_memory(r);
    if (folds)
        pass_parameter(&call);
    else
        pass_type(&call);
    for (size_t i = 0; i < node->n_output; i++) {
        struct value *value = op_output(&call, i);
        if (value)
            value->is_defined = true;
    }
    return true;
}

/* An output is the result of a filter, as graphs want it, and has a name of its own: an input, and what
 * is another output too, go through a filter that changes nothing. */
static bool make_result(struct reader *r, struct value *value)
{
    glcnn_image_node *node = value->image.node;
    if (!glcnn_image_node_filter(node) || glcnn_image_node_handle(node))
        node = glcnn_neuron_node(node, NULL);
    value->image.node = node;
    glcnn_status status =
        node ? glcnn_image_node_set_handle(node, value->name) : glcnn_network_status(r->network);
    return status == GLCNN_SUCCESS || onnx_fail(r, status, "%s", glcnn_device_error(r->device));
}

/* An output of numbers that are known is the same image for each of the batch, where it has the batch. */
static bool has_image(struct call *call, struct value *value)
{
    if (value->image.node)
        return true;
    if (value->constant && !constant_batch_free(value->constant) && call->reader->input)
        return operand_image(call, value);
    return onnx_fail(call->reader, GLCNN_UNSUPPORTED,
                     "output \"%.80s\" is not an image: it depends on no input, or its node "
                     "does not have it here",
                     value->name);
}

/* Axes before that of the batch are channels, what is behind it rows and columns. */
static bool place_around_batch(struct call *call, struct image *image, const struct shape *shape)
{
    const int rank = (int)shape->rank;
    const int64_t behind = view_batch(image).after;
    uint8_t axis[GLCNN_ONNX_RANK], order[AXES];
    for (int i = 0; i < rank; i++)
        axis[i] = shape_count_between(shape, i + 1, rank) > behind ? C : i + 1 == rank ? W : H;
    return place_arrange(call, image, shape, axis) &&
           (view_order(image, order) ||
            op_unsupported(call, "an axis of it is that of the batch in part"));
}

/* N,C is an image of 1x1 pixels, as an input is: what classifies is known by it. Of others each axis of
 * the image is one digit, as the record has them. */
static bool place_result(struct call *call, struct value *value)
{
    const struct reader *r = call->reader;
    uint8_t order[AXES];
    const struct image wanted = place_custom(r, &value->shape);
    const bool leads = view_batch(&value->image).after == view_batch(&wanted).after;
    bool scores = value->shape.rank == 2 && !r->options.without_batch && leads;
    if (!scores && view_order(&value->image, order))
        return true;
    return leads ? place_move(call, &value->image, &wanted)
                 : place_around_batch(call, &value->image, &value->shape);
}

static bool read_output(struct reader *r, struct value *value)
{
    char type[] = "output", *name = (char *)(uintptr_t)value->name;
    Onnx__NodeProto node = ONNX__NODE_PROTO__INIT;
    node.op_type = type;
    node.name = name;
    struct call call = {r, &node, NULL};
    return has_image(&call, value) && place_result(&call, value) && make_result(r, value) &&
           record_image(r, true, value);
}

static bool read_outputs(struct reader *r)
{
    for (size_t i = 0; i < r->graph->n_output; i++)
        if (!read_output(r, values_find(r, r->graph->output[i]->name)))
            return false;
    return true;
}

static bool is_branching(const Onnx__NodeProto *node)
{
    return strcmp(text_of(node->op_type), "If") == 0;
}

/* Puts other nodes in the node's place: of the branch that is taken, or what it is a short form of. */
static bool replace(struct reader *r, size_t i)
{
    struct call call = {r, r->graph->node[i], NULL};
    bool all_constant;
    size_t count;
    if (!ready_inputs(&call, &all_constant))
        return false;
    return (is_branching(call.node) ? branch_inline : expansion_inline)(&call, i, &count) &&
           find_operators(r, i, i + count);
}

static bool read_nodes(struct reader *r)
{
    for (size_t i = 0; i < r->graph->n_node;) {
        const Onnx__NodeProto *node = r->graph->node[i];
        const bool needed = values_need(r, node);
        const bool is_replaced = needed && (is_branching(node) || expansion_values(node));
        if (is_replaced ? !replace(r, i) : needed && !read_node(r, node))
            return false;
        i += !is_replaced;
    }
    return true;
}

static bool read_graph(struct reader *r)
{
    if (!values_name(r) || !order_nodes(r) || !values_find_needed(r) ||
        !find_operators(r, 0, r->graph->n_node) || !record_begin(r))
        return false;
    for (size_t i = 0; i < r->graph->n_input; i++)
        if (!make_input(r, r->graph->input[i]))
            return false;
    return read_nodes(r) && read_outputs(r);
}

/* ---- The file ---- */

static bool check_opset(struct reader *r)
{
    r->opset = 0;
    for (size_t i = 0; i < r->model->n_opset_import; i++)
        if (is_standard(r->model->opset_import[i]->domain))
            r->opset = r->model->opset_import[i]->version;
    if (r->opset >= GLCNN_ONNX_OLDEST_OPSET && r->opset <= GLCNN_ONNX_NEWEST_OPSET)
        return true;
    return onnx_fail(r, GLCNN_UNSUPPORTED,
                     "the model is of opset %" PRId64 "; opsets %d to %d are read", r->opset,
                     GLCNN_ONNX_OLDEST_OPSET, GLCNN_ONNX_NEWEST_OPSET);
}

static Onnx__ModelProto *unpack(struct reader *r, const uint8_t *bytes, size_t size)
{
    if (!nesting_check(r, bytes, size))
        return NULL;
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, size, bytes);
    if (!model)
        onnx_fail(r, GLCNN_MALFORMED_DATA,
                  "these %zu bytes are not an ONNX model: a field has the wrong type or is cut off",
                  size);
    else if (!model->graph)
        onnx_fail(r, GLCNN_MALFORMED_DATA, "the file has no graph; is it an ONNX model?");
    return model;
}

static void release(struct reader *r, Onnx__ModelProto *model)
{
    record_drop(r->builder);
    constants_free(r);
    name_table_free(&r->names);
    name_table_free(&r->labels);
    free(r->values);
    free(r->shared);
    if (model)
        onnx__model_proto__free_unpacked(model, NULL);
}

/* Numbers that may be computed of constants, beyond those of the file. */
#define FOLDED_MOST ((size_t)1 << 23)
#define WORK_MOST   (UINT64_C(1) << 25) /* steps of sums and the like, the same */

/* Bytes that ConstantOfShape may fill: a constant becomes weights, which the device and whoever writes
 * them hold a copy of too. Fuzzing sets a number that does not depend on the machine. */
#ifndef FILLED_MOST
#define FILLED_MOST (memory_free() / 4)
#endif

static bool read_model(struct reader *r, Onnx__ModelProto *model)
{
    glcnn_status status;
    r->model = model;
    r->graph = model->graph;
    r->room = FOLDED_MOST;
    r->work = WORK_MOST;
    r->filled = FILLED_MOST;
    if (!check_opset(r) || !function_inline(r, model) || !cut_begin(r, model->graph) ||
        !head_add(r, model->graph))
        return false;
    status = glcnn_network_create(r->device, &r->network);
    if (status != GLCNN_SUCCESS)
        return onnx_fail(r, status, "%s", glcnn_device_error(r->device));
    return read_graph(r);
}

static glcnn_status tell(const struct reader *r, char *error)
{
    if (error && r->status != GLCNN_SUCCESS)
        memcpy(error, r->text, sizeof r->text);
    return r->status;
}

static glcnn_status read_bytes(struct reader *r, const uint8_t *bytes, size_t size,
                               glcnn_network **network, struct glcnn_onnx_record **record,
                               char *error)
{
    Onnx__ModelProto *model = unpack(r, bytes, size);
    if (model && r->status == GLCNN_SUCCESS && read_model(r, model) && record &&
        cut_finish(r, model->graph))
        record_finish(r, model, record);
    if (r->status == GLCNN_SUCCESS)
        *network = r->network;
    else
        glcnn_network_destroy(&r->network);
    release(r, model);
    return tell(r, error);
}

static bool begin(struct reader *r, glcnn_device *device, const struct glcnn_onnx_options *options,
                  const void *from, glcnn_network **network, struct glcnn_onnx_record **record)
{
    *r = (struct reader){.device = device};
    if (network)
        *network = NULL;
    if (record)
        *record = NULL;
    if (options)
        r->options = *options;
    return (device && from && network) || onnx_fail(r, GLCNN_INVALID_ARGUMENT, "%s is NULL",
                                                    !device ? "device"
                                                    : !from ? "what is to be read"
                                                            : "network");
}

glcnn_status glcnn_onnx_read(glcnn_device *device, const uint8_t *bytes, size_t size,
                             const struct glcnn_onnx_options *options, glcnn_network **network,
                             struct glcnn_onnx_record **record, char error[GLCNN_ERROR_LENGTH])
{
    struct reader r;
    if (!begin(&r, device, options, bytes, network, record))
        return tell(&r, error);
    return read_bytes(&r, bytes, size, network, record, error);
}

/* Can the file be a model? No field of a protobuf has the number 0, so that a large file of zeros need not be read. */
static glcnn_status check_first_byte(const char *path, char *reason)
{
    int descriptor;
    uint64_t size;
    char first = 1;
    glcnn_status status = glcnn_file_open(path, &descriptor, &size, reason);
    if (status != GLCNN_SUCCESS)
        return status;
    if (size > 0)
        status = glcnn_file_read(descriptor, path, 0, &first, 1, reason);
    close(descriptor);
    if (status != GLCNN_SUCCESS || first)
        return status;
    snprintf(reason, GLCNN_ERROR_LENGTH, "%.300s: is not an ONNX model: it begins with a zero byte",
             path);
    return GLCNN_MALFORMED_DATA;
}

glcnn_status onnx_load_bytes(const char *path, void **bytes, size_t *size,
                             char reason[GLCNN_ERROR_LENGTH])
{
    const glcnn_status status = check_first_byte(path, reason);
    return status == GLCNN_SUCCESS ? glcnn_file_load(path, MODEL_MOST, bytes, size, reason)
                                   : status;
}

glcnn_status glcnn_onnx_load(glcnn_device *device, const char *path,
                             const struct glcnn_onnx_options *options, glcnn_network **network,
                             struct glcnn_onnx_record **record, char error[GLCNN_ERROR_LENGTH])
{
    struct reader r;
    char folder[3000], reason[GLCNN_ERROR_LENGTH];
    void *bytes;
    size_t size;
    if (!begin(&r, device, options, path, network, record))
        return tell(&r, error);
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    r.folder = folder;
    const glcnn_status status = onnx_load_bytes(path, &bytes, &size, reason);
    if (status != GLCNN_SUCCESS) {
        onnx_fail(&r, status, "%s", reason);
        return tell(&r, error);
    }
    read_bytes(&r, bytes, size, network, record, NULL);
    free(bytes);
    return tell(&r, error);
}
