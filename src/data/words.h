/* Words in the names of files and of arrays: which part they are of, and what they hold. */
#ifndef GLCNN_DATA_WORDS_H
#define GLCNN_DATA_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include <glcnn/data.h>

/* The word, of `length` bytes, is one of a part. */
bool word_is_part(const char *word, size_t length, glcnn_data_part *part);
/* The same of a name that a number may follow: "train2017". */
bool word_is_numbered_part(const char *name, size_t length, glcnn_data_part *part);
/* In any case: images, labels. */
bool word_is_images(const char *word, size_t length);
bool word_is_labels(const char *word, size_t length);
/* In any case: a folder of pictures that others say something of, and one of masks. */
bool word_is_picture_folder(const char *name);
bool word_is_mask_folder(const char *name);
/* Also what else lies beside such pictures: labels, annotations. */
bool word_is_target_folder(const char *name);
/* In any case, with or without spaces, hyphens and underscores: a column that numbers or names the
 * rows of a table. */
bool word_is_row(const char *name);
/* In any case, with or without such marks: a column that names pictures. */
bool word_is_picture(const char *name);
/* The ending of a name, in any case, is this, which is not all of the name. */
bool word_has_ending(const char *name, const char *ending);

#endif
