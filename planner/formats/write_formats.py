"""Writing: the parts of a format as one DuckDB expression of a moment.

Adjacent parts that strftime can write become one call of it. The moment's expression stands in the text once:
where it is needed more often, it is a variable of a lambda over a list of one element.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from planner.formats.format_scanner import Part

_MOMENT = "t"
CENTURIES = (
    "CASE WHEN year({t}) BETWEEN 1 AND 9999 THEN {text} WHEN {t} IS NOT NULL THEN CAST(CAST("
    "'only years 1 to 9999 can be written, and this is ' || CAST({t} AS VARCHAR) AS INTEGER) AS VARCHAR) END"
)
"""The text of moments of the years 1 to 9999; others are errors of their rows."""
FINITE = "CASE WHEN isfinite({t}) THEN {text} END"
"""The text of moments that are not infinite."""


def template_constant(text: str) -> str:
    """`text` as a constant, escaped so that nothing in it looks like a place for an argument."""
    constant = "'" + text.replace("'", "''") + "'"
    split = re.sub(r"\{(?=(\d+|t)\})", "{' || '", constant)
    return f"({split})" if split != constant else constant


def written(parts: Iterable[Part], source: str, guard: str) -> str:
    """The text of the moment `source` by the parts of a format; `guard` says which moments have a text."""
    text = _joined(parts)
    whole = guard.replace("{text}", text)
    return f"list_transform([{source}], lambda {_MOMENT}: {whole.replace('{t}', _MOMENT)})[1]"


def _joined(parts: Iterable[Part]) -> str:
    pieces: list[str] = []
    for calendar, group in groupby(_run_together(parts), key=lambda part: isinstance(part, str)):
        if calendar:
            pieces.append(_strftime("".join(str(part) for part in group)))
        else:
            pieces += [part.element.as_text for part in group if isinstance(part, Part) and part.element]
    return " || ".join(f"({piece})" for piece in pieces) or "''"


def _run_together(parts: Iterable[Part]) -> Iterable[Part | str]:
    """Literal text and strftime's elements as strings in its language, other elements unchanged."""
    for part in parts:
        if part.element is None:
            yield part.text.replace("%", "%%")
        else:
            yield part.element.as_directive or part


def _strftime(form: str) -> str:
    if re.search("%[^%]", form.replace("%%", "")):
        return f"strftime({{t}}, {template_constant(form)})"
    return template_constant(form.replace("%%", "%"))
