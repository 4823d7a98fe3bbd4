/* How the feature channels of an image are stored. MPSImageFeatureChannelFormat; spec 3.1. */
#ifndef GLCNN_CHANNEL_FORMAT_H
#define GLCNN_CHANNEL_FORMAT_H

/* Values as MPSImageFeatureChannelFormat's. Unorm8 and Unorm16 are not offered: training
 * has no use for their 8 and 16 bits between 0 and 1, and of the two OpenGL ES 3.1 can write images
 * of 8 bits (rgba8) alone. */
typedef enum glcnn_channel_format {
    GLCNN_CHANNEL_FORMAT_NONE = 0,    /* in a descriptor: float32 */
    GLCNN_CHANNEL_FORMAT_FLOAT16 = 3, /* stored round-to-nearest-even; overflow gives infinity */
    GLCNN_CHANNEL_FORMAT_FLOAT32 = 4,
    GLCNN_CHANNEL_FORMAT_FORCE32 = 0x7fffffff
} glcnn_channel_format;

#endif
