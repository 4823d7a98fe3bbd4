/* Labelled images to train on: from folders of pictures, .npz and .npy, CSV and IDX, YOLO, Pascal VOC
 * and COCO, or of a program's own, in batches that threads decode ahead.
 *
 * Part of libglcnn_data, not of libglcnn, and not included by glcnn/glcnn.h. It needs no device and
 * knows of none: what it gives are arrays.
 *
 * ---- What is found ----
 *
 * By looking, not by being told. The path is a folder or a file. A folder is in parts where it has
 *
 *   for training       for validation            for test
 *   train, training    val, valid, validation    test, t10k
 *
 * as a folder, as .npz or .csv of that name, as a pair of .npy files (train_images.npy,
 * train_labels.npy; a hyphen too) or of IDX files (train-images-idx3-ubyte,
 * train-labels-idx1-ubyte, also with .idx3 and .idx1). Where there is no training part, all that
 * the folder has is it. A folder without parts has folders of classes, or else one .npz, one .csv,
 * images.npy and labels.npy, or an IDX pair of any prefix; so has the folder of a part. A path to a
 * file is the training part. Labels of .npy and IDX are in the file beside the images whose name
 * has "labels" for "images" and "idx1" for "idx3". An .npz has parts too where its arrays say so:
 * train_images, train_labels, val_images, test_images ...; x and data stand for images, y and
 * target for labels, and the part may stand behind them (x_train). Of arrays of one name the last
 * counts, as in NumPy; two by other names that could both be the images, or the labels, of one part
 * are refused. An .npz of two arrays by other names has images in the larger. All but .npz may be
 * gzipped.
 *
 *   folders       data/cat/1.jpg: each folder is a class, its name the class's. Pictures are PNG,
 *                 JPEG, WebP and TIFF, known by their first bytes, not by the name: of any depth
 *                 and kind, grey, palette, alpha, 16 bit, CMYK, interlaced, progressive. Of a TIFF
 *                 of several pages the first is read; floats and samples of 32 bits are not, nor
 *                 animated WebP, nor what a camera's sensor saw. EXIF's orientation is honoured, a
 *                 whole number of any type; of PNG in a chunk eXIf, before the pixels or behind
 *                 them, or else in a text "Raw profile type exif" or "APP1". What is transparent
 *                 shows white; 16 bits are rounded to 8. Pictures have 1, 3 or 4 channels; the
 *                 fourth is 255 then, opaque. A picture is scaled until it covers width
 *                 x height, by the mean over areas where it shrinks and linearly where it grows,
 *                 and its middle is taken. All of this in whole numbers: the same bytes on every
 *                 machine. A JPEG that is much larger is reduced by 2, 4 or 8 while it is decoded.
 *                 A folder of pictures (images, JPEGImages ...) beside one of masks, labels or
 *                 annotations is no class: these are refused, and the message names the targets that
 *                 read them. Hidden files, files that are no picture, and folders within classes are ignored
 *                 and counted; a message tells of those that are not hidden
 *                 (glcnn_dataset_decision). Pictures of formats that are not read, as GIF, HEIC and
 *                 AVIF, are skipped like broken ones; one note for each class has their number.
 *                 Or a CSV names the pictures, the only one in their folder, or beside that ("images", or train beside train.csv), and
 *                 its first line the columns, as below: the class is the only other one, or that called label,
 *                 labels, class, classes, y, target or targets.
 *   .npy, .npz    images [N][C][H][W], [N][H][W][C], [N][H][W] or [N][F]; labels [N] or [N][1],
 *                 whole numbers. Of rank 4 the channels are first where the last two extents are
 *                 the same and the first differs, last where the first two are the same and the
 *                 last differs; otherwise the smaller of first and last is the channels, and the
 *                 first if they are the same.
 *   CSV           a label and numbers on each line, separated by commas, semicolons or tabs; fields
 *                 may be quoted. The first line is names where one of its fields is label, class,
 *                 target or y, in any case, or one of those that are left out, or where a field
 *                 behind the first is no number. Left out are columns that number or name the rows:
 *                 a first column without a name, id, index, filename, path, image_id, "Unnamed: 0"
 *                 and the like. The label is the column of such a name, otherwise the first that is
 *                 not left out; it is a number or a text. A message says which columns are what
 *                 (glcnn_dataset_decision). What may mean two things is refused, and the message
 *                 asks for names: two columns of a label's name; names of which none is a label's,
 *                 where the first column has numbers; 10 lines or more of which each has a label of
 *                 its own that no earlier part has, where no name says that it is the label; a first
 *                 line of 10 numbers or more that count from 0 or 1.
 *   IDX           bytes [N][H][W], labels [N].
 *
 * F numbers in a row are an image of channels x height x width where the parameters say so; else of
 * 1 x S x S or 3 x S x S where F is such a number; else of 1 x 1 x F.
 *
 * Pictures and IDX are bytes, and so are whole numbers in 0 .. 255 of .npy, .npz and CSV, of a type
 * of whole numbers, where all parts have no others: 255 stands for 1.0. Other numbers stand for
 * themselves. Numbers that are not finite are refused. Images that are not pictures are not scaled:
 * another width, height or number of channels is refused.
 *
 * ---- Classes ----
 *
 * The names of folders, or the labels of a table. Whole numbers are written without leading zeros,
 * and without a fraction or with one of zeros, as pandas writes them: 1 and 1.0 are the same. Where
 * all labels of all parts are whole numbers, they are classes by value: ordered by it, named by its
 * digits, and those of one value are one class. Otherwise all are texts, ordered by their bytes,
 * whatever the locale. All parts share the classes. Where the caller gives class names, as from a
 * checkpoint, these are the classes, and it is decided once for all labels: either all are names,
 * whole numbers compared by value where all labels are such, or else all are numbers of classes,
 * from 0. A label that is neither is refused. Where labels are numbers of classes although a class
 * has a number for its name, a message says so (glcnn_dataset_decision).
 *
 * ---- Targets ----
 *
 * What an image's label is: a class, as above, unless the parameters ask for another kind.
 *
 *   numbers   real numbers, as many of each image. Of .npy, .npz and IDX the labels, [N] or [N][K],
 *             of any type; of a CSV of images the column of a label's name, which must be there. Of
 *             pictures a CSV in their folder, the only one there (a part's folder, where there are
 *             parts): its first line names the columns, one of which is file, filename, file_name,
 *             image, picture or path, the picture's path from that folder or from its folder
 *             "images", or from one of the list's name; the other columns are the numbers, but for those that number the rows. A
 *             picture of no line is left out with a note, as is a line whose picture is broken; a
 *             picture of two lines, or that is not there, and a field that is no finite number are
 *             errors.
 *   masks     the class of each pixel: in a folder, or in that of a part, a folder of
 *             pictures (images, image, imgs, img, JPEGImages) and one of masks (masks, mask,
 *             SegmentationClass; labels, label or annotations where these have PNG and no other
 *             annotations), in any case, which may have folders of parts in turn, have files of the same
 *             names but for the endings; or a.jpg and a_mask.png lie beside each other. In
 *             ImageSets/Segmentation lists of Pascal VOC's may say which picture is of which part. A mask is a PNG of 8 bits or fewer, palette or grey, of the
 *             size of its picture; its values are those of the palette's numbers or of the grey
 *             levels. Where the folder has labelmap.txt, lines NAME:R,G,B, or `mask_colours` names such a file, masks are of
 *             any kind and their colours are classes (grey levels that are no such colours count the lines); so many as one pixel in a hundred may have
 *             other colours and have no class then, with a message, and 224,224,192 is none always.
 *             A _classes.csv has lines "VALUE, NAME". Where class names are given, or "classes.txt" is in the folder with one name on
 *             each line, a value is the number of a class, and 255 is none; where all names are
 *             digits of such values, as below, a value is the class of that name. Where there are
 *             both the list says what a value is, and classes are the same by name, in whatever
 *             order; a name that is none of those given is an error. Otherwise the values that
 *             occur in the training part are the classes, in their order, and are their names; 255
 *             is none then too, unless there are no other values than 0 and 255. What a message
 *             says (glcnn_dataset_decision); so are values and classes that the validation or
 *             test part has and the training part has not. Two or more grey levels of which most pixels lie between a lower and a
 *             higher one are soft edges: up to one pixel in a hundred has no class then, with a message, more are refused.
 *             A mask that EXIF's orientation does not turn, and that has the size of its picture before it is turned, is
 *             turned alike; where both sizes are the same it is taken to be of the turned picture; a message says so. Masks are scaled and cut as their pictures are, each
 *             pixel taking the class of the nearest. A picture without a mask is left out with a
 *             note, and so is the second of two that have the same name but for the ending.
 *   boxes     boxes around objects, of pictures that lie as YOLO, Pascal VOC or COCO have them; see
 *             below.
 *
 * Outlines of objects, lines of YOLO with points, COCO's polygons and runs (plain and in letters), serve all: as
 * boxes around them, and a message says that they have pixels too; or, where masks are asked for and the path has no
 * folder of masks, as masks. A mask is drawn in the size of the picture: rings of one object are united, each
 * is rasterised by the rule of pycocotools' rleFrPoly, later objects cover earlier ones. Classes are those of
 * the boxes, and before them "background" for pixels of no object, unless one is called so in any case of letters;
 * where class names are given without it these pixels have no class. So have those of a box without an outline, with a
 * note. A point that is farther from its picture than that is large leaves the picture out.
 *
 * Keypoints of COCO (their names are the category's `keypoints`), and of lines of YOLO where data.yaml has kpt_shape
 * (kpt_names, or 0, 1, 2 ...), are numbers where these are asked for and the path has no list of them: NAME_x and NAME_y in
 * the picture's pixels, -1 and -1 of a point that is not labelled: v is 0, or of YOLO's points of two numbers
 * both are 0 or below. A picture has those of one object, the largest by its box that has any; a message counts
 * pictures of several, and a picture without is left out with a note.
 *
 * ---- Boxes ----
 *
 * Boxes around objects are targets (glcnn_dataset_boxes), as many as a picture has, or none. What the
 * path has is one of these:
 *
 *   YOLO          folders "images" and "labels", with folders of parts in both (images/train,
 *                 labels/train; a number may follow: train2017) or in a folder of each part
 *                 (train/images), or pictures and labels beside each other. labels/a.txt has a line
 *                 "class x y width height" for each box of images/a.jpg, in shares of the picture, x
 *                 and y of the box's middle; shares of -0.01 to 1.01 are cut. A line of a class and x and y
 *                 of three points or more is an outline, and the box is around it. Classes are the `names` of data.yaml, or of the only
 *                 .yaml, or else the lines of classes.txt or obj.names, in the folder, in that of
 *                 labels, or beside the parts, in any case of letters. `names` is a list, or a map by
 *                 number. Where the .yaml says train, that and val and test are the parts: each a folder,
 *                 whose folders are read too, a file that lists pictures, or several of these, below
 *                 `path` or the .yaml's folder. As Ultralytics has it "labels" stands for the last
 *                 "images" of a picture's path, otherwise labels lie beside their pictures; "../" is left
 *                 out where the path is not there. What is not there is named by a message, and a part
 *                 that is the training part too is read for that alone. An obj.data of Darknet, as CVAT
 *                 writes it, says the same in its words. The path may be that of the .yaml too. Without
 *                 names classes count from 0.
 *   Pascal VOC    Annotations/a.xml for JPEGImages/a.jpg (or images/a.jpg), or beside each other, in
 *                 one folder or in one for each part. In ImageSets/Main the files train.txt, or
 *                 trainval.txt, val.txt and test.txt list the pictures of parts, by names or paths; those that are in
 *                 none are not read. Pixels count from 1, and xmin to xmax are in the box. Names of
 *                 classes are ordered by their bytes. Boxes of an object's parts are not read,
 *                 nor what else stands in an annotation; a `difficult` that is empty or no number, nor
 *                 "true" or "yes", is none.
 *   COCO          a .json with images, annotations and categories, in the folder, in "annotations" or
 *                 in the folder of a part; it is of the part that its name says
 *                 (instances_train2017.json), and the only one is for training. Where some are named
 *                 instances.. the others are not read, and a .json without images and annotations is none
 *                 of these. The path may be that of a .json too. Pictures
 *                 are in the part's folder, as train2017 or images/train, in "images" beside the
 *                 file or in a folder below "images"; a path may have backslashes, or folders of another
 *                 machine. Ids are whole numbers or texts. Classes are in the order of their ids, numbers
 *                 first; a category without objects may repeat the name of another. An object without a
 *                 box, or with one of no size, has that around its outline, polygons or runs.
 *
 *   labelme       a.json beside a.jpg, or in labels, annotations or json beside "images". Polygons, rectangles, circles and
 *                 masks are objects; those of one label and group_id are one. Lines and points are left out, with a
 *                 note, and so is what is labelled __ignore__, without one.
 *   brush         Label Studio's brush: task-1-annotation-2-by-3-TAG-NAME-0.png beside the pictures, or beside or in a folder
 *                 that says masks or labels beside "images". Each is an object of the class NAME, of values from 128; pixels of one class
 *                 are united in masks, which such a folder is read as where nothing else is asked for. Of several annotations of a task the
 *                 last is read; a message says so. Its picture is called 1.jpg or task-1.jpg, or Label Studio's JSON
 *                 beside, which has `id` and the picture's path of each task, says which it is.
 *   CSV           in the folder of the pictures, or of their folder "images", a line of each box: Make Sense's, which are label, x, y, width,
 *                 height, picture and its size, or with names of columns, class, xmin, ymin, xmax, ymax and
 *                 filename among them. Pixels count from 0.
 *
 * A folder that has nothing but another one, which is not of a part, stands for that; a message says so. Annotations of YOLO and Pascal VOC may
 * lie beside their pictures in a folder "images". A category of COCO without objects that others have for
 * their supercategory, and labelme2coco's _background_, is no class.
 *
 * Boxes are those of the image that the loader gives: they follow EXIF's orientation and the cut to
 * the middle. Cut are boxes at the picture's edges; those of no size or outside of it are left out,
 * and so are those outside of the middle. One class is enough. Of the training part `validation` takes
 * its share of all pictures.
 *
 * A picture is skipped, with a note, where its annotation is damaged, has the number of a class that
 * has no name, a number that is not finite, or the size of another picture, and where it comes twice
 * (of two pictures a.jpg and a.png that share an a.txt the second). Told once, with their number, are
 * boxes that are left out, annotations without a picture, and pictures without annotation, which are
 * background. Where `strict` is set each of these is an error but the last. A .json that is damaged is
 * an error always. Annotations have 16 MiB, .json 2^31 bytes; a document type in XML is refused.
 *
 * ---- What is broken ----
 *
 * Opening looks at the head of every picture; what is no picture inside, is announced beyond
 * GLCNN_DATA_MAX_PIXELS or cannot be read is left out: named by a note (glcnn_dataset_note) and
 * counted as skipped. What breaks only when it is decoded is left out then: in a shuffled batch the
 * next picture of its part that is whole stands in for it, every time, so that batches do not
 * depend on what was decoded before; in one in order its place stays empty. Where `strict` is set
 * each of these is an error, and so is a class without pictures, which otherwise is left out with a
 * note. A damaged .npz, .npy, CSV or IDX is an error always: no half of a table is used.
 *
 * A picture that vanished, or changed (size or time), since the data was opened is an error of the
 * batch: what would be trained on is no longer the data that the run began with.
 *
 * Files are not trusted. Pictures have at most GLCNN_DATA_MAX_PIXELS, and a decoder that needs all
 * of a picture at once takes 512 MiB at most; labels have 255 bytes, tables 2^31 bytes unpacked,
 * data 65536 classes. A table takes memory as it arrives, not as it is promised.
 *
 * Tables are kept in memory, but for images of a .npy of bytes in the order of C ('|u1') that are
 * more than `memory`: these stay in their file, which is read as it is needed and may be of any
 * size. One that changes meanwhile is an error as of a picture.
 *
 * Errors are a status, and in `error`, if not NULL, a message: the file, what was found, what was
 * expected.
 *
 * Thread-safety: a data set may be used by several threads at once; a loader by one at a time.
 */
