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
#include <unistd.h>

#include <glcnn/io.h>

#include "digest.h"
#include "evaluate.h"
#include "support/network.h"
#include "support/progress.h"
#include "train_session.h"
#include "train_start.h"

#define SAVE_PERIOD 60 /* seconds between checkpoints */
#define SMALL_SIDE  64 /* the longest side of pictures that the first default net is for */

static const char details[] =
    "After each epoch loss and accuracy on the validation images are printed. The checkpoint of\n"
    "--out is written after each epoch, once a minute and at the end, always whole, and at the\n"
    "start where there is no such file; --resume takes the settings that are not given from it\n"
    "and goes on as if the run had not been stopped, bit for bit. The best epoch's, by accuracy in\n"
    "validation, stands beside it: model.best.safetensors for --out model.safetensors.\n"
    "The first Ctrl-C, SIGTERM or SIGHUP finishes the batch and saves, the second ends at once. A\n"
    "loss that is not finite ends the run with status 1, and no file is written over.\n"
    "\n"
    "Without --epochs there are as many as make 900 steps, 1 to 50, and the learning rate falls to\n"
    "0.3 in all of them. With t the epochs that are done, the learning rate is --lr times\n"
    "  exponential   decay^t              step       decay^floor(t)\n"
    "  cosine        (1 + cos(pi t / epochs)) / 2    constant   1\n"
    "\n"
    "The words of --augment, with commas between; each picture is changed anew in each epoch, and\n"
    "those to validate with are not:\n" AUGMENT_WORDS "\n"
    "The layers of --train; the others are frozen, and what they make of a picture is kept in a file\n"
    "where it is the same in every epoch:\n" LAYERS_WORDS "\n"
    "Started by mpirun the processes, its ranks, train one network: each has a device of its own and\n"
    "its share of every batch, and gradients are added up while the backward pass still runs. What\n"
    "comes out is that of one process, up to rounding, and the same bits for as many ranks; batch\n"
    "normalisations see each rank's share, or all with --sync-batch-norm. --batch is that of all.\n"
    "Files are read by every rank, written and told of by the first. A rank that dies or fails ends\n"
    "all. A run may be resumed by another number of ranks. With --average-every N each rank steps by\n"
    "itself and weights are averaged, for slow networks; --balance suits ranks of unlike speed.\n"
    "\n"
    "k, M and G behind a number stand for thousands and so on, of bytes for 1024, 1024^2, 1024^3.\n"
    "\n"
    "  glcnn train --net resnet8 --lr 0.05 --epochs 3 --out resnet8.safetensors --plot a.svg\n"
    "  glcnn train --resume resnet8.safetensors --epochs 4 --out resnet8.safetensors\n"
    "  glcnn train --model resnet8.safetensors --data fruit --train last --out fruit.safetensors\n"
    "  mpirun -n 4 --bind-to none glcnn train --net resnet8 --batch 256 --out resnet8.safetensors\n";

static volatile sig_atomic_t interrupted;

/* The first signal finishes the batch and saves; a second one ends at once. */
static void interrupt(int number)
{
    interrupted = 1;
    signal(number, SIG_DFL);
}

static bool is_interrupted(void)
{
    return interrupted;
}

/* A signal that is ignored, as nohup has it, stays so. */
static void handle_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (signal(signals[i], interrupt) == SIG_IGN)
            signal(signals[i], SIG_IGN);
}

static int fail(const struct session *s, const char *error)
{
    return complain(s->command, EXIT_FAILED, "%s", error);
}

static int fail_device(const struct session *s)
{
    return fail(s, glcnn_device_error(s->tool.device));
}

/* ---- Data ---- */

/* small for pictures that it can look at whole, otherwise what halves them at once. */
static const struct net *default_net(const struct form *form)
{
    bool is_small = form->width <= SMALL_SIDE && form->height <= SMALL_SIDE;
    const struct net *net = net_find(is_small ? "small" : "mobilenet-tiny");
    return net_fits(net, form) ? net : net_find("resnet8");
}

static uint32_t limited(const struct session *s, glcnn_data_part part)
{
    uint32_t count = s->pictures.info->counts[part];
    return s->settings.limit > 0 && s->settings.limit < count ? (uint32_t)s->settings.limit : count;
}

static int check_resumed(struct session *s)
{
    uint32_t count = limited(s, GLCNN_DATA_PART_TRAINING);
    if (!s->settings.resume || s->settings.images == count)
        return EXIT_GOOD;
    return complain(s->command, EXIT_FAILED,
                    "%s: cannot be resumed: it was trained on %" PRIu64 " images, here are %u",
                    s->settings.resume, s->settings.images, count);
}

static int check_net(struct session *s)
{
    const struct net *net = s->described.net;
    const struct form *form = &s->pictures.form;
    if (!net || net_fits(net, form))
        return EXIT_GOOD;
    return complain(
        s->command, EXIT_FAILED,
        "pictures of %ux%u are too small for %s, which needs %ux%u; --net names another "
        "network",
        form->width, form->height, net->name, net->least, net->least);
}

