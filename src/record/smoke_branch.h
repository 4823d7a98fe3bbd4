/* What a program does where it is tested (smoke_test.h) and not run: main begins with a branch that
 * is taken where grid_base.x is negative, and stores grid_base.y as the first number of the
 * program's first output. */
#ifndef GLCNN_SMOKE_BRANCH_H
#define GLCNN_SMOKE_BRANCH_H

#include "record/pass.h"
#include "base/text.h"

/* Writes that branch. */
void smoke_branch_add(struct text *source, const struct pass *pass);

/* Index of the buffer that it stores into, the first that the pass writes; -1: into image 0. */
int smoke_branch_buffer(const struct pass *pass);

/* Such an image keeps a number as that many 255ths. */
static inline bool is_unorm8(const struct pass_texture *item)
{
    return item->view.storage->format == GLCNN_CHANNEL_FORMAT_UNORM8;
}

#endif
