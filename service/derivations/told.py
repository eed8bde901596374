"""Explanations as JSON objects, and as indented lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from engine.codec.json import decode_rows
from engine.state.dictionary import Dictionary
from service.derivations.reason import Explained, ExplainedRow, Reason

_MOST_COPIES = 100
"""The most copies of one row that an explanation has among the rows of tables."""


def document(found: Explained, dictionary: Dictionary) -> dict[str, Any]:
    """The explanation: `because` is the reason, `facts` are by number, `tables` has all rows of tables,
    each as often as it is there."""
    tables = found.tables()
    copies = [reason.times for rows in tables.values() for reason in rows.values()]
    return {
        "count": found.count,
        "because": reason_document(found.reason, dictionary),
        "facts": [
            {"fact": number, **reason_document(reason, dictionary)} for number, reason in found.facts.items()
        ],
        "tables": {
            name: [
                values
                for reason in rows.values()
                if reason.row is not None
                for values in [_values(reason.row, dictionary)] * min(reason.times, _MOST_COPIES)
            ]
            for name, rows in sorted(tables.items())
        },
        "cut": found.is_cut or any(times > _MOST_COPIES for times in copies),
    }


def missing(reason: Reason, dictionary: Dictionary) -> dict[str, list[dict[str, object]]]:
    """The rows that tables lack, as far as they are known, by table."""
    found: dict[str, list[dict[str, object]]] = {}
    for each in reason.walk():
        if each.relation is not None and each.row is not None and each.row.words:
            row, rows = _values(each.row, dictionary), found.setdefault(each.relation, [])
            if row not in rows:
                rows.append(row)
    return found


def lines(found: Explained, dictionary: Dictionary) -> Iterator[str]:
    """The explanation for a reader, with facts below the reason."""
    yield from _lines(found.reason, dictionary, 0)
    for number, reason in found.facts.items():
        first, *rest = _lines(reason, dictionary, 1)
        yield f"[{number}] {first.strip()}"
        yield from rest
    if found.is_cut:
        yield "and more, which is left out"


def reason_document(reason: Reason, dictionary: Dictionary) -> dict[str, Any]:
    """A reason with its causes as a JSON object."""
    told: dict[str, Any] = {"rule": reason.rule}
    if reason.row is not None:
        told["row"] = _values(reason.row, dictionary)
    if reason.relation is not None:
        told["table"] = reason.relation
    if reason.times != 1:
        told["times"] = reason.times
    if reason.fact is not None:
        told["see"] = reason.fact
    if reason.of:
        told["of"] = [reason_document(cause, dictionary) for cause in reason.of]
    if reason.more:
        told["more"] = reason.more
    return told


def _lines(reason: Reason, dictionary: Dictionary, depth: int) -> Iterator[str]:
    row = "" if reason.row is None else f" ({_text(_values(reason.row, dictionary))})"
    times = f", {reason.times} times" if reason.times != 1 else ""
    see = f", see [{reason.fact}]" if reason.fact is not None else ""
    yield f"{'  ' * depth}{reason.rule}{row}{times}{see}"
    for cause in reason.of:
        yield from _lines(cause, dictionary, depth + 1)
    if reason.more:
        yield f"{'  ' * (depth + 1)}and {reason.more} more"


def _text(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name} = {_shown(value)}" for name, value in values.items())


def _shown(value: object) -> str:
    if value is None:
        return "NULL"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, bool | list | dict) else str(value)


def _values(row: ExplainedRow, dictionary: Dictionary) -> dict[str, object]:
    words = np.array(row.words, np.int64).reshape(len(row.words), 1)
    (values,) = decode_rows(words, row.schema, dictionary)
    return dict(zip(row.schema.names, values, strict=True))
