/* A folder of a fuzz target's own, which is removed at the end. */
#ifndef GLCNN_TESTS_FUZZ_FOLDER_H
#define GLCNN_TESTS_FUZZ_FOLDER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/require.h"

static char root[] = "/tmp/glcnn-fuzz-XXXXXX";

static void remove_root(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", root);
    require(system(command) == 0, "the folder cannot be removed", root);
}

static void make_root(void)
{
    require(mkdtemp(root) != NULL, "no folder can be made", root);
    atexit(remove_root);
}

/* Makes the folders on its way. */
static void write_file(const char *name, const void *bytes, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = path + sizeof root - 1; slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0777);
        *slash = '/';
    }
    FILE *file = fopen(path, "wb");
    require(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0,
            "the file cannot be written", path);
}

struct root_file {
    const char *path;
    const void *bytes;
    size_t size;
};

/* What a target finds there from the beginning. */
static void make_root_with(const struct root_file *files, size_t count)
{
    make_root();
    for (size_t i = 0; i < count; i++)
        write_file(files[i].path, files[i].bytes, files[i].size);
}

/* Grey, 4 x 2. */
static const uint8_t picture[] = {137, 80, 78,  71,  13,  10, 26, 10, 0,   0,  0,   13, 73, 72,
                                  68,  82, 0,   0,   0,   4,  0,  0,  0,   2,  8,   0,  0,  0,
                                  0,   90, 195, 34,  191, 0,  0,  0,  11,  73, 68,  65, 84, 120,
                                  218, 99, 96,  128, 1,   0,  0,  10, 0,   1,  236, 36, 3,  185,
                                  0,   0,  0,   0,   73,  69, 78, 68, 174, 66, 96,  130};

#endif
