/* The registry as tools, bindings and documents see it. Tables are built once, on first use. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct glcnn_kernel_info *infos;
static size_t info_count;

static size_t count_rows(const struct parameter *rows)
{
    size_t count = 0;
    while (rows && rows[count].name)
        count++;
    return count;
}

static glcnn_parameter_type public_type(const struct parameter *row)
{
    switch (row->type) {
    case FIELD_BOOL:
        return GLCNN_PARAMETER_BOOLEAN;
    case FIELD_ENUM:
        return GLCNN_PARAMETER_ENUMERATION;
    case FIELD_FLOAT:
    case FIELD_DOUBLE:
        return GLCNN_PARAMETER_REAL;
    default:
        return GLCNN_PARAMETER_INTEGER;
    }
}

static size_t add_rows(struct glcnn_parameter_info *to, size_t at, const struct parameter *rows)
{
    for (; rows && rows->name; rows++, at++)
        to[at] = (struct glcnn_parameter_info){.name = rows->name,
                                               .text = rows->text,
                                               .type = public_type(rows),
                                               .default_value = rows->default_value,
                                               .minimum = rows->minimum,
                                               .maximum = rows->type == FIELD_BOOL ? 1
                                                                                   : rows->maximum,
                                               .value_names = rows->value_names};
    return at;
}

static void add_parameters(struct glcnn_kernel_info *info, const struct glcnn_descriptor *d)
{
    const struct parameter *tables[MAX_TABLES];
    property_tables(d, tables);
    size_t count = count_rows(d->parameters);
    for (size_t t = 0; tables[t]; t++)
        count += count_rows(tables[t]);
    struct glcnn_parameter_info *rows = calloc(count + 1, sizeof *rows);
    if (!rows)
        return;
    size_t at = add_rows(rows, 0, d->parameters);
    for (size_t t = 0; tables[t]; t++)
        at = add_rows(rows, at, tables[t]);
    info->parameters = rows;
    info->parameter_count = at;
}

static void add_arguments(struct glcnn_kernel_info *info, const struct glcnn_descriptor *d)
{
    struct glcnn_argument_info *rows = calloc(MAX_ARGUMENTS, sizeof *rows);
    if (!rows)
        return;
    for (size_t i = 0; i < MAX_ARGUMENTS && d->arguments[i].name; i++) {
        const struct argument *a = &d->arguments[i];
        rows[i] = (struct glcnn_argument_info){
            a->name,   argument_is_image(a),        a->input,
            a->output, a->optional || a->filled_by, argument_is_float32(a)};
        info->argument_count = i + 1;
    }
    info->arguments = rows;
}

static void build(void)
{
    size_t count = 0;
    while (glcnn_registry[count])
        count++;
    infos = calloc(count + 1, sizeof *infos);
    if (!infos)
        return;
    for (info_count = 0; info_count < count; info_count++) {
        const struct glcnn_descriptor *d = glcnn_registry[info_count];
        struct glcnn_kernel_info *info = &infos[info_count];
        *info = (struct glcnn_kernel_info){.name = d->name,
                                           .mps_class = d->mps_class,
                                           .text = d->text,
                                           .gradient = d->gradient,
                                           .without_gradient = d->without_gradient};
        add_arguments(info, d);
        add_parameters(info, d);
    }
}

size_t glcnn_kernel_count(void)
{
    pthread_once(&once, build);
    return info_count;
}

const struct glcnn_kernel_info *glcnn_kernel_info(size_t index)
{
    return index < glcnn_kernel_count() ? &infos[index] : NULL;
}

const struct glcnn_kernel_info *glcnn_kernel_info_by_name(const char *name)
{
    size_t count = glcnn_kernel_count();
    for (size_t i = 0; name && i < count; i++)
        if (strcmp(infos[i].name, name) == 0)
            return &infos[i];
    return NULL;
}
