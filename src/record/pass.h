/* A pass: one shader body with its textures, images, buffers, defines, uniforms and the
 * invocations wanted. Kernels describe passes; assemble.c assembles the shader around the body;
 * command_buffer.c issues them. No kernel makes a GL call. `struct pass` has a part for each stage:
 * what the kernel describes, what it offers to fusion, for whom it is, how it is issued, and who
 * looks at it. command_buffer.h tells the way of a pass.
 *
 * For a texture bound as NAME the body can call
 *     vec4 NAME(int x, int y, int slice, int image)         inside the image only
 *     vec4 NAME_zero(int x, int y, int slice, int image)    0 outside
 *     vec4 NAME_clamp(int x, int y, int slice, int image)   nearest pixel outside
 *     vec4 NAME_edge(int x, int y, int slice, int image)    one of the two, by define EDGE_CLAMP
 *     vec4 NAME_at(ivec3 place, int x, int y, int slice)    inside only; place is
 *                                                           NAME_place(slice, image), found once
 *                                                           for many pixels of a slice
 * for an image bound as NAME
 *     void store_NAME(int x, int y, int slice, int image, vec4 value)
 * and for either the ints NAME_width, NAME_height, NAME_channels, NAME_slices, NAME_images.
 * Slices and images count from the start of the view. Components beyond the last channel read as 0
 * and are stored as 0. A buffer bound as NAME is an array NAME[] of its element type.
 * glsl/record/view.glsl, texture.glsl, edges.glsl and image.glsl are what these are made of.
 * The body defines what runs once for every point of the grid,
 *     void invocation(ivec2 at, int slice, int image)       of a grid of pass_grid_over
 *     void invocation(ivec3 at)                             of any other
 * With pass->cooperative it runs for whole work groups (it may use barrier() and shared memory, and
 * points beyond grid_size(), an ivec3, must not store).
 */
#ifndef GLCNN_PASS_H
#define GLCNN_PASS_H

#include "device/buffer.h"
#include "device/storage.h"

#define PASS_TEXTURES    16
#define PASS_IMAGES      4
#define PASS_BUFFERS     16
#define PASS_DEFINES     24
#define PASS_UNIFORMS    128
#define PASS_LIBRARIES   96
#define PASS_VIEW_WORDS  12 /* uniform words of one view; the second half places its layers */
#define PASS_ENTRY_WORDS 20
#define PASS_WORDS       (6 + (PASS_TEXTURES + PASS_IMAGES) * PASS_VIEW_WORDS + PASS_UNIFORMS)

/* Of an image, or of a part of one. */
struct extent {
    uint32_t width, height, channels, images;
};

/* A part of a storage that a pass sees as an image: layer = first_layer + image*layer_stride +
 * slice. Does not hold a reference. */
struct image_view {
    struct storage *storage;
    uint32_t first_layer, layer_stride;
    uint32_t width, height, channels, images;
    bool masked; /* components beyond the last channel hold another's values: read them as 0 */
};

/* Bytes of its texels. */
uint64_t view_bytes(const struct image_view *view);

static inline struct extent view_extent(const struct image_view *view)
{
    return (struct extent){view->width, view->height, view->channels, view->images};
}

/* A vector: elements of 4 bytes in a buffer. Does not hold a reference. */
struct vector_view {
    struct glcnn_buffer *buffer; /* NULL: not given */
    size_t offset, count;        /* in elements */
    bool is_part; /* a pass sees only these elements, from 0 on; else all of the buffer */
};

/* `count` of its elements from number `first` on, which a storage block can begin with. */
static inline struct vector_view vector_part(const struct vector_view *view, size_t first,
                                             size_t count)
{
    return (struct vector_view){view->buffer, view->offset + first, count, true};
}

enum vector_access {
    VECTOR_READ = 1,
    VECTOR_WRITE = 2,
    VECTOR_READ_WRITE = 3,
    VECTOR_COHERENT = 7 /* both, and groups of one pass see what others wrote */
};

struct pass_texture {
    const char *name;
    struct image_view view;
};

struct pass_buffer {
    const char *name;
    const char *type; /* GLSL element type */
    struct vector_view view;
    enum vector_access access;
};

/* A file of glsl/ that stands before the body. */
struct pass_library {
    const char *file;   /* "lib/float16.glsl" */
    const char *name;   /* put in the place of NAME; NULL: the file is no template */
    bool makes_texture; /* a fused producer chose it: it stands before all libraries that may read
                           what the producer makes */
};

struct pass_define {
    const char *name;
    int value;
};

struct pass_uniform {
    const char *name;
    const float *follows; /* what a float is at each commit; NULL: what it was set to */
    bool is_float;
    union {
        int32_t i;
        float f;
    } value;
};

struct program;
struct pass;
struct glcnn_kernel;

/* How a pass that reads an image makes its pixels, where they are stored nowhere: gives the pass
 * all that texture NAME would have given its body. */
