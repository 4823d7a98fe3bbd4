/* Networks and their nodes. A network owns everything; nodes hold plain pointers to each other. */
#include "graph/nodes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Failures ---- */

void network_keep_message(struct glcnn_network *network)
{
    if (network->status == GLCNN_SUCCESS)
        snprintf(network->error, sizeof network->error, "%s", glcnn_device_error(network->device));
}

void *network_keep_failure(struct glcnn_network *network, glcnn_status status)
{
    if (status == GLCNN_SUCCESS)
        return NULL;
    network_keep_message(network);
    if (network->status == GLCNN_SUCCESS)
        network->status = status;
    return NULL;
}

void *network_fail(struct glcnn_network *network, glcnn_status status, const char *format, ...)
{
    char text[GLCNN_ERROR_LENGTH];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return network_keep_failure(network, device_fail(network->device, status, "%s", text));
}

static void *out_of_memory(struct glcnn_network *network)
{
    return network_fail(network, GLCNN_OUT_OF_MEMORY, "out of memory making a node");
}

glcnn_status glcnn_network_status(const glcnn_network *network)
{
    if (!network)
        return GLCNN_INVALID_ARGUMENT;
    if (network->status != GLCNN_SUCCESS)
        device_fail(network->device, network->status, "%s", network->error);
    return network->status;
}

/* ---- Networks ---- */

static size_t count_registry(void)
{
    size_t count = 0;
    while (glcnn_registry[count])
        count++;
    return count;
}

glcnn_status glcnn_network_create(glcnn_device *device, glcnn_network **network)
{
    if (!network)
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "glcnn_network_create: network is NULL");
    *network = NULL;
    glcnn_status status = device_enter(device);
    if (status != GLCNN_SUCCESS)
        return status;
    glcnn_network *made = calloc(1, sizeof *made);
    size_t *counts = calloc(count_registry() + 1, sizeof *counts);
    if (!made || !counts) {
        free(made);
        free(counts);
        return device_fail(device, GLCNN_OUT_OF_MEMORY, "out of memory making a network");
    }
    made->kernel_counts = counts;
    made->device = device_retain(device);
    made->last_image = &made->images;
    made->last_filter = &made->filters;
    *network = made;
    return GLCNN_SUCCESS;
}

glcnn_device *glcnn_network_device(const glcnn_network *network)
{
    return network ? network->device : NULL;
}

static void free_filter(struct glcnn_filter_node *node)
{
    glcnn_kernel_destroy(&node->kernel);
    glcnn_kernel_destroy(&node->collector);
    free(node->label);
    free(node->sources);
    free(node);
}

static void free_image(struct glcnn_image_node *node)
{
    free(node->handle);
    free(node);
}

/* How many filters of the node's kernel the network has. */
static size_t *kernel_count(const struct glcnn_filter_node *node)
{
    size_t index = 0;
    while (glcnn_registry[index] != node->kernel->descriptor)
        index++;
    return &node->network->kernel_counts[index];
}

struct network_mark network_mark(const struct glcnn_network *network)
{
    return (struct network_mark){network->image_count, network->filter_count, network->last_image,
                                 network->last_filter};
}

void network_cut(struct glcnn_network *network, const struct network_mark *mark)
{
    while (*mark->last_filter) {
        struct glcnn_filter_node *next = (*mark->last_filter)->next;
        --*kernel_count(*mark->last_filter);
        free_filter(*mark->last_filter);
        *mark->last_filter = next;
    }
    while (*mark->last_image) {
        struct glcnn_image_node *next = (*mark->last_image)->next;
        free_image(*mark->last_image);
        *mark->last_image = next;
    }
    network->image_count = mark->image_count;
    network->filter_count = mark->filter_count;
    network->last_image = mark->last_image;
    network->last_filter = mark->last_filter;
}

void glcnn_network_destroy(glcnn_network **network)
{
    if (!network || !*network)
        return;
    glcnn_network *old = *network;
    *network = NULL;
    network_cut(old,
                &(struct network_mark){.last_image = &old->images, .last_filter = &old->filters});
    device_unreference(old->device);
    free(old->kernel_counts);
    free(old->image_at);
    free(old->filter_at);
    free(old);
}

/* ---- Images ---- */

