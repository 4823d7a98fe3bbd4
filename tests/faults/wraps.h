/* Private to tests/faults: what the linker gives and takes, and the counters behind it. */
#ifndef GLCNN_TESTS_FAULTS_WRAPS_H
#define GLCNN_TESTS_FAULTS_WRAPS_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#include "tests/faults/inject.h"

/* Counts a call of the kind; whether it is one that fails. */
bool fault_hits(enum fault_kind kind);
struct fault_balance *fault_count(void);
/* Lets the clocks go on by so many nanoseconds, which nobody waits for. */
void fault_pass_time(uint64_t nanoseconds);
/* Clocks and descriptors are well again. */
void fault_mend(void);

/* The function as it is, and as the library gets it. Names of the linker's option --wrap. */
#define WRAPPED(type, name, ...)                                                                   \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__);

WRAPPED(void *, malloc, size_t size)
WRAPPED(void *, calloc, size_t count, size_t size)
WRAPPED(void *, realloc, void *block, size_t size)
WRAPPED(void, free, void *block)
WRAPPED(char *, strdup, const char *text)
WRAPPED(char *, strndup, const char *text, size_t length)
WRAPPED(char *, realpath, const char *path, char *resolved)
WRAPPED(int, open, const char *path, int flags, int mode)
WRAPPED(int, fcntl, int descriptor, int command, long argument)
WRAPPED(int, close, int descriptor)
WRAPPED(FILE *, fopen, const char *path, const char *mode)
WRAPPED(int, fclose, FILE *file)
WRAPPED(ssize_t, read, int descriptor, void *bytes, size_t size)
WRAPPED(ssize_t, pread, int descriptor, void *bytes, size_t size, off_t at)
WRAPPED(ssize_t, write, int descriptor, const void *bytes, size_t size)
WRAPPED(size_t, fread, void *bytes, size_t size, size_t count, FILE *file)
WRAPPED(int, ferror, FILE *file)
WRAPPED(int, fsync, int descriptor)
WRAPPED(int, rename, const char *from, const char *to)
WRAPPED(int, clock_gettime, clockid_t clock, struct timespec *now)
WRAPPED(int, nanosleep, const struct timespec *length, struct timespec *left)
WRAPPED(time_t, time, time_t *now)

#endif
