/* The network that glcnn train trains, and what runs it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "train_optimizer.h"
#include "train_session.h"
#include "train_start.h"

glcnn_status session_open_device(glcnn_trainer *s)
{
    if (s->device)
        return GLCNN_SUCCESS;
    const struct glcnn_trainer_callbacks *c = &s->callbacks;
    const char *name = ranks_device(&s->ranks);
    const glcnn_status status = c->open_device
                                    ? c->open_device(c->user, s, name, &s->own.device, s->own.error)
                                    : own_device_open(&s->own, name);
    s->device = s->own.device;
    return status == GLCNN_SUCCESS ? status
                                   : events_complain(s->events, status, "%s", s->own.error);
}

uint32_t session_loss_images(const glcnn_trainer *s)
{
    return s->settings.average_every > 0 ? s->ranks.share : s->ranks.batch;
}

/* Ranks that drop out the same values of their images would learn less of each. */
static void part_masks(const glcnn_trainer *s, struct model *model)
{
    glcnn_filter_node *node;
    for (size_t i = 0; (node = glcnn_network_filter(model->network, i)) != NULL; i++) {
        uint64_t seed = 0;
        glcnn_kernel *kernel = glcnn_filter_node_kernel(node);
        if (s->ranks.rank == 0 || !model_filter_drops(node))
            continue;
        glcnn_kernel_get_uint64(kernel, "seed", &seed);
        glcnn_kernel_set_uint64(kernel, "seed", seed + s->ranks.rank);
    }
}

/* The deviation and mean of each number, of training pictures. */
static void measure_numbers(const glcnn_trainer *s, float *deviations, float *means)
{
    const uint32_t count = s->pictures.form.classes,
                   pictures = s->pictures.info->counts[GLCNN_DATA_PART_TRAINING];
    for (uint32_t k = 0; k < count; k++) {
        double sum = 0, squares = 0;
        for (uint32_t i = 0; i < pictures; i++)
            sum += (double)glcnn_dataset_numbers(s->pictures.set, GLCNN_DATA_PART_TRAINING, i)[k];
        means[k] = (float)(sum / pictures);
        for (uint32_t i = 0; i < pictures; i++) {
            const double d =
                (double)glcnn_dataset_numbers(s->pictures.set, GLCNN_DATA_PART_TRAINING, i)[k] -
                sum / pictures;
            squares += d * d;
        }
        const float deviation = (float)sqrt(squares / pictures);
        deviations[k] = deviation > 0 ? deviation : 1;
    }
}

static bool write_units(const struct model *model, const float *values, uint32_t count)
{
    for (uint32_t i = 0; i < 2; i++)
        if (glcnn_kernel_set_vector(model->units[i], "neuron_data", values + i * count, count) !=
            GLCNN_SUCCESS)
            return false;
    return true;
}

/* A number of the data goes on in the network's unit, unless it is new or in another one: what is 1000 times
 * as large would need weights that are. */
static void keep_units(const glcnn_trainer *s, bool tells, const float *earlier, float *units)
{
    const uint32_t count = s->pictures.form.classes;
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t row = s->match.rows ? s->match.rows[k] : k;
        if (row == NAME_UNMATCHED)
            continue;
        const struct unit has = {(double)earlier[row], (double)earlier[count + row]},
                          is = {(double)units[k], (double)units[count + k]};
        if (unit_is_other(&has, &is) && tells) {
            events_note(
                s->events,
                "units: \"%s\" has the mean %.4g and the deviation %.4g, and the network learned it "
                "with %.4g and %.4g; it goes on in the data's unit\n",
                s->described.names[k], is.mean, is.deviation, has.mean, has.deviation);
        } else if (!unit_is_other(&has, &is)) {
            units[k] = earlier[row];
            units[count + k] = earlier[count + row];
        }
    }
}

/* A network that begins to learn numbers has the units of the data. */
static bool set_units(const glcnn_trainer *s, bool tells, const struct model *model)
{
    const uint32_t count = s->pictures.form.classes;
    const glcnn_train_settings *t = &s->settings;
    if (!model->units[0] || t->resume)
        return true;
    float *units = malloc(4 * (size_t)count * sizeof *units), *earlier = units + 2 * count;
    bool good = units;
    if (good)
        measure_numbers(s, units, units + count);
    if (good && t->model && s->base.form.task == model->form.task) {
        good = model_read_units(model->units, count, earlier);
        keep_units(s, tells, earlier, units);
    }
    good = good && write_units(model, units, count);
    free(units);
    return good;
}

/* In n steps a share of RENEWALS / n leaves e^-RENEWALS of what the averages were. */
#define RENEWALS    10
#define USUAL_SHARE 0.1 /* running_momentum's default */

