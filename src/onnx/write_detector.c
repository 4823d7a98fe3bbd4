/* What makes boxes of a detector's distances and scores: nodes of a file behind its network. */
#include <stdlib.h>
#include <string.h>

#include "onnx/build.h"
#include "onnx/cut.h"

/* All grids' nodes are made with these. */
struct decoder {
    struct writer *writer;
    Onnx__GraphProto *graph;
    const struct glcnn_onnx_detector *detector;
};

static bool is_well(const struct decoder *d)
{
    return d->writer->messages.status == GLCNN_SUCCESS;
}

/* ---- Nodes and constants: their values, or NULL after a failure ---- */

static const char *add_node(const struct decoder *d, const char *operator, const char * word,
                            const char *const *inputs)
{
    const char *name =
        is_well(d) ? taken_add(d->writer, &d->writer->values, "decoder", word) : NULL;
    return name && build_node(d->writer, d->graph, operator, name, inputs) ? name : NULL;
}

static const char *add_unary(const struct decoder *d, const char *operator, const char * word,
                             const char *x)
{
    return add_node(d, operator, word, (const char *[]){x, NULL});
}

static const char *add_binary(const struct decoder *d, const char *operator, const char * word,
                              const char *x, const char *y)
{
    return add_node(d, operator, word, (const char *[]){x, y, NULL});
}

static void set_int(const struct decoder *d, const char *name, int64_t value)
{
    if (is_well(d))
        build_int(d->writer, d->graph->node[d->graph->n_node - 1], name, value);
}

static const char *add_tensor(const struct decoder *d, const char *word, const int64_t *dims,
                              size_t rank, const float *values, const int64_t *wholes)
{
    const char *name =
        is_well(d) ? taken_add(d->writer, &d->writer->values, "decoder", word) : NULL;
    if (name)
        build_tensor(d->writer, d->graph, name, dims, rank, values, wholes);
    return name;
}

static const char *add_wholes(const struct decoder *d, const char *word, int64_t count,
                              const int64_t *values)
{
    return add_tensor(d, word, &count, 1, NULL, values);
}

static const char *add_four(const struct decoder *d, const char *word, float left, float top,
                            float right, float bottom)
{
    static const int64_t dims[] = {1, 4, 1, 1};
    const float values[] = {left, top, right, bottom};
    return add_tensor(d, word, dims, 4, values, NULL);
}

/* ---- Places ---- */

/* x, y, x and y of each place, 1 x 4 x rows x columns, in pixels. */
static const char *add_places(const struct decoder *d, const struct glcnn_onnx_grid *grid)
{
    const int64_t dims[] = {1, 4, grid->rows, grid->columns};
    const size_t count = (size_t)grid->rows * grid->columns;
    float *places = malloc(4 * count * sizeof *places + 1);
    if (!places) {
        onnx_no_memory(&d->writer->messages);
        return NULL;
    }
    for (size_t at = 0; at < count; at++) {
        places[at] = places[2 * count + at] =
            ((float)(at % grid->columns) + 0.5f) * (float)grid->stride;
        places[count + at] = places[3 * count + at] =
            ((float)(at / grid->columns) + 0.5f) * (float)grid->stride;
    }
    const char *name = add_tensor(d, "places", dims, 4, places, NULL);
    free(places);
    return name;
}

/* Places in a row behind one another. */
static const char *flatten(const struct decoder *d, const char *x, int64_t channels)
{
    const int64_t shape[] = {0, channels, -1};
    return add_binary(d, "Reshape", "flat", x, add_wholes(d, "shape", 3, shape));
}

/* Left, top, right and bottom, N x 4 x places, cut at the picture's edges. */
static const char *decode_boxes(const struct decoder *d, const struct glcnn_onnx_grid *grid,
                                const char *distances)
{
    const float stride = (float)grid->stride, width = (float)d->detector->width,
                height = (float)d->detector->height, zero = 0;
    const int64_t none = 0;
    const char *x = add_unary(d, "Softplus", "distances", distances);
    x = add_binary(d, "Mul", "steps", x, add_four(d, "strides", -stride, -stride, stride, stride));
    x = add_binary(d, "Add", "edges", x, add_places(d, grid));
    x = add_binary(d, "Max", "cut", x, add_tensor(d, "zero", &none, 0, &zero, NULL));
    x = add_binary(d, "Min", "cut", x, add_four(d, "sides", width, height, width, height));
    return flatten(d, x, 4);
}

