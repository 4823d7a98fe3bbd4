/* What the tests of kernels share: a device, a table with one test a kernel, and the inputs of the
 * self-check's cases. A new kernel is tested without an edit here: the registry names it. */
#ifndef GLCNN_TESTS_CASES_H
#define GLCNN_TESTS_CASES_H

#include "run/check.h"
#include "tests/unit.h"

/* One case ready to run: the map has its inputs. */
struct case_run {
    struct argument_map map;
    struct glcnn_setting settings[CHECK_SETTINGS];
    struct run run; /* refers to the three others: do not move */
    char error[512];
};

/* Opens the device that glcnn_device_create chooses and runs the tests on it. */
int cases_main(const char *suite, const CU_TestInfo *tests, int argc, char *argv[]);
/* The device of cases_main. */
glcnn_device *cases_device(void);

/* A table of tests, `function` for every kernel that `wanted` (NULL: each) accepts, named as the
 * kernel; then the tests of `more`, which may be NULL. To be freed. */
CU_TestInfo *cases_table(CU_TestFunc function, bool (*wanted)(const struct glcnn_descriptor *d),
                         const CU_TestInfo *more);
/* The kernel that the running test is named for. */
const struct glcnn_descriptor *cases_kernel(void);

/* Whether GLCNN_TEST_QUICK=1 asks for less, and whether a case is left out for that: large ones. */
bool cases_quick(void);
bool case_is_skipped(const struct check_case *c);
/* Whether a kernel's case of that number is tried: in 'make check' each, without it the first and every eighth. */
bool case_is_tried(size_t index);
/* False, and the test failed, when the inputs cannot be made. Release with case_release either way.
 */
bool case_prepare(struct case_run *c, const struct glcnn_descriptor *d, size_t index,
                  glcnn_channel_format format);
void case_release(struct case_run *c);

/* Says which case the failure is about. */
void case_report(const struct glcnn_descriptor *d, size_t index, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
