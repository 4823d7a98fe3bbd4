/* A training by pull: which events come in which order, what ends one, and that it prints nothing. With
 * GLCNN_TEST_CHECK=1 trainings for int8 too. */
#include "tests/fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glcnn/checkpoint.h>
#include <glcnn/node.h>
#include <glcnn/report.h>
#include <glcnn/task.h>

#define SIDE     28
#define PICTURES 20

static char folder[64];

/* IDX files of dark and bright pictures, by turns. */
static bool write_idx(const char *name, const unsigned char *head, size_t head_size, size_t each)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    fwrite(head, 1, head_size, file);
    for (uint32_t i = 0, seed = 1; i < PICTURES; i++)
        for (size_t k = 0; k < each; k++)
            fputc(each == 1 ? (int)(i % 2) : (int)(below(&seed, 60) + 190 * (i % 2)), file);
    return fclose(file) == 0;
}

static bool write_data(void)
{
    static const unsigned char images[16] = {0, 0, 8, 3,    0, 0, 0, PICTURES,
                                             0, 0, 0, SIDE, 0, 0, 0, SIDE},
                               labels[8] = {0, 0, 8, 1, 0, 0, 0, PICTURES};
    snprintf(folder, sizeof folder, "/tmp/test_train_events.XXXXXX");
    return mkdtemp(folder) &&
           write_idx("train-images-idx3-ubyte", images, sizeof images, SIDE * SIDE) &&
           write_idx("train-labels-idx1-ubyte", labels, sizeof labels, 1);
}

