/* Global average pooling: a window as large as the source. */
#include "glcnn/kernels/pooling.h"

#include "tests/fixture.h"

#define IMAGES   3
#define CHANNELS 5
#define MAPS     (IMAGES * CHANNELS)

/* Forward and gradient of one size, the kernels' results, and what they have to be. */
struct global {
    uint32_t width, height;
    glcnn_kernel *forward, *gradient;
    glcnn_image *x, *y, *dx;
};

static void pool(struct global *p)
{
    glcnn_state *state = NULL;
    glcnn_command_buffer *to = make_commands();
    p->x = make_image(IMAGES, CHANNELS, p->height, p->width);
    fill_noise(p->x, 7);
    GOOD_FATAL(glcnn_pooling_average_create(device, p->width, p->height, 1, 1, &p->forward));
    GOOD_FATAL(glcnn_pooling_average_gradient_create(device, 1, 1, 1, 1, &p->gradient));
    glcnn_kernel_properties(p->forward)->padding = GLCNN_PADDING_SIZE_VALID_ONLY;
    glcnn_kernel_properties(p->forward)->result_is_ordinary = true;
    glcnn_kernel_properties(p->gradient)->result_is_ordinary = true;
    GOOD_FATAL(glcnn_kernel_encode_returning(to, p->forward, &(struct glcnn_encode){.source = p->x},
                                             &p->y, &state));
    GOOD_FATAL(glcnn_kernel_encode_returning(
        to, p->gradient, &(struct glcnn_encode){.source = p->y, .secondary = p->x, .state = state},
        &p->dx, NULL));
    finish(&to);
    glcnn_state_destroy(&state);
}

static void release(struct global *p)
{
    glcnn_image_destroy(&p->x);
    glcnn_image_destroy(&p->y);
    glcnn_image_destroy(&p->dx);
    glcnn_kernel_destroy(&p->forward);
    glcnn_kernel_destroy(&p->gradient);
}

/* `y` has the mean of each map of `x`, and `dx`, for y taken as its gradient, a share of that. */
static void check_maps(const float *x, const float *y, const float *dx, size_t plane)
{
    for (size_t map = 0; map < MAPS; map++) {
        double sum = 0;
        for (size_t i = 0; i < plane; i++)
            sum += (double)x[map * plane + i];
        CU_ASSERT_DOUBLE_EQUAL((double)y[map], sum / (double)plane, 1e-6);
        for (size_t i = 0; i < plane; i++)
            CU_ASSERT_DOUBLE_EQUAL((double)dx[map * plane + i], (double)y[map] / (double)plane,
                                   1e-7);
    }
}

static void check_size(uint32_t width, uint32_t height)
{
    struct global p = {.width = width, .height = height};
    pool(&p);
    CU_ASSERT_EQUAL_FATAL(count_of(p.y), MAPS);
    CU_ASSERT_EQUAL_FATAL(count_of(p.dx), count_of(p.x));
    float *x = read_image(p.x), *y = read_image(p.y), *dx = read_image(p.dx);
    check_maps(x, y, dx, (size_t)width * height);
    free(x);
    free(y);
    free(dx);
    release(&p);
}

static void a_window_like_the_source_gives_the_mean_of_each_map(void)
{
    check_size(1, 1);
    check_size(7, 7);
    check_size(8, 6);
    check_size(5, 14);
    check_size(1, 31);
    check_size(64, 1);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(a_window_like_the_source_gives_the_mean_of_each_map), CU_TEST_INFO_NULL};
    return fixture_run("pooling", tests, argc, argv);
}
