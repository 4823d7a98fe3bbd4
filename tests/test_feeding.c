/* What a program that trains does again and again: batches in, a replay, losses out. */
#include "tests/fixture.h"

#include <sys/resource.h>

#include "device/device.h"
#include "image/image.h"
#include "tests/faults/inject.h"
#include "tests/graphs.h"

#define BATCH 6

static struct cnn cnn;
static glcnn_graph *graph;
static glcnn_image *sources[2];

static void begin(void)
{
    cnn = make_cnn();
    set_weights(cnn.net, 3);
    train_network(cnn.net, true);
    graph = cnn_training_graph(&cnn, 0);
    make_cnn_sources(BATCH, sources);
    for (int i = 0; i < 2; i++)
        run_graph(graph, sources);
}

static void end(void)
{
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&cnn.net);
}

static void test_a_replay_allocates_nothing(void)
{
    begin();
    fault_arm(FAULT_MEMORY, 0, false);
    for (int i = 0; i < 3; i++)
        run_graph(graph, sources);
    CU_ASSERT_EQUAL(fault_calls(FAULT_MEMORY), 0);
    end();
}

/* Batches of the same shape, float32 and float16, in and out again. */
static void test_a_repeated_transfer_allocates_and_makes_nothing(void)
{
    static const glcnn_channel_format formats[] = {GLCNN_CHANNEL_FORMAT_FLOAT32,
                                                   GLCNN_CHANNEL_FORMAT_FLOAT16};
    static const struct glcnn_image_transfer last = {.layout = GLCNN_LAYOUT_CHANNELS_HEIGHT_WIDTH};
    static char bytes[3 * 2 * 5 * 7 * 4];
    struct gl_count made;
    glcnn_image *images[4];
    for (int i = 0; i < 4; i++)
        images[i] = make_image_of(device, formats[i % 2], 3, 2, 5, 7);
    for (int round = 0; round < 20; round++) {
        if (round == 9) {
            fault_arm(FAULT_MEMORY, 0, false);
            count_gl(&made);
        }
        for (int i = 0; i < 4; i++) {
            size_t size = sizeof bytes / (size_t)(1 + i % 2);
            GOOD(glcnn_image_write_bytes(images[i], &last, bytes, size));
            GOOD(glcnn_image_read_bytes(images[i], &last, bytes, size));
        }
    }
    stop_counting_gl();
    CU_ASSERT_EQUAL(fault_calls(FAULT_MEMORY), 0);
    CU_ASSERT_EQUAL(made_by_gl(&made), 0);
    CU_ASSERT_EQUAL(made.dispatches, 11 * 8);
    destroy_images(images, 4);
}

/* ---- Uploads beside a step ---- */

static PFNGLCLIENTWAITSYNCPROC real_wait;
static PFNGLFINISHPROC real_finish;
static int waits;

static GLenum GL_APIENTRY count_wait(GLsync fence, GLbitfield flags, GLuint64 timeout)
{
    waits += timeout > 0;
    return real_wait(fence, flags, timeout);
}

static void GL_APIENTRY count_finish(void)
{
    waits++;
    real_finish();
}

static void begin_counting_waits(void)
{
    real_wait = device->gl.ClientWaitSync;
    real_finish = device->gl.Finish;
    device->gl.ClientWaitSync = count_wait;
    device->gl.Finish = count_finish;
    waits = 0;
}

static void end_counting_waits(void)
{
    device->gl.ClientWaitSync = real_wait;
    device->gl.Finish = real_finish;
}

static void test_an_upload_does_not_wait_for_a_step_that_reads_the_image(void)
{
    float images[BATCH * CNN_SIDE * CNN_SIDE] = {0}, labels[BATCH * CNN_CLASSES] = {0};
    begin();
    GOOD(glcnn_device_wait(device));
    begin_counting_waits();
    for (int step = 0; step < 3; step++) {
        GOOD(glcnn_graph_execute(graph, sources, NULL, NULL));
        GOOD(glcnn_image_write_bytes(sources[0], NULL, images, sizeof images));
        GOOD(glcnn_image_write_bytes(sources[1], NULL, labels, sizeof labels));
    }
    CU_ASSERT_EQUAL(waits, 0);
    GOOD(glcnn_graph_execute(graph, sources, NULL, NULL));
    GOOD(glcnn_graph_wait(graph));
    CU_ASSERT_TRUE(waits > 0);
    end_counting_waits();
    CU_ASSERT_TRUE(image_is_constant(sources[0], 0));
    end();
}

