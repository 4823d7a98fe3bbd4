/* Keypoints: places in a picture that have names, of a heat map for each.
 *
 * The numbers of a picture are its keypoints in pairs, x and y in its own pixels. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder.h"
#include "detection_draw.h"
#include "keypoint_map.h"
#include "keypoint_sides.h"
#include "model.h"
#include "truth.h"
#include "score.h"

#define NEAR 0.05 /* of the picture's longer side: what is right */

/* ---- The data ---- */

static const char x_ending[] = "_x", y_ending[] = "_y";
enum { ENDING = sizeof x_ending - 1 };

/* The length of what is before the ending; 0: it has it not, or nothing else. */
static size_t stem(const char *name, const char *ending)
{
    const size_t length = strlen(name);
    return length > ENDING && strcmp(name + length - ENDING, ending) == 0 ? length - ENDING : 0;
}

static bool is_pair(const char *x, const char *y)
{
    const size_t length = stem(x, x_ending);
    return length > 0 && length == stem(y, y_ending) && strncmp(x, y, length) == 0;
}

static bool check(const struct glcnn_data_info *info, char error[GLCNN_ERROR_LENGTH])
{
    uint32_t i = 0;
    while (i + 1 < info->class_count && is_pair(info->class_names[i], info->class_names[i + 1]))
        i += 2;
    if (i == info->class_count && i > 0)
        return true;
    snprintf(error, GLCNN_ERROR_LENGTH,
             "keypoints are columns in pairs NAME_x,NAME_y of a CSV that names pictures; \"%.60s\" "
             "is followed by %.60s",
             i < info->class_count ? info->class_names[i] : "",
             i + 1 < info->class_count ? info->class_names[i + 1] : "no column");
    return false;
}

/* ---- The network ---- */

/* Those that are not smaller than the map, but the smallest of them: the largest of what is decoded. */
static struct features features_for(const struct features *features, const struct keypoint_map *map)
{
    uint32_t first = 0;
    struct features taken = *features;
    while (first + 1 < features->count && features->at[first + 1].width >= map->width &&
           features->at[first + 1].height >= map->height)
        first++;
    taken.count -= first;
    memmove(taken.at, taken.at + first, taken.count * sizeof *taken.at);
    return taken;
}

static glcnn_image_node *build(const struct features *features, const struct form *form)
{
    const struct keypoint_map map = keypoint_map(form);
    const struct features taken = features_for(features, &map);
    unsigned channels;
    glcnn_image_node *heat = decoder_build(&taken, &channels);
    heat = net_convolve(heat, 1, channels, keypoint_count(form));
    if (taken.at[0].width == map.width && taken.at[0].height == map.height)
        return heat;
    return decoder_resized(heat, map.width, map.height);
}

static bool finish(struct model *model)
{
    model->probabilities = model->scores;
    return true;
}

/* The mean over keypoints and pictures; 1 is the loss of an empty map. */
static bool add_squared(struct model *model, uint32_t batch)
{
    const struct keypoint_map map = keypoint_map(&model->form);
    glcnn_image_node *heat = model_add_labels(model), *weights = model_add_labels(model);
    return model_add_loss(model, model->scores, heat, weights, GLCNN_LOSS_TYPE_MEAN_SQUARED_ERROR,
                          1 / keypoint_energy(&map) / keypoint_count(&model->form) / batch);
}

static const struct task_loss losses[] = {
    {"squared", "(y - t)^2 of heat maps, of those keypoints that are seen", add_squared},
    {NULL, NULL, NULL}};

/* ---- Batches ---- */

static size_t values(const struct form *form)
{
    const struct keypoint_map map = keypoint_map(form);
    return (size_t)map.width * map.height * keypoint_count(form);
}

/* The heat, and its weights: 0 or 1 for all of a map. */
static struct glcnn_image_descriptor labels(const struct form *form, uint32_t index, uint32_t batch)
{
    (void)index;
    const struct keypoint_map map = keypoint_map(form);
    return (struct glcnn_image_descriptor){.width = map.width,
                                           .height = map.height,
                                           .feature_channels = keypoint_count(form),
                                           .number_of_images = batch,
                                           .channel_format = GLCNN_CHANNEL_FORMAT_UNORM8};
}

