/* QuantizeLinear and DequantizeLinear in a graph: around each value that becomes int8, and behind weights and
 * biases that are stored as whole numbers. A value keeps its name behind its DequantizeLinear, so that who
 * reads it is not touched, but for inputs of the model, whose names are users'. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/build.h"
#include "onnx/prune.h"
#include "onnx/quantize.h"

#define TYPE(NAME) ONNX__TENSOR_PROTO__DATA_TYPE__##NAME

/* A scale and its zero point. */
struct scale {
    float least, most, scale;
    int32_t zero;
    const char *scale_name, *zero_name; /* initialisers; NULL: not written yet */
};

struct insertion {
    struct quantizing *q;
    double largest_weight;
    struct scale *scales;  /* of groups, by their least value */
    size_t *carriers;      /* of values: the one whose maker makes it, where rectifiers vanish */
    const char **readable; /* of inputs: the name that int8 nodes read; NULL: none yet */
};

static bool is_well(const struct insertion *in)
{
    return quantizing_is_well(in->q);
}

/* ---- Scales ---- */

static void set_scale(struct scale *s)
{
    const double least = s->least < 0 ? (double)s->least : 0,
                 most = s->most > 0 ? (double)s->most : 0;
    const float scale = (float)((most - least) / 255);
    s->scale = scale > 0 ? scale : 1;
    s->zero = (int32_t)nearbyint(-128 - least / (double)s->scale);
}

/* Ranges that a function has whatever it is given. */
static void known_range(const struct quantizing *q, const struct quantized_value *v, float *least,
                        float *most)
{
    const char *type = v->maker == NOWHERE ? "" : text_of(q->graph->node[v->maker]->op_type);
    if (strcmp(type, "Sigmoid") == 0) {
        *least = 0;
        *most = 255.0f / 256;
    } else if (strcmp(type, "Tanh") == 0) {
        *least = -1;
        *most = 127.0f / 128;
    }
}

static void find_scales(struct insertion *in, const struct glcnn_onnx_range *ranges)
{
    struct quantizing *q = in->q;
    for (size_t i = 0; i < q->value_count; i++) {
        const struct quantized_value *v = &q->values[i];
        if (v->range == NOWHERE)
            continue;
        float least = ranges[v->range].least, most = ranges[v->range].most;
        struct scale *s = &in->scales[v->group];
        known_range(q, v, &least, &most);
        s->least = fminf(s->least, least);
        s->most = fmaxf(s->most, most);
    }
    for (size_t i = 0; i < q->value_count; i++)
        set_scale(&in->scales[i]);
}

/* ---- Rectifiers that vanish ---- */

/* What the rectifier holds its source within. */
static bool bounds_of(const struct quantizing *q, const Onnx__NodeProto *node, float bounds[2])
{
    bounds[0] = 0;
    bounds[1] = INFINITY;
    if (strcmp(text_of(node->op_type), "Relu") == 0)
        return true;
    bounds[0] = -INFINITY;
    for (size_t i = 1; i < 3 && i < node->n_input; i++) {
        size_t count;
        float *number = quantizing_numbers(q, node, i, &count);
        const bool is_given = text_of(node->input[i])[0];
        if (number && count == 1)
            bounds[i - 1] = number[0];
        free(number);
        if (is_given && (!number || count != 1))
            return false;
    }
    return bounds[0] <= 0 && bounds[1] >= 0;
}

/* Does int8 of the result's scale hold what the rectifier would? */
static bool vanishes(const struct insertion *in, size_t node)
{
    float bounds[2];
    const struct quantizing *q = in->q;
    const Onnx__NodeProto *n = q->graph->node[node];
    const size_t from = quantizing_value(q, n->input[0]), to = quantizing_value(q, n->output[0]);
    if (q->roles[node] != ROLE_RECTIFIER || from == NOWHERE)
        return false;
    const struct quantized_value *v = &q->values[from];
    const enum role maker = v->maker == NOWHERE ? ROLE_FLOAT : q->roles[v->maker];
    const bool is_own =
        maker == ROLE_LAYER || maker == ROLE_PAIR || maker == ROLE_MEAN || maker == ROLE_RECTIFIER;
    const struct scale *s = &in->scales[q->values[to].group];
    return is_own && v->readers == 1 && !v->is_output && v->group == from &&
           bounds_of(q, n, bounds) && s->least >= bounds[0] && s->most <= bounds[1];
}

