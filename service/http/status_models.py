"""The JSON shape of the service's status."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

States = dict[str, int]
"""The number of jobs in each state."""


class SparkModel(BaseModel):
    """`session` is the state of Spark's session; `advances` says where the engine's passes were computed."""

    session: str
    advances: dict[str, int | str]


class HeldModel(BaseModel):
    """What the service holds, by kind. Figures of what changes meanwhile are approximate."""

    anonymous_bytes: int = Field(description="Resident memory that is in no file.")
    history_bytes: int = Field(description="Rows of tables and views at all kept epochs, in memory.")
    trace_bytes: int = Field(description="Rows that operators keep, in memory.")
    mapped_bytes: int = Field(description="Rows in mapped files, which the system may drop from memory.")
    dictionary_bytes: int = Field(description="Texts, and the table that finds them.")
    remembered_bytes: int = Field(description="Results of expressions, remembered by their arguments.")
    reading_bytes: int = Field(description="Readings that are kept for the pages of clients.")
    differences: int = Field(description="The number of differences in memory and in files.")
    texts: int = Field(description="The number of distinct texts.")
    log_bytes: int = Field(description="Bytes of the log since the last checkpoint.")
    log_commits: int = Field(description="Commits of the log since the last checkpoint.")


class LeadershipModel(BaseModel):
    """The role of a service among those that share its catalog. One that has it for itself leads."""

    role: Literal["leader", "standby"]
    token: int = Field(description="The leader's token, which grows with each other leader; 0 without any.")
    leader: str = Field(description="The leader's address, `FRESHET_ADVERTISED_URL`; empty without any.")
    lag: int = Field(description="The number of epochs that a standby has still to follow.")


class StatusModel(BaseModel):
    """The newest epoch, and figures about the service."""

    leadership: LeadershipModel
    epoch: int
    tables: int
    views: int
    failed: list[str] = Field(description="The views that are no longer maintained.")
    waiting: int = Field(description="Requests that wait for the writer or are being processed.")
    loads: States
    exports: States
    spark: SparkModel
    texts: int = Field(description="The number of distinct texts.")
    memory_bytes: int = Field(description="The resident memory of the process.")
    memory_high_bytes: int = Field(description="The mark of `FRESHET_MEMORY_HIGH`, in bytes.")
    memory_high: bool = Field(description="Whether the mark is passed, so that nothing large may begin.")
    held: HeldModel
    uptime_seconds: float
    version: str
