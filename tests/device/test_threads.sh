#!/bin/sh
# Threads that want one device at the same time do not touch the same memory, ThreadSanitizer says.
#
# Runs from the top of a built tree. CC, PKG_CONFIG and O may be given. The sources that a refused
# call goes through are built with the sanitizer; the rest comes from the library as it is.

cc=${CC:-cc} out=${O:-build} pkg_config=${PKG_CONFIG:-pkg-config}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

# The sanitizer may be missing, or may not bear how this machine lays out memory.
printf 'int main(void) { return 0; }\n' >"$folder/empty.c"
# shellcheck disable=SC2086 # CC may have options
$cc -fsanitize=thread -o "$folder/empty" "$folder/empty.c" 2>"$folder/log" &&
    "$folder/empty" 2>>"$folder/log" || {
    echo "no ThreadSanitizer here: $(tail -n 1 "$folder/log")"
    exit 77
}

# What memcpy touches is not seen, that of race.c's copy_bytes is.
# shellcheck disable=SC2086,SC2046 # options are lists
$cc -std=c11 -g -O1 -D_XOPEN_SOURCE=700 -fsanitize=thread -Dmemcpy=copy_bytes \
    -Iinclude -I"$out/include" -iquote src -iquote . $($pkg_config --cflags egl gbm) \
    -o "$folder/race" tests/threads/race.c src/device/*.c src/image/image.c \
    $(ls platform/*.c | grep -v /no_) \
    "$out/libglcnn.a" $($pkg_config --libs egl gbm) -lm -pthread || exit 1

# Drivers are not built with it: what happens inside them, it cannot know.
TSAN_OPTIONS='exitcode=66 ignore_noninstrumented_modules=1' "$folder/race"
status=$?
[ $status = 0 ] || echo "the threads' program ended with $status"
exit $status
