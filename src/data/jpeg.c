/* JPEG by libjpeg-turbo, row by row. A picture that is much larger than what is asked for is
 * reduced by 2, 4 or 8 while it is decoded. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

#include "base/fail.h"
#include "picture.h"
#include "scale.h"

#define MAX_SCANS 200 /* a progressive picture has about 10; each costs the time of a whole one */

struct jpeg {
    struct jpeg_decompress_struct read; /* the first: libjpeg's functions get its address */
    struct jpeg_error_mgr messages;
    struct jpeg_progress_mgr progress;
    jmp_buf back;
    FILE *file;
    char *error;
    glcnn_status status;
    struct scaler scaler;
    uint8_t *row, *converted;
};

/* The status and message are kept where a failure has them already. */
static void leave(struct jpeg *jpeg, glcnn_status status, const char *message)
{
    if (jpeg->status == GLCNN_SUCCESS) {
        jpeg->status = status;
        fail_with(jpeg->error, status, "%s%.200s",
                  status == GLCNN_MALFORMED_DATA ? "is a damaged JPEG: " : "", message);
    }
    longjmp(jpeg->back, 1);
}

static void no_memory(struct jpeg *jpeg)
{
    leave(jpeg, GLCNN_OUT_OF_MEMORY, "not enough memory to decode it");
}

static void say(j_common_ptr read)
{
    struct jpeg *jpeg = (struct jpeg *)read;
    char message[JMSG_LENGTH_MAX];
    if (read->err->msg_code == JERR_OUT_OF_MEMORY)
        no_memory(jpeg);
    read->err->format_message(read, message);
    leave(jpeg, GLCNN_MALFORMED_DATA, message);
}

/* Warnings behind which pixels are wrong: libjpeg fills in what is missing. */
static const int damages[] = {JWRN_JPEG_EOF,       JWRN_HIT_MARKER,  JWRN_HUFF_BAD_CODE,
                              JWRN_ARITH_BAD_CODE, JWRN_MUST_RESYNC, JWRN_BOGUS_PROGRESSION};

static void warn(j_common_ptr read, int level)
{
    if (level >= 0)
        return;
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++)
        if (read->err->msg_code == damages[i])
            say(read);
}

static void be_silent(j_common_ptr read)
{
    (void)read;
}

static void count_scans(j_common_ptr read)
{
    if (((j_decompress_ptr)read)->input_scan_number > MAX_SCANS)
        leave((struct jpeg *)read, GLCNN_MALFORMED_DATA, "it has more than 200 scans");
}

/* The messages are there before anything that may fail. */
static void begin(struct jpeg *jpeg)
{
    jpeg_create_decompress(&jpeg->read);
    jpeg->progress.progress_monitor = count_scans;
    jpeg->read.progress = &jpeg->progress;
    jpeg->read.mem->max_memory_to_use = (long)PICTURE_MAX_MEMORY;
    jpeg_stdio_src(&jpeg->read, jpeg->file);
    jpeg_save_markers(&jpeg->read, JPEG_APP0 + 1, 0xffff);
    jpeg_read_header(&jpeg->read, TRUE);
    if (!picture_check_size(jpeg->read.image_width, jpeg->read.image_height, jpeg->error)) {
        jpeg->status = GLCNN_MALFORMED_DATA;
        leave(jpeg, GLCNN_MALFORMED_DATA, "");
    }
}

/* The first of several markers that says one. */
static uint32_t orientation(const struct jpeg *jpeg)
{
    uint32_t found = 0;
    for (jpeg_saved_marker_ptr m = jpeg->read.marker_list; m && found == 0; m = m->next)
        if (m->marker == JPEG_APP0 + 1 && m->data_length > 6 && memcmp(m->data, "Exif\0", 5) == 0)
            found = picture_orientation(m->data + 6, m->data_length - 6);
    return found ? found : 1;
}

static void look(struct jpeg *jpeg, struct picture *picture)
{
    const uint32_t turn = orientation(jpeg);
    const bool turned = turn > 4;
    uint32_t width = jpeg->read.image_width, height = jpeg->read.image_height;
    *picture = (struct picture){.width = turned ? height : width,
                                .height = turned ? width : height,
                                .orientation = turn,
                                .has_colour = jpeg->read.num_components > 1};
}

/* ---- Pixels ---- */

static const struct {
    J_COLOR_SPACE in, out;
    enum samples samples;
} spaces[] = {{JCS_GRAYSCALE, JCS_GRAYSCALE, SAMPLES_GREY},
              {JCS_RGB, JCS_RGB, SAMPLES_RGB},
              {JCS_YCbCr, JCS_RGB, SAMPLES_RGB},
              {JCS_CMYK, JCS_CMYK, SAMPLES_CMYK},
              {JCS_YCCK, JCS_CMYK, SAMPLES_CMYK}};

