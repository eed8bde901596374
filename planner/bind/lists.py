"""UNNEST, generate_series and their other names: one row for each element of a list.

In FROM, a list may refer to the items before it. In a select list, the lists are evaluated for each remaining
row and unnested side by side, as in PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from engine.plan.expressions import Foreign, Literal, Op
from engine.plan.list_elements import MOST_ELEMENTS
from engine.schema import BIGINT, INTERVAL, TIMESTAMP, TIMESTAMPTZ, Kind, Type, array_of
from planner.bind.coercion import coerce, typed
from planner.bind.nested_values import extracted
from planner.bind.refuse import refuse_unsupported
from planner.bind.scalar_functions import foreign
from planner.bind.session import Bound, Session
from planner.dialects.traits import Trait, has
from planner.errors import TypeMismatch
from planner.identifiers import fold
from planner.ir import Attribute, Expression, Project, Relational, UnnestedList, UnnestLists
from planner.ir.rewrite import identity
from planner.ir.scalars import call, may_be_null
from planner.native.templates import is_native
from planner.positions import fail
from planner.sql_types import duckdb_type

_SERIES = (
    "CASE WHEN abs(epoch_us({{1}}) - epoch_us({{0}})) // greatest(abs(epoch_us({{2}})), 1) > "
    f"{MOST_ELEMENTS} THEN CAST(error('a list has more than {MOST_ELEMENTS} elements') AS {{type}}[]) "
    "ELSE {series}({{0}}, {{1}}, {{2}}) END"
)
_ARRAY_SERIES = (
    f"CASE WHEN CAST({{1}} AS HUGEINT) - {{0}} > {MOST_ELEMENTS} * CAST(abs({{2}}) AS HUGEINT)"
    f" OR CAST({{0}} AS HUGEINT) - {{1}} > {MOST_ELEMENTS} * CAST(abs({{2}}) AS HUGEINT)"
    f" THEN CAST(error('a list has more than {MOST_ELEMENTS} elements') AS BIGINT[])"
    " ELSE SERIES({0}, {1}, {2}) END"
)
Bind = Callable[[exp.Expression], Expression]
LISTS = (exp.Unnest, exp.Explode, exp.Posexplode, exp.Inline, exp.ExplodingGenerateSeries)
"""Nodes that stand for rows of elements."""
_SERIES_NODES = (exp.GenerateSeries, exp.ExplodingGenerateSeries)


@dataclass(frozen=True)
class Bounded:
    """A list with its parts bound: an array, or the start, stop and step of a series of numbers.

    With `spread`, each field of its elements becomes a column in FROM.
    """

    arguments: tuple[Expression, ...]
    exclusive: bool = False
    spread: bool = False

    @property
    def element(self) -> Type:
        """The type of its elements."""
        return self.arguments[0].type.element or BIGINT


@dataclass(frozen=True)
class ElementTable:
    """Lists unnested in FROM, and the names of their columns.

    `place` names the ordinal column, if there is one, which counts from `first` and comes before the others
    if `leads`. With `outer`, empty lists have a row.
    """

    node: exp.Expression
    lists: tuple[exp.Expression, ...]
    names: tuple[str, ...]
    place: str | None = None
    first: int = 1
    leads: bool = False
    outer: bool = False


def rows_of(node: exp.Expression, dialect: str) -> ElementTable | None:
    """The unnested lists of an item of FROM; None if the item is another table."""
    this = node.this if isinstance(node, exp.Lateral | exp.Table | exp.TableFromRows) else node
    if isinstance(node, exp.Table) and node.args.get("rows_from"):
        parts = [part.this if isinstance(part, exp.Table) else part for part in node.args["rows_from"]]
        lists = tuple(inner for part in parts for inner in _lists(part))
    elif isinstance(this, (*LISTS, exp.GenerateSeries)):
        lists = tuple(_lists(this))
    else:
        return None
    names = tuple(map(_name, lists))
    if node.alias and len(names) == 1 and not has(dialect, Trait.ELEMENTS_KEEP_THEIR_NAME):
        names = (node.alias,)
    rows = ElementTable(node, lists, names, outer=bool(node.args.get("outer")))
    if isinstance(this, exp.Explode | exp.Posexplode):
        return _exploded(rows, this)
    place = node.args.get("ordinality") or (this is not None and this.args.get("offset"))
    if not place:
        return rows
    name, first = ("offset", 0) if has(dialect, Trait.OFFSETS_FROM_ZERO) else ("ordinality", 1)
    return replace(rows, place=fold(place) if isinstance(place, exp.Identifier) else name, first=first)


def _lists(node: exp.Expression) -> list[exp.Expression]:
    if isinstance(node, exp.Unnest):
        return list(node.expressions)
    if isinstance(node, exp.Explode | exp.Posexplode | exp.Inline):
        return [node.this]
    return [node]


def _exploded(rows: ElementTable, node: exp.Explode | exp.Posexplode) -> ElementTable:
    """The lists with Spark's names for the columns."""
    rows = replace(rows, names=("col",))
    return replace(rows, place="pos", first=0, leads=True) if isinstance(node, exp.Posexplode) else rows


