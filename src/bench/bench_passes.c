/* Passes as the device profiles them. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

static void take_pass(void *user, const struct glcnn_pass_timing *t)
{
    struct bench_passes *passes = user;
    struct glcnn_bench_pass *items =
        array_grow(passes->items, passes->count, &passes->capacity, sizeof *items);
    if (!items) {
        passes->failed = true;
        return;
    }
    struct glcnn_bench_pass *pass = &items[passes->count++];
    *pass = (struct glcnn_bench_pass){.dispatches = t->dispatches,
                                      .operations = t->operations,
                                      .bytes = t->bytes,
                                      .begin = t->begin,
                                      .end = t->end};
    snprintf(pass->kernel, sizeof pass->kernel, "%s", t->kernel);
    snprintf(pass->shader, sizeof pass->shader, "%s", t->shader);
    snprintf(pass->implementation, sizeof pass->implementation, "%s",
             t->implementation ? t->implementation : "");
    passes->items = items;
    passes->gpu_clock = t->gpu_clock;
}

glcnn_status bench_record(glcnn_device *device, struct bench_passes *passes)
{
    return glcnn_device_set_profile(device, passes ? take_pass : NULL, passes);
}

void bench_passes_free(struct bench_passes *passes)
{
    free(passes->items);
    *passes = (struct bench_passes){.items = NULL};
}

void bench_take_passes(glcnn_bench *bench, struct bench_passes *passes,
                       struct glcnn_bench_result *result)
{
    bench_passes_free(&bench->passes);
    bench->passes = *passes;
    *passes = (struct bench_passes){.items = NULL};
    result->passes = bench->passes.items;
    result->pass_count = (uint32_t)bench->passes.count;
    result->gpu_clock = bench->passes.gpu_clock;
    result->dispatches = 0;
    for (size_t i = 0; i < bench->passes.count; i++)
        result->dispatches += bench->passes.items[i].dispatches;
}
