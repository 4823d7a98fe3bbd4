/* Boxes: what annotations of YOLO, Pascal VOC and COCO give, in which part, and what is said of those
 * that are broken. */
#include "tests/data_files.h"

#include <math.h>

#include "tests/unit.h"

static const struct glcnn_data_parameters boxes = {.targets = GLCNN_DATA_TARGETS_BOXES},
                                          strict = {.targets = GLCNN_DATA_TARGETS_BOXES,
                                                    .strict = true};

/* ---- Data ---- */

static uint32_t grey(uint32_t x, uint32_t y, uint32_t c)
{
    return (x * 7 + y * 13 + c) % 256;
}

static void write_sized(const char *name, uint32_t width, uint32_t height)
{
    data_write_png(name, &(struct data_png){.width = width, .height = height, .value = grey});
}

static void write_picture(const char *name)
{
    write_sized(name, 20, 10);
}

/* Pictures SET/FOLDER/NAME.png for each name, one character, of a text. */
static void write_pictures(const char *folder, const char *names)
{
    char name[128];
    for (; *names; names++) {
        snprintf(name, sizeof name, "%s/%c.png", folder, *names);
        write_picture(name);
    }
}

static void write_in(const char *folder, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    data_write_text(path, text);
}

/* An object in an annotation of a picture of 20 x 10: the box's pixels, from 1. */
static const char *voc(const char *objects)
{
    static char text[4096];
    snprintf(text, sizeof text,
             "<annotation><size><width>20</width><height>10</height></size>%s</annotation>",
             objects);
    return text;
}

#define VOC_BOX(name, xmin, ymin, xmax, ymax, more)                                                \
    "<object><name>" name "</name>" more "<bndbox><xmin>" xmin "</xmin><ymin>" ymin                \
    "</ymin><xmax>" xmax "</xmax><ymax>" ymax "</ymax></bndbox></object>\n"

/* ---- What was read ---- */

/* Opens, and compares the training part with what is expected. */
static glcnn_dataset *open_as(const char *name, const struct glcnn_data_parameters *p,
                              const char *format, const char *training)
{
    glcnn_dataset *data = data_open(name, p);
    CU_ASSERT_STRING_EQUAL(glcnn_dataset_info(data)->format, format);
    CU_ASSERT_STRING_EQUAL(data_describe_boxes(data, GLCNN_DATA_PART_TRAINING), training);
    return data;
}

static void check(const char *name, const char *format, const char *training)
{
    glcnn_dataset *data = open_as(name, &boxes, format, training);
    CU_ASSERT_PTR_NULL(glcnn_dataset_note(data, 0));
    glcnn_dataset_destroy(&data);
}

static void check_part(const char *name, glcnn_data_part part, const char *expected)
{
    glcnn_dataset *data = data_open(name, &boxes);
    CU_ASSERT_STRING_EQUAL(data_describe_boxes(data, part), expected);
    glcnn_dataset_destroy(&data);
}

/* ---- Layouts ---- */

static const char line[] = "1 0.5 0.5 0.5 0.5\n", names[] = "names: [cat, dog]\n",
                  dog[] = "a.png: dog 0.25 0.25 0.75 0.75",
                  other[] = "b.png: dog 0.25 0.25 0.75 0.75";

static void yolo_is_found_in_every_order_of_folders(void)
{
    static const char *const orders[][4] = {
        {"y1/images/train", "y1/labels/train", "y1/images/val", "y1/labels/val"},
        {"y2/train/images", "y2/train/labels", "y2/valid/images", "y2/valid/labels"},
        {"y3/images/train2017", "y3/labels/train2017", "y3/images/val2017", "y3/labels/val2017"},
        {"y4/train", "y4/train", "y4/val", "y4/val"}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        const char *const *o = orders[i];
        char root[3] = {o[0][0], o[0][1], 0};
        write_pictures(o[0], "a");
        write_in(o[1], "a.txt", line);
        write_pictures(o[2], "b");
        write_in(o[3], "b.txt", line);
        write_in(root, "data.yaml", names);
        check(root, "yolo", dog);
        check_part(root, GLCNN_DATA_PART_VALIDATION, other);
    }
    check("y2/data.yaml", "yolo", dog);
}

static void yolo_without_parts(void)
{
    write_pictures("whole/images", "ab");
    write_in("whole/labels", "a.txt", line);
    write_in("whole/labels", "b.txt", "");
    write_in("whole/labels", "classes.txt", "cat\r\ndog\r\n\r\n");
    check("whole", "yolo", "a.png: dog 0.25 0.25 0.75 0.75; b.png");
    write_pictures("beside", "a");
    write_in("beside", "a.txt", line);
    write_in("beside", "obj.names", "cat\ndog");
    glcnn_dataset *data = open_as("beside", &boxes, "yolo", dog);
    glcnn_dataset_destroy(&data);
}

