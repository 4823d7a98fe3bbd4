/* A device on the caller's context: textures in both directions, and what becomes of the context's
 * state. The caller is this program, with OpenGL ES of its own. */
#include "glcnn/texture.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>

#include "image/image.h"
#include "tests/fixture.h"

#define INVALID GLCNN_INVALID_ARGUMENT

static struct gl gl;
static EGLDisplay display;
static EGLContext context;

static bool says(const char *text)
{
    bool found = strstr(glcnn_device_error(device), text) != NULL;
    if (!found)
        fprintf(stderr, "\nexpected \"%s\" in: %s\n", text, glcnn_device_error(device));
    return found;
}

static gl_function load(const void *user, const char *name)
{
    (void)user;
    return (gl_function)eglGetProcAddress(name);
}

/* ---- The caller's state ---- */

#define UNITS   16
#define IMAGES  20
#define STORAGE 16
#define MOST    512

struct snapshot {
    GLint64 values[MOST];
    char names[MOST][32];
    size_t count;
};

static void add(struct snapshot *s, const char *name, GLint64 value)
{
    CU_ASSERT_FATAL(s->count < MOST);
    snprintf(s->names[s->count], sizeof s->names[0], "%s", name);
    s->values[s->count++] = value;
}

static void add_one(struct snapshot *s, const char *text, GLenum name)
{
    GLint value = 0;
    gl.GetIntegerv(name, &value);
    add(s, text, value);
}

static void add_indexed(struct snapshot *s, const char *text, GLenum name, GLuint index)
{
    GLint64 value = 0;
    char label[32];
    gl.GetInteger64i_v(name, index, &value);
    snprintf(label, sizeof label, "%s %u", text, index);
    add(s, label, value);
}

static GLuint most_of(GLenum name, GLuint most)
{
    GLint value = 0;
    gl.GetIntegerv(name, &value);
    return (GLuint)value < most ? (GLuint)value : most;
}

static void add_textures(struct snapshot *s)
{
    GLint active = 0;
    gl.GetIntegerv(GL_ACTIVE_TEXTURE, &active);
    add(s, "active texture", active);
    for (GLuint i = 0; i < UNITS; i++) {
        gl.ActiveTexture(GL_TEXTURE0 + i);
        add_one(s, "texture 2D", GL_TEXTURE_BINDING_2D);
        add_one(s, "texture 2D array", GL_TEXTURE_BINDING_2D_ARRAY);
        add_one(s, "sampler", GL_SAMPLER_BINDING);
    }
    gl.ActiveTexture((GLenum)active);
}

static void add_buffers(struct snapshot *s)
{
    for (GLuint i = 0; i < most_of(GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS, STORAGE); i++) {
        add_indexed(s, "storage", GL_SHADER_STORAGE_BUFFER_BINDING, i);
        add_indexed(s, "storage start", GL_SHADER_STORAGE_BUFFER_START, i);
        add_indexed(s, "storage size", GL_SHADER_STORAGE_BUFFER_SIZE, i);
    }
    add_indexed(s, "uniform", GL_UNIFORM_BUFFER_BINDING, 0);
    add_indexed(s, "uniform start", GL_UNIFORM_BUFFER_START, 0);
    add_indexed(s, "uniform size", GL_UNIFORM_BUFFER_SIZE, 0);
    add_one(s, "generic storage", GL_SHADER_STORAGE_BUFFER_BINDING);
    add_one(s, "generic uniform", GL_UNIFORM_BUFFER_BINDING);
    add_one(s, "copy read", GL_COPY_READ_BUFFER_BINDING);
    add_one(s, "copy write", GL_COPY_WRITE_BUFFER_BINDING);
}

