/* Cases of the self-check, one at a time; tests use them too. */
#ifndef GLCNN_CHECK_H
#define GLCNN_CHECK_H

#include "run.h"

#define CHECK_SETTINGS 24

/* Fills the run's bag with the inputs of case `c`, number `index` of its kernel; every second case
 * has the optional inputs. `settings` must outlive the run. */
bool check_inputs(struct run *run, const struct glcnn_descriptor *d, const struct check_case *c,
                  size_t index, struct glcnn_setting settings[CHECK_SETTINGS]);

/* Runs one case on the device and in the reference. *error is in units of the bound. */
glcnn_status check_case_run(struct glcnn_device *device, const struct glcnn_descriptor *d,
                            size_t index, glcnn_channel_format format, double *error,
                            char sentence[512]);

#endif