/* A share that lets the averages be those of the run's own pictures when it ends. */
static float least_share(const glcnn_trainer *s)
{
    return (float)fmin(USUAL_SHARE, RENEWALS / fmax((double)s->total, 1));
}

/* A file's share suits the steps that it was trained with, of large batches and by the million: few steps would
 * leave the averages of other pictures, with which the network is measured and used. */
static void raise_shares(const glcnn_trainer *s, bool tells, const struct model *model)
{
    const float least = least_share(s);
    float had = least;
    unsigned raised = 0;
    glcnn_filter_node *node;
    for (size_t i = 0; (node = glcnn_network_filter(model->network, i)) != NULL; i++) {
        if (!model_filter_is(node, "batch_normalization"))
            continue;
        struct glcnn_batch_normalization_parameters *p =
            glcnn_batch_normalization(glcnn_filter_node_kernel(node));
        if (p->running_momentum >= least ||
            p->flags == GLCNN_BATCH_NORMALIZATION_CALCULATE_STATISTICS_NEVER)
            continue;
        had = fminf(had, p->running_momentum);
        p->running_momentum = least;
        raised++;
    }
    if (tells && raised > 0)
        events_note(
            s->events,
            "running averages: %u layers move theirs by %.2g of each step's, and not by %.2g as "
            "in the file, which %zu steps would leave nearly as they were\n",
            raised, (double)least, (double)had, s->total);
}

bool session_make_model(const glcnn_trainer *s, bool tells, struct model *model,
                        struct layers *layers, char error[GLCNN_ERROR_LENGTH])
{
    const glcnn_train_settings *t = &s->settings;
    const struct saved *what = t->resume || t->model ? &s->base : &s->described;
    if (!saved_make(what, s->device, &s->pictures.form, session_loss_images(s), model, error) ||
        (!t->resume && !start_weights(s, model, tells, error)))
        return false;
    if (!layers_choose(model, session_layers(s), layers, error))
        return false;
    part_masks(s, model);
    raise_shares(s, tells, model);
    if (set_units(s, tells, model) && train_optimizer_set(t, model, layers))
        return true;
    snprintf(error, GLCNN_ERROR_LENGTH, "%s", model_failure(s->device));
    return false;
}

void session_note_backbone_rate(const glcnn_trainer *s)
{
    if (s->settings.backbone_rate < 1 && s->layers.backbone > 0)
        events_note(
            s->events,
            "learning rate: of the %u layers before the head %g of it; --backbone-lr sets that\n",
            s->layers.backbone, s->settings.backbone_rate);
}

/* --backbone-lr is of no layer where the head alone trains. */
static glcnn_status check_backbone(const glcnn_trainer *s)
{
    const glcnn_train_settings *t = &s->settings;
    if (!t->is_backbone_rate_set || t->unfreeze_after > 0 || s->layers.backbone > 0)
        return GLCNN_SUCCESS;
    return events_complain(
        s->events, GLCNN_INVALID_ARGUMENT,
        "--backbone-lr is for layers before the head, and by --train %s none of them "
        "trains: leave it out, or --train",
        t->train);
}

glcnn_status session_open_model(glcnn_trainer *s)
{
    glcnn_status status = session_open_device(s);
    if (status != GLCNN_SUCCESS)
        return status;
    char error[GLCNN_ERROR_LENGTH];
    if (!session_make_model(s, true, &s->model, &s->layers, error))
        return session_fail(s, error);
    return check_backbone(s);
}

/* How the graph that trains is to be, but for its memory. */
static struct glcnn_graph_descriptor training_of(const glcnn_train_settings *t)
{
    struct glcnn_graph_descriptor training = {.format = t->precision->format,
                                              .gradient_clip_norm = (float)t->clip_norm,
                                              .accumulate = (uint32_t)t->accumulate};
    if (settings_scale_losses(t))
        training.loss_scale =
            (struct glcnn_dynamic_loss_scale){.scale = (float)t->loss_scale,
                                              .good_steps = (uint32_t)t->good_steps,
                                              .skipped_steps = t->skipped_steps};
    return training;
}

bool session_make_trainer(const glcnn_trainer *s, struct model *model, uint64_t memory,
                          struct runner *runner)
{
    const glcnn_train_settings *t = &s->settings;
    struct glcnn_graph_descriptor training = training_of(t);
    training.memory_budget = memory;
    return runner_create_training(model, s->ranks.share, &training, runner) &&
           session_set_targets(s, runner) &&
           pictures_take(&s->pictures, &s->described, &t->augment, t->seed, runner);
}

