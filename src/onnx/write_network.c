/* A network that was read from no file as an ONNX model: its filters in the order of their making, each
 * by the row of its kernel. All values are N,C,H,W; outputs of one pixel are N,C. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/write_filter.h"

static const struct kernel_row *const families[] = {
    write_arithmetic, write_convolution, write_neuron,   write_normalization, write_pooling,
    write_reductions, write_shaping,     write_resizing, write_views,         write_others};
enum { FAMILIES = sizeof families / sizeof *families };

static const struct kernel_row *find_row(const char *kernel)
{
    for (size_t f = 0; f < FAMILIES; f++)
        for (const struct kernel_row *row = families[f]; row->kernel; row++)
            if (strcmp(row->kernel, kernel) == 0)
                return row;
    return NULL;
}

/* ---- What is written of the network ---- */

/* An image of the network. */
struct slot {
    glcnn_image_node *node;
    struct written value;
    const char
        *output; /* the name as an output, before it is written; NULL: none that is its own */
    bool is_made, is_read, is_output, is_needed, is_inner;
};

/* A filter of inference. */
struct step {
    glcnn_filter_node *filter;
    const char *label;
};

struct plan {
    struct writer *writer;
    Onnx__GraphProto *graph;
    struct slot *images;   /* in the network's order */
    struct slot **by_node; /* sorted */
    struct step *steps;
    size_t image_count, step_count;
};

static bool is_well(const struct plan *p)
{
    return p->writer->messages.status == GLCNN_SUCCESS;
}

static int compare_slots(const void *a, const void *b)
{
    const struct slot *const *x = a, *const *y = b;
    return ((*x)->node > (*y)->node) - ((*x)->node < (*y)->node);
}

static struct slot *slot_of(const struct plan *p, glcnn_image_node *node)
{
    struct slot wanted = {.node = node}, *key = &wanted;
    struct slot **found =
        bsearch(&key, p->by_node, p->image_count, sizeof *p->by_node, compare_slots);
    return *found;
}

static struct slot *source_slot(const struct plan *p, const glcnn_filter_node *filter, size_t i)
{
    return slot_of(p, glcnn_filter_node_source(filter, i));
}

/* Gradients and losses are not, nor what is made of gradients, as their sums are. */
static bool is_inference(const struct plan *p, const glcnn_filter_node *filter)
{
    if (glcnn_filter_node_forward(filter, NULL) || glcnn_filter_node_loss(filter))
        return false;
    for (size_t i = 0; i < glcnn_filter_node_source_count(filter); i++) {
        const struct slot *source = source_slot(p, filter, i);
        if (glcnn_image_node_filter(source->node) && !source->is_made)
            return false;
    }
    return true;
}

static void add_step(struct plan *p, glcnn_filter_node *filter)
{
    struct writer *w = p->writer;
    struct step step = {filter, taken_add(w, &w->nodes, glcnn_filter_node_label(filter), NULL)};
    p->steps[p->step_count++] = step;
    slot_of(p, glcnn_filter_node_result(filter))->is_made = true;
    for (size_t i = 0; i < glcnn_filter_node_source_count(filter); i++)
        source_slot(p, filter, i)->is_read = true;
}

/* Outputs are results that nothing reads, and those that are marked to be kept. */
static void find_outputs(const struct plan *p)
{
    for (size_t i = 0; i < p->image_count; i++) {
        struct slot *s = &p->images[i];
        s->is_output = s->is_made && (!s->is_read || glcnn_image_node_export_from_graph(s->node));
    }
}

/* Filters stand behind those that make what they read, so that one pass from the last on finds all. */
static void drop_unneeded_steps(struct plan *p)
{
    size_t first = p->step_count;
    for (size_t i = p->step_count; i-- > 0;) {
        if (!slot_of(p, glcnn_filter_node_result(p->steps[i].filter))->is_needed)
            continue;
        for (size_t k = 0; k < glcnn_filter_node_source_count(p->steps[i].filter); k++)
            source_slot(p, p->steps[i].filter, k)->is_needed = true;
        p->steps[--first] = p->steps[i];
    }
    p->step_count -= first;
    memmove(p->steps, p->steps + first, p->step_count * sizeof *p->steps);
    for (size_t i = 0; i < p->image_count; i++)
        p->images[i].is_read = p->images[i].is_read && p->images[i].is_needed;
}

/* Outputs are those that the options name. */
static void take_outputs(struct plan *p)
{
    const struct glcnn_onnx_write_options *o = p->writer->options;
    for (size_t i = 0; i < o->output_count; i++) {
        struct slot wanted = {.node = o->outputs[i].node}, *key = &wanted;
        struct slot **found =
            bsearch(&key, p->by_node, p->image_count, sizeof *p->by_node, compare_slots);
        if (!found || !(*found)->is_made || !o->outputs[i].name) {
            onnx_fail(&p->writer->messages, GLCNN_INVALID_ARGUMENT,
                      "output %zu, \"%.80s\", is no result of a forward filter of the network",
                      i + 1, o->outputs[i].name ? o->outputs[i].name : "");
            return;
        }
        (*found)->is_output = (*found)->is_needed = true;
        (*found)->is_inner = o->outputs[i].is_inner;
    }
    drop_unneeded_steps(p);
}

