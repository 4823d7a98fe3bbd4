/* Networks to bytes and back. Reading makes nodes by the public functions, which check what they
 * are given, so a network that was read is one that could have been written down in a program. */
#include <stdlib.h>

#include "base/array.h"
#include "serialize_kernel.h"

static const char *const formats[] = {"float16", "float32", "unorm8", NULL};
static const glcnn_channel_format format_values[] = {
    GLCNN_CHANNEL_FORMAT_FLOAT16, GLCNN_CHANNEL_FORMAT_FLOAT32, GLCNN_CHANNEL_FORMAT_UNORM8};
static const char *const styles[] = {"none", "cpu", "gpu", NULL}; /* by value */

/* The number of an image or a filter. */
struct numbered {
    const void *node;
    size_t number;
};

/* Nodes by number: while writing all of them, while reading those made so far. */
struct nodes {
    glcnn_image_node **images;
    glcnn_filter_node **filters;
    size_t image_count, filter_count, image_capacity, filter_capacity;
    struct numbered *numbers; /* of all, by their addresses, while writing; NULL: reading */
};

static bool add_image(struct nodes *nodes, glcnn_image_node *image)
{
    void *grown =
        array_grow(nodes->images, nodes->image_count, &nodes->image_capacity, sizeof image);
    if (!grown)
        return false;
    nodes->images = grown;
    nodes->images[nodes->image_count++] = image;
    return true;
}

static bool add_results(struct nodes *nodes, const glcnn_filter_node *filter)
{
    glcnn_image_node *loss = glcnn_filter_node_loss(filter);
    return add_image(nodes, glcnn_filter_node_result(filter)) && (!loss || add_image(nodes, loss));
}

static bool add_filter(struct nodes *nodes, glcnn_filter_node *filter)
{
    void *grown =
        array_grow(nodes->filters, nodes->filter_count, &nodes->filter_capacity, sizeof filter);
    if (!grown)
        return false;
    nodes->filters = grown;
    nodes->filters[nodes->filter_count++] = filter;
    return add_results(nodes, filter);
}

static void free_nodes(struct nodes *nodes)
{
    free(nodes->images);
    free(nodes->filters);
    free(nodes->numbers);
}

/* ---- Writing ---- */

static int compare_numbered(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct numbered *)a)->node;
    uintptr_t y = (uintptr_t)((const struct numbered *)b)->node;
    return (x > y) - (x < y);
}

static bool sort_nodes(struct nodes *nodes)
{
    size_t count = 0;
    nodes->numbers = calloc(nodes->image_count + nodes->filter_count + 1, sizeof *nodes->numbers);
    if (!nodes->numbers)
        return false;
    for (size_t i = 0; i < nodes->image_count; i++)
        nodes->numbers[count++] = (struct numbered){nodes->images[i], i};
    for (size_t i = 0; i < nodes->filter_count; i++)
        nodes->numbers[count++] = (struct numbered){nodes->filters[i], i};
    qsort(nodes->numbers, count, sizeof *nodes->numbers, compare_numbered);
    return true;
}

static bool number_nodes(struct nodes *nodes, const glcnn_network *network, size_t *input_count)
{
    glcnn_image_node *image;
    glcnn_filter_node *filter;
    for (size_t i = 0; (image = glcnn_network_image(network, i)); i++)
        if (!glcnn_image_node_filter(image) && !add_image(nodes, image))
            return false;
    *input_count = nodes->image_count;
    for (size_t i = 0; (filter = glcnn_network_filter(network, i)); i++)
        if (!add_filter(nodes, filter))
            return false;
    return sort_nodes(nodes);
}

/* Of an image or a filter of the network. */
static size_t number_of(const struct nodes *nodes, const void *node)
{
    const struct numbered key = {node, 0}, *found;
    found = bsearch(&key, nodes->numbers, nodes->image_count + nodes->filter_count, sizeof key,
                    compare_numbered);
    return found->number;
}

static bool write_named(struct writer *writer, const char *name, const char *text,
                        struct outcome *outcome)
{
    writer_text(writer, name);
    writer_text(writer, text);
    return serialize_check_text(text, name, outcome);
}

