/* Boxes, average precision, metrics of classes and settings as their public headers promise them: no device is
 * needed. */
#include <glcnn/detection.h>
#include <glcnn/metrics.h>
#include <glcnn/task.h>
#include <glcnn/train.h>

#include <math.h>
#include <string.h>

#include "tests/unit.h"

static bool is_close(double a, double b)
{
    return fabs(a - b) < 1e-12;
}

/* ---- glcnn/detection.h ---- */

static const struct glcnn_box here = {0, 0, 10, 10}, beside = {5, 0, 15, 10},
                              there = {20, 20, 40, 40};

static void overlaps_are_those_of_areas(void)
{
    const struct glcnn_box nothing = {3, 3, 3, 9};
    CU_ASSERT_EQUAL(glcnn_box_area(&here), 100);
    CU_ASSERT_EQUAL(glcnn_box_area(&nothing), 0);
    CU_ASSERT_TRUE(is_close(glcnn_box_overlap(&here, &beside), 1.0 / 3));
    CU_ASSERT_EQUAL(glcnn_box_overlap(&here, &there), 0);
    CU_ASSERT_EQUAL(glcnn_box_overlap(&nothing, &nothing), 0);
}

static void suppression_keeps_the_likeliest_of_a_class(void)
{
    struct glcnn_detection found[] = {
        {here, 0, 0.9f}, {beside, 0, 0.8f}, {beside, 1, 0.7f}, {there, 0, 0.6f}};
    struct glcnn_detection all[4];
    memcpy(all, found, sizeof all);
    CU_ASSERT_EQUAL(glcnn_detections_suppress(all, 4, 0.5f, 4), 4);
    CU_ASSERT_EQUAL(glcnn_detections_suppress(all, 4, 0.5f, 2), 2);
    CU_ASSERT_EQUAL(glcnn_detections_suppress(found, 4, 0.3f, 4), 3);
    CU_ASSERT_EQUAL(found[1].label, 1);
    CU_ASSERT_EQUAL(found[2].box.left, 20);
    CU_ASSERT_EQUAL(glcnn_detections_suppress(found, 0, 0.3f, 4), 0);
}