static const char *join(const struct decoder *d, const char *word, const char *const *parts,
                        int64_t axis)
{
    const char *all = add_node(d, "Concat", word, parts);
    set_int(d, "axis", axis);
    return all;
}

/* Does a place lie beyond the picture's edge? A box there may be wholly outside. */
static bool sticks_out(const struct glcnn_onnx_detector *detector)
{
    for (uint32_t i = 0; i < detector->grid_count; i++) {
        const struct glcnn_onnx_grid *g = &detector->grids[i];
        if ((double)g->stride * (g->columns - 0.5) >= detector->width ||
            (double)g->stride * (g->rows - 0.5) >= detector->height)
            return true;
    }
    return false;
}

/* No probability of boxes that have no inside once they are cut. */
static const char *drop_outside(const struct decoder *d, const char *edges, const char *scores)
{
    static const float differences[] = {-1, 0, 1, 0, 0, -1, 0, 1};
    const int64_t dims[] = {2, 4}, axis = 1, none = 0;
    const float zero = 0;
    const char *sizes = add_binary(d, "MatMul", "sizes",
                                   add_tensor(d, "differences", dims, 2, differences, NULL), edges);
    const char *least = add_unary(d, "ReduceMin", "least", sizes);
    if (is_well(d))
        build_ints(d->writer, d->graph->node[d->graph->n_node - 1], "axes", &axis, 1);
    const char *inside =
        add_binary(d, "Greater", "inside", least, add_tensor(d, "zero", &none, 0, &zero, NULL));
    const char *factor = add_unary(d, "Cast", "factor", inside);
    set_int(d, "to", ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT);
    return add_binary(d, "Mul", "scores", scores, factor);
}

/* ---- Layouts ---- */

/* Gives the value the name that was kept for an output, and makes it one. */
static void give(const struct decoder *d, const char *value, const char *name, const int64_t *dims,
                 size_t rank, int type)
{
    if (!is_well(d) || !value)
        return;
    build_node(d->writer, d->graph, "Identity", name, (const char *[]){value, NULL});
    build_value(d->writer, d->graph, true, name, dims, rank);
    if (!is_well(d))
        return;
    Onnx__TypeProto__Tensor *tensor = d->graph->output[d->graph->n_output - 1]->type->tensor_type;
    tensor->elem_type = type;
}

static void give_yolo(const struct decoder *d, const char *edges, const char *scores)
{
    static const float means[] = {.5f, 0, .5f, 0, 0, .5f, 0, .5f, -1, 0, 1, 0, 0, -1, 0, 1};
    static const int64_t four[] = {4, 4};
    int64_t dims[] = {0, 4 + (int64_t)d->detector->classes, 0};
    for (uint32_t i = 0; i < d->detector->grid_count; i++)
        dims[2] += (int64_t)d->detector->grids[i].columns * d->detector->grids[i].rows;
    const char *centres =
        add_binary(d, "MatMul", "centres", add_tensor(d, "means", four, 2, means, NULL), edges);
    give(d, join(d, "all", (const char *[]){centres, scores, NULL}, 1), "output", dims, 3,
         ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT);
}

/* How many boxes are found is an open size with a name of its own. */
static void open_count(const struct decoder *d)
{
    for (size_t i = 0; i < d->graph->n_output && is_well(d); i++) {
        Onnx__TensorShapeProto__Dimension *size =
            d->graph->output[i]->type->tensor_type->shape->dim[0];
        char *name = strdup("found");
        if (!name)
            onnx_no_memory(&d->writer->messages);
        free(size->dim_param);
        size->dim_param = name;
    }
}

/* A column of what was selected. */
static const char *column(const struct decoder *d, const char *selected, int64_t number,
                          const char *word)
{
    const char *found = add_binary(d, "Gather", word, selected,
                                   add_tensor(d, "column", &(int64_t){0}, 0, NULL, &number));
    set_int(d, "axis", 1);
    return found;
}