static void find_steps(struct plan *p)
{
    glcnn_filter_node *filter;
    for (size_t i = 0; is_well(p) && (filter = glcnn_network_filter(p->writer->network, i)); i++)
        if (is_inference(p, filter))
            add_step(p, filter);
    if (p->writer->options->output_count > 0)
        take_outputs(p);
    else
        find_outputs(p);
}

static size_t count_filters(const struct writer *w)
{
    size_t count = 0;
    while (glcnn_network_filter(w->network, count))
        count++;
    return count;
}

static bool plan_make(struct plan *p)
{
    const glcnn_network *network = p->writer->network;
    while (glcnn_network_image(network, p->image_count))
        p->image_count++;
    p->images = calloc(p->image_count + 1, sizeof *p->images);
    p->by_node = calloc(p->image_count + 1, sizeof *p->by_node);
    p->steps = calloc(count_filters(p->writer) + 1, sizeof *p->steps);
    if (!p->images || !p->by_node || !p->steps)
        return onnx_no_memory(&p->writer->messages);
    for (size_t i = 0; i < p->image_count; i++) {
        p->images[i].node = glcnn_network_image(network, i);
        p->by_node[i] = &p->images[i];
    }
    qsort(p->by_node, p->image_count, sizeof *p->by_node, compare_slots);
    find_steps(p);
    return is_well(p);
}

static void plan_free(struct plan *p)
{
    free(p->images);
    free(p->by_node);
    free(p->steps);
}

/* ---- Inputs and outputs ---- */

/* A name that a handle gives. */
static const char *take_name(const struct plan *p, const char *name)
{
    struct writer *w = p->writer;
    if (name_table_find(&w->values.table, name) == NO_NAME)
        return taken_add(w, &w->values, name, NULL);
    onnx_fail(&w->messages, GLCNN_INVALID_ARGUMENT,
              "two inputs or outputs have the name \"%.80s\"; give each a handle of its own", name);
    return NULL;
}

/* The one of that node, or else number `k` of those without a node; NULL: there are fewer. */
static const struct glcnn_onnx_image *find_given(const struct glcnn_onnx_image *inputs,
                                                 size_t count, const glcnn_image_node *node,
                                                 size_t *k)
{
    size_t passed = 0;
    for (size_t i = 0; i < count; i++)
        if (inputs[i].node == node)
            return &inputs[i];
    for (size_t i = 0; i < count; i++)
        if (!inputs[i].node && passed++ == *k) {
            *k += 1;
            return &inputs[i];
        }
    return NULL;
}

static bool write_input(const struct plan *p, struct slot *s, const struct glcnn_onnx_image *given,
                        size_t number)
{
    const char *handle = glcnn_image_node_handle(s->node);
    const char *name = given && given->name ? given->name : handle ? handle : "";
    char text[32];
    if (!given || !given->width || !given->height || !given->feature_channels)
        return onnx_fail(&p->writer->messages, GLCNN_INVALID_ARGUMENT,
                         "input %zu of the network, \"%.80s\", needs a width, a height and "
                         "feature channels among the inputs that are given",
                         number, name);
    snprintf(text, sizeof text, "input_%zu", number);
    s->value = (struct written){take_name(p, name[0] ? name : text),
                                {1, given->feature_channels, given->height, given->width}};
    if (s->value.name)
        build_value(p->writer, p->graph, false, s->value.name, s->value.dims, AXES);
    return is_well(p);
}

static bool write_inputs(const struct plan *p, const struct glcnn_onnx_image *inputs, size_t count)
{
    size_t k = 0, number = 0;
    for (size_t i = 0; i < p->image_count; i++) {
        struct slot *s = &p->images[i];
        if (!s->is_read || glcnn_image_node_filter(s->node))
            continue;
        if (!write_input(p, s, find_given(inputs, count, s->node, &k), ++number))
            return false;
    }
    return true;
}

/* The options' outputs have their names and order. */
static bool name_given_outputs(const struct plan *p)
{
    const struct glcnn_onnx_write_options *o = p->writer->options;
    for (size_t i = 0; i < o->output_count && is_well(p); i++)
        slot_of(p, o->outputs[i].node)->output = take_name(p, o->outputs[i].name);
    return is_well(p);
}

