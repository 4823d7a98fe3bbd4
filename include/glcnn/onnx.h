/* ONNX models: a file becomes a network, and a network a file.
 *
 * Part of libglcnn_onnx, not of libglcnn, and not included by glcnn/glcnn.h.
 *
 * Read are models of opset GLCNN_ONNX_OLDEST_OPSET to GLCNN_ONNX_NEWEST_OPSET, their nodes in any
 * order. Images are float32 here: inputs, outputs and weights of float16, bfloat16 and double too,
 * and casts among these types change nothing, so that what a file would round is not rounded. An
 * input of whole numbers or truths is an image of as many reals, of which Cast makes one that other
 * operators read; before it numbers may only be moved or compared. Functions of the model become their
 * nodes, and so does the branch of an If whose condition is known; where it is computed both run, and each
 * image of a batch has the results of the one that it takes. Shapes are inferred, and what depends
 * on shapes and constants alone is computed while reading: reals in float32, rounded after each
 * operator, whole numbers by ONNX's rules, for a batch of any size. Of constants more operators are
 * read than of images. What remains becomes filter nodes, each with the label of its ONNX node, or
 * of that node's first output where it has no name. Of a node that becomes several filters the one
 * that does the work has that label, the others have it with "/" and a word behind it.
 *
 * Quantised models infer: QuantizeLinear rounds, of one scale and zero point, to 8 or 16 bits that
 * are float32 here, and ConvInteger, MatMulInteger, QLinearConv and QLinearMatMul are products of reals
 * between roundings. DynamicQuantizeLinear has a scale for each image of a batch, not for all. In
 * training a gradient goes straight through the rounding of QuantizeLinear, and is 0 where a number is held;
 * weights that were quantised train as reals.
 *
 * An input N,H,W,C that is transposed to N,C,H,W before anything else but arithmetic with constants
 * looks at it, as Keras and TensorFlow have pictures, is the image whose channels are C. A tensor
 * N,C,H,W is an image, N its batch, which may be of any size whatever the file says, and without a
 * batch axis (glcnn_onnx_options) N is 1. N,C is an image of 1x1 pixels, N,C,L of one row; axes
 * beyond four share the image's rows. Tensors of other axes, as attention and windows have, are
 * images of the same batch too: an axis may be the batch times something, and the batch any axis,
 * but each image of it is independent. Reshapes, transpositions, Expand and Tile move nothing where
 * the node behind them can take the numbers as they lie; what must move moves in one pass, by up to
 * six axes; weights are put in the order of our channels instead. A constant of any shape is an
 * image ("learned_image") where operators want one; its infinities, as masks have, are numbers of
 * 1e19. Einsum takes two tensors. Comparisons are made by the sign of the difference: 0 or 1, of
 * NaNs and of two equal infinities NaN, and numbers nearer than 1.2e-38 are equal; they pass no gradient
 * on. Where hides infinities of what it does not choose, and no NaN. Nothing that training needs is
 * folded: a batch normalisation keeps its gamma, beta and running statistics as vectors of a kernel
 * of its own. A dropout is left out, as it is where nothing is trained. A file that was written in
 * training, with training_mode, is read as any other: results are those of kept statistics,
 * training has those of its batches, and what is written of it is no longer in training.
 *
 * What trains is what initialisers hold: weights, biases, gamma and beta; slopes of PRelu; numbers
 * that Add, Sub, Mul and Div (as what is divided) have, one for each channel or one for all, which
 * become filters "neuron" of type scale and shift, biases, or a convolution of each channel by
 * itself; of other shapes, and where MatMul, Concat or Gather read them, learned images: positions,
 * class tokens, tables of relative positions. A mask, of 0 and one number of -50 or less, does not;
 * of other constants a file does not say whether they are buffers. Layers that multiply a constant by
 * matrices that train, as those of Swin v2's positions, train, and so does what Exp, Clip, Sigmoid,
 * Softplus or Tanh is taken of, unless weights come of it. What a node Constant holds, or what else is
 * computed of constants, does not train there but as weights of convolutions and products, nor does
 * an initialiser of one number without axes, unless the file is of PyTorch's exporter and the name
 * one of its parameters.
 * Initialisers that take part and do not train, or whose copies in several filters train apart, are
 * listed in the record: `frozen`. Slopes, scales, shifts and learned images that several nodes have
 * are one vector of one kernel, and so are weights and biases of convolutions that are set alike;
 * weights of MatMul and Gemm that several nodes have train apart.
 *
 * Reading trusts nothing: a file that is damaged, that has cycles, missing values, sizes that
 * overflow, or data elsewhere, gives a message and no network. Nothing recurses without bound, and
 * memory and time are in proportion to the file, but for 8 million numbers and 33 million steps of
 * sums that any file may compute, and for weights of ConstantOfShape, of which a file has only the
 * shapes: they may take a quarter of the memory that is free. All operators that have no kernel are found before the first
 * node is made, and the message names the first of them with its node.
 *
 * Not thread-safe: as the device.
 */
