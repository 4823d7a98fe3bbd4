/* The loss of a detector with anchor boxes: values that are known, which anchor box has an object, the
 * gradient by finite differences of the reference, reductions, training, and what is refused. */
#include "glcnn/kernels/yolo_loss.h"

#include <math.h>

#include "kernels/loss.h"
#include "run/run.h"
#include "tests/fixture.h"
#include "tests/graphs.h"

#define MOST 1024

/* ---- One run ---- */

struct grid {
    uint32_t images, boxes, channels, height, width; /* channels of a box */
    const double *anchors;                           /* [boxes][2] */
    const double *y, *t, *w;                         /* w NULL: none */
};

static void give(struct argument_map *map, const char *name, uint32_t rank, const uint32_t *shape,
                 const double *values)
{
    struct named_array *array = argument_map_add(map, name, rank, shape);
    CU_ASSERT_PTR_NOT_NULL_FATAL(array);
    memcpy(array->data, values, array_count(array) * sizeof *values);
}

static void take(struct argument_map *map, const char *name, double *values)
{
    struct named_array *array = argument_map_find(map, name);
    CU_ASSERT_TRUE_FATAL(array != NULL && array_count(array) <= MOST);
    memcpy(values, array->data, array_count(array) * sizeof *values);
}

/* On the device, or NULL: the reference. */
static void compute(glcnn_device *on, const struct grid *g, const char *words, double *gradient,
                    double *loss)
{
    char error[512] = "", text[512];
    const uint32_t shape[4] = {g->images, g->boxes * g->channels, g->height, g->width};
    struct glcnn_setting settings[16];
    struct argument_map map = {0};
    struct run run = {.device = on, .map = &map, .validation = {error, sizeof error}};
    size_t count = 0;
    snprintf(text, sizeof text, "number_of_anchor_boxes=%u %s", g->boxes, words);
    for (char *rest = NULL, *word = strtok_r(text, " ", &rest); word;
         word = strtok_r(NULL, " ", &rest))
        GOOD_FATAL(glcnn_setting_parse("yolo_loss", word, &settings[count++], error));
    give(&map, "source_image", 4, shape, g->y);
    give(&map, "labels", 4, shape, g->t);
    if (g->w)
        give(&map, "label_weights", 4, shape, g->w);
    give(&map, "anchor_boxes", 1, &(uint32_t){2 * g->boxes}, g->anchors);
    CU_ASSERT_TRUE(run_settings_read(settings, count, &run.settings));
    CU_ASSERT_EQUAL_FATAL(run_kernel(&run, descriptor_find("yolo_loss")), GLCNN_SUCCESS);
    if (gradient)
        take(&map, "destination_gradient", gradient);
    take(&map, "loss", loss);
    argument_map_free(&map);
}

static void check_near(const double *found, const double *expected, size_t count)
{
    for (size_t i = 0; i < count; i++)
        CU_ASSERT_TRUE(is_near(found[i], expected[i], 3e-6));
}

/* ---- Values ---- */

/* Spec 13: a cell with one anchor box of 1 x 1 and two classes. */
static void a_known_cell(void)
{
    const double y[] = {0, 0, 0, 0, 0, 0, log(3)}, t[] = {0.25, 0.75, 2, 1, 1, 0, 1};
    const double expected[] = {1.25, -1.25, -6.931472, 0, 16.666667, 0.5, -0.5};
    const struct grid g = {1, 1, 7, 1, 1, (const double[]){1, 1}, y, t, NULL};
    for (int i = 0; i < 2; i++) {
        double gradient[MOST], loss[MOST];
        compute(i ? device : NULL, &g, "", gradient, loss);
        check_near(gradient, expected, 7);
        CU_ASSERT_DOUBLE_EQUAL(loss[0], 73.542347, 1e-4);
        compute(i ? device : NULL, &g, "reduction_type=none", gradient, loss);
        check_near(loss, (const double[]){0.625, 0.625, 2.402265, 0, 69.314718, 0, 0.575364}, 7);
    }
}

