/* Assembles shader sources: a preamble and main that are made here, and between them files of
 * glsl/:
 *
 *     record/view.glsl       for each texture and image
 *     record/texture.glsl    for each texture
 *     record/edges.glsl      for each texture
 *     libraries              those of the pass and those that files need, each once: first those that
 *                            make textures which are stored nowhere, then those that may read them
 *     record/image.glsl      for each image
 *     the body
 *
 * A file says what it needs in the comment at its head, in lines "// needs lib/math.glsl": these
 * files stand before it. A template, which is a file for one of several textures, has the word
 * NAME, and the texture's name is put in its place.
 *
 * Source lines are numbered so that a compiler's message can be taken back to its file: the body
 * keeps its own numbers, part i of the others has PART_LINES * i added, and what this file writes
 * lies from GENERATED_LINE on. Mesa does not keep the file number of #line, so the ranges carry it.
 */
#include "record/assemble.h"

#include <stdio.h>
#include <string.h>

#include "record/shader_source.h"
#include "record/smoke_branch.h"
#include "record/stores.h"
#include "record/uniforms.h"
#include "record/work_group.h"

#define MOST_PARTS     128
#define PART_LINES     10000
#define GENERATED_LINE 1000000 /* beyond those of all parts */
#define MOST_NEEDS     8       /* of files, each of which needs the next */

/* ---- Parts: the files of a source ---- */

struct part {
    const struct glcnn_shader_source *file;
    const char *name; /* what a template is for; NULL: the file is none */
};

struct parts {
    struct part items[MOST_PARTS]; /* part 0 is the body */
    uint32_t count;
    char problem[256]; /* a message where a file is missing or they are too many; else "" */
};

/* What a file is needed by: the shader of a pass, or a file that says so. */
struct need {
    const char *by;
    int depth;
};

static const struct glcnn_shader_source *find_source(const char *name, size_t length)
{
    for (const struct glcnn_shader_source *s = glcnn_shader_sources; s->name; s++)
        if (strlen(s->name) == length && strncmp(s->name, name, length) == 0)
            return s;
    return NULL;
}

static bool has_part(const struct parts *parts, const struct part *part)
{
    for (uint32_t i = 0; i < parts->count; i++)
        if (parts->items[i].file == part->file &&
            (!part->name || strcmp(parts->items[i].name, part->name) == 0))
            return true;
    return false;
}

static void add_part(struct parts *parts, struct part part)
{
    if (has_part(parts, &part))
        return;
    if (parts->count < MOST_PARTS)
        parts->items[parts->count++] = part;
    else
        snprintf(parts->problem, sizeof parts->problem,
                 "no room for glsl/%s: a shader has %d files", part.file->name, MOST_PARTS);
}

static void add_needs(struct parts *parts, const struct glcnn_shader_source *file, int depth);

/* Before a file stands what it needs. */
static void add_file(struct parts *parts, const char *file, size_t length, const char *name,
                     struct need need)
{
    struct part part = {find_source(file, length), name};
    if (!part.file)
        snprintf(parts->problem, sizeof parts->problem,
                 "there is no shader glsl/%.*s, which glsl/%s needs", (int)length, file, need.by);
    else if (need.depth > MOST_NEEDS)
        snprintf(parts->problem, sizeof parts->problem,
                 "glsl/%s and glsl/%s need each other, or more than %d files in turn",
                 part.file->name, need.by, MOST_NEEDS);
    else {
        add_needs(parts, part.file, need.depth);
        add_part(parts, part);
    }
}

/* Of the comment at the file's head. */
static void add_needs(struct parts *parts, const struct glcnn_shader_source *file, int depth)
{
    static const char word[] = "// needs ";
    const char *line = file->text;
    for (; strncmp(line, "//", 2) == 0; line += strcspn(line, "\n") + 1) {
        const char *needed = line + strlen(word);
        if (strncmp(line, word, strlen(word)) == 0)
            add_file(parts, needed, strcspn(needed, " \n"), NULL,
                     (struct need){file->name, depth + 1});
    }
}

