/* glcnn export: a model file becomes a file for other programs. */
#include <getopt.h>
#include <glcnn/export.h>
#include <glcnn/io.h>
#include <glcnn/tflite.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/claim.h"
#include "base/option.h"
#include "tool.h"

enum { OPTION_BOXES = 256, OPTION_PREPROCESSING };

#define BATCH_MOST 65535

struct export
{
    const struct tool_command *command;
    struct tool_device tool;
    const char *path, *out, *calibration, *data;
    uint32_t pictures; /* 0: not given */
    bool is_int8;
    struct glcnn_export_options options;
    struct claims claims;
    const struct glcnn_exported *exported;
    const struct glcnn_calibration *kit;
    uint8_t *tflite; /* made of the former */
    size_t tflite_size;
};

static const struct option_row options[] = {
    {'o', "out", WRITES "FILE", "the file to write: .tflite, or else ONNX",
     NAME_AT(struct export, out)},
    {0, "batch", "N", "fix the batch, as NPUs want it (default: any size)",
     WHOLE_AT(struct export, options.batch, 1, BATCH_MOST)},
    {OPTION_BOXES, "boxes", "LAYOUT",
     "form of a detector's boxes: split, yolo or nms (default: split)"},
    {OPTION_PREPROCESSING, "embed-preprocessing", "WHAT",
     "normalise in the file: bytes, unit, bytes-bgr or unit-bgr"},
    {0, "int8", NULL, "in int8, by the ranges of values on the pictures of --data",
     FLAG_AT(struct export, is_int8)},
    {0, "calibration", WRITES "DIR", "pictures and commands for other people's quantisers",
     NAME_AT(struct export, calibration)},
    {0, "data", READS "PATH", "for --int8 and --calibration: what the network was trained on",
     NAME_AT(struct export, data)},
    {0, "pictures", "N",
     "how many of the training part (default: 256 for --int8, 100 for --calibration)",
     WHOLE_AT(struct export, pictures, 1, GLCNN_CALIBRATION_MOST)},
    {0, "percentile", "SHARE",
     "for --int8: percent of a value's numbers that lie within its range (default: 100)",
     REAL_AT(struct export, options.int8_percentile, 50, 100)},
    {0, "small-weights", NULL,
     "for --int8: whole numbers of weights within -63 .. 63, for x86 processors without VNNI",
     FLAG_AT(struct export, options.int8_small_weights)},
    {0, "force", NULL, "overwrite an existing file", FLAG_AT(struct export, claims.force)},
    DEVICE_OPTIONS,
    {0}};

static const char details[] =
    "MODEL is a file of \"glcnn train\" or \"glcnn import\". A network that was made here becomes a graph of "
    "opset 14; an imported model comes back as it was, with the names and layouts of its file, but with the "
    "weights and the head that it has now. The file's metadata say its task, its classes and how pictures are "
    "normalised, for Ultralytics' loaders and for \"glcnn import\".\n"
    "A FILE whose name ends with .tflite is one of TensorFlow Lite, with N,H,W,C in place of N,C,H,W, a batch of 1 "
    "unless --batch says otherwise, and the classes in labels.txt at its end.\n"
    "The input \"images\", N,C,H,W, has values in 0 .. 1, less the mean, divided by the deviation. With "
    "--embed-preprocessing the file does that itself: to bytes of 0 .. 255 (bytes), or to values of 0 .. 1 (unit), "
    "red first, or with -bgr blue first, as OpenCV has pictures. The outputs are printed: of the tasks classify and "
    "segment scores, of which a soft max makes probabilities; of detect\n"
    "  split  boxes_8 and scores_8, and so on for each grid, as convolutions leave them:\n"
    "         for quantisers and NPUs (default)\n"
    "  yolo   output, N x (4 + classes) x places: centres and sizes in pixels, then\n"
    "         probabilities, as Frigate's yolo-generic and supervision decode them\n"
    "  nms    boxes, scores, classes and pictures that ONNX's NonMaxSuppression leaves\n"
    "With --int8 weights and values between layers are whole numbers of 8 bits (QuantizeLinear and "
    "DequantizeLinear), which runtimes compute several times faster. Ranges are those that \"glcnn train --quantise\" has "
    "trained for, or, where there are none or --pictures or --percentile is given, those on pictures of the training part. "
    "How well the network does on the test part in float32 and in int8 is printed, and which results are off "
    "most. An imported model is then written as the network that it is here.\n"
    "--calibration writes a kit for quantisers: training pictures as the file takes them (pictures.npy), as PNG "
    "with a list (dataset.txt), and a README.md with the commands of RKNN, Hailo, ONNX Runtime, OpenVINO and "
    "TensorRT, mean, deviation and end nodes filled in. --out may then be left out.\n"
    "A model of \"glcnn anomaly\" is not exported: its answer is a search among patches. An existing file is "
    "overwritten only with --force.\n"
    "\n"
    "  glcnn export fruit.glcnn -o fruit.onnx\n"
    "  glcnn export fruit.glcnn -o fruit.int8.onnx --int8 --data fruit\n"
    "  glcnn export fruit.glcnn -o a.onnx --batch 1 --calibration kit --data fruit\n"
    "  glcnn export parking.glcnn -o parking.onnx --boxes yolo --batch 1 \\\n"
    "      --embed-preprocessing unit\n";

