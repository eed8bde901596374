"""Resolves names to columns: the tables of a FROM clause, and the scopes around it.

Names compare without case, as in DuckDB. An unqualified name means a column of `*`, where USING and NATURAL
have merged columns of two tables; a qualified name means a column of that table. Columns keep their numbers
through joins, so a scope can outlive the operators that it was made for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from engine.schema import Kind, Type
from planner.errors import AmbiguousColumn, UnknownColumn, UnknownTable
from planner.identifiers import fold, parts_of, schema_name
from planner.ir import Attribute
from planner.native.row_names import stands_for_row
from planner.positions import fail
from planner.relation import Catalog
from planner.relation_names import full_name
from planner.suggestions import did_you_mean, of_columns, perhaps_text, visible


@dataclass(frozen=True)
class FromTable:
    """A table of a FROM clause: its name there, and its columns. `whole` is the column that the name means as
    a value: the struct whose fields the columns are."""

    alias: str
    columns: tuple[Attribute, ...]
    whole: Attribute | None = None


@dataclass(frozen=True)
class NameScope:
    """The visible tables, and the columns of `*` in order. `aliases` are the select list's names; columns
    take precedence over them."""

    tables: tuple[FromTable, ...] = ()
    star: tuple[Attribute, ...] = ()
    outer: NameScope | None = None
    aliases: Mapping[str, exp.Expression] = field(default_factory=dict)

    @classmethod
    def of(cls, table: FromTable, outer: NameScope | None = None) -> NameScope:
        """The scope of one table."""
        return cls((table,), table.columns, outer)

    def ids(self) -> frozenset[int]:
        """The numbers of the columns of this scope, without outer scopes."""
        columns = (column for table in self.tables for column in table.columns)
        return frozenset(column.id for column in (*columns, *self.star))

    def table(self, node: exp.Column) -> FromTable:
        """The table that qualifies `node`. Raises UnknownTable if there is none."""
        return next(
            (
                table
                for scope in self.chain()
                for table in scope.tables
                if table.alias.lower() == node.table.lower()
            ),
            None,
        ) or self._fail(node)

    def _fail(self, node: exp.Column) -> FromTable:
        fail(self._no_table(node), node)

    def chain(self) -> list[NameScope]:
        """This scope and those around it, the nearest first."""
        return [self, *(self.outer.chain() if self.outer else [])]

    def local(self, node: exp.Column) -> Attribute | None:
        """The column of this scope, without outer scopes, that `node` names, or None. Raises
        AmbiguousColumn."""
        name = node.name
        if stands_for_row(node) and (column := _called(node.args["table"], self.star)):
            return column[0]
        if node.table:
            qualified = [t for t in self.tables if t.alias.lower() == node.table.lower()]
            found = [column for table in qualified for column in _called(node.this, table.columns)]
            if qualified and not found and self.path(node) is None:
                hint = _near(name, qualified, _visible(qualified))
                fail(UnknownColumn(f'table "{node.table}" has no column "{name}"', hint), node)
        else:
            found = _called(node.this, self.star) or [
                t.whole for t in self._named(node) if t.whole is not None
            ]
        if len(found) > 1:
            owners = [t.alias for t in self.tables if _called(node.this, t.columns)]
            hint = (
                f"write one of {', '.join(f'{owner}.{name}' for owner in owners)}" if len(owners) > 1 else ""
            )
            fail(AmbiguousColumn(f'column "{name}" is ambiguous', hint), node)
        return found[0] if found else None

    def path(self, node: exp.Column) -> tuple[Attribute, list[exp.Identifier]] | None:
        """The struct of this scope in which a dotted name finds a field, and the names of the fields, outer
        ones first; None if there is none."""
        found = (each for each in self._beginnings(parts_of(node)) if each[1])
        return next(((column, names) for column, names in found if _part(column.type, names[:1])), None)

    def row(self, node: exp.Column) -> FromTable | None:
        """The table, here or in a scope around, whose rows a name without a table means; None for others."""
        return None if node.table else next((t for s in self.chain() for t in s._named(node)), None)

    def _named(self, node: exp.Column) -> list[FromTable]:
        """The tables of this scope with the name of a column."""
        return [table for table in self.tables if table.alias.lower() == node.name.lower()]

    def struct(self, names: list[exp.Identifier]) -> Type | None:
        """The struct that a dotted name means, here or in a scope around; None if there is none."""
        found = (_part(column.type, rest) for s in self.chain() for column, rest in s._beginnings(names))
        return next((type for type in found if type is not None and type.kind is Kind.STRUCT), None)

    def _beginnings(self, names: list[exp.Identifier]) -> Iterator[tuple[Attribute, list[exp.Identifier]]]:
        """The columns that the beginning of a dotted name can mean, and the names after it."""
        for table in self.tables:
            if len(names) > 1 and table.alias.lower() == names[0].name.lower():
                yield from ((column, names[2:]) for column in _called(names[1], table.columns))
        yield from ((column, names[1:]) for column in _called(names[0], self.star))

    def is_table(self, name: str) -> bool:
        """Whether a table, here or in a scope around, has the name."""
        return any(table.alias.lower() == name.lower() for scope in self.chain() for table in scope.tables)

    def missing(self, node: exp.Column, catalog: Catalog) -> UnknownColumn | UnknownTable:
        """The error for a name that no scope knows; the hint may name a relation of the catalog that has
        it."""
        tables = [table for scope in self.chain() for table in scope.tables]
        if node.table:
            return self._no_table(node, catalog)
        name = node.name.lower()
        owners = [r.name for r in catalog.values() if name in map(str.lower, r.schema.names)]
        otherwise = perhaps_text(node.name, _visible(tables))
        if owners:
            otherwise = f'column "{node.name}" is in {" and ".join(sorted(owners)[:2])}, not in FROM'
        return UnknownColumn(f'unknown column "{node.name}"', _near(node.name, tables, otherwise))

    def _no_table(self, node: exp.Column, catalog: Catalog | None = None) -> UnknownTable:
        schema = schema_name(node)
        if schema is not None:
            meant = full_name(schema, fold(node.args["table"]))
            return UnknownTable(f'no table "{meant}" is visible here', "name the table in FROM")
        names = [table.alias for scope in self.chain() for table in scope.tables if table.alias]
        hint = f"visible are {', '.join(names)}" if names else ""
        if catalog is not None and node.table.lower() in catalog:
            hint = f'"{node.table}" is not in FROM'
        return UnknownTable(f'no table "{node.table}" is visible here', did_you_mean(node.table, names, hint))


def _part(type: Type, names: list[exp.Identifier]) -> Type | None:
    """The type of the field of a field of a struct; None if there is none."""
    for name in names:
        fields = (field for field in type.fields if field.name.lower() == name.name.lower())
        field = next(fields, None) if type.kind is Kind.STRUCT else None
        if field is None:
            return None
        type = field.type
    return type


def _called(identifier: exp.Identifier, columns: Iterable[Attribute]) -> list[Attribute]:
    """The columns with exactly this name; if there are none, those that differ in case only."""
    alike = [column for column in columns if column.name.lower() == identifier.this.lower()]
    return [column for column in alike if column.name == fold(identifier)] or alike


def _visible(tables: list[FromTable]) -> str:
    """A hint with the columns of the tables."""
    return visible(column.name for table in tables for column in table.columns)


def _near(name: str, tables: list[FromTable], otherwise: str) -> str:
    """A hint with the columns whose names are nearest, or another."""
    named = ((table.alias, (column.name for column in table.columns)) for table in tables)
    return of_columns(name, named, otherwise)
