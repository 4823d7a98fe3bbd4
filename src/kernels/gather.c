/* Numbers by constant indices: spec 7.25. What an encode finds in the indices stays with their
 * buffer, which does not change from then on, so that the gradient, which has the buffer by its
 * state, knows it too. */
#include "kernels/gather.h"

#include <stdlib.h>

#include "encode/kernel.h"
#include "encode/window.h"

/* Float32 holds whole numbers up to here. */
#define MOST_NUMBERS (1u << 24)

/* What is known of indices. The two buffers are made for the first gradient. */
struct known_indices {
    uint32_t largest;
    struct glcnn_buffer *starts; /* of each source number's places; ends with their count */
    struct glcnn_buffer *places; /* results by index, then in order */
};

static void release_known(void *object)
{
    struct known_indices *known = object;
    glcnn_buffer_destroy(&known->starts);
    glcnn_buffer_destroy(&known->places);
    free(known);
}

/* ---- Sizes and checks ---- */

static size_t result_count(const struct operation *o)
{
    const struct glcnn_gather_parameters *p = o->parameters;
    return (size_t)p->width * p->height * p->feature_channels;
}

static size_t length(const struct operation *o, size_t index)
{
    (void)index;
    return result_count(o);
}

static void shape(const struct operation *o, struct glcnn_image_descriptor *result)
{
    const struct glcnn_gather_parameters *p = o->parameters;
    result->width = p->width;
    result->height = p->height;
    result->feature_channels = p->feature_channels;
}

static bool check_source(const struct operation *o, struct validation validation)
{
    uint64_t there = elements_in(elements_source(o));
    return there <= MOST_NUMBERS ||
           invalid(validation,
                   "an image of the source has %llu numbers; indices, which are float32, reach %u",
                   (unsigned long long)there, MOST_NUMBERS);
}

static bool check(const struct operation *o, struct validation validation)
{
    return check_source(o, validation) && elements_check_size(o, validation);
}

static bool gradient_check(const struct operation *o, struct validation validation)
{
    return check_source(o, validation) && elements_check_state(o, validation);
}

/* ---- Indices ---- */

static const struct vector_view *indices_of(const struct operation *o)
{
    return &o->vectors[operation_is_gradient(o) ? GATHER_GRADIENT_INDICES : GATHER_INDICES];
}

/* The values of the vector, the caller's to free; NULL: the plan has failed. */
static float *read_indices(const struct operation *o, struct plan *plan)
{
    const struct vector_view *view = indices_of(o);
    float *values = malloc(view->count * sizeof *values);
    if (!values) {
        plan_fail(plan, GLCNN_OUT_OF_MEMORY, "%s: out of memory reading indices", plan->kernel);
        return NULL;
    }
    glcnn_status status = glcnn_buffer_read(view->buffer, 0, view->count * 4, values);
    if (status == GLCNN_SUCCESS)
        return values;
    plan->status = status;
    free(values);
    return NULL;
}

static bool is_index(float value, uint64_t numbers)
{
    return value >= 0 && value < (float)numbers && value == (float)(uint32_t)value;
}

static void refuse_index(const struct operation *o, struct plan *plan, size_t at, float value)
{
    const struct glcnn_gather_parameters *p = o->parameters;
    size_t row = at / p->width;
    plan_fail(plan, GLCNN_INVALID_ARGUMENT,
              "%s: indices[%zu], of channel %zu, row %zu and column %zu of the result, is %g; it "
              "must be a whole number from 0 to %llu, as an image of the source has %llu numbers",
              plan->kernel, at, row / p->height, row % p->height, at % p->width, (double)value,
              (unsigned long long)elements_in(elements_source(o)) - 1,
              (unsigned long long)elements_in(elements_source(o)));
}

/* False if an index lies outside the source; *largest gets the largest of them. */
static bool check_indices(const struct operation *o, struct plan *plan, const float *values,
                          uint32_t *largest)
{
    const uint64_t numbers = elements_in(elements_source(o));
    *largest = 0;
    for (size_t i = 0; i < indices_of(o)->count; i++) {
        if (!is_index(values[i], numbers)) {
            refuse_index(o, plan, i, values[i]);
            return false;
        }
        if ((uint32_t)values[i] > *largest)
            *largest = (uint32_t)values[i];
    }
    return true;
}

static void keep_known(const struct operation *o, struct plan *plan, uint32_t largest)
{
    struct known_indices *known = calloc(1, sizeof *known);
    if (known) {
        known->largest = largest;
        buffer_keep(indices_of(o)->buffer, known, release_known);
    } else {
        plan_fail(plan, GLCNN_OUT_OF_MEMORY, "%s: out of memory reading indices", plan->kernel);
    }
}

/* Looks at the values unless they are known to be within the source. */
static struct known_indices *know_indices(const struct operation *o, struct plan *plan)
{
    struct glcnn_buffer *buffer = indices_of(o)->buffer;
    const struct known_indices *known = buffer->known;
    uint32_t largest;
    if (known && known->largest < elements_in(elements_source(o)))
        return buffer->known;
    float *values = read_indices(o, plan);
    if (values && check_indices(o, plan, values, &largest))
        keep_known(o, plan, largest);
    free(values);
    return plan->status == GLCNN_SUCCESS ? buffer->known : NULL;
}

/* ---- Places by index ---- */

/* Counts in starts[i + 2] the places of i, and then lets starts[i + 1] go from where they begin to
 * where they end. */
