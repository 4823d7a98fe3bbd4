/* A trained network as a file for other programs. */
#include "export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/show.h"
#include "int8.h"
#include "task/int8_model.h"
#include "task/onnx_record.h"
#include "task/trained.h"

#define OUTPUTS_MOST 16 /* that are named */

#define INPUT      "images"
#define NORMALISED "normalised" /* what the network begins with, behind preprocessing */

_Static_assert(DETECTION_SCALES <= GLCNN_ONNX_GRIDS && 2 * DETECTION_SCALES <= TASK_ENDS,
               "a file has room for all grids");

static glcnn_status refuse(char error[GLCNN_ERROR_LENGTH], const char *reason)
{
    return fail_with(error, GLCNN_UNSUPPORTED, "%s", reason);
}

/* ---- Names ---- */

static bool has_preprocessing(const struct leaving *l)
{
    return l->options->pixels != GLCNN_EXPORT_PIXELS_NORMALISED;
}

static const char *recorded_input(const struct leaving *l)
{
    return l->record->input_count > 0 ? l->record->inputs[0].name : INPUT;
}

const char *leaving_beginning(const struct leaving *l)
{
    return l->record ? recorded_input(l) : has_preprocessing(l) ? NORMALISED : INPUT;
}

uint32_t leaving_read_ends(const struct leaving *l, const char *names[TASK_ENDS])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->end_count; i++)
        if (l->ends[i].is_inner == l->ends[l->end_count - 1].is_inner)
            names[count++] = l->ends[i].name;
    return count;
}

/* The name of what the file takes. */
static const char *input_of(const struct leaving *l)
{
    if (!has_preprocessing(l))
        return leaving_beginning(l);
    return strcmp(leaving_beginning(l), INPUT) == 0 ? "pixels" : INPUT;
}

/* ---- Checks ---- */

static glcnn_status check_options(const struct leaving *l, char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_export_options *o = l->options;
    const struct form *form = &l->saved->form;
    if (l->saved->bytes[SAVED_BANK].bytes)
        return refuse(
            error,
            "it is a model of \"glcnn anomaly\", whose answer is the distance to patches of normal "
            "pictures: a search that no file of a network has; \"glcnn anomaly score\" and C "
            "make it. The network that patches are of can be exported from the file that it was "
            "fitted with");
    if (o->boxes != GLCNN_EXPORT_BOXES_SPLIT && (l->record || !task_of(form)->layout))
        return refuse(
            error, l->record ? "layouts of boxes are for detectors that were trained here, and "
                               "this network has the outputs of the file that it was imported from"
                             : "layouts of boxes are for detectors, and this network is none");
    if (o->is_blue_first && !has_preprocessing(l))
        return refuse(error, "blue can only come first where the file normalises pictures: with "
                             "preprocessing of bytes, or of values in 0 .. 1");
    if (o->int8_data && !(o->int8_percentile >= 0 && o->int8_percentile <= 100))
        return refuse(error, "the percentile of ranges must be above 0 and at most 100");
    if (has_preprocessing(l) && form->channels > GLCNN_DATA_MAX_CHANNELS)
        return refuse(error, "preprocessing is for pictures of up to 16 channels");
    return GLCNN_SUCCESS;
}

/* ---- What leaves ---- */

static glcnn_status read_units(struct leaving *l, char error[GLCNN_ERROR_LENGTH])
{
    const uint32_t count = l->saved->form.classes;
    if (!l->model->units[0])
        return GLCNN_SUCCESS;
    l->units = calloc(2 * (size_t)count, sizeof *l->units);
    if (!l->units)
        return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    return model_read_units(l->model->units, count, l->units)
               ? GLCNN_SUCCESS
               : trained_refuse_device(error, l->model->device);
}

static glcnn_status find_ends(struct leaving *l, char error[GLCNN_ERROR_LENGTH])
{
    const struct task *task = task_of(&l->saved->form);
    if (task->layout)
        l->layout = task->layout(&l->saved->form);
    l->end_count = task_find_ends(l->model, l->ends, error);
    return l->end_count > 0 ? read_units(l, error) : GLCNN_UNSUPPORTED;
}

/* The file of an imported model knows nothing of what a task has added: its ends are others then, as those of numbers
 * in units of the data. */
static bool has_own_ends(const struct saved *saved)
{
    return saved->form.classes > 0 && task_of(&saved->form)->find_ends;
}

