/* Options of command lines, and numbers in their values and in texts that programs have written. */
#ifndef GLCNN_BASE_OPTION_H
#define GLCNN_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All of the text is a whole number in low .. high, exact to the last of 64 bits where it is
 * written in digits alone; "1e6" is one too. A k, M or G behind it stands for thousands, millions
 * and so on. False, and *value is not to be used, if it is not. */
bool option_whole(const char *text, uint64_t low, uint64_t high, uint64_t *value);
/* The same where k, M and G stand for 1024, 1024^2 and 1024^3. */
bool option_bytes(const char *text, uint64_t low, uint64_t high, uint64_t *value);
/* The same for any number. */
bool option_real(const char *text, double low, double high, double *value);

/* Reads "64" or "80x60", each up to `most`. False: it is neither. */
bool option_extent(const char *text, uint32_t most, uint32_t *width, uint32_t *height);
/* The words that say what is expected, with `most`. */
#define OPTION_EXTENT "it must be a number or WIDTHxHEIGHT, each in 1 .. %u"

struct text;
/* Adds " --NAME VALUE", as a shell takes it; value NULL: nothing. */
void option_add(struct text *text, const char *name, const char *value);

/* ---- Tables ---- */

/* What values that name files begin with in the tables; the user does not see it. What is written is
 * claimed (claim.h), and tests/tool/test_doors.sh tries each of both kinds. */
#define READS  "<"
#define WRITES ">"

/* The kind says what a value becomes. */
enum option_kind {
    OPTION_BY_HAND,   /* whatever the command makes of it */
    OPTION_IS_FLAG,   /* bool: true */
    OPTION_IS_NAME,   /* const char *: the value itself */
    OPTION_IS_WHOLE,  /* uint32_t */
    OPTION_IS_LONG,   /* uint64_t */
    OPTION_IS_REAL,   /* double */
    OPTION_IS_EXTENT, /* uint32_t, and the next: option_extent */
};

/* An option of a command. Letters above 255 have no short form. A table ends without a name. */
struct option_row {
    int letter; /* 0: nobody calls it by one */
    const char *name;
    const char *value; /* what its value is called; NULL: it takes none */
    const char *text;
    enum option_kind kind;
    size_t at; /* the member of the command's struct that gets it */
    double least, most;
};

/* The end of a row: a member of a struct, and what numbers may be. */
#define FLAG_AT(TYPE, MEMBER)               OPTION_IS_FLAG, offsetof(TYPE, MEMBER)
#define NAME_AT(TYPE, MEMBER)               OPTION_IS_NAME, offsetof(TYPE, MEMBER)
#define WHOLE_AT(TYPE, MEMBER, LEAST, MOST) OPTION_IS_WHOLE, offsetof(TYPE, MEMBER), LEAST, MOST
#define LONG_AT(TYPE, MEMBER)               OPTION_IS_LONG, offsetof(TYPE, MEMBER)
#define REAL_AT(TYPE, MEMBER, LEAST, MOST)  OPTION_IS_REAL, offsetof(TYPE, MEMBER), LEAST, MOST
#define EXTENT_AT(TYPE, MEMBER, MOST)       OPTION_IS_EXTENT, offsetof(TYPE, MEMBER), 1, MOST

#define DEVICE_OPTIONS                                                                             \
    {'d', "device", "DEVICE", "a node, number or driver of \"glcnn info\", software, default"},    \
        {'w', "wait", "SECONDS",                                                                   \
         "for a GPU or a compiler of shaders that makes no progress (default 300)"},               \
    {                                                                                              \
        'v', "verbose", NULL, "say what the library does, on standard error"                       \
    }

#endif
