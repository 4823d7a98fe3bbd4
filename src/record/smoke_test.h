/* Smoke tests: proof that a driver runs a program that it has accepted. Some (Mesa's for Adreno 4xx
 * and 5xx) compile at the first dispatch and leave out, in silence, every dispatch of a program for
 * which they find no registers.
 *
 * Where the device's traits ask for it main begins with a branch of its own (smoke_branch.h). A new
 * program is dispatched once so that it takes that branch, on small resources of the test, and the
 * number that it stores is looked for. */
#ifndef GLCNN_SMOKE_TEST_H
#define GLCNN_SMOKE_TEST_H

#include "record/pass.h"

/* True if the driver runs pass->issue.program, and where it is seen to run nothing at all, as a
 * simulated GPU without memory does: there the log says so, once. An error is the call's own. */
glcnn_status smoke_test_run(struct glcnn_device *device, const struct pass *pass, bool *runs);

void smoke_test_destroy(struct smoke_test **smoke);

#endif
