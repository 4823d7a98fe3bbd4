/* A model that is being read: its values by name, and the operators that make them.
 *
 * Room: ONNX models as networks, and back. What a file says becomes values, constants or images, and
 * each node, by its row of a table of operators, a constant or filters of a network. Includes public
 * headers alone, and ONNX's schema.
 *
 * Functions return whether all is well; the first failure leaves its message and status.
 */
#ifndef GLCNN_ONNX_INTERNAL_H
#define GLCNN_ONNX_INTERNAL_H

#include <glcnn/kernels/neuron.h>
#include <glcnn/onnx.h>

#include <onnx.pb-c.h>

#include "onnx/layout.h"
#include "base/name_table.h"

#define ALL_CHANNELS UINT32_MAX

/* The size of a batch that the file leaves open, in shapes: a prime that no other size is or is a
 * multiple of, so that what is computed of it can be told. */
#define OPEN_BATCH 1000003

struct shape {
    uint32_t rank;
    int64_t dims[GLCNN_ONNX_RANK];
};

/* Numbers that are known while reading. Where the first size is OPEN_BATCH times k they are the same
 * for each image of the batch, and those of one are there: shape_stored. */
struct constant {
    struct shape shape;
    size_t count;    /* of numbers that are there */
    float *floats;   /* one of the two */
    int64_t *wholes; /* integers and booleans */
    int type;        /* ONNX's, to whose range whole numbers are wrapped; reals are float32 */
    struct constant *next;
};

enum axis { N, C, H, W, AXES };

/* Numbers of a tensor that follow one another at equal steps along an axis of the image; axis AXES: the
 * same numbers, repeated. */
struct digit {
    uint8_t axis;
    int64_t size, stride; /* in numbers of that axis */
};

/* Two for each axis of a tensor, whose transpositions split axes no further than that. */
#define DIGITS (2 * GLCNN_ONNX_RANK)

/* Where the numbers of a tensor lie: its row-major index, written in digits of these sizes, the slowest
 * first, counts along the axes of an image. A reshape changes nothing of that, a transposition the order
 * of the digits. No digit has size 1, and none goes on where the one before it ends. What is the same
 * for each image of a batch has no digit of axis N. */
struct image {
    glcnn_image_node *node;
    int64_t extent[AXES];
    uint32_t digits;
    struct digit digit[DIGITS];
};

struct value {
    const char *name;
    Onnx__TensorProto *tensor; /* an initialiser that nothing has asked for yet */
    struct shape shape;
    struct constant *constant; /* NULL: it is none */
    struct image image;        /* node NULL: it is none */
    int type;              /* of an image: ONNX's, where its numbers are whole; 0: they are reals */
    const char *parameter; /* of a constant: the initialiser of reals that it is or is computed of;
                              NULL: none */
    const Onnx__NodeProto *node; /* of a constant that was computed: what did; NULL: none */
    bool learns;                 /* its numbers are those of `parameter`, which trains */
    glcnn_kernel *kernel;        /* of a parameter: the first that has its numbers, times `scale` */
    float scale;
    struct value *next; /* of those that wait to be looked at */
    bool is_told;       /* as one that does not train */
    size_t uses;        /* by nodes that are needed, as an output, and of what is the same image */
    size_t turns;       /* how many of those lead only to a transposition from N,H,W,C to N,C,H,W */
    bool is_needed, is_defined;
    bool must_be_known; /* weights, sizes, indices: some reader takes no image for it */
};

struct builder; /* of the record */

struct reader {
    glcnn_device *device;
    struct glcnn_onnx_options options;
    const char *folder; /* where data outside of the file are; NULL: nowhere */
    const Onnx__ModelProto *model;
    Onnx__GraphProto *graph;
    int64_t images;              /* of a batch, by the first input */
    glcnn_image_node *input;     /* the first; learned images have the size of its batch */
    const Onnx__NodeProto *head; /* the layer that options.head_classes adds; NULL: none */
    Onnx__NodeProto *head_mean;  /* what is added before it */
    int64_t opset;
    glcnn_network *network;
    struct value *values;
    glcnn_kernel **shared; /* of several layers */
    size_t shared_count;
    struct name_table names, labels; /* of values by index, and of filters */
    struct constant *constants;
    size_t room;     /* numbers that folding may still make */
    uint64_t work;   /* and steps that it may still take */
    uint64_t filled; /* bytes that ConstantOfShape may still fill */
    struct builder *builder;
    glcnn_status status;
    char text[GLCNN_ERROR_LENGTH];
};