static void voc_is_found(void)
{
    const char *one = VOC_BOX("dog", "6", "3", "15", "7", "");
    write_pictures("v1/JPEGImages", "abcd");
    for (const char *name = "abcd"; *name; name++)
        write_in("v1/Annotations", (char[]){*name, '.', 'x', 'm', 'l', 0}, voc(one));
    check("v1", "voc",
          "a.png: dog 0.25 0.2 0.75 0.7; b.png: dog 0.25 0.2 0.75 0.7; c.png: dog 0.25 0.2 0.75 "
          "0.7; d.png: dog 0.25 0.2 0.75 0.7");
    write_in("v1/ImageSets/Main", "trainval.txt", "d\nb -1\nb\n");
    write_in("v1/ImageSets/Main", "val.txt", "a\n");
    write_in("v1/ImageSets/Main", "test.txt", "c");
    check("v1", "voc", "b.png: dog 0.25 0.2 0.75 0.7; d.png: dog 0.25 0.2 0.75 0.7");
    check_part("v1", GLCNN_DATA_PART_VALIDATION, "");
    check_part("v1", GLCNN_DATA_PART_TEST, "c.png: dog 0.25 0.2 0.75 0.7");
    write_in("v1/ImageSets/Main", "train.txt", "d\r\n");
    check("v1", "voc", "d.png: dog 0.25 0.2 0.75 0.7");
    check_part("v1", GLCNN_DATA_PART_VALIDATION, "a.png: dog 0.25 0.2 0.75 0.7");
    write_pictures("v2/train", "a");
    write_in("v2/train", "a.xml", voc(one));
    write_pictures("v2/test/images", "b");
    write_in("v2/test/annotations", "b.xml", voc(one));
    check("v2", "voc", "a.png: dog 0.25 0.2 0.75 0.7");
    check_part("v2", GLCNN_DATA_PART_TEST, "b.png: dog 0.25 0.2 0.75 0.7");
}

/* One image of 20 x 10 and its annotation. */
static const char *coco(const char *image, const char *annotation)
{
    static char text[4096];
    snprintf(text, sizeof text,
             "{\"info\": {}, \"images\": [{\"id\": 7, \"file_name\": \"%s\", \"width\": 20, "
             "\"height\": 10}],\n\"annotations\": [{\"id\": 1, \"image_id\": 7, %s}],\n"
             "\"categories\": [{\"id\": 18, \"name\": \"dog\"}, {\"id\": 17, \"name\": \"cat\"}]}",
             image, annotation);
    return text;
}

static const char bbox[] = "\"category_id\": 18, \"bbox\": [5, 2.5, 10, 5], \"iscrowd\": 0";

static void coco_is_found(void)
{
    static const char *const places[][3] = {
        {"c1/annotations", "instances_train2017.json", "c1/train2017"},
        {"c2/annotations", "instances_train.json", "c2/images/train"},
        {"c3", "train.json", "c3/images"},
        {"c4/train", "_annotations.coco.json", "c4/train"},
        {"c5", "labels.json", "c5"}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char root[3] = {places[i][0][0], places[i][0][1], 0};
        write_pictures(places[i][2], "a");
        write_in(places[i][0], places[i][1], coco("a.png", bbox));
        check(root, "coco", dog);
    }
    write_in("c1/annotations", "captions_train2017.json", "[]");
    write_in("c1/annotations", "instances_val2017.json", coco("b.png", bbox));
    write_pictures("c1/val2017", "b");
    write_pictures("c4/valid", "b");
    write_in("c4/valid", "_annotations.coco.json", coco("b.png", bbox));
    check_part("c1", GLCNN_DATA_PART_VALIDATION, other);
    check_part("c4", GLCNN_DATA_PART_VALIDATION, other);
    check("c1", "coco", dog);
    check("c1/annotations/instances_train2017.json", "coco", dog);
    check("c5/labels.json", "coco", dog);
}

static void what_is_not_found_is_said(void)
{
    write_pictures("none", "a");
    data_refuses("none", &boxes, GLCNN_MALFORMED_DATA, "expected images and labels (YOLO), Annot");
    data_refuses("none/a.png", &boxes, GLCNN_MALFORMED_DATA, "is not a folder; expected one with");
    data_refuses("missing", &boxes, GLCNN_MALFORMED_DATA, "is not a folder");
    write_pictures("twice/train/images", "a");
    write_pictures("twice/training/images", "a");
    data_refuses("twice", &boxes, GLCNN_MALFORMED_DATA, "has train and training, and it is not");
    write_in("two", "a.json", coco("a.png", bbox));
    write_in("two", "b.json", coco("a.png", bbox));
    data_refuses("two", &boxes, GLCNN_MALFORMED_DATA, "has a.json and b.json, and it is not clear");
    write_pictures("yamls/images", "a");
    write_in("yamls/labels", "a.txt", line);
    write_in("yamls", "one.yaml", names);
    write_in("yamls", "two.yaml", names);
    data_refuses("yamls", &boxes, GLCNN_MALFORMED_DATA, "has one.yaml and two.yaml");
}

/* ---- Names ---- */

static void write_named(const char *yaml)
{
    write_pictures("named/images", "a");
    write_in("named/labels", "a.txt", line);
    write_in("named", "data.yaml", yaml);
}

static void data_yaml_names_the_classes(void)
{
    static const char *const same[] = {
        "nc: 2\nnames: ['cat', \"dog\"]\n",
        "# all\r\npath: ../x\r\nnames:\r\n  0: cat # first\r\n  1: dog\r\ntrain: images\r\n",
        "names:\n- cat\n- 'dog'\nnc: 2",
        "names:\n\n  # two\n  - cat\n  - dog",
        "names: {0: cat, 1: dog}",
        "names: {1: \"dog\",\n  0: 'cat',\n}\nval: x",
        "names:\n  [cat, # one\n   dog]",
        "\xef\xbb\xbfnames:\n  1: dog\n  0: cat\n",
        "---\ndownload: |\n  names: no\nnames: [ cat , dog ]\n",
        "all: &list [cat, \"d\\x6fg\"]\nnames: *list\n",
        "names:\n  0: &x cat\n  1: >-\n    dog\n"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        write_named(same[i]);
        check("named", "yolo", dog);
    }
    write_named("names: ['it''s: a \"cat\"', \"a \\\"b\\\" \\\\ c\", d#e, f:g]");
    glcnn_dataset *data = data_open("named", &boxes);
    CU_ASSERT_STRING_EQUAL(data_describe_classes(data), "it's: a \"cat\" a \"b\" \\ c d#e f:g");
    glcnn_dataset_destroy(&data);
}

