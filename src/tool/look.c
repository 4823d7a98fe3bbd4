/* glcnn look: what data is before anything is trained on it. */
#include "tool.h"

#include <getopt.h>
#include <glcnn/report.h>
#include <stdio.h>
#include <string.h>

#include "report/report.h"
#include "train/claim.h"

enum { OPTION_TASK = 256 };

struct looker {
    const struct tool_command *command;
    const char *data, *task; /* task NULL: what the data suggest */
    bool json;
    const char *report; /* a folder; NULL: none is written */
    char page[4096];    /* in it */
    struct claims claims;
};

static const struct option_row options[] = {
    {OPTION_TASK, "task", "NAME",
     "classify, regress, segment, detect or keypoints (default: what the data suggest)"},
    {0, "report", WRITES "DIR", "write a page with pictures, DIR/index.html",
     NAME_AT(struct looker, report)},
    {0, "force", NULL, "overwrite existing files", FLAG_AT(struct looker, claims.force)},
    {'j', "json", NULL, "print JSON, with all that was left out", FLAG_AT(struct looker, json)},
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

static int claim_files(struct looker *l)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct claim_output page = {
        .option = "--report", .path = l->report ? l->page : NULL, .mark = &claim_page};
    snprintf(l->page, sizeof l->page, REPORT_PAGE, l->report ? l->report : "");
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

static int read_task(void *values, int letter)
{
    struct looker *l = values;
    const char *names[8];
    size_t count = 0;
    (void)letter;
    l->task = NULL;
    for (; count < 8 && glcnn_task_at(count); count++) {
        names[count] = glcnn_task_at(count)->name;
        if (strcmp(names[count], optarg) == 0)
            l->task = optarg;
    }
    return l->task ? EXIT_GOOD : complain_of_name(l->command, "task", optarg, names, count);
}

static int run(const struct tool_command *command, int argc, char *argv[])
{
    struct looker l = {.command = command};
    int status;
    if (!read_options(command, argc, argv, &l, NULL, read_task, &status))
        return status;
    if (argc - optind != 1)
        return complain(command, EXIT_USAGE, "%s",
                        argc == optind ? "no data given" : "expected one folder or file of data");
    l.data = argv[optind];
    status = claim_files(&l);
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