#ifndef GLCNN_DATA_H
#define GLCNN_DATA_H

#include <glcnn/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GLCNN_DATA_MAX_PIXELS   ((uint32_t)1 << 26) /* of a picture: 8192 x 8192 */
#define GLCNN_DATA_MAX_CHANNELS 512
#define GLCNN_DATA_MAX_SIDE     4096 /* of the images that are given */
#define GLCNN_DATA_MAX_CLASSES  65536
#define GLCNN_DATA_NO_LABEL     UINT32_MAX
#define GLCNN_DATA_MAX_NUMBERS  4096 /* of an image */
#define GLCNN_DATA_NO_CLASS     255  /* of a pixel of a mask */

typedef struct glcnn_dataset glcnn_dataset;
typedef struct glcnn_data_loader glcnn_data_loader;

typedef enum glcnn_data_part {
    GLCNN_DATA_PART_TRAINING = 0,
    GLCNN_DATA_PART_VALIDATION = 1,
    GLCNN_DATA_PART_TEST = 2,
    GLCNN_DATA_PART_FORCE32 = 0x7fffffff
} glcnn_data_part;
#define GLCNN_DATA_PARTS 3

/* "training", "validation" or "test"; NULL for another number. It lives for ever. Safe on any thread. */
GLCNN_API const char *glcnn_data_part_name(glcnn_data_part part);

