"""Prepared statements: point reads by their text, parsed, bound and compiled once.

A statement is kept under its text, its dialect, the search path, and the names and types of its parameters,
until its relation or a named type changes, or its name means another relation. The least recently used ones
go when all take too many bytes. That a text is no point read is kept too, until any definition changes.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from engine.errors import EngineError
from engine.schema import Type
from planner.adhoc.point_query import point_query
from planner.errors import PlannerError
from planner.identifiers import fold
from planner.limits import PlanningLimits, within
from planner.parsing.namespace import DEFAULT, DEFAULT_PATH, Namespace, SearchPath, added_schema
from planner.parsing.parameters import NO_PARAMETERS, Given, Parameters
from planner.parsing.script import split
from planner.parsing.vocabulary import Vocabulary, with_vocabulary
from service.definitions.known_relations import KnownRelations
from service.reading.point_reads import PointRead
from service.running.runtime import Runtime

_LIKELY = re.compile(r"\s*SELECT\b.*\bWHERE\b", re.IGNORECASE | re.DOTALL)
_UNLIKELY = re.compile(r"\bJOIN\b|\bGROUP\s+BY\b|\bUNION\b", re.IGNORECASE)
_LONGEST = 1 << 13
"""Characters of the longest text that may be a point read."""
_SIZE, _OF_TEXT = 24 << 10, 64
"""About the bytes of a point read, and those for each character of its text."""


@dataclass(frozen=True)
class Shape:
    """A statement without the values of its parameters, which have `types` where these are given. `path` has
    the schemas in which names are sought, with that of temporary tables."""

    text: str
    dialect: str
    names: tuple[str, ...] = ()
    types: tuple[Type | None, ...] = ()
    positional: bool = False
    path: SearchPath = DEFAULT_PATH

    @staticmethod
    def of(
        text: str, dialect: str, parameters: Parameters = NO_PARAMETERS, names: Namespace = DEFAULT
    ) -> Shape:
        given = parameters.given
        types = tuple(value.type for value in given.values())
        path = names.path if names.temporary is None else (names.temporary, *names.path)
        return Shape(text, dialect, tuple(given), types, parameters.positional, path)

    @property
    def is_likely(self) -> bool:
        """Whether the text looks like a point read."""
        text = self.text
        return len(text) <= _LONGEST and bool(_LIKELY.match(text)) and not _UNLIKELY.search(text)

    @property
    def declared(self) -> Mapping[str, Type]:
        """The types that come with values."""
        pairs = zip(self.names, self.types, strict=True)
        return {name: type for name, type in pairs if type is not None}

    @property
    def parameters(self) -> Parameters:
        """Parameters of this shape, all NULL."""
        pairs = zip(self.names, self.types, strict=True)
        return Parameters({name: Given(None, type) for name, type in pairs}, self.positional)


@dataclass(frozen=True, eq=False)
class _Entry:
    """`read` is None for a text that is no point read; `known` and `vocabulary` are what it was made from.
    `bare` is the name of its relation if it stands without a schema, and the search path tells which it is.
    """

    read: PointRead | None
    known: KnownRelations
    vocabulary: Vocabulary
    size: int
    bare: str | None = None

    def holds(self, known: KnownRelations, vocabulary: Vocabulary, names: Namespace) -> bool:
        if self.vocabulary is not vocabulary or not self._means(names):
            return False
        if self.known is known:
            return True
        read = self.read
        return read is not None and known.all.get(read.definition.name) is read.definition

    def _means(self, names: Namespace) -> bool:
        """Whether the relation's name still means it."""
        if self.read is None or self.bare is None:
            return True
        return names.meant(self.bare, names.relations) == self.read.definition.name


class PreparedStatements:
    """Any thread may use it."""

    def __init__(self, runtime: Runtime, capacity: int, limits: PlanningLimits) -> None:
        """It keeps at most `capacity` bytes."""
        self._runtime = runtime
        self._capacity = capacity
        self._limits = limits
        self._lock = threading.Lock()
        self._entries: OrderedDict[Shape, _Entry] = OrderedDict()
        self._size = 0

    @property
    def bytes(self) -> int:
        """About the size of what is kept."""
        return self._size

    def __len__(self) -> int:
        return len(self._entries)

    def kept(
        self, shape: Shape, known: KnownRelations, names: Namespace = DEFAULT
    ) -> tuple[bool, PointRead | None]:
        """Whether it is known what the statement is, and its point read, if it is one."""
        with self._lock:
            entry = self._entries.get(shape)
            if entry is None or not entry.holds(known, self._runtime.vocabulary(), names):
                return False, None
            self._entries.move_to_end(shape)
            return True, entry.read

    def prepare(self, shape: Shape, known: KnownRelations, names: Namespace = DEFAULT) -> PointRead | None:
        """The point read that the statement is, made and kept; None if it is none, or wrong."""
        vocabulary = self._runtime.vocabulary()
        read, bare = self._read(shape, known, vocabulary, names)
        size = _SIZE + _OF_TEXT * len(shape.text) if read is not None else 4 * len(shape.text) + 512
        with self._lock:
            self._drop(shape)
            self._entries[shape] = _Entry(read, known, vocabulary, size, bare)
            self._size += size
            while self._size > self._capacity:
                self._drop(next(iter(self._entries)))
        return read

    def _read(
        self, shape: Shape, known: KnownRelations, vocabulary: Vocabulary, names: Namespace
    ) -> tuple[PointRead | None, str | None]:
        """The point read, and the name of its relation if the search path has told it."""
        try:
            with within(self._limits):
                pieces = split(shape.text, shape.dialect, shape.parameters, names)
                if len(pieces) != 1 or ("?" in shape.text and not shape.positional):
                    return None, None
                tree = with_vocabulary(pieces[0], vocabulary).template()
                bare = _bare_name(tree, names)
                query = point_query(tree, known.all, shape.dialect, shape.declared)
            definition = None if query is None else known.all[query.relation]
            if query is None or definition is None:
                return None, None
            return PointRead(query, definition, self._runtime.dictionary), bare
        except (PlannerError, EngineError, RecursionError, UnicodeError):
            return None, None

    def _drop(self, shape: Shape) -> None:
        entry = self._entries.pop(shape, None)
        if entry is not None:
            self._size -= entry.size


def _bare_name(tree: exp.Expression, names: Namespace) -> str | None:
    """The name of the first table of a statement, if it has no schema but what the search path told."""
    table = tree.find(exp.Table)
    if names.is_default or table is None or not isinstance(table.this, exp.Identifier):
        return None
    is_bare = table.args.get("db") is None or added_schema(table) is not None
    return fold(table.this) if is_bare else None
