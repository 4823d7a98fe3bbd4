/* Lost devices. A driver with GL_KHR_robustness raises GL_CONTEXT_LOST and answers
 * glGetGraphicsResetStatus; one with only GL_EXT_robustness raises nothing, so it is asked at every
 * commit and every wait; one with neither, and one that drops passes and answers that nothing was
 * reset, is found out by counting commits. */
#include "device/reset.h"

#include <stdio.h>
#include <string.h>

#include "device/buffer.h"
#include "device/fence.h"

#define KINDS_MOST 32 /* passes of different names that are told of */
#define KIND_TEXT  144

/* ---- What the driver tells ---- */

bool reset_is_told(const struct glcnn_device *device)
{
    const struct gl *gl = &device->gl;
    return device->info.robust && (gl->GetGraphicsResetStatusKHR || gl->GetGraphicsResetStatusEXT);
}

static GLenum ask_driver(const struct glcnn_device *device)
{
    const struct gl *gl = &device->gl;
    if (gl->GetGraphicsResetStatusKHR)
        return gl->GetGraphicsResetStatusKHR();
    return gl->GetGraphicsResetStatusEXT ? gl->GetGraphicsResetStatusEXT() : GL_NO_ERROR;
}

static const char *reason_of(GLenum status)
{
    switch (status) {
    case GL_NO_ERROR:
        return NULL;
    case GL_GUILTY_CONTEXT_RESET_KHR:
        return "the driver reset the context, and says that this program's own passes were the "
               "cause (guilty)";
    case GL_INNOCENT_CONTEXT_RESET_KHR:
        return "the driver reset the context, and says that another program was the cause "
               "(innocent)";
    default:
        return "the driver reset the context, and does not say whose work was the cause (unknown)";
    }
}

const char *reset_reason(const struct glcnn_device *device, GLenum code, const char *name)
{
    GLenum status = code == GL_CONTEXT_LOST_KHR || name ? ask_driver(device) : GL_NO_ERROR;
    if (status == GL_NO_ERROR && code == GL_CONTEXT_LOST_KHR)
        status = GL_UNKNOWN_CONTEXT_RESET_KHR;
    return reason_of(status);
}

glcnn_status reset_check(struct glcnn_device *device, const char *where)
{
    glcnn_status status = device_check(device, where);
    const char *reason = status == GLCNN_SUCCESS ? reason_of(ask_driver(device)) : NULL;
    return reason ? reset_lose(device, where, reason) : status;
}

/* ---- Passes in flight ---- */

void reset_note_pass(struct glcnn_device *device, const char *shader, const char *kernel)
{
    struct noted_pass *pass = &device->watch.passes[device->watch.noted++ % PASSES_NOTED];
    pass->serial = device->serial;
    pass->shader = shader;
    snprintf(pass->kernel, sizeof pass->kernel, "%s", kernel);
}

/* Passes up to this one are known to have run. */
static uint64_t last_known(const struct glcnn_device *device)
{
    const struct commit_count *count = &device->watch.count;
    return count->buffer ? count->checked : device->progress.completed;
}

static bool is_named_alike(const struct noted_pass *a, const struct noted_pass *b)
{
    return strcmp(a->shader, b->shader) == 0 && strcmp(a->kernel, b->kernel) == 0;
}

/* Passes in flight, by name: those of the name of `first`. */
struct kind {
    const struct noted_pass *first;
    unsigned count;
};

static void count_pass(struct kind kinds[KINDS_MOST], size_t *count, const struct noted_pass *pass)
{
    size_t k = 0;
    while (k < *count && !is_named_alike(kinds[k].first, pass))
        k++;
    if (k == KINDS_MOST)
        return;
    if (k == *count)
        kinds[(*count)++] = (struct kind){.first = pass};
    kinds[k].count++;
}

/* Of those that are noted, oldest first. Returns how many kinds there are; *total: passes. */
static size_t collect(const struct glcnn_device *device, struct kind kinds[KINDS_MOST],
                      unsigned *total)
{
    const struct reset_watch *watch = &device->watch;
    size_t first = watch->noted > PASSES_NOTED ? watch->noted - PASSES_NOTED : 0, count = 0;
    *total = 0;
    for (size_t i = first; i < watch->noted; i++) {
        const struct noted_pass *pass = &watch->passes[i % PASSES_NOTED];
        if (pass->serial <= last_known(device))
            continue;
        ++*total;
        count_pass(kinds, &count, pass);
    }
    return count;
}

