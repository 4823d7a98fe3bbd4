/* Fuzz target of libFuzzer: a letter, and any bytes that become one file of pictures with numbers or
 * masks: a for labels of .npy, z for an .npz, v for a CSV of images, l for a CSV that names pictures, m
 * for a mask, c for the names of its classes, q and k for their colours and values, r for a mask of colours; of
 * outlines y for the labels of YOLO, j for the file of COCO, s for labelme's, b and t for a mask and the tasks of
 * Label Studio's brush; of keypoints p for the labels of YOLO, i for the file of COCO. "make fuzz" runs it.
 *
 * What fails has a message. What succeeds has finite numbers, as many of each picture, and classes of
 * pixels that there are.
 */
#include <glcnn/data.h>
#include <math.h>

#include "tests/fuzz/folder.h"
#include "tests/fuzz/letter.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Data sets that are whole but for one file. */
static const struct kind {
    char letter;
    const char *folder, *file;
    glcnn_data_targets targets;
} kinds[] = {{'a', "arrays", "labels.npy", GLCNN_DATA_TARGETS_NUMBERS},
             {'z', "archive", "data.npz", GLCNN_DATA_TARGETS_NUMBERS},
             {'v', "column", "data.csv", GLCNN_DATA_TARGETS_NUMBERS},
             {'l', "list", "list.csv", GLCNN_DATA_TARGETS_NUMBERS},
             {'m', "masks", "masks/a.png", GLCNN_DATA_TARGETS_MASKS},
             {'c', "named", "classes.txt", GLCNN_DATA_TARGETS_MASKS},
             {'q', "coloured", "labelmap.txt", GLCNN_DATA_TARGETS_MASKS},
             {'r', "map", "a_mask.png", GLCNN_DATA_TARGETS_MASKS},
             {'k', "values", "_classes.csv", GLCNN_DATA_TARGETS_MASKS},
             {'y', "outlines", "labels/a.txt", GLCNN_DATA_TARGETS_MASKS},
             {'j', "polygons", "a.json", GLCNN_DATA_TARGETS_MASKS},
             {'s', "shapes", "a.json", GLCNN_DATA_TARGETS_MASKS},
             {'b', "brush", "task-1-annotation-2-by-1-tag-a-0.png", GLCNN_DATA_TARGETS_MASKS},
             {'t', "tasks", "tasks.json", GLCNN_DATA_TARGETS_MASKS},
             {'p', "pose", "labels/a.txt", GLCNN_DATA_TARGETS_NUMBERS},
             {'i', "points", "a.json", GLCNN_DATA_TARGETS_NUMBERS}};

/* Bytes, [2][2][1]. */
static const char head[] =
    "\x93NUMPY\1\0\x3d\0{'descr': '|u1', 'fortran_order': False, 'shape': (2,"
    "2,1), }\n1234";

static const char pose[] = "names: [a]\nkpt_shape: [2, 3]\n", colours[] = "a:0,0,0::\nb:1,2,3::\n";

static const struct root_file files[] = {
    {"arrays/images.npy", head, sizeof head - 1},
    {"list/images/a.png", picture, sizeof picture},
    {"list/b.png", picture, sizeof picture},
    {"masks/images/a.png", picture, sizeof picture},
    {"masks/images/b.png", picture, sizeof picture},
    {"masks/masks/b.png", picture, sizeof picture},
    {"named/images/b.png", picture, sizeof picture},
    {"named/masks/b.png", picture, sizeof picture},
    {"coloured/images/b.png", picture, sizeof picture},
    {"coloured/masks/b.png", picture, sizeof picture},
    {"map/a.png", picture, sizeof picture},
    {"map/labelmap.txt", colours, sizeof colours - 1},
    {"values/b.png", picture, sizeof picture},
    {"values/b_mask.png", picture, sizeof picture},
    {"outlines/images/a.png", picture, sizeof picture},
    {"polygons/a.png", picture, sizeof picture},
    {"shapes/a.png", picture, sizeof picture},
    {"brush/1.png", picture, sizeof picture},
    {"tasks/a.png", picture, sizeof picture},
    {"tasks/1.png", picture, sizeof picture},
    {"tasks/task-1-annotation-2-by-1-tag-a-0.png", picture, sizeof picture},
    {"pose/images/a.png", picture, sizeof picture},
    {"pose/data.yaml", pose, sizeof pose - 1},
    {"points/a.png", picture, sizeof picture}};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    make_root_with(files, sizeof files / sizeof *files);
    return 0;
}

static void look_at_batch(const struct glcnn_data_info *info, const struct glcnn_data_batch *batch)
{
    const size_t numbers = (size_t)batch->count * info->class_count;
    const size_t pixels = (size_t)batch->count * info->width * info->height;
    for (size_t i = 0; batch->numbers && i < numbers; i++)
        require(isfinite(batch->numbers[i]), "a number", "");
    for (size_t i = 0; batch->masks && i < pixels; i++)
        require(batch->masks[i] < info->class_count || batch->masks[i] == GLCNN_DATA_NO_CLASS,
                "a class of a pixel", "");
}

static void look_at(glcnn_dataset *data, glcnn_data_targets targets)
{
    const struct glcnn_data_info *info = glcnn_dataset_info(data);
    const struct glcnn_data_loader_parameters p = {.batch = 2, .threads = 1};
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_data_loader *loader;
    struct glcnn_data_batch batch;
    require(info->class_count > 0, "neither numbers nor classes", "");
    require(glcnn_data_loader_create(data, &p, &loader, error) == GLCNN_SUCCESS, "no loader",
            error);
    require(glcnn_data_loader_next(loader, &batch, error) == GLCNN_SUCCESS, "no batch", error);
    require(targets == GLCNN_DATA_TARGETS_MASKS ? batch.masks != NULL : batch.numbers != NULL,
            "no targets", "");
    look_at_batch(info, &batch);
    glcnn_data_loader_destroy(&loader);
}

static void check(const struct kind *kind, bool strict)
{
    const struct glcnn_data_parameters p = {.targets = kind->targets, .strict = strict};
    char path[64], error[GLCNN_ERROR_LENGTH] = "";
    glcnn_dataset *data;
    snprintf(path, sizeof path, "%s/%s", root, kind->folder);
    require((unsigned)glcnn_data_guess_targets(path) <= GLCNN_DATA_TARGETS_BOXES, "a guess", "");
    glcnn_status status = glcnn_dataset_open(path, &p, &data, error);
    require((status == GLCNN_SUCCESS) == (data != NULL), "data and a failure", error);
    require(data || strlen(error) > 10, "a failure without a message", error);
    require(status != GLCNN_OUT_OF_MEMORY && status != GLCNN_INVALID_ARGUMENT,
            glcnn_status_text(status), error);
    if (data)
        look_at(data, kind->targets);
    glcnn_dataset_destroy(&data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[128];
    for (size_t i = 0; size > 0 && i < sizeof kinds / sizeof *kinds; i++) {
        if (data[0] != kinds[i].letter)
            continue;
        snprintf(name, sizeof name, "%s/%s", kinds[i].folder, kinds[i].file);
        write_file(name, data + 1, size - 1);
        check(&kinds[i], false);
        check(&kinds[i], true);
        return 0;
    }
    return 0;
}