static bool write_format(struct writer *writer, glcnn_channel_format format,
                         struct outcome *outcome)
{
    for (size_t i = 0; formats[i]; i++)
        if (format_values[i] == format)
            return write_named(writer, "format", formats[i], outcome);
    return outcome_fail(outcome, GLCNN_INVALID_ARGUMENT, "%d is no format of an image node",
                        (int)format);
}

static void write_flag(struct writer *writer, const char *name, bool value)
{
    if (!value)
        return;
    writer_text(writer, name);
    writer_boolean(writer, true);
}

/* Defaults are left out. */
static bool write_image(struct writer *writer, glcnn_image_node *image, struct outcome *outcome)
{
    const char *handle = glcnn_image_node_handle(image);
    const glcnn_channel_format format = glcnn_image_node_format(image);
    const bool has_format = format != GLCNN_CHANNEL_FORMAT_NONE;
    const bool exports = glcnn_image_node_export_from_graph(image);
    const bool stops = glcnn_image_node_stop_gradient(image);
    writer_map(writer, (size_t)(handle != NULL) + has_format + exports + stops);
    if (handle && !write_named(writer, "handle", handle, outcome))
        return false;
    if (has_format && !write_format(writer, format, outcome))
        return false;
    write_flag(writer, "export_from_graph", exports);
    write_flag(writer, "stop_gradient", stops);
    return true;
}

/* Where the filter's images come from. */
static void write_wiring(struct writer *writer, const struct nodes *nodes,
                         const glcnn_filter_node *filter)
{
    size_t source = 0, count = glcnn_filter_node_source_count(filter);
    const glcnn_filter_node *forward = glcnn_filter_node_forward(filter, &source);
    if (forward) {
        writer_text(writer, "gradient");
        writer_array(writer, 3);
        writer_unsigned(writer, number_of(nodes, forward));
        writer_unsigned(writer, source);
        writer_unsigned(writer, number_of(nodes, glcnn_filter_node_source(filter, 0)));
        return;
    }
    writer_text(writer, "sources");
    writer_array(writer, count);
    for (size_t i = 0; i < count; i++)
        writer_unsigned(writer, number_of(nodes, glcnn_filter_node_source(filter, i)));
}

static bool write_images(struct writer *writer, glcnn_filter_node *filter, struct outcome *outcome)
{
    glcnn_image_node *loss = glcnn_filter_node_loss(filter);
    writer_text(writer, "result");
    if (!write_image(writer, glcnn_filter_node_result(filter), outcome))
        return false;
    if (!loss)
        return true;
    writer_text(writer, "loss");
    return write_image(writer, loss, outcome);
}

/* The kernel, or the number of the filter before it that has it too. */
static bool write_kernel(struct writer *writer, const struct nodes *nodes,
                         glcnn_filter_node *filter, bool with_weights, struct outcome *outcome)
{
    const glcnn_filter_node *first = glcnn_filter_node_shared_with(filter);
    if (first) {
        writer_text(writer, "kernel_of");
        writer_unsigned(writer, number_of(nodes, first));
        return true;
    }
    /* The weights of a gradient node are its forward filter's. */
    bool owns = with_weights && !glcnn_filter_node_forward(filter, NULL);
    writer_text(writer, "kernel");
    return serialize_kernel_write(writer, glcnn_filter_node_kernel(filter), owns, false, outcome);
}

static bool write_filter(struct writer *writer, const struct nodes *nodes,
                         glcnn_filter_node *filter, bool with_weights, struct outcome *outcome)
{
    const glcnn_state_node *from = glcnn_filter_node_source_state(filter);
    bool exports = glcnn_state_node_export_from_graph(glcnn_filter_node_result_state(filter));
    writer_map(writer, 5u + (glcnn_filter_node_loss(filter) != NULL) + (from != NULL) + exports);
    if (!write_kernel(writer, nodes, filter, with_weights, outcome) ||
        !write_named(writer, "label", glcnn_filter_node_label(filter), outcome) ||
        !write_named(writer, "training_style", styles[glcnn_filter_node_training_style(filter)],
                     outcome))
        return false;
    write_wiring(writer, nodes, filter);
    if (from) {
        writer_text(writer, "source_state");
        writer_unsigned(writer, number_of(nodes, glcnn_state_node_filter(from)));
    }
    write_flag(writer, "export_state", exports);
    return write_images(writer, filter, outcome);
}

