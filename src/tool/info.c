/* glcnn info: which devices there are, which one is chosen, and what it can do. */
#include "tool.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request {
    struct tool_device tool;
    bool json;
};

static const struct option_row options[] = {
    DEVICE_OPTIONS, {0, "json", NULL, "print JSON", FLAG_AT(struct request, json)}, {0}};

/* ---- What is asked of a device ---- */

/* Limits in their order, with the OpenGL ES 3.1 minimum: all that the kernels count on. */
struct limit {
    const char *name;
    size_t offset;
    uint32_t needed[3];
    size_t count;
    bool at_most; /* a smaller value is better */
};

#define LIMIT(NAME) #NAME, offsetof(struct glcnn_limits, NAME)
static const struct limit limits[] = {
    {LIMIT(work_group_count), {65535, 65535, 65535}, 3, false},
    {LIMIT(work_group_size), {128, 128, 64}, 3, false},
    {LIMIT(work_group_invocations), {128}, 1, false},
    {LIMIT(shared_memory_size), {16384}, 1, false},
    {LIMIT(image_uniforms), {4}, 1, false},
    {LIMIT(storage_blocks), {4}, 1, false},
    {LIMIT(output_resources), {4}, 1, false},
    {LIMIT(uniform_blocks), {12}, 1, false},
    {LIMIT(texture_units), {16}, 1, false},
    {LIMIT(texture_size), {2048}, 1, false},
    {LIMIT(array_layers), {256}, 1, false},
    {LIMIT(uniform_block_size), {16384}, 1, false},
    {LIMIT(storage_block_size), {1u << 27}, 1, false},
    {LIMIT(buffer_offset_alignment), {256}, 1, true},
};
enum { LIMITS = sizeof limits / sizeof *limits };

static const struct {
    const char *name, *use;
} extensions[] = {
    {"GL_KHR_debug", "messages of the driver, names of passes in traces"},
    {"GL_KHR_robustness", "a lost device is detected"},
    {"GL_EXT_robustness", "the same, on older drivers"},
};
enum { EXTENSIONS = sizeof extensions / sizeof *extensions };

/* Traits that a device has or has not, and what is printed of either. */
struct trait {
    const char *name;
    size_t offset;
    const char *words[2]; /* has not, has */
};

#define TRAIT(NAME) #NAME, offsetof(struct glcnn_device_traits, NAME)
static const struct trait traits[] = {
    {TRAIT(shared_memory), {"in the GPU's memory", "on the chip"}},
    {TRAIT(image_loads), {"no cheaper than fetches", "cheaper than fetches"}},
    {TRAIT(uniform_copies), {"no", "yes"}},
    {TRAIT(plain_uniforms), {"no", "yes"}},
    {TRAIT(uniform_loads), {"no cheaper than fetches", "cheaper than fetches"}},
    {TRAIT(slow_image_stores), {"no", "yes, as much as a dozen loads"}},
    {TRAIT(recomputes_pixels), {"no", "yes, where they are read"}},
    {TRAIT(stores_via_buffer), {"no", "yes, of whole images"}},
    {TRAIT(subgroups_along_x), {"no", "yes"}},
    {TRAIT(large_groups), {"no", "yes, for short passes"}},
    {TRAIT(float_division), {"no", "yes, of layers"}},
    {TRAIT(packs_float16), {"no", "yes, stored as bits"}},
    {TRAIT(accurate_exp2), {"no", "yes"}},
    {TRAIT(spin_waits), {"no", "yes: sleeps between polls"}},
    {TRAIT(async_uploads), {"no", "yes, for uploads"}},
    {TRAIT(submits_dispatches), {"many at once", "one by one"}},
    {TRAIT(miscomputes_8x8), {"no", "yes: other work groups are made"}},
    {TRAIT(may_skip_programs), {"no", "yes: each is tested"}},
    {TRAIT(reads_late), {"no", "yes: bytes are written to mapped memory"}},
    {TRAIT(wrong_binaries), {"no", "yes: none are kept"}},
    {TRAIT(wrong_timers), {"no", "yes: passes are timed between waits"}},
};
#define TRAITS (sizeof traits / sizeof *traits)

