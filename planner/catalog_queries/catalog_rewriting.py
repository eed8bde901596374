"""Rewrites a query of PostgreSQL's catalogs, from the leaves to the root.

What it changes: relations of the catalogs, which get the names that `SystemCatalog` has for them; functions;
casts to PostgreSQL's own types; operators in their long form; subscripts of vectors, which count from 0;
arrays in PostgreSQL's text; and system columns such as `tableoid`. A query with none of these is returned as
it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlglot import exp

from planner.allowed.open_functions import IN_QUERIES
from planner.catalog_queries.backend_signals import SIGNALS
from planner.catalog_queries.catalog_calls import (
    SESSION,
    call_of_catalog,
    is_rows_call,
    rows_of_call,
)
from planner.catalog_queries.catalog_functions import FUNCTIONS, NUMBER_KINDS, ROWS
from planner.catalog_queries.catalog_stars import write_out_stars
from planner.catalog_queries.catalog_types import VECTORS, catalog_cast, listed, shown_vector
from planner.catalog_queries.object_casts import (
    FUNCTION_COLUMNS,
    is_shown,
    literal_beside,
    resolved,
    shown_function,
    type_name,
)
from planner.catalog_queries.output_names import name_groups, name_outputs
from planner.catalog_queries.output_types import output_types
from planner.catalog_queries.system_catalog import SCHEMAS, SystemCatalog
from planner.dialects.renamed_functions import formatted
from planner.errors import InvalidQuery, UnknownTable
from planner.identifiers import fold, relation_name
from planner.native.templates import is_native, sql
from planner.positions import fail
from planner.relation_names import CATALOG, INFORMATION, is_system
from planner.rewriting.array_queries import is_array_query
from planner.suggestions import did_you_mean

_BARE = frozenset({"user", "current_role"})
"""Functions that are written as columns are."""
_SYSTEM_COLUMNS = frozenset({"tableoid", "xmin", "xmax", "cmin", "cmax"})
_OPERATORS: dict[str, type[exp.Expression]] = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
    "+": exp.Add,
    "-": exp.Sub,
    "*": exp.Mul,
    "||": exp.DPipe,
    "~": exp.RegexpLike,
    "~*": exp.RegexpILike,
    "~~": exp.Like,
    "~~*": exp.ILike,
}


def reads_catalog(query: exp.Expression, relations: Collection[str]) -> bool:
    """Whether a query reads one of the `relations` of the catalogs, or has what only they give a meaning."""
    return next(_tables(query, relations), None) is not None or any(map(_is_ours, query.walk()))


def catalog_relation(query: exp.Expression, relations: Collection[str]) -> exp.Table | None:
    """The first node that is one of the `relations` of the catalogs; None if there is none."""
    return next((table for table, name in _tables(query, relations) if name in relations), None)


def with_catalog(query: exp.Expression, catalog: SystemCatalog) -> tuple[exp.Expression, tuple[str, ...]]:
    """The query over the relations of the catalog, and what `output_types` says of it; changes the tree.

    Raises a PlannerError, with its place, for a relation or an object that is not in the catalogs.
    """
    for table, name in list(_tables(query, catalog.relations)):
        _name_table(table, name, catalog)
    types = output_types(query, catalog)
    write_out_stars(query, catalog)
    name_groups(query)
    name_outputs(query, _is_replaced_column)
    for node in reversed(list(query.walk(bfs=False))):
        found = _replaced(node, catalog)
        if found is not node:
            if node is query:
                query = found  # type: ignore[assignment]
            else:
                node.replace(found)
    return query, types


def _tables(query: exp.Expression, relations: Collection[str]) -> Iterator[tuple[exp.Table, str]]:
    """The nodes of relations of the catalogs, with the relations' names, known or not."""
    for table in query.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            continue
        schema = fold(table.args["db"]) if table.args.get("db") else None
        name = fold(table.this)
        if schema in SCHEMAS:
            yield table, f"{schema}.{name}"
        elif schema is None and f"{CATALOG}.{name}" in relations and not _is_cte(table, name):
            yield table, f"{CATALOG}.{name}"