static bool write_network(struct writer *writer, const struct nodes *nodes, size_t input_count,
                          bool with_weights, struct outcome *outcome)
{
    writer_map(writer, 3);
    writer_text(writer, "glcnn");
    writer_unsigned(writer, SERIALIZE_VERSION);
    writer_text(writer, "inputs");
    writer_array(writer, input_count);
    for (size_t i = 0; i < input_count; i++)
        if (!write_image(writer, nodes->images[i], outcome))
            return false;
    writer_text(writer, "filters");
    writer_array(writer, nodes->filter_count);
    for (size_t i = 0; i < nodes->filter_count; i++)
        if (!write_filter(writer, nodes, nodes->filters[i], with_weights, outcome))
            return false;
    return true;
}

glcnn_status glcnn_network_serialize(glcnn_network *network, bool with_weights, uint8_t **bytes,
                                     size_t *size, char error[GLCNN_ERROR_LENGTH])
{
    struct writer writer = {0};
    struct outcome outcome = {0};
    struct nodes nodes = {0};
    size_t input_count = 0;
    if (bytes)
        *bytes = NULL;
    if (!network || !bytes || !size)
        outcome_fail(&outcome, GLCNN_INVALID_ARGUMENT, "glcnn_network_serialize: %s is NULL",
                     !network ? "network"
                     : !bytes ? "bytes"
                              : "size");
    else if (glcnn_network_status(network) != GLCNN_SUCCESS)
        outcome_fail(&outcome, glcnn_network_status(network), "the network keeps a failure: %s",
                     glcnn_device_error(glcnn_network_device(network)));
    else if (!number_nodes(&nodes, network, &input_count))
        outcome_fail(&outcome, GLCNN_OUT_OF_MEMORY, "out of memory serialising");
    else
        write_network(&writer, &nodes, input_count, with_weights, &outcome);
    free_nodes(&nodes);
    return serialize_finish(&writer, &outcome, bytes, size, error);
}

/* ---- Reading ---- */

/* The gradient nodes of a filter are made at once, and follow each other. */
struct gradients {
    glcnn_filter_node **nodes;
    size_t count, next; /* nodes[next] .. are still to be described */
    uint64_t forward, image;
};

struct making {
    glcnn_device *device;
    glcnn_network *network;
    struct nodes nodes;
    struct gradients gradients;
    uint64_t filters_left; /* of those announced, the one that is read included */
};

/* A function that makes nodes returned NULL: the device has the message. A gradient that is
 * refused is no failure of the network. */
static bool network_refuses(const struct reader *reader, const struct making *m)
{
    glcnn_status status = glcnn_network_status(m->network);
    return reader_succeeded(reader, m->device,
                            status == GLCNN_SUCCESS ? GLCNN_INVALID_ARGUMENT : status);
}

static bool read_handle(struct reader *reader, glcnn_device *device, glcnn_image_node *image)
{
    char *handle;
    if (!reader_text(reader, &handle))
        return false;
    glcnn_status status = glcnn_image_node_set_handle(image, handle);
    free(handle);
    return reader_succeeded(reader, device, status);
}

/* What is left out is as it is in a node just made; a gradient's has no handle. */
static bool read_image(struct reader *reader, glcnn_device *device, glcnn_image_node *image)
{
    enum { HANDLE, FORMAT, EXPORT, STOP, FIELDS };
    static const char *const names[] = {"handle", "format", "export_from_graph", "stop_gradient"};
    struct reader fields[FIELDS];
    size_t format;
    bool exports = false, stops = false;
    if (!reader_fields(reader, names, 0, FIELDS, fields))
        return false;
    if (fields[HANDLE].bytes && !read_handle(&fields[HANDLE], device, image))
        return false;
    if (fields[FORMAT].bytes) {
        if (!reader_choice(&fields[FORMAT], formats, &format))
            return false;
        glcnn_image_node_set_format(image, format_values[format]);
    }
    if ((fields[EXPORT].bytes && !reader_boolean(&fields[EXPORT], &exports)) ||
        (fields[STOP].bytes && !reader_boolean(&fields[STOP], &stops)))
        return false;
    glcnn_image_node_set_export_from_graph(image, exports);
    glcnn_image_node_set_stop_gradient(image, stops);
    return true;
}

