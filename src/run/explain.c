/* Which implementations an encode would take, and why: the kernel is planned as glcnn_run would run
 * it, with the traits of any GPU, and nothing is recorded, compiled or run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/traits.h"
#include "base/text.h"
#include "run/check.h"

struct explanation {
    glcnn_explain_callback line;
    void *user;
    uint32_t passes;
    struct text told; /* "\n" before each message, and at the end */
};

/* The messages of a choice are those of the log; what is asked for again is told once. */
static void tell_choice(void *user, glcnn_log_level level, const char *message)
{
    struct explanation *e = user;
    struct text line = {0};
    text_format(&line, "\n%s\n", message);
    bool known = e->told.bytes && line.bytes && strstr(e->told.bytes, line.bytes);
    if (level == GLCNN_LOG_DEBUG && !known)
        e->line(e->user, message);
    text_format(&e->told, "%s", line.bytes ? line.bytes : "");
    text_free(&line);
}

static void tell_pass(void *user, const struct pass *pass)
{
    struct explanation *e = user;
    char text[512];
    if (!pass->shader)
        return;
    snprintf(text, sizeof text, "pass %u: glsl/%s, %ux%ux%u invocations%s%s", ++e->passes,
             pass->shader, pass->grid[0], pass->grid[1], pass->grid[2],
             pass->owner.implementation ? ", by " : "",
             pass->owner.implementation ? pass->owner.implementation : "");
    e->line(e->user, text);
}

static glcnn_status plan(struct glcnn_device *device, const struct glcnn_descriptor *d,
                         const struct glcnn_setting *settings, size_t count,
                         const struct check_case *sizes, struct explanation *e,
                         struct validation validation)
{
    struct argument_map map = {.shapes_only = true};
    struct run run = {.format = GLCNN_CHANNEL_FORMAT_FLOAT32,
                      .map = &map,
                      .explain = tell_pass,
                      .explain_user = e,
                      .validation = validation};
    glcnn_status status = GLCNN_INVALID_ARGUMENT;
    if (!run_settings_read(settings, count, &run.settings))
        invalid(validation, "%s: destination_width and destination_height go together", d->name);
    else if (settings_check_effect(d, settings, count, validation) &&
             check_add_inputs(&run, d, sizes, false, 0)) {
        run.device = device;
        status = run_kernel(&run, d);
    }
    argument_map_free(&map);
    return status;
}

static glcnn_status plan_as(struct glcnn_device *device, const struct glcnn_device_traits *traits,
                            const struct glcnn_descriptor *d, const struct glcnn_setting *settings,
                            size_t count, const struct check_case *sizes, struct explanation *e,
                            struct validation validation)
{
    const struct glcnn_device_traits own = device->info.traits;
    glcnn_log_callback log = device->log;
    void *log_user = device->log_user;
    device->info.traits = *traits;
    device->log = tell_choice;
    device->log_user = e;
    glcnn_status status = plan(device, d, settings, count, sizes, e, validation);
    device->info.traits = own;
    device->log = log;
    device->log_user = log_user;
    return status;
}

glcnn_status glcnn_explain(glcnn_device *device, const char *name,
                           const struct glcnn_setting *settings, size_t setting_count,
                           const uint32_t source[4], const char *gpu, glcnn_explain_callback line,
                           void *user, char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_descriptor *d = descriptor_find(name);
    struct validation validation = {error, GLCNN_ERROR_LENGTH};
    struct explanation e = {.line = line, .user = user};
    struct check_case sizes = {.settings = ""};
    char text[256];
    invalid(validation, "%s", "");
    if (!device || !source || !line || (!settings && setting_count))
        return invalid(validation, "glcnn_explain: device, settings, source or line is NULL"),
               GLCNN_INVALID_ARGUMENT;
    glcnn_status status = device_enter(device);
    if (status != GLCNN_SUCCESS)
        return invalid(validation, "%s", device->error), status;
    if (!d) {
        descriptor_suggest(name, text);
        return invalid(validation, "there is no kernel named \"%s\"%s", name ? name : "(NULL)",
                       text),
               GLCNN_INVALID_ARGUMENT;
    }
    struct glcnn_device_traits traits = device->info.traits;
    traits_list(text, sizeof text);
    if (gpu && !traits_of_name(gpu, &traits))
        return invalid(validation, "no GPU \"%s\" is known; families are %s", gpu, text),
               GLCNN_INVALID_ARGUMENT;
    memcpy(sizes.shape, source, sizeof sizes.shape);
    status = plan_as(device, &traits, d, settings, setting_count, &sizes, &e, validation);
    text_free(&e.told);
    return status;
}
