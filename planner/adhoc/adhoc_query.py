"""Ad-hoc queries as DuckDB text over named snapshots.

Each table or view in a query becomes a reference to a snapshot: of the version or time that the query names
(`FROM v VERSION AS OF 12`), or of the newest state. A CTE hides a relation of the same name. The text that
results names snapshots only, so it reads nothing else. Table functions stay, so the connection that runs the
text must not be able to open files.

Names are folded as in the catalog. This module checks only the relations of a query; DuckDB binds the rest.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from sqlglot import exp
from sqlglot.errors import ErrorLevel

from engine.schema import Schema
from planner.adhoc.aggregate_names import with_known_aggregates
from planner.adhoc.array_sums import with_array_sums
from planner.adhoc.averaged_dates import with_averaged_dates
from planner.adhoc.clock_truncation import with_clock_truncation
from planner.adhoc.column_types import types_by_name
from planner.adhoc.compared_texts import with_texts_of_columns
from planner.adhoc.counted_results import with_counted_results
from planner.adhoc.demanded_rows import EVERYTHING, Demand, demands
from planner.adhoc.from_clauses import Relations, with_plain_names, with_plain_rows
from planner.adhoc.kinds_apart import check_kinds
from planner.adhoc.pivot_lists import PivotList, with_pivot_lists
from planner.adhoc.recursive_queries import check_recursion
from planner.adhoc.relation_functions import RelationCall, take_call, with_relation_calls
from planner.adhoc.summed_intervals import with_summed_intervals
from planner.adhoc.tied_limits import with_tied_limits
from planner.adhoc.untyped_literals import with_typed_texts
from planner.adhoc.valid_time_reads import with_valid_times
from planner.adhoc.visible_ctes import tables_with_ctes
from planner.allowed.open_functions import IN_QUERIES
from planner.dialects import Told, in_duckdb
from planner.dialects.as_written import written_in
from planner.dialects.other_systems import written_here
from planner.errors import InvalidQuery, UnknownTable
from planner.identifiers import fold, relation_name
from planner.limits import count_relation
from planner.native.templates import with_native_items
from planner.positions import Places, fail, refuse
from planner.relation_names import own_name, shown_name
from planner.rewriting.closed_windows import watermark_of, with_delays
from planner.rewriting.window_clauses import with_times
from planner.suggestions import did_you_mean

_CALLS = {
    exp.CurrentDate: "today",
    exp.CurrentTimestamp: "get_current_timestamp",
    exp.Localtimestamp: "current_localtimestamp",
}
"""DuckDB's functions for names of the time, which DuckDB would otherwise read as columns of these names."""
_EPOCH = re.compile("[0-9]{1,19}")
_NAMED = (exp.Alias, exp.Aliases, exp.Column, exp.Columns, exp.PropertyEQ)


@dataclass(frozen=True)
class SnapshotReference:
    """`alias` stands in the text for `relation` at an epoch (`version`) or at a time (`timestamp`, aware).

    With neither, the reference is to the newest state. If `row` is given, the snapshot has each distinct row
    once, behind a first column called `row` that holds the row's place. Only rows that are `demanded` matter;
    the sources of its links are aliases.
    """

    alias: str
    relation: str
    version: int | None = None
    timestamp: datetime | None = None
    row: str | None = None
    demanded: Demand = field(default=EVERYTHING, compare=False)
    call: RelationCall | None = None
    """A function of the relation, whose rows it shows in place of the relation's own."""


@dataclass(frozen=True)
class AdhocQuery:
    """`sql` is DuckDB's; `integer_division` says whether its `/` of two integers gives an integer.

    `columns` are the lower-case names of all columns that the query can read; None means every column.
    `names` maps each lower-case name to its places in the user's text, in order. `zone` is DuckDB's name of
    the time zone by whose clock moments are read and written. The `lists` are made before the query runs.
    A query that `is_recursive` reads its tables again in each round.
    `instead` says of functions that other systems have what to write.
    """

    sql: str
    references: tuple[SnapshotReference, ...]
    integer_division: bool = False
    columns: frozenset[str] | None = None
    names: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    zone: str = "UTC"
    lists: tuple[PivotList, ...] = ()
    is_recursive: bool = False
    instead: Mapping[str, str] = field(default_factory=dict, compare=False)

    def place(self, offset: int) -> tuple[int | None, int | None]:
        """The line and column in the user's text of the name at `offset` of `sql`; None twice if there is
        none. Like DuckDB, the offset counts bytes of UTF-8."""
        if not self.sql.isascii():
            offset = len(self.sql.encode()[:offset].decode(errors="ignore"))
        name = re.match(r"\w+", self.sql[offset:].lstrip('"'))
        if name is None:
            return None, None
        before = len(re.findall(rf"(?i)(?<!\w){name[0]}(?![\w#])", self.sql[:offset]))
        places = self.names.get(name[0].lower(), ())
        return places[before] if before < len(places) else (None, None)