static void precision_is_asked_for_as_often_as_one_likes(void)
{
    glcnn_detection_score *score = glcnn_detection_score_create(2);
    const struct glcnn_object objects[] = {{here, 0, false, false}, {there, 0, true, false}};
    struct glcnn_detection found[] = {{here, 0, 0.5f}, {there, 0, 0.9f}, {beside, 0, 0.1f}};
    CU_ASSERT_PTR_NOT_NULL_FATAL(score);
    CU_ASSERT_TRUE(isnan(glcnn_detection_score_result(score)->at_50));
    CU_ASSERT_EQUAL(glcnn_detection_score_add(score, objects, 2, found, 3), GLCNN_SUCCESS);
    const struct glcnn_detection_result *result = glcnn_detection_score_result(score);
    CU_ASSERT_TRUE(is_close(result->at_50, 1));
    CU_ASSERT_EQUAL(result->class_count, 2);
    CU_ASSERT_TRUE(is_close(result->of_class_at_50[0], 1));
    CU_ASSERT_TRUE(isnan(result->of_class_at_50[1]));
    CU_ASSERT_EQUAL(glcnn_detection_score_add(score, objects, 1, NULL, 0), GLCNN_SUCCESS);
    CU_ASSERT_TRUE(is_close(glcnn_detection_score_result(score)->at_50, 51.0 / 101));
    found[2].label = 2;
    CU_ASSERT_EQUAL(glcnn_detection_score_add(score, objects, 2, found, 3), GLCNN_INVALID_ARGUMENT);
    found[2] = (struct glcnn_detection){here, 0, (float)NAN};
    CU_ASSERT_EQUAL(glcnn_detection_score_add(score, objects, 2, found, 3), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_TRUE(is_close(glcnn_detection_score_result(score)->at_50, 51.0 / 101));
    glcnn_detection_score_destroy(&score);
    CU_ASSERT_PTR_NULL(score);
    glcnn_detection_score_destroy(&score);
    CU_ASSERT_PTR_NULL(glcnn_detection_score_create(0));
}

/* ---- glcnn/metrics.h ---- */

static void classes_are_measured(void)
{
    glcnn_class_metrics *metrics = glcnn_class_metrics_create(3);
    const float probabilities[] = {0.7f, 0.2f, 0.1f, 0.4f, 0.4f, 0.2f, 0.1f, 0.8f, 0.1f};
    const uint32_t labels[] = {0, 1, 1}, wrong[] = {0, 3, 1};
    CU_ASSERT_PTR_NOT_NULL_FATAL(metrics);
    CU_ASSERT_TRUE(isnan(glcnn_class_metrics_result(metrics)->accuracy));
    CU_ASSERT_EQUAL(glcnn_class_metrics_add(metrics, probabilities, wrong, 3),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_class_metrics_add(metrics, probabilities, labels, 3), GLCNN_SUCCESS);
    const struct glcnn_class_result *r = glcnn_class_metrics_result(metrics);
    CU_ASSERT_EQUAL(r->count, 3);
    CU_ASSERT_TRUE(is_close(r->accuracy, 2.0 / 3));
    CU_ASSERT_EQUAL(r->top_5, 1);
    CU_ASSERT_TRUE(is_close(r->class_precision[0], 0.5) && is_close(r->class_recall[0], 1));
    CU_ASSERT_TRUE(is_close(r->class_f1[1], 2.0 / 3) && is_close(r->class_iou[1], 0.5));
    CU_ASSERT_TRUE(is_close(r->precision, 0.75) && is_close(r->iou, 0.5));
    CU_ASSERT_TRUE(isnan(r->class_iou[2]));
    CU_ASSERT_EQUAL(r->confusion[3], 1); /* of class 1 one is answered 0 */
    CU_ASSERT_TRUE(
        is_close(r->calibration_error,
                 (1 - (double)0.7f + (double)0.4f + 1 - (double)0.8f) / 3)); /* a bin each */
    glcnn_class_metrics_destroy(&metrics);
    CU_ASSERT_PTR_NULL(metrics);
    CU_ASSERT_PTR_NULL(glcnn_class_metrics_create(0));
}

static void pixels_without_a_class_are_passed_over(void)
{
    glcnn_class_metrics *metrics = glcnn_class_metrics_create(2);
    const uint8_t answers[] = {0, 1, 1, 9}, labels[] = {0, 0, 1, 255}, wrong[] = {0, 0, 1, 1};
    CU_ASSERT_PTR_NOT_NULL_FATAL(metrics);
    CU_ASSERT_EQUAL(glcnn_class_metrics_add_labels(metrics, answers, wrong, 4),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_class_metrics_add_labels(metrics, answers, labels, 4), GLCNN_SUCCESS);
    const struct glcnn_class_result *r = glcnn_class_metrics_result(metrics);
    CU_ASSERT_EQUAL(r->count, 3);
    CU_ASSERT_TRUE(is_close(r->iou, 0.5));
    CU_ASSERT_TRUE(isnan(r->top_5));
    glcnn_class_metrics_destroy(&metrics);
}

/* ---- Tables ---- */

static void tasks_are_listed(void)
{
    size_t count = 0;
    CU_ASSERT_STRING_EQUAL(glcnn_task_at(0)->name, "classify");
    CU_ASSERT_STRING_EQUAL(glcnn_task_at(0)->measure, "accuracy");
    for (; glcnn_task_at(count); count++) {
        CU_ASSERT_PTR_NOT_NULL(glcnn_task_at(count)->text);
        CU_ASSERT_PTR_NOT_NULL(glcnn_task_at(count)->explains);
        CU_ASSERT_PTR_NOT_NULL(glcnn_task_at(count)->classes);
    }
    CU_ASSERT_EQUAL(count, 5);
}

/* Each is set by what its row says, and refused where that says no. */
static void settings_are_as_their_rows(void)
{
    char error[GLCNN_ERROR_LENGTH], text[64];
    const struct glcnn_train_setting *row;
    glcnn_train_settings *settings = glcnn_train_settings_create();
    CU_ASSERT_PTR_NOT_NULL_FATAL(settings);
    for (size_t i = 0; (row = glcnn_train_setting_at(i)); i++) {
        CU_ASSERT_EQUAL(row->value == NULL, row->kind == GLCNN_TRAIN_SETTING_FLAG);
        CU_ASSERT_PTR_NOT_NULL(row->text);
        CU_ASSERT_EQUAL(glcnn_train_settings_set(settings, row->name, NULL, error),
                        row->value ? GLCNN_INVALID_ARGUMENT : GLCNN_SUCCESS);
        if (row->kind == GLCNN_TRAIN_SETTING_NAME) {
            CU_ASSERT_EQUAL(glcnn_train_settings_set(settings, row->name,
                                                     glcnn_train_setting_choice(row, 0), error),
                            GLCNN_SUCCESS);
            CU_ASSERT_EQUAL(glcnn_train_settings_set(settings, row->name, "nonsense", error),
                            GLCNN_INVALID_ARGUMENT);
            CU_ASSERT_PTR_NULL(glcnn_train_setting_choice(row, 100));
        }
        if (row->kind == GLCNN_TRAIN_SETTING_WHOLE || row->kind == GLCNN_TRAIN_SETTING_REAL) {
            snprintf(text, sizeof text, "%llu", (unsigned long long)row->most);
            CU_ASSERT_EQUAL(glcnn_train_settings_set(settings, row->name, text, error),
                            row->is_below ? GLCNN_INVALID_ARGUMENT : GLCNN_SUCCESS);
            CU_ASSERT_EQUAL(glcnn_train_settings_set(settings, row->name, "-1", error),
                            GLCNN_INVALID_ARGUMENT);
            CU_ASSERT_PTR_NOT_NULL(strstr(error, row->name));
        }
    }
    CU_ASSERT_EQUAL(glcnn_train_settings_set(settings, "label_smoothing", "0.1", error),
                    GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_train_settings_set(settings, "label_smoothin", "0.1", error),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "did you mean label-smoothing"));
    glcnn_train_settings_destroy(&settings);
    CU_ASSERT_PTR_NULL(settings);
    glcnn_train_settings_destroy(&settings);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(overlaps_are_those_of_areas),
                                        UNIT_TEST(suppression_keeps_the_likeliest_of_a_class),
                                        UNIT_TEST(precision_is_asked_for_as_often_as_one_likes),
                                        UNIT_TEST(classes_are_measured),
                                        UNIT_TEST(pixels_without_a_class_are_passed_over),
                                        UNIT_TEST(tasks_are_listed),
                                        UNIT_TEST(settings_are_as_their_rows),
                                        CU_TEST_INFO_NULL};
    return unit_run("library_measures", tests, argc, argv);
}
