/* The sequences of calls that faults are tried on. */
#include "tests/faults/scenarios.h"

#include <glcnn/checkpoint.h>
#include <glcnn/serialize.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/device.h"
#include "graph/budget.h"
#include "graph/compile.h"
#include "record/staging.h"
#include "tests/faults/inject.h"
#include "tests/folder.h"
#include "tests/unit.h"

/* ---- Calls ---- */

static bool fail(struct fault_run *run, glcnn_status status, const char *call, const char *message)
{
    if (!message)
        message = glcnn_device_error(run->device);
    bool again = run->failed != GLCNN_SUCCESS && run->retries;
    if (run->failed == GLCNN_SUCCESS || again) {
        snprintf(run->call, sizeof run->call, "%s", call);
        snprintf(run->message, sizeof run->message, "%s", message);
        run->told = strlen(message) > 10;
        run->undefined |= strstr(message, "undefined") != NULL;
    }
    if (run->failed == GLCNN_SUCCESS)
        run->failed = status;
    run->gone_wrong |= again;
    if (!run->retries || again)
        return false;
    fault_end();
    return true;
}

/* A call that can be repeated where it failed. `message`: where it is, NULL for the device's. */
#define STEP_SAYING(message, call)                                                                 \
    do {                                                                                           \
        glcnn_status status_ = call;                                                               \
        if (status_ == GLCNN_SUCCESS)                                                              \
            break;                                                                                 \
        if (!fail(run, status_, #call, message) || (status_ = call) != GLCNN_SUCCESS) {            \
            if (run->retries)                                                                      \
                fail(run, status_, #call, message);                                                \
            goto end;                                                                              \
        }                                                                                          \
    } while (0)
#define STEP(call) STEP_SAYING(NULL, call)

static void keep(struct fault_run *run, const float *values, size_t count)
{
    for (size_t i = 0; i < count && run->result_count < MOST_RESULTS; i++)
        run->results[run->result_count++] = values[i];
}

/* A failed encode records nothing: passes are as many as without it. */
static void keep_pass_count(struct fault_run *run, const glcnn_command_buffer *commands)
{
    keep(run, &(float){(float)glcnn_command_buffer_pass_count(commands)}, 1);
}

/* Numbers in -1 .. 1, the same for the same seed. */
static void fill(float *values, size_t count, unsigned seed)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        values[i] = (float)(seed >> 16 & 2047) / 1024.0f - 1.0f;
    }
}

/* ---- Devices ---- */

static void ignore_line(void *user, glcnn_log_level level, const char *text)
{
    char *line = user;
    if (level == GLCNN_LOG_ERROR || level == GLCNN_LOG_WARNING)
        snprintf(line, 512, "%s", text);
}

static void run_device(struct fault_run *run)
{
    char line[512] = "";
    float values[4] = {1, 2, 3, 4}, found[4] = {0};
    glcnn_device *device = NULL;
    glcnn_buffer *buffer = NULL;
    const struct glcnn_device_parameters parameters = {.log = ignore_line, .log_user = line};
    STEP_SAYING(line, glcnn_device_create(&parameters, &device));
    STEP_SAYING(glcnn_device_error(device), glcnn_buffer_create(device, 16, &buffer));
    STEP_SAYING(glcnn_device_error(device), glcnn_buffer_write(buffer, 0, 16, values));
    STEP_SAYING(glcnn_device_error(device), glcnn_device_hand_over(device));
    STEP_SAYING(glcnn_device_error(device), glcnn_device_acquire(device));
    STEP_SAYING(glcnn_device_error(device), glcnn_device_wait(device));
    STEP_SAYING(glcnn_device_error(device), glcnn_buffer_read(buffer, 0, 16, found));
    keep(run, found, 4);
    run->ended = true;
end:
    glcnn_buffer_destroy(&buffer);
    glcnn_device_destroy(&device);
}

/* Whatever fails, the list says of each device that it can be used or why not. */
static void run_list(struct fault_run *run)
{
    struct glcnn_device_candidate candidates[8];
    size_t count = glcnn_device_list(candidates, 8);
    for (size_t i = 0; i < count && i < 8; i++)
        if (strlen(candidates[i].detail) < 4)
            run->gone_wrong = true;
    run->ended = true;
}

/* ---- One kernel ---- */

static const struct glcnn_image_descriptor small_image = {5, 4, 5, 2, 0};
#define SMALL (5 * 4 * 5 * 2)

