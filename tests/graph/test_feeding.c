/* What a program that trains does again and again: batches in, a replay, losses out. */
#include "tests/fixture.h"

#include <sys/resource.h>

#include "device/buffer.h"
#include "device/device.h"
#include "image/image.h"
#include "record/staging.h"
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
static int waits;

static GLenum GL_APIENTRY count_wait(GLsync fence, GLbitfield flags, GLuint64 timeout)
{
    waits += timeout > 0;
    return real_wait(fence, flags, timeout);
}

static void begin_counting_waits(void)
{
    real_wait = device->gl.ClientWaitSync;
    device->gl.ClientWaitSync = count_wait;
    waits = 0;
}

static void end_counting_waits(void)
{
    device->gl.ClientWaitSync = real_wait;
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

/* ---- Uploads that the driver copies ---- */

static PFNGLMAPBUFFERRANGEPROC real_map;
static PFNGLBUFFERSUBDATAPROC real_copy;
static int maps_to_write, copies, copies_as_given;
static const char *given;
static size_t given_size;

static void *GL_APIENTRY count_map(GLenum target, GLintptr offset, GLsizeiptr size,
                                   GLbitfield access)
{
    maps_to_write += (access & GL_MAP_WRITE_BIT) != 0;
    return real_map(target, offset, size, access);
}

static void GL_APIENTRY count_copy(GLenum target, GLintptr offset, GLsizeiptr size,
                                   const void *bytes)
{
    copies++;
    copies_as_given += (const char *)bytes == given && (size_t)size == given_size;
    real_copy(target, offset, size, bytes);
}

static void begin_counting_copies(void)
{
    real_map = device->gl.MapBufferRange;
    real_copy = device->gl.BufferSubData;
    device->gl.MapBufferRange = count_map;
    device->gl.BufferSubData = count_copy;
    maps_to_write = copies = copies_as_given = 0;
}

static void end_counting_copies(void)
{
    device->gl.MapBufferRange = real_map;
    device->gl.BufferSubData = real_copy;
}

/* Staging memory is reallocated, in the way that the trait asks for. */
static void let_driver_copy(bool copies_uploads)
{
    device->info.traits.async_uploads = copies_uploads;
    GOOD_FATAL(glcnn_device_wait(device));
    staging_destroy(&device->staging);
    GOOD_FATAL(staging_create(device));
}

static void in_each_way(void (*test)(void))
{
    bool native = device->info.traits.async_uploads;
    for (int way = 0; way < 2; way++) {
        let_driver_copy(way);
        test();
    }
    let_driver_copy(native);
}

/* Dense or strided elements of each format: only what is dense and needs no conversion goes to the
 * driver as it is. */
static const struct upload {
    glcnn_channel_format format;
    size_t element, gap; /* bytes; behind each row */
    bool as_given;
} uploads[] = {
    {GLCNN_CHANNEL_FORMAT_FLOAT32, 4, 0, true},  {GLCNN_CHANNEL_FORMAT_FLOAT32, 4, 12, false},
    {GLCNN_CHANNEL_FORMAT_FLOAT16, 2, 0, false}, {GLCNN_CHANNEL_FORMAT_FLOAT16, 2, 6, false},
    {GLCNN_CHANNEL_FORMAT_UNORM8, 1, 0, true},   {GLCNN_CHANNEL_FORMAT_UNORM8, 1, 3, false},
};
enum {
    ROW = 31,
    ROWS = 25,
    UPLOADED = 3 * 2 * ROWS * ROW,
    UPLOADS = sizeof uploads / sizeof *uploads
};

/* What an image holds after the n-th of several uploads, as bytes of its format. */
static void upload(const struct upload *u, unsigned n, char found[UPLOADED * 4])
{
    char bytes[UPLOADED * 4 + UPLOADED / ROW * 12] = {0};
    const size_t row = ROW * u->element + u->gap;
    const struct glcnn_image_transfer dense = {.layout = GLCNN_LAYOUT_CHANNELS_HEIGHT_WIDTH},
                                      strided = {.layout = GLCNN_LAYOUT_CHANNELS_HEIGHT_WIDTH,
                                                 .bytes_per_row = row,
                                                 .bytes_per_plane = ROWS * row,
                                                 .bytes_per_image = 2 * ROWS * row};
    glcnn_image *image = make_image_of(device, u->format, 3, 2, ROWS, ROW);
    for (size_t i = 0; i < sizeof bytes; i++) /* float16 and float32 that are normal */
        bytes[i] = (char)(8 + (i * 37 + n * 11) % 50);
    given = bytes, given_size = UPLOADED * u->element;
    GOOD(glcnn_image_write_bytes(image, &strided, bytes, UPLOADED / ROW * row));
    GOOD(glcnn_image_read_bytes(image, &dense, found, UPLOADED * 4));
    if (u->gap == 0)
        CU_ASSERT_EQUAL(memcmp(found, bytes, UPLOADED * u->element), 0);
    glcnn_image_destroy(&image);
}

static void test_uploads_are_the_same_where_the_driver_copies_them(void)
{
    static char found[2][UPLOADS][2 * STAGING_RING][UPLOADED * 4];
    const bool native = device->info.traits.async_uploads;
    for (int way = 0; way < 2; way++) {
        begin_counting_copies();
        let_driver_copy(way);
        for (size_t i = 0; i < UPLOADS; i++) {
            int before = copies_as_given;
            for (unsigned n = 0; n < 2 * STAGING_RING; n++)
                upload(&uploads[i], n, found[way][i][n]);
            CU_ASSERT_EQUAL(copies_as_given - before,
                            way && uploads[i].as_given ? 2 * STAGING_RING : 0);
        }
        CU_ASSERT_EQUAL(copies, way ? (int)UPLOADS * 2 * STAGING_RING : 0);
        CU_ASSERT_TRUE(way ? maps_to_write <= STAGING_RING : maps_to_write > STAGING_RING);
        end_counting_copies();
    }
    CU_ASSERT_EQUAL(memcmp(found[0], found[1], sizeof found[0]), 0);
    let_driver_copy(native);
}

/* A batch's pictures and classes: these are few bytes, whose copy would hold up the passes. */
static void test_small_uploads_are_not_copied_beside_large_ones(void)
{
    enum { PIXELS = 40 * 40, CLASSES = 8, ROUNDS = 2 * STAGING_RING + 3 };
    static float pictures[PIXELS];
    const bool native = device->info.traits.async_uploads;
    glcnn_image *image = make_image(1, 1, 40, 40), *classes = make_image(1, CLASSES, 1, 1);
    begin_counting_copies();
    let_driver_copy(true);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t label = round * 3 % CLASSES;
        float scores[CLASSES];
        for (size_t i = 0; i < PIXELS; i++)
            pictures[i] = (float)round;
        GOOD(glcnn_image_write_bytes(image, NULL, pictures, sizeof pictures));
        GOOD(glcnn_image_write_classes(classes, NULL, &label, 1));
        CU_ASSERT_EQUAL(copies, (int)round + 1);
        CU_ASSERT_TRUE(image_is_constant(image, (float)round));
        GOOD(glcnn_image_read_bytes(classes, NULL, scores, sizeof scores));
        for (uint32_t c = 0; c < CLASSES; c++)
            CU_ASSERT_EQUAL(scores[c], (float)(c == label));
    }
    end_counting_copies();
    let_driver_copy(native);
    glcnn_image_destroy(&image);
    glcnn_image_destroy(&classes);
}

