/* glcnn anomaly fit: a bank of patches, and a threshold. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "anomaly.h"
#include "task/anomaly_projection.h"
#include "task/anomaly_scores.h"
#include "base/random.h"

#define BANK_DEFAULT 2000
#define NOWHERE      UINT32_MAX

struct fit {
    struct anomaly *a;
    uint32_t pictures;    /* whole or not */
    bool *held, *fitted;  /* by picture: out of the bank; to be in it */
    uint32_t patch_count; /* of a picture */
    /* Points [blocks][patch_count][channels of the projection], a block for each picture. */
    struct projection projection;
    float *points, *batch;
    uint32_t blocks, *block_of; /* block_of: by picture; NOWHERE: none */
    size_t *chosen;             /* points of the bank */
    double *scores;             /* of pictures that are held out */
    uint32_t score_count;
    char broken[ANOMALY_PATH]; /* a picture with features that are not finite; "": none yet */
};

static int no_memory(const struct fit *f)
{
    return anomaly_fail(f->a, "not enough memory");
}

/* ---- Which pictures ---- */

/* The first `wanted` of the pictures in an order that the seed draws. */
static bool hold_out(struct fit *f, uint32_t wanted)
{
    uint64_t state = f->a->options.seed;
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
static int divide(struct fit *f, const char *folder)
{
    f->held = calloc(f->pictures, sizeof *f->held);
    f->fitted = calloc(f->pictures, sizeof *f->fitted);
    if (f->pictures < 2)
        return complain(f->a->command, EXIT_FAILED,
                        "%s: has one picture; two are needed, one of them to set the threshold "
                        "with, and some dozens are better",
                        folder);
    uint32_t wanted = (uint32_t)lround(f->a->options.held_out * f->pictures);
    wanted = wanted < 1 ? 1 : wanted < f->pictures ? wanted : f->pictures - 1;
    return f->held && f->fitted && hold_out(f, wanted) ? EXIT_GOOD : no_memory(f);
}

static int open_pictures(struct anomaly *a, const char *folder)
{
    char path[ANOMALY_PATH], error[GLCNN_ERROR_LENGTH];
    const char *const paths[] = {path};
    anomaly_normal_folder(folder, path);
    if (!pictures_open_files(paths, 1, &a->saved, &a->pictures, error))
        return anomaly_fail(a, error);
    struct text text = {0};
    print_error("data: normal pictures are those of %s\n", path);
    pictures_describe_decisions(&a->pictures, &text);
    print_error_shown(&text);
    return EXIT_GOOD;
}

static int open_backbone(struct anomaly *a)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct anomaly_options *o = &a->options;
    if (!patches_cut(&a->saved, o->model, a->tool.device, o->outputs, o->output_count,
                     ANOMALY_BATCH, &a->patches, error) ||
        !anomaly_check_sizes(&a->pictures, &a->patches.grid, error))
        return anomaly_fail(a, error);
    return pictures_take(&a->pictures, &a->saved, NULL, 0, &a->patches.runner)
               ? EXIT_GOOD
               : anomaly_fail(a, model_failure(a->tool.device));
}

