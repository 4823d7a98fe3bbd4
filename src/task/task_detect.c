/* Detect: the boxes of objects in a picture, and their classes. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detection_augment.h"
#include "detection_decode.h"
#include "detection_draw.h"
#include "detection_loss.h"
#include "detection_pack.h"
#include "detection_score.h"
#include "detection_targets.h"
#include "model.h"
#include "truth.h"
#include "score.h"
#include "window.h"

#define HEAD_LABELS    "detection_"
#define LEAST_CHANNELS 32
#define MOST_CHANNELS  64

_Static_assert(DETECTION_MOST == TASK_BOXES, "an answer has room for all boxes");

/* ---- The network ---- */

/* Half of the size, rounded up, and twice the channels, at most 64. */
static struct feature halve(struct feature f)
{
    static const struct glcnn_neuron_descriptor rectifier = {.type = GLCNN_NEURON_TYPE_RELU,
                                                             .c = 1};
    const struct feature half = {.width = (f.width + 1) / 2,
                                 .height = (f.height + 1) / 2,
                                 .channels = f.channels < 32 ? 2 * f.channels : 64};
    const struct glcnn_convolution_descriptor d = {.kernel_width = 3,
                                                   .kernel_height = 3,
                                                   .stride_in_pixels_x = 2,
                                                   .stride_in_pixels_y = 2,
                                                   .input_feature_channels = f.channels,
                                                   .output_feature_channels = half.channels};
    struct feature made = half;
    made.image = glcnn_batch_normalization_node(glcnn_convolution_node(f.image, &d, NULL), 1e-5f,
                                                &rectifier, NULL);
    return made;
}

/* Halved as often as leaves it as large as the grid, then brought to its size: windows that leave out
 * the last pixels make features that are not quite as large. */
static struct feature fit(struct feature f, const struct detection_grid *grid)
{
    while ((f.width + 1) / 2 >= grid->columns && (f.height + 1) / 2 >= grid->rows &&
           (f.width > grid->columns || f.height > grid->rows))
        f = halve(f);
    if (f.width == grid->columns && f.height == grid->rows)
        return f;
    const struct glcnn_resize_parameters size = {.resized_width = grid->columns,
                                                 .resized_height = grid->rows};
    return (struct feature){glcnn_resize_linear_node(f.image, &size), grid->columns, grid->rows,
                            f.channels};
}

/* The smallest feature that is as large as the grid; of a network of none such the largest. */
static const struct feature *feature_for(const struct features *features,
                                         const struct detection_grid *grid)
{
    uint32_t i = features->count - 1;
    while (i > 0 && (features->at[i].width < grid->columns || features->at[i].height < grid->rows))
        i--;
    return &features->at[i];
}

/* Of each grid; what the network has no smaller feature for is made of that of the grid before. */
static void find_features(const struct detection_layout *layout, const struct features *features,
                          struct detection_features of_grids[DETECTION_SCALES])
{
    const struct feature *from = NULL;
    struct feature f = {NULL};
    for (uint32_t i = 0; i < layout->scales; i++) {
        const struct feature *own = feature_for(features, &layout->grids[i]);
        f = fit(own == from ? f : *own, &layout->grids[i]);
        from = own;
        of_grids[i] = (struct detection_features){f.image, f.channels};
    }
}

#define LABEL 32 /* bytes of a label of the head */

static void write_label(char label[LABEL], const char *what, uint32_t scale)
{
    snprintf(label, LABEL, HEAD_LABELS "%s_%u", what, scale);
}

/* Outputs are found by their names in a network of a file. */
static bool name(glcnn_image_node *image, const char *what, uint32_t scale)
{
    char label[LABEL];
    glcnn_filter_node *filter = glcnn_image_node_filter(image);
    write_label(label, what, scale);
    return filter && glcnn_filter_node_set_label(filter, label) == GLCNN_SUCCESS;
}

static glcnn_image_node *named(const glcnn_network *network, const char *what, uint32_t scale)
{
    char label[LABEL];
    glcnn_filter_node *filter;
    write_label(label, what, scale);
    for (size_t i = 0; (filter = glcnn_network_filter(network, i)) != NULL; i++)
        if (strcmp(glcnn_filter_node_label(filter), label) == 0)
            return glcnn_filter_node_result(filter);
    return NULL;
}

