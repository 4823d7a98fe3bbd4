/* Names to rows, and rows of weights from one network to another. */
#include "class_match.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Names ---- */

static uint32_t names_of_row(const struct task *task)
{
    return task->row_names ? task->row_names : 1;
}

uint32_t class_rows(const struct form *form)
{
    return form->classes / names_of_row(task_of(form));
}

/* "0", "1", "2" ..: what an imported network has where nobody named its classes. */
static bool are_numbered(const char *const *names, uint32_t count)
{
    char number[16];
    for (uint32_t i = 0; i < count; i++) {
        snprintf(number, sizeof number, "%u", i);
        if (strcmp(names[i], number) != 0)
            return false;
    }
    return true;
}

static void number_rows(struct class_match *m)
{
    for (uint32_t i = 0; i < m->count; i++)
        m->rows[i] = i;
    m->kept = m->count;
    m->is_same = m->is_numbered = true;
}

/* The network's row whose names, `each` of them, are those at `found`, in their order. */
static uint32_t row_of(const uint32_t *found, uint32_t each)
{
    uint32_t i = 0;
    while (i < each && found[i] != NAME_UNMATCHED && found[i] % each == i &&
           found[i] / each == found[0] / each)
        i++;
    return i == each ? found[0] / each : NAME_UNMATCHED;
}

bool class_match_make(const struct task *task, const char *const *earlier, uint32_t earlier_count,
                      const char *const *names, uint32_t count, struct class_match *m)
{
    const uint32_t each = names_of_row(task);
    *m = (struct class_match){.count = count / each, .earlier_count = earlier_count / each};
    m->rows = calloc((size_t)count + 1, sizeof *m->rows);
    if (!m->rows || !names_match(earlier, earlier_count, names, count, m->rows)) {
        class_match_free(m);
        return false;
    }
    m->is_same = m->count == m->earlier_count;
    for (uint32_t i = 0; i < m->count; i++) {
        m->rows[i] = row_of(m->rows + (size_t)i * each, each);
        m->kept += m->rows[i] != NAME_UNMATCHED;
        m->is_same = m->is_same && m->rows[i] == i;
    }
    if (m->kept == 0 && m->count == m->earlier_count && are_numbered(earlier, earlier_count))
        number_rows(m);
    return true;
}

void class_match_free(struct class_match *match)
{
    free(match->rows);
    *match = (struct class_match){.rows = NULL};
}

bool class_match_is_order(const struct class_match *m)
{
    return !m->is_same && m->kept == m->count && m->count == m->earlier_count;
}

/* ---- Words ---- */

#define NAMED 4 /* of a list */

struct list {
    char text[160];
    uint32_t count;
};

static void add_name(struct list *list, const char *name)
{
    const size_t used = strlen(list->text);
    if (list->count < NAMED)
        snprintf(list->text + used, sizeof list->text - used, "%s%.30s", used ? ", " : "", name);
    else if (list->count == NAMED)
        snprintf(list->text + used, sizeof list->text - used, " ..");
    list->count++;
}

static void add_list(char text[CLASS_MATCH_TEXT], const struct list *list, const char *one,
                     const char *several)
{
    const size_t used = strlen(text);
    if (list->count > 0)
        snprintf(text + used, CLASS_MATCH_TEXT - used, "%s%u %s (%s)", used ? ", " : "",
                 list->count, list->count == 1 ? one : several, list->text);
}

void class_match_describe(const struct class_match *m, const struct task *task,
                          const char *const *earlier, const char *const *names,
                          char text[CLASS_MATCH_TEXT])
{
    const uint32_t each = names_of_row(task);
    struct list kept = {{0}}, new = {{0}}, gone = {{0}};
    for (uint32_t i = 0; i < m->count; i++)
        add_name(m->rows[i] == NAME_UNMATCHED ? &new : &kept, names[(size_t)i * each]);
    for (uint32_t k = 0; k < m->earlier_count; k++) {
        uint32_t i = 0;
        while (i < m->count && m->rows[i] != k)
            i++;
        if (i == m->count)
            add_name(&gone, earlier[(size_t)k * each]);
    }
    *text = 0;
    add_list(text, &kept, "row stays", "rows stay");
    add_list(text, &new, "row is new", "rows are new");
    add_list(text, &gone, "row is gone", "rows are gone");
}

/* ---- Layers ---- */

