/* glcnn predict: what a network that `glcnn train` wrote answers to each picture of files. */
#include "tool.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glcnn/task.h>

#include "base/option.h"
#include "task/evaluate.h"
#include "task/png_file.h"
#include "train/claim.h"

#define TOP_MAX 65535

enum { OPTION_CONFIDENCE = 256, OPTION_OVERLAP, OPTION_MOST, OPTION_ACROSS_CLASSES };

struct prediction {
    const struct tool_command *command;
    struct tool_device tool;
    struct glcnn_model_options options;
    struct claims claims;
    uint32_t width, height; /* of images; 0: the network's */
    struct glcnn_detection_limits limits;
    uint32_t limited;         /* a bit for each TASK_LIMITS that an option needs */
    const char *draw, *masks; /* folders that pictures and masks go to; NULL: none */
    glcnn_model *model;
    glcnn_predictions *all;
    bool prints_json;
    cJSON *json;         /* the answer; NULL: lines are printed */
    uint32_t not_finite; /* pictures without an answer, for their scores are not finite */
    char first[4096];    /* the name of the first of them */
};

static const struct option_row options[] = {
    {0, "top", "N", "a line for each of the N most probable classes (default 1)",
     WHOLE_AT(struct prediction, options.top, 1, TOP_MAX)},
    {0, "flip", NULL, "mean of the probabilities of a picture and its mirror image",
     FLAG_AT(struct prediction, options.flip)},
    {OPTION_CONFIDENCE, "confidence", "P",
     "detect: print and draw boxes of a probability of P and more; keypoints: draw those (default 0.3)"},
    {OPTION_OVERLAP, "overlap", "SHARE",
     "detect: of two boxes of a class that share more than SHARE of their union only the likelier "
     "(default 0.6)"},
    {OPTION_ACROSS_CLASSES, "across-classes", NULL,
     "detect: and of two boxes of different classes, so that an object has one box"},
    {OPTION_MOST, "most", "N", "detect: the N likeliest boxes of a picture (default 300)"},
    {0, "size", "N|WxH", "bring pictures to another size than the network was made for",
     EXTENT_AT(struct prediction, width, GLCNN_DATA_MAX_SIDE)},
    {0, "draw", WRITES "DIR", "write each picture there as PNG, with what is found in it",
     NAME_AT(struct prediction, draw)},
    {0, "masks", WRITES "DIR",
     "segment: write the class of each pixel there, as grey PNG of the picture's size",
     NAME_AT(struct prediction, masks)},
    {0, "force", NULL, "overwrite existing files", FLAG_AT(struct prediction, claims.force)},
    {'j', "json", NULL, "print JSON, with the probability of every class",
     FLAG_AT(struct prediction, prints_json)},
    DEVICE_OPTIONS,
    {0}};

static const char details[] =
    "MODEL is a file of \"glcnn train\" or \"glcnn import\"; pictures are brought to the size "
    "that it needs as it was trained (\"glcnn train --fit\"), and answers are in their own pixels. FILEs are PNG, JPEG, WebP or TIFF pictures of any size, folders of "
    "pictures, or one .npy, .npz, CSV or IDX file of images of the network's size. Prints a "
    "line for each picture: its name, or its number in the file, then its class, the class's "
    "name and the probability; with --top N lines, the most probable class first. Of regression a "
    "line for each number, of segmentation one for each class and its share of the pixels, of "
    "detection one for each box: class, name, probability, left, top, right and bottom, of keypoints "
    "one for each: name, x, y and confidence; --draw marks those of --confidence or more. A "
    "picture whose scores are not finite has no line, and the exit status is 1.\n"
    "\n"
    "  glcnn predict model.safetensors holiday/*.jpg\n"
    "  glcnn predict --top 3 model.safetensors holiday\n"
    "  glcnn predict --json model.safetensors images.npy\n";

/* ---- Answers ---- */

static const glcnn_dataset *data_of(const struct prediction *p)
{
    return glcnn_predictions_data(p->all);
}

static void note_not_finite(struct prediction *p, uint32_t index)
{
    if (p->not_finite++ == 0)
        glcnn_dataset_name(data_of(p), GLCNN_DATA_PART_TEST, index, p->first, sizeof p->first);
}

/* NAME.png for DIR, with _ for each / of the picture's name. */
static void name_png(const char *picture, char name[4096])
{
    while (*picture == '/' || *picture == '.')
        picture++;
    const char *slash = strrchr(picture, '/'), *dot = strrchr(slash ? slash : picture, '.');
    const size_t stem = dot ? (size_t)(dot - picture) : strlen(picture);
    snprintf(name, 4096, "%.*s.png", (int)stem, picture);
    for (; *name; name++)
        *name = *name == '/' ? '_' : *name;
}

