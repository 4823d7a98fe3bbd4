/* Defaults of a training. */
#include "recipe.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "task/keypoint_sides.h"

/* ---- How long ---- */

#define PICTURES     80000.0 /* are shown of a set of USUAL_IMAGES */
#define USUAL_IMAGES 600.0
#define EPOCHS_MOST  200
#define PARTS        8 /* of the images, of which a batch is at most one */

uint64_t recipe_batch(uint32_t images, uint64_t batches)
{
    const uint64_t usual = images < 2000   ? RECIPE_BATCH
                           : images < 8000 ? 32
                                           : 64,
                   most = images / PARTS / batches;
    return most < 1 ? 1 : most < usual ? most : usual;
}

uint64_t recipe_epochs(uint32_t images)
{
    const double epochs = round(PICTURES * cbrt(images / USUAL_IMAGES) / fmax(images, 1));
    return (uint64_t)fmin(fmax(epochs, 1), EPOCHS_MOST);
}

/* ---- Augmentation ---- */

#define FEW_PASSES 10

/* "7", "letter_a", "U0041_A" and "seven" */
static bool is_character(const char *name)
{
    static const char *const digits[] = {"zero", "one", "two",   "three", "four",
                                         "five", "six", "seven", "eight", "nine"};
    const size_t length = strlen(name);
    if (length > 0 && isalnum((unsigned char)name[length - 1]) &&
        (length == 1 || side_separates(name[length - 2])))
        return true;
    for (size_t i = 0; i < sizeof digits / sizeof *digits; i++)
        if (strcasecmp(name, digits[i]) == 0)
            return true;
    return false;
}

/* A mirrored picture has the same class unless classes are letters or digits, or sides. */
static bool classes_keep(const struct glcnn_data_info *info)
{
    uint32_t characters = 0;
    for (uint32_t k = 0; k < info->class_count; k++) {
        const char *name = info->class_names[k];
        if (side_of(name) != SIDE_NONE)
            return false;
        characters += is_character(name);
    }
    return 2 * characters <= info->class_count;
}

/* Keypoints that have sides change places, where all of them can. Others may have sides that no name tells. */
static bool keypoints_keep(const struct glcnn_data_info *info)
{
    uint32_t *partners;
    char why[GLCNN_ERROR_LENGTH];
    const bool good =
        keypoint_sides(info->class_names, info->class_count, &partners, why) && partners;
    free(partners);
    return good;
}

static bool labels_keep(const struct recipe_data *d)
{
    return d->task->has_sides ? keypoints_keep(d->info) : classes_keep(d->info);
}

static void add(char words[RECIPE_WORDS], const char *name, double value)
{
    const size_t used = strlen(words);
    snprintf(words + used, RECIPE_WORDS - used, value < 0 ? "%s%s" : "%s%s=%g", used ? "," : "",
             name, value);
}

static void add_share(char words[RECIPE_WORDS], const char *name, double share, uint32_t side)
{
    const double pixels = round(share * side);
    if (pixels > 0)
        add(words, name, pixels);
}

#define FLAG (-1) /* a word without a value */

static void add_places(const struct task_changes *c, uint32_t side, char words[RECIPE_WORDS])
{
    add_share(words, "crop", c->crop, side);
    if (c->rotate > 0)
        add(words, "rotate", c->rotate);
    add(words, "scale", c->scale);
    if (c->reflects)
        add(words, "reflect", FLAG);
}

static void add_colours(uint32_t channels, char words[RECIPE_WORDS])
{
    add(words, "brightness", 0.15);
    add(words, "contrast", 0.3);
    if (channels != 3)
        return;
    add(words, "hue", 8);
    add(words, "saturation", 0.3);
    add(words, "gain", 0.15);
}

void recipe_augment(const struct recipe_data *d, char words[RECIPE_WORDS])
{
    const struct task_changes *c = &d->task->changes;
    const bool may_change = c->flips || c->crop > 0 || c->rotate > 0 || c->scale > 0;
    const uint32_t side = d->width < d->height ? d->width : d->height;
    *words = 0;
    if (!may_change || !d->info->bytes || !d->trains_all)
        return;
    if (c->flips && labels_keep(d))
        add(words, "flip", FLAG);
    if (d->passes < FEW_PASSES)
        return;
    add_places(c, side, words);
    add_colours(d->channels, words);
    add_share(words, "cutout", c->cutout, side);
}

/* ---- The network ---- */

#define SMALL_SIDE 64 /* the longest side of pictures that small is for */

const struct net *recipe_net(const struct form *form, bool is_software, char why[RECIPE_REASON])
{
    const bool is_small = form->width <= SMALL_SIDE && form->height <= SMALL_SIDE;
    const struct net *net = net_find("resnet10");
    *why = 0;
    if (is_software) {
        snprintf(
            why, RECIPE_REASON,
            "resnet10 learns better, and takes hours without a GPU; --net resnet10 selects it");
        net = net_find(is_small ? "small" : "mobilenet-tiny");
    }
    return net_fits(net, form) ? net : net_find("resnet8");
}
