/* Three layers: a canvas of grey and coloured pixels with anti-aliased lines and a 5x7 font; axes
 * that choose their own ticks; the curve. */
#include "plot.h"

#include <ctype.h>
#include <glcnn/io.h>
#include <math.h>
#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Canvas ---- */

struct canvas {
    unsigned width, height;
    uint8_t *pixels; /* RGB */
};

struct colour {
    uint8_t red, green, blue;
};

static const struct colour ink = {40, 40, 40}, grid = {225, 225, 225}, point = {170, 195, 225},
                           curve = {25, 90, 170};

static void blend(struct canvas *c, int x, int y, struct colour colour, double coverage)
{
    if (x < 0 || y < 0 || x >= (int)c->width || y >= (int)c->height || coverage <= 0)
        return;
    uint8_t *pixel = c->pixels + 3 * ((size_t)y * c->width + (size_t)x);
    const uint8_t wanted[3] = {colour.red, colour.green, colour.blue};
    for (int i = 0; i < 3; i++)
        pixel[i] = (uint8_t)lround(pixel[i] + (wanted[i] - pixel[i]) * fmin(coverage, 1));
}

/* Distance from (x, y) to the segment a-b. */
static double distance(double x, double y, const double a[2], const double b[2])
{
    double dx = b[0] - a[0], dy = b[1] - a[1];
    double squared = dx * dx + dy * dy;
    double t = squared > 0 ? ((x - a[0]) * dx + (y - a[1]) * dy) / squared : 0;
    t = fmin(fmax(t, 0), 1);
    return hypot(x - a[0] - t * dx, y - a[1] - t * dy);
}

/* A segment of `thickness` pixels with round ends. A pixel is covered by how far it lies inside. */
static void draw_segment(struct canvas *c, const double a[2], const double b[2], double thickness,
                         struct colour colour)
{
    double reach = thickness / 2 + 1;
    int left = (int)floor(fmin(a[0], b[0]) - reach), right = (int)ceil(fmax(a[0], b[0]) + reach);
    int top = (int)floor(fmin(a[1], b[1]) - reach), bottom = (int)ceil(fmax(a[1], b[1]) + reach);
    for (int y = top; y <= bottom; y++)
        for (int x = left; x <= right; x++)
            blend(c, x, y, colour, thickness / 2 + 0.5 - distance(x, y, a, b));
}

static void fill(struct canvas *c, int x, int y, int width, int height, struct colour colour)
{
    for (int j = 0; j < height; j++)
        for (int i = 0; i < width; i++)
            blend(c, x + i, y + j, colour, 1);
}

/* ---- Letters ---- */

#define GLYPH_WIDTH  5
#define GLYPH_HEIGHT 7
#define ADVANCE      6
#define SCALE        2 /* pixels to a dot */

/* Rows from the top; bit 4 is the leftmost dot. Small letters are shown as capitals. */
static const struct glyph {
    char letter;
    uint8_t rows[GLYPH_HEIGHT];
} glyphs[] = {
    {'0', {14, 17, 19, 21, 25, 17, 14}}, {'1', {4, 12, 4, 4, 4, 4, 14}},
    {'2', {14, 17, 1, 2, 4, 8, 31}},     {'3', {31, 2, 4, 2, 1, 17, 14}},
    {'4', {2, 6, 10, 18, 31, 2, 2}},     {'5', {31, 16, 30, 1, 1, 17, 14}},
    {'6', {6, 8, 16, 30, 17, 17, 14}},   {'7', {31, 1, 2, 4, 8, 8, 8}},
    {'8', {14, 17, 17, 14, 17, 17, 14}}, {'9', {14, 17, 17, 15, 1, 2, 12}},
    {'.', {0, 0, 0, 0, 0, 12, 12}},      {',', {0, 0, 0, 0, 12, 4, 8}},
    {'-', {0, 0, 0, 31, 0, 0, 0}},       {'+', {0, 4, 4, 31, 4, 4, 0}},
    {'/', {0, 1, 2, 4, 8, 16, 0}},       {'(', {2, 4, 8, 8, 8, 4, 2}},
    {')', {8, 4, 2, 2, 2, 4, 8}},        {'%', {24, 25, 2, 4, 8, 19, 3}},
    {':', {0, 12, 12, 0, 12, 12, 0}},    {'=', {0, 0, 31, 0, 31, 0, 0}},
    {'A', {14, 17, 17, 17, 31, 17, 17}}, {'B', {30, 17, 17, 30, 17, 17, 30}},
    {'C', {14, 17, 16, 16, 16, 17, 14}}, {'D', {28, 18, 17, 17, 17, 18, 28}},
    {'E', {31, 16, 16, 30, 16, 16, 31}}, {'F', {31, 16, 16, 30, 16, 16, 16}},
    {'G', {14, 17, 16, 23, 17, 17, 15}}, {'H', {17, 17, 17, 31, 17, 17, 17}},
    {'I', {14, 4, 4, 4, 4, 4, 14}},      {'J', {7, 2, 2, 2, 2, 18, 12}},
    {'K', {17, 18, 20, 24, 20, 18, 17}}, {'L', {16, 16, 16, 16, 16, 16, 31}},
    {'M', {17, 27, 21, 21, 17, 17, 17}}, {'N', {17, 17, 25, 21, 19, 17, 17}},
    {'O', {14, 17, 17, 17, 17, 17, 14}}, {'P', {30, 17, 17, 30, 16, 16, 16}},
    {'Q', {14, 17, 17, 17, 21, 18, 13}}, {'R', {30, 17, 17, 30, 20, 18, 17}},
    {'S', {15, 16, 16, 14, 1, 1, 30}},   {'T', {31, 4, 4, 4, 4, 4, 4}},
    {'U', {17, 17, 17, 17, 17, 17, 14}}, {'V', {17, 17, 17, 17, 17, 10, 4}},
    {'W', {17, 17, 17, 21, 21, 21, 10}}, {'X', {17, 17, 10, 4, 10, 17, 17}},
    {'Y', {17, 17, 17, 10, 4, 4, 4}},    {'Z', {31, 1, 2, 4, 8, 16, 31}},
};

