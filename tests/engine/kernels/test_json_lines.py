"""The scanner of JSON lines against Python's parser: which lines it takes, and where their values lie."""

from __future__ import annotations

import json
import random

import numpy as np

from engine.codec.json_cells import JsonCells, scan_lines
from engine.kernels.scanning.json_lines import ESCAPED, MISSING, TAKEN, TEXT
from tests.seeds import each_seed

NAMES = ["a", "name", "a longer name", "ä", "exactly8", "seventeen letters"]
PIECES = ["", "x", "seven77", "eight888", "ä", "\u20ac", '"', "\\", "\n", "\x1f", "\x7f", " ", "{", "1"]


def text(random_: random.Random) -> str:
    return "".join(random_.choices(PIECES, k=random_.randrange(6)))


def scanned(lines: list[bytes], names: list[str]) -> JsonCells:
    data = np.frombuffer(bytearray(b"\n".join(lines)), np.uint8)
    return scan_lines(data, 0, names, False, len(lines) + 1)


@each_seed(20)
def test_values_lie_where_the_scanner_says(seed: int) -> None:
    random_ = random.Random(seed)
    rows = [{n: text(random_) for n in random_.sample(NAMES, random_.randrange(7))} for _ in range(60)]
    lines = [json.dumps(row, ensure_ascii=random_.random() < 0.2).encode() for row in rows]
    known = [name for name in NAMES if any(json.dumps(name).encode() in line for line in lines)]
    lines = [line for line in lines if b'\\u00e4": ' not in line]  # a name with an escape is strange
    rows = [json.loads(line) for line in lines]
    cells = scanned(lines, known)
    assert cells.why == TAKEN and len(cells) == len(rows)
    for place, name in enumerate(known):
        texts = cells.texts(place)
        assert texts is not None
        assert texts.to_pylist() == [row.get(name) for row in rows]
        for row, kind in zip(rows, cells.kinds[place].tolist(), strict=True):
            is_plain = name in row and not set(row[name]) & set('"\\\n\x1f')
            assert kind in ((TEXT, ESCAPED) if is_plain else (ESCAPED,) if name in row else (MISSING,))


@each_seed(20)
def test_a_broken_line_is_not_taken(seed: int) -> None:
    """Whatever character is put into a line, wherever: its values are read only if it is JSON still."""
    random_ = random.Random(seed)
    names = ["eight888", 'a"b', "c\\d"]
    for _ in range(300):
        row = {"eight888": text(random_), "n": random_.choice([1, -2.5, None, True])}
        line = json.dumps(row, ensure_ascii=False)
        at = random_.randrange(len(line) + 1)
        line = line[:at] + random_.choice('"\\\x01\x1f ,:{}x0') + line[at:]
        cells = scanned([line.encode()], [*names, "n"])
        try:
            parsed = json.loads(line)
        except ValueError:
            parsed = None
        texts = [cells.texts(place) for place in range(len(names) + 1)]
        if len(cells) and texts[0] is not None and None not in texts:
            assert isinstance(parsed, dict)
            assert texts[0].to_pylist() == [parsed.get("eight888")]


def test_a_name_that_needs_escapes_is_not_found_without_them() -> None:
    for name in ('a"b', "a\\b", "a\nb", 'long enough"b'):
        assert len(scanned([b'{"%s": 1}' % name.encode()], [name])) == 0
