/* What the driver may fail at: memory, a lost context, a GPU that hangs; and threads and processes
 * that may not use a device. Each failure has its status, and what failed can be done again. */
#include "tests/fixture.h"

#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device/buffer.h"
#include "record/command_buffer.h"
#include "record/commit_count.h"
#include "image/image.h"
#include "encode/kernel.h"

/* ---- Entry points that fail ---- */

static struct gl real;
static GLenum pending; /* what glGetError says next */
static int calls_until_failure;

static bool fails(void)
{
    if (--calls_until_failure != 0)
        return false;
    pending = GL_OUT_OF_MEMORY;
    return true;
}

static GLenum GL_APIENTRY tell(void)
{
    GLenum code = pending;
    if (pending != GL_CONTEXT_LOST_KHR)
        pending = GL_NO_ERROR;
    return code ? code : real.GetError();
}

static GLuint GL_APIENTRY no_program(void)
{
    return fails() ? 0 : real.CreateProgram();
}

static GLuint GL_APIENTRY no_shader(GLenum type)
{
    return fails() ? 0 : real.CreateShader(type);
}

static void GL_APIENTRY no_bind(GLenum target, GLuint name)
{
    if (!fails())
        real.BindBuffer(target, name);
}

static void GL_APIENTRY no_data(GLenum target, GLsizeiptr size, const void *bytes, GLenum usage)
{
    if (!fails())
        real.BufferData(target, size, bytes, usage);
}

static void GL_APIENTRY no_part(GLenum target, GLintptr offset, GLsizeiptr size, const void *bytes)
{
    if (!fails())
        real.BufferSubData(target, offset, size, bytes);
}

static GLsync GL_APIENTRY no_fence(GLenum condition, GLbitfield flags)
{
    return fails() ? NULL : real.FenceSync(condition, flags);
}

static void GL_APIENTRY lose_context(GLuint shader)
{
    (void)shader;
    pending = GL_CONTEXT_LOST_KHR;
}

/* A device of its own, so that no program is cached and any damage ends with it. */
static void open_failing(uint32_t wait_seconds)
{
    GOOD_FATAL(glcnn_device_create(&(struct glcnn_device_parameters){.wait_seconds = wait_seconds},
                                   &device));
    real = device->gl;
    pending = GL_NO_ERROR;
    calls_until_failure = 0;
    device->gl.GetError = tell;
}

static void close_failing(void)
{
    device->gl = real;
    glcnn_device_destroy(&device);
}

/* ---- Memory ---- */

struct copying {
    glcnn_kernel *kernel;
    glcnn_image *from, *to;
    glcnn_command_buffer *commands;
};

static struct copying begin_copying(void)
{
    struct copying c = {.from = make_image(1, 4, 2, 2), .to = make_image(1, 4, 2, 2)};
    fill_noise(c.from, 1);
    fill_constant(c.to, 9);
    GOOD_FATAL(glcnn_pooling_max_create(device, 1, 1, 1, 1, &c.kernel));
    c.commands = make_commands();
    return c;
}

static glcnn_status record(const struct copying *c)
{
    return glcnn_kernel_encode(c->commands, c->kernel,
                               &(struct glcnn_encode){.source = c->from, .destination = c->to});
}

static void drop_copying(struct copying *c)
{
    glcnn_command_buffer_destroy(&c->commands);
    glcnn_kernel_destroy(&c->kernel);
    glcnn_image_destroy(&c->from);
    glcnn_image_destroy(&c->to);
}

static void end_copying(struct copying *c)
{
    GOOD(glcnn_command_buffer_commit(c->commands));
    GOOD(glcnn_command_buffer_wait(c->commands));
    CU_ASSERT_TRUE(images_equal(c->to, c->from));
    drop_copying(c);
}

static void test_no_more_programs(void)
{
    open_failing(0);
    struct copying c = begin_copying();
    device->gl.CreateProgram = no_program;
    device->gl.CreateShader = no_shader;
    for (int at = 1; at <= 2; at++)
        for (int silent = 0; silent < 2; silent++) {
            device->gl.GetError = silent ? real.GetError : tell;
            calls_until_failure = at;
            REFUSED(GLCNN_OUT_OF_MEMORY, record(&c));
            CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(c.commands), 0);
        }
    GOOD(record(&c));
    end_copying(&c);
    close_failing();
}

static void test_no_memory_at_commit(void)
{
    open_failing(0);
    struct copying c = begin_copying();
    GOOD(record(&c));
    device->gl.BufferData = no_data;
    calls_until_failure = 1;
    REFUSED(GLCNN_OUT_OF_MEMORY, glcnn_command_buffer_commit(c.commands));
    CU_ASSERT_TRUE(image_is_constant(c.to, 9));
    end_copying(&c);
    close_failing();
}

/* More passes than before: the uniforms of all of them are uploaded again, and the old are gone. */
static void test_no_memory_at_a_longer_commit(void)
{
    open_failing(0);
    struct copying c = begin_copying();
    glcnn_image *further = make_image(1, 4, 2, 2);
    GOOD(record(&c));
    GOOD(glcnn_command_buffer_commit(c.commands));
    fill_constant(c.from, 3);
    GOOD(glcnn_kernel_encode(c.commands, c.kernel,
                             &(struct glcnn_encode){.source = c.to, .destination = further}));
    device->gl.BufferData = no_data;
    calls_until_failure = 1;
    REFUSED(GLCNN_OUT_OF_MEMORY, glcnn_command_buffer_commit(c.commands));
    GOOD(glcnn_command_buffer_commit(c.commands));
    CU_ASSERT_TRUE(image_is_constant(further, 3));
    glcnn_image_destroy(&further);
    end_copying(&c);
    close_failing();
}

