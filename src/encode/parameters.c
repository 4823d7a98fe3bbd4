/* The tables of properties that kernels share, and access by name to them and to parameters. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "encode/kernel.h"
#include "encode/number.h"

#define NO_LIMIT 4294967295.0
#define OFFSETS  2147483647.0

#define PRIMARY(member)   offsetof(struct glcnn_addressing, primary.member)
#define SECONDARY(member) offsetof(struct glcnn_addressing, secondary.member)
#define SHARED(member)    offsetof(struct glcnn_addressing, member)

static const char *const edge_modes[] = {"zero", "clamp", NULL};

/* Rows of one source's addressing; `prefix` is "" for a unary kernel. */
/* clang-format off */
#define SOURCE_ROWS(prefix, WHERE)                                                                 \
    {prefix "offset_x", "window centre for the first destination pixel",                           \
     FIELD_INT32, WHERE(offset.x), 0, -OFFSETS, OFFSETS, NULL},                                    \
    {prefix "offset_y", "the same, rows",                                                          \
     FIELD_INT32, WHERE(offset.y), 0, -OFFSETS, OFFSETS, NULL},                                    \
    {prefix "offset_z", "first source image",                                                      \
     FIELD_INT32, WHERE(offset.z), 0, 0, OFFSETS, NULL},                                           \
    {prefix "edge_mode", "value of reads outside the source",                                      \
     FIELD_ENUM, WHERE(edge_mode), 0, 0, 0, edge_modes},                                           \
    {prefix "source_feature_channel_offset", "first channel read, a multiple of 4",                \
     FIELD_UINT32, WHERE(feature_channel_offset), 0, 0, OFFSETS, NULL},                            \
    {prefix "source_feature_channel_max_count", "channels read at most",                           \
     FIELD_UINT32, WHERE(feature_channel_max_count), NO_LIMIT, 1, NO_LIMIT, NULL}

#define WINDOW_ROWS(prefix, WHERE)                                                                 \
    {prefix "kernel_width", "window width",                                                        \
     FIELD_UINT32, WHERE(kernel_width), 1, 1, 65535, NULL},                                        \
    {prefix "kernel_height", "window height",                                                      \
     FIELD_UINT32, WHERE(kernel_height), 1, 1, 65535, NULL}

#define STRIDE_ROWS(prefix, WHERE)                                                                 \
    {prefix "stride_in_pixels_x", "source columns a destination column",                           \
     FIELD_UINT32, WHERE(stride_in_pixels_x), 1, 1, 65535, NULL},                                  \
    {prefix "stride_in_pixels_y", "source rows a destination row",                                 \
     FIELD_UINT32, WHERE(stride_in_pixels_y), 1, 1, 65535, NULL}

#define DILATION_ROWS(prefix, WHERE)                                                               \
    {prefix "dilation_rate_x", "source columns between taps",                                      \
     FIELD_UINT32, WHERE(dilation_rate_x), 1, 1, 65535, NULL},                                     \
    {prefix "dilation_rate_y", "source rows between taps",                                         \
     FIELD_UINT32, WHERE(dilation_rate_y), 1, 1, 65535, NULL}

/* A stride of 0 broadcasts. */
#define BROADCAST_ROWS(prefix, WHERE)                                                              \
    {prefix "stride_in_pixels_x", "0: one column is read for all",                                 \
     FIELD_UINT32, WHERE(stride_in_pixels_x), 1, 0, 1, NULL},                                      \
    {prefix "stride_in_pixels_y", "0: one row is read for all",                                    \
     FIELD_UINT32, WHERE(stride_in_pixels_y), 1, 0, 1, NULL},                                      \
    {prefix "stride_in_feature_channels", "0: the first channel is read for all",                  \
     FIELD_UINT32, WHERE(stride_in_feature_channels), 1, 0, 1, NULL}
/* clang-format on */

static const struct parameter no_rows[] = {{0}};

static const struct parameter unary_source[] = {SOURCE_ROWS("", PRIMARY), {0}};
static const struct parameter unary_window[] = {WINDOW_ROWS("", PRIMARY), {0}};
static const struct parameter unary_stride[] = {STRIDE_ROWS("", PRIMARY), {0}};
static const struct parameter unary_pad[] = {
    {"pad_left", "columns that padding custom adds on the left", FIELD_INT32, SHARED(pad.left), 0,
     -65535, 65535, NULL},
    {"pad_right", "the same on the right", FIELD_INT32, SHARED(pad.right), 0, -65535, 65535, NULL},
    {"pad_top", "rows that padding custom adds above", FIELD_INT32, SHARED(pad.top), 0, -65535,
     65535, NULL},
    {"pad_bottom", "the same below", FIELD_INT32, SHARED(pad.bottom), 0, -65535, 65535, NULL},
    {0}};
