/* Operations and bytes of passes, and of one dispatch: as many as the device does and moves in a tenth
 * of the 500 ms after which the strictest kernel driver known (V3D's) resets the GPU. A fast GPU is not to run its passes
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

uint64_t pass_bytes(const struct pass *pass)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < pass->texture_count; i++)
        bytes += view_bytes(&pass->textures[i].view);
    for (uint32_t i = 0; i < pass->image_count; i++)
        bytes += view_bytes(&pass->images[i].view);
    for (uint32_t i = 0; i < pass->buffer_count; i++)
        bytes += (uint64_t)pass->buffers[i].view.count * 4;
    return bytes;
}

uint64_t dispatch_work(const struct glcnn_device *device)
{
    return device->dispatch_work ? device->dispatch_work : LEAST_DISPATCH_WORK;
}

static uint64_t dispatch_bytes(const struct glcnn_device *device)
{
    return device->dispatch_bytes ? device->dispatch_bytes : LEAST_DISPATCH_BYTES;
}

uint64_t dispatch_groups(const struct glcnn_device *device, const struct pass *pass,
                         uint64_t groups)
{
    uint64_t by_work = dispatch_work(device) / pass_group_work(pass);
    uint64_t parts = (pass_bytes(pass) + dispatch_bytes(device) - 1) / dispatch_bytes(device);
    uint64_t by_bytes = parts > 1 ? groups / parts : groups;
    return by_work < by_bytes ? by_work : by_bytes;
}
