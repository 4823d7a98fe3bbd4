/* glcnn look: what data is before anything is trained on it. */
#include "tool.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/look_page.h"
#include "report/report.h"
#include "task/pictures.h"
#include "train/claim.h"

#define SHOWN_MAX 40 /* classes that are printed */

enum { OPTION_TASK = 256, OPTION_REPORT, OPTION_FORCE };

static const struct option_row options[] = {
    {OPTION_TASK, "task", "NAME",
     "classify, regress, segment, detect or keypoints (default: what the data suggest)"},
    {OPTION_REPORT, "report", WRITES "DIR", "write a page with pictures, DIR/index.html"},
    {OPTION_FORCE, "force", NULL, "overwrite existing files"},
    {'j', "json", NULL, "print JSON, with all that was left out"},
    {0}};

static const char details[] =
    "DATA is what --data of \"glcnn train\" takes. Prints how it was understood, the images of each "
    "part, the classes with the images and the boxes, pixels or labels that they have, sizes, and what "
    "is suspicious: images that two parts have, boxes of a pixel or of the whole picture, masks "
    "of one class, coordinates outside of their picture, classes with few images, names of classes "
    "that are nearly equal, images without labels. Then what was left out, with the reasons. "
    "--report draws pictures with their boxes, masks and points into a page for a browser; where the data "
    "is refused the page says why.\n"
    "\n"
    "  glcnn look --report seen parking\n";

struct looker {
    const struct tool_command *command;
    const char *data;
    const struct task *task; /* NULL: what the data suggest */
    bool json, force;
    const char *report; /* a folder; NULL: none is written */
    char page[4096];    /* in it */
    struct claims claims;
    struct pictures pictures;
    struct glcnn_data_look *look;
};

/* ---- Text ---- */

static void print_range(const char *what, const struct glcnn_data_range *r)
{
    if (r->most > 0)
        output("%s %.4g to %.4g pixels, the median %.4g\n", what, r->least, r->most, r->median);
}

static void print_classes(const struct looker *l)
{
    const struct glcnn_data_look *look = l->look;
    output("\n%-24s %9s %10s %9s %12s\n", "", glcnn_data_part_name(GLCNN_DATA_PART_TRAINING),
           glcnn_data_part_name(GLCNN_DATA_PART_VALIDATION),
           glcnn_data_part_name(GLCNN_DATA_PART_TEST), look_page_objects(l->task));
    for (uint32_t k = 0; k < look->class_count && k < SHOWN_MAX; k++) {
        const struct glcnn_data_class_look *c = &look->classes[k];
        output("%-24.24s %9u %10u %9u %12" PRIu64 "\n", c->name, c->images[0], c->images[1],
               c->images[2], c->objects[0] + c->objects[1] + c->objects[2]);
    }
    if (look->class_count > SHOWN_MAX)
        output("and %u more; --json has all\n", look->class_count - SHOWN_MAX);
    output("\n");
}

static int print_text(struct looker *l)
{
    struct text text = {0};
    const struct glcnn_data_info *info = l->pictures.info;
    output("%s: for the task %s (%s), read as %s\n", l->data, l->task->name, l->task->text,
           info->format);
    pictures_describe_decisions(&l->pictures, &text);
    if (!output_shown(&text))
        return complain(l->command, EXIT_FAILED, "not enough memory");
    output("images: %u for training, %u for validation%s, %u for test; %u %s\n", info->counts[0],
           info->counts[1], info->is_split ? " (set aside of the training part)" : "",
           info->counts[2], info->class_count, l->task->classes);
    print_classes(l);
    print_range("pictures are wide", &l->look->widths);
    print_range("pictures are high", &l->look->heights);
    print_range("boxes are across", &l->look->sides);
    for (uint32_t i = 0; i < l->look->suspicion_count; i++)
        output("suspicious: %s\n", l->look->suspicions[i].text);
    if (l->look->suspicion_count == 0)
        output("nothing suspicious was found\n");
    pictures_describe_skipped(&l->pictures, &text);
    return output_shown(&text) ? EXIT_GOOD : complain(l->command, EXIT_FAILED, "not enough memory");
}

/* ---- JSON ---- */

static void add_parts(cJSON *object, const char *name, const uint32_t counts[GLCNN_DATA_PARTS])
{
    cJSON *parts = cJSON_AddObjectToObject(object, name);
    for (int p = 0; p < GLCNN_DATA_PARTS; p++)
        cJSON_AddNumberToObject(parts, glcnn_data_part_name((glcnn_data_part)p), counts[p]);
}

static void add_class(cJSON *classes, const struct glcnn_data_class_look *c)
{
    cJSON *entry = cJSON_CreateObject(), *objects;
    cJSON_AddStringToObject(entry, "name", c->name);
    add_parts(entry, "images", c->images);
    objects = cJSON_AddObjectToObject(entry, "objects");
    for (int p = 0; p < GLCNN_DATA_PARTS; p++)
        cJSON_AddNumberToObject(objects, glcnn_data_part_name((glcnn_data_part)p),
                                (double)c->objects[p]);
    cJSON_AddItemToArray(classes, entry);
}

static void add_range(cJSON *object, const char *name, const struct glcnn_data_range *r)
{
    cJSON *range = cJSON_AddObjectToObject(object, name);
    cJSON_AddNumberToObject(range, "least", r->least);
    cJSON_AddNumberToObject(range, "median", r->median);
    cJSON_AddNumberToObject(range, "most", r->most);
}

