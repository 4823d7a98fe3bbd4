/* Temporary images and states: read counts, views that hold them, and storage that is recycled.
 *
 * All of it is short enough to be run where GLCNN_TEST_QUICK=1 asks for little. */
#include "tests/fixture.h"

#include "device/device.h"
#include "image/image.h"
#include "encode/kernel.h"

/* Reads every pixel of its source once and writes it: a copy. */
static glcnn_kernel *copier;

static glcnn_image *make_temporary_of(glcnn_command_buffer *commands, uint32_t images,
                                      uint32_t channels, uint32_t height, uint32_t width)
{
    const struct glcnn_image_descriptor descriptor = {width, height, channels, images, 0};
    glcnn_image *image = NULL;
    GOOD_FATAL(glcnn_temporary_image_create(commands, &descriptor, &image));
    return image;
}

static glcnn_image *make_temporary(glcnn_command_buffer *commands)
{
    return make_temporary_of(commands, 1, 4, 3, 3);
}

static glcnn_status copy(glcnn_command_buffer *commands, glcnn_image *from, glcnn_image *to)
{
    return glcnn_kernel_encode(commands, copier,
                               &(struct glcnn_encode){.source = from, .destination = to});
}

/* ---- Counts ---- */

static void test_each_encode_that_reads_takes_one(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *source = make_image(1, 4, 3, 3), *result = make_image(1, 4, 3, 3);
    glcnn_image *temporary = make_temporary(commands);
    fill_noise(source, 1);
    CU_ASSERT_TRUE(glcnn_image_is_temporary(temporary));
    CU_ASSERT_EQUAL(glcnn_image_read_count(temporary), 1);
    GOOD(glcnn_image_set_read_count(temporary, 2));
    GOOD(copy(commands, source, temporary));
    CU_ASSERT_EQUAL(glcnn_image_read_count(temporary), 2);
    GOOD(copy(commands, temporary, result));
    CU_ASSERT_EQUAL(glcnn_image_read_count(temporary), 1);
    GOOD(copy(commands, temporary, result));
    CU_ASSERT_EQUAL(glcnn_image_read_count(temporary), 0);
    size_t passes = glcnn_command_buffer_pass_count(commands);
    REFUSED(GLCNN_INVALID_STATE, copy(commands, temporary, result));
    REFUSED(GLCNN_INVALID_STATE, copy(commands, source, temporary));
    REFUSED(GLCNN_INVALID_STATE, glcnn_image_set_read_count(temporary, 1));
    glcnn_image *view = source;
    REFUSED(GLCNN_INVALID_STATE, glcnn_image_batch_view(temporary, 0, &view));
    CU_ASSERT_PTR_NULL(view);
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), passes);
    finish(&commands);
    CU_ASSERT_TRUE(images_equal(result, source));
    glcnn_image_destroy(&temporary);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
}

static void test_a_failed_encode_takes_none(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *temporary = make_temporary(commands), *small = make_image(1, 2, 3, 3);
    REFUSED(GLCNN_INVALID_ARGUMENT, copy(commands, temporary, small));
    CU_ASSERT_EQUAL(glcnn_image_read_count(temporary), 1);
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 0);
    GOOD(glcnn_image_set_read_count(temporary, 0));
    glcnn_image_destroy(&temporary);
    glcnn_image_destroy(&small);
    glcnn_command_buffer_destroy(&commands);
}

