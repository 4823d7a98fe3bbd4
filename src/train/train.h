/* A training by pull: the caller opens a session, takes its events until the last, and does with them what it
 * likes. */
#ifndef GLCNN_TRAIN_TRAIN_H
#define GLCNN_TRAIN_TRAIN_H

#include "event.h"
#include "train_session.h"

/* The next thing that happened, for which a part of the training is done where needed: at most a step, or a
 * validation. The event's text is the caller's to free. False: the last event was taken before. */
bool train_next(struct session *session, struct train_event *event);

/* Has the run end with this step, which is saved. May be called in a signal handler or in another thread. */
void train_stop(struct session *session);

/* Has the run fail, since the caller cannot go on; the reason is added as a complaint. */
void train_abort(struct session *session, const char *reason);

#endif
