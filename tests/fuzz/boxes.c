/* Fuzz target of libFuzzer: a letter, and any bytes that become one file of pictures with boxes: l for
 * the labels of YOLO, y for its data.yaml, p for a list of pictures, o for the obj.data of Darknet, c for classes.txt, x for an annotation of Pascal VOC, s for
 * its list of pictures, j for the file of COCO, e for labelme's, v for a CSV. "make fuzz" runs it.
 *
 * What fails has a message. What succeeds has boxes within their images, of known classes.
 */
#include <glcnn/data.h>

#include "tests/fuzz/folder.h"
#include "tests/fuzz/letter.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Data sets that are whole but for one file. */
static const struct kind {
    char letter;
    const char *folder, *file;
} kinds[] = {{'l', "yolo", "labels/a.txt"},
             {'y', "named", "data.yaml"},
             {'p', "parts", "train.txt"},
             {'o', "darknet", "obj.data"},
             {'c', "lines", "classes.txt"},
             {'x', "voc", "Annotations/a.xml"},
             {'s', "lists", "ImageSets/Main/train.txt"},
             {'j', "coco", "a.json"},
             {'e', "labelme", "a.json"},
             {'v', "table", "boxes.csv"}};

static const char label[] = "1 0.5 0.5 0.5 0.5\n", yaml[] = "train: train.txt\nnames: [a, b]\n",
                  list[] = "images/a.png\n",
                  object[] =
                      "<annotation><object><name>a</name><bndbox><xmin>1</xmin><ymin>1</ymin>"
                      "<xmax>2</xmax><ymax>2</ymax></bndbox></object></annotation>";

static const struct root_file files[] = {{"yolo/images/a.png", picture, sizeof picture},
                                         {"yolo/images/b.png", picture, sizeof picture},
                                         {"yolo/labels/b.txt", label, sizeof label - 1},
                                         {"named/images/a.png", picture, sizeof picture},
                                         {"named/labels/a.txt", label, sizeof label - 1},
                                         {"parts/images/a.png", picture, sizeof picture},
                                         {"parts/labels/a.txt", label, sizeof label - 1},
                                         {"parts/data.yaml", yaml, sizeof yaml - 1},
                                         {"darknet/images/a.png", picture, sizeof picture},
                                         {"darknet/labels/a.txt", label, sizeof label - 1},
                                         {"darknet/train.txt", list, sizeof list - 1},
                                         {"lines/images/a.png", picture, sizeof picture},
                                         {"lines/labels/a.txt", label, sizeof label - 1},
                                         {"voc/JPEGImages/a.png", picture, sizeof picture},
                                         {"voc/JPEGImages/b.png", picture, sizeof picture},
                                         {"voc/Annotations/b.xml", object, sizeof object - 1},
                                         {"lists/JPEGImages/a.png", picture, sizeof picture},
                                         {"lists/Annotations/a.xml", object, sizeof object - 1},
                                         {"coco/a.png", picture, sizeof picture},
                                         {"coco/b/b.png", picture, sizeof picture},
                                         {"labelme/a.png", picture, sizeof picture},
                                         {"table/a.png", picture, sizeof picture},
                                         {"table/b.png", picture, sizeof picture}};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    make_root_with(files, sizeof files / sizeof *files);
    return 0;
}

static void look_at(const glcnn_dataset *data)
{
    const struct glcnn_data_info *info = glcnn_dataset_info(data);
    uint32_t count, all = 0;
    require(info->counts[GLCNN_DATA_PART_TRAINING] > 0 && info->class_count > 0, "no picture", "");
    for (uint32_t i = 0; i < info->counts[GLCNN_DATA_PART_TRAINING]; i++) {
        const struct glcnn_data_box *b =
            glcnn_dataset_boxes(data, GLCNN_DATA_PART_TRAINING, i, &count);
        for (uint32_t k = 0; k < count; k++, b++, all++)
            require(b->left >= 0 && b->left < b->right && b->right <= 1 && b->top >= 0 &&
                        b->top < b->bottom && b->bottom <= 1 && b->label < info->class_count,
                    "a box", "");
    }
    require(all > 0, "no box", "");
    for (uint32_t i = 0; glcnn_dataset_note(data, i); i++)
        require(strlen(glcnn_dataset_note(data, i)) > 10, "a note", "");
}

static void check(const char *folder, const struct glcnn_data_parameters *p)
{
    char path[64], error[GLCNN_ERROR_LENGTH] = "";
    glcnn_dataset *data;
    snprintf(path, sizeof path, "%s/%s", root, folder);
    glcnn_status status = glcnn_dataset_open(path, p, &data, error);
    require((status == GLCNN_SUCCESS) == (data != NULL), "data and a failure", error);
    require(data || strlen(error) > 10, "a failure without a message", error);
    require(status != GLCNN_OUT_OF_MEMORY && status != GLCNN_INVALID_ARGUMENT,
            glcnn_status_text(status), error);
    if (data)
        look_at(data);
    glcnn_dataset_destroy(&data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct glcnn_data_parameters p = {.targets = GLCNN_DATA_TARGETS_BOXES},
                                       strict = {.targets = GLCNN_DATA_TARGETS_BOXES,
                                                 .strict = true};
    char name[128];
    for (size_t i = 0; size > 0 && i < sizeof kinds / sizeof *kinds; i++) {
        if (data[0] != kinds[i].letter)
            continue;
        snprintf(name, sizeof name, "%s/%s", kinds[i].folder, kinds[i].file);
        write_file(name, data + 1, size - 1);
        check(kinds[i].folder, &p);
        check(kinds[i].folder, &strict);
        return 0;
    }
    return 0;
}
