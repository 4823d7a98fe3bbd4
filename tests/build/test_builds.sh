#!/bin/sh
# Everything compiles without a warning: with the flags by which Debian hardens its packages, which see
# more of the code than a plain build, and with clang; with GLCNN_TEST_FULL it is linked, too, and compiled
# for 64-bit Arm.
#
# Runs from the top of the tree. CC, MAKE and O may be given. What is missing here has a row that
# says so; exits 77 where both are.

. tests/tool.sh
make=${MAKE:-make} out=${O:-build}
trap 'exit 130' INT TERM
unset MAKEFLAGS MFLAGS MAKELEVEL CC O V CFLAGS CPPFLAGS LDFLAGS DEB_BUILD_OPTIONS
built=0 goals=objects
[ -z "$GLCNN_TEST_FULL" ] || goals='all examples tests'

# build NAME VARIABLE=VALUE...
build() {
    name=$1
    shift
    $make -j2 O="$out/$name" "$@" $goals >"$work/log" 2>&1 || {
        cat "$work/log"
        echo "the $name build failed"
        exit 1
    }
    built=$((built + 1))
    echo "row $name: no warning"
}

flags() {
    DEB_BUILD_MAINT_OPTIONS=hardening=+all dpkg-buildflags --get "$1"
}

if command -v dpkg-buildflags >/dev/null; then
    build hardened CC="$cc" CFLAGS="$(flags CFLAGS) -g0 -Werror" CPPFLAGS="$(flags CPPFLAGS)" \
        LDFLAGS="$(flags LDFLAGS)"
else
    echo 'row hardened: not built, needs dpkg-dev'
fi
# Its warnings do not depend on optimising, nor on code that is made. With all that glibc declares: no
# name of ours is one of its. As on a system that has neither libgbm nor libdrm.
mkdir "$work/hidden"
for header in gbm.h xf86drm.h drm.h drm_fourcc.h drm_mode.h; do
    echo '#error this system has no such header' >"$work/hidden/$header"
done
cat >"$work/pkg-config" <<'END'
#!/bin/sh
case " $* " in *' gbm '* | *' libdrm '*) exit 1 ;; esac
exec pkg-config "$@"
END
chmod +x "$work/pkg-config"
check=-fsyntax-only
[ -z "$GLCNN_TEST_FULL" ] || check=-O0
if command -v clang >/dev/null; then
    build clang CC=clang CFLAGS="$check -Werror" \
        CPPFLAGS="-D_GNU_SOURCE -I$work/hidden" DRM=no PKG_CONFIG="$work/pkg-config"
else
    echo 'row clang: not built, it is not here'
fi
# gcc for 64-bit Arm warns of more at -O2. Headers of libraries do not depend on the processor.
if [ -z "$GLCNN_TEST_FULL" ]; then
    echo 'row arm64: built with GLCNN_TEST_FULL alone'
elif command -v aarch64-linux-gnu-gcc >/dev/null; then
    goals=objects
    build arm64 CC=aarch64-linux-gnu-gcc CFLAGS='-O2 -Werror' MPICC=no \
        CPPFLAGS="-idirafter /usr/include -idirafter /usr/include/$($cc -print-multiarch)"
else
    echo 'row arm64: not built, needs gcc-aarch64-linux-gnu and libc6-dev-arm64-cross'
fi
[ $built != 0 ] || skip 'neither dpkg-buildflags nor clang is here'
