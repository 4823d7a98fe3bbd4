#!/bin/sh
# Recipes of packagers agree with the tree: version, licence, libraries, modules. What make installs is
# named and measured before. With GLCNN_TEST_FULL Debian packages are built, and lintian looks at them.
#
# Runs from the top of the tree. MAKE and O may be given.

make=${MAKE:-make} out=${O:-build} packaging=platform/packaging
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "test_packages: $*"
    failed=1
}

number() {
    sed -n "s/^#define GLCNN_VERSION_$1 *//p" include/glcnn/status.h
}
version=$(number MAJOR).$(number MINOR).$(number PATCH) soversion=$(number MAJOR)
[ "$soversion" != 0 ] || soversion=0.$(number MINOR)
libraries=$(sed -n 's/^LIBRARIES *:= //p' Makefile)
[ "$(echo $libraries | wc -w)" -ge 3 ] || fail "the Makefile's libraries are $libraries"

# ---- Debian --------------------------------------------------------------------------------------

debian=$packaging/debian
[ "$(sed -n '1s/.*(\(.*\)).*/\1/p' $debian/changelog)" = "$version" ] ||
    fail "debian/changelog begins with $(head -n 1 $debian/changelog), and this is $version"
for library in $libraries; do
    package=$(echo "$library$soversion" | tr _ -)
    grep -q "^Package: $package$" $debian/control || fail "debian/control has no package $package"
    grep -q "/$library\.so\.\*$" "$debian/$package.install" || fail "$package does not install $library"
    grep -q " $package (= " $debian/control || fail "libglcnn-dev does not depend on $package"
done
for file in rules tests/check tests/python tests/build; do
    [ -x "$debian/$file" ] || fail "debian/$file cannot be run"
done

# Development files of every module, for building and for those who link statically.
modules=$(sed -n 's/^\(LIB\|INTERCHANGE\|ONNX\|DATA\)_MODULES *:= //p' Makefile)
for module in $modules; do
    package=lib${module#lib}-dev
    [ $module != zlib ] || package=zlib1g-dev
    [ $module != libtiff-4 ] || package=libtiff-dev
    [ $module != expat ] || package=libexpat1-dev
    [ "$(grep -c "[ ]$package,\{0,1\}$" $debian/control)" = 2 ] ||
        fail "debian/control has $package not twice: to build, and for libglcnn-dev"
done

# What is said of "make deb" names all that the build needs beside what the tool does.
packages_of() {
    awk -v name="$1" '$1 == name && $2 == ":=" { inside = 1; sub(/.*:=/, "") }
        inside { more = /\\$/; sub(/\\$/, ""); print; inside = more }' $packaging/packaging.mk
}
tool_packages=$(packages_of TOOL_PACKAGES)
[ "$(echo $tool_packages | wc -w)" -gt 10 ] || fail "packaging.mk's TOOL_PACKAGES are $tool_packages"
for package in build-essential debhelper dh-python $(sed -n '/^Build-Depends:/,/^[SR]/{/^ /p; /^B/p}' \
    $debian/control | sed 's/^Build-Depends://; s/[ ,]*\(<.*\|(.*\)*$//; s/,$//'); do
    case $package in debhelper-compat | dh-sequence-python3 | python3) continue ;; esac # by the names before
    case " $(echo $tool_packages) " in *" $package "*) continue ;; esac
    for file in Makefile platform/README.md; do
        awk '/make deb |^##   deb /, /python3-setuptools/' $file | grep -qw -- "$package" ||
            fail "$file does not say that make deb needs $package"
    done
done

# ---- make packages -------------------------------------------------------------------------------

# A machine of Debian on which one package is there and apt answers as apt does.
mkdir "$work/bin"
cat >"$work/bin/dpkg-query" <<'END'
#!/bin/sh
for package; do :; done
[ "$package" != there ] || echo 'install ok installed'
END
cat >"$work/bin/apt-get" <<'END'
#!/bin/sh
echo "$*" >>"$APT_CALLS"
case $* in
*--assume-no*)
    echo 'The following NEW packages will be installed:'
    echo '  one other two'
    echo '0 upgraded, 3 newly installed, 0 to remove and 9 not upgraded.'
    echo 'Need to get 1,024 kB/2048 kB of archives.'
    echo 'After this operation, 12.5 MB of additional disk space will be used.'
    exit 1
    ;;