/* A source that vanishes with its rectifier is what the result's maker makes. */
static void find_carriers(struct insertion *in, bool *is_gone)
{
    const struct quantizing *q = in->q;
    for (size_t i = 0; i < q->value_count; i++)
        in->carriers[i] = i;
    for (size_t i = q->graph->n_node; i-- > 0;) {
        const Onnx__NodeProto *node = q->graph->node[i];
        is_gone[i] = vanishes(in, i);
        if (is_gone[i])
            in->carriers[quantizing_value(q, node->input[0])] =
                in->carriers[quantizing_value(q, node->output[0])];
    }
}

/* ---- Initialisers ---- */

static const char *add_wholes(struct insertion *in, const char *base, const char *word, int type,
                              const int64_t *dims, size_t rank, const int32_t *values)
{
    struct writer *w = &in->q->writer;
    const char *name = is_well(in) ? taken_add(w, &w->values, base, word) : NULL;
    if (name)
        build_small_wholes(w, in->q->graph, name, type, dims, rank, values);
    return name;
}

static const char *add_floats(struct insertion *in, const char *base, const char *word,
                              const int64_t *dims, size_t rank, const float *values)
{
    struct writer *w = &in->q->writer;
    const char *name = is_well(in) ? taken_add(w, &w->values, base, word) : NULL;
    if (name)
        build_tensor(w, in->q->graph, name, dims, rank, values, NULL);
    return name;
}

/* ---- Nodes ---- */

static bool rename_text(struct insertion *in, char **text, const char *name)
{
    char *copy = name ? strdup(name) : NULL;
    if (!copy)
        return onnx_no_memory(&in->q->writer.messages);
    free(*text);
    *text = copy;
    return true;
}

/* A node that makes `output`, under a name that no other node has; false after a failure. */
static bool add_node(struct insertion *in, const char *operator, const char * output,
                     const char *const inputs[4], int axis)
{
    struct writer *w = &in->q->writer;
    Onnx__NodeProto *node = build_node(w, in->q->graph, operator, output, inputs);
    const char *name = node ? taken_add(w, &w->nodes, output, operator) : NULL;
    if (!name || !rename_text(in, &node->name, name))
        return false;
    if (axis >= 0)
        build_int(w, node, "axis", axis);
    return is_well(in);
}

/* Adds a node that dequantises whole numbers, and gives the name of what it makes. */
static const char *add_dequantize(struct insertion *in, const char *base, const char *word,
                                  const char *const inputs[4], int axis)
{
    struct writer *w = &in->q->writer;
    const char *name = is_well(in) ? taken_add(w, &w->values, base, word) : NULL;
    return name && inputs[0] && inputs[1] && add_node(in, "DequantizeLinear", name, inputs, axis)
               ? name
               : NULL;
}

/* The initialisers of a scale, which all values of a group share. */
static bool write_scale(struct insertion *in, struct scale *s, const char *base)
{
    if (!s->scale_name)
        s->scale_name = add_floats(in, base, "scale", NULL, 0, &s->scale);
    if (!s->zero_name)
        s->zero_name = add_wholes(in, base, "zero_point", TYPE(INT8), NULL, 0, &s->zero);
    return is_well(in);
}

/* Adds the two nodes that make `made` of `x` by way of int8. */
static bool add_pair(struct insertion *in, const char *x, const char *made, struct scale *s,
                     const char *base)
{
    struct writer *w = &in->q->writer;
    if (!write_scale(in, s, base))
        return false;
    const char *whole = taken_add(w, &w->values, base, "int8");
    return whole &&
           add_node(in, "QuantizeLinear", whole,
                    (const char *[]){x, s->scale_name, s->zero_name, NULL}, -1) &&
           add_node(in, "DequantizeLinear", made,
                    (const char *[]){whole, s->scale_name, s->zero_name, NULL}, -1);
}

