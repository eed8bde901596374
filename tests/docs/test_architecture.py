"""docs/architecture.md has every module of the three packages, and says of it what it says of itself.

FRESHET_MAP=write writes the tables anew.
"""

import ast
import os
import re
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT

DOCUMENT = ROOT / "docs/architecture.md"


def first_sentence(path: Path) -> str:
    docstring = ast.get_docstring(ast.parse(path.read_text())) or ""
    return re.split(r"(?<=\.)\s|\n\n", docstring.strip())[0].replace("\n", " ").replace("|", "\\|")


def section(folder: Path) -> str:
    """A folder: its heading, what its `__init__` says, and a row for every other module; then its folders."""
    name = str(folder.relative_to(ROOT))
    parts = [f"{'##' if '/' not in name else '###'} {name}"]
    if says := first_sentence(folder / "__init__.py"):
        parts.append(says)
    modules = [path for path in sorted(folder.glob("*.py")) if path.name != "__init__.py"]
    rows = [f"| `{path.relative_to(ROOT)}` | {first_sentence(path)} |" for path in modules]
    if rows:
        parts.append("\n".join(["| module | |", "|---|---|", *rows]))
    below = [path.parent for path in sorted(folder.glob("*/__init__.py"))]
    return "\n\n".join([*parts, *(section(inner) for inner in below)])


@pytest.mark.parametrize("package", ["engine", "planner", "service"])
def test_the_map_is_complete_and_true(package: str) -> None:
    text = DOCUMENT.read_text()
    shown = re.search(rf"^## {package}\n.*?(?=\n\n## )", text, re.DOTALL | re.MULTILINE)
    expected = section(ROOT / package)
    assert shown, f"there is no section of {package}"
    if os.environ.get("FRESHET_MAP") == "write":
        DOCUMENT.write_text(text.replace(shown[0], expected))
        return
    assert shown[0].splitlines() == expected.splitlines(), "FRESHET_MAP=write writes the map anew"


def test_every_path_that_is_named_exists() -> None:
    for path in re.findall(
        r"`((?:engine|planner|service|bench|migrations|examples)/[\w/.]*)`", DOCUMENT.read_text()
    ):
        assert (ROOT / path).exists(), path
