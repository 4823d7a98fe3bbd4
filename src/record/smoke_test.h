/* Canaries: proof that a driver runs a program that it has accepted. Some (Mesa's for Adreno 4xx
 * and 5xx) compile at the first dispatch and leave out, in silence, every dispatch of a program for
 * which they find no registers.
 *
 * Where the device's traits ask for it main begins with a branch of its own, taken where
 * grid_base.x is negative: it stores grid_base.y as the first number of the program's first output.
 * A new program is dispatched so once, on small resources of the test, and the number is looked
 * for. */
#ifndef GLCNN_SMOKE_TEST_H
#define GLCNN_SMOKE_TEST_H

#include "record/pass.h"
#include "record/text.h"

/* Writes that branch. */
void smoke_test_add_branch(struct text *source, const struct pass *pass);

/* Whether the driver runs pass->program. True, too, where it is seen to run nothing at all, as a
 * simulated GPU without memory does: there the log says so, once. An error is the call's own. */
glcnn_status smoke_test_run(struct glcnn_device *device, const struct pass *pass, bool *runs);

void smoke_test_destroy(struct smoke_test **smoke);

#endif
