/* Fitting: a bank of patches, and a threshold. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "anomaly.h"
#include "base/random.h"
#include "task/anomaly_projection.h"
#include "task/anomaly_scores.h"
#include "visa.h"

#define BANK_DEFAULT 2000
#define BANK_MAX     65535
#define NOWHERE      UINT32_MAX

struct fit {
    glcnn_anomaly *a;
    struct glcnn_anomaly_parameters parameters; /* with their defaults */
    uint32_t pictures;                          /* whole or not */
    bool *held, *fitted;                        /* by picture: out of the bank; to be in it */
    uint32_t patch_count;                       /* of a picture */
    /* Points [blocks][patch_count][channels of the projection], a block for each picture. */
    struct projection projection;
    float *points, *batch;
    uint32_t blocks, *block_of; /* block_of: by picture; NOWHERE: none */
    size_t *chosen;             /* points of the bank */
    double *scores;             /* of pictures that are held out */
    uint32_t score_count;
    char broken[ANOMALY_PATH]; /* a picture with features that are not finite; "": none yet */
};

static glcnn_status no_memory(char error[GLCNN_ERROR_LENGTH])
{
    return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
}

static glcnn_status complain_of_broken(const struct fit *f, char error[GLCNN_ERROR_LENGTH])
{
    if (!*f->broken)
        return GLCNN_SUCCESS;
    snprintf(
        error, GLCNN_ERROR_LENGTH,
        "%.300s: the backbone's features are NaN or infinite; either the values of the picture are "
        "too large for it, or its weights are damaged",
        f->broken);
    return GLCNN_MALFORMED_DATA;
}

/* Looks at a batch of pictures and their patches. False: a message in `error`, or "" there and one of the
 * device. */
typedef bool visitor(struct fit *fit, const struct glcnn_data_batch *batch, glcnn_image *patches);

static bool is_wanted(const struct glcnn_data_batch *batch, const bool *wanted)
{
    bool any = false;
    for (uint32_t n = 0; n < batch->count && !any; n++)
        any = batch->indices[n] != UINT32_MAX && wanted[batch->indices[n]];
    return any;
}

static bool visit_batch(struct fit *f, glcnn_data_loader *loader, const bool *wanted,
                        visitor *visit, char error[GLCNN_ERROR_LENGTH])
{
    struct glcnn_data_batch batch;
    if (glcnn_data_loader_next(loader, &batch, error) != GLCNN_SUCCESS)
        return false;
    if (!is_wanted(&batch, wanted))
        return true;
    *error = 0;
    glcnn_image *patches;
    return runner_results(&f->a->patches.runner, &batch, &patches) && visit(f, &batch, patches);
}

/* Makes patches of the pictures, in their order, and visits all batches that have a picture of those that
 * are `wanted` by their indices. */
static glcnn_status visit_all(struct fit *f, const bool *wanted, visitor *visit,
                              char error[GLCNN_ERROR_LENGTH])
{
    glcnn_data_loader *loader = NULL;
    bool good = anomaly_load_pictures(f->a, &loader, error);
    for (uint64_t i = 0; good && i < glcnn_data_loader_steps(loader); i++)
        good = visit_batch(f, loader, wanted, visit, error);
    glcnn_data_loader_destroy(&loader);
    if (good)
        return GLCNN_SUCCESS;
    return *error ? GLCNN_MALFORMED_DATA : trained_refuse_device(error, f->a->device);
}

/* ---- Which pictures ---- */

/* The first `wanted` of the pictures in an order that the seed draws. */
static bool hold_out(struct fit *f, uint32_t wanted)
{
    uint64_t state = f->parameters.seed;
    uint32_t *order = malloc((size_t)f->pictures * sizeof *order);
    for (uint32_t i = 0; order && i < f->pictures; i++) {
        uint32_t k = (uint32_t)(random_next(&state) % (i + 1));
        order[i] = order[k];
        order[k] = i;
    }
    for (uint32_t i = 0; order && i < f->pictures; i++) {
        f->held[order[i]] = i < wanted;
        f->fitted[order[i]] = i >= wanted;
    }
    free(order);
    return order;
}

