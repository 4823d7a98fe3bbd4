/* Measuring how fast a device is: passes of known work, run for longer and longer. */
#include "record/speed.h"

#include "device/buffer.h"
#include "base/clock.h"
#include "record/dispatch_work.h"
#include "record/program.h"
#include "record/run_once.h"

#define SHARE 20 /* 50 ms are so much of a second */

/* The work that is timed: enough invocations to fill any GPU. */
#define INVOCATIONS (1u << 18)
#define MOST_ROUNDS (1 << 16)
#define ENOUGH      2000000 /* nanoseconds that make a measurement */
#define WHERE       "measuring the device's speed"

/* A pass that takes `rounds` rounds of the same work, and how much an invocation does in one. */
struct work {
    const char *shader;
    uint32_t round;
    struct vector_view elements; /* that it reads, and never writes */
};

static void describe(struct pass *pass, const struct work *work, int32_t rounds,
                     uint32_t invocations)
{
    *pass = (struct pass){.shader = work->shader, .work = 1}; /* timed in one piece */
    pass_vector_of(pass, "vec4", "elements", &work->elements, VECTOR_READ_WRITE);
    pass_int(pass, "rounds", rounds);
    pass_int(pass, "count", (int32_t)(work->elements.count / 4));
    pass_grid(pass, invocations, 1, 1);
    pass_local(pass, 64, 1, 1);
}

static glcnn_status time_rounds(struct glcnn_device *device, const struct work *work,
                                int32_t rounds, uint32_t invocations, uint64_t *taken)
{
    struct pass pass;
    describe(&pass, work, rounds, invocations);
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
static glcnn_status measure(struct glcnn_device *device, const struct work *work,
                            uint64_t *per_second)
{
    uint64_t taken = 0;
    int32_t rounds = 1;
    glcnn_status status = time_rounds(device, work, rounds, INVOCATIONS, &taken);
    if (status == GLCNN_SUCCESS)
        status = time_rounds(device, work, rounds, INVOCATIONS, &taken);
    while (status == GLCNN_SUCCESS && taken < ENOUGH && rounds < MOST_ROUNDS) {
        rounds *= 4;
        status = time_rounds(device, work, rounds, INVOCATIONS, &taken);
    }
    double done = (double)INVOCATIONS * work->round * rounds;
    *per_second = (uint64_t)(done * 1e9 / (double)(taken ? taken : 1));
    return status;
}

/* ---- Dispatches that take long whatever they do ---- */

#define LONG  20000000 /* nanoseconds; 0.1 are usual */
#define TRIES 3

static glcnn_status warn_of_slow_dispatches(struct glcnn_device *device, const struct work *work)
{
    uint64_t least_taken = UINT64_MAX, taken = 0;
    glcnn_status status = GLCNN_SUCCESS;
    for (int i = 0; i < TRIES && status == GLCNN_SUCCESS && least_taken >= LONG; i++) {
        status = time_rounds(device, work, 1, 1, &taken);
        least_taken = taken < least_taken ? taken : least_taken;
    }
    if (status == GLCNN_SUCCESS && least_taken >= LONG)
        device_log(device, GLCNN_LOG_WARNING,
                   "a dispatch that does next to nothing takes %.0f ms on %s, and a training step "
                   "has dozens: update the kernel (those of a Raspberry Pi 4 from before March "
                   "2020 wait so long for the GPU's caches)",
                   (double)least_taken / 1e6, device->info.renderer);
    return status;
}

/* ---- All of it ---- */

static uint64_t share(uint64_t per_second, uint64_t least_share)
{
    return per_second / SHARE > least_share ? per_second / SHARE : least_share;
}

static glcnn_status measure_all(struct glcnn_device *device, struct glcnn_buffer *buffer)
{
    const struct vector_view elements = {.buffer = buffer, .count = INVOCATIONS * 4};
    const struct work operations = {"record/work.comp", 8, elements};
    const struct work reads = {"record/read_work.comp", 16, elements};
    uint64_t speed = 0, bytes = 0;
    glcnn_status status = measure(device, &operations, &speed);
    if (status == GLCNN_SUCCESS)
        status = measure(device, &reads, &bytes);
    if (status == GLCNN_SUCCESS)
        status = warn_of_slow_dispatches(device, &operations);
    if (status == GLCNN_SUCCESS) {
        device->dispatch_work = share(speed, LEAST_DISPATCH_WORK);
        device->dispatch_bytes = share(bytes, LEAST_DISPATCH_BYTES);
    }
    return status;
}

glcnn_status speed_measure(struct glcnn_device *device, const struct pass *pass)
{
    struct glcnn_buffer *elements = NULL;
    if (device->dispatch_work ||
        (pass_work(pass) <= LEAST_DISPATCH_WORK && pass_bytes(pass) <= LEAST_DISPATCH_BYTES))
        return GLCNN_SUCCESS;
    device->dispatch_work = LEAST_DISPATCH_WORK;
    glcnn_status status = glcnn_buffer_create(device, (size_t)INVOCATIONS * 16, &elements);
    if (status == GLCNN_SUCCESS)
        status = measure_all(device, elements);
    glcnn_buffer_destroy(&elements);
    if (device->lost)
        return status;
    if (status != GLCNN_SUCCESS)
        device_log(device, GLCNN_LOG_WARNING,
                   "the device's speed could not be measured; long passes are split as for the "
                   "slowest");
    return GLCNN_SUCCESS;
}
