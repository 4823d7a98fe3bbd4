"""Writes what the package takes from the public headers, so that nothing is written down twice:

    _c.py      enumerations, structures and functions of include/glcnn, for ctypes
    _nodes.py  a method for each constructor of a node, with its types and its header's words

usage: generate.py INCLUDE FOLDER    INCLUDE holds glcnn/*.h; the two files are written to FOLDER
"""
import os
import re
import subprocess
import sys
import textwrap

# Which library has the functions of a header; the others are libglcnn's.
LIBRARIES = {"checkpoint.h": "glcnn_interchange", "serialize.h": "glcnn_interchange",
             "data.h": "glcnn_data", "onnx.h": "glcnn_onnx", "tflite.h": "glcnn_tflite",
             "mpi.h": "glcnn_mpi", "train.h": "glcnn_train", "task.h": "glcnn_train", "detection.h": "glcnn_train",
             "metrics.h": "glcnn_train", "report.h": "glcnn_train",
             "anomaly.h": "glcnn_train", "export.h": "glcnn_train", "bench.h": "glcnn_train"}

SCALARS = {"bool": "c_bool", "char": "c_char", "int": "c_int", "unsigned": "c_uint",
           "uint8_t": "c_uint8", "int32_t": "c_int32", "uint16_t": "c_uint16",
           "uint32_t": "c_uint32", "uint64_t": "c_uint64", "int64_t": "c_int64",
           "size_t": "c_size_t", "float": "c_float", "double": "c_double"}
POINTERS = {"void*": "c_void_p", "char*": "c_char_p"}


class Wrong(Exception):
    """A declaration that this script does not understand."""


# ---- Reading ----

def headers(include):
    """Paths of all headers below INCLUDE/glcnn, each behind those that it includes."""
    found = []

    def visit(name):
        path = os.path.join(include, name)
        if path in found or not os.path.exists(path):  # kernels.h is made when glcnn is built
            return
        with open(path, encoding="utf-8") as file:
            for included in re.findall(r"^#include <(glcnn/.*)>", file.read(), re.M):
                visit(included)
        found.append(path)

    for folder in "glcnn", "glcnn/kernels":
        for name in sorted(os.listdir(os.path.join(include, folder))):
            if name.endswith(".h"):
                visit(folder + "/" + name)
    return found


def declarations(paths):
    """Yields (path, comment, text) of each declaration, which declarations.awk reads for C's build too."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "declarations.awk")
    lines = subprocess.run(["awk", "-f", script] + paths, check=True, stdout=subprocess.PIPE).stdout
    for line in lines.decode("utf-8").splitlines():
        path, comment, text = line.split("\t")
        comment = re.sub(r"\\(.)", lambda escape: escape.group(1).replace("n", "\n"), comment)
        yield path, plain(comment), text


def plain(comment):
    """The words of a comment."""
    lines = [re.sub(r"^\s*\*? ?", "", line) for line in comment.split("\n")]
    return "\n".join(line.rstrip() for line in lines).strip()


class Declared:
    """All that the headers declare."""

    def __init__(self, include):
        self.constants, self.enumerations, self.structures = {}, {}, {}
        self.opaque, self.callbacks, self.functions, self.order = [], {}, {}, []
        for declared in declarations(headers(include)):
            self.read(*declared)
        self.find_private()

    def find_private(self):
        """Structures that the headers point to and do not define are opaque."""
        named = {name for body in self.structures.values()
                 for name in re.findall(r"\bstruct (\w+) \*", body)}
        self.opaque += sorted(named - set(self.structures))

    def read(self, path, comment, text):
        for pattern, take in ((r"#define GLCNN_(\w+) (\d+|0x[0-9a-f]+)u?", self.read_constant),
                              (r"(?:typedef )?enum (\w*) ?\{(.*)\} ?\w*", self.read_enumeration),
                              (r"typedef struct (\w+) \1", self.read_opaque),
                              (r"struct (\w+) \{(.*)\}", self.read_structure),
                              (r"typedef void \(\*(\w+)\)\((.*)\)", self.read_callback)):
            match = re.fullmatch(pattern, text)
            if match:
                return take(*match.groups())
        match = re.fullmatch(r"GLCNN_API (.*?)(\w+)\((.*)\)", text)
        if not match:
            raise Wrong("%s: %s" % (path, text))
        name = match.group(2)
        arguments = [] if match.group(3) == "void" else split(match.group(3))
        self.functions[name] = (path, comment, match.group(1),
                                [parameter(a) for a in arguments])

    def read_constant(self, name, value):
        self.constants[name] = int(value, 0)

    def read_enumeration(self, name, body):
        values, value = {}, -1
        for entry in split(body):
            key, _, expression = (part.strip() for part in entry.partition("="))
            value = self.value(expression, values) if expression else value + 1
            values[key] = value
        values = {k: v for k, v in values.items() if not k.endswith("_FORCE32")}
        self.enumerations[name or "glcnn_padding"] = values
        self.order.append(("enumeration", name or "glcnn_padding"))

    @staticmethod
    def value(expression, known):
        if not re.fullmatch(r"[\w |<()]+", expression):
            raise Wrong("a value: " + expression)
        return eval(expression, {"__builtins__": {}}, known)  # of digits, names, | and <<

    def read_opaque(self, name):
        self.opaque.append(name)

    def read_structure(self, name, body):
        self.structures[name] = body
        self.order.append(("structure", name))

    def read_callback(self, name, arguments):
        self.callbacks[name] = [parameter(a) for a in split(arguments)]
        self.order.append(("callback", name))


def split(text, by=","):
    """The parts of a list, but for what stands in brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += letter in "({["
        depth -= letter in ")}]"
        if letter == by and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [part for part in parts + [text[start:].strip()] if part]


