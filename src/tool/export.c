/* glcnn export: a model file becomes an ONNX file; one that was imported gets its own back, with the
 * weights that it has now. */
#include <getopt.h>
#include <glcnn/io.h>
#include <stdio.h>

#include "train/claim.h"
#include "task/onnx_record.h"
#include "task/saved.h"
#include "tool.h"

enum { OPTION_FORCE = 256 };

static const struct option_row options[] = {
    {'o', "out", WRITES "FILE", "the ONNX file to write"},
    {OPTION_FORCE, "force", NULL, "overwrite an existing file"},
    DEVICE_OPTIONS,
    {0}};

static const char details[] =
    "MODEL is a file of \"glcnn train\" or \"glcnn import\". An imported model comes back as "
    "it was, with the names and layouts of its file, but with the weights and the head that it "
    "has now; any other network becomes a graph of opset 14. Its input is a picture as the "
    "network sees it: values in 0 .. 1, minus the mean, divided by the deviation, both of "
    "which are printed. Its result is printed too: of the tasks classify and segment scores, of "
    "which a soft max makes probabilities. An existing file is overwritten only with --force.\n"
    "\n"
    "  glcnn export fruit.glcnn -o fruit.onnx\n";

struct export
{
    const struct tool_command *command;
    struct tool_device tool;
    const char *path, *out;
    bool force;
    struct claims claims;
    struct saved saved;
    glcnn_network *network;
    struct glcnn_onnx_record *record;
    uint8_t *bytes;
    size_t size;
};

static int fail(const struct export *e, const char *error)
{
    return complain(e->command, EXIT_FAILED, "%s", error);
}

static int read_network(struct export *e)
{
    char error[GLCNN_ERROR_LENGTH];
    if (!saved_read(e->path, &e->saved, error))
        return fail(e, error);
    int status = device_open(&e->tool);
    if (status != EXIT_GOOD)
        return complain(e->command, status, "%s", e->tool.error);
    return saved_network(&e->saved, e->path, e->tool.device, &e->network, error) ? EXIT_GOOD
                                                                                 : fail(e, error);
}

static int read_record(struct export *e)
{
    const struct glcnn_checkpoint_bytes *text = &e->saved.bytes[SAVED_RECORD],
                                        *skeleton = &e->saved.bytes[SAVED_ONNX];
    if (!text->bytes || !skeleton->bytes)
        return EXIT_GOOD;
    e->record =
        onnx_record_parse((const char *)text->bytes, text->size, skeleton->bytes, skeleton->size);
    return e->record ? EXIT_GOOD
                     : complain(e->command, EXIT_FAILED,
                                "%s: its record of the ONNX file is damaged", e->path);
}

/* Of what was imported the file says itself what it gives. */
static void tell_result(const struct export *e)
{
    if (!e->record && e->saved.form.classes)
        output("%s: gives %s\n", e->out, task_of(&e->saved.form)->gives);
}

static int write_file(struct export *e)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct form *form = &e->saved.form;
    const struct glcnn_onnx_image input = {
        .width = form->width, .height = form->height, .feature_channels = form->channels};
    if (glcnn_onnx_write(e->network, e->record, e->record ? NULL : &input, e->record ? 0 : 1,
                         &e->bytes, &e->size, error) != GLCNN_SUCCESS ||
        glcnn_file_save(e->out, e->bytes, e->size, error) != GLCNN_SUCCESS)
        return fail(e, error);
    output("%s: images of %ux%ux%u", e->out, form->width, form->height, form->channels);
    if (form->classes)
        output(", %u %s", form->classes, task_of(form)->classes);
    for (uint32_t c = 0; c < saved_listed(form); c++)
        output("%s%.9g / %.9g", c ? ", " : "; mean and deviation ", (double)e->saved.mean[c],
               (double)e->saved.deviation[c]);
    output("\n");
    tell_result(e);
    return EXIT_GOOD;
}

static int claim_files(struct export *e)
{
    char error[GLCNN_ERROR_LENGTH];
    e->claims.force = e->force;
    claims_read(&e->claims, e->path);
    claims_write(&e->claims,
                 &(struct claim_output){.option = "--out", .path = e->out, .in_place = true});
    return claims_take(&e->claims, error) ? EXIT_GOOD : fail(e, error);
}

static int export(struct export *e)
{
    int status = claim_files(e);
    if (status == EXIT_GOOD)
        status = read_network(e);
    if (status == EXIT_GOOD)
        status = read_record(e);
    return status == EXIT_GOOD ? write_file(e) : status;
}

static int read_arguments(struct export *e, int argc, char *argv[], bool *help)
{
    for (int letter; (letter = next_option(e->command, argc, argv)) != OPTIONS_DONE;) {
        *help = letter == 'h';
        if (*help)
            return EXIT_GOOD;
        if (letter == 'o')
            e->out = optarg;
        else if (letter == OPTION_FORCE)
            e->force = true;
        else if (!read_device_option(&e->tool, letter))
            return EXIT_USAGE;
    }
    if (optind == argc)
        return complain(e->command, EXIT_USAGE, "no model given");
    e->path = argv[optind++];
    if (!e->out)
        return complain(e->command, EXIT_USAGE, "--out is missing: the ONNX file to write");
    return expect_no_arguments(e->command, argc, argv);
}

static int run(const struct tool_command *command, int argc, char *argv[])
{
    struct export e = {.command = command};
    bool help = false;
    int status = read_arguments(&e, argc, argv, &help);
    if (help)
        print_help(command);
    if (!help && status == EXIT_GOOD)
        status = export(&e);
    glcnn_onnx_destroy(e.bytes);
    onnx_record_free(e.record);
    glcnn_network_destroy(&e.network);
    glcnn_device_destroy(&e.tool.device);
    saved_free(&e.saved);
    claims_release(&e.claims);
    return status;
}

const struct tool_command command_export = {.name = "export",
                                            .arguments = "MODEL -o FILE.onnx [OPTION]...",
                                            .text = "write a model as an ONNX file",
                                            .details = details,
                                            .options = options,
                                            .run = run};
