/* Sources of programs do not depend on the batch: what a network has compiled for one serves all.
 * Graphs are recorded, and executed on a driver that makes no texture and runs nothing, so that
 * the largest batch costs no more than the smallest. GLCNN_TEST_CHECK=1 has all networks on each
 * driver, else one of them in turn. */
#include "tests/fixture.h"

#include "record/commit_count.h"

#include "device/device.h"
#include "device/traits.h"
#include "task/model.h"

static uint32_t compilations;
static char names[8192]; /* of shaders that were compiled */

static void count(void *user, const struct glcnn_compilation *compilation)
{
    (void)user;
    compilations += compilation->seconds == 0;
    if (compilation->seconds == 0 && strlen(names) + 128 < sizeof names)
        snprintf(names + strlen(names), 128, "\n    %s %s", compilation->shader,
                 compilation->implementation ? compilation->implementation : "");
}

static void GL_APIENTRY make_no_texture(GLenum target, GLsizei levels, GLenum format, GLsizei width,
                                        GLsizei height, GLsizei depth)
{
    (void)target, (void)levels, (void)format, (void)width, (void)height, (void)depth;
}

static void GL_APIENTRY bind_no_image(GLuint unit, GLuint texture, GLint level, GLboolean layered,
                                      GLint layer, GLenum access, GLenum format)
{
    (void)unit, (void)texture, (void)level, (void)layered, (void)layer, (void)access, (void)format;
}

static void GL_APIENTRY copy_nothing(GLenum target, GLint level, GLint x, GLint y, GLint z,
                                     GLsizei width, GLsizei height, GLsizei depth, GLenum format,
                                     GLenum type, const void *texels)
{
    (void)target, (void)level, (void)x, (void)y, (void)z, (void)width, (void)height, (void)depth;
    (void)format, (void)type, (void)texels;
}

static void GL_APIENTRY dispatch_nothing(GLuint x, GLuint y, GLuint z)
{
    (void)x, (void)y, (void)z;
}

/* What a device is opened as, and with which pictures. `implementations` NULL: with those that it would
 * choose. */
struct driver {
    const char *renderer, *implementations;
    bool is_color;
};

static glcnn_device *open_idle(const struct driver *driver)
{
    glcnn_device *on;
    setenv("GLCNN_IMPLEMENTATIONS", driver->implementations ? driver->implementations : "", 1);
    GOOD_FATAL(glcnn_device_create(&(struct glcnn_device_parameters){.compile = count}, &on));
    on->gl.TexStorage3D = make_no_texture;
    on->gl.BindImageTexture = bind_no_image;
    on->gl.TexSubImage3D = copy_nothing;
    commit_count_destroy(on, true); /* it would miss what does not run */
    on->gl.DispatchCompute = dispatch_nothing;
    on->info.traits = traits_find(driver->renderer, driver->renderer);
    on->info.limits.storage_block_size = UINT32_MAX; /* above it images are stored otherwise */
    on->info.traits.may_skip_programs = false;       /* a smoke test would find that nothing runs */
    on->dispatch_work = 1u << 28;                    /* the device's speed, as if measured before */
    return on;
}

static void good(struct runner *runner, bool made)
{
    CU_ASSERT_TRUE_FATAL(made);
    CU_ASSERT_TRUE(runner_repeat(runner));
    GOOD(glcnn_graph_wait(runner->graph));
    runner_destroy(runner);
}

/* How many programs a step of training and one of inference have compiled. */
static uint32_t compiled_for(struct model *model, uint32_t batch)
{
    struct runner runner;
    uint32_t before = compilations;
    names[0] = 0;
    good(&runner, runner_create_training(model, batch, NULL, &runner));
    good(&runner, runner_create_inference(model, batch, 0, &runner));
    return compilations - before;
}

static const struct form gray = {28, 28, 1, 10}, color = {32, 32, 3, 10};

