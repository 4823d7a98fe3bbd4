/* Paths by their bytes. */
#include "data_path.h"

#include <stdio.h>
#include <string.h>

bool data_path_write(const char *path, char text[DATA_PATH_TEXT])
{
    *text = 0;
    if (strlen(path) >= DATA_PATH_MAX)
        return false;
    for (; *path; path++) {
        const unsigned char byte = (unsigned char)*path;
        text += sprintf(text, byte == '%' || byte >= 0x80 ? "%%%02x" : "%c", byte);
    }
    return true;
}

bool data_path_read(const char *text, char path[DATA_PATH_MAX])
{
    char *const end = path + DATA_PATH_MAX - 1;
    for (; *text && path < end; text++) {
        unsigned byte = (unsigned char)*text;
        if (byte == '%' && (sscanf(text + 1, "%2x", &byte) != 1 || strlen(text) < 3 || byte == 0))
            return false;
        text += *text == '%' ? 2 : 0;
        *path++ = (char)byte;
    }
    *path = 0;
    return *text == 0;
}