esac
exit ${APT_STATUS:-0}
END
printf '#!/bin/sh\necho 0\n' >"$work/bin/id"
chmod +x "$work"/bin/*
installs() { # PACKAGE...
    : >"$work/calls"
    PATH=$work/bin:$PATH APT_CALLS=$work/calls sh $packaging/install_packages.sh "$@" >"$work/said" 2>&1
}
installs there || fail 'packages that are there cannot be installed'
[ ! -s "$work/calls" ] && [ ! -s "$work/said" ] || fail 'apt is asked of packages that are there'
installs one there two || fail 'packages are not installed'
[ "$(cat "$work/said")" = 'Installing one two
With what they need: 3 packages, 1,024 kB to fetch, 12.5 MB on the disk' ] || fail "$(cat "$work/said")"
[ "$(tail -n 1 "$work/calls")" = 'install -y --no-install-recommends one two' ] || fail "$(cat "$work/calls")"
! APT_STATUS=100 installs one || fail 'an apt that fails is no failure'
grep -q 'could not be installed. As root: apt-get install -y --no-install-recommends one$' "$work/said" ||
    fail "$(cat "$work/said")"
said=$(unset MAKEFLAGS MFLAGS MAKELEVEL; $make -n demo | grep install_packages)
case $said in *' libegl-dev '*) ;; *) fail "the demo installs $said" ;; esac
case $said in *cunit* | *openmpi* | *virgl* | *python* | *testdata*) fail "the demo installs $said" ;; esac

# ---- Buildroot and Yocto -------------------------------------------------------------------------

ln -s "$PWD/$packaging/buildroot" "$work/link"
# A makefile of Buildroot's is read, and its commands are run as Buildroot would.
cat >"$work/Makefile" <<END
GLCNN_PKGDIR = $work/link
TARGET_CONFIGURE_OPTS = CC=cc
BR2_PACKAGE_HAS_LIBGBM = y
STAGING_DIR = /staging
generic-package =
include $packaging/buildroot/glcnn.mk
all:
	@echo '\$(GLCNN_VERSION) \$(GLCNN_DEPENDENCIES)'
	@test -e \$(GLCNN_SITE)/\$(GLCNN_LICENSE_FILES)
	@echo '\$(GLCNN_INSTALL_STAGING_CMDS)' | grep -q 'DESTDIR=/staging install'
END
said=$(unset MAKEFLAGS MFLAGS MAKELEVEL; $make -s -f "$work/Makefile") || fail "glcnn.mk: $said"
[ "${said%% *}" = "$version" ] || fail "glcnn.mk is of ${said%% *}, and this is $version"
for module in $modules; do
    name=$(echo $module | sed 's/^libjpeg$/jpeg/; s/^libtiff-4$/tiff/; s/^libwebp$/webp/; s/^libcjson$/cjson/; s/^liblzma$/xz/; s/^libprotobuf/protobuf/; s/^\(egl\|gbm\)$/lib\1/')
    case " $said " in *" $name "*) ;; *) fail "glcnn.mk does not depend on $name" ;; esac
    case $name in libegl) choice=HAS_$name ;; *) choice=$name ;; esac
    [ $name = libgbm ] || grep -q "BR2_PACKAGE_$(echo $choice | tr a-z- A-Z_)$" $packaging/buildroot/Config.in ||
        fail "Config.in does not select $name"
    name=$(echo $name | sed 's/^libegl$/egl/; s/^webp$/libwebp/; s/^lib\(gbm\)$/virtual\/lib\1/')
    grep -q "^DEPENDS.*[ /]$name[ \"]" $packaging/yocto/glcnn_*.bb || fail "the recipe has no $name"
done
grep -q "^sha256  $(sha256sum LICENSE | cut -d' ' -f1)  LICENSE$" $packaging/buildroot/glcnn.hash ||
    fail 'glcnn.hash is not that of LICENSE'
grep -q "md5=$(md5sum LICENSE | cut -d' ' -f1)\"" $packaging/yocto/glcnn_$soversion.bb ||
    fail 'the checksum of the recipe is not that of LICENSE'
for library in $libraries; do
    [ $library = libglcnn ] || grep -q "/$library\${SOLIBS}" $packaging/yocto/glcnn_$soversion.bb ||
        fail "the recipe has no package for $library"
done

# ---- dpkg-buildpackage ---------------------------------------------------------------------------

if [ -n "$GLCNN_TEST_FULL" ] && command -v dpkg-buildpackage >/dev/null && command -v dh >/dev/null &&
    command -v dh_python3 >/dev/null; then
    (unset MAKEFLAGS MFLAGS MAKELEVEL CC CXX AR PKG_CONFIG O V CFLAGS CPPFLAGS LDFLAGS
        $make O="$out" deb) >"$work/log" 2>&1 || { tail -n 40 "$work/log"; fail 'Debian packages are not built'; }
    core=$out/deb/libglcnn${soversion}_$version*.deb
    dpkg-deb -f $core Depends | grep -E 'cjson|cbor|png|zip' && fail 'the core needs more than EGL and GBM'
    if command -v lintian >/dev/null; then
        lintian --fail-on error,warning "$out"/deb/*.changes 2>&1 | grep '^[EW]:' && fail 'lintian complains'
    fi
else
    echo 'Debian packages are built with GLCNN_TEST_FULL, debhelper and dh-python alone'
fi

[ $failed = 0 ] && echo 'packages are those of the tree'