static struct snapshot take_snapshot(void)
{
    static const struct {
        const char *text;
        GLenum name;
    } of_images[] = {
        {"image", GL_IMAGE_BINDING_NAME},          {"level", GL_IMAGE_BINDING_LEVEL},
        {"layered", GL_IMAGE_BINDING_LAYERED},     {"layer", GL_IMAGE_BINDING_LAYER},
        {"image access", GL_IMAGE_BINDING_ACCESS}, {"format", GL_IMAGE_BINDING_FORMAT}};
    struct snapshot s = {.count = 0};
    add_one(&s, "program", GL_CURRENT_PROGRAM);
    add_textures(&s);
    for (GLuint i = 0; i < most_of(GL_MAX_IMAGE_UNITS, IMAGES); i++)
        for (size_t k = 0; k < sizeof of_images / sizeof *of_images; k++)
            add_indexed(&s, of_images[k].text, of_images[k].name, i);
    add_buffers(&s);
    return s;
}

static bool same(const struct snapshot *a, const struct snapshot *b, const char *after)
{
    for (size_t i = 0; i < a->count; i++)
        if (a->values[i] != b->values[i]) {
            fprintf(stderr, "\n%s: %s was %lld and is %lld\n", after, a->names[i],
                    (long long)a->values[i], (long long)b->values[i]);
            return false;
        }
    return true;
}

/* ---- The caller's objects ---- */

static GLuint make_texture(GLenum target, GLenum format, GLsizei width, GLsizei height,
                           GLsizei depth)
{
    PFNGLTEXSTORAGE2DPROC storage = (PFNGLTEXSTORAGE2DPROC)load(NULL, "glTexStorage2D");
    GLuint name = 0;
    gl.GenTextures(1, &name);
    gl.BindTexture(target, name);
    if (target == GL_TEXTURE_2D)
        storage(target, 1, format, width, height);
    else
        gl.TexStorage3D(target, 1, format, width, height, depth);
    return name;
}

static GLuint make_buffer(GLenum target)
{
    GLuint name = 0;
    gl.GenBuffers(1, &name);
    gl.BindBuffer(target, name);
    gl.BufferData(target, 4096, NULL, GL_STATIC_DRAW);
    return name;
}

static GLuint make_program(void)
{
    static const GLchar *const text =
        "#version 310 es\nlayout(local_size_x = 1) in;\nvoid main() {}\n";
    GLuint program = gl.CreateProgram(), shader = gl.CreateShader(GL_COMPUTE_SHADER);
    gl.ShaderSource(shader, 1, &text, NULL);
    gl.CompileShader(shader);
    gl.AttachShader(program, shader);
    gl.LinkProgram(program);
    gl.DeleteShader(shader);
    return program;
}

/* The units have textures of both targets and a sampler with which they cannot be fetched from. */
static void set_textures(void)
{
    PFNGLGENSAMPLERSPROC gen = (PFNGLGENSAMPLERSPROC)load(NULL, "glGenSamplers");
    for (GLuint i = 0; i < UNITS; i++) {
        GLuint sampler;
        gl.ActiveTexture(GL_TEXTURE0 + i);
        make_texture(GL_TEXTURE_2D, GL_RGBA8, 4, 4, 1);
        make_texture(GL_TEXTURE_2D_ARRAY, GL_RGBA8, 4, 4, 2);
        gen(1, &sampler);
        gl.BindSampler(i, sampler);
    }
    gl.ActiveTexture(GL_TEXTURE0 + 5);
}

static void set_state(void)
{
    gl.UseProgram(make_program());
    set_textures();
    for (GLuint i = 0; i < most_of(GL_MAX_IMAGE_UNITS, IMAGES); i++)
        gl.BindImageTexture(i, make_texture(GL_TEXTURE_2D_ARRAY, GL_RGBA8, 2, 2, 3), 0, GL_FALSE,
                            (GLint)i % 3, i % 2 ? GL_READ_ONLY : GL_WRITE_ONLY, GL_RGBA8);
    for (GLuint i = 0; i < most_of(GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS, STORAGE); i++)
        if (i % 3)
            gl.BindBufferRange(GL_SHADER_STORAGE_BUFFER, i, make_buffer(GL_SHADER_STORAGE_BUFFER),
                               256 * i, 64);
        else
            gl.BindBufferBase(GL_SHADER_STORAGE_BUFFER, i, make_buffer(GL_SHADER_STORAGE_BUFFER));
    gl.BindBufferRange(GL_UNIFORM_BUFFER, 0, make_buffer(GL_UNIFORM_BUFFER), 256, 128);
    make_buffer(GL_SHADER_STORAGE_BUFFER);
    make_buffer(GL_UNIFORM_BUFFER);
    make_buffer(GL_COPY_READ_BUFFER);
    make_buffer(GL_COPY_WRITE_BUFFER);
    CU_ASSERT_EQUAL_FATAL(gl.GetError(), GL_NO_ERROR);
}

