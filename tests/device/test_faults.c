/* Every call that the library makes of memory, files, EGL and OpenGL ES fails in turn.
 *
 * Each scenario (tests/faults/scenarios.c) runs once without a fault, which counts its calls of
 * each kind; then the n-th fails alone, alone and what failed is tried again, and all from the n-th
 * on. A run must end in a status with a message that say what is amiss, or in exactly the result
 * of the run without a fault; give back all that it took; leave files whole, also after a loss of
 * power; and the same run without a fault must succeed afterwards on the same device. Each scenario
 * runs in a process of its own: one that crashes or hangs is a failure, and another goes on behind
 * it. Few calls are tried of each kind, more with GLCNN_TEST_CHECK=1, above all of those that need no new
 * device, and nearly all with GLCNN_TEST_FULL=1. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include "tests/unit.h"

#include <dirent.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/faults/inject.h"
#include "tests/faults/scenarios.h"
#include "tests/folder.h"

#define MOST_SECONDS 120 /* of one fault; a hang has no end */
#define MOST_LINES   12
#define FEW_CALLS    80

enum fault_mode { MODE_ALONE, MODE_RETRIED, MODE_ALL_ON, MODES };
static const char *const mode_names[MODES] = {"alone", "alone, then tried again", "all from it on"};
static const char *const kind_names[FAULT_KINDS] = {[FAULT_MEMORY] = "allocation",
                                                    [FAULT_GL] = "GL call",
                                                    [FAULT_LOST] = "lost context at GL call",
                                                    [FAULT_RESET] = "silent reset at dispatch call",
                                                    [FAULT_UNTOLD] =
                                                        "untold reset at dispatch call",
                                                    [FAULT_HANG] = "hang at wait",
                                                    [FAULT_CLOCK] = "clock set at reading",
                                                    [FAULT_LOW] = "closed stream at opening",
                                                    [FAULT_EGL] = "EGL call",
                                                    [FAULT_SYMBOL] = "symbol",
                                                    [FAULT_FILE] = "file call"};

/* What a failure of the kind may be reported as; of clocks and closed streams nothing fails. */
static const unsigned accepted[FAULT_KINDS] = {
    [FAULT_MEMORY] = 1u << GLCNN_OUT_OF_MEMORY,
    [FAULT_GL] = 1u << GLCNN_OUT_OF_MEMORY,
    [FAULT_LOST] = 1u << GLCNN_DEVICE_LOST,
    [FAULT_RESET] = 1u << GLCNN_DEVICE_LOST,
    [FAULT_UNTOLD] = 1u << GLCNN_DEVICE_LOST,
    [FAULT_HANG] = 1u << GLCNN_DEVICE_LOST,
    [FAULT_EGL] = 1u << GLCNN_NO_DEVICE | 1u << GLCNN_INVALID_STATE,
    [FAULT_SYMBOL] = 1u << GLCNN_NO_DEVICE,
    [FAULT_FILE] = 1u << GLCNN_IO_ERROR,
};

/* Shared with the process that tries. */
static struct progress {
    int kind, mode;
    size_t sample; /* the fault at hand, by these three */
    size_t at, calls[FAULT_KINDS], tried[FAULT_KINDS], failed;
    bool finished;
    size_t line_count;
    char lines[MOST_LINES][1024];
} * progress;

static char folder[] = "/tmp/glcnn-faults-XXXXXX";
static const struct fault_scenario *scenario;
static size_t tried, failed;

static void complain(const char *format, ...)
{
    va_list arguments;
    progress->failed++;
    if (progress->line_count == MOST_LINES)
        return;
    char *line = progress->lines[progress->line_count++];
    int used = snprintf(line, sizeof *progress->lines, "%s, %s %zu %s: ", scenario->name,
                        kind_names[progress->kind], progress->at, mode_names[progress->mode]);
    va_start(arguments, format);
    vsnprintf(line + used, sizeof *progress->lines - (size_t)used, format, arguments);
    va_end(arguments);
}

/* ---- In the process that tries ---- */

static glcnn_device *open_device;
static struct fault_run clean;              /* the run without a fault */
static struct fault_balance nothing, level; /* without a device, and after a run on one */
static uint64_t clean_files;

/* Hash of the names and contents of what is in the folder, in no order. */
static uint64_t hash_files(void)
{
    uint64_t sum = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char path[512];
        uint64_t hash = 14695981039346656037u;
        snprintf(path, sizeof path, "%s/%.200s", folder, entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "rb");
        for (const char *c = entry->d_name; *c; c++)
            hash = (hash ^ (unsigned char)*c) * 1099511628211u;
        for (int c; file && (c = getc(file)) != EOF;)
            hash = (hash ^ (unsigned char)c) * 1099511628211u;
        if (file) {
            fclose(file);
            sum += hash;
        }
    }
    closedir(directory);
    return sum;
}

