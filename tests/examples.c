/* Running the rows of a table of examples, and comparing what comes out. */
#include "tests/examples.h"

#include <math.h>

#include "tests/fixture.h"

#define SETTINGS  24
#define PRECISION 2e-6

static void set_shape(struct glcnn_array *array, const struct vector *vector)
{
    static const uint32_t ranks[] = {[ROW] = 1, [CHANNELS] = 3, [WEIGHTS] = 4, [BLOCK] = 4};
    array->rank = ranks[vector->direction];
    for (uint32_t i = 0; i < array->rank; i++)
        array->shape[i] = vector->direction == BLOCK ? vector->shape[i] : 1;
    if (vector->direction != BLOCK)
        array->shape[vector->direction == CHANNELS ? 0 : array->rank - 1] = vector->count;
}

static size_t elements_of(const struct glcnn_array *array)
{
    size_t count = 1;
    for (uint32_t i = 0; i < array->rank; i++)
        count *= array->shape[i];
    return count;
}

static struct glcnn_array as_array(const struct vector *vector, float values[EXAMPLE_VALUES])
{
    struct glcnn_array array = {.name = vector->name, .data = values};
    set_shape(&array, vector);
    CU_ASSERT_EQUAL_FATAL(elements_of(&array), vector->count);
    memcpy(values, vector->values, sizeof vector->values);
    return array;
}

static size_t parse_settings(const char *kernel, const char *text,
                             struct glcnn_setting settings[SETTINGS])
{
    char copy[256], error[512], *rest = NULL;
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        CU_ASSERT_FATAL(count < SETTINGS);
        CU_ASSERT_EQUAL_FATAL(glcnn_setting_parse(kernel, word, &settings[count++], error),
                              GLCNN_SUCCESS);
    }
    return count;
}

struct glcnn_array *example_run(const char *kernel, const char *text, const struct vector *inputs,
                                size_t *output_count)
{
    struct glcnn_setting settings[SETTINGS];
    struct glcnn_array arrays[EXAMPLE_ARRAYS], *outputs = NULL;
    float values[EXAMPLE_ARRAYS][EXAMPLE_VALUES];
    char error[512] = "";
    size_t count = 0;
    for (; count < EXAMPLE_ARRAYS && inputs[count].name; count++)
        arrays[count] = as_array(&inputs[count], values[count]);
    glcnn_status status =
        glcnn_run(device, kernel, settings, parse_settings(kernel, text, settings), arrays, count,
                  NULL, &outputs, output_count, error);
    CU_ASSERT_EQUAL(status, GLCNN_SUCCESS);
    if (status != GLCNN_SUCCESS)
        fprintf(stderr, "\n  %s\n", error);
    return outputs;
}

const struct glcnn_array *example_output(const struct glcnn_array *outputs, size_t count,
                                         const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(outputs[i].name, name) == 0)
            return &outputs[i];
    return NULL;
}

void example_compare(const char *kernel, const struct vector *wanted,
                     const struct glcnn_array *found)
{
    CU_ASSERT_PTR_NOT_NULL(found);
    if (!found)
        return;
    CU_ASSERT_EQUAL(elements_of(found), wanted->count);
    for (uint32_t i = 0; i < wanted->count && i < elements_of(found); i++) {
        double value = (double)found->data[i], expected = (double)wanted->values[i];
        bool good = isnan(expected) ? isnan(value) : is_near(value, expected, PRECISION);
        CU_ASSERT(good);
        if (!good)
            fprintf(stderr, "  in %s of %s, element %u\n", wanted->name, kernel, i);
    }
}

static void check_example(const struct example *e)
{
    size_t count = 0;
    struct glcnn_array *outputs = example_run(e->kernel, e->settings, e->inputs, &count);
    for (int i = 0; outputs && i < EXAMPLE_ARRAYS && e->outputs[i].name; i++)
        example_compare(e->kernel, &e->outputs[i],
                        example_output(outputs, count, e->outputs[i].name));
    glcnn_run_destroy(outputs);
}

void examples_check(const struct example *examples)
{
    for (; examples->kernel; examples++)
        check_example(examples);
}
