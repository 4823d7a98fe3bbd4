/* Ranges of the values of a model on pictures, by reductions on the device, and how far those of its int8 form
 * are from them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glcnn/graph.h>
#include <glcnn/kernels/slice.h>

#include "int8_ranges.h"

#include "json_text.h"

#define BATCH    8
#define COMPARED 4 /* pictures */
#define APART                                                                                      \
    4 /* channels from one number to the next: each begins a slice, as concatenations and offsets want */
#define HALVINGS 12 /* of a range, to find where a share of the numbers ends: to 1 / 4096 of it */

/* ---- A model that runs on pictures ---- */

struct watched {
    glcnn_device *device;
    glcnn_network *network;
    struct glcnn_onnx_record *record; /* its outputs are the values */
    glcnn_graph *graph;
    glcnn_image_node *result;
    glcnn_image *pictures, *bounds;
    size_t batch_bytes; /* of pictures */
};

static void watched_close(struct watched *w)
{
    glcnn_graph_destroy(&w->graph);
    glcnn_onnx_record_destroy(&w->record);
    glcnn_network_destroy(&w->network);
    glcnn_image_destroy(&w->pictures);
    glcnn_image_destroy(&w->bounds);
}

static bool fail_device(const struct watched *w, char error[GLCNN_ERROR_LENGTH])
{
    snprintf(error, GLCNN_ERROR_LENGTH, "%s", model_failure(w->device));
    return false;
}

static bool no_memory(char error[GLCNN_ERROR_LENGTH])
{
    snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
    return false;
}

/* Reads the model with these values as its outputs. */
static bool watched_open(glcnn_device *device, const struct form *form, uint32_t batch,
                         const uint8_t *bytes, size_t size, const char *const *names, size_t count,
                         struct watched *w, char error[GLCNN_ERROR_LENGTH])
{
    uint8_t *shown = NULL;
    size_t shown_size;
    *w = (struct watched){.device = device};
    const struct glcnn_image_descriptor pictures = {.width = form->width,
                                                    .height = form->height,
                                                    .feature_channels = form->channels,
                                                    .number_of_images = batch,
                                                    .channel_format = GLCNN_CHANNEL_FORMAT_FLOAT32};
    w->batch_bytes = (size_t)batch * form->width * form->height * form->channels * sizeof(float);
    bool good =
        glcnn_onnx_expose(bytes, size, names, count, &shown, &shown_size, error) == GLCNN_SUCCESS &&
        glcnn_onnx_read(device, shown, shown_size, NULL, &w->network, &w->record, error) ==
            GLCNN_SUCCESS;
    glcnn_onnx_destroy(shown);
    if (good && glcnn_image_create(device, &pictures, &w->pictures) != GLCNN_SUCCESS)
        good = fail_device(w, error);
    return good;
}

/* The loader gives training pictures as the network has them, `limit` of them where there are as many. */
static bool open_pictures(const struct range_pictures *from, uint32_t batch, uint32_t limit,
                          glcnn_data_loader **loader, char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_data_loader_parameters parameters = {.part = GLCNN_DATA_PART_TRAINING,
                                                            .batch = batch,
                                                            .limit = limit,
                                                            .interleaved = true,
                                                            .mean = from->saved->mean,
                                                            .deviation = from->saved->deviation};
    return glcnn_data_loader_create(from->pictures->set, &parameters, loader, error) ==
           GLCNN_SUCCESS;
}

/* The first source of the graph is the batch; a second, the bounds, is written by who reads them. */
static bool run_batch(struct watched *w, const struct glcnn_data_batch *batch)
{
    glcnn_image *const sources[] = {w->pictures, w->bounds};
    return glcnn_image_write_bytes(w->pictures, NULL, batch->floats, w->batch_bytes) ==
               GLCNN_SUCCESS &&
           glcnn_graph_execute(w->graph, sources, NULL, NULL) == GLCNN_SUCCESS;
}

/* What is read of the result of each batch: [count][channels]. */
typedef void result_reader(void *user, const float *values, size_t channels, uint32_t count);

