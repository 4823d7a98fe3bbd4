/* Numbers by constant indices: by hand, what is refused and where it is said to be, and all that
 * keeps the indices. test_kernels, test_gradients and test_golden hold the rest. */
#include "glcnn/checkpoint.h"
#include "glcnn/serialize.h"
#include "glcnn/kernels/gather.h"
#include "tests/graphs.h"

#define NUMBERS 6
#define SOURCE  4 /* 2 channels of 2 columns */

static const float indices[NUMBERS] = {3, 0, 0, 2, 0, 3};

static glcnn_kernel *kernel_of_indices(const float *values)
{
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_gather_create(device, 3, 1, 2, values, values ? NUMBERS : 0, &kernel));
    return kernel;
}

static bool has_indices(const glcnn_kernel *kernel)
{
    float values[NUMBERS];
    GOOD_FATAL(glcnn_buffer_read(glcnn_kernel_vector(kernel, "indices"), 0, sizeof values, values));
    return memcmp(values, indices, sizeof values) == 0;
}

static glcnn_status encode(glcnn_kernel *kernel, glcnn_image *source)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *result = NULL;
    glcnn_status status = glcnn_kernel_encode_returning(
        commands, kernel, &(struct glcnn_encode){.source = source}, &result, NULL);
    glcnn_command_buffer_destroy(&commands);
    glcnn_image_destroy(&result);
    return status;
}

static void test_numbers_by_hand(void)
{
    glcnn_kernel *forward = kernel_of_indices(indices), *backward = NULL;
    GOOD_FATAL(glcnn_gather_gradient_create(device, &backward));
    glcnn_image *x = image_with(1, 2, 1, 2, (float[]){10, 11, 12, 13});
    glcnn_image *g = image_with(1, 2, 1, 3, (float[]){1, 2, 4, 8, 16, 32});
    glcnn_image *y = make_image(1, 2, 1, 3), *dx = make_image(1, 2, 1, 2);
    encode_pair(forward, backward, x, g, y, dx);
    CU_ASSERT_TRUE(image_equals(y, (float[]){13, 10, 10, 12, 10, 13}));
    CU_ASSERT_TRUE(image_equals(dx, (float[]){22, 0, 8, 33}));
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&g);
    glcnn_image_destroy(&y);
    glcnn_image_destroy(&dx);
    glcnn_kernel_destroy(&forward);
    glcnn_kernel_destroy(&backward);
}

static void check_said(const char *words)
{
    bool said = strstr(glcnn_device_error(device), words) != NULL;
    CU_ASSERT(said);
    if (!said)
        fprintf(stderr, "\n  \"%s\" has no \"%s\"\n", glcnn_device_error(device), words);
}

static void test_an_index_that_is_none_is_refused(void)
{
    static const float wrongs[] = {-1, 0.5f, 16777216, NAN};
    glcnn_kernel *kernel = kernel_of_indices(NULL);
    float values[NUMBERS] = {0};
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        values[4] = wrongs[i];
        CU_ASSERT_EQUAL(glcnn_kernel_set_vector(kernel, "indices", values, NUMBERS),
                        GLCNN_INVALID_ARGUMENT);
        check_said("gather: indices[4] is ");
        check_said("expected whole numbers in 0 .. 16777215");
    }
    glcnn_kernel_destroy(&kernel);
}

static void test_an_index_beyond_the_source_is_refused(void)
{
    float values[NUMBERS] = {0, 0, 0, 0, SOURCE, 0};
    glcnn_kernel *kernel = kernel_of_indices(values);
    glcnn_image *source = make_image(1, 2, 1, 2);
    CU_ASSERT_EQUAL(encode(kernel, source), GLCNN_INVALID_ARGUMENT);
    check_said(
        "indices[4], of channel 1, row 0 and column 1 of the result, is 4; it must be a whole "
        "number from 0 to 3");
    GOOD(glcnn_kernel_set_vector(kernel, "indices", indices, NUMBERS));
    GOOD(encode(kernel, source));
    glcnn_image_destroy(&source);
    source = make_image(1, 1, 1, 3);
    CU_ASSERT_EQUAL(encode(kernel, source), GLCNN_INVALID_ARGUMENT);
    check_said("indices[0], of channel 0, row 0 and column 0 of the result, is 3");
    glcnn_image_destroy(&source);
    glcnn_kernel_destroy(&kernel);
}

static void test_indices_that_were_encoded_stay(void)
{
    glcnn_kernel *kernel = kernel_of_indices(indices), *copy = NULL;
    glcnn_image *source = make_image(1, 2, 1, 2);
    const float zeros[NUMBERS] = {0};
    GOOD(encode(kernel, source));
    GOOD(glcnn_kernel_set_vector(kernel, "indices", indices, NUMBERS));
    CU_ASSERT_EQUAL(glcnn_kernel_set_vector(kernel, "indices", zeros, NUMBERS),
                    GLCNN_INVALID_STATE);
    check_said("they do not change");
    GOOD_FATAL(glcnn_kernel_copy(kernel, device, &copy));
    CU_ASSERT_TRUE(has_indices(copy));
    GOOD(glcnn_kernel_set_vector(copy, "indices", zeros, NUMBERS));
    glcnn_image_destroy(&source);
    glcnn_kernel_destroy(&copy);
    glcnn_kernel_destroy(&kernel);
}

static void test_serialised_kernels_have_the_indices(void)
{
    for (int with_weights = 0; with_weights < 2; with_weights++) {
        glcnn_kernel *kernel = kernel_of_indices(indices), *copy = NULL;
        uint8_t *bytes = NULL;
        size_t size = 0;
        GOOD_FATAL(glcnn_kernel_serialize(kernel, with_weights, &bytes, &size, NULL));
        GOOD_FATAL(glcnn_kernel_deserialize(device, bytes, size, &copy, NULL));
        CU_ASSERT_TRUE(has_indices(copy));
        glcnn_serialize_destroy(bytes);
        glcnn_kernel_destroy(&kernel);
        glcnn_kernel_destroy(&copy);
    }
}

static void test_checkpoints_have_the_indices(void)
{
    const char *path = "gather.glcnn";
    char error[GLCNN_ERROR_LENGTH];
    glcnn_network *nets[2];
    glcnn_kernel *kernels[2];
    for (int i = 0; i < 2; i++) {
        GOOD_FATAL(glcnn_network_create(device, &nets[i]));
        glcnn_image_node *node = glcnn_gather_node(glcnn_image_node_create(nets[i], "x"), 3, 1, 2,
                                                   i ? NULL : indices, i ? 0 : NUMBERS);
        CU_ASSERT_PTR_NOT_NULL_FATAL(node);
        kernels[i] = glcnn_filter_node_kernel(glcnn_image_node_filter(node));
    }
    CU_ASSERT_EQUAL_FATAL(glcnn_checkpoint_save(nets[0], path, NULL, 0, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(glcnn_checkpoint_load(nets[1], path, NULL, error), GLCNN_SUCCESS);
    remove(path);
    CU_ASSERT_TRUE(has_indices(kernels[1]));
    for (int i = 0; i < 2; i++)
        glcnn_network_destroy(&nets[i]);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_numbers_by_hand),
        UNIT_TEST(test_an_index_that_is_none_is_refused),
        UNIT_TEST(test_an_index_beyond_the_source_is_refused),
        UNIT_TEST(test_indices_that_were_encoded_stay),
        UNIT_TEST(test_serialised_kernels_have_the_indices),
        UNIT_TEST(test_checkpoints_have_the_indices),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("gather", tests, argc, argv);
}
