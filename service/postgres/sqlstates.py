"""The SQLSTATE of each of the service's error codes, in one table, and errors as fields of ErrorResponse.

docs/errors.md shows the table; a test compares them. A code that is not in it has the SQLSTATE of its status.

Source: PostgreSQL's manual, "PostgreSQL Error Codes".
"""

from __future__ import annotations

from service.errors import Problem, problem_of
from service.postgres.frontend_messages import Malformed
from service.postgres.message_decoder import TooLong
from service.problems import INTERNAL
from service.reading.query_errors import CallerGone
from service.sql.script_failures import ScriptFailed

SQLSTATES = {
    "admin_needed": "55000",
    "ambiguous_column": "42702",
    "answer_too_large": "54000",
    "append_only": "55000",
    "periods_overlap": "23P01",
    "assertion_broken": "23514",
    "assertion_unchecked": "55000",
    "bad_rows": "22P04",
    "block_outdated": "40001",
    "block_read_only": "25006",
    "block_failed": "25P02",
    "cancelled": "57014",
    "changed_twice": "21000",
    "check_violated": "23514",
    "columns_changed": "0A000",
    "constant_too_large": "54000",
    "count_too_large": "22003",
    "copy_cancelled": "57014",
    "definition_in_block": "25001",
    "duplicate_column": "42701",
    "duplicate_cursor": "42P03",
    "duplicate_statement": "42P05",
    "engine_error": "22000",
    "epoch_not_reached": "22023",
    "epoch_out_of_range": "22023",
    "execution_failed": "58000",
    "foreign_key_violated": "23503",
    "forbidden": "42501",
    "history_gone": "22023",
    "idle_session": "57P05",
    "in_use": "2BP01",
    "internal_error": "XX000",
    "invalid_body": "22P04",
    "invalid_name": "42602",
    "invalid_option": "22023",
    "invalid_plan": "XX000",
    "invalid_query": "42000",
    "invalid_setting": "22023",
    "invalid_type": "42704",
    "invalid_value": "22P02",
    "join_too_large": "53200",
    "key_exists": "23505",
    "key_invalid": "28P01",
    "key_missing": "28000",
    "log_unavailable": "58000",
    "memory_high": "53200",
    "missing_column": "42703",
    "name_in_use": "42P07",
    "no_block": "25P01",
    "no_columns": "42P16",
    "no_primary_key": "42P10",
    "not_leader": "25006",
    "not_ready": "57P03",
    "null_not_allowed": "23502",
    "over_budget": "53400",
    "over_view_budget": "53400",
    "overloaded": "53300",
    "plain_connection": "28000",
    "planner_error": "42000",
    "planning_limit": "54000",
    "planning_timeout": "54000",
    "protocol_violation": "08P01",
    "query_failed": "XX000",
    "query_interrupted": "57P02",
    "query_out_of_disk": "53100",
    "query_out_of_memory": "53200",
    "query_timeout": "57014",
    "query_too_large": "54000",
    "query_too_many_rows": "54000",
    "recursion_limit": "54000",
    "role_exists": "42710",
    "row_not_found": "02000",
    "session_terminated": "57P01",
    "shutting_down": "57P01",
    "sql_too_deep": "54001",
    "sql_too_large": "54000",
    "state_damaged": "XX001",
    "storage_failed": "58030",
    "syntax_error": "42601",
    "table_changed": "40001",
    "table_dropped": "40001",
    "tables_changing": "40001",
    "time_too_far": "22008",
    "too_large": "54000",
    "too_many_attempts": "53300",
    "too_many_columns": "54011",
    "too_many_connections": "53300",
    "too_many_feeds": "53300",
    "too_many_relations": "54000",
    "too_many_rows": "54000",
    "type_mismatch": "42804",
    "unique_violated": "23505",
    "unknown_column": "42703",
    "unknown_constraint": "42704",
    "unknown_cursor": "34000",
    "unknown_function": "42883",
    "unknown_key": "42704",
    "unknown_label": "42704",
    "unknown_name": "42P01",
    "unknown_role": "42704",
    "unknown_savepoint": "3B001",
    "unknown_schema": "3F000",
    "unknown_setting": "42704",
    "unknown_statement": "26000",
    "unknown_table": "42P01",
    "unsupported_format": "0A000",
    "unsupported_sql": "0A000",
    "view_before_commit": "55000",
    "view_building": "55000",
    "view_failed": "55000",
    "view_has_errors": "22000",
}
"""By the service's code."""
_OF_STATUS = {
    400: "42601",
    401: "28000",
    403: "42501",
    404: "42704",
    409: "55000",
    410: "22023",
    413: "54000",
}
_OTHER, _INTERNAL = "22000", "XX000"
CANCELED = "57014"


