/* Folders as tools for labelling write them, each made here after the tool's documentation or source,
 * and read without an option: targets, parts, classes and boxes as that says. */
#include "tests/data_files.h"

#include <cjson/cJSON.h>
#include <glcnn/anomaly.h>
#include <glcnn/task.h>
#include <glcnn/train.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit.h"

/* A file of a folder; without a text it is a picture of 20 x 10. */
struct file {
    const char *name, *text;
};

struct export
{
    const char *folder;
    struct file files[16];
    const char *open; /* what is opened below the folder; NULL: that itself */
    const char *format, *classes;
    const char *parts[GLCNN_DATA_PARTS];
    const char *points;   /* coordinates of keypoints; NULL: it has none */
    const char *decision; /* what one says; NULL: none is asked for */
    const char *note;     /* NULL: there is none */
};

static uint32_t grey(uint32_t x, uint32_t y, uint32_t c)
{
    return (x * 7 + y * 13 + c) % 256;
}

static uint32_t black_and_white(uint32_t x, uint32_t y, uint32_t c)
{
    (void)y, (void)c;
    return x < 10 ? 0 : 255;
}

static const char *write_folder(const char *folder, const struct file *files)
{
    static char path[256];
    for (; files->name; files++) {
        snprintf(path, sizeof path, "%s/%s", folder, files->name);
        if (files->text)
            data_write_text(path, files->text);
        else
            data_write_png(path, &(struct data_png){.width = 20, .height = 10, .value = grey});
    }
    return folder;
}

static const char *opened(const struct export *e)
{
    static char path[256];
    snprintf(path, sizeof path, "%s%s%s", e->folder, e->open ? "/" : "", e->open ? e->open : "");
    return path;
}

static void expect_guess(const char *name, glcnn_data_targets targets)
{
    const glcnn_data_targets guess = glcnn_data_guess_targets(data_path(name));
    CU_ASSERT_EQUAL(guess, targets);
    if (guess != targets)
        printf("\n    %s: %d\n", name, (int)guess);
}

/* ---- One epoch of each ----
 *
 * In `make check` each folder also trains one epoch by C, by the tool and by Python. So that a tenth of the pictures can
 * be set aside each picture is there ten times, under other names, with all that is said of it. */

enum { COPIES = 10, TRAINED_MOST = 80, NAMES = 16 };

static struct trained {
    char path[256], said[160]; /* of a data set, and the end of the sentence on its counts */
    uint32_t all;              /* pictures to train with */
    const char *classes;
    const char *task; /* that a question names; NULL: there was none */
} trained[TRAINED_MOST];
static size_t trained_count;
static char build_folder[512];

/* The last part of a path, up to its ending. */
static void find_stem(const char *path, char stem[64])
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path,
               *dot = strrchr(name, '.');
    snprintf(stem, 64, "%.*s", (int)(dot ? dot - name : (long)strlen(name)), name);
}

/* Where the text names a file of that stem: between slashes, commas, quotes or ends, with any ending or none. */
static const char *find_name(const char *text, const char *end, const char *stem)
{
    const size_t length = strlen(stem);
    for (const char *at = text; at + length <= end; at++) {
        const char before = at == text ? 0 : at[-1], after = at + length == end ? 0 : at[length];
        if (strncmp(at, stem, length) == 0 && (!before || strchr("/\\,\"", before)) &&
            (!after || strchr(".\r\" ", after)))
            return at;
    }
    return NULL;
}

/* Adds a text in which each file of the stem has the number behind it. */
static char *add_numbered(char *to, const char *text, const char *end, const char *stem, int copy)
{
    for (const char *at; (at = find_name(text, end, stem));) {
        const char *rest = at + strlen(stem);
        to += sprintf(to, "%.*s%d", (int)(rest - text), text, copy);
        text = rest;
    }
    return to + sprintf(to, "%.*s", (int)(end - text), text);
}

/* Lines that name one of the pictures stand there for each copy of it. */
static void multiply_lines(const char *text, char stems[][64], size_t stem_count, char *to)
{
    for (const char *end; *text; text = *end ? end + 1 : end) {
        const char *stem = NULL;
        end = text + strcspn(text, "\n");
        for (size_t i = 0; i < stem_count; i++)
            stem = find_name(text, end, stems[i]) ? stems[i] : stem;
        for (int copy = 0; copy < (stem ? COPIES : 1); copy++) {
            to = stem ? add_numbered(to, text, end, stem, copy)
                      : to + sprintf(to, "%.*s", (int)(end - text), text);
            to += sprintf(to, "\n");
        }
    }
}

/* Numbers of images, texts too. */
static void number_item(cJSON *item, const char *key, int copy)
{
    char text[128];
    cJSON *value = cJSON_GetObjectItem(item, key);
    if (cJSON_IsNumber(value))
        snprintf(text, sizeof text, "%g%d", value->valuedouble, copy);
    else
        snprintf(text, sizeof text, "%s%d", cJSON_GetStringValue(value), copy);
    cJSON_ReplaceItemInObject(item, key,
                              cJSON_IsNumber(value) ? cJSON_CreateNumber(atof(text))
                                                    : cJSON_CreateString(text));
}

static void name_item(cJSON *item, char stems[][64], size_t stem_count, int copy)
{
    char name[256] = "";
    const char *path = cJSON_GetStringValue(cJSON_GetObjectItem(item, "file_name"));
    for (size_t i = 0; i < stem_count && path && !*name; i++)
        if (find_name(path, path + strlen(path), stems[i]))
            add_numbered(name, path, path + strlen(path), stems[i], copy);
    if (*name)
        cJSON_ReplaceItemInObject(item, "file_name", cJSON_CreateString(name));
}

/* COCO's images and annotations. */
static char *multiply_coco(const char *text, char stems[][64], size_t stem_count)
{
    static const char *const lists[] = {"images", "annotations"}, *const keys[] = {"id",
                                                                                   "image_id"};
    cJSON *json = cJSON_Parse(text), *item;
    for (int k = 0; k < 2; k++) {
        cJSON *all = cJSON_CreateArray();
        for (int copy = 0; copy < COPIES; copy++)
            cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, lists[k]))
            {
                cJSON *other = cJSON_Duplicate(item, true);
                number_item(other, keys[k], copy);
                name_item(other, stems, stem_count, copy);
                cJSON_AddItemToArray(all, other);
            }
        cJSON_ReplaceItemInObject(json, lists[k], all);
    }
    char *made = cJSON_Print(json);
    cJSON_Delete(json);
    return made;
}

/* A file of its picture alone: each copy has one. */
static bool is_of_picture(const char *name, char stems[][64], size_t stem_count)
{
    char stem[64];
    find_stem(name, stem);
    for (size_t i = 0; i < stem_count; i++)
        if (strcmp(stem, stems[i]) == 0)
            return true;
    return false;
}

static void write_copies(const char *folder, const struct file *file, char stems[][64],
                         size_t stem_count)
{
    static char text[65536];
    char path[512], stem[64];
    const char *dot = strrchr(file->name, '.');
    find_stem(file->name, stem);
    for (int copy = 0; copy < COPIES; copy++) {
        snprintf(path, sizeof path, "%s/%.*s%d%s", folder, (int)(dot - file->name), file->name,
                 copy, dot);
        if (!file->text) {
            data_write_png(path, &(struct data_png){.width = 20, .height = 10, .value = grey});
            continue;
        }
        *text = 0;
        const char *at = file->text, *end = at + strlen(at);
        if (strstr(at, stem) && strchr(at, '{'))
            add_numbered(text, at, end, stem, copy);
        else
            snprintf(text, sizeof text, "%s", at);
        data_write_text(path, text);
    }
    (void)stems, (void)stem_count;
}

static void write_many(const char *folder, const struct file *files)
{
    static char text[65536];
    char stems[NAMES][64], path[512];
    size_t stem_count = 0;
    for (const struct file *f = files; f->name; f++)
        if (!f->text && !is_of_picture(f->name, stems, stem_count))
            find_stem(f->name, stems[stem_count++]);
    for (const struct file *f = files; f->name; f++) {
        snprintf(path, sizeof path, "%s/%s", folder, f->name);
        if (!f->text || is_of_picture(f->name, stems, stem_count)) {
            write_copies(folder, f, stems, stem_count);
            continue;
        }
        *text = 0;
        if (strstr(f->text, "\"file_name\"")) {
            char *made = multiply_coco(f->text, stems, stem_count);
            snprintf(text, sizeof text, "%s", made);
            cJSON_free(made);
        } else
            multiply_lines(f->text, stems, stem_count, text);
        data_write_text(path, text);
    }
}

