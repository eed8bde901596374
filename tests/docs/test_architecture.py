"""docs/architecture.md has every module of the three packages, and says of it what it says of itself."""

import ast
import re
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT

DOCUMENT = ROOT / "docs/architecture.md"
ROW = re.compile(r"^\| `(\w[\w/]*\.py)` \| (.+) \|$", re.MULTILINE)


def first_sentence(path: Path) -> str:
    docstring = ast.get_docstring(ast.parse(path.read_text())) or ""
    return re.split(r"(?<=\.)\s|\n\n", docstring.strip())[0].replace("\n", " ").replace("|", "\\|")


def rows(package: str) -> dict[str, str]:
    """Each module of a package that is not empty, and its first sentence, a folder after its files."""
    paths = sorted((ROOT / package).rglob("*.py"), key=lambda path: (len(path.parts), path))
    return {str(path.relative_to(ROOT)): first_sentence(path) for path in paths if path.read_text().strip()}


@pytest.mark.parametrize("package", ["engine", "planner", "service"])
def test_the_map_is_complete_and_true(package: str) -> None:
    shown = {path: text for path, text in ROW.findall(DOCUMENT.read_text()) if path.startswith(f"{package}/")}
    expected = rows(package)
    table = "\n".join(f"| `{path}` | {text} |" for path, text in expected.items())
    assert shown == expected, f"the table for {package} is:\n{table}"
