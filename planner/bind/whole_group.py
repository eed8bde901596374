"""General aggregates: those of DuckDB's functions that need the whole group.

The result must be a function of the bag of rows. So the arguments' values break ties of an inner ORDER BY and
replace a missing one, except for functions that ignore order. In an ordered window, the order of the rows
replaces it for functions of a sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from engine.plan.expressions import Literal
from engine.schema import Kind
from planner.allowed.open_functions import AGGREGATES
from planner.bind.aggregate_calls import AggregateCall
from planner.bind.coercion import argument, typed
from planner.dialects.overloads import OVERLOADS
from planner.ir import Expression, GeneralAggregate
from planner.native.reference import literal_text, type_of
from planner.positions import refuse
from planner.sql_types import UNTYPED, Type

_UNORDERED = frozenset({"bit_and", "bit_or", "bit_xor", "mad", "median", "quantile_cont", "quantile_disc"})
_OF_SEQUENCES = frozenset(
    {
        "array_agg",
        "first",
        "group_concat",
        "json_agg",
        "json_object_agg",
        "last",
        "list",
        "listagg",
        "string_agg",
    }
)
_SKETCHES = frozenset({"approx_top_k", "reservoir_quantile"})
_WRITTEN_OTHERWISE = frozenset({Kind.TIMESTAMP, Kind.TIMESTAMPTZ, Kind.BYTEA, Kind.INTERVAL})
_NOTHING = {"entropy": 0.0, "regr_count": 0}


@dataclass(frozen=True)
class _Inside:
    """The clauses inside and after the parentheses of an aggregate."""

    distinct: str
    order: str
    only: str
    condition: str

    def of(self, function: str, argument: str, parameters: str = "") -> str:
        return f"{function}({self.distinct}{argument}{parameters}{self.order}){self.only}{{over}}"


_SHAPES: Mapping[str, Callable[[Sequence[str], _Inside], str]] = {
    "geomean": lambda a, inside: f"exp({inside.of('avg', f'ln({a[0]})')})",
    "json_agg": lambda a, inside: f"to_json({inside.of('list', a[0])})",
    "json_object_agg": lambda a, inside: (
        "CAST('{' || "
        + inside.of(
            "string_agg",
            f"{_member_name(a[0], inside.condition)} || ':' || coalesce(to_json({a[1]}), 'null')",
            ", ', '",
        )
        + " || '}' AS JSON)"
    ),
    "regr_count": lambda a, inside: f"CAST({inside.of('regr_count', a[0], f', {a[1]}')} AS BIGINT)",
    "weighted_avg": lambda a, inside: (
        f"{inside.of('sum', f'{a[0]} * {a[1]}')} / "
        f"{inside.of('sum', f'CASE WHEN {a[0]} IS NOT NULL THEN {a[1]} END')}"
    ),
}


def _member_name(text: str, condition: str) -> str:
    """The name of a member; in rows that FILTER rejects, NULL fails not."""
    fails = "error('the name of a JSON member is NULL')"
    fails = f"CASE WHEN {condition} THEN {fails} END" if condition else fails
    return f"to_json(coalesce(CAST({text} AS VARCHAR), {fails}))"


def _with_iso_times(text: str, type: Type) -> str:
    """A value as JSON has it, if that is a moment or bytes."""
    form = OVERLOADS["document_of"].form(type) if type.kind in _WRITTEN_OTHERWISE else None
    return text if form is None else form.replace("{0}", text)


def general(
    call: AggregateCall, bind: Callable[[exp.Expression], Expression], only: Expression | None
) -> tuple[GeneralAggregate, tuple[Expression, ...], Type]:
    """The function, its arguments and its type. Raises a PlannerError with DuckDB's reason if it has none."""
    if call.name in _SKETCHES or not (call.name in _SHAPES or call.name in AGGREGATES):
        refuse(call.node, f"aggregate function {call.name} is not supported")
    columns = _Columns()
    texts = [
        _parameter(node) if position and _is_constant(node) else columns.text(bind(node))
        for position, node in enumerate(call.arguments)
    ]
    values = list(texts)
    if call.name in ("json_agg", "json_object_agg") and call.has_iso_times and texts[-1].startswith("{"):
        values[-1] = _with_iso_times(texts[-1], columns.values[int(texts[-1].strip("{}"))].type)
    order = [columns.text(bind(ordered.this)) + _direction(ordered) for ordered in call.order]
    if call.name not in _UNORDERED:
        written = {key.split(" ")[0] for key in order}
        order += [text for text in texts if text.startswith("{") and text not in written]
    conditions = [columns.text(only)] if only is not None else []
    if call.skips_nulls:
        conditions.append(f"{texts[0]} IS NOT NULL")
    inside = _Inside(
        "DISTINCT " if call.distinct else "",
        f" ORDER BY {', '.join(order)}" if order else "",
        f" FILTER (WHERE {' AND '.join(conditions)})" if conditions else "",
        " AND ".join(conditions),
    )
    shape = _SHAPES.get(call.name)
    template = (
        shape(values, inside)
        if shape is not None
        else inside.of(call.name, texts[0] if texts else "", "".join(f", {text}" for text in texts[1:]))
    )
    is_sequence = call.name in _OF_SEQUENCES and not call.order and not call.distinct
    by_values = inside.order if is_sequence else ""
    function = GeneralAggregate(call.name, template, _NOTHING.get(call.name), by_values)
    places = [f"{{{i}}}" for i in range(len(columns.values))]
    type = type_of(function.text(places), tuple(argument(value) for value in columns.values))
    if type is UNTYPED:
        refuse(call.node, f"{call.name} of NULL is not supported")
    return function, tuple(columns.values), type


class _Columns:
    """The arguments that are columns, each once, in the order of their first use."""

    def __init__(self) -> None:
        self.values: list[Expression] = []

    def text(self, value: Expression) -> str:
        """A template's reference to a value: its place, or the text of a constant."""
        if isinstance(value, Literal) and value.value is not None:
            text = literal_text(value)
            if not set("{}") & set(text):
                return text
        value = typed(value)
        if value not in self.values:
            self.values.append(value)
        return f"{{{self.values.index(value)}}}"


def _is_constant(node: exp.Expression) -> bool:
    """Whether the node is a literal or an array of literals."""
    inside = node.find_all(exp.Column, exp.Query, exp.Func, exp.Placeholder)
    return all(isinstance(part, exp.Array) for part in inside)


def _parameter(node: exp.Expression) -> str:
    """A constant's text, escaped so that nothing in it looks like a place."""
    return node.sql("duckdb", comments=False).replace("{", "' || chr(123) || '")


def _direction(ordered: exp.Ordered) -> str:
    direction = " DESC" if ordered.args.get("desc") else " ASC"
    return direction + (" NULLS FIRST" if ordered.args.get("nulls_first") else " NULLS LAST")