/* More uploads than there is staging memory, each read by a pass of its own. */
static void test_uploads_that_overtake_the_gpu_stay_in_order(void)
{
    enum { ROUNDS = 40, COUNT = 64 * 64 };
    static float values[COUNT];
    glcnn_image *image = make_image(1, 1, 64, 64);
    glcnn_buffer *buffer = NULL;
    GOOD_FATAL(glcnn_buffer_create(device, sizeof values * ROUNDS, &buffer));
    for (size_t round = 0; round < ROUNDS; round++) {
        glcnn_command_buffer *commands = make_commands();
        for (size_t i = 0; i < COUNT; i++)
            values[i] = (float)(round * COUNT + i);
        GOOD(glcnn_image_write_bytes(image, NULL, values, sizeof values));
        GOOD(glcnn_image_encode_read(commands, image, NULL, buffer, round * sizeof values));
        GOOD(glcnn_command_buffer_commit(commands));
        glcnn_command_buffer_destroy(&commands);
    }
    for (size_t round = 0; round < ROUNDS; round++) {
        size_t wrong = 0;
        GOOD(glcnn_buffer_read(buffer, round * sizeof values, sizeof values, values));
        for (size_t i = 0; i < COUNT; i++)
            wrong += values[i] != (float)(round * COUNT + i);
        CU_ASSERT_EQUAL(wrong, 0);
    }
    glcnn_buffer_destroy(&buffer);
    glcnn_image_destroy(&image);
}

/* An image that is gone must not be held on to by the transfer that is kept for others. */
static void test_a_kept_transfer_holds_no_image(void)
{
    float value = 5;
    glcnn_image *first = make_image(1, 1, 1, 1), *second = make_image(1, 1, 1, 1);
    GOOD(glcnn_image_write_bytes(first, NULL, &value, sizeof value));
    CU_ASSERT_EQUAL(first->storage->references, 1);
    glcnn_image_destroy(&first);
    value = 6;
    GOOD(glcnn_image_write_bytes(second, NULL, &value, sizeof value));
    CU_ASSERT_TRUE(image_is_constant(second, 6));
    CU_ASSERT_EQUAL(second->storage->references, 1);
    glcnn_image_destroy(&second);
}

/* ---- Waiting ---- */

static void test_a_read_waits_for_no_later_step(void)
{
    float value = 0, values[BATCH * CNN_SIDE * CNN_SIDE];
    glcnn_buffer *buffer = NULL;
    begin();
    glcnn_command_buffer *read = make_commands();
    GOOD_FATAL(glcnn_buffer_create(device, sizeof values, &buffer));
    GOOD(glcnn_image_encode_read(read, sources[0], NULL, buffer, 0));
    GOOD(glcnn_command_buffer_commit(read));
    GOOD(glcnn_command_buffer_wait(read));
    GOOD(glcnn_graph_execute(graph, sources, NULL, NULL));
    begin_counting_waits();
    CU_ASSERT_TRUE(glcnn_command_buffer_is_complete(read));
    GOOD(glcnn_command_buffer_wait(read));
    GOOD(glcnn_buffer_read(buffer, 0, sizeof value, &value));
    CU_ASSERT_EQUAL(waits, 0);
    GOOD(glcnn_device_wait(device));
    end_counting_waits();
    glcnn_command_buffer_destroy(&read);
    glcnn_buffer_destroy(&buffer);
    end();
}

/* A driver that waits by asking in a loop is given no time to. */
static GLuint64 longest_wait;
static int polls;

static GLenum GL_APIENTRY pass_late(GLsync fence, GLbitfield flags, GLuint64 timeout)
{
    (void)fence, (void)flags;
    longest_wait = timeout > longest_wait ? timeout : longest_wait;
    return polls++ < 20 ? GL_TIMEOUT_EXPIRED : GL_CONDITION_SATISFIED;
}

static long sleeps(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
}

static void test_a_wait_leaves_the_core_to_others(void)
{
    bool busy = device->info.traits.busy_waits;
    begin();
    GOOD(glcnn_device_wait(device));
    GOOD(glcnn_graph_execute(graph, sources, NULL, NULL));
    begin_counting_waits();
    device->gl.ClientWaitSync = pass_late;
    device->info.traits.busy_waits = true;
    longest_wait = 0;
    polls = 0;
    long before = sleeps();
    GOOD(glcnn_graph_wait(graph));
    CU_ASSERT_TRUE(sleeps() - before >= 19);
    CU_ASSERT_EQUAL(polls, 21);
    CU_ASSERT_TRUE(longest_wait <= 100000);
    end_counting_waits();
    device->info.traits.busy_waits = busy;
    GOOD(glcnn_device_wait(device));
    end();
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_a_replay_allocates_nothing),
        UNIT_TEST(test_a_repeated_transfer_allocates_and_makes_nothing),
        UNIT_TEST(test_an_upload_does_not_wait_for_a_step_that_reads_the_image),
        UNIT_TEST(test_uploads_that_overtake_the_gpu_stay_in_order),
        UNIT_TEST(test_a_kept_transfer_holds_no_image),
        UNIT_TEST(test_a_read_waits_for_no_later_step),
        UNIT_TEST(test_a_wait_leaves_the_core_to_others),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("feeding", tests, argc, argv);
}
