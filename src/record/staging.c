/* Staging: what uploads and read-backs need again and again is made once. */
#include "record/staging.h"

#include <stdlib.h>

#include "device/buffer.h"

#define FIRST_COUNT 1024 /* elements that the buffer holds to begin with */

static glcnn_status make_parts(struct glcnn_device *device, struct staging *staging)
{
    glcnn_status status = glcnn_command_buffer_create(device, &staging->commands);
    return status == GLCNN_SUCCESS
               ? glcnn_buffer_create(device, FIRST_COUNT * sizeof(float), &staging->buffer)
               : status;
}

glcnn_status staging_create(struct glcnn_device *device)
{
    device->staging = calloc(1, sizeof *device->staging);
    if (!device->staging)
        return device_fail(device, GLCNN_OUT_OF_MEMORY, "out of memory opening a device");
    return make_parts(device, device->staging);
}

void staging_destroy(struct staging **staging)
{
    struct staging *old = *staging;
    *staging = NULL;
    if (!old)
        return;
    glcnn_command_buffer_destroy(&old->commands);
    glcnn_buffer_destroy(&old->buffer);
    free(old->values);
    free(old);
}

/* At least doubles, so that transfers of many sizes do not make a buffer each. */
static size_t grown(size_t has, size_t wanted)
{
    return 2 * has > wanted ? 2 * has : wanted;
}

glcnn_status staging_reserve_buffer(struct glcnn_device *device, size_t count)
{
    struct glcnn_buffer **buffer = &device->staging->buffer, *bigger;
    size_t most = device->info.limits.storage_block_size / sizeof(float);
    size_t has = (*buffer)->size / sizeof(float);
    if (count <= has)
        return GLCNN_SUCCESS;
    size_t wanted = grown(has, count) < most ? grown(has, count) : most;
    glcnn_status status =
        glcnn_buffer_create(device, (count < wanted ? wanted : count) * sizeof(float), &bigger);
    if (status != GLCNN_SUCCESS)
        return status;
    glcnn_buffer_destroy(buffer);
    *buffer = bigger;
    return GLCNN_SUCCESS;
}

glcnn_status staging_reserve_values(struct glcnn_device *device, size_t count, const char *where)
{
    struct staging *staging = device->staging;
    if (count <= staging->value_count)
        return GLCNN_SUCCESS;
    size_t wanted = grown(staging->value_count, count);
    float *values = malloc(wanted * sizeof *values);
    if (!values)
        return device_fail(device, GLCNN_OUT_OF_MEMORY, "%s: out of memory", where);
    free(staging->values);
    staging->values = values;
    staging->value_count = wanted;
    return GLCNN_SUCCESS;
}