static bool keep_node(struct insertion *in, Onnx__NodeProto *node)
{
    Onnx__GraphProto *graph = in->q->graph;
    Onnx__NodeProto **room = realloc(graph->node, (graph->n_node + 1) * sizeof *room);
    if (!room) {
        onnx__node_proto__free_unpacked(node, NULL);
        return onnx_no_memory(&in->q->writer.messages);
    }
    graph->node = room;
    graph->node[graph->n_node++] = node;
    return true;
}

/* ---- Sources ---- */

/* An input of the model has a name of the users': int8 nodes read it by another one. */
static bool read_input(struct insertion *in, size_t value, char **name)
{
    struct quantizing *q = in->q;
    struct writer *w = &q->writer;
    const struct quantized_value *v = &q->values[value];
    if (!in->readable[value]) {
        in->readable[value] = taken_add(w, &w->values, v->name, "dequantized");
        if (!in->readable[value] ||
            !add_pair(in, v->name, in->readable[value], &in->scales[v->group], v->name))
            return false;
    }
    return rename_text(in, name, in->readable[value]);
}

/* A constant beside a source, of one scale. */
static bool write_constant(struct insertion *in, Onnx__NodeProto *node, size_t i)
{
    size_t count;
    struct scale s = {.scale_name = NULL};
    const Onnx__TensorProto *tensor = quantizing_tensor(in->q, node, i);
    float *values = quantizing_numbers(in->q, node, i, &count);
    int32_t *wholes = values ? malloc((count + 1) * sizeof *wholes) : NULL;
    const char *base = text_of(node->name);
    if (!values || !wholes) {
        const bool is_left = !values; /* it stays as it is */
        free(values);
        free(wholes);
        return is_left || onnx_no_memory(&in->q->writer.messages);
    }
    for (size_t k = 0; k < count; k++) {
        s.least = fminf(s.least, values[k]);
        s.most = fmaxf(s.most, values[k]);
    }
    set_scale(&s);
    for (size_t k = 0; k < count; k++)
        wholes[k] =
            (int32_t)fmin(fmax(nearbyint((double)values[k] / (double)s.scale) + s.zero, -128), 127);
    free(values);
    const char *stored =
        add_wholes(in, base, "constant_int8", TYPE(INT8), tensor->dims, tensor->n_dims, wholes);
    free(wholes);
    const char *real =
        write_scale(in, &s, base)
            ? add_dequantize(in, base, "constant",
                             (const char *[]){stored, s.scale_name, s.zero_name, NULL}, -1)
            : NULL;
    return real && rename_text(in, &node->input[i], real);
}

/* ---- Weights ---- */

/* The scale of each output channel; larger where a bias would not fit. */
static float *find_weight_scales(const struct channels *c, const float *weights, size_t count,
                                 const float *biases, float source, double most)
{
    float *scales = calloc(c->count + 1, sizeof *scales);
    for (size_t i = 0; scales && i < count; i++) {
        float *largest = &scales[c->axis < 0 ? 0 : channel_of(c, i)];
        *largest = fmaxf(*largest, fabsf(weights[i]));
    }
    const size_t made = c->axis < 0 ? 1 : c->count;
    for (size_t i = 0; scales && i < made; i++)
        scales[i] = (float)((scales[i] > 0 ? (double)scales[i] : 1) / most);
    for (size_t i = 0; scales && biases && i < c->count; i++) {
        float *scale = &scales[c->axis < 0 ? 0 : i];
        *scale = fmaxf(*scale, (float)(fabs((double)biases[i]) / ((double)source * 0x7fffff00)));
    }
    return scales;
}

struct layer {
    struct channels channels;
    float *weights, *biases, *scales;
    size_t count, bias_count;
};

