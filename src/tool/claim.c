/* Whose the files are that a command writes. */
#include "claim.h"

#include <sys/stat.h>

int claim_lock(const struct tool_command *command, const char *path, bool in_place,
               glcnn_file_lock **lock)
{
    char error[GLCNN_ERROR_LENGTH];
    glcnn_status status = glcnn_file_lock_take(path, lock, error);
    return status == GLCNN_SUCCESS || (in_place && status == GLCNN_INVALID_ARGUMENT)
               ? EXIT_GOOD
               : complain(command, EXIT_FAILED, "%s", error);
}

int claim_refuse_old(const struct tool_command *command, const char *path, const char *resumed)
{
    struct stat old;
    if (stat(path, &old) != 0 || !S_ISREG(old.st_mode) || old.st_size == 0)
        return EXIT_GOOD;
    return complain(command, EXIT_FAILED, "%s: already exists; --force overwrites it%s%s%s", path,
                    resumed ? ", --resume " : "", resumed ? resumed : "",
                    resumed ? " continues it" : "");
}

int claim_output(const struct tool_command *command, const char *path, bool force,
                 glcnn_file_lock **lock)
{
    int status = claim_lock(command, path, true, lock);
    return status == EXIT_GOOD && !force ? claim_refuse_old(command, path, NULL) : status;
}
