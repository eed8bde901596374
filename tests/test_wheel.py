"""A wheel runs without the repository: in an environment of its own, from another directory."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("engine", "planner", "service", "freshet", "migrations")
SOURCES = (*PACKAGES, "pyproject.toml", "README.md", "LICENSE")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, since a build leaves files beside the sources."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source)
    run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(made),
        str(source),
    )
    (found,) = made.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has the wheel, and what it needs from the one that runs the tests.

    A path in a .pth file brings packages, and not the .pth files beside them: so not the repository.
    """
    place = tmp_path_factory.mktemp("environment")
    venv.create(place)
    packages = place / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    own = str(place / "bin" / "python")
    run(sys.executable, "-m", "pip", "--python", own, "install", "--no-deps", str(wheel))
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place / "bin"


def run(*command: str, directory: Path | None = None, **environment: str) -> str:
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    done = subprocess.run(
        command, cwd=directory, env=outside | environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_holds_what_runs_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    packages = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert packages == set(PACKAGES)
    assert {Path(name).suffix for name in names if ".dist-info/" not in name} == {
        ".py",
        ".br",
        ".code",
        ".css",
        ".html",
        ".js",
        ".json",
        ".parquet",
        ".sql",
        ".svg",
        ".txt",
        ".tsv",
        ".typed",
    }
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            assert str(path.relative_to(ROOT)) in names
    for path in (ROOT / "engine" / "kernels" / "machine").glob("*.code"):
        assert str(path.relative_to(ROOT)) in names


KERNELS_WITHOUT_CODE = """
from engine.kernels.build import load_modules
from engine.kernels.compiled import KERNELS, SHIPPED
load_modules()
wanted = {kernel.files.stem(kernel.signature) for kernel in KERNELS}
print(sorted(wanted - {file.name.rsplit("-", 1)[0] for file in SHIPPED.glob("*.code")}))
"""


def test_its_machine_code_is_found_beside_other_packages(installed: Path, tmp_path: Path) -> None:
    missing = run(str(installed / "python"), "-c", KERNELS_WITHOUT_CODE, directory=tmp_path)
    assert missing == "[]\n"


def test_the_demo_runs_from_another_directory(installed: Path, tmp_path: Path) -> None:
    place = run(
        str(installed / "python"), "-c", "import service; print(service.__file__)", directory=tmp_path
    )
    assert Path(place).is_relative_to(installed.parent)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    freshet = str(installed / "freshet")
    try:
        told = run(freshet, "demo", directory=tmp_path, FRESHET_PORT=str(port), FRESHET_SPARK="never")
    finally:
        stopped = run(freshet, "demo", "--stop", directory=tmp_path)
    assert re.search(r'"package": "libgcc-s1", "component": "libc6"', told)
    assert "stopped the service" in stopped
    assert os.listdir(tmp_path / "build" / "demo" / "data")