/* Batches that only a step is timed by have no sizes. */
static struct keypoint keypoint_of(const struct form *form, const struct glcnn_data_batch *batch,
                                   uint32_t n, uint32_t k)
{
    if (!batch->numbers || !batch->widths)
        return (struct keypoint){.is_seen = false};
    const uint32_t size[2] = {batch->widths[n], batch->heights[n]};
    return keypoint_cut(form, size, batch->numbers + (size_t)n * form->classes + 2 * (size_t)k);
}

/* Where the augmentation of picture n moves its pixels; false: nowhere. */
static bool find_matrix(const struct runner *runner, const struct glcnn_data_batch *batch,
                        uint32_t n, double matrix[6])
{
    struct glcnn_augment_geometry_parameters geometry = runner->input.augment.geometry;
    if (!batch->indices || !augment_asks_geometry(&runner->input.augment))
        return false;
    geometry.seed = runner->input.seed;
    glcnn_augment_geometry_matrix(&geometry, batch->indices[n], (uint32_t)batch->epoch,
                                  runner->form.width, runner->form.height, matrix);
    return true;
}

static bool is_mirrored(const double matrix[6])
{
    return matrix[0] * matrix[4] - matrix[1] * matrix[3] < 0;
}

/* `heat` and `weights` are zero, and of a picture. */
static void draw_map(const struct form *form, const struct keypoint *point, uint32_t k,
                     uint8_t *heat, uint8_t *weights)
{
    const struct keypoint_map map = keypoint_map(form);
    const uint32_t count = keypoint_count(form);
    for (uint32_t i = 0; i < map.width * map.height && point->is_seen; i++) {
        const size_t at = (size_t)i * count + k;
        heat[at] =
            (uint8_t)lroundf(255 * keypoint_heat(form, &map, point, i % map.width, i / map.width));
        weights[at] = 255;
    }
}

/* A movement says where augmentation moves the keypoints of a picture. */
struct movement {
    double matrix[6];
    bool moves;
    const uint32_t
        *partners; /* in a mirrored picture left and right change places; NULL: none do */
};

static struct movement find_movement(const struct runner *runner,
                                     const struct glcnn_data_batch *batch, uint32_t n)
{
    struct movement m = {.partners = NULL};
    m.moves = find_matrix(runner, batch, n, m.matrix);
    if (m.moves && is_mirrored(m.matrix))
        m.partners = runner->partners;
    return m;
}

/* Keypoint k of picture n, and the number that it has there. */
static struct keypoint moved_keypoint(const struct form *form, const struct movement *m,
                                      const struct glcnn_data_batch *batch, uint32_t n, uint32_t k,
                                      uint32_t *number)
{
    struct keypoint point = keypoint_of(form, batch, n, k);
    if (m->moves)
        keypoint_move(form, m->matrix, &point);
    *number = m->partners ? m->partners[k] : k;
    return point;
}

static void draw_maps(const struct runner *runner, const struct glcnn_data_batch *batch,
                      uint8_t *heat, uint8_t *weights)
{
    const struct form *form = &runner->form;
    const size_t each = values(form);
    for (uint32_t n = 0; n < runner->batch; n++) {
        const struct movement m = find_movement(runner, batch, n);
        for (uint32_t k = 0; k < keypoint_count(form); k++) {
            uint32_t number;
            const struct keypoint point = moved_keypoint(form, &m, batch, n, k, &number);
            draw_map(form, &point, number, heat + n * each, weights + n * each);
        }
    }
}

static bool draw_labels(struct runner *runner, const struct glcnn_data_batch *batch, uint32_t count,
                        const char *const *names, uint8_t *const pixels[])
{
    const struct form *form = &runner->form;
    (void)names;
    for (uint32_t n = 0; n < count; n++) {
        const struct canvas canvas = {pixels[n], form->width, form->height};
        const struct movement m = find_movement(runner, batch, n);
        for (uint32_t k = 0; k < keypoint_count(form); k++) {
            uint32_t number;
            const struct keypoint point = moved_keypoint(form, &m, batch, n, k, &number);
            if (point.is_seen)
                canvas_cross(&canvas, (long)point.x, (long)point.y, number);
        }
    }
    return true;
}

