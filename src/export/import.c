/* Files of other programs become model files: what they do not say comes from who asks for it. */
#include <glcnn/export.h>
#include <glcnn/io.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/show.h"
#include "own_file.h"
#include "task/int8_model.h"
#include "task/class_names.h"
#include "task/model.h"
#include "task/onnx_record.h"
#include "task/own_device.h"
#include "train/parameters.h"

#define NAMES_MAX ((size_t)1 << 26) /* bytes of a file of names */

/* A file on its way into a model file. */
struct import {
    const struct glcnn_import_parameters *asked;
    const char *path;
    struct glcnn_onnx_options options;
    struct glcnn_onnx_record *record;
    char *record_text;
    struct own_file own; /* what the file says of itself, where it was exported here */
    struct saved saved;
    struct model model;
    struct text text; /* what is told of it */
};

struct imported {
    struct glcnn_imported shown; /* first: it is what users have */
    struct text text;
};

/* The message names the file, whether `reason` does or not. */
static glcnn_status fail_file(const struct import *i, glcnn_status status, const char *reason,
                              char error[GLCNN_ERROR_LENGTH])
{
    return strstr(reason, i->path) ? fail_with(error, status, "%s", reason)
                                   : fail_with(error, status, "%.200s: %.300s", i->path, reason);
}

static glcnn_status fail_memory(char error[GLCNN_ERROR_LENGTH])
{
    return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
}

/* ---- What the file does not say ---- */

/* Names of classes: lines of a file, or numbers. */
static bool add_name(struct saved *saved, uint32_t capacity, const char *line)
{
    if (saved->form.classes == capacity)
        return false;
    saved->owned[saved->form.classes] = strdup(line);
    return saved->owned[saved->form.classes++] != NULL;
}

static bool number_classes(struct saved *saved, uint32_t classes)
{
    char number[16];
    for (uint32_t k = 0; k < classes; k++) {
        snprintf(number, sizeof number, "%u", k);
        if (!add_name(saved, classes, number))
            return false;
    }
    return true;
}

/* The names of the classes are those that the file says. */
static bool copy_classes(struct saved *saved, const struct saved *own)
{
    bool good = true;
    for (uint32_t k = 0; k < own->form.classes && good; k++)
        good = add_name(saved, own->form.classes, own->names[k]);
    return good;
}

/* Cuts the text into its lines, `classes` of them. */
static bool read_classes(struct saved *saved, uint32_t classes, char *text, char **lines)
{
    char *rest = NULL;
    bool good = true;
    for (char *line = strtok_r(text, "\r\n", &rest); line && good;
         line = strtok_r(NULL, "\r\n", &rest)) {
        lines[saved->form.classes] = line;
        good = add_name(saved, classes, line);
    }
    return good && saved->form.classes == classes;
}

/* The number of a line in a text that was cut, each "\n" or the "\r" before it to a 0. */
static size_t line_number(const char *text, const char *line)
{
    size_t number = 1;
    for (; text < line; text++)
        number += *text == '\n' || (*text == 0 && text[1] != '\n');
    return number;
}

static int by_text(const void *a, const void *b)
{
    const char *one = *(char *const *)a, *other = *(char *const *)b;
    int order = strcmp(one, other);
    return order != 0 ? order : (one > other) - (one < other);
}

/* Two classes of one name cannot be distinguished. Sorts the lines. */
static glcnn_status check_lines(const struct import *i, uint32_t classes, const char *text,
                                char **lines, char error[GLCNN_ERROR_LENGTH])
{
    uint32_t k = 1;
    qsort(lines, classes, sizeof *lines, by_text);
    while (k < classes && strcmp(lines[k - 1], lines[k]) != 0)
        k++;
    if (k >= classes)
        return GLCNN_SUCCESS;
    return fail_with(
        error, GLCNN_MALFORMED_DATA,
        "%.150s: line %zu: the name \"%.200s\" is also that of line %zu; each class needs "
        "its own name",
        i->asked->class_names, line_number(text, lines[k]), lines[k],
        line_number(text, lines[k - 1]));
}

