#!/bin/sh
# The glcnn command as a person meets it: its answers, its messages, its exit statuses, its files.
#
# Runs from the top of a built tree. CC, PKG_CONFIG and O may be given. Exits 77 without a device.

. tests/tool.sh
goes_on=1
cd "$work" || exit 1
unset GLCNN_DEVICE GLCNN_LIMITS

# gives STATUS ARGUMENT...: runs the tool into files out and err and checks its exit status.
gives() {
    wanted=$1
    shift
    "$glcnn" "$@" >out 2>err
    status=$?
    [ $status = "$wanted" ] || fail "glcnn $*: exit status $status, not $wanted: $(tail -n 2 err)"
}

# says FILE PHRASE: the file out or err has the phrase.
says() {
    grep -qF -- "$2" "$1" || fail "\"$2\" is not in: $(head -n 5 "$1")"
}

silent() {
    [ ! -s out ] || fail "something on standard output: $(head -n 2 out)"
}

# npy FILE SHAPE VALUE...: a NumPy file of whole numbers from -128 to 127.
npy() {
    file=$1
    header="{'descr': '|i1', 'fortran_order': False, 'shape': $2, }"
    shift 2
    printf '\223NUMPY\001\000\166\000%-117s\n' "$header" >"$file"
    for value; do
        printf "\\$(printf %03o $((value & 255)))" >>"$file"
    done
}

# values NAME VALUE...: the last answer has the output of that name with about these values.
values() {
    name=$1
    shift
    sed -n "s/^$name \[.*\]://p" out >found
    echo "$*" | cat - found | awk '
        NR == 1 { n = split($0, wanted) }
        NR == 2 { for (i = 1; i <= n; i++) {
            d = wanted[i] - $i; size = wanted[i] < 0 ? -wanted[i] : wanted[i]
            if (NF != n || d * d > 1e-10 * (1 + size * size)) bad = 1
        } }
        END { exit bad || NR != 2 }' || fail "$name is$(cat found), not $*"
}

"$glcnn" info >out 2>err
[ $? != 77 ] || {
    tail -n 1 err
    exit 77
}

# ---- The command itself --------------------------------------------------------------------------

