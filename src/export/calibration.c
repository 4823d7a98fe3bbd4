/* What a quantiser wants beside a file: pictures as the network sees them, and what to tell it. */
#include <glcnn/io.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "export.h"
#include "base/show.h"
#include "task/pictures.h"
#include "task/png_file.h"
#include "task/trained.h"

#define BATCH 16

/* A kit that is being made. */
struct kit {
    struct glcnn_calibration shown;
    struct glcnn_calibration_file *files;
    struct text notes;
    uint32_t room;
};

/* What it is made of. */
struct work {
    const struct glcnn_calibration_parameters *given;
    struct saved saved;
    struct pictures pictures;
    glcnn_data_loader *loader;
    float *values; /* [taken][C][H][W], or where the file takes bytes as many of these */
    uint8_t *bytes;
    uint32_t count, taken;
};

static const struct glcnn_export_options defaults;

static const struct glcnn_export_options *options_of(const struct work *w)
{
    return w->given->options ? w->given->options : &defaults;
}

static glcnn_status no_memory(char error[GLCNN_ERROR_LENGTH])
{
    return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
}

/* Bytes are the kit's, or freed. */
static bool add_file(struct kit *k, const char *name, void *bytes, size_t size)
{
    struct glcnn_calibration_file *f = &k->files[k->shown.file_count];
    if (!bytes || k->shown.file_count == k->room) {
        free(bytes);
        return false;
    }
    snprintf(f->name, sizeof f->name, "%s", name);
    f->bytes = bytes;
    f->size = size;
    k->shown.file_count++;
    return true;
}

static bool add_text(struct kit *k, const char *name, struct text *text)
{
    const bool good = !text->failed && add_file(k, name, text->bytes, text->length);
    if (good)
        *text = (struct text){.bytes = NULL};
    return good;
}

/* ---- Pictures ---- */

/* A value v of channel c, in 0 .. 1, as the file takes it. */
static float as_taken(const struct work *w, uint32_t c, float v)
{
    return options_of(w)->pixels == GLCNN_EXPORT_PIXELS_NORMALISED
               ? (v - w->saved.mean[c]) / w->saved.deviation[c]
               : v;
}

/* Place n of a batch, [H][W][C], becomes number `taken`. */
static void take_picture(struct work *w, const struct glcnn_data_batch *batch, uint32_t n)
{
    const struct form *form = &w->saved.form;
    const size_t area = (size_t)form->width * form->height, each = area * form->channels;
    for (size_t at = 0; at < area; at++)
        for (uint32_t c = 0; c < form->channels; c++) {
            const uint32_t to = options_of(w)->is_blue_first ? form->channels - 1 - c : c;
            const size_t from = n * each + at * form->channels + c,
                         place = w->taken * each + to * area + at;
            if (w->bytes)
                w->bytes[place] = batch->bytes[from];
            else
                w->values[place] = as_taken(
                    w, c, batch->bytes ? (float)batch->bytes[from] / 255 : batch->floats[from]);
        }
}

static bool has_pictures(const struct work *w)
{
    const uint32_t channels = w->saved.form.channels;
    return w->pictures.info->bytes && (channels == 1 || channels == 3);
}

static bool add_picture(struct kit *k, const struct work *w, const struct glcnn_data_batch *batch,
                        uint32_t n)
{
    const struct form *form = &w->saved.form;
    const char *reason;
    char name[32];
    size_t size;
    if (!has_pictures(w))
        return true;
    snprintf(name, sizeof name, GLCNN_CALIBRATION_PICTURE, w->taken);
    void *bytes = png_encode(batch->bytes + (size_t)n * form->width * form->height * form->channels,
                             form->width, form->height, form->channels, &size, &reason);
    return add_file(k, name, bytes, size);
}

static glcnn_status take_pictures(struct kit *k, struct work *w, char error[GLCNN_ERROR_LENGTH])
{
    struct glcnn_data_batch batch;
    for (uint64_t left = glcnn_data_loader_steps(w->loader); left > 0; left--) {
        const glcnn_status status = glcnn_data_loader_next(w->loader, &batch, error);
        if (status != GLCNN_SUCCESS)
            return status;
        for (uint32_t n = 0; n < batch.count && w->taken < w->count; n++) {
            if (batch.indices[n] == UINT32_MAX)
                continue; /* it could not be read */
            take_picture(w, &batch, n);
            if (!add_picture(k, w, &batch, n))
                return no_memory(error);
            w->taken++;
        }
    }
    if (w->taken > 0)
        return GLCNN_SUCCESS;
    return fail_with(error, GLCNN_MALFORMED_DATA, "%.300s: no picture of it could be read",
                     w->given->data);
}