static glcnn_status make_convolution(glcnn_device *device, glcnn_kernel **kernel)
{
    const struct glcnn_convolution_descriptor descriptor = {.kernel_width = 3,
                                                            .kernel_height = 3,
                                                            .input_feature_channels = 5,
                                                            .output_feature_channels = 6};
    return glcnn_convolution_create(device, &descriptor, NULL, kernel);
}

static void run_kernel(struct fault_run *run)
{
    float values[SMALL], weights[6 * 3 * 3 * 5], biases[6], found[SMALL / 5 * 6];
    glcnn_image *source = NULL, *result = NULL;
    glcnn_kernel *kernel = NULL;
    glcnn_command_buffer *commands = NULL;
    const struct glcnn_image_descriptor wider = {5, 4, 6, 2, 0};
    fill(values, SMALL, 1), fill(weights, 6 * 3 * 3 * 5, 2), fill(biases, 6, 3);
    STEP(glcnn_image_create(run->device, &small_image, &source));
    STEP(glcnn_image_create(run->device, &wider, &result));
    STEP(glcnn_image_write_bytes(source, NULL, values, sizeof values));
    STEP(make_convolution(run->device, &kernel));
    STEP(glcnn_kernel_set_vector(kernel, "weights", weights, 6 * 3 * 3 * 5));
    STEP(glcnn_kernel_set_vector(kernel, "biases", biases, 6));
    STEP(glcnn_command_buffer_create(run->device, &commands));
    const struct glcnn_encode arguments = {.source = source, .destination = result};
    STEP(glcnn_kernel_encode(commands, kernel, &arguments));
    keep_pass_count(run, commands);
    STEP(glcnn_command_buffer_commit(commands));
    STEP(glcnn_command_buffer_wait(commands));
    STEP(glcnn_image_read_bytes(result, NULL, found, sizeof found));
    keep(run, found, sizeof found / sizeof *found);
    run->ended = true;
end:
    glcnn_command_buffer_destroy(&commands);
    glcnn_kernel_destroy(&kernel);
    glcnn_image_destroy(&result);
    glcnn_image_destroy(&source);
}

/* A kernel on two devices, one after the other: the first keeps its programs on disk, and the second
 * finds there what could be kept. Whatever becomes of files, no call fails by it. */
static void run_binaries(struct fault_run *run)
{
    char path[256], line[512] = "";
    const struct glcnn_device_parameters parameters = {.log = ignore_line, .log_user = line};
    snprintf(path, sizeof path, "%s/programs", run->folder);
    (void)mkdir(path, 0700);
    folder_empty(path);
    setenv("GLCNN_CACHE_DIR", path, 1);
    for (int start = 0; start < 2; start++) {
        run->ended = false;
        STEP_SAYING(line, glcnn_device_create(&parameters, &run->device));
        run->warned |= strstr(line, "no result of it can be trusted") != NULL;
        run_kernel(run);
        glcnn_device_destroy(&run->device);
        if (!run->ended)
            break;
    }
end:
    setenv("GLCNN_CACHE_DIR", "off", 1);
    folder_empty(path);
    rmdir(path);
}

