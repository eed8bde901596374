"""DROP of everything but functions: [IF EXISTS] name, ... [CASCADE | RESTRICT]."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from planner.parsing.script import Piece
from planner.relation_names import PUBLIC
from planner.statements.statements import Statement
from planner.statements.word_reader import WordReader


@dataclass(frozen=True)
class Dropping(Statement):
    """With `if_exists` the names may be missing; `cascade` says that what needs them goes too."""

    names: tuple[str, ...]
    if_exists: bool
    cascade: bool = False


class DropTable(Dropping):
    pass


class DropView(Dropping):
    pass


class DropAssertion(Dropping):
    pass


class DropBranch(Dropping):
    pass


class DropIndex(Dropping):
    pass


class DropReplacement(Dropping):
    pass


class DropRole(Dropping):
    pass


class DropSchema(Dropping):
    """With `cascade`, all that is in the schemas goes too, with what reads it."""


class DropSequence(Dropping):
    pass


class DropType(Dropping):
    pass


class DropStream(Dropping):
    """DROP of sources or sinks."""

    @property
    def kind(self) -> str:
        """SOURCE or SINK."""
        return self.piece.words(2)[1]


def _index_name(reader: WordReader) -> str:
    schema, name = reader.qualified()
    if schema not in (None, PUBLIC):
        raise reader.failure("the name of an index has no schema")
    return name


_FORMS: Mapping[tuple[str, ...], tuple[type[Dropping], Callable[[WordReader], str], bool]] = {
    ("ASSERTION",): (DropAssertion, WordReader.relation, False),
    ("BRANCH",): (DropBranch, WordReader.name, False),
    ("INDEX", "CONCURRENTLY"): (DropIndex, _index_name, True),
    ("INDEX",): (DropIndex, _index_name, True),
    ("MATERIALIZED", "VIEW"): (DropView, WordReader.relation, True),
    ("REPLACEMENT",): (DropReplacement, WordReader.name, False),
    ("ROLE",): (DropRole, WordReader.name, False),
    ("SCHEMA",): (DropSchema, WordReader.schema, True),
    ("SEQUENCE",): (DropSequence, WordReader.existing, False),
    ("SINK",): (DropStream, WordReader.name, False),
    ("SOURCE",): (DropStream, WordReader.name, False),
    ("TABLE",): (DropTable, WordReader.relation, True),
    ("TYPE",): (DropType, WordReader.type, False),
    ("VIEW",): (DropView, WordReader.relation, True),
}
"""By the words after DROP: what the statement is, how a name is read, and whether it takes CASCADE."""


def drop(piece: Piece) -> Dropping:
    reader = WordReader(piece, 1, "")
    words = next((words for words in _FORMS if reader.skip(*words)), None)
    if words is None:
        what = f"{' '.join(piece.words(2))} is not supported"
        raise piece.unsupported(what, "drop a table, a view, a type or a schema")
    kind, read, cascades = _FORMS[words]
    more = " [CASCADE | RESTRICT]" if cascades else ""
    reader.form = f"write DROP {' '.join(words)} [IF EXISTS] name, ...{more}"
    return kind(piece, *reader.dropped(partial(read, reader), cascades=cascades))