static uint32_t count_pictures(const char *part)
{
    uint32_t count = part && *part;
    for (; part && *part; part++)
        count += *part == ';';
    return count * COPIES;
}

/* Pictures of the parts, of the training part also those that are set aside. */
static void note_trained(const char *path, const uint32_t parts[GLCNN_DATA_PARTS],
                         const char *classes, const char *task)
{
    const char *kind = task && strcmp(task, "keypoints") == 0 ? "coordinates" : "classes";
    char tests[64] = "";
    uint32_t class_count = 1, validation = parts[GLCNN_DATA_PART_VALIDATION];
    struct trained *t = &trained[trained_count++];
    for (const char *c = classes; *c; c++)
        class_count += *c == ' ';
    *t = (struct trained){.all = parts[GLCNN_DATA_PART_TRAINING], .classes = classes, .task = task};
    snprintf(t->path, sizeof t->path, "%s", path);
    if (validation == 0) {
        validation = t->all / 10;
        t->all -= validation;
    }
    if (parts[GLCNN_DATA_PART_TEST] > 0)
        snprintf(tests, sizeof tests, " %u to test with,", parts[GLCNN_DATA_PART_TEST]);
    snprintf(t->said, sizeof t->said, " to train with, %u to validate with,%s %u %s\n", validation,
             tests, class_count, kind);
}

static void train_later(const struct export *e)
{
    char folder[128], path[256];
    uint32_t parts[GLCNN_DATA_PARTS];
    if (!unit_is_check())
        return;
    snprintf(folder, sizeof folder, "many/%s", e->folder);
    write_many(folder, e->files);
    snprintf(path, sizeof path, "%s%s%s", folder, e->open ? "/" : "", e->open ? e->open : "");
    for (int i = 0; i < GLCNN_DATA_PARTS; i++)
        parts[i] = count_pictures(e->parts[i]);
    note_trained(path, parts, e->classes, NULL);
    if (e->points)
        note_trained(path, parts, e->points, "keypoints");
}

/* Whether a training said what the folder has. */
static bool says_counts(const struct trained *t, const char *log, const char *by)
{
    char all[64];
    snprintf(all, sizeof all, "data: %u images of 16x16", t->all);
    const char *at = strstr(log, all), *end = at ? strchr(at, '\n') : NULL,
               *said = at ? strstr(at, t->said) : NULL;
    const bool good = said && said < end;
    if (!good)
        printf("\n    %s by %s: expected \"%s.. %s\"; it says\n%s", t->path, by, all, t->said, log);
    return good;
}

static const char *const quick[][2] = {{"net", "small"}, {"size", "16"},      {"epochs", "1"},
                                       {"batch", "8"},   {"augment", "none"}, {"force", "1"}};
enum { QUICK = sizeof quick / sizeof *quick };

/* All notes of a training; false where it fails. */
static bool train_once(glcnn_device *device, const struct trained *t, const char *out, char *log,
                       size_t room)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_train_settings *settings = glcnn_train_settings_create();
    const struct glcnn_train_event *event = NULL;
    glcnn_trainer *trainer = NULL;
    size_t used = 0;
    *log = 0;
    bool good =
        glcnn_train_settings_set(settings, "data", data_path(t->path), error) == GLCNN_SUCCESS &&
        (!t->task || glcnn_train_settings_set(settings, "task", t->task, error) == GLCNN_SUCCESS) &&
        glcnn_train_settings_set(settings, "out", out, error) == GLCNN_SUCCESS;
    for (int i = 0; i < QUICK && good; i++)
        good = glcnn_train_settings_set(settings, quick[i][0], quick[i][1], error) == GLCNN_SUCCESS;
    good = good && glcnn_trainer_create(device, settings, &trainer, error) == GLCNN_SUCCESS;
    while (good && (!event || event->kind != GLCNN_TRAIN_END)) {
        good = glcnn_trainer_next(trainer, &event) == GLCNN_SUCCESS;
        if (event->text && used < room)
            used += (size_t)snprintf(log + used, room - used, "%s", event->text);
    }
    if (*error)
        snprintf(log, room, "%s\n", error);
    glcnn_trainer_destroy(&trainer);
    glcnn_train_settings_destroy(&settings);
    return good;
}

static bool has_classes(const struct glcnn_model_description *info, const char *classes)
{
    char names[256] = "";
    for (uint32_t k = 0; k < info->class_count; k++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", k ? " " : "",
                 info->class_names[k]);
    return strcmp(names, classes) == 0;
}

static void folders_train_by_c(void)
{
    static char log[65536];
    char out[300], error[GLCNN_ERROR_LENGTH];
    glcnn_device *device = NULL;
    if (trained_count == 0)
        return;
    CU_ASSERT_EQUAL_FATAL(glcnn_device_create(NULL, &device), GLCNN_SUCCESS);
    snprintf(out, sizeof out, "%s", data_path("by_c.safetensors"));
    for (size_t i = 0; i < trained_count; i++) {
        glcnn_model *model = NULL;
        CU_ASSERT_TRUE(train_once(device, &trained[i], out, log, sizeof log));
        CU_ASSERT_TRUE(says_counts(&trained[i], log, "C"));
        CU_ASSERT_EQUAL(glcnn_model_load(device, out, &model, error), GLCNN_SUCCESS);
        CU_ASSERT_TRUE(model && has_classes(glcnn_model_info(model), trained[i].classes));
        glcnn_model_destroy(&model);
    }
    glcnn_device_destroy(&device);
}

/* What a command prints; true if it ends with 0. */
static bool run_command(const char *command, char *printed, size_t room)
{
    FILE *pipe = popen(command, "r");
    size_t used = pipe ? fread(printed, 1, room - 1, pipe) : 0;
    printed[used] = 0;
    return pipe && pclose(pipe) == 0;
}

static void folders_train_by_the_tool(void)
{
    static char log[65536];
    char command[1024];
    for (size_t i = 0; i < trained_count; i++) {
        size_t used = (size_t)snprintf(
            command, sizeof command, "'%s/glcnn' train --data '%s' --out '%s'", build_folder,
            data_path(trained[i].path), data_path("by_tool.safetensors"));
        for (int k = 0; k < QUICK; k++)
            used += (size_t)snprintf(
                command + used, sizeof command - used,
                strcmp(quick[k][1], "1") == 0 && strcmp(quick[k][0], "force") == 0 ? " --%s"
                                                                                   : " --%s %s",
                quick[k][0], quick[k][1]);
        snprintf(command + used, sizeof command - used, "%s%s 2>&1 </dev/null",
                 trained[i].task ? " --task " : "", trained[i].task ? trained[i].task : "");
        CU_ASSERT_TRUE(run_command(command, log, sizeof log));
        CU_ASSERT_TRUE(says_counts(&trained[i], log, "the tool"));
    }
}

/* Prints all notes of each training, a line "classes CLASSES" and one "end". */
static const char script[] =
    "import glcnn, os, sys\n"
    "for argument in sys.argv[2:]:\n"
    "    (task, path), notes = argument.split(':', 1), []\n"
    "    found = glcnn.train(path, task=task or None, out=sys.argv[1], force=True, net='small', size=16, epochs=1, batch=8,\n"
    "                        augment='none', progress=False, on_event=lambda e: notes.append(e.text or ''))\n"
    "    print(''.join(notes) + '\\nclasses ' + ' '.join(found.network.classes) + '\\nend')\n";

/* Chooses a Python that has NumPy. */
#define PYTHON "python=python3; python3 -c 'import numpy' 2>/dev/null || python=/usr/bin/python3; "

static bool has_python(void)
{
    return system(PYTHON "$python -c 'import numpy' 2>/dev/null") == 0;
}

