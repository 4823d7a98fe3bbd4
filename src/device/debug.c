/* Reading GLCNN_DEBUG. */
#include "device/debug.h"

#include <stdio.h>
#include <string.h>

#include "platform/platform.h"

static unsigned check_of(const char *word, size_t length)
{
    static const struct {
        const char *word;
        enum debug_check check;
    } checks[] = {
        {"sync", DEBUG_SYNC}, {"nan", DEBUG_NAN}, {"verify", DEBUG_VERIFY}, {"race", DEBUG_RACE}};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (strlen(checks[i].word) == length && strncmp(checks[i].word, word, length) == 0)
            return checks[i].check;
    return 0;
}

bool debug_read(unsigned *checks, char unknown[32])
{
    const char *text = platform_variable("GLCNN_DEBUG");
    *checks = 0;
    while (text && *text) {
        size_t length = strcspn(text, ",");
        unsigned check = check_of(text, length);
        if (!check) {
            snprintf(unknown, 32, "%.*s", (int)(length < 31 ? length : 31), text);
            return false;
        }
        *checks |= check;
        text += length + (text[length] == ',');
    }
    return true;
}
