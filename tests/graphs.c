/* What the tests of graphs share. */
#include "tests/graphs.h"

#include <EGL/egl.h>
#include <GLES3/gl31.h>
#include <math.h>

#include "device/device.h"
#include "device/traits.h"
#include "graph/node.h"
#include "record/program.h"
#include "record/stores.h"

/* ---- Networks ---- */

glcnn_network *make_network(void)
{
    glcnn_network *net = NULL;
    GOOD_FATAL(glcnn_network_create(device, &net));
    return net;
}

glcnn_image_node *make_input(glcnn_network *net, const char *handle)
{
    glcnn_image_node *node = glcnn_image_node_create(net, handle);
    CU_ASSERT_PTR_NOT_NULL_FATAL(node);
    return node;
}

glcnn_filter_node *filter_of(glcnn_image_node *image)
{
    glcnn_filter_node *filter = glcnn_image_node_filter(image);
    CU_ASSERT_PTR_NOT_NULL_FATAL(filter);
    return filter;
}

glcnn_kernel *kernel_of(glcnn_image_node *image)
{
    return glcnn_filter_node_kernel(filter_of(image));
}

glcnn_image_node *export_image(glcnn_image_node *image)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(image);
    glcnn_image_node_set_export_from_graph(image, true);
    return image;
}

/* Lengths that the kernel knows by itself; those of normalisations are neutral at first. */
void set_vector_noise(glcnn_kernel *kernel, const char *name, uint32_t *seed, float scale)
{
    int index = kernel_kept_argument(kernel, name);
    size_t length = index < 0 ? 0 : kernel_vector_length(kernel, (size_t)index, 0);
    float *values = calloc(length + 1, sizeof *values);
    CU_ASSERT_PTR_NOT_NULL_FATAL(values);
    for (size_t i = 0; i < length; i++)
        values[i] = scale * noise(seed);
    if (length)
        GOOD(glcnn_kernel_set_vector(kernel, name, values, length));
    free(values);
}

void set_weights(glcnn_network *net, uint32_t seed)
{
    glcnn_filter_node *node;
    for (size_t i = 0; (node = glcnn_network_filter(net, i)); i++) {
        glcnn_kernel *kernel = glcnn_filter_node_kernel(node);
        if (strstr(glcnn_kernel_name(kernel), "_gradient"))
            continue;
        set_vector_noise(kernel, "weights", &seed, 0.5f);
        set_vector_noise(kernel, "biases", &seed, 0.25f);
    }
}

void train_network(glcnn_network *net, bool adam)
{
    glcnn_kernel *optimizer = NULL;
    if (adam) {
        GOOD_FATAL(glcnn_optimizer_adam_create(device, 0.01f, &optimizer));
    } else {
        GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, 0.05f, &optimizer));
        glcnn_optimizer(optimizer)->momentum_scale = 0.9f;
    }
    GOOD_FATAL(glcnn_network_set_training(
        net, &(struct glcnn_training_descriptor){.optimizer = optimizer}));
    glcnn_kernel_destroy(&optimizer);
}

/* ---- Graphs ---- */

glcnn_graph *graph_of(glcnn_image_node *result)
{
    glcnn_graph *graph = NULL;
    const struct glcnn_graph_descriptor descriptor = {.results = &result, .result_count = 1};
    CU_ASSERT_PTR_NOT_NULL_FATAL(result);
    GOOD_FATAL(glcnn_graph_create(filter_of(result)->network, &descriptor, &graph));
    return graph;
}

glcnn_graph *training_graph(glcnn_image_node *needed, glcnn_filter_node *const *ends, size_t count,
                            uint64_t budget)
{
    glcnn_image_node *results[MOST_ENDS + 1] = {needed};
    bool result_is_needed[MOST_ENDS + 1] = {true};
    glcnn_graph *graph = NULL;
    for (size_t i = 0; i < count; i++)
        results[i + 1] = glcnn_filter_node_result(ends[i]);
    const struct glcnn_graph_descriptor descriptor = {.results = results,
                                                      .result_is_needed = result_is_needed,
                                                      .result_count = count + 1,
                                                      .memory_budget = budget};
    GOOD_FATAL(glcnn_graph_create(filter_of(needed)->network, &descriptor, &graph));
    return graph;
}

