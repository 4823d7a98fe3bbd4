/* Command buffers and devices: replay, hazards, splitting, bindings, threads, lifetimes.
 *
 * All of it is short enough to be run where GLCNN_TEST_QUICK=1 asks for little. */
#include "tests/fixture.h"

#include <pthread.h>

#include "run/check.h"
#include "record/command_buffer.h"
#include "record/commit_count.h"
#include "image/image.h"
#include "encode/kernel.h"
#include "record/program.h"
#include "encode/state.h"

static glcnn_kernel *copier; /* copies images */

static glcnn_status copy(glcnn_command_buffer *commands, glcnn_image *from, glcnn_image *to)
{
    return glcnn_kernel_encode(commands, copier,
                               &(struct glcnn_encode){.source = from, .destination = to});
}

static glcnn_buffer *make_buffer(const float *values, size_t count)
{
    glcnn_buffer *buffer = NULL;
    GOOD_FATAL(glcnn_buffer_create(device, count * 4, &buffer));
    if (values)
        GOOD(glcnn_buffer_write(buffer, 0, count * 4, values));
    return buffer;
}

static glcnn_status copy_buffer(glcnn_command_buffer *commands, glcnn_buffer *from,
                                glcnn_buffer *to)
{
    struct plan plan;
    plan_begin(&plan, commands);
    plan_copy_vector(&plan, &(struct vector_view){from, 0, from->size / 4},
                     &(struct vector_view){to, 0, to->size / 4});
    return plan_end(&plan);
}

static bool buffer_equals(glcnn_buffer *buffer, const float *expected, size_t count)
{
    float values[64];
    CU_ASSERT_FATAL(count <= 64);
    GOOD(glcnn_buffer_read(buffer, 0, count * 4, values));
    return memcmp(values, expected, count * 4) == 0;
}

/* ---- Counting under the table of entry points ---- */

static struct gl real;
static struct {
    int barriers, objects, compiled, uploads, dispatches;
    GLbitfield bits;
} counted;

/* Of those that passes need of each other: what one has stored into a buffer is its own affair. */
static void GL_APIENTRY count_barrier(GLbitfield bits)
{
    if (bits & GL_PIXEL_BUFFER_BARRIER_BIT) {
        real.MemoryBarrier(bits);
        return;
    }
    counted.barriers++;
    counted.bits |= bits;
    real.MemoryBarrier(bits);
}

static void GL_APIENTRY count_textures(GLsizei n, GLuint *names)
{
    counted.objects += n;
    real.GenTextures(n, names);
}

static void GL_APIENTRY count_buffers(GLsizei n, GLuint *names)
{
    counted.objects += n;
    real.GenBuffers(n, names);
}

static void GL_APIENTRY count_storage(GLenum target, GLsizei levels, GLenum format, GLsizei w,
                                      GLsizei h, GLsizei d)
{
    counted.objects++;
    real.TexStorage3D(target, levels, format, w, h, d);
}

static GLuint GL_APIENTRY count_programs(void)
{
    counted.objects++;
    return real.CreateProgram();
}

static void GL_APIENTRY count_compiles(GLuint shader)
{
    counted.compiled++;
    real.CompileShader(shader);
}

static void GL_APIENTRY count_uploads(GLenum target, GLsizeiptr size, const void *data, GLenum use)
{
    counted.uploads++;
    real.BufferData(target, size, data, use);
}

static void GL_APIENTRY count_dispatches(GLuint x, GLuint y, GLuint z)
{
    counted.dispatches++;
    real.DispatchCompute(x, y, z);
}

/* What a driver that does not tell of resets is given besides is none of what is counted. */
static void start_counting(void)
{
    commit_count_destroy(device, true);
    real = device->gl;
    memset(&counted, 0, sizeof counted);
    device->gl.MemoryBarrier = count_barrier;
    device->gl.GenTextures = count_textures;
    device->gl.GenBuffers = count_buffers;
    device->gl.TexStorage3D = count_storage;
    device->gl.CreateProgram = count_programs;
    device->gl.CompileShader = count_compiles;
    device->gl.BufferData = count_uploads;
    device->gl.DispatchCompute = count_dispatches;
}

static void stop_counting(void)
{
    device->gl = real;
}

/* ---- Commit and replay ---- */

static void test_a_commit_can_be_repeated(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *a = make_image(2, 5, 4, 3), *b = make_image(2, 5, 4, 3),
                *c = make_image(2, 5, 4, 3);
    CU_ASSERT_TRUE(glcnn_command_buffer_is_complete(commands));
    GOOD(glcnn_command_buffer_wait(commands));
    GOOD(glcnn_command_buffer_commit(commands));
    GOOD(glcnn_command_buffer_wait(commands));
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 0);
    GOOD(copy(commands, a, b));
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 1);
    for (uint32_t step = 1; step < 4; step++) {
        fill_noise(a, step);
        GOOD(glcnn_command_buffer_commit(commands));
        CU_ASSERT_TRUE(images_equal(b, a));
    }
    GOOD(copy(commands, b, c)); /* after a commit */
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 2);
    fill_noise(a, 9);
    GOOD(glcnn_command_buffer_commit(commands));
    CU_ASSERT_TRUE(images_equal(c, a));
    GOOD(glcnn_command_buffer_wait(commands));
    CU_ASSERT_TRUE(glcnn_command_buffer_is_complete(commands));
    glcnn_command_buffer_destroy(&commands);
    CU_ASSERT_PTR_NULL(commands);
    glcnn_command_buffer_destroy(&commands);
    glcnn_command_buffer_destroy(NULL);
    glcnn_image_destroy(&a);
    glcnn_image_destroy(&b);
    glcnn_image_destroy(&c);
}

static void test_a_replay_makes_nothing(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *a = make_image(1, 4, 4, 4), *b = make_image(1, 4, 4, 4);
    GOOD(copy(commands, a, b));
    GOOD(copy(commands, b, a));
    GOOD(glcnn_command_buffer_commit(commands));
    start_counting();
    GOOD(glcnn_command_buffer_commit(commands));
    stop_counting();
    CU_ASSERT_EQUAL(counted.objects, 0);
    CU_ASSERT_EQUAL(counted.compiled, 0);
    CU_ASSERT_EQUAL(counted.uploads, 0);
    CU_ASSERT_EQUAL(counted.dispatches, 2);
    start_counting();
    GOOD(copy(commands, a, b)); /* the same program once more */
    stop_counting();
    CU_ASSERT_EQUAL(counted.compiled, 0);
    CU_ASSERT_EQUAL(counted.objects, 0);
    glcnn_command_buffer_destroy(&commands);
    glcnn_image_destroy(&a);
    glcnn_image_destroy(&b);
}