/* A name for each class, or no more than a message. */
static glcnn_status take_classes(struct import *i, uint32_t classes, char error[GLCNN_ERROR_LENGTH])
{
    void *text;
    size_t size;
    glcnn_status status = glcnn_file_load(i->asked->class_names, NAMES_MAX, &text, &size, error);
    if (status != GLCNN_SUCCESS)
        return status;
    char **lines = calloc((size_t)classes + 1, sizeof *lines);
    status = !lines ? fail_memory(error)
             : strlen(text) == size && read_classes(&i->saved, classes, text, lines)
                 ? check_lines(i, classes, text, lines, error)
                 : fail_with(error, GLCNN_MALFORMED_DATA,
                             "%.300s: must have %u lines, one name for each class of the network",
                             i->asked->class_names, classes);
    free(lines);
    free(text);
    return status;
}

static glcnn_status name_classes(struct import *i, char error[GLCNN_ERROR_LENGTH])
{
    const uint32_t classes = i->saved.form.classes;
    i->saved.owned = calloc((size_t)classes + 1, sizeof(*i->saved.owned));
    i->saved.names = (const char *const *)i->saved.owned;
    i->saved.form.classes = 0;
    if (!i->saved.owned)
        return fail_memory(error);
    if (i->asked->class_names)
        return take_classes(i, classes, error);
    const bool good =
        i->own.is_own ? copy_classes(&i->saved, &i->own.saved) : number_classes(&i->saved, classes);
    return good ? GLCNN_SUCCESS : fail_memory(error);
}

/* Mean and deviation that are not asked for are the file's, or else 0 and 1. */
static glcnn_status read_normalisation(struct import *i, char error[GLCNN_ERROR_LENGTH])
{
    struct saved *s = &i->saved;
    const uint32_t listed = saved_listed(&s->form);
    memcpy(s->mean, i->own.saved.mean, sizeof s->mean);
    memcpy(s->deviation, i->own.saved.deviation, sizeof s->deviation);
    const char *mean = i->asked->mean, *deviation = i->asked->deviation;
    mean = mean || i->own.is_own ? mean : "0";
    deviation = deviation || i->own.is_own ? deviation : "1";
    if ((!mean || saved_read_list(mean, listed, NAN, s->mean)) &&
        (!deviation || saved_read_list(deviation, listed, 0, s->deviation)))
        return GLCNN_SUCCESS;
    if (listed < s->form.channels)
        return fail_with(
            error, GLCNN_INVALID_ARGUMENT,
            "mean and deviation must each be one number for all %u channels; a deviation "
            "must be above 0",
            s->form.channels);
    return fail_with(
        error, GLCNN_INVALID_ARGUMENT,
        "mean and deviation must each be one number, or %u separated by commas; deviations must be "
        "above 0",
        listed);
}

/* ---- The file ---- */

static void name_model(struct import *i)
{
    const char *slash = strrchr(i->path, '/'), *name = slash ? slash + 1 : i->path;
    class_name_as_utf8(name, strcspn(name, "."), i->saved.title, sizeof i->saved.title);
}

/* Readers of the model file, Python's glcnn.load among them, find the outputs by these marks. */
static void mark_outputs(const struct glcnn_onnx_record *r)
{
    for (size_t k = 0; k < r->output_count; k++)
        glcnn_image_node_set_export_from_graph(r->outputs[k].node, true);
}

/* A network that is no classifier has no classes, unless the file says what it is for. */
static bool describe(struct import *i)
{
    const struct glcnn_onnx_record *r = i->record;
    const struct glcnn_onnx_image *in = r->inputs, *out = r->outputs;
    if (r->input_count != 1)
        return false;
    if (i->own.is_own) {
        i->saved.form = i->own.saved.form;
        i->saved.form.resize = i->asked->resize ? i->asked->resize : i->saved.form.resize;
        snprintf(i->saved.title, sizeof i->saved.title, "%s", i->own.saved.title);
        return true;
    }
    bool classifies = r->output_count == 1 && out->width == 1 && out->height == 1;
    i->saved.form = (struct form){.width = in->width,
                                  .height = in->height,
                                  .resize = i->asked->resize,
                                  .channels = in->feature_channels,
                                  .classes = classifies ? out->feature_channels : 0};
    return true;
}

/* A network that was made here needs no record of its file: an export writes it from its layers. */
static bool keeps_record(const struct import *i)
{
    return !i->own.is_own || i->own.has_record;
}

