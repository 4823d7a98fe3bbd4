/* Words of an augmentation: a table from a word to a parameter and its range. */
#include "augment.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/option.h"
#include "base/random.h"

struct word {
    const char *name;
    enum { FLAG, WHOLE, REAL } kind; /* of a bool, a uint32_t, a float */
    size_t offset;                   /* in struct augment */
    double high;                     /* of its value; the low end is 0 */
};

#define IN(FIELD) offsetof(struct augment, FIELD)
static const struct word words[] = {{"flip", FLAG, IN(geometry.flip_horizontal), 0},
                                    {"flip_vertical", FLAG, IN(geometry.flip_vertical), 0},
                                    {"crop", WHOLE, IN(geometry.shift), 4096},
                                    {"rotate", REAL, IN(geometry.rotation), 180},
                                    {"scale", REAL, IN(geometry.scale), 0.5},
                                    {"reflect", FLAG, IN(geometry.reflect), 0},
                                    {"brightness", REAL, IN(color.brightness), 1},
                                    {"contrast", REAL, IN(color.contrast), 1},
                                    {"hue", REAL, IN(color.hue), 180},
                                    {"saturation", REAL, IN(color.saturation), 1},
                                    {"gain", REAL, IN(color.gain), 1},
                                    {"noise", REAL, IN(color.noise), 1},
                                    {"cutout", WHOLE, IN(color.cutout), 4096},
                                    {"mixup", REAL, IN(mixup), 100},
                                    {"cutmix", REAL, IN(cutmix), 100},
                                    {"mosaic", FLAG, IN(mosaic), 0}};
enum { WORDS = sizeof words / sizeof *words, LONGEST = 64 };

/* ---- Reading ---- */

static const struct word *find_word(const char *name, size_t length)
{
    for (size_t i = 0; i < WORDS; i++)
        if (strlen(words[i].name) == length && strncmp(words[i].name, name, length) == 0)
            return &words[i];
    return NULL;
}

static bool complain_of_word(const char *text, char error[GLCNN_ERROR_LENGTH])
{
    const char *names[WORDS];
    char hint[256];
    for (size_t i = 0; i < WORDS; i++)
        names[i] = words[i].name;
    glcnn_suggest(text, strcspn(text, "=,"), names, WORDS, hint, sizeof hint);
    snprintf(error, GLCNN_ERROR_LENGTH, "\"%.40s\" is not an augmentation%s", text, hint);
    return false;
}

static bool complain_of_value(const struct word *word, const char *value,
                              char error[GLCNN_ERROR_LENGTH])
{
    if (word->kind == FLAG)
        snprintf(error, GLCNN_ERROR_LENGTH, "%s takes no value, but has \"%.40s\"", word->name,
                 value);
    else
        snprintf(error, GLCNN_ERROR_LENGTH, "%s is \"%.40s\"; it must be a %snumber in 0 .. %g",
                 word->name, value ? value : "", word->kind == WHOLE ? "whole " : "", word->high);
    return false;
}

static bool set_value(const struct word *word, const char *value, struct augment *augment)
{
    char *at = (char *)augment + word->offset;
    uint64_t whole = 0;
    double real = 0;
    if ((word->kind == FLAG) != !value ||
        (word->kind == WHOLE && !option_whole(value, 0, (uint64_t)word->high, &whole)) ||
        (word->kind == REAL && !option_real(value, 0, word->high, &real)))
        return false;
    if (word->kind == FLAG)
        *(bool *)at = true;
    else if (word->kind == WHOLE)
        memcpy(at, &(uint32_t){(uint32_t)whole}, sizeof(uint32_t));
    else
        memcpy(at, &(float){(float)real}, sizeof(float));
    return true;
}

/* One word, "crop=4", of which `seen` has the bits of those before it. */
static bool read_word(const char *text, struct augment *augment, unsigned *seen,
                      char error[GLCNN_ERROR_LENGTH])
{
    const char *equals = strchr(text, '='), *value = equals ? equals + 1 : NULL;
    const struct word *word = find_word(text, equals ? (size_t)(equals - text) : strlen(text));
    if (!word)
        return complain_of_word(text, error);
    unsigned bit = 1u << (word - words);
    if (*seen & bit) {
        snprintf(error, GLCNN_ERROR_LENGTH, "%s is given twice", word->name);
        return false;
    }
    *seen |= bit;
    return set_value(word, value, augment) || complain_of_value(word, value, error);
}

bool augment_read(const char *text, struct augment *augment, char error[GLCNN_ERROR_LENGTH])
{
    struct augment made = {.geometry.seed = 0};
    unsigned seen = 0;
    bool more = *text != 0;
    while (more) {
        char word[LONGEST];
        size_t length = strcspn(text, ",");
        if (length >= sizeof word)
            return complain_of_word(text, error);
        memcpy(word, text, length);
        word[length] = 0;
        if (!read_word(word, &made, &seen, error))
            return false;
        more = text[length] == ',';
        text += length + 1;
    }
    *augment = made;
    return true;
}

/* ---- Nodes ---- */

bool augment_asks_geometry(const struct augment *a)
{
    return a->geometry.flip_horizontal || a->geometry.flip_vertical || a->geometry.shift > 0 ||
           a->geometry.rotation > 0 || a->geometry.scale > 0;
}

static bool asks_color(const struct augment *a)
{
    const struct glcnn_augment_color_parameters *c = &a->color;
    return c->brightness > 0 || c->contrast > 0 || c->hue > 0 || c->saturation > 0 || c->gain > 0 ||
           c->noise > 0 || c->cutout > 0;
}

bool augment_is_single(const struct augment *augment)
{
    return augment_asks_geometry(augment) || asks_color(augment);
}

bool augment_is_asked(const struct augment *augment)
{
    return augment_is_single(augment) || augment_mixes(augment) || augment->mosaic;
}

bool augment_mixes(const struct augment *augment)
{
    return augment->mixup > 0 || augment->cutmix > 0;
}

glcnn_image_node *augment_nodes(const struct augment *augment, uint64_t seed,
                                glcnn_image_node *source, glcnn_image_node *image_numbers)
{
    struct augment seeded = *augment;
    seeded.geometry.seed = seeded.color.seed = seed;
    if (augment_asks_geometry(augment))
        source = glcnn_augment_geometry_node(source, image_numbers, &seeded.geometry);
    if (asks_color(augment))
        source = glcnn_augment_color_node(source, image_numbers, &seeded.color);
    return source;
}

void augment_number(uint32_t number, uint32_t epoch, uint8_t bytes[AUGMENT_CHANNELS])
{
    for (int b = 0; b < 4; b++) {
        bytes[b] = (uint8_t)(number >> (8 * b));
        bytes[4 + b] = (uint8_t)(epoch >> (8 * b));
    }
}

uint64_t augment_random(uint64_t seed, uint64_t epoch, uint32_t number)
{
    uint64_t state = seed;
    state = random_next(&state) ^ epoch;
    state = random_next(&state) ^ number;
    return random_next(&state);
}
