/* A network as an ONNX model: the file that it was read from, with the numbers that its filters have
 * now. */
#include "onnx/write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/build.h"
#include "onnx/operand.h"
#include "onnx/prune.h"

/* ---- Numbers ---- */

/* No file of a training that has diverged takes the place of a good one. */
static bool check_values(struct writer *w, glcnn_filter_node *filter, const char *vector,
                         const float *values, size_t count)
{
    const char *expected;
    const size_t first = glcnn_kernel_wrong_value(vector, values, count, &expected);
    return first == count ||
           onnx_fail(&w->messages, GLCNN_INVALID_STATE,
                     "%s of filter \"%.80s\" are not written: value %zu is %g, %s; training has "
                     "diverged",
                     vector, glcnn_filter_node_label(filter), first, (double)values[first],
                     expected);
}

float *write_vector(struct writer *w, glcnn_filter_node *filter, const char *vector, size_t *count)
{
    glcnn_kernel *kernel = glcnn_filter_node_kernel(filter);
    glcnn_device *device = glcnn_kernel_device(kernel);
    glcnn_buffer *buffer = glcnn_kernel_vector(kernel, vector);
    size_t size = buffer ? glcnn_buffer_size(buffer) : 0;
    float *values = malloc(size + 1);
    *count = size / sizeof *values;
    if (!values) {
        onnx_no_memory(&w->messages);
        return NULL;
    }
    glcnn_status status = buffer ? glcnn_buffer_read(buffer, 0, size, values)
                          : glcnn_kernel_vector_length(kernel, vector) ? GLCNN_OUT_OF_MEMORY
                                                                       : GLCNN_INVALID_ARGUMENT;
    if (status != GLCNN_SUCCESS)
        onnx_fail(&w->messages, status, "%s", glcnn_device_error(device));
    else if (check_values(w, filter, vector, values, *count))
        return values;
    free(values);
    return NULL;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t put_float32(float value)
{
    return bits_of(value);
}

static uint64_t put_float64(float value)
{
    double wide = (double)value;
    uint64_t bits;
    memcpy(&bits, &wide, sizeof bits);
    return bits;
}

/* To the nearest, of two the even one. */
static uint64_t put_bfloat16(float value)
{
    uint32_t bits = bits_of(value);
    if (isnan(value))
        return 0x7fc0;
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static uint64_t put_float16(float value)
{
    uint64_t sign = bits_of(value) >> 16 & 0x8000;
    int exponent;
    double size = fabs((double)value);
    if (isnan(value))
        return 0x7e00;
    if (size >= 65520)
        return sign | 0x7c00;
    if (size < 0x1p-14)
        return sign | (uint64_t)nearbyint(size * 0x1p24);
    frexp(size, &exponent);
    uint64_t fraction = (uint64_t)nearbyint(ldexp(size, 11 - exponent)); /* 1024 .. 2048 */
    return sign | (((uint64_t)(exponent + 13) << 10) + fraction);
}

static const struct real_type {
    int number;
    size_t size;
    uint64_t (*put)(float value);
    uint64_t infinity;
    const char *name;
} real_types[] = {{ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, 4, put_float32, 0x7f800000, "float32"},
                  {ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE, 8, put_float64,
                   UINT64_C(0x7ff0000000000000), "float64"},
                  {ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16, 2, put_float16, 0x7c00, "float16"},
                  {ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16, 2, put_bfloat16, 0x7f80, "bfloat16"}};
enum { REAL_TYPES = sizeof real_types / sizeof *real_types };

bool write_dims(Onnx__TensorProto *tensor, const int64_t *dims, size_t rank)
{
    int64_t *own = malloc((rank + 1) * sizeof *own);
    if (!own)
        return false;
    if (rank > 0)
        memcpy(own, dims, rank * sizeof *own);
    free(tensor->dims);
    tensor->dims = own;
    tensor->n_dims = rank;
    return true;
}

/* Is what the type has for the number as finite as that is? Masks of a file have infinities, which were
 * read as the largest number of an image. */
static bool holds(const struct real_type *type, float value, uint64_t bits)
{
    return (bits & type->infinity) != type->infinity || !isfinite(value) ||
           fabsf(value) == LARGEST_NUMBER;
}

bool write_numbers(struct writer *w, Onnx__TensorProto *tensor, const float *values, size_t count,
                   const int64_t *dims, size_t rank)
{
    const struct real_type *type = real_types;
    while (type < real_types + REAL_TYPES && type->number != tensor->data_type)
        type++;
    if (type == real_types + REAL_TYPES)
        return onnx_fail(&w->messages, GLCNN_MALFORMED_DATA,
                         "initialiser \"%.80s\" is of type %d, which holds no real numbers",
                         tensor->name ? tensor->name : "", tensor->data_type);
    uint8_t *bytes = malloc(count * type->size + 1);
    if (!bytes || !write_dims(tensor, dims, rank)) {
        free(bytes);
        return onnx_no_memory(&w->messages);
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = type->put(values[i]);
        if (!holds(type, values[i], bits)) {
            free(bytes);
            return onnx_fail(&w->messages, GLCNN_INVALID_STATE,
                             "initialiser \"%.80s\" is not written: its value %zu is %g, which is "
                             "infinite as %s, its type in the file",
                             tensor->name ? tensor->name : "", i, (double)values[i], type->name);
        }
        for (size_t k = 0; k < type->size; k++)
            bytes[i * type->size + k] = (uint8_t)(bits >> 8 * k);
    }
    free(tensor->raw_data.data);
    tensor->raw_data = (ProtobufCBinaryData){count * type->size, bytes};
    tensor->has_raw_data = true;
    return true;
}

bool write_bytes(struct writer *w, const Onnx__ModelProto *model, uint8_t **bytes, size_t *size)
{
    *size = protobuf_c_message_get_packed_size(&model->base);
    *bytes = malloc(*size + 1);
    if (!*bytes)
        return onnx_no_memory(&w->messages);
    protobuf_c_message_pack(&model->base, *bytes);
    return true;
}

/* ---- One parameter ---- */

/* The filter with a label; NULL: none. */
static glcnn_filter_node *find_filter(const struct writer *w, const struct name_table *labels,
                                      const char *label)
{
    size_t index = label ? name_table_find(labels, label) : NO_NAME;
    return index == NO_NAME ? NULL : glcnn_network_filter(w->network, index);
}

/* The layout, with as many outputs as the vector has; *dims follow. False: it does not fit. */
static bool fit_layout(const struct glcnn_onnx_parameter *p, size_t count, struct layout *layout,
                       int64_t dims[GLCNN_ONNX_RANK], size_t *elements)
{
    int64_t rest = 1;
    *layout = (struct layout){.axes = p->axes, .offset = p->offset};
    if (p->axes > GLCNN_ONNX_RANK || p->rank > GLCNN_ONNX_RANK || p->scale == 0)
        return false;
    memcpy(layout->size, p->size, sizeof layout->size);
    memcpy(layout->stride, p->stride, sizeof layout->stride);
    memcpy(dims, p->dimensions, sizeof p->dimensions);
    for (uint32_t a = 0; a < p->axes; a++) {
        if (layout->size[a] < 1 || rest > INT32_MAX / layout->size[a])
            return false;
        rest *= (int32_t)a == p->output_axis ? 1 : layout->size[a];
    }
    bool follows = p->output_axis >= 0 && (uint32_t)p->output_axis < p->axes &&
                   p->output_dimension >= 0 && (uint32_t)p->output_dimension < p->rank;
    if (follows && count % (size_t)rest == 0) {
        layout->size[p->output_axis] = (int64_t)count / rest;
        dims[p->output_dimension] = layout->size[p->output_axis];
    }
    *elements = (size_t)rest * (p->output_axis >= 0 && (uint32_t)p->output_axis < p->axes
                                    ? (size_t)layout->size[p->output_axis]
                                    : 1);
    return layout_fits(layout, *elements, count);
}

static bool gather(struct writer *w, const struct glcnn_onnx_parameter *p,
                   const struct layout *layout, const float *vector, Onnx__TensorProto *tensor,
                   const int64_t dims[GLCNN_ONNX_RANK], size_t elements)
{
    int64_t index[GLCNN_ONNX_RANK] = {0}, place = layout->offset;
    float *values = malloc((elements + 1) * sizeof *values);
    if (!values)
        return onnx_no_memory(&w->messages);
    for (size_t i = 0; i < elements; i++) {
        values[i] = vector[place] / p->scale;
        place = layout_next(layout, index, place);
    }
    const size_t first = glcnn_kernel_wrong_value(NULL, values, elements, NULL);
    bool written = first < elements
                       ? onnx_fail(&w->messages, GLCNN_INVALID_STATE,
                                   "initialiser \"%.80s\" is not written: its value %zu is %g",
                                   p->name, first, (double)values[first])
                       : write_numbers(w, tensor, values, elements, dims, p->rank);
    free(values);
    return written;
}

static bool write_parameter(struct writer *w, const struct glcnn_onnx_parameter *p,
                            glcnn_filter_node *filter, Onnx__TensorProto *tensor)
{
    struct layout layout;
    int64_t dims[GLCNN_ONNX_RANK];
    size_t count, elements;
    if (!filter)
        return onnx_fail(&w->messages, GLCNN_INVALID_ARGUMENT,
                         "initialiser \"%.80s\" is that of filter \"%.80s\", which the network "
                         "lacks",
                         p->name, p->filter ? p->filter : "");
    float *vector = write_vector(w, filter, p->vector, &count);
    if (!vector)
        return false;
    bool written = fit_layout(p, count, &layout, dims, &elements)
                       ? gather(w, p, &layout, vector, tensor, dims, elements)
                       : onnx_fail(&w->messages, GLCNN_INVALID_ARGUMENT,
                                   "%s of filter \"%.80s\" has %zu numbers, which are not those of "
                                   "initialiser \"%.80s\"",
                                   p->vector, p->filter, count, p->name);
    free(vector);
    return written;
}

/* ---- The file ---- */

/* Where the file has the numbers of a name: in an initialiser or in a node Constant. */
struct tensors {
    struct name_table names; /* of `at` */
    Onnx__TensorProto **at;
    size_t stored; /* the first ones, which the file has; others are computed there */
};

/* The first of a name counts. */
static bool note_tensor(struct tensors *t, const char *name, Onnx__TensorProto *tensor)
{
    if (!name || name_table_find(&t->names, name) != NO_NAME)
        return true;
    t->at[t->names.count] = tensor;
    return name_table_add(&t->names, name, t->names.count);
}

static Onnx__TensorProto *find_tensor(const struct tensors *t, const char *name)
{
    size_t index = name_table_find(&t->names, name);
    return index == NO_NAME ? NULL : t->at[index];
}

static Onnx__TensorProto *constant_of(const Onnx__NodeProto *node)
{
    for (size_t k = 0; node->n_output == 1 && k < node->n_attribute; k++)
        if (node->attribute[k]->t)
            return node->attribute[k]->t;
    return NULL;
}

static bool note_tensors(struct tensors *t, const Onnx__GraphProto *graph, size_t more)
{
    bool good = (t->at = calloc(graph->n_initializer + graph->n_node + more + 1, sizeof(*t->at)));
    for (size_t i = 0; good && i < graph->n_initializer; i++)
        good = note_tensor(t, graph->initializer[i]->name, graph->initializer[i]);
    for (size_t i = 0; good && i < graph->n_node; i++)
        good = !constant_of(graph->node[i]) ||
               note_tensor(t, graph->node[i]->output[0], constant_of(graph->node[i]));
    t->stored = t->names.count;
    return good;
}

/* The graph has room for it. */
static Onnx__TensorProto *add_initializer(Onnx__GraphProto *graph, const char *name)
{
    Onnx__TensorProto *tensor = malloc(sizeof *tensor);
    if (!tensor)
        return NULL;
    onnx__tensor_proto__init(tensor);
    graph->initializer[graph->n_initializer++] = tensor;
    tensor->name = strdup(name);
    tensor->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
    tensor->has_data_type = true;
    return tensor->name ? tensor : NULL;
}

/* Constants that the file computes are stored now. */
static bool store_computed(struct writer *w, struct tensors *t, Onnx__GraphProto *graph)
{
    const struct glcnn_onnx_record *record = w->record;
    Onnx__TensorProto **all = realloc(
        graph->initializer, (graph->n_initializer + record->parameter_count + 1) * sizeof *all);
    graph->initializer = all ? all : graph->initializer;
    bool good = all;
    for (size_t i = 0; good && i < record->parameter_count; i++) {
        const char *name = record->parameters[i].name;
        if (find_tensor(t, name))
            continue;
        Onnx__TensorProto *tensor = add_initializer(graph, name);
        good = tensor && note_tensor(t, tensor->name, tensor);
    }
    return good;
}

/* Whoever computes a constant that is stored now goes. */
static void drop_computing(const struct tensors *t, Onnx__GraphProto *graph)
{
    size_t kept = 0;
    for (size_t i = 0; i < graph->n_node; i++) {
        Onnx__NodeProto *node = graph->node[i];
        size_t index = node->n_output == 1 ? name_table_find(&t->names, node->output[0]) : NO_NAME;
        if (index != NO_NAME && index >= t->stored)
            onnx__node_proto__free_unpacked(node, NULL);
        else
            graph->node[kept++] = node;
    }
    graph->n_node = kept;
}

/* The number of classes of the model's outputs, where a parameter has another one now. */
static void follow_outputs(Onnx__GraphProto *graph, const struct glcnn_onnx_parameter *p,
                           const Onnx__TensorProto *tensor)
{
    if (p->output_dimension < 0 || (size_t)p->output_dimension >= tensor->n_dims)
        return;
    int64_t before = p->dimensions[p->output_dimension], now = tensor->dims[p->output_dimension];
    for (size_t i = 0; before != now && i < graph->n_output; i++) {
        const Onnx__TypeProto__Tensor *type = described_tensor(graph->output[i]);
        const Onnx__TensorShapeProto *shape = type ? type->shape : NULL;
        if (shape && shape->n_dim > 1 && shape->dim[1]->dim_value == before)
            shape->dim[1]->dim_value = now;
    }
    if (before == now)
        return;
    for (size_t i = 0; i < graph->n_value_info; i++)
        onnx__value_info_proto__free_unpacked(graph->value_info[i], NULL);
    graph->n_value_info = 0;
}

static bool check_parameters(struct writer *w)
{
    for (size_t i = 0; i < w->record->parameter_count; i++)
        if (!w->record->parameters[i].name || !w->record->parameters[i].vector)
            return onnx_fail(&w->messages, GLCNN_INVALID_ARGUMENT,
                             "parameter %zu of the record has no name or no vector", i);
    return true;
}

static bool write_tensors(struct writer *w, Onnx__GraphProto *graph,
                          const struct name_table *labels, const struct tensors *tensors)
{
    for (size_t i = 0; i < w->record->parameter_count; i++) {
        const struct glcnn_onnx_parameter *p = &w->record->parameters[i];
        Onnx__TensorProto *tensor = find_tensor(tensors, p->name);
        if (!write_parameter(w, p, find_filter(w, labels, p->filter), tensor))
            return false;
        follow_outputs(graph, p, tensor);
    }
    return true;
}

static bool write_parameters(struct writer *w, Onnx__GraphProto *graph,
                             const struct name_table *labels)
{
    struct tensors tensors = {.at = NULL};
    if (!check_parameters(w))
        return false;
    bool noted = note_tensors(&tensors, graph, w->record->parameter_count) &&
                 store_computed(w, &tensors, graph);
    if (noted)
        drop_computing(&tensors, graph);
    bool written = noted ? write_tensors(w, graph, labels, &tensors) &&
                               (prune_graph(graph) || onnx_no_memory(&w->messages))
                         : onnx_no_memory(&w->messages);
    name_table_free(&tensors.names);
    free(tensors.at);
    return written;
}

/* ---- Biases that the file does not have ---- */

/* Labels of filters whose biases the record has. */
static bool note_biases(struct writer *w, struct name_table *noted)
{
    for (size_t i = 0; i < w->record->parameter_count; i++) {
        const struct glcnn_onnx_parameter *p = &w->record->parameters[i];
        if (strcmp(p->vector, "biases") == 0 && name_table_find(noted, p->filter) == NO_NAME &&
            !name_table_add(noted, p->filter, i))
            return onnx_no_memory(&w->messages);
    }
    return true;
}

static bool is_zero(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] != 0)
            return false;
    return true;
}