static void remove_data(void)
{
    static const char *const names[] = {
        "train-images-idx3-ubyte", "train-labels-idx1-ubyte", "m.safetensors", "m.best.safetensors",
        "p.safetensors",           "p.best.safetensors",      "m.features",    "p.features"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* ---- A run ---- */

struct run {
    glcnn_trainer *trainer;
    glcnn_train_settings *settings;
    char error[GLCNN_ERROR_LENGTH]; /* of a setting */
    size_t stop_after;              /* steps; 0: it is not stopped */
    size_t steps;
    bool is_resumed; /* in the midst of an epoch, of which some pictures were shown before */
    char order[256]; /* a letter for each event but notes and remarks */
    struct glcnn_train_event last;
    glcnn_status status;
    char failure[512]; /* the text of the end */
    double first_loss, loss;
};

static bool begin(struct run *r, const char *const *settings)
{
    glcnn_status status = GLCNN_SUCCESS;
    glcnn_train_settings_destroy(&r->settings);
    r->settings = glcnn_train_settings_create();
    for (; *settings && status == GLCNN_SUCCESS; settings += 2)
        status = glcnn_train_settings_set(r->settings, settings[0], settings[1], r->error);
    if (status == GLCNN_SUCCESS)
        status = glcnn_trainer_create(NULL, r->settings, &r->trainer, r->error);
    return status == GLCNN_SUCCESS;
}

static void take(struct run *r, const struct glcnn_train_event *event)
{
    static const char letters[] = "  CBESVWKTIZ"; /* of the kinds, in their order */
    const size_t length = strlen(r->order);
    if (letters[event->kind] != ' ' && length + 1 < sizeof r->order)
        r->order[length] = letters[event->kind];
    if (event->kind == GLCNN_TRAIN_STEP) {
        CU_ASSERT_EQUAL(event->step, r->steps);
        CU_ASSERT_STRING_EQUAL(event->task, "classify");
        CU_ASSERT_TRUE(event->epoch <= event->epochs);
        CU_ASSERT_TRUE(r->is_resumed || event->is_last == (event->done == event->images));
        r->steps++;
        r->loss = event->loss;
        if (r->steps == 1)
            r->first_loss = event->loss;
        if (r->steps == r->stop_after)
            glcnn_trainer_stop(r->trainer);
    }
    if (event->kind == GLCNN_TRAIN_EPOCH)
        CU_ASSERT_TRUE(event->validation_measure >= 0 && event->validation_measure <= 1);
    if (event->kind == GLCNN_TRAIN_END && event->text)
        snprintf(r->failure, sizeof r->failure, "%s", event->text);
    r->last = *event;
}

/* Standard output and standard error are files meanwhile, which stay empty. */
static void run_quietly(struct run *r)
{
    const struct glcnn_train_event *event;
    char path[] = "/tmp/test_train_events.XXXXXX";
    const int file = mkstemp(path);
    CU_ASSERT_TRUE_FATAL(file >= 0);
    unlink(path);
    fflush(NULL);
    const int out = dup(STDOUT_FILENO), error = dup(STDERR_FILENO);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    do {
        r->status = glcnn_trainer_next(r->trainer, &event);
        take(r, event);
    } while (r->status == GLCNN_SUCCESS && event->kind != GLCNN_TRAIN_END);
    fflush(NULL);
    dup2(out, STDOUT_FILENO);
    dup2(error, STDERR_FILENO);
    close(out);
    close(error);
    CU_ASSERT_EQUAL(lseek(file, 0, SEEK_END), 0);
    close(file);
    CU_ASSERT_EQUAL(glcnn_trainer_next(r->trainer, &event), r->status);
    CU_ASSERT_EQUAL(event->kind, GLCNN_TRAIN_END);
}

static void free_run(struct run **r)
{
    glcnn_trainer_destroy(&(*r)->trainer);
    glcnn_train_settings_destroy(&(*r)->settings);
    free(*r);
    *r = NULL;
}

static struct run *make_run(void)
{
    struct run *r = calloc(1, sizeof *r);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r);
    return r;
}

/* ---- Tests ---- */

static void a_training_tells_its_epochs_in_order(void)
{
    struct run *r = make_run();
    const char *const settings[] = {"data", folder, "net", "lenet",      "epochs", "2", "batch",
                                    "4",    "seed", "1",   "validation", "0.2",    NULL};
    CU_ASSERT_TRUE_FATAL(begin(r, settings));
    run_quietly(r);
    CU_ASSERT_STRING_EQUAL(r->order, "BESSSSVWKESSSSVWKWTZ");
    CU_ASSERT_EQUAL(r->last.status, GLCNN_SUCCESS);
    CU_ASSERT_FALSE(r->last.is_interrupted);
    CU_ASSERT_TRUE(r->loss < r->first_loss);
    free_run(&r);
}

static void a_stop_ends_after_the_step_and_saves(void)
{
    struct run *r = make_run();
    char out[128];
    snprintf(out, sizeof out, "%s/m.safetensors", folder);
    const char *const settings[] = {"data",       folder,  "net", "lenet", "epochs",
                                    "2",          "batch", "4",   "seed",  "1",
                                    "validation", "0.2",   "out", out,     NULL};
    CU_ASSERT_TRUE_FATAL(begin(r, settings));
    r->stop_after = 1; /* asked for before the second step begins, which is made */
    run_quietly(r);
    CU_ASSERT_STRING_EQUAL(r->order, "BESSWTIZ");
    CU_ASSERT_TRUE(r->last.is_interrupted);
    CU_ASSERT_EQUAL(access(out, F_OK), 0);
    free_run(&r);
}

static void a_training_that_cannot_begin_complains_and_ends(void)
{
    struct run *r = make_run();
    const char *const settings[] = {"data", "/tmp/there/is/no/such/folder", NULL};
    CU_ASSERT_TRUE_FATAL(begin(r, settings));
    run_quietly(r);
    CU_ASSERT_STRING_EQUAL(r->order, "CTZ");
    CU_ASSERT_EQUAL(r->last.status, GLCNN_INVALID_STATE);
    CU_ASSERT_EQUAL(r->status, GLCNN_INVALID_STATE);
    CU_ASSERT_PTR_NOT_NULL(strstr(r->failure, "/tmp/there/is/no/such/folder"));
    free_run(&r);
}

/* In the midst of an epoch; the device is the caller's. */
static void a_training_is_destroyed_anywhere(void)
{
    struct run *r = make_run();
    const struct glcnn_train_event *event;
    const char *const settings[] = {"data", folder, "net", "lenet", "batch", "4", NULL};
    CU_ASSERT_TRUE_FATAL(begin(r, settings));
    glcnn_trainer_destroy(&r->trainer);
    CU_ASSERT_PTR_NULL(r->trainer);
    glcnn_trainer_destroy(&r->trainer);
    glcnn_device *own = NULL;
    CU_ASSERT_EQUAL_FATAL(glcnn_device_create(NULL, &own), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(glcnn_trainer_create(own, r->settings, &r->trainer, r->error),
                          GLCNN_SUCCESS);
    do {
        CU_ASSERT_EQUAL(glcnn_trainer_next(r->trainer, &event), GLCNN_SUCCESS);
    } while (event->kind != GLCNN_TRAIN_STEP);
    glcnn_trainer_destroy(&r->trainer);
    CU_ASSERT_FALSE(glcnn_device_is_lost(own));
    glcnn_device_destroy(&own);
    free_run(&r);
}

/* ---- Training for int8 ---- */

/* A run into folder/name, which goes on with what is there where `first` steps were made, and is stopped once `stop`
 * steps were, where that is not 0. */
static void train_rounded(const char *name, const char *const more[4], size_t first, size_t stop)
{
    struct run *r = make_run();
    char out[128];
    snprintf(out, sizeof out, "%s/%s", folder, name);
    const char *const fresh[] = {"data",  folder,  "net",        "small", "epochs",  "5",
                                 "batch", "4",     "validation", "0.2",   "augment", "none",
                                 "force", "1",     "quantise",   "1",     "out",     out,
                                 more[0], more[1], more[2],      more[3], NULL},
                      *const resumed[] = {"data", folder, "resume", out, "out", out, NULL};
    CU_ASSERT_TRUE_FATAL(begin(r, first ? resumed : fresh));
    r->steps = first;
    r->is_resumed = first > 0;
    r->stop_after = stop ? stop - 1 : 0; /* the step that follows is made */
    run_quietly(r);
    CU_ASSERT_EQUAL(r->last.status, GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(r->steps, stop ? stop : 20);
    free_run(&r);
}

/* Reads a file of the folder; has it the ranges of int8? */
static uint8_t *read_file(const char *name, size_t *size, bool *has_ranges)
{
    char path[128], error[GLCNN_ERROR_LENGTH];
    uint8_t *bytes = malloc(1 << 20), *ranges = NULL;
    size_t count = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    CU_ASSERT_EQUAL(glcnn_checkpoint_read_bytes(path, "glcnn.int8", &ranges, &count, error),
                    GLCNN_SUCCESS);
    *has_ranges = ranges;
    free(ranges);
    return bytes;
}

/* Runs are cut off before the last tenth of twenty steps, which begins after 18, and in it. */
static void check_resumed(const char *const more[4])
{
    size_t size[2];
    bool has_ranges;
    train_rounded("m.safetensors", more, 0, 0);
    uint8_t *whole = read_file("m.safetensors", &size[0], &has_ranges);
    CU_ASSERT_TRUE(has_ranges);
    for (size_t stop = 18; stop < 20; stop++) {
        train_rounded("p.safetensors", more, 0, stop);
        free(read_file("p.safetensors", &size[1], &has_ranges));
        CU_ASSERT_EQUAL(has_ranges, stop > 18);
        train_rounded("p.safetensors", more, stop, 0);
        uint8_t *parts = read_file("p.safetensors", &size[1], &has_ranges);
        CU_ASSERT_TRUE(size[0] == size[1] && memcmp(whole, parts, size[0]) == 0);
        free(parts);
    }
    free(whole);
}

static void a_rounded_training_goes_on_as_it_was(void)
{
    check_resumed((const char *const[4]){"ema", "0.9", "precision", "float16"});
    check_resumed((const char *const[4]){"train", "last"});
}

static bool is_remarked(struct run *r, const char *words)
{
    const struct glcnn_train_event *event;
    bool found = false;
    do {
        glcnn_trainer_next(r->trainer, &event);
        found = found || (event->kind == GLCNN_TRAIN_REMARK && strstr(event->text, words));
    } while (event->kind != GLCNN_TRAIN_END);
    return found;
}

static void files_that_nobody_writes_are_remarked_on(void)
{
    char log[128];
    snprintf(log, sizeof log, "%s/log.csv", folder);
    const char *const settings[] = {"data",   folder, "net", "lenet", "batch", "4",
                                    "epochs", "1",    "log", log,     NULL};
    for (int observed = 0; observed < 2; observed++) {
        struct run *r = make_run();
        glcnn_observers *observers = NULL;
        CU_ASSERT_TRUE_FATAL(begin(r, settings));
        if (observed)
            CU_ASSERT_EQUAL(glcnn_observers_create(r->trainer, &observers, r->error),
                            GLCNN_SUCCESS);
        CU_ASSERT_EQUAL(is_remarked(r, "glcnn/report.h"), !observed);
        CU_ASSERT_NOT_EQUAL(access(log, F_OK), 0);
        glcnn_observers_destroy(&observers);
        CU_ASSERT_PTR_NULL(observers);
        free_run(&r);
    }
}

static void settings_are_refused_by_name(void)
{
    struct run *r = make_run();
    CU_ASSERT_FALSE(begin(r, (const char *const[]){"epoch", "2", NULL}));
    CU_ASSERT_PTR_NOT_NULL(strstr(r->error, "did you mean epochs"));
    CU_ASSERT_FALSE(begin(r, (const char *const[]){"epochs", "0", NULL}));
    CU_ASSERT_PTR_NOT_NULL(strstr(r->error, "--epochs is \"0\""));
    CU_ASSERT_FALSE(begin(r, (const char *const[]){"nesterov", "2", NULL}));
    CU_ASSERT_PTR_NOT_NULL(strstr(r->error, "it must be 0 or 1"));
    CU_ASSERT_FALSE(begin(r, (const char *const[]){"batch", NULL, NULL}));
    CU_ASSERT_PTR_NOT_NULL(strstr(r->error, "--batch needs a value, N"));
    free_run(&r);
}

/* ---- Images of the program's own ---- */

static uint8_t own_pixels[PICTURES][SIDE * SIDE];
static uint32_t own_labels[PICTURES];
static float own_numbers[PICTURES][4];
static uint8_t own_masks[PICTURES][SIDE * SIDE];
static struct glcnn_data_box own_boxes[PICTURES];
static uint32_t own_counts[PICTURES];

/* The pictures of write_idx, and labels of all kinds that fit them. */
static struct glcnn_image_source own_source(glcnn_data_targets targets, glcnn_data_part part)
{
    for (uint32_t i = 0, seed = 1; i < PICTURES; i++) {
        for (size_t k = 0; k < SIDE * SIDE; k++) {
            own_pixels[i][k] = (uint8_t)(below(&seed, 60) + 190 * (i % 2));
            own_masks[i][k] = (uint8_t)((k / SIDE + i) % 2);
        }
        own_labels[i] = i % 2;
        for (uint32_t k = 0; k < 4; k++)
            own_numbers[i][k] = (float)(4 + 20 * (i % 2) - k);
        own_boxes[i] = (struct glcnn_data_box){0.25f, 0.25f, 0.75f, 0.75f, .label = i % 2};
        own_counts[i] = 1;
    }
    struct glcnn_image_source source = {.width = SIDE,
                                        .height = SIDE,
                                        .channels = 1,
                                        .is_bytes = true,
                                        .targets = targets,
                                        .class_count = 2};
    source.parts[part] = (struct glcnn_image_source_part){.count = PICTURES,
                                                          .images = own_pixels,
                                                          .labels = own_labels,
                                                          .numbers = own_numbers[0],
                                                          .masks = own_masks[0],
                                                          .boxes = own_boxes,
                                                          .box_counts = own_counts};
    return source;
}

static uint64_t digest_tensors(const char *path)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_model *model = NULL;
    uint64_t digest = 1;
    CU_ASSERT_EQUAL_FATAL(glcnn_model_load(NULL, path, &model, error), GLCNN_SUCCESS);
    for (size_t i = 0; glcnn_network_filter(glcnn_model_network(model), i); i++) {
        glcnn_filter_node *node = glcnn_network_filter(glcnn_model_network(model), i);
        glcnn_buffer *buffer = glcnn_kernel_vector(glcnn_filter_node_kernel(node), "weights");
        const size_t size = buffer ? glcnn_buffer_size(buffer) : 0;
        uint8_t *bytes = malloc(size + 1);
        CU_ASSERT_TRUE_FATAL(bytes && (!buffer || !glcnn_buffer_read(buffer, 0, size, bytes)));
        for (size_t k = 0; k < size; k++)
            digest = (digest ^ bytes[k]) * UINT64_C(0x100000001b3);
        free(bytes);
    }
    glcnn_model_destroy(&model);
    return digest;
}

static glcnn_dataset *open_own(glcnn_data_targets targets, glcnn_data_part part, uint32_t classes,
                               const char *const *names, double validation)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_dataset *data = NULL;
    struct glcnn_image_source source = own_source(targets, part);
    source.class_count = classes;
    source.class_names = names;
    const struct glcnn_data_parameters p = {
        .targets = targets, .validation = validation, .seed = 1};
    CU_ASSERT_EQUAL_FATAL(glcnn_dataset_open_source(&source, &p, &data, error), GLCNN_SUCCESS);
    return data;
}

static void expect_no_set(struct run *r, const char *name, const char *value, const char *phrase)
{
    CU_ASSERT_EQUAL(glcnn_train_settings_set(r->settings, name, value, r->error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(glcnn_trainer_create(NULL, r->settings, &r->trainer, r->error),
                          GLCNN_SUCCESS);
    run_quietly(r);
    CU_ASSERT_EQUAL(r->status, GLCNN_INVALID_STATE);
    CU_ASSERT_PTR_NOT_NULL(strstr(r->failure, phrase));
    glcnn_trainer_destroy(&r->trainer);
}

static uint64_t train_into(const char *out, const char *data, glcnn_dataset *set)
{
    struct run *r = make_run();
    const char *const settings[] = {"net",   "lenet", "epochs", "1",   "batch",
                                    "4",     "seed",  "1",      "out", out,
                                    "force", "1",     "data",   data,  set ? NULL : "validation",
                                    "0.2",   NULL};
    CU_ASSERT_TRUE_FATAL(begin(r, settings));
    if (set) {
        glcnn_trainer_destroy(&r->trainer);
        CU_ASSERT_EQUAL(glcnn_train_settings_set_dataset(r->settings, set, r->error),
                        GLCNN_SUCCESS);
        CU_ASSERT_EQUAL_FATAL(glcnn_trainer_create(NULL, r->settings, &r->trainer, r->error),
                              GLCNN_SUCCESS);
    }
    run_quietly(r);
    CU_ASSERT_EQUAL(r->status, GLCNN_SUCCESS);
    CU_ASSERT_STRING_EQUAL(r->failure, "");
    free_run(&r);
    return digest_tensors(out);
}

/* Bit by bit what files of the same bytes make, and measured alike. */
static void a_program_trains_on_images_of_its_own(void)
{
    char out[128], error[GLCNN_ERROR_LENGTH] = "";
    static const char *const names[] = {"0", "1"};
    glcnn_dataset *data =
                      open_own(GLCNN_DATA_TARGETS_CLASSES, GLCNN_DATA_PART_TRAINING, 2, NULL, 0.2),
                  *test = open_own(GLCNN_DATA_TARGETS_CLASSES, GLCNN_DATA_PART_TEST, 2, names, 0);
    snprintf(out, sizeof out, "%s/m.safetensors", folder);
    const uint64_t of_files = train_into(out, folder, NULL);
    CU_ASSERT_EQUAL(train_into(out, folder, data), of_files);
    glcnn_model *model = NULL;
    const struct glcnn_evaluation *e;
    CU_ASSERT_EQUAL_FATAL(glcnn_model_load(NULL, out, &model, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(glcnn_model_evaluate(model, folder, NULL, &e, error), GLCNN_SUCCESS);
    const double loss = e->loss, measure = e->measure;
    const struct glcnn_model_options options = {.data = test, .part = GLCNN_DATA_PART_TEST};
    CU_ASSERT_EQUAL_FATAL(glcnn_model_evaluate(model, NULL, &options, &e, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(e->loss, loss);
    CU_ASSERT_EQUAL(e->measure, measure);
    CU_ASSERT_EQUAL(e->part, GLCNN_DATA_PART_TEST);
    CU_ASSERT_EQUAL(e->count, PICTURES);
    glcnn_predictions *all = NULL;
    const struct glcnn_prediction *p = NULL;
    uint32_t right = 0, count = 0;
    CU_ASSERT_EQUAL_FATAL(glcnn_model_predict(model, NULL, 0, &options, &all, error),
                          GLCNN_SUCCESS);
    while (glcnn_predictions_next(all, &p, error) == GLCNN_SUCCESS && p) {
        right += p->label == own_labels[p->index];
        count++;
    }
    CU_ASSERT_EQUAL(count, PICTURES);
    CU_ASSERT_DOUBLE_EQUAL((double)right / PICTURES, measure, 1e-9);
    glcnn_predictions_destroy(&all);
    glcnn_dataset *other = open_own(GLCNN_DATA_TARGETS_CLASSES, GLCNN_DATA_PART_TEST, 2,
                                    (const char *const[]){"1", "0"}, 0);
    CU_ASSERT_NOT_EQUAL(
        glcnn_model_evaluate(model, NULL, &(struct glcnn_model_options){.data = other, .part = 2},
                             &e, error),
        GLCNN_SUCCESS);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "open the data with the network's class names"));
    const struct glcnn_model_options nowhere = {.data = test, .part = (glcnn_data_part)7};
    CU_ASSERT_NOT_EQUAL(glcnn_model_evaluate(model, NULL, &nowhere, &e, error), GLCNN_SUCCESS);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "part is 7; expected 0 to 2"));
    CU_ASSERT_NOT_EQUAL(glcnn_model_predict(model, NULL, 0, &nowhere, &all, error), GLCNN_SUCCESS);
    CU_ASSERT_PTR_NULL(all);
    glcnn_model_destroy(&model);
    glcnn_dataset_destroy(&other);
    glcnn_dataset_destroy(&test);
    glcnn_dataset_destroy(&data);
}

/* What a training would have opened otherwise is no longer to be chosen. */
static void an_open_data_set_is_not_opened_again(void)
{
    struct run *r = make_run();
    glcnn_dataset *data =
        open_own(GLCNN_DATA_TARGETS_CLASSES, GLCNN_DATA_PART_TRAINING, 2, NULL, 0);
    for (int i = 0; i < 3; i++) {
        static const char *const rows[3][3] = {
            {"batch", "4", "has no validation images; open it with a share"},
            {"size", "32", "images are 28x28 of 1 channels, and those of the network 32x32"},
            {"strict", "1", "said when they are opened"}};
        glcnn_train_settings_destroy(&r->settings);
        r->settings = glcnn_train_settings_create();
        CU_ASSERT_EQUAL(glcnn_train_settings_set_dataset(r->settings, data, r->error),
                        GLCNN_SUCCESS);
        expect_no_set(r, rows[i][0], rows[i][1], rows[i][2]);
    }
    /* Whichever is set last counts. */
    expect_no_set(r, "data", "/tmp/there/is/no/such/folder", "/tmp/there/is/no/such/folder");
    glcnn_dataset_destroy(&data);
    free_run(&r);
}

/* One step, on the net that is fastest; what is learned is the test of each task. Where it rounds, the only step is of
 * the last tenth. */
static void train_task(const struct glcnn_task_info *task, bool rounds)
{
    static const char *const names[] = {"nose_x", "nose_y", "tail_x", "tail_y"};
    struct run *r = make_run();
    const struct glcnn_train_event *event;
    const bool has_names = task->targets == GLCNN_DATA_TARGETS_NUMBERS;
    glcnn_dataset *data = open_own(task->targets, GLCNN_DATA_PART_TRAINING, has_names ? 4 : 2,
                                   has_names ? names : NULL, 0.4);
    r->settings = glcnn_train_settings_create();
    const char *const settings[] = {"task", task->name, "epochs", "1",        "batch",
                                    "8",    "seed",     "1",      "quantise", rounds ? "1" : "0",
                                    NULL};
    for (const char *const *s = settings; *s; s += 2)
        CU_ASSERT_EQUAL(glcnn_train_settings_set(r->settings, s[0], s[1], r->error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_train_settings_set_dataset(r->settings, data, r->error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(glcnn_trainer_create(NULL, r->settings, &r->trainer, r->error),
                          GLCNN_SUCCESS);
    bool is_told = false;
    do {
        r->status = glcnn_trainer_next(r->trainer, &event);
        r->steps += event->kind == GLCNN_TRAIN_STEP;
        is_told = is_told || (event->kind == GLCNN_TRAIN_NOTE &&
                              strstr(event->text, "quantise: from step 1 of 1 on weights and "));
    } while (event->kind != GLCNN_TRAIN_END);
    CU_ASSERT_EQUAL(r->status, GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(r->steps, 1);
    CU_ASSERT_EQUAL(is_told, rounds);
    if (r->status)
        printf("\n    %s: %s", task->name, event->text);
    free_run(&r);
    glcnn_dataset_destroy(&data);
}

static void every_task_trains_on_images_of_a_program(void)
{
    for (size_t i = 0; glcnn_task_at(i); i++)
        train_task(glcnn_task_at(i), false);
}

static void every_task_trains_for_int8(void)
{
    for (size_t i = 0; glcnn_task_at(i); i++)
        train_task(glcnn_task_at(i), true);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(a_training_tells_its_epochs_in_order),
                                        UNIT_TEST(a_stop_ends_after_the_step_and_saves),
                                        UNIT_TEST(a_training_that_cannot_begin_complains_and_ends),
                                        UNIT_TEST(a_training_is_destroyed_anywhere),
                                        UNIT_TEST(files_that_nobody_writes_are_remarked_on),
                                        UNIT_TEST(settings_are_refused_by_name),
                                        UNIT_TEST(a_program_trains_on_images_of_its_own),
                                        UNIT_TEST(an_open_data_set_is_not_opened_again),
                                        UNIT_TEST(every_task_trains_on_images_of_a_program),
                                        UNIT_LEFT_TO_CHECK,
                                        UNIT_TEST(a_rounded_training_goes_on_as_it_was),
                                        UNIT_TEST(every_task_trains_for_int8),
                                        CU_TEST_INFO_NULL};
    if (!write_data())
        return EXIT_FAILURE;
    const int status = fixture_run("train_events", tests, argc, argv);
    remove_data();
    return status;
}
