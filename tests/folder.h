/* What tests that write files do with the folder they write into. */
#ifndef GLCNN_TESTS_FOLDER_H
#define GLCNN_TESTS_FOLDER_H

#include <stddef.h>

/* How many files it has, and removing them all; names that begin with a dot do not count. */
size_t folder_count_files(const char *folder);
void folder_empty(const char *folder);

#endif