static bool refuse_values(struct writer *w, glcnn_filter_node *filter)
{
    size_t count;
    if (!glcnn_kernel_has_vector(glcnn_filter_node_kernel(filter), "biases"))
        return true;
    float *values = write_vector(w, filter, "biases", &count);
    bool good = values && (is_zero(values, count) ||
                           onnx_fail(&w->messages, GLCNN_INVALID_ARGUMENT,
                                     "filter \"%.80s\" has biases other than 0, for which "
                                     "the record's file has no place; make it without_biases",
                                     glcnn_filter_node_label(filter)));
    free(values);
    return good;
}

/* A layer that has none there was read as one without biases. */
static bool refuse_biases(struct writer *w, const struct name_table *labels)
{
    struct name_table noted = {0};
    bool good = note_biases(w, &noted);
    for (size_t i = 0; good && i < w->record->parameter_count; i++) {
        const struct glcnn_onnx_parameter *p = &w->record->parameters[i];
        good = strcmp(p->vector, "weights") != 0 || name_table_find(&noted, p->filter) != NO_NAME ||
               refuse_values(w, find_filter(w, labels, p->filter));
    }
    name_table_free(&noted);
    return good;
}

/* Labels of forward filters, by the filters' numbers. */
static bool note_labels(struct writer *w, struct name_table *labels)
{
    glcnn_filter_node *filter;
    for (size_t i = 0; (filter = glcnn_network_filter(w->network, i)); i++) {
        const char *label = glcnn_filter_node_label(filter);
        if (!glcnn_filter_node_forward(filter, NULL) && label &&
            name_table_find(labels, label) == NO_NAME && !name_table_add(labels, label, i))
            return onnx_no_memory(&w->messages);
    }
    return true;
}