/* One at least is held out, and one is not. */
static glcnn_status divide(struct fit *f, const char *folder, char error[GLCNN_ERROR_LENGTH])
{
    f->held = calloc(f->pictures, sizeof *f->held);
    f->fitted = calloc(f->pictures, sizeof *f->fitted);
    if (f->pictures < 2) {
        snprintf(
            error, GLCNN_ERROR_LENGTH,
            "%.300s: has one picture; two are needed, one of them to set the threshold with, and "
            "some dozens are better",
            folder);
        return GLCNN_MALFORMED_DATA;
    }
    uint32_t wanted = (uint32_t)lround(f->parameters.held_out * f->pictures);
    wanted = wanted < 1 ? 1 : wanted < f->pictures ? wanted : f->pictures - 1;
    return f->held && f->fitted && hold_out(f, wanted) ? GLCNN_SUCCESS : no_memory(error);
}

static glcnn_status open_pictures(glcnn_anomaly *a, const char *folder,
                                  char error[GLCNN_ERROR_LENGTH])
{
    char path[ANOMALY_PATH];
    struct anomaly_paths paths = {.items = NULL};
    glcnn_status status = GLCNN_OUT_OF_MEMORY;
    bool found = false;
    anomaly_normal_folder(folder, path);
    bool good =
        !visa_is_object(folder) || visa_list(folder, "train", anomaly_add_path, &paths, &found);
    good = good && (found || anomaly_add_path(&paths, path));
    if (found)
        text_show(
            &a->notes,
            "data: normal pictures are the %u of %s that split_csv/1cls.csv has for training\n",
            paths.count, path);
    else
        text_show(&a->notes, "data: normal pictures are those of %s\n", path);
    if (good)
        status = anomaly_open_pictures(a, (const char *const *)paths.items, paths.count, error);
    else
        fail_with(error, status, "not enough memory");
    anomaly_free_paths(&paths);
    return status;
}

static glcnn_status open_all(struct fit *f, const char *model, const char *folder,
                             char error[GLCNN_ERROR_LENGTH])
{
    glcnn_anomaly *a = f->a;
    size_t layers = 0;
    while (layers < GLCNN_ANOMALY_LAYERS && f->parameters.layers[layers])
        layers++;
    if (!saved_read(model, &a->saved, error))
        return GLCNN_MALFORMED_DATA;
    const glcnn_status status = open_pictures(a, folder, error);
    if (status != GLCNN_SUCCESS)
        return status;
    if (!patches_cut(&a->saved, model, a->device, f->parameters.layers, layers, ANOMALY_BATCH,
                     &a->patches, error))
        return GLCNN_MALFORMED_DATA;
    return anomaly_take_pictures(a, error);
}

/* ---- Points ---- */

/* Values of a picture's patches in an image of a batch that was read into f->batch. */
static const float *values_of(const struct fit *f, uint32_t place, uint32_t channels)
{
    return f->batch + (size_t)place * f->patch_count * channels;
}

static bool read_batch(const struct fit *f, glcnn_image *image, uint32_t channels)
{
    const size_t count = (size_t)ANOMALY_BATCH * f->patch_count * channels;
    return glcnn_image_read_bytes(image, NULL, f->batch, count * sizeof *f->batch) == GLCNN_SUCCESS;
}

static void note_broken(struct fit *f, uint32_t index)
{
    if (!*f->broken)
        glcnn_dataset_name(f->a->pictures.set, GLCNN_DATA_PART_TEST, index, f->broken,
                           sizeof f->broken);
}

static void add_points(struct fit *f, const float *values, uint32_t index)
{
    const size_t count = (size_t)f->patch_count * f->projection.channels;
    if (glcnn_kernel_wrong_value(NULL, values, count, NULL) != count) {
        note_broken(f, index);
        return;
    }
    memcpy(f->points + f->blocks * count, values, count * sizeof *values);
    f->block_of[index] = f->blocks++;
}

static bool collect(struct fit *f, const struct glcnn_data_batch *batch, glcnn_image *patches)
{
    glcnn_image *projected = projection_run(&f->projection, patches);
    if (!projected || !read_batch(f, projected, f->projection.channels))
        return false;
    for (uint32_t n = 0; n < batch->count; n++)
        if (batch->indices[n] != UINT32_MAX && f->fitted[batch->indices[n]])
            add_points(f, values_of(f, n, f->projection.channels), batch->indices[n]);
    return true;
}

static bool make_points(struct fit *f)
{
    const struct form *grid = &f->a->patches.grid;
    uint32_t wanted = 0;
    for (uint32_t i = 0; i < f->pictures; i++)
        wanted += f->fitted[i];
    f->patch_count = grid->width * grid->height;
    f->points = calloc((size_t)wanted * f->patch_count, sizeof *f->points * f->projection.channels);
    f->batch = calloc((size_t)ANOMALY_BATCH * f->patch_count, sizeof *f->batch * grid->channels);
    f->block_of = malloc((size_t)f->pictures * sizeof *f->block_of);
    for (uint32_t i = 0; f->block_of && i < f->pictures; i++)
        f->block_of[i] = NOWHERE;
    return f->points && f->batch && f->block_of;
}