/* What a command buffer needs it keeps. */
static void test_recorded_objects_may_be_destroyed(void)
{
    static const float values[] = {1, 2, 3, 4};
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *a = make_image(1, 4, 1, 1), *middle = make_image(1, 4, 1, 1);
    glcnn_image *b = make_image(1, 4, 1, 1);
    glcnn_buffer *from = make_buffer(values, 4), *to = make_buffer(NULL, 4);
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_kernel_copy(copier, device, &kernel));
    fill_constant(a, 2);
    GOOD(glcnn_kernel_encode(commands, kernel,
                             &(struct glcnn_encode){.source = a, .destination = middle}));
    GOOD(copy(commands, middle, b));
    GOOD(copy_buffer(commands, from, to));
    CU_ASSERT_TRUE(b->storage->references > 1); /* written, and read by nothing */
    glcnn_kernel_destroy(&kernel);
    glcnn_image_destroy(&a);
    glcnn_image_destroy(&middle);
    glcnn_buffer_destroy(&from);
    GOOD(glcnn_command_buffer_commit(commands));
    GOOD(glcnn_command_buffer_commit(commands));
    CU_ASSERT_TRUE(image_is_constant(b, 2));
    CU_ASSERT_TRUE(buffer_equals(to, values, 4));
    glcnn_command_buffer_destroy(&commands);
    glcnn_image_destroy(&b);
    glcnn_buffer_destroy(&to);
}

/* Values that move with each step are computed before every commit after the pass's first. */
static void add_one(struct glcnn_kernel *kernel, struct pass *pass)
{
    (void)kernel;
    for (uint32_t i = 0; i < pass->uniform_count; i++)
        if (strcmp(pass->uniforms[i].name, "source_offset") == 0)
            pass->uniforms[i].value.i++;
}

static void record_moving_copy(glcnn_command_buffer *commands, glcnn_buffer *from, glcnn_buffer *to)
{
    struct plan plan;
    plan_begin(&plan, commands);
    plan_copy_vector(&plan, &(struct vector_view){from, 0, 1}, &(struct vector_view){to, 0, 1});
    plan.passes[0].refresh = add_one;
    GOOD(plan_end(&plan));
}

static void test_moving_values_move_from_the_second_commit_on(void)
{
    static const float steps[] = {0, 1, 2, 3, 4, 5};
    glcnn_command_buffer *commands = make_commands();
    glcnn_buffer *from = make_buffer(steps, 6), *first = make_buffer(NULL, 1);
    glcnn_buffer *second = make_buffer(NULL, 1);
    record_moving_copy(commands, from, first);
    for (int i = 0; i < 2; i++) {
        GOOD(glcnn_command_buffer_commit(commands));
        CU_ASSERT_TRUE(buffer_equals(first, &steps[i], 1));
    }
    record_moving_copy(commands, from, second); /* its first commit is the buffer's third */
    for (int i = 2; i < 5; i++) {
        GOOD(glcnn_command_buffer_commit(commands));
        CU_ASSERT_TRUE(buffer_equals(first, &steps[i], 1));
        CU_ASSERT_TRUE(buffer_equals(second, &steps[i - 2], 1));
    }
    glcnn_command_buffer_destroy(&commands);
    glcnn_buffer_destroy(&from);
    glcnn_buffer_destroy(&first);
    glcnn_buffer_destroy(&second);
}

/* ---- Failures ---- */

static void test_a_failed_encode_records_nothing(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *a = make_image(1, 4, 4, 4), *b = make_image(1, 4, 4, 4),
                *c = make_image(1, 8, 4, 4);
    glcnn_image *result = a;
    glcnn_state *state = (glcnn_state *)a;
    fill_noise(a, 1);
    fill_constant(c, 5);
    GOOD(copy(commands, a, b));
    const struct glcnn_encode batch[] = {{.source = a, .destination = c},
                                         {.source = c, .destination = b}};
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode_batch(commands, copier, batch, 2));
    REFUSED(GLCNN_INVALID_ARGUMENT, copy(commands, a, a));
    glcnn_kernel_properties(copier)->primary.offset.x = 7;
    glcnn_kernel_properties(copier)->destination_feature_channel_offset = 1;
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode_returning(commands, copier, &(struct glcnn_encode){.source = a},
                                          &result, &state));
    CU_ASSERT_PTR_NULL(result);
    CU_ASSERT_PTR_NULL(state);
    CU_ASSERT_EQUAL(glcnn_kernel_properties(copier)->primary.offset.x, 7);
    glcnn_kernel_properties(copier)->primary.offset.x = 0;
    glcnn_kernel_properties(copier)->destination_feature_channel_offset = 0;
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 1);
    CU_ASSERT_EQUAL(commands->retained_count > 0, true);
    finish(&commands);
    CU_ASSERT_TRUE(images_equal(b, a));
    CU_ASSERT_TRUE(image_is_constant(c, 5));
    glcnn_image_destroy(&a);
    glcnn_image_destroy(&b);
    glcnn_image_destroy(&c);
}

/* Vectors, flags and sums of a state are as before a batch whose last encode fails. */
static void test_a_failed_encode_leaves_its_state(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *three = make_image(1, 3, 2, 2), *five = make_image(1, 5, 2, 2);
    glcnn_kernel *statistics = NULL, *normalise = NULL;
    glcnn_state *state = NULL;
    GOOD_FATAL(glcnn_batch_normalization_statistics_create(device, &statistics));
    GOOD_FATAL(glcnn_batch_normalization_create(
        device, &(struct glcnn_batch_normalization_data_source){.number_of_feature_channels = 3},
        NULL, &normalise));
    GOOD_FATAL(glcnn_kernel_result_state(NULL, normalise, &(struct glcnn_encode){.source = three},
                                         &state));
    CU_ASSERT_PTR_NOT_NULL_FATAL(state);
    const struct glcnn_encode batch[] = {{.source = five, .state = state},
                                         {.source = three, .state = state}};
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode_batch(commands, statistics, batch, 2));
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 0);
    CU_ASSERT_EQUAL(state->vector_count, 0);
    CU_ASSERT_EQUAL(state->samples, 0);
    CU_ASSERT_EQUAL(statistics->encode_count, 0);
    GOOD(glcnn_kernel_encode(commands, statistics, &batch[1]));
    CU_ASSERT_EQUAL(state->samples, 4);
    const struct state_vector *vector = &state->vectors[0];
    CU_ASSERT_TRUE(vector->filled && !vector->sealed);
    const struct glcnn_encode again[] = {batch[1], batch[0]};
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode_batch(commands, statistics, again, 2));
    CU_ASSERT_EQUAL(state->samples, 4);
    CU_ASSERT_TRUE(vector->filled && !vector->sealed);
    finish(&commands);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&statistics);
    glcnn_kernel_destroy(&normalise);
    glcnn_image_destroy(&three);
    glcnn_image_destroy(&five);
}

