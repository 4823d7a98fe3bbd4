/* A model as int8: prepared, then written by the ranges of its values. */
#include "onnx/quantize.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/build.h"
#include "onnx/cut.h"
#include "onnx/prune.h"

#define OLDEST_OPSET 13 /* of QuantizeLinear by an axis */

/* ---- The model ---- */

bool quantizing_is_well(const struct quantizing *q)
{
    return q->writer.messages.status == GLCNN_SUCCESS;
}

static bool unpack(struct quantizing *q, const uint8_t *bytes, size_t size)
{
    struct reader *messages = &q->writer.messages;
    if (!bytes)
        return onnx_fail(messages, GLCNN_INVALID_ARGUMENT, "bytes is NULL");
    if (!nesting_check(messages, bytes, size))
        return false;
    q->model = onnx__model_proto__unpack(NULL, size, bytes);
    q->graph = q->model ? q->model->graph : NULL;
    return q->graph || onnx_fail(messages, GLCNN_MALFORMED_DATA, "the bytes are no ONNX model");
}

static bool check_opset(struct quantizing *q)
{
    int64_t version = 0;
    for (size_t i = 0; i < q->model->n_opset_import; i++)
        if (!text_of(q->model->opset_import[i]->domain)[0])
            version = q->model->opset_import[i]->version;
    return version >= OLDEST_OPSET ||
           onnx_fail(&q->writer.messages, GLCNN_UNSUPPORTED,
                     "the model is of opset %d; int8 by channels needs %d or later: write it "
                     "from the network, without the record of its file",
                     (int)version, OLDEST_OPSET);
}

/* Names that new nodes and initialisers may not have; none twice. */
static bool take_names(struct quantizing *q)
{
    const Onnx__GraphProto *graph = q->graph;
    struct writer *w = &q->writer;
    for (size_t i = 0; i < graph->n_initializer && quantizing_is_well(q); i++) {
        const char *name = text_of(graph->initializer[i]->name);
        taken_add(w, &w->values, name, NULL);
        if (name_table_find(&q->tensors, name) == NO_NAME && !name_table_add(&q->tensors, name, i))
            return onnx_no_memory(&w->messages);
    }
    for (size_t i = 0; i < graph->n_input && quantizing_is_well(q); i++)
        taken_add(w, &w->values, text_of(graph->input[i]->name), NULL);
    for (size_t i = 0; i < graph->n_node && quantizing_is_well(q); i++) {
        taken_add(w, &w->nodes, text_of(graph->node[i]->name), NULL);
        for (size_t k = 0; k < graph->node[i]->n_output && quantizing_is_well(q); k++)
            taken_add(w, &w->values, text_of(graph->node[i]->output[k]), NULL);
    }
    return quantizing_is_well(q);
}

/* Unpacks a model. False, with the message in `writer`: it cannot be used. */
static bool open_model(struct quantizing *q, const uint8_t *bytes, size_t size)
{
    *q = (struct quantizing){.model = NULL};
    return unpack(q, bytes, size) && check_opset(q) && take_names(q);
}

static void close_model(struct quantizing *q)
{
    if (q->model)
        onnx__model_proto__free_unpacked(q->model, NULL);
    taken_free(&q->writer.values);
    taken_free(&q->writer.nodes);
    name_table_free(&q->tensors);
    name_table_free(&q->names);
    free(q->values);
    free(q->roles);
    free(q->notes);
    *q = (struct quantizing){.writer.messages = q->writer.messages};
}

