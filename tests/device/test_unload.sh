#!/bin/sh
# A program that loads the library, opens the software device, closes it and unloads the library has
# none of the driver's threads left. A display that the program has initialised itself stays, and so
# does one that a device is open on, which is told by exit.
#
# Runs from the top of a built tree. CC and O may be given. Exits 77 without a software device.

. tests/tool.sh
GLCNN_DEVICE=software "$out/glcnn" info >/dev/null 2>&1 || skip 'there is no software device'

cat >"$work/unload.c" <<'END'
/* usage: unload LIBRARY closed|foreign|open */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glcnn/device.h>

static int threads(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; (task = readdir(tasks)) != NULL;)
        count += task->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* Those that a software device can be of. */
static size_t find_displays(EGLDisplay displays[9])
{
    EGLDeviceEXT devices[8];
    EGLint count = 0;
    PFNEGLQUERYDEVICESEXTPROC query = (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
    PFNEGLGETPLATFORMDISPLAYEXTPROC get =
        (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    query(8, devices, &count);
    for (EGLint i = 0; i < count; i++)
        displays[i] = get(EGL_PLATFORM_DEVICE_EXT, devices[i], NULL);
    displays[count] = get(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    return (size_t)count + 1;
}

static size_t count_initialised(const EGLDisplay *displays, size_t count)
{
    size_t initialised = 0;
    for (size_t i = 0; i < count; i++)
        initialised += eglQueryString(displays[i], EGL_VERSION) != NULL;
    return initialised;
}

int main(int argc, char *argv[])
{
    const struct glcnn_device_parameters parameters = {.device = "software"};
    EGLDisplay displays[9];
    size_t count = find_displays(displays), before = 0;
    for (size_t i = 0; i < count && strcmp(argv[2], "foreign") == 0; i++)
        before += eglInitialize(displays[i], NULL, NULL) == EGL_TRUE;
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (argc != 3 || library == NULL)
        return 2;
    __typeof__(&glcnn_device_create) create =
        (__typeof__(&glcnn_device_create))dlsym(library, "glcnn_device_create");
    __typeof__(&glcnn_device_destroy) destroy =
        (__typeof__(&glcnn_device_destroy))dlsym(library, "glcnn_device_destroy");
    for (int i = 0; i < 2; i++) {
        glcnn_device *device = NULL;
        if (create(&parameters, &device) != GLCNN_SUCCESS)
            return 3;
        if (strcmp(argv[2], "open") == 0)
            return 0;
        destroy(&device);
    }
    dlclose(library);
    printf("%d threads, %zu displays more\n", threads(), count_initialised(displays, count) - before);
    return 0;
}
END
$cc -Iinclude -I"$out/include" -o "$work/unload" "$work/unload.c" -lEGL -ldl || exit 1
for how in closed foreign; do
    said=$("$work/unload" "$out/libglcnn.so" $how) || { echo "$how: status $?"; exit 1; }
    case $how:$said in
    'closed:1 threads, 0 displays more' | foreign:*', 0 displays more') ;;
    *) echo "$how: $said"; exit 1 ;;
    esac
done
"$work/unload" "$out/libglcnn.so" open || { echo "a program that ends with an open device has the status $?"; exit 1; }