/* A cell that holds nothing trains the confidence alone. */
static void an_empty_cell(void)
{
    const double y[] = {3, -2, 1, 1, log(3), 1, 2}, t[7] = {0};
    const double expected[] = {0, 0, 0, 0, 5 * 0.75, 0, 0};
    const struct grid g = {1, 1, 7, 1, 1, (const double[]){1, 1}, y, t, NULL};
    double gradient[MOST], loss[MOST];
    compute(device, &g, "", gradient, loss);
    check_near(gradient, expected, 7);
    CU_ASSERT_DOUBLE_EQUAL(loss[0], 5 * log(4), 1e-5);
}

/* ---- Which anchor box has an object ---- */

enum { THREE = 3, PLAIN = 5 };
static const double three[] = {1, 2, 2, 1, 1, 1};

/* Three boxes without classes; what a box has is seen by its gradients. */
static void find(const double *y, const double *t, const char *words, const char *expected)
{
    const struct grid g = {1, THREE, PLAIN, 1, 1, three, y, t, NULL};
    char found[THREE + 1] = "";
    double gradient[MOST], loss[MOST];
    compute(device, &g, words, gradient, loss);
    for (int i = 0; i < THREE; i++) {
        const double *d = gradient + i * PLAIN;
        found[i] = d[0] != 0 ? 'o' : d[4] > 0 ? 'n' : d[4] == 0 ? '-' : '?';
    }
    CU_ASSERT_STRING_EQUAL(found, expected);
}

#define BOX(W, H, C) 0.25, 0.25, W, H, C

/* Of boxes that fit equally well the first; of labels that differ each has its own. */
static void the_box_that_fits(void)
{
    const double y[THREE * PLAIN] = {0};
    const double square[] = {BOX(4, 4, 1), BOX(4, 4, 1), BOX(4, 4, 1)};
    const double small[] = {BOX(0.5, 0.5, 1), BOX(0.5, 0.5, 1), BOX(0.5, 0.5, 1)};
    const double wide[] = {BOX(4, 1, 1), BOX(4, 1, 1), BOX(4, 1, 1)};
    const double single[] = {BOX(0, 0, 0), BOX(0, 0, 0), BOX(4, 4, 1)};
    const double two[] = {BOX(4, 4, 1), BOX(0, 0, 0), BOX(3, 4, 1)};
    const double without_size[] = {BOX(4, 0, 1), BOX(0, 0, 0), BOX(0, 0, 0)};
    find(y, square, "", "onn");
    find(y, small, "", "nno");
    find(y, wide, "", "non");
    find(y, single, "", "nno");
    find(y, two, "", "ono");
    find(y, without_size, "", "nnn");
}

/* Predictions as large as the anchor boxes have an IoU of 0.41, 0.5 and 0.78 with the label. */
static void the_thresholds(void)
{
    const double y[THREE * PLAIN] = {0};
    double middle[THREE * PLAIN];
    for (int i = 0; i < THREE; i++)
        memcpy(middle + i * PLAIN, (const double[]){0.375, 0.5, 1, 1, 1}, PLAIN * sizeof *middle);
    find(y, middle, "", "--o");
    find(y, middle, "max_iou_for_object_absence=0.6", "nno");
    find(y, middle, "min_iou_for_object_presence=0.4", "ooo");
    find(y, middle, "min_iou_for_object_presence=0.6", "--o");
}

/* ---- Finite differences ---- */

static double random_unit(uint32_t *seed)
{
    return 0.5 + 0.45 * (double)noise(seed);
}

/* Cells of two anchor boxes with three classes: nothing, one label for both boxes, or for one. */
enum { N = 2, A = 2, P = 8, H = 3, W = 4, ALL = N * A * P * H * W, PLANE = H * W };

static void fill(double *y, double *t, double *w, uint32_t seed)
{
    memset(t, 0, ALL * sizeof *t);
    for (int i = 0; i < ALL; i++) {
        y[i] = (double)noise(&seed);
        w[i] = 0.25 + random_unit(&seed);
    }
    for (int cell = 0; cell < N * PLANE; cell++) {
        double *at = t + cell / PLANE * A * P * PLANE + cell % PLANE, box[P];
        for (int c = 0; c < P; c++)
            box[c] = c == 4 ? 1 : random_unit(&seed);
        for (int a = 0; a < A; a++)
            for (int c = 0; c < P && (cell % 4 == 3 || cell % 4 == a); c++)
                at[(a * P + c) * PLANE] = box[c];
    }
}

