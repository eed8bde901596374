"""Cursors: a client's place in a list of rows, as one opaque string.

A cursor holds the epoch, the place, and everything that decides the rows and their order. So it is enough
to go on with, and cannot be used with another query. The place is a number of rows to skip: from the first
row or, if all rows are read in the order of their words, from the row whose words are given.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import asdict, dataclass

import orjson

from service.errors import BadRequest


@dataclass(frozen=True)
class Cursor:
    relation: int
    epoch: int
    offset: int
    as_of: str | None
    where: str | None
    order_by: str | None
    skip_errors: bool
    first: tuple[int, ...] | None = None

    def encode(self) -> str:
        return base64.urlsafe_b64encode(orjson.dumps(asdict(self))).decode().rstrip("=")

    @classmethod
    def decode(cls, text: str) -> Cursor:
        """The cursor in a text. Raises BadRequest if `encode` did not make the text."""
        try:
            members = orjson.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
            first = members.pop("first", None)
            cursor = cls(**members, first=None if first is None else tuple(first))
        except (ValueError, TypeError, AttributeError, binascii.Error):
            raise _invalid() from None
        if not all(isinstance(n, int) and n >= 0 for n in (cursor.relation, cursor.epoch, cursor.offset)):
            raise _invalid()
        if not all(t is None or isinstance(t, str) for t in (cursor.as_of, cursor.where, cursor.order_by)):
            raise _invalid()
        if not all(isinstance(word, int) and -(2**63) <= word < 2**63 for word in cursor.first or ()):
            raise _invalid()
        return cursor


def _invalid() -> BadRequest:
    return BadRequest(
        "the cursor is not one of this service", "start again without a cursor", code="invalid_cursor"
    )
