/* Folders that tests write into. */
#include "tests/folder.h"

#include <dirent.h>

#include "tests/unit.h"

size_t folder_count_files(const char *folder)
{
    size_t count = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

void folder_empty(const char *folder)
{
    DIR *directory = opendir(folder);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char path[512];
        snprintf(path, sizeof path, "%s/%.200s", folder, entry->d_name);
        if (entry->d_name[0] != '.' && remove(path) != 0)
            CU_FAIL("a file of the test cannot be removed");
    }
    closedir(directory);
}
