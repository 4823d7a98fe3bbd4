/* Files that show how a training goes, and how an evaluation went. Those of a training are made of its events: the
 * settings "log", "plot", "report", "tensorboard" and "trace" of glcnn/train.h name them. A training without observers
 * writes none of them.
 *
 *     glcnn_observers_create(trainer, &observers, error);
 *     do {
 *         status = glcnn_trainer_next(trainer, &event);
 *         glcnn_observers_take(observers, event);
 *     } while (status == GLCNN_SUCCESS && event->kind != GLCNN_TRAIN_END);
 *     glcnn_observers_destroy(&observers);
 *
 * Part of libglcnn_train. Thread-safety: as the trainer, or as the model. */
#ifndef GLCNN_REPORT_H
#define GLCNN_REPORT_H

#include <glcnn/task.h>
#include <glcnn/train.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The observers that the trainer's settings ask for. */
typedef struct glcnn_observers glcnn_observers;

/* Must be called before the trainer's first event is taken; the files are opened once it has begun. *observers is the
 * caller's, NULL after a failure, and the trainer must outlive it. Errors: GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_observers_create(glcnn_trainer *trainer, glcnn_observers **observers,
                                              char error[GLCNN_ERROR_LENGTH]);
/* Shows an event, each that the trainer returns and before the next. A file that cannot be opened fails the training; one
 * that cannot be written later is complained of once, by an event that follows, and left out from then on. */
GLCNN_API void glcnn_observers_take(glcnn_observers *observers,
                                    const struct glcnn_train_event *event);
/* Was a file left out, so that not all is there that was asked for? */
GLCNN_API bool glcnn_observers_left_out(const glcnn_observers *observers);
/* *observers becomes NULL. NULL does nothing. */
GLCNN_API void glcnn_observers_destroy(glcnn_observers **observers);

/* ---- An evaluation ---- */

/* Writes the last evaluation of a model, which had the option `page`, as one file of HTML that needs nothing beside it: numbers,
 * the measure of each class, the most wrong pictures. Files are written whole or not at all.
 * Errors: GLCNN_INVALID_STATE where the last evaluation failed, there was none, or it had not that option; GLCNN_IO_ERROR. */
GLCNN_API glcnn_status glcnn_model_save_page(const glcnn_model *model, const char *path,
                                             char error[GLCNN_ERROR_LENGTH]);
/* Draws the confusion matrix of the last evaluation of a classifier as SVG. Errors: GLCNN_INVALID_STATE as before,
 * GLCNN_UNSUPPORTED for other tasks, GLCNN_IO_ERROR. */
GLCNN_API glcnn_status glcnn_model_save_matrix(const glcnn_model *model, const char *path,
                                               char error[GLCNN_ERROR_LENGTH]);

/* ---- Data ---- */

/* A look says what data are before anything is trained on them. */
struct glcnn_look {
    const struct glcnn_task_info *task;
    const glcnn_dataset *data;
    const struct glcnn_data_look *look;
    const char *text; /* what glcnn look prints of them, lines; what others named is escaped */
    const char *json; /* the same as glcnn look --json prints it, UTF-8 */
};

/* Looks at labelled pictures (glcnn/data.h) as those of a task; NULL: of the one that they suggest. page: the path of a
 * page of HTML, which shows pictures with their labels, or says why the data are refused; NULL: none is written. *look is the
 * caller's, NULL after a failure. Errors: those of glcnn_dataset_open; GLCNN_MALFORMED_DATA for data that are not the task's,
 * GLCNN_INVALID_ARGUMENT where there is no such task; GLCNN_IO_ERROR, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_look_at(const char *data, const char *task, const char *page,
                                     const struct glcnn_look **look,
                                     char error[GLCNN_ERROR_LENGTH]);
/* *look becomes NULL. NULL does nothing. */
GLCNN_API void glcnn_look_destroy(const struct glcnn_look **look);

#ifdef __cplusplus
}
#endif
#endif
