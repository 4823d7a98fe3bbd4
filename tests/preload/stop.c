/* Stops a program at a call that is counted, not at a time. To be preloaded, with
 *
 *   STOP_CALLS=...   what is counted. A folder, with its slash: the calls that make, write, lock,
 *                    rename, remove and close its files or bring them to the disk. Or "clock": the
 *                    program's own reads of the clock, of which a step of training makes one at
 *                    least, from when it handles Ctrl-C
 *   STOP_AT=N        the call, from 1
 *   STOP_BY=...      KILL: the process is killed, within a write when half of it is done. INT,
 *                    TERM, HUP: it gets that signal, INT being Ctrl-C's. EIO: the call fails, of
 *                    files alone. ENOSPC: writes alone are counted, and all fail from that one on
 *   STOP_NOTE=FILE   gets the name of the call; without it the Nth was never reached
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define MAX_FILES 1024
static bool is_watched[MAX_FILES];
static long count;

static bool stops_by(const char *how)
{
    const char *by = getenv("STOP_BY");
    return by && strcmp(by, how) == 0;
}

static void note(const char *call)
{
    int file = REAL(open)(getenv("STOP_NOTE"), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (REAL(write)(file, call, strlen(call)) < 0 || REAL(close)(file) != 0)
        abort();
}

/* Whether this is the call to stop at. */
static bool is_last(void)
{
    const char *at = getenv("STOP_AT");
    return at && !stops_by("ENOSPC") && ++count == strtol(at, NULL, 10);
}

/* Whether the disk is full at this write. */
static bool is_full(void)
{
    const char *at = getenv("STOP_AT");
    if (!at || !stops_by("ENOSPC") || ++count < strtol(at, NULL, 10))
        return false;
    note("write");
    errno = ENOSPC;
    return true;
}

/* Whether the call is to fail, with errno. */
static bool strike(const char *call)
{
    if (!is_last())
        return false;
    note(call);
    if (!stops_by("EIO"))
        raise(stops_by("INT")    ? SIGINT
              : stops_by("TERM") ? SIGTERM
              : stops_by("HUP")  ? SIGHUP
                                 : SIGKILL);
    errno = EIO;
    return stops_by("EIO");
}

/* ---- Files ---- */

static bool is_ours(const char *path)
{
    const char *folder = getenv("STOP_CALLS");
    return folder && folder[0] == '/' && strncmp(path, folder, strlen(folder)) == 0;
}

static bool is_open_here(int file)
{
    return file >= 0 && file < MAX_FILES && is_watched[file];
}

static int watch(const char *path, int file)
{
    if (file >= 0 && file < MAX_FILES)
        is_watched[file] = is_ours(path);
    return file;
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    const char *call = flags & O_CREAT ? "create" : "open";
    return is_ours(path) && strike(call) ? -1 : watch(path, REAL(open)(path, flags, mode));
}

#if !defined(_FILE_OFFSET_BITS) || _FILE_OFFSET_BITS != 64
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
#endif

ssize_t write(int file, const void *bytes, size_t size)
{
    const char *at = getenv("STOP_AT");
    if (is_open_here(file) && stops_by("KILL") && at && count + 1 == strtol(at, NULL, 10) &&
        REAL(write)(file, bytes, size / 2) < 0)
        abort();
    if (is_open_here(file) && (is_full() || strike("write")))
        return -1;
    return REAL(write)(file, bytes, size);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t at)
{
    if (is_open_here(file) && (is_full() || strike("pwrite")))
        return -1;
    return REAL(pwrite)(file, bytes, size, at);
}

int fsync(int file)
{
    return is_open_here(file) && strike("fsync") ? -1 : REAL(fsync)(file);
}

int fchmod(int file, mode_t mode)
{
    return is_open_here(file) && strike("fchmod") ? -1 : REAL(fchmod)(file, mode);
}

int flock(int file, int how)
{
    return is_open_here(file) && strike("flock") ? -1 : REAL(flock)(file, how);
}

int rename(const char *from, const char *to)
{
    return is_ours(to) && strike("rename") ? -1 : REAL(rename)(from, to);
}

int unlink(const char *path)
{
    return is_ours(path) && strike("unlink") ? -1 : REAL(unlink)(path);
}

/* What fails is closed all the same. */
int close(int file)
{
    bool fails = is_open_here(file) && strike("close");
    if (file >= 0 && file < MAX_FILES)
        is_watched[file] = false;
    int result = REAL(close)(file);
    if (!fails)
        return result;
    errno = EIO;
    return -1;
}

/* ---- The clock ---- */

static bool is_of_program(const void *code)
{
    Dl_info of_program, of_code;
    return dladdr((void *)getauxval(AT_ENTRY), &of_program) && dladdr(code, &of_code) &&
           of_code.dli_fbase == of_program.dli_fbase;
}

static bool handles_interrupts(void)
{
    struct sigaction now;
    return sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler != SIG_DFL;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    const char *calls = getenv("STOP_CALLS");
    if (calls && strcmp(calls, "clock") == 0 && is_of_program(__builtin_return_address(0)) &&
        handles_interrupts())
        strike("clock_gettime");
    return REAL(clock_gettime)(clock, now);
}
