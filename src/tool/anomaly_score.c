/* glcnn anomaly score: how far pictures are from the bank. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "anomaly.h"
#include "task/anomaly_scores.h"
#include "task/heat_map.h"

struct rating {
    struct anomaly *a;
    uint32_t pictures;
    cJSON *list; /* of the answer; NULL: lines are printed */
    /* Of the pictures that have labels. */
    double *scores;
    bool *are_defects;
    uint32_t labelled;
    uint32_t not_finite;
    char first[ANOMALY_PATH]; /* the name of the first of these */
};

/* ---- Opening ---- */

/* Paths to score. */
struct paths {
    char **items;
    uint32_t count;
};

static void free_paths(struct paths *paths)
{
    for (uint32_t i = 0; i < paths->count; i++)
        free(paths->items[i]);
    free(paths->items);
}

static bool add_path(void *user, const char *path)
{
    struct paths *paths = user;
    char **items = realloc(paths->items, ((size_t)paths->count + 2) * sizeof *items);
    if (!items)
        return false;
    paths->items = items;
    items[paths->count] = strdup(path);
    items[paths->count + 1] = NULL;
    return items[paths->count] && ++paths->count;
}

/* What to score of each file; false: not enough memory. */
static bool find_paths(char *const *files, struct paths *paths)
{
    for (size_t i = 0; files[i]; i++) {
        const uint32_t before = paths->count;
        if (!anomaly_test_folders(files[i], add_path, paths))
            return false;
        if (paths->count == before && !add_path(paths, files[i]))
            return false;
        if (paths->count > before + 1)
            print_error(
                "glcnn anomaly: of %s the %u folders \"test\" are scored, and nothing else\n",
                files[i], paths->count - before);
    }
    return true;
}

static int open_pictures(struct anomaly *a, char *const *files)
{
    char error[GLCNN_ERROR_LENGTH] = "not enough memory";
    struct paths paths = {.items = NULL};
    bool opened = find_paths(files, &paths) &&
                  pictures_open_files((const char *const *)paths.items, paths.count, &a->saved,
                                      &a->pictures, error);
    free_paths(&paths);
    if (!opened)
        return anomaly_fail(a, error);
    struct text text = {0};
    pictures_describe_decisions(&a->pictures, &text);
    print_error_shown(&text); /* standard output has the answers */
    pictures_describe_middle(&a->pictures, GLCNN_DATA_PART_TEST, &text);
    print_remarks(a->command, &text);
    return EXIT_GOOD;
}

static int open_network(struct anomaly *a, const char *path)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct form *grid = &a->patches.grid;
    if (!patches_open(&a->saved, path, a->tool.device, ANOMALY_BATCH, &a->patches, error) ||
        !anomaly_check_sizes(&a->pictures, grid, error))
        return anomaly_fail(a, error);
    if (grid->channels != a->bank.channels)
        return complain(a->command, EXIT_FAILED,
                        "%s: its network makes patches of %u values, its bank has patches of %u",
                        path, grid->channels, a->bank.channels);
    return pictures_take(&a->pictures, &a->saved, NULL, 0, &a->patches.runner) &&
                   nearest_create(a->tool.device, &a->bank, grid, ANOMALY_BATCH, &a->nearest)
               ? EXIT_GOOD
               : anomaly_fail(a, model_failure(a->tool.device));
}

/* A picture and what was found of it. */
struct rated {
    uint32_t index;
    char name[ANOMALY_PATH], label[ANOMALY_PATH], map[2 * ANOMALY_PATH];
    enum anomaly_kind kind;
    double score;
    uint32_t worst; /* patch */
    bool is_anomalous;
};

/* DIR/00012-scratch-003.png of .../scratch/003.jpg: numbers keep names different. */
static void name_map(const struct anomaly *a, struct rated *p)
{
    const char *slash = strrchr(p->name, '/'), *base = slash ? slash + 1 : p->name;
    const char *dot = strrchr(base, '.');
    const int length = (int)(dot && dot > base ? (size_t)(dot - base) : strlen(base));
    snprintf(p->map, sizeof p->map, "%s/%05u-%.60s%s%.*s.png", a->options.maps, p->index, p->label,
             *p->label ? "-" : "", length < 100 ? length : 100, base);
}

static void name_picture(const struct anomaly *a, struct rated *p)
{
    glcnn_dataset_name(a->pictures.set, GLCNN_DATA_PART_TEST, p->index, p->name, sizeof p->name);
    p->kind = anomaly_label(p->name, p->label);
}

/* ---- Files ---- */