static void folders_train_in_python(void)
{
    static char printed[1 << 20];
    static char command[1 << 16];
    size_t used;
    if (trained_count == 0 || !has_python())
        return;
    data_write_text("script.py", script);
    used = (size_t)snprintf(
        command, sizeof command,
        PYTHON
        "cp -R src/python/glcnn '%s' && $python src/python/generate.py include '%s/glcnn' && "
        "PYTHONDONTWRITEBYTECODE=1 GLCNN_LIBRARY='%s' PYTHONPATH='%s' $python '%s' '%s'",
        data_folder(), data_folder(), build_folder, data_folder(), data_path("script.py"),
        data_path("by_python.safetensors"));
    for (size_t i = 0; i < trained_count; i++)
        used +=
            (size_t)snprintf(command + used, sizeof command - used, " '%s:%s'",
                             trained[i].task ? trained[i].task : "", data_path(trained[i].path));
    snprintf(command + used, sizeof command - used, " 2>&1");
    CU_ASSERT_TRUE(run_command(command, printed, sizeof printed));
    char *at = printed;
    for (size_t i = 0; i < trained_count; i++) {
        char classes[256], *end = strstr(at, "\nend\n");
        CU_ASSERT_PTR_NOT_NULL_FATAL(end);
        *end = 0;
        snprintf(classes, sizeof classes, "\nclasses %s", trained[i].classes);
        CU_ASSERT_TRUE(says_counts(&trained[i], at, "Python"));
        CU_ASSERT_TRUE(strlen(at) > strlen(classes) && strcmp(end - strlen(classes), classes) == 0);
        at = end + strlen("\nend\n");
    }
}

/* ---- By glcnn anomaly ---- */

/* MVTec AD's object and one of VisA, of normal pictures to learn from, and of each kind to test COPIES; the latter has
 * https://github.com/amazon-science/spot-diff's split_csv/1cls.csv beside it. */
static const char *const objects[] = {"many/bottle", "many/visa/candle"};
enum { OBJECTS = sizeof objects / sizeof *objects };

static void write_objects(void)
{
    static char list[8192] = "object,split,label,image,mask\n";
    const struct data_png normal = {.width = 20, .height = 10, .value = grey},
                          defect = {.width = 20, .height = 10, .value = black_and_white};
    static const struct {
        const char *mvtec, *visa, *line;
        bool is_normal;
    } kinds[] = {{"train/good", "Normal/l", "train,normal", true},
                 {"test/good", "Normal/t", "test,normal", true},
                 {"test/broken", "Anomaly/b", "test,anomaly", false}};
    char path[128], image[96];
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int i = 0; i < COPIES; i++) {
            const struct data_png *png = kinds[k].is_normal ? &normal : &defect;
            snprintf(path, sizeof path, "%s/%s/%d.png", objects[0], kinds[k].mvtec, i);
            data_write_png(path, png);
            snprintf(image, sizeof image, "candle/Data/Images/%s%d.png", kinds[k].visa, i);
            snprintf(path, sizeof path, "many/visa/%s", image);
            data_write_png(path, png);
            snprintf(list + strlen(list), sizeof list - strlen(list), "candle,%s,%s,\n",
                     kinds[k].line, image);
        }
    for (int i = 0; i < COPIES; i++) {
        snprintf(path, sizeof path, "%s/ground_truth/broken/%d_mask.png", objects[0], i);
        data_write_png(path, &defect);
        snprintf(path, sizeof path, "%s/Data/Masks/Anomaly/b%d.png", objects[1], i);
        data_write_png(path, &defect);
    }
    data_write_text("many/visa/split_csv/1cls.csv", list);
}

static void objects_are_learned_by_c(void)
{
    char error[GLCNN_ERROR_LENGTH] = "", net[300];
    if (!unit_is_check())
        return;
    write_objects();
    snprintf(net, sizeof net, "%s", data_path("by_c.safetensors"));
    for (int i = 0; i < OBJECTS; i++) {
        glcnn_anomaly *anomaly = NULL;
        const struct glcnn_anomaly_score *score = NULL;
        const char *path = data_path(objects[i]);
        CU_ASSERT_EQUAL(glcnn_anomaly_fit(NULL, net, path, NULL, &anomaly, error), GLCNN_SUCCESS);
        CU_ASSERT_PTR_NOT_NULL_FATAL(anomaly);
        CU_ASSERT_EQUAL(glcnn_anomaly_info(anomaly)->fitted + glcnn_anomaly_info(anomaly)->held_out,
                        COPIES);
        CU_ASSERT_EQUAL(glcnn_anomaly_begin(anomaly, &path, 1, error), GLCNN_SUCCESS);
        while (glcnn_anomaly_next(anomaly, &score, error) == GLCNN_SUCCESS && score)
            CU_ASSERT(score->is_finite);
        CU_ASSERT_EQUAL(glcnn_anomaly_summarise(anomaly)->normal_count, COPIES);
        CU_ASSERT_EQUAL(glcnn_anomaly_summarise(anomaly)->defect_count, COPIES);
        glcnn_anomaly_destroy(&anomaly);
    }
}

static void objects_are_learned_by_the_tool(void)
{
    static char log[65536];
    char command[2048], bank[300], net[300];
    if (!unit_is_check())
        return;
    snprintf(net, sizeof net, "%s", data_path("by_c.safetensors"));
    snprintf(bank, sizeof bank, "%s", data_path("bank.safetensors"));
    for (int i = 0; i < OBJECTS; i++) {
        const char *path = data_path(objects[i]);
        snprintf(command, sizeof command,
                 "'%s/glcnn' anomaly fit '%s' --model '%s' --out '%s' --force 2>&1 && "
                 "'%s/glcnn' anomaly score '%s' '%s' 2>&1",
                 build_folder, path, net, bank, build_folder, bank, path);
        CU_ASSERT_TRUE(run_command(command, log, sizeof log));
        CU_ASSERT_PTR_NOT_NULL(strstr(log, "patches of 7 pictures"));
        CU_ASSERT_PTR_NOT_NULL(strstr(log, "of 10 anomalous pictures, "));
        CU_ASSERT_PTR_NOT_NULL(strstr(log, "of 10 normal ones"));
    }
}

static const char anomaly_script[] =
    "import glcnn.anomaly, sys\n"
    "for path in sys.argv[2:]:\n"
    "    bank = glcnn.anomaly.fit(sys.argv[1], path)\n"
    "    print(len(list(bank.score(path))), bank.summary.normal, bank.summary.defects)\n";

static void objects_are_learned_in_python(void)
{
    static char printed[65536];
    char command[2048], net[300];
    if (!unit_is_check() || !has_python())
        return;
    data_write_text("anomaly.py", anomaly_script);
    snprintf(net, sizeof net, "%s", data_path("by_c.safetensors"));
    snprintf(command, sizeof command,
             PYTHON
             "PYTHONDONTWRITEBYTECODE=1 GLCNN_LIBRARY='%s' PYTHONPATH='%s' $python '%s' '%s' "
             "'%s' '%s' 2>/dev/null",
             build_folder, data_folder(), data_path("anomaly.py"), net, data_path(objects[0]),
             data_path(objects[1]));
    CU_ASSERT_TRUE(run_command(command, printed, sizeof printed));
    CU_ASSERT_STRING_EQUAL(printed, "20 10 10\n20 10 10\n");
}

/* Reads the folder, whose targets are found without being asked for. */
static void check(const struct export *e)
{
    write_folder(e->folder, e->files);
    train_later(e);
    expect_guess(opened(e), GLCNN_DATA_TARGETS_BOXES);
    glcnn_dataset *data =
        data_open(opened(e), &(struct glcnn_data_parameters){.targets = GLCNN_DATA_TARGETS_BOXES});
    if (!data)
        return;
    CU_ASSERT_STRING_EQUAL(glcnn_dataset_info(data)->format, e->format);
    CU_ASSERT_STRING_EQUAL(data_describe_classes(data), e->classes);
    for (int part = 0; part < GLCNN_DATA_PARTS; part++) {
        const char *expected = e->parts[part] ? e->parts[part] : "",
                   *found = data_describe_boxes(data, (glcnn_data_part)part);
        CU_ASSERT_STRING_EQUAL(found, expected);
        if (strcmp(found, expected) != 0)
            printf("\n    %s: part %d: \"%s\", expected \"%s\"\n", e->folder, part, found,
                   expected);
    }
    if (e->decision)
        CU_ASSERT(data_says(data, glcnn_dataset_decision, e->decision));
    const char *note = glcnn_dataset_note(data, 0);
    CU_ASSERT(e->note ? data_says(data, glcnn_dataset_note, e->note) : !note);
    if (!e->note && note)
        printf("\n    %s: %s\n", e->folder, note);
    glcnn_dataset_destroy(&data);
}

