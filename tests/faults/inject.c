/* Counting calls of memory, files and EGL, and failing those that a test wants to fail. */
#include "tests/faults/inject.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/faults/wraps.h"

static struct {
    enum fault_kind kind;
    size_t at, calls[FAULT_KINDS];
    bool all, hit, paused;
} fault;
static struct fault_balance balance;

/* What the disk has of files that are written. */
#define MOST_FILES 1024
static struct {
    bool unsynced[MOST_FILES]; /* by descriptor: bytes were written since the last fsync */
    bool early;                /* a file was renamed before its bytes were on the disk */
    bool name_unsynced;        /* of a renamed file: its folder is not on the disk */
    bool sync_hit;             /* an fsync was made to fail */
    bool used_standard;        /* bytes went through a descriptor below 3 */
} disk;

/* ---- Which call fails ---- */

void fault_arm(enum fault_kind kind, size_t at, bool all)
{
    memset(&fault, 0, sizeof fault);
    memset(&disk, 0, sizeof disk);
    fault.kind = kind;
    fault.at = at;
    fault.all = all;
    cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = __wrap_malloc, .free_fn = __wrap_free});
}

void fault_end(void)
{
    fault.at = 0;
}

void fault_pause(bool pause)
{
    fault.paused = pause;
}

bool fault_has_hit(void)
{
    return fault.hit;
}

size_t fault_calls(enum fault_kind kind)
{
    return fault.calls[kind];
}

struct fault_balance fault_balance(void)
{
    return balance;
}

struct fault_balance *fault_count(void)
{
    return &balance;
}

bool fault_hits(enum fault_kind kind)
{
    if (fault.paused)
        return false;
    size_t call = ++fault.calls[kind];
    bool hits = fault.at && kind == fault.kind && (fault.all ? call >= fault.at : call == fault.at);
    fault.hit |= hits;
    return hits;
}

/* ---- Memory ---- */

static void *counted(void *block)
{
    balance.blocks += block != NULL;
    return block;
}

static bool no_memory(void)
{
    bool hits = fault_hits(FAULT_MEMORY);
    if (hits)
        errno = ENOMEM;
    return hits;
}

void *__wrap_malloc(size_t size)
{
    return no_memory() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return no_memory() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *block, size_t size)
{
    if (no_memory())
        return NULL;
    return block ? __real_realloc(block, size) : counted(__real_realloc(NULL, size));
}

char *__wrap_strdup(const char *text)
{
    return no_memory() ? NULL : counted(__real_strdup(text));
}

char *__wrap_strndup(const char *text, size_t length)
{
    return no_memory() ? NULL : counted(__real_strndup(text, length));
}

char *__wrap_realpath(const char *path, char *resolved)
{
    if (no_memory())
        return NULL;
    char *result = __real_realpath(path, resolved);
    return resolved ? result : counted(result);
}

void __wrap_free(void *block)
{
    balance.blocks -= block != NULL;
    __real_free(block);
}

/* ---- Files ---- */

static bool no_file(int reason)
{
    bool hits = fault_hits(FAULT_FILE);
    if (hits)
        errno = reason;
    return hits;
}

/* The number that the next file gets, that of standard input, is free. */
static bool is_low;

static void free_standard_input(void)
{
    if (fault_hits(FAULT_LOW) && !is_low)
        is_low = __real_close(STDIN_FILENO) == 0;
}

static void note_use(int descriptor)
{
    disk.used_standard |= is_low && descriptor >= 0 && descriptor <= STDERR_FILENO;
}

bool fault_used_standard(void)
{
    return disk.used_standard;
}

int __wrap_open(const char *path, int flags, int mode)
{
    free_standard_input();
    int descriptor = no_file(EMFILE) ? -1 : __real_open(path, flags, mode);
    balance.descriptors += descriptor >= 0;
    return descriptor;
}

/* For descriptors that are counted. */
static void set_unsynced(int descriptor, bool unsynced)
{
    if (descriptor >= 0 && descriptor < MOST_FILES)
        disk.unsynced[descriptor] = unsynced;
}

bool fault_hit_sync(void)
{
    return disk.sync_hit;
}

bool fault_survives_power_loss(void)
{
    return !disk.early && !disk.name_unsynced;
}

int __wrap_fcntl(int descriptor, int command, long argument)
{
    int result = __real_fcntl(descriptor, command, argument);
    balance.descriptors += command == F_DUPFD_CLOEXEC && result >= 0;
    return result;
}