static bool read_inputs(struct reader *reader, struct making *m)
{
    struct item list;
    if (!reader_expect(reader, ITEM_ARRAY, &list))
        return false;
    for (uint64_t i = 0; i < list.number; i++) {
        glcnn_image_node *image = glcnn_image_node_create(m->network, NULL);
        if (!image)
            return network_refuses(reader, m);
        if (!add_image(&m->nodes, image))
            return reader_out_of_memory(reader);
        if (!read_image(reader, m->device, image))
            return false;
    }
    return true;
}

static bool read_image_number(struct reader *reader, const struct making *m, uint64_t *number)
{
    return reader_number(reader, m->nodes.image_count, "images before it", number);
}

/* Reads the numbers of `count` images into an array, to be freed. */
static glcnn_image_node **read_sources(struct reader *reader, const struct making *m, size_t count)
{
    glcnn_image_node **sources = calloc(count + 1, sizeof(*sources));
    if (!sources)
        reader_out_of_memory(reader);
    for (size_t i = 0; sources && i < count; i++) {
        uint64_t number;
        if (!read_image_number(reader, m, &number)) {
            free(sources);
            return NULL;
        }
        sources[i] = m->nodes.images[number];
    }
    return sources;
}

/* A node of a new kernel of that name, or of one that there is. */
static bool make_filter(struct reader *reader, struct making *m, const char *name,
                        glcnn_kernel *kernel, glcnn_filter_node **filter)
{
    struct item list;
    if (m->gradients.next < m->gradients.count)
        return reader_fail(reader, reader->at, "another gradient of filter %llu is expected",
                           (unsigned long long)m->gradients.forward);
    if (!reader_expect(reader, ITEM_ARRAY, &list))
        return false;
    glcnn_image_node **sources = read_sources(reader, m, (size_t)list.number);
    if (!sources)
        return false;
    size_t count = (size_t)list.number;
    *filter = kernel ? glcnn_filter_node_create_with_kernel(m->network, kernel, sources, count)
                     : glcnn_filter_node_create(m->network, name, NULL, sources, count);
    free(sources);
    return *filter || network_refuses(reader, m);
}

/* Makes all gradient nodes of a filter, of which there are no more than filters to come. */
static bool make_gradients(struct reader *reader, struct making *m, uint64_t forward,
                           uint64_t image)
{
    struct gradients *g = &m->gradients;
    glcnn_filter_node *filter = m->nodes.filters[forward];
    size_t capacity = glcnn_filter_node_source_count(filter);
    if (capacity > m->filters_left)
        capacity = (size_t)m->filters_left;
    free(g->nodes);
    *g = (struct gradients){
        .nodes = calloc(capacity + 1, sizeof(*g->nodes)), .forward = forward, .image = image};
    if (!g->nodes)
        return reader_out_of_memory(reader);
    g->count =
        glcnn_gradient_filters_with_source(filter, m->nodes.images[image], g->nodes, capacity);
    return g->count > 0 || network_refuses(reader, m);
}

static bool take_gradient(struct reader *reader, struct making *m, uint64_t forward,
                          uint64_t source, uint64_t image, glcnn_filter_node **filter)
{
    struct gradients *g = &m->gradients;
    bool is_first = g->next == g->count;
    if (is_first && source == 0 && !make_gradients(reader, m, forward, image))
        return false;
    if (source != g->next || forward != g->forward || image != g->image || g->next == g->count)
        return reader_fail(reader, reader->at,
                           "gradients of a filter must come one after the other, of all sources");
    *filter = g->nodes[g->next++];
    return true;
}

static bool read_gradient(struct reader *reader, struct making *m,
                          const struct glcnn_kernel_info *info, glcnn_filter_node **filter)
{
    struct item list;
    uint64_t forward, source, image;
    if (!reader_expect(reader, ITEM_ARRAY, &list))
        return false;
    if (list.number != 3)
        return reader_fail(reader, list.at, "a gradient has 3 numbers, not %llu",
                           (unsigned long long)list.number);
    if (!reader_number(reader, m->nodes.filter_count, "filters before it", &forward) ||
        !reader_number(reader, SIZE_MAX, "sources", &source) ||
        !read_image_number(reader, m, &image) ||
        !take_gradient(reader, m, forward, source, image, filter))
        return false;
    const struct glcnn_kernel_info *made =
        glcnn_kernel_info_by_name(glcnn_kernel_name(glcnn_filter_node_kernel(*filter)));
    return made == info || reader_fail(reader, list.at, "the gradient's kernel is %s, not %s",
                                       made->name, info->name);
}

