/* The task detect: networks with its head, on one grid and on three that share a result; with GLCNN_TEST_CHECK=1 one
 * learns shapes. */
#include <glcnn/kernels/optimizer.h>

#include "tests/fixture.h"
#include "tests/shapes.h"
#include "task/detection_pack.h"
#include "task/model.h"
#include "task/score.h"
#include "task/task.h"

#include <math.h>
#include <time.h>

#define BATCH 8

static struct form form_of(uint32_t side)
{
    return (struct form){side, side, 3, SHAPES_CLASSES, task_number(task_find("detect"))};
}

static struct model make_model(const char *net, const struct form *form)
{
    struct model model;
    struct glcnn_training_descriptor d = {NULL};
    CU_ASSERT_TRUE_FATAL(model_create(device, net_find(net), form, BATCH, &model));
    GOOD_FATAL(glcnn_network_initialise(model.network, 1));
    GOOD_FATAL(glcnn_optimizer_adam_create(device, 0.004f, &d.optimizer));
    GOOD_FATAL(glcnn_network_set_training(model.network, &d));
    glcnn_kernel_destroy(&d.optimizer);
    return model;
}

/* ---- Batches of shapes ---- */

struct shape_batch {
    float pixels[BATCH][SHAPES_SIDE * SHAPES_SIDE * 3];
    struct glcnn_data_box items[BATCH][SHAPES_MOST];
    const struct glcnn_data_box *boxes[BATCH];
    uint32_t box_counts[BATCH], indices[BATCH], labels[BATCH], sides[BATCH];
};

static struct glcnn_data_batch draw_batch(struct shape_batch *b, uint32_t *seed)
{
    static struct shapes shapes;
    for (uint32_t n = 0; n < BATCH; n++) {
        shapes_make(&shapes, seed);
        memcpy(b->pixels[n], shapes.pixels, sizeof shapes.pixels);
        for (uint32_t i = 0; i < shapes.count; i++) {
            const struct glcnn_object *o = &shapes.objects[i];
            b->items[n][i] = (struct glcnn_data_box){o->box.left / SHAPES_SIDE,
                                                     o->box.top / SHAPES_SIDE,
                                                     o->box.right / SHAPES_SIDE,
                                                     o->box.bottom / SHAPES_SIDE,
                                                     o->label,
                                                     false,
                                                     false};
        }
        b->boxes[n] = b->items[n];
        b->box_counts[n] = shapes.count;
        b->indices[n] = n;
        b->sides[n] = SHAPES_SIDE;
    }
    return (struct glcnn_data_batch){.count = BATCH,
                                     .filled = BATCH,
                                     .labels = b->labels,
                                     .indices = b->indices,
                                     .widths = b->sides,
                                     .heights = b->sides,
                                     .boxes = b->boxes,
                                     .box_counts = b->box_counts};
}

/* ---- Training ---- */

static void train(struct model *model, uint32_t steps)
{
    static struct shape_batch shapes;
    struct runner runner;
    float losses[BATCH];
    uint32_t seed = 1;
    CU_ASSERT_TRUE_FATAL(runner_create_training(model, BATCH, NULL, &runner));
    for (uint32_t i = 0; i < steps; i++) {
        const struct glcnn_data_batch batch = draw_batch(&shapes, &seed);
        const struct learning_rates rates = {.head = 0.002f *
                                                     (1 + cosf(3.1416f * (float)i / (float)steps))};
        model_set_learning_rates(model, 0, &rates);
        CU_ASSERT_TRUE_FATAL(runner_run(&runner, shapes.pixels[0], &batch, losses));
    }
    CU_ASSERT(isfinite(losses[0]));
    runner_destroy(&runner);
}

static double evaluate(struct model *model, uint32_t batches)
{
    static struct shape_batch shapes;
    struct runner runner;
    struct score score;
    uint32_t seed = 4711;
    const size_t each = task_of(&model->form)->values(&model->form);
    float *values = malloc(BATCH * each * sizeof *values);
    CU_ASSERT_TRUE_FATAL(values && runner_create_inference(model, BATCH, 0, &runner));
    CU_ASSERT_TRUE_FATAL(score_begin(&score, model));
    for (uint32_t i = 0; i < batches; i++) {
        const struct glcnn_data_batch batch = draw_batch(&shapes, &seed);
        CU_ASSERT_TRUE_FATAL(runner_run(&runner, shapes.pixels[0], NULL, values));
        score_add(&score, values, &batch);
    }
    double measure = score_measure(&score);
    CU_ASSERT(score_loss(&score) > 0 && score_loss(&score) < 2);
    cJSON *json = score_json(&score, (const char *const[]){"rectangle", "disc", "triangle"});
    CU_ASSERT_EQUAL(cJSON_GetNumberValue(cJSON_GetObjectItem(json, "map_50")), measure);
    cJSON_Delete(json);
    score_free(&score);
    runner_destroy(&runner);
    free(values);
    return measure;
}

