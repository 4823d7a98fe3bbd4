#!/usr/bin/env python3
"""One table of a report of glcnn bench --json and one of torch_twin.py.

usage: join.py GLCNN.json TORCH.json

Rows are joined by name and shape; a ratio above 1 is slower than PyTorch. Kernels, convolutions and
steps each close with the geometric mean of their ratios.
"""
import json
import math
import sys


def rows_of(path):
    with open(path) as file:
        report = json.load(file)
    return report, {(row['name'], tuple(row['shape'])): row for row in report['rows']}


def group_of(name):
    words = {'convolution': 'convolutions', 'fully': 'convolutions', 'step': 'steps'}
    return words.get(name.split()[0], 'kernels')


def number(value, digits=2):
    return '-' if value is None else f'{value:.{digits}f}'


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    ours, rows = rows_of(sys.argv[1])
    theirs, twins = rows_of(sys.argv[2])
    print(f"glcnn {ours['version']} on {ours['device']['renderer']}, {theirs['version']} on "
          f"{theirs['device']['renderer']}, {ours['format']}\n")
    print('| row | ms | x floor | GFLOP/s | PyTorch ms | x PyTorch |')
    print('| --- | --- | --- | --- | --- | --- |')
    ratios = {}
    for key, row in rows.items():
        ms, twin = row['milliseconds'], twins.get(key)
        ratio = ms / twin['milliseconds'] if ms and twin else None
        if ratio:
            ratios.setdefault(group_of(row['name']), []).append(math.log(ratio))
        print(f"| {row['name']} | {number(ms, 4)} | {number(row['times_floor'])} | "
              f"{number(row['gigaflops'], 0)} | {number(twin and twin['milliseconds'], 4)} | "
              f'{number(ratio)} |')
    print()
    for group, logarithms in ratios.items():
        print(f'{group}: {len(logarithms)} rows, geometric mean '
              f'{math.exp(sum(logarithms) / len(logarithms)):.2f} times PyTorch')


if __name__ == '__main__':
    main()
