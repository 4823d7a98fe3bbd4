/* glcnn evaluate: how well a network that `glcnn train` wrote classifies labelled pictures. */
#include "task/evaluate.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/option.h"
#include "train/claim.h"
#include "report/matrix.h"
#include "report/report_collect.h"
#include "task/saved.h"
#include "tool.h"

#define BATCH 32

enum { OPTION_PLOT = 256, OPTION_REPORT, OPTION_FLIP, OPTION_COLOURS, OPTION_SIZE, OPTION_FORCE };

static const struct option_row options[] = {
    {'j', "json", NULL, "print JSON, with all of the confusion matrix"},
    {OPTION_FLIP, "flip", NULL, "mean of the probabilities of a picture and its mirror image"},
    {OPTION_PLOT, "plot", WRITES "FILE", "draw the confusion matrix of a classifier, .svg"},
    {OPTION_REPORT, "report", WRITES "DIR", "write a page on the result, DIR/index.html"},
    {OPTION_COLOURS, "mask-colours", READS "FILE",
     "classes of masks that are colours, as \"glcnn train\" reads them"},
    {OPTION_SIZE, "size", "N|WxH", "bring pictures to another size than the network was made for"},
    {OPTION_FORCE, "force", NULL, "overwrite existing files"},
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

struct evaluation {
    const struct tool_command *command;
    const char *model_path, *data_path;
    struct tool_device tool;
    bool json, flips, force;
    struct claims claims;
    uint32_t width, height;   /* 0: as the network was made for */
    const char *mask_colours; /* NULL: none */
    const char *plot;         /* NULL: none is drawn */
    const char *report;       /* a folder; NULL: none is written */
    char page[4096];          /* in it */
    struct saved saved;
    struct pictures pictures;
    glcnn_data_loader *loader;
    struct model model;
    struct runner runner;
    struct flip flip;
    struct score score;
    struct findings findings; /* for the report */
    uint32_t trained_on;      /* how many of the pictures training has seen; 0 where nobody knows */
    bool is_exact;            /* and that is no estimate */
    float *values;            /* of a batch */
};

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
    snprintf(e->page, sizeof e->page, REPORT_PAGE, e->report ? e->report : "");
    e->claims.force = e->force;
    claims_read(&e->claims, e->model_path);
    claims_read(&e->claims, e->data_path);
    claims_read(&e->claims, e->mask_colours);
    claims_folder(&e->claims, "--report", e->report, NULL);
    claims_write(&e->claims, &plot);
    claims_write(&e->claims, &page);
    return claims_take(&e->claims, error) ? EXIT_GOOD : fail(e, error);
}

static int open_data(struct evaluation *e, const char *model, const char *data)
{
    char error[GLCNN_ERROR_LENGTH];
    struct pictures_options what = {
        .path = data, .like = &e->saved, .mask_colours = e->mask_colours};
    struct glcnn_data_loader_parameters loader = {.batch = BATCH};
    struct text text = {0};
    if (!saved_read(model, &e->saved, error))
        return fail(e, error);
    if (e->width && !saved_take_size(&e->saved, e->width, e->height, error))
        return complain(e->command, EXIT_FAILED, "%s: %s", model, error);
    what.task = task_of(&e->saved.form);
    if (e->plot && !what.task->draws_matrix)
        return complain(e->command, EXIT_USAGE,
                        "the task %s has nothing for --plot; --report writes a page on its result",
                        what.task->name);
    if (!pictures_open(&what, &e->pictures, error))
        return fail(e, error);
    pictures_describe_decisions(&e->pictures, &text);
    print_error_shown(&text); /* standard output may be JSON */
    loader.part = e->pictures.test;
    e->trained_on = evaluate_count_trained(&e->saved, &e->pictures, &e->is_exact);
    return pictures_load(&e->pictures, &loader, &e->loader, error) ? EXIT_GOOD : fail(e, error);
}

static int load(struct evaluation *e, const char *path)
{
    char error[GLCNN_ERROR_LENGTH];
    struct text text = {0};
    int status = device_open(&e->tool);
    if (status != EXIT_GOOD)
        return complain(e->command, status, "%s", e->tool.error);
    pictures_describe_middle(&e->pictures, e->pictures.test, &text);
    print_remarks(e->command, &text);
    const size_t each = task_of(&e->saved.form)->values(&e->saved.form);
    e->values = calloc(BATCH * each, sizeof *e->values);
    if (!e->values)
        return fail(e, "not enough memory");
    if (!saved_load(&e->saved, path, e->tool.device, BATCH, &e->model, &e->runner, error))
        return fail(e, error);
    if (!score_begin(&e->score, &e->model))
        return fail(e, model_failure(e->tool.device));
    score_of(&e->score, e->pictures.set, e->pictures.test);
    if (e->report &&
        !findings_begin(&e->findings, e->score.task->count_right ? e->saved.form.classes : 0))
        return fail(e, "not enough memory");
    e->score.findings = e->report ? &e->findings : NULL;
    if (e->report && e->score.task->show)
        findings_keep_values(&e->findings, each);
    if (!pictures_take(&e->pictures, &e->saved, NULL, 0, &e->runner))
        return fail(e, model_failure(e->tool.device));
    if (e->flips && !flip_begin(&e->runner, &e->flip, error))
        return fail(e, error);
    if (!evaluate_epoch(&e->runner, &e->flip, e->loader, e->values, &e->score, error))
        return fail(e, error);
    pictures_describe_skipped(&e->pictures, &text);
    print_remarks(e->command, &text);
    if (!evaluate_is_finite(&e->score, &e->pictures, e->pictures.test, error))
        return fail(e, error);
    return EXIT_GOOD;
}