static void draw_letter(struct canvas *c, int x, int y, char letter)
{
    char wanted = (char)toupper((unsigned char)letter);
    for (size_t g = 0; g < sizeof glyphs / sizeof *glyphs; g++)
        for (int row = 0; row < GLYPH_HEIGHT && glyphs[g].letter == wanted; row++)
            for (int column = 0; column < GLYPH_WIDTH; column++)
                if (glyphs[g].rows[row] >> (GLYPH_WIDTH - 1 - column) & 1)
                    fill(c, x + column * SCALE, y + row * SCALE, SCALE, SCALE, ink);
}

static int text_width(const char *text)
{
    return (int)strlen(text) * ADVANCE * SCALE;
}

static void draw_text(struct canvas *c, int x, int y, const char *text)
{
    for (; *text; text++, x += ADVANCE * SCALE)
        draw_letter(c, x, y, *text);
}

/* ---- Axes ---- */

#define TICK 6 /* length in pixels */

struct axis {
    double from, to; /* values at the ends */
    double step;     /* between ticks */
    int begin, end;  /* pixels of the ends */
};

/* The least of 1, 2, 5 x 10^n that is not below `least`. */
static double nice_step(double least)
{
    double power = pow(10, floor(log10(least)));
    double digit = least / power;
    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

static double axis_place(const struct axis *axis, double value)
{
    return axis->begin + (value - axis->from) / (axis->to - axis->from) * (axis->end - axis->begin);
}

/* As many decimals as the step has; powers of ten where numbers would grow long. */
static void format_tick(char text[32], double value, double step)
{
    double rounded = round(value / step) * step;
    int decimals = step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;
    if (decimals > 4 || fabs(rounded) >= 1e6)
        snprintf(text, 32, "%.4g", rounded);
    else
        snprintf(text, 32, "%.*f", decimals, rounded + 0.0);
}

static void draw_x_axis(struct canvas *c, const struct axis *x, const struct axis *y)
{
    for (double i = ceil(x->from / x->step - 1e-9); i * x->step <= x->to * (1 + 1e-9); i++) {
        char text[32];
        int at = (int)lround(axis_place(x, i * x->step));
        format_tick(text, i * x->step, x->step);
        fill(c, at, y->end, 1, y->begin - y->end, grid);
        fill(c, at, y->begin, 1, TICK, ink);
        draw_text(c, at - text_width(text) / 2, y->begin + TICK + 4, text);
    }
    fill(c, x->begin, y->begin, x->end - x->begin + 1, 1, ink);
}

static void draw_y_axis(struct canvas *c, const struct axis *x, const struct axis *y)
{
    double last = y->to + 1e-9 * (y->to - y->from);
    for (double i = ceil(y->from / y->step - 1e-9); i * y->step <= last; i++) {
        char text[32];
        int at = (int)lround(axis_place(y, i * y->step));
        format_tick(text, i * y->step, y->step);
        fill(c, x->begin, at, x->end - x->begin, 1, grid);
        fill(c, x->begin - TICK, at, TICK, 1, ink);
        draw_text(c, x->begin - TICK - 4 - text_width(text), at - GLYPH_HEIGHT * SCALE / 2, text);
    }
    fill(c, x->begin, y->end, 1, y->begin - y->end + 1, ink);
}

/* From 0 up where the values are positive and reach near it; ends are whole steps. */
static struct axis choose_y_axis(const struct plot *plot, int begin, int end)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < plot->count; i++) {
        if (!isfinite(plot->values[i]))
            continue;
        least = fmin(least, plot->values[i]);
        most = fmax(most, plot->values[i]);
    }
    if (least > most)
        least = 0, most = 1;
    if (least >= 0 && least < most / 2)
        least = 0;
    double spread = fmax(most - least, fmax(fabs(most) * 1e-3, 1e-30));
    double step = nice_step(spread / 6);
    double from = floor(least / step + 1e-9) * step, to = ceil(most / step - 1e-9) * step;
    return (struct axis){from, to > from ? to : from + step, step, begin, end};
}

