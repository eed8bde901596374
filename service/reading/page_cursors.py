"""Cursors: where a client stands in a list of rows, as one opaque string.

A cursor holds the epoch, the offset and everything that decides which rows there are in
which order, so that it alone is enough to go on, and so that one cannot be used with
another query.
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

    def encode(self) -> str:
        return base64.urlsafe_b64encode(orjson.dumps(asdict(self))).decode().rstrip("=")

    @classmethod
    def decode(cls, text: str) -> Cursor:
        """BadRequest if the text is not what `encode` gave."""
        try:
            members = orjson.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
            cursor = cls(**members)
        except (ValueError, TypeError, binascii.Error):
            raise _invalid() from None
        if not all(isinstance(n, int) and n >= 0 for n in (cursor.relation, cursor.epoch, cursor.offset)):
            raise _invalid()
        if not all(t is None or isinstance(t, str) for t in (cursor.as_of, cursor.where, cursor.order_by)):
            raise _invalid()
        return cursor


def _invalid() -> BadRequest:
    return BadRequest(
        "the cursor is none that this service gave", "start again without one", code="invalid_cursor"
    )