static bool open_for_scenario(void)
{
    fault_arm(FAULT_MEMORY, 0, false);
    return scenario->deviceless || glcnn_device_create(NULL, &open_device) == GLCNN_SUCCESS;
}

static struct fault_run run_once(bool retries)
{
    struct fault_run run = {.device = open_device, .folder = folder, .retries = retries};
    scenario->run(&run);
    return run;
}

static bool same_results(const struct fault_run *run)
{
    return run->result_count == clean.result_count &&
           memcmp(run->results, clean.results, run->result_count * sizeof *run->results) == 0;
}

static bool is_level(const struct fault_balance *expected)
{
    struct fault_balance now = fault_balance();
    return memcmp(&now, expected, sizeof now) == 0;
}

static void check_balance(const struct fault_balance *expected, const char *when)
{
    struct fault_balance now = fault_balance();
    if (!is_level(expected))
        complain("%s %+ld blocks, %+ld files, %+ld contexts and %+ld GL objects are left", when,
                 now.blocks - expected->blocks, now.descriptors - expected->descriptors,
                 now.contexts - expected->contexts, now.gl_objects - expected->gl_objects);
}

/* The same again, without a fault, on the same device. */
static void run_afterwards(void)
{
    fault_arm(FAULT_MEMORY, 0, false);
    struct fault_run run = run_once(false);
    if (run.failed != GLCNN_SUCCESS)
        complain("later, %s fails: %s", run.call, run.message);
    else if (!same_results(&run))
        complain("later damage: the result is wrong");
}

/* A device keeps what it made: programs, textures in its pool. It must give that back at its end,
 * and not keep more each time that the fault comes. */
static void check_growth(enum fault_kind kind, enum fault_mode mode)
{
    if (is_level(&level))
        return;
    level = fault_balance();
    fault_arm(kind, progress->at, mode == MODE_ALL_ON);
    run_once(mode == MODE_RETRIED);
    fault_end();
    fault_new_context();
    run_afterwards();
    check_balance(&level, "each time");
    glcnn_device_destroy(&open_device);
    check_balance(&nothing, "at the device's end");
    if (!open_for_scenario())
        complain("no device can be opened");
    run_once(false);
    level = fault_balance();
}

static void check_files(const char *when)
{
    if (hash_files() == clean_files)
        return;
    complain("%s the files are not those of a run without a fault", when);
    folder_empty(folder);
    fault_arm(FAULT_MEMORY, 0, false);
    run_once(false);
}

/* Whether the failure is reported as what it is. */
static bool is_accepted(const struct fault_run *run, enum fault_kind kind)
{
    bool says_memory = kind == FAULT_MEMORY && strstr(run->message, "memory");
    bool opens = scenario->deviceless && run->failed == GLCNN_NO_DEVICE;
    return accepted[kind] & 1u << run->failed || says_memory || (kind != FAULT_MEMORY && opens);
}

static void judge(const struct fault_run *run, enum fault_kind kind)
{
    if (run->gone_wrong)
        complain("%s fails without a fault of its own: %s", run->call, run->message);
    else if (run->failed == GLCNN_SUCCESS && !run->warned && (!run->ended || !same_results(run)))
        complain("silent: no call failed, and the result is wrong");
    else if (fault_used_standard())
        complain("bytes went through a descriptor of the standard streams");
    else if (run->failed == GLCNN_SUCCESS && (fault_hit_sync() || !fault_survives_power_loss()))
        complain("silent: no call failed, and a loss of power would damage a file");
    else if (run->failed == GLCNN_SUCCESS)
        return;
    else if (!is_accepted(run, kind))
        complain("%s gives \"%s\": %s", run->call, glcnn_status_text(run->failed), run->message);
    else if (!run->told)
        complain("%s gives \"%s\" without a message", run->call, glcnn_status_text(run->failed));
    else if (run->ended && !run->undefined && !same_results(run))
        complain("%s, tried again, leads to a wrong result", run->call);
}

static bool loses_device(enum fault_kind kind)
{
    return kind == FAULT_LOST || kind == FAULT_RESET || kind == FAULT_UNTOLD || kind == FAULT_HANG;
}

/* What a device has computed before may be read in place of what was dropped: it is a new one. */
static bool is_silent(enum fault_kind kind)
{
    return kind == FAULT_RESET || kind == FAULT_UNTOLD;
}

