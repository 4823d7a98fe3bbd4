/* The contents of YOLO's data.yaml, or of Darknet's obj.data. */
#ifndef GLCNN_DATA_DATA_YAML_H
#define GLCNN_DATA_DATA_YAML_H

#include <glcnn/data.h>

#include "folder.h"
#include "names.h"

struct data_yaml {
    struct names names;                     /* of the classes; none: it lists none */
    char *root;                             /* `path`, which the parts are below; NULL: not said */
    struct listing parts[GLCNN_DATA_PARTS]; /* folders, or lists of pictures */
    uint32_t
        keypoint_shape[2];  /* `kpt_shape`: points after the box of a line, and numbers of each */
    struct names keypoints; /* `kpt_names`, of the first class that has some */
};

/* True if the file is YAML by its name, in any case of letters. */
bool data_yaml_is(const char *path);
/* *yaml is to be released, after a failure too. */
glcnn_status data_yaml_read(const char *path, struct data_yaml *yaml, char *error);
void data_yaml_free(struct data_yaml *yaml);

#endif