gives 2
says err 'usage: glcnn COMMAND'
gives 2 nonsense
says err 'there is no command "nonsense"; there are info, kernels, run, check,'
gives 2 trian
says err 'there is no command "trian"; did you mean train? There are info,'
gives 2 help trian
says err 'did you mean train?'
gives 0 help train
says out 'usage: glcnn train'
gives 2 --nonsense
says err 'there is no option "--nonsense"'
silent
gives 0 --help
says out 'check'
gives 0 --version
says out "glcnn $(sed -n 's/^#define GLCNN_VERSION_MAJOR *//p' "$top/include/glcnn/status.h")."
"$glcnn" help >out
for command in $(sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' out); do
    gives 0 $command --help
    says out "usage: glcnn $command"
    # A line of an example fits: what goes on by four blanks was broken. An option ends before its text begins.
    ! grep '^    [^ ]\|^.\{81\}\|^  .* --[a-z-]*=[A-Z]\{2,\}[a-z]\{2,\}' out >err || fail "help $command: $(cat err)"
    gives 2 $command --nonsense
    says err "glcnn $command: there is no option --nonsense; there are "
    gives 2 $command --halp=3
    says err 'there is no option --halp; did you mean help? There are '
    gives 2 $command -Z
    says err 'there is no option -Z'
    silent
done
gives 2 info --json=3
says err '--json takes no value'
gives 2 check -k
says err '--kernel needs a value, NAME'
gives 2 info there
says err 'unexpected argument "there"'
if [ -c /dev/full ]; then
    "$glcnn" kernels >/dev/full 2>err
    [ $? = 1 ] || fail 'an answer that cannot be written is no failure'
    says err 'standard output cannot be written'
fi

# A command line that a command refuses before it opens anything: the message and what to do, whole.
while IFS='|' read -r line words; do
    gives 2 $line
    command=${line%% *}
    printf 'glcnn %s: %s\n"glcnn %s --help" lists the options.\n' "$command" "$words" "$command" >wanted
    cmp -s wanted err || fail "glcnn $line says: $(cat err)"
    silent
done <<'END'
evaluate|no model given
evaluate m|no data given
evaluate m d x|unexpected argument "x"
evaluate m d --size 0|--size is "0"; it must be a number or WIDTHxHEIGHT, each in 1 .. 4096
predict|no model given
predict m|no pictures given
predict m x --top 0|--top is "0"; it must be a whole number in 1 .. 65535
predict m x --top 65536|--top is "65536"; it must be a whole number in 1 .. 65535
predict m x --most 0|--most is "0"; it must be a whole number in 1 .. 300
predict m x --most 301|--most is "301"; it must be a whole number in 1 .. 300
predict m x --confidence 1.01|--confidence is "1.01"; it must be a number in 0 .. 1
predict m x --overlap -0.1|--overlap is "-0.1"; it must be a number in 0 .. 1
look|no data given
look a b|expected one folder or file of data
kernels --table pooling_max|--table lists all kernels; it takes no names
kernels --shape 1x2|--shape is "1x2"; it must be IMAGESxCHANNELSxHEIGHTxWIDTH, each 1 or more
bench --compare x --json|--compare prints text; write --json to a file and compare the two files
anomaly|expected "fit" or "score"
anomaly fit|no folder of normal pictures given
anomaly score|no file of "fit" given
export|no model given
export m -o x --batch 0|--batch is "0"; it must be a whole number in 1 .. 65535
export m -o x --batch 65536|--batch is "65536"; it must be a whole number in 1 .. 65535
export m -o x --pictures 0|--pictures is "0"; it must be a whole number in 1 .. 10000
export m -o x --pictures 10001|--pictures is "10001"; it must be a whole number in 1 .. 10000
export m -o x --boxes q|--boxes is "q"; it must be split, yolo or nms
export m -o x --embed-preprocessing q|--embed-preprocessing is "q"; it must be bytes, unit, bytes-bgr or unit-bgr
export m -o x --percentile 49.9|--percentile is "49.9"; it must be a number in 50 .. 100
export m -o x --percentile 100.1|--percentile is "100.1"; it must be a number in 50 .. 100
export m -o x.onnx --percentile 50|--percentile and --small-weights are for --int8, which is missing
export m -o x.onnx --percentile 100|--percentile and --small-weights are for --int8, which is missing
import x|--out is missing: the model file to write
import x --channels 0|--channels is "0"; it must be a whole number in 1 .. 65535
run pooling_max -i x|"x" is not of the form NAME=FILE
run pooling_max -f q|there is no format "q"; there are float32 and float16
info -w 0|--wait is "0"; it must be a whole number in 1 .. 1000000
info -w 1000001|--wait is "1000001"; it must be a whole number in 1 .. 1000000
END
# What lies on the edge is taken, and the model is what fails.
for line in 'predict m x --top 65535' 'predict m x --most 300' 'predict m x --confidence 1' 'predict m x --overlap 0' \
    'export m -o x.onnx --batch 65535' 'evaluate m d --size 4096'; do
    gives 1 $line
    says err 'm: cannot be opened: No such file or directory'
done

# ---- JSON, as its readers see it -----------------------------------------------------------------

cat >json.c <<'END_OF_C'
/* json PATH: parses standard input and prints what stands at a.b.0.c; fails where nothing does. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char *argv[])
{
    static char text[1 << 22];
    const char *end;
    text[fread(text, 1, sizeof text - 1, stdin)] = 0;
    cJSON *json = cJSON_ParseWithOpts(text, &end, 1);
    char *word = argc > 1 ? strtok(argv[1], ".") : NULL;
    for (; json && word; word = strtok(NULL, "."))
        json = cJSON_IsArray(json) ? cJSON_GetArrayItem(json, atoi(word))
                                   : cJSON_GetObjectItemCaseSensitive(json, word);
    if (!json)
        return 1;
    puts(cJSON_IsString(json) ? json->valuestring : cJSON_PrintUnformatted(json));
    return 0;
}
END_OF_C
$cc -o json json.c $($pkg_config --cflags --libs libcjson) ||
    fail 'the reader of JSON does not build'

# holds PATH VALUE: the last answer is JSON and has the value there.
holds() {
    found=$(./json "$1" <out) || fail "no $1 in the JSON: $(head -n 3 out)"
    [ "$found" = "$2" ] || fail "$1 is $found, not $2"
}

# ---- info ----------------------------------------------------------------------------------------

gives 0 version
says out "glcnn $(sed -n "s/^.define GLCNN_VERSION_MAJOR *//p" "$top/include/glcnn/status.h")."
gives 0 info
says out 'texture_size'
says out 'pooling_average'
says out 'chosen'
says out 'implementations tuned    off'
awk '/^  [a-z]/ && NF < 2' out | grep . && fail 'info prints a name without what it is'
gives 0 info --json
holds device.limits.work_group_count.2 65535
holds error null
holds kernels.0.can_run true
! ./json extensions.GL_NO_SUCH <out >found || fail 'the reader of JSON finds what is not there'
GLCNN_LIMITS=min gives 0 info --json
holds device.limits.texture_size 2048
holds device.limits_clamped true
gives 77 info --device=/dev/null
says err '/dev/null'
gives 77 info --json --device=/dev/null
holds device null
gives 0 info --verbose
says err 'debug:'

# ---- kernels -------------------------------------------------------------------------------------

gives 0 kernels
says out 'MPSCNNPoolingAverage'
says out 'kernel_width=1'
gives 0 kernels --short
[ "$(grep -c . out)" -gt 7 ] || fail 'kernels --short lists too few'
gives 0 kernels dropout
says out ' 0 to 18446744073709551615;'
gives 0 kernels pooling_max --json
holds 0.name pooling_max
holds 0.mps_class MPSCNNPoolingMax
holds 0.inputs.0.name source_image
holds 0.outputs.0.kind image
holds 0.parameters.2.name kernel_width
holds 0.parameters.2.minimum 1
gives 0 kernels --short
first=$(sed -n '1s/ .*//p' out)
gives 0 kernels --json
holds 0.name "$first"
gives 0 kernels --table
says out '| MPSCNNPoolingMax | `pooling_max` | `pooling_max_gradient`, MPSCNNPoolingMaxGradient | float32, float16 |'
says out '| MPSCNNDivide | `divide` | `divide_gradient`, not in MPS | float32, float16 |'
says out '| MPSCNNLoss | `loss` | none: it computes the first gradient itself | float32, float16 |'
says out '| none: it ends the backward pass | float32 vectors |'
says out '| MPSCNNPooling, MPSCNNPoolingGradient |'
gives 2 kernels --table pooling_max
gives 0 kernels
says out 'MPSCNNArithmetic, MPSCNNArithmeticGradient'
gives 2 kernels no_such
says err 'there is no kernel "no_such"'
gives 2 kernels poling_max
says err 'there is no kernel "poling_max"; "glcnn kernels --short" lists them; did you mean pooling_max?'

# ---- kernels --explain -----------------------------------------------------------------------------

gives 0 kernels neuron --explain --shape 2x8x5x7 -p neuron_type=relu --as Mali-G52
says out 'pass 1: glsl/'
says out '4x5x4 invocations'
gives 0 kernels pooling_max_gradient --explain --shape 64x32x28x28 -p kernel_width=3 -p kernel_height=3 --as V3D
says out 'pooling_max_gradient: not '
says out ', which needs '
gives 2 kernels --explain
says err '--explain needs one kernel'
gives 2 kernels --explain neuron
says err '--explain needs --shape'
for shape in 1x2x3 1x2x3x4x5 1x0x3x4 1x2x3xa 1x2x3x-4 1x2x3x4294967296; do
    gives 2 kernels --explain neuron --shape $shape
    says err "--shape is \"$shape\"; it must be IMAGESxCHANNELSxHEIGHTxWIDTH"
done
gives 2 kernels --explain neuron --shape 1x2x3x4 -p nonsense=1
says err 'nonsense'
gives 1 kernels --explain neuron --shape 1x2x3x4 --as Voodoo
says err 'no GPU "Voodoo" is known; families are llvmpipe'

# ---- run: golden values of pooling ---------------------------------------------------------------

npy x.npy '(5,)' 1 2 3 4 5
"$glcnn" run pooling_max -v -p kernel_width=3 -p kernel_height=3 -i source_image=x.npy >out 2>err
grep -q '^glcnn: debug: pooling_max: list .* takes ' err || fail "run -v tells no choice: $(cat err)"
npy g.npy '(1, 1, 1, 3)' 1 10 100
window='-p kernel_width=3 -p stride_in_pixels_x=2 -p destination_width=3 -p destination_height=1'

# golden KERNEL SETTINGS FORWARD GRADIENT: three windows on x.npy, and g.npy back through them.
golden() {
    gives 0 run $1 $window $2 -i source_image=x.npy
    values destination_image $3
    gives 0 run $1_gradient $window $2 -i source_image=x.npy -i source_gradient=g.npy
    values destination_gradient $4
}

golden pooling_average '-p edge_mode=zero' '1 3 3' '0.333333 3.666667 3.333333 36.666667 33.333333'
golden pooling_average '-p edge_mode=clamp' '1.5 3 4.5' '0.5 3.833333 3.333333 53.333333 50'
golden pooling_average '-p edge_mode=clamp -p zero_pad_size_x=1' '1 3 3' \
    '0.333333 3.666667 3.333333 36.666667 33.333333'
golden pooling_max '-p edge_mode=clamp' '2 4 5' '0 1 0 10 100'
golden pooling_l2_norm '-p edge_mode=zero' '2.236068 5.385165 6.403124' \
    '0.447214 4.608334 5.570860 69.897318 78.086881'
golden pooling_l2_norm '-p edge_mode=clamp' '2.449490 5.385165 8.124038' \
    '0.816497 4.530403 5.570860 56.664410 123.091491'
npy x.npy '(5,)' -3 -1 -1 -2 -5
golden pooling_max '-p edge_mode=zero' '0 -1 0' '0 10 0 0 0'
golden pooling_max '-p edge_mode=clamp' '-1 -1 -2' '0 11 0 100 0'
npy x.npy '(1, 6)' 1 9 2 8 3 7
npy g.npy '(1, 6)' 1 2 4 8 16 32
window='-p kernel_width=2 -p dilation_rate_x=3 -p destination_width=6 -p destination_height=1'
golden dilated_pooling_max '' '9 2 8 9 7 8' '0 9 2 36 0 16'

# The reference gives the same without any device, and padding decides where no size is given.
npy x.npy '(8,)' 1 2 3 4 5 6 7 8
GLCNN_DEVICE=/dev/null gives 0 run pooling_max -p kernel_width=3 -p padding=valid --reference \
    -i source_image=x.npy
values destination_image 3 4 5 6 7 8
gives 0 run pooling_max -p kernel_width=3 -p padding=valid -i source_image=x.npy
values destination_image 3 4 5 6 7 8
gives 0 run pooling_max -p kernel_width=3 -p stride_in_pixels_x=2 -p padding=same \
    -p remainder=bottom_right -i source_image=x.npy
values destination_image 3 5 7 8

# ---- run: golden values of kernels with vectors and states ---------------------------------------

npy x.npy '(5,)' 1 2 3 4 5
npy w.npy '(1, 1, 1, 3)' 1 0 -1
npy b.npy '(1,)' 1
npy g.npy '(5,)' 1 1 1 1 1
gives 0 run convolution -i source_image=x.npy -i weights=w.npy -i biases=b.npy
values destination_image -1 -1 -1 -1 5
gives 0 run convolution_gradient -i source_image=x.npy -i weights=w.npy -i source_gradient=g.npy
values destination_gradient 1 0 0 0 -1
values gradient_for_weights 10 15 14
values gradient_for_biases 5

# A state's fields are computed where they are not given, and come out by name.
npy x.npy '(4,)' 1 2 3 6
npy gamma.npy '(1,)' 2
npy beta.npy '(1,)' 0
npy g.npy '(4,)' 1 0 -1 2
images='-p epsilon=0 -i source_image=x.npy -i source_gradient=g.npy'
vectors='-i gamma=gamma.npy -i beta=beta.npy'
gives 0 run batch_normalization_gradient $images $vectors
values mean 3
values variance 3.5
values gradient_for_gamma 2.138090
values gradient_for_beta 2
values destination_gradient 1.145405 -0.229081 -1.603567 0.687243
gives 0 run batch_normalization_gradient $images $vectors -o mean=m.npy -o variance=v.npy \
    -o gradient_for_gamma=gg.npy -o gradient_for_beta=gb.npy
gives 0 run batch_normalization_gradient $images $vectors -i mean=m.npy -i variance=v.npy \
    -i gradient_for_gamma=gg.npy -i gradient_for_beta=gb.npy
values destination_gradient 1.145405 -0.229081 -1.603567 0.687243
! grep -q mean out || fail 'what was given is given back'
gives 1 run batch_normalization_gradient $images $vectors -i mean=m.npy -i variance=v.npy \
    -o mean=again.npy
says err 'did not compute mean'

npy x.npy '(3, 1, 1)' 1 2 3
npy labels.npy '(3, 1, 1)' 0 0 1
gives 0 run soft_max -i source_image=x.npy
values destination_image 0.090031 0.244728 0.665241
gives 0 run loss -p loss_type=soft_max_cross_entropy -p reduction_type=mean -i source_image=x.npy \
    -i labels=labels.npy
values loss 0.407606
values destination_gradient 0.090031 0.244728 -0.334759
npy x.npy '(2, 1, 2)' 1 2 3 4
npy g.npy '(2, 1, 2)' 1 -1 2 0
gives 0 run optimizer_stochastic_gradient_descent -p learning_rate=0.5 -i values=x.npy \
    -i gradient=g.npy
says out 'result [2 1 2]:'
values result 0.5 2.5 2 4

# ---- run: files ----------------------------------------------------------------------------------

npy x.npy '(8,)' 1 2 3 4 5 6 7 8
average='run pooling_average -p kernel_width=3 -p edge_mode=clamp -i source_image=x.npy'
gives 0 $average -o destination_image=y.npy
silent
[ "$(head -c 10 y.npy | od -An -to1 | tr -d ' ')" = 223116125115120131001000166000 ] ||
    fail 'y.npy does not begin as a .npy file'
says y.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 8), }"
[ "$(wc -c <y.npy)" -eq 160 ] || fail 'y.npy has not 160 bytes'
gives 0 run neuron -p neuron_type=linear -p neuron_a=1 -i source_image=y.npy
values destination_image 1.5 2 3 4 5 6 7 7.5
gives 0 $average --format float16 -o destination_image=h.npy
says h.npy "'<f2'"
[ "$(wc -c <h.npy)" -eq 144 ] || fail 'h.npy has not 144 bytes'
gives 0 run neuron -p neuron_type=linear -p neuron_a=1 -i source_image=h.npy
values destination_image 1.5 2 3 4 5 6 7 7.5
gives 0 $average -o destination_image=/dev/null
[ -c /dev/null ] || fail '/dev/null was replaced'

