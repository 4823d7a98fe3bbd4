/* A camera's frames to predictions, and to a last layer that learns from the frames that keys label.
 * Frames stay where the camera puts them: the GPU reads its buffers, crops the middle, scales and
 * converts it, and the network runs on the result. The last layer alone learns: gradients stop at
 * what it reads.
 *
 * usage: camera [-d /dev/videoN] [-m exported|imported|copied] [-c CLASSES] [-f FRAMES] [FILE]
 *
 * Keys: 1 to 9 say of which class the frame is that is seen now, and make a step with it; s saves
 * the weights in FILE; q ends. FILE is read at the start if it is there. Without -m memory that the
 * camera exports is tried first, then memory that it is given, then copies. */
#define _XOPEN_SOURCE 700
#include <glcnn/checkpoint.h>
#include <glcnn/glcnn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "support/frames.h"
#include "task/network.h"
#include "base/option.h"

#define SIDE         64 /* of what the network sees */
#define CHANNELS     32
#define MOST_CLASSES 9

static glcnn_device *device;
static struct camera camera;
static struct frames frames;
static struct termios terminal;

static void end(void)
{
    frames_close(&frames);
    camera_close(&camera);
    if (isatty(STDIN_FILENO))
        tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
}

static void must(bool good, const char *message)
{
    if (!good) {
        fprintf(stderr, "camera: %s\n", message ? message : glcnn_device_error(device));
        exit(1);
    }
}

/* ---- The network ---- */

struct learner {
    glcnn_network *network;
    glcnn_graph *inference, *training;
    glcnn_image_node *probabilities, *loss;
    glcnn_image *sources[2]; /* what the network sees, and its label */
    uint32_t classes;
};

/* A convolution with ReLU, then half the size. */
static glcnn_image_node *block(glcnn_image_node *x, uint32_t inputs, uint32_t outputs)
{
    const struct glcnn_convolution_descriptor window = {.kernel_width = 3,
                                                        .kernel_height = 3,
                                                        .input_feature_channels = inputs,
                                                        .output_feature_channels = outputs};
    x = glcnn_convolution_node(x, &window, NULL);
    return glcnn_pooling_max_node(glcnn_neuron_relu_node(x, 0), 2, 2, 2, 2);
}

static void make_sources(struct learner *l)
{
    const struct glcnn_image_descriptor seen = {SIDE, SIDE, 3, 1, GLCNN_CHANNEL_FORMAT_FLOAT32};
    const struct glcnn_image_descriptor label = {1, 1, l->classes, 1, GLCNN_CHANNEL_FORMAT_FLOAT32};
    must(!glcnn_image_create(device, &seen, &l->sources[0]), NULL);
    must(!glcnn_image_create(device, &label, &l->sources[1]), NULL);
}

static void make_learner(struct learner *l)
{
    const struct glcnn_convolution_descriptor head = {.kernel_width = SIDE / 8,
                                                      .kernel_height = SIDE / 8,
                                                      .input_feature_channels = CHANNELS,
                                                      .output_feature_channels = l->classes};
    glcnn_kernel *optimizer;
    must(!glcnn_network_create(device, &l->network), NULL);
    glcnn_image_node *x = glcnn_image_node_create(l->network, "frame");
    x = block(block(block(x, 3, 8), 8, 16), 16, CHANNELS);
    glcnn_image_node_set_stop_gradient(x, true);
    x = glcnn_fully_connected_node(x, &head, NULL);
    l->probabilities = glcnn_soft_max_node(x);
    glcnn_filter_node *loss =
        glcnn_loss_node(x, glcnn_image_node_create(l->network, "label"), NULL,
                        GLCNN_LOSS_TYPE_SOFT_MAX_CROSS_ENTROPY, GLCNN_REDUCTION_TYPE_MEAN);
    l->loss = glcnn_filter_node_loss(loss);
    must(!glcnn_network_initialise(l->network, 1), NULL);
    must(!glcnn_optimizer_adam_create(device, 0.001f, &optimizer), NULL);
    must(!glcnn_training_graph_create(loss, optimizer, NULL, &l->training), NULL);
    must(!glcnn_graph_create(
             l->network,
             &(struct glcnn_graph_descriptor){.results = &l->probabilities, .result_count = 1},
             &l->inference),
         NULL);
    glcnn_kernel_destroy(&optimizer);
    make_sources(l);
}

static void destroy_learner(struct learner *l)
{
    glcnn_graph_destroy(&l->inference);
    glcnn_graph_destroy(&l->training);
    glcnn_network_destroy(&l->network);
    glcnn_image_destroy(&l->sources[0]);
    glcnn_image_destroy(&l->sources[1]);
}

/* What the network sees now is of this class. */
static void learn(struct learner *l, uint32_t class)
{
    float label[MOST_CLASSES] = {0}, loss = 0;
    label[class] = 1;
    must(!glcnn_image_write_bytes(l->sources[1], NULL, label, l->classes * sizeof *label), NULL);
    must(!glcnn_graph_execute(l->training, l->sources, NULL, NULL), NULL);
    must(!glcnn_image_read_bytes(glcnn_graph_image(l->training, l->loss), NULL, &loss, sizeof loss),
         NULL);
    printf("class %u, loss %.4f\n", class + 1, (double)loss);
}

