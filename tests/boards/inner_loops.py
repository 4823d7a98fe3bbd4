"""What the innermost loops of convolutions cost: writes pairs of sources, of which the second has the
body of that loop twice, so that their statistics differ by what one body takes.

    inner_loops.py NETS OUT

NETS is what check_boards_arm.sh gathers of a family: sources, and a file of their invocations. Of each
kind OUT gets a pair of the program that has the most, inner.KIND-PRODUCTS-READS-1.0.comp and -2. The
second body stands behind a condition on a uniform, or the compiler would mix both and run out of
registers.

A transform of Winograd's has no such loop: the first of its pair has an empty body, and the second what
one invocation does. Its products are half the operations that the library reckons for an invocation.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NARROW, WEIGHTS = "convolution_narrow", "convolution_gradient_weights_narrow"
PRODUCTS, GRADIENT_PRODUCTS = "winograd_products", "winograd_gradient_products"
# A constant of convolution_winograd.c says how many operations an invocation has; without one it has as
# many as any pass that says nothing.
TRANSFORMS = {"winograd_inputs": "INPUT_WORK", "winograd_results": "RESULT_WORK",
              "winograd_weights": None, "winograd_gradients": "GRADIENT_WORK"}
COLUMN = "winograd_column" # one of the four that the results' loop adds, which statistics count once
USUAL_WORK = 64
# A loop's body begins with the first text, and the second stands between two bodies.
BODIES = {PRODUCTS: ("ivec3 place = inputs_place(s, image)", "s++"),
          GRADIENT_PRODUCTS: ("vec4 g = gradients_at(from, x, 0, k);", "x++"),
          WEIGHTS: ("vec4 g = gradient_at(from, X, 0, k);", "X++")}


def definitions(source):
    return dict(re.findall(r"^#define (\w+) ?(\w*)$", source, re.M))


def whole(defined, name, otherwise=0):
    """A number; 0 for what is defined as another word."""
    text = defined.get(name, str(otherwise))
    return int(text) if text.isdigit() else 0


def is_plain(defined):
    """No stride, and no sums of several phases or stretches: these have loops of other kinds."""
    return not {"PHASES", "STRETCH"} & set(defined) and \
        whole(defined, "stride_x") == whole(defined, "dilation_x") == 1


def kind_of(shader, defined):
    if shader in TRANSFORMS or shader in (PRODUCTS, GRADIENT_PRODUCTS):
        return shader
    by_channel, dense = "DEPTHWISE" in defined, whole(defined, "COMPONENTS") == 4
    if not is_plain(defined) or not (by_channel or dense):
        return None
    if shader == NARROW:
        one = whole(defined, "SHARED_TAPS", 3) == 1
        return "sums_by_channel" if by_channel else "sums_1x1" if one else "sums"
    if shader == WEIGHTS:
        one = whole(defined, "TAPS") == 1
        return "weights_by_channel" if by_channel else "weights_1x1" if one else "weights"
    return None


def products_and_reads(shader, defined):
    """Of one body, as the shaders' loops are written."""
    components = whole(defined, "COMPONENTS")
    if shader in TRANSFORMS:
        return work_of(shader) // 2, 0
    if shader == PRODUCTS:
        pixels = whole(defined, "PIXELS")
        return pixels * 16, pixels + 4
    if shader == GRADIENT_PRODUCTS:
        slices = whole(defined, "SLICES")
        return slices * 16, slices + 1
    if shader == NARROW:
        pixels, taps = whole(defined, "PIXELS"), whole(defined, "SHARED_TAPS", 1)
        return pixels * taps * components * 4, pixels + taps - 1 + taps * components
    sums = 2 if "PAIR" in defined else whole(defined, "TAPS")
    return sums * components * 4, 2 if "SLIDES" in defined else 1 + sums


def work_of(shader):
    """Operations of an invocation of a transform."""
    with open(os.path.join(HERE, "../../src/kernels/convolution_winograd.c"), encoding="utf-8") as file:
        found = re.search(r"#define %s\s+(\d+)u" % TRANSFORMS[shader], file.read())
    return int(found.group(1)) if found else USUAL_WORK


def end_of_block(source, begin):
    depth, at = 0, source.index("{", begin)
    while True:
        depth += (source[at] == "{") - (source[at] == "}")
        at += 1
        if depth == 0:
            return at


def pairs_of(kind, shader, source):
    """Kinds, and of each two sources, of which the second has one body more."""
    if shader not in TRANSFORMS:
        yield kind, source, twice(shader, source)
        return
    begin = source.index("{", source.index("void invocation(ivec3 at)"))
    empty = source[:begin] + "{" + source[end_of_block(source, begin) - 1:]
    yield kind, empty, source
    loop = re.search(r"for \(int c = 0; c < columns; c\+\+\)\s*(add_column\(.*?\);)", source, re.S)
    if loop:
        again = "{ %s c++; if (grid_x > 0) %s }" % (loop.group(1), loop.group(1))
        yield COLUMN, source, source[:loop.start(1)] + again + source[loop.end():]


def twice(shader, source):
    if shader == NARROW:
        begin = source.index("for (int p = 0; p < TURNS; p++) {")
        end = end_of_block(source, begin)
        return source[:end] + "row.y += 1; if (grid_x > 0) {" + source[begin:end] + "}" + source[end:]
    first, step = BODIES[shader]
    begin = source.rindex("{", 0, source.index(first))
    end = end_of_block(source, begin) - 1
    return source[:end] + step + "; if (grid_x > 0) {" + source[begin + 1:end] + "}" + source[end:]


def interior(source):
    """Of a program that has a loop for tiles inside the image and another for the rest, the first."""
    return source.replace("if (corner.x >= low_x && last <= high_x)", "if (true)")


def most_invoked(folder):
    """By kind: the shader and the source."""
    with open(os.path.join(folder, "invocations"), encoding="utf-8") as lines:
        rows = sorted((line.split() for line in lines), key=lambda row: -int(row[1]))
    found = {}
    for name, _ in rows:
        shader = name.split(".")[1]
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            source = interior(file.read())
        kind = kind_of(shader, definitions(source))
        if kind:
            found.setdefault(kind, (shader, source))
    return found


def main():
    nets, out = sys.argv[1:]
    for kind, (shader, source) in most_invoked(nets).items():
        of_body = products_and_reads(shader, definitions(source))
        for part, *texts in pairs_of(kind, shader, source):
            name = "inner.%s-%d-%d" % (part, *of_body)
            for number, text in enumerate(texts, 1):
                path = os.path.join(out, "%s-%d.0.comp" % (name, number))
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)


main()
