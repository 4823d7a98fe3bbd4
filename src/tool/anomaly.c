/* glcnn anomaly: learns what normal pictures look like, and finds others. */
#include "anomaly.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/option.h"

#define BANK_MAX 65535

enum { OPTION_OUTPUT = 256, OPTION_HELD_OUT, OPTION_QUANTILE };

static const struct option_row options[] = {
    {0, "model", READS "FILE", "fit: the backbone, of \"glcnn train\" or \"import\"",
     NAME_AT(struct anomaly, model)},
    {'o', "out", WRITES "FILE", "fit: the file to write, .glcnn or .safetensors",
     NAME_AT(struct anomaly, out)},
    {OPTION_OUTPUT, "output", "LAYER",
     "fit: cut the backbone behind this layer; up to twice (default: the deepest with an 8th and "
     "with a 16th of the picture's width)"},
    {0, "bank", "N", "fit: patches to keep (default: a tenth of them, at most 2000)",
     WHOLE_AT(struct anomaly, parameters.bank, 1, BANK_MAX)},
    {OPTION_HELD_OUT, "held-out", "SHARE",
     "fit: share of the pictures that set the threshold (default 0.25)"},
    {OPTION_QUANTILE, "quantile", "Q",
     "fit: quantile of their scores that is the threshold (default 0.95)"},
    {0, "seed", "N", "fit: seed of what is drawn (default 1)",
     LONG_AT(struct anomaly, parameters.seed)},
    {0, "maps", WRITES "DIR", "score: write a heat map of each picture there",
     NAME_AT(struct anomaly, maps)},
    {'j', "json", NULL, "print JSON", FLAG_AT(struct anomaly, json)},
    {0, "force", NULL, "overwrite existing files", FLAG_AT(struct anomaly, claims.force)},
    DEVICE_OPTIONS,
    {0}};

static const char details[] =
    "\"fit\" learns from normal pictures alone, \"score\" tells how unusual others are: scratches, "
    "wrong parts, anything that the normal pictures do not have. This is PatchCore (Roth et al. "
    "2022). A trained network, the backbone, makes features of a picture at one or two of its "
    "layers; a patch is their mean over 3x3 pixels, at each pixel of the larger layer. A bank keeps "
    "those patches of normal pictures that are farthest from each other. The score of a picture is "
    "the distance of its most unusual patch from the nearest in the bank, a little less where the "
    "bank has many like that one.\n"
    "\n"
    "DIR of \"fit\" is a folder of normal pictures, or one that has them in train/good, or "
    "an object of VisA, of which split_csv/1cls.csv says what is learned from and what is scored; --model and "
    "--out must be given. Some of the pictures are held out of the bank; their scores set the "
    "threshold above which a picture is anomalous. The file has all that \"score\" needs, the "
    "backbone too. The same pictures, seed and device make the same file.\n"
    "\n"
    "MODEL of \"score\" is that file; of a DIR that has a folder test, or several below it, these "
    "alone are scored. Prints a line for each picture: its name, its score, and anomalous or normal. "
    "Where pictures lie in a folder good (or ok, normal) and others beside it, as in test/good and "
    "test/scratch, these are labels, and the "
    "area under the ROC curve (AUROC) is printed: 1 where all anomalous pictures score higher than "
    "all normal ones, 0.5 by chance. A heat map is the picture in grey, coloured where its patches "
    "are farther from the bank than the threshold: red, yellow at twice of it, white at three "
    "times.\n"
    "\n"
    "  glcnn import net.onnx -o net.glcnn --mean 0.485,0.456,0.406 \\\n"
    "      --deviation 0.229,0.224,0.225\n"
    "  glcnn anomaly fit bottle --model net.glcnn -o bottle.glcnn\n"
    "  glcnn anomaly score bottle.glcnn bottle --maps maps\n";

/* ---- What both parts do ---- */