static glcnn_image_node *pack(const struct detection_layout *layout,
                              const struct detection_outputs *outputs)
{
    glcnn_image_node *predictions[DETECTION_SCALES];
    for (uint32_t i = 0; i < layout->scales; i++)
        predictions[i] = outputs[i].predictions;
    return detection_pack(layout, predictions);
}

/* A quarter of the network's widest features, within limits: more channels let a head find the edges of boxes
 * more exactly where the network has so much to say. */
static uint32_t head_channels(const struct features *features)
{
    const uint32_t quarter = features->at[features->count - 1].channels / 4;
    return quarter < LEAST_CHANNELS ? LEAST_CHANNELS
                                    : (quarter > MOST_CHANNELS ? MOST_CHANNELS : quarter);
}

/* There are as many grids as pictures of a form have objects for. */
static struct detection_layout layout_of(const struct form *form)
{
    static const uint32_t strides[DETECTION_SCALES] = {8, 16, 32};
    const uint32_t longer = form_longer(form);
    const uint32_t scales = longer <= 96 ? 1 : longer <= 192 ? 2 : 3;
    return detection_layout(form->width, form->height, form->classes, strides, scales);
}

static glcnn_image_node *build(const struct features *features, const struct form *form)
{
    const struct detection_layout layout = layout_of(form);
    struct detection_features of_grids[DETECTION_SCALES];
    struct detection_outputs outputs[DETECTION_SCALES];
    bool good = true;
    find_features(&layout, features, of_grids);
    detection_head(&layout, head_channels(features), of_grids, outputs);
    for (uint32_t i = 0; i < layout.scales; i++)
        good = good && name(outputs[i].scores, "scores", i) &&
               name(outputs[i].distances, "distances", i);
    return good ? pack(&layout, outputs) : NULL;
}

/* ---- In files for other programs ---- */

/* Finds what the soft plus of a grid reads; NULL: no soft plus has the label. */
static glcnn_image_node *raw_distances(const glcnn_network *network, uint32_t scale)
{
    glcnn_image_node *made = named(network, "distances", scale);
    glcnn_filter_node *filter = made ? glcnn_image_node_filter(made) : NULL;
    const struct glcnn_neuron_parameters *p =
        filter ? glcnn_neuron(glcnn_filter_node_kernel(filter)) : NULL;
    return p && p->neuron.type == GLCNN_NEURON_TYPE_SOFT_PLUS ? glcnn_filter_node_source(filter, 0)
                                                              : NULL;
}

static uint32_t find_ends(const struct model *model, struct task_end ends[TASK_ENDS],
                          char error[GLCNN_ERROR_LENGTH])
{
    const struct detection_layout layout = layout_of(&model->form);
    for (uint32_t i = 0; i < layout.scales; i++) {
        struct task_end *boxes = &ends[2 * i], *scores = &ends[2 * i + 1];
        boxes->node = raw_distances(model->network, i);
        scores->node = named(model->network, "scores", i);
        snprintf(boxes->name, sizeof boxes->name, "boxes_%u", layout.grids[i].stride);
        snprintf(scores->name, sizeof scores->name, "scores_%u", layout.grids[i].stride);
        if (boxes->node && scores->node)
            continue;
        snprintf(
            error, GLCNN_ERROR_LENGTH,
            "a detector's boxes are found by the labels of its layers, and the network has no " HEAD_LABELS
            "scores_%u, or none " HEAD_LABELS "distances_%u that is a soft plus",
            i, i);
        return 0;
    }
    return 2 * layout.scales;
}

/* Finds the layer that has the label of an end in a file of int8, where roundings follow it; NULL: none has. */
static glcnn_filter_node *find_labelled(const glcnn_image_node *end, const char *label)
{
    glcnn_filter_node *filter;
    for (; end && (filter = glcnn_image_node_filter(end)) != NULL;
         end = glcnn_filter_node_source(filter, 0)) {
        if (strcmp(glcnn_filter_node_label(filter), label) == 0)
            return filter;
        if (!glcnn_neuron(glcnn_filter_node_kernel(filter)))
            return NULL;
    }
    return NULL;
}

/* Gives an end its label, which a layer before its roundings may have: that gets another. */
static bool name_end(glcnn_image_node *end, const char *what, uint32_t scale)
{
    char label[LABEL], other[LABEL + sizeof ".layer"];
    write_label(label, what, scale);
    snprintf(other, sizeof other, "%s.layer", label);
    glcnn_filter_node *layer = find_labelled(end, label);
    return (!layer || glcnn_filter_node_set_label(layer, other) == GLCNN_SUCCESS) &&
           name(end, what, scale);
}