static void place_png(const char *folder, const char *picture, char path[8192])
{
    char name[4096];
    name_png(picture, name);
    snprintf(path, 8192, "%s/%s", folder, name);
}

static bool write_png(const struct glcnn_prediction *q, const char *folder, const uint8_t *pixels,
                      uint32_t channels, char error[GLCNN_ERROR_LENGTH])
{
    char path[8192];
    place_png(folder, q->name, path);
    return png_file_write(path, pixels, q->width, q->height, channels, error);
}

/* One lock is for all files of a folder. */
static void claim_picture(struct prediction *p, const char *option, const char *folder,
                          const char *picture)
{
    char path[8192];
    if (!folder)
        return;
    place_png(folder, picture, path);
    claims_write(&p->claims,
                 &(struct claim_output){.option = option, .path = path, .has_lock = true});
}

/* No file of --draw and --masks takes the place of another, or of a picture. */
static int claim_files(struct prediction *p, const char *model, char *const *files)
{
    char picture[4096], error[GLCNN_ERROR_LENGTH];
    struct claims *c = &p->claims;
    const struct glcnn_data_info *info = glcnn_dataset_info(data_of(p));
    const bool are_files = strcmp(info->format, "pictures") == 0;
    claims_read(c, model);
    for (; *files; files++)
        claims_read(c, *files);
    claims_folder(c, "--draw", p->draw, "pictures");
    claims_folder(c, "--masks", p->masks, "pictures");
    for (uint32_t i = 0; i < info->counts[GLCNN_DATA_PART_TEST]; i++) {
        pictures_name(data_of(p), GLCNN_DATA_PART_TEST, i, picture, sizeof picture);
        claims_read(c, are_files ? picture : NULL);
        claim_picture(p, "--draw", p->draw, picture);
        claim_picture(p, "--masks", p->masks, picture);
    }
    return claims_take(c, error) ? EXIT_GOOD : complain(p->command, EXIT_FAILED, "%s", error);
}

/* Pictures have their own size. */
static bool write_drawing(const struct prediction *p, const struct glcnn_prediction *q,
                          char error[GLCNN_ERROR_LENGTH])
{
    uint8_t *pixels = malloc((size_t)q->width * q->height * 3);
    snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
    const bool good = pixels && glcnn_predictions_draw(p->all, pixels, error) == GLCNN_SUCCESS &&
                      write_png(q, p->draw, pixels, 3, error);
    free(pixels);
    return good;
}

static bool write_mask(const struct prediction *p, const struct glcnn_prediction *q,
                       char error[GLCNN_ERROR_LENGTH])
{
    const uint8_t *mask = glcnn_predictions_mask(p->all);
    snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
    return mask && write_png(q, p->masks, mask, 1, error);
}

static bool tell(const struct prediction *p, char error[GLCNN_ERROR_LENGTH])
{
    const char *text = p->json ? glcnn_predictions_json(p->all) : glcnn_predictions_text(p->all);
    snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
    if (text && !p->json)
        output_lines(text);
    return text && (!p->json || cJSON_AddItemToArray(p->json, cJSON_Parse(text)));
}

static bool answer(struct prediction *p, const struct glcnn_prediction *q,
                   char error[GLCNN_ERROR_LENGTH])
{
    if (!q->is_finite) {
        note_not_finite(p, q->index);
        return true;
    }
    return tell(p, error) && (!p->draw || write_drawing(p, q, error)) &&
           (!p->masks || write_mask(p, q, error));
}

static int run_network(struct prediction *p)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct glcnn_prediction *q;
    while (glcnn_predictions_next(p->all, &q, error) == GLCNN_SUCCESS) {
        if (!q)
            return EXIT_GOOD;
        if (!answer(p, q, error))
            break;
    }
    return complain(p->command, EXIT_FAILED, "%s", error);
}

/* ---- The network ---- */

/* The options must be for what the network's task answers. */
static int check_options(const struct prediction *p, const char *path)
{
    const struct glcnn_model_description *info = glcnn_model_info(p->model);
    const struct task *task = task_find(info->task->name);
    const char *useless = p->draw && !task->show                  ? "draw"
                          : p->masks && !task->mask               ? "masks"
                          : p->limited >> (task->limits + 1) == 0 ? NULL
                          : p->limited >> TASK_LIMITS_BOXES ? "overlap, --most and --across-classes"
                                                            : "confidence";
    if (!useless && p->options.top > 1 && !task->count_right)
        useless = "top";
    if (useless)
        return complain(p->command, EXIT_USAGE,
                        "%s: the task of the network is %s, which has nothing for --%s", path,
                        task->name, useless);
    if (p->options.top <= info->class_count || info->class_count == 0)
        return EXIT_GOOD;
    return complain(p->command, EXIT_USAGE, "--top is %u; the network has %u classes",
                    p->options.top, info->class_count);
}

