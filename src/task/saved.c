/* Model files. */
#include "saved.h"

#include <glcnn/serialize.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backbone.h"
#include "class_names.h"
#include "network_size.h"
#include "window.h"
#include "base/option.h"

#define EXTENT_MAX 65535

static const struct {
    const char *name;
    size_t offset;    /* in struct form */
    bool may_be_none; /* 0, which files need not have */
} numbers[SAVED_NUMBERS] = {{"width", offsetof(struct form, width), false},
                            {"height", offsetof(struct form, height), false},
                            {"channels", offsetof(struct form, channels), false},
                            {"resize", offsetof(struct form, resize), true}};

static uint32_t *place(const struct form *form, size_t i)
{
    return (uint32_t *)(void *)((char *)(uintptr_t)form + numbers[i].offset);
}

/* ---- Keys ---- */

#define MODEL "model"

static const char *write_key(char key[SAVED_KEY], const char *group, const char *name)
{
    snprintf(key, SAVED_KEY, "%s.%s", group, name);
    return key;
}

const char *saved_text(const struct glcnn_checkpoint_metadata *metadata, const char *group,
                       const char *name)
{
    char key[SAVED_KEY];
    const bool has_groups = glcnn_checkpoint_text(metadata, SAVED_VERSION_KEY);
    return glcnn_checkpoint_text(metadata, has_groups ? write_key(key, group, name) : name);
}

static bool check_version(const struct glcnn_checkpoint_metadata *m, const char *path,
                          char error[GLCNN_ERROR_LENGTH])
{
    uint64_t version;
    const char *text = glcnn_checkpoint_text(m, SAVED_VERSION_KEY);
    if (!text || option_whole(text, 1, SAVED_VERSION, &version))
        return true;
    snprintf(
        error, GLCNN_ERROR_LENGTH,
        "%.300s: is a model file of version \"%.20s\", and this glcnn reads versions up to %d: "
        "a newer one wrote it",
        path, text, SAVED_VERSION);
    return false;
}

static bool read_form(const struct glcnn_checkpoint_metadata *m, struct form *form)
{
    for (size_t i = 0; i < SAVED_NUMBERS; i++) {
        uint64_t value;
        const char *text = saved_text(m, MODEL, numbers[i].name);
        if (!text && numbers[i].may_be_none)
            continue;
        if (!text || !option_whole(text, !numbers[i].may_be_none, EXTENT_MAX, &value))
            return false;
        *place(form, i) = (uint32_t)value;
    }
    return true;
}

uint32_t saved_listed(const struct form *form)
{
    return form->channels <= GLCNN_DATA_MAX_CHANNELS ? form->channels : 1;
}

bool saved_read_list(const char *text, uint32_t channels, double low,
                     float values[GLCNN_DATA_MAX_CHANNELS])
{
    uint32_t count = 0;
    char *end = NULL;
    for (const char *at = text; count < channels; at = end + 1) {
        double value = strtod(at, &end);
        if (end == at || !isfinite(value) || (!isnan(low) && !(value > low)))
            return false;
        values[count++] = (float)value;
        if (*end != ',')
            break;
    }
    for (uint32_t c = count; count == 1 && c < channels; c++)
        values[c] = values[0];
    return count > 0 && *end == 0 && (count == 1 || count == channels);
}

