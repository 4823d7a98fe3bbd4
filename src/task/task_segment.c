/* Segment: a class for each pixel of a picture. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "confusion.h"
#include "decoder.h"
#include "detection_draw.h"
#include "model.h"
#include "score.h"
#include "network.h"
#include "truth.h"
#include "segment_mask.h"
#include "window.h"

/* ---- The network ---- */

static glcnn_image_node *build(const struct features *features, const struct form *form)
{
    unsigned channels;
    glcnn_image_node *scores = decoder_build(features, &channels);
    scores = net_convolve(scores, 1, channels, form->classes);
    if (features->at[0].width == form->width && features->at[0].height == form->height)
        return scores;
    return decoder_resized(scores, form->width, form->height);
}

/* ---- Losses ---- */

/* Of a value for each pixel and class: 1 / pixels gives the mean over pixels of the sum over
 * classes. */
static double pixel_weight(const struct model *model, uint32_t batch)
{
    return 1 / ((double)model->form.width * model->form.height) / batch;
}

static bool add_cross_entropy(struct model *model, uint32_t batch)
{
    return model_add_loss(model, model->scores, model_add_labels(model), NULL,
                          GLCNN_LOSS_TYPE_SOFT_MAX_CROSS_ENTROPY, pixel_weight(model, batch));
}

/* Labels that the loss multiplies by: no gradient goes to them. */
static glcnn_image_node *add_fixed_labels(struct model *model)
{
    glcnn_image_node *labels = model_add_labels(model);
    glcnn_image_node_set_stop_gradient(labels, true);
    return labels;
}

/* (1 - p)^2 (-ln p) of the class of each pixel, p its probability (Lin et al. 2017). */
static bool add_focal(struct model *model, uint32_t batch)
{
    glcnn_image_node *labels = add_fixed_labels(model);
    glcnn_image_node *missed = glcnn_neuron_linear_node(glcnn_soft_max_node(model->scores), -1, 1);
    glcnn_image_node *loss = glcnn_multiply_node(glcnn_multiply_node(missed, missed),
                                                 glcnn_log_soft_max_node(model->scores));
    glcnn_image_node *wanted = glcnn_neuron_linear_node(labels, 0, 0);
    glcnn_image_node_set_stop_gradient(wanted, true);
    return model_add_loss(model, glcnn_multiply_node(loss, labels), wanted, NULL,
                          GLCNN_LOSS_TYPE_MEAN_ABSOLUTE_ERROR, pixel_weight(model, batch));
}

static glcnn_image_node *sum_pixels(glcnn_image_node *image)
{
    return glcnn_reduce_column_sum_node(glcnn_reduce_row_sum_node(image));
}

/* The sum over the classes that a picture has of 1 - (2 sum p t + 1) / (sum p + sum t + 1), sums over its pixels
 * (Milletari et al. 2016), divided by the number of all classes. Pixels without a class count in none of them. A
 * class that the picture has not has no term, as in segmentation_models_pytorch: 1 / (sum p + 1) is near 0 until hardly
 * a pixel's probability is left, and there it is much steeper than the terms of the classes that are to be found. */
static bool add_dice(struct model *model, uint32_t batch)
{
    glcnn_image_node *labels = add_fixed_labels(model);
    glcnn_image_node *p = glcnn_multiply_node(glcnn_soft_max_node(model->scores),
                                              glcnn_reduce_feature_channels_sum_node(labels));
    glcnn_kernel *multiply = glcnn_filter_node_kernel(glcnn_image_node_filter(p));
    if (multiply)
        glcnn_kernel_properties(multiply)->secondary.stride_in_feature_channels = 0;
    glcnn_image_node *both = sum_pixels(glcnn_multiply_node(p, labels));
    glcnn_image_node *any = sum_pixels(glcnn_add_node(p, labels));
    glcnn_image_node *dice = glcnn_divide_node(glcnn_neuron_linear_node(both, 2, 1),
                                               glcnn_neuron_linear_node(any, 1, 1));
    glcnn_image_node *pixels = sum_pixels(labels);
    glcnn_image_node *wanted = glcnn_neuron_linear_node(pixels, 0, 1),
                     *is_there = glcnn_neuron_relun_node(pixels, 0, 1);
    glcnn_image_node_set_stop_gradient(wanted, true);
    glcnn_image_node_set_stop_gradient(is_there, true);
    return model_add_loss(model, dice, wanted, is_there, GLCNN_LOSS_TYPE_MEAN_ABSOLUTE_ERROR,
                          1.0 / batch / model->form.classes);
}

