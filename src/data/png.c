/* PNG by libpng, row by row; one that is interlaced is taken into memory whole. */
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "picture.h"
#include "scale.h"

#define MAX_CHUNK ((size_t)8 << 20) /* of what is beside the pixels */

/* Kept behind a pointer, so that a jump back leaves every value as it was last. */
struct png {
    png_structp read;
    png_infop info;
    FILE *file;
    uint32_t turn; /* EXIF's orientation */
    char *error;
    size_t limit; /* of one allocation of libpng: it takes what a chunk promises */
    bool memory_is_short;
    bool has_said; /* `error` has its message */
    struct scaler scaler;
    uint8_t *rows, *converted;
    /* What it is read for. */
    struct picture *picture;
    const struct size *size;
    uint8_t *pixels;
    struct picture_values *values;
    const struct colours *colours; /* NULL: values are not looked up among these */
};

static void say(png_structp read, png_const_charp message)
{
    struct png *png = png_get_error_ptr(read);
    if (!png->has_said)
        fail_with(png->error, GLCNN_MALFORMED_DATA, "is a damaged PNG: %.200s", message);
    png->has_said = true;
    png_longjmp(read, 1);
}

static void pass_over(png_structp read, png_const_charp message)
{
    (void)read;
    (void)message;
}

static png_voidp allocate(png_structp read, png_alloc_size_t size)
{
    struct png *png = png_get_mem_ptr(read);
    void *bytes = size <= png->limit ? malloc(size) : NULL;
    png->memory_is_short |= !bytes && size <= png->limit;
    return bytes;
}

static void release(png_structp read, png_voidp bytes)
{
    (void)read;
    free(bytes);
}

static void read_bytes(png_structp read, png_bytep bytes, size_t size)
{
    struct png *png = png_get_io_ptr(read);
    if (fread(bytes, 1, size, png->file) != size)
        png_error(read, "it is truncated");
}

/* Leaves by the error of libpng where the message is there already. */
static void stop(struct png *png)
{
    png->has_said = true;
    png_error(png->read, "");
}

static void read_head(struct png *png)
{
    png_set_read_fn(png->read, png, read_bytes);
    png_set_user_limits(png->read, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(png->read, MAX_CHUNK);
    png_read_info(png->read, png->info);
    if (!picture_check_size(png_get_image_width(png->read, png->info),
                            png_get_image_height(png->read, png->info), png->error))
        stop(png);
}

static bool has_colour(const struct png *png)
{
    png_colorp palette;
    int count;
    if (png_get_color_type(png->read, png->info) != PNG_COLOR_TYPE_PALETTE)
        return png_get_color_type(png->read, png->info) & PNG_COLOR_MASK_COLOR;
    if (!png_get_PLTE(png->read, png->info, &palette, &count))
        return false;
    for (int i = 0; i < count; i++)
        if (palette[i].red != palette[i].green || palette[i].red != palette[i].blue)
            return true;
    return false;
}

static void look(struct png *png)
{
    struct picture *picture = png->picture;
    read_head(png);
    bool turned = png->turn > 4;
    uint32_t width = png_get_image_width(png->read, png->info);
    uint32_t height = png_get_image_height(png->read, png->info);
    *picture = (struct picture){.width = turned ? height : width,
                                .height = turned ? width : height,
                                .orientation = png->turn,
                                .has_colour = has_colour(png)};
}

/* ---- Pixels ---- */

static const enum samples samples_of[] = {0, SAMPLES_GREY, SAMPLES_GREY_ALPHA, SAMPLES_RGB,
                                          SAMPLES_RGBA};

static void set_transformations(struct png *png)
{
    png_set_expand(png->read);
    png_set_scale_16(png->read);
    png_set_interlace_handling(png->read);
    png_read_update_info(png->read, png->info);
}

static void no_memory(struct png *png)
{
    png->memory_is_short = true;
    stop(png);
}

static void make_buffers(struct png *png, const struct size *size, uint32_t rows)
{
    const struct scaled to = picture_scaled(size, png->turn);
    uint32_t width = png_get_image_width(png->read, png->info);
    png->rows = malloc(rows * png_get_rowbytes(png->read, png->info));
    png->converted = malloc((size_t)width * size->channels);
    if (!png->rows || !png->converted ||
        !scaler_create(&png->scaler, width, png_get_image_height(png->read, png->info), &to,
                       size->channels))
        no_memory(png);
}

static void take_row(struct png *png, const uint8_t *row)
{
    picture_convert(samples_of[png_get_channels(png->read, png->info)], row,
                    png_get_image_width(png->read, png->info), png->scaler.channels,
                    png->converted);
    scaler_row(&png->scaler, png->converted);
}

static void read_interlaced(struct png *png, uint32_t height)
{
    size_t bytes = png_get_rowbytes(png->read, png->info);
    int passes = png_set_interlace_handling(png->read);
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t y = 0; y < height; y++)
            png_read_row(png->read, png->rows + y * bytes, NULL);
    for (uint32_t y = 0; y < height; y++)
        take_row(png, png->rows + y * bytes);
}

