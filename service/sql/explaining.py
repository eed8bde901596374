"""How an ad-hoc query would be answered: by a lookup, or by DuckDB over which rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from sqlglot import exp

from engine.plan.expressions import columns_of
from planner.adhoc.adhoc_query import AdhocQuery, SnapshotReference, adhoc_query
from planner.adhoc.demanded_rows import ColumnLink
from planner.adhoc.point_query import point_query
from planner.catalog_queries import is_system
from planner.errors import PlannerError
from planner.parsing.script import split
from planner.statements.show_statements import Explain
from planner.statements.statement_reader import parse_statement
from planner.statements.statements import Select
from service.definitions.access_paths import AccessPath, ways
from service.definitions.definition import Definition
from service.pgcatalog.system_tables import SystemTables
from service.reading.demanded_words import bounded_words, equated_words
from service.reading.finding import is_usable
from service.reading.picked_rows import PickStep, take
from service.sql.catalog_reading import is_about_catalogs, over_catalogs
from service.sql.sight import Sight


def answer_lines(
    statement: Explain, sight: Sight, system: Callable[[], SystemTables]
) -> tuple[list[str], bool]:
    """The lines of the stage, none for a query that can only be a view's; and whether it is one of the
    catalogs. `system` gives these."""
    if statement.query is None or "CREATE" in statement.piece.words(3)[1:]:
        return [], False
    text, dialect = statement.query.text, statement.piece.dialect
    try:
        (piece,) = split(text, dialect)
        point = point_query(piece.template(), sight.definitions, dialect, {})
        if point is not None:
            definition = sight.definitions[point.relation]
            equated = [equation.column for equation in point.equations]
            found = _usable(definition, equated, sight)
            if found is not None:
                used = set().union(*map(columns_of, point.expressions)) | set(equated)
                return [f"lookup in {_titled(found, definition, equated, used=used)}"], False
        select = parse_statement(piece)
        if isinstance(select, Select) and is_about_catalogs(select.query, dialect):
            return [_of_catalogs(select.query, sight, system())], True
        if isinstance(select, Select):
            return [_of_duckdb(adhoc_query(select.query, sight.definitions), sight)], False
    except PlannerError:
        pass
    return [], False


def _of_catalogs(query: exp.Expression, sight: Sight, system: SystemTables) -> str:
    tree = over_catalogs(query, system)
    found = adhoc_query(tree, {**sight.definitions, **system.relations})
    tables = [r for r in found.references if not is_system(r.relation)]
    catalogs = [
        f"{r.relation} ({_rows(system.table(r.relation).num_rows)})"
        for r in found.references
        if is_system(r.relation) and "#" not in r.relation
    ]
    read = ", ".join([*catalogs, *_Access(tables, sight).lines()])
    return f"DuckDB over {read}" if read else "DuckDB"


def _usable(
    definition: Definition, equated: Collection[int], sight: Sight, bounded: Collection[int] = ()
) -> AccessPath | None:
    paths = ways(definition.paths, equated, bounded)
    return next((path for path in paths if is_usable(sight.snapshot, path, None)), None)


def _titled(
    path: AccessPath,
    definition: Definition,
    equated: Collection[int],
    bounded: Collection[int] = (),
    used: Collection[int] | None = None,
) -> str:
    """A path with the columns that are looked up, and whether the rows are found through the key."""
    names = definition.schema.names
    bound = path.bounded(equated, bounded)
    sought = (*path.columns[: path.prefix(equated)], *(() if bound is None else (bound,)))
    columns = ", ".join(names[column] for column in sought)
    width = len(names)
    through = not {c for c in (range(width) if used is None else used) if c < width} <= set(path.stored)
    return f"{path.title} ({columns}){f', then in the key of {definition.name}' if through else ''}"


def _of_duckdb(query: AdhocQuery, sight: Sight) -> str:
    read = ", ".join(_Access(query.references, sight).lines())
    return f"DuckDB over {read}" if read else "DuckDB"


class _Access:
    """How the relations of a query would be read. Nothing is read for it."""

    def __init__(self, references: Sequence[SnapshotReference], sight: Sight) -> None:
        self._references = references
        self._sight = sight
        self._names = {reference.alias: reference.relation for reference in references}
        self._found: dict[str, str] = {}

    def lines(self) -> list[str]:
        """Each relation with what is read of it."""
        take(self._references, self._attempt, self._size)
        return [f"{r.relation} ({self._found.get(r.alias) or self._whole(r)})" for r in self._references]

    def _attempt(self, reference: SnapshotReference, step: PickStep, links: Sequence[ColumnLink]) -> bool:
        sight, demand = self._sight, reference.demanded
        definition = sight.definitions[reference.relation]
        types = definition.schema.types
        valued = equated_words(demand.equations, types, sight.dictionary).keys()
        equated = valued | {link.column for link in links}
        bounded = bounded_words(demand.bounds, types, sight.dictionary) if step is PickStep.BOUNDS else ()
        path = _usable(definition, equated, sight, bounded)
        if path is None:
            return False
        how = "lookup" if path.bounded(equated, bounded) is None else "range"
        sought = set(path.columns[: path.prefix(equated)]) - valued
        sources = {self._names[str(link.source)]: None for link in links if link.column in sought}
        given = f", with the rows of {', '.join(sources)}" if sources else ""
        self._found[reference.alias] = f"{how} in {_titled(path, definition, equated, bounded)}{given}"
        return True

    def _size(self, reference: SnapshotReference) -> int:
        relation = self._sight.snapshot.relations.get(reference.relation)
        return 0 if relation is None else relation.size

    def _whole(self, reference: SnapshotReference) -> str:
        count = self._size(reference)
        return _rows(count)


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"