static const struct task_loss losses[] = {
    {"cross-entropy", "of the soft max of each pixel", add_cross_entropy},
    {"dice", "1 - Dice's coefficient of each class in the picture", add_dice},
    {"focal", "cross-entropy times (1 - p)^2", add_focal},
    {NULL, NULL, NULL}};

/* ---- Batches ---- */

static struct glcnn_image_descriptor labels(const struct form *form, uint32_t index, uint32_t batch)
{
    (void)index;
    return (struct glcnn_image_descriptor){.width = form->width,
                                           .height = form->height,
                                           .feature_channels = form->classes,
                                           .number_of_images = batch,
                                           .channel_format = GLCNN_CHANNEL_FORMAT_UNORM8};
}

/* A loss of pixels is the mean over those of the batch that have a class, as PyTorch's with ignore_index:
 * its weight is that of a batch whose pixels all have one, times all pixels over these. They are counted
 * before pictures are turned. */
static bool weigh_loss(struct runner *runner, double all, double with_class)
{
    if (losses[runner->form.loss].add == add_dice)
        return true;
    if (!runner_sum(runner, &all) || !runner_sum(runner, &with_class))
        return false;
    runner_scale_losses(runner, with_class > 0 ? all / with_class : 1);
    return true;
}

/* 1 for the class of each pixel; where a pixel has none all are 0, and the loss is. */
static bool write_labels(struct runner *runner, const struct glcnn_data_batch *batch)
{
    const uint32_t classes = runner->form.classes;
    const size_t pixels = (size_t)runner->form.width * runner->form.height * runner->batch;
    size_t with_class = 0;
    uint8_t *made = calloc(pixels, classes);
    for (size_t i = 0; made && i < pixels; i++)
        if (batch->masks[i] != GLCNN_DATA_NO_CLASS) {
            made[i * classes + batch->masks[i]] = 255;
            with_class++;
        }
    bool good =
        made && weigh_loss(runner, (double)pixels, (double)with_class) &&
        glcnn_image_write_bytes(runner->labels[0], NULL, made, pixels * classes) == GLCNN_SUCCESS;
    free(made);
    runner->given_labels[0] = good ? input_turn(&runner->input, runner->labels[0]) : NULL;
    return runner->given_labels[0];
}

/* One picture, of labels [height][width][classes] as the device turned them; a pixel without a class is 0 in
 * all. */
static void tint_labels(const struct form *form, const float *labels, uint8_t *pixels)
{
    const size_t count = (size_t)form->width * form->height;
    for (size_t i = 0; i < count; i++, labels += form->classes) {
        const uint32_t best = network_best(labels, form->classes);
        if (best > 0 && labels[best] > 0.5f)
            canvas_tint(pixels + 3 * i, best - 1);
    }
}

static bool draw_labels(struct runner *runner, const struct glcnn_data_batch *batch, uint32_t count,
                        const char *const *names, uint8_t *const pixels[])
{
    const struct form *form = &runner->form;
    const size_t each = (size_t)form->width * form->height * form->classes;
    struct glcnn_image_descriptor d = labels(form, 0, runner->batch);
    d.channel_format = GLCNN_CHANNEL_FORMAT_FLOAT32;
    float *made = calloc(each * runner->batch, sizeof *made);
    glcnn_image *image = NULL, *turned = NULL;
    (void)names;
    for (size_t i = 0; made && i < each * runner->batch / form->classes; i++)
        if (batch->masks[i] != GLCNN_DATA_NO_CLASS)
            made[i * form->classes + batch->masks[i]] = 1;
    bool good = made && glcnn_image_create(runner->device, &d, &image) == GLCNN_SUCCESS &&
                glcnn_image_write_bytes(image, NULL, made, each * runner->batch * sizeof *made) ==
                    GLCNN_SUCCESS;
    turned = good ? input_turn(&runner->input, image) : NULL;
    good = turned && glcnn_image_read_bytes(turned, NULL, made,
                                            each * runner->batch * sizeof *made) == GLCNN_SUCCESS;
    for (uint32_t n = 0; n < count && good; n++)
        tint_labels(form, made + n * each, pixels[n]);
    glcnn_image_destroy(&image);
    free(made);
    return good;
}

static size_t values(const struct form *form)
{
    return (size_t)form->width * form->height * form->classes;
}

/* ---- Scores ---- */

/* The sums are the confusion matrix of the pictures' own pixels; of each class the pixels that the network does not see;
 * and pixels with a class as the network sees them, which the loss is the mean over. */
static size_t sums(const struct form *form)
{
    return (size_t)form->classes * form->classes + form->classes + 1;
}