# A loss is float32 in every format: this one is no float16.
npy far.npy '(3, 1, 1)' 127 127 127
npy labels.npy '(3, 1, 1)' -128 -128 -128
gives 0 run loss -p loss_type=mean_squared_error -p reduction_type=sum --format float16 \
    -i source_image=far.npy -i labels=labels.npy -o loss=l.npy -o destination_gradient=d.npy
says l.npy "'<f4'"
says d.npy "'<f2'"
gives 0 run neuron -p neuron_type=linear -p neuron_a=1 -i source_image=l.npy
values destination_image 195075

# /dev/stdout is written in place, also where it is a regular file: the file that a shell has open
# stays the one that has the name, with what was in it.
if [ -e /dev/stdout ]; then
    { echo begun && "$glcnn" $average -o destination_image=/dev/stdout && echo ended; } >stdout.npy
    { echo begun && cat y.npy && echo ended; } >wanted.npy
    cmp -s stdout.npy wanted.npy || fail '/dev/stdout was replaced, or written from its start'
fi

# Larger outputs are summed up.
npy large.npy '(2, 3, 4)' 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
gives 0 run pooling_max -i source_image=large.npy
says out 'destination_image [1 2 3 4]: minimum 0, mean 11.5, maximum 23'

# Nothing is left of a run that fails, and what was there stays.
cp x.npy kept.npy
two='run batch_normalization_statistics --force -i source_image=large.npy -o mean=kept.npy -o'
gives 1 $two variance=/nonexistent/v.npy
says err '/nonexistent/v.npy: cannot be created'
gives 1 $two variance=kept.npy
says err 'kept.npy: would be written twice by --output'
gives 1 $two variance=.
cmp -s x.npy kept.npy || fail 'a failed run changed kept.npy'
gives 0 $two variance=v.npy
says kept.npy '(2,)'
[ -s v.npy ] || fail 'v.npy is not there'
[ -z "$(ls | grep tmp)" ] || fail "temporary files are left: $(ls)"