static glcnn_image_node *join_ends(const struct form *form, glcnn_image_node *const ends[],
                                   uint32_t count, const float *units)
{
    (void)units;
    const struct detection_layout layout = layout_of(form);
    struct detection_outputs outputs[DETECTION_SCALES];
    bool good = count == 2 * layout.scales;
    for (uint32_t i = 0; good && i < layout.scales; i++) {
        detection_join(ends[2 * i], ends[2 * i + 1], &outputs[i]);
        good = outputs[i].predictions && name_end(outputs[i].scores, "scores", i) &&
               name(outputs[i].distances, "distances", i);
    }
    return good ? pack(&layout, outputs) : NULL;
}

static bool finish(struct model *model)
{
    model->probabilities = model->scores;
    return true;
}

/* Of all grids. */
static glcnn_image_node *packed(const struct model *model, const struct detection_layout *layout,
                                const char *what)
{
    glcnn_image_node *images[DETECTION_SCALES];
    bool has_all = true;
    for (uint32_t i = 0; i < layout->scales; i++) {
        images[i] = named(model->network, what, i);
        has_all = has_all && images[i];
    }
    return has_all ? detection_pack(layout, images) : NULL;
}

/* One loss of all grids takes a third of the passes of one for each of three. Weights of labels make the
 * sum over a batch the mean over its objects. */
static bool add_loss(struct model *model, enum detection_classes classes)
{
    const struct detection_layout layout = layout_of(&model->form);
    const struct detection_outputs outputs = {.scores = packed(model, &layout, "scores"),
                                              .distances = packed(model, &layout, "distances")};
    struct detection_loss loss = {.labels = model_add_labels(model),
                                  .label_weights = model_add_labels(model),
                                  .distances = model_add_labels(model),
                                  .box_weights = model_add_labels(model)};
    if (!outputs.scores || !outputs.distances) {
        model->lacks =
            "a detector's layers are found by their labels, and the network has no " HEAD_LABELS
            "scores_0 and " HEAD_LABELS "distances_0 for each of its grids; "
            "glcnn train --task detect and Python's glcnn.tasks.detect.network make "
            "them";
        return false;
    }
    detection_losses(&outputs, classes, &loss);
    model->losses[model->loss_count++] = loss.scores;
    model->losses[model->loss_count++] = loss.boxes;
    return loss.scores && loss.boxes;
}

static bool add_quality(struct model *model, uint32_t batch)
{
    (void)batch;
    return add_loss(model, DETECTION_QUALITY);
}

static bool add_cross_entropy(struct model *model, uint32_t batch)
{
    (void)batch;
    return add_loss(model, DETECTION_CROSS_ENTROPY);
}

static const struct task_loss losses[] = {
    {"quality", "quality focal loss of classes and CIoU of boxes", add_quality},
    {"ciou", "cross-entropy of classes and CIoU of boxes", add_cross_entropy},
    {NULL}};

static bool is_by_quality(const struct form *form)
{
    return losses[form->loss].add == add_quality;
}

/* Of the loss of boxes beside that of classes, which is smaller where it is focal. */
static float box_gain(const struct form *form)
{
    return is_by_quality(form) ? 2 : 4;
}

/* ---- Batches ---- */

static struct glcnn_image_descriptor labels(const struct form *form, uint32_t index, uint32_t batch)
{
    const struct detection_layout layout = layout_of(form);
    const uint32_t channels[] = {form->classes, form->classes, 4, 1};
    return (struct glcnn_image_descriptor){.width = layout.grids[0].columns,
                                           .height = detection_packed_rows(&layout),
                                           .feature_channels = channels[index],
                                           .number_of_images = batch};
}

/* Objects of all pictures of a batch; each picture has its part of `items`. */
struct batch_objects {
    struct glcnn_object *items;
    struct objects *pictures;
};

/* None of batches that only a step is timed by. */
static uint32_t boxes_in(const struct glcnn_data_batch *batch, uint32_t n)
{
    return batch->boxes ? batch->box_counts[n] : 0;
}