static void test_a_failed_bind_spares_other_buffers(void)
{
    static const float kept[] = {1, 2, 3, 4, 5, 6, 7, 8};
    float found[8] = {0};
    glcnn_buffer *first = NULL, *second = NULL;
    open_failing(0);
    GOOD_FATAL(glcnn_buffer_create(device, sizeof kept, &first));
    GOOD(glcnn_buffer_write(first, 0, sizeof kept, kept));
    device->gl.BindBuffer = no_bind;
    calls_until_failure = 1;
    REFUSED(GLCNN_OUT_OF_MEMORY, glcnn_buffer_create(device, 4, &second));
    CU_ASSERT_PTR_NULL(second);
    GOOD_FATAL(glcnn_buffer_create(device, 8, &second));
    GOOD(glcnn_buffer_read(first, 0, sizeof found, found));
    CU_ASSERT_EQUAL(memcmp(found, kept, sizeof kept), 0);
    calls_until_failure = 1;
    REFUSED(GLCNN_OUT_OF_MEMORY, glcnn_buffer_write(second, 0, 8, kept + 2));
    GOOD(glcnn_buffer_read(first, 0, sizeof found, found));
    CU_ASSERT_EQUAL(memcmp(found, kept, sizeof kept), 0);
    glcnn_buffer_destroy(&first);
    glcnn_buffer_destroy(&second);
    close_failing();
}

/* The passes have run by then: the commit is good, and who waits asks for a fence again. */
static void test_no_memory_for_a_fence(void)
{
    open_failing(0);
    struct copying c = begin_copying();
    GOOD(record(&c));
    device->gl.FenceSync = no_fence;
    calls_until_failure = 1;
    GOOD(glcnn_command_buffer_commit(c.commands));
    calls_until_failure = 1;
    GOOD(glcnn_command_buffer_wait(c.commands));
    CU_ASSERT_TRUE(glcnn_command_buffer_is_complete(c.commands));
    CU_ASSERT_TRUE(images_equal(c.to, c.from));
    calls_until_failure = 1;
    GOOD(glcnn_device_wait(device));
    end_copying(&c);
    close_failing();
}

static GLsync GL_APIENTRY never_a_fence(GLenum condition, GLbitfield flags)
{
    (void)condition, (void)flags;
    pending = GL_OUT_OF_MEMORY;
    return NULL;
}

/* No wait is without an end: it is an error, and good once there is memory again. */
static void test_never_memory_for_a_fence(void)
{
    open_failing(0);
    struct copying c = begin_copying();
    GOOD(record(&c));
    device->gl.FenceSync = never_a_fence;
    GOOD(glcnn_command_buffer_commit(c.commands));
    REFUSED(GLCNN_OUT_OF_MEMORY, glcnn_command_buffer_wait(c.commands));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "no memory for a fence"));
    REFUSED(GLCNN_OUT_OF_MEMORY, glcnn_device_wait(device));
    device->gl.FenceSync = real.FenceSync;
    GOOD(glcnn_command_buffer_wait(c.commands));
    CU_ASSERT_TRUE(images_equal(c.to, c.from));
    end_copying(&c);
    close_failing();
}

/* A vector of neutral values is there with them or not at all. */
static void test_a_vector_that_cannot_be_filled_is_not_there(void)
{
    float found[4] = {0};
    glcnn_kernel *kernel = NULL;
    open_failing(0);
    GOOD_FATAL(glcnn_kernel_create(device, "batch_normalization", &kernel));
    int gamma = kernel_kept_argument(kernel, "gamma");
    glcnn_buffer *buffer = NULL;
    device->gl.BufferSubData = no_part;
    calls_until_failure = 1;
    REFUSED(GLCNN_OUT_OF_MEMORY, kernel_vector(kernel, (size_t)gamma, 4, &buffer));
    CU_ASSERT_PTR_NULL(buffer);
    CU_ASSERT_FALSE(glcnn_kernel_has_vector(kernel, "gamma"));
    GOOD(kernel_vector(kernel, (size_t)gamma, 4, &buffer));
    GOOD(glcnn_buffer_read(buffer, 0, sizeof found, found));
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(found[i], 1);
    glcnn_kernel_destroy(&kernel);
    close_failing();
}

static void count_errors(void *user, glcnn_log_level level, const char *text)
{
    (void)text;
    *(int *)user += level == GLCNN_LOG_ERROR;
}

/* No vector of that name, none yet, and none for want of memory: three messages, one failure. */
static void test_why_there_is_no_vector(void)
{
    int errors = 0;
    glcnn_kernel *normal = NULL, *convolution = NULL;
    open_failing(0);
    device->log = count_errors;
    device->log_user = &errors;
    GOOD_FATAL(glcnn_kernel_create(device, "batch_normalization", &normal));
    GOOD_FATAL(glcnn_kernel_create(device, "convolution", &convolution));
    GOOD(glcnn_kernel_set(convolution, "input_feature_channels", 2));
    GOOD(glcnn_kernel_set(convolution, "output_feature_channels", 2));
    CU_ASSERT_PTR_NULL(glcnn_kernel_vector(normal, "weights"));
    CU_ASSERT_STRING_EQUAL(glcnn_device_error(device),
                           "batch_normalization: the kernel has no vector \"weights\"");
    CU_ASSERT_PTR_NULL(glcnn_kernel_vector(normal, "gamma"));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "length of gamma is not known"));
    CU_ASSERT_EQUAL(errors, 0);
    device->gl.BufferData = no_data;
    calls_until_failure = 1;
    CU_ASSERT_PTR_NULL(glcnn_kernel_vector(convolution, "weights"));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "GL_OUT_OF_MEMORY"));
    CU_ASSERT_EQUAL(errors, 1);
    CU_ASSERT_EQUAL(glcnn_buffer_size(glcnn_kernel_vector(convolution, "weights")), 4 * 4);
    glcnn_kernel_destroy(&normal);
    glcnn_kernel_destroy(&convolution);
    close_failing();
}

