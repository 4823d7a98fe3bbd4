/* The pass that ends each commit: it adds one to a number, so that a commit of which the GPU has dropped
 * the end is missing from it for ever. The first one, when the device is opened, proves the driver's
 * arithmetic too: one program and one dispatch for both. */
#include "record/commit_count.h"

#include <stdlib.h>

#include "device/buffer.h"
#include "device/caller_state.h"
#include "record/dispatch.h"
#include "record/hazards.h"
#include "record/program.h"
#include "record/proof.h"
#include "record/uniforms.h"

#define HEAD 4 /* words before those of the proof, the first of which is the number */

/* With `lanes` it proves as well as counts. */
static void describe(struct pass *pass, struct glcnn_buffer *buffer, uint32_t lanes)
{
    const struct vector_view words = {.buffer = buffer, .count = HEAD + PROOF_WORDS};
    *pass = (struct pass){.shader = "record/count.comp"};
    pass_vector_of(pass, "uint", "words", &words, VECTOR_READ_WRITE);
    pass_int(pass, "lanes", (int32_t)lanes);
    pass_grid(pass, lanes ? lanes : 1, 1, 1);
    pass_local(pass, PROOF_LANES, 1, 1);
}

/* By a copy: a driver may keep the buffer mapped for reading alone. */
static glcnn_status fill(struct glcnn_buffer *buffer, const void *words)
{
    struct glcnn_device *device = buffer->device;
    struct glcnn_buffer *from = NULL;
    glcnn_status status = glcnn_buffer_create(device, buffer->size, &from);
    if (status == GLCNN_SUCCESS)
        status = glcnn_buffer_write(from, 0, buffer->size, words);
    caller_state_keep(device);
    if (status == GLCNN_SUCCESS)
        status = buffer_copy(from, 0, buffer, 0, buffer->size);
    caller_state_put_back(device);
    glcnn_buffer_destroy(&from);
    return status;
}

static glcnn_status make(struct glcnn_device *device)
{
    uint32_t words[HEAD + PROOF_WORDS] = {0};
    struct commit_count *count = &device->watch.count;
    proof_fill(words + HEAD);
    count->pass = calloc(1, sizeof *count->pass);
    if (!count->pass)
        return device_fail(device, GLCNN_OUT_OF_MEMORY, "out of memory opening a device");
    glcnn_status status =
        buffer_create_mapped(device, sizeof words, GL_MAP_READ_BIT, &count->buffer);
    return status == GLCNN_SUCCESS ? fill(count->buffer, words) : status;
}

static void drop_uniforms(struct glcnn_device *device)
{
    struct commit_count *count = &device->watch.count;
    if (count->uniforms)
        device->gl.DeleteBuffers(1, &count->uniforms);
    count->uniforms = 0;
}

/* The pass that was issued last counts its commit. */
static void note(struct glcnn_device *device)
{
    struct commit_count *count = &device->watch.count;
    buffer_show(count->buffer);
    count->serials[++count->issued % COMMITS_KEPT] = device->serial;
}

/* The pass has a barrier of its own, for it must not run beside what it counts. Where binding fails nothing
 * is dispatched, for another buffer would be written. */
static glcnn_status issue(struct glcnn_device *device, const char *where,
                          glcnn_status (*check)(struct glcnn_device *device, const char *where))
{
    struct commit_count *count = &device->watch.count;
    uint32_t dispatches = 0;
    device_barrier(device, (1u << BARRIER_KINDS) - 1);
    dispatch_bind(device, count->pass, count->uniforms);
    glcnn_status status = check(device, where);
    if (status == GLCNN_SUCCESS && !count->doubted)
        status = dispatch_pass(device, count->pass, where, &dispatches);
    hazards_mark(device, count->pass);
    if (status == GLCNN_SUCCESS)
        status = check(device, where);
    if (status == GLCNN_SUCCESS && !count->doubted)
        note(device);
    return status;
}

/* The first count. A driver that runs no program, as those of fake devices, counts nothing: every commit
 * would look like a reset. */
