/* Recording and issuing of passes. A plan gathers the passes of one encode and is appended whole
 * or dropped whole. */
#ifndef GLCNN_COMMAND_BUFFER_INTERNAL_H
#define GLCNN_COMMAND_BUFFER_INTERNAL_H

#include "glcnn/command_buffer.h"
#include "record/pass.h"

/* Keeps a recorded object alive until the command buffer is destroyed. */
typedef void (*release_function)(void *object);
struct retained {
    void *object;
    release_function release;
};

struct glcnn_command_buffer {
    struct glcnn_device *device;
    int references; /* the user's, and one of each temporary image and state */
    bool closed;    /* the user destroyed it */
    bool planned;   /* textures are placed and programs made by command_buffer_plan */
    struct pass *passes;
    size_t pass_count, pass_capacity;
    struct retained *retained;
    size_t retained_count, retained_capacity;
    struct storage *free_storage; /* of spent temporary images, for those to come */
    GLuint uniform_buffer;
    size_t uniforms_uploaded; /* passes whose uniforms are on the device */
    size_t issued;            /* passes that a commit has issued before */
    bool refreshed;           /* what moves with every step has moved for the commit to come */
    uint64_t commits;
    GLsync fence;
};

/* The passes of one encode. The first failure latches in `status` and all later calls do
 * nothing, so a kernel plans without checking each step. */
struct plan {
    struct glcnn_command_buffer *command_buffer;
    struct glcnn_device *device;
    glcnn_status status;
    const char *kernel; /* what plans, in words; NULL: no kernel */
    struct pass *passes;
    size_t pass_count, pass_capacity;
    struct retained *retained;
    size_t retained_count, retained_capacity;
    struct storage *scratch[16]; /* scratch images to be recycled when the plan is appended */
    size_t scratch_count;
};

void plan_begin(struct plan *plan, struct glcnn_command_buffer *command_buffer);
/* Compiles and appends the passes, or drops them if anything failed. Returns the plan's status. */
glcnn_status plan_end(struct plan *plan);

/* Latches a failure with its sentence. */
void plan_fail(struct plan *plan, glcnn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A new pass of shader body glsl/`shader`; never NULL. Valid until the next plan_pass. */
struct pass *plan_pass(struct plan *plan, const char *shader);

/* A scratch image that lives until plan_release_scratch or the plan's end; contents undefined. */
struct image_view plan_scratch_image(struct plan *plan, uint32_t width, uint32_t height,
                                     uint32_t channels, uint32_t images,
                                     glcnn_channel_format format);
/* Lets passes planned from now on use the scratch images again: between the calls of a batch. */
void plan_release_scratch(struct plan *plan);
/* A scratch vector of `count` elements that lives as long as the command buffer. */
struct vector_view plan_scratch_vector(struct plan *plan, size_t count);

/* Passes that store zeros into a whole view, and that copy a vector. */
void plan_fill_image(struct plan *plan, const struct image_view *destination);
void plan_copy_vector(struct plan *plan, const struct vector_view *source,
                      const struct vector_view *destination);
/* Adds the elements of `source` to those of `destination`. */
void plan_add_vector(struct plan *plan, const struct vector_view *source,
                     const struct vector_view *destination);

/* Binds what a pass declares, all of it: two drivers crash at a dispatch with a binding that is empty.
 * Textures must have been made. */
void command_buffer_bind(struct glcnn_device *device, const struct pass *pass);

/* Takes back what was recorded since the buffer had so many passes and retained objects. */
void command_buffer_cut(struct glcnn_command_buffer *command_buffer, size_t pass_count,
                        size_t retained_count);

/* ---- Planned command buffers (command_plan.c) ----
 *
 * While `planned` is set temporary images each have a storage of their own and no program is made.
 * command_buffer_place then lets storages whose lifetimes do not meet share textures, and
 * command_buffer_compile makes the programs. No texture exists before the first commit. */
struct command_memory {
    uint64_t planned, without_sharing, lower_bound; /* bytes of textures of temporary images */
};
glcnn_status command_buffer_place(struct glcnn_command_buffer *command_buffer,
                                  struct command_memory *memory);
glcnn_status command_buffer_compile(struct glcnn_command_buffer *command_buffer);
/* Lets all passes that use one of two storages of the same extent use the other. The caller keeps both
 * alive. */
void command_buffer_exchange(struct glcnn_command_buffer *command_buffer, struct storage *a,
                             struct storage *b);

/* Keeps objects alive as long as the command buffer. */
void plan_retain_storage(struct plan *plan, struct storage *storage);
void plan_retain_buffer(struct plan *plan, struct glcnn_buffer *buffer);
void plan_retain_kernel(struct plan *plan, struct glcnn_kernel *kernel);

/* Storage for a temporary image: recycled within the command buffer, else from the device. */
glcnn_status command_buffer_take_storage(struct glcnn_command_buffer *command_buffer,
                                         uint32_t width, uint32_t height, uint32_t layers,
                                         glcnn_channel_format format, struct storage **storage);
/* Gives it back; the storage lives on for passes already recorded. */
void command_buffer_return_storage(struct glcnn_command_buffer *command_buffer,
                                   struct storage *storage);

struct glcnn_command_buffer *command_buffer_retain(struct glcnn_command_buffer *command_buffer);
void command_buffer_release(struct glcnn_command_buffer *command_buffer);

#endif