static void data_yaml_that_is_not_understood(void)
{
    static const char *const rows[][2] = {
        {"train: images\n", "has no names; expected \"names:\""},
        {"names:\nnc: 2\n", "line 1, of names: \"\"; expected a list of the classes"},
        {"names: []\n", "lists no class"},
        {"names: *list\n", "line 1: found undefined alias"},
        {"names: cat\n", "of names: \"cat\"; expected a list of the classes"},
        {"\nnames: [cat, dog\nnc: 2\n", "line 3: did not find expected ',' or ']'"},
        {"names: [cat dog", "did not find expected ',' or ']'"},
        {"names: [[cat], dog]", "line 1, of names: a list; expected a name"},
        {"names: [\"\\q\", dog]", "found unknown escape character"},
        {"names: ['cat, dog]", "found unexpected end of stream"},
        {"names:\n  a: cat\n", "line 2, of names: \"a\"; expected the number of a class"},
        {"names: [\xe9]\n", "line 1: invalid trailing UTF-8 octet; expected YAML"},
        {"- cat\n", "is no map; expected \"names:\""},
        {"names: [cat]\ntrain: {a: b}\n", "line 2, of a part: a map; expected a folder"},
        {"names:\n  - name: cat\n", "line 2, of names: a map; expected a name"},
        {"names:\n  - - cat\n", "line 2, of names: a list; expected a name"},
        {"names:\n  - cat\n  1: dog\n", "did not find expected '-' indicator"},
        {"names:\n  0: cat\n  0: dog\n", "line 3: class 0 is named twice; the first is \"cat\""},
        {"names:\n  0: cat\n  2: dog\n", "has class 2 and none of number 1"},
        {"names:\n  65536: cat\n", "expected at most 65536 classes"},
        {"names: [cat, cat]", "classes 0 and 1 are both \"cat\""},
        {"names: {0: cat, 1 dog}", "expected the number of a class and a colon"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_named(rows[i][0]);
        data_refuses("named", &boxes, GLCNN_MALFORMED_DATA, rows[i][1]);
    }
    data_write("named/data.yaml", "names: [a\0b]", 13);
    data_refuses("named", &boxes, GLCNN_MALFORMED_DATA, "is not text: it has a zero byte");
}

static void lists_of_lines(void)
{
    write_pictures("lines/images", "a");
    write_in("lines/labels", "a.txt", line);
    write_in("lines", "classes.txt", "cat\n\ndog\n");
    data_refuses("lines", &boxes, GLCNN_MALFORMED_DATA, "line 2 is empty; expected a name");
    write_in("lines", "classes.txt", "dog\ndog\n");
    data_refuses("lines", &boxes, GLCNN_MALFORMED_DATA, "classes 0 and 1 are both \"dog\"");
    write_in("lines", "classes.txt", "zebra\nant\n");
    check("lines", "yolo", "a.png: ant 0.25 0.25 0.75 0.75");
}

static void classes_without_names_are_counted(void)
{
    write_pictures("counted/images", "a");
    write_in("counted/labels", "a.txt", "10 0.5 0.5 0.5 0.5\n2 0.5 0.5 1 1\n");
    glcnn_dataset *data =
        open_as("counted", &boxes, "yolo", "a.png: 10 0.25 0.25 0.75 0.75, 2 0 0 1 1");
    CU_ASSERT_STRING_EQUAL(data_describe_classes(data), "0 1 2 3 4 5 6 7 8 9 10");
    CU_ASSERT(data_says(data, glcnn_dataset_decision, "so classes are named 0 to 10"));
    CU_ASSERT(
        data_says(data, glcnn_dataset_decision, "has no box of the class \"0\"; and so 8 more"));
    glcnn_dataset_destroy(&data);
}

/* Names of a checkpoint, in another order than the data has. */
static void given_names_are_the_classes(void)
{
    static const char *const given[] = {"dog", "bird", "cat"}, *const few[] = {"bird", "cat"};
    struct glcnn_data_parameters p = boxes;
    write_named("names: [cat, dog]");
    write_pictures("given", "a");
    write_in("given", "a.json", coco("a.png", bbox));
    write_pictures("voc/JPEGImages", "a");
    write_in("voc/Annotations", "a.xml", voc(VOC_BOX("dog", "6", "3", "15", "7", "")));
    static const char *const sets[] = {"named", "given", "voc"};
    for (size_t i = 0; i < 3; i++) {
        uint32_t count;
        p.class_names = given;
        p.class_count = 3;
        glcnn_dataset *data = data_open(sets[i], &p);
        CU_ASSERT_STRING_EQUAL(data_describe_classes(data), "dog bird cat");
        CU_ASSERT_EQUAL(glcnn_dataset_boxes(data, GLCNN_DATA_PART_TRAINING, 0, &count)->label, 0);
        glcnn_dataset_destroy(&data);
        p.class_names = few;
        p.class_count = 2;
        data_refuses(sets[i], &p, GLCNN_MALFORMED_DATA, "the label \"dog\" is not the name of one");
    }
    write_pictures("numbers/images", "a");
    write_in("numbers/labels", "a.txt", line);
    glcnn_dataset *data = data_open("numbers", &p);
    CU_ASSERT_STRING_EQUAL(data_describe_boxes(data, GLCNN_DATA_PART_TRAINING),
                           "a.png: cat 0.25 0.25 0.75 0.75");
    glcnn_dataset_destroy(&data);
}

/* Also one class is enough, and those of VOC are in the order of their bytes. */
static void classes_follow_from_the_data(void)
{
    write_pictures("bytes/JPEGImages", "ab");
    write_in("bytes/Annotations", "a.xml", voc(VOC_BOX("dog", "6", "3", "15", "7", "")));
    glcnn_dataset *data = data_open("bytes", &boxes);
    CU_ASSERT_STRING_EQUAL(data_describe_classes(data), "dog");
    glcnn_dataset_destroy(&data);
    write_in("bytes/Annotations", "b.xml", voc(VOC_BOX("cat", "6", "3", "15", "7", "")));
    data = data_open("bytes", &boxes);
    CU_ASSERT_STRING_EQUAL(data_describe_classes(data), "cat dog");
    glcnn_dataset_destroy(&data);
    write_in("c6", "a.json", coco("a.png", bbox));
    write_pictures("c6", "a");
    data = data_open("c6", &boxes);
    CU_ASSERT_STRING_EQUAL(data_describe_classes(data), "cat dog");
    CU_ASSERT(data_says(data, glcnn_dataset_decision, "has no box of the class \"cat\""));
    glcnn_dataset_destroy(&data);
}

/* ---- What is broken ---- */

/* The picture b.png is whole; a.png is left out with a note, or an error with `strict`. */
static void check_left_out(const char *name, const char *whole, const char *phrase)
{
    glcnn_dataset *data = data_open(name, &boxes);
    CU_ASSERT_STRING_EQUAL(data_describe_boxes(data, GLCNN_DATA_PART_TRAINING), whole);
    CU_ASSERT_EQUAL(glcnn_dataset_skipped(data), 1);
    CU_ASSERT(data_says(data, glcnn_dataset_note, phrase));
    glcnn_dataset_destroy(&data);
    data_refuses(name, &strict, GLCNN_MALFORMED_DATA, phrase);
}

static void broken_lines(void)
{
    static const char *const rows[][2] = {
        {"0 .5 .5 .5\n", "a.txt: line 1: has 4 fields; expected 5: class, x and y"},
        {"\n0 .5 .5 .5 .5 .9\n", "a.txt: line 2: has 6 fields"},
        {"2 .5 .5 .5 .5\n", "line 1: the class is 2; expected a whole number, 0 to 1"},
        {"0.5 .5 .5 .5 .5\n", "the class is 0.5; expected a whole number"},
        {"-1 .5 .5 .5 .5\n", "the class is -1; expected"},
        {"cat .5 .5 .5 .5\n", "the class is cat; expected"},
        {"0 nan .5 .5 .5\n", "line 1: x is nan; expected a share of the picture, 0 to 1"},
        {"0 .5 inf .5 .5\n", "y is inf; expected"},
        {"0 .5 .5 320 .5\n", "width is 320; expected a share"},
        {"0 .5 .5 .5 -.1\n", "height is -.1; expected a share"},
        {"0 .5 .5 .5 .5,\n", "height is .5,; expected a share"},
        {"0 .5 .5 .5 1e999\n", "height is 1e999; expected a share"}};
    write_pictures("broken/images", "ab");
    write_in("broken/labels", "b.txt", line);
    write_in("broken", "data.yaml", names);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_in("broken/labels", "a.txt", rows[i][0]);
        check_left_out("broken", other, rows[i][1]);
    }
    data_write("broken/labels/a.txt", "0 .5 \0", 6);
    check_left_out("broken", other, "is not text: it has a zero byte");
}

