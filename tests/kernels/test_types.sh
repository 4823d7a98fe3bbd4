#!/bin/sh
# A new type of neuron is one shader, one enumerator and one row of a table, a new type of loss one row
# more, of its reference: added to a copy of the tree, x^3 and (y - t)^4 have a name, pass the
# self-check, and the neuron is fused too. A row without an enumerator, or with that of another type,
# does not compile.
#
# Runs from the top of the tree, after a build in $O. MAKE may be given.

set -e
. tests/tool.sh
make=${MAKE:-make} out=${O:-build}

# The times are kept, so that only what the new types change is remade.
mkdir "$work/tree"
cp -Rp Makefile README.md include src glsl platform examples tests "$work/tree"
cp -Rp "$out" "$work/out"

cat >"$work/tree/glsl/neuron/neuron_cube.glsl" <<'END'
// f = a x^3,  f' = 3 a x^2
vec4 neuron(vec4 x, vec4 slope) { return neuron_a * x * x * x; }
vec4 neuron_derivative(vec4 x, vec4 slope) { return 3.0 * neuron_a * x * x; }
END
cat >"$work/tree/glsl/loss/loss_quartic.glsl" <<'END'
// l = (y - t)^4,  d = 4 (y - t)^3
vec4 NAME_loss(vec4 y, vec4 t) { return (y - t) * (y - t) * (y - t) * (y - t); }
vec4 NAME_gradient(vec4 y, vec4 t) { return 4.0 * (y - t) * (y - t) * (y - t); }
END

# row FILE TABLE TEXT: TEXT becomes the last row of the macro TABLE.
row() {
    awk -v table="#define $2(ROW)" -v text="    $3" '
        index($0, table) == 1 { inside = 1 }
        inside && !/\\$/ { print $0 " \\"; print text; inside = 0; rows++; next }
        { print }
        END { exit rows != 1 }' "$1" >"$work/edited" || fail "$1 has no table $2"
    cp "$work/edited" "$1"
    # Dependencies on headers name the folder of the build that was copied.
    grep -rl "/${1##*/}\"" "$work/tree/src" | xargs touch
}

# replaced FILE EXPRESSION: sed changes the file.
replaced() {
    sed "$2" "$1" >"$work/edited"
    ! cmp -s "$1" "$work/edited" || fail "$1 has nothing for $2"
    cp "$work/edited" "$1"
}

kernels=$work/tree/src/kernels references=$work/tree/src/reference
row "$kernels/neuron_types.h" NEURON_TYPES 'ROW(cube, CUBE, 1, 0, 0, A * x * x * x, 3 * A * x * x)'
row "$kernels/loss.h" LOSS_TYPES 'ROW(quartic, QUARTIC)'

# refused TYPES CFLAGS: the tables of types, neuron or loss, do not compile.
refused() {
    ! ${CC:-cc} -fsyntax-only $2 -I"$work/tree/src" -I"$work/tree/include" -I"$work/tree" \
        "$kernels/$1.c" 2>"$work/errors" || fail "a $1 row compiles with '$2'"
}
refused neuron
grep -q GLCNN_NEURON_TYPE_CUBE "$work/errors" || fail "$(cat "$work/errors")"
refused loss
grep -q GLCNN_LOSS_TYPE_QUARTIC "$work/errors" || fail "$(cat "$work/errors")"
refused neuron -DGLCNN_NEURON_TYPE_CUBE=GLCNN_NEURON_TYPE_RELU
grep -q 'an enumerator of its own' "$work/errors" || fail "$(cat "$work/errors")"
refused loss -DGLCNN_LOSS_TYPE_QUARTIC=GLCNN_LOSS_TYPE_HUBER
grep -q 'an enumerator of its own' "$work/errors" || fail "$(cat "$work/errors")"
touch "$kernels/neuron.c" "$kernels/loss.c" # what make knows of their headers is of another $O
public=$work/tree/include/glcnn/kernels
replaced "$public/neuron.h" 's/^    GLCNN_NEURON_TYPE_FORCE32.*/    GLCNN_NEURON_TYPE_CUBE,\
&/'
replaced "$public/loss.h" 's/^    GLCNN_LOSS_TYPE_FORCE32.*/    GLCNN_LOSS_TYPE_QUARTIC,\
&/'
quartic='static double quartic(double y, double t, const struct glcnn_loss_parameters *p)\
{ (void)p; return pow(y - t, 4); }\
static double quartic_gradient(double y, double t, const struct glcnn_loss_parameters *p)\
{ (void)p; return 4 * pow(y - t, 3); }'
replaced "$references/loss.c" "s/^typedef double (\*element).*/&\\
$quartic/"
replaced "$references/loss.c" '/GLCNN_LOSS_TYPE_QUALITY_FOCAL/s/$/ {quartic, quartic_gradient},/'
neuron_case='{"neuron_type=cube neuron_a=0.5", {1, 3, 4, 5}}'
loss_case='{"loss_type=quartic reduction_type=sum", {1, 5, 3, 4}}'
replaced "$references/neuron.c" "s/cases\[\] = {/&$neuron_case, /"
replaced "$references/loss.c" "s/check_case cases\[\] = {/&$loss_case, /"

unset MAKEFLAGS MFLAGS MAKELEVEL O
$make -C "$work/tree" O="$work/out" >"$work/log" 2>&1 || { cat "$work/log"; fail 'the types do not build'; }
tool=$work/out/glcnn
for kernel in neuron neuron_gradient loss; do
    "$tool" check -k $kernel >"$work/checked" 2>&1 ||
        { cat "$work/checked"; fail "$kernel fails its check"; }
done

# x.npy holds 1, 2 and -3; NumPy's |i1 are signed bytes.
printf '\223NUMPY\001\000\166\000%-117s\n\001\002\375' \
    "{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }" >"$work/x.npy"
printf '\223NUMPY\001\000\166\000%-117s\n\002' \
    "{'descr': '|i1', 'fortran_order': False, 'shape': (1, 1, 1, 1), }" >"$work/w.npy"

# gives TEXT ARGUMENT...: the run's destination_image has the values TEXT.
gives() {
    wanted=$1
    shift
    found=$("$tool" run "$@" -p neuron_type=cube -p neuron_a=1 -i source_image="$work/x.npy" \
        2>"$work/errors" |
        sed -n 's/^destination_image \[.*\]: *//p')
    [ "$(echo $found)" = "$wanted" ] ||
        fail "glcnn run $* gives $found, not $wanted: $(cat "$work/errors")"
}
gives '1 8 -27' neuron
gives '8 64 -216' convolution -i weights="$work/w.npy"
