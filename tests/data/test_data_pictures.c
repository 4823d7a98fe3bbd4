/* Pictures: the right pixels of every kind, the right message for every damage. */
#include "tests/data_files.h"

#include <math.h>
#include <png.h>
#include <sys/resource.h>
#include <tiffio.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/unit.h"

/* One picture as bytes [H][W][C] at the size, through a folder of two classes that has nothing
 * else. */
static void decode(const char *name, const struct glcnn_data_parameters *p, uint8_t *pixels,
                   struct glcnn_data_info *info)
{
    glcnn_dataset *data;
    char error[GLCNN_ERROR_LENGTH] = "";
    const char *path = data_path(name);
    glcnn_status status = glcnn_dataset_open_files(&path, 1, p, &data, error);
    if (status != GLCNN_SUCCESS)
        printf("\n    %s", error);
    CU_ASSERT_EQUAL_FATAL(status, GLCNN_SUCCESS);
    *info = *glcnn_dataset_info(data);
    glcnn_data_loader *loader =
        data_load(data, &(struct glcnn_data_loader_parameters){.part = GLCNN_DATA_PART_TEST,
                                                               .batch = 1,
                                                               .threads = 1,
                                                               .bytes = true,
                                                               .interleaved = true});
    struct glcnn_data_batch batch = data_next(loader);
    CU_ASSERT_EQUAL(batch.filled, 1);
    CU_ASSERT_EQUAL(batch.labels[0], GLCNN_DATA_NO_LABEL);
    memcpy(pixels, batch.bytes, (size_t)info->width * info->height * info->channels);
    if (batch.filled == 0)
        printf("\n    %s", glcnn_dataset_note(data, 0));
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
}

/* ---- PNG ---- */

static uint32_t range; /* of the samples that `noise` gives: 2^depth */

static uint32_t noise(uint32_t x, uint32_t y, uint32_t c)
{
    uint32_t value = (x * 7919 + y * 104729 + c * 1299709 + 12345) * 2654435761u;
    return (value >> 9) % range;
}

/* In 0 .. 255, rounded. */
static uint32_t sample(uint32_t x, uint32_t y, uint32_t c)
{
    return (noise(x, y, c) * 255 * 2 + (range - 1)) / (2 * (range - 1));
}

static uint32_t over_white(uint32_t value, uint32_t alpha)
{
    return (uint32_t)lround((value * alpha + 255.0 * (255 - alpha)) / 255);
}

/* What the picture shows at a pixel in channel c of red, green, blue. */
static uint32_t shown(int colour_type, uint32_t x, uint32_t y, uint32_t c)
{
    uint32_t entry = noise(x, y, 0);
    switch (colour_type) {
    case PNG_COLOR_TYPE_GRAY:
        return sample(x, y, 0);
    case PNG_COLOR_TYPE_GRAY_ALPHA:
        return over_white(sample(x, y, 0), sample(x, y, 1));
    case PNG_COLOR_TYPE_RGB:
        return sample(x, y, c);
    case PNG_COLOR_TYPE_RGB_ALPHA:
        return over_white(sample(x, y, c), sample(x, y, 3));
    default:
        return over_white(c == 0 ? entry : c == 1 ? 2 * entry % 256 : 255 - entry, 255 - entry);
    }
}

static void check_png(int colour_type, int depth, bool interlaced)
{
    enum { W = 13, H = 11 };
    uint8_t pixels[W * H * 3];
    uint32_t wrong = 0;
    struct glcnn_data_info info;
    range = 1u << depth;
    data_write_png("kind.png", &(struct data_png){.width = W,
                                                  .height = H,
                                                  .colour_type = colour_type,
                                                  .depth = depth,
                                                  .interlaced = interlaced,
                                                  .value = noise});
    decode("kind.png", NULL, pixels, &info);
    CU_ASSERT_EQUAL(info.width, W);
    CU_ASSERT_EQUAL(info.height, H);
    CU_ASSERT_EQUAL_FATAL(info.channels, colour_type & PNG_COLOR_MASK_COLOR ? 3 : 1);
    for (uint32_t i = 0; i < W * H * info.channels; i++)
        wrong += pixels[i] != shown(colour_type, i / info.channels % W, i / info.channels / W,
                                    i % info.channels);
    CU_ASSERT_EQUAL(wrong, 0);
    if (wrong)
        printf("\n    colour type %d, depth %d: %u samples differ", colour_type, depth, wrong);
}

static void every_kind_of_png_has_the_right_pixels(void)
{
    static const struct {
        int colour_type, depth;
    } kinds[] = {{PNG_COLOR_TYPE_GRAY, 1},        {PNG_COLOR_TYPE_GRAY, 2},
                 {PNG_COLOR_TYPE_GRAY, 4},        {PNG_COLOR_TYPE_GRAY, 8},
                 {PNG_COLOR_TYPE_GRAY, 16},       {PNG_COLOR_TYPE_GRAY_ALPHA, 8},
                 {PNG_COLOR_TYPE_GRAY_ALPHA, 16}, {PNG_COLOR_TYPE_RGB, 8},
                 {PNG_COLOR_TYPE_RGB, 16},        {PNG_COLOR_TYPE_RGB_ALPHA, 8},
                 {PNG_COLOR_TYPE_RGB_ALPHA, 16},  {PNG_COLOR_TYPE_PALETTE, 1},
                 {PNG_COLOR_TYPE_PALETTE, 2},     {PNG_COLOR_TYPE_PALETTE, 4},
                 {PNG_COLOR_TYPE_PALETTE, 8}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        check_png(kinds[i].colour_type, kinds[i].depth, false);
        check_png(kinds[i].colour_type, kinds[i].depth, true);
    }
}

/* ---- JPEG ---- */

/* Slopes, which JPEG keeps within a few steps. */
static uint32_t slope(uint32_t x, uint32_t y, uint32_t c)
{
    return 40 + 3 * x + 2 * y * (c % 2) + 10 * c;
}

static uint32_t slope_inverted(uint32_t x, uint32_t y, uint32_t c)
{
    return 255 - slope(x, y, c);
}

static uint32_t shown_of_jpeg(const struct data_jpeg *jpeg, uint32_t x, uint32_t y, uint32_t c)
{
    if (jpeg->components < 4)
        return slope(x, y, c);
    return (255 - slope(x, y, c)) * (255 - slope(x, y, 3)) / 255;
}

