"""Every transcript is played against a service, and its answers must be what it says.

With FRESHET_GOLDEN=write the answers are written into the transcripts instead; read the
difference before you commit it.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from service.settings.settings import Settings
from tests.golden.transcript import END, Section, parse, play
from tests.service.client import Client
from tests.service.hands import Hands

START = datetime(2026, 1, 1, tzinfo=UTC)
TRANSCRIPTS = sorted(Path(__file__).parent.glob("*.t"))


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript(path: Path, tmp_path: Path):
    text = path.read_text()
    with Client(Settings(data=tmp_path), time=Hands(START)) as client:
        played = play(text, client)
    if os.environ.get("FRESHET_GOLDEN") == "write":
        path.write_text(played)
    else:
        assert played.split("\n") == text.split("\n")


def test_a_transcript_is_prose_and_sections():
    text = "# Why.\n\nsql mysql\nSELECT 1;\n\nSELECT 2\n--\n1\n\n# End.\n"
    assert parse(text) == [
        "# Why.",
        "",
        Section(("sql", "mysql"), "SELECT 1;\n\nSELECT 2", "1"),
        "",
        "# End.",
        "",
    ]


@pytest.mark.parametrize("text", ["sql\nSELECT 1\n", f"sql\nSELECT 1\n{END}\n1"])
def test_a_section_without_an_end_is_refused(text: str):
    with pytest.raises(ValueError, match="section 'sql' has no line"):
        parse(text)