static void add_named(struct parts *parts, const struct pass *pass, const char *file,
                      const char *name)
{
    add_file(parts, file, strlen(file), name, (struct need){pass->shader, 0});
}

static void add_templates(struct parts *parts, const struct pass *pass, const char *file,
                          const struct pass_texture *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        add_named(parts, pass, file, items[i].name);
}

static void add_libraries(struct parts *parts, const struct pass *pass, bool makes_texture)
{
    for (uint32_t i = 0; i < pass->library_count; i++) {
        const struct pass_library *library = &pass->libraries[i];
        if (library->makes_texture == makes_texture)
            add_named(parts, pass, library->file, library->name);
    }
}

static void list_parts(struct parts *parts, const struct pass *pass)
{
    const struct glcnn_shader_source *body = find_source(pass->shader, strlen(pass->shader));
    *parts = (struct parts){.count = 1, .items[0].file = body};
    if (!body) {
        snprintf(parts->problem, sizeof parts->problem, "there is no shader glsl/%s", pass->shader);
        return;
    }
    add_templates(parts, pass, "record/view.glsl", pass->textures, pass->texture_count);
    add_templates(parts, pass, "record/view.glsl", pass->images, pass->image_count);
    add_templates(parts, pass, "record/texture.glsl", pass->textures, pass->texture_count);
    add_templates(parts, pass, "record/edges.glsl", pass->textures, pass->texture_count);
    add_libraries(parts, pass, true);
    add_libraries(parts, pass, false);
    add_needs(parts, body, 0);
    add_templates(parts, pass, "record/image.glsl", pass->images, pass->image_count);
}

const char *shader_file(const struct pass *pass, long *line)
{
    struct parts parts;
    list_parts(&parts, pass);
    if (*line >= GENERATED_LINE) {
        *line -= GENERATED_LINE;
        return "(generated declarations)";
    }
    long part = *line / PART_LINES;
    if (*line < 0 || part >= (long)parts.count)
        return pass->shader;
    *line %= PART_LINES;
    return parts.items[part].file->name;
}

static void write_template(struct text *t, const char *text, const char *name)
{
    static const char word[] = "NAME";
    for (const char *at; (at = strstr(text, word)) != NULL; text = at + strlen(word)) {
        text_add(t, text, (size_t)(at - text));
        text_add(t, name, strlen(name));
    }
    text_add(t, text, strlen(text));
}

static void write_part(struct text *t, const struct parts *parts, uint32_t index)
{
    const struct part *part = &parts->items[index];
    text_format(t, "#line %u\n", PART_LINES * index + 1);
    if (part->name)
        write_template(t, part->file->text, part->name);
    else
        text_add(t, part->file->text, part->file->length);
    text_format(t, "\n");
}

/* ---- What is made here ---- */

static void define_view(struct text *t, const struct pass *pass, const struct pass_texture *item,
                        uint32_t binding, bool masked)
{
    const char *n = item->name;
    text_format(t, "#define %s_binding %u\n", n, binding);
    if (masked)
        text_format(t, "#define %s_masked\n", n);
    if (view_is_plain(pass, &item->view))
        text_format(t, "#define %s_plain\n", n);
}

static void define_format(struct text *t, const struct pass_texture *item)
{
    text_format(t, "#define %s_format %s\n", item->name,
                texel_of(item->view.storage->format)->layout);
}

/* Of a texture that was made elsewhere. */
static void define_flat(struct text *t, const struct pass_texture *item)
{
    const struct storage *storage = item->view.storage;
    if (storage->flat)
        text_format(t, "#define %s_flat\n", item->name);
    if (storage->bytes != BYTES_OF_TEXELS)
        text_format(t, "#define %s_red %d\n", item->name, storage->bytes == BYTES_RGB ? 0 : 2);
}

