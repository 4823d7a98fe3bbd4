/* Elements of the arrays that references work on. */
#include "reference/reference.h"

double *tensor_at(const struct tensor *tensor, uint32_t n, uint32_t c, int32_t y, int32_t x)
{
    size_t row = ((size_t)n * tensor->channels + c) * tensor->height + (size_t)y;
    return &tensor->data[row * tensor->width + (size_t)x];
}

double tensor_get(const struct tensor *tensor, uint32_t n, uint32_t c, int32_t y, int32_t x)
{
    if (x < 0 || y < 0 || x >= (int32_t)tensor->width || y >= (int32_t)tensor->height ||
        n >= tensor->images || c >= tensor->channels)
        return 0;
    return *tensor_at(tensor, n, c, y, x);
}
