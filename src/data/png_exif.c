/* EXIF's orientation of PNG files. It is in a chunk eXIf, before the pixels or behind them, or, as
 * was usual before there was that chunk, in a text: "Raw profile type exif" or "APP1", of lines of
 * hexadecimal digits. libpng gives a chunk behind the pixels only once these are decoded. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "picture.h"

#define SIGNATURE    8
#define MAX_CHUNK    ((uint32_t)8 << 20)
#define MAX_TEXT     ((size_t)1 << 20) /* unpacked; the orientation stands at its beginning */
#define MAX_PROFILES 8                 /* that are unpacked */

struct chunk {
    char type[5];
    uint32_t size;
    uint8_t *bytes; /* a 0 stands behind the last */
};

static uint32_t big_endian(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static bool read_head(FILE *file, struct chunk *chunk)
{
    uint8_t head[8];
    if (fread(head, 1, sizeof head, file) != sizeof head)
        return false;
    *chunk = (struct chunk){.size = big_endian(head)};
    memcpy(chunk->type, head + 4, 4);
    return chunk->size <= INT32_MAX && strcmp(chunk->type, "IEND") != 0;
}

static bool is_one_of(const char *type, const char *const *types)
{
    while (*types && strcmp(type, *types) != 0)
        types++;
    return *types;
}

/* One that is damaged is passed over, as libpng does. */
static bool read_bytes(FILE *file, struct chunk *chunk)
{
    uint8_t sum[4];
    chunk->bytes = malloc(chunk->size + 1u);
    if (!chunk->bytes || fread(chunk->bytes, 1, chunk->size, file) != chunk->size ||
        fread(sum, 1, sizeof sum, file) != sizeof sum)
        return false;
    chunk->bytes[chunk->size] = 0;
    uLong found = crc32(crc32(0, (const uint8_t *)chunk->type, 4), chunk->bytes, chunk->size);
    return found == big_endian(sum);
}

/* ---- Texts ---- */

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* "\nexif\n  LENGTH\n" and the digits, in whose place the bytes are written; `text` ends with 0. */
static size_t read_digits(char *text)
{
    char *to = text, *at = text;
    for (int lines = 0; lines < 3; lines++, at++) {
        at = strchr(at, '\n');
        if (!at)
            return 0;
    }
    for (;; at += 2) {
        at += strspn(at, " \t\r\n");
        int high = digit_of(at[0]), low = high < 0 ? -1 : digit_of(at[1]);
        if (low < 0)
            return (size_t)(to - text);
        *to++ = (char)(high << 4 | low);
    }
}

/* 0: no orientation is said. */
static uint32_t profile_orientation(uint8_t *text)
{
    static const uint8_t mark[6] = "Exif\0";
    size_t size = read_digits((char *)text);
    size_t begin = size > sizeof mark && memcmp(text, mark, sizeof mark) == 0 ? sizeof mark : 0;
    return picture_orientation(text + begin, size - begin);
}

static uint32_t packed_orientation(const uint8_t *packed, size_t size)
{
    z_stream stream = {.next_in = (uint8_t *)(uintptr_t)packed, .avail_in = (uInt)size};
    uint8_t *text = malloc(MAX_TEXT + 1);
    uint32_t orientation = 0;
    if (text && inflateInit(&stream) == Z_OK) {
        stream.next_out = text;
        stream.avail_out = MAX_TEXT;
        inflate(&stream, Z_SYNC_FLUSH); /* what is there is looked at, whole or not */
        text[stream.total_out] = 0;
        inflateEnd(&stream);
        orientation = profile_orientation(text);
    }
    free(text);
    return orientation;
}

/* Where the text of an iTXt begins: behind two numbers, of which *is_packed is the first, a language
 * and a translated keyword. 0: it has none. */
static size_t find_text(const struct chunk *chunk, size_t at, bool *is_packed)
{
    if (chunk->size - at < 2)
        return 0;
    *is_packed = chunk->bytes[at];
    at += 2;
    for (int i = 0; i < 2; i++) {
        const uint8_t *end = memchr(chunk->bytes + at, 0, chunk->size - at);
        if (!end)
            return 0;
        at = (size_t)(end - chunk->bytes) + 1;
    }
    return at;
}

static uint32_t text_orientation(struct chunk *chunk, int *profiles)
{
    static const char *const keywords[] = {"Raw profile type exif", "Raw profile type APP1", NULL};
    const char *keyword = (const char *)chunk->bytes;
    size_t begin = strlen(keyword) + 1;
    bool is_packed = strcmp(chunk->type, "zTXt") == 0;
    if (begin > chunk->size || !is_one_of(keyword, keywords))
        return 0;
    ++*profiles;
    if (is_packed)
        begin++; /* the method, of which there is one */
    else if (strcmp(chunk->type, "iTXt") == 0)
        begin = find_text(chunk, begin, &is_packed);
    if (begin == 0 || begin > chunk->size)
        return 0;
    return is_packed ? packed_orientation(chunk->bytes + begin, chunk->size - begin)
                     : profile_orientation(chunk->bytes + begin);
}

/* ---- Files ---- */

struct search {
    FILE *file;
    uint32_t own, text; /* orientations of eXIf and of a text; 0: not said so far */
    int profiles;       /* texts that were looked at */
};

static bool passes_over(const struct search *s, const struct chunk *chunk)
{
    static const char *const types[] = {"eXIf", "tEXt", "zTXt", "iTXt", NULL};
    bool is_own = strcmp(chunk->type, types[0]) == 0;
    return chunk->size > MAX_CHUNK || !is_one_of(chunk->type, types) ||
           (!is_own && (s->text > 0 || s->profiles >= MAX_PROFILES));
}

/* False: the file ends. */
static bool look_at(struct search *s, struct chunk *chunk)
{
    if (passes_over(s, chunk))
        return fseek(s->file, (long)chunk->size, SEEK_CUR) == 0 && fseek(s->file, 4, SEEK_CUR) == 0;
    bool good = read_bytes(s->file, chunk);
    if (good && strcmp(chunk->type, "eXIf") == 0)
        s->own = picture_orientation(chunk->bytes, chunk->size);
    else if (good)
        s->text = text_orientation(chunk, &s->profiles);
    free(chunk->bytes);
    return true;
}

/* eXIf stands before any text, wherever it is: programs that turn a picture may leave the text. */
uint32_t picture_png_orientation(FILE *file)
{
    struct chunk chunk;
    struct search s = {.file = file};
    bool goes_on = fseek(file, SIGNATURE, SEEK_SET) == 0;
    while (goes_on && s.own == 0 && read_head(file, &chunk))
        goes_on = look_at(&s, &chunk);
    rewind(file);
    return s.own ? s.own : s.text ? s.text : 1;
}
