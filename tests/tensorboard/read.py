"""usage: read.py DIR LOG.CSV [PICTURES]: reads the event files of a folder as TensorBoard does, in the order of
their names, with events that a later start makes invalid left out, and compares every number with the
log's. PICTURES: into this folder go the pictures of the last step. Needs nothing but Python: records, their
checksums and messages are read by hand."""
import csv
import math
import os
import struct
import sys
import zlib

TABLE = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
    TABLE.append(n)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


assert crc32c(b"123456789") == 0xE3069283


def records(data):
    """Those that are whole; what a kill left of the last is passed over."""
    at = 0
    while at + 12 <= len(data):
        length, check = struct.unpack_from("<QI", data, at)
        assert check == masked(data[at:at + 8]), "the checksum of a length"
        if at + 16 + length > len(data):
            return
        body = data[at + 12:at + 12 + length]
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == masked(body), "the checksum of an event"
        yield body
        at += 16 + length


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """Of a message: (number, value), whose value is an int, 4 or 8 bytes, or a text."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        assert kind in (0, 1, 2, 5), kind
        if kind == 0:
            value, at = varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(kind)
            if size is None:
                size, at = varint(data, at)
            value = data[at:at + size]
            assert len(value) == size, "a message is cut"
            at += size
        yield key >> 3, value


def png_size(png):
    assert png[:8] == b"\x89PNG\r\n\x1a\n" and png[12:16] == b"IHDR"
    at = 8
    while at < len(png):
        (size,) = struct.unpack_from(">I", png, at)
        assert struct.unpack_from(">I", png, at + 8 + size)[0] == zlib.crc32(png[at + 4:at + 8 + size])
        at += 12 + size
    return struct.unpack_from(">II", png, 16)


folder = sys.argv[1]
numbers, pictures = {}, {}  # {tag: {step: value}}
names = sorted(name for name in os.listdir(folder) if "tfevents" in name)
assert names, "there is no file"
for name in names:
    clock = 0
    with open(os.path.join(folder, name), "rb") as file:
        events = [dict(fields(body)) for body in records(file.read())]
    assert set(events[0]) == {1, 3} and events[0][3] == b"brain.Event:2", events[0]
    assert set(events[1]) == {1, 2, 7} and list(fields(events[1][7])) == [(1, 1)], events[1]
    for values in list(numbers.values()) + list(pictures.values()):
        for step in [step for step in values if step >= events[1][2]]:
            del values[step]
    for event in events:
        (time,) = struct.unpack("<d", event[1])
        assert time >= clock > -1, "the clock goes back"
        clock = time
    for event in events[2:]:
        assert set(event) == {1, 2, 5}, event.keys()
        for number, value in fields(event[5]):
            assert number == 1
            value = dict(fields(value))
            tag, step = value[1].decode(), event[2]
            if 2 in value:
                place = numbers.setdefault(tag, {})
                assert step not in place, (tag, step, "is there twice")
                (place[step],) = struct.unpack("<f", value[2])
            else:
                image = dict(fields(value[4]))
                assert png_size(image[4]) == (image[2], image[1]) and image[3] in (1, 3), tag
                pictures.setdefault(tag, {})[step] = image[4]


def same(value, text, digits):
    """The number is a float32, the text rounded to so many digits: half a unit of the last of each."""
    wanted = float(text)
    unit = 10.0 ** (math.floor(math.log10(abs(wanted))) + 1 - digits) if wanted else 0
    return abs(value - wanted) <= unit / 2 + abs(value) * 2 ** -24


rows = list(csv.DictReader(open(sys.argv[2])))
steps = [int(row["step"]) for row in rows]
validated = [row for row in rows if row["validation_loss"]]
columns = {"loss/training": ("loss", 9), "accuracy/training": ("accuracy", 6), "learning_rate": ("learning_rate", 9),
           "loss/validation": ("validation_loss", 9), "accuracy/validation": ("validation_accuracy", 6)}
assert set(numbers) == set(columns), numbers.keys()
for tag, (column, digits) in columns.items():
    wanted = {int(row["step"]): row[column] for row in rows if row[column]}
    assert sorted(numbers[tag]) == sorted(wanted), (tag, sorted(numbers[tag]), sorted(wanted))
    for step, text in wanted.items():
        assert same(numbers[tag][step], text, digits), (tag, step, numbers[tag][step], text)
for tag, sides in (("samples", (32, 24)), ("confusion", (255, 255))):
    assert sorted(pictures[tag]) == [int(row["step"]) for row in validated], (tag, sorted(pictures[tag]))
    assert all(png_size(png) == sides for png in pictures[tag].values()), tag
if len(sys.argv) > 3:
    for tag, images in pictures.items():
        with open(os.path.join(sys.argv[3], tag + ".png"), "wb") as file:
            file.write(images[max(images)])
print("%d files, steps %d to %d" % (len(names), min(steps), max(steps)))