static void every_kind_of_jpeg_has_the_right_pixels(void)
{
    static const struct data_jpeg kinds[] = {
        {.components = 1},
        {.components = 1, .progressive = true},
        {.components = 3},
        {.components = 3, .progressive = true},
        {.components = 4},
        {.components = 4, .inverted = true},
        {.components = 4, .inverted = true, .progressive = true},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        uint8_t pixels[21 * 19 * 3];
        int worst = 0;
        struct glcnn_data_info info;
        struct data_jpeg jpeg = kinds[i];
        jpeg.width = 21;
        jpeg.height = 19;
        jpeg.value = jpeg.inverted ? slope_inverted : slope;
        data_write_jpeg("kind.jpg", &jpeg);
        decode("kind.jpg", NULL, pixels, &info);
        CU_ASSERT_EQUAL(info.width * 100 + info.height, 2119);
        CU_ASSERT_EQUAL_FATAL(info.channels, jpeg.components == 1 ? 1 : 3);
        for (uint32_t k = 0; k < 21 * 19 * info.channels; k++) {
            uint32_t pixel = k / info.channels;
            int wanted = (int)shown_of_jpeg(&jpeg, pixel % 21, pixel / 21, k % info.channels);
            worst = abs(pixels[k] - wanted) > worst ? abs(pixels[k] - wanted) : worst;
        }
        CU_ASSERT_TRUE(worst <= 4);
        if (worst > 4)
            printf("\n    kind %zu: up to %d wrong", i, worst);
    }
}

/* 150, 50 and 250 of 255 with 100 of 255 of white are 58.8, 19.6 and 98.04, of which there are whole
 * steps; one colour is coded without a loss. */
static uint32_t one_ink(uint32_t x, uint32_t y, uint32_t c)
{
    static const uint8_t inks[] = {105, 205, 5, 155};
    (void)x, (void)y;
    return inks[c];
}

static void inks_are_rounded(void)
{
    static const uint8_t colours[] = {59, 20, 98};
    uint8_t pixels[8 * 8 * 3];
    struct glcnn_data_info info;
    data_write_jpeg(
        "ink.jpg", &(struct data_jpeg){.width = 8, .height = 8, .components = 4, .value = one_ink});
    decode("ink.jpg", NULL, pixels, &info);
    CU_ASSERT_EQUAL_FATAL(info.channels, 3);
    for (int i = 0; i < 8 * 8 * 3; i++)
        CU_ASSERT_EQUAL(pixels[i], colours[i % 3]);
}

/* As of three, over white, and the fourth is 255. */
static void four_channels_are_opaque(void)
{
    enum { W = 7, H = 5 };
    static const int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    range = 256;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        uint8_t three[W * H * 3], four[W * H * 4];
        struct glcnn_data_info info;
        data_write_png(
            "four.png",
            &(struct data_png){
                .width = W, .height = H, .colour_type = types[i], .depth = 8, .value = noise});
        decode("four.png", &(struct glcnn_data_parameters){.channels = 3}, three, &info);
        decode("four.png", &(struct glcnn_data_parameters){.channels = 4}, four, &info);
        CU_ASSERT_EQUAL(info.channels, 4);
        for (size_t k = 0; k < W * H * 4; k++) {
            const uint8_t wanted = k % 4 == 3 ? 255 : three[k / 4 * 3 + k % 4];
            CU_ASSERT_EQUAL(four[k], wanted);
        }
    }
}

/* ---- WebP ---- */

static void every_kind_of_webp_has_the_right_pixels(void)
{
    enum { W = 21, H = 19 };
    for (int kind = 0; kind < 4; kind++) {
        uint8_t pixels[W * H * 3];
        struct glcnn_data_info info;
        int worst = 0;
        bool lossy = kind / 2, alpha = kind % 2;
        range = 256;
        data_write_webp("kind.webp", &(struct data_webp){.width = W,
                                                         .height = H,
                                                         .has_alpha = alpha,
                                                         .is_lossy = lossy,
                                                         .value = lossy ? slope : noise});
        decode("kind.webp", NULL, pixels, &info);
        CU_ASSERT_EQUAL(info.width * 100 + info.height, 2119);
        CU_ASSERT_EQUAL_FATAL(info.channels, 3);
        for (uint32_t i = 0; i < W * H * 3; i++) {
            uint32_t x = i / 3 % W, y = i / 3 / W, c = i % 3;
            uint32_t (*value)(uint32_t, uint32_t, uint32_t) = lossy ? slope : noise;
            int wanted = (int)(alpha ? over_white(value(x, y, c), value(x, y, 3)) : value(x, y, c));
            worst = abs(pixels[i] - wanted) > worst ? abs(pixels[i] - wanted) : worst;
        }
        CU_ASSERT_TRUE(worst <= (lossy ? 8 : 0));
        if (worst > (lossy ? 8 : 0))
            printf("\n    kind %d: up to %d wrong", kind, worst);
    }
}

/* ---- TIFF ---- */

static const struct data_tiff_file tiffs[] = {
    {.photometric = PHOTOMETRIC_MINISBLACK, .samples = 1, .depth = 1},
    {.photometric = PHOTOMETRIC_MINISBLACK, .samples = 1, .depth = 8},
    {.photometric = PHOTOMETRIC_MINISBLACK, .samples = 1, .depth = 16},
    {.photometric = PHOTOMETRIC_MINISWHITE, .samples = 1, .depth = 8},
    {.photometric = PHOTOMETRIC_MINISBLACK,
     .samples = 2,
     .depth = 8,
     .extra = EXTRASAMPLE_UNASSALPHA},
    {.photometric = PHOTOMETRIC_PALETTE, .samples = 1, .depth = 8},
    {.photometric = PHOTOMETRIC_RGB, .samples = 3, .depth = 8},
    {.photometric = PHOTOMETRIC_RGB, .samples = 3, .depth = 16},
    {.photometric = PHOTOMETRIC_RGB, .samples = 3, .depth = 8, .is_separate = true},
    {.photometric = PHOTOMETRIC_RGB, .samples = 3, .depth = 8, .tile = 16},
    {.photometric = PHOTOMETRIC_RGB, .samples = 3, .depth = 8, .compression = COMPRESSION_LZW},
    {.photometric = PHOTOMETRIC_RGB,
     .samples = 3,
     .depth = 8,
     .compression = COMPRESSION_ADOBE_DEFLATE},
    {.photometric = PHOTOMETRIC_RGB, .samples = 3, .depth = 8, .mode = "wb"},
    {.photometric = PHOTOMETRIC_RGB, .samples = 3, .depth = 8, .mode = "wl8"},
    {.photometric = PHOTOMETRIC_RGB, .samples = 4, .depth = 8, .extra = EXTRASAMPLE_UNASSALPHA},
    {.photometric = PHOTOMETRIC_SEPARATED, .samples = 4, .depth = 8}};