static void test_a_refused_shader_names_its_line(void)
{
    struct plan plan;
    glcnn_command_buffer *commands = make_commands();
    plan_begin(&plan, commands);
    struct pass *pass = plan_pass(&plan, "record/copy_vector.comp"); /* without its buffers */
    pass_grid(pass, 1, 1, 1);
    REFUSED(GLCNN_SHADER_ERROR, plan_end(&plan));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "glsl/record/copy_vector.comp:3:"));
    plan_begin(&plan, commands);
    pass_grid(plan_pass(&plan, "no_such_file.comp"), 1, 1, 1);
    REFUSED(GLCNN_SHADER_ERROR, plan_end(&plan));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "no_such_file.comp"));
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 0);
    glcnn_command_buffer_destroy(&commands);
}

/* ---- Hazards ---- */

/* Commits with everything before it out of the way, and counts the barriers of the commit. */
static int barriers_of(glcnn_command_buffer **commands)
{
    device_barrier(device, (1u << BARRIER_KINDS) - 1);
    start_counting();
    GOOD(glcnn_command_buffer_commit(*commands));
    stop_counting();
    GOOD(glcnn_command_buffer_wait(*commands));
    glcnn_command_buffer_destroy(commands);
    return counted.barriers;
}

#define IMAGES 4
struct hazard_case {
    const char *moves; /* pairs "ab": image a is copied to image b */
    int barriers;
    const char *result; /* whose first contents each image holds then */
    const char *levels; /* of each move, once they are ordered, from 1 on */
};

static const struct hazard_case hazard_cases[] = {
    {"01", 0, "0023", "1"},       /* alone */
    {"0123", 0, "0022", "11"},    /* independent */
    {"0102", 0, "0003", "11"},    /* read after read */
    {"0112", 1, "0003", "12"},    /* read after write */
    {"011223", 2, "0000", "123"}, /* a chain */
    {"011203", 1, "0000", "112"}, /* and one that depends on none of it */
    {"0120", 1, "2023", "12"},    /* write after read */
    {"0121", 1, "0223", "12"},    /* write after write */
    {"012310", 1, "0022", "112"}, /* one barrier covers both */
    {"01231032", 1, "0022", "1122"},
};

static void make_four(glcnn_image *images[IMAGES])
{
    for (int i = 0; i < IMAGES; i++) {
        images[i] = make_image(1, 4, 2, 2);
        fill_constant(images[i], (float)i);
    }
}

/* Whose first contents they hold; they are destroyed. */
static void check_four(glcnn_image *images[IMAGES], const char *result)
{
    for (int i = 0; i < IMAGES; i++) {
        CU_ASSERT_TRUE(image_is_constant(images[i], (float)(result[i] - '0')));
        glcnn_image_destroy(&images[i]);
    }
}

static void check_image_hazards(const struct hazard_case *c)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *images[IMAGES];
    make_four(images);
    for (const char *m = c->moves; *m; m += 2)
        GOOD(copy(commands, images[m[0] - '0'], images[m[1] - '0']));
    CU_ASSERT_EQUAL(barriers_of(&commands), c->barriers);
    check_four(images, c->result);
}

static void test_barriers_where_images_need_them(void)
{
    bool prefers = device->info.traits.image_loads;
    for (int loads = 0; loads < 2; loads++) {
        device->info.traits.image_loads = loads;
        for (size_t i = 0; i < sizeof hazard_cases / sizeof *hazard_cases; i++)
            check_image_hazards(&hazard_cases[i]);
        check_image_hazards(&(struct hazard_case){"0112", 1, "0003"});
        CU_ASSERT_EQUAL(counted.bits,
                        loads ? GL_SHADER_IMAGE_ACCESS_BARRIER_BIT : GL_TEXTURE_FETCH_BARRIER_BIT);
        check_image_hazards(&(struct hazard_case){"0120", 1, "2023"});
        CU_ASSERT_EQUAL(counted.bits, GL_SHADER_IMAGE_ACCESS_BARRIER_BIT);
    }
    device->info.traits.image_loads = prefers;
}

static void test_barriers_where_buffers_need_them(void)
{
    for (size_t n = 0; n < sizeof hazard_cases / sizeof *hazard_cases; n++) {
        const struct hazard_case *c = &hazard_cases[n];
        glcnn_command_buffer *commands = make_commands();
        glcnn_buffer *buffers[IMAGES];
        for (int i = 0; i < IMAGES; i++)
            buffers[i] = make_buffer((float[]){(float)i}, 1);
        for (const char *m = c->moves; *m; m += 2)
            GOOD(copy_buffer(commands, buffers[m[0] - '0'], buffers[m[1] - '0']));
        CU_ASSERT_EQUAL(barriers_of(&commands), c->barriers);
        CU_ASSERT_EQUAL(counted.bits & ~(GLbitfield)GL_SHADER_STORAGE_BARRIER_BIT, 0);
        for (int i = 0; i < IMAGES; i++) {
            CU_ASSERT_TRUE(buffer_equals(buffers[i], (float[]){(float)(c->result[i] - '0')}, 1));
            glcnn_buffer_destroy(&buffers[i]);
        }
    }
}

