"""Programs and libraries of others that tests use: where they are missing, a test is skipped.

`FRESHET_CLIENTS=required`, which `make check` sets, makes it fail instead: nothing is left out unseen.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest

_ARE_REQUIRED = os.environ.get("FRESHET_CLIENTS") == "required"


def missing(what: str, where: str) -> NoReturn:
    """Skips the test, or fails it; `where` says how to get what it needs."""
    reason = f"{what} is not installed: {where}"
    if _ARE_REQUIRED:
        pytest.fail(f"{reason} (FRESHET_CLIENTS=required)", pytrace=False)
    pytest.skip(reason)


def program(name: str, where: str, variable: str = "") -> Path:
    """The path of a program: from an environment variable, or on the PATH."""
    found = os.environ.get(variable) or shutil.which(name)
    return Path(found) if found else missing(name, where)


def file(path: Path, where: str) -> Path:
    return path if path.exists() else missing(path.name, where)


def module(name: str, where: str = "pip install -e '.[dev]'") -> ModuleType:
    """A module of this interpreter."""
    try:
        return importlib.import_module(name)
    except ImportError:
        missing(name, where)


def interpreter(variable: str, imports: str, where: str) -> str:
    """The Python that an environment variable names, which has a module."""
    found = os.environ.get(variable)
    if found and subprocess.run([found, "-c", f"import {imports}"], capture_output=True).returncode == 0:
        return found
    missing(imports, f"{where}, into the environment of {variable}")
