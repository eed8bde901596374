"""Rewrites a query of PostgreSQL's catalogs, from the leaves to the root.

What it changes: relations of the catalogs, which get the names that `SystemCatalog` has for them; functions;
casts to PostgreSQL's own types; operators in their long form; subscripts of vectors, which count from 0;
arrays in PostgreSQL's text; and system columns such as `tableoid`. A query with none of these is returned as
it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from sqlglot import exp

from planner.catalog_queries.catalog_functions import FUNCTIONS, NUMBER_KINDS, ROWS
from planner.catalog_queries.object_casts import (
    FUNCTION_COLUMNS,
    literal_beside,
    object_cast,
    resolved,
    shown_function,
    type_name,
)
from planner.catalog_queries.output_names import name_outputs
from planner.catalog_queries.system_catalog import (
    CATALOG,
    INFORMATION,
    SCHEMAS,
    CatalogSession,
    SystemCatalog,
    is_system,
)
from planner.errors import InvalidQuery, UnknownTable
from planner.identifiers import fold
from planner.native.templates import is_native, sql
from planner.positions import fail
from planner.suggestions import did_you_mean

_VECTORS = frozenset(
    {"indkey", "indclass", "indcollation", "indoption", "proargtypes", "partattrs", "partclass"}
    | {"partcollation", "tgattr", "stxkeys"}
)
"""Columns whose first element has number 0."""
_SYSTEM_COLUMNS = frozenset({"tableoid", "xmin", "xmax", "cmin", "cmax"})
_TYPES = {
    "oid": "UINTEGER",
    "xid": "UINTEGER",
    "cid": "UINTEGER",
    "name": "VARCHAR",
    "char": "VARCHAR",
    "cstring": "VARCHAR",
    "aclitem": "VARCHAR",
    "pg_node_tree": "VARCHAR",
    "sql_identifier": "VARCHAR",
    "character_data": "VARCHAR",
    "yes_or_no": "VARCHAR",
    "cardinal_number": "INTEGER",
    "time_stamp": "TIMESTAMPTZ",
    "int2vector": "SMALLINT[]",
    "oidvector": "UINTEGER[]",
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "float4": "REAL",
    "float8": "DOUBLE",
    "bool": "BOOLEAN",
    "text": "VARCHAR",
    "varchar": "VARCHAR",
    "anyarray": "VARCHAR",
    "bpchar": "VARCHAR",
    "numeric": "DOUBLE",
    "integer": "INTEGER",
    "bigint": "BIGINT",
    "boolean": "BOOLEAN",
    "regconfig": "VARCHAR",
    "timestamptz": "TIMESTAMPTZ",
    "timestamp": "TIMESTAMP",
    "interval": "INTERVAL",
    "json": "JSON",
    "jsonb": "JSON",
}
"""DuckDB's types for those that are written with a schema, or that only PostgreSQL has."""
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
_ELEMENT = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^,"{}\\]+))\s*(?:,|$)')
_SESSION = {
    exp.CurrentUser: "current_user",
    exp.CurrentSchema: "current_schema",
    exp.SessionUser: "session_user",
    exp.CurrentDatabase: "current_database",
    exp.CurrentCatalog: "current_catalog",
    exp.CurrentSchemas: "current_schemas",
}
_BARE = frozenset({"user", "current_role"})


def reads_catalog(query: exp.Expression, relations: Collection[str]) -> bool:
    """Whether a query reads one of the `relations` of the catalogs, or calls what only they give a meaning."""
    return next(_tables(query, relations), None) is not None or any(map(_is_ours, query.walk()))


def with_catalog(query: exp.Expression, catalog: SystemCatalog) -> exp.Expression:
    """The query over the relations of the catalog; changes the tree.

    Raises a PlannerError, with its place, for a relation or an object that is not in the catalogs.
    """
    tables = list(_tables(query, catalog.relations))
    name_outputs(query, _is_ours)
    for table, name in tables:
        _name_table(table, name, catalog)
    for node in reversed(list(query.walk(bfs=False))):
        found = _replaced(node, catalog)
        if found is not node:
            if node is query:
                query = found
            else:
                node.replace(found)
    return query


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
    """Give the node the relation's name, and its own name as an alias."""
    _check_table(table, name, catalog)
    if table.args.get("alias") is None:
        table.set("alias", exp.TableAlias(this=exp.to_identifier(name.split(".")[1], quoted=True)))
    meta = table.this.meta
    table.set("this", exp.to_identifier(name, quoted=True))
    table.this.meta.update(meta)
    table.set("db", None)
    table.set("catalog", None)