static void test_read_back_takes_one(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *temporary = make_temporary(commands);
    glcnn_buffer *buffer = NULL;
    float values[36], expected[36];
    GOOD_FATAL(glcnn_buffer_create(device, sizeof values, &buffer));
    for (int i = 0; i < 36; i++)
        expected[i] = (float)i;
    GOOD(glcnn_buffer_write(buffer, 0, sizeof expected, expected));
    GOOD(glcnn_image_encode_write(commands, temporary, NULL, buffer, 0));
    CU_ASSERT_EQUAL(glcnn_image_read_count(temporary), 1);
    GOOD(glcnn_image_encode_read(commands, temporary, NULL, buffer, 0));
    CU_ASSERT_EQUAL(glcnn_image_read_count(temporary), 0);
    REFUSED(GLCNN_INVALID_STATE, glcnn_image_encode_read(commands, temporary, NULL, buffer, 0));
    REFUSED(GLCNN_INVALID_STATE, glcnn_image_encode_write(commands, temporary, NULL, buffer, 0));
    finish(&commands);
    GOOD(glcnn_buffer_read(buffer, 0, sizeof values, values));
    CU_ASSERT_EQUAL(memcmp(values, expected, sizeof values), 0);
    glcnn_buffer_destroy(&buffer);
    glcnn_image_destroy(&temporary);
}

static void test_a_batch_moves_each_distinct_image_once(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *a = make_temporary(commands), *b = make_temporary(commands);
    glcnn_image *results[3];
    struct glcnn_encode batch[3];
    GOOD(glcnn_image_set_read_count(a, 2));
    GOOD(glcnn_image_set_read_count(b, 2));
    for (int i = 0; i < 3; i++) {
        results[i] = make_image(1, 4, 3, 3);
        batch[i] = (struct glcnn_encode){.source = i == 1 ? b : a, .destination = results[i]};
    }
    GOOD(glcnn_kernel_encode_batch(commands, copier, batch, 3));
    CU_ASSERT_EQUAL(glcnn_image_read_count(a), 1);
    CU_ASSERT_EQUAL(glcnn_image_read_count(b), 1);
    GOOD(glcnn_kernel_encode_batch(commands, copier, batch, 3));
    CU_ASSERT_EQUAL(glcnn_image_read_count(a), 0);
    CU_ASSERT_EQUAL(glcnn_image_read_count(b), 0);
    for (int i = 0; i < 3; i++)
        glcnn_image_destroy(&results[i]);
    glcnn_image_destroy(&a);
    glcnn_image_destroy(&b);
    glcnn_command_buffer_destroy(&commands);
}

static void test_increments_of_a_batch(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *a = make_temporary(commands), *b = make_temporary(commands);
    glcnn_image *spent = make_temporary(commands), *ordinary = make_image(1, 1, 1, 1);
    GOOD(glcnn_image_set_read_count(spent, 0));
    glcnn_image *const batch[] = {a, b, a, ordinary, spent, a, ordinary};
    CU_ASSERT_EQUAL(glcnn_image_batch_increment_read_count(batch, 7, 2), 4);
    CU_ASSERT_EQUAL(glcnn_image_read_count(a), 3);
    CU_ASSERT_EQUAL(glcnn_image_read_count(b), 3);
    CU_ASSERT_EQUAL(glcnn_image_read_count(spent), 0);
    CU_ASSERT_EQUAL(glcnn_image_read_count(ordinary), 0);
    CU_ASSERT_EQUAL(glcnn_image_batch_increment_read_count(batch, 1, -1), 1);
    CU_ASSERT_EQUAL(glcnn_image_read_count(a), 2);
    CU_ASSERT_EQUAL(glcnn_image_batch_increment_read_count(batch, 7, -3), 4);
    CU_ASSERT_EQUAL(glcnn_image_read_count(a), 0);
    CU_ASSERT_EQUAL(glcnn_image_read_count(b), 0);
    CU_ASSERT_EQUAL(glcnn_image_resource_size(a), 0);
    CU_ASSERT_EQUAL(glcnn_image_batch_increment_read_count(NULL, 7, 1), 0);
    glcnn_image_destroy(&a);
    glcnn_image_destroy(&b);
    glcnn_image_destroy(&spent);
    glcnn_image_destroy(&ordinary);
    glcnn_command_buffer_destroy(&commands);
}

