/* Canaries: proof that a driver runs a program that it has accepted. Some (Mesa's for Adreno 4xx
 * and 5xx) compile at the first dispatch and leave out, in silence, every dispatch of a program for
 * which they find no registers.
 *
 * Where the device's traits ask for it main begins with a branch of its own, taken where
 * grid_base.x is negative: it stores grid_base.y as the first number of the program's first output.
 * A new program is dispatched so once, on small resources of the canary's, and the number is looked
 * for. */
#ifndef GLCNN_CANARY_H
#define GLCNN_CANARY_H

#include "record/pass.h"
#include "record/text.h"

/* Writes that branch. */
void canary_add_branch(struct text *source, const struct pass *pass);

/* Whether the driver runs pass->program. True, too, where it is seen to run nothing at all, as a
 * simulated GPU without memory does: there the log says so, once. An error is the call's own. */
glcnn_status canary_test(struct glcnn_device *device, const struct pass *pass, bool *runs);

void canary_destroy(struct canary **canary);

#endif
