/* The sharing of textures as arithmetic: random sets of items, seeded, and every pair looked at. No
 * device is opened. */
#include "tests/unit.h"

#include "record/placement.h"

#define MOST 60

/* A problem with room for its solution. */
struct problem {
    struct placement placement;
    struct placement_item items[MOST];
    struct placement_texture textures[MOST];
    bool conflicts[MOST * MOST];
};

static void prepare(struct problem *p, size_t count)
{
    *p = (struct problem){.placement = {.item_count = count}};
    p->placement.items = p->items;
    p->placement.textures = p->textures;
    p->placement.conflicts = p->conflicts;
}

static void set_conflict(struct problem *p, size_t a, size_t b)
{
    size_t n = p->placement.item_count;
    p->conflicts[a * n + b] = p->conflicts[b * n + a] = true;
}

static struct placement_item item_of(uint32_t side, uint32_t layers, uint32_t first, uint32_t last)
{
    return (struct placement_item){.width = side,
                                   .height = side,
                                   .layers = layers,
                                   .texel_size = 16,
                                   .own_across = 1,
                                   .own_down = 1,
                                   .first = first,
                                   .last = last};
}

static bool live_together(const struct placement_item *a, const struct placement_item *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* ---- What every solution keeps ---- */

/* Cells that an item takes, from its own numbers. */
static uint32_t cells_of(const struct placement_item *item)
{
    uint32_t each = item->across * item->down;
    return (item->layers + each - 1) / each;
}

static bool is_power(uint32_t number)
{
    return number && !(number & (number - 1));
}

/* Each item lies within a texture that exists and has its format. */
static void check_fits(const struct placement *p)
{
    for (size_t i = 0; i < p->item_count; i++) {
        const struct placement_item *item = &p->items[i];
        CU_ASSERT_FATAL(item->texture < p->texture_count);
        const struct placement_texture *texture = &p->textures[item->texture];
        CU_ASSERT_EQUAL(texture->texel_size, item->texel_size);
        CU_ASSERT(is_power(item->across) && is_power(item->down));
        CU_ASSERT(item->across * item->width <= texture->width);
        CU_ASSERT(item->down * item->height <= texture->height);
        CU_ASSERT(item->cell + cells_of(item) <= texture->layers);
    }
}

/* No two that live at one time share a cell, none a texture with one of the same pass. */
static void check_apart(const struct placement *p)
{
    for (size_t i = 0; i < p->item_count; i++)
        for (size_t j = 0; j < i; j++) {
            const struct placement_item *a = &p->items[i], *b = &p->items[j];
            bool overlap = a->texture == b->texture && a->cell < b->cell + cells_of(b) &&
                           b->cell < a->cell + cells_of(a);
            CU_ASSERT_FALSE(overlap && live_together(a, b));
            CU_ASSERT_FALSE(a->texture == b->texture && p->conflicts[i * p->item_count + j]);
        }
}

/* Bytes of a texture for each item alone: layers that lie side by side are as many as there is
 * room for. */
static uint64_t size_alone(const struct placement *p)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < p->item_count; i++) {
        struct placement_item whole = p->items[i];
        uint32_t beside = whole.own_across * whole.own_down;
        whole.layers = (whole.layers + beside - 1) / beside * beside;
        sum += placement_item_size(&whole);
    }
    return sum;
}

static void check_sizes(const struct placement *p)
{
    CU_ASSERT(p->lower_bound <= placement_size(p));
    CU_ASSERT(placement_size(p) <= size_alone(p));
}

static void check_solved(struct problem *p)
{
    CU_ASSERT_FATAL(placement_solve(&p->placement));
    check_fits(&p->placement);
    check_apart(&p->placement);
    check_sizes(&p->placement);
}

/* ---- Random sets ---- */

/* Lives of some passes each; two of one pass are used together now and then. */
static void make_random(struct problem *p, uint32_t *seed)
{
    prepare(p, 1 + below(seed, 40));
    for (size_t i = 0; i < p->placement.item_count; i++) {
        uint32_t first = below(seed, 30);
        p->items[i] = (struct placement_item){.width = 1 + below(seed, 30),
                                              .height = 1 + below(seed, 30),
                                              .layers = 1 + below(seed, 20),
                                              .texel_size = below(seed, 3) ? 16 : 8,
                                              .own_across = 1u << below(seed, 3),
                                              .own_down = 1u << below(seed, 2),
                                              .first = first,
                                              .last = first + below(seed, 10)};
    }
    for (size_t i = 0; i < p->placement.item_count; i++)
        for (size_t j = 0; j < i; j++)
            if (live_together(&p->items[i], &p->items[j]) && below(seed, 4) == 0)
                set_conflict(p, i, j);
}

