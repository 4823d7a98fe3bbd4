/* A camera's frames as images of the library: imported where they lie, or copied. */
#ifndef SUPPORT_FRAMES_H
#define SUPPORT_FRAMES_H

#include <glcnn/glcnn.h>

#include "camera.h"

struct frames {
    glcnn_device *device;
    struct camera *camera;
    glcnn_image *images[CAMERA_BUFFERS][GLCNN_DMABUF_PLANES];
    glcnn_kernel *kernel; /* that makes red, green and blue of them */
};

/* Imports the buffers of a camera, or makes an image to copy to where they are CAMERA_MAPPED, and
 * the kernel for its format with these parameters; matrix, range and swapped are the camera's. The
 * camera must outlive it. On failure it holds nothing. */
glcnn_status frames_open(struct frames *frames, glcnn_device *device, struct camera *camera,
                         const struct glcnn_frame_parameters *parameters);
void frames_close(struct frames *frames);

/* Copies the frame in that buffer, where it has to be. */
glcnn_status frames_upload(struct frames *frames, uint32_t index);
/* Encodes what makes `result` of the frame in that buffer. */
glcnn_status frames_encode(const struct frames *frames, glcnn_command_buffer *commands,
                           uint32_t index, glcnn_image *result);

#endif