static void test_only_its_command_buffer_may_use_it(void)
{
    glcnn_command_buffer *commands = make_commands(), *other = make_commands();
    glcnn_image *temporary = make_temporary(commands), *ordinary = make_image(1, 4, 3, 3);
    float bytes[36];
    glcnn_buffer *buffer = NULL;
    GOOD_FATAL(glcnn_buffer_create(device, sizeof bytes, &buffer));
    REFUSED(GLCNN_INVALID_STATE, copy(other, temporary, ordinary));
    REFUSED(GLCNN_INVALID_STATE, copy(other, ordinary, temporary));
    REFUSED(GLCNN_INVALID_STATE, glcnn_image_encode_read(other, temporary, NULL, buffer, 0));
    REFUSED(GLCNN_INVALID_STATE, glcnn_image_encode_write(other, temporary, NULL, buffer, 0));
    REFUSED(GLCNN_INVALID_STATE, glcnn_image_read_bytes(temporary, NULL, bytes, sizeof bytes));
    REFUSED(GLCNN_INVALID_STATE, glcnn_image_write_bytes(temporary, NULL, bytes, sizeof bytes));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_image_set_read_count(ordinary, 2));
    CU_ASSERT_EQUAL(glcnn_image_read_count(temporary), 1);
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(other), 0);
    GOOD(glcnn_image_set_read_count(temporary, 0));
    glcnn_image_destroy(&temporary);
    glcnn_image_destroy(&ordinary);
    glcnn_buffer_destroy(&buffer);
    glcnn_command_buffer_destroy(&commands);
    glcnn_command_buffer_destroy(&other);
}

/* ---- Recycling ---- */

/* A chain of temporaries, each read once by the next: two textures serve all of them. */
static void test_storage_is_recycled_within_a_command_buffer(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *source = make_image(1, 4, 3, 3), *result = make_image(1, 4, 3, 3);
    glcnn_image *last = source, *next[6];
    const struct storage *storages[6];
    fill_noise(source, 2);
    for (int i = 0; i < 6; i++) {
        next[i] = make_temporary(commands);
        storages[i] = next[i]->storage;
        GOOD(copy(commands, last, next[i]));
        last = next[i];
    }
    GOOD(copy(commands, last, result));
    for (int i = 2; i < 6; i++)
        CU_ASSERT_PTR_EQUAL(storages[i], storages[i - 2]);
    CU_ASSERT_PTR_NOT_EQUAL(storages[0], storages[1]);
    GOOD(glcnn_command_buffer_commit(commands));
    CU_ASSERT_TRUE(images_equal(result, source));
    fill_noise(source, 3);
    GOOD(glcnn_command_buffer_commit(commands));
    CU_ASSERT_TRUE(images_equal(result, source));
    for (int i = 0; i < 6; i++)
        glcnn_image_destroy(&next[i]);
    finish(&commands);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
}

static GLsizei made_textures;
static PFNGLGENTEXTURESPROC gen_textures;
static void GL_APIENTRY count_textures(GLsizei count, GLuint *names)
{
    made_textures += count;
    gen_textures(count, names);
}

/* What one command buffer leaves, the next one takes. */
static void test_storage_is_recycled_between_command_buffers(void)
{
    glcnn_image *source = make_image(1, 4, 5, 9), *result = make_image(1, 4, 5, 9);
    fill_noise(source, 4);
    fill_constant(result, 0);
    gen_textures = device->gl.GenTextures;
    device->gl.GenTextures = count_textures;
    for (int i = 0; i < 3; i++) {
        made_textures = 0;
        glcnn_command_buffer *commands = make_commands();
        glcnn_image *temporary = make_temporary_of(commands, 1, 4, 5, 9);
        GOOD(copy(commands, source, temporary));
        GOOD(copy(commands, temporary, result));
        glcnn_image_destroy(&temporary);
        finish(&commands);
        CU_ASSERT_EQUAL(made_textures, i == 0 ? 1 : 0);
    }
    device->gl.GenTextures = gen_textures;
    CU_ASSERT_TRUE(images_equal(result, source));
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
}