static struct glcnn_object object_of(const struct form *form, const struct glcnn_data_box *b)
{
    const float width = (float)form->width, height = (float)form->height;
    return (struct glcnn_object){
        {b->left * width, b->top * height, b->right * width, b->bottom * height},
        b->label,
        b->is_crowd,
        b->is_difficult};
}

/* Those that the network sees, as far as it does. */
static uint32_t copy_objects(const struct form *form, const struct glcnn_data_batch *batch,
                             uint32_t n, struct glcnn_object *objects)
{
    const struct glcnn_box image = {0, 0, (float)form->width, (float)form->height};
    uint32_t count = 0;
    for (uint32_t i = 0; i < boxes_in(batch, n); i++) {
        objects[count] = object_of(form, &batch->boxes[n][i]);
        count += object_cut(&objects[count], &image);
    }
    return count;
}

/* Of all pictures that a picture is joined of. */
static uint32_t join_objects(const struct runner *runner, const struct glcnn_data_batch *batch,
                             uint32_t n, struct glcnn_object *objects)
{
    const struct mosaic *mosaic = &runner->input.mosaic;
    uint32_t count = 0;
    if (mosaic->batch == 0)
        return copy_objects(&runner->form, batch, n, objects);
    for (int part = 0; part < MOSAIC_PARTS; part++) {
        const uint32_t picture = mosaic->joints[n].pictures[part];
        count += mosaic_objects(mosaic, n, part, objects + count,
                                copy_objects(&runner->form, batch, picture, objects + count));
    }
    return count;
}

/* Before anything is cut off. */
static size_t most_objects(const struct runner *runner, const struct glcnn_data_batch *batch)
{
    const struct mosaic *mosaic = &runner->input.mosaic;
    size_t count = 0;
    for (uint32_t n = 0; n < runner->batch; n++)
        for (int part = 0; part < (mosaic->batch > 0 ? MOSAIC_PARTS : 1); part++)
            count += boxes_in(batch, mosaic->batch > 0 ? mosaic->joints[n].pictures[part] : n);
    return count;
}

/* Where the pictures' augmentation moves them. */
static bool take_objects(const struct runner *runner, const struct glcnn_data_batch *batch,
                         struct batch_objects *to)
{
    struct glcnn_augment_geometry_parameters geometry = runner->input.augment.geometry;
    const struct form *form = &runner->form;
    geometry.seed = runner->input.seed;
    to->items = malloc((most_objects(runner, batch) + 1) * sizeof *to->items);
    to->pictures = calloc(runner->batch, sizeof *to->pictures);
    struct glcnn_object *next = to->items;
    for (uint32_t n = 0; n < runner->batch && to->items && to->pictures; n++) {
        uint32_t objects = join_objects(runner, batch, n, next);
        if (objects > 0 && augment_asks_geometry(&runner->input.augment))
            objects = detection_augment(&geometry, batch->indices[n], (uint32_t)batch->epoch,
                                        form->width, form->height, next, objects);
        to->pictures[n] = (struct objects){next, objects};
        next += objects;
    }
    return to->items && to->pictures;
}

#define NAMES_LEAST                                                                                \
    128 /* pixels of an image's width, below which names would hide what they name */
static bool draw_labels(struct runner *runner, const struct glcnn_data_batch *batch, uint32_t count,
                        const char *const *names, uint8_t *const pixels[])
{
    struct batch_objects all = {NULL, NULL};
    const bool good = take_objects(runner, batch, &all);
    for (uint32_t n = 0; n < count && good; n++) {
        const struct canvas canvas = {pixels[n], runner->form.width, runner->form.height};
        for (uint32_t i = 0; i < all.pictures[n].count; i++) {
            const struct glcnn_object *o = &all.pictures[n].items[i];
            const struct glcnn_detection d = {.box = o->box, .label = o->label, .score = NAN};
            detection_draw(&canvas, &d, 1, runner->form.width < NAMES_LEAST ? NULL : names);
        }
    }
    free(all.items);
    free(all.pictures);
    return good;
}

/* Arrays of each grid, into one image. */
static bool upload(glcnn_image *image, const struct detection_layout *layout,
                   const float *const grids[], float rest)
{
    const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(image);
    const size_t count = (size_t)d->width * d->height * d->feature_channels * d->number_of_images;
    float *values = malloc(count * sizeof *values);
    if (values)
        detection_pack_values(layout, d->number_of_images, d->feature_channels, grids, rest,
                              values);
    bool good = values && glcnn_image_write_bytes(image, NULL, values, count * sizeof *values) ==
                              GLCNN_SUCCESS;
    free(values);
    return good;
}

