/* Pictures of all shapes brought to the size of a network, and answers brought back: what a network that
 * sees the truth says lies where it is, within half of the network's pixels. */
#include "tests/data_files.h"

#include <math.h>
#include <png.h>

#include "tests/unit.h"
#include "task/keypoint_map.h"
#include "task/model.h"
#include "task/score.h"
#include "task/task.h"
#include "task/window.h"

enum { GROUND = 90, INK = 255, CLASSES = 2 };

/* A bright rectangle in a grey picture, in pixels of it as it is shown. */
struct scene {
    uint32_t width, height; /* as shown */
    double left, top, right, bottom;
};

static const struct scene scenes[] = {{300, 40, 210, 8, 280, 34}, {40, 300, 6, 20, 33, 90},
                                      {96, 64, 11, 21, 30, 50},   {12, 9, 3, 2, 7, 6},
                                      {95, 64, 40, 10, 70, 30},   {96, 61, 3, 5, 33, 26},
                                      {64, 96, 20, 33, 41, 80},   {1500, 1000, 301, 77, 900, 502},
                                      {65, 65, 30, 30, 50, 60},   {2000, 60, 1500, 10, 1800, 50}};
enum { SCENES = sizeof scenes / sizeof *scenes };

static const struct {
    uint32_t width, height;
} images[] = {{64, 64}, {96, 64}, {40, 72}};
enum { IMAGES = sizeof images / sizeof *images };

static struct {
    const struct scene *scene;
    uint32_t orientation, stored_width, stored_height;
} drawn;

/* Where EXIF's orientation shows a stored pixel. */
static void show_pixel(uint32_t x, uint32_t y, uint32_t at[2])
{
    const uint32_t right = drawn.stored_width - 1 - x, below_it = drawn.stored_height - 1 - y;
    const uint32_t to[9][2] = {{x, y},        {x, y}, {right, y},    {right, below_it},
                               {x, below_it}, {y, x}, {below_it, x}, {below_it, right},
                               {y, right}};
    at[0] = to[drawn.orientation][0];
    at[1] = to[drawn.orientation][1];
}

static uint32_t draw(uint32_t x, uint32_t y, uint32_t c)
{
    const struct scene *s = drawn.scene;
    uint32_t at[2];
    (void)c;
    show_pixel(x, y, at);
    const double X = at[0] + 0.5, Y = at[1] + 0.5;
    return X > s->left && X < s->right && Y > s->top && Y < s->bottom ? INK : GROUND;
}

static uint32_t draw_class(uint32_t x, uint32_t y, uint32_t c)
{
    return draw(x, y, c) == INK;
}

static void begin_drawing(const struct scene *scene, uint32_t orientation)
{
    drawn.scene = scene;
    drawn.orientation = orientation;
    drawn.stored_width = orientation > 4 ? scene->height : scene->width;
    drawn.stored_height = orientation > 4 ? scene->width : scene->height;
}

static void write_scene(const char *name, const struct scene *scene, uint32_t orientation)
{
    begin_drawing(scene, orientation);
    if (strstr(name, ".jpg"))
        data_write_jpeg(name, &(struct data_jpeg){.width = drawn.stored_width,
                                                  .height = drawn.stored_height,
                                                  .components = 1,
                                                  .orientation = orientation,
                                                  .value = draw});
    else
        data_write_png(name, &(struct data_png){.width = drawn.stored_width,
                                                .height = drawn.stored_height,
                                                .colour_type = PNG_COLOR_TYPE_GRAY,
                                                .orientation = orientation,
                                                .value = draw});
}

/* ---- The network ---- */

/* What the network's image shows: edges of the rectangle in its pixels. */
static bool look(const struct form *form, const uint8_t *pixels, double edges[4])
{
    double mass = 0, at[2] = {0, 0}, most[2] = {0, 0};
    double *sums[2] = {calloc(form->width, sizeof(double)), calloc(form->height, sizeof(double))};
    for (uint32_t y = 0; y < form->height; y++)
        for (uint32_t x = 0; x < form->width; x++) {
            const double ink = fmax(0, pixels[y * form->width + x] - (double)GROUND - 4);
            mass += ink;
            at[0] += ink * (x + 0.5);
            at[1] += ink * (y + 0.5);
            sums[0][x] += ink;
            sums[1][y] += ink;
        }
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < (k ? form->height : form->width); i++)
            most[k] = fmax(most[k], sums[k][i]);
    for (int k = 0; k < 2 && mass > 0; k++) {
        edges[k] = at[k] / mass - mass / most[k] / 2;
        edges[k + 2] = at[k] / mass + mass / most[k] / 2;
    }
    free(sums[0]);
    free(sums[1]);
    return mass > 0;
}