#define HEAD      128 /* bytes of a .npy file before its numbers */
#define HEAD_TEXT 117 /* of it, with a newline behind */

/* The file is put together here, as the library's writer has float32 alone. */
static bool add_array(struct kit *k, const struct work *w)
{
    const struct form *form = &w->saved.form;
    char head[160];
    const size_t count = (size_t)w->taken * form->channels * form->height * form->width,
                 size = count * (w->bytes ? 1 : sizeof *w->values);
    const int length = snprintf(
        head, sizeof head, "{'descr': '%s', 'fortran_order': False, 'shape': (%u, %u, %u, %u), }",
        w->bytes ? "|u1" : "<f4", w->taken, form->channels, form->height, form->width);
    char *bytes = malloc(size + HEAD);
    if (!bytes || length > HEAD_TEXT) {
        free(bytes);
        return false;
    }
    memset(bytes, ' ', HEAD);
    memcpy(bytes, "\x93NUMPY\1\0\x76\0", HEAD - HEAD_TEXT - 1);
    memcpy(bytes + HEAD - HEAD_TEXT - 1, head, (size_t)length);
    bytes[HEAD - 1] = '\n';
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = 0;
        if (w->bytes) {
            bytes[HEAD + i] = (char)w->bytes[i];
            continue;
        }
        memcpy(&bits, &w->values[i], sizeof bits);
        for (size_t b = 0; b < 4; b++)
            bytes[HEAD + 4 * i + b] = (char)(bits >> 8 * b & 0xff);
    }
    return add_file(k, GLCNN_CALIBRATION_ARRAY, bytes, size + HEAD);
}

static bool add_list(struct kit *k, const struct work *w)
{
    struct text text = {.bytes = NULL};
    for (uint32_t i = 0; i < w->taken; i++) {
        text_format(&text, GLCNN_CALIBRATION_PICTURE, i);
        text_format(&text, "\n");
    }
    const bool good = add_text(k, GLCNN_CALIBRATION_LIST, &text);
    text_free(&text);
    return good;
}

/* ---- What to tell a quantiser ---- */

/* Numbers by channel, in bytes' units: as tools that begin with bytes want them. */
static void add_numbers(struct text *text, const struct work *w, const float *values)
{
    for (uint32_t c = 0; c < w->saved.form.channels; c++)
        text_format(text, "%s%.7g", c ? ", " : "",
                    options_of(w)->pixels == GLCNN_EXPORT_PIXELS_NORMALISED
                        ? 255 * (double)values[c]
                    : values == w->saved.mean                           ? 0
                    : options_of(w)->pixels == GLCNN_EXPORT_PIXELS_UNIT ? 255.0
                                                                        : 1.0);
}

static void add_outputs(struct text *text, const struct glcnn_exported *e, bool are_nodes,
                        const char *quote, const char *between)
{
    for (uint32_t i = 0; i < e->output_count; i++)
        text_format(text, "%s%s%s%s", i ? between : "", quote,
                    are_nodes ? e->outputs[i].node : e->outputs[i].name, quote);
}

static void add_rknn(struct text *t, const struct work *w, const char *model)
{
    const struct glcnn_exported *e = w->given->exported;
    text_format(t, "## RKNN (rknn-toolkit2)\n\n```python\nrknn.config(mean_values=[[");
    add_numbers(t, w, w->saved.mean);
    text_format(t, "]], std_values=[[");
    add_numbers(t, w, w->saved.deviation);
    text_format(t, "]], target_platform='rk3588')\nrknn.load_onnx(model='%s', outputs=[", model);
    add_outputs(t, e, false, "'", ", ");
    text_format(t, "])\nrknn.build(do_quantization=True, dataset='" GLCNN_CALIBRATION_LIST "')\n"
                   "rknn.export_rknn('model.rknn')\n```\n\n");
}