static int claim_maps(struct anomaly *a, const char *model, char *const *files)
{
    char error[GLCNN_ERROR_LENGTH];
    struct claims *c = &a->claims;
    c->force = a->options.force;
    claims_read(c, model);
    for (; *files; files++)
        claims_read(c, *files);
    claims_folder(c, "--maps", a->options.maps, "pictures");
    for (uint32_t i = 0; i < a->pictures.info->counts[GLCNN_DATA_PART_TEST]; i++) {
        struct rated p = {.index = i};
        name_picture(a, &p);
        name_map(a, &p);
        claims_read(c, p.name);
        claims_write(c,
                     &(struct claim_output){.option = "--maps", .path = p.map, .has_lock = true});
    }
    return claims_take(c, error) ? EXIT_GOOD : anomaly_fail(a, error);
}

static int open_all(struct anomaly *a, const char *model, char *const *files)
{
    char error[GLCNN_ERROR_LENGTH];
    if (!saved_read(model, &a->saved, error) ||
        !anomaly_file_read(model, &a->saved, &a->bank, &a->record, error))
        return anomaly_fail(a, error);
    int status = open_pictures(a, files);
    if (status == EXIT_GOOD && a->options.maps)
        status = claim_maps(a, model, files);
    if (status == EXIT_GOOD)
        status = anomaly_open_device(a);
    if (status == EXIT_GOOD)
        status = open_network(a, model);
    return status;
}

/* ---- Pictures ---- */

static void print_line(const struct rated *p)
{
    output("%s %.6g %s\n", p->name, p->score, p->is_anomalous ? "anomalous" : "normal");
}

static void add_json(const struct rating *r, const struct rated *p)
{
    const uint32_t columns = r->a->patches.grid.width;
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddStringToObject(entry, "image", p->name);
    cJSON_AddNumberToObject(entry, "score", p->score);
    cJSON_AddBoolToObject(entry, "anomalous", p->is_anomalous);
    if (p->kind != ANOMALY_UNLABELLED)
        cJSON_AddStringToObject(entry, "label", p->label);
    cJSON_AddNumberToObject(entry, "column", p->worst % columns);
    cJSON_AddNumberToObject(entry, "row", p->worst / columns);
    if (*p->map)
        cJSON_AddStringToObject(entry, "map", p->map);
    cJSON_AddItemToArray(r->list, entry);
}

static bool draw(const struct rating *r, const struct glcnn_data_batch *batch, uint32_t n,
                 struct rated *p, char error[GLCNN_ERROR_LENGTH])
{
    const struct form *form = &r->a->saved.form, *grid = &r->a->patches.grid;
    const size_t values = (size_t)form->width * form->height * form->channels;
    const struct nearest *nearest = &r->a->nearest;
    const struct heat_map map = {.width = form->width,
                                 .height = form->height,
                                 .channels = form->channels,
                                 .bytes = batch->bytes ? batch->bytes + n * values : NULL,
                                 .columns = grid->width,
                                 .rows = grid->height,
                                 .distances =
                                     nearest->distances + (size_t)n * nearest_count(nearest),
                                 .threshold = r->a->record.threshold};
    name_map(r->a, p);
    return heat_map_write(p->map, &map, error);
}

static void note_label(struct rating *r, const struct rated *p)
{
    if (p->kind == ANOMALY_UNLABELLED)
        return;
    r->scores[r->labelled] = p->score;
    r->are_defects[r->labelled++] = p->kind == ANOMALY_DEFECT;
}

static bool rate_one(struct rating *r, const struct glcnn_data_batch *batch, uint32_t n,
                     char error[GLCNN_ERROR_LENGTH])
{
    struct rated p = {.index = batch->indices[n]};
    const struct anomaly *a = r->a;
    name_picture(a, &p);
    if (!anomaly_rate(a, n, &p.score, &p.worst)) {
        if (r->not_finite++ == 0)
            snprintf(r->first, sizeof r->first, "%s", p.name);
        return true;
    }
    p.is_anomalous = p.score > a->record.threshold;
    if (a->options.maps && !draw(r, batch, n, &p, error))
        return false;
    note_label(r, &p);
    if (r->list)
        add_json(r, &p);
    else
        print_line(&p);
    return true;
}

static bool rate(void *user, const struct glcnn_data_batch *batch, glcnn_image *patches,
                 char error[GLCNN_ERROR_LENGTH])
{
    struct rating *r = user;
    bool good = nearest_run(&r->a->nearest, patches);
    for (uint32_t n = 0; good && n < batch->count; n++)
        good = batch->indices[n] == UINT32_MAX || rate_one(r, batch, n, error);
    return good;
}