/* ---- Data sets ---- */

/* What is to be learned of each image; see "Targets" above. */
typedef enum glcnn_data_targets {
    GLCNN_DATA_TARGETS_CLASSES = 0,
    GLCNN_DATA_TARGETS_NUMBERS = 1,
    GLCNN_DATA_TARGETS_MASKS = 2,
    GLCNN_DATA_TARGETS_BOXES = 3,
    GLCNN_DATA_TARGETS_FORCE32 = 0x7fffffff
} glcnn_data_targets;

/* The targets that a path has: masks and boxes where opening with these would find them, by the same
 * code, up to the first picture; numbers where a CSV names pictures that are there, and
 * all its other columns have numbers, unless there is but one, called label, class, target or y, of
 * whole numbers, which may be classes. Otherwise classes, also where nothing can be read, or where both
 * masks and boxes are there: glcnn_dataset_open says why, or asks which of them. */
GLCNN_API glcnn_data_targets glcnn_data_guess_targets(const char *path);

/* What the values of .npy, .npz and CSV are. */
typedef enum glcnn_data_values {
    GLCNN_DATA_VALUES_AUTOMATIC =
        0,                         /* bytes where all are whole, of a type of whole numbers, and in
                                        0 .. 255 */
    GLCNN_DATA_VALUES_BYTES = 1,   /* bytes; others are refused */
    GLCNN_DATA_VALUES_NUMBERS = 2, /* they stand for themselves */
    GLCNN_DATA_VALUES_FORCE32 = 0x7fffffff
} glcnn_data_values;

