/* Writing whole files: glcnn/io.h, and what writing several of them needs besides.
 *
 * Room: Files: .npy arrays and files that are replaced whole or not at all. Includes run/, whose
 * arrays it reads and writes, and the rooms below it. */
#ifndef GLCNN_FILES_H
#define GLCNN_FILES_H

#include <glcnn/io.h>

/* What messages call a file that is known by its descriptor. */
#define FILE_FD_NAME 32
const char *file_fd_name(int fd, char name[FILE_FD_NAME]);

#endif