/* Room for element `count` of an array. NULL: there is no memory, and the array stays as it was. */
static void *longer(void *array, size_t count)
{
    bool is_full = (count & (count - 1)) == 0;
    return array && !is_full ? array : realloc(array, (count ? 2 * count : 1) * sizeof(void *));
}

static struct glcnn_image_node *make_image(struct glcnn_network *network, const char *handle)
{
    struct glcnn_image_node *made = calloc(1, sizeof *made);
    char *copy = handle ? strdup(handle) : NULL;
    struct glcnn_image_node **all = longer(network->image_at, network->image_count);
    network->image_at = all ? all : network->image_at;
    if (!made || !all || (handle && !copy)) {
        free(made);
        free(copy);
        return out_of_memory(network);
    }
    made->network = network;
    made->handle = copy;
    made->index = network->image_count++;
    all[made->index] = made;
    *network->last_image = made;
    network->last_image = &made->next;
    return made;
}

glcnn_image_node *glcnn_image_node_create(glcnn_network *network, const char *handle)
{
    return network ? make_image(network, handle) : NULL;
}

void glcnn_image_node_set_format(glcnn_image_node *node, glcnn_channel_format format)
{
    if (node)
        node->format = format;
}

glcnn_channel_format glcnn_image_node_format(const glcnn_image_node *node)
{
    return node ? node->format : GLCNN_CHANNEL_FORMAT_NONE;
}

void glcnn_image_node_set_export_from_graph(glcnn_image_node *node, bool value)
{
    if (node)
        node->export_from_graph = value;
}

bool glcnn_image_node_export_from_graph(const glcnn_image_node *node)
{
    return node && node->export_from_graph;
}

void glcnn_image_node_set_stop_gradient(glcnn_image_node *node, bool value)
{
    if (node)
        node->stop_gradient = value;
}

bool glcnn_image_node_stop_gradient(const glcnn_image_node *node)
{
    return node && node->stop_gradient;
}

const char *glcnn_image_node_handle(const glcnn_image_node *node)
{
    return node ? node->handle : NULL;
}

/* Replaces a string by a copy of another. */
static glcnn_status set_text(struct glcnn_network *network, char **text, const char *value)
{
    char *copy = value ? strdup(value) : NULL;
    if (value && !copy)
        return device_fail(network->device, GLCNN_OUT_OF_MEMORY, "out of memory naming a node");
    free(*text);
    *text = copy;
    return GLCNN_SUCCESS;
}

glcnn_status glcnn_image_node_set_handle(glcnn_image_node *node, const char *handle)
{
    return node ? set_text(node->network, &node->handle, handle) : GLCNN_INVALID_ARGUMENT;
}

glcnn_filter_node *glcnn_image_node_filter(const glcnn_image_node *node)
{
    return node ? node->filter : NULL;
}

/* ---- Filters ---- */

const struct trained_vector trained_vectors[] = {{"weights", 0}, {"biases", 1},      {"gamma", 0},
                                                 {"beta", 1},    {"neuron_data", 0}, {"values", 0},
                                                 {NULL, 0}};

/* Does the gradient kernel, or the one that the batch goes through first, compute it? */
static bool computes(const char *gradient, const char *name)
{
    const struct glcnn_descriptor *d = gradient ? descriptor_find(gradient) : NULL;
    char result[32];
    snprintf(result, sizeof result, "gradient_for_%s", name);
    int argument = d ? descriptor_argument(d, result) : -1;
    return d && ((argument >= 0 && d->arguments[argument].output) || computes(d->collector, name));
}

bool lacks_slopes(const struct glcnn_kernel *kernel, const char *name)
{
    const struct glcnn_descriptor *d = kernel->descriptor;
    return strcmp(name, "neuron_data") == 0 &&
           !(d->neuron && d->neuron(kernel->parameters).has_slopes);
}

int trained_argument(const struct glcnn_kernel *kernel, const char *name)
{
    const struct glcnn_descriptor *d = kernel->descriptor;
    int argument = d->flags & IS_GRADIENT ? -1 : kernel_kept_argument(kernel, name);
    return argument >= 0 && !lacks_slopes(kernel, name) && computes(d->gradient, name) ? argument
                                                                                       : -1;
}

bool filter_has_weights(const struct glcnn_filter_node *node)
{
    for (const struct trained_vector *v = trained_vectors; v->name; v++)
        if (trained_argument(node->kernel, v->name) >= 0)
            return true;
    return false;
}

