/* Command buffers: passes in the order in which they are issued, at every commit.
 *
 * Room: Passes, the programs they are run by, and their way to the device: plans, command buffers,
 * barriers, the placement of textures, and the opening of a device, which keeps programs. Includes
 * device/ and what that includes; knows nothing of kernels.
 *
 * The way of a pass, and the words for it:
 *
 *     plan            the passes of one encode (plan.h). A kernel describes them; all are appended to a
 *                     command buffer, or none
 *     record          to append a plan to a command buffer. The passes that it has are its record
 *     deferred        a command buffer that a graph records into: nothing is made until all is recorded.
 *                     Then command_buffer_merge makes one pass of many, _order sorts them by dependency
 *                     levels, _place finds memory for temporary images and workspace, and _compile
 *                     makes the programs. Of others each plan has its programs and memory at once
 *     commit          to issue all passes: uniforms are uploaded, and before each pass, or the first of
 *                     a level, are the barriers that it needs (hazards.c); then it is bound and
 *                     dispatched (dispatch.c)
 *     fence           how a wait knows that the GPU has finished (device/fence.h)
 *
 * Above this room a `recording` (graph/recording.h) is what a graph remembers of how it recorded its
 * nodes into a command buffer, and `compiled` (graph/compile.h) is such a command buffer with its
 * images, ready to be committed for batches of one size. */
#ifndef GLCNN_COMMAND_BUFFER_INTERNAL_H
#define GLCNN_COMMAND_BUFFER_INTERNAL_H

#include "glcnn/command_buffer.h"
#include "record/plan.h"

struct glcnn_command_buffer {
    struct glcnn_device *device;
    int references;     /* the user's, and one of each temporary image and state */
    bool closed;        /* the user destroyed it */
    bool deferred;      /* memory and programs are found when all is recorded */
    bool ends_short;    /* commits to come issue the passes up to the one that is marked so */
    bool skips_nan;     /* an optimizer leaves a value as it is whose gradient is NaN */
    uint64_t held_size; /* bytes that passes hold as long as it lives: of scratch vectors, and of
                             what merging passes has made */
    uint64_t workspace_size; /* while it is deferred, the most that one plan takes */
    size_t workspace_limit;  /* of a vector of partial sums; 0: as much as is fastest */
    struct pass *passes;
    size_t pass_count, pass_capacity;
    struct retained *retained;
    size_t retained_count, retained_capacity;
    struct storage *free_storage;      /* of spent temporary images, for those to come */
    struct glcnn_buffer *free_buffers; /* the same of scratch vectors */
    GLuint uniform_buffer;
    size_t uniforms_uploaded; /* passes whose uniforms are on the device */
    size_t issued;            /* passes that a commit has issued before */
    bool refreshed;           /* what moves with every step has moved for the commit to come */
    uint64_t commits;
    uint64_t last_serial; /* of the device's passes when the last commit was made; 0: none was */
    bool is_asked;        /* somebody asked whether the last commit has finished */
    const char *where;    /* the public call that commits */
    char amid[96];        /* the same between the passes, for errors that are found there */
};

/* What glcnn_command_buffer_commit, _wait and _is_complete do. `where` is the public
 * call that the user has made, for messages; it lives as long as the library. */
glcnn_status command_buffer_commit(struct glcnn_command_buffer *command_buffer, const char *where);
glcnn_status command_buffer_wait(struct glcnn_command_buffer *command_buffer, const char *where);
bool command_buffer_is_complete(struct glcnn_command_buffer *command_buffer, const char *where);

/* Commits without a fence behind the passes and without a flush: they run at the latest when
 * something later is committed or awaited. A fence that was deferred is set before. Where the caller does
 * not wait for them (`is_awaited`) and the driver tells of resets they are counted with the next commit,
 * which spares a dispatch. */
glcnn_status command_buffer_issue(struct glcnn_command_buffer *command_buffer, bool is_awaited,
                                  const char *where);

