/* Assembles shader sources and compiles them.
 *
 * Source lines are numbered so that a compiler's message can be taken back to its file: the body
 * keeps its own numbers, library i has LIBRARY_LINE * (i + 1) added, and what this file writes
 * lies from GENERATED_LINE on. Mesa does not keep the file number of #line, so the ranges carry it.
 */
#include "record/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/canary.h"
#include "record/shader_source.h"

#define LIBRARY_LINE   10000
#define GENERATED_LINE 100000
#define BUCKETS        256

#define REFUSALS       64

struct program_cache {
    struct program *buckets[BUCKETS];
    const char *refused[REFUSALS];
    size_t refusals;
};

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

/* How a uniform is written: as a member of the block, as a variable, or the one set from the
 * other. Where the device's traits ask for copies bodies use the variables, which main sets before
 * anything else; elsewhere the members themselves, and the compiler decides where each is read. With
 * plain uniforms there is no block: the same words are an array, and each name stands for one.
 * V3D's compiler (Mesa 22.3 to 25.0) never ends on some blocks: it sorts the reads that lie within 16
 * bytes of each other, and starts again at a read that it has just moved if that was the last
 * instruction before a branch. */
enum uniform_line { LINE_MEMBER, LINE_VARIABLE, LINE_SET, LINE_WORD };

struct uniform_writer {
    struct text *text;
    enum uniform_line line;
    uint32_t word; /* the next one's index */
};

static void add_uniform_line(struct uniform_writer *w, bool is_float, const char *name,
                             const char *suffix)
{
    static const char components[] = "xyzw";
    const char *type = is_float ? "float" : "int";
    uint32_t word = w->word++;
    if (w->line == LINE_SET)
        text_format(w->text, "    %s%s = uniforms.%s%s;\n", name, suffix, name, suffix);
    else if (w->line == LINE_WORD)
        text_format(w->text, "#define %s%s %s(uniform_words[%u].%c)\n", name, suffix,
                    is_float ? "intBitsToFloat" : "", word / 4, components[word % 4]);
    else
        text_format(w->text, "%s %s%s;\n", type, name, suffix);
}

static void add_view_lines(struct uniform_writer *w, const struct pass_texture *items,
                           uint32_t count)
{
    static const char *const words[PASS_VIEW_WORDS] = {"_layer",    "_stride", "_width", "_height",
                                                       "_channels", "_images", "_fold",  "_tiles"};
    for (uint32_t i = 0; i < count; i++)
        for (int word = 0; word < PASS_VIEW_WORDS; word++)
            add_uniform_line(w, false, items[i].name, words[word]);
}

/* The order here is that of program_uniforms. Scalars of std140 lie 4 bytes apart. */
static void add_uniform_lines(struct text *t, enum uniform_line line, const struct pass *pass)
{
    static const char *const axes[] = {"_x", "_y", "_z"};
    struct uniform_writer w = {.text = t, .line = line};
    for (int i = 0; i < 3; i++)
        add_uniform_line(&w, false, "grid", axes[i]);
    for (int i = 0; i < 3; i++)
        add_uniform_line(&w, false, "origin", axes[i]);
    add_view_lines(&w, pass->textures, pass->texture_count);
    add_view_lines(&w, pass->images, pass->image_count);
    for (uint32_t i = 0; i < pass->uniform_count; i++)
        add_uniform_line(&w, pass->uniforms[i].is_float, pass->uniforms[i].name, "");
}

static void declare_words(struct text *t, const struct pass *pass)
{
    text_format(t, "layout(location = 1) uniform ivec4 uniform_words[%zu];\n",
                (program_uniforms(pass, NULL) + 3) / 4);
    add_uniform_lines(t, LINE_WORD, pass);
}

static void declare_block(struct text *t, const struct pass *pass,
                          const struct glcnn_device_traits *traits)
{
    text_format(t, "layout(std140, binding = 0) uniform Parameters {\n");
    add_uniform_lines(t, LINE_MEMBER, pass);
    text_format(t, traits->uniform_copies ? "} uniforms;\n" : "};\n");
    if (traits->uniform_copies)
        add_uniform_lines(t, LINE_VARIABLE, pass);
}

/* Whole division by way of floats: where a GPU has no instruction for it, whole numbers take it
 * thirty to two hundred. The float quotient is off by one at most. */
static const char whole_quotient[] =
    "int whole_quotient(int a, int b) { /* 0 <= a < 2^22, 0 < b */\n"
    "    int q = int(float(a) / float(b));\n"
    "    int rest = a - q * b;\n"
    "    return rest < 0 ? q - 1 : rest >= b ? q + 1 : q;\n}\n";

