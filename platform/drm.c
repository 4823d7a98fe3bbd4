/* Nodes of DRM, by the folder /dev/dri and the kernel's own requests rather than by libdrm, which knows
 * no devices but those on buses of its time, and which not every system has.
 */
#define _POSIX_C_SOURCE 200809L

#include "platform/drm.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "platform/descriptors.h"
#include "platform/drm_abi.h"

static bool parse_name(const char *name, struct drm_node *node)
{
    static const struct {
        const char *format;
        bool render;
    } kinds[] = {{"renderD%u%n", true}, {"card%u%n", false}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        int length = 0;
        if (sscanf(name, kinds[i].format, &node->number, &length) == 1 && name[length] == '\0') {
            node->render = kinds[i].render;
            return true;
        }
    }
    return false;
}

static int by_kind_and_number(const void *left, const void *right)
{
    const struct drm_node *a = left, *b = right;
    if (a->render != b->render)
        return a->render ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

size_t drm_scan(const char *folder, struct drm_node *nodes, size_t capacity)
{
    DIR *directory = opendir(folder);
    size_t count = 0;
    if (directory == NULL)
        return 0;
    for (struct dirent *entry; count < capacity && (entry = readdir(directory)) != NULL;) {
        struct drm_node *node = &nodes[count];
        if (!parse_name(entry->d_name, node))
            continue;
        int length = snprintf(node->path, sizeof node->path, "%s/%s", folder, entry->d_name);
        count += length > 0 && (size_t)length < sizeof node->path;
    }
    closedir(directory);
    qsort(nodes, count, sizeof nodes[0], by_kind_and_number);
    return count;
}

/* DRM's minor numbers go by 64: cards, a kind that is gone, render nodes. Above those they may be of
 * any kind. */
static bool is_render_node(dev_t id)
{
    return major(id) == DRM_MAJOR && minor(id) / 64 == 2;
}

/* The render node of the device that a node belongs to; false where there is none. */
static bool find_render_node(const char *path, dev_t id, char *render, size_t size)
{
    char folder[64];
    struct drm_node nodes[8];
    snprintf(render, size, "%s", path);
    if (is_render_node(id))
        return true;
    snprintf(folder, sizeof folder, "/sys/dev/char/%u:%u/device/drm", major(id), minor(id));
    if (drm_scan(folder, nodes, sizeof nodes / sizeof nodes[0]) == 0 || !nodes[0].render)
        return false;
    snprintf(render, size, "/dev/dri/renderD%u", nodes[0].number);
    return true;
}

static bool driver_by_version(const char *path, char *name, size_t size)
{
    int fd = descriptor_above_standard(open(path, O_RDWR | O_CLOEXEC));
    if (fd < 0)
        return false;
    struct drm_version version = {.name = name, .name_len = size - 1};
    bool good = ioctl(fd, DRM_IOCTL_VERSION, &version) == 0;
    name[good && version.name_len < size ? version.name_len : size - 1] = '\0';
    close(fd);
    return good;
}

/* Without opening the node: the driver of the device behind it, which is mostly named alike. */
static void driver_by_sysfs(dev_t id, char *name, size_t size)
{
    char link[96], target[256];
    snprintf(link, sizeof link, "/sys/dev/char/%u:%u/device/driver", major(id), minor(id));
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (length <= 0)
        return;
    target[length] = '\0';
    const char *slash = strrchr(target, '/');
    snprintf(name, size, "%s", slash != NULL ? slash + 1 : target);
}

void drm_driver_name(const char *path, char *name, size_t size)
{
    struct stat status;
    char render[64];
    name[0] = '\0';
    if (stat(path, &status) != 0 || !S_ISCHR(status.st_mode))
        return;
    if (!find_render_node(path, status.st_rdev, render, sizeof render) ||
        !driver_by_version(render, name, size))
        driver_by_sysfs(status.st_rdev, name, size);
}

/* "group 'render'", or by number where the group has no name here. */
static void group_name(gid_t id, char *text, size_t size)
{
    struct group group, *found = NULL;
    char strings[4096];
    if (getgrgid_r(id, &group, strings, sizeof strings, &found) == 0 && found != NULL)
        snprintf(text, size, "'%s'", found->gr_name);
    else
        snprintf(text, size, "%lu", (unsigned long)id);
}

bool drm_denied(const char *path, char text[PLATFORM_TEXT])
{
    struct stat status;
    char group[64];
    if (faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0 || errno != EACCES)
        return false;
    snprintf(text, PLATFORM_TEXT, "no permission to open it");
    if (stat(path, &status) != 0)
        return true;
    group_name(status.st_gid, group, sizeof group);
    if (status.st_gid != 0 && (status.st_mode & S_IRGRP) && (status.st_mode & S_IWGRP))
        snprintf(text, PLATFORM_TEXT,
                 "no permission to open it: add the user to group %s, which owns this node, and "
                 "log in again",
                 group);
    else
        snprintf(text, PLATFORM_TEXT,
                 "no permission to open it, and its mode %04o with group %s gives no group access: "
                 "give it to group 'render' with mode 0660",
                 (unsigned)(status.st_mode & 07777), group);
    return true;
}

bool drm_same_node(const char *a, const char *b)
{
    struct stat left, right;
    if (strcmp(a, b) == 0)
        return true;
    return stat(a, &left) == 0 && stat(b, &right) == 0 && S_ISCHR(left.st_mode) &&
           S_ISCHR(right.st_mode) && left.st_rdev == right.st_rdev;
}

int drm_open(const char *path)
{
    struct stat status;
    int fd = descriptor_above_standard(open(path, O_RDWR | O_CLOEXEC));
    if (fd >= 0 && fstat(fd, &status) == 0 && !is_render_node(status.st_rdev))
        ioctl(fd, DRM_IOCTL_DROP_MASTER, 0);
    return fd;
}
