/* Mixup and cutmix: what a batch is mixed by, pixel by pixel. That pictures and losses follow is for
 * test_options.c. */
#include "tests/unit.h"

#include "task/mix.h"

#define BATCH  64
#define WIDTH  24
#define HEIGHT 10
#define PIXELS (WIDTH * HEIGHT)

static void draw(float mixup, float cutmix, uint64_t epoch, struct mix *mix)
{
    static uint32_t indices[BATCH];
    struct augment augment = {.mixup = mixup, .cutmix = cutmix};
    for (uint32_t n = 0; n < BATCH; n++)
        indices[n] = n;
    const struct glcnn_data_batch batch = {
        .epoch = epoch, .count = BATCH, .filled = BATCH, .indices = indices};
    CU_ASSERT_TRUE_FATAL(mix_begin(&augment, 7, WIDTH, HEIGHT, BATCH, mix));
    mix_draw(mix, &batch);
}

/* The rectangle of ones in a mask of zeros; false: there is something else. */
static bool find_rectangle(const float *mask, uint32_t *width, uint32_t *height, bool *is_cut_off)
{
    uint32_t left = WIDTH, right = 0, top = HEIGHT, bottom = 0, ones = 0;
    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = 0; x < WIDTH; x++) {
            const float m = mask[y * WIDTH + x];
            if (m != 0 && m != 1)
                return false;
            if (m == 0)
                continue;
            ones++;
            left = x < left ? x : left;
            right = x + 1 > right ? x + 1 : right;
            top = y < top ? y : top;
            bottom = y + 1 > bottom ? y + 1 : bottom;
        }
    *width = right > left ? right - left : 0;
    *height = bottom > top ? bottom - top : 0;
    *is_cut_off =
        ones > 0 && (left == 0 || top == 0 || right == WIDTH || bottom == HEIGHT) && ones < PIXELS;
    return ones == *width * *height;
}

/* The other picture's label has the share of the pixels that it gives, and no more where its rectangle
 * is cut off at the edge. */
static void shares_of_cutmix_are_those_of_pixels(void)
{
    uint32_t cut_off = 0, whole = 0;
    for (uint64_t epoch = 0; epoch < 4; epoch++) {
        struct mix mix;
        draw(0, 1, epoch, &mix);
        for (uint32_t n = 0; n < BATCH; n++) {
            uint32_t width = 0, height = 0;
            bool is_cut_off = false;
            CU_ASSERT_TRUE(find_rectangle(mix.mask + n * PIXELS, &width, &height, &is_cut_off));
            CU_ASSERT_EQUAL(mix.shares[n], (float)((double)(width * height) / PIXELS));
            cut_off += is_cut_off;
            whole += !is_cut_off && width > 0 && height > 0;
        }
        mix_end(&mix);
    }
    CU_ASSERT(cut_off > 20); /* of 256 */
    CU_ASSERT(whole > 20);
}

static void shares_of_mixup_are_those_of_all_pixels(void)
{
    struct mix mix;
    draw(0.4f, 0, 0, &mix);
    const size_t pixels = (size_t)mix.width * mix.height;
    for (uint32_t n = 0; n < BATCH; n++) {
        CU_ASSERT(mix.shares[n] >= 0 && mix.shares[n] <= 1);
        for (size_t i = 0; i < pixels; i++)
            CU_ASSERT_EQUAL(mix.mask[n * pixels + i], mix.shares[n]);
    }
    mix_end(&mix);
}

/* Of both, about half of the pictures each. */
static void mixup_and_cutmix_take_turns(void)
{
    uint32_t cut = 0;
    for (uint64_t epoch = 0; epoch < 8; epoch++) {
        struct mix mix;
        draw(0.4f, 1, epoch, &mix);
        for (uint32_t n = 0; n < BATCH; n++) {
            uint32_t width, height;
            bool is_cut_off;
            cut += find_rectangle(mix.mask + n * PIXELS, &width, &height, &is_cut_off);
        }
        mix_end(&mix);
    }
    CU_ASSERT(cut > 64 && cut < 448); /* of 512 */
}

/* Beta of a small shape is near 0 or 1: of 0.1 most pictures are all but one's own. */
static void small_shapes_mix_little(void)
{
    struct mix mix;
    uint32_t ends = 0;
    draw(0.1f, 0, 0, &mix);
    for (uint32_t n = 0; n < BATCH; n++)
        ends += mix.shares[n] < 0.05f || mix.shares[n] > 0.95f;
    CU_ASSERT(ends > BATCH / 2);
    mix_end(&mix);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(shares_of_cutmix_are_those_of_pixels),
                                        UNIT_TEST(shares_of_mixup_are_those_of_all_pixels),
                                        UNIT_TEST(mixup_and_cutmix_take_turns),
                                        UNIT_TEST(small_shapes_mix_little), CU_TEST_INFO_NULL};
    return unit_run("mix", tests, argc, argv);
}