/* Adam's second step, of which the commit fails once or not at all. */
static void run_adam(bool failing, float result[4])
{
    static const float gradient[] = {1, -2, 3, 0.5f}, zeros[4];
    static const uint32_t count = sizeof gradient / sizeof *gradient;
    glcnn_buffer *g = NULL, *w = NULL, *m = NULL, *v = NULL;
    glcnn_buffer **all[] = {&g, &w, &m, &v};
    glcnn_kernel *adam = NULL;
    for (int i = 0; i < 4; i++) {
        GOOD_FATAL(glcnn_buffer_create(device, sizeof zeros, all[i]));
        GOOD(glcnn_buffer_write(*all[i], 0, sizeof zeros, i ? zeros : gradient));
    }
    GOOD_FATAL(glcnn_kernel_create(device, "optimizer_adam", &adam));
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_kernel_encode(commands, adam, &(struct glcnn_encode){.vectors = {g, w, m, v, w}}));
    GOOD(glcnn_command_buffer_commit(commands));
    calls_until_failure = failing ? 1 : 0;
    if (failing)
        REFUSED(GLCNN_OUT_OF_MEMORY, glcnn_command_buffer_commit(commands));
    GOOD(glcnn_command_buffer_commit(commands));
    GOOD(glcnn_buffer_read(w, 0, count * 4, result));
    glcnn_command_buffer_destroy(&commands);
    glcnn_kernel_destroy(&adam);
    for (int i = 0; i < 4; i++)
        glcnn_buffer_destroy(all[i]);
}

static void test_a_step_moves_once_however_often_it_is_tried(void)
{
    float expected[4], found[4];
    open_failing(0);
    run_adam(false, expected);
    close_failing();
    open_failing(0);
    device->gl.BufferSubData = no_part;
    run_adam(true, found);
    CU_ASSERT_EQUAL(memcmp(found, expected, sizeof found), 0);
    CU_ASSERT_TRUE(expected[0] < 0 && expected[1] > 0);
    close_failing();
}

/* ---- What the compiler says ---- */

static char driver_log[6000];

static void GL_APIENTRY refuse_shader(GLuint shader, GLenum name, GLint *value)
{
    (void)shader;
    *value = name == GL_COMPILE_STATUS ? GL_FALSE : (GLint)sizeof driver_log;
}

static void GL_APIENTRY say_log(GLuint shader, GLsizei size, GLsizei *length, char *text)
{
    (void)shader, (void)length;
    snprintf(text, (size_t)size, "%s", driver_log);
}

/* `error` is about line 7. */
static void find_error_behind_warnings(const char *error)
{
    open_failing(0);
    struct copying c = begin_copying();
    size_t used = 0;
    for (int i = 0; i < 100; i++)
        used += (size_t)snprintf(driver_log + used, sizeof driver_log - used,
                                 "0:%d(1): warning: unused variable of the library\n", i + 20001);
    snprintf(driver_log + used, sizeof driver_log - used, "%s the one that matters\n", error);
    device->gl.GetShaderiv = refuse_shader;
    device->gl.GetShaderInfoLog = say_log;
    REFUSED(GLCNN_SHADER_ERROR, record(&c));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), ":7: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "the one that matters"));
    device->gl = real;
    GOOD(record(&c));
    end_copying(&c);
    close_failing();
}

static void test_the_first_error_behind_many_warnings(void)
{
    static const char *const forms[] = {"0:7(3): error:", "ERROR: 0:7:", "0(7) : error C0000:"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        find_error_behind_warnings(forms[i]);
}

static void test_a_context_lost_while_compiling(void)
{
    open_failing(0);
    struct copying c = begin_copying();
    device->gl.CompileShader = lose_context;
    device->gl.GetShaderiv = refuse_shader;
    REFUSED(GLCNN_DEVICE_LOST, record(&c));
    REFUSED(GLCNN_DEVICE_LOST, glcnn_command_buffer_commit(c.commands));
    drop_copying(&c);
    close_failing();
}

/* ---- A driver that tells an error once ---- */

static GLenum told_once; /* by the driver, of the next dispatch */

static void GL_APIENTRY dispatch_wrongly(GLuint x, GLuint y, GLuint z)
{
    real.DispatchCompute(x, y, z);
    pending = told_once;
    told_once = GL_NO_ERROR;
}

static GLenum GL_APIENTRY tell_once(void)
{
    GLenum code = pending;
    pending = GL_NO_ERROR;
    return code ? code : real.GetError();
}

/* An error amid the passes is the commit's own, not that of whatever comes next. */
static void test_a_commit_tells_its_errors(void)
{
    open_failing(0);
    struct copying c = begin_copying();
    GOOD(record(&c));
    device->gl.DispatchCompute = dispatch_wrongly;
    told_once = GL_INVALID_OPERATION;
    REFUSED(GLCNN_INVALID_STATE, glcnn_command_buffer_commit(c.commands));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "glcnn_command_buffer_commit"));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "GL_INVALID_OPERATION"));
    told_once = GL_OUT_OF_MEMORY;
    REFUSED(GLCNN_OUT_OF_MEMORY, glcnn_command_buffer_commit(c.commands));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "undefined"));
    GOOD(glcnn_command_buffer_wait(c.commands));
    end_copying(&c);
    close_failing();
}

/* The driver is well again, its objects are gone. */
static void test_a_lost_device_stays_lost(void)
{
    float values[16];
    glcnn_image *image = NULL;
    const struct glcnn_image_descriptor descriptor = {2, 2, 4, 1, 0};
    open_failing(0);
    struct copying c = begin_copying();
    GOOD(record(&c));
    device->gl.GetError = tell_once;
    device->gl.DispatchCompute = dispatch_wrongly;
    told_once = GL_CONTEXT_LOST_KHR;
    REFUSED(GLCNN_DEVICE_LOST, glcnn_command_buffer_commit(c.commands));
    device->gl = real;
    REFUSED(GLCNN_DEVICE_LOST, glcnn_command_buffer_commit(c.commands));
    REFUSED(GLCNN_DEVICE_LOST, glcnn_command_buffer_wait(c.commands));
    REFUSED(GLCNN_DEVICE_LOST, glcnn_device_wait(device));
    REFUSED(GLCNN_DEVICE_LOST, glcnn_image_read_bytes(c.from, NULL, values, sizeof values));
    REFUSED(GLCNN_DEVICE_LOST, glcnn_image_create(device, &descriptor, &image));
    REFUSED(GLCNN_DEVICE_LOST, record(&c));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "create a new one"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(glcnn_device_error(device), "lost in glcnn_command_buffer_commit"));
    CU_ASSERT_TRUE(glcnn_device_is_lost(device));
    CU_ASSERT_FALSE(glcnn_device_is_lost(NULL));
    drop_copying(&c);
    close_failing();
}

