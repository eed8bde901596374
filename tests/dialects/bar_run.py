"""Maintains what a bar's entries ask, as views of their dialect, and judges the answers.

Expressions share views of many columns, because a view of each would take most of the time to plan. Every
query has its own. Tables are filled in two epochs, and the second also takes back a row that the first has
put in twice, so that the answers are those of maintained views.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from engine.codec.json import decode_rows, encode_rows
from engine.plan.nodes import Source
from engine.runtime.engine import Engine
from engine.schema import Kind, Schema, Type
from planner import PlannedQuery, PlannerError, Relation, plan_query
from planner.planning import may_leave_values, plan_pivot_lists
from planner.rewriting.open_pivots import PivotLists, lists_of
from planner.statements.statement_reader import parse_script
from planner.statements.statements import CreateTable
from tests.dialects.bar_cells import says, written
from tests.dialects.bar_file import ERROR, Bar, BarTable, Decision, Entry, Row

_TOGETHER = 50  # expressions in a view
FAILED_ROW = "row_error"


@dataclass(frozen=True)
class Given:
    """An answer: its columns and rows, or the `code` and `message` of an error instead."""

    schema: Schema | None
    rows: tuple[tuple[object, ...], ...]
    code: str = ""
    message: str = ""


@dataclass(frozen=True)
class Verdict:
    """`fault` says how the answer is not as the entry says; empty if it is."""

    entry: Entry
    given: Given
    fault: str


def verdicts(bar: Bar) -> Iterator[Verdict]:
    """Every entry of a bar, judged."""
    given = _Views(bar).given()
    for entry in bar.entries:
        yield Verdict(entry, given[entry.line], _fault(entry, given[entry.line], bar.truth))


def shown(given: Given, truth: tuple[str, str], is_query: bool) -> str:
    """An answer as a file has it behind `~>`, or the refusal's code and message."""
    if given.schema is None:
        return f"{given.code}: {given.message}"
    types = given.schema.types
    rows = [" | ".join(written(v, t, truth) for v, t in zip(row, types, strict=True)) for row in given.rows]
    if not is_query:
        return rows[0]
    head = " | ".join(f"{column.name} {column.type}" for column in given.schema.columns)
    return "\n".join([head, *(f"~> {row}" for row in sorted(rows))])


def _fault(entry: Entry, given: Given, truth: tuple[str, str]) -> str:
    is_right = _answers(entry.rows, entry.columns, given, truth)
    match entry.decision:
        case Decision.RIGHT:
            return "" if is_right else "it is not as the manual says"
        case _ if is_right:
            return "it is as the manual says: the decision is stale"
        case Decision.REFUSED:
            return "" if given.code == entry.code else f"it is not refused as {entry.code}"
    return "" if _answers(entry.ours, None, given, truth) else "it is not as the decision says"


def _answers(rows: tuple[Row, ...] | None, columns: Row | None, given: Given, truth: tuple[str, str]) -> bool:
    """Whether an answer has these columns, and these rows in any order."""
    if rows is None or given.schema is None:
        return rows is None and given.schema is None
    if columns is not None and not _are_columns(columns, given.schema):
        return False
    left = list(rows)
    for row in given.rows:
        found = next((cells for cells in left if _are_values(cells, row, given.schema.types, truth)), None)
        if found is None:
            return False
        left.remove(found)
    return not left


def _are_columns(columns: Row, schema: Schema) -> bool:
    """Whether the columns have these names, and types where one follows the name."""
    if len(columns) != len(schema):
        return False
    return all(
        text in (column.name, f"{column.name} {column.type}")
        for text, column in zip(columns, schema.columns, strict=True)
    )


def _are_values(cells: Row, row: tuple[object, ...], types: Sequence[Type], truth: tuple[str, str]) -> bool:
    return len(cells) == len(row) and all(
        says(cell, value, type, truth) for cell, value, type in zip(cells, row, types, strict=True)
    )


