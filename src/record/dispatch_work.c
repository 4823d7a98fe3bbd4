/* Operations of passes, and of one dispatch: as many as the device does in a tenth of the 500 ms after
 * which the strictest kernel driver known (V3D's) resets the GPU. A fast GPU is not to run its passes
 * in thousands of parts: its speed is measured (speed.h) before the first pass that would have to be
 * split for the slowest device. */
#include "record/dispatch_work.h"

#include "record/program.h"

#define DEFAULT_WORK 64 /* of an invocation */

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
    return invocations_work(pass, pass->issue.program->local);
}

uint64_t dispatch_work(const struct glcnn_device *device)
{
    return device->dispatch_work ? device->dispatch_work : LEAST_DISPATCH_WORK;
}