static int load(struct prediction *p, const char *path)
{
    char error[GLCNN_ERROR_LENGTH];
    const int status = device_open(&p->tool);
    if (status != EXIT_GOOD)
        return complain(p->command, status, "%s", p->tool.error);
    const glcnn_status loaded =
        glcnn_model_load_sized(p->tool.device, path, p->width, p->height, &p->model, error);
    return loaded == GLCNN_SUCCESS ? check_options(p, path)
                                   : complain(p->command, EXIT_FAILED, "%s", error);
}

static uint32_t count_files(char *const *files)
{
    uint32_t count = 0;
    while (files[count])
        count++;
    return count;
}

/* Standard output has the answers: what opening decided goes to standard error. */
static int open_files(struct prediction *p, char *const *files)
{
    char error[GLCNN_ERROR_LENGTH];
    p->options.limits = p->limited ? &p->limits : NULL;
    if (glcnn_model_predict(p->model, (const char *const *)files, count_files(files), &p->options,
                            &p->all, error) != GLCNN_SUCCESS)
        return complain(p->command, EXIT_FAILED, "%s", error);
    print_error_lines(glcnn_predictions_notes(p->all));
    print_remarks(p->command, glcnn_predictions_remarks(p->all));
    return EXIT_GOOD;
}

static void release(struct prediction *p)
{
    glcnn_predictions_destroy(&p->all);
    glcnn_model_destroy(&p->model);
    glcnn_device_destroy(&p->tool.device);
    claims_release(&p->claims);
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
    int status = load(p, model);
    if (status == EXIT_GOOD)
        status = open_files(p, files);
    if (status == EXIT_GOOD && (p->draw || p->masks))
        status = claim_files(p, model, files);
    if (status == EXIT_GOOD)
        status = run_network(p);
    if (status == EXIT_GOOD && p->json) {
        cJSON *answer = p->json;
        p->json = NULL;
        status = json_print(p->command, answer);
    }
    if (status != EXIT_GOOD)
        return status;
    print_remarks(p->command, glcnn_predictions_remarks(p->all));
    status = tell_not_finite(p);
    return glcnn_dataset_skipped(data_of(p)) > 0 ? EXIT_FAILED : status;
}

/* ---- The command ---- */

/* A share, of --confidence and --overlap. */
static int read_share(const struct prediction *p, const char *name, float *share)
{
    double value;
    if (!option_real(optarg, 0, 1, &value))
        return complain(p->command, EXIT_USAGE, "--%s is \"%s\"; it must be a number in 0 .. 1",
                        name, optarg);
    *share = (float)value;
    return EXIT_GOOD;
}

static int read_limit(void *values, int letter)
{
    uint64_t most;
    struct prediction *p = values;
    p->limited |= 1u << (letter == OPTION_CONFIDENCE ? TASK_LIMITS_CONFIDENCE : TASK_LIMITS_BOXES);
    if (letter == OPTION_CONFIDENCE)
        return read_share(p, "confidence", &p->limits.score);
    if (letter == OPTION_OVERLAP)
        return read_share(p, "overlap", &p->limits.overlap);
    if (letter == OPTION_ACROSS_CLASSES) {
        p->limits.across_classes = true;
        return EXIT_GOOD;
    }
    if (!option_whole(optarg, 1, DETECTION_MOST, &most))
        return complain(p->command, EXIT_USAGE,
                        "--most is \"%s\"; it must be a whole number in 1 .. %d", optarg,
                        DETECTION_MOST);
    p->limits.most = (uint32_t)most;
    return EXIT_GOOD;
}

static int run(const struct tool_command *command, int argc, char *argv[])
{
    struct prediction p = {.command = command, .limits = DETECTION_SHOWN};
    int status;
    if (!read_options(command, argc, argv, &p, &p.tool, read_limit, &status))
        return status;
    if (argc - optind < 2)
        return complain(command, EXIT_USAGE, "%s",
                        argc == optind ? "no model given" : "no pictures given");
    p.json = p.prints_json ? cJSON_CreateArray() : NULL;
    status = predict(&p, argv[optind], argv + optind + 1); /* ends with NULL, as argv does */
    release(&p);
    return status;
}

const struct tool_command command_predict = {.name = "predict",
                                             .arguments = "MODEL FILE... [OPTION]...",
                                             .text = "what a trained network answers to pictures",
                                             .details = details,
                                             .options = options,
                                             .run = run};
