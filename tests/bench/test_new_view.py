"""A new view beside posts: it is checked, and a wrong one is found."""

from __future__ import annotations

import pytest

from bench import new_view
from bench.duck import WrongAnswer

pytestmark = pytest.mark.usefixtures("forked")


def test_posts_go_on_and_the_view_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(new_view, "AFTER", 0.5)
    built = new_view.run(3 * new_view.TREE)
    assert built.posts > 0
    assert " 3,000 " in new_view.text(built).splitlines()[2]


def test_a_view_that_counts_otherwise_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(new_view, "AFTER", 0.0)
    monkeypatch.setattr(new_view, "_VIEW", new_view._VIEW.replace("count(*)", "count(*) + 1"))
    with pytest.raises(WrongAnswer):
        new_view.run(new_view.TREE)
