/* glcnn anomaly fit: prints what was fitted to normal pictures. */
#include <inttypes.h>
#include <math.h>

#include "anomaly.h"

static void tell_threshold(const struct glcnn_anomaly_description *r)
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

static void tell(const struct anomaly *a, const struct glcnn_anomaly_description *r)
{
    for (uint32_t k = 0; k < r->layer_count; k++)
        output("layer: %s, %ux%u pixels of %u features\n", r->layers[k].label, r->layers[k].width,
               r->layers[k].height, r->layers[k].channels);
    output("bank: %u of the %zu patches of %u pictures, %ux%u patches each\n", r->bank,
           (size_t)r->fitted * r->columns * r->rows, r->fitted, r->columns, r->rows);
    if (r->chosen_in < r->channels)
        output("chosen in a random projection to %u of %u dimensions\n", r->chosen_in, r->channels);
    tell_threshold(r);
    output("model: %s\n", a->out);
}

static int answer(const struct anomaly *a)
{
    const struct glcnn_anomaly_description *r = glcnn_anomaly_info(a->bank);
    if (!a->json) {
        tell(a, r);
        return EXIT_GOOD;
    }
    cJSON *json = cJSON_CreateObject();
    cJSON *layers = cJSON_AddArrayToObject(json, "layers");
    for (uint32_t k = 0; k < r->layer_count; k++)
        cJSON_AddItemToArray(layers, cJSON_CreateString(r->layers[k].label));
    cJSON_AddNumberToObject(json, "columns", r->columns);
    cJSON_AddNumberToObject(json, "rows", r->rows);
    cJSON_AddNumberToObject(json, "channels", r->channels);
    cJSON_AddNumberToObject(json, "pictures", r->fitted);
    cJSON_AddNumberToObject(json, "bank", r->bank);
    cJSON_AddNumberToObject(json, "held_out", r->held_out);
    cJSON_AddNumberToObject(json, "rank", r->rank);
    cJSON_AddNumberToObject(json, "threshold", r->threshold);
    json_add_text(json, "model", a->out);
    return json_print(a->command, json);
}

static int fit(struct anomaly *a, const char *folder)
{
    char error[GLCNN_ERROR_LENGTH];
    if (glcnn_anomaly_fit(a->tool.device, a->model, folder, &a->parameters, &a->bank, error) !=
        GLCNN_SUCCESS)
        return anomaly_fail(a, error);
    print_error_lines(glcnn_anomaly_notes(a->bank));
    print_remarks(a->command, glcnn_anomaly_remarks(a->bank));
    return glcnn_anomaly_save(a->bank, a->out, error) == GLCNN_SUCCESS ? answer(a)
                                                                       : anomaly_fail(a, error);
}

static int claim_files(struct anomaly *a, const char *folder)
{
    char error[GLCNN_ERROR_LENGTH];
    claims_read(&a->claims, folder);
    claims_read(&a->claims, a->model);
    claims_write(&a->claims, &(struct claim_output){.option = "--out",
                                                    .path = a->out,
                                                    .mark = &claim_checkpoint,
                                                    .in_place = true});
    return claims_take(&a->claims, error) ? EXIT_GOOD : anomaly_fail(a, error);
}

int anomaly_fit(struct anomaly *a, const char *folder)
{
    int status = claim_files(a, folder);
    if (status == EXIT_GOOD)
        status = anomaly_open_device(a);
    return status == EXIT_GOOD ? fit(a, folder) : status;
}