/* What fills up has no weight; its distances are such that losses are finite. */
static bool upload_all(struct runner *runner, const struct detection_targets *targets)
{
    const float *grids[4][DETECTION_SCALES];
    bool good = true;
    for (uint32_t i = 0; i < targets->layout.scales; i++) {
        const struct detection_target *t = &targets->scales[i];
        grids[0][i] = t->labels;
        grids[1][i] = t->label_weights;
        grids[2][i] = t->distances;
        grids[3][i] = t->box_weights;
    }
    for (uint32_t k = 0; k < 4 && good; k++)
        good = upload(runner->labels[k], &targets->layout, grids[k], k == 2 ? 1 : 0);
    return good;
}

static bool write_labels(struct runner *runner, const struct glcnn_data_batch *batch)
{
    const struct detection_layout layout = layout_of(&runner->form);
    struct detection_targets targets;
    struct batch_objects objects = {NULL, NULL};
    bool good = detection_targets_create(&layout, runner->batch, &targets) &&
                take_objects(runner, batch, &objects);
    if (good)
        detection_targets_find(&targets, objects.pictures, runner->batch);
    double positives = targets.positives;
    good = good && runner_sum(runner, &positives);
    if (good)
        detection_targets_weigh(&targets, positives, box_gain(&runner->form));
    good = good && upload_all(runner, &targets);
    free(objects.items);
    free(objects.pictures);
    detection_targets_free(&targets);
    return good;
}

static size_t values(const struct form *form)
{
    const struct detection_layout layout = layout_of(form);
    return detection_packed(&layout);
}

/* ---- Detections ---- */

/* What each grid predicts, to be freed; NULL: not enough memory. */
static float *unpack(const struct detection_layout *layout, const float *packed,
                     const float *predictions[DETECTION_SCALES])
{
    float *room = malloc(detection_packed(layout) * sizeof *room);
    if (room)
        detection_unpack(layout, packed, room, predictions);
    return room;
}

/* The detections of a picture, into `found`; UINT32_MAX: not enough memory. */
static uint32_t detect(const struct form *form, const float *packed,
                       const struct glcnn_detection_limits *limits,
                       struct glcnn_detection found[DETECTION_MOST])
{
    const struct detection_layout layout = layout_of(form);
    const float *predictions[DETECTION_SCALES];
    float *room = unpack(&layout, packed, predictions);
    uint32_t count = room ? detection_decode(&layout, predictions, limits, found) : UINT32_MAX;
    free(room);
    return count;
}

/* ---- In the picture ---- */

/* A picture, and what the network sees of it. */
struct seen_picture {
    const struct form *form;
    uint32_t size[2];
    struct glcnn_data_window window;
};

static struct seen_picture see(const struct form *form, uint32_t width, uint32_t height)
{
    struct seen_picture p = {form, {width, height}, {0, 0, 0, 0}};
    p.window = window_find(form, p.size);
    return p;
}

static struct glcnn_box in_picture(const struct seen_picture *p, const struct glcnn_box *box)
{
    double low[2] = {(double)box->left, (double)box->top},
           high[2] = {(double)box->right, (double)box->bottom};
    window_to_picture(p->form, &p->window, low, low);
    window_to_picture(p->form, &p->window, high, high);
    return (struct glcnn_box){(float)low[0], (float)low[1], (float)high[0], (float)high[1]};
}

/* All objects of a picture, whole, also those that the network does not see. */
static void place_objects(const struct seen_picture *p, const struct glcnn_data_batch *batch,
                          uint32_t n, struct glcnn_object *objects)
{
    for (uint32_t i = 0; i < boxes_in(batch, n); i++) {
        objects[i] = object_of(p->form, &batch->boxes[n][i]);
        objects[i].box = in_picture(p, &objects[i].box);
    }
}

/* Moves what was found into the picture, and cuts it at its edges; what is found in the border alone goes.
 * Returns how many are left. */
static uint32_t place_detections(const struct seen_picture *p, struct glcnn_detection *found,
                                 uint32_t count)
{
    const struct glcnn_box picture = {0, 0, (float)p->size[0], (float)p->size[1]};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct glcnn_detection d = found[i];
        d.box = in_picture(p, &d.box);
        d.box = box_intersection(&d.box, &picture);
        if (glcnn_box_area(&d.box) > 0)
            found[kept++] = d;
    }
    return kept;
}

