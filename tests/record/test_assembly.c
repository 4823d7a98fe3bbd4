/* Sources of shaders: what they are put together from, and the files of GLCNN_SHADERS. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "device/device.h"
#include "image/image.h"
#include "record/assemble.h"
#include "record/program.h"
#include "record/shader_source.h"
#include "tests/fixture.h"

/* ---- Parts ---- */

static size_t occurrences(const char *text, const char *of)
{
    size_t count = 0;
    while ((text = strstr(text, of)) != NULL) {
        count++;
        text += strlen(of);
    }
    return count;
}

static struct text assembled(struct pass *pass)
{
    struct text source = {0};
    pass_grid(pass, 1, 1, 1);
    GOOD_FATAL(shader_assemble(device, pass, &source));
    return source;
}

static void test_what_a_file_needs_stands_before_it_once(void)
{
    struct pass pass = {.shader = "record/copy_vector.comp"};
    pass_library(&pass, "lib/gather.glsl");
    pass_library(&pass, "lib/window.glsl");
    struct text source = assembled(&pass);
    const char *divide = strstr(source.bytes, "int floor_divide(");
    const char *window = strstr(source.bytes, "ivec2 windows_with(");
    const char *gather = strstr(source.bytes, "vec4 gathered(");
    const char *body = strstr(source.bytes, "void invocation(");
    CU_ASSERT_FATAL(divide && window && gather && body);
    CU_ASSERT(divide < window && window < gather && gather < body);
    CU_ASSERT_EQUAL(occurrences(source.bytes, "int floor_divide("), 1);
    CU_ASSERT_EQUAL(occurrences(source.bytes, "ivec2 windows_with("), 1);
    text_free(&source);
}

static void test_a_template_is_there_for_each_name(void)
{
    struct pass pass = {.shader = "record/copy_vector.comp"};
    pass_template(&pass, "arithmetic/operand.glsl", "primary");
    pass_template(&pass, "arithmetic/operand.glsl", "secondary");
    struct text source = assembled(&pass);
    CU_ASSERT_EQUAL(occurrences(source.bytes, "vec4 primary_operand("), 1);
    CU_ASSERT_EQUAL(occurrences(source.bytes, "vec4 secondary_operand("), 1);
    CU_ASSERT_EQUAL(occurrences(source.bytes, "NAME"), 0);
    text_free(&source);
}

/* What stands at the beginning of a line up to its first ( = or ;, a layout apart; NULL unless that
 * defines a function, a variable or a macro. */
static const char *definition(const char *line, size_t *length)
{
    if (strncmp(line, "layout(", 7) == 0)
        line += strcspn(line, ")\n") + 1;
    *length = strcspn(line, "(=;{\n");
    bool named = (*line == ' ' || (*line >= 'a' && *line <= 'z')) && line[*length] != '\n';
    return named || strncmp(line, "#define ", 8) == 0 ? line : NULL;
}

static bool has_name(const char *text, size_t length)
{
    const char *name = strstr(text, "NAME");
    return name && (size_t)(name - text) < length;
}

static void check_definitions(const struct glcnn_shader_source *file)
{
    for (const char *line = file->text; *line; line += strcspn(line, "\n") + 1) {
        size_t length;
        const char *found = strncmp(line, "    ", 4) == 0 ? NULL : definition(line, &length);
        if (!found || has_name(found, length))
            continue;
        printf("\n    glsl/%s: %.*s", file->name, (int)strcspn(line, "\n"), line);
        CU_FAIL("a template defines something without NAME");
    }
}

/* The first line that is no comment and has the word. */
static bool is_template(const struct glcnn_shader_source *file)
{
    for (const char *line = file->text; *line; line += strcspn(line, "\n") + 1) {
        if (strncmp(line, "//", 2) != 0 && has_name(line, strcspn(line, "\n")))
            return true;
    }
    return false;
}

/* One that has not would be there twice in a pass that has the template twice. */
static void test_what_a_template_defines_has_its_name(void)
{
    size_t templates = 0;
    for (const struct glcnn_shader_source *s = glcnn_shader_sources; s->name; s++)
        if (is_template(s)) {
            templates++;
            check_definitions(s);
        }
    CU_ASSERT(templates > 30);
}

/* Number, by the last #line before it, of the line that begins with `text`. */
static long number_of(const char *source, const char *text)
{
    long number = 0;
    for (const char *line = source; *line; line += strcspn(line, "\n") + 1, number++) {
        if (strncmp(line, text, strlen(text)) == 0)
            return number;
        if (strncmp(line, "#line ", 6) == 0)
            number = strtol(line + 6, NULL, 10) - 1;
    }
    return -1;
}

