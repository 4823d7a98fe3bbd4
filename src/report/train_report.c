/* The report of glcnn train, which each epoch writes. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report_collect.h"
#include "train_observers.h"

/* ---- The page ---- */

enum { NUMBERS = 5, SETTING_ROWS = 8 + REPORT_DEVICE_ROWS + SETTING_ROWS_MAX };

/* All that a page is made of. */
struct page {
    struct report report;
    struct report_row numbers[NUMBERS], settings[SETTING_ROWS];
    struct report_picture worst[FINDINGS_WORST], samples[REPORT_SAMPLES];
    struct settings_entries entries;
    char texts[3 * (SETTING_ROWS + NUMBERS)][160]; /* of the rows, as many as are used */
    size_t text_count;
    char title[512], state[256], samples_text[512];
};

static const char *text_of(struct page *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static const char *text_of(struct page *p, const char *format, ...)
{
    va_list list;
    char *text = p->texts[p->text_count++];
    va_start(list, format);
    vsnprintf(text, sizeof *p->texts, format, list);
    va_end(list);
    return text;
}

static void add_number(struct page *p, const char *name, const char *text, const char *note)
{
    p->numbers[p->report.number_count++] = (struct report_row){name, text, note};
}

static void add_setting(struct page *p, const char *name, const char *text, const char *note)
{
    p->settings[p->report.setting_count++] = (struct report_row){name, text, note};
}

/* Of the epoch's steps, as far as this run made them. */
static double mean_of_epoch(const double *values, size_t count, size_t steps)
{
    double sum = 0;
    size_t first = count > steps ? count - steps : 0;
    for (size_t i = first; i < count; i++)
        sum += values[i];
    return sum / (double)(count - first);
}

/* What is measured in training too. */
static void add_training(const glcnn_observers *o, uint64_t epoch, struct page *p)
{
    const glcnn_trainer *s = o->session;
    const struct curve *t = &s->curves.training;
    const char *measure = s->settings.task->measure;
    add_number(p, "training loss", text_of(p, "%.4f", mean_of_epoch(t->loss, t->count, s->steps)),
               text_of(p, "mean of epoch %" PRIu64 ", while it learned", epoch));
    if (s->settings.task->count_right)
        add_number(p, text_of(p, "training %s", measure),
                   text_of(p, "%.4f", mean_of_epoch(t->accuracy, t->count, s->steps)),
                   "mean of the same steps");
}

static void add_numbers(const glcnn_observers *o, uint64_t epoch, struct page *p)
{
    const glcnn_trainer *s = o->session;
    const struct task *task = s->settings.task;
    const char *measure = task->measure;
    char now[TASK_MEASURED], best[TASK_MEASURED];
    add_number(p, text_of(p, "validation %s", measure),
               text_of(p, "%s", task_write(task, score_measure(&s->score), now)),
               text_of(p, "on %" PRIu64 " pictures, higher is better", s->score.count));
    add_number(p, "validation loss", text_of(p, "%.4f", score_loss(&s->score)), "lower is better");
    add_number(p, "best epoch", text_of(p, "%" PRIu64, s->best.epoch),
               text_of(p, "validation %s %s", task_ranked(task),
                       task_write(task, s->best.accuracy, best)));
    add_training(o, epoch, p);
}

/* What --help says of an option, without what points to the text below it. */
static const char *note_of(struct page *p, const struct glcnn_train_setting *option)
{
    const char *end = strstr(option->text, " as below");
    size_t length = end ? (size_t)(end - option->text) : strlen(option->text);
    if (length > 0 && option->text[length - 1] == ',')
        length--;
    return text_of(p, "%.*s", (int)length, option->text);
}

/* Options that a checkpoint keeps; numbers as short as they are told. */
static void add_options(const glcnn_trainer *s, struct page *p)
{
    settings_describe(&s->settings, &p->entries);
    for (size_t i = 0; i < p->entries.count; i++) {
        const struct glcnn_checkpoint_entry *e = &p->entries.entries[i];
        const struct glcnn_train_setting *option = settings_find(e->name);
        if (!option || !*e->text || strcmp(e->text, "0") == 0 || strcmp(e->name, "data") == 0)
            continue;
        const char *value =
            strchr(e->text, '.') && strspn(e->text, "0123456789.e+-") == strlen(e->text)
                ? text_of(p, "%g", strtod(e->text, NULL))
                : e->text;
        add_setting(p, text_of(p, "--%s", e->name), value, note_of(p, option));
    }
}

static void add_settings(const glcnn_trainer *s, struct page *p)
{
    const struct form *form = &s->pictures.form;
    struct report_row rows[REPORT_DEVICE_ROWS];
    add_setting(p, "network", s->described.title,
                text_of(p, "for pictures of %ux%ux%u: width, height and channels", form->width,
                        form->height, form->channels));
    add_setting(p, "data", s->settings.data,
                text_of(p, "%u pictures to train with, %u to validate with, %u %s",
                        session_images(s, GLCNN_DATA_PART_TRAINING),
                        session_images(s, s->pictures.validation), form->classes,
                        s->settings.task->classes));
    add_setting(p, "--task", s->settings.task->name, s->settings.task->text);
    add_options(s, p);
    report_describe_device(s->device, rows);
    for (size_t i = 0; i < REPORT_DEVICE_ROWS; i++)
        add_setting(p, rows[i].name, rows[i].text, rows[i].note);
}

/* Steps of before are in other files alone. */
static void write_state(const glcnn_trainer *s, uint64_t epoch, struct page *p)
{
    char resumed[96] = "";
    if (s->first > 0)
        snprintf(resumed, sizeof resumed, " It was resumed at epoch %.4g, where the curves begin.",
                 (double)s->first / (double)s->steps);
    snprintf(p->state, sizeof p->state,
             "Report of a training: epoch %" PRIu64 " of %" PRIu64 " is complete.%s", epoch,
             s->settings.epochs, resumed);
}

static void write_texts(const glcnn_trainer *s, uint64_t epoch, struct page *p)
{
    const char *words = s->settings.augment_words;
    snprintf(p->title, sizeof p->title, "%s on %s", s->described.title,
             report_name_of(s->settings.data));
    write_state(s, epoch, p);
    snprintf(p->samples_text, sizeof p->samples_text,
             "The first training pictures of epoch %" PRIu64 "%s. %s%s%s", epoch,
             s->settings.task->count_right ? ", each with its class" : "",
             *words ? "They are changed at random, differently in each epoch, by --augment " : "",
             *words ? words : "They are as the data has them: nothing is augmented",
             s->pictures.form.channels == 2 || s->pictures.form.channels > 3
                 ? "; of several channels the first are shown."
                 : ".");
}

bool train_observers_read_samples(const glcnn_trainer *s, size_t step,
                                  struct report_picture *samples, uint32_t *count,
                                  char error[GLCNN_ERROR_LENGTH])
{
    const glcnn_train_settings *t = &s->settings;
    const struct glcnn_data_loader_parameters parameters = {.part = GLCNN_DATA_PART_TRAINING,
                                                            .batch = s->ranks.batch,
                                                            .share_first = s->ranks.first,
                                                            .share = s->ranks.share,
                                                            .limit = (uint32_t)t->limit,
                                                            .threads = 1,
                                                            .memory = 1,
                                                            .shuffle = true,
                                                            .seed = t->seed,
                                                            .group = (uint32_t)t->accumulate,
                                                            .step = step * t->accumulate};
    const struct input_parameters input = {.bytes = s->pictures.info->bytes,
                                           .mean = s->described.mean,
                                           .deviation = s->described.deviation,
                                           .augment = &t->augment,
                                           .seed = t->seed};
    return report_read_samples(&s->pictures, s->device, &parameters, &input, samples, count, error);
}

static bool write_page(const glcnn_observers *o, struct page *p, char error[GLCNN_ERROR_LENGTH])
{
    const glcnn_trainer *s = o->session;
    const uint64_t epoch = s->step / s->steps;
    p->report = (struct report){.title = p->title,
                                .state = p->state,
                                .part = "validation",
                                .numbers = p->numbers,
                                .settings = p->settings,
                                .curves = &s->curves,
                                .score = &s->score,
                                .findings = &s->findings,
                                .names = s->described.names,
                                .worst = p->worst,
                                .samples = p->samples,
                                .samples_text = p->samples_text};
    add_numbers(o, epoch, p);
    add_settings(s, p);
    write_texts(s, epoch, p);
    return report_read_worst(&s->pictures, s->pictures.validation, &s->findings, s->described.names,
                             p->worst, error) &&
           train_observers_read_samples(s, s->step - s->steps, p->samples, &p->report.sample_count,
                                        error) &&
           report_write(&p->report, s->report_path, error);
}

void train_observers_report(glcnn_observers *o)
{
    const glcnn_trainer *s = o->session;
    char error[GLCNN_ERROR_LENGTH] = "not enough memory";
    if (!s->settings.report || !ranks_leads(&s->ranks) || train_observers_lack(o, OBSERVER_REPORT))
        return;
    struct page *page = calloc(1, sizeof *page);
    bool good = page && write_page(o, page, error);
    if (page) {
        report_free_pictures(page->worst, FINDINGS_WORST);
        report_free_pictures(page->samples, REPORT_SAMPLES);
    }
    free(page);
    if (!good)
        train_observers_leave_out(o, OBSERVER_REPORT, error);
}