# ---- run: what is wrong --------------------------------------------------------------------------

gives 2 run
says err 'no kernel given'
gives 2 run no_such
says err 'there is no kernel "no_such"'
gives 2 run pooling_max pooling_max
gives 2 run pooling_max -p no_such=1
says err 'there is no parameter "no_such"'
gives 2 run pooling_max -p padings=same
says err 'there is no parameter "padings"; did you mean padding?'
gives 2 run pooling_max -p padding=smae
says err '"smae" is no value of padding; did you mean same? There are valid, same, full and custom'
gives 2 run pooling_max -p edge_mode=clampt
says err 'did you mean clamp? There are zero and clamp'
gives 2 run pooling_max_gradient -p kernel_witdh=3
says err 'did you mean kernel_width?'
gives 2 run poolingmax
says err 'did you mean pooling_max?'
gives 2 run pooling_max -p kernel_width
says err 'NAME=VALUE'
gives 2 run pooling_max -p kernel_width=wide
says err '"wide"'
gives 2 run pooling_max -f float8
says err 'there is no format "float8"; did you mean float32? There are float32 and float16'
gives 2 run pooling_max -i x.npy
says err 'NAME=FILE'
gives 2 run pooling_max -i source_image=
gives 2 run pooling_max -i destination_image=x.npy
says err 'has no input "destination_image"; there are source_image'
gives 2 run pooling_max -i sorce_image=x.npy
says err 'has no input "sorce_image"; did you mean source_image?'
gives 2 run pooling_max -o source_image=x.npy
says err 'has no output "source_image"; there are destination_image'
gives 1 run pooling_max
says err 'source_image'
gives 1 run pooling_max -p kernel_width=0 -i source_image=x.npy
says err 'kernel_width'
gives 1 run pooling_max -i source_image=x.npy -i source_image=x.npy
says err 'given twice'
gives 1 run pooling_max -i source_image=none.npy
says err 'none.npy: cannot be opened'
head -c 130 x.npy >short.npy
gives 1 run pooling_max -i source_image=short.npy
says err 'short.npy: has 130 bytes'
echo hello >text.npy
gives 1 run pooling_max -i source_image=text.npy
says err 'text.npy: is not a .npy file'
npy deep.npy '(1, 1, 1, 1, 1)' 1
gives 1 run pooling_max -i source_image=deep.npy
says err 'rank 5'
gives 77 run pooling_max -d /dev/null -i source_image=x.npy
silent

