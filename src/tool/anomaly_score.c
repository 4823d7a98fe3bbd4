/* glcnn anomaly score: prints how far pictures are from the bank. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "anomaly.h"
#include "train/anomaly_pictures.h"

struct rating {
    struct anomaly *a;
    uint32_t pictures;
    cJSON *list; /* of the answer; NULL: lines are printed */
    uint32_t not_finite;
    char first[ANOMALY_PATH]; /* the name of the first of these */
    const struct glcnn_anomaly_summary *all;
};

/* ---- Files ---- */

/* DIR/00012-scratch-003.png of .../scratch/003.jpg: numbers keep names different. */
static void name_map(const struct anomaly *a, uint32_t index, const char *name, const char *label,
                     char map[2 * ANOMALY_PATH])
{
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    const char *dot = strrchr(base, '.');
    const int length = (int)(dot && dot > base ? (size_t)(dot - base) : strlen(base));
    snprintf(map, 2 * ANOMALY_PATH, "%s/%05u-%.60s%s%.*s.png", a->maps, index, label,
             *label ? "-" : "", length < 100 ? length : 100, base);
}

static void claim_map(struct anomaly *a, uint32_t index)
{
    char name[ANOMALY_PATH], label[ANOMALY_PATH], map[2 * ANOMALY_PATH];
    glcnn_dataset_name(glcnn_anomaly_data(a->bank), GLCNN_DATA_PART_TEST, index, name, sizeof name);
    anomaly_label(name, label);
    name_map(a, index, name, label, map);
    claims_read(&a->claims, name);
    claims_write(&a->claims,
                 &(struct claim_output){.option = "--maps", .path = map, .has_lock = true});
}

static int claim_maps(struct rating *r, const char *model, char *const *files)
{
    char error[GLCNN_ERROR_LENGTH];
    struct anomaly *a = r->a;
    claims_read(&a->claims, model);
    for (; *files; files++)
        claims_read(&a->claims, *files);
    claims_folder(&a->claims, "--maps", a->maps, "pictures");
    for (uint32_t i = 0; i < r->pictures; i++)
        claim_map(a, i);
    return claims_take(&a->claims, error) ? EXIT_GOOD : anomaly_fail(a, error);
}

/* Standard output has the answers: what opening decided goes to standard error. */
static int open_all(struct rating *r, const char *model, char *const *files)
{
    char error[GLCNN_ERROR_LENGTH];
    struct anomaly *a = r->a;
    uint32_t count = 0;
    const int status = anomaly_open_device(a);
    if (status != EXIT_GOOD)
        return status;
    while (files[count])
        count++;
    if (glcnn_anomaly_load(a->tool.device, model, &a->bank, error) != GLCNN_SUCCESS ||
        glcnn_anomaly_begin(a->bank, (const char *const *)files, count, error) != GLCNN_SUCCESS)
        return anomaly_fail(a, error);
    print_error_lines(glcnn_anomaly_notes(a->bank));
    print_remarks(a->command, glcnn_anomaly_remarks(a->bank));
    r->pictures = glcnn_dataset_info(glcnn_anomaly_data(a->bank))->counts[GLCNN_DATA_PART_TEST];
    return a->maps ? claim_maps(r, model, files) : EXIT_GOOD;
}

/* ---- Pictures ---- */

static void add_json(const struct rating *r, const struct glcnn_anomaly_score *p, const char *map)
{
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddStringToObject(entry, "image", p->name);
    cJSON_AddNumberToObject(entry, "score", p->score);
    cJSON_AddBoolToObject(entry, "anomalous", p->is_anomalous);
    if (p->kind != GLCNN_ANOMALY_UNLABELLED)
        cJSON_AddStringToObject(entry, "label", p->label);
    cJSON_AddNumberToObject(entry, "column", p->column);
    cJSON_AddNumberToObject(entry, "row", p->row);
    if (*map)
        cJSON_AddStringToObject(entry, "map", map);
    cJSON_AddItemToArray(r->list, entry);
}

static bool tell_one(struct rating *r, const struct glcnn_anomaly_score *p,
                     char error[GLCNN_ERROR_LENGTH])
{
    char map[2 * ANOMALY_PATH] = "";
    const struct anomaly *a = r->a;
    if (!p->is_finite) {
        if (r->not_finite++ == 0)
            snprintf(r->first, sizeof r->first, "%s", p->name);
        return true;
    }
    if (a->maps) {
        name_map(a, p->index, p->name, p->label, map);
        if (glcnn_anomaly_save_map(a->bank, map, error) != GLCNN_SUCCESS)
            return false;
    }
    if (r->list)
        add_json(r, p, map);
    else
        output("%s %.6g %s\n", p->name, p->score, p->is_anomalous ? "anomalous" : "normal");
    return true;
}

