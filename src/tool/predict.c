/* glcnn predict: the class of each image of a file, by a network that `glcnn train` wrote. */
#include "tool.h"

#include <glcnn/checkpoint.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "support/fashion.h"
#include "support/network.h"

#define BATCH_MAX 100

static const struct tool_option options[] = {DEVICE_OPTIONS, {0}};

static const char details[] =
    "MODEL is a file of \"glcnn train --out\". INPUT has images of 28x28 pixels: a .npy file of\n"
    "shape [28,28], [N,28,28] or [N,1,28,28], with values in 0 .. 1, or in 0 .. 255 if any is\n"
    "above 1, or an IDX file. A line for each image: its number, class, the class's name in\n"
    "Fashion-MNIST, and probability.\n"
    "\n"
    "  glcnn predict model.safetensors t10k-images-idx3-ubyte.gz\n";

/* ---- Images ---- */

struct pictures {
    uint32_t count;
    float *values; /* [count][28][28] in 0 .. 1 */
};

static bool is_npy(const char *path)
{
    char magic[6] = "";
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    size_t got = fread(magic, 1, sizeof magic, file);
    fclose(file);
    return got == sizeof magic && memcmp(magic, "\x93NUMPY", sizeof magic) == 0;
}

/* Whether the extents are [28,28], [N,28,28] or [N,1,28,28]; *count is N. */
static bool has_images(uint32_t rank, const uint32_t *shape, uint32_t *count)
{
    *count = rank > 2 ? shape[0] : 1;
    return rank >= 2 && rank <= 4 && (rank < 4 || shape[1] == 1) &&
           shape[rank - 2] == FASHION_SIDE && shape[rank - 1] == FASHION_SIDE;
}

static int complain_of_shape(const struct tool_command *command, const char *path, uint32_t rank,
                             const uint32_t *shape)
{
    char text[128] = "";
    for (uint32_t i = 0; i < rank; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u", i ? "," : "", shape[i]);
    return complain(command, EXIT_FAILED,
                    "%s: has the shape [%s]; expected [28,28], [N,28,28] or [N,1,28,28]", path,
                    text);
}

static void scale_bytes(struct pictures *p)
{
    size_t count = (size_t)p->count * FASHION_PIXELS;
    float largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = p->values[i] > largest ? p->values[i] : largest;
    for (size_t i = 0; largest > 1 && i < count; i++)
        p->values[i] /= 255.0f;
}

static int read_npy(const struct tool_command *command, const char *path, struct pictures *p)
{
    char error[GLCNN_ERROR_LENGTH];
    struct glcnn_npy file;
    if (glcnn_npy_read(path, &file, error) != GLCNN_SUCCESS)
        return complain(command, EXIT_FAILED, "%s", error);
    int status = EXIT_GOOD;
    if (!has_images(file.rank, file.shape, &p->count))
        status = complain_of_shape(command, path, file.rank, file.shape);
    else {
        p->values = file.data;
        file.data = NULL;
        scale_bytes(p);
    }
    glcnn_npy_free(&file);
    return status;
}

static int read_idx(const struct tool_command *command, const char *path, struct pictures *p)
{
    char error[GLCNN_ERROR_LENGTH];
    struct idx file;
    if (!idx_read(path, &file, error))
        return complain(command, EXIT_FAILED, "%s", error);
    int status = EXIT_GOOD;
    if (!has_images(file.rank, file.shape, &p->count))
        status = complain_of_shape(command, path, file.rank, file.shape);
    else if ((p->values = malloc(file.size * sizeof *p->values)) == NULL)
        status = complain(command, EXIT_FAILED, "not enough memory");
    for (size_t i = 0; status == EXIT_GOOD && i < file.size; i++)
        p->values[i] = (float)file.data[i] / 255.0f;
    idx_free(&file);
    return status;
}

/* ---- The network ---- */

/* The network that the checkpoint names. */
static int find_net(const struct tool_command *command, const char *path, const struct net **net)
{
    char error[GLCNN_ERROR_LENGTH];
    struct glcnn_checkpoint_metadata metadata;
    if (glcnn_checkpoint_read_metadata(path, &metadata, error) != GLCNN_SUCCESS)
        return complain(command, EXIT_FAILED, "%s", error);
    const char *name = glcnn_checkpoint_text(&metadata, "net");
    *net = name ? net_find(name) : NULL;
    int status = EXIT_GOOD;
    if (!*net)
        status = complain(command, EXIT_FAILED, "%s: names no network of \"glcnn train\"", path);
    glcnn_checkpoint_free_metadata(&metadata);
    return status;
}

static void print_classes(const float *probabilities, uint32_t first, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        const float *row = probabilities + (size_t)n * FASHION_CLASSES;
        uint32_t best = network_best(row);
        printf("%u %u %s %.4f\n", first + n, best, fashion_names[best], (double)row[best]);
    }
}

