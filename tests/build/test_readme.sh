#!/bin/sh
# The pages do what they say: README.md is short, links lead somewhere, files that are named are
# there, the table of kernels is the tool's, programs compile and print what they should, lines for
# Python install the package, and the new kernel of src/README.md, added to a copy of the tree as three
# new files, passes the self-check.
#
# Runs from the top of the tree, after a build in $O. CC and MAKE may be given.

set -e
. tests/tool.sh
make=${MAKE:-make} out=${O:-build}

# ---- Pages ---------------------------------------------------------------------------------------

lines=$(wc -l <README.md)
[ "$lines" -le 220 ] || fail "README.md has $lines lines, and 220 at most: move some to a folder's page"
lines=$(wc -l <include/changes.md)
[ "$lines" -le 60 ] || fail "include/changes.md has $lines lines, and 60 at most"
for folder in include src glsl platform tests examples; do
    [ -e $folder/README.md ] || fail "$folder has no README.md"
done
for words in 'ping-pong passes' 'texture arrays of four-channel slices' 'gradient state' 'GBM' 'EGL'; do
    grep -q "$words" README.md || fail "README.md does not speak of $words"
done

# A link may have a heading behind its file. What stands between backticks and looks like a file of
# the tree is one, of the page's folder, of the top or of src, glsl or include; what looks like a name
# of the sources, with an underscore, is in them.
"$out/glcnn" kernels --short >"$work/kernels"
python3 - "$work/kernels" >"$work/lost" <<'END_OF_PYTHON'
import os, re, sys

def files():
    yield "README.md"
    for top in ("include", "src", "glsl", "platform", "tests", "examples"):
        for folder, _, names in os.walk(top):
            yield from (os.path.join(folder, name) for name in names)

def pages():
    return (name for name in files() if name.endswith(".md"))

def words():
    found = set()
    for name in [sys.argv[1], *files()]:
        if re.search(r"\.(c|h|comp|glsl|sh|py|mk|cpp)$|kernels$", name):
            found.update(re.findall(r"[A-Za-z_]\w*", open(name, encoding="utf-8", errors="replace").read()))
            found.add(os.path.splitext(os.path.basename(name))[0])
    return found

def anchors(page):
    heads = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", open(page, encoding="utf-8").read(), flags=re.S), re.M)
    return {re.sub(r"[^a-z0-9_-]", "", head.lower().replace(" ", "-")) for head in heads}

def is_there(folder, name):
    return any(os.path.exists(os.path.join(base, name))
               for base in (folder, ".", "src", "glsl", "include", "include/glcnn"))

links, known = 0, words()
for page in pages():
    folder, text = os.path.dirname(page) or ".", open(page, encoding="utf-8").read()
    for target in re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", text):
        target = target[0] or target[1]
        if re.match(r"[a-z]+:", target):
            continue
        links += 1
        file, _, anchor = target.partition("#")
        file = os.path.normpath(os.path.join(folder, file)) if file else page
        if not os.path.exists(file):
            print(f"{page}: there is no {target}")
        elif anchor and anchor not in anchors(file):
            print(f"{page}: {file} has no heading {anchor}")
    if page == "include/specification.md":
        continue
    for name in re.findall(r"`([a-z_./0-9]+/[a-z_0-9.]+\.(?:c|h|sh|py|comp|glsl|mk|md))`", text):
        if not is_there(folder, name):
            print(f"{page}: there is no file {name}")
    for name in re.findall(r"`([a-z]+_[a-z_0-9]+)`", re.sub(r"```.*?```", "", text, flags=re.S)):
        if name not in known:
            print(f"{page}: nothing is called {name}")
if links < 60:
    print(f"{links} links found: the search is broken")
END_OF_PYTHON
[ ! -s "$work/lost" ] || fail "$(cat "$work/lost")"

sed -n '/^<!-- kernels/,/^<!-- end of kernels/{/^<!--/!p;}' include/README.md >"$work/said"
"$out/glcnn" kernels --table >"$work/true"
diff "$work/said" "$work/true" || fail 'the table of kernels is not that of the tool: make readme'

# block PAGE LANGUAGE N: the Nth fenced block of that language.
block() {
    awk -v fence="\`\`\`$2" -v wanted="$3" '
        $0 == fence { count++; inside = count == wanted; next }
        $0 == "```" { inside = 0 }
        inside { print }' "$1"
}

