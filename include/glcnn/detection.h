/* Boxes around objects: overlaps, suppression, and how well a detector finds objects.
 *
 * Part of libglcnn_train. It needs no device. Edges of boxes are in pixels, counted from the left and the top edge of
 * a picture: the first pixel reaches from 0 to 1. A box without an inside has the area 0.
 *
 * Thread-safety: functions are safe on any thread; a score belongs to whoever calls for it, one call at a time. */
#ifndef GLCNN_DETECTION_H
#define GLCNN_DETECTION_H

#include <glcnn/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct glcnn_box {
    float left, top, right, bottom;
};

/* An object that is in a picture. */
struct glcnn_object {
    struct glcnn_box box;
    uint32_t label; /* its class, from 0 */
    bool crowd;     /* COCO's, many of the class in one box: neither right nor wrong to find */
    bool difficult; /* Pascal VOC's: trained, and neither right nor wrong to find */
};

/* A box that a detector finds. */
struct glcnn_detection {
    struct glcnn_box box;
    uint32_t label; /* its class, from 0 */
    float score;    /* probability of the class */
};

/* Which detections of a picture count. */
struct glcnn_detection_limits {
    float score;   /* what is less likely is left out */
    float overlap; /* intersection over union above which the less likely of a class is left out */
    uint32_t most; /* boxes of a picture, 1 to 300 */
    bool across_classes; /* the likeliest box of any class leaves out those that it overlaps */
};

/* Width times height; 0 of a box without an inside. */
GLCNN_API double glcnn_box_area(const struct glcnn_box *box);
/* Intersection over union, 0 to 1; 0 where both areas are. */
GLCNN_API double glcnn_box_overlap(const struct glcnn_box *a, const struct glcnn_box *b);

/* Non-maximum suppression: goes through the detections, which the caller has sorted with the likeliest first, keeps
 * each that overlaps none of its class that was kept by more than `overlap`, up to `most` of them, and moves these to
 * the front in their order. Returns how many there are. */
GLCNN_API uint32_t glcnn_detections_suppress(struct glcnn_detection *detections, uint32_t count,
                                             float overlap, uint32_t most);

/* ---- Average precision ---- */

/* Mean average precision by COCO's rules, as pycocotools has them.
 *
 *   match      in each picture and class the detections, the likeliest 100, are matched in the order of their scores,
 *              each with the object of the largest overlap that is at least the threshold and not matched yet. Of a
 *              crowd the overlap is the part of the detection that lies in it; a crowd is matched any number of times,
 *              by what matches no object, and what matches one does not count. So are objects that Pascal VOC marks
 *              difficult, by their own overlap
 *   precision  of a class: at each detection, of all pictures in the order of their scores, the part of those up to it
 *              that are right; at each the largest of it and those after it
 *   average    of the precisions where recall reaches 0, 0.01, ... 1, of which those that it does not reach are 0
 *   mean       over the classes of which there are objects; over the thresholds 0.5, 0.55, ... 0.95 too */
typedef struct glcnn_detection_score glcnn_detection_score;

struct glcnn_detection_result {
    double at_50;  /* mean average precision with the threshold 0.5; NAN where there is no object */
    double at_all; /* the mean over all thresholds */
    uint32_t class_count;
    const double *of_class_at_50; /* [class_count]; NAN of a class without an object */
};

/* Nothing counted yet. NULL: not enough memory, or no class. Release with glcnn_detection_score_destroy. */
GLCNN_API glcnn_detection_score *glcnn_detection_score_create(uint32_t class_count);
/* *score becomes NULL. NULL does nothing. */
GLCNN_API void glcnn_detection_score_destroy(glcnn_detection_score **score);
/* Counts a picture: its objects and what was found in it, in any order. Errors, after which nothing was counted:
 * GLCNN_INVALID_ARGUMENT for a label that is no class and a score that is not finite, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_detection_score_add(glcnn_detection_score *score,
                                                 const struct glcnn_object *objects,
                                                 uint32_t object_count,
                                                 const struct glcnn_detection *found,
                                                 uint32_t found_count);
/* Measures all that was counted; more may be added later. The result lives until the next call for the score. */
GLCNN_API const struct glcnn_detection_result *
glcnn_detection_score_result(glcnn_detection_score *score);

#ifdef __cplusplus
}
#endif
#endif