static void write_list(const float *values, uint32_t channels, char *text, size_t size)
{
    size_t used = 0;
    for (uint32_t c = 0; c < channels && used < size; c++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s%.9g", c ? "," : "", (double)values[c]);
}

static bool read_lists(const struct glcnn_checkpoint_metadata *m, struct saved *saved)
{
    const char *mean = saved_text(m, MODEL, "mean"), *deviation = saved_text(m, MODEL, "deviation");
    const uint32_t listed = saved_listed(&saved->form);
    return mean && deviation && saved_read_list(mean, listed, NAN, saved->mean) &&
           saved_read_list(deviation, listed, 0, saved->deviation);
}

/* ---- Reading ---- */

static const char *const bytes_names[SAVED_BYTES] = {
    GLCNN_CHECKPOINT_NETWORK, "glcnn.onnx", "glcnn.onnx.record", SAVED_BANK_NAME,
    "glcnn.trained",          "glcnn.seen", "glcnn.int8"};

static bool read_bytes(const char *path, struct saved *saved, char error[GLCNN_ERROR_LENGTH])
{
    for (size_t i = 0; i < SAVED_BYTES; i++) {
        uint8_t *bytes = NULL;
        size_t size = 0;
        if (glcnn_checkpoint_read_bytes(path, bytes_names[i], &bytes, &size, error) !=
            GLCNN_SUCCESS)
            return false;
        saved->bytes[i] = (struct glcnn_checkpoint_bytes){bytes_names[i], bytes, size};
    }
    return true;
}

static bool has_network(const struct saved *saved)
{
    return saved->bytes[SAVED_NETWORK].bytes;
}

bool saved_take(const struct glcnn_checkpoint_metadata *m, bool has_own, struct saved *saved)
{
    const char *net = saved_text(m, MODEL, "net"), *names = saved_text(m, MODEL, "classes"),
               *task = saved_text(m, MODEL, "task"),        /* older files classify */
                   *fit_name = saved_text(m, MODEL, "fit"); /* older files cut */
    const struct fit *fit = fit_find(fit_name ? fit_name : "cut");
    const struct task *known = task_find(task ? task : "classify");
    saved->form.task = known ? task_number(known) : 0;
    saved->form.fit = fit ? fit->fit : GLCNN_DATA_FIT_CUT;
    saved->net = net && !has_own ? net_find(net) : NULL;
    saved->owned = names ? class_names_parse(names, &saved->form.classes) : NULL;
    saved->names = (const char *const *)saved->owned;
    snprintf(saved->title, sizeof saved->title, "%s", net ? net : "");
    return net && known && fit && saved->names && (saved->form.classes > 0 || has_own) &&
           read_form(m, &saved->form) &&
           (has_own || (saved->net && net_fits(saved->net, &saved->form))) && read_lists(m, saved);
}

static bool is_onnx(const char *path)
{
    const char *end = strrchr(path, '.');
    return end && strcmp(end, ".onnx") == 0;
}

bool saved_read(const char *path, struct saved *saved, char error[GLCNN_ERROR_LENGTH])
{
    struct glcnn_checkpoint_metadata m;
    *saved = (struct saved){.net = NULL};
    if (glcnn_checkpoint_read_metadata(path, &m, error) != GLCNN_SUCCESS) {
        if (is_onnx(path) && access(path, R_OK) == 0)
            snprintf(error, GLCNN_ERROR_LENGTH,
                     "%.300s: is an ONNX file; \"glcnn import\" makes a model file of it", path);
        return false;
    }
    bool is_read = check_version(&m, path, error) && read_bytes(path, saved, error),
         good = is_read && saved_take(&m, has_network(saved), saved);
    glcnn_checkpoint_metadata_destroy(&m);
    if (good)
        return true;
    if (is_read)
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "%.300s: is not a file of \"glcnn train --out\" or \"glcnn import\": its metadata "
                 "lack a consistent net, width, height, channels and classes",
                 path);
    saved_free(saved);
    return false;
}

void saved_free(struct saved *saved)
{
    class_names_free(saved->owned, saved->form.classes);
    for (size_t i = 0; i < SAVED_BYTES; i++)
        free((void *)(uintptr_t)saved->bytes[i].bytes);
    *saved = (struct saved){.net = NULL};
}

/* ---- Making ---- */

/* Before the network has weights, which would be of another length. */
static bool replace_head(glcnn_network *network, const struct form *form,
                         char error[GLCNN_ERROR_LENGTH])
{
    glcnn_filter_node *layers[CLASS_LAYERS_MAX];
    const struct class_head head = {network, task_of(form), model_head(network)};
    const size_t count = class_layers(&head, layers);
    size_t set = 0;
    while (set < count &&
           glcnn_kernel_set(glcnn_filter_node_kernel(layers[set]), "output_feature_channels",
                            class_rows(form)) == GLCNN_SUCCESS)
        set++;
    if (count > 0 && set == count)
        return true;
    snprintf(error, GLCNN_ERROR_LENGTH, "%s",
             count > 0 ? model_failure(glcnn_network_device(network))
                       : "the network has no head that could be replaced: no convolution or fully "
                         "connected layer makes its result");
    return false;
}

/* A network that is no backbone does for its own task, and for those that begin with a network of it. */
static bool check_task(const struct form *own, const struct form *form,
                       char error[GLCNN_ERROR_LENGTH])
{
    const struct task *has = task_of(own), *wanted = task_of(form);
    const bool begins = wanted->begins_with && strcmp(wanted->begins_with, has->name) == 0;
    if (has != wanted && !begins)
        snprintf(
            error, GLCNN_ERROR_LENGTH,
            "the network is for the task %s, and cannot be trained for %s: begin with --net, or "
            "with a network for that task",
            has->name, wanted->name);
    else if (has->keeps_count && own->classes != form->classes)
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "the network answers %u numbers, and the data have %u for a picture", own->classes,
                 form->classes);
    else
        return true;
    return false;
}

