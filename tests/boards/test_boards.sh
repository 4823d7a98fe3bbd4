#!/bin/sh
# A training step of the network "small" on the shader compilers of six embedded GPUs, of a detector on that
# of a Valhall, whose compiler spills the constants of long functions, and what a step takes on boards, where
# "make check-boards", which tries all of them and every kernel, has built or fetched their drivers: this
# Debian's Mesa, and the arm64 binaries of trixie's.
#
# Runs from the top of a built tree. O and GLCNN_BOARDS may be given. Exits 77 without any drivers.

had='' bad=0

# part COMMAND: prints its rows, or the sentence with which it skips.
part() {
    status=0
    said=$("$@") || status=$?
    if [ $status = 77 ]; then
        echo "$said"
    else
        echo "$said" | sed 's/^/row /'
        had=1
        [ $status = 0 ] || bad=1
    fi
}

part sh tests/check_boards.sh -n -g V3D,G52,A530 -w small
part sh tests/check_boards.sh -n -g G57 -w boxes
part sh tests/check_boards_arm.sh -n -m trixie -g G610,V3D7.1,A618 -w small -p
[ $status = 77 ] || echo "$said" | grep -q 'G610 | [0-9]' || {
    echo 'no step of a board with G610 is reckoned'
    bad=1
}
[ -n "$had" ] || exit 77
exit $bad