static struct model make_model(glcnn_device *on, const char *name, const struct form *form)
{
    struct model model;
    glcnn_kernel *optimizer;
    CU_ASSERT_TRUE_FATAL(model_create(on, net_find(name), form, 64, &model));
    GOOD_FATAL(glcnn_network_initialise(model.network, 1));
    GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(on, 0.01f, &optimizer));
    const struct glcnn_training_descriptor descriptor = {.optimizer = optimizer};
    GOOD_FATAL(glcnn_network_set_training(model.network, &descriptor));
    glcnn_kernel_destroy(&optimizer);
    return model;
}

/* Drivers of every kind of implementations. One that fills a large GPU chooses by the batch: with the same
 * rows chosen it compiles nothing more either. */
#define SUMS_BY_A_PASS ",reduced_by_a_pass" /* by the pass that stores: where runs are few */
#define ROWS_OF_GRADIENTS                                                                          \
    ",data_phases_batched,connected_convolved,connected_eight,connected_weights_convolved,"        \
    "partial_sums_group,"                                                                          \
    "pooling_direct" SUMS_BY_A_PASS
static const struct driver drivers[] = {
    {"llvmpipe", NULL, .is_color = true},
    {"softpipe", NULL},
    {"Mali-T860 (Panfrost)", NULL},
    {"Mali-G52 (Panfrost)", NULL, .is_color = true},
    {"V3D 4.2", NULL, .is_color = true},
    {"FD618", NULL, .is_color = true},
    {"NVIDIA", "convolution_tiled,tile_usual,tile_whole_k,tile_weights_packed,register_tile,"
               "weights_tiled,weights_group" ROWS_OF_GRADIENTS},
    {"NVIDIA", "convolution_tiled,tile_full,tile_whole_k,tile_weights_unpacked,register_tile_small,"
               "weights_tiled,weights_group" ROWS_OF_GRADIENTS},
    {"NVIDIA",
     "convolution_split_dot,convolution_wide,register_tile_small,weights_wide" ROWS_OF_GRADIENTS},
    {"NVIDIA",
     "convolution_wide,register_tile,weights_register_tiled,weights_group,data_phases_separate,"
     "partial_sums,connected_weights_four,connected_prefetched,pooling_average_group" SUMS_BY_A_PASS},
};
static const char *const nets[] = {"lenet", "small", "resnet8", "mobilenet-tiny"};

static void check_batches(glcnn_device *on, const char *net, const struct form *form,
                          const uint32_t *batches)
{
    struct model model = make_model(on, net, form);
    CU_ASSERT(compiled_for(&model, batches[0]) > 20);
    for (const uint32_t *batch = batches + 1; *batch; batch++) {
        uint32_t more = compiled_for(&model, *batch);
        CU_ASSERT_EQUAL(more, 0);
        if (more)
            fprintf(stderr, "\n  %s, %s: %u programs more for a batch of %u:%s\n", net,
                    on->info.traits.family, more, *batch, names);
    }
    model_destroy(&model);
}

static void test_a_second_batch_compiles_nothing(void)
{
    static const uint32_t batches[] = {4096, 64, 512, 1000, 65, 8, 3, 2, 16384, 0};
    static const uint32_t many[] = {64, 512, 4096, 1000, 65, 0};
    for (size_t d = 0; d < sizeof drivers / sizeof *drivers; d++)
        for (size_t n = 0; n < sizeof nets / sizeof *nets; n++) {
            bool is_next = unit_is_check() || n == d % (sizeof nets / sizeof *nets);
            if (!is_next || !implementations_exist(drivers[d].implementations))
                continue;
            glcnn_device *kept = device, *on = open_idle(&drivers[d]);
            device = on;
            /* Where one chunk holds all pixels of a large GPU, a gradient is stored as it is. */
            check_batches(on, nets[n], drivers[d].is_color ? &color : &gray,
                          drivers[d].implementations ? many : batches);
            device = kept;
            glcnn_device_destroy(&on);
        }
    unsetenv("GLCNN_IMPLEMENTATIONS");
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_a_second_batch_compiles_nothing),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("sources", tests, argc, argv);
}