static struct form form_of(const char *task, int image, glcnn_data_fit fit)
{
    return (struct form){.width = images[image].width,
                         .height = images[image].height,
                         .channels = 1,
                         .classes = CLASSES,
                         .task = task_number(task_find(task)),
                         .fit = fit};
}

static glcnn_dataset *open_like(const char *path, const struct form *form)
{
    return data_open(path, &(struct glcnn_data_parameters){.width = form->width,
                                                           .height = form->height,
                                                           .channels = 1,
                                                           .fit = (glcnn_data_fit)form->fit,
                                                           .targets = task_of(form)->targets});
}

static struct glcnn_data_batch load(glcnn_dataset *data, glcnn_data_loader **loader)
{
    *loader = data_load(data, &(struct glcnn_data_loader_parameters){.batch = 1, .bytes = true});
    return data_next(*loader);
}

/* The answer to a picture as programs get it; to be released with cJSON_Delete. */
static cJSON *tell(const struct form *form, const struct scene *scene, const float *values)
{
    static const char *const names[] = {"it_x", "it_y"};
    const struct answer answer = {.picture = "a",
                                  .width = scene->width,
                                  .height = scene->height,
                                  .values = values,
                                  .names = names,
                                  .form = form,
                                  .top = 1,
                                  .limits = DETECTION_SHOWN,
                                  .object = cJSON_CreateObject()};
    task_of(form)->tell(&answer);
    return answer.object;
}

/* Half of the network's pixel, in those of the picture. */
static void half_pixel(const struct form *form, const struct scene *scene, double half[2])
{
    const struct glcnn_data_window w =
        window_find(form, (const uint32_t[2]){scene->width, scene->height});
    half[0] = w.width / form->width / 2;
    half[1] = w.height / form->height / 2;
}

static bool is_near(const struct scene *scene, const double *found, const double *wanted, int count,
                    const double half[2])
{
    bool near = true;
    for (int i = 0; i < count; i++)
        near = near && fabs(found[i] - wanted[i]) <= half[i % 2];
    if (!near)
        printf("\n    %ux%u, orientation %u: found %.2f %.2f, expected %.2f %.2f, within %.2f %.2f",
               scene->width, scene->height, drawn.orientation, found[0], found[1], wanted[0],
               wanted[1], half[0], half[1]);
    return near;
}

/* ---- Boxes ---- */

/* Predictions of the one grid that images of up to 96 pixels have. */
static float *predict_box(const struct form *form, const double edges[4])
{
    const uint32_t columns = (form->width + 7) / 8;
    const size_t count = task_of(form)->values(form), each = 4 + CLASSES;
    float *values = calloc(count, sizeof *values);
    const uint32_t x = (uint32_t)((edges[0] + edges[2]) / 16),
                   y = (uint32_t)((edges[1] + edges[3]) / 16);
    for (size_t i = 0; i < count; i++)
        values[i] = i % each < 4 ? 1 : 0;
    float *at = values + ((size_t)y * columns + x) * each;
    for (int k = 0; k < 4; k++)
        at[k] = (float)((k < 2 ? 1 : -1) * ((k % 2 ? y : x) + 0.5 - edges[k] / 8));
    at[4] = 0.9f;
    return values;
}

static void check_box(const struct scene *scene, const struct form *form, const double edges[4])
{
    const double wanted[4] = {scene->left, scene->top, scene->right, scene->bottom};
    double half[2], found[4];
    float *values = predict_box(form, edges);
    cJSON *told = tell(form, scene, values),
          *boxes = cJSON_GetObjectItemCaseSensitive(told, "boxes");
    CU_ASSERT_EQUAL(cJSON_GetArraySize(boxes), 1);
    cJSON *box = cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(boxes, 0), "box");
    half_pixel(form, scene, half);
    for (int k = 0; k < 4; k++)
        found[k] = cJSON_GetNumberValue(cJSON_GetArrayItem(box, k));
    CU_ASSERT_TRUE(is_near(scene, found, wanted, 4, half));
    cJSON_Delete(told);
    free(values);
}