static int fail(const struct export *e, const char *error)
{
    return complain(e->command, EXIT_FAILED, "%s", error);
}

/* ---- The command line ---- */

static const struct {
    const char *name;
    glcnn_export_boxes boxes;
} layouts[] = {{"split", GLCNN_EXPORT_BOXES_SPLIT},
               {"yolo", GLCNN_EXPORT_BOXES_YOLO},
               {"nms", GLCNN_EXPORT_BOXES_NMS}};

static const struct {
    const char *name;
    glcnn_export_pixels pixels;
    bool is_blue_first;
} preprocessings[] = {{"bytes", GLCNN_EXPORT_PIXELS_BYTES, false},
                      {"unit", GLCNN_EXPORT_PIXELS_UNIT, false},
                      {"bytes-bgr", GLCNN_EXPORT_PIXELS_BYTES, true},
                      {"unit-bgr", GLCNN_EXPORT_PIXELS_UNIT, true}};

#define PICTURES 100

static int read_boxes(struct export *e)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (strcmp(layouts[i].name, optarg) == 0) {
            e->options.boxes = layouts[i].boxes;
            return EXIT_GOOD;
        }
    return complain(e->command, EXIT_USAGE, "--boxes is \"%s\"; it must be split, yolo or nms",
                    optarg);
}

static int read_preprocessing(struct export *e)
{
    for (size_t i = 0; i < sizeof preprocessings / sizeof *preprocessings; i++)
        if (strcmp(preprocessings[i].name, optarg) == 0) {
            e->options.pixels = preprocessings[i].pixels;
            e->options.is_blue_first = preprocessings[i].is_blue_first;
            return EXIT_GOOD;
        }
    return complain(
        e->command, EXIT_USAGE,
        "--embed-preprocessing is \"%s\"; it must be bytes, unit, bytes-bgr or unit-bgr", optarg);
}

static int read_option(void *values, int letter)
{
    return letter == OPTION_BOXES ? read_boxes(values) : read_preprocessing(values);
}

/* Options that do nothing without another one are mistakes. */
static int check_data(struct export *e)
{
    struct glcnn_export_options *o = &e->options;
    if ((e->is_int8 || e->calibration) && !e->data)
        return complain(e->command, EXIT_USAGE,
                        "--%s needs --data: labelled pictures, as the network was trained on",
                        e->is_int8 ? "int8" : "calibration");
    if (!e->is_int8 && (o->int8_percentile > 0 || o->int8_small_weights))
        return complain(e->command, EXIT_USAGE,
                        "--percentile and --small-weights are for --int8, which is missing");
    if (!e->is_int8 && !e->calibration && (e->data || e->pictures))
        return complain(
            e->command, EXIT_USAGE,
            "--data and --pictures are for --int8 and --calibration, which are missing");
    o->int8_data = e->is_int8 ? e->data : NULL;
    o->int8_pictures = e->pictures;
    e->pictures = e->pictures ? e->pictures : PICTURES;
    return EXIT_GOOD;
}

static int check_arguments(struct export *e, int argc, char *argv[])
{
    if (optind == argc)
        return complain(e->command, EXIT_USAGE, "no model given");
    e->path = argv[optind++];
    if (!e->out && !e->calibration)
        return complain(e->command, EXIT_USAGE, "--out is missing: the file to write");
    const int status = check_data(e);
    return status == EXIT_GOOD ? expect_no_arguments(e->command, argc, argv) : status;
}

/* ---- The file ---- */

/* Lines, each behind the name of what was made. */
static void tell_lines(const struct export *e, const char *text)
{
    for (const char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");
        output("%s: %.*s\n", e->out ? e->out : e->calibration, (int)length, line);
        line += length + (line[length] != 0);
    }
}

static const char *place(const struct export *e, const char *name, char path[8192])
{
    snprintf(path, 8192, "%s/%s", e->calibration, name);
    return path;
}

static bool make_kit(struct export *e, char error[GLCNN_ERROR_LENGTH])
{
    const char *slash = e->out ? strrchr(e->out, '/') : NULL;
    const struct glcnn_calibration_parameters parameters = {.model = e->path,
                                                            .data = e->data,
                                                            .count = e->pictures,
                                                            .options = &e->options,
                                                            .exported = e->exported,
                                                            .model_name =
                                                                slash ? slash + 1 : e->out};
    if (glcnn_export_calibration(&parameters, &e->kit, error) != GLCNN_SUCCESS)
        return false;
    tell_lines(e, e->kit->notes);
    return true;
}

