/* Draws an evaluation: its page, and its confusion matrix. */
#include <glcnn/report.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/fail.h"
#include "matrix.h"
#include "report_collect.h"
#include "task/trained.h"

static glcnn_status check(const glcnn_model *m, char error[GLCNN_ERROR_LENGTH])
{
    return m->evaluated.is_measured
               ? GLCNN_SUCCESS
               : fail_with(error, GLCNN_INVALID_STATE,
                           "the model has no evaluation: glcnn_model_evaluate makes one");
}

static bool write_page(const glcnn_model *m, struct report_picture *worst, const char *path,
                       char error[GLCNN_ERROR_LENGTH])
{
    const struct evaluated *e = &m->evaluated;
    const struct score *s = &e->score;
    char title[512], measure[TASK_MEASURED], loss[32], count[64];
    struct report_row settings[2 + REPORT_DEVICE_ROWS] = {
        {"network", m->path ? m->path : m->saved.title, NULL}, {"data", e->data, NULL}};
    const struct report_row numbers[] = {{s->task->measure, measure, count},
                                         {"loss", loss, "lower is better"}};
    const struct report report = {.title = title,
                                  .state = "Report of an evaluation: how a trained network does on "
                                           "labelled pictures.",
                                  .part = glcnn_data_part_name(e->result.part),
                                  .numbers = numbers,
                                  .number_count = 2,
                                  .settings = settings,
                                  .setting_count = 2 + REPORT_DEVICE_ROWS,
                                  .score = s,
                                  .findings = &e->findings,
                                  .names = m->saved.names,
                                  .worst = worst};
    snprintf(title, sizeof title, "%s on %s", m->saved.title, report_name_of(e->data));
    task_write(s->task, e->result.measure, measure);
    snprintf(loss, sizeof loss, "%.4f", e->result.loss);
    snprintf(count, sizeof count, "on %" PRIu64 " pictures, higher is better", s->count);
    report_describe_device(m->model.device, settings + 2);
    return report_write(&report, path, error);
}

glcnn_status glcnn_model_save_page(const glcnn_model *m, const char *path,
                                   char error[GLCNN_ERROR_LENGTH])
{
    const struct evaluated *e = &m->evaluated;
    struct report_picture worst[FINDINGS_WORST] = {{.label = 0}};
    if (check(m, error) != GLCNN_SUCCESS)
        return GLCNN_INVALID_STATE;
    if (!e->score.findings)
        return fail_with(error, GLCNN_INVALID_STATE,
                         "the evaluation kept nothing for a page: give it the option page");
    const bool good = report_read_worst(&e->pictures, e->result.part, &e->findings, m->saved.names,
                                        worst, error) &&
                      write_page(m, worst, path, error);
    report_free_pictures(worst, FINDINGS_WORST);
    return good ? GLCNN_SUCCESS : GLCNN_IO_ERROR;
}

glcnn_status glcnn_model_save_matrix(const glcnn_model *m, const char *path,
                                     char error[GLCNN_ERROR_LENGTH])
{
    const struct score *s = &m->evaluated.score;
    if (check(m, error) != GLCNN_SUCCESS)
        return GLCNN_INVALID_STATE;
    if (!s->task->draws_matrix)
        return fail_with(error, GLCNN_UNSUPPORTED, "the task %s counts no confusion matrix",
                         s->task->name);
    return matrix_write_score(s, m->saved.names, path, error) ? GLCNN_SUCCESS : GLCNN_IO_ERROR;
}
