"""A superstep that is run again says the same, and it does not matter which attempt is believed.

Histories are short, except in `make soak`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.supersteps import keeping, messages
from tests.engine.supersteps.carrier import Carrier
from tests.engine.supersteps.mixed import Mixed, executor_for
from tests.property.cases import LENGTHS, random_case
from tests.property.check import check
from tests.property.report import report
from tests.seeds import each_seed
from tests.share import SHARE


@pytest.mark.parametrize(("inline", "chunk"), [(100, 200), (keeping.INLINE, messages.CHUNK)])
@each_seed(1)
def test_views_equal_the_referee(
    seed: int, inline: int, chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where much is kept in files and sent in several messages."""
    monkeypatch.setattr(keeping, "INLINE", inline)
    monkeypatch.setattr(messages, "CHUNK", chunk)
    case, answers = random_case(seed, 2, LENGTHS if SHARE == 1 else (3,))
    carrier = Carrier(seed)
    executor, rng = executor_for(seed, tmp_path, carrier)
    mismatch = check(case, answers, lambda: Mixed(executor, rng, 0.5))
    if mismatch is not None:
        pytest.fail(report(case, mismatch, case, mismatch), pytrace=False)
    assert carrier.compared >= executor.done > 0
