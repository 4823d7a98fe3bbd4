/* The log of glcnn train; one that is gone on with loses the lines of steps that are done again. */
#include "train_log.h"

#include <errno.h>
#include <fcntl.h>
#include <glcnn/io.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first line, for what is measured. */
static void name_columns(struct train_log *log, const char *measure)
{
    snprintf(log->header, sizeof log->header,
             "step,epoch,learning_rate,loss,%s,validation_loss,validation_%s\n", measure, measure);
}

static bool fail(const char *path, const char *what, int reason, char error[GLCNN_ERROR_LENGTH])
{
    snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: %s: %s", path, what, strerror(reason));
    return false;
}

/* The step of a line that has its end; 0: of none. */
static uint64_t step_of(const char *line, size_t length)
{
    char *end;
    uint64_t step = strtoull(line, &end, 10);
    return *end == ',' && line[length - 1] == '\n' ? step : 0;
}

/* The steps from `next` on up to `step` have no lines. Several gaps are told as one. */
static void note_gap(struct train_log *log, uint64_t next, uint64_t step)
{
    if (next > step)
        return;
    log->gap_first = log->gap_first ? log->gap_first : next;
    log->gap_last = step;
}

/* Copies the lines of steps up to `first`. */
static bool copy_lines(struct train_log *log, FILE *from, glcnn_file *to, uint64_t first,
                       char error[GLCNN_ERROR_LENGTH])
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    uint64_t next = 0; /* the step that a line is to be of; 0: any */
    bool good = glcnn_file_write(to, log->header, strlen(log->header), error) == GLCNN_SUCCESS;
    while (good && (length = getline(&line, &capacity, from)) > 0) {
        uint64_t step = step_of(line, (size_t)length);
        if (step == 0 || step > first)
            continue;
        if (next > 0)
            note_gap(log, next, step - 1);
        next = step + 1;
        good = glcnn_file_write(to, line, (size_t)length, error) == GLCNN_SUCCESS;
    }
    note_gap(log, next > 0 ? next : 1, first);
    free(line);
    return good;
}

static FILE *open_old(const char *path, char error[GLCNN_ERROR_LENGTH])
{
    int descriptor;
    if (glcnn_file_open(path, &descriptor, NULL, error) != GLCNN_SUCCESS)
        return NULL;
    FILE *file = fdopen(descriptor, "r");
    if (!file) {
        fail(path, "cannot be opened", errno, error);
        close(descriptor);
    }
    return file;
}

/* Replaces the log by the lines that are kept. */
static bool cut(struct train_log *log, uint64_t first, char error[GLCNN_ERROR_LENGTH])
{
    const char *path = log->path;
    glcnn_file *to = NULL;
    FILE *from = open_old(path, error);
    if (!from)
        return false;
    bool good = glcnn_file_create(path, &to, error) == GLCNN_SUCCESS &&
                copy_lines(log, from, to, first, error);
    if (good && ferror(from))
        good = fail(path, "cannot be read", errno, error);
    if (good)
        good = glcnn_file_commit(&to, error) == GLCNN_SUCCESS;
    glcnn_file_discard(&to);
    fclose(from);
    return good;
}

/* Opens what is there without waiting; then writing may wait. */
static FILE *open_end(const char *path, bool is_file, char error[GLCNN_ERROR_LENGTH])
{
    const int flags = is_file ? O_WRONLY | O_APPEND : O_WRONLY;
    int descriptor = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), reason = errno;
    FILE *file = descriptor >= 0 && fcntl(descriptor, F_SETFL, flags) == 0
                     ? fdopen(descriptor, is_file ? "a" : "w")
                     : NULL;
    if (file)
        return file;
    fail(path, "cannot be written", descriptor < 0 ? reason : errno, error);
    if (descriptor >= 0)
        close(descriptor);
    return NULL;
}

bool train_log_open(struct train_log *log, const char *path, const char *measure, uint64_t first,
                    char error[GLCNN_ERROR_LENGTH])
{
    struct stat old;
    *log = (struct train_log){.path = path};
    name_columns(log, measure);
    if (!path)
        return true;
    bool exists = stat(path, &old) == 0, is_file = !exists || S_ISREG(old.st_mode);
    bool goes_on = first > 0 && exists && is_file;
    if (goes_on && !cut(log, first, error))
        return false;
    if (is_file && !goes_on &&
        glcnn_file_save(path, log->header, strlen(log->header), error) != GLCNN_SUCCESS)
        return false;
    log->file = open_end(path, is_file, error);
    if (!log->file)
        return false;
    setvbuf(log->file, NULL, _IOLBF, BUFSIZ); /* what a killed run has done is there */
    if (!is_file && fputs(log->header, log->file) < 0)
        log->error = errno;
    return true;
}

/* Nothing for NaN. */
static void describe(double value, int digits, char text[32])
{
    text[0] = 0;
    if (!isnan(value))
        snprintf(text, 32, "%.*g", digits, value);
}

void train_log_write(struct train_log *log, const struct train_log_line *line)
{
    char accuracy[32], validation_loss[32], validation_accuracy[32];
    if (!log->file)
        return;
    describe(line->accuracy, 6, accuracy);
    describe(line->validation_loss, 9, validation_loss);
    describe(line->validation_accuracy, 6, validation_accuracy);
    if (fprintf(log->file, "%" PRIu64 ",%" PRIu64 ",%.9g,%.9g,%s,%s,%s\n", line->step, line->epoch,
                line->learning_rate, line->loss, accuracy, validation_loss,
                validation_accuracy) < 0 &&
        !log->error)
        log->error = errno;
}

/* Devices and pipes know nothing of syncing. */
void train_log_sync(struct train_log *log)
{
    int result;
    if (!log->file)
        return;
    do
        result = fsync(fileno(log->file));
    while (result != 0 && errno == EINTR);
    if (result != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS && !log->error)
        log->error = errno;
}

bool train_log_close(struct train_log *log, char error[GLCNN_ERROR_LENGTH])
{
    if (log->file && fclose(log->file) != 0 && !log->error)
        log->error = errno;
    log->file = NULL;
    const int reason = log->error;
    log->error = 0;
    return !reason || fail(log->path, "cannot be written", reason, error);
}
