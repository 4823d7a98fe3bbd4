/* What a report takes from pictures and the device. Functions that return false have written a message. */
#ifndef GLCNN_REPORT_REPORT_COLLECT_H
#define GLCNN_REPORT_REPORT_COLLECT_H

#include "task/pictures.h"
#include "report.h"

/* Reads the pictures of the findings' mistakes again: *worst gets as many, with their names, and of tasks that
 * draw whole, with what is true and what was found. One that cannot be decoded any more has no bytes.
 * Release with report_free_pictures, after a failure too. */
bool report_read_worst(const struct pictures *pictures, glcnn_data_part part,
                       const struct findings *findings, const char *const *names,
                       struct report_picture worst[FINDINGS_WORST], char error[GLCNN_ERROR_LENGTH]);
/* A picture of the data whole, in a size to be looked at; *shown has no bytes where it cannot be read. Release
 * with shown_free. */
bool report_read_whole(const struct pictures *pictures, glcnn_data_part part, uint32_t index,
                       struct shown *shown, char error[GLCNN_ERROR_LENGTH]);
/* The same with its labels drawn into it. */
bool report_draw_truth(const struct pictures *pictures, glcnn_data_part part, uint32_t index,
                       const char *const *names, struct shown *shown,
                       char error[GLCNN_ERROR_LENGTH]);

/* The first pictures of a batch of loader `parameters`, as the runner of that input has them, but for the
 * normalisation, which is undone. *count gets how many there are, REPORT_SAMPLES at most. Release with
 * report_free_pictures, after a failure too. */
bool report_read_samples(const struct pictures *pictures, glcnn_device *device,
                         const struct glcnn_data_loader_parameters *parameters,
                         const struct input_parameters *input,
                         struct report_picture samples[REPORT_SAMPLES], uint32_t *count,
                         char error[GLCNN_ERROR_LENGTH]);

/* The end of a path behind its folders, for a title. */
const char *report_name_of(const char *path);

void report_free_pictures(struct report_picture *pictures, uint32_t count);

#define REPORT_DEVICE_ROWS 3
/* The device and the versions of what ran on it. The texts live as long as the device. */
void report_describe_device(const glcnn_device *device, struct report_row rows[REPORT_DEVICE_ROWS]);

#endif
