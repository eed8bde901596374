"""docs/architecture.md has a map of all packages, and every module says on its first line what it is."""

import ast
import re
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, blocks

DOCUMENT = "docs/architecture.md"
LINE = re.compile(r"^( *)(\w+)/ +(\S.*)$")
PACKAGES = ("engine", "planner", "service", "freshet")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
SCREEN = 80


def the_map() -> str:
    return next(block.text for block in blocks(DOCUMENT) if not block.language)


def on_the_map() -> list[str]:
    """The paths of the packages in the order of the map; a package is indented below the one that has it."""
    paths: list[str] = []
    for line in filter(None, the_map().splitlines()):
        match = LINE.match(line)
        assert match, f"not a line of the map: {line}"
        depth = len(match[1]) // 2
        above = paths[-1].split("/")[:depth] if paths else []
        assert len(above) == depth, f"nothing has what is indented here: {line}"
        paths.append("/".join([*above, match[2]]))
    return paths


def in_the_code() -> set[str]:
    """Every folder of the packages with an `__init__.py`."""
    found = (path.parent for path in MODULES if path.name == "__init__.py")
    return {str(folder.relative_to(ROOT)) for folder in found}


def test_the_map_shows_every_package_and_no_other() -> None:
    shown = on_the_map()
    assert sorted(shown) == sorted(set(shown)), "a package is on the map twice"
    assert set(shown) == in_the_code()


def test_the_map_fits_a_screen() -> None:
    lines = the_map().splitlines()
    assert len(lines) <= SCREEN
    assert max(map(len, lines)) <= 110


def test_packages_that_the_text_names_are_on_the_map() -> None:
    text = (ROOT / DOCUMENT).read_text()
    named = re.findall(r"`((?:engine|planner|service|freshet|bench|migrations|examples)/[\w/.]*)`", text)
    assert named
    shown = on_the_map()
    assert [path for path in named if path not in shown and not (ROOT / path).exists()] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_says_on_its_first_line_what_it_is(package: str) -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in MODULES
        if path.is_relative_to(ROOT / package) and not says_what_it_is(path)
    ]
    assert silent == []


def says_what_it_is(path: Path) -> bool:
    """Whether the docstring's first line is more than the module's name over again."""
    first, *_ = (ast.get_docstring(ast.parse(path.read_text())) or "").splitlines() or [""]
    words = {word.lower() for word in re.findall(r"\w+", first)}
    return len(words - {path.stem, path.parent.name}) >= 2


def test_a_module_without_a_docstring_is_found(tmp_path: Path) -> None:
    for text, says in (
        ("", False),
        ("x = 1\n", False),
        ('"""Times."""\n', False),
        ('"""\n\nTimes of collections, packed."""\n', True),
        ('"""Times: tuples of coordinates."""\n', True),
    ):
        module = tmp_path / "times.py"
        module.write_text(text)
        assert says_what_it_is(module) == says, text