/* Not within the minimum limits, where each size has a step below. */
static void a_network_learns_to_detect(void)
{
    clock_t begin = clock();
    if (!unit_is_check() || getenv("GLCNN_LIMITS"))
        return;
    const struct form form = form_of(SHAPES_SIDE);
    struct model model = make_model("mobilenet-tiny", &form);
    train(&model, 400);
    double measure = evaluate(&model, 16);
    printf("mAP@0.5 %.3f, %.0f s of processor time ", measure,
           (double)(clock() - begin) / CLOCKS_PER_SEC);
    CU_ASSERT(measure >= 0.9);
    model_destroy(&model);
}

/* ---- Networks ---- */

/* Of each built-in network and sizes that strides do not divide: a step, and a result of the size that
 * the task says, with positive distances. */
static void check_size(const char *net, uint32_t side)
{
    const struct form form = form_of(side);
    struct model model = make_model(net, &form);
    struct runner runner;
    const size_t each = task_of(&form)->values(&form), pixels = (size_t)side * side * 3;
    float *values = calloc(BATCH * each, sizeof *values);
    float *pictures = calloc(BATCH * pixels, sizeof *pictures);
    CU_ASSERT_TRUE_FATAL(values && pictures);
    CU_ASSERT_TRUE_FATAL(runner_create_inference(&model, BATCH, 0, &runner));
    bool ran = runner_run(&runner, pictures, NULL, values);
    CU_ASSERT_TRUE(ran);
    if (!ran)
        printf("\n    %s %u: %s", net, side, runner_error(&runner));
    CU_ASSERT(values[0] > 0 && values[4] > 0 && values[4] < 0.1f);
    runner_destroy(&runner);
    model_destroy(&model);
    free(values);
    free(pictures);
}

static void all_networks_and_sizes_have_a_head(void)
{
    check_size("lenet", 50);
    check_size("small", 61);
    check_size("resnet8", 33);
    check_size("mobilenet-tiny", 100);
    check_size("mobilenet-tiny", 200);
}

/* What lies below each other comes apart again. */
static void packed_grids_come_apart(void)
{
    static const uint32_t strides[] = {8, 16};
    const struct detection_layout layout = detection_layout(24, 16, 1, strides, 2);
    float packed[(2 + 1) * 3 * 5], room[sizeof packed / sizeof *packed];
    const float *predictions[DETECTION_SCALES];
    CU_ASSERT_EQUAL_FATAL(detection_packed(&layout), sizeof packed / sizeof *packed);
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        packed[i] = (float)i;
    detection_unpack(&layout, packed, room, predictions);
    for (int i = 0; i < 2 * 3 * 5; i++)
        CU_ASSERT_EQUAL(predictions[0][i], (float)i);
    for (int i = 0; i < 2 * 5; i++)
        CU_ASSERT_EQUAL(predictions[1][i], (float)(2 * 3 * 5 + i));
}

/* Values of the other grids lie in the first columns, below those of the first. */
static void values_are_packed(void)
{
    static const uint32_t strides[] = {8, 16};
    const struct detection_layout layout = detection_layout(24, 16, 1, strides, 2);
    static const float fine[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
                       coarse[] = {13, 14, 15, 16},
                       wanted[] = {1, 2, 3, 4, 5, 6, 13, 14, -1, 7, 8, 9, 10, 11, 12, 15, 16, -1};
    float packed[sizeof wanted / sizeof *wanted];
    detection_pack_values(&layout, 2, 1, (const float *const[]){fine, coarse}, -1, packed);
    CU_ASSERT_EQUAL_FATAL(detection_packed_rows(&layout), 3);
    CU_ASSERT_EQUAL(memcmp(packed, wanted, sizeof packed), 0);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(a_network_learns_to_detect),
        UNIT_TEST(all_networks_and_sizes_have_a_head),
        UNIT_TEST(packed_grids_come_apart),
        UNIT_TEST(values_are_packed),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("task_detect", tests, argc, argv);
}