static void test_repeated_transfers_in_each_way(void)
{
    in_each_way(test_a_repeated_transfer_allocates_and_makes_nothing);
}

static void test_uploads_beside_a_step_in_each_way(void)
{
    in_each_way(test_an_upload_does_not_wait_for_a_step_that_reads_the_image);
}

static void test_uploads_overtake_the_gpu_in_each_way(void)
{
    in_each_way(test_uploads_that_overtake_the_gpu_stay_in_order);
}

/* ---- Fences ---- */

static PFNGLFENCESYNCPROC real_fence;
static int fences;

static GLsync GL_APIENTRY count_fence(GLenum condition, GLbitfield flags)
{
    fences++;
    return real_fence(condition, flags);
}

static void feed(glcnn_command_buffer *read)
{
    float images[BATCH * CNN_SIDE * CNN_SIDE] = {0}, labels[BATCH * CNN_CLASSES] = {0};
    GOOD(glcnn_image_write_bytes(sources[0], NULL, images, sizeof images));
    GOOD(glcnn_image_write_bytes(sources[1], NULL, labels, sizeof labels));
    GOOD(glcnn_graph_execute(graph, sources, NULL, NULL));
    GOOD(glcnn_command_buffer_commit(read));
}

/* Behind the results, which are waited for; the step has one of its own where it is waited for. */
static void test_a_fed_step_has_one_fence(void)
{
    float value;
    glcnn_buffer *buffer = NULL;
    begin();
    glcnn_command_buffer *read = make_commands();
    GOOD_FATAL(glcnn_buffer_create(device, BATCH * 4, &buffer));
    GOOD(glcnn_image_encode_read(read, glcnn_graph_image(graph, glcnn_filter_node_loss(cnn.loss)),
                                 NULL, buffer, 0));
    feed(read);
    real_fence = device->gl.FenceSync;
    device->gl.FenceSync = count_fence;
    for (int asks = 0; asks < 2; asks++) {
        fences = 0;
        for (int round = 0; round < 4; round++) {
            feed(read);
            GOOD(glcnn_buffer_read(buffer, 0, sizeof value, &value));
            if (asks)
                GOOD(glcnn_graph_wait(graph));
        }
        CU_ASSERT_EQUAL(fences, asks ? 4 + 3 : 4);
    }
    device->gl.FenceSync = real_fence;
    glcnn_command_buffer_destroy(&read);
    glcnn_buffer_destroy(&buffer);
    end();
}

