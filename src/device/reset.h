/* How a lost device is noticed, and what is told of it: whose fault it was, and which passes were
 * in flight. */
#ifndef GLCNN_RESET_H
#define GLCNN_RESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "glcnn/status.h"
#include "device/gl.h"

struct glcnn_device;
struct glcnn_buffer;
struct pass;

#define PASSES_NOTED 256
#define KERNEL_NAME  48
#define LOSS_TEXT    420 /* bytes of the message that tells of a loss */
#define COMMITS_KEPT 64

/* A pass that was issued. */
struct noted_pass {
    uint64_t serial;
    const char *shader;
    char kernel[KERNEL_NAME]; /* "" for none */
};

/* Drivers without reset notification (V3D, Panfrost) finish the commits behind a reset and tell
 * nothing of those that the reset dropped, and one that has it may drop passes without a reset. So each
 * commit ends with a pass that adds one to a number in a buffer: if fewer are counted than were issued,
 * some were dropped. */
struct commit_count {
    struct glcnn_buffer *buffer;    /* NULL: the driver runs nothing, so that nothing is counted */
    struct pass *pass;              /* that counts */
    GLuint uniforms;                /* of it; 0: none yet */
    uint32_t issued;                /* commits that the number will have counted */
    uint64_t serials[COMMITS_KEPT]; /* of the passes that count the last of them, a ring */
    uint64_t checked;               /* passes up to this serial number are known to have run */
    bool proven;                    /* it has counted once, when the device was opened */
    /* An error of GL was told since it was compared: what a pass was to be bound to may have stayed
     * bound to the number, or the pass that counts have run all the same. */
    bool doubted;
};

struct reset_watch {
    struct noted_pass passes[PASSES_NOTED]; /* the last ones, a ring */
    size_t noted;                           /* passes so far */
    struct commit_count count;
    char loss[LOSS_TEXT]; /* why the device was lost */
};

/* True if the driver tells of resets. */
bool reset_is_told(const struct glcnn_device *device);

/* Notes the pass that was issued last; `shader` lives as long as the library. */
void reset_note_pass(struct glcnn_device *device, const char *shader, const char *kernel);

/* Marks the device as lost: "WHERE: WHY; passes in flight: ..". Gives GLCNN_DEVICE_LOST. */
glcnn_status reset_lose(struct glcnn_device *device, const char *where, const char *why);

/* As device_check, and asks the driver whether the context was reset. Stands behind every commit,
 * every wait, and everything that the processor reads of the device's memory. */
glcnn_status reset_check(struct glcnn_device *device, const char *where);

/* Behind a wait, once progress.completed is set: whether all commits that have finished were
 * counted. Not looked at where more than COMMITS_KEPT are still in flight; nothing is said of a driver
 * that has never counted, which runs nothing at all (commit_count_create). */
glcnn_status reset_check_count(struct glcnn_device *device, const char *where);

/* Before a commit: takes the number for what it is, once all that was committed has finished, where it is
 * doubted. */
glcnn_status reset_recount(struct glcnn_device *device, const char *where);

/* Why a loss is assumed, by what glGetError has said last: its code and name, NULL for none. NULL:
 * there is no loss. Asks the driver, which may tell of a reset only once. */
const char *reset_reason(const struct glcnn_device *device, GLenum code, const char *name);

#endif
