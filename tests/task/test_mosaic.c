/* Mosaics: boxes cover the pixels of their objects, and objects of which little is left are dropped. Made
 * pictures have a rectangle of a value of its own for each object, so that pixels tell what they are of. */
#include "task/mosaic.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit.h"

#define BATCH   5
#define WIDTH   48
#define HEIGHT  36
#define OBJECTS 3
#define EPOCHS  40

static uint8_t pixels[BATCH][HEIGHT][WIDTH][2]; /* both channels the same */
static struct glcnn_object objects[BATCH][OBJECTS];
static uint32_t indices[BATCH];

static uint8_t value_of(uint32_t picture, uint32_t object)
{
    return (uint8_t)(1 + picture * OBJECTS + object);
}

static void draw_object(uint32_t picture, uint32_t object, uint32_t *random)
{
    const uint32_t width = 1 + below(random, 15), height = 1 + below(random, 30),
                   left = object * WIDTH / OBJECTS, top = below(random, HEIGHT - height + 1);
    struct glcnn_object *o = &objects[picture][object];
    *o = (struct glcnn_object){
        {(float)left, (float)top, (float)(left + width), (float)(top + height)},
        object,
        false,
        false};
    for (uint32_t y = top; y < top + height; y++)
        memset(pixels[picture][y][left], value_of(picture, object), 2 * (size_t)width);
}

static void draw_pictures(void)
{
    uint32_t random = 7;
    memset(pixels, 0, sizeof pixels);
    for (uint32_t n = 0; n < BATCH; n++) {
        indices[n] = 100 + n;
        for (uint32_t i = 0; i < OBJECTS; i++)
            draw_object(n, i, &random);
    }
}

static struct glcnn_data_batch batch_of(uint64_t epoch)
{
    return (struct glcnn_data_batch){
        .epoch = epoch, .count = BATCH, .bytes = pixels[0][0][0], .indices = indices};
}

/* ---- What is shown ---- */

/* The box around the pixels of a value in one part of a mosaic, and how many there are. */
static uint32_t find_pixels(const struct mosaic *m, uint32_t n, int part, uint8_t value,
                            struct glcnn_box *box)
{
    const struct mosaic_joint *j = &m->joints[n];
    const uint8_t *shown = (const uint8_t *)m->pictures + n * sizeof pixels[0];
    uint32_t count = 0;
    *box = (struct glcnn_box){WIDTH, HEIGHT, 0, 0};
    for (uint32_t y = part & 2 ? j->y : 0; y < (part & 2 ? HEIGHT : j->y); y++)
        for (uint32_t x = part & 1 ? j->x : 0; x < (part & 1 ? WIDTH : j->x); x++) {
            if (shown[2 * (y * WIDTH + x)] != value || shown[2 * (y * WIDTH + x) + 1] != value)
                continue;
            const struct glcnn_box pixel = {(float)x, (float)y, (float)x + 1, (float)y + 1};
            box->left = pixel.left < box->left ? pixel.left : box->left;
            box->top = pixel.top < box->top ? pixel.top : box->top;
            box->right = pixel.right > box->right ? pixel.right : box->right;
            box->bottom = pixel.bottom > box->bottom ? pixel.bottom : box->bottom;
            count++;
        }
    return count;
}

static struct {
    size_t whole, cut, dropped;
} seen;

static void check_object(const struct mosaic *m, uint32_t n, int part, uint32_t object,
                         const struct glcnn_object **next, const struct glcnn_object *end)
{
    const uint32_t picture = m->joints[n].pictures[part];
    const struct glcnn_object *o = &objects[picture][object];
    struct glcnn_box box;
    const uint32_t count = find_pixels(m, n, part, value_of(picture, object), &box);
    const double area = glcnn_box_area(&o->box);
    if (count == 0 || count < 0.25 * area) {
        seen.dropped++;
        return;
    }
    seen.whole += count == area;
    seen.cut += count < area;
    CU_ASSERT_FATAL(*next < end);
    CU_ASSERT_EQUAL((*next)->label, object);
    CU_ASSERT_EQUAL(memcmp(&(*next)->box, &box, sizeof box), 0);
    CU_ASSERT_EQUAL(glcnn_box_area(&box), count);
    ++*next;
}

static void check_part(const struct mosaic *m, uint32_t n, int part)
{
    struct glcnn_object moved[OBJECTS];
    const struct glcnn_object *next = moved;
    memcpy(moved, objects[m->joints[n].pictures[part]], sizeof moved);
    const struct glcnn_object *end = moved + mosaic_objects(m, n, part, moved, OBJECTS);
    for (uint32_t i = 0; i < OBJECTS; i++)
        check_object(m, n, part, i, &next, end);
    CU_ASSERT_PTR_EQUAL(next, end);
}