/* In the middle of these comes one object; the whole annotation is of b.xml. */
static void broken_xml(void)
{
    static const char object[] = VOC_BOX("dog", "6", "3", "15", "7", "");
    static const char *const rows[][2] = {
        {"", "line 1: no element found; expected XML with an <annotation>"},
        {"<annotation>\n<object>\n</annotation>", "a.xml: line 3: mismatched tag"},
        {"<notes></notes>", "expected <annotation> as the outermost element"},
        {"<annotation><object><name>dog</name></object></annotation>",
         "line 1: the object that ends is not whole; expected name and bndbox"},
        {"<annotation>\n" VOC_BOX("", "6", "3", "15", "7", "") "</annotation>",
         "line 2: name is \"\"; expected the name of a class"},
        {"<annotation>\n" VOC_BOX("dog", "six", "3", "15", "7", "") "</annotation>",
         "line 2: xmin is \"six\"; expected a number"},
        {"<annotation>" VOC_BOX("dog", "nan", "3", "15", "7", "") "</annotation>",
         "xmin is \"nan\"; expected a number"},
        {"<annotation>" VOC_BOX("dog", "6", "3", "15", "1e99", "") "</annotation>",
         "ymax is \"1e99\"; expected a number"},
        {"<annotation><size><width>-1</width></size></annotation>",
         "annotation/size/width is -1; expected the picture's size"},
        {"<annotation><size><width>10</width><height>10</height></size></annotation>",
         "has boxes of a picture of 10x10; expected the same size, after EXIF's"},
        {"<!DOCTYPE a [<!ENTITY x \"y\">]><annotation>&x;</annotation>",
         "line 1: has a document type; expected none"},
        {"<annotation>&x;</annotation>", "undefined entity"}};
    write_pictures("xml/JPEGImages", "ab");
    write_in("xml/Annotations", "b.xml", voc(object));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_in("xml/Annotations", "a.xml", rows[i][0]);
        check_left_out("xml", "b.png: dog 0.25 0.2 0.75 0.7", rows[i][1]);
    }
}

