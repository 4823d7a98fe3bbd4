/* PNG by libpng, row by row; one that is interlaced is taken into memory whole. */
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
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
};

static void say(png_structp read, png_const_charp message)
{
    struct png *png = png_get_error_ptr(read);
    if (!png->has_said)
        data_fail(png->error, GLCNN_MALFORMED_DATA, "is a damaged PNG: %.200s", message);
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
    if (depth <= 8 && (type == PNG_COLOR_TYPE_PALETTE || type == PNG_COLOR_TYPE_GRAY))
        return;
    data_fail(png->error, GLCNN_MALFORMED_DATA,
              "is a PNG of %s and %d bits; expected a palette or grey levels of 8 bits at most",
              type == PNG_COLOR_TYPE_PALETTE || type == PNG_COLOR_TYPE_GRAY ? "one channel"
                                                                            : "several channels",
              depth);
    stop(png);
}

/* Numbers of the palette, or grey levels as the file has them. */
static void read_values(struct png *png)
{
    struct picture_values *v = png->values;
    read_head(png);
    check_values(png);
    png->limit = PICTURE_MAX_MEMORY;
    png_set_packing(png->read);
    int passes = png_set_interlace_handling(png->read);
    png_read_update_info(png->read, png->info);
    v->width = png_get_image_width(png->read, png->info);
    v->height = png_get_image_height(png->read, png->info);
    v->values = malloc((size_t)v->width * v->height);
    if (!v->values)
        no_memory(png);
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t y = 0; y < v->height; y++)
            png_read_row(png->read, v->values + (size_t)y * v->width, NULL);
    png->limit = MAX_CHUNK;
    png_read_end(png->read, NULL);
}

/* ---- Entries ---- */

static glcnn_status outcome(const struct png *png)
{
    if (png->memory_is_short)
        return data_fail(png->error, GLCNN_OUT_OF_MEMORY, "not enough memory to decode it");
    if (ferror(png->file))
        return data_fail(png->error, GLCNN_IO_ERROR, "cannot be read");
    return GLCNN_MALFORMED_DATA;
}

static glcnn_status run(struct png *png, void (*take)(struct png *png))
{
    png->read = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, png, say, pass_over, png, allocate,
                                         release);
    png->info = png->read ? png_create_info_struct(png->read) : NULL;
    if (!png->info)
        return data_fail(png->error, GLCNN_OUT_OF_MEMORY, "not enough memory to decode it");
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

glcnn_status picture_png_values(FILE *file, struct picture_values *values, char *error)
{
    uint8_t head[PICTURE_HEAD];
    *values = (struct picture_values){.values = NULL};
    if (!png_begins(head, picture_read_head(file, head)))
        return data_fail(error, GLCNN_MALFORMED_DATA, "is not a PNG");
    glcnn_status status =
        run_and_release((struct png){.file = file, .error = error, .values = values}, read_values);
    if (status != GLCNN_SUCCESS) {
        free(values->values);
        *values = (struct picture_values){.values = NULL};
    }
    return status;
}

const struct picture_format picture_png = {
    .begins = png_begins, .look = png_look, .decode = png_decode};
