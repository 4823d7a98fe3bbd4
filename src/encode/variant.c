/* The choice of a variant, by the device's traits or by name. */
#include "encode/variant.h"

#include <stdlib.h>
#include <string.h>

#include "encode/descriptor.h"
#include "encode/tune.h"
#include "record/tuning_cache.h"
#include "record/program.h"
#include "record/text.h"

/* ---- Names in GLCNN_VARIANTS ---- */

/* The name that begins `list`, and what follows it; false at the end. */
static bool next_name(const char **list, const char **name, size_t *length)
{
    *name = *list + strspn(*list, ", ");
    *length = strcspn(*name, ", ");
    *list = *name + *length;
    return *length > 0;
}

static bool is_named(const char *list, const char *row)
{
    const char *name;
    size_t length;
    while (list && next_name(&list, &name, &length))
        if (strlen(row) == length && strncmp(row, name, length) == 0)
            return true;
    return false;
}

/* ---- Choice ---- */

static bool can(const struct variant *row, const void *shape)
{
    return !row->can || row->can(shape);
}

/* Whether a row may be taken at all. */
static bool is_open(const struct glcnn_device *device, const struct variant *row, const void *shape)
{
    return can(row, shape) && row->buffers <= device->info.limits.storage_blocks &&
           !program_is_refused(device, row->name);
}

static bool suits(const struct glcnn_device_traits *traits, const struct variant *row)
{
    return row->registers <= traits->registers && row->width <= traits->width &&
           (traits->shared_memory || !row->shared_memory) &&
           (traits->slow_image_stores || !row->slow_image_stores);
}

static bool may_be_taken(const struct plan *plan, const struct variant *row, const void *shape)
{
    return suits(&plan->device->info.traits, row) && is_open(plan->device, row, shape);
}

static const struct variant *forced_row(const struct plan *plan, const struct variant *table,
                                        const void *shape)
{
    for (const struct variant *row = table; row->name; row++)
        if (is_named(plan->device->forced_variants, row->name) && is_open(plan->device, row, shape))
            return row;
    return NULL;
}

/* The first row that suits and pays, or the last. */
static const struct variant *usual_row(struct plan *plan, const struct variant *table,
                                       const void *shape)
{
    const struct glcnn_device *device = plan->device;
    const struct variant *row = table, *last = table;
    while (last[1].name)
        last++;
    for (; row != last; row++)
        if (may_be_taken(plan, row, shape) && (!row->pays || row->pays(shape)))
            return row;
    for (row = table; !can(row, shape);)
        row++;
    if (program_is_refused(device, last->name))
        plan_fail(plan, GLCNN_SHADER_ERROR,
                  "%s: the driver of %s accepts the programs of all variants, from %s to %s, and "
                  "runs none of them; use another device, or report it with what glcnn info says",
                  plan->kernel, device->info.renderer, row->name, last->name);
    return last;
}

/* ---- Choice by trials ---- */

/* Asks for a trial of the usual row and of those that suit too: all, or neighbours that are close. */
static void ask(const struct plan *plan, const struct variant *table, const void *shape,
                const struct variant *usual)
{
    struct tuned *tuned = plan->tuned;
    bool all = plan->device->tuning_cache->tuning == TUNING_FULL;
    const struct variant *before = NULL;
    tuned->rows[0] = usual;
    tuned->row_count = 1;
    for (const struct variant *row = table; row->name; row++) {
        if (!may_be_taken(plan, row, shape))
            continue;
        bool close = before && before->close && (row == usual || before == usual);
        const struct variant *other = row == usual ? before : row;
        if (!all && close && tuned->row_count < TUNED_ROWS)
            tuned->rows[tuned->row_count++] = other;
        if (all && row != usual && tuned->row_count < TUNED_ROWS)
            tuned->rows[tuned->row_count++] = row;
        before = row;
    }
    if (tuned->row_count > 1)
        tuned->table = table;
}

/* A table may be asked for several times, also about what the row that was decided for cannot do. */
static const struct variant *tuned_row(const struct plan *plan, const struct variant *table,
                                       const void *shape, const struct variant *usual)
{
    const struct tuned *tuned = plan->tuned;
    for (size_t i = 0; i < tuned->count; i++)
        if (tuned->decided[i].table == table)
            return may_be_taken(plan, tuned->decided[i].row, shape) ? tuned->decided[i].row : usual;
    if (tuned->asks && !tuned->table)
        ask(plan, table, shape, usual);
    return usual;
}

const struct variant *variant_choose(struct plan *plan, const struct variant *table,
                                     const void *shape)
{
    const struct variant *forced = forced_row(plan, table, shape);
    if (forced)
        return forced;
    const struct variant *usual = usual_row(plan, table, shape);
    return plan->tuned ? tuned_row(plan, table, shape, usual) : usual;
}

void pass_variant(struct pass *pass, const struct variant *variant)
{
    pass->variant = variant->name;
}

void plan_variant(struct plan *plan, size_t first, const struct variant *variant)
{
    for (size_t i = first; i < plan->pass_count; i++)
        pass_variant(&plan->passes[i], variant);
}

/* ---- Check of the names ---- */

/* Calls `visit` with every row of every table; a table that descriptors share comes several times.
 */
static void each_row(void (*visit)(void *user, const struct variant *row), void *user)
{
    for (size_t i = 0; glcnn_registry[i]; i++)
        for (const struct variant *const *table = glcnn_registry[i]->variants; table && *table;
             table++)
            for (const struct variant *row = *table; row->name; row++)
                visit(user, row);
}

static void add_name(void *user, const struct variant *row)
{
    struct text *names = user;
    if (!is_named(names->bytes, row->name))
        text_format(names, "%s%s", names->length ? ", " : "", row->name);
}

glcnn_status variants_check(struct glcnn_device *device)
{
    struct text names = {0};
    const char *list = device->forced_variants, *name;
    size_t length;
    glcnn_status status = GLCNN_SUCCESS;
    if (!list)
        return GLCNN_SUCCESS;
    each_row(add_name, &names);
    while (status == GLCNN_SUCCESS && next_name(&list, &name, &length)) {
        struct text one = {0};
        text_add(&one, name, length);
        if (!one.bytes || !names.bytes)
            status =
                device_fail(device, GLCNN_OUT_OF_MEMORY, "out of memory reading GLCNN_VARIANTS");
        else if (!is_named(names.bytes, one.bytes))
            status =
                device_fail(device, GLCNN_INVALID_ARGUMENT,
                            "GLCNN_VARIANTS names \"%s\"; there are %s", one.bytes, names.bytes);
        text_free(&one);
    }
    text_free(&names);
    return status;
}
