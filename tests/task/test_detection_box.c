/* Boxes, the grids of a detector, what their locations are to predict, and objects that follow the
 * augmentation of their picture. */
#include "tests/fixture.h"
#include "task/detection_augment.h"
#include "task/detection_targets.h"

#include <math.h>

static void overlaps_are_intersection_over_union(void)
{
    const struct glcnn_box a = {0, 0, 4, 2}, b = {2, 1, 6, 3}, far = {10, 10, 12, 12},
                           none = {3, 3, 3, 5};
    CU_ASSERT_EQUAL(glcnn_box_area(&a), 8);
    CU_ASSERT_EQUAL(glcnn_box_area(&none), 0);
    CU_ASSERT(is_near(glcnn_box_overlap(&a, &b), 2.0 / 14, 1e-12));
    CU_ASSERT_EQUAL(glcnn_box_overlap(&a, &a), 1);
    CU_ASSERT_EQUAL(glcnn_box_overlap(&a, &far), 0);
    CU_ASSERT_EQUAL(glcnn_box_overlap(&none, &none), 0);
}

static void grids_cover_the_picture(void)
{
    const uint32_t strides[] = {8, 16, 32};
    struct detection_layout l = detection_layout(64, 50, 3, strides, 3);
    CU_ASSERT_EQUAL(l.grids[0].columns, 8);
    CU_ASSERT_EQUAL(l.grids[0].rows, 7);
    CU_ASSERT_EQUAL(l.grids[1].rows, 4);
    CU_ASSERT_EQUAL(l.grids[2].columns, 2);
    CU_ASSERT_EQUAL(l.grids[2].rows, 2);
    CU_ASSERT_EQUAL(detection_locations(&l.grids[0]), 56);
}

/* ---- Targets ---- */

static struct detection_targets make_targets(uint32_t size, uint32_t scales, uint32_t batch)
{
    const uint32_t strides[] = {8, 16, 32};
    struct detection_layout layout = detection_layout(size, size, 2, strides, scales);
    struct detection_targets targets;
    CU_ASSERT_TRUE_FATAL(detection_targets_create(&layout, batch, &targets));
    return targets;
}

/* Which locations of a grid have an object of the label, as text: "." none, "x" some. */
static void check_locations(const struct detection_targets *targets, uint32_t scale, uint32_t image,
                            uint32_t label, const char *expected)
{
    char found[128] = "";
    uint32_t locations = detection_locations(&targets->layout.grids[scale]);
    CU_ASSERT_FATAL(locations < sizeof found);
    for (uint32_t i = 0; i < locations; i++) {
        size_t at = (size_t)image * locations + i;
        bool there = targets->scales[scale].labels[2 * at + label] > 0;
        CU_ASSERT_EQUAL(there || targets->scales[scale].labels[2 * at + !label] > 0,
                        targets->scales[scale].box_weights[at] > 0);
        found[i] = there ? 'x' : '.';
    }
    CU_ASSERT_STRING_EQUAL(found, expected);
}

/* One object on a grid of 4x4 with a stride of 8. */
static void locations_near_the_centre_are_for_an_object(void)
{
    static const float expected[] = {1, 0.5f, 2, 2.5f};
    const struct glcnn_object object = {{4, 8, 28, 32}, 1, false, false};
    const struct objects picture = {&object, 1};
    struct detection_targets t = make_targets(32, 1, 1);
    detection_targets_set(&t, &picture, 1, 3);
    check_locations(&t, 0, 0, 1, ".....xx..xx..xx.");
    check_locations(&t, 0, 0, 0, "................");
    CU_ASSERT_EQUAL(t.positives, 6);
    for (int i = 0; i < 4; i++)
        CU_ASSERT(is_near((double)t.scales[0].distances[4 * 5 + i], (double)expected[i], 1e-6));
    for (int i = 0; i < 32; i++)
        CU_ASSERT(is_near((double)t.scales[0].label_weights[i], 1.0 / 6, 1e-6));
    CU_ASSERT(is_near((double)t.scales[0].box_weights[5], 3.0 / 6, 1e-6));
    CU_ASSERT_EQUAL(t.scales[0].box_weights[4], 0);
    detection_targets_free(&t);
}

