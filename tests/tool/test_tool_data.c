/* Data of every form through the glcnn command: what trains a network there, what a network that it
 * trained makes of pictures of every kind, and what is said of those that are none. */
#include "tests/data_files.h"

#include <png.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <tiffio.h>

#include "tests/unit.h"

static char said[1 << 16]; /* by the last command, on both of its streams */

/* Runs glcnn with the arguments, in the folder of the data; its exit status. */
static int glcnn(const char *format, ...)
{
    char arguments[1024], command[2048];
    const char *out = getenv("O") ? getenv("O") : "build";
    va_list values;
    va_start(values, format);
    vsnprintf(arguments, sizeof arguments, format, values);
    va_end(values);
    snprintf(command, sizeof command,
             "tool=$(readlink -f '%s/glcnn') && cd '%s' && \"$tool\" 2>&1 %s </dev/null", out,
             data_folder(), arguments);
    FILE *stream = popen(command, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    said[fread(said, 1, sizeof said - 1, stream)] = 0;
    return WEXITSTATUS(pclose(stream));
}

static bool has_device(void)
{
    return system("\"${O:-build}/glcnn\" info >/dev/null 2>&1") == 0;
}

static void expect(int status, int wanted)
{
    CU_ASSERT_EQUAL(status, wanted);
    if (status != wanted)
        printf("\n    status %d: %s", status, said);
}

static void expect_words(const char *words)
{
    CU_ASSERT_PTR_NOT_NULL(strstr(said, words));
    if (!strstr(said, words))
        printf("\n    no \"%s\" in: %s", words, said);
}

static uint32_t lines(const char *text)
{
    uint32_t count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/* ---- Pictures ---- */

static uint32_t shade; /* of all pictures that are drawn: 20 is dark, 200 light */

static uint32_t draw(uint32_t x, uint32_t y, uint32_t c)
{
    (void)c;
    return shade + (x * 7 + y * 3) % 16;
}

static uint32_t draw_16(uint32_t x, uint32_t y, uint32_t c)
{
    return draw(x, y, c) * 257;
}

/* What CMYK has is ink. */
static uint32_t draw_ink(uint32_t x, uint32_t y, uint32_t c)
{
    return c == 3 ? 255 - draw(x, y, c) : 0;
}

static const struct {
    const char *name;
    uint32_t shade;
} classes[] = {{"dark", 20}, {"light", 200}};

static void draw_classes(const char *folder, bool is_jpeg, uint32_t side, uint32_t count)
{
    for (int k = 0; k < 2; k++)
        for (uint32_t n = 0; n < count; n++) {
            char name[64];
            shade = classes[k].shade + n;
            snprintf(name, sizeof name, "%s/%s/%u.%s", folder, classes[k].name, n,
                     is_jpeg ? "jpg" : "png");
            if (is_jpeg)
                data_write_jpeg(name, &(struct data_jpeg){side, side, 3, .value = draw});
            else
                data_write_png(
                    name, &(struct data_png){side, side, PNG_COLOR_TYPE_RGB, 8, .value = draw});
        }
}

static void jpegs_of_256_train_a_network(void)
{
    draw_classes("large", true, 256, 5);
    expect(glcnn("train --data large --epochs 1 --batch 4 --out large.safetensors"), 0);
    expect_words("8 images of 256x256x3 to train with, 2 to validate with, 2 classes");
    expect_words("network: mobilenet-tiny");
    expect(glcnn("predict large.safetensors large/dark/0.jpg large/light/0.jpg"), 0);
    expect_words("large/dark/0.jpg ");
    expect_words("large/light/0.jpg ");
    CU_ASSERT(strstr(said, " 0 dark ") || strstr(said, " 1 light "));
}

/* A network of dark and light pictures, model.safetensors. */
static void train_shades(void)
{
    static bool is_trained;
    if (is_trained)
        return;
    is_trained = true;
    draw_classes("shades", false, 16, 12);
    expect(glcnn("train --data shades --epochs 6 --batch 6 --augment flip,noise=0.02 "
                 "--out model.safetensors"),
           0);
    expect_words("22 images of 16x16x3 to train with");
}

/* The probability that predict prints of a picture; it must be of class k. */
static double classify(const char *name, int k)
{
    char wanted[64];
    expect(glcnn("predict model.safetensors %s", name), 0);
    snprintf(wanted, sizeof wanted, "%s %d %s ", name, k, classes[k].name);
    expect_words(wanted);
    const char *at = strstr(said, wanted);
    return at ? strtod(at + strlen(wanted), NULL) : -1;
}

static void every_kind_of_picture_has_its_class(void)
{
    train_shades();
    for (int k = 0; k < 2; k++) {
        shade = classes[k].shade;
        data_write_png("plain.png",
                       &(struct data_png){16, 16, PNG_COLOR_TYPE_RGB, 8, .value = draw});
        data_write_png("deep.png",
                       &(struct data_png){16, 16, PNG_COLOR_TYPE_RGB, 16, .value = draw_16});
        data_write_png("grey.png",
                       &(struct data_png){16, 16, PNG_COLOR_TYPE_GRAY, 8, .value = draw});
        data_write_png("wide.png",
                       &(struct data_png){75, 31, PNG_COLOR_TYPE_RGB, 8, .value = draw});
        data_write_jpeg("grey.jpg", &(struct data_jpeg){16, 16, 1, .value = draw});
        data_write_webp("plain.webp", &(struct data_webp){16, 16, .value = draw});
        data_write_tiff("plain.tif", &(struct data_tiff_file){.width = 16,
                                                              .height = 16,
                                                              .photometric = PHOTOMETRIC_RGB,
                                                              .samples = 3,
                                                              .depth = 8,
                                                              .value = draw});
        data_write_jpeg("cmyk.jpg", &(struct data_jpeg){16, 16, 4, .value = draw_ink});
        double plain = classify("plain.png", k);
        CU_ASSERT_EQUAL(classify("deep.png", k), plain);
        CU_ASSERT_EQUAL(classify("grey.png", k), plain);
        CU_ASSERT_EQUAL(classify("plain.webp", k), plain);
        CU_ASSERT_EQUAL(classify("plain.tif", k), plain);
        CU_ASSERT_DOUBLE_EQUAL(classify("grey.jpg", k), plain, 0.02);
        CU_ASSERT_DOUBLE_EQUAL(classify("cmyk.jpg", k), plain, 0.02);
        classify("wide.png", k);
    }
}

static void what_is_no_picture_has_its_message(void)
{
    static uint8_t bytes[1 << 14];
    train_shades();
    shade = 20;
    data_write_png("torn.png", &(struct data_png){16, 16, PNG_COLOR_TYPE_RGB, 8, .value = draw});
    data_write("torn.png", bytes, data_read("torn.png", bytes, sizeof bytes) * 2 / 3);
    data_write("empty.png", "", 0);
    data_write_text("text.jpg", "no picture");
    expect(glcnn("predict model.safetensors shades/light/1.png torn.png empty.png text.jpg"), 1);
    expect_words("shades/light/1.png 1 light ");
    expect_words("left out: torn.png: ");
    expect_words("left out: empty.png: is empty; expected a picture");
    expect_words("left out: text.jpg: is not a picture: expected the first bytes of PNG, JPEG, "
                 "WebP or TIFF");
    data_write_text("text.webp", "no picture");
    data_write_text("moving.gif", "GIF89a");
    expect(glcnn("predict model.safetensors text.webp"), 1);
    expect_words(
        "text.webp: is not a picture: expected the first bytes of PNG, JPEG, WebP or TIFF");
    expect(glcnn("predict model.safetensors moving.gif"), 1);
    expect_words(
        "moving.gif: is a picture in GIF format, which is not supported; expected PNG, JPEG, "
        "WebP or TIFF");
    expect(glcnn("predict model.safetensors nowhere.webp"), 1);
    expect_words("nowhere.webp: cannot be opened");
    expect(glcnn("predict model.safetensors nowhere.png"), 1);
    expect_words("nowhere.png: cannot be opened");
}

/* ---- Arrays ---- */

/* Ten times better than chance, at least. */
static void five_channels_and_a_hundred_classes_of_npy(void)
{
    enum { COUNT = 400, VALUES = 5 * 8 * 8 };
    static float images[COUNT][VALUES];
    static int64_t labels[COUNT];
    for (int n = 0; n < COUNT; n++) {
        labels[n] = n % 100;
        for (int i = 0; i < VALUES; i++)
            images[n][i] = (float)((i * 31 + n % 100 * 17) % 64) / 64;
    }
    data_write_npy("many/train_images.npy", "<f4", "(400,5,8,8)", images, sizeof images);
    data_write_npy("many/train_labels.npy", "<i8", "(400,)", labels, sizeof labels);
    expect(glcnn("train --data many --epochs 6 --mean 0.5 --deviation 0.25 --out many.safetensors"),
           0);
    expect_words("of 8x8x5 to train with");
    expect_words("100 classes");
    expect(glcnn("evaluate many.safetensors many"), 0);
    const char *accuracy = strstr(said, "accuracy ");
    CU_ASSERT(accuracy && strtod(accuracy + 9, NULL) > 0.1);
    data_write_npy("three.npy", "<f4", "(3,5,8,8)", images[42], 3 * sizeof *images);
    expect(glcnn("predict many.safetensors three.npy 2>/dev/null"), 0);
    CU_ASSERT_EQUAL(lines(said), 3);
}

/* Bytes are 255ths: the same as floats to within rounding. */
static void two_classes_of_npz(void)
{
    enum { COUNT = 64, PIXELS = 12 * 9 };
    static uint8_t images[COUNT][PIXELS], labels[COUNT], files[2][1 << 14];
    static float floats[2][PIXELS];
    char first[sizeof said];
    for (int n = 0; n < COUNT; n++) {
        labels[n] = (uint8_t)(n % 2);
        for (int i = 0; i < PIXELS; i++)
            images[n][i] = (uint8_t)(n % 2 * 120 + (i * 37 + n * 11) % 100);
    }
    for (int i = 0; i < 2 * PIXELS; i++)
        floats[i / PIXELS][i % PIXELS] = (float)images[i / PIXELS][i % PIXELS] / 255;
    const struct data_entry entries[] = {
        {"x_train.npy", files[0], data_npy(files[0], "|u1", "(64,12,9)", images, sizeof images)},
        {"y_train.npy", files[1], data_npy(files[1], "|u1", "(64,)", labels, sizeof labels)}};
    data_write_zip("two.npz", entries, 2);
    expect(glcnn("train --data two.npz --epochs 8 --mean 0.4 --deviation 0.2 "
                 "--out two.safetensors"),
           0);
    expect_words("of 9x12x1 to train with");
    expect(glcnn("evaluate two.safetensors two.npz"), 0);
    expect_words("accuracy 1.0000");
    data_write_npy("bytes.npy", "|u1", "(2,12,9)", images, sizeof floats / sizeof **floats);
    data_write_npy("floats.npy", "<f4", "(2,12,9)", floats, sizeof floats);
    expect(glcnn("predict two.safetensors bytes.npy 2>/dev/null"), 0);
    memcpy(first, said, sizeof said);
    expect(glcnn("predict two.safetensors floats.npy 2>/dev/null"), 0);
    CU_ASSERT_STRING_EQUAL(said, first);
}

/* 60 images of 4 x 4 in shades that go with four classes, labelled with these texts. */
static void write_shades(const char *name, const char *const labels[4])
{
    static char text[1 << 14];
    char *to = text + sprintf(text, "label");
    for (int i = 0; i < 16; i++)
        to += sprintf(to, ",p%d", i);
    for (int n = 0; n < 60; n++) {
        to += sprintf(to, "\n%s", labels[n % 4]);
        for (int i = 0; i < 16; i++)
            to += sprintf(to, ",%d", n % 4 * 70 + (n * 7 + i * 5) % 30);
    }
    data_write_text(name, text);
}

/* Each network gives each table the accuracy that it has on its own, whatever its labels are. */
static void labels_are_matched_as_a_set(void)
{
    static const char *const
        from_0[4] = {"0", "1", "2", "3"},
        *const from_1[4] = {"1", "2", "3", "4"}, *const floats[4] = {"0.0", "1.0", "10.0", "2.0"},
        *const whole[4] = {"0", "1", "10", "2"}, *const mixed[4] = {"1", "2", "cat", "0"};
    write_shades("from_0.csv", from_0);
    write_shades("from_1.csv", from_1);
    write_shades("floats.csv", floats);
    write_shades("whole.csv", whole);
    write_shades("mixed.csv", mixed);
    expect(glcnn("train --data from_1.csv --out from_1.safetensors"), 0);
    expect(glcnn("evaluate from_1.safetensors from_1.csv"), 0);
    expect_words("accuracy 1.0000");
    expect(glcnn("evaluate from_1.safetensors from_0.csv"), 0);
    expect_words("data: from_0.csv: no class is named \"0\", so labels count the classes: 0 is "
                 "\"1\", 3 is \"4\"");
    expect_words("accuracy 1.0000");
    expect(glcnn("evaluate from_1.safetensors mixed.csv"), 1);
    expect_words(
        "the label \"cat\" is not the name of one of the 4 classes, \"1\" to \"4\", and the "
        "label \"cat\" is not the number of one, 0 to 3");
    expect(
        glcnn("train --model from_1.safetensors --classes model --data from_0.csv --epochs 1 --lr "
              "0.001 "
              "--out kept.safetensors"),
        0);
    expect_words("so labels count the classes");
    expect_words("4 classes");
    expect_words("validation accuracy 1.0000");
    expect(glcnn("train --data floats.csv --out floats.safetensors"), 0);
    expect(glcnn("predict --json floats.safetensors whole.csv"), 0);
    expect_words("\"0\":");
    expect_words("\"10\":");
    expect(glcnn("evaluate floats.safetensors floats.csv"), 0);
    expect_words("accuracy 1.0000");
    expect(glcnn("evaluate floats.safetensors whole.csv"), 0);
    expect_words("accuracy 1.0000");
}

/* 60 pictures of three classes, whose last pixel is `corner`: others are other pictures. */
static void write_idx(const char *prefix, uint8_t corner)
{
    static uint8_t images[16 + 60 * 64] = {0, 0, 8, 3, 0, 0, 0, 60, 0, 0, 0, 8, 0, 0, 0, 8},
                                    labels[8 + 60] = {0, 0, 8, 1, 0, 0, 0, 60};
    char name[64];
    for (int n = 0; n < 60; n++) {
        labels[8 + n] = (uint8_t)(n % 3);
        memset(images + 16 + n * 64, n % 3 * 90 + n, 64);
        images[16 + n * 64 + 63] = corner;
    }
    snprintf(name, sizeof name, "%s-images-idx3-ubyte", prefix);
    data_write(name, images, sizeof images);
    snprintf(name, sizeof name, "%s-labels-idx1-ubyte", prefix);
    data_write(name, labels, sizeof labels);
}

static void plain_idx(void)
{
    write_idx("idx/train", 7);
    expect(glcnn("train --data idx --epochs 2 --out idx.safetensors"), 0);
    expect_words("54 images of 8x8x1 to train with, 6 to validate with, 3 classes");
    expect(glcnn("predict idx.safetensors idx/train-images-idx3-ubyte 2>/dev/null"), 0);
    CU_ASSERT_EQUAL(lines(said), 60);
}

static void expect_no_words(const char *words)
{
    CU_ASSERT_PTR_NULL(strstr(said, words));
    if (strstr(said, words))
        printf("\n    \"%s\" in: %s", words, said);
}

/* Folders in parts, and parts.safetensors, which the first of them has trained. */
static void train_parts(void)
{
    write_idx("parts/train", 7);
    write_idx("parts/t10k", 8);
    write_idx("alone/train", 7);
    write_idx("both/train", 8);
    write_idx("both/val", 7);
    expect(glcnn("train --data parts --epochs 2 --force --out parts.safetensors"), 0);
}

/* Training never sees them: not to learn from, and not to choose an epoch by. */
static void test_pictures_are_left_for_the_end(void)
{
    train_parts();
    expect_words(
        "54 images of 8x8x1 to train with, 6 to validate with, 60 to test with, 3 classes");
    expect_words("\ntest: loss ");
    expect_words("on 60 images, 95 % interval 0.");
    expect(glcnn("evaluate parts.safetensors parts"), 0);
    expect_words("on 60 images of the test part\n");
    expect_no_words("trained on");
    expect(glcnn("evaluate --json parts.safetensors parts"), 0);
    expect_words("\"part\":\t\"test\"");
    expect_words("\"trained_on\":\t0");
    expect(glcnn("evaluate parts.safetensors both"), 0);
    expect_words("on 60 images of the validation part\n");
}

/* By their contents, wherever they lie. */
static void trained_pictures_are_told(void)
{
    train_parts();
    expect(glcnn("evaluate parts.safetensors alone"), 0);
    expect_words("on 60 images\n54 of these 60 images were trained on");
    expect(glcnn("evaluate --json parts.safetensors both"), 0);
    expect_words("\"part\":\t\"validation\"");
    expect_words("\"trained_on\":\t54");
    expect(glcnn("train --model parts.safetensors --data both --epochs 1 --out more.safetensors"),
           0);
    expect_words("60 images of 8x8x1 to train with, 60 to validate with, 3 classes");
    expect(glcnn("evaluate more.safetensors parts"), 0);
    expect_words("60 of these 60 images were trained on");
    expect(glcnn("evaluate more.safetensors alone"), 0);
    expect_words("54 of these 60 images were trained on");
    expect(glcnn("train --data alone --limit 20 --epochs 1 --out few.safetensors"), 0);
    expect(glcnn("evaluate few.safetensors alone"), 0);
    expect_words("20 of these 60 images were trained on");
}

static void a_share_that_comes_to_nothing_is_refused(void)
{
    train_parts();
    expect(glcnn("train --data both --validation 0.2 --epochs 1"), 1);
    expect_words("both: has a validation part, of 60 images, so that --validation 0.2 sets nothing "
                 "aside; leave it out");
    expect(glcnn("train --data parts --validation 0.5 --epochs 1"), 0);
    expect_words("30 images of 8x8x1 to train with, 30 to validate with, 60 to test with");
}

/* ---- What cannot be learned ---- */

static uint32_t slope(uint32_t x, uint32_t y, uint32_t c)
{
    return (x * 5 + y * 3 + c) % 256;
}

/* FOLDER/images/0.png .. 7.png, which FOLDER/list.csv names, with `numbers` behind each. */
static void write_list(const char *folder, const char *columns, const char *numbers)
{
    char text[1024], name[64];
    size_t length = (size_t)snprintf(text, sizeof text, "file,%s\n", columns);
    for (int n = 0; n < 8; n++) {
        snprintf(name, sizeof name, "%s/images/%d.png", folder, n);
        data_write_png(name, &(struct data_png){16, 16, 0, .value = slope});
        length += (size_t)snprintf(text + length, sizeof text - length, "%d.png,%s\n", n, numbers);
    }
    snprintf(name, sizeof name, "%s/list.csv", folder);
    data_write_text(name, text);
}

static void targets_that_teach_nothing_are_refused(void)
{
    write_list("same", "size,weight", "3,4");
    expect(glcnn("train --task regress --data same --epochs 1"), 1);
    expect_words(
        "same: \"size\" and all other numbers are the same for all 7 pictures to train with");
    data_write_text("same/list.csv",
                    "file,size,weight\n0.png,3,1\n1.png,3,2\n2.png,3,3\n3.png,3,4\n"
                    "4.png,3,5\n5.png,3,6\n6.png,3,7\n7.png,3,8\n");
    expect(glcnn("train --task regress --data same --epochs 1"), 0);
    expect_words("same: \"size\" is the same number for all 7 pictures to train with");
    write_list("points", "eye_x,eye_y", "700,2");
    expect(glcnn("train --task keypoints --data points --epochs 1"), 1);
    expect_words(
        "points: no keypoint lies in its picture, of 7 to train with: the first is at 700,2 of a "
        "picture of 16x16");
    write_list("points", "eye_x,eye_y,ear_x,ear_y", "7,2,-1,-1");
    expect(glcnn("train --task keypoints --data points --epochs 1"), 0);
    expect_words("points: ear_x lies in none of the 7 pictures to train with");
    for (int n = 0; n < 4; n++) {
        char name[64];
        snprintf(name, sizeof name, "wide/images/%d.png", n);
        data_write_png(name, &(struct data_png){96, 32, 0, .value = slope});
        snprintf(name, sizeof name, "wide/labels/%d.txt", n);
        data_write_text(name, "0 0.05 0.5 0.05 0.5\n");
    }
    expect(glcnn("train --task detect --data wide --size 32 --fit cut --epochs 1"), 1);
    expect_words(
        "wide: none of the 3 pictures to train with has a box in the part that the network sees");
}

static void one_class_is_told(void)
{
    train_parts();
    for (int n = 0; n < 4; n++) {
        char name[64];
        snprintf(name, sizeof name, "single/1/%d.png", n);
        data_write_png(name, &(struct data_png){8, 8, 0, .value = slope});
    }
    expect(glcnn("train --model parts.safetensors --classes model --data single --epochs 1"), 0);
    expect_words("single: all 3 pictures to train with are of the class \"1\"");
}

/* The file of before stays. */
static void a_loss_that_grows_ends_the_run(void)
{
    static char before[1 << 20], after[1 << 20];
    train_parts();
    const size_t size = data_read("parts.safetensors", before, sizeof before);
    expect(
        glcnn(
            "train --data parts --epochs 9 --schedule constant --optimizer sgd --lr 30 --weight-decay 0 "
            "--clip-norm 0 --force --out parts.safetensors"),
        1);
    expect_words(
        "of the first step: training diverges; a lower --lr, a --warmup or --clip-norm may help");
    expect_words("more than 100 times ");
    expect_words("parts.safetensors");
    if (!strstr(said, "epoch 1 of 9: ")) {
        expect_words("parts.safetensors is unchanged");
        CU_ASSERT_EQUAL(data_read("parts.safetensors", after, sizeof after), size);
        CU_ASSERT_EQUAL(memcmp(before, after, size), 0);
    }
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(jpegs_of_256_train_a_network),
                                        UNIT_TEST(every_kind_of_picture_has_its_class),
                                        UNIT_TEST(what_is_no_picture_has_its_message),
                                        UNIT_TEST(five_channels_and_a_hundred_classes_of_npy),
                                        UNIT_TEST(two_classes_of_npz),
                                        UNIT_TEST(labels_are_matched_as_a_set),
                                        UNIT_TEST(plain_idx),
                                        UNIT_TEST(test_pictures_are_left_for_the_end),
                                        UNIT_TEST(trained_pictures_are_told),
                                        UNIT_TEST(a_share_that_comes_to_nothing_is_refused),
                                        UNIT_TEST(targets_that_teach_nothing_are_refused),
                                        UNIT_TEST(one_class_is_told),
                                        UNIT_TEST(a_loss_that_grows_ends_the_run),
                                        CU_TEST_INFO_NULL};
    if (!has_device()) {
        puts("there is no device");
        return 77;
    }
    int status = unit_run("tool_data", tests, argc, argv);
    data_remove_folder();
    return status;
}