/* ---- A driver that tells of resets where it is asked, and raises no error ---- */

static GLenum reset;     /* what the driver answers once it was asked so often */
static int asked_before; /* questions that it answers with no error first */

static GLenum GL_APIENTRY answer_once(void)
{
    GLenum answer = asked_before > 0 ? GL_NO_ERROR : reset;
    if (--asked_before < 0)
        reset = GL_NO_ERROR;
    return answer;
}

static glcnn_status commit_it(struct copying *c, glcnn_buffer *buffer)
{
    (void)buffer;
    return glcnn_command_buffer_commit(c->commands);
}

static glcnn_status wait_for_it(struct copying *c, glcnn_buffer *buffer)
{
    (void)buffer;
    return glcnn_command_buffer_wait(c->commands);
}

static glcnn_status wait_for_all(struct copying *c, glcnn_buffer *buffer)
{
    (void)c, (void)buffer;
    return glcnn_device_wait(device);
}

static glcnn_status read_buffer(struct copying *c, glcnn_buffer *buffer)
{
    float value;
    (void)c;
    return glcnn_buffer_read(buffer, 0, sizeof value, &value);
}

static glcnn_status read_pixels(struct copying *c, glcnn_buffer *buffer)
{
    float values[16];
    (void)buffer;
    return glcnn_image_read_bytes(c->to, NULL, values, sizeof values);
}

static glcnn_status write_pixels(struct copying *c, glcnn_buffer *buffer)
{
    static const float values[16];
    (void)buffer;
    return glcnn_image_write_bytes(c->from, NULL, values, sizeof values);
}

/* Whoever is told that it is complete asks how it went. */
static glcnn_status ask_whether_complete(struct copying *c, glcnn_buffer *buffer)
{
    (void)buffer;
    CU_ASSERT_TRUE(glcnn_command_buffer_is_complete(c->commands));
    CU_ASSERT_TRUE(glcnn_device_is_lost(device));
    return glcnn_command_buffer_wait(c->commands);
}

static const struct asking_call {
    const char *name; /* in the message */
    glcnn_status (*call)(struct copying *c, glcnn_buffer *buffer);
} asking_calls[] = {
    {"glcnn_command_buffer_commit", commit_it},
    {"glcnn_command_buffer_wait", wait_for_it},
    {"glcnn_device_wait", wait_for_all},
    {"glcnn_buffer_read", read_buffer},
    {"glcnn_", read_pixels},
    {"glcnn_", write_pixels}, /* whichever of its steps asks first */
    {"glcnn_command_buffer_is_complete", ask_whether_complete},
};
#define ASKING_CALLS (sizeof asking_calls / sizeof *asking_calls)

/* Committed, and finished as far as marks tell; then the context is reset. */
static void reset_before(const struct asking_call *call, GLenum status, const char *fault)
{
    glcnn_buffer *buffer = NULL;
    open_failing(0);
    struct copying c = begin_copying();
    GOOD_FATAL(glcnn_buffer_create(device, 4, &buffer));
    GOOD(record(&c));
    GOOD(glcnn_command_buffer_commit(c.commands));
    reset = status;
    asked_before = 0;
    device->gl.GetGraphicsResetStatusKHR = answer_once;
    REFUSED(GLCNN_DEVICE_LOST, call->call(&c, buffer));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), fault));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), call->name));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "of pooling_max"));
    CU_ASSERT_EQUAL(reset, GL_NO_ERROR);
    REFUSED(GLCNN_DEVICE_LOST, glcnn_device_wait(device)); /* though the driver tells once */
    glcnn_buffer_destroy(&buffer);
    drop_copying(&c);
    close_failing();
}

static void test_a_reset_without_an_error_is_asked_for(void)
{
    for (size_t i = 0; i < ASKING_CALLS; i++)
        reset_before(&asking_calls[i], GL_UNKNOWN_CONTEXT_RESET_KHR, "(unknown)");
    reset_before(&asking_calls[1], GL_GUILTY_CONTEXT_RESET_KHR, "(guilty)");
    reset_before(&asking_calls[1], GL_INNOCENT_CONTEXT_RESET_KHR, "(innocent)");
}

/* An error that a reset raises is told once, and so is the reset. */
static void test_a_reset_that_is_told_once_is_kept(void)
{
    open_failing(0);
    struct copying c = begin_copying();
    GOOD(record(&c));
    device->gl.GetError = tell_once;
    device->gl.GetGraphicsResetStatusKHR = answer_once;
    pending = GL_INVALID_OPERATION;
    reset = GL_GUILTY_CONTEXT_RESET_KHR;
    asked_before = 0;
    REFUSED(GLCNN_DEVICE_LOST, device_clear_error(device, "test"));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "(guilty)"));
    drop_copying(&c);
    close_failing();
}

/* ---- A driver that tells of no reset ---- */

static int dispatches_left;

static void GL_APIENTRY drop_dispatches(GLuint x, GLuint y, GLuint z)
{
    if (dispatches_left-- > 0)
        real.DispatchCompute(x, y, z);
}

static struct copying begin_untold(void)
{
    open_failing(0);
    device->info.robust = false;
    if (!device->watch.count.buffer)
        GOOD_FATAL(commit_count_create(device));
    return begin_copying();
}

