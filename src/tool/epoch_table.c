/* Rows of numbers that are compared stand below each other; the best is marked by a word, and by a colour
 * too where there are colours. */
#include "epoch_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "print.h"
#include "task/task.h"

#define HEADING_PERIOD 20 /* rows between headings */

/* Launchers of MPI give a program a terminal for its output that nobody looks at, but none for errors. */
bool epoch_table_is_drawn(void)
{
    const char *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && isatty(STDERR_FILENO) && terminal && *terminal &&
           strcmp(terminal, "dumb") != 0;
}

static bool has_colours(void)
{
    const char *refused = getenv("NO_COLOR");
    return !(refused && *refused);
}

static double waited_percent(const struct epoch_row *row)
{
    return row->seconds > 0 ? 100 * row->waited / row->seconds : 0;
}

/* What the trained weights give, where that is not what the averages give; gives `text`. */
static const char *write_trained(const struct epoch_row *row, char text[128])
{
    char trained[TASK_MEASURED], averaged[TASK_MEASURED];
    task_write(row->task, row->trained_value, trained);
    task_write(row->task, row->validation_value, averaged);
    text[0] = 0;
    if (row->has_averages && (strcmp(trained, averaged) != 0 ||
                              fabs(row->trained_loss - row->validation_loss) >= 0.5e-4))
        snprintf(text, 128, " (without averages loss %.4f, %s %s)", row->trained_loss,
                 row->task->measure, trained);
    return text;
}

static void print_line(const struct epoch_row *row)
{
    char value[TASK_MEASURED], trained[128];
    const char *measure = row->task->measure;
    output("epoch %" PRIu64 " of %" PRIu64 ": loss %.4f", row->epoch, row->epochs, row->loss);
    if (!isnan(row->value))
        output(", %s %.4f", measure, row->value);
    task_write(row->task, row->validation_value, value);
    output("; validation loss %.4f, %s %s%s; %.0f s, %.1f %% of it waiting for data\n",
           row->validation_loss, measure, value, write_trained(row, trained), row->seconds,
           waited_percent(row));
}

static void print_heading(const struct epoch_row *row)
{
    const char *training = isnan(row->value) ? "" : row->task->measure;
    output("\n%8s  %18s  %19s  %9s  %s\n", "", "training", "validation", "", "waiting");
    output("%8s  %8s %9s  %8s %10s  %9s  %s\n", "epoch", "loss", training, "loss",
           row->task->measure, "seconds", "for data");
}

static void print_row(const struct epoch_row *row)
{
    const bool colours = row->is_best && has_colours();
    char epoch[48], value[32] = "", validation[TASK_MEASURED], trained[128];
    snprintf(epoch, sizeof epoch, "%" PRIu64 "/%" PRIu64, row->epoch, row->epochs);
    if (!isnan(row->value))
        snprintf(value, sizeof value, "%.4f", row->value);
    output("%8s  %8.4f %9s  %8.4f ", epoch, row->loss, value, row->validation_loss);
    output(colours ? "\033[1;32m%10s\033[0m" : "%10s",
           task_write(row->task, row->validation_value, validation));
    output("  %9.0f  %6.1f %%%s%s\n", row->seconds, waited_percent(row),
           row->is_best ? "  best" : "", write_trained(row, trained));
}

void epoch_table_print(const struct epoch_row *row, uint64_t number)
{
    if (!epoch_table_is_drawn()) {
        print_line(row);
        return;
    }
    bool wraps = output_wraps(false); /* what gives a colour takes no column */
    if (number % HEADING_PERIOD == 0)
        print_heading(row);
    print_row(row);
    output_wraps(wraps);
}