static glcnn_status collect_points(struct fit *f, char error[GLCNN_ERROR_LENGTH])
{
    glcnn_anomaly *a = f->a;
    if (!projection_create(a->device, a->patches.grid.channels, f->parameters.seed, &f->projection))
        return trained_refuse_device(error, a->device);
    if (!make_points(f))
        return no_memory(error);
    glcnn_status status = visit_all(f, f->fitted, collect, error);
    if (status == GLCNN_SUCCESS)
        status = complain_of_broken(f, error);
    if (status == GLCNN_SUCCESS && f->blocks == 0)
        status =
            fail_with(error, GLCNN_MALFORMED_DATA, "none of the pictures for the bank can be read");
    return status;
}

/* ---- The bank ---- */

static glcnn_status select_patches(struct fit *f, char error[GLCNN_ERROR_LENGTH])
{
    struct bank *bank = &f->a->bank;
    const size_t points = (size_t)f->blocks * f->patch_count;
    size_t wanted = f->parameters.bank;
    if (wanted == 0)
        wanted = points / 10 < BANK_DEFAULT ? points / 10 + 1 : BANK_DEFAULT;
    f->chosen = malloc(wanted * sizeof *f->chosen);
    bank->channels = f->a->patches.grid.channels;
    if (f->chosen)
        bank->count = bank_select(f->points, points, f->projection.channels, (uint32_t)wanted,
                                  f->parameters.seed, f->chosen);
    bank->values = malloc((size_t)bank->count * bank->channels * sizeof *bank->values + 1);
    return bank->count > 0 && bank->values ? GLCNN_SUCCESS : no_memory(error);
}

/* Copies what the bank has of a picture. */
static void gather_picture(const struct fit *f, const float *values, uint32_t index)
{
    const struct bank *bank = &f->a->bank;
    for (uint32_t m = 0; m < bank->count; m++)
        if (f->chosen[m] / f->patch_count == f->block_of[index])
            memcpy(bank->values + (size_t)m * bank->channels,
                   values + f->chosen[m] % f->patch_count * bank->channels,
                   bank->channels * sizeof *values);
}

static bool gather(struct fit *f, const struct glcnn_data_batch *batch, glcnn_image *patches)
{
    const uint32_t channels = f->a->bank.channels;
    if (!read_batch(f, patches, channels))
        return false;
    for (uint32_t n = 0; n < batch->count; n++)
        if (batch->indices[n] != UINT32_MAX && f->block_of[batch->indices[n]] != NOWHERE)
            gather_picture(f, values_of(f, n, channels), batch->indices[n]);
    return true;
}

/* Patches are made a second time rather than all kept. */
static glcnn_status make_bank(struct fit *f, char error[GLCNN_ERROR_LENGTH])
{
    glcnn_status status = select_patches(f, error);
    if (status == GLCNN_SUCCESS)
        status = visit_all(f, f->fitted, gather, error);
    return status;
}

/* ---- The threshold ---- */

static void add_score(struct fit *f, uint32_t place, uint32_t index)
{
    uint32_t worst;
    if (anomaly_rate(f->a, place, &f->scores[f->score_count], &worst))
        f->score_count++;
    else
        note_broken(f, index);
}

static bool rate(struct fit *f, const struct glcnn_data_batch *batch, glcnn_image *patches)
{
    if (!nearest_run(&f->a->nearest, patches))
        return false;
    for (uint32_t n = 0; n < batch->count; n++)
        if (batch->indices[n] != UINT32_MAX && f->held[batch->indices[n]])
            add_score(f, n, batch->indices[n]);
    return true;
}

static glcnn_status rate_held_out(struct fit *f, char error[GLCNN_ERROR_LENGTH])
{
    glcnn_anomaly *a = f->a;
    f->scores = calloc(f->pictures, sizeof *f->scores);
    if (!f->scores)
        return no_memory(error);
    if (!nearest_create(a->device, &a->bank, &a->patches.grid, ANOMALY_BATCH, &a->nearest))
        return trained_refuse_device(error, a->device);
    glcnn_status status = visit_all(f, f->held, rate, error);
    if (status == GLCNN_SUCCESS)
        status = complain_of_broken(f, error);
    if (status == GLCNN_SUCCESS && f->score_count == 0)
        status = fail_with(error, GLCNN_MALFORMED_DATA,
                           "none of the pictures for the threshold can be read");
    return status;
}