static void hostile_xml(void)
{
    static char deep[1 << 20], bomb[4096], *to = bomb;
    write_pictures("hostile/JPEGImages", "ab");
    write_in("hostile/Annotations", "b.xml", voc(VOC_BOX("dog", "6", "3", "15", "7", "")));
    for (size_t i = 0; i + 3 < sizeof deep; i += 3)
        memcpy(deep + i, "<a>", 3);
    memcpy(deep, "<annotation>", 12);
    write_in("hostile/Annotations", "a.xml", deep);
    check_left_out("hostile", "b.png: dog 0.25 0.2 0.75 0.7", "line 1: no element found");
    to += sprintf(to, "<!DOCTYPE x [<!ENTITY e0 \"lol\">\n");
    for (int i = 1; i < 30; i++)
        to += sprintf(to, "<!ENTITY e%d \"&e%d;&e%d;&e%d;\">\n", i, i - 1, i - 1, i - 1);
    sprintf(to, "]>\n<annotation>&e29;</annotation>");
    write_in("hostile/Annotations", "a.xml", bomb);
    check_left_out("hostile", "b.png: dog 0.25 0.2 0.75 0.7", "has a document type");
    memset(deep, 'x', sizeof deep - 1);
    static const char head[] = "<annotation><object><name>",
                      tail[] = "</name></object></annotation>";
    memcpy(deep, head, sizeof head - 1);
    memcpy(deep + sizeof deep - sizeof tail, tail, sizeof tail);
    write_in("hostile/Annotations", "a.xml", deep);
    check_left_out("hostile", "b.png: dog 0.25 0.2 0.75 0.7", "expected the name of a class, 1 to");
}

static void voc_has_more_than_boxes(void)
{
    write_pictures("more/JPEGImages", "a");
    write_in("more/Annotations", "a.xml",
             "<?xml version='1.0' encoding='ISO-8859-1'?>\n<!-- of <object> -->\n<annotation>"
             "<filename>other.jpg</filename><object><name>z</name><bndbox><xmin> 1 </xmin><ymin>1"
             "</ymin><xmax>20.0</xmax><ymax>10</ymax></bndbox><difficult>\n1\n</difficult><part>"
             "<name>head</name><bndbox><xmin>2</xmin><ymin>2</ymin><xmax>3</xmax><ymax>3</ymax>"
             "</bndbox></part></object>" VOC_BOX("a&amp;\xe9", "0", "0", "30", "5.5",
                                                 "<difficult>0</difficult>") "</annotation>");
    check("more", "voc", "a.png: z difficult 0 0 1 1, a&\xc3\xa9 0 0 1 0.55");
}

static void write_json(const char *text)
{
    write_pictures("json", "ab");
    write_in("json", "a.json", text);
}

static void broken_json(void)
{
    static const char *const rows[][2] = {
        {"", "line 1: is not JSON from \"\" on"},
        {"{\"images\": [],\n\"annotations\": [}", "a.json: line 2: is not JSON from"},
        {"[]", "has no array \"images\"; expected images, annotations and categories"},
        {"{\"images\": [], \"annotations\": {}}", "has no array \"annotations\""},
        {"{\"images\": [], \"annotations\": []}", "has no array \"categories\""},
        {"{\"images\": [{\"id\": 0.5}], \"annotations\": [], \"categories\": []}",
         "images[0].id is missing or not a whole number"},
        {"{\"images\": [{\"id\": 1}], \"annotations\": [], \"categories\": []}",
         "images[0].file_name is missing or not a text"},
        {"{\"images\": [], \"annotations\": [{\"image_id\": \"\"}], \"categories\": []}",
         "annotations[0].image_id is missing or not a whole number"},
        {"{\"images\": [], \"annotations\": [], \"categories\": [{\"id\": 1}]}",
         "categories[0].name is missing or not a text"},
        {"{\"images\": [{\"id\": 1, \"file_name\": \"a.png\"}], \"annotations\": [{\"image_id\": 1, "
         "\"category_id\": 1}, {\"image_id\": 1, \"category_id\": 2}], \"categories\": [{\"id\": 1, "
         "\"name\": \"a\"}, {\"id\": 2, \"name\": \"a\"}]}",
         "two categories of the same name; \"a\" with id 2 is the second"},
        {"{\"images\": [], \"annotations\": [], \"categories\": [{\"id\": 2, \"name\": \"a\"}, "
         "{\"id\": 2, \"name\": \"b\"}]}",
         "two categories of the same id"}};
    static char deep[65536];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_json(rows[i][0]);
        data_refuses("json", &boxes, GLCNN_MALFORMED_DATA, rows[i][1]);
    }
    memset(deep, '[', sizeof deep - 1);
    write_json(deep);
    data_refuses("json", &boxes, GLCNN_MALFORMED_DATA, "is nested deeper than 1000");
}

/* Two images, of which the first has the annotation; c.png is nowhere. */
static void write_two(const char *first, const char *annotation)
{
    char text[2048];
    snprintf(text, sizeof text,
             "{\"images\": [%s, {\"id\": 2, \"file_name\": \"b.png\"}], \"annotations\": "
             "[{\"image_id\": 1, %s}, {\"image_id\": 2, \"category_id\": 3, \"bbox\": [0, 0, 10, "
             "10], \"segmentation\": {\"counts\": [1, \"]\\\"\"]}, \"iscrowd\": 1}],\n"
             "\"categories\": [{\"id\": 3, \"name\": \"cat\"}]}",
             first, annotation);
    write_json(text);
}

