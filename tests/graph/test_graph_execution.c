/* Executions: replay without making anything, batch sizes, planned memory against textures that are
 * really made, encoding into a user's command buffer, completion, and misuse. */
#include "tests/graphs.h"

#include <poll.h>
#include <unistd.h>

#include "device/traits.h"
#include "graph/compile.h"

#define INVALID GLCNN_INVALID_ARGUMENT

static bool says(const char *phrase)
{
    bool found = strstr(glcnn_device_error(device), phrase);
    if (!found)
        fprintf(stderr, "\n  \"%s\" lacks \"%s\"\n", glcnn_device_error(device), phrase);
    return found;
}

/* ---- Replay ---- */

static void check_nothing_made(const struct gl_count *count)
{
    CU_ASSERT_EQUAL(count->textures, 0);
    CU_ASSERT_EQUAL(count->buffers, 0);
    CU_ASSERT_EQUAL(count->buffer_data, 0);
    CU_ASSERT_EQUAL(count->shaders, 0);
    CU_ASSERT_EQUAL(count->programs, 0);
    CU_ASSERT(count->dispatches > 0);
}

/* Adam too, whose time step moves with every execution. */
static void test_replays_make_nothing(void)
{
    for (int adam = 0; adam < 2; adam++) {
        struct cnn c = make_cnn();
        glcnn_image *sources[2];
        struct gl_count first, second;
        train_network(c.net, adam);
        make_cnn_sources(4, sources);
        glcnn_graph *graph = cnn_training_graph(&c, 0);
        count_gl(&first);
        run_graph(graph, sources);
        stop_counting_gl();
        CU_ASSERT(first.textures > 0);
        for (int i = 0; i < 2; i++) {
            count_gl(&second);
            run_graph(graph, sources);
            stop_counting_gl();
            check_nothing_made(&second);
        }
        glcnn_graph_destroy(&graph);
        destroy_images(sources, 2);
        glcnn_network_destroy(&c.net);
    }
}

/* Other images of the same sizes, also in each other's places, are read without recompiling. */
static void test_sources_may_change(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *a = make_input(net, "a"), *b = make_input(net, "b");
    glcnn_image_node *y = glcnn_node_binary(a, b, "subtract", NULL);
    glcnn_image *images[3];
    struct gl_count count;
    for (int i = 0; i < 3; i++) {
        images[i] = make_image(2, 4, 3, 3);
        fill_constant(images[i], (float)(1 << i));
    }
    static const int orders[][2] = {{0, 1}, {1, 0}, {2, 1}, {1, 2}, {0, 2}, {2, 0}, {0, 1}, {1, 2}};
    glcnn_graph *graph = graph_of(y);
    run_graph(graph, (glcnn_image *const[]){images[2], images[0]});
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        glcnn_image *const sources[] = {images[orders[i][0]], images[orders[i][1]]};
        count_gl(&count);
        run_graph(graph, sources);
        stop_counting_gl();
        check_nothing_made(&count);
        CU_ASSERT_TRUE(image_is_constant(glcnn_graph_image(graph, y),
                                         (float)((1 << orders[i][0]) - (1 << orders[i][1]))));
    }
    for (int i = 0; i < 3; i++)
        CU_ASSERT_TRUE(image_is_constant(images[i], (float)(1 << i)));
    glcnn_graph_destroy(&graph);
    destroy_images(images, 3);
    glcnn_network_destroy(&net);
}

static void test_batch_sizes_are_kept(void)
{
    struct cnn c = make_cnn();
    glcnn_image *small[2], *large[2];
    struct gl_count count;
    train_network(c.net, false);
    make_cnn_sources(3, small);
    make_cnn_sources(5, large);
    glcnn_graph *graph = cnn_training_graph(&c, 0);
    glcnn_image_node *loss = glcnn_filter_node_loss(c.loss);
    run_graph(graph, small);
    CU_ASSERT_EQUAL(glcnn_image_get_descriptor(glcnn_graph_image(graph, loss))->number_of_images,
                    3);
    run_graph(graph, large);
    CU_ASSERT_EQUAL(glcnn_image_get_descriptor(glcnn_graph_image(graph, loss))->number_of_images,
                    5);
    for (int i = 0; i < 4; i++) {
        count_gl(&count);
        run_graph(graph, i % 2 ? large : small);
        stop_counting_gl();
        check_nothing_made(&count);
        CU_ASSERT_EQUAL(
            glcnn_image_get_descriptor(glcnn_graph_image(graph, loss))->number_of_images,
            i % 2 ? 5 : 3);
    }
    glcnn_graph_destroy(&graph);
    destroy_images(small, 2);
    destroy_images(large, 2);
    glcnn_network_destroy(&c.net);
}

