/* Digits of images. */
#include "onnx/view.h"

#include <string.h>

/* ---- The batch ---- */

struct batch view_batch(const struct image *image)
{
    struct batch batch = {image->extent[N], 0};
    int64_t after = 1;
    for (uint32_t i = image->digits; i-- > 0; after *= image->digit[i].size)
        if (image->digit[i].axis == N)
            batch.after = after;
    return batch;
}

struct batch view_leading_batch(const struct shape *shape, int64_t images)
{
    return (struct batch){images, images > 1 ? shape_count(shape) / images : 0};
}

struct batch view_broadcast_batch(struct batch batch, const struct shape *from,
                                  const struct shape *to)
{
    int64_t faster = 1, of_other = 1;
    for (uint32_t i = from->rank; i-- > 0;) {
        if (batch.after < faster * from->dims[i]) {
            batch.after = batch.after / faster * of_other;
            return batch;
        }
        faster *= from->dims[i];
        of_other *= to->dims[i];
    }
    return batch;
}

int view_batch_axis(struct batch batch, const struct shape *shape)
{
    int64_t count = 1;
    int axis = (int)shape->rank - 1;
    while (axis >= 0 && batch.after >= (count *= shape->dims[axis]))
        axis--;
    return batch.after ? axis : -1;
}

/* ---- Making ---- */

/* Does the first digit go on where the second one ends? */
static bool goes_on(const struct digit *slow, const struct digit *fast)
{
    return slow->axis == fast->axis && slow->stride == fast->stride * fast->size;
}

/* Further numbers along the axis, which are slower than all that there are. */
static void prepend(struct image *image, uint8_t axis, int64_t size)
{
    const struct digit digit = {axis, size, image->extent[axis]};
    if (size == 1)
        return;
    image->extent[axis] *= size;
    if (image->digits && goes_on(&digit, &image->digit[0])) {
        image->digit[0].size *= size;
        return;
    }
    memmove(image->digit + 1, image->digit, image->digits * sizeof digit);
    image->digit[0] = digit;
    image->digits++;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Of `size` numbers, which follow `faster` ones: those before the batch, its images, those behind. */
static bool part_axis(int64_t size, int64_t faster, struct batch batch, int64_t part[3])
{
    const int64_t end = batch.after * batch.images;
    part[0] = batch.after > faster ? least(size, batch.after / faster) : 1;
    const int64_t at = faster * part[0];
    part[1] = at >= batch.after && at < end ? least(size / part[0], end / at) : 1;
    part[2] = size / part[0] / part[1];
    return part[0] * part[1] * part[2] == size;
}

bool view_arranged(const struct shape *shape, struct batch batch,
                   const uint8_t axis[GLCNN_ONNX_RANK], struct image *image)
{
    int64_t faster = 1, part[3];
    *image = (struct image){.extent = {1, 1, 1, 1}};
    for (uint32_t i = shape->rank; i-- > 0; faster *= shape->dims[i]) {
        if (!part_axis(shape->dims[i], faster, batch, part))
            return false;
        prepend(image, axis[i], part[0]);
        prepend(image, N, part[1]);
        prepend(image, axis[i], part[2]);
    }
    bool is_whole = view_batch(image).after == batch.after &&
                    (!batch.after || image->extent[N] == batch.images);
    image->extent[N] = batch.images;
    return is_whole;
}

void view_merge(struct image *image)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < image->digits; i++) {
        struct digit digit = image->digit[i], *last = kept ? &image->digit[kept - 1] : NULL;
        if (digit.size == 1)
            continue;
        if (last && goes_on(last, &digit)) {
            last->size *= digit.size;
            last->stride = digit.stride;
        } else {
            image->digit[kept++] = digit;
        }
    }
    image->digits = kept;
}