/* A way to bring a picture to the size of images. Its middle is the image's middle. */
typedef enum glcnn_data_fit {
    GLCNN_DATA_FIT_CUT, /* It is scaled until it covers the image; what is outside is cut off. */
    GLCNN_DATA_FIT_LETTERBOX, /* It is scaled until all of it is in the image; the border around it is
                                 0, black, and in masks of no class. */
    GLCNN_DATA_FIT_STRETCH,   /* Its width and its height are scaled each by itself. */
    GLCNN_DATA_FIT_FORCE32 = 0x7fffffff
} glcnn_data_fit;

/* All zero: everything follows from the data. */
struct glcnn_data_parameters {
    /* Of the images, up to GLCNN_DATA_MAX_SIDE. 0: of pictures the size that more than half of those
     * of the training part have; where a side is above 256 both shrink alike until it is 256. Where
     * no size is so common the longer side is the median of theirs, the other in the proportion of
     * the medians of widths and heights, both rounded to multiples of 8, from 8 to 256. Unless all
     * pictures have the size, a message tells of it (glcnn_dataset_decision). One side alone is
     * the other's too. */
    uint32_t width, height;
    /* Of pictures: they are scaled until their shorter side is so long, the longer in proportion and cut to
     * a whole pixel, and the middle of width x height is taken, which must be given and be no longer.
     * As classifiers of ImageNet are evaluated, 256 for 224 x 224: the same as Pillow's
     * Image.resize with BILINEAR, which is antialiased, and torchvision's Resize and CenterCrop, but for
     * the last bit of a byte. A JPEG is not reduced before. 0: pictures are scaled as above. */
    uint32_t resize;
    /* 0: of pictures 3 where the head of any says that it has colour, else 1. Pictures take 1, by
     * luminance (299 R + 587 G + 114 B) / 1000, or 3. */
    uint32_t channels;
    glcnn_data_values
        values; /* for what was trained on the other kind; pictures are bytes always */
    /* The share of the training part that becomes the validation part, where the data has none: 0
     * <= share < 1, of each class alike, rounded; a class of two or more images gives at least one
     * and keeps at least one. Who is chosen follows from `seed` and the list of the images. */
    double validation;
    uint64_t seed;
    bool strict;
    /* Bytes of images that may be kept: where all of them fit in, each picture is decoded once, and a
     * .npy of bytes is read once. 0: 256 MiB; 1: none is kept. */
    uint64_t memory;
    /* Names of the classes, UTF-8, none twice; copied. 0: they follow from the data. Labels that are
     * names are matched with them, in whatever order the data has these. With numbers as targets the
     * names of the numbers; those of the data must be as many, and columns that have names are matched
     * alike. */
    const char *const *class_names;
    uint32_t class_count;
    glcnn_data_targets targets;
    glcnn_data_fit fit; /* of pictures; with `resize` they are cut */
    /* A file with a line NAME:R,G,B for each class, for masks that are pictures of colours. It has the form of
     * labelmap.txt, which is read where it lies in the folder. NULL: no other file is read. Copied. */
    const char *mask_colours;
};

