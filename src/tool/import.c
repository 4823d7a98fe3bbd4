/* glcnn import: an ONNX or a .tflite file becomes a model file, to evaluate, to predict with and to train on. */
#include <getopt.h>
#include <glcnn/export.h>
#include <glcnn/io.h>
#include <glcnn/onnx.h>
#include <glcnn/tflite.h>
#include <stdlib.h>
#include <string.h>

#include "train/claim.h"
#include "base/option.h"
#include "tool.h"

#define COUNT_MAX 65535 /* channels, and classes */

struct import {
    const struct tool_command *command;
    struct tool_device tool;
    const char *path, *out;
    struct claims claims;
    struct glcnn_import_parameters parameters;
    uint8_t *bytes; /* of a .tflite file as an ONNX model */
};

static const struct option_row options[] = {
    {'o', "out", WRITES "FILE", "the model to write: .glcnn or .safetensors",
     NAME_AT(struct import, out)},
    {0, "size", "N|WxH", "image size, if the file leaves it open",
     EXTENT_AT(struct import, parameters.width, GLCNN_DATA_MAX_SIDE)},
    {0, "channels", "N", "the same", WHOLE_AT(struct import, parameters.channels, 1, COUNT_MAX)},
    {0, "resize", "SIDE", "scale pictures' shorter side to SIDE, then cut the middle out",
     WHOLE_AT(struct import, parameters.resize, 1, GLCNN_DATA_MAX_SIDE)},
    {0, "mean", "LIST", "subtracted from values in 0 .. 1; one, or per channel (default 0)",
     NAME_AT(struct import, parameters.mean)},
    {0, "deviation", "LIST", "divides values after that; one, or per channel (default 1)",
     NAME_AT(struct import, parameters.deviation)},
    {0, "output", "NAME", "end the network at this value of the file",
     NAME_AT(struct import, parameters.output)},
    {0, "head", "N", "add a layer of N classes after the mean of the last output",
     WHOLE_AT(struct import, parameters.head_classes, 1, COUNT_MAX)},
    {0, "external-links", NULL, "read MODEL's data from outside its folder",
     FLAG_AT(struct import, parameters.external_links)},
    {0, "parameters", NULL, "list all parameters, not only the first",
     FLAG_AT(struct import, parameters.lists_all)},
    {0, "force", NULL, "overwrite an existing file", FLAG_AT(struct import, claims.force)},
    {0, "class-names", READS "FILE", "a name on each line (default: numbers from 0)",
     NAME_AT(struct import, parameters.class_names)},
    DEVICE_OPTIONS,
    {0}};

#define QUOTED(TEXT)  #TEXT
#define TEXT_OF(NAME) QUOTED(NAME)
#define OPSETS        TEXT_OF(GLCNN_ONNX_OLDEST_OPSET) " to " TEXT_OF(GLCNN_ONNX_NEWEST_OPSET)

static const char details[] =
    "MODEL is an ONNX file of opset " OPSETS
    ", or a .tflite file, with one image as its input. A classifier, whose "
    "output is a score or a probability for each class, can be trained, evaluated and used to "
    "predict. Any other network, for segmentation or without a head, is kept for \"glcnn "
    "export\", Python (glcnn.load) and C and for \"glcnn train --task detect\", segment or keypoints, or "
    "becomes a classifier with --head, which adds an untrained layer. All outputs of the file are kept; "
    "--output ends the network at one of "
    "them, or at another value between nodes.\n"
    "A file of \"glcnn export\" says its task, classes and normalisation, and becomes the model that it was, "
    "but with --output or --head. Others do not say how pictures must be normalised: --mean and --deviation do, for "
    "values in 0 .. 1, red first. Nor do they say how pictures were cut: without --resize a picture is "
    "scaled until it covers the image size, by the mean over areas. Classifiers of ImageNet are mostly "
    "evaluated with --resize 256 for images of 224x224, antialiased and bilinear, as Pillow and "
    "torchvision do. The model file keeps all of this, and \"glcnn export\" makes "
    "an ONNX or .tflite file of it again. An existing file is overwritten only with --force.\n"
    "The parameters that train are listed by the layers that have them, as --train of \"glcnn "
    "train\" calls them, with shapes and numbers of values; those that do not train with the "
    "reason. Of many the first are listed, with --parameters all.\n"
    "\n"
    "  glcnn import net.onnx -o net.glcnn --mean 0.485,0.456,0.406 \\\n"
    "      --deviation 0.229,0.224,0.225 --resize 256\n"
    "  glcnn train --model net.glcnn --data fruit --out fruit.glcnn\n";

