/* What the environment's GLCNN_DEBUG asks for: glcnn/device.h. */
#ifndef GLCNN_DEBUG_H
#define GLCNN_DEBUG_H

#include <stdbool.h>

enum debug_check { DEBUG_SYNC = 1, DEBUG_NAN = 2, DEBUG_VERIFY = 4, DEBUG_RACE = 8 };

#define DEBUG_WORDS "sync, nan, verify, race"

/* The checks that are asked for, a mask. False where a word is none of them: `unknown` has it. */
bool debug_read(unsigned *checks, char unknown[32]);

#endif
