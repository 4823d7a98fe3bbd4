/* Names of a network and of data: which rows of the head stay, and that they keep their weights. */
#include "task/class_match.h"

#include "tests/fixture.h"

#define MOST 5

static uint32_t names_in(const char *const *names)
{
    uint32_t count = 0;
    while (count < MOST && names[count])
        count++;
    return count;
}

/* ---- Names ---- */

enum { NEW = -1 };

static const struct {
    const char *task, *earlier[MOST + 1], *names[MOST + 1];
    int rows[MOST];
    bool is_same, is_order, is_numbered;
    const char *text;
} rows[] = {
    {"classify",
     {"a", "b", "c"},
     {"a", "b", "c"},
     {0, 1, 2},
     true,
     false,
     false,
     "3 rows stay (a, b, c)"},
    {"detect",
     {"a", "b", "c"},
     {"c", "a", "b"},
     {2, 0, 1},
     false,
     true,
     false,
     "3 rows stay (c, a, b)"},
    {"segment",
     {"a", "b", "c"},
     {"b", "c", "z"},
     {1, 2, NEW},
     false,
     false,
     false,
     "2 rows stay (b, c), 1 row is new (z), 1 row is gone (a)"},
    {"classify",
     {"a", "b"},
     {"a", "b", "c", "d"},
     {0, 1, NEW, NEW},
     false,
     false,
     false,
     "2 rows stay (a, b), 2 rows are new (c, d)"},
    {"classify",
     {"a", "b", "c", "d"},
     {"d"},
     {3},
     false,
     false,
     false,
     "1 row stays (d), 3 rows are gone (a, b, c)"},
    {"classify",
     {"a", "b"},
     {"x", "y"},
     {NEW, NEW},
     false,
     false,
     false,
     "2 rows are new (x, y), 2 rows are gone (a, b)"},
    {"classify", {"0", "1"}, {"x", "y"}, {0, 1}, true, false, true, "2 rows stay (x, y)"},
    {"classify",
     {"0", "1"},
     {"1", "y"},
     {1, NEW},
     false,
     false,
     false,
     "1 row stays (1), 1 row is new (y), 1 row is gone (0)"},
    {"keypoints",
     {"p_x", "p_y", "q_x", "q_y"},
     {"q_x", "q_y", "p_x", "p_y"},
     {1, 0},
     false,
     true,
     false,
     "2 rows stay (q_x, p_x)"},
    {"keypoints",
     {"p_x", "p_y"},
     {"p_x", "q_y"},
     {NEW},
     false,
     false,
     false,
     "1 row is new (p_x), 1 row is gone (p_x)"},
    {"keypoints",
     {"p_x", "p_y", "q_x", "q_y"},
     {"q_y", "q_x", "p_y", "q_y"},
     {NEW, NEW},
     false,
     false,
     false,
     "2 rows are new (q_y, p_y), 2 rows are gone (p_x, q_x)"},
    {"regress",
     {"size", "age"},
     {"age", "weight"},
     {1, NEW},
     false,
     false,
     false,
     "1 row stays (age), 1 row is new (weight), 1 row is gone (size)"},
    {"classify",
     {"a"},
     {"v", "w", "x", "y", "z"},
     {NEW, NEW, NEW, NEW, NEW},
     false,
     false,
     false,
     "5 rows are new (v, w, x, y ..), 1 row is gone (a)"},
};

static void rows_are_found_by_name(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[CLASS_MATCH_TEXT];
        struct class_match m;
        const struct task *task = task_find(rows[i].task);
        CU_ASSERT_TRUE_FATAL(class_match_make(task, rows[i].earlier, names_in(rows[i].earlier),
                                              rows[i].names, names_in(rows[i].names), &m));
        for (uint32_t k = 0; k < m.count; k++)
            CU_ASSERT_EQUAL(m.rows[k], (uint32_t)rows[i].rows[k]);
        CU_ASSERT_EQUAL(m.is_same, rows[i].is_same);
        CU_ASSERT_EQUAL(class_match_is_order(&m), rows[i].is_order);
        CU_ASSERT_EQUAL(m.is_numbered, rows[i].is_numbered);
        class_match_describe(&m, task, rows[i].earlier, rows[i].names, text);
        CU_ASSERT_STRING_EQUAL(text, rows[i].text);
        if (strcmp(text, rows[i].text) != 0)
            printf("\n    %s", text);
        class_match_free(&m);
    }
}

/* ---- Weights ---- */

enum { SIDE = 16 };

