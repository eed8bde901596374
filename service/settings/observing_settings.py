"""Settings of what is seen from outside: logs, and the bound of metrics.

`service/settings/settings.py` reads them together with all others.
"""

from __future__ import annotations

from dataclasses import dataclass

from service.settings.doors import setting

AUDIT_REFUSALS = 1_000
LOG_FORMATS = ("text", "json")
LOGGED_REQUESTS = ("none", "failed", "all")


@dataclass(frozen=True)
class ObservingSettings:
    log_format: str = setting(
        "text", "FRESHET_LOG_FORMAT", "text: a line of text for each entry of the log; json: an object"
    )
    log_requests: str = setting(
        "failed",
        "FRESHET_LOG_REQUESTS",
        "requests that have a line in the log: none, failed (those answered with 400 and above) or all",
    )
    audit_refusals: int = setting(
        AUDIT_REFUSALS,
        "FRESHET_AUDIT_REFUSALS",
        "refusals of one key in ten minutes that have entries in the audit log; the next counts the others",
    )
    metrics_relations: int = setting(
        200,
        "FRESHET_METRICS_RELATIONS",
        "tables and views with metrics of their own; those created later have theirs together, as other",
    )
