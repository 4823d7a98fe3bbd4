/* Answers what is asked of tasks. */
#include "task.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model.h"

const struct task *task_find(const char *name)
{
    size_t i = 0;
    while (task_registry[i] && strcmp(task_registry[i]->name, name) != 0)
        i++;
    return task_registry[i];
}

static size_t count_tasks(void)
{
    size_t count = 0;
    while (task_registry[count])
        count++;
    return count;
}

const struct task *task_at(size_t i)
{
    return i < count_tasks() ? task_registry[i] : NULL;
}

const struct glcnn_task_info *glcnn_task_at(size_t number)
{
    const struct task *task = task_at(number);
    return task ? &task->info : NULL;
}

const struct task *task_of(const struct form *form)
{
    return task_registry[form->task];
}

uint32_t task_number(const struct task *task)
{
    uint32_t number = 0;
    while (task_registry[number] != task)
        number++;
    return number;
}

const struct task_loss *task_find_loss(const struct task *task, const char *name)
{
    for (const struct task_loss *loss = task->losses; loss->name; loss++)
        if (strcmp(loss->name, name) == 0)
            return loss;
    return NULL;
}

uint32_t task_find_ends(const struct model *model, struct task_end ends[TASK_ENDS],
                        char error[GLCNN_ERROR_LENGTH])
{
    const struct task *task = task_of(&model->form);
    memset(ends, 0, TASK_ENDS * sizeof *ends);
    if (task->find_ends)
        return task->find_ends(model, ends, error);
    ends[0] = (struct task_end){.node = task->answer ? model->scores : model->probabilities};
    snprintf(ends[0].name, sizeof ends[0].name, "%s", task->output);
    return 1;
}

uint32_t task_count_classes(const struct form *form)
{
    return form->classes;
}

const char *task_ranked(const struct task *task)
{
    return task->ranked ? task->ranked : task->measure;
}

const char *task_write(const struct task *task, double measured, char text[TASK_MEASURED])
{
    if (isnan(measured))
        snprintf(text, TASK_MEASURED, "%s", task->nothing);
    else
        snprintf(text, TASK_MEASURED, "%.4f", measured);
    return text;
}

struct glcnn_image_descriptor task_row_labels(const struct form *form, uint32_t index,
                                              uint32_t batch)
{
    (void)index;
    return (struct glcnn_image_descriptor){.feature_channels = form->classes,
                                           .number_of_images = batch};
}

size_t task_row_values(const struct form *form)
{
    return form->classes;
}