enum {
    FILTER_LABEL,
    FILTER_RESULT,
    FILTER_KERNEL,
    FILTER_KERNEL_OF,
    FILTER_STYLE,
    FILTER_SOURCES,
    FILTER_GRADIENT,
    FILTER_LOSS,
    FILTER_SOURCE_STATE,
    FILTER_EXPORT,
    FILTER_FIELDS
};

static bool read_label(struct reader *reader, glcnn_device *device, glcnn_filter_node *filter)
{
    char *label;
    if (!reader_text(reader, &label))
        return false;
    glcnn_status status = glcnn_filter_node_set_label(filter, label);
    free(label);
    return reader_succeeded(reader, device, status);
}

static bool read_style(struct reader *reader, glcnn_device *device, glcnn_filter_node *filter)
{
    size_t style = GLCNN_TRAINING_STYLE_UPDATE_DEVICE_GPU;
    if (reader->bytes && !reader_choice(reader, styles, &style))
        return false;
    return reader_succeeded(
        reader, device, glcnn_filter_node_set_training_style(filter, (glcnn_training_style)style));
}

static bool read_states(struct reader *fields, const struct making *m, glcnn_filter_node *filter)
{
    struct reader *from = &fields[FILTER_SOURCE_STATE], *export = &fields[FILTER_EXPORT];
    glcnn_state_node *state = glcnn_filter_node_result_state(filter);
    uint64_t number;
    bool value = false;
    if (export->bytes && !reader_boolean(export, &value))
        return false;
    if (value && !state)
        return reader_fail(export, export->at, "the kernel leaves no state");
    glcnn_state_node_set_export_from_graph(state, value);
    if (!from->bytes)
        return true;
    if (!reader_number(from, m->nodes.filter_count, "filters before it", &number))
        return false;
    glcnn_state_node *source = glcnn_filter_node_result_state(m->nodes.filters[number]);
    if (!source)
        return reader_fail(from, from->at, "filter %llu leaves no state",
                           (unsigned long long)number);
    return reader_succeeded(from, m->device, glcnn_filter_node_set_source_state(filter, source));
}

static bool read_results(struct reader *fields, const struct making *m, glcnn_filter_node *filter)
{
    glcnn_image_node *loss = glcnn_filter_node_loss(filter);
    struct reader *at = &fields[FILTER_LOSS];
    if (!read_image(&fields[FILTER_RESULT], m->device, glcnn_filter_node_result(filter)))
        return false;
    if (!at->bytes)
        return true;
    return loss ? read_image(at, m->device, loss)
                : reader_fail(at, at->at, "the kernel computes no loss");
}

/* Makes the node with its sources, or finds it among the gradients. */
static bool read_wiring(const struct reader *reader, struct reader *fields, struct making *m,
                        const struct glcnn_kernel_info *info, glcnn_filter_node **filter)
{
    if (!fields[FILTER_SOURCES].bytes == !fields[FILTER_GRADIENT].bytes)
        return reader_fail(reader, reader->at,
                           "a filter has either the field \"sources\" or \"gradient\"");
    return fields[FILTER_SOURCES].bytes
               ? make_filter(&fields[FILTER_SOURCES], m, info->name, NULL, filter)
               : read_gradient(&fields[FILTER_GRADIENT], m, info, filter);
}

/* Vectors that older files have for a gradient node are passed over: they are its forward filter's.
 */
static bool read_kernel(struct reader *fields, struct reader kernel[KERNEL_FIELDS],
                        const struct glcnn_kernel_info *info, glcnn_filter_node *filter)
{
    if (fields[FILTER_GRADIENT].bytes)
        kernel[KERNEL_VECTORS] = (struct reader){.bytes = NULL};
    return serialize_kernel_read_into(kernel, info, glcnn_filter_node_kernel(filter));
}

/* A filter with a kernel of its own. */
static bool read_own(const struct reader *reader, struct reader *fields, struct making *m,
                     glcnn_filter_node **filter)
{
    struct reader kernel[KERNEL_FIELDS];
    const struct glcnn_kernel_info *info;
    return serialize_kernel_read(&fields[FILTER_KERNEL], false, kernel, &info) &&
           read_wiring(reader, fields, m, info, filter) &&
           read_kernel(fields, kernel, info, *filter);
}

