"""COPY: the sub-protocol in both directions, and what is done with the data.

Into a table, the whole body is taken first, within the budget of a body, and becomes one epoch, or a part of
the block. Out of a query, rows go piece by piece, as fast as the client reads. The COPY of a SUBSCRIBE is in
`copied_changes.py`.
"""

from __future__ import annotations

from typing import Protocol

from planner.errors import Unsupported
from planner.parsing.script import Piece
from planner.statements.show_create import relation_text
from planner.suggestions import did_you_mean
from service.accounts.privileges import Privilege
from service.changes.table_changes import TableChanges
from service.definitions.definition import Definition
from service.errors import Invalid
from service.pgformats.data_rows import AnswerRows
from service.postgres import backend_messages as out
from service.postgres import frontend_messages as f
from service.postgres.client_session import ClientSession
from service.postgres.copied_changes import copy_changes
from service.postgres.copy_bodies import changes_of_copy
from service.postgres.copy_sending import CopySending
from service.postgres.copy_statements import Copy, copy_of
from service.postgres.copy_texts import format_of
from service.postgres.session_readers import session_statement
from service.postgres.session_statements import SubscribeStatement
from service.running.process_memory import LARGE
from service.settings.budget import too_large


class CopyInlet(Protocol):
    """Where the data comes from."""

    async def next(self) -> f.Frontend | f.Startup | None: ...


async def run_copy(session: ClientSession, piece: Piece, inlet: CopyInlet) -> str:
    """Runs a COPY. Returns its tag."""
    copy = copy_of(piece)
    if copy.is_from:
        return f"COPY {await _copy_in(session, copy, piece, inlet)}"
    if copy.query is not None and isinstance(session_statement(copy.query), SubscribeStatement):
        return f"COPY {await copy_changes(session, copy.query, copy.format)}"
    return f"COPY {await _copy_out(session, copy)}"


# In


async def _copy_in(session: ClientSession, copy: Copy, piece: Piece, inlet: CopyInlet) -> int:
    runs = session.runs
    timeline, principal = runs.timeline, runs.principal
    assert principal is not None
    name = runs.relation(copy.schema, copy.relation)
    principal.require(Privilege.INSERT, name)
    definition = timeline.definition(name, view=False)
    places = _places(copy, definition)
    if copy.format.kind == "CSV" and copy.format.escape != copy.format.quote:
        raise Unsupported(
            "COPY FROM with an ESCAPE other than the QUOTE is not supported",
            "write a quote inside a quoted field twice",
            *piece.place(),
        )
    if runs.block is not None:
        runs.block.must_write()
    timeline.must_lead()
    form = format_of(copy.format)
    session.outlet.write(out.copy_response(b"G", form, len(places)))
    body = await _received(session, inlet)
    budget, dictionary = session.hall.settings.budget, timeline.dictionary
    with runs.calling() as caller, dictionary.holding():
        changes = await session.hall.lanes.planning.run(
            changes_of_copy,
            body,
            copy.format,
            definition,
            places,
            dictionary,
            budget,
            session.settings.zone,
        )
        caller.check()
        return await _apply(session, definition, changes, len(body))


async def _apply(session: ClientSession, definition: Definition, changes: TableChanges, size: int) -> int:
    """Makes the changes an epoch, or a part of the block. Returns how many there are, without late ones."""
    runs = session.runs
    if runs.block is None:
        return (await runs.timeline.apply({definition.name: changes}, size=size)).changes
    return await session.hall.lanes.planning.run(runs.block.apply, {definition.name: changes})


async def _received(session: ClientSession, inlet: CopyInlet) -> bytes:
    """The whole body. After an error, the rest of it is read and dropped, as the protocol wants it."""
    most = session.hall.settings.body_limit
    parts: list[bytes] = []
    size = 0
    while True:
        await session.outlet.drain()
        message = await inlet.next()
        match message:
            case f.CopyData(data=data):
                size += len(data)
                if size > most:
                    raise too_large(most)
                if size > LARGE:
                    session.runs.runtime.memory.check("a large COPY")
                parts.append(data)
            case f.CopyDone():
                return b"".join(parts)
            case f.CopyFail(reason=reason):
                raise Invalid(f"the client has ended the COPY: {reason[:200]}", code="copy_cancelled")
            case f.Flush() | f.Sync():
                continue
            case None | f.Terminate():
                raise ConnectionResetError
            case _:
                raise f.Malformed(f"a message {type(message).__name__} is out of place in a COPY")


def _places(copy: Copy, definition: Definition) -> tuple[int, ...]:
    """The columns of a COPY. Raises Invalid for an unknown one, and for one that is named twice."""
    schema = definition.schema
    for number, name in enumerate(copy.columns):
        if name not in schema.names:
            raise Invalid(
                f'table "{definition.name}" has no column "{name}"',
                did_you_mean(name, schema.names),
                code="unknown_column",
            )
        if name in copy.columns[:number]:
            raise Invalid(f"column {name} is named twice", code="duplicate_column")
    if copy.columns:
        return tuple(schema.index(name) for name in copy.columns)
    generated = () if definition.filling is None else definition.filling.generated
    return tuple(place for place in range(len(schema)) if place not in generated)


# Out


async def _copy_out(session: ClientSession, copy: Copy) -> int:
    piece = copy.query or await _query(session, copy)
    result = await session.runs.run(piece, session.parameters)
    if result.answer is None:
        raise Invalid("the statement inside COPY returns no rows", "add RETURNING", code="invalid_query")
    rows = AnswerRows.of(result.answer)
    sending = CopySending(session, copy.format, rows.columns)
    await sending.send(rows)
    sending.end()
    return rows.size


async def _query(session: ClientSession, copy: Copy) -> Piece:
    """The query for the rows of a relation, in the order of its columns."""
    quoted = ['"' + name.replace('"', '""') + '"' for name in copy.columns]
    relation = relation_text(session.runs.relation(copy.schema, copy.relation))
    (piece,) = await session.runs.pieces(f"SELECT {', '.join(quoted) or '*'} FROM {relation}")
    return piece