static glcnn_status count_and_prove(struct glcnn_device *device)
{
    struct commit_count *count = &device->watch.count;
    describe(count->pass, count->buffer, PROOF_LANES);
    count->doubted = false;
    caller_state_keep(device);
    glcnn_status status = commit_count_prepare(device);
    if (status == GLCNN_SUCCESS)
        status = issue(device, "counting commits", device_check);
    drop_uniforms(device);
    caller_state_put_back(device);
    describe(count->pass, count->buffer, 0);
    return status == GLCNN_SUCCESS ? glcnn_device_wait(device) : status;
}

/* A software rasteriser that computes nonsense is refused: another one, or a newer one, takes its place
 * at no cost. A GPU is left to its user, who is told. */
static glcnn_status check_proof(struct glcnn_device *device)
{
    static const char doubt[] = "no result of it can be trusted";
    uint32_t words[PROOF_WORDS];
    char wrong[160];
    glcnn_status status =
        glcnn_buffer_read(device->watch.count.buffer, HEAD * 4, sizeof words, words);
    if (status != GLCNN_SUCCESS || proof_holds(words, wrong, sizeof wrong))
        return status;
    if (device->info.software)
        return device_fail(device, GLCNN_NO_DEVICE,
                           "the driver of %s computes %s: %s, and it is refused; take another "
                           "device, or a Mesa whose LLVM knows this processor",
                           device->info.renderer, wrong, doubt);
    device_log(device, GLCNN_LOG_WARNING,
               "the driver of %s computes %s: %s; glcnn check shows more", device->info.renderer,
               wrong, doubt);
    return GLCNN_SUCCESS;
}

glcnn_status commit_count_create(struct glcnn_device *device)
{
    glcnn_status status = make(device);
    if (status == GLCNN_SUCCESS)
        status = count_and_prove(device);
    if (status != GLCNN_SUCCESS)
        return status;
    if (device->watch.count.proven)
        return check_proof(device);
    device_log(device, GLCNN_LOG_WARNING,
               "the driver of %s does not run the pass that counts commits: no result of it can be "
               "trusted, and passes that it drops are not seen",
               device->info.renderer);
    commit_count_destroy(device, true);
    return GLCNN_SUCCESS;
}

void commit_count_destroy(struct glcnn_device *device, bool reachable)
{
    struct commit_count *count = &device->watch.count;
    if (reachable)
        drop_uniforms(device);
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
    status = buffer_upload(device, GL_UNIFORM_BUFFER, &count->uniforms, sizeof words, words,
                           "counting commits");
    if (status != GLCNN_SUCCESS)
        drop_uniforms(device);
    return status;
}

/* All that the commit is for has been issued by then, and an error here is none of it: the number is doubted,
 * and compared again from the next commit on. */
glcnn_status commit_count_issue(struct glcnn_device *device, const char *where)
{
    return device->watch.count.buffer ? issue(device, where, device_clear_error) : GLCNN_SUCCESS;
}

void commit_count_join(struct glcnn_device *device, struct pass *pass)
{
    const struct vector_view words = {.buffer = device->watch.count.buffer, .count = 1};
    if (!words.buffer)
        return;
    pass_define(pass, "COUNTS", 1);
    pass_vector_of(pass, "uint", "commits", &words, VECTOR_READ_WRITE);
}

bool commit_count_is_in(const struct glcnn_device *device, const struct pass *pass)
{
    const struct glcnn_buffer *buffer = device->watch.count.buffer;
    for (uint32_t i = 0; buffer && i < pass->buffer_count; i++)
        if (pass->buffers[i].view.buffer == buffer)
            return true;
    return false;
}

/* One that the driver refused has not run, which is no loss: it is asked first. */
glcnn_status commit_count_note(struct glcnn_device *device, const struct pass *pass,
                               const char *where)
{
    if (!commit_count_is_in(device, pass))
        return GLCNN_SUCCESS;
    glcnn_status status = device_check(device, where);
    if (status == GLCNN_SUCCESS)
        note(device);
    return status;
}
