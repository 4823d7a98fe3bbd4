/* Binaries of programs on disk: the second process compiles nothing, and nothing that is found in
 * the folder is believed which this library did not write there for this driver. All networks are
 * started twice with GLCNN_TEST_CHECK=1, else one. */
#include "tests/fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "device/device.h"
#include "record/binary_folder.h"
#include "record/program.h"
#include "run/check.h"
#include "tests/folder.h"
#include "task/model.h"

#define BATCH 4
#define MANY  64 /* entries of a folder that are damaged, at most */

static char base[200], folder[256], said[4096];

struct counts {
    uint32_t begun, ended;
};

static void hear(void *user, glcnn_log_level level, const char *text)
{
    (void)user;
    bool says = level <= GLCNN_LOG_WARNING || strstr(text, "written");
    if (says && !strstr(text, "software rasteriser") &&
        strlen(said) + strlen(text) + 2 < sizeof said)
        strcat(strcat(said, text), "\n");
}

static void count(void *user, const struct glcnn_compilation *compilation)
{
    struct counts *counts = user;
    *(compilation->seconds > 0 ? &counts->ended : &counts->begun) += 1;
}

static glcnn_device *open_counting(const char *where, struct counts *counts)
{
    const struct glcnn_device_parameters parameters = {
        .compile = count, .compile_user = counts, .log = hear};
    glcnn_device *on = NULL;
    *counts = (struct counts){0};
    said[0] = 0;
    setenv("GLCNN_CACHE_DIR", where, 1);
    GOOD_FATAL(glcnn_device_create(&parameters, &on));
    setenv("GLCNN_CACHE_DIR", "off", 1);
    return on;
}

static size_t failures(glcnn_device *on, const char *kernel)
{
    size_t failed = 1;
    CU_ASSERT_EQUAL(glcnn_check(on, kernel, true, NULL, NULL, &failed), GLCNN_SUCCESS);
    return failed;
}

/* Programs that a process compiles for a kernel whose results are right. */
static uint32_t compiled_by_check(const char *kernel)
{
    struct counts counts;
    glcnn_device *on = open_counting(folder, &counts);
    CU_ASSERT_EQUAL(failures(on, kernel), 0);
    CU_ASSERT_EQUAL(counts.begun, counts.ended);
    glcnn_device_destroy(&on);
    return counts.begun;
}

/* ---- The second start ---- */

static float train(glcnn_device *on, const char *net)
{
    static const struct form form = {28, 28, 1, 10};
    static const float pixels[BATCH * 28 * 28] = {0.5f, 0.25f, 1};
    static const uint32_t labels[BATCH] = {0, 1, 2, 3};
    float losses[BATCH] = {0};
    struct model model;
    struct runner runner;
    glcnn_kernel *optimizer;
    glcnn_device *kept = device;
    device = on;
    CU_ASSERT_TRUE_FATAL(model_create(on, net_find(net), &form, BATCH, &model));
    GOOD_FATAL(glcnn_network_initialise(model.network, 1));
    GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(on, 0.01f, &optimizer));
    GOOD_FATAL(glcnn_network_set_training(
        model.network, &(struct glcnn_training_descriptor){.optimizer = optimizer}));
    glcnn_kernel_destroy(&optimizer);
    CU_ASSERT_TRUE_FATAL(runner_create_training(&model, BATCH, NULL, &runner));
    for (int step = 0; step < 2; step++)
        CU_ASSERT_TRUE(
            runner_run(&runner, pixels, &(struct glcnn_data_batch){.labels = labels}, losses));
    runner_destroy(&runner);
    model_destroy(&model);
    device = kept;
    return losses[0];
}

