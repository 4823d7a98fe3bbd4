/* Files that were exported here: what they say of themselves, and their networks made whole. */
#include "own_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "task/class_names.h"

static bool refuse(char error[GLCNN_ERROR_LENGTH], const char *path, const char *reason)
{
    snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: %s", path, reason);
    return false;
}

/* ---- Metadata ---- */

/* "2,0.5,-1,3". False: they are others. */
static bool read_units(const char *text, size_t count, struct own_file *own)
{
    size_t read = 0;
    own->units = calloc(count + 1, sizeof *own->units);
    for (char *end = NULL; own->units && read < count; text = end + 1) {
        const double value = strtod(text, &end);
        if (end == text || !isfinite(value) || (*end != ',' && *end != 0))
            return false;
        own->units[read++] = (float)value;
        if (*end == 0)
            return read == count;
    }
    return false;
}

static bool take_entries(const struct glcnn_checkpoint_metadata *m, const char *path,
                         struct own_file *own, char error[GLCNN_ERROR_LENGTH])
{
    const char *version = glcnn_checkpoint_text(m, SAVED_VERSION_KEY),
               *input = glcnn_checkpoint_text(m, OWN_INPUT),
               *outputs = glcnn_checkpoint_text(m, OWN_OUTPUTS),
               *record = glcnn_checkpoint_text(m, OWN_RECORD);
    uint64_t number;
    if (!version)
        return true;
    if (!option_whole(version, 1, SAVED_VERSION, &number))
        return refuse(error, path, "its metadata are of a newer glcnn than this one");
    const char *units = glcnn_checkpoint_text(m, OWN_UNITS);
    own->is_own = true;
    own->has_record = record;
    own->input = input ? strdup(input) : NULL;
    own->outputs = outputs ? class_names_parse(outputs, &own->output_count) : NULL;
    if (!input || (outputs && (!own->outputs || own->output_count > TASK_ENDS)) ||
        !saved_take(m, true, &own->saved))
        return refuse(error, path,
                      "its metadata begin as those of \"glcnn export\", and lack a consistent "
                      "net, width, height, channels, classes, input or outputs");
    if (units && !read_units(units, 2 * (size_t)own->saved.form.classes, own))
        return refuse(error, path, "its metadata have units that are not two for each number");
    return own->input || refuse(error, path, "not enough memory");
}

static bool take_all(const struct glcnn_onnx_entry *entries, size_t count, const char *path,
                     struct own_file *own, char error[GLCNN_ERROR_LENGTH])
{
    struct glcnn_checkpoint_metadata m = {calloc(count + 1, sizeof *m.entries), count};
    bool good = m.entries || refuse(error, path, "not enough memory");
    for (size_t i = 0; good && i < count; i++)
        m.entries[i] = (struct glcnn_checkpoint_entry){entries[i].key, entries[i].value};
    good = good && take_entries(&m, path, own, error);
    free(m.entries);
    return good;
}

bool own_file_read(const char *path, const uint8_t *bytes, size_t size, struct own_file *own,
                   char error[GLCNN_ERROR_LENGTH])
{
    struct glcnn_onnx_entry *entries;
    size_t count;
    *own = (struct own_file){.is_own = false};
    const glcnn_status status = bytes
                                    ? glcnn_onnx_read_metadata(bytes, size, &entries, &count, error)
                                    : glcnn_onnx_load_metadata(path, &entries, &count, error);
    /* A damaged file is refused by those who read all of it, with the reason. */
    const bool good = status != GLCNN_SUCCESS || take_all(entries, count, path, own, error);
    glcnn_onnx_metadata_destroy(entries, count);
    return good;
}

void own_file_free(struct own_file *own)
{
    saved_free(&own->saved);
    class_names_free(own->outputs, own->output_count);
    free(own->input);
    free(own->units);
    *own = (struct own_file){.is_own = false};
}

/* ---- The network ---- */

/* Values of an output of a detector in turn: four distances and the scores of each grid. */
static bool fits_grid(const struct form *form, const struct glcnn_onnx_image *output, size_t i)
{
    const struct detection_layout layout = task_of(form)->layout(form);
    return i / 2 < layout.scales && output->width == layout.grids[i / 2].columns &&
           output->height == layout.grids[i / 2].rows &&
           output->feature_channels == (i % 2 ? form->classes : 4);
}

static bool fits_input(const struct form *form, const struct glcnn_onnx_record *record)
{
    const struct glcnn_onnx_image *in = record->inputs;
    return record->input_count == 1 && in->width == form->width && in->height == form->height &&
           in->feature_channels == form->channels;
}

/* Have the outputs as many values as the task's answer? */
static bool fit_outputs(const struct form *form, const struct glcnn_onnx_record *record)
{
    const struct task *task = task_of(form);
    bool good = record->output_count > 0 && record->output_count <= TASK_ENDS &&
                (task->layout || record->output_count == 1);
    for (size_t i = 0; good && i < record->output_count; i++) {
        const struct glcnn_onnx_image *o = &record->outputs[i];
        good = task->layout
                   ? fits_grid(form, o, i)
                   : (uint64_t)o->width * o->height * o->feature_channels == task->values(form);
    }
    return good;
}

/* Of an imported model only classifiers have a task that is known: one output of one pixel, a class each. */
static bool fits_record(const struct form *form, const struct glcnn_onnx_record *record)
{
    const struct glcnn_onnx_image *o = record->outputs;
    return form->classes == 0 || (record->output_count == 1 && o->width == 1 && o->height == 1 &&
                                  o->feature_channels == form->classes);
}

bool own_file_join(const struct own_file *own, const struct glcnn_onnx_record *record,
                   char error[GLCNN_ERROR_LENGTH])
{
    const struct form *form = &own->saved.form;
    const struct task *task = task_of(form);
    glcnn_image_node *ends[TASK_ENDS];
    const bool is_record = own->has_record || form->classes == 0;
    bool good = fits_input(form, record) &&
                (is_record ? fits_record(form, record) : fit_outputs(form, record));
    for (size_t i = 0; good && !is_record && i < record->output_count; i++)
        ends[i] = record->outputs[i].node;
    if (good && !is_record && task->join_ends)
        good = task->join_ends(form, ends, (uint32_t)record->output_count, own->units);
    if (!good)
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "it is not of a network for the task %s with images of %" PRIu32 "x%" PRIu32
                 "x%" PRIu32 " and %" PRIu32 " %s, as its metadata say that it is",
                 task->name, form->width, form->height, form->channels, form->classes,
                 task->classes);
    return good;
}
