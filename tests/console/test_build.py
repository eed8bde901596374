"""The console in the package is the build of its source, is served under a strict policy, and is small."""

from __future__ import annotations

import asyncio
import gzip
import re
from concurrent.futures import ThreadPoolExecutor
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import httpx
import pytest
from fastapi import FastAPI

from service.app import create_app
from service.http.reference.console_files import BUILT, MEDIA_TYPES, POLICY
from service.settings.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
LATER = ("arrow", "uPlot", "elk", "Dataflow", "Relation", "Service", "Tour")
"""What the first page does not load."""


@pytest.fixture(scope="module")
def digests() -> ModuleType:
    spec = spec_from_file_location("console_digest", ROOT / "console" / "digest.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    """The app without its runtime: the console needs none."""
    return create_app(Settings(data=tmp_path_factory.mktemp("data")), on_failure=lambda: None)


def get(app: FastAPI, *paths: str) -> list[httpx.Response]:
    async def answers() -> list[httpx.Response]:
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://localhost"
        ) as client:
            return [await client.get(path) for path in paths]

    with ThreadPoolExecutor(1) as thread:  # Playwright may have a loop running in this one
        return thread.submit(lambda: asyncio.run(answers())).result()


def test_the_build_is_that_of_its_source(digests: ModuleType) -> None:
    assert digests.DIGESTS.read_text() == digests.digests(), "run make console"


def test_a_changed_file_is_another_digest(digests: ModuleType, tmp_path: Path) -> None:
    """Contents, names and what is where: each of them counts."""
    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / "b").write_bytes(b"2")
    both = [tmp_path / "a", tmp_path / "b"]
    found = {digests.digest(tmp_path, both), digests.digest(tmp_path, both[:1])}
    (tmp_path / "a").write_bytes(b"2")
    found.add(digests.digest(tmp_path, both))
    (tmp_path / "a").rename(tmp_path / "c")
    found.add(digests.digest(tmp_path, [tmp_path / "b", tmp_path / "c"]))
    assert len(found) == 4


def test_every_file_of_the_build_is_served(app: FastAPI) -> None:
    files = [path for path in BUILT.rglob("*") if path.suffix in MEDIA_TYPES]
    assert len(files) > 10
    answers = get(app, *(f"/console/{path.relative_to(BUILT).as_posix()}" for path in files))
    for path, answer in zip(files, answers, strict=True):
        assert answer.status_code == 200
        assert answer.content == path.read_bytes()
        assert answer.headers["content-type"] == MEDIA_TYPES[path.suffix]
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        is_hashed = path.parent.name == "assets"
        assert ("immutable" in answer.headers["cache-control"]) == is_hashed
        assert bool(re.search(r"-[\w-]{8}\.\w+$", path.name)) == is_hashed


def test_nothing_else_is_served(app: FastAPI) -> None:
    names = (
        "digests.txt",
        "assets",
        "",
        "..%2fapp.py",
        "..%2f..%2fpyproject.toml",
        "assets%2f..%2findex.html",
    )
    for name, answer in zip(names, get(app, *(f"/console/{name}" for name in names)), strict=True):
        assert answer.status_code == 404, name


def test_the_page_runs_no_inline_script_or_style(app: FastAPI) -> None:
    page = get(app, "/")[0].text
    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", page)
    assert all(match.startswith(" ") for match in re.findall(r"<script([^>]*)></script>", page))
    assert page.count("<script") == len(re.findall(r"<script[^>]* src=", page)) == 1
    assert "unsafe" not in POLICY


def test_the_first_page_is_small() -> None:
    first = [
        path for path in BUILT.rglob("*") if path.suffix in MEDIA_TYPES and not path.name.startswith(LATER)
    ]
    assert {path.name.split("-")[0] for path in first} >= {"index", "Query", "editor"}
    assert sum(len(gzip.compress(path.read_bytes())) for path in first) < 250_000
    assert sum(len(gzip.compress(path.read_bytes())) for path in BUILT.rglob("*.js")) < 900_000