static GLuint deleted[8];
static GLsizei deleted_count;
static PFNGLDELETETEXTURESPROC delete_textures;
static void GL_APIENTRY note_deleted(GLsizei count, const GLuint *names)
{
    for (GLsizei i = 0; i < count && deleted_count < 8; i++)
        deleted[deleted_count++] = names[i];
    delete_textures(count, names);
}

/* Names alone: no driver has to find the memory. */
static void GL_APIENTRY store_nothing(GLenum target, GLsizei levels, GLenum format, GLsizei width,
                                      GLsizei height, GLsizei depth)
{
    (void)target, (void)levels, (void)format, (void)width, (void)height, (void)depth;
}

/* Five textures of 64 MiB are more than the 256 MiB that a pool keeps: the one that has waited
 * longest is freed, and the next command buffer takes the other four. */
static void test_what_waits_to_be_recycled_is_limited(void)
{
    struct storage *storages[5];
    GLuint first = 0;
    glcnn_device *fresh = NULL;
    GOOD_FATAL(glcnn_device_create(NULL, &fresh));
    struct gl real = fresh->gl;
    delete_textures = real.DeleteTextures;
    deleted_count = 0;
    fresh->gl.TexStorage3D = store_nothing;
    fresh->gl.DeleteTextures = note_deleted;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 5; i++) {
            GOOD_FATAL(storage_create_pooled(fresh, 2048, 2048, 1, GLCNN_CHANNEL_FORMAT_FLOAT32,
                                             &storages[i]));
            CU_ASSERT_EQUAL(storages[i]->texture != 0, round == 1 && i < 4);
            GOOD_FATAL(storage_allocate(storages[i]));
        }
        first = storages[0]->texture;
        for (int i = 0; i < 5; i++)
            storage_recycle(storages[i]);
        CU_ASSERT_EQUAL(deleted_count, round + 1);
        CU_ASSERT_EQUAL(deleted[round], first);
    }
    glcnn_device_destroy(&fresh);
    CU_ASSERT_EQUAL(deleted_count, 2 + 4);
}

/* Setting 0 gives the storage back at once, though nothing has read the image. */
static void test_a_count_of_zero_releases_early(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *first = make_temporary(commands);
    const struct storage *storage = first->storage;
    GOOD(glcnn_image_set_read_count(first, 0));
    CU_ASSERT_EQUAL(glcnn_image_read_count(first), 0);
    glcnn_image *second = make_temporary(commands);
    CU_ASSERT_PTR_EQUAL(second->storage, storage);
    glcnn_image_destroy(&first);
    GOOD(glcnn_image_set_read_count(second, 0));
    glcnn_image_destroy(&second);
    glcnn_command_buffer_destroy(&commands);
}

/* ---- First contents ---- */

/* Leaves storage of this extent in the command buffer whose every component is 7. */
static void leave_sevens(glcnn_command_buffer *commands, uint32_t images, uint32_t channels,
                         uint32_t height, uint32_t width)
{
    glcnn_image *sevens = make_image(images, (channels + 3) / 4 * 4, height, width);
    glcnn_image *dirty = make_temporary_of(commands, images, (channels + 3) / 4 * 4, height, width);
    fill_constant(sevens, 7);
    GOOD(copy(commands, sevens, dirty));
    GOOD(glcnn_image_set_read_count(dirty, 0));
    glcnn_image_destroy(&dirty);
    glcnn_image_destroy(&sevens);
}

/* The image with all four components of its last slice. */
static void read_raw(glcnn_command_buffer *commands, glcnn_image *image, float *values, size_t size)
{
    struct glcnn_image raw = *image;
    glcnn_buffer *buffer = NULL;
    raw.descriptor.feature_channels = raw.channels_behind =
        (image->descriptor.feature_channels + 3) / 4 * 4;
    raw.command_buffer = NULL;
    GOOD_FATAL(glcnn_buffer_create(device, size, &buffer));
    GOOD(glcnn_image_encode_read(
        commands, &raw,
        &(struct glcnn_image_transfer){.layout = GLCNN_LAYOUT_CHANNELS_HEIGHT_WIDTH}, buffer, 0));
    GOOD(glcnn_command_buffer_commit(commands));
    GOOD(glcnn_buffer_read(buffer, 0, size, values));
    glcnn_buffer_destroy(&buffer);
}

