/* Pictures from IDX files by the names that MNIST and its kin have. */
#include "pictures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "class_names.h"
#include "support/fashion.h"
#include "support/random.h"

static const char *const prefixes[PICTURES_PARTS] = {"train", "t10k"};

/* ---- Files ---- */

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

static struct form form_of(const struct idx *images)
{
    return (struct form){.width = images->shape[2],
                         .height = images->shape[1],
                         .channels = images->rank > 3 ? images->shape[3] : 1};
}

static bool check_part(const char *directory, const struct idx *images, const struct idx *labels,
                       char error[GLCNN_ERROR_LENGTH])
{
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

static bool read_part(struct pictures *p, const char *directory, enum pictures_part part,
                      char error[GLCNN_ERROR_LENGTH])
{
    char images[64], labels[64];
    snprintf(images, sizeof images, "%s-images-idx3-ubyte.gz", prefixes[part]);
    snprintf(labels, sizeof labels, "%s-labels-idx1-ubyte.gz", prefixes[part]);
    if (!read_file(directory, images, &p->images[part], error) ||
        !read_file(directory, labels, &p->labels[part], error) ||
        !check_part(directory, &p->images[part], &p->labels[part], error))
        return false;
    p->counts[part] = p->images[part].shape[0];
    return true;
}

/* ---- Data sets ---- */

static uint32_t count_classes(const struct idx *labels)
{
    uint32_t largest = 0;
    for (size_t i = 0; i < labels->size; i++)
        largest = labels->data[i] > largest ? labels->data[i] : largest;
    return largest + 1;
}

static bool check_parts(const struct pictures *p, const char *directory,
                        char error[GLCNN_ERROR_LENGTH])
{
    struct form validation = form_of(&p->images[PICTURES_VALIDATION]);
    uint32_t classes = count_classes(&p->labels[PICTURES_VALIDATION]);
    if (p->form.classes < 2) {
        snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: has one class: there is nothing to learn",
                 directory);
        return false;
    }
    if (validation.width == p->form.width && validation.height == p->form.height &&
        validation.channels == p->form.channels && classes <= p->form.classes)
        return true;
    snprintf(error, GLCNN_ERROR_LENGTH,
             "%.200s: pictures to train with are %ux%ux%u of %u classes, those to validate with "
             "%ux%ux%u of %u: expected the same size, and no other classes",
             directory, p->form.width, p->form.height, p->form.channels, p->form.classes,
             validation.width, validation.height, validation.channels, classes);
    return false;
}

/* Numbers are the classes' names; of Fashion-MNIST alone others are known. */
static bool name_classes(struct pictures *p, const char *directory, char error[GLCNN_ERROR_LENGTH])
{
    bool is_fashion =
        strcmp(directory, PICTURES_DEFAULT) == 0 && p->form.classes == FASHION_CLASSES;
    p->names = is_fashion ? class_names_copy(fashion_names, p->form.classes)
                          : class_names_of_numbers(p->form.classes);
    if (!p->names)
        snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
    return p->names;
}

bool pictures_open(const char *directory, struct pictures *p, char error[GLCNN_ERROR_LENGTH])
{
    *p = (struct pictures){.names = NULL};
    bool good = true;
    for (enum pictures_part part = 0; part < PICTURES_PARTS && good; part++)
        good = read_part(p, directory, part, error);
    if (good) {
        p->form = form_of(&p->images[PICTURES_TRAINING]);
        p->form.classes = count_classes(&p->labels[PICTURES_TRAINING]);
        good = check_parts(p, directory, error) && name_classes(p, directory, error);
    }
    if (!good)
        pictures_close(p);
    return good;
}

void pictures_close(struct pictures *p)
{
    for (enum pictures_part part = 0; part < PICTURES_PARTS; part++) {
        idx_free(&p->images[part]);
        idx_free(&p->labels[part]);
    }
    class_names_free(p->names, p->form.classes);
    *p = (struct pictures){.names = NULL};
}

/* ---- Batches ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool feed_open(const struct pictures *pictures, const struct feed_options *options,
               struct feed *feed, char error[GLCNN_ERROR_LENGTH])
{
    uint32_t count = pictures->counts[options->part], batch = options->batch;
    bool limited = options->limit > 0 && options->limit < count;
    const struct idx *images = &pictures->images[options->part];
    *feed = (struct feed){.pictures = pictures,
                          .options = *options,
                          .used = limited ? options->limit : count,
                          .step = options->step};
    feed->steps = options->shuffle ? feed->used / batch : (feed->used + batch - 1) / batch;
    if (feed->steps == 0) {
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "a batch of %u images is more than the %u that there are; lower --batch", batch,
                 feed->used);
        return false;
    }
    feed->order = calloc(feed->used, sizeof *feed->order);
    feed->labels = calloc(batch, sizeof *feed->labels);
    feed->images = calloc(images->size / count * batch, sizeof *feed->images);
    if (feed->order && feed->labels && feed->images)
        return true;
    snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
    return false;
}

void feed_close(struct feed *feed)
{
    free(feed->order);
    free(feed->labels);
    free(feed->images);
    *feed = (struct feed){.pictures = NULL};
}

/* Seeds of more than 44 bits keep those that are shifted out. */
static void order_epoch(struct feed *feed)
{
    uint64_t seed = feed->options.seed;
    uint64_t random = (seed << 20 | seed >> 44) + feed->step / feed->steps;
    for (uint32_t i = 0; i < feed->used; i++)
        feed->order[i] = i;
    if (feed->options.shuffle)
        random_shuffle(&random, feed->order, feed->used);
}

/* Behind the last picture comes the last one again. */
static void gather(struct feed *feed, uint32_t first)
{
    const struct idx *images = &feed->pictures->images[feed->options.part];
    const struct idx *labels = &feed->pictures->labels[feed->options.part];
    size_t values = images->size / images->shape[0];
    for (uint32_t n = 0; n < feed->options.batch; n++) {
        uint32_t at = first + n < feed->used ? first + n : feed->used - 1, of = feed->order[at];
        for (size_t i = 0; i < values; i++)
            feed->images[n * values + i] = (float)images->data[of * values + i] / 255.0f;
        feed->labels[n] = labels->data[of];
    }
}

bool feed_next(struct feed *feed, struct feed_batch *batch, char error[GLCNN_ERROR_LENGTH])
{
    double begun = now();
    uint32_t size = feed->options.batch, first = (uint32_t)(feed->step % feed->steps) * size;
    error[0] = 0;
    if (first == 0 || feed->step == feed->options.step)
        order_epoch(feed);
    gather(feed, first);
    *batch = (struct feed_batch){.images = feed->images,
                                 .labels = feed->labels,
                                 .filled = feed->used - first < size ? feed->used - first : size};
    feed->step++;
    feed->waited += now() - begun;
    return true;
}