/* Takes back what was recorded since the buffer had so many passes and retained objects. */
void command_buffer_cut(struct glcnn_command_buffer *command_buffer, size_t pass_count,
                        size_t retained_count);
/* Forgets all that was recorded, for other passes to come. What was committed runs on. */
void command_buffer_reset(struct glcnn_command_buffer *command_buffer);

/* ---- Deferred command buffers (command_place.c) ----
 *
 * While `deferred` is set temporary images each have a storage of their own, and workspace vectors a
 * buffer, both without memory, and no program is made. command_buffer_place then lets storages whose
 * lifetimes do not meet share textures, and vectors buffers; command_buffer_compile makes the programs
 * and these buffers. No texture exists before the first commit. */

/* Before that: merges passes that have a table entry, into one for each shader and memory that their
 * vectors share, before all others (command_merge.c). */
glcnn_status command_buffer_merge(struct glcnn_command_buffer *command_buffer);

/* And those that add up partial sums, which then live until the last of these passes
 * (command_merge_sums.c). */
glcnn_status command_buffer_merge_sums(struct glcnn_command_buffer *command_buffer);

/* After that: sorts passes by dependency levels (command_order.c), so that no more images and
 * workspace live than so many bytes, or than did before. Their images then share no texture. */
glcnn_status command_buffer_order(struct glcnn_command_buffer *command_buffer, uint64_t limit);

/* Will command_buffer_place find it a place? */
bool command_buffer_places(const struct storage *storage);

struct command_memory {
    uint64_t planned, without_sharing, lower_bound; /* bytes of textures of temporary images, of
                                                       vectors that passes hold, of workspace, of
                                                       uniforms, and of the buffer of stores.h */
};

/* Of command_buffer_acquire_buffer, command_buffer_place and command_buffer_compile, for workspace
 * (command_workspace.c). */
glcnn_status command_buffer_create_workspace(struct glcnn_command_buffer *command_buffer,
                                             size_t size, struct glcnn_buffer **buffer);
glcnn_status command_buffer_place_workspace(struct glcnn_command_buffer *command_buffer,
                                            struct command_memory *memory);
glcnn_status command_buffer_allocate_workspace(struct glcnn_command_buffer *command_buffer);

/* Lays out the uniform blocks of passes whose textures are placed; returns the bytes that they
 * take. */
size_t command_buffer_place_uniforms(struct glcnn_command_buffer *command_buffer);

glcnn_status command_buffer_place(struct glcnn_command_buffer *command_buffer,
                                  struct command_memory *memory);
glcnn_status command_buffer_compile(struct glcnn_command_buffer *command_buffer);
/* Lets all passes that use one of two storages of the same extent use the other. The caller keeps
 * both alive. */
void command_buffer_exchange(struct glcnn_command_buffer *command_buffer, struct storage *a,
                             struct storage *b);

/* Storage for a temporary image: recycled within the command buffer, else from the device. */
glcnn_status command_buffer_acquire_storage(struct glcnn_command_buffer *command_buffer,
                                            uint32_t width, uint32_t height, uint32_t layers,
                                            glcnn_channel_format format, struct storage **storage);
/* Gives it back; the storage lives on for passes already recorded. */
void command_buffer_return_storage(struct glcnn_command_buffer *command_buffer,
                                   struct storage *storage);

/* The same for a buffer of `size` bytes at least; one without memory where it is deferred. */
glcnn_status command_buffer_acquire_buffer(struct glcnn_command_buffer *command_buffer, size_t size,
                                           struct glcnn_buffer **buffer);
void command_buffer_return_buffer(struct glcnn_command_buffer *command_buffer,
                                  struct glcnn_buffer *buffer);

struct glcnn_command_buffer *command_buffer_retain(struct glcnn_command_buffer *command_buffer);
void command_buffer_release(struct glcnn_command_buffer *command_buffer);

#endif
