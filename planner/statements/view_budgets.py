"""What a view may cost: the budget of a CREATE VIEW, as WITH (budget_memory = '1 GB', ...) before its AS."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite

from planner.parsing.script import Piece
from planner.statements.word_reader import WordReader

_FORM = "write WITH (budget_memory = '1 GB', budget_build = '10 s', budget_change = '50 ms')"
_BYTES = {"": 1.0, "b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12}
_SECONDS = {"": 1.0, "s": 1.0, "ms": 1e-3, "min": 60.0, "h": 3600.0}
_MILLISECONDS = {"": 1.0, "ms": 1.0, "s": 1e3, "us": 1e-3}
_OPTIONS: Mapping[str, tuple[str, Mapping[str, float]]] = {
    "budget_memory": ("memory_bytes", _BYTES),
    "budget_build": ("build_seconds", _SECONDS),
    "budget_change": ("change_milliseconds", _MILLISECONDS),
}
_QUANTITY = re.compile(r"\s*(\d+(?:\.\d*)?)\s*([a-zA-Z]*)\s*")


@dataclass(frozen=True)
class ViewBudget:
    """The most bytes that a view may keep, the most seconds that building it may take, and the most
    milliseconds that a bad change of one row of a table may take. None for any."""

    memory_bytes: float | None = None
    build_seconds: float | None = None
    change_milliseconds: float | None = None

    @property
    def is_limited(self) -> bool:
        return any(value is not None for value in vars(self).values())

    def within(self, other: ViewBudget) -> ViewBudget:
        """The lesser of both in everything."""
        both = {name: (value, getattr(other, name)) for name, value in vars(self).items()}
        known = {name: [each for each in values if each is not None] for name, values in both.items()}
        return ViewBudget(**{name: min(values, default=None) for name, values in known.items()})


ANY = ViewBudget()


def without_budget(piece: Piece, end: int) -> tuple[Piece, ViewBudget]:
    """A CREATE VIEW, whose AS is before token `end`, without its budget; and the budget."""
    begin = next((at for at in range(end) if _begins(piece, at)), None)
    if begin is None:
        return piece, ANY
    reader = WordReader(piece, begin, _FORM)
    reader.expect("WITH", "(")
    budget = ANY
    while True:
        budget = _with_option(reader, budget)
        if not reader.skip(","):
            break
    reader.expect(")")
    return replace(piece, tokens=(*piece.tokens[:begin], *piece.tokens[reader.at :])), budget


def _begins(piece: Piece, at: int) -> bool:
    words = [token.text.lower() for token in piece.tokens[at : at + 3]]
    return words[:2] == ["with", "("] and words[2:] != [] and words[2].startswith("budget")


def _with_option(reader: WordReader, budget: ViewBudget) -> ViewBudget:
    at, name = reader.at, reader.name()
    if name not in _OPTIONS:
        reader.at = at
        raise reader.failure(f"a view has no budget {name}")
    field, units = _OPTIONS[name]
    reader.expect("=")
    at, value = reader.at, _quantity(reader, units)
    if getattr(budget, field) is not None:
        reader.at = at
        raise reader.failure(f"{name} is given twice")
    return replace(budget, **{field: value})


def _quantity(reader: WordReader, units: Mapping[str, float]) -> float:
    at, text = reader.at, reader.value()
    found = _QUANTITY.fullmatch(text)
    unit = None if found is None else units.get(found[2].lower())
    value = 0.0 if found is None or unit is None else float(found[1]) * unit
    if not value > 0 or not isfinite(value):
        reader.at = at
        raise reader.failure(f"{text} is not a budget: a number above 0 is expected, with a unit")
    return value