static void add_hailo(struct text *t, const struct work *w, const char *model)
{
    text_format(t, "## Hailo (Dataflow Compiler)\n\n```sh\nhailo parser onnx %s --end-node-names ",
                model);
    add_outputs(t, w->given->exported, true, "'", " ");
    text_format(t,
                "\n```\n\nIn the model script, as the compiler's calibration begins with bytes:\n\n"
                "```\nnormalization1 = normalization([");
    add_numbers(t, w, w->saved.mean);
    text_format(t, "], [");
    add_numbers(t, w, w->saved.deviation);
    text_format(t, "])\n```\n\nIts calibration set is an array N,H,W,C of bytes: of the pictures,\n"
                   "`numpy.stack([numpy.asarray(PIL.Image.open(name.strip())) for name in "
                   "open('" GLCNN_CALIBRATION_LIST "')])`.\n\n");
}

static void add_array_tools(struct text *t, const char *model, const char *input)
{
    text_format(t,
                "## ONNX Runtime\n\n```python\nimport numpy\n"
                "from onnxruntime.quantization import CalibrationDataReader, QuantFormat, "
                "quantize_static\n\nclass Pictures(CalibrationDataReader):\n"
                "    def __init__(self):\n"
                "        self.left = iter(numpy.load('" GLCNN_CALIBRATION_ARRAY "'))\n\n"
                "    def get_next(self):\n        picture = next(self.left, None)\n"
                "        return None if picture is None else {'%s': picture[None]}\n\n"
                "quantize_static('%s', 'int8.onnx', Pictures(), quant_format=QuantFormat.QDQ, "
                "per_channel=True)\n```\n\n",
                input, model);
    text_format(t,
                "## OpenVINO (NNCF)\n\n```python\nimport nncf, numpy, openvino\n"
                "pictures = nncf.Dataset(numpy.load('" GLCNN_CALIBRATION_ARRAY
                "'), lambda p: p[None])\n"
                "openvino.save_model(nncf.quantize(openvino.convert_model('%s'), pictures), "
                "'int8.xml')\n```\n\n",
                model);
    text_format(t,
                "## TensorRT\n\n```sh\npython3 -m modelopt.onnx.quantization --onnx_path=%s "
                "--quantize_mode=int8 \\\n    --calibration_data=" GLCNN_CALIBRATION_ARRAY "\n"
                "trtexec --onnx=FILE_THAT_IT_WROTE --int8 --saveEngine=int8.engine\n```\n",
                model);
}

static bool add_readme(struct kit *k, const struct work *w)
{
    struct text t = {.bytes = NULL};
    const struct form *form = &w->saved.form;
    const struct glcnn_exported *e = w->given->exported;
    const char *model = w->given->model_name ? w->given->model_name : "model.onnx";
    text_format(
        &t,
        "# Calibration of %s\n\nMade by `glcnn export --calibration`: %" PRIu32
        " training pictures of %ux%u, as the network sees them. Commands are those of the "
        "tools' manuals; none was run here. Run them in this folder, with the model in it.\n\n",
        model, w->taken, form->width, form->height);
    text_format(&t, "- `" GLCNN_CALIBRATION_ARRAY "`: %s, N,C,H,W, as the input `%s` takes them\n",
                w->bytes ? "uint8" : "float32", e->input);
    if (has_pictures(w))
        text_format(&t, "- `" GLCNN_CALIBRATION_LIST
                        "`: the same pictures as files of bytes, a name a line\n");
    text_format(&t, "- outputs: ");
    add_outputs(&t, e, false, "`", ", ");
    text_format(&t, "; the nodes that make them: ");
    add_outputs(&t, e, true, "`", ", ");
    text_format(&t, "\n- of bytes, channel by channel: mean ");
    add_numbers(&t, w, w->saved.mean);
    text_format(&t, "; deviation ");
    add_numbers(&t, w, w->saved.deviation);
    text_format(&t, "\n\n");
    if (has_pictures(w)) {
        add_rknn(&t, w, model);
        add_hailo(&t, w, model);
    } else
        text_format(
            &t, "RKNN and Hailo begin with pictures of bytes of 1 or 3 channels, which these are "
                "not.\n\n");
    add_array_tools(&t, model, e->input);
    const bool good = add_text(k, GLCNN_CALIBRATION_README, &t);
    text_free(&t);
    return good;
}

/* ---- The whole ---- */

