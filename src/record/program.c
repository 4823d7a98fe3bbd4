/* Programs: kept by their source, loaded or compiled where they are new, tested where drivers may
 * skip them. */
#include "record/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "record/assemble.h"
#include "record/binary.h"
#include "record/binary_file.h"
#include "record/smoke_test.h"
#include "record/compile.h"
#include "record/source_file.h"

#define BUCKETS  256
#define REFUSALS 64

struct program_cache {
    struct program *buckets[BUCKETS];
    uint64_t made;
    const char *refused[REFUSALS];
    size_t refusals;
};

/* ---- The cache ---- */

static uint64_t hash_of(const char *source)
{
    return hash_bytes(HASH_BASIS, source, strlen(source));
}

static struct program *program_of(const struct pass *pass)
{
    return (struct program *)(uintptr_t)pass->issue.program;
}

static void free_program(struct program *program, const struct gl *gl)
{
    if (gl) {
        gl->DeleteShader(program->shader);
        gl->DeleteProgram(program->name);
    }
    free(program->source);
    free(program);
}

static void drop_program(struct glcnn_device *device, struct program *program)
{
    struct program **at = &device->programs->buckets[hash_of(program->source) % BUCKETS];
    while (*at != program)
        at = &(*at)->next;
    *at = program->next;
    free_program(program, &device->gl);
}

/* Takes over the source. */
static struct program *add_program(struct glcnn_device *device, const struct pass *pass,
                                   struct program **bucket, struct text *source)
{
    struct program *made = calloc(1, sizeof *made);
    if (!made) {
        device_fail(device, GLCNN_OUT_OF_MEMORY, "out of memory making a program");
        return NULL;
    }
    memcpy(made->local, pass->local, sizeof made->local);
    made->source = source->bytes;
    *source = (struct text){0};
    made->number = ++device->programs->made;
    made->of_kernel = pass->owner.kernel || pass->owner.name[0];
    made->next = *bucket;
    return *bucket = made;
}

/* ---- Making programs ---- */

static glcnn_status load_or_compile(struct glcnn_device *device, const struct pass *pass,
                                    struct program *program)
{
    glcnn_status status = GLCNN_SUCCESS;
    program->name = binary_load(device, pass, program->source, &status);
    if (program->name) {
        program->stage = PROGRAM_MADE;
        program->loaded = program->kept = true;
    } else if (status == GLCNN_SUCCESS) {
        shader_compile(device, pass, program);
    }
    return status;
}

static glcnn_status begin_new(struct glcnn_device *device, struct pass *pass, uint64_t hash,
                              struct text *source)
{
    struct program **bucket = &device->programs->buckets[hash % BUCKETS];
    struct program *made = add_program(device, pass, bucket, source);
    if (!made)
        return GLCNN_OUT_OF_MEMORY;
    source_file_write(device, pass, made->source, hash);
    glcnn_status status = load_or_compile(device, pass, made);
    if (status == GLCNN_SUCCESS)
        pass->issue.program = made;
    else
        drop_program(device, made);
    return status;
}

static glcnn_status begin(struct glcnn_device *device, struct pass *pass)
{
    struct text source = {0};
    glcnn_status status = shader_assemble(device, pass, &source);
    if (status == GLCNN_SUCCESS) {
        uint64_t hash = hash_of(source.bytes);
        struct program *found = device->programs->buckets[hash % BUCKETS];
        while (found && strcmp(found->source, source.bytes) != 0)
            found = found->next;
        pass->issue.program = found;
        if (!found)
            status = begin_new(device, pass, hash, &source);
    }
    text_free(&source);
    return status;
}

static void link_begun(struct glcnn_device *device, const struct pass *pass)
{
    if (pass->issue.program->stage == PROGRAM_COMPILING)
        shader_link(device, program_of(pass));
}

static glcnn_status finish_untested(struct glcnn_device *device, struct pass *pass)
{
    glcnn_status status = GLCNN_SUCCESS;
    if (pass->issue.program->stage == PROGRAM_LINKING)
        status = shader_finish(device, pass, program_of(pass));
    if (status != GLCNN_SUCCESS)
        drop_program(device, program_of(pass));
    return status;
}

glcnn_status program_find_untested(struct glcnn_device *device, struct pass *pass)
{
    glcnn_status status = begin(device, pass);
    if (status != GLCNN_SUCCESS)
        return status;
    link_begun(device, pass);
    status = finish_untested(device, pass);
    if (status == GLCNN_SUCCESS)
        compilation_end(device, program_of(pass));
    return status;
}

