/* Pictures on their way to a network. Augmentation comes before normalisation: its ranges are those
 * of values from 0 to 1, and the 0 of what is missing is black. */
#include "input.h"

static bool good(glcnn_status status)
{
    return status == GLCNN_SUCCESS;
}

static bool is_normalised(const struct input_parameters *p, uint32_t channels)
{
    for (uint32_t c = 0; c < channels; c++)
        if (p->mean[c] != 0 || p->deviation[c] != 1)
            return true;
    return false;
}

static bool make_sources(glcnn_device *device, const struct form *form,
                         const struct input_parameters *p, struct input *input)
{
    const struct glcnn_image_descriptor pictures = {.width = form->width,
                                                    .height = form->height,
                                                    .feature_channels = form->channels,
                                                    .number_of_images = input->batch,
                                                    .channel_format =
                                                        p->bytes ? GLCNN_CHANNEL_FORMAT_UNORM8
                                                                 : GLCNN_CHANNEL_FORMAT_FLOAT32},
                                        numbers = {.feature_channels = AUGMENT_CHANNELS,
                                                   .number_of_images = input->batch,
                                                   .channel_format = GLCNN_CHANNEL_FORMAT_UNORM8};
    return good(glcnn_image_create(device, &pictures, &input->pictures)) &&
           (!p->augment || good(glcnn_image_create(device, &numbers, &input->numbers)));
}

static bool make_graph(glcnn_device *device, uint32_t channels, const struct input_parameters *p,
                       struct input *input)
{
    const struct glcnn_graph_descriptor descriptor = {.results = &input->result, .result_count = 1};
    if (!good(glcnn_network_create(device, &input->network)))
        return false;
    input->result = glcnn_image_node_create(input->network, "pictures");
    if (p->augment)
        input->result = augment_nodes(p->augment, p->seed, input->result,
                                      glcnn_image_node_create(input->network, "image_numbers"));
    if (is_normalised(p, channels))
        input->result =
            glcnn_image_normalization_node(input->result, p->mean, p->deviation, channels);
    return good(glcnn_graph_create(input->network, &descriptor, &input->graph));
}

bool input_create(glcnn_device *device, const struct form *form, uint32_t batch,
                  const struct input_parameters *parameters, struct input *input)
{
    struct input_parameters p = *parameters;
    if (p.augment && !augment_is_asked(p.augment))
        p.augment = NULL;
    *input = (struct input){.batch = batch, .device = device, .seed = p.seed};
    if (p.augment)
        input->augment = *p.augment;
    return make_sources(device, form, &p, input) &&
           (!(p.augment || is_normalised(&p, form->channels)) ||
            make_graph(device, form->channels, &p, input));
}

void input_destroy(struct input *input)
{
    glcnn_graph_destroy(&input->label_graph);
    glcnn_network_destroy(&input->label_network);
    glcnn_graph_destroy(&input->graph);
    glcnn_network_destroy(&input->network);
    glcnn_image_destroy(&input->pictures);
    glcnn_image_destroy(&input->numbers);
}

glcnn_channel_format input_format(const struct input *input)
{
    return input->graph || !input->pictures
               ? GLCNN_CHANNEL_FORMAT_FLOAT32
               : glcnn_image_get_descriptor(input->pictures)->channel_format;
}

static glcnn_status write_pictures(struct input *input, const struct glcnn_data_batch *batch)
{
    const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(input->pictures);
    size_t count = (size_t)d->width * d->height * d->feature_channels * d->number_of_images;
    if (d->channel_format == GLCNN_CHANNEL_FORMAT_UNORM8)
        return glcnn_image_write_bytes(input->pictures, NULL, batch->bytes, count);
    return glcnn_image_write_bytes(input->pictures, NULL, batch->floats,
                                   count * sizeof *batch->floats);
}

#define NUMBERS_MAX 512 /* of one transfer */
static glcnn_status write_numbers(struct input *input, const struct glcnn_data_batch *batch)
{
    uint8_t bytes[NUMBERS_MAX][AUGMENT_CHANNELS];
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t first = 0; first < input->batch && good(status); first += NUMBERS_MAX) {
        uint32_t rest = input->batch - first, count = rest < NUMBERS_MAX ? rest : NUMBERS_MAX;
        const struct glcnn_image_transfer part = {.first_image = first, .image_count = count};
        for (uint32_t n = 0; n < count; n++)
            augment_number(batch->indices[first + n], (uint32_t)batch->epoch, bytes[n]);
        status =
            glcnn_image_write_bytes(input->numbers, &part, bytes, (size_t)count * sizeof *bytes);
    }
    return status;
}

glcnn_image *input_run(struct input *input, const struct glcnn_data_batch *batch)
{
    glcnn_image *const sources[] = {input->pictures, input->numbers};
    if (!good(write_pictures(input, batch)) ||
        (input->numbers && !good(write_numbers(input, batch))))
        return NULL;
    if (!input->graph)
        return input->pictures;
    return good(glcnn_graph_execute(input->graph, sources, NULL, NULL))
               ? glcnn_graph_image(input->graph, input->result)
               : NULL;
}

static bool make_label_graph(struct input *input)
{
    const struct glcnn_graph_descriptor descriptor = {.results = &input->label_result,
                                                      .result_count = 1};
    if (!good(glcnn_network_create(input->device, &input->label_network)))
        return false;
    glcnn_image_node *labels = glcnn_image_node_create(input->label_network, "labels");
    input->label_result =
        augment_nodes(&(struct augment){.geometry = input->augment.geometry}, input->seed, labels,
                      glcnn_image_node_create(input->label_network, "image_numbers"));
    return good(glcnn_graph_create(input->label_network, &descriptor, &input->label_graph));
}

glcnn_image *input_turn(struct input *input, glcnn_image *labels)
{
    glcnn_image *const sources[] = {labels, input->numbers};
    if (!augment_asks_geometry(&input->augment))
        return labels;
    if (!input->label_graph && !make_label_graph(input))
        return NULL;
    return good(glcnn_graph_execute(input->label_graph, sources, NULL, NULL))
               ? glcnn_graph_image(input->label_graph, input->label_result)
               : NULL;
}
