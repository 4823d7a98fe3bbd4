/* Which task draws its labels how. */
#include "sample_labels.h"

sample_labels_drawer *sample_labels_of(const struct task *task)
{
    return task == &task_detect      ? detect_draw_labels
           : task == &task_keypoints ? keypoints_draw_labels
           : task == &task_segment   ? segment_draw_labels
                                     : NULL;
}
