/* Times of work that is committed again and again. A sample is so many commits before one wait that
 * the wait counts for little. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#define SAMPLES_MAX 11
#define COMMITS_MAX 2000

/* Samples are so many times as long for work that streams: nothing runs beside their first upload, and
 * that is to count for little. */
#define STREAM 5

#define FASTER 0.95 /* times as long, or less */

#define REPEATS   10  /* of what is short, as the graphs of tests/bench/torch_twin.py have */
#define LONG_WORK 5.0 /* seconds */
#define WATCHED   1.0 /* seconds */

/* How long is measured. Clocks of a GPU that was idle, as while programs are made, rise in steps for
 * four tenths of a second (H200): it is warm once no commit has been faster for so long. */
struct effort {
    double warm, sample; /* seconds */
    int samples;
    double
        most; /* seconds for all samples, of which there are 3 at least but where one takes more */
};
static const struct effort thorough = {0.25, 0.01, SAMPLES_MAX, 1},
                           quick_effort = {0, 0.01, 7, 0.3};

static double seconds_of(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* A wait that naps ends up to a nap late, a hundredth of a sample or more: there what was committed is
 * watched. What takes longer than WATCHED is then waited for. */
static void watch(const struct bench_work *work)
{
    double begin = seconds_of(CLOCK_MONOTONIC);
    if (glcnn_device_info(work->device)->traits.spin_waits)
        while (!work->is_over(work->user) && seconds_of(CLOCK_MONOTONIC) - begin < WATCHED)
            continue;
}

/* Commits `count` times and waits; adds the processor time of the commits to *cpu. */
static glcnn_status run(const struct bench_work *work, int count, double *elapsed, double *cpu)
{
    glcnn_status status = GLCNN_SUCCESS;
    double begin = seconds_of(CLOCK_MONOTONIC), begin_cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < count && status == GLCNN_SUCCESS; i++)
        status = work->commit(work->user);
    *cpu += seconds_of(CLOCK_THREAD_CPUTIME_ID) - begin_cpu;
    if (status == GLCNN_SUCCESS) {
        watch(work);
        status = work->wait(work->user);
    }
    *elapsed = seconds_of(CLOCK_MONOTONIC) - begin;
    return status;
}

/* Commits that fill a sample, where each takes `one` seconds. */
static int commits_of(double sample, double one)
{
    double wanted = sample / fmax(one, 1e-6);
    return wanted < 1 ? 1 : wanted > COMMITS_MAX ? COMMITS_MAX : (int)wanted;
}

/* How many commits make a sample; the first is not counted, since programs are made then. */
static glcnn_status warm_up(const struct bench_work *work, const struct effort *effort,
                            int *commits, double *one)
{
    double elapsed, cpu, begin = 0, least = INFINITY;
    glcnn_status status = run(work, 1, one, &cpu);
    *commits = 1;
    if (*one > 10 * effort->most) /* long enough: what programs took to make does not matter */
        return status;
    do {
        if (status == GLCNN_SUCCESS)
            status = run(work, 1, one, &cpu);
        if (*one < FASTER * least) {
            least = *one;
            begin = seconds_of(CLOCK_MONOTONIC);
        }
        elapsed = seconds_of(CLOCK_MONOTONIC) - begin;
    } while (status == GLCNN_SUCCESS && elapsed < effort->warm);
    double sample = work->streams ? STREAM * effort->sample : effort->sample;
    *commits = commits_of(sample, *one);
    if (status == GLCNN_SUCCESS && *commits > 1) { /* a single commit waits as long as it works */
        status = run(work, *commits, &elapsed, &cpu);
        *commits = commits_of(sample, elapsed / *commits);
    }
    return status;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int sample_count(const struct effort *effort, double sample)
{
    double fits = effort->most / fmax(sample, 1e-6);
    if (fits < 1)
        return 1;
    return fits < 3 ? 3 : fits > effort->samples ? effort->samples : (int)fits;
}

/* Programs are made in the first commit, and so the second counts, but for what takes so long in any
 * case that they do not matter. */
glcnn_status bench_repeats(const struct bench_work *work, uint32_t *repeats)
{
    double one = 0, cpu = 0;
    glcnn_status status = run(work, 1, &one, &cpu);
    if (status == GLCNN_SUCCESS && one > BENCH_SHORT && one < LONG_WORK)
        status = run(work, 1, &one, &cpu);
    *repeats = one < BENCH_SHORT ? REPEATS : 1;
    return status;
}

glcnn_status bench_time(const struct bench_report *report, const struct bench_work *work,
                        struct bench_row *row)
{
    const struct effort *effort =
        report->request->quick || report->small ? &quick_effort : &thorough;
    struct bench_timing *timing = &row->timing;
    double samples[SAMPLES_MAX], cpu = 0, one = 0;
    int commits = 1;
    glcnn_status status = warm_up(work, effort, &commits, &one);
    int count = sample_count(effort, one * commits);
    for (int i = 0; i < count && status == GLCNN_SUCCESS; i++) {
        status = run(work, commits, &samples[i], &cpu);
        samples[i] /= (double)commits * work->repeats;
    }
    if (status != GLCNN_SUCCESS)
        return status;
    qsort(samples, (size_t)count, sizeof *samples, ascending);
    timing->seconds = samples[count / 2];
    timing->spread = (samples[count - 1 - count / 4] - samples[count / 4]) / timing->seconds;
    timing->commit_cpu = cpu / count / commits / work->repeats;
    timing->repeats = work->repeats;
    return GLCNN_SUCCESS;
}
