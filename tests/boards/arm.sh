#!/bin/sh
# Makes what tests/check_boards_arm.sh needs: the arm64 binaries of Mesa that Debian gives to boards, fake
# devices for them, and the programs that run on these.
#
# usage: tests/boards/arm.sh FOLDER SUITE...
#
# FOLDER gets a root for each SUITE (bookworm, trixie, sid), in which nothing is run: mmdebstrap unpacks
# packages, and qemu-user-static runs programs on them. The fake devices (drm-shim) are compiled from the
# source of trixie's Mesa, and serve the drivers of every suite. What is there already is taken as it is:
# from nothing, two to three minutes and 1.5 GB for three suites. Exits 77 with a sentence where something
# cannot be had; a missing sid is only said.

set -u
[ $# -ge 2 ] || {
    echo 'usage: tests/boards/arm.sh FOLDER SUITE...' >&2
    exit 2
}
here=$(cd "$(dirname "$0")" && pwd) # of the tree
mkdir -p "$1" || exit 1
cd "$1" || exit 1
shift
packages='gcc-aarch64-linux-gnu libc6-dev-arm64-cross libdrm-dev libegl-dev libgles-dev mmdebstrap
    qemu-user-static xz-utils'

skip() {
    echo "$*"
    exit 77
}

# root SUITE ARCHIVE: a mirror that has stood still serves too. What links /lib to /usr/lib is no package
# that Mesa needs.
make_root() {
    [ ! -e "$1.made" ] || return 0
    rm -rf "$1"
    mmdebstrap --arch=arm64 --variant=extract --include=libegl1,libgles2,libgl1-mesa-dri \
        --aptopt='Acquire::Check-Valid-Until "false"' "$1" "$1" "$2" >"$1.log" 2>&1 || return 1
    [ -e "$1/lib" ] || ln -s usr/lib "$1/lib"
    touch "$1.made"
}

what_failed() { # LOG
    grep -m 1 '^E: ' "$1" || tail -n 1 "$1"
}

make_roots() { # ARCHIVE SUITE...
    archive=$1 makers=''
    shift
    for suite; do
        make_root "$suite" "$archive" &
        makers="$makers $!"
    done
    wait $makers
    for suite; do
        [ -e "$suite.made" ] || case $suite in
        sid) echo "note: no $suite for arm64 from $archive: $(what_failed "$suite.log")" ;;
        *) skip "no $suite for arm64 from $archive: $(what_failed "$suite.log")" ;;
        esac
    done
}

# ---- Fake devices --------------------------------------------------------------------------------

# apt with lists of its own: those of the machine stay as they are, and no right is needed.
fetch_source() { # ARCHIVE
    mkdir -p lists/partial
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $1 trixie main" \
        >sources.list
    set -- -q -o "Dir::Etc::SourceList=$PWD/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o "Dir::State::Lists=$PWD/lists" -o APT::Sandbox::User=root
    apt-get "$@" update && apt-get "$@" source --download-only mesa
}

unpack_source() {
    rm -rf src
    mkdir src
    tar -xf mesa_*.orig.tar.?z -C src --strip-components=1 --wildcards \
        '*/include' '*/src/c11' '*/src/drm-shim' '*/src/util' '*/src/*/drm-shim' \
        '*/src/gallium/drivers/nouveau'
}

# The fake Adreno leaves what is asked of a queue as it was, so that its count of faults is any number;
# and it does not know the GPUs of Robotics RB1 and of Snapdragon X.
mend_freedreno() {
    sed -i -e '/^static ioctl_fn_t driver_ioctls/i\
static int no_faults(int fd, unsigned long request, void *arg)\
{\
   struct drm_msm_submitqueue_query *query = arg;\
   memset((void *)(uintptr_t)query->data, 0, query->len);\
   return 0;\
}\
' -e 's/\[DRM_MSM_SUBMITQUEUE_QUERY\] = .*/[DRM_MSM_SUBMITQUEUE_QUERY] = no_faults,/' \
        -e '/^static const struct msm_device_info device_infos/a\
   {.gpu_id = 702, .chip_id = 0x07000200, .gmem_size = 128 * 1024},\
   {.gpu_id = 741, .chip_id = 0x43050c01, .gmem_size = 3 * 1024 * 1024},' \
        "src/src/freedreno/drm-shim/freedreno_noop.c"
}

