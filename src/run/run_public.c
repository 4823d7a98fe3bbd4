/* glcnn_run: arrays of the caller into a map of doubles, and back. Weights change their layout
 * here, [Co][Ci/g][kH][kW] outside and [Co][kH][kW][Ci/g] inside. */
#include <stdlib.h>
#include <string.h>

#include "run/run.h"

static bool is_weights(const struct named_array *array)
{
    return array->rank == 4 && (strcmp(array->name, "weights") == 0 ||
                                strcmp(array->name, "gradient_for_weights") == 0);
}

/* Index inside the library of element i of the caller's weights. */
static size_t weights_index(const struct named_array *array, size_t i)
{
    size_t c = array->shape[1], h = array->shape[2], w = array->shape[3];
    size_t p = i % w, q = i / w % h, channel = i / (w * h) % c, k = i / (w * h * c);
    return ((k * h + q) * w + p) * c + channel;
}

static size_t inner_index(const struct named_array *array, size_t i)
{
    return is_weights(array) ? weights_index(array, i) : i;
}

static const char *argument_name(const struct glcnn_descriptor *d, const char *name)
{
    int index = name ? descriptor_argument(d, name) : -1;
    return index >= 0 && d->arguments[index].input ? d->arguments[index].name : NULL;
}

static glcnn_status take_input(const struct glcnn_descriptor *d, const struct glcnn_array *input,
                               struct argument_map *map, struct validation validation)
{
    const char *name = argument_name(d, input->name);
    if (!name)
        return invalid(validation, "%s has no input \"%s\"", d->name,
                       input->name ? input->name : "(NULL)"),
               GLCNN_INVALID_ARGUMENT;
    if (argument_map_find(map, name))
        return invalid(validation, "%s: the input %s is given twice", d->name, name),
               GLCNN_INVALID_ARGUMENT;
    if (input->rank > GLCNN_MAX_RANK || !input->data)
        return invalid(validation, "%s: %s has rank %u (at most %d) or no data", d->name, name,
                       input->rank, GLCNN_MAX_RANK),
               GLCNN_INVALID_ARGUMENT;
    struct named_array *array = argument_map_add(map, name, input->rank, input->shape);
    if (!array)
        return invalid(validation, "%s: out of memory", d->name), GLCNN_OUT_OF_MEMORY;
    size_t count = array_count(array);
    if (count == 0)
        return invalid(validation, "%s: %s has no elements", d->name, name), GLCNN_INVALID_ARGUMENT;
    for (size_t i = 0; i < count; i++)
        array->data[inner_index(array, i)] = input->data[i];
    return GLCNN_SUCCESS;
}

/* One allocation: the array structs, then all data. */
static glcnn_status give_outputs(const struct glcnn_descriptor *d, struct argument_map *map,
                                 struct glcnn_array **outputs, size_t *output_count,
                                 struct validation validation)
{
    size_t elements = 0, count = 0;
    for (size_t i = 0; i < map->count; i++)
        if (map->arrays[i].computed) {
            elements += array_count(&map->arrays[i]);
            count++;
        }
    struct glcnn_array *made = calloc(1, (count + 1) * sizeof *made + elements * sizeof(float));
    if (!made)
        return invalid(validation, "%s: out of memory", d->name), GLCNN_OUT_OF_MEMORY;
    float *data = (float *)(void *)(made + count + 1);
    for (size_t i = 0, at = 0; i < map->count; i++) {
        const struct named_array *from = &map->arrays[i];
        if (!from->computed)
            continue;
        struct glcnn_array *to = &made[at++];
        to->name = from->name;
        to->rank = from->rank;
        memcpy(to->shape, from->shape, sizeof to->shape);
        to->data = data;
        size_t length = array_count(from);
        for (size_t e = 0; e < length; e++)
            to->data[e] = (float)from->data[inner_index(from, e)];
        data += length;
    }
    *outputs = made;
    *output_count = count;
    return GLCNN_SUCCESS;
}

static bool check_format(const char *name, glcnn_channel_format format,
                         struct validation validation)
{
    if (format == GLCNN_CHANNEL_FORMAT_NONE || format == GLCNN_CHANNEL_FORMAT_FLOAT32 ||
        format == GLCNN_CHANNEL_FORMAT_FLOAT16)
        return true;
    return invalid(validation, "%s: format %d is neither float32 (4) nor float16 (3)", name,
                   (int)format);
}

glcnn_status glcnn_run(glcnn_device *device, const char *name, const struct glcnn_setting *settings,
                       size_t setting_count, const struct glcnn_array *inputs, size_t input_count,
                       const struct glcnn_run_options *options, struct glcnn_array **outputs,
                       size_t *output_count, char error[GLCNN_ERROR_LENGTH])
{
    static const struct glcnn_run_options defaults;
    const struct glcnn_descriptor *d = descriptor_find(name);
    struct validation validation = {error, GLCNN_ERROR_LENGTH};
    invalid(validation, "%s", "");
    if (!outputs || !output_count)
        return invalid(validation, "glcnn_run: outputs or output_count is NULL"),
               GLCNN_INVALID_ARGUMENT;
    *outputs = NULL;
    *output_count = 0;
    if (!options)
        options = &defaults;
    if (!d) {
        char text[SUGGESTION];
        descriptor_suggest(name, text);
        return invalid(validation, "there is no kernel named \"%s\"%s", name ? name : "(NULL)",
                       text),
               GLCNN_INVALID_ARGUMENT;
    }
    if ((!settings && setting_count) || (!inputs && input_count) ||
        (!device && !options->reference))
        return invalid(validation, "glcnn_run: device, settings or inputs is NULL"),
               GLCNN_INVALID_ARGUMENT;
    if (!check_format(name, options->format, validation))
        return GLCNN_INVALID_ARGUMENT;
    struct argument_map map = {0};
    struct run run = {.device = options->reference ? NULL : device,
                      .format = options->format,
                      .more_commits = options->commits ? options->commits - 1 : 0,
                      .map = &map,
                      .validation = validation};
    glcnn_status status = GLCNN_SUCCESS;
    if (!run_settings_read(settings, setting_count, &run.settings)) {
        invalid(validation,
                "%s: destination_width and destination_height go together; these, align, "
                "remainder and exclude_edges are whole numbers of 0 or more, and every "
                "setting has a name",
                name);
        status = GLCNN_INVALID_ARGUMENT;
    }
    if (status == GLCNN_SUCCESS && !settings_check_effect(d, settings, setting_count, validation))
        status = GLCNN_INVALID_ARGUMENT;
    for (size_t i = 0; i < input_count && status == GLCNN_SUCCESS; i++)
        status = take_input(d, &inputs[i], &map, validation);
    if (status == GLCNN_SUCCESS)
        status = run_kernel(&run, d);
    if (status == GLCNN_SUCCESS)
        status = give_outputs(d, &map, outputs, output_count, validation);
    argument_map_free(&map);
    return status;
}

void glcnn_run_destroy(struct glcnn_array *outputs)
{
    free(outputs);
}
