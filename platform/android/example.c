/* Trains a small network for some steps in a folder of the app's, goes on from where the last call left
 * it, and says how it goes in the log. An app calls train_in on a thread of its own; as a program:
 *
 *   adb push example libglcnn.so libglcnn_interchange.so /data/local/tmp
 *   adb shell LD_LIBRARY_PATH=/data/local/tmp /data/local/tmp/example /data/local/tmp/training
 *
 * A second argument is a file that is given to train_in open, as a document that the user has chosen. */
#include <fcntl.h>
#include <glcnn/checkpoint.h>
#include <glcnn/glcnn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __ANDROID__
#include <android/log.h>
#endif

enum { SIDE = 8, PIXELS = SIDE * SIDE, STEPS = 50 };

/* Where the library's lines go. */
static void log_line(void *user, glcnn_log_level level, const char *text)
{
    (void)user;
#ifdef __ANDROID__
    static const int priorities[] = {ANDROID_LOG_ERROR, ANDROID_LOG_WARN, ANDROID_LOG_INFO};
    __android_log_write(level < GLCNN_LOG_DEBUG ? priorities[level] : ANDROID_LOG_DEBUG, "glcnn",
                        text);
#else
    (void)level;
    fprintf(stderr, "%s\n", text);
#endif
}

struct training {
    glcnn_device *device;
    glcnn_network *network;
    glcnn_kernel *optimizer;
    glcnn_graph *graph;
    glcnn_filter_node *loss;
    glcnn_image *sources[2]; /* what is given, and what is wanted of it */
};

/* Programs that the driver compiled are kept in the folder: the second start compiles none. */
static glcnn_status open_device(const char *folder, glcnn_device **device)
{
    char programs[4096];
    snprintf(programs, sizeof programs, "%s/programs", folder);
    return glcnn_device_create(
        &(struct glcnn_device_parameters){.program_folder = programs, .log = log_line}, device);
}

static glcnn_status describe(struct training *t)
{
    const struct glcnn_convolution_descriptor window = {.kernel_width = 3,
                                                        .kernel_height = 3,
                                                        .input_feature_channels = 1,
                                                        .output_feature_channels = 4};
    glcnn_status status = glcnn_network_create(t->device, &t->network);
    if (status != GLCNN_SUCCESS)
        return status;
    glcnn_image_node *x = glcnn_image_node_create(t->network, "image");
    x = glcnn_neuron_tanh_node(glcnn_convolution_node(x, &window, NULL), 1, 1);
    x = glcnn_pooling_average_node(x, 2, 2, 2, 2);
    t->loss = glcnn_loss_node(x, glcnn_image_node_create(t->network, "goal"), NULL,
                              GLCNN_LOSS_TYPE_MEAN_SQUARED_ERROR, GLCNN_REDUCTION_TYPE_MEAN);
    return glcnn_network_initialise(t->network, 1); /* also fails if a node could not be created */
}

static glcnn_status make_sources(struct training *t)
{
    static const struct glcnn_image_descriptor sizes[2] = {
        {.width = SIDE, .height = SIDE},
        {.width = SIDE / 2, .height = SIDE / 2, .feature_channels = 4}};
    float values[2][PIXELS];
    glcnn_status status = GLCNN_SUCCESS;
    for (int i = 0; i < PIXELS; i++) {
        values[0][i] = (float)i / PIXELS;
        values[1][i] = 0.5f * values[0][i];
    }
    for (int i = 0; i < 2 && status == GLCNN_SUCCESS; i++) {
        status = glcnn_image_create(t->device, &sizes[i], &t->sources[i]);
        if (status == GLCNN_SUCCESS)
            status = glcnn_image_write_bytes(t->sources[i], NULL, values[i], sizeof values[i]);
    }
    return status;
}

static glcnn_status prepare(struct training *t, const char *folder)
{
    glcnn_status status = open_device(folder, &t->device);
    if (status == GLCNN_SUCCESS)
        status = describe(t);
    if (status == GLCNN_SUCCESS)
        status = glcnn_optimizer_adam_create(t->device, 0.01f, &t->optimizer);
    if (status == GLCNN_SUCCESS)
        status = glcnn_training_graph_create(t->loss, t->optimizer, NULL, &t->graph);
    return status == GLCNN_SUCCESS ? make_sources(t) : status;
}

static glcnn_status step(struct training *t, float *loss)
{
    glcnn_status status = glcnn_graph_execute(t->graph, t->sources, NULL, NULL);
    if (status != GLCNN_SUCCESS)
        return status;
    return glcnn_image_read_bytes(glcnn_graph_image(t->graph, glcnn_filter_node_loss(t->loss)),
                                  NULL, loss, sizeof *loss);
}

static glcnn_status train(struct training *t)
{
    char line[80];
    float first = 0, last = 0;
    glcnn_status status = GLCNN_SUCCESS;
    for (int i = 0; i < STEPS && status == GLCNN_SUCCESS; i++) {
        status = step(t, &last);
        first = i == 0 ? last : first;
    }
    if (status == GLCNN_SUCCESS) {
        snprintf(line, sizeof line, "%d steps: loss %.6f, then %.6f", STEPS, (double)first,
                 (double)last);
        log_line(NULL, GLCNN_LOG_INFO, line);
    }
    return status;
}

/* In the folder the checkpoint is whole at any time; what the user sees of it is a copy. */
static glcnn_status keep(struct training *t, const char *model, int document, char *error)
{
    glcnn_status status = glcnn_checkpoint_save(t->network, model, NULL, 0, error);
    if (status == GLCNN_SUCCESS && document >= 0)
        status = glcnn_checkpoint_save_to_fd(t->network, document, NULL, 0, NULL, 0, error);
    return status;
}

static glcnn_status run(struct training *t, const char *folder, int document, char *error)
{
    char model[4096];
    snprintf(model, sizeof model, "%s/model.safetensors", folder);
    glcnn_status status = prepare(t, folder);
    if (status == GLCNN_SUCCESS && access(model, F_OK) == 0)
        status = glcnn_checkpoint_load(t->network, model, NULL, error);
    if (status == GLCNN_SUCCESS)
        status = train(t);
    if (status == GLCNN_SUCCESS)
        return keep(t, model, document, error);
    if (!error[0]) /* of what has no message of its own the device has it */
        snprintf(error, GLCNN_ERROR_LENGTH, "%s",
                 t->device ? glcnn_device_error(t->device) : glcnn_status_text(status));
    return status;
}

/* `document`: a descriptor that is open for writing, or -1. */
static bool train_in(const char *folder, int document)
{
    struct training t = {0};
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_status status = run(&t, folder, document, error);
    if (status != GLCNN_SUCCESS)
        log_line(NULL, GLCNN_LOG_ERROR, error);
    glcnn_graph_destroy(&t.graph);
    glcnn_image_destroy(&t.sources[0]);
    glcnn_image_destroy(&t.sources[1]);
    glcnn_kernel_destroy(&t.optimizer);
    glcnn_network_destroy(&t.network);
    glcnn_device_destroy(&t.device);
    return status == GLCNN_SUCCESS;
}

int main(int argc, char *argv[])
{
    if (argc < 2) {
        fputs("usage: example FOLDER [DOCUMENT]\n", stderr);
        return 2;
    }
    mkdir(argv[1], 0700);
    int document = argc > 2 ? open(argv[2], O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    bool good = train_in(argv[1], document);
    if (document >= 0)
        close(document);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