/* Bindings of images that are read follow those of images that are written. Formats are told where
 * they matter: each source that differs is a program to compile. */
static void define_textures(struct text *t, const struct pass *pass)
{
    if (pass->issue.loads_images)
        text_format(t, "#define LOADS_IMAGES\n");
    for (uint32_t i = 0; i < pass->texture_count; i++) {
        const struct pass_texture *item = &pass->textures[i];
        define_view(t, pass, item, i + (pass->issue.loads_images ? pass->image_count : 0),
                    item->view.masked);
        define_flat(t, item);
        if (pass->issue.loads_images)
            define_format(t, item);
    }
}

static void define_images(struct text *t, const struct pass *pass)
{
    for (uint32_t i = 0; i < pass->image_count; i++) {
        const struct pass_texture *item = &pass->images[i];
        define_view(t, pass, item, i, item->view.channels % 4 != 0);
        define_format(t, item);
        if (is_float16(&item->view))
            text_format(t, "#define %s_float16\n", item->name);
        if (stores_are_buffered(pass))
            text_format(t, "#define %s_buffered %u\n#define %s_first_location %d\n", item->name,
                        pass->buffer_count, item->name, STORES_LOCATION);
    }
}

static void declare_buffer(struct text *t, const struct pass_buffer *item, uint32_t binding)
{
    static const char *const access[] = {[VECTOR_READ] = "readonly ",
                                         [VECTOR_WRITE] = "writeonly ",
                                         [VECTOR_READ_WRITE] = "",
                                         [VECTOR_COHERENT] = "coherent "};
    text_format(t, "layout(std430, binding = %u) %sbuffer %s_buffer { %s %s[]; };\n", binding,
                access[item->access], item->name, item->type, item->name);
}

/* Where subgroups lie along x, a narrow group would leave lanes without an invocation: its
 * invocations lie in a row, and find their places within the group. Cooperative passes number their
 * lanes themselves. */
static bool lies_in_a_row(const struct pass *pass, const struct glcnn_device_traits *traits)
{
    return traits->subgroups_along_x && !pass->cooperative && pass->local[0] % traits->width != 0;
}

static void declare_group(struct text *t, const struct pass *pass,
                          const struct glcnn_device_traits *traits)
{
    const uint32_t *local = pass->local;
    if (lies_in_a_row(pass, traits))
        text_format(t, "layout(local_size_x = %u) in;\n", local[0] * local[1] * local[2]);
    else
        text_format(t, "layout(local_size_x = %u, local_size_y = %u, local_size_z = %u) in;\n",
                    local[0], local[1], local[2]);
}

static void find_invocation(struct text *t, const struct pass *pass,
                            const struct glcnn_device_traits *traits)
{
    const uint32_t *local = pass->local;
    if (lies_in_a_row(pass, traits))
        text_format(
            t,
            "    uint lane = gl_LocalInvocationID.x;\n"
            "    uvec3 in_group = uvec3(lane %% %uu, lane / %uu %% %uu, lane / %uu);\n"
            "    ivec3 at = ivec3(gl_WorkGroupID * uvec3(%u, %u, %u) + in_group) + grid_base;\n",
            local[0], local[0], local[1], local[0] * local[1], local[0], local[1], local[2]);
    else
        text_format(t, "    ivec3 at = ivec3(gl_GlobalInvocationID) + grid_base;\n");
}

/* Of so many layers half a layer more or less is more than a float's quotient may be off. */
#define FLOATS_DIVIDE (1u << 20)

/* Quotients of numbers of no sign: compilers make thirty instructions of a division by what is not known
 * to them, forty of a signed one, and invocations wait for those before they read. Of a grid whose z
 * counts layers, `per` of which are one image's, layer_quotient is the image. */