static bool make_own(const struct saved *saved, glcnn_device *device, const struct form *form,
                     uint32_t batch, struct model *model, char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_checkpoint_bytes *bytes = &saved->bytes[SAVED_NETWORK];
    glcnn_network *network = NULL;
    const bool is_backbone = backbone_serves(&saved->form, form);
    if (!saved->form.classes && !is_backbone) {
        snprintf(
            error, GLCNN_ERROR_LENGTH,
            "the network is not a classifier with one score for each class: \"glcnn import "
            "--head\" makes one; --task detect, segment or keypoints puts a head on its maps; Python "
            "(glcnn.load) and C train it with a loss of their own, and \"glcnn export\" gives its "
            "ONNX file back");
        return false;
    }
    if (saved->form.channels > GLCNN_DATA_MAX_CHANNELS) {
        snprintf(
            error, GLCNN_ERROR_LENGTH,
            "the network takes images of %u channels; the pictures and arrays read here have at "
            "most %d; use Python (glcnn.load) or C",
            saved->form.channels, GLCNN_DATA_MAX_CHANNELS);
        return false;
    }
    if ((!is_backbone && !check_task(&saved->form, form, error)) ||
        glcnn_network_deserialize(device, bytes->bytes, bytes->size, &network, error) !=
            GLCNN_SUCCESS)
        return false;
    if (saved->made.width > 0 && !network_take_size(network, &saved->made, &saved->form, error)) {
        glcnn_network_destroy(&network);
        return false;
    }
    if (is_backbone)
        return backbone_open(network, &saved->form, form, batch, model, error);
    if (form->classes == saved->form.classes || replace_head(network, form, error))
        return model_open(network, form, batch, model, error);
    glcnn_network_destroy(&network);
    return false;
}

bool saved_make(const struct saved *saved, glcnn_device *device, const struct form *form,
                uint32_t batch, struct model *model, char error[GLCNN_ERROR_LENGTH])
{
    form = form ? form : &saved->form;
    if (has_network(saved))
        return make_own(saved, device, form, batch, model, error);
    if (model_create(device, saved->net, form, batch, model))
        return true;
    snprintf(error, GLCNN_ERROR_LENGTH, "%s", model_failure(device));
    return false;
}

bool saved_take_size(struct saved *saved, uint32_t width, uint32_t height,
                     char error[GLCNN_ERROR_LENGTH])
{
    struct form form = saved->form;
    form.longer = form_longer(&saved->form);
    form.width = width;
    form.height = height;
    form.resize = 0;
    if (saved->net && !net_fits(saved->net, &form)) {
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "images of %ux%u are too small for %s, which needs %ux%u", width, height,
                 saved->net->name, saved->net->least, saved->net->least);
        return false;
    }
    saved->made = saved->form;
    saved->form = form;
    return true;
}

bool saved_network(const struct saved *saved, const char *path, glcnn_device *device,
                   glcnn_network **network, char error[GLCNN_ERROR_LENGTH])
{
    struct model model = {.description = NULL};
    const struct glcnn_checkpoint_bytes *bytes = &saved->bytes[SAVED_NETWORK];
    bool good = has_network(saved) || saved_make(saved, device, NULL, 1, &model, error);
    good = good &&
           glcnn_network_deserialize(device, model.description ? model.description : bytes->bytes,
                                     model.description ? model.description_size : bytes->size,
                                     network, error) == GLCNN_SUCCESS &&
           glcnn_checkpoint_load(*network, path, NULL, error) == GLCNN_SUCCESS;
    model_destroy(&model);
    return good;
}

/* ---- Writing ---- */

static bool check_names(const struct saved *saved, char error[GLCNN_ERROR_LENGTH])
{
    for (uint32_t i = 0; i < saved->form.classes; i++) {
        if (class_name_is_utf8(saved->names[i]))
            continue;
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "the name of class %" PRIu32
                 ", \"%.200s\", is not UTF-8 and cannot be saved; rename it in the data",
                 i, saved->names[i]);
        return false;
    }
    return true;
}