static double sum_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

/* Is it a position or size, which the label of the confidence depends on? */
static bool moves_iou(int i)
{
    return i / PLANE % P < 4;
}

static void check_differences(const char *words, bool rescored)
{
    static double y[ALL], t[ALL], w[ALL], gradient[ALL];
    const double h = 1e-5;
    const struct grid g = {N, A, P, H, W, (const double[]){0.5, 0.75, 1, 0.375}, y, t, w};
    double loss[MOST], moved[2] = {0};
    fill(y, t, w, 5);
    for (int i = 0; i < ALL; i++) { /* what float32 holds */
        w[i] = i % 5 == 0 ? 0 : w[i];
        y[i] = (double)(float)y[i];
        t[i] = (double)(float)t[i];
        w[i] = (double)(float)w[i];
    }
    compute(device, &g, words, gradient, loss);
    for (int i = 0; i < ALL; i++) {
        double kept = y[i];
        if (rescored && moves_iou(i))
            continue;
        for (int side = 0; side < 2; side++) {
            y[i] = kept + (side ? h : -h);
            compute(NULL, &g, words, NULL, loss);
            moved[side] = sum_of(loss, N);
        }
        y[i] = kept;
        CU_ASSERT_DOUBLE_EQUAL(gradient[i], (moved[1] - moved[0]) / (2 * h), 2e-4);
    }
}

static void gradients_by_finite_differences(void)
{
    check_differences("rescore=false", false);
    check_differences("", true);
    check_differences(
        "rescore=false xy_loss_type=huber xy_delta=0.1 wh_loss_type=mean_squared_error "
        "confidence_loss_type=mean_squared_error classes_loss_type="
        "sigmoid_cross_entropy classes_label_smoothing=0.25 scale_object=3",
        false);
    check_differences("rescore=false classes_label_smoothing=0.25 wh_weight=0.5 scale_xy=-1",
                      false);
}

/* No gradient goes through the IoU: those of positions and sizes are the same with rescore. */
static void the_iou_is_a_label(void)
{
    static double y[ALL], t[ALL], w[ALL], with[ALL], without[ALL];
    const struct grid g = {N, A, P, H, W, (const double[]){0.5, 0.75, 1, 0.375}, y, t, NULL};
    double loss[MOST];
    fill(y, t, w, 6);
    compute(device, &g, "", with, loss);
    compute(device, &g, "rescore=false", without, loss);
    for (int i = 0; i < ALL; i++)
        if (moves_iou(i))
            CU_ASSERT_EQUAL(with[i], without[i]);
    CU_ASSERT_NOT_EQUAL(memcmp(with, without, sizeof with), 0);
}

/* ---- Types ---- */

static const char *const parts[] = {"xy", "wh", "confidence", "classes"};

/* The others are refused: types_that_are_refused. */
static bool is_of_elements(const char *part, const char *type)
{
    return strcmp(type, "cosine_distance") != 0 &&
           (strcmp(type, "soft_max_cross_entropy") != 0 || strcmp(part, "classes") == 0);
}

/* Predictions in 0 .. 1, and labels at least as large as the anchor box: all logarithms are there. */
static void check_type(const char *part, const char *type)
{
    static double y[ALL], t[ALL], w[ALL], gradient[2][ALL], each[2][ALL];
    const struct grid g = {N, A, P, H, W, (const double[]){0.0625, 0.03125, 0.05, 0.05}, y, t, w};
    char words[128];
    uint32_t seed = 8;
    fill(y, t, w, 9);
    for (int i = 0; i < ALL; i++)
        y[i] = (double)(float)random_unit(&seed);
    snprintf(words, sizeof words, "reduction_type=none %s_loss_type=%s", part, type);
    for (int i = 0; i < 2; i++)
        compute(i ? device : NULL, &g, words, gradient[i], each[i]);
    check_near(gradient[1], gradient[0], ALL);
    check_near(each[1], each[0], ALL);
}