static void test_what_a_clip_leaves_out_is_zero(void)
{
    glcnn_command_buffer *commands = make_commands();
    float values[4 * 4 * 4];
    leave_sevens(commands, 1, 3, 4, 4);
    glcnn_image *ones = make_image(1, 3, 4, 4), *image = make_temporary_of(commands, 1, 3, 4, 4);
    fill_constant(ones, 1);
    copier->properties.clip_rect = (struct glcnn_region){{1, 2, 0}, {2, 1, 1}};
    GOOD(copy(commands, ones, image));
    copier->properties.clip_rect = (struct glcnn_region)GLCNN_NO_CLIP;
    read_raw(commands, image, values, sizeof values);
    for (int i = 0; i < 64; i++) {
        bool inside = i / 16 < 3 && i / 4 % 4 == 2 && i % 4 >= 1 && i % 4 <= 2;
        CU_ASSERT_EQUAL(values[i], inside ? 1 : 0);
    }
    glcnn_image_destroy(&image);
    glcnn_image_destroy(&ones);
    glcnn_command_buffer_destroy(&commands);
}

static void test_what_a_transfer_leaves_out_is_zero(void)
{
    glcnn_command_buffer *commands = make_commands();
    float values[4 * 4 * 4];
    glcnn_buffer *buffer = NULL;
    leave_sevens(commands, 1, 3, 4, 4);
    glcnn_image *image = make_temporary_of(commands, 1, 3, 4, 4);
    GOOD_FATAL(glcnn_buffer_create(device, 16, &buffer));
    GOOD(glcnn_buffer_write(buffer, 0, 12, (float[]){1, 1, 1}));
    GOOD(glcnn_image_encode_write(
        commands, image, &(struct glcnn_image_transfer){.x = 3, .y = 3, .width = 1, .height = 1},
        buffer, 0));
    read_raw(commands, image, values, sizeof values);
    for (int i = 0; i < 64; i++)
        CU_ASSERT_EQUAL(values[i], i / 16 < 3 && i % 16 == 15 ? 1 : 0);
    glcnn_image_destroy(&image);
    glcnn_buffer_destroy(&buffer);
    glcnn_command_buffer_destroy(&commands);
}

/* Two views of one image are written, one of them in part, and then a part of the image itself:
 * each keeps what it has. */
static void test_views_and_their_parent_keep_contents(void)
{
    glcnn_command_buffer *commands = make_commands();
    float values[3 * 4 * 4];
    leave_sevens(commands, 3, 4, 2, 2);
    glcnn_image *parent = make_temporary_of(commands, 3, 4, 2, 2), *first = NULL, *second = NULL;
    glcnn_image *ones = make_image(1, 4, 2, 2);
    fill_constant(ones, 1);
    GOOD_FATAL(glcnn_image_batch_view(parent, 0, &first));
    GOOD(copy(commands, ones, first));
    GOOD_FATAL(glcnn_image_batch_view(parent, 1, &second));
    copier->properties.clip_rect = (struct glcnn_region){{0, 0, 0}, {1, 1, 1}};
    GOOD(copy(commands, ones, second));
    copier->properties.clip_rect = (struct glcnn_region){{1, 0, 2}, {1, 1, 1}};
    GOOD(copy(commands, ones, parent));
    copier->properties.clip_rect = (struct glcnn_region)GLCNN_NO_CLIP;
    read_raw(commands, parent, values, sizeof values);
    for (int i = 0; i < 48; i++)
        CU_ASSERT_EQUAL(values[i], i < 16 || (i < 32 ? i % 4 == 0 : i % 4 == 1));
    glcnn_image_destroy(&first);
    glcnn_image_destroy(&second);
    glcnn_image_destroy(&parent);
    glcnn_image_destroy(&ones);
    glcnn_command_buffer_destroy(&commands);
}