@dataclass(frozen=True)
class ChangeTarget:
    """The table node of an UPDATE or DELETE, and `row`, the column that tells its rows apart.

    With `whole`, all rows have their places, whatever the query says about them.
    """

    node: exp.Table
    row: str
    whole: bool = True


def adhoc_query(
    query: exp.Expression, relations: Relations, target: ChangeTarget | None = None
) -> AdhocQuery:
    """Return the query over snapshots of `relations`; change the tree.

    Raise UnknownTable, InvalidQuery or Unsupported, with its place, for a relation that cannot be read, and
    TooManyRelations.
    """
    for place in query.find_all(exp.Table, exp.CTE):
        count_relation(place)
    dialect = written_in(query)
    check_recursion(query, dialect)
    query = with_tied_limits(query)
    with_valid_times(query, relations, None if target is None else target.node)
    with_relation_calls(query)
    check_kinds(query, relations, dialect)
    with_typed_texts(query, relations, dialect, None if target is None else target.row)
    with_times(query, relations)
    with_delays(query, lambda name: watermark_of(relations.get(name)))
    instead = _instead(query, dialect)
    types = types_by_name(query, relations)
    with_summed_intervals(query, types, dialect)
    with_averaged_dates(query, types)
    with_native_items(query)
    names = _places(query)
    with_plain_names(query, relations, dialect)
    with_plain_rows(query, dialect)
    with_texts_of_columns(query, types, dialect)
    with_array_sums(query, types, dialect)
    query = in_plain_duckdb(query)
    columns = _columns(query)
    divides = any(division.args.get("typed") for division in query.find_all(exp.Div))
    references = _references(query, relations, target)
    lists = with_pivot_lists(query)
    text = query.sql("duckdb", comments=False)
    recursive = any(with_.args.get("recursive") for with_ in query.find_all(exp.With))
    return AdhocQuery(
        text, references, divides, columns, names, lists=lists, is_recursive=recursive, instead=instead
    )


def _instead(query: exp.Expression, dialect: str) -> dict[str, str]:
    """What to write for the functions that another system has."""
    names = {node.name.lower(): node for node in query.find_all(exp.Anonymous)}
    found = {
        name: written_here(node, name, dialect) for name, node in names.items() if name not in IN_QUERIES
    }
    return {name: hint for name, hint in found.items() if hint}


def in_plain_duckdb(query: exp.Expression, told: Told | None = None) -> exp.Expression:
    """The query in DuckDB's SQL, with folded names and a name for each column; changes the tree. `told` is
    that of `in_duckdb`."""
    for identifier in query.find_all(exp.Identifier):
        identifier.set("this", fold(identifier))
    for select in query.find_all(exp.Select):
        select.set("expressions", [named(column) for column in select.expressions])
    for node in list(query.find_all(*_CALLS)):
        if not node.this:
            node.replace(exp.Anonymous(this=_CALLS[type(node)]))
    with_known_aggregates(query)
    query = in_duckdb(query, told)
    with_clock_truncation(query)
    with_counted_results(query)
    return query


def _columns(query: exp.Expression) -> frozenset[str] | None:
    """The names of the columns that are read; None where a column can be read without being named."""
    aliases = {table.alias_or_name for table in query.find_all(exp.Table)}
    for node in query.walk():
        match node:
            case exp.Star() if not isinstance(node.parent, exp.Count):
                return None
            case exp.Column() if not node.table and node.name in aliases:
                return None
            case exp.Join(method="NATURAL") | exp.Columns() | exp.Pivot():
                return None
            case exp.TableAlias() if node.columns:
                return None
    return frozenset(identifier.name.lower() for identifier in query.find_all(exp.Identifier))


def named(column: exp.Expression) -> exp.Expression:
    """A column of a select list with the name that it has in a view: its own text if it has no alias."""
    if isinstance(column, _NAMED) or column.is_star:
        return column
    name = column.sql(
        "duckdb", comments=False, normalize_functions="lower", unsupported_level=ErrorLevel.IGNORE
    )
    return exp.Alias(this=column, alias=exp.to_identifier(name, quoted=True))


def _places(query: exp.Expression) -> dict[str, tuple[tuple[int, int], ...]]:
    """The places of names and functions, in order, by name."""
    found: dict[str, set[tuple[int, int]]] = {}
    places = Places(query)
    for node in query.walk():
        name = _written_name(node)
        line, column = places.of(node) if name else (None, None)
        if line is not None and column is not None:
            found.setdefault(name, set()).add((line, column))
    return {name: tuple(sorted(places)) for name, places in found.items()}


def _written_name(node: exp.Expr) -> str:
    """The name that the node is or calls, as DuckDB's text spells it; empty for any other node."""
    if isinstance(node, exp.Identifier | exp.Anonymous):
        return node.name.lower() if "line" in node.meta else ""
    if not isinstance(node, exp.Func):
        return ""
    if not any(node.iter_expressions()):
        return node.sql("duckdb").split("(")[0].lower()
    return node.sql_name().lower() if "line" in node.meta else ""


