"""Names of columns that a query gives none, as PostgreSQL chooses them.

    count(*)                count            a function's own name
    sum(a) OVER w + 1       ?column?         an operator has none
    price::text             price            a cast keeps the name of what it casts
    1::int                  int4             or has the type's, if there is none
    CASE ... ELSE 0 END     case             unless its ELSE has a name
    (SELECT max(a) ...)     max              a subquery has the name of its column
    VALUES (1, 2)           column1, column2

The names are written into the tree as aliases, so that ORDER BY and outer queries find the columns by them.
Source: the manual of PostgreSQL 15, "Column Labels" (7.3.2) and VALUES; compared with a running server.
"""

from __future__ import annotations

from sqlglot import exp

from planner.dialects.systems.postgresql import RELATIVES
from planner.identifiers import fold
from planner.relation_names import shortened

POSTGRES = "postgres"
NAMED = frozenset(RELATIVES)
"""The dialects whose columns have these names."""
UNKNOWN = "?column?"
WHOLE_TEXT = "whole_text"
"""What a tree keeps of its parser: the text, with what stands for names behind it."""
_NAMED = (exp.Alias, exp.Aliases, exp.Column, exp.Columns, exp.PropertyEQ, exp.Star)
_AROUND = (exp.Paren, exp.Window, exp.Filter, exp.WithinGroup, exp.Bracket, exp.Collate, exp.IgnoreNulls)
"""Nodes that have the name of what they are around."""
_LITERALS = (exp.Literal, exp.BitString, exp.ByteString, exp.HexString, exp.Parameter, exp.Placeholder)
_OWNERS = (exp.CTE, exp.Subquery, exp.Table, exp.Values)
_PLACES = ("with_", "order", "limit", "offset")
_TYPES = {
    "BIGINT": "int8",
    "BINARY": "bytea",
    "BOOLEAN": "bool",
    "CHAR": "bpchar",
    "DECIMAL": "numeric",
    "DOUBLE": "float8",
    "FLOAT": "float4",
    "INT": "int4",
    "NCHAR": "bpchar",
    "NVARCHAR": "varchar",
    "SMALLINT": "int2",
    "VARBINARY": "bytea",
}
"""PostgreSQL's own names of types, where they differ from SQL's."""
_FIXED: dict[type[exp.Expression], str] = {
    exp.AtTimeZone: "timezone",
    exp.Array: "array",
    exp.Ceil: "ceil",
    exp.Chr: "chr",
    exp.CurrentCatalog: "current_catalog",
    exp.CurrentDate: "current_date",
    exp.CurrentSchema: "current_schema",
    exp.CurrentTime: "current_time",
    exp.CurrentTimestamp: "current_timestamp",
    exp.CurrentUser: "current_user",
    exp.Decode: "decode",
    exp.Exists: "exists",
    exp.Floor: "floor",
    exp.GroupConcat: "string_agg",
    exp.Initcap: "initcap",
    exp.Interval: "interval",
    exp.Localtime: "localtime",
    exp.Localtimestamp: "localtimestamp",
    exp.Overlay: "overlay",
    exp.SessionUser: "session_user",
    exp.StrPosition: "position",
    exp.Substring: "substring",
    exp.Tuple: "row",
}
"""What has no name in the text where sqlglot would keep its place."""
_WORDS: dict[type[exp.Expression], tuple[str, ...]] = {
    exp.Extract: ("extract", "date_part"),
    exp.JSONArrayAgg: ("json_agg", "jsonb_agg", "json_arrayagg"),
    exp.JSONObjectAgg: ("json_object_agg", "jsonb_object_agg", "json_objectagg"),
}
"""Functions that sqlglot makes one node of: their names, the usual one first."""
_TRIMS = {"LEADING": "ltrim", "TRAILING": "rtrim"}


def with_named_columns(tree: exp.Expression, text: str) -> exp.Expression:
    """The tree with an alias for every column without a name; `text` is what it was parsed from."""
    text = tree.meta.pop(WHOLE_TEXT, text)
    for values in list(tree.find_all(exp.Values)):
        named = _named_values(values)
        tree = named if values is tree else tree
    for listing in tree.find_all(exp.Select, exp.Returning):
        listing.set("expressions", [_aliased(item, text) for item in listing.expressions])
    return tree


def _aliased(item: exp.Expression, text: str) -> exp.Expression:
    if isinstance(item, _NAMED) and not (isinstance(item, exp.Column) and _is_signed(item, text)):
        return item
    is_star = item.is_star and not isinstance(item, exp.Subquery)
    name = None if is_star or item.find(exp.Columns) else _Namer(text).name(item)
    if name is None:
        return item
    return exp.Alias(this=item, alias=exp.to_identifier(shortened(name), quoted=True))


def _is_signed(column: exp.Column, text: str) -> bool:
    """Whether a plus sign, which the tree does not have, stands before a column."""
    marks = [part.meta["start"] for part in column.walk() if "start" in part.meta]
    return bool(marks) and text[: min(marks)].rstrip().endswith("+")


