/* Signals that end a training, in processes of their own whose clock the test sets. */
#include "tests/unit.h"

#include "tool/interrupt.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static double time_is;
static int asks; /* calls of count_ask */

static void count_ask(void)
{
    asks++;
}

static double stopped_clock(void)
{
    return time_is;
}

/* Raises the signals, each so many seconds after the one before. Returns how the process ended:
 * 100 and the number of the signal that ended it, 1 if it was asked to end, or 0; 99 if it was not told once of being asked. */
static int end_of(const int *signals, const double *seconds, int count)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    CU_ASSERT_FATAL(child >= 0);
    if (child == 0) {
        interrupt_begin(stopped_clock, count_ask);
        for (int i = 0; i < count; i++) {
            time_is += seconds[i];
            raise(signals[i]);
        }
        _exit(interrupt_is_asked() == (asks == 1) ? interrupt_is_asked() : 99);
    }
    CU_ASSERT_EQUAL_FATAL(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? 100 + WTERMSIG(status) : WEXITSTATUS(status);
}

static const int kinds[] = {SIGINT, SIGTERM, SIGHUP};

static void nothing_is_asked_without_a_signal(void)
{
    CU_ASSERT_EQUAL(end_of(NULL, NULL, 0), 0);
}

/* timeout sends its signal to the process and to its group. */
static void signals_within_a_second_are_one(void)
{
    for (int first = 0; first < 3; first++)
        for (int second = 0; second < 3; second++) {
            const int same[] = {kinds[first], kinds[second], kinds[second], kinds[first]};
            CU_ASSERT_EQUAL(end_of(same, (const double[]){5, 0, 0, 0}, 4), 1);
            CU_ASSERT_EQUAL(end_of(same, (const double[]){5, 0.25, 0.5, 0.125}, 4), 1);
        }
}

static void a_signal_a_second_later_ends_at_once(void)
{
    for (int first = 0; first < 3; first++)
        for (int second = 0; second < 3; second++) {
            const int two[] = {kinds[first], kinds[second]},
                      three[] = {kinds[first], kinds[first], kinds[second]};
            CU_ASSERT_EQUAL(end_of(two, (const double[]){5, 1}, 2), 100 + kinds[second]);
            CU_ASSERT_EQUAL(end_of(three, (const double[]){5, 0.5, 0.5}, 3), 100 + kinds[second]);
        }
}

static void ignored_signals_stay_ignored(void)
{
    for (int i = 0; i < 3; i++) {
        signal(kinds[i], SIG_IGN);
        CU_ASSERT_EQUAL(end_of((const int[]){kinds[i], kinds[i]}, (const double[]){5, 2}, 2), 0);
        signal(kinds[i], SIG_DFL);
    }
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(nothing_is_asked_without_a_signal),
                                        UNIT_TEST(signals_within_a_second_are_one),
                                        UNIT_TEST(a_signal_a_second_later_ends_at_once),
                                        UNIT_TEST(ignored_signals_stay_ignored), CU_TEST_INFO_NULL};
    return unit_run("interrupt", tests, argc, argv);
}
