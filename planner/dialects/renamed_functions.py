"""Functions of the dialects that DuckDB has under another name, with other arguments, or not at all."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from planner.dialects.overloads import PREFIX
from planner.dialects.pattern_matches import first_match
from planner.dialects.printf import check_widths
from planner.dialects.systems.postgres_names import QUOTED_NAME, QUOTED_TEXT
from planner.dialects.traits import Trait, has
from planner.native.similar_patterns import similar
from planner.native.templates import call_of, is_native, sql, whole
from planner.positions import refuse

_CALLS = {
    "bround": "round_even({0}, 0)",
    "find_in_set": (
        "CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL"
        " THEN coalesce(list_position(string_split({1}, ','), {0}), 0) END"
    ),
    "isnotnull": "{0} IS NOT NULL",
    "isnull": "{0} IS NULL",
    "json_typeof": (
        "CASE WHEN {0} IS NULL THEN NULL ELSE CASE json_type({0}) WHEN 'VARCHAR' THEN 'string'"
        " WHEN 'ARRAY' THEN 'array' WHEN 'OBJECT' THEN 'object' WHEN 'BOOLEAN' THEN 'boolean'"
        " WHEN 'NULL' THEN 'null' ELSE 'number' END END"
    ),
    "json_unquote": "{0} ->> '$'",
    "jsonb_array_length": "json_array_length({0})",
    "to_jsonb": "to_json({0})",
    "mid": "substring({0}, {1}, {2})",
    "octet_length": "strlen(hex({0})) // 2",
    "pmod": "({0} % {1} + {1}) % {1}",
    "regexp_substr": "CASE WHEN regexp_matches({0}, {1}) THEN regexp_extract({0}, {1}) END",
    "strcmp": "CASE WHEN {0} < {1} THEN -1 WHEN {0} = {1} THEN 0 WHEN {0} > {1} THEN 1 END",
    "substring_index": (
        "CASE WHEN {2} > 0 THEN array_to_string(list_slice(string_split({0}, {1}), 1, {2}), {1})"
        " ELSE array_to_string(list_slice(string_split({0}, {1}), {2}, -1), {1}) END"
    ),
    "width_bucket": (
        "CASE WHEN {0} < {1} THEN 0 WHEN {0} >= {2} THEN {3} + 1"
        " ELSE CAST(floor(({0} - {1}) * {3} / ({2} - {1})) AS INTEGER) + 1 END"
    ),
}
"""Functions by name, with places for their arguments."""
_CALLS["jsonb_typeof"] = _CALLS["json_typeof"]
_JSON_MAKERS = {
    "json_build_array": "json_array",
    "json_build_object": "json_object",
    "jsonb_build_array": "json_array",
    "jsonb_build_object": "json_object",
}

_SECONDS = "CAST(microsecond({0}) AS DECIMAL(18, 0)) * 0.000001"
_MILLISECONDS = "CAST(microsecond({0}) AS DECIMAL(18, 0)) * 0.001"
_FRACTIONS = {
    **dict.fromkeys(("SECOND", "SECONDS", "SEC", "SECS", "S"), _SECONDS),
    **dict.fromkeys(("MILLISECOND", "MILLISECONDS", "MSEC", "MSECS", "MS"), _MILLISECONDS),
}
_INTERVAL_PARTS = {
    "year": "to_years(CAST({0} AS INTEGER))",
    "month": "to_months(CAST({0} AS INTEGER))",
    "week": "to_weeks(CAST({0} AS INTEGER))",
    "day": "to_days(CAST({0} AS INTEGER))",
    "hour": "to_hours(CAST({0} AS BIGINT))",
    "minute": "to_minutes(CAST({0} AS BIGINT))",
    "second": "to_microseconds(CAST(round(CAST({0} AS DECIMAL(30, 6)) * 1000000) AS BIGINT))",
}
_FORMAT = re.compile(r"(?:(\d+)\$)?(-?)(\d*)([sLI])")
_NAME_IN_FORMAT = (
    f"CASE WHEN {{0}} IS NULL THEN CAST(CAST('NULL is no name' AS INTEGER) AS VARCHAR) ELSE {QUOTED_NAME} END"
)
_PADDED = {
    "": "lpad({0}, greatest(WIDTH, CAST(length({0}) AS INTEGER)), ' ')",
    "-": "rpad({0}, greatest(WIDTH, CAST(length({0}) AS INTEGER)), ' ')",
}


def function(node: exp.Expression, dialect: str) -> exp.Expression:
    """A node with the same meaning in DuckDB, or the node itself."""
    if has(dialect, Trait.FORMATS_LIKE_C):
        for translation in (_postgres_part, first_match, _json_of_rows, _json_of_value):
            found = translation(node)
            if found is not node:
                return found
    called = _call(node)
    if called is not node:
        return called
    match node:
        case exp.MakeInterval():
            return _interval(node)
        case exp.Greatest() | exp.Least() if node.args.get("ignore_nulls") is False:
            return _of_all(node)
        case exp.ByteLength():
            return sql(_CALLS["octet_length"], [node.this])
        case exp.Length() if has(dialect, Trait.LENGTH_IS_OF_CHARACTERS) and not isinstance(
            node.this, exp.Null
        ):
            return call_of(f"{PREFIX}length", [node.this], "length")
        case exp.Length() if node.args.get("binary"):
            return sql(_CALLS["octet_length"], [node.this])
        case exp.Length() if dialect == "tsql":
            return sql("length(rtrim({0}))", [node.this])
        case exp.Hex() if has(dialect, Trait.FORMATS_LIKE_C):
            return sql("lower(hex({0}))", [node.this])
        case exp.Encode() | exp.Decode():
            return _coded(node)
        case exp.Format() if has(dialect, Trait.FORMATS_LIKE_C):
            return formatted(node)
        case exp.SimilarTo(this=text, expression=exp.Literal() as pattern) if dialect == "duckdb":
            return sql("regexp_full_match({0}, {1})", [text, pattern])
        case exp.SimilarTo() | exp.Escape(this=exp.SimilarTo()) if dialect != "duckdb":
            return similar(node)
        case exp.Substring(args={"length": exp.Literal(is_string=True)}):
            hint = "write a regular expression, with parentheses around the part: substring(s FROM 'a(b.d)')"
            refuse(node, "a substring by a pattern with an escape is not supported", hint)
        case exp.Substring(this=text, args={"start": exp.Literal(is_string=True) as pattern}):
            group = exp.Literal.number(int("(" in pattern.this))
            return sql(
                "CASE WHEN regexp_matches({0}, {1}) THEN regexp_extract({0}, {1}, {2}) END",
                [text, pattern, group],
            )
    return node


def _postgres_part(node: exp.Expression) -> exp.Expression:
    """PostgreSQL's parts: seconds have their fraction, and a century begins with its year 1."""
    unit = node.name.upper() if isinstance(node, exp.Extract) else node.text("unit").upper()
    if isinstance(node, exp.Extract) and unit in _FRACTIONS:
        return sql(_FRACTIONS[unit], [node.expression])
    is_span = isinstance(node.this, exp.Interval) or (
        isinstance(node.this, exp.Cast) and node.this.is_type("interval")
    )
    if isinstance(node, exp.DateTrunc | exp.TimestampTrunc) and unit == "WEEK" and is_span:
        refuse(node, "an interval has no weeks to truncate it to", "truncate it to the day")
    if isinstance(node, exp.DateTrunc | exp.TimestampTrunc) and unit in ("CENTURY", "MILLENNIUM"):
        refuse(
            node, f"date_trunc of {unit.lower()} is not supported", "truncate to the year, and subtract years"
        )
    return node