/* Another end than the file's makes another network of it. */
static glcnn_status read_own(struct import *i, char error[GLCNN_ERROR_LENGTH])
{
    if (i->asked->output || i->asked->head_classes)
        return GLCNN_SUCCESS;
    if (!own_file_read(i->path, i->asked->bytes, i->asked->size, &i->own, error))
        return GLCNN_MALFORMED_DATA;
    if (!i->own.is_own)
        return GLCNN_SUCCESS;
    i->options.input = i->own.input;
    i->options.outputs = (const char *const *)i->own.outputs;
    i->options.output_count = i->own.output_count;
    return GLCNN_SUCCESS;
}

/* The middle of a picture is cut out of what it was scaled to. */
static glcnn_status check_resize(const struct import *i, char error[GLCNN_ERROR_LENGTH])
{
    const struct form *form = &i->saved.form;
    const uint32_t longer = form->width > form->height ? form->width : form->height;
    if (i->asked->resize == 0 || i->asked->resize >= longer)
        return GLCNN_SUCCESS;
    return fail_with(
        error, GLCNN_INVALID_ARGUMENT,
        "resize is %u; images are of %ux%u, which are cut out of the middle, so it must be "
        "%u at least",
        i->asked->resize, form->width, form->height, longer);
}

/* The network becomes the model's, or goes with a failure. */
static glcnn_status take_network(struct import *i, glcnn_network *network,
                                 char error[GLCNN_ERROR_LENGTH])
{
    glcnn_status status = GLCNN_SUCCESS;
    if (i->own.is_own && !own_file_join(&i->own, i->record, error))
        status = GLCNN_MALFORMED_DATA;
    else if (!describe(i))
        status = fail_with(error, GLCNN_UNSUPPORTED, "has %zu inputs; expected one, of pictures",
                           i->record->input_count);
    else
        status = check_resize(i, error);
    if (status != GLCNN_SUCCESS) {
        glcnn_network_destroy(&network);
        return status;
    }
    if (keeps_record(i))
        mark_outputs(i->record);
    bool (*open)(glcnn_network *, const struct form *, uint32_t, struct model *, char *) =
        i->saved.form.classes ? model_open : model_keep;
    return open(network, &i->saved.form, 1, &i->model, error) ? GLCNN_SUCCESS
                                                              : GLCNN_MALFORMED_DATA;
}

static glcnn_status read_model(struct import *i, glcnn_device *device,
                               char error[GLCNN_ERROR_LENGTH])
{
    glcnn_network *network = NULL;
    char reason[GLCNN_ERROR_LENGTH];
    glcnn_status status = read_own(i, reason);
    if (status == GLCNN_SUCCESS)
        status = i->asked->bytes
                     ? glcnn_onnx_read(device, i->asked->bytes, i->asked->size, &i->options,
                                       &network, &i->record, reason)
                     : glcnn_onnx_load(device, i->path, &i->options, &network, &i->record, reason);
    if (status == GLCNN_SUCCESS)
        status = take_network(i, network, reason);
    return status == GLCNN_SUCCESS ? status : fail_file(i, status, reason, error);
}

/* ---- What is told ---- */

#define PICTURE_CHANNELS 4 /* and fewer are likely */

/* The file's axes are taken by their order where nothing tells otherwise. */
static void tell_channels(struct import *i)
{
    const struct form *form = &i->saved.form;
    if (form->channels > GLCNN_DATA_MAX_CHANNELS)
        text_format(
            &i->text,
            "images of %u channels: glcnn train, evaluate and predict take %d at most; Python "
            "and C take more\n",
            form->channels, GLCNN_DATA_MAX_CHANNELS);
    if (form->width <= PICTURE_CHANNELS && form->channels > PICTURE_CHANNELS && form->height > 1)
        text_format(&i->text,
                    "the input's axes are taken as N,C,H,W; a model with N,H,W,C must begin with a "
                    "Transpose to N,C,H,W\n");
}

static void tell_roundings(struct import *i)
{
    const size_t count = int8_count_roundings(i->model.network);
    if (count > 0)
        text_format(
            &i->text,
            "%zu values are rounded as the file in int8 has them, in training too, where weights are "
            "real numbers; train --quantise and export --int8 want the file in float32\n",
            count);
}