/* Masks differ from one execution to the next though nothing is recorded again. */
static void test_dropout_draws_at_each_execution(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *x = make_input(net, "x");
    glcnn_image_node *y = glcnn_node(x, "dropout", "keep_probability=0.5 seed=1");
    glcnn_image *source = make_image(2, 4, 8, 8);
    fill_constant(source, 1);
    glcnn_graph *graph = graph_of(y);
    run_graph(graph, &source);
    float *first = result_values(graph, y);
    run_graph(graph, &source);
    float *second = result_values(graph, y);
    CU_ASSERT_NOT_EQUAL(memcmp(first, second, 2 * 4 * 64 * sizeof *first), 0);
    free(first);
    free(second);
    glcnn_graph_destroy(&graph);
    glcnn_image_destroy(&source);
    glcnn_network_destroy(&net);
}

/* ---- Memory ---- */

/* What a graph makes on the GPU is what it planned. Sources have theirs, and so have kernels, whose
 * vectors another graph had need of before. */
static void check_memory(struct cnn *c, glcnn_graph *before, glcnn_graph *graph, size_t count)
{
    glcnn_image *sources[2];
    struct glcnn_image_descriptor descriptors[2];
    struct glcnn_memory_plan memory;
    struct gl_count made;
    make_cnn_sources(4, sources);
    for (int i = 0; i < 2; i++)
        descriptors[i] = *glcnn_image_get_descriptor(sources[i]);
    CU_ASSERT_EQUAL(glcnn_graph_source_count(graph), count);
    run_graph(before, sources);
    glcnn_graph_destroy(&before);
    drop_stores();
    uint64_t others = gpu_bytes();
    count_gl(&made);
    GOOD_FATAL(glcnn_graph_memory(graph, descriptors, &memory));
    stop_counting_gl();
    CU_ASSERT_EQUAL(made.textures, 0);
    CU_ASSERT_EQUAL(made.programs, 0);
    CU_ASSERT_EQUAL(memory.sub_batches, 1);
    CU_ASSERT(memory.lower_bound > 0);
    CU_ASSERT(memory.lower_bound <= memory.planned);
    CU_ASSERT(memory.planned < memory.without_sharing);
    CU_ASSERT(5 * memory.planned <= 6 * memory.lower_bound);
    run_graph(graph, sources);
    CU_ASSERT_EQUAL(gpu_bytes() - others, memory.planned);
    destroy_images(sources, 2);
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&c->net);
}

static void test_what_is_planned_is_made(void)
{
    struct cnn c = make_cnn();
    train_network(c.net, false);
    check_memory(&c, cnn_training_graph(&c, 0), cnn_training_graph(&c, 0), 2);
    c = make_cnn();
    check_memory(&c, graph_of(c.scores), graph_of(c.scores), 1);
}

/* What a pass writes lies in no texture that it reads or writes elsewhere. */
static void check_pass(const struct pass *pass)
{
    for (uint32_t i = 0; i < pass->image_count; i++) {
        struct storage *written = pass->images[i].view.storage;
        for (uint32_t t = 0; t < pass->texture_count; t++) {
            struct storage *read = pass->textures[t].view.storage;
            CU_ASSERT(read == written || storage_owner(read) != storage_owner(written));
        }
        for (uint32_t k = 0; k < i; k++) {
            struct storage *other = pass->images[k].view.storage;
            CU_ASSERT(other == written || storage_owner(other) != storage_owner(written));
        }
    }
}

/* What a pass writes lies in no texture, and in no buffer, that one beside it uses. */
static void check_beside(const struct pass *pass, const struct pass *other)
{
    for (uint32_t i = 0; i < pass->image_count; i++) {
        const struct storage *written = storage_owner(pass->images[i].view.storage);
        for (uint32_t t = 0; t < other->texture_count; t++)
            CU_ASSERT(storage_owner(other->textures[t].view.storage) != written);
        for (uint32_t k = 0; k < other->image_count; k++)
            CU_ASSERT(storage_owner(other->images[k].view.storage) != written);
    }
    for (uint32_t i = 0; i < pass->buffer_count; i++)
        for (uint32_t k = 0; pass->buffers[i].access & VECTOR_WRITE && k < other->buffer_count; k++)
            CU_ASSERT(pass->buffers[i].view.buffer != other->buffers[k].view.buffer);
}

