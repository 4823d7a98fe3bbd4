/* Operations that one dispatch may take: as many as the device does in a tenth of the 500 ms after
 * which the strictest kernel driver known (V3D's) resets the GPU. A GPU that does ten thousand
 * times as many is not to run its passes in ten thousand parts: the first pass that would have to
 * be split for the slowest device makes this one take the time of some work. */
#include "record/dispatch_work.h"

#include "device/clock.h"
#include "record/command_buffer.h"
#include "record/program.h"

#define DEFAULT_WORK 64                  /* of an invocation */
#define LEAST        ((uint64_t)1 << 28) /* in 50 ms, at the 5 Gop/s of a V3D */
#define SHARE        20                  /* 50 ms are so much of a second */

/* The work that is timed: enough invocations to fill any GPU. */
#define INVOCATIONS (1u << 18)
#define ROUND       8 /* operations of a round */
#define MOST_ROUNDS (1 << 16)
#define ENOUGH      2000000 /* nanoseconds that make a measurement */

static uint64_t invocations_work(const struct pass *pass, const uint32_t count[3])
{
    return (uint64_t)count[0] * count[1] * count[2] * (pass->work ? pass->work : DEFAULT_WORK);
}

uint64_t pass_work(const struct pass *pass)
{
    return invocations_work(pass, pass->grid);
}

uint64_t pass_group_work(const struct pass *pass)
{
    return invocations_work(pass, pass->program->local);
}

uint64_t dispatch_work(const struct glcnn_device *device)
{
    return device->dispatch_work ? device->dispatch_work : LEAST;
}

static glcnn_status record_rounds(struct glcnn_command_buffer *commands, int32_t rounds)
{
    struct plan plan;
    plan_begin(&plan, commands);
    struct vector_view result = plan_scratch_vector(&plan, 4);
    struct pass *pass = plan_pass(&plan, "record/work.comp");
    pass_vector(pass, "result", &result, VECTOR_WRITE);
    pass_int(pass, "rounds", rounds);
    pass_grid(pass, INVOCATIONS, 1, 1);
    pass_local(pass, 64, 1, 1);
    pass->work = 1; /* whatever it is, it is timed in one piece */
    return plan_end(&plan);
}

static glcnn_status time_rounds(struct glcnn_device *device, int32_t rounds, uint64_t *taken)
{
    glcnn_command_buffer *commands = NULL;
    glcnn_status status = glcnn_command_buffer_create(device, &commands);
    if (status == GLCNN_SUCCESS)
        status = record_rounds(commands, rounds);
    uint64_t start = clock_nanoseconds();
    if (status == GLCNN_SUCCESS)
        status = glcnn_command_buffer_commit(commands);
    if (status == GLCNN_SUCCESS)
        status = glcnn_command_buffer_wait(commands);
    *taken = clock_nanoseconds() - start;
    glcnn_command_buffer_destroy(&commands);
    return status;
}

/* The first run is not counted: some drivers compile then, and clocks rise. */
static glcnn_status measure(struct glcnn_device *device, uint64_t *operations_per_second)
{
    uint64_t taken = 0;
    int32_t rounds = 1;
    glcnn_status status = time_rounds(device, rounds, &taken);
    if (status == GLCNN_SUCCESS)
        status = time_rounds(device, rounds, &taken);
    while (status == GLCNN_SUCCESS && taken < ENOUGH && rounds < MOST_ROUNDS) {
        rounds *= 4;
        status = time_rounds(device, rounds, &taken);
    }
    double operations = (double)INVOCATIONS * ROUND * rounds;
    *operations_per_second = (uint64_t)(operations * 1e9 / (double)(taken ? taken : 1));
    return status;
}

glcnn_status dispatch_work_measure(struct glcnn_device *device, const struct pass *pass)
{
    uint64_t speed = 0;
    if (device->dispatch_work || pass_work(pass) <= LEAST)
        return GLCNN_SUCCESS;
    device->dispatch_work = LEAST;
    glcnn_status status = measure(device, &speed);
    if (device->lost)
        return status;
    if (status != GLCNN_SUCCESS)
        device_log(device, GLCNN_LOG_WARNING,
                   "the device's speed could not be measured; long passes are split as for the "
                   "slowest");
    else if (speed / SHARE > LEAST)
        device->dispatch_work = speed / SHARE;
    return GLCNN_SUCCESS;
}
