/* Programs out of binaries that an earlier process left, and binaries for the next one. */
#ifndef GLCNN_BINARY_H
#define GLCNN_BINARY_H

#include "record/pass.h"

/* The program of a source, 0 where no binary of it is kept or the driver does not link it: then it
 * is to be compiled, unless *status says that the device was lost. */
GLuint binary_load(struct glcnn_device *device, const struct pass *pass, const char *source,
                   glcnn_status *status);

/* Tells the driver, before it links the program, that its binary will be asked for. */
void binary_announce(struct glcnn_device *device, GLuint program);

/* Keeps a program that was linked from that source, and has proved itself where programs must
 * (smoke_test.h). What goes wrong is forgiven, but for the loss of the device. */
glcnn_status binary_keep(struct glcnn_device *device, const struct pass *pass, const char *source,
                         GLuint program);

#endif
