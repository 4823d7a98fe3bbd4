/* The files that a run of glcnn train writes: whose they are, and whether they can be written, before
 * the first step. */
#include <stdio.h>
#include <sys/stat.h>

#include <glcnn/io.h>

#include "claim.h"
#include "report_collect.h"
#include "train_session.h"

static bool is_same_file(const struct stat *a, const char *b)
{
    struct stat other;
    return b && stat(b, &other) == 0 && a->st_dev == other.st_dev && a->st_ino == other.st_ino;
}

bool session_writes_elsewhere(const struct session *s)
{
    struct stat out;
    return s->settings.out &&
           (stat(s->settings.out, &out) != 0 || !is_same_file(&out, s->settings.resume));
}

/* A network that is there is not written over: but by the run that goes on with it, or where the user
 * says so. */
static int check_checkpoints(const struct session *s)
{
    struct stat old;
    const char *out = s->settings.out;
    bool goes_on = stat(out, &old) == 0 && is_same_file(&old, s->settings.resume);
    if (s->settings.force || goes_on)
        return EXIT_GOOD;
    int status = claim_refuse_old(s->command, out, out);
    return status == EXIT_GOOD ? claim_refuse_old(s->command, s->best_path, NULL) : status;
}

/* Whether a file that will be written hours from now can be made. */
static int probe(const struct session *s, const char *path)
{
    char error[GLCNN_ERROR_LENGTH];
    glcnn_file *file = NULL;
    if (glcnn_file_create(path, &file, error) != GLCNN_SUCCESS)
        return session_fail(s, error);
    glcnn_file_discard(&file);
    return EXIT_GOOD;
}

int session_claim_outputs(struct session *s)
{
    const struct settings *t = &s->settings;
    const struct {
        const char *path;
        bool in_place;
    } outputs[SESSION_OUTPUTS] = {{t->out, false},
                                  {s->best_path[0] ? s->best_path : NULL, false},
                                  {t->log, true},
                                  {t->plot, true},
                                  {t->trace, true},
                                  {s->report_path[0] ? s->report_path : NULL, false},
                                  {s->events_path[0] ? s->events_path : NULL, false}};
    char error[GLCNN_ERROR_LENGTH];
    int status = EXIT_GOOD;
    if (!ranks_leads(&s->ranks))
        return EXIT_GOOD;
    if ((t->report && !report_make_folder(t->report, error)) ||
        (t->tensorboard && !report_make_folder(t->tensorboard, error)))
        return session_fail(s, error);
    for (size_t i = 0; i < SESSION_OUTPUTS && status == EXIT_GOOD; i++)
        if (outputs[i].path)
            status = claim_lock(s->command, outputs[i].path, outputs[i].in_place, &s->locks[i]);
    if (status == EXIT_GOOD && t->out)
        status = check_checkpoints(s);
    for (size_t i = 0; i < SESSION_OUTPUTS && status == EXIT_GOOD; i++)
        if (s->locks[i])
            status = probe(s, outputs[i].path);
    return status;
}

void session_print_resumption(const struct session *s)
{
    output("\ninterrupted: %s has step %zu of %zu; to continue%s:\n", s->settings.out,
           s->saved_step, s->total, s->ranks.mpi ? ", with the options of mpirun as before" : "");
    settings_print_resumption(&s->settings, s->ranks.mpi ? s->ranks.size : 0);
}

void session_release_outputs(struct session *s)
{
    for (size_t i = 0; i < SESSION_OUTPUTS; i++)
        glcnn_file_lock_release(&s->locks[i]);
}