glcnn_status program_rebuild(struct glcnn_device *device, const struct pass *pass)
{
    struct program *program = program_of(pass);
    device->gl.DeleteProgram(program->name);
    program->loaded = program->kept = false;
    shader_compile(device, pass, program);
    shader_link(device, program);
    glcnn_status status = shader_finish(device, pass, program);
    if (status == GLCNN_SUCCESS)
        compilation_end(device, program);
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

/* The warning is no error yet: a smaller implementation may do. */
static glcnn_status refuse(struct glcnn_device *device, const struct pass *pass)
{
    const char *renderer = device->info.renderer;
    if (!pass->owner.implementation)
        return device_fail(device, GLCNN_SHADER_ERROR,
                           "the driver of %s accepts glsl/%s and does not run it; there is no "
                           "smaller implementation of it",
                           renderer, pass->shader);
    device_log(
        device, GLCNN_LOG_WARNING,
        "the driver of %s accepts glsl/%s as implementation %s and does not run it; the next "
        "smaller implementation is taken",
        renderer, pass->shader, pass->owner.implementation);
    program_refuse(device, pass->owner.implementation);
    return GLCNN_SHADER_ERROR;
}

/* A binary that does not run says nothing of its source. */
static glcnn_status prove(struct glcnn_device *device, const struct pass *pass, bool *runs)
{
    glcnn_status status = smoke_test_run(device, pass, runs);
    if (status != GLCNN_SUCCESS || *runs || !pass->issue.program->loaded)
        return status;
    status = program_rebuild(device, pass);
    return status == GLCNN_SUCCESS ? smoke_test_run(device, pass, runs) : status;
}

static glcnn_status test(struct glcnn_device *device, const struct pass *pass)
{
    struct program *program = program_of(pass);
    bool runs = program->verdict == PROGRAM_RUNS;
    uint64_t start = clock_nanoseconds();
    glcnn_status status = GLCNN_SUCCESS;
    if (program->verdict == PROGRAM_UNTESTED)
        status = prove(device, pass, &runs);
    program->nanoseconds += clock_nanoseconds() - start;
    if (status != GLCNN_SUCCESS)
        return status;
    program->verdict = runs ? PROGRAM_RUNS : PROGRAM_DOES_NOT_RUN;
    return runs ? GLCNN_SUCCESS : refuse(device, pass);
}

glcnn_status program_keep(struct glcnn_device *device, const struct pass *pass)
{
    struct program *program = program_of(pass);
    if (program->kept)
        return GLCNN_SUCCESS;
    program->kept = true;
    return binary_keep(device, pass, program->source, program->name);
}

/* ---- Finding programs ---- */

typedef bool (*program_choice)(const struct program *program, uint64_t made);

static void drop_programs(struct glcnn_device *device, program_choice wanted, uint64_t made)
{
    for (size_t i = 0; i < BUCKETS; i++) {
        struct program **at = &device->programs->buckets[i];
        while (*at) {
            struct program *program = *at;
            if (!wanted(program, made)) {
                at = &program->next;
                continue;
            }
            *at = program->next;
            free_program(program, &device->gl);
        }
    }
}

static bool is_unfinished(const struct program *program, uint64_t made)
{
    (void)made;
    return program->stage != PROGRAM_MADE;
}

/* After a failure amid programs that were begun together: an error of the driver is told by the
 * next check, whichever program it is of, so none that is not finished is trusted. */
static void drop_unfinished(struct glcnn_device *device)
{
    drop_programs(device, is_unfinished, 0);
}

uint64_t programs_made(const struct glcnn_device *device)
{
    return device->programs->made;
}

static bool was_made_since(const struct program *program, uint64_t made)
{
    return program->of_kernel && program->number > made;
}

void programs_release(struct glcnn_device *device, uint64_t made)
{
    caller_state_keep(device);
    drop_programs(device, was_made_since, made);
    caller_state_put_back(device);
}

static glcnn_status finish(struct glcnn_device *device, struct pass *pass)
{
    glcnn_status status = finish_untested(device, pass);
    if (status != GLCNN_SUCCESS)
        return status;
    if (device->info.traits.may_skip_programs)
        status = test(device, pass);
    compilation_end(device, program_of(pass));
    if (status == GLCNN_SUCCESS)
        return program_keep(device, pass);
    if (pass->issue.program->verdict == PROGRAM_UNTESTED)
        drop_program(device, program_of(pass));
    return status;
}

/* Passes `first` to `end`. */
static glcnn_status find_some(struct glcnn_device *device, struct pass *passes, size_t first,
                              size_t end)
{
    glcnn_status status = GLCNN_SUCCESS;
    size_t i;
    for (i = first; i < end && status == GLCNN_SUCCESS; i++) {
        device->compilation.pass = (uint32_t)i + 1;
        status = begin(device, &passes[i]);
    }
    for (i = first; i < end && status == GLCNN_SUCCESS; i++)
        link_begun(device, &passes[i]);
    for (i = first; i < end && status == GLCNN_SUCCESS; i++)
        status = finish(device, &passes[i]);
    if (status != GLCNN_SUCCESS) {
        drop_unfinished(device);
        for (i = first; i < end; i++)
            passes[i].issue.program = NULL;
    }
    return status;
}

glcnn_status programs_find(struct glcnn_device *device, struct pass *passes, size_t count)
{
    size_t at_once = device->compilation.at_once;
    glcnn_status status = GLCNN_SUCCESS;
    device->compilation.passes = (uint32_t)count;
    caller_state_keep(device);
    for (size_t i = 0; i < count && status == GLCNN_SUCCESS; i += at_once)
        status = find_some(device, passes, i, i + at_once < count ? i + at_once : count);
    caller_state_put_back(device);
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
            free_program(program, gl);
        }
    }
    free(cache);
}
