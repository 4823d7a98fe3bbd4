/* Files without a path, as documents and assets of Android are: what is open is read, from where in a
 * file it lies, and written, as by its path. */
#include <glcnn/checkpoint.h>

#include "tests/fixture.h"
#include "tests/folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/glcnn-descriptors-XXXXXX";
static char error[GLCNN_ERROR_LENGTH];

#define BEFORE 100 /* bytes of an archive around a file in it */
#define BEHIND 50

static const char *path_of(const char *name)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof *paths, "%s/%s", folder, name);
    return path;
}

static int open_file(const char *name, int flags)
{
    int fd = open(path_of(name), flags | O_CREAT | O_CLOEXEC, 0600);
    CU_ASSERT_FATAL(fd > 2);
    return fd;
}

struct bytes {
    void *at;
    size_t size;
};

static struct bytes read_all(const char *name)
{
    struct bytes b;
    GOOD_FATAL(glcnn_file_load(path_of(name), SIZE_MAX / 2, &b.at, &b.size, error));
    return b;
}

static bool are_equal(const char *a, const char *b)
{
    struct bytes x = read_all(a), y = read_all(b);
    bool equal = x.size == y.size && memcmp(x.at, y.at, x.size) == 0;
    free(x.at);
    free(y.at);
    return equal;
}

static bool says(const char *text)
{
    if (strstr(error, text))
        return true;
    fprintf(stderr, "\nexpected \"%s\" in: %s\n", text, error);
    return false;
}

static glcnn_network *make_network(float weight)
{
    glcnn_network *network;
    GOOD_FATAL(glcnn_network_create(device, &network));
    glcnn_image_node *y = glcnn_node(glcnn_image_node_create(network, "x"), "fully_connected",
                                     "input_feature_channels=1 output_feature_channels=2");
    GOOD(glcnn_filter_node_set_label(glcnn_image_node_filter(y), "f"));
    const float weights[2] = {weight, -weight};
    GOOD_FATAL(glcnn_network_initialise(network, 1));
    GOOD_FATAL(glcnn_buffer_write(
        glcnn_kernel_vector(glcnn_filter_node_kernel(glcnn_network_filter(network, 0)), "weights"),
        0, sizeof weights, weights));
    return network;
}

static const struct glcnn_checkpoint_entry entries[] = {{"name", "\xc3\x9c"
                                                                 "bung \xe5\xad\xa6"}};
static const uint8_t packed[] = {1, 2, 3};
static const struct glcnn_checkpoint_bytes bytes[] = {{"glcnn.more", packed, sizeof packed}};

static void save(glcnn_network *network, const char *name)
{
    GOOD_FATAL(
        glcnn_checkpoint_save_with_bytes(network, path_of(name), entries, 1, bytes, 1, error));
}

/* An archive that has the file in it, and where. */
static struct glcnn_file_range pack(const char *name, const char *archive)
{
    struct bytes file = read_all(name);
    int fd = open_file(archive, O_RDWR);
    CU_ASSERT_EQUAL(pwrite(fd, file.at, file.size, BEFORE), (ssize_t)file.size);
    CU_ASSERT_EQUAL(ftruncate(fd, (off_t)(BEFORE + file.size + BEHIND)), 0);
    const struct glcnn_file_range range = {fd, BEFORE, file.size};
    free(file.at);
    return range;
}

/* ---- Reading ---- */

static void ranges_are_read(void)
{
    static const struct {
        uint64_t offset, size;
        const char *found; /* NULL: the message */
        const char *message;
    } rows[] = {{0, 0, "0123456789", NULL},
                {4, 0, "456789", NULL},
                {4, 2, "45", NULL},
                {4, 6, "456789", NULL},
                {10, 0, "", NULL},
                {4, 7, NULL, ": has 10 bytes; from byte 4 on 7 are asked for"},
                {11, 0, NULL, ": has 10 bytes; from byte 11 on 0 are asked for"},
                {1, UINT64_MAX, NULL, "from byte 1 on 18446744073709551615 are asked for"},
                {UINT64_MAX, 2, NULL, "from byte 18446744073709551615 on 2 are asked for"}};
    int fd = open_file("file", O_RDWR);
    CU_ASSERT_EQUAL(write(fd, "0123456789", 10), 10);
    CU_ASSERT_EQUAL(lseek(fd, 3, SEEK_SET), 3);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct glcnn_file_range range = {fd, rows[i].offset, rows[i].size};
        void *at = &fd;
        size_t size = 0;
        glcnn_status status = glcnn_file_load_from_fd(&range, 10, &at, &size, error);
        CU_ASSERT_EQUAL(status, rows[i].found ? GLCNN_SUCCESS : GLCNN_IO_ERROR);
        if (rows[i].found)
            CU_ASSERT(size == strlen(rows[i].found) && strcmp(at, rows[i].found) == 0)
        else
            CU_ASSERT(at == NULL && says(rows[i].message) && says("descriptor "));
        free(at);
    }
    CU_ASSERT_EQUAL(lseek(fd, 0, SEEK_CUR), 3); /* is left */
    close(fd);
    folder_empty(folder);
}

