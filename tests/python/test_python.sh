#!/bin/sh
# The Python package: what generate.py reads of the headers is what a C compiler reads, the package's
# own tests pass with the libraries of the build, pip installs it, and the README's program learns.
#
# Runs from the top of a built tree. CC, O and PYTHON may be given. With GLCNN_TEST_CHECK=1 there is a training alone
# that learns to detect, and with GLCNN_TEST_FULL=1 all.

set -e
. tests/tool.sh

has_python numpy || skip 'no python3 with numpy (Debian: python3-numpy)'

export GLCNN_LIBRARY=$(cd "$out" && pwd) GLCNN_TOOL=$(cd "$out" && pwd)/glcnn
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$work

cp -R src/python/glcnn "$work"
$python src/python/generate.py include "$work/glcnn"

if [ -n "$GLCNN_TEST_CHECK" ] && [ -z "$GLCNN_TEST_FULL" ]; then
    PYTHONPATH=$work:$top/tests/python $python -W error -m unittest test_tasks.DetectTest >"$work/said" 2>&1 ||
        { cat "$work/said"; exit 1; }
    exit
fi

# ---- Structures and enumerations as C has them ---------------------------------------------------

for header in include/glcnn/*.h include/glcnn/kernels/*.h; do
    echo "#include <${header#include/}>"
done >"$work/layout.c"
$python - >>"$work/layout.c" <<'END'
import ctypes, enum
from glcnn import _c
print("#define SAME(a, b) _Static_assert((long)(a) == (long)(b), #a \" is \" #b)")
checked = 0
for name, kind in vars(_c).items():
    if name.startswith("glcnn_") and getattr(kind, "_fields_", None):
        print("SAME(sizeof(struct %s), %d);" % (name, ctypes.sizeof(kind)))
        for field in kind._fields_:
            print("SAME(offsetof(struct %s, %s), %d);"
                  % (name, field[0], getattr(kind, field[0]).offset))
        checked += 1
for name, prefix in (("Status", ""), ("LossType", "LOSS_TYPE_"), ("NeuronType", "NEURON_TYPE_"),
                     ("Padding", "PADDING_"), ("ChannelFormat", "CHANNEL_FORMAT_"),
                     ("TrainingStyle", "TRAINING_STYLE_UPDATE_DEVICE_")):
    for value in getattr(_c, name).__members__.items():
        print("SAME(GLCNN_%s%s, %d);" % (prefix, *value))
assert checked > 30, checked
END
$cc -std=c11 -fsyntax-only -Iinclude -I"$out/include" "$work/layout.c" ||
    fail 'structures differ from those of the headers'

# A header that the script does not understand is an error, not something left out.
mkdir -p "$work/strange/glcnn/kernels"
echo 'GLCNN_API int glcnn_strange(long double x);' >"$work/strange/glcnn/strange.h"
! $python src/python/generate.py "$work/strange" "$work/strange" 2>"$work/said" ||
    fail 'generate.py takes what it cannot know'
grep -q 'long double' "$work/said" || { cat "$work/said"; fail 'and does not say what'; }

# ---- The package's tests -------------------------------------------------------------------------

$python -W error -m unittest discover -s tests/python 2>"$work/said" || { cat "$work/said"; exit 1; }
tail -n 3 "$work/said"

GLCNN_LIBRARY=$work $python -c 'import glcnn' 2>"$work/said" && fail 'a library that is not there'
grep -q 'ImportError: libglcnn cannot be loaded.*GLCNN_LIBRARY' "$work/said" ||
    { cat "$work/said"; fail 'what is missing is not said'; }

# ---- Types ---------------------------------------------------------------------------------------

# ctypes gives Any for all that the library returns, and which lines need "type: ignore" is another
# matter in each mypy. The second program is wrong in three lines.
types() {
    (cd "$work" && mypy --strict --no-warn-return-any --no-warn-unused-ignores --no-error-summary "$@")
}

if command -v mypy >/dev/null; then
    types glcnn || fail 'the types of the package are wrong'
    cat >"$work/typed.py" <<'END'
import glcnn
def layers(x: glcnn.ImageNode) -> glcnn.ImageNode:
    return (x + 1).neuron_relu().fully_connected(output_feature_channels=2)
net = glcnn.network((1, 8, 8), layers)
data = glcnn.Dataset("fruit", size=(8, 8))
history: glcnn.History = net.train(data, epochs=2, loss=glcnn.Loss("huber", delta=0.5),
                                   schedule=lambda step: 0.9 ** step, metrics=["top_2"],
                                   on_epoch=lambda epoch, score: score.loss > 0.1)
text: str = net.summary()
score: glcnn.Score = net.evaluate(data)
END
    types typed.py || fail 'a program of right types is refused'
    sed 's/epochs=2/epochs="2"/; s/step: 0.9/step, more: 0.9/; s/text: str/text: int/' \
        "$work/typed.py" >"$work/mistyped.py"
    types mistyped.py >"$work/said" && fail 'a program of wrong types is taken'
    [ "$(sed -n 's/.*py:\([0-9]*\): error:.*/\1/p' "$work/said" | sort -u | wc -l)" = 3 ] ||
        { cat "$work/said"; fail 'not by its three lines'; }
else
    echo 'no mypy (Debian: mypy): types are not checked'
fi

# ---- pip, and the README -------------------------------------------------------------------------

awk '$0 == "```python" { inside = 1; next } $0 == "```" { inside = 0 } inside' README.md \
    >"$work/readme.py"
[ -s "$work/readme.py" ] && [ "$(wc -l <"$work/readme.py")" -le 20 ] ||
    fail "the README's program has $(wc -l <"$work/readme.py") lines"

rm -r "$work/glcnn"
cp -R include "$work"
mkdir "$work/src"
cp -R src/python "$work/src"
pip="$python -m pip --disable-pip-version-check --no-cache-dir install --no-build-isolation --no-deps"
if $python -c 'import setuptools, pip' 2>"$work/said"; then
    HOME=$work $pip --no-index -q --target "$work/site" "$work/src/python" >"$work/said" 2>&1 ||
        { cat "$work/said"; fail 'pip does not install the package'; }
    [ -e "$work/site/glcnn/py.typed" ] || fail 'py.typed is not installed'
else
    echo 'without pip and setuptools: the package is not installed'
    mkdir "$work/site"
    cp -R src/python/glcnn "$work/site"
    $python src/python/generate.py include "$work/site/glcnn"
fi
(cd "$work" && PYTHONPATH=$work/site $python -W error readme.py) >"$work/printed" ||
    fail "the README's program ends with an error"
[ "$(cat "$work/printed")" = learned ] || fail "the README's program prints $(cat "$work/printed")"
echo 'the package for Python is as its headers and its README say'