static bool write_labels(struct runner *runner, const struct glcnn_data_batch *batch)
{
    const size_t all = values(&runner->form) * runner->batch;
    uint8_t *made = calloc(2, all);
    if (made)
        draw_maps(runner, batch, made, made + all);
    bool good = made &&
                glcnn_image_write_bytes(runner->labels[0], NULL, made, all) == GLCNN_SUCCESS &&
                glcnn_image_write_bytes(runner->labels[1], NULL, made + all, all) == GLCNN_SUCCESS;
    free(made);
    return good;
}

/* ---- Scores ---- */

/* Of each keypoint, over pictures that show it. */
struct sums {
    double seen, near, distance; /* in pixels of the picture, as its file has them */
};

static struct sums *sums_of(const struct score *score, uint32_t k)
{
    return (struct sums *)(void *)score->sums + k;
}

static size_t sums(const struct form *form)
{
    return keypoint_count(form) * (sizeof(struct sums) / sizeof(double));
}

static double loss_of(const struct form *form, const float *found, const struct keypoint *wanted,
                      uint32_t k)
{
    const struct keypoint_map map = keypoint_map(form);
    double loss = 0;
    for (uint32_t i = 0; i < map.width * map.height; i++) {
        const double wrong =
            (double)found[(size_t)i * keypoint_count(form) + k] -
            (double)keypoint_heat(form, &map, wanted, i % map.width, i / map.width);
        loss += wrong * wrong;
    }
    return loss / keypoint_energy(&map) / keypoint_count(form);
}

/* Where picture n has a keypoint, in its own pixels; NULL: it has it not. */
static const float *place_of(const struct form *form, const struct glcnn_data_batch *batch,
                             uint32_t n, uint32_t k)
{
    const float *place = batch->numbers + (size_t)n * form->classes + 2 * (size_t)k;
    return keypoint_is_in((const uint32_t[2]){batch->widths[n], batch->heights[n]}, place) ? place
                                                                                           : NULL;
}

/* In pixels of a picture of that size. */
static double distance_of(const struct form *form, const uint32_t size[2], const float *found,
                          const float wanted[2], uint32_t k)
{
    float confidence;
    double at[2];
    const struct keypoint f = keypoint_find(form, found, k, &confidence);
    keypoint_restore(form, size, &f, at);
    return hypot(at[0] - (double)wanted[0], at[1] - (double)wanted[1]);
}

static void add(struct score *score, const float *found, const struct glcnn_data_batch *batch,
                uint32_t n)
{
    const struct form *form = &score->form;
    for (uint32_t k = 0; k < keypoint_count(form); k++) {
        const struct keypoint shown = keypoint_of(form, batch, n, k);
        const float *wanted = place_of(form, batch, n, k);
        if (!wanted)
            continue;
        const uint32_t size[2] = {batch->widths[n], batch->heights[n]};
        const double longer = size[0] > size[1] ? size[0] : size[1];
        const double distance = distance_of(form, size, found, wanted, k);
        struct sums *s = sums_of(score, k);
        score_count(score, &s->seen, 1);
        score_count(score, &s->near, distance < NEAR * longer);
        score_count(score, &s->distance, distance);
        if (shown.is_seen)
            score->loss += loss_of(form, found, &shown, k);
    }
}

/* Of all keypoints that are seen; NaN: of none. */
static struct sums sum_all(const struct score *score)
{
    struct sums all = {0};
    for (uint32_t k = 0; k < keypoint_count(&score->form); k++) {
        const struct sums *s = sums_of(score, k);
        all = (struct sums){all.seen + s->seen, all.near + s->near, all.distance + s->distance};
    }
    return all;
}

static double measured(const struct score *score)
{
    const struct sums all = sum_all(score);
    return all.seen > 0 ? all.near / all.seen : NAN;
}

