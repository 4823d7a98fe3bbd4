/* What a file is given beside its network: preprocessing before it, a size of the batch, and metadata. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/build.h"
#include "onnx/cut.h"

static bool is_well(const struct writer *w)
{
    return w->messages.status == GLCNN_SUCCESS;
}

static bool refuse(struct writer *w, const char *message)
{
    return onnx_fail(&w->messages, GLCNN_INVALID_ARGUMENT, "%s", message);
}

/* ---- Names ---- */

static void take(struct writer *w, const char *name)
{
    if (is_well(w) && name[0] && name_table_find(&w->values.table, name) == NO_NAME)
        taken_add(w, &w->values, name, NULL);
}

/* A graph that was not written here has names that nobody has taken yet. */
static void take_names(struct writer *w, const Onnx__GraphProto *graph)
{
    for (size_t i = 0; i < graph->n_initializer; i++)
        take(w, text_of(graph->initializer[i]->name));
    for (size_t i = 0; i < graph->n_node; i++)
        for (size_t k = 0; k < graph->node[i]->n_output; k++)
            take(w, text_of(graph->node[i]->output[k]));
}

bool write_reserve(struct writer *w)
{
    static const char *const outputs[][5] = {
        [GLCNN_ONNX_BOXES_YOLO] = {"output"},
        [GLCNN_ONNX_BOXES_NMS] = {"boxes", "scores", "classes", "pictures"}};
    const struct glcnn_onnx_write_options *o = w->options;
    if (o->preprocessing && o->preprocessing->input)
        take(w, o->preprocessing->input);
    for (size_t i = 0; o->detector && outputs[o->detector->boxes][i]; i++)
        take(w, outputs[o->detector->boxes][i]);
    return is_well(w);
}

/* ---- Preprocessing ---- */

static bool has_name(const Onnx__GraphProto *graph, const char *name)
{
    for (size_t i = 0; i < graph->n_initializer; i++)
        if (strcmp(text_of(graph->initializer[i]->name), name) == 0)
            return true;
    return cut_has_value(graph, name);
}

/* Is it N,C,H,W of so many channels? */
static bool has_channels(const struct writer *w, const Onnx__ValueInfoProto *info,
                         uint32_t channels)
{
    static const uint8_t order[] = {GLCNN_ONNX_AXIS_N, GLCNN_ONNX_AXIS_C, GLCNN_ONNX_AXIS_H,
                                    GLCNN_ONNX_AXIS_W};
    const Onnx__TypeProto__Tensor *tensor = described_tensor(info);
    const bool is_usual = !w->record || w->record->input_count == 0 ||
                          memcmp(w->record->inputs[0].order, order, sizeof order) == 0;
    return is_usual && tensor && tensor->shape && tensor->shape->n_dim == AXES &&
           tensor->elem_type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT &&
           (tensor->shape->dim[C]->value_case !=
                ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE ||
            tensor->shape->dim[C]->dim_value == (int64_t)channels);
}

static bool check_input(struct writer *w, const Onnx__GraphProto *graph)
{
    const struct glcnn_onnx_preprocessing *p = w->options->preprocessing;
    if (graph->n_input != 1 || !has_channels(w, graph->input[0], p->channels))
        return onnx_fail(&w->messages, GLCNN_INVALID_ARGUMENT,
                         "preprocessing is of models with one input N,C,H,W of float32 with %u "
                         "channels, which this one has not",
                         p->channels);
    if (p->is_blue_first && p->channels != 3)
        return onnx_fail(
            &w->messages, GLCNN_INVALID_ARGUMENT,
            "pictures whose blue comes first have three channels, and the model takes %u",
            p->channels);
    if (!p->input || !p->mean || !p->deviation)
        return refuse(w, "preprocessing lacks a name, mean or deviation");
    if (has_name(graph, p->input))
        return onnx_fail(&w->messages, GLCNN_INVALID_ARGUMENT,
                         "the preprocessing's input is to be called \"%.80s\", a value that the "
                         "model has already",
                         p->input);
    return true;
}

