#!/bin/sh
# Checks and trains on real DRM nodes: in QEMU guests with a virtual GPU (virgl, which the host's
# Mesa serves), without a GPU (vgem, llvmpipe in the guest), and with both, on 64 and 32 bit ARM; and
# the frames of a camera (vivid, of the kernel's) where they lie in memory, by tests/drm/bars.c and
# examples/camera.c, and fences, by tests/drm/fences.c. The llvmpipe of Debian 12 neither takes the
# memory that a camera's driver exports nor has fences of its own; that of trixie does.
#
# usage: tests/check_drm.sh [GUEST...]    of those in guests(); all of them where none is named
#
# Runs from the top of the tree, as root. O and MAKE may be given. The guests' kernel, root and tool
# are kept in $O/drm: 0.7 GB and a minute for each architecture. A row for each guest: the node and
# driver that were taken, what the check found, the loss after a step of "small"; of the camera how
# many of its frames were exact, and what the last layer learned from keys. Exits 1 where one
# of them is not as it should be, 77 with a message where QEMU or Debian's packages cannot be had.

set -u
bad=0
out=${O:-build} make=${MAKE:-make}
case $out in /*) ;; *) out=$PWD/$out ;; esac
here=$PWD/tests/drm
kernels='pooling_max_gradient fully_connected_gradient soft_max optimizer_adam'

# Name, Debian's release (- for this machine's), architecture, graphics, device asked for (- for
# none), node and driver that must be taken, and what is done. Last what may not be to be had.
guests() {
    cat <<'END_OF_GUESTS'
virgl - arm64 virgl /dev/dri/renderD128 /dev/dri/renderD128 virgl train
vgem - arm64 vgem /dev/dri/card0 /dev/dri/card0 llvmpipe train
both - arm64 both - /dev/dri/renderD128 virgl train
camera - arm64 vgem /dev/dri/card0 /dev/dri/card0 llvmpipe look
virgl32 - armhf virgl /dev/dri/renderD128 /dev/dri/renderD128 virgl train
camera25 trixie arm64 vgem software - llvmpipe lend
END_OF_GUESTS
}

# Architecture, GNU triplet, kernel package, QEMU's program and processor.
architectures() {
    cat <<'END_OF_ARCHITECTURES'
arm64 aarch64-linux-gnu linux-image-arm64 qemu-system-aarch64 cortex-a72
armhf arm-linux-gnueabihf linux-image-armmp-lpae qemu-system-arm cortex-a15
END_OF_ARCHITECTURES
}

# What the guest runs on, and what the tool is compiled with.
packages='busybox-static,dash,coreutils,libegl1,libgles2,libgbm1,libegl-mesa0,libgl1-mesa-dri'
packages=$packages,libc6-dev,libegl-dev,libgles-dev,libgbm-dev,libdrm-dev,zlib1g-dev,libpng-dev
packages=$packages,libjpeg-dev,libwebp-dev,libtiff-dev,libzip-dev,libexpat1-dev,libcjson-dev,libyaml-dev,libcbor-dev,liblzma-dev,libprotobuf-c-dev
packages=$packages,dataset-fashion-mnist

modules='virtio virtio_ring virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_mmio
    netfs fscache 9pnet 9pnet_virtio 9p cec drm_panel_orientation_quirks i2c-core drm
    drm_kms_helper drm_shmem_helper virtio_dma_buf virtio-gpu vgem vivid'

# A row that failed before counts more.
skip() {
    echo "$*"
    [ "$bad" = 0 ] || exit 1
    exit 77
}

# ---- Once for each architecture ------------------------------------------------------------------

install_packages() {
    [ "$(id -u)" = 0 ] || skip 'the guests need root, for a root of their own'
    command -v apt-get >/dev/null || skip 'the guests are made of Debian packages'
    needed="mmdebstrap bc cpio kmod xz-utils xvfb qemu-system-arm qemu-system-gui libvirglrenderer1"
    needed="$needed pkg-config gcc-$(echo "$triplet" | tr _ -)"
    missing=
    for package in $needed; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed$' ||
            missing="$missing $package"
    done
    [ -z "$missing" ] || DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 \
        install -y -q --no-install-recommends $missing >"$folder/log" 2>&1 ||
        skip "these packages cannot be installed:$missing"
}

# Extracted alone, so that nothing of a foreign architecture runs here. Links of libraries are made
# to lead into the root: the linker follows them from outside.
make_root() {
    [ ! -e "$folder/root.done" ] || return 0
    rm -rf "$folder/root"
    archive=$(sh "$here/../debian_mirror.sh") || skip 'apt knows no archive of Debian'
    [ "$release" != - ] || release=${archive% *}
    mmdebstrap --variant=extract --architectures="$architecture" --include="$kernel,$packages" \
        "$release" "$folder/root" "${archive#* }" >"$folder/log" 2>&1 ||
        skip "the root of $release for $architecture cannot be had: $(tail -n 1 "$folder/log")"
    for link in bin sbin lib; do
        [ -e "$folder/root/$link" ] || ln -s "usr/$link" "$folder/root/$link"
    done
    mkdir -p "$folder/root/proc" "$folder/root/sys" "$folder/root/dev" "$folder/root/tmp"
    find "$folder/root/usr/lib/$triplet" -maxdepth 1 -lname '/*' | while read -r link; do
        ln -sfn "$folder/root$(readlink "$link")" "$link"
    done
    touch "$folder/root.done"
}

build_tool() {
    libraries=$folder/root/usr/lib/$triplet/pkgconfig:$folder/root/usr/share/pkgconfig
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL PKG_CONFIG_LIBDIR="$libraries" \
        PKG_CONFIG_SYSROOT_DIR="$folder/root" \
        "$make" -j "$(getconf _NPROCESSORS_ONLN)" O="$folder/build" CROSS_COMPILE="$triplet-" \
        PKG_CONFIG=pkg-config CFLAGS="-O2 --sysroot=$folder/root" all \
        "$folder/build/tests/drm/bars" "$folder/build/tests/drm/fences" \
        "$folder/build/examples/camera" >"$folder/log" 2>&1 || {
        cat "$folder/log"
        exit 1
    }
}

# copy_module FILE: into the initial file system, unpacked, after those that it needs.
copy_module() {
    plain=$(basename "$1" .xz)
    [ ! -e "$initial/modules/$plain" ] || return 0
    case $1 in
    *.xz) xz -dc "$source/$1" >"$initial/modules/$plain" ;;
    *) cp "$source/$1" "$initial/modules/" ;;
    esac
    echo "${plain%.ko}" >>"$initial/modules/order"
}

make_initial() {
    initial=$folder/initial
    rm -rf "$initial"
    mkdir -p "$initial/bin" "$initial/modules" "$initial/proc" "$initial/sys" "$initial/dev" \
        "$initial/host"
    cp "$folder/root/bin/busybox" "$initial/bin/"
    ln -s busybox "$initial/bin/sh"
    cp "$here/init" "$initial/init"
    chmod +x "$initial/init"
    version=$(ls "$folder/root/lib/modules")
    source=$folder/root/lib/modules/$version
    depmod -b "$folder/root" "$version"
    for module in $modules; do
        pattern=$(echo "$module" | sed 's/[-_]/[-_]/g')
        line=$(grep "/$pattern\.ko[.a-z]*:" "$source/modules.dep") || continue
        for file in $(echo "${line#*:}" | tr ' ' '\n' | tac) "${line%%:*}"; do
            copy_module "$file"
        done
    done
    (cd "$initial" && find . | cpio -o -H newc --quiet | gzip -1) >"$folder/initial.gz"
    cp "$folder/root/boot/vmlinuz-$version" "$folder/kernel"
}

# Sets what one line of architectures() says, and makes what is missing of a release.
prepare() {
    release=$1
    line=$(architectures | awk -v name="$2" '$1 == name')
    read -r architecture triplet kernel qemu processor <<END_OF_LINE
$line
END_OF_LINE
    folder=$out/drm/$architecture
    [ "$release" = - ] || folder=$folder-$release
    mkdir -p "$folder"
    install_packages
    make_root
    build_tool
    [ -e "$folder/initial.gz" ] && [ "$folder/initial.gz" -nt "$here/init" ] &&
        [ "$folder/initial.gz" -nt "$here/../check_drm.sh" ] || make_initial
}

# ---- A guest -------------------------------------------------------------------------------------

# The work folder, with the tool and what the guest does.
make_job() {
    mkdir "$work/$name"
    cp "$folder/build/glcnn" "$folder/build/tests/drm/bars" "$folder/build/tests/drm/fences" \
        "$folder/build/examples/camera" "$work/$name/"
    cat >"$work/$name/job.sh" <<END_OF_JOB
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp XDG_RUNTIME_DIR=/tmp
[ $device = - ] || export GLCNN_DEVICE=$device
cd /tmp/job
./glcnn info --json >info 2>err &&
$(job_to_$task)
END_OF_JOB
}

job_to_train() {
    cat <<END_OF_JOB
    ./glcnn check --quick $(printf -- '-k %s ' $kernels) >check 2>err &&
    ./glcnn train --net small --limit 64 --batch 64 --epochs 1 >train 2>err
END_OF_JOB
}

job_to_look() {
    see imported 'imported copied' ''
}

job_to_lend() {
    see exported 'exported imported copied' native
}

# see MEMORY MEMORIES FENCES: the bars in all of these; in MEMORY twenty frames are labelled, and the
# weights saved, which are read again for one more.
see() {
    cat <<END_OF_JOB
    ./bars /dev/video0 $2 >formats 2>err &&
    ./fences $3 >waits 2>err &&
    printf '22222222222222222222s' | ./camera -m $1 -c 3 -f 22 weights >learned 2>err &&
    ./camera -m $1 -c 3 -f 1 weights </dev/null >seen 2>err
END_OF_JOB
}

# QEMU draws through the host's GPU, or through a window where there is none.
start_display() {
    display='egl-headless'
    [ ! -e /dev/dri/renderD128 ] || return 0
    display='sdl,gl=on'
    mkfifo "$work/number"
    Xvfb -displayfd 3 -screen 0 640x480x24 -nolisten tcp 3>"$work/number" 2>/dev/null &
    screen=$!
    read -r number <"$work/number"
    export DISPLAY=":$number" SDL_VIDEODRIVER=x11
}

# Nothing of the machine's accelerates the guest: QEMU translates its instructions.
boot() {
    soft=none camera=none
    case $task in look | lend) camera=vivid ;; esac
    set -- -display none
    case $graphics in
    virgl | both) set -- -display "$display" -device virtio-gpu-gl-pci ;;
    esac
    case $graphics in
    vgem | both) soft=vgem ;;
    esac
    timeout 1200 "$qemu" -M virt -accel tcg,thread=multi -cpu "$processor" -smp 2 -m 2048 \
        -nodefaults -no-reboot -vga none -serial file:"$work/$name/console" "$@" \
        -kernel "$folder/kernel" -initrd "$folder/initial.gz" \
        -append "console=ttyAMA0 quiet panic=-1 soft=$soft camera=$camera" \
        -fsdev "local,id=root,path=$folder/root,security_model=none,readonly=on,multidevs=remap" \
        -device virtio-9p-pci,fsdev=root,mount_tag=root \
        -fsdev "local,id=job,path=$work/$name,security_model=none,multidevs=remap" \
        -device virtio-9p-pci,fsdev=job,mount_tag=job >"$work/$name/qemu" 2>&1
}

complain() {
    echo "check_drm: $name: $*"
    tail -n 20 "$work/$name/console" "$work/$name/qemu" "$work/$name/err" "$work/$name/formats" \
        "$work/$name/waits" "$work/$name/learned" 2>/dev/null
    return 1
}

# The row of a guest, if all is as it should be.
judge() {
    grep -q 'guest status 0' "$work/$name/console" || complain 'it failed' || return 1
    taken=$(awk '/"device":/ { inside = 1 } inside && /"node":/ { gsub(/[",]/, "", $2)
        print $2; exit }' "$work/$name/info")
    : "${taken:=-}"
    [ "$taken" = "$node" ] || complain "took $taken instead of $node" || return 1
    judge_$task
}

judge_train() {
    head=$(head -n 1 "$work/$name/check")
    case $head in
    *" on $driver"*) ;;
    *) complain "ran on another driver: $head" || return 1 ;;
    esac
    loss=$(sed -n 's/^epoch 1 of 1: \(loss [0-9.]*\),.*/\1/p' "$work/$name/train")
    [ -n "$loss" ] || complain 'it did not train' || return 1
    printf '%-8s %-6s %-20s %-40s %s; %s\n' "$name" "$architecture" "$taken" \
        "$(echo "$head" | sed 's/^.* on \([^ ]*\).*, OpenGL/\1, OpenGL/')" \
        "$(tail -n 1 "$work/$name/check")" "$loss"
}

