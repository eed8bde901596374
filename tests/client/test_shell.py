"""The shell of `freshet sql`, typed into through prompt_toolkit's pipe."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from rich.console import Console

import freshet
from freshet import Connection
from freshet.command.shell import watching
from freshet.command.shell.completion import Names, SqlCompleter
from freshet.command.shell.shell import Shell, converse
from freshet.command.shell.sql_ends import is_whole
from freshet.command.shell.watching import WatchedRows
from freshet.contract.changefeed import Change, Epoch
from tests.ports import free_port

Type = Callable[..., str]
ENTER, CTRL_C, CTRL_D = "\r", "\x03", "\x04"


@pytest.fixture
def type(db: Connection, tmp_path: Path) -> Type:
    """Types into a shell, and returns what it shows. The end of the input leaves it."""

    def type(*lines: str, **options: str) -> str:
        shown = io.StringIO()
        console = Console(file=shown, width=150)
        with create_pipe_input() as keys:
            keys.send_text("".join(line + ENTER for line in lines) + CTRL_D)
            code = converse(
                db,
                console=console,
                history=tmp_path / "s" / "history",
                input=keys,
                output=DummyOutput(),
                **options,
            )
        assert code == 0
        return shown.getvalue()

    return type


@pytest.fixture
def table(db: Connection, name: str) -> str:
    db.table(name).create("id BIGINT PRIMARY KEY, customer TEXT NOT NULL")
    db.create_view(f"{name}_v", f"SELECT customer, COUNT(*) AS n FROM {name} GROUP BY customer")
    db.table(name).insert([{"id": 1, "customer": "ada"}, {"id": 2, "customer": "bob"}])
    return name


def test_statements_of_many_lines(type: Type, table: str) -> None:
    shown = type(
        "SELECT count(*) AS n,", "  max(id) AS ';'", f"FROM {table};", f"DELETE FROM {table} WHERE id = 1;"
    )
    assert "2 │" in shown and "1 row" in shown
    assert "DELETE 1 (epoch " in shown
    assert "error" not in shown


def test_errors_show_the_place_and_the_shell_goes_on(type: Type, table: str) -> None:
    shown = type(
        "SELECT id,", f"  custommer FROM {table};", "SELECT 41 + 1 AS answer;", "\\nonsense", "\\watch"
    )
    lines = shown.splitlines()
    at = next(place for place, line in enumerate(lines) if "custommer FROM" in line)
    assert lines[at].startswith("  line 2: ") and lines[at + 1][lines[at].index("custommer")] == "^"
    assert "42" in shown
    assert "there is no command \\nonsense" in shown and "\\watch needs a name" in shown


def test_the_shells_own_commands(type: Type, table: str) -> None:
    shown = type(
        "\\?",
        "\\d",
        f"\\d {table}",
        f"\\d {table}_v",
        "\\dt",
        "\\dv",
        "\\d absent",
        "\\x",
        "SELECT 7 AS seven;",
    )
    assert "\\as_of EPOCH|TIME|off" in shown
    assert "PRIMARY KEY" in shown and "NOT NULL" in shown and "BIGINT" in shown
    assert f"ready: SELECT customer, COUNT(*) AS n FROM {table}" in shown
    assert "absent" in shown and "expanded display is on" in shown
    assert "│ seven │ 7 │" in shown
    assert " ms" in type("\\timing", "SELECT 1;") and "timing is off" in type("\\timing", "\\timing")
    assert "never" not in type("\\q", "SELECT 'never';")


@pytest.mark.parametrize("word", ["exit", "quit;", "EXIT ;"])
def test_words_that_leave(type: Type, word: str) -> None:
    shown = type(word, "SELECT 'never';")
    assert "never" not in shown and "rror" not in shown


@pytest.mark.parametrize("word", ["help", "help;"])
def test_a_word_that_asks_for_help(type: Type, word: str) -> None:
    assert "\\as_of EPOCH|TIME|off" in type(word)


def test_reading_the_past(type: Type, table: str, db: Connection) -> None:
    epoch = db.status()["epoch"]
    db.table(table).insert({"id": 3, "customer": "cy"})
    query = f"SELECT count(*) AS n FROM {table};"
    shown = type("\\as_of nonsense", query)
    assert "as_of is 'nonsense' [invalid_as_of]" in shown and "read as of" not in shown and "3 │" in shown
    shown = type(f"\\as_of {epoch}", query, f"DELETE FROM {table};", "\\as_of", "\\as_of off", query)
    assert shown.index("2 │") < shown.index("cannot run as of an epoch") < shown.index("3 │")
    assert f"queries read as of {epoch}" in shown and "queries read the newest epoch" in shown
    assert "2 │" in type(query, as_of=str(epoch))


def test_ctrl_c_drops_the_line(type: Type) -> None:
    shown = type(f"SELECT nonsense{CTRL_C}SELECT 5 AS five;")
    assert "five" in shown and "error" not in shown


def test_the_history_is_private(type: Type, tmp_path: Path) -> None:
    secret = "fr_0123456789ab_" + "c" * 64
    type("SELECT 'first';", f"SELECT '{secret}';", "SELECT 'last';")
    file = tmp_path / "s" / "history"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    kept = file.read_text()
    assert "first" in kept and "last" in kept and "0123456789ab" not in kept
    file.chmod(0o644)
    type("SELECT 1;")
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_history_that_cannot_be_kept(db: Connection, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    shown = io.StringIO()
    with create_pipe_input() as keys:
        keys.send_text(CTRL_D)
        console, history = Console(file=shown), tmp_path / "file" / "history"
        assert converse(db, console=console, history=history, input=keys, output=DummyOutput()) == 0
    assert "cannot keep the history" in shown.getvalue()


def test_a_service_that_is_not_there() -> None:
    shown = io.StringIO()
    with freshet.connect(f"http://127.0.0.1:{free_port()}", retries=0) as away:
        assert converse(away, console=Console(file=shown)) == 3
    assert "cannot be reached" in shown.getvalue()


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("", True),
        ("  ", True),
        ("\\d", True),
        ("exit", True),
        ("help;", True),
        ("exits", False),
        ("SELECT 1", False),
        ("SELECT 1;", True),
        ("SELECT 1; -- end", True),
        ("SELECT 1; /* end */ ", True),
        ("SELECT 1; /* not /* yet */ ", False),
        ("SELECT 1; SELECT 2", False),
        ("SELECT ';", False),
        ("SELECT ';'", False),
        ("SELECT ';';", True),
        ("SELECT 'it''s;", False),
        ("SELECT E'\\';", False),
        ("SELECT E'\\'';", True),
        ('SELECT "a;', False),
        ("SELECT $$;", False),
        ("SELECT $a$;$$;$a$;", True),
        ("SELECT a$1;", True),
        ("SELECT 1 -- ;", False),
        ("SELECT 1 /* ; */", False),
        ("SELECT $1;", True),
    ],
)
def test_when_enter_sends(text: str, whole: bool) -> None:
    assert is_whole(text) == whole


NAMES = Names({"orders": ["id", "customer"], "visits": ["page", "Odd Name"]})


@pytest.mark.parametrize(
    ("text", "expected", "absent"),
    [
        ("SELECT * FROM o", "orders", "OR"),
        ("SELECT * FROM ", "visits", "customer"),
        ("INSERT INTO v", "visits", "VALUES"),
        ("SELECT cus", "customer", "orders"),
        ("SELECT cou", "count", "customer"),
        ("SELECT * fr", "from", "FROM"),
        ("SELECT * FR", "FROM", "from"),
        ("SELECT orders.", "customer", "page"),
        ("SELECT o.c| FROM orders AS o", "customer", "page"),
        ("SELECT v.o| FROM visits v", '"Odd Name"', "orders"),
        ("\\wa", "\\watch", "WHERE"),
        ("\\watch o", "orders", "ON"),
        ("\\", "\\d", "orders"),
        ("SELECT nothing.", None, "id"),
        ("", None, "orders"),
    ],
)
def test_completion(text: str, expected: str | None, absent: str) -> None:
    before, _, after = text.partition("|")
    document = Document(before + after, len(before))
    found = SqlCompleter(NAMES, {"\\d": "list", "\\watch": "watch"}).get_completions(
        document, CompleteEvent()
    )
    texts = [completion.text for completion in found]
    assert expected in texts if expected else not texts
    assert absent not in texts


def test_completion_knows_what_was_just_made(name: str, db: Connection) -> None:
    shell = Shell(db, Console(file=io.StringIO()), "postgres", None)
    shell.run(f"CREATE TABLE {name} (a BIGINT); CREATE VIEW {name}_v AS SELECT a AS b FROM {name};")
    assert shell.names.relations[name] == ["a"] and shell.names.relations[f"{name}_v"] == ["b"]
    shell.run(f"DROP VIEW {name}_v;")
    assert f"{name}_v" not in shell.names.relations


def change(epoch: int, diff: int, n: int) -> Change:
    return Change(epoch, diff, {"n": n, "s": "x"})


def rendered(rows: WatchedRows, lines: int = 50) -> str:
    console = Console(file=io.StringIO(), width=100)
    with console.capture() as captured:
        console.print(rows.table("v", lines))
    return captured.get()


def test_rows_that_come_and_go() -> None:
    rows = WatchedRows(["n", "s"], [[1, "x"], [2, "x"], [2, "x"]], 4)
    assert "v at epoch 4" in rendered(rows) and "3 rows, 0 came, 0 went" in rendered(rows)
    rows.apply(Epoch(5, (change(5, -1, 1), change(5, 1, 3), change(5, -1, 2))))
    assert dict(rows.counts) == {'[2, "x"]': 1, '[3, "x"]': 1}
    assert (rows.came, rows.gone) == ({'[3, "x"]'}, ['[1, "x"]'])
    assert "2 rows, 1 came, 1 went" in rendered(rows)
    rows.apply(Epoch(6, (change(6, 2, 3),)))
    assert (rows.came, rows.gone, rows.counts['[3, "x"]']) == ({'[3, "x"]'}, [], 3)
    assert "3 (3 times)" in rendered(rows)
    rows.apply(Epoch(7, (change(7, -3, 3), change(7, 1, 9), change(7, -1, 9))))
    assert dict(rows.counts) == {'[2, "x"]': 1}


def test_rows_that_are_not_held_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "KEPT", 3)
    rows = WatchedRows(["n", "s"], [[n, "x"] for n in range(3)], 1)
    rows.apply(Epoch(2, (change(2, -1, 77), change(2, 1, 50))))
    assert list(rows.counts) == ['[50, "x"]', '[0, "x"]', '[1, "x"]']
    assert rows.gone == []


def test_watching_a_view(db: Connection, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each change is shown; Ctrl-C ends the watching."""
    shown: list[str] = []
    looked, applied = watching.watched, WatchedRows.apply

    def look(connection: Connection, name: str) -> WatchedRows:
        rows = looked(connection, name)
        insert(10)
        return rows

    def insert(id: int) -> None:
        db.table(table).insert([{"id": id, "customer": "ada"}])

    def apply(rows: WatchedRows, epoch: Epoch) -> None:
        applied(rows, epoch)
        shown.append(rendered(rows))
        if len(shown) == 2:
            raise KeyboardInterrupt
        insert(11)

    monkeypatch.setattr(watching, "watched", look)
    monkeypatch.setattr(WatchedRows, "apply", apply)
    console = Console(file=io.StringIO(), width=100)
    watching.watch(db, db.view(f"{table}_v"), console)
    assert "1 came, 1 went" in shown[0] and "ada" in shown[1]