static Onnx__ModelProto *fill_skeleton(struct writer *w)
{
    const struct glcnn_onnx_record *record = w->record;
    struct name_table labels = {0};
    bool is_deep = !nesting_check(&w->messages, record->skeleton, record->skeleton_size);
    Onnx__ModelProto *model =
        is_deep ? NULL : onnx__model_proto__unpack(NULL, record->skeleton_size, record->skeleton);
    if (!model || !model->graph)
        onnx_fail(&w->messages, GLCNN_MALFORMED_DATA, "the record's skeleton is not an ONNX model");
    else if (note_labels(w, &labels) && write_parameters(w, model->graph, &labels))
        refuse_biases(w, &labels);
    name_table_free(&labels);
    return model;
}

static bool check_arguments(struct writer *w, uint8_t **bytes, const size_t *size)
{
    const bool is_given = w->network && bytes && size && (!w->record || w->record->skeleton);
    return is_given || onnx_fail(&w->messages, GLCNN_INVALID_ARGUMENT, "%s is NULL",
                                 !w->network       ? "network"
                                 : !bytes || !size ? "bytes or size"
                                                   : "the skeleton");
}

/* The model, as the options have it; to be freed. */
static Onnx__ModelProto *make_model(struct writer *w)
{
    Onnx__ModelProto *model = w->record ? fill_skeleton(w) : write_network(w);
    if (w->messages.status != GLCNN_SUCCESS)
        return model;
    write_detector(w, model->graph);
    write_preprocessing(w, model->graph);
    write_batch_size(w, model->graph);
    write_entries(w, model);
    return model;
}