/* What the network sees: of the file that it comes from, or of the data and the options. */
static int describe_input(struct session *s)
{
    const struct settings *t = &s->settings;
    const struct form *form = &s->pictures.form;
    s->described = s->base;
    s->described.form = *form;
    s->described.names = s->pictures.info->class_names;
    if (t->resume || t->model)
        return EXIT_GOOD;
    s->described.net = t->net ? t->net : default_net(form);
    snprintf(s->described.title, sizeof s->described.title, "%s", s->described.net->name);
    if (saved_read_list(t->mean ? t->mean : "0", form->channels, NAN, s->described.mean) &&
        saved_read_list(t->deviation ? t->deviation : "1", form->channels, 0,
                        s->described.deviation))
        return EXIT_GOOD;
    return complain(s->command, EXIT_USAGE,
                    "--mean and --deviation are a number, or %u with commas between; deviations "
                    "are above 0",
                    form->channels);
}

bool session_load(const struct session *s, size_t step, bool labels_only,
                  glcnn_data_loader **loader, char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_data_loader_parameters parameters = {.part = GLCNN_DATA_PART_TRAINING,
                                                            .batch = s->ranks.batch,
                                                            .share_first = s->ranks.first,
                                                            .share = s->ranks.share,
                                                            .limit = (uint32_t)s->settings.limit,
                                                            .threads =
                                                                (uint32_t)s->settings.threads,
                                                            .shuffle = true,
                                                            .labels_only = labels_only,
                                                            .seed = s->settings.seed,
                                                            .step = step};
    return pictures_load(&s->pictures, &parameters, loader, error);
}

static bool load_part(const struct session *s, glcnn_data_part part, bool labels_only,
                      glcnn_data_loader **loader, char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_data_loader_parameters parameters = {.part = part,
                                                            .labels_only = labels_only,
                                                            .batch = s->ranks.batch,
                                                            .share_first = s->ranks.first,
                                                            .share = s->ranks.share,
                                                            .limit = (uint32_t)s->settings.limit,
                                                            .threads =
                                                                (uint32_t)s->settings.threads};
    return pictures_load(&s->pictures, &parameters, loader, error);
}

static int open_base(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    const char *path = s->settings.resume ? s->settings.resume : s->settings.model;
    return !path || saved_read(path, &s->base, error) ? EXIT_GOOD : fail(s, error);
}

/* Pictures are as the network that comes from a file has them; classes too, unless they are to
 * follow the data. */
static int open_set(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct settings *t = &s->settings;
    bool has_classes = t->resume || t->keeps_classes;
    const struct form *form = t->model ? &s->base.form : NULL;
    const struct pictures_options options = {.path = t->data,
                                             .like = has_classes ? &s->base : NULL,
                                             .width = form ? form->width : t->width,
                                             .height = form ? form->height : t->height,
                                             .channels =
                                                 form ? form->channels : (uint32_t)t->channels,
                                             .validation = t->validation > 0 ? t->validation : -1,
                                             .trains = true,
                                             .seed = t->seed,
                                             .strict = t->strict};
    if (!pictures_open(&options, &s->pictures, error))
        return fail(s, error);
    pictures_tell_skipped(&s->pictures, s->command);
    return EXIT_GOOD;
}

/* Ranks have shares alike until somebody measures them. */
static int fit_settings(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    settings_fit(&s->settings, limited(s, GLCNN_DATA_PART_TRAINING));
    return ranks_share_batch(&s->ranks, (uint32_t)s->settings.batch, 1, error) ? EXIT_GOOD
                                                                               : fail(s, error);
}

static int open_loaders(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    const uint32_t count = limited(s, GLCNN_DATA_PART_TRAINING),
                   batch = (uint32_t)s->settings.batch;
    if (count < batch)
        return complain(s->command, EXIT_FAILED,
                        "a batch of %u images is more than the %u that there are; lower --batch",
                        batch, count);
    if (!session_load(s, (size_t)s->settings.step, false, &s->training, error) ||
        !load_part(s, s->pictures.validation, false, &s->validation, error))
        return fail(s, error);
    s->settings.images = count;
    s->steps = (size_t)glcnn_data_loader_steps(s->training);
    s->total = s->steps * (size_t)s->settings.epochs;
    s->first = s->step = (size_t)s->settings.step;
    s->best = s->settings.best;
    return EXIT_GOOD;
}

/* ---- The model ---- */

static bool set_optimizer(const struct session *s, const struct model *model)
{
    struct glcnn_training_descriptor descriptor = {NULL};
    const struct settings *settings = &s->settings;
    if (settings->optimizer->create(model->device, 0, &descriptor.optimizer) != GLCNN_SUCCESS)
        return false;
    struct glcnn_optimizer_parameters *p = glcnn_optimizer(descriptor.optimizer);
    p->momentum_scale = settings->optimizer->momentum;
    p->apply_gradient_clipping = settings->clip > 0;
    if (p->apply_gradient_clipping) {
        p->gradient_clip_max = (float)settings->clip;
        p->gradient_clip_min = -(float)settings->clip;
    }
    glcnn_status status = glcnn_network_set_training(model->network, &descriptor);
    glcnn_kernel_destroy(&descriptor.optimizer);
    return status == GLCNN_SUCCESS;
}

/* Are gradients stored in float16, and losses scaled? */
static bool is_scaled(const struct settings *settings)
{
    return settings->precision->format == GLCNN_CHANNEL_FORMAT_FLOAT16;
}

/* Images that losses are the mean over: of all ranks where their gradients are added up, else of
 * this one. */