/* One with the kernel of a filter before it. */
static bool read_sharing(const struct reader *reader, struct reader *fields, struct making *m,
                         glcnn_filter_node **filter)
{
    uint64_t number;
    if (!fields[FILTER_SOURCES].bytes || fields[FILTER_GRADIENT].bytes)
        return reader_fail(reader, reader->at,
                           "a filter with \"kernel_of\" has the field \"sources\" and no "
                           "\"gradient\"");
    return reader_number(&fields[FILTER_KERNEL_OF], m->nodes.filter_count, "filters before it",
                         &number) &&
           make_filter(&fields[FILTER_SOURCES], m, NULL,
                       glcnn_filter_node_kernel(m->nodes.filters[number]), filter);
}

static bool read_filter(struct reader *reader, struct making *m)
{
    static const char *const names[] = {[FILTER_LABEL] = "label",
                                        [FILTER_RESULT] = "result",
                                        [FILTER_KERNEL] = "kernel",
                                        [FILTER_KERNEL_OF] = "kernel_of",
                                        [FILTER_STYLE] = "training_style",
                                        [FILTER_SOURCES] = "sources",
                                        [FILTER_GRADIENT] = "gradient",
                                        [FILTER_LOSS] = "loss",
                                        [FILTER_SOURCE_STATE] = "source_state",
                                        [FILTER_EXPORT] = "export_state"};
    struct reader fields[FILTER_FIELDS];
    glcnn_filter_node *filter = NULL;
    if (!reader_fields(reader, names, FILTER_RESULT + 1, FILTER_FIELDS, fields))
        return false;
    if (!fields[FILTER_KERNEL].bytes == !fields[FILTER_KERNEL_OF].bytes)
        return reader_fail(reader, reader->at,
                           "a filter has either the field \"kernel\" or \"kernel_of\"");
    if (!(fields[FILTER_KERNEL].bytes ? read_own : read_sharing)(reader, fields, m, &filter) ||
        !read_label(&fields[FILTER_LABEL], m->device, filter) ||
        !read_style(&fields[FILTER_STYLE], m->device, filter) || !read_states(fields, m, filter) ||
        !read_results(fields, m, filter))
        return false;
    return add_filter(&m->nodes, filter) || reader_out_of_memory(reader);
}

static bool read_filters(struct reader *reader, struct making *m)
{
    struct item list;
    if (!reader_expect(reader, ITEM_ARRAY, &list))
        return false;
    for (m->filters_left = list.number; m->filters_left > 0; m->filters_left--)
        if (!read_filter(reader, m))
            return false;
    return m->gradients.next == m->gradients.count ||
           reader_fail(reader, reader->at, "gradients of filter %llu are missing",
                       (unsigned long long)m->gradients.forward);
}

static bool make_network(struct reader *reader, struct making *m)
{
    enum { VERSION, INPUTS, FILTERS, FIELDS };
    static const char *const names[] = {"glcnn", "inputs", "filters"};
    struct reader fields[FIELDS];
    if (!serialize_read_version(reader) || !reader_fields(reader, names, FIELDS, FIELDS, fields) ||
        !reader_end(reader))
        return false;
    glcnn_status status = glcnn_network_create(m->device, &m->network);
    return reader_succeeded(reader, m->device, status) && read_inputs(&fields[INPUTS], m) &&
           read_filters(&fields[FILTERS], m);
}

glcnn_status glcnn_network_deserialize(glcnn_device *device, const uint8_t *bytes, size_t size,
                                       glcnn_network **network, char error[GLCNN_ERROR_LENGTH])
{
    struct outcome outcome = {0};
    struct reader reader = {.bytes = bytes, .size = size, .outcome = &outcome};
    struct making making = {.device = device};
    if (network)
        *network = NULL;
    if (!device || !bytes || !network)
        outcome_fail(&outcome, GLCNN_INVALID_ARGUMENT, "glcnn_network_deserialize: %s is NULL",
                     !device  ? "device"
                     : !bytes ? "bytes"
                              : "network");
    else if (!make_network(&reader, &making))
        glcnn_network_destroy(&making.network);
    else
        *network = making.network;
    free_nodes(&making.nodes);
    free(making.gradients.nodes);
    return outcome_tell(&outcome, error);
}
