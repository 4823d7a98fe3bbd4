#!/usr/bin/env python3
"""What NVIDIA's driver made of programs: a row for each, and its instructions in a file.

usage: nvidia_programs.py CACHE [FOLDER]

The driver keeps machine code on disk, of what ran with

    GLCNN_CACHE_DIR=off __GL_SHADER_DISK_CACHE=1 __GL_SHADER_DISK_CACHE_PATH=CACHE \\
        glcnn bench --shape ROW

one row of the bench to a cache, so that a program is found by what it does: first come those that
prepare images. FOLDER gets a file "N.sass" for each. Counts are of a whole program: paths that are
seldom taken, as those for a NaN, are among them. Needs zstd, and nvdisasm of CUDA's toolkit.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile

ZSTD, CODE, SECTIONS = b'\x28\xb5\x2f\xfd', 1, 8
FIGURES = {'texture': 'TLD|TEX', 'image': 'SUST|SULD', 'shared': 'LDS|STS', 'memory': 'LDG|STG',
           'spilled': 'LDL|STL', 'products': 'FFMA', 'special': 'MUFU|F2I', 'barriers': 'BAR'}


def microcode(cache):
    """What the cache holds compressed, in the order in which it was made."""
    for folder, _, names in sorted(os.walk(cache)):
        for name in sorted(n for n in names if n.endswith('.bin')):
            with open(os.path.join(folder, name), 'rb') as file:
                data = file.read()
            at = data.find(ZSTD)
            while at >= 0:
                # zstd complains of what follows the frame, and has written the frame by then
                yield subprocess.run(['zstd', '-dcq'], input=data[at:], capture_output=True,
                                     check=False).stdout
                at = data.find(ZSTD, at + 1)


def code_of(container):
    """Its section of instructions; None where it is none of the driver's containers."""
    if container[:4] != b'NVuc':
        return None
    for i in range(SECTIONS):
        kind, size, offset = struct.unpack_from('<IIQ', container, 32 + 32 * i)
        if kind == CODE:
            return container[offset:offset + size]
    return None


def disassembled(code, architecture):
    with tempfile.NamedTemporaryFile(suffix='.raw') as file:
        file.write(code)
        file.flush()
        return subprocess.run(['nvdisasm', '-b', architecture, file.name], capture_output=True,
                              check=True, text=True).stdout


def instructions(text):
    return re.findall(r'/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\d+ )?\s*(\w+)', text)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.strip())
    architecture = os.environ.get('ARCHITECTURE', 'SM90')
    if len(sys.argv) == 3:
        os.makedirs(sys.argv[2], exist_ok=True)
    print('| program | instructions | registers | ' + ' | '.join(FIGURES) + ' |')
    print('| --- ' * (3 + len(FIGURES)) + '|')
    programs = filter(None, map(code_of, microcode(sys.argv[1])))
    for number, code in enumerate(programs):
        text = disassembled(code, architecture)
        names = [n for n in instructions(text) if n != 'NOP']
        registers = 1 + max((int(r) for r in re.findall(r'\bR(\d+)\b', text)), default=-1)
        counts = [sum(bool(re.match(f'(?:{words})', n)) for n in names) for words in FIGURES.values()]
        print('| ' + ' | '.join(map(str, [number, len(names), registers, *counts])) + ' |')
        if len(sys.argv) == 3:
            with open(os.path.join(sys.argv[2], f'{number}.sass'), 'w') as file:
                file.write(text)


if __name__ == '__main__':
    main()