int anomaly_fail(const struct anomaly *a, const char *error)
{
    return complain(a->command, EXIT_FAILED, "%s", error);
}

int anomaly_open_device(struct anomaly *a)
{
    int status = device_open(&a->tool);
    return status == EXIT_GOOD ? status : complain(a->command, status, "%s", a->tool.error);
}

/* ---- The command line ---- */

static int read_output(struct anomaly *a)
{
    if (a->layer_count == GLCNN_ANOMALY_LAYERS)
        return complain(a->command, EXIT_USAGE, "--output is given more than %d times",
                        GLCNN_ANOMALY_LAYERS);
    a->parameters.layers[a->layer_count++] = optarg;
    return EXIT_GOOD;
}

static int read_share(const struct anomaly *a, const char *name, double *share)
{
    if (option_real(optarg, 0, 1, share) && *share > 0 && *share < 1)
        return EXIT_GOOD;
    return complain(a->command, EXIT_USAGE, "--%s is \"%s\"; it must be above 0 and below 1", name,
                    optarg);
}

static int read_option(void *values, int letter)
{
    struct anomaly *a = values;
    if (letter == OPTION_OUTPUT)
        return read_output(a);
    return letter == OPTION_HELD_OUT ? read_share(a, "held-out", &a->parameters.held_out)
                                     : read_share(a, "quantile", &a->parameters.quantile);
}

static int run_fit(struct anomaly *a, int argc, char *argv[])
{
    if (optind == argc)
        return complain(a->command, EXIT_USAGE, "no folder of normal pictures given");
    const char *folder = argv[optind++];
    if (!a->model)
        return complain(a->command, EXIT_USAGE,
                        "--model is missing: the backbone, a file of \"glcnn train\" or \"glcnn "
                        "import\"");
    if (!a->out)
        return complain(a->command, EXIT_USAGE, "--out is missing: the file to write");
    if (a->maps)
        return complain(a->command, EXIT_USAGE, "--maps is an option of \"score\"");
    int status = expect_no_arguments(a->command, argc, argv);
    return status == EXIT_GOOD ? anomaly_fit(a, folder) : status;
}

static int run_score(struct anomaly *a, int argc, char *argv[])
{
    if (argc - optind < 2)
        return complain(a->command, EXIT_USAGE, "%s",
                        argc == optind ? "no file of \"fit\" given" : "no pictures given");
    if (a->model || a->out || a->layer_count)
        return complain(a->command, EXIT_USAGE,
                        "--model, --out and --output are options of \"fit\"");
    return anomaly_score(a, argv[optind], argv + optind + 1); /* ends with NULL, as argv does */
}

static int run_part(struct anomaly *a, int argc, char *argv[])
{
    static const char *const names[] = {"fit", "score"};
    const char *part = optind < argc ? argv[optind++] : NULL;
    if (!part)
        return complain(a->command, EXIT_USAGE, "expected \"fit\" or \"score\"");
    if (strcmp(part, names[0]) == 0)
        return run_fit(a, argc, argv);
    if (strcmp(part, names[1]) == 0)
        return run_score(a, argc, argv);
    return complain_of_name(a->command, "part", part, names, 2);
}

static void release(struct anomaly *a)
{
    glcnn_anomaly_destroy(&a->bank);
    glcnn_device_destroy(&a->tool.device);
    claims_release(&a->claims);
}

static int run(const struct tool_command *command, int argc, char *argv[])
{
    struct anomaly a = {.command = command, .parameters = {.seed = 1}};
    int status;
    if (!read_options(command, argc, argv, &a, &a.tool, read_option, &status))
        return status;
    status = run_part(&a, argc, argv);
    release(&a);
    return status;
}

const struct tool_command command_anomaly = {.name = "anomaly",
                                             .arguments =
                                                 "fit DIR | score MODEL PICTURE|DIR... [OPTION]...",
                                             .text = "find pictures that differ from normal ones",
                                             .details = details,
                                             .options = options,
                                             .run = run};
