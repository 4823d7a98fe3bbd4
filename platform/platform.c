/* Chooses a device: asks the table of providers for candidates, opens them in order, and says why.
 *
 * The first candidate on a GPU wins. A context that turns out to be a software rasteriser, wherever
 * it came from, is held back until no GPU is left to try. An explicit choice narrows the candidates
 * and nothing else, so it is explained and refused by the same code.
 */
#define _POSIX_C_SOURCE 200809L

#include "platform/drm.h"
#include "platform/egl.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define LINE 1024

static const struct platform_provider *const providers[] = {
    &provider_current, &provider_device, &provider_gbm, &provider_software, &provider_default,
};

struct choice {
    const char *text; /* NULL: no choice was made */
    char origin[LINE];
    bool by_index;
    size_t index;
};

struct search {
    const struct platform_request *request;
    struct choice choice;
    struct candidate_list list;
    platform_context *found; /* decided */
    platform_context *held;  /* software, unless something better comes */
};

static void write_log(const struct platform_request *request, glcnn_log_level level,
                      const char *format, ...)
{
    char line[LINE];
    va_list arguments;
    if (request->log == NULL)
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    request->log(request->log_user, level, line);
}

/* Appends to an error; what does not fit is cut and the cut shown. */
static void append(char error[PLATFORM_ERROR], const char *format, ...)
{
    size_t used = strlen(error);
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(error + used, PLATFORM_ERROR - used, format, arguments);
    va_end(arguments);
    if (more >= 0 && (size_t)more >= PLATFORM_ERROR - used)
        memcpy(error + PLATFORM_ERROR - 4, "...", 4);
}

struct candidate *candidate_add(struct candidate_list *list,
                                const struct platform_provider *provider)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity > 0 ? 2 * list->capacity : 16;
        struct candidate *items = realloc(list->items, capacity * sizeof *items);
        if (items == NULL) {
            list->out_of_memory = true;
            return NULL;
        }
        list->items = items;
        list->capacity = capacity;
    }
    struct candidate *candidate = &list->items[list->count++];
    *candidate = (struct candidate){.provider = provider, .device = EGL_NO_DEVICE_EXT};
    candidate->index = provider == &provider_current ? CANDIDATE_UNLISTED : list->listed++;
    candidate->info.software = provider->software;
    snprintf(candidate->info.provider, sizeof candidate->info.provider, "%s", provider->name);
    return candidate;
}

static void list_candidates(const struct platform_request *request, struct candidate_list *list)
{
    for (size_t i = 0; i < sizeof providers / sizeof providers[0]; i++)
        providers[i]->list(request, list);
}

/* "gbm /dev/dri/card0 (vgem)" */
static void describe(const struct candidate *candidate, char text[PLATFORM_TEXT])
{
    const struct platform_candidate *info = &candidate->info;
    bool driver = info->driver[0] != '\0';
    snprintf(text, PLATFORM_TEXT, "%s %s%s%s%s", info->provider,
             info->node[0] != '\0' ? info->node : candidate->label, driver ? " (" : "",
             info->driver, driver ? ")" : "");
}

/* Opens a candidate; its info then holds the renderer, or the reason why not. */
static platform_context *open_candidate(struct candidate *candidate,
                                        const struct platform_request *request)
{
    struct platform_candidate *info = &candidate->info;
    platform_context *context = calloc(1, sizeof *context);
    if (context == NULL) {
        snprintf(info->detail, PLATFORM_TEXT, "out of memory");
        return NULL;
    }
    *context =
        (struct platform_context){.provider = candidate->provider, .fd = -1, .chosen = *info};
    if (!candidate->provider->open(candidate, request, context, info->detail)) {
        free(context);
        return NULL;
    }
    context->chosen.usable = true;
    *info = context->chosen;
    return context;
}

/* ------------------------------------------------------------------------------- the choice */

const char *platform_variable(const char *name)
{
    bool privileged = getauxval(AT_SECURE) != 0 || getuid() != geteuid() || getgid() != getegid();
    return privileged ? NULL : getenv(name);
}