static bool has_trait(const struct glcnn_device_traits *all, const struct trait *trait)
{
    return *(const bool *)(const void *)((const char *)all + trait->offset);
}

static const uint32_t *limit_values(const struct glcnn_limits *all, const struct limit *limit)
{
    return (const uint32_t *)(const void *)((const char *)all + limit->offset);
}

/* The first limit that is worse than the minimum, or NULL. */
static const struct limit *missing_limit(const struct glcnn_limits *all)
{
    for (size_t l = 0; l < LIMITS; l++)
        for (size_t i = 0; i < limits[l].count; i++) {
            uint32_t value = limit_values(all, &limits[l])[i], needed = limits[l].needed[i];
            if (limits[l].at_most ? value > needed : value < needed)
                return &limits[l];
        }
    return NULL;
}

/* Writes why kernel `name` cannot run; "" if it can. */
static void why_not(glcnn_device *device, const char *name, char reason[GLCNN_ERROR_LENGTH])
{
    const struct limit *missing = missing_limit(&glcnn_device_info(device)->limits);
    glcnn_kernel *kernel = NULL;
    reason[0] = 0;
    if (missing)
        snprintf(reason, GLCNN_ERROR_LENGTH, "%s is below the OpenGL ES 3.1 minimum",
                 missing->name);
    else if (glcnn_kernel_create(device, name, &kernel) != GLCNN_SUCCESS)
        snprintf(reason, GLCNN_ERROR_LENGTH, "%s", glcnn_device_error(device));
    glcnn_kernel_destroy(&kernel);
}

/* ---- Devices ---- */

struct devices {
    struct glcnn_device_candidate *rows;
    size_t count;
};

/* A device may come or go between the two calls: the second count rules. */
static struct devices list_devices(void)
{
    struct devices d = {.count = glcnn_device_list(NULL, 0)};
    size_t capacity = d.count + 1;
    d.rows = calloc(capacity, sizeof *d.rows);
    if (!d.rows)
        return (struct devices){0};
    d.count = glcnn_device_list(d.rows, capacity);
    d.count = d.count < capacity ? d.count : capacity;
    return d;
}

/* Index of the row that was opened: the first that could be, of those that look the same. */
static size_t find_chosen(const struct devices *d, const glcnn_device *device)
{
    size_t i = 0;
    const struct glcnn_device_properties *info = device ? glcnn_device_info(device) : NULL;
    while (info && i < d->count &&
           (!d->rows[i].usable || strcmp(d->rows[i].provider, info->provider) != 0 ||
            strcmp(d->rows[i].node, info->node) != 0))
        i++;
    return info ? i : SIZE_MAX;
}

/* ---- As text ---- */

static void print_devices(const struct devices *d, const glcnn_device *device)
{
    size_t chosen = find_chosen(d, device);
    output("devices, in the order of choice\n");
    for (size_t i = 0; i < d->count; i++) {
        const struct glcnn_device_candidate *row = &d->rows[i];
        output_indented(6, "%c %2zu  %-9s %-20s %-10s %s%s\n", i == chosen ? '*' : ' ', i,
                        row->provider, row->node[0] ? row->node : "-",
                        row->driver[0] ? row->driver : "-",
                        row->usable ? "" : "cannot be used: ", row->detail);
    }
    if (d->count == 0)
        output("     none\n");
}

static void print_line(const char *name, const char *value)
{
    output_indented(27, "  %-24s %s\n", name, value[0] ? value : "-");
}

static void print_chosen(const struct glcnn_device_properties *info)
{
    output("\nchosen\n");
    print_line("why", info->reason);
    print_line("provider", info->provider);
    print_line("node", info->node);
    print_line("kernel driver", info->driver);
    print_line("vendor", info->vendor);
    print_line("renderer", info->renderer);
    print_line("version", info->gl_version);
    print_line("shading language", info->shading_language_version);
    print_line("programs are kept in", info->program_folder);
    print_line("implementations tuned", info->tuning);
    print_line("software", info->software ? "yes" : "no");
    print_line("robust", info->robust ? "yes" : "no");
}