static void set_threshold(struct fit *f)
{
    size_t rank;
    struct anomaly_record *r = &f->a->record;
    *r = (struct anomaly_record){.quantile = f->parameters.quantile,
                                 .fitted = f->blocks,
                                 .held_out = f->score_count,
                                 .seed = f->parameters.seed};
    r->threshold = scores_threshold(f->scores, f->score_count, r->quantile, &rank);
    r->rank = (uint32_t)rank;
}

/* ---- The object ---- */

static void describe(struct fit *f)
{
    glcnn_anomaly *a = f->a;
    for (size_t k = 0; k < a->patches.output_count; k++) {
        const struct map *output = &a->patches.outputs[k];
        a->layers[k] = (struct glcnn_anomaly_layer){output->label, output->form.width,
                                                    output->form.height, output->form.channels};
    }
    anomaly_describe(a);
    a->info.layer_count = (uint32_t)a->patches.output_count;
    a->info.layers = a->layers;
    a->info.fitted = f->blocks;
    a->info.held_out = a->record.held_out;
    a->info.rank = a->record.rank;
    a->info.quantile = a->record.quantile;
    a->info.chosen_in = f->projection.channels;
}

static bool is_share(double share)
{
    return share > 0 && share < 1;
}

static glcnn_status take_parameters(struct fit *f, const struct glcnn_anomaly_parameters *p,
                                    char error[GLCNN_ERROR_LENGTH])
{
    if (p)
        f->parameters = *p;
    if (f->parameters.held_out == 0)
        f->parameters.held_out = 0.25;
    if (f->parameters.quantile == 0)
        f->parameters.quantile = 0.95;
    if (is_share(f->parameters.held_out) && is_share(f->parameters.quantile) &&
        f->parameters.bank <= BANK_MAX)
        return GLCNN_SUCCESS;
    snprintf(
        error, GLCNN_ERROR_LENGTH,
        "held_out is %g, quantile %g and bank %u; the first two must be above 0 and below 1, and "
        "bank at most %d",
        f->parameters.held_out, f->parameters.quantile, f->parameters.bank, BANK_MAX);
    return GLCNN_INVALID_ARGUMENT;
}

static glcnn_status fit(struct fit *f, const char *model, const char *folder,
                        char error[GLCNN_ERROR_LENGTH])
{
    glcnn_status status = open_all(f, model, folder, error);
    if (status != GLCNN_SUCCESS)
        return status;
    f->pictures = f->a->pictures.info->counts[GLCNN_DATA_PART_TEST];
    if ((status = divide(f, folder, error)) || (status = collect_points(f, error)) ||
        (status = make_bank(f, error)) || (status = rate_held_out(f, error)))
        return status;
    set_threshold(f);
    describe(f);
    return GLCNN_SUCCESS;
}

glcnn_status glcnn_anomaly_fit(glcnn_device *device, const char *model, const char *folder,
                               const struct glcnn_anomaly_parameters *parameters,
                               glcnn_anomaly **anomaly, char error[GLCNN_ERROR_LENGTH])
{
    struct fit f = {.a = NULL};
    *anomaly = NULL;
    glcnn_status status = take_parameters(&f, parameters, error);
    if (status == GLCNN_SUCCESS)
        status = anomaly_create(device, anomaly, error);
    f.a = *anomaly;
    if (status == GLCNN_SUCCESS)
        status = fit(&f, model, folder, error);
    projection_destroy(&f.projection);
    free(f.held);
    free(f.fitted);
    free(f.points);
    free(f.batch);
    free(f.block_of);
    free(f.chosen);
    free(f.scores);
    if (status != GLCNN_SUCCESS)
        glcnn_anomaly_destroy(anomaly);
    return status;
}

glcnn_status glcnn_anomaly_save(const glcnn_anomaly *a, const char *path,
                                char error[GLCNN_ERROR_LENGTH])
{
    if (a->info.fitted == 0)
        return fail_with(error, GLCNN_INVALID_STATE,
                         "the object is of a file, which has all that would be written: copy that");
    return anomaly_file_write(path, &a->saved, &a->patches, &a->bank, &a->record, error)
               ? GLCNN_SUCCESS
               : GLCNN_IO_ERROR;
}