static double *unseen_of(const struct score *score)
{
    return score->sums + (size_t)score->form.classes * score->form.classes;
}

static double *loss_pixels_of(const struct score *score)
{
    return unseen_of(score) + score->form.classes;
}

/* The struct keeps what is at hand of the picture under way. */
struct comparison {
    uint8_t *truth, *found; /* the class of each of its pixels */
    size_t room;            /* for so many */
    double right, all;      /* pixels that have a class */
    double cells[];         /* what it adds to the matrix and to the pixels that are not seen */
};

static void release(struct score *score)
{
    struct comparison *c = score->kept;
    free(c->truth);
    free(c->found);
    free(c);
    score->kept = NULL;
}

static bool make_room(struct score *score, size_t pixels)
{
    struct comparison *c = score->kept;
    const size_t classes = score->form.classes;
    if (!c)
        c = score->kept = calloc(1, sizeof *c + (classes + 1) * classes * sizeof *c->cells);
    if (!c || c->room >= pixels)
        return c;
    free(c->truth);
    free(c->found);
    c->truth = malloc(pixels);
    c->found = malloc(pixels);
    c->room = c->truth && c->found ? pixels : 0;
    return c->room > 0;
}

/* The image is the picture, pixel by pixel. */
static bool is_picture(const struct form *form, const uint32_t size[2])
{
    const struct glcnn_data_window w = window_find(form, size);
    return size[0] == form->width && size[1] == form->height && w.left == 0 && w.top == 0 &&
           w.width == size[0] && w.height == size[1];
}

/* The picture's truth and what is found, at its own size. */
static bool find_masks(struct score *score, const float *values,
                       const struct glcnn_data_batch *batch, uint32_t n, size_t *pixels)
{
    const struct form *form = &score->form;
    const uint32_t size[2] = {score->set ? batch->widths[n] : form->width,
                              score->set ? batch->heights[n] : form->height};
    const bool has_mask = !score->set || is_picture(form, size);
    *pixels = (size_t)size[0] * size[1];
    snprintf(score->failure, sizeof score->failure, "not enough memory");
    if (!make_room(score, *pixels))
        return false;
    struct comparison *c = score->kept;
    if (has_mask)
        memcpy(c->truth, batch->masks + n * *pixels, *pixels);
    else if (glcnn_dataset_read_mask(score->set, score->part, batch->indices[n], size[0], size[1],
                                     c->truth, score->failure) != GLCNN_SUCCESS)
        return false;
    score->failure[0] = 0;
    if (has_mask)
        for (size_t i = 0; i < *pixels; i++)
            c->found[i] = (uint8_t)network_best(values + i * form->classes, form->classes);
    else
        segment_mask(form, values, size, c->found);
    return true;
}

static void compare_masks(struct score *score, size_t pixels)
{
    const size_t classes = score->form.classes, cells = classes * classes + classes;
    struct comparison *c = score->kept;
    c->right = c->all = 0;
    memset(c->cells, 0, cells * sizeof *c->cells);
    for (size_t i = 0; i < pixels; i++) {
        if (c->truth[i] == GLCNN_DATA_NO_CLASS)
            continue;
        const bool is_seen = c->found[i] != GLCNN_DATA_NO_CLASS;
        c->cells[is_seen ? c->truth[i] * classes + c->found[i] : classes * classes + c->truth[i]]++;
        c->right += c->found[i] == c->truth[i];
        c->all++;
    }
    for (size_t i = 0; i < cells; i++)
        if (c->cells[i] > 0)
            score_count(score, &score->sums[i], c->cells[i]);
}

static void add_loss(struct score *score, const float *found, const uint8_t *mask)
{
    const struct form *form = &score->form;
    const size_t pixels = (size_t)form->width * form->height;
    double loss = 0, with_class = 0;
    for (size_t i = 0; i < pixels; i++, found += form->classes)
        if (mask[i] != GLCNN_DATA_NO_CLASS) {
            loss += score_cross_entropy(found[mask[i]]);
            with_class++;
        }
    score_count(score, loss_pixels_of(score), with_class);
    score->loss += loss / (double)pixels;
}

static void add(struct score *score, const float *found, const struct glcnn_data_batch *batch,
                uint32_t n)
{
    size_t pixels;
    add_loss(score, found, batch->masks + (size_t)n * score->form.width * score->form.height);
    if (find_masks(score, found, batch, n, &pixels))
        compare_masks(score, pixels);
}

/* The loss is the mean over pixels that have a class, of all pictures: PyTorch's, with ignore_index. */
static double pictures(const struct score *score)
{
    return *loss_pixels_of(score) / ((double)score->form.width * score->form.height);
}