static void decode(struct png *png)
{
    const struct size *size = png->size;
    read_head(png);
    png->limit = PICTURE_MAX_MEMORY;
    set_transformations(png);
    uint32_t turn = png->turn, height = png_get_image_height(png->read, png->info);
    bool interlaced = png_get_interlace_type(png->read, png->info) != PNG_INTERLACE_NONE;
    make_buffers(png, size, interlaced ? height : 1);
    if (interlaced)
        read_interlaced(png, height);
    for (uint32_t y = 0; y < height && !interlaced; y++) {
        png_read_row(png->read, png->rows, NULL);
        take_row(png, png->rows);
    }
    png->limit = MAX_CHUNK;
    png_read_end(png->read, NULL);
    scaler_finish(&png->scaler, turn, png->pixels);
}

/* ---- Values ---- */

static void check_values(struct png *png)
{
    const int type = png_get_color_type(png->read, png->info),
              depth = png_get_bit_depth(png->read, png->info);
    const bool is_one = type == PNG_COLOR_TYPE_PALETTE || type == PNG_COLOR_TYPE_GRAY;
    if (is_one ? depth <= 8 : png->colours != NULL)
        return;
    fail_with(png->error, GLCNN_MALFORMED_DATA,
              "is a PNG of %s and %d bits; expected a palette or grey levels of 8 bits at most, or "
              "the colours of classes: labelmap.txt in the folder, or --mask-colours FILE, with "
              "lines NAME:R,G,B",
              is_one ? "one channel" : "several channels", depth);
    stop(png);
}

/* Rows of numbers of the palette, of grey levels, or of red, green and blue. */
static void read_rows(struct png *png, uint8_t *rows, size_t row)
{
    const uint32_t height = png_get_image_height(png->read, png->info);
    int passes = png_set_interlace_handling(png->read);
    png_read_update_info(png->read, png->info);
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t y = 0; y < height; y++)
            png_read_row(png->read, rows + y * row, NULL);
    png->limit = MAX_CHUNK;
    png_read_end(png->read, NULL);
}

/* Of Pascal VOC's masks, around objects. */
static const uint8_t void_colour[3] = {224, 224, 192};

static void find_colours(struct png *png)
{
    struct picture_values *v = png->values;
    const size_t count = (size_t)v->width * v->height;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *rgb = png->rows + 3 * i;
        v->values[i] = colours_find(png->colours, rgb);
        const bool is_void = memcmp(rgb, void_colour, 3) == 0;
        if (v->values[i] != GLCNN_DATA_NO_CLASS || is_void || v->strange++ > 0)
            continue;
        v->strange_x = (uint32_t)(i % v->width);
        v->strange_y = (uint32_t)(i / v->width);
        memcpy(v->strange_colour, rgb, 3);
    }
}

/* Grey levels become numbers where all of them are colours of the map. */
static void find_grey_colours(struct png *png)
{
    struct picture_values *v = png->values;
    const size_t count = (size_t)v->width * v->height;
    uint8_t numbers[256];
    bool seen[256] = {false};
    for (size_t i = 0; i < count; i++)
        seen[v->values[i]] = true;
    for (int level = 0; level < 256; level++) {
        const uint8_t rgb[3] = {(uint8_t)level, (uint8_t)level, (uint8_t)level};
        numbers[level] = colours_find(png->colours, rgb);
        if (seen[level] && numbers[level] == GLCNN_DATA_NO_CLASS)
            return;
    }
    v->are_levels = false;
    for (size_t i = 0; i < count; i++)
        v->values[i] = numbers[v->values[i]];
}