static bool all_digits(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static glcnn_status read_choice(const struct platform_request *request, struct choice *choice,
                                char error[PLATFORM_ERROR])
{
    const char *variable = platform_variable("GLCNN_DEVICE");
    *choice = (struct choice){.text = request->device};
    if (choice->text != NULL)
        snprintf(choice->origin, sizeof choice->origin, "device \"%.512s\"", choice->text);
    else if (variable != NULL && variable[0] != '\0') {
        choice->text = variable;
        snprintf(choice->origin, sizeof choice->origin, "GLCNN_DEVICE=%.512s", choice->text);
    }
    if (choice->text == NULL)
        return GLCNN_SUCCESS;
    if (choice->text[0] == '\0') {
        append(error,
               "device is an empty string: give a node path, an index, the name of a "
               "kernel driver, \"software\" or \"default\", or NULL for the first that works");
        return GLCNN_INVALID_ARGUMENT;
    }
    if (request->forbid_software && strcmp(choice->text, "software") == 0) {
        append(error, "%s requests software, which forbid_software refuses: drop one of the two",
               choice->origin);
        return GLCNN_INVALID_ARGUMENT;
    }
    choice->by_index = all_digits(choice->text);
    choice->index = choice->by_index ? (size_t)strtoull(choice->text, NULL, 10) : 0;
    return GLCNN_SUCCESS;
}

static bool wants_software(const struct choice *choice)
{
    return choice->text != NULL && strcmp(choice->text, "software") == 0;
}

/* The caller's context was asked for by itself, so no choice of a device excludes it. */
static bool matches(const struct choice *choice, const struct candidate *candidate)
{
    if (choice->text == NULL || candidate->index == CANDIDATE_UNLISTED)
        return true;
    if (choice->by_index)
        return candidate->index == choice->index;
    if (wants_software(choice))
        return candidate->provider->software;
    if (choice->text[0] == '/')
        return candidate->info.node[0] != '\0' && drm_same_node(candidate->info.node, choice->text);
    if (strcmp(choice->text, provider_default.name) == 0)
        return candidate->provider == &provider_default;
    return strcmp(candidate->info.driver, choice->text) == 0;
}

/* ------------------------------------------------------------------------------- the search */

/* Whether the search has come upon a node without permission already: what to do is said once. */
static bool denied_before(const struct search *search, const struct candidate *candidate)
{
    for (const struct candidate *other = search->list.items; other < candidate; other++) {
        if (other->denied && matches(&search->choice, other))
            return true;
    }
    return false;
}

static void report_denied(const struct search *search, const struct candidate *candidate)
{
    char name[PLATFORM_TEXT];
    bool again = denied_before(search, candidate);
    describe(candidate, name);
    write_log(search->request, again ? GLCNN_LOG_DEBUG : GLCNN_LOG_WARNING, "platform: %s: %s",
              name, again ? "no permission either" : candidate->info.detail);
}

/* Decides what becomes of a context that works. NULL, or the reason why it is not wanted. */
static const char *judge(struct search *search, platform_context *context)
{
    bool software = context->chosen.software;
    if (software && search->request->forbid_software)
        return "is a software rasteriser, and software is forbidden";
    if (!software && wants_software(&search->choice) && !context->borrowed)
        return "is not a software rasteriser, and software was requested";
    if (!software || context->borrowed) {
        search->found = context;
        return NULL;
    }
    if (search->held != NULL)
        return "is software too, and one of that kind is held already";
    egl_release_current(context);
    search->held = context;
    return NULL;
}

/* With software in hand, neither more of it nor the same node again can give anything better. */
static bool pointless(const struct search *search, const struct candidate *candidate)
{
    if (search->held == NULL)
        return false;
    const char *node = search->held->chosen.node;
    return candidate->provider->software ||
           (node[0] != '\0' && strcmp(node, candidate->info.node) == 0);
}

static void consider(struct search *search, struct candidate *candidate)
{
    char name[PLATFORM_TEXT];
    struct platform_candidate *info = &candidate->info;
    describe(candidate, name);
    if (candidate->denied) {
        report_denied(search, candidate);
        return;
    }
    if (pointless(search, candidate)) {
        write_log(search->request, GLCNN_LOG_DEBUG, "platform: %s: not tried: software is held",
                  name);
        return;
    }
    platform_context *context = open_candidate(candidate, search->request);
    if (context == NULL) {
        write_log(search->request, GLCNN_LOG_DEBUG, "platform: %s: passed over: %s", name,
                  info->detail);
        return;
    }
    const char *refusal = judge(search, context);
    write_log(search->request, GLCNN_LOG_DEBUG, "platform: %s: %s: %s%s", name, info->detail,
              refusal != NULL ? refusal : "works", context->robust ? " (robust)" : "");
    if (refusal != NULL) {
        snprintf(context->reason, PLATFORM_TEXT, "%.128s %s", info->detail, refusal);
        memcpy(info->detail, context->reason, PLATFORM_TEXT);
        platform_close(&context);
    }
}

static void run_search(struct search *search)
{
    for (size_t i = 0; i < search->list.count && search->found == NULL; i++) {
        if (matches(&search->choice, &search->list.items[i]))
            consider(search, &search->list.items[i]);
    }
    if (search->found == NULL) {
        search->found = search->held;
        search->held = NULL;
    }
    platform_close(&search->held);
    if (search->found != NULL && !egl_make_current(search->found))
        platform_close(&search->found);
}

/* ---------------------------------------------------------------------- what the caller is told */

static void explain_no_match(const struct search *search, char error[PLATFORM_ERROR])
{
    char name[PLATFORM_TEXT];
    append(error, "%s is not one of the devices here", search->choice.origin);
    for (size_t i = 0; i < search->list.count; i++) {
        describe(&search->list.items[i], name);
        append(error, "%s%zu %s", i == 0 ? ": " : ", ", search->list.items[i].index, name);
    }
    append(error, "; give one of these indices, a node path, the name of a kernel driver, "
                  "\"software\" or \"default\"");
}

static void explain_each(const struct search *search, char error[PLATFORM_ERROR])
{
    char name[PLATFORM_TEXT];
    size_t named = 0;
    for (size_t i = 0; i < search->list.count; i++) {
        const struct candidate *candidate = &search->list.items[i];
        if (!matches(&search->choice, candidate))
            continue;
        bool again = candidate->denied && denied_before(search, candidate);
        describe(candidate, name);
        append(error, "%s%s: %s", named++ == 0 ? ": " : "; ", name,
               again ? "no permission either" : candidate->info.detail);
    }
}

static bool any_match(const struct search *search)
{
    for (size_t i = 0; i < search->list.count; i++) {
        if (matches(&search->choice, &search->list.items[i]))
            return true;
    }
    return false;
}

static glcnn_status explain_failure(const struct search *search, char error[PLATFORM_ERROR])
{
    if (search->list.out_of_memory) {
        append(error, "out of memory while listing the devices");
        return GLCNN_OUT_OF_MEMORY;
    }
    if (search->choice.text != NULL && search->list.count > 0 && !any_match(search)) {
        explain_no_match(search, error);
        return GLCNN_NO_DEVICE;
    }
    append(error, "no device gives OpenGL ES 3.1");
    if (search->choice.text != NULL)
        append(error, " for %s", search->choice.origin);
    explain_each(search, error);
    if (search->list.count == 1)
        append(error, "; EGL lists no device and no surfaceless platform, and /dev/dri has no node "
                      "to use; install a driver (Debian: libegl-mesa0 libgl1-mesa-dri)");
    return GLCNN_NO_DEVICE;
}

static void explain_success(const struct search *search)
{
    platform_context *context = search->found;
    char said[PLATFORM_TEXT], chosen[PLATFORM_TEXT]; /* by the provider; the caller's choice */
    const char *why = context->chosen.software
                          ? "software, since no candidate gave a GPU with OpenGL ES 3.1"
                          : "the first candidate that gave a GPU with OpenGL ES 3.1";
    if (context->borrowed)
        why = "the context current on the calling thread, as asked";
    if (search->choice.text != NULL && !context->borrowed) {
        snprintf(chosen, sizeof chosen, "chosen by %.200s", search->choice.origin);
        why = chosen;
    }
    memcpy(said, context->reason, sizeof said);
    snprintf(context->reason, PLATFORM_TEXT, "%.130s%s%.120s", why, said[0] != '\0' ? ": " : "",
             said);
    write_log(search->request, GLCNN_LOG_INFO, "platform: %s%s%s: %s: %s", context->chosen.provider,
              context->chosen.node[0] != '\0' ? " " : "", context->chosen.node,
              context->chosen.detail, context->reason);
    if (context->chosen.software)
        write_log(search->request, GLCNN_LOG_WARNING,
                  "platform: running on a software rasteriser, %s, which is slow; GLCNN_DEVICE or "
                  "the device parameter chooses a GPU, forbid_software refuses to run without one",
                  context->chosen.detail);
}

/* ------------------------------------------------------------------------------------ forking */

static atomic_long first_process; /* that asked EGL for anything */

/* Whether that process is another one; says so. */
static bool was_forked(char *text, size_t size)
{
    long none = 0, process = (long)getpid();
    if (atomic_compare_exchange_strong(&first_process, &none, process) || none == process)
        return false;
    snprintf(text, size,
             "this process was forked from process %ld, which has opened or listed devices, and "
             "drivers do not work in such a process: fork before that, or start a new program",
             none);
    return true;
}

/* ------------------------------------------------------------------------------ the interface */

glcnn_status platform_open(const struct platform_request *request, platform_context **out,
                           char error[PLATFORM_ERROR])
{
    struct search search = {.request = request};
    *out = NULL;
    error[0] = '\0';
    if (was_forked(error, PLATFORM_ERROR))
        return GLCNN_INVALID_STATE;
    glcnn_status status = read_choice(request, &search.choice, error);
    if (status != GLCNN_SUCCESS)
        return status;
    struct egl_current before = egl_current_save();
    list_candidates(request, &search.list);
    if (!search.list.out_of_memory)
        run_search(&search);
    if (search.found != NULL) {
        explain_success(&search);
        *out = search.found;
    } else {
        status = explain_failure(&search, error);
        egl_current_restore(&before);
    }
    free(search.list.items);
    return status;
}

void platform_close(platform_context **context)
{
    if (*context == NULL)
        return;
    egl_close(*context);
    free(*context);
    *context = NULL;
}

void platform_abandon(platform_context **context)
{
    free(*context);
    *context = NULL;
}

bool platform_make_current(platform_context *context)
{
    return egl_make_current(context);
}

void platform_release_current(platform_context *context)
{
    egl_release_current(context);
}

bool platform_is_current(const platform_context *context)
{
    return egl_is_current(context);
}

platform_function platform_symbol(const platform_context *context, const char *name)
{
    (void)context;
    return (platform_function)eglGetProcAddress(name);
}

const struct platform_candidate *platform_chosen(const platform_context *context)
{
    return &context->chosen;
}

const char *platform_reason(const platform_context *context)
{
    return context->reason;
}

bool platform_is_borrowed(const platform_context *context)
{
    return context->borrowed;
}

bool platform_is_robust(const platform_context *context)
{
    return context->robust;
}

size_t platform_list(struct platform_candidate *candidates, size_t capacity)
{
    const struct platform_request request = {.device = NULL};
    struct candidate_list list = {.count = 0};
    struct egl_current before = egl_current_save();
    list_candidates(&request, &list);
    for (size_t i = 0; i < list.count && i < capacity; i++) {
        if (!list.items[i].denied && !was_forked(list.items[i].info.detail, PLATFORM_TEXT)) {
            platform_context *context = open_candidate(&list.items[i], &request);
            platform_close(&context);
        }
        candidates[i] = list.items[i].info;
    }
    egl_current_restore(&before);
    size_t count = list.count;
    free(list.items);
    return count;
}