static void test_random_sets_are_placed(void)
{
    uint32_t seed = 7;
    size_t shared = 0;
    for (int round = 0; round < 200; round++) {
        struct problem p;
        make_random(&p, &seed);
        check_solved(&p);
        shared += placement_size(&p.placement) < placement_size_without_sharing(&p.placement);
    }
    CU_ASSERT(shared > 150);
}

static void test_the_same_items_have_the_same_places(void)
{
    uint32_t seed = 11, again = 11;
    struct problem a, b;
    for (int round = 0; round < 20; round++) {
        make_random(&a, &seed);
        make_random(&b, &again);
        check_solved(&a);
        check_solved(&b);
        CU_ASSERT_EQUAL(a.placement.texture_count, b.placement.texture_count);
        for (size_t i = 0; i < a.placement.item_count; i++)
            CU_ASSERT(a.items[i].texture == b.items[i].texture &&
                      a.items[i].cell == b.items[i].cell);
    }
}

/* ---- Sets whose best plan is known ---- */

/* 4 x 4 x 16 bytes x layers. */
#define BYTES(layers) (256u * (layers))

static void test_nothing_takes_nothing(void)
{
    struct problem p;
    prepare(&p, 0);
    check_solved(&p);
    CU_ASSERT_EQUAL(placement_size(&p.placement), 0);
    CU_ASSERT_EQUAL(p.placement.texture_count, 0);
}

/* A chain: each pass reads one and writes the next, so two textures serve however many there are.
 */
static void test_a_chain_takes_two_textures(void)
{
    struct problem p;
    prepare(&p, 9);
    for (uint32_t i = 0; i < 9; i++)
        p.items[i] = item_of(4, 3, i, i + 1);
    for (size_t i = 0; i < 8; i++)
        set_conflict(&p, i, i + 1);
    check_solved(&p);
    CU_ASSERT_EQUAL(p.placement.texture_count, 2);
    CU_ASSERT_EQUAL(placement_size(&p.placement), 2 * BYTES(3));
    CU_ASSERT_EQUAL(p.placement.lower_bound, 2 * BYTES(3));
    CU_ASSERT_EQUAL(placement_size_without_sharing(&p.placement), 9 * BYTES(3));
}

/* Both small ones lie in what the large one left, though they live together. */
static void test_cells_of_one_texture_are_shared_out(void)
{
    struct problem p;
    prepare(&p, 3);
    p.items[0] = item_of(4, 4, 0, 1);
    p.items[1] = item_of(4, 2, 2, 4);
    p.items[2] = item_of(4, 2, 3, 5);
    check_solved(&p);
    CU_ASSERT_EQUAL(placement_size(&p.placement), BYTES(4));
    CU_ASSERT_EQUAL(p.items[1].texture, p.items[2].texture);
    CU_ASSERT_NOT_EQUAL(p.items[1].cell, p.items[2].cell);
}

/* Four layers of 2 x 2 in one cell of 4 x 4. */
static void test_smaller_images_lie_side_by_side(void)
{
    struct problem p;
    prepare(&p, 2);
    p.items[0] = item_of(4, 1, 0, 0);
    p.items[1] = item_of(2, 4, 1, 1);
    check_solved(&p);
    CU_ASSERT_EQUAL(placement_size(&p.placement), BYTES(1));
    CU_ASSERT_EQUAL(p.items[1].across, 2);
    CU_ASSERT_EQUAL(p.items[1].down, 2);
}

static void test_formats_share_nothing(void)
{
    struct problem p;
    prepare(&p, 2);
    p.items[0] = item_of(4, 2, 0, 0);
    p.items[1] = item_of(4, 2, 1, 1);
    p.items[1].texel_size = 8;
    check_solved(&p);
    CU_ASSERT_EQUAL(p.placement.texture_count, 2);
    CU_ASSERT_EQUAL(placement_size(&p.placement), BYTES(2) + BYTES(2) / 2);
}

/* The last pass of one and the first of the other are the same: they live together. */
static void test_lives_include_both_ends(void)
{
    struct problem p;
    prepare(&p, 2);
    p.items[0] = item_of(4, 1, 0, 3);
    p.items[1] = item_of(4, 1, 3, 5);
    check_solved(&p);
    CU_ASSERT_EQUAL(placement_size(&p.placement), BYTES(2));
    p.items[1].first = 4;
    check_solved(&p);
    CU_ASSERT_EQUAL(placement_size(&p.placement), BYTES(1));
}

