/* Assembles shader sources.
 *
 * Source lines are numbered so that a compiler's message can be taken back to its file: the body
 * keeps its own numbers, library i has LIBRARY_LINE * (i + 1) added, and what this file writes
 * lies from GENERATED_LINE on. Mesa does not keep the file number of #line, so the ranges carry it.
 */
#include "record/assemble.h"

#include <string.h>

#include "record/canary.h"
#include "record/shader_source.h"
#include "record/uniforms.h"
#include "record/work_group.h"

#define LIBRARY_LINE   10000
#define GENERATED_LINE 100000

/* ---- Sources ---- */

static const struct glcnn_shader_source *find_source(const char *name)
{
    for (const struct glcnn_shader_source *s = glcnn_shader_sources; s->name; s++)
        if (strcmp(s->name, name) == 0)
            return s;
    return NULL;
}

/* Layers that lie side by side in a cell of the owner's texture, to the right first. The numbers
 * are constants, since division by a variable is dear, and unsigned: powers of two become shifts. */
static void declare_cell(struct text *t, const struct storage *storage)
{
    uint32_t each = storage->across * storage->down;
    if (each == 1)
        return;
    text_format(t, "    uint cell = uint(layer) / %uu, beside = uint(layer) - cell * %uu;\n", each,
                each);
    text_format(t, "    x = int(beside %% %uu * %uu);\n    y = int(beside / %uu * %uu);\n",
                storage->across, storage->width, storage->across, storage->height);
    text_format(t, "    layer = int(cell);\n");
}

/* Where the first pixel of a slice of an image lies. Tile of a folded layer: it lies at layer
 * L mod fold, tile L / fold, tiles counted to the right first. */
static void declare_place(struct text *t, const struct pass_texture *item)
{
    const char *n = item->name;
    text_format(t, "ivec3 %s_place(int slice, int image) {\n", n);
    text_format(t, "    int x = 0, y = 0, layer = %s_layer + image * %s_stride + slice;\n", n, n);
    declare_cell(t, item->view.storage);
    if (storage_is_folded(storage_owner(item->view.storage))) {
        text_format(t, "    int tile = layer / %s_fold, row = tile / %s_tiles;\n", n, n);
        text_format(t, "    x += (tile - row * %s_tiles) * %s_tile_width;\n", n, n);
        text_format(t, "    y += row * %s_tile_height;\n    layer -= tile * %s_fold;\n", n, n);
    }
    text_format(t, "    return ivec3(x, y, layer);\n}\n");
}

static const char *image_format(const struct pass_texture *item)
{
    return item->view.storage->format == GLCNN_CHANNEL_FORMAT_FLOAT16 ? "rgba16f" : "rgba32f";
}

/* Bindings of images that are read follow those of images that are written. */
static void declare_texture(struct text *t, const struct pass *pass, uint32_t index)
{
    const struct pass_texture *item = &pass->textures[index];
    const char *n = item->name;
    if (pass->loads_images)
        text_format(t, "layout(%s, binding = %u) readonly uniform highp image2DArray %s_texture;\n",
                    image_format(item), pass->image_count + index, n);
    else
        text_format(t, "layout(binding = %u) uniform highp sampler2DArray %s_texture;\n", index, n);
    declare_place(t, item);
    text_format(t, "vec4 %s_at(ivec3 place, int x, int y, int slice) {\n", n);
    text_format(t, "    vec4 v = %s(%s_texture, place + ivec3(x, y, 0)%s);\n",
                pass->loads_images ? "imageLoad" : "texelFetch", n, pass->loads_images ? "" : ", 0");
    if (item->view.masked)
        text_format(t,
                    "    v = mix(v, vec4(0.0), greaterThanEqual(ivec4(slice * 4) + ivec4(0, 1, 2, "
                    "3), ivec4(%s_channels)));\n",
                    n);
    text_format(t, "    return v;\n}\n");
    text_format(t,
                "vec4 %s(int x, int y, int slice, int image) {\n"
                "    return %s_at(%s_place(slice, image), x, y, slice);\n}\n",
                n, n, n);
    text_format(t,
                "vec4 %s_clamp(int x, int y, int slice, int image) {\n    return %s(clamp(x, 0, "
                "%s_width - 1), clamp(y, 0, %s_height - 1), slice, image);\n}\n",
                n, n, n, n);
    text_format(
        t,
        "vec4 %s_zero(int x, int y, int slice, int image) {\n    vec4 v = %s_clamp(x, y, "
        "slice, image);\n    return x >= 0 && y >= 0 && x < %s_width && y < %s_height ? v : "
        "vec4(0.0);\n}\n",
        n, n, n, n);
    text_format(t,
                "vec4 %s_edge(int x, int y, int slice, int image) {\n#ifdef EDGE_CLAMP\n    return "
                "%s_clamp(x, y, slice, image);\n#else\n    return %s_zero(x, y, slice, "
                "image);\n#endif\n}\n",
                n, n, n);
}