/* ---- State ---- */

static struct snapshot before;

#define KEEPS(call)                                                                                \
    do {                                                                                           \
        GOOD(call);                                                                                \
        struct snapshot now = take_snapshot();                                                     \
        CU_ASSERT_TRUE(same(&before, &now, #call));                                                \
    } while (0)

static void buffers_keep_the_state(void)
{
    float values[4] = {1, 2, 3, 4}, found[4] = {0};
    glcnn_buffer *buffer = NULL;
    KEEPS(glcnn_buffer_create(device, sizeof values, &buffer));
    KEEPS(glcnn_buffer_write(buffer, 0, sizeof values, values));
    KEEPS(glcnn_buffer_read(buffer, 0, sizeof found, found));
    CU_ASSERT_EQUAL(memcmp(values, found, sizeof found), 0);
    glcnn_buffer_destroy(&buffer);
}

/* The sampler objects of the caller's would make all of these zero. */
static void kernels_keep_the_state(void)
{
    const float values[] = {1, 2, 3, 4, 5, 6, 7, 8};
    float found[8] = {0};
    const struct glcnn_image_descriptor size = {4, 2, 1, 1, GLCNN_CHANNEL_FORMAT_FLOAT32};
    glcnn_image *source = NULL, *result = NULL;
    glcnn_command_buffer *commands = NULL;
    glcnn_kernel *kernel = kernel_with("slice", NULL);
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    KEEPS(glcnn_image_create(device, &size, &source));
    KEEPS(glcnn_image_write_bytes(source, NULL, values, sizeof values));
    KEEPS(glcnn_command_buffer_create(device, &commands));
    KEEPS(glcnn_kernel_encode_returning(commands, kernel, &(struct glcnn_encode){.source = source},
                                        &result, NULL));
    KEEPS(glcnn_command_buffer_commit(commands));
    KEEPS(glcnn_command_buffer_wait(commands));
    KEEPS(glcnn_image_read_bytes(result, NULL, found, sizeof found));
    CU_ASSERT_EQUAL(memcmp(values, found, sizeof found), 0);
    glcnn_command_buffer_destroy(&commands);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&kernel);
}

static void graphs_keep_the_state(void)
{
    const float data[] = {0.5f, -1, 2, 3}, goal[] = {1};
    const struct glcnn_convolution_descriptor window = {.kernel_width = 2,
                                                        .kernel_height = 2,
                                                        .input_feature_channels = 1,
                                                        .output_feature_channels = 1};
    glcnn_network *network = NULL;
    glcnn_graph *graph = NULL;
    glcnn_kernel *optimizer = NULL;
    glcnn_image *sources[] = {image_with(1, 1, 2, 2, data), image_with(1, 1, 1, 1, goal)};
    KEEPS(glcnn_network_create(device, &network));
    glcnn_image_node *x = glcnn_image_node_create(network, "x");
    x = glcnn_fully_connected_node(x, &window, NULL);
    glcnn_filter_node *loss =
        glcnn_loss_node(x, glcnn_image_node_create(network, "y"), NULL,
                        GLCNN_LOSS_TYPE_MEAN_SQUARED_ERROR, GLCNN_REDUCTION_TYPE_MEAN);
    KEEPS(glcnn_network_initialise(network, 1));
    KEEPS(glcnn_optimizer_adam_create(device, 0.01f, &optimizer));
    KEEPS(glcnn_training_graph_create(loss, optimizer, NULL, &graph));
    KEEPS(glcnn_graph_execute(graph, sources, NULL, NULL));
    KEEPS(glcnn_graph_wait(graph));
    glcnn_image_destroy(&sources[0]);
    glcnn_image_destroy(&sources[1]);
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&network);
    glcnn_kernel_destroy(&optimizer);
}

