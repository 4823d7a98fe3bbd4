/* A classifier: trains on folders of classes, then tells the class, its name and the probability. */
#include <glcnn/task.h>
#include <glcnn/train.h>
#include <stdio.h>

int main(int argc, char *argv[])
{
    char error[GLCNN_ERROR_LENGTH] = "give PICTURE data FOLDER out MODEL";
    const struct glcnn_train_event *event = NULL;
    const struct glcnn_prediction *answer = NULL;
    glcnn_train_settings *settings = glcnn_train_settings_create();
    glcnn_trainer *trainer = NULL;
    glcnn_model *model = NULL;
    glcnn_predictions *all = NULL;
    bool good = argc > 5 && settings;
    for (int i = 2; good && i + 1 < argc; i += 2)
        good = !glcnn_train_settings_set(settings, argv[i], argv[i + 1], error);
    good = good && !glcnn_trainer_create(NULL, settings, &trainer, error);
    while (good && (!event || event->kind != GLCNN_TRAIN_END))
        good = !glcnn_trainer_next(trainer, &event);
    good = good && !glcnn_model_load(NULL, argv[5], &model, error) &&
           !glcnn_model_predict(model, &(const char *){argv[1]}, 1, NULL, &all, error) &&
           !glcnn_predictions_next(all, &answer, error);
    puts(answer ? glcnn_predictions_text(all) : event && event->text ? event->text : error);
    glcnn_predictions_destroy(&all);
    glcnn_model_destroy(&model);
    glcnn_trainer_destroy(&trainer);
    glcnn_train_settings_destroy(&settings);
    return !answer;
}