static bool write_weights(struct insertion *in, Onnx__NodeProto *node, const struct layer *l)
{
    const struct channels *c = &l->channels;
    const char *base = text_of(node->name);
    const Onnx__TensorProto *tensor = quantizing_tensor(in->q, node, 1);
    const int64_t made = c->axis < 0 ? 1 : (int64_t)c->count;
    int32_t *wholes = malloc((l->count + 1) * sizeof *wholes);
    int32_t *zeros = calloc((size_t)made + 1, sizeof *zeros);
    const char *inputs[4] = {NULL};
    for (size_t i = 0; wholes && zeros && i < l->count; i++) {
        const float scale = l->scales[c->axis < 0 ? 0 : channel_of(c, i)];
        wholes[i] = (int32_t)fmin(
            fmax(nearbyint((double)l->weights[i] / (double)scale), -in->largest_weight),
            in->largest_weight);
    }
    if (wholes && zeros) {
        const size_t rank = c->axis < 0 ? 0 : 1;
        inputs[0] =
            add_wholes(in, base, "weight_int8", TYPE(INT8), tensor->dims, tensor->n_dims, wholes);
        inputs[1] = add_floats(in, base, "weight_scale", &made, rank, l->scales);
        inputs[2] = add_wholes(in, base, "weight_zero_point", TYPE(INT8), &made, rank, zeros);
    } else {
        onnx_no_memory(&in->q->writer.messages);
    }
    free(wholes);
    free(zeros);
    const char *real = add_dequantize(in, base, "weight", inputs, c->axis);
    return real && rename_text(in, &node->input[1], real);
}

static bool write_biases(struct insertion *in, Onnx__NodeProto *node, const struct layer *l,
                         float source)
{
    const struct channels *c = &l->channels;
    const char *base = text_of(node->name);
    const int64_t count = (int64_t)c->count, made = c->axis < 0 ? 1 : count;
    int32_t *wholes = malloc((c->count + 1) * sizeof *wholes);
    float *scales = malloc((c->count + 1) * sizeof *scales);
    const char *inputs[4] = {NULL};
    for (size_t i = 0; wholes && scales && i < c->count; i++) {
        const size_t k = c->axis < 0 ? 0 : i;
        scales[k] = (float)((double)source * (double)l->scales[k]);
        wholes[i] = (int32_t)fmin(
            fmax(nearbyint((double)l->biases[i] / (double)scales[k]), -0x7fffffff), 0x7fffffff);
    }
    if (wholes && scales) {
        inputs[0] = add_wholes(in, base, "bias_int32", TYPE(INT32), &count, 1, wholes);
        inputs[1] = add_floats(in, base, "bias_scale", &made, c->axis < 0 ? 0 : 1, scales);
    } else {
        onnx_no_memory(&in->q->writer.messages);
    }
    free(wholes);
    free(scales);
    const char *real = add_dequantize(in, base, "bias", inputs, c->axis < 0 ? -1 : 0);
    return real && rename_text(in, &node->input[2], real);
}

/* A Gemm's C that is not one number for each channel stays as it is. */
static bool write_layer(struct insertion *in, Onnx__NodeProto *node, size_t source)
{
    struct layer l = {.weights = NULL};
    const float scale = in->scales[in->q->values[source].group].scale;
    bool good = quantizing_channels(in->q, node, &l.channels);
    l.weights = quantizing_numbers(in->q, node, 1, &l.count);
    l.biases = quantizing_numbers(in->q, node, 2, &l.bias_count);
    if (l.bias_count != l.channels.count || quantizing_float(node, "beta", 1) != 1 ||
        quantizing_float(node, "alpha", 1) != 1) {
        free(l.biases);
        l.biases = NULL;
    }
    l.scales = good && l.weights ? find_weight_scales(&l.channels, l.weights, l.count, l.biases,
                                                      scale, in->largest_weight)
                                 : NULL;
    good = l.scales
               ? write_weights(in, node, &l) && (!l.biases || write_biases(in, node, &l, scale))
               : onnx_no_memory(&in->q->writer.messages);
    free(l.weights);
    free(l.biases);
    free(l.scales);
    return good;
}

/* ---- Nodes that become int8 ---- */

static bool write_sources(struct insertion *in, Onnx__NodeProto *node, enum role role)
{
    const struct quantizing *q = in->q;
    const size_t count = quantizing_sources(node, role),
                 first = quantizing_value(q, node->input[0]);
    if (role == ROLE_LAYER && !write_layer(in, node, first))
        return false;
    for (size_t i = 0; i < count; i++) {
        const size_t value = quantizing_value(q, node->input[i]);
        if (value == NOWHERE) {
            if (role == ROLE_PAIR && !write_constant(in, node, i))
                return false;
        } else if (q->values[value].maker == NOWHERE && !read_input(in, value, &node->input[i])) {
            return false;
        }
    }
    return true;
}