def _name(node: exp.Expression) -> str:
    return "generate_series" if isinstance(node, _SERIES_NODES) else "unnest"


def bound_list(node: exp.Expression, bind: Bind, dialect: str) -> Bounded:
    """A list with its parts bound: a series of numbers, or an array."""
    if not isinstance(node, _SERIES_NODES):
        value = bind(node)
        is_map = value.type.kind is Kind.MAP
        if is_map:
            value = foreign("map_entries({0})", [value], node, dialect)
        if value.type.element is None:
            fail(TypeMismatch(f"UNNEST takes arrays and maps, not {value.type}"), node)
        if has(dialect, Trait.ARRAYS_HAVE_DIMENSIONS) and not is_native(node):
            value = innermost_elements(value, node, dialect)
        is_inline = isinstance(node.parent, exp.Inline)
        return Bounded((value,), spread=is_map or is_inline or has(dialect, Trait.SPREADS_STRUCTS))
    step = node.args.get("step") or exp.Literal.number(1)
    exclusive = bool(node.args.get("is_end_exclusive"))
    start, stop, by = (typed(bind(part)) for part in (node.args["start"], node.args["end"], step))
    if by.type == INTERVAL:
        return Bounded((_moments(start, stop, by, exclusive, node),))
    parts = (start, stop, by)
    for part in parts:
        if not part.type.is_integer:
            fail(TypeMismatch(f"generate_series takes whole numbers or timestamps, not {part.type}"), node)
    return Bounded(tuple(coerce(part, BIGINT) for part in parts), exclusive)


def innermost_elements(value: Expression, node: exp.Expression, dialect: str) -> Expression:
    """The array of the elements that are no arrays."""
    while value.type.element is not None and value.type.element.element is not None:
        value = foreign("flatten({0})", [value], node, dialect)
    return value


def spread(session: Session, bound: Bound, lists: Sequence[Bounded]) -> tuple[Bound, Attribute | None]:
    """The rows with a column for each field in the place of elements that are structs; and, of a single list,
    the column of its elements."""
    structs = [c for c in bound.columns if c.type.kind is Kind.STRUCT and any(each.spread for each in lists)]
    if not structs:
        return bound, None
    items = list(identity(bound.operator.columns))
    columns: list[Attribute] = []
    for column in bound.columns:
        made = [
            (session.attribute(field.name, field.type, True), extracted(column.ref, field))
            for field in (column.type.fields if column in structs else ())
        ]
        items += made
        columns += [attribute for attribute, _ in made] or [column]
    return Bound(Project(bound.operator, tuple(items)), tuple(columns)), structs[0] if len(
        lists
    ) == 1 else None


def series(node: exp.GenerateSeries, bind: Bind) -> Expression:
    """The array of a series' elements."""
    bounded = bound_list(node, bind, "")
    if len(bounded.arguments) == 1:
        return bounded.arguments[0]
    makes = "range" if bounded.exclusive else "generate_series"
    template = _ARRAY_SERIES.replace("SERIES", makes)
    return Foreign(template, bounded.arguments, array_of(BIGINT))  # type: ignore[arg-type]


