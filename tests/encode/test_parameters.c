/* An offset, edge mode or padding that "glcnn run KERNEL -p NAME=VALUE" takes changes what the kernel computes of
 * some case of the self-check, or is refused there; one that it does not read is refused by its name. */
#include "tests/cases.h"

#define MOST_NUMBERS 1500 /* of the source of a case that is tried */

static const char *const prefixes[] = {"", "primary_", "secondary_"};
struct row {
    const char *name, *values[3];
};
static const struct row rows[] = {{"offset_x", {"1", "-1", "0"}},
                                  {"offset_y", {"1", "-1", "0"}},
                                  {"edge_mode", {"clamp", "zero", "zero"}}};
/* How a result's size and offset are made: of a gradient, that of its forward kernel. */
static const struct row of_results[] = {
    {"padding", {"valid", "full", "same"}},
    {"align", {"top_left", "bottom_right", "centered"}},
    {"remainder", {"top_left", "bottom_right", "bottom_left"}},
    {"exclude_edges", {"true", "true", "true"}},
};

static bool is_same(struct argument_map *a, struct argument_map *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; i < a->count && same; i++) {
        const struct named_array *x = &a->arrays[i], *y = argument_map_find(b, x->name);
        same = y && x->rank == y->rank && memcmp(x->shape, y->shape, x->rank * 4) == 0 &&
               memcmp(x->data, y->data, array_count(x) * sizeof *x->data) == 0;
    }
    return same;
}

/* Has offsets count as they are set, by the size that the result has anyway. */
static void fix_size(struct case_run *c, const struct glcnn_descriptor *d)
{
    struct resolved *r = calloc(1, sizeof *r);
    size_t n = c->run.settings.count;
    if (r && !c->run.settings.destination_width && resolve(&c->run, d, r)) {
        const struct operation *o = r->has_forward ? &r->forward : &r->operation;
        const int to = descriptor_place(o->descriptor, PLACE_DESTINATION);
        const struct glcnn_image_descriptor *size =
            &(r->has_forward ? &r->forward_shapes : &r->shapes)->images[to < 0 ? 0 : to];
        c->settings[n++] =
            (struct glcnn_setting){.name = "destination_width", .value = size->width};
        c->settings[n++] =
            (struct glcnn_setting){.name = "destination_height", .value = size->height};
        run_settings_read(c->settings, to < 0 ? n - 2 : n, &c->run.settings);
    }
    free(r);
}

/* Do results of case `index` change, or become an error, by a setting behind the case's own? */
static bool changes(const struct glcnn_descriptor *d, size_t index, const char *text, bool fixed)
{
    struct case_run c;
    struct argument_map other = {.count = 0};
    bool changed = false;
    if (case_prepare(&c, d, index, GLCNN_CHANNEL_FORMAT_FLOAT32) && check_copy(&c.map, &other)) {
        if (fixed)
            fix_size(&c, d);
        size_t n = c.run.settings.count;
        const bool runs = n < CHECK_SETTINGS && run_kernel(&c.run, d) == GLCNN_SUCCESS;
        CU_ASSERT_EQUAL_FATAL(glcnn_setting_parse(d->name, text, &c.settings[n], c.error),
                              GLCNN_SUCCESS);
        c.run.map = &other;
        run_settings_read(c.settings, n + 1, &c.run.settings);
        changed = runs && (run_kernel(&c.run, d) != GLCNN_SUCCESS || !is_same(&c.map, &other));
    }
    argument_map_free(&other);
    case_release(&c);
    return changed;
}

static bool is_read(const struct glcnn_descriptor *d, const char *name, const char *const values[3])
{
    const struct check_case *cases = reference_of(d)->cases;
    for (size_t i = 0; cases[i].settings; i++) {
        const uint32_t *s = cases[i].shape;
        if ((uint64_t)s[0] * s[1] * s[2] * s[3] > MOST_NUMBERS)
            continue;
        for (int tried = 0; tried < 6; tried++) {
            char text[96];
            snprintf(text, sizeof text, "%s=%s", name, values[tried % 3]);
            if (changes(d, i, text, tried >= 3))
                return true;
        }
    }
    return false;
}

static void check_row(const struct glcnn_descriptor *d, const char *prefix, const struct row *row)
{
    char name[64], text[96], error[GLCNN_ERROR_LENGTH];
    struct glcnn_setting setting;
    snprintf(name, sizeof name, "%s%s", prefix, row->name);
    snprintf(text, sizeof text, "%s=%s", name, row->values[0]);
    if (glcnn_setting_parse(d->name, text, &setting, error) != GLCNN_SUCCESS) {
        CU_ASSERT_PTR_NOT_NULL(strstr(error, name));
    } else if (!is_read(d, name, row->values)) {
        CU_FAIL("a parameter is taken that is not read");
        printf("\n    UNREAD %s %s\n", d->name, name);
    }
}

static void test_kernel(void)
{
    const struct glcnn_descriptor *d = cases_kernel();
    for (size_t p = 0; p < 3; p++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            check_row(d, prefixes[p], &rows[i]);
    for (size_t i = 0; i < sizeof of_results / sizeof *of_results; i++)
        check_row(d, "", &of_results[i]);
}

int main(int argc, char *argv[])
{
    CU_TestInfo *all = cases_table(test_kernel, NULL, NULL);
    int status = cases_main("parameters", all, argc, argv);
    free(all);
    return status;
}
