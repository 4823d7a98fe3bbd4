/* Threads that want one device at the same time: one has it, the others are refused, and hand it
 * on.
 *
 * test_threads.sh builds this and the library's sources with ThreadSanitizer, which says where two
 * threads touch the same memory. The exit status is 0 if every call ended as it should. */
#include <glcnn/glcnn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define THREADS 3
#define ROUNDS  200

static glcnn_device *device;
static glcnn_buffer *buffer;

/* The sources are built with this for memcpy: what the C library does is not watched, so that
 * drivers are not. volatile: no compiler makes a memcpy of it. */
void *copy_bytes(void *to, const void *from, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ((volatile char *)to)[i] = ((const char *)from)[i];
    return to;
}

struct result {
    unsigned had, refused, wrong;
};

/* What a thread that does not have the device may be told, and no word of its owner's errors. */
static bool is_refusal(void)
{
    return strstr(glcnn_device_error(device), "belongs to") != NULL;
}

static void *call_unasked(void *data)
{
    struct result *result = data;
    for (int i = 0; i < ROUNDS; i++) {
        glcnn_image *image = NULL;
        struct glcnn_image_descriptor descriptor = {4, 4, 4, 1, 0};
        bool refused = glcnn_image_create(device, &descriptor, &image) == GLCNN_INVALID_STATE &&
                       glcnn_buffer_create(device, 4, NULL) == GLCNN_INVALID_ARGUMENT;
        result->refused += refused;
        result->wrong += !refused || !is_refusal();
    }
    return NULL;
}

static void *take_turns(void *data)
{
    struct result *result = data;
    for (int i = 0; i < ROUNDS; i++) {
        float value = 0;
        if (glcnn_device_acquire(device) != GLCNN_SUCCESS) {
            result->refused++;
            continue;
        }
        result->had++;
        result->wrong += glcnn_buffer_read(buffer, 0, 4, &value) != GLCNN_SUCCESS;
        value++;
        result->wrong += glcnn_buffer_write(buffer, 0, 4, &value) != GLCNN_SUCCESS;
        result->wrong += glcnn_device_hand_over(device) != GLCNN_SUCCESS;
    }
    return NULL;
}

/* Runs the function on all threads, and this one's part beside them. */
static struct result run(void *(*function)(void *), unsigned (*meanwhile)(void))
{
    struct result results[THREADS] = {{0, 0, 0}}, sum = {0, 0, 0};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, function, &results[i]);
    if (meanwhile)
        sum.wrong += meanwhile();
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum.had += results[i].had;
        sum.refused += results[i].refused;
        sum.wrong += results[i].wrong;
    }
    return sum;
}

/* The owner reads its own message while others are refused. */
static unsigned fail_as_owner(void)
{
    unsigned wrong = 0;
    float value;
    for (int i = 0; i < ROUNDS; i++) {
        wrong += glcnn_buffer_read(buffer, 1, 4, &value) != GLCNN_INVALID_ARGUMENT;
        wrong += strstr(glcnn_device_error(device), "offset and size") == NULL;
    }
    return wrong;
}

int main(void)
{
    struct glcnn_device_parameters software = {.device = "software"};
    float value = 0;
    if (glcnn_device_create(&software, &device) != GLCNN_SUCCESS ||
        glcnn_buffer_create(device, 64, &buffer) != GLCNN_SUCCESS)
        return 2;
    struct result unasked = run(call_unasked, fail_as_owner);
    glcnn_status released = glcnn_device_hand_over(device);
    struct result turns = run(take_turns, NULL);
    glcnn_status acquired = glcnn_device_acquire(device);
    glcnn_status read = glcnn_buffer_read(buffer, 0, 4, &value);
    glcnn_buffer_destroy(&buffer);
    glcnn_device_destroy(&device);
    printf("unasked: %u refused, %u wrong; turns: %u had, %u refused, %u wrong, counted %g\n",
           unasked.refused, unasked.wrong, turns.had, turns.refused, turns.wrong, (double)value);
    bool good = unasked.refused == THREADS * ROUNDS && !unasked.wrong && !turns.wrong &&
                turns.had + turns.refused == THREADS * ROUNDS && turns.had > 0 &&
                value == (float)turns.had && released == GLCNN_SUCCESS &&
                acquired == GLCNN_SUCCESS && read == GLCNN_SUCCESS;
    return good ? 0 : 1;
}
