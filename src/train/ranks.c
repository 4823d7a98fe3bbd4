/* Ranks: who they are, what each has of a batch, and what they add up. */
#include "ranks.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glcnn/training.h>

#include "base/digest.h"
#include "task/model.h"

/* ---- The library ---- */

/* Variables of launchers that say that there are several processes. */
static bool is_one_of_several(void)
{
    static const char *const counts[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (getenv(counts[i]))
            return atoi(getenv(counts[i])) > 1;
    return getenv("PMIX_RANK") != NULL;
}

/* Of the version that the tool has; before 1.0 the minor number is part of it. */
static void name_library(char name[64])
{
    if (GLCNN_VERSION_MAJOR > 0)
        snprintf(name, 64, "libglcnn_mpi.so.%d", GLCNN_VERSION_MAJOR);
    else
        snprintf(name, 64, "libglcnn_mpi.so.0.%d", GLCNN_VERSION_MINOR);
}

/* Beside the tool, where it was built, else where the system has libraries. */
static void *load(char error[GLCNN_ERROR_LENGTH])
{
    char name[64], path[4096];
    name_library(name);
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof name - 1);
    path[length > 0 ? length : 0] = 0;
    char *slash = strrchr(path, '/');
    if (slash)
        snprintf(slash + 1, sizeof name, "%s", name);
    void *handle = slash && access(path, R_OK) == 0 ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
    if (!handle)
        handle = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    if (!handle)
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "this is one of several processes of an MPI launcher, and the library that lets "
                 "them train together cannot be loaded (Debian has it in libglcnn-mpi): %.300s",
                 dlerror());
    return handle;
}

static bool find_functions(struct mpi_library *library, char error[GLCNN_ERROR_LENGTH])
{
    const char *missing = NULL;
#define FIND(name)                                                                                 \
    if (!(*(void **)(void *)&library->name = dlsym(library->handle, "glcnn_mpi_" #name)))          \
        missing = #name;
    MPI_FUNCTIONS(FIND)
    if (missing)
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "libglcnn_mpi is of another version: it has no "
                 "glcnn_mpi_%s",
                 missing);
    return !missing;
}

/* ---- Life ---- */

static void wait_for(void *user, double seconds, uint32_t other)
{
    const struct ranks *ranks = user;
    ranks->waits(ranks->user, seconds, ranks->rank, other);
}

bool ranks_open(struct ranks *ranks, double wait_seconds, ranks_waits *waits, void *user,
                char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_mpi_parameters parameters = {
        .wait_seconds = wait_seconds, .waits = waits ? wait_for : NULL, .user = ranks};
    struct mpi_library *library = &ranks->library;
    *ranks = (struct ranks){.size = 1, .waits = waits, .user = user};
    if (!is_one_of_several())
        return true;
    library->handle = load(error);
    if (!library->handle || !find_functions(library, error) ||
        library->create(&parameters, &ranks->mpi, error) != GLCNN_SUCCESS)
        return false;
    ranks->rank = library->rank(ranks->mpi);
    ranks->size = library->size(ranks->mpi);
    return true;
}

/* The library stays: MPI leaves threads and handlers behind. */
void ranks_close(struct ranks *ranks)
{
    if (ranks->mpi)
        ranks->library.destroy(&ranks->mpi);
}

void ranks_fail(struct ranks *ranks, const char *message)
{
    if (ranks->mpi)
        ranks->library.fail(ranks->mpi, message);
}

bool ranks_leads(const struct ranks *ranks)
{
    return ranks->rank == 0;
}

/* ---- Devices ---- */

#define CANDIDATES 64

const char *ranks_device(const struct ranks *ranks)
{
    static char number[16];
    struct glcnn_device_candidate candidates[CANDIDATES];
    if (!ranks->mpi || getenv("GLCNN_DEVICE"))
        return NULL;
    size_t count = glcnn_device_list(candidates, CANDIDATES), gpus = 0, found = 0;
    count = count < CANDIDATES ? count : CANDIDATES;
    for (size_t i = 0; i < count; i++)
        gpus += candidates[i].usable && !candidates[i].software;
    if (gpus == 0)
        return NULL;
    size_t wanted = ranks->library.rank_on_machine(ranks->mpi) % gpus;
    for (size_t i = 0; i < count; i++)
        if (candidates[i].usable && !candidates[i].software && found++ == wanted)
            snprintf(number, sizeof number, "%zu", i);
    return number;
}

/* ---- Shares ---- */

/* One each, and the rest in proportion to the speeds. */
void ranks_divide(uint32_t total, const double *speeds, uint32_t count, uint32_t *parts)
{
    double all = 0;
    uint32_t rest = total - count, left = rest;
    for (uint32_t i = 0; i < count; i++)
        all += speeds[i];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t more = (uint32_t)floor(rest * (speeds[i] / all));
        more = more < left ? more : left;
        parts[i] = 1 + more;
        left -= more;
    }
    for (; left > 0; left--) {
        uint32_t neediest = 0;
        for (uint32_t i = 1; i < count; i++)
            if (rest * (speeds[i] / all) - parts[i] >
                rest * (speeds[neediest] / all) - parts[neediest])
                neediest = i;
        parts[neediest]++;
    }
}

/* What each rank has, [size]. False, and a message, if the others cannot be reached. */
static bool gather(struct ranks *ranks, double value, double *all, char error[GLCNN_ERROR_LENGTH])
{
    for (uint32_t i = 0; i < ranks->size; i++)
        all[i] = i == ranks->rank ? value : 0;
    return ranks_sum(ranks, all, ranks->size, error);
}

static bool divide(struct ranks *ranks, double speed, double *speeds, uint32_t *parts,
                   char error[GLCNN_ERROR_LENGTH])
{
    if (!gather(ranks, speed, speeds, error))
        return false;
    ranks_divide(ranks->batch, speeds, ranks->size, parts);
    ranks->first = 0;
    ranks->share = parts[ranks->rank];
    for (uint32_t i = 0; i < ranks->rank; i++)
        ranks->first += parts[i];
    return true;
}

bool ranks_share_batch(struct ranks *ranks, uint32_t batch, double speed,
                       char error[GLCNN_ERROR_LENGTH])
{
    ranks->batch = batch;
    if (batch < ranks->size) {
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "a batch of %u images is too small for %u ranks; raise --batch", batch,
                 ranks->size);
        return false;
    }
    double *speeds = calloc(ranks->size, sizeof *speeds);
    uint32_t *parts = calloc(ranks->size, sizeof *parts);
    snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
    bool good = speeds && parts && divide(ranks, speed, speeds, parts, error);
    free(speeds);
    free(parts);
    return good;
}