/* Of two commits the GPU runs the passes of one and drops the other's count, or all of it. */
static void test_a_reset_that_no_driver_tells_is_counted(void)
{
    for (int run = 0; run < 4; run++) {
        struct copying c = begin_untold();
        GOOD(record(&c));
        GOOD(glcnn_device_wait(device));
        dispatches_left = run;
        device->gl.DispatchCompute = drop_dispatches;
        GOOD(glcnn_command_buffer_commit(c.commands));
        device->gl.DispatchCompute = run < 2 ? real.DispatchCompute : drop_dispatches;
        GOOD(glcnn_command_buffer_commit(c.commands));
        REFUSED(GLCNN_DEVICE_LOST, glcnn_command_buffer_wait(c.commands));
        CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "this driver does not tell"));
        CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "of pooling_max"));
        drop_copying(&c);
        close_failing();
    }
}

/* What is in flight still is not missed, and what was dropped is found when all have finished. */
static void test_commits_in_flight_are_not_missed(void)
{
    struct copying a = begin_untold(), b = begin_copying();
    GOOD(record(&a));
    GOOD(record(&b));
    GOOD(glcnn_command_buffer_commit(a.commands));
    for (int i = 0; i < 2 * COMMITS_KEPT; i++) {
        GOOD(glcnn_command_buffer_commit(b.commands));
        GOOD(glcnn_command_buffer_wait(a.commands));
    }
    GOOD(glcnn_device_wait(device));
    CU_ASSERT_EQUAL(device->watch.count.checked, device->serial);
    GOOD(glcnn_command_buffer_commit(a.commands));
    dispatches_left = 0;
    device->gl.DispatchCompute = drop_dispatches;
    GOOD(glcnn_command_buffer_commit(b.commands));
    device->gl.DispatchCompute = real.DispatchCompute;
    GOOD(glcnn_command_buffer_commit(a.commands));
    REFUSED(GLCNN_DEVICE_LOST, glcnn_command_buffer_wait(a.commands));
    drop_copying(&a);
    drop_copying(&b);
    close_failing();
}

static GLenum GL_APIENTRY answer_nothing(void)
{
    return GL_NO_ERROR;
}

/* A driver that is asked, and answers that nothing was reset. */
static struct copying begin_denied(void)
{
    open_failing(0);
    device->info.robust = true;
    device->gl.GetGraphicsResetStatusKHR = answer_nothing;
    CU_ASSERT_PTR_NOT_NULL_FATAL(device->watch.count.buffer);
    dispatches_left = 0;
    return begin_copying();
}

/* From one dispatch on nothing runs: whoever waits for a commit, or for a read-back, is told. */
static void test_passes_that_a_driver_drops_are_missed(void)
{
    float found[16];
    for (int read = 0; read < 2; read++)
        for (int run = 0; run < 2; run++) {
            struct copying c = begin_denied();
            GOOD(record(&c));
            GOOD(glcnn_device_wait(device));
            dispatches_left = run;
            device->gl.DispatchCompute = drop_dispatches;
            if (read && run) /* the commit's two run, and the read-back does not */
                dispatches_left = 2;
            GOOD(glcnn_command_buffer_commit(c.commands));
            REFUSED(GLCNN_DEVICE_LOST, read
                                           ? glcnn_image_read_bytes(c.to, NULL, found, sizeof found)
                                           : glcnn_command_buffer_wait(c.commands));
            CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "this driver does not tell"));
            CU_ASSERT_PTR_NOT_NULL(
                strstr(glcnn_device_error(device), read && run ? "image_read" : "of pooling_max"));
            drop_copying(&c);
            close_failing();
        }
}

static int dispatched;

static void GL_APIENTRY count_dispatches(GLuint x, GLuint y, GLuint z)
{
    dispatched++;
    real.DispatchCompute(x, y, z);
}

/* A commit takes one dispatch more for its count, a read-back and an upload none. */
static void test_what_counting_costs(void)
{
    float values[16] = {0};
    struct copying c = begin_denied();
    GOOD(record(&c));
    device->gl.DispatchCompute = count_dispatches;
    dispatched = 0;
    GOOD(glcnn_image_write_bytes(c.from, NULL, values, sizeof values));
    CU_ASSERT_EQUAL(dispatched, 1);
    GOOD(glcnn_command_buffer_commit(c.commands));
    CU_ASSERT_EQUAL(dispatched, 3);
    GOOD(glcnn_image_read_bytes(c.to, NULL, values, sizeof values));
    CU_ASSERT_EQUAL(dispatched, 4);
    drop_copying(&c);
    close_failing();
}

/* ---- Waiting ---- */

static int slices_a_mark, slices, fences;

/* A GPU that passes a mark every so many slices, and ends once no mark is left. */
static GLenum GL_APIENTRY pass_slowly(GLsync fence, GLbitfield flags, GLuint64 timeout)
{
    (void)fence, (void)flags;
    if (timeout == 0) {
        bool passed = slices_a_mark && slices >= slices_a_mark;
        slices = passed ? 0 : slices;
        return passed ? GL_ALREADY_SIGNALED : GL_TIMEOUT_EXPIRED;
    }
    if (slices_a_mark && !device->progress.mark_count)
        return GL_CONDITION_SATISFIED;
    slices++;
    nanosleep(&(struct timespec){0, (long)timeout}, NULL);
    return GL_TIMEOUT_EXPIRED;
}

static void test_a_gpu_that_hangs_is_given_up(void)
{
    float value;
    glcnn_buffer *buffer = NULL;
    open_failing(1);
    struct copying c = begin_copying();
    GOOD_FATAL(glcnn_buffer_create(device, 4, &buffer));
    GOOD(record(&c));
    GOOD(glcnn_command_buffer_commit(c.commands));
    slices_a_mark = 0;
    device->gl.ClientWaitSync = pass_slowly;
    REFUSED(GLCNN_DEVICE_LOST, glcnn_command_buffer_wait(c.commands));
    device->gl.ClientWaitSync = real.ClientWaitSync; /* too late */
    REFUSED(GLCNN_DEVICE_LOST, glcnn_buffer_read(buffer, 0, 4, &value));
    REFUSED(GLCNN_DEVICE_LOST, glcnn_device_wait(device));
    glcnn_buffer_destroy(&buffer);
    drop_copying(&c); /* waits no more */
    close_failing();
}

