#!/bin/sh
# The kernels that drivers differ in, checked on every driver that needs no GPU, one row each; what
# is too old for OpenGL ES 3.1 is refused with a message.
#
# Runs from the top of a built tree. O may be given. Exits 77 where Mesa's llvmpipe is not there. A
# driver whose package is missing has a row that says so.

. tests/tool.sh
other=
trap 'kill $other 2>/dev/null; exit 130' INT TERM # the lane behind does not hear of Ctrl-C
unset GLCNN_LIMITS GALLIUM_DRIVER LIBGL_ALWAYS_SOFTWARE MESA_EXTENSION_OVERRIDE
unset MESA_GLES_VERSION_OVERRIDE
export GLCNN_DEVICE=software

# One kernel of each kind: windows of textures, sums through shared memory, atomics or none, weights
# in buffers, many outputs of a pass, updates in place. Where tests/encode/test_kernels.c checks every kernel
# (llvmpipe, the minimum limits, softpipe) one shows that the driver is taken.
kernels='convolution batch_normalization_gradient pooling_max_gradient fully_connected_gradient
    loss soft_max optimizer_adam'

# Extensions that some driver of a board lacks. Mesa cannot hide GL_KHR_debug, and needs others for
# OpenGL ES 3.1.
optional='KHR_robustness EXT_robustness EXT_disjoint_timer_query EXT_color_buffer_half_float
    EXT_float_blend OES_texture_float_linear EXT_texture_norm16 OES_texture_buffer
    EXT_texture_buffer OES_gpu_shader5 EXT_gpu_shader5 EXT_buffer_storage OES_copy_image
    EXT_copy_image EXT_clear_texture OES_EGL_image'

# row NAME VERSION RESULT: what a driver's file ends with.
row() {
    printf 'row %-32s %-30s %s\n' "$@"
}

without_optional() {
    list=$(printf -- '-GL_%s ' $optional)
    MESA_EXTENSION_OVERRIDE=$list "$glcnn" info --json 2>/dev/null |
        grep -q '"GL_[A-Z]*_robustness":.*true' && fail "the extensions are still there: $list"
    MESA_EXTENSION_OVERRIDE=$list check "$@"
}

# check NAME RENDERER VERSION: the driver is the one meant, and every kernel keeps its bounds.
check() {
    status=0
    "$glcnn" check --quick $(printf -- '-k %s ' $kernels) >"$work/$1.out" 2>"$work/$1.err" ||
        status=$?
    [ $status = 0 ] || {
        cat "$work/$1.out" "$work/$1.err"
        fail "$1: the check ends with status $status"
    }
    head=$(grep -v '^Warning: ' "$work/$1.out" | head -n 2) # Mesa's, of what it cannot hide
    version=$(echo "$head" | tail -n 1)
    case $head in
    "glcnn "*" on $2"*"
OpenGL ES $3"*) ;;
    *) fail "$1: it ran on another driver: $head" ;;
    esac
    closing='^\([1-9][0-9]* kernels, 0 failed\); \(largest error .*\)'
    result=$(sed -n "s/$closing/\1, \2/p" "$work/$1.out")
    [ -n "$result" ] || fail "$1: the check tells no result"
    row "$1" "$version" "$result"
}

# refuses NAME VERSION: the message says what was found and what is needed.
refuses() {
    status=0
    MESA_GLES_VERSION_OVERRIDE=$2 "$glcnn" check --quick -k add >"$work/$1.out" 2>&1 || status=$?
    [ $status = 77 ] || fail "$1: status $status: $(cat "$work/$1.out")"
    grep -q "found \"OpenGL ES $2 .*\", need OpenGL ES 3.1" "$work/$1.out" ||
        fail "$1: $(cat "$work/$1.out")"
    row "$1" "OpenGL ES $2" 'refused: needs OpenGL ES 3.1'
}

zink() {
    ls /usr/share/vulkan/icd.d/lvp_icd* >/dev/null 2>&1 || {
        row zink '' 'not run: needs mesa-vulkan-drivers'
        return
    }
    LIBGL_ALWAYS_SOFTWARE=1 GALLIUM_DRIVER=zink check "zink on lavapipe" zink 3.
}

# The server has one socket, whose name is fixed, so there is one at a time.
virgl() {
    command -v virgl_test_server >/dev/null || {
        row virgl '' 'not run: needs virgl-server'
        return
    }
    socket=/tmp/.virgl_test
    exec 9>/tmp/.virgl_test.lock
    flock 9
    rm -f $socket
    virgl_test_server --use-egl-surfaceless >"$work/server" 2>&1 9>&- &
    server=$!
    trap 'kill $server' EXIT # of this driver's subshell
    until [ -S $socket ]; do
        kill -0 $server 2>/dev/null || fail "virgl: its server ended: $(cat "$work/server")"
        sleep 0.1
    done
    LIBGL_ALWAYS_SOFTWARE=1 GALLIUM_DRIVER=virpipe check 'virgl over vtest' virgl 3.
}

# A lane runs one driver after the other; two lanes fill two processors for as long.
lane() {
    status=0
    while read -r name command; do
        (eval "$command") >"$work/$name" 2>&1 || status=1
    done
    return $status
}

"$glcnn" info >/dev/null 2>&1 || skip 'there is no software device'
lane <<'END_OF_LANE' &
7 virgl
5 kernels=add GALLIUM_DRIVER=softpipe check softpipe softpipe 3.1
8 refuses 'ES 3.0' 3.0
9 refuses 'ES 2.0' 2.0
END_OF_LANE
other=$!
bad=0
lane <<'END_OF_LANE' || bad=1
1 kernels=add check llvmpipe llvmpipe 3.2
2 MESA_GLES_VERSION_OVERRIDE=3.1 check 'llvmpipe held at ES 3.1' llvmpipe 3.1
3 without_optional 'llvmpipe, no optional extension' llvmpipe 3.1
4 kernels=add GLCNN_LIMITS=min check 'llvmpipe, minimum limits' llvmpipe 3.2
6 zink
END_OF_LANE
wait $other || bad=1
cat "$work"/[1-9]
exit $bad