static uint32_t loss_images(const struct session *s)
{
    return s->settings.average_every > 0 ? s->ranks.share : s->ranks.batch;
}

/* Ranks that drop out the same values of their images would learn less of each. */
static void part_masks(const struct session *s, struct model *model)
{
    glcnn_filter_node *node;
    for (size_t i = 0; (node = glcnn_network_filter(model->network, i)) != NULL; i++) {
        uint64_t seed = 0;
        glcnn_kernel *kernel = glcnn_filter_node_kernel(node);
        if (s->ranks.rank == 0 || strcmp(glcnn_kernel_name(kernel), "dropout") != 0)
            continue;
        glcnn_kernel_get_uint64(kernel, "seed", &seed);
        glcnn_kernel_set_uint64(kernel, "seed", seed + s->ranks.rank);
    }
}

bool session_make_model(const struct session *s, bool tells, struct model *model,
                        struct layers *layers, char error[GLCNN_ERROR_LENGTH])
{
    const struct settings *t = &s->settings;
    const struct saved *what = t->resume || t->model ? &s->base : &s->described;
    if (!saved_make(what, s->tool.device, &s->pictures.form, loss_images(s), model, error) ||
        (!t->resume && !start_weights(s, model, tells, error)))
        return false;
    if (!layers_choose(model, t->train, layers, error))
        return false;
    part_masks(s, model);
    if (set_optimizer(s, model))
        return true;
    snprintf(error, GLCNN_ERROR_LENGTH, "%s", glcnn_device_error(s->tool.device));
    return false;
}

/* How the graph that trains is to be, but for its memory. */
static struct glcnn_graph_descriptor training_of(const struct settings *t)
{
    struct glcnn_graph_descriptor training = {.format = t->precision->format,
                                              .gradient_clip_norm = (float)t->clip_norm};
    if (is_scaled(t))
        training.loss_scale = (struct glcnn_dynamic_loss_scale){
            (float)t->loss_scale, (uint32_t)t->good_steps, t->skipped_steps};
    return training;
}

bool session_make_trainer(const struct session *s, struct model *model, uint64_t memory,
                          struct runner *runner)
{
    const struct settings *t = &s->settings;
    struct glcnn_graph_descriptor training = training_of(t);
    training.memory_budget = memory;
    return runner_create_training(model, s->ranks.share, &training, runner) &&
           pictures_take(&s->pictures, &s->described, &t->augment, t->seed, runner);
}

/* All layers in one. */
static int make_runners(struct session *s)
{
    uint64_t memory = s->settings.memory;
    return session_make_trainer(s, &s->model, memory, &s->trainer) &&
                   runner_create_inference(&s->model, s->ranks.share, memory, &s->tester) &&
                   pictures_take(&s->pictures, &s->described, NULL, 0, &s->tester)
               ? EXIT_GOOD
               : fail_device(s);
}

/* Ranks hear of each other while they make features, which may take one much longer. */
static bool tell_ranks(void *user, bool more, bool *any, char error[GLCNN_ERROR_LENGTH])
{
    struct session *s = user;
    double ranks = more;
    bool good = ranks_sum(&s->ranks, &ranks, 1, error);
    *any = ranks > 0;
    return good;
}

static int open_frozen(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct settings *t = &s->settings;
    const struct frozen_parameters parameters = {.model = &s->model,
                                                 .cut = s->layers.cut,
                                                 .pictures = &s->pictures,
                                                 .saved = &s->described,
                                                 .augment = &t->augment,
                                                 .seed = t->seed,
                                                 .memory = t->memory,
                                                 .batch = s->ranks.share,
                                                 .loss_images = loss_images(s),
                                                 .limit = (uint32_t)t->limit,
                                                 .threads = (uint32_t)t->threads,
                                                 .cache =
                                                     s->features_path[0] ? s->features_path : NULL,
                                                 .cache_limit = t->feature_limit,
                                                 .tell = tell_ranks,
                                                 .user = s};
    return frozen_open(&parameters, &s->frozen, error) ? EXIT_GOOD : fail(s, error);
}

/* Pictures whose features are kept are not looked at again. */
static int reload(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    if (s->frozen.training.cached)
        glcnn_data_loader_destroy(&s->training);
    if (s->frozen.validation.cached)
        glcnn_data_loader_destroy(&s->validation);
    return (s->training || session_load(s, s->first, true, &s->training, error)) &&
                   (s->validation ||
                    load_part(s, s->pictures.validation, true, &s->validation, error))
               ? EXIT_GOOD
               : fail(s, error);
}

/* The frozen layers, and those behind them. */
static int make_split_runners(struct session *s)
{
    const struct settings *t = &s->settings;
    int status = open_frozen(s);
    if (status != EXIT_GOOD)
        return status;
    struct model *tail = &s->frozen.tail;
    struct glcnn_graph_descriptor training = training_of(t);
    training.memory_budget = t->memory;
    if (!runner_create_training(tail, s->ranks.share, &training, &s->trainer) ||
        !runner_create_inference(tail, s->ranks.share, t->memory, &s->tester))
        return fail_device(s);
    frozen_take(&s->frozen.training, &s->trainer);
    frozen_take(&s->frozen.validation, &s->tester);
    return reload(s);
}