glcnn_status glcnn_onnx_write_with(glcnn_network *network,
                                   const struct glcnn_onnx_write_options *options, uint8_t **bytes,
                                   size_t *size, char error[GLCNN_ERROR_LENGTH])
{
    struct writer w = {.network = network, .record = options->record, .options = options};
    Onnx__ModelProto *model = NULL;
    if (bytes)
        *bytes = NULL;
    if (check_arguments(&w, bytes, size))
        model = make_model(&w);
    if (w.messages.status == GLCNN_SUCCESS)
        write_bytes(&w, model, bytes, size);
    if (model)
        onnx__model_proto__free_unpacked(model, NULL);
    taken_free(&w.values);
    taken_free(&w.nodes);
    if (error && w.messages.status != GLCNN_SUCCESS)
        memcpy(error, w.messages.text, sizeof w.messages.text);
    return w.messages.status;
}

glcnn_status glcnn_onnx_write(glcnn_network *network, const struct glcnn_onnx_record *record,
                              const struct glcnn_onnx_image *inputs, size_t input_count,
                              uint8_t **bytes, size_t *size, char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_onnx_write_options options = {
        .record = record, .inputs = inputs, .input_count = inputs ? input_count : 0};
    return glcnn_onnx_write_with(network, &options, bytes, size, error);
}

void glcnn_onnx_destroy(uint8_t *bytes)
{
    free(bytes);
}
