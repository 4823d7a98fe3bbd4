/* Pictures on their way to a network. They are joined before they go up. Augmentation comes before normalisation: its ranges are those
 * of values from 0 to 1, and the 0 of what is missing is black. Pictures that are mixed go up twice, so
 * that each is augmented before. */
#include "input.h"

#include <stdlib.h>
#include <string.h>

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

/* ---- Making ---- */

static bool make_source(glcnn_device *device, const struct glcnn_image_descriptor *descriptor,
                        struct input *input, int source)
{
    return good(glcnn_image_create(device, descriptor, &input->sources[source]));
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
                                                   .channel_format = GLCNN_CHANNEL_FORMAT_UNORM8},
                                        mask = {.width = input->mix.width,
                                                .height = input->mix.height,
                                                .feature_channels = 1,
                                                .number_of_images = input->batch};
    const bool numbered = p->augment && augment_is_single(p->augment), mixed = input->mix.batch > 0;
    return make_source(device, &pictures, input, INPUT_PICTURES) &&
           (!numbered || make_source(device, &numbers, input, INPUT_NUMBERS)) &&
           (!mixed || make_source(device, &pictures, input, INPUT_OTHERS)) &&
           (!mixed || !numbered || make_source(device, &numbers, input, INPUT_OTHER_NUMBERS)) &&
           (!mixed || make_source(device, &mask, input, INPUT_MASK));
}

static glcnn_image_node *augmented(const struct input_parameters *p, const struct input *input,
                                   const char *pictures, const char *numbers)
{
    glcnn_image_node *node = glcnn_image_node_create(input->network, pictures);
    return input->sources[INPUT_NUMBERS]
               ? augment_nodes(p->augment, p->seed, node,
                               glcnn_image_node_create(input->network, numbers))
               : node;
}

/* node + mask (other - node) */
static glcnn_image_node *mixed(const struct input_parameters *p, const struct input *input,
                               glcnn_image_node *node)
{
    glcnn_image_node *other = augmented(p, input, "others", "other_numbers"),
                     *mask = glcnn_image_node_create(input->network, "mask");
    const char *settings = input->mix.cutmix > 0
                               ? "secondary_stride_in_feature_channels=0"
                               : "secondary_stride_in_feature_channels=0 "
                                 "secondary_stride_in_pixels_x=0 secondary_stride_in_pixels_y=0";
    return glcnn_add_node(
        node, glcnn_node_binary(glcnn_subtract_node(other, node), mask, "multiply", settings));
}

static bool make_graph(glcnn_device *device, uint32_t channels, const struct input_parameters *p,
                       struct input *input)
{
    const struct glcnn_graph_descriptor descriptor = {.results = &input->result, .result_count = 1};
    if (!good(glcnn_network_create(device, &input->network)))
        return false;
    input->result = augmented(p, input, "pictures", "image_numbers");
    if (input->mix.batch > 0)
        input->result = mixed(p, input, input->result);
    if (is_normalised(p, channels))
        input->result =
            glcnn_image_normalization_node(input->result, p->mean, p->deviation, channels);
    return good(glcnn_graph_create(input->network, &descriptor, &input->graph));
}

static bool begin_mixing(const struct form *form, const struct input_parameters *p,
                         struct input *input)
{
    const size_t values = (size_t)form->width * form->height * form->channels * input->batch;
    if (!p->augment || !augment_mixes(p->augment))
        return true;
    input->others = malloc(values * (p->bytes ? 1 : sizeof(float)));
    return input->others &&
           mix_begin(p->augment, p->seed, form->width, form->height, input->batch, &input->mix);
}

static bool begin_mosaics(const struct form *form, const struct input_parameters *p,
                          struct input *input)
{
    const size_t pixel = form->channels * (p->bytes ? 1 : sizeof(float));
    return !p->augment || !p->augment->mosaic ||
           mosaic_begin(p->seed, form->width, form->height, pixel, input->batch, &input->mosaic);
}

static bool needs_graph(const struct form *form, const struct input_parameters *p)
{
    const struct augment *a = p->augment;
    return (a && (augment_is_single(a) || augment_mixes(a))) || is_normalised(p, form->channels);
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
    return begin_mixing(form, &p, input) && begin_mosaics(form, &p, input) &&
           make_sources(device, form, &p, input) &&
           (!needs_graph(form, &p) || make_graph(device, form->channels, &p, input));
}

void input_destroy(struct input *input)
{
    glcnn_graph_destroy(&input->label_graph);
    glcnn_network_destroy(&input->label_network);
    glcnn_graph_destroy(&input->graph);
    glcnn_network_destroy(&input->network);
    for (int i = 0; i < INPUT_SOURCES; i++)
        glcnn_image_destroy(&input->sources[i]);
    mix_end(&input->mix);
    mosaic_end(&input->mosaic);
    free(input->others);
    input->others = NULL;
}

