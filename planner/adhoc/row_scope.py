"""A row of one relation with the values of parameters: what expressions of a point query are planned over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from engine.plan.expressions import Expression
from engine.plan.nodes import Source
from engine.schema import Column, Schema, Type
from planner.adhoc.rowwise import columns_over
from planner.identifiers import fold, relation_node
from planner.planning import plan_query
from planner.relation import Relation
from planner.sql_types import data_type

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In)
_PARAMETER = "\0parameter"
"""Begins the name of a parameter's column. Nobody can write such a name."""


@dataclass(frozen=True)
class RowScope:
    """The relation `name`, which the query calls `alias`, and the parameters of the query.

    Their `names` are by the `id` of their nodes; some have `declared` types.
    """

    name: str
    alias: str
    columns: Schema
    names: Mapping[int, str]
    declared: Mapping[str, Type]
    dialect: str

    def place(self, column: exp.Column) -> int | None:
        """The place of the column that a node names; None if it is none of the relation's."""
        owner = column.args.get("table")
        named = isinstance(column.this, exp.Identifier) and column.args.get("db") is None
        if not named or (owner is not None and fold(owner) != self.alias):
            return None
        name = fold(column.this)
        return self.columns.index(name) if name in self.columns.names else None

    def parameters(self, items: Sequence[exp.Expr]) -> dict[str, Type] | None:
        """The types of the parameters in expressions; None if the type of one is not clear."""
        found: dict[str, Type] = {}
        for item in items:
            for node in item.find_all(exp.Parameter, exp.Placeholder):
                name = self.names[id(node)]
                type = self.declared.get(name) or self._wanted(node)
                if type is None or found.setdefault(name, type) != type:
                    return None
        return found

    def _wanted(self, node: exp.Expr) -> Type | None:
        """The type that the place of a parameter tells: of a cast, or of the column that it is compared
        with."""
        kind = node.args.get("kind")
        if isinstance(kind, exp.DataType):
            return data_type(kind)
        parent = node.parent
        while isinstance(parent, exp.Paren | exp.Neg):
            parent = parent.parent
        if isinstance(parent, exp.Cast):
            return data_type(parent.args["to"])
        if not isinstance(parent, _COMPARISONS):
            return None
        columns = [
            side for side in (parent.this, parent.args.get("expression")) if isinstance(side, exp.Column)
        ]
        place = self.place(columns[0]) if len(columns) == 1 else None
        return None if place is None else self.columns.types[place]

    def planned(
        self, items: Sequence[exp.Expr], parameters: Mapping[str, Type]
    ) -> tuple[tuple[Expression, ...], tuple[Type, ...]] | None:
        """The items as expressions over the relation's columns and the parameters, with their types."""
        given = tuple(Column(_PARAMETER + name, type) for name, type in parameters.items())
        schema = Schema((*self.columns.columns, *given))
        relation = Relation(self.name, schema, Source(self.name, schema))
        table = relation_node(self.name)
        table.set("alias", exp.TableAlias(this=exp.to_identifier(self.alias, quoted=True)))
        columns = [exp.alias_(self._filled(item), f"c{i}") for i, item in enumerate(items)]
        select = exp.Select(expressions=columns).from_(table, copy=False)
        planned = plan_query(select, {self.name: relation}, self.dialect)
        expressions = columns_over(planned.plan, relation.plan)
        return None if expressions is None else (expressions, planned.schema.types)

    def _filled(self, item: exp.Expr) -> exp.Expr:
        """A copy of an expression in which parameters are columns."""

        def filled(node: exp.Expr) -> exp.Expr:
            if not isinstance(node, exp.Parameter | exp.Placeholder):
                return node
            return exp.column(exp.to_identifier(_PARAMETER + names[id(node)], quoted=True))

        copied = item.copy()
        pairs = zip(item.walk(), copied.walk(), strict=True)
        names = {id(new): self.names[id(old)] for old, new in pairs if id(old) in self.names}
        return copied.transform(filled, copy=False)
