"""The dialects of SQL: how far each can be relied on, and what a query in one means."""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from planner.dialects.standing import standing_of, standings
from planner.long_texts import translate_text
from service.http.access import lanes_of, runtime_of
from service.http.routes.strict import StrictRoute

router = APIRouter(route_class=StrictRoute, prefix="/v1", tags=["sql"])


class DialectModel(BaseModel):
    """A dialect. It is `proven` if enough of its system's manual was tried here, else only `read`."""

    dialect: str
    standing: Literal["proven", "read"]
    system: str = Field(description="The system whose manual was tried; empty if none was.")
    expressions: int = Field(description="Expressions of the manual that were tried.")
    queries: int = Field(description="Queries of the manual that were tried.")
    right: int = Field(description="Those that have the manual's answer here.")
    different: int = Field(description="Those whose answer differs by a decision.")
    refused: int = Field(description="Those that are refused.")


class Dialects(BaseModel):
    """The dialects that a request may name, by name."""

    dialects: list[DialectModel]


class ForeignQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    sql: str = Field(description="One query, or a CREATE VIEW of one.")
    dialect: str = Field(default="postgres", description="The dialect that it is written in.")


class NoteModel(BaseModel):
    """A part of the query that would mean something else if DuckDB read it as it is `written`."""

    line: int | None
    column: int | None
    written: str
    read: str = Field(description="What it is read as, in DuckDB's SQL.")
    why: str


class TranslationModel(BaseModel):
    """What a query is understood to mean. No table is looked at, so it may name any."""

    dialect: str
    standing: Literal["proven", "read"]
    sql: str = Field(description="The query in DuckDB's SQL.")
    before: list[str] = Field(description="Statements that DuckDB needs before the query: macros, settings.")
    notes: list[NoteModel] = Field(description="What changes meaning, in the order of the text.")


@router.get("/dialects")
async def list_dialects() -> Dialects:
    """List the dialects of SQL that a request may name, with their standings."""
    return Dialects(dialects=[DialectModel(**asdict(standing)) for standing in standings().values()])


@router.post("/translate")
async def translate_query(request: Request, query: ForeignQuery) -> TranslationModel:
    """Translate a query of any dialect into DuckDB's SQL, and note what changes meaning."""
    limits = runtime_of(request).settings.planning_limits
    found = await lanes_of(request).planning.run(translate_text, query.sql, query.dialect, limits)
    return TranslationModel(
        dialect=query.dialect,
        standing=standing_of(query.dialect).standing,
        sql=found.sql,
        before=list(found.before),
        notes=[NoteModel(**asdict(note)) for note in found.notes],
    )