static void test_the_second_start_of_a_net_compiles_nothing(void)
{
    static const char *const nets[] = {"lenet", "small", "resnet8", "mobilenet-tiny"};
    for (size_t i = 0; i < (unit_is_check() ? sizeof nets / sizeof *nets : 1); i++) {
        struct counts counts;
        glcnn_device *on = open_counting(folder, &counts);
        float first = train(on, nets[i]);
        CU_ASSERT(counts.begun > 10); /* fewer than there are: nets share some */
        CU_ASSERT_STRING_EQUAL(said, "");
        glcnn_device_destroy(&on);
        on = open_counting(folder, &counts);
        CU_ASSERT_EQUAL(train(on, nets[i]), first);
        CU_ASSERT_EQUAL(counts.begun, 0);
        glcnn_device_destroy(&on);
    }
    folder_empty(folder);
}

/* ---- Damage ---- */

struct file {
    char path[512];
    unsigned char *bytes;
    size_t size;
};

/* Reads all that is in the folder. */
static size_t read_folder(struct file files[MANY])
{
    size_t files_read = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *at; (at = readdir(directory)) != NULL && files_read < MANY;) {
        struct file *file = &files[files_read];
        if (at->d_name[0] == '.')
            continue;
        snprintf(file->path, sizeof file->path, "%s/%.200s", folder, at->d_name);
        FILE *stream = fopen(file->path, "rb");
        file->bytes = malloc((size_t)1 << 20);
        file->size = fread(file->bytes, 1, (size_t)1 << 20, stream);
        fclose(stream);
        files_read++;
    }
    closedir(directory);
    return files_read;
}

static void write_bytes(const struct file *file, size_t size)
{
    FILE *stream = fopen(file->path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    CU_ASSERT_EQUAL(fwrite(file->bytes, 1, size, stream), size);
    fclose(stream);
}

static void flip(const struct file *file, size_t at)
{
    file->bytes[at] ^= 0x40;
    write_bytes(file, file->size);
    file->bytes[at] ^= 0x40;
}

static void flip_magic(const struct file *file)
{
    flip(file, 0);
}

static void flip_hash(const struct file *file)
{
    flip(file, 8);
}

static void flip_key_size(const struct file *file)
{
    flip(file, 16);
}

static void flip_size(const struct file *file)
{
    flip(file, 31);
}

static void flip_key(const struct file *file)
{
    flip(file, 60);
}

static void flip_middle(const struct file *file)
{
    flip(file, file->size - 100);
}

static void flip_last(const struct file *file)
{
    flip(file, file->size - 1);
}

static void empty(const struct file *file)
{
    write_bytes(file, 0);
}

static void cut_head(const struct file *file)
{
    write_bytes(file, 20);
}

static void cut_last(const struct file *file)
{
    write_bytes(file, file->size - 1);
}

static void lengthen(const struct file *file)
{
    struct file longer = {.bytes = calloc(1, file->size + 1), .size = file->size + 1};
    memcpy(longer.path, file->path, sizeof longer.path);
    memcpy(longer.bytes, file->bytes, file->size);
    write_bytes(&longer, longer.size);
    free(longer.bytes);
}

/* Whole, and what the driver gets of it is nothing that it ever gave. */
static void spoil_binary(const struct file *file)
{
    uint64_t head[5];
    unsigned char nonsense[64];
    memcpy(head, file->bytes, sizeof head);
    char *key = calloc(1, (size_t)head[2] + 1);
    memcpy(key, file->bytes + sizeof head, (size_t)head[2]);
    memset(nonsense, 0xa5, sizeof nonsense);
    const struct binary binary = {(uint32_t)head[4], sizeof nonsense, nonsense};
    CU_ASSERT_EQUAL(binary_file_write(file->path, key, &binary), 0);
    free(key);
}

/* The same of a format that the driver does not have. */
static void spoil_format(const struct file *file)
{
    uint64_t head[5];
    memcpy(head, file->bytes, sizeof head);
    char *key = calloc(1, (size_t)head[2] + 1);
    memcpy(key, file->bytes + sizeof head, (size_t)head[2]);
    const struct binary binary = {0x1234, (size_t)head[3],
                                  file->bytes + file->size - (size_t)head[3]};
    CU_ASSERT_EQUAL(binary_file_write(file->path, key, &binary), 0);
    free(key);
}

static void let_others_write(const struct file *file)
{
    CU_ASSERT_EQUAL(chmod(file->path, 0666), 0);
}

static void link_it(const struct file *file)
{
    char elsewhere[300];
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", base);
    CU_ASSERT_EQUAL(rename(file->path, elsewhere), 0);
    CU_ASSERT_EQUAL(symlink(elsewhere, file->path), 0);
}

static void make_folder_of_it(const struct file *file)
{
    CU_ASSERT_EQUAL(unlink(file->path), 0);
    CU_ASSERT_EQUAL(mkdir(file->path, 0700), 0);
}

static void remove_it(const struct file *file)
{
    CU_ASSERT_EQUAL(unlink(file->path), 0);
}

static const struct {
    const char *name;
    void (*damage)(const struct file *file);
    bool stays; /* and is in the way of a good one */
} damages[] = {
    {"magic", flip_magic},
    {"hash", flip_hash},
    {"key size", flip_key_size},
    {"size", flip_size},
    {"key", flip_key},
    {"binary", flip_middle},
    {"last byte", flip_last},
    {"empty", empty},
    {"head cut", cut_head},
    {"last byte cut", cut_last},
    {"a byte more", lengthen},
    {"binary of nonsense", spoil_binary},
    {"format", spoil_format},
    {"others may write", let_others_write},
    {"link", link_it},
    {"removed", remove_it},
    {"folder", make_folder_of_it, true},
};

static void test_a_damaged_entry_is_recompiled_and_rewritten(void)
{
    static struct file files[MANY];
    uint32_t programs = compiled_by_check("pooling_max");
    CU_ASSERT(programs > 5);
    CU_ASSERT_EQUAL(compiled_by_check("pooling_max"), 0);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        size_t entries = read_folder(files);
        CU_ASSERT_EQUAL(entries, programs);
        for (size_t f = 0; f < entries; f++)
            damages[i].damage(&files[f]);
        uint32_t again = compiled_by_check("pooling_max");
        uint32_t then = compiled_by_check("pooling_max");
        if (again != programs || then != (damages[i].stays ? programs : 0))
            fprintf(stderr, "\n  %s: %u and %u of %u\n", damages[i].name, again, then, programs);
        CU_ASSERT_EQUAL(again, programs);
        CU_ASSERT_EQUAL(then, damages[i].stays ? programs : 0);
        for (size_t f = 0; f < entries; f++)
            free(files[f].bytes);
    }
    folder_empty(folder);
}