/* Images and states that encodes make, some of them temporary, and the gradient from them. */
static void run_states(struct fault_run *run)
{
    float values[SMALL], found[SMALL];
    glcnn_image *source = NULL, *pooled = NULL, *normal = NULL, *back = NULL, *gradient = NULL;
    glcnn_state *pool_state = NULL, *normal_state = NULL;
    glcnn_kernel *pool = NULL, *pool_back = NULL, *norm = NULL, *norm_back = NULL;
    glcnn_command_buffer *commands = NULL;
    fill(values, SMALL, 4);
    STEP(glcnn_image_create(run->device, &small_image, &source));
    STEP(glcnn_image_write_bytes(source, NULL, values, sizeof values));
    STEP(glcnn_pooling_max_create(run->device, 2, 2, 2, 2, &pool));
    STEP(glcnn_pooling_max_gradient_create(run->device, 2, 2, 2, 2, &pool_back));
    STEP(glcnn_kernel_create(run->device, "instance_normalization", &norm));
    STEP(glcnn_kernel_create(run->device, "instance_normalization_gradient", &norm_back));
    glcnn_kernel_properties(norm_back)->result_is_ordinary = true;
    STEP(glcnn_command_buffer_create(run->device, &commands));
    STEP(glcnn_kernel_encode_returning(commands, norm, &(struct glcnn_encode){.source = source},
                                       &normal, &normal_state));
    STEP(glcnn_kernel_encode_returning(commands, pool, &(struct glcnn_encode){.source = normal},
                                       &pooled, &pool_state));
    STEP(glcnn_kernel_encode_returning(
        commands, pool_back,
        &(struct glcnn_encode){.source = pooled, .secondary = source, .state = pool_state}, &back,
        NULL));
    STEP(glcnn_kernel_encode_returning(
        commands, norm_back,
        &(struct glcnn_encode){.source = back, .secondary = source, .state = normal_state},
        &gradient, NULL));
    keep_pass_count(run, commands);
    STEP(glcnn_command_buffer_commit(commands));
    STEP(glcnn_command_buffer_wait(commands));
    STEP(glcnn_image_read_bytes(gradient, NULL, found, sizeof found));
    keep(run, found, SMALL);
    run->ended = true;
end:
    glcnn_command_buffer_destroy(&commands);
    glcnn_kernel_destroy(&pool), glcnn_kernel_destroy(&pool_back);
    glcnn_kernel_destroy(&norm), glcnn_kernel_destroy(&norm_back);
    glcnn_state_destroy(&pool_state), glcnn_state_destroy(&normal_state);
    glcnn_image_destroy(&source), glcnn_image_destroy(&pooled), glcnn_image_destroy(&normal);
    glcnn_image_destroy(&back), glcnn_image_destroy(&gradient);
}

/* Adam on plain vectors; the command buffer is committed again, which moves the time step. */
static void run_optimizer(struct fault_run *run)
{
    float values[12], found[12];
    glcnn_buffer *vectors[4] = {NULL}; /* gradient, values, first, second */
    glcnn_kernel *adam = NULL;
    glcnn_command_buffer *commands = NULL;
    fill(values, 12, 5);
    for (int i = 0; i < 4; i++) {
        STEP(glcnn_buffer_create(run->device, sizeof values, &vectors[i]));
        if (i < 2)
            STEP(glcnn_buffer_write(vectors[i], 0, sizeof values, values));
    }
    STEP(glcnn_optimizer_adam_create(run->device, 0.1f, &adam));
    STEP(glcnn_command_buffer_create(run->device, &commands));
    STEP(glcnn_optimizer_encode(commands, adam, vectors[0], vectors[1], vectors[2], vectors[3],
                                vectors[1]));
    for (int i = 0; i < 3; i++)
        STEP(glcnn_command_buffer_commit(commands));
    STEP(glcnn_buffer_read(vectors[1], 0, sizeof found, found));
    keep(run, found, 12);
    run->ended = true;
end:
    glcnn_command_buffer_destroy(&commands);
    glcnn_kernel_destroy(&adam);
    for (int i = 0; i < 4; i++)
        glcnn_buffer_destroy(&vectors[i]);
}

/* Parts of float16 images, views, temporary images and recorded transfers. */
static void run_transfer(struct fault_run *run)
{
    const struct glcnn_image_descriptor float16 = {4, 3, 8, 2, GLCNN_CHANNEL_FORMAT_FLOAT16};
    const struct glcnn_image_transfer part = {.layout = GLCNN_LAYOUT_CHANNELS_HEIGHT_WIDTH,
                                              .x = 1,
                                              .channel_offset = 4,
                                              .image_count = 1};
    uint16_t bytes[3 * 3 * 4];
    float values[4 * 3 * 8 * 2], found[4 * 3 * 4];
    glcnn_image *image = NULL, *one = NULL, *some = NULL, *temporary = NULL;
    glcnn_buffer *in = NULL, *out = NULL;
    glcnn_command_buffer *commands = NULL;
    fill(values, 4 * 3 * 8 * 2, 6);
    for (int i = 0; i < 36; i++)
        bytes[i] = (uint16_t)(0x3c00 + i);
    STEP(glcnn_image_create(run->device, &float16, &image));
    STEP(glcnn_image_write_bytes(image, &part, bytes, sizeof bytes));
    STEP(glcnn_image_batch_view(image, 0, &one));
    STEP(glcnn_image_channel_view(one, 4, 4, &some));
    STEP(glcnn_buffer_create(run->device, sizeof values, &in));
    STEP(glcnn_buffer_create(run->device, sizeof values + sizeof found, &out));
    STEP(glcnn_buffer_write(in, 0, sizeof values, values));
    STEP(glcnn_command_buffer_create(run->device, &commands));
    STEP(glcnn_temporary_image_create(commands, &float16, &temporary));
    STEP(glcnn_image_encode_write(commands, temporary, NULL, in, 0));
    STEP(glcnn_image_encode_read(commands, temporary, NULL, out, 0));
    STEP(glcnn_image_encode_read(commands, some, NULL, out, sizeof values));
    keep_pass_count(run, commands);
    STEP(glcnn_command_buffer_commit(commands));
    STEP(glcnn_buffer_read(out, 0, sizeof values, values));
    STEP(glcnn_buffer_read(out, sizeof values, sizeof found, found));
    keep(run, values, 4 * 3 * 8 * 2), keep(run, found, 4 * 3 * 4);
    run->ended = true;
end:
    glcnn_image_destroy(&some), glcnn_image_destroy(&one), glcnn_image_destroy(&image);
    glcnn_image_destroy(&temporary);
    glcnn_command_buffer_destroy(&commands);
    glcnn_buffer_destroy(&in), glcnn_buffer_destroy(&out);
}