#ifndef GLCNN_ONNX_H
#define GLCNN_ONNX_H

#include <glcnn/node.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Axes of a tensor at most. */
#define GLCNN_ONNX_RANK 8

/* Versions of ONNX's operators that are read. */
#define GLCNN_ONNX_OLDEST_OPSET 6
#define GLCNN_ONNX_NEWEST_OPSET 25

/* How a file is read. All zero: the defaults. */
struct glcnn_onnx_options {
    /* Pixels of inputs N,C,H,W whose size the file leaves open (symbols, or 0 or less); 0: such an
     * input is refused, with a message. Sizes that the file has stay. */
    uint32_t width, height;
    uint32_t feature_channels; /* the same for channels */
    bool without_batch; /* the first axis of inputs is no batch: tensors of up to three axes are
                                  one image, C,H,W, or H,W, or W */
    /* A layer of so many scores is added behind the model's last output, or behind the mean of each of
     * its channels, and takes the place of all outputs: Gemm "head", of weights 0, with whose nodes the
     * record's file is longer. 0: none is added. At most 65535. */
    uint32_t head_classes;
    /* The value of the file, an output of a node, that is the model's only output in place of those that
     * the file names: nodes, initialisers and inputs that it does not need are neither read nor in the
     * record's file. With head_classes the layer comes behind it. NULL: the file's outputs. */
    const char *output;
    /* Data of tensors may lie in files outside of the model's folder: an absolute path, one with "..",
     * a link that leads out. Of a model from elsewhere such a path is a way to read this machine. */
    bool external_links;
    /* A value whose type the file states, as an input or among its value_info: the model's only input, in place
     * of those that the file names and of what computes it. NULL: the file's inputs. */
    const char *input;
    /* More outputs than one, as `output` has one, which is NULL then; the model has them in this order. */
    const char *const *outputs;
    size_t output_count;
};

/* How the numbers of a tensor lie in an image: in the tensor's row-major order the axes of the image
 * follow one another as `order` says, from the slowest on. {N,C,H,W}: as ONNX has images. */
enum glcnn_onnx_axis {
    GLCNN_ONNX_AXIS_N = 0,
    GLCNN_ONNX_AXIS_C = 1,
    GLCNN_ONNX_AXIS_H = 2,
    GLCNN_ONNX_AXIS_W = 3
};

/* An input or an output of the model. */
struct glcnn_onnx_image {
    const char *name;       /* in the file, and the handle of the node */
    glcnn_image_node *node; /* of the network that was read; NULL of a record that was put together
                               from a file */
    uint32_t rank;
    int64_t dimensions[GLCNN_ONNX_RANK];      /* as the file has them; -1: the batch, of any size */
    uint32_t width, height, feature_channels; /* of the image */
    uint8_t order[4];                         /* GLCNN_ONNX_AXIS_N .. GLCNN_ONNX_AXIS_W */
};

/* What an initialiser (or a Constant, or what was computed of constants) became: one vector of one
 * filter, all of it or a part. Where it is seen as axes of the sizes `size`, row-major, so that
 * their product is its count of elements,
 *
 *   vector[offset + i0 stride[0] + i1 stride[1] ...] = scale * element(i0, i1, ...)
 *
 * An initialiser of one element that fills a vector has one axis with its size and a stride of 1
 * only where the vector has one element too. */