# 26 frames: five formats of luma and chroma by two matrices and two ranges, and three of colours by
# two ranges; then seven that are copied.
judge_look() {
    judge_frames 33 'waits for a fence'
}

# And eight in the second memory.
judge_lend() {
    judge_frames 41 'fences both ways'
}

# judge_frames COUNT FENCES: the weights that were saved know the second class, of three, from the
# first frame on.
judge_frames() {
    [ "$(grep -c ' exact$' "$work/$name/formats")" = "$1" ] ||
        complain "not $1 frames are exact" || return 1
    [ "$(grep -c ': good$' "$work/$name/waits")" = 2 ] || complain 'fences fail' || return 1
    sure=$(sed -n 's/^frame 1: class 2, probability //p' "$work/$name/seen")
    [ "$(echo "${sure:-0} > 0.9" | bc)" = 1 ] || complain "$(cat "$work/$name/learned" \
        "$work/$name/seen")" || return 1
    mesa=$(sed -n "s/.*\"OpenGL ES [^\"]*\(Mesa [0-9.]*\).*/\1/p" "$work/$name/info" | head -n 1)
    printf '%-8s %-6s %-20s %-40s %s frames exact, %s; learned to %s\n' "$name" \
        "$architecture" "$taken" "$driver, $mesa" "$1" "$2" "$sure"
}

chosen=" $* "
screen=
work=$(mktemp -d) || exit 1
trap '[ -z "$screen" ] || kill "$screen"; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
guests >"$work/guests"
while read -r name release wanted graphics device node driver task <&4; do
    case "$chosen" in "  " | *" $name "*) ;; *) continue ;; esac
    prepare "$release" "$wanted"
    make_job
    [ -n "$screen" ] || start_display
    boot
    judge || bad=1
done 4<"$work/guests"
exit $bad