class _Views:
    """The views of a bar over its tables, in an engine of their own."""

    def __init__(self, bar: Bar) -> None:
        self._bar = bar
        self._engine = Engine()
        self._relations: dict[str, Relation] = {}
        self._rows: dict[str, list[tuple[object, ...]]] = {}
        self._epoch = 0
        for table in bar.tables:
            self._create(table)

    def _create(self, table: BarTable) -> None:
        (made,) = parse_script(table.statement, self._bar.dialect)
        assert isinstance(made, CreateTable), table.statement
        schema = made.columns
        self._engine.create_source(made.name, schema, None)
        self._relations[made.name] = Relation(made.name, schema, Source(made.name, schema), None)
        self._rows[made.name] = [
            tuple(_value(cell, type, self._bar.truth) for cell, type in zip(row, schema.types, strict=True))
            for row in table.rows
        ]

    def given(self) -> dict[int, Given]:
        """The answers by the lines of their entries."""
        queries = [entry for entry in self._bar.entries if entry.is_query]
        late = [entry for entry in queries if may_leave_values(entry.sql)]  # to the rows that there are
        made = {e.line: self._create_view(f"q{e.line}", e.sql) for e in queries if e not in late}
        self._fill()
        made |= {entry.line: self._create_view(f"q{entry.line}", entry.sql) for entry in late}
        found = {line: self._read(f"q{line}") if view is None else view for line, view in made.items()}
        alone = [e for e in self._bar.entries if not e.is_query and _is_alone(e)]
        shared = [e for e in self._bar.entries if not e.is_query and not _is_alone(e)]
        for start in range(0, len(shared), _TOGETHER):
            found |= self._together(shared[start : start + _TOGETHER])
        for entry in alone:
            found |= self._together([entry])
        return found

    def _create_view(self, name: str, sql: str) -> Given | None:
        """Maintains a query. Returns what refuses it, or None."""
        try:
            of = (self._relations, self._bar.dialect)
            planned: PlannedQuery = plan_query(sql, *of, named=True, lists=self._lists(f"{name} lists", sql))
        except PlannerError as error:
            return Given(None, (), error.code, error.message)
        self._engine.create_view(name, planned.plan)
        return None

    def _lists(self, name: str, sql: str) -> PivotLists:
        """The values that a query leaves to the rows."""
        found = plan_pivot_lists(sql, self._relations, self._bar.dialect) if may_leave_values(sql) else None
        if found is None:
            return ()
        planned, keys = found
        self._engine.create_view(name, planned.plan)
        return lists_of(self._read(name).rows, keys)  # type: ignore[arg-type]

    def _fill(self) -> None:
        """All rows in two epochs; the last row of each table is once too many in the first one."""
        for part in (0, 1):
            self._epoch += 1
            staged = {}
            for name, rows in self._rows.items():
                mine = rows[part::2] + rows[-1:]
                counts = [1] * (len(mine) - 1) + [1 if part == 0 else -1]
                if rows:
                    staged[name] = self._words(name, mine, counts)
            self._engine.stage(staged, self._epoch + 1).publish()

    def _words(self, name: str, rows: list[tuple[object, ...]], counts: list[int]) -> np.ndarray:
        """The rows with their counts at this epoch; documents have no hash, so no Counter can have them."""
        words = encode_rows(rows, self._relations[name].schema, self._engine.dictionary)
        times = np.array([[self._epoch] * len(rows), counts], np.int64)
        return np.ascontiguousarray(np.concatenate([words, times]))

    def _read(self, name: str) -> Given:
        snapshot = self._engine.snapshot
        if (reason := snapshot.failure(name)) is not None:
            return Given(None, (), "view_failed", str(reason))
        if errors := snapshot.errors(name, self._epoch):
            return Given(None, (), FAILED_ROW, str(errors))
        words, counts = snapshot.rows(name, self._epoch)
        schema = snapshot.schema(name)
        rows = decode_rows(words, schema, self._engine.dictionary)
        repeated = [row for row, count in zip(rows, counts.tolist(), strict=True) for _ in range(count)]
        return Given(schema, tuple(repeated))

    def _together(self, entries: Sequence[Entry]) -> dict[int, Given]:
        """The answers of expressions; of a half of them each, if they fail together."""
        items = ", ".join(f"{entry.sql} AS v{number}" for number, entry in enumerate(entries))
        name = f"e{entries[0].line}_{len(entries)}"
        given = self._create_view(name, f"SELECT {items}") or self._read(name)
        if given.schema is not None and len(given.rows) == 1:
            return {
                entry.line: Given(Schema((column,)), ((value,),))
                for entry, column, value in zip(entries, given.schema.columns, given.rows[0], strict=True)
            }
        if len(entries) == 1:
            return {entries[0].line: given}
        middle = len(entries) // 2
        return self._together(entries[:middle]) | self._together(entries[middle:])


def _is_alone(entry: Entry) -> bool:
    """Whether the expression is expected to fail, and would take others with it."""
    return entry.decision is Decision.REFUSED or ERROR in (entry.rows or (ERROR,)) or entry.ours is None


def _value(cell: str, type: Type, truth: tuple[str, str]) -> object:
    """The JSON value that a table's cell means."""
    if cell == "NULL":
        return None
    if cell.startswith("'") and cell.endswith("'"):
        cell = cell[1:-1].replace("''", "'")
    if type.kind is Kind.BOOLEAN:
        return cell.lower() == truth[0].lower()
    if type.is_integer or type.kind in (Kind.JSON, Kind.ARRAY):
        return json.loads(cell)
    return float(cell) if type.is_float else cell
