/* glcnn anomaly: what its two parts, fit and score, share. They return exit statuses, and have printed
 * what was wrong. */
#ifndef GLCNN_TOOL_ANOMALY_H
#define GLCNN_TOOL_ANOMALY_H

#include <glcnn/anomaly.h>

#include "tool.h"
#include "train/claim.h"

struct anomaly {
    const struct tool_command *command;
    struct tool_device tool;
    struct glcnn_anomaly_parameters parameters;
    const char *model, *out, *maps; /* as the command line has them */
    size_t layer_count;
    bool json;
    struct claims claims;
    glcnn_anomaly *bank;
};

int anomaly_fit(struct anomaly *anomaly, const char *folder);
int anomaly_score(struct anomaly *anomaly, const char *model, char *const *files);

/* complain of a failure. */
int anomaly_fail(const struct anomaly *anomaly, const char *error);
/* Opens the device. */
int anomaly_open_device(struct anomaly *anomaly);

#endif