/* The same where the driver copies what is uploaded. */
static void run_copied_transfer(struct fault_run *run)
{
    fault_pause(true);
    run->device->info.traits.async_uploads = true;
    staging_destroy(&run->device->staging);
    run->gone_wrong |= staging_create(run->device) != GLCNN_SUCCESS;
    fault_pause(false);
    run_transfer(run);
}

/* Values from callbacks. */
static const float *give_values(void *context, const char *vector, size_t count)
{
    float *values = context;
    if (count > 270)
        return NULL;
    fill(values, count, (unsigned)vector[0]);
    return values;
}

static void run_data_source(struct fault_run *run)
{
    float values[270], found[270];
    const struct glcnn_data_source source = {
        .context = values, .label = "values", .values = give_values};
    glcnn_kernel *kernel = NULL, *copy = NULL;
    STEP(make_convolution(run->device, &kernel));
    STEP(glcnn_kernel_set_label(kernel, "first"));
    STEP(glcnn_kernel_set_data_source(kernel, &source));
    STEP(glcnn_kernel_copy(kernel, run->device, &copy));
    STEP(glcnn_kernel_reload_from_data_source(copy));
    STEP(glcnn_buffer_read(glcnn_kernel_vector(copy, "weights"), 0, sizeof found, found));
    keep(run, found, 270);
    run->ended = true;
end:
    glcnn_kernel_destroy(&kernel);
    glcnn_kernel_destroy(&copy);
}

/* One kernel on arrays, and a gradient that needs its forward kernel's state. */
static void run_arrays(struct fault_run *run)
{
    float values[2 * 2 * 6 * 6], gradient[2 * 2 * 3 * 3];
    char error[512] = "";
    struct glcnn_array *outputs = NULL;
    size_t count = 0;
    const struct glcnn_setting settings[] = {{"kernel_width", 2},
                                             {"kernel_height", 2},
                                             {"stride_in_pixels_x", 2},
                                             {"stride_in_pixels_y", 2}};
    fill(values, 144, 7), fill(gradient, 36, 8);
    const struct glcnn_array inputs[] = {{"source_gradient", 4, {2, 2, 3, 3}, gradient},
                                         {"source_image", 4, {2, 2, 6, 6}, values}};
    STEP_SAYING(error, glcnn_run(run->device, "pooling_max", settings, 4, &inputs[1], 1, NULL,
                                 &outputs, &count, error));
    keep(run, outputs[0].data, 36);
    glcnn_run_destroy(outputs);
    outputs = NULL;
    STEP_SAYING(error, glcnn_run(run->device, "pooling_max_gradient", settings, 4, inputs, 2, NULL,
                                 &outputs, &count, error));
    keep(run, outputs[0].data, 144);
    run->ended = true;
end:
    glcnn_run_destroy(outputs);
}

/* ---- Files of arrays ---- */

