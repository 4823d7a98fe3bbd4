/* A device: one OpenGL ES 3.1 context without display, surface or config.
 *
 * Thread-safety: a device and every object made from it belong to one thread at a time: at first
 * the thread that created the device. glcnn_device_hand_over and glcnn_device_acquire hand it over.
 * A call from another thread is refused with GLCNN_INVALID_STATE and touches nothing of the device.
 * Different devices are independent of each other. Creating and listing devices is safe on any
 * thread.
 *
 * Processes: a process forked from one that has opened or listed devices can use none, neither
 * those of its parent nor new ones: drivers do not bear it. Calls there are refused with
 * GLCNN_INVALID_STATE; those of destruction free the memory and leave the driver alone. Fork
 * before, or start a new program.
 */
#ifndef GLCNN_DEVICE_H
#define GLCNN_DEVICE_H

#include <glcnn/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct glcnn_device glcnn_device; /* MTLDevice with its command queue */

/* A program that the driver compiles: what the first use of a kernel or graph waits for. Those that
 * an earlier process left on disk (glcnn_device_create) are not compiled. */
struct glcnn_compilation {
    const char *shader;         /* "convolution/convolution.comp" */
    const char *implementation; /* one of glcnn_kernel_info's, NULL where the shader has none */
    uint32_t number;            /* of those that the device compiles, counted from 1 */
    uint32_t pass, passes; /* for pass number `pass`, from 1, of those that are made ready now */
    float seconds;         /* that it took of this thread; 0: it is about to begin */
};

/* Called before and after each; what it is given lives until it returns. It must not call the
 * library. A driver that compiles in threads of its own (GL_KHR_parallel_shader_compile) is given
 * up to 64 programs before the first is waited for; others get the next when one is done. One that
 * fails is not told of afterwards. Thread-safety: called on the thread that made the library call. */
typedef void (*glcnn_compile_callback)(void *user, const struct glcnn_compilation *compilation);

/* How to open a device. All zero is the default. */
struct glcnn_device_parameters {
    /* A node path ("/dev/dri/renderD128"), an index of glcnn_device_list, a kernel driver's name
     * ("panfrost"), "software", or "default", EGL's default display; NULL takes the environment's
     * GLCNN_DEVICE, else the first candidate that works. */
    const char *device;
    /* Use the OpenGL ES 3.1 context that is current on this thread, if there is one: its textures
     * can be wrapped (glcnn/texture.h). Calls make it current if it is not, and leave it so. They
     * change this state of it and put all of it back before they return: the program; the active
     * texture unit; GL_TEXTURE_2D, GL_TEXTURE_2D_ARRAY and the sampler object of texture units 0 to
     * 15; image units 0 to 19; indexed storage buffers 0 to 15 and uniform buffer 0; the generic
     * bindings of storage, uniform, copy-read and copy-write buffers. Transform feedback must not
     * be active. Errors that glGetError has not told of are taken for the library's: ask before. */
    bool use_current_context;
    bool forbid_software; /* fail with GLCNN_NO_DEVICE rather than run on a software rasteriser */
    bool debug;           /* ask for a debug context; driver messages go to the log */
    /* How long a call may wait for a GPU that makes no progress before it gives the device up with
     * GLCNN_DEVICE_LOST, in seconds. A GPU that is only slow makes progress: within a long commit
     * after each 2^30 operations or so, about 0.2 s on a slow board. 0: 300. */
    uint32_t wait_seconds;
    /* A program that takes longer to compile, in seconds, is named by a warning in the log. 0: as
     * 10. */
    float compile_seconds;
    glcnn_compile_callback compile; /* may be NULL; must outlive the device */
    void *compile_user;
    glcnn_log_callback log; /* may be NULL; must outlive the device, and not call it: status.h */
    void *log_user;
    /* The folder where programs are kept (below), "off" for none; NULL or "" takes the environment's.
     * An app gives one of its own where there is no home, as on Android. */
    const char *program_folder;
};

