"""PostgreSQL's types of the columns of a query of the catalogs, where they come from the catalogs unchanged.

DuckDB has no `name` and no `"char"`: to it both are texts, and clients look at the difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from planner.catalog_queries.object_casts import type_name
from planner.catalog_queries.system_catalog import SystemCatalog
from planner.identifiers import fold, relation_name

_Columns = list[tuple[str, str]]
"""Names and types; an empty type is one that is not known."""
_Sources = Mapping[str, _Columns | None]
_OF_NAMES = frozenset({"pg_get_userbyid", "current_role", "user"})
_NODES_OF_NAMES = (
    exp.CurrentUser,
    exp.CurrentSchema,
    exp.SessionUser,
    exp.CurrentDatabase,
    exp.CurrentCatalog,
)


def output_types(query: exp.Expression, catalog: SystemCatalog) -> tuple[str, ...]:
    """The types by their names in pg_type, empty for those that are not known; nothing at all if the number
    of columns is not known. The query's relations have their full names."""
    return tuple(type for _, type in _outputs(query, catalog, {}) or ())


def _outputs(query: exp.Expr, catalog: SystemCatalog, ctes: _Sources) -> _Columns | None:
    with_ = query.args.get("with_")
    for cte in with_.expressions if with_ is not None else ():
        ctes = {**ctes, fold(cte.args["alias"].this): _named(_outputs(cte.this, catalog, ctes), cte)}
    match query:
        case exp.Subquery(this=exp.Query() as inner):
            return _outputs(inner, catalog, ctes)
        case exp.SetOperation():
            left, right = (_outputs(side, catalog, ctes) for side in (query.left, query.right))
            if left is None or right is None or len(left) != len(right):
                return None
            return [
                (name, type if type == of else "") for (name, type), (_, of) in zip(left, right, strict=True)
            ]
        case exp.Select():
            return _selected(query, catalog, ctes)
    return None


def _selected(select: exp.Select, catalog: SystemCatalog, ctes: _Sources) -> _Columns | None:
    joins = select.args.get("joins") or []
    clauses = [select.args.get("from_"), *joins]
    sources = dict(_source(clause.this, catalog, ctes) for clause in clauses if clause is not None)
    is_merged = any(join.args.get("using") or join.method for join in joins)
    found: _Columns = []
    for item in select.expressions:
        if not item.is_star:
            found.append((item.alias_or_name, _type(item.unalias(), sources)))
            continue
        owner = item.args.get("table") if isinstance(item, exp.Column) else None
        meant = list(sources.values()) if owner is None else [sources.get(fold(owner))]
        if is_merged or any(columns is None for columns in meant):
            return None
        found += [column for columns in meant for column in columns or ()]
    return found


def _source(node: exp.Expr, catalog: SystemCatalog, ctes: _Sources) -> tuple[str, _Columns | None]:
    """The alias and the columns of a source in FROM; None for columns that are not known."""
    alias = node.args.get("alias")
    name = fold(alias.this) if alias is not None and alias.this is not None else ""
    columns: _Columns | None = None
    match node:
        case exp.Subquery():
            columns = _outputs(node.this, catalog, ctes)
        case exp.Table(this=exp.Identifier()) if not node.args.get("joins"):
            relation = relation_name(node)
            if relation in catalog.relations:
                columns = list(catalog.column_types(relation))
            elif not node.args.get("db"):
                columns = ctes.get(relation)
            name = name or relation
    return name, _named(columns, node)


def _named(columns: _Columns | None, node: exp.Expr) -> _Columns | None:
    """The columns under the names that an alias gives them."""
    alias = node.args.get("alias")
    given = [fold(column) for column in alias.columns] if alias is not None else []
    if columns is None or len(given) > len(columns):
        return None
    names = [*given, *(name for name, _ in columns[len(given) :])]
    return [(name, type) for name, (_, type) in zip(names, columns, strict=True)]


def _type(node: exp.Expr, sources: _Sources) -> str:
    match node:
        case exp.Column(this=exp.Identifier() as name):
            owner = node.args.get("table")
            found = set(_types_called(fold(name), sources, None if owner is None else fold(owner)))
            return found.pop() if len(found) == 1 else ""
        case exp.Paren():
            return _type(node.this, sources)
        case exp.Cast(to=to):
            return "name" if type_name(to) == "name" else ""
        case exp.Dot(expression=exp.Expr() as call):
            return _type(call, sources)
        case exp.Anonymous() if node.name.lower() in _OF_NAMES:
            return "name"
    return "name" if isinstance(node, _NODES_OF_NAMES) else ""


def _types_called(name: str, sources: _Sources, owner: str | None) -> Iterator[str]:
    for source, columns in sources.items():
        if owner is None or owner == source:
            for column, type in columns or ():
                if column.lower() == name:
                    yield type
