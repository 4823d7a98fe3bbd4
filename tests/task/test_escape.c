/* Text of strangers as it is shown: what a terminal would obey is written out, what people write is not
 * touched, and columns are counted as a terminal has them. */
#include "tests/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/escape.h"

static void escape(const char *text, char *shown, size_t size)
{
    *shown = 0;
    while (*text) {
        char piece[ESCAPE_MAX];
        text += escape_character(text, piece).length;
        snprintf(shown + strlen(shown), size - strlen(shown), "%s", piece);
    }
}

static const struct {
    const char *text, *shown;
    size_t columns;
} cases[] = {
    {"red apple", "red apple", 9},
    {"C:\\no", "C:\\no", 5},
    {"a\nb\r\t", "a\\nb\\r\\t", 8},
    {"\x1b[31m", "\\x1b[31m", 8},
    {"\x01\x7f", "\\x01\\x7f", 8},
    {"\xc2\x9b", "\\u009b", 6},
    {"\xc2\x80\xc2\x85", "\\u0080\\u0085", 12},
    {"\xc2\xad", "\\u00ad", 6},
    {"a\xe2\x80\xae"
     "b",
     "a\\u202eb", 8},
    {"\xe2\x81\xa6\xe2\x81\xa9", "\\u2066\\u2069", 12},
    {"\xe2\x80\xa8\xef\xbb\xbf", "\\u2028\\ufeff", 12},
    {"\xd8\x9c\xe2\x80\x8f", "\\u061c\\u200f", 12},
    {"\xf3\xa0\x81\x81", "\\U000e0041", 10},
    /* No UTF-8: bytes alone, too few, too many, too long a form, a surrogate, beyond Unicode. */
    {"\x9b", "\\x9b", 4},
    {"\xe3\x81", "\\xe3\\x81", 8},
    {"\xff\xfe", "\\xff\\xfe", 8},
    {"\xc0\x8a", "\\xc0\\x8a", 8},
    {"\xe0\x80\x8a", "\\xe0\\x80\\x8a", 12},
    {"\xed\xa0\x80", "\\xed\\xa0\\x80", 12},
    {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", 16},
    {"\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80", 20},
    {"\xc3", "\\xc3", 4},
    {"\xc3(", "\\xc3(", 5},
    /* Latin, Chinese, full width, Hangul, a combining accent, Arabic, an emoji. */
    {"K\xc3\xb6ln", "K\xc3\xb6ln", 4},
    {"\xe8\x8b\xb9\xe6\x9e\x9c", "\xe8\x8b\xb9\xe6\x9e\x9c", 4},
    {"\xef\xbc\xa1", "\xef\xbc\xa1", 2},
    {"\xed\x95\x9c", "\xed\x95\x9c", 2},
    {"e\xcc\x81", "e\xcc\x81", 1},
    {"\xd8\xa7", "\xd8\xa7", 1},
    {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80", 2},
};

static void strangers_text_is_shown(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char shown[128];
        escape(cases[i].text, shown, sizeof shown);
        CU_ASSERT_STRING_EQUAL(shown, cases[i].shown);
        CU_ASSERT_EQUAL(escaped_columns(cases[i].text), cases[i].columns);
        if (strcmp(shown, cases[i].shown) != 0 ||
            escaped_columns(cases[i].text) != cases[i].columns)
            printf("case %zu: \"%s\" of %zu columns\n", i, shown, escaped_columns(cases[i].text));
    }
}

/* What is shown is shown alike when it is shown again. */
static void shown_text_stays(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char again[128];
        escape(cases[i].shown, again, sizeof again);
        CU_ASSERT_STRING_EQUAL(again, cases[i].shown);
    }
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(strangers_text_is_shown),
        UNIT_TEST(shown_text_stays),
        CU_TEST_INFO_NULL,
    };
    return unit_run("escape", tests, argc, argv);
}