/* ---- Sums ---- */

bool ranks_sum(struct ranks *ranks, double *values, size_t count, char error[GLCNN_ERROR_LENGTH])
{
    return !ranks->mpi || ranks->library.sum(ranks->mpi, values, count, error) == GLCNN_SUCCESS;
}

bool ranks_gather(struct ranks *ranks, void *of, size_t count,
                  void (*write)(const void *of, double *numbers),
                  bool (*read)(void *of, const double *numbers, size_t count),
                  char error[GLCNN_ERROR_LENGTH])
{
    if (!ranks->mpi)
        return true;
    size_t all = 0, before = 0;
    double *counts = calloc(ranks->size, sizeof *counts), *numbers = NULL;
    snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
    bool good = counts && count > 0 && gather(ranks, (double)count, counts, error);
    for (uint32_t r = 0; good && r < ranks->size; r++) {
        before += r < ranks->rank ? (size_t)counts[r] : 0;
        all += (size_t)counts[r];
    }
    if (good && (numbers = calloc(all + 1, sizeof *numbers)))
        write(of, numbers + before);
    if (good && !numbers)
        snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
    good = good && numbers && ranks_sum(ranks, numbers, all, error) && read(of, numbers, all);
    free(counts);
    free(numbers);
    return good;
}

static bool are_same(const struct ranks *ranks, const double *parts, const char *what,
                     char error[GLCNN_ERROR_LENGTH])
{
    for (uint32_t i = 0; i < ranks->size; i++)
        if (parts[2 * i] != parts[2 * ranks->rank] ||
            parts[2 * i + 1] != parts[2 * ranks->rank + 1]) {
            snprintf(error, GLCNN_ERROR_LENGTH, "rank %u has different %s from rank %u", i, what,
                     ranks->rank);
            return false;
        }
    return true;
}