struct glcnn_onnx_parameter {
    const char *name;   /* of the tensor in the file, or of the value that the node reads */
    const char *filter; /* label of the filter */
    const char *vector; /* of its kernel: "weights", "biases", "gamma", "neuron_data" ... */
    uint32_t rank;      /* the shape in the file */
    int64_t dimensions[GLCNN_ONNX_RANK];
    uint32_t axes;
    int64_t size[GLCNN_ONNX_RANK], stride[GLCNN_ONNX_RANK], offset;
    float scale;              /* never 0 */
    int32_t output_axis;      /* of the axes: the one that counts the filter's outputs; -1: none */
    int32_t output_dimension; /* the same in `dimensions` */
};

/* An initialiser that takes part in what the network computes and that does not train, or not as it
 * does in the framework that the file came from. */
struct glcnn_onnx_frozen {
    const char *name;
    const char *reason; /* a clause: "what divides does not train" */
};

/* What is known of a model beyond its network; all that glcnn_onnx_write needs to give the file back.
 * Strings, arrays and bytes belong to whoever made the struct. */
struct glcnn_onnx_record {
    const struct glcnn_onnx_image *inputs, *outputs;
    size_t input_count, output_count;
    const struct glcnn_onnx_parameter *parameters; /* in the order of filters */
    size_t parameter_count;
    const struct glcnn_onnx_frozen *frozen; /* each name once */
    size_t frozen_count;
    const uint8_t *skeleton; /* the ModelProto, without the data of `parameters` */
    size_t skeleton_size;
};

/* An output's node is of that output alone, and the result of a filter: what is an input, or another
 * output too, goes through a filter that changes nothing. */

/* Reads a model of `size` bytes, or of a file, for which data that lie in other files of its folder,
 * or below it, are found too: regular ones, whose links lead to no other place. No more of them is read
 * than a tensor has; the record has them as if they had been in the file. glcnn_file_load_from_fd has the
 * bytes of a file that is open. `options` may be
 * NULL. The caller owns *network and *record, which are apart from one another; `record` may be NULL:
 * none is wanted. After a failure both are NULL and `error`, if not NULL, has the message.
 * Errors: GLCNN_MALFORMED_DATA; GLCNN_UNSUPPORTED for an operator, an attribute, a type or an opset
 * that is not read, with the node's name; GLCNN_INVALID_ARGUMENT for an option; GLCNN_IO_ERROR;
 * GLCNN_OUT_OF_MEMORY; those of nodes. */
GLCNN_API glcnn_status glcnn_onnx_read(glcnn_device *device, const uint8_t *bytes, size_t size,
                                       const struct glcnn_onnx_options *options,
                                       glcnn_network **network, struct glcnn_onnx_record **record,
                                       char error[GLCNN_ERROR_LENGTH]);
GLCNN_API glcnn_status glcnn_onnx_load(glcnn_device *device, const char *path,
                                       const struct glcnn_onnx_options *options,
                                       glcnn_network **network, struct glcnn_onnx_record **record,
                                       char error[GLCNN_ERROR_LENGTH]);

/* Releases a record that the functions above made; *record becomes NULL. */
GLCNN_API void glcnn_onnx_record_destroy(struct glcnn_onnx_record **record);

