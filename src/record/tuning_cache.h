/* Choices between implementations that timed trials have made (GLCNN_TUNE): kept for the device's life, and
 * in the folder of program binaries for processes to come. */
#ifndef GLCNN_TUNING_CACHE_H
#define GLCNN_TUNING_CACHE_H

#include "device/device.h"

enum tuning { TUNING_OFF, TUNING_FULL, TUNINGS };
extern const char *const tuning_names[TUNINGS];

struct tuning_entry;

struct tuning_cache {
    enum tuning tuning;
    uint64_t (*clock)(void); /* nanoseconds; tests have their own */
    struct tuning_entry *first;
};

/* What the environment's GLCNN_TUNE asks for; a word that it may not be is refused. */
glcnn_status tuning_cache_create(struct glcnn_device *device, struct tuning_cache **cache);
void tuning_cache_destroy(struct tuning_cache *cache);

/* The row that was chosen for `key`, one of `rows`, which end with NULL; NULL: none was. What a file
 * says is believed only if it is whole, of the same key, driver and version, and names a row. */
const char *tuning_cache_find(struct glcnn_device *device, const char *key,
                              const char *const *rows);
/* Keeps a choice, and returns what stands: another process may have been first. */
const char *tuning_cache_keep(struct glcnn_device *device, const char *key, const char *const *rows,
                              const char *row);

#endif