static void read_values(struct png *png)
{
    struct picture_values *v = png->values;
    read_head(png);
    check_values(png);
    const int type = png_get_color_type(png->read, png->info);
    const bool has_colours = png->colours && type != PNG_COLOR_TYPE_GRAY;
    png->limit = PICTURE_MAX_MEMORY;
    v->width = png_get_image_width(png->read, png->info);
    v->height = png_get_image_height(png->read, png->info);
    v->are_levels = type == PNG_COLOR_TYPE_GRAY;
    v->values = malloc((size_t)v->width * v->height);
    png->rows = has_colours ? malloc(3 * (size_t)v->width * v->height) : NULL;
    if (!v->values || (has_colours && !png->rows))
        no_memory(png);
    if (has_colours) {
        png_set_palette_to_rgb(png->read);
        png_set_scale_16(png->read);
        png_set_gray_to_rgb(png->read);
        png_set_strip_alpha(png->read);
        read_rows(png, png->rows, 3 * (size_t)v->width);
        find_colours(png);
        return;
    }
    png_set_packing(png->read);
    read_rows(png, v->values, v->width);
    if (png->colours)
        find_grey_colours(png);
}

/* ---- Entries ---- */

static glcnn_status outcome(const struct png *png)
{
    if (png->memory_is_short)
        return fail_with(png->error, GLCNN_OUT_OF_MEMORY, "not enough memory to decode it");
    if (ferror(png->file))
        return fail_with(png->error, GLCNN_IO_ERROR, "cannot be read");
    return GLCNN_MALFORMED_DATA;
}

static glcnn_status run(struct png *png, void (*take)(struct png *png))
{
    png->read = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, png, say, pass_over, png, allocate,
                                         release);
    png->info = png->read ? png_create_info_struct(png->read) : NULL;
    if (!png->info)
        return fail_with(png->error, GLCNN_OUT_OF_MEMORY, "not enough memory to decode it");
    if (setjmp(png_jmpbuf(png->read)))
        return outcome(png);
    take(png);
    return GLCNN_SUCCESS;
}

static glcnn_status run_and_release(struct png png, void (*take)(struct png *png))
{
    png.turn = picture_png_orientation(png.file);
    png.limit = MAX_CHUNK;
    glcnn_status status = run(&png, take);
    png_destroy_read_struct(&png.read, &png.info, NULL);
    scaler_destroy(&png.scaler);
    free(png.rows);
    free(png.converted);
    return status;
}

static glcnn_status png_look(FILE *file, struct picture *picture, char *error)
{
    return run_and_release((struct png){.file = file, .error = error, .picture = picture}, look);
}

static glcnn_status png_decode(FILE *file, const struct size *size, uint8_t *pixels, char *error)
{
    return run_and_release(
        (struct png){.file = file, .error = error, .size = size, .pixels = pixels}, decode);
}

static bool png_begins(const uint8_t *head, size_t size)
{
    static const uint8_t magic[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    return size >= sizeof magic && memcmp(head, magic, sizeof magic) == 0;
}

glcnn_status picture_turn_values(struct picture_values *values, uint32_t orientation, char *error)
{
    if (orientation < 2)
        return GLCNN_SUCCESS;
    uint8_t *turned = malloc((size_t)values->width * values->height);
    if (!turned)
        return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory to decode it");
    scale_turn_values(values->width, values->height, orientation, values->values, turned);
    free(values->values);
    values->values = turned;
    if (orientation > 4) {
        const uint32_t width = values->width;
        values->width = values->height;
        values->height = width;
    }
    return GLCNN_SUCCESS;
}

glcnn_status picture_png_values(FILE *file, const struct colours *colours,
                                struct picture_values *values, char *error)
{
    uint8_t head[PICTURE_HEAD];
    *values = (struct picture_values){.values = NULL};
    if (!png_begins(head, picture_read_head(file, head)))
        return fail_with(error, GLCNN_MALFORMED_DATA, "is not a PNG");
    const uint32_t orientation = picture_png_orientation(file);
    glcnn_status status = run_and_release(
        (struct png){.file = file, .error = error, .values = values, .colours = colours},
        read_values);
    if (status == GLCNN_SUCCESS)
        status = picture_turn_values(values, orientation, error);
    values->orientation = orientation;
    if (status != GLCNN_SUCCESS) {
        free(values->values);
        *values = (struct picture_values){.values = NULL};
    }
    return status;
}

const struct picture_format picture_png = {
    .begins = png_begins, .look = png_look, .decode = png_decode};
