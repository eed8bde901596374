"""The share of its random cases that a run of the tests takes: an eighth, and all of them in `make soak`."""

from __future__ import annotations

import os

SHARE = int(os.environ.get("FRESHET_SHARE", "8"))
"""One of so many cases is taken."""
