"""Redshift's functions that sqlglot and DuckDB do not have, or have with another meaning.

Examples are the manual's, https://docs.aws.amazon.com/redshift/latest/dg/. SUPER is JSON here.
"""

from __future__ import annotations

from sqlglot import exp

from planner.dialects import object_members
from planner.dialects.zero_divisors import guarded_division
from planner.native.templates import Args, Meanings, sql
from planner.positions import refuse

_COMPARED = "CASE WHEN {0} < {1} THEN -1 WHEN {0} = {1} THEN 0 WHEN {0} > {1} THEN 1 END"
_ELEMENT = "CASE WHEN {0} IS NOT NULL THEN coalesce(json_extract_string({0}, '/' || {1}), '') END"
_ESCAPED = "replace(replace({PLACE}, '~', '~0'), '/', '~1')"
_BASES = {"10": "CAST({0} AS BIGINT)", "16": "CAST('0x' || {0} AS BIGINT)"}
_FORMS = {"utf8": "encode({0})", "utf-8": "encode({0})", "hex": "unhex({0})", "base64": "from_base64({0})"}


def _bytes(args: Args) -> exp.Expression:
    """TO_VARBYTE('abc', 'UTF8')."""
    form = _FORMS.get(args[1].name.lower()) if isinstance(args[1], exp.Literal) else None
    if form is None:
        refuse(args[1], "this form of bytes is not supported", f"forms are {', '.join(_FORMS)}")
    return sql(form, args[:1])


def _whole_number(args: Args) -> exp.Expression:
    """The number that a text writes to a base."""
    form = _BASES.get(args[1].name) if isinstance(args[1], exp.Literal) else None
    if form is None:
        refuse(args[1], "strtol of this base is not supported", "the base is 10 or 16")
    return sql(form, args[:1])


def _path_text(args: Args) -> exp.Expression:
    """The text at a path of names; the empty text if there is none."""
    document, *names = args
    lenient = bool(names) and isinstance(names[-1], exp.Boolean)
    if lenient:
        lenient = bool(names.pop().this)
    places = [_ESCAPED.replace("PLACE", str(place)) for place in range(1, len(names) + 1)]
    path = " || ".join(f"'/' || {place}" for place in places) or "''"
    found = f"coalesce(json_extract_string({{0}}, {path}), '')"
    test = "json_valid({0})" if lenient else "{0} IS NOT NULL"
    return sql(f"CASE WHEN {test} THEN {found} END", [document, *names])


REDSHIFT: Meanings = {
    "ARRAY_FLATTEN(array)": "flatten({0})",
    "DEXP(value)": "exp({0})",
    "DLOG1(value)": "ln({0})",
    "DLOG10(value)": "log10({0})",
    "DPOW(value, exponent)": "pow({0}, {1})",
    "FUNC_SHA1(text)": "sha1({0})",
    "GET_ARRAY_LENGTH(array)": (
        "CASE json_type(to_json({0})) WHEN 'ARRAY' THEN CAST(json_array_length(to_json({0})) AS BIGINT) END"
    ),
    # INTERVAL_CMP('3 days', '1 year') is -1
    "INTERVAL_CMP(a, b)": _COMPARED.replace("{0}", "CAST({0} AS INTERVAL)").replace(
        "{1}", "CAST({1} AS INTERVAL)"
    ),
    "TIMESTAMP_CMP | TIMESTAMPTZ_CMP(a, b)": _COMPARED,
    # JSON_EXTRACT_ARRAY_ELEMENT_TEXT('[111,112,113]', 2) is 113, and one beyond the end the empty text
    "JSON_EXTRACT_ARRAY_ELEMENT_TEXT(json, place)": _ELEMENT,
    "JSON_EXTRACT_PATH_TEXT(json, ...)": _path_text,
    "JSON_SERIALIZE(json)": "CAST({0} AS VARCHAR)",
    "IS_VALID_JSON(text)": "coalesce(json_valid({0}), false)",
    "IS_VALID_JSON_ARRAY(text)": (
        "CASE WHEN json_valid({0}) THEN json_type(CAST({0} AS JSON)) = 'ARRAY' ELSE false END"
    ),
    "IS_OBJECT(json)": "json_type(to_json({0})) = 'OBJECT'",
    "IS_ARRAY(json)": "json_type(to_json({0})) = 'ARRAY'",
    "OBJECT(...)": object_members.made_with_nulls,
    "QUOTE_LITERAL(text)": "'''' || replace({0}, '''', '''''') || ''''",
    # REGEXP_REPLACE replaces every match
    "REGEXP_REPLACE(text, pattern)": "regexp_replace({0}, {1}, '', 'g')",
    "REGEXP_REPLACE(text, pattern, replacement)": "regexp_replace({0}, {1}, {2}, 'g')",
    # REGEXP_SUBSTR('abc', 'x') is the empty text
    "REGEXP_SUBSTR(text, pattern)": "regexp_extract({0}, {1})",
    "REPLICATE(text, count)": "repeat({0}, {1})",
    # STRTOL('abcd1234', 16) is 2882343476
    "STRTOL(text, base)": _whole_number,
    # SUBARRAY(ARRAY('a', 'b', 'c', 'd', 'e', 'f'), 2, 3) is ["c", "d", "e"]
    "SUBARRAY(array, start, length)": "list_slice({0}, {1} + 1, {1} + {2})",
    "TO_VARBYTE(bytes, form)": _bytes,
}


def redshift_node(node: exp.Expression) -> exp.Expression:
    return guarded_division(node) if isinstance(node, exp.Div) else node