/* A transfer by the host waits for passes that wrote; one barrier serves all that came before. */
static void test_barriers_before_transfers(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_buffer *a = make_buffer((float[]){1}, 1), *b = make_buffer(NULL, 1);
    glcnn_buffer *c = make_buffer(NULL, 1);
    float value = 0;
    GOOD(copy_buffer(commands, a, b));
    GOOD(copy_buffer(commands, a, c));
    GOOD(glcnn_command_buffer_commit(commands));
    start_counting();
    GOOD(glcnn_buffer_read(b, 0, 4, &value));
    CU_ASSERT_EQUAL(counted.barriers, 1);
    CU_ASSERT_EQUAL(counted.bits, GL_BUFFER_UPDATE_BARRIER_BIT);
    GOOD(glcnn_buffer_read(c, 0, 4, &value));
    GOOD(glcnn_buffer_read(a, 0, 4, &value));
    CU_ASSERT_EQUAL(counted.barriers, 1);
    stop_counting();
    CU_ASSERT_EQUAL(value, 1);
    glcnn_command_buffer_destroy(&commands);
    glcnn_buffer_destroy(&a);
    glcnn_buffer_destroy(&b);
    glcnn_buffer_destroy(&c);
}

/* ---- Order ---- */

/* Between two levels is one barrier, within one there is none. */
static void check_levels(glcnn_command_buffer **commands, const char *levels)
{
    size_t count = strlen(levels);
    GOOD_FATAL(command_buffer_order(*commands, UINT64_MAX));
    GOOD_FATAL(command_buffer_compile(*commands));
    CU_ASSERT_EQUAL_FATAL((*commands)->pass_count, count);
    for (size_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL((*commands)->passes[i].issue.level, (uint32_t)(levels[i] - '0'));
    CU_ASSERT_EQUAL(barriers_of(commands), levels[count - 1] - '1');
}

static glcnn_command_buffer *make_planned(void)
{
    glcnn_command_buffer *commands = make_commands();
    commands->deferred = true;
    return commands;
}

static void check_order_of_images(const struct hazard_case *c)
{
    glcnn_command_buffer *commands = make_planned();
    glcnn_image *images[IMAGES];
    make_four(images);
    for (const char *m = c->moves; *m; m += 2)
        GOOD(copy(commands, images[m[0] - '0'], images[m[1] - '0']));
    check_levels(&commands, c->levels);
    check_four(images, c->result);
}

static void test_passes_stand_beside_those_they_do_not_depend_on(void)
{
    for (size_t i = 0; i < sizeof hazard_cases / sizeof *hazard_cases; i++)
        check_order_of_images(&hazard_cases[i]);
}

/* The kinds of barriers that a level needs come before all of it, or its first pass would be waited
 * for. */
static void test_a_level_waits_once(void)
{
    glcnn_command_buffer *commands = make_planned();
    glcnn_buffer *buffers[3];
    glcnn_image *images[IMAGES];
    make_four(images);
    for (int i = 0; i < 3; i++)
        buffers[i] = make_buffer((float[]){(float)i}, 1);
    for (int i = 0; i < 2; i++) {
        GOOD(copy(commands, images[i], images[i + 1]));
        GOOD(copy_buffer(commands, buffers[i], buffers[i + 1]));
    }
    check_levels(&commands, "1122");
    CU_ASSERT_NOT_EQUAL(counted.bits & GL_SHADER_STORAGE_BARRIER_BIT, 0);
    CU_ASSERT_NOT_EQUAL(counted.bits, GL_SHADER_STORAGE_BARRIER_BIT);
    CU_ASSERT_TRUE(buffer_equals(buffers[2], (float[]){0}, 1));
    for (int i = 0; i < 3; i++)
        glcnn_buffer_destroy(&buffers[i]);
    check_four(images, "0003");
}

/* Buffers beside each other in one memory, and the memory as a whole. */
static void test_order_of_joined_buffers(void)
{
    glcnn_command_buffer *commands = make_planned();
    glcnn_buffer *parts[2] = {make_buffer((float[]){1}, 1), make_buffer((float[]){2}, 1)};
    glcnn_buffer *from = make_buffer((float[]){3}, 1), *whole = NULL;
    GOOD_FATAL(buffer_merge(parts, 2, &whole));
    glcnn_buffer *all = make_buffer(NULL, whole->size / 4);
    GOOD(copy_buffer(commands, from, parts[0]));
    GOOD(copy_buffer(commands, whole, all));
    GOOD(copy_buffer(commands, from, parts[1]));
    check_levels(&commands, "123");
    CU_ASSERT_TRUE(buffer_equals(parts[1], (float[]){3}, 1));
    float values[2];
    for (int i = 0; i < 2; i++)
        GOOD(glcnn_buffer_read(all, parts[i]->offset, 4, &values[i]));
    CU_ASSERT_EQUAL(values[0], 3);
    CU_ASSERT_EQUAL(values[1], 2);
    commands = make_planned();
    GOOD(copy_buffer(commands, from, parts[0]));
    GOOD(copy_buffer(commands, from, parts[1]));
    check_levels(&commands, "11");
    glcnn_buffer_destroy(&all);
    glcnn_buffer_destroy(&from);
    for (int i = 0; i < 2; i++)
        glcnn_buffer_destroy(&parts[i]);
    glcnn_buffer_destroy(&whole);
}

/* ---- Long grids ---- */

static glcnn_image *pooled(glcnn_image *source, uint32_t work, int *dispatches)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *result = make_image(3, 9, 21, 37);
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_pooling_average_create(device, 3, 3, 1, 1, &kernel));
    GOOD(glcnn_kernel_encode(commands, kernel,
                             &(struct glcnn_encode){.source = source, .destination = result}));
    if (work)
        commands->passes[0].work = work;
    fill_constant(result, -1);
    start_counting();
    GOOD(glcnn_command_buffer_commit(commands));
    stop_counting();
    *dispatches = counted.dispatches;
    glcnn_command_buffer_destroy(&commands);
    glcnn_kernel_destroy(&kernel);
    return result;
}