def _named_values(values: exp.Values) -> exp.Expression:
    """VALUES with names for its columns, unless it gives the rows of an INSERT."""
    if isinstance(values.parent, exp.Insert) or not values.expressions:
        return values
    row = values.expressions[0]
    width = len(row.expressions) if isinstance(row, exp.Tuple) else 1
    names = [exp.to_identifier(f"column{place}") for place in range(1, width + 1)]
    alias = alias_of(values)
    if alias is not None:
        alias.set("columns", [*alias.columns, *names[len(alias.columns) :]])
        return values
    own = exp.TableAlias(this=exp.to_identifier("*VALUES*", quoted=True), columns=names)
    if isinstance(values.parent, exp.From | exp.Join):
        values.set("alias", own)
        return values
    query = exp.Select(expressions=[exp.Star()])
    for part in _PLACES:
        query.set(part, values.args.get(part))
        values.set(part, None)
    values.replace(query)
    values.set("alias", own)
    query.set("from_", exp.From(this=values))
    return query


def alias_of(values: exp.Values) -> exp.TableAlias | None:
    """The alias under which a FROM clause or a WITH has VALUES."""
    owner: exp.Expr | None = values
    while isinstance(owner, exp.Values | exp.Subquery | exp.Table):
        if isinstance(owner.args.get("alias"), exp.TableAlias):
            break
        owner = owner.parent
    alias = owner.args.get("alias") if isinstance(owner, _OWNERS) else None
    return alias if isinstance(alias, exp.TableAlias) else None


class _Namer:
    """Finds the name of an expression, and how strongly it holds: a cast prefers the type's to a weak one."""

    def __init__(self, text: str) -> None:
        self._text = text

    def name(self, node: exp.Expression) -> str | None:
        """The name; None if only the planner can know it."""
        found = self._found(node)
        return UNKNOWN if found is None else found[0] or None

    def _found(self, node: exp.Expression) -> tuple[str, bool] | None:
        """The name, and whether it is a strong one; None if there is none."""
        match node:
            case exp.Alias():
                return node.alias, True
            case exp.Column():
                return None if _is_signed(node, self._text) else (node.name, True)
            case exp.Cast() if "start" not in node.meta:  # with a place it is a call that sqlglot casts
                inner = self._found(node.this)
                return inner if inner is not None and inner[1] else (_type_name(node.to), False)
            case exp.Case():
                default = node.args.get("default")
                inner = None if default is None else self._found(default)
                return inner if inner is not None and inner[1] else ("case", False)
            case exp.Subquery():
                return self._of_query(node.this)
            case exp.Dot():
                return self._of_dot(node)
            case exp.Trim() if "start" not in node.meta:
                return _TRIMS.get(str(node.args.get("position")).upper(), "btrim"), True
        if isinstance(node, _AROUND):
            return self._found(node.this)
        return self._of_function(node)

    def _of_query(self, query: exp.Expression) -> tuple[str, bool] | None:
        """The name of a subquery's first column; an empty name for a star."""
        while isinstance(query, exp.SetOperation | exp.Subquery):
            query = query.this
        first = query.expressions[0] if query.expressions else None
        if first is None or first.is_star:
            source = query.args.get("from_")
            is_values = source is not None and isinstance(source.this, exp.Values)
            return "column1" if is_values else "", True
        return self.name(first) or "", True

    def _of_dot(self, node: exp.Dot) -> tuple[str, bool] | None:
        last = node.expression
        if isinstance(last, exp.Identifier):
            return last.this, True
        return self._found(last)

    def _of_function(self, node: exp.Expression) -> tuple[str, bool] | None:
        if "start" in node.meta and not isinstance(node, _LITERALS):
            written = self._text[node.meta["start"] : node.meta["end"] + 1]
            quoted = written.startswith('"')
            return (written[1:-1].replace('""', '"') if quoted else written.lower()), True
        for kind, words in _WORDS.items():
            if isinstance(node, kind):
                return self._word_before(node, words), True
        return next(((name, True) for kind, name in _FIXED.items() if isinstance(node, kind)), None)

    def _word_before(self, node: exp.Expression, words: tuple[str, ...]) -> str:
        """The last of some words before the first marked part of a node."""
        marks = [part.meta["start"] for part in node.walk() if "start" in part.meta]
        before = self._text[: min(marks)].lower() if marks else ""
        places = {word: before.rfind(word) for word in words}
        found = max(words, key=lambda word: (places[word], len(word)))
        return found if places[found] >= 0 else words[0]


def _type_name(type: exp.DataType) -> str:
    """PostgreSQL's name of a type; an array has its element's."""
    while type.this is exp.DType.ARRAY and type.expressions:
        type = type.expressions[0]
    named = type.args.get("kind")
    if isinstance(named, exp.Dot | exp.Identifier):  # the last part of `pg_catalog.text`
        return fold(named.expression if isinstance(named, exp.Dot) else named)
    if isinstance(named, str) and named.startswith("BIT VARYING"):
        return "varbit"
    word = type.this.value if isinstance(type.this, exp.DType) else str(type.this)
    return _TYPES.get(word, word.lower())
