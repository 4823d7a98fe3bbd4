/* What a call reports: status codes, log levels and the marks of the public interface.
 *
 * The library never prints, exits or aborts. Every call that can fail returns a glcnn_status; the
 * device keeps the message that explains the last failure (glcnn_device_error) and the log
 * callback receives it. Where there is no device yet, glcnn_device_create gives the message to
 * the log callback of its parameters.
 */
#ifndef GLCNN_STATUS_H
#define GLCNN_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GLCNN_API __attribute__((visibility("default")))
#else
#define GLCNN_API
#endif

/* Version of this header. glcnn_version() gives that of the library at run time. */
#define GLCNN_VERSION_MAJOR 0
#define GLCNN_VERSION_MINOR 2
#define GLCNN_VERSION_PATCH 0

typedef enum glcnn_status {
    GLCNN_SUCCESS = 0,
    GLCNN_INVALID_ARGUMENT, /* an argument, shape, format or property is out of its legal range */
    GLCNN_INVALID_STATE,    /* the object cannot do this now: read count spent, wrong thread ... */
    GLCNN_UNSUPPORTED,      /* mathematics or MPS defines no such operation (no gradient, ...) */
    GLCNN_LIMIT_EXCEEDED,   /* the device's limits do not allow it, even folded */
    GLCNN_NO_DEVICE,        /* no device with OpenGL ES 3.1 compute could be opened */
    GLCNN_DEVICE_LOST,      /* reset or without progress: glcnn_device_is_lost, glcnn/device.h */
    GLCNN_OUT_OF_MEMORY,    /* of the host or of the device */
    GLCNN_SHADER_ERROR,     /* a shader was refused; the message names its file and line */
    GLCNN_IO_ERROR,         /* a file cannot be opened, read or written */
    GLCNN_MALFORMED_DATA,   /* a file or byte stream is truncated, oversized or of another kind */
    GLCNN_CHECK_FAILED,     /* a check of GLCNN_DEBUG found what it looks for (glcnn/device.h) */
    GLCNN_STATUS_FORCE32 = 0x7fffffff
} glcnn_status;

/* Bytes of an `error` that a caller passes for the message of a failure, the 0 that ends it
 * included. A longer message is cut. */
#define GLCNN_ERROR_LENGTH 512

typedef enum glcnn_log_level {
    GLCNN_LOG_ERROR = 0,
    GLCNN_LOG_WARNING = 1,
    GLCNN_LOG_INFO = 2,
    GLCNN_LOG_DEBUG = 3,
    GLCNN_LOG_FORCE32 = 0x7fffffff
} glcnn_log_level;

/* Receives one line without a line feed; `text` lives until it returns. It may call what is safe on
 * any thread, glcnn_status_text for one, and nothing of a device: the call that logs is not over.
 * Such calls are refused with GLCNN_INVALID_STATE, and are not logged.
 * Thread-safety: called on the thread that made the library call, so on several at once where a
 * device is called from several, as threads are that it does not belong to. */
typedef void (*glcnn_log_callback)(void *user, glcnn_log_level level, const char *text);

/* Name of a status in words, "invalid argument". Never NULL. Thread-safety: safe. */
GLCNN_API const char *glcnn_status_text(glcnn_status status);

/* "0.2.0" of the library in use. Thread-safety: safe. */
GLCNN_API const char *glcnn_version(void);

#ifdef __cplusplus
}
#endif
#endif