static void declare_image(struct text *t, const struct pass_texture *item, uint32_t binding)
{
    const char *n = item->name;
    bool half = item->view.storage->format == GLCNN_CHANNEL_FORMAT_FLOAT16;
    text_format(t, "layout(%s, binding = %u) writeonly uniform highp image2DArray %s_image;\n",
                image_format(item), binding, n);
    declare_place(t, item);
    text_format(t, "void store_%s(int x, int y, int slice, int image, vec4 v) {\n", n);
    if (item->view.channels % 4)
        text_format(t,
                    "    v = mix(v, vec4(0.0), greaterThanEqual(ivec4(slice * 4) + ivec4(0, 1, 2, "
                    "3), ivec4(%s_channels)));\n",
                    n);
    text_format(t, "    imageStore(%s_image, %s_place(slice, image) + ivec3(x, y, 0), %s);\n}\n", n,
                n, half ? "round_to_half(v)" : "v");
}

static void declare_buffer(struct text *t, const struct pass_buffer *item, uint32_t binding)
{
    static const char *const access[] = {
        [VECTOR_READ] = "readonly ", [VECTOR_WRITE] = "writeonly ", [VECTOR_READ_WRITE] = ""};
    text_format(t, "layout(std430, binding = %u) %sbuffer %s_buffer { %s %s[]; };\n", binding,
                access[item->access], item->name, item->type, item->name);
}

/* Whole division by way of floats: where a GPU has no instruction for it, whole numbers take it
 * thirty to two hundred. The float quotient is off by one at most. */
static const char whole_quotient[] =
    "int whole_quotient(int a, int b) { /* 0 <= a < 2^22, 0 < b */\n"
    "    int q = int(float(a) / float(b));\n"
    "    int rest = a - q * b;\n"
    "    return rest < 0 ? q - 1 : rest >= b ? q + 1 : q;\n}\n";

static void declare_derived(struct text *t, const struct pass_texture *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *n = items[i].name;
        text_format(t, "#define %s_slices ((%s_channels + 3) / 4)\n", n, n);
        const struct storage *owner = storage_owner(items[i].view.storage);
        if (storage_is_folded(owner))
            text_format(t, "#define %s_tile_width %u\n#define %s_tile_height %u\n", n,
                        owner->width, n, owner->height);
    }
}

static void declare_bindings(struct text *t, const struct pass *pass,
                             const struct glcnn_device_traits *traits)
{
    uniforms_declare(t, pass, traits);
    text_format(t, "layout(location = 0) uniform ivec3 grid_base;\n");
    text_format(t, "ivec3 grid_size() { return ivec3(grid_x, grid_y, grid_z); }\n");
    text_format(t, "%s", whole_quotient);
    declare_derived(t, pass->textures, pass->texture_count);
    declare_derived(t, pass->images, pass->image_count);
    for (uint32_t i = 0; i < pass->buffer_count; i++)
        declare_buffer(t, &pass->buffers[i], i);
    for (uint32_t i = 0; i < pass->texture_count; i++)
        declare_texture(t, pass, i);
}

static glcnn_status add_file(struct glcnn_device *device, struct text *t, const char *name,
                             int first_line)
{
    const struct glcnn_shader_source *file = find_source(name);
    if (!file)
        return device_fail(device, GLCNN_SHADER_ERROR, "there is no shader glsl/%s", name);
    text_format(t, "#line %d\n", first_line);
    text_add(t, file->text, file->length);
    text_format(t, "\n");
    return GLCNN_SUCCESS;
}

/* ---- Assembly ---- */