/* All layers in one. */
static glcnn_status make_runners(glcnn_trainer *s)
{
    uint64_t memory = s->settings.memory;
    struct model *model = s->rounded.network ? &s->rounded : &s->model;
    return session_make_trainer(s, model, memory, &s->trainer) &&
                   runner_create_inference(model, s->ranks.share, memory, &s->tester) &&
                   pictures_take(&s->pictures, &s->described, NULL, 0, &s->tester)
               ? GLCNN_SUCCESS
               : session_fail_device(s);
}

/* Ranks hear of each other while they make features, which may take one much longer. */
static bool tell_ranks(void *user, bool more, bool *any, char error[GLCNN_ERROR_LENGTH])
{
    glcnn_trainer *s = user;
    double ranks = more;
    bool good = ranks_sum(&s->ranks, &ranks, 1, error);
    *any = ranks > 0;
    return good;
}

static glcnn_status open_frozen(glcnn_trainer *s)
{
    char error[GLCNN_ERROR_LENGTH];
    const glcnn_train_settings *t = &s->settings;
    const struct frozen_parameters parameters = {.model = &s->model,
                                                 .cut = s->layers.cut,
                                                 .pictures = &s->pictures,
                                                 .saved = &s->described,
                                                 .augment = &t->augment,
                                                 .seed = t->seed,
                                                 .memory = t->memory,
                                                 .batch = s->ranks.share,
                                                 .loss_images = session_loss_images(s),
                                                 .limit = (uint32_t)t->limit,
                                                 .threads = (uint32_t)t->threads,
                                                 .cache =
                                                     s->features_path[0] ? s->features_path : NULL,
                                                 .cache_limit = t->feature_limit,
                                                 .tell = tell_ranks,
                                                 .user = s};
    return frozen_open(&parameters, &s->frozen, error) ? GLCNN_SUCCESS : session_fail(s, error);
}

/* Pictures whose features are kept are not looked at again. */
static glcnn_status reload(glcnn_trainer *s)
{
    char error[GLCNN_ERROR_LENGTH];
    if (s->frozen.training.cached)
        glcnn_data_loader_destroy(&s->training);
    if (s->frozen.validation.cached)
        glcnn_data_loader_destroy(&s->validation);
    return (s->training || session_load(s, s->first, true, &s->training, error)) &&
                   (s->validation ||
                    session_load_part(s, s->pictures.validation, true, &s->validation, error))
               ? GLCNN_SUCCESS
               : session_fail(s, error);
}

/* The frozen layers, and those behind them. */
static glcnn_status make_split_runners(glcnn_trainer *s)
{
    const glcnn_train_settings *t = &s->settings;
    glcnn_status status = open_frozen(s);
    if (status != GLCNN_SUCCESS)
        return status;
    struct model *tail = &s->frozen.tail;
    struct glcnn_graph_descriptor training = training_of(t);
    training.memory_budget = t->memory;
    if (!runner_create_training(tail, s->ranks.share, &training, &s->trainer) ||
        !session_set_targets(s, &s->trainer) ||
        !runner_create_inference(tail, s->ranks.share, t->memory, &s->tester))
        return session_fail_device(s);
    frozen_take(&s->frozen.training, &s->trainer);
    frozen_take(&s->frozen.validation, &s->tester);
    return reload(s);
}

/* Two graphs take more memory than one, which is worth it where features are kept. They are not where pictures change in
 * each step: then only a classifier's head of one image, which is small, is run by itself. What frozen layers give is
 * float32, and so of no use to a model that rounds. */
static bool splits(const glcnn_trainer *s)
{
    const glcnn_train_settings *t = &s->settings;
    const uint32_t images = s->layers.cut.count;
    return images > 0 && !s->rounded.network &&
           (!augment_is_asked(&t->augment) || (images == 1 && !t->task->labels_turn));
}

glcnn_status session_open_runners(glcnn_trainer *s)
{
    const glcnn_status status = session_round_model(s);
    if (status != GLCNN_SUCCESS)
        return status;
    return splits(s) ? make_split_runners(s) : make_runners(s);
}

static void close_runners(glcnn_trainer *s)
{
    runner_destroy(&s->trainer);
    runner_destroy(&s->tester);
    frozen_close(&s->frozen);
    model_destroy(&s->rounded);
    glcnn_data_loader_destroy(&s->training);
    glcnn_data_loader_destroy(&s->validation);
    s->waited = 0;
}

glcnn_status session_reopen_runners(glcnn_trainer *s, session_change *change)
{
    char error[GLCNN_ERROR_LENGTH];
    if (!session_take_scale(s))
        return session_fail_device(s);
    close_runners(s);
    if ((change && !change(s, error)) || !session_load(s, s->step, false, &s->training, error) ||
        !session_load_part(s, s->pictures.validation, false, &s->validation, error))
        return session_fail(s, error);
    const glcnn_status status = session_open_runners(s);
    return status == GLCNN_SUCCESS ? session_join_ranks(s) : status;
}