/* A plan that no order of sizes alone finds: the bound is met all the same. */
static void test_the_bound_is_met_where_it_can_be(void)
{
    struct problem p;
    prepare(&p, 5);
    p.items[0] = item_of(4, 3, 0, 1);
    p.items[1] = item_of(4, 3, 2, 4);
    p.items[2] = item_of(4, 2, 0, 3);
    p.items[3] = item_of(4, 2, 4, 6);
    p.items[4] = item_of(4, 1, 5, 6);
    check_solved(&p);
    CU_ASSERT_EQUAL(placement_size(&p.placement), p.placement.lower_bound);
}

/* Images of a training step of resnet8 within half of its memory. */
static const struct step_image {
    uint32_t half; /* one whose side is halved so often takes half as much memory each time */
    uint32_t first, last;
    size_t conflicts[3]; /* with these, or itself */
} step_images[] = {
    {0, 0, 1, {0, 0, 0}},      {0, 1, 2, {0, 1, 1}},      {0, 2, 45, {1, 2, 2}},
    {0, 3, 35, {2, 3, 3}},     {1, 4, 5, {3, 4, 4}},      {1, 5, 31, {4, 5, 5}},
    {1, 6, 30, {5, 6, 6}},     {1, 7, 8, {3, 7, 7}},      {1, 8, 21, {6, 7, 8}},
    {2, 9, 17, {9, 9, 9}},     {2, 10, 15, {8, 10, 10}},  {2, 11, 12, {11, 11, 11}},
    {2, 12, 14, {9, 10, 11}},  {2, 13, 17, {12, 13, 13}}, {2, 14, 15, {12, 14, 14}},
    {2, 15, 16, {10, 14, 15}}, {1, 16, 23, {15, 16, 16}}, {2, 17, 18, {9, 13, 17}},
    {2, 18, 20, {17, 18, 18}}, {2, 19, 20, {8, 19, 19}},  {2, 20, 22, {18, 19, 20}},
    {1, 24, 28, {3, 21, 21}},  {1, 25, 27, {6, 21, 22}},  {1, 26, 30, {22, 23, 23}},
    {1, 27, 28, {22, 24, 24}}, {1, 28, 29, {21, 24, 25}}, {0, 29, 37, {25, 26, 26}},
    {1, 30, 32, {6, 23, 27}},  {1, 32, 34, {27, 28, 28}}, {1, 33, 34, {3, 29, 29}},
    {1, 34, 36, {28, 29, 30}}, {0, 38, 39, {31, 31, 31}}, {0, 39, 40, {31, 32, 32}},
    {0, 40, 44, {2, 32, 33}},  {0, 41, 45, {33, 34, 34}}, {0, 42, 43, {35, 35, 35}},
    {0, 43, 43, {35, 36, 36}}, {0, 44, 56, {33, 37, 37}}, {0, 45, 51, {2, 34, 38}},
    {0, 46, 47, {39, 39, 39}}, {0, 48, 52, {40, 40, 40}}, {0, 49, 50, {40, 41, 41}},
    {0, 51, 52, {38, 42, 42}}, {0, 53, 54, {43, 43, 43}}, {0, 55, 56, {44, 44, 44}},
    {0, 57, 58, {45, 45, 45}}, {0, 59, 60, {46, 46, 46}}, {0, 60, 61, {46, 47, 47}},
};
#define STEP_IMAGES (sizeof step_images / sizeof *step_images)

/* Largest first takes a tenth more. */
static void test_the_bound_is_met_by_a_step(void)
{
    struct problem p;
    prepare(&p, STEP_IMAGES);
    for (size_t i = 0; i < STEP_IMAGES; i++) {
        const struct step_image *image = &step_images[i];
        p.items[i] = item_of(4u >> image->half, 8u << image->half, image->first, image->last);
        p.items[i].own_across = 1u << image->half;
        for (int k = 0; k < 3; k++)
            if (image->conflicts[k] != i)
                set_conflict(&p, i, image->conflicts[k]);
    }
    check_solved(&p);
    CU_ASSERT_EQUAL(placement_size(&p.placement), p.placement.lower_bound);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_random_sets_are_placed),
        UNIT_TEST(test_the_same_items_have_the_same_places),
        UNIT_TEST(test_nothing_takes_nothing),
        UNIT_TEST(test_a_chain_takes_two_textures),
        UNIT_TEST(test_cells_of_one_texture_are_shared_out),
        UNIT_TEST(test_smaller_images_lie_side_by_side),
        UNIT_TEST(test_formats_share_nothing),
        UNIT_TEST(test_lives_include_both_ends),
        UNIT_TEST(test_the_bound_is_met_where_it_can_be),
        UNIT_TEST(test_the_bound_is_met_by_a_step),
        CU_TEST_INFO_NULL,
    };
    return unit_run("placement", tests, argc, argv);
}
