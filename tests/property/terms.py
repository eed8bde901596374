"""SQL text as a tree that can be written in two dialects and made smaller.

A `Term` knows what it stands for (`sort`: "int", "bool", "query(int,text)", "from", ...), so that a
smaller term of the same sort can take its place. Where PostgreSQL and DuckDB spell one meaning
differently, a term has a template for each; nothing is translated by the code under test.

A smaller tree need not be valid SQL: a column may have lost its table. Who shrinks asks DuckDB.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

# What a term of a sort can always become. A sort that is not here has no least term.
LEAST: dict[str, tuple[str, ...]] = {
    "int": ("1", "CAST(NULL AS integer)"),
    "float": ("CAST(0.5 AS double precision)", "CAST(NULL AS double precision)"),
    "wild": ("CAST(0.5 AS double precision)",),
    "rough": ("CAST(0.5 AS double precision)",),
    "approx": ("CAST(0.5 AS double precision)",),
    "numeric": ("1.5", "CAST(NULL AS numeric(9, 2))"),
    "text": ("'a'", "CAST(NULL AS text)"),
    "date": ("DATE '2024-01-01'", "CAST(NULL AS date)"),
    "timestamp": ("TIMESTAMP '2024-01-01 00:00:00'", "CAST(NULL AS timestamp)"),
    "time": ("CAST(NULL AS time)",),
    "zoned": ("CAST(NULL AS timetz)",),
    "bits": ("CAST(NULL AS bit)",),
    "instant": ("CAST(NULL AS timestamptz)",),
    "interval": ("INTERVAL '1 day'", "CAST(NULL AS interval)"),
    "bytes": ("CAST(NULL AS bytea)",),
    "uuid": ("CAST(NULL AS uuid)",),
    "list": ("ARRAY[1, 2]", "CAST(NULL AS integer[])"),
    "pair": ("CAST(ROW(1, 'a') AS STRUCT(a INTEGER, b TEXT))", "CAST(NULL AS STRUCT(a INTEGER, b TEXT))"),
    "map": ("MAP(ARRAY['a'], ARRAY[1])", "CAST(NULL AS MAP(TEXT, INTEGER))"),
    "natural": ("CAST(1 AS UINTEGER)", "CAST(NULL AS UINTEGER)"),
    "bool": ("TRUE", "CAST(NULL AS boolean)"),
    "optional": ("",),
}


@dataclass(frozen=True)
class Term:
    """`text` with `{}` for each of `parts`; `duck` is the template for DuckDB where it differs."""

    sort: str
    text: str
    parts: tuple[Term, ...] = ()
    duck: str | None = None

    def sql(self, dialect: str = "postgres") -> str:
        template = self.duck if dialect == "duckdb" and self.duck is not None else self.text
        return template.format(*(part.sql(dialect) for part in self.parts)) if self.parts else template

    @property
    def size(self) -> int:
        return len(self.text) + sum(part.size for part in self.parts)


def listed(sort: str, parts: tuple[Term, ...], separator: str = ", ") -> Term:
    """Parts between separators; of such a list a single part can be dropped."""
    return Term(sort, separator.join("{}" for _ in parts), parts)


def optional(text: str, *parts: Term) -> Term:
    """A clause that can be left out."""
    return Term("optional", text, parts)


NOTHING = Term("optional", "")


def below(term: Term, sort: str) -> Iterator[Term]:
    """The nearest descendants of the sort."""
    for part in term.parts:
        if part.sort == sort:
            yield part
        else:
            yield from below(part, sort)


def smaller(term: Term) -> Iterator[Term]:
    """Every tree in which one term has become a smaller one, the greatest steps first."""
    for text in LEAST.get(term.sort, ()):
        if text != term.sql() and len(text) <= term.size:
            yield Term(term.sort, text)
    yield from below(term, term.sort)
    if term.sort in ("items", "rows", "bindings") and len(term.parts) > 1:
        for i in range(len(term.parts)):
            yield listed(term.sort, term.parts[:i] + term.parts[i + 1 :])
    for i, part in enumerate(term.parts):
        for changed in smaller(part):
            yield replace(term, parts=(*term.parts[:i], changed, *term.parts[i + 1 :]))