struct fused_producer {
    void (*bind)(struct fused_producer *producer, struct pass *pass, const char *name,
                 const struct image_view *view);
    uint32_t textures, buffers; /* that it takes in place of one texture */
    bool by_name;               /* has but NAME and the functions of record/edges.glsl */
};

/* Called before every commit of the pass after its first: sets uniforms that move with each
 * step. */
typedef void (*pass_refresh)(struct glcnn_kernel *kernel, struct pass *pass);

/* Looks at the passes of an encode as they are issued, before each and after it. What fails there
 * fails the commit. */
struct pass_observer {
    glcnn_status (*before)(struct pass_observer *observer, const struct pass *pass);
    glcnn_status (*after)(struct pass_observer *observer, const struct pass *pass);
};

/* What the processor does once a pass has been dispatched; several follow in the order of the list. What
 * fails fails the commit, and the passes behind are not issued. */
struct pass_callback {
    glcnn_status (*call)(struct pass_callback *callback);
    struct pass_callback *next;
};

/* What a pass says whose body hands the vectors that it stores, each of its image's once, to another
 * pass's library too (glsl/pixel_reduction/epilogue.glsl). */
struct pass_epilogue {
    uint32_t lanes;  /* of a work group; 0: the body does no such thing */
    uint32_t runs;   /* groups that store pixels of one slice */
    uint32_t slices; /* that a group stores, a power of two */
};

/* What a shader that runs many passes as one, each a row of a table, is told of this pass beside
 * its image and its vectors (command_merge.c, command_merge_sums.c). */
struct pass_entry {
    const char *shader; /* NULL: the pass runs by itself */
    int32_t words[PASS_ENTRY_WORDS];
    uint32_t count;
};

/* How a pass stores each pixel of its only image, and nothing beside it: along one axis of its grid
 * so many invocations, with all that lies at the other axes, store so many of its layers, and those
 * that follow the next. */
struct pass_stores {
    uint32_t axis, invocations;
    uint32_t layers; /* 0: it does not */
    uint32_t groups; /* work groups along the axis whose stores the buffer of stores.h holds; 0: it
                        stores into the image. Set by stores_plan */
};

/* For whom a pass runs: set once it is planned, and the same for all passes of an encode. */
struct pass_owner {
    char name[48];               /* of the kernel, "" for none */
    struct glcnn_kernel *kernel; /* for refresh; NULL: none */
    const char *implementation;  /* row of a list that the pass is made by, or NULL */
    bool outside_graph;          /* images that do not share textures are told so: view_is_plain */
};

/* How a pass is issued: nothing here changes what it computes. */
struct pass_issue {
    const struct program *program; /* NULL until programs_find */
    bool loads_images;             /* textures are read with imageLoad; set by assemble.c */
    bool packs_float16;            /* float16 images are bound as integers; set by assemble.c */
    size_t uniform_offset;         /* in the command buffer's uniform buffer */
    uint32_t uniforms_id;          /* what uniforms_from of other passes means; 0: none does */
    uint32_t uniforms_from; /* takes the uniforms of the pass of that uniforms_id, which comes
                                      before it, instead of a refresh; 0: of none */
    uint32_t level;         /* of command_buffer_order; 0: it is not ordered */
    bool ends_short;        /* a commit that ends short issues this pass last */
    struct pass_callback *callback; /* NULL: none. It lives as long as the command buffer */
};

/* Who looks at a pass as it is issued, for GLCNN_DEBUG. */
struct pass_debug {
    struct pass_observer *observer; /* NULL: none. It lives as long as the command buffer */
    uint32_t index;                 /* of the pass in its encode */
};

struct pass {
    /* What a kernel describes, by the functions below: all that its shader and its dispatch depend
     * on. */
    const char *shader; /* path below glsl/ */
    struct pass_library libraries[PASS_LIBRARIES];
    struct pass_texture textures[PASS_TEXTURES];
    struct pass_texture images[PASS_IMAGES];
    struct pass_buffer buffers[PASS_BUFFERS];
    struct pass_define defines[PASS_DEFINES];
    struct pass_uniform uniforms[PASS_UNIFORMS];
    uint32_t library_count, texture_count, image_count, buffer_count, define_count, uniform_count;
    uint32_t binds_producer; /* depth of pass_texture calls that let a producer bind its own */
    uint32_t grid[3];        /* invocations wanted */
    uint32_t batch_axes;     /* axes of the grid, a mask: pass_batch_axis */
    const char *over;   /* the grid's z counts slices and images of this one; NULL: it does not */
    uint32_t origin[3]; /* added to the invocation's position */
    uint32_t local[3];  /* work group wanted; 0: chosen from the grid. Clamped to the limits */
    uint32_t registers; /* that the device's traits tell: what may be kept at once */
    uint32_t work;      /* operations an invocation takes, about; splits long grids. 0: 64 */
    bool prefers_large_groups; /* takes large work groups where the device's traits have them */
    bool cooperative;
    bool follows;         /* a uniform follows a value: pass_float_of */
    bool lacks_names;     /* two items have one, for want of memory */
    const char *overflow; /* name of what found no room, NULL when all is well */
    pass_refresh refresh; /* may be NULL */