/* ---- Views ---- */

static void test_a_view_holds_a_count_of_its_parent(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *source = make_image(2, 4, 3, 3), *result = make_image(1, 4, 3, 3);
    glcnn_image *parent = make_temporary_of(commands, 2, 4, 3, 3), *view = NULL, *inner = NULL;
    fill_noise(source, 5);
    GOOD(copy(commands, source, parent));
    GOOD_FATAL(glcnn_image_batch_view(parent, 1, &view));
    GOOD_FATAL(glcnn_image_channel_view(view, 0, 4, &inner));
    CU_ASSERT_TRUE(glcnn_image_is_temporary(view));
    CU_ASSERT_EQUAL(glcnn_image_read_count(parent), 2);
    CU_ASSERT_EQUAL(glcnn_image_read_count(view), 2);
    CU_ASSERT_EQUAL(glcnn_image_read_count(inner), 1);
    GOOD(copy(commands, parent, result));
    CU_ASSERT_EQUAL(glcnn_image_read_count(parent), 1);
    GOOD(copy(commands, view, result));
    CU_ASSERT_EQUAL(glcnn_image_read_count(view), 1);
    CU_ASSERT_EQUAL(glcnn_image_read_count(parent), 1);
    const struct storage *storage = parent->storage;
    GOOD(copy(commands, inner, result));
    CU_ASSERT_EQUAL(glcnn_image_read_count(inner), 0);
    CU_ASSERT_EQUAL(glcnn_image_read_count(view), 0);
    CU_ASSERT_EQUAL(glcnn_image_read_count(parent), 0);
    CU_ASSERT_PTR_EQUAL(commands->free_storage, storage);
    REFUSED(GLCNN_INVALID_STATE, copy(commands, inner, result));
    float *values = read_image(source);
    finish(&commands);
    CU_ASSERT_TRUE(image_equals(result, values + 36));
    free(values);
    glcnn_image_destroy(&parent);
    glcnn_image_destroy(&view);
    glcnn_image_destroy(&inner);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
}

static void test_a_destroyed_view_gives_its_count_back(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *parent = make_temporary(commands), *view = NULL;
    GOOD_FATAL(glcnn_image_batch_view(parent, 0, &view));
    GOOD(glcnn_image_set_read_count(view, 5));
    CU_ASSERT_EQUAL(glcnn_image_read_count(parent), 2);
    glcnn_image_destroy(&view);
    CU_ASSERT_EQUAL(glcnn_image_read_count(parent), 1);
    GOOD(glcnn_image_set_read_count(parent, 0));
    glcnn_image_destroy(&parent);
    glcnn_command_buffer_destroy(&commands);
}

/* The owner may release a parent early: its views are spent with it, and the storage that another
 * image has by then stays untouched. */
static void test_views_of_a_released_parent_are_spent(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *ones = make_image(1, 4, 3, 3), *parent = make_temporary(commands), *view = NULL;
    fill_constant(ones, 1);
    GOOD_FATAL(glcnn_image_batch_view(parent, 0, &view));
    GOOD(glcnn_image_set_read_count(parent, 0));
    REFUSED(GLCNN_INVALID_STATE, copy(commands, ones, view));
    REFUSED(GLCNN_INVALID_STATE, copy(commands, view, ones));
    REFUSED(GLCNN_INVALID_STATE, glcnn_image_set_read_count(view, 2));
    glcnn_image *inner = ones;
    REFUSED(GLCNN_INVALID_STATE, glcnn_image_batch_view(view, 0, &inner));
    glcnn_image_destroy(&view);
    CU_ASSERT_EQUAL(glcnn_image_read_count(parent), 0);
    glcnn_image_destroy(&parent);
    glcnn_image_destroy(&ones);
    glcnn_command_buffer_destroy(&commands);
}

