/* The times of passes: by timestamps of the GPU where the driver has them, else by the clock of the
 * processor between two waits for the GPU. */
#include "record/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "device/device.h"
#include "glcnn/command_buffer.h"
#include "record/dispatch_work.h"

enum { BEGIN, END, ENDS };

struct measured {
    struct glcnn_pass_timing timing;
    char kernel[sizeof((struct pass *)0)->owner.name]; /* a pass may go before it is told of */
    GLuint queries[ENDS];
};

struct profile {
    glcnn_profile_callback callback;
    void *user;
    bool gpu_clock;
    struct measured *passes;
    size_t count, capacity, with_queries; /* queries are made once and used again */
};

/* Some drivers have the extension and no bits of a timestamp. */
static bool has_gpu_clock(const struct glcnn_device *device)
{
    const struct gl *gl = &device->gl;
    GLint bits = 0;
    if (device->info.traits.wrong_timers || !gl->GetQueryivEXT || !gl->QueryCounterEXT ||
        !gl->GetQueryObjectui64vEXT)
        return false;
    gl->GetQueryivEXT(GL_TIMESTAMP_EXT, GL_QUERY_COUNTER_BITS_EXT, &bits);
    return bits > 0;
}

void profile_destroy(struct glcnn_device *device, bool reachable)
{
    struct profile *old = device->profile;
    device->profile = NULL;
    if (!old)
        return;
    for (size_t i = 0; reachable && i < old->with_queries; i++)
        device->gl.DeleteQueriesEXT(ENDS, old->passes[i].queries);
    free(old->passes);
    free(old);
}

glcnn_status glcnn_device_set_profile(glcnn_device *device, glcnn_profile_callback callback,
                                      void *user)
{
    glcnn_status status = device_enter(device);
    if (status != GLCNN_SUCCESS)
        return status;
    profile_destroy(device, true);
    if (!callback)
        return GLCNN_SUCCESS;
    struct profile *made = calloc(1, sizeof *made);
    if (!made)
        return device_fail(device, GLCNN_OUT_OF_MEMORY, "out of memory for a profile");
    made->callback = callback;
    made->user = user;
    made->gpu_clock = has_gpu_clock(device);
    device->profile = made;
    return device_check(device, "glcnn_device_set_profile");
}

/* Room for one more, with its queries. */
static glcnn_status make_room(struct glcnn_device *device)
{
    struct profile *p = device->profile;
    struct measured *passes = array_grow(p->passes, p->count, &p->capacity, sizeof *passes);
    if (!passes)
        return device_fail(device, GLCNN_OUT_OF_MEMORY, "out of memory for a profile");
    p->passes = passes;
    if (p->gpu_clock && p->count == p->with_queries)
        device->gl.GenQueriesEXT(ENDS, p->passes[p->with_queries++].queries);
    return GLCNN_SUCCESS;
}

/* The moment, or the query that will tell it. */
static glcnn_status take_time(struct glcnn_device *device, GLuint query, uint64_t *time)
{
    glcnn_status status = GLCNN_SUCCESS;
    if (device->profile->gpu_clock)
        device->gl.QueryCounterEXT(query, GL_TIMESTAMP_EXT);
    else
        status = fence_await_all(device, "waiting for the time of a pass");
    *time = clock_nanoseconds();
    return status;
}

glcnn_status profile_begin(struct glcnn_device *device, const struct pass *pass)
{
    struct profile *p = device->profile;
    if (!p)
        return GLCNN_SUCCESS;
    glcnn_status status = make_room(device);
    if (status != GLCNN_SUCCESS)
        return status;
    struct measured *m = &p->passes[p->count];
    memcpy(m->kernel, pass->owner.name, sizeof m->kernel);
    m->timing = (struct glcnn_pass_timing){.shader = pass->shader,
                                           .implementation = pass->owner.implementation,
                                           .operations = pass_work(pass),
                                           .bytes = pass_bytes(pass),
                                           .gpu_clock = p->gpu_clock};
    return take_time(device, m->queries[BEGIN], &m->timing.begin);
}

glcnn_status profile_end(struct glcnn_device *device, uint32_t dispatches)
{
    struct profile *p = device->profile;
    if (!p)
        return GLCNN_SUCCESS;
    struct measured *m = &p->passes[p->count++];
    m->timing.dispatches = dispatches;
    return take_time(device, m->queries[END], &m->timing.end);
}

/* A GPU whose clock was disturbed, by a change of its frequency for one, has no times to tell. */
static void read_queries(struct glcnn_device *device)
{
    const struct gl *gl = &device->gl;
    struct profile *p = device->profile;
    GLint disjoint = 0;
    for (size_t i = 0; i < p->count; i++) {
        GLuint64 begin = 0, end = 0;
        gl->GetQueryObjectui64vEXT(p->passes[i].queries[BEGIN], GL_QUERY_RESULT_EXT, &begin);
        gl->GetQueryObjectui64vEXT(p->passes[i].queries[END], GL_QUERY_RESULT_EXT, &end);
        p->passes[i].timing.begin = begin;
        p->passes[i].timing.end = end;
    }
    gl->GetIntegerv(GL_GPU_DISJOINT_EXT, &disjoint);
    for (size_t i = 0; disjoint && i < p->count; i++)
        p->passes[i].timing.begin = p->passes[i].timing.end = 0;
}

glcnn_status profile_tell(struct glcnn_device *device)
{
    struct profile *p = device->profile;
    if (!p)
        return GLCNN_SUCCESS;
    size_t count = p->count;
    glcnn_status status = fence_await_all(device, "waiting for the times of passes");
    if (status == GLCNN_SUCCESS && p->gpu_clock)
        read_queries(device);
    p->count = 0;
    for (size_t i = 0; i < count && status == GLCNN_SUCCESS; i++) {
        p->passes[i].timing.kernel = p->passes[i].kernel;
        p->callback(p->user, &p->passes[i].timing);
    }
    return status == GLCNN_SUCCESS ? device_check(device, "reading the times of passes") : status;
}