/* Behind the node its result goes into int8 and back, and comes out under the name that others read. */
static bool write_result(struct insertion *in, char **output)
{
    struct quantizing *q = in->q;
    struct writer *w = &q->writer;
    const size_t made = quantizing_value(q, *output);
    const size_t value = made == NOWHERE ? NOWHERE : in->carriers[made];
    if (value == NOWHERE || q->values[value].range == NOWHERE)
        return true;
    const struct quantized_value *v = &q->values[value];
    const char *real = taken_add(w, &w->values, v->name, "float");
    return real && rename_text(in, output, real) &&
           add_pair(in, real, v->name, &in->scales[v->group], v->name);
}

/* Names of values are the nodes' own texts, which are renamed: they are copied first. */
static bool copy_names(struct quantizing *q)
{
    name_table_free(&q->names);
    q->names = (struct name_table){.slots = NULL};
    for (size_t i = 0; i < q->value_count; i++) {
        const size_t index = name_table_find(&q->writer.values.table, q->values[i].name);
        q->values[i].name = q->writer.values.at[index];
        if (!name_table_add(&q->names, q->values[i].name, i))
            return onnx_no_memory(&q->writer.messages);
    }
    return true;
}

static bool write_nodes(struct insertion *in, Onnx__NodeProto **nodes, size_t count,
                        const bool *is_gone)
{
    struct quantizing *q = in->q;
    for (size_t i = 0; i < count; i++) {
        Onnx__NodeProto *node = nodes[i];
        nodes[i] = NULL;
        if (is_gone[i]) {
            onnx__node_proto__free_unpacked(node, NULL);
            continue;
        }
        const bool good = q->roles[i] == ROLE_FLOAT || write_sources(in, node, q->roles[i]);
        if (!keep_node(in, node) || !good)
            return false;
        for (size_t k = 0; k < node->n_output; k++)
            if (!write_result(in, &node->output[k]))
                return false;
    }
    return true;
}

static void fill_in(const struct insertion *in, struct glcnn_onnx_range *ranges)
{
    const struct quantizing *q = in->q;
    for (size_t i = 0; i < q->value_count; i++) {
        const struct quantized_value *v = &q->values[i];
        if (v->range == NOWHERE)
            continue;
        const struct scale *s = &in->scales[v->group];
        const bool is_gone = in->carriers[i] != i;
        ranges[v->range].scale = is_gone ? 0 : s->scale;
        ranges[v->range].zero_point = is_gone ? 0 : s->zero;
    }
}

static bool rewrite(struct insertion *in, bool *is_gone, struct glcnn_onnx_range *ranges)
{
    struct quantizing *q = in->q;
    Onnx__NodeProto **nodes = q->graph->node;
    const size_t count = q->graph->n_node;
    find_scales(in, ranges);
    find_carriers(in, is_gone);
    if (!copy_names(q))
        return false;
    q->graph->node = NULL;
    q->graph->n_node = 0;
    bool good = write_nodes(in, nodes, count, is_gone);
    for (size_t i = 0; i < count; i++)
        if (nodes[i])
            onnx__node_proto__free_unpacked(nodes[i], NULL);
    free(nodes);
    good = good && (prune_graph(q->graph) || onnx_no_memory(&q->writer.messages));
    if (good)
        fill_in(in, ranges);
    return good;
}

bool quantizing_insert(struct quantizing *q, struct glcnn_onnx_quantization *by)
{
    struct insertion in = {.q = q, .largest_weight = by->largest_weight};
    in.scales = calloc(q->value_count + 1, sizeof *in.scales);
    in.carriers = calloc(q->value_count + 1, sizeof *in.carriers);
    in.readable = calloc(q->value_count + 1, sizeof *in.readable);
    bool *is_gone = calloc(q->graph->n_node + 1, sizeof *is_gone);
    const bool good = in.scales && in.carriers && in.readable && is_gone
                          ? rewrite(&in, is_gone, by->ranges)
                          : onnx_no_memory(&q->writer.messages);
    free(in.scales);
    free(in.carriers);
    free(in.readable);
    free(is_gone);
    return good;
}