/* What the picture shows in channel c of red, green, blue, as far as libtiff keeps it. */
static uint32_t shown_of_tiff(const struct data_tiff_file *t, uint32_t x, uint32_t y, uint32_t c)
{
    uint32_t entry = noise(x, y, 0), last = (uint32_t)t->samples - 1;
    if (t->photometric == PHOTOMETRIC_PALETTE)
        return c == 0 ? entry : c == 1 ? 2 * entry % 256 : 255 - entry;
    if (t->photometric == PHOTOMETRIC_SEPARATED)
        return (255 - noise(x, y, c)) * (255 - noise(x, y, 3)) / 255;
    uint32_t value = sample(x, y, t->photometric == PHOTOMETRIC_RGB ? c : 0);
    value = t->photometric == PHOTOMETRIC_MINISWHITE ? 255 - value : value;
    return t->extra ? over_white(value, sample(x, y, last)) : value;
}

static void every_kind_of_tiff_has_the_right_pixels(void)
{
    enum { W = 21, H = 19 };
    for (size_t k = 0; k < sizeof tiffs / sizeof *tiffs; k++) {
        uint8_t pixels[W * H * 3];
        struct glcnn_data_info info;
        struct data_tiff_file t = tiffs[k];
        int worst = 0, allowed = t.extra || t.depth == 16 ? 1 : 0;
        range = 1u << t.depth;
        t.width = W;
        t.height = H;
        t.value = noise;
        data_write_tiff("kind.tif", &t);
        decode("kind.tif", NULL, pixels, &info);
        bool grey = t.photometric <= PHOTOMETRIC_MINISBLACK;
        CU_ASSERT_EQUAL(info.width * 100 + info.height, 2119);
        CU_ASSERT_EQUAL_FATAL(info.channels, grey ? 1 : 3);
        for (uint32_t i = 0; i < W * H * info.channels; i++) {
            uint32_t at = i / info.channels;
            int wanted = (int)shown_of_tiff(&t, at % W, at / W, i % info.channels);
            worst = abs(pixels[i] - wanted) > worst ? abs(pixels[i] - wanted) : worst;
        }
        CU_ASSERT_TRUE(worst <= allowed);
        if (worst > allowed)
            printf("\n    kind %zu: up to %d wrong", k, worst);
    }
}

/* ---- Orientation ---- */

/* Four blocks of one grey each: 30 90 / 150 210 as it lies in the file. */
static uint32_t quarters(uint32_t x, uint32_t y, uint32_t c)
{
    (void)c;
    return 30 + 60 * (x / 16) + 120 * (y / 8);
}

static void check_turned(const char *name, uint32_t orientation)
{
    /* As they are seen: top left, top right, bottom left, bottom right. */
    static const uint8_t seen[9][4] = {{0},
                                       {30, 90, 150, 210},
                                       {90, 30, 210, 150},
                                       {210, 150, 90, 30},
                                       {150, 210, 30, 90},
                                       {30, 150, 90, 210},
                                       {150, 30, 210, 90},
                                       {210, 90, 150, 30},
                                       {90, 210, 30, 150}};
    uint8_t pixels[32 * 16];
    struct glcnn_data_info info;
    decode(name, &(struct glcnn_data_parameters){.channels = 1}, pixels, &info);
    bool turned = orientation > 4;
    CU_ASSERT_EQUAL_FATAL(info.width, turned ? 16u : 32u);
    CU_ASSERT_EQUAL_FATAL(info.height, turned ? 32u : 16u);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t x = i % 2 ? info.width - 3 : 2, y = i / 2 ? info.height - 3 : 2;
        int found = pixels[y * info.width + x];
        CU_ASSERT_TRUE(abs(found - seen[orientation][i]) <= 2);
        if (abs(found - seen[orientation][i]) > 2)
            printf("\n    %s, orientation %u: corner %u is %d", name, orientation, i, found);
    }
}

static void orientation_is_honoured(void)
{
    for (uint32_t orientation = 1; orientation <= 8; orientation++) {
        data_write_png("turned.png", &(struct data_png){.width = 32,
                                                        .height = 16,
                                                        .orientation = orientation,
                                                        .value = quarters});
        check_turned("turned.png", orientation);
        for (int big = 0; big < 2; big++) {
            data_write_jpeg("turned.jpg", &(struct data_jpeg){.width = 32,
                                                              .height = 16,
                                                              .components = 1,
                                                              .orientation = orientation,
                                                              .big_endian = big,
                                                              .value = quarters});
            check_turned("turned.jpg", orientation);
        }
    }
}