static void far_from_the_centre_a_box_has_no_locations(void)
{
    const struct glcnn_object object = {{0, 0, 64, 64}, 0, false, false};
    const struct objects picture = {&object, 1};
    struct detection_targets t = make_targets(64, 1, 1);
    detection_targets_set(&t, &picture, 1, 1);
    check_locations(&t, 0, 0, 0,
                    "........................"
                    "...xx......xx..."
                    "........................");
    detection_targets_free(&t);
}

static void the_smallest_object_has_a_location(void)
{
    const struct glcnn_object objects[] = {{{0, 0, 32, 32}, 0, false, false},
                                           {{8, 8, 24, 16}, 1, false, false},
                                           {{8, 8, 24, 16}, 0, false, false}};
    const struct objects picture = {objects, 3};
    struct detection_targets t = make_targets(32, 1, 1);
    detection_targets_set(&t, &picture, 1, 1);
    check_locations(&t, 0, 0, 1, ".....xx.........");
    check_locations(&t, 0, 0, 0, ".........xx.....");
    detection_targets_free(&t);
}

/* Smaller than a stride: no location lies within it. */
static void a_small_object_has_the_location_next_to_it(void)
{
    const struct glcnn_object object = {{9, 17, 11, 19}, 1, false, false};
    const struct objects picture = {&object, 1};
    struct detection_targets t = make_targets(32, 1, 1);
    detection_targets_set(&t, &picture, 1, 1);
    check_locations(&t, 0, 0, 1, ".........x......");
    CU_ASSERT(is_near((double)t.scales[0].distances[4 * 9], 0.375, 1e-6));
    CU_ASSERT(is_near((double)t.scales[0].distances[4 * 9 + 2], 0.01, 1e-6));
    detection_targets_free(&t);
}

static void grids_share_objects_by_size(void)
{
    static const struct glcnn_object objects[] = {{{0, 0, 40, 40}, 0, false, false},
                                                  {{10, 10, 100, 60}, 0, false, false},
                                                  {{0, 0, 140, 100}, 0, false, false}};
    struct detection_targets t = make_targets(160, 3, 1);
    for (uint32_t i = 0; i < 3; i++) {
        const struct objects picture = {&objects[i], 1};
        detection_targets_set(&t, &picture, 1, 1);
        CU_ASSERT(t.positives >= 4);
        for (uint32_t scale = 0; scale < 3; scale++) {
            uint32_t count = 0;
            for (uint32_t at = 0; at < detection_locations(&t.layout.grids[scale]); at++)
                count += t.scales[scale].box_weights[at] > 0;
            CU_ASSERT_EQUAL(count, scale == i ? t.positives : 0);
        }
    }
    detection_targets_free(&t);
}

static void a_crowd_is_not_trained(void)
{
    const struct glcnn_object objects[] = {{{0, 0, 32, 16}, 0, true, false},
                                           {{8, 8, 24, 16}, 1, false, false}};
    const struct objects picture = {objects, 2};
    struct detection_targets t = make_targets(32, 1, 1);
    detection_targets_set(&t, &picture, 1, 1);
    check_locations(&t, 0, 0, 1, ".....xx.........");
    check_locations(&t, 0, 0, 0, "................");
    for (int i = 0; i < 16; i++)
        CU_ASSERT_EQUAL(t.scales[0].label_weights[2 * i] > 0, i == 5 || i == 6 || i >= 8);
    detection_targets_free(&t);
}