static void test_long_grids_are_split(void)
{
    struct glcnn_limits limits = device->info.limits;
    uint64_t measured = device->dispatch_work, bytes = device->dispatch_bytes;
    glcnn_image *source = make_image(3, 9, 21, 37);
    int dispatches = 0;
    device->dispatch_work = 1 << 28;
    fill_noise(source, 1);
    glcnn_image *whole = pooled(source, 0, &dispatches);
    CU_ASSERT_EQUAL(dispatches, 1);
    glcnn_image *by_work = pooled(source, 1 << 20, &dispatches);
    CU_ASSERT_TRUE(dispatches > 4);
    glcnn_image *one_by_one = pooled(source, UINT32_MAX, &dispatches);
    CU_ASSERT_TRUE(dispatches > 20);
    device->dispatch_bytes = 1 << 14;
    glcnn_image *by_bytes = pooled(source, 0, &dispatches);
    CU_ASSERT_TRUE(dispatches > 4);
    device->dispatch_bytes = bytes;
    memcpy(device->info.limits.work_group_count, (uint32_t[3]){1, 2, 3}, 3 * sizeof(uint32_t));
    glcnn_image *by_limit = pooled(source, 0, &dispatches);
    CU_ASSERT_TRUE(dispatches > 4);
    device->info.limits = limits;
    device->dispatch_work = measured;
    CU_ASSERT_TRUE(images_equal(by_work, whole));
    CU_ASSERT_TRUE(images_equal(by_bytes, whole));
    CU_ASSERT_TRUE(images_equal(one_by_one, whole));
    CU_ASSERT_TRUE(images_equal(by_limit, whole));
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&whole);
    glcnn_image_destroy(&by_work);
    glcnn_image_destroy(&by_bytes);
    glcnn_image_destroy(&one_by_one);
    glcnn_image_destroy(&by_limit);
}

/* The speed is measured once, by the first pass that the slowest device would run in parts. */
static void test_speed_is_measured_when_needed(void)
{
    glcnn_image *source = make_image(3, 9, 21, 37);
    int dispatches = 0;
    fill_noise(source, 1);
    device->dispatch_work = 0;
    glcnn_image *small = pooled(source, 0, &dispatches);
    CU_ASSERT_EQUAL(device->dispatch_work, 0);
    glcnn_image *large = pooled(source, 1 << 20, &dispatches);
    CU_ASSERT_TRUE(device->dispatch_work >= 1 << 28);
    CU_ASSERT_TRUE(device->dispatch_bytes >= 1 << 27);
    CU_ASSERT_TRUE(images_equal(large, small));
    uint64_t measured = device->dispatch_work;
    glcnn_image *again = pooled(source, 1 << 20, &dispatches);
    CU_ASSERT_EQUAL(device->dispatch_work, measured);
    CU_ASSERT_TRUE(images_equal(again, small));
    device->dispatch_work = UINT64_MAX;
    glcnn_image *fast = pooled(source, 1 << 20, &dispatches);
    CU_ASSERT_EQUAL(dispatches, 1);
    CU_ASSERT_TRUE(images_equal(fast, small));
    device->dispatch_work = measured;
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&small);
    glcnn_image_destroy(&large);
    glcnn_image_destroy(&again);
    glcnn_image_destroy(&fast);
}

/* Where a part begins is counted in the work groups of its own axis, which are of three sizes. */
static void test_parts_of_a_grid_leave_nothing_out(void)
{
    static const uint32_t locals[][3] = {{2, 8, 4}, {8, 4, 2}, {4, 2, 8}};
    struct glcnn_limits limits = device->info.limits;
    glcnn_image *image = make_image(3, 9, 21, 37);
    struct image_view whole = image_whole_view(image);
    memcpy(device->info.limits.work_group_count, (uint32_t[3]){1, 1, 1}, 3 * sizeof(uint32_t));
    for (int i = 0; i < 3; i++) {
        struct plan plan;
        glcnn_command_buffer *commands = make_commands();
        fill_constant(image, 7);
        plan_begin(&plan, commands);
        plan_fill_image(&plan, &whole);
        pass_local(&plan.passes[0], locals[i][0], locals[i][1], locals[i][2]);
        GOOD(plan_end(&plan));
        start_counting();
        GOOD(glcnn_command_buffer_commit(commands));
        stop_counting();
        CU_ASSERT_TRUE(counted.dispatches > 100);
        glcnn_command_buffer_destroy(&commands);
        CU_ASSERT_TRUE(image_is_constant(image, 0));
    }
    device->info.limits = limits;
    glcnn_image_destroy(&image);
}

/* Every kernel gives the same bits whether its grids are split or not. */
static GLuint parts[3];
static void GL_APIENTRY note_parts(GLuint x, GLuint y, GLuint z)
{
    parts[0] = x > parts[0] ? x : parts[0];
    parts[1] = y > parts[1] ? y : parts[1];
    parts[2] = z > parts[2] ? z : parts[2];
    real.DispatchCompute(x, y, z);
}

static void test_every_kernel_bears_splitting(void)
{
    struct glcnn_limits limits = device->info.limits;
    real = device->gl;
    memset(parts, 0, sizeof parts);
    commit_count_destroy(device, true);
    device->gl.DispatchCompute = note_parts;
    for (int axis = 0; axis < 3; axis++)
        device->info.limits.work_group_count[axis] = 2;
    for (size_t i = 0; glcnn_registry[i]; i++) {
        char message[512] = "";
        double error = 0;
        glcnn_status status = check_case_run(device, glcnn_registry[i], 0,
                                             GLCNN_CHANNEL_FORMAT_FLOAT32, &error, message);
        CU_ASSERT_EQUAL(status, GLCNN_SUCCESS);
        CU_ASSERT_TRUE(error <= 1);
        if (status != GLCNN_SUCCESS || error > 1)
            fprintf(stderr, "\n%s: error %g, %s\n", glcnn_registry[i]->name, error, message);
    }
    device->info.limits = limits;
    stop_counting();
    for (int axis = 0; axis < 3; axis++)
        CU_ASSERT_TRUE(parts[axis] <= 2);
}

/* ---- Bindings ---- */

static PFNGLGETPROGRAMINTERFACEIVPROC get_interface;
static PFNGLGETPROGRAMRESOURCEIVPROC get_resource;
static PFNGLGETUNIFORMIVPROC get_uniform;
static GLuint current;
static int checked_bindings;

static bool block_is_bound(GLenum interface, GLuint index, GLenum query)
{
    static const GLenum property = GL_BUFFER_BINDING;
    GLint binding = 0, name = 0;
    get_resource(current, interface, index, 1, &property, 1, NULL, &binding);
    real.GetIntegeri_v(query, (GLuint)binding, &name);
    checked_bindings++;
    return name != 0;
}

static bool uniform_is_bound(GLuint index)
{
    static const GLenum properties[] = {GL_TYPE, GL_LOCATION};
    GLint found[2], unit = 0, name = 0;
    get_resource(current, GL_UNIFORM, index, 2, properties, 2, NULL, found);
    if (found[0] != GL_SAMPLER_2D_ARRAY && found[0] != GL_IMAGE_2D_ARRAY)
        return true;
    checked_bindings++;
    get_uniform(current, found[1], &unit);
    if (found[0] == GL_IMAGE_2D_ARRAY) {
        real.GetIntegeri_v(GL_IMAGE_BINDING_NAME, (GLuint)unit, &name);
    } else {
        real.ActiveTexture(GL_TEXTURE0 + (GLenum)unit);
        real.GetIntegerv(GL_TEXTURE_BINDING_2D_ARRAY, &name);
    }
    return name != 0;
}