static bool write_page(const struct evaluation *e, struct report_picture *worst,
                       char error[GLCNN_ERROR_LENGTH])
{
    char title[512], measure[TASK_MEASURED], loss[32], count[64];
    const struct score *s = &e->score;
    struct report_row settings[2 + REPORT_DEVICE_ROWS] = {{"network", e->model_path, NULL},
                                                          {"data", e->data_path, NULL}};
    const struct report_row numbers[] = {{s->task->measure, measure, count},
                                         {"loss", loss, "lower is better"}};
    const struct report report = {.title = title,
                                  .state = "Report of an evaluation: how a trained network does on "
                                           "labelled pictures.",
                                  .part = glcnn_data_part_name(e->pictures.test),
                                  .numbers = numbers,
                                  .number_count = 2,
                                  .settings = settings,
                                  .setting_count = 2 + REPORT_DEVICE_ROWS,
                                  .score = s,
                                  .findings = &e->findings,
                                  .names = e->saved.names,
                                  .worst = worst};
    snprintf(title, sizeof title, "%s on %s", e->saved.title, report_name_of(e->data_path));
    task_write(s->task, score_measure(s), measure);
    snprintf(loss, sizeof loss, "%.4f", score_loss(s));
    snprintf(count, sizeof count, "on %" PRIu64 " pictures, higher is better", s->count);
    report_describe_device(e->tool.device, settings + 2);
    return report_write(&report, e->page, error);
}

static bool write_report(const struct evaluation *e, char error[GLCNN_ERROR_LENGTH])
{
    struct report_picture worst[FINDINGS_WORST] = {{.label = 0}};
    bool good = report_read_worst(&e->pictures, e->pictures.test, &e->findings, e->saved.names,
                                  worst, error) &&
                write_page(e, worst, error);
    report_free_pictures(worst, FINDINGS_WORST);
    return good;
}

/* The data are in parts: those that are measured are not all of them. */
static bool has_parts(const struct evaluation *e)
{
    return e->pictures.test != GLCNN_DATA_PART_TRAINING;
}

static int answer(const struct evaluation *e)
{
    char error[GLCNN_ERROR_LENGTH], measured[TASK_MEASURED];
    if (e->score.task->doubts && e->score.task->doubts(&e->score, e->saved.names, error))
        print_error("glcnn evaluate: %s\n", error);
    if (e->plot && !matrix_write_score(&e->score, e->saved.names, e->plot, error))
        return fail(e, error);
    if (e->report && !write_report(e, error))
        return fail(e, error);
    if (e->json)
        return json_print(
            e->command, evaluate_json(&e->score, e->saved.names, e->pictures.test, e->trained_on));
    output("%s %s, loss %.4f on %" PRIu64 " images%s%s%s\n", e->score.task->measure,
           task_write(e->score.task, score_measure(&e->score), measured), score_loss(&e->score),
           e->score.count, has_parts(e) ? " of the " : "",
           has_parts(e) ? glcnn_data_part_name(e->pictures.test) : "", has_parts(e) ? " part" : "");
    if (e->trained_on > 0)
        output("%s%u of these %u images were trained on: new ones may have a worse result\n",
               e->is_exact ? "" : "about ", e->trained_on,
               e->pictures.info->counts[e->pictures.test]);
    struct text text = {0};
    score_print(&e->score, e->saved.names, &text);
    return output_shown(&text) ? EXIT_GOOD : fail(e, "not enough memory");
}

static void release(struct evaluation *e)
{
    flip_end(&e->flip);
    runner_destroy(&e->runner);
    model_destroy(&e->model);
    glcnn_device_destroy(&e->tool.device);
    glcnn_data_loader_destroy(&e->loader);
    pictures_close(&e->pictures);
    saved_free(&e->saved);
    score_free(&e->score);
    findings_free(&e->findings);
    claims_release(&e->claims);
    free(e->values);
}

static bool read_option(struct evaluation *e, int letter)
{
    if (letter == 'j')
        e->json = true;
    else if (letter == OPTION_FLIP)
        e->flips = true;
    else if (letter == OPTION_FORCE)
        e->force = true;
    else if (letter == OPTION_COLOURS)
        e->mask_colours = optarg;
    else if (letter == OPTION_SIZE) {
        if (option_extent(optarg, GLCNN_DATA_MAX_SIDE, &e->width, &e->height))
            return true;
        complain(e->command, EXIT_USAGE, "--size is \"%s\"; " OPTION_EXTENT, optarg,
                 (unsigned)GLCNN_DATA_MAX_SIDE);
        return false;
    } else if (letter == OPTION_PLOT)
        e->plot = optarg;
    else if (letter == OPTION_REPORT)
        e->report = optarg;
    else
        return read_device_option(&e->tool, letter);
    return true;
}

static int run(const struct tool_command *command, int argc, char *argv[])
{
    struct evaluation e = {.command = command};
    for (int letter; (letter = next_option(command, argc, argv)) != OPTIONS_DONE;) {
        if (letter == 'h') {
            print_help(command);
            return EXIT_GOOD;
        }
        if (!read_option(&e, letter))
            return EXIT_USAGE;
    }
    if (argc - optind < 2)
        return complain(command, EXIT_USAGE, "%s",
                        argc == optind ? "no model given" : "no data given");
    const char *model = e.model_path = argv[optind++], *data = e.data_path = argv[optind++];
    int status = expect_no_arguments(command, argc, argv);
    if (status == EXIT_GOOD)
        status = claim_files(&e);
    if (status == EXIT_GOOD)
        status = open_data(&e, model, data);
    if (status == EXIT_GOOD)
        status = load(&e, model);
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