static GLenum GL_APIENTRY fail_to_wait(GLsync fence, GLbitfield flags, GLuint64 timeout)
{
    (void)fence, (void)flags, (void)timeout;
    return GL_WAIT_FAILED;
}

static void test_a_fence_that_fails_loses_the_device(void)
{
    open_failing(0);
    struct copying c = begin_copying();
    GOOD(record(&c));
    GOOD(glcnn_command_buffer_commit(c.commands));
    device->gl.ClientWaitSync = fail_to_wait;
    REFUSED(GLCNN_DEVICE_LOST, glcnn_command_buffer_wait(c.commands));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "fence failed"));
    device->gl.ClientWaitSync = real.ClientWaitSync;
    REFUSED(GLCNN_DEVICE_LOST, glcnn_command_buffer_wait(c.commands));
    drop_copying(&c);
    close_failing();
}

/* Whether each fence had passed, waited for, when it was given up. */
static GLsync passed_fence;
static int given_up, given_up_early;

static GLenum GL_APIENTRY note_wait(GLsync fence, GLbitfield flags, GLuint64 timeout)
{
    GLenum result = real.ClientWaitSync(fence, flags, timeout);
    if (result == GL_ALREADY_SIGNALED || result == GL_CONDITION_SATISFIED)
        passed_fence = fence;
    return result;
}

static void GL_APIENTRY note_deletion(GLsync fence)
{
    given_up++;
    given_up_early += fence != passed_fence;
    real.DeleteSync(fence);
}

static void test_destruction_waits_for_a_commit(void)
{
    open_failing(0);
    struct copying c = begin_copying();
    GOOD(record(&c));
    GOOD(glcnn_command_buffer_commit(c.commands));
    passed_fence = NULL;
    given_up = given_up_early = 0;
    device->gl.ClientWaitSync = note_wait;
    device->gl.DeleteSync = note_deletion;
    glcnn_command_buffer_destroy(&c.commands);
    CU_ASSERT_EQUAL(given_up, 1);
    CU_ASSERT_EQUAL(given_up_early, 0);
    CU_ASSERT_TRUE(images_equal(c.to, c.from));
    drop_copying(&c);
    close_failing();
}

static void test_every_wait_has_its_deadline(void)
{
    float value;
    glcnn_buffer *buffer = NULL;
    slices_a_mark = 0;
    for (int i = 0; i < 2; i++) {
        open_failing(1);
        struct copying c = begin_copying();
        GOOD_FATAL(glcnn_buffer_create(device, 64, &buffer));
        GOOD(glcnn_image_encode_read(c.commands, c.from, NULL, buffer, 0));
        GOOD(glcnn_command_buffer_commit(c.commands));
        device->gl.ClientWaitSync = pass_slowly;
        REFUSED(GLCNN_DEVICE_LOST,
                i ? glcnn_device_wait(device) : glcnn_buffer_read(buffer, 0, 4, &value));
        glcnn_buffer_destroy(&buffer);
        drop_copying(&c);
        close_failing();
    }
}

static void test_progress_renews_the_deadline(void)
{
    open_failing(1);
    slices = slices_a_mark = 0; /* no mark passes yet */
    device->gl.ClientWaitSync = pass_slowly;
    for (int i = 0; i < 5; i++)
        GOOD(fence_count(device, (uint64_t)1 << 30, "test"));
    CU_ASSERT_EQUAL(device->progress.mark_count, 5);
    slices_a_mark = 4; /* of ten that a second has: together twice the deadline */
    GOOD(glcnn_device_wait(device));
    CU_ASSERT_EQUAL(device->progress.mark_count, 0);
    close_failing();
}

static GLsync GL_APIENTRY count_fence(GLenum condition, GLbitfield flags)
{
    fences++;
    return real.FenceSync(condition, flags);
}

static void GL_APIENTRY count_deletion(GLsync fence)
{
    fences--;
    real.DeleteSync(fence);
}

static void test_marks_stay_few(void)
{
    open_failing(0);
    fences = 0;
    slices_a_mark = 0;
    device->gl.FenceSync = count_fence;
    device->gl.DeleteSync = count_deletion;
    device->gl.ClientWaitSync = pass_slowly;
    for (int i = 0; i < 1000; i++) {
        GOOD(fence_count(device, (uint64_t)1 << 29, "test"));
        CU_ASSERT_TRUE(device->progress.mark_count <= MARKS);
        CU_ASSERT_EQUAL((size_t)fences, device->progress.mark_count);
    }
    CU_ASSERT_TRUE(device->progress.mark_count >= MARKS / 2);
    device->gl.ClientWaitSync = real.ClientWaitSync;
    glcnn_device_destroy(&device);
    CU_ASSERT_EQUAL(fences, 0);
}

static int waits; /* that may take time */

static GLenum GL_APIENTRY count_waits(GLsync fence, GLbitfield flags, GLuint64 timeout)
{
    waits += timeout > 0;
    return real.ClientWaitSync(fence, flags, timeout);
}

static GLenum GL_APIENTRY never_pass(GLsync fence, GLbitfield flags, GLuint64 timeout)
{
    (void)fence, (void)flags;
    waits += timeout > 0;
    return GL_TIMEOUT_EXPIRED;
}

/* Whether the commit before was waited for. */
static bool has_waited(void)
{
    bool has = waits > 0;
    waits = 0;
    return has;
}