/* ---- Textures to the library ---- */

static GLuint texture_with(GLenum internal, GLenum format, GLsizei width, GLsizei height,
                           const uint8_t *bytes)
{
    PFNGLTEXSUBIMAGE2DPROC upload = (PFNGLTEXSUBIMAGE2DPROC)load(NULL, "glTexSubImage2D");
    PFNGLPIXELSTOREIPROC store = (PFNGLPIXELSTOREIPROC)load(NULL, "glPixelStorei");
    GLint bound = 0;
    gl.GetIntegerv(GL_TEXTURE_BINDING_2D, &bound);
    GLuint name = make_texture(GL_TEXTURE_2D, internal, width, height, 1);
    store(GL_UNPACK_ALIGNMENT, 1);
    upload(GL_TEXTURE_2D, 0, 0, 0, width, height, format, GL_UNSIGNED_BYTE, bytes);
    gl.BindTexture(GL_TEXTURE_2D, (GLuint)bound);
    CU_ASSERT_EQUAL(gl.GetError(), GL_NO_ERROR);
    return name;
}

static glcnn_image *wrapped(GLuint texture, GLenum target, uint32_t channels)
{
    glcnn_image *image = NULL;
    KEEPS(glcnn_image_wrap_texture(device, texture, target, channels, &image));
    CU_ASSERT_PTR_NOT_NULL_FATAL(image);
    return image;
}

static void check_bytes(glcnn_image *image, const uint8_t *bytes)
{
    uint8_t found[5 * 3 * 4];
    size_t count = count_of(image);
    CU_ASSERT_FATAL(count <= sizeof found);
    GOOD(glcnn_image_read_bytes(image, NULL, found, count));
    CU_ASSERT_EQUAL(memcmp(found, bytes, count), 0);
    CU_ASSERT_EQUAL(glcnn_image_resource_size(image), 0);
}

static void textures_are_read(void)
{
    static const struct {
        GLenum internal, format;
        uint32_t channels;
    } cases[] = {
        {GL_R8, GL_RED, 1}, {GL_RG8, GL_RG, 2}, {GL_RGB8, GL_RGB, 3}, {GL_RGBA8, GL_RGBA, 4}};
    uint8_t bytes[5 * 3 * 4];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 53 + 7);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        GLuint texture = texture_with(cases[i].internal, cases[i].format, 5, 3, bytes);
        glcnn_image *image = wrapped(texture, GL_TEXTURE_2D, cases[i].channels);
        check_bytes(image, bytes);
        glcnn_image_destroy(&image);
        CU_ASSERT_TRUE(gl.IsTexture(texture));
        gl.DeleteTextures(1, &texture);
    }
}

/* One that is not immutable is whole with its own filters alone: the caller's sampler objects, which
 * ask for mipmaps, would leave nothing of it. */
