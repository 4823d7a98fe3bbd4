/* glcnn predict: the class of each picture of files, by a network that `glcnn train` wrote. */
#include "tool.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate.h"
#include "model.h"
#include "pictures.h"
#include "saved.h"
#include "support/network.h"
#include "support/option.h"

#define BATCH   32
#define TOP_MAX 65535

enum { OPTION_TOP = 256 };

static const struct tool_option options[] = {
    {OPTION_TOP, "top", "N", "a line for each of the N most probable classes: 1"},
    {'j', "json", NULL, "print JSON, with the probability of every class"},
    DEVICE_OPTIONS,
    {0}};

static const char details[] =
    "MODEL is a file of \"glcnn train\" or \"glcnn import\"; pictures are scaled to the size "
    "that it needs. FILEs are PNG, JPEG, WebP or TIFF pictures of any size, folders of "
    "pictures, or one .npy, .npz, CSV or IDX file of images of the network's size. Prints a "
    "line for each picture: its name, or its number in the file, then its class, the class's "
    "name and the probability; with --top N lines, the most probable class first. A picture "
    "whose scores are not finite has no line, and the exit status is 1.\n"
    "\n"
    "  glcnn predict model.safetensors holiday/*.jpg\n"
    "  glcnn predict --top 3 model.safetensors holiday\n"
    "  glcnn predict --json model.safetensors images.npy\n";

struct prediction {
    const struct tool_command *command;
    struct tool_device tool;
    uint32_t top; /* classes of each picture that are told */
    struct saved saved;
    struct model model;
    struct runner runner;
    struct pictures pictures;
    glcnn_data_loader *loader;
    cJSON *json;         /* the answer; NULL: lines are printed */
    uint32_t not_finite; /* pictures without an answer, for their scores are not finite */
    char first[4096];    /* the name of the first of them */
    float *values;       /* of a batch */
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

static void note_not_finite(struct prediction *p, uint32_t index)
{
    if (p->not_finite++ == 0)
        glcnn_data_set_name(p->pictures.set, GLCNN_DATA_PART_TEST, index, p->first,
                            sizeof p->first);
}

static void answer_one(struct prediction *p, uint32_t index, const float *values)
{
    char name[4096];
    const struct task *task = task_of(&p->saved.form);
    if (!scores_are_finite(values, task->values(&p->saved.form))) {
        note_not_finite(p, index);
        return;
    }
    name_picture(p, index, name, sizeof name);
    struct answer answer = {.picture = name,
                            .values = values,
                            .names = p->saved.names,
                            .form = &p->saved.form,
                            .top = p->top};
    if (p->json) {
        answer.object = cJSON_CreateObject();
        cJSON_AddStringToObject(answer.object, "image", name);
        cJSON_AddItemToArray(p->json, answer.object);
    }
    task->tell(&answer);
}

/* Places of pictures that could not be read are empty. */
static void answer(struct prediction *p, const struct glcnn_data_batch *batch)
{
    const size_t each = task_of(&p->saved.form)->values(&p->saved.form);
    for (uint32_t n = 0; n < batch->count; n++)
        if (batch->indices[n] != UINT32_MAX)
            answer_one(p, batch->indices[n], p->values + n * each);
}

static int run_network(struct prediction *p)
{
    char error[GLCNN_ERROR_LENGTH];
    for (uint64_t i = 0; i < glcnn_data_loader_steps(p->loader); i++) {
        struct glcnn_data_batch batch;
        if (glcnn_data_loader_next(p->loader, &batch, error) != GLCNN_SUCCESS)
            return complain(p->command, EXIT_FAILED, "%s", error);
        if (!runner_run_batch(&p->runner, &batch, false, p->values))
            return complain(p->command, EXIT_FAILED, "%s", runner_error(&p->runner));
        answer(p, &batch);
    }
    return EXIT_GOOD;
}

/* ---- The network ---- */

static int open_model(struct prediction *p, const char *path)
{
    char error[GLCNN_ERROR_LENGTH];
    if (!saved_read(path, &p->saved, error))
        return complain(p->command, EXIT_FAILED, "%s", error);
    if (p->top <= p->saved.form.classes || p->saved.form.classes == 0)
        return EXIT_GOOD;
    return complain(p->command, EXIT_USAGE, "--top is %u; the network has %u classes", p->top,
                    p->saved.form.classes);
}

static uint32_t count_files(char *const *files)
{
    uint32_t count = 0;
    while (files[count])
        count++;
    return count;
}

static int open_files(struct prediction *p, char *const *files)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct glcnn_data_loader_parameters loader = {.part = GLCNN_DATA_PART_TEST,
                                                        .batch = BATCH};
    bool good = pictures_open_files((const char *const *)files, count_files(files), &p->saved,
                                    &p->pictures, error);
    if (good)
        pictures_tell_decisions(&p->pictures, print_error); /* standard output has the answers */
    return good && pictures_load(&p->pictures, &loader, &p->loader, error)
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
    p->values = calloc(task_of(form)->values(form) * BATCH, sizeof *p->values);
    if (!p->values)
        return complain(p->command, EXIT_FAILED, "not enough memory");
    if (!saved_load(&p->saved, path, p->tool.device, BATCH, &p->model, &p->runner, error))
        return complain(p->command, EXIT_FAILED, "%s", error);
    if (!pictures_take(&p->pictures, &p->saved, NULL, 0, &p->runner))
        return complain(p->command, EXIT_FAILED, "%s", model_failure(p->tool.device));
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
    free(p->values);
    cJSON_Delete(p->json);
}

