/* Signals that ask a run to end: the first is kept, those of the same second are passed over. */
#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

#define REPEATED 1.0 /* seconds in which a signal is the first one again */

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof *signals };

static volatile sig_atomic_t asked;
static double (*clock_now)(void);
static void (*ask)(void);
static double first; /* when the first came; handlers alone use it, and none interrupts another */

/* The signal that ends is delivered when the handler, which blocks it, returns. */
static void handle(int number)
{
    if (!asked) {
        first = clock_now();
        asked = 1;
        ask();
    } else if (clock_now() - first >= REPEATED) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

bool interrupt_is_asked(void)
{
    return asked;
}

void interrupt_begin(double (*now)(void), void (*on_first)(void))
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART}, before;
    clock_now = now;
    ask = on_first;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < SIGNALS; i++)
        sigaddset(&action.sa_mask, signals[i]);
    for (size_t i = 0; i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}