static glcnn_status parse_record(struct leaving *l, char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_checkpoint_bytes *text = &l->saved->bytes[SAVED_RECORD],
                                        *skeleton = &l->saved->bytes[SAVED_ONNX];
    if (!text->bytes || !skeleton->bytes || l->options->int8_data || has_own_ends(l->saved))
        return GLCNN_SUCCESS;
    l->record =
        onnx_record_parse((const char *)text->bytes, text->size, skeleton->bytes, skeleton->size);
    return l->record
               ? GLCNN_SUCCESS
               : fail_with(error, GLCNN_MALFORMED_DATA, "its record of the ONNX file is damaged");
}

/* ---- The file ---- */

static glcnn_status write_file(const struct leaving *l, const struct metadata *m, uint8_t **bytes,
                               size_t *size, char error[GLCNN_ERROR_LENGTH])
{
    const struct form *form = &l->saved->form;
    const struct glcnn_onnx_image input = {.name = leaving_beginning(l),
                                           .width = form->width,
                                           .height = form->height,
                                           .feature_channels = form->channels};
    const struct glcnn_onnx_preprocessing preprocessing = {
        .pixels = (glcnn_onnx_pixels)l->options->pixels,
        .input = input_of(l),
        .is_blue_first = l->options->is_blue_first,
        .mean = l->saved->mean,
        .deviation = l->saved->deviation,
        .channels = form->channels};
    struct glcnn_onnx_output outputs[TASK_ENDS];
    struct glcnn_onnx_grid grids[DETECTION_SCALES];
    struct glcnn_onnx_detector detector = {.boxes = (glcnn_onnx_boxes)l->options->boxes,
                                           .width = form->width,
                                           .height = form->height,
                                           .classes = form->classes,
                                           .grids = grids,
                                           .grid_count = l->layout.scales,
                                           .score = DETECTION_SHOWN.score,
                                           .overlap = DETECTION_SHOWN.overlap,
                                           .most = DETECTION_SHOWN.most};
    for (uint32_t i = 0; i < l->end_count; i++)
        outputs[i] =
            (struct glcnn_onnx_output){l->ends[i].node, l->ends[i].name, l->ends[i].is_inner};
    for (uint32_t i = 0; i < l->layout.scales; i++)
        grids[i] = (struct glcnn_onnx_grid){l->layout.grids[i].stride, l->layout.grids[i].columns,
                                            l->layout.grids[i].rows};
    const struct glcnn_onnx_write_options options = {
        .record = l->record,
        .inputs = l->record ? NULL : &input,
        .input_count = l->record ? 0 : 1,
        .outputs = outputs,
        .output_count = l->end_count,
        .batch = l->options->batch,
        .preprocessing = has_preprocessing(l) ? &preprocessing : NULL,
        .detector = l->layout.scales ? &detector : NULL,
        .entries = m->entries,
        .entry_count = m->count};
    return glcnn_onnx_write_with(l->network, &options, bytes, size, error);
}

static void describe_input(const struct leaving *l, struct text *text)
{
    const struct form *form = &l->saved->form;
    text_show(text, "images of %ux%ux%u", form->width, form->height, form->channels);
    if (form->classes)
        text_show(text, ", %u %s", form->classes, task_of(form)->classes);
    for (uint32_t c = 0; c < saved_listed(form); c++)
        text_show(text, "%s%.9g / %.9g", c ? ", " : "; mean and deviation ",
                  (double)l->saved->mean[c], (double)l->saved->deviation[c]);
    text_show(text, "\ntakes %s, %s%s, in batches of ", input_of(l),
              l->options->pixels == GLCNN_EXPORT_PIXELS_BYTES  ? "bytes"
              : l->options->pixels == GLCNN_EXPORT_PIXELS_UNIT ? "values in 0 .. 1"
                                                               : "normalised values",
              l->options->is_blue_first ? ", blue first" : "");
    if (l->options->batch > 0)
        text_show(text, "%u\n", l->options->batch);
    else
        text_show(text, "any size\n");
}