glcnn_channel_format input_format(const struct input *input)
{
    const glcnn_image *pictures = input->sources[INPUT_PICTURES];
    return input->graph || !pictures ? GLCNN_CHANNEL_FORMAT_FLOAT32
                                     : glcnn_image_get_descriptor(pictures)->channel_format;
}

/* ---- Writing ---- */

/* Bytes of one picture. */
static size_t picture_size(const glcnn_image *pictures)
{
    const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(pictures);
    return (size_t)d->width * d->height * d->feature_channels *
           (d->channel_format == GLCNN_CHANNEL_FORMAT_UNORM8 ? 1 : sizeof(float));
}

static const void *pictures_of(const struct glcnn_data_batch *batch)
{
    return batch->bytes ? (const void *)batch->bytes : batch->floats;
}

const void *input_join(struct input *input, const struct glcnn_data_batch *batch)
{
    const void *pictures = pictures_of(batch);
    return input->mosaic.batch > 0 ? mosaic_join(&input->mosaic, batch, pictures) : pictures;
}

static glcnn_status write_pictures(struct input *input, const struct glcnn_data_batch *batch)
{
    glcnn_image *pictures = input->sources[INPUT_PICTURES];
    return glcnn_image_write_bytes(pictures, NULL, input_join(input, batch),
                                   picture_size(pictures) * input->batch);
}

/* The number of the picture that is in place n. */
static uint32_t picture_at(const struct input *input, const struct glcnn_data_batch *batch,
                           int source, uint32_t n)
{
    return batch->indices[source == INPUT_NUMBERS ? n : input->batch - 1 - n];
}

#define NUMBERS_MAX 512 /* of one transfer */
static glcnn_status write_numbers(struct input *input, const struct glcnn_data_batch *batch,
                                  int source)
{
    uint8_t bytes[NUMBERS_MAX][AUGMENT_CHANNELS];
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t first = 0; first < input->batch && good(status); first += NUMBERS_MAX) {
        uint32_t rest = input->batch - first, count = rest < NUMBERS_MAX ? rest : NUMBERS_MAX;
        const struct glcnn_image_transfer part = {.first_image = first, .image_count = count};
        for (uint32_t n = 0; n < count; n++)
            augment_number(picture_at(input, batch, source, first + n), (uint32_t)batch->epoch,
                           bytes[n]);
        status = glcnn_image_write_bytes(input->sources[source], &part, bytes,
                                         (size_t)count * sizeof *bytes);
    }
    return status;
}

static glcnn_status write_others(struct input *input, const struct glcnn_data_batch *batch)
{
    glcnn_image *others = input->sources[INPUT_OTHERS];
    const size_t size = picture_size(others);
    for (uint32_t n = 0; n < input->batch; n++)
        memcpy(input->others + n * size,
               (const char *)pictures_of(batch) + (input->batch - 1 - n) * size, size);
    return glcnn_image_write_bytes(others, NULL, input->others, size * input->batch);
}

static glcnn_status write_mask(struct input *input, const struct glcnn_data_batch *batch)
{
    const struct mix *mix = &input->mix;
    mix_draw(&input->mix, batch);
    return glcnn_image_write_bytes(input->sources[INPUT_MASK], NULL, mix->mask,
                                   (size_t)mix->width * mix->height * mix->batch *
                                       sizeof *mix->mask);
}

static bool write_all(struct input *input, const struct glcnn_data_batch *batch)
{
    glcnn_image *const *sources = input->sources;
    return good(write_pictures(input, batch)) &&
           (!sources[INPUT_NUMBERS] || good(write_numbers(input, batch, INPUT_NUMBERS))) &&
           (!sources[INPUT_OTHERS] || good(write_others(input, batch))) &&
           (!sources[INPUT_OTHER_NUMBERS] ||
            good(write_numbers(input, batch, INPUT_OTHER_NUMBERS))) &&
           (!sources[INPUT_MASK] || good(write_mask(input, batch)));
}

/* Depth first from the result, sources come in the order of their numbers. */
glcnn_image *input_run(struct input *input, const struct glcnn_data_batch *batch)
{
    glcnn_image *sources[INPUT_SOURCES];
    size_t count = 0;
    for (int i = 0; i < INPUT_SOURCES; i++)
        if (input->sources[i])
            sources[count++] = input->sources[i];
    if (!write_all(input, batch))
        return NULL;
    if (!input->graph)
        return input->sources[INPUT_PICTURES];
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
    glcnn_image *const sources[] = {labels, input->sources[INPUT_NUMBERS]};
    if (!augment_asks_geometry(&input->augment))
        return labels;
    if (!input->label_graph && !make_label_graph(input))
        return NULL;
    return good(glcnn_graph_execute(input->label_graph, sources, NULL, NULL))
               ? glcnn_graph_image(input->label_graph, input->label_result)
               : NULL;
}