static void broken_images_of_coco(void)
{
    static const char *const rows[][3] = {
        {"\"a.png\"", "\"category_id\": 4, \"bbox\": [0, 0, 1, 1]",
         "a.json: annotations[0].category_id is missing, or is not the id of a category"},
        {"\"a.png\"", "\"category_id\": 3", "annotations[0].bbox is missing or not four finite"},
        {"\"a.png\"", "\"category_id\": 3, \"bbox\": [0, 0, 1]",
         "annotations[0].bbox is missing or"},
        {"\"a.png\"", "\"category_id\": 3, \"bbox\": [0, 0, 1, 1, 1]", "annotations[0].bbox is"},
        {"\"a.png\"", "\"category_id\": 3, \"bbox\": [0, 0, 1e999, 1]", "not four finite numbers"},
        {"\"a.png\"", "\"category_id\": 3, \"bbox\": [0, 0, null, 1]", "not four finite numbers"},
        {"\"c.png\"", "\"category_id\": 3, \"bbox\": [0, 0, 1, 1]", "c.png: cannot be opened"},
        {"\"../json/c.png\"", "\"category_id\": 3, \"bbox\": [0, 0, 1, 1]",
         "images[0].file_name is \"../json/c.png\"; expected a path below"},
        {"\"/etc/passwd\"", "\"category_id\": 3, \"bbox\": [0, 0, 1, 1]", "expected a path below"},
        {"\"a.png\", \"width\": 20, \"height\": 20", "\"category_id\": 3, \"bbox\": [0, 0, 1, 1]",
         "has boxes of a picture of 20x20"}};
    char image[256];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(image, sizeof image, "{\"id\": 1, \"file_name\": %s}", rows[i][0]);
        write_two(image, rows[i][1]);
        check_left_out("json", "b.png: cat crowd 0 0 0.5 1", rows[i][2]);
    }
}

static void images_that_come_twice(void)
{
    static const char last[] = "{\"id\": 9, \"file_name\": \"a.png\"}";
    char images[256];
    snprintf(images, sizeof images, "{\"id\": 1, \"file_name\": \"a.png\"}, %s", last);
    write_two(images, "\"category_id\": 3, \"bbox\": [0, 0, 20, 5]");
    check_left_out("json", "a.png: cat 0 0 1 0.5; b.png: cat crowd 0 0 0.5 1",
                   "images[1] has the id, 9, or the file_name, a.png, of an image before it");
    snprintf(images, sizeof images,
             "{\"id\": 1, \"file_name\": \"a.png\"}, "
             "{\"id\": 1, \"file_name\": \"c.png\"}");
    write_two(images, "\"category_id\": 3, \"bbox\": [0, 0, 20, 5]");
    check_left_out("json", "a.png: cat 0 0 1 0.5; b.png: cat crowd 0 0 0.5 1",
                   "images[1] has the id, 1, or the file_name, c.png");
    write_pictures("same/images", "ab");
    data_write_jpeg("same/images/a.jpg",
                    &(struct data_jpeg){.width = 20, .height = 10, .components = 1, .value = grey});
    write_in("same/labels", "a.txt", line);
    write_in("same/labels", "b.txt", line);
    check_left_out("same", "a.jpg: 1 0.25 0.25 0.75 0.75; b.png: 1 0.25 0.25 0.75 0.75",
                   "a.png: another picture has the same annotation, a.txt");
}

/* Not a note for each, but one with their number. */
static void check_told(const char *name, const char *training, const char *phrase)
{
    glcnn_dataset *data = data_open(name, &boxes);
    CU_ASSERT_STRING_EQUAL(data_describe_boxes(data, GLCNN_DATA_PART_TRAINING), training);
    CU_ASSERT(data_says(data, glcnn_dataset_note, phrase));
    CU_ASSERT_EQUAL(glcnn_dataset_skipped(data), 0);
    CU_ASSERT_PTR_NULL(glcnn_dataset_note(data, 1));
    glcnn_dataset_destroy(&data);
    char first[200];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(phrase, ";"), phrase);
    data_refuses(name, &strict, GLCNN_MALFORMED_DATA, first);
}

static void what_is_left_over_is_told_once(void)
{
    write_pictures("over/images", "a");
    write_in("over/labels", "a.txt", line);
    write_in("over/labels", "b.txt", line);
    write_in("over/labels", "c.txt", line);
    write_in("over", "data.yaml", names);
    check_told("over", dog, "/images has no picture of that name; and so 1 more");
    write_pictures("listed/JPEGImages", "a");
    write_in("listed/Annotations", "a.xml", voc(VOC_BOX("dog", "6", "3", "15", "7", "")));
    write_in("listed/ImageSets/Main", "train.txt", "a\nb\nc\nd\n");
    check_told("listed", "a.png: dog 0.25 0.2 0.75 0.7",
               "has no picture b, which the part lists; and so 2 more");
    write_in("c7", "a.json",
             coco("a.png", "\"category_id\": 18, \"bbox\": [5, 2.5, 10, 5]}, "
                           "{\"image_id\": 8, \"bbox\": 0"));
    write_pictures("c7", "a");
    check_told("c7", dog, "annotations[1].image_id is 8, which no image has for its id");
}

static void boxes_without_size_are_left_out(void)
{
    write_pictures("flat/images", "a");
    write_in("flat/labels", "a.txt", "1 .5 .5 .5 .5\n1 .5 .5 0 .5\n1 .5 .5 .5 0\n");
    write_in("flat", "data.yaml", names);
    check_told("flat", dog,
               "a.txt: line 2: the box from 0.5, 0.25 to 0.5, 0.75 has no size, and "
               "is left out; and so 1 more");
    write_pictures("out/JPEGImages", "a");
    write_in(
        "out/Annotations", "a.xml",
        voc(VOC_BOX("dog", "6", "3", "15", "7", "") "\n" VOC_BOX("dog", "21", "3", "25", "7", "")));
    check_told("out", "a.png: dog 0.25 0.2 0.75 0.7",
               "a.xml: line 3: the box from 20, 2 to 25, 7 lies outside of its picture");
    write_in("c8", "a.json",
             coco("a.png", "\"category_id\": 18, \"bbox\": [-5, -5, 20, 1e308]}, {\"image_id\": 7, "
                           "\"category_id\": 17, \"bbox\": [5, 5, -1, 2]"));
    write_pictures("c8", "a");
    check_told("c8", "a.png: dog 0 0 0.75 1",
               "annotations[1]: the box from 5, 5 to 4, 7 has no size");
}

