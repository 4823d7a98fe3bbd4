/* Files that a command is to write: nobody else writes them meanwhile, and none is written over unless
 * the user says so. Functions give a status of tool.h, and have printed what was wrong. */
#ifndef GLCNN_TOOL_CLAIM_H
#define GLCNN_TOOL_CLAIM_H

#include <stdbool.h>

#include <glcnn/io.h>

#include "tool.h"

/* Locks the path; the caller owns *lock, to be released with glcnn_file_lock_release. in_place: it may
 * be a device or a pipe, too, which nobody locks: *lock stays NULL. */
int claim_lock(const struct tool_command *command, const char *path, bool in_place,
               glcnn_file_lock **lock);

/* Refuses a path that has a file already; an empty one is none. `resumed`, if not NULL, is what --resume
 * goes on with in place of writing over it. */
int claim_refuse_old(const struct tool_command *command, const char *path, const char *resumed);

/* Both, for a command without --resume. force: an old file may be written over. */
int claim_output(const struct tool_command *command, const char *path, bool force,
                 glcnn_file_lock **lock);

#endif
