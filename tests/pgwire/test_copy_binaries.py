"""Columns of the binary format: decoded together they give the words that each field gives alone."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from engine.errors import InvalidValue
from engine.schema import Column, Kind, Type
from engine.state.dictionary import Dictionary
from service.postgres.copy_binaries import _one_by_one, _together

DAY = 86_400_000_000
FORMS: dict[Kind, tuple[str, tuple]] = {
    Kind.BOOLEAN: ("!?", (True, False)),
    Kind.SMALLINT: ("!h", (0, -(2**15), 2**15 - 1)),
    Kind.INTEGER: ("!i", (0, -(2**31), 2**31 - 1)),
    Kind.BIGINT: ("!q", (0, 1 - 2**63, 2**63 - 1)),
    Kind.REAL: ("!f", (0.1, -0.0, float("nan"), float("-inf"))),
    Kind.DOUBLE: ("!d", (0.1, -0.0, float("nan"), float("inf"), 5e-324)),
    Kind.DATE: ("!i", (0, -730_119, 2_921_939, -10_957)),
    Kind.TIME: ("!q", (0, DAY - 1)),
    Kind.TIMESTAMP: ("!q", (0, -730_119 * DAY, 2_921_940 * DAY - 1, -10_957 * DAY)),
    Kind.TIMESTAMPTZ: ("!q", (0, -1, 10**15)),
}
APART: dict[Kind, tuple] = {
    Kind.BIGINT: (-(2**63),),
    Kind.DATE: (-730_120, 2_921_940, 2**31 - 1, -(2**31)),
    Kind.TIME: (DAY, -1),
    Kind.TIMESTAMP: (-730_119 * DAY - 1, 2_921_940 * DAY, 2**63 - 1, -(2**63)),
}
"""Values that not every row may have, or that mean something else."""


@pytest.mark.parametrize("kind", FORMS)
def test_together_as_alone(kind: Kind) -> None:
    form, values = FORMS[kind]
    fields = [None, *(struct.pack(form, value) for value in values), None]
    column, dictionary = Column("c", Type(kind), True), Dictionary()
    found = _together(fields, column, dictionary)
    assert found is not None
    assert found.tolist() == _one_by_one(fields, 1, column, dictionary).tolist()
    assert (
        _together([None], column, dictionary).tolist() == _one_by_one([None], 1, column, dictionary).tolist()
    )


@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind in APART for value in APART[kind]])
def test_what_is_unusual_is_decoded_alone(kind: Kind, value: int) -> None:
    field = struct.pack(FORMS[kind][0], value)
    assert _together([field], Column("c", Type(kind), True), Dictionary()) is None


@pytest.mark.parametrize("kind", [*FORMS, Kind.TEXT])
def test_what_is_wrong_is_told_with_its_row(kind: Kind) -> None:
    form, values = FORMS.get(kind, ("!3s", (b"abc",)))
    wrong = b"\xff" if kind is Kind.TEXT else struct.pack(form, values[0]) + b"x"
    fields = [struct.pack(form, values[0]), None, wrong]
    column, dictionary = Column("c", Type(kind), True), Dictionary()
    assert _together(fields, column, dictionary) is None
    with pytest.raises(InvalidValue, match=r"^row 12: column c: "):
        _one_by_one(fields, 10, column, dictionary)


def test_texts_are_interned_once() -> None:
    column, dictionary = Column("c", Type(Kind.TEXT), True), Dictionary()
    fields = [b"a", None, "ü".encode(), b"", b"a"]
    found = _together(fields, column, dictionary)
    assert found is not None and dictionary.texts(found) == ["a", None, "ü", "", "a"]
    assert found.dtype == np.int64 and found[0] == found[4]
