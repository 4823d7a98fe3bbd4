/* Checkpoints of glcnn train, each of them whole. */
#include <unistd.h>

#include "train_session.h"

bool session_take_scale(struct session *s)
{
    struct glcnn_dynamic_loss_scale scale;
    if (!settings_scale_losses(&s->settings))
        return true;
    if (glcnn_graph_get_loss_scale(s->trainer.graph, &scale) != GLCNN_SUCCESS)
        return false;
    s->settings.loss_scale = (double)scale.scale;
    s->settings.good_steps = scale.good_steps;
    s->settings.skipped_steps = scale.skipped_steps;
    return true;
}

/* writer: saved_write, or saved_try. */
static int put_checkpoint(struct session *s, const char *path, saved_writer *writer)
{
    char error[GLCNN_ERROR_LENGTH];
    struct settings_entries how;
    if (!session_take_scale(s))
        return session_fail_device(s);
    struct settings now = s->settings;
    if (!ranks_leads(&s->ranks))
        return EXIT_GOOD;
    now.step = s->step;
    now.best = s->best;
    settings_describe(&now, &how);
    return writer(&s->described, &s->model, path, how.entries, how.count, error)
               ? EXIT_GOOD
               : session_fail(s, error);
}

int session_write_checkpoint(struct session *s, const char *path)
{
    return put_checkpoint(s, path, saved_write);
}

static int write_now(struct session *s)
{
    s->saved = seconds_now();
    train_log_sync(&s->log);
    event_file_sync(&s->events);
    int status = s->settings.out ? session_write_checkpoint(s, s->settings.out) : EXIT_GOOD;
    if (status != EXIT_GOOD) /* the file is that of the save before */
        return status;
    s->is_saved = s->settings.out != NULL;
    s->saved_step = s->step;
    return status;
}

bool session_average_statistics(struct session *s, char error[GLCNN_ERROR_LENGTH])
{
    return s->settings.syncs_statistics ||
           ranks_average_statistics(&s->ranks, s->model.network, error);
}

int session_save(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    if (!session_average_statistics(s, error))
        return session_fail(s, error);
    return write_now(s);
}

int session_load_checkpoint(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    if (!s->settings.resume ||
        glcnn_checkpoint_load(s->model.network, s->settings.resume, NULL, error) == GLCNN_SUCCESS)
        return EXIT_GOOD;
    return session_fail(s, error);
}

int session_save_first(struct session *s)
{
    const char *out = s->settings.out;
    if (!out || access(out, F_OK) != 0)
        return write_now(s);
    s->saved = seconds_now();
    return put_checkpoint(s, out, saved_try);
}