def _moments(
    start: Expression, stop: Expression, step: Expression, exclusive: bool, node: exp.Expression
) -> Expression:
    """A series of timestamps, as an array."""
    kinds = {start.type.kind, stop.type.kind}
    if not kinds <= {Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ, Kind.INTEGER}:
        fail(TypeMismatch(f"generate_series takes timestamps, not {start.type} and {stop.type}"), node)
    moment = TIMESTAMPTZ if Kind.TIMESTAMPTZ in kinds else TIMESTAMP
    template = _SERIES.format(series="range" if exclusive else "generate_series", type=duckdb_type(moment))
    values = (coerce(start, moment), coerce(stop, moment), step)
    return Foreign(template, values, array_of(moment))  # type: ignore[arg-type]


def unnested(
    session: Session,
    input: Relational,
    lists: Iterable[tuple[Bounded, Attribute]],
    place: Attribute | None = None,
    outer: bool = False,
) -> UnnestLists:
    """The rows of the input beside the elements of the lists, which become the given columns."""
    known = {column.id: column for column in input.columns}
    items = list(identity(input.columns))
    elements = []
    for each, attribute in lists:
        columns = []
        for argument in each.arguments:
            column = session.attribute("list", argument.type, may_be_null(argument, known))
            items.append((column, argument))
            columns.append(column.id)
        elements.append(UnnestedList(attribute, tuple(columns), each.exclusive))
    return UnnestLists(Project(input, tuple(items)), tuple(elements), place, outer)


def with_places(session: Session, input: Relational, lists: list[Bounded], rows: ElementTable) -> Bound:
    """The rows of `input` with the elements of their lists; the columns are those of the lists, in order."""
    made = tuple(
        session.attribute(name, each.element, True) for name, each in zip(rows.names, lists, strict=True)
    )
    pairs = list(zip(lists, made, strict=True))
    if rows.place is None:
        return Bound(unnested(session, input, pairs, outer=rows.outer), made)
    place = session.attribute(rows.place, BIGINT, rows.outer)
    below = unnested(session, input, pairs, place, rows.outer)
    if rows.first == 1:
        return Bound(below, (*made, place))
    column = session.attribute(rows.place, BIGINT, rows.outer)
    shifted = call(Op.SUB, place.ref, Literal(1, BIGINT), type=BIGINT)
    columns = (column, *made) if rows.leads else (*made, column)
    return Bound(Project(below, (*identity(below.columns), (column, shifted))), columns)


@dataclass
class SelectLists:
    """The lists of one select list, in the order of their first use."""

    session: Session
    found: dict[Bounded, Attribute] = field(default_factory=dict)

    def column(self, node: exp.Expression, bind: Bind) -> Attribute:
        """The column of the elements that `node` unnests."""
        if isinstance(node, exp.Posexplode) or len(_lists(node)) > 1:
            refuse_unsupported("more than one list in one place of the select list", node, "write it in FROM")
        if isinstance(node, exp.Inline):
            refuse_unsupported("inline in the select list", node, "write it in FROM, or in a LATERAL VIEW")
        each = bound_list(_lists(node)[0], bind, self.session.dialect)
        if each.spread and has(self.session.dialect, Trait.EXPLODES_MAPS):
            refuse_unsupported("explode of a map in the select list", node, "write it in a LATERAL VIEW")
        if each not in self.found:
            self.found[each] = self.session.attribute("unnest", each.element, True)
        return self.found[each]

    @property
    def arguments(self) -> list[Expression]:
        return [argument for each in self.found for argument in each.arguments]

    def changed(self, change: Callable[[Expression], Expression]) -> SelectLists:
        """The lists over the columns of another operator."""
        found = {
            replace(each, arguments=tuple(map(change, each.arguments))): column
            for each, column in self.found.items()
        }
        return SelectLists(self.session, found)

    def over(self, operator: Relational) -> Relational:
        """The operator's rows with the elements of all lists, side by side."""
        return unnested(self.session, operator, self.found.items()) if self.found else operator