/* A float is none, and neither is what says 9. */
static void orientation_is_any_whole_number(void)
{
    static const struct {
        int type;
        bool apart;
        uint32_t orientation, seen;
    } rows[] = {{1, false, 6, 6}, {3, false, 6, 6}, {4, false, 6, 6}, {6, false, 6, 6},
                {8, false, 6, 6}, {9, false, 6, 6}, {1, true, 6, 6},  {3, true, 8, 8},
                {4, true, 5, 5},  {12, true, 6, 1}, {4, false, 9, 1}, {4, false, 0x10006, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int big = 0; big < 2; big++) {
            data_write_jpeg("number.jpg", &(struct data_jpeg){.width = 32,
                                                              .height = 16,
                                                              .components = 1,
                                                              .orientation = rows[i].orientation,
                                                              .big_endian = big,
                                                              .type = rows[i].type,
                                                              .apart = rows[i].apart,
                                                              .value = quarters});
            check_turned("number.jpg", rows[i].seen);
        }
}

static void orientation_of_webp_and_tiff(void)
{
    for (uint32_t orientation = 1; orientation <= 8; orientation++) {
        for (int mark = 0; mark < 2; mark++) {
            data_write_webp("turned.webp", &(struct data_webp){.width = 32,
                                                               .height = 16,
                                                               .orientation = orientation,
                                                               .has_mark = mark,
                                                               .value = quarters});
            check_turned("turned.webp", orientation);
        }
        for (uint32_t tile = 0; tile <= 16; tile += 16) {
            data_write_tiff("turned.tif",
                            &(struct data_tiff_file){.width = 32,
                                                     .height = 16,
                                                     .photometric = PHOTOMETRIC_MINISBLACK,
                                                     .samples = 1,
                                                     .depth = 8,
                                                     .tile = tile,
                                                     .orientation = orientation,
                                                     .value = quarters});
            check_turned("turned.tif", orientation);
        }
    }
}

static void write_upright(const char *name)
{
    data_write_png(name, &(struct data_png){.width = 32, .height = 16, .value = quarters});
}

static void orientation_stands_behind_the_pixels_too(void)
{
    uint8_t tiff[DATA_TIFF];
    for (int last = 0; last < 2; last++) {
        write_upright("late.png");
        data_add_chunk("late.png", "eXIf", tiff, data_tiff(tiff, 6, false, 4, false), last);
        check_turned("late.png", 6);
    }
    write_upright("damaged.png"); /* a wrong sum */
    data_add_chunk("damaged.png", "eXIf", tiff, data_tiff(tiff, 6, false, 3, false), false);
    uint8_t bytes[4096];
    size_t size = data_read("damaged.png", bytes, sizeof bytes);
    bytes[33 + 8 + DATA_TIFF] ^= 1;
    data_write("damaged.png", bytes, size);
    check_turned("damaged.png", 1);
}

/* "Raw profile type exif" as ImageMagick writes it: a length and lines of 36 bytes. */
static size_t make_profile(char *text, const char *head, size_t head_size, uint32_t orientation,
                           bool has_mark)
{
    uint8_t exif[6 + DATA_TIFF] = "Exif\0", *from = has_mark ? exif : exif + 6;
    size_t size = data_tiff(exif + 6, orientation, true, 3, false) + (has_mark ? 6 : 0);
    char *to = text + head_size;
    memcpy(text, head, head_size);
    to += sprintf(to, "\nexif\n%8zu", size);
    for (size_t i = 0; i < size; i++)
        to += sprintf(to, i % 36 ? "%02x" : "\n%02x", from[i]);
    return (size_t)(to + sprintf(to, "\n") - text);
}

/* What stands before the text of a chunk. */
#define HEAD(text) text, sizeof text - 1
static const struct text {
    const char *type, *head;
    size_t head_size;
    bool is_packed;
} texts[] = {{"tEXt", HEAD("Raw profile type exif\0"), false},
             {"tEXt", HEAD("Raw profile type APP1\0"), false},
             {"zTXt", HEAD("Raw profile type exif\0\0"), true},
             {"zTXt", HEAD("Raw profile type APP1\0\0"), true},
             {"iTXt", HEAD("Raw profile type exif\0\0\0en\0Rohprofil\0"), false},
             {"iTXt", HEAD("Raw profile type APP1\0\1\0\0\0"), true}};

static size_t pack(uint8_t *to, size_t room, const char *text, size_t head, size_t size)
{
    uLongf packed = (uLongf)(room - head);
    memcpy(to, text, head);
    CU_ASSERT_EQUAL(compress(to + head, &packed, (const Bytef *)text + head, (uLong)(size - head)),
                    Z_OK);
    return head + packed;
}

static void orientation_is_found_in_texts(void)
{
    char text[512];
    uint8_t packed[512], tiff[DATA_TIFF];
    for (size_t i = 0; i < 4 * (sizeof texts / sizeof *texts); i++) {
        const struct text *t = &texts[i / 4];
        size_t size = make_profile(text, t->head, t->head_size, 8, i % 2);
        write_upright("text.png");
        if (t->is_packed)
            size = pack(packed, sizeof packed, text, t->head_size, size);
        data_add_chunk("text.png", t->type, t->is_packed ? (char *)packed : text, size, i % 4 / 2);
        check_turned("text.png", 8);
    }
    /* eXIf stands before it */
    data_add_chunk("text.png", "eXIf", tiff, data_tiff(tiff, 3, false, 3, false), true);
    check_turned("text.png", 3);
    /* and other texts say nothing */
    write_upright("text.png");
    data_add_chunk("text.png", "tEXt", text,
                   make_profile(text, HEAD("Raw profile type icc\0"), 8, true), false);
    check_turned("text.png", 1);
}

/* ---- Sizes ---- */

/* The mean of the picture over an area, or between the middles of its pixels. */
static double at_area(double x0, double x1, double y0, double y1)
{
    double sum = 0;
    for (uint32_t y = (uint32_t)y0; y < y1; y++)
        for (uint32_t x = (uint32_t)x0; x < x1; x++)
            sum +=
                (fmin(x + 1, x1) - fmax(x, x0)) * (fmin(y + 1, y1) - fmax(y, y0)) * noise(x, y, 0);
    return sum / ((x1 - x0) * (y1 - y0));
}

static double clamped(double x, uint32_t count)
{
    return x < 0 ? 0 : x > count - 1 ? count - 1 : x;
}

static double at_point(double x, double y, uint32_t width, uint32_t height)
{
    x = clamped(x - 0.5, width);
    y = clamped(y - 0.5, height);
    uint32_t left = (uint32_t)x, top = (uint32_t)y;
    uint32_t right = left + 1 < width ? left + 1 : left;
    uint32_t bottom = top + 1 < height ? top + 1 : top;
    double a = x - left, b = y - top;
    return (1 - b) * ((1 - a) * noise(left, top, 0) + a * noise(right, top, 0)) +
           b * ((1 - a) * noise(left, bottom, 0) + a * noise(right, bottom, 0));
}

static void check_scaled(uint32_t w, uint32_t h, uint32_t W, uint32_t H)
{
    uint8_t pixels[64 * 64];
    double worst = 0, step = fmin((double)w / W, (double)h / H);
    double left = (w - step * W) / 2, top = (h - step * H) / 2;
    struct glcnn_data_info info;
    range = 256;
    if (step == 1) {
        left = floor(left);
        top = floor(top);
    }
    data_write_png("scaled.png", &(struct data_png){.width = w, .height = h, .value = noise});
    decode("scaled.png", &(struct glcnn_data_parameters){.width = W, .height = H}, pixels, &info);
    for (uint32_t y = 0; y < H; y++)
        for (uint32_t x = 0; x < W; x++) {
            double x0 = left + step * x, y0 = top + step * y;
            double wanted = step >= 1 ? at_area(x0, x0 + step, y0, y0 + step)
                                      : at_point(x0 + step / 2, y0 + step / 2, w, h);
            worst = fmax(worst, fabs(pixels[y * W + x] - wanted));
        }
    CU_ASSERT_TRUE(worst < 0.51);
    if (!(worst < 0.51))
        printf("\n    %u x %u to %u x %u: %g", w, h, W, H, worst);
}

static void pictures_are_scaled_and_cut_to_their_middle(void)
{
    static const uint32_t sizes[][4] = {
        {8, 8, 4, 4},    {9, 9, 9, 9},       {9, 6, 3, 3},    {6, 9, 3, 3}, {37, 23, 10, 7},
        {37, 23, 7, 10}, {5, 5, 15, 15},     {3, 2, 20, 31},  {1, 1, 8, 8}, {64, 1, 4, 4},
        {13, 8, 8, 8},   {200, 150, 64, 48}, {40, 41, 40, 4}, {7, 7, 6, 6}, {2, 50, 1, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_scaled(sizes[i][0], sizes[i][1], sizes[i][2], sizes[i][3]);
}

/* libjpeg reduces by 8 and what is left is averaged: the same slope to within a few steps. */
static uint32_t long_slope(uint32_t x, uint32_t y, uint32_t c)
{
    (void)c;
    return x / 4 + y / 8;
}

static void large_jpegs_are_reduced(void)
{
    uint8_t pixels[20 * 15];
    int worst = 0;
    struct glcnn_data_info info;
    data_write_jpeg(
        "large.jpg",
        &(struct data_jpeg){.width = 640, .height = 480, .components = 1, .value = long_slope});
    decode("large.jpg", &(struct glcnn_data_parameters){.width = 20, .height = 15}, pixels, &info);
    for (int y = 0; y < 15; y++)
        for (int x = 0; x < 20; x++) {
            int wanted = (32 * x + 16) / 4 + (32 * y + 16) / 8;
            int wrong = abs(pixels[y * 20 + x] - wanted);
            worst = wrong > worst ? wrong : worst;
        }
    CU_ASSERT_TRUE(worst <= 2);
}

static uint32_t steep(uint32_t x, uint32_t y, uint32_t c)
{
    (void)y, (void)c;
    return x * 170;
}

/* Ten times as large column 5 has 0.05 of the second pixel and column 14 has 0.95: 8.5 and 161.5. */
static void halves_are_rounded_up(void)
{
    uint8_t pixels[20 * 10];
    struct glcnn_data_info info;
    data_write_png("steep.png", &(struct data_png){.width = 2, .height = 1, .value = steep});
    decode("steep.png", &(struct glcnn_data_parameters){.width = 20, .height = 10}, pixels, &info);
    for (int y = 0; y < 10; y++) {
        CU_ASSERT_EQUAL(pixels[20 * y + 4], 0);
        CU_ASSERT_EQUAL(pixels[20 * y + 5], 9);
        CU_ASSERT_EQUAL(pixels[20 * y + 14], 162);
        CU_ASSERT_EQUAL(pixels[20 * y + 15], 170);
    }
}

static void channels_are_as_asked_for(void)
{
    uint8_t pixels[25 * 3];
    struct glcnn_data_info info;
    range = 256;
    data_write_png("colour.png",
                   &(struct data_png){
                       .width = 5, .height = 5, .colour_type = PNG_COLOR_TYPE_RGB, .value = noise});
    decode("colour.png", &(struct glcnn_data_parameters){.channels = 1}, pixels, &info);
    CU_ASSERT_EQUAL(info.channels, 1);
    for (uint32_t i = 0; i < 25; i++) {
        uint32_t x = i % 5, y = i / 5;
        double grey = 0.299 * noise(x, y, 0) + 0.587 * noise(x, y, 1) + 0.114 * noise(x, y, 2);
        CU_ASSERT_TRUE(fabs(pixels[i] - grey) <= 0.501);
    }
    data_write_png("grey.png", &(struct data_png){.width = 5, .height = 5, .value = noise});
    decode("grey.png", &(struct glcnn_data_parameters){.channels = 3}, pixels, &info);
    for (uint32_t i = 0; i < 75; i++)
        CU_ASSERT_EQUAL(pixels[i], noise(i / 3 % 5, i / 15, 0));
}

/* ---- Damage ---- */

static void write_whole(const char *name)
{
    range = 256;
    data_write_png(name, &(struct data_png){.width = 9, .height = 9, .value = noise});
}

/* A folder of two classes with two good pictures each, and one that is named so. */
static void make_folder(const char *folder, const char *bad, const void *bytes, size_t size)
{
    static const char *const good[] = {"a/1.png", "a/2.png", "b/1.png", "b/2.png"};
    char name[128];
    for (size_t i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s/%s", folder, good[i]);
        write_whole(name);
    }
    snprintf(name, sizeof name, "%s/a/%s", folder, bad);
    data_write(name, bytes, size);
}

/* Broken where it is opened, or, where `phrase` is found only then, where it is decoded. */
static void check_broken(const char *bad, const void *bytes, size_t size, bool late,
                         const char *phrase)
{
    static int number;
    char folder[32], error[GLCNN_ERROR_LENGTH] = "";
    struct glcnn_data_batch batch;
    snprintf(folder, sizeof folder, "broken%d", number++);
    make_folder(folder, bad, bytes, size);
    glcnn_dataset *data = data_open(folder, NULL);
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->counts[0], late ? 5 : 4);
    CU_ASSERT_EQUAL(glcnn_dataset_skipped(data), late ? 0 : 1);
    glcnn_data_loader *loader = data_load(data, NULL);
    batch = data_next(loader);
    CU_ASSERT_EQUAL(batch.filled, 4);
    CU_ASSERT_EQUAL(glcnn_dataset_skipped(data), 1);
    const char *note = glcnn_dataset_note(data, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(note);
    CU_ASSERT_PTR_NULL(glcnn_dataset_note(data, 1));
    CU_ASSERT_PTR_NOT_NULL(strstr(note, bad));
    CU_ASSERT_PTR_NOT_NULL(strstr(note, phrase));
    if (!strstr(note, phrase))
        printf("\n    expected \"%s\", got \"%s\"", phrase, note);
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
    const struct glcnn_data_parameters strict = {.strict = true};
    if (!late) {
        data_refuses(folder, &strict, GLCNN_MALFORMED_DATA, phrase);
        return;
    }
    data = data_open(folder, &strict);
    loader = data_load(data, NULL);
    CU_ASSERT_EQUAL(glcnn_data_loader_next(loader, &batch, error), GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, phrase));
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
}

static void put_big_endian(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* The head of a PNG that announces a size, with the right sum. */
static void announce(uint8_t *png, uint32_t width, uint32_t height)
{
    uint32_t sum = 0xffffffff;
    put_big_endian(png + 16, width);
    put_big_endian(png + 20, height);
    for (uint8_t *at = png + 12; at < png + 29; at++) {
        sum ^= *at;
        for (int k = 0; k < 8; k++)
            sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
    }
    put_big_endian(png + 29, ~sum);
}

static void broken_pngs_are_named_and_skipped(void)
{
    uint8_t png[4096], changed[4096];
    write_whole("whole.png");
    size_t size = data_read("whole.png", png, sizeof png);
    check_broken("empty.png", "", 0, false, "is empty");
    check_broken("text.PNG", "not a picture", 13, false, "is not a picture");
    check_broken("head.png", png, 20, false, "is truncated");
    check_broken("short.png", png, size - 30, true, "truncated");
    check_broken("end.png", png, size - 12, true, "truncated");
    memcpy(changed, png, size);
    changed[size - 30] ^= 0x40;
    check_broken("changed.png", changed, size, true, "is a damaged PNG");
    announce(png, 100000, 100000);
    check_broken("huge.png", png, size, false, "announces 100000 x 100000 pixels");
    announce(png, 0, 5);
    check_broken("none.png", png, size, false, "is a damaged PNG");
    announce(png, 0x7fffffff, 0x7fffffff);
    check_broken("bomb.png", png, size, false, "announces 2147483647 x 2147483647 pixels");
}

/* A chunk that promises 2 GiB, where 1 GiB may be used. */
static void pngs_take_no_memory_for_a_promise(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return; /* their shadows are larger than any limit */
#endif
    uint8_t png[4096];
    char error[GLCNN_ERROR_LENGTH] = "";
    struct rlimit before, limit;
    glcnn_dataset *data;
    const char *path = data_path("promise.png");
    write_whole("promise.png");
    size_t size = data_read("promise.png", png, sizeof png);
    put_big_endian(png + 33, 0x7fffff00); /* behind the signature and IHDR */
    memcpy(png + 37, "eXIf", 4);
    data_write("promise.png", png, size);
    CU_ASSERT_EQUAL(getrlimit(RLIMIT_AS, &before), 0);
    limit = before;
    limit.rlim_cur = 1 << 30;
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_AS, &limit), 0);
    glcnn_status status = glcnn_dataset_open_files(&path, 1, NULL, &data, error);
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_AS, &before), 0);
    CU_ASSERT_EQUAL(status, GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "is truncated"));
}