static bool measure_keypoints(const struct score *score, double *measures, double *counts)
{
    for (uint32_t k = 0; k < keypoint_count(&score->form); k++) {
        const struct sums *s = sums_of(score, k);
        measures[k] = s->seen > 0 ? s->near / s->seen : NAN;
        counts[k] = s->seen;
    }
    return true;
}

static const struct task_parts parts = {.name = "keypoint",
                                        .measure = "PCK@0.05",
                                        .counted = "pictures",
                                        .count = keypoint_count,
                                        .measured = measure_keypoints,
                                        .name_of = keypoint_name};

static void print(const struct score *score, const char *const *names, struct text *text)
{
    char name[TASK_PART_NAME], share[TASK_MEASURED];
    text_show(text, "\n%-24s %8s  %10s  %s\n", "keypoint", "seen", "PCK@0.05",
              "mean distance in pixels");
    for (uint32_t k = 0; k < keypoint_count(&score->form); k++) {
        const struct sums *s = sums_of(score, k);
        text_show(text, "%-24.24s %8.0f  ", keypoint_name(names, k, name), s->seen);
        if (s->seen > 0)
            text_show(text, "%10s  %.2f\n", task_write(score->task, s->near / s->seen, share),
                      s->distance / s->seen);
        else
            text_show(text, "%10s  %s\n", "none", "none");
    }
}

static void describe(const struct score *score, const char *const *names, cJSON *object)
{
    const struct sums all = sum_all(score);
    char name[TASK_PART_NAME];
    cJSON *keypoints = cJSON_AddArrayToObject(object, "keypoints");
    for (uint32_t k = 0; k < keypoint_count(&score->form); k++) {
        const struct sums *s = sums_of(score, k);
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddStringToObject(entry, "name", keypoint_name(names, k, name));
        cJSON_AddNumberToObject(entry, "seen", s->seen);
        cJSON_AddNumberToObject(entry, "pck_005", s->near / s->seen);
        cJSON_AddNumberToObject(entry, "mean_distance", s->distance / s->seen);
        cJSON_AddItemToArray(keypoints, entry);
    }
    cJSON_AddNumberToObject(object, "count", (double)score->count);
    cJSON_AddNumberToObject(object, "pck_005", score_measure(score));
    cJSON_AddNumberToObject(object, "mean_distance", all.distance / all.seen);
    cJSON_AddNumberToObject(object, "loss", score_loss(score));
}

/* ---- Reports ---- */

/* The keypoint that is the farthest off: which, and how far in pixels of the picture. */
static bool judge(const struct score *score, const float *found,
                  const struct glcnn_data_batch *batch, uint32_t n, double numbers[MISTAKE_NUMBERS])
{
    const struct form *form = &score->form;
    numbers[1] = -1;
    for (uint32_t k = 0; k < keypoint_count(form); k++) {
        const float *wanted = place_of(form, batch, n, k);
        if (!wanted)
            continue;
        const uint32_t size[2] = {batch->widths[n], batch->heights[n]};
        const double distance = distance_of(form, size, found, wanted, k);
        if (distance <= numbers[1])
            continue;
        numbers[0] = k;
        numbers[1] = distance;
    }
    return numbers[1] >= 0;
}

static void remark(const double numbers[MISTAKE_NUMBERS], const char *const *names,
                   struct remark *r)
{
    char name[TASK_PART_NAME];
    snprintf(r->said, sizeof r->said, "%.150s is %.1f pixels away",
             keypoint_name(names, (uint32_t)numbers[0], name), numbers[1]);
}

/* ---- Answers ---- */

static void add_point(cJSON *points, const char *name, const struct glcnn_point *point)
{
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddStringToObject(entry, "name", name);
    cJSON_AddNumberToObject(entry, "x", point->x);
    cJSON_AddNumberToObject(entry, "y", point->y);
    cJSON_AddNumberToObject(entry, "confidence", (double)point->confidence);
    cJSON_AddItemToArray(points, entry);
}

