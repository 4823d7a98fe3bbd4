/* glcnn train: a network of nets.c on labelled pictures.
 *
 * What a step does follows from the settings and the number of the step alone: the order of images
 * from the seed and the epoch, the learning rate from the step. So a run that is stopped and
 * resumed gives the bits that it would have given in one. Images that do not fill a batch are left
 * out of the epoch; the next one has them in another place. */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model.h"
#include "pictures.h"
#include "saved.h"
#include "support/network.h"
#include "support/plot.h"
#include "support/progress.h"
#include "support/random.h"
#include "train_log.h"
#include "train_settings.h"

#define TEST_BATCH  100
#define SAVE_PERIOD 60 /* seconds between checkpoints */

static const char details[] =
    "After each epoch the accuracy on the test images is printed. The first Ctrl-C finishes the\n"
    "batch and saves, the second ends at once. The checkpoint of --out is written at the start,\n"
    "after each epoch, once a minute and at the end, always whole; --resume takes the settings\n"
    "that are not given from it and goes on as if the run had not been stopped, bit for bit.\n"
    "\n"
    "  glcnn train --net resnet8 --lr 0.05 --epochs 3 --out resnet8.safetensors --plot loss.png\n"
    "  glcnn train --resume resnet8.safetensors --epochs 4 --out resnet8.safetensors\n";

/* ---- A session ---- */

struct session {
    const struct tool_command *command;
    const struct settings *settings;
    struct tool_device tool;
    struct pictures training, testing;
    struct saved described; /* by the data and the settings; has nothing of its own */
    struct model model;
    struct runner trainer, tester;
    uint32_t batch, used, tested; /* images of a step, of training, of test */
    size_t steps, total;          /* steps of an epoch, of the whole run */
    size_t first, step;           /* steps made before this run, and so far */
    uint32_t *order;
    float *images, *labels, *result; /* of a batch */
    float *losses;                   /* one a step of this run */
    struct train_log log;
    time_t saved; /* when the last checkpoint was */
};

static volatile sig_atomic_t interrupted;

/* The first Ctrl-C finishes the batch and saves; a second one ends at once. */
static void interrupt(int number)
{
    interrupted = 1;
    signal(number, SIG_DFL);
}

static int complain_of_device(const struct session *s)
{
    return complain(s->command, EXIT_FAILED, "%s", glcnn_device_error(s->tool.device));
}

static uint32_t limited(const struct session *s, const struct pictures *data)
{
    uint64_t limit = s->settings->limit;
    return limit > 0 && limit < data->count ? (uint32_t)limit : data->count;
}

/* A run that is resumed goes on with data of the same form and classes. */
static int check_data(const struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    struct saved saved;
    const struct form *form = &s->training.form;
    const struct net *net = s->settings->net;
    if (form->classes < 2)
        return complain(s->command, EXIT_FAILED, "%s: has one class: there is nothing to learn",
                        s->settings->data);
    if (!net_fits(net, form))
        return complain(s->command, EXIT_FAILED,
                        "pictures of %ux%u are too small for %s, which needs %ux%u; --net names "
                        "another network",
                        form->width, form->height, net->name, net->least, net->least);
    if (!s->settings->resume)
        return EXIT_GOOD;
    if (!saved_read(s->settings->resume, &saved, error))
        return complain(s->command, EXIT_FAILED, "%s", error);
    bool same = saved_is_same(&saved, &s->described);
    saved_free(&saved);
    return same ? EXIT_GOOD
                : complain(s->command, EXIT_FAILED,
                           "%s: cannot be resumed: it was trained on pictures of another size or "
                           "of other classes than those of %s",
                           s->settings->resume, s->settings->data);
}