/* Opens a device. `parameters` may be NULL. On failure *device is NULL and the log callback has
 * one error line that names every candidate tried and its reason.
 * Errors: GLCNN_NO_DEVICE, GLCNN_OUT_OF_MEMORY, GLCNN_INVALID_ARGUMENT, GLCNN_DEVICE_LOST;
 * GLCNN_INVALID_STATE in a process forked from one that opened or listed devices.
 * Where the environment has GLCNN_SHADERS=FOLDER, the source of every shader is written there
 * before the driver has it, in a file KERNEL.PASS.HASH.comp: the kernel that was the first to need
 * it, or "none", the shader, and a hash of the source. The folder must exist. The first file that
 * cannot be written is a warning in the log and the last that is tried; nothing else fails.
 * Where the environment has GLCNN_DEBUG=WORD,WORD.. the device looks for mistakes, slowly:
 *   sync    waits for the GPU after each pass: an error of the driver or a GPU that hangs is told of
 *           the pass that made it
 *   nan     reads what each encode has computed: the first element that is a NaN or an infinity is
 *           named with its kernel
 *   verify  also computes each encode in its double-precision reference, from the inputs that the
 *           device had: the first element beyond the bound of glcnn/image.h is named. Left out are
 *           encodes that add to what a state holds, gradients that read masks of bits, and, but for
 *           the first commit of a command buffer of the user's, those whose numbers move with each
 *           step (dropout, optimizers, running averages)
 *   race    looks for memory that is used too early or too late: each commit begins with some
 *           milliseconds of work, what no pass may read before the commit has written it is NaN
 *           (temporary images, scratch vectors), passes that are said to be independent run in the
 *           opposite order, and memory of an upload or a read-back that a pass may still use is not
 *           handed out. Results are the same bits as without it, or the library is wrong
 * What nan, verify and race find fails the call with GLCNN_CHECK_FAILED. Any other word is refused
 * with GLCNN_INVALID_ARGUMENT.
 *
 * Programs are kept between processes, as the binaries that the driver gives, in the parameters'
 * program_folder, or that which the environment names: GLCNN_CACHE_DIR, else $XDG_CACHE_HOME/glcnn,
 * else $HOME/.cache/glcnn; it is made when it is needed. GLCNN_CACHE_DIR=off keeps none; empty, it says
 * nothing. A binary is taken only for the same source, driver and version of the library, from a whole
 * file that nobody but this user and root can write; one that the driver does not link, or does not run,
 * is compiled and rewritten. Files are replaced in one step, so any number of processes may share a
 * folder.
 * Above 64 MiB those that were not used for longest go. What cannot be written is a line in the
 * log, of level GLCNN_LOG_INFO, and nothing fails.
 *
 * Where several implementations of a kernel's passes suit a device, its traits and the sizes choose.
 * With GLCNN_TUNE=full an encode of a kernel is tried with all that suit, on images and vectors of the
 * same sizes, which take memory meanwhile, and whose programs take time to compile. The fastest is
 * taken for all encodes of that shape and kept in the folder above, to be believed as a program
 * is; so the same choice is made from then on, and results, which differ between implementations by
 * rounding, are the same bits again. An encode is timed by itself: beside others of a graph, which
 * may hide what it waits for, the choice need be no gain. Where a trial fails nothing but the choice
 * is left out. "off" or nothing tries none; any other word is refused with GLCNN_INVALID_ARGUMENT.
 *
 * A program that runs with other rights than who started it has, of another user or group (set-uid,
 * set-gid) or by capabilities, reads none of these variables, nor GLCNN_DEVICE, GLCNN_LIMITS and
 * GLCNN_IMPLEMENTATIONS: it writes no shaders and keeps no programs.
 *
 * A display of EGL that nobody had initialised before the library did is terminated when the library
 * is unloaded or the process ends, unless a device is open on it; the driver's threads end with it. A
 * program that uses the same display (of an EGL device, surfaceless, or the default one) and outlives
 * the library initialises it first.
 * The caller owns the device. */