/* Returns how many have another beside them. */
static size_t check_levels(const struct glcnn_command_buffer *commands)
{
    size_t beside = 0;
    for (size_t i = 0; i < commands->pass_count; i++)
        for (size_t k = 0; k < commands->pass_count; k++) {
            const struct pass *pass = &commands->passes[i], *other = &commands->passes[k];
            if (i == k || !passes_share_level(pass, other))
                continue;
            check_beside(pass, other);
            beside++;
        }
    return beside;
}

/* A step that is recorded and has its textures planned. */
struct step {
    glcnn_network *net;
    glcnn_image *sources[2];
    glcnn_graph *graph;
    glcnn_command_buffer *commands;
    struct recording recording;
    struct command_memory memory;
};

static void make_training(struct step *s)
{
    struct cnn c = make_cnn();
    train_network(c.net, false);
    make_cnn_sources(4, s->sources);
    s->graph = cnn_training_graph(&c, 0);
    s->net = c.net;
}

/* Convolutions of one image, which could all be made at once and live until they are added. */
static void make_branches(struct step *s)
{
    s->net = make_network();
    glcnn_image_node *x = make_input(s->net, "x"), *sum = NULL;
    for (int i = 0; i < 4; i++) {
        glcnn_image_node *y = glcnn_node(
            x, "convolution", "input_feature_channels=4 output_feature_channels=8 kernel_width=3");
        sum = sum ? glcnn_node_binary(sum, y, "add", NULL) : y;
    }
    set_weights(s->net, 5);
    s->sources[0] = make_image(4, 4, 9, 9);
    s->graph = graph_of(sum);
}

/* Two chains whose passes lie beside each other: what the one writes has the size of what the other reads, in
 * both directions, so that each would take the other's place. */
static void make_chains(struct step *s)
{
    static const char *const steps[] = {"input_feature_channels=4 output_feature_channels=8",
                                        "input_feature_channels=8 output_feature_channels=4"};
    s->net = make_network();
    glcnn_image_node *ends[2] = {make_input(s->net, "x")};
    ends[1] = glcnn_node(ends[0], "convolution", steps[0]);
    ends[0] =
        glcnn_node(ends[0], "convolution", "input_feature_channels=4 output_feature_channels=4");
    for (int depth = 0; depth < 5; depth++)
        for (int i = 0; i < 2; i++)
            ends[i] = glcnn_node(ends[i], "convolution", steps[(depth + i) % 2]);
    ends[1] = glcnn_node(ends[1], "convolution", steps[0]);
    ends[0] =
        glcnn_node(ends[0], "convolution", "input_feature_channels=8 output_feature_channels=8");
    set_weights(s->net, 5);
    s->sources[0] = make_image(4, 4, 9, 9);
    s->graph = graph_of(glcnn_node_binary(ends[0], ends[1], "add", NULL));
}

static void make_step(struct step *s, void (*make)(struct step *), bool ordered, uint64_t limit)
{
    *s = (struct step){0};
    make(s);
    s->commands = make_commands();
    s->commands->deferred = true;
    GOOD_FATAL(recording_make(&s->recording, s->graph, s->commands, s->sources,
                              &(struct memory_choice){.sub_batches = 1}));
    if (ordered)
        GOOD_FATAL(command_buffer_order(s->commands, limit));
    GOOD_FATAL(command_buffer_place(s->commands, &s->memory));
}

static void destroy_step(struct step *s)
{
    recording_free(&s->recording);
    glcnn_command_buffer_destroy(&s->commands);
    glcnn_graph_destroy(&s->graph);
    destroy_images(s->sources, 2);
    glcnn_network_destroy(&s->net);
}

/* Software rasterisers do not mind; OpenGL ES leaves it undefined. */
static void check_textures_of_passes(bool ordered)
{
    struct step s;
    make_step(&s, make_training, ordered, UINT64_MAX);
    CU_ASSERT(s.memory.planned < s.memory.without_sharing);
    CU_ASSERT(s.commands->pass_count > 20);
    for (size_t i = 0; i < s.commands->pass_count; i++)
        check_pass(&s.commands->passes[i]);
    CU_ASSERT_EQUAL(check_levels(s.commands) > 5, ordered);
    destroy_step(&s);
}

static void test_chains_beside_each_other_share_nothing_written(void)
{
    struct step s;
    make_step(&s, make_chains, true, UINT64_MAX);
    CU_ASSERT(s.memory.planned < s.memory.without_sharing);
    CU_ASSERT(check_levels(s.commands) >= 4);
    destroy_step(&s);
}

