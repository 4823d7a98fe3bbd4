/* Writing whole files: glcnn/io.h, and what writing several of them needs besides. */
#ifndef GLCNN_FILES_H
#define GLCNN_FILES_H

#include <glcnn/io.h>

/* Brings what was written to the disk, so that glcnn_file_commit has only to rename. */
glcnn_status file_sync(glcnn_file *file, char *error);

#endif
