#!/bin/sh
# The rooms of src/ as a ladder: a room includes itself and rooms below it, never one above, and its
# objects use no symbol of one above. Every room says
# at the head of one header what it is for, and every source begins with a comment. Each kernel has a
# reference. Graphs name no kernel. Within the folders of `circles` no more files than the number use
# each other in a circle, by the symbols of their objects.
#
# usage: test_rooms.sh [TREE]
cd "${1:-$(dirname "$0")/../..}" || exit 1

# From the lowest. A public header belongs to the room that implements it.
ladder='platform base device record image encode kernels desktop reference run graph io data interchange onnx tflite mpi task train export report bench tool python examples'
public='status:platform device:device channel_format:device buffer:device command_buffer:record image:image
dmabuf:image hardware_buffer:image texture:image padding:encode state:encode kernel:encode data_source:encode kernels:kernels run:run node:graph
graph:graph training:graph checkpoint:interchange serialize:interchange io:io data:data
onnx:onnx tflite:tflite mpi:mpi task:task detection:task metrics:task anomaly:train train:train export:export report:report bench:bench glcnn:io'

# These see of the library what a user sees, its public headers, and of other rooms those named here.
clients='data:base interchange:base onnx:base tflite: mpi:base task:base train:base,task export:base,task,train report:base,task,train bench:base,task
tool:base,task,train,export,report'

# FOLDER:FILES, or FOLDER/PREFIX:FILES for the files whose names begin with PREFIX.
circles='record:3'

kernels=$(sed -n 's/^const struct glcnn_descriptor glcnn_kernel_\([a-z0-9_]*\) = {.*/\1/p' \
    src/kernels/*.c)

fail() {
    echo "$1"
    failed=1
}
failed=

[ -n "$kernels" ] || fail "no kernel is found in src/kernels"
references=$(sed -n 's/^const struct glcnn_reference glcnn_reference_\([a-z0-9_]*\) = {.*/\1/p' \
    src/reference/*.c)
for kernel in $kernels; do
    echo "$references" | grep -qx "$kernel" || fail "src/reference has no reference of the kernel $kernel"
done
for kernel in $references; do
    echo "$kernels" | grep -qx "$kernel" || fail "src/reference has one of $kernel, which is no kernel"
done
for folder in src/*/; do
    room=$(basename "$folder")
    case " $ladder " in *" $room "*) ;; *) fail "src/$room has no place on the ladder" ;; esac
    heads=$(cat "$folder"*.h "$folder"*/__init__.py 2>/dev/null | grep -c '^\( \* \)\{0,1\}Room: ')
    [ "$heads" = 1 ] || fail "$heads heads of src/$room say what the room is for, not one"
done
silent=$(awk 'FNR == 1 && !/^\/\* / { print FILENAME }' platform/*.c src/*/*.c tests/*.c tests/*/*.c \
    examples/*.c examples/*/*.c)
[ -z "$silent" ] || fail "these do not begin with what they are for: $silent"
stray=$(find src include/glcnn -maxdepth 1 -name '*.c' -o -maxdepth 1 -path 'src/*.h')
[ -z "$stray" ] || fail "outside of any room: $stray"
# The Makefile finds tests in folders alone: one beside them would never run.
stray=$(find tests -maxdepth 1 -name 'test_*')
[ -z "$stray" ] || fail "no room has these tests, so that nothing runs them: $stray"
for folder in tests/*/; do
    count=$(find "$folder" -maxdepth 1 -name '*.c' | wc -l)
    [ "$count" -le 45 ] || fail "$folder has $count C files, and 45 are what a reader finds a way in"
done

# Graphs know kernels by what descriptors say, but for the files that make nodes of each kernel.
for file in src/graph/*.[ch]; do
    case $file in src/graph/*nodes*) continue ;; esac
    grep -Hn 'include.*kernels/' "$file" && fail "$file includes the header of a kernel"
    for kernel in $kernels; do
        grep -Hn "\"$kernel\"\|glcnn_${kernel}_\|glcnn_kernel_$kernel\>" "$file" &&
            fail "$file names the kernel $kernel"
    done
done

# What only a large desktop GPU takes may be left out: nobody outside names a header, a shader or a row
# of it.
rows=$(sed -n 's/^ *{"\([a-z0-9_]*\)".*/"\1"/p' src/desktop/*.c)
[ -n "$rows" ] || fail "no row is found in src/desktop"
find platform src glsl -name '*.[ch]' -o -name '*.comp' -o -name '*.glsl' |
    grep -v '^src/desktop/\|^glsl/desktop/' | xargs grep -HnF -e 'desktop/' -e "$rows" &&
    fail "a portable file names what lies in src/desktop or glsl/desktop"

# The package for Python reads the public headers, and no file of another room.
grep -rnE '\b(src|platform)/' src/python --include='*.py' && fail 'src/python names a file of a room'

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