static void broken_jpegs_are_named_and_skipped(void)
{
    uint8_t jpeg[8192], changed[8192];
    data_write_jpeg("whole.jpg", &(struct data_jpeg){
                                     .width = 40, .height = 40, .components = 3, .value = slope});
    size_t size = data_read("whole.jpg", jpeg, sizeof jpeg);
    check_broken("text.jpeg", "not a picture", 13, false, "is not a picture");
    check_broken("head.jpg", jpeg, 8, false, "is a damaged JPEG");
    check_broken("short.jpg", jpeg, size - 100, true, "is a damaged JPEG");
    memcpy(changed, jpeg, size);
    memset(changed + size - 200, 0xff, 100);
    check_broken("changed.jpg", changed, size, true, "is a damaged JPEG");
    for (size_t i = 0; i + 9 < size; i++)
        if (jpeg[i] == 0xff && jpeg[i + 1] == 0xc0) {
            memset(jpeg + i + 5, 0xff, 4); /* height and width */
            jpeg[i + 5] = jpeg[i + 7] = 0xfd;
            break;
        }
    check_broken("huge.jpg", jpeg, size, false, "announces 65023 x 65023 pixels");
}

static void broken_webps_are_named_and_skipped(void)
{
    uint8_t bytes[8192];
    const struct data_webp webp = {.width = 20, .height = 20, .orientation = 1, .value = noise};
    struct data_webp animated = webp;
    range = 256;
    animated.is_animated = true;
    data_write_webp("animated.webp", &animated);
    size_t size = data_read("animated.webp", bytes, sizeof bytes);
    check_broken("animated.webp", bytes, size, false, "is an animated WebP; expected a single");
    data_write_webp("whole.webp", &webp);
    size = data_read("whole.webp", bytes, sizeof bytes);
    check_broken("text.webp", "not a picture", 13, false, "is not a picture");
    check_broken("head.webp", bytes, 18, false, "is a damaged WebP: its head cannot be read");
    check_broken("short.webp", bytes, size / 2, true, "is a damaged WebP: it is truncated");
    memset(bytes + 60, 0xa5, 100);
    check_broken("changed.webp", bytes, size, true, "is a damaged WebP");
    memset(bytes + 24, 0xff, 6); /* width and height */
    check_broken("huge.webp", bytes, size, false, "announces 16777216 x 16777216 pixels");
}

