# What scripts share, which read it from the top of the tree: programs, the build, a folder $work that goes away with
# the script, and how it fails or is skipped. A script that calls make sets `out` again as make has it, which knows
# its files by that name.

top=$PWD cc=${CC:-cc} pkg_config=${PKG_CONFIG:-pkg-config} out=${O:-build}
case $out in /*) ;; *) out=$top/$out ;; esac
glcnn=$out/glcnn
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# fail WORD...: says what is wrong, with what the last command wrote to $work/log, and ends the script; with
# goes_on=1 it goes on, and ends with  [ $failed = 0 ].
fail() {
    echo "$(basename "$0" .sh): $*" >&2
    [ ! -s "$work/log" ] || cat "$work/log" >&2
    failed=1
    [ -n "${goes_on:-}" ] || exit 1
}

# skip WORD...: says why the script cannot be run here, and ends it.
skip() {
    echo "$*"
    exit 77
}

# find_python ARGUMENT...: sets $python to one that runs these without a failure: PYTHON, or where it is not given one of
# this machine.
find_python() {
    for python in ${PYTHON:-python3 /usr/bin/python3}; do
        $python "$@" >/dev/null 2>&1 && return
    done
    return 1
}
# has_python MODULES: the same, of one that has them. A part of onnx is asked for: Debian's libonnx-testdata makes a
# folder of that name in which there is no module.
has_python() {
    find_python -c "import $1"
}

needs_device() {
    "$glcnn" info >/dev/null 2>&1 || skip 'there is no device'
}
