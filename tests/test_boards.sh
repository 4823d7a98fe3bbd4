#!/bin/sh
# A training step of the network "small" on the shader compilers of three embedded GPUs, where
# "make check-boards", which tries all of them and every kernel, has built their drivers.
#
# Runs from the top of a built tree. O and GLCNN_BOARDS may be given. Exits 77 without the drivers.

said=$(sh tests/check_boards.sh -n -g V3D,G52,A530 -w small)
status=$?
[ $status = 77 ] || said=$(echo "$said" | sed 's/^/row /')
echo "$said"
exit $status
