/* Compiled graphs: recordings that are planned for sources of certain sizes, within the graph's
 * memory budget, and executed any number of times. */
#ifndef GLCNN_COMPILE_H
#define GLCNN_COMPILE_H

#include "record/command_buffer.h"
#include "graph/recording.h"

struct compiled {
    struct compiled *next;
    struct glcnn_image *
        *sources; /* whose storage the passes use now: placeholders until executed */
    struct glcnn_command_buffer *command_buffer;
    struct memory_choice choice;
    struct recording recording;
    struct command_memory memory;
    double whole_time; /* recording_time without a budget */
    size_t lent; /* most bytes of a vector of part sums, unless a budget needs fewer; 0: any */
    uint64_t workspace_size; /* of all that are lent to one plan, where they may take any */
    bool has_programs;
};
/* What the graph has compiled for these, or compiles now. */
glcnn_status compiled_find(struct glcnn_graph *graph, const struct glcnn_image_descriptor *sources,
                           struct compiled **compiled);
/* Records it again by the same choice, with placeholders for sources. */
glcnn_status compiled_renew(struct glcnn_graph *graph, struct compiled *compiled);
void compiled_free(struct compiled *compiled, size_t source_count);
void compiled_free_all(struct glcnn_graph *graph);

#endif