static void predict(struct learner *l, uint64_t frame)
{
    float probabilities[MOST_CLASSES];
    must(!glcnn_graph_execute(l->inference, l->sources, NULL, NULL), NULL);
    must(!glcnn_image_read_bytes(glcnn_graph_image(l->inference, l->probabilities), NULL,
                                 probabilities, l->classes * sizeof *probabilities),
         NULL);
    uint32_t best = network_best(probabilities, l->classes);
    printf("frame %llu: class %u, probability %.3f\n", (unsigned long long)frame, best + 1,
           (double)probabilities[best]);
}

/* ---- The camera ---- */

/* The largest square in the middle, from -1 to 1. */
static bool take_frames(void)
{
    static const float half[] = {0.5f, 0.5f, 0.5f};
    uint32_t side = camera.width < camera.height ? camera.width : camera.height;
    const struct glcnn_frame_parameters square = {.crop_x = (camera.width - side) / 2,
                                                  .crop_y = (camera.height - side) / 2,
                                                  .crop_width = side,
                                                  .crop_height = side,
                                                  .resized_width = SIDE,
                                                  .resized_height = SIDE};
    if (frames_open(&frames, device, &camera, &square) != GLCNN_SUCCESS)
        return false;
    return !glcnn_kernel_set_vector(frames.kernel, "mean", half, 3) &&
           !glcnn_kernel_set_vector(frames.kernel, "deviation", half, 3);
}

/* `memory` NULL: the first that works. */
static void open_camera(const char *path, const char *memory)
{
    static const char *const names[] = {"exported", "imported", "copied"};
    for (int m = CAMERA_EXPORTED; m <= CAMERA_MAPPED; m++) {
        if (memory && strcmp(memory, names[m]) != 0)
            continue;
        if (!camera_open(&camera, path, &(struct camera_wish){.memory = (enum camera_memory)m})) {
            fprintf(stderr, "camera: %s: %s\n", names[m], camera.error);
            continue;
        }
        if (take_frames()) {
            printf("%ux%u %.4s, %s\n", camera.width, camera.height, (const char *)&camera.fourcc,
                   names[m]);
            return;
        }
        fprintf(stderr, "camera: %s: %s\n", names[m], glcnn_device_error(device));
        camera_close(&camera);
    }
    must(false, "no memory for frames works; -m is exported, imported or copied");
}

/* The frame's pixels are read before the camera has its buffer again. */
static void see(struct learner *l)
{
    glcnn_command_buffer *commands;
    uint32_t index;
    must(camera_next(&camera, 30, &index), camera.error);
    must(!glcnn_command_buffer_create(device, &commands), NULL);
    must(!frames_upload(&frames, index), NULL);
    must(!frames_encode(&frames, commands, index, l->sources[0]), NULL);
    must(!glcnn_command_buffer_commit(commands), NULL);
    must(!glcnn_command_buffer_wait(commands), NULL);
    glcnn_command_buffer_destroy(&commands);
    must(camera_give_back(&camera, index), camera.error);
}

/* ---- Keys ---- */

/* A key that was pressed; 0: none. At the end of a file of keys there are no more. */
static int next_key(void)
{
    static bool ended;
    struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};
    char key = 0;
    if (ended || poll(&wait, 1, 0) != 1)
        return 0;
    ended = read(STDIN_FILENO, &key, 1) != 1;
    return ended ? 0 : key;
}

static void read_keys_at_once(void)
{
    struct termios plain;
    if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &terminal) != 0)
        return;
    plain = terminal;
    plain.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &plain);
}

static void save(const struct learner *l, const char *path)
{
    char error[GLCNN_ERROR_LENGTH];
    must(path != NULL, "s saves in a file, and none was given");
    must(!glcnn_checkpoint_save(l->network, path, NULL, 0, error), error);
    printf("saved in %s\n", path);
}

static void run(struct learner *l, uint64_t count, const char *path)
{
    int key = 0;
    for (uint64_t frame = 1; key != 'q' && (count == 0 || frame <= count); frame++) {
        see(l);
        key = next_key();
        if (key >= '1' && key < '1' + (int)l->classes)
            learn(l, (uint32_t)(key - '1'));
        else if (key == 's')
            save(l, path);
        predict(l, frame);
    }
}

int main(int argc, char **argv)
{
    const char *path = "/dev/video0", *memory = NULL, *file = NULL;
    struct learner learner = {.classes = 2};
    char error[GLCNN_ERROR_LENGTH];
    uint64_t classes = 2, count = 0;
    int option;
    while ((option = getopt(argc, argv, "d:m:c:f:")) != -1)
        switch (option) {
        case 'd':
            path = optarg;
            break;
        case 'm':
            memory = optarg;
            break;
        case 'c':
            must(option_whole(optarg, 2, MOST_CLASSES, &classes), "-c is 2 to 9");
            break;
        case 'f':
            must(option_whole(optarg, 1, UINT32_MAX, &count), "-f is 1 or more");
            break;
        default:
            return 2;
        }
    file = argv[optind];
    learner.classes = (uint32_t)classes;
    setvbuf(stdout, NULL, _IOLBF, 0);
    must(!glcnn_device_create(NULL, &device), "no device with OpenGL ES 3.1");
    make_learner(&learner);
    if (file && access(file, R_OK) == 0)
        must(!glcnn_checkpoint_load(learner.network, file, NULL, error), error);
    open_camera(path, memory);
    read_keys_at_once();
    atexit(end);
    must(camera_start(&camera), camera.error);
    run(&learner, count, file);
    frames_close(&frames);
    destroy_learner(&learner);
    glcnn_device_destroy(&device);
    return 0;
}
