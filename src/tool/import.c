/* glcnn import: an ONNX or a .tflite file becomes a model file, to evaluate, to predict with and to train on. */
#include <getopt.h>
#include <glcnn/io.h>
#include <glcnn/tflite.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/own_file.h"
#include "train/claim.h"
#include "task/class_names.h"
#include "task/onnx_record.h"
#include "train/parameters.h"
#include "task/saved.h"
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
    const char *path, *out, *mean, *deviation, *classes;
    bool force, lists_all;
    uint32_t resize; /* 0: none */
    struct claims claims;
    struct glcnn_onnx_options options;
    struct glcnn_onnx_record *record;
    char *record_text;
    struct own_file own; /* what the file says of itself, where it was exported here */
    struct saved saved;
    struct model model;
};

static int fail(const struct import *i, const char *error)
{
    return complain(i->command, EXIT_FAILED, "%s", error);
}

/* The command's option for one of glcnn_onnx_options that the message names. */
static const char *own_option(const char *error)
{
    static const char *const names[][2] = {{"option width sets", " (--size)"},
                                           {"option height sets", " (--size)"},
                                           {"option feature_channels sets", " (--channels)"},
                                           {"option output is", " (--output)"},
                                           {"option external_links", " (--external-links)"}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strstr(error, names[k][0]))
            return names[k][1];
    return "";
}

/* What is wrong with the file, whether the message names it or not. */
static int fail_file(const struct import *i, const char *error)
{
    return strstr(error, i->path)
               ? fail(i, error)
               : complain(i->command, EXIT_FAILED, "%s: %s%s", i->path, error, own_option(error));
}

/* ---- The command line ---- */

#define HEAD_MAX     65535
#define CHANNELS_MAX 65535
#define TFLITE_MAX   ((size_t)1 << 31) /* tables of flatbuffers count to there */
#define NAMES_MAX    ((size_t)1 << 26) /* bytes of a file of names */

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
        return read_extent(i->command, optarg, GLCNN_DATA_MAX_SIDE, &i->options.width,
                           &i->options.height);
    case OPTION_CHANNELS:
        return read_count(i, "channels", CHANNELS_MAX, &i->options.feature_channels);
    case OPTION_RESIZE:
        return read_count(i, "resize", GLCNN_DATA_MAX_SIDE, &i->resize);
    case OPTION_HEAD:
        return read_count(i, "head", HEAD_MAX, &i->options.head_classes);
    case OPTION_OUTPUT:
        i->options.output = optarg;
        return EXIT_GOOD;
    case OPTION_FORCE:
        i->force = true;
        return EXIT_GOOD;
    case OPTION_PARAMETERS:
        i->lists_all = true;
        return EXIT_GOOD;
    case OPTION_LINKS:
        i->options.external_links = true;
        return EXIT_GOOD;
    case OPTION_MEAN:
        i->mean = optarg;
        return EXIT_GOOD;
    case OPTION_DEVIATION:
        i->deviation = optarg;
        return EXIT_GOOD;
    case OPTION_CLASSES:
        i->classes = optarg;
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
static int check_lines(const struct import *i, uint32_t classes, const char *text, char **lines)
{
    uint32_t k = 1;
    qsort(lines, classes, sizeof *lines, by_text);
    while (k < classes && strcmp(lines[k - 1], lines[k]) != 0)
        k++;
    if (k >= classes)
        return EXIT_GOOD;
    return complain(i->command, EXIT_FAILED,
                    "%s: line %zu: the name \"%.200s\" is also that of line %zu; each class needs "
                    "its own name",
                    i->classes, line_number(text, lines[k]), lines[k],
                    line_number(text, lines[k - 1]));
}

/* A name for each class, or no more than a message. */
static int take_classes(struct import *i, uint32_t classes)
{
    char error[GLCNN_ERROR_LENGTH];
    void *text;
    size_t size;
    if (glcnn_file_load(i->classes, NAMES_MAX, &text, &size, error) != GLCNN_SUCCESS)
        return fail(i, error);
    char **lines = calloc((size_t)classes + 1, sizeof *lines);
    int status = !lines ? fail(i, "not enough memory")
                 : strlen(text) == size && read_classes(&i->saved, classes, text, lines)
                     ? check_lines(i, classes, text, lines)
                     : complain(i->command, EXIT_FAILED,
                                "%s: must have %u lines, one name for each class of the network",
                                i->classes, classes);
    free(lines);
    free(text);
    return status;
}

