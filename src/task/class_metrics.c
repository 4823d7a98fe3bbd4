/* Metrics of classes, of answers from wherever they come. */
#include <glcnn/metrics.h>

#include <math.h>
#include <stdlib.h>

#include "metrics.h"
#include "network.h"
#include "score.h"

struct glcnn_class_metrics {
    double *counts; /* the confusion matrix */
    double *each;   /* precision, recall, F1 and IoU of all classes, one after the other */
    double sums[METRICS_SUMS];
    uint64_t count, probable; /* answers; those that came with probabilities */
    struct glcnn_class_result result;
    uint32_t classes;
};

glcnn_class_metrics *glcnn_class_metrics_create(uint32_t class_count)
{
    glcnn_class_metrics *m = class_count > 0 ? calloc(1, sizeof *m) : NULL;
    if (!m)
        return NULL;
    m->classes = class_count;
    m->counts = calloc((size_t)class_count * class_count, sizeof *m->counts);
    m->each = calloc(4 * (size_t)class_count, sizeof *m->each);
    if (!m->counts || !m->each)
        glcnn_class_metrics_destroy(&m);
    return m;
}

void glcnn_class_metrics_destroy(glcnn_class_metrics **metrics)
{
    if (*metrics) {
        free((*metrics)->counts);
        free((*metrics)->each);
    }
    free(*metrics);
    *metrics = NULL;
}

static void count_answer(glcnn_class_metrics *m, uint32_t label, uint32_t answer)
{
    m->counts[(size_t)label * m->classes + answer]++;
    m->count++;
}

glcnn_status glcnn_class_metrics_add(glcnn_class_metrics *m, const float *probabilities,
                                     const uint32_t *labels, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (labels[i] >= m->classes ||
            !scores_are_finite(probabilities + i * m->classes, m->classes))
            return GLCNN_INVALID_ARGUMENT;
    for (size_t i = 0; i < count; i++) {
        const float *of = probabilities + i * m->classes;
        metrics_add(m->sums, of, m->classes, labels[i]);
        count_answer(m, labels[i], network_best(of, m->classes));
    }
    m->probable += count;
    return GLCNN_SUCCESS;
}

glcnn_status glcnn_class_metrics_add_labels(glcnn_class_metrics *m, const uint8_t *answers,
                                            const uint8_t *labels, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (labels[i] < m->classes && answers[i] >= m->classes)
            return GLCNN_INVALID_ARGUMENT;
    for (size_t i = 0; i < count; i++)
        if (labels[i] < m->classes)
            count_answer(m, labels[i], answers[i]);
    return GLCNN_SUCCESS;
}

const struct glcnn_class_result *glcnn_class_metrics_result(glcnn_class_metrics *m)
{
    const struct confusion confusion = {m->classes, m->counts};
    double *precision = m->each, *recall = precision + m->classes, *f1 = recall + m->classes,
           *iou = f1 + m->classes, right = 0, overlap = 0, present = 0;
    for (uint32_t k = 0; k < m->classes; k++) {
        const struct confusion_tally t = confusion_tally(&confusion, k);
        const struct class_metrics of = metrics_of_class(&confusion, k);
        const double either = t.are + t.taken - t.right;
        precision[k] = of.precision;
        recall[k] = of.recall;
        f1[k] = of.f1;
        iou[k] = either > 0 ? t.right / either : (double)NAN;
        right += t.right;
        overlap += either > 0 ? iou[k] : 0;
        present += either > 0;
    }
    const struct class_metrics mean = metrics_mean(&confusion);
    m->result = (struct glcnn_class_result){
        .count = m->count,
        .accuracy = right / (double)m->count,
        .top_5 = m->probable > 0 ? metrics_top(m->sums) : (double)NAN,
        .calibration_error = m->probable > 0 ? metrics_calibration_error(m->sums) : (double)NAN,
        .precision = mean.precision,
        .recall = mean.recall,
        .f1 = mean.f1,
        .iou = overlap / present,
        .class_count = m->classes,
        .class_precision = precision,
        .class_recall = recall,
        .class_f1 = f1,
        .class_iou = iou,
        .confusion = m->counts};
    return &m->result;
}