static int load_data(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    if (!pictures_read(s->settings->data, PICTURES_TRAINING, &s->training, error) ||
        !pictures_read(s->settings->data, PICTURES_VALIDATION, &s->testing, error) ||
        !pictures_match(&s->training, &s->testing, error))
        return complain(s->command, EXIT_FAILED, "%s", error);
    s->described =
        (struct saved){s->settings->net, s->training.form, s->training.names};
    int status = check_data(s);
    if (status != EXIT_GOOD)
        return status;
    s->batch = (uint32_t)s->settings->batch;
    s->used = limited(s, &s->training);
    s->tested = limited(s, &s->testing);
    s->steps = s->used / s->batch;
    s->total = s->steps * (size_t)s->settings->epochs;
    s->first = s->step = (size_t)s->settings->step;
    if (s->settings->resume && s->settings->images != s->used)
        return complain(s->command, EXIT_FAILED,
                        "%s: cannot be resumed: it was trained on %" PRIu64 " images, here are %u",
                        s->settings->resume, s->settings->images, s->used);
    if (s->steps == 0)
        return complain(s->command, EXIT_FAILED,
                        "a batch of %u images is more than the %u that there are; lower --batch",
                        s->batch, s->used);
    return EXIT_GOOD;
}

static int allocate(struct session *s)
{
    size_t most = s->batch > TEST_BATCH ? s->batch : TEST_BATCH;
    const struct form *form = &s->training.form;
    size_t values = (size_t)form->width * form->height * form->channels;
    s->order = calloc(s->used > TEST_BATCH ? s->used : TEST_BATCH, sizeof *s->order);
    s->images = calloc(most * values, sizeof *s->images);
    s->labels = calloc(most * form->classes, sizeof *s->labels);
    s->result = calloc(most * form->classes, sizeof *s->result);
    s->losses = calloc(s->total + 1, sizeof *s->losses);
    return s->order && s->images && s->labels && s->result && s->losses
               ? EXIT_GOOD
               : complain(s->command, EXIT_FAILED, "not enough memory");
}

static bool train_network(struct session *s)
{
    struct glcnn_training_descriptor descriptor = {NULL};
    if (s->settings->optimizer->create(s->model.device, 0, &descriptor.optimizer) != GLCNN_SUCCESS)
        return false;
    glcnn_optimizer(descriptor.optimizer)->momentum_scale = s->settings->optimizer->momentum;
    glcnn_status status = glcnn_network_set_training(s->model.network, &descriptor);
    glcnn_kernel_destroy(&descriptor.optimizer);
    return status == GLCNN_SUCCESS;
}

static bool make_model(struct session *s)
{
    uint64_t memory = s->settings->memory;
    return model_create(s->tool.device, s->settings->net, &s->training.form, s->batch, &s->model) &&
           glcnn_network_initialise(s->model.network, s->settings->seed) == GLCNN_SUCCESS &&
           train_network(s) && runner_create_training(&s->model, s->batch, memory, &s->trainer) &&
           runner_create_inference(&s->model, TEST_BATCH, memory, &s->tester);
}

/* What will run where, and the memory that it takes. */
static int describe(struct session *s)
{
    struct glcnn_memory_plan m;
    if (!runner_memory(&s->trainer, &m))
        return complain_of_device(s);
    printf("device: %s\n", glcnn_device_info(s->tool.device)->renderer);
    printf("network: %s, %zu steps of %u images an epoch\n", s->settings->net->name, s->steps,
           s->batch);
    printf("intermediate images: %.1f MiB, without sharing %.1f MiB", (double)m.planned / 1048576,
           (double)m.without_sharing / 1048576);
    if (m.sub_batches > 1)
        printf(", %u parts a batch", m.sub_batches);
    printf("\n");
    fflush(stdout);
    return EXIT_GOOD;
}

static int open_log(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    return train_log_open(&s->log, s->settings->log, s->first, error)
               ? EXIT_GOOD
               : complain(s->command, EXIT_FAILED, "%s", error);
}

static int load_checkpoint(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    if (!s->settings->resume ||
        glcnn_checkpoint_load(s->model.network, s->settings->resume, NULL, error) == GLCNN_SUCCESS)
        return EXIT_GOOD;
    return complain(s->command, EXIT_FAILED, "%s", error);
}

