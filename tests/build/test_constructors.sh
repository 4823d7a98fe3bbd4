#!/bin/sh
# Constructors, accessors and nodes that src/kernels/constructors.awk makes of the headers: each value has the name of
# a parameter or vector of its kernel, a header of a new family needs no line beside it, and a declaration of which
# nothing can be made is an error that names it.
#
# Runs from the top of a built tree. CC and O may be given.

. tests/tool.sh
goes_on=1

# ---- Names ---------------------------------------------------------------------------------------

# Lines "KERNEL NAME" of all parameters and vectors; what a gradient has of its secondary source also without that.
"$out/glcnn" kernels --json | awk -F'"' '
    /^\t\t"name"/ { kernel = $4 }
    /^\t\t\t\t"name"/ { print kernel, $4; if (sub(/^secondary_/, "", $4)) print kernel, $4 }' | sort -u >"$work/there"
# The same of what is set.
awk '
    match($0, /glcnn_kernel_[a-z0-9_]+, /) { kernel = substr($0, RSTART + 13, RLENGTH - 15) }
    match($0, /node_of_values\("[a-z0-9_]+"/) { kernel = substr($0, RSTART + 16, RLENGTH - 17) }
    /struct kernel_value/ { while (match($0, /\{"[a-z0-9_]+"/)) {
        print kernel, substr($0, RSTART + 2, RLENGTH - 3); $0 = substr($0, RSTART + RLENGTH) } }' \
    "$out/constructors.c" "$out/nodes.c" | sort -u >"$work/set"
[ "$(wc -l <"$work/set")" -gt 50 ] || fail "$(wc -l <"$work/set") values are set, which are too few"
strange=$(comm -13 "$work/there" "$work/set")
[ -z "$strange" ] || fail "these are no parameters or vectors of their kernels: $strange"

# ---- A new family --------------------------------------------------------------------------------

mkdir -p "$work/include/glcnn/kernels" "$work/src"
cat >"$work/include/glcnn/kernels/toy.h" <<'END'
#include <glcnn/kernel.h>
struct glcnn_toy_parameters {
    float gain;
};
/* The parameters of a toy. */
GLCNN_API struct glcnn_toy_parameters *glcnn_toy(glcnn_kernel *kernel);
GLCNN_API glcnn_status glcnn_toy_create(glcnn_device *device, float gain, const float *weights,
                                        size_t count, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_toy_other_create(glcnn_device *device, uint64_t seed,
                                              const struct glcnn_toy_parameters *parameters,
                                              glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_toy_odd_create(glcnn_device *device, uint32_t size, const float *rest,
                                            glcnn_kernel **kernel);
/* Its other source, other may be NULL. */
GLCNN_API glcnn_image_node *glcnn_toy_node(glcnn_image_node *source, glcnn_image_node *other,
                                           float gain, const struct glcnn_data_source *data_source);
GLCNN_API glcnn_image_node *glcnn_toy_odd_node(glcnn_image_node *source, uint32_t size);
END
cat >"$work/src/toy.c" <<'END'
const struct glcnn_descriptor glcnn_kernel_toy = {
const struct glcnn_descriptor glcnn_kernel_toy_other = {
const struct glcnn_descriptor glcnn_kernel_toy_odd = {
glcnn_status glcnn_toy_odd_create(glcnn_device *device, uint32_t size, const float *rest,
                                  glcnn_kernel **kernel)
{
END

# made NODES: what is made of the folder.
made() {
    awk -f src/python/declarations.awk "$work/include/glcnn/kernels/toy.h" >"$work/declarations" &&
        awk -f src/kernels/constructors.awk -v nodes="$1" "$work/src/toy.c" "$work/declarations"
}
for nodes in 0 1; do
    made $nodes >"$work/made.c" 2>"$work/said" || fail "nothing is made of a new family: $(cat "$work/said")"
    sed -i 's/#include "glcnn\/kernels.h"/#include <glcnn\/node.h>\n#include "glcnn\/kernels\/toy.h"/' "$work/made.c"
    ${CC:-cc} -std=c11 -Wall -Wextra -Wshadow -Wconversion -Wno-missing-field-initializers -Werror \
        -fsyntax-only -I"$work/include" -Iinclude -iquote src -iquote . "$work/made.c" ||
        fail "what is made of a new family does not compile: $(cat "$work/made.c")"
    cp "$work/made.c" "$work/made$nodes.c"
done
for line in 0:'return kernel_parameters(kernel, "toy")' 0:'{"gain", .number = (double)gain}' \
    0:'{"weights", .vector = weights, .count = count}' 0:'{"seed", .number = (double)seed, .whole = seed}' \
    0:'{.all = true, .parameters = parameters}' 1:'other ? 2 : 1' 1:'glcnn_toy_odd_create(device, size, NULL, &kernel)'; do
    grep -qF "${line#*:}" "$work/made${line%%:*}.c" || fail "nothing made of a new family has ${line#*:}"
done
! grep -q 'glcnn_toy_odd_create' "$work/made0.c" || fail 'a constructor that a source defines is made too'

# ---- What cannot be made -------------------------------------------------------------------------

# refused NODES PHRASE DECLARATION
refused() {
    echo "$3" >"$work/include/glcnn/kernels/toy.h"
    ! made "$1" >/dev/null 2>"$work/said" || fail "this is no error: $3"
    grep -q "$2" "$work/said" || fail "the message of $3 has no \"$2\": $(cat "$work/said")"
}
refused 0 'glcnn_toy_create takes const char \* name' \
    'GLCNN_API glcnn_status glcnn_toy_create(glcnn_device *device, const char *name, glcnn_kernel **kernel);'
refused 0 'glcnn_none_create is of no kernel' \
    'GLCNN_API glcnn_status glcnn_none_create(glcnn_device *device, glcnn_kernel **kernel);'
refused 1 'glcnn_toy_node takes int\* sizes' \
    'GLCNN_API glcnn_image_node *glcnn_toy_node(glcnn_image_node *source, int* sizes);'
refused 1 'glcnn_toy_odd_node stands before its constructor' \
    'GLCNN_API glcnn_image_node *glcnn_toy_odd_node(glcnn_image_node *source, uint32_t size);'
refused 1 'does not end' 'GLCNN_API glcnn_image_node *glcnn_toy_node(glcnn_image_node *source'

[ $failed = 0 ]