def _json_of_rows(node: exp.Expression) -> exp.Expression:
    """A function that makes JSON, with PostgreSQL's names f1, f2, ... in the rows that are its arguments."""
    if not isinstance(node, exp.Func):
        return node
    name = node.name.lower() if isinstance(node, exp.Anonymous) else node.sql_name().lower()
    if name in ("row_to_json", "to_json", "to_jsonb") and node.expressions and is_row(node.expressions[0]):
        return row_as_json(node.expressions[0])
    takes_rows = isinstance(node, exp.JSONArrayAgg) or name == "jsonb_agg" or name in _JSON_MAKERS
    if not takes_rows or not any(map(is_row, _aggregated(node))):
        return node
    found = node.copy()
    for argument in _aggregated(found):
        if is_row(argument):
            argument.replace(row_as_json(argument))
    return found


def _json_of_value(node: exp.Expression) -> exp.Expression:
    """`to_json` of a value, and `json_build_object` and the like, whose moments are those of ISO 8601."""
    name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    if name in ("to_json", "to_jsonb") and len(node.expressions) == 1:
        return call_of(f"{PREFIX}document_of", node.expressions, name)
    if name not in _JSON_MAKERS or all(_is_document(part) for part in node.expressions):
        return node
    found = node.copy()
    step = 2 if _JSON_MAKERS[name] == "json_object" else 1
    for part in found.expressions[step - 1 :: step]:
        if not _is_document(part):
            part.replace(call_of(f"{PREFIX}document_of", [part], "to_jsonb"))
    return found if found != node else node