static int save(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    struct glcnn_checkpoint_entry entries[SAVED_ENTRIES + SETTINGS_ENTRIES_MAX];
    struct saved_entries what;
    struct settings_entries how;
    s->saved = time(NULL);
    if (!s->settings->out)
        return EXIT_GOOD;
    if (!saved_describe(&s->described, &what))
        return complain(s->command, EXIT_FAILED, "not enough memory");
    settings_describe(s->settings, s->step, s->used, &how);
    memcpy(entries, what.entries, sizeof what.entries);
    memcpy(entries + SAVED_ENTRIES, how.entries, how.count * sizeof *entries);
    glcnn_status status = glcnn_checkpoint_save(s->model.network, s->settings->out, entries,
                                                SAVED_ENTRIES + how.count, error);
    saved_entries_free(&what);
    return status == GLCNN_SUCCESS ? EXIT_GOOD : complain(s->command, EXIT_FAILED, "%s", error);
}

static int begin(struct session *s)
{
    int status = device_open(&s->tool);
    if (status != EXIT_GOOD)
        return complain(s->command, status, "%s", s->tool.error);
    if (!make_model(s))
        return complain_of_device(s);
    status = load_checkpoint(s);
    if (status == EXIT_GOOD)
        status = describe(s);
    if (status == EXIT_GOOD)
        status = open_log(s);
    return status == EXIT_GOOD ? save(s) : status;
}

static void end(struct session *s)
{
    runner_destroy(&s->trainer);
    runner_destroy(&s->tester);
    model_destroy(&s->model);
    glcnn_device_destroy(&s->tool.device);
    pictures_free(&s->training);
    pictures_free(&s->testing);
    free(s->order);
    free(s->images);
    free(s->labels);
    free(s->result);
    free(s->losses);
}

/* ---- Testing ---- */

/* The last batch is filled with copies of the last image. */
static bool test(struct session *s, double *accuracy)
{
    uint32_t right = 0, classes = s->training.form.classes;
    for (uint32_t first = 0; first < s->tested; first += TEST_BATCH) {
        uint32_t order[TEST_BATCH];
        for (uint32_t n = 0; n < TEST_BATCH; n++)
            order[n] = first + n < s->tested ? first + n : s->tested - 1;
        pictures_gather(&s->testing, order, TEST_BATCH, classes, s->images, s->labels);
        if (!runner_run(&s->tester, s->images, NULL, s->result))
            return false;
        for (uint32_t n = 0; n < TEST_BATCH && first + n < s->tested; n++)
            right += network_best(s->result + (size_t)n * classes, classes) ==
                     s->testing.labels.data[order[n]];
    }
    *accuracy = (double)right / s->tested;
    return true;
}

/* ---- Training ---- */

/* Seeds of more than 44 bits keep those that are shifted out. */
static void order_epoch(struct session *s, size_t epoch)
{
    uint64_t seed = s->settings->seed, random = (seed << 20 | seed >> 44) + epoch;
    for (uint32_t i = 0; i < s->used; i++)
        s->order[i] = i;
    random_shuffle(&random, s->order, s->used);
}

/* Falls by --decay over each epoch, a little with every step. */
static float learning_rate(const struct session *s)
{
    return (float)(s->settings->rate * pow(s->settings->decay, (double)s->step / (double)s->steps));
}

static bool make_step(struct session *s, float *loss)
{
    double sum = 0;
    model_set_learning_rate(&s->model, learning_rate(s));
    pictures_gather(&s->training, s->order + s->step % s->steps * s->batch, s->batch,
                    s->training.form.classes, s->images, s->labels);
    if (!runner_run(&s->trainer, s->images, s->labels, s->result))
        return false;
    for (uint32_t n = 0; n < s->batch; n++)
        sum += s->result[n];
    *loss = (float)sum;
    return true;
}