/* What lies beyond the last image in the last batch is not looked at. */
static bool classify(struct runner *runner, const struct pictures *p)
{
    float images[BATCH_MAX * FASHION_PIXELS] = {0}, result[BATCH_MAX * FASHION_CLASSES];
    for (uint32_t first = 0; first < p->count; first += runner->batch) {
        uint32_t count = p->count - first < runner->batch ? p->count - first : runner->batch;
        memcpy(images, p->values + (size_t)first * FASHION_PIXELS,
               sizeof *images * FASHION_PIXELS * count);
        if (!runner_run(runner, images, NULL, result))
            return false;
        print_classes(result, first, count);
    }
    return true;
}

static int predict(const struct tool_command *command, struct tool_device *tool,
                   const struct net *net, const char *path, const struct pictures *p)
{
    char error[GLCNN_ERROR_LENGTH];
    struct model model = {0};
    struct runner runner = {0};
    uint32_t batch = p->count < BATCH_MAX ? p->count : BATCH_MAX;
    int status = EXIT_GOOD;
    if (!model_create(tool->device, net, batch, &model))
        status = complain(command, EXIT_FAILED, "%s", glcnn_device_error(tool->device));
    else if (glcnn_checkpoint_load(model.network, path, NULL, error) != GLCNN_SUCCESS)
        status = complain(command, EXIT_FAILED, "%s", error);
    else if (!runner_create_inference(&model, batch, 0, &runner) || !classify(&runner, p))
        status = complain(command, EXIT_FAILED, "%s", glcnn_device_error(tool->device));
    runner_destroy(&runner);
    model_destroy(&model);
    return status;
}

/* ---- The command ---- */

static int perform(const struct tool_command *command, struct tool_device *tool,
                   const char *model_path, const char *input_path)
{
    const struct net *net = NULL;
    struct pictures pictures = {0};
    int status = find_net(command, model_path, &net);
    if (status == EXIT_GOOD)
        status = is_npy(input_path) ? read_npy(command, input_path, &pictures)
                                    : read_idx(command, input_path, &pictures);
    if (status == EXIT_GOOD) {
        status = device_open(tool);
        if (status != EXIT_GOOD)
            complain(command, status, "%s", tool->error);
    }
    if (status == EXIT_GOOD)
        status = predict(command, tool, net, model_path, &pictures);
    glcnn_device_destroy(&tool->device);
    free(pictures.values);
    return status;
}

static int run(const struct tool_command *command, int argc, char *argv[])
{
    struct tool_device tool = {0};
    for (int letter; (letter = next_option(command, argc, argv)) != OPTIONS_DONE;) {
        if (letter == 'h') {
            print_help(command);
            return EXIT_GOOD;
        }
        if (!read_device_option(&tool, letter))
            return EXIT_USAGE;
    }
    if (argc - optind < 2)
        return complain(command, EXIT_USAGE, "%s",
                        argc == optind ? "no model is named" : "no file of images is named");
    const char *model = argv[optind++], *input = argv[optind++];
    int status = expect_no_arguments(command, argc, argv);
    return status == EXIT_GOOD ? perform(command, &tool, model, input) : status;
}

const struct tool_command command_predict = {.name = "predict",
                                             .arguments = "MODEL INPUT [OPTION]...",
                                             .text = "the classes of images, by a trained network",
                                             .details = details,
                                             .options = options,
                                             .run = run};
