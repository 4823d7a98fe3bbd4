/* Runs a table of CUnit tests as one program: main() is
 * `return unit_run("platform", tests, argc, argv);`.
 *
 * A program called with arguments runs only the tests whose name contains one of them. The result
 * is an exit status: 0 when every test passed and at least one ran, otherwise 1.
 */
#ifndef GLCNN_TESTS_UNIT_H
#define GLCNN_TESTS_UNIT_H

#include <CUnit/Basic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a failing comparison says beside its line: both values. */
static inline bool unit_equal_numbers(double a, double b, int line)
{
    if (!(a == b))
        printf("\n    line %d: found %.9g, expected %.9g", line, a, b);
    return a == b;
}

static inline bool unit_equal_whole(intmax_t a, intmax_t b, int line)
{
    if (a != b)
        printf("\n    line %d: found %jd, expected %jd", line, a, b);
    return a == b;
}

static inline bool unit_equal_text(const char *a, const char *b, int line)
{
    bool equal = a && b && strcmp(a, b) == 0;
    if (!equal)
        printf("\n    line %d: found \"%s\", expected \"%s\"", line, a ? a : "(null)",
               b ? b : "(null)");
    return equal;
}

/* clang-format off */
#define UNIT_EQUAL(a, b)                                                                           \
    (_Generic((a), float: true, double: true, default: false) ||                                   \
     _Generic((b), float: true, double: true, default: false)                                      \
         ? unit_equal_numbers((double)(a), (double)(b), __LINE__)                                  \
         : unit_equal_whole((intmax_t)(a), (intmax_t)(b), __LINE__))
/* clang-format on */
#undef CU_ASSERT_EQUAL
#undef CU_ASSERT_EQUAL_FATAL
#undef CU_ASSERT_STRING_EQUAL
#undef CU_ASSERT_STRING_EQUAL_FATAL
#define CU_ASSERT_EQUAL(a, b)              CU_ASSERT(UNIT_EQUAL(a, b))
#define CU_ASSERT_EQUAL_FATAL(a, b)        CU_ASSERT_FATAL(UNIT_EQUAL(a, b))
#define CU_ASSERT_STRING_EQUAL(a, b)       CU_ASSERT(unit_equal_text(a, b, __LINE__))
#define CU_ASSERT_STRING_EQUAL_FATAL(a, b) CU_ASSERT_FATAL(unit_equal_text(a, b, __LINE__))

/* A row of the table, which ends with CU_TEST_INFO_NULL. */
/* clang-format off */
#define UNIT_TEST(function) {#function, function}
/* Rows behind this one are run with GLCNN_TEST_CHECK=1, or where a name is given. */
#define UNIT_LEFT_TO_CHECK {"", NULL}
/* clang-format on */

/* A number in 0 .. limit - 1 that depends on the seed alone. */
static inline uint32_t below(uint32_t *seed, uint32_t limit)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 16) % limit; /* the lower bits have short periods */
}

/* Whether the longer forms of 'make check' are asked for, and whether those of 'make check-all'. */
static inline bool unit_is_full(void)
{
    const char *full = getenv("GLCNN_TEST_FULL");
    return full && *full;
}

static inline bool unit_is_check(void)
{
    const char *check = getenv("GLCNN_TEST_CHECK");
    return (check && *check) || unit_is_full();
}

static inline bool unit_wanted(const char *name, int argc, char *argv[])
{
    for (int i = 1; i < argc; i++) {
        if (strstr(name, argv[i]) != NULL)
            return true;
    }
    return argc <= 1;
}

static inline bool unit_add(const char *suite_name, const CU_TestInfo *tests, int argc,
                            char *argv[])
{
    CU_pSuite suite = CU_add_suite(suite_name, NULL, NULL);
    if (suite == NULL)
        return false;
    for (; tests->pName != NULL; tests++) {
        if (tests->pTestFunc == NULL && argc <= 1 && !unit_is_check())
            break;
        if (tests->pTestFunc != NULL && unit_wanted(tests->pName, argc, argv) &&
            CU_add_test(suite, tests->pName, tests->pTestFunc) == NULL)
            return false;
    }
    return true;
}

/* Programs that a test compiles are not found by the next, nor left in the user's home, unless the
 * caller says where. */
static inline void unit_keep_no_programs(void)
{
    setenv("GLCNN_CACHE_DIR", "off", 0);
}

static inline int unit_run(const char *suite_name, const CU_TestInfo *tests, int argc, char *argv[])
{
    unit_keep_no_programs();
    bool good = CU_initialize_registry() == CUE_SUCCESS && unit_add(suite_name, tests, argc, argv);
    if (good) {
        CU_basic_set_mode(CU_BRM_VERBOSE);
        good = CU_basic_run_tests() == CUE_SUCCESS && CU_get_number_of_failures() == 0 &&
               CU_get_number_of_tests_run() > 0;
    }
    CU_cleanup_registry();
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