/* The network's input becomes a value that states its type, and the graph has another input of its sizes. */
static void replace_input(struct writer *w, Onnx__GraphProto *graph, bool takes_bytes)
{
    Onnx__ValueInfoProto *old = graph->input[0];
    const Onnx__TensorShapeProto *shape = described_tensor(old)->shape;
    Onnx__ValueInfoProto **infos =
        realloc(graph->value_info, (graph->n_value_info + 1) * sizeof(void *));
    int64_t dims[AXES];
    if (!infos) {
        onnx_no_memory(&w->messages);
        return;
    }
    graph->value_info = infos;
    graph->n_input = 0;
    infos[graph->n_value_info++] = old;
    for (size_t i = 0; i < AXES; i++)
        dims[i] = shape->dim[i]->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE
                      ? shape->dim[i]->dim_value
                      : 0;
    build_value(w, graph, false, w->options->preprocessing->input, dims, AXES);
    if (!is_well(w))
        return;
    Onnx__TypeProto__Tensor *type = graph->input[0]->type->tensor_type;
    if (takes_bytes)
        type->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__UINT8;
    /* Each open size keeps the name that it had. */
    for (size_t i = 0; i < AXES; i++) {
        Onnx__TensorShapeProto__Dimension *d = type->shape->dim[i];
        char *name = NULL;
        if (shape->dim[i]->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
            !(name = strdup(text_of(shape->dim[i]->dim_param))))
            onnx_no_memory(&w->messages);
        if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM)
            free(d->dim_param);
        d->value_case = shape->dim[i]->value_case;
        if (name)
            d->dim_param = name;
        else if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
            d->dim_value = dims[i];
        else
            d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE__NOT_SET;
    }
}

/* The preprocessing's nodes, whose last makes what the network's input was. */
static void build_preprocessing(struct writer *w, Onnx__GraphProto *graph, const char *result)
{
    const struct glcnn_onnx_preprocessing *p = w->options->preprocessing;
    const bool takes_bytes = p->pixels == GLCNN_ONNX_PIXELS_BYTES;
    const int64_t dims[] = {(int64_t)p->channels, 1, 1}, three = 3, turned[] = {2, 1, 0};
    const char *x = p->input;
    float *numbers = malloc(2 * (size_t)p->channels * sizeof *numbers + 1);
    if (!numbers) {
        onnx_no_memory(&w->messages);
        return;
    }
    for (uint32_t c = 0; c < p->channels; c++) {
        const double deviation = (double)p->deviation[c];
        numbers[c] = (float)(1 / (deviation * (takes_bytes ? 255 : 1)));
        numbers[p->channels + c] = (float)(-(double)p->mean[c] / deviation);
    }
    if (takes_bytes) {
        const char *real = taken_add(w, &w->values, p->input, "real");
        Onnx__NodeProto *cast =
            real ? build_node(w, graph, "Cast", real, (const char *[]){x, NULL}) : NULL;
        build_int(w, cast, "to", ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT);
        x = real;
    }
    if (p->is_blue_first && is_well(w)) {
        const char *order = taken_add(w, &w->values, p->input, "order"),
                   *red = taken_add(w, &w->values, p->input, "red_first");
        if (order && red)
            build_tensor(w, graph, order, &three, 1, NULL, turned);
        Onnx__NodeProto *gather =
            order && red ? build_node(w, graph, "Gather", red, (const char *[]){x, order, NULL})
                         : NULL;
        build_int(w, gather, "axis", C);
        x = red;
    }
    const char *scale = taken_add(w, &w->values, p->input, "scale"),
               *shift = taken_add(w, &w->values, p->input, "shift"),
               *scaled = taken_add(w, &w->values, p->input, "scaled");
    if (is_well(w) && scale && shift && scaled) {
        build_tensor(w, graph, scale, dims, 3, numbers, NULL);
        build_tensor(w, graph, shift, dims, 3, numbers + p->channels, NULL);
        build_node(w, graph, "Mul", scaled, (const char *[]){x, scale, NULL});
        build_node(w, graph, "Add", result, (const char *[]){scaled, shift, NULL});
    }
    free(numbers);
}

/* Brings nodes from number `first` on before the others. */
static void move_to_front(struct writer *w, Onnx__GraphProto *graph, size_t first)
{
    const size_t count = graph->n_node - first;
    Onnx__NodeProto **moved = malloc((count + 1) * sizeof(void *));
    if (!moved) {
        onnx_no_memory(&w->messages);
        return;
    }
    memcpy(moved, graph->node + first, count * sizeof(void *));
    memmove(graph->node + count, graph->node, first * sizeof(void *));
    memcpy(graph->node, moved, count * sizeof(void *));
    free(moved);
}