static void test_a_line_is_taken_back_to_its_file(void)
{
    static const struct {
        const char *text, *file;
        long line;
    } rows[] = {
        {"int floor_divide(", "lib/divide.glsl", 2},
        {"vec4 gathered(", "lib/gather.glsl", 13},
        {"void invocation(", "record/copy_vector.comp", 2},
    };
    struct pass pass = {.shader = "record/copy_vector.comp"};
    pass_library(&pass, "lib/gather.glsl");
    struct text source = assembled(&pass);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        long line = number_of(source.bytes, rows[i].text);
        CU_ASSERT_STRING_EQUAL(shader_file(&pass, &line), rows[i].file);
        CU_ASSERT_EQUAL(line, rows[i].line);
    }
    long generated = number_of(source.bytes, "void main(");
    CU_ASSERT_STRING_EQUAL(shader_file(&pass, &generated), "(generated declarations)");
    text_free(&source);
}

static void test_a_file_that_is_not_there_is_named(void)
{
    struct text source = {0};
    struct pass pass = {.shader = "record/copy_vector.comp"};
    pass_library(&pass, "lib/nothing.glsl");
    REFUSED(GLCNN_SHADER_ERROR, shader_assemble(device, &pass, &source));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device),
                                  "glsl/lib/nothing.glsl, which "
                                  "glsl/record/copy_vector.comp needs"));
    struct pass none = {.shader = "record/none.comp"};
    REFUSED(GLCNN_SHADER_ERROR, shader_assemble(device, &none, &source));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "no shader glsl/record/none.comp"));
    text_free(&source);
}

/* ---- What passes say wrongly ---- */

/* Of a pass that has two images where `second`. */
static void refuse_stores(const struct image_view *view, uint32_t layers, bool second,
                          const char *message)
{
    struct text source = {0};
    struct pass pass = {.shader = "record/fill.comp"};
    pass_overwrites(&pass, view, 0, 0, view->width, view->height, layers);
    pass_image(&pass, "destination", view);
    if (second)
        pass_image(&pass, "other", view);
    pass_grid_over(&pass, view->width, view->height, "destination", view);
    REFUSED(GLCNN_SHADER_ERROR, shader_assemble(device, &pass, &source));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), message));
    text_free(&source);
}

static void test_layers_that_an_image_has_not_are_refused(void)
{
    glcnn_image *image = make_image(3, 8, 5, 4);
    const struct image_view view = image_whole_view(image);
    refuse_stores(&view, 4, false,
                  "1 invocations along z store 4 layers of destination, so its 6 store 24, but the "
                  "image has 6;");
    refuse_stores(&view, 1, true, "stores all of its only image, and has 2;");
    glcnn_image_destroy(&image);
}

static void refuse_names(struct pass pass, const char *message)
{
    struct text source = {0};
    pass.shader = "record/copy_vector.comp";
    pass_grid(&pass, 1, 1, 1);
    REFUSED(GLCNN_SHADER_ERROR, shader_assemble(device, &pass, &source));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), message));
    text_free(&source);
}

static void test_two_of_one_name_are_refused(void)
{
    glcnn_image *image = make_image(1, 4, 5, 4);
    const struct image_view view = image_whole_view(image);
    struct pass vectors = {0}, mixed = {0}, textures = {0};
    pass_vector(&vectors, "source", NULL, VECTOR_READ);
    pass_vector(&vectors, "mask", NULL, VECTOR_READ);
    pass_vector_of(&vectors, "uint", "mask", NULL, VECTOR_WRITE);
    refuse_names(vectors, "record/copy_vector.comp: a vector and a vector of the pass are both "
                          "named mask;");
    pass_vector(&mixed, "destination", NULL, VECTOR_READ);
    pass_image(&mixed, "destination", &view);
    refuse_names(mixed, "an image and a vector of the pass are both named destination;");
    pass_texture(&textures, "source", &view);
    pass_texture(&textures, "source", &view);
    refuse_names(textures, "a texture and a texture of the pass are both named source;");
    glcnn_image_destroy(&image);
}

/* ---- Work groups ---- */

