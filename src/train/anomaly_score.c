/* Scoring: how far pictures are from the bank. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "anomaly.h"
#include "base/show.h"
#include "task/anomaly_scores.h"
#include "task/heat_map.h"
#include "visa.h"

/* ---- The object of a file ---- */

static glcnn_status open_network(glcnn_anomaly *a, const char *path, char error[GLCNN_ERROR_LENGTH])
{
    const struct form *grid = &a->patches.grid;
    if (!saved_read(path, &a->saved, error) ||
        !anomaly_file_read(path, &a->saved, &a->bank, &a->record, error) ||
        !patches_open(&a->saved, path, a->device, ANOMALY_BATCH, &a->patches, error))
        return GLCNN_MALFORMED_DATA;
    if (grid->channels != a->bank.channels)
        return fail_with(
            error, GLCNN_MALFORMED_DATA,
            "%.300s: its network makes patches of %u values, its bank has patches of %u", path,
            grid->channels, a->bank.channels);
    anomaly_describe(a);
    return nearest_create(a->device, &a->bank, grid, ANOMALY_BATCH, &a->nearest)
               ? GLCNN_SUCCESS
               : trained_refuse_device(error, a->device);
}

glcnn_status glcnn_anomaly_load(glcnn_device *device, const char *path, glcnn_anomaly **anomaly,
                                char error[GLCNN_ERROR_LENGTH])
{
    glcnn_status status = anomaly_create(device, anomaly, error);
    if (status == GLCNN_SUCCESS)
        status = open_network(*anomaly, path, error);
    if (status != GLCNN_SUCCESS)
        glcnn_anomaly_destroy(anomaly);
    return status;
}

/* ---- Which pictures ---- */

/* Finds what to score of each path. False: not enough memory. */
static bool find_paths(const char *const *given, uint32_t count, struct anomaly_paths *paths,
                       struct text *remarks)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t before = paths->count;
        if (!anomaly_test_folders(given[i], anomaly_add_path, paths) ||
            (paths->count == before && !anomaly_add_path(paths, given[i])))
            return false;
        if (paths->count > before + 1 && visa_has_split(given[i]))
            text_show(remarks,
                      "of %s the %u pictures that split_csv/1cls.csv has for tests are scored, and "
                      "nothing else\n",
                      given[i], paths->count - before);
        else if (paths->count > before + 1)
            text_show(remarks, "of %s the %u folders \"test\" are scored, and nothing else\n",
                      given[i], paths->count - before);
    }
    return true;
}

static glcnn_status begin_scores(glcnn_anomaly *a, char error[GLCNN_ERROR_LENGTH])
{
    struct anomaly_scoring *s = &a->scoring;
    const size_t pictures = a->pictures.info->counts[GLCNN_DATA_PART_TEST];
    s->scores = calloc(pictures + 1, sizeof *s->scores);
    s->are_defects = calloc(pictures + 1, sizeof *s->are_defects);
    if (!s->scores || !s->are_defects)
        return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    if (!anomaly_load_pictures(a, &s->loader, error))
        return GLCNN_MALFORMED_DATA;
    s->left = glcnn_data_loader_steps(s->loader);
    return GLCNN_SUCCESS;
}

glcnn_status glcnn_anomaly_begin(glcnn_anomaly *a, const char *const *given, uint32_t count,
                                 char error[GLCNN_ERROR_LENGTH])
{
    struct anomaly_paths paths = {.items = NULL};
    anomaly_close_pictures(a);
    glcnn_status status = GLCNN_OUT_OF_MEMORY;
    if (!find_paths(given, count, &paths, &a->remarks))
        fail_with(error, status, "not enough memory");
    else
        status = anomaly_open_pictures(a, (const char *const *)paths.items, paths.count, error);
    anomaly_free_paths(&paths);
    if (status == GLCNN_SUCCESS)
        status = anomaly_take_pictures(a, error);
    if (status == GLCNN_SUCCESS)
        status = begin_scores(a, error);
    if (status != GLCNN_SUCCESS)
        anomaly_close_pictures(a);
    return status;
}

/* ---- Scores ---- */

static void note_label(struct anomaly_scoring *s)
{
    const struct glcnn_anomaly_score *score = &s->score;
    if (!score->is_finite || score->kind == GLCNN_ANOMALY_UNLABELLED)
        return;
    s->scores[s->labelled] = score->score;
    s->are_defects[s->labelled++] = score->kind == GLCNN_ANOMALY_DEFECT;
}