/* Writes the network as an ONNX model: with a record the record's file, its initialisers taken from
 * the network's filters, which are found by their labels. What its nodes only move on the way to a filter,
 * and nobody else reads, is written back as it lay there, under its name; what they compute otherwise
 * takes their place. Nodes and initialisers that no output needs are left out. A filter may have another number of outputs
 * than the file's: initialisers and outputs of the model follow. *bytes is to be released with
 * glcnn_onnx_destroy; after a failure it is NULL and `error`, if not NULL, has the message.
 *
 * `record` NULL: a graph of opset 14 is made of the network's forward filters, in inference: losses and
 * dropout are left out. All values are N,C,H,W, the batch N of any size; an output of one pixel is N,C.
 * Inputs are the images that no filter makes and that one reads. `inputs` must have the size of each
 * (width, height, feature_channels): the row that has its `node`, or of the rows without a node the next
 * in the order of glcnn_network_image. Outputs are results that nothing reads, and those that are marked
 * by glcnn_image_node_set_export_from_graph, in that order. Inputs are named by their row, else by their
 * handle, else "input_1" and so on; outputs by their handle, else by their filter's label with ".output"
 * behind it. Nodes have the labels of their filters; a kernel that becomes several nodes has its label on
 * the last. Names are unique: labels that repeat get a number.
 *
 * Written is each kernel that ONNX has an operator for, or a short composition of operators that
 * computes the same; a neuron that is fused into a kernel is a node of its own, or several. Not written are
 *
 *   augment_color, augment_geometry     they are for training
 *   frame_rgb, frame_yuyv, frame_nv12   no operator reads frames of cameras
 *   crop_and_resize_bilinear, and _regions   RoiAlign samples other positions
 *   box_iou                                  no operator of ONNX: it serves a training's targets
 *   local_contrast_normalization        with an alpha other than 0: deviations within windows
 *   pooling_average                     edge mode clamp where a window has no pixel
 *   batch_normalization                 flags always: statistics of the batch in inference
 *   resize_nearest, resize_linear       a size that is not that of the scale beside it
 *   convolution_transpose               a size by the state of a convolution
 *   strided_view                        strides that are not multiples of one another
 *   neuron exponential, logarithm       a base c that is neither above 0 nor -1
 *
 * and what only encodes by hand need: clip rectangles, offsets in z and of upsampling and instance
 * normalisation, destination channel offsets, strides above 1 of arithmetic, and some channels of the
 * sources of a concatenation.
 *
 * Errors: GLCNN_INVALID_ARGUMENT (a filter that the record names and the network lacks, a vector of
 * another length, an input without a size, two inputs or outputs of one name), GLCNN_INVALID_STATE for a
 * vector with a value that is wrong (glcnn_kernel_wrong_value), as a training that diverged leaves it, or
 * infinite in the file's type of it, GLCNN_UNSUPPORTED for a
 * filter that is not written, with its label and the reason; those of glcnn_kernel_prepare_destination
 * where sizes do not fit together;
 * GLCNN_MALFORMED_DATA for a skeleton that is none, GLCNN_OUT_OF_MEMORY, GLCNN_DEVICE_LOST. */
GLCNN_API glcnn_status glcnn_onnx_write(glcnn_network *network,
                                        const struct glcnn_onnx_record *record,
                                        const struct glcnn_onnx_image *inputs, size_t input_count,
                                        uint8_t **bytes, size_t *size,
                                        char error[GLCNN_ERROR_LENGTH]);
GLCNN_API void glcnn_onnx_destroy(uint8_t *bytes);

/* ---- Files for other programs ---- */

/* A result of the network that the file gives. */
struct glcnn_onnx_output {
    glcnn_image_node *node; /* the result of a forward filter */
    const char *name;
    bool is_inner; /* the value has the name, and is no output */
};

/* An entry of a file's metadata. */
struct glcnn_onnx_entry {
    const char *key, *value;
};

/* What a file takes for pictures. The network has (v - mean) / deviation of v in 0 .. 1, red first, and the file
 * computes that of */
typedef enum glcnn_onnx_pixels {
    GLCNN_ONNX_PIXELS_NORMALISED = 0, /* normalised pictures, as they are */
    GLCNN_ONNX_PIXELS_UNIT,           /* float32 in 0 .. 1 */
    GLCNN_ONNX_PIXELS_BYTES           /* uint8 */
} glcnn_onnx_pixels;

struct glcnn_onnx_preprocessing {
    glcnn_onnx_pixels pixels;
    const char *
        input; /* name of what the file takes; the value that the network begins with keeps its own */
    bool is_blue_first; /* of three channels, as OpenCV has pictures: their order is turned */
    const float *mean, *deviation; /* by channel; with NORMALISED neither is read */
    uint32_t channels;             /* of the network's input, N,C,H,W, which is of float32 */
};

/* How a detector's boxes leave the file. Its outputs are, for each grid, the four distances before their soft plus,
 * to the left, top, right and bottom, and the scores before their sigmoid. The others cut boxes at the picture's
 * edges, in pixels, and are float32 but for whole numbers. */
typedef enum glcnn_onnx_boxes {
    GLCNN_ONNX_BOXES_SPLIT = 0, /* as they are */
    /* "output", N x (4 + classes) x places: the centre's x and y, width and height, then probabilities. */
    GLCNN_ONNX_BOXES_YOLO,
    /* "boxes", found x 4: left, top, right, bottom; "scores", their probabilities; "classes" and "pictures", int64:
     * those that NonMaxSuppression leaves, by pictures and classes, in each the likeliest first. */
    GLCNN_ONNX_BOXES_NMS
} glcnn_onnx_boxes;

