/* Fuzz target of libFuzzer: any bytes, read as a .tflite file, and as an ONNX model that becomes one. "make fuzz" runs
 * it.
 *
 * What fails has a message and leaves nothing. An ONNX model that is made of a file becomes a file again, unless the
 * message says why not.
 */
#include <glcnn/tflite.h>
#include <string.h>

#include "tests/fuzz/require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_result(glcnn_status status, const uint8_t *bytes, const char *error)
{
    require((status == GLCNN_SUCCESS) == (bytes != NULL), "bytes and a failure", error);
    require(status == GLCNN_SUCCESS || strlen(error) > 10, "a failure without a message", error);
    require(status == GLCNN_SUCCESS || status == GLCNN_MALFORMED_DATA ||
                status == GLCNN_UNSUPPORTED,
            glcnn_status_text(status), error);
}

/* Written as a file, if it can be. */
static void write_again(const uint8_t *onnx, size_t size)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    uint8_t *bytes;
    size_t length;
    const glcnn_status status = glcnn_tflite_from_onnx(onnx, size, NULL, &bytes, &length, error);
    check_result(status, bytes, error);
    glcnn_tflite_destroy(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char error[GLCNN_ERROR_LENGTH] = "", note[GLCNN_ERROR_LENGTH];
    uint8_t *bytes;
    size_t length;
    const glcnn_status status = glcnn_tflite_to_onnx(data, size, &bytes, &length, note, error);
    check_result(status, bytes, error);
    write_again(bytes ? bytes : data, bytes ? length : size);
    glcnn_tflite_destroy(bytes);
    return 0;
}
