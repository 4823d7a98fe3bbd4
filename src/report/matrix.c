/* A confusion matrix as a grid of cells, with numbers and names where they find room. */
#include "matrix.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <stdio.h>

#include "base/escape.h"
#include "svg.h"

#define LEFT       24  /* margin; so are the right and the lower one */
#define TOP        64  /* room for the title */
#define UNTITLED   36  /* the same without one */
#define LEAST_WIDE 420 /* so that the title has room */
#define SIDE       560 /* of the grid, as long as its cells are within: */
#define MOST_CELL  56  /* pixels of a cell */
#define LEAST_CELL 4
#define NUMBERED   30  /* pixels of a cell from which on it has its number */
#define NAMED      15  /* and from which on a row has its name */
#define LETTER     7.5 /* pixels of a letter, about */
#define MOST_NAME  20  /* letters of a name that there is room for */

struct matrix {
    const char *title;        /* NULL: none */
    const char *const *names; /* [classes], UTF-8 */
    uint32_t classes;
    const uint64_t *counts; /* [classes][classes] */
};

struct picture {
    const struct matrix *matrix;
    double cell, left, top; /* pixels of a cell; the grid's corner */
};

static double name_width(const struct matrix *m)
{
    size_t most = 0;
    for (uint32_t k = 0; k < m->classes; k++) {
        size_t columns = escaped_columns(m->names[k]);
        most = columns > most ? columns : most;
    }
    return LETTER * (double)(most < MOST_NAME ? most : MOST_NAME);
}

static struct picture lay_out(const struct matrix *m)
{
    double cell = fmax(LEAST_CELL, fmin(MOST_CELL, floor(SIDE / (double)m->classes)));
    double named = cell >= NAMED ? name_width(m) + 8 : 0;
    return (struct picture){m, cell, LEFT + named, (m->title ? TOP : UNTITLED) + named};
}

static void draw_cell(FILE *f, const struct picture *p, uint32_t of, uint32_t as)
{
    const uint64_t *row = p->matrix->counts + (size_t)of * p->matrix->classes;
    double x = p->left + as * p->cell, y = p->top + of * p->cell, all = 0;
    char text[32];
    if (row[as] == 0)
        return;
    for (uint32_t k = 0; k < p->matrix->classes; k++)
        all += (double)row[k];
    double share = (double)row[as] / all;
    fprintf(f,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" "
            "fill-opacity=\"%.3f\"/>\n",
            x, y, p->cell, p->cell, of == as ? "#1f5fa8" : "#d1590a", share);
    snprintf(text, sizeof text, "%" PRIu64, row[as]);
    if (p->cell >= NUMBERED)
        svg_text(f, x + p->cell / 2, y + p->cell / 2 + 4.5, share > 0.5 ? "light" : "cell",
                 "middle", text);
}

/* A row's name stands left of it, a column's above it, from the bottom up. */
static void draw_names(FILE *f, const struct picture *p, uint32_t k)
{
    double middle = (k + 0.5) * p->cell + 4.5;
    svg_text(f, p->left - 8, p->top + middle, "", "end", p->matrix->names[k]);
    fprintf(f, "<g transform=\"translate(%.1f %.1f) rotate(-90)\">", p->left + middle, p->top - 8);
    svg_text(f, 0, 0, "", "start", p->matrix->names[k]);
    fprintf(f, "</g>\n");
}

static void draw(FILE *f, const void *what)
{
    const struct picture *p = what;
    const uint32_t classes = p->matrix->classes;
    if (p->matrix->title)
        svg_text(f, LEFT, 28, "title", "start", p->matrix->title);
    svg_text(f, LEFT, p->matrix->title ? 46 : UNTITLED - 18, "number", "start",
             "rows: true classes; columns: predicted ones");
    for (uint32_t of = 0; of < classes; of++)
        for (uint32_t as = 0; as < classes; as++)
            draw_cell(f, p, of, as);
    for (uint32_t k = 0; k < classes && p->cell >= NAMED; k++)
        draw_names(f, p, k);
    fprintf(f,
            "<rect class=\"axis\" fill=\"none\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
            "height=\"%.1f\"/>\n",
            p->left, p->top, classes * p->cell, classes * p->cell);
}

static struct svg svg_of(const struct picture *p)
{
    double side = p->matrix->classes * p->cell;
    return (struct svg){fmax(p->left + side, LEAST_WIDE) + LEFT, p->top + side + LEFT, draw, p};
}

static bool write_matrix(const char *path, const struct matrix *m, char error[GLCNN_ERROR_LENGTH])
{
    const struct picture p = lay_out(m);
    const struct svg svg = svg_of(&p);
    return svg_write(path, &svg, error);
}

static void embed_matrix(FILE *f, const struct matrix *m, const char *label)
{
    const struct picture p = lay_out(m);
    const struct svg svg = svg_of(&p);
    svg_embed(f, &svg, label);
}

/* ---- Of a score ---- */

/* NULL: not enough memory. */
static uint64_t *copy_counts(const struct score *score)
{
    const size_t cells = (size_t)score->form.classes * score->form.classes;
    uint64_t *counts = malloc(cells * sizeof *counts);
    for (size_t i = 0; counts && i < cells; i++)
        counts[i] = (uint64_t)score->sums[i];
    return counts;
}

bool matrix_write_score(const struct score *score, const char *const *names, const char *path,
                        char error[GLCNN_ERROR_LENGTH])
{
    char title[64];
    uint64_t *counts = copy_counts(score);
    snprintf(title, sizeof title, "%s %.4f on %" PRIu64 " images", score->task->measure,
             score_measure(score), score->count);
    snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
    bool good =
        counts &&
        write_matrix(path, &(struct matrix){title, names, score->form.classes, counts}, error);
    free(counts);
    return good;
}

void matrix_embed_score(FILE *f, const struct score *score, const char *const *names,
                        const char *label)
{
    uint64_t *counts = copy_counts(score);
    if (counts)
        embed_matrix(f, &(struct matrix){NULL, names, score->form.classes, counts}, label);
    free(counts);
}