static const struct parameter unary_dilation[] = {DILATION_ROWS("", PRIMARY), {0}};

static const struct parameter backwards_rows[] = {
    {"kernel_offset_x", "added to offset_x times the stride, in pixels of the destination",
     FIELD_INT32, SHARED(kernel_offset_x), 0, -OFFSETS, OFFSETS, NULL},
    {"kernel_offset_y", "the same, rows", FIELD_INT32, SHARED(kernel_offset_y), 0, -OFFSETS,
     OFFSETS, NULL},
    {0}};

static const struct parameter binary_source[] = {
    SOURCE_ROWS("primary_", PRIMARY), SOURCE_ROWS("secondary_", SECONDARY), {0}};
static const struct parameter binary_stride[] = {
    BROADCAST_ROWS("primary_", PRIMARY), BROADCAST_ROWS("secondary_", SECONDARY), {0}};

/* The secondary source of a gradient kernel is walked as the forward kernel walked it. */
static const struct parameter gradient_source[] = {
    SOURCE_ROWS("primary_", PRIMARY),
    SOURCE_ROWS("secondary_", SECONDARY),
    {"kernel_offset_x", "shift of the zero-stuffed gradient, columns", FIELD_INT32,
     SHARED(kernel_offset_x), 0, -OFFSETS, OFFSETS, NULL},
    {"kernel_offset_y", "shift of the zero-stuffed gradient, rows", FIELD_INT32,
     SHARED(kernel_offset_y), 0, -OFFSETS, OFFSETS, NULL},
    {"source_size_width", "columns of the gradient that contribute, from primary_offset_x on",
     FIELD_UINT32, SHARED(source_size.width), NO_LIMIT, 1, NO_LIMIT, NULL},
    {"source_size_height", "rows of the gradient that contribute, from primary_offset_y on",
     FIELD_UINT32, SHARED(source_size.height), NO_LIMIT, 1, NO_LIMIT, NULL},
    {0}};
static const struct parameter gradient_window[] = {WINDOW_ROWS("secondary_", SECONDARY), {0}};
static const struct parameter gradient_stride[] = {STRIDE_ROWS("secondary_", SECONDARY), {0}};
static const struct parameter binary_gradient_stride[] = {BROADCAST_ROWS("secondary_", SECONDARY),
                                                          {0}};
static const struct parameter gradient_dilation[] = {DILATION_ROWS("secondary_", SECONDARY), {0}};

static const struct parameter destination_rows[] = {
    {"clip_rect_origin_x", "first column written", FIELD_UINT32, SHARED(clip_rect.origin.x), 0, 0,
     OFFSETS, NULL},
    {"clip_rect_origin_y", "first row written", FIELD_UINT32, SHARED(clip_rect.origin.y), 0, 0,
     OFFSETS, NULL},
    {"clip_rect_origin_z", "first image written", FIELD_UINT32, SHARED(clip_rect.origin.z), 0, 0,
     OFFSETS, NULL},
    {"clip_rect_size_width", "columns written", FIELD_UINT32, SHARED(clip_rect.size.width),
     NO_LIMIT, 1, NO_LIMIT, NULL},
    {"clip_rect_size_height", "rows written", FIELD_UINT32, SHARED(clip_rect.size.height), NO_LIMIT,
     1, NO_LIMIT, NULL},
    {"clip_rect_size_depth", "images written", FIELD_UINT32, SHARED(clip_rect.size.depth), NO_LIMIT,
     1, NO_LIMIT, NULL},
    {"destination_feature_channel_offset", "first channel written, a multiple of 4", FIELD_UINT32,
     SHARED(destination_feature_channel_offset), 0, 0, OFFSETS, NULL},
    {"padding", "bits of glcnn/padding.h; returning encodes only", FIELD_UINT32, SHARED(padding),
     GLCNN_PADDING_DEFAULT, 0, 65535, NULL},
    {0}};