for client in $clients; do
    room=${client%%:*} seen=$(echo "${client#*:}" | tr , '|')
    grep -Hn '^#include "[a-z_0-9]*/' "src/$room"/*.[ch] | grep -vE "\"($room|$seen)/"
done >"$work/internal"
[ ! -s "$work/internal" ] || fail "these include what no user of the library sees: $(cat "$work/internal")"

# Lines "ROOM ROOM FILE HEADER": who includes whom.
grep -oE '^#include ["<][a-z_0-9/]*\.h[">]' platform/*.[ch] src/*/*.[ch] |
    sed 's/:#include ["<]/ /; s/\.h[">]$//' | awk -v public="$public" '
    BEGIN { split(public, rows); for (i in rows) { split(rows[i], row, ":"); of[row[1]] = row[2] } }
    {
        file = $1; sub(/^src\//, "", file); split(file, from, "/"); parts = split($2, to, "/")
        if (to[1] == "glcnn") to[1] = of[to[2]]
        else if (to[1] == "support") to[1] = "examples"
        else if (parts == 1) next
        if (to[1] ~ /^(sys|EGL|GLES2|GLES3|KHR|cjson|linux|webp)$/) next
        print from[1], to[1], $1, $2 ".h"
    }' >"$work/arrows"

# Those that run up go to the file `up`.
awk -v ladder="$ladder" -v up="$work/up" '
    BEGIN { count = split(ladder, rooms); for (i = 1; i <= count; i++) height[rooms[i]] = i }
    {
        arrows++
        if (!height[$2]) { unknown++; print $3 ": " $2 " is of no room"; next }
        if (height[$2] > height[$1]) { runs_up++; print $3, $4 >up; next }
    }
    END {
        printf "%d arrows, %d up\n", arrows, runs_up
        exit unknown || arrows < 100
    }' "$work/arrows" || failed=1

# Lines "FILE SYMBOL": objects that use what a room above defines. An object whose source is gone is of an
# earlier build.
for file in platform/*.c src/*/*.c examples/support/*.c; do
    [ ! -e "${O:-build}/${file%.c}.o" ] || echo "${O:-build}/${file%.c}.o"
done >"$work/objects"
if [ -s "$work/objects" ]; then
    xargs nm -A -P <"$work/objects" | sed 's/: / /' | awk -v ladder="$ladder" -v folder="${O:-build}/" '
        BEGIN { count = split(ladder, rooms); for (i = 1; i <= count; i++) height[rooms[i]] = i }
        {
            file = substr($1, length(folder) + 1); sub(/o$/, "c", file)
            room = file; sub(/^src\//, "", room); sub(/\/.*/, "", room)
        }
        $3 ~ /^[TDRBVWG]$/ && !(of[$2] && of[$2] < height[room]) { of[$2] = height[room] }
        $3 == "U" { uses[file " " $2] = height[room]; symbol[file " " $2] = $2 }
        END { for (use in uses) if (of[symbol[use]] > uses[use]) print use }' >>"$work/up"
else
    echo "no objects are in ${O:-build}: uses of symbols are not looked for"
fi

[ ! -s "$work/up" ] || fail "$(LC_ALL=C sort "$work/up" | sed 's/^/runs up: /')"

# Objects that reach each other by the symbols that they use are one circle. A circle of more files
# than `most` is printed, and fails.
check_circles() {
    nm -A -P "$@" | sed 's/: / /' | awk -v most="$most" '
        { file = $1; sub(/.*\//, "", file); files[file] = 1 }
        $3 ~ /^[TDRBVWG]$/ { of[$2] = file }
        $3 == "U" { uses[file, $2] = 1 }
        END {
            for (use in uses) {
                split(use, part, SUBSEP)
                if (part[2] in of) reaches[part[1], of[part[2]]] = 1
            }
            for (k in files) for (i in files) if ((i, k) in reaches)
                for (j in files) if ((k, j) in reaches) reaches[i, j] = 1
            for (i in files) {
                size = 1; names = i
                for (j in files) if (j != i && (i, j) in reaches && (j, i) in reaches) {
                    size++; names = names " " j
                }
                if (size > most) { print "circle of " size ": " names; large = 1 }
            }
            exit large
        }'
}
objects=${O:-build}/src
if [ -d "$objects" ]; then
    for circle in $circles; do
        most=${circle#*:}
        set -- "$objects/${circle%:*}"/*.o
        [ -e "$1" ] || set -- "$objects/${circle%:*}"*.o
        [ -e "$1" ] || fail "no objects of src/${circle%:*} are in $objects"
        check_circles "$@" || fail "more than $most files of src/${circle%:*} are in one circle"
    done
else
    echo "no objects are in $objects: circles of files are not looked for"
fi
[ -z "$failed" ]
