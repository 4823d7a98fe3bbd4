/* The files that a run of glcnn train reads and writes. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "train_session.h"

static bool is_same_file(const struct stat *a, const char *b)
{
    struct stat other;
    return b && stat(b, &other) == 0 && a->st_dev == other.st_dev && a->st_ino == other.st_ino;
}

bool session_writes_elsewhere(const glcnn_trainer *s)
{
    struct stat out;
    return s->settings.out &&
           (stat(s->settings.out, &out) != 0 || !is_same_file(&out, s->settings.resume));
}

/* Checkpoints go on where the run does; the files of one that goes on keep what they have of it. */
static void claim_outputs(glcnn_trainer *s)
{
    const glcnn_train_settings *t = &s->settings;
    const bool resumes = t->resume != NULL, goes_on = resumes && !session_writes_elsewhere(s),
               keeps_features = t->cache && strcmp(t->cache, "off") != 0;
    const char *best = s->best_path[0] ? s->best_path : NULL,
               *page = s->report_path[0] ? s->report_path : NULL;
    const struct claim_output outputs[] = {
        {"--out", t->out, &claim_checkpoint, goes_on, .resumable = true},
        {"the best of --out", best, &claim_checkpoint, goes_on, .resumable = false},
        {"--log", t->log, &claim_log, resumes, .in_place = true},
        {"--plot", t->plot, &claim_plot, resumes, .in_place = true},
        {"--trace", t->trace, &claim_trace, resumes, .in_place = true},
        {"--report", page, &claim_page, resumes, .in_place = false},
        {"--feature-cache", keeps_features ? t->cache : NULL, &claim_features, true,
         .has_lock = true}};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        claims_write(&s->claims, &outputs[i]);
    claims_folder(&s->claims, "--report", t->report, NULL);
    claims_folder(&s->claims, "--tensorboard", t->tensorboard, "events");
}

glcnn_status session_claim_files(glcnn_trainer *s)
{
    char error[GLCNN_ERROR_LENGTH];
    const glcnn_train_settings *t = &s->settings;
    if (!ranks_leads(&s->ranks))
        return GLCNN_SUCCESS;
    s->claims.force = t->force;
    if (!t->set)
        claims_read(&s->claims, t->data);
    claims_read(&s->claims, t->model);
    claims_read(&s->claims, t->matching);
    claims_read(&s->claims, t->names);
    claims_read(&s->claims, t->mask_colours);
    if (session_writes_elsewhere(s) || !t->out)
        claims_read(&s->claims, t->resume);
    claim_outputs(s);
    return claims_take(&s->claims, error) ? GLCNN_SUCCESS : session_fail(s, error);
}
