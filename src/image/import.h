/* Memory of others as images: what dma-bufs and buffers of Android have in common. */
#ifndef GLCNN_IMPORT_H
#define GLCNN_IMPORT_H

#include "image/image.h"

struct import {
    const char *where; /* the call, for messages */
    void *egl_image;   /* of platform_import or its like */
    bool swapped;      /* the first two components change places */
    enum byte_order bytes;
    uint32_t width, height; /* that the texture must have; 0: any */
};

/* NULL, or the extension of OpenGL ES that is missing to import any. */
const char *import_lacks(const struct glcnn_device *device);

/* An image of one texture, which the driver makes of the EGLImage; takes that over, also on failure. A
 * texture of another size than `import` wants is refused. */
glcnn_status import_image(struct glcnn_device *device, const struct import *import,
                          const struct glcnn_image_descriptor *descriptor,
                          struct glcnn_image **image);

#endif
