#!/usr/bin/python3
"""Writes resize.npz: pictures as Pillow scales their shorter side, with their middle cut out, for
test_data_resize.c.

Run from this folder; needs python3-pil and python3-numpy (9.4 and 1.24 made the file that is here).
What torchvision's Resize(side) and CenterCrop do to a Pillow image is written out. Each array is
[H][W], named "WIDTHxHEIGHT.SIDE" for its source; `noise` is that of the test.
"""
import numpy as np
from PIL import Image

CASES = [  # width and height of the source, side, width and height of the result
    (200, 150, 64, 56, 56), (150, 211, 64, 56, 48), (96, 64, 64, 64, 64), (40, 31, 64, 56, 56),
    (333, 500, 37, 32, 32), (64, 65, 63, 56, 40), (500, 20, 30, 28, 28), (57, 57, 57, 50, 51),
    (1200, 900, 48, 48, 40), (7, 9, 8, 8, 8)]


def noise(width, height):
    """Half of it a slope, half noise."""
    x, y = np.meshgrid(np.arange(width, dtype=np.uint32), np.arange(height, dtype=np.uint32))
    drawn = (x * np.uint32(7919) + y * np.uint32(104729) + np.uint32(12345)) * np.uint32(2654435761)
    return ((drawn >> np.uint32(25)) + (x + y) % np.uint32(128)).astype(np.uint8)


def resized(picture, side):
    width, height = picture.size
    if width <= height:
        size = side, int(side * height / width)
    else:
        size = int(side * width / height), side
    return picture.resize(size, Image.BILINEAR)


def centre(picture, width, height):
    left = int(round((picture.size[0] - width) / 2.0))
    top = int(round((picture.size[1] - height) / 2.0))
    return picture.crop((left, top, left + width, top + height))


def main():
    kept = {}
    for source_width, source_height, side, width, height in CASES:
        picture = Image.fromarray(noise(source_width, source_height))
        kept["%dx%d.%d" % (source_width, source_height, side)] = np.array(
            centre(resized(picture, side), width, height))
    np.savez_compressed("resize.npz", **kept)


if __name__ == "__main__":
    main()