static GLint active(GLenum interface)
{
    GLint count = 0;
    get_interface(current, interface, GL_ACTIVE_RESOURCES, &count);
    return count;
}

static void GL_APIENTRY check_bindings(GLuint x, GLuint y, GLuint z)
{
    bool good = true;
    for (GLint i = 0; i < active(GL_SHADER_STORAGE_BLOCK); i++)
        good &=
            block_is_bound(GL_SHADER_STORAGE_BLOCK, (GLuint)i, GL_SHADER_STORAGE_BUFFER_BINDING);
    for (GLint i = 0; i < active(GL_UNIFORM_BLOCK); i++)
        good &= block_is_bound(GL_UNIFORM_BLOCK, (GLuint)i, GL_UNIFORM_BUFFER_BINDING);
    for (GLint i = 0; i < active(GL_UNIFORM); i++)
        good &= uniform_is_bound((GLuint)i);
    CU_ASSERT_TRUE(good);
    real.DispatchCompute(x, y, z);
}

/* Nothing stays bound from one pass to the next. */
static void GL_APIENTRY unbind_everything(GLuint program)
{
    for (GLuint i = 0; i < 4; i++) {
        real.BindBufferBase(GL_SHADER_STORAGE_BUFFER, i, 0);
        real.BindBufferBase(GL_UNIFORM_BUFFER, i, 0);
        real.BindImageTexture(i, 0, 0, GL_TRUE, 0, GL_READ_ONLY, GL_RGBA32F);
    }
    for (GLenum i = 0; i < 16; i++) {
        real.ActiveTexture(GL_TEXTURE0 + i);
        real.BindTexture(GL_TEXTURE_2D_ARRAY, 0);
    }
    current = program;
    real.UseProgram(program);
}

static void load_queries(void)
{
    get_interface = (PFNGLGETPROGRAMINTERFACEIVPROC)platform_symbol(device->platform,
                                                                    "glGetProgramInterfaceiv");
    get_resource =
        (PFNGLGETPROGRAMRESOURCEIVPROC)platform_symbol(device->platform, "glGetProgramResourceiv");
    get_uniform = (PFNGLGETUNIFORMIVPROC)platform_symbol(device->platform, "glGetUniformiv");
}

/* Two drivers crash at a dispatch with a binding that is declared and empty. */
static void test_every_binding_is_bound(void)
{
    bool prefers = device->info.traits.image_loads;
    load_queries();
    real = device->gl;
    device->gl.UseProgram = unbind_everything;
    device->gl.DispatchCompute = check_bindings;
    checked_bindings = 0;
    for (size_t i = 0; glcnn_registry[i]; i++)
        for (size_t n = 0; n < 2; n++) { /* without and with optional inputs */
            char message[512] = "";
            double error = 0;
            device->info.traits.image_loads = n == 1 && prefers;
            CU_ASSERT_EQUAL(check_case_run(device, glcnn_registry[i], n,
                                           GLCNN_CHANNEL_FORMAT_FLOAT16, &error, message),
                            GLCNN_SUCCESS);
        }
    device->gl = real;
    device->info.traits.image_loads = prefers;
    CU_ASSERT_TRUE(checked_bindings > 100);
}

/* A buffer that is declared and not given is one of zeros. */
static void test_a_missing_buffer_is_zeros(void)
{
    struct plan plan;
    glcnn_command_buffer *commands = make_commands();
    glcnn_buffer *to = make_buffer((float[]){1, 2, 3, 4}, 4);
    plan_begin(&plan, commands);
    plan_copy_vector(&plan, &(struct vector_view){.count = 4}, &(struct vector_view){to, 0, 4});
    GOOD(plan_end(&plan));
    load_queries();
    real = device->gl;
    device->gl.UseProgram = unbind_everything;
    device->gl.DispatchCompute = check_bindings;
    GOOD(glcnn_command_buffer_commit(commands));
    device->gl = real;
    CU_ASSERT_TRUE(buffer_equals(to, (float[4]){0}, 4));
    glcnn_command_buffer_destroy(&commands);
    glcnn_buffer_destroy(&to);
}

/* ---- Transfers in a command buffer ---- */

static void test_transfers_are_recorded(void)
{
    enum { COUNT = 2 * 3 * 2 };
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *image = make_image_of(device, GLCNN_CHANNEL_FORMAT_FLOAT16, 1, 3, 2, 2);
    glcnn_buffer *in = make_buffer(NULL, COUNT + 2), *out = make_buffer(NULL, COUNT + 4);
    const struct glcnn_image_transfer planes = {.layout = GLCNN_LAYOUT_CHANNELS_HEIGHT_WIDTH};
    float values[COUNT + 2], read[COUNT + 4];
    GOOD(glcnn_image_encode_write(commands, image, &planes, in, 8));
    GOOD(glcnn_image_encode_read(commands, image, NULL, out, 4));
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < COUNT + 2; i++)
            values[i] = (float)(100 * step + i);
        GOOD(glcnn_buffer_write(in, 0, sizeof values, values));
        GOOD(glcnn_command_buffer_commit(commands));
        GOOD(glcnn_buffer_read(out, 0, sizeof read, read));
        CU_ASSERT_EQUAL(read[0], 0);
        for (int c = 0; c < 3; c++)
            for (int i = 0; i < 4; i++)
                CU_ASSERT_EQUAL(read[1 + i * 3 + c], values[2 + c * 4 + i]);
        CU_ASSERT_EQUAL(read[COUNT + 1], 0);
    }
    size_t passes = glcnn_command_buffer_pass_count(commands);
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_image_encode_write(commands, image, NULL, in, 12));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_image_encode_write(commands, image, NULL, in, 2));
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_image_encode_read(commands, image, NULL, out, SIZE_MAX - 3));
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_image_encode_read(commands, image,
                                    &(struct glcnn_image_transfer){.bytes_per_row = SIZE_MAX - 3},
                                    out, 0));
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), passes);
    glcnn_command_buffer_destroy(&commands);
    glcnn_image_destroy(&image);
    glcnn_buffer_destroy(&in);
    glcnn_buffer_destroy(&out);
}