static void declare_uniforms(struct text *t, const struct pass *pass,
                             const struct glcnn_device_traits *traits)
{
    if (traits->plain_uniforms)
        declare_words(t, pass);
    else
        declare_block(t, pass, traits);
    text_format(t, "layout(location = 0) uniform ivec3 grid_base;\n");
    text_format(t, "ivec3 grid_size() { return ivec3(grid_x, grid_y, grid_z); }\n");
    text_format(t, "%s", whole_quotient);
}

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
    declare_uniforms(t, pass, traits);
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

/* ---- Work groups ---- */

/* Powers of two that cover the grid with the fewest invocations left over; of equals the first.
 * Groups are deep only where a plane has few pixels: neighbours in x and y share cache lines,
 * neighbours in z lie in other layers. */
static void choose_local(struct pass *pass)
{
    static const uint32_t flat[][3] = {{8, 8, 1},  {16, 4, 1}, {32, 2, 1}, {64, 1, 1}, {4, 16, 1},
                                       {16, 8, 1}, {8, 4, 1},  {16, 2, 1}, {32, 1, 1}, {4, 8, 1},
                                       {2, 32, 1}, {2, 16, 1}, {1, 32, 1}};
    static const uint32_t deep[][3] = {{4, 4, 4},  {1, 1, 64}, {2, 1, 32}, {1, 2, 32},
                                       {2, 2, 16}, {4, 2, 8},  {2, 4, 8}};
    bool few = pass->grid[0] * pass->grid[1] < 16;
    const uint32_t(*candidates)[3] = few ? deep : flat;
    size_t count = few ? sizeof deep / sizeof *deep : sizeof flat / sizeof *flat;
    uint64_t best = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        uint64_t covered = 1;
        for (int axis = 0; axis < 3; axis++)
            covered *=
                (uint64_t)((pass->grid[axis] + candidates[i][axis] - 1) / candidates[i][axis]) *
                candidates[i][axis];
        if (covered < best) {
            best = covered;
            memcpy(pass->local, candidates[i], sizeof pass->local);
        }
    }
}