static void print_limits(const struct glcnn_device_properties *info)
{
    output("\nlimits%s\n", info->limits_clamped ? ", held at the OpenGL ES 3.1 minimum" : "");
    for (size_t l = 0; l < LIMITS; l++) {
        const uint32_t *values = limit_values(&info->limits, &limits[l]);
        output("  %-24s ", limits[l].name);
        for (size_t i = 0; i < limits[l].count; i++)
            output("%s%u", i ? " x " : "", values[i]);
        output("\n");
    }
}

static void print_traits(const struct glcnn_device_traits *all)
{
    output("\ntraits, by which kernels choose their implementations\n");
    print_line("family", all->family);
    output("  %-24s %u, of four components\n", "registers", all->registers);
    output("  %-24s %u\n", "pass_bytes", all->pass_bytes);
    output("  %-24s %u invocations\n", "width", all->width);
    for (size_t i = 0; i < TRAITS; i++)
        print_line(traits[i].name, traits[i].words[has_trait(all, &traits[i])]);
}

static void print_extensions(const glcnn_device *device)
{
    output("\noptional extensions, used if present\n");
    for (size_t i = 0; i < EXTENSIONS; i++)
        output_indented(32, "  %-24s %-4s %s\n", extensions[i].name,
                        glcnn_device_has_extension(device, extensions[i].name) ? "yes" : "no",
                        extensions[i].use);
}

static void print_kernels(glcnn_device *device)
{
    output("\nkernels that can run\n");
    for (size_t i = 0; i < glcnn_kernel_count(); i++) {
        char reason[GLCNN_ERROR_LENGTH];
        const char *name = glcnn_kernel_info_at(i)->name;
        why_not(device, name, reason);
        output_indented(4, "  %-44s %s%s%s\n", name, reason[0] ? "no" : "yes",
                        reason[0] ? ": " : "", reason);
    }
}

static void print_text(const struct devices *d, glcnn_device *device)
{
    output("glcnn %s\n\n", glcnn_version());
    print_devices(d, device);
    if (!device)
        return;
    print_chosen(glcnn_device_info(device));
    print_limits(glcnn_device_info(device));
    print_traits(&glcnn_device_info(device)->traits);
    print_extensions(device);
    print_kernels(device);
}

/* ---- As JSON ---- */

static cJSON *json_of_limits(const struct glcnn_limits *all)
{
    cJSON *json = cJSON_CreateObject();
    for (size_t l = 0; l < LIMITS; l++) {
        const uint32_t *values = limit_values(all, &limits[l]);
        cJSON *array = limits[l].count > 1 ? cJSON_AddArrayToObject(json, limits[l].name) : NULL;
        for (size_t i = 0; array && i < limits[l].count; i++)
            cJSON_AddItemToArray(array, cJSON_CreateNumber(values[i]));
        if (!array)
            cJSON_AddNumberToObject(json, limits[l].name, values[0]);
    }
    return json;
}

static cJSON *json_of_traits(const struct glcnn_device_traits *all)
{
    cJSON *json = cJSON_CreateObject();
    json_add_text(json, "family", all->family);
    cJSON_AddNumberToObject(json, "registers", all->registers);
    cJSON_AddNumberToObject(json, "pass_bytes", all->pass_bytes);
    cJSON_AddNumberToObject(json, "width", all->width);
    for (size_t i = 0; i < TRAITS; i++)
        cJSON_AddBoolToObject(json, traits[i].name, has_trait(all, &traits[i]));
    return json;
}