static void check_all(const struct export *e, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check(&e[i]);
}

#define CHECK_ALL(exports) check_all(exports, sizeof exports / sizeof *exports)

/* ---- YOLO ---- */

#define CAT  "0 0.5 0.5 0.5 0.5\n"
#define DOG  "1 0.5 0.5 0.5 0.5\n"
#define A    "a.png: cat 0.25 0.25 0.75 0.75"
#define B    "b.png: dog 0.25 0.25 0.75 0.75"
#define C    "c.png: cat 0.25 0.25 0.75 0.75"
#define BOTH "names: [cat, dog]\n"

/* https://docs.ultralytics.com/datasets/detect/: path, train, val and test, each a folder, a list of
 * folders or a list file; check_det_dataset and img2label_paths of ultralytics/data/utils.py. */
static void ultralytics(void)
{
    static const struct export exports[] = {
        {.folder = "lists",
         .files = {{"images/a.png", NULL},
                   {"images/b.png", NULL},
                   {"images/c.png", NULL},
                   {"labels/a.txt", CAT},
                   {"labels/b.txt", DOG},
                   {"labels/c.txt", CAT},
                   {"data.yaml", "path: .\ntrain: train.txt\nval: val.txt\n" BOTH},
                   {"train.txt", "./images/c.png\n./images/a.png\n"},
                   {"val.txt", "./images/b.png\r\n"}},
         .format = "yolo",
         .classes = "cat dog",
         .parts = {A "; " C, B}},
        {.folder = "folders",
         .files = {{"pictures/one/images/a.png", NULL},
                   {"pictures/one/labels/a.txt", CAT},
                   {"pictures/two/c.png", NULL},
                   {"pictures/two/c.txt", CAT},
                   {"held back/images/day/b.png", NULL},
                   {"held back/labels/day/b.txt", DOG},
                   {"data.yaml", "train:\n- pictures/one/images\n- pictures/two\nval: held back\n"
                                 "names: {1: dog, 0: cat}\n"}},
         .format = "yolo",
         .classes = "cat dog",
         .parts = {A "; " C, B}},
        /* https://docs.ultralytics.com/datasets/pose/: the box, then x, y and what is seen of each point. */
        {.folder = "pose",
         .files = {{"images/a.png", NULL},
                   {"images/b.png", NULL},
                   {"labels/a.txt", "0 0.5 0.5 0.5 0.5 0.1 0.1 1 0 0 0\n"},
                   {"labels/b.txt", "1 0.5 0.5 0.5 0.5 0.9 0.9 1 0.1 0.1 1\n"},
                   {"data.yaml", "kpt_shape: [2, 3]\n" BOTH}},
         .format = "yolo",
         .classes = "cat dog",
         .parts = {A "; " B},
         .points = "0_x 0_y 1_x 1_y",
         .decision =
             "objects have keypoints, and their boxes are learned; --task keypoints learns"},
        {.folder = "capitals",
         .files = {{"images/a.png", NULL}, {"labels/a.TXT", CAT}, {"DATA.YAML", BOTH}},
         .format = "yolo",
         .classes = "cat dog",
         .parts = {A}},
        {.folder = "elsewhere",
         .files = {{"images/train/a.png", NULL},
                   {"labels/train/a.txt", CAT},
                   {"images/val/b.png", NULL},
                   {"labels/val/b.txt", DOG},
                   {"coco8.yaml", "path: ../datasets/coco8\ntrain: images/train\nval: images/val\n"
                                  "test: # none\n" BOTH}},
         .format = "yolo",
         .classes = "cat dog",
         .parts = {A, B},
         .decision = "path: \"../datasets/coco8\" is no folder here, so paths begin at that of"},
        {.folder = "below",
         .files = {{"set/images/train/a.png", NULL},
                   {"set/labels/train/a.txt", CAT},
                   {"here/data.yaml", "path: ../set\ntrain: images/train\nval: images/val\n" BOTH}},
         .open = "here/data.yaml",
         .format = "yolo",
         .classes = "cat dog",
         .parts = {A},
         .decision = "val: \"images/val\" is not there, and is not read"},
        {.folder = "gone",
         .files = {{"images/train/a.png", NULL},
                   {"labels/train/a.txt", CAT},
                   {"data.yaml", "train: pictures\n" BOTH}},
         .format = "yolo",
         .classes = "cat dog",
         .parts = {A},
         .decision = "train: \"pictures\" is not there, so parts are those that folders are named"},
        {.folder = "same", /* as coco128.yaml */
         .files = {{"images/train2017/a.png", NULL},
                   {"labels/train2017/a.txt", CAT},
                   {"data.yaml", "train: images/train2017\nval: images/train2017\n" BOTH}},
         .format = "yolo",
         .classes = "cat dog",
         .parts = {A},
         .decision = "val: \"images/train2017\" is of the training part too, and is read for that"},
        {.folder = "missing",
         .files = {{"images/a.png", NULL},
                   {"labels/a.txt", CAT},
                   {"data.yaml", "train: train.txt\n" BOTH},
                   {"train.txt", "images/a.png\nimages/b.png\n/home/me/set/images/c.png\n"}},
         .format = "yolo",
         .classes = "cat dog",
         .parts = {A},
         .note = "lists /home/me/set/images/c.png, and no picture is called so; and so 1 more"}};
    CHECK_ALL(exports);
}

/* https://docs.roboflow.com, export "YOLOv8": data.yaml has paths as from a folder beside the data. */
static void roboflow_yolo(void)
{
    static const struct export export = {
        .folder = "roboflow",
        .files = {{"train/images/a.png", NULL},
                  {"train/labels/a.txt", CAT},
                  {"valid/images/b.png", NULL},
                  {"valid/labels/b.txt", DOG},
                  {"test/images/c.png", NULL},
                  {"test/labels/c.txt", CAT},
                  {"README.roboflow.txt", "one"},
                  {"data.yaml", "train: ../train/images\nval: ../valid/images\n"
                                "test: ../test/images\n\nnc: 2\nnames: ['cat', 'dog']\n\n"
                                "roboflow:\n  workspace: one\n  version: 1\n"}},
        .format = "yolo",
        .classes = "cat dog",
        .parts = {A, B, C}};
    check(&export);
}

/* https://docs.cvat.ai/docs/dataset_management/formats/format-yolo/ and format-yolo-ultralytics/ */
static void cvat_yolo(void)
{
    static const struct export exports[] = {
        {.folder = "cvat11",
         .files = {{"obj.data", "classes = 2\ntrain = data/train.txt\nvalid = data/valid.txt\n"
                                "names = data/obj.names\nbackup = backup/\n"},
                   {"obj.names", "cat\ndog\n"},
                   {"train.txt", "data/obj_train_data/a.png\ndata/obj_train_data/c.png\n"},
                   {"valid.txt", "data/obj_valid_data/b.png\n"},
                   {"obj_train_data/a.png", NULL},
                   {"obj_train_data/a.txt", CAT},
                   {"obj_train_data/c.png", NULL},
                   {"obj_train_data/c.txt", CAT},
                   {"obj_valid_data/b.png", NULL},
                   {"obj_valid_data/b.txt", DOG}},
         .format = "yolo",
         .classes = "cat dog",
         .parts = {A "; " C, B}},
        {.folder = "cvat_ultralytics",
         .files = {{"data.yaml", "names:\n  0: cat\n  1: dog\npath: .\ntrain: train.txt\n"},
                   {"train.txt", "data/images/train/a.png\n"},
                   {"images/train/a.png", NULL},
                   {"labels/train/a.txt", CAT}},
         .format = "yolo",
         .classes = "cat dog",
         .parts = {A}}};
    CHECK_ALL(exports);
}

/* ---- Odd fields ---- */

#define VOC(more, name, box)                                                                       \
    "<annotation><size><width>20</width><height>10</height><depth/></size><object><name>" name     \
    "</name>" more "<bndbox><xmin>6</xmin><ymin>3</ymin><xmax>15</xmax><ymax>7</ymax></bndbox>"    \
    "</object>" box "</annotation>"