/* ---- Returning encodes ---- */

static void test_a_returning_encode_makes_a_temporary_image(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *source = make_image(1, 4, 3, 3), *result = NULL;
    glcnn_state *state = NULL;
    const struct glcnn_encode arguments = {.source = source};
    GOOD_FATAL(glcnn_kernel_encode_returning(commands, copier, &arguments, &result, &state));
    CU_ASSERT_TRUE(glcnn_image_is_temporary(result));
    CU_ASSERT_TRUE(glcnn_state_is_temporary(state));
    CU_ASSERT_EQUAL(glcnn_image_read_count(result), 1);
    CU_ASSERT_EQUAL(glcnn_state_read_count(state), 1);
    GOOD(glcnn_image_set_read_count(result, 0));
    glcnn_image_destroy(&result);
    glcnn_state_destroy(&state);
    glcnn_kernel_properties(copier)->result_is_ordinary = true;
    GOOD_FATAL(glcnn_kernel_encode_returning(commands, copier, &arguments, &result, &state));
    glcnn_kernel_properties(copier)->result_is_ordinary = false;
    CU_ASSERT_FALSE(glcnn_image_is_temporary(result));
    CU_ASSERT_FALSE(glcnn_state_is_temporary(state));
    CU_ASSERT_EQUAL(glcnn_state_read_count(state), 0);
    glcnn_image_destroy(&result);
    glcnn_state_destroy(&state);
    glcnn_image_destroy(&source);
    glcnn_command_buffer_destroy(&commands);
}

/* ---- States ---- */

static void test_temporary_states_are_counted(void)
{
    glcnn_command_buffer *commands = make_commands(), *other = make_commands();
    glcnn_image *x = make_image(1, 4, 3, 3), *y = make_image(1, 4, 3, 3);
    glcnn_kernel *gradient = NULL;
    glcnn_state *state = NULL;
    GOOD_FATAL(glcnn_pooling_max_gradient_create(device, 1, 1, 1, 1, &gradient));
    GOOD_FATAL(
        glcnn_kernel_result_state(commands, copier, &(struct glcnn_encode){.source = x}, &state));
    CU_ASSERT_PTR_NOT_NULL_FATAL(state);
    CU_ASSERT_TRUE(glcnn_state_is_temporary(state));
    struct glcnn_encode forward = {.source = x, .destination = y, .state = state};
    struct glcnn_encode backward = {
        .source = y, .secondary = x, .destination = NULL, .state = state};
    glcnn_image *dx = make_image(1, 4, 3, 3);
    backward.destination = dx;
    REFUSED(GLCNN_INVALID_STATE, glcnn_kernel_encode(other, copier, &forward));
    GOOD(glcnn_kernel_encode(commands, copier, &forward));
    CU_ASSERT_EQUAL(glcnn_state_read_count(state), 1);
    CU_ASSERT_EQUAL(glcnn_state_source_width(state), 3);
    GOOD(glcnn_state_set_read_count(state, 2));
    struct glcnn_encode batch[2] = {backward, backward};
    glcnn_image *second = make_image(1, 4, 3, 3);
    batch[1].destination = second;
    GOOD(glcnn_kernel_encode_batch(commands, gradient, batch, 2));
    CU_ASSERT_EQUAL(glcnn_state_read_count(state), 1);
    REFUSED(GLCNN_INVALID_STATE, glcnn_kernel_encode(other, gradient, &backward));
    GOOD(glcnn_kernel_encode(commands, gradient, &backward));
    CU_ASSERT_EQUAL(glcnn_state_read_count(state), 0);
    REFUSED(GLCNN_INVALID_STATE, glcnn_kernel_encode(commands, gradient, &backward));
    REFUSED(GLCNN_INVALID_STATE, glcnn_kernel_encode(commands, copier, &forward));
    REFUSED(GLCNN_INVALID_STATE, glcnn_state_set_read_count(state, 1));
    glcnn_image_destroy(&second);
    glcnn_image_destroy(&dx);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&gradient);
    glcnn_command_buffer_destroy(&commands);
    glcnn_command_buffer_destroy(&other);
}

