/* Only whole numbers, so that every machine gives the same bytes.
 *
 * One step from target to target is num / den of the source's pixels. Places are counted in units of
 * 1 / (2 den) of a pixel, in which all of them are whole. A picture that is to cover its target has the same
 * step in both extents, the largest by which it does; one that is to fit into it the smallest. One whose
 * shorter side is to be of a length is scaled to whole pixels, and cut at whole ones, as Pillow and
 * torchvision do: width and height may have steps that differ a little.
 *
 * Of a picture that fits in, targets whose middles lie outside of it have no weights, and become 0: black,
 * as what augmentation moves in. Those at its edges take the mean over what is inside, so that the picture
 * lies where its window says to any fraction of a pixel. */
#include "scale.h"

#include <stdlib.h>
#include <string.h>

#define ONE 65536 /* the weights of a target add up to it */

struct step {
    uint64_t num, den;
};

/* How many of the source's pixels a target may touch: within a step on both sides. */
static uint64_t reach(struct step s)
{
    return 2 * (s.num / s.den) + 4;
}

static bool axis_allocate(struct axis *a, uint32_t count, struct step s)
{
    const uint64_t weights = count * reach(s);
    a->count = count;
    a->begin = malloc(count * sizeof *a->begin);
    a->first = malloc((count + (size_t)1) * sizeof *a->first);
    a->weights = weights <= SIZE_MAX / sizeof *a->weights
                     ? malloc((size_t)weights * sizeof *a->weights)
                     : NULL;
    return a->begin && a->first && a->weights;
}

static void axis_free(struct axis *a)
{
    free(a->begin);
    free(a->first);
    free(a->weights);
}

/* The mean over what lies in the source of [from, from + 2 num): each weight is the step of a rounded sum, so that all of them
 * add up to ONE. Returns how many there are. */
static uint32_t area_weights(struct step s, uint32_t source, int64_t from, uint32_t *begin,
                             uint32_t *weights)
{
    const uint64_t unit = 2 * s.den, last = source * unit;
    const uint64_t low = from > 0 ? (uint64_t)from : 0;
    uint64_t high = (uint64_t)(from + 2 * (int64_t)s.num), done = 0;
    high = high < last ? high : last;
    const uint64_t total = high - low;
    uint32_t count = 0;
    *begin = (uint32_t)(low / unit);
    for (uint64_t pixel = *begin; pixel * unit < high; pixel++) {
        uint64_t end = (pixel + 1) * unit < high ? (pixel + 1) * unit : high;
        uint64_t sum = ((end - low) * ONE + total / 2) / total;
        weights[count++] = (uint32_t)(sum - done);
        done = sum;
    }
    return count;
}

/* Between the two pixels whose middles are next to `middle`. */
static uint32_t linear_weights(struct step s, uint32_t source, int64_t middle, uint32_t *begin,
                               uint32_t *weights)
{
    int64_t unit = 2 * (int64_t)s.den, place = middle - (int64_t)s.den;
    if (place < 0)
        place = 0;
    if (place > (int64_t)(source - 1) * unit)
        place = (int64_t)(source - 1) * unit;
    *begin = (uint32_t)(place / unit);
    uint32_t behind = (uint32_t)((place % unit * ONE + (int64_t)s.den) / unit);
    weights[0] = ONE - behind;
    weights[1] = behind;
    return behind ? 2 : 1;
}

/* By how far from the middle of a target, up to a step, which weighs its pixels as Pillow's BILINEAR
 * does: 1 - distance / step. As parts of TENT, so that sums of rows of 2^26 pixels are no more than 64
 * bits; each weight is again the step of a rounded sum. */
#define TENT ((uint64_t)1 << 20)
static uint64_t tent(struct step s, uint64_t middle, uint64_t pixel)
{
    const uint64_t place = (2 * pixel + 1) * s.den, support = 2 * s.num,
                   distance = place < middle ? middle - place : place - middle;
    return distance < support ? (support - distance) * TENT / support : 0;
}

