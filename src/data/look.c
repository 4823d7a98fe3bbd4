/* A look at a data set before anything is trained on it. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/fail.h"
#include "scale.h"
#include "set.h"

#define FEW_IMAGES  10   /* of a class, below which it is told of */
#define TINY_SIDE   1.5  /* pixels: what is smaller is a box of a pixel */
#define WHOLE_SHARE 0.98 /* of width and height: a box of the whole picture */
#define NAMES_MOST  2000 /* classes whose names are compared with each other */

/* What is found under one heading, with its first example. */
struct doubt {
    uint32_t count;
    char first[256]; /* what the example is called */
    glcnn_data_part part;
    uint32_t index;
};

/* Numbers of which the median is wanted. */
struct series {
    double *values;
    size_t count, capacity;
};

struct looking {
    glcnn_dataset *set;
    struct glcnn_data_look *look;
    struct glcnn_data_class_look *classes;
    struct glcnn_data_suspicion *suspicions;
    size_t suspicion_capacity;
    bool *has_class; /* of the image under way */
    struct series widths, heights, sides;
    struct doubt tiny, whole, unlabelled, uniform, outside;
    bool lacks_memory;
};

/* ---- Collecting ---- */

static void series_add(struct looking *l, struct series *s, double value)
{
    double *values = array_grow(s->values, s->count, &s->capacity, sizeof *values);
    if (!values) {
        l->lacks_memory = true;
        return;
    }
    s->values = values;
    s->values[s->count++] = value;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct glcnn_data_range series_range(struct series *s)
{
    struct glcnn_data_range range = {0, 0, 0};
    if (s->count > 0) {
        qsort(s->values, s->count, sizeof *s->values, by_value);
        range = (struct glcnn_data_range){s->values[0], s->values[(s->count - 1) / 2],
                                          s->values[s->count - 1]};
    }
    free(s->values);
    *s = (struct series){.values = NULL};
    return range;
}

/* Counts an image once under a heading. */
static void doubt_add(struct looking *l, struct doubt *d, glcnn_data_part part, uint32_t index,
                      uint32_t count)
{
    if (count > 0 && d->count == 0) {
        glcnn_dataset_name(l->set, part, index, d->first, sizeof d->first);
        d->part = part;
        d->index = index;
    }
    d->count += count;
}

__attribute__((format(printf, 4, 5))) static void suspect(struct looking *l, const struct doubt *d,
                                                          bool has_image, const char *format, ...)
{
    struct glcnn_data_look *look = l->look;
    char text[GLCNN_ERROR_LENGTH];
    va_list arguments;
    if (d->count == 0)
        return;
    void *grown = array_grow(l->suspicions, look->suspicion_count, &l->suspicion_capacity,
                             sizeof *l->suspicions);
    if (!grown) {
        l->lacks_memory = true;
        return;
    }
    look->suspicions = l->suspicions = grown;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    char *copy = strdup(text);
    l->lacks_memory = l->lacks_memory || !copy;
    if (copy)
        l->suspicions[look->suspicion_count++] =
            (struct glcnn_data_suspicion){copy, d->count, has_image, d->part, d->index};
}

/* ---- Labels of an image ---- */

/* Counts the classes that the image under way has, once each. */
static void count_images(struct looking *l, glcnn_data_part part)
{
    for (uint32_t k = 0; k < l->look->class_count; k++) {
        l->classes[k].images[part] += l->has_class[k];
        l->has_class[k] = false;
    }
}

static bool look_at_boxes(struct looking *l, glcnn_data_part part, uint32_t index)
{
    uint32_t count, size[2], tiny = 0, whole = 0;
    const struct glcnn_data_box *boxes = glcnn_dataset_boxes(l->set, part, index, &count);
    struct glcnn_data_window window;
    const struct scaled to = {.width = l->set->info.width,
                              .height = l->set->info.height,
                              .side = l->set->parameters.resize,
                              .fit = l->set->parameters.fit};
    glcnn_dataset_size(l->set, part, index, &size[0], &size[1]);
    for (uint32_t i = 0; i < count && size[0] > 0 && size[1] > 0; i++) {
        window = scale_window(size[0], size[1], &to);
        const double width = (double)(boxes[i].right - boxes[i].left) * window.width,
                     height = (double)(boxes[i].bottom - boxes[i].top) * window.height;
        series_add(l, &l->sides, sqrt(width * height));
        tiny += width < TINY_SIDE || height < TINY_SIDE;
        whole += width > WHOLE_SHARE * size[0] && height > WHOLE_SHARE * size[1];
        l->classes[boxes[i].label].objects[part]++;
        l->has_class[boxes[i].label] = true;
    }
    doubt_add(l, &l->tiny, part, index, tiny);
    doubt_add(l, &l->whole, part, index, whole);
    return count > 0;
}

static glcnn_status look_at_mask(struct looking *l, glcnn_data_part part, uint32_t index,
                                 bool *has_label, char *error)
{
    struct picture_values v;
    uint64_t pixels[GLCNN_DATA_NO_CLASS + 1] = {0};
    uint32_t kinds = 0;
    glcnn_status status = set_mask_values(l->set, set_item(l->set, part, index)->target, &v, error);
    for (size_t i = 0; status == GLCNN_SUCCESS && i < (size_t)v.width * v.height; i++)
        pixels[l->set->masks.class_of[v.values[i]]]++;
    free(v.values);
    for (uint32_t k = 0; k < l->look->class_count; k++) {
        l->classes[k].objects[part] += pixels[k];
        l->has_class[k] = pixels[k] > 0;
        kinds += pixels[k] > 0;
    }
    *has_label = kinds > 0;
    doubt_add(l, &l->uniform, part, index, kinds == 1);
    return status;
}

/* 0 or 1 for x or y of a coordinate's name, 2: it is none. */
static int axis_of(const char *name)
{
    const size_t length = strlen(name);
    if (length < 3 || name[length - 2] != '_')
        return 2;
    return name[length - 1] == 'x' ? 0 : name[length - 1] == 'y' ? 1 : 2;
}

static bool look_at_numbers(struct looking *l, glcnn_data_part part, uint32_t index)
{
    const float *numbers = glcnn_dataset_numbers(l->set, part, index);
    uint32_t size[2], outside = 0, count = 0;
    glcnn_dataset_size(l->set, part, index, &size[0], &size[1]);
    for (uint32_t k = 0; numbers && k < l->look->class_count; k++) {
        const int axis = axis_of(l->classes[k].name);
        const bool is_there = axis == 2 || numbers[k] >= 0;
        outside += axis < 2 && numbers[k] >= (float)size[axis < 2 ? axis : 0];
        l->classes[k].objects[part] += is_there;
        l->has_class[k] = is_there;
        count += is_there;
    }
    doubt_add(l, &l->outside, part, index, outside);
    return count > 0;
}

static bool look_at_class(struct looking *l, glcnn_data_part part, uint32_t index)
{
    const uint32_t label = glcnn_dataset_label(l->set, part, index);
    if (label >= l->look->class_count)
        return false;
    l->classes[label].objects[part]++;
    l->has_class[label] = true;
    return true;
}

static glcnn_status look_at_image(struct looking *l, glcnn_data_part part, uint32_t index,
                                  char *error)
{
    glcnn_status status = GLCNN_SUCCESS;
    bool has_label = false;
    uint32_t width, height;
    glcnn_dataset_size(l->set, part, index, &width, &height);
    series_add(l, &l->widths, width);
    series_add(l, &l->heights, height);
    switch (l->set->parameters.targets) {
    case GLCNN_DATA_TARGETS_BOXES:
        has_label = look_at_boxes(l, part, index);
        break;
    case GLCNN_DATA_TARGETS_MASKS:
        status = look_at_mask(l, part, index, &has_label, error);
        break;
    case GLCNN_DATA_TARGETS_NUMBERS:
        has_label = look_at_numbers(l, part, index);
        break;
    default:
        has_label = look_at_class(l, part, index);
    }
    count_images(l, part);
    l->look->unlabelled[part] += !has_label;
    doubt_add(l, &l->unlabelled, part, index, !has_label);
    return status;
}

/* ---- Equal images ---- */

struct digested {
    uint64_t digest;
    glcnn_data_part part;
    uint32_t index;
};

static int by_digest(const void *a, const void *b)
{
    const struct digested *x = a, *y = b;
    if (x->digest != y->digest)
        return x->digest < y->digest ? -1 : 1;
    return x->part != y->part ? (x->part < y->part ? -1 : 1)
                              : (x->index > y->index) - (x->index < y->index);
}

static struct digested *digest_all(const glcnn_dataset *set, size_t *count)
{
    size_t all = 0;
    for (int p = 0; p < GLCNN_DATA_PARTS; p++)
        all += set->parts[p].count;
    struct digested *of = malloc((all + 1) * sizeof *of);
    *count = 0;
    for (int p = 0; p < GLCNN_DATA_PARTS && of; p++)
        for (uint32_t i = 0; i < set->parts[p].count; i++) {
            const uint64_t digest = glcnn_dataset_image_digest(set, (glcnn_data_part)p, i);
            if (digest)
                of[(*count)++] = (struct digested){digest, (glcnn_data_part)p, i};
        }
    return of;
}

/* Images of the second part that are equal to one of the first. */
static void find_equal(struct looking *l, const struct digested *of, size_t count, int first,
                       int second)
{
    struct doubt equal = {.count = 0};
    char other[256] = "";
    for (size_t begin = 0, end; begin < count; begin = end) {
        const struct digested *one = NULL;
        for (end = begin; end < count && of[end].digest == of[begin].digest; end++)
            if (!one && (int)of[end].part == first)
                one = &of[end];
        for (size_t i = begin; i < end && one; i++) {
            if ((int)of[i].part != second)
                continue;
            if (equal.count == 0)
                glcnn_dataset_name(l->set, one->part, one->index, other, sizeof other);
            doubt_add(l, &equal, of[i].part, of[i].index, 1);
        }
    }
    suspect(
        l, &equal, true,
        "%u image%s of the %s part %s in the %s part too, of which %.120s, there %.120s, is the "
        "first: a measure on what was learned says too much",
        equal.count, equal.count == 1 ? "" : "s", glcnn_data_part_name((glcnn_data_part)second),
        equal.count == 1 ? "is" : "are", glcnn_data_part_name((glcnn_data_part)first), equal.first,
        other);
}

static void look_for_equal(struct looking *l)
{
    size_t count;
    struct digested *of = digest_all(l->set, &count);
    if (!of) {
        l->lacks_memory = true;
        return;
    }
    qsort(of, count, sizeof *of, by_digest);
    for (int first = 0; first < GLCNN_DATA_PARTS; first++)
        for (int second = first + 1; second < GLCNN_DATA_PARTS; second++)
            find_equal(l, of, count, first, second);
    free(of);
}

/* ---- Classes ---- */

/* Letters and digits alone, in small letters: what people mean alike. */
static void simplify(const char *name, char simple[128])
{
    size_t length = 0;
    for (; *name && length < 127; name++)
        if (isalnum((unsigned char)*name) || (unsigned char)*name > 127)
            simple[length++] = (char)tolower((unsigned char)*name);
    if (length > 3 && simple[length - 1] == 's')
        length--;
    simple[length] = 0;
}

/* One letter is another, missing, or too many; of two neighbours that change places, too. Digits say what is
 * not the same. */
static bool differ_by_a_letter(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    if (isdigit((unsigned char)*a) || isdigit((unsigned char)*b))
        return false;
    return strcmp(a + (*a != 0), b + (*b != 0)) == 0 || strcmp(a + (*a != 0), b) == 0 ||
           strcmp(a, b + (*b != 0)) == 0 ||
           (*a && *b && a[1] == b[0] && a[0] == b[1] && strcmp(a + 2, b + 2) == 0);
}

#define LETTERS_LEAST 5 /* of names that may be misspelt */

static bool are_near(const char *one, const char *other)
{
    char a[128], b[128];
    simplify(one, a);
    simplify(other, b);
    if (!*a || !*b)
        return false;
    return strcmp(a, b) == 0 ||
           (strlen(a) >= LETTERS_LEAST && strlen(b) >= LETTERS_LEAST && differ_by_a_letter(a, b));
}

static void look_for_near_names(struct looking *l)
{
    const uint32_t count = l->look->class_count < NAMES_MOST ? l->look->class_count : NAMES_MOST;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = i + 1; k < count; k++)
            if (are_near(l->classes[i].name, l->classes[k].name))
                suspect(
                    l, &(struct doubt){.count = 1}, false,
                    "the classes \"%.150s\" and \"%.150s\" have nearly the same name: are they one?",
                    l->classes[i].name, l->classes[k].name);
}