static void test_buffers_check_their_ranges(void)
{
    static const float values[] = {1, 2, 3, 4};
    float read[2] = {0};
    glcnn_buffer *buffer = make_buffer(NULL, 4);
    CU_ASSERT_TRUE(buffer_equals(buffer, (float[4]){0}, 4));
    CU_ASSERT_EQUAL(glcnn_buffer_size(buffer), 16);
    GOOD(glcnn_buffer_write(buffer, 4, 8, values));
    CU_ASSERT_TRUE(buffer_equals(buffer, (float[]){0, 1, 2, 0}, 4));
    GOOD(glcnn_buffer_read(buffer, 8, 8, read));
    CU_ASSERT_EQUAL(read[0], 2);
    GOOD(glcnn_buffer_write(buffer, 16, 0, values));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_buffer_write(buffer, 2, 4, values));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_buffer_write(buffer, 0, 6, values));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_buffer_write(buffer, 12, 8, values));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_buffer_write(buffer, SIZE_MAX - 3, 8, values));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_buffer_read(buffer, 4, SIZE_MAX - 3, read));
    CU_ASSERT_TRUE(buffer_equals(buffer, (float[]){0, 1, 2, 0}, 4));
    glcnn_buffer_destroy(&buffer);
}

/* ---- Devices and threads ---- */

static void test_two_devices_on_one_thread(void)
{
    glcnn_device *other = NULL;
    glcnn_command_buffer *here = make_commands(), *there = NULL;
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_device_create(NULL, &other));
    int references = other->references;
    GOOD_FATAL(glcnn_command_buffer_create(other, &there));
    GOOD_FATAL(glcnn_kernel_copy(copier, other, &kernel));
    glcnn_image *a = make_image(1, 4, 2, 2), *b = make_image(1, 4, 2, 2);
    glcnn_image *c = make_image_of(other, 0, 1, 4, 2, 2), *d = make_image_of(other, 0, 1, 4, 2, 2);
    fill_constant(a, 1);
    fill_constant(c, 2);
    GOOD(copy(here, a, b));
    GOOD(glcnn_kernel_encode(there, kernel, &(struct glcnn_encode){.source = c, .destination = d}));
    REFUSED(GLCNN_INVALID_ARGUMENT, copy(here, a, d));
    REFUSED(GLCNN_INVALID_ARGUMENT, copy(here, c, b));
    REFUSED(GLCNN_INVALID_ARGUMENT, copy(there, a, b));
    GOOD(glcnn_command_buffer_commit(there));
    GOOD(glcnn_command_buffer_commit(here));
    GOOD(glcnn_command_buffer_wait(there));
    CU_ASSERT_TRUE(image_is_constant(b, 1));
    CU_ASSERT_TRUE(image_is_constant(d, 2));
    glcnn_image_destroy(&c);
    fill_constant(a, 3);
    glcnn_command_buffer_destroy(&there);
    GOOD(glcnn_command_buffer_commit(here));
    glcnn_image_destroy(&d);
    glcnn_kernel_destroy(&kernel);
    CU_ASSERT_EQUAL(other->references, references);
    glcnn_device_destroy(&other);
    finish(&here);
    CU_ASSERT_TRUE(image_is_constant(b, 3));
    glcnn_image_destroy(&a);
    glcnn_image_destroy(&b);
}

struct handed {
    glcnn_image *a, *b;
    glcnn_command_buffer *commands;
    glcnn_status refused, acquired, encoded, committed, released;
    bool told; /* the refused thread was told why */
};

static void *call_unasked(void *data)
{
    struct handed *h = data;
    h->refused = glcnn_command_buffer_commit(h->commands);
    h->told = strstr(glcnn_device_error(device), "thread") != NULL;
    return NULL;
}

static void *work_elsewhere(void *data)
{
    struct handed *h = data;
    h->acquired = glcnn_device_acquire(device);
    h->encoded = copy(h->commands, h->a, h->b);
    h->committed = glcnn_command_buffer_commit(h->commands);
    h->released = glcnn_device_hand_over(device);
    return NULL;
}

static void run_thread(void *(*function)(void *), void *data)
{
    pthread_t thread;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, function, data), 0);
    CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
}