void on_families(void (*test)(void))
{
    static const char *const families[] = {NULL, "NVIDIA"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        fixture_close();
        CU_ASSERT_TRUE_FATAL(fixture_open());
        if (families[i])
            device->info.traits = traits_find(families[i], families[i]);
        test();
    }
    fixture_close();
    CU_ASSERT_TRUE_FATAL(fixture_open());
}

void reduce_by_passes(void)
{
    program_refuse(device, "reduced_where_stored");
    /* With coefficients from vectors, which sums of an epilogue need, readers add in another order. */
    if (device->info.traits.shared_memory)
        program_refuse(device, "gradients_recomputed");
}

void run_graph(glcnn_graph *graph, glcnn_image *const *sources)
{
    GOOD_FATAL(glcnn_graph_execute(graph, sources, NULL, NULL));
    GOOD_FATAL(glcnn_graph_wait(graph));
}

float *result_values(glcnn_graph *graph, const glcnn_image_node *node)
{
    glcnn_image *image = glcnn_graph_image(graph, node);
    CU_ASSERT_PTR_NOT_NULL_FATAL(image);
    return read_image(image);
}

bool graph_has(const glcnn_graph *graph, const char *kernel)
{
    glcnn_filter_node *node;
    for (size_t i = 0; (node = glcnn_graph_filter(graph, i)); i++)
        if (strcmp(glcnn_kernel_name(glcnn_filter_node_kernel(node)), kernel) == 0)
            return true;
    return false;
}

bool arrays_near(const float *found, const float *expected, size_t count, double tolerance)
{
    size_t i = 0;
    while (i < count && is_near((double)found[i], (double)expected[i], tolerance))
        i++;
    return i == count;
}

size_t vector_count(const glcnn_buffer *buffer)
{
    return glcnn_buffer_size(buffer) / sizeof(float);
}

float *vector_values(const glcnn_buffer *buffer)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(buffer);
    float *values = malloc(glcnn_buffer_size(buffer));
    CU_ASSERT_PTR_NOT_NULL_FATAL(values);
    GOOD(
        glcnn_buffer_read((glcnn_buffer *)(uintptr_t)buffer, 0, glcnn_buffer_size(buffer), values));
    return values;
}

/* ---- The small network ---- */

#define POOLING                                                                                    \
    "kernel_width=2 kernel_height=2 stride_in_pixels_x=2 stride_in_pixels_y=2 padding=valid"

struct cnn make_cnn(void)
{
    static const char *const layers[] = {
        "input_feature_channels=1 output_feature_channels=6 kernel_width=3 kernel_height=3",
        "input_feature_channels=6 output_feature_channels=8 kernel_width=3 kernel_height=3"};
    struct cnn c = {.net = make_network()};
    c.image = make_input(c.net, "image");
    c.labels = make_input(c.net, "labels");
    glcnn_image_node *x = c.image;
    for (int i = 0; i < 2; i++) {
        x = c.convolved[i] = glcnn_node(x, "convolution", layers[i]);
        x = c.normalised[i] = glcnn_node(x, "batch_normalization", "epsilon=1e-5 neuron_type=relu");
        x = c.pooled[i] = glcnn_node(x, "pooling_max", POOLING);
    }
    c.scores = glcnn_node(x, "fully_connected",
                          "input_feature_channels=8 output_feature_channels=5 kernel_width=3 "
                          "kernel_height=3");
    glcnn_image_node *const pair[] = {c.scores, c.labels};
    c.loss = glcnn_filter_node_create(
        c.net, "loss", "loss_type=soft_max_cross_entropy reduction_type=sum weight=0.25", pair, 2);
    c.end_count =
        glcnn_training_graph_with_source_gradient(c.loss, NULL, NULL, NULL, c.ends, MOST_ENDS);
    GOOD_FATAL(glcnn_network_status(c.net));
    set_weights(c.net, 5);
    return c;
}