def _references(
    query: exp.Expression, relations: Relations, target: ChangeTarget | None
) -> tuple[SnapshotReference, ...]:
    """Replaces the names of relations with those of snapshots. A place that demands rows has its own."""
    places = [(table, ctes) for table, ctes in tables_with_ctes(query) if _is_relation(table, ctes)]
    wanted = demands(query, _schemas(places, relations))
    references: dict[tuple, SnapshotReference] = {}
    aliases: dict[object, str] = {}
    for table, ctes in places:
        name = relation_name(table)
        if name not in relations:
            fail(unknown_table(name, {*relations, *ctes}), table)
        version, timestamp = _moment(table)
        is_target = target is not None and table is target.node
        row = target.row if target is not None and is_target else None
        everything = target is not None and is_target and target.whole
        demand = EVERYTHING if everything else wanted.get(id(table), EVERYTHING)
        call = take_call(table)
        demand = demand if call is None else EVERYTHING
        key = (name, version, timestamp, row, demand, call)
        if key not in references:
            references[key] = SnapshotReference(f"{name}#{len(references)}", *key)
        aliases[id(table)] = references[key].alias
        _rename(table, name, references[key].alias)
    return tuple(replace(each, demanded=each.demanded.named(aliases)) for each in references.values())


def _is_relation(table: exp.Table, ctes: frozenset[str]) -> bool:
    """Whether the node names a relation. Raises InvalidQuery for a version of a CTE."""
    if not isinstance(table.this, exp.Identifier):
        return False
    if table.args.get("db") is not None or fold(table.this) not in ctes:
        return True
    if table.args.get("version") is not None:
        fail(InvalidQuery(f"{table.name} is a CTE and has no versions"), table)
    return False


def _schemas(places: Sequence[tuple[exp.Table, frozenset[str]]], relations: Relations) -> dict[int, Schema]:
    """The schemas of the known relations, by the `id` of their nodes."""
    known = ((table, relations.get(relation_name(table))) for table, _ in places)
    return {id(table): relation.schema for table, relation in known if relation is not None}


def _rename(table: exp.Table, name: str, alias: str) -> None:
    """Replaces a relation's name with that of a snapshot."""
    own = exp.to_identifier(own_name(name), quoted=True)
    if table.args.get("alias") is None:
        table.set("alias", exp.TableAlias(this=own))
    elif table.args["alias"].this is None:
        table.args["alias"].set("this", own)
    table.set("this", exp.to_identifier(alias, quoted=True))
    for part in ("version", "db", "catalog"):
        table.set(part, None)


def unknown_table(name: str, names: Collection[str]) -> UnknownTable:
    """The error for a name that is not in `names`, with the nearest known name."""
    return UnknownTable(f'no table or view "{shown_name(name)}"', did_you_mean(name, names))


def _moment(table: exp.Table) -> tuple[int | None, datetime | None]:
    """The version or the time at which the query reads a relation."""
    version = table.args.get("version")
    if version is None:
        return _snowflake(table)
    if version.args["kind"] != "AS OF":
        refuse(
            table,
            f"{version.args['kind']} of versions is not supported",
            "use VERSION AS OF or TIMESTAMP AS OF",
        )
    value = version.expression or exp.Null()
    text = value.name if isinstance(value, exp.Literal) else None
    if value.find(exp.Column, exp.Anonymous):
        hint = "write ASOF JOIN with a condition on the table's time, or create a view of this query"
        refuse(table, "a join to the time of each row is not supported here", hint)
    if version.name == "VERSION" or value.is_int:
        if text is None or not _EPOCH.fullmatch(text):
            fail(InvalidQuery(f"{value.sql()} is not an epoch", "write VERSION AS OF 12"), table)
        return int(text), None
    if isinstance(value, exp.Cast) and isinstance(value.this, exp.Literal):
        text = value.this.name
    return None, _time(text, value, table)


def _snowflake(table: exp.Table) -> tuple[int | None, datetime | None]:
    """The same for Snowflake's `AT (VERSION => 12)` and `AT (TIMESTAMP => '...')`."""
    when = table.args.get("when")
    if when is None:
        return None, None
    if when.name != "AT" or when.args["kind"] not in ("VERSION", "TIMESTAMP"):
        refuse(table, f"{when.sql('snowflake')} is not supported", "write AT (VERSION => 12)")
    as_of = exp.Version(this=when.args["kind"], expression=when.expression, kind="AS OF")
    table.set("when", None)
    table.set("version", as_of)
    return _moment(table)


def _time(text: str | None, value: exp.Expression, table: exp.Table) -> datetime:
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        fail(
            InvalidQuery(f"{value.sql()} is not a time", "write TIMESTAMP AS OF '2026-01-01T00:00:00Z'"),
            table,
        )
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