/* A hash that two programs share keeps the last of them. */
static void test_a_file_is_known_by_its_whole_key(void)
{
    char path[300];
    unsigned char bytes[] = {1, 2, 3};
    const struct binary written = {7, sizeof bytes, bytes};
    struct binary found;
    snprintf(path, sizeof path, "%s/0123456789abcdef.program", folder);
    CU_ASSERT_EQUAL(binary_file_write(path, "driver 1\nsource", &written), 0);
    CU_ASSERT_FALSE(binary_file_read(path, "driver 2\nsource", &found));
    CU_ASSERT_FALSE(binary_file_read(path, "driver 1\nsource ", &found));
    CU_ASSERT_FALSE(binary_file_read(path, "driver 1\nsourc", &found));
    CU_ASSERT_FATAL(binary_file_read(path, "driver 1\nsource", &found));
    CU_ASSERT_EQUAL(found.format, 7);
    CU_ASSERT_EQUAL(found.size, sizeof bytes);
    CU_ASSERT_EQUAL(memcmp(found.bytes, bytes, sizeof bytes), 0);
    free(found.bytes);
    folder_empty(folder);
}

/* All but the program that the device was opened with, which was found before its name changes. */
static void test_another_driver_or_version_compiles_for_itself(void)
{
    struct counts counts;
    uint32_t all = compiled_by_check("neuron"), programs = all - 1;
    static char *changed[] = {"GLCNN 0.0.9", "another driver"};
    for (size_t i = 0; i < 2; i++) {
        glcnn_device *on = open_counting(folder, &counts);
        free(on->binaries->driver);
        on->binaries->driver = strdup(changed[i]);
        CU_ASSERT_EQUAL(failures(on, "neuron"), 0);
        CU_ASSERT_EQUAL(counts.begun, programs);
        glcnn_device_destroy(&on);
    }
    CU_ASSERT_EQUAL(folder_count_files(folder), all + 2 * programs);
    glcnn_device *on = open_counting(folder, &counts);
    const struct glcnn_device_properties *info = glcnn_device_info(on);
    CU_ASSERT_PTR_NOT_NULL(strstr(on->binaries->driver, info->renderer));
    CU_ASSERT_PTR_NOT_NULL(strstr(on->binaries->driver, info->gl_version));
    CU_ASSERT_PTR_NOT_NULL(strstr(on->binaries->driver, info->vendor));
    CU_ASSERT_PTR_NOT_NULL(strstr(on->binaries->driver, glcnn_version()));
    glcnn_device_destroy(&on);
    folder_empty(folder);
}