static void pictures_that_are_missing_have_no_weight(void)
{
    const struct glcnn_object object = {{4, 8, 28, 32}, 1, false, false};
    const struct objects pictures[] = {{NULL, 0}, {&object, 1}};
    struct detection_targets t = make_targets(32, 1, 3);
    detection_targets_set(&t, pictures, 1, 1);
    CU_ASSERT_EQUAL(t.positives, 0);
    for (int i = 0; i < 3 * 32; i++)
        CU_ASSERT_EQUAL(t.scales[0].label_weights[i], i < 32);
    detection_targets_set(&t, pictures, 2, 1);
    CU_ASSERT_EQUAL(t.positives, 6);
    check_locations(&t, 0, 1, 1, ".....xx..xx..xx.");
    for (int i = 0; i < 3 * 32; i++)
        CU_ASSERT_EQUAL(t.scales[0].label_weights[i] > 0, i < 64);
    detection_targets_free(&t);
}

/* ---- Augmentation ---- */

#define SIDE   40
#define IMAGES 24

/* Pictures of one box of ones on zeros, each of which draws for itself, as augment_geometry leaves
 * them; to be freed. */
static float *augment_box(const struct glcnn_augment_geometry_parameters *parameters,
                          const struct glcnn_box *box)
{
    glcnn_image *source = make_image(IMAGES, 1, SIDE, SIDE);
    glcnn_image *numbers = make_image_of(device, GLCNN_CHANNEL_FORMAT_UNORM8, IMAGES, 8, 1, 1);
    float *values = calloc(count_of(source), sizeof *values);
    uint8_t bytes[IMAGES][8] = {{0}};
    for (uint32_t n = 0; n < IMAGES; n++) {
        bytes[n][0] = (uint8_t)n;
        bytes[n][4] = 7;
        for (uint32_t y = (uint32_t)box->top; y < (uint32_t)box->bottom; y++)
            for (uint32_t x = (uint32_t)box->left; x < (uint32_t)box->right; x++)
                values[(n * SIDE + y) * SIDE + x] = 1;
    }
    fill_image(source, values);
    free(values);
    GOOD(glcnn_image_write_bytes(numbers, NULL, bytes, sizeof bytes));
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_augment_geometry_create(device, parameters, &kernel));
    const struct glcnn_encode arguments = {.source = source, .secondary = numbers};
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    glcnn_image *result = result_of(kernel, &arguments, NULL);
    values = read_image(result);
    glcnn_image_destroy(&result);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&numbers);
    glcnn_kernel_destroy(&kernel);
    return values;
}

/* The box around the pixels that have more than a half; none: without an inside. */
static struct glcnn_box box_of_pixels(const float *picture)
{
    struct glcnn_box box = {SIDE, SIDE, 0, 0};
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            if (picture[y * SIDE + x] > 0.5f)
                box = (struct glcnn_box){fminf(box.left, (float)x), fminf(box.top, (float)y),
                                         fmaxf(box.right, (float)x + 1),
                                         fmaxf(box.bottom, (float)y + 1)};
    return box;
}

static void check_edges(const struct glcnn_box *found, const struct glcnn_box *expected,
                        double tolerance)
{
    CU_ASSERT(fabs((double)(found->left - expected->left)) <= tolerance);
    CU_ASSERT(fabs((double)(found->top - expected->top)) <= tolerance);
    CU_ASSERT(fabs((double)(found->right - expected->right)) <= tolerance);
    CU_ASSERT(fabs((double)(found->bottom - expected->bottom)) <= tolerance);
}

/* How many boxes stay, each of which must be where the kernel shows it. */
static uint32_t follow(const struct glcnn_augment_geometry_parameters *parameters,
                       const struct glcnn_box *box, double tolerance)
{
    float *pictures = augment_box(parameters, box);
    uint32_t kept = 0;
    for (uint32_t n = 0; n < IMAGES; n++) {
        struct glcnn_object object = {*box, 1, false, false};
        if (detection_augment(parameters, n, 7, SIDE, SIDE, &object, 1) == 0)
            continue;
        struct glcnn_box shown = box_of_pixels(pictures + n * SIDE * SIDE);
        check_edges(&object.box, &shown, tolerance);
        kept++;
    }
    free(pictures);
    return kept;
}