bool ranks_agree(struct ranks *ranks, uint64_t digest, const char *what,
                 char error[GLCNN_ERROR_LENGTH])
{
    double *parts = calloc(2 * (size_t)ranks->size, sizeof *parts);
    snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
    if (!parts)
        return false;
    parts[2 * ranks->rank] = (double)(uint32_t)digest;
    parts[2 * ranks->rank + 1] = (double)(digest >> 32);
    bool good = ranks_sum(ranks, parts, 2 * (size_t)ranks->size, error) &&
                are_same(ranks, parts, what, error);
    free(parts);
    return good;
}

/* ---- Vectors of networks ---- */

/* What is done to each buffer. */
struct visit {
    bool (*run)(struct visit *visit, glcnn_buffer *buffer, char error[GLCNN_ERROR_LENGTH]);
    struct ranks *ranks;
    uint64_t digest;
};

static bool visit_kernel(struct visit *v, const glcnn_kernel *kernel, const char *const *names,
                         size_t count, char error[GLCNN_ERROR_LENGTH])
{
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        if (!glcnn_kernel_has_vector(kernel, names[i]))
            continue;
        good = v->run(v, glcnn_kernel_vector(kernel, names[i]), error);
        for (unsigned k = 0; k < 2 && good; k++) {
            glcnn_buffer *state = glcnn_kernel_optimizer_vector(kernel, names[i], k);
            good = !state || v->run(v, state, error);
        }
    }
    return good;
}

/* Kernels that train, each once. */
static bool visit_network(struct visit *v, const glcnn_network *network, bool weights,
                          char error[GLCNN_ERROR_LENGTH])
{
    bool good = true;
    for (size_t i = 0; good && glcnn_network_filter(network, i); i++) {
        const glcnn_kernel *kernel = model_trained_kernel(network, i);
        if (kernel)
            good = (!weights || visit_kernel(v, kernel, model_vectors, MODEL_STEPPED, error)) &&
                   visit_kernel(v, kernel, model_vectors + MODEL_STEPPED,
                                MODEL_VECTORS - MODEL_STEPPED, error);
    }
    return good;
}

static bool fail_buffer(char error[GLCNN_ERROR_LENGTH])
{
    snprintf(error, GLCNN_ERROR_LENGTH, "weights cannot be read from the device, or not written");
    return false;
}

static bool average(struct visit *v, glcnn_buffer *buffer, char error[GLCNN_ERROR_LENGTH])
{
    struct ranks *ranks = v->ranks;
    size_t size = glcnn_buffer_size(buffer), count = size / sizeof(float);
    const double part = (double)ranks->share / ranks->batch;
    float *values = malloc(size);
    if (!values || glcnn_buffer_read(buffer, 0, size, values) != GLCNN_SUCCESS) {
        free(values);
        return fail_buffer(error);
    }
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(part * (double)values[i]);
    bool good = ranks->library.sum_floats(ranks->mpi, values, count, error) == GLCNN_SUCCESS;
    if (good && glcnn_buffer_write(buffer, 0, size, values) != GLCNN_SUCCESS)
        good = fail_buffer(error);
    free(values);
    return good;
}

bool ranks_average(struct ranks *ranks, glcnn_network *network, char error[GLCNN_ERROR_LENGTH])
{
    struct visit v = {.run = average, .ranks = ranks};
    return !ranks->mpi || visit_network(&v, network, true, error);
}

bool ranks_average_statistics(struct ranks *ranks, glcnn_network *network,
                              char error[GLCNN_ERROR_LENGTH])
{
    struct visit v = {.run = average, .ranks = ranks};
    return !ranks->mpi || visit_network(&v, network, false, error);
}

static bool digest(struct visit *v, glcnn_buffer *buffer, char error[GLCNN_ERROR_LENGTH])
{
    size_t size = glcnn_buffer_size(buffer);
    void *bytes = malloc(size);
    bool good = bytes && glcnn_buffer_read(buffer, 0, size, bytes) == GLCNN_SUCCESS;
    if (good)
        v->digest = digest_add(v->digest, bytes, size);
    free(bytes);
    return good || fail_buffer(error);
}

bool ranks_digest(glcnn_network *network, uint64_t *value, char error[GLCNN_ERROR_LENGTH])
{
    struct visit v = {.run = digest, .digest = DIGEST_START};
    bool good = visit_network(&v, network, true, error);
    *value = v.digest;
    return good;
}