#define AT "0.25 0.2 0.75 0.7"
#define NAMED_OF_128                                                                               \
    "one-hundred-and-twenty-eight-letters-are-more-than-a-place-has-room-for-and-so-this-element-" \
    "and-what-stands-in-it-are-passed-over-without"

static void one_odd_field_costs_itself(void)
{
    static const struct export exports[] = {
        /* Ultralytics' verify_image_label takes shares of -0.01 to 1.01. */
        {.folder = "below0",
         .files = {{"images/a.png", NULL},
                   {"images/b.png", NULL},
                   {"labels/a.txt", "0 0.25 0.5 0.5000001 1.004\n0 -1e-9 0.5 0.5 0.5\n"},
                   {"labels/b.txt", DOG},
                   {"data.yaml", BOTH}},
         .format = "yolo",
         .classes = "cat dog",
         .parts = {"a.png: cat 0 0 0.5 1, cat 0 0.25 0.25 0.75; " B}},
        /* https://docs.ultralytics.com/datasets/segment/: class and the points of an outline. */
        {.folder = "outlines",
         .files = {{"images/a.png", NULL},
                   {"images/b.png", NULL},
                   {"labels/a.txt", "0 0.25 0.5 0.5 0.25 0.75 0.5 0.5 0.75\n"},
                   {"labels/b.txt", "1 0.25 0.25 0.75 0.25 0.75 0.75 0.25 0.75\n"},
                   {"data.yaml", BOTH}},
         .format = "yolo",
         .classes = "cat dog",
         .parts = {A "; " B}},
        /* Make Sense's exporter: <difficult>Unspecified. */
        {.folder = "unspecified",
         .files = {{"a.png", NULL},
                   {"b.png", NULL},
                   {"c.png", NULL},
                   {"d.png", NULL},
                   {"e.png", NULL},
                   {"a.xml", VOC("<difficult>Unspecified</difficult>", "cat", "")},
                   {"b.xml", VOC("<difficult/>", "cat", "")},
                   {"c.xml", VOC("<difficult>True</difficult>", "cat", "")},
                   {"d.xml", VOC("<difficult>False</difficult>", "cat", "")},
                   {"e.xml", VOC("<" NAMED_OF_128 "><xmin>x</xmin></" NAMED_OF_128 ">", "cat",
                                 "<owner>me</owner>")}},
         .format = "voc",
         .classes = "cat",
         .parts = {"a.png: cat " AT "; b.png: cat " AT "; c.png: cat difficult " AT
                   "; d.png: cat " AT "; e.png: cat " AT}},
        {.folder = "voc_lists",
         .files = {{"JPEGImages/a.b.png", NULL},
                   {"JPEGImages/c d.png", NULL},
                   {"JPEGImages/e.png", NULL},
                   {"Annotations/a.b.xml", VOC("", "cat", "")},
                   {"Annotations/c d.xml", VOC("", "cat", "")},
                   {"Annotations/e.xml", VOC("", "cat", "")},
                   {"ImageSets/Main/train.txt", "a.b.png\nVOC\\JPEGImages\\c d.png  -1\n"},
                   {"ImageSets/Main/val.txt", "/home/me/JPEGImages/e.jpg\ne\n"}},
         .format = "voc",
         .classes = "cat",
         .parts = {"a.b.png: cat " AT "; c d.png: cat " AT, "e.png: cat " AT},
         .note = "has no picture e.jpg, which the part lists"},
        /* A .json beside YOLO's folders is no annotation. */
        {.folder = "json_beside",
         .files = {{"images/a.png", NULL},
                   {"labels/a.txt", CAT},
                   {"data.yaml", BOTH},
                   {"dataset-metadata.json", "{\"title\": \"images and annotations\"}"}},
         .format = "yolo",
         .classes = "cat dog",
         .parts = {A}}};
    CHECK_ALL(exports);
}

/* An image number 1, a.png, with such annotations, and such categories. */
#define COCO(file, annotations, categories)                                                         \
    "{\"info\": {}, \"images\": [{\"id\": 1, \"width\": 20, \"height\": 10, \"file_name\": \"" file \
    "\"}], \"annotations\": [" annotations "], \"categories\": [" categories "]}"
#define OBJECT(more)  "{\"id\": 1, \"image_id\": 1, \"category_id\": 1, " more "}"
#define CATEGORY      "{\"id\": 1, \"name\": \"cat\"}"
#define BOX           "\"bbox\": [5, 2.5, 10, 5]"
#define POLYGON(more) "\"segmentation\": [[5, 2.5, 15, 2.5, 15, 7.5]" more "]"

/* https://cocodataset.org/#format-data, and what exporters make of it. */
static void coco(void)
{
    static const struct export exports[] = {
        {.folder = "nobox",
         .files =
             {{"images/a.png", NULL},
              {"annotations/instances_train.json",
               COCO(
                   "a.png",
                   OBJECT(POLYGON("")) ", " OBJECT("\"bbox\": [], \"iscrowd\": 0, " POLYGON(
                       ",[5, 7.5, 6, 7.5, 5, 7]")) ", " OBJECT("\"bbox\": [0,0,0,0], " POLYGON("")) ", "
                   /* Rows 3 to 6 of columns 5 and 6. */
                   OBJECT("\"segmentation\": {\"size\": [10, 20], \"counts\": [53, 4, 6, "
                          "4, 133]}"),
                   CATEGORY)}},
         .format = "coco",
         .classes = "cat",
         .parts = {A ", cat 0.25 0.25 0.75 0.75, cat 0.25 0.25 0.75 0.75, cat 0.25 0.3 0.35 0.7"}},
        /* Roboflow's root category. */
        {.folder = "root",
         .files = {{"a.png", NULL},
                   {"_annotations.coco.json",
                    COCO("a.png", OBJECT(BOX),
                         "{\"id\": 0, \"name\": \"cat\", \"supercategory\": "
                         "\"none\"}, " CATEGORY)}},
         .format = "coco",
         .classes = "cat",
         .parts = {A}},
        {.folder = "backslash",
         .files = {{"images/a.png", NULL},
                   {"result.json", COCO("images\\\\a.png", OBJECT(BOX), CATEGORY)}},
         .format = "coco",
         .classes = "cat",
         .parts = {A}},
        {.folder = "machine",
         .files = {{"images/a.png", NULL},
                   {"result.json", COCO("/home/me/set/a.png", OBJECT(BOX), CATEGORY)}},
         .format = "coco",
         .classes = "cat",
         .parts = {A}},
        /* person_keypoints_val2017.json has boxes of persons too. */
        {.folder = "keypoints",
         .files = {{"train/a.png", NULL},
                   {"annotations/cat_keypoints_train.json",
                    COCO(
                        "a.png",
                        OBJECT(BOX ", \"num_keypoints\": 2, \"keypoints\": [6,3,2, 14,7,1, 0,0,0]"),
                        "{\"id\": 1, \"name\": \"cat\", \"keypoints\": [\"nose\", \"tail\", "
                        "\"paw\"], \"skeleton\": [[1, 2]]}")}},
         .format = "coco",
         .classes = "cat",
         .parts = {A},
         .points = "nose_x nose_y tail_x tail_y paw_x paw_y",
         .decision =
             "objects have keypoints, and their boxes are learned; --task keypoints learns"},
        /* https://docs.cvat.ai/docs/dataset_management/formats/format-coco/: images/<subset>/ */
        {.folder = "subset",
         .files = {{"images/default/a.png", NULL},
                   {"annotations/instances_default.json", COCO("a.png", OBJECT(BOX), CATEGORY)}},
         .format = "coco",
         .classes = "cat",
         .parts = {A}},
        {.folder = "texts",
         .files = {{"images/a.png", NULL},
                   {"notes.json", "{\"images\": 3}"},
                   {"result.json",
                    "{\"images\": [{\"id\": \"f-1\", \"file_name\": \"a.png\"}], \"annotations\": "
                    "[{\"image_id\": \"f-1\", \"category_id\": \"k2\", " BOX
                    "}, {\"image_id\": \"f-1\", "
                    "\"category_id\": 7, " BOX
                    "}], \"categories\": [{\"id\": \"k2\", \"name\": \"dog\"}, "
                    "{\"id\": \"7\", \"name\": \"cat\"}]}"}},
         .format = "coco",
         .classes = "cat dog",
         .parts = {"a.png: dog 0.25 0.25 0.75 0.75, cat 0.25 0.25 0.75 0.75"}}};
    CHECK_ALL(exports);
}

