/* What fuzz targets ask of the code under test beside that it does not crash. */
#ifndef GLCNN_TESTS_FUZZ_REQUIRE_H
#define GLCNN_TESTS_FUZZ_REQUIRE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the process, which the fuzzer takes for a crash, where that does not hold. */
static inline void require(bool holds, const char *what, const char *error)
{
    if (holds)
        return;
    fprintf(stderr, "%s: \"%s\"\n", what, error);
    abort();
}

#endif