/* A file that was imported has its own outputs, which it says itself. */
static void describe_outputs(const struct leaving *l, struct text *text)
{
    static const char *const boxes[] = {
        [GLCNN_EXPORT_BOXES_YOLO] = "output: a box's centre, width and height in pixels, and the "
                                    "probability of each class",
        [GLCNN_EXPORT_BOXES_NMS] =
            "boxes, left, top, right and bottom in pixels, scores, classes and pictures: those that "
            "non-maximum suppression leaves"};
    if (l->record || l->saved->form.classes == 0)
        return;
    if (l->layout.scales == 0)
        text_show(text, "gives %s: %s\n", l->ends[0].name, task_of(&l->saved->form)->gives);
    else if (l->options->boxes != GLCNN_EXPORT_BOXES_SPLIT)
        text_show(text, "gives %s\n", boxes[l->options->boxes]);
    else {
        text_show(text, "gives ");
        for (uint32_t i = 0; i < l->end_count; i++)
            text_show(text, "%s%s", i ? ", " : "", l->ends[i].name);
        text_show(text,
                  ": distances before a soft plus, in strides, and scores before a sigmoid\n");
    }
}

/* Users see `shown`, which points to the members after it. */
struct exported {
    struct glcnn_exported shown;
    uint8_t *bytes;
    struct text text;
    struct glcnn_exported_output outputs[OUTPUTS_MOST];
    char *names[2 * OUTPUTS_MOST + 1]; /* of these, and of the input */
    size_t name_count;
};

/* The same network without what only some files have is what pictures run through. */
static glcnn_status become_int8(const struct leaving *l, const struct metadata *m,
                                struct exported *made, char error[GLCNN_ERROR_LENGTH])
{
    struct glcnn_export_options options = {.int8_data = l->options->int8_data};
    struct leaving plain = *l;
    uint8_t *bytes = NULL;
    size_t size;
    plain.options = &options;
    if (int8_count_roundings(l->network) > 0) {
        snprintf(error, GLCNN_ERROR_LENGTH, INT8_IS_ROUNDED, "int8");
        return GLCNN_UNSUPPORTED;
    }
    glcnn_status status = write_file(&plain, m, &bytes, &size, error);
    if (status == GLCNN_SUCCESS)
        status = int8_make(l, bytes, size, &made->bytes, &made->shown.size, &made->text, error);
    glcnn_onnx_destroy(bytes);
    return status;
}

static const char *keep_name(struct exported *e, const char *name)
{
    return e->names[e->name_count++] = strdup(name);
}

static void add_output(struct exported *e, const char *name, const char *node)
{
    if (e->shown.output_count == OUTPUTS_MOST)
        return;
    e->outputs[e->shown.output_count++] =
        (struct glcnn_exported_output){keep_name(e, name), keep_name(e, node)};
}

/* A row of numbers is a result of one pixel, which a node of the output's name makes flat; so are joined boxes given
 * theirs. The layer itself makes any other. */
static void name_outputs(const struct leaving *l, struct exported *e)
{
    static const char *const joined[][5] = {
        [GLCNN_EXPORT_BOXES_YOLO] = {"output"},
        [GLCNN_EXPORT_BOXES_NMS] = {"boxes", "scores", "classes", "pictures"}};
    e->shown.input = keep_name(e, input_of(l));
    e->shown.outputs = e->outputs;
    for (size_t i = 0; l->record && i < l->record->output_count; i++)
        add_output(e, l->record->outputs[i].name, l->record->outputs[i].name);
    for (size_t i = 0; joined[l->options->boxes][i]; i++)
        add_output(e, joined[l->options->boxes][i], joined[l->options->boxes][i]);
    const bool is_row = task_of(&l->saved->form)->values == task_row_values;
    for (uint32_t i = 0; l->options->boxes == GLCNN_EXPORT_BOXES_SPLIT && i < l->end_count; i++)
        if (!l->ends[i].is_inner)
            add_output(e, l->ends[i].name,
                       is_row ? l->ends[i].name
                              : glcnn_filter_node_label(glcnn_image_node_filter(l->ends[i].node)));
}

static glcnn_status make_file(const struct leaving *l, const struct glcnn_exported **exported,
                              char error[GLCNN_ERROR_LENGTH])
{
    struct exported *made = calloc(1, sizeof *made);
    struct metadata *m = calloc(1, sizeof *m);
    glcnn_status status = GLCNN_OUT_OF_MEMORY;
    fail_with(error, status, "not enough memory");
    if (made && m && metadata_make(l, m))
        status = write_file(l, m, &made->bytes, &made->shown.size, error);
    if (status == GLCNN_SUCCESS) {
        describe_input(l, &made->text);
        describe_outputs(l, &made->text);
    }
    if (status == GLCNN_SUCCESS && l->options->int8_data)
        status = become_int8(l, m, made, error);
    if (status == GLCNN_SUCCESS) {
        name_outputs(l, made);
        made->shown.bytes = made->bytes;
        made->shown.text = trained_text(&made->text);
        bool good = made->shown.text;
        for (size_t i = 0; i < made->name_count; i++)
            good = good && made->names[i];
        if (!good)
            status = fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    }
    if (m)
        metadata_free(m);
    free(m);
    *exported = made ? &made->shown : NULL;
    if (status != GLCNN_SUCCESS)
        glcnn_exported_destroy(exported);
    return status;
}