static bool watch_batch(struct watched *w, const struct glcnn_data_batch *batch, float *values,
                        result_reader *read, void *user, char error[GLCNN_ERROR_LENGTH])
{
    bool good = run_batch(w, batch);
    glcnn_image *result = good ? glcnn_graph_image(w->graph, w->result) : NULL;
    const struct glcnn_image_descriptor *d = result ? glcnn_image_get_descriptor(result) : NULL;
    good = d && glcnn_image_read_bytes(result, NULL, values,
                                       (size_t)d->feature_channels * BATCH * sizeof *values) ==
                    GLCNN_SUCCESS;
    if (good)
        read(user, values, d->feature_channels, batch->filled);
    return good || fail_device(w, error);
}

/* Runs all pictures once. The result has `width` numbers of each, APART. */
static bool watch(struct watched *w, const struct range_pictures *from, size_t width,
                  result_reader *read, void *user, char error[GLCNN_ERROR_LENGTH])
{
    glcnn_data_loader *loader = NULL;
    float *values = malloc((APART * width * BATCH + 1) * sizeof *values);
    bool good = values || no_memory(error);
    good = good && open_pictures(from, BATCH, from->count, &loader, error);
    for (uint64_t step = 0; good && step < glcnn_data_loader_steps(loader); step++) {
        struct glcnn_data_batch batch;
        good = glcnn_data_loader_next(loader, &batch, error) == GLCNN_SUCCESS &&
               watch_batch(w, &batch, values, read, user, error);
    }
    glcnn_data_loader_destroy(&loader);
    free(values);
    return good;
}

static bool make_graph(struct watched *w, glcnn_image_node *result, char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_graph_descriptor descriptor = {.results = &w->result, .result_count = 1};
    w->result = result;
    return (result && glcnn_graph_create(w->network, &descriptor, &w->graph) == GLCNN_SUCCESS) ||
           fail_device(w, error);
}

/* ---- Least and most ---- */

static glcnn_image_node *reduce(glcnn_image_node *node, const char *const kernels[3])
{
    for (size_t i = 0; i < 3 && node; i++)
        node = glcnn_node(node, kernels[i], NULL);
    return node;
}

/* One image of a pixel: the least and the most of each value. */
static glcnn_image_node *gather_bounds(const struct watched *w)
{
    static const char *const least[] = {"reduce_row_min", "reduce_column_min",
                                        "reduce_feature_channels_min"},
                             *const most[] = {"reduce_row_max", "reduce_column_max",
                                              "reduce_feature_channels_max"};
    const size_t count = w->record->output_count;
    glcnn_image_node **all = calloc(2 * count + 1, sizeof(*all)), *result = NULL;
    bool good = all;
    for (size_t i = 0; good && i < count; i++) {
        all[2 * i] = reduce(w->record->outputs[i].node, least);
        all[2 * i + 1] = reduce(w->record->outputs[i].node, most);
        good = all[2 * i] && all[2 * i + 1];
    }
    if (good)
        result = glcnn_concatenation_node(all, 2 * count);
    free(all);
    return result;
}

struct bounds {
    struct glcnn_onnx_quantization *q;
    bool is_begun;
};

static void widen(void *user, const float *values, size_t channels, uint32_t count)
{
    struct bounds *b = user;
    for (uint32_t n = 0; n < count; n++)
        for (size_t i = 0; i < b->q->range_count; i++) {
            struct glcnn_onnx_range *range = &b->q->ranges[i];
            const float *own = values + n * channels;
            const float least = own[2 * i * APART], most = own[(2 * i + 1) * APART];
            const bool is_first = !b->is_begun && n == 0;
            range->least = is_first ? least : fminf(range->least, least);
            range->most = is_first ? most : fmaxf(range->most, most);
        }
    b->is_begun = b->is_begun || count > 0;
}

static const char **names_of(const struct glcnn_onnx_quantization *q)
{
    const char **names = calloc(q->range_count + 1, sizeof *names);
    for (size_t i = 0; names && i < q->range_count; i++)
        names[i] = q->ranges[i].name;
    return names;
}

static bool check_finite(const struct glcnn_onnx_quantization *q, char error[GLCNN_ERROR_LENGTH])
{
    for (size_t i = 0; i < q->range_count; i++)
        if (!isfinite(q->ranges[i].least) || !isfinite(q->ranges[i].most)) {
            snprintf(error, GLCNN_ERROR_LENGTH,
                     "the value \"%.80s\" is not finite on the pictures that ranges are measured "
                     "on",
                     q->ranges[i].name);
            return false;
        }
    return true;
}

/* ---- The share of numbers that lie within ---- */