/* Scores place n of the batch. */
static void rate(glcnn_anomaly *a, uint32_t n)
{
    struct anomaly_scoring *s = &a->scoring;
    struct glcnn_anomaly_score *score = &s->score;
    const uint32_t columns = a->patches.grid.width;
    uint32_t worst = 0;
    *score = (struct glcnn_anomaly_score){
        .name = s->name, .label = s->label, .index = s->batch.indices[n]};
    glcnn_dataset_name(a->pictures.set, GLCNN_DATA_PART_TEST, score->index, s->name,
                       sizeof s->name);
    score->kind = anomaly_label(s->name, s->label);
    score->is_finite = s->has_score = anomaly_rate(a, n, &score->score, &worst);
    s->place = n;
    if (!score->is_finite)
        return;
    score->is_anomalous = score->score > a->record.threshold;
    score->column = worst % columns;
    score->row = worst / columns;
    score->distances = a->nearest.distances + (size_t)n * nearest_count(&a->nearest);
    note_label(s);
}

static glcnn_status run_batch(glcnn_anomaly *a, char error[GLCNN_ERROR_LENGTH])
{
    struct anomaly_scoring *s = &a->scoring;
    glcnn_status status = glcnn_data_loader_next(s->loader, &s->batch, error);
    s->left--;
    s->next = 0;
    if (status == GLCNN_SUCCESS) {
        glcnn_image *patches;
        if (!runner_results(&a->patches.runner, &s->batch, &patches) ||
            !nearest_run(&a->nearest, patches))
            status = trained_refuse_device(error, a->device);
    }
    if (status != GLCNN_SUCCESS)
        s->left = s->batch.count = 0;
    return status;
}

glcnn_status glcnn_anomaly_next(glcnn_anomaly *a, const struct glcnn_anomaly_score **score,
                                char error[GLCNN_ERROR_LENGTH])
{
    struct anomaly_scoring *s = &a->scoring;
    *score = NULL;
    s->has_score = false;
    if (!s->loader)
        return fail_with(error, GLCNN_INVALID_STATE,
                         "no pictures are under way: glcnn_anomaly_begin opens them");
    for (;;) {
        while (s->next < s->batch.count) {
            const uint32_t n = s->next++;
            if (s->batch.indices[n] == UINT32_MAX)
                continue; /* it could not be read */
            rate(a, n);
            *score = &s->score;
            return GLCNN_SUCCESS;
        }
        if (s->left == 0)
            return GLCNN_SUCCESS;
        const glcnn_status status = run_batch(a, error);
        if (status != GLCNN_SUCCESS)
            return status;
    }
}

glcnn_status glcnn_anomaly_save_map(const glcnn_anomaly *a, const char *path,
                                    char error[GLCNN_ERROR_LENGTH])
{
    const struct anomaly_scoring *s = &a->scoring;
    const struct form *form = &a->saved.form;
    const size_t values = (size_t)form->width * form->height * form->channels;
    const struct heat_map map = {.width = form->width,
                                 .height = form->height,
                                 .channels = form->channels,
                                 .bytes =
                                     s->batch.bytes ? s->batch.bytes + s->place * values : NULL,
                                 .columns = a->patches.grid.width,
                                 .rows = a->patches.grid.height,
                                 .distances = s->score.distances,
                                 .threshold = a->record.threshold};
    if (!s->has_score)
        return fail_with(error, GLCNN_INVALID_STATE, "there is no finite score under way");
    return heat_map_write(path, &map, error) ? GLCNN_SUCCESS : GLCNN_IO_ERROR;
}

const struct glcnn_anomaly_summary *glcnn_anomaly_summarise(glcnn_anomaly *a)
{
    struct anomaly_scoring *s = &a->scoring;
    struct glcnn_anomaly_summary *all = &s->summary;
    *all = (struct glcnn_anomaly_summary){.auroc =
                                              scores_auroc(s->scores, s->are_defects, s->labelled)};
    for (uint32_t i = 0; i < s->labelled; i++) {
        const bool is_above = s->scores[i] > a->record.threshold;
        (*(s->are_defects[i] ? &all->defect_count : &all->normal_count))++;
        *(s->are_defects[i] ? &all->defects_above : &all->normal_above) += is_above;
    }
    return all;
}
