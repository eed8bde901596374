"""Queries of the property tests in the words of a dialect.

A query is a tree of templates in PostgreSQL's words. Where the dialect's users write something else, its
table of spellings has their template; sqlglot writes all other things. A construct that has no spelling in a
dialect is left out.
"""

from __future__ import annotations

import re
from functools import cache

import sqlglot
from sqlglot import Dialect, exp
from sqlglot.errors import ErrorLevel, ParseError, UnsupportedError
from sqlglot.generator import Generator

from tests.dialects.spellings import LEFT_OUT, Spellings, spellings
from tests.property.called import inlined
from tests.property.terms import Term

_IN_TEMPLATES = frozenset({"datefield", "timefield", "dateunit", "timeunit"})
_PLACE = "spelled_"
_FILTER = re.compile(r" FILTER \(WHERE \{\d*\}\)$")
_ORDERED_FILTER = re.compile(r"ORDER BY [^()]*\) FILTER")
_COLUMN = re.compile(r"[\w.]*")
_LOST_ARGUMENT = re.compile(r"\(\s+ORDER BY")


class LeftOut(Exception):
    """The dialect has no spelling for a construct."""


def in_dialect(query: Term, dialect: str) -> str:
    """The query's text in the dialect. Raises LeftOut."""
    known = spellings(dialect)
    canonical = query.sql()
    if inlined(canonical) != canonical:
        raise LeftOut("functions whose bodies are PostgreSQL's")
    for word in known.words:
        if word in canonical:
            raise LeftOut(word)
    if exp.Filter in _generator(dialect).TRANSFORMS and _ORDERED_FILTER.search(canonical):
        raise LeftOut("FILTER of ordered values, which sqlglot makes a value of")
    templates: list[str] = []
    text = _written(query, known, templates)
    try:
        tree = sqlglot.parse_one(text, read="postgres")
        _leave_out(tree, known)
        for type in list(tree.find_all(exp.DataType)):
            if type.this in known.types:
                type.replace(exp.DataType.build(known.types[type.this], dialect=dialect))
        if not known.default_frame_is_known:
            _write_frames(tree)
        generator = _generator(dialect)(templates, dialect=dialect, unsupported_level=ErrorLevel.RAISE)
        spelled = generator.generate(tree)
    except ParseError:
        raise LeftOut("what sqlglot does not parse") from None
    except (UnsupportedError, AttributeError):  # windows with a name, where NULL has another place
        raise LeftOut("what sqlglot does not write") from None
    if _LOST_ARGUMENT.search(spelled):
        raise LeftOut("an argument that sqlglot loses")
    return spelled


def _leave_out(tree: exp.Expression, known: Spellings) -> None:
    """Raises LeftOut for a FROM that would become another one."""
    if any(values.args.get("joins") for values in tree.find_all(exp.Values)):
        raise LeftOut("joins behind VALUES, which sqlglot moves")
    if any(lateral.args.get("joins") for lateral in tree.find_all(exp.Lateral)):
        raise LeftOut("joins behind LATERAL, which sqlglot loses")
    if tree.find(exp.Having) and any(join.args.get("using") for join in tree.find_all(exp.Join)):
        raise LeftOut("HAVING over merged columns, for whose names DuckDB takes the select list's")
    if known.commas_join_first and any(map(_joins_outside_a_comma, tree.find_all(exp.Select))):
        raise LeftOut("an outer join behind a comma")
    joins = (node for node in tree.find_all(exp.Subquery) if isinstance(node.this, exp.Table))
    if not known.joins_have_columns and any(node.alias_column_names for node in joins):
        raise LeftOut("columns of a join")


def _joins_outside_a_comma(query: exp.Select) -> bool:
    """Whether an outer join follows a comma in FROM."""
    joins = query.args.get("joins") or ()
    commas = [place for place, join in enumerate(joins) if join.args.keys() <= {"this"}]
    return any(join.side for join in joins[min(commas, default=len(joins)) :])


def _write_frames(tree: exp.Expression) -> None:
    """Gives every ordered window without a frame PostgreSQL's."""
    frame = {"kind": "RANGE", "start": "UNBOUNDED", "start_side": "PRECEDING", "end": "CURRENT ROW"}
    for window in tree.find_all(exp.Window):
        if window.args.get("order") and not window.args.get("spec"):
            window.set("spec", exp.WindowSpec(**frame))


def _written(term: Term, known: Spellings, templates: list[str]) -> str:
    """The term in PostgreSQL's words, with calls of `spelled_n` in the places of the dialect's templates."""
    if term.sort in known.sorts and not _COLUMN.fullmatch(term.text):
        raise LeftOut(f"values of {term.sort}")
    parts = list(term.parts)
    template = term.text
    if parts and parts[0].sort in _IN_TEMPLATES:
        template = template.replace("{}", parts.pop(0).text.replace("'", ""), 1)
    args = [_written(part, known, templates) for part in parts]
    is_filtered = _FILTER.search(template) is not None
    template = _FILTER.sub("", template)
    sorts = ", ".join(part.sort for part in parts[: len(parts) - is_filtered])
    keys = (f"{term.sort}({sorts}): {template}", f"{term.sort}: {template}", template)
    found = next((key for key in keys if key in known.templates), None)
    if found is None:
        fields = [part.text for part in term.parts if part.sort in _IN_TEMPLATES]
        return term.text.format(*fields, *args) if term.parts else term.text
    spelled = known.templates[found]
    if spelled is LEFT_OUT:
        raise LeftOut(found)
    templates.append(spelled)
    only = f" FILTER (WHERE {args.pop()})" if is_filtered else ""
    return f"{_PLACE}{len(templates) - 1}({', '.join(args)}){only}"


@cache
def _generator(dialect: str) -> type[Generator]:
    """The dialect's generator, which fills in templates."""
    base: type[Generator] = Dialect.get_or_raise(dialect).generator_class

    class Spelling(base):  # type: ignore[valid-type, misc]
        def __init__(self, templates: list[str], **settings: object) -> None:
            super().__init__(**settings)
            self._templates = templates

        def anonymous_sql(self, node: exp.Anonymous) -> str:
            if not node.name.startswith(_PLACE):
                return super().anonymous_sql(node)
            template = self._templates[int(node.name.removeprefix(_PLACE))]
            return template.format(*(self.sql(part) for part in node.expressions))

    return Spelling