/* Those of the loss, also ones that come. */
static void every_type(void)
{
    size_t checked = 0;
    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++)
        for (size_t type = 0; loss_type_names[type]; type++)
            if (is_of_elements(parts[part], loss_type_names[type])) {
                check_type(parts[part], loss_type_names[type]);
                checked++;
            }
    CU_ASSERT(checked >= 33);
}

/* ---- Reductions ---- */

static void reductions(void)
{
    static double y[ALL], t[ALL], w[ALL], each[ALL], gradient[ALL], again[ALL];
    const struct grid g = {N, A, P, H, W, (const double[]){0.5, 0.75, 1, 0.375}, y, t, w};
    double loss[MOST];
    fill(y, t, w, 7);
    for (int i = 0; i < ALL; i += 3)
        w[i] = 0;
    compute(device, &g, "reduction_type=none", gradient, each);
    static const char *const names[] = {"reduction_type=sum", "reduction_type=mean",
                                        "reduction_type=sum_by_non_zero_weights"};
    for (int i = 0; i < 3; i++) {
        compute(device, &g, names[i], again, loss);
        CU_ASSERT_EQUAL(memcmp(gradient, again, sizeof again), 0); /* whatever the reduction */
        for (size_t n = 0; n < N; n++) {
            size_t image = ALL / N, count = 0;
            for (size_t k = n * image; k < (n + 1) * image; k++)
                count += w[k] != 0;
            double divisor = i == 0 ? 1 : i == 1 ? (double)image : (double)count;
            CU_ASSERT_TRUE(is_near(loss[n], sum_of(each + n * image, image) / divisor, 3e-6));
        }
    }
}

/* ---- A graph ---- */

/* A convolution of one pixel learns the box where its source is marked. */
static void a_graph_trains(void)
{
    const float anchors[] = {1, 2, 2, 1};
    glcnn_network *net = NULL;
    glcnn_kernel *optimizer = NULL;
    glcnn_graph *graph = NULL;
    float first = 0, last = 0;
    GOOD_FATAL(glcnn_network_create(device, &net));
    glcnn_image_node *x = glcnn_image_node_create(net, "x");
    glcnn_image_node *t = glcnn_image_node_create(net, "t");
    glcnn_image_node *y =
        glcnn_node(x, "convolution",
                   "input_feature_channels=3 output_feature_channels=14 kernel_width=1 "
                   "kernel_height=1");
    glcnn_filter_node *loss =
        glcnn_yolo_loss_node(y, t, NULL, anchors, 4, GLCNN_REDUCTION_TYPE_SUM);
    CU_ASSERT_PTR_NOT_NULL_FATAL(loss);
    glcnn_yolo_loss(glcnn_filter_node_kernel(loss))->rescore = false;
    GOOD_FATAL(glcnn_network_initialise(net, 1));
    GOOD_FATAL(glcnn_optimizer_adam_create(device, 0.1f, &optimizer));
    GOOD_FATAL(glcnn_training_graph_create(loss, optimizer, NULL, &graph));
    glcnn_image *const sources[] = {make_image(2, 3, 4, 4), make_image(2, 14, 4, 4)};
    float labels[2 * 14 * 16] = {0};
    for (int n = 0; n < 2; n++)
        for (int c = 0; c < 7; c++)
            labels[(n * 14 + 7 + c) * 16 + 5] = (const float[]){0.5f, 0.25f, 2, 1, 1, 1, 0}[c];
    float marks[2 * 3 * 16] = {[5] = 1, [3 * 16 + 5] = 1};
    fill_image(sources[0], marks);
    fill_image(sources[1], labels);
    for (int step = 0; step < 60; step++) {
        GOOD_FATAL(glcnn_graph_execute(graph, sources, NULL, NULL));
        GOOD_FATAL(glcnn_graph_wait(graph));
        float *values = read_image(glcnn_graph_image(graph, glcnn_filter_node_loss(loss)));
        last = values[0] + values[1];
        first = step == 0 ? last : first;
        free(values);
    }
    CU_ASSERT(last < first / 5);
    glcnn_image_destroy(&(glcnn_image *){sources[0]});
    glcnn_image_destroy(&(glcnn_image *){sources[1]});
    glcnn_graph_destroy(&graph);
    glcnn_kernel_destroy(&optimizer);
    glcnn_network_destroy(&net);
}

