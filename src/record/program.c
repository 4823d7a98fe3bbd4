/* Programs: kept by their source, compiled where they are new, tested where drivers may skip
 * them. */
#include "record/program.h"

#include <stdlib.h>
#include <string.h>

#include "record/assemble.h"
#include "record/canary.h"
#include "record/compile.h"
#include "record/source_file.h"

#define BUCKETS  256
#define REFUSALS 64

struct program_cache {
    struct program *buckets[BUCKETS];
    const char *refused[REFUSALS];
    size_t refusals;
};

/* ---- The cache ---- */

/* FNV-1a. */
static uint64_t hash_of(const char *source)
{
    uint64_t hash = 14695981039346656037u;
    for (const char *c = source; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    return hash;
}

static const struct program *add_program(struct glcnn_device *device, const struct pass *pass,
                                         uint64_t hash, struct text *source, glcnn_status *status)
{
    struct program **bucket = &device->programs->buckets[hash % BUCKETS];
    struct program *made = calloc(1, sizeof *made);
    if (!made) {
        *status = device_fail(device, GLCNN_OUT_OF_MEMORY, "out of memory making a program");
        return NULL;
    }
    source_file_write(device, pass, source->bytes, hash);
    compilation_begin(device, pass);
    made->name = shader_compile(device, pass, source->bytes, status);
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
    glcnn_status status = shader_assemble(device, pass, &source);
    if (status == GLCNN_SUCCESS) {
        uint64_t hash = hash_of(source.bytes);
        const struct program *found = device->programs->buckets[hash % BUCKETS];
        while (found && strcmp(found->source, source.bytes) != 0)
            found = found->next;
        pass->program = found ? found : add_program(device, pass, hash, &source, &status);
    }
    text_free(&source);
    return status;
}

void program_count(struct glcnn_device *device, size_t pass, size_t passes)
{
    device->compilation.it.pass = (uint32_t)pass;
    device->compilation.it.passes = (uint32_t)passes;
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
    compilation_end(device);
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