/* What there is. `bytes` says that 255 stands for 1.0. */
struct glcnn_data_info {
    /* "pictures", "npz", "npy", "csv" or "idx"; of boxes "yolo", "voc", "coco", "labelme",
     * "brush" or "csv"; "source" of a program's own. */
    const char *format;
    uint32_t width, height, channels;
    bool bytes;
    uint32_t class_count;           /* 0: there are no labels. Of masks: classes of pixels. Of
                                       numbers: numbers of an image */
    const char *const *class_names; /* of the data set's lifetime; of numbers: their names */
    uint32_t counts[GLCNN_DATA_PARTS];
    uint32_t ignored; /* hidden files, files that are no picture, folders within classes */
    /* The validation part is that share of the training part which the parameters ask for: the data
     * has none of its own. */
    bool is_split;
    const char *name; /* of the data: the path, or what a program's own are called */
    glcnn_data_targets targets;
    /* Pictures come to that size as these parameters say. */
    glcnn_data_fit fit;
    uint32_t resize;
};

/* Opens labelled data; *data is the caller's, NULL after a failure. Data of a single class, without
 * any image in the training part, or of an unknown kind is refused; with class names given one
 * class is enough. Errors: GLCNN_INVALID_ARGUMENT for the parameters, GLCNN_IO_ERROR,
 * GLCNN_MALFORMED_DATA, GLCNN_UNSUPPORTED for a size that the data has not, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_dataset_open(const char *path,
                                          const struct glcnn_data_parameters *parameters,
                                          glcnn_dataset **data, char error[GLCNN_ERROR_LENGTH]);

/* Opens files without labels, to predict: each is a picture, or .npz, .npy, CSV or IDX of images;
 * labels in an .npz are passed over, a CSV has none but in a column that is named so. All are the
 * test part, in their order. Of several files each must be a picture. A picture that is broken
 * keeps its place and has no image: the loader says so. A folder stands for the pictures in it and
 * in those below it, by their names; hidden files and folders are left out, what is no picture is
 * ignored with a message (glcnn_dataset_decision), what is broken or of a format that is not read
 * is skipped with one (glcnn_dataset_note), and a folder without any picture is refused. Otherwise
 * as glcnn_dataset_open. */
GLCNN_API glcnn_status glcnn_dataset_open_files(const char *const *paths, uint32_t count,
                                                const struct glcnn_data_parameters *parameters,
                                                glcnn_dataset **data,
                                                char error[GLCNN_ERROR_LENGTH]);

/* Releases it; its loaders must be gone. *data becomes NULL. NULL does nothing. */
GLCNN_API void glcnn_dataset_destroy(glcnn_dataset **data);

/* Lives as long as the data set, and does not change. */
GLCNN_API const struct glcnn_data_info *glcnn_dataset_info(const glcnn_dataset *data);

/* How many pictures were skipped so far: those that opening left out and those found broken since.
 * Each counts once. */
GLCNN_API uint32_t glcnn_dataset_skipped(const glcnn_dataset *data);

/* Messages: one for each picture that was skipped, the first 1000 of them, one for those of each
 * class that are of formats that are not read, and one for each class without pictures, in the order
 * in which they were found. NULL: there is none of that number. They
 * live as long as the data set. */
GLCNN_API const char *glcnn_dataset_note(const glcnn_dataset *data, uint32_t number);

/* Messages on what opening found and decided where the data could have meant something else, in
 * that order. NULL: there is none of that number. They live as long as the data set. */
GLCNN_API const char *glcnn_dataset_decision(const glcnn_dataset *data, uint32_t number);

/* Writes what an image is called: its path below the data's, or "image 12 of PATH" in a table.
 * `index` counts from 0 within the part; beyond its end the name is empty. Cut to `size` bytes. */
GLCNN_API void glcnn_dataset_name(const glcnn_dataset *data, glcnn_data_part part, uint32_t index,
                                  char *name, size_t size);

/* The size that an image has in its file, of a picture as it is shown: after EXIF's orientation.
 * glcnn_data_find_window says what of it the loader gives. Beyond the part's end both are 0. */
GLCNN_API void glcnn_dataset_size(const glcnn_dataset *data, glcnn_data_part part, uint32_t index,
                                  uint32_t *width, uint32_t *height);

