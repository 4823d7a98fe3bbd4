/* Epochs of an inference, whose answers are counted. */
#include "evaluate.h"

#include <stdio.h>

bool evaluate_epoch(struct runner *runner, struct flip *flip, glcnn_data_loader *loader,
                    float *values, struct score *score, char error[GLCNN_ERROR_LENGTH])
{
    for (uint64_t step = 0; step < glcnn_data_loader_steps(loader); step++) {
        struct glcnn_data_batch batch;
        if (glcnn_data_loader_next(loader, &batch, error) != GLCNN_SUCCESS)
            return false;
        if (!flip_run(flip, runner, &batch, values)) {
            snprintf(error, GLCNN_ERROR_LENGTH, "%s", runner_error(runner));
            return false;
        }
        score_add(score, values, &batch);
        if (score->failure[0]) {
            snprintf(error, GLCNN_ERROR_LENGTH, "%s", score->failure);
            return false;
        }
    }
    return true;
}

void evaluate_tell_not_finite(const char *name, uint32_t count, char error[GLCNN_ERROR_LENGTH])
{
    char more[64] = "";
    if (count > 1)
        snprintf(more, sizeof more, " (and %u more)", count - 1);
    snprintf(error, GLCNN_ERROR_LENGTH,
             "%.300s%s: the network's scores are NaN or infinite; either the values of the picture "
             "are too large for it, or its weights are damaged",
             name, more);
}

bool evaluate_is_finite(const struct score *score, const struct pictures *pictures,
                        glcnn_data_part part, char error[GLCNN_ERROR_LENGTH])
{
    char name[4096];
    if (score->not_finite == 0)
        return true;
    glcnn_dataset_name(pictures->set, part, score->first, name, sizeof name);
    evaluate_tell_not_finite(name, score->not_finite, error);
    return false;
}
