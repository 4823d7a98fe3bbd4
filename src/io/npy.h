/* The .npy format: magic, version, length of the header, the header (a Python dictionary with
 * descr, fortran_order and shape, padded with spaces), the elements. */
#ifndef GLCNN_NPY_H
#define GLCNN_NPY_H

#include <glcnn/io.h>

#define NPY_MAGIC      "\x93NUMPY"
#define NPY_MAGIC_SIZE 6
#define NPY_PREFIX_MAX 12    /* magic, two bytes of version, two or four of length */
#define NPY_HEADER_MAX 65535 /* NumPy itself writes below 10,000 */

#endif