/* Counts pixels; those that the network does not see are missed. */
static struct confusion_tally tally_of(const struct score *score, uint32_t class)
{
    const struct confusion c = {score->form.classes, score->sums};
    struct confusion_tally tally = confusion_tally(&c, class);
    tally.are += unseen_of(score)[class];
    return tally;
}

/* Intersection over union; NaN: the class is nowhere. */
static double iou_of(const struct score *score, uint32_t class)
{
    const struct confusion_tally t = tally_of(score, class);
    return t.right / (t.are + t.taken - t.right);
}

/* The mean over classes that are somewhere. */
static double measured(const struct score *score)
{
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t k = 0; k < score->form.classes; k++) {
        const double iou = iou_of(score, k);
        sum += isnan(iou) ? 0 : iou;
        count += isnan(iou) ? 0 : 1;
    }
    return count > 0 ? sum / count : NAN;
}

/* Of all pixels taken for the class that has the most. */
static double chance(const struct score *score)
{
    double most = 0, all = 0;
    uint32_t classes = 0;
    for (uint32_t k = 0; k < score->form.classes; k++) {
        const double are = tally_of(score, k).are;
        most = fmax(most, are);
        all += are;
        classes += are > 0;
    }
    return all > 0 ? most / all / classes : 0;
}

static bool measure_classes(const struct score *score, double *measures, double *counts)
{
    for (uint32_t k = 0; k < score->form.classes; k++) {
        counts[k] = tally_of(score, k).are;
        measures[k] = counts[k] > 0 ? iou_of(score, k) : NAN;
    }
    return true;
}

static const struct task_parts parts = {.name = "class",
                                        .measure = "IoU",
                                        .counted = "pixels",
                                        .count = task_count_classes,
                                        .measured = measure_classes};

static double pixel_accuracy(const struct score *score)
{
    double right = 0, all = 0;
    for (uint32_t k = 0; k < score->form.classes; k++) {
        const struct confusion_tally t = tally_of(score, k);
        right += t.right;
        all += t.are;
    }
    return right / all;
}

/* "none" of no pixels. */
static const char *write_share(double share, char text[16])
{
    if (isnan(share))
        return "none";
    snprintf(text, 16, "%.4f", share);
    return text;
}

static void print(const struct score *score, const char *const *names, struct text *text)
{
    char accuracy[TASK_MEASURED];
    text_show(text, "\npixel accuracy %s\n\n%-24s %8s  %8s\n",
              task_write(score->task, pixel_accuracy(score), accuracy), "class", "IoU", "accuracy");
    for (uint32_t k = 0; k < score->form.classes; k++) {
        const struct confusion_tally t = tally_of(score, k);
        char iou[16], accuracy_of[16];
        text_show(text, "%-24.24s %8s  %8s\n", names[k], write_share(iou_of(score, k), iou),
                  write_share(t.right / t.are, accuracy_of));
    }
}

static void describe(const struct score *score, const char *const *names, cJSON *object)
{
    cJSON *classes = cJSON_AddArrayToObject(object, "classes");
    for (uint32_t k = 0; k < score->form.classes; k++) {
        const struct confusion_tally t = tally_of(score, k);
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddStringToObject(entry, "name", names[k]);
        cJSON_AddNumberToObject(entry, "pixels", t.are);
        cJSON_AddNumberToObject(entry, "iou", iou_of(score, k));
        cJSON_AddNumberToObject(entry, "accuracy", t.right / t.are);
        cJSON_AddItemToArray(classes, entry);
    }
    cJSON_AddNumberToObject(object, "count", (double)score->count);
    cJSON_AddNumberToObject(object, "mIoU", score_measure(score));
    cJSON_AddNumberToObject(object, "pixel_accuracy", pixel_accuracy(score));
    cJSON_AddNumberToObject(object, "loss", score_loss(score));
}

/* ---- Reports ---- */

/* The share of pixels that are right, of those that have a class, of the picture that was added last. */
static bool judge(const struct score *score, const float *found,
                  const struct glcnn_data_batch *batch, uint32_t n, double numbers[MISTAKE_NUMBERS])
{
    const struct comparison *c = score->kept;
    (void)found, (void)batch, (void)n;
    if (!c)
        return false;
    numbers[0] = c->all > 0 ? c->right / c->all : 1;
    return c->right < c->all;
}

static void remark(const double numbers[MISTAKE_NUMBERS], const char *const *names,
                   struct remark *r)
{
    (void)names;
    snprintf(r->said, sizeof r->said, "%.1f %% of its pixels are right", 100 * numbers[0]);
}

