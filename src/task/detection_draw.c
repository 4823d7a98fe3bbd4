/* Frames, and letters of 3x5 points. */
#include "detection_draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LETTER_WIDTH  3
#define LETTER_HEIGHT 5

struct color {
    uint8_t red, green, blue;
};

/* Of classes in turn: well apart for eyes that see red and green alike too (Okabe and Ito). */
static const struct color colors[] = {{230, 159, 0}, {86, 180, 233}, {0, 158, 115},  {240, 228, 66},
                                      {0, 114, 178}, {213, 94, 0},   {204, 121, 167}};
enum { COLORS = sizeof colors / sizeof *colors };

/* An octal digit for each of the five rows, from the top, a bit for each of the three points. */
static const struct {
    char letter;
    uint16_t rows;
} letters[] = {
    {'0', 075557}, {'1', 026227}, {'2', 071747}, {'3', 071717},  {'4', 055711}, {'5', 074717},
    {'6', 074757}, {'7', 071222}, {'8', 075757}, {'9', 075717},  {'A', 025755}, {'B', 065656},
    {'C', 034443}, {'D', 065556}, {'E', 074647}, {'F', 074644},  {'G', 034553}, {'H', 055755},
    {'I', 072227}, {'J', 011152}, {'K', 055655}, {'L', 044447},  {'M', 057755}, {'N', 065555},
    {'O', 025552}, {'P', 065644}, {'Q', 025563}, {'R', 065655},  {'S', 034216}, {'T', 072222},
    {'U', 055557}, {'V', 055552}, {'W', 055775}, {'X', 055255},  {'Y', 055222}, {'Z', 071247},
    {' ', 000000}, {'!', 022202}, {'%', 051245}, {'&', 025253},  {'(', 012221}, {')', 042224},
    {'+', 002720}, {',', 000024}, {'-', 000700}, {'.', 000002},  {'/', 011244}, {':', 002020},
    {'=', 007070}, {'?', 061202}, {'_', 000007}, {'\'', 022000},
};
enum { LETTERS = sizeof letters / sizeof *letters };

static uint16_t rows_of(char c)
{
    char capital = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
    for (size_t i = 0; i < LETTERS; i++)
        if (letters[i].letter == capital)
            return letters[i].rows;
    return 077777;
}

/* ---- Areas ---- */

static long held(long x, uint32_t most)
{
    return x < 0 ? 0 : x > (long)most ? (long)most : x;
}

/* Sets the part that lies within the picture. */
static void fill(const struct canvas *canvas, long x, long y, long width, long height,
                 struct color color)
{
    long right = held(x + width, canvas->width), bottom = held(y + height, canvas->height);
    for (long row = held(y, canvas->height); row < bottom; row++)
        for (long column = held(x, canvas->width); column < right; column++)
            memcpy(canvas->pixels + 3 * ((size_t)row * canvas->width + (size_t)column), &color, 3);
}

static void draw_frame(const struct canvas *canvas, long left, long top, long right, long bottom,
                       long line, struct color color)
{
    fill(canvas, left, top, right - left, line, color);
    fill(canvas, left, bottom - line, right - left, line, color);
    fill(canvas, left, top, line, bottom - top, color);
    fill(canvas, right - line, top, line, bottom - top, color);
}

/* ---- Labels ---- */

static void draw_letter(const struct canvas *canvas, long x, long y, long point, char c,
                        struct color color)
{
    uint16_t rows = rows_of(c);
    for (int i = 0; i < LETTER_WIDTH * LETTER_HEIGHT; i++)
        if (rows >> (LETTER_WIDTH * LETTER_HEIGHT - 1 - i) & 1)
            fill(canvas, x + i % LETTER_WIDTH * point, y + i / LETTER_WIDTH * point, point, point,
                 color);
}

/* The first byte of a character of UTF-8; those behind it take no room. */
static bool begins_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

static long letters_of(const char *text)
{
    long count = 0;
    for (; *text; text++)
        count += begins_character(*text);
    return count;
}

static bool is_dark(struct color c)
{
    return 299 * c.red + 587 * c.green + 114 * c.blue < 128 * 1000;
}

/* With a point on each side. */
static long text_width(const char *text, long point)
{
    return (letters_of(text) * (LETTER_WIDTH + 1) + 1) * point;
}

/* On a ground of the color. */
static void draw_text(const struct canvas *canvas, long x, long y, long point, const char *text,
                      struct color ground)
{
    const struct color ink =
        is_dark(ground) ? (struct color){255, 255, 255} : (struct color){0, 0, 0};
    fill(canvas, x, y, text_width(text, point), (LETTER_HEIGHT + 2) * point, ground);
    for (x += point, y += point; *text; text++) {
        if (!begins_character(*text))
            continue;
        draw_letter(canvas, x, y, point, *text, ink);
        x += (LETTER_WIDTH + 1) * point;
    }
}

static void draw_detection(const struct canvas *canvas, const struct glcnn_detection *d,
                           const char *name)
{
    const struct color color = colors[d->label % COLORS];
    uint32_t shorter = canvas->width < canvas->height ? canvas->width : canvas->height;
    long point = 1 + (long)shorter / 256;
    long left = (long)(d->box.left + 0.5f), top = (long)(d->box.top + 0.5f);
    long above = top - (LETTER_HEIGHT + 2) * point;
    char text[128];
    if (name && isnan(d->score))
        snprintf(text, sizeof text, "%.100s", name);
    else if (name)
        snprintf(text, sizeof text, "%.100s %.2f", name, (double)d->score);
    draw_frame(canvas, left, top, (long)(d->box.right + 0.5f), (long)(d->box.bottom + 0.5f), point,
               color);
    if (!name)
        return;
    long last = (long)canvas->width - text_width(text, point); /* where all of it fits */
    draw_text(canvas, left <= last ? left : held(last, canvas->width), above < 0 ? top : above,
              point, text, color);
}

void detection_draw(const struct canvas *canvas, const struct glcnn_detection *found,
                    uint32_t count, const char *const *names)
{
    for (uint32_t i = count; i-- > 0;)
        draw_detection(canvas, &found[i], names ? names[found[i].label] : NULL);
}

void canvas_cross(const struct canvas *canvas, long x, long y, uint32_t label)
{
    const struct color color = colors[label % COLORS];
    const uint32_t shorter = canvas->width < canvas->height ? canvas->width : canvas->height;
    const long half = (long)shorter / 256, arm = 3 * half + 2;
    fill(canvas, x - arm, y - half, 2 * arm + 1, 2 * half + 1, color);
    fill(canvas, x - half, y - arm, 2 * half + 1, 2 * arm + 1, color);
}

void canvas_tint(uint8_t pixel[3], uint32_t label)
{
    const struct color c = colors[label % COLORS];
    pixel[0] = (uint8_t)((pixel[0] + c.red + 1) / 2);
    pixel[1] = (uint8_t)((pixel[1] + c.green + 1) / 2);
    pixel[2] = (uint8_t)((pixel[2] + c.blue + 1) / 2);
}