/* The descriptor is gone even where closing it fails. */
int __wrap_close(int descriptor)
{
    bool fails = no_file(EIO);
    int result = __real_close(descriptor);
    set_unsynced(descriptor, false);
    balance.descriptors -= result == 0;
    if (fails)
        errno = EIO;
    return fails ? -1 : result;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    free_standard_input();
    FILE *file = no_file(EMFILE) ? NULL : __real_fopen(path, mode);
    balance.descriptors += file != NULL;
    return file;
}

int __wrap_fclose(FILE *file)
{
    bool fails = no_file(EIO);
    int result = __real_fclose(file);
    balance.descriptors--;
    if (fails)
        errno = EIO;
    return fails ? EOF : result;
}

ssize_t __wrap_read(int descriptor, void *bytes, size_t size)
{
    note_use(descriptor);
    return no_file(EIO) ? -1 : __real_read(descriptor, bytes, size);
}

ssize_t __wrap_pread(int descriptor, void *bytes, size_t size, off_t at)
{
    note_use(descriptor);
    return no_file(EIO) ? -1 : __real_pread(descriptor, bytes, size, at);
}

ssize_t __wrap_write(int descriptor, const void *bytes, size_t size)
{
    if (no_file(ENOSPC))
        return -1;
    note_use(descriptor);
    set_unsynced(descriptor, true);
    return __real_write(descriptor, bytes, size);
}

static bool stream_fails;

size_t __wrap_fread(void *bytes, size_t size, size_t count, FILE *file)
{
    note_use(fileno(file));
    stream_fails = no_file(EIO);
    return stream_fails ? 0 : __real_fread(bytes, size, count, file);
}

/* The stream of the last fread has no error of its own where that was made to fail. */
int __wrap_ferror(FILE *file)
{
    return stream_fails || __real_ferror(file);
}

int __wrap_fsync(int descriptor)
{
    struct stat info;
    if (no_file(EIO)) {
        disk.sync_hit = true;
        return -1;
    }
    set_unsynced(descriptor, false);
    if (fstat(descriptor, &info) == 0 && S_ISDIR(info.st_mode))
        disk.name_unsynced = false;
    return __real_fsync(descriptor);
}

int __wrap_rename(const char *from, const char *to)
{
    if (no_file(EXDEV))
        return -1;
    if (strstr(to, ".program")) /* is not believed where bytes of it are missing */
        return __real_rename(from, to);
    disk.early |= memchr(disk.unsynced, true, sizeof disk.unsynced) != NULL;
    disk.name_unsynced = true;
    return __real_rename(from, to);
}

/* ---- Clocks ---- */

#define DAY 86400

static struct {
    bool hangs;           /* time passes where it is waited for, at once */
    uint64_t passed;      /* nanoseconds of that */
    time_t steady, dated; /* seconds that the clocks were set by */
} clocks;

void fault_pass_time(uint64_t nanoseconds)
{
    clocks.hangs = true;
    clocks.passed += nanoseconds;
}

void fault_mend(void)
{
    memset(&clocks, 0, sizeof clocks);
    if (is_low && __real_open("/dev/null", O_RDONLY, 0) == STDIN_FILENO)
        is_low = false;
}

static void set_clocks(void)
{
    if (!fault_hits(FAULT_CLOCK))
        return;
    clocks.steady = DAY;
    clocks.dated = fault.at % 2 ? DAY : -DAY;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    set_clocks();
    int result = __real_clock_gettime(clock, now);
    uint64_t nanoseconds = (uint64_t)now->tv_nsec + clocks.passed % 1000000000;
    now->tv_sec += (clock == CLOCK_REALTIME ? clocks.dated : clocks.steady) +
                   (time_t)(clocks.passed / 1000000000 + nanoseconds / 1000000000);
    now->tv_nsec = (long)(nanoseconds % 1000000000);
    return result;
}

int __wrap_nanosleep(const struct timespec *length, struct timespec *left)
{
    if (!clocks.hangs)
        return __real_nanosleep(length, left);
    fault_pass_time((uint64_t)length->tv_sec * 1000000000 + (uint64_t)length->tv_nsec);
    return 0;
}

time_t __wrap_time(time_t *now)
{
    set_clocks();
    time_t found = __real_time(NULL) + clocks.dated;
    if (now)
        *now = found;
    return found;
}