/* https://docs.roboflow.com and https://labelstud.io/guide/export: COCO and VOC in a folder of each part,
 * YOLO and COCO with notes.json, as label-studio-sdk's converter writes them. */
static void roboflow_and_label_studio(void)
{
    static const struct export exports[] = {
        {.folder = "roboflow_coco",
         .files = {{"train/a.png", NULL},
                   {"train/_annotations.coco.json", COCO("a.png", OBJECT(BOX), CATEGORY)},
                   {"valid/b.png", NULL},
                   {"valid/_annotations.coco.json", COCO("b.png", OBJECT(BOX), CATEGORY)},
                   {"README.roboflow.txt", "one"}},
         .format = "coco",
         .classes = "cat",
         .parts = {A, "b.png: cat 0.25 0.25 0.75 0.75"}},
        {.folder = "roboflow_voc",
         .files = {{"train/a.png", NULL},
                   {"train/a.xml", VOC("<pose>Unspecified</pose>", "cat", "")},
                   {"test/b.png", NULL},
                   {"test/b.xml", VOC("<occluded>0</occluded>", "cat", "")},
                   {"README.dataset.txt", "one"}},
         .format = "voc",
         .classes = "cat",
         .parts = {"a.png: cat " AT, NULL, "b.png: cat " AT}},
        {.folder = "studio_yolo",
         .files = {{"images/a.png", NULL},
                   {"labels/a.txt", CAT},
                   {"classes.txt", "cat\ndog\n"},
                   {"notes.json", "{\"categories\": [" CATEGORY "], \"info\": {}}"}},
         .format = "yolo",
         .classes = "cat dog",
         .parts = {A}},
        {.folder = "studio_coco",
         .files = {{"images/a.png", NULL},
                   {"result.json", COCO("images/a.png", OBJECT(BOX), CATEGORY)}},
         .format = "coco",
         .classes = "cat",
         .parts = {A}}};
    CHECK_ALL(exports);
}

#define LABELME(shapes)                                                                            \
    "{\"version\": \"5.4.1\", \"flags\": {}, \"shapes\": [" shapes                                 \
    "], \"imagePath\": \"a.png\", \"imageData\": null, \"imageHeight\": 10, \"imageWidth\": 20}"
#define SHAPE(label, type, points, more)                                                           \
    "{\"label\": \"" label "\", \"points\": [" points "], \"group_id\": null, "                    \
    "\"shape_type\": \"" type "\", \"flags\": {}" more "}"
#define HALF "[5, 2.5], [15, 2.5], [15, 7.5], [5, 7.5]"

/* labelme/_label_file.py, and examples/instance_segmentation/labelme2coco.py of it: _background_ is category 0. */
static void labelme(void)
{
    static const struct export exports[] =
        {{.folder = "labelme",
          .files = {{"a.png", NULL},
                    {"b.png", NULL},
                    {"a.json", LABELME(SHAPE("cat", "polygon", HALF, ""))},
                    {"b.json",
                     LABELME(SHAPE("dog", "rectangle", "[15, 7.5], [5, 2.5]", "") ", " SHAPE(
                         "__ignore__", "rectangle", "[15, 7.5], [5, 2.5]",
                         "") ", " SHAPE("dog", "circle", "[10, 5], [10, 7.5]",
                                        "") ", " SHAPE("dog", "point", "[10, 5]", ""))}},
          .format = "labelme",
          .classes = "cat dog",
          .parts = {A "; " B ", dog 0.375 0.25 0.625 0.75"},
          .decision = "objects have outlines, of which the boxes are learned",
          .note = "b.json: shapes[3] is a point, which has no pixels, and is left out"},
         {.folder = "labelme_parts",
          .files = {{"train/images/a.png", NULL},
                    {"train/labels/a.json", LABELME(SHAPE("cat", "polygon", HALF, ""))},
                    {"val/images/b.png", NULL},
                    {"val/labels/b.json",
                     LABELME(SHAPE("dog", "rectangle", "[5, 2.5], [15, 7.5]", ""))}},
          .format = "labelme",
          .classes = "cat dog",
          .parts = {A, B}},
         {.folder = "labelme_groups",
          .files =
              {{"a.png", NULL},
               {"a.json",
                "{\"version\": \"4.5.6\", \"flags\": {}, \"shapes\": [{\"label\": \"cat\", "
                "\"points\": [[5, 2.5], [6, 2.5], [5, 3]], \"group_id\": 0}, {\"label\": \"cat\", "
                "\"points\": [[15, 7.5], [15, 7], [14, 7]], \"group_id\": 0}], \"imagePath\": "
                "\"a.png\"}"}},
          .format = "labelme",
          .classes = "cat",
          .parts = {A}},
         {.folder = "labelme2coco",
          .files =
              {{"JPEGImages/a.png", NULL},
               {"Visualization/a.png", NULL},
               {"annotations.json",
                COCO("JPEGImages/a.png", OBJECT(BOX ", " POLYGON("")),
                     "{\"supercategory\": null, \"id\": 0, \"name\": \"_background_\"}, " CATEGORY)}},
          .format = "coco",
          .classes = "cat",
          .parts = {A}}};
    CHECK_ALL(exports);
}

/* src/logic/export/RectLabelsExporter.ts of Make Sense: labels beside each other or, of CSV, one file whose lines have
 * no names; its pictures lie beside them. */
static void make_sense(void)
{
    static const struct export exports[] = {
        {.folder = "sense_yolo",
         .files = {{"a.png", NULL}, {"b.png", NULL}, {"a.txt", CAT}, {"b.txt", DOG}},
         .format = "yolo",
         .classes = "0 1",
         .parts = {"a.png: 0 0.25 0.25 0.75 0.75; b.png: 1 0.25 0.25 0.75 0.75"},
         .decision = "has no data.yaml, classes.txt or obj.names, so classes are named 0 to 1"},
        {.folder = "sense_csv",
         .files = {{"images/a.png", NULL},
                   {"images/b.png", NULL},
                   {"images/c.png", NULL},
                   {"labels_my-project_2024.CSV",
                    "dog,5,2.5,10,5,b.png,20,10\r\ncat,5,2.5,10,5,a.png,20,10\r\n"
                    "dog,0,0,20,10,b.png,20,10\r\n"}},
         .format = "csv",
         .classes = "cat dog",
         .parts = {B ", dog 0 0 1 1; " A "; c.png"},
         .decision = "c.png: is in no line of"},
        {.folder = "sense_names",
         .files = {{"a.png", NULL},
                   {"labels.csv",
                    "label_name,bbox_x,bbox_y,bbox_width,bbox_height,image_name,image_width,"
                    "image_height\ncat,5,2.5,10,5,a.png,20,10\ncat,5,2.5,10,5,b.png,20,10\n"}},
         .format = "csv",
         .classes = "cat",
         .parts = {A},
         .note = "labels.csv: line 3: there is no picture b.png in"},
        /* Roboflow's "Tensorflow Object Detection". */
        {.folder = "roboflow_csv",
         .files = {{"train/a.png", NULL},
                   {"train/_annotations.csv", "filename,width,height,class,xmin,ymin,xmax,ymax\n"
                                              "a.png,20,10,cat,5,2.5,15,7.5\n"},
                   {"valid/b.png", NULL},
                   {"valid/_annotations.csv", "filename,width,height,class,xmin,ymin,xmax,ymax\n"
                                              "b.png,20,10,dog,5,2.5,15,7.5\n"}},
         .format = "csv",
         .classes = "cat dog",
         .parts = {A, B}}};
    CHECK_ALL(exports);
}

/* Label Studio's VOC has folders images and Annotations; LabelImg saves beside the pictures. Archives unpack into a
 * folder of their own. */