GLCNN_API glcnn_status glcnn_device_create(const struct glcnn_device_parameters *parameters,
                                           glcnn_device **device);

/* Waits for the GPU, as glcnn_device_wait does, and destroys the device; *device becomes NULL.
 * Objects of the device that still exist keep its memory alive until the last of them is destroyed,
 * but can do nothing more. NULL and pointer to NULL do nothing. */
GLCNN_API void glcnn_device_destroy(glcnn_device **device);

/* The message that explains the last failure of any call on this device; "" when there was none.
 * Valid until the next failing call. Also true for objects made from the device. On a thread that
 * may not use the device: why not. */
GLCNN_API const char *glcnn_device_error(const glcnn_device *device);

/* Hands the device over: `hand_over` on the thread that has it, then `acquire` on the other. Of
 * several threads that acquire it one gets it; the others, and all of a device that was destroyed
 * while objects of it are left, are refused with GLCNN_INVALID_STATE. */
GLCNN_API glcnn_status glcnn_device_hand_over(glcnn_device *device);
GLCNN_API glcnn_status glcnn_device_acquire(glcnn_device *device);

/* Waits until the GPU has finished all committed work. GLCNN_DEVICE_LOST when it makes no progress
 * for the device's wait_seconds. */
GLCNN_API glcnn_status glcnn_device_wait(glcnn_device *device);

/* What is committed on the device from now on, by command buffers, graphs and transfers, waits until
 * the fence is signalled: before a camera's or another API's fence the memory that it fills is not
 * read. `fence` is a descriptor of a sync file; it stays the caller's and may be closed once the
 * call returns. -1 stands for none: nothing waits. The GPU waits, and the call returns at once, where
 * the driver has EGL_ANDROID_native_fence_sync and EGL_KHR_wait_sync; where it lacks one of them, or
 * the descriptor is another that becomes readable (an eventfd, a pipe), the call itself waits, for
 * the device's wait_seconds at most.
 * Errors: GLCNN_INVALID_ARGUMENT for a descriptor that is not open, GLCNN_IO_ERROR for one that was
 * not signalled in that time, or failed. The other way round, the fence that tells of a commit, is
 * glcnn_command_buffer_fence_descriptor. */
GLCNN_API glcnn_status glcnn_device_await_fence(glcnn_device *device, int fence);

/* Whether the device was lost: every call on it, and on what was made from it, gives
 * GLCNN_DEVICE_LOST from then on, and glcnn_device_error says in which call it was lost, why, whose
 * fault the driver says it was, and which passes were in flight. What it holds cannot be read any
 * more. Destroy the device and what was made from it, and create a new one, in the same process if
 * you like. A driver is asked for resets at every commit, every wait and every read. Since it may know
 * nothing of them, and may drop passes without one, the last pass of each commit counts it too, which
 * costs a dispatch: a wait that finds a number too small takes the device for lost. False for NULL. */
GLCNN_API bool glcnn_device_is_lost(const glcnn_device *device);

/* Limits in use: the driver's, or the OpenGL ES 3.1 minimum when the environment has
 * GLCNN_LIMITS=min. */
struct glcnn_limits {
    uint32_t work_group_count[3];
    uint32_t work_group_size[3];
    uint32_t work_group_invocations;
    uint32_t shared_memory_size; /* bytes */
    uint32_t image_uniforms;
    uint32_t storage_blocks;   /* at most output_resources */
    uint32_t output_resources; /* images and storage blocks of a program together */
    uint32_t uniform_blocks;
    uint32_t texture_units;
    uint32_t texture_size; /* texels an axis */
    uint32_t array_layers;
    uint32_t uniform_block_size;      /* bytes */
    uint32_t storage_block_size;      /* bytes */
    uint32_t buffer_offset_alignment; /* bytes, the larger of storage and uniform blocks' */
};

/* What is known of a device's compiler and memory, by the names that its driver gives. Kernels
 * choose by it between implementations of their passes; every implementation gives the same result within
 * rounding. A driver that is not known has the traits that suit every GPU. */
