"""Demanded rows: what a query's conditions say about the rows of its tables that matter to it.

    SELECT ... FROM o JOIN l ON l.order_id = o.id WHERE o.id = 5

demands of `o` the rows with id 5, and of `l` those with order_id 5. Without the last condition it demands of
`l` the rows whose order_id is the id of some row of `o`.

A row may be left out if it is in no row of the answer, and if no row of the answer appears because it is
gone. So a condition counts

- for all tables that it names, if it is in WHERE, or in ON of an inner join with no RIGHT or FULL join in the
  same FROM: each row of the answer meets it, and no row that an outer join has filled with NULLs does;
- for the joined table alone, if it is in ON of a LEFT join: other rows of it meet nobody.

Conditions are only equations, comparisons and BETWEEN; DuckDB still evaluates all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from engine.schema import INTEGERS, Kind, Schema, Type
from planner.adhoc.comparands import ColumnBound, ColumnEquation, bounds_of, equation_of
from planner.identifiers import fold

_PLAIN_KINDS = frozenset({"", "INNER", "CROSS", "OUTER"})
"""Joins that pair each row with each: whoever leaves out rows does not change what the others meet."""
_KEPT_LEFT = frozenset({"", "LEFT"})
"""Sides of joins that keep all rows of what stands before them."""
_DECIDING = ("sample", "pivots", "laterals", "match")
"""Parts of a FROM that depend on rows which a condition refuses later."""
_COMPARED_AS_WORDS = frozenset(
    {
        *INTEGERS,
        *(Kind.BOOLEAN, Kind.NUMERIC, Kind.DOUBLE, Kind.TEXT, Kind.UUID, Kind.BIT, Kind.ENUM),
        *(Kind.DATE, Kind.TIME, Kind.TIMETZ, Kind.TIMESTAMP, Kind.TIMESTAMPTZ),
    }
)
"""Kinds of which two values of one type are equal if their words are."""
_NO_NAMES: Mapping[int, str] = {}

Place = tuple[int, int]
"""A table of the FROM, and a column of it."""


@dataclass(frozen=True)
class ColumnLink:
    """`column` has the value that the column at `other` has in some row of the table `source`."""

    column: int
    source: object
    other: int


@dataclass(frozen=True)
class Demand:
    """The rows of a table that satisfy all of these matter; the others do not."""

    equations: tuple[ColumnEquation, ...] = ()
    bounds: tuple[ColumnBound, ...] = ()
    links: tuple[ColumnLink, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.equations or self.bounds or self.links)

    def named(self, names: Mapping[object, str]) -> Demand:
        """The demand with the `names` of its sources; links to others are left out."""
        links = (replace(link, source=names[link.source]) for link in self.links if link.source in names)
        return replace(self, links=tuple(links))


EVERYTHING = Demand()
"""All rows matter."""


def conjuncts(tree: exp.Expression) -> Iterator[exp.Expression]:
    """The conditions that are all true where a predicate is, and only there."""
    match tree:
        case exp.Case() if len(tree.args["ifs"]) == 1 and not (tree.this or tree.args.get("default")):
            (only,) = tree.args["ifs"]
            yield from conjuncts(only.this)
            yield from conjuncts(only.args["true"])
        case exp.Paren(this=inner):
            yield from conjuncts(inner)
        case exp.And(this=left, expression=right):
            yield from conjuncts(left)
            yield from conjuncts(right)
        case _:
            yield tree


def demands(query: exp.Expression, schemas: Mapping[int, Schema]) -> dict[int, Demand]:
    """The demands on tables, by the `id` of their nodes, which the `schemas` and the links' sources have."""
    found: dict[int, Demand] = {}
    for select in query.find_all(exp.Select):
        if select.args.get("from_") is not None and _is_plain(select):
            found.update(_Reader(select, schemas).demands())
    return found


def _is_plain(select: exp.Select) -> bool:
    return not _decides(select) and all(_pairs(join) for join in _joins(select))


def _decides(node: exp.Expr) -> bool:
    return any(node.args.get(part) for part in _DECIDING)


def _pairs(join: exp.Join) -> bool:
    return not join.args.get("method") and (join.args.get("kind") or "").upper() in _PLAIN_KINDS


def _joins(select: exp.Select) -> list[exp.Join]:
    """The joins of a FROM, and those that stand in parentheses in it."""
    joins = select.args.get("joins") or []
    return [*joins, *(join for source in _sources(select) for join in source.args.get("joins") or [])]


def _sources(select: exp.Select) -> list[exp.Expr]:
    return [select.args["from_"].this, *(join.this for join in select.args.get("joins") or [])]


