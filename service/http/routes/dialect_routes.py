"""The dialects of SQL, and how far each can be relied on."""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from planner.dialects.standing import standings
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


@router.get("/dialects")
async def list_dialects() -> Dialects:
    """List the dialects of SQL that a request may name, with their standings."""
    return Dialects(dialects=[DialectModel(**asdict(standing)) for standing in standings().values()])
