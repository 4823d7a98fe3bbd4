/* The table of operators: families of rows, and a search by name. */
#include <stdlib.h>
#include <string.h>

#include "onnx/onnx.h"

static const struct operator_row *const families[] = {
    onnx_activation, onnx_arithmetic,    onnx_comparison,      onnx_convolution,
    onnx_folding,    onnx_folding_axes,  onnx_folding_indices, onnx_folding_shapes,
    onnx_linear,     onnx_normalization, onnx_pooling,         onnx_quantization,
    onnx_reduction,  onnx_resizing,      onnx_shaping,         onnx_slicing};
enum { FAMILIES = sizeof families / sizeof *families };

const struct operator_row *operator_find(const char *name)
{
    for (size_t f = 0; f < FAMILIES; f++)
        for (const struct operator_row *row = families[f]; row->name; row++)
            if (strcmp(row->name, name) == 0)
                return row;
    return NULL;
}

/* The least name that comes after `than`; NULL: the least of all, or none comes after. */
static const char *next_name(const char *than)
{
    const char *least = NULL;
    for (size_t f = 0; f < FAMILIES; f++)
        for (const struct operator_row *row = families[f]; row->name; row++)
            if ((!than || strcmp(row->name, than) > 0) && (!least || strcmp(row->name, least) < 0))
                least = row->name;
    return least;
}

const char *glcnn_onnx_operator(size_t index)
{
    const char *name = next_name(NULL);
    for (size_t i = 0; i < index && name; i++)
        name = next_name(name);
    return name;
}
