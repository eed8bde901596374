"""Examples of requests and answers in the OpenAPI document: an order's rows, a view of them, and jobs.

`ANSWERS` and `REQUESTS` have them by operation; media types without an entry of their own take the example
that `OF_MEDIA` has for the operation's rows or changes.
"""

from __future__ import annotations

from typing import Any

from service.decoding.parsing import ARROW, CSV, DEBEZIUM, JSON, NDJSON, PARQUET
from service.http.negotiation import EVENTS

_COLUMNS = [
    {"name": "id", "type": "BIGINT", "nullable": False},
    {"name": "customer", "type": "TEXT", "nullable": True},
    {"name": "total", "type": "NUMERIC(12, 2)", "nullable": True},
]
_TABLE = {"name": "orders", "columns": _COLUMNS, "primary_key": ["id"]}
_SELECT = "SELECT customer, sum(total) AS total FROM orders GROUP BY customer"
_TOTALS = [
    {"name": "customer", "type": "TEXT", "nullable": True},
    {"name": "total", "type": "NUMERIC(38, 2)", "nullable": True},
]
_DIALECT = {
    "dialect": "postgres",
    "standing": "proven",
    "system": "PostgreSQL",
    "expressions": 400,
    "queries": 80,
    "right": 450,
    "different": 20,
    "refused": 10,
}
_TRANSLATION = {
    "dialect": "mysql",
    "standing": "proven",
    "sql": 'SELECT\n  total / 2 AS "total / 2"\nFROM orders\nORDER BY\n  1 NULLS FIRST',
    "before": [],
    "notes": [
        {"line": 1, "column": 39, "written": "1", "read": "1 NULLS FIRST", "why": "mysql orders NULL so"}
    ],
}
_VIEW = {
    "name": "totals",
    "sql": _SELECT,
    "dialect": "postgres",
    "columns": _TOTALS,
    "state": "ready",
    "reason": None,
}
_ORDER = {"id": 1, "customer": "ada", "total": "30.00"}
_TOTAL = {"customer": "ada", "total": "30.00"}
_ENDED = {
    "id": "0b9f5c1e2d3a4f60",
    "state": "done",
    "progress": 1.0,
    "rows": 1000,
    "epoch": 14,
    "error": None,
    "created": "2026-01-05T12:00:00Z",
    "started": "2026-01-05T12:00:00Z",
    "ended": "2026-01-05T12:00:04Z",
}
_LOAD = _ENDED | {"table": "orders", "format": "csv", "path": "orders.csv", "options": {}, "skipped": None}
_EXPORT = _ENDED | {
    "relation": "totals",
    "format": "parquet",
    "path": "totals",
    "mode": "overwrite",
    "options": {},
}
_BRANCH = {
    "name": "prices",
    "of": "main",
    "parted": 13,
    "begins": 1_000_000_000_000,
    "epoch": 1_000_000_000_002,
    "bytes": 4096,
    "created": "2026-01-05T12:00:00Z",
    "merged": [],
    "live": False,
    "follows": None,
    "waits": None,
    "lost": None,
}
_MERGED = {
    "branch": "prices",
    "into": "main",
    "epoch": 14,
    "changes": 2,
    "conflicts": 0,
    "views": ["cheapest"],
    "left_out": [],
}
_REPLACEMENT = {
    "name": "cheaper",
    "state": "ready",
    "reason": None,
    "created": "2026-01-05T12:00:00Z",
    "views": [{"name": "totals", "sql": _SELECT, "changes": True, "bytes": 4096}],
}
_BACKUP = _ENDED | {"rows": None, "path": "backups/monday"}
_NEW_SOURCE = {"name": "arrivals", "table": "orders", "format": "json", "path": "arrivals"}
_SOURCE: dict[str, Any] = _NEW_SOURCE | {
    "options": {},
    "envelope": None,
    "timestamps": None,
    "trigger_seconds": 1.0,
    "files_per_batch": 100,
    "bad_rows": "fail",
    "state": "running",
    "reason": None,
    "batches": 3,
    "rows": 250,
    "skipped": 0,
    "last_batch": 2,
    "epoch": 14,
}
_NEW_SINK = {"name": "archive", "view": "totals", "path": "archive"}
_SINK: dict[str, Any] = _NEW_SINK | {
    "format": "parquet",
    "from": None,
    "interval_seconds": 10.0,
    "state": "running",
    "reason": None,
    "epoch": 14,
    "files": 2,
    "rows": 40,
}
_KEY = {"id": "5d41402abc4b", "name": "nightly load", "role": "write", "relations": ["orders"]}
_SECRET = f"fr_{_KEY['id']}_..."
_ENTRY = {
    "number": 7,
    "at": "2026-01-05T12:00:00Z",
    "key": "5d41402abc4b",
    "name": "nightly load",
    "address": "10.0.0.7",
    "action": "CREATE VIEW totals",
    "outcome": "done",
}
_CHANGE = {"epoch": 13, "diff": 1, "row": _TOTAL}
_RESULT = {
    "statement": "SELECT",
    "epoch": 13,
    "columns": [{"name": "n", "type": "BIGINT"}],
    "rows": [[1]],
}
_TABLE_ENTRY: dict[str, Any] = {
    "name": "orders",
    "kind": "table",
    "state": "ready",
    "reason": None,
    "reads": [],
}
_VIEW_ENTRY: dict[str, Any] = {
    "name": "totals",
    "kind": "view",
    "state": "ready",
    "reason": None,
    "reads": ["orders"],
}
_CATALOG_EVENTS = (
    'event: catalog\ndata: {"relations":[{"name":"orders","kind":"table","state":"ready","reason":null,'
    '"reads":[]}]}\n\nevent: change\ndata: {"happened":"made","relation":{"name":"totals","kind":"view",'
    '"state":"ready","reason":null,"reads":["orders"]}}\n\n'
)
_COST = {
    "name": "totals",
    "kind": "view",
    "rows": 2,
    "behind": 0,
    "memory_bytes": 4096,
    "mapped_bytes": 0,
    "seconds": 0.004,
    "differences": 12,
    "changes": 3,
}
_STATUS = {
    "leadership": {"role": "leader", "token": 0, "leader": "", "lag": 0},
    "epoch": 13,
    "tables": 1,
    "views": 1,
    "failed": [],
    "waiting": 0,
    "loads": {"running": 0, "done": 1},
    "exports": {"running": 0, "done": 0},
    "spark": {"session": "none", "advances": {"process": 13, "spark": 0}},
    "texts": 2,
    "memory_bytes": 400_000_000,
    "memory_high_bytes": 12_000_000_000,
    "memory_high": False,
    "held": {
        "anonymous_bytes": 300_000_000,
        "history_bytes": 4096,
        "trace_bytes": 4096,
        "mapped_bytes": 0,
        "dictionary_bytes": 1024,
        "remembered_bytes": 0,
        "reading_bytes": 0,
        "differences": 40,
        "texts": 2,
        "log_bytes": 2048,
        "log_commits": 13,
    },
    "uptime_seconds": 61.5,
    "version": "0.1.0",
}

