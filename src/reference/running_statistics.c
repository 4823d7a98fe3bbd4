/* Running averages of batch statistics: spec 7.4. */
#include "kernels/running_statistics.h"

#include "reference/reference.h"

/* The old average moves towards the batch by its share of the way. */
static void move(double *running, double batch, double share)
{
    *running += share * (batch - *running);
}

static void reference(const struct reference *r)
{
    const struct glcnn_running_statistics_parameters *p = r->operation->parameters;
    for (size_t c = 0; c < r->operation->vectors[MEAN].count; c++) {
        move(&r->vectors[RUNNING_MEAN][c], r->vectors[MEAN][c], p->momentum);
        move(&r->vectors[RUNNING_VARIANCE][c],
             r->vectors[VARIANCE][c] * running_statistics_correction(p), p->momentum);
    }
}

static const struct check_case cases[] = {{"", {1, 1, 1, 1}},
                                          {"samples=2", {1, 1, 1, 2}},
                                          {"samples=3 momentum=0.5", {1, 1, 1, 3}},
                                          {"momentum=0", {1, 1, 1, 4}},
                                          {"momentum=1", {1, 1, 1, 5}},
                                          {"momentum=1 samples=2", {1, 1, 1, 6}},
                                          {"momentum=0.25 samples=12544", {1, 1, 1, 7}},
                                          {"momentum=0.003 samples=50", {1, 1, 1, 8}},
                                          {"samples=9007199254740992", {1, 1, 1, 9}},
                                          {"samples=784", {1, 1, 1, 63}},
                                          {"samples=784", {1, 1, 1, 64}},
                                          {"samples=784", {1, 1, 1, 65}},
                                          {"momentum=0.9 samples=10", {2, 3, 5, 7}},
                                          {"samples=25088", {64, 32, 7, 7}, {0}, true},
                                          {0}};

const struct glcnn_reference glcnn_reference_batch_normalization_running_statistics = {reference,
                                                                                       cases};