def _check_table(table: exp.Table, name: str, catalog: SystemCatalog) -> None:
    database, session = table.args.get("catalog"), catalog.session
    if database is not None and fold(database) != session.database:
        hint = f"the only database is called {session.database}"
        fail(InvalidQuery(f"there is no database {database.name}", hint), table)
    if name not in catalog.relations:
        hint = did_you_mean(name, filter(is_system, catalog.relations))
        fail(UnknownTable(f'relation "{name}" does not exist', hint), table)


def _is_cte(table: exp.Table, name: str) -> bool:
    """Whether a CTE around the node has the name."""
    node = table.parent
    while node is not None:
        with_ = node.args.get("with_")
        if with_ is not None and any(fold(cte.args["alias"].this) == name for cte in with_.expressions):
            return True
        node = node.parent
    return False


def _name_table(table: exp.Table, name: str, catalog: SystemCatalog) -> None:
    """Give the node the relation's schema and name, and its own name as an alias."""
    _check_table(table, name, catalog)
    schema, own = name.split(".")
    if table.args.get("alias") is None:
        table.set("alias", exp.TableAlias(this=exp.to_identifier(own, quoted=True)))
    meta = table.this.meta
    table.set("this", exp.to_identifier(own, quoted=True))
    table.this.meta.update(meta)
    table.set("db", exp.to_identifier(schema, quoted=True))
    table.set("catalog", None)


def _is_ours(node: exp.Expr) -> bool:
    """Whether the node is one that only the catalogs give a meaning, so that its query is about them."""
    match node:
        case exp.Anonymous():
            name = node.name.lower()
            is_call = name in FUNCTIONS and name not in IN_QUERIES
            return is_call or name in SIGNALS or (name in ROWS and name != "generate_subscripts")
        case exp.Cast(to=to):
            return type_name(to) in NUMBER_KINDS or type_name(to) in ("oid", "char", "name", "int2vector")
        case exp.Column(this=exp.Identifier(quoted=False)) if not node.table:
            return node.name.lower() in _BARE
        case exp.Dot(this=exp.Identifier(), expression=exp.Func()):
            return node.this.name.lower() in SCHEMAS
        case exp.Operator():
            return True
    return type(node) in SESSION


def _replaced(node: exp.Expr, catalog: SystemCatalog) -> exp.Expr:
    """The node, or what stands for it; its children are replaced already."""
    if is_native(node):
        return node
    match node:
        case exp.Table(this=exp.Expression() as call) if is_rows_call(call):
            return rows_of_call(node, call, catalog.session)
        case exp.Dot(this=exp.Identifier() as schema, expression=exp.Expression() as call):
            return _unqualified(node, schema, call, catalog)
        case exp.Anonymous() if isinstance(node.parent, exp.Table):
            return node  # the table's turn comes later
        case exp.Anonymous():
            return call_of_catalog(node, node.name.lower(), node.expressions, catalog.session)
        case exp.Operator():
            return _operation(node)
        case exp.Collate():
            return node.this
        case exp.Array(expressions=[exp.Query()]) if not _is_of_any(node):
            return sql("coalesce({0}, [])", [node])
        case exp.DPipe() if _is_array(node.this) or _is_array(node.expression):
            return sql("list_concat({0}, {1})", [node.this, node.expression])  # NULL is an empty array to it
        case exp.Format():
            return formatted(node)
        case exp.Cast():
            return catalog_cast(node, catalog)
        case exp.Bracket(this=exp.Column() as column) if column.name.lower() in VECTORS:
            return sql("{0}[{1} + 1]", [column, *node.expressions])
        case exp.Bracket(this=exp.Column() as column) if column.name.lower() == "typname":
            return sql("substr({0}, {1} + 1, 1)", [column, *node.expressions])  # letters of a name, from 0
        case exp.Literal() if node.is_string and (kind := literal_beside(node)):
            return resolved(node, kind, catalog)
        case exp.Literal(this="{}") if node.is_string and isinstance(node.parent, exp.Coalesce):
            return sql("[]", [])
        case exp.Any() | exp.All() if isinstance(node.this, exp.Literal | exp.Paren):
            return listed(node)
        case exp.Column():
            return _column(node, catalog)
    if type(node) in SESSION:
        return call_of_catalog(node, SESSION[type(node)], [node.this] if node.this else [], catalog.session)
    return node