static void check_point(const struct scene *scene, const struct form *form, const double edges[4])
{
    const struct keypoint_map map = keypoint_map(form);
    const struct keypoint k = {(float)(edges[0] + edges[2]) / 2, (float)(edges[1] + edges[3]) / 2,
                               true};
    const double wanted[2] = {(scene->left + scene->right) / 2, (scene->top + scene->bottom) / 2};
    double half[2], found[2];
    float *values = calloc(map.width * map.height, sizeof *values);
    for (uint32_t i = 0; i < map.width * map.height; i++)
        values[i] = keypoint_heat(form, &map, &k, i % map.width, i / map.width);
    cJSON *told = tell(form, scene, values),
          *point = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(told, "keypoints"), 0);
    half_pixel(form, scene, half);
    found[0] = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(point, "x"));
    found[1] = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(point, "y"));
    CU_ASSERT_TRUE(is_near(scene, found, wanted, 2, half));
    cJSON_Delete(told);
    free(values);
}

/* A pixel of another class than the truth lies next to the rectangle's edge. */
static void check_mask(const struct scene *scene, const struct form *form, const uint8_t *pixels)
{
    const size_t count = (size_t)form->width * form->height;
    double half[2];
    uint32_t wrong = 0;
    float *values = malloc(count * CLASSES * sizeof *values);
    uint8_t *classes = malloc((size_t)scene->width * scene->height);
    half_pixel(form, scene, half);
    const struct glcnn_data_window window =
        window_find(form, (const uint32_t[2]){scene->width, scene->height});
    for (size_t i = 0; i < count; i++) {
        values[2 * i + 1] = fmaxf(0, (float)(pixels[i] - GROUND) / (INK - GROUND));
        values[2 * i] = 1 - values[2 * i + 1];
    }
    const struct answer answer = {
        .width = scene->width, .height = scene->height, .values = values, .form = form};
    task_of(form)->mask(&answer, classes);
    for (uint32_t y = 0; y < scene->height; y++)
        for (uint32_t x = 0; x < scene->width; x++) {
            const double X = x + 0.5, Y = y + 0.5,
                         inside_x = fmin(X - scene->left, scene->right - X),
                         inside_y = fmin(Y - scene->top, scene->bottom - Y);
            const bool is_in = inside_x > 0 && inside_y > 0,
                       is_at_edge =
                           (fabs(inside_x) <= half[0] + 0.5 && inside_y > -half[1] - 0.5) ||
                           (fabs(inside_y) <= half[1] + 0.5 && inside_x > -half[0] - 0.5);
            const bool is_seen = X > window.left && X < window.left + window.width &&
                                 Y > window.top && Y < window.top + window.height;
            const uint8_t class = classes[y * scene->width + x];
            wrong += is_seen ? class != is_in && !is_at_edge : class != GLCNN_DATA_NO_CLASS;
        }
    CU_ASSERT_EQUAL(wrong, 0);
    free(values);
    free(classes);
}

static void check_scene(const char *name, const struct scene *scene, uint32_t orientation,
                        int image, glcnn_data_fit fit)
{
    double edges[4];
    struct form form = form_of("detect", image, fit);
    glcnn_data_loader *loader;
    write_scene(name, scene, orientation);
    form.task = 0;
    const char *path = data_path(name);
    char error[GLCNN_ERROR_LENGTH];
    glcnn_dataset *data;
    CU_ASSERT_EQUAL_FATAL(
        glcnn_dataset_open_files(
            &path, 1,
            &(struct glcnn_data_parameters){
                .width = form.width, .height = form.height, .channels = 1, .fit = fit},
            &data, error),
        GLCNN_SUCCESS);
    loader = data_load(data, &(struct glcnn_data_loader_parameters){
                                 .part = GLCNN_DATA_PART_TEST, .batch = 1, .bytes = true});
    const struct glcnn_data_batch batch = data_next(loader);
    CU_ASSERT_TRUE_FATAL(look(&form, batch.bytes, edges));
    form.task = task_number(task_find("detect"));
    check_box(scene, &form, edges);
    form.task = task_number(task_find("keypoints"));
    check_point(scene, &form, edges);
    form.task = task_number(task_find("segment"));
    check_mask(scene, &form, batch.bytes);
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
}