static bool write_kit(const struct export *e, char error[GLCNN_ERROR_LENGTH])
{
    char path[8192];
    bool good = true;
    for (uint32_t i = 0; i < e->kit->file_count && good; i++) {
        const struct glcnn_calibration_file *f = &e->kit->files[i];
        good = glcnn_file_save(place(e, f->name, path), f->bytes, f->size, error) == GLCNN_SUCCESS;
    }
    return good;
}

static bool is_tflite(const struct export *e)
{
    return e->out && names_tflite(e->out);
}

/* A .tflite file is made of the ONNX file, whose text says what it is but for the axes. */
static bool make_file(struct export *e, char error[GLCNN_ERROR_LENGTH])
{
    if (is_tflite(e) && e->options.batch == 0)
        e->options.batch = 1;
    if (glcnn_export_file(e->tool.device, e->path, &e->options, &e->exported, error) !=
        GLCNN_SUCCESS)
        return false;
    return !is_tflite(e) ||
           glcnn_tflite_from_onnx(e->exported->bytes, e->exported->size, NULL, &e->tflite,
                                  &e->tflite_size, error) == GLCNN_SUCCESS;
}

static int write_file(struct export *e)
{
    char error[GLCNN_ERROR_LENGTH];
    int status = device_open(&e->tool);
    if (status != EXIT_GOOD)
        return complain(e->command, status, "%s", e->tool.error);
    if (!make_file(e, error) || (e->calibration && !make_kit(e, error)) ||
        (e->out &&
         glcnn_file_save(e->out, e->tflite ? e->tflite : e->exported->bytes,
                         e->tflite ? e->tflite_size : e->exported->size, error) != GLCNN_SUCCESS) ||
        (e->calibration && !write_kit(e, error)))
        return fail(e, error);
    tell_lines(e, e->exported->text);
    if (e->tflite)
        output("%s: TensorFlow Lite, in which N,C,H,W is N,H,W,C, and the batch is %u\n", e->out,
               e->options.batch);
    if (e->calibration)
        output("%s: %u training pictures for quantisers; " GLCNN_CALIBRATION_README
               " has the commands\n",
               e->calibration, e->kit->picture_count);
    return EXIT_GOOD;
}

/* Claims a file of the kit, which shares the folder's lock. */
static void claim_one(struct export *e, const char *name)
{
    char path[8192];
    claims_write(&e->claims, &(struct claim_output){.option = "--calibration",
                                                    .path = place(e, name, path),
                                                    .has_lock = true});
}

static void claim_kit(struct export *e)
{
    char name[GLCNN_CALIBRATION_NAME];
    if (!e->calibration)
        return;
    claims_folder(&e->claims, "--calibration", e->calibration, "pictures");
    claim_one(e, GLCNN_CALIBRATION_README);
    claim_one(e, GLCNN_CALIBRATION_LIST);
    claim_one(e, GLCNN_CALIBRATION_ARRAY);
    for (uint32_t i = 0; i < e->pictures; i++) {
        snprintf(name, sizeof name, GLCNN_CALIBRATION_PICTURE, i);
        claim_one(e, name);
    }
}

static int claim_files(struct export *e)
{
    char error[GLCNN_ERROR_LENGTH];
    claims_read(&e->claims, e->path);
    claims_read(&e->claims, e->data);
    claims_write(&e->claims,
                 &(struct claim_output){.option = "--out", .path = e->out, .in_place = true});
    claim_kit(e);
    return claims_take(&e->claims, error) ? EXIT_GOOD : fail(e, error);
}

static int export(struct export *e)
{
    const int status = claim_files(e);
    return status == EXIT_GOOD ? write_file(e) : status;
}

static int run(const struct tool_command *command, int argc, char *argv[])
{
    struct export e = {.command = command};
    int status;
    if (!read_options(command, argc, argv, &e, &e.tool, read_option, &status))
        return status;
    status = check_arguments(&e, argc, argv);
    if (status == EXIT_GOOD)
        status = export(&e);
    glcnn_calibration_destroy(&e.kit);
    glcnn_tflite_destroy(e.tflite);
    glcnn_exported_destroy(&e.exported);
    glcnn_device_destroy(&e.tool.device);
    claims_release(&e.claims);
    return status;
}

const struct tool_command command_export = {.name = "export",
                                            .arguments = "MODEL -o FILE [OPTION]...",
                                            .text = "write a model as an ONNX or .tflite file",
                                            .details = details,
                                            .options = options,
                                            .run = run};
