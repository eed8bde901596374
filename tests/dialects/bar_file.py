"""Reads the files of `bars/`: what a dialect was asked, and what its manual says that the answer is.

    system: PostgreSQL 15
    manual: https://www.postgresql.org/docs/15/
    truth: t f

    CREATE TABLE weather (city TEXT, low INTEGER);
    Hayward | 37
    'San Francisco' | NULL

    [integer-division] functions-math.html: 9.3. Mathematical Functions and Operators
    7 / 2 => 3
    7 / 0 => error
    'a' LIKE 'A' => 1
    ~> 0
    different: texts are compared case-sensitively here
    xmlparse('<a/>') => <a/>
    refused: unsupported_sql: there is no type for XML

    SELECT city, max(low) AS most FROM weather
    GROUP BY city
    => city | most
    -> Hayward | 37
    -> San Francisco | NULL

The head names the system and the address of its manual, and how the system prints true and false if not so.
Tables are declared in the dialect's own words, in a line, and their rows follow up to an empty line. A
heading has a topic of `topics.py`, a page of the manual (from the manual's address, or a whole one) and its
section. An expression stands in a line with its value. A query ends with a line of its columns' names; `=> *`
leaves them open, `=> city TEXT | low INTEGER` asks for types of ours too. Its rows follow, in any order, each
behind `->`. `error` alone, instead of the value or of the columns, says that the system itself fails; the
same after `~>` that we do.

Without more, our answer is the manual's. `different:` says why it is another, which stands in lines of `~>`,
a row each. `refused:` has the code of our refusal and a reason. Cells stand between ` | `. NULL is NULL, and
`''` around a cell keeps its spaces and marks text: `'NULL'`, `'a | b'`, `''`; `e'\\n'` has escapes. JSON and
arrays are JSON. `#` begins a comment's line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache
from pathlib import Path

from tests.dialects.topics import TOPICS

FOLDER = Path(__file__).with_name("bars")
ERROR = "error"
Row = tuple[str, ...]
_HEADING = re.compile(r"\[([\w-]+)\] (\S+): (.+)")
_HEAD = re.compile(r"(system|manual|truth): (.+)")
_TABLE = re.compile(r"CREATE TABLE .*;", re.IGNORECASE)
_CELL = re.compile(r"(e?'(?:[^']|'')*'|.*?)(?: \| |$)")


class Decision(Enum):
    """What we decided on an entry: that it is as the manual says, that it differs, or that it is refused."""

    RIGHT = "right"
    DIFFERENT = "different"
    REFUSED = "refused"


@dataclass(frozen=True)
class Source:
    """Where the manual says it: the page's address and the section's name."""

    page: str
    section: str


@dataclass(frozen=True)
class Entry:
    """`columns` are what the names and types of a query's columns are to be, None if they are open. `rows`
    are the system's, None if it fails; `ours` are our other rows of an entry that is different, None if ours
    fails. `code` is that of our refusal. An expression has one row of one cell.
    """

    line: int
    topic: str
    source: Source
    sql: str
    is_query: bool
    columns: Row | None = None
    rows: tuple[Row, ...] | None = ()
    decision: Decision = Decision.RIGHT
    ours: tuple[Row, ...] | None = ()
    code: str = ""
    reason: str = ""


@dataclass(frozen=True)
class BarTable:
    """A table that entries read: its CREATE TABLE in the dialect, and its rows as cells."""

    statement: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Bar:
    """`truth` has the texts that the system prints for true and false."""

    dialect: str
    system: str
    manual: str
    truth: tuple[str, str]
    tables: tuple[BarTable, ...]
    entries: tuple[Entry, ...]


def dialects() -> list[str]:
    """The dialects that have a file."""
    return sorted(path.stem for path in FOLDER.glob("*.bar"))


@cache
def bar(dialect: str) -> Bar:
    """The dialect's bar. Raises ValueError with the line of a mistake."""
    return read_bar(dialect, (FOLDER / f"{dialect}.bar").read_text())