static void sort_places(const float *values, size_t count, uint32_t largest, int32_t *starts,
                        int32_t *places)
{
    for (size_t j = 0; j < count; j++)
        starts[(size_t)values[j] + 2]++;
    for (size_t i = 2; i < (size_t)largest + 3; i++)
        starts[i] += starts[i - 1];
    for (size_t j = 0; j < count; j++)
        places[starts[(size_t)values[j] + 1]++] = (int32_t)j;
}

static glcnn_status make_buffer(struct glcnn_device *device, const int32_t *values, size_t count,
                                struct glcnn_buffer **buffer)
{
    glcnn_status status = glcnn_buffer_create(device, count * 4, buffer);
    return status == GLCNN_SUCCESS ? glcnn_buffer_write(*buffer, 0, count * 4, values) : status;
}

static glcnn_status make_places(struct glcnn_device *device, const float *values, size_t count,
                                struct known_indices *known)
{
    const size_t start_count = (size_t)known->largest + 2;
    int32_t *starts = calloc(start_count + 1, sizeof *starts);
    int32_t *places = malloc(count * sizeof *places);
    glcnn_status status = GLCNN_OUT_OF_MEMORY;
    if (starts && places) {
        sort_places(values, count, known->largest, starts, places);
        status = make_buffer(device, starts, start_count, &known->starts);
        if (status == GLCNN_SUCCESS)
            status = make_buffer(device, places, count, &known->places);
    } else {
        device_fail(device, status, "gather_gradient: out of memory sorting indices");
    }
    free(starts);
    free(places);
    return status;
}

/* Of the indices that a gradient follows; NULL: the plan has failed. */
static const struct known_indices *sorted_indices(const struct operation *o, struct plan *plan)
{
    struct known_indices *known = know_indices(o, plan);
    if (!known || known->places)
        return known;
    float *values = read_indices(o, plan);
    if (values)
        plan->status = make_places(o->device, values, indices_of(o)->count, known);
    free(values);
    if (plan->status != GLCNN_SUCCESS) {
        glcnn_buffer_destroy(&known->starts);
        glcnn_buffer_destroy(&known->places);
    }
    return plan->status == GLCNN_SUCCESS ? known : NULL;
}

/* ---- Passes ---- */

static void plan_forward(const struct operation *o, struct plan *plan)
{
    if (!know_indices(o, plan))
        return;
    struct pass *pass = plan_rearranged(o, plan, "gather/place_gathered.glsl");
    pass_most_elements(pass, elements_in(elements_source(o)));
    pass_vector(pass, "indices", indices_of(o), VECTOR_READ);
}

static struct vector_view whole_of(struct glcnn_buffer *buffer)
{
    return (struct vector_view){buffer, 0, buffer->size / 4, false};
}

static void plan_gradient(const struct operation *o, struct plan *plan)
{
    const struct known_indices *known = sorted_indices(o, plan);
    if (!known)
        return;
    struct vector_view starts = whole_of(known->starts), places = whole_of(known->places);
    struct pass *pass =
        plan_rearranged_by(o, plan, "gather/gather_gradient.comp", "slice/place_of.glsl");
    pass_most_elements(pass, elements_in(elements_result(o)));
    pass_int(pass, "last_start", (int32_t)starts.count - 1);
    pass_vector_of(pass, "int", "starts", &starts, VECTOR_READ);
    pass_vector_of(pass, "int", "places", &places, VECTOR_READ);
    pass->work = 64 + 64 * least((uint32_t)(places.count / elements_in(elements_source(o))),
                                 UINT32_MAX / 128);
}

/* ---- Descriptors ---- */

#define FIELD(MEMBER) offsetof(struct glcnn_gather_parameters, MEMBER)

static const struct parameter rows[] = {
    {"width", "columns of the result", FIELD_UINT32, FIELD(width), 1, 1, 65536, NULL},
    {"height", "rows of the result", FIELD_UINT32, FIELD(height), 1, 1, 65536, NULL},
    {"feature_channels", "channels of the result", FIELD_UINT32, FIELD(feature_channels), 1, 1,
     65536, NULL},
    {0}};

static const struct argument forward_arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true},
    {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
    {.name = "indices",
     .place = PLACE_KERNEL,
     .input = true,
     .constant = true,
     .values = VALUES_INDEX},
    {0}};

static const struct argument gradient_arguments[] = {
    {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
    {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
    {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},
    {.name = "indices",
     .place = PLACE_STATE,
     .input = true,
     .constant = true,
     .values = VALUES_INDEX},
    {0}};

const struct glcnn_descriptor glcnn_kernel_gather = {
    .name = "gather",
    .text = "numbers of each image by constant indices",
    .family = "gather",
    .gradient = "gather_gradient",
    .flags = MAKES_STATE,
    .unread = UNREAD_FIRST,
    .parameters_size = sizeof(struct glcnn_gather_parameters),
    .parameters = rows,
    .arguments = forward_arguments,
    .keeps_zero = descriptor_always,
    .shape = shape,
    .length = length,
    .check = check,
    .plan = plan_forward,
};

const struct glcnn_descriptor glcnn_kernel_gather_gradient = {
    .name = "gather_gradient",
    .text = "gradient of gather, the sum over what read each number",
    .family = "gather",
    .forward = "gather",
    .flags = IS_GRADIENT | NEEDS_STATE,
    .parameters_size = sizeof(struct glcnn_gather_parameters),
    .parameters = rows,
    .arguments = gradient_arguments,
    .length = length,
    .check = gradient_check,
    .plan = plan_gradient,
};