static void try_fault(enum fault_kind kind, enum fault_mode mode)
{
    bool own_device = scenario->fresh || (loses_device(kind) && !scenario->deviceless);
    alarm(MOST_SECONDS);
    fault_hide_resets(kind == FAULT_UNTOLD);
    if (scenario->fresh || (is_silent(kind) && !scenario->deviceless)) {
        glcnn_device_destroy(&open_device);
        if (!open_for_scenario())
            complain("no device can be opened");
    }
    fault_arm(kind, progress->at, mode == MODE_ALL_ON);
    struct fault_run run = run_once(mode == MODE_RETRIED);
    if (own_device)
        glcnn_device_destroy(&open_device);
    judge(&run, kind);
    fault_end();
    if (own_device || scenario->deviceless)
        check_balance(&nothing, "afterwards");
    check_files("afterwards");
    fault_new_context();
    fault_hide_resets(false);
    if (own_device && !open_for_scenario())
        complain("no device can be opened");
    run_afterwards();
    if (own_device)
        level = fault_balance();
    else
        check_growth(kind, mode);
    progress->tried[kind]++;
}

/* Two runs, after which programs are made and pools filled; the second is what others must equal.
 */
static bool run_clean(void)
{
    if (glcnn_kernel_count() == 0)
        return false;
    nothing = fault_balance();
    if (!open_for_scenario())
        return false;
    run_once(false);
    level = fault_balance();
    fault_arm(FAULT_MEMORY, 0, false);
    if (scenario->fresh) {
        glcnn_device_destroy(&open_device);
        if (!open_for_scenario())
            return false;
    }
    clean = run_once(false);
    if (progress->calls[FAULT_MEMORY] == 0)
        for (int kind = 0; kind < FAULT_KINDS; kind++)
            progress->calls[kind] = fault_calls((enum fault_kind)kind);
    clean_files = hash_files();
    if (!scenario->fresh)
        check_balance(&level, "without any fault");
    if (!fault_survives_power_loss())
        complain("a loss of power would damage a file");
    return clean.ended && !clean.gone_wrong && clean.failed == GLCNN_SUCCESS;
}

/* A lost context fails all from it on, and nothing can be tried again; clocks and streams stay. */
static bool mode_suits(enum fault_kind kind, enum fault_mode mode)
{
    return (!loses_device(kind) && kind != FAULT_CLOCK && kind != FAULT_LOW) || mode == MODE_ALL_ON;
}

/* Evenly over all calls, the first and the last among them; every one of files where they are few.
 */
static size_t sample_count(enum fault_kind kind)
{
    size_t calls = progress->calls[kind], most = fault_samples(scenario);
    if (loses_device(kind) && kind != FAULT_LOST)
        most = (most + 1) / 2; /* each compiles all programs */
    return (kind == FAULT_FILE && calls <= FEW_CALLS) || calls < most ? calls : most;
}

static size_t sampled_call(enum fault_kind kind, size_t sample)
{
    size_t count = sample_count(kind);
    return count < 2 ? 1 : 1 + sample * (progress->calls[kind] - 1) / (count - 1);
}

/* Goes on behind the fault that the process before ended at. */
static void try_all(void)
{
    if (!run_clean()) {
        complain("does not run without a fault: %s: %s", clean.call, clean.message);
        return;
    }
    for (; progress->kind < FAULT_KINDS; progress->kind++, progress->mode = 0)
        for (; progress->mode < MODES; progress->mode++, progress->sample = 0) {
            enum fault_kind kind = (enum fault_kind)progress->kind;
            enum fault_mode mode = (enum fault_mode)progress->mode;
            if (!mode_suits(kind, mode))
                continue;
            for (; progress->sample < sample_count(kind); progress->sample++) {
                progress->at = sampled_call(kind, progress->sample);
                try_fault(kind, mode);
            }
        }
    glcnn_device_destroy(&open_device);
}

/* ---- In the test's process ---- */

/* Whether another process must go on. */
static bool try_in_process(void)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        try_all();
        progress->finished = true;
        _exit(0);
    }
    CU_ASSERT_EQUAL_FATAL(waitpid(child, &status, 0), child);
    if (progress->finished)
        return false;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        complain("hangs");
    else
        complain("crashes: %s", WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it exits");
    progress->sample++;
    return progress->failed < 100;
}

static void say(void)
{
    size_t sum = 0;
    printf("\n    %s:", scenario->name);
    for (int kind = 0; kind < FAULT_KINDS; kind++) {
        sum += progress->tried[kind];
        if (progress->tried[kind])
            printf(" %zu at %zu %ss,", progress->tried[kind], progress->calls[kind],
                   kind_names[kind]);
    }
    printf(" %zu failed\n    %zu configurations ", progress->failed, sum);
    for (size_t i = 0; i < progress->line_count; i++)
        fprintf(stderr, "\n    %s", progress->lines[i]);
    tried += sum;
    failed += progress->failed;
}

static void try_scenario(const char *name)
{
    memset(progress, 0, sizeof *progress);
    for (scenario = fault_scenarios; strcmp(scenario->name, name) != 0;)
        scenario++;
    while (try_in_process())
        continue;
    say();
    CU_ASSERT_EQUAL(progress->failed, 0);
    folder_empty(folder);
}