def parameter(text):
    """(name, type) of "const float *mean": the type is "float*", or "char[64]"."""
    text = re.sub(r"\b(const|struct) ", "", re.sub(r"\bconst\b(?=\*|\w)", "", text))
    match = re.fullmatch(r"(\w+) *((?:\* *(?:const *)?)*)(\w*)((?:\[\w+\])?)", text)
    if not match:
        raise Wrong("a parameter: " + text)
    kind, stars, name, length = match.groups()
    return name, kind + "*" * stars.count("*") + length


# ---- Types of ctypes ----

class Writer:
    """The text of _c.py."""

    def __init__(self, declared):
        self.declared = declared
        self.lines = ['"""Declarations of include/glcnn. Generated by generate.py."""',
                      "import enum", "from ctypes import *", "from typing import Any, Dict", ""]

    def type(self, kind, returned=False):
        known = self.declared
        if kind == "void":
            return "None"
        if kind in POINTERS:
            return POINTERS[kind]
        if kind.endswith("]"):
            element, length = kind[:-1].split("[")
            return "%s * %s" % (self.type(element), re.sub(r"^GLCNN_", "", length))
        if kind.endswith("*"):
            return "POINTER(%s)" % self.type(kind[:-1])
        if kind in SCALARS:
            return SCALARS[kind]
        if kind in known.enumerations:
            return "c_int"
        if kind in known.structures or kind in known.opaque or kind in known.callbacks:
            return kind
        raise Wrong("there is no type " + kind)

    def argument(self, kind):
        """An array as a parameter is a pointer."""
        return self.type(re.sub(r"\[.*\]", "*", kind))

    def members(self, body):
        """(name, text of its type) of each member; (name, structure) for one without a name."""
        nested = re.search(r"struct \{([^{}]*)\} (\w+);", body)
        if nested:
            kind = "type(%r, (Structure,), {\"_fields_\": [%s]})" % (
                nested.group(2), ", ".join("(%r, %s)" % m for m in self.members(nested.group(1))))
            body = body.replace(nested.group(0), "")
            yield nested.group(2), kind
        for entry in split(body, ";"):
            match = re.fullmatch(r"(.*?)\(\*(\w+)\)\((.*)\)", entry)
            if match:
                yield match.group(2), self.function(match.group(1), map(parameter, split(match.group(3))))
                continue
            first, *others = split(entry)
            name, kind = parameter(first)
            base = re.match(r"\w+", kind).group(0)
            yield name, self.type(kind)
            for other in others:
                yield (lambda n, k: (n, self.type(k)))(*parameter(base + " " + other))

    def function(self, returned, arguments):
        kinds = [self.type(parameter(returned + "x")[1])] + [self.argument(k) for _, k in arguments]
        return "CFUNCTYPE(%s)" % ", ".join(kinds)

    def write_structure(self, name):
        self.lines.append("class %s(Structure):\n    _fields_ = [" % name)
        for member, kind in self.members(self.declared.structures[name]):
            self.lines.append("        (%r, %s)," % (member, kind))
        self.lines.append("    ]\n\n")

    def write_enumeration(self, name):
        values = self.declared.enumerations[name]
        base = "IntFlag" if name == "glcnn_padding" else "IntEnum"
        self.lines.append("class %s(enum.%s):" % (python_name(name), base))
        prefix = os.path.commonprefix([k for k in values]) if len(values) > 1 else ""
        prefix = prefix[:prefix.rindex("_") + 1]
        for key, value in values.items():
            self.lines.append("    %s = %d" % (key[len(prefix):], value))
        self.lines.append("\n")

    def write_callback(self, name):
        self.lines.append("%s = %s\n\n" % (name, self.function("void ", self.declared.callbacks[name])))

    def text(self):
        declared = self.declared
        for name, value in declared.constants.items():
            self.lines.append("%s = %d" % (name, value))
        for name in declared.opaque:
            self.lines.append("\n\nclass %s(Structure):\n    pass" % name)
        self.lines.append("\n")
        for kind, name in declared.order:
            getattr(self, "write_" + kind)(name)
        self.lines.append("# LIBRARY: {FUNCTION: (result, [arguments])}")
        self.lines.append("FUNCTIONS: Dict[str, Dict[str, Any]] = {")
        for library in ["glcnn"] + sorted(set(LIBRARIES.values())):
            self.lines.append("    %r: {" % library)
            for name, (path, _, returned, arguments) in declared.functions.items():
                if LIBRARIES.get(os.path.basename(path), "glcnn") == library:
                    self.lines.append("        %r: (%s, [%s])," % (
                        name, self.type(parameter(returned + "x")[1]),
                        ", ".join(self.argument(k) for _, k in arguments)))
            self.lines.append("    },")
        return "\n".join(self.lines + ["}", ""])


