/* Signals that ask a long run to end: SIGINT, SIGTERM and SIGHUP. */
#ifndef GLCNN_TOOL_INTERRUPT_H
#define GLCNN_TOOL_INTERRUPT_H

#include <stdbool.h>

/* From now on the first of these signals makes interrupt_is_asked true. One that comes a second later
 * or more ends the process at once, as the signal does by default. Those that come sooner are the first
 * one again and do nothing: timeout signals the process and then its group, which it is in, and make and
 * mpirun pass on what the terminal has sent to all. A signal that is ignored, as nohup has it, stays so.
 * The handler of the first calls `on_first`, once. `now` gives seconds, and may be called in a handler:
 * seconds_now of base/clock.h. */
void interrupt_begin(double (*now)(void), void (*on_first)(void));
bool interrupt_is_asked(void);

#endif
