/* Event files: the messages are events.proto's, the records those of TensorFlow's TFRecord. */
#include "event_file.h"

#include <dirent.h>
#include <errno.h>
#include <events.pb-c.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "task/png_file.h"

#define NAME "events.out.tfevents." /* TensorBoard reads what has tfevents in its name */

/* ---- Records ---- */

/* CRC-32C, of the polynomial 0x1edc6f41 with its bits reversed. */
static uint32_t crc32c(const uint8_t *bytes, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
    }
    return ~crc;
}

/* Little-endian. */
static void put(uint8_t *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

/* Checksums are masked, since those of bytes that have checksums in them are weak. */
static void put_crc(uint8_t *at, const uint8_t *bytes, size_t size)
{
    uint32_t crc = crc32c(bytes, size);
    put(at, (uint32_t)((crc >> 15 | crc << 17) + UINT32_C(0xa282ead8)), 4);
}

static void write_all(struct event_file *file, const uint8_t *bytes, size_t size)
{
    while (size > 0 && !file->error) {
        ssize_t written = write(file->descriptor, bytes, size);
        if (written < 0 && errno != EINTR)
            file->error = errno;
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        }
    }
}

#define HEAD 12 /* bytes before an event: its length and the checksum of that */
#define FOOT 4

static void write_event(struct event_file *file, Events__Event *event)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    event->wall_time = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
    size_t size = events__event__get_packed_size(event);
    uint8_t *record = malloc(HEAD + size + FOOT);
    if (!record) {
        file->error = file->error ? file->error : ENOMEM;
        return;
    }
    put(record, size, 8);
    put_crc(record + 8, record, 8);
    events__event__pack(event, record + HEAD);
    put_crc(record + HEAD + size, record + HEAD, size);
    write_all(file, record, HEAD + size + FOOT);
    free(record);
}

/* ---- Opening ---- */

/* The number behind the latest file's. */
static long long next_number(const char *folder)
{
    long long number = (long long)time(NULL), other;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (sscanf(entry->d_name, NAME "%lld", &other) == 1 && other >= number && other < INT64_MAX)
            number = other + 1;
    if (directory)
        closedir(directory);
    return number;
}

/* The version comes first; what a session that starts at a step means is that other files are valid
 * up to it. */
static void write_head(struct event_file *file, uint64_t first)
{
    static char version_text[] = "brain.Event:2";
    Events__SessionLog session = EVENTS__SESSION_LOG__INIT;
    Events__Event version = EVENTS__EVENT__INIT, start = EVENTS__EVENT__INIT;
    version.what_case = EVENTS__EVENT__WHAT_FILE_VERSION;
    version.file_version = version_text;
    session.status = EVENTS__SESSION_LOG__STATUS__START;
    start.step = (int64_t)first + 1;
    start.what_case = EVENTS__EVENT__WHAT_SESSION_LOG;
    start.session_log = &session;
    write_event(file, &version);
    write_event(file, &start);
}

static bool fail(const struct event_file *file, const char *what, int reason,
                 char error[GLCNN_ERROR_LENGTH])
{
    snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: %s: %s", file->path, what, strerror(reason));
    return false;
}

/* The name too is to be on the disk. */
static void sync_folder(const char *folder)
{
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return;
    fsync(descriptor);
    close(descriptor);
}

bool event_file_open(struct event_file *file, const char *folder, uint64_t first,
                     char error[GLCNN_ERROR_LENGTH])
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC;
    *file = (struct event_file){.descriptor = 0};
    snprintf(file->path, sizeof file->path, "%.4000s/" NAME "%010lld.glcnn", folder,
             next_number(folder));
    file->descriptor = open(file->path, flags, 0666);
    if (file->descriptor < 0) {
        file->descriptor = 0;
        return fail(file, "cannot be created", errno, error);
    }
    write_head(file, first);
    event_file_sync(file);
    sync_folder(folder);
    return !file->error || event_file_close(file, error);
}

/* ---- Events ---- */

static void write_values(struct event_file *file, uint64_t step, Events__Value **values,
                         size_t count)
{
    Events__Summary summary = EVENTS__SUMMARY__INIT;
    Events__Event event = EVENTS__EVENT__INIT;
    summary.value = values;
    summary.n_value = count;
    event.step = (int64_t)step;
    event.what_case = EVENTS__EVENT__WHAT_SUMMARY;
    event.summary = &summary;
    write_event(file, &event);
}

void event_file_numbers(struct event_file *file, uint64_t step, const struct event_number *numbers,
                        size_t count)
{
    Events__Value values[EVENT_NUMBERS_MAX], *list[EVENT_NUMBERS_MAX];
    if (file->descriptor == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        events__value__init(list[i] = &values[i]);
        values[i].tag = (char *)(uintptr_t)numbers[i].tag;
        values[i].value_case = EVENTS__VALUE__VALUE_SIMPLE_VALUE;
        values[i].simple_value = (float)numbers[i].value;
    }
    write_values(file, step, list, count);
}

void event_file_picture(struct event_file *file, uint64_t step, const char *tag,
                        const struct shown *shown)
{
    Events__Image image = EVENTS__IMAGE__INIT;
    Events__Value value = EVENTS__VALUE__INIT, *list = &value;
    const char *reason;
    if (file->descriptor == 0)
        return;
    image.encoded_image_string.data =
        png_encode(shown->bytes, shown->width, shown->height, shown->channels,
                   &image.encoded_image_string.len, &reason);
    if (!image.encoded_image_string.data) {
        file->error = file->error ? file->error : ENOMEM;
        return;
    }
    image.width = (int32_t)shown->width;
    image.height = (int32_t)shown->height;
    image.colorspace = (int32_t)shown->channels;
    value.tag = (char *)(uintptr_t)tag;
    value.value_case = EVENTS__VALUE__VALUE_IMAGE;
    value.image = &image;
    write_values(file, step, &list, 1);
    free(image.encoded_image_string.data);
}

void event_file_sync(struct event_file *file)
{
    int result;
    if (file->descriptor == 0)
        return;
    do
        result = fsync(file->descriptor);
    while (result != 0 && errno == EINTR);
    if (result != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS && !file->error)
        file->error = errno;
}

bool event_file_close(struct event_file *file, char error[GLCNN_ERROR_LENGTH])
{
    if (file->descriptor > 0 && close(file->descriptor) != 0 && !file->error)
        file->error = errno;
    file->descriptor = 0;
    const int reason = file->error;
    file->error = 0;
    return !reason || fail(file, "cannot be written", reason, error);
}
