/* The words that people use. */
#include "words.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *word;
    glcnn_data_part part;
} parts[] = {{"train", GLCNN_DATA_PART_TRAINING},
             {"training", GLCNN_DATA_PART_TRAINING},
             {"val", GLCNN_DATA_PART_VALIDATION},
             {"valid", GLCNN_DATA_PART_VALIDATION},
             {"validation", GLCNN_DATA_PART_VALIDATION},
             {"test", GLCNN_DATA_PART_TEST},
             {"t10k", GLCNN_DATA_PART_TEST}};

static bool is(const char *word, size_t length, const char *known)
{
    return strlen(known) == length && strncasecmp(word, known, length) == 0;
}

bool word_is_part(const char *word, size_t length, glcnn_data_part *part)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (is(word, length, parts[i].word)) {
            *part = parts[i].part;
            return true;
        }
    return false;
}

bool word_is_numbered_part(const char *name, size_t length, glcnn_data_part *part)
{
    while (length > 0 && name[length - 1] >= '0' && name[length - 1] <= '9')
        length--;
    return word_is_part(name, length, part);
}

static bool is_one_of(const char *word, size_t length, const char *const *known)
{
    for (; *known; known++)
        if (is(word, length, *known))
            return true;
    return false;
}

bool word_is_images(const char *word, size_t length)
{
    static const char *const known[] = {"images", "image", "x", "data", NULL};
    return is_one_of(word, length, known);
}

bool word_is_labels(const char *word, size_t length)
{
    static const char *const known[] = {"labels",  "label", "y",       "target",
                                        "targets", "class", "classes", NULL};
    return is_one_of(word, length, known);
}

bool word_is_picture_folder(const char *name)
{
    static const char *const known[] = {"images", "image", "imgs", "img", "JPEGImages", NULL};
    return is_one_of(name, strlen(name), known);
}

bool word_is_mask_folder(const char *name)
{
    static const char *const known[] = {"masks", "mask", "SegmentationClass", NULL};
    return is_one_of(name, strlen(name), known);
}

bool word_is_target_folder(const char *name)
{
    static const char *const known[] = {
        "labels",      "label",     "annotations",        "annotation",
        "annots",      "ImageSets", "SegmentationObject", "targets",
        "groundtruth", NULL};
    return word_is_mask_folder(name) || is_one_of(name, strlen(name), known);
}

/* What a name is without its marks: "filename" for "File_Name". */
static void reduce(const char *name, char *word, size_t size)
{
    size_t length = 0;
    for (; *name && length + 1 < size; name++)
        if (!strchr(" _-", *name))
            word[length++] = *name;
    word[length] = 0;
}

bool word_is_row(const char *name)
{
    static const char *const known[] = {
        "id",        "ids",       "index",    "idx",       "imageid", "imgid",     "sampleid",
        "rowid",     "rowname",   "rownames", "rownumber", "uuid",    "file",      "files",
        "filename",  "filenames", "filepath", "path",      "image",   "imagename", "imgname",
        "imagefile", "imagepath", "imgpath",  "...1",      NULL};
    static const char unnamed[] = "unnamed:"; /* and a number */
    char word[32];
    reduce(name, word, sizeof word);
    return is_one_of(word, strlen(word), known) ||
           strncasecmp(word, unnamed, sizeof unnamed - 1) == 0;
}

bool word_is_picture(const char *name)
{
    static const char *const known[] = {"file",      "filename",  "filepath",  "path",    "image",
                                        "imagename", "imagefile", "imagepath", "picture", NULL};
    char word[32];
    reduce(name, word, sizeof word);
    return is_one_of(word, strlen(word), known);
}

bool word_has_ending(const char *name, const char *ending)
{
    size_t length = strlen(name), part = strlen(ending);
    return length > part && strcasecmp(name + length - part, ending) == 0;
}
