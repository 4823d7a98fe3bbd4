/* glcnn look: what data is before anything is trained on it. */
#include "tool.h"

#include <getopt.h>
#include <glcnn/report.h>
#include <stdio.h>
#include <string.h>

#include "report/report.h"
#include "train/claim.h"

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
    const char *data, *task; /* task NULL: what the data suggest */
    bool json, force;
    const char *report; /* a folder; NULL: none is written */
    char page[4096];    /* in it */
    struct claims claims;
};

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

static int look_at(const struct looker *l)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct glcnn_look *look;
    if (glcnn_look_at(l->data, l->task, l->report ? l->page : NULL, &look, error) != GLCNN_SUCCESS)
        return complain(l->command, EXIT_FAILED, "%s", error);
    if (l->json)
        output_text(look->json);
    else
        output_lines(look->text);
    output_text(l->json ? "\n" : "");
    glcnn_look_destroy(&look);
    return EXIT_GOOD;
}

static int read_task(struct looker *l)
{
    const char *names[8];
    size_t count = 0;
    l->task = NULL;
    for (; count < 8 && glcnn_task_at(count); count++) {
        names[count] = glcnn_task_at(count)->name;
        if (strcmp(names[count], optarg) == 0)
            l->task = optarg;
    }
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
    int status = claim_files(&l);
    if (status == EXIT_GOOD)
        status = look_at(&l);
    claims_release(&l.claims);
    return status;
}

const struct tool_command command_look = {.name = "look",
                                          .arguments = "DATA [OPTION]...",
                                          .text = "what data is before it is trained on",
                                          .details = details,
                                          .options = options,
                                          .run = run};