static void samplers_of_the_caller_do_not_count(void)
{
    PFNGLTEXIMAGE2DPROC define = (PFNGLTEXIMAGE2DPROC)load(NULL, "glTexImage2D");
    const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    GLuint texture = 0;
    GLint bound = 0;
    gl.GetIntegerv(GL_TEXTURE_BINDING_2D, &bound);
    gl.GenTextures(1, &texture);
    gl.BindTexture(GL_TEXTURE_2D, texture);
    define(GL_TEXTURE_2D, 0, GL_RGBA8, 2, 2, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    gl.BindTexture(GL_TEXTURE_2D, (GLuint)bound);
    glcnn_image *image = wrapped(texture, GL_TEXTURE_2D, 4);
    check_bytes(image, bytes);
    glcnn_image_destroy(&image);
    gl.DeleteTextures(1, &texture);
}

/* A fourth component that the image has no channel for is not what a mean of channels sees. */
static void components_beyond_the_channels_are_zero(void)
{
    const uint8_t bytes[4] = {30, 60, 90, 255};
    GLuint texture = texture_with(GL_RGBA8, GL_RGBA, 1, 1, bytes);
    glcnn_image *image = wrapped(texture, GL_TEXTURE_2D, 3);
    glcnn_kernel *sum = kernel_with("reduce_feature_channels_sum", NULL);
    glcnn_kernel_properties(sum)->result_is_ordinary = true;
    glcnn_image *result = result_of(sum, &(struct glcnn_encode){.source = image}, NULL);
    check_floats(result, (const float[]){180 / 255.0f}, 1, 1e-6);
    glcnn_image_destroy(&result);
    glcnn_image_destroy(&image);
    glcnn_kernel_destroy(&sum);
    gl.DeleteTextures(1, &texture);
}

/* As planes of a frame are imported: three bytes to a pixel, in either order. */
static void bytes_make_pixels(void)
{
    const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
                  turned[] = {3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10};
    const struct glcnn_image_descriptor size = {2, 2, 3, 1, GLCNN_CHANNEL_FORMAT_UNORM8};
    struct storage like = {.width = 2,
                           .height = 2,
                           .layers = 1,
                           .format = GLCNN_CHANNEL_FORMAT_UNORM8,
                           .flat = true,
                           .borrowed = true,
                           .texture = texture_with(GL_R8, GL_RED, 6, 2, bytes)};
    for (int i = 0; i < 2; i++) {
        struct storage *storage = NULL;
        glcnn_image *image = NULL;
        like.bytes = i ? BYTES_BGR : BYTES_RGB;
        GOOD_FATAL(storage_adopt(device, &like, &storage));
        GOOD_FATAL(image_create_over(device, &size, storage, &image));
        check_bytes(image, i ? turned : bytes);
        glcnn_image_destroy(&image);
    }
    gl.DeleteTextures(1, &like.texture);
}

/* ---- And back ---- */

static void read_layer(GLuint texture, GLint layer, float values[2][2][4])
{
    PFNGLGENFRAMEBUFFERSPROC gen = (PFNGLGENFRAMEBUFFERSPROC)load(NULL, "glGenFramebuffers");
    PFNGLBINDFRAMEBUFFERPROC bind = (PFNGLBINDFRAMEBUFFERPROC)load(NULL, "glBindFramebuffer");
    PFNGLFRAMEBUFFERTEXTURELAYERPROC attach =
        (PFNGLFRAMEBUFFERTEXTURELAYERPROC)load(NULL, "glFramebufferTextureLayer");
    PFNGLREADPIXELSPROC read = (PFNGLREADPIXELSPROC)load(NULL, "glReadPixels");
    PFNGLDELETEFRAMEBUFFERSPROC drop =
        (PFNGLDELETEFRAMEBUFFERSPROC)load(NULL, "glDeleteFramebuffers");
    GLuint name = 0;
    gen(1, &name);
    bind(GL_FRAMEBUFFER, name);
    attach(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, texture, 0, layer);
    read(0, 0, 2, 2, GL_RGBA, GL_FLOAT, values);
    bind(GL_FRAMEBUFFER, 0);
    drop(1, &name);
    CU_ASSERT_EQUAL(gl.GetError(), GL_NO_ERROR);
}

/* Five channels in two layers of an array that has a third. */
static void arrays_are_written(void)
{
    float values[20], layers[2][2][2][4];
    GLint bound = 0;
    for (int i = 0; i < 20; i++)
        values[i] = (float)i - 9.5f;
    gl.GetIntegerv(GL_TEXTURE_BINDING_2D_ARRAY, &bound);
    GLuint texture = make_texture(GL_TEXTURE_2D_ARRAY, GL_RGBA32F, 2, 2, 3);
    gl.BindTexture(GL_TEXTURE_2D_ARRAY, (GLuint)bound);
    glcnn_image *image = wrapped(texture, GL_TEXTURE_2D_ARRAY, 5);
    CU_ASSERT_EQUAL(glcnn_image_get_descriptor(image)->number_of_images, 1);
    glcnn_image *source = image_with(1, 5, 2, 2, values);
    glcnn_kernel *slice = kernel_with("slice", NULL);
    glcnn_command_buffer *commands = make_commands();
    KEEPS(glcnn_kernel_encode(commands, slice,
                              &(struct glcnn_encode){.source = source, .destination = image}));
    KEEPS(glcnn_command_buffer_commit(commands));
    for (int layer = 0; layer < 2; layer++)
        read_layer(texture, layer, layers[layer]);
    for (int c = 0; c < 8; c++)
        for (int i = 0; i < 4; i++)
            CU_ASSERT_EQUAL(layers[c / 4][i / 2][i % 2][c % 4], c < 5 ? values[c * 4 + i] : 0);
    glcnn_command_buffer_destroy(&commands);
    glcnn_kernel_destroy(&slice);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&image);
    gl.DeleteTextures(1, &texture);
}