/* The table has the command's options for those of the library that a message names. */
static const struct {
    const char *phrase, *option;
    int status;
} own_options[] = {{"option width sets", " (--size)", EXIT_FAILED},
                   {"option height sets", " (--size)", EXIT_FAILED},
                   {"option feature_channels sets", " (--channels)", EXIT_FAILED},
                   {"option output is", " (--output)", EXIT_FAILED},
                   {"option external_links", " (--external-links)", EXIT_FAILED},
                   {"resize is", " (--resize)", EXIT_USAGE},
                   {"mean and deviation must", " (--mean, --deviation)", EXIT_USAGE},
                   {"", "", EXIT_FAILED}};

static int fail(const struct import *i, const char *error)
{
    size_t k = 0;
    while (!strstr(error, own_options[k].phrase))
        k++;
    return complain(i->command, own_options[k].status, "%s%s", error, own_options[k].option);
}

/* ---- The command line ---- */

#define TFLITE_MAX ((size_t)1 << 31) /* tables of flatbuffers count to there */

static int check_arguments(struct import *i, int argc, char *argv[])
{
    if (optind == argc)
        return complain(i->command, EXIT_USAGE, "no ONNX or .tflite file given");
    i->path = argv[optind++];
    if (!i->out)
        return complain(i->command, EXIT_USAGE, "--out is missing: the model file to write");
    return expect_no_arguments(i->command, argc, argv);
}

/* ---- The command ---- */

static int claim_files(struct import *i)
{
    char error[GLCNN_ERROR_LENGTH];
    claims_read(&i->claims, i->path);
    claims_read(&i->claims, i->parameters.class_names);
    claims_write(&i->claims, &(struct claim_output){.option = "--out",
                                                    .path = i->out,
                                                    .mark = &claim_checkpoint,
                                                    .in_place = true});
    return claims_take(&i->claims, error) ? EXIT_GOOD : fail(i, error);
}

/* A file that is an ONNX model once it is converted. Its data lie nowhere else. */
static int convert_tflite(struct import *i)
{
    char note[GLCNN_ERROR_LENGTH], error[GLCNN_ERROR_LENGTH];
    void *file = NULL;
    size_t size;
    glcnn_status status = glcnn_file_load(i->path, TFLITE_MAX, &file, &size, error);
    if (status == GLCNN_SUCCESS)
        status = glcnn_tflite_to_onnx(file, size, &i->bytes, &i->parameters.size, note, error);
    free(file);
    if (status != GLCNN_SUCCESS)
        return fail(i, error);
    if (note[0])
        output("%s: %s\n", i->path, note);
    i->parameters.bytes = i->bytes;
    return EXIT_GOOD;
}

static int import(struct import *i)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct glcnn_imported *imported;
    int status = claim_files(i);
    if (status == EXIT_GOOD && (status = device_open(&i->tool)) != EXIT_GOOD)
        return complain(i->command, status, "%s", i->tool.error);
    if (status == EXIT_GOOD && names_tflite(i->path))
        status = convert_tflite(i);
    if (status != EXIT_GOOD)
        return status;
    if (glcnn_import_file(i->tool.device, i->path, &i->parameters, i->out, &imported, error) !=
        GLCNN_SUCCESS)
        return fail(i, error);
    output_lines(imported->text);
    glcnn_imported_destroy(&imported);
    return EXIT_GOOD;
}

static int run(const struct tool_command *command, int argc, char *argv[])
{
    struct import i = {.command = command};
    int status;
    if (!read_options(command, argc, argv, &i, &i.tool, NULL, &status))
        return status;
    status = check_arguments(&i, argc, argv);
    if (status == EXIT_GOOD)
        status = import(&i);
    glcnn_tflite_destroy(i.bytes);
    glcnn_device_destroy(&i.tool.device);
    claims_release(&i.claims);
    return status;
}

const struct tool_command command_import = {
    .name = "import",
    .arguments = "MODEL -o FILE [OPTION]...",
    .text = "import an ONNX or .tflite model, to train and use here",
    .details = details,
    .options = options,
    .run = run};