def _is_ours(node: exp.Expr) -> bool:
    """Whether the node is one that only the catalogs give a meaning, so that its query is about them."""
    match node:
        case exp.Anonymous():
            name = node.name.lower()
            return name in FUNCTIONS or (name in ROWS and name != "generate_subscripts")
        case exp.Cast(to=to):
            return type_name(to) in NUMBER_KINDS or type_name(to) in ("oid", "char", "name", "int2vector")
        case exp.Column(this=exp.Identifier(quoted=False)) if not node.table:
            return node.name.lower() in _BARE
        case exp.Dot(this=exp.Identifier(), expression=exp.Func()):
            return node.this.name.lower() in SCHEMAS
        case exp.Operator():
            return True
    return type(node) in _SESSION


def _replaced(node: exp.Expr, catalog: SystemCatalog) -> exp.Expr:
    """The node, or what stands for it; its children are replaced already."""
    if is_native(node):
        return node
    match node:
        case exp.Table(this=exp.Anonymous() as call):
            return _rows(node, call, catalog)
        case exp.Dot(this=exp.Identifier() as schema, expression=exp.Expression() as call):
            return _unqualified(node, schema, call, catalog)
        case exp.Anonymous():
            return _call(node, node.name.lower(), node.expressions, catalog)
        case exp.Operator():
            return _operation(node)
        case exp.Collate():
            return node.this
        case exp.Cast():
            return _cast(node, catalog)
        case exp.Bracket(this=exp.Column() as column) if column.name.lower() in _VECTORS:
            return sql("{0}[{1} + 1]", [column, *node.expressions])
        case exp.Literal() if node.is_string and (kind := literal_beside(node)):
            return resolved(node, kind, catalog)
        case exp.Literal(this="{}") if node.is_string and isinstance(node.parent, exp.Coalesce):
            return sql("[]", [])
        case exp.Any() | exp.All() if isinstance(node.this, exp.Literal | exp.Paren):
            return _listed(node)
        case exp.Column():
            return _column(node, catalog)
    if type(node) in _SESSION:
        return _call(node, _SESSION[type(node)], [node.this] if node.this else [], catalog)
    return node


def _unqualified(
    dot: exp.Dot, schema: exp.Identifier, call: exp.Expression, catalog: SystemCatalog
) -> exp.Expr:
    """A call with its schema before it: `pg_catalog.format_type(...)`."""
    if schema.name.lower() not in SCHEMAS or not isinstance(call, exp.Func) and not is_native(call):
        return dot
    if isinstance(call, exp.Anonymous):
        if schema.name.lower() == CATALOG:
            return exp.func(call.name, *call.expressions, dialect="postgres")
        fail(InvalidQuery(f"there is no function {INFORMATION}.{call.name}"), dot)
    return call


def _call(node: exp.Expr, name: str, arguments: list, catalog: SystemCatalog) -> exp.Expr:
    """A call as its template; itself if the function is not one over catalogs."""
    templates = FUNCTIONS.get(name)
    if templates is None:
        return node
    template = templates.get(len(arguments))
    if template is None:
        counts = " or ".join(map(str, sorted(templates)))
        fail(InvalidQuery(f"{name} takes {counts} arguments, not {len(arguments)}"), node)
    return sql(_told(template, catalog.session), arguments)


def _told(template: str, session: CatalogSession) -> str:
    """The template with what the session says."""
    path = list(session.search_path)
    values = {
        "user": _text(session.user),
        "database": _text(session.database),
        "version": _text(session.version),
        "started": f"CAST({_text(session.started)} AS TIMESTAMPTZ)",
        "schema": "CAST(NULL AS VARCHAR)" if session.schema is None else _text(session.schema),
        "path": _texts(path),
        "whole_path": _texts([CATALOG, *path]),
    }
    for name, written in values.items():
        template = template.replace(f"{{session:{name}}}", written)
    return template


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _texts(values: list[str]) -> str:
    return f"CAST([{', '.join(map(_text, values))}] AS VARCHAR[])"


def _rows(table: exp.Table, call: exp.Anonymous, catalog: SystemCatalog) -> exp.Expr:
    """A function in FROM as a subquery of its rows."""
    name = call.name.lower()
    if name in ROWS:
        template, names = ROWS[name]
        query = sql(_told(template, catalog.session), call.expressions).this
    elif is_native(call) or name in FUNCTIONS:
        found = _call(call, name, call.expressions, catalog)
        query, names = exp.Select(expressions=[exp.alias_(found, name, quoted=True)]), (name,)
    else:
        return table
    alias = table.args.get("alias")
    alias = alias.copy() if alias is not None else exp.TableAlias(this=exp.to_identifier(name, quoted=True))
    if not alias.columns and len(names) == 1 and alias.this is not None:
        alias.set("columns", [exp.to_identifier(alias.name, quoted=True)])
    if table.args.get("ordinality"):
        query = sql("SELECT *, row_number() OVER () AS ordinality FROM ({0}) AS rows", [query]).this
    joins = table.args.get("joins")
    given = exp.Subquery(this=query)
    found = (
        exp.Lateral(this=given, alias=alias)
        if call.find(exp.Column)
        else exp.Subquery(this=query, alias=alias)
    )
    return exp.Table(this=found, joins=joins) if joins else found