static void answers_lie_where_things_are(void)
{
    for (int image = 0; image < IMAGES; image++)
        for (int i = 0; i < SCENES; i++) {
            check_scene("letterbox.png", &scenes[i], 1, image, GLCNN_DATA_FIT_LETTERBOX);
            check_scene("stretch.png", &scenes[i], 1, image, GLCNN_DATA_FIT_STRETCH);
        }
}

static void turned_pictures_are_alike(void)
{
    for (uint32_t orientation = 2; orientation <= 8; orientation++)
        for (int i = 0; i < SCENES; i++) {
            if (scenes[i].width > 1000)
                continue;
            check_scene("turned.png", &scenes[i], orientation, 1, GLCNN_DATA_FIT_LETTERBOX);
            check_scene("turned.jpg", &scenes[i], orientation, 0, GLCNN_DATA_FIT_LETTERBOX);
            check_scene("turned.png", &scenes[i], orientation, 2, GLCNN_DATA_FIT_STRETCH);
        }
    check_scene("large.jpg", &scenes[7], 6, 1, GLCNN_DATA_FIT_LETTERBOX);
}

/* The rectangle of a picture that is cut is in its middle. */
static void what_is_cut_is_alike(void)
{
    static const struct scene middles[] = {{300, 64, 130, 8, 170, 34}, {64, 97, 20, 40, 40, 60}};
    for (uint32_t orientation = 1; orientation <= 8; orientation++)
        for (int i = 0; i < 2; i++)
            check_scene("cut.png", &middles[i], orientation, 0, GLCNN_DATA_FIT_CUT);
}

/* ---- Borders ---- */

static void borders_are_black_and_of_no_class(void)
{
    const struct scene scene = {60, 20, 10, 5, 30, 15};
    struct form form = form_of("segment", 0, GLCNN_DATA_FIT_LETTERBOX);
    glcnn_data_loader *loader;
    write_scene("border/images/a.png", &scene, 1);
    write_scene("border/images/b.png", &scene, 1);
    for (int i = 0; i < 2; i++)
        data_write_png(i ? "border/masks/b.png" : "border/masks/a.png",
                       &(struct data_png){.width = 60,
                                          .height = 20,
                                          .colour_type = PNG_COLOR_TYPE_GRAY,
                                          .value = draw_class});
    glcnn_dataset *data = open_like("border", &form);
    const struct glcnn_data_batch batch = load(data, &loader);
    uint32_t borders = 0, inks = 0;
    for (uint32_t y = 0; y < 64; y++)
        for (uint32_t x = 0; x < 64; x++) {
            /* 64 columns of 60 pixels: 21.3 rows, of which the middles of 22 or 21 lie in the picture */
            const bool is_border = y + 0.5 < 32 - 64 / 6.0 || y + 0.5 > 32 + 64 / 6.0;
            borders += is_border;
            CU_ASSERT_EQUAL(batch.bytes[y * 64 + x] == 0, is_border);
            CU_ASSERT_EQUAL(batch.masks[y * 64 + x] == GLCNN_DATA_NO_CLASS, is_border);
            inks += batch.masks[y * 64 + x] == 1;
        }
    CU_ASSERT_EQUAL(borders, (64 - 22) * 64);
    CU_ASSERT_TRUE(inks > 20 * 9 && inks < 24 * 13);
    uint8_t *mask = malloc(60 * 20);
    CU_ASSERT_EQUAL(glcnn_dataset_read_mask(data, GLCNN_DATA_PART_TRAINING, 0, 60, 20, mask, NULL),
                    GLCNN_SUCCESS);
    for (uint32_t i = 0; i < 60 * 20; i++)
        CU_ASSERT_EQUAL(mask[i], draw_class(i % 60, i / 60, 0));
    free(mask);
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
}

/* A picture that is thinner than half of the network's pixel is still seen. */
static void thin_pictures_are_seen(void)
{
    const struct scene scene = {2000, 1, 0, 0, 2000, 1};
    const struct form form = form_of("classify", 0, GLCNN_DATA_FIT_LETTERBOX);
    glcnn_data_loader *loader;
    write_scene("thin/a/a.png", &scene, 1);
    write_scene("thin/b/b.png", &scene, 6);
    glcnn_dataset *data = open_like("thin", &form);
    for (int i = 0; i < 2; i++) {
        const struct glcnn_data_batch batch = load(data, &loader);
        uint32_t inks = 0;
        for (uint32_t k = 0; k < 64 * 64; k++)
            inks += batch.bytes[k] == INK;
        CU_ASSERT_EQUAL(inks, 64);
        glcnn_data_loader_destroy(&loader);
    }
    glcnn_dataset_destroy(&data);
}