static void boxes_cover_the_pixels_of_their_objects(void)
{
    struct mosaic m;
    draw_pictures();
    CU_ASSERT_FATAL(mosaic_begin(3, WIDTH, HEIGHT, 2, BATCH, &m));
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        const struct glcnn_data_batch batch = batch_of(epoch);
        CU_ASSERT_PTR_EQUAL(mosaic_join(&m, &batch, pixels), m.pictures);
        for (uint32_t n = 0; n < BATCH; n++)
            for (int part = 0; part < MOSAIC_PARTS; part++)
                check_part(&m, n, part);
    }
    CU_ASSERT(seen.whole > 50 && seen.cut > 50 && seen.dropped > 50);
    mosaic_end(&m);
}

/* Each pixel is of one of the four, where that has it. */
static void parts_meet_at_their_corners(void)
{
    struct mosaic m;
    draw_pictures();
    CU_ASSERT_FATAL(mosaic_begin(4, WIDTH, HEIGHT, 2, BATCH, &m));
    const struct glcnn_data_batch batch = batch_of(0);
    mosaic_join(&m, &batch, pixels);
    for (uint32_t n = 0; n < BATCH; n++) {
        const struct mosaic_joint *j = &m.joints[n];
        bool has_own = false;
        for (int part = 0; part < MOSAIC_PARTS; part++)
            has_own |= j->pictures[part] == n;
        CU_ASSERT_TRUE(has_own);
        CU_ASSERT(j->x >= WIDTH / 4 && j->x <= WIDTH - WIDTH / 4);
        CU_ASSERT(j->y >= HEIGHT / 4 && j->y <= HEIGHT - HEIGHT / 4);
        for (uint32_t y = 0; y < HEIGHT; y++)
            for (uint32_t x = 0; x < WIDTH; x++) {
                const int part = (x >= j->x) + 2 * (y >= j->y);
                const uint8_t(*of)[WIDTH][2] = pixels[j->pictures[part]];
                const uint8_t wanted =
                    of[(y + HEIGHT - j->y) % HEIGHT][(x + WIDTH - j->x) % WIDTH][0];
                const uint8_t *shown = (const uint8_t *)m.pictures + n * sizeof pixels[0];
                CU_ASSERT_EQUAL(shown[2 * (y * WIDTH + x)], wanted);
            }
    }
    mosaic_end(&m);
}

static void a_crowd_stays_while_it_is_seen(void)
{
    struct mosaic m;
    CU_ASSERT_FATAL(mosaic_begin(4, WIDTH, HEIGHT, 2, 1, &m));
    m.joints[0] = (struct mosaic_joint){24, 18, {0, 0, 0, 0}};
    struct glcnn_object crowd[] = {{{0, 0, 25, 19}, 0, true, false},
                                   {{0, 0, 25, 19}, 0, false, false},
                                   {{0, 0, 24, 18}, 0, true, false}};
    CU_ASSERT_EQUAL(mosaic_objects(&m, 0, 0, crowd, 3), 1);
    CU_ASSERT(crowd[0].crowd);
    CU_ASSERT_EQUAL(glcnn_box_area(&crowd[0].box), 1);
    mosaic_end(&m);
}

/* The same draws, whatever was drawn before: what a resumed run needs; and others in another epoch or by
 * another seed. */
static void draws_follow_from_seed_epoch_and_picture(void)
{
    struct mosaic a, b, other;
    draw_pictures();
    CU_ASSERT_FATAL(mosaic_begin(5, WIDTH, HEIGHT, 2, BATCH, &a) &&
                    mosaic_begin(5, WIDTH, HEIGHT, 2, BATCH, &b) &&
                    mosaic_begin(6, WIDTH, HEIGHT, 2, BATCH, &other));
    struct glcnn_data_batch first = batch_of(1), second = batch_of(2);
    mosaic_join(&a, &first, pixels);
    mosaic_join(&a, &second, pixels);
    mosaic_join(&b, &second, pixels);
    mosaic_join(&other, &second, pixels);
    CU_ASSERT_EQUAL(memcmp(a.pictures, b.pictures, sizeof pixels), 0);
    CU_ASSERT_NOT_EQUAL(memcmp(a.pictures, other.pictures, sizeof pixels), 0);
    mosaic_join(&b, &first, pixels);
    CU_ASSERT_NOT_EQUAL(memcmp(a.pictures, b.pictures, sizeof pixels), 0);
    mosaic_end(&a);
    mosaic_end(&b);
    mosaic_end(&other);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(boxes_cover_the_pixels_of_their_objects), UNIT_TEST(parts_meet_at_their_corners),
        UNIT_TEST(a_crowd_stays_while_it_is_seen),
        UNIT_TEST(draws_follow_from_seed_epoch_and_picture), CU_TEST_INFO_NULL};
    return unit_run("mosaic", tests, argc, argv);
}
