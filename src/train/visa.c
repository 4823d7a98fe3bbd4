/* The list of VisA: lines OBJECT,SPLIT,LABEL,IMAGE,MASK below a line of these names; paths begin with the object. */
#include "visa.h"

#include <glcnn/io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LIST      "split_csv/1cls.csv"
#define LIST_MOST ((size_t)16 << 20)
#define PATH_MOST 4096

enum { OBJECT, SPLIT, LABEL, IMAGE, COLUMNS };

bool visa_is_object(const char *folder)
{
    char path[PATH_MOST];
    struct stat info;
    const int length = snprintf(path, sizeof path, "%s/" VISA_PICTURES "/Normal", folder);
    return length < PATH_MOST && stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool visa_has_split(const char *folder)
{
    char path[PATH_MOST];
    struct stat info;
    const int length =
        snprintf(path, sizeof path, visa_is_object(folder) ? "%s/../" LIST : "%s/" LIST, folder);
    return length < PATH_MOST && stat(path, &info) == 0;
}

/* The list beside the object, as a text; NULL: it cannot be read. */
static char *read_list(const char *folder)
{
    char path[PATH_MOST];
    void *bytes = NULL;
    size_t size = 0;
    const int length = snprintf(path, sizeof path, "%s/../" LIST, folder);
    if (length >= PATH_MOST ||
        glcnn_file_load(path, LIST_MOST, &bytes, &size, NULL) != GLCNN_SUCCESS)
        return NULL;
    char *text = malloc(size + 1);
    if (text) {
        memcpy(text, bytes, size);
        text[size] = 0;
    }
    free(bytes);
    return text;
}

/* Cuts the next line into its first columns. False: it has fewer, and is passed over. */
static bool cut_line(char **text, char *columns[COLUMNS])
{
    char *line = *text;
    const size_t length = strcspn(line, "\r\n");
    *text += length + strspn(line + length, "\r\n");
    line[length] = 0;
    for (int i = 0; i < COLUMNS; i++) {
        columns[i] = line;
        char *comma = strchr(line, ',');
        if (!comma && i < IMAGE)
            return false;
        if (comma)
            *comma = 0;
        line = comma ? comma + 1 : line + strlen(line);
    }
    return true;
}

/* Returns what follows the object's name in the path of a picture; NULL: it is none of this object and split. */
static const char *find_picture(char *const columns[COLUMNS], const char *object, const char *split)
{
    const size_t length = strlen(object);
    const char *image = columns[IMAGE];
    return strcmp(columns[OBJECT], object) == 0 && strcmp(columns[SPLIT], split) == 0 &&
                   strncmp(image, object, length) == 0 && image[length] == '/'
               ? image + length
               : NULL;
}

static bool take_pictures(char *text, const char *folder, const char *object, const char *split,
                          bool (*take)(void *user, const char *path), void *user, bool *found)
{
    char *columns[COLUMNS], path[PATH_MOST];
    bool good = true;
    while (*text && good) {
        const char *picture =
            cut_line(&text, columns) ? find_picture(columns, object, split) : NULL;
        if (!picture || snprintf(path, sizeof path, "%s%s", folder, picture) >= PATH_MOST)
            continue;
        *found = true;
        good = take(user, path);
    }
    return good;
}

bool visa_list(const char *folder, const char *split, bool (*take)(void *user, const char *path),
               void *user, bool *found)
{
    char *text = read_list(folder), *real = realpath(folder, NULL);
    const char *slash = real ? strrchr(real, '/') : NULL;
    *found = false;
    const bool good =
        !text || !slash || take_pictures(text, folder, slash + 1, split, take, user, found);
    free(text);
    free(real);
    return good;
}