#define GLCNN_ONNX_GRIDS 8 /* at most */

/* A grid of places: (x, y) is the point (x + 1/2, y + 1/2) times the stride, in which distances are counted. */
struct glcnn_onnx_grid {
    uint32_t stride, columns, rows;
};

struct glcnn_onnx_detector {
    glcnn_onnx_boxes boxes;
    uint32_t width, height, classes; /* of pictures */
    const struct glcnn_onnx_grid *grids;
    uint32_t grid_count; /* outputs are twice as many: distances and scores of each in turn */
    float score,
        overlap; /* NMS: what is less likely, or of a class and overlaps a likelier one more, goes */
    uint32_t most; /* NMS: boxes of a class */
};

/* How a model is written. All zero: as glcnn_onnx_write does without inputs. */
struct glcnn_onnx_write_options {
    const struct glcnn_onnx_record *record; /* as there */
    const struct glcnn_onnx_image *inputs;  /* the same */
    size_t input_count;
    /* Without a record: the file's outputs, and what they need is all that is written. 0: as there. */
    const struct glcnn_onnx_output *outputs;
    size_t output_count;
    /* The first axis of inputs and outputs, of a model whose first axis of inputs is open or has that size. 0: it
     * stays as it is. */
    uint32_t batch;
    const struct glcnn_onnx_preprocessing *preprocessing; /* NULL: none; of a model of one input */
    const struct glcnn_onnx_detector *detector;           /* NULL: it is none */
    /* They take the place of entries of the same keys that a record's file has; others stay. */
    const struct glcnn_onnx_entry *entries;
    size_t entry_count;
};

/* Writes the network as an ONNX model by these options; otherwise as glcnn_onnx_write. Errors: the same, and
 * GLCNN_INVALID_ARGUMENT for options that do not fit the model. */
GLCNN_API glcnn_status glcnn_onnx_write_with(glcnn_network *network,
                                             const struct glcnn_onnx_write_options *options,
                                             uint8_t **bytes, size_t *size,
                                             char error[GLCNN_ERROR_LENGTH]);

/* The metadata of a model, of its bytes or of its file: *entries is one array of *count, to be released with glcnn_onnx_metadata_destroy, and NULL
 * after a failure. Errors: GLCNN_MALFORMED_DATA, GLCNN_IO_ERROR, GLCNN_OUT_OF_MEMORY. Thread-safety: safe. */
GLCNN_API glcnn_status glcnn_onnx_read_metadata(const uint8_t *bytes, size_t size,
                                                struct glcnn_onnx_entry **entries, size_t *count,
                                                char error[GLCNN_ERROR_LENGTH]);
GLCNN_API glcnn_status glcnn_onnx_load_metadata(const char *path, struct glcnn_onnx_entry **entries,
                                                size_t *count, char error[GLCNN_ERROR_LENGTH]);
GLCNN_API void glcnn_onnx_metadata_destroy(struct glcnn_onnx_entry *entries, size_t count);

/* ---- int8 ----
 *
 * A model of glcnn_onnx_write without a record as one of QuantizeLinear and DequantizeLinear, which runtimes
 * compute in int8: ONNX Runtime, TensorRT and others, and converters to .tflite. In these steps: it is prepared
 * (batch normalisation folded), the ranges of its values are measured, or known from training, and it is
 * written. glcnn_onnx_read reads what is written back: rounding nodes between convolutions, the same arithmetic
 * on the device. */

/* A value that becomes int8. It is q = round(x / scale) + zero_point, held within -128 .. 127, of
 *   least' = min(least, 0), most' = max(most, 0), the hull of all values that share a scale,
 *   scale = (most' - least') / 255, and 1 where both are 0,   zero_point = round(-128 - least' / scale). */
struct glcnn_onnx_range {
    const char *name;  /* of the value */
    const char *node;  /* that makes it, by its name; NULL: it is an input of the model */
    float least, most; /* to be set; 0 at first */
    /* What glcnn_onnx_quantize made of it. Scale 0: the value is not stored, because a rectifier alone
     * reads it, whose range begins at 0, and int8 holds what the rectifier would. */
    float scale;
    int32_t zero_point;
};