/* The class of an image, GLCNN_DATA_NO_LABEL beyond the part's end, without labels, or where targets
 * are others than classes. */
GLCNN_API uint32_t glcnn_dataset_label(const glcnn_dataset *data, glcnn_data_part part,
                                       uint32_t index);

/* The numbers of an image, info.class_count of them, of the data set's lifetime. NULL beyond the
 * part's end, or where targets are no numbers. */
GLCNN_API const float *glcnn_dataset_numbers(const glcnn_dataset *data, glcnn_data_part part,
                                             uint32_t index);

/* A number that follows from the size and the values of an image's mask as the file had them when the
 * data was opened, and from the order of its list of classes where class names were given: to notice that
 * a mask has changed. 0 beyond the part's end, or where targets are no
 * masks. */
GLCNN_API uint64_t glcnn_dataset_mask_digest(const glcnn_dataset *data, glcnn_data_part part,
                                             uint32_t index);

/* A number that follows from the contents of an image's file, whatever it is called, or from the values
 * of its row in a table: to notice that two images are the same. Of a file of more than 64 KiB the length
 * and three pieces of 16 KiB count, at its start, middle and end. Reads the file; several threads may
 * call it at once. 0 beyond the part's end, or where the file cannot be read. */
GLCNN_API uint64_t glcnn_dataset_image_digest(const glcnn_dataset *data, glcnn_data_part part,
                                              uint32_t index);

/* A window is the part of a picture that an image shows, in the picture's pixels from its upper left
 * corner: the image's point (x, y) of width x height is the picture's point (left + x * window.width / width, top + y *
 * window.height / height), exactly, but for rounding of `resize`. A letterbox's border makes it larger
 * than the picture, with left or top below 0. */
struct glcnn_data_window {
    double left, top, width, height;
};

/* Writes the window of a picture of that size, as it is shown, in images of width, height, resize and fit
 * of the parameters; all 0 where one of the sizes is. */
GLCNN_API void glcnn_data_find_window(uint32_t picture_width, uint32_t picture_height,
                                      const struct glcnn_data_parameters *parameters,
                                      struct glcnn_data_window *window);

/* A box around an object, in shares of the image that the loader gives: 0 is its left and its upper
 * edge, 1 its right and its lower one, and left < right, top < bottom. Of a picture that is cut a box is
 * whole, below 0 or above 1 where it reaches beyond the image, and may lie outside of it. */
struct glcnn_data_box {
    float left, top, right, bottom;
    uint32_t label;    /* below info.class_count */
    bool is_crowd;     /* COCO's: many objects in one box */
    bool is_difficult; /* Pascal VOC's: trained, but neither right nor wrong to find */
};

/* Writes the picture of an image whole and stretched to that size, up to GLCNN_DATA_MAX_PIXELS, as bytes of
 * red, green and blue, [height][width][3]: to be looked at. Several threads may call it at once. Errors:
 * GLCNN_INVALID_ARGUMENT for the size, or beyond the part's end; as glcnn_data_loader_next. */
GLCNN_API glcnn_status glcnn_dataset_read_picture(glcnn_dataset *data, glcnn_data_part part,
                                                  uint32_t index, uint32_t width, uint32_t height,
                                                  uint8_t *pixels, char error[GLCNN_ERROR_LENGTH]);

/* Writes the class of each pixel of an image's mask, GLCNN_DATA_NO_CLASS for none, [height][width]: of
 * glcnn_dataset_size as the file has it, otherwise of the pixels in the middle of those that are written.
 * Masks that a loader decodes are kept for their next such call, 64 of them and 64 MiB at most, so that they are decoded
 * once. Those of a part of which no mask is read so are not kept once there are more.
 * Errors: as glcnn_dataset_read_picture; GLCNN_INVALID_ARGUMENT where targets are no masks. */
GLCNN_API glcnn_status glcnn_dataset_read_mask(glcnn_dataset *data, glcnn_data_part part,
                                               uint32_t index, uint32_t width, uint32_t height,
                                               uint8_t *classes, char error[GLCNN_ERROR_LENGTH]);

/* The boxes of an image, *count of them, of the data set's lifetime. NULL and 0: it has none, or is
 * beyond the part's end. */
GLCNN_API const struct glcnn_data_box *glcnn_dataset_boxes(const glcnn_dataset *data,
                                                           glcnn_data_part part, uint32_t index,
                                                           uint32_t *count);

/* ---- Images of a program's own ---- */

/* The images of a part. Arrays are the program's; NULL where it says so. */
struct glcnn_image_source_part {
    uint32_t count;
    const void *images; /* [count] of them; NULL: `read` writes them */
    /* These are the labels, of which the one for the source's targets is read. */
    const uint32_t *labels;             /* classes: [count], below class_count */
    const float *numbers;               /* numbers: [count][class_count], finite */
    const uint8_t *masks;               /* masks: [count][height][width], below class_count or
                                           GLCNN_DATA_NO_CLASS; NULL: `read` writes them */
    const struct glcnn_data_box *boxes; /* boxes: those of the first image, of the second ... */
    const uint32_t *box_counts;         /* boxes: [count], of each image; 0 for one without */
};