/* The place behind a tag's number where its value stands, and its type; little-endian. */
static uint8_t *find_tag(uint8_t *tiff, size_t size, uint8_t low, uint8_t high)
{
    for (size_t i = 8; i + 12 < size; i++)
        if (tiff[i] == low && tiff[i + 1] == high && tiff[i + 3] == 0 && tiff[i + 4] == 1)
            return tiff + i + 2;
    CU_FAIL_FATAL("there is no such tag");
    return NULL;
}

static size_t write_tiff(const char *name, struct data_tiff_file *tiff, uint8_t *bytes, size_t size)
{
    tiff->width = 20;
    tiff->height = 4;
    tiff->mode = "wl";
    tiff->value = noise;
    data_write_tiff(name, tiff);
    return data_read(name, bytes, size);
}

static void broken_tiffs_are_named_and_skipped(void)
{
    uint8_t bytes[8192];
    struct data_tiff_file t = {.photometric = PHOTOMETRIC_RGB, .samples = 3, .depth = 8},
                          floats = {.photometric = PHOTOMETRIC_MINISBLACK,
                                    .samples = 1,
                                    .depth = 32,
                                    .is_float = true};
    range = 256;
    size_t size = write_tiff("floats.tif", &floats, bytes, sizeof bytes);
    check_broken("floats.tif", bytes, size, false, "is a TIFF of an unsupported kind: Sorry");
    size = write_tiff("whole.tif", &t, bytes, sizeof bytes);
    check_broken("text.tif", "not a picture", 13, false, "is not a picture");
    check_broken("head.tif", bytes, 6, false, "is a damaged TIFF");
    check_broken("short.tif", bytes, size - 20, false, "is a damaged TIFF");
    uint8_t *offset = find_tag(bytes, size, 0x11, 1); /* of the strip */
    memset(offset + 6, 0x7f, 4);
    check_broken("changed.tif", bytes, size, true, "is a damaged TIFF");
    uint8_t *width = find_tag(bytes, size, 0x00, 1);
    width[0] = 4;
    memset(width + 6, 0x7f, 4);
    check_broken("huge.tif", bytes, size, false, "announces 2139062143 x 4 pixels");
}

/* A strip that promises 2 GiB, where 1 GiB may be used. */
static void tiffs_take_no_memory_for_a_promise(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return; /* their shadows are larger than any limit */
#endif
    uint8_t bytes[8192];
    struct rlimit before, limit;
    struct data_tiff_file t = {
        .photometric = PHOTOMETRIC_RGB, .samples = 3, .depth = 8, .compression = COMPRESSION_LZW};
    range = 256;
    size_t size = write_tiff("promise.tif", &t, bytes, sizeof bytes);
    uint8_t *count = find_tag(bytes, size, 0x17, 1); /* bytes of the strip */
    count[0] = 4;
    memset(count + 6, 0x7f, 4);
    CU_ASSERT_EQUAL(getrlimit(RLIMIT_AS, &before), 0);
    limit = before;
    limit.rlim_cur = 1 << 30;
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_AS, &limit), 0);
    check_broken("promise.tif", bytes, size, true, "is a damaged TIFF");
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_AS, &before), 0);
}

