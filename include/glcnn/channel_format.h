/* How the feature channels of an image are stored. MPSImageFeatureChannelFormat; spec 3.1. */
#ifndef GLCNN_CHANNEL_FORMAT_H
#define GLCNN_CHANNEL_FORMAT_H

/* Values as MPSImageFeatureChannelFormat's. Unorm16 is not offered: OpenGL ES 3.1 has no textures
 * of it. */
typedef enum glcnn_channel_format {
    GLCNN_CHANNEL_FORMAT_NONE = 0,    /* in a descriptor: float32 */
    GLCNN_CHANNEL_FORMAT_UNORM8 = 1,  /* a byte b stands for b / 255: pictures. Kernels read such
                                         images and write none; see glcnn/image.h */
    GLCNN_CHANNEL_FORMAT_FLOAT16 = 3, /* stored round-to-nearest-even; overflow gives infinity */
    GLCNN_CHANNEL_FORMAT_FLOAT32 = 4,
    GLCNN_CHANNEL_FORMAT_FORCE32 = 0x7fffffff
} glcnn_channel_format;

#endif