static uint32_t tent_weights(struct step s, uint32_t source, uint64_t middle, uint32_t *begin,
                             uint32_t *weights)
{
    const uint64_t unit = 2 * s.den, support = 2 * s.num,
                   first = middle > support ? (middle - support) / unit : 0;
    uint64_t end = (middle + support) / unit + 1, total = 0, sum = 0, done = 0;
    end = end < source ? end : source;
    *begin = (uint32_t)first;
    for (uint64_t p = first; p < end; p++)
        total += tent(s, middle, p);
    for (uint64_t p = first; p < end; p++) {
        sum += tent(s, middle, p);
        const uint64_t rounded = (sum * ONE + total / 2) / total;
        weights[p - first] = (uint32_t)(rounded - done);
        done = rounded;
    }
    return (uint32_t)(end - first);
}

/* ---- Where targets lie ---- */

/* One extent. */
struct line {
    uint32_t source, target;
    struct step step;
    int64_t margin;      /* of the source, before the first target; below 0: of the border */
    bool is_resized;     /* to a side */
    uint32_t first, end; /* the targets that show the source */
};

/* The largest step by which the source covers the target, or the smallest by which it fits in. */
static struct step common_step(uint32_t source_width, uint32_t source_height,
                               const struct scaled *to)
{
    const bool is_wider = (uint64_t)source_width * to->height > (uint64_t)source_height * to->width,
               fits_in = to->fit == GLCNN_DATA_FIT_LETTERBOX;
    return is_wider == fits_in ? (struct step){source_width, to->width}
                               : (struct step){source_height, to->height};
}

static int64_t divide_up(int64_t number, int64_t by)
{
    return number <= 0 ? 0 : (number + by - 1) / by;
}

/* Targets whose middles are in the source; of a source that lies between two middles one of them. */
static void find_shown(struct line *l)
{
    const int64_t step = (int64_t)l->step.num, last = 2 * (int64_t)l->step.den * (int64_t)l->source;
    const int64_t end = divide_up(last - l->margin - step, 2 * step);
    l->first = (uint32_t)divide_up(-l->margin - step, 2 * step);
    l->end = end < l->target ? (uint32_t)end : l->target;
    if (l->first < l->end)
        return;
    l->first = l->target / 2;
    l->end = l->first + 1;
}

/* What is cut off before the first target, or is border. At the size that it has a picture is moved by
 * whole pixels, and stays as it is: where an odd number of them is left, the last row or column of the
 * image, once it is turned, has the larger part. */
static struct line centred_line(uint32_t source, uint32_t target, struct step s, bool is_backwards)
{
    const int64_t rest = (int64_t)source - target;
    const int64_t before = is_backwards ? rest - rest / 2 : rest / 2;
    struct line l = {.source = source, .target = target, .step = s};
    l.margin = s.num == s.den ? 2 * before * (int64_t)s.den
                              : (int64_t)(source * s.den) - (int64_t)(target * s.num);
    find_shown(&l);
    return l;
}

/* Python's round of half of it: to the even one. */
static uint64_t half(uint64_t n)
{
    return n / 2 + (n % 2 && n / 2 % 2);
}

/* torchvision's Resize, of whose lengths the longer is cut to a whole one, and CenterCrop. A picture
 * that is longer than LONGEST then is squeezed, since places must be whole numbers of 64 bits. */
#define LONGEST ((uint64_t)1 << 30)
static struct line resized_line(uint32_t source, uint32_t shorter, uint32_t target, uint32_t side)
{
    const uint64_t exact = (uint64_t)source * side / shorter,
                   resized = exact < LONGEST ? exact : LONGEST;
    struct line l = {
        source, target, {source, resized}, (int64_t)(2 * source * half(resized - target)), true,
        0,      target};
    return l;
}

static void find_lines(uint32_t source_width, uint32_t source_height, const struct scaled *to,
                       struct line lines[2])
{
    const bool stretches = to->fit == GLCNN_DATA_FIT_STRETCH;
    const struct step common = common_step(source_width, source_height, to),
                      x = stretches ? (struct step){source_width, to->width} : common,
                      y = stretches ? (struct step){source_height, to->height} : common;
    const uint32_t shorter = source_width < source_height ? source_width : source_height;
    lines[0] = to->side ? resized_line(source_width, shorter, to->width, to->side)
                        : centred_line(source_width, to->width, x, to->x_backwards);
    lines[1] = to->side ? resized_line(source_height, shorter, to->height, to->side)
                        : centred_line(source_height, to->height, y, to->y_backwards);
}