static void run_npy(struct fault_run *run)
{
    float values[24];
    char error[512] = "", paths[2][512];
    struct glcnn_npy arrays[2], back = {0};
    fill(values, 24, 9);
    for (int i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%d.npy", run->folder, i);
        arrays[i] = (struct glcnn_npy){.format = i ? GLCNN_CHANNEL_FORMAT_FLOAT16 : 0,
                                       .rank = 2,
                                       .shape = {4, 6},
                                       .data = values};
    }
    STEP_SAYING(error, glcnn_npy_write_all((const char *[]){paths[0], paths[1]}, arrays, 2, error));
    for (int i = 0; i < 2; i++) {
        STEP_SAYING(error, glcnn_npy_read(paths[i], &back, error));
        keep(run, back.data, 24);
        glcnn_npy_destroy(&back);
    }
    run->ended = true;
end:
    glcnn_npy_destroy(&back);
}

/* ---- Networks ---- */

#define SIDE    6
#define CLASSES 3
#define BATCH   2
#define ENDS    8

struct training {
    glcnn_network *network;
    glcnn_image_node *scores, *loss;
    glcnn_filter_node *ends[ENDS];
    size_t end_count;
    glcnn_graph *graph;
    glcnn_image *sources[2];
    int depth; /* pairs of filters more, whose gradients read images of the forward pass */
    uint64_t budget;
};

static bool describe(struct training *t)
{
    glcnn_image_node *x = glcnn_image_node_create(t->network, "image");
    glcnn_image_node *labels = glcnn_image_node_create(t->network, "labels");
    x = glcnn_node(x, "convolution",
                   "input_feature_channels=1 output_feature_channels=4 kernel_width=3 "
                   "kernel_height=3");
    x = glcnn_node(x, "batch_normalization", "neuron_type=relu");
    for (int i = 0; i < t->depth; i++)
        x = glcnn_node(glcnn_node(x, "neuron", "neuron_type=sigmoid"), "spatial_normalization",
                       "kernel_width=3 kernel_height=3");
    x = glcnn_node(x, "pooling_max",
                   "kernel_width=2 kernel_height=2 stride_in_pixels_x=2 stride_in_pixels_y=2");
    x = glcnn_node(x, "dropout", "seed=3");
    t->scores = glcnn_node(x, "fully_connected",
                           "input_feature_channels=4 output_feature_channels=3 kernel_width=3 "
                           "kernel_height=3");
    glcnn_image_node *const pair[] = {t->scores, labels};
    glcnn_filter_node *loss = glcnn_filter_node_create(
        t->network, "loss", "loss_type=soft_max_cross_entropy reduction_type=sum", pair, 2);
    t->end_count =
        loss ? glcnn_training_graph_with_source_gradient(loss, NULL, NULL, NULL, t->ends, ENDS) : 0;
    t->loss = glcnn_filter_node_loss(loss);
    return glcnn_network_status(t->network) == GLCNN_SUCCESS && t->end_count > 0;
}

/* A network keeps its first failure, so another is made to try again. */
static glcnn_status make_network(glcnn_device *device, struct training *t)
{
    glcnn_network_destroy(&t->network);
    glcnn_status status = glcnn_network_create(device, &t->network);
    if (status == GLCNN_SUCCESS && !describe(t))
        status = glcnn_network_status(t->network);
    return status;
}

static glcnn_status set_weights(struct training *t)
{
    float values[4 * 27];
    glcnn_filter_node *node;
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; (node = glcnn_network_filter(t->network, i)) && status == GLCNN_SUCCESS;
         i++) {
        glcnn_kernel *kernel = glcnn_filter_node_kernel(node);
        const char *name = glcnn_kernel_name(kernel);
        size_t count = strcmp(name, "convolution") == 0 ? 36 : 108;
        if (strcmp(name, "convolution") != 0 && strcmp(name, "fully_connected") != 0)
            continue;
        fill(values, count, (unsigned)count);
        status = glcnn_kernel_set_vector(kernel, "weights", values, count);
    }
    return status;
}

static glcnn_status train(glcnn_device *device, struct training *t)
{
    glcnn_kernel *optimizer = NULL;
    glcnn_status status = glcnn_optimizer_adam_create(device, 0.01f, &optimizer);
    if (status == GLCNN_SUCCESS)
        status = glcnn_network_set_training(
            t->network, &(struct glcnn_training_descriptor){.optimizer = optimizer});
    glcnn_kernel_destroy(&optimizer);
    return status;
}

static glcnn_status make_graph(struct training *t)
{
    glcnn_image_node *results[ENDS + 1] = {t->loss};
    bool needed[ENDS + 1] = {true};
    for (size_t i = 0; i < t->end_count; i++)
        results[i + 1] = glcnn_filter_node_result(t->ends[i]);
    return glcnn_graph_create(t->network,
                              &(struct glcnn_graph_descriptor){.results = results,
                                                               .result_is_needed = needed,
                                                               .result_count = t->end_count + 1,
                                                               .memory_budget = t->budget},
                              &t->graph);
}

