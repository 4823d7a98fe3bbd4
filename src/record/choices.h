/* Choices between implementations that timed trials have made (GLCNN_TUNE): kept for the device's life, and
 * in the folder of program binaries for processes to come. */
#ifndef GLCNN_CHOICES_H
#define GLCNN_CHOICES_H

#include "device/device.h"

enum tuning { TUNING_OFF, TUNING_FULL, TUNINGS };
extern const char *const tuning_names[TUNINGS];

struct choice;

struct choices {
    enum tuning tuning;
    uint64_t (*clock)(void); /* nanoseconds; tests have their own */
    struct choice *first;
};

/* What the environment's GLCNN_TUNE asks for; a word that it may not be is refused. */
glcnn_status choices_create(struct glcnn_device *device, struct choices **choices);
void choices_destroy(struct choices *choices);

/* The row that was chosen for `key`, one of `rows`, which end with NULL; NULL: none was. What a file
 * says is believed only if it is whole, of the same key, driver and version, and names a row. */
const char *choice_find(struct glcnn_device *device, const char *key, const char *const *rows);
/* Keeps a choice, and returns what stands: another process may have been first. */
const char *choice_keep(struct glcnn_device *device, const char *key, const char *const *rows,
                        const char *row);

#endif