/* ---- Measures ---- */

/* The mean average precision of a network that finds all that it sees. */
static double measure_boxes(glcnn_data_fit fit)
{
    const struct model model = {.form = form_of("detect", 0, fit)};
    struct score score;
    glcnn_data_loader *loader;
    glcnn_dataset *data = open_like("objects", &model.form);
    CU_ASSERT_TRUE_FATAL(score_begin(&score, &model));
    loader = data_load(data, &(struct glcnn_data_loader_parameters){.batch = 1, .bytes = true});
    for (int i = 0; i < 2; i++) {
        double edges[4];
        const struct glcnn_data_batch batch = data_next(loader);
        float *values = calloc(task_find("detect")->values(&model.form), sizeof *values);
        if (look(&model.form, batch.bytes, edges)) {
            free(values);
            values = predict_box(&model.form, edges);
        }
        score_add(&score, values, &batch);
        free(values);
    }
    const double measure = score_measure(&score);
    score_free(&score);
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
    return measure;
}

static void every_object_counts(void)
{
    const struct scene middle = {300, 64, 130, 10, 170, 40}, aside = {300, 64, 10, 10, 50, 40};
    write_scene("objects/images/train/a.png", &middle, 1);
    write_scene("objects/images/train/b.png", &aside, 1);
    data_write_text("objects/labels/train/a.txt", "0 0.5 0.390625 0.13333333 0.46875\n");
    data_write_text("objects/labels/train/b.txt", "0 0.1 0.390625 0.13333333 0.46875\n");
    data_write_text("objects/data.yaml",
                    "train: images/train\nval: images/train\nnames: [it, that]\n");
    CU_ASSERT_EQUAL(measure_boxes(GLCNN_DATA_FIT_LETTERBOX), 1);
    CU_ASSERT_EQUAL(measure_boxes(GLCNN_DATA_FIT_STRETCH), 1);
    CU_ASSERT_DOUBLE_EQUAL(measure_boxes(GLCNN_DATA_FIT_CUT), 51 / 101.0, 1e-9);
}

static double measure_points(glcnn_data_fit fit)
{
    const struct model model = {.form = form_of("keypoints", 0, fit)};
    const struct keypoint_map map = keypoint_map(&model.form);
    float *values = calloc(map.width * map.height, sizeof *values);
    const float places[2][2] = {{150, 25}, {30, 25}};
    struct score score;
    CU_ASSERT_TRUE_FATAL(score_begin(&score, &model));
    for (uint32_t n = 0; n < 2; n++) {
        const uint32_t width = 300, height = 64, index = n, label = 0, size[2] = {300, 64};
        const struct keypoint k = keypoint_cut(&model.form, size, places[n]);
        const struct glcnn_data_batch batch = {.count = 1,
                                               .filled = 1,
                                               .numbers = places[n],
                                               .labels = &label,
                                               .indices = &index,
                                               .widths = &width,
                                               .heights = &height};
        for (uint32_t i = 0; i < map.width * map.height; i++)
            values[i] =
                k.is_seen ? keypoint_heat(&model.form, &map, &k, i % map.width, i / map.width) : 0;
        score_add(&score, values, &batch);
    }
    const double measure = score_measure(&score);
    score_free(&score);
    free(values);
    return measure;
}

static void every_keypoint_counts(void)
{
    CU_ASSERT_EQUAL(measure_points(GLCNN_DATA_FIT_LETTERBOX), 1);
    CU_ASSERT_EQUAL(measure_points(GLCNN_DATA_FIT_STRETCH), 1);
    CU_ASSERT_EQUAL(measure_points(GLCNN_DATA_FIT_CUT), 0.5);
}

/* The likeliest class of a pixel, of probabilities that are linear between the middles of those pixels of the image that
 * show the picture; CLASSES where the network does not see it. All rules are written down once more. */