/* ---- Refusals ---- */

static void refuse_wrap(GLuint texture, GLenum target, uint32_t channels, const char *message)
{
    glcnn_image *image = (glcnn_image *)device; /* anything but NULL */
    REFUSED(INVALID, glcnn_image_wrap_texture(device, texture, target, channels, &image));
    CU_ASSERT_TRUE(says(message));
    CU_ASSERT_PTR_NULL(image);
    CU_ASSERT_EQUAL(gl.GetError(), GL_NO_ERROR);
}

static void wrong_textures_are_refused(void)
{
    const uint8_t bytes[16] = {0};
    GLuint texture = texture_with(GL_RG8, GL_RG, 2, 2, bytes), empty = 0;
    GLuint bytes_signed = texture_with(GL_SRGB8_ALPHA8, GL_RGBA, 2, 2, bytes);
    gl.GenTextures(1, &empty);
    REFUSED(INVALID, glcnn_image_wrap_texture(device, texture, GL_TEXTURE_2D, 1, NULL));
    refuse_wrap(0, GL_TEXTURE_2D, 1, "0 is no texture");
    refuse_wrap(4000000, GL_TEXTURE_2D, 1, "4000000 is no texture");
    refuse_wrap(empty, GL_TEXTURE_2D, 1, "is no texture");
    refuse_wrap(texture, GL_TEXTURE_3D, 1, "target 0x806f is neither");
    refuse_wrap(texture, GL_TEXTURE_2D_ARRAY, 1, "is not of target 0x8c1a");
    refuse_wrap(texture, GL_TEXTURE_2D, 0, "0 channels; the texture has room for 1 to 2");
    refuse_wrap(texture, GL_TEXTURE_2D, 3, "3 channels; the texture has room for 1 to 2");
    refuse_wrap(bytes_signed, GL_TEXTURE_2D, 3, "internal format 0x8c43");
    gl.DeleteTextures(1, &texture);
    gl.DeleteTextures(1, &bytes_signed);
    gl.DeleteTextures(1, &empty);
}

static void flat_textures_are_not_written(void)
{
    const float value = 1;
    GLuint texture = make_texture(GL_TEXTURE_2D, GL_RGBA32F, 2, 2, 1);
    gl.BindTexture(GL_TEXTURE_2D, (GLuint)before.values[2 + 3 * 5]);
    glcnn_image *image = wrapped(texture, GL_TEXTURE_2D, 1), *source = make_image(1, 1, 2, 2);
    glcnn_kernel *slice = kernel_with("slice", NULL);
    glcnn_command_buffer *commands = make_commands();
    REFUSED(INVALID,
            glcnn_kernel_encode(commands, slice,
                                &(struct glcnn_encode){.source = source, .destination = image}));
    CU_ASSERT_TRUE(says("destination_image is a texture of GL_TEXTURE_2D, which the library only"));
    REFUSED(INVALID, glcnn_image_write_bytes(image, NULL, &value, sizeof value));
    CU_ASSERT_TRUE(says("the image is a texture of GL_TEXTURE_2D"));
    glcnn_command_buffer_destroy(&commands);
    glcnn_kernel_destroy(&slice);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&image);
    gl.DeleteTextures(1, &texture);
}

