/* SVG pictures: their style, their text, and the file. */
#include "svg.h"

#include <glcnn/io.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

static const char style[] =
    "<style>\n"
    "text { font: 13px system-ui, 'Helvetica Neue', Helvetica, Arial, sans-serif; fill: #333 }\n"
    ".title { font-size: 17px; font-weight: 600 }\n"
    ".label { font-weight: 600 }\n"
    ".number { fill: #666 }\n"
    ".light { fill: #fff }\n"
    ".grid { stroke: #e4e4e4 }\n"
    ".axis { stroke: #888 }\n"
    ".line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round }\n"
    ".reach { stroke: none; fill-opacity: 0.15 }\n"
    "</style>\n";

void svg_escape(FILE *f, const char *text)
{
    for (struct character c; *text; text += c.length) {
        char shown[ESCAPE_MAX];
        c = escape_character(text, shown);
        if (strchr("&<>\"'", *text))
            fprintf(f, "&#%d;", *text);
        else
            fputs(shown, f);
    }
}

void svg_text(FILE *f, double x, double y, const char *kind, const char *anchor, const char *text)
{
    fprintf(f, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", kind, x, y, anchor);
    svg_escape(f, text);
    fprintf(f, "</text>\n");
}

static void draw_all(FILE *f, const struct svg *svg)
{
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
            "height=\"%.0f\">\n%s<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            svg->width, svg->height, svg->width, svg->height, style);
    svg->draw(f, svg->what);
    fprintf(f, "</svg>\n");
}

void svg_embed(FILE *f, const struct svg *svg, const char *label)
{
    fprintf(f, "<svg role=\"img\" aria-label=\"");
    svg_escape(f, label);
    fprintf(f, "\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\">\n", svg->width,
            svg->height, svg->width, svg->height);
    svg->draw(f, svg->what);
    fprintf(f, "</svg>\n");
}

bool svg_write(const char *path, const struct svg *svg, char error[GLCNN_ERROR_LENGTH])
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    bool good = memory;
    if (memory) {
        draw_all(memory, svg);
        good = !ferror(memory);
        good = fclose(memory) == 0 && good;
    }
    if (!good)
        snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: cannot be written: not enough memory", path);
    good = good && glcnn_file_save(path, text, size, error) == GLCNN_SUCCESS;
    free(text);
    return good;
}