/* A value less that number of the bounds. */
static glcnn_image_node *subtract_bound(glcnn_image_node *value, glcnn_image_node *bounds, size_t i)
{
    glcnn_image_node *node = glcnn_node_binary(value, bounds, "subtract", NULL);
    if (!node)
        return NULL;
    struct glcnn_source_properties *p =
        &glcnn_kernel_properties(glcnn_filter_node_kernel(glcnn_image_node_filter(node)))
             ->secondary;
    p->stride_in_pixels_x = p->stride_in_pixels_y = p->stride_in_feature_channels = 0;
    p->feature_channel_offset = (uint32_t)(i * APART);
    return node;
}

/* Each value has two bounds, and for each of them the result has the mean of the sign of the value less the bound. */
static glcnn_image_node *gather_shares(const struct watched *w, glcnn_image_node *bounds)
{
    static const char *const mean[] = {"reduce_row_mean", "reduce_column_mean",
                                       "reduce_feature_channels_mean"};
    const struct glcnn_neuron_descriptor sign = {GLCNN_NEURON_TYPE_SIGN, 0, 0, 0};
    const size_t count = 2 * w->record->output_count;
    glcnn_image_node **all = calloc(count + 1, sizeof(*all)), *result = NULL;
    bool good = all;
    for (size_t i = 0; good && i < count; i++) {
        glcnn_image_node *more = subtract_bound(w->record->outputs[i / 2].node, bounds, i);
        more = more ? glcnn_neuron_node(more, &sign) : NULL;
        all[i] = more ? reduce(more, mean) : NULL;
        good = all[i];
    }
    if (good)
        result = glcnn_concatenation_node(all, count);
    free(all);
    return result;
}

struct shares {
    size_t width;
    double *sums;
    uint64_t count;
};

static void add_shares(void *user, const float *values, size_t channels, uint32_t count)
{
    struct shares *s = user;
    for (uint32_t n = 0; n < count; n++)
        for (size_t i = 0; i < s->width; i++)
            s->sums[i] += (double)values[n * channels + i * APART];
    s->count += count;
}

/* Where both ends may still be: low[2 i] .. high[2 i] the least of value i, the next the most. */
struct search {
    float *low, *high, *middle;
    struct shares shares;
};

static bool put_bounds(struct watched *w, const struct search *s, char error[GLCNN_ERROR_LENGTH])
{
    const size_t channels = s->shares.width * APART;
    float *all = calloc(channels * BATCH + 1, sizeof *all);
    if (!all)
        return no_memory(error);
    for (size_t i = 0; i < s->shares.width * BATCH; i++)
        all[i * APART] = s->middle[i % s->shares.width];
    const bool good = glcnn_image_write_bytes(w->bounds, NULL, all,
                                              channels * BATCH * sizeof *all) == GLCNN_SUCCESS ||
                      fail_device(w, error);
    free(all);
    return good;
}

/* At the bound t the mean of the sign is the share above less that below. */
static bool halve(struct watched *w, const struct range_pictures *from, struct search *s,
                  char error[GLCNN_ERROR_LENGTH])
{
    const double outside = (100 - from->percentile) / 200; /* at each end */
    s->shares.count = 0;
    for (size_t i = 0; i < s->shares.width; i++) {
        s->middle[i] = (s->low[i] + s->high[i]) / 2;
        s->shares.sums[i] = 0;
    }
    if (!put_bounds(w, s, error) || !watch(w, from, s->shares.width, add_shares, &s->shares, error))
        return false;
    for (size_t i = 0; i < s->shares.width; i++) {
        const double mean = s->shares.sums[i] / (double)s->shares.count;
        const double above = (1 + mean) / 2;
        const bool is_most = i % 2;
        const bool goes_down = is_most ? above <= outside : 1 - above > outside;
        *(goes_down ? &s->high[i] : &s->low[i]) = s->middle[i];
    }
    return true;
}

