/* Files of program binaries: a head, the whole key, the binary. A file's name is a hash of its key,
 * so the key in it distinguishes two programs of one hash. */
#include "record/binary_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "platform/descriptors.h"

#define MAGIC       0x31304e4e434c4721u /* also tells the order of bytes */
#define LARGEST     ((off_t)64 << 20)
#define YOUNG       (24 * 60 * 60) /* seconds: what is younger need not be made so again */
#define LONGEST     4096           /* bytes of a path */
#define BEHIND_HASH offsetof(struct head, key_size)

struct head {
    uint64_t magic;
    uint64_t hash; /* of all that follows */
    uint64_t key_size, size, format;
};

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * 1099511628211u;
    return hash;
}

size_t binary_file_size(const char *key, const struct binary *binary)
{
    return sizeof(struct head) + strlen(key) + binary->size;
}

/* ---- Reading ---- */

static bool read_all(int descriptor, unsigned char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t count = read(descriptor, bytes, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        bytes += count;
        size -= (size_t)count;
    }
    return true;
}

/* The driver is given what the file holds: it must be of somebody who could harm this process
 * anyway. */
static bool is_trusted(const struct stat *file)
{
    return S_ISREG(file->st_mode) && (file->st_uid == geteuid() || file->st_uid == 0) &&
           !(file->st_mode & (S_IWGRP | S_IWOTH)) && file->st_size <= LARGEST &&
           file->st_size > (off_t)sizeof(struct head);
}

/* The bytes of a file, the caller's to free; NULL where it is not to be read. */
static unsigned char *read_file(const char *path, size_t *size)
{
    struct stat file;
    int descriptor =
        descriptor_above_standard(open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (descriptor < 0)
        return NULL;
    unsigned char *bytes = NULL;
    if (fstat(descriptor, &file) == 0 && is_trusted(&file)) {
        *size = (size_t)file.st_size;
        bytes = malloc(*size);
    }
    if (bytes && !read_all(descriptor, bytes, *size)) {
        free(bytes);
        bytes = NULL;
    }
    if (bytes && time(NULL) - file.st_mtime > YOUNG)
        (void)futimens(descriptor, NULL);
    close(descriptor);
    return bytes;
}

/* True if the bytes are those of a file of that key, as it was written. */
static bool is_whole(const unsigned char *bytes, size_t size, const char *key, struct head *head)
{
    size_t key_size = strlen(key);
    memcpy(head, bytes, sizeof *head);
    return head->magic == MAGIC && head->key_size == key_size && size > sizeof *head + key_size &&
           head->size == size - sizeof *head - key_size &&
           memcmp(bytes + sizeof *head, key, key_size) == 0 &&
           head->hash == hash_bytes(HASH_BASIS, bytes + BEHIND_HASH, size - BEHIND_HASH);
}

bool binary_file_read(const char *path, const char *key, struct binary *binary)
{
    struct head head;
    size_t size = 0;
    unsigned char *bytes = read_file(path, &size);
    bool whole = bytes && is_whole(bytes, size, key, &head);
    if (whole) {
        memmove(bytes, bytes + size - head.size, (size_t)head.size);
        *binary = (struct binary){(uint32_t)head.format, (size_t)head.size, bytes};
    } else {
        free(bytes);
    }
    return whole;
}

/* ---- Writing ---- */

static bool write_all(int descriptor, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    while (size > 0) {
        ssize_t count = write(descriptor, at, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return false;
        at += count;
        size -= (size_t)count;
    }
    return true;
}

static struct head make_head(const char *key, size_t key_size, const struct binary *binary)
{
    struct head head = {
        .magic = MAGIC, .key_size = key_size, .size = binary->size, .format = binary->format};
    const unsigned char *bytes = (const unsigned char *)&head;
    uint64_t hash = hash_bytes(HASH_BASIS, bytes + BEHIND_HASH, sizeof head - BEHIND_HASH);
    hash = hash_bytes(hash, key, key_size);
    head.hash = hash_bytes(hash, binary->bytes, binary->size);
    return head;
}

static int write_beside(const char *path, const char *key, const struct binary *binary)
{
    size_t key_size = strlen(key);
    struct head head = make_head(key, key_size, binary);
    int descriptor = descriptor_above_standard(
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (descriptor < 0)
        return errno;
    bool good = write_all(descriptor, &head, sizeof head) && write_all(descriptor, key, key_size) &&
                write_all(descriptor, binary->bytes, binary->size);
    int error = good ? 0 : errno;
    if (close(descriptor) != 0 && !error)
        error = errno;
    if (error)
        unlink(path);
    return error;
}

/* No two writers have the same name: neither threads, nor processes, also of several machines that
 * share the folder, since O_EXCL refuses the second. */
int binary_file_write(const char *path, const char *key, const struct binary *binary)
{
    static atomic_uint number;
    char beside[LONGEST];
    int length = snprintf(beside, sizeof beside, "%s.%ld-%u.tmp", path, (long)getpid(),
                          atomic_fetch_add(&number, 1));
    if (length < 0 || (size_t)length >= sizeof beside)
        return ENAMETOOLONG;
    int error = write_beside(beside, key, binary);
    if (!error && rename(beside, path) != 0) {
        error = errno;
        unlink(beside);
    }
    return error;
}
