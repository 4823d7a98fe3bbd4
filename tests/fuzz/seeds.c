/* Writes the seeds of the fuzz targets deserialize and onnx into folders of their names in the
 * directory that is named: kernels of each sort, with vectors where they have some, networks, and one
 * as a model. "make fuzz-seeds" writes tests/fuzz/corpus with it. */
#include <stdio.h>
#include <string.h>

#include <glcnn/onnx.h>

#include "tests/fuzz/samples.h"

static const char *directory;

static bool write_bytes(const char *name, const uint8_t *bytes, size_t size)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(bytes, 1, size, file) == size;
    good = file && fclose(file) == 0 && good;
    if (!good)
        perror(path);
    return good;
}

static bool write_file(const char *name, uint8_t *bytes, size_t size)
{
    char path[256];
    snprintf(path, sizeof path, "deserialize/%s.cbor", name);
    bool good = write_bytes(path, bytes, size);
    glcnn_serialize_destroy(bytes);
    return good;
}

static bool explain(const char *name, const char *error)
{
    fprintf(stderr, "%s: %s\n", name, error);
    return false;
}

static bool write_kernel(glcnn_device *device, const char *name, const char *settings)
{
    char error[512] = "it cannot be made";
    uint8_t *bytes = NULL;
    size_t size = 0;
    glcnn_kernel *kernel = NULL;
    struct glcnn_setting setting;
    glcnn_status status = glcnn_kernel_create(device, name, &kernel);
    char words[256];
    snprintf(words, sizeof words, "%s", settings);
    for (char *word = strtok(words, " "); word && status == GLCNN_SUCCESS;
         word = strtok(NULL, " ")) {
        status = glcnn_setting_parse(name, word, &setting, error);
        if (status == GLCNN_SUCCESS)
            status = glcnn_kernel_set(kernel, setting.name, setting.value);
    }
    if (status == GLCNN_SUCCESS && sample_fill(kernel))
        status = glcnn_kernel_serialize(kernel, true, &bytes, &size, error);
    glcnn_kernel_destroy(&kernel);
    return bytes ? write_file(name, bytes, size) : explain(name, error);
}

static bool write_kernels(glcnn_device *device)
{
    static const char *const rows[][2] = {
        {"convolution", "input_feature_channels=2 output_feature_channels=2 kernel_width=2"},
        {"convolution_gradient", "input_feature_channels=2 output_feature_channels=2"},
        {"batch_normalization", "epsilon=1e-5"},
        {"pooling_max", "edge_mode=clamp stride_in_pixels_x=2"},
        {"dropout", "seed=9007199254740993"},
        {"add", "primary_scale=0.1 secondary_stride_in_pixels_x=0"},
        {"loss", "loss_type=huber weight=1e38"},
        {"optimizer_adam", "learning_rate=0.001"},
        {"neuron", "neuron_type=elu"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!write_kernel(device, rows[i][0], rows[i][1]))
            return false;
    return true;
}

static bool write_network(glcnn_network *network, bool with_weights, const char *name)
{
    char error[512] = "it cannot be made";
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (network)
        glcnn_network_serialize(network, with_weights, &bytes, &size, error);
    glcnn_network_destroy(&network);
    return bytes ? write_file(name, bytes, size) : explain(name, error);
}

static bool write_model(glcnn_network *network)
{
    char error[512] = "it cannot be made";
    const struct glcnn_onnx_image input = {.width = 8, .height = 8, .feature_channels = 1};
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (network)
        glcnn_onnx_write(network, NULL, &input, 1, &bytes, &size, error);
    glcnn_network_destroy(&network);
    bool good = bytes ? write_bytes("onnx/network.onnx", bytes, size) : explain("onnx", error);
    glcnn_onnx_destroy(bytes);
    return good;
}

int main(int argc, char *argv[])
{
    glcnn_device *device = NULL;
    if (argc != 2 || glcnn_device_create(NULL, &device) != GLCNN_SUCCESS) {
        fprintf(stderr, argc != 2 ? "usage: seeds DIRECTORY\n" : "no device can be opened\n");
        return EXIT_FAILURE;
    }
    directory = argv[1];
    bool good = write_kernels(device) &&
                write_network(sample_training(device), false, "network_training") &&
                write_network(sample_features(device), true, "network_features") &&
                write_model(sample_training(device));
    glcnn_device_destroy(&device);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