/* accuracy NAN: not tested after this step. */
static void log_step(struct session *s, float loss, double accuracy)
{
    train_log_write(&s->log, &(struct train_log_line){.step = s->step + 1,
                                                      .epoch = s->step / s->steps + 1,
                                                      .learning_rate = (double)learning_rate(s),
                                                      .loss = (double)loss,
                                                      .accuracy = accuracy});
}

static int finish_epoch(struct session *s, double smooth, double seconds, double *accuracy)
{
    if (!test(s, accuracy))
        return complain_of_device(s);
    printf("epoch %zu: loss %.4f, accuracy %.4f on %u test images, %.0f s\n",
           s->step / s->steps + 1, smooth, *accuracy, s->tested, seconds);
    fflush(stdout);
    return EXIT_GOOD;
}

/* From where the session is to the end of the epoch. */
static int train_epoch(struct session *s)
{
    struct progress progress;
    double smooth = 0;
    int status = EXIT_GOOD;
    size_t begun = s->step, last = (begun / s->steps + 1) * s->steps;
    order_epoch(s, begun / s->steps);
    progress_begin(&progress, stderr, (last - begun) * s->batch);
    while (s->step < last && !interrupted && status == EXIT_GOOD) {
        float loss;
        double accuracy = NAN;
        if (!make_step(s, &loss))
            return complain_of_device(s);
        smooth = s->step > begun ? 0.95 * smooth + 0.05 * loss : loss;
        s->losses[s->step - s->first] = loss;
        progress_update(&progress, (s->step + 1 - begun) * s->batch, smooth);
        if (s->step + 1 == last || interrupted)
            progress_end(&progress, (s->step + 1 - begun) * s->batch, smooth);
        if (s->step + 1 == last)
            status = finish_epoch(s, smooth, progress_seconds(&progress), &accuracy);
        log_step(s, loss, accuracy);
        s->step++;
        if (status == EXIT_GOOD && (s->step == last || time(NULL) - s->saved >= SAVE_PERIOD))
            status = save(s);
    }
    return status;
}

static int write_plot(const struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct plot plot = {.title = s->settings->net->name,
                              .x_label = "step",
                              .y_label = "loss",
                              .values = s->losses,
                              .count = s->step - s->first};
    if (!s->settings->plot || plot.count == 0 || plot_write(s->settings->plot, &plot, error))
        return EXIT_GOOD;
    return complain(s->command, EXIT_FAILED, "%s", error);
}

static int close_log(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    return train_log_close(&s->log, error) ? EXIT_GOOD
                                           : complain(s->command, EXIT_FAILED, "%s", error);
}

static int train(struct session *s)
{
    int status = load_data(s);
    if (status == EXIT_GOOD)
        status = allocate(s);
    if (status == EXIT_GOOD)
        status = begin(s);
    signal(SIGINT, interrupt);
    while (status == EXIT_GOOD && s->step < s->total && !interrupted)
        status = train_epoch(s);
    if (status == EXIT_GOOD && interrupted)
        status = save(s);
    int closed = close_log(s);
    if (status == EXIT_GOOD)
        status = closed;
    if (status == EXIT_GOOD)
        status = write_plot(s);
    end(s);
    return status == EXIT_GOOD && interrupted ? EXIT_INTERRUPTED : status;
}

static int run(const struct tool_command *command, int argc, char *argv[])
{
    bool help = false;
    struct settings settings;
    struct session session = {.command = command, .settings = &settings};
    settings.device = &session.tool;
    int status = settings_read(command, argc, argv, &settings, &help);
    if (help)
        print_help(command);
    return help || status != EXIT_GOOD ? status : train(&session);
}

const struct tool_command command_train = {.name = "train",
                                           .arguments = "[OPTION]...",
                                           .text = "a network on Fashion-MNIST",
                                           .details = details,
                                           .options = train_options,
                                           .run = run};
