/* GLCNN: trains convolutional networks on any GPU with OpenGL ES 3.1 compute.
 * Include this one header; each of the others can be included alone. */
#ifndef GLCNN_GLCNN_H
#define GLCNN_GLCNN_H

#include <glcnn/status.h>
#include <glcnn/device.h>
#include <glcnn/buffer.h>
#include <glcnn/command_buffer.h>
#include <glcnn/channel_format.h>
#include <glcnn/image.h>
#include <glcnn/dmabuf.h>
#include <glcnn/hardware_buffer.h>
#include <glcnn/texture.h>
#include <glcnn/padding.h>
#include <glcnn/state.h>
#include <glcnn/kernel.h>
#include <glcnn/data_source.h>
#include <glcnn/kernels.h>
#include <glcnn/node.h>
#include <glcnn/graph.h>
#include <glcnn/training.h>
#include <glcnn/run.h>
#include <glcnn/io.h>

#endif
