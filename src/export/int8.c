/* A file in int8: ranges of pictures, then the same arithmetic on the device, as whoever runs the file will make it. */
#include "int8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/show.h"
#include "own_file.h"
#include "task/trained.h"

#define SHOWN 5 /* layers */

/* ---- How well a file does ---- */

struct measured {
    double measure;
    uint64_t count;
    glcnn_data_part part;
};

/* The network of a file, whole again, as a model; its `saved` is that of `l`. */
static glcnn_status open_bytes(const struct leaving *l, glcnn_device *device, const uint8_t *bytes,
                               size_t size, glcnn_model *m, char error[GLCNN_ERROR_LENGTH])
{
    const struct own_file own = {.is_own = true, .saved = *l->saved, .units = l->units};
    const struct form *form = &l->saved->form;
    const char *ends[TASK_ENDS];
    const struct glcnn_onnx_options options = {.outputs = ends,
                                               .output_count = leaving_read_ends(l, ends)};
    struct glcnn_onnx_record *record = NULL;
    glcnn_network *network = NULL;
    m->saved = *l->saved;
    m->values = calloc(TRAINED_BATCH * task_of(form)->values(form), sizeof *m->values);
    if (!m->values)
        return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    glcnn_status status = glcnn_onnx_read(device, bytes, size, &options, &network, &record, error);
    if (status == GLCNN_SUCCESS && !own_file_join(&own, record, error))
        status = GLCNN_MALFORMED_DATA;
    if (status != GLCNN_SUCCESS)
        glcnn_network_destroy(&network);
    else if (!model_open(network, form, TRAINED_BATCH, &m->model, error))
        status = GLCNN_MALFORMED_DATA;
    glcnn_onnx_record_destroy(&record);
    return status;
}

static glcnn_status measure(const struct leaving *l, glcnn_device *device, const uint8_t *bytes,
                            size_t size, struct measured *measured, char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_evaluation *evaluation;
    glcnn_model *m = calloc(1, sizeof *m);
    if (!m)
        return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    glcnn_status status = open_bytes(l, device, bytes, size, m, error);
    if (status == GLCNN_SUCCESS)
        status = glcnn_model_evaluate(m, l->options->int8_data, NULL, &evaluation, error);
    if (status == GLCNN_SUCCESS)
        *measured = (struct measured){evaluation->measure, evaluation->count, evaluation->part};
    m->saved = (struct saved){.net = NULL};
    glcnn_model_destroy(&m);
    return status;
}

/* ---- What is told ---- */

struct layer_error {
    double error;
    const char *name;
};

static int compare_errors(const void *a, const void *b)
{
    const struct layer_error *x = a, *y = b;
    return (x->error < y->error) - (x->error > y->error);
}

static glcnn_status describe_layers(const struct glcnn_onnx_quantization *q, const double *errors,
                                    struct text *text, char error[GLCNN_ERROR_LENGTH])
{
    size_t count = 0;
    struct layer_error *layers = calloc(q->range_count + 1, sizeof *layers);
    if (!layers)
        return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    for (size_t i = 0; i < q->range_count; i++)
        if (!isnan(errors[i]))
            layers[count++] = (struct layer_error){errors[i], q->ranges[i].name};
    qsort(layers, count, sizeof *layers, compare_errors);
    for (size_t i = 0; i < count && i < SHOWN; i++)
        text_show(text, "%s%s %.2g %%", i ? ", " : "results that are off most: ", layers[i].name,
                  100 * layers[i].error);
    if (count > 0)
        text_show(text, "\n");
    free(layers);
    return GLCNN_SUCCESS;
}

/* Are the ranges those of training with --quantise? Asking for pictures or a share of numbers asks for others. */
static bool are_trained(const struct leaving *l)
{
    const struct glcnn_export_options *o = l->options;
    return l->saved->bytes[SAVED_RANGES].bytes && o->int8_pictures == 0 && o->int8_percentile <= 0;
}

/* A line of text each, of which names are of the file. */
static void describe_notes(const char *notes, struct text *text)
{
    while (*notes) {
        char line[400];
        const size_t length = strcspn(notes, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, notes);
        text_show(text, "%s\n", line);
        notes += length + (notes[length] == '\n');
    }
}

static void describe(const struct leaving *l, const struct range_pictures *from,
                     const struct glcnn_onnx_quantization *q, const struct measured measured[2],
                     struct text *text)
{
    const glcnn_data_part part = measured[0].part;
    const uint32_t all = from->pictures->info->counts[GLCNN_DATA_PART_TRAINING];
    describe_notes(q->notes, text);
    if (are_trained(l))
        text_show(text, "int8, by the ranges of %zu values that the network was trained for",
                  q->range_count);
    else
        text_show(text, "int8, by the ranges of %zu values on %u pictures", q->range_count,
                  from->count < all ? from->count : all);
    if (!are_trained(l) && from->percentile < 100)
        text_show(text, ", of which %g %% lie within", from->percentile);
    if (are_trained(l) && l->options->int8_small_weights)
        text_show(text, ", and for weights within -127 .. 127, not within -63 .. 63");
    text_show(text, "\n%s of %llu pictures, %s: %.4f in float32, %.4f in int8\n",
              task_of(&l->saved->form)->info.measure, (unsigned long long)measured[0].count,
              part == GLCNN_DATA_PART_TRAINING ? "those of training" : glcnn_data_part_name(part),
              measured[0].measure, measured[1].measure);
}