void quantizing_note(struct quantizing *q, const char *format, ...)
{
    char line[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    const size_t length = q->notes ? strlen(q->notes) : 0;
    char *notes = realloc(q->notes, length + strlen(line) + 2);
    if (!notes) {
        onnx_no_memory(&q->writer.messages);
        return;
    }
    snprintf(notes + length, strlen(line) + 2, "%s\n", line);
    q->notes = notes;
}

/* ---- Attributes and numbers ---- */

int64_t quantizing_int(const Onnx__NodeProto *node, const char *name, int64_t otherwise)
{
    return attribute_int(&(struct call){.node = node}, name, otherwise);
}

float quantizing_float(const Onnx__NodeProto *node, const char *name, float otherwise)
{
    return attribute_float(&(struct call){.node = node}, name, otherwise);
}

Onnx__TensorProto *quantizing_tensor(const struct quantizing *q, const Onnx__NodeProto *node,
                                     size_t i)
{
    const size_t index = i < node->n_input && text_of(node->input[i])[0]
                             ? name_table_find(&q->tensors, node->input[i])
                             : NO_NAME;
    return index == NO_NAME ? NULL : q->graph->initializer[index];
}

/* As many as the dimensions say; SIZE_MAX: they are wrong. */
static size_t count_numbers(const Onnx__TensorProto *tensor)
{
    size_t count = 1;
    for (size_t i = 0; i < tensor->n_dims; i++) {
        if (tensor->dims[i] < 0 || (tensor->dims[i] && count > INT32_MAX / (size_t)tensor->dims[i]))
            return SIZE_MAX;
        count *= (size_t)tensor->dims[i];
    }
    return count;
}

float *quantizing_numbers(const struct quantizing *q, const Onnx__NodeProto *node, size_t i,
                          size_t *count)
{
    const Onnx__TensorProto *t = quantizing_tensor(q, node, i);
    *count = t ? count_numbers(t) : 0;
    if (!t || t->data_type != ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT || *count == SIZE_MAX)
        return NULL;
    const bool is_raw = t->has_raw_data && t->raw_data.len == *count * sizeof(float);
    if (!is_raw && t->n_float_data != *count)
        return NULL;
    float *values = malloc((*count + 1) * sizeof *values);
    if (values && *count > 0)
        memcpy(values, is_raw ? (const void *)t->raw_data.data : t->float_data,
               *count * sizeof *values);
    return values;
}

static struct channels plain_channels(size_t count, size_t channels, size_t inner, int axis)
{
    return (struct channels){channels, channels, inner, count, axis};
}

bool quantizing_channels(const struct quantizing *q, const Onnx__NodeProto *node,
                         struct channels *channels)
{
    const char *type = text_of(node->op_type);
    const Onnx__TensorProto *t = quantizing_tensor(q, node, 1);
    const size_t count = t ? count_numbers(t) : 0, rank = t ? t->n_dims : 0;
    if (!t || t->data_type != ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT || count == SIZE_MAX ||
        count == 0 || rank < 2)
        return false;
    const size_t first = (size_t)t->dims[0], second = (size_t)t->dims[1];
    const int64_t groups = quantizing_int(node, "group", 1);
    const bool is_turned = quantizing_int(node, "transB", 0) != 0;
    if (strcmp(type, "Conv") == 0 || (strcmp(type, "Gemm") == 0 && rank == 2 && is_turned))
        *channels = plain_channels(count, first, count / first, 0);
    else if (strcmp(type, "Gemm") == 0 && rank == 2)
        *channels = plain_channels(count, second, 1, 1);
    else if (strcmp(type, "MatMul") == 0)
        *channels =
            rank == 2 ? plain_channels(count, second, 1, 1) : plain_channels(count, 1, count, -1);
    else if (strcmp(type, "ConvTranspose") == 0 && groups > 0 && first % (size_t)groups == 0)
        *channels = (struct channels){second * (size_t)groups, second, count / first / second,
                                      count / (size_t)groups, groups == 1 ? 1 : -1};
    else
        return false;
    return true;
}

size_t channel_of(const struct channels *c, size_t i)
{
    return i / c->group_size * c->per_group + i / c->inner % c->per_group;
}

/* ---- What users call ---- */

static glcnn_status tell(const struct quantizing *q, char *error)
{
    if (error && !quantizing_is_well(q))
        memcpy(error, q->writer.messages.text, sizeof q->writer.messages.text);
    return q->writer.messages.status;
}

static char *copy_text(struct quantizing *q, const char *text)
{
    char *copy = strdup(text ? text : "");
    if (!copy)
        onnx_no_memory(&q->writer.messages);
    return copy;
}

static void fill_ranges(struct quantizing *q, struct glcnn_onnx_quantization *made)
{
    made->ranges = calloc(q->range_count + 1, sizeof *made->ranges);
    if (!made->ranges) {
        onnx_no_memory(&q->writer.messages);
        return;
    }
    made->range_count = q->range_count;
    for (size_t i = 0; i < q->value_count && quantizing_is_well(q); i++) {
        const struct quantized_value *v = &q->values[i];
        if (v->range == NOWHERE)
            continue;
        struct glcnn_onnx_range *range = &made->ranges[v->range];
        range->name = copy_text(q, v->name);
        range->node = v->maker == NOWHERE ? NULL : copy_text(q, q->graph->node[v->maker]->name);
    }
}

/* The model with its normalisations folded; *notes are the caller's. */
static bool fold(struct quantizing *q, const uint8_t *bytes, size_t size,
                 struct glcnn_onnx_quantization *made, char **notes)
{
    const bool good = open_model(q, bytes, size) && quantizing_fold(q) &&
                      (prune_graph(q->graph) || onnx_no_memory(&q->writer.messages)) &&
                      write_bytes(&q->writer, q->model, &made->bytes, &made->size);
    *notes = q->notes;
    q->notes = NULL;
    close_model(q);
    return good;
}

static void prepare(struct quantizing *q, const uint8_t *bytes, size_t size,
                    struct glcnn_onnx_quantization *made)
{
    char *notes = NULL;
    const bool is_folded = fold(q, bytes, size, made, &notes);
    if (!is_folded || !open_model(q, made->bytes, made->size)) {
        free(notes);
        return;
    }
    q->notes = notes;
    made->largest_weight = 127;
    if (!quantizing_plan(q))
        return;
    fill_ranges(q, made);
    made->notes = copy_text(q, q->notes);
}

glcnn_status glcnn_onnx_quantization_create(const uint8_t *bytes, size_t size,
                                            struct glcnn_onnx_quantization **quantization,
                                            char error[GLCNN_ERROR_LENGTH])
{
    struct quantizing q = {.model = NULL};
    if (quantization)
        *quantization = calloc(1, sizeof **quantization);
    if (!quantization)
        onnx_fail(&q.writer.messages, GLCNN_INVALID_ARGUMENT, "quantization is NULL");
    else if (!*quantization)
        onnx_no_memory(&q.writer.messages);
    else
        prepare(&q, bytes, size, *quantization);
    if (!quantizing_is_well(&q))
        glcnn_onnx_quantization_destroy(quantization);
    const glcnn_status status = tell(&q, error);
    close_model(&q);
    return status;
}

void glcnn_onnx_quantization_destroy(struct glcnn_onnx_quantization **quantization)
{
    struct glcnn_onnx_quantization *made = quantization ? *quantization : NULL;
    if (!made)
        return;
    for (size_t i = 0; i < made->range_count; i++) {
        free((char *)made->ranges[i].name);
        free((char *)made->ranges[i].node);
    }
    free(made->ranges);
    free((char *)made->notes);
    free(made->bytes);
    free(made);
    *quantization = NULL;
}

static bool check_ranges(struct quantizing *q, const struct glcnn_onnx_quantization *from)
{
    for (size_t i = 0; i < from->range_count; i++) {
        const struct glcnn_onnx_range *r = &from->ranges[i];
        if (!isfinite(r->least) || !isfinite(r->most) || r->least > r->most)
            return onnx_fail(&q->writer.messages, GLCNN_INVALID_ARGUMENT,
                             "the range of \"%.80s\" is %g .. %g; expected two finite numbers, the "
                             "first not above the second",
                             r->name, (double)r->least, (double)r->most);
    }
    if (from->largest_weight < 1 || from->largest_weight > 127)
        return onnx_fail(&q->writer.messages, GLCNN_INVALID_ARGUMENT,
                         "largest_weight is %d; expected 1 to 127", from->largest_weight);
    return from->range_count == q->range_count ||
           onnx_fail(&q->writer.messages, GLCNN_INVALID_ARGUMENT,
                     "%zu ranges are given; the model has %zu", from->range_count, q->range_count);
}

glcnn_status glcnn_onnx_quantize(struct glcnn_onnx_quantization *from, uint8_t **made,
                                 size_t *made_size, char error[GLCNN_ERROR_LENGTH])
{
    struct quantizing q = {.model = NULL};
    if (made)
        *made = NULL;
    if (!from || !made || !made_size)
        onnx_fail(&q.writer.messages, GLCNN_INVALID_ARGUMENT, "%s is NULL",
                  from ? "made or its size" : "quantization");
    else if (open_model(&q, from->bytes, from->size) && quantizing_plan(&q) &&
             check_ranges(&q, from) && quantizing_insert(&q, from))
        write_bytes(&q.writer, q.model, made, made_size);
    const glcnn_status status = tell(&q, error);
    close_model(&q);
    return status;
}

/* ---- Values as outputs ---- */

static bool expose(struct quantizing *q, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (quantizing_value(q, names[i]) == NOWHERE)
            return onnx_fail(&q->writer.messages, GLCNN_INVALID_ARGUMENT,
                             "the model has no value \"%.80s\"", text_of(names[i]));
    if (!cut_drop_outputs(q->graph))
        return onnx_no_memory(&q->writer.messages);
    for (size_t i = 0; i < count; i++)
        build_value(&q->writer, q->graph, true, names[i], NULL, 0);
    return quantizing_is_well(q) && (prune_graph(q->graph) || onnx_no_memory(&q->writer.messages));
}

glcnn_status glcnn_onnx_expose(const uint8_t *bytes, size_t size, const char *const *names,
                               size_t count, uint8_t **made, size_t *made_size,
                               char error[GLCNN_ERROR_LENGTH])
{
    struct quantizing q = {.model = NULL};
    if (made)
        *made = NULL;
    if (!names || !made || !made_size)
        onnx_fail(&q.writer.messages, GLCNN_INVALID_ARGUMENT, "%s is NULL",
                  names ? "made or its size" : "names");
    else if (open_model(&q, bytes, size) && quantizing_find_values(&q) && expose(&q, names, count))
        write_bytes(&q.writer, q.model, made, made_size);
    const glcnn_status status = tell(&q, error);
    close_model(&q);
    return status;
}
