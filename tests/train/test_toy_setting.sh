#!/bin/sh
# A setting of a training is one row of src/train/train_settings.def: a toy row is added to a copy of the table, and
# the option, its help, its range, its default, the metadata of a checkpoint and what a resumed run may change
# follow from it, without an edit anywhere else.
#
# Runs from the top of a built tree. O and CC may be given.
set -e
. tests/tool.sh

# What includes the table is compiled anew beside the copy; everything else is as it was built.
mkdir "$work/src" "$work/objects"
cp -R src/train src/tool "$work/src"
row='SETTING(double, toy, "toy", "BRICKS", "how many bricks (default 3)", REAL, 0, 10, .fallback = 3, .is_kept = true, .on_resume = GLCNN_TRAIN_RESUME_FIXED, .since = 1)'
awk -v row="$row" '/^SETTING\(/ && !done { print row; done = 1 } { print }' src/train/train_settings.def \
    >"$work/src/train/train_settings.def"
cat >"$work/src/train/toy.c" <<'END'
/* Sets the toy setting, keeps it, and resumes with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train_settings.h"

int main(int argc, char *argv[])
{
    char error[GLCNN_ERROR_LENGTH] = "";
    static glcnn_train_settings s;
    static struct settings_entries entries;
    for (int i = 1; i + 1 < argc; i += 2)
        if (glcnn_train_settings_set(&s, argv[i], argv[i + 1], error) != GLCNN_SUCCESS)
            return puts(error), 1;
    if (settings_finish(&s, error) != GLCNN_SUCCESS || settings_take_task(&s, task_at(0), error) != GLCNN_SUCCESS)
        return puts(error), 1;
    settings_describe(&s, &entries);
    printf("%g", s.toy);
    for (size_t i = 0; i < entries.count; i++)
        if (strcmp(entries.entries[i].name, "toy") == 0)
            printf(" kept as %s", entries.entries[i].text);
    puts("");
    settings_free(&s);
    return 0;
}
END
include="-iquote $work/src -iquote src -Iinclude -I$out/include"
for file in train/train_settings train/train_settings_fit train/train_settings_resume train/toy tool/train_command; do
    $cc -std=c11 -D_XOPEN_SOURCE=700 -O0 $include $($pkg_config --cflags libcjson) -c \
        -o "$work/objects/$(basename $file).o" "$work/src/$file.c" || fail "$file.c does not compile with the row"
done
libraries="$out/libglcnn_train.a $out/libglcnn_data.a $out/libglcnn_tflite.a $out/libglcnn_onnx.a $out/libglcnn_interchange.a $out/libglcnn.a
    $($pkg_config --libs egl gbm libcjson libcbor liblzma libprotobuf-c libpng libjpeg libwebp libtiff-4 libzip zlib expat yaml-0.1)
    -lstdc++ -pthread -lm"
objects=$work/objects

# link PROGRAM OBJECT...
link() {
    program=$1
    shift
    $cc -o "$work/$program" "$@" "$objects"/train_settings*.o "$out"/examples/support/*.o "$out/tool.a" $libraries ||
        fail "$program does not link"
}
link toy "$objects/toy.o"
link glcnn "$out/src/tool/main.o" "$objects/train_command.o"

# says STATUS WORDS COMMAND...
says() {
    status=$1 words=$2
    shift 2
    code=0
    "$@" >"$work/log" 2>&1 || code=$?
    [ $code = "$status" ] && grep -qF -e "$words" "$work/log" || {
        cat "$work/log"
        fail "$*: the status is $code, or no word of \"$words\""
    }
}
says 0 '--toy=BRICKS' "$work/glcnn" help train
says 0 'how many bricks (default 3)' "$work/glcnn" help train
says 2 '--toy is "11"; it must be a number in 0 .. 10' "$work/glcnn" train --toy 11
says 0 '3 kept as 3' "$work/toy"
says 0 '7.5 kept as 7.5' "$work/toy" toy 7.5
says 1 '--toy is "-1"' "$work/toy" toy -1