/* Keypoint k in the whole picture. */
static struct glcnn_point point_at(const struct answer *a, uint32_t k)
{
    const uint32_t size[2] = {a->width, a->height};
    float confidence;
    double place[2];
    const struct keypoint found = keypoint_find(a->form, a->values, k, &confidence);
    keypoint_restore(a->form, size, &found, place);
    return (struct glcnn_point){place[0], place[1], confidence};
}

static void find_points(const struct answer *a, struct glcnn_point *points)
{
    for (uint32_t k = 0; k < keypoint_count(a->form); k++)
        points[k] = point_at(a, k);
}

static void tell(const struct answer *a)
{
    char name[TASK_PART_NAME];
    cJSON *points = a->object ? cJSON_AddArrayToObject(a->object, "keypoints") : NULL;
    for (uint32_t k = 0; k < keypoint_count(a->form); k++) {
        const struct glcnn_point p = point_at(a, k);
        if (points)
            add_point(points, keypoint_name(a->names, k, name), &p);
        else
            text_show(a->text, "%s %s %.1f %.1f %.4f\n", a->picture,
                      keypoint_name(a->names, k, name), p.x, p.y, (double)p.confidence);
    }
}

static void show(const struct answer *a, uint8_t *pixels)
{
    const struct canvas canvas = {pixels, a->width, a->height};
    for (uint32_t k = 0; k < keypoint_count(a->form); k++) {
        float confidence;
        double at[2];
        const struct keypoint found = keypoint_find(a->form, a->values, k, &confidence);
        keypoint_restore(a->form, (const uint32_t[2]){a->width, a->height}, &found, at);
        if (confidence >= a->limits.score)
            canvas_cross(&canvas, (long)floor(at[0]), (long)floor(at[1]), k);
    }
}

static void draw_truth(const struct truth *t, const struct canvas *canvas)
{
    uint32_t size[2];
    const float *numbers = glcnn_dataset_numbers(t->set, t->part, t->index);
    glcnn_dataset_size(t->set, t->part, t->index, &size[0], &size[1]);
    for (uint32_t k = 0; numbers && k < keypoint_count(t->form); k++)
        if (keypoint_is_in(size, numbers + 2 * (size_t)k))
            canvas_cross(canvas, (long)(numbers[2 * k] * (float)canvas->width / (float)size[0]),
                         (long)(numbers[2 * k + 1] * (float)canvas->height / (float)size[1]), k);
}

const struct task task_keypoints = {
    .name = "keypoints",
    .text = "places in a picture",
    .words =
        "  keypoints  places in pictures, of a CSV that names these, in columns NAME_x,NAME_y for each, in "
        "pixels from the upper left corner, -1 where it is not seen: squared. In a mirrored picture the points of a "
        "left and a right name, as left_eye and right_eye or l_hand and r_hand, change places\n",
    .changes = {true, 0.1, 20, 0.2, 0, false},
    .measure = "PCK@0.05",
    .nothing = "no keypoints",
    .classes = "coordinates",
    .output = "maps",
    .gives = "a heat map for each keypoint, about 1 where it is and 0 elsewhere",
    .targets = GLCNN_DATA_TARGETS_NUMBERS,
    .is_asked_for = true,
    .check = check,
    .labels_turn = true,
    .has_sides = true,
    .fit = GLCNN_DATA_FIT_LETTERBOX,
    .build = build,
    .head = "keypoints_",
    .row_names = 2,
    .finish = finish,
    .losses = losses,
    .labels = labels,
    .write_labels = write_labels,
    .values = values,
    .sums = sums,
    .add = add,
    .measured = measured,
    .print = print,
    .describe = describe,
    .parts = &parts,
    .explains =
        "the share of keypoints that are found less than a twentieth of the picture's longer "
        "side from where they are",
    .judge = judge,
    .remark = remark,
    .limits = TASK_LIMITS_CONFIDENCE,
    .tell = tell,
    .show = show,
    .point_count = keypoint_count,
    .points = find_points,
    .draw_labels = draw_labels,
    .draw_truth = draw_truth};
