#!/bin/sh
# A program whose locale has a decimal comma reads settings, and has messages, checkpoints and
# serialised networks, as one in the locale "C".
#
# Runs from the top of a built tree. CC, PKG_CONFIG and O may be given. Exits 77 where no locale can
# be made or there is no device.

. tests/tool.sh
cd "$work" || exit 1

command -v localedef >/dev/null || skip 'there is no localedef, which makes a locale with a decimal comma'

# One category is enough. localedef warns of those that are left out.
cat >comma.src <<'END'
comment_char %
escape_char /
LC_NUMERIC
decimal_point ","
thousands_sep "."
grouping 3;3
END LC_NUMERIC
END
mkdir locales
localedef -c -i comma.src "$work/locales/comma" >made 2>&1

cat >program.c <<'END'
#include <glcnn/checkpoint.h>
#include <glcnn/glcnn.h>
#include <glcnn/serialize.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static glcnn_device *device;

static void must(int good, const char *what)
{
    if (good)
        return;
    printf("%s: %s\n", what, glcnn_device_error(device));
    exit(1);
}

/* A network with settings of every kind of number. */
static glcnn_network *make(void)
{
    static const float taps[4] = {0.5f, -0.25f, 1e-3f, 1234567};
    glcnn_network *network;
    must(!glcnn_network_create(device, &network), "network");
    glcnn_image_node *x = glcnn_image_node_create(network, "x");
    x = glcnn_node(x, "convolution", "kernel_width=2 input_feature_channels=1 "
                                     "output_feature_channels=2 neuron_type=linear neuron_a=0.75 "
                                     "neuron_b=1e-3");
    x = glcnn_node(x, "dropout", "keep_probability=0.625 seed=18446744073709551615");
    must(x != NULL, "node");
    glcnn_kernel *kernel = glcnn_filter_node_kernel(glcnn_network_filter(network, 0));
    must(!glcnn_kernel_set_vector(kernel, "weights", taps, 4), "weights");
    return network;
}

static void check_settings(glcnn_network *network)
{
    double value;
    glcnn_kernel *kernel = glcnn_filter_node_kernel(glcnn_network_filter(network, 0));
    must(!glcnn_kernel_get(kernel, "neuron_a", &value) && value == 0.75, "neuron_a");
    must(!glcnn_kernel_get(kernel, "neuron_b", &value) && value == (double)1e-3f, "neuron_b");
    kernel = glcnn_filter_node_kernel(glcnn_network_filter(network, 1));
    must(!glcnn_kernel_get(kernel, "keep_probability", &value) && value == 0.625, "probability");
}

static void check_texts(void)
{
    struct glcnn_setting setting;
    char error[512];
    must(!glcnn_setting_parse("batch_normalization", "epsilon=1.5e-3", &setting, error) &&
             setting.value == 1.5e-3, "1.5e-3");
    must(glcnn_setting_parse("batch_normalization", "epsilon=1,5", &setting, error), "1,5");
    glcnn_kernel *kernel;
    must(!glcnn_kernel_create(device, "dropout", &kernel), "dropout");
    must(glcnn_kernel_set(kernel, "keep_probability", 1.5), "out of range");
    must(strstr(glcnn_device_error(device), "keep_probability is 1.5; it") != NULL, "message");
    glcnn_kernel_destroy(&kernel);
    const struct glcnn_neuron_descriptor root = {.type = GLCNN_NEURON_TYPE_EXPONENTIAL, .c = -0.5f};
    must(glcnn_neuron_create(device, &root, NULL, 0, &kernel), "a base below 0");
    must(strstr(glcnn_device_error(device), "neuron_c is -0.5, the base") != NULL, "base");
    must(glcnn_dropout_create(device, 1.5f, 0, &kernel), "a probability above 1");
    must(strstr(glcnn_device_error(device), "keep_probability is 1.5; it") != NULL, "probability");
    struct glcnn_training_descriptor training = {.running_momentum = 1.5};
    must(!glcnn_kernel_create(device, "convolution", &kernel), "convolution");
    must(!glcnn_optimizer_adam_create(device, 0.1f, &training.optimizer), "optimizer");
    must(glcnn_kernel_set_training(kernel, &training), "momentum out of range");
    must(strstr(glcnn_device_error(device), "momentum is 1.5, not") != NULL, "momentum's message");
    glcnn_kernel_destroy(&training.optimizer);
    glcnn_kernel_destroy(&kernel);
}

static void check_files(glcnn_network *network)
{
    const struct glcnn_checkpoint_entry entry = {"rate", "0.25"};
    struct glcnn_checkpoint_metadata metadata;
    char error[512] = "";
    uint8_t *bytes;
    size_t size;
    must(!glcnn_checkpoint_save(network, "saved.safetensors", &entry, 1, error), error);
    must(!glcnn_checkpoint_load(network, "saved.safetensors", &metadata, error), error);
    must(!strcmp(glcnn_checkpoint_text(&metadata, "rate"), "0.25"), "metadata");
    glcnn_checkpoint_metadata_destroy(&metadata);
    must(!glcnn_network_serialize(network, true, &bytes, &size, error), error);
    must(!glcnn_file_save("network.cbor", bytes, size, error), error);
    glcnn_network *read;
    must(!glcnn_network_deserialize(device, bytes, size, &read, error), error);
    check_settings(read);
    glcnn_network_destroy(&read);
    glcnn_serialize_destroy(bytes);
}

int main(int argc, char *argv[])
{
    char comma[8];
    if (argc > 1 && !setlocale(LC_ALL, argv[1]) && !setlocale(LC_NUMERIC, argv[1]))
        return puts("the locale that localedef made cannot be set"), 77;
    snprintf(comma, sizeof comma, "%.1f", 0.5);
    if (argc > 1 && strcmp(comma, "0,5") != 0)
        return puts("the locale that localedef made has no decimal comma"), 77;
    if (glcnn_device_create(NULL, &device))
        return puts("there is no device"), 77;
    glcnn_network *network = make();
    check_settings(network);
    check_texts();
    check_files(network);
    glcnn_network_destroy(&network);
    glcnn_device_destroy(&device);
    return 0;
}
END
$cc -std=c11 -I"$top/include" -I"$out/include" -o program program.c \
    "$out/libglcnn_interchange.a" "$out/libglcnn.a" \
    $($pkg_config --cflags --libs libcjson libcbor liblzma egl gbm) -lm || exit 1

# The files must be the same, byte for byte.
mkdir plain comma
(cd plain && ../program) || exit
(cd comma && LOCPATH=$work/locales ../program comma) || exit
for file in saved.safetensors network.cbor; do
    cmp "plain/$file" "comma/$file" || exit 1
done
echo 'numbers are the same in a locale with a decimal comma'
