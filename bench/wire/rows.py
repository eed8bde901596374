"""The table that is measured, and its rows in every form."""

from __future__ import annotations

import struct
from datetime import date, timedelta

COLUMNS = "id BIGINT PRIMARY KEY, customer BIGINT, amount DOUBLE PRECISION, day DATE, note TEXT"
_FIRST_DAY = date(2020, 1, 1)
_DAYS = [str(_FIRST_DAY + timedelta(days)) for days in range(1000)]
_SINCE_2000 = (_FIRST_DAY - date(2000, 1, 1)).days


def values(id: int) -> tuple[str, ...]:
    """A row as texts. Each note is another."""
    return str(id), str(id * 7 % 5000), f"{id % 1000}.25", _DAYS[id % 1000], f"row {id}"


def body(form: str, rows: int) -> bytes:
    """The rows from 0 as the data of a COPY."""
    if form == "binary":
        head = b"PGCOPY\n\xff\r\n\0" + b"\0" * 8
        return head + b"".join(map(_binary, range(rows))) + b"\xff\xff"
    delimiter = "," if form == "csv" else "\t"
    return "".join([delimiter.join(values(id)) + "\n" for id in range(rows)]).encode()


def _binary(id: int) -> bytes:
    note = f"row {id}".encode()
    numbers = struct.pack("!hiqiqid", 5, 8, id, 8, id * 7 % 5000, 8, id % 1000 + 0.25)
    return numbers + struct.pack("!iii", 4, id % 1000 + _SINCE_2000, len(note)) + note
