#!/bin/sh
# Builds Mesa's drivers of embedded GPUs with their fake devices (drm-shim): the drivers, and their
# shader compilers, are the real ones, and nothing is computed.
#
# usage: tests/boards/build.sh FOLDER [trixie]
#
# From the Mesa of this machine's Debian, or trixie's in a root of its own, since a board of today
# has that one (root alone can do it; Mali's driver needs an OpenCL compiler to be built there and
# is left out). 5 minutes on 2 cores, 1 or 2 GB in FOLDER; nothing else is changed but for packages
# that are installed. Exits 77 with a message where something cannot be had.

set -u
[ $# -ge 1 ] || {
    echo 'usage: tests/boards/build.sh FOLDER [trixie]' >&2
    exit 2
}
release=${2:-}
mkdir -p "$1" || exit 1
folder=$(cd "$1" && pwd)
root=$folder/root                   # trixie's
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
PATH=/usr/sbin:/usr/bin:/sbin:/bin # Debian's Python, which has the modules of the package

exec 3>&1 # for the message, where the rest goes to the log

skip() {
    echo "$*" >&3
    exit 77
}

command -v dpkg-architecture >/dev/null || skip 'Mesa with fake devices is built on Debian alone'
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        return 1
    fi
}

# install PACKAGE...: those that are missing.
install() {
    missing=
    for package; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed$' ||
            missing="$missing $package"
    done
    [ -z "$missing" ] || as_root env DEBIAN_FRONTEND=noninteractive apt-get \
        -o DPkg::Lock::Timeout=300 install -y -q --no-install-recommends $missing ||
        skip "these packages cannot be installed:$missing"
}

# The archives of Debian that this machine takes packages from, as places of sources.
source_lines() {
    format='$(ORIGIN) $(REPO_URI) $(RELEASE) $(COMPONENT)'
    apt-get indextargets --format "$format" 'Created-By: Packages' | sort -u |
        while read -r origin address suite component; do
            case $origin:$release:$suite in
            Debian:trixie:*-*) continue ;;
            Debian:trixie:*) suite=trixie ;;
            Debian:*) ;;
            *) continue ;;
            esac
            echo "deb-src [signed-by=$keyring] $address $suite $component"
        done
}

# apt with lists of its own: those of the machine stay as they are, and no right is needed.
fetch_source() {
    mkdir -p "$folder/lists/partial"
    source_lines >"$folder/sources.list"
    set -- -q -o "Dir::Etc::SourceList=$folder/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o "Dir::State::Lists=$folder/lists" -o APT::Sandbox::User=root
    (cd "$folder" && apt-get "$@" update && apt-get "$@" source --download-only mesa)
}

# What both builds are made of: nothing that draws, no LLVM, no tests.
options='-Dplatforms= -Dvulkan-drivers= -Dtools=drm-shim -Dllvm=disabled -Dglx=disabled
    -Dgles1=disabled -Dgles2=enabled -Dopengl=true -Degl=enabled -Dgbm=enabled
    -Dgallium-vdpau=disabled -Dgallium-va=disabled -Dvideo-codecs= -Dvalgrind=disabled
    -Dlibunwind=disabled -Dlmsensors=disabled -Dzstd=enabled -Dbuild-tests=false
    -Dbuildtype=plain -Db_ndebug=true'
flags='-O1 -g0 -w'

# The libraries that Mesa itself needs are the same everywhere.
libraries='gcc g++ meson ninja-build bison flex python3-mako pkg-config libdrm-dev zlib1g-dev
    libexpat1-dev libzstd-dev libelf-dev libarchive-dev libxml2-dev'

