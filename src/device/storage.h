/* Texture memory of images: a texture array. Counted by reference, allocated at first use, recycled
 * through the device's pool.
 *
 * Layer L lies at layer `cell` + L / (across * down) of the texture, beside others: where an image
 * has more layers than the device's arrays, and where it is smaller than a texture that it shares
 * (placement.h), whose owner is another storage. How many lie beside each other are powers of two,
 * so that a shader is told of them by uniforms and shifts: the programs of an image are the same
 * however many layers it has. */
#ifndef GLCNN_STORAGE_H
#define GLCNN_STORAGE_H

#include "glcnn/channel_format.h"
#include "device/device.h"

/* Serial numbers of the last pass that wrote and that read a resource; 0: none yet. */
struct hazard {
    uint64_t written, read;
};

enum byte_order { BYTES_OF_TEXELS, BYTES_RGB, BYTES_BGR };

struct storage {
    struct glcnn_device *device;
    int references;
    struct storage *next;           /* in the pool */
    uint32_t width, height, layers; /* of the images in it, before folding */
    glcnn_channel_format format;
    uint32_t fold;                   /* layers of a texture of its own */
    struct storage *within;          /* the owner of the texture, retained; NULL: itself */
    uint32_t cell, across, down;     /* its place in the texture */
    bool holds;                      /* others lie in it */
    bool clear;                      /* contents must be 0 before the first use */
    bool pooled;                     /* of temporary images: goes back to the pool */
    bool transient;                  /* what a commit leaves in it no later one reads */
    struct fused_producer *producer; /* how passes make what is not stored here; NULL: it is */
    GLuint texture;                  /* 0 until the first use */
    bool flat;                       /* GL_TEXTURE_2D of one layer, which shaders only fetch from */
    bool borrowed;                   /* the texture is the caller's */
    bool fixed;                      /* and no image unit takes it: it is not immutable */
    enum byte_order bytes;           /* of a flat one: three texels of one byte make a pixel */
    void *import;                    /* of platform_import, that the texture is of; NULL: none */
    struct hazard hazard;
    size_t item; /* its number in the placement that was made last of those it was in */
};

/* Texture memory that waits for an image of the same extent. */
struct storage_pool *storage_pool_create(void);
void storage_pool_destroy(struct storage_pool *pool, const struct gl *gl);

/* Storage of its own, contents 0; no memory is taken yet. Fails where even a folded texture of
 * `width` x `height` x `layers` is beyond the limits. */
glcnn_status storage_create(struct glcnn_device *device, uint32_t width, uint32_t height,
                            uint32_t layers, glcnn_channel_format format, struct storage **storage);
/* Storage with undefined contents, from the pool where it has some of that extent. */
glcnn_status storage_create_pooled(struct glcnn_device *device, uint32_t width, uint32_t height,
                                   uint32_t layers, glcnn_channel_format format,
                                   struct storage **storage);
/* Storage whose texture was made elsewhere, all of `like` but for the reference: it holds a new one
 * of the device. On failure the texture is still the caller's to delete. */
glcnn_status storage_adopt(struct glcnn_device *device, const struct storage *like,
                           struct storage **storage);
struct storage *storage_retain(struct storage *storage);
void storage_release(struct storage *storage);
/* The last reference to a temporary image's storage: into the pool instead of freed. */
void storage_recycle(struct storage *storage);

/* Makes the texture if there is none yet. */
glcnn_status storage_allocate(struct storage *storage);
/* The storage that owns the texture. */
struct storage *storage_owner(struct storage *storage);
/* Puts a storage without a texture into another, from its layer `cell` on; `across` and `down` are
 * powers of two. */
void storage_place(struct storage *storage, struct storage *within, uint32_t cell, uint32_t across,
                   uint32_t down);
bool storage_is_folded(const struct storage *storage);
size_t storage_size(const struct storage *storage);

/* How the four channels of a texel are stored. */
struct texel {
    GLenum name;        /* internal format */
    const char *layout; /* of an image in GLSL */
    uint32_t size;      /* bytes */
};
/* The format must not be NONE. */
const struct texel *texel_of(glcnn_channel_format format);

#endif