static void boxes_follow_their_pictures(void)
{
    const struct glcnn_box box = {5, 8, 19, 30};
    CU_ASSERT_EQUAL(follow(&(struct glcnn_augment_geometry_parameters){.seed = 1}, &box, 0),
                    IMAGES);
    CU_ASSERT_EQUAL(follow(
                        &(struct glcnn_augment_geometry_parameters){
                            .seed = 2, .flip_horizontal = true, .flip_vertical = true, .shift = 5},
                        &box, 1e-4),
                    IMAGES);
    CU_ASSERT_EQUAL(
        follow(&(struct glcnn_augment_geometry_parameters){.seed = 3, .scale = 0.3f}, &box, 1),
        IMAGES);
    CU_ASSERT_EQUAL(
        follow(
            &(struct glcnn_augment_geometry_parameters){
                .seed = 4, .flip_horizontal = true, .shift = 2, .rotation = 30, .scale = 0.2f},
            &box, 1.6),
        IMAGES);
}

/* A shift of up to 40 pixels leaves some boxes a part, and some nothing. */
static void boxes_that_leave_the_picture_are_dropped(void)
{
    const struct glcnn_augment_geometry_parameters parameters = {.seed = 5, .shift = 40};
    const struct glcnn_box box = {5, 8, 21, 30};
    float *pictures = augment_box(&parameters, &box);
    uint32_t kept = 0, cut = 0;
    for (uint32_t n = 0; n < IMAGES; n++) {
        struct glcnn_object objects[] = {{box, 0, false, false}, {box, 1, true, false}};
        uint32_t count = detection_augment(&parameters, n, 7, SIDE, SIDE, objects, 2);
        struct glcnn_box shown = box_of_pixels(pictures + n * SIDE * SIDE);
        double left = glcnn_box_area(&shown) / glcnn_box_area(&box);
        CU_ASSERT_EQUAL(count, (left >= 0.25) + (left > 0));
        if (count > 0) {
            check_edges(&objects[0].box, &shown, 1e-4);
            CU_ASSERT_EQUAL(objects[0].label, left < 0.25);
        }
        kept += left >= 0.25;
        cut += left > 0 && left < 0.25;
    }
    CU_ASSERT(kept > 0 && cut > 0 && kept + cut < IMAGES);
    free(pictures);
}

static void a_quarter_of_a_box_is_kept(void)
{
    const struct glcnn_augment_geometry_parameters none = {.seed = 1};
    struct glcnn_object objects[] = {{{-30, 2, 10, 8}, 0, false, false},
                                     {{-31, 2, 10, 8}, 1, false, false}};
    CU_ASSERT_EQUAL(detection_augment(&none, 0, 0, SIDE, SIDE, objects, 2), 1);
    CU_ASSERT_EQUAL(objects[0].label, 0);
    CU_ASSERT_EQUAL(objects[0].box.left, 0);
    CU_ASSERT_EQUAL(objects[0].box.right, 10);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(overlaps_are_intersection_over_union),
        UNIT_TEST(grids_cover_the_picture),
        UNIT_TEST(locations_near_the_centre_are_for_an_object),
        UNIT_TEST(far_from_the_centre_a_box_has_no_locations),
        UNIT_TEST(the_smallest_object_has_a_location),
        UNIT_TEST(a_small_object_has_the_location_next_to_it),
        UNIT_TEST(grids_share_objects_by_size),
        UNIT_TEST(a_crowd_is_not_trained),
        UNIT_TEST(pictures_that_are_missing_have_no_weight),
        UNIT_TEST(boxes_follow_their_pictures),
        UNIT_TEST(boxes_that_leave_the_picture_are_dropped),
        UNIT_TEST(a_quarter_of_a_box_is_kept),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("detection_box", tests, argc, argv);
}
