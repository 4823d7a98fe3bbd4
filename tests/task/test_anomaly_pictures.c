/* Folders of normal and other pictures: which is normal, which labels pictures have, and what is scored. */
#include "train/anomaly_pictures.h"
#include "train/visa.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit.h"

static char top[] = "/tmp/glcnn-anomaly-XXXXXX";

static const char *const folders[] = {
    "mvtec",
    "mvtec/bottle",
    "mvtec/bottle/train",
    "mvtec/bottle/train/good",
    "mvtec/bottle/ground_truth",
    "mvtec/bottle/ground_truth/scratch",
    "mvtec/bottle/test",
    "mvtec/bottle/test/good",
    "mvtec/bottle/test/scratch",
    "mvtec/bottle/test/scratch/deep",
    "mvtec/cable",
    "mvtec/cable/test",
    "mvtec/cable/test/OK",
    "mvtec/cable/test/bent",
    "own",
    "own/Normal",
    "own/broken",
    "own/broken/type1",
    "loose",
    "loose/a",
    "loose/test",
    "visa",
    "visa/candle",
    "visa/candle/Data",
    "visa/candle/Data/Images",
    "visa/candle/Data/Images/Anomaly",
    "visa/candle/Data/Images/Normal",
    "visa/candle/Data/Masks",
    "visa/candle/Data/Masks/Anomaly",
    "visa/split_csv",
    "raw",
    "raw/Data",
    "raw/Data/Images",
    "raw/Data/Images/Normal",
};

static void make_folders(void)
{
    char path[ANOMALY_PATH];
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(top));
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%s", top, folders[i]);
        CU_ASSERT_EQUAL_FATAL(mkdir(path, 0700), 0);
    }
}

