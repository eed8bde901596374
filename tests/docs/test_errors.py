"""docs/errors.md names every code that an answer can carry, with its statuses, and no other."""

import ast
import inspect
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import engine.errors
import planner.errors
import service.errors
from service.errors import ServiceError, problem_of
from service.settings.settings import Settings
from tests.docs.markdown import ROOT, blocks
from tests.service.client import Client

ROW = re.compile(r"^\| `(\w+)` \| ([\d, ]+) \| \S.* \|$", re.MULTILINE)
MODULES = (engine.errors, planner.errors, service.errors)


def of_classes() -> Iterator[tuple[str, int]]:
    """The codes of the exceptions themselves, with the status that the service gives them."""
    for module in MODULES:
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if issubclass(kind, Exception) and kind.__module__ == module.__name__:
                yield (
                    kind.code,
                    kind.status if issubclass(kind, ServiceError) else problem_of(kind("")).status,
                )


def of_calls() -> Iterator[tuple[str, int]]:
    """The codes that are passed to an exception, or to a Problem, where it is made."""
    statuses = {name: kind.status for name, kind in vars(service.errors).items() if hasattr(kind, "status")}
    for path in (ROOT / "service").rglob("*.py"):
        for call in (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)):
            for keyword in call.keywords:
                if keyword.arg == "code" and isinstance(keyword.value, ast.Constant):
                    name = call.func.id if isinstance(call.func, ast.Name) else ""
                    yield keyword.value.value, statuses.get(name) or _first_number(call)


def _first_number(call: ast.Call) -> int:
    """The status that a Problem is made with; 0 where it is not written out."""
    first = call.args[0] if call.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, int) else 0


def test_every_code_is_documented_with_its_statuses() -> None:
    found = defaultdict(set)
    for code, status in [*of_classes(), *of_calls()]:
        found[code].add(status)
    rows = ROW.findall((ROOT / "docs/errors.md").read_text())
    documented = {code: {int(status) for status in statuses.split(",")} for code, statuses in rows}
    assert len(documented) == len(rows), "a code has two rows"
    assert documented.keys() == found.keys()
    wrong = {code: found[code] for code in found if not found[code] - {0} <= documented[code]}
    assert not wrong


def test_the_problem_that_is_shown_is_the_answer(tmp_path: Path) -> None:
    shown = next(block.text for block in blocks("docs/errors.md") if block.language == "json")
    with Client(Settings(data=tmp_path)) as service:
        service.table("depends", {"package": "TEXT", "depends_on": "TEXT"})
        answer = service.post("/v1/views", {"name": "v", "sql": "SELECT pakage FROM depends"})
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json() == json.loads(shown)