static int allocate(struct session *s)
{
    size_t batch = s->ranks.share, values = batch * s->pictures.form.classes;
    s->scores = calloc(values, sizeof *s->scores);
    s->tests = calloc(values, sizeof *s->tests);
    s->losses = calloc(batch, sizeof *s->losses);
    return s->scores && s->tests && s->losses ? EXIT_GOOD : fail(s, "not enough memory");
}

/* ---- Checkpoints ---- */

/* Ranks do not share what was asked for: FILE is the first's, FILE.1, FILE.2 .. the others'. */
static void name_features(struct session *s)
{
    const char *cache = s->settings.cache;
    if (cache && s->ranks.rank > 0 && strcmp(cache, "off") != 0)
        snprintf(s->features_path, sizeof s->features_path, "%s.%u", cache, s->ranks.rank);
    else if (cache)
        snprintf(s->features_path, sizeof s->features_path, "%s", cache);
}

/* model.best.safetensors for model.safetensors, model.best for model; model.features for both. */
static void name_files(struct session *s)
{
    const char *out = ranks_leads(&s->ranks) ? s->settings.out : NULL;
    if (!out)
        return;
    const char *slash = strrchr(out, '/'), *name = slash ? slash + 1 : out;
    const char *dot = strrchr(name, '.');
    int stem = (int)(dot && dot != name ? dot - out : (ptrdiff_t)strlen(out));
    snprintf(s->best_path, sizeof s->best_path, "%.*s.best%s", stem, out, out + stem);
    snprintf(s->features_path, sizeof s->features_path, "%.*s.features", stem, out);
}

/* As the last step left it. */
static bool take_scale(struct session *s)
{
    struct glcnn_dynamic_loss_scale scale;
    if (!is_scaled(&s->settings))
        return true;
    if (glcnn_graph_get_loss_scale(s->trainer.graph, &scale) != GLCNN_SUCCESS)
        return false;
    s->settings.loss_scale = (double)scale.scale;
    s->settings.good_steps = scale.good_steps;
    s->settings.skipped_steps = scale.skipped_steps;
    return true;
}

static int write_checkpoint(struct session *s, const char *path)
{
    char error[GLCNN_ERROR_LENGTH];
    struct settings_entries how;
    if (!take_scale(s))
        return fail_device(s);
    struct settings now = s->settings;
    if (!ranks_leads(&s->ranks))
        return EXIT_GOOD;
    now.step = s->step;
    now.best = s->best;
    settings_describe(&now, &how);
    return saved_write(&s->described, &s->model, path, how.entries, how.count, error)
               ? EXIT_GOOD
               : fail(s, error);
}

static int write_now(struct session *s)
{
    s->saved = time(NULL);
    int status = s->settings.out ? write_checkpoint(s, s->settings.out) : EXIT_GOOD;
    s->is_saved = s->settings.out && status == EXIT_GOOD;
    s->saved_step = s->step;
    return status;
}

/* What each rank has averaged of its own batches becomes one; summed up ones are the same. */
static bool average_statistics(struct session *s, char error[GLCNN_ERROR_LENGTH])
{
    return s->settings.syncs_statistics ||
           ranks_average_statistics(&s->ranks, s->model.network, error);
}

/* All ranks come here at once; the first writes. */
static int save(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    if (!average_statistics(s, error))
        return fail(s, error);
    return write_now(s);
}

static int load_checkpoint(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    if (!s->settings.resume ||
        glcnn_checkpoint_load(s->model.network, s->settings.resume, NULL, error) == GLCNN_SUCCESS)
        return EXIT_GOOD;
    return fail(s, error);
}

/* ---- Beginning and end ---- */

static void describe_layers(const struct session *s)
{
    const struct frozen *f = &s->frozen;
    if (s->layers.trained == s->layers.count)
        return;
    printf("layers: %u of %u train\n", s->layers.trained, s->layers.count);
    if (!s->layers.cut)
        printf("features: not kept, the layers that train read more than one frozen one\n");
    else if (f->features)
        printf("features: %u values of each of %u pictures, %u of them new, %.1f MiB in %s\n",
               f->value_count, f->pictures, f->computed,
               (double)features_size(f->features) / 1048576,
               f->parameters.cache ? f->parameters.cache : "a temporary file");
    else
        printf("features: not kept: %s\n", f->reason);
    if (f->features && !f->training.cached)
        printf("features: those to train with are computed in each step, for --augment\n");
}

/* What will run where, the memory that it takes, and where it is kept. */
static int describe(struct session *s)
{
    struct glcnn_memory_plan m;
    const struct form *form = &s->pictures.form;
    if (!runner_memory(&s->trainer, &m))
        return fail_device(s);
    printf("device: %s\n", glcnn_device_info(s->tool.device)->renderer);
    printf("data: %u images of %ux%ux%u to train with, %u to validate with, %u classes\n",
           limited(s, GLCNN_DATA_PART_TRAINING), form->width, form->height, form->channels,
           limited(s, s->pictures.validation), form->classes);
    printf("network: %s, %zu steps of %u images an epoch\n", s->described.title, s->steps,
           (uint32_t)s->settings.batch);
    describe_layers(s);
    if (s->ranks.mpi)
        printf("ranks: %u, of which this one has %u images of each batch\n", s->ranks.size,
               s->ranks.share);
    printf("intermediate images: %.1f MiB, without sharing %.1f MiB", (double)m.planned / 1048576,
           (double)m.without_sharing / 1048576);
    if (m.sub_batches > 1)
        printf(", %u parts a batch", m.sub_batches);
    if (is_scaled(&s->settings))
        printf(", float16");
    if (m.recomputed)
        printf(", %u images computed again", m.recomputed);
    if (m.extra_time > 0)
        printf(", steps about %.0f %% longer", 100 * m.extra_time);
    if (s->settings.out)
        printf("\ncheckpoints: %s; of the best epoch: %s\n", s->settings.out, s->best_path);
    else
        printf("\ncheckpoints: none, the network will not be saved; give --out\n");
    fflush(stdout);
    return EXIT_GOOD;
}