static void test_which_calls_wait(void)
{
    open_failing(0);
    struct copying c = begin_copying();
    waits = 0;
    device->gl.ClientWaitSync = count_waits;
    GOOD(record(&c));
    GOOD(glcnn_command_buffer_commit(c.commands));
    CU_ASSERT_FALSE(has_waited());
    device->gl.ClientWaitSync = never_pass;
    CU_ASSERT_FALSE(glcnn_command_buffer_is_complete(c.commands));
    CU_ASSERT_FALSE(has_waited());
    device->gl.ClientWaitSync = count_waits;
    GOOD(glcnn_command_buffer_wait(c.commands));
    CU_ASSERT_TRUE(has_waited());
    CU_ASSERT_TRUE(glcnn_command_buffer_is_complete(c.commands));
    CU_ASSERT_FALSE(has_waited());
    GOOD(glcnn_command_buffer_commit(c.commands));
    GOOD(glcnn_device_wait(device));
    CU_ASSERT_TRUE(has_waited());
    GOOD(glcnn_command_buffer_commit(c.commands));
    glcnn_device_destroy(&device);
    CU_ASSERT_TRUE(has_waited());
    drop_copying(&c);
}

/* A commit behind itself has no mark of its own: all are there by the last. What another commits
 * comes behind a mark, so that nobody waits for more than he asked for and a small pass. */
static void test_commits_in_a_row_share_a_mark(void)
{
    open_failing(0);
    struct copying a = begin_copying(), b = begin_copying();
    GOOD(record(&a));
    GOOD(record(&b));
    GOOD(record(&b)); /* two passes are not small */
    GOOD(glcnn_device_wait(device));
    fences = 0;
    device->gl.FenceSync = count_fence;
    device->gl.ClientWaitSync = never_pass; /* nor is any known to have passed */
    for (int i = 0; i < 4; i++)
        GOOD(glcnn_command_buffer_commit(a.commands));
    CU_ASSERT_EQUAL(fences, 1);
    GOOD(glcnn_command_buffer_commit(b.commands));
    CU_ASSERT_EQUAL(fences, 3);
    CU_ASSERT_EQUAL(device->progress.marks[1].serial, a.commands->last_serial);
    GOOD(glcnn_command_buffer_commit(b.commands));
    CU_ASSERT_FALSE(glcnn_command_buffer_is_complete(b.commands)); /* asks, and so there is one */
    CU_ASSERT_FALSE(glcnn_command_buffer_is_complete(b.commands));
    CU_ASSERT_EQUAL(fences, 4);
    device->gl.ClientWaitSync = real.ClientWaitSync;
    GOOD(glcnn_command_buffer_commit(b.commands));
    GOOD(glcnn_command_buffer_wait(b.commands));
    CU_ASSERT_EQUAL(fences, 5);
    GOOD(glcnn_command_buffer_commit(b.commands)); /* what has finished is no more in a row */
    CU_ASSERT_EQUAL(fences, 6);
    end_copying(&a);
    end_copying(&b);
    close_failing();
}

/* A wait for the last of them all must see progress. */
static void test_not_all_commits_in_a_row_share_a_mark(void)
{
    open_failing(0);
    struct copying a = begin_copying();
    GOOD(record(&a));
    GOOD(glcnn_device_wait(device));
    fences = 0;
    device->gl.FenceSync = count_fence;
    device->gl.ClientWaitSync = never_pass;
    for (int i = 0; i < 1 + 2 * 64; i++)
        GOOD(glcnn_command_buffer_commit(a.commands));
    CU_ASSERT_EQUAL(fences, 3);
    device->gl.ClientWaitSync = real.ClientWaitSync;
    end_copying(&a);
    close_failing();
}

/* ---- What is told ---- */

static char logged[512];
static void keep_line(void *user, glcnn_log_level level, const char *text)
{
    (void)user;
    if (level == GLCNN_LOG_ERROR)
        snprintf(logged, sizeof logged, "%s", text);
}

/* The log has the message of the device, which stays until the next failure. */
static void test_a_failure_is_logged_as_it_is_told(void)
{
    const struct glcnn_device_parameters parameters = {.log = keep_line};
    glcnn_buffer *buffer = NULL;
    GOOD_FATAL(glcnn_device_create(&parameters, &device));
    CU_ASSERT_STRING_EQUAL(glcnn_device_error(device), "");
    logged[0] = 0;
    GOOD(glcnn_buffer_create(device, 4, &buffer));
    CU_ASSERT_STRING_EQUAL(logged, "");
    CU_ASSERT_EQUAL(glcnn_buffer_write(buffer, 0, 8, logged), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_TRUE(strlen(logged) > 10);
    CU_ASSERT_STRING_EQUAL(glcnn_device_error(device), logged);
    GOOD(glcnn_buffer_write(buffer, 0, 4, logged));
    CU_ASSERT_STRING_EQUAL(glcnn_device_error(device), logged);
    glcnn_buffer_destroy(&buffer);
    glcnn_device_destroy(&device);
}

static void test_times_that_are_not_given(void)
{
    const struct glcnn_device_parameters given = {.wait_seconds = 7, .compile_seconds = 0.5F};
    open_failing(0);
    CU_ASSERT_EQUAL(device->progress.patience, 300);
    CU_ASSERT_EQUAL(device->compilation.limit, 10);
    close_failing();
    GOOD_FATAL(glcnn_device_create(&given, &device));
    CU_ASSERT_EQUAL(device->progress.patience, 7);
    CU_ASSERT_EQUAL(device->compilation.limit, 0.5F);
    glcnn_device_destroy(&device);
}

/* ---- Threads ---- */

struct seen {
    glcnn_status status;
    char message[256];
};

static void *use_unasked(void *data)
{
    struct seen *seen = data;
    glcnn_buffer *buffer = NULL;
    seen->status = glcnn_buffer_create(device, 4, &buffer);
    snprintf(seen->message, sizeof seen->message, "%s", glcnn_device_error(device));
    return NULL;
}

static struct seen seen_elsewhere(void)
{
    struct seen seen = {GLCNN_SUCCESS, ""};
    pthread_t thread;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, use_unasked, &seen), 0);
    CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
    return seen;
}

