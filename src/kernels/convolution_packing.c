/* Weights of convolutions packed for their passes, and the windows that these go over. */
#include "kernels/convolution_plan.h"

/* Most elements, of a slice of outputs and in all, of a matrix that has a single row for a slice,
 * which is the fastest to read. */
#define SMALL_SLICE  160u
#define SMALL_MATRIX 2048u
/* Elements of a row of others, 1 << PACKED_SHIFT: they lie in the textures of most images then. */
#define ROW_ELEMENTS 16u

static struct channels transpose(const struct channels *c)
{
    return (struct channels){c->outputs, c->inputs, c->groups, c->outputs_per_group,
                             c->inputs_per_group};
}

/* Slices of input that the four outputs of any slice see at most. */
static uint32_t input_range(const struct channels *c)
{
    uint32_t range = 1;
    for (uint32_t o = 0; o < c->outputs; o += 4) {
        uint32_t last = least(o + 3, c->outputs - 1);
        uint32_t begin = o / c->outputs_per_group * c->inputs_per_group / 4;
        uint32_t end = ((last / c->outputs_per_group + 1) * c->inputs_per_group - 1) / 4;
        range = end - begin + 1 > range ? end - begin + 1 : range;
    }
    return range;
}

void packing_set_taps(struct packing *p, struct taps x, struct taps y)
{
    p->x = x;
    p->y = y;
    p->elements = (uint32_t)(x.count * y.count) * p->range * p->components;
}

struct packing packing_of(const struct operation *o, bool transposed)
{
    struct channels c = convolution_channels(o);
    int32_t width = o->window.x.size, height = o->window.y.size;
    struct packing p = {.channels = transposed ? transpose(&c) : c,
                        .layer_width = width,
                        .layer_taps = width * height,
                        .transposed = transposed};
    p.slices = slice_count(p.channels.outputs);
    p.depthwise = c.groups > 1 && c.inputs_per_group == 1 && c.outputs_per_group == 1;
    p.one_channel = p.channels.inputs == 1;
    p.components = p.depthwise || p.one_channel ? 1 : 4;
    p.range = input_range(&p.channels);
    packing_set_taps(&p, (struct taps){0, 1, width}, (struct taps){0, 1, height});
    return p;
}

bool packing_is_dense(const struct packing *p)
{
    return p->channels.groups == 1 && p->components == 4;
}

bool packing_is_in_order(const struct packing *p)
{
    return !p->transposed && p->x.first == 0 && p->y.first == 0 && p->x.step == 1 &&
           p->y.step == 1 && p->layer_width == p->x.count &&
           p->layer_taps == p->x.count * p->y.count &&
           (p->components == 1 || p->channels.inputs % 4 == 0);
}

void pass_packing(struct pass *pass, const struct packing *p)
{
    pass_define(pass, "COMPONENTS", (int)p->components);
    if (p->channels.groups > 1)
        pass_define(pass, "GROUPED", 1);
    if (p->depthwise)
        pass_define(pass, "DEPTHWISE", 1);
    if (p->one_channel)
        pass_define(pass, "ONE_CHANNEL", 1);
    pass_int(pass, "range", (int32_t)p->range);
    pass_int(pass, "element_count", (int32_t)p->elements);
    pass_int(pass, "inputs_per_group", (int32_t)p->channels.inputs_per_group);
    pass_int(pass, "outputs_per_group", (int32_t)p->channels.outputs_per_group);
}

void pass_weight_places(struct pass *pass, const struct packing *p)
{
    pass_define(pass, "WEIGHT_INDEX", 1);
    if (p->transposed)
        pass_define(pass, "TRANSPOSED", 1);
    pass_int(pass, "tap_width", p->x.count);
    pass_int(pass, "tap_first_x", p->x.first);
    pass_int(pass, "tap_first_y", p->y.first);
    pass_int(pass, "tap_step_x", p->x.step);
    pass_int(pass, "tap_step_y", p->y.step);
    pass_int(pass, "layer_width", p->layer_width);
    pass_int(pass, "layer_taps", p->layer_taps);
    pass_int(pass, "output_count", (int32_t)p->channels.outputs);
}

void pass_weight_index(struct pass *pass, const struct packing *p)
{
    pass_packing(pass, p);
    pass_weight_places(pass, p);
}

void pass_matrix(struct pass *pass, const struct image_view *matrix)
{
    pass_texture(pass, "matrix", matrix);
    if (matrix->height == 1)
        pass_define(pass, "ONE_ROW", 1);
}

/* In the order of convolution/packing_row.glsl. */
void pass_packing_row(struct pass *pass, const char *shader, const struct packing *p,
                      const int32_t more[PACKING_ROW_MORE])
{
    const int32_t words[] = {(int32_t)p->elements,
                             (int32_t)p->components,
                             (int32_t)p->range,
                             (int32_t)p->channels.inputs_per_group,
                             (int32_t)p->channels.outputs_per_group,
                             (int32_t)p->channels.outputs,
                             p->depthwise,
                             p->transposed,
                             p->x.count,
                             p->x.first,
                             p->y.first,
                             p->x.step,
                             p->y.step,
                             p->layer_width,
                             p->layer_taps,
                             more[0],
                             more[1],
                             more[2]};
    pass_table_entry(pass, shader, words, sizeof words / sizeof *words);
}

static struct pass *begin_packing(struct plan *plan, const char *shader, const struct packing *p,
                                  const struct vector_view *weights,
                                  const struct vector_view *biases)
{
    struct pass *pass = plan_pass(plan, shader);
    pass_vector(pass, "weights", weights, VECTOR_READ);
    if (biases) {
        pass_define(pass, "BIASES", 1);
        pass_vector(pass, "biases", biases, VECTOR_READ);
    }
    pass_weight_index(pass, p);
    return pass;
}

