#!/bin/sh
# Nothing of glibc is needed: with musl's headers the core compiles without a warning, it links with
# musl's library, and a kernel goes through it. Mesa is linked with glibc, and no program of musl can load
# it: the driver is one that does nothing.
#
# Runs from the top of a built tree. O may be given. Exits 77 where musl-gcc is not here.

. tests/tool.sh
command -v musl-gcc >/dev/null || skip 'musl-gcc is not here'
trap 'exit 130' INT TERM

# Headers that are of no C library: the kernel's, EGL's and those of OpenGL ES.
mkdir "$work/include" "$work/objects"
for folder in EGL KHR GLES2 GLES3 linux asm-generic; do
    ln -s "/usr/include/$folder" "$work/include/$folder"
done
ln -s "$(dirname "$(echo '#include <asm/types.h>' | cc -E - | sed -n 's/^# 1 "\(.*\/asm\/types.h\)".*/\1/p')")" \
    "$work/include/asm"

# A request of the kernel's is an int here, and none is in glibc: -Wno-sign-conversion.
compile() {
    musl-gcc -std=c11 -O0 -fPIC -D_XOPEN_SOURCE=700 -DEGL_NO_X11 -Iinclude -I"$out/include" -iquote src \
        -iquote . -isystem "$work/include" -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion \
        -Wmissing-prototypes -Wundef -Wno-missing-field-initializers -Werror -c \
        -o "$work/objects/$(echo "$1" | tr / _).o" "$1"
}
count=0
for file in $(tr ' ' '\n' <"$out/files" | sed -n 's/\/gbm_device/\/no_gbm_device/; /\.c$/p') \
    "$out/registry.c" "$out/desktop_registry.c" "$out/shaders.c" "$out/constructors.c" "$out/nodes.c"; do
    compile "$file" || fail "$file does not compile"
    count=$((count + 1))
done
echo "row core: $count files compile without a warning"

musl-gcc -shared -fPIC -DEGL_NO_X11 -isystem "$work/include" -o "$work/libEGL.so" tests/preload/nothing.c ||
    fail 'there is no driver'
musl-gcc -shared -Wl,--no-undefined -o "$work/libglcnn.so" "$work"/objects/*.o -L"$work" -lEGL ||
    fail 'the core does not link'
cat >"$work/program.c" <<'END'
#include <glcnn/glcnn.h>
#include <stdio.h>

/* The largest of four pixels, on the device or in the reference; -1 where it does not run. */
static float largest(glcnn_device *device, bool reference)
{
    float pixels[] = {1, 4, 3, 2}, found = -1;
    const struct glcnn_array source = {"source_image", 4, {1, 1, 2, 2}, pixels};
    const struct glcnn_setting settings[] = {{"kernel_width", 2}, {"kernel_height", 2}};
    const struct glcnn_run_options options = {.reference = reference};
    struct glcnn_array *outputs;
    size_t count;
    char error[GLCNN_ERROR_LENGTH];
    if (glcnn_run(device, "pooling_max", settings, 2, &source, 1, &options, &outputs, &count, error) !=
        GLCNN_SUCCESS) {
        puts(error);
        return -1;
    }
    for (uint32_t i = 0, last = outputs->shape[2] * outputs->shape[3]; i < last; i++)
        found = outputs->data[i] > found ? outputs->data[i] : found;
    glcnn_run_destroy(outputs);
    return found;
}

int main(void)
{
    glcnn_device *device = NULL;
    if (glcnn_device_create(NULL, &device) != GLCNN_SUCCESS)
        return 1;
    printf("%s: %g, reference %g\n", glcnn_device_info(device)->renderer, (double)largest(device, false),
           (double)largest(device, true));
    glcnn_device_destroy(&device);
    return 0;
}
END
musl-gcc -std=c11 -Iinclude -I"$out/include" -o "$work/program" "$work/program.c" "$work/libglcnn.so" \
    "$work/libEGL.so" -Wl,-rpath,"$work" || fail 'a program does not link'
env -u GLCNN_DEVICE GLCNN_CACHE_DIR=off "$work/program" >"$work/said" ||
    fail "the program ends with status $?: $(cat "$work/said")"
grep -qx '.* that does nothing: 0, reference 4' "$work/said" || fail "$(cat "$work/said")"
echo "row program: $(cat "$work/said")"