bool view_is(const struct image *a, const struct image *b)
{
    bool same = a->digits == b->digits && a->extent[N] == b->extent[N];
    for (uint32_t i = 0; same && i < a->digits; i++)
        same = a->digit[i].axis == b->digit[i].axis && a->digit[i].size == b->digit[i].size &&
               a->digit[i].stride == b->digit[i].stride;
    return same;
}

/* An axis of one number stands before the first one that is after it in N,C,H,W. */
bool view_order(const struct image *image, uint8_t order[AXES])
{
    size_t count = 0;
    for (uint32_t i = 0; i < image->digits; i++) {
        const struct digit *d = &image->digit[i];
        if (d->axis == AXES || d->size != image->extent[d->axis] || count == AXES)
            return false;
        order[count++] = d->axis;
    }
    for (uint8_t axis = N; axis < AXES; axis++) {
        size_t at = 0;
        if (memchr(order, axis, count))
            continue;
        while (at < count && order[at] < axis)
            at++;
        memmove(order + at + 1, order + at, count - at);
        order[at] = axis;
        count++;
    }
    return true;
}

int64_t view_step(const struct image *image, uint8_t axis)
{
    const int64_t step[AXES + 1] = {
        [C] = image->extent[H] * image->extent[W], [H] = image->extent[W], [W] = 1};
    return step[axis];
}

bool view_lay_out(const struct image *image, struct layout *layout)
{
    const int64_t step[AXES] = {
        [C] = 1, [W] = image->extent[C], [H] = image->extent[C] * image->extent[W]};
    for (uint32_t i = 0; i < image->digits; i++) {
        const struct digit *d = &image->digit[i];
        if (d->axis == N)
            continue;
        if (layout->axes == GLCNN_ONNX_RANK)
            return false;
        layout->size[layout->axes] = d->size;
        layout->stride[layout->axes++] = d->stride * step[d->axis];
    }
    return true;
}

/* ---- Splitting ---- */

/* The slowest numbers of a digit, `size` of them; the digit keeps the others. */
static struct digit take(struct digit *digit, int64_t size)
{
    digit->size /= size;
    return (struct digit){digit->axis, size, digit->stride * digit->size};
}

bool view_split(struct image *image, const struct shape *shape, uint32_t end[GLCNN_ONNX_RANK])
{
    struct image split = *image;
    struct digit rest = {.size = 1};
    uint32_t at = 0;
    split.digits = 0;
    for (uint32_t i = 0; i < shape->rank; i++) {
        for (int64_t left = shape->dims[i]; left > 1;) {
            if (rest.size == 1 && at == image->digits)
                return false;
            if (rest.size == 1)
                rest = image->digit[at++];
            int64_t size = least(left, rest.size);
            if (left % size || rest.size % size || split.digits == DIGITS)
                return false;
            split.digit[split.digits++] = take(&rest, size);
            left /= size;
        }
        end[i] = split.digits;
    }
    if (rest.size != 1 || at != image->digits)
        return false;
    *image = split;
    return true;
}

void view_permute(struct image *image, const uint32_t end[GLCNN_ONNX_RANK], const int64_t order[],
                  uint32_t rank)
{
    const struct image split = *image;
    uint32_t n = 0;
    for (uint32_t i = 0; i < rank; i++)
        for (uint32_t k = order[i] ? end[order[i] - 1] : 0; k < end[order[i]]; k++)
            image->digit[n++] = split.digit[k];
    view_merge(image);
}

/* ---- Repeating ---- */

static bool append(struct image *image, struct digit digit)
{
    if (image->digits == DIGITS)
        return false;
    image->digit[image->digits++] = digit;
    return true;
}

static bool append_repeats(struct image *image, const int64_t part[3])
{
    return append(image, (struct digit){AXES, part[2], 0}) &&
           append(image, (struct digit){N, part[1], 1}) &&
           append(image, (struct digit){AXES, part[0], 0});
}

