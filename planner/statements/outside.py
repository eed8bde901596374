"""Statements about data outside of the service: sources, sinks, and files that are copied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from planner.statements.drop_statements import DropStream
from planner.statements.statements import CreateTable, Statement

Options = Mapping[str, str]
"""By name in lower case, as the statement gives them."""


@dataclass(frozen=True)
class CreateSource(Statement):
    """A source that fills a `table`, which is made for it if the statement has columns. `format` and `encode`
    say what its files hold, `encoding` has the options of these."""

    name: str
    table: CreateTable | None
    options: Options
    format: str
    encode: str
    encoding: Options
    if_not_exists: bool


@dataclass(frozen=True)
class CreateSink(Statement):
    """A sink of the changes of `relation`."""

    name: str
    relation: str
    options: Options
    format: str
    encode: str
    encoding: Options
    if_not_exists: bool


@dataclass(frozen=True)
class ShowStreams(Statement):
    """SHOW SOURCES or SINKS."""

    @property
    def kind(self) -> str:
        """SOURCE or SINK."""
        return self.piece.words(2)[1].removesuffix("S")


@dataclass(frozen=True)
class CopyFiles(Statement):
    """COPY of files at `place` into `relation`, or, without `is_from`, of the rows of `relation` or `query`
    to files there. `options` are those of readers and writers, in Spark's words."""

    is_from: bool
    relation: str
    query: exp.Expression | None
    place: str
    format: str
    mode: str = "errorifexists"
    options: Options = field(default_factory=dict)


OUTSIDE = CreateSource | CreateSink | DropStream | ShowStreams | CopyFiles
