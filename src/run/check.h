/* Cases of the self-check, one at a time; tests use them too. */
#ifndef GLCNN_CHECK_H
#define GLCNN_CHECK_H

#include "encode/reference.h"
#include "run/run.h"

#define CHECK_SETTINGS 24

/* Fills the run's map with the inputs of case `c`, number `index` of its kernel; every second case
 * has the optional inputs. `settings` must outlive the run. */
bool check_inputs(struct run *run, const struct glcnn_descriptor *d, const struct check_case *c,
                  size_t index, struct glcnn_setting settings[CHECK_SETTINGS]);

/* The same without settings, which the run has already, and with optional inputs or without. */
bool check_add_inputs(struct run *run, const struct glcnn_descriptor *d, const struct check_case *c,
                      bool with_optional, uint64_t seed);

/* Adds a copy of each array; false when out of memory or room. */
bool check_copy(const struct argument_map *from, struct argument_map *to);

/* Largest difference between what the device and the reference made of one case, in units of the
 * bound; infinite where one has a NaN or an infinity that the other has not. */
double check_compare(const struct glcnn_descriptor *d, struct argument_map *found,
                     struct argument_map *wanted, glcnn_channel_format format);

/* Runs a kernel on the device and in the reference, from the inputs in the run's map, which gets the
 * device's results. *error is in units of the bound; infinite where one of the two fails. */
glcnn_status check_run(struct glcnn_device *device, const struct glcnn_descriptor *d,
                       struct run *run, double *error);

/* Runs one case on the device and in the reference. *error is in units of the bound. */
glcnn_status check_case_run(struct glcnn_device *device, const struct glcnn_descriptor *d,
                            size_t index, glcnn_channel_format format, double *error,
                            char message[GLCNN_ERROR_LENGTH]);

#endif