glcnn_graph *cnn_training_graph(const struct cnn *c, uint64_t budget)
{
    return training_graph(glcnn_filter_node_loss(c->loss), c->ends, c->end_count, budget);
}

void make_cnn_sources(uint32_t batch, glcnn_image *sources[2])
{
    float labels[64 * CNN_CLASSES] = {0};
    CU_ASSERT_FATAL(batch <= 64);
    sources[0] = make_image(batch, 1, CNN_SIDE, CNN_SIDE);
    sources[1] = make_image(batch, CNN_CLASSES, 1, 1);
    fill_noise(sources[0], 3);
    for (uint32_t n = 0; n < batch; n++)
        labels[n * CNN_CLASSES + n % CNN_CLASSES] = 1;
    fill_image(sources[1], labels);
}

void destroy_images(glcnn_image **images, size_t count)
{
    for (size_t i = 0; i < count; i++)
        glcnn_image_destroy(&images[i]);
}

float *cnn_parameters(const struct cnn *c, size_t *count)
{
    static const char *const names[] = {"weights", "biases", "gamma", "beta", "mean", "variance"};
    glcnn_image_node *const nodes[] = {c->convolved[0], c->normalised[0], c->convolved[1],
                                       c->normalised[1], c->scores};
    float *all = NULL;
    *count = 0;
    for (size_t k = 0; k < 5; k++)
        for (size_t v = 0; v < 6; v++) {
            glcnn_buffer *buffer = glcnn_kernel_vector(kernel_of(nodes[k]), names[v]);
            if (!buffer)
                continue;
            size_t length = vector_count(buffer);
            all = realloc(all, (*count + length) * sizeof *all);
            CU_ASSERT_PTR_NOT_NULL_FATAL(all);
            GOOD(glcnn_buffer_read(buffer, 0, length * sizeof *all, all + *count));
            *count += length;
        }
    return all;
}

/* ---- Counting GL calls ---- */

static struct gl real;
static struct gl_count *counted;

static void GL_APIENTRY count_tex_storage(GLenum target, GLsizei levels, GLenum format,
                                          GLsizei width, GLsizei height, GLsizei depth)
{
    counted->textures++;
    counted->texture_bytes +=
        (uint64_t)width * (uint64_t)height * (uint64_t)depth * (format == GL_RGBA16F ? 8 : 16);
    real.TexStorage3D(target, levels, format, width, height, depth);
}

static void GL_APIENTRY count_gen_textures(GLsizei n, GLuint *names)
{
    counted->textures++;
    real.GenTextures(n, names);
}

static void GL_APIENTRY count_gen_buffers(GLsizei n, GLuint *names)
{
    counted->buffers++;
    real.GenBuffers(n, names);
}

static void GL_APIENTRY count_buffer_data(GLenum target, GLsizeiptr size, const void *data,
                                          GLenum usage)
{
    counted->buffer_data++;
    real.BufferData(target, size, data, usage);
}

static GLuint GL_APIENTRY count_create_shader(GLenum type)
{
    counted->shaders++;
    return real.CreateShader(type);
}

static void GL_APIENTRY count_compile(GLuint shader)
{
    counted->shaders++;
    real.CompileShader(shader);
}

static GLuint GL_APIENTRY count_create_program(void)
{
    counted->programs++;
    return real.CreateProgram();
}

static void GL_APIENTRY count_link(GLuint program)
{
    counted->programs++;
    real.LinkProgram(program);
}

static void GL_APIENTRY count_dispatch(GLuint x, GLuint y, GLuint z)
{
    counted->dispatches++;
    real.DispatchCompute(x, y, z);
}