/* Every prefix of a file, and every file with one byte changed: a picture or a message. */
static void any_damage_is_survived(void)
{
    uint8_t bytes[4096];
    static const char *const names[] = {"whole.png", "progressive.jpg", "lossy.webp", "whole.tif",
                                        "text.png"};
    struct data_tiff_file tiff = {.photometric = PHOTOMETRIC_RGB,
                                  .samples = 3,
                                  .depth = 8,
                                  .compression = COMPRESSION_LZW,
                                  .orientation = 6};
    char text[512];
    write_whole("whole.png");
    write_whole("text.png");
    data_add_chunk("text.png", "tEXt", text,
                   make_profile(text, HEAD("Raw profile type exif\0"), 8, true), true);
    write_tiff("whole.tif", &tiff, bytes, sizeof bytes);
    data_write_webp("lossy.webp", &(struct data_webp){.width = 10,
                                                      .height = 10,
                                                      .has_alpha = true,
                                                      .is_lossy = true,
                                                      .orientation = 6,
                                                      .value = slope});
    data_write_jpeg("progressive.jpg", &(struct data_jpeg){.width = 10,
                                                           .height = 10,
                                                           .components = 1,
                                                           .progressive = true,
                                                           .orientation = 6,
                                                           .value = slope});
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t size = data_read(names[i], bytes, sizeof bytes);
        for (size_t at = 0; at < 2 * size; at++) {
            char error[GLCNN_ERROR_LENGTH] = "";
            struct glcnn_data_batch batch;
            glcnn_dataset *data;
            const char *path = data_path(names[i]);
            bytes[at % size] ^= at < size ? 0 : 0x55;
            data_write(names[i], bytes, at < size ? at : size);
            bytes[at % size] ^= at < size ? 0 : 0x55;
            if (glcnn_dataset_open_files(&path, 1, NULL, &data, error) != GLCNN_SUCCESS) {
                CU_ASSERT_TRUE(strlen(error) > 20);
                continue;
            }
            glcnn_data_loader *loader =
                data_load(data, &(struct glcnn_data_loader_parameters){
                                    .part = GLCNN_DATA_PART_TEST, .batch = 1, .threads = 1});
            batch = data_next(loader);
            CU_ASSERT_EQUAL(batch.filled, glcnn_dataset_skipped(data) == 0);
            glcnn_data_loader_destroy(&loader);
            glcnn_dataset_destroy(&data);
        }
        data_write(names[i], bytes, size);
    }
}

/* Pictures of formats that are not read are told of class by class, and predict names each. */
static void pictures_that_are_not_read_are_counted_and_named(void)
{
    static const char heic[] = "\0\0\0\x18"
                               "ftypheic\0\0\0\0";
    char error[GLCNN_ERROR_LENGTH] = "";
    make_folder("unread", "1.gif", "GIF89a", 6);
    data_write("unread/a/0.HEIC", heic, sizeof heic);
    data_write("unread/a/phone.jpg", heic, sizeof heic); /* as some phones name it */
    data_write_text("unread/a/x.bmp", "BM");
    data_write("unread/b/raw.nef", "II*\0", 4);
    glcnn_dataset *data = data_open("unread", NULL);
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->counts[0], 4);
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->ignored, 0);
    CU_ASSERT_EQUAL(glcnn_dataset_skipped(data), 5);
    const char *notes[] = {glcnn_dataset_note(data, 0), glcnn_dataset_note(data, 1)};
    CU_ASSERT_FATAL(notes[0] && notes[1] && !glcnn_dataset_note(data, 2));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(notes[0], "unread/a: 4 pictures in unsupported formats (2 HEIC, 1 GIF, 1 BMP), "
                         "of which 0.HEIC is the first; expected PNG, JPEG, WebP or TIFF"));
    CU_ASSERT_PTR_NOT_NULL(strstr(notes[1],
                                  "unread/b: 1 picture in unsupported formats (1 camera raw), of "
                                  "which raw.nef is the first"));
    glcnn_dataset_destroy(&data);
    data_refuses(
        "unread", &(struct glcnn_data_parameters){.strict = true}, GLCNN_MALFORMED_DATA,
        "unread/a/0.HEIC: is a picture in HEIC format, which is not supported; expected PNG, JPEG");
    const char *path = data_path("unread/a/1.gif");
    CU_ASSERT_EQUAL(glcnn_dataset_open_files(&path, 1, NULL, &data, error), GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(error, "1.gif: is a picture in GIF format, which is not supported; expected PNG"));
    data_write("lost/a/1.gif", "GIF89a", 6);
    data_write("lost/b/1.gif", "GIF89a", 6);
    data_refuses("lost", NULL, GLCNN_MALFORMED_DATA,
                 "(2 pictures were skipped, 0 other files ignored); expected a folder");
}

static void other_files_are_ignored_and_counted(void)
{
    make_folder("mixed", ".hidden.png", "x", 1);
    data_write_text("mixed/a/readme.txt", "text");
    data_write_text("mixed/a/deeper/1.png", "text");
    data_write_text("mixed/notes.txt", "text");
    write_whole("mixed/b/without-an-ending");
    glcnn_dataset *data = data_open("mixed", NULL);
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->ignored, 4);
    CU_ASSERT_EQUAL(glcnn_dataset_info(data)->counts[0], 5);
    CU_ASSERT_EQUAL(glcnn_dataset_skipped(data), 0);
    const char *said = glcnn_dataset_decision(data, 0);
    CU_ASSERT_TRUE(
        said &&
        strstr(
            said,
            "mixed: 3 files and folders that are not pictures are ignored: a/deeper is the first"));
    CU_ASSERT_PTR_NULL(glcnn_dataset_decision(data, 1));
    char name[64];
    glcnn_dataset_name(data, GLCNN_DATA_PART_TRAINING, 4, name, sizeof name);
    CU_ASSERT_STRING_EQUAL(name, "b/without-an-ending");
    CU_ASSERT_EQUAL(glcnn_dataset_label(data, GLCNN_DATA_PART_TRAINING, 4), 1);
    glcnn_dataset_name(data, GLCNN_DATA_PART_TRAINING, 5, name, sizeof name);
    CU_ASSERT_STRING_EQUAL(name, "");
    CU_ASSERT_EQUAL(glcnn_dataset_label(data, GLCNN_DATA_PART_TRAINING, 5), GLCNN_DATA_NO_LABEL);
    glcnn_dataset_destroy(&data);
}

