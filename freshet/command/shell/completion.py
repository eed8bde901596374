"""Completion in the shell: tables, views, columns, keywords, functions, and the shell's own commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from freshet.connection import Connection
from freshet.contract.sql_names import parts_of, sql_identifier, sql_name
from freshet.errors import Error

_KEYWORDS = """
ALL ALTER AND AS ASC BEGIN BETWEEN BY CASE CAST COLUMN COMMENT COMMIT CREATE CROSS DEFAULT DELETE DESC
DESCRIBE DISTINCT DROP ELSE END EXCEPT EXISTS EXPLAIN FALSE FILTER FIRST FOLLOWING FROM FULL GRANT GROUP
HAVING IF IN INNER INSERT INTERSECT INTERVAL INTO IS JOIN KEY LAST LATERAL LEFT LIKE LIMIT MERGE NATURAL
NOT NULL NULLS OFFSET ON OR ORDER OUTER OVER PARTITION PRECEDING PRIMARY RECURSIVE REPLACE RETURNING
REVOKE RIGHT ROLE ROLLBACK ROW ROWS SCHEMA SCHEMAS SELECT SET SHOW TABLE TABLES THEN TO TRUE TRUNCATE
UNBOUNDED UNION UPDATE USING VALUES VERSION VIEW VIEWS WHEN WHERE WINDOW WITH
"""
_FUNCTIONS = """
abs array_agg avg bool_and bool_or ceil coalesce concat count current_date date_part date_trunc
dense_rank exp extract first_value floor greatest lag last_value lead least left length ln lower ltrim
max min mod now nullif power rank replace right round row_number rtrim split_part sqrt stddev string_agg
strpos substring sum trim upper variance
"""
KEYWORDS, FUNCTIONS = _KEYWORDS.split(), _FUNCTIONS.split()
_WORD = re.compile(r"[\w$]*$")
_OF_RELATION = re.compile(
    r"\b(?:FROM|JOIN|INTO|UPDATE|TABLE|VIEW|DESCRIBE|TRUNCATE)\s+[\w$]*$", re.IGNORECASE
)
_QUALIFIED = re.compile(r"((?:[\w$]+\.)?[\w$]+)\.([\w$]*)$")


@dataclass
class Names:
    """The columns of tables and views, as they are in SQL. They are asked for again after a definition."""

    relations: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def refresh(self, connection: Connection) -> None:
        """Asks the service. What was known stays if it does not answer."""
        try:
            found = {table.name: table.columns for table in connection.tables()}
            found |= {view.name: view.columns for view in connection.views()}
        except Error:
            return
        self.relations = {name: [column.name for column in columns] for name, columns in found.items()}

    def of_schema(self, schema: str) -> list[str]:
        """The names, without their schema, of the tables and views of a schema."""
        found = (parts_of(name) for name in self.relations)
        return [parts[1] for parts in found if len(parts) == 2 and parts[0] == schema]


class SqlCompleter(Completer):
    """`commands` are the shell's own, with what they do."""

    def __init__(self, names: Names, commands: Mapping[str, str]) -> None:
        self._names = names
        self._commands = commands

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        text = document.text_before_cursor
        if text.startswith("\\"):
            yield from self._of_commands(text)
        elif qualified := _QUALIFIED.search(text):
            columns = self._names.relations.get(self._relation(qualified[1], document.text), ())
            yield from _fitting(columns, qualified[2], "column")
            yield from _fitting(self._names.of_schema(qualified[1].lower()), qualified[2], "table or view")
        else:
            word = _WORD.search(text)
            yield from self._of_sql(text, "" if word is None else word[0])

    def _of_commands(self, text: str) -> Iterator[Completion]:
        command, space, argument = text.partition(" ")
        if space:
            yield from _relations(self._names.relations, argument.lstrip())
            return
        for name, meaning in self._commands.items():
            if name.startswith(command):
                yield Completion(name, -len(command), display_meta=meaning)

    def _of_sql(self, text: str, word: str) -> Iterator[Completion]:
        if _OF_RELATION.search(text):
            yield from _relations(self._names.relations, word)
            return
        if not word:
            return
        yield from _fitting(
            sorted({c for columns in self._names.relations.values() for c in columns}), word, "column"
        )
        yield from _relations(self._names.relations, word)
        yield from _fitting(FUNCTIONS, word, "function")
        keywords = KEYWORDS if word[0].isupper() else [keyword.lower() for keyword in KEYWORDS]
        yield from _fitting(keywords, word, "keyword")

    def _relation(self, name: str, text: str) -> str:
        """The relation that a name stands for, which may be an alias."""
        if name.lower() in self._names.relations:
            return name.lower()
        named = re.finditer(rf"\b([\w$.]+)\s+(?:AS\s+)?{re.escape(name)}\b", text, re.IGNORECASE)
        return next((found[1].lower() for found in named if found[1].lower() in self._names.relations), "")


def _relations(names: Iterable[str], word: str) -> Iterator[Completion]:
    for name in names:
        if name.lower().startswith(word.lower()) and name != word:
            yield Completion(sql_name(name), -len(word), display=name, display_meta="table or view")


def _fitting(names: Iterable[str], word: str, kind: str) -> Iterator[Completion]:
    for name in names:
        if name.lower().startswith(word.lower()) and name != word:
            quoted = name if kind == "keyword" else sql_identifier(name)
            yield Completion(quoted, -len(word), display=name, display_meta=kind)