/* ---- The smoke test ---- */

/* A driver that links binaries and does not run them. */
static struct {
    struct gl real;
    bool loaded[4096]; /* by program */
    GLuint program;
    int skipped;
} driver;

static void GL_APIENTRY load_binary(GLuint program, GLenum format, const void *bytes, GLsizei size)
{
    driver.real.ProgramBinary(program, format, bytes, size);
    driver.loaded[program % 4096] = true;
}

static void GL_APIENTRY use_program(GLuint program)
{
    driver.program = program;
    driver.real.UseProgram(program);
}

static void GL_APIENTRY delete_program(GLuint program)
{
    driver.loaded[program % 4096] = false;
    driver.real.DeleteProgram(program);
}

static void GL_APIENTRY dispatch_compute(GLuint x, GLuint y, GLuint z)
{
    if (driver.loaded[driver.program % 4096])
        driver.skipped++;
    else
        driver.real.DispatchCompute(x, y, z);
}

static glcnn_device *open_with_smoke_test(struct counts *counts, bool skips)
{
    glcnn_device *on = open_counting(folder, counts);
    on->info.traits.may_skip_programs = true;
    memset(&driver, 0, sizeof driver);
    driver.real = on->gl;
    if (skips) {
        on->gl.ProgramBinary = load_binary;
        on->gl.UseProgram = use_program;
        on->gl.DeleteProgram = delete_program;
        on->gl.DispatchCompute = dispatch_compute;
    }
    return on;
}

static void test_a_binary_that_does_not_run_is_recompiled(void)
{
    struct counts counts;
    for (int start = 0; start < 4; start++) {
        bool skips = start == 2;
        glcnn_device *on = open_with_smoke_test(&counts, skips);
        CU_ASSERT_EQUAL(failures(on, "dropout"), 0);
        CU_ASSERT_EQUAL(counts.begun, counts.ended);
        CU_ASSERT_EQUAL(counts.begun > 0, start == 0 || skips);
        CU_ASSERT_EQUAL(driver.skipped > 2, skips);
        CU_ASSERT_STRING_EQUAL(said, "");
        CU_ASSERT_EQUAL(program_refusals(on), 0);
        glcnn_device_destroy(&on);
    }
    folder_empty(folder);
}

/* ---- How much ---- */

static uint64_t size_of_folder(void)
{
    static struct file files[MANY];
    uint64_t sum = 0;
    size_t entries = read_folder(files);
    for (size_t i = 0; i < entries; i++) {
        sum += files[i].size;
        free(files[i].bytes);
    }
    return sum;
}

static void write_old(const char *name, time_t age, uint64_t size)
{
    const struct timespec times[2] = {{time(NULL) - age, 0}, {time(NULL) - age, 0}};
    struct file file = {.bytes = (unsigned char *)"old", .size = 3};
    snprintf(file.path, sizeof file.path, "%s/%s", folder, name);
    write_bytes(&file, 3);
    CU_ASSERT_EQUAL(truncate(file.path, (off_t)size), 0);
    CU_ASSERT_EQUAL(utimensat(AT_FDCWD, file.path, times, 0), 0);
}