static bool search_bounds(struct watched *w, const struct range_pictures *from,
                          struct glcnn_onnx_quantization *q, struct search *s,
                          char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_image_descriptor bounds = {.width = 1,
                                                  .height = 1,
                                                  .feature_channels =
                                                      (uint32_t)s->shares.width * APART,
                                                  .number_of_images = BATCH,
                                                  .channel_format = GLCNN_CHANNEL_FORMAT_FLOAT32};
    for (size_t i = 0; i < s->shares.width; i++) {
        s->low[i] = q->ranges[i / 2].least;
        s->high[i] = q->ranges[i / 2].most;
    }
    glcnn_image_node *node = glcnn_image_node_create(w->network, "bounds");
    bool good = glcnn_image_create(w->device, &bounds, &w->bounds) == GLCNN_SUCCESS ||
                fail_device(w, error);
    good = good && make_graph(w, node ? gather_shares(w, node) : NULL, error);
    for (int i = 0; good && i < HALVINGS; i++)
        good = halve(w, from, s, error);
    for (size_t i = 0; good && i < q->range_count; i++) {
        q->ranges[i].least = s->low[2 * i];
        q->ranges[i].most = s->high[2 * i + 1];
    }
    return good;
}

static bool narrow(glcnn_device *device, const struct range_pictures *from,
                   struct glcnn_onnx_quantization *q, const char *const *names,
                   char error[GLCNN_ERROR_LENGTH])
{
    struct watched w;
    const size_t width = 2 * q->range_count;
    struct search s = {malloc((width + 1) * sizeof *s.low),
                       malloc((width + 1) * sizeof *s.high),
                       malloc((width + 1) * sizeof *s.middle),
                       {width, malloc((width + 1) * sizeof *s.shares.sums), 0}};
    bool good = watched_open(device, &from->saved->form, BATCH, q->bytes, q->size, names,
                             q->range_count, &w, error);
    if (good)
        good = s.low && s.high && s.middle && s.shares.sums ? search_bounds(&w, from, q, &s, error)
                                                            : no_memory(error);
    watched_close(&w);
    free(s.low);
    free(s.high);
    free(s.middle);
    free(s.shares.sums);
    return good;
}

bool ranges_measure(glcnn_device *device, const struct range_pictures *from,
                    struct glcnn_onnx_quantization *q, char error[GLCNN_ERROR_LENGTH])
{
    struct watched w;
    struct bounds bounds = {q, false};
    const char **names = names_of(q);
    if (!names)
        return no_memory(error);
    bool good = watched_open(device, &from->saved->form, BATCH, q->bytes, q->size, names,
                             q->range_count, &w, error) &&
                make_graph(&w, gather_bounds(&w), error) &&
                watch(&w, from, 2 * q->range_count, widen, &bounds, error) &&
                check_finite(q, error);
    watched_close(&w);
    if (good && from->percentile < 100)
        good = narrow(device, from, q, names, error);
    free(names);
    return good;
}

/* ---- Comparison ---- */

static bool read_outputs(const struct watched *w, float **values, size_t *ends,
                         char error[GLCNN_ERROR_LENGTH])
{
    size_t all = 0;
    for (size_t i = 0; i < w->record->output_count; i++) {
        glcnn_image *image = glcnn_graph_image(w->graph, w->record->outputs[i].node);
        const struct glcnn_image_descriptor *d = image ? glcnn_image_get_descriptor(image) : NULL;
        if (!d)
            return fail_device(w, error);
        const size_t count =
            (size_t)d->width * d->height * d->feature_channels * d->number_of_images;
        float *more = realloc(*values, (all + count + 1) * sizeof *more);
        if (!more)
            return no_memory(error);
        *values = more;
        if (glcnn_image_read_bytes(image, NULL, more + all, count * sizeof *more) != GLCNN_SUCCESS)
            return fail_device(w, error);
        all += count;
        ends[i] = all;
    }
    return true;
}

static bool run_outputs(struct watched *w, const struct glcnn_data_batch *batch,
                        char error[GLCNN_ERROR_LENGTH])
{
    const size_t count = w->record->output_count;
    glcnn_image_node **nodes = calloc(count + 1, sizeof(*nodes));
    const struct glcnn_graph_descriptor descriptor = {.results = nodes, .result_count = count};
    if (!nodes)
        return no_memory(error);
    for (size_t i = 0; i < count; i++)
        nodes[i] = w->record->outputs[i].node;
    const bool good = glcnn_graph_create(w->network, &descriptor, &w->graph) == GLCNN_SUCCESS &&
                      run_batch(w, batch);
    free(nodes);
    return good || fail_device(w, error);
}

