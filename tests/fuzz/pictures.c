/* Fuzz target of libFuzzer: any bytes, read as a picture. "make fuzz" runs it.
 *
 * What fails has a message. What has a head gives pixels or a message, the same pixels each time.
 */
#include <glcnn/data.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/data/picture.h"
#include "tests/fuzz/require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_PIXELS ((uint64_t)1 << 20) /* more only take longer */

static void check_outcome(glcnn_status status, const char *error)
{
    require(status == GLCNN_SUCCESS || strlen(error) > 10, "a failure without a message", error);
    require(status == GLCNN_SUCCESS || status == GLCNN_MALFORMED_DATA, glcnn_status_text(status),
            error);
}

static glcnn_status decode(FILE *file, const struct size *size, uint8_t *pixels)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    rewind(file);
    glcnn_status status = picture_decode(file, size, pixels, error);
    check_outcome(status, error);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct size sizes[] = {{7, 5, 3, 0}, {40, 3, 1, 0}, {7, 5, 3, 9}};
    char error[GLCNN_ERROR_LENGTH] = "";
    struct picture picture = {0};
    FILE *file = size > 0 ? fmemopen((void *)data, size, "rb") : NULL;
    if (!file)
        return 0;
    glcnn_status status = picture_look(file, &picture, error);
    check_outcome(status, error);
    bool decodes =
        status == GLCNN_SUCCESS && (uint64_t)picture.width * picture.height <= MAX_PIXELS;
    for (size_t i = 0; decodes && i < 3; i++) {
        uint8_t once[120] = {0}, twice[120] = {0};
        if (decode(file, &sizes[i], once) == GLCNN_SUCCESS) {
            require(decode(file, &sizes[i], twice) == GLCNN_SUCCESS, "not decoded again", "");
            require(memcmp(once, twice, sizeof once) == 0, "other pixels again", "");
        }
    }
    fclose(file);
    return 0;
}
