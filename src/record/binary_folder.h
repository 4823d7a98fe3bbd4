/* The folder of program binaries (glcnn_device_create): where it is, what lies in it, and how much.
 *
 * A file's key is the version of the library, the strings of the driver and the whole source of the
 * program: limits, traits and implementations shape a program only through its source. Any number of
 * processes and threads may use a folder at once: files are replaced by renaming, and one that
 * somebody removed meanwhile is made again. */
#ifndef GLCNN_BINARY_FOLDER_H
#define GLCNN_BINARY_FOLDER_H

#include "record/binary_file.h"
#include "device/device.h"

struct binary_folder {
    char *path;
    char *driver;      /* what the keys of all programs of the device begin with */
    uint64_t capacity; /* bytes; beyond them the files that were not used for longest go */
    uint64_t room;     /* bytes that may be written before the folder is looked at again */
    bool read_only;    /* a file could not be written: no more are tried */
};

/* The folder of that name, or that the environment wants where it is NULL. NULL where none is wanted
 * or the driver has no binaries; *status is GLCNN_OUT_OF_MEMORY where there was none for it. It need
 * not exist. */
struct binary_folder *binary_folder_open(struct glcnn_device *device, const char *name,
                                         glcnn_status *status);
void binary_folder_close(struct binary_folder *folder);

/* A file of the folder is known by the source of its program. False: there is none to be used. */
bool binary_folder_read(const struct binary_folder *folder, const char *source,
                        struct binary *binary);
/* The device must have a folder. The first failure is told to the log and ends the writing. */
void binary_folder_write(struct glcnn_device *device, const char *source,
                         const struct binary *binary);

#endif