/* Pixels that the longest number beside the axis takes. */
static int numbers_width(const struct axis *axis)
{
    int widest = 0;
    for (double value = axis->from; value < axis->to + axis->step / 2; value += axis->step) {
        char text[32];
        format_tick(text, value, axis->step);
        widest = text_width(text) > widest ? text_width(text) : widest;
    }
    return widest;
}

static struct axis choose_x_axis(const struct plot *plot, int begin, int end)
{
    double to = (double)plot->count;
    return (struct axis){0, to, fmax(nice_step(to / 8), 1), begin, end};
}

/* ---- Curve ---- */

/* Mean of the finite values among `smooth` around value i; false if there is none. */
static bool mean_around(const struct plot *plot, size_t i, size_t smooth, double *mean)
{
    size_t half = smooth / 2;
    size_t first = i > half ? i - half : 0;
    size_t last = plot->count - 1 - i > half ? i + half : plot->count - 1;
    double sum = 0;
    size_t count = 0;
    for (size_t j = first; j <= last; j++) {
        if (!isfinite(plot->values[j]))
            continue;
        sum += plot->values[j];
        count++;
    }
    *mean = count ? sum / (double)count : 0;
    return count > 0;
}

static void draw_points(struct canvas *c, const struct plot *plot, const struct axis *x,
                        const struct axis *y)
{
    for (size_t i = 0; i < plot->count; i++) {
        if (!isfinite(plot->values[i]))
            continue;
        double at[2] = {axis_place(x, (double)i + 1), axis_place(y, plot->values[i])};
        draw_segment(c, at, at, 2.5, point);
    }
}

/* One vertex a pixel column at most: more would only darken the line. */
static void draw_line(struct canvas *c, const struct plot *plot, const struct axis *x,
                      const struct axis *y)
{
    size_t smooth = plot->smooth ? plot->smooth : plot->count / 50 + 1;
    double before[2];
    bool drawing = false;
    for (size_t i = 0; i < plot->count; i++) {
        double mean;
        double at[2] = {axis_place(x, (double)i + 1), 0};
        if (drawing && at[0] - before[0] < 1 && i + 1 < plot->count)
            continue;
        bool known = mean_around(plot, i, smooth, &mean);
        at[1] = axis_place(y, mean);
        if (known)
            draw_segment(c, drawing ? before : at, at, 2, curve);
        memcpy(before, at, sizeof before);
        drawing = known;
    }
}

static void draw(struct canvas *c, const struct plot *plot)
{
    int line = GLYPH_HEIGHT * SCALE;
    struct axis y = choose_y_axis(plot, (int)c->height - 4 * line, 3 * line);
    struct axis x = choose_x_axis(plot, numbers_width(&y) + 2 * line, (int)c->width - 2 * line);
    draw_x_axis(c, &x, &y);
    draw_y_axis(c, &x, &y);
    draw_points(c, plot, &x, &y);
    draw_line(c, plot, &x, &y);
    if (plot->title)
        draw_text(c, (x.begin + x.end - text_width(plot->title)) / 2, line, plot->title);
    if (plot->y_label)
        draw_text(c, line / 2, line, plot->y_label);
    if (plot->x_label)
        draw_text(c, x.end - text_width(plot->x_label), (int)c->height - 3 * line / 2,
                  plot->x_label);
}

/* ---- File ---- */

static bool fail(char error[GLCNN_ERROR_LENGTH], const char *path, const char *reason)
{
    snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: cannot be written: %.150s", path, reason);
    return false;
}

static bool write_png(const char *path, const struct canvas *c, char error[GLCNN_ERROR_LENGTH])
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = c->width,
                       .height = c->height,
                       .format = PNG_FORMAT_RGB};
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    void *bytes = malloc(size);
    if (!bytes)
        return fail(error, path, "not enough memory");
    bool good = png_image_write_to_memory(&image, bytes, &size, 0, c->pixels, 0, NULL) != 0;
    if (!good)
        fail(error, path, image.message);
    else
        good = glcnn_file_save(path, bytes, size, error) == GLCNN_SUCCESS;
    free(bytes);
    return good;
}

bool plot_write(const char *path, const struct plot *plot, char error[GLCNN_ERROR_LENGTH])
{
    struct canvas canvas = {plot->width ? plot->width : 960, plot->height ? plot->height : 540,
                            NULL};
    if (plot->count == 0)
        return fail(error, path, "there are no values to show");
    if (canvas.width < 200 || canvas.height < 150 || canvas.width > 8192 || canvas.height > 8192)
        return fail(error, path, "a picture has 200 x 150 to 8192 x 8192 pixels");
    size_t size = (size_t)canvas.width * canvas.height * 3;
    canvas.pixels = malloc(size);
    if (!canvas.pixels)
        return fail(error, path, "not enough memory");
    memset(canvas.pixels, 255, size);
    draw(&canvas, plot);
    bool good = write_png(path, &canvas, error);
    free(canvas.pixels);
    return good;
}