static bool name_outputs(const struct plan *p)
{
    if (p->writer->options->output_count > 0)
        return name_given_outputs(p);
    for (size_t i = 0; i < p->image_count && is_well(p); i++) {
        struct slot *s = &p->images[i];
        const char *handle = s->is_output ? glcnn_image_node_handle(s->node) : NULL;
        s->output = handle && handle[0] ? take_name(p, handle) : NULL;
    }
    return is_well(p);
}

static bool is_pixel(const struct written *value)
{
    return value->dims[H] == 1 && value->dims[W] == 1;
}

static void write_output(const struct plan *p, const struct slot *s)
{
    struct writer *w = p->writer;
    const char *name = s->output ? s->output : taken_add(w, &w->values, s->value.name, "output");
    bool is_flat = is_pixel(&s->value);
    if (name && name != s->value.name)
        build_node(w, p->graph, is_flat ? "Flatten" : "Identity", name,
                   (const char *[]){s->value.name, NULL});
    if (name)
        build_value(w, p->graph, true, name, s->value.dims, is_flat ? 2 : AXES);
}

/* ---- One filter ---- */

static bool make_image(const struct filter_call *c, size_t i, glcnn_image **image)
{
    const int64_t *dims = c->sources[i].dims;
    const struct glcnn_image_descriptor descriptor = {.width = (uint32_t)dims[W],
                                                      .height = (uint32_t)dims[H],
                                                      .feature_channels = (uint32_t)dims[C]};
    glcnn_device *device = glcnn_kernel_device(c->kernel);
    glcnn_status status = glcnn_image_create(device, &descriptor, image);
    return status == GLCNN_SUCCESS ||
           onnx_fail(&c->writer->messages, status, "%s", glcnn_device_error(device));
}

/* Does the kernel take one source at a time, any number of them? */
static bool gathers(const struct filter_call *c)
{
    return strcmp(c->row->kernel, "concatenation") == 0;
}

/* The size of the result, and the kernel's offset, as the library has them; images take no memory. */
static bool resolve(struct filter_call *c)
{
    struct glcnn_encode arguments = {0};
    struct glcnn_image_descriptor result = {0};
    glcnn_device *device = glcnn_kernel_device(c->kernel);
    bool good = make_image(c, 0, &arguments.source) &&
                (c->source_count < 2 || gathers(c) || make_image(c, 1, &arguments.secondary));
    glcnn_status status =
        good ? glcnn_kernel_prepare_destination(c->kernel, &arguments, &result) : GLCNN_SUCCESS;
    if (status != GLCNN_SUCCESS)
        onnx_fail(&c->writer->messages, status, "filter \"%.80s\": %s", c->label,
                  glcnn_device_error(device));
    glcnn_image_destroy(&arguments.source);
    glcnn_image_destroy(&arguments.secondary);
    c->dims[N] = 1;
    c->dims[C] = result.feature_channels;
    c->dims[H] = result.height;
    c->dims[W] = result.width;
    return write_is_well(c);
}

/* What only an encode by hand makes sense of; NULL: nothing. */
static const char *unusual_images(const struct filter_call *c)
{
    const struct glcnn_addressing *p = glcnn_kernel_properties(c->kernel);
    return p->primary.offset.z || p->secondary.offset.z
               ? "its offset z leaves out images of the batch"
           : p->destination_feature_channel_offset ? "it writes behind channels that others write"
                                                   : NULL;
}

/* The same of the result's pixels. */
static const char *unusual_pixels(const struct filter_call *c)
{
    const struct glcnn_addressing *p = glcnn_kernel_properties(c->kernel);
    const struct glcnn_source_properties *s = &p->primary;
    const struct glcnn_region *r = &p->clip_rect;
    bool is_clipped = r->origin.x || r->origin.y || r->origin.z || r->size.width < c->dims[W] ||
                      r->size.height < c->dims[H] || r->size.depth < UINT32_MAX;
    bool is_moved = c->row->reading == UNMOVED && (s->offset.x || s->offset.y);
    return is_clipped ? "its clip rectangle leaves out results"
           : is_moved ? "its offset is not 0"
                      : NULL;
}

/* Along an axis that a source walks with a stride of 1 it has as many numbers as the result; of 0, one. */
static void view_axis(struct margins *m, enum axis axis, int64_t offset, uint32_t stride,
                      const struct written *source, int64_t result)
{
    m->before[axis] = -offset;
    m->after[axis] = offset + (stride ? result : 1) - source->dims[axis];
}

