/* Passes of convolutions and fully connected layers.
 *
 * Weights as the user has them are the only truth: every plan packs them anew into a scratch image
 * (glsl/convolution/convolution.glsl has the layout), so a replay sees what the vectors hold then. */
#include <string.h>

#include "encode/window.h"
#include "kernels/convolution.h"

/* Most elements, of a slice of outputs and in all, of a matrix that has a single row for a slice,
 * which is the fastest to read. */
#define SMALL_SLICE  160u
#define SMALL_MATRIX 2048u
/* Elements of a row of others, 1 << PACKED_SHIFT: they lie in the textures of most images then. */
#define ROW_ELEMENTS 16u
#define SHARED_TAPS  7 /* widest window whose taps share their reads */

/* Rows of pixels of the result: `pixels` and `slices` at most; windows of up to `taps` columns, of
 * stride and dilation 1, read each pixel once for all of them. */
static const struct variant sum_variants[] = {
    {"convolution_wide", "convolution/convolution.comp", 32, .pixels = 8, .slices = 4, .taps = SHARED_TAPS},
    {"convolution_row", "convolution/convolution_narrow.comp", 14, .pixels = 4, .slices = 1, .taps = 5},
    {"convolution_four", "convolution/convolution_narrow.comp", 12, .pixels = 4, .slices = 1, .masks = true},
    {"convolution_two", "convolution/convolution_narrow.comp", 8, .pixels = 2, .slices = 1},
    {0}};

/* Part sums of the gradient of weights, of `taps` columns of the window and `pixels` of the gradient
 * at once. The first row takes all of up to 9 taps of windows of one channel, or 7 of a row. */
static const struct variant part_variants[] = {
    {"weights_wide", "convolution/convolution_gradient_weights.comp", 32, .pixels = 3, .taps = 3},
    {"weights_two", "convolution/convolution_gradient_weights_narrow.comp", 12, .pixels = 1, .taps = 2},
    {"weights_one", "convolution/convolution_gradient_weights_narrow.comp", 8, .pixels = 1, .taps = 1},
    {0}};

/* Data gradient of a fully connected layer: images that share what is read of the weights. */
static const struct variant connected_variants[] = {{"connected_eight", .registers = 32, .images = 8},
                                                    {"connected_two", .registers = 8, .images = 2},
                                                    {0}};

const struct variant *const convolution_variants[] = {sum_variants, part_variants,
                                                      connected_variants, NULL};

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t groups_of(uint32_t count, uint32_t size)
{
    return (count + size - 1) / size;
}

/* ---- Packed weights ---- */

/* Taps of the layer that a packing has along one axis: first + step * i, i < count. */
struct taps {
    int32_t first, step, count;
};

/* `channels` are as the pass sees them: of a transposed packing, inputs are the layer's outputs. */
struct packing {
    struct channels channels;
    struct taps x, y;
    int32_t layer_width, layer_taps;
    uint32_t slices, range, components, elements;
    bool transposed, one_channel, depthwise;
};

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

static void set_taps(struct packing *p, struct taps x, struct taps y)
{
    p->x = x;
    p->y = y;
    p->elements = (uint32_t)(x.count * y.count) * p->range * p->components;
}

/* All taps, in their order. */
static struct packing packing_of(const struct operation *o, bool transposed)
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
    set_taps(&p, (struct taps){0, 1, width}, (struct taps){0, 1, height});
    return p;
}

