/* Banks as bytes, and what is known of them as texts. */
#include "anomaly_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"

#define PATCHES_MAX UINT64_C(65535)

/* ---- Bytes ---- */

static uint8_t *pack(const float *values, size_t count)
{
    uint8_t *bytes = malloc(count * 4);
    for (size_t i = 0; bytes && i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        for (int k = 0; k < 4; k++)
            bytes[4 * i + (size_t)k] = (uint8_t)(bits >> 8 * k);
    }
    return bytes;
}

static float *unpack(const uint8_t *bytes, size_t count)
{
    float *values = malloc(count * sizeof *values);
    for (size_t i = 0; values && i < count; i++) {
        uint32_t bits = 0;
        for (int k = 0; k < 4; k++)
            bits |= (uint32_t)bytes[4 * i + (size_t)k] << 8 * k;
        memcpy(&values[i], &bits, sizeof bits);
    }
    return values;
}

/* ---- Writing ---- */

enum { THRESHOLD, QUANTILE, FITTED, HELD_OUT, RANK, SEED, PATCHES, CHANNELS, OUTPUTS, ENTRIES };
static const char *const names[ENTRIES] = {"threshold", "quantile", "fitted",   "held_out", "rank",
                                           "seed",      "patches",  "channels", "outputs"};
#define GROUP "anomaly"

#define TEXT_MAX 600

static void write_texts(const struct patches *p, const struct bank *bank,
                        const struct anomaly_record *r, char texts[ENTRIES][TEXT_MAX])
{
    snprintf(texts[THRESHOLD], TEXT_MAX, "%.17g", r->threshold);
    snprintf(texts[QUANTILE], TEXT_MAX, "%.17g", r->quantile);
    snprintf(texts[FITTED], TEXT_MAX, "%" PRIu32, r->fitted);
    snprintf(texts[HELD_OUT], TEXT_MAX, "%" PRIu32, r->held_out);
    snprintf(texts[RANK], TEXT_MAX, "%" PRIu32, r->rank);
    snprintf(texts[SEED], TEXT_MAX, "%" PRIu64, r->seed);
    snprintf(texts[PATCHES], TEXT_MAX, "%" PRIu32, bank->count);
    snprintf(texts[CHANNELS], TEXT_MAX, "%" PRIu32, bank->channels);
    texts[OUTPUTS][0] = 0;
    for (size_t k = 0, used = 0; k < p->output_count && used < TEXT_MAX; k++)
        used += (size_t)snprintf(texts[OUTPUTS] + used, TEXT_MAX - used, "%s%.290s", k ? "," : "",
                                 p->outputs[k].label);
}

/* The file is no network of any task, and not the backbone's ONNX file any more. */
static struct saved describe(const struct saved *saved, const uint8_t *bytes, size_t size)
{
    struct saved all = *saved;
    all.form.classes = 0;
    all.form.task = 0;
    memset(all.bytes, 0, sizeof all.bytes);
    all.bytes[SAVED_BANK] = (struct glcnn_checkpoint_bytes){SAVED_BANK_NAME, bytes, size};
    return all;
}

bool anomaly_file_write(const char *path, const struct saved *saved, const struct patches *patches,
                        const struct bank *bank, const struct anomaly_record *record,
                        char error[GLCNN_ERROR_LENGTH])
{
    char texts[ENTRIES][TEXT_MAX];
    struct glcnn_checkpoint_entry entries[ENTRIES];
    const size_t values = (size_t)bank->count * bank->channels;
    uint8_t *bytes = pack(bank->values, values);
    if (!bytes) {
        snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
        return false;
    }
    write_texts(patches, bank, record, texts);
    for (size_t i = 0; i < ENTRIES; i++)
        entries[i] = (struct glcnn_checkpoint_entry){names[i], texts[i]};
    const struct saved all = describe(saved, bytes, values * 4);
    bool written = saved_write(&all, &patches->part, path, GROUP, entries, ENTRIES, error);
    free(bytes);
    return written;
}

/* ---- Reading ---- */

static const char *text_of(const struct glcnn_checkpoint_metadata *m, size_t i)
{
    char key[64];
    snprintf(key, sizeof key, GROUP ".%s", names[i]);
    return glcnn_checkpoint_text(m, key);
}

static bool read_whole(const struct glcnn_checkpoint_metadata *m, size_t i, uint32_t *value)
{
    uint64_t number;
    const char *text = text_of(m, i);
    if (!text || !option_whole(text, 1, PATCHES_MAX, &number))
        return false;
    *value = (uint32_t)number;
    return true;
}

static bool read_texts(const struct glcnn_checkpoint_metadata *m, struct bank *bank,
                       struct anomaly_record *record)
{
    const char *threshold = text_of(m, THRESHOLD);
    return threshold && option_real(threshold, 0, HUGE_VAL, &record->threshold) &&
           isfinite(record->threshold) && read_whole(m, PATCHES, &bank->count) &&
           read_whole(m, CHANNELS, &bank->channels);
}

/* False without a message: it is no bank of that size, or has values that are not finite. */
static bool read_bank(const struct saved *saved, struct bank *bank)
{
    const struct glcnn_checkpoint_bytes *bytes = &saved->bytes[SAVED_BANK];
    const uint64_t count = (uint64_t)bank->count * bank->channels;
    if (bytes->size != count * 4)
        return false;
    bank->values = unpack(bytes->bytes, (size_t)count);
    return bank->values &&
           glcnn_kernel_wrong_value("weights", bank->values, (size_t)count, NULL) == count;
}

bool anomaly_file_read(const char *path, const struct saved *saved, struct bank *bank,
                       struct anomaly_record *record, char error[GLCNN_ERROR_LENGTH])
{
    struct glcnn_checkpoint_metadata m;
    if (!saved->bytes[SAVED_BANK].bytes) {
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "%.300s: has no bank of patches; \"glcnn anomaly fit\" makes files that have one",
                 path);
        return false;
    }
    if (glcnn_checkpoint_read_metadata(path, &m, error) != GLCNN_SUCCESS)
        return false;
    bool good = read_texts(&m, bank, record) && read_bank(saved, bank);
    glcnn_checkpoint_metadata_destroy(&m);
    if (!good)
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "%.300s: its bank of patches is not what its metadata say: finite values, "
                 "anomaly.patches times anomaly.channels, and a threshold",
                 path);
    return good;
}