static bool has_file(const char *name)
{
    char path[512];
    struct stat file;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &file) == 0;
}

static void test_the_oldest_go_where_the_folder_is_full(void)
{
    struct counts counts;
    compiled_by_check("pooling_max");
    uint64_t size = size_of_folder();
    write_old("0000000000000000.program", 1000000, 3);
    write_old("ffffffffffffffff.program", 3600 * 24, 3);
    write_old("notes.txt", 1000000, 3);
    glcnn_device *on = open_counting(folder, &counts);
    on->binaries->capacity = size;
    CU_ASSERT_EQUAL(failures(on, "neuron"), 0);
    CU_ASSERT_FALSE(has_file("0000000000000000.program"));
    CU_ASSERT_FALSE(has_file("ffffffffffffffff.program"));
    CU_ASSERT(has_file("notes.txt"));
    CU_ASSERT(size_of_folder() <= size + 3);
    CU_ASSERT(size_of_folder() > size / 2);
    glcnn_device_destroy(&on);
    folder_empty(folder);
}

static void test_what_is_used_stays_young(void)
{
    struct counts counts;
    static struct file files[MANY];
    compiled_by_check("neuron");
    size_t entries = read_folder(files);
    const struct timespec times[2] = {{time(NULL) - 1000000, 0}, {time(NULL) - 1000000, 0}};
    for (size_t i = 0; i < entries; i++)
        CU_ASSERT_EQUAL(utimensat(AT_FDCWD, files[i].path, times, 0), 0);
    CU_ASSERT_EQUAL(compiled_by_check("neuron"), 0);
    uint64_t size = size_of_folder();
    write_old("0123456789abcdef.program", 100000, 2 * size);
    glcnn_device *on = open_counting(folder, &counts);
    on->binaries->capacity = 3 * size;
    CU_ASSERT_EQUAL(failures(on, "soft_max"), 0);
    CU_ASSERT_FALSE(has_file("0123456789abcdef.program"));
    glcnn_device_destroy(&on);
    CU_ASSERT_EQUAL(compiled_by_check("neuron"), 0);
    for (size_t i = 0; i < entries; i++)
        free(files[i].bytes);
    folder_empty(folder);
}

static void test_what_a_killed_process_left_is_removed(void)
{
    write_old("0123456789abcdef.program.17-0.tmp", 100000, 3);
    write_old("0123456789abcdef.program.18-0.tmp", 10, 3);
    compiled_by_check("neuron");
    CU_ASSERT_FALSE(has_file("0123456789abcdef.program.17-0.tmp"));
    CU_ASSERT(has_file("0123456789abcdef.program.18-0.tmp"));
    folder_empty(folder);
}

/* ---- Many at once ---- */

static void *check_in_thread(void *result)
{
    size_t failed = 1;
    glcnn_device *on;
    if (glcnn_device_create(NULL, &on) == GLCNN_SUCCESS)
        glcnn_check(on, "neuron", true, NULL, NULL, &failed);
    glcnn_device_destroy(&on);
    *(size_t *)result = failed;
    return NULL;
}

static void test_threads_share_a_folder(void)
{
    pthread_t threads[4];
    size_t failed[4];
    setenv("GLCNN_CACHE_DIR", folder, 1);
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, check_in_thread, &failed[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        CU_ASSERT_EQUAL(failed[i], 0);
    }
    setenv("GLCNN_CACHE_DIR", "off", 1);
    size_t files = folder_count_files(folder);
    CU_ASSERT_EQUAL(compiled_by_check("neuron"), 0);
    CU_ASSERT_EQUAL(folder_count_files(folder), files); /* and no temporary one is left */
    struct counts counts;
    glcnn_device *on = open_counting("off", &counts);
    CU_ASSERT_EQUAL(failures(on, "neuron"), 0);
    CU_ASSERT_EQUAL(files, counts.begun);
    glcnn_device_destroy(&on);
    folder_empty(folder);
}

