"""The console in the package is the build of its source, is served under a strict policy, and is small."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import httpx
import pyarrow as pa
import pytest
from fastapi import FastAPI

from service.app import create_app
from service.http.reference.console_files import BUILT, MEDIA_TYPES, POLICY
from service.settings.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
NOTICE = re.compile(r"^={80}\n(\S+) (\S+)\nLicence: (.+)\n={80}\n((?:(?!={80}).*\n)*)", re.MULTILINE)
IMPORT = re.compile(r"""(?:from|import) ['"]((?:@[\w-]+/)?[a-z][\w-]*)""")
"""The package of an import."""
LATER = ("arrow", "uPlot", "elk", "Branches", "Dataflow", "Relation", "Service", "Tour")
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


def get(app: FastAPI, *paths: str, coding: str = "identity") -> list[httpx.Response]:
    async def answers() -> list[httpx.Response]:
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app),
            base_url="http://localhost",
            headers={"Accept-Encoding": coding},
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
    files = [path for path in BUILT.rglob("*") if path.suffix in MEDIA_TYPES and path.name != "digests.txt"]
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


def test_scripts_and_styles_are_served_in_brotli(app: FastAPI) -> None:
    files = [path for path in BUILT.rglob("*") if path.suffix in (".css", ".js")]
    paths = [f"/console/{path.relative_to(BUILT).as_posix()}" for path in files]
    for path, answer in zip(files, get(app, *paths, coding="gzip, br"), strict=True):
        copy, content = path.with_name(path.name + ".br").read_bytes(), path.read_bytes()
        assert pa.Codec("brotli").decompress(copy, len(content)).to_pybytes() == content, "run make console"
        assert answer.headers["content-encoding"] == "br"
        assert answer.headers["content-length"] == str(len(copy))
        assert answer.headers["vary"] == "Accept-Encoding"
    refused = get(app, *paths, coding="gzip, br;q=0")
    assert "br" not in {answer.headers.get("content-encoding") for answer in refused}


def test_the_licences_of_all_packages_are_there(app: FastAPI) -> None:
    """Each package that the source imports, and what else has come with them, has its version, its licence
    and the licence's text in the notices."""
    text = get(app, "/console/notices.txt")[0].text
    notices = {name: (version, licence, body) for name, version, licence, body in NOTICE.findall(text)}
    locked = json.loads((ROOT / "console" / "package-lock.json").read_text())["packages"]
    imported = {name for path in sources() for name in IMPORT.findall(path.read_text())}
    assert imported >= {"svelte", "elkjs", "apache-arrow", "uplot", "@xyflow/svelte", "@codemirror/view"}
    assert imported <= notices.keys(), "run make console"
    for name, (version, licence, body) in notices.items():
        known = locked.get(f"node_modules/{name}")
        assert known is None or (known["version"], known["license"]) == (version, licence), name
        assert "copyright" in body.lower() or "licen" in body.lower(), name
        assert len(body) > 400, name
    assert "Eclipse Public License" in notices["elkjs"][2]
    assert "Apache License" in notices["apache-arrow"][2]


def sources() -> Iterator[Path]:
    """The modules of the console, tests left out."""
    for path in (ROOT / "console" / "src").rglob("*"):
        if path.suffix in (".ts", ".svelte") and not path.name.endswith(".test.ts"):
            yield path


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