/* All values of a few pictures, one after the other. */
static float *read_values(glcnn_device *device, const struct range_pictures *from,
                          const uint8_t *bytes, size_t size, const char *const *names, size_t count,
                          size_t *ends, char error[GLCNN_ERROR_LENGTH])
{
    struct watched w;
    struct glcnn_data_batch batch;
    glcnn_data_loader *loader = NULL;
    float *values = NULL;
    bool good =
        watched_open(device, &from->saved->form, COMPARED, bytes, size, names, count, &w, error) &&
        open_pictures(from, COMPARED, COMPARED, &loader, error) &&
        glcnn_data_loader_next(loader, &batch, error) == GLCNN_SUCCESS &&
        run_outputs(&w, &batch, error) && read_outputs(&w, &values, ends, error);
    watched_close(&w);
    glcnn_data_loader_destroy(&loader);
    if (good)
        return values;
    free(values);
    return NULL;
}

static double find_error(const float *real, const float *whole, size_t count)
{
    double difference = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        difference += pow((double)real[i] - (double)whole[i], 2);
        size += pow((double)real[i], 2);
    }
    return size > 0 ? sqrt(difference / size) : 0;
}

bool ranges_compare(glcnn_device *device, const struct range_pictures *from,
                    const struct glcnn_onnx_quantization *q, const uint8_t *int8, size_t size,
                    double *errors, char error[GLCNN_ERROR_LENGTH])
{
    size_t count = 0;
    const char **names = calloc(q->range_count + 1, sizeof *names);
    size_t *ranges = calloc(q->range_count + 1, sizeof *ranges),
           *ends = calloc(q->range_count + 1, sizeof *ends);
    float *real = NULL, *whole = NULL;
    for (size_t i = 0; names && ranges && i < q->range_count; i++) {
        errors[i] = NAN;
        if (q->ranges[i].scale > 0 && q->ranges[i].node) {
            ranges[count] = i;
            names[count++] = q->ranges[i].name;
        }
    }
    if (!names || !ranges || !ends)
        no_memory(error);
    else
        real = read_values(device, from, q->bytes, q->size, names, count, ends, error);
    if (real)
        whole = read_values(device, from, int8, size, names, count, ends, error);
    for (size_t i = 0; whole && i < count; i++) {
        const size_t begin = i ? ends[i - 1] : 0;
        errors[ranges[i]] = find_error(real + begin, whole + begin, ends[i] - begin);
    }
    const bool good = whole;
    free(names);
    free(ranges);
    free(ends);
    free(real);
    free(whole);
    return good;
}

/* ---- In a model file ---- */

/* {"NODE": [least, most], ...}; of an input of the model the node is "". */
static const char *key_of(const struct glcnn_onnx_range *range)
{
    return range->node ? range->node : "";
}

char *ranges_write(const struct glcnn_onnx_quantization *q)
{
    cJSON *all = cJSON_CreateObject();
    bool good = all;
    for (size_t i = 0; good && i < q->range_count; i++) {
        cJSON *pair = cJSON_AddArrayToObject(all, key_of(&q->ranges[i]));
        good = pair && cJSON_AddItemToArray(pair, cJSON_CreateNumber((double)q->ranges[i].least)) &&
               cJSON_AddItemToArray(pair, cJSON_CreateNumber((double)q->ranges[i].most));
    }
    if (good)
        return json_text(all, false);
    cJSON_Delete(all);
    return NULL;
}

static bool read_pair(const cJSON *pair, struct glcnn_onnx_range *range)
{
    const cJSON *least = cJSON_GetArrayItem(pair, 0), *most = cJSON_GetArrayItem(pair, 1);
    if (!cJSON_IsNumber(least) || !cJSON_IsNumber(most))
        return false;
    range->least = (float)least->valuedouble;
    range->most = (float)most->valuedouble;
    return isfinite(range->least) && isfinite(range->most) && range->least <= range->most;
}

bool ranges_read(const struct glcnn_checkpoint_bytes *text, struct glcnn_onnx_quantization *q,
                 char error[GLCNN_ERROR_LENGTH])
{
    bool good = true;
    cJSON *all = cJSON_ParseWithLength((const char *)text->bytes, text->size);
    for (size_t i = 0; good && i < q->range_count; i++) {
        struct glcnn_onnx_range *range = &q->ranges[i];
        good = read_pair(cJSON_GetObjectItemCaseSensitive(all, key_of(range)), range);
        if (!good)
            snprintf(
                error, GLCNN_ERROR_LENGTH,
                "the ranges that the network was trained to be int8 by have none of \"%.80s\", "
                "or a wrong one",
                range->name);
    }
    cJSON_Delete(all);
    return good;
}