def _unqualified(
    dot: exp.Dot, schema: exp.Identifier, call: exp.Expression, catalog: SystemCatalog
) -> exp.Expr:
    """A call with its schema before it: `pg_catalog.format_type(...)`."""
    if schema.name.lower() not in SCHEMAS or (not isinstance(call, exp.Func) and not is_native(call)):
        return dot
    if isinstance(call, exp.Anonymous):
        if schema.name.lower() == CATALOG:
            return exp.func(call.name, *call.expressions, dialect="postgres")
        fail(InvalidQuery(f"there is no function {INFORMATION}.{call.name}"), dot)
    return call


def _is_of_any(node: exp.Expr) -> bool:
    parent = node.parent
    while isinstance(parent, exp.Paren):
        parent = parent.parent
    return isinstance(parent, exp.Any)


def _is_array(node: exp.Expr) -> bool:
    if is_array_query(node):
        return True
    node = node.unnest()
    return isinstance(node.this if isinstance(node, exp.Coalesce) else node, exp.Array)


def _operation(node: exp.Operator) -> exp.Expr:
    """`a OPERATOR(pg_catalog.~) b` as `a ~ b`."""
    written = str(node.args.get("operator") or "").removeprefix(f"{CATALOG}.")
    negated = written.startswith("!~")
    kind = _OPERATORS.get(written[1:] if negated else written)
    if kind is None:
        fail(InvalidQuery(f"there is no operator {written} over catalogs"), node)
    found = kind(this=node.this, expression=node.expression)
    return exp.paren(exp.Not(this=found) if negated else found)


def _column(node: exp.Column, catalog: SystemCatalog) -> exp.Expr:
    """A column that is a system column, a value of the session, or the OID of a function."""
    name = node.name.lower()
    if not isinstance(node.this, exp.Identifier):
        return node
    if node.args.get("db") is not None and fold(node.args["db"]) in SCHEMAS:
        node.set("db", None)
        node.set("catalog", None)
    if name in _BARE and not node.table and not node.this.quoted:
        return call_of_catalog(node, name, [], catalog.session)
    if name in _SYSTEM_COLUMNS:
        return _system_column(node, name, catalog)
    if name in FUNCTION_COLUMNS:
        return shown_function(node)
    return shown_vector(node) if name in VECTORS and is_shown(node) else node


def _is_replaced_column(column: exp.Column) -> bool:
    name = column.name.lower()
    return name in _SYSTEM_COLUMNS or name in FUNCTION_COLUMNS or name in VECTORS or name in _BARE


def _system_column(node: exp.Column, name: str, catalog: SystemCatalog) -> exp.Expr:
    """`tableoid` is the OID of the column's table; the others are about versions of rows, of which the
    catalogs have one."""
    select = node.find_ancestor(exp.Select)
    owner = fold(node.args["table"]) if node.args.get("table") else None
    sources = [] if select is None else [s for s in _sources(select) if owner in (None, _alias(s))]
    if len(sources) != 1:
        return node
    number = catalog.number("regclass", relation_name(sources[0])) if name == "tableoid" else 1
    if number is None:
        return node
    told, table = exp.Literal.number(number), sources[0]
    columns = catalog.relations[relation_name(table)].schema.columns
    required = next((column.name for column in columns if not column.nullable), None)
    if required is None or not _may_be_missing(table):
        return sql("CAST({0} AS UINTEGER)", [told])
    column = exp.column(exp.to_identifier(required, quoted=True), table.args["alias"].this.copy())
    return sql("CASE WHEN {0} IS NOT NULL THEN CAST({1} AS UINTEGER) END", [column, told])


def _may_be_missing(table: exp.Table) -> bool:
    """Whether an outer join may put NULLs in the place of the table's rows."""
    select = table.find_ancestor(exp.Select)
    joins = () if select is None else select.args.get("joins") or ()
    return any(join.side for join in joins)


def _alias(table: exp.Table) -> str:
    return fold(table.args["alias"].this)


def _sources(select: exp.Select) -> Iterator[exp.Table]:
    """The relations of the catalogs in a FROM."""
    clauses = [select.args.get("from_"), *(select.args.get("joins") or ())]
    for clause in clauses:
        for table in clause.find_all(exp.Table) if clause is not None else ():
            if table.find_ancestor(exp.Select) is select and table.db in SCHEMAS:
                yield table
