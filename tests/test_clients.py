"""A client that is missing: the test is skipped, or fails where all clients are required."""

from __future__ import annotations

import pytest

from tests import clients


@pytest.mark.parametrize(
    ("required", "outcome"), [(False, pytest.skip.Exception), (True, pytest.fail.Exception)]
)
def test_what_is_missing_is_told(
    monkeypatch: pytest.MonkeyPatch, required: bool, outcome: type[BaseException]
) -> None:
    monkeypatch.setattr(clients, "_ARE_REQUIRED", required)
    monkeypatch.delenv("FRESHET_NOTHING", raising=False)
    for ask in (
        lambda: clients.program("no-such-program", "ask for it", "FRESHET_NOTHING"),
        lambda: clients.module("no_such_module", "ask for it"),
        lambda: clients.file(clients.Path("/no/such/file"), "ask for it"),
        lambda: clients.interpreter("FRESHET_NOTHING", "no_such_module", "ask for it"),
    ):
        with pytest.raises(outcome, match="is not installed: ask for it"):
            ask()


def test_what_is_there_is_found() -> None:
    assert clients.module("tests.clients") is clients and clients.program("sh", "a shell").exists()
