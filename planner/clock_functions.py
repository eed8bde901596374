"""The functions that return the time, by their names in every dialect."""

from __future__ import annotations

from sqlglot import exp

_TIMES = (
    exp.CurrentTimestamp,
    exp.CurrentTimestampLTZ,
    exp.CurrentDatetime,
    exp.Localtimestamp,
    exp.Systimestamp,
    exp.UtcTimestamp,
)
_NAMED_TIMES = frozenset(
    {
        "current_localtimestamp",
        "get_current_timestamp",
        "getutcdate",
        "now",
        "now64",
        "statement_timestamp",
        "sysdate",
        "sysdatetime",
        "sysutcdatetime",
        "transaction_timestamp",
    }
)


def reads_clock(node: exp.Expr) -> bool:
    """Whether the node is a call of such a function."""
    return isinstance(node, _TIMES) or (isinstance(node, exp.Anonymous) and node.name.lower() in _NAMED_TIMES)
