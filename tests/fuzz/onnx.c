/* Fuzz target of libFuzzer: any bytes, read as an ONNX model, with a batch and without, and with
 * a head that is added to it. "make fuzz" runs it.
 *
 * What fails has a message and leaves nothing. What succeeds is written down again, unless it says
 * why not, and what that gives is read as a network of as many filters. Nothing is executed.
 */
#include <glcnn/glcnn.h>
#include <glcnn/onnx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/require.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static glcnn_device *device;

static size_t filters_of(const glcnn_network *network)
{
    size_t count = 0;
    while (glcnn_network_filter(network, count))
        count++;
    return count;
}

/* False where it is refused. */
static bool read_model(const uint8_t *data, size_t size, bool without_batch, uint32_t head,
                       glcnn_network **network, struct glcnn_onnx_record **record)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    const struct glcnn_onnx_options options = {.width = 8,
                                               .height = 8,
                                               .feature_channels = 4,
                                               .without_batch = without_batch,
                                               .head_classes = head};
    glcnn_status status = glcnn_onnx_read(device, data, size, &options, network, record, error);
    require((status == GLCNN_SUCCESS) == (*network != NULL), "a network and a failure", error);
    require((status == GLCNN_SUCCESS) == (*record != NULL), "a record and a failure", error);
    require(status == GLCNN_SUCCESS || strlen(error) > 10, "a failure without a message", error);
    require(status == GLCNN_SUCCESS || status == GLCNN_MALFORMED_DATA ||
                status == GLCNN_UNSUPPORTED || status == GLCNN_LIMIT_EXCEEDED,
            glcnn_status_text(status), error);
    return status == GLCNN_SUCCESS;
}

static void look_at(const uint8_t *data, size_t size, bool without_batch, uint32_t head)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_network *network, *again;
    struct glcnn_onnx_record *record, *second;
    uint8_t *bytes;
    size_t length;
    if (!read_model(data, size, without_batch, head, &network, &record))
        return;
    glcnn_status status = glcnn_onnx_write(network, record, NULL, 0, &bytes, &length, error);
    require((status == GLCNN_SUCCESS) == (bytes != NULL), "bytes and a failure", error);
    require(bytes || strlen(error) > 10, "a failure without a message", error);
    if (bytes) {
        require(read_model(bytes, length, without_batch, 0, &again, &second), "not read again", "");
        require(filters_of(network) == filters_of(again), "other filters", "");
        glcnn_onnx_record_destroy(&second);
        glcnn_network_destroy(&again);
    }
    glcnn_onnx_destroy(bytes);
    glcnn_onnx_record_destroy(&record);
    glcnn_network_destroy(&network);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    require(glcnn_device_create(NULL, &device) == GLCNN_SUCCESS, "no device can be opened", "");
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    look_at(data, size, false, 0);
    look_at(data, size, true, 0);
    look_at(data, size, false, 3);
    return 0;
}
