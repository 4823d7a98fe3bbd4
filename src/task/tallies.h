/* What each picture adds to the sums of a score, so that the sums of pictures that are drawn anew need no
 * network. Most sums get nothing of a picture: only those that do are kept. */
#ifndef GLCNN_TASK_TALLIES_H
#define GLCNN_TASK_TALLIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tally {
    uint32_t picture, index; /* of the sum */
    double value;
};

/* All zero: none. */
struct tallies {
    struct tally *items;
    size_t count, capacity;
    uint32_t pictures;
    bool lacks_memory; /* some are not there */
};

/* None, with the memory that there is. */
void tallies_clear(struct tallies *tallies);
void tallies_free(struct tallies *tallies);

/* The tallies that follow are those of another picture. */
void tallies_begin_picture(struct tallies *tallies);
/* Of the same sum the picture has one tally, unless it has more than 64 of others in between. */
void tallies_add(struct tallies *tallies, size_t index, double value);

/* The sums of pictures of which number i was drawn times[i] times. */
void tallies_sum(const struct tallies *tallies, const uint32_t *times, double *sums,
                 size_t sum_count);

/* All as numbers, for others that have seen other pictures: how many, and they themselves. */
size_t tallies_numbers(const struct tallies *tallies);
void tallies_write(const struct tallies *tallies, double *numbers);
/* Takes several such rows of numbers, one behind another, `count` in all, in place of what is there. False: not
 * enough memory, or they are none. */
bool tallies_read(struct tallies *tallies, const double *numbers, size_t count);

#endif