static void declare_quotients(struct text *t, const struct pass *pass,
                              const struct glcnn_device_traits *traits)
{
    bool floats = traits->float_division && pass->grid[2] + pass->origin[2] <= FLOATS_DIVIDE;
    text_format(t, "int quotient(int a, int b) { return int(uint(a) / uint(b)); }\n");
    text_format(t, "int layer_quotient(int layer, int per) { return %s; }\n",
                floats ? "int((float(layer) + 0.5) / float(per))" : "quotient(layer, per)");
}

/* True if x is one of 0 .. width - 1, and y of 0 .. height - 1. A number below 0 is, without a sign, a
 * large one: two comparisons tell it. */
static const char within[] = "bool is_within(int x, int y, int width, int height) {\n"
                             "    return uint(x) < uint(width) && uint(y) < uint(height);\n"
                             "}\n";

/* Functions come first: a uniform may have the name of a parameter of theirs, and be a macro. */
static void write_preamble(struct text *t, const struct pass *pass,
                           const struct glcnn_device *device)
{
    const struct glcnn_device_traits *traits = &device->info.traits;
    text_format(t, "#version 310 es\n#line %d\n", GENERATED_LINE);
    text_format(t, "precision highp float;\nprecision highp int;\n");
    text_format(t, "precision highp sampler2DArray;\nprecision highp image2DArray;\n");
    declare_group(t, pass, traits);
    declare_quotients(t, pass, traits);
    text_format(t, "%s", within);
    text_format(t, "#define LOCAL_X %u\n#define LOCAL_Y %u\n#define LOCAL_Z %u\n", pass->local[0],
                pass->local[1], pass->local[2]);
    if (pass->owner.implementation)
        text_format(t, "// %s\n", pass->owner.implementation);
    for (uint32_t i = 0; i < pass->define_count; i++)
        text_format(t, "#define %s %d\n", pass->defines[i].name, pass->defines[i].value);
    uniforms_declare(t, pass, traits);
    text_format(t, "layout(location = 0) uniform ivec3 grid_base;\n");
    text_format(t, "ivec3 grid_size() { return ivec3(grid_x, grid_y, grid_z); }\n");
    define_textures(t, pass);
    define_images(t, pass);
    if (traits->accurate_exp2)
        text_format(t, "#define FINE_EXP2\n");
    if (pass->issue.packs_float16)
        text_format(t, "#define PACKS_FLOAT16\n");
    for (uint32_t i = 0; i < pass->buffer_count; i++)
        declare_buffer(t, &pass->buffers[i], i);
}

/* The slice is what the division leaves: a remainder takes compilers another division. */
static void write_main(struct text *t, const struct pass *pass,
                       const struct glcnn_device_traits *traits)
{
    text_format(t, "#line %d\n", GENERATED_LINE);
    text_format(t, "void main() {\n");
    if (traits->uniform_copies)
        uniforms_copy(t, pass);
    if (traits->may_skip_programs)
        smoke_branch_add(t, pass);
    find_invocation(t, pass, traits);
    if (!pass->cooperative)
        text_format(t, "    if (any(greaterThanEqual(at, grid_size()))) return;\n");
    text_format(t, "    at += ivec3(origin_x, origin_y, origin_z);\n");
    if (pass->over)
        text_format(t,
                    "    int image = layer_quotient(at.z, %s_slices);\n"
                    "    invocation(at.xy, at.z - image * %s_slices, image);\n}\n",
                    pass->over, pass->over);
    else
        text_format(t, "    invocation(at);\n}\n");
}

/* ---- All of it ---- */

static glcnn_status check_blocks(struct glcnn_device *device, const struct pass *pass)
{
    const uint32_t most = device->info.limits.storage_block_size;
    for (uint32_t i = 0; i < pass->buffer_count; i++) {
        const struct vector_view *view = &pass->buffers[i].view;
        uint64_t bytes = (uint64_t)(view->is_part ? view->count : view->offset + view->count) * 4;
        if (view->buffer && bytes > most)
            return device_fail(
                device, GLCNN_LIMIT_EXCEEDED,
                "%s: %s takes %llu bytes in %s; this device's storage blocks have at "
                "most %u",
                pass->owner.name[0] ? pass->owner.name : "a pass", pass->buffers[i].name,
                (unsigned long long)bytes, pass->shader, most);
    }
    return GLCNN_SUCCESS;
}