static enum samples choose_space(struct jpeg *jpeg)
{
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        if (spaces[i].in != jpeg->read.jpeg_color_space)
            continue;
        jpeg->read.out_color_space = spaces[i].out;
        return spaces[i].samples == SAMPLES_CMYK && jpeg->read.saw_Adobe_marker
                   ? SAMPLES_CMYK_INVERTED
                   : spaces[i].samples;
    }
    leave(jpeg, GLCNN_MALFORMED_DATA, "its colour space is unknown");
    return SAMPLES_GREY;
}

/* Twice the size at least is left for the mean over areas; what is scaled as elsewhere takes all pixels. */
static unsigned choose_reduction(const struct jpeg *jpeg, const struct scaled *to)
{
    unsigned by = to->side ? 1 : 8;
    while (by > 1 && (jpeg->read.image_width / by < 2 * to->width ||
                      jpeg->read.image_height / by < 2 * to->height))
        by /= 2;
    return by;
}

static void make_buffers(struct jpeg *jpeg, const struct size *size, const struct scaled *to)
{
    uint32_t source = jpeg->read.output_width;
    jpeg->row = malloc((size_t)source * (unsigned)jpeg->read.output_components);
    jpeg->converted = malloc((size_t)source * size->channels);
    if (!jpeg->row || !jpeg->converted ||
        !scaler_create(&jpeg->scaler, source, jpeg->read.output_height, to, size->channels))
        no_memory(jpeg);
}

static void decode(struct jpeg *jpeg, const struct size *size, uint8_t *pixels)
{
    uint32_t turn = orientation(jpeg);
    const struct scaled to = picture_scaled(size, turn);
    enum samples samples = choose_space(jpeg);
    jpeg->read.dct_method = JDCT_ISLOW; /* gives the same with and without SIMD */
    jpeg->read.scale_num = 1;
    jpeg->read.scale_denom = choose_reduction(jpeg, &to);
    jpeg_start_decompress(&jpeg->read);
    make_buffers(jpeg, size, &to);
    while (jpeg->read.output_scanline < jpeg->read.output_height) {
        jpeg_read_scanlines(&jpeg->read, &jpeg->row, 1);
        picture_convert(samples, jpeg->row, jpeg->read.output_width, size->channels,
                        jpeg->converted);
        scaler_row(&jpeg->scaler, jpeg->converted);
    }
    jpeg_finish_decompress(&jpeg->read);
    scaler_finish(&jpeg->scaler, turn, pixels);
}

/* ---- Entries ---- */

/* Only the head where `pixels` is NULL. */
static glcnn_status run(struct jpeg *jpeg, struct picture *picture, const struct size *size,
                        uint8_t *pixels)
{
    jpeg->read.err = jpeg_std_error(&jpeg->messages);
    jpeg->messages.error_exit = say;
    jpeg->messages.emit_message = warn;
    jpeg->messages.output_message = be_silent;
    if (setjmp(jpeg->back))
        return ferror(jpeg->file) ? fail_with(jpeg->error, GLCNN_IO_ERROR, "cannot be read")
                                  : jpeg->status;
    begin(jpeg);
    if (pixels)
        decode(jpeg, size, pixels);
    else
        look(jpeg, picture);
    return GLCNN_SUCCESS;
}

static glcnn_status run_and_release(FILE *file, struct picture *picture, const struct size *size,
                                    uint8_t *pixels, char *error)
{
    struct jpeg *jpeg = calloc(1, sizeof *jpeg);
    if (!jpeg)
        return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory to decode it");
    jpeg->file = file;
    jpeg->error = error;
    glcnn_status status = run(jpeg, picture, size, pixels);
    jpeg_destroy_decompress(&jpeg->read);
    scaler_destroy(&jpeg->scaler);
    free(jpeg->row);
    free(jpeg->converted);
    free(jpeg);
    return status;
}

static glcnn_status jpeg_look(FILE *file, struct picture *picture, char *error)
{
    return run_and_release(file, picture, NULL, NULL, error);
}

static glcnn_status jpeg_decode(FILE *file, const struct size *size, uint8_t *pixels, char *error)
{
    return run_and_release(file, NULL, size, pixels, error);
}

static bool jpeg_begins(const uint8_t *head, size_t size)
{
    static const uint8_t magic[] = {0xff, 0xd8, 0xff};
    return size >= sizeof magic && memcmp(head, magic, sizeof magic) == 0;
}

const struct picture_format picture_jpeg = {
    .begins = jpeg_begins, .look = jpeg_look, .decode = jpeg_decode};
