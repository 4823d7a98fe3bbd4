/* Dispatching a pass: its bindings, and its grid in as many dispatches as the device asks for. */
#include "record/dispatch.h"

#include "device/buffer.h"
#include "record/dispatch_work.h"
#include "record/program.h"
#include "record/stores.h"
#include "record/uniforms.h"

static GLenum stored_format(const struct pass *pass, const struct storage *storage)
{
    return pass_packs(pass, storage) ? GL_RGBA16UI : texel_of(storage->format)->name;
}

static void bind_image(const struct gl *gl, uint32_t unit, const struct storage *storage,
                       GLenum access, GLenum format)
{
    gl->BindImageTexture(unit, storage->texture, 0, GL_TRUE, 0, access, format);
}

void dispatch_bind_resources(struct glcnn_device *device, const struct pass *pass)
{
    const struct gl *gl = &device->gl;
    for (uint32_t i = 0; i < pass->texture_count; i++) {
        const struct storage *storage = storage_owner(pass->textures[i].view.storage);
        if (pass->issue.loads_images) {
            bind_image(gl, pass->image_count + i, storage, GL_READ_ONLY,
                       texel_of(storage->format)->name);
            continue;
        }
        gl->ActiveTexture(GL_TEXTURE0 + i);
        gl->BindTexture(storage->flat ? GL_TEXTURE_2D : GL_TEXTURE_2D_ARRAY, storage->texture);
    }
    for (uint32_t i = 0; i < pass->image_count; i++) {
        const struct storage *storage = storage_owner(pass->images[i].view.storage);
        bind_image(gl, i, storage, GL_WRITE_ONLY, stored_format(pass, storage));
    }
    for (uint32_t i = 0; i < pass->buffer_count; i++) {
        const struct vector_view *view = &pass->buffers[i].view;
        if (view->buffer && view->is_part)
            buffer_bind_part(gl, i, view->buffer, view->offset * 4, view->count * 4);
        else
            buffer_bind_storage(gl, i, view->buffer ? view->buffer : device->zeros);
    }
    stores_bind(device, pass);
}

static uint32_t group_count(const struct pass *pass, int axis)
{
    uint32_t local = pass->issue.program->local[axis];
    return groups_of(pass->grid[axis], local);
}

/* Work groups of one dispatch along each axis: within the limits, and within what a dispatch may
 * take by halving the longest axis. */
static void part_size(const struct glcnn_device *device, const struct pass *pass, uint32_t part[3])
{
    uint64_t all = 1;
    for (int axis = 0; axis < 3; axis++) {
        all *= group_count(pass, axis);
        part[axis] = least(group_count(pass, axis), device->info.limits.work_group_count[axis]);
    }
    uint64_t groups = dispatch_groups(device, pass, all);
    while ((uint64_t)part[0] * part[1] * part[2] > groups) {
        int longest = part[1] > part[0] ? 1 : 0;
        if (part[2] > part[longest])
            longest = 2;
        if (part[longest] == 1)
            return;
        part[longest] = (part[longest] + 1) / 2;
    }
}

/* Work groups of a pass, along each axis. */
struct groups {
    uint32_t from[3], to[3];
};

static struct groups all_groups(const struct pass *pass)
{
    return (struct groups){
        .to = {group_count(pass, 0), group_count(pass, 1), group_count(pass, 2)}};
}

/* Returns how many dispatches it takes. */
static uint32_t dispatch(struct glcnn_device *device, const struct pass *pass,
                         const struct groups *groups)
{
    const struct gl *gl = &device->gl;
    const uint32_t *local = pass->issue.program->local, *from = groups->from, *to = groups->to;
    uint32_t part[3], count = 0;
    part_size(device, pass, part);
    for (uint32_t z = from[2]; z < to[2]; z += part[2])
        for (uint32_t y = from[1]; y < to[1]; y += part[1])
            for (uint32_t x = from[0]; x < to[0]; x += part[0], count++) {
                gl->Uniform3i(0, (GLint)(x * local[0]), (GLint)(y * local[1]),
                              (GLint)(z * local[2]));
                gl->DispatchCompute(least(part[0], to[0] - x), least(part[1], to[1] - y),
                                    least(part[2], to[2] - z));
            }
    return count;
}

/* One part after the other, where the buffer of stores does not hold all. */
glcnn_status dispatch_pass(struct glcnn_device *device, const struct pass *pass, const char *where,
                           uint32_t *count)
{
    const uint32_t axis = pass->stores.axis;
    struct groups groups = all_groups(pass);
    const uint32_t end = groups.to[axis], part = pass->stores.groups ? pass->stores.groups : end;
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t from = 0; from < end && status == GLCNN_SUCCESS; from = groups.to[axis]) {
        groups.from[axis] = from;
        groups.to[axis] = from + least(part, end - from);
        stores_begin(device, pass, from);
        *count += dispatch(device, pass, &groups);
        status = stores_copy(device, pass, from, groups.to[axis], where);
    }
    return status;
}

static void set_plain_uniforms(const struct gl *gl, const struct pass *pass)
{
    GLint words[PASS_WORDS + 3] = {0};
    size_t count = program_uniforms(pass, (uint32_t *)words);
    gl->Uniform4iv(1, (GLsizei)((count + 3) / 4), words);
}

void dispatch_bind(struct glcnn_device *device, const struct pass *pass, GLuint uniform_buffer)
{
    const struct gl *gl = &device->gl;
    gl->UseProgram(pass->issue.program->name);
    if (device->info.traits.plain_uniforms)
        set_plain_uniforms(gl, pass);
    else
        gl->BindBufferRange(GL_UNIFORM_BUFFER, 0, uniform_buffer,
                            (GLintptr)pass->issue.uniform_offset, (GLsizeiptr)uniforms_size(pass));
    dispatch_bind_resources(device, pass);
}
