"""Point reads beside DuckDB's: every answer is checked."""

from __future__ import annotations

import pytest

from bench import points
from bench.duck import WrongAnswer


def test_every_subject_is_measured_and_right() -> None:
    subjects = points.run(100, 3)
    assert [len(subject.taken) for subject in subjects] == [3] * 5
    assert "DuckDB" in points.text(subjects)


def test_a_wrong_row_is_found() -> None:
    with pytest.raises(WrongAnswer, match="none has"):
        points.Subject("none", lambda id: [id, 0, ""]).take(3)