static void test_a_refused_thread_keeps_its_message_to_itself(void)
{
    open_failing(0);
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_buffer_create(device, 4, NULL));
    char mine[256];
    snprintf(mine, sizeof mine, "%s", glcnn_device_error(device));
    struct seen seen = seen_elsewhere();
    CU_ASSERT_EQUAL(seen.status, GLCNN_INVALID_STATE);
    CU_ASSERT_PTR_NOT_NULL(strstr(seen.message, "another thread"));
    CU_ASSERT_STRING_EQUAL(glcnn_device_error(device), mine);
    GOOD(glcnn_device_hand_over(device));
    CU_ASSERT_PTR_NOT_NULL(strstr(seen_elsewhere().message, "no thread"));
    GOOD(glcnn_device_acquire(device));
    close_failing();
}

static void test_a_destroyed_device_is_not_acquired(void)
{
    for (int released = 0; released < 2; released++) {
        open_failing(0);
        glcnn_device *old = device;
        glcnn_buffer *buffer = NULL;
        GOOD_FATAL(glcnn_buffer_create(device, 4, &buffer));
        if (released)
            GOOD(glcnn_device_hand_over(device));
        glcnn_device_destroy(&device);
        REFUSED_ON(old, GLCNN_INVALID_STATE, glcnn_device_acquire(old));
        REFUSED_ON(old, GLCNN_INVALID_STATE, glcnn_device_hand_over(old));
        REFUSED_ON(old, GLCNN_INVALID_STATE, glcnn_device_wait(old));
        CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(old), "destroyed"));
        glcnn_buffer_destroy(&buffer);
    }
}

/* ---- Processes ---- */

enum { CHILD_USED = 1, CHILD_UNTOLD = 2, CHILD_OPENED = 4, CHILD_LISTED = 8 };

/* In a forked process: what went another way than it should. */
static int use_in_child(struct copying *c)
{
    int wrong = 0;
    char process[32];
    glcnn_device *own = NULL;
    struct glcnn_device_candidate candidates[8];
    float values[16];
    snprintf(process, sizeof process, "process %ld", (long)getppid());
    if (glcnn_image_read_bytes(c->from, NULL, values, sizeof values) != GLCNN_INVALID_STATE ||
        glcnn_command_buffer_commit(c->commands) != GLCNN_INVALID_STATE ||
        glcnn_device_wait(device) != GLCNN_INVALID_STATE ||
        glcnn_device_acquire(device) != GLCNN_INVALID_STATE)
        wrong |= CHILD_USED;
    if (!strstr(glcnn_device_error(device), process))
        wrong |= CHILD_UNTOLD;
    if (glcnn_device_create(NULL, &own) != GLCNN_INVALID_STATE || own)
        wrong |= CHILD_OPENED;
    size_t count = glcnn_device_list(candidates, 8);
    for (size_t i = 0; i < count && i < 8; i++)
        if (candidates[i].usable || !strstr(candidates[i].detail, process))
            wrong |= CHILD_LISTED;
    glcnn_command_buffer_destroy(&c->commands);
    glcnn_kernel_destroy(&c->kernel);
    glcnn_image_destroy(&c->from);
    glcnn_image_destroy(&c->to);
    glcnn_device_destroy(&device);
    return wrong;
}

static void test_a_forked_process_is_refused(void)
{
    int status = -1;
    open_failing(0);
    struct copying c = begin_copying();
    GOOD(record(&c));
    GOOD(glcnn_command_buffer_commit(c.commands));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(60); /* a hang ends here */
        _exit(use_in_child(&c));
    }
    CU_ASSERT_EQUAL_FATAL(waitpid(child, &status, 0), child);
    CU_ASSERT_EQUAL(status, 0);
    end_copying(&c); /* the parent is none the worse */
    close_failing();
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_no_more_programs),
        UNIT_TEST(test_no_memory_at_commit),
        UNIT_TEST(test_no_memory_at_a_longer_commit),
        UNIT_TEST(test_a_failed_bind_spares_other_buffers),
        UNIT_TEST(test_no_memory_for_a_fence),
        UNIT_TEST(test_never_memory_for_a_fence),
        UNIT_TEST(test_a_vector_that_cannot_be_filled_is_not_there),
        UNIT_TEST(test_why_there_is_no_vector),
        UNIT_TEST(test_a_step_moves_once_however_often_it_is_tried),
        UNIT_TEST(test_the_first_error_behind_many_warnings),
        UNIT_TEST(test_a_context_lost_while_compiling),
        UNIT_TEST(test_a_commit_tells_its_errors),
        UNIT_TEST(test_a_lost_device_stays_lost),
        UNIT_TEST(test_a_reset_without_an_error_is_asked_for),
        UNIT_TEST(test_a_reset_that_is_told_once_is_kept),
        UNIT_TEST(test_a_reset_that_no_driver_tells_is_counted),
        UNIT_TEST(test_commits_in_flight_are_not_missed),
        UNIT_TEST(test_passes_that_a_driver_drops_are_missed),
        UNIT_TEST(test_what_counting_costs),
        UNIT_TEST(test_a_gpu_that_hangs_is_given_up),
        UNIT_TEST(test_a_fence_that_fails_loses_the_device),
        UNIT_TEST(test_destruction_waits_for_a_commit),
        UNIT_TEST(test_every_wait_has_its_deadline),
        UNIT_TEST(test_progress_renews_the_deadline),
        UNIT_TEST(test_marks_stay_few),
        UNIT_TEST(test_which_calls_wait),
        UNIT_TEST(test_commits_in_a_row_share_a_mark),
        UNIT_TEST(test_not_all_commits_in_a_row_share_a_mark),
        UNIT_TEST(test_a_failure_is_logged_as_it_is_told),
        UNIT_TEST(test_times_that_are_not_given),
        UNIT_TEST(test_a_refused_thread_keeps_its_message_to_itself),
        UNIT_TEST(test_a_destroyed_device_is_not_acquired),
        UNIT_TEST(test_a_forked_process_is_refused),
        CU_TEST_INFO_NULL,
    };
    return unit_run("recovery", tests, argc, argv);
}