/* Whether a file that will be written hours from now can be made; NULL: none. */
static int probe(const struct session *s, const char *path)
{
    char error[GLCNN_ERROR_LENGTH];
    glcnn_file *file = NULL;
    if (path && ranks_leads(&s->ranks) && glcnn_file_create(path, &file, error) != GLCNN_SUCCESS)
        return fail(s, error);
    glcnn_file_discard(&file);
    return EXIT_GOOD;
}

/* A file that is there stays until there is something better than where this run begins. */
static int save_first(struct session *s)
{
    const char *out = s->settings.out;
    if (!out || access(out, F_OK) != 0)
        return write_now(s);
    s->saved = time(NULL);
    return probe(s, out);
}

static int open_log(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    const char *path = ranks_leads(&s->ranks) ? s->settings.log : NULL;
    train_trace_begin(&s->trace, ranks_leads(&s->ranks) ? s->settings.trace : NULL);
    if (s->ranks.mpi && s->trace.path)
        s->ranks.library.set_trace(s->ranks.mpi, train_trace_bucket, &s->trace);
    return train_log_open(&s->log, path, s->first, error) ? EXIT_GOOD : fail(s, error);
}

static int open_device(struct session *s)
{
    s->tool.shows_compiling = isatty(STDERR_FILENO) && ranks_leads(&s->ranks);
    ranks_choose_device(&s->ranks, &s->tool);
    int status = s->tool.device ? EXIT_GOOD : device_open(&s->tool);
    return status == EXIT_GOOD ? status : complain(s->command, status, "%s", s->tool.error);
}

static int open_model(struct session *s)
{
    int status = open_device(s);
    if (status != EXIT_GOOD)
        return status;
    char error[GLCNN_ERROR_LENGTH];
    return session_make_model(s, true, &s->model, &s->layers, error) ? EXIT_GOOD : fail(s, error);
}

/* Shares of a batch by how fast ranks are, now that all of them train at once. */
static int balance(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    double speed, nothing = 0;
    if (!s->ranks.mpi || !s->settings.balances)
        return EXIT_GOOD;
    int status = open_device(s);
    if (status != EXIT_GOOD)
        return status;
    if (!ranks_sum(&s->ranks, &nothing, 1, error) || !session_measure(s, &speed, error) ||
        !ranks_share_batch(&s->ranks, s->ranks.batch, speed, error))
        return fail(s, error);
    return EXIT_GOOD;
}

static int open_runners(struct session *s)
{
    return s->layers.cut ? make_split_runners(s) : make_runners(s);
}

/* Lets the steps add up their gradients, unless weights are averaged instead. */
static int join_ranks(struct session *s)
{
    const struct settings *t = &s->settings;
    if (!s->ranks.mpi || t->average_every > 0)
        return EXIT_GOOD;
    const struct glcnn_exchange exchange =
        s->ranks.library.exchange(s->ranks.mpi, t->syncs_statistics ? s->ranks.batch : 0);
    return glcnn_graph_set_exchange(s->trainer.graph, &exchange) == GLCNN_SUCCESS ? EXIT_GOOD
                                                                                  : fail_device(s);
}

/* Sums of what differs would be wrong without a word. */
static int compare_ranks(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct settings *t = &s->settings;
    const uint64_t numbers[] = {
        t->batch, t->seed,  t->epochs,           t->average_every,        s->settings.images,
        s->first, s->steps, t->syncs_statistics, s->pictures.form.classes};
    uint64_t data = digest_add(DIGEST_START, numbers, sizeof numbers), weights = 0;
    if (!s->ranks.mpi)
        return EXIT_GOOD;
    return ranks_agree(&s->ranks, data, "settings or data", error) &&
                   ranks_digest(s->model.network, &weights, error) &&
                   ranks_agree(&s->ranks, weights, "weights to begin with", error)
               ? EXIT_GOOD
               : fail(s, error);
}

static int begin(struct session *s)
{
    static int (*const parts[])(struct session *) = {
        open_base,  open_set,      describe_input, fit_settings, check_net,       check_resumed,
        balance,    open_loaders,  allocate,       open_model,   load_checkpoint, open_runners,
        join_ranks, compare_ranks, describe,       open_log};
    int status = probe(s, s->settings.plot);
    if (status == EXIT_GOOD)
        status = probe(s, s->settings.trace);
    name_files(s);
    name_features(s);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == EXIT_GOOD; i++)
        status = parts[i](s);
    s->begun = time(NULL);
    return status == EXIT_GOOD ? save_first(s) : status;
}