static void test_passes_write_no_texture_that_they_read(void)
{
    check_textures_of_passes(false);
}

static void test_passes_beside_each_other_share_nothing_written(void)
{
    check_textures_of_passes(true);
}

struct levels {
    uint64_t live; /* bytes of images and workspace vectors at one time */
    uint32_t count;
};

static struct levels levels_of(void (*make)(struct step *), bool ordered, uint64_t limit)
{
    struct step s;
    make_step(&s, make, ordered, limit);
    uint64_t held = s.commands->held_size + command_buffer_place_uniforms(s.commands);
    struct levels levels = {s.memory.lower_bound - held,
                            s.commands->passes[s.commands->pass_count - 1].issue.level};
    destroy_step(&s);
    return levels;
}

/* A pass that would make its images too early waits; one that makes none need not. */
static void check_limits(void (*make)(struct step *), struct levels recorded, struct levels any)
{
    for (uint64_t k = 0; k <= 4; k++) {
        uint64_t limit = recorded.live + (any.live - recorded.live) * k / 4;
        struct levels found = levels_of(make, true, limit);
        CU_ASSERT(found.live <= limit);
        CU_ASSERT(found.count >= any.count);
    }
    CU_ASSERT(levels_of(make, true, 0).live <= recorded.live);
    CU_ASSERT(levels_of(make, true, 0).count > any.count);
    CU_ASSERT_EQUAL(levels_of(make, true, any.live).count, any.count);
}

/* Passes are those that suit every device: of others it depends on the rows whether any could be
 * earlier. In the training step none makes more at a time for it. */
static void test_levels_keep_what_lives_within_a_limit(void)
{
    const struct glcnn_device_traits traits = device->info.traits;
    device->info.traits = traits_find("", "");
    struct levels recorded = levels_of(make_branches, false, 0);
    struct levels any = levels_of(make_branches, true, UINT64_MAX);
    CU_ASSERT(any.live > recorded.live);
    check_limits(make_branches, recorded, any);
    recorded = levels_of(make_training, false, 0);
    any = levels_of(make_training, true, UINT64_MAX);
    CU_ASSERT(any.live >= recorded.live);
    check_limits(make_training, recorded, any);
    device->info.traits = traits;
}

/* ---- Encoding for the user ---- */

static void encode_and_execute(void)
{
    reduce_by_passes();
    struct cnn c = make_cnn(), d = make_cnn();
    glcnn_image *sources[2], *results[2] = {NULL, NULL};
    size_t count;
    make_cnn_sources(4, sources);
    train_network(c.net, false);
    train_network(d.net, false);
    glcnn_graph *executed = cnn_training_graph(&c, 0), *encoded = cnn_training_graph(&d, 0);
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_graph_encode(commands, encoded, sources, results));
    CU_ASSERT_PTR_NULL(results[1]);
    for (int step = 0; step < 3; step++) {
        run_graph(executed, sources);
        GOOD(glcnn_command_buffer_commit(commands));
        GOOD(glcnn_command_buffer_wait(commands));
        CU_ASSERT_TRUE(
            images_equal(results[0], glcnn_graph_image(executed, glcnn_filter_node_loss(c.loss))));
    }
    float *a = cnn_parameters(&c, &count), *b = cnn_parameters(&d, &count);
    CU_ASSERT_EQUAL(memcmp(a, b, count * sizeof *a), 0);
    free(a);
    free(b);
    glcnn_command_buffer_destroy(&commands);
    glcnn_graph_destroy(&executed);
    glcnn_graph_destroy(&encoded);
    destroy_images(results, 2);
    destroy_images(sources, 2);
    glcnn_network_destroy(&c.net);
    glcnn_network_destroy(&d.net);
}

static void test_encoding_equals_executing(void)
{
    on_families(encode_and_execute);
}

static const struct glcnn_image_descriptor square = {
    .width = 3, .height = 3, .feature_channels = 4, .number_of_images = 1};

static glcnn_image *make_temporary(glcnn_command_buffer *commands, uint32_t reads)
{
    glcnn_image *image = NULL;
    glcnn_image *ones = make_image(1, 4, 3, 3);
    glcnn_kernel *neuron = NULL;
    GOOD_FATAL(glcnn_temporary_image_create(commands, &square, &image));
    GOOD_FATAL(glcnn_image_set_read_count(image, reads));
    fill_constant(ones, 1);
    GOOD_FATAL(glcnn_kernel_create(device, "neuron", &neuron));
    GOOD(glcnn_kernel_encode(commands, neuron,
                             &(struct glcnn_encode){.source = ones, .destination = image}));
    glcnn_kernel_destroy(&neuron);
    glcnn_image_destroy(&ones);
    return image;
}

