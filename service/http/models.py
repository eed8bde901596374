"""The JSON shapes of definitions, in requests and responses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Literal, overload

from pydantic import BaseModel, ConfigDict, Field

from engine.schema import Column, Schema, Type
from planner.errors import InvalidSyntax
from planner.parsing.namespace import Types
from planner.parsing.parse import parse_type
from planner.relation_names import PUBLIC, schema_of
from planner.sql_types import data_type
from planner.statements.breach import Breach
from planner.statements.show_create import constraint_text
from planner.statements.table_rules import Check, Constraint, Unique
from service.definitions.definition import Definition
from service.definitions.readable import Readable
from service.errors import Invalid
from service.http.search_paths import MEANING, GivenPath
from service.http.watermark_model import WatermarkModel
from service.names import fold_name
from service.pipeline.jobs import Job

_1970 = datetime(1970, 1, 1, tzinfo=UTC)


_ONLY_A_TYPE = 'NOT NULL is "nullable": false, a key is "primary_key"; write "sql" for what else a column has'


def _is_missing(value: object) -> bool:
    return value is None


class ColumnModel(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    type: str = Field(examples=["BIGINT", "NUMERIC(10, 2)", "TEXT"])
    nullable: bool = True


class ShownColumn(ColumnModel):
    """A column of a table or view. Members without a value are left out."""

    default: str | None = Field(default=None, exclude_if=_is_missing)
    generated: str | None = Field(default=None, exclude_if=_is_missing)
    comment: str | None = Field(default=None, exclude_if=_is_missing)


class ConstraintModel(BaseModel):
    name: str
    type: Literal["CHECK", "UNIQUE", "FOREIGN KEY"]
    definition: str


class NewTable(BaseModel):
    """Either `sql`, a CREATE TABLE statement, or `name` and `columns`."""

    model_config = ConfigDict(extra="forbid")

    sql: str | None = None
    dialect: str = "postgres"
    name: str | None = None
    columns: list[ColumnModel] | None = None
    primary_key: list[str] | None = None


IN_SCHEMA = Field(
    default=PUBLIC,
    serialization_alias="schema",
    exclude_if=lambda schema: schema == PUBLIC,
    description="The schema; left out for `public`.",
)


class BudgetModel(BaseModel):
    """What a view may cost. It is refused before it is built if its estimate says that it would cost more."""

    model_config = ConfigDict(extra="forbid")

    memory_bytes: float | None = Field(default=None, gt=0)
    build_seconds: float | None = Field(default=None, gt=0)
    change_milliseconds: float | None = Field(
        default=None, gt=0, description="For a change of one row of a table, on a bad day."
    )


class NewView(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    sql: str
    dialect: str = "postgres"
    search_path: GivenPath = Field(default=None, description=MEANING)
    breach: Breach | None = Field(
        default=None,
        description="Makes the view an assertion: a view that is to have no rows. An epoch that would give "
        "it one is refused, or made if the assertion only warns.",
    )
    budget: BudgetModel | None = None


class IndexModel(BaseModel):
    """An index by `columns`. It is `building` until reads can use it."""

    name: str
    columns: list[str]
    included: list[str] | None = Field(default=None, exclude_if=_is_missing)
    state: Literal["ready", "building"]


class TableModel(BaseModel):
    """A table. `name` is its full name. `primary_key` is empty for a bag; empty `constraints`, `indexes`,
    `watermark` and `comment` are left out. The index of a UNIQUE constraint is among the constraints."""

    name: str
    in_schema: str = IN_SCHEMA
    columns: list[ShownColumn]
    primary_key: list[str]
    constraints: list[ConstraintModel] | None = Field(default=None, exclude_if=_is_missing)
    indexes: list[IndexModel] | None = Field(default=None, exclude_if=_is_missing)
    watermark: WatermarkModel | None = Field(default=None, exclude_if=_is_missing)
    comment: str | None = Field(default=None, exclude_if=_is_missing)


class CreatedTable(TableModel):
    epoch: int


class Tables(BaseModel):
    tables: list[TableModel]


class BuildProgress(BaseModel):
    """How far the building of a view is: the rows that it reads and has made, the rounds that its recursions
    have run, and the share of its operators, from 0 to 1, that are done.
    """

    reads: int
    rows: int
    rounds: int
    share: float


class ViewModel(BaseModel):
    """`name` is the full name. `state` is `ready`, `building` (see `progress`; with a `reason` if the view is
    built again), `errors` (rows fail: see `errors`) or `failed` (see `reason`). `notices` say what its author
    should know, as that nobody has proven its dialect, or that its columns are not those of its data.
    """

    name: str
    in_schema: str = IN_SCHEMA
    sql: str
    dialect: str
    columns: list[ShownColumn]
    state: str
    reason: str | None = None
    indexes: list[IndexModel] | None = Field(default=None, exclude_if=_is_missing)
    comment: str | None = Field(default=None, exclude_if=_is_missing)
    progress: BuildProgress | None = Field(default=None, exclude_if=_is_missing)
    breach: Breach | None = Field(
        default=None, exclude_if=_is_missing, description="What an epoch does that breaks the assertion."
    )
    notices: list[str] | None = Field(default=None, exclude_if=_is_missing)


class CreatedView(ViewModel):
    epoch: int


class Views(BaseModel):
    views: list[ViewModel]


class ProblemModel(BaseModel):
    """An RFC 9457 problem. `position` is a place in the SQL, `index` the number of the statement that failed
    in a script."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    hint: str = ""
    position: dict[str, int] | None = None
    index: int | None = Field(default=None, exclude_if=_is_missing)


