/* Fuzz target of libFuzzer: any bytes, read as a kernel and as a network. "make fuzz" runs it.
 *
 * What fails has a message and leaves nothing. What succeeds can be written down, and what that
 * gives is read and written to the same bytes. Nothing is executed.
 */
#include <glcnn/glcnn.h>
#include <glcnn/serialize.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/require.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static glcnn_device *device;

struct bytes {
    uint8_t *data;
    size_t size;
};

/* The two kinds of objects alike. */
struct kind {
    glcnn_status (*read)(const uint8_t *data, size_t size, void **object, char error[512]);
    glcnn_status (*write)(void *object, struct bytes *bytes, char error[512]);
    void (*destroy)(void *object);
};

static glcnn_status read_kernel(const uint8_t *data, size_t size, void **object, char error[512])
{
    glcnn_kernel *kernel = NULL;
    glcnn_status status = glcnn_kernel_deserialize(device, data, size, &kernel, error);
    *object = kernel;
    return status;
}

static glcnn_status write_kernel(void *object, struct bytes *bytes, char error[512])
{
    return glcnn_kernel_serialize(object, true, &bytes->data, &bytes->size, error);
}

static void destroy_kernel(void *object)
{
    glcnn_kernel *kernel = object;
    glcnn_kernel_destroy(&kernel);
}

static glcnn_status read_network(const uint8_t *data, size_t size, void **object, char error[512])
{
    glcnn_network *network = NULL;
    glcnn_status status = glcnn_network_deserialize(device, data, size, &network, error);
    *object = network;
    return status;
}

static glcnn_status write_network(void *object, struct bytes *bytes, char error[512])
{
    return glcnn_network_serialize(object, true, &bytes->data, &bytes->size, error);
}

static void destroy_network(void *object)
{
    glcnn_network *network = object;
    glcnn_network_destroy(&network);
}

static const struct kind kinds[] = {{read_kernel, write_kernel, destroy_kernel},
                                    {read_network, write_network, destroy_network}};

/* Reads and writes; false if that is refused. */
static bool pass_through(const struct kind *kind, const uint8_t *data, size_t size,
                         struct bytes *written)
{
    char error[512] = "";
    void *object;
    glcnn_status status = kind->read(data, size, &object, error);
    require((status == GLCNN_SUCCESS) == (object != NULL), "an object and a failure", error);
    if (status != GLCNN_SUCCESS) {
        require(strlen(error) > 10, "a failure without a message", error);
        require(status == GLCNN_MALFORMED_DATA || status == GLCNN_LIMIT_EXCEEDED,
                glcnn_status_text(status), error);
        return false;
    }
    require(kind->write(object, written, error) == GLCNN_SUCCESS, "not written", error);
    kind->destroy(object);
    return true;
}

static void look_at(const struct kind *kind, const uint8_t *data, size_t size)
{
    struct bytes once = {0}, twice = {0};
    if (!pass_through(kind, data, size, &once))
        return;
    require(pass_through(kind, once.data, once.size, &twice), "not read again", "");
    require(once.size == twice.size && memcmp(once.data, twice.data, once.size) == 0,
            "written in another way again", "");
    glcnn_serialize_destroy(once.data);
    glcnn_serialize_destroy(twice.data);
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
    for (size_t i = 0; i < 2; i++)
        look_at(&kinds[i], data, size);
    return 0;
}