/* Images that a program has, or makes when they are wanted, with their labels. All are of one size, and
 * are not scaled.
 *
 *     static const char *const names[] = {"dark", "bright"};
 *     const struct glcnn_image_source source = {
 *         .name = "camera", .width = 32, .height = 32, .channels = 3, .is_bytes = true,
 *         .class_names = names, .class_count = 2,
 *         .parts[GLCNN_DATA_PART_TRAINING] = {.count = 500, .images = pixels, .labels = labels}};
 *     glcnn_dataset_open_source(&source, &(struct glcnn_data_parameters){.validation = 0.1}, &data, error);
 *     glcnn_train_settings_set_dataset(settings, data, error);             (glcnn/train.h)
 *
 * Images are [channels][height][width], or with `is_interleaved` [height][width][channels]: bytes, of which
 * 255 stands for 1.0, or else float32, which must be finite. */
struct glcnn_image_source {
    const char *name;                 /* of the data, for messages and files; NULL: "arrays" */
    uint32_t width, height, channels; /* up to GLCNN_DATA_MAX_SIDE and GLCNN_DATA_MAX_CHANNELS */
    bool is_bytes, is_interleaved;
    glcnn_data_targets targets;
    const char *const *class_names; /* of classes or numbers; NULL: they are called "0", "1" ... */
    uint32_t class_count;           /* 0: no image has a label, and all are of the test part */
    struct glcnn_image_source_part parts[GLCNN_DATA_PARTS];
    /* Writes image `index` of a part where the part has no array of them, and its mask; `image` or `mask`
     * is NULL where it is not wanted. Every call for an image must write the same. Is called by the
     * threads of loaders, by several at once, and must not call for the data set or its loaders. A
     * status other than GLCNN_SUCCESS, with the reason in `error`, ends what wanted the image. */
    glcnn_status (*read)(void *user, glcnn_data_part part, uint32_t index, void *image,
                         uint8_t *mask, char error[GLCNN_ERROR_LENGTH]);
    void *user;
};

/* Opens images of a program's own as if they lay in files; *data is the caller's, NULL after a failure. The
 * source is copied, with names, labels, numbers and boxes; images and masks are not: their arrays, and what
 * `read` needs, must outlive the data set. parameters NULL: everything follows from the source; otherwise
 * its targets must be the source's, a width, height or number of channels too, class names are matched with
 * the source's as with those of files, and `validation` splits the training part as it does there.
 * info.format is "source". What is wrong with an array is found here, with what `read` writes when it is
 * read: no image is left out, so that a failure is always an error, as with `strict`. Errors:
 * GLCNN_INVALID_ARGUMENT for the source or the parameters, also for a label that is no class and a box that
 * has no size; GLCNN_UNSUPPORTED for another size; GLCNN_MALFORMED_DATA for values that are not finite, masks
 * of what is no class and names that are not the parameters'; GLCNN_OUT_OF_MEMORY. Each says which image
 * it is of. */
GLCNN_API glcnn_status glcnn_dataset_open_source(const struct glcnn_image_source *source,
                                                 const struct glcnn_data_parameters *parameters,
                                                 glcnn_dataset **data,
                                                 char error[GLCNN_ERROR_LENGTH]);

/* ---- Looking ---- */

/* The counts of a class, or of a number, in each part. `images` have it; of coordinates, NAME_x and NAME_y, those
 * count where it is not below 0. `objects` are boxes, crowds among them, or pixels of masks, otherwise images
 * again. */
struct glcnn_data_class_look {
    const char *name;
    uint32_t images[GLCNN_DATA_PARTS];
    uint64_t objects[GLCNN_DATA_PARTS];
};

/* The smallest, the median and the largest of some numbers; all 0 where there are none. */
struct glcnn_data_range {
    double least, median, most;
};

/* A suspicion says in a sentence what may be wrong, how often, and where first; the image is that of the
 * first example. */
struct glcnn_data_suspicion {
    const char *text;
    uint32_t count;
    bool has_image;
    glcnn_data_part part;
    uint32_t index;
};

/* The findings of a look at all labels and files of a data set. */
struct glcnn_data_look {
    uint32_t class_count, suspicion_count;
    const struct glcnn_data_class_look *classes;
    uint32_t
        unlabelled[GLCNN_DATA_PARTS]; /* images of each part without a box, a class or a number */
    struct glcnn_data_range widths, heights; /* of images in their files */
    struct glcnn_data_range
        sides; /* of boxes, the roots of their areas in pixels of their pictures */
    const struct glcnn_data_suspicion *suspicions;
};

/* Counts what there is, and looks for what is suspicious: equal images in two parts, boxes of a pixel or
 * of the whole picture, classes with fewer than 10 training images or none, images without labels, masks
 * of one class, coordinates outside of their pictures, names of classes that are nearly equal. Reads all
 * masks, and of each picture what its digest takes. *look is the caller's, NULL after a failure; it lives
 * until glcnn_data_look_destroy, and no longer than the data set. Errors: GLCNN_OUT_OF_MEMORY,
 * GLCNN_IO_ERROR. */
GLCNN_API glcnn_status glcnn_dataset_look(glcnn_dataset *data, struct glcnn_data_look **look,
                                          char error[GLCNN_ERROR_LENGTH]);

/* *look becomes NULL. NULL does nothing. */
GLCNN_API void glcnn_data_look_destroy(struct glcnn_data_look **look);

/* ---- Loaders ---- */

