"""Fingerprints: names of operators that are the same in every process, and after a restart.

An operator is identified by a key (a plan's node, or a tuple with one). Its fingerprint is the SHA-256 of the
key's canonical form, which has types, names and values, and nothing that differs between processes: no
addresses, no salted hashes, no order of a set. Equal nodes have equal fingerprints, and different nodes have
different ones.

A node's digest is computed once and stored with it, so that a plan, which is a DAG, costs its size. A Python
function is identified by its name alone; a function that its module has no name for is refused.
"""

from __future__ import annotations

import enum
import hashlib
import struct
import sys
from collections.abc import Hashable
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from types import FunctionType
from typing import Any

import numpy as np

from engine.errors import EngineError

_CACHED = "_digest"


def fingerprint(*keys: Hashable) -> str:
    """64 hexadecimal digits for the keys of the loops around an operator, outermost first, and its own key.

    Raises EngineError if a key has a function or a value that other processes cannot identify.
    """
    return hashlib.sha256(_canonical(keys)).hexdigest()


def _canonical(value: object) -> bytes:
    """The canonical form of a value, with its kind and length, so that different values never coincide."""
    match value:
        case None:
            return _tagged(b"none", b"")
        case enum.Enum():
            return _tagged(b"enum", f"{type(value).__qualname__}.{value.name}".encode())
        case bool() | np.bool_():
            return _tagged(b"bool", b"1" if value else b"0")
        case int() | np.integer():
            return _tagged(b"int", str(int(value)).encode())
        case float() | np.floating():
            return _tagged(b"float", struct.pack("<d", float(value)))
        case str():
            return _tagged(b"str", value.encode("utf-8", "surrogatepass"))
        case bytes():
            return _tagged(b"bytes", value)
        case Decimal() | date() | time() | datetime() | timedelta():
            return _tagged(type(value).__name__.encode(), str(value).encode())
        case tuple():
            return _tagged(b"tuple", b"".join(map(_canonical, value)))
        case frozenset():
            return _tagged(b"set", b"".join(sorted(map(_canonical, value))))
        case FunctionType():
            return _tagged(b"function", _name(value).encode())
        case _ if is_dataclass(value):
            return _tagged(type(value).__qualname__.encode(), _digest(value))
        case _:
            raise EngineError(f"{value!r} has no fingerprint: other processes cannot identify it")


def _tagged(kind: bytes, content: bytes) -> bytes:
    return b"%s %d:%s" % (kind, len(content), content)


def _digest(value: Any) -> bytes:
    """The digest of a frozen dataclass, stored with it."""
    known = vars(value)
    digest: bytes | None = known.get(_CACHED)
    if digest is None:
        content = b"".join(_canonical(getattr(value, field.name)) for field in fields(value) if field.compare)
        digest = known[_CACHED] = hashlib.sha256(content).digest()
    return digest


def _name(function: FunctionType) -> str:
    """The name under which the function is found; EngineError if there is none."""
    found: object = sys.modules.get(function.__module__)
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    if found is not function:
        raise EngineError(
            f"the function {function.__qualname__} has no fingerprint: it is local or has no name",
            "define it at the top of a module",
        )
    return f"{function.__module__}.{function.__qualname__}"
