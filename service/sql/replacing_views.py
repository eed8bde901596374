"""Statements about replacements of views."""

from __future__ import annotations

from collections.abc import Sequence

from planner.parsing.script import Excerpt
from planner.statements.drop_statements import DropReplacement
from planner.statements.replacement_statements import (
    REPLACING,
    ApplyReplacement,
    CreateReplacement,
    PreviewReplacement,
)
from planner.statements.statements import Commit, CreateView, Statement
from service.accounts.principals import MayRead
from service.catalog.replacement_records import NewQuery
from service.errors import Conflict
from service.reading.found_rows import AnswerColumns, FoundRows
from service.running.runtime import Runtime
from service.sql.tasks import Result, name_of, texts


async def replace_views(statement: REPLACING, runtime: Runtime, readable: MayRead) -> Result:
    """Runs a statement, over what is readable for its author."""
    replacements, name = runtime.replacements, name_of(statement)
    match statement:
        case CreateReplacement(name=made, queries=queries):
            await runtime.create_replacement(
                made,
                [_query(view, text, statement.piece.dialect) for view, text in queries],
                readable,
                exists_ok=statement.if_not_exists,
            )
        case ApplyReplacement(name=applied, view=view):
            queries_of = [query.view for query in replacements.get(applied).record.queries]
            if view is not None and view not in queries_of:
                raise Conflict(
                    f"replacement {applied} is for {', '.join(queries_of)}, not for {view}",
                    f"APPLY REPLACEMENT {applied}",
                )
            return Result(name, await replacements.apply(applied))
        case DropReplacement(names=names):
            await replacements.drop(*names, missing_ok=statement.if_exists)
        case PreviewReplacement(name=previewed, view=view, offset=first):
            found = await replacements.compare(previewed, view)
            last = None if statement.limit is None else first + statement.limit
            words = found.rows[0][:, first:last]
            answer = FoundRows(
                AnswerColumns(found.whole), found.epoch, words, runtime.dictionary, found.texts
            )
            return Result(name, found.epoch, answer=answer)
        case _:
            rows = [
                [it.name, ", ".join(query.view for query in it.record.queries), *replacements.state_of(it)]
                for it in replacements.all.values()
            ]
            return texts(name, runtime.readable.newest, ("replacement", "views", "state", "reason"), rows)
    return Result(name, runtime.readable.newest)


def views_of(block: Sequence[Statement]) -> list[CreateView]:
    """The statements of a block, from BEGIN to COMMIT, that only replaces views; none for any other."""
    inner = [it for it in block[1:-1] if isinstance(it, CreateView) and it.or_replace]
    return inner if len(inner) == len(block) - 2 and isinstance(block[-1], Commit) else []


def query_of(statement: CreateView) -> NewQuery:
    """The query that CREATE OR REPLACE VIEW gives a view."""
    return _query(statement.name, statement.definition, statement.piece.dialect)


def _query(view: str, text: Excerpt, dialect: str) -> NewQuery:
    return NewQuery(view, text.text, dialect, relocate=text.relocate)
