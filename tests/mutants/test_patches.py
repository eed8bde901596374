"""The faults that `make mutants` plants still fit the code, and name tests that exist."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.mutants.fault import ROOT, DoesNotApply, Fault, Hunk, all_faults

FAULTS = all_faults()
LEAST = {
    ("engine/kernels",): 12,
    ("engine/operators", "engine/runtime", "engine/state"): 14,
    ("engine/supersteps", "engine/spark"): 5,
    ("engine/scalar", "engine/codec"): 6,
    ("planner",): 12,
    ("service",): 14,
}
"""How many faults the parts have at least."""

EXAMPLE = """One is two.
Caught-by: tests/a.py::test_b[c d]

--- a/x.py
+++ b/x.py
@@ def f @@
 def f():
-    return 1
+    return 2
@@ def g @@
-    pass
--- a/y.py
+++ b/y.py
@@ @@
-z = 1
+z = 2
"""


@cache
def functions(path: Path) -> set[str]:
    """The names of the test functions of a file."""
    tree = ast.parse(path.read_bytes())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_a_patch_fits_the_code_and_names_tests(fault: Fault) -> None:
    changed = fault.apply(ROOT)
    assert changed
    for path, text in changed.items():
        assert text != (ROOT / path).read_text()
        ast.parse(text)
    assert fault.sentence.endswith(".")
    assert fault.tests
    for test in fault.tests:
        file, _, function = test.partition("::")
        assert (ROOT / file).is_file(), test
        assert not function or function.partition("[")[0] in functions(ROOT / file), test


def test_every_part_has_its_faults() -> None:
    assert len(FAULTS) >= 60
    for folders, least in LEAST.items():
        places = tuple(f"{folder}/" for folder in folders)
        assert sum(fault.paths[0].startswith(places) for fault in FAULTS) >= least, folders


@pytest.mark.parametrize("text", ["other = 1\n", "a = 1\na = 1\n", "  a = 1\n"])
def test_a_hunk_that_does_not_fit_once_is_refused(text: str) -> None:
    with pytest.raises(DoesNotApply, match="a = 1"):
        Hunk("file.py", "a = 1\n", "a = 2\n").applied(text)


def test_a_patch_is_read_as_it_is_written() -> None:
    fault = Fault("example", EXAMPLE)
    assert fault.sentence == "One is two."
    assert fault.tests == ("tests/a.py::test_b[c d]",)
    assert fault.hunks == (
        Hunk("x.py", "def f():\n    return 1\n", "def f():\n    return 2\n"),
        Hunk("x.py", "    pass\n", ""),
        Hunk("y.py", "z = 1\n", "z = 2\n"),
    )
