/* The pass that ends each commit where the driver does not tell of resets: it adds one to a number,
 * so that a commit of which the GPU has dropped the end is missing from it for ever. */
#include "record/commit_count.h"

#include <stdlib.h>

#include "device/buffer.h"
#include "device/caller_state.h"
#include "record/dispatch.h"
#include "record/hazards.h"
#include "record/program.h"
#include "record/uniforms.h"

#define COUNT_SIZE 16 /* bytes of the buffer */

static void describe(struct pass *pass, struct glcnn_buffer *buffer)
{
    const struct vector_view number = {.buffer = buffer, .count = 1};
    *pass = (struct pass){.shader = "record/count.comp"};
    pass_vector_of(pass, "uint", "number", &number, VECTOR_READ_WRITE);
    pass_grid(pass, 1, 1, 1);
    pass_local(pass, 1, 1, 1);
}

static glcnn_status make(struct glcnn_device *device)
{
    static const uint32_t zeros[COUNT_SIZE / 4];
    struct commit_count *count = &device->watch.count;
    glcnn_status status = buffer_create_mapped(device, COUNT_SIZE, GL_MAP_READ_BIT, &count->buffer);
    if (status == GLCNN_SUCCESS)
        status = glcnn_buffer_write(count->buffer, 0, sizeof zeros, zeros);
    if (status == GLCNN_SUCCESS)
        describe(count->pass, count->buffer);
    return status;
}

/* Counts once. A driver that runs no program, as those of fake devices, counts nothing: every commit
 * would look like a reset. */
static glcnn_status prove(struct glcnn_device *device)
{
    caller_state_keep(device);
    glcnn_status status = commit_count_prepare(device);
    if (status == GLCNN_SUCCESS)
        commit_count_issue(device);
    caller_state_put_back(device);
    if (status == GLCNN_SUCCESS)
        status = glcnn_device_wait(device);
    if (status != GLCNN_SUCCESS || device->watch.count.proven)
        return status;
    device_log(device, GLCNN_LOG_WARNING,
               "the driver of %s does not run the pass that counts commits: no result of it can be "
               "trusted, and a reset that it does not tell of is not seen",
               device->info.renderer);
    commit_count_destroy(device, true);
    return GLCNN_SUCCESS;
}

glcnn_status commit_count_create(struct glcnn_device *device)
{
    if (reset_is_told(device))
        return GLCNN_SUCCESS;
    device->watch.count.pass = calloc(1, sizeof *device->watch.count.pass);
    if (!device->watch.count.pass)
        return device_fail(device, GLCNN_OUT_OF_MEMORY, "out of memory opening a device");
    glcnn_status status = make(device);
    return status == GLCNN_SUCCESS ? prove(device) : status;
}

void commit_count_destroy(struct glcnn_device *device, bool reachable)
{
    struct commit_count *count = &device->watch.count;
    if (count->uniforms && reachable)
        device->gl.DeleteBuffers(1, &count->uniforms);
    count->uniforms = 0;
    glcnn_buffer_destroy(&count->buffer);
    free(count->pass);
    count->pass = NULL;
}

glcnn_status commit_count_prepare(struct glcnn_device *device)
{
    struct commit_count *count = &device->watch.count;
    uint32_t words[PASS_WORDS] = {0};
    if (!count->buffer || (count->pass->issue.program && count->uniforms))
        return GLCNN_SUCCESS;
    glcnn_status status = programs_find(device, count->pass, 1);
    if (status != GLCNN_SUCCESS)
        return status;
    program_uniforms(count->pass, words);
    return buffer_upload(device, GL_UNIFORM_BUFFER, &count->uniforms, sizeof words, words,
                         "counting commits");
}

/* Behind a barrier of its own, for it must not run beside what it counts. */
void commit_count_issue(struct glcnn_device *device)
{
    struct commit_count *count = &device->watch.count;
    uint32_t dispatches = 0;
    if (!count->buffer)
        return;
    device_barrier(device, (1u << BARRIER_KINDS) - 1);
    dispatch_bind(device, count->pass, count->uniforms);
    dispatch_pass(device, count->pass, "counting commits", &dispatches);
    hazards_mark(device, count->pass);
    buffer_show(count->buffer);
    count->serials[++count->issued % COMMITS_KEPT] = device->serial;
}