bool saved_describe(const struct saved *saved, struct saved_entries *e)
{
    e->names = class_names_text(saved->names, saved->form.classes);
    const uint32_t listed = saved_listed(&saved->form);
    snprintf(e->version, sizeof e->version, "%d", SAVED_VERSION);
    write_list(saved->mean, listed, e->lists[0], sizeof e->lists[0]);
    write_list(saved->deviation, listed, e->lists[1], sizeof e->lists[1]);
    const struct glcnn_checkpoint_entry heads[] = {{SAVED_VERSION_KEY, e->version},
                                                   {MODEL ".net", saved->title},
                                                   {MODEL ".classes", e->names},
                                                   {MODEL ".task", task_of(&saved->form)->name},
                                                   {MODEL ".fit", fit_at(saved->form.fit)->name}};
    struct glcnn_checkpoint_entry *at = e->at;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        *at++ = heads[i];
    for (size_t i = 0; i < SAVED_NUMBERS; i++) {
        snprintf(e->numbers[i], sizeof e->numbers[i], "%" PRIu32, *place(&saved->form, i));
        *at++ = (struct glcnn_checkpoint_entry){write_key(e->keys[i], MODEL, numbers[i].name),
                                                e->numbers[i]};
    }
    *at++ = (struct glcnn_checkpoint_entry){MODEL ".mean", e->lists[0]};
    *at++ = (struct glcnn_checkpoint_entry){MODEL ".deviation", e->lists[1]};
    return e->names;
}

void saved_add_onnx(struct saved *saved, const uint8_t *skeleton, size_t size, const char *record)
{
    saved->bytes[SAVED_ONNX] =
        (struct glcnn_checkpoint_bytes){bytes_names[SAVED_ONNX], skeleton, size};
    saved->bytes[SAVED_RECORD] = (struct glcnn_checkpoint_bytes){
        bytes_names[SAVED_RECORD], (const uint8_t *)record, strlen(record)};
}

void saved_forget(struct saved *saved)
{
    for (size_t i = SAVED_NETWORK + 1; i < SAVED_BYTES; i++)
        saved->bytes[i] = (struct glcnn_checkpoint_bytes){bytes_names[i], NULL, 0};
}

void saved_add_trained(struct saved *saved, const uint8_t *bytes, size_t size)
{
    saved->bytes[SAVED_TRAINED] =
        (struct glcnn_checkpoint_bytes){bytes_names[SAVED_TRAINED], size ? bytes : NULL, size};
}

void saved_add_seen(struct saved *saved, const uint8_t *bytes, size_t size)
{
    saved->bytes[SAVED_SEEN] =
        (struct glcnn_checkpoint_bytes){bytes_names[SAVED_SEEN], size ? bytes : NULL, size};
}

void saved_add_ranges(struct saved *saved, const char *ranges)
{
    saved->bytes[SAVED_RANGES] = (struct glcnn_checkpoint_bytes){
        bytes_names[SAVED_RANGES], (const uint8_t *)ranges, ranges ? strlen(ranges) : 0};
}

/* glcnn_checkpoint_save_with_bytes, or glcnn_checkpoint_try_save. */
typedef glcnn_status checkpoint_writer(glcnn_network *network, const char *path,
                                       const struct glcnn_checkpoint_entry *metadata, size_t count,
                                       const struct glcnn_checkpoint_bytes *bytes,
                                       size_t bytes_count, char error[GLCNN_ERROR_LENGTH]);

static bool put(const struct saved *saved, const struct model *model, const char *path,
                const char *group, const struct glcnn_checkpoint_entry *more, size_t count,
                checkpoint_writer *writer, char error[GLCNN_ERROR_LENGTH])
{
    struct saved_entries e = {.names = NULL};
    struct glcnn_checkpoint_bytes bytes[SAVED_BYTES] = {
        {bytes_names[SAVED_NETWORK], model->description, model->description_size}};
    size_t bytes_count = 1;
    for (size_t i = SAVED_NETWORK + 1; i < SAVED_BYTES; i++)
        if (saved->bytes[i].bytes)
            bytes[bytes_count++] = saved->bytes[i];
    snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
    bool good = check_names(saved, error) && saved_describe(saved, &e) &&
                count <= SAVED_ENTRIES_MAX - SAVED_ENTRIES;
    for (size_t i = 0; i < count && good; i++)
        e.at[SAVED_ENTRIES + i] = (struct glcnn_checkpoint_entry){
            write_key(e.keys[SAVED_ENTRIES + i], group, more[i].name), more[i].text};
    good = good && writer(model->network, path, e.at, SAVED_ENTRIES + count, bytes, bytes_count,
                          error) == GLCNN_SUCCESS;
    free(e.names);
    return good;
}

bool saved_write(const struct saved *saved, const struct model *model, const char *path,
                 const char *group, const struct glcnn_checkpoint_entry *more, size_t count,
                 char error[GLCNN_ERROR_LENGTH])
{
    return put(saved, model, path, group, more, count, glcnn_checkpoint_save_with_bytes, error);
}

bool saved_try(const struct saved *saved, const struct model *model, const char *path,
               const char *group, const struct glcnn_checkpoint_entry *more, size_t count,
               char error[GLCNN_ERROR_LENGTH])
{
    return put(saved, model, path, group, more, count, glcnn_checkpoint_try_save, error);
}