/* One read for a whole run, however many filters read it, and none if the run fails. */
static void test_temporary_sources_lose_one_read(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *x = make_input(net, "x"), *w = make_input(net, "w");
    glcnn_image_node *y =
        glcnn_node_binary(x, glcnn_node(x, "neuron", "neuron_type=absolute"), "add", NULL);
    y = glcnn_node_binary(y, w, "add", NULL);
    glcnn_graph *graph = graph_of(y);
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *result = NULL, *other = make_image(1, 4, 3, 3), *wrong = make_image(2, 4, 3, 3);
    glcnn_image *sources[] = {make_temporary(commands, 3), other};
    fill_constant(other, 5);
    GOOD_FATAL(glcnn_graph_encode(commands, graph, sources, &result));
    CU_ASSERT_EQUAL(glcnn_image_read_count(sources[0]), 2);
    sources[1] = wrong;
    glcnn_image *none = NULL;
    REFUSED(INVALID, glcnn_graph_encode(commands, graph, sources, &none));
    CU_ASSERT_EQUAL(glcnn_image_read_count(sources[0]), 2);
    /* As both sources: one read all the same. */
    glcnn_image *again = NULL;
    sources[1] = sources[0];
    GOOD_FATAL(glcnn_graph_encode(commands, graph, sources, &again));
    CU_ASSERT_EQUAL(glcnn_image_read_count(sources[0]), 1);
    sources[1] = other;
    glcnn_image *last = NULL;
    GOOD_FATAL(glcnn_graph_encode(commands, graph, sources, &last));
    CU_ASSERT_EQUAL(glcnn_image_read_count(sources[0]), 0);
    REFUSED(GLCNN_INVALID_STATE, glcnn_graph_encode(commands, graph, sources, &none));
    finish(&commands);
    CU_ASSERT_TRUE(image_is_constant(result, 7));
    CU_ASSERT_TRUE(image_is_constant(again, 3));
    CU_ASSERT_TRUE(image_is_constant(last, 7));
    glcnn_image *images[] = {sources[0], other, wrong, result, again, last};
    destroy_images(images, 6);
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&net);
}

/* A run into a command buffer takes views, and a result that is also exported. */
static void test_encoding_takes_views(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *x = make_input(net, "x");
    glcnn_image_node *y = export_image(glcnn_node(x, "neuron", "neuron_type=linear neuron_a=3"));
    glcnn_image *batch = make_image(3, 4, 3, 3), *view = NULL, *result = NULL;
    glcnn_graph *graph = graph_of(y);
    glcnn_command_buffer *commands = make_commands();
    fill_constant(batch, 2);
    GOOD_FATAL(glcnn_image_batch_view(batch, 1, &view));
    GOOD_FATAL(glcnn_graph_encode(commands, graph, &view, &result));
    finish(&commands);
    CU_ASSERT_TRUE(image_is_constant(result, 6));
    glcnn_image *images[] = {view, result, batch};
    destroy_images(images, 3);
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&net);
}

/* ---- Completion ---- */

struct seen {
    int calls;
    glcnn_status status;
    glcnn_graph *graph;
};

static void on_complete(void *user, glcnn_graph *graph, glcnn_status status)
{
    struct seen *seen = user;
    seen->calls++;
    seen->status = status;
    seen->graph = graph;
}

struct simple {
    glcnn_network *net;
    glcnn_image_node *x, *y;
    glcnn_graph *graph;
    glcnn_image *source;
};

static struct simple make_simple(void)
{
    struct simple s = {.net = make_network()};
    s.x = make_input(s.net, "pixels");
    s.y = glcnn_node(s.x, "neuron", "neuron_type=linear neuron_a=3");
    s.graph = graph_of(s.y);
    s.source = make_image(1, 4, 3, 3);
    fill_constant(s.source, 2);
    return s;
}

static void destroy_simple(struct simple *s)
{
    glcnn_graph_destroy(&s->graph);
    glcnn_image_destroy(&s->source);
    glcnn_network_destroy(&s->net);
}

