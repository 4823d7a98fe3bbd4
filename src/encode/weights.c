/* Weights between kernels and states, in the order of a command buffer: export and reload. What is
 * copied goes by name, those of value_vectors. Lengths are checked before anything is made. */
#include <math.h>
#include <string.h>

#include "encode/data_source.h"
#include "encode/kernel.h"
#include "encode/state.h"

/* ---- Values ---- */

#define LARGEST 1e19f /* its square is float32 */

#define MOST_INDICES 16777216 /* float32 holds whole numbers up to here */

static size_t wrong_index(const float *values, size_t count)
{
    size_t i = 0;
    while (i < count && values[i] >= 0 && values[i] < MOST_INDICES &&
           values[i] == floorf(values[i]))
        i++;
    return i;
}

size_t glcnn_kernel_wrong_value(const char *vector, const float *values, size_t count,
                                const char **expected)
{
    const char *unused;
    if (vector && strcmp(vector, "indices") == 0) {
        *(expected ? expected : &unused) = "expected whole numbers in 0 .. 16777215";
        return wrong_index(values, count);
    }
    const bool is_variance = vector && strcmp(vector, "variance") == 0;
    const float largest = vector ? LARGEST : INFINITY;
    size_t i = 0;
    while (i < count && isfinite(values[i]) && fabsf(values[i]) <= largest &&
           !(is_variance && values[i] < 0))
        i++;
    *(expected ? expected : &unused) = i == count || !isfinite(values[i]) ? "expected numbers"
                                       : is_variance && values[i] >= -LARGEST && values[i] < 0
                                           ? "a variance is not below 0"
                                           : "expected numbers in -1e19 .. 1e19";
    return i;
}

/* Vectors that are to be copied one to one. */
struct copies {
    struct vector_view from[STATE_VECTORS], to[STATE_VECTORS];
    size_t count;
};

static void add_copy(struct copies *copies, struct glcnn_buffer *from, struct glcnn_buffer *to)
{
    copies->from[copies->count] = (struct vector_view){from, 0, from->size / 4};
    copies->to[copies->count++] = (struct vector_view){to, 0, to->size / 4};
}

static glcnn_status record(struct glcnn_command_buffer *command_buffer, const struct copies *copies)
{
    struct plan plan;
    plan_begin(&plan, command_buffer);
    for (size_t i = 0; i < copies->count; i++)
        plan_copy_vector(&plan, &copies->from[i], &copies->to[i]);
    return plan_end(&plan);
}

static glcnn_status check_handles(const struct glcnn_command_buffer *command_buffer,
                                  const struct glcnn_kernel *kernel, const void *state,
                                  const char *what)
{
    if (!kernel)
        return command_buffer ? device_fail(command_buffer->device, GLCNN_INVALID_ARGUMENT,
                                            "%s: kernel is NULL", what)
                              : GLCNN_INVALID_ARGUMENT;
    if (!command_buffer || !state)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT, "%s: %s: %s is NULL",
                           kernel_display_name(kernel), what, state ? "command_buffer" : "state");
    if (command_buffer->device != kernel->device)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: %s: the command buffer is another device's",
                           kernel_display_name(kernel), what);
    return device_enter(kernel->device);
}

/* ---- Export ---- */

static glcnn_status export_vector(struct glcnn_kernel *kernel, struct glcnn_state *state, int index,
                                  struct copies *copies)
{
    struct glcnn_buffer *own;
    struct state_vector *vector;
    const char *name = kernel->descriptor->arguments[index].name;
    const struct glcnn_data_source *source = glcnn_kernel_data_source(kernel);
    size_t length =
        kernel_vector_length(kernel, (size_t)index, source ? source->feature_channels : 0);
    if (!length)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: export: the length of %s is not known yet; set it first, or the "
                           "kernel's numbers of channels",
                           kernel_display_name(kernel), name);
    glcnn_status status = kernel_vector(kernel, (size_t)index, length, &own);
    if (status == GLCNN_SUCCESS)
        status = state_vector(state, name, length, false, &vector);
    if (status != GLCNN_SUCCESS)
        return status;
    vector->filled = true;
    add_copy(copies, own, vector->buffer);
    return GLCNN_SUCCESS;
}

