/* A progress line: how far it is, and how long it takes at the pace so far. */
#include "progress.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

#define BAR_PERIOD  0.1 /* seconds between drawings */
#define LINE_PERIOD 5.0
#define BAR_MAX     40 /* characters between the brackets */

static bool can_redraw(FILE *stream)
{
    const char *terminal = getenv("TERM");
    return isatty(fileno(stream)) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

static size_t columns_of(FILE *stream)
{
    struct winsize size;
    bool known = ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : 80;
}

void progress_begin(struct progress *progress, FILE *stream, size_t total)
{
    *progress = (struct progress){.stream = stream, .total = total, .bar = can_redraw(stream)};
    progress->start = progress->drawn = seconds_now();
}

double progress_seconds(const struct progress *progress)
{
    return seconds_now() - progress->start;
}

static void format_left(char *text, size_t size, double seconds)
{
    unsigned whole = (unsigned)(seconds + 0.5);
    if (whole < 120)
        snprintf(text, size, "  %u s left", whole);
    else if (whole < 7200)
        snprintf(text, size, "  %u min %02u s left", whole / 60, whole % 60);
    else
        snprintf(text, size, "  %u h %02u min left", whole / 3600, whole / 60 % 60);
}

/* "[====>   ]  " of `inner` characters between the brackets. */
static size_t format_bar(char *line, double fraction, size_t inner)
{
    size_t filled = (size_t)(fraction * (double)inner);
    line[0] = '[';
    memset(line + 1, ' ', inner);
    memset(line + 1, '=', filled);
    if (filled < inner)
        line[1 + filled] = '>';
    memcpy(line + 1 + inner, "]  ", 4);
    return inner + 4;
}

size_t progress_format(const struct progress *p, char *line, size_t size, size_t done,
                       double seconds, double loss, size_t columns)
{
    char text[128], left[40] = "  0 s left";
    double fraction = p->total > 0 && done < p->total ? (double)done / (double)p->total : 1;
    bool knows_speed = done > p->compiled && seconds > p->compile_time;
    double rate = knows_speed   ? (double)(done - p->compiled) / (seconds - p->compile_time)
                  : seconds > 0 ? (double)done / seconds
                                : 0;
    size_t more = p->later + (done < p->total ? p->total - done : 0);
    if (more > 0 && p->compiled > 0 && !knows_speed)
        left[0] = 0;
    else if (more > 0 && rate > 0)
        format_left(left, sizeof left, (double)more / rate);
    size_t length = (size_t)snprintf(text, sizeof text, "%3.0f%%  loss %.4f  %.0f images/s%s",
                                     100 * fraction, loss, rate, left);
    size_t limit = columns > 0 && columns < size ? columns : size; /* never wrap to a second row */
    snprintf(line, limit, "%s%s", p->label ? p->label : "", p->label ? "  " : "");
    size_t used = strlen(line), taken = used + length + 5; /* brackets, spaces, cursor */
    size_t room = columns > taken ? columns - taken : 0;
    size_t inner = room < BAR_MAX ? room : BAR_MAX;
    if (inner >= 5 && inner + taken < size)
        used += format_bar(line + used, fraction, inner);
    snprintf(line + used, limit - used, "%s", text);
    return strlen(line);
}

/* Blanks cover what an earlier, longer line left behind. */
static void draw(struct progress *progress, size_t done, double loss)
{
    char line[256];
    size_t columns = progress->bar ? columns_of(progress->stream) : 0;
    size_t length = progress_format(progress, line, sizeof line, done, progress_seconds(progress),
                                    loss, columns);
    size_t blanks = progress->width > length ? progress->width - length : 0;
    if (progress->bar)
        fprintf(progress->stream, "\r%s%*s", line, (int)blanks, "");
    else
        fprintf(progress->stream, "%s\n", line);
    fflush(progress->stream);
    progress->width = length;
    progress->drawn = seconds_now();
}

void progress_update(struct progress *progress, size_t done, double loss)
{
    double period = progress->bar ? BAR_PERIOD : LINE_PERIOD;
    if (progress->compiles && progress->compiled == 0) {
        progress->compiled = done;
        progress->compile_time = progress_seconds(progress);
    }
    if (seconds_now() - progress->drawn >= period)
        draw(progress, done, loss);
}

void progress_erase(struct progress *progress)
{
    if (progress->bar && progress->width > 0)
        fprintf(progress->stream, "\r%*s\r", (int)progress->width, "");
    fflush(progress->stream);
    progress->width = 0;
}

void progress_end(struct progress *progress, size_t done, double loss)
{
    draw(progress, done, loss);
    if (progress->bar && progress->erases)
        fprintf(progress->stream, "\r%*s\r", (int)progress->width, "");
    else if (progress->bar)
        fputc('\n', progress->stream);
    fflush(progress->stream);
}