static void add_prologue(struct text *t, const struct pass *pass,
                         const struct glcnn_device_traits *traits)
{
    text_format(t, "#version 310 es\n#line %d\n", GENERATED_LINE);
    text_format(t, "precision highp float;\nprecision highp int;\n");
    text_format(t, "precision highp sampler2DArray;\nprecision highp image2DArray;\n");
    text_format(t, "layout(local_size_x = %u, local_size_y = %u, local_size_z = %u) in;\n",
                pass->local[0], pass->local[1], pass->local[2]);
    text_format(t, "#define LOCAL_X %u\n#define LOCAL_Y %u\n#define LOCAL_Z %u\n", pass->local[0],
                pass->local[1], pass->local[2]);
    if (pass->variant)
        text_format(t, "// %s\n", pass->variant);
    for (uint32_t i = 0; i < pass->define_count; i++)
        text_format(t, "#define %s %d\n", pass->defines[i].name, pass->defines[i].value);
    declare_bindings(t, pass, traits);
}

static void add_epilogue(struct text *t, const struct pass *pass,
                         const struct glcnn_device_traits *traits)
{
    text_format(t, "#line %d\n", GENERATED_LINE);
    text_format(t, "void main() {\n");
    if (traits->uniform_copies)
        uniforms_copy(t, pass);
    if (traits->may_skip_programs)
        canary_add_branch(t, pass);
    text_format(t, "    ivec3 at = ivec3(gl_GlobalInvocationID) + grid_base;\n");
    if (!pass->cooperative)
        text_format(t, "    if (any(greaterThanEqual(at, grid_size()))) return;\n");
    text_format(t, "    invocation(at + ivec3(origin_x, origin_y, origin_z));\n}\n");
}

static glcnn_status check_limits(struct glcnn_device *device, const struct pass *pass)
{
    const struct glcnn_limits *limits = &device->info.limits;
    if (pass->overflow)
        return device_fail(device, GLCNN_SHADER_ERROR, "%s: no room for %s in the pass",
                           pass->shader, pass->overflow);
    if (pass->texture_count > limits->texture_units || pass->image_count > limits->image_uniforms ||
        pass->buffer_count > limits->storage_blocks)
        return device_fail(device, GLCNN_LIMIT_EXCEEDED,
                           "%s needs %u textures, %u images and %u buffers; this device has %u, %u "
                           "and %u",
                           pass->shader, pass->texture_count, pass->image_count, pass->buffer_count,
                           limits->texture_units, limits->image_uniforms, limits->storage_blocks);
    return GLCNN_SUCCESS;
}

glcnn_status shader_assemble(struct glcnn_device *device, struct pass *pass, struct text *source)
{
    const struct glcnn_device_traits *traits = &device->info.traits;
    glcnn_status status = check_limits(device, pass);
    if (status != GLCNN_SUCCESS)
        return status;
    work_group_choose(pass, &device->info.limits);
    pass->loads_images =
        traits->image_loads &&
        pass->texture_count + pass->image_count <= device->info.limits.image_uniforms;
    add_prologue(source, pass, traits);
    for (uint32_t i = 0; status == GLCNN_SUCCESS && i < pass->library_count; i++)
        status = add_file(device, source, pass->libraries[i], LIBRARY_LINE * ((int)i + 1) + 1);
    text_format(source, "#line %d\n", GENERATED_LINE);
    for (uint32_t i = 0; i < pass->image_count; i++)
        declare_image(source, &pass->images[i], i);
    if (status == GLCNN_SUCCESS)
        status = add_file(device, source, pass->shader, 1);
    add_epilogue(source, pass, traits);
    if (status == GLCNN_SUCCESS && source->failed)
        status = device_fail(device, GLCNN_OUT_OF_MEMORY, "%s: out of memory assembling the shader",
                             pass->shader);
    return status;
}

const char *shader_file(const struct pass *pass, long *line)
{
    if (*line >= GENERATED_LINE) {
        *line -= GENERATED_LINE;
        return "(generated declarations)";
    }
    if (*line > LIBRARY_LINE && (uint32_t)(*line / LIBRARY_LINE) <= pass->library_count) {
        const char *file = pass->libraries[*line / LIBRARY_LINE - 1];
        *line %= LIBRARY_LINE;
        return file;
    }
    return pass->shader;
}
