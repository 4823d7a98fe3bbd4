/* Measuring how fast a device is: a pass of known work, run for longer and longer. */
#include "record/speed.h"

#include "device/buffer.h"
#include "device/clock.h"
#include "record/dispatch_work.h"
#include "record/program.h"
#include "record/run_once.h"

#define SHARE 20 /* 50 ms are so much of a second */

/* The work that is timed: enough invocations to fill any GPU. */
#define INVOCATIONS (1u << 18)
#define ROUND       8 /* operations of a round */
#define MOST_ROUNDS (1 << 16)
#define ENOUGH      2000000 /* nanoseconds that make a measurement */
#define WHERE       "measuring the device's speed"

static void describe(struct pass *pass, int32_t rounds, struct glcnn_buffer *result)
{
    const struct vector_view view = {.buffer = result, .count = 4};
    *pass = (struct pass){.shader = "record/work.comp", .work = 1}; /* timed in one piece */
    pass_vector(pass, "result", &view, VECTOR_WRITE);
    pass_int(pass, "rounds", rounds);
    pass_grid(pass, INVOCATIONS, 1, 1);
    pass_local(pass, 64, 1, 1);
}

static glcnn_status time_rounds(struct glcnn_device *device, int32_t rounds,
                                struct glcnn_buffer *result, uint64_t *taken)
{
    struct pass pass;
    describe(&pass, rounds, result);
    glcnn_status status = programs_find(device, &pass, 1);
    uint64_t start = clock_nanoseconds();
    if (status == GLCNN_SUCCESS)
        status = pass_run(device, &pass, WHERE);
    if (status == GLCNN_SUCCESS)
        status = fence_await_all(device, WHERE);
    *taken = clock_nanoseconds() - start;
    return status;
}

/* The first run is not counted: some drivers compile then, and clocks rise. */
static glcnn_status measure(struct glcnn_device *device, struct glcnn_buffer *result,
                            uint64_t *operations_per_second)
{
    uint64_t taken = 0;
    int32_t rounds = 1;
    glcnn_status status = time_rounds(device, rounds, result, &taken);
    if (status == GLCNN_SUCCESS)
        status = time_rounds(device, rounds, result, &taken);
    while (status == GLCNN_SUCCESS && taken < ENOUGH && rounds < MOST_ROUNDS) {
        rounds *= 4;
        status = time_rounds(device, rounds, result, &taken);
    }
    double operations = (double)INVOCATIONS * ROUND * rounds;
    *operations_per_second = (uint64_t)(operations * 1e9 / (double)(taken ? taken : 1));
    return status;
}

glcnn_status speed_measure(struct glcnn_device *device, const struct pass *pass)
{
    uint64_t speed = 0;
    struct glcnn_buffer *result = NULL;
    if (device->dispatch_work || pass_work(pass) <= LEAST_DISPATCH_WORK)
        return GLCNN_SUCCESS;
    device->dispatch_work = LEAST_DISPATCH_WORK;
    glcnn_status status = glcnn_buffer_create(device, 16, &result);
    if (status == GLCNN_SUCCESS)
        status = measure(device, result, &speed);
    glcnn_buffer_destroy(&result);
    if (device->lost)
        return status;
    if (status != GLCNN_SUCCESS)
        device_log(device, GLCNN_LOG_WARNING,
                   "the device's speed could not be measured; long passes are split as for the "
                   "slowest");
    else if (speed / SHARE > LEAST_DISPATCH_WORK)
        device->dispatch_work = speed / SHARE;
    return GLCNN_SUCCESS;
}
