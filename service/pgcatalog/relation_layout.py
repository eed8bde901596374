"""What a row of pg_class and one of pg_attribute say besides what is particular to them."""

from __future__ import annotations

from functools import cache

from service.pgcatalog.builtin_objects import Row, builtin_rows
from service.pgcatalog.object_numbers import OWNER

_VARIABLE = (-1, False, "i", "x")
ENUMERATION = (4, True, "i", "p")
"""The layout of enumerations."""


def class_row(oid: int, name: str, kind: str, schema: int, **more: object) -> Row:
    return {
        "oid": oid,
        "relname": name,
        "relnamespace": schema,
        "relowner": OWNER,
        "relfilenode": 0 if kind == "v" else oid,
        "reltuples": -1 if kind in "rm" else 0,
        "relpersistence": "p",
        "relkind": kind,
        "relispopulated": True,
        "relreplident": "n",
        **more,
    }


def attribute(
    relation: int,
    name: str,
    number: int,
    type: int,
    modifier: int = -1,
    layout: tuple | None = None,
    **more: object,
) -> Row:
    """`layout` is that of a type that is not PostgreSQL's own."""
    layout = layout or _layouts().get(type, _VARIABLE)
    return {
        "attrelid": relation,
        "attname": name,
        "atttypid": type,
        "attstattarget": -1 if number > 0 else 0,
        "attlen": layout[0],
        "attnum": number,
        "attcacheoff": -1,
        "atttypmod": modifier,
        "attbyval": layout[1],
        "attalign": layout[2],
        "attstorage": layout[3],
        "attislocal": True,
        **more,
    }


@cache
def _layouts() -> dict[int, tuple]:
    """By type: length, whether it is passed by value, alignment and storage."""
    parts = ("typlen", "typbyval", "typalign", "typstorage")
    return {row["oid"]: tuple(row[part] for part in parts) for row in builtin_rows("pg_type")}
