/* Plans: a plan gathers the passes of one encode, and is appended to a command buffer whole or
 * dropped whole. */
#ifndef GLCNN_PLAN_H
#define GLCNN_PLAN_H

#include "record/pass.h"

struct glcnn_command_buffer;
struct tuned;

/* Keeps a recorded object alive until the command buffer is destroyed. */
typedef void (*release_function)(void *object);
struct retained {
    void *object;
    release_function release;
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
    struct glcnn_buffer *workspace; /* vectors of plan_workspace_vector, a list */
    struct pass *amended; /* in place of the command buffer's of this number; NULL: none */
    size_t amended_number;
    size_t recycled;     /* passes whose scratch images others may have by now */
    struct tuned *tuned; /* rows of implementations that trials have decided for; NULL: none */
};

/* What plans, in words, where no kernel does too. */
static inline const char *plan_display_name(const struct plan *plan)
{
    return plan->kernel ? plan->kernel : "no kernel";
}

void plan_begin(struct plan *plan, struct glcnn_command_buffer *command_buffer);
/* Compiles and appends the passes, or drops them if anything failed. Returns the plan's status. */
glcnn_status plan_end(struct plan *plan);

/* The same in three steps, for a caller with more that can fail: what of plan_end can fail; what
 * cannot, and follows a success with no other plan between; and what follows in any case. */
glcnn_status plan_prepare(struct plan *plan);
void plan_append(struct plan *plan);
void plan_free(struct plan *plan);

/* Latches a failure with its message. */
void plan_fail(struct plan *plan, glcnn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A new pass of shader body glsl/`shader`; never NULL. Valid until the next plan_pass. */
struct pass *plan_pass(struct plan *plan, const char *shader);

/* The pass of the deferred command buffer that stores all of `view`, to be given an epilogue: the plan
 * may change what is returned, which takes its place when the plan is appended. NULL where no pass
 * can, where something is recorded behind it that uses one of the vectors that the epilogue is to
 * write, where it is observed, or there is no memory. Valid until plan_drop_amended. */
struct pass *plan_amend(struct plan *plan, const struct image_view *view,
                        const struct vector_view *const written[], size_t count);
/* True if nothing that is recorded behind it writes what it now reads. */
bool plan_amended_can_read(const struct plan *plan);
/* The pass is to stay as it is. */
void plan_drop_amended(struct plan *plan);

/* Looking back: at passes of the call that is planned and, in a deferred command buffer, at all before.
 * A pass whose callback may change vectors ends it. `like` is no pass of the plan, but what one would have:
 * vectors, textures, uniforms.
 *
 * Image `name` of the last pass that has all that `like` has, under the same names, where none behind it
 * writes any of that; without storage where there is none. */
struct image_view plan_find_made(const struct plan *plan, const char *name,
                                 const struct pass *like);
/* The last pass that writes a vector or stores a texture of `like`, to be given what else `like` has and
 * an image that it stores. NULL where it is not of `shader` or does not have the vectors that `like`
 * writes, where it stores an image already or is observed, where the plan has amended another one, or
 * there is no memory. Valid until the next plan_pass. */
struct pass *plan_amend_writer(struct plan *plan, const char *shader, const struct pass *like);

/* A scratch image of float32 that lives until plan_release_scratch or the plan's end; contents
 * undefined. */
struct image_view plan_scratch_image(struct plan *plan, struct extent extent);
/* Lets passes that follow use the scratch images again: between the calls of a batch. */
void plan_release_scratch(struct plan *plan);
/* A scratch vector of `count` elements that lives as long as the command buffer, at first 0. */
struct vector_view plan_scratch_vector(struct plan *plan, size_t count);
/* The same with these elements. */
struct vector_view plan_table(struct plan *plan, const void *elements, size_t count);
/* A vector of workspace memory until the plan's end, when plans that follow may have it; contents
 * undefined. */
struct vector_view plan_workspace_vector(struct plan *plan, size_t count);
/* Groups of four elements that a workspace vector of partial sums may have where it would have `most`
 * bytes: a memory budget leaves it fewer. */
uint32_t plan_workspace_vec4s(const struct plan *plan, size_t most);

/* Vectors longer than a storage block are split into parts, each for a pass of its own that binds no
 * more: of so many elements at most, and from a multiple of plan_part_step on. */
bool plan_fits_block(const struct plan *plan, size_t elements);
size_t plan_part_elements(const struct plan *plan);
size_t plan_part_step(const struct plan *plan);

/* Passes that store zeros into a whole view, and that copy a vector. */
void plan_fill_image(struct plan *plan, const struct image_view *destination);
void plan_copy_vector(struct plan *plan, const struct vector_view *source,
                      const struct vector_view *destination);
/* Adds the elements of `source` to those of `destination`. */
void plan_add_vector(struct plan *plan, const struct vector_view *source,
                     const struct vector_view *destination);

/* Keeps objects alive as long as the command buffer. */
void plan_retain_storage(struct plan *plan, struct storage *storage);
void plan_retain_buffer(struct plan *plan, struct glcnn_buffer *buffer);
/* Takes over the caller's reference. It is released at once where the plan has failed. */
void plan_retain(struct plan *plan, void *object, release_function release);

#endif