class _Reader:
    """Reads the conditions of one SELECT."""

    def __init__(self, select: exp.Select, schemas: Mapping[int, Schema]) -> None:
        self.select = select
        self.sources = _sources(select)
        self.joins: Sequence[exp.Join] = select.args.get("joins") or []
        nested = any(source.args.get("joins") for source in self.sources)
        sides = {(join.args.get("side") or "").upper() for join in self.joins}
        self.keeps_left = not nested and sides <= _KEPT_LEFT
        self.tables = {i: schemas[id(s)] for i, s in enumerate(self.sources) if _is_table(s, schemas)}
        self.is_known = len(self.tables) == len(self.sources) and not nested
        aliases = [source.alias_or_name for source in self.sources]
        self.aliases = {alias: i for i, alias in enumerate(aliases) if aliases.count(alias) == 1}
        using = ((i, join.args.get("using") or ()) for i, join in enumerate(self.joins, 1))
        self.merged = {(i, fold(name)) for i, names in using for name in names if self.keeps_left}
        """Columns whose names mean, because of USING, a column of a table before."""
        self.takes: dict[Place, set[Place]] = {}
        self.equations: dict[Place, list[ColumnEquation]] = {}
        self.bounds: dict[Place, list[ColumnBound]] = {}

    def demands(self) -> dict[int, Demand]:
        where = self.select.args.get("where")
        if where is not None:
            self._read(where.this)
        for number, join in enumerate(self.joins if self.keeps_left else (), 1):
            alone = number if (join.args.get("side") or "").upper() == "LEFT" else None
            if join.args.get("on") is not None:
                self._read(join.args["on"], alone)
            for name in join.args.get("using") or ():
                self._merge(number, fold(name), alone)
        return {id(self.sources[table]): self._demand(table) for table in self.tables}

    def _read(self, predicate: exp.Expression, alone: int | None = None) -> None:
        """Notes what a predicate says, of the table `alone` if it is given."""
        for condition in conjuncts(predicate):
            equation = equation_of(condition, _NO_NAMES)
            place = None if equation is None else self._place(equation[0])
            if equation is not None:
                if place is not None and alone in (None, place[0]):
                    self.equations.setdefault(place, []).append(ColumnEquation(place[1], *equation[1:]))
                continue
            if isinstance(condition, exp.EQ):
                self._link(self._place(condition.this), self._place(condition.expression), alone)
            for column, term, is_upper in bounds_of(condition, _NO_NAMES):
                place = self._place(column)
                if place is not None and alone in (None, place[0]):
                    self.bounds.setdefault(place, []).append(ColumnBound(place[1], term, is_upper))

    def _merge(self, number: int, name: str, alone: int | None) -> None:
        """Notes that USING equates a column of a joined table with the first of its name before it."""
        if not self.is_known:
            return
        first = next((i for i in range(number) if name in self.tables[i].names), None)
        if first is not None and name in self.tables[number].names:
            left, right = self.tables[first].index(name), self.tables[number].index(name)
            self._link((first, left), (number, right), alone)

    def _link(self, left: Place | None, right: Place | None, alone: int | None) -> None:
        if left is None or right is None or left[0] == right[0]:
            return
        if not _are_alike(self._type(left), self._type(right)):
            return
        for place, other in ((left, right), (right, left)):
            if alone in (None, place[0]):
                self.takes.setdefault(place, set()).add(other)

    def _demand(self, table: int) -> Demand:
        equations, bounds, links = [], [], []
        for column in range(len(self.tables[table])):
            for place in self._equal_to((table, column)):
                equations += [replace(e, column=column) for e in self.equations.get(place, ())]
                bounds += [replace(b, column=column) for b in self.bounds.get(place, ())]
                if place[0] != table:
                    links.append(ColumnLink(column, id(self.sources[place[0]]), place[1]))
        return Demand(tuple(dict.fromkeys(equations)), tuple(dict.fromkeys(bounds)), tuple(links))

    def _equal_to(self, place: Place) -> list[Place]:
        """The place, and those whose values it takes, directly or through others."""
        found = [place]
        for each in found:
            found += sorted(self.takes.get(each, set()) - {*found})
        return found

    def _type(self, place: Place) -> Type:
        return self.tables[place[0]].types[place[1]]

    def _place(self, node: exp.Expr) -> Place | None:
        """The place that the name of a column means; None if it is not sure."""
        if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
            return None
        name, owner = fold(node.this), node.args.get("table")
        if node.args.get("db") is not None:
            return None
        if owner is not None:
            table = self.aliases.get(fold(owner))
            holders = [table] if table in self.tables and name in self.tables[table].names else []
        elif self.is_known:
            named = (i for i, schema in self.tables.items() if name in schema.names)
            holders = [i for i in named if (i, name) not in self.merged]
        else:
            holders = []
        return (holders[0], self.tables[holders[0]].index(name)) if len(holders) == 1 else None


def _is_table(source: exp.Expr, schemas: Mapping[int, Schema]) -> bool:
    """Whether a source is a table with its own columns, all of whose rows are there."""
    alias = source.args.get("alias")
    renames = isinstance(alias, exp.TableAlias) and bool(alias.args.get("columns"))
    return id(source) in schemas and not renames and not _decides(source)


def _are_alike(left: Type, right: Type) -> bool:
    """Whether two values of these types are equal if their words are, and only then."""
    if left.kind in INTEGERS and right.kind in INTEGERS:
        return True
    return left == right and left.kind in _COMPARED_AS_WORDS
