"""What each route needs: the one table that a request is held against before its route sees it.

A route that is not in the table keeps the service from starting, and a request to no route of the table is
answered as if there were none. Where the relations are in the body, or in an object that the path names, the
table says `IN_ROUTE`, and the route asks its principal. `/v1/sql` asks for each statement
(`service/sql/allowing.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from starlette.routing import compile_path

from planner.relation_names import schema_of
from service.accounts.principals import Principal
from service.accounts.privileges import OF_ROWS, Privilege
from service.errors import ServiceError
from service.http.path_names import named
from service.names import fold_relation

_RECENT, _REMEMBERED = 1000, 200
"""The most paths that are remembered with what they need, and the most characters of one."""
Parameters = Mapping[str, str]
Check = Callable[[Principal, Parameters], None]
"""Raises Forbidden unless the principal may send a request with these parameters in its path."""
CHANGES = (Privilege.INSERT, Privilege.UPDATE, Privilege.DELETE)


@dataclass(frozen=True)
class Need:
    """`check` is None for what everybody may ask without a key. What is `audited` goes to the audit log."""

    check: Check | None
    audited: bool = False


def _pass(principal: Principal, parameters: Parameters) -> None:
    """Any valid key will do here."""


def _on(*privileges: Privilege, of: str) -> Need:
    """One of the privileges on the relation that a parameter of the path names."""

    def check(principal: Principal, parameters: Parameters) -> None:
        principal.require_any(privileges, fold_relation(parameters[of]))

    return Need(check)


def _defining(of: str, audited: bool = True) -> Need:
    """To define in the schema of the relation that a parameter of the path names."""

    def check(principal: Principal, parameters: Parameters) -> None:
        principal.require_defining(schema_of(fold_relation(parameters[of])))

    return Need(check, audited)


def _all_of(require: Callable[[Principal], None]) -> Check:
    return lambda principal, parameters: require(principal)


OPEN = Need(None)
IN_ROUTE = Need(_pass)
DEFINE = Need(_all_of(Principal.require_defining), audited=True)
"""To define in some schema; the route asks for the one of which the request is."""
FILES = Need(_all_of(Principal.require_defining))
"""The same, for what changes no definition."""
ADMIN = Need(_all_of(Principal.require_admin))
ACCOUNTS = Need(_all_of(Principal.require_admin), audited=True)
OPERATE = Need(_all_of(Principal.require_admin), audited=True)
_reads, _sees = partial(_on, Privilege.SELECT), partial(_on, *OF_ROWS)

NEEDS: dict[str, Need] = {
    "POST /v1/tables/{table}/deltas": _on(*CHANGES, of="table"),
    "POST /v1/deltas": IN_ROUTE,
    "POST /v1/sql": IN_ROUTE,
    "GET /v1/dialects": IN_ROUTE,
    "POST /v1/translate": IN_ROUTE,
    "GET /v1/tables": IN_ROUTE,
    "POST /v1/tables": DEFINE,
    "GET /v1/tables/{table}": _sees(of="table"),
    "DELETE /v1/tables/{table}": _defining("table"),
    "GET /v1/tables/{table}/rows": _reads(of="table"),
    "GET /v1/tables/{table}/changes": _reads(of="table"),
    "GET /v1/views": IN_ROUTE,
    "POST /v1/views": DEFINE,
    "GET /v1/views/{view}": _sees(of="view"),
    "DELETE /v1/views/{view}": _defining("view"),
    "POST /v1/views/{view}/rebuild": _defining("view"),
    "POST /v1/views/{view}/check": _defining("view", audited=False),
    "GET /v1/views/{view}/plan": _reads(of="view"),
    "GET /v1/views/{view}/replay": _reads(of="view"),
    "GET /v1/views/{view}/why": _reads(of="view"),
    "GET /v1/views/{view}/rounds": _reads(of="view"),
    "GET /v1/views/{view}/why-not": _reads(of="view"),
    "GET /v1/views/{view}/why-changed": _reads(of="view"),
    "GET /v1/views/{view}/rows": _reads(of="view"),
    "GET /v1/views/{view}/changes": _reads(of="view"),
    "GET /v1/loads": IN_ROUTE,
    "POST /v1/loads": FILES,
    "GET /v1/loads/{load}": IN_ROUTE,
    "DELETE /v1/loads/{load}": IN_ROUTE,
    "GET /v1/exports": IN_ROUTE,
    "POST /v1/exports": FILES,
    "GET /v1/exports/{export}": IN_ROUTE,
    "DELETE /v1/exports/{export}": FILES,
    "GET /v1/sources": IN_ROUTE,
    "POST /v1/sources": DEFINE,
    "GET /v1/sources/{source}": IN_ROUTE,
    "DELETE /v1/sources/{source}": DEFINE,
    "POST /v1/sources/{source}/resume": DEFINE,
    "GET /v1/sinks": IN_ROUTE,
    "POST /v1/sinks": DEFINE,
    "GET /v1/sinks/{sink}": IN_ROUTE,
    "DELETE /v1/sinks/{sink}": DEFINE,
    "GET /v1/keys": ADMIN,
    "POST /v1/keys": ACCOUNTS,
    "POST /v1/keys/{key}/rotate": ACCOUNTS,
    "DELETE /v1/keys/{key}": ACCOUNTS,
    "GET /v1/roles": ADMIN,
    "GET /v1/audit": ADMIN,
    "GET /v1/backups": ADMIN,
    "POST /v1/backups": OPERATE,
    "GET /v1/backups/{backup}": ADMIN,
    "DELETE /v1/backups/{backup}": OPERATE,
    "GET /v1/branches": IN_ROUTE,
    "POST /v1/branches": DEFINE,
    "GET /v1/branches/{branch}": IN_ROUTE,
    "DELETE /v1/branches/{branch}": DEFINE,
    "POST /v1/branches/{branch}/merge": DEFINE,
    "GET /v1/branches/{branch}/diff": IN_ROUTE,
    "GET /v1/replacements": IN_ROUTE,
    "POST /v1/replacements": DEFINE,
    "GET /v1/replacements/{replacement}": IN_ROUTE,
    "DELETE /v1/replacements/{replacement}": DEFINE,
    "POST /v1/replacements/{replacement}/apply": DEFINE,
    "GET /v1/replacements/{replacement}/preview": IN_ROUTE,
    "GET /v1/epochs": IN_ROUTE,
    "GET /v1/catalog": IN_ROUTE,
    "GET /v1/catalog/costs": IN_ROUTE,
    "GET /v1/settings": ADMIN,
    "GET /v1/feeds": ADMIN,
    "GET /v1/statements": ADMIN,
    "GET /v1/status": IN_ROUTE,
    "GET /metrics": IN_ROUTE,
    "GET /healthz": OPEN,
    "GET /readyz": OPEN,
    "GET /": OPEN,
    "GET /console/{name:path}": OPEN,
    "GET /docs": OPEN,
    "GET /openapi.json": OPEN,
}
"""By method and path."""


class Asked(NamedTuple):
    """A route that takes a request: `parameters` are those in the path, `path` is its template."""

    need: Need
    parameters: Parameters
    path: str


class NeedsByPath:
    """Finds the need of a request: in a table of recent paths, or by one match of the method's pattern."""

    def __init__(self, needs: Mapping[str, Need] = NEEDS) -> None:
        self._found: dict[str, list[tuple[re.Pattern[str], Need, str]]] = {}
        for route, need in needs.items():
            method, path = route.split(" ")
            self._found.setdefault(method, []).append((compile_path(path)[0], need, path))
        self._joined = {
            method: re.compile("|".join(f"(?P<r{i}>{_unnamed(p)})" for i, (p, _, _) in enumerate(found)))
            for method, found in self._found.items()
        }
        self._recent: dict[tuple[str, str], Asked | None] = {}

    def find(self, method: str, path: str) -> Asked | None:
        """The route that takes a request, and what it needs; None if there is none."""
        asked = method, path
        if len(path) > _REMEMBERED:
            return self._matched(method, path)
        if asked not in self._recent:
            if len(self._recent) >= _RECENT:
                self._recent.clear()
            self._recent[asked] = self._matched(method, path)
        return self._recent[asked]

    def _matched(self, method: str, path: str) -> Asked | None:
        joined = self._joined.get(method)
        match = joined.match(path) if joined else None
        if match is None or match.lastgroup is None:
            return None
        pattern, need, template = self._found[method][int(match.lastgroup[1:])]
        again = pattern.match(path)
        return Asked(need, named(again.groupdict()) if again else {}, template)

    def methods(self, path: str) -> list[str]:
        """The methods that the path takes."""
        return sorted(method for method, joined in self._joined.items() if joined.match(path))


def check_declared(routes: Iterable[str], needs: Mapping[str, Need] = NEEDS) -> None:
    """Raises ServiceError unless the table has these routes, each a method and a path, and no others."""
    found = set(routes)
    for route in sorted(found ^ needs.keys()):
        where = "is not in service/http/needs.py" if route in found else "is in service/http/needs.py alone"
        raise ServiceError(f"route {route} {where}", "say there what it needs")


def _unnamed(pattern: re.Pattern[str]) -> str:
    """The pattern's text without names of groups, and without groups that are remembered."""
    return re.sub(r"\(\?P<\w+>", "(?:", pattern.pattern)