static void look_for_few(struct looking *l)
{
    struct doubt few = {.count = 0}, none = {.count = 0};
    uint32_t first_count = 0;
    for (uint32_t k = 0; k < l->look->class_count; k++) {
        const uint32_t images = l->classes[k].images[GLCNN_DATA_PART_TRAINING];
        struct doubt *d = images == 0 ? &none : images < FEW_IMAGES ? &few : NULL;
        if (!d)
            continue;
        if (d->count++ == 0)
            snprintf(d->first, sizeof d->first, "%.200s", l->classes[k].name);
        first_count = d == &few && few.count == 1 ? images : first_count;
    }
    const char *what =
        l->set->parameters.targets == GLCNN_DATA_TARGETS_NUMBERS ? "number" : "class";
    const char *plural = *what == 'c' ? "es" : "s";
    suspect(l, &none, false, "%u %s%s of which no training image has any; \"%.150s\" is the first",
            none.count, what, none.count == 1 ? "" : plural, none.first);
    suspect(
        l, &few, false,
        "%u %s%s of which fewer than %d training images have any; \"%.150s\" is the first, in %u",
        few.count, what, few.count == 1 ? "" : plural, FEW_IMAGES, few.first, first_count);
}

/* ---- All ---- */

static void tell_doubts(struct looking *l)
{
    suspect(l, &l->unlabelled, true, "%u image%s without any label; %.250s is the first",
            l->unlabelled.count, l->unlabelled.count == 1 ? "" : "s", l->unlabelled.first);
    suspect(l, &l->tiny, true, "%u box%s of a pixel's width or height; %.250s is the first picture",
            l->tiny.count, l->tiny.count == 1 ? "" : "es", l->tiny.first);
    suspect(l, &l->whole, true, "%u box%s of the whole picture; %.250s is the first",
            l->whole.count, l->whole.count == 1 ? "" : "es", l->whole.first);
    suspect(l, &l->uniform, true, "%u mask%s of one class alone; %.250s is the first picture",
            l->uniform.count, l->uniform.count == 1 ? "" : "s", l->uniform.first);
    suspect(l, &l->outside, true,
            "%u coordinate%s outside of the picture; %.250s is the first picture", l->outside.count,
            l->outside.count == 1 ? "" : "s", l->outside.first);
}

