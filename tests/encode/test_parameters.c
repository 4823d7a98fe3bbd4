/* An offset, edge mode or padding that "glcnn run KERNEL -p NAME=VALUE" takes changes what the kernel computes of
 * some case of the self-check, or is refused there; one that it does not read, or that another one leaves without an
 * effect, is refused by its name. */
#include "tests/cases.h"

#define MOST_NUMBERS 1500 /* of the source of a case that is tried */

static const char *const prefixes[] = {"", "primary_", "secondary_"};
struct row {
    const char *name, *values[3];
    const char *beside; /* a setting that it needs; NULL: none */
};
static const struct row rows[] = {{"offset_x", {"1", "-1", "0"}, NULL},
                                  {"offset_y", {"1", "-1", "0"}, NULL},
                                  {"edge_mode", {"clamp", "zero", "zero"}, NULL}};
/* How a result's size and offset are made: of a gradient, that of its forward kernel. */
static const struct row of_results[] = {
    {"padding", {"valid", "full", "same"}, NULL},
    {"align", {"top_left", "bottom_right", "centered"}, NULL},
    {"remainder", {"top_left", "bottom_right", "bottom_left"}, NULL},
    {"exclude_edges", {"true", "true", "true"}, NULL},
    {"pad_left", {"1", "2", "-1"}, "padding=custom"},
    {"pad_right", {"1", "2", "-1"}, "padding=custom"},
    {"pad_top", {"1", "2", "-1"}, "padding=custom"},
    {"pad_bottom", {"1", "2", "-1"}, "padding=custom"},
};

#define SIZE "destination_width=2 destination_height=2"
/* Settings of kernels that pad, of which the last has no effect beside the others, or without one. */
static const struct idle {
    const char *settings, *reason;
} idle[] = {
    {"pad_left=1", "pad_left has no effect without padding=custom"},
    {"pad_right=1", "pad_right has no effect without padding=custom"},
    {"padding=same pad_top=0", "pad_top has no effect without padding=custom"},
    {"padding=custom padding=full pad_bottom=1", "pad_bottom has no effect without padding=custom"},
    {"padding=custom align=top_left", "align has no effect beside padding=custom"},
    {"padding=custom remainder=top_right", "remainder has no effect beside padding=custom"},
    {"align=bottom_right remainder=top_right", "remainder has no effect without align=centered"},
    {SIZE " padding=full", "padding has no effect beside destination_width and destination_height"},
    {SIZE " align=top_left", "align has no effect beside destination_width"},
    {SIZE " remainder=top_right", "remainder has no effect beside destination_width"},
    {SIZE " pad_left=1", "pad_left has no effect beside destination_width"},
    {"padding=valid offset_x=1", "offset_x has no effect without destination_width"},
    {"offset_y=-1", "offset_y has no effect without destination_width and destination_height"},
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

static void parse(const struct glcnn_descriptor *d, const char *text, struct glcnn_setting *setting)
{
    char error[GLCNN_ERROR_LENGTH];
    CU_ASSERT_EQUAL_FATAL(glcnn_setting_parse(d->name, text, setting, error), GLCNN_SUCCESS);
}

/* Do results of case `index` change, or become an error, by a setting behind the case's own? */
static bool changes(const struct glcnn_descriptor *d, size_t index, const struct row *row,
                    const char *text, bool fixed)
{
    struct case_run c;
    struct argument_map other = {.count = 0};
    bool changed = false;
    if (case_prepare(&c, d, index, GLCNN_CHANNEL_FORMAT_FLOAT32) && check_copy(&c.map, &other)) {
        if (fixed)
            fix_size(&c, d);
        size_t n = c.run.settings.count;
        const bool runs = n + 1 < CHECK_SETTINGS && run_kernel(&c.run, d) == GLCNN_SUCCESS;
        if (row->beside)
            parse(d, row->beside, &c.settings[n++]);
        parse(d, text, &c.settings[n]);
        c.run.map = &other;
        run_settings_read(c.settings, n + 1, &c.run.settings);
        changed = runs && (run_kernel(&c.run, d) != GLCNN_SUCCESS || !is_same(&c.map, &other));
    }
    argument_map_free(&other);
    case_release(&c);
    return changed;
}

static bool is_read(const struct glcnn_descriptor *d, const char *name, const struct row *row)
{
    const struct check_case *cases = reference_of(d)->cases;
    for (size_t i = 0; cases[i].settings; i++) {
        const uint32_t *s = cases[i].shape;
        if ((uint64_t)s[0] * s[1] * s[2] * s[3] > MOST_NUMBERS)
            continue;
        for (int tried = 0; tried < 6; tried++) {
            char text[96];
            snprintf(text, sizeof text, "%s=%s", name, row->values[tried % 3]);
            if (changes(d, i, row, text, tried >= 3))
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
    } else if (!is_read(d, name, row)) {
        CU_FAIL("a parameter is taken that is not read");
        printf("\n    UNREAD %s %s\n", d->name, name);
    }
}

/* The row's last setting is refused by its name, before inputs that are missing. */
static void check_idle(const struct glcnn_descriptor *d, const struct idle *row)
{
    struct glcnn_setting settings[4];
    struct glcnn_array *outputs;
    size_t count = 0, output_count;
    char text[128], error[GLCNN_ERROR_LENGTH], *rest = text;
    snprintf(text, sizeof text, "%s", row->settings);
    for (char *at; (at = strtok_r(rest, " ", &rest)) && count < 4;)
        parse(d, at, &settings[count++]);
    const glcnn_status status =
        glcnn_run(NULL, d->name, settings, count, NULL, 0,
                  &(struct glcnn_run_options){.reference = true}, &outputs, &output_count, error);
    CU_ASSERT_EQUAL(status, GLCNN_INVALID_ARGUMENT);
    if (!strstr(error, row->reason)) {
        CU_FAIL("a parameter without an effect is taken");
        printf("\n    IDLE %s %s: %s\n", d->name, row->settings, error);
    }
}

static void check_all_idle(const struct glcnn_descriptor *d)
{
    char error[GLCNN_ERROR_LENGTH];
    struct glcnn_setting setting;
    if (glcnn_setting_parse(d->name, "padding=custom", &setting, error) != GLCNN_SUCCESS)
        return;
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        check_idle(d, &idle[i]);
}

static void test_kernel(void)
{
    const struct glcnn_descriptor *d = cases_kernel();
    for (size_t p = 0; p < 3; p++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            check_row(d, prefixes[p], &rows[i]);
    for (size_t i = 0; i < sizeof of_results / sizeof *of_results; i++)
        check_row(d, "", &of_results[i]);
    check_all_idle(d);
}

int main(int argc, char *argv[])
{
    CU_TestInfo *all = cases_table(test_kernel, NULL, NULL);
    int status = cases_main("parameters", all, argc, argv);
    free(all);
    return status;
}