# The fake V3D of Mesa 22 does not say that it computes; without this it stops at ES 3.0.
announce_compute() {
    file=$1/src/broadcom/drm-shim/v3d_noop.c
    grep -q SUPPORTS_CSD "$file" || sed -i \
        -e 's/^\( *\)case DRM_V3D_PARAM_SUPPORTS_TFU:/&\
\1case DRM_V3D_PARAM_SUPPORTS_CSD:\
\1case DRM_V3D_PARAM_SUPPORTS_CACHE_FLUSH:/' \
        -e 's/^\( *\)\[DRM_V3D_SUBMIT_TFU\] = .*/&\
\1[DRM_V3D_SUBMIT_CSD] = v3d_ioctl_noop,/' "$file"
}

# The fake Adreno leaves what is asked of a queue as it was; without this its count of faults is any
# number, and the driver tells of a reset.
count_no_faults() {
    file=$1/src/freedreno/drm-shim/freedreno_noop.c
    grep -q no_faults "$file" || sed -i \
        -e '/^static ioctl_fn_t driver_ioctls/i\
static int no_faults(int fd, unsigned long request, void *arg)\
{\
   struct drm_msm_submitqueue_query *query = arg;\
   memset((void *)(uintptr_t)query->data, 0, query->len);\
   return 0;\
}\
' -e 's/\[DRM_MSM_SUBMITQUEUE_QUERY\] = .*/[DRM_MSM_SUBMITQUEUE_QUERY] = no_faults,/' "$file"
}

# inst comes into being whole, at the end: its being there says that the build is done.
build_here() {
    install dpkg-dev $libraries liblua5.3-dev
    rm -rf "$folder/src" "$folder/build" "$folder/new"
    dpkg-source -x "$folder"/mesa_*.dsc "$folder/src" && announce_compute "$folder/src" &&
        count_no_faults "$folder/src" || return 1
    meson setup "$folder/build" "$folder/src" -Dprefix="$folder/inst" -Dlibdir="lib/$triplet" \
        -Dgallium-drivers=panfrost,v3d,freedreno,nouveau -Dglvnd=false -Dshared-glapi=enabled \
        -Dgallium-xa=disabled $options -Dc_args="$flags" -Dcpp_args="$flags" &&
        DESTDIR="$folder/new" ninja -C "$folder/build" install &&
        mv "$folder/new$folder/inst" "$folder/inst"
}

# The proc file system is there as long as the command runs.
in_root() {
    unshare --mount sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$root" "$@"
}

build_trixie() {
    [ "$(id -u)" = 0 ] || skip "trixie's Mesa is built in a root of its own: run as root"
    install dpkg-dev mmdebstrap xz-utils
    address=$(sed -n 's/^deb-src.* \(http[^ ]*\) .*/\1/p' "$folder/sources.list" | head -n 1)
    packages=$(echo $libraries python3-yaml python3-packaging glslang-tools | tr ' ' ,)
    [ -e "$folder/root.done" ] || rm -rf "$root"
    [ -d "$root" ] || mmdebstrap --variant=apt --include="$packages" trixie "$root" \
        "$address" || skip "trixie cannot be had from $address"
    touch "$folder/root.done"
    rm -rf "$root/w"
    mkdir -p "$root/w/src"
    tar -xf "$folder"/mesa_*.orig.tar.?z -C "$root/w/src" --strip-components=1
    count_no_faults "$root/w/src"
    in_root meson setup /w/build /w/src -Dprefix=/w/inst -Dlibdir="lib/$triplet" \
        -Dgallium-drivers=v3d,freedreno,nouveau -Dglvnd=disabled $options -Dc_args="$flags" \
        -Dcpp_args="$flags" && in_root env DESTDIR=/w/new ninja -C /w/build install &&
        mv "$root/w/new/w/inst" "$root/w/inst"
}

log=$folder/log
ls "$folder"/mesa_*.dsc >/dev/null 2>&1 || fetch_source >"$log" 2>&1 || {
    tail -n 3 "$log"
    skip "Mesa's source package cannot be had"
}
echo "Building Mesa with fake devices in $folder; it takes some minutes."
if [ "$release" = trixie ]; then build_trixie; else build_here; fi >>"$log" 2>&1
status=$?
[ $status = 0 ] || tail -n 5 "$log"
exit $status
