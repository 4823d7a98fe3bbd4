/* One kernel on arrays in double precision: the engine under glcnn_run, glcnn_check and tests.
 *
 * Room: One kernel on plain arrays: on the device, by its reference, and the one checked against
 * the other. Includes encode/ and the rooms below it; finds kernels only by the registry. */
#ifndef GLCNN_RUN_INTERNAL_H
#define GLCNN_RUN_INTERNAL_H

#include "glcnn/run.h"
#include "encode/kernel.h"
#include "encode/geometry.h"

#define MAP_ARRAYS 24

/* Vectors lie in the library's layout (weights [Co][kH][kW][Ci/g]) whatever `shape` says. */
struct named_array {
    const char *name;
    uint32_t rank;
    uint32_t shape[GLCNN_MAX_RANK];
    double *data;
    bool computed; /* by a kernel, not given */
};

/* Arrays by name. Owns their data. */
struct argument_map {
    struct named_array arrays[MAP_ARRAYS];
    size_t count;
    bool shapes_only; /* arrays have no data */
};

struct named_array *argument_map_find(struct argument_map *map, const char *name);
/* A zeroed array; NULL when out of memory or room. `name` must outlive the map. */
struct named_array *argument_map_add(struct argument_map *map, const char *name, uint32_t rank,
                                     const uint32_t *shape);
void argument_map_free(struct argument_map *map);
size_t array_count(const struct named_array *array);

/* Settings that are not a kernel's parameters. */
struct run_settings {
    const struct glcnn_setting *items;
    size_t count;
    uint32_t destination_width, destination_height; /* 0: not given */
    uint32_t padding_bits;                          /* align, remainder and exclude_edges */
    bool partial; /* names that the kernel does not have are passed over */
};
bool run_settings_read(const struct glcnn_setting *items, size_t count,
                       struct run_settings *settings);

struct run {
    struct glcnn_device *device; /* NULL: the reference */
    glcnn_channel_format format;
    uint32_t more_commits; /* of each kernel on the device, after the first */
    /* Not NULL: the device plans the kernel and tells of its passes, without running it. The map has
     * shapes only. */
    void (*explain)(void *user, const struct pass *pass);
    void *explain_user;
    struct run_settings settings;
    struct argument_map *map; /* inputs, and outputs once computed */
    struct validation validation;
};

/* Resolves everything but storage and vectors: the operation, its forward operation for a
 * gradient, and the shapes of all images. `inputs` must be in the map. */
struct resolved {
    struct operation operation, forward;
    struct shapes shapes, forward_shapes;
    bool has_forward;
    double parameters[MAX_PARAMETER_BYTES / sizeof(double)]; /* aligned for anything */
    double forward_parameters[MAX_PARAMETER_BYTES / sizeof(double)];
};
bool resolve(const struct run *run, const struct glcnn_descriptor *descriptor,
             struct resolved *resolved);
/* The descriptor's own check, whose message is then the run's. */
bool run_check(const struct run *run, const struct operation *operation);

/* ---- What the parts of the engine share ---- */

glcnn_status run_out_of_memory(const struct run *run);
/* The array of image input `index`, NULL if there is none. Where both sources of a binary forward
 * kernel are there by their names, its gradient takes what it is given from them. */
const struct named_array *run_image_input(const struct run *run, const struct operation *operation,
                                          size_t index);
/* The array that output `index` goes to: one that was an input is updated in place. NULL when out
 * of memory. */
struct named_array *run_output(struct run *run, struct resolved *resolved, size_t index);
/* Samples per channel that a state holds once the source was counted. */
uint64_t run_samples(const struct resolved *resolved);
/* The two ways to compute; outputs are added to the map. */
glcnn_status run_reference(struct run *run, struct resolved *resolved);
glcnn_status run_device(struct run *run, struct resolved *resolved);

/* Runs the kernel, first those that fill what is missing. Outputs are added to the map. */
glcnn_status run_kernel(struct run *run, const struct glcnn_descriptor *descriptor);

#endif
