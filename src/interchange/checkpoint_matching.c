/* Parameters of a file that is another network's in part, or of PyTorch: what fits is read. All is
 * looked at and converted before anything is written. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint_parameters.h"

#include <glcnn/io.h>

/* A parameter that is asked for, and what is found for it. */
struct match {
    struct parameter *parameter;
    const char *name; /* of the tensor that it takes */
    const struct checkpoint_tensor *tensor;
    char reason[2 * SHAPE_TEXT]; /* why it is skipped; "" for what is read */
    float *values;
};

struct matching {
    struct checkpoint_file file;
    struct parameters list;
    const char *path;
    const struct glcnn_checkpoint_name *names;
    size_t name_count;
    struct match *matches;
    size_t count, fitting;
    char *error;
};

/* ---- Elements ---- */

/* As .npy files have them, but for BF16, the upper half of float32. */
static const struct dtype {
    const char *name;
    uint32_t size;
    bool is_upper_half;
} dtypes[] = {{"F32", 4, false}, {"F16", 2, false}, {"F64", 8, false}, {"BF16", 2, true}};

static const struct dtype *find_dtype(const char *name)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(dtypes[i].name, name) == 0)
            return &dtypes[i];
    return NULL;
}

static void widen(const struct dtype *dtype, const uint8_t *bytes, size_t count, float *values)
{
    const struct glcnn_npy_header header = {
        .type = 'f', .element_size = dtype->size, .rank = 1, .count = count};
    if (!dtype->is_upper_half) {
        glcnn_npy_convert(bytes, &header, 0, count, values);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = (uint32_t)bytes[2 * i] << 16 | (uint32_t)bytes[2 * i + 1] << 24;
        memcpy(&values[i], &bits, sizeof bits);
    }
}

/* ---- Layouts ---- */

static bool is_transposed(const struct parameter *p)
{
    const struct glcnn_kernel_info *info = glcnn_kernel_info_by_name(glcnn_kernel_name(p->kernel));
    return info && info->is_transposed;
}

/* What PyTorch's tensor for the parameter is like. Ours is [outputs][height][width][inputs]. */
static uint32_t foreign_shape(const struct parameter *p, uint32_t rank, uint64_t shape[4])
{
    const uint64_t outputs = p->shape[0], height = p->shape[1], width = p->shape[2],
                   inputs = p->shape[3];
    if (p->rank != 4) {
        shape[0] = p->count;
        return 1;
    }
    bool turns = is_transposed(p);
    shape[0] = turns ? inputs : outputs;
    shape[1] = turns ? outputs : inputs;
    shape[2] = height;
    shape[3] = width;
    if (turns || rank != 2)
        return 4;
    shape[1] = inputs * height * width;
    return 2;
}

static void lay_out(const struct parameter *p, const float *from, float *to)
{
    const size_t outputs = (size_t)p->shape[0], height = (size_t)p->shape[1],
                 width = (size_t)p->shape[2], inputs = (size_t)p->shape[3];
    bool turns = is_transposed(p);
    for (size_t k = 0; k < outputs; k++)
        for (size_t y = 0; y < height; y++)
            for (size_t x = 0; x < width; x++)
                for (size_t c = 0; c < inputs; c++) {
                    size_t row = turns ? height - 1 - y : y, column = turns ? width - 1 - x : x;
                    size_t plane = turns ? c * outputs + k : k * inputs + c;
                    *to++ = from[(plane * height + row) * width + column];
                }
}

/* ---- Matching ---- */

/* A file tells the length of a normalisation that has not met an image; its other vectors have it
 * too. */
static void learn_length(struct matching *m, const struct match *match)
{
    uint64_t count = match->tensor->rank == 1 ? match->tensor->shape[0] : 0;
    for (size_t i = 0; i < m->list.count; i++) {
        struct parameter *p = &m->list.at[i];
        if (p->kernel == match->parameter->kernel && p->count == 0) {
            p->count = count;
            parameter_find_shape(p);
        }
    }
}