def _operation(node: exp.Operator) -> exp.Expr:
    """`a OPERATOR(pg_catalog.~) b` as `a ~ b`."""
    written = str(node.args.get("operator") or "").removeprefix(f"{CATALOG}.")
    negated = written.startswith("!~")
    kind = _OPERATORS.get(written[1:] if negated else written)
    if kind is None:
        fail(InvalidQuery(f"there is no operator {written} over catalogs"), node)
    found = kind(this=node.this, expression=node.expression)
    return exp.paren(exp.Not(this=found) if negated else found)


def _cast(node: exp.Cast, catalog: SystemCatalog) -> exp.Expr:
    to = node.to
    name = type_name(to)
    is_array = isinstance(to, exp.DataType) and to.this is exp.DType.ARRAY
    if name in NUMBER_KINDS:
        return _array_cast(node, name) if is_array else object_cast(node, name, catalog)
    if is_array and isinstance(node.this, exp.Literal) and node.this.is_string:
        elements = _elements(node.this)
        if elements is not None:
            return sql(f"CAST({{0}} AS {_TYPES.get(name, name)}[])", [elements])
    plain = isinstance(to, exp.ObjectIdentifier | exp.PseudoType) or (
        isinstance(to, exp.DataType) and (to.this is exp.DType.USERDEFINED or is_array)
    )
    if name in _TYPES and (plain or name == "name"):
        return sql(f"CAST({{0}} AS {_TYPES[name]}{'[]' if is_array else ''})", [node.this])
    return node


def _array_cast(node: exp.Cast, kind: str) -> exp.Expr:
    """An array of OIDs as the array of their names."""
    kind = "regproc" if kind == "regprocedure" else kind
    return sql(
        f'(SELECT list(coalesce("#value", CAST(given."#oid" AS VARCHAR)) ORDER BY given."#place") FROM '
        f'(SELECT unnest({{0}}) AS "#oid", generate_subscripts({{0}}, 1) AS "#place") AS given '
        f'LEFT JOIN "#{kind}" ON "#key" = given."#oid")',
        [node.this],
    )


def _listed(node: exp.Any | exp.All) -> exp.Expr:
    """`ANY ('{a,b}')` with a list of the elements."""
    given = node.this.unnest()
    elements = _elements(given) if isinstance(given, exp.Literal) and given.is_string else None
    if elements is not None:
        node.set("this", exp.paren(elements))
    return node


def _elements(literal: exp.Literal) -> exp.Expression | None:
    """The elements of an array in PostgreSQL's text, of one dimension; None if it is another text."""
    text = literal.name.strip()
    if not (text.startswith("{") and text.endswith("}")):
        return None
    inner, at = text[1:-1].strip(), 0
    found: list[exp.Expression] = []
    while at < len(inner):
        match = _ELEMENT.match(inner, at)
        if match is None:
            return None
        if match[1] is not None:
            found.append(exp.Literal.string(re.sub(r"\\(.)", r"\1", match[1])))
        else:
            word = match[2].strip()
            found.append(exp.Null() if word.upper() == "NULL" else exp.Literal.string(word))
        at = match.end()
    places = ", ".join(f"{{{place}}}" for place in range(len(found)))
    return sql(f"CAST([{places}] AS VARCHAR[])", found)


def _column(node: exp.Column, catalog: SystemCatalog) -> exp.Expr:
    """A column that is a system column, a value of the session, or the OID of a function."""
    name = node.name.lower()
    if not isinstance(node.this, exp.Identifier):
        return node
    if node.args.get("db") is not None and fold(node.args["db"]) in SCHEMAS:
        node.set("db", None)
        node.set("catalog", None)
    if name in _BARE and not node.table and not node.this.quoted:
        return _call(node, name, [], catalog)
    if name in _SYSTEM_COLUMNS:
        return _system_column(node, name, catalog)
    if name in FUNCTION_COLUMNS:
        return shown_function(node)
    return node


def _system_column(node: exp.Column, name: str, catalog: SystemCatalog) -> exp.Expr:
    """`tableoid` is the OID of the relation that the column's table is; the others are about versions of rows,
    of which the catalogs have one."""
    select = node.find_ancestor(exp.Select)
    sources = (
        []
        if select is None
        else [s for s in _sources(select) if not node.table or s.alias == fold(node.args["table"])]
    )
    if len(sources) != 1:
        return node
    number = catalog.number("regclass", sources[0].name) if name == "tableoid" else 1
    return node if number is None else sql("CAST({0} AS UINTEGER)", [exp.Literal.number(number)])


def _sources(select: exp.Select) -> Iterator[exp.Table]:
    """The relations of the catalogs in a FROM."""
    clauses = [select.args.get("from_"), *(select.args.get("joins") or ())]
    for clause in clauses:
        for table in clause.find_all(exp.Table) if clause is not None else ():
            if table.find_ancestor(exp.Select) is select and table.name.startswith(SCHEMAS):
                yield table