/* ---- Results ---- */

static PFNGLMEMORYBARRIERPROC real_barrier;
static int maps_to_read, shown;

static void *GL_APIENTRY count_reading_map(GLenum target, GLintptr offset, GLsizeiptr size,
                                           GLbitfield access)
{
    maps_to_read += (access & GL_MAP_READ_BIT) != 0;
    return real_map(target, offset, size, access);
}

static void GL_APIENTRY count_shown(GLbitfield bits)
{
    shown += (bits & GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT_EXT) != 0;
    real_barrier(bits);
}

static void begin_counting_maps_to_read(void)
{
    real_map = device->gl.MapBufferRange;
    real_barrier = device->gl.MemoryBarrier;
    device->gl.MapBufferRange = count_reading_map;
    device->gl.MemoryBarrier = count_shown;
    maps_to_read = shown = 0;
}

static void end_counting_maps_to_read(void)
{
    device->gl.MapBufferRange = real_map;
    device->gl.MemoryBarrier = real_barrier;
}

/* A map for one read may wait for all that was committed, as for the step behind the result's. */
static void test_results_are_read_without_a_map(void)
{
    enum { COUNT = 64 };
    float values[COUNT], wanted[COUNT];
    glcnn_buffer *buffer = NULL;
    glcnn_image *image = make_image(1, 1, 8, 8);
    glcnn_command_buffer *read = make_commands();
    GOOD_FATAL(glcnn_buffer_create(device, sizeof values, &buffer));
    GOOD(glcnn_image_encode_read(read, image, NULL, buffer, 0));
    begin_counting_maps_to_read();
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < COUNT; i++)
            wanted[i] = (float)(round * COUNT + i);
        GOOD(glcnn_image_write_bytes(image, NULL, wanted, sizeof wanted));
        GOOD(glcnn_command_buffer_commit(read));
        GOOD(glcnn_buffer_read(buffer, 4, sizeof values - 4, values));
        CU_ASSERT_EQUAL(memcmp(values, wanted + 1, sizeof values - 4), 0);
    }
    end_counting_maps_to_read();
    /* Without lasting maps each round maps the result, and the count of commits that shows dropped ones. */
    CU_ASSERT_EQUAL(maps_to_read, device->gl.BufferStorageEXT ? 0 : 2 * 5);
    CU_ASSERT_EQUAL(shown, device->gl.BufferStorageEXT ? 5 : 0); /* before each fence */
    glcnn_command_buffer_destroy(&read);
    glcnn_buffer_destroy(&buffer);
    glcnn_image_destroy(&image);
}

