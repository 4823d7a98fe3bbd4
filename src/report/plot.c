/* Three layers: axes that choose their own ticks; a panel of lines; the file. */
#include "plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "svg.h"

#define WIDTH  960
#define HEIGHT 300 /* of a panel's axes */
#define TICK_X 108 /* pixels between ticks at least */
#define TICK_Y 50
#define LEFT   72
#define RIGHT  24
#define TOP    64
#define PLAIN  32 /* the same without a title */
#define GAP    40 /* between panels */
#define BOTTOM 56
#define BINS   150 /* points of a line at most */

static const char *const colours[PLOT_LINES] = {"#1f5fa8", "#d1590a"};

static double width_of(const struct plot *plot)
{
    return plot->width > 0 ? plot->width : WIDTH;
}

static double panel_height(const struct plot *plot)
{
    return plot->height > 0 ? plot->height : HEIGHT;
}

static double top_of(const struct plot *plot)
{
    return plot->title ? TOP : PLAIN;
}

/* ---- Axes ---- */

struct axis {
    double from, to;   /* values at the ends */
    double step;       /* between ticks */
    double begin, end; /* places of the ends */
};

/* The least of 1, 2, 5 x 10^n that is not below `least`. */
static double nice_step(double least)
{
    double power = pow(10, floor(log10(least)));
    double digit = least / power;
    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

static double place(const struct axis *axis, double value)
{
    double part = (value - axis->from) / (axis->to - axis->from);
    return axis->begin + part * (axis->end - axis->begin);
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

struct range {
    double least, most;
};

static void widen(struct range *range, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) {
            range->least = fmin(range->least, values[i]);
            range->most = fmax(range->most, values[i]);
        }
}

/* From 0 up where the values are positive and reach near it; ends are whole steps. */
static struct axis choose_y(const struct plot_panel *panel, double top, double height)
{
    struct range r = {INFINITY, -INFINITY};
    for (size_t i = 0; i < PLOT_LINES; i++)
        if (panel->lines[i].name)
            widen(&r, panel->lines[i].y, panel->lines[i].count);
    if (r.least > r.most)
        r = (struct range){0, 1};
    if (r.least >= 0 && r.least < r.most / 2)
        r.least = 0;
    double spread = fmax(r.most - r.least, fmax(fabs(r.most) * 1e-3, 1e-30));
    double step = nice_step(spread / (height / TICK_Y));
    double from = floor(r.least / step + 1e-9) * step, to = ceil(r.most / step - 1e-9) * step;
    return (struct axis){from, to > from ? to : from + step, step, top + height, top};
}

static struct axis choose_x(const struct plot *plot)
{
    struct range r = {INFINITY, -INFINITY};
    for (size_t p = 0; p < plot->panel_count; p++)
        for (size_t i = 0; i < PLOT_LINES; i++)
            if (plot->panels[p].lines[i].name)
                widen(&r, plot->panels[p].lines[i].x, plot->panels[p].lines[i].count);
    if (!(r.least < r.most))
        r = (struct range){0, isfinite(r.most) && r.most > 0 ? r.most : 1};
    if (r.least > 0 && r.least < r.most / 2)
        r.least = 0;
    double begin = LEFT, end = width_of(plot) - RIGHT;
    double step = nice_step((r.most - r.least) / ((end - begin) / TICK_X));
    return (struct axis){r.least, r.most, step, begin, end};
}

static size_t count_ticks(const struct axis *axis)
{
    double first = ceil(axis->from / axis->step - 1e-9);
    return (size_t)(floor(axis->to / axis->step + 1e-9) - first) + 1;
}

static double tick(const struct axis *axis, size_t i)
{
    return (ceil(axis->from / axis->step - 1e-9) + (double)i) * axis->step;
}

static void draw_x(FILE *f, const struct axis *x, const struct axis *y, bool numbers)
{
    for (size_t i = 0; i < count_ticks(x); i++) {
        char text[32];
        double at = place(x, tick(x, i));
        format_tick(text, tick(x, i), x->step);
        fprintf(f, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", at, y->end, y->begin);
        if (numbers)
            svg_text(f, at, y->begin + 20, "number", "middle", text);
    }
    fprintf(f, "<path class=\"axis\" d=\"M%.1f %.1fH%.1f\"/>\n", x->begin, y->begin, x->end);
}

static void draw_y(FILE *f, const struct axis *x, const struct axis *y)
{
    for (size_t i = 0; i < count_ticks(y); i++) {
        char text[32];
        double at = place(y, tick(y, i));
        format_tick(text, tick(y, i), y->step);
        fprintf(f, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", x->begin, at, x->end);
        svg_text(f, x->begin - 8, at + 4.5, "number", "end", text);
    }
}

/* ---- Lines ---- */

/* Neighbours of a line that are drawn as one point. */
struct point {
    double x, mean, least, most;
    bool known; /* one is finite at least */
};

static struct point gather(const struct plot_line *line, size_t first, size_t last)
{
    struct point p = {.least = INFINITY, .most = -INFINITY};
    size_t count = 0;
    for (size_t i = first; i < last; i++) {
        p.x += line->x[i] / (double)(last - first);
        if (!isfinite(line->y[i]))
            continue;
        count++;
        p.mean += (line->y[i] - p.mean) / (double)count;
        p.least = fmin(p.least, line->y[i]);
        p.most = fmax(p.most, line->y[i]);
    }
    p.known = count > 0;
    return p;
}

static size_t make_points(const struct plot_line *line, struct point points[BINS])
{
    size_t count = line->count < BINS ? line->count : BINS;
    for (size_t i = 0; i < count; i++)
        points[i] = gather(line, i * line->count / count, (i + 1) * line->count / count);
    return count;
}

/* What the neighbours of each point reach over, there along the largest and back along the least. */
static void draw_reach(FILE *f, const struct point *points, size_t count, const char *colour,
                       const struct axis *x, const struct axis *y)
{
    char command = 'M';
    fprintf(f, "<path class=\"reach\" fill=\"%s\" d=\"", colour);
    for (size_t i = 0; i < 2 * count; i++) {
        const struct point *p = &points[i < count ? i : 2 * count - 1 - i];
        if (!p->known)
            continue;
        fprintf(f, "%c%.1f %.1f", command, place(x, p->x),
                place(y, i < count ? p->most : p->least));
        command = 'L';
    }
    fprintf(f, "\"/>\n");
}

static void draw_points(FILE *f, const struct point *points, size_t count, const char *colour,
                        const struct axis *x, const struct axis *y)
{
    bool drawing = false;
    fprintf(f, "<path class=\"line\" stroke=\"%s\" d=\"", colour);
    for (size_t i = 0; i < count; i++) {
        if (points[i].known)
            fprintf(f, "%c%.1f %.1f", drawing ? 'L' : 'M', place(x, points[i].x),
                    place(y, points[i].mean));
        drawing = points[i].known;
    }
    fprintf(f, "\"/>\n");
}

static void draw_line(FILE *f, const struct plot_line *line, const char *colour,
                      const struct axis *x, const struct axis *y)
{
    struct point points[BINS];
    size_t count = make_points(line, points);
    if (count < line->count)
        draw_reach(f, points, count, colour, x, y);
    draw_points(f, points, count, colour, x, y);
    for (size_t i = 0; i < count; i++)
        if (points[i].known && (line->marked || count == 1))
            fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n",
                    place(x, points[i].x), place(y, points[i].mean), colour);
}

static void draw_names(FILE *f, const struct plot_panel *panel, double right, double top)
{
    for (size_t i = PLOT_LINES; i-- > 0;) {
        const char *name = panel->lines[i].name;
        if (!name)
            continue;
        svg_text(f, right, top - 10, "", "end", name);
        right -= 7.5 * (double)strlen(name) + 10;
        fprintf(f, "<path class=\"line\" stroke=\"%s\" d=\"M%.1f %.1fh24\"/>\n", colours[i],
                right - 24, top - 14.5);
        right -= 48;
    }
}

static void draw_panel(FILE *f, const struct plot *plot, size_t p, const struct axis *x)
{
    const struct plot_panel *panel = &plot->panels[p];
    double height = panel_height(plot), top = top_of(plot) + (double)p * (height + GAP);
    struct axis y = choose_y(panel, top, height);
    draw_x(f, x, &y, p + 1 == plot->panel_count);
    draw_y(f, x, &y);
    for (size_t i = 0; i < PLOT_LINES; i++)
        if (panel->lines[i].name)
            draw_line(f, &panel->lines[i], colours[i], x, &y);
    svg_text(f, LEFT, top - 10, "label", "start", panel->label);
    draw_names(f, panel, x->end, top);
}

/* ---- File ---- */

static double height_of(const struct plot *plot)
{
    return top_of(plot) + (double)plot->panel_count * (panel_height(plot) + GAP) - GAP + BOTTOM;
}

static void draw(FILE *f, const void *what)
{
    const struct plot *plot = what;
    struct axis x = choose_x(plot);
    if (plot->title)
        svg_text(f, LEFT, 28, "title", "start", plot->title);
    for (size_t p = 0; p < plot->panel_count; p++)
        draw_panel(f, plot, p, &x);
    if (plot->x_label)
        svg_text(f, x.end, height_of(plot) - 14, "label", "end", plot->x_label);
}

bool plot_write(const char *path, const struct plot *plot, char error[GLCNN_ERROR_LENGTH])
{
    return svg_write(path, &(struct svg){width_of(plot), height_of(plot), draw, plot}, error);
}

void plot_embed(FILE *f, const struct plot *plot, const char *label)
{
    svg_embed(f, &(struct svg){width_of(plot), height_of(plot), draw, plot}, label);
}
