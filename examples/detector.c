/* A detector: trains on a folder in COCO's form, measures the result, prints the boxes of a new picture.
 *
 * usage: detector PICTURE data FOLDER out MODEL.safetensors [SETTING VALUE]... */
#include <glcnn/task.h>
#include <glcnn/train.h>
#include <stdio.h>

static char error[GLCNN_ERROR_LENGTH] = "give PICTURE data FOLDER out MODEL";

static bool train(char *const settings[])
{
    const struct glcnn_train_event *event = NULL;
    glcnn_trainer *trainer = NULL;
    glcnn_train_settings *s = glcnn_train_settings_create();
    bool good = s;
    for (; good && settings[0] && settings[1]; settings += 2)
        good = glcnn_train_settings_set(s, settings[0], settings[1], error) == GLCNN_SUCCESS;
    good = good && glcnn_trainer_create(NULL, s, &trainer, error) == GLCNN_SUCCESS;
    while (good && (!event || event->kind != GLCNN_TRAIN_END)) {
        good = glcnn_trainer_next(trainer, &event) == GLCNN_SUCCESS;
        if (!good)
            snprintf(error, sizeof error, "%s", event->text);
        else if (event->kind == GLCNN_TRAIN_EPOCH)
            printf("epoch %d: mAP@0.5 %.4f\n", (int)event->epoch, event->validation_measure);
    }
    glcnn_trainer_destroy(&trainer);
    glcnn_train_settings_destroy(&s);
    return good;
}

static bool use(const char *path, const char *data, const char *picture)
{
    glcnn_model *model = NULL;
    glcnn_predictions *all = NULL;
    const struct glcnn_evaluation *e = NULL;
    const struct glcnn_prediction *p = NULL;
    bool good = glcnn_model_load(NULL, path, &model, error) == GLCNN_SUCCESS &&
                glcnn_model_evaluate(model, data, NULL, &e, error) == GLCNN_SUCCESS &&
                glcnn_model_predict(model, &picture, 1, NULL, &all, error) == GLCNN_SUCCESS &&
                glcnn_predictions_next(all, &p, error) == GLCNN_SUCCESS;
    if (good)
        printf("mAP@0.5 %.6f on %d pictures\n", e->measure, (int)e->count);
    for (uint32_t i = 0; p && i < p->box_count; i++) {
        const struct glcnn_detection *d = &p->boxes[i];
        printf("%s %.4f %.1f %.1f %.1f %.1f\n", glcnn_model_info(model)->class_names[d->label],
               d->score, d->box.left, d->box.top, d->box.right, d->box.bottom);
    }
    glcnn_predictions_destroy(&all);
    glcnn_model_destroy(&model);
    return good;
}

int main(int argc, char *argv[])
{
    if (argc > 5 && train(argv + 2) && use(argv[5], argv[3], argv[1]))
        return 0;
    fprintf(stderr, "detector: %s\n", error);
    return 1;
}