# ---- check ---------------------------------------------------------------------------------------

gives 0 check --quick -k pooling_max -k pooling_average
says out 'pooling_max '
says out '2 kernels, 0 failed'
gives 0 check --quick -k neuron --json
holds failed 0
holds quick true
holds kernels.0.kernel neuron
holds kernels.0.passed true
cases=$(./json kernels.0.cases <out)
holds kernels.0.float16_cases $((cases / 2))
gives 0 check --quick -k optimizer_adam --json
holds kernels.0.float16_cases 0
holds device.limits.work_group_count.0 65535
gives 2 check -k no_such
says err 'there is no kernel "no_such"'
gives 77 check -d /dev/null
silent

# A library whose check finds errors: the tool must not hide them.
cat >bad.c <<'END_OF_C'
#include <glcnn/glcnn.h>
#include <math.h>
glcnn_status bad_check(glcnn_device *device, const char *name, bool quick, glcnn_check_callback row,
                       void *user, size_t *failed);
glcnn_status bad_check(glcnn_device *device, const char *name, bool quick, glcnn_check_callback row,
                       void *user, size_t *failed)
{
    struct glcnn_check_row rows[] = {{name, 5, quick, NAN, "kernel_width=7", NULL},
                                     {name, 0, 0, 0, NULL, "the driver refused"}};
    row(user, &rows[0]);
    row(user, &rows[1]);
    *failed = 2;
    return device ? GLCNN_SUCCESS : GLCNN_INVALID_ARGUMENT;
}
END_OF_C
$cc -std=c11 -D_XOPEN_SOURCE=700 -Dglcnn_check=bad_check -iquote "$top/src" -I"$top/include" -I"$out/include" \
    -o bad "$top/src/tool/check.c" bad.c "$out/src/tool/main.o" "$out"/examples/support/*.o "$out/tool.a" \
    "$out/libglcnn_train.a" "$out/libglcnn_data.a" "$out/libglcnn_tflite.a" "$out/libglcnn_onnx.a" \
    "$out/libglcnn_interchange.a" "$out/libglcnn.a" -pthread -lm \
    $($pkg_config --cflags --libs libcjson libcbor liblzma libprotobuf-c libzip libpng libjpeg libwebp libtiff-4 zlib expat yaml-0.1 egl gbm) -lstdc++ ||
    fail 'the bad tool does not build'
glcnn=$work/bad
gives 1 check --quick -k neuron
says out 'FAILED'
says out 'worst: kernel_width=7'
says out 'could not run: the driver refused'
says out '2 kernels, 2 failed'
gives 1 check --quick -k neuron --json
holds failed 2
holds kernels.0.largest_error null
holds kernels.0.passed false
holds kernels.1.error 'the driver refused'

[ $failed = 0 ] && echo 'the glcnn command answers as it should'