static glcnn_status open_data(struct work *w, char error[GLCNN_ERROR_LENGTH])
{
    const struct form *form = &w->saved.form;
    const struct pictures_options what = {
        .path = w->given->data, .task = task_of(form), .like = &w->saved};
    if (form->classes == 0)
        return fail_with(error, GLCNN_UNSUPPORTED,
                         "pictures for calibration are those that a task was trained on, and the "
                         "network is for none");
    if (!pictures_open(&what, &w->pictures, error))
        return GLCNN_MALFORMED_DATA;
    const uint32_t all = w->pictures.info->counts[GLCNN_DATA_PART_TRAINING];
    if (options_of(w)->pixels == GLCNN_EXPORT_PIXELS_BYTES && !w->pictures.info->bytes)
        return fail_with(error, GLCNN_UNSUPPORTED,
                         "the file is to take bytes, and the data are real numbers");
    w->count = w->given->count < all ? w->given->count : all;
    if (w->count == 0)
        return fail_with(error, GLCNN_MALFORMED_DATA, "the data have no training pictures");
    const struct glcnn_data_loader_parameters loader = {
        .part = GLCNN_DATA_PART_TRAINING, .batch = BATCH, .limit = w->count};
    return pictures_load(&w->pictures, &loader, &w->loader, error) ? GLCNN_SUCCESS
                                                                   : GLCNN_MALFORMED_DATA;
}

static glcnn_status allocate(struct kit *k, struct work *w, char error[GLCNN_ERROR_LENGTH])
{
    const struct form *form = &w->saved.form;
    const size_t count = (size_t)w->count * form->channels * form->height * form->width;
    k->room = w->count + 3;
    k->shown.files = k->files = calloc(k->room, sizeof *k->files);
    if (options_of(w)->pixels == GLCNN_EXPORT_PIXELS_BYTES)
        w->bytes = malloc(count);
    else
        w->values = malloc(count * sizeof *w->values);
    return k->files && (w->bytes || w->values) ? GLCNN_SUCCESS : no_memory(error);
}

static void add_notes(struct kit *k, struct work *w)
{
    pictures_describe_decisions(&w->pictures, &k->notes);
    pictures_describe_middle(&w->pictures, GLCNN_DATA_PART_TRAINING, &k->notes);
    pictures_describe_skipped(&w->pictures, &k->notes);
    if (w->taken < w->given->count)
        text_format(&k->notes, "%u pictures were asked for, and the data have %u\n",
                    w->given->count, w->taken);
    if (!has_pictures(w))
        text_format(&k->notes,
                    "no files of pictures are written: those are of bytes with 1 or 3 channels\n");
}

static glcnn_status make_kit(struct kit *k, struct work *w, char error[GLCNN_ERROR_LENGTH])
{
    glcnn_status status = open_data(w, error);
    if (status == GLCNN_SUCCESS)
        status = allocate(k, w, error);
    if (status == GLCNN_SUCCESS)
        status = take_pictures(k, w, error);
    if (status != GLCNN_SUCCESS)
        return status;
    add_notes(k, w);
    k->shown.picture_count = w->taken;
    k->shown.notes = trained_text(&k->notes);
    return add_array(k, w) && (!has_pictures(w) || add_list(k, w)) && add_readme(k, w) &&
                   k->shown.notes
               ? GLCNN_SUCCESS
               : no_memory(error);
}

glcnn_status glcnn_export_calibration(const struct glcnn_calibration_parameters *parameters,
                                      const struct glcnn_calibration **calibration,
                                      char error[GLCNN_ERROR_LENGTH])
{
    struct work w = {.given = parameters};
    struct kit *k = calloc(1, sizeof *k);
    *calibration = k ? &k->shown : NULL;
    if (!k)
        return no_memory(error);
    glcnn_status status = GLCNN_MALFORMED_DATA;
    if (saved_read(parameters->model, &w.saved, error))
        status = make_kit(k, &w, error);
    glcnn_data_loader_destroy(&w.loader);
    pictures_close(&w.pictures);
    saved_free(&w.saved);
    free(w.values);
    free(w.bytes);
    if (status != GLCNN_SUCCESS)
        glcnn_calibration_destroy(calibration);
    return status;
}

void glcnn_calibration_destroy(const struct glcnn_calibration **calibration)
{
    struct kit *k = (struct kit *)(uintptr_t)*calibration;
    if (!k)
        return;
    for (uint32_t i = 0; i < k->shown.file_count; i++)
        free((void *)(uintptr_t)k->files[i].bytes);
    free(k->files);
    text_free(&k->notes);
    free(k);
    *calibration = NULL;
}
