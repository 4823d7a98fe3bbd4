/* A network that has learned from batches of one size compiles nothing for batches of another: what a
 * batch decides reaches shaders as uniforms. (Where rows of variants suit some sizes alone, as on
 * large GPUs, a batch that another row suits does compile it.) Nothing is executed, so that large
 * batches take no memory. */
#include "tests/graphs.h"

#include "device/device.h"
#include "device/traits.h"
#include "graph/graph.h"
#include "record/command_buffer.h"
#include "tool/model.h"

static uint32_t compiled;

static void count(void *user, const struct glcnn_compilation *compilation)
{
    (void)user;
    compiled += compilation->seconds == 0;
}

/* A device that has no program yet; family NULL: with the traits that it has. */
static void open_anew(const char *family)
{
    const struct glcnn_device_parameters parameters = {.compile = count};
    fixture_close();
    GOOD_FATAL(glcnn_device_create(&parameters, &device));
    if (family)
        device->info.traits = traits_find(family, family);
}

/* Returns how many programs a step took that there were not. */
static uint32_t compiled_for(const struct net *net, uint32_t batch)
{
    static const struct form form = {32, 32, 3, 10};
    struct model model;
    struct runner runner;
    struct glcnn_memory_plan memory;
    compiled = 0;
    CU_ASSERT_TRUE_FATAL(model_create(device, net, &form, batch, &model));
    GOOD_FATAL(glcnn_network_initialise(model.network, 1));
    train_network(model.network, true);
    CU_ASSERT_TRUE_FATAL(runner_create_training(&model, batch, NULL, &runner));
    CU_ASSERT_TRUE_FATAL(runner_memory(&runner, &memory)); /* records it */
    GOOD(command_buffer_compile(runner.graph->compiled->command_buffer));
    runner_destroy(&runner);
    model_destroy(&model);
    return compiled;
}

static void check_sizes(const struct net *net, const char *family)
{
    static const uint32_t batches[] = {8, 512, 4096, 16384};
    open_anew(family);
    CU_ASSERT(compiled_for(net, 64) > 20);
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        uint32_t anew = compiled_for(net, batches[i]);
        if (anew)
            fprintf(stderr, "\n  %s, %s, batch %u: %u programs\n", net->name,
                    family ? family : "this device", batches[i], anew);
        CU_ASSERT_EQUAL(anew, 0);
    }
}

static void test_other_batch_sizes_compile_nothing(void)
{
    static const char *const families[] = {NULL, "V3D", "Mali-G", "Adreno"};
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (size_t n = 0; net_at(n); n++)
            check_sizes(net_at(n), families[f]);
    fixture_close();
    CU_ASSERT_TRUE_FATAL(fixture_open());
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_other_batch_sizes_compile_nothing),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("batch sizes", tests, argc, argv);
}
