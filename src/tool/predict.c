/* glcnn predict: the class of each picture of files, by a network that `glcnn train` wrote. */
#include "tool.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "pictures.h"
#include "saved.h"
#include "support/network.h"

#define BATCH 32

static const struct tool_option options[] = {
    {'j', "json", NULL, "print JSON, with the probability of every class"}, DEVICE_OPTIONS, {0}};

static const char details[] =
    "MODEL is a file of \"glcnn train\" or \"glcnn import\"; it says how large the pictures are to be. FILEs are\n"
    "PNG or JPEG pictures of any size, or one .npy, .npz, CSV or IDX file of images of the network's\n"
    "size. A line for each: the picture's name, or its number in the file, its class, the class's\n"
    "name, and probability.\n"
    "\n"
    "  glcnn predict model.safetensors holiday/*.jpg\n"
    "  glcnn predict --json model.safetensors images.npy\n";

struct prediction {
    const struct tool_command *command;
    struct tool_device tool;
    struct saved saved;
    struct model model;
    struct runner runner;
    struct pictures pictures;
    glcnn_data_loader *loader;
    cJSON *json;          /* the answer; NULL: lines are printed */
    float *probabilities; /* of a batch */
};

/* ---- Answers ---- */

/* The picture's path, or its number where one file has all. */
static void name_picture(const struct prediction *p, uint32_t index, char *name, size_t size)
{
    if (strcmp(p->pictures.info->format, "pictures") == 0)
        glcnn_data_set_name(p->pictures.set, GLCNN_DATA_PART_TEST, index, name, size);
    else
        snprintf(name, size, "%u", index);
}

static void print_line(const struct prediction *p, const char *name, const float *row)
{
    uint32_t best = network_best(row, p->saved.form.classes);
    output("%s %u %s %.4f\n", name, best, p->saved.names[best], (double)row[best]);
}

static void add_json(const struct prediction *p, const char *name, const float *row)
{
    cJSON *entry = cJSON_CreateObject();
    uint32_t best = network_best(row, p->saved.form.classes);
    cJSON_AddStringToObject(entry, "image", name);
    cJSON_AddNumberToObject(entry, "class", best);
    cJSON_AddStringToObject(entry, "name", p->saved.names[best]);
    cJSON *all = cJSON_AddObjectToObject(entry, "probabilities");
    for (uint32_t k = 0; k < p->saved.form.classes; k++)
        cJSON_AddNumberToObject(all, p->saved.names[k], (double)row[k]);
    cJSON_AddItemToArray(p->json, entry);
}

/* Places of pictures that could not be read are empty. */
static void answer(const struct prediction *p, const struct glcnn_data_batch *batch)
{
    for (uint32_t n = 0; n < batch->count; n++) {
        char name[4096];
        if (batch->indices[n] == UINT32_MAX)
            continue;
        name_picture(p, batch->indices[n], name, sizeof name);
        (p->json ? add_json : print_line)(p, name,
                                          p->probabilities + (size_t)n * p->saved.form.classes);
    }
}

static int classify(struct prediction *p)
{
    char error[GLCNN_ERROR_LENGTH];
    for (uint64_t i = 0; i < glcnn_data_loader_steps(p->loader); i++) {
        struct glcnn_data_batch batch;
        if (glcnn_data_loader_next(p->loader, &batch, error) != GLCNN_SUCCESS)
            return complain(p->command, EXIT_FAILED, "%s", error);
        if (!runner_run_batch(&p->runner, &batch, NULL, p->probabilities))
            return complain(p->command, EXIT_FAILED, "%s", runner_error(&p->runner));
        answer(p, &batch);
    }
    return EXIT_GOOD;
}

/* ---- The network ---- */

static int open_files(struct prediction *p, const char *model, char *const *paths, uint32_t count)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct glcnn_data_loader_parameters loader = {.part = GLCNN_DATA_PART_TEST,
                                                        .batch = BATCH};
    if (!saved_read(model, &p->saved, error) ||
        !pictures_open_files((const char *const *)paths, count, &p->saved, &p->pictures, error))
        return complain(p->command, EXIT_FAILED, "%s", error);
    pictures_tell_decisions(&p->pictures, stderr); /* standard output has the answers */
    return pictures_load(&p->pictures, &loader, &p->loader, error)
               ? EXIT_GOOD
               : complain(p->command, EXIT_FAILED, "%s", error);
}

static int load(struct prediction *p, const char *path)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct form *form = &p->saved.form;
    int status = device_open(&p->tool);
    if (status != EXIT_GOOD)
        return complain(p->command, status, "%s", p->tool.error);
    p->probabilities = calloc((size_t)form->classes * BATCH, sizeof *p->probabilities);
    if (!p->probabilities)
        return complain(p->command, EXIT_FAILED, "not enough memory");
    if (!saved_load(&p->saved, path, p->tool.device, BATCH, &p->model, &p->runner, error))
        return complain(p->command, EXIT_FAILED, "%s", error);
    if (!pictures_take(&p->pictures, &p->saved, NULL, 0, &p->runner))
        return complain(p->command, EXIT_FAILED, "%s", glcnn_device_error(p->tool.device));
    return EXIT_GOOD;
}

static void release(struct prediction *p)
{
    runner_destroy(&p->runner);
    model_destroy(&p->model);
    glcnn_device_destroy(&p->tool.device);
    glcnn_data_loader_destroy(&p->loader);
    pictures_close(&p->pictures);
    saved_free(&p->saved);
    free(p->probabilities);
    cJSON_Delete(p->json);
}

/* A picture that cannot be read does not keep the others from their answers; the status tells. */
static int predict(struct prediction *p, const char *model, char *const *paths, uint32_t count)
{
    int status = open_files(p, model, paths, count);
    if (status == EXIT_GOOD)
        status = load(p, model);
    if (status == EXIT_GOOD)
        status = classify(p);
    if (status == EXIT_GOOD && p->json) {
        cJSON *answer = p->json;
        p->json = NULL;
        status = json_print(p->command, answer);
    }
    if (status != EXIT_GOOD)
        return status;
    pictures_tell_skipped(&p->pictures, p->command);
    return glcnn_data_set_skipped(p->pictures.set) > 0 ? EXIT_FAILED : EXIT_GOOD;
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
    p.json = json ? cJSON_CreateArray() : NULL;
    int status = predict(&p, argv[optind], argv + optind + 1, (uint32_t)(argc - optind - 1));
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