/* What is asked for files without labels: each keeps its place, a broken one too. */
static void files_keep_their_places(void)
{
    write_whole("first.png");
    write_whole("third.png");
    data_write_text("second.png", "not a picture");
    const char *paths[] = {data_path("first.png"), data_path("second.png"), data_path("third.png"),
                           data_path("gone.png")};
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_dataset *data;
    CU_ASSERT_EQUAL_FATAL(glcnn_dataset_open_files(paths, 4, NULL, &data, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_dataset_skipped(data), 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_dataset_note(data, 0), "second.png: is not a picture"));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_dataset_note(data, 1), "gone.png: cannot be opened"));
    glcnn_data_loader *loader = data_load(
        data, &(struct glcnn_data_loader_parameters){.part = GLCNN_DATA_PART_TEST, .batch = 3});
    CU_ASSERT_EQUAL(glcnn_data_loader_steps(loader), 2);
    struct glcnn_data_batch batch = data_next(loader);
    CU_ASSERT_EQUAL(batch.filled, 2);
    CU_ASSERT_EQUAL(batch.indices[0], 0);
    CU_ASSERT_EQUAL(batch.indices[1], UINT32_MAX);
    CU_ASSERT_EQUAL(batch.indices[2], 2);
    for (int i = 0; i < 81; i++)
        CU_ASSERT_EQUAL(batch.floats[81 + i], 0);
    batch = data_next(loader);
    CU_ASSERT_EQUAL(batch.filled, 0);
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
    /* every message has a file's name, however many files there are */
    const struct glcnn_data_parameters five = {.channels = 5};
    for (uint32_t count = 1; count < 4; count += 2) {
        CU_ASSERT_EQUAL(glcnn_dataset_open_files(paths, count, &five, &data, error),
                        GLCNN_UNSUPPORTED);
        CU_ASSERT_PTR_NOT_NULL(
            strstr(error, "first.png: pictures have 1, 3 or 4 channels, and 5 are"));
    }
    CU_ASSERT_EQUAL(glcnn_dataset_open_files(paths + 1, 1, NULL, &data, error),
                    GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "second.png: is not a picture"));
}

/* Of a folder every file counts by its bytes: pictures whatever they are called, others with a word. */
static void folders_are_judged_by_bytes(void)
{
    char error[GLCNN_ERROR_LENGTH] = "", target[1024];
    write_whole("holiday/b.jpe");
    write_whole("holiday/c");
    write_whole("holiday/below/d.png");
    write_whole("holiday/.hidden.png");
    write_whole("holiday/.git/e.png");
    data_write_text("holiday/notes.txt", "text");
    data_write("holiday/x.avif",
               "\0\0\0\x1c"
               "ftypavif\0\0\0\0",
               16);
    data_write("holiday/below/y.jxl", "\0\0\0\x0cJXL \r\n\x87\n", 12);
    data_write("holiday/z.jp2", "\0\0\0\x0cjP  \r\n\x87\n", 12);
    data_write_text("holiday/g.gif", "GIF89a");
    snprintf(target, sizeof target, "%s", data_path("holiday"));
    (void)!symlink("nowhere.png", data_path("holiday/a.png"));
    (void)!symlink(target, data_path("holiday/below/round"));
    const char *paths[] = {target};
    glcnn_dataset *data;
    glcnn_status status = glcnn_dataset_open_files(paths, 1, NULL, &data, error);
    CU_ASSERT_EQUAL_FATAL(status, GLCNN_SUCCESS);
    CU_ASSERT_STRING_EQUAL(glcnn_dataset_info(data)->format, "pictures");
    CU_ASSERT_EQUAL_FATAL(glcnn_dataset_info(data)->counts[GLCNN_DATA_PART_TEST], 3);
    static const char *const names[] = {"holiday/b.jpe", "holiday/below/d.png", "holiday/c"};
    for (uint32_t i = 0; i < 3; i++) {
        char name[1024];
        glcnn_dataset_name(data, GLCNN_DATA_PART_TEST, i, name, sizeof name);
        CU_ASSERT_PTR_NOT_NULL(strstr(name, names[i]));
    }
    static const char *const notes[] = {
        "holiday/a.png: cannot be opened", "below: 1 picture in unsupported formats (1 JPEG XL)",
        ("holiday: 3 pictures in unsupported formats (1 GIF, 1 AVIF, 1 JPEG 2000), of which "
         "g.gif is the first")};
    for (uint32_t i = 0; i < 3; i++)
        CU_ASSERT_TRUE(glcnn_dataset_note(data, i) &&
                       strstr(glcnn_dataset_note(data, i), notes[i]));
    CU_ASSERT_EQUAL(glcnn_dataset_skipped(data), 5);
    const char *said = glcnn_dataset_decision(data, 0);
    CU_ASSERT_TRUE(said && strstr(said, "2 files and folders that are not pictures are ignored") &&
                   strstr(said, "below/round is the first"));
    glcnn_dataset_destroy(&data);
}

static void a_folder_without_a_picture_is_refused(void)
{
    char error[GLCNN_ERROR_LENGTH] = "", target[1024];
    const char *paths[] = {target};
    glcnn_dataset *data;
    data_write_text("raw/y.jxl", "\xff\x0a");
    snprintf(target, sizeof target, "%s", data_path("raw"));
    CU_ASSERT_EQUAL(glcnn_dataset_open_files(paths, 1, NULL, &data, error), GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(
        error, "raw: the folder and those below it have no picture in a supported format; "));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "(1 JPEG XL), of which y.jxl is the first"));
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(every_kind_of_png_has_the_right_pixels),
                                        UNIT_TEST(every_kind_of_jpeg_has_the_right_pixels),
                                        UNIT_TEST(inks_are_rounded),
                                        UNIT_TEST(four_channels_are_opaque),
                                        UNIT_TEST(every_kind_of_webp_has_the_right_pixels),
                                        UNIT_TEST(every_kind_of_tiff_has_the_right_pixels),
                                        UNIT_TEST(orientation_is_honoured),
                                        UNIT_TEST(orientation_of_webp_and_tiff),
                                        UNIT_TEST(orientation_is_any_whole_number),
                                        UNIT_TEST(orientation_stands_behind_the_pixels_too),
                                        UNIT_TEST(orientation_is_found_in_texts),
                                        UNIT_TEST(pictures_are_scaled_and_cut_to_their_middle),
                                        UNIT_TEST(large_jpegs_are_reduced),
                                        UNIT_TEST(halves_are_rounded_up),
                                        UNIT_TEST(channels_are_as_asked_for),
                                        UNIT_TEST(broken_pngs_are_named_and_skipped),
                                        UNIT_TEST(pngs_take_no_memory_for_a_promise),
                                        UNIT_TEST(broken_jpegs_are_named_and_skipped),
                                        UNIT_TEST(broken_webps_are_named_and_skipped),
                                        UNIT_TEST(broken_tiffs_are_named_and_skipped),
                                        UNIT_TEST(tiffs_take_no_memory_for_a_promise),
                                        UNIT_TEST(any_damage_is_survived),
                                        UNIT_TEST(pictures_that_are_not_read_are_counted_and_named),
                                        UNIT_TEST(other_files_are_ignored_and_counted),
                                        UNIT_TEST(files_keep_their_places),
                                        UNIT_TEST(folders_are_judged_by_bytes),
                                        UNIT_TEST(a_folder_without_a_picture_is_refused),
                                        CU_TEST_INFO_NULL};
    int status = unit_run("data_pictures", tests, argc, argv);
    data_remove_folder();
    return status;
}