class JobModel(BaseModel):
    """A load, an export or a backup. It is `running` once it is accepted; `started` is when its turn came.
    `progress` is from 0 to 1. `error` says why it failed."""

    id: str
    state: Literal["running", "done", "failed", "cancelled"]
    progress: float
    rows: int | None = None
    epoch: int | None = None
    error: ProblemModel | None = None
    created: datetime
    started: datetime | None = None
    ended: datetime | None = None


def job_members(job: Job, progress: float) -> dict[str, Any]:
    """The members of a `JobModel`."""
    return {
        "id": job.id,
        "state": job.state,
        "progress": round(progress, 3),
        "rows": job.rows,
        "epoch": job.epoch,
        "error": job.error,
        "created": moment(job.created_at),
        "started": moment(job.started_at),
        "ended": moment(job.ended_at),
    }


@overload
def moment(microseconds: int) -> datetime: ...


@overload
def moment(microseconds: int | None) -> datetime | None: ...


def moment(microseconds: int | None) -> datetime | None:
    """A time in microseconds since 1970, UTC, as JSON shows it."""
    return None if microseconds is None else _1970 + timedelta(microseconds=microseconds)


def column_models(schema: Schema) -> list[ColumnModel]:
    return [ColumnModel(name=c.name, type=str(c.type), nullable=c.nullable) for c in schema.columns]


def shown_columns(definition: Definition) -> list[ShownColumn]:
    """The columns of a table or view, with their defaults, expressions and comments."""
    rules, comments = definition.details.rules, definition.details.comments
    defaults = {name: text.sql for name, text in rules.defaults.items()}
    generated = {name: text.sql for name, text in rules.generated.items()}
    return [
        ShownColumn(
            name=c.name,
            type=str(c.type),
            nullable=c.nullable,
            default=defaults.get(c.name),
            generated=generated.get(c.name),
            comment=comments.get(c.name),
        )
        for c in definition.strict.columns
    ]


def index_models(definition: Definition, readable: Readable) -> list[IndexModel] | None:
    """The indexes of a table or a view; None if it has none."""
    return [
        IndexModel(
            name=index.name,
            columns=list(index.columns),
            included=list(index.included) or None,
            state="ready" if readable.has_index(definition, index) else "building",
        )
        for index in definition.details.indexes
    ] or None


def table_model(
    definition: Definition, readable: Readable, watermark: WatermarkModel | None = None
) -> TableModel:
    key = definition.relation.key or ()
    names = definition.schema.names
    return TableModel(
        name=definition.name,
        in_schema=schema_of(definition.name),
        columns=shown_columns(definition),
        primary_key=[names[i] for i in key],
        constraints=[_constraint(c) for c in definition.details.rules.constraints] or None,
        indexes=index_models(definition, readable),
        watermark=watermark,
        comment=definition.details.comments.get(""),
    )


def _constraint(constraint: Constraint) -> ConstraintModel:
    text = constraint_text(constraint)
    kind: Literal["CHECK", "UNIQUE", "FOREIGN KEY"] = "FOREIGN KEY"
    if isinstance(constraint, Check | Unique):
        kind = "CHECK" if isinstance(constraint, Check) else "UNIQUE"
    return ConstraintModel(name=constraint.name, type=kind, definition=text)


def requested_schema(columns: list[ColumnModel], types: Types) -> Schema:
    """The schema of a request's columns. Raises Invalid or a PlannerError for a bad name or type."""
    return Schema(
        tuple(Column(fold_name(c.name), requested_type(c.type, types), c.nullable) for c in columns)
    )


def key_of(names: list[str] | None, schema: Schema) -> tuple[int, ...] | None:
    """The places of the primary key's columns; None without a key."""
    if not names:
        return None
    folded = [fold_name(name) for name in names]
    for name in folded:
        if name not in schema.names:
            raise Invalid(f"the primary key names column {name}, which does not exist", code="unknown_column")
    return tuple(schema.index(name) for name in folded)


def requested_type(text: str, types: Types) -> Type:
    """The type that SQL calls `text`, or a named type.

    Raises Invalid if it is not a type, a PlannerError if it is not supported.
    """
    try:
        parsed = parse_type(text, "postgres", types)
    except InvalidSyntax as error:
        raise Invalid(error.message, _ONLY_A_TYPE, code="invalid_type") from None
    return data_type(parsed, "postgres")
