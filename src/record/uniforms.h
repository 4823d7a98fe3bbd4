/* What a program is told with each dispatch: the grid, the views, and the pass's own numbers. */
#ifndef GLCNN_UNIFORMS_H
#define GLCNN_UNIFORMS_H

#include "record/pass.h"
#include "base/text.h"

/* True if each layer of the view is one of its texture, and the program is told so. A graph's is not
 * told, nor are transfers: another batch may have its images in another place. */
bool view_is_plain(const struct pass *pass, const struct image_view *view);

/* Declares them: grid_x .. origin_z, NAME_layer .. NAME_images of each view, NAME_across ..
 * NAME_cell_height where it is not plain, the pass's uniforms. */
void uniforms_declare(struct text *t, const struct pass *pass,
                      const struct glcnn_device_traits *traits);
/* Lines of main that set the variables, where the device's traits ask for copies. */
void uniforms_copy(struct text *t, const struct pass *pass);

/* The words of a view that is not plain. */
void uniforms_of_view(const struct image_view *view, uint32_t words[PASS_VIEW_WORDS]);
/* How many words the pass has, in the order that uniforms_declare has. Writes them to `words`
 * unless it is NULL. */
size_t program_uniforms(const struct pass *pass, uint32_t *words);
/* Bytes of the block that they make. */
size_t uniforms_size(const struct pass *pass);

#endif
