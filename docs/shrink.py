#!/usr/bin/env python3
"""Writes a PNG of 8-bit RGB or RGBA again with a palette of its 64 most frequent colours: `shrink.py IN OUT`."""

import struct
import sys
import zlib
from collections import Counter

COLOURS = 64


def rows(data):
    """Returns width and rows of RGB triples (PNG specification, sections 9 and 11)."""
    at, header, packed = 8, None, b""
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        at += 12 + length
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            packed += body
    width, height, depth, colour, _, _, interlaced = header
    assert depth == 8 and colour in (2, 6) and not interlaced, "8-bit RGB or RGBA, not interlaced"
    step = 3 if colour == 2 else 4
    raw, before, lines = zlib.decompress(packed), bytearray(width * step), []
    for y in range(height):
        start = y * (width * step + 1)
        line = bytearray(raw[start + 1 : start + 1 + width * step])
        unfilter(raw[start], line, before, step)
        lines.append([bytes(line[x : x + 3]) for x in range(0, len(line), step)])
        before = line
    return width, lines


def unfilter(kind, line, before, step):
    """Undoes a row's filter in place."""
    for x in range(len(line)):
        left = line[x - step] if x >= step else 0
        up, corner = before[x], before[x - step] if x >= step else 0
        if kind == 1:
            add = left
        elif kind == 2:
            add = up
        elif kind == 3:
            add = (left + up) // 2
        elif kind == 4:
            guess = left + up - corner
            add = min((abs(guess - it), n, it) for n, it in enumerate((left, up, corner)))[2]
        else:
            return
        line[x] = (line[x] + add) & 255


def chunk(kind, body):
    """Returns a chunk with its length and its check sum."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def main():
    width, lines = rows(open(sys.argv[1], "rb").read())
    # Neighbours on a fine grid are one colour; the frequent ones stay as they are.
    cells = {}
    for pixel, count in Counter(pixel for line in lines for pixel in line).items():
        cells.setdefault(tuple(part >> 4 for part in pixel), Counter())[pixel] += count
    often = sorted(cells.values(), key=lambda it: -sum(it.values()))[:COLOURS]
    palette = [it.most_common(1)[0][0] for it in often]
    nearest = {}

    def index(pixel):
        if pixel not in nearest:
            away = lambda it: sum((a - b) ** 2 for a, b in zip(palette[it], pixel))
            nearest[pixel] = min(range(len(palette)), key=away)
        return nearest[pixel]

    raw = b"".join(b"\0" + bytes(index(pixel) for pixel in line) for line in lines)
    header = struct.pack(">IIBBBBB", width, len(lines), 8, 3, 0, 0, 0)
    parts = (b"IHDR", header), (b"PLTE", b"".join(palette)), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b"")
    with open(sys.argv[2], "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts))


main()