/* ---- Scores ---- */

/* Cross-entropy of a probability that is to be t, focal where t is a quality. */
static double score_loss_of(double probability, double t, bool by_quality)
{
    const double p = fmin(fmax(probability, 1e-7), 1 - 1e-7),
                 entropy = -t * log(p) - (1 - t) * log1p(-p);
    return by_quality ? (p - t) * (p - t) * entropy : entropy;
}

/* The loss of what is predicted at a location. */
static double loss_at(const struct detection_target *t, size_t at, uint32_t classes,
                      const float *found, bool by_quality)
{
    const float *d = t->distances + 4 * at;
    const struct glcnn_box wanted = {-d[0], -d[1], d[2], d[3]};
    const struct glcnn_box box = {-found[0], -found[1], found[2], found[3]};
    const double overlap = glcnn_box_overlap(&box, &wanted);
    double loss = (double)t->box_weights[at] * (1 - overlap);
    for (uint32_t c = 0; c < classes; c++) {
        const double label = (double)t->labels[at * classes + c];
        loss +=
            (double)t->label_weights[at * classes + c] *
            score_loss_of((double)found[4 + c], by_quality ? label * overlap : label, by_quality);
    }
    return loss;
}

/* As the training's, but for boxes by plain intersection over union; NaN: not enough memory. */
static double loss_of(const struct form *form, const float *packed, const struct objects *objects)
{
    const struct detection_layout layout = layout_of(form);
    const float *predictions[DETECTION_SCALES];
    struct detection_targets targets;
    float *room = unpack(&layout, packed, predictions);
    double loss = detection_targets_create(&layout, 1, &targets) && room ? 0 : (double)NAN;
    if (loss == 0)
        detection_targets_set(&targets, objects, 1, box_gain(form));
    for (uint32_t i = 0; loss >= 0 && i < layout.scales; i++)
        for (size_t at = 0; at < detection_locations(&layout.grids[i]); at++)
            loss += loss_at(&targets.scales[i], at, layout.classes,
                            predictions[i] + at * (4 + layout.classes), is_by_quality(form));
    detection_targets_free(&targets);
    free(room);
    return loss;
}

static size_t sums(const struct form *form)
{
    (void)form;
    return 1; /* pictures that there was no memory for */
}

/* Precision needs all detections at once, so no sums do. */
static glcnn_detection_score *kept(struct score *score)
{
    if (!score->kept && (score->kept = calloc(1, sizeof(glcnn_detection_score))))
        detection_score_begin(score->kept, score->form.classes);
    return score->kept;
}

static void release(struct score *score)
{
    detection_score_free(score->kept);
    free(score->kept);
}

static size_t kept_numbers(struct score *score)
{
    return kept(score) ? detection_score_numbers(score->kept) : 0;
}

static void write_kept(const struct score *score, double *numbers)
{
    detection_score_write(score->kept, numbers);
}

static bool read_kept(struct score *score, const double *numbers, size_t count)
{
    return detection_score_read(score->kept, numbers, count);
}

static void add(struct score *score, const float *packed, const struct glcnn_data_batch *batch,
                uint32_t n)
{
    const struct glcnn_detection_limits limits = DETECTION_MEASURED;
    struct glcnn_detection found[DETECTION_MOST];
    glcnn_detection_score *all = kept(score);
    struct glcnn_object *objects = calloc((size_t)boxes_in(batch, n) + 1, sizeof *objects);
    const uint32_t count = detect(&score->form, packed, &limits, found);
    bool good = all && all->objects && objects && count <= DETECTION_MOST;
    if (good) {
        const struct objects shown = {objects, copy_objects(&score->form, batch, n, objects)};
        const struct seen_picture p = see(&score->form, batch->widths[n], batch->heights[n]);
        score->loss += loss_of(&score->form, packed, &shown);
        place_objects(&p, batch, n, objects);
        good = detection_score_add(all, objects, boxes_in(batch, n), found,
                                   place_detections(&p, found, count));
    }
    score->sums[0] += !good;
    free(objects);
}

static struct detection_precision result_of(const struct score *score, double *of_classes)
{
    struct detection_precision p = {NAN, NAN, of_classes};
    if (score->kept && score->sums[0] == 0)
        detection_score_result(score->kept, &p);
    return p;
}