static struct pass *plan_packing(struct plan *plan, const struct packing *p,
                                 const struct vector_view *weights,
                                 const struct vector_view *biases, const struct image_view *matrix)
{
    struct pass *pass = begin_packing(plan,
                                      weights->is_part ? "convolution/convolution_pack_part.comp"
                                                       : "convolution/convolution_pack.comp",
                                      p, weights, biases);
    pass_image(pass, "matrix", matrix);
    pass_grid(pass, matrix->width, matrix->height, p->slices);
    return pass;
}

uint32_t outputs_within(const struct plan *plan, size_t elements, size_t each)
{
    size_t step = plan_part_step(plan), outputs = elements / each / step * step;
    return (uint32_t)(outputs ? outputs : step);
}

/* The weights of some outputs of the layer after the others. */
static void plan_packing_in_parts(struct plan *plan, const struct packing *p,
                                  const struct vector_view *weights,
                                  const struct vector_view *biases, const struct image_view *matrix)
{
    size_t each = weights->count / (p->transposed ? p->channels.inputs : p->channels.outputs);
    size_t most = outputs_within(plan, plan_part_elements(plan), each) * each;
    for (size_t first = 0; first < weights->count; first += most) {
        size_t count = weights->count - first < most ? weights->count - first : most;
        const struct vector_view part = vector_part(weights, first, count);
        struct pass *pass = plan_packing(plan, p, &part, biases, matrix);
        pass_int(pass, "first_weight", (int32_t)first);
        pass_int(pass, "weight_count", (int32_t)count);
    }
}

struct image_view plan_packed_matrix(struct plan *plan, const struct packing *p)
{
    bool small = p->elements < SMALL_SLICE && (p->elements + 1) * p->slices <= SMALL_MATRIX;
    uint32_t width = small ? p->elements + 1 : ROW_ELEMENTS;
    uint32_t height = groups_of(p->elements + 1, width);
    return plan_scratch_image(plan, (struct extent){width, height, 4, p->slices});
}

struct image_view plan_pack(struct plan *plan, const struct packing *p,
                            const struct vector_view *weights, const struct vector_view *biases)
{
    struct image_view matrix = plan_packed_matrix(plan, p);
    if (plan_fits_block(plan, weights->count))
        pass_packing_row(plan_packing(plan, p, weights, biases, &matrix),
                         "convolution/convolution_pack_rows.comp", p,
                         (const int32_t[PACKING_ROW_MORE]){0});
    else
        plan_packing_in_parts(plan, p, weights, biases, &matrix);
    return matrix;
}

size_t packed_numbers(const struct packing *p)
{
    return (size_t)(p->elements + 1) * p->slices * 4;
}

void pass_packed_vector(struct pass *pass, const struct vector_view *packed,
                        enum vector_access access)
{
    pass_define(pass, "PACKED_BUFFER", 1);
    pass_vector_of(pass, "vec4", "packed_weights", packed, access);
}

struct vector_view plan_pack_vector(struct plan *plan, const struct packing *p,
                                    const struct vector_view *weights,
                                    const struct vector_view *biases)
{
    const struct vector_view packed = plan_workspace_vector(plan, packed_numbers(p));
    struct pass *pass =
        begin_packing(plan, "convolution/convolution_pack.comp", p, weights, biases);
    pass_packed_vector(pass, &packed, VECTOR_WRITE);
    pass_grid(pass, p->elements + 1, 1, p->slices);
    pass_packing_row(pass, "convolution/convolution_pack_rows.comp", p,
                     (const int32_t[PACKING_ROW_MORE]){0});
    return packed;
}

/* ---- Windows ---- */

void pass_axes(struct pass *pass, const struct window *w)
{
    pass_int(pass, "first_x", w->x.first);
    pass_int(pass, "first_y", w->y.first);
    pass_int(pass, "stride_y", w->y.stride);
    pass_int(pass, "dilation_y", w->y.dilation);
    pass_int(pass, "kernel_width", w->x.size);
    pass_int(pass, "kernel_height", w->y.size);
}

bool is_dense(const struct axis *axis)
{
    return axis->stride == 1 && axis->dilation == 1;
}

void pass_region(struct pass *pass, const struct operation *o)
{
    pass_int(pass, "region_x", (int32_t)o->region_x);
    pass_int(pass, "region_y", (int32_t)o->region_y);
    pass_int(pass, "region_width", (int32_t)o->region_width);
    pass_int(pass, "region_height", (int32_t)o->region_height);
}

bool windows_stay_inside(const struct axis *axis, uint32_t extent, int32_t low, int32_t high)
{
    int64_t last = axis->first + (int64_t)axis->stride * (extent - 1) +
                   (int64_t)axis->dilation * (axis->size - 1);
    return axis->first >= low && last <= high;
}

/* Windows of which a tap that lies `distance` beyond the end is outside. */
static uint32_t windows_beyond(int64_t distance, int32_t stride)
{
    return distance > 0 ? (uint32_t)((distance + stride - 1) / stride) : 0;
}

void windows_outside(const struct axis *axis, uint32_t extent, int32_t low, int32_t high,
                     uint32_t *before, uint32_t *after)
{
    int64_t last = axis->first + (int64_t)axis->stride * (extent - 1) +
                   (int64_t)axis->dilation * (axis->size - 1);
    *before = windows_beyond((int64_t)low - axis->first, axis->stride);
    *after = windows_beyond(last - high, axis->stride);
}

void pass_outside(struct pass *pass, bool inside, bool masks)
{
    if (masks)
        pass_define(pass, "MASKS", 1);
    else if (inside)
        pass_define(pass, "COLUMNS_INSIDE", 1);
}
