/* Lists of pictures: a name or a path on each line of a file. */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "message.h"
#include "set.h"

#define MAX_LIST ((size_t)64 << 20) /* bytes of a list */

static const char blanks[] = " \t\r";

/* Cuts what Pascal VOC writes behind a name: " -1", " 0" or " 1", whether a class is in the picture. */
static void cut_mark(char *line)
{
    char *blank = strrchr(line, ' '), *tab = strrchr(line, '\t');
    char *last = tab > blank ? tab : blank;
    if (!last ||
        (strcmp(last + 1, "-1") != 0 && strcmp(last + 1, "0") != 0 && strcmp(last + 1, "1") != 0))
        return;
    while (last > line && strchr(blanks, last[-1]))
        last--;
    *last = 0;
}

/* Backslashes of Windows become slashes. */
static bool cut_names(char *text, bool is_bare, struct listing *names)
{
    for (char *line; (line = bytes_line(&text)) != NULL;) {
        line += strspn(line, blanks);
        size_t length = strlen(line);
        while (length > 0 && strchr(blanks, line[length - 1]))
            length--;
        line[length] = 0;
        cut_mark(line);
        for (char *at = line; *at; at++)
            *at = *at == '\\' ? '/' : *at;
        const char *name = is_bare && strrchr(line, '/') ? strrchr(line, '/') + 1 : line;
        if (*name && !listing_add(names, name))
            return false;
    }
    return true;
}

static void drop_repeats(glcnn_data_set *set, const char *path, struct listing *names)
{
    char message[GLCNN_ERROR_LENGTH];
    struct tally repeats = {0};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < names->count; i++) {
        if (kept == 0 || strcmp(names->names[kept - 1], names->names[i]) != 0) {
            names->names[kept++] = names->names[i];
            continue;
        }
        if (repeats.count++ == 0)
            snprintf(repeats.first, sizeof repeats.first, "%.100s", names->names[i]);
        free(names->names[i]);
    }
    names->count = kept;
    snprintf(message, sizeof message,
             "%.250s: %u names are repeated, and count once: %.100s is the first", path,
             repeats.count, repeats.first);
    if (repeats.count > 0)
        set_decide(set, message);
}

glcnn_status boxes_read_list(glcnn_data_set *set, const char *path, bool is_bare,
                             struct listing *names, char *error)
{
    struct bytes bytes;
    char *text;
    *names = (struct listing){0};
    glcnn_status status = bytes_read_text(&bytes, path, MAX_LIST, &text, error);
    if (status == GLCNN_SUCCESS && !cut_names(text, is_bare, names))
        status = data_no_memory(error, path);
    bytes_free(&bytes);
    listing_sort(names);
    drop_repeats(set, path, names);
    return status;
}