struct glcnn_device_traits {
    const char *family;      /* "mali-midgard", "mali-bifrost", "v3d", "adreno", "adreno-qualcomm",
                               "nouveau", "tegra", "nvidia", "llvmpipe", "softpipe", "swiftshader"
                               or "unknown" */
    uint32_t registers;      /* four-component values that an invocation keeps without spilling */
    uint32_t width;          /* invocations of a subgroup */
    bool shared_memory;      /* that of a work group lies on the chip, not in the GPU's memory */
    bool image_loads;        /* imageLoad is cheaper than texelFetch */
    bool uniform_copies;     /* members of a uniform block are expensive to read repeatedly */
    bool plain_uniforms;     /* uniforms outside of blocks are read without an instruction */
    bool uniform_loads;      /* a load from a buffer costs less than a fetch of a texel where all
                               invocations of a work group have the same address */
    bool slow_image_stores;  /* storing a texel costs as much as loading a dozen */
    bool recomputes_pixels;  /* recomputing a pixel where it is read costs less than storing it */
    bool stores_via_buffer;  /* stores into a buffer and a copy cost less than image stores */
    bool subgroups_along_x;  /* a subgroup is invocations beside each other in x, no others */
    bool large_groups;       /* passes that read and write little gain by large work groups */
    bool float_division;     /* integers are divided faster by way of floats */
    bool packs_float16;      /* packHalf2x16 rounds to the nearest, ties to even: float16 texels are
                                stored as bits */
    bool accurate_exp2;      /* exp2 is within 2^-22 of the number, whatever its argument */
    bool spin_waits;         /* the driver's waits spin: the library sleeps between polls */
    bool async_uploads;      /* bytes given to the driver cross to the GPU beside its passes */
    bool submits_dispatches; /* each dispatch is given to the kernel by itself, which costs as much
                                as a short pass takes */
    bool miscomputes_8x8; /* wrong results were seen in work groups of 8 x 8 and of 4 x 16: none are
                             made */
    bool may_skip_programs; /* may accept a program and then not run it, without an error */
    bool reads_late;     /* bytes are read after the call that gave them: they are written to mapped
                            memory instead */
    bool wrong_binaries; /* a program made of its own binary is wrong, or crashes: none are kept */
    bool wrong_timers;   /* timestamps are wrong, or crash: passes are timed between two waits */
    uint32_t pass_bytes; /* that memory moves in the time that a pass takes to begin, about */
};

/* What was opened. Strings live as long as the device. */
struct glcnn_device_properties {
    const char *provider; /* "current", "device", "gbm", "software" or "default" */
    const char *node;     /* "" where there is none */
    const char *driver;   /* kernel driver, "" where there is none */
    const char *reason;   /* why this device was chosen, a message */
    const char *vendor, *renderer, *gl_version, *shading_language_version;
    const char *program_folder; /* where binaries of programs are kept, "" where none are */
    const char *tuning;         /* the environment's GLCNN_TUNE: "off", "quick" or "full" */
    bool software, robust, limits_clamped;
    struct glcnn_limits limits;
    struct glcnn_device_traits traits;
};
GLCNN_API const struct glcnn_device_properties *glcnn_device_info(const glcnn_device *device);

/* Whether the driver has the OpenGL ES extension, "GL_KHR_debug". */
GLCNN_API bool glcnn_device_has_extension(const glcnn_device *device, const char *name);

/* A device that could be opened, or why it could not. */
struct glcnn_device_candidate {
    char provider[16], node[64], driver[64];
    bool software, usable;
    char detail[256]; /* the renderer, or the reason */
};

/* Looks at every device in the order of probing. Returns how many there are and fills at most
 * `capacity` of `candidates`. The thread's current context is left as it was. In a process forked
 * from one that opened or listed devices none is usable. */
GLCNN_API size_t glcnn_device_list(struct glcnn_device_candidate *candidates, size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