    /* What the kernel offers, so that the pass can be fused with others. */
    struct pass_entry entry;       /* into one pass over a table: command_merge.c */
    struct pass_epilogue epilogue; /* with a reduction of what it stores: plan_amend */
    struct pass_stores stores;     /* with the copy of a buffer: stores.h */

    struct pass_owner owner;
    struct pass_issue issue;
    struct pass_debug debug;
};

/* A library that the pass chooses. It may read each texture of the pass, whether this is named before
 * or behind it. What a body or a library always needs it says itself, in a line
 * "// needs lib/math.glsl" of the comment at its head. */
void pass_library(struct pass *pass, const char *file);
/* A library for one of several textures: `name` is put in the place of the word NAME. */
void pass_template(struct pass *pass, const char *file, const char *name);
/* Or what makes it, where the view is of an image that is not stored. */
void pass_texture(struct pass *pass, const char *name, const struct image_view *view);
void pass_image(struct pass *pass, const char *name, const struct image_view *view);
/* `view` NULL or without buffer binds zeros. */
void pass_vector(struct pass *pass, const char *name, const struct vector_view *view,
                 enum vector_access access);
/* The same with another element type: "uint", "vec4". */
void pass_vector_of(struct pass *pass, const char *type, const char *name,
                    const struct vector_view *view, enum vector_access access);
void pass_define(struct pass *pass, const char *name, int value);
void pass_int(struct pass *pass, const char *name, int32_t value);
void pass_float(struct pass *pass, const char *name, float value);
/* One that is *value at each commit; *value lives as long as the command buffer. */
void pass_float_of(struct pass *pass, const char *name, const float *value);
void pass_grid(struct pass *pass, uint32_t x, uint32_t y, uint32_t z);
/* Says that this axis of the grid grows with the batch. The work group is then chosen as for a long
 * one, whatever it is now, so that batches of all sizes share a program. */
void pass_batch_axis(struct pass *pass, int axis);
/* Every slice and image of `view`, bound as `name` before or after, at width x height points. */
void pass_grid_over(struct pass *pass, uint32_t width, uint32_t height, const char *name,
                    const struct image_view *view);
/* Says that the pass stores this rectangle of all slices and images of `view`, its only image, and
 * nothing else: each invocation along z so many layers behind those of the one before it. What is
 * said wrongly gives wrong results where stores go through a buffer: assemble.c refuses a count that is not
 * the image's, and test_kernels sees a wrong order. */
void pass_overwrites(struct pass *pass, const struct image_view *view, uint32_t x, uint32_t y,
                     uint32_t width, uint32_t height, uint32_t layers);
/* The same, where an image of the view takes so many invocations along x. */
void pass_overwrites_images(struct pass *pass, const struct image_view *view, uint32_t x,
                            uint32_t y, uint32_t width, uint32_t height, uint32_t invocations);
void pass_origin(struct pass *pass, uint32_t x, uint32_t y, uint32_t z);
void pass_local(struct pass *pass, uint32_t x, uint32_t y, uint32_t z);

/* Says that a deferred command buffer may run the pass merged with others that have the shader `rows`:
 * before all others one that has a single image and no texture, and only reads its vectors
 * (command_merge.c), and as late as the last of them one that has neither, reads its first vector, of
 * workspace, and writes the others (command_merge_sums.c). */
void pass_table_entry(struct pass *pass, const char *rows, const int32_t *words, uint32_t count);

/* Does a uniform move from commit to commit? */
bool pass_has_moving_uniforms(const struct pass *pass);
/* Moves those that do. */
void pass_move_uniforms(struct pass *pass);

/* Sets a uniform that the pass already has. */
void pass_update_float(struct pass *pass, const char *name, float value);
void pass_update_int(struct pass *pass, const char *name, int32_t value);
/* Lets a pass use a vector that it already has in another way. */
void pass_update_access(struct pass *pass, const char *name, enum vector_access access);

static inline uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline bool is_float16(const struct image_view *view)
{
    return view->storage->format == GLCNN_CHANNEL_FORMAT_FLOAT16;
}

/* Is it stored as integers, the bits of float16 numbers? */
static inline bool pass_packs(const struct pass *pass, const struct storage *storage)
{
    return pass->issue.packs_float16 && storage->format == GLCNN_CHANNEL_FORMAT_FLOAT16;
}

/* Did command_buffer_order find that neither uses what the other writes? Passes that were not
 * ordered share no level, whatever they use. */
static inline bool passes_share_level(const struct pass *a, const struct pass *b)
{
    return a->issue.level && a->issue.level == b->issue.level;
}

/* Groups of `size` that hold all of `count`; the last may be smaller. */
static inline uint32_t groups_of(uint32_t count, uint32_t size)
{
    return (count + size - 1) / size;
}

/* Slices of `channels` channels. */
static inline uint32_t slice_count(uint32_t channels)
{
    return groups_of(channels, 4);
}

#endif