static int name_classes(struct import *i, uint32_t classes)
{
    i->saved.owned = calloc((size_t)classes + 1, sizeof(*i->saved.owned));
    i->saved.names = (const char *const *)i->saved.owned;
    i->saved.form.classes = 0;
    if (!i->saved.owned)
        return fail(i, "not enough memory");
    if (i->classes)
        return take_classes(i, classes);
    const bool good =
        i->own.is_own ? copy_classes(&i->saved, &i->own.saved) : number_classes(&i->saved, classes);
    return good ? EXIT_GOOD : fail(i, "not enough memory");
}

/* What is not asked for is as the file says, or else 0 and 1. */
static int read_normalisation(struct import *i)
{
    struct saved *s = &i->saved;
    const uint32_t listed = saved_listed(&s->form);
    memcpy(s->mean, i->own.saved.mean, sizeof s->mean);
    memcpy(s->deviation, i->own.saved.deviation, sizeof s->deviation);
    const char *mean = i->mean || i->own.is_own ? i->mean : "0",
               *deviation = i->deviation || i->own.is_own ? i->deviation : "1";
    if ((!mean || saved_read_list(mean, listed, NAN, s->mean)) &&
        (!deviation || saved_read_list(deviation, listed, 0, s->deviation)))
        return EXIT_GOOD;
    if (listed < s->form.channels)
        return complain(
            i->command, EXIT_USAGE,
            "--mean and --deviation must each be one number for all %u channels; a deviation "
            "must be above 0",
            s->form.channels);
    return complain(
        i->command, EXIT_USAGE,
        "--mean and --deviation must each be one number, or %u separated by commas; deviations "
        "must be above 0",
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
        i->saved.form.resize = i->resize ? i->resize : i->saved.form.resize;
        snprintf(i->saved.title, sizeof i->saved.title, "%s", i->own.saved.title);
        return true;
    }
    bool classifies = r->output_count == 1 && out->width == 1 && out->height == 1;
    i->saved.form = (struct form){.width = in->width,
                                  .height = in->height,
                                  .resize = i->resize,
                                  .channels = in->feature_channels,
                                  .classes = classifies ? out->feature_channels : 0};
    return true;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* A network that was made here needs no record of its file: an export writes it from its layers. */
static bool keeps_record(const struct import *i)
{
    return !i->own.is_own || i->own.has_record;
}

/* Another end than the file's makes another network of it. */
static int read_own(struct import *i)
{
    char error[GLCNN_ERROR_LENGTH];
    if (i->options.output || i->options.head_classes)
        return EXIT_GOOD;
    if (!names_tflite(i->path) && !own_file_read(i->path, &i->own, error))
        return fail_file(i, error);
    if (!i->own.is_own)
        return EXIT_GOOD;
    i->options.input = i->own.input;
    i->options.outputs = (const char *const *)i->own.outputs;
    i->options.output_count = i->own.output_count;
    return EXIT_GOOD;
}

/* A file that is an ONNX model once it is converted. Its data lie nowhere else. */
static glcnn_status load_tflite(const struct import *i, glcnn_network **network,
                                struct glcnn_onnx_record **record, char error[GLCNN_ERROR_LENGTH])
{
    char note[GLCNN_ERROR_LENGTH];
    void *file = NULL;
    uint8_t *bytes = NULL;
    size_t file_size, size;
    glcnn_status status = glcnn_file_load(i->path, TFLITE_MAX, &file, &file_size, error);
    if (status == GLCNN_SUCCESS)
        status = glcnn_tflite_to_onnx(file, file_size, &bytes, &size, note, error);
    if (status == GLCNN_SUCCESS && note[0])
        output("%s: %s\n", i->path, note);
    if (status == GLCNN_SUCCESS)
        status = glcnn_onnx_read(i->tool.device, bytes, size, &i->options, network, record, error);
    glcnn_tflite_destroy(bytes);
    free(file);
    return status;
}

static glcnn_status load_file(struct import *i, glcnn_network **network,
                              char error[GLCNN_ERROR_LENGTH])
{
    return names_tflite(i->path)
               ? load_tflite(i, network, &i->record, error)
               : glcnn_onnx_load(i->tool.device, i->path, &i->options, network, &i->record, error);
}

static int read_model(struct import *i)
{
    char error[GLCNN_ERROR_LENGTH];
    glcnn_network *network = NULL;
    int status = device_open(&i->tool);
    if (status != EXIT_GOOD)
        return complain(i->command, status, "%s", i->tool.error);
    if (load_file(i, &network, error) != GLCNN_SUCCESS)
        return fail_file(i, error);
    if (i->own.is_own && !own_file_join(&i->own, i->record, error)) {
        glcnn_network_destroy(&network);
        return fail_file(i, error);
    }
    if (keeps_record(i))
        mark_outputs(i->record);
    if (!describe(i)) {
        glcnn_network_destroy(&network);
        return complain(i->command, EXIT_FAILED, "%s: has %zu inputs; expected one, of pictures",
                        i->path, i->record->input_count);
    }
    const uint32_t longer = larger(i->saved.form.width, i->saved.form.height);
    if (i->resize > 0 && i->resize < longer) {
        glcnn_network_destroy(&network);
        return complain(
            i->command, EXIT_USAGE,
            "--resize is %u; images are of %ux%u, which are cut out of the middle, so it "
            "must be %u at least",
            i->resize, i->saved.form.width, i->saved.form.height, longer);
    }
    bool (*open)(glcnn_network *, const struct form *, uint32_t, struct model *, char *) =
        i->saved.form.classes ? model_open : model_keep;
    return open(network, &i->saved.form, 1, &i->model, error) ? EXIT_GOOD : fail_file(i, error);
}

#define PICTURE_CHANNELS 4 /* and fewer are likely */

/* The file's axes are taken by their order where nothing tells otherwise. */
static void tell_channels(const struct form *form)
{
    if (form->channels > GLCNN_DATA_MAX_CHANNELS)
        output("images of %u channels: glcnn train, evaluate and predict take %d at most; Python "
               "and C take more\n",
               form->channels, GLCNN_DATA_MAX_CHANNELS);
    if (form->width <= PICTURE_CHANNELS && form->channels > PICTURE_CHANNELS && form->height > 1)
        output("the input's axes are taken as N,C,H,W; a model with N,H,W,C must begin with a "
               "Transpose to N,C,H,W\n");
}

static void tell(const struct import *i)
{
    const struct glcnn_onnx_record *r = i->record;
    const struct form *form = &i->saved.form;
    output("%s: images of %ux%ux%u, ", i->out, form->width, form->height, form->channels);
    if (form->resize)
        output("the middle of pictures whose shorter side is scaled to %u, ", form->resize);
    if (i->own.is_own && form->classes)
        output("for the task %s, ", task_of(form)->name);
    if (form->classes) {
        output("%u %s\n", form->classes, task_of(form)->classes);
        tell_channels(form);
        return;
    }
    output("not a classifier: ");
    for (size_t k = 0; k < r->output_count; k++)
        output("%s%s of %ux%ux%u", k ? ", " : "", r->outputs[k].name, r->outputs[k].width,
               r->outputs[k].height, r->outputs[k].feature_channels);
    output(
        "\nglcnn train puts a head on its maps by --task detect, segment or keypoints; --head makes it a "
        "classifier; glcnn export, Python (glcnn.load) and C take this file, with a loss of their "
        "own\n");
    tell_channels(form);
}

static int write_model(struct import *i)
{
    char error[GLCNN_ERROR_LENGTH];
    struct saved all = i->saved;
    i->record_text = onnx_record_text(i->record);
    if (!i->record_text)
        return fail(i, "not enough memory");
    if (keeps_record(i))
        saved_add_onnx(&all, i->record->skeleton, i->record->skeleton_size, i->record_text);
    if (!saved_write(&all, &i->model, i->out, NULL, NULL, 0, error))
        return fail(i, error);
    tell(i);
    struct text text = {0};
    return parameters_describe(i->model.network, i->record, i->lists_all, &text) &&
                   output_shown(&text)
               ? EXIT_GOOD
               : fail(i, "not enough memory");
}

static int claim_files(struct import *i)
{
    char error[GLCNN_ERROR_LENGTH];
    i->claims.force = i->force;
    claims_read(&i->claims, i->path);
    claims_read(&i->claims, i->classes);
    claims_write(&i->claims, &(struct claim_output){.option = "--out",
                                                    .path = i->out,
                                                    .mark = &claim_checkpoint,
                                                    .in_place = true});
    return claims_take(&i->claims, error) ? EXIT_GOOD : fail(i, error);
}

static int import(struct import *i)
{
    name_model(i);
    int status = claim_files(i);
    if (status == EXIT_GOOD)
        status = read_own(i);
    if (status == EXIT_GOOD)
        status = read_model(i);
    if (status == EXIT_GOOD)
        status = read_normalisation(i);
    if (status == EXIT_GOOD)
        status = name_classes(i, i->saved.form.classes);
    return status == EXIT_GOOD ? write_model(i) : status;
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
    model_destroy(&i.model);
    glcnn_onnx_record_destroy(&i.record);
    glcnn_device_destroy(&i.tool.device);
    saved_free(&i.saved);
    own_file_free(&i.own);
    claims_release(&i.claims);
    free(i.record_text);
    return status;
}

const struct tool_command command_import = {
    .name = "import",
    .arguments = "MODEL -o FILE [OPTION]...",
    .text = "import an ONNX or .tflite model, to train and use here",
    .details = details,
    .options = options,
    .run = run};