static void test_handlers_are_called_once(void)
{
    struct simple s = make_simple();
    struct seen waited = {0}, polled = {0}, overtaken = {0}, destroyed = {0};
    GOOD(glcnn_graph_execute(s.graph, &s.source, on_complete, &waited));
    CU_ASSERT_EQUAL(waited.calls, 0);
    GOOD(glcnn_graph_wait(s.graph));
    CU_ASSERT_EQUAL(waited.calls, 1);
    CU_ASSERT_EQUAL(waited.status, GLCNN_SUCCESS);
    CU_ASSERT_PTR_EQUAL(waited.graph, s.graph);
    GOOD(glcnn_graph_wait(s.graph));
    CU_ASSERT_TRUE(glcnn_graph_poll(s.graph));
    GOOD(glcnn_graph_execute(s.graph, &s.source, on_complete, &polled));
    GOOD(glcnn_device_wait(device));
    CU_ASSERT_EQUAL(polled.calls, 0);
    while (!glcnn_graph_poll(s.graph))
        CU_ASSERT_EQUAL(polled.calls, 0);
    CU_ASSERT_EQUAL(polled.calls, 1);
    GOOD(glcnn_graph_execute(s.graph, &s.source, on_complete, &overtaken));
    GOOD(glcnn_graph_execute(s.graph, &s.source, on_complete, &destroyed));
    CU_ASSERT_EQUAL(overtaken.calls, 1);
    CU_ASSERT_EQUAL(destroyed.calls, 0);
    glcnn_graph_destroy(&s.graph);
    CU_ASSERT_EQUAL(destroyed.calls, 1);
    CU_ASSERT_EQUAL(waited.calls + polled.calls + overtaken.calls, 3);
    destroy_simple(&s);
}

/* A handler may begin the next execution. */
struct chain {
    struct simple *simple;
    int left;
};

static void execute_again(void *user, glcnn_graph *graph, glcnn_status status)
{
    struct chain *chain = user;
    CU_ASSERT_EQUAL(status, GLCNN_SUCCESS);
    if (chain->left-- > 0)
        GOOD(glcnn_graph_execute(graph, &chain->simple->source, execute_again, chain));
}

static void test_handlers_may_execute(void)
{
    struct simple s = make_simple();
    struct chain chain = {&s, 3};
    GOOD(glcnn_graph_execute(s.graph, &s.source, execute_again, &chain));
    for (int i = 0; i < 4; i++)
        GOOD(glcnn_graph_wait(s.graph));
    CU_ASSERT_EQUAL(chain.left, -1);
    CU_ASSERT_TRUE(image_is_constant(glcnn_graph_image(s.graph, s.y), 6));
    destroy_simple(&s);
}

/* Two executions would have one place for their handlers. */
static void execute_within(void *user, glcnn_graph *graph, glcnn_status status)
{
    struct chain *chain = user;
    CU_ASSERT_EQUAL(status, GLCNN_SUCCESS);
    chain->left--;
    REFUSED(GLCNN_INVALID_STATE,
            glcnn_graph_execute(graph, &chain->simple->source, execute_within, chain));
}

static void test_handlers_of_an_execution_may_not(void)
{
    struct simple s = make_simple();
    struct chain chain = {&s, 1};
    GOOD(glcnn_graph_execute(s.graph, &s.source, execute_within, &chain));
    GOOD(glcnn_graph_execute(s.graph, &s.source, NULL, NULL));
    CU_ASSERT_EQUAL(chain.left, 0);
    GOOD(glcnn_graph_wait(s.graph));
    CU_ASSERT_TRUE(image_is_constant(glcnn_graph_image(s.graph, s.y), 6));
    destroy_simple(&s);
}

static void test_fences_become_readable(void)
{
    struct simple s = make_simple();
    CU_ASSERT_EQUAL(glcnn_graph_fence_descriptor(s.graph), -1);
    GOOD(glcnn_graph_execute(s.graph, &s.source, NULL, NULL));
    int descriptor = glcnn_graph_fence_descriptor(s.graph);
    GOOD(glcnn_graph_wait(s.graph));
    if (descriptor >= 0) {
        struct pollfd waiting = {.fd = descriptor, .events = POLLIN};
        CU_ASSERT_EQUAL(poll(&waiting, 1, 10000), 1);
        CU_ASSERT_TRUE(waiting.revents & POLLIN);
        CU_ASSERT_EQUAL(close(descriptor), 0);
    } else {
        CU_ASSERT_EQUAL(descriptor, -1);
    }
    CU_ASSERT_EQUAL(glcnn_graph_fence_descriptor(NULL), -1);
    destroy_simple(&s);
}

/* ---- Misuse ---- */