static void clamp_local(struct pass *pass, const struct glcnn_limits *limits)
{
    for (int axis = 0; axis < 3; axis++)
        if (pass->local[axis] > limits->work_group_size[axis])
            pass->local[axis] = limits->work_group_size[axis];
    while (pass->local[0] * pass->local[1] * pass->local[2] > limits->work_group_invocations) {
        int largest = pass->local[1] > pass->local[0] ? 1 : 0;
        if (pass->local[2] > pass->local[largest])
            largest = 2;
        pass->local[largest] = (pass->local[largest] + 1) / 2;
    }
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
        add_uniform_lines(t, LINE_SET, pass);
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

glcnn_status program_assemble(struct glcnn_device *device, struct pass *pass, struct text *source)
{
    const struct glcnn_device_traits *traits = &device->info.traits;
    glcnn_status status = check_limits(device, pass);
    if (status != GLCNN_SUCCESS)
        return status;
    if (!pass->local[0])
        choose_local(pass);
    clamp_local(pass, &device->info.limits);
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

/* ---- Uniforms ---- */

static size_t view_words(const struct image_view *view, uint32_t *words)
{
    const struct storage *storage = view->storage, *owner = storage_owner(view->storage);
    if (words) {
        words[0] = view->first_layer + storage->cell * storage->across * storage->down;
        words[1] = view->layer_stride;
        words[2] = view->width;
        words[3] = view->height;
        words[4] = view->channels;
        words[5] = view->images;
        words[6] = owner->fold;
        words[7] = owner->tiles_x;
    }
    return PASS_VIEW_WORDS;
}

size_t program_uniforms(const struct pass *pass, uint32_t *words)
{
    size_t count = 0;
    for (int axis = 0; words && axis < 3; axis++) {
        words[axis] = pass->grid[axis];
        words[axis + 3] = pass->origin[axis];
    }
    count += 6;
    for (uint32_t i = 0; i < pass->texture_count; i++)
        count += view_words(&pass->textures[i].view, words ? words + count : NULL);
    for (uint32_t i = 0; i < pass->image_count; i++)
        count += view_words(&pass->images[i].view, words ? words + count : NULL);
    for (uint32_t i = 0; i < pass->uniform_count; i++, count++)
        if (words)
            memcpy(words + count, &pass->uniforms[i].value, sizeof *words);
    return count;
}

/* ---- Compilation ---- */

/* The line of the log that has the first error: warnings may stand before it. */
static const char *first_error(const char *log)
{
    const char *lower = strstr(log, "error"), *upper = strstr(log, "ERROR");
    const char *at = !lower || (upper && upper < lower) ? upper : lower;
    if (!at)
        return log;
    while (at > log && at[-1] != '\n')
        at--;
    return at;
}

/* "0:5(48): error: ..." and "ERROR: 0:5: ..." both have the line after the first colon. */
static glcnn_status fail_with_line(struct glcnn_device *device, const struct pass *pass,
                                   const char *log)
{
    log = first_error(log);
    const char *colon = strchr(log, ':');
    if (colon && strncmp(log, "ERROR", 5) == 0)
        colon = strchr(colon + 1, ':');
    long line = colon ? strtol(colon + 1, NULL, 10) : 0;
    const char *file = pass->shader;
    if (line >= GENERATED_LINE) {
        file = "(generated declarations)";
        line -= GENERATED_LINE;
    } else if (line > LIBRARY_LINE && (uint32_t)(line / LIBRARY_LINE) <= pass->library_count) {
        file = pass->libraries[line / LIBRARY_LINE - 1];
        line %= LIBRARY_LINE;
    }
    return device_fail(device, GLCNN_SHADER_ERROR,
                       "glsl/%s:%ld: the driver refuses the shader of %s: %.600s", file, line,
                       pass->shader, log);
}

/* What the driver says of a shader or program, all of it: the first error may stand behind many
 * warnings. NULL without memory for it. Some drivers have a log and say that its length is 0. */
static char *read_log(GLuint name, PFNGLGETSHADERIVPROC get, PFNGLGETSHADERINFOLOGPROC get_log)
{
    GLint length = 0;
    get(name, GL_INFO_LOG_LENGTH, &length);
    if (length < 1024)
        length = 1024;
    char *log = calloc((size_t)length + 1, 1);
    if (log)
        get_log(name, length, NULL, log);
    return log;
}

/* Whether the program `name` could be made of the source; if not, *log is the caller's to free. */
static bool build(const struct gl *gl, GLuint shader, GLuint name, const char *source, char **log)
{
    GLint good = 0;
    gl->ShaderSource(shader, 1, &source, NULL);
    gl->CompileShader(shader);
    gl->GetShaderiv(shader, GL_COMPILE_STATUS, &good);
    if (!good) {
        *log = read_log(shader, gl->GetShaderiv, gl->GetShaderInfoLog);
        return false;
    }
    gl->AttachShader(name, shader);
    gl->LinkProgram(name);
    gl->GetProgramiv(name, GL_LINK_STATUS, &good);
    if (!good)
        *log = read_log(name, gl->GetProgramiv, gl->GetProgramInfoLog);
    return good;
}

/* 0 where the driver fails; what it says of memory or a lost context goes before its log. */
static GLuint compile(struct glcnn_device *device, const struct pass *pass, const char *source,
                      glcnn_status *status)
{
    const struct gl *gl = &device->gl;
    char *log = NULL;
    GLuint shader = gl->CreateShader(GL_COMPUTE_SHADER), name = gl->CreateProgram();
    bool made = shader && name, good = made && build(gl, shader, name, source, &log);
    gl->DeleteShader(shader);
    if (good && gl->ObjectLabelKHR)
        gl->ObjectLabelKHR(GL_PROGRAM_KHR, name, -1, pass->shader);
    *status = device_check(device, pass->shader);
    if (*status == GLCNN_SUCCESS && !made)
        *status = device_fail(device, GLCNN_OUT_OF_MEMORY,
                              "%s: the driver makes no more shaders and programs", pass->shader);
    else if (*status == GLCNN_SUCCESS && !good)
        *status = fail_with_line(device, pass, log && *log ? log : "no message");
    free(log);
    if (*status == GLCNN_SUCCESS)
        return name;
    gl->DeleteProgram(name);
    return 0;
}

/* ---- How long it takes ---- */

static void tell(struct glcnn_device *device)
{
    if (device->compilation.callback)
        device->compilation.callback(device->compilation.user, &device->compilation.it);
}

void program_count(struct glcnn_device *device, size_t pass, size_t passes)
{
    device->compilation.it.pass = (uint32_t)pass;
    device->compilation.it.passes = (uint32_t)passes;
}

static void begin_compilation(struct glcnn_device *device, const struct pass *pass)
{
    struct glcnn_compilation *it = &device->compilation.it;
    it->shader = pass->shader;
    it->variant = pass->variant;
    it->seconds = 0;
    it->number++;
    tell(device);
    clock_gettime(CLOCK_MONOTONIC, &device->compilation.begun);
}

/* Does nothing where no compilation has begun. Many drivers compile at the first dispatch, which is
 * the canary's. */
static void end_compilation(struct glcnn_device *device)
{
    struct glcnn_compilation *it = &device->compilation.it;
    const struct timespec *begun = &device->compilation.begun;
    struct timespec now;
    if (!it->shader)
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    it->seconds = (float)((double)(now.tv_sec - begun->tv_sec) +
                          1e-9 * (double)(now.tv_nsec - begun->tv_nsec));
    tell(device);
    if (it->seconds > device->compilation.limit)
        device_log(device, GLCNN_LOG_WARNING,
                   "the driver of %s took %.1f s to compile glsl/%s%s%s; it was to take %g s at most",
                   device->info.renderer, (double)it->seconds, it->shader,
                   it->variant ? ", variant " : "", it->variant ? it->variant : "",
                   (double)device->compilation.limit);
    it->shader = NULL;
}

/* ---- The cache ---- */

/* FNV-1a. */
static size_t bucket_of(const char *source)
{
    uint64_t hash = 14695981039346656037u;
    for (const char *c = source; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    return (size_t)(hash % BUCKETS);
}

static const struct program *add_program(struct glcnn_device *device, const struct pass *pass,
                                         struct program **bucket, struct text *source,
                                         glcnn_status *status)
{
    struct program *made = calloc(1, sizeof *made);
    if (!made) {
        *status = device_fail(device, GLCNN_OUT_OF_MEMORY, "out of memory making a program");
        return NULL;
    }
    begin_compilation(device, pass);
    made->name = compile(device, pass, source->bytes, status);
    if (!made->name) {
        free(made);
        return NULL;
    }
    memcpy(made->local, pass->local, sizeof made->local);
    made->source = source->bytes;
    *source = (struct text){0};
    made->next = *bucket;
    *bucket = made;
    return made;
}

glcnn_status program_find_untested(struct glcnn_device *device, struct pass *pass)
{
    struct text source = {0};
    glcnn_status status = program_assemble(device, pass, &source);
    if (status == GLCNN_SUCCESS) {
        struct program **bucket = &device->programs->buckets[bucket_of(source.bytes)];
        const struct program *found = *bucket;
        while (found && strcmp(found->source, source.bytes) != 0)
            found = found->next;
        pass->program = found ? found : add_program(device, pass, bucket, &source, &status);
    }
    text_free(&source);
    return status;
}

/* ---- Programs that are accepted and do not run ---- */

bool program_is_refused(const struct glcnn_device *device, const char *name)
{
    for (size_t i = 0; i < device->programs->refusals; i++)
        if (strcmp(device->programs->refused[i], name) == 0)
            return true;
    return false;
}

void program_refuse(struct glcnn_device *device, const char *name)
{
    struct program_cache *cache = device->programs;
    if (cache->refusals < REFUSALS && !program_is_refused(device, name))
        cache->refused[cache->refusals++] = name;
}

size_t program_refusals(const struct glcnn_device *device)
{
    return device->programs->refusals;
}

/* The warning is no error yet: a smaller variant may do. */
static glcnn_status refuse(struct glcnn_device *device, const struct pass *pass)
{
    const char *renderer = device->info.renderer;
    if (!pass->variant)
        return device_fail(device, GLCNN_SHADER_ERROR,
                           "the driver of %s accepts glsl/%s and does not run it; there is no "
                           "smaller variant of it",
                           renderer, pass->shader);
    device_log(device, GLCNN_LOG_WARNING,
               "the driver of %s accepts glsl/%s as variant %s and does not run it; the next "
               "smaller variant is taken",
               renderer, pass->shader, pass->variant);
    program_refuse(device, pass->variant);
    return GLCNN_SHADER_ERROR;
}

static glcnn_status test(struct glcnn_device *device, const struct pass *pass)
{
    struct program *program = (struct program *)(uintptr_t)pass->program;
    bool runs = program->verdict == PROGRAM_RUNS;
    glcnn_status status = GLCNN_SUCCESS;
    if (program->verdict == PROGRAM_UNTESTED)
        status = canary_test(device, pass, &runs);
    if (status != GLCNN_SUCCESS)
        return status;
    program->verdict = runs ? PROGRAM_RUNS : PROGRAM_DOES_NOT_RUN;
    return runs ? GLCNN_SUCCESS : refuse(device, pass);
}

glcnn_status program_find(struct glcnn_device *device, struct pass *pass)
{
    glcnn_status status = program_find_untested(device, pass);
    if (status == GLCNN_SUCCESS && device->info.traits.may_skip_programs)
        status = test(device, pass);
    end_compilation(device);
    return status;
}

struct program_cache *program_cache_create(void)
{
    return calloc(1, sizeof(struct program_cache));
}

void program_cache_each(const struct program_cache *cache,
                        void (*visit)(void *user, const struct program *program), void *user)
{
    for (size_t i = 0; i < BUCKETS; i++)
        for (const struct program *program = cache->buckets[i]; program; program = program->next)
            visit(user, program);
}

void program_cache_destroy(struct program_cache *cache, const struct gl *gl)
{
    if (!cache)
        return;
    for (size_t i = 0; i < BUCKETS; i++) {
        while (cache->buckets[i]) {
            struct program *program = cache->buckets[i];
            cache->buckets[i] = program->next;
            if (gl)
                gl->DeleteProgram(program->name);
            free(program->source);
            free(program);
        }
    }
    free(cache);
}