void glcnn_exported_destroy(const struct glcnn_exported **exported)
{
    struct exported *e = (struct exported *)(uintptr_t)*exported;
    if (!e)
        return;
    glcnn_onnx_destroy(e->bytes);
    for (size_t i = 0; i < e->name_count; i++)
        free(e->names[i]);
    text_free(&e->text);
    free(e);
    *exported = NULL;
}

/* Makes the file of a model whose network is at hand. */
static glcnn_status leave(struct leaving *l, const struct glcnn_exported **exported,
                          char error[GLCNN_ERROR_LENGTH])
{
    glcnn_status status = l->record ? GLCNN_SUCCESS : find_ends(l, error);
    if (status == GLCNN_SUCCESS)
        status = make_file(l, exported, error);
    free(l->units);
    return status;
}

/* ---- Models and files ---- */

static const struct glcnn_export_options defaults;

glcnn_status glcnn_export_model(glcnn_model *model, const struct glcnn_export_options *options,
                                const struct glcnn_exported **exported,
                                char error[GLCNN_ERROR_LENGTH])
{
    struct leaving l = {.saved = &model->saved,
                        .options = options ? options : &defaults,
                        .network = model->model.network,
                        .model = &model->model};
    *exported = NULL;
    glcnn_status status = parse_record(&l, error);
    if (status == GLCNN_SUCCESS)
        status = check_options(&l, error);
    if (status == GLCNN_SUCCESS)
        status = leave(&l, exported, error);
    onnx_record_free(l.record);
    return status;
}

/* A network that answers no task is its record's alone. */
static glcnn_status leave_file(struct leaving *l, glcnn_device *device, const char *path,
                               const struct glcnn_exported **exported,
                               char error[GLCNN_ERROR_LENGTH])
{
    struct model model = {.description = NULL};
    glcnn_network *network = NULL;
    char reason[GLCNN_ERROR_LENGTH];
    bool good;
    if (l->record)
        good = saved_network(l->saved, path, device, &network, error);
    else {
        good = saved_make(l->saved, device, NULL, 1, &model, reason);
        if (good)
            good = glcnn_checkpoint_load(model.network, path, NULL, error) == GLCNN_SUCCESS;
        else
            snprintf(error, GLCNN_ERROR_LENGTH, "%.200s: %.300s", path, reason);
        l->model = &model;
    }
    l->network = l->record ? network : model.network;
    glcnn_status status = glcnn_device_is_lost(device) ? GLCNN_DEVICE_LOST : GLCNN_MALFORMED_DATA;
    if (good)
        status = leave(l, exported, error);
    glcnn_network_destroy(&network);
    model_destroy(&model);
    return status;
}

glcnn_status glcnn_export_file(glcnn_device *device, const char *path,
                               const struct glcnn_export_options *options,
                               const struct glcnn_exported **exported,
                               char error[GLCNN_ERROR_LENGTH])
{
    struct own_device own = {.device = NULL};
    struct saved saved;
    char reason[GLCNN_ERROR_LENGTH];
    *exported = NULL;
    if (!saved_read(path, &saved, error))
        return GLCNN_MALFORMED_DATA;
    struct leaving l = {.saved = &saved, .options = options ? options : &defaults};
    glcnn_status status = parse_record(&l, reason);
    if (status == GLCNN_SUCCESS)
        status = check_options(&l, reason);
    if (status != GLCNN_SUCCESS)
        snprintf(error, GLCNN_ERROR_LENGTH, "%.200s: %.300s", path, reason);
    else if (!device && (status = own_device_open(&own, NULL)) != GLCNN_SUCCESS)
        fail_with(error, status, "%s", own.error);
    if (status == GLCNN_SUCCESS)
        status = leave_file(&l, device ? device : own.device, path, exported, error);
    onnx_record_free(l.record);
    own_device_close(&own);
    saved_free(&saved);
    return status;
}
