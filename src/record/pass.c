/* Describing a pass, item by item. */
#include "record/pass.h"

#include <string.h>

/* A pass that asks for more than it has room for keeps the name of the first item without room;
 * programs_find refuses it. Limits of ES 3.1 are met where implementations ask for no more, so this is an
 * error of a kernel's author. */
static bool room(struct pass *pass, uint32_t count, uint32_t capacity, const char *name)
{
    if (count < capacity)
        return true;
    if (!pass->overflow)
        pass->overflow = name;
    return false;
}

void pass_template(struct pass *pass, const char *file, const char *name)
{
    if (room(pass, pass->library_count, PASS_LIBRARIES, file))
        pass->libraries[pass->library_count++] =
            (struct pass_library){file, name, pass->binds_producer > 0};
}

void pass_library(struct pass *pass, const char *file)
{
    for (uint32_t i = 0; i < pass->library_count; i++)
        if (strcmp(pass->libraries[i].file, file) == 0) {
            pass->libraries[i].makes_texture |= pass->binds_producer > 0;
            return;
        }
    pass_template(pass, file, NULL);
}

void pass_texture(struct pass *pass, const char *name, const struct image_view *view)
{
    struct fused_producer *producer = view->storage->producer;
    if (producer) {
        pass->binds_producer++;
        producer->bind(producer, pass, name, view);
        pass->binds_producer--;
    } else if (room(pass, pass->texture_count, PASS_TEXTURES, name))
        pass->textures[pass->texture_count++] = (struct pass_texture){name, *view};
}

void pass_image(struct pass *pass, const char *name, const struct image_view *view)
{
    if (is_float16(view))
        pass_library(pass, "lib/float16.glsl");
    if (room(pass, pass->image_count, PASS_IMAGES, name))
        pass->images[pass->image_count++] = (struct pass_texture){name, *view};
}

void pass_vector_of(struct pass *pass, const char *type, const char *name,
                    const struct vector_view *view, enum vector_access access)
{
    static const struct vector_view absent;
    if (room(pass, pass->buffer_count, PASS_BUFFERS, name))
        pass->buffers[pass->buffer_count++] =
            (struct pass_buffer){name, type, view ? *view : absent, access};
}

void pass_vector(struct pass *pass, const char *name, const struct vector_view *view,
                 enum vector_access access)
{
    pass_vector_of(pass, "float", name, view, access);
}

void pass_define(struct pass *pass, const char *name, int value)
{
    if (room(pass, pass->define_count, PASS_DEFINES, name))
        pass->defines[pass->define_count++] = (struct pass_define){name, value};
}

void pass_int(struct pass *pass, const char *name, int32_t value)
{
    if (room(pass, pass->uniform_count, PASS_UNIFORMS, name))
        pass->uniforms[pass->uniform_count++] =
            (struct pass_uniform){.name = name, .is_float = false, .value.i = value};
}

void pass_float(struct pass *pass, const char *name, float value)
{
    if (room(pass, pass->uniform_count, PASS_UNIFORMS, name))
        pass->uniforms[pass->uniform_count++] =
            (struct pass_uniform){.name = name, .is_float = true, .value.f = value};
}

void pass_float_of(struct pass *pass, const char *name, const float *value)
{
    if (room(pass, pass->uniform_count, PASS_UNIFORMS, name))
        pass->uniforms[pass->uniform_count++] = (struct pass_uniform){
            .name = name, .follows = value, .is_float = true, .value.f = *value};
    pass->follows = true;
}

bool pass_has_moving_uniforms(const struct pass *pass)
{
    return pass->refresh || pass->follows;
}

void pass_move_uniforms(struct pass *pass)
{
    for (uint32_t i = 0; pass->follows && i < pass->uniform_count; i++)
        if (pass->uniforms[i].follows)
            pass->uniforms[i].value.f = *pass->uniforms[i].follows;
    if (pass->refresh)
        pass->refresh(pass->owner.kernel, pass);
}

void pass_table_entry(struct pass *pass, const char *rows, const int32_t *words, uint32_t count)
{
    if (!room(pass, count, PASS_ENTRY_WORDS + 1, rows))
        return;
    pass->entry.shader = rows;
    pass->entry.count = count;
    memcpy(pass->entry.words, words, count * sizeof *words);
}

static struct pass_uniform *find_uniform(struct pass *pass, const char *name)
{
    for (uint32_t i = 0; i < pass->uniform_count; i++)
        if (strcmp(pass->uniforms[i].name, name) == 0)
            return &pass->uniforms[i];
    return NULL;
}

void pass_update_float(struct pass *pass, const char *name, float value)
{
    struct pass_uniform *uniform = find_uniform(pass, name);
    if (uniform)
        uniform->value.f = value;
}

void pass_update_int(struct pass *pass, const char *name, int32_t value)
{
    struct pass_uniform *uniform = find_uniform(pass, name);
    if (uniform)
        uniform->value.i = value;
}

void pass_update_access(struct pass *pass, const char *name, enum vector_access access)
{
    for (uint32_t i = 0; i < pass->buffer_count; i++)
        if (strcmp(pass->buffers[i].name, name) == 0)
            pass->buffers[i].access = access;
}

void pass_grid(struct pass *pass, uint32_t x, uint32_t y, uint32_t z)
{
    pass->grid[0] = x;
    pass->grid[1] = y;
    pass->grid[2] = z;
    pass->over = NULL;
    pass->batch_axes = 0;
}

void pass_batch_axis(struct pass *pass, int axis)
{
    pass->batch_axes |= 1u << axis;
}

void pass_grid_over(struct pass *pass, uint32_t width, uint32_t height, const char *name,
                    const struct image_view *view)
{
    pass_grid(pass, width, height, slice_count(view->channels) * view->images);
    pass->over = name;
    pass_batch_axis(pass, 2);
}

void pass_overwrites(struct pass *pass, const struct image_view *view, uint32_t x, uint32_t y,
                     uint32_t width, uint32_t height, uint32_t layers)
{
    bool whole = x == 0 && y == 0 && width == view->width && height == view->height;
    pass->stores = (struct pass_stores){.axis = 2, .invocations = 1, .layers = whole ? layers : 0};
}

void pass_overwrites_images(struct pass *pass, const struct image_view *view, uint32_t x,
                            uint32_t y, uint32_t width, uint32_t height, uint32_t invocations)
{
    pass_overwrites(pass, view, x, y, width, height, slice_count(view->channels));
    pass->stores.axis = 0;
    pass->stores.invocations = invocations;
}

void pass_origin(struct pass *pass, uint32_t x, uint32_t y, uint32_t z)
{
    pass->origin[0] = x;
    pass->origin[1] = y;
    pass->origin[2] = z;
}

void pass_local(struct pass *pass, uint32_t x, uint32_t y, uint32_t z)
{
    pass->local[0] = x;
    pass->local[1] = y;
    pass->local[2] = z;
}

/* ---- Views ---- */

uint64_t view_bytes(const struct image_view *view)
{
    return (uint64_t)view->width * view->height * slice_count(view->channels) * view->images *
           texel_of(view->storage->format)->size;
}