def read_bar(dialect: str, text: str) -> Bar:
    """The bar that a file's text describes. Raises ValueError with the line of a mistake."""
    reading = _Reading()
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if not line.startswith("#"):
            try:
                reading.take(number, line.rstrip())
            except ValueError as error:
                raise ValueError(f"{dialect}.bar:{number}: {error}: {line}") from None
    head = reading.head
    truth = tuple(head.get("truth", "true false").split())
    tables = tuple(BarTable(statement, tuple(rows)) for statement, rows in reading.tables)
    return Bar(dialect, head["system"], head["manual"], truth, tables, tuple(reading.entries))  # type: ignore[arg-type]


def cells(line: str) -> Row:
    """The cells of a row."""
    found, at = [], 0
    while True:
        match = _CELL.match(line, at)
        assert match is not None  # an empty cell matches everywhere
        found.append(match[1])
        if match.end() == len(line) and not match[0].endswith(" | "):
            return tuple(found)
        at = match.end()


@dataclass
class _Reading:
    """What has been read so far; `query` has the lines of a query that has not ended."""

    head: dict[str, str] = field(default_factory=dict)
    tables: list[tuple[str, list[Row]]] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    heading: tuple[str, Source] | None = None
    query: list[str] = field(default_factory=list)
    query_line: int = 0
    in_table: bool = False

    def take(self, number: int, line: str) -> None:
        if not line:
            self.end_query()
            self.in_table = False
        elif self.in_table:
            self.tables[-1][1].append(cells(line))
        elif match := _HEADING.fullmatch(line):
            self._head(*match.groups())
        elif self.heading is None:
            self._take_head(line)
        else:
            self._take_entry(number, line)

    def _take_head(self, line: str) -> None:
        if match := _HEAD.fullmatch(line):
            self.head[match[1]] = match[2]
        elif _TABLE.fullmatch(line):
            self.tables.append((line, []))
            self.in_table = True
        else:
            raise ValueError("neither a part of the head nor a table")

    def _head(self, topic: str, page: str, section: str) -> None:
        self.end_query()
        if topic not in TOPICS:
            raise ValueError(f"there is no topic {topic}")
        manual = self.head["manual"]
        self.heading = topic, Source(page if "://" in page else f"{manual}{page}", section)

    def _take_entry(self, number: int, line: str) -> None:
        mark, _, rest = line.partition(" ")
        match mark:
            case "=>":
                self._end_with(rest)
            case "->" if self.entries:
                self._extend("rows", rest)
            case "~>" if self.entries:
                self._extend("ours", rest)
            case "different:":
                self._decide(decision=Decision.DIFFERENT, reason=rest)
            case "refused:":
                code, _, reason = rest.partition(": ")
                self._decide(decision=Decision.REFUSED, code=code, reason=reason)
            case _ if " => " in line and not self.query:
                self._add_expression(number, line)
            case _:
                self.query_line = self.query_line if self.query else number
                self.query.append(line)

    def _add_expression(self, number: int, line: str) -> None:
        sql, _, value = line.rpartition(" => ")
        rows = None if value == ERROR else ((value,),)
        self._add(number, sql, False, rows, None)

    def _end_with(self, rest: str) -> None:
        """The end of a query, with its columns."""
        sql, self.query = "\n".join(self.query), []
        if not sql:
            raise ValueError("there is no query before it")
        columns = None if rest in ("*", ERROR) else cells(rest)
        self._add(self.query_line, sql, True, None if rest == ERROR else (), columns)

    def _add(
        self, number: int, sql: str, is_query: bool, rows: tuple[Row, ...] | None, columns: Row | None
    ) -> None:
        assert self.heading is not None
        self.entries.append(Entry(number, *self.heading, sql, is_query, columns, rows))

    def _extend(self, name: str, rest: str) -> None:
        entry = self.entries[-1]
        more = cells(rest) if entry.is_query else (rest,)
        rows = None if rest == ERROR else (*(getattr(entry, name) or ()), more)
        self.entries[-1] = replace(entry, **{name: rows})  # type: ignore[arg-type]

    def _decide(self, **decided: object) -> None:
        if not decided["reason"]:
            raise ValueError("a decision has a reason")
        self.entries[-1] = replace(self.entries[-1], **decided)  # type: ignore[arg-type]

    def end_query(self) -> None:
        if self.query:
            raise ValueError(f"the query of line {self.query_line} has no columns")