/* What the processor itself writes into such a buffer, before and after it became one, and once it
 * lies within another. */
static void test_results_hold_what_was_written_too(void)
{
    float values[8], first[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const float later[2] = {11, 12}, *zeros = (const float[8]){0};
    glcnn_buffer *buffer = NULL, *other = NULL, *whole = NULL;
    glcnn_image *image = make_image(1, 1, 2, 2);
    glcnn_command_buffer *read = make_commands();
    GOOD_FATAL(glcnn_buffer_create(device, sizeof values, &buffer));
    GOOD(glcnn_buffer_write(buffer, 0, sizeof first, first));
    GOOD(glcnn_image_encode_read(read, image, NULL, buffer, 16));
    GOOD(glcnn_buffer_read(buffer, 0, sizeof values, values));
    CU_ASSERT_EQUAL(memcmp(values, first, sizeof first), 0);
    GOOD(glcnn_command_buffer_commit(read));
    GOOD(glcnn_device_wait(device));
    begin_counting_waits();
    GOOD(glcnn_buffer_write(buffer, 4, sizeof later, later));
    GOOD(glcnn_buffer_read(buffer, 0, sizeof values, values));
    CU_ASSERT_TRUE(waits > 0 || !device->gl.BufferStorageEXT); /* for the driver's copy */
    end_counting_waits();
    first[1] = 11, first[2] = 12;
    CU_ASSERT_EQUAL(memcmp(values, first, 16), 0);
    CU_ASSERT_EQUAL(memcmp(values + 4, zeros, 16), 0);
    GOOD_FATAL(glcnn_buffer_create(device, sizeof values, &other));
    GOOD(buffer_merge((glcnn_buffer *[]){buffer, other}, 2, &whole));
    GOOD(glcnn_buffer_write(buffer, 0, 4, first + 7));
    GOOD(glcnn_buffer_read(buffer, 0, sizeof values, values));
    CU_ASSERT_EQUAL(values[0], 8);
    CU_ASSERT_EQUAL(values[2], 12);
    glcnn_command_buffer_destroy(&read);
    glcnn_buffer_destroy(&whole);
    glcnn_buffer_destroy(&other);
    glcnn_buffer_destroy(&buffer);
    glcnn_image_destroy(&image);
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
    bool busy = device->info.traits.spin_waits;
    begin();
    GOOD(glcnn_device_wait(device));
    GOOD(glcnn_graph_execute(graph, sources, NULL, NULL));
    begin_counting_waits();
    device->gl.ClientWaitSync = pass_late;
    device->info.traits.spin_waits = true;
    longest_wait = 0;
    polls = 0;
    long before = sleeps();
    GOOD(glcnn_graph_wait(graph));
    CU_ASSERT_TRUE(sleeps() - before >= 19);
    CU_ASSERT_EQUAL(polls, 21);
    CU_ASSERT_TRUE(longest_wait <= 100000);
    end_counting_waits();
    device->info.traits.spin_waits = busy;
    GOOD(glcnn_device_wait(device));
    end();
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_a_replay_allocates_nothing),
        UNIT_TEST(test_a_kept_transfer_holds_no_image),
        UNIT_TEST(test_uploads_are_the_same_where_the_driver_copies_them),
        UNIT_TEST(test_small_uploads_are_not_copied_beside_large_ones),
        UNIT_TEST(test_repeated_transfers_in_each_way),
        UNIT_TEST(test_uploads_beside_a_step_in_each_way),
        UNIT_TEST(test_uploads_overtake_the_gpu_in_each_way),
        UNIT_TEST(test_a_fed_step_has_one_fence),
        UNIT_TEST(test_results_are_read_without_a_map),
        UNIT_TEST(test_results_hold_what_was_written_too),
        UNIT_TEST(test_a_read_waits_for_no_later_step),
        UNIT_TEST(test_a_wait_leaves_the_core_to_others),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("feeding", tests, argc, argv);
}
