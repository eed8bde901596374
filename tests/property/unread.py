"""Words of deltas that no operator reads have any value: here it is one that would show in an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pytest

from engine.runtime import executor_jobs
from engine.state import batch_deltas, snapshot

_SHOWN = 0x5EED


def _delta_of(
    stretches: Sequence[batch_deltas.Stretch], columns: Sequence[int], wanted: frozenset[int] | None = None
) -> np.ndarray:
    delta = batch_deltas.delta_of(stretches, columns, wanted)
    if wanted is not None:
        delta[[line for line in range(len(delta) - 2) if line not in wanted]] = _SHOWN
    return delta


@contextmanager
def unread_words_differ() -> Iterator[None]:
    """Gives words that are not wanted a value of their own."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (executor_jobs, snapshot):
            patch.setattr(module, "delta_of", _delta_of)
        yield