static double measured(const struct score *score)
{
    return result_of(score, NULL).at_50;
}

/* COCO's measure: an epoch whose boxes fit well is better than one that finds as many roughly. */
static double rank(const struct score *score, double *measure)
{
    const struct detection_precision p = result_of(score, NULL);
    *measure = p.at_50;
    return p.at_all;
}

static double measured_drawn(const struct score *score, const uint32_t *times)
{
    return score->kept && score->sums[0] == 0 ? detection_score_drawn(score->kept, times) : NAN;
}

static size_t drawn_numbers(const struct score *score)
{
    return score->kept ? detection_score_work(score->kept) : 0;
}

static bool measure_classes(const struct score *score, double *measures, double *counts)
{
    const glcnn_detection_score *all = score->kept;
    for (uint32_t k = 0; k < score->form.classes; k++) {
        measures[k] = NAN;
        counts[k] = all ? (double)all->objects[k] : 0;
    }
    result_of(score, measures);
    return true;
}

#define SIZES_LEAST 5   /* objects of a size that is told of */
#define SIZES_APART 0.1 /* average recall */

/* Of the three sizes the one of which the fewest are found, if the others are found better. */
static void describe_sizes(const struct score *score, char text[TASK_PART_NAME])
{
    static const char *const words[DETECTION_SIZES] = {"small", "middling", "large"};
    struct detection_size sizes[DETECTION_SIZES];
    size_t least = 0, most = 0;
    *text = 0;
    if (!score->kept || !detection_score_sizes(score->kept, sizes))
        return;
    for (size_t i = 0; i < DETECTION_SIZES; i++) {
        if (sizes[i].count < SIZES_LEAST)
            return;
        least = sizes[i].found < sizes[least].found ? i : least;
        most = sizes[i].found > sizes[most].found ? i : most;
    }
    if (sizes[most].found - sizes[least].found < SIZES_APART)
        return;
    snprintf(text, TASK_PART_NAME,
             "%s objects, %s %.0f pixels across, are found least: average recall %.4f; of %s ones "
             "%.4f",
             words[least], least == 0 ? "up to" : "above", sizes[least > 0 ? least - 1 : 0].side,
             sizes[least].found, words[most], sizes[most].found);
}

static const struct task_parts parts = {.name = "class",
                                        .measure = "AP@0.5",
                                        .counted = "objects",
                                        .count = task_count_classes,
                                        .measured = measure_classes,
                                        .describe_sizes = describe_sizes};

/* With that of each class, to be freed; NULL: not enough memory. */
static struct detection_precision result_by_class(const struct score *score, double **of_classes)
{
    *of_classes = malloc(score->form.classes * sizeof **of_classes);
    for (uint32_t k = 0; *of_classes && k < score->form.classes; k++)
        (*of_classes)[k] = NAN;
    return result_of(score, *of_classes);
}

static void print(const struct score *score, const char *const *names, struct text *text)
{
    double *of_classes;
    const struct detection_precision p = result_by_class(score, &of_classes);
    char all[TASK_MEASURED];
    text_show(text, "\nmAP@0.5:0.95 %s\n\n%-24s %10s\n", task_write(score->task, p.at_all, all),
              "class", "AP@0.5");
    for (uint32_t k = 0; of_classes && k < score->form.classes; k++)
        if (isnan(of_classes[k]))
            text_show(text, "%-24.24s %10s\n", names[k], "none");
        else
            text_show(text, "%-24.24s %10.4f\n", names[k], of_classes[k]);
    free(of_classes);
}

static void describe(const struct score *score, const char *const *names, cJSON *object)
{
    double *of_classes;
    const struct detection_precision p = result_by_class(score, &of_classes);
    cJSON *classes = cJSON_AddArrayToObject(object, "classes");
    for (uint32_t k = 0; of_classes && k < score->form.classes; k++) {
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddStringToObject(entry, "name", names[k]);
        cJSON_AddNumberToObject(entry, "ap_50", of_classes[k]);
        cJSON_AddItemToArray(classes, entry);
    }
    cJSON_AddNumberToObject(object, "count", (double)score->count);
    cJSON_AddNumberToObject(object, "map_50", p.at_50);
    cJSON_AddNumberToObject(object, "map_50_95", p.at_all);
    free(of_classes);
}

/* ---- Answers ---- */