/* Of 128 invocations; `text`: how the source tells of them. */
static void check_group(struct pass pass, uint32_t narrow, bool rows, const char *text)
{
    const struct glcnn_device_traits kept = device->info.traits;
    device->info.traits.subgroups_along_x = rows;
    device->info.traits.width = 8;
    pass.shader = "record/copy_vector.comp";
    pass_local(&pass, narrow, 64 / narrow, 2);
    struct text source = assembled(&pass);
    CU_ASSERT_EQUAL(occurrences(source.bytes, text), 1);
    CU_ASSERT_EQUAL(occurrences(source.bytes, "layout(local_size_x"), 1);
    text_free(&source);
    device->info.traits = kept;
}

static void test_narrow_groups_lie_in_a_row_where_rows_run_in_step(void)
{
    check_group((struct pass){0}, 4, true, "layout(local_size_x = 128) in;");
    check_group((struct pass){0}, 4, true, "uvec3(lane % 4u, lane / 4u % 16u, lane / 64u)");
    check_group((struct pass){0}, 4, true, "gl_WorkGroupID * uvec3(4, 16, 2) + in_group");
    check_group((struct pass){0}, 4, false,
                "layout(local_size_x = 4, local_size_y = 16, local_size_z = 2) in;");
    check_group((struct pass){0}, 16, true,
                "layout(local_size_x = 16, local_size_y = 4, local_size_z = 2) in;");
    check_group((struct pass){.cooperative = true}, 4, true,
                "layout(local_size_x = 4, local_size_y = 16, local_size_z = 2) in;");
}

/* ---- Layers ---- */

/* Of a grid that ends with layer `layers` - 1. */
static void check_quotient(struct pass pass, uint32_t layers, bool floats, const char *text)
{
    const struct glcnn_device_traits kept = device->info.traits;
    struct text source = {0};
    device->info.traits.float_division = floats;
    pass.shader = "record/copy_vector.comp";
    pass_grid(&pass, 1, 1, layers - pass.origin[2]);
    GOOD_FATAL(shader_assemble(device, &pass, &source));
    CU_ASSERT_EQUAL(occurrences(source.bytes, text), 1);
    text_free(&source);
    device->info.traits = kept;
}

static void test_floats_divide_layers_that_they_number_exactly(void)
{
    static const char floats[] = "return int((float(layer) + 0.5) / float(per));",
                      whole[] = "return quotient(layer, per);";
    check_quotient((struct pass){0}, 1 << 20, true, floats);
    check_quotient((struct pass){0}, (1 << 20) + 1, true, whole);
    check_quotient((struct pass){.origin = {0, 0, 9}}, 1 << 20, true, floats);
    check_quotient((struct pass){.origin = {0, 0, 9}}, (1 << 20) + 1, true, whole);
    check_quotient((struct pass){0}, 1, false, whole);
}

#define SLICES 7u