static int open_all(struct anomaly *a, const char *folder)
{
    char error[GLCNN_ERROR_LENGTH];
    if (!saved_read(a->options.model, &a->saved, error))
        return anomaly_fail(a, error);
    int status = open_pictures(a, folder);
    if (status == EXIT_GOOD)
        status = anomaly_open_device(a);
    return status == EXIT_GOOD ? open_backbone(a) : status;
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

static bool collect(void *user, const struct glcnn_data_batch *batch, glcnn_image *patches,
                    char error[GLCNN_ERROR_LENGTH])
{
    struct fit *f = user;
    glcnn_image *projected = projection_run(&f->projection, patches);
    (void)error;
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

static int collect_points(struct fit *f)
{
    struct anomaly *a = f->a;
    if (!projection_create(a->tool.device, a->patches.grid.channels, a->options.seed,
                           &f->projection))
        return anomaly_fail(a, model_failure(a->tool.device));
    if (!make_points(f))
        return no_memory(f);
    int status = anomaly_visit(a, f->fitted, collect, f);
    if (status == EXIT_GOOD && *f->broken)
        status = anomaly_not_finite(a, f->broken, 1);
    if (status == EXIT_GOOD && f->blocks == 0)
        status = anomaly_fail(a, "none of the pictures for the bank can be read");
    return status;
}

/* ---- The bank ---- */

static int select_patches(struct fit *f)
{
    struct bank *bank = &f->a->bank;
    const size_t points = (size_t)f->blocks * f->patch_count;
    size_t wanted = f->a->options.bank;
    if (wanted == 0)
        wanted = points / 10 < BANK_DEFAULT ? points / 10 + 1 : BANK_DEFAULT;
    f->chosen = malloc(wanted * sizeof *f->chosen);
    bank->channels = f->a->patches.grid.channels;
    if (f->chosen)
        bank->count = bank_select(f->points, points, f->projection.channels, (uint32_t)wanted,
                                  f->a->options.seed, f->chosen);
    bank->values = malloc((size_t)bank->count * bank->channels * sizeof *bank->values + 1);
    return bank->count > 0 && bank->values ? EXIT_GOOD : no_memory(f);
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

static bool gather(void *user, const struct glcnn_data_batch *batch, glcnn_image *patches,
                   char error[GLCNN_ERROR_LENGTH])
{
    const struct fit *f = user;
    const uint32_t channels = f->a->bank.channels;
    (void)error;
    if (!read_batch(f, patches, channels))
        return false;
    for (uint32_t n = 0; n < batch->count; n++)
        if (batch->indices[n] != UINT32_MAX && f->block_of[batch->indices[n]] != NOWHERE)
            gather_picture(f, values_of(f, n, channels), batch->indices[n]);
    return true;
}

/* Patches are made a second time rather than all kept. */
static int make_bank(struct fit *f)
{
    int status = select_patches(f);
    if (status == EXIT_GOOD)
        status = anomaly_visit(f->a, f->fitted, gather, f);
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

static bool rate(void *user, const struct glcnn_data_batch *batch, glcnn_image *patches,
                 char error[GLCNN_ERROR_LENGTH])
{
    struct fit *f = user;
    (void)error;
    if (!nearest_run(&f->a->nearest, patches))
        return false;
    for (uint32_t n = 0; n < batch->count; n++)
        if (batch->indices[n] != UINT32_MAX && f->held[batch->indices[n]])
            add_score(f, n, batch->indices[n]);
    return true;
}

static int rate_held_out(struct fit *f)
{
    struct anomaly *a = f->a;
    f->scores = calloc(f->pictures, sizeof *f->scores);
    if (!f->scores)
        return no_memory(f);
    if (!nearest_create(a->tool.device, &a->bank, &a->patches.grid, ANOMALY_BATCH, &a->nearest))
        return anomaly_fail(a, model_failure(a->tool.device));
    int status = anomaly_visit(a, f->held, rate, f);
    if (status == EXIT_GOOD && *f->broken)
        status = anomaly_not_finite(a, f->broken, 1);
    if (status == EXIT_GOOD && f->score_count == 0)
        status = anomaly_fail(a, "none of the pictures for the threshold can be read");
    return status;
}

static void set_threshold(struct fit *f)
{
    size_t rank;
    struct anomaly_record *r = &f->a->record;
    *r = (struct anomaly_record){.quantile = f->a->options.quantile,
                                 .fitted = f->blocks,
                                 .held_out = f->score_count,
                                 .seed = f->a->options.seed};
    r->threshold = scores_threshold(f->scores, f->score_count, r->quantile, &rank);
    r->rank = (uint32_t)rank;
}

/* ---- The answer ---- */

static void tell_threshold(const struct anomaly_record *r)
{
    const double above = 1 - (double)r->rank / (r->held_out + 1);
    output("threshold: %.6g, number %" PRIu32 " of the %" PRIu32
           " scores of normal pictures that are not in the bank, from the lowest; about %.0f %% of "
           "normal pictures will score higher\n",
           r->threshold, r->rank, r->held_out, 100 * above);
    if (r->quantile * (r->held_out + 1) > r->held_out)
        output("for the quantile %g of --quantile hold out %.0f normal pictures or more\n",
               r->quantile, ceil(r->quantile / (1 - r->quantile) - 1e-9));
}

static void tell(const struct fit *f)
{
    const struct anomaly *a = f->a;
    const struct form *grid = &a->patches.grid;
    for (size_t k = 0; k < a->patches.output_count; k++) {
        const struct map *output_of = &a->patches.outputs[k];
        output("layer: %s, %ux%u pixels of %u features\n", output_of->label, output_of->form.width,
               output_of->form.height, output_of->form.channels);
    }
    output("bank: %u of the %zu patches of %u pictures, %ux%u patches each\n", a->bank.count,
           (size_t)f->blocks * f->patch_count, f->blocks, grid->width, grid->height);
    if (f->projection.network)
        output("chosen in a random projection to %u of %u dimensions\n", f->projection.channels,
               grid->channels);
    tell_threshold(&a->record);
    output("model: %s\n", a->options.out);
}

static int answer(const struct fit *f)
{
    const struct anomaly *a = f->a;
    if (!a->options.json) {
        tell(f);
        return EXIT_GOOD;
    }
    cJSON *json = cJSON_CreateObject();
    cJSON *layers = cJSON_AddArrayToObject(json, "layers");
    for (size_t k = 0; k < a->patches.output_count; k++)
        cJSON_AddItemToArray(layers, cJSON_CreateString(a->patches.outputs[k].label));
    cJSON_AddNumberToObject(json, "columns", a->patches.grid.width);
    cJSON_AddNumberToObject(json, "rows", a->patches.grid.height);
    cJSON_AddNumberToObject(json, "channels", a->patches.grid.channels);
    cJSON_AddNumberToObject(json, "pictures", f->blocks);
    cJSON_AddNumberToObject(json, "bank", a->bank.count);
    cJSON_AddNumberToObject(json, "held_out", a->record.held_out);
    cJSON_AddNumberToObject(json, "rank", a->record.rank);
    cJSON_AddNumberToObject(json, "threshold", a->record.threshold);
    json_add_text(json, "model", a->options.out);
    return json_print(a->command, json);
}

static int write(const struct fit *f)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct anomaly *a = f->a;
    return anomaly_file_write(a->options.out, &a->saved, &a->patches, &a->bank, &a->record, error)
               ? EXIT_GOOD
               : anomaly_fail(a, error);
}

static int fit(struct fit *f, const char *folder)
{
    int status = open_all(f->a, folder);
    if (status == EXIT_GOOD) {
        f->pictures = f->a->pictures.info->counts[GLCNN_DATA_PART_TEST];
        status = divide(f, folder);
    }
    if (status == EXIT_GOOD)
        status = collect_points(f);
    if (status == EXIT_GOOD)
        status = make_bank(f);
    if (status == EXIT_GOOD)
        status = rate_held_out(f);
    if (status != EXIT_GOOD)
        return status;
    set_threshold(f);
    struct text text = {0};
    pictures_describe_skipped(&f->a->pictures, &text);
    print_remarks(f->a->command, &text);
    status = write(f);
    return status == EXIT_GOOD ? answer(f) : status;
}

static int claim_files(struct anomaly *a, const char *folder)
{
    char error[GLCNN_ERROR_LENGTH];
    a->claims.force = a->options.force;
    claims_read(&a->claims, folder);
    claims_read(&a->claims, a->options.model);
    claims_write(&a->claims, &(struct claim_output){.option = "--out",
                                                    .path = a->options.out,
                                                    .mark = &claim_checkpoint,
                                                    .in_place = true});
    return claims_take(&a->claims, error) ? EXIT_GOOD : anomaly_fail(a, error);
}

int anomaly_fit(struct anomaly *a, const char *folder)
{
    struct fit f = {.a = a};
    int status = claim_files(a, folder);
    if (status == EXIT_GOOD)
        status = fit(&f, folder);
    projection_destroy(&f.projection);
    free(f.held);
    free(f.fitted);
    free(f.points);
    free(f.batch);
    free(f.block_of);
    free(f.chosen);
    free(f.scores);
    return status;
}
