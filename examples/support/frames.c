/* Which kernel a format needs, and where its planes lie in a buffer of V4L2's. */
#include "frames.h"

#include "drm.h"

typedef glcnn_status (*constructor)(glcnn_device *device,
                                    const struct glcnn_frame_parameters *parameters,
                                    glcnn_kernel **kernel);

/* Copied frames keep the order that they have in memory: `swapped` there, and none for what comes
 * chroma first. */
static const struct layout {
    uint32_t fourcc;
    constructor create;
    uint32_t channels; /* of the first plane, as it is copied; 0: it is not */
    uint32_t rows;     /* of the frame to one of the chroma's; 0: there is none */
    bool swapped;
} layouts[] = {{DRM_FORMAT_NV12, glcnn_frame_nv12_create, 1, 2, false},
               {DRM_FORMAT_NV21, glcnn_frame_nv12_create, 1, 2, true},
               {DRM_FORMAT_NV16, glcnn_frame_nv12_create, 1, 1, false},
               {DRM_FORMAT_YUYV, glcnn_frame_yuyv_create, 2, 0, false},
               {DRM_FORMAT_UYVY, glcnn_frame_yuyv_create, 0, 0, false},
               {DRM_FORMAT_XRGB8888, glcnn_frame_rgb_create, 4, 0, true},
               {DRM_FORMAT_ARGB8888, glcnn_frame_rgb_create, 4, 0, true},
               {DRM_FORMAT_BGR888, glcnn_frame_rgb_create, 3, 0, false},
               {DRM_FORMAT_RGB888, glcnn_frame_rgb_create, 3, 0, true}};

static const struct layout *layout_of(const struct camera *camera)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].fourcc == camera->drm_fourcc)
            return &layouts[i];
    return NULL;
}

/* Chroma lies behind luma, with rows as long. */
static uint32_t chroma_offset(const struct camera *camera)
{
    return camera->pitch * camera->height;
}

static glcnn_status import(struct frames *f, uint32_t index, const struct layout *layout)
{
    const struct camera *camera = f->camera;
    int fd = camera->buffers[index].fd;
    const struct glcnn_dmabuf frame = {
        .width = camera->width,
        .height = camera->height,
        .fourcc = camera->drm_fourcc,
        .plane_count = layout->rows ? 2 : 1,
        .modifier = DRM_FORMAT_MOD_LINEAR,
        .planes = {{fd, 0, camera->pitch}, {fd, chroma_offset(camera), camera->pitch}}};
    return glcnn_image_import_dmabuf(f->device, &frame, f->images[index]);
}

static glcnn_status make_copies(struct frames *f, const struct layout *layout)
{
    const struct camera *camera = f->camera;
    const struct glcnn_image_descriptor first = {camera->width, camera->height, layout->channels, 1,
                                                 GLCNN_CHANNEL_FORMAT_UNORM8};
    struct glcnn_image_descriptor second = first;
    if (!layout->channels)
        return GLCNN_UNSUPPORTED;
    second.width = (first.width + 1) / 2;
    second.feature_channels = 2;
    glcnn_status status = glcnn_image_create(f->device, &first, &f->images[0][0]);
    if (status != GLCNN_SUCCESS || !layout->rows)
        return status;
    second.height = (first.height + layout->rows - 1) / layout->rows;
    return glcnn_image_create(f->device, &second, &f->images[0][1]);
}

static glcnn_status make_kernel(struct frames *f, const struct layout *layout,
                                const struct glcnn_frame_parameters *parameters)
{
    const struct camera *camera = f->camera;
    struct glcnn_frame_parameters p = *parameters;
    p.matrix = camera->bt709 ? GLCNN_COLOR_MATRIX_BT709 : GLCNN_COLOR_MATRIX_BT601;
    p.range = camera->full      ? GLCNN_COLOR_RANGE_FULL
              : camera->limited ? GLCNN_COLOR_RANGE_LIMITED
                                : GLCNN_COLOR_RANGE_USUAL;
    p.swapped = camera->memory == CAMERA_MAPPED && layout->swapped;
    return layout->create(f->device, &p, &f->kernel);
}

glcnn_status frames_open(struct frames *f, glcnn_device *device, struct camera *camera,
                         const struct glcnn_frame_parameters *parameters)
{
    *f = (struct frames){.device = device, .camera = camera};
    const struct layout *layout = layout_of(camera);
    glcnn_status status = layout ? GLCNN_SUCCESS : GLCNN_UNSUPPORTED;
    if (status == GLCNN_SUCCESS && camera->memory == CAMERA_MAPPED)
        status = make_copies(f, layout);
    for (uint32_t i = 0;
         i < camera->buffer_count && camera->memory != CAMERA_MAPPED && status == GLCNN_SUCCESS;
         i++)
        status = import(f, i, layout);
    if (status == GLCNN_SUCCESS)
        status = make_kernel(f, layout, parameters);
    if (status != GLCNN_SUCCESS)
        frames_close(f);
    return status;
}

void frames_close(struct frames *f)
{
    for (int i = 0; i < CAMERA_BUFFERS; i++)
        for (int p = 0; p < GLCNN_DMABUF_PLANES; p++)
            glcnn_image_destroy(&f->images[i][p]);
    glcnn_kernel_destroy(&f->kernel);
}

glcnn_status frames_upload(struct frames *f, uint32_t index)
{
    const struct camera_buffer *buffer = &f->camera->buffers[index];
    const struct glcnn_image_transfer rows = {.bytes_per_row = f->camera->pitch};
    size_t second = chroma_offset(f->camera);
    if (f->camera->memory != CAMERA_MAPPED)
        return GLCNN_SUCCESS;
    glcnn_status status =
        glcnn_image_write_bytes(f->images[0][0], &rows, buffer->bytes, buffer->size);
    if (status != GLCNN_SUCCESS || !f->images[0][1])
        return status;
    return glcnn_image_write_bytes(f->images[0][1], &rows, (const char *)buffer->bytes + second,
                                   buffer->size > second ? buffer->size - second : 0);
}

glcnn_status frames_encode(const struct frames *f, glcnn_command_buffer *commands, uint32_t index,
                           glcnn_image *result)
{
    glcnn_image *const *images = f->images[f->camera->memory == CAMERA_MAPPED ? 0 : index];
    return glcnn_kernel_encode(
        commands, f->kernel,
        &(struct glcnn_encode){.source = images[0], .secondary = images[1], .destination = result});
}