/* Each channel has a slope of its own: whatever lies in another slice shows. */
static void check_layers(uint32_t images)
{
    const uint32_t channels = 4 * SLICES;
    glcnn_kernel *kernel = NULL;
    glcnn_command_buffer *commands = NULL;
    glcnn_image *source = make_image(images, channels, 1, 1);
    glcnn_image *result = make_image(images, channels, 1, 1);
    float slopes[4 * SLICES], *expected = malloc((size_t)images * sizeof slopes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(expected);
    for (uint32_t c = 0; c < channels; c++)
        slopes[c] = (float)(c + 1);
    for (size_t i = 0; i < (size_t)images * channels; i++)
        expected[i] = -slopes[i % channels];
    fill_constant(source, -1);
    GOOD_FATAL(glcnn_kernel_create(device, "neuron", &kernel));
    GOOD(glcnn_kernel_set(kernel, "neuron_type", GLCNN_NEURON_TYPE_PRELU));
    GOOD(glcnn_kernel_set_vector(kernel, "neuron_data", slopes, channels));
    GOOD_FATAL(glcnn_command_buffer_create(device, &commands));
    GOOD(glcnn_kernel_encode(commands, kernel,
                             &(struct glcnn_encode){.source = source, .destination = result}));
    GOOD(glcnn_command_buffer_commit(commands));
    CU_ASSERT(image_equals(result, expected));
    free(expected);
    glcnn_command_buffer_destroy(&commands);
    glcnn_kernel_destroy(&kernel);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
}

static void test_layers_are_of_their_images(void)
{
    check_layers(1);
    check_layers((1 << 20) / SLICES);
    check_layers((1 << 20) / SLICES + 1);
}

/* ---- Files ---- */

static char said[4096], folder[256];

static void hear(void *user, glcnn_log_level level, const char *text)
{
    (void)user;
    if (level <= GLCNN_LOG_WARNING && strlen(said) + strlen(text) + 2 < sizeof said)
        strcat(strcat(said, text), "\n");
}

static glcnn_device *open_writing(const char *where)
{
    const struct glcnn_device_parameters parameters = {.log = hear};
    glcnn_device *on = NULL;
    said[0] = 0;
    setenv("GLCNN_SHADERS", where, 1);
    GOOD_FATAL(glcnn_device_create(&parameters, &on));
    unsetenv("GLCNN_SHADERS");
    return on;
}

static size_t failures(glcnn_device *on, const char *kernel)
{
    size_t failed = 1;
    CU_ASSERT_EQUAL(glcnn_check(on, kernel, true, NULL, NULL, &failed), GLCNN_SUCCESS);
    return failed;
}

struct search {
    const char *bytes;
    bool found;
};

static void compare(void *user, const struct program *program)
{
    struct search *search = user;
    search->found |= strcmp(search->bytes, program->source) == 0;
}

static void count_program(void *user, const struct program *program)
{
    (void)program;
    ++*(size_t *)user;
}

/* Whether the file is what the driver got of one of the device's programs. */
static bool is_a_source(const glcnn_device *on, const char *name)
{
    static char bytes[100000];
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    bytes[fread(bytes, 1, sizeof bytes - 1, file)] = 0;
    fclose(file);
    unlink(path);
    struct search search = {.bytes = bytes};
    program_cache_each(on->programs, compare, &search);
    return search.found;
}

/* By the kernel, or none, its shader and its hash. */
static bool is_named_well(const char *name)
{
    static const char hexadecimal[] = "0123456789abcdef",
                      letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
    bool of_kernel = strncmp(name, "pooling_max.pooling_max", 23) == 0;
    const char *shader = strncmp(name, "none.", 5) == 0 ? name + 5 : of_kernel ? name + 12 : "";
    const char *hash = shader + strspn(shader, letters) + 1;
    return *shader && hash[-1] == '.' && strspn(hash, hexadecimal) == 16 &&
           strcmp(hash + 16, ".comp") == 0;
}

static void test_every_source_is_written(void)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.200s/glcnn-XXXXXX", temporary ? temporary : "/tmp");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    glcnn_device *on = open_writing(folder);
    CU_ASSERT_EQUAL(failures(on, "pooling_max"), 0);
    size_t programs = 0, files = 0, of_kernel = 0;
    program_cache_each(on->programs, count_program, &programs);
    DIR *listing = opendir(folder);
    CU_ASSERT_PTR_NOT_NULL_FATAL(listing);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        files++;
        of_kernel += strncmp(entry->d_name, "pooling_max.pooling_max.", 24) == 0;
        CU_ASSERT(is_named_well(entry->d_name));
        CU_ASSERT(is_a_source(on, entry->d_name));
    }
    closedir(listing);
    CU_ASSERT_EQUAL(files, programs);
    CU_ASSERT(of_kernel > 0);
    CU_ASSERT_EQUAL(rmdir(folder), 0);
    glcnn_device_destroy(&on);
}

static void test_a_file_that_cannot_be_written_is_logged_once(void)
{
    glcnn_device *on = open_writing("/nowhere/at/all");
    CU_ASSERT_EQUAL(failures(on, "pooling_max"), 0);
    CU_ASSERT_EQUAL(occurrences(said, "GLCNN_SHADERS: /nowhere/at/all/"), 1);
    CU_ASSERT_EQUAL(occurrences(said, "cannot be written: No such file or directory"), 1);
    glcnn_device_destroy(&on);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_what_a_file_needs_stands_before_it_once),
        UNIT_TEST(test_a_template_is_there_for_each_name),
        UNIT_TEST(test_what_a_template_defines_has_its_name),
        UNIT_TEST(test_a_line_is_taken_back_to_its_file),
        UNIT_TEST(test_a_file_that_is_not_there_is_named),
        UNIT_TEST(test_layers_that_an_image_has_not_are_refused),
        UNIT_TEST(test_two_of_one_name_are_refused),
        UNIT_TEST(test_narrow_groups_lie_in_a_row_where_rows_run_in_step),
        UNIT_TEST(test_floats_divide_layers_that_they_number_exactly),
        UNIT_TEST(test_layers_are_of_their_images),
        UNIT_TEST(test_every_source_is_written),
        UNIT_TEST(test_a_file_that_cannot_be_written_is_logged_once),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("assembly", tests, argc, argv);
}