/* The tables of kernels are made by the first call that has the memory for all of them. The first
 * of all tests: scenarios find them made. */
static void tables_of_kernels_are_whole_or_none(void)
{
    struct fault_balance before = fault_balance();
    size_t count = 0;
    for (size_t at = 1; count == 0 && at < 1000; at++, tried++) {
        fault_arm(FAULT_MEMORY, at, false);
        count = glcnn_kernel_count();
        CU_ASSERT_EQUAL(count == 0, fault_has_hit());
        CU_ASSERT_TRUE(count > 0 || is_level(&before));
    }
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT_TRUE(glcnn_kernel_info_at(i)->argument_count > 0);
        CU_ASSERT_PTR_NOT_NULL(glcnn_kernel_info_at(i)->parameters);
        CU_ASSERT_PTR_EQUAL(glcnn_kernel_info_by_name(glcnn_kernel_info_at(i)->name),
                            glcnn_kernel_info_at(i));
    }
    CU_ASSERT_TRUE(count > 50);
}

/* ---- Several files at once ---- */

static char array_paths[2][64];

static glcnn_status write_both(float value, char error[512])
{
    struct glcnn_npy arrays[2];
    for (int i = 0; i < 2; i++) {
        snprintf(array_paths[i], sizeof *array_paths, "%s/%d.npy", folder, i);
        arrays[i] = (struct glcnn_npy){.rank = 0, .data = &value};
    }
    return glcnn_npy_write_all((const char *[]){array_paths[0], array_paths[1]}, arrays, 2, error);
}

static float value_of(int file)
{
    float value = -1;
    struct glcnn_npy array;
    CU_ASSERT_EQUAL(glcnn_npy_read(array_paths[file], &array, NULL), GLCNN_SUCCESS);
    if (array.data)
        value = *array.data;
    glcnn_npy_destroy(&array);
    return value;
}

/* Of two files that replace old ones: what the message says is what is there. */
static void of_several_files_it_is_told_which_are_replaced(void)
{
    size_t told = 0;
    glcnn_status status = GLCNN_IO_ERROR;
    for (size_t at = 1; status != GLCNN_SUCCESS || fault_has_hit(); at++, tried++) {
        char error[512] = "";
        fault_arm(FAULT_FILE, 0, false);
        CU_ASSERT_EQUAL_FATAL(write_both(1, error), GLCNN_SUCCESS);
        fault_arm(FAULT_FILE, at, false);
        status = write_both(2, error);
        fault_end();
        bool first = strstr(error, "0.npy: is written, but its folder") != NULL;
        bool second = strstr(error, "1.npy: is written, but its folder") != NULL;
        bool counted = strstr(error, "; replaced before it: 1 of 2 files") != NULL;
        bool good = status == GLCNN_SUCCESS;
        CU_ASSERT_EQUAL(value_of(0) == 2, good || first || counted);
        CU_ASSERT_EQUAL(value_of(1) == 2, good || second);
        told += counted;
    }
    CU_ASSERT_TRUE(told >= 2); /* the second rename, and what brings its folder to the disk */
    folder_empty(folder);
}

/* clang-format off */
#define SCENARIOS(X)                                                                               \
    X(device) X(list) X(kernel) X(programs) X(states) X(optimizer) X(transfer)                     \
    X(copied_transfer) X(data_source) X(arrays) X(npy) X(training) X(inference) X(checkpoint)      \
    X(serialize) X(binaries) X(from_loss) X(budget) X(choices)
/* clang-format on */
#define DEFINE(name)                                                                               \
    static void faults_in_##name(void)                                                             \
    {                                                                                              \
        try_scenario(#name);                                                                       \
    }
SCENARIOS(DEFINE)

/* Each fault wants its own device, which takes valgrind ten seconds. */
static bool under_valgrind(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded && strstr(preloaded, "vgpreload");
}

/* What a dispatch leaves out must not lie there from the run before. */
static void spoil_freed_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_PERTURB, 0x5a);
#endif
}

int main(int argc, char *argv[])
{
    if (under_valgrind()) {
        puts("faults are tried under the sanitizers; valgrind takes too long");
        return 77;
    }
#define ROW(name) UNIT_TEST(faults_in_##name),
    static const CU_TestInfo tests[] = {UNIT_TEST(tables_of_kernels_are_whole_or_none),
                                        UNIT_TEST(of_several_files_it_is_told_which_are_replaced),
                                        SCENARIOS(ROW) CU_TEST_INFO_NULL};
    progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED || !mkdtemp(folder))
        return EXIT_FAILURE;
    spoil_freed_memory();
    int result = unit_run("faults", tests, argc, argv);
    printf("%zu faults were tried, %zu failed\n", tried, failed);
    rmdir(folder);
    return result;
}