/* ---- Axes ---- */

static int64_t low_of(const struct line *l, uint32_t i)
{
    return l->margin + 2 * (int64_t)i * (int64_t)l->step.num;
}

static uint32_t weights_of(const struct line *l, uint32_t i, uint32_t *begin, uint32_t *weights)
{
    const struct step s = l->step;
    const int64_t low = low_of(l, i), middle = low + (int64_t)s.num;
    if (i < l->first || i >= l->end) {
        *begin = i < l->first ? 0 : l->source;
        return 0;
    }
    if (s.num < s.den)
        return linear_weights(s, l->source, middle, begin, weights);
    return l->is_resized ? tent_weights(s, l->source, (uint64_t)middle, begin, weights)
                         : area_weights(s, l->source, low, begin, weights);
}

static bool axis_create(struct axis *a, const struct line *l)
{
    if (!axis_allocate(a, l->target, l->step))
        return false;
    uint32_t used = 0;
    for (uint32_t i = 0; i < l->target; i++) {
        a->first[i] = used;
        used += weights_of(l, i, &a->begin[i], a->weights + used);
    }
    a->first[l->target] = used;
    return true;
}

static void find_nearest(const struct line *l, uint32_t *places)
{
    const int64_t last = (int64_t)l->source - 1;
    for (uint32_t i = 0; i < l->target; i++) {
        const int64_t middle = low_of(l, i) + (int64_t)l->step.num,
                      place = middle < 0 ? 0 : middle / (2 * (int64_t)l->step.den);
        places[i] =
            i < l->first || i >= l->end ? SCALE_BORDER : (uint32_t)(place < last ? place : last);
    }
}

void scale_nearest(uint32_t source_width, uint32_t source_height, const struct scaled *to,
                   uint32_t *x, uint32_t *y)
{
    struct line lines[2];
    find_lines(source_width, source_height, to, lines);
    find_nearest(&lines[0], x);
    find_nearest(&lines[1], y);
}

static void find_window(const struct line *l, double *begin, double *size)
{
    *begin = (double)l->margin / (2 * (double)l->step.den);
    *size = l->target * ((double)l->step.num / (double)l->step.den);
}

struct glcnn_data_window scale_window(uint32_t source_width, uint32_t source_height,
                                      const struct scaled *to)
{
    struct line lines[2];
    struct glcnn_data_window w;
    find_lines(source_width, source_height, to, lines);
    find_window(&lines[0], &w.left, &w.width);
    find_window(&lines[1], &w.top, &w.height);
    return w;
}

void glcnn_data_find_window(uint32_t picture_width, uint32_t picture_height,
                            const struct glcnn_data_parameters *parameters,
                            struct glcnn_data_window *window)
{
    const struct glcnn_data_parameters *p = parameters;
    const struct scaled to = {
        .width = p->width, .height = p->height, .side = p->resize, .fit = p->fit};
    *window = (struct glcnn_data_window){0, 0, 0, 0};
    if (picture_width > 0 && picture_height > 0 && p->width > 0 && p->height > 0)
        *window = scale_window(picture_width, picture_height, &to);
}

bool scaler_create(struct scaler *scaler, uint32_t source_width, uint32_t source_height,
                   const struct scaled *to, uint32_t channels)
{
    struct line lines[2];
    find_lines(source_width, source_height, to, lines);
    *scaler = (struct scaler){.channels = channels};
    scaler->row = malloc((size_t)to->width * channels * sizeof *scaler->row);
    scaler->sums = calloc((size_t)to->width * to->height * channels, sizeof *scaler->sums);
    if (scaler->row && scaler->sums && axis_create(&scaler->x, &lines[0]) &&
        axis_create(&scaler->y, &lines[1]))
        return true;
    scaler_destroy(scaler);
    return false;
}

void scaler_destroy(struct scaler *scaler)
{
    axis_free(&scaler->x);
    axis_free(&scaler->y);
    free(scaler->row);
    free(scaler->sums);
    *scaler = (struct scaler){0};
}

