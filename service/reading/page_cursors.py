"""Cursors: a client's place in a list of rows, as one opaque string.

A cursor holds the epoch, the place, and everything that decides the rows and their order. So it is enough
to go on with, and cannot be used with another query. The place is a number of rows to skip: from the first
row or, if all rows are read in the order of their words, from the row whose words are given.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import asdict, dataclass
from typing import Any

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
    valid_at: str | None = None

    def encode(self) -> str:
        return encoded(asdict(self))

    @classmethod
    def decode(cls, text: str) -> Cursor:
        """The cursor in a text. Raises BadRequest if `encode` did not make the text."""
        members = decoded(text)
        try:
            first = members.pop("first", None)
            cursor = cls(**members, first=None if first is None else tuple(first))
        except (ValueError, TypeError):
            raise invalid_cursor() from None
        if not are_counts(cursor.relation, cursor.epoch, cursor.offset):
            raise invalid_cursor()
        texts = (cursor.as_of, cursor.where, cursor.order_by, cursor.valid_at)
        if not all(text is None or isinstance(text, str) for text in texts):
            raise invalid_cursor()
        if not all(isinstance(word, int) and -(2**63) <= word < 2**63 for word in cursor.first or ()):
            raise invalid_cursor()
        return cursor


def encoded(members: dict[str, object]) -> str:
    """The members of a cursor as its text."""
    return base64.urlsafe_b64encode(orjson.dumps(members)).decode().rstrip("=")


def decoded(text: str) -> dict[str, Any]:
    """The members in the text of a cursor. Raises BadRequest if `encoded` did not make the text."""
    try:
        members = orjson.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, binascii.Error):
        raise invalid_cursor() from None
    if not isinstance(members, dict):
        raise invalid_cursor()
    return members


def are_counts(*values: object) -> bool:
    """Whether values out of a client's text are numbers of rows or epochs."""
    return all(type(value) is int and 0 <= value < 2**63 for value in values)


def invalid_cursor() -> BadRequest:
    """The error for a text that is no cursor."""
    return BadRequest(
        "the cursor is not one of this service", "start again without a cursor", code="invalid_cursor"
    )
