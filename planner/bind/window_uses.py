"""Window functions: their names, their types, and the collector of those that a query uses.

They are computed after grouping and before QUALIFY. Ties in their order are broken by every column that the
query uses, in the order of its FROM clause, and by the values that the windows themselves compute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from engine.plan.expressions import Literal
from engine.plan.nodes import Function, Ordering
from engine.schema import BIGINT, Type
from planner import ir
from planner.bind.aggregate_calls import aggregate_call, is_aggregate
from planner.bind.aggregate_uses import bind_aggregate
from planner.bind.coercion import argument, coerce, typed
from planner.bind.expressions.typed_alternatives import alternatives
from planner.bind.frames import distances, frame_of, specification
from planner.bind.session import Session, Taken
from planner.dialects.traits import Trait, has
from planner.errors import InvalidQuery, PlannerError
from planner.native.reference import type_of
from planner.positions import fail, refuse

_PLACES: dict[type[exp.Expression], ir.PlaceFunction] = {
    exp.RowNumber: ir.PlaceFunction.ROW_NUMBER,
    exp.Rank: ir.PlaceFunction.RANK,
    exp.DenseRank: ir.PlaceFunction.DENSE_RANK,
    exp.PercentRank: ir.PlaceFunction.PERCENT_RANK,
    exp.CumeDist: ir.PlaceFunction.CUME_DIST,
    exp.Ntile: ir.PlaceFunction.NTILE,
    exp.Lag: ir.PlaceFunction.LAG,
    exp.Lead: ir.PlaceFunction.LEAD,
    exp.FirstValue: ir.PlaceFunction.FIRST_VALUE,
    exp.LastValue: ir.PlaceFunction.LAST_VALUE,
    exp.First: ir.PlaceFunction.FIRST_VALUE,
    exp.Last: ir.PlaceFunction.LAST_VALUE,
    exp.NthValue: ir.PlaceFunction.NTH_VALUE,
}
_NEVER_NULL = frozenset(
    {
        ir.PlaceFunction.ROW_NUMBER,
        ir.PlaceFunction.RANK,
        ir.PlaceFunction.DENSE_RANK,
        ir.PlaceFunction.PERCENT_RANK,
        ir.PlaceFunction.CUME_DIST,
    }
)
Bind = Callable[[exp.Expression], ir.Expression]
Rewrite = Callable[[ir.Expression, exp.Expression], ir.Expression]
Sort = tuple[tuple[ir.Expression, bool, bool], ...]
"""The expressions of an ORDER BY, each with its direction (descending) and NULL placement (NULLs first)."""


@dataclass(frozen=True)
class WindowUse:
    """One use of a window function."""

    keys: tuple[ir.Expression, ...]
    order: Sort
    function: ir.PlaceFunction | Function | ir.GeneralAggregate
    arguments: tuple[ir.Expression, ...]
    frame: ir.Frame
    type: Type
    distinct: bool = False
    ignores_nulls: bool = False
    distances: tuple[ir.Expression, ...] = ()

    @property
    def columns(self) -> tuple[ir.Expression, ...]:
        """The expressions that must be columns below the window: all but constants after the first
        argument."""
        first = 0 if self.function is ir.PlaceFunction.NTILE else 1
        given = (e for i, e in enumerate(self.arguments) if i < first or not isinstance(e, Literal))
        return (*self.keys, *(expression for expression, _, _ in self.order), *given, *self.distances)


@dataclass
class WindowUses:
    """The window functions of one query, in the order of their first use; `named` are those of WINDOW."""

    session: Session
    named: Mapping[str, exp.Window]
    found: dict[WindowUse, ir.Attribute] = field(default_factory=dict)
    written: dict[tuple[exp.Window, str], ir.Attribute] = field(default_factory=dict)
    """By what is written in which clause: two queries inside of it are never one use, though they are equal,
    and rows that are equal might take two orders."""

    def column(self, node: exp.Window, clause: str, bind: Bind, predicate: Bind) -> ir.Attribute:
        """The column of a window function in a clause; `bind` and `predicate` bind what is inside of it."""
        known = self.written.get((node, clause))
        if known is None:
            known = self.written[node.copy(), clause] = self._column(node, bind, predicate)
        return known

    def _column(self, node: exp.Window, bind: Bind, predicate: Bind) -> ir.Attribute:
        try:
            use = self._use(node, bind, predicate)
        except PlannerError as error:
            fail(error, node)
        if use not in self.found:
            nullable = use.function not in (*_NEVER_NULL, Function.COUNT)
            name = node.this.key if use.function is Function.COUNT else ir.function_name(use.function)
            self.found[use] = self.session.attribute(name, use.type, nullable)
        return self.found[use]

    def _use(self, node: exp.Window, bind: Bind, predicate: Bind) -> WindowUse:
        spec = specification(node, self.named)
        keys = tuple(e for e in (typed(bind(key)) for key in spec.keys) if not isinstance(e, Literal))
        order = tuple(
            (value, bool(o.args.get("desc")), bool(o.args.get("nulls_first")))
            for o, value in ((o, typed(bind(o.this))) for o in spec.order)
            if not isinstance(value, Literal)
        )
        frame = frame_of(spec.frame, bool(order))
        far = tuple(typed(bind(distance)) for distance in distances(spec.frame))
        if spec.frame is not None:
            _check_frame(frame, order, far)
        function, ignores_nulls = _nulls(node.this)
        if type(function) in _PLACES:
            use = _places(self.session, function, bind, keys, order, frame)
        elif is_aggregate(function):
            call = aggregate_call(function, self.session.dialect)
            only = predicate(call.only) if call.only is not None else None
            found = bind_aggregate(call, bind, only, framed=True)
            use = WindowUse(keys, order, found.function, found.arguments, frame, found.type, found.distinct)  # type: ignore[arg-type]
        else:
            name = function.sql("postgres").split("(")[0].lower()
            refuse(node, f"window function {name} is not supported")
        return replace(use, ignores_nulls=ignores_nulls, distances=far)

    def over(
        self, operator: ir.Relational, above: Rewrite, node: exp.Expression, others: Iterable[ir.Expression]
    ) -> ir.Relational:
        """The operator's rows with the columns of all window functions.

        `above` rewrites expressions that were bound below a grouping; its errors have the place of `node`.
        `others` are the query's other expressions over the rows.
        """
        uses = {_rewritten(use, lambda e: above(e, node)): column for use, column in self.found.items()}
        if not uses:
            return operator
        written = list(dict.fromkeys(e for use in uses for e in use.columns))
        below, columns = self.session.computed(operator, written, "by")
        used = frozenset().union(*(ir.references(e) for e in others)) | set(columns.values())
        row = tuple(column.id for column in below.columns if column.id in used)
        specs: dict[tuple, list[tuple[WindowUse, ir.Attribute]]] = {}
        for use, column in uses.items():
            specs.setdefault((use.keys, use.order), []).append((use, column))
        for (keys, order), group in specs.items():
            items = tuple(_item(use, column, columns) for use, column in group)
            by = tuple(columns[key] for key in keys)
            sort = tuple(Ordering(columns[e], descending, first) for e, descending, first in order)
            known = {*by, *(ordering.column for ordering in sort)}
            below = ir.Over(below, by, sort, tuple(id for id in row if id not in known), items)
        return below


def _nulls(node: exp.Expression) -> tuple[exp.Expression, bool]:
    """The function without the IGNORE NULLS or RESPECT NULLS around it or in it."""
    if isinstance(node, exp.IgnoreNulls | exp.RespectNulls):
        return node.this, isinstance(node, exp.IgnoreNulls)
    inner = node.this
    if type(node) in _PLACES and isinstance(inner, exp.IgnoreNulls | exp.RespectNulls):
        plain = node.copy()
        plain.set("this", inner.this)
        return plain, isinstance(inner, exp.IgnoreNulls)
    return node, False


def _places(
    session: Session,
    node: exp.Expression,
    bind: Bind,
    keys: tuple[ir.Expression, ...],
    order: Sort,
    frame: ir.Frame,
) -> WindowUse:
    function = _PLACES[type(node)]
    inside = next(
        (part for part in node.iter_expressions() if isinstance(part, exp.Order | exp.Distinct)), None
    )
    if inside is not None:
        what = "ORDER BY" if isinstance(inside, exp.Order) else "DISTINCT"
        hint = "give OVER only PARTITION BY" if isinstance(inside, exp.Order) else ""
        refuse(node, f"{function.value} with {what} inside is not supported here", hint)
    if node.args.get("expressions"):
        fail(InvalidQuery(f"{function.value} takes no arguments", "write what orders it in OVER"), node)
    if node.args.get("from_first") is False:
        refuse(node, "FROM LAST is not supported", "reverse the window's ORDER BY")
    written = [node.args.get(part) for part in ("this", "offset", "default")]
    values = [typed(bind(part)) for part in written if part is not None]
    if function in (ir.PlaceFunction.LAG, ir.PlaceFunction.LEAD) and len(values) == 1:
        values.append(Literal(1, BIGINT))
    if len(values) == 3 and has(session.dialect, Trait.KEEPS_DIGITS):
        values[0], values[2] = _alike(session, node, values[0], values[2])
    template = f"{function.value}({', '.join(f'{{{i}}}' for i in range(len(values)))}) OVER ()"
    type_ = type_of(template, tuple(argument(value) for value in values))
    if values and function is not ir.PlaceFunction.NTILE:
        values[0] = coerce(values[0], type_)
        values[1:2] = [coerce(value, BIGINT) for value in values[1:2]]
        values[2:] = [coerce(value, type_) for value in values[2:]]
    return WindowUse(keys, order, function, tuple(values), frame, type_)


def _alike(
    session: Session, node: exp.Expression, value: ir.Expression, default: ir.Expression
) -> tuple[ir.Expression, ir.Expression]:
    """The value of LAG or LEAD and its default as numbers of one type, which has all digits of both."""
    if not (value.type.is_numeric and default.type.is_numeric) or value.type == default.type:
        return value, default
    both, type = alternatives("COALESCE({})", [value, default], session.dialect)
    if type != value.type:
        session.takes(node.this, Taken(type))
    return both[0], both[1]


def _check_frame(frame: ir.Frame, order: Sort, distances: tuple[ir.Expression, ...]) -> None:
    """Raise a PlannerError with DuckDB's reason if the frame is invalid in this order."""
    by = ", ".join(f"{{{i}}}" for i in range(len(order)))
    written = frame.text([f"{{{i}}}" for i in range(len(order), len(order) + len(distances))])
    values = (*(e for e, _, _ in order), *distances)
    type_of(f"count(*) OVER ({f'ORDER BY {by}' if order else ''} {written})", tuple(map(argument, values)))


def _rewritten(use: WindowUse, above: Callable[[ir.Expression], ir.Expression]) -> WindowUse:
    return replace(
        use,
        keys=tuple(map(above, use.keys)),
        order=tuple((above(e), descending, first) for e, descending, first in use.order),
        arguments=tuple(map(above, use.arguments)),
        distances=tuple(map(above, use.distances)),
    )


def _item(use: WindowUse, column: ir.Attribute, columns: Mapping[ir.Expression, int]) -> ir.WindowItem:
    arguments = tuple(
        e if isinstance(e, Literal) and e not in use.columns else columns[e] for e in use.arguments
    )
    arguments += tuple(columns[e] for e in use.distances)
    return ir.WindowItem(column, use.function, arguments, use.frame, use.distinct, use.ignores_nulls)
