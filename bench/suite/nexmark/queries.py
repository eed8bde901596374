"""The queries of Nexmark, q0 to q22, a file each.

Where the original cuts time into windows (TUMBLE, HOP, SESSION), the views compute in plain SQL which windows
a row belongs to; q12's windows use the time of the event, not of its processing.
"""

from __future__ import annotations

from bench.suite.queries import read

QUERIES = read(__file__)
"""SQL by name, `q00` to `q22`."""