static void what_cannot_be_read_is_told(void)
{
    struct glcnn_file_range range = {.fd = -1};
    void *at;
    size_t size;
    int pipes[2], folder_fd = open(folder, O_RDONLY | O_CLOEXEC), descriptor;
    CU_ASSERT_EQUAL(glcnn_file_load_from_fd(&range, 10, &at, &size, error), GLCNN_IO_ERROR);
    CU_ASSERT_TRUE(says("descriptor -1: cannot be opened: Bad file descriptor"));
    CU_ASSERT_EQUAL_FATAL(pipe(pipes), 0);
    range.fd = pipes[0];
    CU_ASSERT_EQUAL(glcnn_file_load_from_fd(&range, 10, &at, &size, error), GLCNN_IO_ERROR);
    CU_ASSERT_TRUE(says(": is not a regular file but a pipe"));
    range.fd = folder_fd;
    CU_ASSERT_EQUAL(glcnn_file_open_from_fd(&range, &descriptor, NULL, error), GLCNN_IO_ERROR);
    CU_ASSERT(descriptor == -1 && says(": is not a regular file but a folder"));
    range.fd = open_file("file", O_WRONLY);
    CU_ASSERT_EQUAL(write(range.fd, "0123456789+", 11), 11);
    CU_ASSERT_EQUAL(glcnn_file_load_from_fd(&range, 10, &at, &size, error), GLCNN_LIMIT_EXCEEDED);
    CU_ASSERT_TRUE(says(": has 11 bytes; at most 10 are read"));
    CU_ASSERT_EQUAL(glcnn_file_load_from_fd(&range, 11, &at, &size, error), GLCNN_IO_ERROR);
    CU_ASSERT(at == NULL && says(": cannot be read: Bad file descriptor"));
    CU_ASSERT_EQUAL(glcnn_file_load_from_fd(NULL, 1, &at, &size, error), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_file_load_from_fd(&range, 11, NULL, &size, error),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_file_open_from_fd(&range, NULL, NULL, error), GLCNN_INVALID_ARGUMENT);
    close(range.fd);
    close(folder_fd);
    close(pipes[0]);
    close(pipes[1]);
    folder_empty(folder);
}

static void checkpoints_in_an_archive_are_loaded(void)
{
    glcnn_network *from = make_network(3), *to = make_network(5);
    struct glcnn_checkpoint_metadata metadata;
    uint8_t *found;
    size_t size;
    save(from, "a");
    const struct glcnn_file_range range = pack("a", "archive");
    GOOD(glcnn_checkpoint_read_metadata_from_fd(&range, &metadata, error));
    CU_ASSERT_STRING_EQUAL(glcnn_checkpoint_text(&metadata, "name"), entries[0].text);
    glcnn_checkpoint_metadata_destroy(&metadata);
    GOOD(glcnn_checkpoint_read_bytes_from_fd(&range, "glcnn.more", &found, &size, error));
    CU_ASSERT(size == sizeof packed && memcmp(found, packed, size) == 0);
    free(found);
    GOOD(glcnn_checkpoint_load_from_fd(to, &range, NULL, error));
    save(to, "b");
    CU_ASSERT_TRUE(are_equal("a", "b"));
    glcnn_network_destroy(&to);
    to = make_network(5);
    GOOD(glcnn_checkpoint_load_matching_from_fd(to, &range, NULL, 0, NULL, NULL, error));
    save(to, "b");
    CU_ASSERT_TRUE(are_equal("a", "b"));
    close(range.fd);
    glcnn_network_destroy(&from);
    glcnn_network_destroy(&to);
    folder_empty(folder);
}

