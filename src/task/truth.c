/* Labels as answers of a network that is always right. */
#include "truth.h"

#include "detection_draw.h"
#include "task.h"

void truth_show(const struct truth *truth, uint32_t width, uint32_t height, uint8_t *pixels)
{
    const struct canvas canvas = {pixels, width, height};
    const struct task *task = task_of(truth->form);
    if (task->draw_truth)
        task->draw_truth(truth, &canvas);
}