/* Pictures of the background. */
static void pictures_without_annotation_have_no_boxes(void)
{
    write_pictures("bare/images", "abc");
    write_in("bare/labels", "a.txt", line);
    write_in("bare", "data.yaml", names);
    for (int i = 0; i < 2; i++) {
        glcnn_dataset *data = open_as("bare", i ? &strict : &boxes, "yolo",
                                      "a.png: dog 0.25 0.25 0.75 0.75; b.png; c.png");
        CU_ASSERT(data_says(data, glcnn_dataset_decision,
                            "b.png: has no annotation .txt, and so no boxes; and so 1 more"));
        CU_ASSERT_PTR_NULL(glcnn_dataset_note(data, 0));
        glcnn_dataset_destroy(&data);
    }
    write_in("bare/labels", "a.txt", "");
    data_refuses("bare", &boxes, GLCNN_MALFORMED_DATA, "no picture of the training part has a box");
    write_pictures("test/images/train", "a");
    write_pictures("test/images/test", "b");
    write_in("test/labels/train", "a.txt", line);
    glcnn_dataset *data = data_open("test", &boxes);
    CU_ASSERT(data_says(data, glcnn_dataset_note, "/images/test: is left out: there is no folder"));
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->counts[GLCNN_DATA_PART_TEST], 0);
    glcnn_dataset_destroy(&data);
    data_refuses("test", &strict, GLCNN_MALFORMED_DATA, "is left out: there is no folder");
}

static void broken_pictures_are_left_out(void)
{
    write_pictures("bad/images", "b");
    write_in("bad/images", "a.png", "no picture");
    write_in("bad/images", "b.json", "no picture either");
    write_in("bad/labels", "a.txt", line);
    write_in("bad/labels", "b.txt", line);
    write_in("bad", "data.yaml", names);
    check_left_out("bad", other, "a.png: is not a picture");
    glcnn_dataset *data = data_open("bad", &boxes);
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->ignored, 1);
    glcnn_dataset_destroy(&data);
}

/* ---- Images ---- */

static struct {
    uint32_t left, top, right, bottom;
} lit;

static uint32_t light(uint32_t x, uint32_t y, uint32_t c)
{
    (void)c;
    return x >= lit.left && x < lit.right && y >= lit.top && y < lit.bottom ? 255 : 0;
}

/* The white pixels of the image are where its box is: their number, and the middle of them. */
static void check_light(uint32_t width, uint32_t height, uint32_t W, uint32_t H, const char *label)
{
    struct glcnn_data_parameters p = boxes;
    uint32_t count;
    double sum = 0, x = 0, y = 0;
    p.width = W;
    p.height = H;
    data_write_png("light/images/a.png",
                   &(struct data_png){.width = width, .height = height, .value = light});
    write_in("light/labels", "a.txt", label);
    glcnn_dataset *data = data_open("light", &p);
    const struct glcnn_data_box *box =
        glcnn_dataset_boxes(data, GLCNN_DATA_PART_TRAINING, 0, &count);
    glcnn_data_loader *loader =
        data_load(data, &(struct glcnn_data_loader_parameters){.batch = 1, .threads = 1});
    struct glcnn_data_batch batch = data_next(loader);
    for (uint32_t i = 0; i < W * H; i++) {
        sum += (double)batch.floats[i];
        x += (double)batch.floats[i] * (i % W + 0.5);
        y += (double)batch.floats[i] * (i / W + 0.5);
    }
    CU_ASSERT_EQUAL_FATAL(count, 1);
    const double left = fmax((double)box->left, 0), right = fmin((double)box->right, 1),
                 top = fmax((double)box->top, 0), bottom = fmin((double)box->bottom, 1);
    CU_ASSERT(fabs((right - left) * (bottom - top) * W * H - sum) < 2 + sum / 2000);
    CU_ASSERT(fabs((left + right) * W / 2 - x / sum) < 0.25);
    CU_ASSERT(fabs((top + bottom) * H / 2 - y / sum) < 0.25);
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
}

static void boxes_follow_their_pictures(void)
{
    static const uint32_t sizes[][2] = {{64, 48}, {32, 32}, {48, 64}, {128, 40}, {24, 40},
                                        {60, 20}, {64, 47}, {63, 48}, {200, 200}};
    static const uint32_t rectangles[][4] = {{13, 9, 41, 39}, {0, 0, 64, 48}, {20, 10, 64, 30}};
    char label[64];
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            const uint32_t *r = rectangles[k];
            memcpy(&lit, r, sizeof lit);
            snprintf(label, sizeof label, "0 %.8f %.8f %.8f %.8f", (r[0] + r[2]) / 128.0,
                     (r[1] + r[3]) / 96.0, (r[2] - r[0]) / 64.0, (r[3] - r[1]) / 48.0);
            check_light(64, 48, sizes[i][0], sizes[i][1], label);
        }
}

/* They count where a network is measured that does not see them. */
static void boxes_outside_of_the_middle_are_kept(void)
{
    struct glcnn_data_parameters p = boxes;
    p.width = p.height = 10;
    write_pictures("middle/images", "ab");
    write_in("middle/labels", "a.txt", "0 .1 .5 .2 .5\n1 .25 .5 .5 .5\n0 .9 .5 .2 1\n");
    write_in("middle/labels", "b.txt", line);
    write_in("middle", "data.yaml", names);
    glcnn_dataset *data =
        open_as("middle", &p, "yolo",
                "a.png: cat -0.5 0.25 -0.1 0.75, dog -0.5 0.25 0.5 0.75, cat 1.1 0 1.5 1; "
                "b.png: dog 0 0.25 1 0.75");
    CU_ASSERT(data_says(data, glcnn_dataset_decision, "2 of 4 boxes lie outside of the middle"));
    glcnn_dataset_destroy(&data);
}