static void test_a_folder_that_vanishes_is_remade(void)
{
    struct counts counts;
    char below[300];
    snprintf(below, sizeof below, "%s/a/b", folder);
    glcnn_device *on = open_counting(below, &counts);
    CU_ASSERT_EQUAL(failures(on, "neuron"), 0);
    size_t files = folder_count_files(below);
    CU_ASSERT_EQUAL(files, counts.begun);
    folder_empty(below);
    rmdir(below);
    CU_ASSERT_EQUAL(failures(on, "soft_max"), 0);
    CU_ASSERT_EQUAL(folder_count_files(below), counts.begun - files);
    glcnn_device_destroy(&on);
    folder_empty(below);
    rmdir(below);
    folder_empty(folder);
}

/* ---- Where it is ---- */

/* Folders below /dev/null cannot be made: a device that stores what it compiled leaves nothing there. */
static const char *folder_of(const char *wanted, const char *cache, const char *home)
{
    static char path[512];
    static const char *const names[] = {"GLCNN_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
    const char *values[] = {wanted, cache, home};
    glcnn_device *on = NULL;
    for (int i = 0; i < 3; i++)
        if (!values[i] || setenv(names[i], values[i], 1) != 0)
            unsetenv(names[i]);
    GOOD_FATAL(glcnn_device_create(NULL, &on));
    snprintf(path, sizeof path, "%s", on->binaries ? on->binaries->path : "none");
    CU_ASSERT_STRING_EQUAL(glcnn_device_info(on)->program_folder,
                           on->binaries ? on->binaries->path : "");
    glcnn_device_destroy(&on);
    return path;
}

static void test_the_environment_says_where(void)
{
    char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    const int here = open(".", O_RDONLY | O_DIRECTORY);
    CU_ASSERT_FATAL(here >= 0 && chdir("/dev") == 0);
    CU_ASSERT_STRING_EQUAL(folder_of("/dev/null/one", "/dev/null/two", "/dev/null/three"),
                           "/dev/null/one");
    CU_ASSERT_STRING_EQUAL(folder_of("null/one", "/dev/null/two", "/dev/null/three"), "null/one");
    CU_ASSERT_STRING_EQUAL(folder_of("off", "/dev/null/two", "/dev/null/three"), "none");
    CU_ASSERT_STRING_EQUAL(folder_of("", "/dev/null/two", "/dev/null/three"),
                           "/dev/null/two/glcnn");
    CU_ASSERT_STRING_EQUAL(folder_of(NULL, "/dev/null/two", "/dev/null/three"),
                           "/dev/null/two/glcnn");
    CU_ASSERT_STRING_EQUAL(folder_of(NULL, "two", "/dev/null/three"),
                           "/dev/null/three/.cache/glcnn");
    CU_ASSERT_STRING_EQUAL(folder_of(NULL, "", "/dev/null/three"), "/dev/null/three/.cache/glcnn");
    CU_ASSERT_STRING_EQUAL(folder_of(NULL, NULL, "/dev/null/three"),
                           "/dev/null/three/.cache/glcnn");
    CU_ASSERT_STRING_EQUAL(folder_of(NULL, NULL, NULL), "none");
    unsetenv("XDG_CACHE_HOME");
    setenv("GLCNN_CACHE_DIR", "off", 1);
    if (home)
        setenv("HOME", home, 1);
    free(home);
    CU_ASSERT_EQUAL(fchdir(here), 0);
    close(here);
}

/* What the program says counts more than the environment. */
static void test_a_program_says_where(void)
{
    static const char *const rows[][2] = {{"/dev/null/one", "/dev/null/one"},
                                          {"off", ""},
                                          {"", "/dev/null/two"},
                                          {NULL, "/dev/null/two"}};
    setenv("GLCNN_CACHE_DIR", "/dev/null/two", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        glcnn_device *on = NULL;
        GOOD_FATAL(glcnn_device_create(
            &(struct glcnn_device_parameters){.program_folder = rows[i][0]}, &on));
        CU_ASSERT_STRING_EQUAL(glcnn_device_info(on)->program_folder, rows[i][1]);
        glcnn_device_destroy(&on);
    }
    setenv("GLCNN_CACHE_DIR", "off", 1);
}

static void test_a_folder_that_cannot_be_written_is_told_once(void)
{
    struct counts counts;
    glcnn_device *on = open_counting("/dev/null/none", &counts);
    CU_ASSERT_EQUAL(failures(on, "neuron"), 0);
    const char *message = strstr(said, "/dev/null/none cannot be written: Not a directory");
    CU_ASSERT_PTR_NOT_NULL_FATAL(message);
    CU_ASSERT_PTR_NULL(strstr(strchr(message, '\n'), "cannot be written"));
    CU_ASSERT_STRING_EQUAL(glcnn_device_error(on), "");
    glcnn_device_destroy(&on);
}

/* Mesa has no formats of binaries where its own cache is off. */
static void test_a_driver_without_binaries_compiles(void)
{
    struct counts counts;
    setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
    glcnn_device *on = open_counting(folder, &counts);
    unsetenv("MESA_SHADER_CACHE_DISABLE");
    GLint formats = -1;
    on->gl.GetIntegerv(GL_NUM_PROGRAM_BINARY_FORMATS, &formats);
    CU_ASSERT_EQUAL(formats == 0, on->binaries == NULL);
    CU_ASSERT_EQUAL(failures(on, "neuron"), 0);
    CU_ASSERT(counts.begun > 0);
    CU_ASSERT_EQUAL(folder_count_files(folder), formats == 0 ? 0 : counts.begun);
    glcnn_device_destroy(&on);
    folder_empty(folder);
}

static bool driver_has_binaries(void)
{
    GLint formats = 0;
    bool opened = fixture_open();
    if (opened)
        device->gl.GetIntegerv(GL_NUM_PROGRAM_BINARY_FORMATS, &formats);
    fixture_close();
    return !opened || formats > 0;
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_the_second_start_of_a_net_compiles_nothing),
        UNIT_TEST(test_a_damaged_entry_is_recompiled_and_rewritten),
        UNIT_TEST(test_a_file_is_known_by_its_whole_key),
        UNIT_TEST(test_another_driver_or_version_compiles_for_itself),
        UNIT_TEST(test_a_binary_that_does_not_run_is_recompiled),
        UNIT_TEST(test_the_oldest_go_where_the_folder_is_full),
        UNIT_TEST(test_what_is_used_stays_young),
        UNIT_TEST(test_what_a_killed_process_left_is_removed),
        UNIT_TEST(test_threads_share_a_folder),
        UNIT_TEST(test_a_folder_that_vanishes_is_remade),
        UNIT_TEST(test_the_environment_says_where),
        UNIT_TEST(test_a_program_says_where),
        UNIT_TEST(test_a_folder_that_cannot_be_written_is_told_once),
        UNIT_TEST(test_a_driver_without_binaries_compiles),
        CU_TEST_INFO_NULL,
    };
    const char *temporary = getenv("TMPDIR");
    setenv("GLCNN_CACHE_DIR", "off", 1);
    snprintf(base, sizeof base, "%.150s/glcnn-XXXXXX", temporary ? temporary : "/tmp");
    snprintf(folder, sizeof folder, "%s/programs", mkdtemp(base));
    if (!driver_has_binaries()) {
        printf("the driver has no binaries of programs\n");
        return rmdir(base) ? EXIT_FAILURE : 77;
    }
    mkdir(folder, 0700);
    int result = fixture_run("binaries", tests, argc, argv);
    rmdir(folder);
    folder_empty(base);
    return rmdir(base) ? EXIT_FAILURE : result;
}