# The fake V3D is 4.2; with V3D_71 it is the one of Raspberry Pi 5.
mend_v3d() {
    sed -i -e '/^v3d_ioctl_get_param/,/^}/{/^ *switch (gp->param) {/i\
        static const uint32_t v3d71[] = {\
                [DRM_V3D_PARAM_V3D_HUB_IDENT3] = 0x00000a00,\
                [DRM_V3D_PARAM_V3D_CORE0_IDENT0] = 0x07443356,\
                [DRM_V3D_PARAM_V3D_CORE0_IDENT1] = 0x21001431,\
        };\
        if (getenv("V3D_71") \&\& gp->param < ARRAY_SIZE(v3d71) \&\& v3d71[gp->param]) {\
                gp->value = v3d71[gp->param];\
                return 0;\
        }
}' "src/src/broadcom/drm-shim/v3d_noop.c"
}

compiler=aarch64-linux-gnu-gcc
headers='-idirafter /usr/include -idirafter /usr/include/libdrm'

compile_shims() {
    flags="-O1 -w -fPIC -std=gnu11 -D_GNU_SOURCE -DNDEBUG -DHAVE_PTHREAD -DHAVE_SECURE_GETENV
        -DHAVE_STRUCT_TIMESPEC -DHAVE_TIMESPEC_GET -DHAVE_ENDIAN_H -DHAVE___BUILTIN_BSWAP32
        -DHAVE_FUNC_ATTRIBUTE_PACKED -DHAVE_THRD_CREATE -DHAVE_MEMFD_CREATE -DHAVE_UNISTD_H
        -DUSE_GCC_ATOMIC_BUILTINS -DMAJOR_IN_SYSMACROS -DUTIL_ARCH_LITTLE_ENDIAN=1
        -DUTIL_ARCH_BIG_ENDIAN=0 -fvisibility=hidden -ffunction-sections
        -Isrc/include -Isrc/include/drm-uapi -Isrc/src -Isrc/src/gallium/include $headers"
    common='drm-shim/device drm-shim/drm_shim c11/impl/threads_posix'
    for name in anon_file blob futex hash_table log memstream os_file os_misc ralloc rb_tree set \
        simple_mtx strtod u_call_once u_debug u_dynarray u_printf u_process vma; do
        common="$common util/$name"
    done
    rm -rf objects
    mkdir objects
    for name in $common; do
        $compiler $flags -c "src/src/$name.c" -o "objects/${name##*/}.o" || return 1
    done
    for pair in panfrost:panfrost broadcom:v3d freedreno:freedreno nouveau:nouveau; do
        $compiler $flags -shared -Wl,--gc-sections -Wl,--no-undefined -o "${pair#*:}.so" \
            "src/src/${pair%:*}/drm-shim/${pair#*:}_noop.c" objects/*.o -lm || return 1
    done
    rm -rf objects src
}

make_shims() { # ARCHIVE
    [ ! -e shims.made ] || return 0
    ls mesa_*.orig.tar.?z >/dev/null 2>&1 || fetch_source "$1" || return 1
    unpack_source && mend_freedreno && mend_v3d && compile_shims && touch shims.made
}

# Of the tree, so they are compiled each time.
make_programs() {
    for suite in trixie bookworm sid; do
        [ ! -e "$suite.made" ] || break
    done
    $compiler -std=c11 -O1 $headers -o compile "$here/compile.c" \
        "$suite/usr/lib/aarch64-linux-gnu/libEGL.so.1" -Wl,--allow-shlib-undefined &&
        $compiler -std=c11 -O1 -shared -fPIC $headers -o observe.so "$here/observe.c"
}

archive=$(sh "$here/../debian_mirror.sh") || skip 'apt knows no archive of Debian'
sh "$here/../../platform/packaging/install_packages.sh" $packages >log 2>&1 ||
    skip "these packages cannot be installed: $(echo $packages)"
make_shims "${archive#* }" >>log 2>&1 &
shims=$!
make_roots "${archive#* }" "$@"
wait $shims || skip "no fake devices: $(tail -n 1 log)"
make_programs >>log 2>&1 || skip "no programs for arm64: $(tail -n 1 log)"