static uint32_t find_class(const struct form *form, const float *values, const uint32_t size[2],
                           const uint32_t pixel[2])
{
    const uint32_t extent[2] = {form->width, form->height};
    uint32_t first[2], second[2], best = 0;
    double share[2], most = -1;
    const struct glcnn_data_window w = window_find(form, size);
    const double begin[2] = {w.left, w.top}, length[2] = {w.width, w.height};
    for (int i = 0; i < 2; i++) {
        const double at = (pixel[i] + 0.5 - begin[i]) * extent[i] / length[i];
        if (at < 0 || at >= extent[i])
            return CLASSES;
        double low = fmax(ceil(-begin[i] * extent[i] / length[i] - 0.5), 0),
               high = fmin(ceil((size[i] - begin[i]) * extent[i] / length[i] - 0.5), extent[i]) - 1;
        const double place = fmin(fmax(at - 0.5, low), high);
        first[i] = (uint32_t)place;
        second[i] = first[i] + (first[i] < high);
        share[i] = place - first[i];
    }
    for (uint32_t k = 0; k < CLASSES; k++) {
        const double of[4] = {values[(first[1] * extent[0] + first[0]) * CLASSES + k],
                              values[(first[1] * extent[0] + second[0]) * CLASSES + k],
                              values[(second[1] * extent[0] + first[0]) * CLASSES + k],
                              values[(second[1] * extent[0] + second[0]) * CLASSES + k]};
        const double p = (1 - share[1]) * ((1 - share[0]) * of[0] + share[0] * of[1]) +
                         share[1] * ((1 - share[0]) * of[2] + share[0] * of[3]);
        best = p > most ? k : best;
        most = fmax(p, most);
    }
    return best;
}

static uint32_t draw_truth(uint32_t x, uint32_t y, uint32_t c)
{
    (void)c;
    return x % 37 == 0 ? 255 : (x * x / 50 + y * y / 40) / 7 % 2;
}

/* Adds a picture's pixels to those of both and of either of each class. */
static void count_pixels(const struct form *form, const float *values, const uint32_t size[2],
                         double both[CLASSES], double either[CLASSES])
{
    for (uint32_t y = 0; y < size[1]; y++)
        for (uint32_t x = 0; x < size[0]; x++) {
            const uint32_t is = draw_truth(x, y, 0);
            if (is == GLCNN_DATA_NO_CLASS)
                continue;
            const uint32_t found = find_class(form, values, size, (const uint32_t[2]){x, y});
            both[is] += is == found;
            either[is]++;
            if (found != is && found < CLASSES)
                either[found]++;
        }
}

/* The mean IoU over the pixels of the pictures themselves, not over those of the network's images. */
static void masks_are_measured_in_pixels_of_pictures(void)
{
    static const uint32_t sizes[][2] = {{300, 90}, {50, 200}, {64, 64}, {20, 30}, {501, 333}};
    enum { PICTURES = sizeof sizes / sizeof *sizes };
    static const glcnn_data_fit fits[] = {GLCNN_DATA_FIT_LETTERBOX, GLCNN_DATA_FIT_CUT,
                                          GLCNN_DATA_FIT_STRETCH};
    char name[64];
    for (uint32_t i = 0; i < 2 * PICTURES; i++) {
        snprintf(name, sizeof name, "truth/%s/%u.png", i % 2 ? "masks" : "images", i / 2);
        data_write_png(name, &(struct data_png){.width = sizes[i / 2][0],
                                                .height = sizes[i / 2][1],
                                                .value = draw_truth});
    }
    for (size_t f = 0; f < sizeof fits / sizeof *fits; f++) {
        const struct model model = {.form = form_of("segment", 1, fits[f])};
        const size_t count = task_find("segment")->values(&model.form);
        double both[CLASSES] = {0}, either[CLASSES] = {0}, measures[CLASSES], counts[CLASSES];
        float *values = calloc(count, sizeof *values);
        struct score score;
        glcnn_data_loader *loader;
        glcnn_dataset *data = open_like("truth", &model.form);
        CU_ASSERT_TRUE_FATAL(score_begin(&score, &model));
        score_of(&score, data, GLCNN_DATA_PART_TRAINING);
        loader = data_load(data, &(struct glcnn_data_loader_parameters){.batch = 1});
        for (uint32_t i = 0; i < PICTURES; i++) {
            const struct glcnn_data_batch batch = data_next(loader);
            for (size_t k = 0; k < count; k += CLASSES) {
                const uint32_t at = (uint32_t)(k / CLASSES),
                               noise = (at + 31 * i) * 2654435761u >> 16;
                values[k] = (float)(noise % 1000) / 1000;
                values[k + 1] = 1 - values[k];
            }
            score_add(&score, values, &batch);
            count_pixels(&model.form, values, sizes[batch.indices[0]], both, either);
        }
        CU_ASSERT_STRING_EQUAL(score.failure, "");
        CU_ASSERT_TRUE(task_find("segment")->parts->measured(&score, measures, counts));
        for (int k = 0; k < CLASSES; k++)
            CU_ASSERT_DOUBLE_EQUAL(measures[k], both[k] / either[k], 1e-4);
        CU_ASSERT_DOUBLE_EQUAL(score_measure(&score), (measures[0] + measures[1]) / 2, 1e-12);
        score_free(&score);
        free(values);
        glcnn_data_loader_destroy(&loader);
        glcnn_dataset_destroy(&data);
    }
}

