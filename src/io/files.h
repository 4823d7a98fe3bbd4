/* Writing whole files: glcnn/io.h, and what writing several of them needs besides.
 *
 * Room: Files: .npy arrays and files that are replaced whole or not at all. Includes run/, whose
 * arrays it reads and writes, and the rooms below it. */
#ifndef GLCNN_FILES_H
#define GLCNN_FILES_H

#include <glcnn/io.h>

/* Brings what was written to the disk, so that glcnn_file_commit has only to rename. */
glcnn_status file_sync(glcnn_file *file, char *error);

#endif