static int tell_all(struct rating *r)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct glcnn_anomaly_score *p;
    while (glcnn_anomaly_next(r->a->bank, &p, error) == GLCNN_SUCCESS) {
        if (!p)
            return EXIT_GOOD;
        if (!tell_one(r, p, error))
            break;
    }
    return anomaly_fail(r->a, error);
}

/* ---- Answers ---- */

static uint32_t count_labelled(const struct rating *r)
{
    return r->all->normal_count + r->all->defect_count;
}

static void tell(const struct rating *r)
{
    const struct glcnn_anomaly_summary *all = r->all;
    if (count_labelled(r) == 0)
        return;
    if (!isnan(all->auroc))
        output("AUROC %.4f\n", all->auroc);
    output("above the threshold of %.6g: %u of %u anomalous pictures, %u of %u normal ones\n",
           glcnn_anomaly_info(r->a->bank)->threshold, all->defects_above, all->defect_count,
           all->normal_above, all->normal_count);
}

static void add_tally(cJSON *json, const char *name, uint32_t count, uint32_t above)
{
    cJSON *object = cJSON_AddObjectToObject(json, name);
    cJSON_AddNumberToObject(object, "pictures", count);
    cJSON_AddNumberToObject(object, "above_threshold", above);
}

static int print_json(struct rating *r)
{
    const struct glcnn_anomaly_description *info = glcnn_anomaly_info(r->a->bank);
    const struct glcnn_anomaly_summary *all = r->all;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "threshold", info->threshold);
    cJSON_AddNumberToObject(json, "columns", info->columns);
    cJSON_AddNumberToObject(json, "rows", info->rows);
    if (!isnan(all->auroc))
        cJSON_AddNumberToObject(json, "auroc", all->auroc);
    if (count_labelled(r) > 0) {
        add_tally(json, "labelled_normal", all->normal_count, all->normal_above);
        add_tally(json, "labelled_anomalous", all->defect_count, all->defects_above);
    }
    cJSON_AddItemToObject(json, "pictures", r->list);
    r->list = NULL;
    return json_print(r->a->command, json);
}

/* Why there is no AUROC, unless pictures were given one by one. */
static void tell_why(const struct rating *r)
{
    if (count_labelled(r) == 0 && r->pictures > 1)
        print_error(
            "glcnn anomaly: no AUROC: no picture lies in a folder good (ok, normal), or in one "
            "beside it, so none has a label\n");
    else if (count_labelled(r) > 0)
        print_error("glcnn anomaly: no AUROC: all %u pictures with a label are %s\n",
                    count_labelled(r), r->all->defect_count > 0 ? "anomalous" : "normal");
}

static int complain_of_not_finite(const struct rating *r)
{
    char more[64] = "";
    if (r->not_finite > 1)
        snprintf(more, sizeof more, " (and %u more)", r->not_finite - 1);
    return complain(r->a->command, EXIT_FAILED,
                    "%s%s: the backbone's features are NaN or infinite; either the values of the "
                    "picture are too large for it, or its weights are damaged",
                    r->first, more);
}

/* A picture that cannot be read, or scored, does not keep the others from their answers; the status
 * tells. */
static int answer(struct rating *r)
{
    struct anomaly *a = r->a;
    int status = EXIT_GOOD;
    r->all = glcnn_anomaly_summarise(a->bank);
    if (r->list)
        status = print_json(r);
    else
        tell(r);
    if (isnan(r->all->auroc))
        tell_why(r);
    const uint32_t labelled = count_labelled(r), finite = r->pictures - r->not_finite;
    if (labelled > 0 && labelled < finite)
        print_error("glcnn anomaly: %u of %u pictures have no label, and count nowhere\n",
                    finite - labelled, r->pictures);
    print_remarks(a->command, glcnn_anomaly_remarks(a->bank));
    if (status == EXIT_GOOD && r->not_finite > 0)
        status = complain_of_not_finite(r);
    return glcnn_dataset_skipped(glcnn_anomaly_data(a->bank)) > 0 ? EXIT_FAILED : status;
}

int anomaly_score(struct anomaly *a, const char *model, char *const *files)
{
    struct rating r = {.a = a, .list = a->json ? cJSON_CreateArray() : NULL};
    int status = open_all(&r, model, files);
    if (status == EXIT_GOOD)
        status = tell_all(&r);
    if (status == EXIT_GOOD)
        status = answer(&r);
    cJSON_Delete(r.list);
    return status;
}