def python_name(name):
    """ChannelFormat for glcnn_channel_format."""
    return "".join(word.capitalize() for word in name.split("_")[1:])


# ---- Nodes ----

def wrap(code, indent):
    """Code in lines that end behind commas alone."""
    code = re.sub(r"(?<!,) ", "\0", code)
    return textwrap.fill(code, 99, initial_indent=" " * indent, subsequent_indent=" " * 12,
                         break_long_words=False, break_on_hyphens=False).replace("\0", " ")


class Nodes:
    """The text of _nodes.py."""

    HEAD = '''"""A method for each constructor of a node. Generated by generate.py."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

from . import _c
from ._c import %s

if TYPE_CHECKING:
    import numpy

    from .node import FilterNode, ImageNode
    Numbers = Union[Sequence[float], "numpy.ndarray[Any, Any]"]


class Nodes:
    """What an image node is a source of. Each method makes a filter node and gives its result."""

    def _node(self, constructor: str, *arguments: Any) -> Any:
        raise NotImplementedError

    def _describe(self, constructor: str, structure: type, **fields: Any) -> Any:
        raise NotImplementedError

    def _number(self, neuron: NeuronType, name: str, value: Optional[float]) -> float:
        raise NotImplementedError
'''

    def __init__(self, declared):
        self.declared, self.enumerations = declared, set()

    def plain_type(self, kind):
        if kind in self.declared.enumerations:
            self.enumerations.add(python_name(kind))
            return python_name(kind)
        return {"float": "float", "double": "float", "bool": "bool"}.get(kind, "int")

    def neuron_type(self, name):
        """RELU for glcnn_neuron_relu_node; None for what has no numbers of MPS's to start from."""
        name = re.sub(r"^glcnn_neuron_|_node$", "", name).upper()
        if "GLCNN_NEURON_TYPE_" + name not in self.declared.enumerations["glcnn_neuron_type"]:
            return None
        self.enumerations.add("NeuronType")
        return name

    def fields(self, structure):
        """Parameters, all optional, and words of a call, for the members of a descriptor."""
        for entry in split(self.declared.structures[structure], ";"):
            first, *others = split(entry)
            kind = parameter(first)[1]
            for name in [parameter(first)[0]] + others:
                if kind == "glcnn_neuron_descriptor":
                    yield "%s: Optional[_c.%s] = None" % (name, kind), name
                elif kind.endswith("]"):
                    yield "%s: Sequence[%s] = ()" % (name, self.plain_type(kind.split("[")[0])), name
                else:
                    zero = {"bool": "False", "float": "0.0"}.get(self.plain_type(kind))
                    zero = zero or ("0" if self.plain_type(kind) == "int"
                                    else self.plain_type(kind) + "(0)")
                    yield "%s: %s = %s" % (name, self.plain_type(kind), zero), name

    def signature(self, name, comment, arguments):
        """Parameters before and behind the asterisk, and what the constructor is called with."""
        before, behind, call = [], [], []
        for number, (argument, kind) in enumerate(arguments):
            base = kind.rstrip("*")
            if number == 0:
                if kind.endswith("**"):
                    before.append("*others: ImageNode")
                call.append("self, *others" if kind.endswith("**") else "self")
            elif kind == "glcnn_image_node*":
                optional = re.search(r"\b%s may be NULL" % argument, comment)
                (behind if optional else before).append(
                    "%s: Optional[ImageNode] = None" % argument if optional
                    else "%s: ImageNode" % argument)
                call.append(argument)
            elif base == "glcnn_data_source" or (argument.endswith("count") and
                                                 arguments[number - 1][1].endswith("*")):
                call.append("None")  # data sources are for C; lengths are those of the sequences
            elif base == "glcnn_neuron_descriptor":
                behind.append("%s: Optional[_c.%s] = None" % (argument, base))
                call.append(argument)
            elif kind == "float*":
                behind.append("%s: Optional[Numbers] = None" % argument)
                call.append(argument)
            elif base in self.declared.structures:
                fields = list(self.fields(base))
                behind += [field for field, _ in fields]
                call.append("self._describe(%r, _c.%s, %s)" % (
                    name, base, ", ".join("%s=%s" % (f, f) for _, f in fields)))
            elif kind.endswith("*"):
                raise Wrong("%s takes %s" % (name, kind))
            elif self.neuron_type(name) and kind == "float":
                before.append("%s: Optional[float] = None" % argument)
                call.append("self._number(NeuronType.%s, %r, %s)" % (
                    self.neuron_type(name), argument, argument))
            else:
                before.append("%s: %s" % (argument, self.plain_type(kind)))
                call.append(argument)
        # Sources that may be left out come behind the ones that may not; both keep their places.
        return before + (["*"] if behind and not any(b[0] == "*" for b in before) else []) + behind, call

    def method(self, name, comment, returned, arguments):
        parameters, call = self.signature(name, comment, arguments)
        result = "FilterNode" if "filter" in returned else "ImageNode"
        head = wrap("def %s(%s) -> %s:" % (name[len("glcnn_"):-len("_node")],
                                           ", ".join(["self"] + parameters), result), 4)
        words = textwrap.indent(comment, " " * 8).lstrip()
        body = wrap("return self._node(%s)" % ", ".join([repr(name)] + call), 8)
        return '%s\n        r"""%s\n        """\n%s\n' % (head, words, body)

    def text(self):
        methods = [self.method(name, comment, returned, arguments)
                   for name, (path, comment, returned, arguments) in self.declared.functions.items()
                   if "/kernels/" in path and name.endswith("_node")]
        head = self.HEAD % ", ".join(sorted(self.enumerations)) if self.enumerations else self.HEAD
        return head + "\n" + "\n".join(methods)


FILES = {"_c.py": Writer, "_nodes.py": Nodes}


def write(include, folder):
    declared = Declared(include)
    for name, writer in FILES.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(writer(declared).text())


def version(include):
    """"0.2.0", as the headers have it."""
    constants = Declared(include).constants
    return ".".join(str(constants["VERSION_" + part]) for part in ("MAJOR", "MINOR", "PATCH"))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip().split("\n")[-1])
    write(sys.argv[1], sys.argv[2])
