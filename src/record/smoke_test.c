/* Testing programs: one dispatch writes a number, and if it comes the program runs. */
#include "record/smoke_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/buffer.h"
#include "record/dispatch.h"
#include "record/program.h"
#include "record/smoke_branch.h"
#include "record/uniforms.h"

#define LARGEST_NUMBER 255  /* whole numbers up to here are exact in every format */
#define BUFFER_SIZE    1024 /* holds the longest uniform block */
#define READER_WORDS   20   /* of uniforms of a reader: grid, origin and one view */

static const glcnn_channel_format formats[] = {
    GLCNN_CHANNEL_FORMAT_FLOAT32, GLCNN_CHANNEL_FORMAT_FLOAT16, GLCNN_CHANNEL_FORMAT_UNORM8};
enum { FORMATS = sizeof formats / sizeof *formats };

struct smoke_test {
    struct storage *images[FORMATS];        /* one pixel of each channel format */
    struct glcnn_buffer *buffer, *uniforms; /* the readers' uniform block */
    struct pass readers[FORMATS];           /* each copies its image's number into the buffer */
    GLint words[READER_WORDS];              /* of the uniforms */
    int number; /* differs from test to test, since the last stays where it was stored */
    bool nothing_runs;
};

/* ---- Life ---- */

static struct image_view whole(struct storage *storage)
{
    return (struct image_view){
        .storage = storage, .layer_stride = 1, .width = 1, .height = 1, .channels = 4, .images = 1};
}

static glcnn_status make_images(struct glcnn_device *device, struct smoke_test *smoke)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (int i = 0; i < FORMATS && status == GLCNN_SUCCESS; i++) {
        status = storage_create(device, 1, 1, 1, formats[i], &smoke->images[i]);
        if (status == GLCNN_SUCCESS)
            status = storage_allocate(smoke->images[i]);
    }
    return status;
}

void smoke_test_destroy(struct smoke_test **smoke)
{
    struct smoke_test *old = *smoke;
    *smoke = NULL;
    if (!old)
        return;
    for (int i = 0; i < FORMATS; i++)
        if (old->images[i])
            storage_release(old->images[i]);
    glcnn_buffer_destroy(&old->buffer);
    glcnn_buffer_destroy(&old->uniforms);
    free(old);
}

/* ---- A test ---- */

/* Index of its format. */
static int format_of(const struct pass_texture *item)
{
    int i = 0;
    while (formats[i] != item->view.storage->format)
        i++;
    return i;
}

/* The pass with the smoke's resources in place of its own. */
static struct pass with_small_resources(const struct smoke_test *smoke, const struct pass *pass)
{
    struct pass copy = *pass;
    for (uint32_t i = 0; i < pass->texture_count; i++)
        copy.textures[i].view.storage = smoke->images[format_of(&pass->textures[i])];
    for (uint32_t i = 0; i < pass->image_count; i++)
        copy.images[i].view.storage = smoke->images[format_of(&pass->images[i])];
    for (uint32_t i = 0; i < pass->buffer_count; i++)
        copy.buffers[i].view.buffer = smoke->buffer;
    return copy;
}

/* One group, told by grid_base what to do: the branch, or, for the reader, its work. */
static void dispatch(struct glcnn_device *device, const struct smoke_test *smoke,
                     const struct pass *pass, int x, int y)
{
    const struct gl *gl = &device->gl;
    struct pass small = with_small_resources(smoke, pass);
    device->serial++;
    device_barrier(device, (1u << BARRIER_KINDS) - 1);
    gl->UseProgram(pass->issue.program->name);
    dispatch_bind_resources(device, &small);
    gl->BindBufferBase(GL_UNIFORM_BUFFER, 0, smoke->uniforms->name);
    gl->Uniform3i(0, x, y, 0);
    if (device->info.traits.plain_uniforms)
        gl->Uniform4iv(1, READER_WORDS / 4, smoke->words);
    gl->DispatchCompute(1, 1, 1);
    device->serial++;
    device_barrier(device, (1u << BARRIER_KINDS) - 1);
}

static bool is_number(const void *bytes, const struct pass *pass, int buffer, int number)
{
    float real;
    int32_t whole;
    memcpy(&real, bytes, sizeof real);
    memcpy(&whole, bytes, sizeof whole);
    if (buffer >= 0 && strstr(pass->buffers[buffer].type, "int"))
        return whole == number;
    return buffer < 0 && is_unorm8(&pass->images[0]) ? roundf(255 * real) == (float)number
                                                     : real == (float)number;
}

