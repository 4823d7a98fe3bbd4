/* Finding the reference of a kernel. */
#include "encode/reference.h"

const struct glcnn_reference *reference_of(const struct glcnn_descriptor *descriptor)
{
    size_t i = 0;
    while (glcnn_registry[i] && glcnn_registry[i] != descriptor)
        i++;
    return glcnn_references[i];
}
