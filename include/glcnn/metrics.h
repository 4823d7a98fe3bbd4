/* These functions measure how well classes are predicted, whoever makes the answers.
 *
 *   accuracy   the share of answers whose most probable class is right
 *   top-5      the share of those whose class is among the five most probable
 *   precision  of class k: of the answers k the share that are k; 0 where there are none
 *   recall     of those that are k the share that is answered k; 0 where there are none
 *   F1         2 precision recall / (precision + recall); 0 where both are 0
 *   IoU        of class k: right answers k over those that are k or are answered k; NAN where there are none
 *   calibration error   the expected calibration error of Guo et al. 2017: over the bins (b / 15, (b + 1) / 15] of the
 *              largest probability, sum of
 *              share of the answers in the bin |share of them that are right - their mean probability|
 *
 * Means of precision, recall and F1 are over the classes that an answer has or is, as scikit-learn's "macro"; the mean
 * of IoU is over the classes that have one. Average precision of boxes is in glcnn/detection.h.
 *
 * Part of libglcnn_train. It needs no device. Thread-safety: metrics belong to whoever calls for them, one call at a
 * time. */
#ifndef GLCNN_METRICS_H
#define GLCNN_METRICS_H

#include <glcnn/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct glcnn_class_metrics glcnn_class_metrics;

struct glcnn_class_result {
    uint64_t count; /* answers that were counted */
    double accuracy, top_5,
        calibration_error;             /* NAN of no answer; the last two also of labels alone */
    double precision, recall, f1, iou; /* means */
    uint32_t class_count;
    /* Arrays of class_count numbers. */
    const double *class_precision, *class_recall, *class_f1, *class_iou;
    const double *
        confusion; /* [class_count][class_count]: how many of a row's class were answered a column's */
};

/* Nothing counted yet. NULL: not enough memory, or no class. Release with glcnn_class_metrics_destroy. */
GLCNN_API glcnn_class_metrics *glcnn_class_metrics_create(uint32_t class_count);
/* *metrics becomes NULL. NULL does nothing. */
GLCNN_API void glcnn_class_metrics_destroy(glcnn_class_metrics **metrics);
/* Counts `count` answers, probabilities [count][class_count] and the labels that are right. Of equal probabilities the
 * first class counts. Errors, after which nothing was counted: GLCNN_INVALID_ARGUMENT for a label that is no class and
 * for a probability that is not finite. */
GLCNN_API glcnn_status glcnn_class_metrics_add(glcnn_class_metrics *metrics,
                                               const float *probabilities, const uint32_t *labels,
                                               size_t count);
/* The same of answers that are classes, of pixels for instance; such labels as are no class are passed over, but what
 * is answered must be one. */
GLCNN_API glcnn_status glcnn_class_metrics_add_labels(glcnn_class_metrics *metrics,
                                                      const uint8_t *answers, const uint8_t *labels,
                                                      size_t count);
/* Measures all that was counted; more may be added later. The result lives until the next call for the metrics. */
GLCNN_API const struct glcnn_class_result *glcnn_class_metrics_result(glcnn_class_metrics *metrics);

#ifdef __cplusplus
}
#endif
#endif