void property_tables(const struct glcnn_descriptor *descriptor,
                     const struct parameter *tables[MAX_TABLES])
{
    unsigned flags = descriptor->flags;
    bool gradient = flags & IS_GRADIENT, binary = flags & IS_BINARY;
    size_t n = 0;
    if (!(flags & WITHOUT_PIXELS)) {
        if (flags & HAS_WINDOW)
            tables[n++] = gradient ? gradient_window : unary_window;
        if (flags & HAS_STRIDE)
            tables[n++] = gradient && binary ? binary_gradient_stride
                          : gradient         ? gradient_stride
                          : binary           ? binary_stride
                                             : unary_stride;
        if (flags & HAS_WINDOW && !gradient)
            tables[n++] = unary_pad;
        if (flags & HAS_DILATION)
            tables[n++] = gradient ? gradient_dilation : unary_dilation;
        tables[n++] = gradient ? gradient_source : binary ? binary_source : unary_source;
        if (flags & IS_BACKWARDS)
            tables[n++] = backwards_rows;
        if (descriptor_place(descriptor, PLACE_DESTINATION) >= 0)
            tables[n++] = destination_rows;
    }
    if (n == 0)
        tables[n++] = no_rows;
    tables[n] = NULL;
}

/* ---- Values ---- */

static double load(const struct parameter *row, const void *block)
{
    const char *at = (const char *)block + row->offset;
    int32_t i;
    uint32_t u;
    uint64_t l;
    float f;
    double d;
    bool b;
    switch (row->type) {
    case FIELD_INT32:
        return memcpy(&i, at, sizeof i), i;
    case FIELD_UINT32:
    case FIELD_ENUM:
        return memcpy(&u, at, sizeof u), u;
    case FIELD_UINT64:
        return memcpy(&l, at, sizeof l), (double)l;
    case FIELD_FLOAT:
        return memcpy(&f, at, sizeof f), (double)f;
    case FIELD_DOUBLE:
        return memcpy(&d, at, sizeof d), d;
    case FIELD_BOOL:
        return memcpy(&b, at, sizeof b), b;
    }
    return 0;
}

/* Of a whole number of 0 or more. A double cannot be 2^64 - 1: 2^64 stands for it. */
static uint64_t clamp_to_uint64(double value)
{
    return value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
}

static void store(const struct parameter *row, void *block, double value)
{
    char *at = (char *)block + row->offset;
    int32_t i = row->type == FIELD_INT32 ? (int32_t)value : 0;
    uint32_t u = row->type == FIELD_UINT32 || row->type == FIELD_ENUM ? (uint32_t)value : 0;
    uint64_t l = row->type == FIELD_UINT64 ? clamp_to_uint64(value) : 0;
    float f = (float)value;
    bool b = value != 0;
    switch (row->type) {
    case FIELD_INT32:
        memcpy(at, &i, sizeof i);
        break;
    case FIELD_UINT32:
    case FIELD_ENUM:
        memcpy(at, &u, sizeof u);
        break;
    case FIELD_UINT64:
        memcpy(at, &l, sizeof l);
        break;
    case FIELD_FLOAT:
        memcpy(at, &f, sizeof f);
        break;
    case FIELD_DOUBLE:
        memcpy(at, &value, sizeof value);
        break;
    case FIELD_BOOL:
        memcpy(at, &b, sizeof b);
        break;
    }
}

static size_t size_of(const struct parameter *row)
{
    if (row->type == FIELD_BOOL)
        return sizeof(bool);
    return row->type == FIELD_DOUBLE || row->type == FIELD_UINT64 ? 8 : 4;
}

double parameter_maximum(const struct parameter *row)
{
    if (row->type == FIELD_BOOL)
        return 1;
    if (row->type != FIELD_ENUM)
        return row->maximum;
    size_t names = 0;
    while (row->value_names[names])
        names++;
    return (double)names - 1;
}

/* Ends of the range as they are printed. */
static const char *format_end(char text[NUMBER_TEXT], const struct parameter *row, double end)
{
    if (row->type == FIELD_UINT64)
        snprintf(text, NUMBER_TEXT, "%" PRIu64, clamp_to_uint64(end));
    else
        number_format(text, end);
    return text;
}

static bool out_of_range(const struct parameter *row, const char *found,
                         struct validation validation)
{
    char low[NUMBER_TEXT], high[NUMBER_TEXT];
    bool whole = row->type != FIELD_FLOAT && row->type != FIELD_DOUBLE;
    return invalid(validation, "%s is %s; it must be %s in %s .. %s", row->name, found,
                   whole ? "a whole number" : "a number",
                   format_end(low, row, row->type == FIELD_BOOL ? 0 : row->minimum),
                   format_end(high, row, parameter_maximum(row)));
}