# ---- Programs ------------------------------------------------------------------------------------

# Leaks are looked for where the compiler can; tests/run.sh says why in a cache of many files.
leaks=-fsanitize=address
echo 'int main(void) { return 0; }' >"$work/empty.c"
$cc $leaks -o "$work/empty" "$work/empty.c" 2>"$work/log" && "$work/empty" 2>"$work/log" || leaks=

# runs N TEXT: the Nth block of C of README.md is a short program that prints TEXT and leaks nothing.
runs() {
    block README.md c "$1" >"$work/program.c"
    $cc -std=c11 -Wall -Wextra -Werror $leaks -Iinclude -I"$out/include" -o "$work/program" \
        "$work/program.c" "$out/libglcnn.a" $(${PKG_CONFIG:-pkg-config} --libs egl gbm) \
        -lm || fail "program $1 does not compile"
    MESA_DISK_CACHE_MULTI_FILE=true "$work/program" >"$work/printed" || fail "program $1 ends with status $?"
    [ "$(cat "$work/printed")" = "$2" ] || fail "program $1 prints $(cat "$work/printed")"
    lines=$(wc -l <"$work/program.c")
    [ "$lines" -le 45 ] || fail "program $1 has $lines lines"
}

runs 1 learned
runs 2 '0.625 0.625 1.125 1.125 0.625 0.625 1.125 1.125 2.625 2.625 3.125 3.125 2.625 2.625 3.125 3.125 '

# ---- Python --------------------------------------------------------------------------------------

# The lines of its page, as they stand, but for the first, which is for root: the packages that it
# names are among those of the tests.
block src/python/README.md sh 1 >"$work/lines"
[ "$(head -n 1 "$work/lines" | cut -d' ' -f1,2)" = 'apt-get install' ] || fail 'no packages for Python are named'
for package in $(head -n 1 "$work/lines" | cut -d' ' -f3-); do
    $make -n --no-print-directory packages | grep -q " $package" || fail "make packages does not install $package"
done
python_lines() (
    mkdir "$work/python"
    cp -R include src "$work/python"
    cd "$work/python"
    unset PYTHONPATH PIP_TARGET
    mkdir -p build
    cp -P "$libraries"/lib*.so* build
    sed 1d "$work/lines" | HOME=$work PATH=/usr/bin:/bin PIP_NO_INDEX=1 sh -e || return 1
    env -u GLCNN_LIBRARY -u LD_LIBRARY_PATH build/python/bin/python -c '
import glcnn, sys
print(glcnn.__file__)
assert glcnn.__file__.startswith(sys.prefix)
glcnn.Device()'
)
libraries=$(cd "$out" && pwd)
if [ -x /usr/bin/apt-get ]; then
    python_lines >"$work/log" 2>&1 || { cat "$work/log"; fail "the lines for Python fail"; }
else
    echo "not Debian: the lines for Python were not tried"
fi

# ---- A kernel ------------------------------------------------------------------------------------

# The times are kept, so that only what the new files change is remade.
mkdir "$work/tree"
cp -Rp Makefile README.md include src glsl platform examples tests "$work/tree"
mkdir "$work/out"
for part in "$out"/*; do # and not the builds of other tests, which may be at work there
    case ${part##*/} in
    include | src | platform | examples) cp -Rp "$part" "$work/out" ;;
    *) [ -d "$part" ] || cp -Pp "$part" "$work/out" ;;
    esac
done
mkdir "$work/tree/glsl/square"
block src/README.md glsl 1 >"$work/tree/glsl/square/square.comp"
block src/README.md c 1 >"$work/tree/src/kernels/square.c"
block src/README.md c 2 >"$work/tree/src/reference/square.c"
unset MAKEFLAGS MFLAGS MAKELEVEL O
$make -C "$work/tree" O="$work/out" >"$work/log" 2>&1 || { cat "$work/log"; fail 'the kernel does not build'; }
"$work/out/glcnn" check -k square >"$work/checked" || { cat "$work/checked"; fail 'the kernel fails its check'; }
grep -q square "$work/checked" || fail 'the check has no row for the kernel'
"$work/out/glcnn" kernels | grep -q square || fail 'glcnn kernels does not list the kernel'