static uint32_t answers(const struct answer *a, struct glcnn_detection found[DETECTION_MOST])
{
    if (a->boxes) {
        memcpy(found, a->boxes, a->box_count * sizeof *found);
        return a->box_count;
    }
    const struct seen_picture p = see(a->form, a->width, a->height);
    const uint32_t count = detect(a->form, a->values, &a->limits, found);
    return count <= DETECTION_MOST ? place_detections(&p, found, count) : 0;
}

static void add_box(cJSON *boxes, const struct glcnn_detection *d, const char *class)
{
    const double edges[4] = {(double)d->box.left, (double)d->box.top, (double)d->box.right,
                             (double)d->box.bottom};
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddNumberToObject(entry, "class", d->label);
    cJSON_AddStringToObject(entry, "name", class);
    cJSON_AddNumberToObject(entry, "score", (double)d->score);
    cJSON_AddItemToObject(entry, "box", cJSON_CreateDoubleArray(edges, 4));
    cJSON_AddItemToArray(boxes, entry);
}

static void tell(const struct answer *a)
{
    struct glcnn_detection found[DETECTION_MOST];
    const uint32_t count = answers(a, found);
    cJSON *boxes = a->object ? cJSON_AddArrayToObject(a->object, "boxes") : NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct glcnn_detection *d = &found[i];
        if (boxes)
            add_box(boxes, d, a->names[d->label]);
        else
            text_show(a->text, "%s %u %s %.4f %.1f %.1f %.1f %.1f\n", a->picture, d->label,
                      a->names[d->label], (double)d->score, (double)d->box.left, (double)d->box.top,
                      (double)d->box.right, (double)d->box.bottom);
    }
}

static void show(const struct answer *a, uint8_t *pixels)
{
    struct glcnn_detection found[DETECTION_MOST];
    const struct canvas canvas = {pixels, a->width, a->height};
    detection_draw(&canvas, found, answers(a, found), a->names);
}

/* Boxes are shares of the image that the network sees. */
static void draw_truth(const struct truth *t, const struct canvas *canvas)
{
    const uint32_t size[2] = {canvas->width, canvas->height};
    const struct glcnn_data_window w = window_find(t->form, size);
    uint32_t count;
    const struct glcnn_data_box *boxes = glcnn_dataset_boxes(t->set, t->part, t->index, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct glcnn_data_box *b = &boxes[i];
        const struct glcnn_detection d = {{(float)(w.left + (double)b->left * w.width),
                                           (float)(w.top + (double)b->top * w.height),
                                           (float)(w.left + (double)b->right * w.width),
                                           (float)(w.top + (double)b->bottom * w.height)},
                                          b->label,
                                          NAN};
        detection_draw(canvas, &d, 1, t->names);
    }
}

const struct task task_detect = {
    .name = "detect",
    .text = "boxes around objects, and their classes",
    .words =
        "  detect     boxes around objects, as YOLO, Pascal VOC or COCO have them: quality or ciou\n",
    .changes = {true, 0.25, 0, 0.4, 0, false},
    .measure = "mAP@0.5",
    .ranked = "mAP@0.5:0.95",
    .nothing = "no objects",
    .classes = "classes",
    .gives = "what boxes and their classes are made of",
    .find_ends = find_ends,
    .join_ends = join_ends,
    .layout = layout_of,
    .targets = GLCNN_DATA_TARGETS_BOXES,
    .joins_pictures = true,
    .labels_turn = true,
    .fit = GLCNN_DATA_FIT_LETTERBOX,
    .build = build,
    .head = HEAD_LABELS,
    .class_layers = HEAD_LABELS "scores_",
    .finish = finish,
    .losses = losses,
    .labels = labels,
    .write_labels = write_labels,
    .values = values,
    .sums = sums,
    .add = add,
    .measured = measured,
    .rank = rank,
    .measured_drawn = measured_drawn,
    .drawn_numbers = drawn_numbers,
    .release = release,
    .kept_numbers = kept_numbers,
    .write_kept = write_kept,
    .read_kept = read_kept,
    .print = print,
    .describe = describe,
    .parts = &parts,
    .explains = "the mean, over classes, of the precision at all recalls; a box is "
                "right where it shares half of its union with an object",
    .limits = TASK_LIMITS_BOXES,
    .tell = tell,
    .show = show,
    .boxes = answers,
    .draw_labels = draw_labels,
    .draw_truth = draw_truth};