/* ---- Answers ---- */

/* Pictures of a kind, and those of them that are above the threshold. */
struct tally {
    uint32_t all, above;
};

static struct tally count(const struct rating *r, bool are_defects)
{
    struct tally t = {0};
    for (uint32_t i = 0; i < r->labelled; i++)
        if (r->are_defects[i] == are_defects) {
            t.all++;
            t.above += r->scores[i] > r->a->record.threshold;
        }
    return t;
}

static void tell(const struct rating *r, double auroc)
{
    const struct tally normal = count(r, false), defects = count(r, true);
    if (r->labelled == 0)
        return;
    if (!isnan(auroc))
        output("AUROC %.4f\n", auroc);
    output("above the threshold of %.6g: %u of %u anomalous pictures, %u of %u normal ones\n",
           r->a->record.threshold, defects.above, defects.all, normal.above, normal.all);
}

static void add_tally(cJSON *json, const char *name, struct tally tally)
{
    cJSON *object = cJSON_AddObjectToObject(json, name);
    cJSON_AddNumberToObject(object, "pictures", tally.all);
    cJSON_AddNumberToObject(object, "above_threshold", tally.above);
}

static int print_json(struct rating *r, double auroc)
{
    const struct form *grid = &r->a->patches.grid;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "threshold", r->a->record.threshold);
    cJSON_AddNumberToObject(json, "columns", grid->width);
    cJSON_AddNumberToObject(json, "rows", grid->height);
    if (!isnan(auroc))
        cJSON_AddNumberToObject(json, "auroc", auroc);
    if (r->labelled > 0) {
        add_tally(json, "labelled_normal", count(r, false));
        add_tally(json, "labelled_anomalous", count(r, true));
    }
    cJSON_AddItemToObject(json, "pictures", r->list);
    r->list = NULL;
    return json_print(r->a->command, json);
}

/* Why there is no AUROC, unless pictures were given one by one. */
static void tell_why(const struct rating *r)
{
    const char *kind = r->labelled > 0 && r->are_defects[0] ? "anomalous" : "normal";
    if (r->labelled == 0 && r->pictures > 1)
        print_error(
            "glcnn anomaly: no AUROC: no picture lies in a folder good (ok, normal), or in one "
            "beside it, so none has a label\n");
    else if (r->labelled > 0)
        print_error("glcnn anomaly: no AUROC: all %u pictures with a label are %s\n", r->labelled,
                    kind);
}

/* A picture that cannot be read, or scored, does not keep the others from their answers; the status
 * tells. */
static int answer(struct rating *r)
{
    struct anomaly *a = r->a;
    const double auroc = scores_auroc(r->scores, r->are_defects, r->labelled);
    int status = EXIT_GOOD;
    if (r->list)
        status = print_json(r, auroc);
    else
        tell(r, auroc);
    if (isnan(auroc))
        tell_why(r);
    if (r->labelled > 0 && r->labelled < r->pictures - r->not_finite)
        print_error("glcnn anomaly: %u of %u pictures have no label, and count nowhere\n",
                    r->pictures - r->not_finite - r->labelled, r->pictures);
    struct text text = {0};
    pictures_describe_skipped(&a->pictures, &text);
    print_remarks(a->command, &text);
    if (status == EXIT_GOOD && r->not_finite > 0)
        status = anomaly_not_finite(a, r->first, r->not_finite);
    return glcnn_dataset_skipped(a->pictures.set) > 0 ? EXIT_FAILED : status;
}

static int rate_all(struct rating *r)
{
    struct anomaly *a = r->a;
    r->pictures = a->pictures.info->counts[GLCNN_DATA_PART_TEST];
    r->scores = calloc((size_t)r->pictures + 1, sizeof *r->scores);
    r->are_defects = calloc((size_t)r->pictures + 1, sizeof *r->are_defects);
    r->list = a->options.json ? cJSON_CreateArray() : NULL;
    if (!r->scores || !r->are_defects)
        return anomaly_fail(a, "not enough memory");
    int status = anomaly_visit(a, NULL, rate, r);
    return status == EXIT_GOOD ? answer(r) : status;
}

int anomaly_score(struct anomaly *a, const char *model, char *const *files)
{
    struct rating r = {.a = a};
    int status = open_all(a, model, files);
    if (status == EXIT_GOOD)
        status = rate_all(&r);
    cJSON_Delete(r.list);
    free(r.scores);
    free(r.are_defects);
    return status;
}