static void executions_take_none(void)
{
    const uint8_t bytes[4] = {0};
    GLuint texture = texture_with(GL_R8, GL_RED, 2, 2, bytes);
    glcnn_image *image = wrapped(texture, GL_TEXTURE_2D, 1);
    glcnn_network *network = NULL;
    glcnn_graph *graph = NULL;
    GOOD_FATAL(glcnn_network_create(device, &network));
    glcnn_image_node *x = glcnn_neuron_relu_node(glcnn_image_node_create(network, "x"), 0);
    GOOD_FATAL(glcnn_graph_create(
        network, &(struct glcnn_graph_descriptor){.results = &x, .result_count = 1}, &graph));
    REFUSED(INVALID, glcnn_graph_execute(graph, &image, NULL, NULL));
    CU_ASSERT_TRUE(says("source 0 is an imported or wrapped texture"));
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&network);
    glcnn_image_destroy(&image);
    gl.DeleteTextures(1, &texture);
}

static void a_context_of_its_own_has_no_textures(void)
{
    glcnn_device *own = NULL;
    glcnn_image *image = NULL;
    GOOD_FATAL(glcnn_device_create(NULL, &own));
    REFUSED_ON(own, GLCNN_INVALID_STATE,
               glcnn_image_wrap_texture(own, 1, GL_TEXTURE_2D, 1, &image));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(own), "use_current_context"));
    CU_ASSERT_PTR_NULL(image);
    glcnn_device_destroy(&own);
    CU_ASSERT_EQUAL(eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context), EGL_TRUE);
}

static bool open_context(void)
{
    const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 1, EGL_NONE};
    display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, NULL, NULL);
    if (!eglInitialize(display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_ES_API))
        return false;
    context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, version);
    return eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context) &&
           !gl_load(&gl, load, NULL);
}

/* The caller's state is there before the device is. */
static bool open_device(void)
{
    const struct glcnn_device_parameters current = {.use_current_context = true};
    set_state();
    before = take_snapshot();
    return glcnn_device_create(&current, &device) == GLCNN_SUCCESS;
}

static void opening_keeps_the_state(void)
{
    CU_ASSERT_TRUE_FATAL(open_device());
    struct snapshot now = take_snapshot();
    CU_ASSERT_TRUE(same(&before, &now, "glcnn_device_create"));
    CU_ASSERT_STRING_EQUAL(glcnn_device_info(device)->provider, "current");
}

static void closing_keeps_the_state(void)
{
    fixture_close();
    struct snapshot now = take_snapshot();
    CU_ASSERT_TRUE(same(&before, &now, "glcnn_device_destroy"));
    CU_ASSERT_EQUAL(gl.GetError(), GL_NO_ERROR);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(opening_keeps_the_state),
        UNIT_TEST(buffers_keep_the_state),
        UNIT_TEST(kernels_keep_the_state),
        UNIT_TEST(graphs_keep_the_state),
        UNIT_TEST(textures_are_read),
        UNIT_TEST(samplers_of_the_caller_do_not_count),
        UNIT_TEST(components_beyond_the_channels_are_zero),
        UNIT_TEST(bytes_make_pixels),
        UNIT_TEST(arrays_are_written),
        UNIT_TEST(wrong_textures_are_refused),
        UNIT_TEST(flat_textures_are_not_written),
        UNIT_TEST(executions_take_none),
        UNIT_TEST(a_context_of_its_own_has_no_textures),
        UNIT_TEST(closing_keeps_the_state),
        CU_TEST_INFO_NULL,
    };
    unit_keep_no_programs();
    if (!open_context()) {
        fprintf(stderr, "no context without a surface can be made\n");
        return EXIT_FAILURE;
    }
    return unit_run("texture", tests, argc, argv);
}