static bool make_label(struct glcnn_filter_node *node)
{
    char label[128];
    snprintf(label, sizeof label, "%s_%zu", node->kernel->descriptor->name, *kernel_count(node));
    node->label = strdup(label);
    return node->label != NULL;
}

/* Kernels that the whole batch goes through first work for the node too. */
static glcnn_status make_collector(struct glcnn_filter_node *node)
{
    const char *collector = node->kernel->descriptor->collector;
    return collector ? glcnn_kernel_create(node->network->device, collector, &node->collector)
                     : GLCNN_SUCCESS;
}

static bool make_results(struct glcnn_filter_node *node)
{
    node->result = make_image(node->network, NULL);
    if (node->result)
        node->result->filter = node;
    if (!node->result || descriptor_place(node->kernel->descriptor, PLACE_LOSS) < 0)
        return node->result != NULL;
    node->loss = make_image(node->network, NULL);
    if (node->loss)
        node->loss->filter = node;
    return node->loss != NULL;
}

struct glcnn_filter_node *filter_node_make(struct glcnn_network *network,
                                           struct glcnn_kernel *kernel,
                                           struct glcnn_image_node *const *sources,
                                           size_t source_count)
{
    struct glcnn_filter_node *made = calloc(1, sizeof *made);
    struct glcnn_image_node **copy = calloc(source_count, sizeof(*copy));
    struct glcnn_filter_node **all = longer(network->filter_at, network->filter_count);
    network->filter_at = all ? all : network->filter_at;
    if (!made || !copy || !all) {
        free(made);
        free(copy);
        glcnn_kernel_destroy(&kernel);
        return out_of_memory(network);
    }
    *made = (struct glcnn_filter_node){.network = network,
                                       .kernel = kernel,
                                       .sources = copy,
                                       .source_count = source_count,
                                       .state = {.filter = made},
                                       .style = GLCNN_TRAINING_STYLE_UPDATE_DEVICE_GPU};
    memcpy(copy, sources, source_count * sizeof(*copy));
    struct network_mark mark = network_mark(network);
    glcnn_status status = make_collector(made);
    bool named = make_label(made);
    if (status != GLCNN_SUCCESS || !named || !make_results(made)) {
        network_cut(network, &mark);
        free_filter(made);
        return status != GLCNN_SUCCESS ? network_keep_failure(network, status)
                                       : out_of_memory(network);
    }
    ++*kernel_count(made);
    made->index = network->filter_count++;
    all[made->index] = made;
    *network->last_filter = made;
    network->last_filter = &made->next;
    return made;
}

/* ---- Settings ---- */

static glcnn_status set_word(struct glcnn_kernel *kernel, const char *word)
{
    char error[GLCNN_ERROR_LENGTH];
    struct glcnn_setting setting;
    glcnn_status status = glcnn_setting_parse(kernel->descriptor->name, word, &setting, error);
    if (status != GLCNN_SUCCESS)
        return device_fail(kernel->device, status, "%s: %s", kernel->descriptor->name, error);
    return kernel_set(kernel, &setting);
}

static glcnn_status set_words(struct glcnn_kernel *kernel, const char *settings)
{
    glcnn_status status = GLCNN_SUCCESS;
    while (settings && *settings && status == GLCNN_SUCCESS) {
        char word[256];
        settings += strspn(settings, " ");
        size_t length = strcspn(settings, " ");
        if (length == 0)
            break;
        if (length >= sizeof word)
            return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                               "%s: a setting is longer than %zu characters: %.40s...",
                               kernel->descriptor->name, sizeof word - 1, settings);
        memcpy(word, settings, length);
        word[length] = '\0';
        status = set_word(kernel, word);
        settings += length;
    }
    return status;
}

static void set_node_defaults(struct glcnn_kernel *kernel)
{
    if (kernel->descriptor->node_defaults)
        kernel->descriptor->node_defaults(&kernel->properties, kernel->parameters);
}

/* Defaults may depend on what is set, a neuron's on its type, so settings come before and after. */
static glcnn_status apply_settings(struct glcnn_kernel *kernel, const char *settings)
{
    glcnn_status status = set_words(kernel, settings);
    set_node_defaults(kernel);
    return status == GLCNN_SUCCESS ? set_words(kernel, settings) : status;
}