/* What the kernel reads of a source: some channels of it, and from an offset on. */
static bool view_source(struct filter_call *c, size_t i, const struct glcnn_source_properties *s)
{
    struct written *source = &c->sources[i];
    struct margins m = {.mode = write_edge(s->edge_mode)};
    int64_t left = source->dims[C] - s->feature_channel_offset;
    int64_t channels = left < s->feature_channel_max_count ? left : s->feature_channel_max_count;
    view_axis(&m, C, s->feature_channel_offset, s->stride_in_feature_channels, source, channels);
    if (c->row->reading == BY_OFFSET && s->stride_in_pixels_x <= 1 && s->stride_in_pixels_y <= 1) {
        view_axis(&m, H, s->offset.y, s->stride_in_pixels_y, source, c->dims[H]);
        view_axis(&m, W, s->offset.x, s->stride_in_pixels_x, source, c->dims[W]);
    } else if (c->row->reading == BY_OFFSET)
        write_refuse(c, "it reads with a stride above 1");
    source->name = write_margins(c, source->name, &m);
    for (size_t axis = C; axis < AXES; axis++)
        source->dims[axis] += m.before[axis] + m.after[axis];
    return write_is_well(c);
}

static bool view_sources(struct filter_call *c)
{
    const struct glcnn_addressing *p = glcnn_kernel_properties(c->kernel);
    for (size_t i = 0; i < c->source_count; i++)
        if (!view_source(c, i, i == 0 || gathers(c) ? &p->primary : &p->secondary))
            return false;
    return true;
}

/* Gives the node that was made last the filter's label, and its value the name. */
static bool rename_last(const struct filter_call *c, const char *name)
{
    Onnx__NodeProto *node = c->graph->node[c->graph->n_node - 1];
    char *label = strdup(c->label), *value = strdup(name);
    if (!label || !value) {
        free(label);
        free(value);
        return onnx_no_memory(&c->writer->messages);
    }
    free(node->name);
    free(node->output[0]);
    node->name = label;
    node->output[0] = value;
    return true;
}

/* What was made has the output's name, or the label; what was given keeps its own. */
static void keep_result(const struct filter_call *c, struct slot *result, const char *made,
                        size_t nodes)
{
    struct writer *w = c->writer;
    result->value.name = made;
    memcpy(result->value.dims, c->dims, sizeof c->dims);
    if (c->graph->n_node == nodes)
        return;
    bool is_output = result->output && (result->is_inner || !is_pixel(&result->value));
    const char *name = is_output ? result->output : taken_add(w, &w->values, c->label, NULL);
    result->value.name = name && rename_last(c, name) ? name : NULL;
}

static void write_row(struct filter_call *c, struct slot *result)
{
    size_t nodes = c->graph->n_node;
    if (!c->row || !c->row->write) {
        write_refuse(c, c->row ? c->row->reason : "nothing is known of it");
        return;
    }
    const char *why = unusual_images(c);
    why = !why && resolve(c) ? unusual_pixels(c) : why;
    if (why)
        write_refuse(c, why);
    const char *made = write_is_well(c) && view_sources(c) ? c->row->write(c) : NULL;
    if (made && write_is_well(c))
        keep_result(c, result, made, nodes);
}

static void write_filter(const struct plan *p, const struct step *step)
{
    glcnn_kernel *kernel = glcnn_filter_node_kernel(step->filter);
    struct filter_call c = {.writer = p->writer,
                            .graph = p->graph,
                            .filter = step->filter,
                            .kernel = kernel,
                            .row = find_row(glcnn_kernel_name(kernel)),
                            .label = step->label,
                            .source_count = glcnn_filter_node_source_count(step->filter)};
    c.sources = calloc(c.source_count + 1, sizeof *c.sources);
    if (!c.sources) {
        onnx_no_memory(&p->writer->messages);
        return;
    }
    for (size_t i = 0; i < c.source_count; i++)
        c.sources[i] = source_slot(p, step->filter, i)->value;
    write_row(&c, slot_of(p, glcnn_filter_node_result(step->filter)));
    free(c.sources);
}

/* ---- The network ---- */

static void write_outputs(const struct plan *p)
{
    const struct glcnn_onnx_write_options *o = p->writer->options;
    for (size_t i = 0; i < o->output_count && is_well(p); i++)
        if (!o->outputs[i].is_inner)
            write_output(p, slot_of(p, o->outputs[i].node));
    for (size_t i = 0; o->output_count == 0 && i < p->image_count && is_well(p); i++)
        if (p->images[i].is_output)
            write_output(p, &p->images[i]);
}

static void write_graph(const struct plan *p)
{
    const struct glcnn_onnx_write_options *o = p->writer->options;
    if (!write_inputs(p, o->inputs, o->input_count) || !name_outputs(p))
        return;
    for (size_t i = 0; i < p->step_count && is_well(p); i++)
        write_filter(p, &p->steps[i]);
    write_outputs(p);
}

Onnx__ModelProto *write_network(struct writer *w)
{
    Onnx__ModelProto *model = build_model();
    struct plan plan = {.writer = w, .graph = model ? model->graph : NULL};
    if (!model)
        onnx_no_memory(&w->messages);
    else if (write_reserve(w) && plan_make(&plan))
        write_graph(&plan);
    plan_free(&plan);
    return model;
}