static const struct glcnn_image_descriptor source_sizes[] = {{SIDE, SIDE, 1, BATCH, 0},
                                                             {1, 1, CLASSES, BATCH, 0}};

static glcnn_status make_source(glcnn_device *device, struct training *t, int index)
{
    float values[SIDE * SIDE * BATCH] = {0};
    if (index == 0)
        fill(values, SIDE * SIDE * BATCH, 11);
    else
        values[1] = values[CLASSES] = 1;
    glcnn_status status =
        t->sources[index] ? GLCNN_SUCCESS
                          : glcnn_image_create(device, &source_sizes[index], &t->sources[index]);
    return status != GLCNN_SUCCESS
               ? status
               : glcnn_image_write_bytes(t->sources[index], NULL, values,
                                         sizeof *values * (index ? CLASSES : SIDE * SIDE) * BATCH);
}

static glcnn_status keep_weights(struct fault_run *run, const struct training *t)
{
    float values[128];
    glcnn_filter_node *node;
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; (node = glcnn_network_filter(t->network, i)) && status == GLCNN_SUCCESS;
         i++) {
        glcnn_kernel *kernel = glcnn_filter_node_kernel(node);
        if (glcnn_filter_node_forward(node, NULL) || !glcnn_kernel_has_vector(kernel, "weights"))
            continue;
        glcnn_buffer *buffer = glcnn_kernel_vector(kernel, "weights");
        status = glcnn_buffer_read(buffer, 0, glcnn_buffer_size(buffer), values);
        if (status == GLCNN_SUCCESS)
            keep(run, values, glcnn_buffer_size(buffer) / 4);
    }
    return status;
}

static void end_training(struct training *t)
{
    glcnn_graph_destroy(&t->graph);
    glcnn_network_destroy(&t->network);
    glcnn_image_destroy(&t->sources[0]);
    glcnn_image_destroy(&t->sources[1]);
}

static void run_training(struct fault_run *run)
{
    struct training t = {0};
    float loss[BATCH];
    size_t before = run->result_count;
    STEP(make_network(run->device, &t));
    STEP(set_weights(&t));
    STEP(train(run->device, &t));
    STEP(make_graph(&t));
    STEP(make_source(run->device, &t, 0));
    STEP(make_source(run->device, &t, 1));
    for (int i = 0; i < 2; i++) {
        STEP(glcnn_graph_execute(t.graph, t.sources, NULL, NULL));
        STEP(glcnn_graph_wait(t.graph));
        STEP(glcnn_image_read_bytes(glcnn_graph_image(t.graph, t.loss), NULL, loss, sizeof loss));
        keep(run, loss, BATCH);
    }
    before = run->result_count;
    STEP((run->result_count = before, keep_weights(run, &t)));
    run->ended = true;
end:
    end_training(&t);
}

static bool make_deep(glcnn_device *device, struct training *t)
{
    t->depth = 2;
    return make_network(device, t) == GLCNN_SUCCESS && set_weights(t) == GLCNN_SUCCESS &&
           train(device, t) == GLCNN_SUCCESS;
}

/* The middle between the least and what is planned without a budget. */
static bool set_budget(struct training *t)
{
    struct glcnn_memory_plan whole;
    uint64_t least = 0;
    bool good = make_graph(t) == GLCNN_SUCCESS &&
                glcnn_graph_memory(t->graph, source_sizes, &whole) == GLCNN_SUCCESS &&
                glcnn_graph_least_memory(t->graph, source_sizes, &least) == GLCNN_SUCCESS;
    glcnn_graph_destroy(&t->graph);
    t->budget = good ? (least + whole.planned) / 2 : 0;
    return good;
}

static void run_budget(struct fault_run *run)
{
    struct training t = {0};
    float loss[BATCH];
    fault_pause(true);
    bool ready = make_deep(run->device, &t) && set_budget(&t);
    fault_pause(false);
    run->gone_wrong |= !ready;
    if (!ready)
        goto end;
    STEP(make_graph(&t));
    STEP(make_source(run->device, &t, 0));
    STEP(make_source(run->device, &t, 1));
    STEP(glcnn_graph_execute(t.graph, t.sources, NULL, NULL));
    STEP(glcnn_graph_wait(t.graph));
    STEP(glcnn_image_read_bytes(glcnn_graph_image(t.graph, t.loss), NULL, loss, sizeof loss));
    keep(run, loss, BATCH);
    run->ended = true;
end:
    end_training(&t);
}