/* ---- Making filters ---- */

/* How many sources a kernel takes, at least and at most. */
static void source_range(const struct glcnn_descriptor *d, size_t *least, size_t *most)
{
    *least = *most = 1;
    if (descriptor_place(d, PLACE_SECONDARY) >= 0)
        *least = *most = 2;
    if (descriptor_place(d, PLACE_LABELS) >= 0) {
        *least = 2;
        *most = 3;
    }
    if (d->flags & GATHERS)
        *most = SIZE_MAX;
}

static bool check_sources(struct glcnn_network *network, const struct glcnn_descriptor *d,
                          glcnn_image_node *const *sources, size_t count)
{
    size_t least, most;
    source_range(d, &least, &most);
    if (count < least || count > most) {
        network_fail(network, GLCNN_INVALID_ARGUMENT,
                     "%s: a node of it takes %zu%s sources, not %zu", d->name, least,
                     most > least ? " or more" : "", count);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (sources && sources[i] && sources[i]->network == network)
            continue;
        network_fail(network, GLCNN_INVALID_ARGUMENT, "%s: source %zu is %s", d->name, i,
                     sources && sources[i] ? "a node of another network" : "NULL");
        return false;
    }
    return true;
}

static const struct glcnn_descriptor *find_kernel(struct glcnn_network *network, const char *name)
{
    const struct glcnn_descriptor *d = name ? descriptor_find(name) : NULL;
    if (!d) {
        char text[SUGGESTION];
        descriptor_suggest(name, text);
        return network_fail(network, GLCNN_INVALID_ARGUMENT,
                            "there is no kernel \"%s\"; \"glcnn kernels\" lists them%s",
                            name ? name : "(NULL)", text);
    }
    if (d->flags & (IS_GRADIENT | WITHOUT_PIXELS) || descriptor_place(d, PLACE_DESTINATION) < 0)
        return network_fail(
            network, GLCNN_INVALID_ARGUMENT, "%s: no node can be made of it: it %s", name,
            d->flags & IS_GRADIENT ? "is a gradient, made by glcnn_gradient_filter_with_source"
                                   : "makes no image");
    return d;
}

/* A kernel with a node's defaults; NULL, with the failure kept, where the network has failed or no node can be
 * made of these. */
static struct glcnn_kernel *node_kernel(struct glcnn_network *network, const char *kernel,
                                        struct glcnn_image_node *const *sources,
                                        size_t source_count)
{
    glcnn_kernel *made = NULL;
    if (!network || network->status != GLCNN_SUCCESS)
        return NULL;
    const struct glcnn_descriptor *d = find_kernel(network, kernel);
    if (!d || !check_sources(network, d, sources, source_count))
        return NULL;
    glcnn_status status = kernel_create(network->device, d, &made);
    if (status != GLCNN_SUCCESS)
        return network_keep_failure(network, status);
    set_node_defaults(made);
    return made;
}

/* The network of sources that a typed node is given; NULL where one of them is NULL or it has failed. */
static struct glcnn_network *network_of_sources(struct glcnn_image_node *const *sources,
                                                size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!sources[i])
            return NULL;
    return sources[0]->network->status == GLCNN_SUCCESS ? sources[0]->network : NULL;
}

struct glcnn_device *node_device(const char *kernel, struct glcnn_image_node *const *sources,
                                 size_t source_count)
{
    struct glcnn_network *network = network_of_sources(sources, source_count);
    return network && check_sources(network, descriptor_find(kernel), sources, source_count)
               ? network->device
               : NULL;
}

struct glcnn_filter_node *node_of_kernel(struct glcnn_image_node *const *sources,
                                         size_t source_count, glcnn_status status,
                                         struct glcnn_kernel *kernel,
                                         const struct glcnn_data_source *data_source)
{
    struct glcnn_network *network = sources[0]->network;
    struct network_mark mark = network_mark(network);
    if (status == GLCNN_SUCCESS)
        status = kernel_finish(&kernel, status);
    if (status != GLCNN_SUCCESS)
        return network_keep_failure(network, status);
    struct glcnn_filter_node *made = filter_node_make(network, kernel, sources, source_count);
    if (!made)
        return NULL;
    if (kernel->descriptor->flags & STOPS_GRADIENT)
        made->result->stop_gradient = true;
    if (data_source)
        status = glcnn_kernel_set_data_source(kernel, data_source);
    if (status == GLCNN_SUCCESS)
        return made;
    network_cut(network, &mark);
    return network_keep_failure(network, status);
}

