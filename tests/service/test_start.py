"""The service's start: the command line, everything that can prevent it, and permissions of files."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from service.errors import start_failure
from service.http.routes.operation_routes import VERSION
from service.metrics import Metrics
from service.privacy import tighten
from service.process.beginning import PRELOADED
from service.process.commandline import read_arguments
from service.process.listening import listen
from service.running.state import recover
from service.settings.settings import SETTINGS, Settings
from tests.service.client import Process


@pytest.mark.parametrize("argument", ["--help", "-h"])
def test_help_has_every_setting(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        read_arguments([argument])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    for setting in SETTINGS:
        assert setting.variable in shown
        assert setting.default in shown
        assert setting.meaning.split()[-1] in shown


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        read_arguments(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"freshet {VERSION}\n"


@pytest.mark.parametrize("arguments", [["--port", "1"], ["sreve"], ["serve", "now"], ["--hel"], ["-x"]])
def test_unknown_arguments(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        read_arguments(arguments)
    assert ended.value.code == 2
    written = capsys.readouterr().err
    assert arguments[-1] in written and "--help" in written
    assert written.count("\n") == 1


def failure(settings: Settings) -> str:
    with pytest.raises(Exception) as failed:
        recover(settings, Metrics())
    return start_failure(failed.value)


def test_what_is_in_the_way_is_a_sentence(tmp_path: Path) -> None:
    """One case of each kind: a database that does not exist or is not one, a directory that is a file."""
    file = tmp_path / "file"
    file.write_text("not a directory, not a database")
    for settings in (
        Settings(data=file),
        Settings(data=file / "below"),
        Settings(data=tmp_path / "a", database_url=f"sqlite:///{tmp_path}/none/x.db"),
        Settings(data=tmp_path / "b", database_url=f"sqlite:///{file}"),
        Settings(data=tmp_path / "c", database_url="nonsense"),
        Settings(data=tmp_path / "d", database_url="klingon://x/y"),
    ):
        said = failure(settings)
        assert said, settings
        assert "\n" not in said
        assert "FRESHET_DA" in said


def test_a_newer_database_is_a_sentence(tmp_path: Path) -> None:
    state = recover(Settings(data=tmp_path), Metrics())
    with state.catalog.transaction() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    state.close()
    assert "newer release" in failure(Settings(data=tmp_path))


@pytest.mark.parametrize(
    ("variable", "text"),
    [("FRESHET_LOG_LEVEL", "loud"), ("FRESHET_SPARK", "sometimes"), ("FRESHET_CONNECTIONS", "0")],
)
def test_settings_that_cannot_be(variable: str, text: str) -> None:
    with pytest.raises(ValueError, match=variable):
        Settings.from_environment({variable: text})


def others(path: Path) -> bool:
    """Whether others than the owner have permissions."""
    return bool(stat.S_IMODE(path.lstat().st_mode) & 0o077)


def test_what_was_open_is_tightened(tmp_path: Path) -> None:
    (tmp_path / "state" / "deep").mkdir(parents=True)
    for name in ("freshet.db", "freshet.db-wal", "state/deep/x", "mine.csv"):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o644)
    tmp_path.chmod(0o755)
    (tmp_path / "state" / "link").symlink_to("/etc/passwd")
    before = os.stat("/etc/passwd").st_mode
    tighten(tmp_path, ("freshet.db*", "state"))
    kept = [p for p in [tmp_path, *tmp_path.rglob("*")] if others(p) and not p.is_symlink()]
    assert kept == [tmp_path / "mine.csv"]
    assert os.stat("/etc/passwd").st_mode == before


def test_a_process(start: Callable[..., Process], tmp_path: Path) -> None:
    """The process's files are its owner's, its sinks' are for others. A second process says why it ends."""
    umask = os.umask(0o022)
    try:
        service = start(fresh=True, FRESHET_LOAD_ROOTS=str(tmp_path / "out"))
        (tmp_path / "out").mkdir(mode=0o755)
        service.wait_ready()
        sql = "CREATE TABLE t (a BIGINT); INSERT INTO t VALUES (1); CREATE VIEW v AS SELECT a FROM t"
        assert service.http.post("/v1/sql", json={"sql": sql}).status_code == 200
        sink = {"name": "s", "view": "v", "path": "deep/er", "interval_seconds": 0.1}
        assert service.http.post("/v1/sinks", json=sink).status_code == 201
        second = start()
        exit_code, written = second.wait(240)
        assert exit_code == 1
        assert "another process uses the data directory" in written
        assert "Traceback" not in written and "leaked" not in written
        for _ in range(200):
            if service.http.get("/v1/sinks/s").json()["files"]:
                break
        assert "leaked" not in service.finish()
    finally:
        os.umask(umask)
    data = tmp_path / "data"
    files = [data, *data.rglob("*")]
    assert any(p.name == "freshet.db" for p in files) and len(files) > 4
    assert [p for p in files if others(p)] == []
    shown = list((tmp_path / "out").rglob("*"))
    assert any(p.suffix == ".parquet" for p in shown)
    assert [oct(stat.S_IMODE(p.stat().st_mode)) for p in shown if p.is_file()] == ["0o644"]
    assert {oct(stat.S_IMODE(p.stat().st_mode)) for p in shown if p.is_dir()} == {"0o755"}


@pytest.mark.parametrize(
    ("host", "port"), [("no.such.host.invalid", 0), ("127.0.0.1", 70_000), ("256.1.1.1", 1)]
)
def test_an_address_that_cannot_be(host: str, port: int) -> None:
    with pytest.raises(ValueError, match=r"cannot listen on .*FRESHET_HOST") as failed:
        listen(host, port)
    assert "\n" not in str(failed.value)


def test_a_port_that_is_taken() -> None:
    with closing(listen("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=f"port {port}.*in use"):
            listen("127.0.0.1", port)


_ASKED = """
from engine.processes import children

asked = []
children.preload = asked.append
import service.process.serving
print(*asked)
"""


def test_the_server_of_children_begins_with_all_modules_that_are_asked_for() -> None:
    asked = subprocess.run(
        [sys.executable, "-c", _ASKED], check=True, timeout=120, capture_output=True, text=True
    )
    assert sorted(asked.stdout.split()) == sorted(PRELOADED)


def test_the_server_of_children_begins_before_the_service_is_loaded() -> None:
    """If there is more than one core: its modules and those of the service are loaded side by side."""
    begun = """
import sys
from engine.kernels.parallel import threads
from engine.processes import children
from service.process import beginning

threads.available = lambda: {cores}
children.begin = lambda: print(children._LOADED[1:] == list(beginning.PRELOADED))
beginning.import_module = lambda name: sys.exit(print(name))
beginning.serve()
"""
    for cores, said in ((2, ["True", "service.process.serving"]), (1, ["service.process.serving"])):
        program = [sys.executable, "-c", begun.format(cores=cores)]
        ran = subprocess.run(program, check=True, timeout=120, capture_output=True, text=True)
        assert ran.stdout.split() == said
