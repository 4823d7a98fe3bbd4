/* The registry as tools, bindings and documents see it. Tables are built on first use, and
 * kept. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "encode/kernel.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct glcnn_kernel_info *infos; /* never changed once it is there */

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

static struct glcnn_parameter_info info_of(const struct parameter *row)
{
    return (struct glcnn_parameter_info){.name = row->name,
                                         .text = row->text,
                                         .type = public_type(row),
                                         .default_value = row->default_value,
                                         .minimum = row->minimum,
                                         .maximum = parameter_maximum(row),
                                         .value_names = row->value_names};
}

static bool add_parameters(struct glcnn_kernel_info *info, const struct glcnn_descriptor *d)
{
    const struct parameter *tables[MAX_TABLES];
    property_tables(d, tables);
    size_t count = count_rows(d->parameters);
    for (size_t t = 0; tables[t]; t++)
        count += count_rows(tables[t]);
    struct glcnn_parameter_info *rows = calloc(count + 1, sizeof *rows);
    if (!rows)
        return false;
    size_t at = 0;
    for (const struct parameter *row = d->parameters; row && row->name; row++)
        rows[at++] = info_of(row);
    for (size_t t = 0; tables[t]; t++)
        for (const struct parameter *row = tables[t]; row->name; row++, at++) {
            rows[at] = info_of(row);
            if (parameter_use(d, row->name) == PARAMETER_IGNORES)
                rows[at].text = "has no effect: this kernel does not read it";
        }
    info->parameters = rows;
    info->parameter_count = at;
    return true;
}

static bool add_arguments(struct glcnn_kernel_info *info, const struct glcnn_descriptor *d)
{
    struct glcnn_argument_info *rows = calloc(MAX_ARGUMENTS, sizeof *rows);
    if (!rows)
        return false;
    for (size_t i = 0; i < MAX_ARGUMENTS && d->arguments[i].name; i++) {
        const struct argument *a = &d->arguments[i];
        rows[i] = (struct glcnn_argument_info){a->name,
                                               argument_is_image(a),
                                               a->input,
                                               a->output,
                                               a->optional || descriptor_filler(d, a),
                                               argument_is_float32(a),
                                               a->constant};
        info->argument_count = i + 1;
    }
    info->arguments = rows;
    return true;
}

/* The names of all rows, and how many there are; `names` may be NULL. */
static size_t name_implementations(const struct glcnn_descriptor *d, const char **names)
{
    size_t count = 0;
    const struct implementation *row;
    for (const struct implementation_list *const *list = d->implementations; list && *list;
         list++) {
        struct implementation_walk walk = implementation_walk_of(*list);
        for (; (row = implementation_next(&walk)); count++)
            if (names)
                names[count] = row->name;
    }
    return count;
}

static bool add_implementations(struct glcnn_kernel_info *info, const struct glcnn_descriptor *d)
{
    const char **names = calloc(name_implementations(d, NULL) + 1, sizeof *names);
    if (names)
        name_implementations(d, names);
    info->implementations = names;
    return names;
}

static void free_tables(struct glcnn_kernel_info *tables, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free((void *)(uintptr_t)tables[i].arguments);
        free((void *)(uintptr_t)tables[i].parameters);
        free((void *)(uintptr_t)tables[i].implementations);
    }
    free(tables);
}

/* All tables, or none without the memory for all. */
static struct glcnn_kernel_info *build(size_t count)
{
    struct glcnn_kernel_info *tables = calloc(count + 1, sizeof *tables);
    bool good = tables;
    for (size_t i = 0; i < count && good; i++) {
        const struct glcnn_descriptor *d = glcnn_registry[i];
        tables[i] = (struct glcnn_kernel_info){.name = d->name,
                                               .mps_class = d->mps_class,
                                               .text = d->text,
                                               .gradient = d->gradient,
                                               .without_gradient = descriptor_without_gradient(d),
                                               .is_random = d->flags & DRAWS_RANDOM,
                                               .is_transposed = d->flags & IS_BACKWARDS};
        good = add_arguments(&tables[i], d) && add_parameters(&tables[i], d) &&
               add_implementations(&tables[i], d);
    }
    if (good || !tables)
        return tables;
    free_tables(tables, count);
    return NULL;
}

size_t glcnn_kernel_count(void)
{
    size_t count = 0;
    while (glcnn_registry[count])
        count++;
    pthread_mutex_lock(&lock);
    if (!infos)
        infos = build(count);
    bool good = infos;
    pthread_mutex_unlock(&lock);
    return good ? count : 0;
}

const struct glcnn_kernel_info *glcnn_kernel_info_at(size_t index)
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