/* ---- Warnings ---- */

static int warnings;
static void count_warnings(void *user, glcnn_log_level level, const char *text)
{
    (void)user;
    warnings += level == GLCNN_LOG_WARNING && strstr(text, "read count") != NULL;
}

static void test_unread_images_are_reported(void)
{
    device->log = count_warnings;
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *unread = make_temporary(commands), *released = make_temporary(commands);
    glcnn_image *source = make_image(1, 4, 3, 3), *view = NULL, *result = NULL;
    GOOD_FATAL(glcnn_image_batch_view(released, 0, &view));
    warnings = 0;
    glcnn_image_destroy(&view);
    GOOD(glcnn_image_set_read_count(released, 0));
    glcnn_image_destroy(&released);
    CU_ASSERT_EQUAL(warnings, 0);
    glcnn_image_destroy(&unread);
    CU_ASSERT_EQUAL(warnings, 1);
    glcnn_kernel_properties(copier)->destination_feature_channel_offset = 2;
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode_returning(commands, copier,
                                          &(struct glcnn_encode){.source = source}, &result, NULL));
    glcnn_kernel_properties(copier)->destination_feature_channel_offset = 0;
    CU_ASSERT_PTR_NULL(result);
    CU_ASSERT_EQUAL(warnings, 1);
    glcnn_image_destroy(&source);
    glcnn_command_buffer_destroy(&commands);
    device->log = NULL;
}

/* An image may be destroyed long after its command buffer. */
static void test_images_outlive_their_command_buffer(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *image = make_temporary(commands), *view = NULL;
    GOOD_FATAL(glcnn_image_batch_view(image, 0, &view));
    glcnn_command_buffer_destroy(&commands);
    CU_ASSERT_EQUAL(glcnn_image_read_count(image), 2);
    GOOD(glcnn_image_set_read_count(view, 0));
    glcnn_image_destroy(&image);
    glcnn_image_destroy(&view);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_each_encode_that_reads_takes_one),
        UNIT_TEST(test_a_failed_encode_takes_none),
        UNIT_TEST(test_read_back_takes_one),
        UNIT_TEST(test_a_batch_moves_each_distinct_image_once),
        UNIT_TEST(test_increments_of_a_batch),
        UNIT_TEST(test_only_its_command_buffer_may_use_it),
        UNIT_TEST(test_storage_is_recycled_within_a_command_buffer),
        UNIT_TEST(test_storage_is_recycled_between_command_buffers),
        UNIT_TEST(test_what_waits_to_be_recycled_is_limited),
        UNIT_TEST(test_a_count_of_zero_releases_early),
        UNIT_TEST(test_what_a_clip_leaves_out_is_zero),
        UNIT_TEST(test_what_a_transfer_leaves_out_is_zero),
        UNIT_TEST(test_views_and_their_parent_keep_contents),
        UNIT_TEST(test_a_view_holds_a_count_of_its_parent),
        UNIT_TEST(test_a_destroyed_view_gives_its_count_back),
        UNIT_TEST(test_views_of_a_released_parent_are_spent),
        UNIT_TEST(test_a_returning_encode_makes_a_temporary_image),
        UNIT_TEST(test_temporary_states_are_counted),
        UNIT_TEST(test_unread_images_are_reported),
        UNIT_TEST(test_images_outlive_their_command_buffer),
        CU_TEST_INFO_NULL,
    };
    if (!fixture_open() || glcnn_pooling_max_create(device, 1, 1, 1, 1, &copier) != GLCNN_SUCCESS)
        return EXIT_FAILURE;
    int result = unit_run("temporary", tests, argc, argv);
    glcnn_kernel_destroy(&copier);
    fixture_close();
    return result;
}
