/* pictures FOLDER: writes sixteen pictures into FOLDER/segmenter/images, with masks beside them, and
 * into FOLDER/boxes/images, with YOLO's labels beside them. The folders exist. Each picture shows a
 * rectangle of each of two kinds on a pattern. */
#include <png.h>
#include <stdio.h>

enum { SIDE = 64, COUNT = 16, KINDS = 2 };

struct rectangle {
    int left, top, width, height;
};

static struct rectangle rectangle(int picture, int kind)
{
    return (struct rectangle){3 + picture, 2 + 30 * kind, 14 + picture, 20 - picture % 3};
}

static int kind_at(int picture, int x, int y)
{
    for (int kind = 0; kind < KINDS; kind++) {
        const struct rectangle r = rectangle(picture, kind);
        if (x >= r.left && x < r.left + r.width && y >= r.top && y < r.top + r.height)
            return kind + 1;
    }
    return 0;
}

static void paint(int picture, unsigned char *pixels, unsigned char *mask)
{
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++, pixels += 3, mask++) {
            *mask = (unsigned char)kind_at(picture, x, y);
            for (int c = 0; c < 3; c++)
                pixels[c] = (unsigned char)(*mask == c + 1 ? 220 : (x * y + 17 * c + picture) % 90);
        }
}

static int save(const char *folder, const char *part, int picture, png_uint_32 format,
                const unsigned char *bytes)
{
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = SIDE, .height = SIDE, .format = format};
    char path[4096];
    snprintf(path, sizeof path, "%s/%s/%02d.png", folder, part, picture);
    return png_image_write_to_file(&image, path, 0, bytes, 0, NULL);
}

static int save_boxes(const char *folder, int picture)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/boxes/labels/%02d.txt", folder, picture);
    FILE *file = fopen(path, "w");
    for (int kind = 0; file && kind < KINDS; kind++) {
        const struct rectangle r = rectangle(picture, kind);
        fprintf(file, "%d %g %g %g %g\n", kind, (r.left + r.width / 2.0) / SIDE,
                (r.top + r.height / 2.0) / SIDE, (double)r.width / SIDE, (double)r.height / SIDE);
    }
    return file && fclose(file) == 0;
}

int main(int argc, char *argv[])
{
    static unsigned char pixels[SIDE * SIDE * 3], mask[SIDE * SIDE];
    for (int i = 0; argc == 2 && i < COUNT; i++) {
        paint(i, pixels, mask);
        if (!save(argv[1], "segmenter/images", i, PNG_FORMAT_RGB, pixels) ||
            !save(argv[1], "segmenter/masks", i, PNG_FORMAT_GRAY, mask) ||
            !save(argv[1], "boxes/images", i, PNG_FORMAT_RGB, pixels) || !save_boxes(argv[1], i))
            return 1;
    }
    return argc != 2;
}