static glcnn_status export_all(struct glcnn_command_buffer *command_buffer,
                               struct glcnn_kernel *kernel, struct glcnn_state *state)
{
    struct copies copies = {.count = 0};
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; value_vectors[i] && status == GLCNN_SUCCESS; i++) {
        int index = value_argument(kernel, i);
        if (index >= 0)
            status = export_vector(kernel, state, index, &copies);
    }
    if (status == GLCNN_SUCCESS && copies.count == 0)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: export: the kernel owns no weights, gamma or statistics",
                           kernel_display_name(kernel));
    return status == GLCNN_SUCCESS ? record(command_buffer, &copies) : status;
}

glcnn_status glcnn_kernel_encode_export_state(glcnn_command_buffer *command_buffer,
                                              glcnn_kernel *kernel, glcnn_state **state)
{
    if (state)
        *state = NULL;
    glcnn_status status = check_handles(command_buffer, kernel, state, "export");
    if (status != GLCNN_SUCCESS)
        return status;
    bool ordinary = kernel->properties.result_is_ordinary;
    status = state_create(kernel->device, ordinary ? NULL : command_buffer, state);
    if (status == GLCNN_SUCCESS)
        status = export_all(command_buffer, kernel, *state);
    if (status != GLCNN_SUCCESS)
        glcnn_state_destroy(state);
    return status;
}

/* ---- Reload ---- */

/* Calls `use` for each vector that the state has filled and the kernel has too. */
typedef glcnn_status (*use_vector)(struct glcnn_kernel *kernel, int index,
                                   struct state_vector *vector, struct copies *copies);

static glcnn_status for_each_common(struct glcnn_kernel *kernel, struct glcnn_state *state,
                                    use_vector use, struct copies *copies)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; value_vectors[i] && status == GLCNN_SUCCESS; i++) {
        int index = value_argument(kernel, i);
        struct state_vector *vector = state_filled_vector(state, value_vectors[i]);
        if (index >= 0 && vector)
            status = use(kernel, index, vector, copies);
    }
    return status;
}

static glcnn_status check_vector(struct glcnn_kernel *kernel, int index,
                                 struct state_vector *vector, struct copies *copies)
{
    size_t length = kernel_vector_length(kernel, (size_t)index, 0);
    copies->count++;
    if (!length || vector->buffer->size == length * 4)
        return GLCNN_SUCCESS;
    return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                       "%s: reload: %s has %zu elements; the state's has %zu",
                       kernel_display_name(kernel), vector->name, length, vector->buffer->size / 4);
}

/* What the state borrows of the kernel is its own already. */
static glcnn_status reload_vector(struct glcnn_kernel *kernel, int index,
                                  struct state_vector *vector, struct copies *copies)
{
    struct glcnn_buffer *own;
    glcnn_status status = kernel_vector(kernel, (size_t)index, vector->buffer->size / 4, &own);
    if (status == GLCNN_SUCCESS && own != vector->buffer)
        add_copy(copies, vector->buffer, own);
    return status;
}

static glcnn_status seal_vector(struct glcnn_kernel *kernel, int index, struct state_vector *vector,
                                struct copies *copies)
{
    (void)kernel;
    (void)index;
    (void)copies;
    vector->sealed = true;
    return GLCNN_SUCCESS;
}

glcnn_status glcnn_kernel_encode_reload_state(glcnn_command_buffer *command_buffer,
                                              glcnn_kernel *kernel, glcnn_state *state)
{
    struct copies common = {.count = 0}, copies = {.count = 0};
    glcnn_status status = check_handles(command_buffer, kernel, state, "reload");
    if (status == GLCNN_SUCCESS)
        status = state_check_use(state, kernel_display_name(kernel), command_buffer);
    if (status == GLCNN_SUCCESS)
        status = for_each_common(kernel, state, check_vector, &common);
    if (status == GLCNN_SUCCESS && common.count == 0)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: reload: the state has none of the kernel's weights, biases, gamma, "
                           "beta, mean and variance",
                           kernel_display_name(kernel));
    if (status == GLCNN_SUCCESS)
        status = for_each_common(kernel, state, reload_vector, &copies);
    if (status == GLCNN_SUCCESS)
        status = record(command_buffer, &copies);
    if (status != GLCNN_SUCCESS)
        return status;
    for_each_common(kernel, state, seal_vector, NULL);
    state_count_read(state);
    return GLCNN_SUCCESS;
}
