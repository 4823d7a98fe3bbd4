#!/bin/sh
# EGL's default display, and drivers of vendors: Mesa without each extension that some of them lack,
# and without all of them, found as a device and asked for kernels' results: of two, and with
# GLCNN_TEST_FULL of all.
#
# Runs from the top of a built tree. CC and O may be given. Exits 77 where Mesa's llvmpipe is not there.

. tests/tool.sh
trap 'exit 130' INT TERM
unset GLCNN_DEVICE DISPLAY WAYLAND_DISPLAY
kernels='-k add -k convolution' result='2 kernels, 0 failed'
if [ -n "$GLCNN_TEST_FULL" ]; then
    kernels='' result='1[0-9][0-9] kernels, 0 failed'
    export GLCNN_CACHE_DIR="$work/programs" # the driver is one, and compiles but once
fi
export EGL_PLATFORM=surfaceless # Mesa's default display

devices='EGL_EXT_device_base EGL_EXT_device_enumeration EGL_EXT_device_query EGL_EXT_platform_device'
nameless="$devices EGL_EXT_platform_base EGL_KHR_platform_gbm EGL_MESA_platform_gbm
    EGL_MESA_platform_surfaceless"
made='EGL_KHR_surfaceless_context EGL_KHR_no_config_context EGL_KHR_create_context
    EGL_EXT_create_context_robustness'

"$glcnn" info --json 2>/dev/null | grep -q '"usable":.*true' || skip 'no device is here'
$cc -D_GNU_SOURCE -shared -fPIC -O1 -o "$work/blob.so" tests/preload/blob.c -ldl || exit 1

# blob EXTENSIONS COMMAND...: the command's standard output, on an EGL that lacks them.
blob() {
    lacking=$(echo $1)
    shift
    BLOB_LACKS=$lacking LD_PRELOAD=$work/blob.so "$@" 2>"$work/errors"
}

# works NAME EXTENSIONS DEVICE PROVIDER LINE: without these extensions `glcnn info` chooses a device of
# that provider and has this line of it, and kernels are right. Without a DEVICE none is asked for.
works() {
    blob "$2" env GLCNN_DEVICE="$3" "$glcnn" info >"$work/info" ||
        fail "without $1: $(cat "$work/info" "$work/errors")"
    grep -q "^  provider  *$4\$" "$work/info" && grep -q "^  $5" "$work/info" ||
        fail "without $1, not $4 with \"$5\": $(cat "$work/info")"
    blob "$2" env GLCNN_DEVICE="$3" "$glcnn" check --quick $kernels >"$work/check" ||
        fail "without $1: $(cat "$work/check" "$work/errors")"
    grep -q "^$result" "$work/check" || fail "without $1: $(cat "$work/check")"
    echo "row hidden: $1; asked for: ${3:-none}; $(sed -n 's/^  why  *//p' "$work/info");" \
        "$(sed -n 's/^\([0-9]* kernels, 0 failed\).*/\1/p' "$work/check")"
}

for extension in EGL_MESA_platform_surfaceless EGL_KHR_no_config_context; do
    works $extension $extension default default 'why .*, without a surface'
done
works EGL_KHR_surfaceless_context EGL_KHR_surfaceless_context default default 'why .*, with a pbuffer of 1x1'
works EGL_KHR_create_context EGL_KHR_create_context default default 'why .*: EGL 1.4 of '
works EGL_EXT_create_context_robustness EGL_EXT_create_context_robustness default default 'robust  *no'
works EGL_EXT_device_base "$devices" default default 'why .*, without a surface'
works nothing '' default default 'robust  *yes'
works 'what makes a context' "$made" '' '[a-z]*' 'why  *software, since'
works 'platforms by name' "$nameless" '' default 'why  *software, since .*: EGL 1.5 of .*, without a surface'
works 'all of these' "$nameless $made" '' default 'why  *software, since .*: EGL 1.4 of .*, with a pbuffer of 1x1'

# Where there is no display either, each candidate has its reason.
blob "$nameless" env EGL_PLATFORM=x11 "$glcnn" check -k add >"$work/check" &&
    fail "without any display: $(cat "$work/check")"
grep -q 'default display: eglInitialize: EGL_.*; EGL lists no device' "$work/check" "$work/errors" ||
    fail "without any display: $(cat "$work/check" "$work/errors")"