static bool in_range(const struct parameter *row, double value, struct validation validation)
{
    char found[NUMBER_TEXT];
    bool whole = row->type != FIELD_FLOAT && row->type != FIELD_DOUBLE;
    double low = row->type == FIELD_BOOL ? 0 : row->minimum;
    if (value >= low && value <= parameter_maximum(row) && (!whole || value == floor(value)))
        return true;
    return out_of_range(row, number_format(found, value), validation);
}

/* Beyond 2^53 a double may be in the range and the number that it stands for not. */
static bool whole_in_range(const struct parameter *row, uint64_t whole,
                           struct validation validation)
{
    char found[NUMBER_TEXT];
    if (row->type != FIELD_UINT64)
        return in_range(row, (double)whole, validation);
    if (whole >= clamp_to_uint64(row->minimum) && whole <= clamp_to_uint64(row->maximum))
        return true;
    snprintf(found, sizeof found, "%" PRIu64, whole);
    return out_of_range(row, found, validation);
}

/* Where the setting has the exact number it is looked at and stored. */
static bool set_row(const struct parameter *row, void *block, const struct glcnn_setting *setting,
                    struct validation validation)
{
    if (!(setting->whole ? whole_in_range(row, setting->whole, validation)
                         : in_range(row, setting->value, validation)))
        return false;
    if (setting->whole && row->type == FIELD_UINT64)
        memcpy((char *)block + row->offset, &setting->whole, sizeof setting->whole);
    else
        store(row, block, setting->whole ? (double)setting->whole : setting->value);
    return true;
}

/* ---- All tables of a descriptor ---- */

struct walk {
    const struct parameter *tables[MAX_TABLES];
    const struct parameter *row;
    size_t table;
    bool in_parameters; /* the row is of the family's parameters */
};

static const struct parameter no_parameters[] = {{0}};

static void walk_begin(struct walk *walk, const struct glcnn_descriptor *descriptor)
{
    *walk = (struct walk){0};
    property_tables(descriptor, walk->tables);
    walk->row = walk->tables[0];
}

/* The next row, or NULL. Properties first, then parameters. */
static const struct parameter *walk_next(struct walk *walk,
                                         const struct glcnn_descriptor *descriptor)
{
    while (!walk->row->name) {
        if (walk->in_parameters)
            return NULL;
        walk->row = walk->tables[++walk->table];
        if (!walk->row) {
            walk->row = descriptor->parameters ? descriptor->parameters : no_parameters;
            walk->in_parameters = true;
        }
    }
    return walk->row++;
}

/* True if padding makes the size of its result, and the offset, which a window of the whole image has not. */
static bool pads(const struct glcnn_descriptor *d)
{
    return d->flags & (HAS_WINDOW | HAS_STRIDE) && !(d->flags & (IS_GRADIENT | WITHOUT_PIXELS)) &&
           !(d->unread & UNREAD_OFFSET) && !descriptor_broadcasts(d);
}

/* A gradient is 0 outside its image, whatever the edge mode (spec 5.5). */
static bool property_is_read(const struct glcnn_descriptor *descriptor, const struct parameter *row)
{
    static const struct {
        unsigned bit;
        size_t offset;
    } rows[] = {
        {UNREAD_OFFSET, PRIMARY(offset.x)},          {UNREAD_OFFSET, PRIMARY(offset.y)},
        {UNREAD_EDGE, PRIMARY(edge_mode)},           {UNREAD_SECOND_OFFSET, SECONDARY(offset.x)},
        {UNREAD_SECOND_OFFSET, SECONDARY(offset.y)}, {UNREAD_SECOND_EDGE, SECONDARY(edge_mode)}};
    const unsigned unread =
        descriptor->unread | (descriptor->flags & IS_GRADIENT ? UNREAD_EDGE : 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].offset == row->offset && unread & rows[i].bit)
            return false;
    for (const struct parameter *pad = unary_pad; pad->name; pad++)
        if (pad->offset == row->offset)
            return pads(descriptor);
    return true;
}

/* Settings of how a result is made, the padding's row and those that only a run has. LACKS: it is none. */
static enum parameter_use result_use(const struct glcnn_descriptor *d, const char *name)
{
    static const char *const of_padding[] = {"padding", "align", "remainder"};
    bool reads;
    for (size_t i = 0; i < sizeof of_padding / sizeof *of_padding; i++)
        if (strcmp(name, of_padding[i]) == 0)
            return pads(d) ? PARAMETER_READS : PARAMETER_IGNORES;
    if (strcmp(name, "exclude_edges") == 0)
        reads = d->flags & EXCLUDES_EDGES;
    else if (strcmp(name, "destination_width") == 0 || strcmp(name, "destination_height") == 0)
        reads = !(d->flags & IS_GRADIENT) && descriptor_place(d, PLACE_DESTINATION) >= 0;
    else
        return PARAMETER_LACKS;
    return reads ? PARAMETER_READS : PARAMETER_IGNORES;
}