/* A byte that is missing, one that is another, and no file at all. */
static void damaged_checkpoints_change_nothing(void)
{
    glcnn_network *network = make_network(3), *other = make_network(5);
    save(network, "a");
    save(other, "b");
    struct glcnn_file_range range = pack("b", "archive");
    range.size--;
    CU_ASSERT_EQUAL(glcnn_checkpoint_load_from_fd(network, &range, NULL, error),
                    GLCNN_MALFORMED_DATA);
    CU_ASSERT_TRUE(says("descriptor "));
    range.size++;
    CU_ASSERT_EQUAL(pwrite(range.fd, "?", 1, (off_t)(BEFORE + range.size - 10)), 1);
    CU_ASSERT_EQUAL(glcnn_checkpoint_load_from_fd(network, &range, NULL, error),
                    GLCNN_MALFORMED_DATA);
    CU_ASSERT_TRUE(says("is damaged"));
    CU_ASSERT_EQUAL(glcnn_checkpoint_load_from_fd(network, NULL, NULL, error),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_TRUE(says("the range is NULL"));
    close(range.fd);
    CU_ASSERT_EQUAL(glcnn_checkpoint_load_from_fd(network, &range, NULL, error), GLCNN_IO_ERROR);
    save(network, "c");
    CU_ASSERT_TRUE(are_equal("a", "c"));
    glcnn_network_destroy(&network);
    glcnn_network_destroy(&other);
    folder_empty(folder);
}

/* ---- Writing ---- */

static glcnn_status save_to_fd(glcnn_network *network, int fd)
{
    return glcnn_checkpoint_save_to_fd(network, fd, entries, 1, bytes, 1, error);
}

/* Over a longer file, whose end is cut off, from wherever the descriptor stands; and into a pipe. */
static void checkpoints_are_saved(void)
{
    glcnn_network *network = make_network(3);
    int fd = open_file("b", O_RDWR), pipes[2];
    CU_ASSERT_EQUAL(ftruncate(fd, 100000), 0);
    CU_ASSERT_EQUAL(lseek(fd, 7, SEEK_SET), 7);
    save(network, "a");
    for (int i = 0; i < 2; i++) {
        GOOD(save_to_fd(network, fd));
        CU_ASSERT_TRUE(are_equal("a", "b"));
    }
    GOOD(glcnn_checkpoint_load_from_fd(network, &(struct glcnn_file_range){.fd = fd}, NULL, error));
    close(fd);
    CU_ASSERT_EQUAL_FATAL(pipe(pipes), 0);
    GOOD(save_to_fd(network, pipes[1]));
    struct bytes file = read_all("a");
    char *found = malloc(file.size + 1);
    CU_ASSERT_EQUAL(read(pipes[0], found, file.size + 1), (ssize_t)file.size);
    CU_ASSERT_EQUAL(memcmp(found, file.at, file.size), 0);
    free(found);
    free(file.at);
    close(pipes[0]);
    close(pipes[1]);
    glcnn_network_destroy(&network);
    folder_empty(folder);
}

static void what_is_not_finite_is_not_begun(void)
{
    glcnn_network *network = make_network(3), *diverged = make_network(INFINITY);
    int fd = open_file("b", O_RDWR);
    save(network, "a");
    GOOD(save_to_fd(network, fd));
    CU_ASSERT_EQUAL(save_to_fd(diverged, fd), GLCNN_INVALID_STATE);
    CU_ASSERT_TRUE(says("value 0 is inf"));
    CU_ASSERT_TRUE(are_equal("a", "b"));
    close(fd);
    glcnn_network_destroy(&network);
    glcnn_network_destroy(&diverged);
    folder_empty(folder);
}

/* A limit of the size of files stands for a full disk: what is left is no checkpoint. */
static void what_cannot_be_written_is_told(void)
{
    glcnn_network *network = make_network(3);
    struct rlimit old, small;
    save(network, "a");
    int fd = open_file("b", O_RDWR), readable = open_file("a", O_RDONLY);
    struct glcnn_file_range range = {.fd = fd};
    CU_ASSERT_EQUAL(save_to_fd(network, -1), GLCNN_IO_ERROR);
    CU_ASSERT_TRUE(says("descriptor -1: cannot be opened: Bad file descriptor"));
    CU_ASSERT_EQUAL(save_to_fd(network, readable), GLCNN_IO_ERROR);
    CU_ASSERT_TRUE(says(": is not open for writing"));
    CU_ASSERT_EQUAL(save_to_fd(NULL, fd), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_file_create_from_fd(fd, NULL, error), GLCNN_INVALID_ARGUMENT);
    GOOD(glcnn_checkpoint_load(network, path_of("a"), NULL, error));
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 300;
    setrlimit(RLIMIT_FSIZE, &small);
    glcnn_status status = save_to_fd(network, fd);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_DFL);
    CU_ASSERT_EQUAL(status, GLCNN_IO_ERROR);
    CU_ASSERT_TRUE(says(": cannot be written: File too large"));
    CU_ASSERT_EQUAL(glcnn_checkpoint_load_from_fd(network, &range, NULL, error),
                    GLCNN_MALFORMED_DATA);
    close(fd);
    close(readable);
    glcnn_network_destroy(&network);
    folder_empty(folder);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(ranges_are_read),
                                        UNIT_TEST(what_cannot_be_read_is_told),
                                        UNIT_TEST(checkpoints_in_an_archive_are_loaded),
                                        UNIT_TEST(damaged_checkpoints_change_nothing),
                                        UNIT_TEST(checkpoints_are_saved),
                                        UNIT_TEST(what_is_not_finite_is_not_begun),
                                        UNIT_TEST(what_cannot_be_written_is_told),
                                        CU_TEST_INFO_NULL};
    if (!mkdtemp(folder))
        return EXIT_FAILURE;
    int result = fixture_run("descriptors", tests, argc, argv);
    rmdir(folder);
    return result;
}