static glcnn_status look_at_all(struct looking *l, char *error)
{
    for (uint32_t k = 0; k < l->look->class_count; k++)
        l->classes[k].name = l->set->class_names[k];
    for (int p = 0; p < GLCNN_DATA_PARTS; p++)
        for (uint32_t i = 0; i < l->set->parts[p].count; i++) {
            glcnn_status status = look_at_image(l, (glcnn_data_part)p, i, error);
            if (status != GLCNN_SUCCESS)
                return status;
        }
    look_for_equal(l);
    tell_doubts(l);
    look_for_few(l);
    if (l->set->parameters.targets != GLCNN_DATA_TARGETS_NUMBERS)
        look_for_near_names(l);
    l->look->widths = series_range(&l->widths);
    l->look->heights = series_range(&l->heights);
    l->look->sides = series_range(&l->sides);
    return l->lacks_memory ? fail_no_memory(error, l->set->path) : GLCNN_SUCCESS;
}

glcnn_status glcnn_dataset_look(glcnn_dataset *data, struct glcnn_data_look **look,
                                char error[GLCNN_ERROR_LENGTH])
{
    char own[GLCNN_ERROR_LENGTH];
    const uint32_t classes = data->info.class_count;
    struct looking l = {.set = data, .look = calloc(1, sizeof *l.look)};
    glcnn_status status = GLCNN_SUCCESS;
    error = error ? error : own;
    l.classes = calloc(classes + (size_t)1, sizeof *l.classes);
    l.has_class = calloc(classes + (size_t)1, sizeof *l.has_class);
    *look = l.look;
    if (l.look && l.classes && l.has_class) {
        l.look->class_count = classes;
        l.look->classes = l.classes;
        status = look_at_all(&l, error);
    } else {
        free(l.classes);
        status = fail_no_memory(error, data->path);
    }
    free(l.has_class);
    free(l.widths.values);
    free(l.heights.values);
    free(l.sides.values);
    if (status != GLCNN_SUCCESS)
        glcnn_data_look_destroy(look);
    return status;
}

void glcnn_data_look_destroy(struct glcnn_data_look **look)
{
    if (!look || !*look)
        return;
    for (uint32_t i = 0; i < (*look)->suspicion_count; i++)
        free((void *)(uintptr_t)(*look)->suspicions[i].text);
    free((void *)(uintptr_t)(*look)->suspicions);
    free((void *)(uintptr_t)(*look)->classes);
    free(*look);
    *look = NULL;
}