/* One that was made for want of memory is another one. */
static void keep_choice(struct fault_run *run, const struct memory_choice *choice)
{
    keep(run, &(float){(float)choice->sub_batches}, 1);
    keep(run, &(float){(float)choice->schedule.peak}, 1);
    for (size_t i = 0; i < choice->schedule.count; i++)
        keep(run, &(float){(float)choice->schedule.items[i].step}, 1);
}

/* From the fastest on, each with less than the one before, and the least. */
static glcnn_status choose(struct fault_run *run, struct budget *budget)
{
    struct memory_choice choice;
    glcnn_status status;
    budget_set(budget, UINT64_MAX / 2);
    while ((status = budget_choose(budget, &choice)) == GLCNN_SUCCESS && choice.sub_batches) {
        keep_choice(run, &choice);
        budget_lessen(budget, choice.schedule.peak);
        memory_choice_free(&choice);
    }
    if (status == GLCNN_SUCCESS)
        status = budget_least(budget, &choice);
    if (status != GLCNN_SUCCESS)
        return status;
    keep_choice(run, &choice);
    memory_choice_free(&choice);
    return GLCNN_SUCCESS;
}

/* As compiling a graph chooses, and nothing else. */
static glcnn_status choose_for(struct fault_run *run, struct training *t)
{
    struct budget *budget = NULL;
    fault_pause(true);
    glcnn_status status = budget_create(t->graph, t->sources, 0, &budget);
    fault_pause(false);
    run->gone_wrong |= status != GLCNN_SUCCESS;
    if (status == GLCNN_SUCCESS)
        status = choose(run, budget);
    budget_destroy(&budget);
    return status;
}

static void run_choices(struct fault_run *run)
{
    struct training t = {0};
    fault_pause(true);
    bool ready = make_deep(run->device, &t) && make_graph(&t) == GLCNN_SUCCESS &&
                 make_source(run->device, &t, 0) == GLCNN_SUCCESS &&
                 make_source(run->device, &t, 1) == GLCNN_SUCCESS;
    fault_pause(false);
    run->gone_wrong |= !ready;
    if (!ready)
        goto end;
    STEP((run->result_count = 0, choose_for(run, &t)));
    run->ended = true;
end:
    end_training(&t);
}

static glcnn_status make_from_loss(glcnn_device *device, struct training *t)
{
    glcnn_kernel *optimizer = NULL;
    glcnn_graph_destroy(&t->graph);
    glcnn_status status = make_network(device, t);
    if (status == GLCNN_SUCCESS)
        status = glcnn_network_initialise(t->network, 1);
    if (status == GLCNN_SUCCESS)
        status = glcnn_optimizer_adam_create(device, 0.01f, &optimizer);
    if (status == GLCNN_SUCCESS)
        status = glcnn_training_graph_create(glcnn_image_node_filter(t->loss), optimizer, NULL,
                                             &t->graph);
    glcnn_kernel_destroy(&optimizer);
    return status;
}

/* The same in one call, with weights that the library draws. */
static void run_from_loss(struct fault_run *run)
{
    struct training t = {0};
    size_t before = run->result_count;
    STEP(make_from_loss(run->device, &t));
    STEP(make_source(run->device, &t, 0));
    STEP(make_source(run->device, &t, 1));
    STEP(glcnn_graph_execute(t.graph, t.sources, NULL, NULL));
    STEP(glcnn_graph_wait(t.graph));
    STEP((run->result_count = before, keep_weights(run, &t)));
    run->ended = true;
end:
    end_training(&t);
}

/* A network recorded into a command buffer of the user's. */
static void run_inference(struct fault_run *run)
{
    struct training t = {0};
    float found[CLASSES * BATCH];
    glcnn_command_buffer *commands = NULL;
    glcnn_image *result = NULL;
    STEP(make_network(run->device, &t));
    STEP(set_weights(&t));
    STEP(glcnn_graph_create(
        t.network, &(struct glcnn_graph_descriptor){.results = &t.scores, .result_count = 1},
        &t.graph));
    STEP(make_source(run->device, &t, 0));
    STEP(glcnn_command_buffer_create(run->device, &commands));
    STEP(glcnn_graph_encode(commands, t.graph, t.sources, &result));
    keep_pass_count(run, commands);
    STEP(glcnn_command_buffer_commit(commands));
    STEP(glcnn_image_read_bytes(result, NULL, found, sizeof found));
    keep(run, found, CLASSES * BATCH);
    run->ended = true;
end:
    glcnn_image_destroy(&result);
    glcnn_command_buffer_destroy(&commands);
    end_training(&t);
}

