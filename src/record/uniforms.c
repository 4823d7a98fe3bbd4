/* Uniforms: how a program declares them, and the words that each dispatch brings. Both lists are in
 * this file because they have one order. */
#include "record/uniforms.h"

#include <string.h>

/* ---- Declarations ---- */

/* How a uniform is written: as a member of the block, as a variable, or the one set from the
 * other. Where the device's traits ask for copies bodies use the variables, which main sets before
 * anything else; elsewhere the members themselves, and the compiler decides where each is read.
 * With plain uniforms there is no block: the same words are an array, and each name stands for one.
 * V3D's compiler (Mesa 22.3 to 25.0) never ends on some blocks: it sorts the reads that lie within
 * 16 bytes of each other, and starts again at a read that it has just moved if that was the last
 * instruction before a branch. */
enum uniform_line { LINE_MEMBER, LINE_VARIABLE, LINE_SET, LINE_WORD };

struct uniform_writer {
    struct text *text;
    enum uniform_line line;
    uint32_t word; /* the next one's index */
};

static void add_uniform_line(struct uniform_writer *w, bool is_float, const char *name,
                             const char *suffix)
{
    static const char components[] = "xyzw";
    const char *type = is_float ? "float" : "int";
    uint32_t word = w->word++;
    if (w->line == LINE_SET)
        text_format(w->text, "    %s%s = uniforms.%s%s;\n", name, suffix, name, suffix);
    else if (w->line == LINE_WORD)
        text_format(w->text, "#define %s%s %s(uniform_words[%u].%c)\n", name, suffix,
                    is_float ? "intBitsToFloat" : "", word / 4, components[word % 4]);
    else
        text_format(w->text, "%s %s%s;\n", type, name, suffix);
}

bool view_is_plain(const struct pass *pass, const struct image_view *view)
{
    return pass->owner.outside_graph && !view->storage->within && !storage_is_folded(view->storage);
}

static uint32_t view_word_count(const struct pass *pass, const struct image_view *view)
{
    return view_is_plain(pass, view) ? PASS_VIEW_WORDS / 2 : PASS_VIEW_WORDS;
}

static void add_view_lines(struct uniform_writer *w, const struct pass *pass,
                           const struct pass_texture *items, uint32_t count)
{
    static const char *const words[PASS_VIEW_WORDS] = {
        "_layer",  "_stride",      "_width", "_height",    "_channels",   "_images",
        "_across", "_across_bits", "_down",  "_cell_bits", "_cell_width", "_cell_height"};
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t word = 0; word < view_word_count(pass, &items[i].view); word++)
            add_uniform_line(w, false, items[i].name, words[word]);
}

/* The order here is that of program_uniforms. Scalars of std140 lie 4 bytes apart. */
static void add_uniform_lines(struct text *t, enum uniform_line line, const struct pass *pass)
{
    static const char *const axes[] = {"_x", "_y", "_z"};
    struct uniform_writer w = {.text = t, .line = line};
    for (int i = 0; i < 3; i++)
        add_uniform_line(&w, false, "grid", axes[i]);
    for (int i = 0; i < 3; i++)
        add_uniform_line(&w, false, "origin", axes[i]);
    add_view_lines(&w, pass, pass->textures, pass->texture_count);
    add_view_lines(&w, pass, pass->images, pass->image_count);
    for (uint32_t i = 0; i < pass->uniform_count; i++)
        add_uniform_line(&w, pass->uniforms[i].is_float, pass->uniforms[i].name, "");
}

static void declare_words(struct text *t, const struct pass *pass)
{
    text_format(t, "layout(location = 1) uniform ivec4 uniform_words[%zu];\n",
                (program_uniforms(pass, NULL) + 3) / 4);
    add_uniform_lines(t, LINE_WORD, pass);
}

static void declare_block(struct text *t, const struct pass *pass,
                          const struct glcnn_device_traits *traits)
{
    text_format(t, "layout(std140, binding = 0) uniform Parameters {\n");
    add_uniform_lines(t, LINE_MEMBER, pass);
    text_format(t, traits->uniform_copies ? "} uniforms;\n" : "};\n");
    if (traits->uniform_copies)
        add_uniform_lines(t, LINE_VARIABLE, pass);
}

void uniforms_declare(struct text *t, const struct pass *pass,
                      const struct glcnn_device_traits *traits)
{
    if (traits->plain_uniforms)
        declare_words(t, pass);
    else
        declare_block(t, pass, traits);
}

void uniforms_copy(struct text *t, const struct pass *pass)
{
    add_uniform_lines(t, LINE_SET, pass);
}

/* ---- Words ---- */

/* Of a power of two, its logarithm. */
static uint32_t bits_of(uint32_t power)
{
    uint32_t bits = 0;
    while (power > 1u << bits)
        bits++;
    return bits;
}

void uniforms_of_view(const struct image_view *view, uint32_t words[PASS_VIEW_WORDS])
{
    const struct storage *storage = view->storage;
    const uint32_t all[PASS_VIEW_WORDS] = {view->first_layer +
                                               storage->cell * storage->across * storage->down,
                                           view->layer_stride,
                                           view->width,
                                           view->height,
                                           view->channels,
                                           view->images,
                                           storage->across - 1,
                                           bits_of(storage->across),
                                           storage->down - 1,
                                           bits_of(storage->across * storage->down),
                                           storage->width,
                                           storage->height};
    memcpy(words, all, sizeof all);
}

static size_t view_words(const struct pass *pass, const struct image_view *view, uint32_t *words)
{
    uint32_t all[PASS_VIEW_WORDS], count = view_word_count(pass, view);
    uniforms_of_view(view, all);
    if (words)
        memcpy(words, all, count * sizeof *words);
    return count;
}

size_t program_uniforms(const struct pass *pass, uint32_t *words)
{
    size_t count = 0;
    for (int axis = 0; words && axis < 3; axis++) {
        words[axis] = pass->grid[axis];
        words[axis + 3] = pass->origin[axis];
    }
    count += 6;
    for (uint32_t i = 0; i < pass->texture_count; i++)
        count += view_words(pass, &pass->textures[i].view, words ? words + count : NULL);
    for (uint32_t i = 0; i < pass->image_count; i++)
        count += view_words(pass, &pass->images[i].view, words ? words + count : NULL);
    for (uint32_t i = 0; i < pass->uniform_count; i++, count++)
        if (words)
            memcpy(words + count, &pass->uniforms[i].value, sizeof *words);
    return count;
}

/* Rounded up to 16 bytes, as std140 does, so that the bound range covers the block. */
size_t uniforms_size(const struct pass *pass)
{
    return (program_uniforms(pass, NULL) * 4 + 15) / 16 * 16;
}
