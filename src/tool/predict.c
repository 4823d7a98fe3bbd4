/* glcnn predict: the class of each picture of files, by a network that `glcnn train` wrote. */
#include "tool.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inputs.h"
#include "model.h"
#include "saved.h"
#include "support/network.h"

#define BATCH 32

static const struct tool_option options[] = {
    {'j', "json", NULL, "print JSON, with the probability of every class"}, DEVICE_OPTIONS, {0}};

static const char details[] =
    "MODEL is a file of \"glcnn train --out\". A FILE has pictures of the size that the network was\n"
    "trained on: .npy of shape [H,W], [N,H,W] or [N,C,H,W], with values in 0 .. 1, or in 0 .. 255\n"
    "if any is above 1, or IDX. A line for each picture: its number, class, the class's name, and\n"
    "probability; of several files, the file first.\n"
    "\n"
    "  glcnn predict model.safetensors t10k-images-idx3-ubyte.gz\n";

struct prediction {
    const struct tool_command *command;
    struct tool_device tool;
    struct saved saved;
    struct model model;
    struct runner runner;
    bool prints_file;
    cJSON *json;            /* the answer; NULL: lines are printed */
    float *images, *result; /* of a batch */
};

/* ---- Answers ---- */

static void print_line(const struct prediction *p, const char *path, uint32_t number,
                       const float *row)
{
    uint32_t best = network_best(row, p->saved.form.classes);
    if (p->prints_file)
        printf("%s ", path);
    printf("%u %u %s %.4f\n", number, best, p->saved.names[best], (double)row[best]);
}

static void add_json(const struct prediction *p, const char *path, uint32_t number,
                     const float *row)
{
    cJSON *entry = cJSON_CreateObject();
    uint32_t best = network_best(row, p->saved.form.classes);
    cJSON_AddStringToObject(entry, "file", path);
    cJSON_AddNumberToObject(entry, "number", number);
    cJSON_AddNumberToObject(entry, "class", best);
    cJSON_AddStringToObject(entry, "name", p->saved.names[best]);
    cJSON *all = cJSON_AddObjectToObject(entry, "probabilities");
    for (uint32_t k = 0; k < p->saved.form.classes; k++)
        cJSON_AddNumberToObject(all, p->saved.names[k], (double)row[k]);
    cJSON_AddItemToArray(p->json, entry);
}

/* ---- Files ---- */

/* What lies beyond the last picture in the last batch is not looked at. */
static int classify(struct prediction *p, const char *path, const struct inputs *in)
{
    const struct form *form = &p->saved.form;
    size_t values = (size_t)form->width * form->height * form->channels;
    for (uint32_t first = 0; first < in->count; first += BATCH) {
        uint32_t count = in->count - first < BATCH ? in->count - first : BATCH;
        memcpy(p->images, in->values + first * values, sizeof *p->images * values * count);
        if (!runner_run(&p->runner, p->images, NULL, p->result))
            return complain(p->command, EXIT_FAILED, "%s", glcnn_device_error(p->tool.device));
        for (uint32_t n = 0; n < count; n++)
            (p->json ? add_json : print_line)(p, path, first + n,
                                              p->result + (size_t)n * form->classes);
    }
    return EXIT_GOOD;
}

static int predict_file(struct prediction *p, const char *path)
{
    char error[GLCNN_ERROR_LENGTH];
    struct inputs inputs;
    if (!inputs_read(path, &p->saved.form, &inputs, error))
        return complain(p->command, EXIT_FAILED, "%s", error);
    int status = classify(p, path, &inputs);
    inputs_free(&inputs);
    return status;
}

/* ---- The network ---- */

static int load(struct prediction *p, const char *path)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct form *form = &p->saved.form;
    size_t values = (size_t)form->width * form->height * form->channels;
    int status = device_open(&p->tool);
    if (status != EXIT_GOOD)
        return complain(p->command, status, "%s", p->tool.error);
    p->images = calloc(values * BATCH, sizeof *p->images);
    p->result = calloc((size_t)form->classes * BATCH, sizeof *p->result);
    if (!p->images || !p->result)
        return complain(p->command, EXIT_FAILED, "not enough memory");
    if (!model_create(p->tool.device, p->saved.net, form, BATCH, &p->model))
        return complain(p->command, EXIT_FAILED, "%s", glcnn_device_error(p->tool.device));
    if (glcnn_checkpoint_load(p->model.network, path, NULL, error) != GLCNN_SUCCESS)
        return complain(p->command, EXIT_FAILED, "%s", error);
    if (!runner_create_inference(&p->model, BATCH, 0, &p->runner))
        return complain(p->command, EXIT_FAILED, "%s", glcnn_device_error(p->tool.device));
    return EXIT_GOOD;
}

static void release(struct prediction *p)
{
    runner_destroy(&p->runner);
    model_destroy(&p->model);
    glcnn_device_destroy(&p->tool.device);
    saved_free(&p->saved);
    free(p->images);
    free(p->result);
    cJSON_Delete(p->json);
}

/* A file that cannot be read does not keep the others from their answers; the status tells. */
static int predict(struct prediction *p, const char *model, char *const *paths, int count)
{
    char error[GLCNN_ERROR_LENGTH];
    if (!saved_read(model, &p->saved, error))
        return complain(p->command, EXIT_FAILED, "%s", error);
    int status = load(p, model), worst = status;
    for (int i = 0; i < count && status == EXIT_GOOD; i++)
        if (predict_file(p, paths[i]) != EXIT_GOOD)
            worst = EXIT_FAILED;
    if (status == EXIT_GOOD && p->json) {
        cJSON *answer = p->json;
        p->json = NULL;
        status = json_print(p->command, answer);
    }
    return worst != EXIT_GOOD ? worst : status;
}

/* ---- The command ---- */

static int run(const struct tool_command *command, int argc, char *argv[])
{
    struct prediction p = {.command = command};
    bool help = false, json = false, wrong = false;
    for (int letter;
         !help && !wrong && (letter = next_option(command, argc, argv)) != OPTIONS_DONE;) {
        help = letter == 'h';
        json = json || letter == 'j';
        wrong = letter != 'h' && letter != 'j' && !read_device_option(&p.tool, letter);
    }
    if (help)
        print_help(command);
    if (help || wrong)
        return help ? EXIT_GOOD : EXIT_USAGE;
    if (argc - optind < 2)
        return complain(command, EXIT_USAGE, "%s",
                        argc == optind ? "no model is named" : "no file of images is named");
    int count = argc - optind - 1;
    p.prints_file = count > 1;
    p.json = json ? cJSON_CreateArray() : NULL;
    int status = predict(&p, argv[optind], argv + optind + 1, count);
    release(&p);
    return status;
}

const struct tool_command command_predict = {.name = "predict",
                                             .arguments = "MODEL FILE... [OPTION]...",
                                             .text =
                                                 "the classes of pictures, by a trained network",
                                             .details = details,
                                             .options = options,
                                             .run = run};
