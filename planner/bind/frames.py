"""Window specifications: what they inherit from WINDOW clauses, and their frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from planner.errors import InvalidQuery
from planner.ir import Edge, Frame, FrameSide, Unit
from planner.ir.window_items import CURRENT, END, RUNNING, START, WHOLE
from planner.positions import fail

_MOST_DIGITS = 18  # of a distance


@dataclass(frozen=True)
class Specification:
    """The specification of OVER, with what it inherits; `frame` is None if none is written."""

    keys: tuple[exp.Expression, ...]
    order: tuple[exp.Ordered, ...]
    frame: exp.WindowSpec | None


def named_windows(node: exp.Select) -> dict[str, exp.Window]:
    """The WINDOW clause by lower-case names."""
    found: dict[str, exp.Window] = {}
    for window in node.args.get("windows") or ():
        if window.name.lower() in found:
            fail(InvalidQuery(f'window "{window.name}" is defined twice'), window)
        found[window.name.lower()] = window
    return found


def specification(node: exp.Window, named: Mapping[str, exp.Window]) -> Specification:
    """The specification of `node`, with that of the window that it names. Raises InvalidQuery if they
    conflict."""
    keys = tuple(part for key in node.args.get("partition_by") or () for part in _parts(key))
    order = tuple(node.args["order"].expressions) if node.args.get("order") else ()
    frame = node.args.get("spec")
    alias = node.args.get("alias")
    if alias is None:
        return Specification(keys, order, frame)
    if alias.name.lower() not in named:
        hint = f"windows here: {', '.join(sorted(named))}" if named else "WINDOW name AS (...) defines one"
        fail(InvalidQuery(f'no window "{alias.name}" is defined', hint), node)
    others = {name: window for name, window in named.items() if name != alias.name.lower()}
    base = specification(named[alias.name.lower()], others)
    if not (keys or order or frame):
        return base
    if keys or (order and base.order) or base.frame is not None:
        what = "PARTITION BY" if keys else "ORDER BY" if order and base.order else "a frame"
        whose = "again" if keys or (order and base.order) else f'to inherit from window "{alias.name}"'
        fail(InvalidQuery(f"{what} cannot be given {whose}"), node)
    return Specification(base.keys, order or base.order, frame)


def _parts(key: exp.Expression) -> list[exp.Expression]:
    return key.expressions if isinstance(key, exp.Tuple) else [key]


def frame_of(spec: exp.WindowSpec | None, is_ordered: bool) -> Frame:
    """The written frame, or SQL's default frame."""
    if spec is None:
        return RUNNING if is_ordered else WHOLE
    unit = Unit[str(spec.args["kind"]).upper()]
    varying = [id(node) for node in distances(spec)]
    start = _edge(spec, "start", varying)
    end = _edge(spec, "end", varying) if spec.args.get("end") else CURRENT
    exclude = spec.args.get("exclude")
    words = exclude.name.lower() if isinstance(exclude, exp.Expression) else str(exclude or "").lower()
    if unit is Unit.ROWS and words in ("group", "ties") and (start, end) == (START, END):
        unit = Unit.RANGE
    frame = Frame(unit, start, end, "" if words == "no others" else words)
    return frame if is_ordered else _unordered(frame)


def _unordered(frame: Frame) -> Frame:
    """The frame if there is no order, so that all rows are peers."""
    if frame.unit is Unit.RANGE and frame.start.place in (None, 0) and frame.end.place in (None, 0):
        start = START if frame.start == CURRENT else frame.start
        end = END if frame.end == CURRENT else frame.end
        return Frame(Unit.RANGE, start, end, frame.exclude)
    return frame


def distances(spec: exp.WindowSpec | None) -> list[exp.Expression]:
    """The ends of a frame whose distance depends on the row."""
    ends = [spec.args.get(part) for part in ("start", "end")] if spec is not None else []
    return [
        end for end in ends if isinstance(end, exp.Expression) and end.find(exp.Column, exp.Query, exp.Func)
    ]


def _edge(spec: exp.WindowSpec, part: str, varying: Sequence[int]) -> Edge:
    value = spec.args[part]
    side = str(spec.args.get(f"{part}_side") or "").lower()
    if not isinstance(value, exp.Expression):
        return CURRENT if str(value).upper().startswith("CURRENT") else Edge(FrameSide(side))
    if id(value) in varying:
        return Edge(FrameSide(side), f"{{{varying.index(id(value))}}}")
    while isinstance(value, exp.Paren):
        value = value.this
    if isinstance(value, exp.Literal) and not value.is_string and len(value.this) > _MOST_DIGITS:
        fail(InvalidQuery("a frame's distance is too large", "write UNBOUNDED"), value)
    return Edge(FrameSide(side), value.sql("duckdb"))