static void test_null_is_refused(void)
{
    struct simple s = make_simple();
    struct glcnn_memory_plan memory;
    uint64_t bytes;
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *none = NULL, *result = s.source;
    CU_ASSERT_EQUAL(glcnn_graph_execute(NULL, &s.source, NULL, NULL), INVALID);
    REFUSED(INVALID, glcnn_graph_execute(s.graph, NULL, NULL, NULL));
    REFUSED(INVALID, glcnn_graph_execute(s.graph, &none, NULL, NULL));
    CU_ASSERT_TRUE(says("source 0 is NULL"));
    CU_ASSERT_EQUAL(glcnn_graph_memory(NULL, &square, &memory), INVALID);
    REFUSED(INVALID, glcnn_graph_memory(s.graph, NULL, &memory));
    REFUSED(INVALID, glcnn_graph_memory(s.graph, &square, NULL));
    CU_ASSERT_EQUAL(glcnn_graph_least_memory(NULL, &square, &bytes), INVALID);
    REFUSED(INVALID, glcnn_graph_least_memory(s.graph, NULL, &bytes));
    REFUSED(INVALID, glcnn_graph_least_memory(s.graph, &square, NULL));
    CU_ASSERT_EQUAL(glcnn_graph_encode(commands, NULL, &s.source, &result), INVALID);
    CU_ASSERT_EQUAL(glcnn_graph_encode(NULL, s.graph, &s.source, &result), INVALID);
    REFUSED(INVALID, glcnn_graph_encode(commands, s.graph, NULL, &result));
    CU_ASSERT_PTR_NULL(result);
    REFUSED(INVALID, glcnn_graph_encode(commands, s.graph, &none, &result));
    REFUSED(INVALID, glcnn_graph_encode(commands, s.graph, &s.source, NULL));
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 0);
    CU_ASSERT_EQUAL(glcnn_graph_wait(NULL), INVALID);
    GOOD(glcnn_graph_wait(s.graph));
    CU_ASSERT_TRUE(glcnn_graph_poll(NULL));
    CU_ASSERT_EQUAL(glcnn_graph_source_count(NULL), 0);
    CU_ASSERT_PTR_NULL(glcnn_graph_source(NULL, 0));
    CU_ASSERT_PTR_NULL(glcnn_graph_filter(NULL, 0));
    CU_ASSERT_PTR_NULL(glcnn_graph_state(s.graph, NULL));
    glcnn_graph_destroy(NULL);
    glcnn_command_buffer_destroy(&commands);
    destroy_simple(&s);
}

static void refuse_graph(glcnn_network *net, glcnn_image_node *result, size_t count,
                         const char *phrase)
{
    glcnn_graph *graph = (glcnn_graph *)(uintptr_t)1;
    const struct glcnn_graph_descriptor descriptor = {.results = &result, .result_count = count};
    REFUSED(INVALID, glcnn_graph_create(net, &descriptor, &graph));
    CU_ASSERT_TRUE(says(phrase));
    CU_ASSERT_PTR_NULL(graph);
}

static void test_wrong_graphs_are_refused(void)
{
    struct simple s = make_simple(), other = make_simple();
    glcnn_graph *graph = NULL;
    struct glcnn_graph_descriptor descriptor = {.results = &s.y, .result_count = 1, .format = 1};
    refuse_graph(s.net, s.x, 1, "no filter makes it");
    refuse_graph(s.net, NULL, 1, "result 0 is NULL");
    refuse_graph(s.net, other.y, 1, "another network");
    refuse_graph(s.net, s.y, 0, "no results");
    REFUSED(INVALID, glcnn_graph_create(s.net, NULL, &graph));
    REFUSED(INVALID, glcnn_graph_create(s.net, &descriptor, &graph));
    CU_ASSERT_TRUE(says("format 1"));
    descriptor.format = 0;
    REFUSED(INVALID, glcnn_graph_create(s.net, &descriptor, NULL));
    CU_ASSERT_EQUAL(glcnn_graph_create(NULL, &descriptor, &graph), INVALID);
    CU_ASSERT_PTR_NULL(glcnn_node(s.x, "no_such_kernel", NULL));
    refuse_graph(s.net, s.y, 1, "no_such_kernel");
    CU_ASSERT_PTR_NULL(glcnn_graph_image(other.graph, s.y));
    destroy_simple(&s);
    destroy_simple(&other);
}

/* Of a graph with two sources. */
static void refuse_sources(glcnn_graph *graph, glcnn_image *a, glcnn_image *b, const char *phrase)
{
    glcnn_image *const sources[] = {a, b};
    REFUSED(INVALID, glcnn_graph_execute(graph, sources, NULL, NULL));
    CU_ASSERT_TRUE(says(phrase));
}