/* What convolution/convolution.glsl needs. */
static void pass_packing(struct pass *pass, const struct packing *p)
{
    pass_library(pass, "convolution/convolution.glsl");
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

static void pass_weight_index(struct pass *pass, const struct packing *p)
{
    pass_packing(pass, p);
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

static void pass_matrix(struct pass *pass, const struct image_view *matrix)
{
    pass_texture(pass, "matrix", matrix);
    if (matrix->height == 1)
        pass_define(pass, "ONE_ROW", 1);
}

static struct image_view plan_pack(struct plan *plan, const struct packing *p,
                                   const struct vector_view *weights,
                                   const struct vector_view *biases)
{
    bool small = p->elements < SMALL_SLICE && (p->elements + 1) * p->slices <= SMALL_MATRIX;
    uint32_t width = small ? p->elements + 1 : ROW_ELEMENTS;
    uint32_t height = groups_of(p->elements + 1, width);
    struct image_view matrix =
        plan_scratch_image(plan, width, height, 4, p->slices, GLCNN_CHANNEL_FORMAT_FLOAT32);
    struct pass *pass = plan_pass(plan, "convolution/convolution_pack.comp");
    pass_vector(pass, "weights", weights, VECTOR_READ);
    if (biases) {
        pass_define(pass, "BIASES", 1);
        pass_vector(pass, "biases", biases, VECTOR_READ);
    }
    pass_image(pass, "matrix", &matrix);
    pass_weight_index(pass, p);
    pass_grid(pass, width, height, p->slices);
    return matrix;
}

/* ---- Windows ---- */

static void pass_axes(struct pass *pass, const struct window *w)
{
    pass_int(pass, "first_x", w->x.first);
    pass_int(pass, "first_y", w->y.first);
    pass_int(pass, "stride_y", w->y.stride);
    pass_int(pass, "dilation_y", w->y.dilation);
    pass_int(pass, "kernel_width", w->x.size);
    pass_int(pass, "kernel_height", w->y.size);
}

static bool is_dense(const struct axis *axis)
{
    return axis->stride == 1 && axis->dilation == 1;
}

static void pass_region(struct pass *pass, const struct operation *o)
{
    pass_int(pass, "region_x", (int32_t)o->region_x);
    pass_int(pass, "region_y", (int32_t)o->region_y);
    pass_int(pass, "region_width", (int32_t)o->region_width);
    pass_int(pass, "region_height", (int32_t)o->region_height);
}

/* ---- The sum over windows: forward, and for strides of 1 the data gradient ---- */

/* One such sum over the part low .. high of the source. Its pixel (i, j), within `extent`, reads
 * from  first + stride * (i, j)  of the window on and is stored at  origin + step * (i, j). */
struct sum {
    struct image_view source, destination;
    struct window window;
    int32_t low[2], high[2];
    uint32_t origin[2], extent[2], step[2];
    const struct glcnn_neuron_descriptor *neuron;
    const struct vector_view *neuron_data;
};

/* Pixels an invocation makes: those of 4 to 8 that leave the fewest idle, the most of equals. */
static uint32_t pixels_for(uint32_t width, uint32_t most)
{
    uint32_t best = width, least_covered = UINT32_MAX;
    if (width <= 4)
        return width;
    for (uint32_t pixels = 4; pixels <= most; pixels++) {
        uint32_t covered = groups_of(width, pixels) * pixels;
        if (covered <= least_covered) {
            least_covered = covered;
            best = pixels;
        }
    }
    return best;
}

static uint32_t slices_for(const struct packing *p)
{
    if (p->channels.groups > 1 || p->slices == 1)
        return 1;
    return p->components == 1 && p->slices % 4 == 0 ? 4 : 2;
}

static void pass_sum(struct pass *pass, const struct sum *sum)
{
    pass_int(pass, "low_x", sum->low[0]);
    pass_int(pass, "low_y", sum->low[1]);
    pass_int(pass, "high_x", sum->high[0]);
    pass_int(pass, "high_y", sum->high[1]);
    pass_int(pass, "region_x", (int32_t)sum->origin[0]);
    pass_int(pass, "region_y", (int32_t)sum->origin[1]);
    pass_int(pass, "region_width", (int32_t)sum->extent[0]);
    pass_int(pass, "region_height", (int32_t)sum->extent[1]);
    pass_int(pass, "step_x", (int32_t)sum->step[0]);
    pass_int(pass, "step_y", (int32_t)sum->step[1]);
    if (sum->window.edge_mode == GLCNN_EDGE_MODE_CLAMP)
        pass_define(pass, "EDGE_CLAMP", 1);
}

static void pass_wide(struct pass *pass, const struct packing *p, const struct sum *sum)
{
    uint32_t slices = slices_for(p);
    uint32_t pixels = pixels_for(sum->extent[0], slices == 4 ? 4 : slices == 2 ? 7 : 8);
    uint32_t columns = groups_of(sum->extent[0], pixels);
    pass_int(pass, "stride_x", sum->window.x.stride);
    pass_int(pass, "dilation_x", sum->window.x.dilation);
    pass_define(pass, "SLICES", (int)slices);
    pass_define(pass, "PIXELS", (int)pixels);
    pass_int(pass, "columns", (int32_t)columns);
    pass_grid(pass, columns * sum->extent[1] * sum->destination.images,
              groups_of(p->slices, slices), 1);
    pass_local(pass, 64, 1, 1);
    pass->work = (p->elements + 1) * slices * pixels * 8;
}

static void pass_outside(struct pass *pass, const struct variant *variant)
{
    pass_library(pass, "convolution/outside.glsl");
    if (variant->masks)
        pass_define(pass, "MASKS", 1);
}

/* Few registers want steps that are constants. */
static void pass_narrow(struct pass *pass, const struct packing *p, const struct sum *sum,
                        const struct variant *variant)
{
    uint32_t pixels = least(variant->pixels, sum->extent[0]);
    pass_outside(pass, variant);
    pass_define(pass, "stride_x", sum->window.x.stride);
    pass_define(pass, "dilation_x", sum->window.x.dilation);
    pass_define(pass, "PIXELS", (int)pixels);
    pass_grid(pass, groups_of(sum->extent[0], pixels), sum->extent[1],
              p->slices * sum->destination.images);
    pass->work = (p->elements + 1) * pixels * 8;
}

static void plan_sum(struct plan *plan, const struct packing *p, const struct image_view *matrix,
                     const struct sum *sum)
{
    const struct variant *variant = variant_choose(plan, sum_variants);
    const struct axis *x = &sum->window.x;
    struct pass *pass = plan_pass(plan, variant->shader);
    pass_variant(pass, variant);
    pass_texture(pass, "source", &sum->source);
    pass_matrix(pass, matrix);
    pass_image(pass, "destination", &sum->destination);
    pass_packing(pass, p);
    pass_neuron(pass, sum->neuron);
    if (sum->neuron_data)
        pass_neuron_data(pass, sum->neuron, sum->neuron_data);
    pass_axes(pass, &sum->window);
    pass_sum(pass, sum);
    if (is_dense(x) && x->size > 0 && (uint32_t)x->size <= variant->taps) {
        pass_define(pass, "SHARED_ROW", 1);
        pass_define(pass, "KERNEL_WIDTH", x->size);
    }
    if (variant->slices > 1)
        pass_wide(pass, p, sum);
    else
        pass_narrow(pass, p, sum, variant);
}

/* The sums of the operation's region, from pixel (x, y) on of `destination`. */
static void plan_forward(const struct operation *o, struct plan *plan,
                         const struct image_view *destination, uint32_t x, uint32_t y)
{
    const struct glcnn_convolution *parameters = o->parameters;
    const struct image_view *source = &o->images[SOURCE];
    struct packing p = packing_of(o, false);
    struct image_view matrix =
        plan_pack(plan, &p, &o->vectors[WEIGHTS], o->given[BIASES] ? &o->vectors[BIASES] : NULL);
    struct sum sum = {.source = *source,
                      .destination = *destination,
                      .window = convolution_sum_window(o),
                      .high = {(int32_t)source->width - 1, (int32_t)source->height - 1},
                      .origin = {x, y},
                      .step = {1, 1},
                      .neuron = &parameters->neuron,
                      .neuron_data = &o->vectors[NEURON_DATA]};
    sum.extent[0] = (uint32_t)sum.window.x.end;
    sum.extent[1] = (uint32_t)sum.window.y.end;
    plan_sum(plan, &p, &matrix, &sum);
}

static void plan_sub_pixels(const struct operation *o, struct plan *plan)
{
    const struct image_view *result = &o->images[RESULT];
    struct window w = convolution_sum_window(o);
    struct image_view sums = plan_scratch_image(plan, (uint32_t)w.x.end, (uint32_t)w.y.end,
                                                convolution_channels(o).outputs, result->images,
                                                GLCNN_CHANNEL_FORMAT_FLOAT32);
    plan_forward(o, plan, &sums, 0, 0);
    struct pass *pass = plan_pixels(plan, o, "convolution/convolution_sub_pixels.comp", result);
    pass_texture(pass, "sums", &sums);
    pass_image(pass, "destination", result);
    pass_define(pass, "FACTOR", (int)convolution_scale_factor(o));
    pass_region(pass, o);
}

void plan_convolution(const struct operation *o, struct plan *plan)
{
    if (convolution_scale_factor(o) > 1)
        plan_sub_pixels(o, plan);
    else
        plan_forward(o, plan, &o->images[RESULT], o->region_x, o->region_y);
}

/* ---- Data gradient ---- */

static int32_t common_divisor(int32_t a, int32_t b)
{
    while (b) {
        int32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Taps that lie a multiple of this apart meet the same source pixels. */
static int32_t tap_step(const struct axis *axis)
{
    return axis->stride / common_divisor(axis->stride, axis->dilation);
}

/* Source pixels  u = base + stride * i  gather from the gradient pixels
 *     X = (u - first - dilation * p) / stride = i + constant - dilation * step / stride * m
 * for the taps  p = p0 + step * m  where that is whole: a window with stride 1, whose taps come in
 * reverse. Changes `axis` into that window and says which taps it has. */
static struct taps turn_axis(struct axis *axis, int32_t base)
{
    int32_t step = tap_step(axis), p0 = 0;
    while (p0 < step && (base - axis->first - axis->dilation * p0) % axis->stride != 0)
        p0++;
    int32_t count = p0 < step && p0 < axis->size ? (axis->size - p0 + step - 1) / step : 0;
    int32_t dilation = axis->dilation * step / axis->stride;
    int32_t nearest = (base - axis->first - axis->dilation * p0) / axis->stride;
    axis->first = nearest - dilation * (count - 1);
    axis->stride = 1;
    axis->dilation = dilation;
    axis->size = count;
    return (struct taps){p0 + step * (count - 1), -step, count};
}

static struct image_view plan_data_pack(const struct operation *o, struct plan *plan,
                                        const struct packing *p)
{
    return plan_pack(plan, p, &o->vectors[GRADIENT_WEIGHTS],
                     o->given[GRADIENT_BIASES] ? &o->vectors[GRADIENT_BIASES] : NULL);
}

/* The pixels of the region that lie `place` from its corner, within a stride. */
static void plan_data_place(const struct operation *o, struct plan *plan, const uint32_t place[2])
{
    const struct glcnn_convolution *parameters = o->parameters;
    struct packing p = packing_of(o, true);
    struct window w = convolution_data_window(o);
    struct sum sum = {.source = o->images[GRADIENT],
                      .destination = o->images[DESTINATION],
                      .low = {w.x.begin, w.y.begin},
                      .high = {w.x.end - 1, w.y.end - 1},
                      .origin = {o->region_x + place[0], o->region_y + place[1]},
                      .step = {(uint32_t)w.x.stride, (uint32_t)w.y.stride},
                      .neuron = &parameters->neuron,
                      .neuron_data = &o->vectors[GRADIENT_NEURON_DATA]};
    if (place[0] >= o->region_width || place[1] >= o->region_height)
        return;
    sum.extent[0] = groups_of(o->region_width - place[0], sum.step[0]);
    sum.extent[1] = groups_of(o->region_height - place[1], sum.step[1]);
    struct taps x = turn_axis(&w.x, (int32_t)sum.origin[0] + w.x.shift);
    struct taps y = turn_axis(&w.y, (int32_t)sum.origin[1] + w.y.shift);
    set_taps(&p, x, y);
    sum.window = w;
    struct image_view matrix = plan_data_pack(o, plan, &p);
    plan_sum(plan, &p, &matrix, &sum);
}

static void plan_data_turned(const struct operation *o, struct plan *plan)
{
    uint32_t place[2];
    for (place[1] = 0; place[1] < (uint32_t)o->window.y.stride; place[1]++)
        for (place[0] = 0; place[0] < (uint32_t)o->window.x.stride; place[0]++)
            plan_data_place(o, plan, place);
}

/* One pass for each place within a stride, so not for the longest of strides. */
static bool can_turn(const struct operation *o)
{
    return o->window.x.stride * o->window.y.stride <= 4 &&
           o->window.edge_mode == GLCNN_EDGE_MODE_ZERO;
}

static void plan_data_gathered(const struct operation *o, struct plan *plan)
{
    const struct glcnn_convolution *parameters = o->parameters;
    struct packing p = packing_of(o, true);
    struct image_view matrix = plan_data_pack(o, plan, &p);
    struct window w = convolution_data_window(o);
    struct pass *pass =
        plan_pixels(plan, o, "convolution/convolution_gradient_data.comp", &o->images[DESTINATION]);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_matrix(pass, &matrix);
    pass_image(pass, "destination", &o->images[DESTINATION]);
    pass_packing(pass, &p);
    pass_neuron(pass, &parameters->neuron);
    pass_neuron_data(pass, &parameters->neuron, &o->vectors[GRADIENT_NEURON_DATA]);
    pass_window(pass, &w);
    bool clamped = w.edge_mode == GLCNN_EDGE_MODE_CLAMP;
    pass_int(pass, "tap_step_x", clamped ? 1 : tap_step(&w.x));
    pass_int(pass, "tap_step_y", clamped ? 1 : tap_step(&w.y));
    pass_int(pass, "source_width", (int32_t)o->images[IMAGE].width);
    pass_int(pass, "source_height", (int32_t)o->images[IMAGE].height);
    pass->work = p.elements * 16;
}

static bool always(const struct operation *o)
{
    (void)o;
    return true;
}

/* The first that suits is taken. */
static const struct {
    bool (*suits)(const struct operation *o);
    void (*plan)(const struct operation *o, struct plan *plan);
} data_variants[] = {{can_turn, plan_data_turned}, {always, plan_data_gathered}};

static void plan_data(const struct operation *o, struct plan *plan)
{
    size_t i = 0;
    while (!data_variants[i].suits(o))
        i++;
    data_variants[i].plan(o, plan);
}

/* ---- Gradient of weights and biases ---- */

#define CHUNK_INVOCATIONS 8192u       /* enough for every processor that there is */
#define CHUNK_PRODUCTS    2048u       /* that make a chunk worth its part sums */
#define CHUNK_BYTES       (16u << 20) /* of part sums, unless one chunk takes more */

/* How the part sums are shared out. */
struct shares {
    uint32_t taps_x, taps_y, columns; /* of an invocation */
    uint32_t rows, rows_per_chunk, chunks;
    uint32_t invocations; /* of a chunk */
    bool shared;          /* taps share their reads */
};

static uint32_t columns_for(uint32_t width, uint32_t most)
{
    uint32_t best = 1, least_covered = UINT32_MAX;
    for (uint32_t columns = 1; columns <= most; columns++) {
        uint32_t covered = groups_of(width, columns) * columns;
        if (covered <= least_covered) {
            least_covered = covered;
            best = columns;
        }
    }
    return best;
}

/* Rows of a chunk, `fewest` or up to twice as many: invocations run in eights, of which the fewest
 * should idle. */
static uint32_t chunk_rows(uint32_t rows, uint32_t fewest)
{
    uint32_t best = fewest;
    uint64_t least_covered = UINT64_MAX;
    for (uint32_t r = fewest; r <= 2 * fewest; r++) {
        uint64_t covered = (uint64_t)groups_of(groups_of(rows, r), 8) * 8 * r;
        if (covered < least_covered) {
            least_covered = covered;
            best = r;
        }
    }
    return best;
}

/* The fewest rows of a chunk: that leave it enough work, enough chunks, and room for part sums. */
static uint32_t fewest_rows(const struct packing *p, const struct shares *s, uint32_t width)
{
    uint32_t products = width * s->taps_x * s->taps_y * p->components;
    uint32_t room = CHUNK_BYTES / 16 / (p->slices * (p->elements + 1));
    uint32_t wanted = groups_of(CHUNK_INVOCATIONS, s->invocations);
    uint32_t by_work = groups_of(CHUNK_PRODUCTS, products);
    uint32_t by_count = groups_of(s->rows, least(wanted, room ? room : 1));
    return by_work > by_count ? by_work : by_count;
}

static struct shares share_out(const struct operation *o, const struct packing *p,
                               const struct variant *variant)
{
    const struct axis *x = &o->window.x, *y = &o->window.y;
    uint32_t width = (uint32_t)x->size, height = (uint32_t)y->size;
    bool wide = variant->pixels > 1, one = p->components == 1, small = one && width * height <= 9;
    struct shares s = {.shared = is_dense(x) && is_dense(y)};
    uint32_t most = !one ? variant->taps : wide ? 7 : 4 * variant->taps; /* as many sums */
    s.taps_x = wide && small ? width : least(width, most);
    s.taps_y = wide && small ? height : 1;
    s.columns =
        columns_for((uint32_t)(x->end - x->begin), wide && one ? 4 : variant->pixels);
    s.invocations = p->slices * p->range * groups_of(width, s.taps_x) * groups_of(height, s.taps_y);
    s.rows = (uint32_t)(y->end - y->begin) * o->images[GRADIENT].images;
    s.rows_per_chunk = chunk_rows(s.rows, fewest_rows(p, &s, (uint32_t)(x->end - x->begin)));
    s.chunks = groups_of(s.rows, s.rows_per_chunk);
    return s;
}

static void pass_wide_parts(struct pass *pass, const struct operation *o, const struct shares *s)
{
    pass_int(pass, "stride_x", o->window.x.stride);
    pass_int(pass, "dilation_x", o->window.x.dilation);
    if (s->shared)
        pass_define(pass, "SHARED_ROW", 1);
    pass_define(pass, "TAPS_X", (int)s->taps_x);
    pass_define(pass, "TAPS_Y", (int)s->taps_y);
    pass_define(pass, "COLUMNS", (int)s->columns);
    pass_grid(pass, s->chunks * s->invocations, 1, 1);
    pass_local(pass, 64, 1, 1);
}

static void pass_narrow_parts(struct pass *pass, const struct operation *o,
                              const struct packing *p, const struct shares *s,
                              const struct variant *variant)
{
    const struct window *w = &o->window;
    uint32_t groups = groups_of((uint32_t)w->x.size, s->taps_x) * (uint32_t)w->y.size;
    pass_outside(pass, variant);
    pass_define(pass, "stride_x", w->x.stride);
    pass_define(pass, "dilation_x", w->x.dilation);
    pass_define(pass, "TAPS", (int)s->taps_x);
    pass_grid(pass, s->chunks, groups + 1, p->slices * p->range);
}

static void plan_parts(const struct operation *o, struct plan *plan, const struct packing *p,
                       const struct vector_view *parts, const struct shares *s,
                       const struct variant *variant)
{
    const struct window *w = &o->window;
    struct pass *pass = plan_pass(plan, variant->shader);
    pass_variant(pass, variant);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_texture(pass, "source", &o->images[IMAGE]);
    pass_vector_of(pass, "vec4", "parts", parts, VECTOR_WRITE);
    pass_packing(pass, p);
    pass_axes(pass, w);
    if (w->edge_mode == GLCNN_EDGE_MODE_CLAMP)
        pass_define(pass, "EDGE_CLAMP", 1);
    pass_int(pass, "begin_x", w->x.begin);
    pass_int(pass, "begin_y", w->y.begin);
    pass_int(pass, "end_x", w->x.end);
    pass_int(pass, "end_y", w->y.end);
    pass_int(pass, "chunk_count", (int32_t)s->chunks);
    pass_int(pass, "rows_per_chunk", (int32_t)s->rows_per_chunk);
    pass_int(pass, "row_total", (int32_t)s->rows);
    pass_int(pass, "slice_total", (int32_t)p->slices);
    if (variant->pixels > 1)
        pass_wide_parts(pass, o, s);
    else
        pass_narrow_parts(pass, o, p, s, variant);
    pass->work = s->rows_per_chunk * (uint32_t)(w->x.end - w->x.begin) * s->taps_x * s->taps_y *
                 p->components * 8;
}

/* Outputs that hold sums already are added to. */
static void pass_gradients(struct pass *pass, const struct operation *o)
{
    enum vector_access access = o->accumulate ? VECTOR_READ_WRITE : VECTOR_WRITE;
    pass_library(pass, "convolution/convolution_gradient.glsl");
    if (o->accumulate)
        pass_define(pass, "ACCUMULATE", 1);
    pass_vector(pass, "gradient_for_weights", &o->vectors[GRADIENT_FOR_WEIGHTS], access);
    pass_vector(pass, "gradient_for_biases", &o->vectors[GRADIENT_FOR_BIASES], access);
}

static void plan_weights(const struct operation *o, struct plan *plan)
{
    struct packing p = packing_of(o, false);
    const struct variant *variant = variant_choose(plan, part_variants);
    struct shares s = share_out(o, &p, variant);
    struct vector_view parts =
        plan_scratch_vector(plan, (size_t)s.chunks * p.slices * (p.elements + 1) * 4);
    plan_parts(o, plan, &p, &parts, &s, variant);
    struct pass *pass = plan_pass(plan, "convolution/convolution_gradient_sum.comp");
    pass_vector_of(pass, "vec4", "parts", &parts, VECTOR_READ);
    pass_gradients(pass, o);
    pass_weight_index(pass, &p);
    pass_int(pass, "chunk_count", (int32_t)s.chunks);
    pass_int(pass, "slice_total", (int32_t)p.slices);
    pass_grid(pass, p.elements + 1, p.slices, 1);
    pass_local(pass, 32, 1, 1);
    pass->work = s.chunks * 4 + 64;
}

/* Weights first: the source image is then of no more use, and its memory free for the destination.
 */
void plan_convolution_gradient(const struct operation *o, struct plan *plan)
{
    if (convolution_wants(o, GLCNN_GRADIENT_OPTION_WEIGHTS_AND_BIASES))
        plan_weights(o, plan);
    if (convolution_wants(o, GLCNN_GRADIENT_OPTION_DATA))
        plan_data(o, plan);
}

/* ---- Fully connected ---- */

static void plan_connected_data(const struct operation *o, struct plan *plan)
{
    const struct image_view *to = &o->images[DESTINATION];
    const struct window *w = &o->window;
    struct packing p = packing_of(o, false);
    struct image_view matrix = plan_pack(plan, &p, &o->vectors[GRADIENT_WEIGHTS], NULL);
    const struct variant *variant = variant_choose(plan, connected_variants);
    uint32_t images = least(to->images, variant->images);
    struct pass *pass = plan_pass(plan, "convolution/fully_connected_gradient_data.comp");
    pass_variant(pass, variant);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_matrix(pass, &matrix);
    pass_image(pass, "destination", to);
    pass_packing(pass, &p);
    pass_axes(pass, w);
    pass_define(pass, "IMAGES", (int)images);
    pass_int(pass, "begin_x", w->x.begin);
    pass_int(pass, "begin_y", w->y.begin);
    pass_int(pass, "shift_x", w->x.shift);
    pass_int(pass, "shift_y", w->y.shift);
    pass_region(pass, o);
    pass_grid(pass,
              o->region_width * o->region_height * slice_count(to->channels) *
                  groups_of(to->images, images),
              1, 1);
    pass_local(pass, 64, 1, 1);
    pass->work = slice_count(p.channels.outputs) * images * 32;
}

static void plan_connected_weights(const struct operation *o, struct plan *plan)
{
    const struct image_view *source = &o->images[IMAGE];
    const struct window *w = &o->window;
    struct channels c = convolution_channels(o);
    uint32_t pixel_slices = source->width * source->height * slice_count(source->channels);
    struct pass *pass = plan_pass(plan, "convolution/fully_connected_gradient_weights.comp");
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_texture(pass, "source", source);
    pass_gradients(pass, o);
    pass_int(pass, "begin_x", w->x.begin);
    pass_int(pass, "begin_y", w->y.begin);
    pass_int(pass, "kernel_width", w->x.size);
    pass_int(pass, "kernel_height", w->y.size);
    pass_int(pass, "pixel_slices", (int32_t)pixel_slices);
    pass_int(pass, "output_count", (int32_t)c.outputs);
    pass_grid(pass, pixel_slices + 1, slice_count(c.outputs), 1);
    pass_local(pass, 32, 1, 1);
    pass->work = source->images * 32;
}

void plan_fully_connected_gradient(const struct operation *o, struct plan *plan)
{
    if (convolution_wants(o, GLCNN_GRADIENT_OPTION_WEIGHTS_AND_BIASES))
        plan_connected_weights(o, plan);
    if (convolution_wants(o, GLCNN_GRADIENT_OPTION_DATA))
        plan_connected_data(o, plan);
}