PROBLEM = {
    "type": "urn:freshet:problem:unknown_column",
    "title": "Unknown column",
    "status": 422,
    "detail": 'unknown column "pakage"',
    "code": "unknown_column",
    "hint": "did you mean depends.package?",
    "position": {"line": 1, "column": 8},
}
UNAVAILABLE = {
    "type": "urn:freshet:problem:not_ready",
    "title": "Not ready",
    "status": 503,
    "detail": "the service is not ready: it is recovering its state",
    "code": "not_ready",
    "hint": "try again soon",
}
PATHS = {
    "table": "orders",
    "view": "totals",
    "load": _ENDED["id"],
    "export": _ENDED["id"],
    "source": "arrivals",
    "sink": "archive",
    "key": _KEY["id"],
    "backup": _ENDED["id"],
    "branch": "prices",
    "replacement": "cheaper",
}
"""Values of the parameters in paths."""

REQUESTS: dict[str, dict[str, Any]] = {
    "run_sql": {
        "application/json": {"sql": "SELECT count(*) AS n FROM orders WHERE total > $1", "parameters": [20]}
    },
    "translate_query": {JSON: {"sql": "SELECT total / 2 FROM orders ORDER BY 1", "dialect": "mysql"}},
    "create_table": {JSON: _TABLE},
    "create_view": {JSON: {"name": "totals", "sql": _SELECT}},
    "change_table": {
        JSON: [{"insert": _ORDER}, {"delete": {"id": 7}}],
        NDJSON: '{"insert": {"id": 1, "customer": "ada", "total": "30.00"}}\n{"delete": {"id": 7}}\n',
        DEBEZIUM: {"payload": {"op": "c", "before": None, "after": _ORDER}},
        CSV: "_op,id,customer,total\nupsert,1,ada,30.00\ndelete,7,,\n",
    },
    "change_tables": {JSON: {"tables": {"orders": [{"insert": _ORDER}]}}},
    "begin_load": {JSON: {"table": "orders", "format": "csv", "path": "orders.csv"}},
    "begin_export": {JSON: {"view": "totals", "format": "parquet", "path": "totals", "mode": "overwrite"}},
    "create_source": {JSON: _NEW_SOURCE},
    "create_sink": {JSON: _NEW_SINK},
    "create_key": {JSON: {"name": "nightly load", "role": "write", "relations": ["orders"]}},
    "rotate_key": {JSON: {"grace_seconds": 3600}},
    "begin_backup": {JSON: {"path": "backups/monday"}},
    "create_branch": {JSON: {"name": "prices", "as_of": 13}},
    "merge_branch": {JSON: {"on_conflict": "theirs"}},
    "create_replacement": {JSON: {"name": "cheaper", "views": [{"name": "totals", "sql": _SELECT}]}},
}
ANSWERS: dict[str, dict[str, Any]] = {
    "run_sql": {JSON: {"results": [_RESULT]}, NDJSON: '{"n":1}\n', CSV: "n\r\n1\r\n"},
    "list_dialects": {JSON: {"dialects": [_DIALECT]}},
    "translate_query": {JSON: _TRANSLATION},
    "list_tables": {JSON: {"tables": [_TABLE]}},
    "create_table": {JSON: _TABLE | {"epoch": 1}},
    "describe_table": {JSON: _TABLE},
    "list_views": {JSON: {"views": [_VIEW]}},
    "create_view": {JSON: _VIEW | {"epoch": 2}},
    "describe_view": {JSON: _VIEW},
    "rebuild_view": {JSON: _VIEW},
    "check_view": {
        JSON: {
            "view": "totals",
            "epoch": 13,
            "equal": False,
            "size": 2,
            "differing": 1,
            "rows": [{"row": _TOTAL, "maintained": 1, "recomputed": 0}],
            "errors": [],
        }
    },
    "explain_view": {
        "text/plain": "%0 = get orders\n%1 = aggregate %0 by customer: sum(total)\n",
        JSON: {"stage": "optimized"},
    },
    "explain_row": {
        "text/plain": "group (customer = 7, total = 12.50)\n"
        "  row of table orders (id = 1, customer = 7, total = 12.50)\n",
        JSON: {
            "view": "totals",
            "epoch": 13,
            "row": {"customer": 7, "total": "12.50"},
            "count": 1,
            "because": {
                "rule": "group",
                "row": {"customer": 7, "total": "12.50"},
                "of": [
                    {
                        "rule": "row of table orders",
                        "row": {"id": 1, "customer": 7, "total": "12.50"},
                        "table": "orders",
                    }
                ],
            },
            "facts": [],
            "tables": {"orders": [{"id": 1, "customer": 7, "total": "12.50"}]},
            "cut": False,
        },
    },
    "explain_absence": {
        JSON: {
            "view": "totals",
            "epoch": 13,
            "row": {"customer": 8},
            "because": {
                "rule": "the group has no row",
                "row": {"customer": 8},
                "of": [{"rule": "table orders has no such row", "row": {"customer": 8}, "table": "orders"}],
            },
            "missing": {"orders": [{"customer": 8}]},
        }
    },
    "list_rounds": {
        JSON: {
            "view": "reach",
            "epoch": 13,
            "name": "r",
            "rounds": [{"round": 1, "came": 1, "went": 0}],
            "rows": [{"round": 1, "diff": 1, "row": {"a": "ulm", "b": "bonn"}}],
        }
    },
    "explain_change": {
        JSON: {
            "view": "totals",
            "row": {"customer": 7, "total": "12.50"},
            "epochs": [
                {
                    "epoch": 13,
                    "committed_at": "2026-01-05T12:00:00Z",
                    "diff": 1,
                    "changes": {"orders": [{"diff": 1, "row": {"id": 1, "customer": 7, "total": "12.50"}}]},
                }
            ],
        }
    },
    "replay_epoch": {
        JSON: {
            "view": "totals",
            "epoch": 13,
            "committed_at": "2026-01-05T12:00:00Z",
            "plan": {"stage": "analyze", "nodes": [], "result": "o2"},
            "steps": [
                {
                    "operator": "o1",
                    "rounds": [],
                    "taken": 1,
                    "passed": 2,
                    "rows": [{"diff": 1, "row": {"customer": "ada", "total": "30.00"}}],
                }
            ],
            "cut": False,
        }
    },
    "read_view_rows": {
        JSON: {"view": "totals", "epoch": 13, "columns": _TOTALS, "rows": [_TOTAL], "next": None},
        NDJSON: '{"customer":"ada","total":"30.00"}\n',
        CSV: "customer,total\r\nada,30.00\r\n",
    },
    "read_table_rows": {
        JSON: {"table": "orders", "epoch": 13, "columns": _COLUMNS, "rows": [_ORDER], "next": None},
        NDJSON: '{"id":1,"customer":"ada","total":"30.00"}\n',
        CSV: "id,customer,total\r\n1,ada,30.00\r\n",
    },
    "read_view_changes": {JSON: {"view": "totals", "epoch": 13, "changes": [_CHANGE], "next": None}},
    "read_table_changes": {
        JSON: {"table": "orders", "epoch": 13, "changes": [_CHANGE | {"row": _ORDER}], "next": None}
    },
    "change_table": {JSON: {"epoch": 13, "changes": 2}},
    "change_tables": {JSON: {"epoch": 13, "changes": 1}},
    "list_loads": {JSON: {"loads": [_LOAD]}},
    "begin_load": {JSON: _LOAD | {"state": "running", "progress": 0.0}},
    "describe_load": {JSON: _LOAD},
    "cancel_load": {JSON: _LOAD | {"state": "cancelled"}},
    "list_exports": {JSON: {"exports": [_EXPORT]}},
    "begin_export": {JSON: _EXPORT | {"state": "running", "progress": 0.0}},
    "describe_export": {JSON: _EXPORT},
    "cancel_export": {JSON: _EXPORT | {"state": "cancelled"}},
    "list_sources": {JSON: {"sources": [_SOURCE]}},
    "create_source": {JSON: _SOURCE},
    "describe_source": {JSON: _SOURCE},
    "resume_source": {JSON: _SOURCE},
    "list_sinks": {JSON: {"sinks": [_SINK]}},
    "create_sink": {JSON: _SINK},
    "describe_sink": {JSON: _SINK},
    "list_keys": {JSON: {"keys": [_KEY | {"created": _LOAD["created"], "used": None, "revoked": None}]}},
    "create_key": {JSON: _KEY | {"key": _SECRET}},
    "rotate_key": {JSON: _KEY | {"key": _SECRET}},
    "list_roles": {JSON: {"roles": [{"name": "clerk", "permissions": {"SELECT": ["totals"]}}]}},
    "read_audit": {JSON: {"entries": [_ENTRY]}},
    "list_backups": {JSON: {"backups": [_BACKUP]}},
    "begin_backup": {JSON: _BACKUP | {"state": "running", "progress": 0.0, "epoch": None}},
    "describe_backup": {JSON: _BACKUP},
    "cancel_backup": {JSON: _BACKUP | {"state": "cancelled", "epoch": None}},
    "list_branches": {JSON: {"branches": [_BRANCH]}},
    "create_branch": {JSON: _BRANCH},
    "describe_branch": {JSON: _BRANCH},
    "merge_branch": {JSON: _MERGED},
    "branch_diff": {
        JSON: {
            "relation": "totals",
            "from": "main",
            "to": "prices",
            "rows": 1,
            "differences": [{"diff": 1, "row": {"n": 1}}],
        },
        NDJSON: '{"n":1,"_diff":1}\n',
        CSV: "n,_diff\r\n1,1\r\n",
    },
    "list_replacements": {JSON: {"replacements": [_REPLACEMENT]}},
    "create_replacement": {JSON: _REPLACEMENT},
    "describe_replacement": {JSON: _REPLACEMENT},
    "apply_replacement": {JSON: {"replacement": "cheaper", "epoch": 14}},
    "preview_replacement": {
        JSON: {
            "replacement": "cheaper",
            "view": "totals",
            "epoch": 13,
            "rows": 1,
            "next": None,
            "differences": [{"diff": 1, "row": {"n": 1}}],
        },
        NDJSON: '{"n":1,"_diff":1}\n',
        CSV: "n,_diff\r\n1,1\r\n",
    },
    "list_epochs": {
        JSON: {
            "newest": 13,
            "epochs": [
                {
                    "epoch": 13,
                    "committed_at": "2026-01-05T12:00:00Z",
                    "tables": {"orders": 2},
                    "views": {"totals": 3},
                }
            ],
            "next": 12,
        }
    },
    "read_catalog": {
        JSON: {"relations": [_TABLE_ENTRY, _VIEW_ENTRY]},
        EVENTS: _CATALOG_EVENTS,
    },
    "list_costs": {JSON: {"relations": [_COST]}},
    "list_settings": {
        JSON: {
            "settings": [
                {
                    "variable": "FRESHET_PORT",
                    "value": "8000",
                    "default": "8000",
                    "meaning": "port to listen on",
                }
            ]
        }
    },
    "list_feeds": {
        JSON: {
            "most": 1000,
            "feeds": [
                {
                    "relation": "totals",
                    "epoch": 13,
                    "behind": 0,
                    "key": "5d41402abc4b",
                    "opened": "2026-01-05T12:00:00Z",
                }
            ],
        }
    },
    "list_slow_statements": {
        JSON: {
            "statements": [
                {
                    "text": _SELECT,
                    "seconds": 1.25,
                    "began": "2026-01-05T12:00:00Z",
                    "key": "5d41402abc4b",
                    "request": "8f3a-1",
                    "error": "",
                }
            ]
        }
    },
    "check_health": {JSON: {"status": "ok"}},
    "check_readiness": {JSON: {"status": "ready"}},
    "read_status": {JSON: _STATUS},
    "read_metrics": {
        "text/plain": "# TYPE freshet_epoch gauge\nfreshet_epoch 13.0\n",
        "application/openmetrics-text": "# TYPE freshet_epoch gauge\nfreshet_epoch 13.0\n# EOF\n",
    },
}
OF_MEDIA: dict[str, Any] = {
    NDJSON: '{"epoch":13,"diff":1,"row":{"customer":"ada","total":"30.00"}}\n',
    EVENTS: 'id: 13\nevent: changes\ndata: [{"epoch":13,"diff":1,"row":{"customer":"ada"}}]\n\n',
    ARROW: "(an Arrow stream)",
    PARQUET: "(a Parquet file)",
}