/* ---- Failures ---- */

bool onnx_fail(struct reader *reader, glcnn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool onnx_no_memory(struct reader *reader);

/* The bytes of a model's file, to be freed; the first is looked at before the others are read. */
glcnn_status onnx_load_bytes(const char *path, void **bytes, size_t *size,
                             char reason[GLCNN_ERROR_LENGTH]);

/* ---- Shapes ---- */

/* The product; 1 of no axis. */
int64_t shape_count(const struct shape *shape);
/* Of axes from .. to, without the last. */
int64_t shape_count_between(const struct shape *shape, int from, int to);
/* No size is below 0 and the product is one that numbers can be counted by. */
bool shape_check(struct reader *reader, const char *name, const struct shape *shape);
bool shape_equal(const struct shape *a, const struct shape *b);
/* Of the axis of a shape by a number that may be below 0, counted from the end; -1: none. */
int shape_axis(const struct shape *shape, int64_t axis);
/* By ONNX's rule, which is NumPy's. */
bool shape_broadcast(const struct shape *a, const struct shape *b, struct shape *result);
/* The shape of what a constant of this shape has stored: without the open batch. */
struct shape shape_stored(const struct shape *shape);
/* Is no size the open batch, or a multiple of it? */
bool shape_batch_free(const struct shape *shape);
/* "2x3x4" for messages; the batch is N, multiples of it 4N. */
const char *shape_text(const struct shape *shape, char text[96]);

/* ---- Texts of ONNX ---- */

/* "" where a message has none. */
const char *text_of(const char *text);
/* Is it among these, which end with NULL? */
bool text_is_one_of(const char *text, const char *const *texts);

/* The tensor that a value is said to be; NULL: something else, or nothing is said. */
Onnx__TypeProto__Tensor *described_tensor(const Onnx__ValueInfoProto *info);

/* ---- Types of ONNX ---- */

/* Has a tensor of this type numbers that can be read? Not those of texts, complex numbers, float8 and int4. */
bool type_is_read(int type);
bool type_is_whole(int type);
/* A whole number as one of this type has it: modulo 2^bits. */
int64_t type_wrap(int type, int64_t value);
/* The nearest real number that the type has. */
float type_round(int type, double value);

/* ---- Constants ---- */

/* Of zeros, of float32 or int64. Only the first size may be a multiple of the open batch; numbers are
 * then made for one image. */
struct constant *constant_make(struct reader *reader, const struct shape *shape, bool is_whole);
/* The same of weights that a file only describes by their shape and one number: they may be as large as
 * this machine can hold, whatever the file's size. */
struct constant *constant_make_filled(struct reader *reader, const struct shape *shape,
                                      bool is_whole);
/* As a tensor of the file has it; data in another file are the tensor's own then. */
struct constant *constant_of_tensor(struct reader *reader, Onnx__TensorProto *tensor);
/* Has it all of its numbers, not only those of one image of an open batch? */
bool constant_batch_free(const struct constant *constant);
double constant_number(const struct constant *constant, size_t i);
/* Rounded towards 0 and wrapped where it has whole numbers. */
void constant_set(struct constant *constant, size_t i, double value);
/* Element i of one is element j of the other, of the same kind. */
void constant_copy(struct constant *to, size_t i, const struct constant *from, size_t j);
void constants_free(struct reader *reader);

/* ---- A node being read ---- */

struct operator_row;

struct call {
    struct reader *reader;
    const Onnx__NodeProto *node;
    const struct operator_row *row;
};

/* An operator. Either function may be NULL: with only constants it is folded, otherwise it makes
 * filters. */
struct operator_row {
    const char *name;
    bool (*lower)(struct call *call);
    bool (*fold)(struct call *call);
    int kind;           /* the families' own */
    const char *kernel; /* of glcnn, where the family has one for each operator */
};

/* Rows of one family, the last one without a name. */
extern const struct operator_row onnx_activation[], onnx_arithmetic[], onnx_comparison[],
    onnx_convolution[], onnx_folding[], onnx_folding_axes[], onnx_folding_indices[],
    onnx_folding_shapes[], onnx_linear[], onnx_normalization[], onnx_pooling[], onnx_quantization[],
    onnx_reduction[], onnx_resizing[], onnx_shaping[], onnx_slicing[];

const struct operator_row *operator_find(const char *name);

/* "Conv \"name\": MESSAGE" */
bool op_fail(struct call *call, glcnn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool op_unsupported(struct call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Refuses an operator that is read where all of its inputs are constants. */
bool op_only_constants(struct call *call);

/* The value of an input; NULL where it is left out. */
struct value *op_input(const struct call *call, size_t i);
struct value *op_output(const struct call *call, size_t i);
/* An input that is a constant with all of its numbers, or left out where it need not be there; fails
 * otherwise. */
bool op_constant(struct call *call, size_t i, bool needed, const struct constant **constant);
/* An input that is an image, or becomes one, of a constant's numbers (operand.h). */
bool op_image(struct call *call, size_t i, struct value **value);
/* Whole numbers of a constant input, of an attribute where the operator's version has them there. */
bool op_wholes(struct call *call, const char *attribute, size_t input, size_t most, int64_t *values,
               size_t *count);

/* What output i is. */
bool op_give_constant(struct call *call, size_t i, struct constant *constant);
bool op_give(struct call *call, size_t i, const struct shape *shape, const struct image *image);
/* Labels the filter that makes the image; `suffix` NULL: it is the node's own. False where it could
 * not be made, with the library's message. */
bool op_made(struct call *call, glcnn_image_node *node, const char *suffix);
/* The filter's vectors do not train. */
void op_freeze(glcnn_image_node *node);
/* The value that is the constant's parameter; NULL: it has none. */
struct value *op_parameter(const struct call *call, const struct value *value);
/* Notes that the constant does not train here, where it is a parameter of the model. */
bool op_note_frozen(struct call *call, const struct value *value, const char *reason);
/* The same of all parameters that the constant is computed of. */
bool op_note_sources(const struct call *call, const struct value *value, const char *reason);

/* Has a tensor of this shape numbers, and no more than can be counted? */
bool op_shape(struct call *call, const struct shape *shape);

/* Attributes; what is not there is `otherwise`. */
int64_t attribute_int(const struct call *call, const char *name, int64_t otherwise);
float attribute_float(const struct call *call, const char *name, float otherwise);
/* At most `most` whole numbers; false where there are more. *count stays where there are none. */
bool attribute_ints(struct call *call, const char *name, size_t most, int64_t *values,
                    size_t *count);
/* Is it this text? Where there is none, whether `otherwise` is. */
bool attribute_is(const struct call *call, const char *name, const char *text,
                  const char *otherwise);
const Onnx__AttributeProto *attribute_find(const struct call *call, const char *name);

/* ---- Where numbers lie (place.c) ---- */

/* The image that a tensor of the shape is by custom, without a node: N,C,H,W; without a batch what
 * ends with W. More of the first axis than the images of a batch are channels, or rows of N,C. */
struct image place_custom(const struct reader *reader, const struct shape *shape);
struct batch;
/* The image that it is where its batch is elsewhere. */
bool place_custom_batch(struct call *call, const struct shape *shape, struct batch batch,
                        struct image *image);
/* view_arranged, with the message. */
bool place_arranged(struct call *call, const struct shape *shape, struct batch batch,
                    const uint8_t axis[GLCNN_ONNX_RANK], struct image *image);
/* The same of an input, whose first axis is its batch. */
struct image place_custom_input(const struct reader *reader, const struct shape *shape);
/* Axis i of the tensor is exactly this axis of that image; AXES: it shares one. */
enum axis place_axis(const struct reader *reader, const struct shape *shape, int i);
/* Moves the numbers where those of the other image are, if they are not; `wanted` needs no node. */
bool place_move(struct call *call, struct image *image, const struct image *wanted);
/* Moves them so that each axis of the tensor lies along that axis of the image, the later of those that
 * share one the faster; the batch stays N. */
bool place_arrange(struct call *call, struct image *image, const struct shape *shape,
                   const uint8_t axis[GLCNN_ONNX_RANK]);
/* Puts the axes before `channels` of them to the channels, and all others to rows and columns, wherever
 * there. The batch must be one of the former. */
bool place_pixels(struct call *call, struct image *image, const struct shape *shape, int channels);
/* Makes each axis of the tensor digits of its own, which end before end[i]; moves numbers where some are
 * split otherwise. */
bool place_split(struct call *call, struct image *image, const struct shape *shape,
                 uint32_t end[GLCNN_ONNX_RANK]);
/* An input, its numbers where its shape has them by custom; from three axes on refused where the first
 * has more than the images of the batch, which would share one. */
bool place_input(struct call *call, size_t i, struct value **value);
/* Axes from .. to of the tensor, together, are the channels: moved where they are not. */
bool place_channels(struct call *call, struct image *image, const struct shape *shape, int from,
                    int to);
/* The axis of the image that axis i of the tensor exactly is; AXES where there is none. */
enum axis place_find(const struct image *image, const struct shape *shape, int i);
/* Is axis i of the tensor one digit, the slowest of an axis of the image? A range of its numbers is one of
 * that axis then, which may be as long as `stride` for each. */
bool place_find_slow(const struct image *image, const struct shape *shape, int i,
                     struct digit *digit);
/* Of such an axis: it has `size` numbers now. */
void place_cut_slow(struct image *image, const struct shape *shape, int i, int64_t size);
/* Axes from .. to of the tensor, which are exactly that axis of the image, have `size` numbers now. */
void place_resize(struct image *image, const struct shape *shape, int from, int to, enum axis axis,
                  int64_t size);
/* Does the constant have a number for each channel of what has `shape`, or one for all? */
bool place_spreads(const struct reader *reader, const struct shape *constant,
                   const struct shape *shape);
/* The shape with axes of one number before it, up to this rank. */
struct shape shape_widened(const struct shape *shape, uint32_t rank);
/* What output i is: the node's image as `shape` has it by custom. */
bool place_give(struct call *call, size_t i, const struct shape *shape, glcnn_image_node *node);

/* ---- Vectors of filters (vectors.c) ---- */

/* One axis that lies as it is. */
struct layout layout_plain(size_t count, bool counts_outputs);
/* Fills the vector of the filter that makes `node`, `count` long, and notes it in the record. */
bool vector_set(struct call *call, glcnn_image_node *node, const char *vector, size_t count,
                const struct value *value, const struct layout *layout);
/* Only the note, of a vector that has these numbers. */
bool vector_note(struct call *call, glcnn_image_node *node, const char *vector,
                 const struct value *value, const struct layout *layout);
/* Only the numbers: those of the value, or what is computed of each. Refused, by the value's name,
 * where glcnn_kernel_wrong_value has one. */
bool vector_put(struct call *call, glcnn_image_node *node, const char *vector, size_t count,
                const struct value *value, const struct constant *numbers,
                const struct layout *layout);

/* A neuron whose slopes, one or one for each channel, are `scale` times the constant (activation.c); NULL:
 * it could not be made. */
glcnn_image_node *op_slopes(struct call *call, glcnn_image_node *x, glcnn_neuron_type type,
                            const struct value *value, float scale);

/* ---- Repeating (repeating.c) ---- */

bool lower_expand(struct call *call);
bool lower_tile(struct call *call);

/* ---- Sums so far (cumulative.c) ---- */

bool lower_cumulative_sum(struct call *call);
bool fold_cumulative_sum(struct call *call);

/* ---- Truths (comparison.c) ---- */

/* The attribute of the Where that chooses between what the branches of an If give. */
#define OF_BRANCHES "of_branches"

/* The image becomes 1 where it is not 0. */
bool op_truths(struct call *call, struct image *image);

/* ---- Folding ---- */

/* A function of each number, by the operator's name (folding.c). */
bool fold_unary(struct call *call);
/* Of two, or for Sum, Mean, Max and Min of all. */
bool fold_binary(struct call *call);
bool fold_clip(struct call *call);
bool fold_where(struct call *call);
/* Numbers along one axis, by their indices (folding_index.c). */
bool fold_gather(struct call *call);
/* By the operator's name (folding_reduce.c). */
bool fold_reduce(struct call *call);
bool fold_argument(struct call *call);
bool fold_soft_max(struct call *call);
bool fold_gelu(struct call *call);
/* Normalisations (folding_normalization.c). */
bool fold_batch_normalization(struct call *call);
bool fold_instance_normalization(struct call *call);
bool fold_layer_normalization(struct call *call);
/* Products (folding_linear.c). */
bool fold_matmul(struct call *call);
bool fold_gemm(struct call *call);
bool fold_einsum(struct call *call);
/* Tensors of another shape (folding_shape.c). */
bool fold_pad(struct call *call);
bool fold_blocks(struct call *call);
/* Does the operator keep a constant's open batch as it is? */
bool fold_keeps_batch(const char *operator);

/* ---- The file ---- */

/* Is no message within others deeper than files have it? Says so otherwise. */
bool nesting_check(struct reader *reader, const uint8_t *bytes, size_t size);

#endif
