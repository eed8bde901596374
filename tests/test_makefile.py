"""The front door says what it offers and what it lacks; no target is run but with a stand-in for Python."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def make(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """As from a shell: a make that runs these tests passes nothing down."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))
    }
    return subprocess.run(
        ["make", *arguments], cwd=directory, env=environment, capture_output=True, text=True, timeout=240
    )


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def stand_in(directory: Path, script: str) -> str:
    path = directory / "a-python"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return f"PYTHON={path}"


def test_make_alone_lists_the_targets() -> None:
    listed = {line.split()[1] for line in make(ROOT).stdout.splitlines()}
    assert {"demo", "serve", "stop", "test", "check", "mutants", "soak", "bench"} <= listed


def test_an_older_python_is_refused_by_name(clone: Path) -> None:
    old = stand_in(clone, 'test "$1" = --version && echo Python 3.9.2; test "$1" = --version')
    answer = make(clone, "demo", old)
    assert answer.returncode != 0
    assert "needs Python 3.11 or later" in answer.stderr
    assert "Python 3.9.2" in answer.stderr
    assert not (clone / ".venv").exists()


def test_a_python_without_venv_is_told_what_to_install(clone: Path) -> None:
    bare = stand_in(clone, 'test "$2" != venv || { mkdir .venv; exit 1; }')
    answer = make(clone, "test", bare)
    assert answer.returncode != 0
    assert "apt-get install python3-venv" in answer.stderr
    assert not (clone / ".venv").exists()


def test_stop_has_nothing_to_stop_before_there_is_an_environment(clone: Path) -> None:
    assert make(clone, "stop").returncode == 0
