/* How the numbers of a tensor lie in a vector of a kernel. */
#include "onnx/layout.h"

int64_t layout_next(const struct layout *layout, int64_t index[GLCNN_ONNX_RANK], int64_t place)
{
    for (uint32_t a = layout->axes; a-- > 0;) {
        place += layout->stride[a];
        if (++index[a] < layout->size[a])
            return place;
        place -= layout->stride[a] * layout->size[a];
        index[a] = 0;
    }
    return place;
}

/* Sizes that a product of them cannot overflow by. */
static bool is_sane(const struct layout *layout)
{
    const int64_t most = INT64_C(1) << 40;
    int64_t elements = 1;
    if (layout->axes > GLCNN_ONNX_RANK || layout->offset < 0 || layout->offset > most)
        return false;
    for (uint32_t a = 0; a < layout->axes; a++) {
        int64_t size = layout->size[a], stride = layout->stride[a];
        if (size < 1 || size > most / elements || stride > most / size || stride < -most / size)
            return false;
        elements *= size;
    }
    return true;
}

bool layout_fits(const struct layout *layout, size_t elements, size_t count)
{
    int64_t least = layout->offset, most = layout->offset, all = 1;
    if (!is_sane(layout))
        return false;
    for (uint32_t a = 0; a < layout->axes; a++) {
        int64_t reach = layout->stride[a] * (layout->size[a] - 1);
        least += reach < 0 ? reach : 0;
        most += reach > 0 ? reach : 0;
        all *= layout->size[a];
    }
    return least >= 0 && (uint64_t)most < count && (uint64_t)all == elements;
}