/* All zero: batches of 32 of the training part in its order, as float32. */
struct glcnn_data_loader_parameters {
    glcnn_data_part part;
    uint32_t batch; /* images, up to 65536; 0: 32 */
    uint32_t limit; /* of the part so many images alone, evenly spread over it, number
                         i * count / limit as i goes up to the limit: of each class its share; 0: all */
    /* Of each batch these places alone, for one of several processes that share batches: `share`
     * places from place `share_first` on. 0: all of it. Which image has which place, how many
     * batches an epoch has and what is left out of it stay those of whole batches. */
    uint32_t share_first, share;
    uint32_t threads; /* that decode; 0: one for each processor, 16 at most; up to 256 */
    uint64_t memory;  /* bytes of batches that are ready or in work; two at least. 0: 64 MiB */
    /* Another order each epoch, which follows from seed and epoch alone; images that do not fill a
     * batch are left out of the epoch. Otherwise the order of the part, and the last batch of an
     * epoch has empty places. */
    bool shuffle;
    uint64_t seed;
    /* An epoch has a multiple of so many batches, where they are shuffled: images that do not fill
     * the last group are left out of it. 0: 1. */
    uint32_t group;
    uint64_t step; /* of the first batch, counted from 0 over all epochs: where a run goes on */
    /* uint8_t as they are, not normalised; GLCNN_UNSUPPORTED for data that is no bytes. */
    bool bytes;
    bool interleaved; /* images are [H][W][C]; otherwise [C][H][W] */
    /* No images, for whoever knows them already: batches have labels and indices alone, and nothing
     * is decoded. A picture counts as whole until it was found broken. */
    bool labels_only;
    /* Float32 values are (v - mean[c]) / deviation[c] with v in 0 .. 1 for bytes. Each a value a
     * channel, copied; NULL: 0 and 1. Deviations are above 0. */
    const float *mean, *deviation;
};

/* A batch: of the loader, until its next call. */
struct glcnn_data_batch {
    uint64_t step, epoch;
    uint32_t count;         /* images, empty places included: the loader's batch or share */
    uint32_t filled;        /* places that have an image */
    const float *floats;    /* [count][C][H][W]; NULL where `bytes` was asked for */
    const uint8_t *bytes;   /* the same; NULL where it was not. With `labels_only` both are NULL */
    const uint32_t *labels; /* [count]; 0 where targets are others than classes */
    const float
        *numbers; /* [count][class_count], 0 in empty places; NULL: targets are no numbers */
    const uint8_t *masks; /* [count][H][W], the class of each pixel, GLCNN_DATA_NO_CLASS for none;
                                NULL: targets are no masks */
    /* [count], of each image box_counts of them, of the data set's lifetime; NULL: targets are no boxes */
    const struct glcnn_data_box *const *boxes;
    const uint32_t *box_counts; /* [count], 0 in empty places */
    const uint32_t *indices;    /* [count]: which of the part each is; UINT32_MAX: an empty place,
                                whose image is all zero and label GLCNN_DATA_NO_LABEL */
    const uint32_t *widths;     /* [count]: as glcnn_dataset_size has them, 0 in empty places */
    const uint32_t *heights;    /* [count] */
};

struct glcnn_data_loader_statistics {
    uint64_t batches; /* given */
    uint64_t decoded; /* pictures that were decoded rather than found in memory */
    double waited;    /* seconds that glcnn_data_loader_next waited for images */
    double elapsed;   /* seconds since the first call of glcnn_data_loader_next began */
};

/* Starts the threads; *loader is the caller's, NULL after a failure. `data` must outlive it. Batch
 * number s is number s % steps of epoch s / steps, and the same bits whatever the threads, the
 * memory and the step that the loader began with. Errors: GLCNN_INVALID_ARGUMENT (also for a
 * shuffled part, or its limit, that does not fill one batch, or one group of them, for a share
 * beyond the batch's end, and for an empty part), GLCNN_UNSUPPORTED, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status
glcnn_data_loader_create(glcnn_dataset *data, const struct glcnn_data_loader_parameters *parameters,
                         glcnn_data_loader **loader, char error[GLCNN_ERROR_LENGTH]);

/* Stops the threads. *loader becomes NULL. NULL does nothing. */
GLCNN_API void glcnn_data_loader_destroy(glcnn_data_loader **loader);

/* Batches of an epoch. */
GLCNN_API uint64_t glcnn_data_loader_steps(const glcnn_data_loader *loader);

/* Gives the next batch, without end: epoch follows epoch, and the threads work ahead across its
 * end. Waits where the batch is not ready. After a failure the same error is given again. Errors:
 * GLCNN_IO_ERROR where a file vanished, changed or cannot be read, GLCNN_MALFORMED_DATA with
 * `strict` for one that is broken, and where every picture of the part is damaged; GLCNN_OUT_OF_MEMORY.
 * */
GLCNN_API glcnn_status glcnn_data_loader_next(glcnn_data_loader *loader,
                                              struct glcnn_data_batch *batch,
                                              char error[GLCNN_ERROR_LENGTH]);

/* The share of time that was spent waiting for data is waited / elapsed. */
GLCNN_API struct glcnn_data_loader_statistics
glcnn_data_loader_get_statistics(const glcnn_data_loader *loader);

#ifdef __cplusplus
}
#endif
#endif
