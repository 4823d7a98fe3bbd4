#!/bin/sh
# "make demo", "make test" and "make check" as on a fresh machine with Debian 13 (trixie), gcc and make: in a
# root of its own, of the packages of the mirror that this machine takes its own from.
#
# usage: tests/check_trixie.sh [ROOT]
#   ROOT   a folder for the root, which is kept, and taken as it is where it is there; without one the
#          root is a new one, in $O, and goes at the end
#
# Runs from the top of the tree, as root. O may be given, and T, which tests are run: all of them without. What
# was said stands in $O/trixie.log. One to two hours on 2 cores, 3 GB. Exits 1 where demo or tests fail, 77
# with a message where there can be no such root.

out=${O:-build} kept=${1:-}
root=${kept:-$out/trixie}

skip() {
    echo "$*"
    exit 77
}

clean() {
    rm -f "$said"
    [ -n "$kept" ] || rm -rf "$root"
}

make_root() {
    [ ! -e "$root/made" ] || return 0
    archive=$(sh tests/debian_mirror.sh 2>/dev/null) || skip 'apt knows no archive of Debian'
    rm -rf "$root"
    mmdebstrap --variant=apt --include=gcc,libc6-dev,make,ca-certificates trixie "$root" \
        "${archive#* }" >"$said" 2>&1 ||
        skip "trixie cannot be had: $(tail -n 1 "$said")"
    echo '127.0.0.1 localhost' >"$root/etc/hosts"
    apt-config dump | grep -E '^Acquire::https?::Proxy ' >"$root/etc/apt/apt.conf.d/proxy"
    touch "$root/made"
}

# in_root COMMAND: with process, terminal and shared memory file systems as long as it runs.
in_root() {
    unshare --mount --pid --fork --kill-child sh -c 'mount -t proc proc "$0/proc" &&
        mount -t sysfs -o ro sysfs "$0/sys" && mount -t tmpfs -o mode=1777 tmpfs "$0/dev/shm" &&
        mount -t devpts -o newinstance,ptmxmode=0666 devpts "$0/dev/pts" &&
        exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
            sh -c "cd /glcnn && $1"' "$root" "$1" </dev/null
}

# step COMMAND: how much was installed for it and what it said last; all of it where it failed.
step() {
    in_root "$1" >"$said" 2>&1
    status=$?
    cat "$said" >>"$log"
    if [ $status = 0 ]; then
        grep '^With what they need' "$said" | sed "s/^/$1: /"
        echo "$1: $(tail -n 1 "$said")"
    else
        sed 's/^/trixie| /' "$said"
        echo "$1 fails on trixie, with status $status"
        bad=1
    fi
}

[ "$(id -u)" = 0 ] || skip 'a root of trixie needs root'
command -v apt-get >/dev/null || skip 'a root of trixie is made of Debian packages'
unshare --mount --pid --fork true 2>/dev/null || skip 'a root of trixie needs unshare, which is not allowed'
sh platform/packaging/install_packages.sh mmdebstrap || skip 'a root of trixie needs mmdebstrap'
mkdir -p "$out"
said=$(mktemp) log=$out/trixie.log bad=0
trap clean EXIT
trap 'exit 130' INT TERM
: >"$log"
make_root
rm -rf "$root/glcnn"
mkdir "$root/glcnn"
cp -R Makefile README.md LICENSE include src glsl platform examples tests "$root/glcnn"
step 'make demo'
step "make test${T:+ T='$T'}"
[ -n "$T" ] || step 'make check'
exit $bad
