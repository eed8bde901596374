"""Problems of the service as errors of the client."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import freshet
from freshet import Connection
from freshet.contract import calls
from freshet.contract.api_call import ApiAnswer
from tests.ports import free_port

NAMED: dict[str, tuple[Callable[[Connection, str], object], type[freshet.Error], int]] = {
    "unknown_name": (lambda db, name: db.table("absent").rows(), freshet.NotFoundError, 404),
    "name_in_use": (lambda db, name: db.table(name).create("id BIGINT"), freshet.ConflictError, 409),
    "unknown_column": (lambda db, name: db.table(name).insert({"x": 1}), freshet.InvalidRequestError, 422),
    "invalid_name": (lambda db, name: db.table("a b").rows(), freshet.InvalidRequestError, 422),
    "invalid_as_of": (
        lambda db, name: db.table(name).rows(as_of="then"),
        freshet.InvalidRequestError,
        400,
    ),
    "invalid_valid_at": (
        lambda db, name: db.table(name).rows(valid_at="2026-01-01T00:00:00Z"),
        freshet.InvalidRequestError,
        400,
    ),
    "invalid_request": (lambda db, name: db.view("v").plan("none"), freshet.InvalidRequestError, 422),
}


@pytest.mark.parametrize("code", NAMED)
def test_a_problem_is_raised(
    db: Connection,
    name: str,
    code: str,
) -> None:
    act, kind, status = NAMED[code]
    db.table(name).create("id BIGINT")
    with pytest.raises(kind) as raised:
        act(db, name)
    assert (raised.value.code, raised.value.status) == (code, status)
    assert raised.value.message in str(raised.value)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, freshet.UnauthorizedError),
        (403, freshet.UnauthorizedError),
        (410, freshet.HistoryGoneError),
        (413, freshet.InvalidRequestError),
        (429, freshet.OverloadedError),
        (500, freshet.UnavailableError),
        (502, freshet.UnavailableError),
    ],
)
def test_each_status_has_its_error(status: int, kind: type[freshet.Error]) -> None:
    """Also if the answer is not a problem document, as a proxy's is not."""
    for body in (b"", b"<html>", b"[1]", b'{"code": "c", "detail": "d"}'):
        call = calls.status()
        with pytest.raises(kind) as raised:
            call.result(ApiAnswer(status, {}, body))
        assert raised.value.status == status
        assert raised.value.code in (f"http_{status}", "c")


def test_the_place_in_the_sql_is_told(db: Connection, name: str) -> None:
    db.table(name).create("id BIGINT")
    sql = f"SELECT id,\n  nmae\nFROM {name}"
    for replace in (False, True):
        with pytest.raises(freshet.InvalidRequestError) as raised:
            db.create_view(f"{name}_v", sql, or_replace=replace)
        error = raised.value
        assert (error.code, error.line, error.column) == ("unknown_column", 2, 3)
    with pytest.raises(freshet.InvalidRequestError) as raised:
        db.sql(f"SELECT 1; {sql}")
    assert (raised.value.line, raised.value.index) == (2, 1)
    assert "(line 2, column 3)" in str(raised.value)
    assert "hint: " in str(raised.value)


def test_a_service_that_is_not_there() -> None:
    with (
        freshet.connect(f"http://127.0.0.1:{free_port()}", retries=1) as db,
        pytest.raises(freshet.UnreachableError, match="cannot be reached") as raised,
    ):
        db.status()
    assert not raised.value.began


def test_an_address_that_is_none() -> None:
    for address in ("localhost:8000", "nonsense"):
        with (
            freshet.connect(address, retries=0) as db,
            pytest.raises(freshet.UnreachableError) as raised,
        ):
            db.status()
        assert raised.value.hint == "an address begins with http:// or https://"
