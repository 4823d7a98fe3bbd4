/* Pictures of .npy and IDX files, put into the order of images. */
#include "inputs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/idx.h"

static bool fail(const char *path, const char *what, char error[GLCNN_ERROR_LENGTH])
{
    snprintf(error, GLCNN_ERROR_LENGTH, "%.250s: %.200s", path, what);
    return false;
}

static bool is_npy(const char *path)
{
    char magic[6] = "";
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    size_t got = fread(magic, 1, sizeof magic, file);
    fclose(file);
    return got == sizeof magic && memcmp(magic, "\x93NUMPY", sizeof magic) == 0;
}

static bool has_form(const struct glcnn_npy *a, const struct form *form)
{
    uint32_t channels = a->rank > 3 ? a->shape[1] : 1;
    return a->rank >= 2 && a->rank <= 4 && channels == form->channels &&
           a->shape[a->rank - 2] == form->height && a->shape[a->rank - 1] == form->width;
}

static bool fail_shape(const char *path, const struct glcnn_npy *a, const struct form *form,
                       char error[GLCNN_ERROR_LENGTH])
{
    char text[64] = "", what[200];
    for (uint32_t i = 0; i < a->rank; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u", i ? "," : "",
                 a->shape[i]);
    snprintf(what, sizeof what, "has the shape [%s]; the network takes [N,%u,%u,%u]%s", text,
             form->channels, form->height, form->width,
             form->channels == 1 ? ", or the same without the 1 or the N" : "");
    return fail(path, what, error);
}

/* [C][H][W] to [H][W][C], scaled. */
static void arrange(const float *from, const struct form *form, float scale, float *to)
{
    size_t pixels = (size_t)form->width * form->height;
    for (size_t i = 0; i < pixels; i++)
        for (uint32_t c = 0; c < form->channels; c++)
            to[i * form->channels + c] = from[c * pixels + i] / scale;
}

static bool fill(const char *path, const struct glcnn_npy *a, const struct form *form,
                 struct inputs *inputs, char error[GLCNN_ERROR_LENGTH])
{
    if (!has_form(a, form))
        return fail_shape(path, a, form, error);
    size_t values = (size_t)form->width * form->height * form->channels;
    inputs->count = a->rank > 2 ? a->shape[0] : 1;
    inputs->values = malloc((inputs->count * values + 1) * sizeof *inputs->values);
    if (!inputs->values)
        return fail(path, "not enough memory", error);
    float largest = 0;
    for (size_t i = 0; i < inputs->count * values; i++) {
        if (!isfinite(a->data[i]))
            return fail(path, "has a value that is not finite", error);
        largest = fmaxf(largest, a->data[i]);
    }
    for (uint32_t n = 0; n < inputs->count; n++)
        arrange(a->data + n * values, form, largest > 1 ? 255 : 1, inputs->values + n * values);
    return true;
}

/* Bytes as the array that they are; a file of zeros and ones is one of bytes, too. */
static bool read_idx(const char *path, struct glcnn_npy *a, char error[GLCNN_ERROR_LENGTH])
{
    struct idx file;
    if (!idx_read(path, &file, error))
        return false;
    *a = (struct glcnn_npy){.rank = file.rank, .data = calloc(file.size + 1, sizeof *a->data)};
    memcpy(a->shape, file.shape, sizeof file.shape);
    for (size_t i = 0; a->data && i < file.size; i++)
        a->data[i] = (float)file.data[i] / 255.0f;
    idx_free(&file);
    return a->data ? true : fail(path, "not enough memory", error);
}

bool inputs_read(const char *path, const struct form *form, struct inputs *inputs,
                 char error[GLCNN_ERROR_LENGTH])
{
    struct glcnn_npy array = {.rank = 0};
    *inputs = (struct inputs){.count = 0};
    bool good = is_npy(path) ? glcnn_npy_read(path, &array, error) == GLCNN_SUCCESS
                             : read_idx(path, &array, error);
    good = good && fill(path, &array, form, inputs, error);
    glcnn_npy_free(&array);
    if (!good)
        inputs_free(inputs);
    return good;
}

void inputs_free(struct inputs *inputs)
{
    free(inputs->values);
    *inputs = (struct inputs){.count = 0};
}