struct glcnn_filter_node *node_of_values(const char *kernel,
                                         struct glcnn_image_node *const *sources,
                                         size_t source_count, const struct kernel_value *values,
                                         const struct glcnn_data_source *data_source)
{
    struct glcnn_network *network = network_of_sources(sources, source_count);
    struct glcnn_kernel *made =
        network ? node_kernel(network, kernel, sources, source_count) : NULL;
    if (!made)
        return NULL;
    glcnn_status status = kernel_set_values(made, values);
    if (status != GLCNN_SUCCESS)
        glcnn_kernel_destroy(&made);
    return node_of_kernel(sources, source_count, status, made, data_source);
}

glcnn_filter_node *glcnn_filter_node_create(glcnn_network *network, const char *kernel,
                                            const char *settings, glcnn_image_node *const *sources,
                                            size_t source_count)
{
    glcnn_kernel *made = node_kernel(network, kernel, sources, source_count);
    if (!made)
        return NULL;
    glcnn_status status = apply_settings(made, settings);
    if (status == GLCNN_SUCCESS)
        return filter_node_make(network, made, sources, source_count);
    glcnn_kernel_destroy(&made);
    return network_keep_failure(network, status);
}

/* ---- Filters of a kernel that there is ---- */

/* The first node of the network that has the kernel; NULL: none. */
static struct glcnn_filter_node *first_with(const struct glcnn_network *network,
                                            const struct glcnn_kernel *kernel)
{
    struct glcnn_filter_node *node = network->filters;
    while (node && node->kernel != kernel)
        node = node->next;
    return node;
}

glcnn_filter_node *glcnn_filter_node_create_with_kernel(glcnn_network *network,
                                                        glcnn_kernel *kernel,
                                                        glcnn_image_node *const *sources,
                                                        size_t source_count)
{
    if (!network || network->status != GLCNN_SUCCESS)
        return NULL;
    if (!kernel || kernel->device != network->device)
        return network_fail(network, GLCNN_INVALID_ARGUMENT,
                            "glcnn_filter_node_create_with_kernel: the kernel is %s",
                            kernel ? "another device's" : "NULL");
    const struct glcnn_descriptor *d = find_kernel(network, kernel->descriptor->name);
    if (!d || !check_sources(network, d, sources, source_count))
        return NULL;
    struct glcnn_filter_node *first = first_with(network, kernel);
    struct glcnn_filter_node *made =
        filter_node_make(network, kernel_retain(kernel), sources, source_count);
    if (made)
        made->shared_with = first;
    return made;
}

glcnn_filter_node *glcnn_filter_node_shared_with(const glcnn_filter_node *node)
{
    return node ? node->shared_with : NULL;
}

/* ---- One-line forms ---- */

static glcnn_network *network_of(const glcnn_image_node *node)
{
    return node ? node->network : NULL;
}

glcnn_image_node *glcnn_node(glcnn_image_node *source, const char *kernel, const char *settings)
{
    return glcnn_filter_node_result(
        glcnn_filter_node_create(network_of(source), kernel, settings, &source, 1));
}

glcnn_image_node *glcnn_node_with_kernel(glcnn_image_node *source, glcnn_kernel *kernel)
{
    return glcnn_filter_node_result(
        glcnn_filter_node_create_with_kernel(network_of(source), kernel, &source, 1));
}

glcnn_image_node *glcnn_node_binary(glcnn_image_node *primary, glcnn_image_node *secondary,
                                    const char *kernel, const char *settings)
{
    glcnn_image_node *const sources[] = {primary, secondary};
    if (!primary || !secondary)
        return NULL;
    return glcnn_filter_node_result(
        glcnn_filter_node_create(primary->network, kernel, settings, sources, 2));
}

/* ---- Access ---- */

glcnn_kernel *glcnn_filter_node_kernel(glcnn_filter_node *node)
{
    return node ? node->kernel : NULL;
}

