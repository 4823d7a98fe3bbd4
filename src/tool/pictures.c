/* Pictures from IDX files, plain names or Fashion-MNIST's own. */
#include "pictures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "class_names.h"
#include "support/fashion.h"

static const char *const prefixes[] = {
    [PICTURES_TRAINING] = "train", [PICTURES_VALIDATION] = "t10k"};

static bool read_file(const char *directory, const char *name, struct idx *idx,
                      char error[GLCNN_ERROR_LENGTH])
{
    char path[4096], reason[GLCNN_ERROR_LENGTH];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (idx_read(path, idx, reason))
        return true;
    snprintf(error, GLCNN_ERROR_LENGTH,
             "%.350s. The data is in Debian's package dataset-fashion-mnist; --data names another "
             "directory",
             reason);
    return false;
}

static uint32_t extent(const struct idx *idx, uint32_t dimension)
{
    return dimension < idx->rank ? idx->shape[dimension] : 1;
}

static bool check_files(const char *directory, const struct pictures *p,
                        char error[GLCNN_ERROR_LENGTH])
{
    const struct idx *images = &p->images, *labels = &p->labels;
    if (images->rank < 3 || labels->rank != 1 || images->size == 0) {
        snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: has no images [N][H][W] with labels [N]",
                 directory);
        return false;
    }
    if (images->shape[0] == labels->shape[0])
        return true;
    snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: there are %u images, but %u labels", directory,
             images->shape[0], labels->shape[0]);
    return false;
}

static uint32_t count_classes(const struct idx *labels)
{
    uint32_t largest = 0;
    for (size_t i = 0; i < labels->size; i++)
        largest = labels->data[i] > largest ? labels->data[i] : largest;
    return largest + 1;
}

/* Numbers are the classes' names; of Fashion-MNIST alone others are known. */
static char **make_names(const char *directory, uint32_t classes)
{
    bool is_fashion = strcmp(directory, PICTURES_DEFAULT) == 0 && classes == FASHION_CLASSES;
    return is_fashion ? class_names_copy(fashion_names, classes) : class_names_of_numbers(classes);
}

bool pictures_read(const char *directory, enum pictures_part part, struct pictures *p,
                   char error[GLCNN_ERROR_LENGTH])
{
    char images[64], labels[64];
    *p = (struct pictures){.count = 0};
    snprintf(images, sizeof images, "%s-images-idx3-ubyte.gz", prefixes[part]);
    snprintf(labels, sizeof labels, "%s-labels-idx1-ubyte.gz", prefixes[part]);
    bool good = read_file(directory, images, &p->images, error) &&
                read_file(directory, labels, &p->labels, error) && check_files(directory, p, error);
    if (good) {
        p->count = p->images.shape[0];
        p->form = (struct form){.width = extent(&p->images, 2),
                                .height = extent(&p->images, 1),
                                .channels = extent(&p->images, 3),
                                .classes = count_classes(&p->labels)};
        p->names = make_names(directory, p->form.classes);
        good = p->names;
        if (!good)
            snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
    }
    if (!good)
        pictures_free(p);
    return good;
}

void pictures_free(struct pictures *p)
{
    idx_free(&p->images);
    idx_free(&p->labels);
    class_names_free(p->names, p->form.classes);
    *p = (struct pictures){.count = 0};
}

bool pictures_match(const struct pictures *first, const struct pictures *second,
                    char error[GLCNN_ERROR_LENGTH])
{
    const struct form *a = &first->form, *b = &second->form;
    if (a->width == b->width && a->height == b->height && a->channels == b->channels &&
        b->classes <= a->classes)
        return true;
    snprintf(error, GLCNN_ERROR_LENGTH,
             "pictures to train with are %ux%u, %u channels, %u classes; those to validate with "
             "are %ux%u, %u channels, %u classes: expected the same, and no other classes",
             a->width, a->height, a->channels, a->classes, b->width, b->height, b->channels,
             b->classes);
    return false;
}

void pictures_gather(const struct pictures *p, const uint32_t *order, uint32_t count,
                     uint32_t classes, float *images, float *labels)
{
    size_t values = p->images.size / p->count;
    memset(labels, 0, sizeof *labels * classes * count);
    for (uint32_t n = 0; n < count; n++) {
        const uint8_t *from = p->images.data + order[n] * values;
        for (size_t i = 0; i < values; i++)
            images[n * values + i] = (float)from[i] / 255.0f;
        labels[(size_t)n * classes + p->labels.data[order[n]]] = 1.0f;
    }
}