def _is_document(node: exp.Expression) -> bool:
    """Whether a value is written as JSON already, or is so in every dialect."""
    is_call = isinstance(node, exp.Anonymous) and node.name.lower() in ("to_json", "to_jsonb", *_JSON_MAKERS)
    return is_call or is_native(node) or isinstance(node, exp.Literal | exp.Boolean | exp.Null)


def _aggregated(node: exp.Expression) -> list[exp.Expression]:
    """The arguments of an aggregate, without the clauses around them."""
    clauses = (exp.Order, exp.Distinct)
    return [part.this if isinstance(part, clauses) else part for part in node.iter_expressions()]


def is_row(node: exp.Expression) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.upper() == "ROW"


def row_as_json(row: exp.Expression) -> exp.Expression:
    """A row as a document, with PostgreSQL's names f1, f2, ..."""
    parts: list[exp.Expression] = []

    def written(node: exp.Expression) -> str:
        if not is_row(node):
            parts.append(node)
            return f"{{{len(parts) - 1}}}"
        pairs = (f"f{place} := {written(part)}" for place, part in enumerate(node.expressions, 1))
        return f"struct_pack({', '.join(pairs)})"

    return whole(f"to_json({written(row)})", *parts)


def _interval(node: exp.MakeInterval) -> exp.Expression:
    """The sum of an interval's parts, given by name or in the order of the parameters."""
    given = [(name, _value(node.args[name])) for name in _INTERVAL_PARTS if node.args.get(name) is not None]
    parts = [sql(_INTERVAL_PARTS[name], [value]) for name, value in given]
    return exp.Paren(this=_sum(parts)) if parts else sql("INTERVAL '0' DAY", [])


def _of_all(node: exp.Greatest | exp.Least) -> exp.Expression:
    """The greatest or least of all values; NULL if one of them is NULL."""
    args = [node.this, *node.expressions]
    places = [f"{{{place}}}" for place in range(len(args))]
    function = "greatest" if isinstance(node, exp.Greatest) else "least"
    test = " OR ".join(f"{place} IS NULL" for place in places)
    return sql(f"CASE WHEN {test} THEN NULL ELSE {function}({', '.join(places)}) END", args)