/* ---- Answers ---- */

static void mask(const struct answer *a, uint8_t *classes)
{
    segment_mask(a->form, a->values, (const uint32_t[2]){a->width, a->height}, classes);
}

/* The first class is most often what is around all others: it stays as it is. */
static void show(const struct answer *a, uint8_t *pixels)
{
    const size_t count = (size_t)a->width * a->height;
    uint8_t *classes = malloc(count);
    if (classes)
        mask(a, classes);
    for (size_t i = 0; i < count && classes; i++)
        if (classes[i] > 0 && classes[i] != GLCNN_DATA_NO_CLASS)
            canvas_tint(pixels + 3 * i, classes[i] - 1u);
    free(classes);
}

/* What the network sees of the picture, in pixels of its image. */
struct seen_pixels {
    uint32_t left, top, right, bottom;
};

static uint32_t first_inside(double edge, uint32_t most)
{
    const double first = ceil(edge - 0.5);
    return first <= 0 ? 0 : first < most ? (uint32_t)first : most;
}

static struct seen_pixels find_seen(const struct answer *a)
{
    const struct glcnn_data_window w =
        window_find(a->form, (const uint32_t[2]){a->width, a->height});
    double low[2], high[2];
    window_to_image(a->form, &w, (const double[2]){0, 0}, low);
    window_to_image(a->form, &w, (const double[2]){a->width, a->height}, high);
    return (struct seen_pixels){
        first_inside(low[0], a->form->width), first_inside(low[1], a->form->height),
        first_inside(high[0], a->form->width), first_inside(high[1], a->form->height)};
}

/* The share of the seen pixels of each class that is found. */
static void tell(const struct answer *a)
{
    const uint32_t count = a->form->classes;
    const struct seen_pixels seen = find_seen(a);
    double of[GLCNN_DATA_NO_CLASS + 1] = {0}, pixels = 0;
    for (uint32_t y = seen.top; y < seen.bottom; y++)
        for (uint32_t x = seen.left; x < seen.right; x++, pixels++)
            of[network_best(a->values + ((size_t)y * a->form->width + x) * count, count)]++;
    cJSON *shares = a->object ? cJSON_AddObjectToObject(a->object, "shares") : NULL;
    for (uint32_t k = 0; k < count; k++) {
        const double share = pixels > 0 ? of[k] / pixels : 0;
        if (shares)
            cJSON_AddNumberToObject(shares, a->names[k], share);
        else if (share > 0)
            text_show(a->text, "%s %u %s %.4f\n", a->picture, k, a->names[k], share);
    }
}

static void draw_truth(const struct truth *t, const struct canvas *canvas)
{
    const size_t count = (size_t)canvas->width * canvas->height;
    uint8_t *classes = malloc(count);
    const bool good =
        classes && glcnn_dataset_read_mask(t->set, t->part, t->index, canvas->width, canvas->height,
                                           classes, NULL) == GLCNN_SUCCESS;
    for (size_t i = 0; i < count && good; i++)
        if (classes[i] > 0 && classes[i] != GLCNN_DATA_NO_CLASS)
            canvas_tint(canvas->pixels + 3 * i, classes[i] - 1u);
    free(classes);
}

const struct task task_segment = {
    .name = "segment",
    .text = "a class for each pixel",
    .words =
        "  segment    a class for each pixel, of masks beside pictures (folders images and masks): cross-entropy, "
        "dice or focal\n",
    .changes = {true, 0.125, 15, 0.25, 0, true},
    .measure = "mIoU",
    .nothing = "no classes",
    .classes = "classes",
    .output = "scores",
    .gives = "a score for each class at each pixel; their soft max is the probabilities",
    .targets = GLCNN_DATA_TARGETS_MASKS,
    .labels_turn = true,
    .fit = GLCNN_DATA_FIT_LETTERBOX,
    .build = build,
    .head = "segmentation_",
    .finish = model_take_soft_max,
    .answer = model_soft_max,
    .losses = losses,
    .labels = labels,
    .write_labels = write_labels,
    .values = values,
    .sums = sums,
    .add = add,
    .pictures = pictures,
    .measured = measured,
    .chance = chance,
    .release = release,
    .print = print,
    .describe = describe,
    .parts = &parts,
    .explains = "how well the areas that are found cover the true "
                "ones: common pixels to those of either, the mean "
                "over classes",
    .counted = "pixels",
    .judge = judge,
    .remark = remark,
    .tell = tell,
    .show = show,
    .mask = mask,
    .draw_labels = draw_labels,
    .draw_truth = draw_truth};