/* "3 x pooling/pooling.comp of pooling_max". */
static void name_kind(const struct kind *kind, char text[KIND_TEXT])
{
    char times[16] = "";
    const char *kernel = kind->first->kernel;
    if (kind->count > 1)
        snprintf(times, sizeof times, "%u x ", kind->count);
    snprintf(text, KIND_TEXT, "%s%.64s%s%s", times, kind->first->shader, kernel[0] ? " of " : "",
             kernel);
}

/* As many kinds as find room; the log has all of them. */
static void name_passes(struct glcnn_device *device, char *text, size_t size)
{
    static const char first[] = "passes in flight: ", others[] = " and 999 others";
    struct kind kinds[KINDS_MOST];
    char name[KIND_TEXT];
    unsigned left;
    size_t count = collect(device, kinds, &left), used;
    used = (size_t)snprintf(text, size, "%s", left ? first : "no pass was in flight");
    for (size_t i = 0; i < count; i++) {
        name_kind(&kinds[i], name);
        device_log(device, GLCNN_LOG_INFO, "in flight when the device was lost: %s", name);
        if (used + strlen(name) + sizeof others >= size)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used < sizeof first ? "" : ", ",
                                 name);
        left -= kinds[i].count;
    }
    if (left && used < size)
        snprintf(text + used, size - used, " and %u others", left);
}

glcnn_status reset_lose(struct glcnn_device *device, const char *where, const char *why)
{
    char *loss = device->watch.loss;
    size_t used = (size_t)snprintf(loss, LOSS_TEXT, "%s: %s; ", where, why);
    if (used < LOSS_TEXT)
        name_passes(device, loss + used, LOSS_TEXT - used);
    device->lost = true;
    return device_fail(device, GLCNN_DEVICE_LOST, "%s; destroy the device and create a new one",
                       loss);
}

/* ---- Commits that the GPU has counted ---- */

static glcnn_status read_count(struct glcnn_buffer *buffer, uint32_t *count, const char *where)
{
    void *mapped;
    glcnn_status status = buffer_map(buffer, sizeof *count, &mapped, where);
    if (status != GLCNN_SUCCESS)
        return status;
    memcpy(count, mapped, sizeof *count);
    return buffer_unmap(buffer, sizeof *count, where);
}

/* The serial number of the last commit that has finished, and how many have; 0: none that is kept. */
static uint64_t last_finished(const struct glcnn_device *device, uint32_t *finished)
{
    const struct commit_count *count = &device->watch.count;
    for (uint32_t back = 0; back < COMMITS_KEPT; back++) {
        uint64_t serial = count->serials[(count->issued - back) % COMMITS_KEPT];
        *finished = count->issued - back;
        if (serial <= device->progress.completed)
            return serial;
    }
    return 0;
}

glcnn_status reset_check_count(struct glcnn_device *device, const char *where)
{
    struct commit_count *count = &device->watch.count;
    uint32_t found = 0, finished;
    char why[200];
    if (!count->buffer)
        return GLCNN_SUCCESS;
    uint64_t serial = last_finished(device, &finished);
    if (serial <= count->checked)
        return GLCNN_SUCCESS;
    glcnn_status status = read_count(count->buffer, &found, where);
    if (status != GLCNN_SUCCESS)
        return status;
    if ((int32_t)(found - finished) >= 0 && (int32_t)(count->issued - found) >= 0) {
        count->checked = serial;
        count->proven = true;
        return GLCNN_SUCCESS;
    }
    if (!count->proven || count->doubted)
        return GLCNN_SUCCESS;
    snprintf(why, sizeof why,
             "of %u commits that have finished the GPU has run %u: it was reset, or the driver has "
             "dropped passes, which this driver does not tell",
             finished, found);
    return reset_lose(device, where, why);
}

glcnn_status reset_recount(struct glcnn_device *device, const char *where)
{
    struct commit_count *count = &device->watch.count;
    if (!count->buffer || !count->doubted)
        return GLCNN_SUCCESS;
    glcnn_status status = fence_await_all(device, where);
    if (status == GLCNN_SUCCESS)
        status = read_count(count->buffer, &count->issued, where);
    if (status != GLCNN_SUCCESS)
        return status;
    count->checked = device->progress.completed;
    count->serials[count->issued % COMMITS_KEPT] = count->checked;
    count->doubted = false;
    return GLCNN_SUCCESS;
}
