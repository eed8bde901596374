"""Stars over catalogs, written out where columns are shown in another form than they have.

A star stays as it is if it stands inside a query, or over a join that merges columns.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from planner.catalog_queries.catalog_types import VECTORS
from planner.catalog_queries.object_casts import FUNCTION_COLUMNS
from planner.catalog_queries.system_catalog import SystemCatalog
from planner.identifiers import fold, relation_name

_SHOWN_OTHERWISE = VECTORS | FUNCTION_COLUMNS


def write_out_stars(query: exp.Expression, catalog: SystemCatalog) -> None:
    """Write out the stars of the select lists that give the query's columns; its tables have their names."""
    for select in _outermost(query):
        joins = select.args.get("joins") or []
        if any(join.args.get("using") or join.method for join in joins):
            continue
        sources = [clause.this for clause in (select.args.get("from_"), *joins) if clause is not None]
        if not any(_is_special(source, catalog) for source in sources):
            continue
        items: list[exp.Expression] = []
        for item in select.expressions:
            items += list(_written(item, sources, catalog)) if item.is_star else [item]
        select.set("expressions", items)


def _outermost(query: exp.Expression) -> Iterator[exp.Select]:
    """The selects whose columns are the query's."""
    match query:
        case exp.Select():
            yield query
        case exp.SetOperation():
            yield from _outermost(query.this)
            yield from _outermost(query.expression)


def _is_special(source: exp.Expression, catalog: SystemCatalog) -> bool:
    return any(name in _SHOWN_OTHERWISE for name in _columns(source, catalog))


def _columns(source: exp.Expression, catalog: SystemCatalog) -> tuple[str, ...]:
    """The columns of a relation of the catalogs; none for another source."""
    is_named = isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier)
    relation = catalog.relations.get(relation_name(source)) if is_named else None
    return () if relation is None else relation.schema.names


def _written(
    item: exp.Expression, sources: list[exp.Expression], catalog: SystemCatalog
) -> Iterator[exp.Expression]:
    """The columns of a star, source by source; a star of a source that is not in the catalogs."""
    owner = fold(item.args["table"]) if isinstance(item, exp.Column) and item.args.get("table") else None
    for source in sources:
        alias = source.args.get("alias")
        name = fold(alias.this) if alias is not None and alias.this is not None else ""
        if owner is not None and owner != name:
            continue
        table = exp.to_identifier(name, quoted=True)
        columns = _columns(source, catalog)
        if not columns or source.args.get("joins") or (alias is not None and alias.columns):
            yield exp.Column(this=exp.Star(), table=table)
            continue
        for column in columns:
            yield exp.column(exp.to_identifier(column, quoted=True), table.copy())