static void folders_as_people_have_them(void)
{
    static const struct export exports[] = {
        {.folder = "studio_voc",
         .files = {{"images/a.png", NULL},
                   {"Annotations/a.xml",
                    VOC("<pose>Unspecified</pose><difficult>0</difficult>", "cat", "")}},
         .format = "voc",
         .classes = "cat",
         .parts = {"a.png: cat " AT}},
        {.folder = "cvat_voc",
         .files = {{"JPEGImages/a.png", NULL},
                   {"JPEGImages/b.png", NULL},
                   {"Annotations/a.xml", VOC("<occluded>0</occluded>", "cat", "")},
                   {"Annotations/b.xml", VOC("<occluded>0</occluded>", "dog", "")},
                   {"ImageSets/Main/default.txt", "a\nb\n"},
                   {"labelmap.txt", "# label:color_rgb:parts:actions\ncat:1,2,3::\ndog:3,2,1::\n"}},
         .format = "voc",
         .classes = "cat dog",
         .parts = {"a.png: cat " AT "; b.png: dog " AT}},
        {.folder = "labelimg_yolo",
         .files = {{"images/a.png", NULL},
                   {"images/a.txt", CAT},
                   {"images/b.png", NULL},
                   {"images/b.txt", DOG},
                   {"images/classes.txt", "cat\ndog\n"}},
         .format = "yolo",
         .classes = "cat dog",
         .parts = {A "; " B}},
        {.folder = "labelimg_parts",
         .files = {{"images/train/a.png", NULL},
                   {"images/train/a.txt", CAT},
                   {"images/val/b.png", NULL},
                   {"images/val/b.txt", DOG},
                   {"classes.txt", "cat\ndog\n"}},
         .format = "yolo",
         .classes = "cat dog",
         .parts = {A, B}},
        {.folder = "labelimg_voc",
         .files = {{"images/a.png", NULL}, {"images/a.xml", VOC("", "cat", "")}},
         .format = "voc",
         .classes = "cat",
         .parts = {"a.png: cat " AT}},
        {.folder = "deep",
         .files = {{"My project.v1i.yolov8/train/images/a.png", NULL},
                   {"My project.v1i.yolov8/train/labels/a.txt", CAT},
                   {"My project.v1i.yolov8/data.yaml", BOTH},
                   {"README.txt", "one"}},
         .format = "yolo",
         .classes = "cat dog",
         .parts = {A},
         .decision = "deep: has nothing but a folder, and "},
        /* Roboflow's root category. */
        {.folder = "root_category",
         .files = {{"train/a.png", NULL},
                   {"train/_annotations.coco.json",
                    COCO("a.png", OBJECT(BOX),
                         "{\"id\": 0, \"name\": \"animals\", \"supercategory\": \"none\"}, "
                         "{\"id\": 1, \"name\": \"cat\", \"supercategory\": \"animals\"}")}},
         .format = "coco",
         .classes = "cat",
         .parts = {A},
         .decision = "the category \"animals\" has no objects"}};
    CHECK_ALL(exports);
    /* Classes, too, may lie one level deeper. */
    write_folder("deep_classes", (const struct file[]){{"fruit/apple/a.png", NULL},
                                                       {"fruit/pear/b.png", NULL},
                                                       {NULL, NULL}});
    glcnn_dataset *data = data_open("deep_classes", NULL);
    CU_ASSERT_STRING_EQUAL(data_describe_classes(data), "apple pear");
    glcnn_dataset_destroy(&data);
}

/* Whoever has 120 files that are not read is to hear what they are, and why. */
static void refusals_say_why(void)
{
    static const struct glcnn_data_parameters boxes = {.targets = GLCNN_DATA_TARGETS_BOXES};
    write_folder("why", (const struct file[]){{"images/a.png", NULL},
                                              {"images/b.png", NULL},
                                              {"labels/a.txt", "0 0.5 0.5 0.5 320\n"},
                                              {"labels/b.txt", "0 0.5 0.5 0.5 320\n"},
                                              {NULL, NULL}});
    data_refuses("why", &boxes, GLCNN_MALFORMED_DATA, "(2 pictures were skipped, 0 other files");
    data_refuses("why", &boxes, GLCNN_MALFORMED_DATA,
                 "a.txt: line 1: height is 320; expected a share of the picture, 0 to 1");
    data_write_text("why/labels/b.txt", "");
    data_refuses("why", &boxes, GLCNN_MALFORMED_DATA,
                 "no picture has a box (1 pictures were skipped); expected some to train on: ");
    write_folder("only_texts", (const struct file[]){{"cat/a.txt", "a"},
                                                     {"cat/b.txt", "b"},
                                                     {"cat/c.json", "{}"},
                                                     {"cat/d", "d"},
                                                     {NULL, NULL}});
    data_refuses(
        "only_texts", NULL, GLCNN_MALFORMED_DATA,
        "4 other files ignored (2 .txt, 1 .json, 1 without an ending)); expected a folder");
    write_folder("only_boxes", (const struct file[]){{"annotations/instances_train.json",
                                                      COCO("a.png", OBJECT(BOX), CATEGORY)},
                                                     {"train/a.png", NULL},
                                                     {NULL, NULL}});
    data_refuses("only_boxes", NULL, GLCNN_MALFORMED_DATA, "boxes (--task detect) are there");
}

/* ---- Masks, classes and boxes ---- */

static void write_masks(const char *folder, const char *names)
{
    char path[256];
    for (; *names; names++) {
        snprintf(path, sizeof path, "%s/%c.png", folder, *names);
        data_write_png(path,
                       &(struct data_png){.width = 20, .height = 10, .value = black_and_white});
    }
}

static void write_pictures(const char *folder, const char *names)
{
    for (char name[] = "a.png"; *names; names++) {
        name[0] = *names;
        write_folder(folder, (const struct file[]){{name, NULL}, {NULL, NULL}});
    }
}

/* Pictures against masks would be learned as two classes. */
static void pictures_and_masks_are_no_classes(void)
{
    static const char *const pairs[][2] = {
        {"image", "mask"},         {"Images", "Masks"}, {"JPEGImages", "SegmentationClass"},
        {"images", "annotations"}, {"img", "label"},    {"train/image", "train/mask"}};
    char folder[64], pictures[128], masks[128];
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        snprintf(folder, sizeof folder, "pair%zu", i);
        snprintf(pictures, sizeof pictures, "%s/%s", folder, pairs[i][0]);
        snprintf(masks, sizeof masks, "%s/%s", folder, pairs[i][1]);
        write_pictures(pictures, "ab");
        write_masks(masks, "ab");
        expect_guess(folder, GLCNN_DATA_TARGETS_MASKS);
        glcnn_dataset *data =
            data_open(folder, &(struct glcnn_data_parameters){.targets = GLCNN_DATA_TARGETS_MASKS});
        CU_ASSERT_EQUAL(glcnn_dataset_info(data)->counts[GLCNN_DATA_PART_TRAINING], 2);
        CU_ASSERT_EQUAL(glcnn_dataset_info(data)->class_count, 2);
        glcnn_dataset_destroy(&data);
        data_refuses(folder, NULL, GLCNN_MALFORMED_DATA,
                     "are no classes, but pictures and what is said of them; masks are read as "
                     "targets that are masks (--task segment)");
    }
}

/* What JPEG rounds is no value of a mask any more. */
static void masks_of_jpeg_are_refused_by_name(void)
{
    static const struct glcnn_data_parameters masks = {.targets = GLCNN_DATA_TARGETS_MASKS};
    write_pictures("jpegs/images", "a");
    data_write_jpeg(
        "jpegs/masks/a.jpg",
        &(struct data_jpeg){.width = 20, .height = 10, .components = 1, .value = black_and_white});
    data_refuses("jpegs", &masks, GLCNN_MALFORMED_DATA,
                 "jpegs/masks/a.jpg: masks are PNG, and JPEG does not keep their values");
    data_refuses("jpegs", &masks, GLCNN_MALFORMED_DATA, "expected pictures with masks: ");
}