static void add_messages(const struct looker *l, cJSON *object, const char *name,
                         const char *(*message)(const glcnn_dataset *, uint32_t))
{
    const char *text;
    cJSON *messages = cJSON_AddArrayToObject(object, name);
    for (uint32_t i = 0; (text = message(l->pictures.set, i)) != NULL; i++)
        cJSON_AddItemToArray(messages, cJSON_CreateString(text));
}

static void add_suspicions(const struct looker *l, cJSON *object)
{
    cJSON *suspicions = cJSON_AddArrayToObject(object, "suspicious");
    for (uint32_t i = 0; i < l->look->suspicion_count; i++) {
        const struct glcnn_data_suspicion *s = &l->look->suspicions[i];
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddStringToObject(entry, "text", s->text);
        cJSON_AddNumberToObject(entry, "count", s->count);
        cJSON_AddItemToArray(suspicions, entry);
    }
}

static cJSON *describe(const struct looker *l)
{
    const struct glcnn_data_info *info = l->pictures.info;
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "data", l->data);
    cJSON_AddStringToObject(object, "task", l->task->name);
    cJSON_AddStringToObject(object, "format", info->format);
    add_parts(object, "images", info->counts);
    cJSON_AddBoolToObject(object, "validation_is_set_aside", info->is_split);
    cJSON *classes = cJSON_AddArrayToObject(object, "classes");
    for (uint32_t k = 0; k < l->look->class_count; k++)
        add_class(classes, &l->look->classes[k]);
    add_parts(object, "unlabelled", l->look->unlabelled);
    add_range(object, "widths", &l->look->widths);
    add_range(object, "heights", &l->look->heights);
    add_range(object, "sides", &l->look->sides);
    add_suspicions(l, object);
    add_messages(l, object, "decisions", glcnn_dataset_decision);
    add_messages(l, object, "left_out", glcnn_dataset_note);
    return object;
}

/* ---- The command ---- */

static int claim_files(struct looker *l)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct claim_output page = {
        .option = "--report", .path = l->report ? l->page : NULL, .mark = &claim_page};
    snprintf(l->page, sizeof l->page, REPORT_PAGE, l->report ? l->report : "");
    l->claims.force = l->force;
    claims_read(&l->claims, l->data);
    claims_folder(&l->claims, "--report", l->report, NULL);
    claims_write(&l->claims, &page);
    return claims_take(&l->claims, error) ? EXIT_GOOD
                                          : complain(l->command, EXIT_FAILED, "%s", error);
}

static int write_page(const struct looker *l, const char *refused)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct look_page page = {.data = l->data,
                                   .refused = refused,
                                   .task = l->task,
                                   .pictures = refused ? NULL : &l->pictures,
                                   .look = l->look};
    return !l->report || look_page_write(&page, l->page, error)
               ? EXIT_GOOD
               : complain(l->command, EXIT_FAILED, "%s", error);
}

static int look_at(struct looker *l)
{
    char error[GLCNN_ERROR_LENGTH];
    int status = claim_files(l);
    if (status != EXIT_GOOD)
        return status;
    l->task = l->task ? l->task : pictures_task(l->data);
    const struct pictures_options what = {.path = l->data, .task = l->task, .validation = -1};
    if (!pictures_open(&what, &l->pictures, error) ||
        glcnn_dataset_look(l->pictures.set, &l->look, error) != GLCNN_SUCCESS) {
        write_page(l, error);
        return complain(l->command, EXIT_FAILED, "%s", error);
    }
    status = write_page(l, NULL);
    if (status != EXIT_GOOD)
        return status;
    return l->json ? json_print(l->command, describe(l)) : print_text(l);
}

static int read_task(struct looker *l)
{
    const char *names[8];
    size_t count = 0;
    l->task = task_find(optarg);
    for (; count < 8 && task_at(count); count++)
        names[count] = task_at(count)->name;
    return l->task ? EXIT_GOOD : complain_of_name(l->command, "task", optarg, names, count);
}

static int read_option(struct looker *l, int letter)
{
    switch (letter) {
    case OPTION_TASK:
        return read_task(l);
    case OPTION_REPORT:
        l->report = optarg;
        return EXIT_GOOD;
    case OPTION_FORCE:
        l->force = true;
        return EXIT_GOOD;
    case 'j':
        l->json = true;
        return EXIT_GOOD;
    default:
        return EXIT_USAGE;
    }
}

static int run(const struct tool_command *command, int argc, char *argv[])
{
    struct looker l = {.command = command};
    for (int letter; (letter = next_option(command, argc, argv)) != OPTIONS_DONE;) {
        if (letter == 'h') {
            print_help(command);
            return EXIT_GOOD;
        }
        if (read_option(&l, letter) != EXIT_GOOD)
            return EXIT_USAGE;
    }
    if (argc - optind != 1)
        return complain(command, EXIT_USAGE, "%s",
                        argc == optind ? "no data given" : "expected one folder or file of data");
    l.data = argv[optind];
    int status = look_at(&l);
    glcnn_data_look_destroy(&l.look);
    pictures_close(&l.pictures);
    claims_release(&l.claims);
    return status;
}

const struct tool_command command_look = {.name = "look",
                                          .arguments = "DATA [OPTION]...",
                                          .text = "what data is before it is trained on",
                                          .details = details,
                                          .options = options,
                                          .run = run};