/* ---- Misuse ---- */

static void check_refused(glcnn_kernel *kernel, uint32_t channels, const char *phrase)
{
    glcnn_image *y = make_image(1, channels, 2, 2), *t = make_image(1, channels, 2, 2);
    glcnn_image *gradient = make_image(1, channels, 2, 2);
    const struct glcnn_encode arguments = {.source = y, .labels = t, .destination = gradient};
    glcnn_command_buffer *commands = make_commands();
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, kernel, &arguments));
    if (!strstr(glcnn_device_error(device), phrase))
        fprintf(stderr, "\n\"%s\" lacks \"%s\"\n", glcnn_device_error(device), phrase);
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), phrase));
    finish(&commands);
    glcnn_image_destroy(&y);
    glcnn_image_destroy(&t);
    glcnn_image_destroy(&gradient);
}

static void what_is_refused(void)
{
    const float two[] = {1, 2, 2, 1};
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_yolo_loss_create(device, two, 4, GLCNN_REDUCTION_TYPE_SUM, &kernel));
    check_refused(kernel, 13, "the predictions have 13 channels; 2 anchor boxes need");
    check_refused(kernel, 8, "the predictions have 8 channels; 2 anchor boxes need");
    glcnn_yolo_loss(kernel)->number_of_anchor_boxes = 3;
    check_refused(kernel, 18, "anchor_boxes");
    glcnn_kernel_destroy(&kernel);
}

static void check_refused_type(const char *part, const char *words, glcnn_loss_type type)
{
    const float boxes[] = {1, 2, 2, 1};
    char name[32], phrase[128];
    glcnn_kernel *kernel = NULL;
    snprintf(name, sizeof name, "%s_loss_type", part);
    snprintf(phrase, sizeof phrase, "%s is %s", name, words);
    GOOD_FATAL(glcnn_yolo_loss_create(device, boxes, 4, GLCNN_REDUCTION_TYPE_SUM, &kernel));
    GOOD(glcnn_kernel_set(kernel, name, (double)type));
    check_refused(kernel, 12, phrase);
    glcnn_kernel_destroy(&kernel);
}

/* Of one number for an image, or over channels that are not classes. */
static void types_that_are_refused(void)
{
    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++) {
        check_refused_type(parts[part], "cosine_distance, which is one number for an image",
                           GLCNN_LOSS_TYPE_COSINE_DISTANCE);
        if (strcmp(parts[part], "classes") != 0)
            check_refused_type(parts[part], "soft_max_cross_entropy, which is for classes",
                               GLCNN_LOSS_TYPE_SOFT_MAX_CROSS_ENTROPY);
    }
}

static void construction(void)
{
    glcnn_kernel *kernel = NULL;
    const float boxes[] = {1, 2, INFINITY, 1};
    const size_t wrong[] = {0, 3, 2050};
    for (int i = 0; i < 3; i++) {
        REFUSED(GLCNN_INVALID_ARGUMENT,
                glcnn_yolo_loss_create(device, boxes, wrong[i], 0, &kernel));
        CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "it needs 2 for each of 1 to"));
    }
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_yolo_loss_create(device, boxes, 4, 0, &kernel));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "anchor box 1 is inf x 1"));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_yolo_loss_create(device, NULL, 2, 0, &kernel));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_yolo_loss_create(device, boxes, 2, 9, &kernel));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_yolo_loss_create(device, boxes, 2, 0, NULL));
    CU_ASSERT_PTR_NULL(kernel);
    CU_ASSERT_PTR_NULL(glcnn_yolo_loss(NULL));
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(a_known_cell),
        UNIT_TEST(an_empty_cell),
        UNIT_TEST(the_box_that_fits),
        UNIT_TEST(the_thresholds),
        UNIT_TEST(gradients_by_finite_differences),
        UNIT_TEST(the_iou_is_a_label),
        UNIT_TEST(every_type),
        UNIT_TEST(reductions),
        UNIT_TEST(a_graph_trains),
        UNIT_TEST(what_is_refused),
        UNIT_TEST(types_that_are_refused),
        UNIT_TEST(construction),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("yolo_loss", tests, argc, argv);
}
