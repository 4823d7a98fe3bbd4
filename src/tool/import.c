/* glcnn import: an ONNX or a .tflite file becomes a model file, to evaluate, to predict with and to train on. */
#include <getopt.h>
#include <glcnn/export.h>
#include <glcnn/io.h>
#include <glcnn/tflite.h>
#include <stdlib.h>
#include <string.h>

#include "train/claim.h"
#include "base/option.h"
#include "tool.h"

enum {
    OPTION_SIZE = 256,
    OPTION_CHANNELS,
    OPTION_RESIZE,
    OPTION_MEAN,
    OPTION_DEVIATION,
    OPTION_CLASSES,
    OPTION_HEAD,
    OPTION_OUTPUT,
    OPTION_LINKS,
    OPTION_PARAMETERS,
    OPTION_FORCE
};

static const struct option_row options[] = {
    {'o', "out", WRITES "FILE", "the model to write: .glcnn or .safetensors"},
    {OPTION_SIZE, "size", "N|WxH", "image size, if the file leaves it open"},
    {OPTION_CHANNELS, "channels", "N", "the same"},
    {OPTION_RESIZE, "resize", "SIDE",
     "scale pictures' shorter side to SIDE, then cut the middle out"},
    {OPTION_MEAN, "mean", "LIST",
     "subtracted from values in 0 .. 1; one, or per channel (default 0)"},
    {OPTION_DEVIATION, "deviation", "LIST",
     "divides values after that; one, or per channel (default 1)"},
    {OPTION_OUTPUT, "output", "NAME", "end the network at this value of the file"},
    {OPTION_HEAD, "head", "N", "add a layer of N classes after the mean of the last output"},
    {OPTION_LINKS, "external-links", NULL, "read MODEL's data from outside its folder"},
    {OPTION_PARAMETERS, "parameters", NULL, "list all parameters, not only the first"},
    {OPTION_FORCE, "force", NULL, "overwrite an existing file"},
    {OPTION_CLASSES, "class-names", READS "FILE", "a name on each line (default: numbers from 0)"},
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
    "  glcnn import net.onnx -o net.glcnn --mean 0.485,0.456,0.406 --deviation 0.229,0.224,0.225 "
    "--resize 256\n"
    "  glcnn train --model net.glcnn --data fruit --out fruit.glcnn\n";

struct import {
    const struct tool_command *command;
    struct tool_device tool;
    const char *path, *out;
    bool force;
    struct claims claims;
    struct glcnn_import_parameters parameters;
    uint8_t *bytes; /* of a .tflite file as an ONNX model */
};

/* The command's options for those of the library that a message names. */
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

#define HEAD_MAX     65535
#define CHANNELS_MAX 65535
#define TFLITE_MAX   ((size_t)1 << 31) /* tables of flatbuffers count to there */

static int read_count(const struct import *i, const char *name, uint32_t most, uint32_t *count)
{
    uint64_t value;
    if (!option_whole(optarg, 1, most, &value))
        return complain(i->command, EXIT_USAGE, "--%s is \"%s\"; it must be in 1 .. %u", name,
                        optarg, most);
    *count = (uint32_t)value;
    return EXIT_GOOD;
}

static int read_option(struct import *i, int letter)
{
    switch (letter) {
    case 'o':
        i->out = optarg;
        return EXIT_GOOD;
    case OPTION_SIZE:
        return read_extent(i->command, optarg, GLCNN_DATA_MAX_SIDE, &i->parameters.width,
                           &i->parameters.height);
    case OPTION_CHANNELS:
        return read_count(i, "channels", CHANNELS_MAX, &i->parameters.channels);
    case OPTION_RESIZE:
        return read_count(i, "resize", GLCNN_DATA_MAX_SIDE, &i->parameters.resize);
    case OPTION_HEAD:
        return read_count(i, "head", HEAD_MAX, &i->parameters.head_classes);
    case OPTION_OUTPUT:
        i->parameters.output = optarg;
        return EXIT_GOOD;
    case OPTION_FORCE:
        i->force = true;
        return EXIT_GOOD;
    case OPTION_PARAMETERS:
        i->parameters.lists_all = true;
        return EXIT_GOOD;
    case OPTION_LINKS:
        i->parameters.external_links = true;
        return EXIT_GOOD;
    case OPTION_MEAN:
        i->parameters.mean = optarg;
        return EXIT_GOOD;
    case OPTION_DEVIATION:
        i->parameters.deviation = optarg;
        return EXIT_GOOD;
    case OPTION_CLASSES:
        i->parameters.class_names = optarg;
        return EXIT_GOOD;
    default:
        return read_device_option(&i->tool, letter) ? EXIT_GOOD : EXIT_USAGE;
    }
}

static int read_arguments(struct import *i, int argc, char *argv[], bool *help)
{
    int status = EXIT_GOOD;
    for (int letter; (letter = next_option(i->command, argc, argv)) != OPTIONS_DONE;) {
        *help = letter == 'h';
        if (!*help)
            status = read_option(i, letter);
        if (*help || status != EXIT_GOOD)
            return status;
    }
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
    i->claims.force = i->force;
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
    bool help = false;
    int status = read_arguments(&i, argc, argv, &help);
    if (help)
        print_help(command);
    if (!help && status == EXIT_GOOD)
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
