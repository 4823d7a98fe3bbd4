/* Banks of normal pictures as objects: made, opened with pictures, destroyed. */
#include "anomaly.h"

#include <stdio.h>
#include <stdlib.h>

glcnn_status anomaly_create(glcnn_device *device, glcnn_anomaly **anomaly,
                            char error[GLCNN_ERROR_LENGTH])
{
    glcnn_anomaly *a = *anomaly = calloc(1, sizeof *a);
    if (!a)
        return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    const glcnn_status status = device ? GLCNN_SUCCESS : own_device_open(&a->own, NULL);
    a->device = device ? device : a->own.device;
    return status == GLCNN_SUCCESS ? status : fail_with(error, status, "%s", a->own.error);
}

void glcnn_anomaly_destroy(glcnn_anomaly **anomaly)
{
    glcnn_anomaly *a = *anomaly;
    if (!a)
        return;
    anomaly_close_pictures(a);
    nearest_destroy(&a->nearest);
    patches_destroy(&a->patches);
    own_device_close(&a->own);
    saved_free(&a->saved);
    bank_free(&a->bank);
    text_free(&a->notes);
    text_free(&a->remarks);
    text_free(&a->said);
    free(a);
    *anomaly = NULL;
}

void anomaly_describe(glcnn_anomaly *a)
{
    const struct form *grid = &a->patches.grid;
    a->info = (struct glcnn_anomaly_description){.threshold = a->record.threshold,
                                                 .columns = grid->width,
                                                 .rows = grid->height,
                                                 .channels = grid->channels,
                                                 .bank = a->bank.count};
}

const struct glcnn_anomaly_description *glcnn_anomaly_info(const glcnn_anomaly *anomaly)
{
    return &anomaly->info;
}

/* ---- Pictures ---- */

void anomaly_close_pictures(glcnn_anomaly *a)
{
    struct anomaly_scoring *s = &a->scoring;
    glcnn_data_loader_destroy(&s->loader);
    free(s->scores);
    free(s->are_defects);
    *s = (struct anomaly_scoring){.loader = NULL};
    pictures_close(&a->pictures);
    text_free(&a->notes);
    text_free(&a->remarks);
}

glcnn_status anomaly_open_pictures(glcnn_anomaly *a, const char *const *paths, uint32_t count,
                                   char error[GLCNN_ERROR_LENGTH])
{
    if (!pictures_open_files(paths, count, &a->saved, &a->pictures, error))
        return GLCNN_MALFORMED_DATA;
    pictures_describe_decisions(&a->pictures, &a->notes);
    pictures_describe_middle(&a->pictures, GLCNN_DATA_PART_TEST, &a->remarks);
    return GLCNN_SUCCESS;
}

glcnn_status anomaly_take_pictures(glcnn_anomaly *a, char error[GLCNN_ERROR_LENGTH])
{
    if (!anomaly_check_sizes(&a->pictures, &a->patches.grid, error))
        return GLCNN_MALFORMED_DATA;
    return pictures_take(&a->pictures, &a->saved, NULL, 0, &a->patches.runner)
               ? GLCNN_SUCCESS
               : trained_refuse_device(error, a->device);
}

bool anomaly_load_pictures(const glcnn_anomaly *a, glcnn_data_loader **loader,
                           char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_data_loader_parameters parameters = {.part = GLCNN_DATA_PART_TEST,
                                                            .batch = ANOMALY_BATCH};
    return pictures_load(&a->pictures, &parameters, loader, error);
}

const glcnn_dataset *glcnn_anomaly_data(const glcnn_anomaly *a)
{
    return a->pictures.set;
}

const char *glcnn_anomaly_notes(const glcnn_anomaly *a)
{
    return trained_notes(&a->notes);
}

const char *glcnn_anomaly_remarks(glcnn_anomaly *a)
{
    if (a->pictures.set)
        pictures_describe_skipped(&a->pictures, &a->remarks);
    return trained_take_remarks(&a->remarks, &a->said);
}

bool anomaly_rate(const glcnn_anomaly *a, uint32_t picture, double *score, uint32_t *worst)
{
    const struct nearest *n = &a->nearest;
    *worst = nearest_worst(n, picture);
    if (*worst == UINT32_MAX)
        return false;
    const size_t at = (size_t)picture * nearest_count(n) + *worst;
    *score = bank_score(&a->bank, n->patches + at * a->bank.channels, (uint32_t)n->numbers[at],
                        n->distances[at]);
    return true;
}
