/* What the library is used for, as sequences of calls each of which may fail. */
#ifndef GLCNN_TESTS_FAULTS_SCENARIOS_H
#define GLCNN_TESTS_FAULTS_SCENARIOS_H

#include <glcnn/glcnn.h>

#define MOST_RESULTS 2048

/* One run of a scenario. */
struct fault_run {
    glcnn_device *device;
    const char *folder; /* empty but for what the scenario writes */
    bool retries;       /* what failed is tried once more, with nothing failing any more */

    glcnn_status failed; /* the first failure, GLCNN_SUCCESS where there was none */
    char call[96], message[512];
    bool told;       /* the failure has a message */
    bool gone_wrong; /* a call failed that had no fault left in it: `call` and `message` */
    bool warned;     /* a device was opened that runs nothing, with a warning that says so */
    bool undefined;  /* the message says that what was computed is undefined */
    bool ended;      /* the scenario came to its end */
    float results[MOST_RESULTS];
    size_t result_count;
};

struct fault_scenario {
    const char *name;
    void (*run)(struct fault_run *run);
    bool fresh;      /* each run on a device of its own: programs are compiled again */
    bool deviceless; /* makes its own devices, or needs none */
};

extern const struct fault_scenario fault_scenarios[]; /* ends with a name of NULL */

size_t fault_samples(const struct fault_scenario *scenario);

#endif
