/* Exponential moving averages of what training changes: weights, and the running statistics of
 * normalisations too, as torch.optim.swa_utils.AveragedModel has them with buffers. After the first
 * step averages are what that left; after step n, counted from 0, they move by
 *   average += (1 - d) (trained - average),   d = min(decay, (1 + n) / (10 + n))
 * The ramp lets a short run forget the weights that it was drawn with. Statistics take the shares that
 * the weights take, so that they are those of the same steps. The network has the trained values, but
 * between two calls of ema_exchange the averages. */
#ifndef GLCNN_TRAIN_EMA_H
#define GLCNN_TRAIN_EMA_H

#include <glcnn/glcnn.h>

/* All zero: there are no averages, and nothing is done. */
struct ema {
    double decay; /* 0: none are wanted */
    glcnn_network *network;
    struct ema_vector *vectors;
    size_t count, size; /* bytes of all averages */
    glcnn_kernel *optimizer;
    glcnn_command_buffer *commands;
};

/* Functions that return false have left their message with the device, unless there is no memory. */

/* The network, of which nothing has trained yet, must outlive the averages. */
void ema_begin(struct ema *ema, glcnn_network *network, double decay);
void ema_end(struct ema *ema);

/* d of the formula above. */
double ema_decay(const struct ema *ema, uint64_t step);
/* After the step of that number, which a run that goes on counts on. */
bool ema_step(struct ema *ema, uint64_t step);
/* Puts averages in the place of what is trained, and back; nothing before the first step. */
bool ema_exchange(struct ema *ema);

/* The values that a file has beside those of its network, `ema->size` bytes: what is trained while the
 * averages are in place. 0 bytes: there are none. */
bool ema_save(const struct ema *ema, uint8_t *bytes);
/* Of a network that was loaded with averages: takes these as such, if any are wanted, and gives it what
 * was trained. False, and no message, if there are other vectors than the bytes are of. */
bool ema_load(struct ema *ema, const uint8_t *bytes, size_t size);

#endif
