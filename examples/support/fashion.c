/* Reading IDX files, gzipped or not; a file that is cut off or of another kind is refused. */
#include "fashion.h"

#include <stdio.h>
#include <string.h>

const char *const fashion_names[FASHION_CLASSES] = {
    "T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"};

static bool has_shape(const struct idx *idx, uint32_t rank)
{
    return idx->rank == rank &&
           (rank == 1 || (idx->shape[1] == FASHION_SIDE && idx->shape[2] == FASHION_SIDE));
}

static bool read_file(const char *directory, const char *name, uint32_t rank, struct idx *idx,
                      char error[GLCNN_ERROR_LENGTH])
{
    char path[4096], reason[GLCNN_ERROR_LENGTH];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (!idx_read(path, idx, reason)) {
        snprintf(
            error, GLCNN_ERROR_LENGTH,
            "%.350s. The data is in Debian's package dataset-fashion-mnist; --data names another "
            "directory",
            reason);
        return false;
    }
    if (has_shape(idx, rank))
        return true;
    snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: not %s", path,
             rank == 3 ? "images of 28x28 pixels" : "a list of labels");
    return false;
}

static bool check_labels(const struct fashion *data, char error[GLCNN_ERROR_LENGTH])
{
    if (data->images.shape[0] != data->labels.shape[0]) {
        snprintf(error, GLCNN_ERROR_LENGTH, "there are %u images, but %u labels",
                 data->images.shape[0], data->labels.shape[0]);
        return false;
    }
    for (uint32_t i = 0; i < data->labels.shape[0]; i++)
        if (data->labels.data[i] >= FASHION_CLASSES) {
            snprintf(error, GLCNN_ERROR_LENGTH, "label %u is %u, not in 0 .. 9", i,
                     data->labels.data[i]);
            return false;
        }
    return true;
}

bool fashion_read(const char *directory, const char *prefix, struct fashion *data,
                  char error[GLCNN_ERROR_LENGTH])
{
    char images[64], labels[64];
    *data = (struct fashion){0};
    snprintf(images, sizeof images, "%s-images-idx3-ubyte.gz", prefix);
    snprintf(labels, sizeof labels, "%s-labels-idx1-ubyte.gz", prefix);
    if (read_file(directory, images, 3, &data->images, error) &&
        read_file(directory, labels, 1, &data->labels, error) && check_labels(data, error))
        return true;
    fashion_free(data);
    return false;
}

void fashion_free(struct fashion *data)
{
    idx_free(&data->images);
    idx_free(&data->labels);
}

void fashion_gather(const struct fashion *data, const uint32_t *order, uint32_t count,
                    float *images, float *labels)
{
    memset(labels, 0, sizeof *labels * FASHION_CLASSES * count);
    for (uint32_t n = 0; n < count; n++) {
        const uint8_t *from = data->images.data + (size_t)order[n] * FASHION_PIXELS;
        for (uint32_t i = 0; i < FASHION_PIXELS; i++)
            images[n * FASHION_PIXELS + i] = (float)from[i] / 255.0f;
        labels[n * FASHION_CLASSES + data->labels.data[order[n]]] = 1.0f;
    }
}