_OF_FACTS = {
    "invalid_query": (
        ("ambiguous reference to table", "42712"),
        ("ambiguous", "42702"),
        ("is named twice", "42701"),
        ("is defined twice", "42701"),
        ("at most one primary key", "42P16"),
        ("group by", "42803"),
        ("cannot contain aggregates", "42803"),
        ("cannot contain an aggregate", "42803"),
        ("aggregate function calls cannot be nested", "42803"),
        ("cannot contain window functions", "42P20"),
        ("cannot contain a window function", "42P20"),
        ("equal numbers of columns", "42601"),
        (" values for ", "42601"),
        ("subquery returns", "42601"),
        ("order term out of range", "42P10"),
        ("limit/offset cannot be negative", "2201W"),
        ("values are given, and the statement", "42601"),
        ("has no value", "42P02"),
        ("is a view: its rows cannot be changed", "42809"),
    ),
    "invalid_value": (
        ("division by zero", "22012"),
        ("field value out of range", "22008"),
        ("field format", "22007"),
        ("out of range", "22003"),
        ("overflow", "22003"),
        ("more than one row returned by a subquery", "21000"),
        (": unimplemented type for cast", "42804"),
        ("unimplemented type for cast", "42846"),
    ),
    "name_in_use": (("there is a schema called", "42P06"), ("there is a type called", "42710")),
    "type_mismatch": (
        ("there is no cast", "42846"),
        ("there is no ", "42883"),
        (" does not take (", "42883"),
        (" takes no arguments", "42883"),
    ),
    "unsupported_sql": (("is not supported supported are ", "42704"), ("is not supported did you", "42704")),
    "unknown_name": (
        ("there is no type called", "42704"),
        (" is a view", "42809"),
        (" is a table", "42809"),
    ),
}
"""SQLSTATEs that PostgreSQL tells apart and the service's codes do not: by code, and by words of the fact or
of the hint, the first that are in it."""


def sqlstate_of(problem: Problem) -> str:
    told = f"{problem.detail} {problem.hint}".lower()
    for words, sqlstate in _OF_FACTS.get(problem.code, ()):
        if words in told:
            return sqlstate
    found = SQLSTATES.get(problem.code) or _OF_STATUS.get(problem.status)
    return found or (_INTERNAL if problem.status == 500 else "53000" if problem.status > 428 else _OTHER)


def unwrapped(error: BaseException) -> BaseException:
    """The error itself, without the number of its statement."""
    return error.error if isinstance(error, ScriptFailed) else error


def problem_for(error: BaseException) -> Problem:
    """The problem of any exception, also of the protocol."""
    match unwrapped(error):
        case CallerGone():
            return Problem(409, code="cancelled", detail="the statement was cancelled")
        case Malformed() as found:
            return Problem(400, code="protocol_violation", detail=found.message)
        case TooLong() as found:
            return Problem(
                413,
                code="too_large",
                detail=f"a message of {found.size} bytes is over the limit of {found.most}",
                hint="FRESHET_POSTGRES_MESSAGE_BYTES sets it",
            )
        case other:
            return problem_of(other) or INTERNAL


def error_fields(
    problem: Problem, severity: str = "ERROR", script: str = "", sqlstate: str | None = None
) -> dict[str, str]:
    """The fields of an ErrorResponse or a NoticeResponse, by letter. The position counts characters of the
    `script`, from 1."""
    fields = {"S": severity, "V": severity, "C": sqlstate or sqlstate_of(problem), "M": problem.detail}
    if problem.hint:
        fields["H"] = problem.hint
    if problem.line is not None and problem.column is not None and script:
        fields["P"] = str(position_of(script, problem.line, problem.column))
    fields["R"] = problem.code
    return fields


def position_of(script: str, line: int, column: int) -> int:
    """The number of a character, from 1, that stands at a line and a column."""
    start = 0
    for _ in range(line - 1):
        start = script.find("\n", start) + 1
    return start + column