static bool make_model(const struct task *task, uint32_t classes, uint64_t seed,
                       struct model *model)
{
    const struct form form = {.width = SIDE,
                              .height = SIDE,
                              .channels = 1,
                              .classes = classes,
                              .task = task_number(task)};
    return model_create(device, net_find("small"), &form, 1, model) &&
           glcnn_network_initialise(model->network, seed) == GLCNN_SUCCESS;
}

static struct class_head head_of(const struct model *model)
{
    return (struct class_head){model->network, task_of(&model->form), model->head};
}

/* Of the vector of a layer: is row `a` of one the row `b` of the other? */
static bool is_row(const struct class_head *one, uint32_t a, uint32_t count,
                   const struct class_head *other, uint32_t b, uint32_t other_count)
{
    glcnn_filter_node *layers[CLASS_LAYERS_MAX], *others[CLASS_LAYERS_MAX];
    const size_t layer_count = class_layers(one, layers);
    bool is = layer_count > 0 && class_layers(other, others) == layer_count;
    for (size_t i = 0; is && i < layer_count; i++) {
        static float values[2][1 << 16];
        glcnn_buffer *x = glcnn_kernel_vector(glcnn_filter_node_kernel(layers[i]), "weights"),
                     *y = glcnn_kernel_vector(glcnn_filter_node_kernel(others[i]), "weights");
        const size_t each = glcnn_buffer_size(x) / sizeof(float) / count;
        CU_ASSERT_FATAL(glcnn_buffer_size(x) <= sizeof *values &&
                        glcnn_buffer_size(y) <= sizeof *values);
        CU_ASSERT_EQUAL(glcnn_buffer_size(y) / sizeof(float) / other_count, each);
        is = glcnn_buffer_read(x, 0, glcnn_buffer_size(x), values[0]) == GLCNN_SUCCESS &&
             glcnn_buffer_read(y, 0, glcnn_buffer_size(y), values[1]) == GLCNN_SUCCESS &&
             memcmp(values[0] + a * each, values[1] + b * each, each * sizeof(float)) == 0;
    }
    return is;
}

/* A network of each task, for two rows that stay in another place, one that is new, and two that are gone. */
static void rows_keep_their_weights(void)
{
    static const char *const tasks[] = {"classify", "regress", "segment", "detect", "keypoints"};
    static uint32_t from[] = {3, NAME_UNMATCHED, 1};
    const struct class_match match = {.count = 3, .rows = from, .earlier_count = 4, .kept = 2};
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        const struct task *task = task_find(tasks[i]);
        const uint32_t each = task->row_names ? task->row_names : 1;
        struct model now, before, drawn;
        CU_ASSERT_TRUE_FATAL(make_model(task, 3 * each, 1, &now) &&
                             make_model(task, 4 * each, 2, &before) &&
                             make_model(task, 3 * each, 1, &drawn));
        const struct class_head head = head_of(&now), earlier_head = head_of(&before),
                                drawn_head = head_of(&drawn);
        struct class_rows *fresh = class_rows_read(&head),
                          *earlier = class_rows_read(&earlier_head);
        CU_ASSERT_TRUE_FATAL(fresh && earlier);
        CU_ASSERT_TRUE(class_rows_take(&head, &match, fresh, earlier));
        CU_ASSERT_TRUE(is_row(&head, 0, 3, &earlier_head, 3, 4));
        CU_ASSERT_TRUE(is_row(&head, 1, 3, &drawn_head, 1, 3));
        CU_ASSERT_TRUE(is_row(&head, 2, 3, &earlier_head, 1, 4));
        CU_ASSERT_FALSE(is_row(&head, 0, 3, &earlier_head, 0, 4));
        class_rows_free(fresh);
        class_rows_free(earlier);
        model_destroy(&now);
        model_destroy(&before);
        model_destroy(&drawn);
    }
}

/* ---- Units ---- */

static void thousandths_are_another_unit(void)
{
    const struct unit learned = {4, 11};
    static const struct {
        struct unit data;
        bool is_other;
    } cases[] = {{{4, 11}, false},      {{8, 3}, false},        {{0.1, 12}, false},
                 {{4000, 11000}, true}, {{0.004, 0.011}, true}, {{4, 60}, true},
                 {{4, 30}, false},      {{39, 11}, false},      {{0.1, 60}, true},
                 {{40, 11}, true},      {{0.1, 15}, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CU_ASSERT_EQUAL(unit_is_other(&learned, &cases[i].data), cases[i].is_other);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(rows_are_found_by_name),
                                        UNIT_TEST(rows_keep_their_weights),
                                        UNIT_TEST(thousandths_are_another_unit), CU_TEST_INFO_NULL};
    return fixture_run("class_match", tests, argc, argv);
}
