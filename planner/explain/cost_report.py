"""The cost of a view as text and as a document: figures, what is dear in it, and its operators."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from engine.costs.view_cost import OperatorCost, ViewCost
from planner.explain.analyze import operator_steps
from planner.explain.dear_operators import DearOperator, dear_operators
from planner.explain.listing import Listing, ListingStep
from planner.explain.listing_formats import as_json, as_text
from planner.lower.planned_query import PlannedQuery

_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_SHOWN = 60
"""The most characters of the query that are shown of an operator."""


def cost_text(query: PlannedQuery, cost: ViewCost, sql: str = "") -> str:
    """The cost of a view of the query, whose author wrote `sql`, and its operators, as text."""
    listing = _listing(query, cost)
    return "\n".join([*_lines(cost, listing, sql), as_text(listing)])


def cost_document(query: PlannedQuery, cost: ViewCost, sql: str = "") -> dict[str, Any]:
    """The same as a JSON document. `plan` is the listing of the operators."""
    listing = _listing(query, cost)
    return {
        "at_least": cost.is_least,
        "rows": round(cost.rows),
        "memory_bytes": round(cost.memory),
        "disk_bytes": round(cost.memory),
        "build_seconds": round(cost.build.total, 6),
        "build": {name: round(seconds, 6) for name, seconds in vars(cost.build).items()},
        "changes": [
            {
                "table": source,
                "median_rows": round(change.median_rows, 1),
                "bad_rows": round(change.bad_rows, 1),
                "median_milliseconds": round(change.median_milliseconds, 6),
                "bad_milliseconds": round(change.bad_milliseconds, 6),
            }
            for source, change in sorted(cost.changes.items())
        ],
        "shared_with": list(cost.shared),
        "read": [{"table": source, "part": part} for source, part in sorted(cost.parts.items())],
        "beginnings": cost.root_part,
        "dear": [_dear_document(dear, listing, sql) for dear in dear_operators(cost)],
        "plan": json.loads(as_json(listing)),
    }


def place_of_dearest(query: PlannedQuery, cost: ViewCost, what: str, sql: str = "") -> str:
    """The operator that takes most of the view's time, memory or changes, in words; empty if none does."""
    listing = _listing(query, cost)
    found = next((dear for dear in dear_operators(cost) if dear.what == what), None)
    return "" if found is None else _place(listing.steps[found.place], sql)


def _listing(query: PlannedQuery, cost: ViewCost) -> Listing:
    operators = [each.operator for each in cost.operators]
    steps = operator_steps(query.plan, operators, query.spans, list(map(_figures, cost.operators)))
    return Listing("cost", steps, steps[-1].name)


def _figures(operator: OperatorCost) -> dict[str, float]:
    return {
        "rows": round(operator.rows),
        "kept": round(operator.kept),
        "memory": round(operator.memory),
        "milliseconds": round(operator.seconds * 1_000, 3),
        "changed": round(operator.change_rows),
    }


def _lines(cost: ViewCost, listing: Listing, sql: str) -> Iterator[str]:
    if cost.is_least:
        yield "at least, because the estimate ended before the view was computed:"
    build = cost.build
    yield f"rows: {round(cost.rows):,}"
    yield f"memory: {_bytes(cost.memory)}, and as much in files after a checkpoint"
    yield f"time to build: {_seconds(build.total)}, of which {_seconds(build.operators)} for operators"
    if cost.shared:
        yield f"shared with: {', '.join(cost.shared)}"
    for source, change in sorted(cost.changes.items()):
        usual = f"{change.median_milliseconds:.3f} ms for {round(change.median_rows):,} rows"
        bad = f"{change.bad_milliseconds:.3f} ms for {round(change.bad_rows):,}"
        yield f"a change of {source}: {usual}, on a bad day {bad}"
    if (read := _read(cost)) is not None:
        yield read
    for dear in dear_operators(cost):
        yield f"{round(100 * dear.part)} % of {dear.what}: {_place(listing.steps[dear.place], sql)}"
        if dear.cure:
            yield f"    {dear.cure}"


def _read(cost: ViewCost) -> str | None:
    """What was read for the estimate, if it was not everything."""
    parts = [f"{100 * part:.3g} % of {source}" for source, part in sorted(cost.parts.items()) if part < 1]
    if cost.root_part < 1:
        parts.append(f"{100 * cost.root_part:.3g} % of where recursions begin")
    return f"estimated from {', '.join(parts)}" if parts else None


def _place(step: ListingStep, sql: str) -> str:
    """An operator with its place in the query."""
    named = f"{step.name}, {step.operator}"
    if not step.spans:
        return named
    span = step.spans[0]
    text = " ".join(sql[span.start : span.end].split())
    return f"{named}, at line {span.line}, column {span.column}{': ' if text else ''}{text[:_SHOWN]}"


def _dear_document(dear: DearOperator, listing: Listing, sql: str) -> dict[str, Any]:
    step = listing.steps[dear.place]
    return {
        "of": dear.what,
        "operator": step.name,
        "part": round(dear.part, 4),
        "place": _place(step, sql),
        "cure": dear.cure,
    }


def _bytes(count: float) -> str:
    for unit, name in _UNITS:
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{round(count)} bytes"


def _seconds(seconds: float) -> str:
    return f"{seconds:.3g} s"