void count_gl(struct gl_count *count)
{
    struct gl *gl = &device->gl;
    CU_ASSERT_PTR_NULL_FATAL(counted);
    counted = count;
    *count = (struct gl_count){0};
    real = *gl;
    gl->TexStorage3D = count_tex_storage;
    gl->GenTextures = count_gen_textures;
    gl->GenBuffers = count_gen_buffers;
    gl->BufferData = count_buffer_data;
    gl->CreateShader = count_create_shader;
    gl->CompileShader = count_compile;
    gl->CreateProgram = count_create_program;
    gl->LinkProgram = count_link;
    gl->DispatchCompute = count_dispatch;
}

void stop_counting_gl(void)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(counted);
    device->gl = real;
    counted = NULL;
}

size_t drop_stores(void)
{
    size_t bytes = device->stores_size;
    stores_destroy(device, true);
    return bytes;
}

size_t made_by_gl(const struct gl_count *count)
{
    return count->textures + count->buffers + count->buffer_data + count->shaders + count->programs;
}

/* ---- What the driver has ---- */

#define IDS (1u << 20) /* names of objects that are looked at */

static uint64_t buffer_bytes(GLuint id)
{
    PFNGLBINDBUFFERPROC bind = (PFNGLBINDBUFFERPROC)eglGetProcAddress("glBindBuffer");
    PFNGLGETBUFFERPARAMETERI64VPROC get =
        (PFNGLGETBUFFERPARAMETERI64VPROC)eglGetProcAddress("glGetBufferParameteri64v");
    GLint64 size = 0;
    bind(GL_COPY_READ_BUFFER, id);
    get(GL_COPY_READ_BUFFER, GL_BUFFER_SIZE, &size);
    bind(GL_COPY_READ_BUFFER, 0);
    return (uint64_t)size;
}

static uint64_t texture_bytes(GLuint id)
{
    static const GLenum names[] = {GL_TEXTURE_WIDTH, GL_TEXTURE_HEIGHT, GL_TEXTURE_DEPTH};
    PFNGLBINDTEXTUREPROC bind = (PFNGLBINDTEXTUREPROC)eglGetProcAddress("glBindTexture");
    PFNGLGETTEXLEVELPARAMETERIVPROC get =
        (PFNGLGETTEXLEVELPARAMETERIVPROC)eglGetProcAddress("glGetTexLevelParameteriv");
    uint64_t bytes = 1;
    GLint value = 0;
    bind(GL_TEXTURE_2D_ARRAY, id);
    for (int i = 0; i < 3; i++) {
        get(GL_TEXTURE_2D_ARRAY, 0, names[i], &value);
        bytes *= (uint64_t)value;
    }
    get(GL_TEXTURE_2D_ARRAY, 0, GL_TEXTURE_RED_SIZE, &value);
    bind(GL_TEXTURE_2D_ARRAY, 0);
    return bytes * (uint64_t)value / 2; /* four channels of so many bits */
}

/* Drivers give names out in a row. */
uint64_t gpu_bytes(void)
{
    PFNGLISBUFFERPROC is_buffer = (PFNGLISBUFFERPROC)eglGetProcAddress("glIsBuffer");
    PFNGLISTEXTUREPROC is_texture = (PFNGLISTEXTUREPROC)eglGetProcAddress("glIsTexture");
    uint64_t bytes = 0;
    GLuint last[2];
    device->gl.GenBuffers(1, &last[0]);
    device->gl.GenTextures(1, &last[1]);
    CU_ASSERT(last[0] < IDS / 2 && last[1] < IDS / 2);
    device->gl.DeleteBuffers(1, &last[0]);
    device->gl.DeleteTextures(1, &last[1]);
    for (GLuint id = 1; id < IDS; id++) {
        if (is_buffer(id))
            bytes += buffer_bytes(id);
        if (is_texture(id))
            bytes += texture_bytes(id);
    }
    return bytes;
}