/* A model that is prepared. Bytes, arrays and strings are its own. */
struct glcnn_onnx_quantization {
    uint8_t *bytes; /* the model in float32 that becomes int8 */
    size_t size;
    struct glcnn_onnx_range *ranges;
    size_t range_count;
    /* Weights are stored as whole numbers from its negative to it: 1 .. 127, and 127 at first. 63 for x86
     * processors without VNNI, whose instruction for products of bytes adds two of them up in 16 bits: larger
     * weights overflow there, in ONNX Runtime too (it calls this reduce_range). */
    int32_t largest_weight;
    const char *notes; /* lines on what could not be done as usual; "": nothing */
};

/* Prepares a model of opset 13 or later whose values are N,C,H,W. Batch normalisations are folded into the
 * convolution, transposed convolution or Gemm before them, where nothing else reads that; another one becomes a
 * convolution of each channel by itself, and the notes say so. int8 are then
 *
 *   Conv, ConvTranspose, Gemm, MatMul of an initialiser   weights too: symmetric, of one scale for each
 *       output channel, largest / largest_weight (1 / largest_weight where all are 0), in transposed
 *       convolutions of groups one scale for all; biases int32 of the scale of the source times that of the weights. A scale of
 *       weights is larger where a bias would not fit into int32
 *   MaxPool, AveragePool, Resize, Reshape, Flatten, Transpose, Squeeze, Unsqueeze, Slice, Split, Pad, Expand,
 *       Identity, DepthToSpace, SpaceToDepth   the result has the scale of the source
 *   Concat                                     the sources have the scale of the result
 *   Add, Sub, Mul, MatMul, PRelu               each source and the result a scale of its own, constants too
 *   Relu, Clip        vanish where the range of their result is one that int8 holds by itself
 *   Sigmoid, Tanh     the ranges -0 .. 255 / 256, and -1 .. 127 / 128, whatever was measured
 *   LeakyRelu, Elu, HardSigmoid, HardSwish, Softmax, GlobalAveragePool, ReduceMean   of scales of their own
 *
 * between the first and the last layer of weights; before the first those that move pixels, and behind the last
 * those, means, rectifiers and additions without constants. All others stay float32: preparation of pictures, and
 * what decodes answers. Outputs are float32.
 * *quantization is to be released with glcnn_onnx_quantization_destroy, and NULL after a failure.
 * Errors: GLCNN_MALFORMED_DATA, GLCNN_UNSUPPORTED for an opset below 13 and a model without such a layer,
 * GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_onnx_quantization_create(const uint8_t *bytes, size_t size,
                                                      struct glcnn_onnx_quantization **quantization,
                                                      char error[GLCNN_ERROR_LENGTH]);
GLCNN_API void glcnn_onnx_quantization_destroy(struct glcnn_onnx_quantization **quantization);

/* Writes the int8 model by the ranges, of which it fills in scales and zero points. *made is to be released with
 * glcnn_onnx_destroy, and NULL after a failure. Errors: GLCNN_INVALID_ARGUMENT for a range that is not finite or
 * whose least is above its most, with its name, and a largest_weight that is none; those of glcnn_onnx_quantization_create. */
GLCNN_API glcnn_status glcnn_onnx_quantize(struct glcnn_onnx_quantization *quantization,
                                           uint8_t **made, size_t *made_size,
                                           char error[GLCNN_ERROR_LENGTH]);

/* The model with these values as its outputs, in place of its own: to look at what it computes on the way, as
 * the ranges need. Errors: GLCNN_INVALID_ARGUMENT for a name that is neither an input nor made by a node;
 * GLCNN_MALFORMED_DATA, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_onnx_expose(const uint8_t *bytes, size_t size,
                                         const char *const *names, size_t count, uint8_t **made,
                                         size_t *made_size, char error[GLCNN_ERROR_LENGTH]);

/* The operators that are read, in the order of names, for tools and documents; NULL beyond the last.
 * Thread-safety: safe. */
GLCNN_API const char *glcnn_onnx_operator(size_t index);

#ifdef __cplusplus
}
#endif
#endif