static int tell_not_finite(const struct prediction *p)
{
    char error[GLCNN_ERROR_LENGTH];
    if (p->not_finite == 0)
        return EXIT_GOOD;
    evaluate_tell_not_finite(p->first, p->not_finite, error);
    return complain(p->command, EXIT_FAILED, "%s", error);
}

/* A picture that cannot be read, or scored, does not keep the others from their answers; the status
 * tells. */
static int predict(struct prediction *p, const char *model, char *const *files)
{
    int status = open_model(p, model);
    if (status == EXIT_GOOD)
        status = open_files(p, files);
    if (status == EXIT_GOOD)
        status = load(p, model);
    if (status == EXIT_GOOD)
        status = run_network(p);
    if (status == EXIT_GOOD && p->json) {
        cJSON *answer = p->json;
        p->json = NULL;
        status = json_print(p->command, answer);
    }
    if (status != EXIT_GOOD)
        return status;
    pictures_tell_skipped(&p->pictures, p->command);
    status = tell_not_finite(p);
    return glcnn_data_set_skipped(p->pictures.set) > 0 ? EXIT_FAILED : status;
}

/* ---- The command ---- */

static bool read_option(struct prediction *p, int letter, bool *json)
{
    uint64_t top;
    if (letter == 'j')
        return *json = true;
    if (letter != OPTION_TOP)
        return read_device_option(&p->tool, letter);
    if (option_whole(optarg, 1, TOP_MAX, &top)) {
        p->top = (uint32_t)top;
        return true;
    }
    complain(p->command, EXIT_USAGE, "--top is \"%s\"; it must be a whole number in 1 .. %d",
             optarg, TOP_MAX);
    return false;
}

static int run(const struct tool_command *command, int argc, char *argv[])
{
    struct prediction p = {.command = command, .top = 1};
    bool json = false;
    for (int letter; (letter = next_option(command, argc, argv)) != OPTIONS_DONE;) {
        if (letter == 'h') {
            print_help(command);
            return EXIT_GOOD;
        }
        if (!read_option(&p, letter, &json))
            return EXIT_USAGE;
    }
    if (argc - optind < 2)
        return complain(command, EXIT_USAGE, "%s",
                        argc == optind ? "no model given" : "no pictures given");
    p.json = json ? cJSON_CreateArray() : NULL;
    int status = predict(&p, argv[optind], argv + optind + 1); /* ends with NULL, as argv does */
    release(&p);
    return status;
}

const struct tool_command command_predict = {.name = "predict",
                                             .arguments = "MODEL FILE... [OPTION]...",
                                             .text = "classify pictures with a trained network",
                                             .details = details,
                                             .options = options,
                                             .run = run};
