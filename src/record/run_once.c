/* Running one pass at once. */
#include "record/run_once.h"

#include "device/buffer.h"
#include "record/dispatch.h"
#include "record/hazards.h"
#include "record/program.h"
#include "record/uniforms.h"

/* Nothing is dispatched where binding fails: another image would be written. */
static glcnn_status bind(struct glcnn_device *device, const struct pass *pass, GLuint *uniforms,
                         const char *where)
{
    uint32_t words[PASS_WORDS] = {0};
    program_uniforms(pass, words);
    glcnn_status status =
        buffer_upload(device, GL_UNIFORM_BUFFER, uniforms, sizeof words, words, where);
    if (status != GLCNN_SUCCESS)
        return status;
    device_barrier(device, hazards_before(device, pass));
    dispatch_bind(device, pass, *uniforms);
    return device_check(device, where);
}

glcnn_status pass_run(struct glcnn_device *device, const struct pass *pass, const char *where)
{
    GLuint uniforms = 0;
    uint32_t count = 0;
    glcnn_status status = bind(device, pass, &uniforms, where);
    if (status == GLCNN_SUCCESS)
        status = dispatch_pass(device, pass, where, &count);
    if (status == GLCNN_SUCCESS) {
        hazards_mark(device, pass);
        status = device_check(device, where);
    }
    device->gl.DeleteBuffers(1, &uniforms);
    return status;
}

glcnn_status pass_run_once(struct glcnn_device *device, struct pass *pass, const char *where)
{
    glcnn_status status = programs_find(device, pass, 1);
    return status == GLCNN_SUCCESS ? pass_run(device, pass, where) : status;
}

void fill_describe(struct storage *storage, struct pass *pass)
{
    const struct image_view whole = {.storage = storage,
                                     .layer_stride = 1,
                                     .width = storage->width,
                                     .height = storage->height,
                                     .channels = 4,
                                     .images = storage->layers};
    *pass = (struct pass){.shader = "record/fill.comp"};
    pass_image(pass, "destination", &whole);
    pass_grid_over(pass, whole.width, whole.height, "destination", &whole);
}
