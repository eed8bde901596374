"""Point queries: a SELECT of one relation that equates columns with values, ready to run many times.

Its rows are found by a lookup, so all that is left is a function of each row: its columns, its other
conditions and its sort keys are expressions, planned as a view's are. A parameter is a column of the row in
them. What has no such form is no point query, and DuckDB answers it; so does DuckDB if a value does not fit
its parameter's type exactly, or an expression fails. So a point query says nothing about errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from engine.plan.expressions import Expression
from engine.schema import BOOLEAN, Column, Kind, Schema, Type
from planner.adhoc.adhoc_query import named
from planner.adhoc.comparands import NAMES, ColumnEquation, Comparand, comparand_of, equation_of
from planner.adhoc.demanded_rows import conjuncts
from planner.adhoc.from_clauses import Known, Relations
from planner.adhoc.row_scope import RowScope
from planner.errors import PlannerError
from planner.identifiers import fold, relation_name
from planner.parsing.parameters import name_columns, names_of
from planner.relation_names import own_name
from planner.sql_types import UNTYPED

_PARTS = frozenset({"expressions", "from_", "where", "order", "limit", "offset", "kind"})
"""Parts that the SELECT of a point query may have."""
_TABLE_PARTS = frozenset({"this", "alias", "db", "catalog"})
_BEYOND = (exp.Query, exp.AggFunc, exp.Window, exp.UDTF, exp.SessionParameter, exp.Collate, exp.Lambda)


@dataclass(frozen=True)
class SortKey:
    """`place` is that of the key among the expressions."""

    place: int
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class PointQuery:
    """The rows of `relation` that satisfy all `equations`.

    `expressions` are over the relation's columns and then those of `parameters`. First come the columns of
    the answer, which `schema` describes; then the condition, if there `is_condition`; then the sort keys.
    `types` are those of all parameters, as far as their places tell.
    """

    relation: str
    equations: tuple[ColumnEquation, ...]
    schema: Schema
    expressions: tuple[Expression, ...]
    parameters: tuple[tuple[str, Type], ...]
    types: Mapping[str, Type]
    is_condition: bool
    keys: tuple[SortKey, ...]
    limit: Comparand | None
    offset: Comparand | None


def point_query(
    tree: exp.Expression, relations: Relations, dialect: str, declared: Mapping[str, Type]
) -> PointQuery | None:
    """The point query of a statement without values for its parameters; None if it is none. Changes the tree.

    `declared` are the types that come with values.
    """
    if not isinstance(tree, exp.Select) or not _is_simple(tree):
        return None
    table = tree.args["from_"].this
    try:
        known = relations.get(relation_name(table))
        if known is None or known.period is not None:
            return None
        return _Reader(tree, table, known, dialect, declared).query()
    except PlannerError:
        return None


def _is_simple(select: exp.Select) -> bool:
    """Whether a SELECT takes rows of one table as they are, by a condition."""
    from_, where = select.args.get("from_"), select.args.get("where")
    if from_ is None or where is None or any(v and part not in _PARTS for part, v in select.args.items()):
        return False
    table = from_.this
    plain = isinstance(table, exp.Table) and isinstance(table.this, exp.Identifier)
    if not plain or any(v and part not in _TABLE_PARTS for part, v in table.args.items()):
        return False
    alias = table.args.get("alias")
    if select.args.get("kind") or (alias is not None and alias.args.get("columns")):
        return False
    return not any(node is not select and isinstance(node, _BEYOND) for node in select.walk())


class _Reader:
    """Reads one SELECT."""

    def __init__(
        self, select: exp.Select, table: exp.Table, known: Known, dialect: str, declared: Mapping[str, Type]
    ) -> None:
        self.select, self.declared = select, declared
        self.columns = known.schema
        name = relation_name(table)
        alias = fold(table.args["alias"].this) if table.args.get("alias") else own_name(name)
        name_columns(select)
        self.names = names_of(select)
        self.row = RowScope(name, alias, known.schema, self.names, declared, dialect)
        self.types: dict[str, Type] = {}

    def query(self) -> PointQuery | None:
        equations, rest = self._conditions()
        outputs = self._outputs()
        keys = self._keys(outputs or [])
        limits = [self._limit(part) for part in ("limit", "offset")]
        if not equations or outputs is None or keys is None or not all(ok for ok, _ in limits):
            return None
        condition = [exp.and_(*rest, copy=False)] if rest else []
        items: list[exp.Expr] = [*(item for _, item in outputs), *condition, *(key for key, _ in keys)]
        parameters = self.row.parameters(items)
        if parameters is None:
            return None
        planned = self.row.planned(items, parameters)
        if planned is None:
            return None
        expressions, types = planned
        shown = [Column(name, type) for (name, _), type in zip(outputs, types, strict=False)]
        if (condition and types[len(shown)] != BOOLEAN) or UNTYPED in types:
            return None
        first = len(shown) + len(condition)
        sorts = (SortKey(first + place, *how) for place, (_, how) in enumerate(keys))
        (_, limit), (_, offset) = limits
        return PointQuery(
            self.row.name,
            tuple(equations),
            Schema(tuple(shown)),
            expressions,
            tuple(parameters.items()),
            {**self.types, **parameters},
            bool(condition),
            tuple(sorts),
            limit,
            offset,
        )

    # The parts of the SELECT

    def _conditions(self) -> tuple[list[ColumnEquation], list[exp.Expression]]:
        """What the condition equates, each column once, and its other parts."""
        equations: dict[int, ColumnEquation] = {}
        rest: list[exp.Expression] = []
        for condition in conjuncts(self.select.args["where"].this):
            found = equation_of(condition, self.names)
            place = None if found is None else self.row.place(found[0])
            if found is None or place is None or place in equations:
                rest.append(condition)
                continue
            equation = equations[place] = ColumnEquation(place, *found[1:])
            for name in equation.arguments:
                self.types.setdefault(name, self.declared.get(name, self.columns.types[place]))
        return list(equations.values()), rest

    def _outputs(self) -> list[tuple[str, exp.Expression]] | None:
        """The columns of the answer by name; None if one of them is more than an expression."""
        found: list[tuple[str, exp.Expression]] = []
        labels = any(type.kind is Kind.ENUM for type in self.columns.types)
        for item in self.select.expressions:
            if item.is_star:
                star = item.this if isinstance(item, exp.Column) else item
                owner = item.args.get("table") if isinstance(item, exp.Column) else None
                if any(star.args.values()) or (owner is not None and fold(owner) != self.row.alias):
                    return None
                found += [
                    (name, exp.column(exp.to_identifier(name, quoted=True))) for name in self.columns.names
                ]
                continue
            for identifier in item.find_all(exp.Identifier):
                identifier.set("this", fold(identifier))
            inner = item.this if isinstance(item, exp.Alias) else item
            if isinstance(item, exp.Aliases) or (labels and not isinstance(inner, exp.Column)):
                return None
            found.append((named(item.copy()).alias_or_name, inner))
        return found

    def _keys(
        self, outputs: list[tuple[str, exp.Expression]]
    ) -> list[tuple[exp.Expression, tuple[bool, bool]]] | None:
        """The sort keys, each with whether it descends and whether NULLs come first."""
        found = []
        order = self.select.args.get("order")
        for key in order.expressions if order is not None else ():
            tree = key.this
            if key.args.get("with_fill") or isinstance(tree, NAMES):
                return None
            if isinstance(tree, exp.Literal):
                if not tree.this.isdecimal() or not 1 <= int(tree.this) <= len(outputs):
                    return None
                tree = outputs[int(tree.this) - 1][1]
            elif isinstance(tree, exp.Column) and not tree.table:
                name = fold(tree.this)
                tree = next((item for other, item in outputs if other == name), tree)
            found.append((tree, (bool(key.args.get("desc")), bool(key.args.get("nulls_first")))))
        return found

    def _limit(self, part: str) -> tuple[bool, Comparand | None]:
        """Whether a point query can have this LIMIT or OFFSET, and its number."""
        clause = self.select.args.get(part)
        if clause is None:
            return True, None
        term = None
        if isinstance(clause, exp.Limit | exp.Offset) and not clause.args.get("limit_options"):
            term = comparand_of(clause.expression, self.names)
        return term is not None and term.is_plain, term
