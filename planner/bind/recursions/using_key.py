"""USING KEY of DuckDB: a recursion keeps one row for each key, made from the kept row and a round's new rows.

    USING KEY (k)           the new row replaces the kept one; the new rows of a round must be unique by key
    USING KEY (k, min(v))   the least value so far; MAX and SUM likewise, for every column besides the keys

Where several new rows have one key, DuckDB keeps the last that it comes across, which is not determined.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from engine.schema import Type
from planner.bind.refuse import refuse_unsupported
from planner.bind.session import Bound
from planner.bind.working_loop import Sides
from planner.bind.working_table import is_set
from planner.errors import InvalidQuery, Unsupported
from planner.identifiers import column_name
from planner.ir.unique import is_unique, unique_keys
from planner.positions import fail, refuse

KEPT, NEW = "__kept", "__new"
"""The names of the rows that are kept, and of those of the round, in the query of `KeyedRows`."""
_AGGREGATES = (exp.Min, exp.Max, exp.Sum)


@dataclass(frozen=True)
class KeyedRows:
    """The columns of a recursive name with their types, its keys, and the aggregates of the others."""

    columns: Mapping[str, Type]
    keys: tuple[str, ...]
    aggregates: Mapping[str, type[exp.AggFunc]]

    def query(self) -> exp.Expression:
        """The rows to keep after a round, over KEPT and NEW."""
        return self._aggregated() if self.aggregates else self._replaced()

    def _aggregated(self) -> exp.Expression:
        items: list[exp.Expr] = []
        for name, kind in self.columns.items():
            value: exp.Expr = _column(name)
            if name in self.aggregates:
                to = exp.DataType.build(str(kind), dialect="postgres")
                value = exp.Cast(this=self.aggregates[name](this=value), to=to)
            items.append(exp.alias_(value, name, quoted=True))
        both = exp.union(*(self._rows(name) for name in (KEPT, NEW)), distinct=False)
        return exp.select(*items).from_(both.subquery(NEW)).group_by(*map(_column, self.keys))

    def _replaced(self) -> exp.Expression:
        same = (exp.NullSafeEQ(this=_column(key, NEW), expression=_column(key, KEPT)) for key in self.keys)
        newer = exp.Exists(this=exp.select("1").from_(NEW).where(*same))
        # UNION as a set: what has come and gone must cancel out before it goes round again.
        return exp.union(self._rows(NEW), self._rows(KEPT).where(exp.Not(this=newer)))

    def _rows(self, table: str) -> exp.Select:
        return exp.select(*(_column(name, table) for name in self.columns)).from_(table)


def keyed_rows(cte: exp.CTE, columns: Mapping[str, Type]) -> KeyedRows:
    """What a recursive name with USING KEY keeps. Raises InvalidQuery or Unsupported at the clause."""
    keys, aggregates = [], {}
    for part in cte.args["key_expressions"]:
        node = part.unalias()
        if isinstance(node, exp.Func):
            if not isinstance(node, _AGGREGATES) or not isinstance(node.this, exp.Column):
                refuse_unsupported(
                    f"USING KEY with {node.sql('duckdb')}", part, "use min, max or sum of a column"
                )
            aggregates[part.alias.lower() if part.alias else column_name(node.this)] = type(node)
        else:
            keys.append(column_name(node))
    place = cte.args["alias"]
    for name in (*keys, *aggregates):
        if name not in columns:
            fail(InvalidQuery(f'"{name}" of USING KEY is no column of "{cte.alias}"'), place)
    if not keys or keys.count(keys[0]) > 1:
        fail(InvalidQuery("USING KEY needs at least one key"), place)
    if not is_set(cte):
        error = Unsupported("USING KEY with UNION ALL is not supported", "write UNION")
        fail(error, place)
    if aggregates and len(set(keys) | set(aggregates)) < len(columns):
        hint = "give each column besides the keys an aggregate, or none"
        refuse(place, "USING KEY with aggregates of some columns is not supported", hint)
    return KeyedRows(columns, tuple(keys), aggregates)


def check_unique(cte: exp.CTE, rows: KeyedRows, sides: Sides) -> None:
    """Raise Unsupported unless each round has at most one new row for a key, or aggregates combine them."""
    if rows.aggregates:
        return
    places = [place for place, name in enumerate(rows.columns) if name in rows.keys]
    for side, word in ((sides.base, "base"), (sides.step, "step")):
        if not _is_unique(side, places):
            error = Unsupported(
                f'USING KEY is not supported where the {word} of "{cte.alias}" may have several rows for a '
                "key: which of them stays is not determined",
                "GROUP BY the key in it, or write aggregates: USING KEY (k, min(v))",
            )
            fail(error, cte.args["alias"])


def _is_unique(side: Bound, places: list[int]) -> bool:
    return is_unique(unique_keys(side.operator), frozenset(side.columns[place].id for place in places))


def _column(name: str, table: str = "") -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table or None)