/* Saves over an older file and loads into another network. */
static void run_checkpoint(struct fault_run *run)
{
    char error[512] = "", path[512];
    struct training t = {0}, other = {0};
    struct glcnn_checkpoint_metadata metadata = {0};
    const struct glcnn_checkpoint_entry entries[] = {{"epoch", "7"}, {"seed", "1"}};
    size_t before = run->result_count;
    snprintf(path, sizeof path, "%s/model.safetensors", run->folder);
    fault_pause(true);
    bool ready = make_network(run->device, &t) == GLCNN_SUCCESS &&
                 set_weights(&t) == GLCNN_SUCCESS && train(run->device, &t) == GLCNN_SUCCESS &&
                 make_network(run->device, &other) == GLCNN_SUCCESS &&
                 train(run->device, &other) == GLCNN_SUCCESS;
    fault_pause(false);
    run->gone_wrong |= !ready;
    if (!ready)
        goto end;
    STEP_SAYING(error, glcnn_checkpoint_save(t.network, path, entries, 2, error));
    STEP_SAYING(error, glcnn_checkpoint_load(other.network, path, &metadata, error));
    keep(run, &(float){(float)metadata.count}, 1);
    before = run->result_count;
    STEP((run->result_count = before, keep_weights(run, &other)));
    run->ended = true;
end:
    glcnn_checkpoint_metadata_destroy(&metadata);
    end_training(&t);
    end_training(&other);
}

static void run_serialize(struct fault_run *run)
{
    char error[512] = "";
    struct training t = {0};
    glcnn_network *back = NULL;
    uint8_t *bytes = NULL;
    size_t size = 0, before = run->result_count;
    fault_pause(true);
    bool ready = make_network(run->device, &t) == GLCNN_SUCCESS && set_weights(&t) == GLCNN_SUCCESS;
    fault_pause(false);
    run->gone_wrong |= !ready;
    if (!ready)
        goto end;
    STEP_SAYING(error, glcnn_network_serialize(t.network, true, &bytes, &size, error));
    STEP_SAYING(error, glcnn_network_deserialize(run->device, bytes, size, &back, error));
    STEP((run->result_count = before, keep_weights(run, &(struct training){.network = back})));
    run->ended = true;
end:
    glcnn_serialize_destroy(bytes);
    glcnn_network_destroy(&back);
    end_training(&t);
}

/* How many calls of one kind are tried in a scenario and mode: in `make test` a few, with
 * GLCNN_TEST_CHECK=1 more and with GLCNN_TEST_FULL=1 nearly all. */
size_t fault_samples(const struct fault_scenario *scenario)
{
    const bool is_cheap = !scenario->fresh && !scenario->deviceless;
    return unit_is_full() ? 300 : !unit_is_check() ? 2 : is_cheap ? 12 : 5;
}

const struct fault_scenario fault_scenarios[] = {
    {"device", run_device, .deviceless = true},
    {"list", run_list, .deviceless = true},
    {"kernel", run_kernel, .fresh = false},
    {"programs", run_kernel, .fresh = true},
    {"states", run_states, .fresh = false},
    {"optimizer", run_optimizer, .fresh = false},
    {"transfer", run_transfer, .fresh = false},
    {"copied_transfer", run_copied_transfer, .fresh = false},
    {"data_source", run_data_source, .fresh = false},
    {"arrays", run_arrays, .fresh = false},
    {"npy", run_npy, .deviceless = true},
    {"training", run_training, .fresh = false},
    {"from_loss", run_from_loss, .fresh = false},
    {"budget", run_budget, .fresh = false},
    {"choices", run_choices, .fresh = false},
    {"inference", run_inference, .fresh = false},
    {"checkpoint", run_checkpoint, .fresh = false},
    {"serialize", run_serialize, .fresh = false},
    {"binaries", run_binaries, .deviceless = true},
    {NULL, NULL, false, false},
};
