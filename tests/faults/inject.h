/* Faults under the library: what it calls of memory, files, EGL and OpenGL ES fails where a test
 * says, and what it has not given back is counted.
 *
 * The calls are wrapped where the program is linked (tests.mk, FAULT_WRAPS), the entry points of
 * OpenGL ES where eglGetProcAddress hands them out. Drivers and the C library are not touched. */
#ifndef GLCNN_TESTS_FAULTS_INJECT_H
#define GLCNN_TESTS_FAULTS_INJECT_H

#include <stdbool.h>
#include <stddef.h>

enum fault_kind {
    FAULT_MEMORY, /* an allocation gives NULL */
    FAULT_GL,     /* an entry point does nothing, gives nothing, and raises GL_OUT_OF_MEMORY */
    FAULT_LOST,   /* the context is lost: from the n-th call on they all do nothing */
    FAULT_RESET, /* the GPU is reset: from the n-th dispatch on nothing runs, no error is raised, and
                     glGetGraphicsResetStatus alone tells */
    FAULT_UNTOLD, /* the same, and there is no such entry point (fault_hide_resets) */
    FAULT_HANG,   /* from the n-th wait on no fence is ever signalled */
    FAULT_CLOCK, /* from the n-th reading on the clocks are a day on; what tells the date a day back
                     where n is even */
    FAULT_LOW,   /* from the n-th opening on descriptors are those of a closed standard stream */
    FAULT_EGL,   /* a function of EGL fails */
    FAULT_SYMBOL, /* an entry point is missing */
    FAULT_FILE,   /* a function of files fails */
    FAULT_KINDS
};

/* From now on the n-th call of the kind fails, or all from the n-th on; `at` 0: none, they are only
 * counted. Counting starts at 1 again. */
void fault_arm(enum fault_kind kind, size_t at, bool all);
/* Nothing fails any more, as where memory has come free; a lost context stays lost. */
void fault_end(void);
/* Within a scenario: what it prepares for itself neither fails nor counts. */
void fault_pause(bool pause);

bool fault_has_hit(void);
size_t fault_calls(enum fault_kind kind); /* since fault_arm */
/* Forgets the lost context and what has become of clocks and descriptors; its device must have been
 * destroyed. */
void fault_new_context(void);
/* Whether drivers of devices that are opened from now on tell of no reset. */
void fault_hide_resets(bool hide);

/* Whether bytes went through a descriptor of standard input, output or error, since fault_arm. */
bool fault_used_standard(void);
/* Whether a file has failed to be brought to the disk, since fault_arm. */
bool fault_hit_sync(void);
/* Whether a loss of power would spare every file that was renamed since fault_arm: its bytes were
 * on the disk by then, and now its name is. */
bool fault_survives_power_loss(void);

/* What is not given back yet. */
struct fault_balance {
    long blocks, descriptors, contexts, gl_objects;
};
struct fault_balance fault_balance(void);

#endif