/* Leaves a reason where the tensor does not fit. */
static void compare(struct matching *m, struct match *match)
{
    const struct checkpoint_tensor *t = match->tensor;
    char found[SHAPE_TEXT], expected[SHAPE_TEXT];
    uint64_t shape[4];
    if (match->parameter->count == 0)
        learn_length(m, match);
    const struct parameter *p = match->parameter;
    uint32_t rank = m->names ? foreign_shape(p, t->rank, shape) : p->rank;
    if (!m->names)
        memcpy(shape, p->shape, sizeof shape);
    checkpoint_print_shape(found, t->shape, t->rank);
    checkpoint_print_shape(expected, shape, rank);
    if (rank != t->rank || p->count == 0 || memcmp(shape, t->shape, rank * sizeof *shape) != 0)
        snprintf(match->reason, sizeof match->reason, "it is %.100s in the file, here %.100s",
                 t->rank ? found : "one number", p->count ? expected : "of one dimension");
    else if (!find_dtype(t->dtype))
        snprintf(match->reason, sizeof match->reason, "it is of dtype %.20s", t->dtype);
}

static struct parameter *find_parameter(const struct matching *m, const char *name)
{
    for (size_t i = 0; i < m->list.count; i++)
        if (strcmp(m->list.at[i].name, name) == 0)
            return &m->list.at[i];
    return NULL;
}

static glcnn_status refuse_name(const struct matching *m, const char *name)
{
    char text[GLCNN_ERROR_LENGTH / 2];
    const char **all = calloc(m->list.count + 1, sizeof *all);
    if (!all)
        return checkpoint_no_memory(m->error);
    for (size_t i = 0; i < m->list.count; i++)
        all[i] = m->list.at[i].name;
    glcnn_suggest(name, strlen(name), all, m->list.count, text, sizeof text);
    free(all);
    return fail_with(m->error, GLCNN_INVALID_ARGUMENT, "the network has no parameter \"%.100s\"%s",
                     name, text);
}

static glcnn_status ask_for_names(struct matching *m)
{
    for (size_t i = 0; i < m->name_count; i++) {
        const struct glcnn_checkpoint_name *n = &m->names[i];
        if (!n->tensor || !n->parameter)
            return fail_with(m->error, GLCNN_INVALID_ARGUMENT, "name %zu is NULL", i);
        struct match *match = &m->matches[m->count++];
        match->name = n->tensor;
        match->parameter = find_parameter(m, n->parameter);
        if (!match->parameter)
            return refuse_name(m, n->parameter);
        for (size_t k = 0; k < i; k++)
            if (m->matches[k].parameter == match->parameter)
                return fail_with(m->error, GLCNN_INVALID_ARGUMENT,
                                 "the parameter \"%.100s\" is given two tensors", n->parameter);
    }
    return GLCNN_SUCCESS;
}

static void ask_for_all(struct matching *m)
{
    for (size_t i = 0; i < m->list.count; i++)
        if (!m->list.at[i].is_moment)
            m->matches[m->count++] =
                (struct match){.parameter = &m->list.at[i], .name = m->list.at[i].name};
}

static glcnn_status find_matches(struct matching *m)
{
    m->matches = calloc(m->list.count + m->name_count + 1, sizeof *m->matches);
    if (!m->matches)
        return checkpoint_no_memory(m->error);
    glcnn_status status = GLCNN_SUCCESS;
    if (m->names)
        status = ask_for_names(m);
    else
        ask_for_all(m);
    for (size_t i = 0; i < m->count && status == GLCNN_SUCCESS; i++) {
        struct match *match = &m->matches[i];
        struct checkpoint_tensor *t = checkpoint_file_find(&m->file, match->name);
        match->tensor = t;
        if (t) {
            t->is_used = true;
            compare(m, match);
        } else
            snprintf(match->reason, sizeof match->reason, "the file has no such tensor");
        m->fitting += !match->reason[0];
    }
    if (status == GLCNN_SUCCESS && m->fitting == 0)
        return fail_with(m->error, GLCNN_MALFORMED_DATA,
                         "%.200s: nothing of it fits the network: %.100s: %.200s", m->path,
                         m->count ? m->matches[0].parameter->name : "it",
                         m->count ? m->matches[0].reason : "no parameter is asked for");
    return status;
}

/* ---- Values ---- */

static glcnn_status check_values(const struct matching *m, const struct match *match)
{
    const char *expected;
    const uint64_t first = parameter_wrong_value(match->parameter, match->values, &expected);
    if (first == match->parameter->count)
        return GLCNN_SUCCESS;
    return fail_with(m->error, GLCNN_MALFORMED_DATA,
                     "%.200s: value %" PRIu64 " of tensor \"%.100s\" is %g; %s", m->path, first,
                     match->name, (double)match->values[first], expected);
}