static void end(struct session *s)
{
    runner_destroy(&s->trainer);
    runner_destroy(&s->tester);
    frozen_close(&s->frozen);
    model_destroy(&s->model);
    glcnn_device_destroy(&s->tool.device);
    glcnn_data_loader_destroy(&s->training);
    glcnn_data_loader_destroy(&s->validation);
    saved_free(&s->base);
    pictures_close(&s->pictures);
    train_curves_free(&s->curves);
    score_free(&s->score);
    free(s->scores);
    free(s->tests);
    free(s->losses);
}

/* ---- A step ---- */

static float learning_rate(const struct session *s, size_t step)
{
    const struct schedule_settings schedule = {.rate = s->settings.rate,
                                               .decay = s->settings.decay,
                                               .warmup = s->settings.warmup,
                                               .epochs = (double)s->settings.epochs,
                                               .steps = s->steps};
    return schedule_rate(s->settings.schedule, &schedule, step);
}

static uint32_t count_right(const struct session *s, const uint32_t *labels)
{
    uint32_t right = 0, classes = s->pictures.form.classes;
    for (size_t n = 0; n < s->ranks.share; n++)
        right += network_best(s->scores + n * classes, classes) == labels[n];
    return right;
}

/* Of all ranks: what a step showed, and whether one is to end or the first is to save. */
static bool sum_up(struct session *s, double loss, uint32_t right, float *mean, uint32_t *all_right,
                   char error[GLCNN_ERROR_LENGTH])
{
    bool is_due = ranks_leads(&s->ranks) && time(NULL) - s->saved >= SAVE_PERIOD;
    double values[] = {loss * loss_images(s) / s->ranks.batch, right, interrupted, is_due};
    if (!ranks_sum(&s->ranks, values, sizeof values / sizeof *values, error))
        return false;
    *mean = (float)values[0];
    if (all_right)
        *all_right = (uint32_t)values[1];
    s->ends = values[2] > 0;
    s->save_time = values[3] > 0;
    return true;
}

bool session_step(struct session *s, struct model *model, struct runner *runner,
                  glcnn_data_loader *loader, size_t step, float *loss, uint32_t *right,
                  char error[GLCNN_ERROR_LENGTH])
{
    const uint32_t batch = s->ranks.share;
    struct glcnn_data_batch b;
    double sum = 0;
    if (glcnn_data_loader_next(loader, &b, error) != GLCNN_SUCCESS)
        return false;
    model_set_learning_rate(model, learning_rate(s, step));
    if (!runner_run_batch(runner, &b, b.labels, s->losses) ||
        (right && !runner_scores(runner, s->scores))) {
        snprintf(error, GLCNN_ERROR_LENGTH, "%s", runner_error(runner));
        return false;
    }
    for (uint32_t n = 0; n < batch; n++)
        sum += (double)s->losses[n];
    return sum_up(s, sum, right ? count_right(s, b.labels) : 0, loss, right, error);
}

/* ---- Validation ---- */

/* Each rank has seen its share. */
static bool sum_score(struct session *s, char error[GLCNN_ERROR_LENGTH])
{
    struct score *score = &s->score;
    size_t cells = (size_t)score->classes * score->classes;
    double *values = calloc(cells + 3, sizeof *values);
    if (!values)
        return false;
    for (size_t i = 0; i < cells; i++)
        values[i] = (double)score->confusion[i];
    values[cells] = (double)score->count;
    values[cells + 1] = (double)score->right;
    values[cells + 2] = score->loss;
    bool good = ranks_sum(&s->ranks, values, cells + 3, error);
    for (size_t i = 0; i < cells; i++)
        score->confusion[i] = (uint64_t)values[i];
    score->count = (uint64_t)values[cells];
    score->right = (uint64_t)values[cells + 1];
    score->loss = values[cells + 2];
    free(values);
    return good;
}

/* Into the session's score. */
static int validate(struct session *s, glcnn_data_loader *loader)
{
    char error[GLCNN_ERROR_LENGTH] = "not enough memory";
    score_free(&s->score);
    bool good = score_begin(&s->score, s->pictures.form.classes) && average_statistics(s, error) &&
                evaluate_epoch(&s->tester, loader, s->tests, &s->score, error) &&
                sum_score(s, error);
    pictures_tell_skipped(&s->pictures, s->command);
    return good ? EXIT_GOOD : fail(s, error);
}

/* Of images that no choice was made by. */
static int test_others(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    glcnn_data_loader *loader = NULL;
    if (!load_part(s, s->pictures.test, false, &loader, error))
        return fail(s, error);
    if (s->frozen.tail.network)
        frozen_take(&s->frozen.test, &s->tester);
    int status = validate(s, loader);
    glcnn_data_loader_destroy(&loader);
    return status;
}

/* What the network makes of the test images; where these are those to validate with, what the last
 * epoch found is what it makes of them still. */
static int test(struct session *s)
{
    bool is_other = s->pictures.test != s->pictures.validation;
    int status = is_other               ? test_others(s)
                 : s->scored == s->step ? EXIT_GOOD
                                        : validate(s, s->validation);
    if (status != EXIT_GOOD)
        return status;
    score_print(&s->score, s->described.names);
    if (is_other)
        printf("\ntest: loss %.4f, accuracy %.4f on %u images\n", score_loss(&s->score),
               score_accuracy(&s->score), limited(s, s->pictures.test));
    return EXIT_GOOD;
}

