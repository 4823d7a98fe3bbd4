/* The pictures of a report's page, which lie in it as PNG. */
#include <stdlib.h>

#include "task/png_file.h"
#include "report_page.h"
#include "svg.h"

static void print_base64(FILE *f, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16 |
                         (i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (i + 2 < size ? bytes[i + 2] : 0);
        fputc(digits[three >> 18], f);
        fputc(digits[three >> 12 & 63], f);
        fputc(i + 1 < size ? digits[three >> 6 & 63] : '=', f);
        fputc(i + 2 < size ? digits[three & 63] : '=', f);
    }
}

/* With an alternative text in two parts. */
void report_print_picture(FILE *f, const struct shown *p, const char *what, const char *name)
{
    const char *reason;
    size_t size;
    void *png =
        p->bytes ? png_encode(p->bytes, p->width, p->height, p->channels, &size, &reason) : NULL;
    if (!png) {
        fprintf(f, "<p class=\"faint\">This picture could not be read again.</p>\n");
        return;
    }
    fprintf(f, "<img width=\"%u\" height=\"%u\" alt=\"", p->width, p->height);
    svg_escape(f, what);
    svg_escape(f, name);
    fprintf(f, "\" src=\"data:image/png;base64,");
    print_base64(f, png, size);
    fprintf(f, "\"/>");
    free(png);
}

static void print_line(FILE *f, const char *class, const char *text)
{
    if (!*text)
        return;
    fprintf(f, "<b class=\"%s\">", class);
    svg_escape(f, text);
    fprintf(f, "</b><br/>");
}

static void print_mistake(FILE *f, const struct report *r, uint32_t i)
{
    const struct mistake *m = &r->findings->worst[i];
    struct remark remark = {"", ""};
    if (r->score->task->remark)
        r->score->task->remark(m->numbers, r->names, &remark);
    fprintf(f, "<figure>");
    if (r->worst[i].found.bytes) {
        fprintf(f, "<div class=\"two\"><div>");
        report_print_picture(f, &r->worst[i].shown, "What is true of ", r->worst[i].name);
        fprintf(f, "<small class=\"faint\">true</small></div><div>");
        report_print_picture(f, &r->worst[i].found, "What was found in ", r->worst[i].name);
        fprintf(f, "<small class=\"faint\">found</small></div></div>");
    } else
        report_print_picture(f, &r->worst[i].shown, "Picture ", r->worst[i].name);
    fprintf(f, "<figcaption>");
    print_line(f, "wrong", remark.said);
    print_line(f, "right", remark.is);
    fprintf(f, "<small>loss %.3g<br/>", m->loss);
    svg_escape(f, r->worst[i].name);
    fprintf(f, "</small></figcaption></figure>\n");
}

void report_print_worst(FILE *f, const struct report *r)
{
    if (r->findings->worst_count == 0)
        return;
    fprintf(f,
            "<h2>The most wrong pictures</h2>\n<p>The %s pictures with the highest loss%s. "
            "Look here first: often a label is wrong, or a picture is not what it should be.</p>\n"
            "<div class=\"pictures%s\">\n",
            r->part,
            r->score->task->count_right
                ? ": what the network said, and what the label says, each with the probability "
                  "that the network gave it"
            : r->score->task->show ? ": what is true, and beside it what the network found"
                                   : "",
            r->score->task->show ? " drawn" : "");
    for (uint32_t i = 0; i < r->findings->worst_count; i++)
        print_mistake(f, r, i);
    fprintf(f, "</div>\n");
}

static void print_sample(FILE *f, const struct report *r, const struct report_picture *p)
{
    const char *class = r->score->task->count_right ? r->names[p->label] : "";
    fprintf(f, "<figure>");
    report_print_picture(f, &p->shown, *class ? "Training picture of " : "Training picture", class);
    fprintf(f, "<figcaption>");
    svg_escape(f, class);
    fprintf(f, "</figcaption></figure>\n");
}

void report_print_samples(FILE *f, const struct report *r)
{
    if (r->sample_count == 0)
        return;
    fprintf(f, "<h2>What the network sees</h2>\n<p>");
    svg_escape(f, r->samples_text);
    fprintf(f, "</p>\n<div class=\"pictures samples\">\n");
    for (uint32_t i = 0; i < r->sample_count; i++)
        print_sample(f, r, &r->samples[i]);
    fprintf(f, "</div>\n");
}
