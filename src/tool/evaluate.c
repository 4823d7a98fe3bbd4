/* glcnn evaluate: how well a network that `glcnn train` wrote classifies labelled pictures. */
#include <getopt.h>
#include <glcnn/report.h>
#include <stdio.h>
#include <stdlib.h>

#include "task/task.h"
#include "tool.h"
#include "train/claim.h"

#define PAGE "%s/index.html"

struct evaluation {
    const struct tool_command *command;
    const char *model_path, *data_path;
    struct tool_device tool;
    struct glcnn_model_options options;
    bool json;
    struct claims claims;
    uint32_t width, height; /* 0: as the network was made for */
    const char *plot;       /* NULL: none is drawn */
    const char *report;     /* a folder; NULL: none is written */
    char page[4096];        /* in it */
    glcnn_model *model;
    const struct glcnn_evaluation *result;
};

static const struct option_row options[] = {
    {'j', "json", NULL, "print JSON, with all of the confusion matrix",
     FLAG_AT(struct evaluation, json)},
    {0, "flip", NULL, "mean of the probabilities of a picture and its mirror image",
     FLAG_AT(struct evaluation, options.flip)},
    {0, "plot", WRITES "FILE", "draw the confusion matrix of a classifier, .svg",
     NAME_AT(struct evaluation, plot)},
    {0, "report", WRITES "DIR", "write a page on the result, DIR/index.html",
     NAME_AT(struct evaluation, report)},
    {0, "mask-colours", READS "FILE",
     "classes of masks that are colours, as \"glcnn train\" reads them",
     NAME_AT(struct evaluation, options.mask_colours)},
    {0, "size", "N|WxH", "bring pictures to another size than the network was made for",
     EXTENT_AT(struct evaluation, width, GLCNN_DATA_MAX_SIDE)},
    {0, "force", NULL, "overwrite existing files", FLAG_AT(struct evaluation, claims.force)},
    DEVICE_OPTIONS,
    {0}};

static const char details[] =
    "MODEL is a file of \"glcnn train\" or \"glcnn import\"; DATA is what --data of \"glcnn "
    "train\" takes, with the same image size and classes. The test images are classified; if "
    "there are none, the validation images; if there are none of those either, all. Prints which "
    "these are, and how many of them MODEL was trained on: a picture counts as the same by its "
    "contents, and of more than 1024 trained ones the number is estimated. Prints the "
    "accuracy, the mean loss, the accuracy of each class, and the confusion matrix: a row for "
    "each true class, a column for each predicted one; then each class's precision, recall and F1 "
    "with their means, the share of pictures whose class is among the five most probable, and the "
    "expected calibration error over 15 bins of the largest probability. --report writes them into "
    "a page for a browser, with precision and recall and the most wrong pictures.\n"
    "\n"
    "  glcnn evaluate model.best.safetensors /usr/share/datasets/fashion-mnist\n";

static int fail(const struct evaluation *e, const char *error)
{
    return complain(e->command, EXIT_FAILED, "%s", error);
}

static int claim_files(struct evaluation *e)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct claim_output plot = {
        .option = "--plot", .path = e->plot, .mark = &claim_plot, .in_place = true};
    const struct claim_output page = {
        .option = "--report", .path = e->report ? e->page : NULL, .mark = &claim_page};
    snprintf(e->page, sizeof e->page, PAGE, e->report ? e->report : "");
    claims_read(&e->claims, e->model_path);
    claims_read(&e->claims, e->data_path);
    claims_read(&e->claims, e->options.mask_colours);
    claims_folder(&e->claims, "--report", e->report, NULL);
    claims_write(&e->claims, &plot);
    claims_write(&e->claims, &page);
    return claims_take(&e->claims, error) ? EXIT_GOOD : fail(e, error);
}

static int load(struct evaluation *e)
{
    char error[GLCNN_ERROR_LENGTH];
    const int status = device_open(&e->tool);
    if (status != EXIT_GOOD)
        return complain(e->command, status, "%s", e->tool.error);
    if (glcnn_model_load_sized(e->tool.device, e->model_path, e->width, e->height, &e->model,
                               error) != GLCNN_SUCCESS)
        return fail(e, error);
    const char *task = glcnn_model_info(e->model)->task->name;
    if (!e->plot || task_find(task)->draws_matrix)
        return EXIT_GOOD;
    return complain(e->command, EXIT_USAGE,
                    "the task %s has nothing for --plot; --report writes a page on its result",
                    task);
}

/* Standard output may be JSON: what is said besides goes to standard error. */
static int evaluate(struct evaluation *e)
{
    char error[GLCNN_ERROR_LENGTH];
    e->options.page = e->report;
    const glcnn_status status =
        glcnn_model_evaluate(e->model, e->data_path, &e->options, &e->result, error);
    print_error_lines(glcnn_model_notes(e->model));
    print_remarks(e->command, glcnn_model_remarks(e->model));
    return status == GLCNN_SUCCESS ? EXIT_GOOD : fail(e, error);
}

static int answer(const struct evaluation *e)
{
    char error[GLCNN_ERROR_LENGTH];
    if (e->plot && glcnn_model_save_matrix(e->model, e->plot, error) != GLCNN_SUCCESS)
        return fail(e, error);
    if (e->report && glcnn_model_save_page(e->model, e->page, error) != GLCNN_SUCCESS)
        return fail(e, error);
    if (e->json) {
        output_text(e->result->json);
        output_text("\n");
    } else
        output_lines(e->result->text);
    return EXIT_GOOD;
}

static void release(struct evaluation *e)
{
    glcnn_model_destroy(&e->model);
    glcnn_device_destroy(&e->tool.device);
    claims_release(&e->claims);
}

static int run(const struct tool_command *command, int argc, char *argv[])
{
    struct evaluation e = {.command = command};
    int status;
    if (!read_options(command, argc, argv, &e, &e.tool, NULL, &status))
        return status;
    if (argc - optind < 2)
        return complain(command, EXIT_USAGE, "%s",
                        argc == optind ? "no model given" : "no data given");
    e.model_path = argv[optind++];
    e.data_path = argv[optind++];
    status = expect_no_arguments(command, argc, argv);
    if (status == EXIT_GOOD)
        status = claim_files(&e);
    if (status == EXIT_GOOD)
        status = load(&e);
    if (status == EXIT_GOOD)
        status = evaluate(&e);
    if (status == EXIT_GOOD)
        status = answer(&e);
    release(&e);
    return status;
}

const struct tool_command command_evaluate = {
    .name = "evaluate",
    .arguments = "MODEL DATA [OPTION]...",
    .text = "accuracy and confusion matrix of a trained network",
    .details = details,
    .options = options,
    .run = run};