static bool is_better(const struct best *a, const struct best *b)
{
    return b->epoch == 0 || a->accuracy > b->accuracy ||
           (a->accuracy == b->accuracy && a->loss < b->loss);
}

static size_t epochs_done(const struct session *s)
{
    return s->step / s->steps;
}

static bool has_lost_patience(const struct session *s)
{
    return s->settings.patience > 0 && s->best.epoch > 0 &&
           epochs_done(s) - s->best.epoch >= s->settings.patience;
}

/* ---- An epoch ---- */

/* The mean of what the steps of an epoch showed. */
struct mean {
    double loss, accuracy;
    size_t count;
};

static void mean_add(struct mean *mean, double loss, double accuracy)
{
    mean->count++;
    mean->loss += (loss - mean->loss) / (double)mean->count;
    mean->accuracy += (accuracy - mean->accuracy) / (double)mean->count;
}

/* Nothing is saved from now on: what a checkpoint has is good. */
static int diverge(struct session *s, const char *what, double loss)
{
    char clause[GLCNN_ERROR_LENGTH] = "";
    if (!s->ranks.mpi) /* others would have to make their steps again with it */
        session_find_not_finite(s, clause);
    complain(
        s->command, EXIT_FAILED,
        "step %zu: the loss%s is %s, not finite%s; a lower --lr, a --warmup or --clip-norm may "
        "help",
        s->step + 1, what, isnan(loss) ? "NaN" : "infinite", clause);
    if (s->is_saved)
        complain(s->command, EXIT_FAILED, "%s still has the network of step %zu", s->settings.out,
                 s->saved_step);
    else if (s->settings.out)
        complain(s->command, EXIT_FAILED, "%s is as it was", s->settings.out);
    return EXIT_FAILED;
}

static int finish_epoch(struct session *s, const struct mean *mean, double seconds,
                        struct best *now)
{
    double waited = glcnn_data_loader_get_statistics(s->training).waited, before = s->waited;
    s->waited = waited;
    now->epoch = epochs_done(s) + 1;
    int status = validate(s, s->validation);
    if (status != EXIT_GOOD)
        return status;
    s->scored = s->step + 1;
    now->loss = score_loss(&s->score);
    now->accuracy = score_accuracy(&s->score);
    if (!isfinite(now->loss))
        return diverge(s, " in validation", now->loss);
    printf("epoch %" PRIu64 ": loss %.4f, accuracy %.4f; validation loss %.4f, accuracy %.4f; "
           "%.0f s, %.1f %% of it waiting for data\n",
           now->epoch, mean->loss, mean->accuracy, now->loss, now->accuracy, seconds,
           seconds > 0 ? 100 * (waited - before) / seconds : 0);
    fflush(stdout);
    return EXIT_GOOD;
}

/* The step that was made, and what validation found after it; epoch 0: nothing. */
static int record(struct session *s, double loss, double accuracy, const struct best *found)
{
    bool validated = found->epoch > 0;
    const struct train_log_line line = {.step = s->step + 1,
                                        .epoch = epochs_done(s) + 1,
                                        .learning_rate = (double)learning_rate(s, s->step),
                                        .loss = loss,
                                        .accuracy = accuracy,
                                        .validation_loss = validated ? found->loss : NAN,
                                        .validation_accuracy = validated ? found->accuracy : NAN};
    double x = (double)(s->step + 1) / (double)s->steps;
    train_log_write(&s->log, &line);
    if (!curve_add(&s->curves.training, x, loss, accuracy) ||
        (validated && !curve_add(&s->curves.validation, x, found->loss, found->accuracy)))
        return fail(s, "not enough memory");
    return EXIT_GOOD;
}

static int write_plot(const struct session *s)
{
    char error[GLCNN_ERROR_LENGTH], title[512];
    if (!ranks_leads(&s->ranks))
        return EXIT_GOOD;
    snprintf(title, sizeof title, "%s on %s", s->described.title, s->settings.data);
    return train_curves_write(&s->curves, s->settings.plot, title, error) ? EXIT_GOOD
                                                                          : fail(s, error);
}

/* After a step: the best epoch's checkpoint before the one that knows of it. */
static int keep(struct session *s, const struct best *found)
{
    int status = EXIT_GOOD;
    if (found->epoch > 0 && is_better(found, &s->best)) {
        s->best = *found;
        status = s->best_path[0] ? write_checkpoint(s, s->best_path) : EXIT_GOOD;
    }
    if (status == EXIT_GOOD && (found->epoch > 0 || s->save_time))
        status = save(s);
    return status == EXIT_GOOD && found->epoch > 0 ? write_plot(s) : status;
}

/* After the step under way, where each rank steps by itself: time to average their weights? */
static bool is_averaging_step(const struct session *s)
{
    return s->settings.average_every > 0 && (s->step + 1) % s->settings.average_every == 0;
}

static bool average_weights(struct session *s, char error[GLCNN_ERROR_LENGTH])
{
    return s->settings.average_every == 0 || ranks_average(&s->ranks, s->model.network, error);
}