size_t class_layers(const struct class_head *head, glcnn_filter_node *layers[CLASS_LAYERS_MAX])
{
    size_t count = 0;
    glcnn_filter_node *filter;
    const char *const label = head->task->class_layers;
    if (!label) {
        layers[0] = head->last;
        return layers[0] ? 1 : 0;
    }
    for (size_t i = 0;
         (filter = glcnn_network_filter(head->network, i)) != NULL && count < CLASS_LAYERS_MAX; i++)
        if (strncmp(glcnn_filter_node_label(filter), label, strlen(label)) == 0)
            layers[count++] = filter;
    return count;
}

static const char *const vectors[] = {"weights", "biases"};
enum { VECTORS = sizeof vectors / sizeof *vectors };

struct class_rows {
    size_t count; /* of layers */
    size_t sizes[CLASS_LAYERS_MAX][VECTORS];
    float *values[CLASS_LAYERS_MAX][VECTORS]; /* NULL: the layer has no such vector */
};

void class_rows_free(struct class_rows *rows)
{
    for (size_t i = 0; rows && i < rows->count; i++)
        for (size_t v = 0; v < VECTORS; v++)
            free(rows->values[i][v]);
    free(rows);
}

static bool read_vector(glcnn_filter_node *layer, const char *name, size_t *size, float **values)
{
    glcnn_buffer *vector = glcnn_kernel_vector(glcnn_filter_node_kernel(layer), name);
    *size = vector ? glcnn_buffer_size(vector) / sizeof **values : 0;
    *values = *size > 0 ? malloc(*size * sizeof **values) : NULL;
    return *size == 0 || (*values && glcnn_buffer_read(vector, 0, *size * sizeof **values,
                                                       *values) == GLCNN_SUCCESS);
}

struct class_rows *class_rows_read(const struct class_head *head)
{
    glcnn_filter_node *layers[CLASS_LAYERS_MAX];
    struct class_rows *rows = calloc(1, sizeof *rows);
    bool good = rows;
    if (good)
        rows->count = class_layers(head, layers);
    for (size_t i = 0; good && i < rows->count; i++)
        for (size_t v = 0; good && v < VECTORS; v++)
            good = read_vector(layers[i], vectors[v], &rows->sizes[i][v], &rows->values[i][v]);
    if (good)
        return rows;
    class_rows_free(rows);
    return NULL;
}

/* One vector: its rows lie behind each other. */
static bool take_vector(glcnn_filter_node *layer, size_t v, const struct class_match *m,
                        float *fresh, size_t size, const float *earlier, size_t earlier_size)
{
    if (m->count == 0 || m->earlier_count == 0 || size % m->count != 0 ||
        earlier_size % m->earlier_count != 0 || size / m->count != earlier_size / m->earlier_count)
        return false;
    const size_t each = size / m->count;
    for (uint32_t i = 0; i < m->count && each > 0; i++)
        if (m->rows[i] != NAME_UNMATCHED)
            memcpy(fresh + i * each, earlier + m->rows[i] * each, each * sizeof *fresh);
    return each == 0 || glcnn_kernel_set_vector(glcnn_filter_node_kernel(layer), vectors[v], fresh,
                                                size) == GLCNN_SUCCESS;
}

bool class_rows_take(const struct class_head *head, const struct class_match *match,
                     const struct class_rows *fresh, const struct class_rows *earlier)
{
    glcnn_filter_node *layers[CLASS_LAYERS_MAX];
    bool good = class_layers(head, layers) == fresh->count && fresh->count == earlier->count &&
                fresh->count > 0;
    for (size_t i = 0; good && i < fresh->count; i++)
        for (size_t v = 0; good && v < VECTORS; v++)
            good = take_vector(layers[i], v, match, fresh->values[i][v], fresh->sizes[i][v],
                               earlier->values[i][v], earlier->sizes[i][v]);
    return good;
}

/* ---- Units ---- */

#define OTHER 10

bool unit_is_other(const struct unit *learned, const struct unit *data)
{
    const double larger = fmax(learned->deviation, data->deviation),
                 smaller = fmin(learned->deviation, data->deviation),
                 way = fabs(learned->mean - data->mean);
    const bool is_part = data->deviation < learned->deviation && way < learned->deviation;
    return !is_part && (larger >= OTHER * smaller || way >= OTHER * larger);
}