static void test_wrong_sources_are_refused(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *a = make_input(net, "a"), *b = make_input(net, "b");
    glcnn_image_node *y = glcnn_node_binary(a, b, "add", NULL);
    glcnn_graph *graph = graph_of(y);
    glcnn_device *second = NULL;
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *good = make_image(1, 4, 3, 3), *other = make_image(1, 4, 3, 3), *view = NULL;
    glcnn_image *two = make_image(2, 4, 3, 3), *temporary = make_temporary(commands, 1);
    GOOD_FATAL(glcnn_image_batch_view(two, 0, &view));
    GOOD_FATAL(glcnn_device_create(NULL, &second));
    glcnn_image *foreign = make_image_of(second, GLCNN_CHANNEL_FORMAT_FLOAT32, 1, 4, 3, 3);
    refuse_sources(graph, good, NULL, "source 1 is NULL");
    refuse_sources(graph, good, good, "source 1 is given twice");
    refuse_sources(graph, view, good, "source 0 is a view");
    refuse_sources(graph, good, temporary, "source 1 is a temporary image");
    refuse_sources(graph, good, foreign, "another device");
    refuse_sources(graph, good, two, "source 1 (b) has 2 images, source 0 has 1");
    glcnn_image *const sources[] = {good, other};
    run_graph(graph, sources);
    /* Its own result, which it would write while it reads it. */
    refuse_sources(graph, good, glcnn_graph_image(graph, y), "the graph's own");
    glcnn_image *images[] = {good, other, view, two, temporary, foreign};
    destroy_images(images, 6);
    glcnn_command_buffer_destroy(&commands);
    glcnn_device_destroy(&second);
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&net);
}

/* A refused execution leaves the results of the one before. */
static void test_refusals_leave_results(void)
{
    struct simple s = make_simple();
    glcnn_image *none = NULL;
    run_graph(s.graph, &s.source);
    REFUSED(INVALID, glcnn_graph_execute(s.graph, &none, NULL, NULL));
    CU_ASSERT_TRUE(image_is_constant(glcnn_graph_image(s.graph, s.y), 6));
    run_graph(s.graph, &s.source);
    CU_ASSERT_TRUE(image_is_constant(glcnn_graph_image(s.graph, s.y), 6));
    destroy_simple(&s);
}

/* What a filter refuses comes out of the execution and of planning, with its message. */
static void test_filters_refusals_come_out(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *x = make_input(net, "x");
    glcnn_image_node *y = glcnn_node(x, "convolution", "input_feature_channels=8");
    glcnn_graph *graph = graph_of(y);
    glcnn_image *source = make_image(1, 4, 3, 3);
    struct glcnn_memory_plan memory;
    REFUSED(INVALID, glcnn_graph_execute(graph, &source, NULL, NULL));
    CU_ASSERT_TRUE(says("convolution"));
    REFUSED(INVALID, glcnn_graph_memory(graph, &square, &memory));
    CU_ASSERT_PTR_NULL(glcnn_graph_image(graph, y));
    glcnn_image_destroy(&source);
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&net);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_replays_make_nothing),
        UNIT_TEST(test_sources_may_change),
        UNIT_TEST(test_batch_sizes_are_kept),
        UNIT_TEST(test_dropout_draws_at_each_execution),
        UNIT_TEST(test_what_is_planned_is_made),
        UNIT_TEST(test_passes_write_no_texture_that_they_read),
        UNIT_TEST(test_passes_beside_each_other_share_nothing_written),
        UNIT_TEST(test_chains_beside_each_other_share_nothing_written),
        UNIT_TEST(test_levels_keep_what_lives_within_a_limit),
        UNIT_TEST(test_encoding_equals_executing),
        UNIT_TEST(test_temporary_sources_lose_one_read),
        UNIT_TEST(test_encoding_takes_views),
        UNIT_TEST(test_handlers_are_called_once),
        UNIT_TEST(test_handlers_may_execute),
        UNIT_TEST(test_handlers_of_an_execution_may_not),
        UNIT_TEST(test_fences_become_readable),
        UNIT_TEST(test_null_is_refused),
        UNIT_TEST(test_wrong_graphs_are_refused),
        UNIT_TEST(test_wrong_sources_are_refused),
        UNIT_TEST(test_refusals_leave_results),
        UNIT_TEST(test_filters_refusals_come_out),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("graph execution", tests, argc, argv);
}