void write_preprocessing(struct writer *w, Onnx__GraphProto *graph)
{
    const struct glcnn_onnx_preprocessing *p = w->options->preprocessing;
    const size_t nodes = graph->n_node;
    if (!is_well(w) || !p || p->pixels == GLCNN_ONNX_PIXELS_NORMALISED || !check_input(w, graph))
        return;
    const char *result = text_of(graph->input[0]->name);
    if (w->record)
        take_names(w, graph);
    replace_input(w, graph, p->pixels == GLCNN_ONNX_PIXELS_BYTES);
    if (is_well(w))
        build_preprocessing(w, graph, result);
    if (is_well(w))
        move_to_front(w, graph, nodes);
}

/* ---- The batch ---- */

static Onnx__TensorShapeProto__Dimension *batch_of(const Onnx__ValueInfoProto *info)
{
    const Onnx__TypeProto__Tensor *tensor = described_tensor(info);
    return tensor && tensor->shape && tensor->shape->n_dim > 0 ? tensor->shape->dim[0] : NULL;
}

static void set_size(Onnx__TensorShapeProto__Dimension *d, int64_t size)
{
    if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM)
        free(d->dim_param);
    d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
    d->dim_value = size;
}

/* A size that a file leaves open stands in all its values by one name. */
static void replace_named(Onnx__ValueInfoProto *const *infos, size_t count, const char *name,
                          int64_t size)
{
    for (size_t i = 0; i < count; i++) {
        const Onnx__TypeProto__Tensor *tensor = described_tensor(infos[i]);
        for (size_t k = 0; tensor && tensor->shape && k < tensor->shape->n_dim; k++) {
            Onnx__TensorShapeProto__Dimension *d = tensor->shape->dim[k];
            if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
                strcmp(text_of(d->dim_param), name) == 0)
                set_size(d, size);
        }
    }
}

static void fix_batch(struct writer *w, Onnx__GraphProto *graph, const Onnx__ValueInfoProto *input)
{
    const int64_t batch = (int64_t)w->options->batch;
    Onnx__TensorShapeProto__Dimension *d = batch_of(input);
    if (!d) {
        onnx_fail(&w->messages, GLCNN_INVALID_ARGUMENT,
                  "input \"%.80s\" has no axis that could be the batch", text_of(input->name));
        return;
    }
    if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE && d->dim_value > 0) {
        if (d->dim_value != batch)
            onnx_fail(&w->messages, GLCNN_INVALID_ARGUMENT,
                      "a batch of %u is asked for, and the file's input \"%.80s\" is of %lld alone",
                      w->options->batch, text_of(input->name), (long long)d->dim_value);
        return;
    }
    char *name = d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM
                     ? strdup(text_of(d->dim_param))
                     : NULL;
    set_size(d, batch);
    if (name && name[0]) {
        replace_named(graph->input, graph->n_input, name, batch);
        replace_named(graph->output, graph->n_output, name, batch);
        replace_named(graph->value_info, graph->n_value_info, name, batch);
    }
    free(name);
}

void write_batch_size(struct writer *w, Onnx__GraphProto *graph)
{
    for (size_t i = 0; i < graph->n_input && is_well(w) && w->options->batch > 0; i++)
        fix_batch(w, graph, graph->input[i]);
}

/* ---- Metadata ---- */

static bool set_entry(Onnx__StringStringEntryProto *entry, const char *value)
{
    free(entry->value);
    entry->value = strdup(value);
    return entry->value;
}

static bool add_entry(Onnx__ModelProto *model, const struct glcnn_onnx_entry *from)
{
    for (size_t i = 0; i < model->n_metadata_props; i++)
        if (strcmp(text_of(model->metadata_props[i]->key), from->key) == 0)
            return set_entry(model->metadata_props[i], from->value);
    Onnx__StringStringEntryProto **all =
        realloc(model->metadata_props, (model->n_metadata_props + 1) * sizeof(void *));
    model->metadata_props = all ? all : model->metadata_props;
    Onnx__StringStringEntryProto *entry = malloc(sizeof *entry);
    if (!all || !entry) {
        free(entry);
        return false;
    }
    onnx__string_string_entry_proto__init(entry);
    all[model->n_metadata_props++] = entry;
    entry->key = strdup(from->key);
    return entry->key && set_entry(entry, from->value);
}

void write_entries(struct writer *w, Onnx__ModelProto *model)
{
    for (size_t i = 0; i < w->options->entry_count && is_well(w); i++)
        if (!add_entry(model, &w->options->entries[i]))
            onnx_no_memory(&w->messages);
}