cJSON *json_of_device(const struct glcnn_device_properties *info)
{
    cJSON *json = cJSON_CreateObject();
    json_add_text(json, "reason", info->reason);
    json_add_text(json, "provider", info->provider);
    json_add_text(json, "node", info->node);
    json_add_text(json, "driver", info->driver);
    json_add_text(json, "vendor", info->vendor);
    json_add_text(json, "renderer", info->renderer);
    json_add_text(json, "gl_version", info->gl_version);
    json_add_text(json, "shading_language_version", info->shading_language_version);
    json_add_text(json, "program_folder", info->program_folder);
    json_add_text(json, "tuning", info->tuning);
    cJSON_AddBoolToObject(json, "software", info->software);
    cJSON_AddBoolToObject(json, "robust", info->robust);
    cJSON_AddBoolToObject(json, "limits_clamped", info->limits_clamped);
    cJSON_AddItemToObject(json, "limits", json_of_limits(&info->limits));
    cJSON_AddItemToObject(json, "traits", json_of_traits(&info->traits));
    return json;
}

static void add_devices(cJSON *json, const struct devices *d, const glcnn_device *device)
{
    size_t chosen = find_chosen(d, device);
    cJSON *array = cJSON_AddArrayToObject(json, "devices");
    for (size_t i = 0; i < d->count; i++) {
        const struct glcnn_device_candidate *row = &d->rows[i];
        cJSON *object = cJSON_CreateObject();
        json_add_text(object, "provider", row->provider);
        json_add_text(object, "node", row->node);
        json_add_text(object, "driver", row->driver);
        cJSON_AddBoolToObject(object, "software", row->software);
        cJSON_AddBoolToObject(object, "usable", row->usable);
        cJSON_AddBoolToObject(object, "chosen", i == chosen);
        json_add_text(object, "detail", row->detail);
        cJSON_AddItemToArray(array, object);
    }
}

static void add_abilities(cJSON *json, glcnn_device *device)
{
    cJSON *object = cJSON_AddObjectToObject(json, "extensions");
    for (size_t i = 0; i < EXTENSIONS; i++)
        cJSON_AddBoolToObject(object, extensions[i].name,
                              glcnn_device_has_extension(device, extensions[i].name));
    cJSON *array = cJSON_AddArrayToObject(json, "kernels");
    for (size_t i = 0; i < glcnn_kernel_count(); i++) {
        char reason[GLCNN_ERROR_LENGTH];
        cJSON *kernel = cJSON_CreateObject();
        json_add_text(kernel, "name", glcnn_kernel_info_at(i)->name);
        why_not(device, glcnn_kernel_info_at(i)->name, reason);
        cJSON_AddBoolToObject(kernel, "can_run", !reason[0]);
        json_add_text(kernel, "reason", reason[0] ? reason : NULL);
        cJSON_AddItemToArray(array, kernel);
    }
}

static int print_json(const struct tool_command *command, const struct devices *d,
                      const struct tool_device *tool)
{
    cJSON *json = cJSON_CreateObject();
    json_add_text(json, "version", glcnn_version());
    add_devices(json, d, tool->device);
    cJSON_AddItemToObject(json, "device",
                          tool->device ? json_of_device(glcnn_device_info(tool->device))
                                       : cJSON_CreateNull());
    json_add_text(json, "error", tool->device ? NULL : tool->error);
    if (tool->device)
        add_abilities(json, tool->device);
    return json_print(command, json);
}

/* ---- The command ---- */

static int inform(const struct tool_command *command, struct tool_device *tool, bool json)
{
    struct devices devices = list_devices();
    int opened = device_open(tool);
    int status = EXIT_GOOD;
    if (json)
        status = print_json(command, &devices, tool);
    else
        print_text(&devices, tool->device);
    free(devices.rows);
    glcnn_device_destroy(&tool->device);
    return opened != EXIT_GOOD ? complain(command, opened, "%s", tool->error) : status;
}

static int run(const struct tool_command *command, int argc, char *argv[])
{
    struct request request = {.json = false};
    int status;
    if (!read_options(command, argc, argv, &request, &request.tool, NULL, &status))
        return status;
    status = expect_no_arguments(command, argc, argv);
    return status == EXIT_GOOD ? inform(command, &request.tool, request.json) : status;
}

const struct tool_command command_info = {
    .name = "info",
    .arguments = "[OPTION]...",
    .text = "the devices, which one is chosen and why, and what it can do",
    .options = options,
    .run = run};
