/* How settings of each kind are read and written, for the files that are made of the table. */
#ifndef GLCNN_TRAIN_TRAIN_SETTINGS_KINDS_H
#define GLCNN_TRAIN_TRAIN_SETTINGS_KINDS_H

#include "base/fail.h"
#include "train_settings.h"

/* Where the value of a setting is. */
void *setting_place(glcnn_train_settings *settings, const struct glcnn_train_setting *row);

bool setting_is_number(const struct glcnn_train_setting *row);
bool setting_is_text(const struct glcnn_train_setting *row);
/* Has the user or the checkpoint given it? */
bool setting_is_given(const glcnn_train_settings *settings, const struct glcnn_train_setting *row);
void setting_note_given(glcnn_train_settings *settings, const struct glcnn_train_setting *row);

/* The least that a file may have: the fallback, where that stands for none. */
uint64_t setting_kept_least(const struct glcnn_train_setting *row);
/* Reads a number of `least` or more. */
bool setting_read_number(glcnn_train_settings *settings, const struct glcnn_train_setting *row,
                         const char *text, uint64_t least);
/* Gives it its default, unless it was given. */
void setting_fill_default(glcnn_train_settings *settings, const struct glcnn_train_setting *row);
/* "a whole number in 1 .. 4096" */
const char *setting_describe_range(const struct glcnn_train_setting *row, uint64_t least,
                                   char text[96]);
/* Has a setting be a copy of the text. False: not enough memory. */
bool setting_copy_text(glcnn_train_settings *settings, const struct glcnn_train_setting *row,
                       const char *text);
/* Chooses the augmentation; "none" is none. */
bool setting_set_augment(glcnn_train_settings *settings, const char *words,
                         char error[GLCNN_ERROR_LENGTH]);

/* The value as a text of metadata, of which `text` may have the letters; NULL: it has none. Of a path that is
 * data, as the user gave it. */
const char *setting_write(const glcnn_train_settings *settings,
                          const struct glcnn_train_setting *row, char text[32]);

/* What settings_finish reads of the checkpoint of `resume` (train_settings_resume.c). */
glcnn_status settings_resume(glcnn_train_settings *settings, char error[GLCNN_ERROR_LENGTH]);

/* The same of a word that is none of `count` names. */
glcnn_status setting_refuse_name(const char *what, const char *word, const char *const *names,
                                 size_t count, char error[GLCNN_ERROR_LENGTH]);
#define SETTING_NAMES_MAX 8

#endif