/* One step of the epoch, and at its end validation. */
static int advance(struct session *s, struct progress *progress, struct mean *mean, size_t begun)
{
    char error[GLCNN_ERROR_LENGTH];
    float loss;
    uint32_t right;
    struct best found = {.epoch = 0};
    const size_t batch = (size_t)s->settings.batch, done = (s->step + 1 - begun) * batch;
    bool is_last = (s->step + 1) % s->steps == 0;
    double start = seconds_now();
    train_trace_step(&s->trace, s->step);
    if (!session_step(s, &s->model, &s->trainer, s->training, s->step, &loss, &right, error))
        return fail(s, error);
    train_trace_end_step(&s->trace, start, seconds_now());
    if (!isfinite(loss))
        return diverge(s, "", (double)loss);
    double accuracy = (double)right / (double)batch;
    mean_add(mean, (double)loss, accuracy);
    progress_update(progress, done, mean->loss);
    if (is_last || s->ends)
        progress_end(progress, done, mean->loss);
    if ((is_last || s->ends || s->save_time || is_averaging_step(s)) && !average_weights(s, error))
        return fail(s, error);
    int status = is_last ? finish_epoch(s, mean, progress_seconds(progress), &found) : EXIT_GOOD;
    if (status == EXIT_GOOD)
        status = record(s, (double)loss, accuracy, &found);
    if (status != EXIT_GOOD)
        return status;
    s->step++;
    return keep(s, &found);
}

/* From where the session is to the end of the epoch. */
static int train_epoch(struct session *s)
{
    struct progress progress;
    struct mean mean = {.count = 0};
    int status = EXIT_GOOD;
    size_t begun = s->step, last = (begun / s->steps + 1) * s->steps;
    progress_begin(&progress, ranks_leads(&s->ranks) ? stderr : stdout,
                   (last - begun) * (size_t)s->settings.batch);
    while (s->step < last && !s->ends && status == EXIT_GOOD)
        status = advance(s, &progress, &mean, begun);
    return status;
}

/* ---- All ---- */

/* What it took to be one of several. */
static void print_exchange(const struct session *s)
{
    size_t steps = s->step - s->first;
    if (!s->ranks.mpi || steps == 0)
        return;
    const struct glcnn_mpi_statistics m = s->ranks.library.get_statistics(s->ranks.mpi);
    printf("ranks: %u; each sent %.1f KiB a step", s->ranks.size,
           (double)m.bytes_sent / (double)steps / 1024);
    if (m.exchanging > 0)
        printf("; sums of gradients took %.2f ms a step, %.0f %% of it during the backward pass",
               1e3 * m.exchanging / (double)steps, 100 * m.hidden / m.exchanging);
    printf("; %.2f ms a step of waiting for other ranks\n", 1e3 * m.waited / (double)steps);
}

/* How the network does at the end, and where it is. */
static int conclude(struct session *s)
{
    int status = s->ends ? EXIT_GOOD : test(s);
    if (has_lost_patience(s))
        printf("\nstopped: no better accuracy in %" PRIu64 " epochs\n", s->settings.patience);
    if (s->best.epoch > 0)
        printf("%sbest: epoch %" PRIu64 ", validation accuracy %.4f\n",
               has_lost_patience(s) ? "" : "\n", s->best.epoch, s->best.accuracy);
    if (is_scaled(&s->settings) && take_scale(s))
        printf("loss scale: %.0f; %" PRIu64 " steps were skipped\n", s->settings.loss_scale,
               s->settings.skipped_steps);
    if (!s->settings.out)
        printf("not saved; give --out\n");
    print_exchange(s);
    return status;
}

static int close_log(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    bool good = train_log_close(&s->log, error);
    return good && train_trace_write(&s->trace, error) ? EXIT_GOOD : fail(s, error);
}

/* One that has failed at the end is a failure of all. */
static int end_together(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    double nothing = 0;
    return ranks_sum(&s->ranks, &nothing, 1, error) ? EXIT_GOOD : fail(s, error);
}

static int train(struct session *s)
{
    int status = begin(s);
    handle_signals();
    while (status == EXIT_GOOD && s->step < s->total && !s->ends && !has_lost_patience(s))
        status = train_epoch(s);
    if (status == EXIT_GOOD && (s->ranks.mpi || !(s->is_saved && s->saved_step == s->step)))
        status = save(s);
    int closed = close_log(s);
    if (status == EXIT_GOOD)
        status = closed;
    if (status == EXIT_GOOD)
        status = write_plot(s);
    if (status == EXIT_GOOD)
        status = conclude(s);
    if (status == EXIT_GOOD)
        status = end_together(s);
    if (status != EXIT_GOOD)
        ranks_fail(&s->ranks, last_complaint());
    end(s);
    ranks_close(&s->ranks);
    return status == EXIT_GOOD && s->ends ? EXIT_INTERRUPTED : status;
}

static int run(const struct tool_command *command, int argc, char *argv[])
{
    bool help = false;
    struct session session = {.command = command};
    session.settings.device = &session.tool;
    int status = settings_read(command, argc, argv, &session.settings, &help);
    if (help)
        print_help(command);
    if (help || status != EXIT_GOOD)
        return status;
    char error[GLCNN_ERROR_LENGTH];
    return ranks_open(&session.ranks, (double)session.settings.rank_wait, is_interrupted, error)
               ? train(&session)
               : fail(&session, error);
}

const struct tool_command command_train = {.name = "train",
                                           .arguments = "[OPTION]...",
                                           .text = "a network on labelled pictures",
                                           .details = details,
                                           .options = train_options,
                                           .run = run};