enum parameter_use parameter_use(const struct glcnn_descriptor *descriptor, const char *name)
{
    const enum parameter_use use = result_use(descriptor, name);
    if (use != PARAMETER_LACKS)
        return use;
    struct walk walk;
    const struct parameter *row;
    walk_begin(&walk, descriptor);
    while ((row = walk_next(&walk, descriptor)))
        if (strcmp(row->name, name) == 0)
            return walk.in_parameters || property_is_read(descriptor, row) ? PARAMETER_READS
                                                                           : PARAMETER_IGNORES;
    return PARAMETER_LACKS;
}

void properties_set_defaults(const struct glcnn_descriptor *descriptor,
                             struct glcnn_addressing *properties, void *parameters)
{
    static const struct glcnn_source_properties source = {
        .feature_channel_max_count = UINT32_MAX,
        .kernel_width = 1,
        .kernel_height = 1,
        .stride_in_pixels_x = 1,
        .stride_in_pixels_y = 1,
        .stride_in_feature_channels = 1,
        .dilation_rate_x = 1,
        .dilation_rate_y = 1,
    };
    static const struct glcnn_region no_clip = GLCNN_NO_CLIP;
    memset(properties, 0, sizeof *properties);
    properties->primary = source;
    properties->secondary = source;
    properties->clip_rect = no_clip;
    properties->source_size = no_clip.size;
    properties->padding = GLCNN_PADDING_DEFAULT;
    for (const struct parameter *row = descriptor->parameters; row && row->name; row++)
        store(row, parameters, row->default_value);
}

bool parameter_set(const struct glcnn_descriptor *descriptor, struct glcnn_addressing *properties,
                   void *parameters, const struct glcnn_setting *setting,
                   struct validation validation)
{
    struct walk walk;
    const struct parameter *row;
    invalid(validation, "%s", "");
    walk_begin(&walk, descriptor);
    while ((row = walk_next(&walk, descriptor)))
        if (strcmp(row->name, setting->name) == 0)
            return set_row(row, walk.in_parameters ? parameters : (void *)properties, setting,
                           validation);
    return false;
}

void parameter_suggest(const struct glcnn_descriptor *descriptor, const char *name,
                       char text[SUGGESTION])
{
    const char *names[128];
    size_t count = 0;
    struct walk walk;
    const struct parameter *row;
    walk_begin(&walk, descriptor);
    while (count < sizeof names / sizeof *names && (row = walk_next(&walk, descriptor)))
        names[count++] = row->name;
    glcnn_suggest(name, strlen(name), names, count, text, SUGGESTION);
}

bool parameter_get(const struct glcnn_descriptor *descriptor,
                   const struct glcnn_addressing *properties, const void *parameters,
                   const char *name, double *value)
{
    struct walk walk;
    const struct parameter *row;
    walk_begin(&walk, descriptor);
    while ((row = walk_next(&walk, descriptor))) {
        if (strcmp(row->name, name) != 0)
            continue;
        *value = load(row, walk.in_parameters ? parameters : (const void *)properties);
        return true;
    }
    return false;
}

uint64_t *parameter_uint64(const struct glcnn_kernel *kernel, const char *name)
{
    for (const struct parameter *row = kernel->descriptor->parameters; row && row->name; row++)
        if (row->type == FIELD_UINT64 && strcmp(row->name, name) == 0)
            return (uint64_t *)(void *)((char *)kernel->parameters + row->offset);
    return NULL;
}

void parameters_adopt(const struct glcnn_descriptor *forward, const void *forward_parameters,
                      void *parameters)
{
    for (const struct parameter *row = forward->parameters; row && row->name; row++)
        memcpy((char *)parameters + row->offset, (const char *)forward_parameters + row->offset,
               size_of(row));
}

bool parameters_check(const struct glcnn_descriptor *descriptor,
                      const struct glcnn_addressing *properties, const void *parameters,
                      struct validation validation)
{
    struct walk walk;
    const struct parameter *row;
    walk_begin(&walk, descriptor);
    while ((row = walk_next(&walk, descriptor)))
        if (!in_range(row, load(row, walk.in_parameters ? parameters : (const void *)properties),
                      validation))
            return false;
    return true;
}
