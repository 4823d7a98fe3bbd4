"""What the innermost loops of convolutions cost: writes pairs of sources, of which the second has the
body of that loop twice, so that their statistics differ by what one body takes.

    inner_loops.py NETS OUT

NETS is what check_boards_arm.sh gathers of a family: sources, and a file of their invocations. Of each
kind OUT gets a pair of the program that has the most, inner.KIND-PRODUCTS-READS-1.0.comp and -2. The
second body stands behind a condition on a uniform, or the compiler would mix both and run out of
registers.
"""
import os
import re
import sys

NARROW, WEIGHTS = "convolution_narrow", "convolution_gradient_weights_narrow"


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
    if shader == NARROW:
        pixels, taps = whole(defined, "PIXELS"), whole(defined, "SHARED_TAPS", 1)
        return pixels * taps * components * 4, pixels + taps - 1 + taps * components
    sums = 2 if "PAIR" in defined else whole(defined, "TAPS")
    return sums * components * 4, 2 if "SLIDES" in defined else 1 + sums


def end_of_block(source, begin):
    depth, at = 0, source.index("{", begin)
    while True:
        depth += (source[at] == "{") - (source[at] == "}")
        at += 1
        if depth == 0:
            return at


def twice(shader, source):
    if shader == NARROW:
        begin = source.index("for (int p = 0; p < TURNS; p++) {")
        end = end_of_block(source, begin)
        return source[:end] + "row.y += 1; if (grid_x > 0) {" + source[begin:end] + "}" + source[end:]
    begin = source.rindex("{", 0, source.index("vec4 g = gradient_at(from, X, 0, k);"))
    end = end_of_block(source, begin) - 1
    return source[:end] + "X++; if (grid_x > 0) {" + source[begin + 1:end] + "}" + source[end:]


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
        name = "inner.%s-%d-%d" % (kind, *products_and_reads(shader, definitions(source)))
        for number, text in (1, source), (2, twice(shader, source)):
            with open(os.path.join(out, "%s-%d.0.comp" % (name, number)), "w", encoding="utf-8") as file:
                file.write(text)


main()