/* What the program stores there is looked for in the buffer, or carried there from the image. */
static glcnn_status run_branch(struct glcnn_device *device, struct smoke_test *smoke,
                               const struct pass *pass, bool *runs)
{
    int buffer = smoke_branch_buffer(pass);
    unsigned char found[4];
    smoke->number = smoke->number % LARGEST_NUMBER + 1;
    dispatch(device, smoke, pass, -1, smoke->number);
    if (buffer < 0)
        dispatch(device, smoke, &smoke->readers[format_of(&pass->images[0])], 0, 0);
    glcnn_status status = glcnn_buffer_read(smoke->buffer, 0, sizeof found, found);
    *runs = status == GLCNN_SUCCESS && is_number(found, pass, buffer, smoke->number);
    return status;
}

static glcnn_status make_reader(struct glcnn_device *device, struct smoke_test *smoke, int format)
{
    struct pass *reader = &smoke->readers[format];
    struct image_view image = whole(smoke->images[format]);
    struct vector_view found = {.buffer = smoke->buffer, .count = 1};
    reader->shader = "record/smoke_test.comp";
    pass_texture(reader, "source", &image);
    pass_vector(reader, "found", &found, VECTOR_WRITE);
    pass_grid(reader, 1, 1, 1);
    return program_find_untested(device, reader);
}

static glcnn_status make_resources(struct glcnn_device *device, struct smoke_test *smoke)
{
    uint32_t words[BUFFER_SIZE / 4] = {0};
    glcnn_status status = make_images(device, smoke);
    if (status == GLCNN_SUCCESS)
        status = glcnn_buffer_create(device, BUFFER_SIZE, &smoke->buffer);
    if (status == GLCNN_SUCCESS)
        status = glcnn_buffer_create(device, BUFFER_SIZE, &smoke->uniforms);
    for (int format = 0; format < FORMATS && status == GLCNN_SUCCESS; format++)
        status = make_reader(device, smoke, format);
    if (status != GLCNN_SUCCESS)
        return status;
    program_uniforms(&smoke->readers[0], words);
    memcpy(smoke->words, words, sizeof smoke->words);
    return glcnn_buffer_write(smoke->uniforms, 0, sizeof words, words);
}

/* Binaries of readers prove nothing: all are compiled before the driver is blamed. */
static glcnn_status test_reader(struct glcnn_device *device, struct smoke_test *smoke, bool *runs)
{
    glcnn_status status = run_branch(device, smoke, &smoke->readers[0], runs);
    bool again = !*runs && smoke->readers[0].issue.program->loaded;
    for (int format = 0; again && format < FORMATS && status == GLCNN_SUCCESS; format++)
        status = program_rebuild(device, &smoke->readers[format]);
    return again && status == GLCNN_SUCCESS ? run_branch(device, smoke, &smoke->readers[0], runs)
                                            : status;
}

/* The readers write a buffer, so they are tested without themselves; a driver that does not run
 * them, programs of one line, runs nothing. */
static glcnn_status make(struct glcnn_device *device)
{
    bool runs = false;
    struct smoke_test *smoke = device->smoke_test = calloc(1, sizeof *smoke);
    if (!smoke)
        return device_fail(device, GLCNN_OUT_OF_MEMORY, "out of memory testing a program");
    glcnn_status status = make_resources(device, smoke);
    if (status == GLCNN_SUCCESS)
        status = test_reader(device, smoke, &runs);
    smoke->nothing_runs = !runs;
    for (int format = 0; runs && format < FORMATS && status == GLCNN_SUCCESS; format++)
        status = program_keep(device, &smoke->readers[format]);
    if (status == GLCNN_SUCCESS && !runs)
        device_log(device, GLCNN_LOG_WARNING,
                   "the driver of %s accepts programs and runs none of them: no result of it can "
                   "be trusted, and programs are not tested",
                   device->info.renderer);
    return status;
}

glcnn_status smoke_test_run(struct glcnn_device *device, const struct pass *pass, bool *runs)
{
    glcnn_status status = device->smoke_test ? GLCNN_SUCCESS : make(device);
    *runs = true;
    if (status != GLCNN_SUCCESS)
        smoke_test_destroy(&device->smoke_test);
    else if (!device->smoke_test->nothing_runs)
        status = run_branch(device, device->smoke_test, pass, runs);
    return status;
}