static glcnn_status check_limits(struct glcnn_device *device, const struct pass *pass)
{
    const struct glcnn_limits *limits = &device->info.limits;
    if (pass->lacks_names)
        return device_fail(device, GLCNN_OUT_OF_MEMORY, "%s: out of memory naming what it reads",
                           pass->shader);
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
    if (pass->image_count + pass->buffer_count > limits->output_resources)
        return device_fail(device, GLCNN_LIMIT_EXCEEDED,
                           "%s needs %u images and %u buffers; this device has %u of both together",
                           pass->shader, pass->image_count, pass->buffer_count,
                           limits->output_resources);
    return check_blocks(device, pass);
}

/* Textures, then images, then vectors. */
static const char *name_of(const struct pass *pass, uint32_t i)
{
    if (i < pass->texture_count)
        return pass->textures[i].name;
    i -= pass->texture_count;
    return i < pass->image_count ? pass->images[i].name : pass->buffers[i - pass->image_count].name;
}

static const char *kind_of(const struct pass *pass, uint32_t i)
{
    return i < pass->texture_count                       ? "a texture"
           : i < pass->texture_count + pass->image_count ? "an image"
                                                         : "a vector";
}

/* Kernels name what they bind, as do fused inputs, epilogues and tables of rows: a driver would
 * tell of a redefinition on some line. */
static glcnn_status check_names(struct glcnn_device *device, const struct pass *pass)
{
    uint32_t count = pass->texture_count + pass->image_count + pass->buffer_count;
    for (uint32_t second = 1; second < count; second++)
        for (uint32_t first = 0; first < second; first++)
            if (strcmp(name_of(pass, first), name_of(pass, second)) == 0)
                return device_fail(device, GLCNN_SHADER_ERROR,
                                   "%s: %s and %s of the pass are both named %s; a body knows "
                                   "what is bound by its name: give each its own",
                                   pass->shader, kind_of(pass, first), kind_of(pass, second),
                                   name_of(pass, first));
    return GLCNN_SUCCESS;
}

static bool loads_images(const struct glcnn_device *device, const struct pass *pass)
{
    const struct glcnn_limits *limits = &device->info.limits;
    uint32_t images = pass->texture_count + pass->image_count;
    for (uint32_t i = 0; i < pass->texture_count; i++)
        if (pass->textures[i].view.storage->flat || pass->textures[i].view.storage->fixed)
            return false;
    return device->info.traits.image_loads && images <= limits->image_uniforms &&
           images + pass->buffer_count <= limits->output_resources;
}

glcnn_status shader_assemble(struct glcnn_device *device, struct pass *pass, struct text *source)
{
    struct parts parts;
    glcnn_status status = check_limits(device, pass);
    if (status == GLCNN_SUCCESS)
        status = check_names(device, pass);
    if (status == GLCNN_SUCCESS)
        status = stores_check(device, pass);
    if (status != GLCNN_SUCCESS)
        return status;
    list_parts(&parts, pass);
    if (parts.problem[0])
        return device_fail(device, GLCNN_SHADER_ERROR, "%s", parts.problem);
    work_group_choose(pass, &device->info.limits, &device->info.traits);
    pass->issue.loads_images = loads_images(device, pass);
    pass->issue.packs_float16 = device->info.traits.packs_float16;
    write_preamble(source, pass, device);
    for (uint32_t i = 1; i < parts.count; i++)
        write_part(source, &parts, i);
    write_part(source, &parts, 0);
    write_main(source, pass, &device->info.traits);
    if (source->failed)
        return device_fail(device, GLCNN_OUT_OF_MEMORY, "%s: out of memory assembling the shader",
                           pass->shader);
    return GLCNN_SUCCESS;
}
