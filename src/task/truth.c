/* Labels as answers of a network that is always right. */
#include "truth.h"

#include <math.h>
#include <stdlib.h>

#include "detection_draw.h"
#include "keypoint_map.h"
#include "task.h"
#include "window.h"

/* Boxes are shares of the image that the network sees. */
static void show_boxes(const struct truth *t, const struct canvas *canvas)
{
    const uint32_t size[2] = {canvas->width, canvas->height};
    const struct glcnn_data_window w = window_find(t->form, size);
    uint32_t count;
    const struct glcnn_data_box *boxes = glcnn_dataset_boxes(t->set, t->part, t->index, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct glcnn_data_box *b = &boxes[i];
        const struct glcnn_detection d = {{(float)(w.left + (double)b->left * w.width),
                                           (float)(w.top + (double)b->top * w.height),
                                           (float)(w.left + (double)b->right * w.width),
                                           (float)(w.top + (double)b->bottom * w.height)},
                                          b->label,
                                          NAN};
        detection_draw(canvas, &d, 1, t->names);
    }
}

static void show_mask(const struct truth *t, const struct canvas *canvas)
{
    const size_t count = (size_t)canvas->width * canvas->height;
    uint8_t *classes = malloc(count);
    const bool good =
        classes && glcnn_dataset_read_mask(t->set, t->part, t->index, canvas->width, canvas->height,
                                           classes, NULL) == GLCNN_SUCCESS;
    for (size_t i = 0; i < count && good; i++)
        if (classes[i] > 0 && classes[i] != GLCNN_DATA_NO_CLASS)
            canvas_tint(canvas->pixels + 3 * i, classes[i] - 1u);
    free(classes);
}

static void show_points(const struct truth *t, const struct canvas *canvas)
{
    uint32_t size[2];
    const float *numbers = glcnn_dataset_numbers(t->set, t->part, t->index);
    glcnn_dataset_size(t->set, t->part, t->index, &size[0], &size[1]);
    for (uint32_t k = 0; numbers && k < keypoint_count(t->form); k++)
        if (keypoint_is_in(size, numbers + 2 * (size_t)k))
            canvas_cross(canvas, (long)(numbers[2 * k] * (float)canvas->width / (float)size[0]),
                         (long)(numbers[2 * k + 1] * (float)canvas->height / (float)size[1]), k);
}

void truth_show(const struct truth *truth, uint32_t width, uint32_t height, uint8_t *pixels)
{
    const struct canvas canvas = {pixels, width, height};
    const struct task *task = task_of(truth->form);
    if (task == &task_detect)
        show_boxes(truth, &canvas);
    else if (task == &task_segment)
        show_mask(truth, &canvas);
    else if (task == &task_keypoints)
        show_points(truth, &canvas);
}