static void scale_row(struct scaler *scaler, const uint8_t *source)
{
    const struct axis *x = &scaler->x;
    uint32_t channels = scaler->channels;
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t c = 0; c < channels; c++) {
            const uint8_t *from = source + (size_t)x->begin[i] * channels + c;
            uint32_t sum = 128;
            for (uint32_t k = x->first[i]; k < x->first[i + 1]; k++, from += channels)
                sum += x->weights[k] * *from;
            scaler->row[i * channels + c] = (uint16_t)(sum >> 8);
        }
}

static uint32_t axis_end(const struct axis *a, uint32_t i)
{
    return a->begin[i] + (a->first[i + 1] - a->first[i]);
}

void scaler_row(struct scaler *scaler, const uint8_t *row)
{
    const struct axis *y = &scaler->y;
    size_t length = (size_t)scaler->x.count * scaler->channels;
    uint32_t at = scaler->source_y++;
    while (scaler->target_y < y->count && axis_end(y, scaler->target_y) <= at)
        scaler->target_y++;
    if (scaler->target_y == y->count || y->begin[scaler->target_y] > at)
        return;
    scale_row(scaler, row);
    for (uint32_t i = scaler->target_y; i < y->count && y->begin[i] <= at; i++) {
        uint32_t weight = at < axis_end(y, i) ? y->weights[y->first[i] + (at - y->begin[i])] : 0;
        uint32_t *sums = scaler->sums + i * length;
        for (size_t k = 0; k < length; k++)
            sums[k] += weight * scaler->row[k];
    }
}

/* Where EXIF's orientations take the pixel (0, 0) and its neighbours from: whether columns and rows
 * change places, and which of them run backwards in the source. */
static const struct {
    bool transposed, x_backwards, y_backwards;
} orientations[9] = {{false, false, false}, {false, false, false}, {false, true, false},
                     {false, true, true},   {false, false, true},  {true, false, false},
                     {true, false, true},   {true, true, true},    {true, true, false}};

void scale_turn(struct scaled *to, uint32_t orientation)
{
    const struct scaled shown = *to;
    to->width = orientations[orientation].transposed ? shown.height : shown.width;
    to->height = orientations[orientation].transposed ? shown.width : shown.height;
    to->x_backwards = orientations[orientation].x_backwards;
    to->y_backwards = orientations[orientation].y_backwards;
}

/* The pixel of the source that the turned picture has at X, Y. */
static size_t turned_place(uint32_t width, uint32_t height, uint32_t orientation, uint32_t X,
                           uint32_t Y)
{
    const bool transposed = orientations[orientation].transposed;
    uint32_t x = transposed ? Y : X, y = transposed ? X : Y;
    x = orientations[orientation].x_backwards ? width - 1 - x : x;
    y = orientations[orientation].y_backwards ? height - 1 - y : y;
    return (size_t)y * width + x;
}

void scale_turn_values(uint32_t width, uint32_t height, uint32_t orientation, const uint8_t *from,
                       uint8_t *to)
{
    const bool transposed = orientations[orientation].transposed;
    const uint32_t columns = transposed ? height : width, rows = transposed ? width : height;
    for (uint32_t Y = 0; Y < rows; Y++)
        for (uint32_t X = 0; X < columns; X++)
            *to++ = from[turned_place(width, height, orientation, X, Y)];
}

void scaler_finish(const struct scaler *scaler, uint32_t orientation, uint8_t *image)
{
    uint32_t width = scaler->x.count, height = scaler->y.count, channels = scaler->channels;
    bool transposed = orientations[orientation].transposed;
    uint32_t columns = transposed ? height : width, rows = transposed ? width : height;
    for (uint32_t Y = 0; Y < rows; Y++)
        for (uint32_t X = 0; X < columns; X++) {
            const uint32_t *from =
                scaler->sums + turned_place(width, height, orientation, X, Y) * channels;
            for (uint32_t c = 0; c < channels; c++)
                *image++ = (uint8_t)((from[c] + (1 << 23)) >> 24);
        }
}
