"""How an ad-hoc query would be answered: by a lookup, or by DuckDB over which rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from engine.plan.expressions import columns_of
from planner.adhoc.adhoc_query import AdhocQuery, SnapshotReference, adhoc_query
from planner.adhoc.point_query import point_query
from planner.errors import PlannerError
from planner.parsing.script import split
from planner.statements.statement_reader import parse_statement
from planner.statements.statements import Explain, Select
from service.definitions.access_paths import AccessPath, ways
from service.definitions.definition import Definition
from service.reading.finding import is_usable, literal_words
from service.sql.sight import Sight


def answer_lines(statement: Explain, sight: Sight) -> list[str]:
    """The lines of the stage; none for a query that can only be a view's."""
    if statement.query is None or "CREATE" in statement.piece.words(3)[1:]:
        return []
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
                return [f"lookup in {_titled(found, definition, equated, used)}"]
        select = parse_statement(piece)
        if isinstance(select, Select):
            return [_of_duckdb(adhoc_query(select.query, sight.definitions), sight)]
    except PlannerError:
        pass
    return []


def _usable(definition: Definition, equated: Sequence[int], sight: Sight) -> AccessPath | None:
    paths = ways(definition.paths, equated)
    return next((path for path in paths if is_usable(sight.snapshot, path, None)), None)


def _titled(
    path: AccessPath, definition: Definition, equated: Sequence[int], used: Collection[int] | None = None
) -> str:
    """A path with the columns that are looked up, and whether the rows are found through the key."""
    names = definition.schema.names
    columns = ", ".join(names[column] for column in path.columns[: path.prefix(equated)])
    width = len(names)
    through = not {c for c in (range(width) if used is None else used) if c < width} <= set(path.stored)
    return f"{path.title} ({columns}){f', then in the key of {definition.name}' if through else ''}"


def _of_duckdb(query: AdhocQuery, sight: Sight) -> str:
    read = ", ".join(_read(reference, sight) for reference in query.references)
    return f"DuckDB over {read}" if read else "DuckDB"


def _read(reference: SnapshotReference, sight: Sight) -> str:
    """A relation with what is read of it."""
    name = reference.relation
    definition = sight.definitions[name]
    equated = list(_equated(reference, definition, sight))
    found = _usable(definition, equated, sight) if equated else None
    if found is not None:
        return f"{name} (lookup in {_titled(found, definition, equated)})"
    count = sight.snapshot.relations[name].size if name in sight.snapshot.relations else 0
    return f"{name} ({count:,} row{'' if count == 1 else 's'})"


def _equated(reference: SnapshotReference, definition: Definition, sight: Sight) -> Iterator[int]:
    schema = definition.schema
    literals = {schema.index(n): values for n, values in reference.demanded.items() if n in schema.names}
    yield from literal_words(literals, schema.types, sight.dictionary)
