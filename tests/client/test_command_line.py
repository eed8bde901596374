"""The commands of `freshet` against a service: what they print, and their exit codes."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from rich.console import Console

import freshet
from freshet import Connection
from freshet.command.application import Commands, main
from freshet.command.plan_trees import plan_steps, plan_tree
from freshet.command.reporting import place
from freshet.command.shell.shell import Shell
from service.concealing import KEY_FORM
from service.settings.settings import SETTINGS
from tests.docs.markdown import ROOT
from tests.ports import free_port
from tests.service.client import Process

Ended = tuple[int, str, str]
Run = Callable[..., Ended]


@pytest.fixture
def run(service: Process, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs a command: its exit code, and what it printed to stdout and to stderr."""
    monkeypatch.setenv("FRESHET_URL", service.url)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str, stdin: str = "") -> Ended:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        shown = capfd.readouterr()
        return int(ended.value.code or 0), shown.out, shown.err

    return run


@pytest.fixture
def orders(db: Connection, name: str) -> str:
    """A table of two rows, and the view `{name}_v` of it."""
    db.table(name).create("id BIGINT PRIMARY KEY, customer TEXT, price NUMERIC(10, 2)")
    db.create_view(f"{name}_v", f"SELECT customer, SUM(price) AS total FROM {name} GROUP BY customer")
    db.table(name).insert([{"id": 1, "customer": "a,b", "price": "3.50"}, {"id": 2, "price": 4}])
    return name


@pytest.mark.parametrize("command", Commands.entries)
def test_help_reads_like_a_manual(run: Run, command: str) -> None:
    code, shown, _ = run(command, "--help")
    assert code == 0
    assert "Usage: freshet" in shown
    assert Commands.entries[command].summary in shown
    assert len(shown.splitlines()) > 12


