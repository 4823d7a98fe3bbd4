/* Fuzz target of libFuzzer: any bytes, read as a table with and without labels: CSV, .npz, and
 * images of .npy and IDX. "make fuzz" runs it.
 *
 * What fails has a message. What succeeds gives an epoch of finite numbers and labels of its
 * classes.
 */
#include <glcnn/data.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/require.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[] = "/tmp/glcnn-fuzz-XXXXXX";

static void end(void)
{
    unlink(path);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    int file = mkstemp(path);
    require(file >= 0, "no file can be made", path);
    close(file);
    atexit(end);
    return 0;
}

static void write_input(const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    require(file && fwrite(data, 1, size, file) == size && fclose(file) == 0,
            "the file cannot be written", path);
}

/* One batch, which holds the first images. */
static void look_at(glcnn_dataset *data, glcnn_data_part part)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    const struct glcnn_data_info *info = glcnn_dataset_info(data);
    glcnn_data_loader *loader;
    struct glcnn_data_batch batch;
    const struct glcnn_data_loader_parameters p = {.part = part, .batch = 4, .threads = 1};
    require(glcnn_data_loader_create(data, &p, &loader, error) == GLCNN_SUCCESS, "no loader",
            error);
    require(glcnn_data_loader_next(loader, &batch, error) == GLCNN_SUCCESS, "no batch", error);
    size_t values = (size_t)info->width * info->height * info->channels;
    for (size_t i = 0; i < batch.count * values; i++)
        require(isfinite(batch.floats[i]), "a value is not finite", "");
    for (uint32_t n = 0; n < batch.filled; n++)
        require(batch.labels[n] < info->class_count || info->class_count == 0, "a label", "");
    glcnn_data_loader_destroy(&loader);
}

static void check_outcome(glcnn_status status, glcnn_dataset *data, glcnn_data_part part,
                          const char *error)
{
    require((status == GLCNN_SUCCESS) == (data != NULL), "data and a failure", error);
    require(data || strlen(error) > 10, "a failure without a message", error);
    require(status != GLCNN_OUT_OF_MEMORY && status != GLCNN_INVALID_ARGUMENT,
            glcnn_status_text(status), error);
    if (data)
        look_at(data, part);
    glcnn_dataset_destroy(&data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    const char *const paths[] = {path};
    glcnn_dataset *set;
    write_input(data, size);
    const struct glcnn_data_parameters leave = {.memory = 1}; /* in its file what can stay there */
    glcnn_status status = glcnn_dataset_open(path, &leave, &set, error);
    check_outcome(status, set, GLCNN_DATA_PART_TRAINING, error);
    status = glcnn_dataset_open_files(paths, 1, NULL, &set, error);
    if (set && strcmp(glcnn_dataset_info(set)->format, "pictures") == 0)
        glcnn_dataset_destroy(&set);
    else
        check_outcome(status, set, GLCNN_DATA_PART_TEST, error);
    return 0;
}
