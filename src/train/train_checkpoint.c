/* Checkpoints of glcnn train, each of them whole. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "train_session.h"

#include "base/clock.h"

bool session_take_scale(glcnn_trainer *s)
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

/* With averages in the place of what is trained, and that beside them. */
static glcnn_status write_averages(glcnn_trainer *s, const char *path,
                                   const struct settings_entries *how, saved_writer *writer)
{
    char error[GLCNN_ERROR_LENGTH] = "not enough memory";
    struct saved with = s->described;
    uint8_t *bytes = malloc(s->ema.size + 1);
    if (!bytes || !ema_exchange(&s->ema) || !ema_save(&s->ema, bytes)) {
        free(bytes);
        return session_fail_device(s);
    }
    saved_add_trained(&with, bytes, s->ema.size);
    bool written = writer(&with, &s->model, path, "run", how->entries, how->count, error);
    free(bytes);
    return ema_exchange(&s->ema) ? written ? GLCNN_SUCCESS : session_fail(s, error)
                                 : session_fail_device(s);
}

/* writer: saved_write, or saved_try. */
static glcnn_status put_checkpoint(glcnn_trainer *s, const char *path, saved_writer *writer)
{
    struct settings_entries how;
    if (!session_take_scale(s))
        return session_fail_device(s);
    glcnn_train_settings now = s->settings;
    if (!ranks_leads(&s->ranks))
        return GLCNN_SUCCESS;
    now.step = s->step;
    now.best = s->best;
    settings_describe(&now, &how);
    if (path != s->settings.out) /* that of the best epoch is passed on: no run goes on from it */
        how.count = 0;
    return write_averages(s, path, &how, writer);
}

glcnn_status session_write_checkpoint(glcnn_trainer *s, const char *path)
{
    return put_checkpoint(s, path, saved_write);
}

static glcnn_status write_now(glcnn_trainer *s)
{
    s->saved = seconds_now();
    glcnn_status status =
        s->settings.out ? session_write_checkpoint(s, s->settings.out) : GLCNN_SUCCESS;
    if (status != GLCNN_SUCCESS) /* the file is that of the save before */
        return status;
    s->is_saved = s->settings.out != NULL;
    s->saved_step = s->step;
    return status;
}

bool session_average_statistics(glcnn_trainer *s, char error[GLCNN_ERROR_LENGTH])
{
    if (s->settings.syncs_statistics || !s->ranks.mpi)
        return true;
    if (!ranks_average_statistics(&s->ranks, s->model.network, error))
        return false;
    if (s->ema.count == 0)
        return true;
    bool done =
        ema_exchange(&s->ema) && ranks_average_statistics(&s->ranks, s->model.network, error);
    return ema_exchange(&s->ema) && done;
}

glcnn_status session_save(glcnn_trainer *s)
{
    char error[GLCNN_ERROR_LENGTH];
    if (!session_average_statistics(s, error))
        return session_fail(s, error);
    return write_now(s);
}

bool session_load_trained(const char *path, glcnn_network *network, struct ema *ema,
                          char error[GLCNN_ERROR_LENGTH])
{
    struct saved saved;
    if (glcnn_checkpoint_load(network, path, NULL, error) != GLCNN_SUCCESS ||
        !saved_read(path, &saved, error))
        return false;
    const struct glcnn_checkpoint_bytes *trained = &saved.bytes[SAVED_TRAINED];
    bool good = !trained->bytes || ema_load(ema, trained->bytes, trained->size);
    if (!good)
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "%s: the weights that go with its averages are not those of its network", path);
    saved_free(&saved);
    return good;
}

glcnn_status session_load_checkpoint(glcnn_trainer *s)
{
    char error[GLCNN_ERROR_LENGTH];
    ema_begin(&s->ema, s->model.network, s->settings.ema);
    if (!s->settings.resume ||
        session_load_trained(s->settings.resume, s->model.network, &s->ema, error))
        return GLCNN_SUCCESS;
    return session_fail(s, error);
}

glcnn_status session_save_first(glcnn_trainer *s)
{
    const char *out = s->settings.out;
    if (!out || access(out, F_OK) != 0)
        return write_now(s);
    s->saved = seconds_now();
    return put_checkpoint(s, out, saved_try);
}