def test_help_is_fast_and_loads_no_command() -> None:
    program = (
        "import sys, time\nfrom freshet.command.application import main\ntry: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('pyarrow', 'httpx', 'numba', 'prompt_toolkit', 'service') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert shown.stdout.endswith("[]\n"), shown.stderr
    assert all(command in shown.stdout for command in Commands.entries)


def test_rows_in_every_format(run: Run, orders: str) -> None:
    query = f"SELECT * FROM {orders} ORDER BY id"
    rows = [
        {"id": 1, "customer": "a,b", "price": "3.50"},
        {"id": 2, "customer": None, "price": "4.00"},
    ]
    code, shown, said = run("sql", "-c", query)
    assert (code, [json.loads(line) for line in shown.splitlines()], said) == (0, rows, "")
    assert json.loads(run("sql", "-c", query, "--format", "json")[1]) == rows
    found = list(csv.DictReader(io.StringIO(run("sql", "-c", query, "--format", "csv")[1])))
    assert found == [{name: str(value or "") for name, value in row.items()} for row in rows]
    table = run("sql", "-c", query, "--format", "table")[1]
    assert "NULL" in table and "a,b" in table and "2 rows" in table


def test_csv_is_what_the_service_writes(run: Run, orders: str, db: Connection) -> None:
    odd = ["", 'a"b', "x\ny", "\r", " ", "é"]
    db.table(orders).insert([{"id": 10 + place, "customer": text} for place, text in enumerate(odd)])
    written = run("sql", "-c", f"SELECT id, customer, price FROM {orders} ORDER BY id", "--format", "csv")[1]
    assert written == run("export", orders, "-", "--type", "csv", "--order-by", "id")[1]


def test_scripts_from_everywhere(run: Run, orders: str, tmp_path: Path) -> None:
    script = f"INSERT INTO {orders} VALUES (3, 'c', 1); SELECT count(*) AS n FROM {orders};\nSELECT 1 AS one;"
    assert run("sql", stdin=script)[1] == '{"n": 3}\n{"one": 1}\n'
    file = tmp_path / "script.sql"
    file.write_text(f"SELECT max(id) AS n FROM {orders}")
    assert run("sql", str(file))[1] == '{"n": 3}\n'
    shown = run("sql", "-", "--format", "table", stdin=f"DELETE FROM {orders} WHERE id = 3")[1]
    assert shown.startswith("DELETE 1 (epoch ")
    assert run("sql", "-c", f"SELECT count(*) AS n FROM {orders}", "--as-of", "0")[1] == '{"n": 0}\n'
    assert run("sql", stdin="")[0] == 0


def test_a_refusal_shows_the_place(run: Run, orders: str) -> None:
    code, shown, said = run("sql", "-c", f"SELECT id,\n\tprise FROM {orders}")
    assert (code, shown) == (1, "")
    lines = said.splitlines()
    assert "[unknown_column]" in lines[0]
    assert lines[1] == f"  line 2:     prise FROM {orders}"
    assert lines[2] == "              ^"
    assert lines[3].startswith("hint: ")


@pytest.mark.parametrize(
    ("sql", "line", "column", "shown"),
    [
        ("SELECT x", 1, 8, ["  line 1: SELECT x", "                 ^"]),
        ("a\r\nb c", 2, 3, ["  line 2: b c", "            ^"]),
        ("漢字 x", 1, 4, ["  line 1: 漢字 x", "               ^"]),
        ("SELECT x", None, None, []),
        ("", 3, 4, ["  at line 3, column 4"]),
        ("one", 3, 4, ["  at line 3, column 4"]),
    ],
)
def test_the_caret(sql: str, line: int | None, column: int | None, shown: list[str]) -> None:
    assert place(sql, line, column) == shown


@pytest.mark.parametrize("column", [1, 40, 5000, 9999])
def test_the_caret_of_a_long_line(column: int) -> None:
    sql = "".join(chr(ord("a") + n % 26) for n in range(10_000))
    line, caret = place(sql, 1, column)
    assert len(line) < 120
    assert line[caret.index("^")] == sql[column - 1]


def test_exit_codes(run: Run, tmp_path: Path) -> None:
    away = f"http://127.0.0.1:{free_port()}"
    for expected, arguments in (
        (0, ["status"]),
        (1, ["sql", "-c", "SELECT * FROM absent"]),
        (1, ["tail", "absent"]),
        (1, ["explain", "absent"]),
        (1, ["explain", "-c", "SELECT nothing"]),
        (1, ["export", "absent", str(tmp_path / "x.csv")]),
        (1, ["sql", "-c", "SELECT 1 AS a, 2 AS a"]),
        (2, ["nonsense"]),
        (2, ["sql", "--nonsense"]),
        (2, ["sql", "x.sql", "-c", "SELECT 1"]),
        (2, ["sql", str(tmp_path / "absent.sql")]),
        (2, ["sql", "-c", "SELECT 1", "--format", "xml"]),
        (2, ["load", "t", str(tmp_path / "absent.csv")]),
        (2, ["load", "t", "x.xyz"]),
        (2, ["export", "t", "x.xyz"]),
        (2, ["load", "t", "x.csv", "--bad-rows", "skip"]),
        (2, ["load", "t", "x.csv", "--remote", "--idempotency-key", "x"]),
        (2, ["sql", "-c", "\\d"]),
        (2, ["explain"]),
        (2, ["explain", "v", "-c", "SELECT 1"]),
        (2, ["status", "--key", "not a key"]),
        (2, ["status", "--certificate", "/absent"]),
        (3, ["status", "--url", away]),
        (3, ["sql", "-c", "SELECT 1", "--url", away]),
        (3, ["keys", "list", "--url", away]),
    ):
        code, shown, said = run(*arguments)
        assert code == expected, (arguments, shown, said)
        assert bool(said) == (expected > 0)
        assert "Traceback" not in said


def test_keys_of_a_service(start: Callable[..., Process], run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    service = start()
    service.wait_ready()
    monkeypatch.setenv("FRESHET_URL", service.url)
    _, boss, said = run("keys", "add", "boss", "--role", "admin")
    boss = boss.removesuffix("\n")
    assert re.fullmatch(KEY_FORM, boss) and "only time" in said
    code, _, said = run("keys", "list")
    assert code == 1 and "key_missing" in said and "FRESHET_KEY" in said
    monkeypatch.setenv("FRESHET_KEY", boss)
    assert run("keys", "add", "shop", "--relations", "sales_*, prices")[0] == 0
    listed = [json.loads(line) for line in run("keys", "list")[1].splitlines()]
    assert [(key["name"], key["relations"]) for key in listed] == [
        ("boss", None),
        ("shop", ["sales_*", "prices"]),
    ]
    shop = listed[1]["id"]
    assert "has a new secret" in run("keys", "rotate", shop, "--grace", "5")[2]
    assert run("keys", "revoke", shop)[1] == f"key {shop} is revoked\n"
    assert run("keys", "add", "x", "--if-none", "--url", service.url)[0] == 2
    for arguments in (["status"], ["status", "--help"], ["status", "--url", "http://127.0.0.1:9"]):
        assert boss not in "".join(map(str, run(*arguments)))


def test_a_name_that_nothing_has(run: Run, orders: str) -> None:
    said = run("tail", f"{orders}_w")[2]
    assert said.startswith(f"error: there is no table or view called {orders}_w [unknown_name]\n")
    assert f"did you mean {orders}_v?" in said


def test_loads_and_exports(run: Run, orders: str, db: Connection, tmp_path: Path) -> None:
    file = tmp_path / "in.csv"
    file.write_text("_op,id,customer,price\nupsert,1,z,9.00\ninsert,7,y,\n")
    code, shown, _ = run("load", orders, str(file), "--idempotency-key", "first")
    assert code == 0 and shown.startswith("2 changes in epoch ")
    assert (
        run("load", orders, str(file), "--idempotency-key", "first")[1].split(",")[0] == shown.split(",")[0]
    )
    for suffix in ("csv", "ndjson", "arrow", "parquet"):
        written = tmp_path / f"out.{suffix}"
        assert run("export", f"{orders}_v", str(written), "--where", "total > 4")[0] == 0
        assert written.stat().st_size
        assert not list(tmp_path.glob(".*"))
    assert (tmp_path / "out.csv").read_text().splitlines() == ["customer,total", "z,9.00"]
    assert run("export", f"{orders}_v", str(tmp_path / "out.csv"))[0] == 2
    assert run("export", f"{orders}_v", str(tmp_path / "out.csv"), "--overwrite", "--as-of", "0")[0] == 0
    assert (tmp_path / "out.csv").read_text() == "customer,total\n"
    assert run("export", f"{orders}_v", str(tmp_path / "new.csv"), "--where", "nonsense")[0] == 1
    assert not (tmp_path / "new.csv").exists() and not list(tmp_path.glob(".*"))
    db.table(f"{orders}_c").create("customer TEXT, total NUMERIC(38, 2)")
    for suffix in ("parquet", "arrow"):
        assert run("load", f"{orders}_c", str(tmp_path / f"out.{suffix}"))[0] == 0
    assert len(db.table(f"{orders}_c").rows()) == 2
    wrong = tmp_path / "wrong.ndjson"
    wrong.write_text('{"insert": {"id": 20}}\n{"insert": {"id": "x"}}\n')
    assert run("load", orders, str(wrong))[0] == 1
    assert len(db.table(orders).rows(where="id = 20")) == 0
    assert run("load", orders, "/nowhere/x.csv", "--remote")[0] == 1
    assert run("export", orders, "/nowhere/x.csv", "--remote")[0] == 1


def test_tail_goes_on_where_it_stopped(run: Run, orders: str, db: Connection, tmp_path: Path) -> None:
    """Whatever the runs are, all of them together print each epoch once."""
    state = tmp_path / "state"
    begin = db.status()["epoch"]
    for n in range(30, 36):
        db.table(orders).insert({"id": n, "customer": "t", "price": 1})
    printed: list[int] = []
    state.write_text(f"{begin}\n")
    for count in (1, 3, 2):
        code, shown, _ = run("tail", orders, "--state", str(state), "--epochs", str(count))
        assert code == 0
        printed += [json.loads(line)["row"]["id"] for line in shown.splitlines()]
    assert printed == list(range(30, 36))
    assert int(state.read_text()) == db.status()["epoch"]
    shown = run("tail", f"{orders}_v", "--since", str(begin), "--epochs", "1", "--format", "csv")[1]
    assert shown.splitlines() == ["epoch,diff,customer,total", f"{begin + 1},1,t,1.00"]
    shown = run("tail", f"{orders}_v", "--since", str(begin), "--epochs", "2", "--format", "table")[1]
    assert "+ customer=t, total=1.00" in shown and "- customer=t, total=1.00" in shown
    state.write_text("nonsense")
    assert run("tail", orders, "--state", str(state))[0] == 2
    assert run("tail", orders, "--state", str(tmp_path / "no" / "state"), "--since", "0")[0] == 2


def test_tail_outlives_its_service_and_ends_with_ctrl_c(
    start: Callable[..., Process], tmp_path: Path
) -> None:
    service = start()
    service.wait_ready()
    with freshet.connect(service.url) as db:
        db.table("t").create("id BIGINT")
        db.table("t").insert({"id": 1})
    output = tmp_path / "output"
    with output.open("w") as sink, pytest.MonkeyPatch.context() as patch, _heeding_ctrl_c():
        patch.setenv("FRESHET_URL", service.url)
        tail = subprocess.Popen(
            [sys.executable, "-m", "freshet", "tail", "t", "--since", "0"], stdout=sink, stderr=sink, cwd=ROOT
        )
    try:
        _wait(lambda: '"id": 1' in output.read_text())
        service.kill()
        start(service.port)
        with freshet.connect(service.url, retries=1000) as db:
            db.table("t").insert({"id": 2})
        _wait(lambda: '"id": 2' in output.read_text())
        tail.send_signal(2)
        assert tail.wait(240) == 130
        assert [json.loads(line)["row"]["id"] for line in output.read_text().splitlines()] == [1, 2]
    finally:
        tail.kill()
        tail.wait()


@contextmanager
def _heeding_ctrl_c() -> Iterator[None]:
    """What is started here heeds Ctrl-C, also if this run does not: a shell has what runs in the background
    ignore it, and what such a program starts does so too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _wait(condition: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happens"
        time.sleep(0.05)


def test_a_reader_that_leaves(service: Process, orders: str) -> None:
    """`freshet ... | head -1` ends without a word."""
    command = f"{sys.executable} -m freshet sql -c 'SELECT * FROM range(200000)' | head -1"
    environment = {**os.environ, "FRESHET_URL": service.url}
    shown = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert shown.stdout == '{"range": 0}\n'
    assert shown.stderr == ""


def test_plans(run: Run, orders: str) -> None:
    for stage in ("logical", "optimized", "dataflow", "supersteps", "analyze"):
        code, shown, said = run("explain", f"{orders}_v", "--stage", stage)
        assert code == 0 and orders in shown, said
    query = f"SELECT a.id FROM {orders} AS a JOIN {orders} AS b ON a.id = b.id"
    code, shown, _ = run("explain", "-c", query)
    assert code == 0 and "join" in shown
    read = plan_steps(shown)
    assert read is not None and read[1][read[0]].inputs
    code, shown, _ = run("explain", "-c", query, "--stage", "cost")
    assert (code, shown.startswith("rows: ")) == (0, True)
    code, shown, _ = run("explain", f"{orders}_v", "--stage", "cost")
    assert (code, shown.startswith("rows: ")) == (0, True)
    code, _, said = run("explain", "-c", f"SELECT 1,\n  nothing FROM {orders}")
    assert code == 1 and "line 2:   nothing" in said


def test_a_translation(run: Run) -> None:
    code, shown, said = run("translate", "bigquery", "-c", "SELECT xs[OFFSET(0)] AS x FROM t")
    assert code == 0 and "SELECT" in shown and shown.endswith(";\n")
    assert "line 1, column 8: xs[OFFSET(0)] is " in said
    code, shown, said = run("translate", "bigquery", "-c", "SELECT FROM")
    assert (code, shown) == (1, "") and "line 1" in said


def test_a_plan_that_is_a_tree() -> None:
    source, mapped = "a0 := source t\n    rows 3, milliseconds 1\n", "a1 := map a0\n    milliseconds 3\n"
    text = f"{source}{mapped}a2 := join a0 a1\nreturn a2\n"
    written = io.StringIO()
    Console(file=written, width=100).print(plan_tree(text))
    lines = [line.rstrip() for line in written.getvalue().splitlines()]
    assert lines[0] == "a2 join a0 a1  0% of the time"
    assert [line.lstrip("│├└─ ") for line in lines[1:]] == [
        "a0 source t  25% of the time",
        "rows 3, milliseconds 1",
        "a1 map a0  75% of the time",
        "milliseconds 3",
        "a0, as above",
    ]


@pytest.mark.parametrize(
    "text", ["", "nonsense", "a := b", "return a", "a := b\nreturn a\nmore", "  a := b\nreturn a"]
)
def test_a_plan_of_another_form_stays_a_text(text: str) -> None:
    assert plan_steps(text) is None
    assert str(plan_tree(text)) == text


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state-home"))
    monkeypatch.delenv("FRESHET_KEY", raising=False)
    yield


@pytest.mark.parametrize(
    ("words", "expected"),
    [("freshet st", "status"), ("freshet tail --st", "--state"), ("freshet keys ro", "rotate")],
)
def test_completion_of_the_system_s_shell(words: str, expected: str) -> None:
    told = {"_FRESHET_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    command = [sys.executable, "-m", "freshet"]
    shown = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env={**os.environ, **told})
    assert shown.stdout.split() == [expected], shown.stderr


def test_help_of_serve_has_every_setting(run: Run) -> None:
    shown = " ".join(run("serve", "--help")[1].split())
    for setting in SETTINGS:
        assert setting.variable in shown
        assert setting.meaning.split()[-1] in shown


def test_what_a_terminal_would_obey_is_escaped(run: Run, name: str, db: Connection) -> None:
    db.table(name).create("a TEXT")
    db.sql(f"COMMENT ON TABLE {name} IS '[bold]x[/nothing]'")
    db.table(name).insert({"a": "\x1b[2J[red]"})
    shown = run("sql", "-c", f"SELECT a FROM {name}", "--format", "table")[1]
    assert "\x1b" not in shown and "\\x1b[2J[red]" in shown
    said = run("sql", "-c", "SELECT '\x1b[2J' + nothing")[2]
    assert "\x1b" not in said and "^" in said
    described = io.StringIO()
    Shell(db, Console(file=described, width=100), "postgres", None).run(f"\\d {name}")
    assert "[bold]x[/nothing]" in described.getvalue()
