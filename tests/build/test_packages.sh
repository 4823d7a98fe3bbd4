#!/bin/sh
# Recipes of packagers agree with the tree: version, licence, libraries, modules. What make installs is
# named and measured before. With GLCNN_TEST_FULL Debian packages are built, and lintian looks at them.
#
# Runs from the top of the tree. MAKE and O may be given.

. tests/tool.sh
make=${MAKE:-make} out=${O:-build} packaging=platform/packaging
goes_on=1

number() {
    sed -n "s/^#define GLCNN_VERSION_$1 *//p" include/glcnn/status.h
}
version=$(number MAJOR).$(number MINOR).$(number PATCH) soversion=$(number MAJOR)
[ "$soversion" != 0 ] || soversion=0.$(number MINOR)
libraries=$(sed -n 's/^ALL_LIBRARIES *:= //p' Makefile)
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
modules_of() { # PART
    sed -n "s/^MODULES_$1 *:= //p" src/parts.mk
}
modules=$(for part in core interchange onnx data tflite train; do modules_of $part; done)
[ "$(echo $modules | wc -w)" -gt 10 ] || fail "parts.mk's modules are $modules"
for module in $modules; do
    package=lib${module#lib}-dev
    [ $module != zlib ] || package=zlib1g-dev
    [ $module != libtiff-4 ] || package=libtiff-dev
    [ $module != expat ] || package=libexpat1-dev
    [ $module != yaml-0.1 ] || package=libyaml-dev
    times=2
    [ $module != flatbuffers ] || times=1 # headers, which those who link do not see
    [ "$(grep -c "[ ]$package,\{0,1\}$" $debian/control)" = $times ] ||
        fail "debian/control has $package not $times times: to build, and for libglcnn-dev"
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

# ---- make check-all ------------------------------------------------------------------------------

# What this machine cannot do has not passed.
printf '#!/bin/sh\nexit 1\n' >"$work/bin/unshare"
chmod +x "$work/bin/unshare"
said=$(unset MAKEFLAGS MFLAGS MAKELEVEL
    PATH=$work/bin:$PATH APT_CALLS=$work/calls $make -s O="$work/checked" CHECKS=check-trixie check-all 2>&1) ||
    fail "check-all fails where a check is skipped: $said"
case $said in
*'needs unshare, which is not allowed'*'check-all: check-trixie was skipped'*) ;;
*) fail "check-all says of a check that is skipped: $said" ;;
esac

# ---- Buildroot and Yocto -------------------------------------------------------------------------

# listed HEADING...: names of these parts of the list of what the systems have.
listed() {
    for heading; do
        awk -v heading="[$heading]" '/^\[/ { inside = $0 == heading } inside && /^[^[#]/ { print $1 }' \
            $packaging/names.txt
    done
}
# are_listed FILE NAMES HEADING...: all of these names are in these parts.
are_listed() {
    file=$1 names=$2
    shift 2
    listed "$@" >"$work/listed"
    [ -n "$names" ] || fail "$file has no names"
    for name in $names; do
        grep -qx -- "$name" "$work/listed" || fail "$file uses $name, which names.txt has not of $*"
    done
}
# A row names where it was read: a file and a commit.
bad=$(awk '/^\[/ { others = /of others/ } /^[^[#]/ && !others && ($3 !~ /^[0-9a-f]+$/ || length($3) != 40)' \
    $packaging/names.txt)
[ -z "$bad" ] || fail "names.txt has no file and commit of $bad"

# A package that is brought by others is never selected: kconfig ignores names that it does not know.
config=$packaging/buildroot/Config.in
are_listed $config "$(grep -v '^#' $config | grep -o 'BR2_[A-Z0-9_]*' | grep -v '^BR2_PACKAGE_GLCNN' | sort -u)" \
    'symbols of buildroot/buildroot' 'symbols of others'
are_listed $config "$(sed -n 's/^\tselect //p' $config)" 'symbols of buildroot/buildroot'

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
built:
	@\$(MAKE) -n -C $PWD O=$work/made \$(GLCNN_MAKE_OPTS) all
END
recipe=$(echo $packaging/yocto/glcnn_*.bb)
buildroot() { # PART... -- TARGET
    choices=
    while [ "$1" != -- ]; do
        choices="$choices BR2_PACKAGE_GLCNN_$(echo $1 | tr a-z A-Z)=y"
        shift
    done
    (unset MAKEFLAGS MFLAGS MAKELEVEL; $make -s -f "$work/Makefile" $choices "$2")
}
# depends_on PART NAMES: each module of the part is a package of it, of both systems.
depends_on() {
    for module in $(modules_of $1); do
        name=$(echo $module | sed 's/^libjpeg$/jpeg/; s/^libtiff-4$/tiff/; s/^libwebp$/webp/; s/^libcjson$/cjson/
            s/^liblzma$/xz/; s/^yaml-0\.1$/libyaml/; s/^libprotobuf/protobuf/; s/^\(egl\|gbm\)$/lib\1/')
        case " $2 " in *" $name "*) ;; *) fail "glcnn.mk does not depend on $name for $1" ;; esac
        name=$(echo $name | sed 's/^libegl$/virtual\/egl/; s/^webp$/libwebp/; s/^libgbm$/virtual\/libgbm/')
        grep "^\(PACKAGECONFIG\[$1\]\|$([ $1 = core ] && echo DEPENDS || echo no)\) =" $recipe |
            grep -q "[ ,\"]$name[ \"]" || fail "the recipe has no $name for $1"
    done
}
core=$(buildroot -- all) || fail "glcnn.mk: $core"
[ "${core%% *}" = "$version" ] || fail "glcnn.mk is of ${core%% *}, and this is $version"
depends_on core "$core"
for part in interchange onnx data tflite; do
    said=$(buildroot $part -- all) || fail "glcnn.mk: $said"
    depends_on $part "$said"
    are_listed glcnn.mk "${said#* }" 'packages of buildroot/buildroot' 'packages of others'
    sed -n "/^config BR2_PACKAGE_GLCNN_$(echo $part | tr a-z A-Z)$/,/help/p" $config >"$work/choice"
    for name in ${said#* }; do
        case " $core host-protobuf-c host-flatbuffers " in *" $name "*) continue ;; esac
        grep -q "BR2_PACKAGE_$(echo $name | tr a-z- A-Z_)\( #.*\)\{0,1\}$" "$work/choice" ||
            fail "Config.in does not select $name for $part"
    done
    buildroot $part -- built >"$work/said" 2>&1 || fail "$(tail -n 3 "$work/said")"
    grep -q "libglcnn_$part\.so" "$work/said" || fail "Buildroot's make does not build $part"
done
buildroot -- built >"$work/said" 2>&1 || fail "$(tail -n 3 "$work/said")"
grep -e 'libglcnn_' -e protoc -e 'made/glcnn ' "$work/said" && fail "Buildroot's make builds more than the core"
buildroot interchange onnx data tflite train tool -- built >"$work/said" 2>&1 && grep -q 'made/glcnn ' "$work/said" ||
    fail "Buildroot's make does not build the tool: $(tail -n 3 "$work/said")"

are_listed $recipe "$(sed -n 's/^DEPENDS = "\(.*\)"$/\1/p; s/^PACKAGECONFIG\[.*,,\(..*\)"$/\1/p' $recipe)" \
    'recipes of openembedded/openembedded-core' 'recipes of openembedded/meta-openembedded'
are_listed $recipe "$(sed -n 's/^inherit //p' $recipe)" 'classes of openembedded/openembedded-core'
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