def _call(node: exp.Expression) -> exp.Expression:
    """A call of a function that DuckDB lacks under this name, or has with other arguments."""
    if isinstance(node, exp.Anonymous):
        name, args = node.name.lower(), node.expressions
    elif isinstance(node, exp.Func):
        name, args = node.sql_name().lower(), list(node.iter_expressions())
    else:
        return node
    template = _CALLS.get(name)
    if template is not None and len(args) == len(set(re.findall(r"\{\d+\}", template))):
        return sql(template, args)
    if name in _JSON_MAKERS:
        return _json_made(_JSON_MAKERS[name], args)
    if name in ("choose", "elt") and len(args) > 1:
        return sql("list_extract({0}, {1})", [exp.Array(expressions=[a.copy() for a in args[1:]]), args[0]])
    if name == "field" and len(args) > 1:
        among = exp.Array(expressions=[a.copy() for a in args[1:]])
        return sql("coalesce(list_position({0}, {1}), 0)", [among, args[0]])
    if name in ("num_nulls", "num_nonnulls") and args:
        test = "CAST({0} IS NULL AS INTEGER)" if name == "num_nulls" else "CAST({0} IS NOT NULL AS INTEGER)"
        counts = [sql(test, [arg]) for arg in args]
        return counts[0] if len(counts) == 1 else exp.Paren(this=_sum(counts))
    return node


def _json_made(maker: str, args: Sequence[exp.Expression]) -> exp.Expression:
    """A document of these values; the names of an object's members are written as texts."""
    places = [f"{{{place}}}" for place in range(len(args))]
    if maker == "json_object":
        places[::2] = [f"CAST({place} AS VARCHAR)" for place in places[::2]]
    return sql(f"{maker}({', '.join(places)})", args)


def _sum(parts: Sequence[exp.Expression]) -> exp.Expression:
    total = parts[0]
    for part in parts[1:]:
        total = exp.Add(this=total, expression=part)
    return total


def formatted(node: exp.Format) -> exp.Expression:
    """PostgreSQL's `format`: %s, %I, %L, %%, places as in %2$s, and widths as in %-10s."""
    pattern = node.this
    if not isinstance(pattern, exp.Literal) or not pattern.is_string:
        refuse(node, "a format that is not constant is not supported", "concatenate the values")
    check_widths(pattern)
    parts: list[exp.Expression] = []
    end = place = 0
    for part in re.finditer("%(%|.*?[a-zA-Z]|)", pattern.name):
        parts.append(exp.Literal.string(pattern.name[end : part.start()] + "%" * (part[1] == "%")))
        end = part.end()
        if part[1] == "%":
            continue
        known = _FORMAT.fullmatch(part[1])
        place = int(known[1] or place + 1) if known else 0
        if known is None or not 0 < place <= len(node.expressions):
            refuse(node, f"{part[0]} in a format is not supported here", "concatenate the values")
        form = _PADDED[known[2]].replace("WIDTH", known[3]) if known[3] else "{0}"
        value = node.expressions[place - 1]
        is_written = isinstance(value, exp.Literal | exp.Null)
        written = value if is_written else call_of(f"{PREFIX}written", [value], "format")
        text = sql("coalesce(CAST({0} AS VARCHAR), '')", [written])
        if known[4] == "L":
            text = sql(QUOTED_TEXT, [value])
        if known[4] == "I":
            text = sql(_NAME_IN_FORMAT, [value])
        parts.append(sql(form, [text]))
    parts.append(exp.Literal.string(pattern.name[end:]))
    return sql(f"concat({', '.join(f'{{{place}}}' for place in range(len(parts)))})", parts)


def _coded(node: exp.Encode | exp.Decode) -> exp.Expression:
    """PostgreSQL's forms of bytes as text, and of text as bytes."""
    form = node.text("charset").lower()
    writes = isinstance(node, exp.Encode)
    if form == "hex":
        return sql("lower(hex({0}))" if writes else "unhex({0})", [node.this])
    if form == "base64":
        return sql("to_base64({0})" if writes else "from_base64({0})", [node.this])
    return node


def _value(argument: exp.Expression) -> exp.Expression:
    """An argument without its parameter's name."""
    return argument.expression if isinstance(argument, exp.Kwarg) else argument