static void give_selected(const struct decoder *d, const char *edges, const char *scores)
{
    static const int64_t turned[] = {0, 2, 1}, picture_and_place[] = {0, 2}, box[] = {0, 4};
    const int64_t one = 1, most = (int64_t)d->detector->most;
    const char *boxes = add_unary(d, "Transpose", "boxes", edges);
    if (is_well(d))
        build_ints(d->writer, d->graph->node[d->graph->n_node - 1], "perm", turned, 3);
    const char *limits[] = {add_wholes(d, "most", 1, &most),
                            add_tensor(d, "overlap", &one, 1, &d->detector->overlap, NULL),
                            add_tensor(d, "score", &one, 1, &d->detector->score, NULL)};
    const char *selected =
        add_node(d, "NonMaxSuppression", "selected",
                 (const char *[]){boxes, scores, limits[0], limits[1], limits[2], NULL});
    const char *places =
        add_binary(d, "Gather", "places", selected, add_wholes(d, "columns", 2, picture_and_place));
    set_int(d, "axis", 1);
    give(d, add_binary(d, "GatherND", "found", boxes, places), "boxes", box, 2,
         ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT);
    give(d, add_binary(d, "GatherND", "found", scores, selected), "scores", box, 1,
         ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT);
    give(d, column(d, selected, 1, "classes"), "classes", box, 1,
         ONNX__TENSOR_PROTO__DATA_TYPE__INT64);
    give(d, column(d, selected, 0, "pictures"), "pictures", box, 1,
         ONNX__TENSOR_PROTO__DATA_TYPE__INT64);
    open_count(d);
}

/* ---- The whole ---- */

static bool check_detector(struct writer *w, const Onnx__GraphProto *graph)
{
    const struct glcnn_onnx_detector *d = w->options->detector;
    bool good = d->grid_count > 0 && d->grid_count <= GLCNN_ONNX_GRIDS && d->grids &&
                graph->n_output == 2 * (size_t)d->grid_count && d->width && d->height && d->classes;
    for (uint32_t i = 0; good && i < d->grid_count; i++)
        good = d->grids[i].stride && d->grids[i].columns && d->grids[i].rows;
    return good || onnx_fail(&w->messages, GLCNN_INVALID_ARGUMENT,
                             "a detector has sizes, 1 to %d grids and two outputs of each, and the "
                             "options have %u grids, and %zu outputs",
                             GLCNN_ONNX_GRIDS, d->grid_count, graph->n_output);
}

void write_detector(struct writer *w, Onnx__GraphProto *graph)
{
    const struct glcnn_onnx_detector *detector = w->options->detector;
    const struct decoder d = {w, graph, detector};
    const char *edges[GLCNN_ONNX_GRIDS + 1] = {NULL}, *scores[GLCNN_ONNX_GRIDS + 1] = {NULL};
    if (!is_well(&d) || !detector || detector->boxes == GLCNN_ONNX_BOXES_SPLIT ||
        !check_detector(w, graph))
        return;
    for (uint32_t i = 0; i < detector->grid_count; i++) {
        const char *const *names =
            (const char *[]){graph->output[2 * i]->name, graph->output[2 * i + 1]->name};
        edges[i] = decode_boxes(&d, &detector->grids[i], names[0]);
        scores[i] = flatten(&d, add_unary(&d, "Sigmoid", "probabilities", names[1]),
                            (int64_t)detector->classes);
    }
    const bool is_one = detector->grid_count == 1;
    const char *all = is_one ? edges[0] : join(&d, "edges", edges, 2),
               *likely = is_one ? scores[0] : join(&d, "scores", scores, 2);
    if (sticks_out(detector))
        likely = drop_outside(&d, all, likely);
    if (is_well(&d) && !cut_drop_outputs(graph))
        onnx_no_memory(&w->messages);
    if (!is_well(&d))
        return;
    if (detector->boxes == GLCNN_ONNX_BOXES_YOLO)
        give_yolo(&d, all, likely);
    else
        give_selected(&d, all, likely);
}
