/* Moves a file or folder when a file is opened for the second time, which is when a picture that
 * was looked at is decoded: data that changes while it is used, at a call and not at a time. To be
 * preloaded, with MOVE_WHEN, the path of the file as the program has it, and MOVE_FROM and MOVE_TO.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int open(const char *path, int flags, ...)
{
    static atomic_int count;
    const char *when = getenv("MOVE_WHEN"), *from = getenv("MOVE_FROM"), *to = getenv("MOVE_TO");
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (when && from && to && strcmp(path, when) == 0 && atomic_fetch_add(&count, 1) == 1 &&
        rename(from, to) != 0)
        abort();
    return ((__typeof__(&open))dlsym(RTLD_NEXT, "open"))(path, flags, mode);
}

#if !defined(_FILE_OFFSET_BITS) || _FILE_OFFSET_BITS != 64
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
#endif
