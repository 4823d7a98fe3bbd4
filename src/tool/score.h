/* How well a network classifies: loss, accuracy, and which classes it takes for which. */
#ifndef GLCNN_TOOL_SCORE_H
#define GLCNN_TOOL_SCORE_H

#include <cjson/cJSON.h>
#include <glcnn/status.h>
#include <stdbool.h>
#include <stdint.h>

struct score {
    uint32_t classes;
    uint64_t count, right; /* pictures */
    double loss;           /* sum of -ln of the probability of the class, of 1e-38 at least */
    uint32_t
        not_finite; /* pictures with a probability that is NaN or infinite: no class is theirs */
    uint32_t first; /* the index of the first of them */
    uint64_t *confusion; /* [class][class that it was taken for] */
};

/* Nothing counted yet. False: not enough memory. Release with score_free. */
bool score_begin(struct score *score, uint32_t classes);
void score_free(struct score *score);

bool scores_are_finite(const float *scores, uint32_t classes);

/* Counts pictures of these probabilities, [count][classes], classes and indices; a label that is no
 * class belongs to an empty place. One that is not finite makes the loss NaN. */
void score_add(struct score *score, const float *probabilities, const uint32_t *labels,
               const uint32_t *indices, uint32_t count);

double score_accuracy(const struct score *score);
double score_loss(const struct score *score); /* the mean */

/* Prints, for people, accuracy by class and the confusion matrix; of more classes than fit, the
 * worst confusions. */
void score_print(const struct score *score, const char *const *names);
/* Draws the matrix as SVG. False, with a message, if the file cannot be written. */
bool score_draw(const struct score *score, const char *const *names, const char *path,
                char error[GLCNN_ERROR_LENGTH]);
/* All of it. */
cJSON *score_json(const struct score *score, const char *const *names);

#endif