static glcnn_status read_values(struct matching *m, struct match *match)
{
    const struct parameter *p = match->parameter;
    const size_t count = (size_t)p->count;
    uint8_t *bytes = NULL;
    float *foreign = malloc(count * sizeof *foreign);
    match->values = malloc(count * sizeof *match->values);
    glcnn_status status =
        foreign && match->values
            ? checkpoint_file_read_tensor(&m->file, m->path, match->tensor, &bytes, m->error)
            : checkpoint_no_memory(m->error);
    if (status == GLCNN_SUCCESS) {
        bool moves = m->names && p->rank == 4;
        widen(find_dtype(match->tensor->dtype), bytes, count, moves ? foreign : match->values);
        if (moves)
            lay_out(p, foreign, match->values);
        status = check_values(m, match);
    }
    free(foreign);
    free(bytes);
    return status;
}

static glcnn_status write_matches(const struct matching *m)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < m->count && status == GLCNN_SUCCESS; i++)
        if (!m->matches[i].reason[0])
            status = parameter_make(m->matches[i].parameter, m->error);
    for (size_t i = 0; i < m->count && status == GLCNN_SUCCESS; i++)
        if (!m->matches[i].reason[0])
            status = parameter_write(m->matches[i].parameter, m->matches[i].values, m->error);
    return status;
}

/* ---- All ---- */

static void tell(const struct matching *m, glcnn_checkpoint_handler handler, void *user)
{
    for (size_t i = 0; i < m->count; i++) {
        const struct match *match = &m->matches[i];
        handler(user, match->parameter->name, match->tensor ? match->name : NULL,
                match->reason[0] ? match->reason : NULL);
    }
    for (size_t i = 0; i < m->file.count; i++) {
        const struct checkpoint_tensor *t = &m->file.tensors[i];
        if (!t->is_used && !checkpoint_tensor_is_bytes(t) && !strstr(t->name, ".optimizer."))
            handler(user, NULL, t->name,
                    m->names ? "no name is given for it" : "the network has no such parameter");
    }
}

static void release(struct matching *m)
{
    for (size_t i = 0; i < m->count; i++)
        free(m->matches[i].values);
    free(m->matches);
    parameters_release(&m->list);
    checkpoint_file_close(&m->file);
}

static glcnn_status match_and_write(struct matching *m, glcnn_network *network)
{
    m->list = (struct parameters){.file = &m->file, .error = m->error};
    glcnn_status status = parameters_collect(&m->list, network);
    if (status == GLCNN_SUCCESS)
        status = find_matches(m);
    for (size_t i = 0; i < m->count && status == GLCNN_SUCCESS; i++)
        if (!m->matches[i].reason[0])
            status = read_values(m, &m->matches[i]);
    return status == GLCNN_SUCCESS ? write_matches(m) : status;
}

static glcnn_status load(struct matching *m, glcnn_network *network,
                         const struct glcnn_file_range *range, glcnn_checkpoint_handler handler,
                         void *user)
{
    glcnn_status status = checkpoint_check_arguments(network, m->path, m->error);
    if (status == GLCNN_SUCCESS)
        status = checkpoint_file_open(m->path, range, &m->file, m->error);
    if (status != GLCNN_SUCCESS)
        return status;
    status = match_and_write(m, network);
    if (status == GLCNN_SUCCESS && handler)
        tell(m, handler, user);
    release(m);
    return status;
}

glcnn_status glcnn_checkpoint_load_matching(glcnn_network *network, const char *path,
                                            const struct glcnn_checkpoint_name *names,
                                            size_t name_count, glcnn_checkpoint_handler handler,
                                            void *user, char error[GLCNN_ERROR_LENGTH])
{
    struct matching m = {
        .path = path, .names = names, .name_count = names ? name_count : 0, .error = error};
    return load(&m, network, NULL, handler, user);
}

glcnn_status glcnn_checkpoint_load_matching_from_fd(glcnn_network *network,
                                                    const struct glcnn_file_range *range,
                                                    const struct glcnn_checkpoint_name *names,
                                                    size_t name_count,
                                                    glcnn_checkpoint_handler handler, void *user,
                                                    char error[GLCNN_ERROR_LENGTH])
{
    char name[CHECKPOINT_RANGE_NAME];
    struct matching m = {.path = checkpoint_range_name(range, name),
                         .names = names,
                         .name_count = names ? name_count : 0,
                         .error = error};
    return load(&m, network, range, handler, user);
}