static void test_a_device_is_handed_over(void)
{
    struct handed h = {.a = make_image(1, 4, 2, 2), .b = make_image(1, 4, 2, 2)};
    h.commands = make_commands();
    fill_constant(h.a, 4);
    fixture_forget_error(device);
    run_thread(call_unasked, &h);
    CU_ASSERT_EQUAL(h.refused, GLCNN_INVALID_STATE);
    CU_ASSERT_TRUE(h.told);
    CU_ASSERT_STRING_EQUAL(glcnn_device_error(device), "");
    REFUSED(GLCNN_INVALID_STATE, glcnn_device_acquire(device));
    GOOD(glcnn_device_hand_over(device));
    REFUSED(GLCNN_INVALID_STATE, glcnn_command_buffer_commit(h.commands));
    REFUSED(GLCNN_INVALID_STATE, glcnn_device_hand_over(device));
    run_thread(work_elsewhere, &h);
    CU_ASSERT_EQUAL(h.acquired, GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(h.encoded, GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(h.committed, GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(h.released, GLCNN_SUCCESS);
    GOOD_FATAL(glcnn_device_acquire(device));
    finish(&h.commands);
    CU_ASSERT_TRUE(image_is_constant(h.b, 4));
    glcnn_image_destroy(&h.a);
    glcnn_image_destroy(&h.b);
}

/* Objects may be destroyed after their device, in any order, and do nothing before that. */
static void test_objects_outlive_their_device(void)
{
    glcnn_device *old = NULL;
    glcnn_command_buffer *commands = NULL;
    glcnn_kernel *kernel = NULL;
    glcnn_image *result = NULL;
    glcnn_buffer *buffer = NULL;
    glcnn_state *state = NULL;
    float bytes[16];
    GOOD_FATAL(glcnn_device_create(NULL, &old));
    GOOD_FATAL(glcnn_command_buffer_create(old, &commands));
    GOOD_FATAL(glcnn_kernel_copy(copier, old, &kernel));
    GOOD_FATAL(glcnn_buffer_create(old, 64, &buffer));
    glcnn_image *image = make_image_of(old, 0, 1, 4, 2, 2), *view = NULL;
    GOOD_FATAL(glcnn_image_batch_view(image, 0, &view));
    const struct glcnn_encode arguments = {.source = image};
    GOOD_FATAL(glcnn_kernel_encode_returning(commands, kernel, &arguments, &result, &state));
    GOOD(glcnn_command_buffer_commit(commands));
    glcnn_device_destroy(&old);
    CU_ASSERT_PTR_NULL(old);
    old = image->device;
    REFUSED_ON(old, GLCNN_INVALID_STATE, glcnn_image_read_bytes(image, NULL, bytes, sizeof bytes));
    REFUSED_ON(old, GLCNN_INVALID_STATE, glcnn_buffer_read(buffer, 0, 4, bytes));
    REFUSED_ON(old, GLCNN_INVALID_STATE, glcnn_command_buffer_commit(commands));
    REFUSED_ON(old, GLCNN_INVALID_STATE, glcnn_command_buffer_wait(commands));
    glcnn_image *none = image;
    REFUSED_ON(old, GLCNN_INVALID_STATE,
               glcnn_kernel_encode_returning(commands, kernel, &arguments, &none, NULL));
    CU_ASSERT_PTR_NULL(none);
    CU_ASSERT_TRUE(glcnn_command_buffer_is_complete(commands));
    CU_ASSERT_EQUAL(glcnn_image_resource_size(image), 64);
    glcnn_kernel_destroy(&kernel);
    glcnn_image_destroy(&image);
    glcnn_command_buffer_destroy(&commands);
    glcnn_image_destroy(&result);
    glcnn_state_destroy(&state);
    glcnn_buffer_destroy(&buffer);
    CU_ASSERT_EQUAL(old->references, 3); /* view, what it is a view of, and their storage */
    glcnn_image_destroy(&view);
}

/* Uniform blocks lie as far apart as the device wants them. */
static void test_uniforms_at_every_alignment(void)
{
    uint32_t alignment = device->info.limits.buffer_offset_alignment;
    for (uint32_t factor = 1; factor <= 16; factor *= 4) {
        glcnn_command_buffer *commands = make_commands();
        glcnn_image *images[5];
        device->info.limits.buffer_offset_alignment = alignment * factor;
        for (int i = 0; i < 5; i++)
            images[i] = make_image(1, 3, 2, 2);
        fill_noise(images[0], factor);
        for (int i = 0; i < 4; i++)
            GOOD(copy(commands, images[i], images[i + 1]));
        GOOD(glcnn_command_buffer_commit(commands));
        for (size_t i = 0; i < 4; i++)
            CU_ASSERT_EQUAL(commands->passes[i].issue.uniform_offset % (alignment * factor), 0);
        CU_ASSERT_TRUE(images_equal(images[4], images[0]));
        for (int i = 0; i < 5; i++)
            glcnn_image_destroy(&images[i]);
        glcnn_command_buffer_destroy(&commands);
    }
    device->info.limits.buffer_offset_alignment = alignment;
}

/* Contents are 0 before the first write even if the pass that clears could not be built at first.
 */
static struct gl native;
static void GL_APIENTRY refuse_to_compile(GLuint shader)
{
    const char *const nonsense = "#version 310 es\nnonsense\n";
    native.ShaderSource(shader, 1, &nonsense, NULL);
    native.CompileShader(shader);
}

static void test_clearing_is_tried_again(void)
{
    glcnn_device *fresh = NULL; /* no program is cached */
    GOOD_FATAL(glcnn_device_create(NULL, &fresh));
    glcnn_command_buffer *commands = NULL;
    glcnn_buffer *buffer = NULL;
    glcnn_image *image = make_image_of(fresh, 0, 1, 4, 2, 2);
    GOOD_FATAL(glcnn_command_buffer_create(fresh, &commands));
    GOOD_FATAL(glcnn_buffer_create(fresh, 64, &buffer));
    GOOD(glcnn_image_encode_read(commands, image, NULL, buffer, 0));
    native = fresh->gl;
    fresh->gl.CompileShader = refuse_to_compile;
    REFUSED_ON(fresh, GLCNN_SHADER_ERROR, glcnn_command_buffer_commit(commands));
    fresh->gl = native;
    CU_ASSERT_TRUE(image->storage->clear);
    GOOD(glcnn_command_buffer_commit(commands));
    CU_ASSERT_FALSE(image->storage->clear);
    glcnn_command_buffer_destroy(&commands);
    glcnn_buffer_destroy(&buffer);
    glcnn_image_destroy(&image);
    glcnn_device_destroy(&fresh);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_a_commit_can_be_repeated),
        UNIT_TEST(test_a_replay_makes_nothing),
        UNIT_TEST(test_recorded_objects_may_be_destroyed),
        UNIT_TEST(test_moving_values_move_from_the_second_commit_on),
        UNIT_TEST(test_a_failed_encode_records_nothing),
        UNIT_TEST(test_a_failed_encode_leaves_its_state),
        UNIT_TEST(test_a_refused_shader_names_its_line),
        UNIT_TEST(test_barriers_where_images_need_them),
        UNIT_TEST(test_barriers_where_buffers_need_them),
        UNIT_TEST(test_barriers_before_transfers),
        UNIT_TEST(test_passes_stand_beside_those_they_do_not_depend_on),
        UNIT_TEST(test_a_level_waits_once),
        UNIT_TEST(test_order_of_joined_buffers),
        UNIT_TEST(test_long_grids_are_split),
        UNIT_TEST(test_speed_is_measured_when_needed),
        UNIT_TEST(test_parts_of_a_grid_leave_nothing_out),
        UNIT_TEST(test_every_kernel_bears_splitting),
        UNIT_TEST(test_every_binding_is_bound),
        UNIT_TEST(test_a_missing_buffer_is_zeros),
        UNIT_TEST(test_transfers_are_recorded),
        UNIT_TEST(test_buffers_check_their_ranges),
        UNIT_TEST(test_two_devices_on_one_thread),
        UNIT_TEST(test_a_device_is_handed_over),
        UNIT_TEST(test_objects_outlive_their_device),
        UNIT_TEST(test_uniforms_at_every_alignment),
        UNIT_TEST(test_clearing_is_tried_again),
        CU_TEST_INFO_NULL,
    };
    if (!fixture_open() || glcnn_pooling_max_create(device, 1, 1, 1, 1, &copier) != GLCNN_SUCCESS)
        return EXIT_FAILURE;
    int result = unit_run("commands", tests, argc, argv);
    glcnn_kernel_destroy(&copier);
    fixture_close();
    return result;
}
