/* glcnn evaluate: how well a network that `glcnn train` wrote classifies labelled pictures. */
#include "evaluate.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "saved.h"
#include "tool.h"

#define BATCH 32

static const struct tool_option options[] = {
    {'j', "json", NULL, "print JSON, with all of the confusion matrix"}, DEVICE_OPTIONS, {0}};

static const char details[] =
    "MODEL is a file of \"glcnn train --out\"; DATA is what --data takes there, of the same size and\n"
    "classes. Its test images are classified, or where it has none those to validate with. Prints\n"
    "the accuracy, the mean loss, the accuracy of each class and the confusion matrix: a row is a\n"
    "class, its columns what its images were taken for.\n"
    "\n"
    "  glcnn evaluate model.best.safetensors /usr/share/datasets/fashion-mnist\n";

bool evaluate_feed(struct runner *runner, struct feed *feed, float *probabilities,
                   struct score *score, char error[GLCNN_ERROR_LENGTH])
{
    for (uint64_t step = 0; step < feed->steps; step++) {
        struct feed_batch batch;
        if (!feed_next(feed, &batch, error))
            return false;
        if (!runner_run(runner, batch.images, NULL, probabilities)) {
            snprintf(error, GLCNN_ERROR_LENGTH, "%s", glcnn_device_error(runner->device));
            return false;
        }
        score_add(score, probabilities, batch.labels, batch.filled);
    }
    return true;
}

/* ---- The command ---- */

struct evaluation {
    const struct tool_command *command;
    struct tool_device tool;
    bool json;
    struct saved saved;
    struct pictures pictures;
    struct feed feed;
    struct model model;
    struct runner runner;
    struct score score;
    float *probabilities;
};

static int fail(const struct evaluation *e, const char *error)
{
    return complain(e->command, EXIT_FAILED, "%s", error);
}

static int open_data(struct evaluation *e, const char *model, const char *data)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct feed_options feed = {.part = PICTURES_VALIDATION, .batch = BATCH};
    if (!saved_read(model, &e->saved, error) || !pictures_open(data, &e->pictures, error) ||
        !feed_open(&e->pictures, &feed, &e->feed, error))
        return fail(e, error);
    const struct saved other = {NULL, e->pictures.form, e->pictures.names};
    if (!saved_is_same(&e->saved, &other))
        return complain(e->command, EXIT_FAILED,
                        "%s: has pictures of another size or other classes than %s was trained on",
                        data, model);
    return EXIT_GOOD;
}

static int load(struct evaluation *e, const char *path)
{
    char error[GLCNN_ERROR_LENGTH];
    int status = device_open(&e->tool);
    if (status != EXIT_GOOD)
        return complain(e->command, status, "%s", e->tool.error);
    e->probabilities = calloc((size_t)BATCH * e->saved.form.classes, sizeof *e->probabilities);
    if (!e->probabilities || !score_begin(&e->score, e->saved.form.classes))
        return fail(e, "not enough memory");
    if (!model_create(e->tool.device, e->saved.net, &e->saved.form, BATCH, &e->model))
        return fail(e, glcnn_device_error(e->tool.device));
    if (glcnn_checkpoint_load(e->model.network, path, NULL, error) != GLCNN_SUCCESS)
        return fail(e, error);
    if (!runner_create_inference(&e->model, BATCH, 0, &e->runner))
        return fail(e, glcnn_device_error(e->tool.device));
    return evaluate_feed(&e->runner, &e->feed, e->probabilities, &e->score, error) ? EXIT_GOOD
                                                                                   : fail(e, error);
}

static int answer(const struct evaluation *e)
{
    if (e->json)
        return json_print(e->command, score_json(&e->score, e->saved.names));
    printf("accuracy %.4f, loss %.4f on %u images\n", score_accuracy(&e->score),
           score_loss(&e->score), (unsigned)e->feed.used);
    score_print(&e->score, e->saved.names);
    return EXIT_GOOD;
}

static void release(struct evaluation *e)
{
    runner_destroy(&e->runner);
    model_destroy(&e->model);
    glcnn_device_destroy(&e->tool.device);
    feed_close(&e->feed);
    pictures_close(&e->pictures);
    saved_free(&e->saved);
    score_free(&e->score);
    free(e->probabilities);
}

static int run(const struct tool_command *command, int argc, char *argv[])
{
    struct evaluation e = {.command = command};
    for (int letter; (letter = next_option(command, argc, argv)) != OPTIONS_DONE;) {
        if (letter == 'h') {
            print_help(command);
            return EXIT_GOOD;
        }
        e.json = e.json || letter == 'j';
        if (letter != 'j' && !read_device_option(&e.tool, letter))
            return EXIT_USAGE;
    }
    if (argc - optind < 2)
        return complain(command, EXIT_USAGE, "%s",
                        argc == optind ? "no model is named" : "no data is named");
    const char *model = argv[optind++], *data = argv[optind++];
    int status = expect_no_arguments(command, argc, argv);
    if (status == EXIT_GOOD)
        status = open_data(&e, model, data);
    if (status == EXIT_GOOD)
        status = load(&e, model);
    if (status == EXIT_GOOD)
        status = answer(&e);
    release(&e);
    return status;
}

const struct tool_command command_evaluate = {.name = "evaluate",
                                              .arguments = "MODEL DATA [OPTION]...",
                                              .text =
                                                  "accuracy and confusions of a trained network",
                                              .details = details,
                                              .options = options,
                                              .run = run};
