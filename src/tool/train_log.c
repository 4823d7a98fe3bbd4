/* The log of glcnn train; one that is gone on with loses the lines of steps that are done again. */
#include "train_log.h"

#include <errno.h>
#include <glcnn/io.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char header[] =
    "step,epoch,learning_rate,loss,accuracy,validation_loss,validation_accuracy\n";

static bool fail(const char *path, const char *what, int reason, char error[GLCNN_ERROR_LENGTH])
{
    snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: %s: %s", path, what, strerror(reason));
    return false;
}

/* Whether a line, which has its end, is of a step up to `first`. */
static bool is_kept(const char *line, size_t length, uint64_t first)
{
    char *end;
    uint64_t step = strtoull(line, &end, 10);
    return step > 0 && step <= first && *end == ',' && line[length - 1] == '\n';
}

static bool copy_lines(FILE *from, glcnn_file *to, uint64_t first, char error[GLCNN_ERROR_LENGTH])
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    bool good = glcnn_file_write(to, header, sizeof header - 1, error) == GLCNN_SUCCESS;
    while (good && (length = getline(&line, &capacity, from)) > 0)
        if (is_kept(line, (size_t)length, first))
            good = glcnn_file_write(to, line, (size_t)length, error) == GLCNN_SUCCESS;
    free(line);
    return good;
}

/* Writes the log anew, with the lines that are kept. */
static bool cut(const char *path, uint64_t first, char error[GLCNN_ERROR_LENGTH])
{
    glcnn_file *to = NULL;
    FILE *from = fopen(path, "r");
    if (!from)
        return fail(path, "cannot be opened", errno, error);
    bool good =
        glcnn_file_create(path, &to, error) == GLCNN_SUCCESS && copy_lines(from, to, first, error);
    if (good && ferror(from))
        good = fail(path, "cannot be read", errno, error);
    if (good)
        good = glcnn_file_commit(&to, error) == GLCNN_SUCCESS;
    glcnn_file_discard(&to);
    fclose(from);
    return good;
}

bool train_log_open(struct train_log *log, const char *path, uint64_t first,
                    char error[GLCNN_ERROR_LENGTH])
{
    struct stat old;
    *log = (struct train_log){.path = path};
    if (!path)
        return true;
    bool goes_on = first > 0 && stat(path, &old) == 0 && S_ISREG(old.st_mode);
    if (goes_on && !cut(path, first, error))
        return false;
    log->file = fopen(path, goes_on ? "a" : "w");
    if (!log->file)
        return fail(path, "cannot be written", errno, error);
    setvbuf(log->file, NULL, _IOLBF, BUFSIZ); /* what a killed run has done is there */
    if (!goes_on && fputs(header, log->file) < 0)
        log->error = errno;
    return true;
}

void train_log_write(struct train_log *log, const struct train_log_line *line)
{
    char validation[64] = ",";
    if (!log->file)
        return;
    if (!isnan(line->validation_accuracy))
        snprintf(validation, sizeof validation, "%.9g,%.6g", line->validation_loss,
                 line->validation_accuracy);
    if (fprintf(log->file, "%" PRIu64 ",%" PRIu64 ",%.9g,%.9g,%.6g,%s\n", line->step, line->epoch,
                line->learning_rate, line->loss, line->accuracy, validation) < 0 &&
        !log->error)
        log->error = errno;
}

bool train_log_close(struct train_log *log, char error[GLCNN_ERROR_LENGTH])
{
    if (log->file && fclose(log->file) != 0 && !log->error)
        log->error = errno;
    log->file = NULL;
    return !log->error || fail(log->path, "cannot be written", log->error, error);
}