/* Boxes are of the picture as EXIF turns it. */
static void boxes_of_a_turned_picture(void)
{
    data_write_png("turned/images/a.png",
                   &(struct data_png){.width = 10, .height = 20, .orientation = 6, .value = grey});
    write_in("turned", "a.json", coco("a.png", bbox));
    check("turned", "coco", dog);
}

/* ---- Parts and batches ---- */

static void a_share_becomes_the_validation_part(void)
{
    struct glcnn_data_parameters p = boxes;
    p.validation = 0.25;
    write_pictures("share/images", "abcdefgh");
    for (const char *name = "abcdefgh"; *name; name++)
        write_in("share/labels", (char[]){*name, '.', 't', 'x', 't', 0}, *name < 'd' ? "" : line);
    write_in("share", "data.yaml", names);
    glcnn_dataset *data = data_open("share", &p);
    const struct glcnn_data_info *info = glcnn_dataset_info(data);
    CU_ASSERT_EQUAL(info->counts[GLCNN_DATA_PART_TRAINING], 6);
    CU_ASSERT_EQUAL(info->counts[GLCNN_DATA_PART_VALIDATION], 2);
    for (int part = 0; part < 2; part++)
        for (uint32_t i = 0; i < info->counts[part]; i++) {
            char name[64];
            uint32_t count;
            glcnn_dataset_name(data, (glcnn_data_part)part, i, name, sizeof name);
            glcnn_dataset_boxes(data, (glcnn_data_part)part, i, &count);
            CU_ASSERT_EQUAL(count, strrchr(name, '/')[1] < 'd' ? 0 : 1);
        }
    glcnn_dataset_destroy(&data);
}

static void batches_say_whose_boxes_they_have(void)
{
    write_pictures("share/images", "abcdefgh");
    glcnn_dataset *data = data_open("share", &boxes);
    uint32_t seen = 0, count;
    CU_ASSERT_EQUAL(glcnn_dataset_label(data, GLCNN_DATA_PART_TRAINING, 0), GLCNN_DATA_NO_LABEL);
    CU_ASSERT_PTR_NULL(glcnn_dataset_boxes(data, GLCNN_DATA_PART_TRAINING, 8, &count));
    CU_ASSERT_EQUAL(count, 0);
    CU_ASSERT_PTR_NULL(glcnn_dataset_boxes(data, GLCNN_DATA_PART_TEST, 0, &count));
    CU_ASSERT_PTR_NULL(glcnn_dataset_boxes(data, (glcnn_data_part)3, 0, &count));
    glcnn_data_loader *loader = data_load(
        data, &(struct glcnn_data_loader_parameters){.batch = 8, .threads = 2, .shuffle = true});
    struct glcnn_data_batch batch = data_next(loader);
    for (uint32_t i = 0; i < 8; i++) {
        CU_ASSERT_PTR_EQUAL(batch.boxes[i], glcnn_dataset_boxes(data, GLCNN_DATA_PART_TRAINING,
                                                                batch.indices[i], &count));
        CU_ASSERT_EQUAL(batch.box_counts[i], count);
        CU_ASSERT_EQUAL(count, batch.indices[i] < 3 ? 0 : 1);
        CU_ASSERT_EQUAL(batch.labels[i], 0);
        seen |= 1u << batch.indices[i];
    }
    CU_ASSERT_EQUAL(seen, 255);
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
}

static void targets_are_checked(void)
{
    struct glcnn_data_parameters p = {.targets = (glcnn_data_targets)4};
    data_refuses("share", &p, GLCNN_INVALID_ARGUMENT, "targets is 4; expected 0 to 3");
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(yolo_is_found_in_every_order_of_folders),
        UNIT_TEST(yolo_without_parts),
        UNIT_TEST(voc_is_found),
        UNIT_TEST(coco_is_found),
        UNIT_TEST(what_is_not_found_is_said),
        UNIT_TEST(data_yaml_names_the_classes),
        UNIT_TEST(data_yaml_that_is_not_understood),
        UNIT_TEST(lists_of_lines),
        UNIT_TEST(classes_without_names_are_counted),
        UNIT_TEST(given_names_are_the_classes),
        UNIT_TEST(classes_follow_from_the_data),
        UNIT_TEST(broken_lines),
        UNIT_TEST(broken_xml),
        UNIT_TEST(hostile_xml),
        UNIT_TEST(voc_has_more_than_boxes),
        UNIT_TEST(broken_json),
        UNIT_TEST(broken_images_of_coco),
        UNIT_TEST(images_that_come_twice),
        UNIT_TEST(what_is_left_over_is_told_once),
        UNIT_TEST(boxes_without_size_are_left_out),
        UNIT_TEST(pictures_without_annotation_have_no_boxes),
        UNIT_TEST(broken_pictures_are_left_out),
        UNIT_TEST(boxes_follow_their_pictures),
        UNIT_TEST(boxes_outside_of_the_middle_are_kept),
        UNIT_TEST(boxes_of_a_turned_picture),
        UNIT_TEST(a_share_becomes_the_validation_part),
        UNIT_TEST(batches_say_whose_boxes_they_have),
        UNIT_TEST(targets_are_checked),
        CU_TEST_INFO_NULL,
    };
    int status = unit_run("data boxes", tests, argc, argv);
    data_remove_folder();
    return status;
}