/* ---- The file ---- */

/* Ranges go by the nodes that make values, which have the names of layers in each file. */
static const struct glcnn_onnx_range *find_range(const struct glcnn_onnx_quantization *from,
                                                 const struct glcnn_onnx_range *range,
                                                 const char *beginning)
{
    const bool begins = strcmp(range->name, beginning) == 0;
    for (size_t i = 0; i < from->range_count; i++) {
        const struct glcnn_onnx_range *r = &from->ranges[i];
        if (begins ? !r->node : r->node && range->node && strcmp(r->node, range->node) == 0)
            return r;
    }
    return NULL;
}

static glcnn_status quantize_file(const struct leaving *l, const struct glcnn_onnx_quantization *by,
                                  uint8_t **bytes, size_t *size, char error[GLCNN_ERROR_LENGTH])
{
    struct glcnn_onnx_quantization *q = NULL;
    uint8_t *made = NULL;
    glcnn_status status = glcnn_onnx_quantization_create(*bytes, *size, &q, error);
    for (size_t i = 0; status == GLCNN_SUCCESS && i < q->range_count; i++) {
        const struct glcnn_onnx_range *r = find_range(by, &q->ranges[i], leaving_beginning(l));
        if (r) {
            q->ranges[i].least = r->least;
            q->ranges[i].most = r->most;
        } else {
            snprintf(error, GLCNN_ERROR_LENGTH, "no range is known of the file's value \"%.80s\"",
                     q->ranges[i].name);
            status = GLCNN_UNSUPPORTED;
        }
    }
    if (status == GLCNN_SUCCESS) {
        q->largest_weight = by->largest_weight;
        status = glcnn_onnx_quantize(q, &made, size, error);
    }
    if (status == GLCNN_SUCCESS) {
        glcnn_onnx_destroy(*bytes);
        *bytes = made;
    }
    glcnn_onnx_quantization_destroy(&q);
    return status;
}

/* Measures what the int8 form loses, and tells it. */
static glcnn_status judge(const struct leaving *l, glcnn_device *device,
                          const struct range_pictures *from, struct glcnn_onnx_quantization *q,
                          struct text *text, char error[GLCNN_ERROR_LENGTH])
{
    struct measured measured[2];
    uint8_t *int8 = NULL;
    size_t size;
    double *errors = malloc((q->range_count + 1) * sizeof *errors);
    glcnn_status status = errors ? glcnn_onnx_quantize(q, &int8, &size, error)
                                 : fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    if (status == GLCNN_SUCCESS)
        status = measure(l, device, q->bytes, q->size, &measured[0], error);
    if (status == GLCNN_SUCCESS)
        status = measure(l, device, int8, size, &measured[1], error);
    if (status == GLCNN_SUCCESS && !ranges_compare(device, from, q, int8, size, errors, error))
        status = GLCNN_INVALID_STATE;
    if (status == GLCNN_SUCCESS) {
        describe(l, from, q, measured, text);
        status = describe_layers(q, errors, text, error);
    }
    glcnn_onnx_destroy(int8);
    free(errors);
    return status;
}

static glcnn_status make(const struct leaving *l, const struct pictures *pictures,
                         struct glcnn_onnx_quantization *q, uint8_t **bytes, size_t *size,
                         struct text *text, char error[GLCNN_ERROR_LENGTH])
{
    glcnn_device *device = glcnn_network_device(l->network);
    const struct glcnn_export_options *o = l->options;
    const struct range_pictures from = {
        .pictures = pictures,
        .saved = l->saved,
        .count = o->int8_pictures ? o->int8_pictures : INT8_PICTURES,
        .percentile = o->int8_percentile > 0 ? o->int8_percentile : 100};
    if (o->int8_small_weights)
        q->largest_weight = 63;
    glcnn_status status = GLCNN_SUCCESS;
    if (are_trained(l) && !ranges_read(&l->saved->bytes[SAVED_RANGES], q, error))
        status = GLCNN_MALFORMED_DATA;
    else if (!are_trained(l) && !ranges_measure(device, &from, q, error))
        status = glcnn_device_is_lost(device) ? GLCNN_DEVICE_LOST : GLCNN_INVALID_STATE;
    if (status == GLCNN_SUCCESS)
        status = judge(l, device, &from, q, text, error);
    return status == GLCNN_SUCCESS ? quantize_file(l, q, bytes, size, error) : status;
}

glcnn_status int8_make(const struct leaving *l, const uint8_t *plain, size_t plain_size,
                       uint8_t **bytes, size_t *size, struct text *text,
                       char error[GLCNN_ERROR_LENGTH])
{
    const struct pictures_options what = {
        .path = l->options->int8_data, .task = task_of(&l->saved->form), .like = l->saved};
    struct pictures pictures = {.set = NULL};
    struct glcnn_onnx_quantization *q = NULL;
    if (!pictures_open(&what, &pictures, error)) {
        pictures_close(&pictures);
        return GLCNN_MALFORMED_DATA;
    }
    pictures_describe_decisions(&pictures, text);
    glcnn_status status = glcnn_onnx_quantization_create(plain, plain_size, &q, error);
    if (status == GLCNN_SUCCESS)
        status = make(l, &pictures, q, bytes, size, text, error);
    pictures_describe_skipped(&pictures, text);
    glcnn_onnx_quantization_destroy(&q);
    pictures_close(&pictures);
    return status;
}
