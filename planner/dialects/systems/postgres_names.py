"""PostgreSQL's functions of quotes and escapes: quote_ident('Foo bar') and unistr('d\\0061ta')."""

from __future__ import annotations

from collections.abc import Mapping

from planner.dialects.reserved_words import RESERVED

_RESERVED = ", ".join(f"'{word}'" for word in sorted(RESERVED))
_TEXT = "CAST({0} AS VARCHAR)"
QUOTED_NAME = (
    f"CASE WHEN regexp_full_match({_TEXT}, '[a-z_][a-z0-9_]*') AND {_TEXT} NOT IN ({_RESERVED})"
    f" THEN {_TEXT} ELSE '\"' || replace({_TEXT}, '\"', '\"\"') || '\"' END"
)
"""The name in quotes, if it has to be; key words that are not reserved need none."""
_LITERAL = "'''' || replace(replace(CAST({0} AS VARCHAR), '''', ''''''), '\\', '\\\\') || ''''"
_QUOTED = f"CASE WHEN contains(CAST({{0}} AS VARCHAR), '\\') THEN 'E' ELSE '' END || {_LITERAL}"
QUOTED_TEXT = f"coalesce({_QUOTED}, 'NULL')"
"""The text as a literal; NULL, the word."""
_HEX = "[0-9A-Fa-f]"
_ESCAPE = rf"\\u{_HEX * 4}|\\U{_HEX * 8}|\\[+]{_HEX * 6}|\\{_HEX * 4}|\\\\"
_PARTS = rf"{_ESCAPE}|[^\\]+|\\"
_SPLIT = f"regexp_extract_all({{0}}, '{_PARTS}', 0, 's')"
_DIGITS = r"ltrim(part, '\uU+')"
_SIGN = (
    r"CASE WHEN part = '\\' THEN '\' WHEN part = '\' THEN CAST(CAST('an escape that is none: ' || part AS"
    rf" INTEGER) AS VARCHAR) WHEN starts_with(part, '\') THEN chr(CAST('0x' || {_DIGITS} AS INTEGER))"
    r" ELSE part END"
)
NAMES: Mapping[str, str] = {
    # quote_ident('Foo bar') is "Foo bar"
    "QUOTE_IDENT(name)": QUOTED_NAME,
    # quote_literal(E'O\'Reilly') is 'O''Reilly'
    "QUOTE_LITERAL(text)": _QUOTED,
    "QUOTE_NULLABLE(text)": QUOTED_TEXT,
    # unistr('d\0061t\+000061') is data
    "UNISTR(text)": f"array_to_string(list_transform({_SPLIT}, lambda part: {_SIGN}), '')",
}
