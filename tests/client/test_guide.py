"""The programs of the client's guide run one after the other, and print what is shown."""

from __future__ import annotations

import contextlib
import io
from itertools import pairwise
from typing import Any

import pytest

from tests.docs.markdown import Block, blocks
from tests.docs.transcript import matches
from tests.service.client import Process

DOCUMENT = "docs/client.md"
ADDRESS = "http://127.0.0.1:8000"


def test_the_guide_works_as_shown(service: Process) -> None:
    pytest.importorskip("pandas")
    assert run(service.url) > 5


def run(url: str, document: str = DOCUMENT) -> int:
    """Runs the programs of a document; how many outputs were compared."""
    known: dict[str, Any] = {"__name__": "guide"}
    compared = 0
    for block, following in pairwise([*blocks(document), Block("", "", 0)]):
        if block.language != "python":
            continue
        printed = io.StringIO()
        program = "\n" * (block.line - 1) + block.text.replace(ADDRESS, url)
        with contextlib.redirect_stdout(printed):
            exec(compile(program, document, "exec"), known)
        if following.language == "text":
            shown = printed.getvalue()
            assert matches(following, shown), f"{document}:{following.line}\n{shown}"
            compared += 1
        else:
            assert not printed.getvalue(), f"{document}:{block.line} shows nothing of\n{printed.getvalue()}"
    return compared
