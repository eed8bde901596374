"""The share of its random cases that a run of the tests takes: a quarter, and all of them in `make soak`."""

from __future__ import annotations

import os

SHARE = int(os.environ.get("FRESHET_SHARE", "4"))
"""One of so many cases is taken."""
