/* Pictures by libpng, libjpeg, libwebp and libtiff, archives by libzip, and the rest byte by byte. */
#include "tests/data_files.h"

#include <ftw.h>
#include <png.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <tiffio.h>
#include <unistd.h>
#include <webp/encode.h>
#include <zip.h>
#include <zlib.h>

#include <jpeglib.h>

#include "tests/unit.h"

#define PATHS 8 /* that data_path keeps */

static char folder[64];

const char *data_folder(void)
{
    if (!*folder) {
        snprintf(folder, sizeof folder, "/tmp/glcnn-data-XXXXXX");
        CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    }
    return folder;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    return remove(path);
}

void data_remove_folder(void)
{
    if (*folder)
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    *folder = 0;
}

const char *data_path(const char *name)
{
    static char paths[PATHS][512];
    static unsigned next;
    char *path = paths[next++ % PATHS];
    snprintf(path, sizeof paths[0], "%s/%s", data_folder(), name);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        mkdir(path, 0777);
        *slash = '/';
    }
    return path;
}

void data_write(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(data_path(name), "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, size, file), size);
    CU_ASSERT_EQUAL(fclose(file), 0);
}

void data_write_text(const char *name, const char *text)
{
    data_write(name, text, strlen(text));
}

void data_write_gz(const char *name, const void *bytes, size_t size)
{
    gzFile file = gzopen(data_path(name), "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(gzwrite(file, bytes, (unsigned)size), (int)size);
    CU_ASSERT_EQUAL(gzclose(file), Z_OK);
}

size_t data_read(const char *name, void *bytes, size_t size)
{
    FILE *file = fopen(data_path(name), "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    size_t got = fread(bytes, 1, size, file);
    fclose(file);
    return got;
}

/* ---- Pictures ---- */

static void put(uint8_t **at, uint64_t value, size_t size, bool big_endian)
{
    for (size_t i = 0; i < size; i++)
        (*at)[big_endian ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
    *at += size;
}

size_t data_tiff(uint8_t tiff[DATA_TIFF], uint32_t orientation, bool big_endian, int type,
                 bool apart)
{
    static const size_t sizes[] = {[1] = 1, [3] = 2, [4] = 4, [6] = 1, [8] = 2, [9] = 4, [12] = 8};
    const uint32_t heads[] = {42, 8, 1, 0x112, (uint32_t)type, apart ? 5 : 1};
    static const size_t head_sizes[] = {2, 4, 2, 2, 2, 4};
    uint8_t *at = tiff + 2;
    memset(tiff, 0, DATA_TIFF);
    memset(tiff, big_endian ? 'M' : 'I', 2);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        put(&at, heads[i], head_sizes[i], big_endian);
    if (apart) {
        put(&at, 26, 4, big_endian);
        put(&at, 0, 4, big_endian); /* no other directory */
    }
    for (int i = 0; i < (apart ? 3 : 1); i++)
        put(&at, i ? 1 : orientation, sizes[type], big_endian);
    return DATA_TIFF;
}

static void put_chunk(uint8_t **at, const char *type, const void *bytes, size_t size)
{
    uLong sum = crc32(crc32(0, (const uint8_t *)type, 4), bytes, (uInt)size);
    put(at, (uint32_t)size, 4, true);
    memcpy(*at, type, 4);
    memcpy(*at + 4, bytes, size);
    *at += 4 + size;
    put(at, (uint32_t)sum, 4, true);
}

void data_add_chunk(const char *name, const char *type, const void *bytes, size_t size, bool last)
{
    static uint8_t png[1 << 16], whole[1 << 17];
    size_t length = data_read(name, png, sizeof png), begin = last ? length - 12 : 33;
    uint8_t *at = whole + begin;
    memcpy(whole, png, begin);
    put_chunk(&at, type, bytes, size);
    memcpy(at, png + begin, length - begin);
    data_write(name, whole, (size_t)(at - whole) + length - begin);
}

static void set_palette(png_structp write, png_infop info, int depth)
{
    png_color palette[256];
    png_byte alpha[256];
    int count = 1 << depth;
    for (int i = 0; i < count; i++) {
        palette[i] = (png_color){(png_byte)i, (png_byte)(2 * i), (png_byte)(255 - i)};
        alpha[i] = (png_byte)(255 - i);
    }
    png_set_PLTE(write, info, palette, count);
    png_set_tRNS(write, info, alpha, count, NULL);
}

/* Rows of one byte or, of depth 16, two for each sample. */
static void write_rows(png_structp write, const struct data_png *png, int depth, uint32_t channels)
{
    size_t sample = depth == 16 ? 2 : 1, row = png->width * channels * sample;
    uint8_t *bytes = malloc(row * png->height), **rows = malloc(png->height * sizeof *rows);
    uint8_t *to = bytes;
    for (uint32_t y = 0; y < png->height; y++) {
        rows[y] = to;
        for (uint32_t i = 0; i < png->width * channels; i++) {
            uint32_t value = png->value(i / channels, y, i % channels);
            if (sample == 2)
                *to++ = (uint8_t)(value >> 8);
            *to++ = (uint8_t)value;
        }
    }
    png_write_image(write, rows);
    free(rows);
    free(bytes);
}

void data_write_png(const char *name, const struct data_png *png)
{
    static const uint32_t channels[] = {[PNG_COLOR_TYPE_GRAY] = 1,
                                        [PNG_COLOR_TYPE_GRAY_ALPHA] = 2,
                                        [PNG_COLOR_TYPE_PALETTE] = 1,
                                        [PNG_COLOR_TYPE_RGB] = 3,
                                        [PNG_COLOR_TYPE_RGB_ALPHA] = 4};
    uint8_t tiff[DATA_TIFF];
    int depth = png->depth ? png->depth : 8;
    FILE *file = fopen(data_path(name), "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    png_structp write = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(write);
    png_init_io(write, file);
    png_set_IHDR(write, info, png->width, png->height, depth, png->colour_type,
                 png->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, 0, 0);
    if (png->colour_type == PNG_COLOR_TYPE_PALETTE)
        set_palette(write, info, depth);
    if (png->orientation)
        png_set_eXIf_1(write, info, (png_uint_32)data_tiff(tiff, png->orientation, true, 3, false),
                       tiff);
    png_write_info(write, info);
    png_set_packing(write);
    write_rows(write, png, depth, channels[png->colour_type]);
    png_write_end(write, NULL);
    png_destroy_write_struct(&write, &info);
    CU_ASSERT_EQUAL(fclose(file), 0);
}

static void set_jpeg(struct jpeg_compress_struct *write, const struct data_jpeg *jpeg)
{
    static const J_COLOR_SPACE spaces[] = {0, JCS_GRAYSCALE, 0, JCS_RGB, JCS_CMYK};
    write->image_width = jpeg->width;
    write->image_height = jpeg->height;
    write->input_components = (int)jpeg->components;
    write->in_color_space = spaces[jpeg->components];
    jpeg_set_defaults(write);
    if (jpeg->inverted)
        jpeg_set_colorspace(write, JCS_YCCK);
    else if (jpeg->components == 4)
        write->write_Adobe_marker = FALSE;
    jpeg_set_quality(write, 100, TRUE);
    for (int c = 0; c < write->num_components; c++)
        write->comp_info[c].h_samp_factor = write->comp_info[c].v_samp_factor = 1;
    if (jpeg->progressive)
        jpeg_simple_progression(write);
}

void data_write_jpeg(const char *name, const struct data_jpeg *jpeg)
{
    struct jpeg_compress_struct write;
    struct jpeg_error_mgr messages;
    uint8_t exif[6 + DATA_TIFF] = "Exif\0";
    FILE *file = fopen(data_path(name), "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    write.err = jpeg_std_error(&messages);
    jpeg_create_compress(&write);
    jpeg_stdio_dest(&write, file);
    set_jpeg(&write, jpeg);
    jpeg_start_compress(&write, TRUE);
    data_tiff(exif + 6, jpeg->orientation, jpeg->big_endian, jpeg->type ? jpeg->type : 3,
              jpeg->apart);
    if (jpeg->orientation)
        jpeg_write_marker(&write, JPEG_APP0 + 1, exif, sizeof exif);
    uint8_t *row = malloc((size_t)jpeg->width * jpeg->components);
    for (uint32_t y = 0; y < jpeg->height; y++) {
        for (uint32_t i = 0; i < jpeg->width * jpeg->components; i++)
            row[i] = (uint8_t)jpeg->value(i / jpeg->components, y, i % jpeg->components);
        jpeg_write_scanlines(&write, &row, 1);
    }
    free(row);
    jpeg_finish_compress(&write);
    jpeg_destroy_compress(&write);
    CU_ASSERT_EQUAL(fclose(file), 0);
}

/* ---- WebP ---- */

static size_t encode_webp(const struct data_webp *webp, uint8_t **bytes)
{
    const int width = (int)webp->width, height = (int)webp->height;
    uint8_t *pixels = malloc((size_t)webp->width * webp->height * 4), *to = pixels;
    WebPConfig config;
    WebPPicture picture;
    WebPMemoryWriter writer;
    CU_ASSERT_TRUE(WebPConfigInit(&config) && WebPPictureInit(&picture));
    WebPMemoryWriterInit(&writer);
    config.lossless = !webp->is_lossy;
    config.exact = 1;
    config.quality = 100;
    picture.use_argb = 1;
    picture.width = width;
    picture.height = height;
    picture.writer = WebPMemoryWrite;
    picture.custom_ptr = &writer;
    for (uint32_t i = 0; i < webp->width * webp->height; i++)
        for (uint32_t c = 0; c < 4; c++)
            *to++ = (uint8_t)(c < 3 || webp->has_alpha
                                  ? webp->value(i % webp->width, i / webp->width, c)
                                  : 255);
    CU_ASSERT_TRUE(WebPPictureImportRGBA(&picture, pixels, width * 4));
    CU_ASSERT_TRUE(WebPEncode(&config, &picture));
    WebPPictureFree(&picture);
    free(pixels);
    *bytes = writer.mem;
    return writer.size;
}

static void put_riff(uint8_t **at, const char *type, const void *bytes, size_t size)
{
    memcpy(*at, type, 4);
    *at += 4;
    put(at, (uint32_t)size, 4, false);
    memcpy(*at, bytes, size);
    (*at)[size] = 0;
    *at += size + size % 2;
}

/* RIFF's head, a chunk of flags and the size, the picture, and EXIF. */
static size_t extend_webp(const struct data_webp *webp, const uint8_t *from, size_t size,
                          uint8_t *to)
{
    uint8_t exif[6 + DATA_TIFF] = "Exif\0", flags[10], *at = flags + 4, *end = to + 12;
    size_t tiff = data_tiff(exif + 6, webp->orientation, false, 3, false);
    memset(flags, 0, sizeof flags);
    flags[0] = (uint8_t)((webp->has_alpha ? 16 : 0) | (webp->orientation ? 8 : 0) |
                         (webp->is_animated ? 2 : 0));
    put(&at, webp->width - 1, 3, false);
    put(&at, webp->height - 1, 3, false);
    put_riff(&end, "VP8X", flags, sizeof flags);
    memcpy(end, from + 12, size - 12);
    end += size - 12;
    if (webp->orientation)
        put_riff(&end, "EXIF", exif + (webp->has_mark ? 0 : 6), tiff + (webp->has_mark ? 6 : 0));
    memcpy(to, "RIFF", 4);
    at = to + 4;
    put(&at, (uint32_t)(end - to - 8), 4, false);
    memcpy(at, "WEBP", 4);
    return (size_t)(end - to);
}

void data_write_webp(const char *name, const struct data_webp *webp)
{
    uint8_t *bytes, *extended;
    size_t size = encode_webp(webp, &bytes);
    bool is_plain = !webp->orientation && !webp->is_animated && !webp->has_alpha;
    CU_ASSERT_PTR_NOT_NULL_FATAL(extended = malloc(size + 256));
    if (is_plain || memcmp(bytes + 12, "VP8X", 4) == 0)
        data_write(name, bytes, size);
    else
        data_write(name, extended, extend_webp(webp, bytes, size, extended));
    WebPFree(bytes);
    free(extended);
}

/* ---- TIFF ---- */

static void set_tiff(TIFF *write, const struct data_tiff_file *t)
{
    TIFFSetField(write, TIFFTAG_IMAGEWIDTH, t->width);
    TIFFSetField(write, TIFFTAG_IMAGELENGTH, t->height);
    TIFFSetField(write, TIFFTAG_PHOTOMETRIC, t->photometric);
    TIFFSetField(write, TIFFTAG_SAMPLESPERPIXEL, t->samples);
    TIFFSetField(write, TIFFTAG_BITSPERSAMPLE, t->depth);
    TIFFSetField(write, TIFFTAG_COMPRESSION, t->compression ? t->compression : COMPRESSION_NONE);
    TIFFSetField(write, TIFFTAG_PLANARCONFIG,
                 t->is_separate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
    if (t->extra) {
        const uint16_t extra = (uint16_t)t->extra;
        TIFFSetField(write, TIFFTAG_EXTRASAMPLES, 1, &extra);
    }
    if (t->is_float)
        TIFFSetField(write, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
    if (t->orientation)
        TIFFSetField(write, TIFFTAG_ORIENTATION, t->orientation);
    if (t->tile) {
        TIFFSetField(write, TIFFTAG_TILEWIDTH, t->tile);
        TIFFSetField(write, TIFFTAG_TILELENGTH, t->tile);
    } else {
        TIFFSetField(write, TIFFTAG_ROWSPERSTRIP, 4);
    }
}

static void set_colours(TIFF *write)
{
    static uint16_t colours[3][256];
    for (int i = 0; i < 256; i++) {
        colours[0][i] = (uint16_t)(i * 257);
        colours[1][i] = (uint16_t)(2 * i % 256 * 257);
        colours[2][i] = (uint16_t)((255 - i) * 257);
    }
    TIFFSetField(write, TIFFTAG_COLORMAP, colours[0], colours[1], colours[2]);
}

/* One sample into a row or tile, in the order of this machine. */
static void put_sample(uint8_t *row, const struct data_tiff_file *t, size_t at, uint32_t value)
{
    if (t->depth == 1)
        row[at / 8] |= (uint8_t)((value & 1) << (7 - at % 8));
    else if (t->depth == 8)
        row[at] = (uint8_t)value;
    else if (t->depth == 16)
        ((uint16_t *)(void *)row)[at] = (uint16_t)value;
    else
        ((uint32_t *)(void *)row)[at] = value;
}

static void write_tiff_rows(TIFF *write, const struct data_tiff_file *t)
{
    const uint32_t planes = t->is_separate ? (uint32_t)t->samples : 1;
    const uint32_t each = (uint32_t)t->samples / planes;
    uint8_t *row = malloc((size_t)t->width * (uint32_t)t->samples * 4 + 8);
    for (uint32_t p = 0; p < planes; p++)
        for (uint32_t y = 0; y < t->height; y++) {
            memset(row, 0, (size_t)t->width * (uint32_t)t->samples * 4 + 8);
            for (uint32_t i = 0; i < t->width * each; i++)
                put_sample(row, t, i, t->value(i / each, y, p + i % each));
            CU_ASSERT_EQUAL(TIFFWriteScanline(write, row, y, (uint16_t)p), 1);
        }
    free(row);
}

static void write_tiff_tiles(TIFF *write, const struct data_tiff_file *t)
{
    const uint32_t samples = (uint32_t)t->samples;
    uint8_t *tile = malloc((size_t)TIFFTileSize(write));
    for (uint32_t y = 0; y < t->height; y += t->tile)
        for (uint32_t x = 0; x < t->width; x += t->tile) {
            for (uint32_t i = 0; i < t->tile * t->tile * samples; i++) {
                uint32_t at_x = x + i / samples % t->tile, at_y = y + i / samples / t->tile;
                put_sample(tile, t, i, t->value(at_x, at_y, i % samples));
            }
            CU_ASSERT_TRUE(TIFFWriteTile(write, tile, x, y, 0, 0) > 0);
        }
    free(tile);
}

void data_write_tiff(const char *name, const struct data_tiff_file *t)
{
    TIFF *write = TIFFOpen(data_path(name), t->mode ? t->mode : "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(write);
    set_tiff(write, t);
    if (t->photometric == PHOTOMETRIC_PALETTE)
        set_colours(write);
    if (t->tile)
        write_tiff_tiles(write, t);
    else
        write_tiff_rows(write, t);
    TIFFClose(write);
}

/* ---- Arrays ---- */

size_t data_npy(void *file, const char *descr, const char *shape, const void *bytes, size_t size)
{
    char *to = file;
    int length =
        sprintf(to + 10, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", descr, shape);
    memcpy(to, "\x93NUMPY\1\0", 8);
    to[8] = (char)length;
    to[9] = 0;
    if (size > 0) /* no bytes may be no address */
        memcpy(to + 10 + length, bytes, size);
    return 10 + (size_t)length + size;
}

void data_write_npy(const char *name, const char *descr, const char *shape, const void *bytes,
                    size_t size)
{
    void *file = malloc(size + 256);
    data_write(name, file, data_npy(file, descr, shape, bytes, size));
    free(file);
}

void data_write_zip(const char *name, const struct data_entry *entries, size_t count)
{
    int code;
    zip_t *zip = zip_open(data_path(name), ZIP_CREATE | ZIP_TRUNCATE, &code);
    CU_ASSERT_PTR_NOT_NULL_FATAL(zip);
    for (size_t i = 0; i < count; i++)
        CU_ASSERT_TRUE(zip_file_add(zip, entries[i].name,
                                    zip_source_buffer(zip, entries[i].bytes, entries[i].size, 0),
                                    ZIP_FL_ENC_UTF_8) >= 0);
    CU_ASSERT_EQUAL(zip_close(zip), 0);
}

/* ---- Opening ---- */

glcnn_dataset *data_open(const char *name, const struct glcnn_data_parameters *parameters)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_dataset *data;
    glcnn_status status = glcnn_dataset_open(data_path(name), parameters, &data, error);
    if (status != GLCNN_SUCCESS)
        printf("\n    %s", error);
    CU_ASSERT_EQUAL_FATAL(status, GLCNN_SUCCESS);
    return data;
}

void data_refuses(const char *name, const struct glcnn_data_parameters *parameters,
                  glcnn_status status, const char *phrase)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_dataset *data = (glcnn_dataset *)error;
    CU_ASSERT_EQUAL(glcnn_dataset_open(data_path(name), parameters, &data, error), status);
    CU_ASSERT_PTR_NULL(data);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, phrase));
    if (!strstr(error, phrase))
        printf("\n    %s: expected \"%s\", got \"%s\"", name, phrase, error);
}

glcnn_data_loader *data_load(glcnn_dataset *data,
                             const struct glcnn_data_loader_parameters *parameters)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_data_loader *loader;
    glcnn_status status = glcnn_data_loader_create(data, parameters, &loader, error);
    if (status != GLCNN_SUCCESS)
        printf("\n    %s", error);
    CU_ASSERT_EQUAL_FATAL(status, GLCNN_SUCCESS);
    return loader;
}

struct glcnn_data_batch data_next(glcnn_data_loader *loader)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    struct glcnn_data_batch batch;
    glcnn_status status = glcnn_data_loader_next(loader, &batch, error);
    if (status != GLCNN_SUCCESS)
        printf("\n    %s", error);
    CU_ASSERT_EQUAL_FATAL(status, GLCNN_SUCCESS);
    return batch;
}

/* ---- What was read ---- */

const char *data_describe_boxes(const glcnn_dataset *data, glcnn_data_part part)
{
    static char text[2048];
    const struct glcnn_data_info *info = glcnn_dataset_info(data);
    char *to = text;
    *to = 0;
    for (uint32_t i = 0; i < info->counts[part]; i++) {
        char name[256];
        uint32_t count;
        const struct glcnn_data_box *box = glcnn_dataset_boxes(data, part, i, &count);
        glcnn_dataset_name(data, part, i, name, sizeof name);
        to +=
            sprintf(to, "%s%s", i ? "; " : "", strrchr(name, '/') ? strrchr(name, '/') + 1 : name);
        for (uint32_t k = 0; k < count; k++, box++)
            to += sprintf(to, "%s%s%s%s %.4g %.4g %.4g %.4g", k ? ", " : ": ",
                          info->class_names[box->label], box->is_crowd ? " crowd" : "",
                          box->is_difficult ? " difficult" : "", (double)box->left,
                          (double)box->top, (double)box->right, (double)box->bottom);
    }
    return text;
}

const char *data_describe_classes(const glcnn_dataset *data)
{
    static char text[1024];
    const struct glcnn_data_info *info = glcnn_dataset_info(data);
    char *to = text;
    *to = 0;
    for (uint32_t i = 0; i < info->class_count; i++)
        to += sprintf(to, "%s%s", i ? " " : "", info->class_names[i]);
    return text;
}

bool data_says(const glcnn_dataset *data, const char *(*message)(const glcnn_dataset *, uint32_t),
               const char *phrase)
{
    for (uint32_t i = 0; message(data, i); i++)
        if (strstr(message(data, i), phrase))
            return true;
    printf("\n    nothing says \"%s\", but \"%s\"", phrase,
           message(data, 0) ? message(data, 0) : "nothing");
    return false;
}