static void labels_are_folders_beside_normal_ones(void)
{
    static const struct {
        const char *picture;
        glcnn_anomaly_kind kind;
        const char *label;
    } rows[] = {
        {"mvtec/bottle/test/good/1.png", GLCNN_ANOMALY_NORMAL, "good"},
        {"mvtec/bottle/test/scratch/1.png", GLCNN_ANOMALY_DEFECT, "scratch"},
        {"mvtec/bottle/test/scratch/deep/1.png", GLCNN_ANOMALY_DEFECT, "scratch"},
        {"mvtec/cable/test/OK/1.png", GLCNN_ANOMALY_NORMAL, "OK"},
        {"mvtec/cable/test/bent/1.png", GLCNN_ANOMALY_DEFECT, "bent"},
        {"own/Normal/1.png", GLCNN_ANOMALY_NORMAL, "Normal"},
        {"own/broken/type1/1.png", GLCNN_ANOMALY_DEFECT, "broken"},
        {"loose/a/1.png", GLCNN_ANOMALY_UNLABELLED, ""},
        {"loose/test/1.png", GLCNN_ANOMALY_UNLABELLED, ""},
        {"mvtec/bottle/test/1.png", GLCNN_ANOMALY_UNLABELLED, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[ANOMALY_PATH], label[ANOMALY_PATH];
        snprintf(path, sizeof path, "%s/%s", top, rows[i].picture);
        CU_ASSERT_EQUAL(anomaly_label(path, label), rows[i].kind);
        CU_ASSERT_STRING_EQUAL(label, rows[i].label);
        if (strcmp(label, rows[i].label) != 0)
            printf("\n    %s: %s", rows[i].picture, label);
    }
}

static void normal_pictures_are_found(void)
{
    static const char *const rows[][2] = {{"mvtec/bottle", "mvtec/bottle/train/good"},
                                          {"own", "own/Normal"},
                                          {"mvtec/bottle/train", "mvtec/bottle/train/good"},
                                          {"visa/candle", "visa/candle/Data/Images/Normal"},
                                          {"loose", "loose"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[ANOMALY_PATH], found[ANOMALY_PATH], expected[ANOMALY_PATH];
        snprintf(path, sizeof path, "%s/%s", top, rows[i][0]);
        snprintf(expected, sizeof expected, "%s/%s", top, rows[i][1]);
        anomaly_normal_folder(path, found);
        CU_ASSERT_STRING_EQUAL(found, expected);
    }
}

static char taken[512];

static bool take(void *user, const char *path)
{
    (void)user;
    strncat(taken, path + sizeof top, sizeof taken - strlen(taken) - 2);
    strcat(taken, " ");
    return true;
}

/* What a bank is made of, and masks of defects, are no pictures to score. */
static void tests_alone_are_scored(void)
{
    static const char *const rows[][2] = {{"mvtec", "mvtec/bottle/test mvtec/cable/test "},
                                          {"mvtec/bottle", "mvtec/bottle/test "},
                                          {"mvtec/bottle/train", ""},
                                          {"own", ""},
                                          {"nowhere", ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[ANOMALY_PATH];
        snprintf(path, sizeof path, "%s/%s", top, rows[i][0]);
        *taken = 0;
        CU_ASSERT_TRUE(anomaly_test_folders(path, take, NULL));
        CU_ASSERT_STRING_EQUAL(taken, rows[i][1]);
        if (strcmp(taken, rows[i][1]) != 0)
            printf("\n    %s: %s", rows[i][0], taken);
    }
}

/* VisA as it comes: its list says which pictures are for tests; objects of other names, and lines that are cut off, are
 * passed over. Without a list all are scored. */
static void visa_has_a_list(void)
{
    static const char list[] = "object,split,label,image,mask\n"
                               "candle,train,normal,candle/Data/Images/Normal/0001.JPG,\r\n"
                               "candle,train,normal,candle/Data/Images/Normal/0002.JPG\n"
                               "candle,test,normal,candle/Data/Images/Normal/0003.JPG,\n"
                               "candle,test,anomaly,candle/Data/Images/Anomaly/000.JPG,"
                               "candle/Data/Masks/Anomaly/000.png\n"
                               "pcb1,test,normal,pcb1/Data/Images/Normal/0001.JPG,\ncandle,test";
    char path[ANOMALY_PATH], file[ANOMALY_PATH], label[ANOMALY_PATH];
    bool found;
    snprintf(file, sizeof file, "%s/visa/split_csv/1cls.csv", top);
    FILE *stream = fopen(file, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    fputs(list, stream);
    CU_ASSERT_EQUAL(fclose(stream), 0);
    snprintf(path, sizeof path, "%s/visa/candle", top);
    *taken = 0;
    CU_ASSERT_TRUE(visa_list(path, "train", take, NULL, &found) && found);
    CU_ASSERT_STRING_EQUAL(taken, "visa/candle/Data/Images/Normal/0001.JPG "
                                  "visa/candle/Data/Images/Normal/0002.JPG ");
    for (int i = 0; i < 2; i++, snprintf(path, sizeof path, "%s/visa", top)) {
        *taken = 0;
        CU_ASSERT_TRUE(anomaly_test_folders(path, take, NULL));
        CU_ASSERT_STRING_EQUAL(taken, "visa/candle/Data/Images/Normal/0003.JPG "
                                      "visa/candle/Data/Images/Anomaly/000.JPG ");
        CU_ASSERT_TRUE(visa_has_split(path));
    }
    snprintf(path, sizeof path, "%s/visa/candle/Data/Images/Anomaly/000.JPG", top);
    CU_ASSERT_EQUAL(anomaly_label(path, label), GLCNN_ANOMALY_DEFECT);
    CU_ASSERT_STRING_EQUAL(label, "Anomaly");
    CU_ASSERT_EQUAL(unlink(file), 0);
    snprintf(path, sizeof path, "%s/raw", top);
    *taken = 0;
    CU_ASSERT_TRUE(anomaly_test_folders(path, take, NULL));
    CU_ASSERT_STRING_EQUAL(taken, "raw/Data/Images ");
}

static void remove_folders(void)
{
    char path[ANOMALY_PATH];
    for (size_t i = sizeof folders / sizeof *folders; i-- > 0;) {
        snprintf(path, sizeof path, "%s/%s", top, folders[i]);
        CU_ASSERT_EQUAL(rmdir(path), 0);
    }
    CU_ASSERT_EQUAL(rmdir(top), 0);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(make_folders),
                                        UNIT_TEST(labels_are_folders_beside_normal_ones),
                                        UNIT_TEST(normal_pictures_are_found),
                                        UNIT_TEST(tests_alone_are_scored),
                                        UNIT_TEST(visa_has_a_list),
                                        UNIT_TEST(remove_folders),
                                        CU_TEST_INFO_NULL};
    return unit_run("anomaly_pictures", tests, argc, argv);
}