bool view_repeat(struct image *image, const struct shape *shape, const struct shape *to,
                 struct batch batch)
{
    struct image split = *image;
    uint32_t end[GLCNN_ONNX_RANK], from = 0;
    const bool has_batch = view_batch(image).after;
    int64_t faster = shape_count(to), part[3];
    if (!view_split(&split, shape, end))
        return false;
    image->digits = 0;
    for (uint32_t i = 0; i < shape->rank; from = end[i++]) {
        faster /= to->dims[i];
        part_axis(to->dims[i], faster, has_batch ? (struct batch){1, 0} : batch, part);
        if (shape->dims[i] != to->dims[i] && !append_repeats(image, part))
            return false;
        for (uint32_t k = from; k < end[i]; k++)
            if (!append(image, split.digit[k]))
                return false;
    }
    view_merge(image);
    return true;
}

void view_drop_repeats(struct image *image, struct shape *shape)
{
    uint32_t end[GLCNN_ONNX_RANK], from = 0, kept = 0;
    struct image split = *image;
    if (!view_split(&split, shape, end))
        return;
    for (uint32_t i = 0; i < shape->rank; from = end[i++]) {
        bool repeats = from < end[i];
        for (uint32_t k = from; k < end[i]; k++)
            repeats = repeats && split.digit[k].axis == AXES;
        if (repeats)
            shape->dims[i] = 1;
        for (uint32_t k = from; k < end[i] && !repeats; k++)
            split.digit[kept++] = split.digit[k];
    }
    split.digits = kept;
    view_merge(&split);
    *image = split;
}

bool view_repeats(const struct image *image)
{
    for (uint32_t i = 0; i < image->digits; i++)
        if (image->digit[i].axis == AXES)
            return true;
    return false;
}

/* ---- Moving ---- */

/* Steps of an image's numbers, counted channels first, row-major, without the batch. */
static struct image linear(const struct image *image)
{
    struct image all = *image;
    all.digits = 0;
    for (uint32_t i = 0; i < image->digits; i++) {
        const struct digit *d = &image->digit[i];
        if (d->axis != N)
            all.digit[all.digits++] =
                (struct digit){C, d->size, d->stride * view_step(image, d->axis)};
    }
    view_merge(&all);
    return all;
}

/* The slowest in the other image first; runs that follow one another in both are one. */
static size_t sorted(struct run runs[], size_t count)
{
    size_t kept = 0;
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && runs[k].to > runs[k - 1].to; k--) {
            struct run slower = runs[k];
            runs[k] = runs[k - 1];
            runs[k - 1] = slower;
        }
    for (size_t i = 0; i < count; i++) {
        struct run *last = kept ? &runs[kept - 1] : NULL;
        bool follows = last && last->from == runs[i].from * runs[i].size &&
                       last->to == runs[i].to * runs[i].size;
        if (follows)
            *last = (struct run){last->size * runs[i].size, runs[i].from, runs[i].to};
        else
            runs[kept++] = runs[i];
    }
    return kept;
}

size_t view_runs(const struct image *image, const struct image *other, struct run runs[2 * DIGITS])
{
    struct image a = linear(image), b = linear(other);
    struct batch of_a = view_batch(image), of_b = view_batch(other);
    size_t count = 0;
    uint32_t i = 0, k = 0;
    if (of_a.images != of_b.images || of_a.after != of_b.after)
        return 0;
    while (i < a.digits && k < b.digits) {
        int64_t size = least(a.digit[i].size, b.digit[k].size);
        if (a.digit[i].size % size || b.digit[k].size % size)
            return 0;
        struct digit from = take(&a.digit[i], size), to = take(&b.digit[k], size);
        runs[count++] = (struct run){size, from.stride, to.stride};
        i += a.digit[i].size == 1;
        k += b.digit[k].size == 1;
    }
    if (i < a.digits || k < b.digits)
        return 0;
    if (count == 0)
        runs[count++] = (struct run){1, 1, 1};
    return sorted(runs, count);
}