static void what_fits_two_things_is_a_question(void)
{
    write_pictures("voc2012/JPEGImages", "ab");
    write_masks("voc2012/SegmentationClass", "ab");
    data_write_text("voc2012/Annotations/a.xml", VOC("", "cat", ""));
    expect_guess("voc2012", GLCNN_DATA_TARGETS_CLASSES);
    data_refuses(
        "voc2012", NULL, GLCNN_MALFORMED_DATA,
        "it is not clear which are meant: --task segment reads masks, --task detect boxes");
    write_pictures("unknown/images", "ab");
    write_pictures("unknown/ground", "ab");
    write_pictures("unknown/annotations", "ab");
    data_write_text("unknown/annotations/a.txt", "a cat");
    expect_guess("unknown", GLCNN_DATA_TARGETS_CLASSES);
    data_refuses("unknown", NULL, GLCNN_MALFORMED_DATA, "are no classes, but pictures and what is");
    /* Folders that are called so because of what their pictures show. */
    write_pictures("faces/mask", "ab");
    write_pictures("faces/no_mask", "ab");
    expect_guess("faces", GLCNN_DATA_TARGETS_CLASSES);
    glcnn_dataset *data = data_open("faces", NULL);
    CU_ASSERT_STRING_EQUAL(data_describe_classes(data), "mask no_mask");
    glcnn_dataset_destroy(&data);
    /* Texts beside pictures of classes are no boxes. */
    write_pictures("texts_beside/cat", "ab");
    write_pictures("texts_beside/dog", "ab");
    data_write_text("texts_beside/README.txt", "1 2 3");
    data_write_text("texts_beside/cat/a.txt", "a cat");
    expect_guess("texts_beside", GLCNN_DATA_TARGETS_CLASSES);
    /* Nor are texts, or annotations, of the name of another file that is no picture. */
    write_pictures("no_pictures_beside", "a");
    data_write_text("no_pictures_beside/run.txt", "0 0.5 0.5 0.5 0.5");
    data_write_text("no_pictures_beside/run.csv", "step,loss");
    data_write_text("no_pictures_beside/run.xml", "<annotation/>");
    expect_guess("no_pictures_beside", GLCNN_DATA_TARGETS_CLASSES);
}

/* Colours of CVAT's labelmap.txt: a cat in the right half of a picture. */
static uint32_t coloured(uint32_t x, uint32_t y, uint32_t c)
{
    (void)y;
    return x < 10 ? 0 : c == 0 ? 128 : c == 1 ? 0 : 64;
}

static uint32_t two_values(uint32_t x, uint32_t y, uint32_t c)
{
    (void)y, (void)c;
    return x >= 10;
}

/* CVAT's Segmentation mask 1.1, and Roboflow's masks. */
static void coloured_masks_train(void)
{
    static const uint32_t parts[GLCNN_DATA_PARTS] = {COPIES},
                          both[GLCNN_DATA_PARTS] = {COPIES, COPIES};
    char path[128];
    for (char name = 'a'; name <= 'j'; name++) {
        snprintf(path, sizeof path, "many/cvat_masks/SegmentationClass/%c.png", name);
        data_write_png(path, &(struct data_png){
                                 .width = 20, .height = 10, .colour_type = 2, .value = coloured});
        snprintf(path, sizeof path, "many/cvat_masks/SegmentationObject/%c.png", name);
        data_write_png(path, &(struct data_png){
                                 .width = 20, .height = 10, .colour_type = 2, .value = coloured});
        for (int part = 0; part < 2; part++) {
            snprintf(path, sizeof path, "many/roboflow_masks/%s/%c_mask.png",
                     part ? "valid" : "train", name);
            data_write_png(path,
                           &(struct data_png){.width = 20, .height = 10, .value = two_values});
        }
    }
    write_pictures("many/cvat_masks/JPEGImages", "abcdefghij");
    data_write_text("many/cvat_masks/labelmap.txt", "# label:color_rgb:parts:actions\n"
                                                    "background:0,0,0::\ncat:128,0,64::\n");
    data_write_text("many/cvat_masks/ImageSets/Segmentation/default.txt",
                    "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n");
    note_trained("many/cvat_masks", parts, "background cat", NULL);
    write_pictures("many/roboflow_masks/train", "abcdefghij");
    write_pictures("many/roboflow_masks/valid", "abcdefghij");
    data_write_text("many/roboflow_masks/train/_classes.csv",
                    "Pixel Value, Class\n0, background\n1, cat\n");
    data_write_text("many/roboflow_masks/valid/_classes.csv",
                    "Pixel Value, Class\n0, background\n1, cat\n");
    note_trained("many/roboflow_masks", both, "background cat", NULL);
}

/* Label Studio's brush: two strokes of each picture. */
static void brush_trains(void)
{
    static const uint32_t parts[GLCNN_DATA_PARTS] = {COPIES};
    char path[128];
    for (int task = 1; task <= COPIES; task++) {
        snprintf(path, sizeof path, "many/brush/images/%d.png", task);
        data_write_png(path, &(struct data_png){.width = 20, .height = 10, .value = grey});
        for (int stroke = 0; stroke < 2; stroke++) {
            snprintf(path, sizeof path, "many/brush/task-%d-annotation-%d-by-1-tag-cat-%d.png",
                     task, task + 20, stroke);
            data_write_png(path,
                           &(struct data_png){.width = 20, .height = 10, .value = black_and_white});
        }
    }
    note_trained("many/brush", parts, "background cat", NULL);
}

/* A class of each picture, as lists of competitions have it. */
static void lists_train(void)
{
    static const uint32_t parts[GLCNN_DATA_PARTS] = {COPIES, COPIES};
    write_pictures("many/list/train", "abcdefghij");
    write_pictures("many/list/val", "abcdefghij");
    data_write_text("many/list/train.csv",
                    "image,label\na.png,pear\nb.png,apple\nc.png,pear\nd.png,apple\ne.png,pear\n"
                    "f.png,apple\ng.png,pear\nh.png,apple\ni.png,pear\nj.png,apple\n");
    data_write_text("many/list/val.csv",
                    "image,label\na.png,pear\nb.png,apple\nc.png,pear\nd.png,apple\ne.png,pear\n"
                    "f.png,apple\ng.png,pear\nh.png,apple\ni.png,pear\nj.png,apple\n");
    note_trained("many/list", parts, "apple pear", NULL);
}

/* Masks, classes, and what fits two things, with the option that the question names. */
static void other_folders_train(void)
{
    static const uint32_t parts[GLCNN_DATA_PARTS] = {COPIES}, both[GLCNN_DATA_PARTS] = {2 * COPIES};
    if (!unit_is_check())
        return;
    write_pictures("many/masks/images", "abcdefghij");
    write_masks("many/masks/masks", "abcdefghij");
    note_trained("many/masks", parts, "0 255", NULL);
    write_pictures("many/fruit/apple", "abcdefghij");
    write_pictures("many/fruit/pear", "abcdefghij");
    note_trained("many/fruit", both, "apple pear", NULL);
    write_pictures("many/voc2012/JPEGImages", "abcdefghij");
    write_masks("many/voc2012/SegmentationClass", "abcdefghij");
    for (char name[] = "many/voc2012/Annotations/a.xml", *at = strchr(name, '.') - 1; *at <= 'j';
         ++*at)
        data_write_text(name, VOC("", "cat", ""));
    note_trained("many/voc2012", parts, "cat", "detect");
    note_trained("many/voc2012", parts, "0 255", "segment");
    coloured_masks_train();
    brush_trains();
    lists_train();
}

int main(int argc, char **argv)
{
    /* BUILD/tests/data/test_data_exports */
    snprintf(build_folder, sizeof build_folder, "%s/../..", argv[0]);
    char *slash = strstr(build_folder, "/test_data_exports");
    if (slash)
        memmove(slash, slash + strlen("/test_data_exports"),
                strlen(slash + strlen("/test_data_exports")) + 1);
    CU_TestInfo tests[] = {
        UNIT_TEST(ultralytics),
        UNIT_TEST(roboflow_yolo),
        UNIT_TEST(cvat_yolo),
        UNIT_TEST(one_odd_field_costs_itself),
        UNIT_TEST(coco),
        UNIT_TEST(roboflow_and_label_studio),
        UNIT_TEST(labelme),
        UNIT_TEST(make_sense),
        UNIT_TEST(folders_as_people_have_them),
        UNIT_TEST(refusals_say_why),
        UNIT_TEST(pictures_and_masks_are_no_classes),
        UNIT_TEST(masks_of_jpeg_are_refused_by_name),
        UNIT_TEST(what_fits_two_things_is_a_question),
        UNIT_TEST(other_folders_train),
        UNIT_TEST(folders_train_by_c),
        UNIT_TEST(folders_train_by_the_tool),
        UNIT_TEST(folders_train_in_python),
        UNIT_TEST(objects_are_learned_by_c),
        UNIT_TEST(objects_are_learned_by_the_tool),
        UNIT_TEST(objects_are_learned_in_python),
        CU_TEST_INFO_NULL,
    };
    int status = unit_run("data exports", tests, argc, argv);
    data_remove_folder();
    return status;
}
