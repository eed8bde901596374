"""The page at `/`: what this is, and where to go on."""

from __future__ import annotations

from service.http.reference.markup import element, page

_LINKS = (
    ("/docs", "the interface: every route, with examples"),
    ("/openapi.json", "the same for programs: the OpenAPI document"),
    ("/v1/tables", "the tables"),
    ("/v1/views", "the views"),
    ("/v1/status", "the newest epoch, and figures about the service"),
    ("/metrics", "metrics for Prometheus"),
    ("/readyz", "whether the service is ready"),
)
_TRY = """curl -s localhost:8000/v1/sql -H 'Content-Type: application/json' \\
  -d '{"sql": "CREATE TABLE t (a INT); CREATE VIEW v AS SELECT sum(a) AS s FROM t; INSERT INTO t VALUES (1)"}'
curl -s localhost:8000/v1/views/v/rows
curl -N 'localhost:8000/v1/views/v/changes?format=sse'"""


def front_page(version: str) -> bytes:
    rows = [
        element("tr", element("td", element("a", path, href=path)), element("td", what))
        for path, what in _LINKS
    ]
    return page(
        "Freshet",
        element("h1", "Freshet"),
        element(
            "p", "SQL views, recursive ones too, kept up to date. ", element("small", f"Version {version}")
        ),
        element("table", rows),
        element("h2", "Try it"),
        element("pre", _TRY),
    )
