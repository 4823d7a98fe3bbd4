/* GLCNN_DEBUG=race: what uses memory too early or too late gives other bits, or is refused. */
#ifndef GLCNN_RACE_H
#define GLCNN_RACE_H

#include "record/command_buffer.h"

/* Before the passes of a commit: lets the GPU lag behind, and fills with NaN what no pass may read
 * before the commit has written it, textures of temporary images and workspace. */
glcnn_status race_prepare(struct glcnn_command_buffer *command_buffer);

/* Which pass is issued in place of pass `index`: of those that are said to be independent of each
 * other the last comes first. */
size_t race_order(const struct glcnn_command_buffer *command_buffer, size_t index);

#endif