/* ---- What is refused ---- */

static void wrong_parameters_are_refused(void)
{
    write_scene("refused/a/a.png", &scenes[2], 1);
    write_scene("refused/b/b.png", &scenes[2], 1);
    data_refuses("refused", &(struct glcnn_data_parameters){.fit = (glcnn_data_fit)3},
                 GLCNN_INVALID_ARGUMENT, "fit is 3; expected 0 to 2");
    data_refuses("refused",
                 &(struct glcnn_data_parameters){
                     .width = 32, .height = 32, .resize = 40, .fit = GLCNN_DATA_FIT_LETTERBOX},
                 GLCNN_INVALID_ARGUMENT, "resize is 40, which is for pictures that are cut");
    glcnn_dataset *data = data_open("refused", NULL);
    uint8_t pixel[3];
    CU_ASSERT_EQUAL(
        glcnn_dataset_read_picture(data, GLCNN_DATA_PART_TRAINING, 9, 1, 1, pixel, NULL),
        GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(
        glcnn_dataset_read_picture(data, GLCNN_DATA_PART_TRAINING, 0, 0, 1, pixel, NULL),
        GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_dataset_read_mask(data, GLCNN_DATA_PART_TRAINING, 0, 1, 1, pixel, NULL),
                    GLCNN_INVALID_ARGUMENT);
    glcnn_dataset_destroy(&data);
}

/* Of a table too, in three channels. */
static void pictures_are_read_whole(void)
{
    static const uint8_t bytes[2 * 4] = {0, 50, 100, 250, 1, 2, 3, 4}, labels[2] = {0, 1};
    const uint8_t wanted[4] = {0, 50, 100, 250};
    uint8_t pixels[4 * 3];
    data_write_npy("table/images.npy", "|u1", "(2, 2, 2)", bytes, 8);
    data_write_npy("table/labels.npy", "|u1", "(2,)", labels, 2);
    glcnn_dataset *data = data_open("table", NULL);
    CU_ASSERT_EQUAL(
        glcnn_dataset_read_picture(data, GLCNN_DATA_PART_TRAINING, 0, 2, 2, pixels, NULL),
        GLCNN_SUCCESS);
    for (int i = 0; i < 12; i++)
        CU_ASSERT_EQUAL(pixels[i], wanted[i / 3]);
    glcnn_dataset_destroy(&data);
}

int main(int argc, char *argv[])
{
    static CU_TestInfo tests[] = {UNIT_TEST(answers_lie_where_things_are),
                                  UNIT_TEST(turned_pictures_are_alike),
                                  UNIT_TEST(what_is_cut_is_alike),
                                  UNIT_TEST(borders_are_black_and_of_no_class),
                                  UNIT_TEST(thin_pictures_are_seen),
                                  UNIT_TEST(every_object_counts),
                                  UNIT_TEST(every_keypoint_counts),
                                  UNIT_TEST(masks_are_measured_in_pixels_of_pictures),
                                  UNIT_TEST(wrong_parameters_are_refused),
                                  UNIT_TEST(pictures_are_read_whole),
                                  CU_TEST_INFO_NULL};
    int result = unit_run("fit", tests, argc, argv);
    data_remove_folder();
    return result;
}