static void tell(struct import *i, const char *out)
{
    const struct glcnn_onnx_record *r = i->record;
    const struct form *form = &i->saved.form;
    text_show(&i->text, "%s: images of %ux%ux%u, ", out, form->width, form->height, form->channels);
    if (form->resize)
        text_format(&i->text, "the middle of pictures whose shorter side is scaled to %u, ",
                    form->resize);
    if (i->own.is_own && form->classes)
        text_format(&i->text, "for the task %s, ", task_of(form)->name);
    if (form->classes)
        text_format(&i->text, "%u %s\n", form->classes, task_of(form)->classes);
    else
        text_format(&i->text, "not a classifier: ");
    for (size_t k = 0; k < r->output_count && !form->classes; k++)
        text_show(&i->text, "%s%s of %ux%ux%u", k ? ", " : "", r->outputs[k].name,
                  r->outputs[k].width, r->outputs[k].height, r->outputs[k].feature_channels);
    if (!form->classes)
        text_format(
            &i->text,
            "\nglcnn train puts a head on its maps by --task detect, segment or keypoints; "
            "--head makes it a classifier; glcnn export, Python (glcnn.load) and C take this "
            "file, with a loss of their own\n");
    tell_channels(i);
    tell_roundings(i);
}

static glcnn_status write_model(struct import *i, const char *out, char error[GLCNN_ERROR_LENGTH])
{
    struct saved all = i->saved;
    i->record_text = onnx_record_text(i->record);
    if (!i->record_text)
        return fail_memory(error);
    if (keeps_record(i))
        saved_add_onnx(&all, i->record->skeleton, i->record->skeleton_size, i->record_text);
    tell(i, out);
    if (!parameters_describe(i->model.network, i->record, i->asked->lists_all, &i->text) ||
        i->text.failed)
        return fail_memory(error);
    return saved_write(&all, &i->model, out, NULL, NULL, 0, error) ? GLCNN_SUCCESS : GLCNN_IO_ERROR;
}

/* ---- All ---- */

glcnn_status glcnn_import_file(glcnn_device *device, const char *path,
                               const struct glcnn_import_parameters *parameters, const char *out,
                               const struct glcnn_imported **imported,
                               char error[GLCNN_ERROR_LENGTH])
{
    static const struct glcnn_import_parameters nothing = {.width = 0};
    const struct glcnn_import_parameters *p = parameters ? parameters : &nothing;
    struct import i = {.asked = p,
                       .path = path,
                       .options = {.width = p->width,
                                   .height = p->height,
                                   .feature_channels = p->channels,
                                   .output = p->output,
                                   .head_classes = p->head_classes,
                                   .external_links = p->external_links}};
    struct own_device own = {.device = NULL};
    struct imported *made = calloc(1, sizeof *made);
    *imported = NULL;
    glcnn_status status = made ? GLCNN_SUCCESS : fail_memory(error);
    if (status == GLCNN_SUCCESS && !device) {
        status = own_device_open(&own, NULL);
        if (status != GLCNN_SUCCESS)
            fail_with(error, status, "%s", own.error);
    }
    name_model(&i);
    if (status == GLCNN_SUCCESS)
        status = read_model(&i, device ? device : own.device, error);
    if (status == GLCNN_SUCCESS)
        status = read_normalisation(&i, error);
    if (status == GLCNN_SUCCESS)
        status = name_classes(&i, error);
    if (status == GLCNN_SUCCESS)
        status = write_model(&i, out, error);
    if (status == GLCNN_SUCCESS) {
        *made = (struct imported){.shown = {.text = i.text.bytes}, .text = i.text};
        *imported = &made->shown;
    } else {
        text_free(&i.text);
        free(made);
    }
    model_destroy(&i.model);
    glcnn_onnx_record_destroy(&i.record);
    own_device_close(&own);
    saved_free(&i.saved);
    own_file_free(&i.own);
    free(i.record_text);
    return status;
}

void glcnn_imported_destroy(const struct glcnn_imported **imported)
{
    struct imported *made = (struct imported *)(uintptr_t)*imported;
    if (made)
        text_free(&made->text);
    free(made);
    *imported = NULL;
}