glcnn_status glcnn_filter_node_set_padding(glcnn_filter_node *node, uint32_t padding)
{
    uint32_t size;
    int32_t offset;
    if (!node)
        return GLCNN_INVALID_ARGUMENT;
    if (glcnn_padding_resolve(padding & ~(uint32_t)GLCNN_PADDING_CUSTOM, false, 1, 1, 1, &size,
                              &offset) != GLCNN_SUCCESS)
        return device_fail(node->network->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_filter_node_set_padding: %s: %#x is no padding policy; "
                           "glcnn/padding.h has their bits",
                           node->label, padding);
    node->kernel->properties.padding = padding;
    return GLCNN_SUCCESS;
}

uint32_t glcnn_filter_node_padding(const glcnn_filter_node *node)
{
    return node ? node->kernel->properties.padding : GLCNN_PADDING_DEFAULT;
}

const char *glcnn_filter_node_label(const glcnn_filter_node *node)
{
    return node ? node->label : NULL;
}

glcnn_status glcnn_filter_node_set_label(glcnn_filter_node *node, const char *label)
{
    if (!node)
        return GLCNN_INVALID_ARGUMENT;
    if (!label)
        return device_fail(node->network->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_filter_node_set_label: label is NULL");
    return set_text(node->network, &node->label, label);
}

glcnn_image_node *glcnn_filter_node_result(const glcnn_filter_node *node)
{
    return node ? node->result : NULL;
}

glcnn_image_node *glcnn_filter_node_loss(const glcnn_filter_node *node)
{
    return node ? node->loss : NULL;
}

size_t glcnn_filter_node_source_count(const glcnn_filter_node *node)
{
    return node ? node->source_count : 0;
}

glcnn_image_node *glcnn_filter_node_source(const glcnn_filter_node *node, size_t index)
{
    return node && index < node->source_count ? node->sources[index] : NULL;
}

glcnn_image_node *glcnn_network_image(const glcnn_network *network, size_t index)
{
    return network && index < network->image_count ? network->image_at[index] : NULL;
}

glcnn_filter_node *glcnn_network_filter(const glcnn_network *network, size_t index)
{
    return network && index < network->filter_count ? network->filter_at[index] : NULL;
}

glcnn_state_node *glcnn_filter_node_result_state(glcnn_filter_node *node)
{
    return node && node->kernel->descriptor->flags & MAKES_STATE ? &node->state : NULL;
}

glcnn_filter_node *glcnn_state_node_filter(const glcnn_state_node *node)
{
    return node ? node->filter : NULL;
}

bool glcnn_state_node_export_from_graph(const glcnn_state_node *node)
{
    return node && node->export_from_graph;
}

void glcnn_state_node_set_export_from_graph(glcnn_state_node *node, bool value)
{
    if (node)
        node->export_from_graph = value;
}

glcnn_status glcnn_filter_node_set_source_state(glcnn_filter_node *node, glcnn_state_node *state)
{
    if (!node || !state)
        return GLCNN_INVALID_ARGUMENT;
    if (!(node->kernel->descriptor->flags & IS_BACKWARDS) ||
        node->kernel->descriptor->flags & IS_GRADIENT)
        return device_fail(node->network->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_filter_node_set_source_state: %s takes no sizes from a state; "
                           "convolution_transpose does",
                           node->label);
    if (state->filter->network != node->network || state->filter->index >= node->index)
        return device_fail(node->network->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_filter_node_set_source_state: the state must be of an earlier "
                           "node of the same network");
    node->source_state = state;
    return GLCNN_SUCCESS;
}

glcnn_status glcnn_filter_node_set_training_style(glcnn_filter_node *node,
                                                  glcnn_training_style style)
{
    if (!node)
        return GLCNN_INVALID_ARGUMENT;
    if ((unsigned)style > GLCNN_TRAINING_STYLE_UPDATE_DEVICE_GPU)
        return device_fail(node->network->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_filter_node_set_training_style: %d is no training style",
                           (int)style);
    node->style = style;
    return GLCNN_SUCCESS;
}

glcnn_state_node *glcnn_filter_node_source_state(const glcnn_filter_node *node)
{
    return node ? node->source_state : NULL;
}

glcnn_training_style glcnn_filter_node_training_style(const glcnn_filter_node *node)
{
    return node ? node->style : GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE;
}

glcnn_filter_node *glcnn_filter_node_forward(const glcnn_filter_node *node, size_t *source)
{
    if (node && node->forward && source)
        *source = node->forward_source;
    return node ? node->forward : NULL;
}
